/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * A rule about operands that change nothing.
 */
#ifndef LEAT_PLUGIN_GRAPH_FUSE_NEUTRAL_H_
#define LEAT_PLUGIN_GRAPH_FUSE_NEUTRAL_H_

#include "graph/fusion.h"

/** And with what is known to be true, Or and Xor with what is known to be false: it becomes the second operand, and the
 * result a view of the first one (leati_op_def::view). */
leati_fusion_rule leati_fuse_neutral;

#endif /* LEAT_PLUGIN_GRAPH_FUSE_NEUTRAL_H_ */
