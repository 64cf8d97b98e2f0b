/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The rule about attention that is written out: two products with a softmax between them, and the movements that bring
 * heads to where products want them, or repeat those that several heads of queries share. They become one
 * FusedAttention, which reads operands where they lie. Weights may be guarded, as PyTorch does where there is a mask:
 * Where(IsNaN(weights), 0, weights).
 */
#ifndef LEAT_PLUGIN_GRAPH_FUSE_ATTENTION_H_
#define LEAT_PLUGIN_GRAPH_FUSE_ATTENTION_H_

#include "graph/fusion.h"

/** softmax(scale Q K' + mask) V; and a movement of its result. A query whose mask is -infinity throughout gives 0,
 * where the nodes give NaN unless weights are guarded; one whose scores are -infinity by themselves gives NaN, as the
 * nodes do. Where weights are guarded, either gives 0 whatever the values are: with values that are not finite the
 * nodes give NaN. A key whose mask is -infinity counts for nothing, whatever its score. */
leati_fusion_rule leati_fuse_attention;

#endif /* LEAT_PLUGIN_GRAPH_FUSE_ATTENTION_H_ */
