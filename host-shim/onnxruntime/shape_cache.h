/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The shapes of a node's outputs, cached for Runs whose inputs are like those of an earlier one: the backend is not
 * asked again. They follow from presence, types and shapes of the inputs and from the values of those on the host, so
 * all of that must be the same. The least recently used go out for what comes (common/lru_table.h).
 */
#ifndef LEAT_ONNXRUNTIME_SHAPE_CACHE_H_
#define LEAT_ONNXRUNTIME_SHAPE_CACHE_H_

#include <leat/backend.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "common/lru_table.h"

/** Bytes that the cases of a node may take: hundreds of one with few inputs, some tens of a fused subgraph with a
 * hundred. For what is not found the backend is asked, which has it with the plan. */
#define LEATI_SHAPE_CASES_BYTES (UINT64_C(256) << 10)
/** Bytes of the values on the host that a case may follow from. */
#define LEATI_SHAPE_VALUES_MAX 256
/** Buckets of the table. */
#define LEATI_SHAPE_BUCKETS 32

/** The cases of one node. Threads look without a lock; one adds at a time. */
typedef struct leati_shape_cache {
  leati_lru_table table;
  leati_lru_bucket buckets[LEATI_SHAPE_BUCKETS];
  atomic_bool adding; /**< a thread adds: taken by acquire, left by release; another one then does not */
} leati_shape_cache;

/** Makes an empty cache.
 * @threads owner
 * @param cache [out] the cache, which is not moved from then on */
void leati_shape_cache_begin(leati_shape_cache *cache);

/** Gives the shapes of all outputs if there is a case for such inputs. Memory on the device is not looked at.
 * @threads any
 * @param cache [in] the cache
 * @param input_count elements of `inputs`; the same in all calls for one cache
 * @param inputs [in] the inputs, compact and without an offset; a NULL element is an absent one
 * @param output_count elements of `shapes`; the same in all calls for one cache
 * @param shapes [out] the shapes, if there is a case
 * @return whether there is one */
bool leati_shape_cache_find(const leati_shape_cache *cache, uint32_t input_count, const DLTensor *const *inputs,
                            uint32_t output_count, leat_shape *shapes);

/** Adds the shapes that the backend gave for these inputs; or not, if there is no memory, values on the host are large,
 * or another thread adds.
 * @threads any
 * @param cache [inout] the cache
 * @param input_count elements of `inputs`; the same in all calls for one cache
 * @param inputs [in] as for leati_shape_cache_find(); copied
 * @param output_count elements of `shapes`; the same in all calls for one cache
 * @param shapes [in] the shapes; copied */
void leati_shape_cache_add(leati_shape_cache *cache, uint32_t input_count, const DLTensor *const *inputs,
                           uint32_t output_count, const leat_shape *shapes);

/** Frees the cases.
 * @threads owner
 * @param cache [inout] the cache, which was begun and is empty then */
void leati_shape_cache_clear(leati_shape_cache *cache);

#endif /* LEAT_ONNXRUNTIME_SHAPE_CACHE_H_ */
