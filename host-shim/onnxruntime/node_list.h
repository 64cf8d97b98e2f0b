/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The nodes of a graph while it is decided where they run.
 */
#ifndef LEAT_ONNXRUNTIME_NODE_LIST_H_
#define LEAT_ONNXRUNTIME_NODE_LIST_H_

#include "runtime.h"
#include "scratch.h"

/** A node. */
typedef struct leati_listed_node {
  const OrtNode *node;      /**< the node */
  const leat_op_info *info; /**< its operator, if it could run on the device; NULL: it stays on the host anyway */
  bool on_host; /**< unless it is in a fused subgraph, it is better left to the host (leati_shape_arithmetic_find()) */
  bool of_shapes;    /**< why, if `on_host`: it computes shapes; else what it takes and gives is on the host anyway */
  bool evaluated;    /**< in a fused subgraph it is computed on the host where what it takes is known there */
  bool fused_only;   /**< only in a fused subgraph can it run on the device */
  uint32_t subgraph; /**< number of its fused subgraph, from 1; 0: none (leati_fused_subgraphs_find()) */
} leati_listed_node;

/** All nodes of a graph in topological order. For one thread at a time. */
typedef struct leati_node_list {
  const leati_runtime *runtime; /**< the tables */
  leati_listed_node *nodes;     /**< the nodes */
  size_t count;                 /**< elements of `nodes` */
  int64_t *index_of;            /**< by node id: index in `nodes`, or -1 */
  size_t id_count;              /**< elements of `index_of` */
  const char *condition;        /**< the output of the graph that is read on the host after each round; NULL: none */
  leati_scratch scratch;        /**< what `nodes` and `index_of` lie in */
} leati_node_list;

/** Lists the nodes of a graph; nothing is decided yet.
 * @threads one at a time per list
 * @param list [out] the list; clear it also on failure
 * @param runtime [in] the tables
 * @param graph [in] the graph, which must outlive the list
 * @return NULL, or what went wrong */
OrtStatus *leati_node_list_read(leati_node_list *list, const leati_runtime *runtime, const OrtGraph *graph);

/** Finds a node.
 * @threads any
 * @param list [in] the list
 * @param node [in] a node of any graph
 * @param out [out] its index, or -1: it is in another graph
 * @return NULL, or what went wrong */
OrtStatus *leati_node_list_find(const leati_node_list *list, const OrtNode *node, int64_t *out);

/** Frees what a list holds.
 * @threads one at a time per list
 * @param list [inout] the list */
void leati_node_list_clear(leati_node_list *list);

/** The status of a failed allocation while nodes are being chosen.
 * @threads any
 * @param runtime [in] the tables */
OrtStatus *leati_node_list_no_memory(const leati_runtime *runtime);

#endif /* LEAT_ONNXRUNTIME_NODE_LIST_H_ */
