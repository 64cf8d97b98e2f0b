/* SPDX-License-Identifier: BSD-3-Clause */
/* What calls of each operator look like: arguments that its specification allows. */
#include <string.h>

#include "ops/core/draw.h"

#define RANK LEAT_MAX_RANK

static int32_t draw_rank(leati_draw *d, int32_t low, int32_t high) {
  const int32_t usual = high < 4 ? high : 4;
  return (int32_t)leati_draw_int(d, low, leati_draw_chance(d, 80) && usual >= low ? usual : high);
}

static int64_t draw_axis(leati_draw *d, int32_t rank) {
  return leati_draw_int(d, -rank, rank - 1);
}

/* An axis that counts from the front. */
static int32_t front(int64_t axis, int32_t rank) {
  return (int32_t)(axis < 0 ? axis + rank : axis);
}

/* Sets all elements to whole numbers of a range. */
static void draw_range(leati_draw *d, leati_draw_tensor *tensor, int64_t low, int64_t high) {
  for (int64_t k = 0; k < tensor->count; k++)
    leati_draw_set(tensor, k, (double)leati_draw_int(d, low, high));
}

static bool is_float(uint64_t type) {
  return (type & (LEAT_TYPE_FLOAT32 | LEAT_TYPE_FLOAT16 | LEAT_TYPE_BFLOAT16 | LEAT_TYPE_FLOAT64)) != 0;
}

static leati_draw_tensor *any_input(leati_draw *d, const char *parameter, int32_t low, int32_t high, int32_t *rank,
                                    int64_t *dims) {
  *rank = draw_rank(d, low, high);
  leati_draw_dims(d, *rank, dims);
  return leati_draw_input(d, leati_draw_type(d, parameter), *rank, dims);
}

/* A shape that broadcasts to the given one. */
static int32_t narrowed(leati_draw *d, int32_t rank, const int64_t *dims, int64_t *out) {
  const int32_t cut = leati_draw_chance(d, 30) ? (int32_t)leati_draw_int(d, 0, rank) : 0;
  for (int32_t k = cut; k < rank; k++)
    out[k - cut] = leati_draw_chance(d, 25) ? 1 : dims[k];
  return rank - cut;
}

static leati_draw_tensor *narrowed_input(leati_draw *d, uint64_t type, int32_t rank, const int64_t *dims) {
  int64_t narrow[RANK];
  const int32_t narrow_rank = narrowed(d, rank, dims, narrow);
  return leati_draw_input(d, type, narrow_rank, narrow);
}

/* Distinct axes of a rank, some of them counted from the back; gives how many. */
static int32_t draw_axes(leati_draw *d, int32_t rank, int64_t *axes) {
  int32_t count = 0;
  for (int32_t k = 0; k < rank; k++) {
    if (leati_draw_chance(d, 50))
      axes[count++] = leati_draw_chance(d, 50) ? k : k - rank;
  }
  for (int32_t k = count - 1; k > 0; k--) {
    const int64_t other = leati_draw_int(d, 0, k);
    const int64_t held = axes[k];
    axes[k] = axes[other];
    axes[other] = held;
  }
  return count;
}

/* ---- Elementwise ------------------------------------------------------------------------------------------------ */

static void unary(leati_draw *d) {
  static const char *const floats[] = {"alpha", "beta", "gamma", "lambd", "bias"};
  int32_t rank;
  int64_t dims[RANK];
  any_input(d, "T", 0, RANK, &rank, dims);
  for (size_t k = 0; k < G_N_ELEMENTS(floats); k++) {
    if (leati_draw_chance(d, 50))
      leati_draw_attribute_float(d, floats[k], g_rand_double_range(d->rand, 0.1, 2));
  }
  if (leati_draw_chance(d, 50))
    leati_draw_attribute_string(d, "approximate", leati_draw_chance(d, 50) ? "tanh" : "none");
  if (leati_draw_chance(d, 50))
    leati_draw_attribute_int(d, "detect_negative", leati_draw_int(d, 0, 1));
}

/* Sets floats to numbers of which the larger ones fit into no small integer, and some into none. */
static void draw_scale(leati_draw *d, leati_draw_tensor *tensor) {
  static const double scales[] = {1, 100, 1e5, 5e9, 2e19};
  const double scale = scales[leati_draw_int(d, 0, G_N_ELEMENTS(scales) - 1)];
  for (int64_t k = 0; k < tensor->count && is_float(tensor->type); k++)
    leati_draw_set(tensor, k, g_rand_double_range(d->rand, -scale, scale));
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
  draw_scale(d, any_input(d, "T1", 0, RANK, &rank, dims));
  for (size_t k = 0; k < G_N_ELEMENTS(numbers); k++) {
    if (numbers[k].type == to)
      leati_draw_attribute_int(d, "to", numbers[k].number);
  }
}

/* A scale for all elements of the input that is there, for each index of an axis, or for each block along it, and
 * perhaps a zero point of a type. */
static void draw_scales(leati_draw *d, uint64_t scale, uint64_t zero) {
  int64_t each[RANK];
  const leati_draw_tensor *const x = &d->inputs[0];
  const int64_t axis = draw_axis(d, x->rank), kind = leati_draw_int(d, 0, d->since_version >= 21 ? 2 : 1);
  const int32_t own = front(axis, x->rank);
  const int64_t block = leati_draw_int(d, 1, 5);
  memcpy(each, x->dims, sizeof each);
  each[own] = (x->dims[own] + block - 1) / block;
  const int64_t *const shape = kind == 2 ? each : x->dims + own;
  const int32_t rank = kind == 2 ? x->rank : kind == 1 ? 1 : 0;
  leati_draw_input(d, scale, rank, shape);
  if (leati_draw_chance(d, 60))
    leati_draw_input(d, zero, rank, shape);
  leati_draw_attribute_int(d, "axis", axis);
  if (kind == 2)
    leati_draw_attribute_int(d, "block_size", block);
}

/* Perhaps an attribute that names one of some types by ONNX's number. */
static void draw_number(leati_draw *d, const char *name, int64_t count, const int64_t *numbers) {
  if (leati_draw_chance(d, 30))
    leati_draw_attribute_int(d, name, numbers[leati_draw_int(d, 0, count - 1)]);
}

static const int64_t floats_of_onnx[] = {1, 10, 16};

static void dequantize(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  const uint64_t type = any_input(d, "T1", 1, RANK, &rank, dims)->type;
  draw_scales(d, leati_draw_type(d, "T2"), type);
  draw_number(d, "output_dtype", G_N_ELEMENTS(floats_of_onnx), floats_of_onnx);
}

static void quantize(leati_draw *d) {
  static const int64_t integers[] = {2, 3, 4, 5};
  int32_t rank;
  int64_t dims[RANK];
  const bool apart = d->since_version >= 23;
  leati_draw_tensor *const x = any_input(d, "T1", 1, RANK, &rank, dims);
  const uint64_t type = x->type;
  draw_scale(d, x);
  draw_scales(d, apart ? leati_draw_type(d, "T2") : type, leati_draw_type(d, apart ? "T3" : "T2"));
  draw_number(d, "precision", G_N_ELEMENTS(floats_of_onnx), floats_of_onnx);
  if (d->input_count < 3)
    draw_number(d, "output_dtype", G_N_ELEMENTS(integers), integers);
}

static void dynamic_quantize(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  leati_draw_tensor *const x = any_input(d, "T1", 0, RANK, &rank, dims);
  draw_scale(d, x);
  x->plain = true;
  d->output_count = 3;
}

static void cast_like(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  const uint64_t to = leati_draw_type(d, "T2");
  draw_scale(d, any_input(d, "T1", 0, RANK, &rank, dims));
  rank = draw_rank(d, 0, 3);
  leati_draw_dims(d, rank, dims);
  leati_draw_input(d, to, rank, dims);
}

/* Exponents for integers. Fractional ones are small: of a larger power the reference's double holds too few digits. */
static void draw_exponents(leati_draw *d, leati_draw_tensor *tensor) {
  for (int64_t k = 0; k < tensor->count; k++) {
    const int64_t kind = leati_draw_int(d, 0, is_float(tensor->type) ? 3 : 1);
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
  const int32_t rank = draw_rank(d, 0, RANK);
  int64_t dims[RANK];
  leati_draw_dims(d, rank, dims);
  const uint64_t type = leati_draw_type(d, "T");
  narrowed_input(d, type, rank, dims);
  leati_draw_tensor *b = narrowed_input(d, power ? leati_draw_type(d, "T1") : type, rank, dims);
  if (divides && !(d->faults && leati_draw_chance(d, 40)))
    draw_range(d, b, 1, 5);
  if (power && !is_float(type))
    draw_exponents(d, b);
  if (strcmp(d->info->name, "Mod") == 0)
    leati_draw_attribute_int(d, "fmod", is_float(type) ? 1 : leati_draw_int(d, 0, 1));
}

static void prelu(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  any_input(d, "T", 0, RANK, &rank, dims);
  narrowed_input(d, d->inputs[0].type, rank, dims);
}

static void variadic(leati_draw *d) {
  const int32_t rank = draw_rank(d, 0, RANK);
  const int64_t count = leati_draw_int(d, 1, 4);
  int64_t dims[RANK];
  leati_draw_dims(d, rank, dims);
  const uint64_t type = leati_draw_type(d, "T");
  for (int64_t k = 0; k < count; k++)
    narrowed_input(d, type, rank, dims);
}

static void clip(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  any_input(d, "T", 0, RANK, &rank, dims);
  for (int k = 0; k < 2; k++) {
    if (leati_draw_chance(d, 60)) {
      leati_draw_tensor *bound = leati_draw_input(d, d->inputs[0].type, 0, NULL);
      draw_range(d, bound, k == 0 ? 0 : 3, k == 0 ? 2 : 6);
    } else {
      leati_draw_absent(d);
    }
  }
}

static void where(leati_draw *d) {
  const int32_t rank = draw_rank(d, 0, RANK);
  int64_t dims[RANK];
  leati_draw_dims(d, rank, dims);
  const uint64_t type = leati_draw_type(d, "T");
  narrowed_input(d, LEAT_TYPE_BOOL, rank, dims);
  narrowed_input(d, type, rank, dims);
  narrowed_input(d, type, rank, dims);
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
  const int32_t rank = draw_rank(d, 0, RANK);
  const int64_t inputs = leati_draw_int(d, 1, 4);
  int64_t dims[RANK];
  leati_draw_dims(d, rank, dims);
  for (int64_t k = 0; k < inputs; k++)
    narrowed_input(d, LEAT_TYPE_FLOAT32, rank, dims);
  draw_program(d, inputs);
}

/* The same with operands and a result that may be bytes. */
static void quantized_pointwise(leati_draw *d) {
  const int32_t rank = draw_rank(d, 0, RANK), inputs = (int32_t)leati_draw_int(d, 1, 4);
  int64_t dims[RANK], zeros[LEAT_DRAW_RANK];
  double scales[LEAT_DRAW_RANK];
  leati_draw_dims(d, rank, dims);
  for (int32_t k = 0; k < inputs; k++) {
    const uint64_t type = leati_draw_type(d, "T1");
    narrowed_input(d, type, rank, dims);
    scales[k] = is_float(type) ? 0 : g_rand_double_range(d->rand, 0.01, 0.3);
    zeros[k] = is_float(type) ? 0 : leati_draw_int(d, 0, 9);
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

/* Elements of all that the type of bytes holds. */
static void draw_bytes(leati_draw *d, leati_draw_tensor *tensor) {
  const bool has_sign = tensor->type == LEAT_TYPE_INT8;
  draw_range(d, tensor, has_sign ? -128 : 0, has_sign ? 127 : 255);
}

/* A scale, and perhaps a zero point of a type. */
static void draw_scale_of_bytes(leati_draw *d, uint64_t type) {
  const int64_t one = 1;
  leati_draw_set(leati_draw_input(d, LEAT_TYPE_FLOAT32, (int32_t)leati_draw_int(d, 0, 1), &one), 0,
                 g_rand_double_range(d->rand, 0.01, 0.3));
  if (leati_draw_chance(d, 80)) {
    draw_bytes(d, leati_draw_input(d, type, (int32_t)leati_draw_int(d, 0, 1), &one));
  } else {
    leati_draw_absent(d);
  }
}

/* Operands of bytes, each with scale and zero point, and those of the result. */
static void qlinear(leati_draw *d) {
  const int32_t rank = draw_rank(d, 0, RANK);
  const uint64_t type = leati_draw_type(d, "T");
  int64_t dims[RANK];
  leati_draw_dims(d, rank, dims);
  for (uint32_t k = 0; k + 2 < d->info->max_inputs; k += 3) {
    draw_bytes(d, narrowed_input(d, type, rank, dims));
    draw_scale_of_bytes(d, type);
  }
  draw_scale_of_bytes(d, type);
  if (leati_draw_chance(d, 70))
    leati_draw_attribute_float(d, "alpha", g_rand_double_range(d->rand, -0.5, 1.5));
}

/* ---- Movement --------------------------------------------------------------------------------------------------- */

static void transpose(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  int64_t order[RANK];
  any_input(d, "T", 0, RANK, &rank, dims);
  for (int32_t k = 0; k < rank; k++)
    order[k] = k;
  for (int32_t k = rank - 1; k > 0; k--) {
    const int64_t other = leati_draw_int(d, 0, k);
    const int64_t held = order[k];
    order[k] = order[other];
    order[other] = held;
  }
  if (leati_draw_chance(d, 80))
    leati_draw_attribute_ints(d, "perm", rank, order);
}

static void expand(leati_draw *d) {
  const int32_t rank = draw_rank(d, 0, RANK);
  int64_t dims[RANK];
  leati_draw_dims(d, rank, dims);
  narrowed_input(d, leati_draw_type(d, "T"), rank, dims);
  for (int32_t k = 0; k < rank; k++)
    dims[k] = leati_draw_chance(d, 20) && dims[k] != 0 ? 1 : dims[k];
  leati_draw_list(d, LEAT_TYPE_INT64, rank, dims);
}

static void slice(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  int64_t axes[RANK];
  int64_t numbers[3][RANK]; /* starts, ends, steps */
  any_input(d, "T", 1, RANK, &rank, dims);
  const uint64_t type = leati_draw_type(d, "Tind");
  const bool listed = leati_draw_chance(d, 70);
  int32_t count = draw_axes(d, rank, axes);
  if (!listed) {
    for (int32_t k = 0; k < count; k++)
      axes[k] = k;
  }
  for (int32_t k = 0; k < count; k++) {
    const int64_t size = dims[front(axes[k], rank)];
    numbers[0][k] = leati_draw_int(d, -size - 1, size + 1);
    numbers[1][k] = leati_draw_int(d, -size - 1, size + 1);
    numbers[2][k] = leati_draw_int(d, 1, 3);
    if (listed && leati_draw_chance(d, 40))
      numbers[2][k] = -numbers[2][k];
    /* Models say "to the end" with the largest and smallest numbers that there are. */
    for (int n = 0; n < (listed ? 3 : 2); n++) {
      if (leati_draw_chance(d, 6))
        numbers[n][k] = type == LEAT_TYPE_INT32 ? (leati_draw_chance(d, 50) ? INT32_MIN : INT32_MAX)
                                                : (leati_draw_chance(d, 50) ? INT64_MIN : INT64_MAX);
    }
  }
  leati_draw_list(d, type, count, numbers[0]);
  leati_draw_list(d, type, count, numbers[1]);
  if (listed) {
    leati_draw_list(d, type, count, axes);
    leati_draw_list(d, type, count, numbers[2]);
  }
}

static void concat(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  any_input(d, "T", 1, RANK, &rank, dims);
  const int64_t axis = draw_axis(d, rank);
  for (int64_t k = leati_draw_int(d, 0, 4); k > 0; k--) {
    dims[front(axis, rank)] = leati_draw_int(d, 0, 4);
    leati_draw_input(d, d->inputs[0].type, rank, dims);
  }
  leati_draw_attribute_int(d, "axis", axis);
}

static void qlinear_concat(leati_draw *d) {
  const int32_t rank = draw_rank(d, 1, RANK);
  const int64_t axis = draw_axis(d, rank), one = 1;
  const uint64_t type = leati_draw_type(d, "T8");
  int64_t dims[RANK];
  leati_draw_dims(d, rank, dims);
  leati_draw_set(leati_draw_input(d, LEAT_TYPE_FLOAT32, 1, &one), 0, g_rand_double_range(d->rand, 0.01, 0.3));
  draw_bytes(d, leati_draw_input(d, type, 0, NULL));
  for (int64_t k = leati_draw_int(d, 1, 3); k > 0; k--) {
    dims[front(axis, rank)] = leati_draw_int(d, d->empty ? 0 : 1, 4);
    draw_bytes(d, leati_draw_input(d, type, rank, dims));
    draw_scale_of_bytes(d, type);
  }
  leati_draw_attribute_int(d, "axis", axis);
}

static void split(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  int64_t parts[LEAT_DRAW_OUTPUTS];
  rank = draw_rank(d, 1, RANK);
  leati_draw_dims(d, rank, dims);
  const int64_t axis = draw_axis(d, rank);
  const int32_t count = (int32_t)leati_draw_int(d, 1, 4);
  const bool listed = leati_draw_chance(d, 50);
  int64_t sum = 0;
  for (int32_t k = 0; k < count; k++) {
    parts[k] = listed ? leati_draw_int(d, d->empty ? 0 : 1, 4) : 2;
    sum += parts[k];
  }
  dims[front(axis, rank)] = sum;
  leati_draw_input(d, leati_draw_type(d, "T"), rank, dims);
  if (listed) {
    leati_draw_list(d, LEAT_TYPE_INT64, count, parts);
  } else if (d->since_version >= 18) {
    leati_draw_attribute_int(d, "num_outputs", count);
  }
  leati_draw_attribute_int(d, "axis", axis);
  d->output_count = (uint32_t)count;
}

static void pad(leati_draw *d) {
  static const char *const modes[] = {"constant", "edge", "reflect", "wrap"};
  int32_t rank;
  int64_t dims[RANK];
  int64_t axes[RANK];
  int64_t pads[2 * RANK];
  any_input(d, "T", 1, 4, &rank, dims);
  const int64_t mode = leati_draw_int(d, 0, d->since_version >= 19 ? 3 : 2);
  const bool listed = d->since_version >= 18 && leati_draw_chance(d, 30);
  const int32_t count = listed ? draw_axes(d, rank, axes) : rank;
  for (int32_t k = 0; k < count; k++) {
    int64_t left = dims[listed ? front(axes[k], rank) : k];
    /* What is taken off comes first; all modes but "constant" need something that is left. */
    for (int32_t side = k; side < 2 * count; side += count) {
      const int64_t most = mode == 0 ? left : left - 1;
      pads[side] = most > 0 && leati_draw_chance(d, 15) ? -leati_draw_int(d, 1, most < 3 ? most : 3) : 0;
      left += pads[side];
    }
    for (int32_t side = k; side < 2 * count; side += count) {
      const int64_t most = mode == 0 ? 3 : mode == 2 ? left - 1 : left;
      pads[side] += pads[side] < 0 ? 0 : leati_draw_int(d, 0, most < 3 ? most : 3);
    }
  }
  leati_draw_list(d, LEAT_TYPE_INT64, 2 * count, pads);
  if (leati_draw_chance(d, 50)) {
    leati_draw_input(d, d->inputs[0].type, 0, NULL);
  } else {
    leati_draw_absent(d);
  }
  if (listed)
    leati_draw_list(d, LEAT_TYPE_INT64, count, axes);
  if (mode != 0 || leati_draw_chance(d, 50))
    leati_draw_attribute_string(d, "mode", modes[mode]);
}

static void tile(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  int64_t repeats[RANK];
  any_input(d, "T", 0, RANK, &rank, dims);
  for (int32_t k = 0; k < rank; k++)
    repeats[k] = leati_draw_chance(d, 60) ? 1 : leati_draw_int(d, d->empty ? 0 : 1, 3);
  leati_draw_list(d, LEAT_TYPE_INT64, rank, repeats);
}

static void depth_space(leati_draw *d) {
  const int64_t block = leati_draw_int(d, 1, 3);
  const bool to_space = strcmp(d->info->name, "DepthToSpace") == 0;
  int64_t dims[4];
  for (int k = 0; k < 4; k++)
    dims[k] = leati_draw_int(d, d->empty ? 0 : 1, 3);
  dims[1] *= to_space ? block * block : 1;
  dims[2] *= to_space ? 1 : block;
  dims[3] *= to_space ? 1 : block;
  leati_draw_input(d, leati_draw_type(d, "T"), 4, dims);
  leati_draw_attribute_int(d, "blocksize", block);
  if (to_space && leati_draw_chance(d, 60))
    leati_draw_attribute_string(d, "mode", leati_draw_chance(d, 50) ? "CRD" : "DCR");
}

static void trilu(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  any_input(d, "T", 2, RANK, &rank, dims);
  if (leati_draw_chance(d, 60)) {
    const int64_t k = leati_draw_int(d, -4, 4);
    leati_draw_list(d, LEAT_TYPE_INT64, -1, &k);
  }
  if (leati_draw_chance(d, 60))
    leati_draw_attribute_int(d, "upper", leati_draw_int(d, 0, 1));
}

/* ---- The same bytes, and shapes --------------------------------------------------------------------------------- */

static void same(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  any_input(d, "T", 0, RANK, &rank, dims);
}

static void dropout(leati_draw *d) {
  same(d);
  d->output_count = (uint32_t)leati_draw_int(d, 1, 2);
  if (leati_draw_chance(d, 50)) {
    leati_draw_tensor *ratio = leati_draw_input(d, LEAT_TYPE_FLOAT32, 0, NULL);
    leati_draw_set(ratio, 0, 0.25);
    if (leati_draw_chance(d, 50)) {
      leati_draw_tensor *training = leati_draw_input(d, LEAT_TYPE_BOOL, 0, NULL);
      leati_draw_set(training, 0, 0);
      training->constant = true;
    }
  }
}

static void reshape(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  int64_t shape[RANK];
  any_input(d, "T", 0, RANK, &rank, dims);
  const bool zero = leati_draw_count(rank, dims) == 0;
  int32_t count = 0;
  /* Joins neighbours, or keeps them; one of what comes out may be left to be found. */
  for (int32_t k = 0; k < rank; k++) {
    if (count > 0 && leati_draw_chance(d, 40)) {
      shape[count - 1] *= dims[k];
    } else {
      shape[count++] = dims[k];
    }
  }
  if (count > 0 && !zero && leati_draw_chance(d, 40))
    shape[leati_draw_int(d, 0, count - 1)] = -1;
  if (d->since_version >= 14)
    leati_draw_attribute_int(d, "allowzero", 1);
  if (zero && d->since_version < 14) {
    /* A zero copies the dimension of the input. */
    count = rank;
    memcpy(shape, dims, sizeof shape);
  }
  leati_draw_list(d, LEAT_TYPE_INT64, count, shape);
}

static void flatten(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  any_input(d, "T", 0, RANK, &rank, dims);
  /* One behind the last is an axis here. */
  const int64_t axis = leati_draw_int(d, d->since_version >= 11 ? -rank : 0, rank);
  if (rank == 0 || leati_draw_chance(d, 80))
    leati_draw_attribute_int(d, "axis", rank == 0 ? 0 : axis);
}

static void squeeze(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  int64_t axes[RANK];
  rank = draw_rank(d, 0, RANK);
  leati_draw_dims(d, rank, dims);
  const int32_t count = draw_axes(d, rank, axes);
  const bool listed = leati_draw_chance(d, 70);
  for (int32_t k = 0; k < count; k++)
    dims[front(axes[k], rank)] = 1;
  leati_draw_input(d, leati_draw_type(d, "T"), rank, dims);
  if (listed)
    leati_draw_list(d, LEAT_TYPE_INT64, count, axes);
}

static void unsqueeze(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  int64_t axes[RANK];
  any_input(d, "T", 0, 5, &rank, dims);
  const int32_t count = (int32_t)leati_draw_int(d, 0, RANK - rank > 3 ? 3 : RANK - rank);
  for (int32_t k = 0; k < count; k++)
    axes[k] = leati_draw_chance(d, 50) ? k * 2 : k * 2 - rank - count;
  /* Every second one may be too many for a small tensor. */
  for (int32_t k = 0; k < count; k++) {
    if (2 * (count - 1) >= rank + count)
      axes[k] = k;
  }
  leati_draw_list(d, LEAT_TYPE_INT64, count, axes);
}

static void shape_of(leati_draw *d) {
  same(d);
  if (leati_draw_chance(d, 50))
    leati_draw_attribute_int(d, "start", leati_draw_int(d, -9, 9));
  if (leati_draw_chance(d, 50))
    leati_draw_attribute_int(d, "end", leati_draw_int(d, -9, 9));
}

static void constant_of_shape(leati_draw *d) {
  static int64_t one[1] = {1};
  const int32_t rank = draw_rank(d, 0, RANK);
  int64_t dims[RANK];
  leati_draw_dims(d, rank, dims);
  leati_draw_list(d, LEAT_TYPE_INT64, rank, dims);
  if (leati_draw_chance(d, 80)) {
    leati_draw_tensor *kept = leati_draw_input(d, leati_draw_type(d, "T2"), 1, one);
    d->value = *kept;
    memset(kept, 0, sizeof *kept);
    d->input_count--;
    d->value_view = (DLTensor){.data = d->value.bytes,
                               .device = {kDLCPU, 0},
                               .ndim = 1,
                               .dtype = leati_draw_dlpack(d->value.type),
                               .shape = d->value.dims};
    leati_draw_attribute_tensor(d, "value", &d->value_view);
  }
}

static void range(leati_draw *d) {
  const uint64_t type = leati_draw_type(d, "T");
  const bool backwards = leati_draw_chance(d, 40);
  const int64_t start = leati_draw_int(d, -20, 20);
  const int64_t limit = start + leati_draw_int(d, -5, 40) * (backwards ? -1 : 1);
  const int64_t delta = leati_draw_int(d, 1, 4) * (backwards ? -1 : 1);
  const int64_t numbers[3] = {start, limit, delta};
  for (int k = 0; k < 3; k++) {
    leati_draw_tensor *scalar = leati_draw_input(d, type, 0, NULL);
    leati_draw_set(scalar, 0, (double)numbers[k]);
  }
}

/* ---- Indices ---------------------------------------------------------------------------------------------------- */

/* Has some indices into dimensions of sizes point out of range; one after the other stands for each dimension. */
static void draw_strays(leati_draw *d, leati_draw_tensor *indices, int32_t sizes, const int64_t *size) {
  /* The last three are 0 in 32 bits. */
  const int64_t last = indices->type == LEAT_TYPE_INT64 ? 7 : 4;
  for (int64_t k = 0; k < indices->count; k++) {
    const int64_t n = size[k % sizes];
    const int64_t strays[] = {n, -n - 1, n + 5, INT32_MAX, INT32_MIN, INT64_C(1) << 32, INT64_C(1) << 62, INT64_MIN};
    if (leati_draw_chance(d, 20))
      leati_draw_set(indices, k, (double)strays[leati_draw_int(d, 0, last)]);
  }
}

/* Indices into a dimension, counted from the front or the back. */
static void draw_indices(leati_draw *d, leati_draw_tensor *indices, int64_t size, bool stray) {
  draw_range(d, indices, -size, size - 1);
  if (stray)
    draw_strays(d, indices, 1, &size);
}

static bool draw_stray(leati_draw *d) {
  return d->faults && leati_draw_chance(d, 20);
}

static void gather(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  int64_t shape[RANK];
  any_input(d, "T", 1, 5, &rank, dims);
  const int64_t axis = draw_axis(d, rank);
  const int64_t size = dims[front(axis, rank)];
  const bool stray = draw_stray(d);
  const bool nothing = size == 0 && !stray;
  int32_t more = draw_rank(d, 0, 3);
  for (int32_t k = 0; k < more; k++)
    shape[k] = nothing ? 0 : leati_draw_int(d, d->empty ? 0 : 1, 3);
  if (more == 0 && nothing)
    shape[more++] = 0;
  draw_indices(d, leati_draw_input(d, leati_draw_type(d, "Tind"), more, shape), size, stray);
  leati_draw_attribute_int(d, "axis", axis);
}

static void gather_elements(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  any_input(d, "T", 1, RANK, &rank, dims);
  const int64_t axis = draw_axis(d, rank);
  const int64_t size = dims[front(axis, rank)];
  for (int32_t k = 0; k < rank; k++)
    dims[k] = k == front(axis, rank) && size > 0 ? leati_draw_int(d, 1, 6)
              : leati_draw_int(d, 0, 1)          ? dims[k]
                                                 : dims[k] > 0;
  draw_indices(d, leati_draw_input(d, leati_draw_type(d, "Tind"), rank, dims), size, draw_stray(d));
  leati_draw_attribute_int(d, "axis", axis);
}

static void draw_reduction(leati_draw *d) {
  static const char *const names[] = {"none", "add", "mul", "min", "max"};
  if (leati_draw_chance(d, 60))
    leati_draw_attribute_string(d, "reduction",
                                names[leati_draw_int(d, 0,
                                                     d->since_version >= 18   ? 4
                                                     : d->since_version >= 16 ? 2
                                                                              : 0)]);
}

static void scatter_elements(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  int64_t shape[RANK];
  any_input(d, "T", 1, 5, &rank, dims);
  const int64_t axis = draw_axis(d, rank);
  const int64_t size = dims[front(axis, rank)];
  for (int32_t k = 0; k < rank; k++)
    shape[k] = leati_draw_int(d, dims[k] > 0 && !d->empty ? 1 : 0, dims[k]);
  leati_draw_tensor *indices = leati_draw_input(d, leati_draw_type(d, "Tind"), rank, shape);
  /* No place twice: along the axis the indices count up from anywhere. */
  const int64_t begin = leati_draw_int(d, 0, size - 1);
  for (int64_t k = 0; k < indices->count; k++) {
    int64_t index[RANK];
    leati_ref_unravel(rank, shape, k, index);
    leati_draw_set(indices, k, (double)((index[front(axis, rank)] + begin) % size));
  }
  if (draw_stray(d))
    draw_strays(d, indices, 1, &size);
  leati_draw_input(d, d->inputs[0].type, rank, shape);
  leati_draw_attribute_int(d, "axis", axis);
  draw_reduction(d);
}

/* Tuples that say where in `rank` dimensions; distinct ones if asked for. */
static void draw_tuples(leati_draw *d, leati_draw_tensor *indices, int32_t tuple, const int64_t *dims, bool distinct) {
  const int64_t places = leati_draw_count(tuple, dims);
  const int64_t begin = leati_draw_int(d, 0, places - 1);
  for (int64_t k = 0; tuple > 0 && k < indices->count / tuple; k++) {
    int64_t index[RANK];
    leati_ref_unravel(tuple, dims, distinct ? (begin + k) % places : leati_draw_int(d, 0, places - 1), index);
    for (int32_t t = 0; t < tuple; t++)
      leati_draw_set(indices, k * tuple + t, (double)(index[t] - (leati_draw_chance(d, 30) ? dims[t] : 0)));
  }
  if (tuple > 0 && draw_stray(d))
    draw_strays(d, indices, tuple, dims);
}

static void gather_nd(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  int64_t shape[RANK];
  any_input(d, "T", 1, 5, &rank, dims);
  const int32_t batch =
      d->since_version >= 12 && leati_draw_chance(d, 40) ? (int32_t)leati_draw_int(d, 0, rank - 1) : 0;
  const int32_t tuple = (int32_t)leati_draw_int(d, 1, rank - batch);
  const bool nothing = leati_draw_count(tuple, dims + batch) == 0;
  int32_t count = 0;
  for (; count < batch; count++)
    shape[count] = dims[count];
  if (nothing || leati_draw_chance(d, 70))
    shape[count++] = nothing ? 0 : leati_draw_int(d, d->empty ? 0 : 1, 5);
  shape[count++] = tuple;
  draw_tuples(d, leati_draw_input(d, LEAT_TYPE_INT64, count, shape), tuple, dims + batch, false);
  leati_draw_attribute_int(d, "batch_dims", batch);
}

static void scatter_nd(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  int64_t shape[RANK];
  any_input(d, "T", 1, 5, &rank, dims);
  const int32_t tuple = (int32_t)leati_draw_int(d, 1, rank);
  const int64_t places = leati_draw_count(tuple, dims);
  shape[0] = leati_draw_int(d, places > 0 && !d->empty ? 1 : 0, places < 6 ? places : 6);
  shape[1] = tuple;
  draw_tuples(d, leati_draw_input(d, LEAT_TYPE_INT64, 2, shape), tuple, dims, true);
  for (int32_t k = tuple; k < rank; k++)
    shape[1 + k - tuple] = dims[k];
  leati_draw_input(d, d->inputs[0].type, 1 + rank - tuple, shape);
  draw_reduction(d);
}

static void tensor_scatter(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  any_input(d, "T", 2, 5, &rank, dims);
  /* Not that of the batches. */
  const int64_t at = leati_draw_int(d, 1, rank - 1), size = dims[at], batches = dims[0];
  dims[at] = leati_draw_int(d, 0, size);
  leati_draw_input(d, d->inputs[0].type, rank, dims);
  if (leati_draw_chance(d, 80)) {
    leati_draw_tensor *places = leati_draw_input(d, LEAT_TYPE_INT64, 1, &batches);
    for (int64_t k = 0; k < places->count; k++)
      leati_draw_set(places, k, (double)leati_draw_int(d, 0, size - dims[at]));
    if (draw_stray(d))
      draw_strays(d, places, 1, &size);
  }
  if (at != rank - 2 || leati_draw_chance(d, 50))
    leati_draw_attribute_int(d, "axis", at - (leati_draw_chance(d, 50) ? rank : 0));
  if (leati_draw_chance(d, 60))
    leati_draw_attribute_string(d, "mode", leati_draw_chance(d, 50) ? "circular" : "linear");
}

static void cum_sum(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  any_input(d, "T", 1, RANK, &rank, dims);
  const int64_t axis = draw_axis(d, rank);
  leati_draw_list(d, leati_draw_type(d, "T2"), -1, &axis);
  leati_draw_attribute_int(d, "exclusive", leati_draw_int(d, 0, 1));
  leati_draw_attribute_int(d, "reverse", leati_draw_int(d, 0, 1));
}

static void top_k(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  leati_draw_tensor *x = any_input(d, "T", 1, RANK, &rank, dims);
  const int64_t axis = draw_axis(d, rank);
  const int64_t size = dims[axis < 0 ? axis + rank : axis], most = size > 0 ? size : 0;
  const int64_t k[1] = {leati_draw_int(d, d->empty ? 0 : most > 0, most)};
  leati_draw_list(d, LEAT_TYPE_INT64, 1, k);
  /* Equal ones. */
  const bool few = leati_draw_chance(d, 40);
  for (int64_t i = 0; few && i < x->count; i++)
    leati_draw_set(x, i, (double)leati_draw_int(d, 0, 2));
  if (axis != -1 || leati_draw_chance(d, 50))
    leati_draw_attribute_int(d, "axis", axis);
  if (leati_draw_chance(d, 60))
    leati_draw_attribute_int(d, "largest", leati_draw_int(d, 0, 1));
  /* Several come in any order if they need not be sorted. */
  if (leati_draw_chance(d, 30))
    leati_draw_attribute_int(d, "sorted", leati_draw_int(d, k[0] > 1, 1));
  d->output_count = 2;
}

/* ---- Reductions ------------------------------------------------------------------------------------------------- */

static void reduce(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  int64_t axes[RANK];
  leati_draw_tensor *x = any_input(d, "T", 0, RANK, &rank, dims);
  /* A long product may come to 0 before it meets an infinity, or after. */
  x->plain = strcmp(d->info->name, "ReduceProd") == 0 && x->count > 30;
  const int32_t count = draw_axes(d, rank, axes);
  if (leati_draw_chance(d, 70)) {
    if (d->info->max_inputs > 1) {
      leati_draw_list(d, LEAT_TYPE_INT64, count, axes);
    } else if (count > 0) {
      leati_draw_attribute_ints(d, "axes", count, axes);
    }
  }
  if (leati_draw_chance(d, 60))
    leati_draw_attribute_int(d, "keepdims", leati_draw_int(d, 0, 1));
  if (leati_draw_chance(d, 40))
    leati_draw_attribute_int(d, "noop_with_empty_axes", leati_draw_int(d, 0, 1));
}

static void arg_reduce(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  any_input(d, "T", 1, RANK, &rank, dims);
  if (leati_draw_chance(d, 80))
    leati_draw_attribute_int(d, "axis", draw_axis(d, rank));
  if (leati_draw_chance(d, 60))
    leati_draw_attribute_int(d, "keepdims", leati_draw_int(d, 0, 1));
  if (d->since_version >= 12 && leati_draw_chance(d, 60))
    leati_draw_attribute_int(d, "select_last_index", leati_draw_int(d, 0, 1));
}

/* ---- Normalisation ---------------------------------------------------------------------------------------------- */

static void softmax(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  any_input(d, "T", 1, RANK, &rank, dims);
  if (leati_draw_chance(d, 80))
    leati_draw_attribute_int(d, "axis", draw_axis(d, rank));
}

/* Gives the input, of bytes, all that they hold, and adds its scale and zero point and those of the result. */
static void make_bytes(leati_draw *d) {
  draw_bytes(d, &d->inputs[0]);
  draw_scale_of_bytes(d, d->inputs[0].type);
  draw_scale_of_bytes(d, d->inputs[0].type);
}

static void qlinear_softmax(leati_draw *d) {
  softmax(d);
  make_bytes(d);
  leati_draw_attribute_int(d, "opset", leati_draw_int(d, 12, 15));
}

static void draw_epsilon(leati_draw *d) {
  /* Not too small, or what the variance of equal elements is off by shows. */
  leati_draw_attribute_float(d, "epsilon", leati_draw_chance(d, 50) ? 1e-3 : 1e-2);
}

/* The scale of a norm. Where a number is as large as the mean, rounding decides what an infinite one makes of it. */
static void draw_gain(leati_draw *d, uint64_t type, int32_t rank, const int64_t *dims) {
  leati_draw_input(d, type, rank, dims)->plain = true;
}

static void layer_norm(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  any_input(d, "T", 1, RANK, &rank, dims);
  const int64_t axis = draw_axis(d, rank);
  const int32_t first = front(axis, rank);
  const uint64_t type = d->inputs[0].type;
  draw_gain(d, type, rank - first, dims + first);
  if (d->info->max_inputs > 2 && leati_draw_chance(d, 60))
    leati_draw_input(d, type, rank - first, dims + first);
  leati_draw_attribute_int(d, "axis", axis);
  draw_epsilon(d);
  d->output_count = (uint32_t)leati_draw_int(d, 1, d->info->max_outputs);
}

static void skip_layer_norm(leati_draw *d) {
  int64_t dims[3];
  const int32_t rank = draw_rank(d, 2, 3);
  leati_draw_dims(d, rank, dims);
  const uint64_t type = leati_draw_type(d, "T");
  const int32_t cut = leati_draw_chance(d, 30) ? rank - 2 : 0;
  leati_draw_input(d, type, rank, dims);
  leati_draw_input(d, type, rank - cut, dims + cut);
  draw_gain(d, type, 1, dims + rank - 1);
  for (uint32_t k = 3; k < d->info->max_inputs; k++) {
    if (leati_draw_chance(d, 60)) {
      leati_draw_input(d, type, 1, dims + rank - 1);
    } else {
      leati_draw_absent(d);
    }
  }
  draw_epsilon(d);
  d->output_count = (uint32_t)leati_draw_int(d, 1, d->info->max_outputs);
}

static void channel_norm(leati_draw *d) {
  const bool grouped = strcmp(d->info->name, "GroupNormalization") == 0;
  const bool batch = strcmp(d->info->name, "BatchNormalization") == 0;
  const int32_t rank = draw_rank(d, batch ? 2 : 3, 5);
  const int64_t groups = leati_draw_int(d, 1, 3);
  int64_t dims[RANK];
  leati_draw_dims(d, rank, dims);
  if (grouped) {
    dims[1] = groups * leati_draw_int(d, 1, 3);
    leati_draw_attribute_int(d, "num_groups", groups);
  }
  const uint64_t type = leati_draw_type(d, "T");
  leati_draw_input(d, type, rank, dims);
  draw_gain(d, type, 1, grouped && d->since_version < 21 ? &groups : &dims[1]);
  for (int k = 1; k < (batch ? 4 : 2); k++) {
    leati_draw_tensor *parameter = leati_draw_input(d, type, 1, grouped && d->since_version < 21 ? &groups : &dims[1]);
    if (k == 3) {
      /* No variance is negative. */
      draw_range(d, parameter, 1, 3);
      parameter->plain = true;
    }
  }
  draw_epsilon(d);
}

/* ---- Products --------------------------------------------------------------------------------------------------- */

/* The shapes of two matrices, or stacks of them, that can be multiplied. */
/* The activation of a fused operator, with none, some or all of its parameters. */
/* An activation as attribute `name`, with some of its parameters in a list. */
static void named_activation(leati_draw *d, const char *name, const char *list) {
  static const struct {
    const char *name;
    int32_t parameters;
  } choices[] = {{"", 0},          {"Relu", 0},    {"Clip", 2}, {"LeakyRelu", 1}, {"HardSigmoid", 2},
                 {"HardSwish", 0}, {"Sigmoid", 0}, {"Tanh", 0}, {"Gelu", 0},      {"FastGelu", 0},
                 {"QuickGelu", 1}, {"Swish", 1},   {"Mish", 0}, {"Softplus", 0},  {"Softsign", 0},
                 {"Elu", 1},       {"Selu", 2},    {"Celu", 1}, {"Shrink", 2},    {"ThresholdedRelu", 1}};
  /* A driver may compile each with each operator anew, and each has cases of its own: often it is one of few. */
  const int64_t choice = leati_draw_int(d, 0, leati_draw_chance(d, 70) ? 2 : G_N_ELEMENTS(choices) - 1);
  const double values[2] = {g_rand_double_range(d->rand, 0.1, 2), g_rand_double_range(d->rand, 0.1, 2)};
  leati_draw_attribute_string(d, name, choices[choice].name);
  if (leati_draw_chance(d, 60))
    leati_draw_attribute_floats(d, list, (int32_t)leati_draw_int(d, 0, choices[choice].parameters), values);
}

/* That of fused operators, and a residual's place. */
static void activation(leati_draw *d) {
  static const char *const alone[] = {"activation_alpha", "activation_beta", "activation_gamma"};
  named_activation(d, "activation", "activation_params");
  for (size_t k = 0; k < G_N_ELEMENTS(alone); k++) {
    if (leati_draw_chance(d, 50))
      leati_draw_attribute_float(d, alone[k], g_rand_double_range(d->rand, 0.1, 2));
  }
  leati_draw_attribute_int(d, "residual_first", leati_draw_int(d, 0, 1));
}

/* A factor of a product's first operand, of one row or of all, behind inputs up to number `place`; with an epsilon its
 * rows are normalised first. */
static void factor(leati_draw *d, uint32_t place) {
  const int32_t rank = d->inputs[0].rank;
  const bool norm = leati_draw_chance(d, 50), row = norm || leati_draw_chance(d, 50);
  while (d->input_count < place)
    leati_draw_absent(d);
  leati_draw_input(d, d->inputs[0].type, row ? 1 : rank, d->inputs[0].dims + (row ? rank - 1 : 0));
  d->rounded = d->inputs[0].type != LEAT_TYPE_FLOAT32;
  if (norm)
    leati_draw_attribute_float(d, "epsilon", g_rand_double_range(d->rand, 0.01, 1));
}

static void matmul(leati_draw *d) {
  const bool fused = strcmp(d->info->name, "FusedMatMul") == 0;
  const uint64_t type = leati_draw_type(d, "T");
  const int64_t inner = leati_draw_int(d, d->empty ? 0 : 1, 20);
  const int64_t rows = leati_draw_int(d, d->empty ? 0 : 1, 9);
  const int64_t columns = leati_draw_int(d, d->empty ? 0 : 1, 9);
  const bool turn_a = fused && leati_draw_chance(d, 40);
  const bool turn_b = fused && leati_draw_chance(d, 40);
  const int32_t batch = draw_rank(d, 0, 3);
  int64_t stack[RANK];
  int64_t dims[RANK];
  for (int32_t k = 0; k < batch; k++)
    stack[k] = leati_draw_int(d, d->empty ? 0 : 1, 3);
  for (int side = 0; side < 2; side++) {
    int32_t rank = 0;
    if (!fused && leati_draw_chance(d, 10)) {
      dims[rank++] = inner;
    } else {
      rank = narrowed(d, batch, stack, dims);
      const bool turned = side == 0 ? turn_a : turn_b;
      const int64_t two[2] = {side == 0 ? rows : inner, side == 0 ? inner : columns};
      dims[rank++] = two[turned ? 1 : 0];
      dims[rank++] = two[turned ? 0 : 1];
    }
    leati_draw_input(d, type, rank, dims);
  }
  leati_draw_attribute_int(d, "transA", turn_a);
  leati_draw_attribute_int(d, "transB", turn_b);
  if (leati_draw_chance(d, 50))
    leati_draw_attribute_float(d, "alpha", g_rand_double_range(d->rand, -2, 2));
  if (d->info->max_inputs < 4)
    return;
  if (leati_draw_chance(d, 70)) {
    leati_draw_input(d, type, 1, &columns);
  } else {
    leati_draw_absent(d);
  }
  /* Both operands may have had fewer of the batch dimensions: what fits is asked of their shapes. */
  if (leati_draw_chance(d, 70)) {
    int64_t result[RANK] = {0};
    int32_t most = 2;
    for (int side = 0; side < 2; side++)
      most = d->inputs[side].rank > most ? d->inputs[side].rank : most;
    for (int32_t k = 0; k < most - 2; k++) {
      result[k] = 1;
      for (int side = 0; side < 2; side++) {
        const int32_t at = k - (most - d->inputs[side].rank);
        if (at >= 0 && d->inputs[side].dims[at] != 1)
          result[k] = d->inputs[side].dims[at];
      }
    }
    result[most - 2] = rows;
    result[most - 1] = columns;
    if (leati_draw_chance(d, 20)) {
      /* Another shape of as many elements. */
      int64_t all[2] = {1, 1};
      for (int32_t k = 0; k < most; k++)
        all[k == 0 ? 0 : 1] *= result[k];
      leati_draw_input(d, type, 2, all);
      leati_draw_attribute_ints(d, "shape", 2, all);
    } else {
      narrowed_input(d, type, most, result);
    }
  }
  activation(d);
  if (!turn_a && d->inputs[1].rank == 2 && leati_draw_chance(d, 50))
    factor(d, 4);
}

/* Terms of a few letters, some of them there twice, some in the result, and an ellipsis. Where an operand is summed up
 * before it is multiplied, what lies between is rounded, and infinities may meet other numbers. */
static void einsum(leati_draw *d) {
  static const char letters[] = {'a', 'b', 'Q', 'z', 'B'};
  enum { LETTERS = sizeof letters };
  const int64_t least = d->empty ? 0 : 1;
  const uint64_t type = leati_draw_type(d, "T");
  const int64_t operands = leati_draw_chance(d, 60) ? 2 : leati_draw_int(d, 1, 3);
  const int64_t dotted = leati_draw_chance(d, 30) ? leati_draw_int(d, 1, (1 << operands) - 1) : 0;
  const int32_t dots = (int32_t)leati_draw_int(d, 0, 2);
  int64_t sizes[LETTERS], stack[2], dims[RANK];
  bool seen[LETTERS] = {false};
  char *text = d->text;
  for (int k = 0; k < LETTERS; k++)
    sizes[k] = leati_draw_int(d, least, leati_draw_chance(d, 10) ? 30 : 5);
  for (int k = 0; k < 2; k++)
    stack[k] = leati_draw_int(d, least, 3);
  for (int64_t i = 0; i < operands; i++) {
    const int64_t count = leati_draw_int(d, 0, 4), place = leati_draw_int(d, 0, count);
    const int64_t one = leati_draw_chance(d, 10) ? leati_draw_int(d, 0, LETTERS - 1) : -1;
    int32_t rank = 0;
    if (i > 0)
      *text++ = ',';
    for (int64_t k = 0; k <= count; k++) {
      if (k == place && (dotted >> i & 1) != 0) {
        text = g_stpcpy(text, "...");
        rank += narrowed(d, dots, stack, dims + rank);
      }
      if (k < count) {
        const int64_t letter = leati_draw_int(d, 0, LETTERS - 1);
        *text++ = letters[letter];
        seen[letter] = true;
        dims[rank++] = letter == one ? 1 : sizes[letter];
      }
    }
    leati_draw_input(d, type, rank, dims)->plain = operands > 1;
  }
  if (leati_draw_chance(d, 75)) {
    text = g_stpcpy(text, leati_draw_chance(d, 20) ? " -> " : "->");
    const int64_t first = leati_draw_int(d, 0, LETTERS - 1), place = leati_draw_int(d, 0, LETTERS);
    for (int64_t k = 0; k <= LETTERS; k++) {
      if (k == place && dotted != 0)
        text = g_stpcpy(text, "...");
      if (k < LETTERS && seen[(first + k) % LETTERS] && leati_draw_chance(d, 60))
        *text++ = letters[(first + k) % LETTERS];
    }
  }
  *text = '\0';
  leati_draw_attribute_string(d, "equation", d->text);
  d->rounded = operands > 1 && type != LEAT_TYPE_FLOAT32;
}

static void multi_matmul(leati_draw *d) {
  const uint64_t type = leati_draw_type(d, "T");
  const int64_t inner = leati_draw_int(d, d->empty ? 0 : 1, 20);
  const int64_t count = leati_draw_int(d, 2, 3);
  const bool turn = leati_draw_chance(d, 40);
  int64_t dims[RANK], columns[3], activated[3];
  const int32_t rank = draw_rank(d, 1, 4);
  for (int32_t k = 0; k < rank; k++)
    dims[k] = k == rank - 1 ? inner : leati_draw_int(d, d->empty ? 0 : 1, leati_draw_chance(d, 40) ? 20 : 3);
  leati_draw_input(d, type, rank, dims);
  for (int64_t p = 0; p < 3; p++) {
    columns[p] = leati_draw_int(d, d->empty ? 0 : 1, leati_draw_chance(d, 40) ? 40 : 9);
    activated[p] = leati_draw_int(d, 0, 1);
    if (p < count) {
      leati_draw_input(d, type, 2, (const int64_t[2]){turn ? columns[p] : inner, turn ? inner : columns[p]});
    } else {
      leati_draw_absent(d);
    }
  }
  for (int64_t p = 0; p < count; p++) {
    if (leati_draw_chance(d, 60)) {
      leati_draw_input(d, type, 1, &columns[p]);
    } else {
      leati_draw_absent(d);
    }
  }
  d->output_count = (uint32_t)count;
  leati_draw_attribute_int(d, "transB", turn);
  if (leati_draw_chance(d, 60))
    leati_draw_attribute_ints(d, "activated", (int32_t)leati_draw_int(d, 0, count), activated);
  if (leati_draw_chance(d, 50))
    leati_draw_attribute_float(d, "alpha", g_rand_double_range(d->rand, -2, 2));
  activation(d);
  if (leati_draw_chance(d, 40))
    factor(d, 7);
}

static void gemm(leati_draw *d) {
  const uint64_t type = leati_draw_type(d, "T");
  int64_t sizes[3]; /* rows, inner, columns */
  for (int k = 0; k < 3; k++)
    sizes[k] = leati_draw_int(d, d->empty ? 0 : 1, 20);
  const bool turn_a = leati_draw_chance(d, 40);
  const bool turn_b = leati_draw_chance(d, 40);
  leati_draw_input(d, type, 2, (const int64_t[2]){sizes[turn_a ? 1 : 0], sizes[turn_a ? 0 : 1]});
  leati_draw_input(d, type, 2, (const int64_t[2]){sizes[turn_b ? 2 : 1], sizes[turn_b ? 1 : 2]});
  if (leati_draw_chance(d, 60))
    narrowed_input(d, type, 2, (const int64_t[2]){sizes[0], sizes[2]});
  leati_draw_attribute_int(d, "transA", turn_a);
  leati_draw_attribute_int(d, "transB", turn_b);
  if (leati_draw_chance(d, 50))
    leati_draw_attribute_float(d, "alpha", g_rand_double_range(d->rand, -2, 2));
  if (leati_draw_chance(d, 50))
    leati_draw_attribute_float(d, "beta", g_rand_double_range(d->rand, -2, 2));
  activation(d);
}

static void matmul_nbits(leati_draw *d) {
  const uint64_t type = leati_draw_type(d, "T1");
  const int64_t bits = leati_draw_chance(d, 50) ? 4 : 8, size = INT64_C(16) << leati_draw_int(d, 0, 4);
  const int64_t k = leati_draw_int(d, 1, leati_draw_chance(d, 30) ? 600 : 40), n = leati_draw_int(d, 1, 9);
  const int64_t blocks = (k + size - 1) / size, flat = leati_draw_int(d, 0, 1);
  int64_t dims[RANK];
  const int32_t rank = draw_rank(d, 1, 4);
  for (int32_t at = 0; at < rank; at++)
    dims[at] = at == rank - 1 ? k : leati_draw_int(d, d->empty ? 0 : 1, leati_draw_chance(d, 40) ? 9 : 3);
  leati_draw_input(d, type, rank, dims);
  draw_range(d, leati_draw_input(d, LEAT_TYPE_UINT8, 3, (const int64_t[3]){n, blocks, size * bits / 8}), 0, 255);
  /* Lists of a number for each block of each column, or for several of them. */
  const int64_t bytes = (blocks * bits + 7) / 8;
  const int64_t by_block[3] = {n, blocks, n * blocks}, by_byte[3] = {n, bytes, n * bytes};
  leati_draw_input(d, type, flat ? 1 : 2, flat ? by_block + 2 : by_block);
  const int64_t zeros = leati_draw_int(d, 0, 2);
  if (zeros == 0) {
    draw_range(d, leati_draw_input(d, LEAT_TYPE_UINT8, flat ? 1 : 2, flat ? by_byte + 2 : by_byte), 0, 255);
  } else if (zeros == 1) {
    leati_draw_input(d, type, flat ? 1 : 2, flat ? by_block + 2 : by_block);
  } else {
    leati_draw_absent(d);
  }
  /* Whose scale each k has, of those blocks that there are and one more on both sides. */
  if (leati_draw_chance(d, 30)) {
    const int64_t indexed = leati_draw_chance(d, 50) ? k : blocks * size;
    draw_range(d, leati_draw_input(d, LEAT_TYPE_INT32, 1, &indexed), -1, blocks);
  } else {
    leati_draw_absent(d);
  }
  if (leati_draw_chance(d, 50))
    leati_draw_input(d, type, 1, &n);
  leati_draw_attribute_int(d, "K", k);
  leati_draw_attribute_int(d, "N", n);
  leati_draw_attribute_int(d, "block_size", size);
  if (bits != 4 || leati_draw_chance(d, 50))
    leati_draw_attribute_int(d, "bits", bits);
}

/* The dimensions of a scale or zero point of an operand. */
static int32_t draw_place(leati_draw *d, const leati_draw_tensor *operand, bool rows, int64_t *dims) {
  const int32_t rank = operand->rank;
  const int64_t kind = rank < 2 ? 0 : leati_draw_int(d, 0, 2);
  dims[0] = 1;
  if (kind == 0)
    return leati_draw_chance(d, 50) ? 1 : 0;
  if (kind == 1) {
    dims[0] = operand->dims[rank - (rows ? 2 : 1)];
    return 1;
  }
  memcpy(dims, operand->dims, sizeof dims[0] * (size_t)rank);
  dims[rank - (rows ? 1 : 2)] = 1;
  return rank;
}

static void qgemm(leati_draw *d) {
  const int64_t rows = leati_draw_int(d, d->empty ? 0 : 1, 9), inner = leati_draw_int(d, 1, 20);
  const int64_t columns = leati_draw_int(d, 1, 12), each = leati_draw_chance(d, 50) ? columns : 1;
  const bool turned = leati_draw_chance(d, 60);
  const uint64_t a = leati_draw_type(d, "TA"), b = leati_draw_type(d, "TB");
  draw_bytes(d, leati_draw_input(d, a, 2, (const int64_t[]){rows, inner}));
  leati_draw_set(leati_draw_input(d, LEAT_TYPE_FLOAT32, 0, NULL), 0, g_rand_double_range(d->rand, 0.01, 0.1));
  draw_bytes(d, leati_draw_input(d, a, 0, NULL));
  draw_bytes(d,
             leati_draw_input(d, b, 2, turned ? (const int64_t[]){columns, inner} : (const int64_t[]){inner, columns}));
  leati_draw_input(d, LEAT_TYPE_FLOAT32, 1, &each);
  draw_bytes(d, leati_draw_input(d, b, 1, &each));
  if (leati_draw_chance(d, 70)) {
    draw_range(d, leati_draw_input(d, LEAT_TYPE_INT32, 1, &columns), -20000, 20000);
  } else {
    leati_draw_absent(d);
  }
  leati_draw_set(leati_draw_input(d, LEAT_TYPE_FLOAT32, 0, NULL), 0, (double)leati_draw_int(d, 1, 400));
  draw_bytes(d, leati_draw_input(d, leati_draw_type(d, "TYZ"), 0, NULL));
  leati_draw_attribute_int(d, "transB", turned);
  if (leati_draw_chance(d, 10))
    leati_draw_attribute_int(d, "transA", 1);
}

static void matmul_integer(leati_draw *d) {
  const bool scaled = strcmp(d->info->name, "QLinearMatMul") == 0;
  const bool to_float = strcmp(d->info->name, "MatMulIntegerToFloat") == 0;
  const char *const names[2] = {"T1", "T2"};
  const uint64_t scale = scaled ? leati_draw_type(d, "TS") : to_float ? leati_draw_type(d, "T3") : 0;
  const int64_t inner = leati_draw_int(d, d->empty ? 0 : 1, leati_draw_chance(d, 30) ? 600 : 40);
  const int64_t rows = leati_draw_int(d, d->empty ? 0 : 1, leati_draw_chance(d, 40) ? 40 : 9);
  const int64_t columns = leati_draw_int(d, d->empty ? 0 : 1, leati_draw_chance(d, 40) ? 40 : 9);
  int64_t batch[RANK], dims[2][RANK], place[2][RANK];
  int32_t ranks[2], place_ranks[2];
  uint64_t types[2];
  leati_draw_dims(d, 3, batch);
  for (int side = 0; side < 2; side++) {
    const int32_t count = narrowed(d, 3, batch, dims[side]);
    const bool vector = leati_draw_chance(d, 10);
    types[side] = leati_draw_type(d, names[side]);
    if (vector) {
      ranks[side] = 1;
      dims[side][0] = inner;
    } else {
      ranks[side] = count + 2;
      dims[side][count] = side == 0 ? rows : inner;
      dims[side][count + 1] = side == 0 ? inner : columns;
    }
    leati_draw_tensor shape = {.rank = ranks[side]};
    memcpy(shape.dims, dims[side], sizeof dims[side][0] * (size_t)ranks[side]);
    place_ranks[side] = draw_place(d, &shape, side == 0, place[side]);
  }
  if (!scaled) {
    for (int side = 0; side < 2; side++)
      draw_bytes(d, leati_draw_input(d, types[side], ranks[side], dims[side]));
    for (int side = 0; side < 2 && to_float; side++)
      leati_draw_input(d, scale, place_ranks[side], place[side]);
    for (int side = 0; side < 2; side++) {
      if (leati_draw_chance(d, 60)) {
        draw_bytes(d, leati_draw_input(d, types[side], place_ranks[side], place[side]));
      } else {
        leati_draw_absent(d);
      }
    }
    if (to_float && ranks[1] > 1 && leati_draw_chance(d, 50)) {
      leati_draw_input(d, scale, 1, &columns);
    }
    return;
  }
  for (int side = 0; side < 2; side++) {
    draw_bytes(d, leati_draw_input(d, types[side], ranks[side], dims[side]));
    leati_draw_input(d, scale, place_ranks[side], place[side]);
    draw_bytes(d, leati_draw_input(d, types[side], place_ranks[side], place[side]));
  }
  leati_draw_tensor *const of_result = leati_draw_input(d, scale, 0, NULL);
  leati_draw_set(of_result, 0, 64 * (double)leati_draw_int(d, 1, 400));
  draw_bytes(d, leati_draw_input(d, leati_draw_type(d, "T3"), 0, NULL));
}

/* The type of a mask: that of what it is added to, or bool where the operator takes it. */
static uint64_t mask_type(leati_draw *d, uint64_t type, bool or_bool) {
  return or_bool && leati_draw_chance(d, 50) ? LEAT_TYPE_BOOL : type;
}

/* Elements of a head, from `least`: often whole pieces of 16 bytes of any float, as heads of models are. */
static int64_t head_size(leati_draw *d, int64_t least) {
  const int64_t size = leati_draw_int(d, least, leati_draw_chance(d, 20) ? 150 : 9);
  return leati_draw_chance(d, 50) ? (size + 7) / 8 * 8 : size;
}

/* Queries, keys and values, and perhaps a mask. */
static void attention(leati_draw *d) {
  const bool multi_head = strcmp(d->info->name, "MultiHeadAttention") == 0;
  const bool flat = multi_head || leati_draw_chance(d, 50);
  const uint64_t type = leati_draw_type(d, multi_head ? "T" : "T1");
  const int64_t least = d->empty ? 0 : 1;
  const int64_t batch = leati_draw_int(d, least, 3);
  const int64_t shared = leati_draw_int(d, 1, 3);
  const int64_t queries = leati_draw_int(d, least, leati_draw_chance(d, 20) ? 40 : 6);
  const int64_t keys = leati_draw_int(d, least, leati_draw_chance(d, 20) ? 80 : 6);
  const int64_t heads = multi_head ? shared : shared * leati_draw_int(d, 1, 3);
  const int64_t depth = head_size(d, 1);
  const int64_t width = head_size(d, 1);
  const int64_t past = leati_draw_chance(d, 30) ? leati_draw_int(d, 0, 40) : -1;
  const int64_t counts[3] = {heads, shared, shared}, sizes[3] = {depth, depth, width};
  for (int k = 0; k < 3; k++) {
    const int64_t positions = k == 0 ? queries : keys;
    const int64_t side_by_side[3] = {batch, positions, counts[k] * sizes[k]};
    const int64_t apart[4] = {batch, counts[k], positions, sizes[k]};
    /* What a key that is not taken has for a value is not told. */
    leati_draw_input(d, type, flat ? 3 : 4, flat ? side_by_side : apart)->plain = true;
  }
  const bool masked = leati_draw_chance(d, 60);
  if (multi_head && (masked || past >= 0)) {
    leati_draw_absent(d);
    leati_draw_absent(d);
  }
  if (masked) {
    const int64_t scores[4] = {batch, heads, queries, keys + (past > 0 ? past : 0)};
    narrowed_input(d, mask_type(d, type, !multi_head), 4, scores);
  } else if (past >= 0) {
    leati_draw_absent(d);
  }
  if (past >= 0) {
    leati_draw_input(d, type, 4, (const int64_t[4]){batch, shared, past, depth})->plain = true;
    leati_draw_input(d, type, 4, (const int64_t[4]){batch, shared, past, width})->plain = true;
    d->output_count = leati_draw_chance(d, 70) ? 3 : 1;
  }
  if (flat) {
    leati_draw_attribute_int(d, "num_heads", heads);
    leati_draw_attribute_int(d, "q_num_heads", heads);
    leati_draw_attribute_int(d, "kv_num_heads", shared);
  }
  if (leati_draw_chance(d, 40))
    leati_draw_attribute_float(d, "scale", g_rand_double_range(d->rand, 0.1, 2));
  if (leati_draw_chance(d, 20))
    leati_draw_attribute_float(d, "softcap", g_rand_double_range(d->rand, 0.5, 5));
  leati_draw_attribute_int(d, leati_draw_chance(d, 50) ? "is_causal" : "unidirectional", leati_draw_int(d, 0, 1));
}

/* Of attention of groups: positions of angles, what is added to scores, and sinks, each perhaps. `sizes`: batches,
 * heads, new positions, all positions. */
static void group_query_more(leati_draw *d, uint64_t type, const int64_t sizes[4]) {
  if (leati_draw_chance(d, 30)) {
    draw_range(d, leati_draw_input(d, LEAT_TYPE_INT64, 2, (const int64_t[2]){sizes[0], sizes[2]}), -2, sizes[3] + 2);
  } else {
    leati_draw_absent(d);
  }
  if (leati_draw_chance(d, 30)) {
    const int64_t batches = leati_draw_chance(d, 50) ? sizes[0] : 1, heads = leati_draw_chance(d, 50) ? sizes[1] : 1;
    leati_draw_input(d, type, 4, (const int64_t[4]){batches, heads, sizes[2], sizes[3]});
  } else {
    leati_draw_absent(d);
  }
  if (leati_draw_chance(d, 30)) {
    leati_draw_input(d, type, 1, &sizes[1])->plain = true;
  }
  if (leati_draw_chance(d, 30))
    leati_draw_attribute_int(d, "smooth_softmax", leati_draw_int(d, -1, 1));
}

/* Queries, keys and values, perhaps packed, behind a cache that has room for them or not. */
static void group_query(leati_draw *d) {
  const int64_t least = d->empty ? 0 : 1;
  const uint64_t type = leati_draw_type(d, "T");
  const int64_t batch = leati_draw_int(d, least, 3);
  const int64_t shared = leati_draw_int(d, 1, 3);
  const int64_t heads = shared * leati_draw_int(d, 1, 3);
  const int64_t size = head_size(d, 2);
  const int64_t fresh = leati_draw_int(d, least, leati_draw_chance(d, 20) ? 40 : 3);
  const int64_t total = fresh + (leati_draw_chance(d, 60) ? leati_draw_int(d, 0, 40) : 0);
  const int64_t past = leati_draw_chance(d, 50) ? total - fresh : leati_draw_int(d, 0, 50);
  const bool packed = leati_draw_chance(d, 40);
  const bool rotates = leati_draw_chance(d, 60);
  const int64_t all = packed ? heads + 2 * shared : heads;
  leati_draw_input(d, type, 3, (const int64_t[3]){batch, fresh, all * size})->plain = true;
  for (int k = 0; k < 2; k++) {
    if (packed) {
      leati_draw_absent(d);
    } else {
      leati_draw_input(d, type, 3, (const int64_t[3]){batch, fresh, shared * size})->plain = true;
    }
  }
  for (int k = 0; k < 2; k++)
    leati_draw_input(d, type, 4, (const int64_t[4]){batch, shared, past, size})->plain = true;
  leati_draw_tensor *lengths = leati_draw_input(d, LEAT_TYPE_INT32, 1, &batch);
  for (int64_t k = 0; k < batch; k++)
    leati_draw_set(lengths, k, (double)leati_draw_int(d, -2, total + 2));
  leati_draw_set(leati_draw_input(d, LEAT_TYPE_INT32, 1, (const int64_t[1]){1}), 0, (double)total);
  if (rotates) {
    const int64_t angles[2] = {total + leati_draw_int(d, 0, 3), leati_draw_int(d, 1, size / 2)};
    leati_draw_input(d, type, 2, angles)->plain = true;
    leati_draw_input(d, type, 2, angles)->plain = true;
  }
  if (leati_draw_chance(d, 40)) {
    for (int k = rotates ? 2 : 0; k < 2; k++)
      leati_draw_absent(d);
    group_query_more(d, type, (const int64_t[4]){batch, heads, fresh, total});
  }
  leati_draw_attribute_int(d, "num_heads", heads);
  leati_draw_attribute_int(d, "kv_num_heads", shared);
  leati_draw_attribute_int(d, "do_rotary", rotates);
  if (leati_draw_chance(d, 40))
    leati_draw_attribute_int(d, "rotary_interleaved", 1);
  if (leati_draw_chance(d, 40))
    leati_draw_attribute_int(d, "local_window_size", leati_draw_int(d, 1, 40));
  if (leati_draw_chance(d, 40))
    leati_draw_attribute_float(d, "scale", g_rand_double_range(d->rand, 0.1, 2));
  if (leati_draw_chance(d, 20))
    leati_draw_attribute_float(d, "softcap", g_rand_double_range(d->rand, 0.5, 5));
  d->output_count = leati_draw_chance(d, 80) ? 3 : 1;
}

/* Angles for each position of a batch, or for any and numbers that say which, in range or not; of com.microsoft one
 * number, or none of the heads. */
static void rotary(leati_draw *d) {
  const bool microsoft = strcmp(d->info->domain, "") != 0;
  const int64_t least = d->empty ? 0 : 1;
  const uint64_t type = leati_draw_type(d, "T");
  const int64_t batch = leati_draw_int(d, least, 3);
  const int64_t rows = leati_draw_int(d, least, leati_draw_chance(d, 20) ? 40 : 4);
  const int64_t heads = leati_draw_int(d, 1, 4);
  const int64_t size = 2 * leati_draw_int(d, 1, leati_draw_chance(d, 20) ? 64 : 6);
  const bool flat = leati_draw_chance(d, 50);
  const bool partly = leati_draw_chance(d, 30);
  const int64_t pairs = partly ? leati_draw_int(d, 1, size / 2) : size / 2;
  const bool numbered = microsoft || leati_draw_chance(d, 50);
  const bool counted = microsoft && leati_draw_chance(d, 40);
  const int64_t positions = rows + leati_draw_int(d, 1, 9);
  leati_draw_input(
      d, type, flat ? 3 : 4,
      flat ? (const int64_t[4]){batch, rows, heads * size, 0} : (const int64_t[4]){batch, heads, rows, size});
  const int64_t together[3] = {batch, rows, pairs}, any[2] = {positions, pairs};
  for (int k = 0; k < 3; k++) {
    if (k == (microsoft ? 0 : 2)) {
      if (!numbered) {
        continue;
      }
      leati_draw_tensor *ids = leati_draw_input(d, LEAT_TYPE_INT64, counted ? 1 : 2,
                                                counted ? (const int64_t[2]){1, 0} : (const int64_t[2]){batch, rows});
      for (int64_t i = 0; i < (counted ? 1 : batch * rows); i++) {
        leati_draw_set(ids, i, (double)leati_draw_int(d, -2, positions + 2));
      }
    } else {
      leati_draw_input(d, type, numbered ? 2 : 3, numbered ? any : together);
    }
  }
  if (!microsoft || partly || leati_draw_chance(d, 50))
    leati_draw_attribute_int(d, "num_heads", heads);
  if (partly)
    leati_draw_attribute_int(d, "rotary_embedding_dim", 2 * pairs);
  if (leati_draw_chance(d, 40))
    leati_draw_attribute_int(d, "interleaved", 1);
}

/* A tensor with an even last dimension, and two that broadcast to it. */
static void fused_rotary(leati_draw *d) {
  const uint64_t type = leati_draw_type(d, "T");
  const int32_t rank = (int32_t)leati_draw_int(d, 1, 4);
  int64_t dims[4];
  leati_draw_dims(d, rank, dims);
  dims[rank - 1] = 2 * leati_draw_int(d, 1, 20);
  leati_draw_input(d, type, rank, dims);
  for (int k = 0; k < 2; k++) {
    const int32_t missing = (int32_t)leati_draw_int(d, 0, rank - 1);
    int64_t of[4];
    for (int32_t i = missing; i < rank; i++) {
      of[i - missing] = leati_draw_chance(d, 20) ? 1 : dims[i];
    }
    leati_draw_input(d, type, rank - missing, of);
  }
}

/* Layouts of queries, keys, values and result that go together, and whether heads lie side by side in one. */
static void fused_attention(leati_draw *d) {
  static const char *const layouts[][4] = {{"bhsd", "bhsd", "bhsd", "bhsd"}, {"bshd", "bhds", "shbd", "bsx"},
                                           {"bsx", "bsx", "bsx", "bsx"},     {"sbx", "bxs", "hdsb", "bshd"},
                                           {"bsd", "bds", "bsd", "bds"},     {"sd", "ds", "sd", "sd"}};
  static const char letters[] = "bhsd";
  static const char *const names[4] = {"q_layout", "k_layout", "v_layout", "y_layout"};
  const int64_t which = leati_draw_int(d, 0, G_N_ELEMENTS(layouts) - 1);
  const int64_t least = d->empty ? 0 : 1;
  const uint64_t type = leati_draw_type(d, "T");
  const int64_t kv_heads = which < 4 ? leati_draw_int(d, 1, 3) : 1;
  const int64_t heads = which < 4 ? kv_heads * leati_draw_int(d, 1, 2) : 1;
  const int64_t sizes[4] = {which < 5 ? leati_draw_int(d, least, 3) : 1, heads, leati_draw_int(d, least, 20),
                            leati_draw_int(d, 1, 40)};
  const int64_t keys = leati_draw_int(d, least, 40);
  const int64_t width = leati_draw_int(d, 1, 40);
  for (int k = 0; k < 4; k++) {
    const int64_t own[4] = {sizes[0], k == 0 ? heads : kv_heads, k == 0 ? sizes[2] : keys, k == 2 ? width : sizes[3]};
    int64_t dims[4];
    int32_t rank = 0;
    for (const char *letter = layouts[which][k]; *letter != '\0'; letter++)
      dims[rank++] = *letter == 'x' ? own[1] * own[3] : own[strchr(letters, *letter) - letters];
    leati_draw_attribute_string(d, names[k], layouts[which][k]);
    if (k < 3)
      leati_draw_input(d, type, rank, dims)->plain = true;
  }
  if (leati_draw_chance(d, 60)) {
    const int64_t scores[4] = {sizes[0], heads, sizes[2], keys};
    const int64_t three[3] = {sizes[0], sizes[2], keys};
    narrowed_input(d, mask_type(d, type, true),
                   which < 4    ? 4
                   : which == 4 ? 3
                                : 2,
                   which < 4    ? scores
                   : which == 4 ? three
                                : scores + 2);
  }
  leati_draw_attribute_int(d, "q_num_heads", heads);
  leati_draw_attribute_int(d, "kv_num_heads", kv_heads);
  if (leati_draw_chance(d, 40))
    leati_draw_attribute_float(d, "scale", g_rand_double_range(d->rand, 0.1, 2));
  if (leati_draw_chance(d, 30))
    leati_draw_attribute_int(d, "nan_to_zero", 1);
}

/* ---- Windows ---------------------------------------------------------------------------------------------------- */

/* Where windows of `spatial` dimensions go, as attributes; `image` grows until a window fits. */
static void draw_windows(leati_draw *d, int32_t spatial, int64_t *image, int64_t *kernel) {
  int64_t strides[3];
  int64_t dilations[3];
  int64_t pads[6];
  for (int32_t k = 0; k < spatial; k++) {
    kernel[k] = leati_draw_int(d, 1, 3);
    strides[k] = leati_draw_int(d, 1, 3);
    dilations[k] = leati_draw_int(d, 1, 2);
    pads[k] = leati_draw_int(d, 0, kernel[k] - 1);
    pads[spatial + k] = leati_draw_int(d, 0, kernel[k] - 1);
    image[k] = leati_draw_int(d, 0, 5) + (kernel[k] - 1) * dilations[k] + 1;
  }
  leati_draw_attribute_ints(d, "kernel_shape", spatial, kernel);
  if (leati_draw_chance(d, 70))
    leati_draw_attribute_ints(d, "strides", spatial, strides);
  if (leati_draw_chance(d, 50))
    leati_draw_attribute_ints(d, "pads", 2 * spatial, pads);
  if (leati_draw_chance(d, 40))
    leati_draw_attribute_ints(d, "dilations", spatial, dilations);
}

/* An input of the shape that a convolution with the attributes drawn so far gives. */
static void draw_image(leati_draw *d, uint64_t type, int32_t spatial, const int64_t *x, int64_t channels,
                       const int64_t *kernel) {
  int64_t dims[5] = {x[0], channels};
  for (int32_t k = 0; k < spatial; k++) {
    int64_t stride = 1;
    int64_t dilation = 1;
    int64_t room = x[2 + k];
    for (uint32_t a = 0; a < d->attribute_count; a++) {
      const int64_t *values = d->attributes[a].ints;
      if (strcmp(d->attributes[a].name, "strides") == 0)
        stride = values[k];
      if (strcmp(d->attributes[a].name, "dilations") == 0)
        dilation = values[k];
      if (strcmp(d->attributes[a].name, "pads") == 0)
        room += values[k] + values[spatial + k];
    }
    dims[2 + k] = (room - (kernel[2 + k] - 1) * dilation - 1) / stride + 1;
  }
  leati_draw_input(d, type, spatial + 2, dims);
}

static void conv(leati_draw *d) {
  const bool transposed = strcmp(d->info->name, "ConvTranspose") == 0;
  const int32_t spatial = (int32_t)leati_draw_int(d, 1, 3);
  const int64_t group = leati_draw_chance(d, 60) ? 1 : leati_draw_int(d, 1, 3);
  const int64_t in = leati_draw_int(d, 1, 3);
  const int64_t out = leati_draw_int(d, 1, 3);
  int64_t x[5] = {leati_draw_int(d, d->empty ? 0 : 1, 2), in * group};
  int64_t w[5] = {transposed ? in * group : out * group, transposed ? out : in};
  const int64_t channels[1] = {out * group};
  draw_windows(d, spatial, x + 2, w + 2);
  const uint64_t type = leati_draw_type(d, "T");
  leati_draw_input(d, type, spatial + 2, x);
  /* Padding may count as zeros, which a weight that is not finite makes NaN, or as nothing. */
  leati_draw_input(d, type, spatial + 2, w)->plain = true;
  const bool residual = d->info->max_inputs > 3 && leati_draw_chance(d, 60);
  const bool gate = d->info->max_inputs > 4 && leati_draw_chance(d, 30);
  if (leati_draw_chance(d, 50)) {
    leati_draw_input(d, type, 1, channels);
  } else if (residual || gate) {
    leati_draw_absent(d);
  }
  leati_draw_attribute_int(d, "group", group);
  if (residual) {
    draw_image(d, type, spatial, x, channels[0], w);
  } else if (gate) {
    leati_draw_absent(d);
  }
  /* Kernels of more than one tap are refused then. */
  if (gate)
    leati_draw_input(d, type, spatial + 2, (const int64_t[5]){x[0], x[1], 1, 1, 1})->plain = true;
  activation(d);
}

static void squeeze_excite(leati_draw *d) {
  const uint64_t type = leati_draw_type(d, "T");
  const int32_t spatial = (int32_t)leati_draw_int(d, 0, 3);
  const int64_t channels = leati_draw_int(d, 1, 40), squeezed = leati_draw_int(d, 1, 20);
  int64_t x[5] = {leati_draw_int(d, d->empty ? 0 : 1, 3), channels};
  for (int32_t k = 0; k < spatial; k++)
    x[2 + k] = leati_draw_int(d, 1, 7);
  leati_draw_input(d, type, 2 + spatial, x);
  leati_draw_input(d, type, (int32_t)leati_draw_int(d, 2, 5), (const int64_t[5]){squeezed, channels, 1, 1, 1});
  leati_draw_input(d, type, (int32_t)leati_draw_int(d, 2, 5), (const int64_t[5]){channels, squeezed, 1, 1, 1});
  if (leati_draw_chance(d, 60)) {
    leati_draw_input(d, type, 1, &squeezed);
  } else {
    leati_draw_absent(d);
  }
  if (leati_draw_chance(d, 60))
    leati_draw_input(d, type, 1, &channels);
  named_activation(d, "activation", "activation_params");
  named_activation(d, "gate_activation", "gate_activation_params");
}

static void conv_integer(leati_draw *d) {
  const bool scaled = strcmp(d->info->name, "QLinearConv") == 0;
  const int32_t spatial = (int32_t)leati_draw_int(d, 1, 3);
  const int64_t group = leati_draw_chance(d, 60) ? 1 : leati_draw_int(d, 1, 3);
  const int64_t in = leati_draw_int(d, 1, 5), out = leati_draw_int(d, 1, 3), channels = out * group;
  int64_t x[5] = {leati_draw_int(d, d->empty ? 0 : 1, 2), in * group};
  int64_t w[5] = {channels, in};
  draw_windows(d, spatial, x + 2, w + 2);
  const uint64_t types[2] = {leati_draw_type(d, "T1"), leati_draw_type(d, "T2")};
  const int64_t one = 1, *const each = leati_draw_chance(d, 50) ? &channels : &one;
  leati_draw_attribute_int(d, "group", group);
  if (!scaled) {
    draw_bytes(d, leati_draw_input(d, types[0], spatial + 2, x));
    draw_bytes(d, leati_draw_input(d, types[1], spatial + 2, w));
    if (leati_draw_chance(d, 60)) {
      draw_bytes(d, leati_draw_input(d, types[0], 0, NULL));
      if (leati_draw_chance(d, 60))
        draw_bytes(d, leati_draw_input(d, types[1], 1, each));
    }
    return;
  }
  draw_bytes(d, leati_draw_input(d, types[0], spatial + 2, x));
  leati_draw_input(d, LEAT_TYPE_FLOAT32, 0, NULL);
  draw_bytes(d, leati_draw_input(d, types[0], 0, NULL));
  draw_bytes(d, leati_draw_input(d, types[1], spatial + 2, w));
  leati_draw_input(d, LEAT_TYPE_FLOAT32, 1, each);
  draw_bytes(d, leati_draw_input(d, types[1], 1, each));
  leati_draw_set(leati_draw_input(d, LEAT_TYPE_FLOAT32, 0, NULL), 0, 64 * (double)leati_draw_int(d, 1, 400));
  draw_bytes(d, leati_draw_input(d, leati_draw_type(d, "T3"), 0, NULL));
  if (leati_draw_chance(d, 50))
    draw_range(d, leati_draw_input(d, LEAT_TYPE_INT32, 1, &channels), -99999, 99999);
}

/* Of products of bytes with a bias of `count` floats what comes behind it. */
static void quantized_result(leati_draw *d, int64_t count, bool bias) {
  if (bias) {
    leati_draw_input(d, LEAT_TYPE_FLOAT32, 1, &count);
  } else {
    leati_draw_absent(d);
  }
  if (leati_draw_chance(d, 60)) {
    leati_draw_set(leati_draw_input(d, LEAT_TYPE_FLOAT32, 0, NULL), 0, 64 * (double)leati_draw_int(d, 1, 400));
    draw_bytes(d, leati_draw_input(d, leati_draw_chance(d, 50) ? LEAT_TYPE_INT8 : LEAT_TYPE_UINT8, 0, NULL));
  }
  if (leati_draw_chance(d, 40))
    leati_draw_attribute_string(d, "activation", "Relu");
}

/* Two operands of bytes, one scale of the first and some of the second, and perhaps their zero points. */
static void quantized_operands(leati_draw *d, const int32_t ranks[2], const int64_t *const dims[2],
                               const int64_t *scales) {
  const uint64_t types[2] = {leati_draw_type(d, "T1"), leati_draw_type(d, "T2")};
  for (int side = 0; side < 2; side++)
    draw_bytes(d, leati_draw_input(d, types[side], ranks[side], dims[side]));
  for (int side = 0; side < 2; side++)
    leati_draw_input(d, LEAT_TYPE_FLOAT32, side, scales);
  for (int side = 0; side < 2; side++) {
    if (leati_draw_chance(d, 60)) {
      draw_bytes(d, leati_draw_input(d, types[side], side, scales));
    } else {
      leati_draw_absent(d);
    }
  }
}

static void quantized_conv(leati_draw *d) {
  const int32_t spatial = (int32_t)leati_draw_int(d, 1, 3), ranks[2] = {spatial + 2, spatial + 2};
  const int64_t group = leati_draw_chance(d, 60) ? 1 : leati_draw_int(d, 1, 3);
  const int64_t in = leati_draw_int(d, 1, 5), out = leati_draw_int(d, 1, 3), channels = out * group;
  int64_t x[5] = {leati_draw_int(d, d->empty ? 0 : 1, 2), in * group};
  int64_t w[5] = {channels, in};
  const int64_t *const dims[2] = {x, w};
  draw_windows(d, spatial, x + 2, w + 2);
  leati_draw_attribute_int(d, "group", group);
  quantized_operands(d, ranks, dims, &channels);
  quantized_result(d, channels, leati_draw_chance(d, 50));
}

static void quantized_matmul(leati_draw *d) {
  const int64_t inner = leati_draw_int(d, d->empty ? 0 : 1, leati_draw_chance(d, 30) ? 600 : 40);
  const int64_t rows = leati_draw_int(d, d->empty ? 0 : 1, leati_draw_chance(d, 40) ? 40 : 9);
  const int64_t columns = leati_draw_int(d, d->empty ? 0 : 1, leati_draw_chance(d, 40) ? 40 : 9);
  const bool turned = leati_draw_chance(d, 40);
  const int64_t a[2] = {rows, inner}, b[2] = {turned ? columns : inner, turned ? inner : columns};
  const int64_t *const dims[2] = {a, b};
  const int32_t ranks[2] = {2, 2};
  quantized_operands(d, ranks, dims, &columns);
  quantized_result(d, columns, leati_draw_chance(d, 50));
  leati_draw_attribute_int(d, "transB", turned);
}

static void pool(leati_draw *d) {
  const int32_t spatial = (int32_t)leati_draw_int(d, 1, 3);
  int64_t x[5] = {leati_draw_int(d, d->empty ? 0 : 1, 2), leati_draw_int(d, d->empty ? 0 : 1, 3)};
  int64_t kernel[3];
  draw_windows(d, spatial, x + 2, kernel);
  leati_draw_input(d, leati_draw_type(d, "T"), spatial + 2, x);
  if (leati_draw_chance(d, 40))
    leati_draw_attribute_int(d, "ceil_mode", leati_draw_int(d, 0, 1));
  if (leati_draw_chance(d, 40))
    leati_draw_attribute_int(d, "count_include_pad", leati_draw_int(d, 0, 1));
}

static void global_pool(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  any_input(d, "T", 3, 5, &rank, dims);
}

static void qlinear_pool(leati_draw *d) {
  if (strcmp(d->info->name, "QLinearAveragePool") == 0) {
    pool(d);
  } else {
    global_pool(d);
  }
  make_bytes(d);
  if (leati_draw_chance(d, 30))
    leati_draw_attribute_int(d, "channels_last", leati_draw_int(d, 0, 1));
}

static void resize(leati_draw *d) {
  static const char *const modes[] = {"nearest", "linear", "cubic"};
  static const char *const places[] = {"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"};
  static const char *const roundings[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};
  const int32_t spatial = (int32_t)leati_draw_int(d, 1, 2);
  const int32_t rank = spatial + 2;
  int64_t dims[4];
  int64_t sizes[4];
  for (int32_t k = 0; k < rank; k++) {
    dims[k] = leati_draw_int(d, 1, 4);
    sizes[k] = k < 2 ? dims[k] : leati_draw_int(d, 1, 8);
  }
  const int64_t mode = leati_draw_int(d, 0, G_N_ELEMENTS(modes) - 1);
  /* A neighbour of weight 0 may count as 0 times its number, which need not be 0, or as nothing. */
  leati_draw_input(d, leati_draw_type(d, "T1"), rank, dims)->plain = mode != 0;
  leati_draw_absent(d);
  if (leati_draw_chance(d, 50)) {
    const int64_t count[1] = {rank};
    leati_draw_tensor *scales = leati_draw_input(d, LEAT_TYPE_FLOAT32, 1, count);
    for (int32_t k = 0; k < rank; k++)
      leati_draw_set(scales, k, k < 2 ? 1 : (double)leati_draw_int(d, 2, 8) / 4);
  } else {
    leati_draw_absent(d);
    leati_draw_list(d, LEAT_TYPE_INT64, rank, sizes);
  }
  leati_draw_attribute_string(d, "mode", modes[mode]);
  leati_draw_attribute_string(d, "coordinate_transformation_mode", places[leati_draw_int(d, 0, 3)]);
  leati_draw_attribute_string(d, "nearest_mode", roundings[leati_draw_int(d, 0, 3)]);
}

static void grid_sample(leati_draw *d) {
  static const char *const modes[2][3] = {{"linear", "nearest", "cubic"}, {"bilinear", "nearest", "bicubic"}};
  static const char *const paddings[] = {"zeros", "border", "reflection"};
  const bool old = d->since_version < 20;
  const int32_t spatial = (int32_t)leati_draw_int(d, 2, old ? 2 : 3);
  int64_t x[5] = {leati_draw_int(d, d->empty ? 0 : 1, 2), leati_draw_int(d, d->empty ? 0 : 1, 9)};
  int64_t places[5] = {x[0]};
  for (int32_t k = 0; k < spatial; k++) {
    x[2 + k] = leati_draw_int(d, 1, leati_draw_chance(d, 20) ? 20 : 5);
    places[1 + k] = leati_draw_int(d, d->empty ? 0 : 1, 5);
  }
  places[1 + spatial] = spatial;
  leati_draw_input(d, leati_draw_type(d, "T1"), spatial + 2, x)->plain = true;
  leati_draw_tensor *grid = leati_draw_input(d, leati_draw_type(d, "T2"), spatial + 2, places);
  /* Middles and edges of elements, so that places are found without rounding. */
  const bool exact = leati_draw_chance(d, 50);
  for (int64_t i = 0; exact && i < grid->count; i++)
    leati_draw_set(grid, i, (double)leati_draw_int(d, -12, 12) / 4);
  if (leati_draw_chance(d, 80))
    leati_draw_attribute_string(d, "mode", modes[old][leati_draw_int(d, 0, spatial == 2 ? 2 : 1)]);
  if (leati_draw_chance(d, 80))
    leati_draw_attribute_string(d, "padding_mode", paddings[leati_draw_int(d, 0, 2)]);
  if (leati_draw_chance(d, 60))
    leati_draw_attribute_int(d, "align_corners", leati_draw_int(d, 0, 1));
}

/* ---- The list --------------------------------------------------------------------------------------------------- */

const leati_draw_entry leati_draw_entries[] = {
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
    {"elementwise", LEAT_MICROSOFT, "QLinearAdd", qlinear},
    {"elementwise", LEAT_MICROSOFT, "QLinearMul", qlinear},
    {"elementwise", LEAT_MICROSOFT, "QLinearLeakyRelu", qlinear},
    {"elementwise", LEAT_MICROSOFT, "QLinearSigmoid", qlinear},
    {"elementwise", "", "Where", where},
    {"elementwise", "", "Cast", cast},
    {"elementwise", "", "CastLike", cast_like},
    {"elementwise", "", "DequantizeLinear", dequantize},
    {"elementwise", "", "QuantizeLinear", quantize},
    {"elementwise", "", "DynamicQuantizeLinear", dynamic_quantize},
    {"movement", "", "Transpose", transpose},
    {"movement", "", "Expand", expand},
    {"movement", "", "Slice", slice},
    {"movement", "", "Concat", concat},
    {"movement", LEAT_MICROSOFT, "QLinearConcat", qlinear_concat},
    {"movement", "", "Split", split},
    {"movement", "", "Pad", pad},
    {"movement", "", "Tile", tile},
    {"movement", "", "DepthToSpace", depth_space},
    {"movement", "", "SpaceToDepth", depth_space},
    {"movement", "", "Trilu", trilu},
    {"movement", "", "Identity", same},
    {"movement", "", "Dropout", dropout},
    {"movement", "", "Reshape", reshape},
    {"movement", "", "Flatten", flatten},
    {"movement", "", "Squeeze", squeeze},
    {"movement", "", "Unsqueeze", unsqueeze},
    {"movement", "", "Shape", shape_of},
    {"movement", "", "Size", same},
    {"movement", "", "ConstantOfShape", constant_of_shape},
    {"movement", "", "Range", range},
    {"index", "", "Gather", gather},
    {"index", "", "GatherElements", gather_elements},
    {"index", "", "ScatterElements", scatter_elements},
    {"index", "", "GatherND", gather_nd},
    {"index", "", "ScatterND", scatter_nd},
    {"index", "", "TensorScatter", tensor_scatter},
    {"index", "", "CumSum", cum_sum},
    {"movement", "", "TopK", top_k},
    {"reduce", "", "ReduceSum", reduce},
    {"reduce", "", "ReduceMean", reduce},
    {"reduce", "", "ReduceMax", reduce},
    {"reduce", "", "ReduceMin", reduce},
    {"reduce", "", "ReduceProd", reduce},
    {"reduce", "", "ReduceL1", reduce},
    {"reduce", "", "ReduceL2", reduce},
    {"reduce", "", "ReduceSumSquare", reduce},
    {"reduce", "", "ReduceLogSum", reduce},
    {"reduce", "", "ReduceLogSumExp", reduce},
    {"reduce", "", "ArgMax", arg_reduce},
    {"reduce", "", "ArgMin", arg_reduce},
    {"norm", "", "Softmax", softmax},
    {"norm", "", "LogSoftmax", softmax},
    {"norm", LEAT_MICROSOFT, "QLinearSoftmax", qlinear_softmax},
    {"norm", "", "LayerNormalization", layer_norm},
    {"norm", "", "RMSNormalization", layer_norm},
    {"norm", "", "SimplifiedLayerNormalization", layer_norm},
    {"norm", LEAT_MICROSOFT, "SkipLayerNormalization", skip_layer_norm},
    {"norm", LEAT_MICROSOFT, "SkipSimplifiedLayerNormalization", skip_layer_norm},
    {"norm", "", "InstanceNormalization", channel_norm},
    {"norm", "", "GroupNormalization", channel_norm},
    {"norm", "", "BatchNormalization", channel_norm},
    {"matmul", "", "MatMul", matmul},
    {"matmul", "", "Einsum", einsum},
    {"matmul", LEAT_MICROSOFT, "FusedMatMul", matmul},
    {"matmul", "leat", "FusedMatMul", matmul},
    {"matmul", "leat", "MultiMatMul", multi_matmul},
    {"matmul", "", "Gemm", gemm},
    {"matmul", LEAT_MICROSOFT, "FusedGemm", gemm},
    {"matmul", LEAT_MICROSOFT, "MatMulNBits", matmul_nbits},
    {"matmul", "", "MatMulInteger", matmul_integer},
    {"matmul", LEAT_MICROSOFT, "MatMulIntegerToFloat", matmul_integer},
    {"matmul", "leat", "QuantizedMatMul", quantized_matmul},
    {"matmul", "", "QLinearMatMul", matmul_integer},
    {"matmul", LEAT_MICROSOFT, "QGemm", qgemm},
    {"matmul", "", "Attention", attention},
    {"matmul", LEAT_MICROSOFT, "MultiHeadAttention", attention},
    {"matmul", LEAT_MICROSOFT, "GroupQueryAttention", group_query},
    {"matmul", "", "RotaryEmbedding", rotary},
    {"matmul", LEAT_MICROSOFT, "RotaryEmbedding", rotary},
    {"matmul", "leat", "FusedRotaryEmbedding", fused_rotary},
    {"matmul", "leat", "FusedAttention", fused_attention},
    {"conv", "", "Conv", conv},
    {"conv", LEAT_MICROSOFT, "FusedConv", conv},
    {"conv", "leat", "FusedConv", conv},
    {"conv", "leat", "SqueezeExcite", squeeze_excite},
    {"conv", "", "ConvTranspose", conv},
    {"conv", "", "ConvInteger", conv_integer},
    {"conv", "", "QLinearConv", conv_integer},
    {"conv", "leat", "QuantizedConv", quantized_conv},
    {"conv", "", "MaxPool", pool},
    {"conv", "", "AveragePool", pool},
    {"conv", "", "GlobalAveragePool", global_pool},
    {"conv", "", "GlobalMaxPool", global_pool},
    {"conv", LEAT_MICROSOFT, "QLinearAveragePool", qlinear_pool},
    {"conv", LEAT_MICROSOFT, "QLinearGlobalAveragePool", qlinear_pool},
    {"conv", "", "Resize", resize},
    {"conv", "", "GridSample", grid_sample},
    {NULL, NULL, NULL, NULL},
};
