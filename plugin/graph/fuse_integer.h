/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Rules about products of matrices of int8 or uint8.
 */
#ifndef LEAT_PLUGIN_GRAPH_FUSE_INTEGER_H_
#define LEAT_PLUGIN_GRAPH_FUSE_INTEGER_H_

#include "graph/fusion.h"

/** Whether all that a value is for is to be an operand of such products, of floats that DequantizeLinear makes: it is
 * not folded then. `graph` is being built. */
bool leati_integer_takes(const leat_graph *graph, uint32_t v);

#endif /* LEAT_PLUGIN_GRAPH_FUSE_INTEGER_H_ */
