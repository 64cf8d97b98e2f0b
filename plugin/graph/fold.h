/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Folding: nodes that take nothing but constants are run once, when the graph is built, and what they give is a
 * constant from then on.
 */
#ifndef LEAT_PLUGIN_GRAPH_FOLD_H_
#define LEAT_PLUGIN_GRAPH_FOLD_H_

#include "graph/graph.h"

/** Runs such nodes of a graph whose constants are on the device, and has waited for that. Values that others take
 * become constants whose elements, `bytes`, lie in `copy`; those that nobody takes any more are taken from the device.
 * Hold no lock.
 * @errors what operators return; OUT_OF_MEMORY, DEVICE_LOST */
int32_t leati_graph_fold(leat_graph *graph, leat_error *err);

#endif /* LEAT_PLUGIN_GRAPH_FOLD_H_ */
