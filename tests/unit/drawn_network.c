/* SPDX-License-Identifier: BSD-3-Clause */
#include "drawn_network.h"

#include <string.h>

enum { STEPS = 12 };

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

/* An input of whole numbers up to 2, or a constant. */
static void draw_numbers(drawing *d, bool constant, int ndim, const int64_t *shape) {
  drawn it = {.ndim = ndim, .bound = 1};
  memcpy(it.shape, shape, (size_t)ndim * sizeof(*shape));
  const uint32_t v = constant ? add_constant(d->network, ndim, shape) : add_input(d->network, ndim, shape);
  for (int64_t i = 0; i < elements(ndim, shape); ++i) {
    d->network->floats[v][i] = (float)draw_any(d, 5) - 2;
  }
  it.value = narrowed(d, v);
  d->list[d->count++] = it;
}

/* Weights: lines, of which each begins `line` elements behind the one before it, of elements that are `apart`; two of
 * `each` are 1 or -1, or one. */
static uint32_t draw_weights(drawing *d, int ndim, const int64_t *shape, int64_t lines, int64_t each, int64_t line,
                             int64_t apart) {
  const uint32_t v = add_constant(d->network, ndim, shape);
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
  const uint32_t weights = draw_weights(d, DIMS, w, to, from * taps, from * taps, 1);
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
    y.value = NODE(d->network, "Gemm", 13, x->value, draw_weights(d, 2, (const int64_t[]){n, k}, n, k, k, 1));
    give_one(d, "transB", 1);
  } else {
    y.value = NODE(d->network, "MatMul", 13, x->value, draw_weights(d, 2, (const int64_t[]){k, n}, n, k, 1, n));
  }
  (void)list(d, y, x, NULL);
}

static void draw_step(drawing *d) {
  const int ndim = draw(d, 3) == 0 ? 2 : DIMS;
  drawn *const x = pick(d, ndim), *const other = pick(d, ndim);
  if (x == NULL || other == NULL) {
    return;
  }
  static const int64_t channels[] = {8, 16, 8, 24, 12, 5};
  const uint32_t what = draw(d, 10);
  if (what < 2) {
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
