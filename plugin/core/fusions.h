/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The names of what rewrites the nodes of a graph, in the order in which it is tried: the setting LEAT_FUSIONS_OFF
 * takes them, leat_graph_api::fusions() lists them, and graph/fusion_rules.c says what each does.
 * New rules stand before PRODUCTS: that and those behind it are applied once, when no other one has anything left to
 * do. The last is about values and not nodes (graph/layout.h).
 */
#ifndef LEAT_PLUGIN_CORE_FUSIONS_H_
#define LEAT_PLUGIN_CORE_FUSIONS_H_

#define LEATI_FUSIONS(X)      \
  X(INTEGER, "integer")       \
  X(ATTENTION, "attention")   \
  X(ROTARY, "rotary")         \
  X(FLATTEN, "flatten")       \
  X(GELU, "gelu")             \
  X(SWISH, "swish")           \
  X(LAYER_NORM, "layer_norm") \
  X(RMS_NORM, "rms_norm")     \
  X(BIAS, "bias")             \
  X(SCALE, "scale")           \
  X(ACTIVATION, "activation") \
  X(RESIDUAL, "residual")     \
  X(GATE, "gate")             \
  X(SQUEEZE, "squeeze")       \
  X(NEUTRAL, "neutral")       \
  X(PRODUCTS, "products")     \
  X(FACTOR, "factor")         \
  X(CHAIN, "chain")           \
  X(SKIP_NORM, "skip_norm")   \
  X(CHANNELS_LAST, "channels_last")

typedef enum leati_fusion_number {
#define LEATI_FUSION_NUMBER(number, name) LEATI_FUSION_##number,
  LEATI_FUSIONS(LEATI_FUSION_NUMBER)
#undef LEATI_FUSION_NUMBER
      LEATI_FUSION_COUNT
} leati_fusion_number;

extern const char *const leati_fusion_names[LEATI_FUSION_COUNT];

#endif /* LEAT_PLUGIN_CORE_FUSIONS_H_ */
