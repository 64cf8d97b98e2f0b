/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The rule about rotary embedding that is written out: x cosines + rotated(x) sines, where rotated(x) is the second
 * half of x's last dimension, negated, and behind it the first half.
 */
#ifndef LEAT_PLUGIN_GRAPH_FUSE_ROTARY_H_
#define LEAT_PLUGIN_GRAPH_FUSE_ROTARY_H_

#include "graph/fusion.h"

leati_fusion_rule leati_fuse_rotary;

#endif /* LEAT_PLUGIN_GRAPH_FUSE_ROTARY_H_ */
