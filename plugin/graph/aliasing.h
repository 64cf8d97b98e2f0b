/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Which values of a graph lie in the memory of others: what an operator only picks from its input (leati_op_def::view)
 * stays there, where all that take it read it so, and what an operator only puts side by side (leati_op_def::part) is
 * made there, or left where others have put it so. Belongs to one thread.
 */
#ifndef LEAT_PLUGIN_GRAPH_ALIASING_H_
#define LEAT_PLUGIN_GRAPH_ALIASING_H_

#include "graph/graph.h"
#include "graph/inference.h"

/** Where a value lies. */
typedef struct leati_alias {
  uint32_t root;           /**< in the memory of this value, maybe itself */
  int64_t offset;          /**< bytes from the first element of that to its own */
  bool produced_elsewhere; /**< its elements come to lie there when others are made: its own node writes nothing */
} leati_alias;

/** What is placed. */
typedef struct leati_aliasing {
  const leat_graph *graph;
  const leati_node *nodes; /**< as many as the graph has; those that are `live` run */
  const bool *live;
  const leati_view *outputs;  /**< of the graph */
  leati_alias *at;            /**< by value; filled in */
  leati_inference *inference; /**< of all values; their views get the strides by which they lie, and addresses that
                                   agree with those of their roots modulo LEATI_PLAN_ALIGNMENT */
} leati_aliasing;

/** Places all values, those that are only picked in what they are picked from.
 * @errors OUT_OF_MEMORY */
int32_t leati_aliasing_run(const leati_aliasing *aliasing, leat_error *err);
/** Places those that are put side by side in what they become, as that lies: behind leati_aliasing_run(), and
 * leati_layout_run() where that is wanted.
 * @errors OUT_OF_MEMORY */
int32_t leati_aliasing_join(const leati_aliasing *aliasing, leat_error *err);

#endif /* LEAT_PLUGIN_GRAPH_ALIASING_H_ */
