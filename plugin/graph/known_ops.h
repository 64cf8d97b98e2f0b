/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Operators that rules of fusion look for and write, by numbers: names are compared once for each node, and stand
 * nowhere else in graph/.
 *
 * A rule knows what an operator means by its definition, which operator sets change. So a row says from which to which
 * since-version the meaning is the one that rules take; a node of any other version is not known, and never fused.
 * unit.fusion fails where the plugin has versions that no row was made for.
 */
#ifndef LEAT_PLUGIN_GRAPH_KNOWN_OPS_H_
#define LEAT_PLUGIN_GRAPH_KNOWN_OPS_H_

#include <leat/backend.h>

/** Number, domain, name, first and last since-version. */
#define LEATI_KNOWN_OPS(X)                                                                          \
  X(ADD, "", "Add", 7, 14)                                                                          \
  X(AND, "", "And", 7, 7)                                                                           \
  X(CAST, "", "Cast", 6, 28)                                                                        \
  X(CLIP, "", "Clip", 11, 13)                                                                       \
  X(CONCAT, "", "Concat", 4, 13)                                                                    \
  X(CONV, "", "Conv", 1, 22)                                                                        \
  X(CONV_INTEGER, "", "ConvInteger", 10, 10)                                                        \
  X(DEQUANTIZE_LINEAR, "", "DequantizeLinear", 10, 28)                                              \
  X(DIV, "", "Div", 7, 14)                                                                          \
  X(ERF, "", "Erf", 9, 13)                                                                          \
  X(EXPAND, "", "Expand", 8, 13)                                                                    \
  X(FLATTEN, "", "Flatten", 1, 25)                                                                  \
  X(GELU, "", "Gelu", 20, 20)                                                                       \
  X(GEMM, "", "Gemm", 7, 13)                                                                        \
  X(GLOBAL_AVERAGE_POOL, "", "GlobalAveragePool", 1, 22)                                            \
  X(HARD_SIGMOID, "", "HardSigmoid", 6, 22)                                                         \
  X(HARD_SWISH, "", "HardSwish", 14, 22)                                                            \
  X(ISNAN, "", "IsNaN", 9, 20)                                                                      \
  X(LAYER_NORMALIZATION, "", "LayerNormalization", 1, 17)                                           \
  X(MATMUL, "", "MatMul", 1, 13)                                                                    \
  X(MATMUL_INTEGER, "", "MatMulInteger", 10, 10)                                                    \
  X(MAX, "", "Max", 6, 13)                                                                          \
  X(MEAN, "", "Mean", 6, 13)                                                                        \
  X(MIN, "", "Min", 6, 13)                                                                          \
  X(MUL, "", "Mul", 7, 14)                                                                          \
  X(NEG, "", "Neg", 6, 13)                                                                          \
  X(OR, "", "Or", 7, 7)                                                                             \
  X(POW, "", "Pow", 7, 15)                                                                          \
  X(PRELU, "", "PRelu", 7, 16)                                                                      \
  X(QUANTIZE_LINEAR, "", "QuantizeLinear", 10, 28)                                                  \
  X(RECIPROCAL, "", "Reciprocal", 6, 13)                                                            \
  X(REDUCE_MEAN, "", "ReduceMean", 1, 18)                                                           \
  X(RELU, "", "Relu", 6, 14)                                                                        \
  X(RESHAPE, "", "Reshape", 1, 25)                                                                  \
  X(RMS_NORMALIZATION, "", "RMSNormalization", 23, 23)                                              \
  X(SIGMOID, "", "Sigmoid", 6, 13)                                                                  \
  X(SIMPLIFIED_LAYER_NORMALIZATION, "", "SimplifiedLayerNormalization", 1, 1)                       \
  X(SLICE, "", "Slice", 1, 13)                                                                      \
  X(SOFTMAX, "", "Softmax", 1, 13)                                                                  \
  X(SPLIT, "", "Split", 2, 18)                                                                      \
  X(SQRT, "", "Sqrt", 6, 13)                                                                        \
  X(SQUEEZE, "", "Squeeze", 1, 25)                                                                  \
  X(SUB, "", "Sub", 7, 14)                                                                          \
  X(SUM, "", "Sum", 6, 13)                                                                          \
  X(TANH, "", "Tanh", 6, 13)                                                                        \
  X(TILE, "", "Tile", 6, 13)                                                                        \
  X(TRANSPOSE, "", "Transpose", 1, 25)                                                              \
  X(UNSQUEEZE, "", "Unsqueeze", 1, 25)                                                              \
  X(WHERE, "", "Where", 9, 16)                                                                      \
  X(XOR, "", "Xor", 7, 7)                                                                           \
  X(ORT_DEQUANTIZE_LINEAR, "com.microsoft", "DequantizeLinear", 1, 1)                               \
  X(ORT_FUSED_MATMUL, "com.microsoft", "FusedMatMul", 1, 1)                                         \
  X(ORT_QUANTIZE_LINEAR, "com.microsoft", "QuantizeLinear", 1, 1)                                   \
  X(GEMM_FAST_GELU, "com.microsoft", "GemmFastGelu", 1, 1)                                          \
  X(TRANSPOSE_MATMUL, "com.microsoft", "TransposeMatMul", 1, 1)                                     \
  X(QUICK_GELU, "com.microsoft", "QuickGelu", 1, 1)                                                 \
  X(SKIP_LAYER_NORMALIZATION, "com.microsoft", "SkipLayerNormalization", 1, 1)                      \
  X(SKIP_SIMPLIFIED_LAYER_NORMALIZATION, "com.microsoft", "SkipSimplifiedLayerNormalization", 1, 1) \
  X(FUSED_ATTENTION, "leat", "FusedAttention", 1, 1)                                                \
  X(FUSED_CONV, "leat", "FusedConv", 1, 1)                                                          \
  X(FUSED_MATMUL, "leat", "FusedMatMul", 1, 1)                                                      \
  X(FUSED_ROTARY_EMBEDDING, "leat", "FusedRotaryEmbedding", 1, 1)                                   \
  X(POINTWISE, "leat", "Pointwise", 1, 1)                                                           \
  X(QUANTIZED_CONV, "leat", "QuantizedConv", 1, 1)                                                  \
  X(QUANTIZED_MATMUL, "leat", "QuantizedMatMul", 1, 1)                                              \
  X(QUANTIZED_POINTWISE, "leat", "QuantizedPointwise", 1, 1)                                        \
  X(SQUEEZE_EXCITE, "leat", "SqueezeExcite", 1, 1)

typedef enum leati_known_op {
  LEATI_IS_OTHER,
#define LEATI_IS(number, domain, name, first, last) LEATI_IS_##number,
  LEATI_KNOWN_OPS(LEATI_IS)
#undef LEATI_IS
} leati_known_op;

/** Which of them an operator is; LEATI_IS_OTHER: none, or in another version. */
leati_known_op leati_known_op_of(const leat_op *op);

/** Name and domain of one. */
const char *leati_known_op_name(leati_known_op op);
const char *leati_known_op_domain(leati_known_op op);

#endif /* LEAT_PLUGIN_GRAPH_KNOWN_OPS_H_ */
