/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The graph table of the ABI, and the graphs that a device has.
 */
#ifndef LEAT_PLUGIN_GRAPH_GRAPH_TABLE_H_
#define LEAT_PLUGIN_GRAPH_GRAPH_TABLE_H_

#include <leat/backend.h>

/** The table, and as much of it as ABI 1.0 has. */
extern const leat_graph_api leati_graph_table, leati_graph_table_1_0;

/** Makes the device's list of graphs, and its table of constants.
 * @errors OUT_OF_MEMORY */
int32_t leati_graphs_create(leat_device *device, leat_error *err);
/** Frees the graphs that are left, list and table. */
void leati_graphs_destroy(leat_device *device);

#endif /* LEAT_PLUGIN_GRAPH_GRAPH_TABLE_H_ */
