/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/graphs.h"

#include <string.h>

enum { LAYERS = 12, COLUMNS = LEATI_REQUEST_COLUMNS, VALUES_MAX = 64, NODES_MAX = 48 };

/* A description under construction. */
typedef struct graph {
  leat_value_info infos[VALUES_MAX];
  const leat_value_info *values[VALUES_MAX];
  leat_graph_node nodes[NODES_MAX];
  const leat_graph_node *node_list[NODES_MAX];
  uint32_t inputs[NODES_MAX][2], outputs[NODES_MAX];
  DLTensor constants[VALUES_MAX];
  uint32_t value_count, node_count;
} graph;

/* A value; gives its number. */
static uint32_t add_value(graph *g, DLDataType type, int32_t ndim, const int64_t *shape) {
  const uint32_t v = g->value_count++;
  g->infos[v] = (leat_value_info){.struct_size = sizeof(leat_value_info), .ndim = ndim, .dtype = type, .shape = shape};
  g->values[v] = &g->infos[v];
  return v;
}

/* A constant of data that lives until the graph is built. */
static uint32_t add_constant(graph *g, DLDataType type, int32_t ndim, int64_t *shape, void *data) {
  const uint32_t v = add_value(g, type, ndim, shape);
  g->constants[v] =
      (DLTensor){.data = data, .device = {kDLCPU, 0}, .ndim = ndim, .dtype = type, .shape = ndim > 0 ? shape : NULL};
  g->infos[v].value = &g->constants[v];
  return v;
}

/* A node of one output, whose number it gives. */
static uint32_t add_node(graph *g, const char *op, uint32_t since_version, uint32_t count, uint32_t a, uint32_t b) {
  const uint32_t n = g->node_count++;
  g->inputs[n][0] = a;
  g->inputs[n][1] = b;
  g->outputs[n] = add_value(g, (DLDataType){.bits = 0}, -1, NULL);
  g->nodes[n] = (leat_graph_node){.struct_size = sizeof(leat_graph_node),
                                  .since_version = since_version,
                                  .op = op,
                                  .input_count = count,
                                  .output_count = 1,
                                  .inputs = g->inputs[n],
                                  .outputs = &g->outputs[n]};
  g->node_list[n] = &g->nodes[n];
  return g->outputs[n];
}

static leat_graph *build(const leati_rig *rig, const graph *g, uint32_t input, uint32_t output, GError **error) {
  leat_error err = LEATI_RIG_ERROR;
  leat_graph *built = NULL;
  const leat_graph_desc desc = {.struct_size = sizeof(desc),
                                .value_count = g->value_count,
                                .node_count = g->node_count,
                                .input_count = 1,
                                .output_count = 1,
                                .values = g->values,
                                .nodes = g->node_list,
                                .inputs = &input,
                                .outputs = &output};
  return leati_rig_ok(rig->api->graph->build(rig->device, &desc, &built, &err), &err, "graph build", error) ? built
                                                                                                            : NULL;
}

static const int64_t any_size[] = {-1, -1};

leat_graph *leati_graph_chain(const leati_rig *rig, guint length, GError **error) {
  g_autofree graph *g = g_new0(graph, 1);
  int64_t zero = 0;
  const uint32_t input = add_value(g, (DLDataType){kDLInt, 32, 1}, 2, any_size);
  const uint32_t axis = add_constant(g, (DLDataType){kDLInt, 64, 1}, 0, NULL, &zero);
  uint32_t last = input;
  g_assert(length <= NODES_MAX);
  for (guint i = 0; i < length; ++i) {
    last = add_node(g, "CumSum", 14, 2, last, axis);
  }
  return build(rig, g, input, last, error);
}

/* Which inputs an output adds up; the third is taken away. */
static void terms_of(guint layer, guint output, guint terms[3]) {
  terms[0] = (output * 7 + layer * 13 + 1) % COLUMNS;
  terms[1] = (output * 11 + layer * 5 + 2) % COLUMNS;
  terms[2] = (output * 5 + layer * 3 + 7) % COLUMNS;
}

leat_graph *leati_graph_perceptron(const leati_rig *rig, GError **error) {
  static const DLDataType float32 = {kDLFloat, 32, 1};
  static const int64_t rows[] = {-1, COLUMNS};
  int64_t square[] = {COLUMNS, COLUMNS};
  const gsize size = (gsize)COLUMNS * COLUMNS;
  g_autofree graph *g = g_new0(graph, 1);
  g_autofree float *weights = g_new0(float, LAYERS *size);
  const uint32_t input = add_value(g, float32, 2, rows);
  uint32_t last = input;
  for (guint layer = 0; layer < LAYERS; ++layer) {
    float *const w = weights + layer * size;
    for (guint o = 0; o < COLUMNS; ++o) {
      guint terms[3];
      terms_of(layer, o, terms);
      w[terms[0] * COLUMNS + o] += 1.0f;
      w[terms[1] * COLUMNS + o] += 1.0f;
      w[terms[2] * COLUMNS + o] -= 1.0f;
    }
    last = add_node(g, "MatMul", 13, 2, last, add_constant(g, float32, 2, square, w));
    last = add_node(g, "Relu", 14, 1, last, 0);
  }
  return build(rig, g, input, last, error);
}

/* Nothing is below 0, so a layer at most doubles the largest: after twelve it is below 2^16, and every sum is exact. */
void leati_perceptron_row(const float *input, float *output) {
  float before[COLUMNS];
  memcpy(output, input, sizeof(before));
  for (guint layer = 0; layer < LAYERS; ++layer) {
    memcpy(before, output, sizeof(before));
    for (guint o = 0; o < COLUMNS; ++o) {
      guint terms[3];
      terms_of(layer, o, terms);
      const float sum = before[terms[0]] + before[terms[1]] - before[terms[2]];
      output[o] = MAX(sum, 0.0f);
    }
  }
}
