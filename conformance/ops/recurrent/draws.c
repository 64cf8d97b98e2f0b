/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "ops/core/draw.h"
#include "ops/core/draw_parts.h"

/* Of a layer. */
typedef struct sizes {
  int64_t steps, batch, input, units, directions, gates;
  bool batch_first;
} sizes;

/* Adds an input, or leaves it out; its numbers are plain, because what lies between gates is not told. */
static void add(leati_draw *d, int chance, uint64_t type, int32_t rank, const int64_t *dims) {
  if (leati_draw_chance(d, chance)) {
    leati_draw_input(d, type, rank, dims)->plain = true;
  } else {
    leati_draw_absent(d);
  }
}

static void draw_activations(leati_draw *d, int64_t count) {
  static const char *const names[] = {"Sigmoid",    "Tanh",        "Relu", "Affine",   "LeakyRelu", "ThresholdedRelu",
                                      "ScaledTanh", "HardSigmoid", "Elu",  "Softsign", "Softplus"};
  const char *chosen[LEAT_DRAW_RANK];
  double numbers[LEAT_DRAW_RANK];
  for (int64_t k = 0; k < count; ++k) {
    chosen[k] = names[leati_draw_int(d, 0, (int64_t)(sizeof(names) / sizeof(names[0])) - 1)];
    numbers[k] = (double)leati_draw_int(d, 1, 6) / 4;
  }
  leati_draw_attribute_strings(d, "activations", (int32_t)count, chosen);
  if (leati_draw_chance(d, 60)) {
    leati_draw_attribute_floats(d, "activation_alpha", (int32_t)leati_draw_int(d, 0, count), numbers);
  }
  if (leati_draw_chance(d, 60)) {
    leati_draw_attribute_floats(d, "activation_beta", (int32_t)leati_draw_int(d, 0, count), numbers);
  }
}

static sizes draw_sizes(leati_draw *d) {
  const int64_t least = d->empty ? 0 : 1;
  sizes s = {.steps = leati_draw_int(d, least, 5),
             .batch = leati_draw_int(d, least, leati_draw_chance(d, 20) ? 9 : 3),
             .input = leati_draw_int(d, least, 6),
             .units = leati_draw_chance(d, 50) ? 4 * leati_draw_int(d, 1, 3) : leati_draw_int(d, 1, 11),
             .directions = 1,
             .gates = strcmp(d->info->name, "GRU") == 0   ? 3
                      : strcmp(d->info->name, "RNN") == 0 ? 1
                                                          : 4};
  if (leati_draw_chance(d, 60)) {
    static const char *const names[] = {"forward", "reverse", "bidirectional"};
    const int64_t which = leati_draw_int(d, 0, 2);
    leati_draw_attribute_string(d, "direction", names[which]);
    s.directions = which == 2 ? 2 : 1;
  }
  if (d->since_version >= 14 && leati_draw_chance(d, 40)) {
    s.batch_first = leati_draw_chance(d, 70);
    leati_draw_attribute_int(d, "layout", s.batch_first);
  }
  if (leati_draw_chance(d, 60)) {
    leati_draw_attribute_int(d, "hidden_size", s.units);
  }
  /* Activations without a bound grow from step to step beyond what float32 holds, unless what goes into them has one.
   */
  const bool named = leati_draw_chance(d, 40);
  if (named || leati_draw_chance(d, 40)) {
    leati_draw_attribute_float(d, "clip", (double)leati_draw_int(d, 1, 8) / 4);
  }
  if (named) {
    draw_activations(d, s.directions * (s.gates == 4 ? 3 : s.gates == 3 ? 2 : 1));
  }
  return s;
}

/* Adds the scale and the zero point of weights of int8 or uint8, of a type: one for each direction, or for each column.
 */
static void add_scale(leati_draw *d, const sizes *s, uint64_t type) {
  const int64_t dims[] = {s->directions, s->gates * s->units};
  const int32_t rank = (int32_t)leati_draw_int(d, 1, 2);
  leati_draw_tensor *const scale = leati_draw_input(d, LEAT_TYPE_FLOAT32, rank, dims);
  for (int64_t k = 0; k < s->directions * (rank == 2 ? dims[1] : 1); ++k) {
    leati_draw_set(scale, k, g_rand_double_range(d->rand, 0.0005, 0.01));
  }
  leati_draw_bytes(d, leati_draw_input(d, type, rank, dims));
}

static void layer(leati_draw *d) {
  const sizes s = draw_sizes(d);
  const bool bytes = d->info->max_inputs > 8;
  const uint64_t type = leati_draw_type(d, "T"), weights = bytes ? leati_draw_type(d, "T2") : type;
  const int64_t rows = s.gates * s.units;
  const int64_t x[] = {s.batch_first ? s.batch : s.steps, s.batch_first ? s.steps : s.batch, s.input};
  const int64_t w[] = {s.directions, bytes ? s.input : rows, bytes ? rows : s.input};
  const int64_t r[] = {s.directions, bytes ? s.units : rows, bytes ? rows : s.units};
  const int64_t b[] = {s.directions, 2 * rows}, p[] = {s.directions, 3 * s.units};
  const int64_t state[] = {s.batch_first ? s.batch : s.directions, s.batch_first ? s.directions : s.batch, s.units};
  add(d, 100, type, 3, x);
  add(d, 100, weights, 3, w);
  add(d, 100, weights, 3, r);
  for (uint32_t i = 1; i < 3 && bytes; ++i) {
    leati_draw_bytes(d, &d->inputs[i]);
  }
  add(d, 60, type, 2, b);
  add(d, 50, LEAT_TYPE_INT32, 1, &s.batch);
  add(d, 50, type, 3, state);
  if (d->info->max_inputs > 6) {
    add(d, 50, type, 3, state);
    add(d, 40, type, 2, p);
  }
  for (int i = 0; i < 2 && bytes; ++i) {
    add_scale(d, &s, weights);
  }
  if (leati_draw_chance(d, 40)) {
    leati_draw_attribute_int(d, "input_forget", leati_draw_int(d, 0, 1));
  }
  if (leati_draw_chance(d, 60)) {
    leati_draw_attribute_int(d, "linear_before_reset", leati_draw_int(d, 0, 1));
  }
  d->output_count = d->info->max_outputs;
}

const leati_draw_entry leati_draws_recurrent[] = {
    {"matmul", "", "LSTM GRU RNN", NULL, layer},
    {"matmul", LEAT_MICROSOFT, "DynamicQuantizeLSTM", NULL, layer},
    {NULL, NULL, NULL, NULL, NULL},
};
