/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The rule about attention that is written out: two products with a softmax between them, and the movements that bring
 * heads to where products want them. They become one FusedAttention, which reads operands where they lie.
 */
#ifndef LEAT_PLUGIN_GRAPH_FUSE_ATTENTION_H_
#define LEAT_PLUGIN_GRAPH_FUSE_ATTENTION_H_

#include "graph/fusion.h"

/** softmax(scale Q K' + mask) V; and a movement of its result. A query whose mask is -infinity throughout gives 0,
 * where the nodes give NaN. */
leati_fusion_rule leati_fuse_attention;

#endif /* LEAT_PLUGIN_GRAPH_FUSE_ATTENTION_H_ */
