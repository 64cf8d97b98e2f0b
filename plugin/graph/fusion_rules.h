/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The rules by which nodes of a graph are rewritten, in one table.
 */
#ifndef LEAT_PLUGIN_GRAPH_FUSION_RULES_H_
#define LEAT_PLUGIN_GRAPH_FUSION_RULES_H_

#include "graph/fusion.h"

/** Rewrites nodes by all rules but those of the bits in `off` (1 << leati_fusion_number), until none has anything to
 * do, and counts in leati_fusion::counts how often each did.
 * @errors OUT_OF_MEMORY */
int32_t leati_fusion_apply(leati_fusion *f, uint64_t off, leat_error *err);

#endif /* LEAT_PLUGIN_GRAPH_FUSION_RULES_H_ */
