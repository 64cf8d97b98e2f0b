/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Rules about products of matrices of bytes.
 */
#ifndef LEAT_PLUGIN_GRAPH_FUSE_INTEGER_H_
#define LEAT_PLUGIN_GRAPH_FUSE_INTEGER_H_

#include "graph/fusion.h"

/** Products of matrices and convolutions of bytes, and what is done with their sums, as one of the operators
 * QuantizedMatMul and QuantizedConv:
 *   MatMul, Gemm or Conv of two operands that DequantizeLinear makes of bytes, as static quantisation writes them;
 *   MatMulInteger or ConvInteger, Cast, times the product of two scales, as dynamic quantisation does;
 *   and behind either a bias, Relu, and QuantizeLinear to bytes.
 * Sums are exact; each other step rounds as its operator does. */
leati_fusion_rule leati_fuse_integer;

/** Whether all that a value is for is to be an operand of such products, of floats that DequantizeLinear makes: it is
 * not folded then. `graph` is being built. */
bool leati_integer_takes(const leat_graph *graph, uint32_t v);

#endif /* LEAT_PLUGIN_GRAPH_FUSE_INTEGER_H_ */
