/* SPDX-License-Identifier: BSD-3-Clause */
#include "drawn_network.h"

#include <math.h>
#include <string.h>

enum { STEPS = 12 };
/* Inputs of a network at most; nodes and values that a pattern has at most, and those for which there is room behind
 * the last one. */
enum { INPUTS = 6, PATTERN_NODES = 44, PATTERN_VALUES = 80, LATER = 12 };

/* The high bits of a linear congruential generator (Knuth's MMIX). */
static uint32_t draw_any(drawing *d, uint32_t count) {
  d->random = d->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(d->random >> 33) % count;
}

/* One of some, as it was chosen; an element never is. */
static uint32_t draw(drawing *d, uint32_t count) {
  if (d->choice_count != 0) {
    --d->choice_count;
    return *d->choices++ % count;
  }
  return draw_any(d, count);
}

static uint32_t narrowed(drawing *d, uint32_t v) {
  return narrowed_to(d->network, v, d->brain);
}

static int64_t elements(int ndim, const int64_t *shape) {
  int64_t count = 1;
  for (int i = 0; i < ndim; ++i) {
    count *= shape[i];
  }
  return count;
}

/* Gives the last node one more attribute: a list of whole numbers, four at most, or one. */
static void give_attribute(drawing *d, leat_attribute attribute) {
  const uint32_t k = d->network->desc.node_count - 1, i = d->network->nodes[k].attribute_count;
  d->attributes[k][i] = attribute;
  if (attribute.ints != NULL) {
    d->attributes[k][i].ints = memcpy(d->numbers[k][i], attribute.ints, attribute.count * sizeof(*attribute.ints));
  }
  d->lists[k][i] = &d->attributes[k][i];
  set_attributes(d->network, d->lists[k], i + 1);
}
static void give(drawing *d, const char *name, uint32_t count, const int64_t *numbers) {
  give_attribute(d, (leat_attribute)ATTRIBUTE(INTS, .name = name, .count = count, .ints = numbers));
}
static void give_one(drawing *d, const char *name, int64_t number) {
  give_attribute(d, (leat_attribute)ATTRIBUTE(INT, .name = name, .i = number));
}

/* Whether its type holds a value, and there is room for it. */
static bool fits(const drawing *d, const drawn *it) {
  const int bits = d->brain ? 8 : 11;
  return it->bound + it->fraction <= bits && d->count < IMAGES && elements(it->ndim, it->shape) <= ELEMENTS;
}

/* Lists a value that fits and that a node made of one or two others. */
static drawn *list(drawing *d, drawn it, drawn *x, drawn *other) {
  it.used = false;
  x->used = true;
  if (other != NULL) {
    other->used = true;
  }
  d->list[d->count] = it;
  return &d->list[d->count++];
}

/* A value of float32 that is not made by a node: an input, unless there are enough of them, or a constant. */
static uint32_t add_source(drawing *d, bool constant, int ndim, const int64_t *shape) {
  return constant || d->network->desc.input_count == INPUTS ? add_constant(d->network, ndim, shape)
                                                            : add_input(d->network, ndim, shape);
}

/* Whole numbers up to `most`. */
static uint32_t draw_whole(drawing *d, bool constant, uint32_t most, int ndim, const int64_t *shape) {
  const uint32_t v = add_source(d, constant, ndim, shape);
  for (int64_t i = 0; i < elements(ndim, shape); ++i) {
    d->network->floats[v][i] = (float)draw_any(d, 2 * most + 1) - (float)most;
  }
  return narrowed(d, v);
}

/* Whole numbers up to 2 but 0, which as a factor would ask for the sign of what it makes 0. */
static uint32_t draw_factors(drawing *d, bool constant, int ndim, const int64_t *shape) {
  const uint32_t v = add_source(d, constant, ndim, shape);
  for (int64_t i = 0; i < elements(ndim, shape); ++i) {
    d->network->floats[v][i] = (float)(draw_any(d, 2) != 0 ? 1 : -1) * (float)(1 + draw_any(d, 2));
  }
  return narrowed(d, v);
}

/* An input of whole numbers up to 2, or a constant. */
static void draw_numbers(drawing *d, bool constant, int ndim, const int64_t *shape) {
  drawn it = {.ndim = ndim, .bound = 1};
  memcpy(it.shape, shape, (size_t)ndim * sizeof(*shape));
  it.value = draw_whole(d, constant, 2, ndim, shape);
  d->list[d->count++] = it;
}

/* Weights: lines, of which each begins `line` elements behind the one before it, of elements that are `apart`; two of
 * `each` are 1 or -1, or one. */
static uint32_t draw_weights(drawing *d, bool constant, int ndim, const int64_t *shape, int64_t lines, int64_t each,
                             int64_t line, int64_t apart) {
  const uint32_t v = add_source(d, constant, ndim, shape);
  memset(d->network->floats[v], 0, sizeof(d->network->floats[v]));
  for (int64_t i = 0; i < lines; ++i) {
    for (int j = 0; j < 2; ++j) {
      d->network->floats[v][i * line + draw_any(d, (uint32_t)each) * apart] = draw_any(d, 2) != 0 ? 1 : -1;
    }
  }
  return narrowed(d, v);
}

/* A value with so many dimensions; NULL: none was met. */
static drawn *pick(drawing *d, int ndim) {
  for (int turn = 0; turn < 16; ++turn) {
    drawn *const it = &d->list[draw(d, (uint32_t)d->count)];
    if (it->ndim == ndim) {
      return it;
    }
  }
  return NULL;
}

/* A convolution to so many channels with one tap or three, of one group or two. */
static drawn *draw_convolution(drawing *d, drawn *x, int64_t to) {
  const int64_t taps = draw(d, 2) != 0 ? 3 : 1, groups = x->shape[1] % 2 == 0 && to % 2 == 0 && draw(d, 4) == 0 ? 2 : 1;
  const int64_t from = x->shape[1] / groups, w[] = {to, from, 1, taps};
  drawn y = *x;
  y.shape[1] = to;
  y.bound += 1;
  if (elements(DIMS, w) > ELEMENTS || !fits(d, &y)) {
    return NULL;
  }
  const uint32_t weights = draw_weights(d, true, DIMS, w, to, from * taps, from * taps, 1);
  y.value = NODE(d->network, "Conv", 11, x->value, weights);
  give(d, "pads", 4, (const int64_t[]){0, taps / 2, 0, taps / 2});
  give_one(d, "group", groups);
  return list(d, y, x, NULL);
}

static void draw_function(drawing *d, drawn *x) {
  static const char *const names[] = {"Relu", "Abs", "Neg"};
  static const uint32_t versions[] = {14, 13, 13};
  const uint32_t which = draw(d, 3);
  drawn y = *x;
  if (fits(d, &y)) {
    y.value = NODE(d->network, names[which], versions[which], x->value);
    (void)list(d, y, x, NULL);
  }
}

static bool is_alike(const drawn *x, const drawn *y, int skipped) {
  bool alike = x->ndim == y->ndim;
  for (int i = 0; i < x->ndim && alike; ++i) {
    alike = i == skipped || x->shape[i] == y->shape[i];
  }
  return alike;
}

/* A value with the elements of both. */
static drawn joined(const drawn *x, const drawn *y) {
  drawn z = *x;
  z.bound = x->bound > y->bound ? x->bound : y->bound;
  z.fraction = x->fraction > y->fraction ? x->fraction : y->fraction;
  return z;
}

static void draw_sum(drawing *d, drawn *x, drawn *y) {
  drawn z = joined(x, y);
  z.bound += 1;
  if (is_alike(x, y, -1) && fits(d, &z)) {
    z.value = NODE(d->network, "Add", 14, x->value, y->value);
    (void)list(d, z, x, y);
  }
}

static void draw_pool(drawing *d, drawn *x) {
  const bool mean = draw(d, 3) == 0;
  const int64_t step = 1 + draw(d, 2);
  drawn y = *x;
  y.fraction += mean ? 2 : 0;
  for (int i = 2; i < DIMS; ++i) {
    y.shape[i] = (x->shape[i] - 2) / step + 1;
  }
  if (x->shape[2] < 2 || x->shape[3] < 2 || !fits(d, &y)) {
    return;
  }
  y.value = NODE(d->network, mean ? "AveragePool" : "MaxPool", mean ? 11 : 12, x->value);
  give(d, "kernel_shape", 2, (const int64_t[]){2, 2});
  give(d, "strides", 2, (const int64_t[]){step, step});
  (void)list(d, y, x, NULL);
}

static void draw_concat(drawing *d, drawn *x, drawn *y) {
  drawn z = joined(x, y);
  z.shape[1] += y->shape[1];
  if (is_alike(x, y, 1) && fits(d, &z)) {
    z.value = NODE(d->network, "Concat", 13, x->value, y->value);
    give_one(d, "axis", 1);
    (void)list(d, z, x, y);
  }
}

/* A product with weights in rows, or along k. */
static void draw_product(drawing *d, drawn *x) {
  static const int64_t widths[] = {8, 16, 24, 12, 5, 40};
  const int64_t n = widths[draw(d, 6)], k = x->shape[1];
  const bool along_k = draw(d, 3) == 0;
  drawn y = *x;
  y.shape[1] = n;
  y.bound += 1;
  if (k * n > ELEMENTS || !fits(d, &y)) {
    return;
  }
  if (along_k) {
    y.value = NODE(d->network, "Gemm", 13, x->value, draw_weights(d, true, 2, (const int64_t[]){n, k}, n, k, k, 1));
    give_one(d, "transB", 1);
  } else {
    y.value = NODE(d->network, "MatMul", 13, x->value, draw_weights(d, true, 2, (const int64_t[]){k, n}, n, k, 1, n));
  }
  (void)list(d, y, x, NULL);
}

/* ---- Patterns ------------------------------------------------------------------------------------------------------
 * Subgraphs that rules of fusion look for, in the forms that exporters write, with small deviations, of values for
 * which exponents, roots and quotients are exact. */

/* A node of two inputs that are drawn to be this way around or the other. */
static uint32_t either_way(drawing *d, const char *op, uint32_t version, uint32_t x, uint32_t y) {
  const bool turned = draw(d, 2) != 0;
  return NODE(d->network, op, version, turned ? y : x, turned ? x : y);
}

/* A number, as a scalar or with a dimension, of the network's type or of float32. */
static uint32_t number(drawing *d, bool wide, float of) {
  const uint32_t v = add_constant(d->network, (int32_t)draw(d, 4) / 3, (const int64_t[]){1});
  d->network->floats[v][0] = of;
  return wide ? v : narrowed(d, v);
}

static uint32_t transposed(drawing *d, uint32_t x, uint32_t rank, const int64_t *order) {
  const uint32_t y = NODE(d->network, "Transpose", 13, x);
  give(d, "perm", rank, order);
  return y;
}

static uint32_t reshaped(drawing *d, uint32_t x, int64_t rank, const int64_t *shape) {
  return NODE(d->network, "Reshape", 13, x, add_list(d->network, rank, shape));
}

/* Sizes of an attention. Without heads its tensors have three dimensions, and `heads` is 1. */
typedef struct sizes {
  bool apart; /* there are heads */
  int64_t batch, heads, queries, keys, depth;
} sizes;

static const int64_t heads_first[] = {0, 2, 1, 3};

/* Keys, two of each of whose elements are 1 or -1, or values, which are whole numbers up to 2: as the products want
 * them, but where they lie with heads inside of positions, or are those of several heads, movements do so. */
static uint32_t draw_operand(drawing *d, const sizes *s, bool keys) {
  const bool constant = draw(d, 3) == 0;
  const uint32_t form = s->apart ? draw(d, 4) : 0;
  const int64_t shared = form == 3 && s->heads % 2 == 0 ? 2 : 1, heads = s->heads / shared;
  const int64_t flat[] = {s->batch, s->keys, s->depth}, first[] = {s->batch, heads, s->keys, s->depth};
  const int64_t inside[] = {s->batch, s->keys, s->heads, s->depth}, beside[] = {s->batch, s->keys, s->heads * s->depth};
  const int64_t repeated[] = {s->batch, heads, shared, s->keys, s->depth};
  const int64_t together[] = {s->batch, s->heads, s->keys, s->depth};
  const int rank = !s->apart || form == 2 ? 3 : DIMS;
  const int64_t *const shape = !s->apart ? flat : form == 1 ? inside : form == 2 ? beside : first;
  const int64_t lines = elements(rank, shape) / s->depth;
  uint32_t v = keys ? draw_weights(d, constant, rank, shape, lines, s->depth, s->depth, 1)
                    : draw_whole(d, constant, 2, rank, shape);
  v = form == 2 ? reshaped(d, v, DIMS, inside) : v;
  if (form == 1 || form == 2) {
    v = transposed(d, v, DIMS, heads_first);
  } else if (form == 3) {
    const uint32_t one = draw(d, 2) != 0
                             ? NODE(d->network, "Unsqueeze", 13, v, add_list(d->network, 1, (const int64_t[]){2}))
                             : reshaped(d, v, RANK, (const int64_t[]){s->batch, heads, 1, s->keys, s->depth});
    v = reshaped(d, NODE(d->network, "Expand", 13, one, add_list(d->network, RANK, repeated)), DIMS, together);
  }
  return v;
}

/* What becomes of weights: in this one place rules must see whether it is the guard that they know. */
typedef enum guard { NO_GUARD, GUARD, GUARD_WITH_ONE, GUARDS } guard;

/* A mask, in steps of 128 from key to key, so that no two of a query's scores are alike; some keys are left out, where
 * there is a guard now and then all of a query's. */
static uint32_t draw_mask(drawing *d, const sizes *s, bool wide, guard guarded) {
  const int64_t full[] = {s->batch, s->heads, s->queries, s->keys};
  const int rank = 1 + (int)draw(d, s->apart ? 4 : 3);
  int64_t shape[DIMS];
  memcpy(shape, full + DIMS - rank, (size_t)rank * sizeof(*shape));
  for (int i = 0; i < rank - 2; ++i) {
    shape[i] = draw(d, 2) != 0 ? 1 : shape[i];
  }
  if (!s->apart && rank == 3) {
    shape[0] = 1;
  }
  const uint32_t v = add_constant(d->network, rank, shape);
  const bool leaves_out = draw(d, 2) != 0;
  for (int64_t i = 0; i < elements(rank, shape); i += s->keys) {
    const int64_t from = draw_any(d, (uint32_t)s->keys);
    const bool all = guarded != NO_GUARD && leaves_out && draw_any(d, 3) == 0;
    for (int64_t j = 0; j < s->keys; ++j) {
      const bool out = all || (leaves_out && j != 0 && draw_any(d, 3) == 0);
      d->network->floats[v][i + (from + j) % s->keys] = out ? -INFINITY : -128.0f * (float)j;
    }
  }
  return wide ? v : narrowed(d, v);
}

/* Softmax over the last dimension, of version 13, or an earlier one that takes the same then. */
static uint32_t draw_softmax(drawing *d, uint32_t scores, int rank) {
  const bool earlier = draw(d, 4) == 0;
  const uint32_t y = NODE(d->network, "Softmax", earlier ? 11 : 13, scores);
  if (earlier || draw(d, 2) != 0) {
    give_one(d, "axis", earlier || draw(d, 2) != 0 ? rank - 1 : -1);
  }
  return y;
}

static uint32_t draw_guard(drawing *d, uint32_t weights, bool wide, guard guarded) {
  if (guarded == NO_GUARD) {
    return weights;
  }
  const uint32_t is = NODE(d->network, "IsNaN", 13, weights);
  return NODE(d->network, "Where", 16, is, number(d, wide, guarded == GUARD_WITH_ONE ? 1 : 0), weights);
}

/* A power of two as a factor or a divisor. */
static uint32_t scaled(drawing *d, uint32_t x, bool wide, float by) {
  return by != 0 && draw(d, 2) != 0 ? NODE(d->network, "Div", 14, x, number(d, wide, 1 / by))
                                    : either_way(d, "Mul", 14, x, number(d, wide, by));
}

/* Queries of heads for `x`, and whether there is room for all. */
static bool size_attention(drawing *d, const drawn *x, sizes *s) {
  s->keys = 1 + draw(d, 8);
  s->apart = x->ndim == DIMS || draw(d, 4) != 0;
  s->batch = x->ndim == DIMS ? x->shape[0] : 1;
  s->heads = x->ndim == DIMS ? x->shape[1] : 1;
  if (x->ndim == 2 && s->apart) {
    s->heads = x->shape[1] % 4 == 0 && draw(d, 2) != 0 ? 4 : x->shape[1] % 2 == 0 && draw(d, 2) != 0 ? 2 : 1;
  }
  s->queries = x->shape[x->ndim - 2];
  s->depth = x->ndim == DIMS ? x->shape[3] : x->shape[1] / s->heads;
  return s->batch * s->heads * s->keys * (s->depth > s->queries ? s->depth : s->queries) <= ELEMENTS;
}

/* softmax(scale x K' + mask) V. With a mask exactly one weight of a query is 1, without one there are as many keys as
 * make each weight a power of two, whatever those are. */
static void draw_attention(drawing *d, drawn *source) {
  const int bits = d->brain ? 8 : 11;
  sizes s;
  drawn x = *source, y = *source;
  if (!size_attention(d, &x, &s)) {
    return;
  }
  const bool masked = draw(d, 3) != 0, flat = x.ndim == 2;
  const guard guarded = draw(d, 2) != 0 ? NO_GUARD : (guard)draw(d, GUARDS);
  float scale = ldexpf(1, 10 + x.fraction);
  int halvings = 0;
  if (!masked) {
    while (s.keys > 2 && (s.keys & (s.keys - 1)) != 0) {
      --s.keys;
    }
    scale = s.keys > 2 || draw(d, 3) == 0 ? 0 : scale;
    halvings = s.keys > 4 ? 3 : s.keys > 2 ? 2 : (int)s.keys - 1;
  }
  y.bound = guarded == GUARD_WITH_ONE ? 4 : 1;
  y.fraction = halvings;
  if (!fits(d, &y)) {
    return;
  }
  /* Where float32 begins: nowhere, at the softmax, at the scores, at the queries. */
  const bool all_fits = x.bound + 2 + x.fraction + 3 <= bits && x.bound + x.fraction <= 3;
  const bool scores_fit = x.bound + 1 + x.fraction <= bits;
  const uint32_t wide = all_fits ? draw(d, 4) : scores_fit ? 2 + draw(d, 2) : 3;
  const int rank = s.apart ? DIMS : 3;
  const int64_t apart[] = {1, s.queries, s.heads, s.depth}, beside[] = {1, s.queries, s.heads * s.depth};
  uint32_t q = x.value;
  if (flat) {
    q = !s.apart || draw(d, 2) != 0 ? reshaped(d, q, 3, beside) : q;
    q = s.apart ? transposed(d, reshaped(d, q, DIMS, apart), DIMS, heads_first) : q;
  }
  uint32_t k = draw_operand(d, &s, true), v = draw_operand(d, &s, false);
  k = transposed(d, k, (uint32_t)rank, s.apart ? (const int64_t[]){0, 1, 3, 2} : (const int64_t[]){0, 2, 1});
  if (wide == 3) {
    q = widened(d->network, q);
    k = widened(d->network, k);
    v = widened(d->network, v);
  }
  /* Scaled are queries, keys or scores. */
  const uint32_t where = wide == 2 ? 2 : draw(d, 3);
  q = where == 0 ? scaled(d, q, wide == 3, scale) : q;
  k = where == 1 ? scaled(d, k, wide == 3, scale) : k;
  uint32_t scores = NODE(d->network, "MatMul", 13, q, k);
  scores = wide == 2 ? widened(d->network, scores) : scores;
  scores = where == 2 ? scaled(d, scores, wide >= 2, scale) : scores;
  scores = masked ? either_way(d, "Add", 14, scores, draw_mask(d, &s, wide >= 2, guarded)) : scores;
  scores = wide == 1 ? widened(d->network, scores) : scores;
  uint32_t weights = draw_softmax(d, scores, rank);
  const bool late = wide == 1 || wide == 2;
  weights = late && draw(d, 2) != 0 ? narrowed(d, draw_guard(d, weights, true, guarded))
                                    : draw_guard(d, late ? narrowed(d, weights) : weights, wide == 3, guarded);
  uint32_t to = NODE(d->network, "MatMul", 13, weights, v);
  const bool narrows_last = wide == 3 && draw(d, 2) != 0;
  to = wide == 3 && !narrows_last ? narrowed(d, to) : to;
  if (flat) {
    to = s.apart ? transposed(d, to, DIMS, heads_first) : to;
    to = s.apart && draw(d, 2) != 0 ? reshaped(d, to, 3, beside) : to;
    to = reshaped(d, to, 2, x.shape);
  }
  y.value = narrows_last ? narrowed(d, to) : to;
  (void)list(d, y, source, NULL);
}

/* One half of the last dimension of a value with an even one; `at`: where it begins. */
static uint32_t half_of(drawing *d, const drawn *x, int64_t at) {
  network *const n = d->network;
  const int64_t size = x->shape[x->ndim - 1],
                end = at + size / 2 == size && draw(d, 2) != 0 ? INT64_MAX : at + size / 2;
  const int64_t begin = at != 0 && draw(d, 3) == 0 ? at - size : at, axis = draw(d, 2) != 0 ? -1 : x->ndim - 1;
  return NODE(n, "Slice", 13, x->value, add_list(n, 1, &begin), add_list(n, 1, &end), add_list(n, 1, &axis));
}

/* x cosines + rotated(x) sines; or with the wrong half negated, or one that begins too early. */
static void draw_rotary(drawing *d, drawn *x) {
  network *const n = d->network;
  const int64_t size = x->shape[x->ndim - 1];
  drawn y = *x;
  y.bound += 1;
  if (size % 2 != 0 || size < 4 || !fits(d, &y)) {
    return;
  }
  const uint32_t what = draw(d, 8);
  uint32_t halves[2];
  if (what % 2 != 0) {
    const int64_t parts[] = {size / 2, size / 2};
    halves[0] = NODE(n, "Split", 13, x->value, add_list(n, 2, parts));
    give_one(d, "axis", draw(d, 2) != 0 ? -1 : x->ndim - 1);
    halves[1] = add_part(n);
  } else {
    halves[0] = half_of(d, x, 0);
    halves[1] = half_of(d, x, size / 2 - (what == 6));
  }
  const bool wrong = what == 7;
  const uint32_t negated = NODE(n, "Neg", 13, halves[!wrong]);
  const uint32_t rotated = NODE(n, "Concat", 13, wrong ? halves[1] : negated, wrong ? negated : halves[0]);
  give_one(d, "axis", draw(d, 2) != 0 ? -1 : x->ndim - 1);
  const int rank = 1 + (int)draw(d, (uint32_t)x->ndim);
  const int64_t *const shape = x->shape + x->ndim - rank;
  const uint32_t cosines = draw_whole(d, draw(d, 2) != 0, 1, rank, shape);
  const uint32_t sines = draw_whole(d, draw(d, 2) != 0, 1, rank, shape);
  const uint32_t straight = either_way(d, "Mul", 14, x->value, cosines);
  const uint32_t crossed = either_way(d, "Mul", 14, rotated, sines);
  y.value = either_way(d, "Add", 14, straight, crossed);
  (void)list(d, y, x, NULL);
}

/* The mean of rows, whose axis is an attribute or, from version 18 on, an input. */
static uint32_t draw_mean(drawing *d, uint32_t x, int rank) {
  const int64_t axis = draw(d, 2) != 0 ? -1 : rank - 1;
  if (draw(d, 3) == 0) {
    return NODE(d->network, "ReduceMean", 18, x, add_list(d->network, 1, &axis));
  }
  const uint32_t y = NODE(d->network, "ReduceMean", 13, x);
  give(d, "axes", 1, &axis);
  return y;
}

/* x / sqrt(mean(x^2) + epsilon); or with something else in the place of a square. */
static uint32_t draw_normal(drawing *d, uint32_t x, uint32_t like, int rank, float epsilon) {
  network *const n = d->network;
  const uint32_t squared = draw(d, 4) != 0   ? NODE(n, "Mul", 14, x, x)
                           : draw(d, 4) != 0 ? NODE(n, "Pow", 15, x, number(d, false, 2))
                                             : NODE(n, "Mul", 14, x, like);
  const uint32_t sum = either_way(d, "Add", 14, draw_mean(d, squared, rank), number(d, false, epsilon));
  const uint32_t root = NODE(n, "Sqrt", 13, sum);
  switch (draw(d, 3)) {
    case 0:
      return NODE(n, "Div", 14, x, root);
    case 1:
      return either_way(d, "Mul", 14, x, NODE(n, "Reciprocal", 13, root));
    default:
      return either_way(d, "Mul", 14, x, NODE(n, "Div", 14, number(d, false, 1), root));
  }
}

/* Rows whose numbers are all as large, and half of them negative: their mean is 0, that of their squares a power of
 * four, and with epsilon four times as much. */
static uint32_t draw_signs(drawing *d, int rank, const int64_t *shape) {
  const int64_t size = shape[rank - 1];
  const uint32_t v = add_source(d, false, rank, shape);
  for (int64_t i = 0; i < elements(rank, shape); ++i) {
    const bool second = i % size >= size / 2;
    d->network->floats[v][i] = second ? -d->network->floats[v][i - size / 2] : draw_any(d, 2) != 0 ? 1 : -1;
  }
  return v;
}

/* A norm of rows, layer or RMS, written out or as an operator, behind a sum of two or not. */
static void draw_norm(drawing *d) {
  network *const n = d->network;
  const int64_t images[] = {1 + draw(d, 2), 1 + draw(d, 3), 1 + draw(d, 4), draw(d, 2) != 0 ? 8 : 16};
  const int rank = draw(d, 2) != 0 ? 2 : DIMS;
  const int64_t *const shape = images + DIMS - rank;
  drawn y = {.ndim = rank, .bound = 2, .fraction = 1}, kept = {.ndim = rank, .bound = 1};
  memcpy(y.shape, shape, (size_t)rank * sizeof(*shape));
  memcpy(kept.shape, shape, (size_t)rank * sizeof(*shape));
  if (!fits(d, &y)) {
    return;
  }
  /* A row of factors, or one for each number. */
  const int of = draw(d, 4) != 0 ? 1 : rank;
  const uint32_t scale = draw_factors(d, draw(d, 2) != 0, of, shape + rank - of);
  const uint32_t bias = draw_whole(d, draw(d, 2) != 0, 2, 1, shape + rank - 1);
  const uint32_t signs = draw_signs(d, rank, shape);
  uint32_t x = narrowed(d, signs);
  const bool added = draw(d, 2) != 0;
  if (added) {
    /* Twice the same numbers. */
    const uint32_t same = add_source(d, draw(d, 2) != 0, rank, shape);
    memcpy(n->floats[same], n->floats[signs], sizeof(n->floats[same]));
    x = NODE(n, "Add", 14, x, narrowed(d, same));
  }
  const float epsilon = draw(d, 2) == 0 ? 0.0f : added ? 12.0f : 3.0f;
  const bool layer = draw(d, 2) != 0;
  if (of == 1 && draw(d, 2) != 0) {
    y.value = layer ? NODE(n, "LayerNormalization", 17, x, scale, bias) : NODE(n, "RMSNormalization", 23, x, scale);
    give_one(d, "axis", draw(d, 2) != 0 ? -1 : rank - 1);
    give_attribute(d, (leat_attribute)ATTRIBUTE(FLOAT, .name = "epsilon", .f = epsilon));
  } else {
    const uint32_t centred = layer ? NODE(n, "Sub", 14, x, draw_mean(d, x, rank)) : x;
    y.value = either_way(d, "Mul", 14, draw_normal(d, centred, x, rank, epsilon), scale);
    y.value = layer ? either_way(d, "Add", 14, y.value, bias) : y.value;
  }
  d->list[d->count++] = y;
  if (added && draw(d, 2) != 0 && fits(d, &kept)) {
    kept.value = x;
    d->list[d->count++] = kept;
  }
}

/* 1 + erf(x / sqrt 2), or what approximates it by tanh. */
static uint32_t draw_gelu_part(drawing *d, uint32_t x) {
  network *const n = d->network;
  uint32_t inner;
  if (draw(d, 2) != 0) {
    /* Now and then another divisor. */
    const double by = draw(d, 4) != 0 ? sqrt(2) : 2;
    inner = NODE(n, "Erf", 13,
                 draw(d, 2) != 0 ? NODE(n, "Div", 14, x, number(d, false, (float)by))
                                 : either_way(d, "Mul", 14, x, number(d, false, (float)(1 / by))));
  } else {
    const uint32_t cube = draw(d, 2) != 0 ? NODE(n, "Pow", 15, x, number(d, false, 3))
                                          : either_way(d, "Mul", 14, x, NODE(n, "Mul", 14, x, x));
    const uint32_t sum = either_way(d, "Add", 14, x, either_way(d, "Mul", 14, cube, number(d, false, 0.044715f)));
    inner = NODE(n, "Tanh", 13, either_way(d, "Mul", 14, sum, number(d, false, sqrtf(2 / acosf(-1)))));
  }
  return either_way(d, "Add", 14, inner, number(d, false, 1));
}

/* Gelu, or x sigmoid(alpha x), or x hard_sigmoid(x), of numbers for which it is 0 or x; and of that the magnitude, in
 * which no sign of a zero is left. */
static void draw_written_out(drawing *d, drawn *x) {
  network *const n = d->network;
  drawn y = *x;
  y.bound += 4;
  y.fraction += 1;
  if (x->fraction > 1 || !fits(d, &y)) {
    return;
  }
  const uint32_t v = NODE(n, "Mul", 14, x->value, number(d, false, 16));
  const uint32_t what = draw(d, 4);
  uint32_t z;
  if (what < 2) {
    const uint32_t part = draw_gelu_part(d, v), half = number(d, false, draw(d, 6) != 0 ? 0.5f : 0.25f);
    z = draw(d, 2) != 0 ? either_way(d, "Mul", 14, either_way(d, "Mul", 14, v, part), half)
                        : either_way(d, "Mul", 14, either_way(d, "Mul", 14, v, half), part);
  } else if (what == 2) {
    z = either_way(d, "Mul", 14, v, NODE(n, "Sigmoid", 13, either_way(d, "Mul", 14, v, number(d, false, 128))));
  } else {
    const uint32_t gate = NODE(n, "HardSigmoid", 6, v);
    give_attribute(d, (leat_attribute)ATTRIBUTE(FLOAT, .name = "alpha", .f = draw(d, 4) != 0 ? 1.0f / 6 : 0.25f));
    z = either_way(d, "Mul", 14, v, gate);
  }
  y.value = NODE(n, "Abs", 13, z);
  (void)list(d, y, x, NULL);
}

/* A pattern, if there is room for one. */
static void draw_pattern(drawing *d, drawn *x) {
  const leat_graph_desc *const desc = &d->network->desc;
  if (desc->node_count + PATTERN_NODES + LATER > NODES || desc->value_count + PATTERN_VALUES + LATER > VALUES) {
    return;
  }
  switch (draw(d, 6)) {
    case 0:
      draw_rotary(d, x);
      break;
    case 1:
    case 2:
      draw_norm(d);
      break;
    case 3:
      draw_written_out(d, x);
      break;
    default:
      draw_attention(d, x);
  }
}

static void draw_step(drawing *d) {
  const int ndim = draw(d, 3) == 0 ? 2 : DIMS;
  drawn *const x = pick(d, ndim), *const other = pick(d, ndim);
  if (x == NULL || other == NULL) {
    return;
  }
  static const int64_t channels[] = {8, 16, 8, 24, 12, 5};
  const uint32_t what = draw(d, 14);
  if (what >= 10) {
    draw_pattern(d, x);
  } else if (what < 2) {
    draw_function(d, x);
  } else if (what < 4) {
    draw_sum(d, x, other);
  } else if (x->ndim == 2) {
    draw_product(d, x);
  } else if (what < 8) {
    drawn *const y = draw_convolution(d, x, draw(d, 3) == 0 ? other->shape[1] : channels[draw(d, 6)]);
    if (y != NULL && draw(d, 2) != 0) {
      draw_sum(d, y, other);
    }
  } else if (what < 9) {
    draw_pool(d, x);
  } else {
    draw_concat(d, x, other);
  }
}

void draw_network(drawing *d, uint64_t seed, bool brain, const uint8_t *choices, size_t choice_count) {
  memset(d, 0, sizeof(*d));
  d->network = make_network();
  d->random = seed;
  d->choices = choices;
  d->choice_count = choice_count;
  d->brain = brain;
  const int64_t image[] = {1 + draw(d, 2), draw(d, 4) == 0 ? 3 : 8, 3 + draw(d, 3), 3 + draw(d, 3)};
  const int64_t rows[] = {1 + draw(d, 20), draw(d, 3) == 0 ? 12 : 16};
  draw_numbers(d, false, DIMS, image);
  draw_numbers(d, true, DIMS, image);
  draw_numbers(d, false, 2, rows);
  draw_numbers(d, true, 2, rows);
  for (int step = 0; step < STEPS; ++step) {
    draw_step(d);
  }
  /* What nobody takes is an output, as far as there is room for results. */
  for (int i = 0; i < d->count && d->network->desc.output_count < 8; ++i) {
    if (!d->list[i].used) {
      add_output(d->network, widened(d->network, d->list[i].value));
    }
  }
}
