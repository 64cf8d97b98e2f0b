/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Rules about functions of one number that are written out as products, sums and simpler functions: they become one
 * operator, which rounds less often.
 */
#ifndef LEAT_PLUGIN_GRAPH_FUSE_FUNCTION_H_
#define LEAT_PLUGIN_GRAPH_FUSE_FUNCTION_H_

#include "graph/fusion.h"

/** 0.5 x (1 + erf(x / sqrt 2)), and the approximation by tanh. */
leati_fusion_rule leati_fuse_gelu;
/** x sigmoid(x), x sigmoid(alpha x), and x hard_sigmoid(x) as HardSwish has it. */
leati_fusion_rule leati_fuse_swish;

#endif /* LEAT_PLUGIN_GRAPH_FUSE_FUNCTION_H_ */
