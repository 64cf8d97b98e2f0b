/* SPDX-License-Identifier: BSD-3-Clause */
/* Pointwise: a program of functions, each computed by the reference of its operator; and QuantizedPointwise, one whose
 * operands and result may be bytes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ops/core/bound.h"
#include "ops/core/node.h"
#include "ops/quantize/reference.h"

#define INPUTS_MAX 8
#define STEPS_MAX 16
#define OPERANDS_MAX 3

/* A function: which operator it is, how many of its operands are inputs of that, and which attributes the others are.
 */
typedef struct function {
  const char *name;
  const char *operator_name; /* NULL: the same */
  uint32_t inputs;
  const char *attributes[2];
  /* How far its value can move for each unit that its operand moves and that the ends of an interval do not show: where
   * it neither rises nor falls all the way. See ops/elementwise/epilogue.c for the numbers; sines move by 1. */
  double slope;
} function;

static const function functions[] = {
    {"Neg", NULL, 1, {NULL}, 0},
    {"Abs", NULL, 1, {NULL}, 1},
    {"Sign", NULL, 1, {NULL}, 0},
    {"Sqrt", NULL, 1, {NULL}, 0},
    {"Reciprocal", NULL, 1, {NULL}, 0},
    {"Relu", NULL, 1, {NULL}, 0},
    {"LeakyRelu", NULL, 1, {"alpha"}, 0},
    {"HardSigmoid", NULL, 1, {"alpha", "beta"}, 0},
    {"HardSwish", NULL, 1, {NULL}, 1.5},
    {"Floor", NULL, 1, {NULL}, 0},
    {"Ceil", NULL, 1, {NULL}, 0},
    {"Round", NULL, 1, {NULL}, 0},
    {"Softsign", NULL, 1, {NULL}, 0},
    {"ThresholdedRelu", NULL, 1, {"alpha"}, 0},
    {"Shrink", NULL, 1, {"lambd", "bias"}, 1},
    {"Exp", NULL, 1, {NULL}, 0},
    {"Log", NULL, 1, {NULL}, 0},
    {"Erf", NULL, 1, {NULL}, 0},
    {"Tanh", NULL, 1, {NULL}, 0},
    {"Sigmoid", NULL, 1, {NULL}, 0},
    {"Gelu", NULL, 1, {NULL}, 1.13},
    {"FastGelu", "Gelu", 1, {NULL}, 1.13},
    {"Softplus", NULL, 1, {NULL}, 0},
    {"Elu", NULL, 1, {"alpha"}, 0},
    {"Selu", NULL, 1, {"alpha", "gamma"}, 0},
    {"Celu", NULL, 1, {"alpha"}, 0},
    {"Mish", NULL, 1, {NULL}, 1.13},
    {"Swish", NULL, 1, {"alpha"}, 1.13},
    {"Sin", NULL, 1, {NULL}, 1},
    {"Cos", NULL, 1, {NULL}, 1},
    {"Tan", NULL, 1, {NULL}, 0},
    {"Asin", NULL, 1, {NULL}, 0},
    {"Acos", NULL, 1, {NULL}, 0},
    {"Atan", NULL, 1, {NULL}, 0},
    {"Sinh", NULL, 1, {NULL}, 0},
    {"Cosh", NULL, 1, {NULL}, 0},
    {"Asinh", NULL, 1, {NULL}, 0},
    {"Acosh", NULL, 1, {NULL}, 0},
    {"Atanh", NULL, 1, {NULL}, 0},
    {"Add", NULL, 2, {NULL}, 0},
    {"Sub", NULL, 2, {NULL}, 0},
    {"Mul", NULL, 2, {NULL}, 0},
    {"Div", NULL, 2, {NULL}, 0},
    {"Pow", NULL, 2, {NULL}, 0},
    {"Min", NULL, 2, {NULL}, 0},
    {"Max", NULL, 2, {NULL}, 0},
    {"PRelu", NULL, 2, {NULL}, 0},
    {"Mod", NULL, 2, {NULL}, 0},
    {"Fmod", "Mod", 2, {NULL}, 0},
    {"Equal", NULL, 2, {NULL}, 0},
    {"Less", NULL, 2, {NULL}, 0},
    {"Greater", NULL, 2, {NULL}, 0},
    {"LessOrEqual", NULL, 2, {NULL}, 0},
    {"GreaterOrEqual", NULL, 2, {NULL}, 0},
    {"Where", NULL, 3, {NULL}, 0},
    {"Clip", NULL, 3, {NULL}, 0},
};

static bool is(const function *f, const char *name) {
  return strcmp(f->name, name) == 0;
}

static uint32_t operands_of(const function *f) {
  return f->inputs + (f->attributes[0] != NULL) + (f->attributes[1] != NULL);
}

/* A program as it is computed: values are inputs, then results of steps, then constants. */
typedef struct program {
  leati_ref_node *node;
  leati_ref_type type; /* of inputs and results */
  uint32_t step_count;
  leati_ref_tensor results[STEPS_MAX];
  const float *constants;
  uint64_t constant_count;
} program;

/* The attributes that a function has as an operator; gives how many, or -1 for one that is no constant. */
static int32_t take_attributes(const program *p, const function *f, const int64_t *operands, leat_attribute out[2]) {
  if (is(f, "FastGelu")) {
    out[0] = (leat_attribute){.struct_size = sizeof(leat_attribute),
                              .type = LEAT_ATTRIBUTE_STRING,
                              .name = "approximate",
                              .count = 4,
                              .string = "tanh"};
    return 1;
  }
  if (is(f, "Fmod")) {
    out[0] =
        (leat_attribute){.struct_size = sizeof(leat_attribute), .type = LEAT_ATTRIBUTE_INT, .name = "fmod", .i = 1};
    return 1;
  }
  int32_t count = 0;
  for (uint32_t k = f->inputs; k < operands_of(f); ++k) {
    if (operands[k] >= 0) {
      return -1;
    }
    out[count++] = (leat_attribute){.struct_size = sizeof(leat_attribute),
                                    .type = LEAT_ATTRIBUTE_FLOAT,
                                    .name = f->attributes[k - f->inputs],
                                    .f = p->constants[-1 - operands[k]]};
  }
  return count;
}

/* Makes the tensor of an operand, each element moved by its bound times `away`; a condition as booleans. A result that
 * the type does not hold is an infinity for the steps that follow. */
static void make_operand(const program *p, int64_t operand, double away, bool condition, leati_ref_tensor *out) {
  const uint32_t inputs = p->node->input_count;
  const leati_ref_tensor *from = operand < 0        ? NULL
                                 : operand < inputs ? p->node->inputs[operand]
                                                    : &p->results[operand - inputs];
  leati_ref_tensor_init(out, condition ? LEATI_REF_BOOL : p->type, from != NULL ? from->rank : 0,
                        from != NULL ? from->dims : NULL);
  for (int64_t k = 0; k < out->count; ++k) {
    double x = from != NULL ? from->f[k] : (double)p->constants[-1 - operand];
    if (from != NULL && isfinite(x)) {
      x += away * from->bound[k];
    }
    if (fabs(x) > leati_ref_type_largest(p->type)) {
      x = x > 0 ? INFINITY : -INFINITY;
    }
    if (condition) {
      out->i[k] = x != 0;
    } else {
      out->f[k] = x;
    }
  }
}

/* What the operator gives for operands moved up or down: bit k of `signs` says which way operand k goes. */
static bool run_operator(const program *p, const function *f, const int64_t *operands, double away, uint32_t signs,
                         leati_ref_tensor *out) {
  leat_attribute attributes[2];
  const leat_attribute *pointers[2] = {&attributes[0], &attributes[1]};
  const int32_t attribute_count = take_attributes(p, f, operands, attributes);
  if (attribute_count < 0) {
    return leati_ref_fail(p->node, "%s takes constants behind its inputs here", f->name);
  }
  leati_ref_tensor inputs[OPERANDS_MAX] = {{0}};
  const leati_ref_tensor *given[OPERANDS_MAX] = {&inputs[0], &inputs[1], &inputs[2]};
  for (uint32_t k = 0; k < f->inputs; ++k) {
    make_operand(p, operands[k], (signs >> k & 1) != 0 ? away : -away, k == 0 && is(f, "Where"), &inputs[k]);
  }
  leati_ref_node part = {.name = is(f, "Clip")              ? "Max"
                                 : f->operator_name != NULL ? f->operator_name
                                                            : f->name,
                         .since_version = 1,
                         .attribute_count = (uint32_t)attribute_count,
                         .attributes = pointers,
                         .input_count = is(f, "Clip") ? 2 : f->inputs,
                         .inputs = given,
                         .output_count = 1};
  bool ok = leati_ref_run_of(leati_ref_elementwise, &part);
  if (ok && is(f, "Clip")) {
    /* Its bounds may be any tensors here, those of the operator are scalars. */
    leati_ref_tensor_clear(&inputs[0]);
    inputs[0] = part.outputs[0];
    given[1] = &inputs[2];
    part.name = "Min";
    memset(part.outputs, 0, sizeof(part.outputs));
    ok = leati_ref_run_of(leati_ref_elementwise, &part);
  }
  if (!ok) {
    leati_ref_fail(p->node, "%s", part.error);
  }
  if (ok && part.outputs[0].type == LEATI_REF_BOOL) {
    leati_ref_tensor_init(out, p->type, part.outputs[0].rank, part.outputs[0].dims);
    for (int64_t k = 0; k < out->count; ++k) {
      out->f[k] = (double)part.outputs[0].i[k];
    }
    leati_ref_tensor_clear(&part.outputs[0]);
  } else if (ok) {
    *out = part.outputs[0];
  }
  for (uint32_t k = 0; k < OPERANDS_MAX; ++k) {
    leati_ref_tensor_clear(&inputs[k]);
  }
  return ok;
}

/* The largest bound among the operands of an element, of which each may be off by its own: an input is where it was
 * dequantised. */
static double operand_bound(const program *p, const function *f, const int64_t *operands, int32_t rank,
                            const int64_t *index) {
  double most = 0;
  for (uint32_t k = 0; k < f->inputs; ++k) {
    if (operands[k] >= 0) {
      const uint32_t inputs = p->node->input_count;
      const leati_ref_tensor *from =
          operands[k] < inputs ? p->node->inputs[operands[k]] : &p->results[operands[k] - inputs];
      most = fmax(most, from->bound[leati_ref_broadcast_at(from, rank, index)]);
    }
  }
  return most;
}

/* Widens the bounds of a result by what its operands may be off: the function's own bound is the largest of those where
 * each operand is moved up or down by its bound, and its value moves as far as it does there, or by its slope. */
static void widen(const program *p, const function *f, const int64_t *operands, const leati_ref_tensor *moved,
                  leati_ref_tensor *y) {
  for (int64_t k = 0; k < y->count; ++k) {
    int64_t index[LEAT_MAX_RANK];
    leati_ref_unravel(y->rank, y->dims, k, index);
    const double off = operand_bound(p, f, operands, y->rank, index);
    if (off > 0 && isfinite(y->f[k])) {
      double own = y->bound[k], far = f->slope * off;
      for (uint32_t signs = 0; signs < 1u << f->inputs; ++signs) {
        own = fmax(own, moved[signs].bound[k]);
        far = fmax(far, fabs(moved[signs].f[k] - y->f[k]));
      }
      y->bound[k] = own + far;
    }
  }
}

/* Rounds a result to the type of the program: whatever lies within the bound of an element may have been rounded. */
static void round_result(const program *p, leati_ref_tensor *y) {
  for (int64_t k = 0; k < y->count; ++k) {
    const double low = leati_ref_type_round(p->type, y->f[k] - y->bound[k]);
    const double high = leati_ref_type_round(p->type, y->f[k] + y->bound[k]);
    if (isfinite(low) && isfinite(high)) {
      y->f[k] = (low + high) / 2;
      y->bound[k] = (high - low) / 2;
    } else if (low == high) {
      y->f[k] = low;
    } else if (!isnan(y->f[k])) {
      y->bound[k] = INFINITY;
    }
  }
}

static bool run_step(program *p, const function *f, const int64_t *operands) {
  leati_ref_tensor moved[1 << OPERANDS_MAX] = {{0}};
  leati_ref_tensor *y = &p->results[p->step_count];
  bool ok = run_operator(p, f, operands, 0, 0, y);
  for (uint32_t signs = 0; ok && signs < 1u << f->inputs; ++signs) {
    ok = run_operator(p, f, operands, 1, signs, &moved[signs]);
  }
  if (ok) {
    widen(p, f, operands, moved, y);
    if (p->type != LEATI_REF_FLOAT32) {
      round_result(p, y);
    }
    p->step_count++;
  }
  for (uint32_t signs = 0; signs < 1u << OPERANDS_MAX; ++signs) {
    leati_ref_tensor_clear(&moved[signs]);
  }
  return ok;
}

static const function *find_function(const char *name, size_t size) {
  for (size_t k = 0; k < sizeof(functions) / sizeof(functions[0]); ++k) {
    if (strlen(functions[k].name) == size && memcmp(functions[k].name, name, size) == 0) {
      return &functions[k];
    }
  }
  return NULL;
}

static bool run_steps(program *p, const leat_attribute *names, const leat_attribute *operands) {
  const char *at = names->string;
  const char *const end = at + names->count;
  uint64_t used = 0;
  while (at < end) {
    const char *space = memchr(at, ' ', (size_t)(end - at));
    const size_t size = (size_t)((space != NULL ? space : end) - at);
    const function *f = find_function(at, size);
    if (f == NULL || p->step_count == STEPS_MAX || used + operands_of(f) > operands->count) {
      return leati_ref_fail(p->node, "Pointwise: step %u cannot be computed", p->step_count);
    }
    for (uint32_t k = 0; k < operands_of(f); ++k) {
      const int64_t operand = operands->ints[used + k];
      if (operand >= (int64_t)p->node->input_count + p->step_count || operand < -(int64_t)p->constant_count) {
        return leati_ref_fail(p->node, "Pointwise: step %u has an operand that is not there", p->step_count);
      }
    }
    if (!run_step(p, f, operands->ints + used)) {
      return false;
    }
    used += operands_of(f);
    at += size + (space != NULL);
  }
  return p->step_count > 0 || leati_ref_fail(p->node, "Pointwise: no steps");
}

/* The shape that all inputs broadcast to, and in it the result of the last step. */
static bool spread(program *p) {
  leati_ref_node *node = p->node;
  const leati_ref_tensor *last = &p->results[p->step_count - 1];
  int32_t rank = 0;
  int64_t dims[LEAT_MAX_RANK];
  for (uint32_t k = 0; k < node->input_count; ++k) {
    rank = node->inputs[k]->rank > rank ? node->inputs[k]->rank : rank;
  }
  for (int32_t d = 0; d < rank; ++d) {
    dims[d] = 1;
    for (uint32_t k = 0; k < node->input_count; ++k) {
      const int32_t at = d - (rank - node->inputs[k]->rank);
      const int64_t dim = at < 0 ? 1 : node->inputs[k]->dims[at];
      if (dim != 1 && dims[d] != 1 && dim != dims[d]) {
        return leati_ref_fail(node, "Pointwise: shapes do not broadcast in dimension %d", (int)d);
      }
      dims[d] = dim != 1 ? dim : dims[d];
    }
  }
  leati_ref_tensor *y = &node->outputs[0];
  leati_ref_tensor_init(y, p->type, rank, dims);
  for (int64_t k = 0; k < y->count; ++k) {
    int64_t index[LEAT_MAX_RANK];
    leati_ref_unravel(rank, dims, k, index);
    leati_ref_tensor_copy_element(y, k, last, leati_ref_broadcast_at(last, rank, index));
  }
  return true;
}

static bool run_pointwise(leati_ref_node *node) {
  const leat_attribute *names = leati_ref_attribute(node, "functions");
  const leat_attribute *operands = leati_ref_attribute(node, "operands");
  const leat_attribute *constants = leati_ref_attribute(node, "constants");
  if (names == NULL || operands == NULL) {
    return leati_ref_fail(node, "Pointwise: no program");
  }
  program p = {.node = node,
               .type = node->inputs[0]->type,
               .constants = constants != NULL ? constants->floats : NULL,
               .constant_count = constants != NULL ? constants->count : 0};
  const bool ok = run_steps(&p, names, operands) && spread(&p);
  for (uint32_t k = 0; k < STEPS_MAX; ++k) {
    leati_ref_tensor_clear(&p.results[k]);
  }
  return ok;
}

/* Whether scale and zero point are those of a type: of bytes, or none of floats. */
static bool codes(leati_ref_type type, double scale, int64_t zero_point) {
  if (type == LEATI_REF_FLOAT32) {
    return scale == 0 && zero_point == 0;
  }
  return isfinite(scale) && scale != 0 && zero_point >= leati_ref_type_low(type) &&
         zero_point <= leati_ref_type_high(type);
}

/* Makes floats of an input; of floats a copy. */
static bool dequantise(leati_ref_node *node, uint32_t number, leati_ref_tensor *out) {
  const leati_ref_tensor *x = node->inputs[number];
  const leat_attribute *scales = leati_ref_attribute(node, "scales");
  const double scale = scales != NULL && number < scales->count ? (double)scales->floats[number] : 0;
  const int64_t zero_point = leati_ref_ints_at(node, "zero_points", number, 0);
  if (!codes(x->type, scale, zero_point)) {
    return leati_ref_fail(node, "QuantizedPointwise: input %u with a scale that its type cannot have", number);
  }
  leati_ref_tensor_init(out, LEATI_REF_FLOAT32, x->rank, x->dims);
  for (int64_t k = 0; k < x->count; ++k) {
    out->f[k] = x->f != NULL ? x->f[k] : (double)(x->i[k] - zero_point) * scale;
    out->bound[k] = x->f != NULL ? 0 : leati_ref_bound_ulps(out->f[k], 1);
  }
  return true;
}

/* Makes of the floats that a program gave what the node gives; `y` is used up. */
static bool quantise(leati_ref_node *node, leati_ref_tensor *y) {
  const int64_t number = leati_ref_int(node, "result_type", 0);
  const leati_ref_type type = number != 0 ? leati_ref_type_from_onnx(number) : LEATI_REF_FLOAT32;
  const double scale = (double)leati_ref_float(node, "result_scale", 0);
  const int64_t zero_point = leati_ref_int(node, "result_zero_point", 0);
  const bool bytes = type == LEATI_REF_INT8 || type == LEATI_REF_UINT8;
  leati_ref_tensor *out = &node->outputs[0];
  if ((!bytes && number != 0) || !codes(type, scale, zero_point)) {
    leati_ref_tensor_clear(y);
    return leati_ref_fail(node, "QuantizedPointwise: a result of such a type and scale cannot be");
  }
  if (!bytes) {
    *out = *y;
    return true;
  }
  leati_ref_tensor_init(out, type, y->rank, y->dims);
  out->bound = leati_ref_alloc(out->count, sizeof(double));
  for (int64_t k = 0; k < y->count; ++k) {
    leati_ref_quantise(out, k, y->f[k] - y->bound[k], y->f[k] + y->bound[k], scale, zero_point);
  }
  leati_ref_tensor_clear(y);
  return true;
}

static bool run_quantized_pointwise(leati_ref_node *node) {
  const leat_attribute *scales = leati_ref_attribute(node, "scales"), *zeros = leati_ref_attribute(node, "zero_points");
  leati_ref_tensor inputs[INPUTS_MAX] = {{0}};
  const leati_ref_tensor *given[INPUTS_MAX];
  if (node->input_count > INPUTS_MAX || (scales != NULL && scales->count != 0 && scales->count != node->input_count) ||
      (zeros != NULL && zeros->count != 0 && zeros->count != node->input_count)) {
    return leati_ref_fail(node, "QuantizedPointwise: lists that do not go together");
  }
  bool ok = true;
  for (uint32_t k = 0; k < node->input_count && ok; ++k) {
    ok = dequantise(node, k, &inputs[k]);
    given[k] = &inputs[k];
  }
  leati_ref_node floats = *node;
  floats.inputs = given;
  if (ok && !run_pointwise(&floats)) {
    ok = leati_ref_fail(node, "%s", floats.error);
  }
  ok = ok && quantise(node, &floats.outputs[0]);
  for (uint32_t k = 0; k < INPUTS_MAX; ++k) {
    leati_ref_tensor_clear(&inputs[k]);
  }
  return ok;
}

const leati_ref_entry leati_ref_pointwise[] = {
    {"Pointwise", run_pointwise},
    {"QuantizedPointwise", run_quantized_pointwise},
    {NULL, NULL},
};
