/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Preparing a graph: the pipelines of the plan for inputs that are not there yet.
 */
#ifndef LEAT_PLUGIN_GRAPH_PREPARE_H_
#define LEAT_PLUGIN_GRAPH_PREPARE_H_

#include "graph/graph.h"

/** leat_graph_api::prepare, of a live graph with as many inputs as it has: compiles `max` pipelines at most. */
int32_t leati_graph_prepare(const leat_graph *graph, const DLTensor *const *inputs, uint32_t max, uint32_t *out_count,
                            leat_error *err);

#endif /* LEAT_PLUGIN_GRAPH_PREPARE_H_ */
