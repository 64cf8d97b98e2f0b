/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "ops/core/draw.h"
#include "ops/core/draw_parts.h"

#define RANK LEAT_MAX_RANK

static void cast(leati_draw *d) {
  leati_draw_scale(d, &d->inputs[0]);
}

/* Exponents for integers. Fractional ones are small: of a larger power the reference's double holds too few digits. */
static void power(leati_draw *d) {
  leati_draw_tensor *const exponents = &d->inputs[1];
  for (int64_t k = 0; k < exponents->count && !leati_draw_is_float(d->inputs[0].type); ++k) {
    const int64_t kind = leati_draw_int(d, 0, leati_draw_is_float(exponents->type) ? 3 : 1);
    leati_draw_set(exponents, k,
                   kind == 0   ? (double)leati_draw_int(d, -3, 70)
                   : kind == 1 ? (double)leati_draw_int(d, 0, 5)
                   : kind == 2 ? g_rand_double_range(d->rand, -3, 9)
                               : (double)leati_draw_int(d, -3, 8) + 0.5);
  }
}

/* Few divisors are 0, and none where that is told. */
static void divide(leati_draw *d) {
  if (!(d->faults && leati_draw_chance(d, 40))) {
    leati_draw_range(d, &d->inputs[1], 1, 5);
  }
  leati_draw_attribute_int(d, "fmod", leati_draw_is_float(d->inputs[0].type) ? 1 : leati_draw_int(d, 0, 1));
}

static void shift(leati_draw *d) {
  leati_draw_range(d, &d->inputs[1], 0, 70);
  leati_draw_attribute_string(d, "direction", leati_draw_chance(d, 50) ? "LEFT" : "RIGHT");
}

/* The lower limit is below the upper one. */
static void clip(leati_draw *d) {
  for (uint32_t k = 1; k < d->input_count; ++k) {
    if (d->inputs[k].present) {
      leati_draw_range(d, &d->inputs[k], k == 1 ? 0 : 3, k == 1 ? 2 : 6);
    }
  }
}

/* Programs of functions that move by little more than their operands do, so that the reference's bounds stay small. */
static void draw_program(leati_draw *d, int64_t inputs) {
  static const struct {
    const char *functions;
    const char *operands; /* how many each has */
  } programs[] = {{"Relu", "1"},           {"Sigmoid Mul", "12"},       {"Add Relu", "21"},     {"Mul Add Tanh", "221"},
                  {"Gelu Sub Min", "122"}, {"Neg Abs Max Erf", "1121"}, {"Mul Add Clip", "223"}};
  static const double constants[] = {0.5, -1, 2};
  const int64_t which = leati_draw_int(d, 0, G_N_ELEMENTS(programs) - 1);
  int64_t operands[LEAT_DRAW_RANK];
  int32_t count = 0;
  for (int64_t k = 0; programs[which].operands[k] != '\0'; ++k) {
    for (int n = 0; n < programs[which].operands[k] - '0'; ++n) {
      operands[count++] = leati_draw_int(d, -(int64_t)G_N_ELEMENTS(constants), inputs + k - 1);
    }
  }
  leati_draw_attribute_string(d, "functions", programs[which].functions);
  leati_draw_attribute_ints(d, "operands", count, operands);
  leati_draw_attribute_floats(d, "constants", G_N_ELEMENTS(constants), constants);
}

static void pointwise(leati_draw *d) {
  const int32_t rank = leati_draw_rank(d, 0, RANK);
  const int64_t inputs = leati_draw_int(d, 1, leati_draw_chance(d, 80) ? 4 : 8);
  const uint64_t type = leati_draw_type(d, "T");
  int64_t dims[RANK];
  leati_draw_dims(d, rank, dims);
  for (int64_t k = 0; k < inputs; ++k) {
    leati_draw_narrow_input(d, type, rank, dims);
  }
  draw_program(d, inputs);
}

/* The same with operands and a result that may be bytes. */
static void quantized_pointwise(leati_draw *d) {
  const int32_t rank = leati_draw_rank(d, 0, RANK);
  const int32_t inputs = (int32_t)leati_draw_int(d, 1, leati_draw_chance(d, 80) ? 4 : 8);
  int64_t dims[RANK], zeros[LEAT_DRAW_RANK];
  double scales[LEAT_DRAW_RANK];
  leati_draw_dims(d, rank, dims);
  for (int32_t k = 0; k < inputs; ++k) {
    const uint64_t type = leati_draw_type(d, "T1");
    leati_draw_narrow_input(d, type, rank, dims);
    scales[k] = leati_draw_is_float(type) ? 0 : g_rand_double_range(d->rand, 0.01, 0.3);
    zeros[k] = leati_draw_is_float(type) ? 0 : leati_draw_int(d, 0, 9);
  }
  leati_draw_attribute_floats(d, "scales", inputs, scales);
  leati_draw_attribute_ints(d, "zero_points", inputs, zeros);
  draw_program(d, inputs);
  if (leati_draw_chance(d, 60)) {
    leati_draw_attribute_int(d, "result_type", leati_draw_int(d, 2, 3));
    leati_draw_attribute_float(d, "result_scale", g_rand_double_range(d->rand, 0.01, 0.3));
    leati_draw_attribute_int(d, "result_zero_point", leati_draw_int(d, 0, 127));
  }
}

/* A tensor, a bias for its last dimension, which is to be halved at times, and a tensor to add. */
static void biased(leati_draw *d) {
  int64_t dims[RANK];
  const int32_t rank = leati_draw_rank(d, 1, RANK);
  const uint64_t type = leati_draw_type(d, "T");
  leati_draw_dims(d, rank, dims);
  dims[rank - 1] *= strcmp(d->info->name, "BiasSplitGelu") == 0 ? 2 : 1;
  leati_draw_input(d, type, rank, dims);
  if (d->info->min_inputs > 1 || leati_draw_chance(d, 60)) {
    leati_draw_input(d, type, 1, &dims[rank - 1]);
  }
  if (d->info->min_inputs > 2) {
    leati_draw_input(d, type, rank, dims);
  }
}

static void gated_add(leati_draw *d) {
  int64_t dims[RANK];
  const int32_t rank = leati_draw_rank(d, 1, RANK);
  const uint64_t type = leati_draw_type(d, "T");
  leati_draw_dims(d, rank, dims);
  leati_draw_input(d, type, rank, dims);
  leati_draw_input(d, type, rank, dims);
  dims[rank - 1] = 1;
  leati_draw_input(d, type, rank, dims);
}

static void bias_dropout(leati_draw *d) {
  int64_t dims[RANK];
  const int32_t rank = leati_draw_rank(d, 1, RANK);
  const uint64_t type = leati_draw_type(d, "T");
  const bool all = leati_draw_chance(d, 30);
  leati_draw_dims(d, rank, dims);
  leati_draw_input(d, type, rank, dims);
  leati_draw_input(d, type, all ? rank : 1, all ? dims : &dims[rank - 1]);
  if (leati_draw_chance(d, 50)) {
    leati_draw_input(d, type, rank, dims);
  } else {
    leati_draw_absent(d);
  }
  if (leati_draw_chance(d, 50)) {
    leati_draw_set(leati_draw_input(d, leati_draw_type(d, "T1"), 0, NULL), 0, 0.25);
    if (leati_draw_chance(d, 50)) {
      leati_draw_tensor *training = leati_draw_input(d, LEAT_TYPE_BOOL, 0, NULL);
      leati_draw_set(training, 0, 0);
      training->constant = true;
    }
  }
  leati_draw_attribute_int(d, "seed", leati_draw_int(d, 0, 9));
  d->output_count = (uint32_t)leati_draw_int(d, 1, 2);
}

static void complex_product(leati_draw *d) {
  int64_t dims[RANK], narrow[RANK];
  const int32_t rank = leati_draw_rank(d, 1, RANK);
  const uint64_t type = leati_draw_type(d, "T");
  leati_draw_dims(d, rank, dims);
  dims[rank - 1] = 2;
  const int32_t left = rank > 1 ? leati_draw_narrowed(d, rank - 1, dims, narrow) : 0;
  narrow[left] = dims[rank - 1];
  const bool swapped = leati_draw_chance(d, 50);
  leati_draw_input(d, type, swapped ? left + 1 : rank, swapped ? narrow : dims);
  leati_draw_input(d, type, swapped ? rank : left + 1, swapped ? dims : narrow);
}

static void scaled(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  leati_draw_any(d, "T", 0, RANK, &rank, dims);
  leati_draw_attribute_float(d, "alpha", g_rand_double_range(d->rand, -2, 2));
  leati_draw_attribute_float(d, "beta", g_rand_double_range(d->rand, -2, 2));
}

#define SOME_CHANNELS 64

static void image_scaler(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  double biases[SOME_CHANNELS];
  leati_draw_any(d, "T", 4, 4, &rank, dims);
  const int64_t count = MIN(dims[1], SOME_CHANNELS);
  for (int64_t c = 0; c < count; ++c) {
    biases[c] = g_rand_double_range(d->rand, -2, 2);
  }
  leati_draw_attribute_floats(d, "bias", (int32_t)count, biases);
  if (leati_draw_chance(d, 50)) {
    leati_draw_attribute_float(d, "scale", g_rand_double_range(d->rand, -2, 2));
  }
}

const leati_draw_entry leati_draws_elementwise[] = {
    {"elementwise", LEAT_MICROSOFT, "BiasGelu FastGelu BiasAdd BiasSplitGelu", NULL, biased},
    {"elementwise", LEAT_MICROSOFT, "GatedAdd", NULL, gated_add},
    {"elementwise", LEAT_MICROSOFT, "BiasDropout", NULL, bias_dropout},
    {"elementwise", LEAT_MICROSOFT, "ScaledSiLU", "*", NULL},
    {"elementwise", LEAT_MICROSOFT, "ComplexMul ComplexMulConj", NULL, complex_product},
    {"elementwise", "", "Affine ParametricSoftplus ScaledTanh", NULL, scaled},
    {"elementwise", "", "ImageScaler", NULL, image_scaler},
    {"elementwise", LEAT_MICROSOFT, "QuickGelu Gelu", "*", NULL},
    {"elementwise", "", "Div Mod", "~ ~", divide},
    {"elementwise", "", "BitShift", "~ ~", shift},
    {"elementwise", "leat", "BitCount", "*", NULL},
    {"elementwise", "", "Pow", "~ T1:~", power},
    {"elementwise", "", "PRelu", "* ~", NULL},
    {"elementwise", "", "Clip", "* . .", clip},
    {"elementwise", "", "Where", "B:~ ~ ~", NULL},
    {"elementwise", "", "Cast", "T1:*", cast},
    {"elementwise", "", "CastLike", "T1:* T2:?", cast},
    {"elementwise", "leat", "Pointwise", NULL, pointwise},
    {"elementwise", "leat", "QuantizedPointwise", NULL, quantized_pointwise},
    {NULL, NULL, NULL, NULL, NULL},
};
