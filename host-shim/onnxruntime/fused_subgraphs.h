/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Fused subgraphs: groups of nodes that the backend runs as one graph.
 */
#ifndef LEAT_ONNXRUNTIME_FUSED_SUBGRAPHS_H_
#define LEAT_ONNXRUNTIME_FUSED_SUBGRAPHS_H_

#include "node_list.h"

/** Finds the fused subgraphs among the nodes that run on the device, as few and as large as can be, and sets their
 * `subgraph`.
 *
 * ONNX Runtime hands a fused subgraph all its inputs on the device, and takes all its outputs there. So a node that
 * takes an input on the host is in a fused subgraph only if that is a constant or follows from shapes by other nodes of
 * the fused subgraph, and those are in it only if nobody outside takes what they give, also if they would be better
 * left to the host without it
 * (`on_host`), and if the backend computes them there (`evaluated`).
 *
 * @threads any
 * @param list [inout] the nodes of a graph, with their operators, and those that stay on the host
 * @param logger [in] the session's logger
 * @param out_count [out] number of fused subgraphs
 * @return NULL, or what went wrong */
OrtStatus *leati_fused_subgraphs_find(leati_node_list *list, const OrtLogger *logger, uint32_t *out_count);

#endif /* LEAT_ONNXRUNTIME_FUSED_SUBGRAPHS_H_ */
