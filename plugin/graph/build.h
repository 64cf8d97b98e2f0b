/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Building a graph: its operators, its constants, and a plan if all shapes are known.
 */
#ifndef LEAT_PLUGIN_GRAPH_BUILD_H_
#define LEAT_PLUGIN_GRAPH_BUILD_H_

#include "graph/graph.h"

/** Makes a graph that is not in the device's list yet. Hold no lock.
 * @errors as leat_graph_api::build */
int32_t leati_graph_build(leat_device *device, const leat_graph_desc *desc, leat_graph **out, leat_error *err);
/** Frees a graph that is not in the list; NULL: nothing. */
void leati_graph_free(leat_graph *graph);

#endif /* LEAT_PLUGIN_GRAPH_BUILD_H_ */
