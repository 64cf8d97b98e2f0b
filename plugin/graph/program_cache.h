/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The programs of a graph (graph/program.h), found without a lock.
 */
#ifndef LEAT_PLUGIN_GRAPH_PROGRAM_CACHE_H_
#define LEAT_PLUGIN_GRAPH_PROGRAM_CACHE_H_

#include "graph/program.h"

/** A program that a thread uses. */
typedef struct leati_program_use {
  const leati_program *program;
  leati_lru_counter *counter; /**< of the cache that it is in; */
  leati_program *own;         /**< or it is this, and the thread's */
} leati_program_use;

/** The program of a graph for the shapes of an inference, found without a lock, or made. A graph without a cache keeps
 * none, and none is kept for inputs with strides. leati_program_leave() must follow if it succeeds.
 * @param outputs views of the graph's outputs
 * @param live by node, whether the graph's own is needed
 * @errors OUT_OF_MEMORY */
int32_t leati_program_take(leati_inference *inference, const leati_view *outputs, const bool *live,
                           leati_program_use *out, leat_error *err);
void leati_program_leave(leati_program_use *use);

#endif /* LEAT_PLUGIN_GRAPH_PROGRAM_CACHE_H_ */
