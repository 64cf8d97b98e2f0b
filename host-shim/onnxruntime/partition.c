/* SPDX-License-Identifier: BSD-3-Clause */
#include "partition.h"

/* Level of a node that no wanted node comes before: what it gives is there before the first fused subgraph. */
#define BEFORE_ALL (-1)

/* The level of a node is the number of times that a way to it leaves the wanted nodes and comes back. Levels never fall
 * along an edge, and rise where one leads from outside to a wanted node. So the wanted nodes of one level have nothing
 * else between them, and no partition can do with fewer fused subgraphs than there are levels. */
static void find_levels(leati_partition_node *nodes, uint32_t count, const leati_partition_edge *edges,
                        size_t edge_count) {
  size_t e = 0;
  for (uint32_t i = 0; i < count; ++i) {
    leati_partition_node *node = &nodes[i];
    node->level = node->wanted ? 0 : BEFORE_ALL;
    for (; e < edge_count && edges[e].to == i; ++e) {
      const leati_partition_node *from = &nodes[edges[e].from];
      const int64_t level = from->level + (node->wanted && !from->wanted);
      node->level = level > node->level ? level : node->level;
    }
  }
}

static void count_members(leati_partition_node *nodes, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    nodes[i].members = 0;
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (nodes[i].wanted) {
      nodes[nodes[i].level].members++;
    }
  }
}

/* Moves nodes to the first level in which somebody takes what they give, where that helps: those with joined edges have
 * to be there, and one that would be alone joins others. */
static void raise_nodes(leati_partition_node *nodes, uint32_t count, const leati_partition_edge *edges,
                        size_t edge_count) {
  for (uint32_t i = 0; i < count; ++i) {
    nodes[i].latest = INT64_MAX;
    nodes[i].joined = false;
  }
  size_t e = edge_count;
  for (uint32_t i = count; i-- > 0;) {
    leati_partition_node *node = &nodes[i];
    if (node->wanted && node->latest != INT64_MAX && (node->joined || nodes[node->level].members == 1)) {
      nodes[node->level].members--;
      node->level = node->latest;
      nodes[node->level].members++;
    }
    for (; e > 0 && edges[e - 1].to == i; --e) {
      leati_partition_node *from = &nodes[edges[e - 1].from];
      from->latest = node->level < from->latest ? node->level : from->latest;
      from->joined = from->joined || edges[e - 1].joined;
    }
  }
}

/* Stops wanting nodes with a joined edge that leads out of their fused subgraph; false: there were none. */
static bool drop_torn(leati_partition_node *nodes, const leati_partition_edge *edges, size_t edge_count) {
  bool dropped = false;
  for (size_t e = 0; e < edge_count; ++e) {
    leati_partition_node *from = &nodes[edges[e].from];
    leati_partition_node *to = &nodes[edges[e].to];
    const bool together = from->wanted && to->wanted && from->level == to->level;
    if (edges[e].joined && !together && (from->wanted || to->wanted)) {
      from->wanted = false;
      to->wanted = false;
      dropped = true;
    }
  }
  return dropped;
}

/* Numbers the levels that have two wanted nodes or more. */
static uint32_t number_subgraphs(leati_partition_node *nodes, uint32_t count) {
  uint32_t subgraphs = 0;
  for (uint32_t level = 0; level < count; ++level) {
    nodes[level].number = nodes[level].members > 1 ? ++subgraphs : 0;
  }
  for (uint32_t i = 0; i < count; ++i) {
    nodes[i].subgraph = nodes[i].wanted ? nodes[nodes[i].level].number : 0;
  }
  return subgraphs;
}

uint32_t leati_partition_find(leati_partition_node *nodes, uint32_t count, const leati_partition_edge *edges,
                              size_t edge_count) {
  do {
    find_levels(nodes, count, edges, edge_count);
    count_members(nodes, count);
    raise_nodes(nodes, count, edges, edge_count);
  } while (drop_torn(nodes, edges, edge_count));
  return number_subgraphs(nodes, count);
}
