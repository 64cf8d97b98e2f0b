/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Graphs for cases: a description that is put together step by step, and small graphs of one operator with exact
 * results (leati_form_exact()), of which any launch must give what the nodes one by one give, to the bit.
 */
#ifndef LEAT_CONFORMANCE_CASES_GRAPH_NET_H_
#define LEAT_CONFORMANCE_CASES_GRAPH_NET_H_

#include "cases/subject.h"

/** Ends the case as not supported if the plugin has no graph table. */
void leati_graph_require(const leat_case_context *ctx);

/* ---- Descriptions ----------------------------------------------------------------------------------------------- */

enum {
  LEATI_BUILDER_VALUES = 96,
  LEATI_BUILDER_NODES = 48,
  LEATI_BUILDER_INPUTS = 5,    /**< of the graph and of a node */
  LEATI_BUILDER_OUTPUTS = 2,   /**< of a node */
  LEATI_BUILDER_ATTRIBUTES = 2 /**< of a node */
};

/** A description with what it points to. It points into itself: do not copy it. A case may break any of it. */
typedef struct leati_builder {
  leat_graph_desc desc;
  uint32_t inputs[LEATI_BUILDER_INPUTS];
  uint32_t outputs[LEATI_BUILDER_NODES];
  const leat_value_info *values[LEATI_BUILDER_VALUES];
  leat_value_info infos[LEATI_BUILDER_VALUES];
  int64_t dims[LEATI_BUILDER_VALUES][LEAT_MAX_RANK];
  DLTensor constants[LEATI_BUILDER_VALUES];
  const leat_graph_node *node_list[LEATI_BUILDER_NODES];
  leat_graph_node nodes[LEATI_BUILDER_NODES];
  char names[LEATI_BUILDER_NODES][16];
  uint32_t node_inputs[LEATI_BUILDER_NODES][LEATI_BUILDER_INPUTS];
  uint32_t node_outputs[LEATI_BUILDER_NODES][LEATI_BUILDER_OUTPUTS];
  const leat_attribute *attributes[LEATI_BUILDER_NODES][LEATI_BUILDER_ATTRIBUTES];
} leati_builder;

/** An empty description; free it with g_free(). */
leati_builder *leati_builder_new(void);

/** Adds an input, a constant (`bytes` are borrowed), of `ndim` dimensions, -1 where one is not known. Each gives the
 * number of the value, also the following. */
uint32_t leati_builder_input(leati_builder *builder, DLDataType dtype, int32_t ndim, const int64_t *dims);
uint32_t leati_builder_constant(leati_builder *builder, const void *bytes, DLDataType dtype, int32_t ndim,
                                const int64_t *dims);

/** Adds a node called "node0" and so on, with the output that it gives, of which nothing is said. */
uint32_t leati_builder_node(leati_builder *builder, const char *op, uint32_t since_version, uint32_t input_count,
                            const uint32_t *inputs);
/** Gives the node that was added last an attribute, which is borrowed, or one more output. */
void leati_builder_attribute(leati_builder *builder, const leat_attribute *attribute);
uint32_t leati_builder_more(leati_builder *builder);

/** Makes a value an output of the graph. */
void leati_builder_output(leati_builder *builder, uint32_t value);

/** Builds the graph. Ends the case as not supported if the plugin does not support one of the operators. Destroy it
 * with leati_graph_destroy(). */
leat_graph *leati_graph_new(leat_case_context *ctx, const leati_builder *builder);
void leati_graph_destroy(leat_case_context *ctx, leat_graph *graph);

/* ---- Graphs with exact results ---------------------------------------------------------------------------------- */

typedef enum leati_net_kind {
  LEATI_NET_ONE,     /**< one node of two inputs; no constant */
  LEATI_NET_CHAIN,   /**< six nodes behind each other, all of which take one constant; two inputs, one output */
  LEATI_NET_DIAMOND, /**< four nodes, two of them side by side; the value before these is the second output */
  LEATI_NET_WIDE,    /**< nine nodes, of which each is an output and most are taken by others; no constant */
  LEATI_NET_DEEP     /**< the same nodes, of which the last alone is an output */
} leati_net_kind;

/** A graph of one operator. Constant once it is made. */
typedef struct leati_net {
  leat_case_context *ctx;
  leati_form form; /**< of each node; each value has its type and shape */
  leat_op *op;     /**< the same as an operator */
  uint64_t size;   /**< bytes of a value */
  uint8_t *constant;
  leati_builder *builder;
} leati_net;

/** Makes a net and its operator. `unknown`: nothing is said of the inputs' dimensions, not even how many. */
leati_net *leati_net_new(leat_case_context *ctx, leati_net_kind kind, bool unknown);
void leati_net_free(leati_net *net);

/** The same net for tensors of another first dimension; `net`, of which nothing is said about dimensions and which
 * takes no constant, owns all of it. Ask for it only where the form is Add: other operators may not take such rows. */
leati_net leati_net_of_rows(const leati_net *net, int64_t rows);

/** The bytes of an input, which follow from the seed; free them with g_free(). */
uint8_t *leati_net_input(const leati_net *net, uint32_t input, uint32_t seed);

/** What the nodes one by one, put into a stream of their own, make of such inputs: the bytes of each output of the
 * graph, one behind the other. Free them with g_free(). */
uint8_t *leati_net_expected(const leati_net *net, uint32_t seed);

/** A view of a value on the device, on the host. */
void leati_net_device(const leati_net *net, leat_case_tensor *out, uint64_t address);
void leati_net_host(const leati_net *net, leat_case_tensor *out, void *bytes);

/** Launches with such views, of as many inputs and outputs as the graph has; an output NULL is not wanted. */
int32_t leati_net_launch(const leati_net *net, const leat_graph *graph, leat_stream *stream,
                         const leat_case_tensor *inputs, const leat_case_tensor *const *outputs, leat_error *err);

/** A launch under way, and where its outputs will be. */
typedef struct leati_flight leati_flight;

/** Puts uploads, a launch and downloads into a stream, with blocks of its own. */
leati_flight *leati_flight_begin(const leati_net *net, const leat_graph *graph, leat_stream *stream, uint32_t seed);
/** Checks the outputs, which a wait has covered, and releases it. */
void leati_flight_end(leati_flight *flight);
/** One from begin to end. */
void leati_flight_once(const leati_net *net, const leat_graph *graph, leat_stream *stream, uint32_t seed);

#endif /* LEAT_CONFORMANCE_CASES_GRAPH_NET_H_ */
