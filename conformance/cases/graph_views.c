/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Cases about graphs whose nodes only pick elements of a tensor, or put tensors behind each other. However a backend
 * does that, or leaves it out, the elements are those that ONNX says: drawn chains of such nodes on small whole numbers
 * are compared with chains that are picked by hand.
 */
#include <string.h>

#include "cases/graph_net.h"
#include "cases/sources.h"

enum { RANK = 4, MOST = 240, OUTPUTS = 8, CHAINS = 48, THREADS = 8, CHAINS_OF_A_THREAD = 6 };

/* A value and its elements, compact. */
typedef struct {
  uint32_t value;
  int32_t ndim;
  int64_t dims[RANK];
  float elements[MOST];
} tensor;

/* What a node picks of a tensor: its result's shape, and where in the tensor each element lies. */
typedef struct {
  int32_t ndim;
  int64_t dims[RANK];
  int64_t first;
  int64_t strides[RANK];
} picked;

/* A drawn graph, with what it borrows and what it has to give. */
typedef struct {
  leati_builder *builder;
  GRand *rand;
  GPtrArray *owned;
  tensor outputs[OUTPUTS];
  uint32_t output_count;
} drawn;

static int64_t draw(drawn *d, int64_t least, int64_t most) {
  return least + (int64_t)g_rand_int_range(d->rand, 0, (gint32)(most - least + 1));
}

static int64_t count_of(int32_t ndim, const int64_t *dims) {
  int64_t count = 1;
  for (int32_t i = 0; i < ndim; ++i) {
    count *= dims[i];
  }
  return count;
}

/* ---- Nodes ---- */

static uint32_t node(drawn *d, const char *op, uint32_t version, uint32_t a, uint32_t b) {
  const uint32_t list[2] = {a, b};
  return leati_builder_node(d->builder, op, version, b == LEAT_GRAPH_NO_VALUE ? 1 : 2, list);
}

static uint32_t list_of(drawn *d, int32_t ndim, int64_t count, const int64_t *numbers) {
  int64_t *copy = g_memdup2(numbers, (size_t)count * sizeof(numbers[0]));
  g_ptr_array_add(d->owned, copy);
  return leati_builder_constant(d->builder, copy, LEAT_I64, ndim, &count);
}

/* Gives the last node an attribute: one whole number, or a list. */
static void attribute(drawn *d, const char *name, int64_t count, const int64_t *numbers) {
  leat_attribute *a = g_new0(leat_attribute, 1);
  g_ptr_array_add(d->owned, a);
  *a = (leat_attribute){.struct_size = sizeof(*a), .type = LEAT_ATTRIBUTE_INT, .name = name};
  if (count == 0) {
    a->i = numbers[0];
  } else {
    a->type = LEAT_ATTRIBUTE_INTS;
    a->count = (uint32_t)count;
    a->ints = g_memdup2(numbers, (size_t)count * sizeof(numbers[0]));
    g_ptr_array_add(d->owned, (int64_t *)(uintptr_t)a->ints);
  }
  leati_builder_attribute(d->builder, a);
}

/* A value is an output once. */
static void make_output(drawn *d, const tensor *t) {
  bool fits = d->output_count < OUTPUTS;
  for (uint32_t i = 0; i < d->output_count; ++i) {
    fits = fits && d->outputs[i].value != t->value;
  }
  if (fits) {
    d->outputs[d->output_count++] = *t;
    leati_builder_output(d->builder, t->value);
  }
}

/* ---- Picking ---- */

static picked all_of(const tensor *t) {
  picked p = {.ndim = t->ndim};
  int64_t stride = 1;
  for (int32_t i = t->ndim; i-- > 0;) {
    p.dims[i] = t->dims[i];
    p.strides[i] = stride;
    stride *= t->dims[i];
  }
  return p;
}

/* Takes the elements out of `t`. */
static void pick(const tensor *t, const picked *p, uint32_t value, tensor *out) {
  *out = (tensor){.value = value, .ndim = p->ndim};
  memcpy(out->dims, p->dims, sizeof(out->dims));
  for (int64_t i = 0; i < count_of(p->ndim, p->dims); ++i) {
    int64_t rest = i;
    int64_t at = p->first;
    for (int32_t k = p->ndim; k-- > 0;) {
      at += rest % p->dims[k] * p->strides[k];
      rest /= p->dims[k];
    }
    out->elements[i] = t->elements[at];
  }
}

static uint32_t transposed(drawn *d, const tensor *t, picked *p) {
  const picked whole = all_of(t);
  int64_t order[RANK] = {0, 1, 2, 3};
  for (int32_t i = t->ndim; i-- > 1;) {
    const int64_t other = draw(d, 0, i);
    const int64_t moved = order[i];
    order[i] = order[other];
    order[other] = moved;
  }
  for (int32_t i = 0; i < t->ndim; ++i) {
    p->dims[i] = whole.dims[order[i]];
    p->strides[i] = whole.strides[order[i]];
  }
  const uint32_t value = node(d, "Transpose", 13, t->value, LEAT_GRAPH_NO_VALUE);
  attribute(d, "perm", t->ndim, order);
  return value;
}

/* From an element on by a step, which may go backwards, as far as it goes or less; perhaps nothing at all. */
static uint32_t sliced(drawn *d, const tensor *t, picked *p) {
  const int64_t axis = draw(d, 0, t->ndim - 1);
  const int64_t size = t->dims[axis];
  const int64_t start = draw(d, 0, size - 1);
  int64_t step = draw(d, -2, 2);
  step = step == 0 ? 1 : step;
  const int64_t most = 1 + (step > 0 ? size - 1 - start : start) / (step > 0 ? step : -step);
  const int64_t count = draw(d, 0, 9) == 0 ? 0 : draw(d, 1, most);
  const int64_t end = start + step * count;
  const int64_t behind = end < 0 ? -size - 1 : end;
  const uint32_t list[5] = {t->value, list_of(d, 1, 1, &start), list_of(d, 1, 1, &behind), list_of(d, 1, 1, &axis),
                            list_of(d, 1, 1, &step)};
  p->first = start * p->strides[axis];
  p->dims[axis] = count;
  p->strides[axis] *= step;
  return leati_builder_node(d->builder, "Slice", 13, 5, list);
}

/* One index, with a dimension of its own or without, counted from either end. */
static uint32_t gathered(drawn *d, const tensor *t, picked *p) {
  const int64_t axis = draw(d, 0, t->ndim - 1);
  const int64_t at = draw(d, 0, t->dims[axis] - 1);
  const int64_t index = draw(d, 0, 1) == 0 ? at : at - t->dims[axis];
  const bool keeps = t->ndim == 1 || draw(d, 0, 1) == 0;
  const uint32_t value = node(d, "Gather", 13, t->value, list_of(d, keeps ? 1 : 0, 1, &index));
  attribute(d, "axis", 0, &axis);
  p->first = at * p->strides[axis];
  p->dims[axis] = 1;
  if (!keeps) {
    --p->ndim;
    for (int64_t i = axis; i < p->ndim; ++i) {
      p->dims[i] = p->dims[i + 1];
      p->strides[i] = p->strides[i + 1];
    }
  }
  return value;
}

/* Either half; the other one is named and left. */
static uint32_t halved(drawn *d, const tensor *t, picked *p) {
  const int64_t axis = draw(d, 0, t->ndim - 1);
  if (t->dims[axis] % 2 != 0) {
    return sliced(d, t, p);
  }
  const uint32_t first = node(d, "Split", 13, t->value, LEAT_GRAPH_NO_VALUE);
  const uint32_t second = leati_builder_more(d->builder);
  attribute(d, "axis", 0, &axis);
  p->dims[axis] /= 2;
  if (draw(d, 0, 1) == 0) {
    return first;
  }
  p->first = p->dims[axis] * p->strides[axis];
  return second;
}

/* Two dimensions become one, or a dimension of one is put between. */
static uint32_t reshaped(drawn *d, const tensor *t, picked *p) {
  const int64_t at = draw(d, 0, t->ndim - 1);
  if (t->ndim < RANK && (t->ndim == 1 || draw(d, 0, 1) == 0)) {
    const uint32_t value = node(d, "Unsqueeze", 13, t->value, list_of(d, 1, 1, &at));
    for (int64_t i = p->ndim++; i > at; --i) {
      p->dims[i] = p->dims[i - 1];
      p->strides[i] = p->strides[i - 1];
    }
    p->dims[at] = 1;
    return value;
  }
  int64_t dims[RANK];
  const int64_t joined = at == t->ndim - 1 ? at - 1 : at;
  for (int32_t i = 0, k = 0; i < t->ndim; ++i, ++k) {
    dims[k] = t->dims[i];
    if (i == joined) {
      dims[k] *= t->dims[++i];
    }
  }
  const tensor other = {.ndim = t->ndim - 1, .dims = {dims[0], dims[1], dims[2]}};
  *p = all_of(&other);
  return node(d, "Reshape", 14, t->value, list_of(d, 1, other.ndim, dims));
}

/* One dimension of one becomes more. */
static uint32_t expanded(drawn *d, const tensor *t, picked *p) {
  int32_t axis = 0;
  while (axis < t->ndim && (t->dims[axis] != 1 || count_of(t->ndim, t->dims) * 3 > MOST)) {
    ++axis;
  }
  if (axis == t->ndim) {
    return transposed(d, t, p);
  }
  p->dims[axis] = draw(d, 2, 3);
  p->strides[axis] = 0;
  return node(d, "Expand", 13, t->value, list_of(d, 1, t->ndim, p->dims));
}

static void pick_once(drawn *d, const tensor *t, tensor *out) {
  static uint32_t (*const ways[])(drawn *, const tensor *, picked *) = {transposed, sliced,   gathered,
                                                                        halved,     reshaped, expanded};
  picked p = all_of(t);
  const uint32_t value = ways[draw(d, 0, G_N_ELEMENTS(ways) - 1)](d, t, &p);
  pick(t, &p, value, out);
}

/* ---- Taking ---- */

/* A node that takes each element by itself. */
static void negate(drawn *d, const tensor *t, tensor *out) {
  *out = *t;
  out->value = node(d, "Neg", 13, t->value, LEAT_GRAPH_NO_VALUE);
  for (int64_t i = 0; i < count_of(t->ndim, t->dims); ++i) {
    out->elements[i] = -t->elements[i];
  }
}

/* A tensor behind itself or its negative, along the first dimension. */
static void join(drawn *d, const tensor *t, bool itself, tensor *out) {
  const int64_t count = count_of(t->ndim, t->dims);
  const int64_t axis = 0;
  tensor other = *t;
  if (!itself) {
    negate(d, t, &other);
  }
  *out = *t;
  out->dims[0] *= 2;
  memcpy(out->elements, other.elements, (size_t)count * sizeof(float));
  memcpy(out->elements + count, t->elements, (size_t)count * sizeof(float));
  out->value = node(d, "Concat", 13, other.value, t->value);
  attribute(d, "axis", 0, &axis);
}

/* A matrix times itself turned round. */
static void multiply(drawn *d, const tensor *t, tensor *out) {
  const int64_t order[2] = {1, 0};
  const int64_t rows = t->dims[0];
  const int64_t columns = t->dims[1];
  const uint32_t turned = node(d, "Transpose", 13, t->value, LEAT_GRAPH_NO_VALUE);
  attribute(d, "perm", 2, order);
  *out = (tensor){.ndim = 2, .dims = {rows, rows}};
  out->value = node(d, "MatMul", 13, t->value, turned);
  for (int64_t i = 0; i < rows * rows; ++i) {
    for (int64_t k = 0; k < columns; ++k) {
      out->elements[i] += t->elements[i / rows * columns + k] * t->elements[i % rows * columns + k];
    }
  }
}

/* Gives a value, or what is made of it, as an output. */
static void take(drawn *d, const tensor *t) {
  tensor out;
  const int64_t count = count_of(t->ndim, t->dims);
  switch (draw(d, 0, 4)) {
    case 0:
      make_output(d, t);
      break;
    case 1:
      out = *t;
      out.value = node(d, "Add", 14, t->value, t->value);
      for (int64_t i = 0; i < count; ++i) {
        out.elements[i] *= 2;
      }
      make_output(d, &out);
      break;
    case 2:
      if (t->ndim > 0 && 2 * count <= MOST) {
        join(d, t, draw(d, 0, 1) == 0, &out);
        make_output(d, &out);
        break;
      }
      /* fallthrough */
    case 3:
      if (t->ndim == 2 && t->dims[0] * t->dims[0] <= MOST) {
        multiply(d, t, &out);
        make_output(d, &out);
        break;
      }
      /* fallthrough */
    default:
      negate(d, t, &out);
      make_output(d, &out);
  }
}

/* ---- A graph ---- */

static void draw_graph(drawn *d, uint32_t seed, tensor *input) {
  *d = (drawn){.builder = leati_builder_new(),
               .rand = g_rand_new_with_seed(seed),
               .owned = g_ptr_array_new_with_free_func(g_free)};
  *input = (tensor){.ndim = 3, .dims = {draw(d, 1, 6), draw(d, 1, 6), draw(d, 1, 6)}};
  for (int64_t i = 0; i < count_of(3, input->dims); ++i) {
    input->elements[i] = (float)draw(d, -9, 9);
  }
  input->value = leati_builder_input(d->builder, LEAT_F32, 3, input->dims);
  tensor now = *input;
  if (draw(d, 0, 1) == 0) {
    negate(d, input, &now);
  }
  const int64_t length = draw(d, 1, 5);
  for (int64_t i = 0; i < length && count_of(now.ndim, now.dims) != 0 && now.ndim > 0; ++i) {
    tensor next;
    pick_once(d, &now, &next);
    now = next;
    if (draw(d, 0, 2) == 0) {
      take(d, &now);
    }
  }
  take(d, &now);
}

static void drawn_clear(drawn *d) {
  g_ptr_array_unref(d->owned);
  g_rand_free(d->rand);
  g_free(d->builder);
}

/* Launches it with its input and outputs in many places. */
static void launch(leat_case_context *ctx, const drawn *d, const tensor *input, uint32_t seed) {
  const uint64_t room = (MOST + 8) * sizeof(float);
  leat_graph *graph = leati_graph_new(ctx, d->builder);
  leat_stream *stream = leati_stream_new(ctx);
  const uint64_t block = leati_case_alloc(ctx, (1 + d->output_count) * room, stream);
  for (uint32_t way = 0; way < 12; ++way) {
    const uint64_t offset = way % 4 * sizeof(float);
    float elements[MOST];
    float got[OUTPUTS][MOST];
    leat_case_tensor in;
    leat_case_tensor out[OUTPUTS];
    const DLTensor *inputs[1] = {&in.tensor};
    const DLTensor *outputs[OUTPUTS];
    memcpy(elements, input->elements, sizeof(elements));
    if (way < 8) {
      leati_case_tensor_device(ctx, &in, block + offset, LEAT_F32, input->ndim, input->dims);
      leati_upload(ctx, stream, block + offset, elements, sizeof(elements));
    } else {
      leati_case_tensor_host(&in, elements, LEAT_F32, input->ndim, input->dims);
    }
    for (uint32_t o = 0; o < d->output_count; ++o) {
      const tensor *t = &d->outputs[o];
      if ((way + o) % 3 != 0) {
        leati_case_tensor_device(ctx, &out[o], block + (1 + o) * room + offset, LEAT_F32, t->ndim, t->dims);
      } else {
        leati_case_tensor_host(&out[o], got[o], LEAT_F32, t->ndim, t->dims);
      }
      outputs[o] = &out[o].tensor;
    }
    LEAT_CHECK_OK(ctx, ctx->api->graph->launch(graph, stream, 1, inputs, d->output_count, outputs, LEAT_ERR));
    for (uint32_t o = 0; o < d->output_count; ++o) {
      if ((way + o) % 3 != 0) {
        leati_download(ctx, stream, block + (1 + o) * room + offset, got[o], sizeof(got[o]));
      }
    }
    leati_synchronize(ctx, stream);
    for (uint32_t o = 0; o < d->output_count; ++o) {
      const tensor *t = &d->outputs[o];
      for (int64_t i = 0; i < count_of(t->ndim, t->dims); ++i) {
        LEAT_CHECK_MESSAGE(ctx, got[o][i] == t->elements[i],
                           "seed %u, way %u: output %u, of value %u, is %g in element %d, expected %g", seed, way, o,
                           t->value, (double)got[o][i], (int)i, (double)t->elements[i]);
      }
    }
  }
  leati_case_free(ctx, block);
  leati_stream_destroy(ctx, stream);
  leati_graph_destroy(ctx, graph);
}

static void run_drawn(leat_case_context *ctx, uint32_t seed) {
  drawn d;
  tensor input;
  draw_graph(&d, seed, &input);
  launch(ctx, &d, &input, seed);
  drawn_clear(&d);
}

static void chains(leat_case_context *ctx, const void *data) {
  (void)data;
  leati_graph_require(ctx);
  for (uint32_t i = 0; i < CHAINS; ++i) {
    run_drawn(ctx, CHAINS * ctx->seed + i);
  }
}

static void chains_of_thread(leat_case_context *ctx, uint32_t index, void *data) {
  (void)data;
  for (uint32_t i = 0; i < CHAINS_OF_A_THREAD; ++i) {
    run_drawn(ctx, CHAINS * ctx->seed + CHAINS_OF_A_THREAD * index + i);
  }
}

static void chains_of_threads(leat_case_context *ctx, const void *data) {
  (void)data;
  leati_graph_require(ctx);
  leati_threads_run(ctx, THREADS, chains_of_thread, NULL);
}

static const leat_case cases[] = {
    {.name = "graph.views.drawn_chains",
     .summary = "Nodes that pick elements, put them elsewhere or behind each other give the right ones, in any chain.",
     .run = chains},
    {.name = "graph.views.eight_threads", .summary = "The same from eight threads.", .run = chains_of_threads},
};

void leati_cases_graph_views(leat_case_list *list) {
  leati_case_list_add(list, cases, G_N_ELEMENTS(cases));
}
