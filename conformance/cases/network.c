/* SPDX-License-Identifier: BSD-3-Clause */
#include "cases/network.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "cases/graph_net.h"
#include "ops/core/ref_run.h"

enum { MAX_VALUES = 48, MAX_INPUTS = 4, MAX_ATTRIBUTES = 2 };

/* How a value comes about. */
typedef enum { FROM_INPUT, FROM_WEIGHT, FROM_VIEW, FROM_OP } origin;

/* A value of the network: a tensor, and how it comes about. */
typedef struct {
  origin from;
  int32_t rank;
  int64_t dims[LEAT_MAX_RANK];
  /* FROM_INPUT and FROM_WEIGHT: the range of the elements. */
  double low;
  double high;
  /* FROM_VIEW: a value, and which of its elements. Otherwise compact. */
  int of;
  int64_t strides[LEAT_MAX_RANK];
  int64_t offset;
  /* FROM_OP */
  const char *name;
  uint32_t since_version;
  uint32_t input_count;
  int inputs[MAX_INPUTS];
  uint32_t attribute_count;
  leat_attribute attributes[MAX_ATTRIBUTES];
  leat_op *op;
  /* FROM_WEIGHT */
  leati_ref_tensor exact;
  uint64_t block;
} value;

struct leati_network {
  int count;
  value values[MAX_VALUES];
};

/* ---- Building --------------------------------------------------------------------------------------------------- */

static value *add_value(leati_network *n, origin from, int32_t rank, const int64_t *dims) {
  value *v = &n->values[n->count];
  g_assert(n->count < MAX_VALUES);
  ++n->count;
  v->from = from;
  v->rank = rank;
  for (int32_t d = rank - 1; d >= 0; --d) {
    v->dims[d] = dims[d];
    v->strides[d] = d == rank - 1 ? 1 : v->strides[d + 1] * v->dims[d + 1];
  }
  return v;
}

/* Each of the following gives the number of the new value. */

#define SHAPE(...)                                                              \
  (int32_t) G_N_ELEMENTS(((const int64_t[]){__VA_ARGS__})), (const int64_t[]) { \
    __VA_ARGS__                                                                 \
  }

static int add_input(leati_network *n, int32_t rank, const int64_t *dims) {
  value *v = add_value(n, FROM_INPUT, rank, dims);
  v->low = -1.0;
  v->high = 1.0;
  return n->count - 1;
}

static int add_weight(leati_network *n, double low, double high, int32_t rank, const int64_t *dims) {
  value *v = add_value(n, FROM_WEIGHT, rank, dims);
  v->low = low;
  v->high = high;
  return n->count - 1;
}

/* A weight that `inputs` elements are multiplied with and added up over: of a size that keeps the sum's. */
static int add_matrix(leati_network *n, int64_t inputs, int32_t rank, const int64_t *dims) {
  double size = sqrt(3.0 / (double)inputs);
  return add_weight(n, -size, size, rank, dims);
}

static int add_view(leati_network *n, int of, int64_t offset, const int64_t *strides, int32_t rank,
                    const int64_t *dims) {
  value *v = add_value(n, FROM_VIEW, rank, dims);
  v->of = of;
  v->offset = offset;
  for (int32_t d = 0; strides != NULL && d < rank; ++d) {
    v->strides[d] = strides[d];
  }
  return n->count - 1;
}

/* `attributes` and what they point to live as long as the process. */
static int add_op(leati_network *n, const char *name, uint32_t since_version, uint32_t input_count, const int *inputs,
                  uint32_t attribute_count, const leat_attribute *attributes, int32_t rank, const int64_t *dims) {
  value *v = add_value(n, FROM_OP, rank, dims);
  v->name = name;
  v->since_version = since_version;
  v->input_count = input_count;
  v->attribute_count = attribute_count;
  for (uint32_t i = 0; i < input_count; ++i) {
    v->inputs[i] = inputs[i];
  }
  for (uint32_t i = 0; i < attribute_count; ++i) {
    v->attributes[i] = attributes[i];
  }
  return n->count - 1;
}

#define INPUTS(...)                                                      \
  (uint32_t) G_N_ELEMENTS(((const int[]){__VA_ARGS__})), (const int[]) { \
    __VA_ARGS__                                                          \
  }
#define NO_ATTRIBUTES 0, NULL

/* x, rows x from, to rows x to, the weight given row by row of the result. */
static int add_gemm(leati_network *n, int x, int64_t rows, int64_t from, int64_t to) {
  static const leat_attribute transposed = {
      .struct_size = sizeof(transposed), .type = LEAT_ATTRIBUTE_INT, .name = "transB", .i = 1};
  int w = add_matrix(n, from, SHAPE(to, from));
  int b = add_weight(n, -0.5, 0.5, SHAPE(to));
  return add_op(n, "Gemm", 13, INPUTS(x, w, b), 1, &transposed, SHAPE(rows, to));
}

/* x, rows x from, to rows x to, as a transformer has it: MatMul and Add. */
static int add_projection(leati_network *n, int x, int64_t rows, int64_t from, int64_t to) {
  int w = add_matrix(n, from, SHAPE(from, to));
  int b = add_weight(n, -0.5, 0.5, SHAPE(to));
  int y = add_op(n, "MatMul", 13, INPUTS(x, w), NO_ATTRIBUTES, SHAPE(rows, to));
  return add_op(n, "Add", 14, INPUTS(y, b), NO_ATTRIBUTES, SHAPE(rows, to));
}

static int add_norm(leati_network *n, int x, int64_t rows, int64_t width) {
  int scale = add_weight(n, 0.5, 1.5, SHAPE(width));
  int shift = add_weight(n, -0.5, 0.5, SHAPE(width));
  return add_op(n, "LayerNormalization", 17, INPUTS(x, scale, shift), NO_ATTRIBUTES, SHAPE(rows, width));
}

static int add_unary(leati_network *n, const char *name, uint32_t since_version, int x) {
  value of = n->values[x];
  return add_op(n, name, since_version, INPUTS(x), NO_ATTRIBUTES, of.rank, of.dims);
}

/* y[o, p] = sum over channels and three places, with a border of zeros. */
static int add_conv(leati_network *n, int x, int64_t from, int64_t to, int64_t places) {
  static const int64_t border[2] = {1, 1};
  static const leat_attribute pads = {
      .struct_size = sizeof(pads), .type = LEAT_ATTRIBUTE_INTS, .name = "pads", .count = 2, .ints = border};
  int w = add_matrix(n, 3 * from, SHAPE(to, from, 3));
  int b = add_weight(n, -0.5, 0.5, SHAPE(to));
  return add_op(n, "Conv", 11, INPUTS(x, w, b), 1, &pads, SHAPE(1, to, places));
}

static int add_attention(leati_network *n, int x, int64_t tokens, int64_t width, int64_t heads) {
  static const int64_t order[3] = {1, 0, 2};
  static const leat_attribute perm = {
      .struct_size = sizeof(perm), .type = LEAT_ATTRIBUTE_INTS, .name = "perm", .count = 3, .ints = order};
  const int64_t size = width / heads;
  const double factor = 1.0 / sqrt((double)size);
  int all = add_projection(n, x, tokens, width, 3 * width);
  int scale = add_weight(n, factor, factor, 0, NULL);
  /* One row of `all` is q, k and v of a token, head after head. */
  const int64_t by_head[3] = {size, 3 * width, 1};
  const int64_t transposed[3] = {size, 1, 3 * width};
  int q = add_view(n, all, 0, by_head, SHAPE(heads, tokens, size));
  int k = add_view(n, all, width, transposed, SHAPE(heads, size, tokens));
  int v = add_view(n, all, 2 * width, by_head, SHAPE(heads, tokens, size));
  int scores = add_op(n, "MatMul", 13, INPUTS(q, k), NO_ATTRIBUTES, SHAPE(heads, tokens, tokens));
  int scaled = add_op(n, "Mul", 14, INPUTS(scores, scale), NO_ATTRIBUTES, SHAPE(heads, tokens, tokens));
  int weights = add_unary(n, "Softmax", 13, scaled);
  int mixed = add_op(n, "MatMul", 13, INPUTS(weights, v), NO_ATTRIBUTES, SHAPE(heads, tokens, size));
  int moved = add_op(n, "Transpose", 13, INPUTS(mixed), 1, &perm, SHAPE(tokens, heads, size));
  int joined = add_view(n, moved, 0, NULL, SHAPE(tokens, width));
  return add_projection(n, joined, tokens, width, width);
}

static void build(leati_network *n, leati_network_shape s) {
  int x;
  int y;
  switch (s.kind) {
    case LEATI_NETWORK_LINEAR:
      x = add_input(n, SHAPE(s.rows, s.width));
      add_gemm(n, x, s.rows, s.width, s.hidden);
      break;
    case LEATI_NETWORK_MLP:
      x = add_input(n, SHAPE(s.rows, s.width));
      x = add_unary(n, "Relu", 14, add_gemm(n, x, s.rows, s.width, s.hidden));
      x = add_unary(n, "Tanh", 13, add_gemm(n, x, s.rows, s.hidden, s.hidden));
      add_gemm(n, x, s.rows, s.hidden, s.width);
      break;
    case LEATI_NETWORK_CONV1D:
      x = add_input(n, SHAPE(1, s.rows, s.width));
      x = add_unary(n, "Relu", 14, add_conv(n, x, s.rows, s.hidden, s.width));
      x = add_conv(n, x, s.hidden, s.rows, s.width);
      x = add_view(n, x, 0, NULL, SHAPE(1, s.rows * s.width));
      add_gemm(n, x, 1, s.rows * s.width, s.hidden);
      break;
    case LEATI_NETWORK_BATCHED: {
      /* Both factors lie with their last two dimensions in reverse order; the second is every other matrix. */
      const int64_t first[3] = {s.rows * s.width, 1, s.rows};
      const int64_t second[3] = {2 * s.width * s.hidden, 1, s.width};
      x = add_input(n, SHAPE(s.heads, s.width, s.rows));
      y = add_input(n, SHAPE(2 * s.heads, s.hidden, s.width));
      x = add_view(n, x, 0, first, SHAPE(s.heads, s.rows, s.width));
      y = add_view(n, y, s.width * s.hidden, second, SHAPE(s.heads, s.width, s.hidden));
      x = add_op(n, "MatMul", 13, INPUTS(x, y), NO_ATTRIBUTES, SHAPE(s.heads, s.rows, s.hidden));
      /* Its square in the batch's order turned around, rows against rows. */
      const int64_t backwards[3] = {-s.rows * s.hidden, 1, s.hidden};
      y = add_view(n, x, (s.heads - 1) * s.rows * s.hidden, backwards, SHAPE(s.heads, s.hidden, s.rows));
      add_op(n, "MatMul", 13, INPUTS(x, y), NO_ATTRIBUTES, SHAPE(s.heads, s.rows, s.rows));
      break;
    }
    case LEATI_NETWORK_NORM:
      x = add_input(n, SHAPE(s.rows, s.width));
      add_norm(n, x, s.rows, s.width);
      break;
    case LEATI_NETWORK_ATTENTION:
      x = add_input(n, SHAPE(s.rows, s.width));
      add_attention(n, x, s.rows, s.width, s.heads);
      break;
    case LEATI_NETWORK_TRANSFORMER:
      x = add_input(n, SHAPE(s.rows, s.width));
      y = add_attention(n, add_norm(n, x, s.rows, s.width), s.rows, s.width, s.heads);
      x = add_op(n, "Add", 14, INPUTS(x, y), NO_ATTRIBUTES, SHAPE(s.rows, s.width));
      y = add_projection(n, add_norm(n, x, s.rows, s.width), s.rows, s.width, s.hidden);
      y = add_projection(n, add_unary(n, "Gelu", 20, y), s.rows, s.hidden, s.width);
      add_op(n, "Add", 14, INPUTS(x, y), NO_ATTRIBUTES, SHAPE(s.rows, s.width));
      break;
  }
}

/* ---- Making ----------------------------------------------------------------------------------------------------- */

static void fill(leati_ref_tensor *out, const value *v, GRand *random) {
  leati_ref_tensor_init(out, LEATI_REF_FLOAT32, v->rank, v->dims);
  for (int64_t k = 0; k < out->count; ++k) {
    /* What float32 holds is what the device gets. */
    float element = (float)(v->low < v->high ? g_rand_double_range(random, v->low, v->high) : v->low);
    out->f[k] = (double)element;
  }
}

static void upload(leat_case_context *ctx, leat_stream *stream, uint64_t block, const leati_ref_tensor *tensor) {
  size_t size = (size_t)tensor->count * sizeof(float);
  void *bytes = g_malloc(size);
  leati_ref_tensor_store(tensor, bytes);
  leati_upload(ctx, stream, block, bytes, size);
  g_free(bytes);
}

static void create_op(leat_case_context *ctx, leati_network *n, value *v) {
  leat_value_info infos[MAX_INPUTS];
  const leat_value_info *inputs[MAX_INPUTS];
  const leat_attribute *attributes[MAX_ATTRIBUTES];
  leat_op_desc desc = {.struct_size = sizeof(desc),
                       .since_version = v->since_version,
                       .name = v->name,
                       .domain = "",
                       .attribute_count = v->attribute_count,
                       .input_count = v->input_count,
                       .output_count = 1,
                       .attributes = attributes,
                       .inputs = inputs};
  for (uint32_t i = 0; i < v->attribute_count; ++i) {
    attributes[i] = &v->attributes[i];
  }
  for (uint32_t i = 0; i < v->input_count; ++i) {
    const value *from = &n->values[v->inputs[i]];
    infos[i] =
        (leat_value_info){.struct_size = sizeof(infos[i]), .ndim = from->rank, .dtype = LEAT_F32, .shape = from->dims};
    inputs[i] = &infos[i];
  }
  leati_case_require_op(ctx, &desc);
  LEAT_CHECK_OK(ctx, ctx->op->create(leati_fixture_device(ctx), &desc, &v->op, LEAT_ERR));
}

leati_network *leati_network_new(leat_case_context *ctx, leati_network_shape shape) {
  leati_network *n = g_new0(leati_network, 1);
  leat_stream *stream = leati_stream_new(ctx);
  GRand *random = g_rand_new_with_seed(ctx->seed);
  build(n, shape);
  for (int i = 0; i < n->count; ++i) {
    value *v = &n->values[i];
    if (v->from == FROM_OP) {
      create_op(ctx, n, v);
    } else if (v->from == FROM_WEIGHT) {
      fill(&v->exact, v, random);
      v->block = leati_case_alloc(ctx, (uint64_t)v->exact.count * sizeof(float), stream);
      upload(ctx, stream, v->block, &v->exact);
    }
  }
  /* From here on the weights are there for every stream. */
  leati_synchronize(ctx, stream);
  leati_stream_destroy(ctx, stream);
  g_rand_free(random);
  return n;
}

void leati_network_free(leat_case_context *ctx, leati_network *network) {
  for (int i = 0; i < network->count; ++i) {
    value *v = &network->values[i];
    if (v->from == FROM_OP) {
      leati_op_destroy(ctx, v->op);
    } else if (v->from == FROM_WEIGHT) {
      leati_case_free(ctx, v->block);
      leati_ref_tensor_clear(&v->exact);
    }
  }
  g_free(network);
}

/* ---- Running ---------------------------------------------------------------------------------------------------- */

struct leati_network_run {
  const leati_network *network;
  uint32_t seed;
  leati_ref_tensor given[MAX_VALUES]; /* of FROM_INPUT */
  void *results[MAX_VALUES];          /* of FROM_OP; where the downloads go */
  size_t sizes[MAX_VALUES];           /* likewise, bytes */
};

static int64_t elements(const value *v) {
  int64_t count = 1;
  for (int32_t d = 0; d < v->rank; ++d) {
    count *= v->dims[d];
  }
  return count;
}

/* Brings the results to the host and frees the blocks of all values. */
static void end_run(leat_case_context *ctx, leati_network_run *run, leat_stream *stream,
                    const uint64_t blocks[MAX_VALUES]) {
  for (int i = 0; i < run->network->count; ++i) {
    if (run->results[i] != NULL) {
      leati_download(ctx, stream, blocks[i], run->results[i], run->sizes[i]);
    }
  }
  for (int i = 0; i < run->network->count; ++i) {
    leati_case_free(ctx, blocks[i]);
  }
}

leati_network_run *leati_network_begin(leat_case_context *ctx, const leati_network *network, leat_stream *stream,
                                       uint32_t seed) {
  leati_network_run *run = g_new0(leati_network_run, 1);
  leat_case_tensor *views = g_new0(leat_case_tensor, MAX_VALUES);
  uint64_t blocks[MAX_VALUES] = {0};
  GRand *random = g_rand_new_with_seed(seed);
  run->network = network;
  run->seed = seed;
  for (int i = 0; i < network->count; ++i) {
    const value *v = &network->values[i];
    run->sizes[i] = (size_t)elements(v) * sizeof(float);
    if (v->from == FROM_VIEW) {
      uint64_t address = (uint64_t)(uintptr_t)views[v->of].tensor.data + (uint64_t)v->offset * sizeof(float);
      leati_case_tensor_device(ctx, &views[i], address, LEAT_F32, v->rank, v->dims);
      for (int32_t d = 0; d < v->rank; ++d) {
        views[i].strides[d] = v->strides[d];
      }
      views[i].tensor.strides = views[i].strides;
      continue;
    }
    if (v->from != FROM_WEIGHT) {
      blocks[i] = leati_case_alloc(ctx, run->sizes[i], stream);
    }
    leati_case_tensor_device(ctx, &views[i], v->from == FROM_WEIGHT ? v->block : blocks[i], LEAT_F32, v->rank, v->dims);
    if (v->from == FROM_INPUT) {
      fill(&run->given[i], v, random);
      upload(ctx, stream, blocks[i], &run->given[i]);
    } else if (v->from == FROM_OP) {
      const leat_case_tensor *inputs[MAX_INPUTS];
      for (uint32_t k = 0; k < v->input_count; ++k) {
        inputs[k] = &views[v->inputs[k]];
      }
      leati_op_invoke(ctx, v->op, stream, v->input_count, inputs, &views[i]);
      run->results[i] = g_malloc0(run->sizes[i]);
    }
  }
  end_run(ctx, run, stream, blocks);
  g_rand_free(random);
  g_free(views);
  return run;
}

/* ---- As one graph ----------------------------------------------------------------------------------------------- */

/* Memory of constants, which build() copies. */
static void *borrow(GPtrArray *owned, size_t size) {
  void *bytes = g_malloc0(size);
  g_ptr_array_add(owned, bytes);
  return bytes;
}

static uint32_t add_list(leati_builder *m, GPtrArray *owned, int32_t count, const int64_t *numbers) {
  const int64_t dims[1] = {count};
  int64_t *list = borrow(owned, (size_t)count * sizeof(*list));
  memcpy(list, numbers, (size_t)count * sizeof(*list));
  return leati_builder_constant(m, list, LEAT_I64, 1, dims);
}

/* What a view shows, as operators say it: Reshape where that is all, else Gather from a flat tensor. */
static uint32_t add_shown(leati_builder *m, GPtrArray *owned, const value *v, uint32_t of, int64_t of_count) {
  const int64_t flat[1] = {-1};
  bool compact = v->offset == 0;
  int64_t count = 1;
  for (int32_t d = v->rank - 1; d >= 0; --d) {
    compact = compact && v->strides[d] == count;
    count *= v->dims[d];
  }
  const bool reshape = compact && count == of_count;
  const uint32_t shape = add_list(m, owned, reshape ? v->rank : 1, reshape ? v->dims : flat);
  const uint32_t shaped = leati_builder_node(m, "Reshape", 14, 2, (const uint32_t[2]){of, shape});
  if (reshape) {
    return shaped;
  }
  int64_t *indices = borrow(owned, (size_t)count * sizeof(*indices));
  for (int64_t k = 0; k < count; ++k) {
    int64_t index[LEAT_MAX_RANK];
    leati_ref_unravel(v->rank, v->dims, k, index);
    indices[k] = v->offset;
    for (int32_t d = 0; d < v->rank; ++d) {
      indices[k] += index[d] * v->strides[d];
    }
  }
  const uint32_t table = leati_builder_constant(m, indices, LEAT_I64, v->rank, v->dims);
  return leati_builder_node(m, "Gather", 13, 2, (const uint32_t[2]){shaped, table});
}

leat_graph *leati_network_graph(leat_case_context *ctx, const leati_network *network, bool all) {
  leati_builder *m = leati_builder_new();
  GPtrArray *owned = g_ptr_array_new_with_free_func(g_free);
  uint32_t numbers[MAX_VALUES];
  for (int i = 0; i < network->count; ++i) {
    const value *v = &network->values[i];
    switch (v->from) {
      case FROM_INPUT:
        numbers[i] = leati_builder_input(m, LEAT_F32, v->rank, v->dims);
        break;
      case FROM_WEIGHT: {
        void *bytes = borrow(owned, (size_t)v->exact.count * sizeof(float));
        leati_ref_tensor_store(&v->exact, bytes);
        numbers[i] = leati_builder_constant(m, bytes, LEAT_F32, v->rank, v->dims);
        break;
      }
      case FROM_VIEW:
        numbers[i] = add_shown(m, owned, v, numbers[v->of], elements(&network->values[v->of]));
        break;
      case FROM_OP: {
        uint32_t inputs[MAX_INPUTS];
        for (uint32_t k = 0; k < v->input_count; ++k) {
          inputs[k] = numbers[v->inputs[k]];
        }
        numbers[i] = leati_builder_node(m, v->name, v->since_version, v->input_count, inputs);
        for (uint32_t k = 0; k < v->attribute_count; ++k) {
          leati_builder_attribute(m, &v->attributes[k]);
        }
        if (all || i == network->count - 1) {
          leati_builder_output(m, numbers[i]);
        }
        break;
      }
    }
  }
  leat_graph *graph = leati_graph_new(ctx, m);
  g_ptr_array_unref(owned);
  g_free(m);
  return graph;
}

leati_network_run *leati_network_launch(leat_case_context *ctx, const leati_network *network, const leat_graph *graph,
                                        bool all, leat_stream *stream, uint32_t seed) {
  leati_network_run *run = g_new0(leati_network_run, 1);
  leat_case_tensor *views = g_new0(leat_case_tensor, MAX_VALUES);
  const DLTensor *inputs[LEATI_BUILDER_INPUTS];
  const DLTensor *outputs[MAX_VALUES];
  uint32_t input_count = 0;
  uint32_t output_count = 0;
  uint64_t blocks[MAX_VALUES] = {0};
  GRand *random = g_rand_new_with_seed(seed);
  run->network = network;
  run->seed = seed;
  for (int i = 0; i < network->count; ++i) {
    const value *v = &network->values[i];
    const bool output = v->from == FROM_OP && (all || i == network->count - 1);
    run->sizes[i] = (size_t)elements(v) * sizeof(float);
    if (v->from != FROM_INPUT && !output) {
      continue;
    }
    blocks[i] = leati_case_alloc(ctx, run->sizes[i], stream);
    leati_case_tensor_device(ctx, &views[i], blocks[i], LEAT_F32, v->rank, v->dims);
    if (output) {
      run->results[i] = g_malloc0(run->sizes[i]);
      outputs[output_count++] = &views[i].tensor;
    } else {
      fill(&run->given[i], v, random);
      upload(ctx, stream, blocks[i], &run->given[i]);
      inputs[input_count++] = &views[i].tensor;
    }
  }
  LEAT_CHECK_OK(ctx, ctx->api->graph->launch(graph, stream, input_count, inputs, output_count, outputs, LEAT_ERR));
  end_run(ctx, run, stream, blocks);
  g_rand_free(random);
  g_free(views);
  return run;
}

/* ---- Checking --------------------------------------------------------------------------------------------------- */

/* Puts in place of what the reference computed what the device did, which the next operator got: exactly this. */
static void take_result(leati_ref_tensor *tensor, const float *result) {
  for (int64_t k = 0; k < tensor->count; ++k) {
    tensor->f[k] = (double)result[k];
    tensor->bound[k] = 0.0;
  }
}

/* The elements of a view. */
static void take_view(leati_ref_tensor *out, const value *v, const leati_ref_tensor *from) {
  leati_ref_tensor_init(out, LEATI_REF_FLOAT32, v->rank, v->dims);
  for (int64_t k = 0; k < out->count; ++k) {
    int64_t index[LEAT_MAX_RANK];
    int64_t at = v->offset;
    leati_ref_unravel(v->rank, v->dims, k, index);
    for (int32_t d = 0; d < v->rank; ++d) {
      at += index[d] * v->strides[d];
    }
    leati_ref_tensor_copy_element(out, k, from, at);
  }
}

/* What the reference makes of the run's input, value by value. `by_steps`: every operator's output is compared with
 * what the device made of the same inputs, and taken from there for what follows. */
static void compute(leat_case_context *ctx, const leati_network_run *run, bool by_steps,
                    leati_ref_tensor computed[MAX_VALUES]) {
  const leati_network *network = run->network;
  const leati_ref_tensor *tensors[MAX_VALUES];
  for (int i = 0; i < network->count; ++i) {
    const value *v = &network->values[i];
    tensors[i] = &computed[i];
    switch (v->from) {
      case FROM_INPUT:
        tensors[i] = &run->given[i];
        break;
      case FROM_WEIGHT:
        tensors[i] = &v->exact;
        break;
      case FROM_VIEW:
        take_view(&computed[i], v, tensors[v->of]);
        break;
      case FROM_OP: {
        const leati_ref_tensor *inputs[MAX_INPUTS];
        const leat_attribute *attributes[MAX_ATTRIBUTES];
        leati_ref_node node = {.name = v->name,
                               .since_version = v->since_version,
                               .attribute_count = v->attribute_count,
                               .attributes = attributes,
                               .input_count = v->input_count,
                               .inputs = inputs,
                               .output_count = 1};
        char message[512];
        for (uint32_t k = 0; k < v->input_count; ++k) {
          inputs[k] = tensors[v->inputs[k]];
        }
        for (uint32_t k = 0; k < v->attribute_count; ++k) {
          attributes[k] = &v->attributes[k];
        }
        LEAT_CHECK_MESSAGE(ctx, leati_ref_run(&node), "the reference cannot compute this: %s", node.error);
        computed[i] = node.outputs[0];
        if (by_steps) {
          LEAT_CHECK_MESSAGE(ctx, leati_ref_tensor_match(&node.outputs[0], run->results[i], message, sizeof(message)),
                             "value %d, %s: %s", i, v->name, message);
          take_result(&computed[i], run->results[i]);
        }
        break;
      }
    }
  }
}

void leati_network_check(leat_case_context *ctx, const leati_network_run *run) {
  leati_ref_tensor computed[MAX_VALUES] = {{0}};
  compute(ctx, run, true, computed);
  for (int i = 0; i < run->network->count; ++i) {
    leati_ref_tensor_clear(&computed[i]);
  }
}

/* The largest distance from what would be exact. */
static double distance(const leati_ref_tensor *exact, const float *result) {
  double largest = 0.0;
  for (int64_t k = 0; k < exact->count; ++k) {
    const double error = fabs((double)result[k] - exact->f[k]);
    /* NaN is as far away as can be. */
    largest = error <= largest ? largest : isnan(error) ? INFINITY : error;
  }
  return largest;
}

void leati_network_check_last(leat_case_context *ctx, const leati_network_run *run) {
  leati_ref_tensor computed[MAX_VALUES] = {{0}};
  const int last = run->network->count - 1;
  leat_stream *stream = leati_stream_new(ctx);
  leati_network_run *direct = leati_network_begin(ctx, run->network, stream, run->seed);
  double size = 0.0;
  double bound = 0.0;
  leati_synchronize(ctx, stream);
  leati_stream_destroy(ctx, stream);
  compute(ctx, run, false, computed);
  for (int64_t k = 0; k < computed[last].count; ++k) {
    size = fmax(size, fabs(computed[last].f[k]));
  }
  for (int64_t k = 0; k < computed[last].count; ++k) {
    bound = fmax(bound, computed[last].bound[k]);
  }
  /* Both have the roundings of the same terms, the graph in fewer places or another order. Of those the largest in a
   * tensor differs by a small factor, for which 8 is room; what the last operator alone may be off, and one rounding of
   * some terms, is allowed always. A wrong graph is as far off as its numbers are large, ten thousand times this. */
  const double allowed = bound + 8.0 * fmax(distance(&computed[last], direct->results[last]), 4.0 * FLT_EPSILON * size);
  const double error = distance(&computed[last], run->results[last]);
  LEAT_CHECK_MESSAGE(ctx, error <= allowed,
                     "the graph is %.3g off what is exact where the operators one by one are %.3g off, the largest "
                     "number being %.3g",
                     error, distance(&computed[last], direct->results[last]), size);
  for (int i = 0; i < run->network->count; ++i) {
    leati_ref_tensor_clear(&computed[i]);
  }
  leati_network_end(direct);
}

const void *leati_network_result(const leati_network_run *run, size_t *out_size) {
  *out_size = run->sizes[run->network->count - 1];
  return run->results[run->network->count - 1];
}

void leati_network_end(leati_network_run *run) {
  for (int i = 0; i < run->network->count; ++i) {
    leati_ref_tensor_clear(&run->given[i]);
    g_free(run->results[i]);
  }
  g_free(run);
}

void leati_network_once(leat_case_context *ctx, const leati_network *network, leat_stream *stream, uint32_t seed) {
  leati_network_run *run = leati_network_begin(ctx, network, stream, seed);
  leati_synchronize(ctx, stream);
  leati_network_check(ctx, run);
  leati_network_end(run);
}
