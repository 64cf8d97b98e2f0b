/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Islands: groups of nodes that the backend runs as one graph.
 */
#ifndef LEAT_ONNXRUNTIME_ISLANDS_H_
#define LEAT_ONNXRUNTIME_ISLANDS_H_

#include "node_list.h"

/** Finds the islands among the nodes that run on the device, as few and as large as can be, and sets their `island`.
 *
 * ONNX Runtime hands an island all its inputs on the device, and takes all its outputs there. So a node that takes an
 * input on the host is in an island only if that is a constant or made on the host by another node of the island, and
 * one that gives outputs on the host only if other nodes of the island take all of them there.
 *
 * @threads any
 * @param list [inout] the nodes of a graph, with their operators, and those that stay on the host
 * @param out_count [out] number of islands
 * @return NULL, or what went wrong */
OrtStatus *leati_islands_find(leati_node_list *list, uint32_t *out_count);

#endif /* LEAT_ONNXRUNTIME_ISLANDS_H_ */
