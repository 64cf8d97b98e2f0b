/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Cutting a graph into fused subgraphs: groups of nodes that run as one, as few and as large as can be. A graph is
 * plain numbers here.
 */
#ifndef LEAT_ONNXRUNTIME_PARTITION_H_
#define LEAT_ONNXRUNTIME_PARTITION_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A node takes what another one gives. */
typedef struct leati_partition_edge {
  uint32_t from, to; /**< indices of nodes; `from` is the lower one */
  bool joined; /**< both are in one fused subgraph, or both in none. All edges from a node are joined, or none is */
} leati_partition_edge;

/** A node. */
typedef struct leati_partition_node {
  bool wanted;       /**< it may be in a fused subgraph; cleared where a joined edge forbids it */
  uint32_t subgraph; /**< out: number of its fused subgraph, from 1; 0: it is in none */
  int64_t level;     /**< scratch, and so is what follows */
  int64_t latest;
  uint32_t members, number; /**< of the level that has this node's index */
  bool joined;
} leati_partition_node;

/** Finds the fused subgraphs. No way from a node of a fused subgraph to another one of it leads through a node outside,
 * and fused subgraphs may be contracted all at once without a circle. A fused subgraph has two nodes at least.
 * @threads any
 * @param nodes [inout] the nodes in topological order
 * @param count elements of `nodes`
 * @param edges [in] the edges by rising `to`
 * @param edge_count elements of `edges`
 * @return number of fused subgraphs */
uint32_t leati_partition_find(leati_partition_node *nodes, uint32_t count, const leati_partition_edge *edges,
                              size_t edge_count);

#endif /* LEAT_ONNXRUNTIME_PARTITION_H_ */
