/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Which images in a graph are in NHWC layout (ops/core/channels_last.h): those that only nodes
 * make and take which can do so, where more of them gain by it than have to copy them; and which constants nodes take
 * in another order. Belongs to one thread.
 */
#ifndef LEAT_PLUGIN_GRAPH_LAYOUT_H_
#define LEAT_PLUGIN_GRAPH_LAYOUT_H_

#include "graph/aliasing.h"
#include "graph/inference.h"

/** What is laid. */
typedef struct leati_layout {
  const leat_graph *graph;
  const leati_node *nodes; /**< as many as the graph has; those that are `live` run */
  const bool *live;
  leati_alias *at; /**< by value, as leati_aliasing_run() left them: nothing is joined yet. What is laid lies in
                              itself, until leati_aliasing_join() */
  leati_inference *inference; /**< of all values; the views of those that are laid so get such strides */
  bool images;                /**< images may be in NHWC layout; else constants alone take another order */
} leati_layout;

/** Lays images so, and counts them. `ordered`: by node, takes a bit for each input that is a constant and is to be
 * given to it in the other order.
 * @errors OUT_OF_MEMORY */
int32_t leati_layout_run(const leati_layout *layout, uint32_t *ordered, uint32_t *out_count, leat_error *err);

/** That order: a matrix is transposed, all else is in NHWC layout. Of a constant, a view whose
 * elements are to be kept one behind the other; */
leati_view leati_layout_order(const leati_view *constant);
/** and the strides of the constant itself, if they are. */
void leati_layout_apply(leati_view *constant);

#endif /* LEAT_PLUGIN_GRAPH_LAYOUT_H_ */
