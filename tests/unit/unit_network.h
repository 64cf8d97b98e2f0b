/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * A network for tests of graphs: as a description, as tensors, run node by node and as a graph.
 */
#ifndef LEAT_TESTS_UNIT_UNIT_NETWORK_H_
#define LEAT_TESTS_UNIT_UNIT_NETWORK_H_

#include <stdbool.h>

#include "unit_fixture.h"

enum { VALUES = 192, NODES = 96, ARGUMENTS = 8, ELEMENTS = 512, RANK = 5 };

typedef struct network {
  leat_graph_desc desc;
  leat_value_info infos[VALUES];
  DLTensor tensors[VALUES]; /* on the host, of constants and of what is given to inputs */
  int64_t shapes[VALUES][RANK];
  float floats[VALUES][ELEMENTS];
  int64_t ints[VALUES][8];
  leat_graph_node nodes[NODES];
  uint32_t arguments[NODES][2][ARGUMENTS];
  const leat_value_info *info_list[VALUES];
  const leat_graph_node *node_list[NODES];
  uint32_t inputs[VALUES], outputs[VALUES];
} network;

extern const DLDataType float_type, int_type;

/** An empty description; free() it. */
network *make_network(void);

/** A value, an input of the graph, a constant with elements that differ, and a constant list of int64. Each gives its
 * number, as the following. */
uint32_t add_value(network *n, DLDataType type, int32_t ndim, const int64_t *shape);
uint32_t add_input(network *n, int32_t ndim, const int64_t *shape);
uint32_t add_constant(network *n, int32_t ndim, const int64_t *shape);
/** A constant of float16 that is a scalar, by its bits. */
uint32_t add_half(network *n, uint16_t bits);
uint32_t add_list(network *n, int64_t count, const int64_t *values);

/** A node with one output, of which nothing is known; and one more output of the last node. */
uint32_t add_node(network *n, const char *op, uint32_t since_version, uint32_t input_count, const uint32_t *inputs);
uint32_t add_part(network *n);
#define NODE(n, op, version, ...)                                                            \
  add_node((n), (op), (version), sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), \
           (const uint32_t[]){__VA_ARGS__})

/** Gives the last node an attribute, for which there is room at `list`. */
void set_attribute(network *n, const leat_attribute *attribute, const leat_attribute **list);

/** Rank and shape as two arguments, and an attribute. */
#define SHAPE(...)                                                                \
  (sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[]) { \
    __VA_ARGS__                                                                   \
  }
#define ATTRIBUTE(kind, ...) \
  { .struct_size = sizeof(leat_attribute), .type = LEAT_ATTRIBUTE_##kind, __VA_ARGS__ }

/** Gives the last node attributes, which are borrowed. */
void set_attributes(network *n, const leat_attribute *const *attributes, uint32_t count);

/** A Cast to float16, one to float32, and one to float16 or bfloat16. */
uint32_t halved(network *n, uint32_t v);
uint32_t widened(network *n, uint32_t v);
uint32_t narrowed_to(network *n, uint32_t v, bool brain);

/** Makes a value an output of the graph. */
void add_output(network *n, uint32_t v);

/** Where it runs. */
typedef struct place {
  fixture *f;
  leat_stream *stream;
} place;

/** A stream of the fixture's device, or the end of the test where there is none. */
place open_place(void **state);
void close_place(const place *p);

/** Bytes of a tensor's elements. */
size_t bytes_of(const DLTensor *t);

/** A tensor on the device with the shape of another, and room for `ELEMENTS` numbers; release() it. */
DLTensor on_device(const place *p, const DLTensor *like);
void release(const place *p, const DLTensor *t);

/** Copies elements in the place's stream. */
void copy(const place *p, const DLTensor *from, const DLTensor *to);

/** The bytes of each output, in the order of desc.outputs. */
typedef struct results {
  float floats[8][ELEMENTS];
  leat_shape shapes[8];
} results;

/** Runs the nodes one by one, as a host without graphs does. */
void run_nodes(const place *p, const network *n, results *out);

/** Builds the graph, launches it and waits. Bit i of `host` says that input or output i is on the host. */
leat_graph *build(const place *p, const network *n);
void run_graph(const place *p, const leat_graph *graph, const network *n, uint32_t host, results *out);

/** A launch under way. */
typedef struct launched {
  DLTensor in[8], out[8];
  uint32_t in_count, out_count;
} launched;

/** The same in two steps: launch() does not wait. */
void launch(const place *p, const leat_graph *graph, const network *n, uint32_t host, results *out, launched *l);
void finish(const place *p, uint32_t host, results *out, const launched *l);

/** What the graph says of itself. */
leat_graph_info info_of(const place *p, const leat_graph *graph);

/** How often rule `rule` (core/fusions.h) did something in it. */
uint32_t fusions_in(const place *p, const leat_graph *graph, uint32_t rule);

/** Whether the device computes: dispatches of the null driver do not. */
bool computes(void);

/** Fails unless two runs gave the same shapes and bits. */
void compare(const network *n, const results *a, const results *b);

#endif /* LEAT_TESTS_UNIT_UNIT_NETWORK_H_ */
