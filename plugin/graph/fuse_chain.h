/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * A rule about elementwise operators that follow each other: they become one program, which writes nothing of what lies
 * between them to memory. Each step gives the bits of its operator. Where what they take becomes floats by
 * DequantizeLinear, or what they give bytes by QuantizeLinear, the program reads or writes bytes.
 */
#ifndef LEAT_PLUGIN_GRAPH_FUSE_CHAIN_H_
#define LEAT_PLUGIN_GRAPH_FUSE_CHAIN_H_

#include "graph/fusion.h"

/** Gathers what node `n` and the nodes that make its inputs for it alone compute of float32 elements, all of one shape,
 * as leat.Pointwise or leat.QuantizedPointwise. To be asked from the last node to the first, so that each gathers all
 * that it can. */
leati_fusion_rule leati_fuse_chain;

#endif /* LEAT_PLUGIN_GRAPH_FUSE_CHAIN_H_ */
