/* SPDX-License-Identifier: BSD-3-Clause */
/* QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear. */
#include "ops/quantize/reference.h"

#include <math.h>
#include <string.h>

#include "ops/core/bound.h"
#include "ops/core/node.h"

/* Which scale, and zero point, each element of the first input has. */
typedef struct scales {
  bool one; /* for all */
  int32_t axis;
  int64_t block; /* 0: one for each index of the axis */
} scales;

/* Whether there is a scale for each index of the axis, or for each block along it. */
static bool scale_shape_fits(const leati_ref_tensor *x, const leati_ref_tensor *scale, const scales *by) {
  if (by->block == 0) {
    return scale->rank == 1 && scale->dims[0] == x->dims[by->axis];
  }
  bool fits = scale->rank == x->rank;
  for (int32_t d = 0; fits && d < x->rank; ++d) {
    fits = scale->dims[d] == (d == by->axis ? (x->dims[d] + by->block - 1) / by->block : x->dims[d]);
  }
  return fits;
}

static bool find_scales(leati_ref_node *node, scales *by) {
  const leati_ref_tensor *x = node->inputs[0];
  const leati_ref_tensor *scale = node->inputs[1];
  const leati_ref_tensor *zero = leati_ref_input(node, 2);
  *by = (scales){.block = leati_ref_int(node, "block_size", 0)};
  by->one = by->block == 0 && scale->count == 1 && scale->rank <= 1;
  if (by->block < 0 || (!by->one && !leati_ref_axis(node, leati_ref_int(node, "axis", 1), x->rank, &by->axis))) {
    return leati_ref_fail(node, "%s: not of this form", node->name);
  }
  bool fits = by->one || scale_shape_fits(x, scale, by);
  const bool alike = by->one && zero != NULL && zero->count == 1 && zero->rank <= 1;
  fits = fits && (zero == NULL || alike || zero->rank == scale->rank);
  for (int32_t d = 0; fits && zero != NULL && !alike && d < scale->rank; ++d) {
    fits = zero->dims[d] == scale->dims[d];
  }
  return fits || leati_ref_fail(node, "%s: shapes that do not go together", node->name);
}

/* The number of the scale of element `k`. */
static int64_t scale_at(const scales *by, const leati_ref_tensor *x, const leati_ref_tensor *scale, int64_t k) {
  int64_t index[LEAT_MAX_RANK];
  if (by->one) {
    return 0;
  }
  leati_ref_unravel(x->rank, x->dims, k, index);
  if (by->block == 0) {
    return index[by->axis];
  }
  index[by->axis] /= by->block;
  return leati_ref_ravel(scale->rank, scale->dims, index);
}

/* The type that an attribute asks for by ONNX's number, or `otherwise`. */
static leati_ref_type asked_type(const leati_ref_node *node, const char *name, leati_ref_type otherwise) {
  const int64_t number = leati_ref_int(node, name, 0);
  return number != 0 ? leati_ref_type_from_onnx(number) : otherwise;
}

static bool run_dequantize(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  const leati_ref_tensor *scale = node->inputs[1];
  const leati_ref_tensor *zero = leati_ref_input(node, 2);
  const leati_ref_type type = asked_type(node, "output_dtype", scale->type);
  scales by;
  if (!find_scales(node, &by)) {
    return false;
  }
  if (type == LEATI_REF_TYPE_COUNT || !leati_ref_type_is_float(type)) {
    return leati_ref_fail(node, "DequantizeLinear: the result must be a float");
  }
  leati_ref_tensor *y = &node->outputs[0];
  leati_ref_tensor_init(y, type, x->rank, x->dims);
  for (int64_t k = 0; k < x->count; ++k) {
    const int64_t at = scale_at(&by, x, scale, k);
    /* The difference becomes a float32, and is exact for integers of up to 16 bits; the product is rounded once. */
    y->f[k] = (double)(x->i[k] - (zero != NULL ? zero->i[at] : 0)) * scale->f[at];
    y->bound[k] = leati_ref_bound_ulps(y->f[k], x->type == LEATI_REF_INT32 ? 2 : 1);
  }
  return true;
}

/* x / scale, rounded to a type of floats and then to a whole number, plus the zero point, as far as the type holds it.
 * A double has more than twice the digits of the quotient, which it is rounded to as if it were exact. NaN is 0. */
static int64_t quantized(leati_ref_type precision, double x, double scale, int64_t zero, leati_ref_type to) {
  const double quotient =
      leati_ref_type_round(precision, leati_ref_type_round(precision, x) / leati_ref_type_round(precision, scale));
  const double low = (double)leati_ref_type_low(to), high = (double)leati_ref_type_high(to);
  const double y = isnan(quotient) ? (double)zero : nearbyint(quotient) + (double)zero;
  return (int64_t)(y < low ? low : y > high ? high : y);
}

static bool run_quantize(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  const leati_ref_tensor *scale = node->inputs[1];
  const leati_ref_tensor *zero = leati_ref_input(node, 2);
  const leati_ref_type type = asked_type(node, "output_dtype", zero != NULL ? zero->type : LEATI_REF_UINT8);
  const leati_ref_type precision = asked_type(node, "precision", scale->type);
  scales by;
  if (!find_scales(node, &by)) {
    return false;
  }
  if (type == LEATI_REF_TYPE_COUNT || leati_ref_type_is_float(type) || (zero != NULL && zero->type != type) ||
      precision == LEATI_REF_TYPE_COUNT || !leati_ref_type_is_float(precision)) {
    return leati_ref_fail(node, "QuantizeLinear: not of these types");
  }
  leati_ref_tensor *y = &node->outputs[0];
  leati_ref_tensor_init(y, type, x->rank, x->dims);
  for (int64_t k = 0; k < x->count; ++k) {
    const int64_t at = scale_at(&by, x, scale, k);
    y->i[k] = quantized(precision, x->f[k], scale->f[at], zero != NULL ? zero->i[at] : 0, type);
  }
  return true;
}

leati_ref_dynamic leati_ref_dynamic_of(const leati_ref_tensor *x) {
  double low = 0, high = 0;
  for (int64_t k = 0; k < x->count; ++k) {
    low = fmin(low, x->f[k]);
    high = fmax(high, x->f[k]);
  }
  const double range = leati_ref_type_round(LEATI_REF_FLOAT32, high - low);
  const double exact = leati_ref_type_round(LEATI_REF_FLOAT32, range / 255);
  const double scale = exact >= FLT_MIN ? exact : 1;
  return (leati_ref_dynamic){scale, quantized(LEATI_REF_FLOAT32, -low, scale, 0, LEATI_REF_UINT8)};
}

int64_t leati_ref_dynamic_byte(leati_ref_dynamic by, double x) {
  return quantized(LEATI_REF_FLOAT32, x, by.scale, by.zero, LEATI_REF_UINT8);
}

/* In float32, each result rounded once, as the function body of the specification has it. */
static bool run_dynamic_quantize(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  const leati_ref_dynamic by = leati_ref_dynamic_of(x);
  leati_ref_tensor_init(&node->outputs[0], LEATI_REF_UINT8, x->rank, x->dims);
  leati_ref_tensor_init(&node->outputs[1], LEATI_REF_FLOAT32, 0, NULL);
  leati_ref_tensor_init(&node->outputs[2], LEATI_REF_UINT8, 0, NULL);
  node->outputs[1].f[0] = by.scale;
  node->outputs[2].i[0] = by.zero;
  for (int64_t k = 0; k < x->count; ++k) {
    node->outputs[0].i[k] = leati_ref_dynamic_byte(by, x->f[k]);
  }
  return true;
}

void leati_ref_requantise(leati_ref_tensor *y, int64_t k, double x, int64_t zero_point) {
  const double off = 6 * LEATI_REF_ULP * fabs(x);
  const double low = (double)leati_ref_type_low(y->type), high = (double)leati_ref_type_high(y->type);
  const double zero = (double)zero_point;
  const double least = fmin(fmax(nearbyint(x - off) + zero, low), high);
  y->i[k] = (int64_t)least;
  y->bound[k] = fmin(fmax(nearbyint(x + off) + zero, low), high) - least;
}

void leati_ref_quantise(leati_ref_tensor *y, int64_t k, double low, double high, double scale, int64_t zero_point) {
  const int64_t one = quantized(LEATI_REF_FLOAT32, low, scale, zero_point, y->type);
  const int64_t other = quantized(LEATI_REF_FLOAT32, high, scale, zero_point, y->type);
  y->i[k] = one < other ? one : other;
  y->bound[k] = fabs((double)(other - one));
}

bool leati_ref_quantise_output(leati_ref_node *node, const leati_ref_tensor *scale, const leati_ref_tensor *zero) {
  leati_ref_tensor x = node->outputs[0];
  for (int64_t k = 0; k < x.count && leati_ref_string_is(node, "activation", "", "Relu"); ++k) {
    x.f[k] = fmax(x.f[k], 0);
  }
  if (scale == NULL) {
    return true;
  }
  leati_ref_tensor *y = &node->outputs[0];
  leati_ref_tensor_init(y, zero != NULL ? zero->type : LEATI_REF_UINT8, x.rank, x.dims);
  y->bound = leati_ref_alloc(y->count, sizeof(double));
  for (int64_t k = 0; k < y->count; ++k) {
    leati_ref_quantise(y, k, x.f[k] - x.bound[k], x.f[k] + x.bound[k], scale->f[0], zero != NULL ? zero->i[0] : 0);
  }
  leati_ref_tensor_clear(&x);
  return true;
}

const leati_ref_entry leati_ref_quantize[] = {{"QuantizeLinear", run_quantize},
                                              {"DequantizeLinear", run_dequantize},
                                              {"DynamicQuantizeLinear", run_dynamic_quantize},
                                              {NULL, NULL}};
