/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The shapes of a node's outputs, kept for Runs whose inputs are like those of an earlier one: the backend is not asked
 * again. They follow from presence, types and shapes of the inputs and from the values of those on the host, so all of
 * that must be the same. The first LEATI_SHAPE_CASES_MAX cases of a node are kept as long as the node; for any other
 * the backend is asked each time.
 */
#ifndef LEAT_ONNXRUNTIME_SHAPE_CACHE_H_
#define LEAT_ONNXRUNTIME_SHAPE_CACHE_H_

#include <leat/backend.h>
#include <stdatomic.h>

/** Cases that a node keeps. */
#define LEATI_SHAPE_CASES_MAX 4
/** Bytes of the values on the host that a kept case may follow from. */
#define LEATI_SHAPE_VALUES_MAX 256

struct leati_shape_case;

/** The cases of one node; all zero is an empty one. Threads look without a lock. A case never changes: a thread that
 * has made one puts it into the first place that is free (release), where others find it (acquire). */
typedef struct leati_shape_cache {
  _Atomic(struct leati_shape_case *) at[LEATI_SHAPE_CASES_MAX];
} leati_shape_cache;

/** Gives the shapes of all outputs if a case is kept for such inputs. Memory on the device is not looked at.
 * @threads any
 * @param cache [in] the cache
 * @param input_count elements of `inputs`; the same in all calls for one cache
 * @param inputs [in] the inputs, compact and without an offset; a NULL element is an absent one
 * @return the shapes, valid as long as the cache, or NULL */
const leat_shape *leati_shape_cache_find(const leati_shape_cache *cache, uint32_t input_count,
                                         const DLTensor *const *inputs);

/** Keeps the shapes that the backend gave for these inputs; or not, if there is no room or no memory, or values on the
 * host are large.
 * @threads any
 * @param cache [inout] the cache
 * @param input_count elements of `inputs`; the same in all calls for one cache
 * @param inputs [in] as for leati_shape_cache_find(); copied
 * @param output_count elements of `shapes`; the same in all calls for one cache
 * @param shapes [in] the shapes; copied */
void leati_shape_cache_keep(leati_shape_cache *cache, uint32_t input_count, const DLTensor *const *inputs,
                            uint32_t output_count, const leat_shape *shapes);

/** Frees the cases.
 * @threads owner
 * @param cache [inout] the cache, which is empty then */
void leati_shape_cache_clear(leati_shape_cache *cache);

#endif /* LEAT_ONNXRUNTIME_SHAPE_CACHE_H_ */
