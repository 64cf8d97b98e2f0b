/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "ops/core/draw.h"
#include "ops/core/draw_parts.h"

#define RANK LEAT_MAX_RANK

static void unary(leati_draw *d) {
  static const char *const floats[] = {"alpha", "beta", "gamma", "lambd", "bias"};
  int32_t rank;
  int64_t dims[RANK];
  leati_draw_any(d, "T", 0, RANK, &rank, dims);
  for (size_t k = 0; k < G_N_ELEMENTS(floats); k++) {
    if (leati_draw_chance(d, 50))
      leati_draw_attribute_float(d, floats[k], g_rand_double_range(d->rand, 0.1, 2));
  }
  if (leati_draw_chance(d, 50))
    leati_draw_attribute_string(d, "approximate", leati_draw_chance(d, 50) ? "tanh" : "none");
  if (leati_draw_chance(d, 50))
    leati_draw_attribute_int(d, "detect_negative", leati_draw_int(d, 0, 1));
}

static void cast(leati_draw *d) {
  static const struct {
    uint64_t type;
    int64_t number; /* ONNX's TensorProto.DataType */
  } numbers[] = {{LEAT_TYPE_FLOAT32, 1},  {LEAT_TYPE_UINT8, 2},    {LEAT_TYPE_INT8, 3},    {LEAT_TYPE_UINT16, 4},
                 {LEAT_TYPE_INT16, 5},    {LEAT_TYPE_INT32, 6},    {LEAT_TYPE_INT64, 7},   {LEAT_TYPE_BOOL, 9},
                 {LEAT_TYPE_FLOAT16, 10}, {LEAT_TYPE_FLOAT64, 11}, {LEAT_TYPE_UINT32, 12}, {LEAT_TYPE_UINT64, 13},
                 {LEAT_TYPE_BFLOAT16, 16}};
  int32_t rank;
  int64_t dims[RANK];
  const uint64_t to = leati_draw_type(d, "T2");
  leati_draw_scale(d, leati_draw_any(d, "T1", 0, RANK, &rank, dims));
  for (size_t k = 0; k < G_N_ELEMENTS(numbers); k++) {
    if (numbers[k].type == to)
      leati_draw_attribute_int(d, "to", numbers[k].number);
  }
}

static void cast_like(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  const uint64_t to = leati_draw_type(d, "T2");
  leati_draw_scale(d, leati_draw_any(d, "T1", 0, RANK, &rank, dims));
  rank = leati_draw_rank(d, 0, 3);
  leati_draw_dims(d, rank, dims);
  leati_draw_input(d, to, rank, dims);
}

/* Exponents for integers. Fractional ones are small: of a larger power the reference's double holds too few digits. */
static void draw_exponents(leati_draw *d, leati_draw_tensor *tensor) {
  for (int64_t k = 0; k < tensor->count; k++) {
    const int64_t kind = leati_draw_int(d, 0, leati_draw_is_float(tensor->type) ? 3 : 1);
    leati_draw_set(tensor, k,
                   kind == 0   ? (double)leati_draw_int(d, -3, 70)
                   : kind == 1 ? (double)leati_draw_int(d, 0, 5)
                   : kind == 2 ? g_rand_double_range(d->rand, -3, 9)
                               : (double)leati_draw_int(d, -3, 8) + 0.5);
  }
}

static void binary(leati_draw *d) {
  const bool divides = strcmp(d->info->name, "Div") == 0 || strcmp(d->info->name, "Mod") == 0;
  const bool power = strcmp(d->info->name, "Pow") == 0;
  const int32_t rank = leati_draw_rank(d, 0, RANK);
  int64_t dims[RANK];
  leati_draw_dims(d, rank, dims);
  const uint64_t type = leati_draw_type(d, "T");
  leati_draw_narrow_input(d, type, rank, dims);
  leati_draw_tensor *b = leati_draw_narrow_input(d, power ? leati_draw_type(d, "T1") : type, rank, dims);
  if (divides && !(d->faults && leati_draw_chance(d, 40)))
    leati_draw_range(d, b, 1, 5);
  if (power && !leati_draw_is_float(type))
    draw_exponents(d, b);
  if (strcmp(d->info->name, "Mod") == 0)
    leati_draw_attribute_int(d, "fmod", leati_draw_is_float(type) ? 1 : leati_draw_int(d, 0, 1));
}

static void prelu(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  leati_draw_any(d, "T", 0, RANK, &rank, dims);
  leati_draw_narrow_input(d, d->inputs[0].type, rank, dims);
}

static void variadic(leati_draw *d) {
  const int32_t rank = leati_draw_rank(d, 0, RANK);
  const int64_t count = leati_draw_int(d, 1, 4);
  int64_t dims[RANK];
  leati_draw_dims(d, rank, dims);
  const uint64_t type = leati_draw_type(d, "T");
  for (int64_t k = 0; k < count; k++)
    leati_draw_narrow_input(d, type, rank, dims);
}

static void clip(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  leati_draw_any(d, "T", 0, RANK, &rank, dims);
  for (int k = 0; k < 2; k++) {
    if (leati_draw_chance(d, 60)) {
      leati_draw_tensor *bound = leati_draw_input(d, d->inputs[0].type, 0, NULL);
      leati_draw_range(d, bound, k == 0 ? 0 : 3, k == 0 ? 2 : 6);
    } else {
      leati_draw_absent(d);
    }
  }
}

static void where(leati_draw *d) {
  const int32_t rank = leati_draw_rank(d, 0, RANK);
  int64_t dims[RANK];
  leati_draw_dims(d, rank, dims);
  const uint64_t type = leati_draw_type(d, "T");
  leati_draw_narrow_input(d, LEAT_TYPE_BOOL, rank, dims);
  leati_draw_narrow_input(d, type, rank, dims);
  leati_draw_narrow_input(d, type, rank, dims);
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
  for (int64_t k = 0; programs[which].operands[k] != '\0'; k++) {
    for (int n = 0; n < programs[which].operands[k] - '0'; n++)
      operands[count++] = leati_draw_int(d, -(int64_t)G_N_ELEMENTS(constants), inputs + k - 1);
  }
  leati_draw_attribute_string(d, "functions", programs[which].functions);
  leati_draw_attribute_ints(d, "operands", count, operands);
  leati_draw_attribute_floats(d, "constants", G_N_ELEMENTS(constants), constants);
}

static void pointwise(leati_draw *d) {
  const int32_t rank = leati_draw_rank(d, 0, RANK);
  const int64_t inputs = leati_draw_int(d, 1, 4);
  int64_t dims[RANK];
  leati_draw_dims(d, rank, dims);
  for (int64_t k = 0; k < inputs; k++)
    leati_draw_narrow_input(d, LEAT_TYPE_FLOAT32, rank, dims);
  draw_program(d, inputs);
}

/* The same with operands and a result that may be bytes. */
static void quantized_pointwise(leati_draw *d) {
  const int32_t rank = leati_draw_rank(d, 0, RANK), inputs = (int32_t)leati_draw_int(d, 1, 4);
  int64_t dims[RANK], zeros[LEAT_DRAW_RANK];
  double scales[LEAT_DRAW_RANK];
  leati_draw_dims(d, rank, dims);
  for (int32_t k = 0; k < inputs; k++) {
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

const leati_draw_entry leati_draws_elementwise[] = {
    {"elementwise", "", "Neg", unary},
    {"elementwise", "", "Abs", unary},
    {"elementwise", "", "Sign", unary},
    {"elementwise", "", "Sqrt", unary},
    {"elementwise", "", "Reciprocal", unary},
    {"elementwise", "", "Exp", unary},
    {"elementwise", "", "Log", unary},
    {"elementwise", "", "Erf", unary},
    {"elementwise", "", "Tanh", unary},
    {"elementwise", "", "Sigmoid", unary},
    {"elementwise", "", "Relu", unary},
    {"elementwise", "", "HardSwish", unary},
    {"elementwise", "", "Sin", unary},
    {"elementwise", "", "Cos", unary},
    {"elementwise", "", "Tan", unary},
    {"elementwise", "", "Asin", unary},
    {"elementwise", "", "Acos", unary},
    {"elementwise", "", "Atan", unary},
    {"elementwise", "", "Sinh", unary},
    {"elementwise", "", "Cosh", unary},
    {"elementwise", "", "Asinh", unary},
    {"elementwise", "", "Acosh", unary},
    {"elementwise", "", "Atanh", unary},
    {"elementwise", "", "Floor", unary},
    {"elementwise", "", "Ceil", unary},
    {"elementwise", "", "Round", unary},
    {"elementwise", "", "Softplus", unary},
    {"elementwise", "", "Softsign", unary},
    {"elementwise", "", "Mish", unary},
    {"elementwise", "", "LeakyRelu", unary},
    {"elementwise", "", "Elu", unary},
    {"elementwise", "", "HardSigmoid", unary},
    {"elementwise", "", "Selu", unary},
    {"elementwise", "", "Celu", unary},
    {"elementwise", "", "ThresholdedRelu", unary},
    {"elementwise", "", "Shrink", unary},
    {"elementwise", "", "Swish", unary},
    {"elementwise", LEAT_MICROSOFT, "QuickGelu", unary},
    {"elementwise", "", "Gelu", unary},
    {"elementwise", LEAT_MICROSOFT, "Gelu", unary},
    {"elementwise", "", "IsNaN", unary},
    {"elementwise", "", "IsInf", unary},
    {"elementwise", "", "Not", unary},
    {"elementwise", "", "Add", binary},
    {"elementwise", "", "Sub", binary},
    {"elementwise", "", "Mul", binary},
    {"elementwise", "", "Div", binary},
    {"elementwise", "", "PRelu", prelu},
    {"elementwise", "", "And", binary},
    {"elementwise", "", "Or", binary},
    {"elementwise", "", "Xor", binary},
    {"elementwise", "", "Mod", binary},
    {"elementwise", "", "Pow", binary},
    {"elementwise", "", "Equal", binary},
    {"elementwise", "", "Less", binary},
    {"elementwise", "", "Greater", binary},
    {"elementwise", "", "LessOrEqual", binary},
    {"elementwise", "", "GreaterOrEqual", binary},
    {"elementwise", "", "Min", variadic},
    {"elementwise", "", "Max", variadic},
    {"elementwise", "", "Sum", variadic},
    {"elementwise", "", "Mean", variadic},
    {"elementwise", "", "Clip", clip},
    {"elementwise", "leat", "Pointwise", pointwise},
    {"elementwise", "leat", "QuantizedPointwise", quantized_pointwise},
    {"elementwise", "", "Where", where},
    {"elementwise", "", "Cast", cast},
    {"elementwise", "", "CastLike", cast_like},
    {NULL, NULL, NULL, NULL},
};
