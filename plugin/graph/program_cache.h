/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The programs of a graph (graph/program.h), found without a lock.
 */
#ifndef LEAT_PLUGIN_GRAPH_PROGRAM_CACHE_H_
#define LEAT_PLUGIN_GRAPH_PROGRAM_CACHE_H_

#include "common/lru_table.h"
#include "core/sync.h"
#include "memory/tensor.h"

/** Buckets of the table: programs are few. */
#define LEATI_PROGRAM_BUCKETS 64

struct leati_inference;
struct leati_program;

/** All zero: a graph keeps none. */
typedef struct leati_program_cache {
  leati_lru_readers readers;
  leati_lru_table table; /**< of leati_program */
  leati_mutex lock;      /**< guards adding and collecting */
  leati_lru_bucket buckets[LEATI_PROGRAM_BUCKETS];
} leati_program_cache;

/** `cache` is all zero. `bytes_max`: what its programs may count for. */
void leati_program_cache_begin(leati_program_cache *cache, uint64_t bytes_max);
/** Frees the programs; nobody uses them. */
void leati_program_cache_end(leati_program_cache *cache);

/** A program that a thread uses. */
typedef struct leati_program_use {
  const struct leati_program *program;
  leati_lru_counter *counter; /**< of the cache that it is in; */
  struct leati_program *own;  /**< or it is this, and the thread's */
} leati_program_use;

/** The program of a graph for the shapes of an inference, found without a lock, or made. A graph without a cache keeps
 * none, and none is kept for inputs with strides. leati_program_leave() must follow if it succeeds.
 * @param outputs views of the graph's outputs
 * @param live by node, whether the graph's own is needed
 * @errors OUT_OF_MEMORY */
int32_t leati_program_take(struct leati_inference *inference, const leati_view *outputs, const bool *live,
                           leati_program_use *out, leat_error *err);
void leati_program_leave(leati_program_use *use);

#endif /* LEAT_PLUGIN_GRAPH_PROGRAM_CACHE_H_ */
