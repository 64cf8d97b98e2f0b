/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Rules about products of matrices of bytes.
 */
#ifndef LEAT_PLUGIN_GRAPH_FUSE_INTEGER_H_
#define LEAT_PLUGIN_GRAPH_FUSE_INTEGER_H_

#include "graph/fusion.h"

/** A product of matrices of bytes as float32, times the product of two scales, plus a row, as ONNX Runtime's dynamic
 * quantisation writes them: com.microsoft MatMulIntegerToFloat, which rounds as often. */
leati_fusion_rule leati_fuse_integer;

#endif /* LEAT_PLUGIN_GRAPH_FUSE_INTEGER_H_ */
