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
  bool known;        /**< `view` holds type and shape; strides are compact until aliasing.h says how it lies */
  const void *bytes; /**< the elements, compact, if they are known on the host; never NULL without any */
  leati_view view;   /**< as a tensor on the device that has no address yet */
} leati_known_value;

/** Since the inference was kept, or began. */
#define LEATI_CHANGED 1u
/** Since leati_inference_fit(). */
#define LEATI_CHANGED_SINCE_FIT 2u

typedef struct leati_inference {
  const leat_graph *graph;
  leati_known_value *values; /**< by number; inputs are set by the caller */
  uint8_t *changed;          /**< by value: LEATI_CHANGED and _SINCE_FIT, as far as it is not what it was then */
  uint64_t fitted;           /**< number of the program that leati_inference_fit() was said of; 0: none */
  struct leati_host_chunk *host_values; /**< elements that inputs have and nodes gave, in pieces of */
  uint64_t host_value_bytes;            /**< so many in all */
  uint64_t evaluated;                   /**< how many of these no shape follows from */
  bool limited;                         /**< there would have been more of those than are computed on the host */
} leati_inference;

/** Begins with the constants of the graph. leati_inference_end() must follow, also when it fails.
 * @errors OUT_OF_MEMORY */
int32_t leati_inference_begin(const leat_graph *graph, leati_inference *out, leat_error *err);
void leati_inference_end(leati_inference *inference);
/** Keeps what each inference of a graph begins with in the graph, whose constants stay as they are from now on.
 * @errors OUT_OF_MEMORY */
int32_t leati_inference_prepare(leat_graph *graph, leat_error *err);

/** Makes all inputs known, by views of tensors on the device or the host.
 * @errors OUT_OF_MEMORY */
int32_t leati_inference_inputs(leati_inference *inference, const leati_view *views, leat_error *err);
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
/** Infers what a node gives, and asks it for what it gives on the host; the same shapes and elements as before count as
 * not changed. `*out_known` as above. */
int32_t leati_inference_node(leati_inference *inference, const leati_node *node, bool *out_known, leat_error *err);
/** Infers all nodes of which enough is known: all, if the inputs are. Those whose inputs have not changed give what
 * they gave.
 * @errors a message names the node */
int32_t leati_inference_all(leati_inference *inference, leat_error *err);

/* ---- From one launch to the next -------------------------------------------------------------------------------- */

/** Infers all values for such inputs. It begins with what the thread has kept, for whatever inputs, and infers nodes
 * whose inputs differ: a decoder that grows by a token has few. Then leati_inference_end() or, if it did not fail,
 * leati_inference_keep() must follow, also where it fails.
 * @errors a message names the node */
int32_t leati_inference_of(const leat_graph *graph, const leati_view *views, leati_inference *out, leat_error *err);
/** Notes that a program holds for what is inferred, so that for other inputs only what changes has to be looked at.
 * @param number the program's own, never used for another one */
void leati_inference_fit(leati_inference *inference, uint64_t number);
/** Whether what is known of some values, as far as they are some, is the same as when that was noted. */
bool leati_inference_same_since_fit(const leati_inference *inference, uint32_t count, const uint32_t *values);
/** Ends an inference of all nodes, which a later one of the thread may begin with if there is room for it. What a plan
 * said of where values lie is forgotten. */
void leati_inference_keep(leati_inference *inference);
/** Ends all that is kept. Nobody uses the graph. */
void leati_inference_forget(leat_graph *graph);

#endif /* LEAT_PLUGIN_GRAPH_INFERENCE_H_ */
