/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Descriptions of graphs as hosts give them: read with suspicion, and copied.
 */
#ifndef LEAT_PLUGIN_GRAPH_GRAPH_IMPORT_H_
#define LEAT_PLUGIN_GRAPH_GRAPH_IMPORT_H_

#include "graph/graph.h"

/** Fills a graph with the values, nodes, inputs and outputs of a description, all but the operators of the nodes:
 * those, `out_nodes`, are described by what the caller frees. The elements of constants are the host's still.
 * @errors INVALID_ARGUMENT, NOT_SUPPORTED, OUT_OF_MEMORY; what is there of the graph is freed by leati_graph_free() */
int32_t leati_graph_import(const leat_graph_desc *from, leat_graph *graph, leat_graph_node **out_nodes,
                           leat_error *err);

#endif /* LEAT_PLUGIN_GRAPH_GRAPH_IMPORT_H_ */
