/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "ops/core/draw.h"
#include "ops/core/draw_parts.h"

#define RANK LEAT_MAX_RANK

/* A scale for all elements of the input that is there, for each index of an axis, or for each block along it, and
 * perhaps a zero point of a type. */
static void draw_scales(leati_draw *d, uint64_t scale, uint64_t zero) {
  int64_t each[RANK];
  const leati_draw_tensor *const x = &d->inputs[0];
  const int64_t axis = leati_draw_axis(d, x->rank), kind = leati_draw_int(d, 0, d->since_version >= 21 ? 2 : 1);
  const int32_t own = leati_draw_front(axis, x->rank);
  const int64_t block = leati_draw_int(d, 1, 5);
  memcpy(each, x->dims, sizeof(each));
  each[own] = (x->dims[own] + block - 1) / block;
  const int64_t *const shape = kind == 2 ? each : x->dims + own;
  const int32_t rank = kind == 2 ? x->rank : kind == 1 ? 1 : 0;
  leati_draw_input(d, scale, rank, shape);
  if (leati_draw_chance(d, 60)) {
    leati_draw_input(d, zero, rank, shape);
  }
  leati_draw_attribute_int(d, "axis", axis);
  if (kind == 2) {
    leati_draw_attribute_int(d, "block_size", block);
  }
}

/* Perhaps an attribute that names one of some types by ONNX's number. */
static void draw_number(leati_draw *d, const char *name, int64_t count, const int64_t *numbers) {
  if (leati_draw_chance(d, 30)) {
    leati_draw_attribute_int(d, name, numbers[leati_draw_int(d, 0, count - 1)]);
  }
}

static const int64_t floats_of_onnx[] = {1, 10, 16};

static void dequantize(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  const uint64_t type = leati_draw_any(d, "T1", 1, RANK, &rank, dims)->type;
  draw_scales(d, leati_draw_type(d, "T2"), type);
  draw_number(d, "output_dtype", G_N_ELEMENTS(floats_of_onnx), floats_of_onnx);
}

static void quantize(leati_draw *d) {
  static const int64_t integers[] = {2, 3, 4, 5};
  int32_t rank;
  int64_t dims[RANK];
  const bool apart = d->since_version >= 23;
  leati_draw_tensor *const x = leati_draw_any(d, "T1", 1, RANK, &rank, dims);
  const uint64_t type = x->type;
  leati_draw_scale(d, x);
  draw_scales(d, apart ? leati_draw_type(d, "T2") : type, leati_draw_type(d, apart ? "T3" : "T2"));
  draw_number(d, "precision", G_N_ELEMENTS(floats_of_onnx), floats_of_onnx);
  if (d->input_count < 3) {
    draw_number(d, "output_dtype", G_N_ELEMENTS(integers), integers);
  }
}

static void dynamic_quantize(leati_draw *d) {
  leati_draw_scale(d, &d->inputs[0]);
  d->inputs[0].plain = true;
  d->output_count = 3;
}

/* Operands of int8 or uint8, each with scale and zero point, and those of the result. */
static void qlinear(leati_draw *d) {
  const int32_t rank = leati_draw_rank(d, 0, RANK);
  const uint64_t type = leati_draw_type(d, "T");
  int64_t dims[RANK];
  leati_draw_dims(d, rank, dims);
  for (uint32_t k = 0; k + 2 < d->info->max_inputs; k += 3) {
    leati_draw_bytes(d, leati_draw_narrow_input(d, type, rank, dims));
    leati_draw_scale_of_bytes(d, type);
  }
  leati_draw_scale_of_bytes(d, type);
  if (leati_draw_chance(d, 70)) {
    leati_draw_attribute_float(d, "alpha", g_rand_double_range(d->rand, -0.5, 1.5));
  }
}

static void qlinear_where(leati_draw *d) {
  const int32_t rank = leati_draw_rank(d, 0, RANK);
  const uint64_t type = leati_draw_type(d, "T");
  int64_t dims[RANK];
  leati_draw_dims(d, rank, dims);
  leati_draw_narrow_input(d, LEAT_TYPE_BOOL, rank, dims);
  for (int k = 0; k < 2; ++k) {
    leati_draw_bytes(d, leati_draw_narrow_input(d, type, rank, dims));
    leati_draw_scale_of_bytes(d, type);
  }
  leati_draw_scale_of_bytes(d, type);
}

static void qlinear_concat(leati_draw *d) {
  const int32_t rank = leati_draw_rank(d, 1, RANK);
  const int64_t axis = leati_draw_axis(d, rank), one = 1;
  const uint64_t type = leati_draw_type(d, "T8");
  int64_t dims[RANK];
  leati_draw_dims(d, rank, dims);
  leati_draw_set(leati_draw_input(d, LEAT_TYPE_FLOAT32, 1, &one), 0, g_rand_double_range(d->rand, 0.01, 0.3));
  leati_draw_bytes(d, leati_draw_input(d, type, 0, NULL));
  for (int64_t k = leati_draw_int(d, 1, leati_draw_chance(d, 20) ? 6 : 3); k > 0; --k) {
    dims[leati_draw_front(axis, rank)] = leati_draw_int(d, d->empty ? 0 : 1, 4);
    leati_draw_bytes(d, leati_draw_input(d, type, rank, dims));
    leati_draw_scale_of_bytes(d, type);
  }
  leati_draw_attribute_int(d, "axis", axis);
}

const leati_draw_entry leati_draws_quantize[] = {
    {"elementwise", "", "DequantizeLinear", NULL, dequantize},
    {"elementwise", "", "QuantizeLinear", NULL, quantize},
    {"elementwise", "", "DynamicQuantizeLinear", "T1:*", dynamic_quantize},
    {"elementwise", LEAT_MICROSOFT, "QLinearAdd QLinearMul QLinearLeakyRelu QLinearSigmoid", NULL, qlinear},
    {"elementwise", LEAT_MICROSOFT, "QLinearWhere", NULL, qlinear_where},
    {"elementwise", LEAT_MICROSOFT, "DequantizeLinear", NULL, dequantize},
    {"elementwise", LEAT_MICROSOFT, "QuantizeLinear", NULL, quantize},
    {"movement", LEAT_MICROSOFT, "QLinearConcat", NULL, qlinear_concat},
    {NULL, NULL, NULL, NULL, NULL},
};
