/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The names of what rewrites the nodes of a graph, in the order in which it is tried: the setting LEAT_FUSIONS_OFF
 * takes them, leat_graph_api::fusions() lists them, and graph/fusion_rules.c applies the rules.
 * New rules stand before FACTOR: that and those behind it are applied once, when no other one has anything left to
 * do. The last is about values and not nodes (graph/layout.h).
 */
#ifndef LEAT_PLUGIN_CORE_FUSIONS_H_
#define LEAT_PLUGIN_CORE_FUSIONS_H_

/** Number, and name: the rule is leati_fuse_<name>() of a graph/fuse_*.c. */
#define LEATI_FUSION_RULES(X)                                                                   \
  X(INTEGER, integer)       /* product of int8 or uint8, scales, bias, Relu, to those */        \
  X(ATTENTION, attention)   /* two products, softmax between them, and movements around */      \
  X(ROTARY, rotary)         /* x cosines + (-second half of x, first half) sines */             \
  X(FLATTEN, flatten)       /* Reshape, product of matrices, Reshape: one of more dimensions */ \
  X(GELU, gelu)             /* Gelu by erf or tanh, written out */                              \
  X(SWISH, swish)           /* x sigmoid(alpha x) and x hard_sigmoid(x), written out */         \
  X(LAYER_NORM, layer_norm) /* layer norm, written out */                                       \
  X(RMS_NORM, rms_norm)     /* norm by the root of the mean square, written out */              \
  X(BIAS, bias)             /* product + row */                                                 \
  X(SCALE, scale)           /* product * constant */                                            \
  X(ACTIVATION, activation) /* function of one number of a product or convolution */            \
  X(RESIDUAL, residual)     /* product or convolution + tensor */                               \
  X(GATE, gate)             /* convolution of one tap of an image times a row of channels */    \
  X(SQUEEZE, squeeze)       /* means of channels, two convolutions of one tap */                \
  X(NEUTRAL, neutral)       /* And with true, Or and Xor with false: no longer first */         \
  X(FACTOR, factor)         /* norm or factor of few rows that go into a product */             \
  X(CHAIN, chain)           /* elementwise operators, one after the other */                    \
  X(SKIP_NORM, skip_norm)   /* sum of two, and norm of its rows */
#define LEATI_FUSIONS(X) LEATI_FUSION_RULES(X) X(CHANNELS_LAST, channels_last)

typedef enum leati_fusion_number {
#define LEATI_FUSION_NUMBER(number, name) LEATI_FUSION_##number,
  LEATI_FUSIONS(LEATI_FUSION_NUMBER)
#undef LEATI_FUSION_NUMBER
      LEATI_FUSION_COUNT
} leati_fusion_number;

extern const char *const leati_fusion_names[LEATI_FUSION_COUNT];

#endif /* LEAT_PLUGIN_CORE_FUSIONS_H_ */
