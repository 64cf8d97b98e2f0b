/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Rules about norms over the last dimension that are written out: they become one operator, which rounds less often.
 */
#ifndef LEAT_PLUGIN_GRAPH_FUSE_NORM_H_
#define LEAT_PLUGIN_GRAPH_FUSE_NORM_H_

#include "graph/fusion.h"

/** Whether a norm is of the last dimension and nothing but its first output is asked for. */
bool leati_norm_is_of_rows(const leati_fusion *f, const leati_node *node);

/** (x - mean(x)) / sqrt(mean((x - mean(x))^2) + epsilon) * scale + bias. */
leati_fusion_rule leati_fuse_layer_norm;
/** x / sqrt(mean(x^2) + epsilon) * scale. */
leati_fusion_rule leati_fuse_rms_norm;
/** A sum of two, and the layer or RMS norm of its rows, that takes up the sum; which is given too if others need it. */
leati_fusion_rule leati_fuse_skip_norm;

#endif /* LEAT_PLUGIN_GRAPH_FUSE_NORM_H_ */
