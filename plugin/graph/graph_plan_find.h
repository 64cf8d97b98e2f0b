/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Finding the cached plan of a graph for given tensors, without a lock.
 */
#ifndef LEAT_PLUGIN_GRAPH_GRAPH_PLAN_FIND_H_
#define LEAT_PLUGIN_GRAPH_GRAPH_PLAN_FIND_H_

#include "graph/graph_plan.h"

/** A plan that a thread uses. */
typedef struct leati_graph_plan_use {
  const leati_graph_plan *plan; /**< NULL: there is none */
  leati_lru_counter *counter;   /**< of the graph's cache: leati_lru_leave() it, in any case */
} leati_graph_plan_use;

/** The cached plan for such inputs and outputs, whose leati_graph_plan_hash() is `hash`. It was made for some that
 * leati_graph_check_inputs() had found right, so these are.
 * @param number as of leati_lru_enter() */
leati_graph_plan_use leati_graph_plan_take(const leat_graph *graph, uint32_t number, uint64_t hash,
                                           const leati_view *views);

/** The shapes of outputs for such inputs, from any plan for them: `views` without places. NULL: there is none. For a
 * thread that is counted in, as long as it is. */
const leat_shape *leati_graph_plan_find_shapes(const leat_graph *graph, const leati_view *views);

#endif /* LEAT_PLUGIN_GRAPH_GRAPH_PLAN_FIND_H_ */
