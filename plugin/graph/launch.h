/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Launching a graph: its tensors are checked, the plan for such tensors is found or made, and recorded.
 */
#ifndef LEAT_PLUGIN_GRAPH_LAUNCH_H_
#define LEAT_PLUGIN_GRAPH_LAUNCH_H_

#include "graph/graph.h"
#include "graph/graph_plan.h"

/** leat_graph_api::infer, of a live graph with as many tensors as it has. */
int32_t leati_graph_infer(const leat_graph *graph, const DLTensor *const *inputs, leat_shape *const *out,
                          leat_error *err);
/** leat_graph_api::launch, likewise, in a live stream of its device. */
int32_t leati_graph_launch(const leat_graph *graph, leat_stream *stream, const DLTensor *const *inputs,
                           const DLTensor *const *outputs, leat_error *err);

/** Imports the inputs of a call of a live graph. With `shapes_only` nothing is looked at of those whose elements decide
 * nothing, and they count as on the device. leati_graph_check_inputs() must follow, unless a plan is found for them.
 * @errors INVALID_ARGUMENT, NOT_SUPPORTED */
int32_t leati_graph_import_inputs(const leat_graph *graph, const DLTensor *const *inputs, bool shapes_only,
                                  leati_view *views, leat_error *err);
/** Compares the first inputs with what was said of them when the graph was built.
 * @errors INVALID_ARGUMENT */
int32_t leati_graph_check_inputs(const leat_graph *graph, uint32_t count, const leati_view *views, leat_error *err);

/** Records a plan for tensors that it fits. */
int32_t leati_graph_record(const leat_graph *graph, leat_stream *stream, const leati_graph_plan *plan,
                           const leati_view *views, leat_error *err);

#endif /* LEAT_PLUGIN_GRAPH_LAUNCH_H_ */
