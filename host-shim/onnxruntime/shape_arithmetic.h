/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Shape arithmetic. Exported models compute the shapes that Reshape, Expand, Slice and their kind take with chains of
 * tiny operators (Shape, Gather, Unsqueeze, Concat). On the device, each end of such a chain would cost a copy back and
 * a wait, which also cuts the work of the Run in pieces. On the host they cost nothing. So they stay there.
 */
#ifndef LEAT_ONNXRUNTIME_SHAPE_ARITHMETIC_H_
#define LEAT_ONNXRUNTIME_SHAPE_ARITHMETIC_H_

#include "node_list.h"

/** Finds the nodes that are better left to the host, and sets `on_host`, `of_shapes` and `evaluated`.
 *
 * A node is, if its operator is one that graphs of the backend compute on the host (LEAT_OP_EVALUATED) or that gives
 * its output there, on elements that every host provider knows, and
 * - all its inputs come from the host already: constants, shapes, and what other such nodes give; then also its outputs
 *   are small, because shapes are, unless the operator makes large ones of small ones (Expand), or
 * - all that it gives is used on the host alone (as a shape, or by a node that stays there anyway), and its inputs come
 *   from there too, where now also inputs of the graph count, which users have on the host.
 *
 * @threads any
 * @param list [inout] the nodes of a graph, with their operators
 * @return NULL, or what went wrong */
OrtStatus *leati_shape_arithmetic_find(leati_node_list *list);

#endif /* LEAT_ONNXRUNTIME_SHAPE_ARITHMETIC_H_ */
