/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What the values of a graph are for inputs of given shapes: shapes, types, and elements that are known on the host.
 * Belongs to one thread.
 */
#ifndef LEAT_PLUGIN_GRAPH_INFERENCE_H_
#define LEAT_PLUGIN_GRAPH_INFERENCE_H_

#include "graph/graph.h"
#include "ops/core/arguments.h"

/** What is known of a value. */
typedef struct leati_known_value {
  bool known;        /**< `view` holds type and shape; strides are compact until placing.h says how it lies */
  const void *bytes; /**< the elements, compact, if they are known on the host; never NULL without any */
  leati_view view;   /**< as a tensor on the device that has no address yet */
} leati_known_value;

typedef struct leati_inference {
  const leat_graph *graph;
  leati_known_value *values;  /**< by number; inputs are set by the caller */
  struct leati_scrap *scraps; /**< elements that nodes gave */
  uint64_t evaluated;         /**< how many of these no shape follows from */
} leati_inference;

/** Begins with the constants of the graph. leati_inference_end() must follow, also when it fails.
 * @errors OUT_OF_MEMORY */
int32_t leati_inference_begin(const leat_graph *graph, leati_inference *out, leat_error *err);
void leati_inference_end(leati_inference *inference);
/** Keeps what each inference of a graph begins with in the graph, whose constants stay as they are from now on.
 * @errors OUT_OF_MEMORY */
int32_t leati_inference_prepare(leat_graph *graph, leat_error *err);

/** Makes all inputs known, by views of tensors on the device or the host. */
void leati_inference_inputs(leati_inference *inference, const leati_view *views);
/** Shapes of the outputs of the graph, all of which are known. */
void leati_inference_outputs(const leati_inference *inference, leat_shape *out);

/** Fills in the inputs of a node, and room for its outputs; leati_arguments_end() must follow, also when it fails.
 * `*out_known` is false, and inputs are missing, if one of them is not known.
 * @errors OUT_OF_MEMORY */
int32_t leati_inference_open_node(const leati_inference *inference, const leati_node *node, leati_arguments *a,
                                  bool *out_known, leat_error *err);
/** The same, and infers the shapes of the outputs, which `a` then holds.
 * @errors what leati_op_def::infer() returns */
int32_t leati_inference_infer_node(const leati_inference *inference, const leati_node *node, leati_arguments *a,
                                   bool *out_known, leat_error *err);
/** Infers what a node gives, and asks it for what it gives on the host. `*out_known` as above. */
int32_t leati_inference_node(leati_inference *inference, const leati_node *node, bool *out_known, leat_error *err);
/** Infers all nodes of which enough is known: all, if the inputs are.
 * @errors a message names the node */
int32_t leati_inference_all(leati_inference *inference, leat_error *err);

/* ---- Going on with it later ------------------------------------------------------------------------------------- */

/** Keeps an inference of all nodes for a later leati_inference_take() by this thread, and ends it. */
void leati_inference_keep(leati_inference *inference);
/** Takes up what was kept for such inputs, whose views become those of the inference; false: nothing was, or for
 * others, and nothing happened. leati_inference_end() must follow if it did. */
bool leati_inference_take(const leat_graph *graph, const leati_view *views, leati_inference *out);
/** Ends all that is kept. Nobody uses the graph. */
void leati_inference_forget(leat_graph *graph);

#endif /* LEAT_PLUGIN_GRAPH_INFERENCE_H_ */
