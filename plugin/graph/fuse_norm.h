/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Rules about norms over the last dimension that are written out: they become one operator, which rounds less often.
 */
#ifndef LEAT_PLUGIN_GRAPH_FUSE_NORM_H_
#define LEAT_PLUGIN_GRAPH_FUSE_NORM_H_

#include "graph/fusion.h"

/** Whether a norm is of the last dimension and nothing but its first output is asked for. */
bool leati_norm_is_of_rows(const leati_fusion *f, const leati_node *node);

#endif /* LEAT_PLUGIN_GRAPH_FUSE_NORM_H_ */
