/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What a plan of a graph is for, and how the plan for given tensors is found.
 */
#ifndef LEAT_PLUGIN_GRAPH_GRAPH_PLAN_KEY_H_
#define LEAT_PLUGIN_GRAPH_GRAPH_PLAN_KEY_H_

#include "graph/graph_plan.h"
#include "graph/inference.h"

/** Bits of the hash of a plan that its input shapes alone decide. */
#define LEATI_GRAPH_SHAPE_BITS UINT64_C(0xffff)

/** The shapes of outputs for such inputs, from any plan for them: `views` without places. NULL: there is none. For a
 * thread that is counted in, as long as it is. */
const leat_shape *leati_graph_plan_find_shapes(const leat_graph *graph, const leati_view *views);

/** The hash of a plan for such inputs and outputs, and the plan itself; NULL: there is none. For a thread that is
 * counted in, as long as it is. */
uint64_t leati_graph_plan_hash(const leat_graph *graph, const leati_view *views);
leati_graph_plan *leati_graph_plan_find(const leat_graph *graph, uint64_t hash, const leati_view *views);

/** Notes in a plan, whose `tensors` have room, what it is for.
 * @errors OUT_OF_MEMORY */
int32_t leati_graph_plan_know(const leat_graph *graph, const leati_view *views, leati_graph_plan *plan,
                              leat_error *err);

/** Narrows the numbers that a plan is for to those of which nodes make the same: both those of the graph, `live` NULL,
 * from which shapes follow, and those that are planned.
 * @errors OUT_OF_MEMORY */
int32_t leati_graph_plan_narrow(const leati_inference *inference, const leati_node *nodes, const bool *live,
                                leati_graph_plan *plan, leat_error *err);

#endif /* LEAT_PLUGIN_GRAPH_GRAPH_PLAN_KEY_H_ */
