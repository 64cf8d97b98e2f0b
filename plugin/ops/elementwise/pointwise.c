/* SPDX-License-Identifier: BSD-3-Clause */
/* Pointwise: a program of elementwise functions in one dispatch. Its functions and operands become specialisation
 * constants of kernels/pointwise.comp, so that a pipeline is made for each program; its constants do not.
 * QuantizedPointwise: one of float32, whose operands and result may be bytes with a scale. Other families have programs
 * of one function by leati_plan_scaled(), with scales that lie in memory. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/status.h"
#include "ops/core/attribute.h"
#include "ops/core/channels_last.h"
#include "ops/core/dims.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/pointwise.h"
#include "ops/elementwise/walk.h"

static LEATI_ATTRIBUTE(attribute_functions, "functions", STRING);
static LEATI_ATTRIBUTE(attribute_operands, "operands", INTS);
static LEATI_ATTRIBUTE(attribute_constants, "constants", FLOATS);
static LEATI_ATTRIBUTE(attribute_scales, "scales", FLOATS);
static LEATI_ATTRIBUTE(attribute_zero_points, "zero_points", INTS);
static LEATI_ATTRIBUTE(attribute_result_scale, "result_scale", FLOAT);
static LEATI_ATTRIBUTE(attribute_result_zero_point, "result_zero_point", INT);
static LEATI_ATTRIBUTE(attribute_result_type, "result_type", INT);

/* Operands of one function at most. */
#define OPERANDS_MAX 3

/* Of bytes that stand for floats. */
typedef struct quantisation {
  float scale; /* 0: they are no bytes */
  int64_t zero_point;
} quantisation;

/* A program. The numbers of values that its steps name are those of the kernel. */
typedef struct program {
  const char *name; /* of the operator */
  uint32_t input_count, step_count, constant_count;
  uint32_t steps[LEAT_POINTWISE_STEPS]; /* two bits for the kind of function, seven for LEAT_EW_*, six for each value */
  float constants[LEAT_POINTWISE_CONSTANTS];
  /* QuantizedPointwise alone. */
  quantisation inputs[LEAT_POINTWISE_INPUTS], result;
  uint64_t result_type; /* LEAT_TYPE_* */
} program;

typedef struct dimension {
  uint32_t size;
  leati_divider per_size;
  int32_t result, operands[LEAT_POINTWISE_INPUTS];
} dimension;

/* The kernel's argument record; of `dims` only as many as it has. */
typedef struct pointwise_args {
  uint64_t operands[LEAT_POINTWISE_INPUTS];
  uint64_t result;
  uint32_t count;
  uint32_t zero;
  float constants[LEAT_POINTWISE_CONSTANTS];
  union {
    dimension dims[LEAT_MAX_RANK];
    struct {
      struct {
        float scale, zero;
        uint32_t flip;
      } bytes[LEAT_POINTWISE_INPUTS];
      float result_scale, result_inverse;
      int32_t result_zero, result_low;
      dimension dims[LEAT_MAX_RANK];
    } quantized;
    struct {
      struct {
        uint64_t scale, zero;
        uint32_t flip;
      } bytes[LEAT_POINTWISE_INPUTS];
      uint64_t result_scale, result_zero;
      int32_t result_low;
      dimension dims[LEAT_MAX_RANK];
    } scaled;
  } rest;
} pointwise_args;

_Static_assert(sizeof(pointwise_args) <= LEATI_ARGS_MAX, "the argument record fits");
_Static_assert(LEAT_POINTWISE_FIRST_CONSTANT == LEAT_POINTWISE_INPUTS + LEAT_POINTWISE_STEPS &&
                   LEAT_POINTWISE_FIRST_CONSTANT + LEAT_POINTWISE_CONSTANTS <= 64,
               "the number of a value has six bits");
#define AS_WALKED(field) \
  (offsetof(leati_walk, dims[0].field) - offsetof(leati_walk, dims[0]) == offsetof(dimension, field))
_Static_assert(sizeof(dimension) == sizeof(((leati_walk *)0)->dims[0]) && AS_WALKED(size) && AS_WALKED(per_size) &&
                   AS_WALKED(result) && AS_WALKED(operands),
               "dims are those of a walk");

/* ---- Functions -------------------------------------------------------------------------------------------------- */

/* A function has the name of its operator, and takes the operator's inputs, then its attributes in their order. */
typedef struct function {
  const char *name;
  uint32_t operation, operands;
} function;

/* Of more than one number. */
static const function functions[] = {
    {"Add", LEAT_EW_ADD, 2},
    {"Sub", LEAT_EW_SUB, 2},
    {"Mul", LEAT_EW_MUL, 2},
    {"Div", LEAT_EW_DIV, 2},
    {"Pow", LEAT_EW_POW, 2},
    {"Min", LEAT_EW_MIN, 2},
    {"Max", LEAT_EW_MAX, 2},
    {"PRelu", LEAT_EW_PRELU, 2},
    {"Mod", LEAT_EW_MOD, 2},
    {"Fmod", LEAT_EW_FMOD, 2},
    {"Equal", LEAT_EW_EQUAL, 2},
    {"Less", LEAT_EW_LESS, 2},
    {"Greater", LEAT_EW_GREATER, 2},
    {"LessOrEqual", LEAT_EW_LESS_OR_EQUAL, 2},
    {"GreaterOrEqual", LEAT_EW_GREATER_OR_EQUAL, 2},
    {"Where", LEAT_EW_WHERE, 3},
    {"Clip", LEAT_EW_CLIP, 3},
};
#define FUNCTION_COUNT (sizeof(functions) / sizeof(functions[0]))

/* The function `*at` of all, those of one number first, and moves on; false: there are no more. */
static bool next_function(uint32_t *at, function *out) {
  while (*at < leati_function_name_count && !leati_function_names[*at].program) {
    ++*at;
  }
  if (*at < leati_function_name_count) {
    const leati_function_name *const f = &leati_function_names[(*at)++];
    *out = (function){f->name, f->operation, 1 + f->parameter_count};
    return true;
  }
  const uint32_t i = (*at)++ - leati_function_name_count;
  if (i < FUNCTION_COUNT) {
    *out = functions[i];
  }
  return i < FUNCTION_COUNT;
}

static bool find_function(const char *name, size_t size, function *out) {
  uint32_t at = 0;
  while (next_function(&at, out)) {
    if (strlen(out->name) == size && memcmp(out->name, name, size) == 0) {
      return true;
    }
  }
  return false;
}

const char *leati_pointwise_name(uint32_t operation, uint32_t *out_operands) {
  function f;
  for (uint32_t at = 0; next_function(&at, &f);) {
    if (f.operation == operation) {
      *out_operands = f.operands;
      return f.name;
    }
  }
  return NULL;
}

static int32_t fail_function(const program *p, const char *name, size_t size, leat_error *err) {
  char known[768];
  size_t used = 0;
  function f;
  for (uint32_t at = 0; next_function(&at, &f);) {
    used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", used == 0 ? "" : " ", f.name);
  }
  return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s: step %u is '%.*s', which is no function; those are: %s",
                    p->name, p->step_count, size < 64 ? (int)size : 64, name, known);
}

/* Which of the functions link_1 to link_3 of the kernel has the operation. */
static uint32_t kind_of(uint32_t operation) {
  if (operation >= LEAT_EW_FIRST_EXPONENTIAL && operation < LEAT_EW_FIRST_TRIGONOMETRIC) {
    return 2;
  }
  return operation == LEAT_EW_POW || operation == LEAT_EW_MOD || operation == LEAT_EW_FMOD ||
                 (operation >= LEAT_EW_FIRST_TRIGONOMETRIC && operation < LEAT_EW_ADD)
             ? 3
             : 1;
}

/* ---- Programs --------------------------------------------------------------------------------------------------- */

/* In the attribute inputs come first, then the results of steps; negative numbers count constants from -1 on. */
static int32_t check_operand(const program *p, const function *f, int64_t operand, leat_error *err) {
  const int64_t made = (int64_t)p->input_count + p->step_count;
  return operand < made && operand >= -(int64_t)p->constant_count
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                          "%s: step %u, %s, has operand %" PRId64
                          "; there are %u inputs and results of %u steps from 0 up, and %u constants from -1 down",
                          p->name, p->step_count, f->name, operand, p->input_count, p->step_count, p->constant_count);
}

/* The kernel's number of a value. */
static uint32_t number_of(const program *p, int64_t operand) {
  return operand < 0                ? LEAT_POINTWISE_FIRST_CONSTANT + (uint32_t)(-1 - operand)
         : operand < p->input_count ? (uint32_t)operand
                                    : LEAT_POINTWISE_INPUTS + (uint32_t)operand - p->input_count;
}

/* Appends a step with its operands. */
static int32_t add_step(program *p, const function *f, const int64_t *operands, leat_error *err) {
  uint32_t step = kind_of(f->operation) | f->operation << 2;
  for (uint32_t k = 0; k < f->operands; ++k) {
    LEATI_TRY(check_operand(p, f, operands[k], err));
    step |= number_of(p, operands[k]) << (9 + 6 * k);
  }
  p->steps[p->step_count++] = step;
  return LEAT_OK;
}

static int32_t read_constants(program *p, const leati_op_desc *desc, leat_error *err) {
  const leat_attribute *const given = leati_attr(desc, attribute_constants.name);
  if (given == NULL || given->count == 0) {
    return LEAT_OK;
  }
  if (given->count > LEAT_POINTWISE_CONSTANTS) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s: %" PRIu64 " constants; supported: up to %d", p->name,
                      given->count, LEAT_POINTWISE_CONSTANTS);
  }
  p->constant_count = (uint32_t)given->count;
  memcpy(p->constants, given->floats, p->constant_count * sizeof(float));
  return LEAT_OK;
}

static int32_t read_steps(program *p, const leati_op_desc *desc, leat_error *err) {
  const leat_attribute *const names = leati_attr(desc, attribute_functions.name);
  const char *at = names != NULL && names->count != 0 ? names->string : "";
  const char *const end = at + (names != NULL ? names->count : 0);
  int64_t operands[LEAT_POINTWISE_STEPS * OPERANDS_MAX];
  uint32_t count, used = 0;
  LEATI_TRY(leati_attr_ints(desc, attribute_operands.name, LEAT_POINTWISE_STEPS * OPERANDS_MAX, operands, &count, err));
  while (at < end) {
    const char *const space = memchr(at, ' ', (size_t)(end - at));
    const size_t size = (size_t)((space != NULL ? space : end) - at);
    function f;
    if (!find_function(at, size, &f)) {
      return fail_function(p, at, size, err);
    }
    if (p->step_count == LEAT_POINTWISE_STEPS) {
      return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s: 'functions' has more than %d steps", p->name,
                        LEAT_POINTWISE_STEPS);
    }
    if (count - used < f.operands) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                        "%s: 'operands' has %u elements, of which %u are left for step %u; %s takes %u", p->name, count,
                        count - used, p->step_count, f.name, f.operands);
    }
    LEATI_TRY(add_step(p, &f, operands + used, err));
    used += f.operands;
    at += size + (space != NULL);
  }
  return p->step_count != 0 && used == count
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                          "%s: 'functions' has %u steps that take %u operands; 'operands' has %u", p->name,
                          p->step_count, used, count);
}

/* ---- The operator ----------------------------------------------------------------------------------------------- */

static int32_t pointwise_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  program *const p = leati_op_state(op);
  p->name = leati_op_def_of(op)->info.name;
  p->input_count = desc->input_count;
  LEATI_TRY(read_constants(p, desc, err));
  return read_steps(p, desc, err);
}

static int32_t pointwise_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const program *const p = leati_op_state_const(op);
  for (uint32_t i = 0; i < p->input_count; ++i) {
    if (call->input_count != p->input_count || leati_input(call, i) == NULL) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: its program is for %u inputs, all of them there",
                        p->name, p->input_count);
    }
  }
  return leati_infer_broadcast(op, call, out, err);
}

/* What a program is dispatched with. */
typedef struct job {
  leati_kernel kernel;
  uint32_t
      bytes; /* a bit for each input that is of bytes, and behind those of all that there may be one for the result */
  size_t dims_at; /* of the dimensions in the argument record */
  const leati_view *result;
  uint32_t read_count;
  leati_access reads[LEATI_ACCESS_MAX]; /* the inputs, and what else the kernel reads */
} job;

static void add_read(job *j, const leati_view *view, const uint64_t *field) {
  j->reads[j->read_count++] = (leati_access){.view = view, .field = field};
}

static void read_inputs_of(const leati_call *call, pointwise_args *args, job *j) {
  for (uint32_t i = 0; i < call->input_count; ++i) {
    add_read(j, &call->inputs[i], &args->operands[i]);
  }
}

/* Plans a program's dispatch. Of `args` all but dimensions, constants and tensors is there. */
static int32_t plan_program(const program *p, leati_planner *planner, const job *j, pointwise_args *args,
                            leat_error *err) {
  const leati_view *const result = j->result;
  if (result->count == 0) {
    return LEAT_OK;
  }
  const leati_view *operands[LEAT_POINTWISE_INPUTS];
  for (uint32_t i = 0; i < p->input_count; ++i) {
    operands[i] = j->reads[i].view;
  }
  leati_walk way;
  LEATI_TRY(leati_walk_find(operands, p->input_count, result, &way, err));
  const uint32_t rank = way.access == LEAT_EW_FLAT ? 0 : way.rank;
  args->count = (uint32_t)result->count;
  memcpy(args->constants, p->constants, sizeof(args->constants));
  memcpy((unsigned char *)args + j->dims_at, way.dims, rank * sizeof(dimension));
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = j->kernel,
                   .constants.pointwise = {.access = way.access,
                                           .rank = way.rank,
                                           .inputs = p->input_count | j->bytes << 4,
                                           .steps = p->step_count}},
      .args = args,
      .args_size = (uint32_t)(j->dims_at + rank * sizeof(dimension)),
      .read_count = j->read_count,
      .reads = j->reads,
      LEATI_WRITES({result, &args->result}),
  };
  memcpy(dispatch.pipeline.constants.by_id + offsetof(leati_pointwise_constants, step_0) / sizeof(uint32_t), p->steps,
         p->step_count * sizeof(p->steps[0]));
  leati_groups_linear(planner->device, result->count, LEATI_WALK_GROUP, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

static int32_t pointwise_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  pointwise_args args = {.zero = 0};
  job j = {.kernel = leati_kernel_find(LEATI_KERNELS_POINTWISE, call->outputs[0].type),
           .dims_at = offsetof(pointwise_args, rest.dims),
           .result = &call->outputs[0]};
  read_inputs_of(call, &args, &j);
  return plan_program(leati_op_state_const(op), planner, &j, &args, err);
}

int32_t leati_plan_program(leati_planner *planner, const leati_program *given, const leati_view *inputs,
                           const leati_view *result, leat_error *err) {
  const leati_call call = {.input_count = given->input_count, .inputs = inputs};
  program p = {.input_count = given->input_count, .step_count = given->step_count};
  pointwise_args args = {.zero = 0};
  job j = {.kernel = leati_kernel_find(LEATI_KERNELS_POINTWISE, result->type),
           .dims_at = offsetof(pointwise_args, rest.dims),
           .result = result};
  memcpy(p.constants, given->constants, sizeof(given->constants));
  for (uint32_t s = 0; s < given->step_count; ++s) {
    const leati_program_step *const step = &given->steps[s];
    uint32_t operands = 0;
    (void)leati_pointwise_name(step->operation, &operands);
    p.steps[s] = kind_of(step->operation) | step->operation << 2;
    for (uint32_t k = 0; k < operands; ++k) {
      p.steps[s] |= number_of(&p, step->operands[k]) << (9 + 6 * k);
    }
  }
  read_inputs_of(&call, &args, &j);
  return plan_program(&p, planner, &j, &args, err);
}

/* ---- Bytes ------------------------------------------------------------------------------------------------------ */

static int32_t lowest(uint64_t type) {
  return type == LEAT_TYPE_INT8 ? INT8_MIN : 0;
}

/* What makes four int8 at once uint8. */
static uint32_t flip_of(uint64_t type) {
  return type == LEAT_TYPE_INT8 ? 0x80808080u : 0;
}

/* Fails unless scale and zero point are those of tensors of a type. */
static int32_t check_quantisation(const program *p, const char *of, const quantisation *q, uint64_t type,
                                  leat_error *err) {
  const bool bytes = (type & LEATI_TYPES_BYTE) != 0;
  if (bytes ? !isfinite(q->scale) || q->scale == 0 : q->scale != 0) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: %s is of type %s, so its scale must be %s, not %g",
                      p->name, of, leati_type_name(type), bytes ? "a finite number other than 0" : "0",
                      (double)q->scale);
  }
  const int32_t low = lowest(type), high = bytes ? low + UINT8_MAX : 0;
  return q->zero_point >= low && q->zero_point <= high
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                          "%s: %s is of type %s, so its zero point must be from %d to %d, not %" PRId64, p->name, of,
                          leati_type_name(type), low, high, q->zero_point);
}

static int32_t check_input(const program *p, uint32_t i, uint64_t type, leat_error *err) {
  char of[24];
  (void)snprintf(of, sizeof(of), "input %u", i);
  return check_quantisation(p, of, &p->inputs[i], type, err);
}

/* Fails unless a list that says something of each input has as many elements, or none. */
static int32_t check_list(const program *p, const leat_op_attribute *list, uint64_t count, leat_error *err) {
  return count == 0 || count == p->input_count
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: '%s' has %" PRIu64 " elements for %u inputs", p->name,
                          list->name, count, p->input_count);
}

static int32_t read_inputs(program *p, const leati_op_desc *desc, leat_error *err) {
  const leat_attribute *const scales = leati_attr(desc, attribute_scales.name), *const zeros = leati_attr(
                                                                                    desc, attribute_zero_points.name);
  const uint64_t scale_count = scales != NULL ? scales->count : 0, zero_count = zeros != NULL ? zeros->count : 0;
  LEATI_TRY(check_list(p, &attribute_scales, scale_count, err));
  LEATI_TRY(check_list(p, &attribute_zero_points, zero_count, err));
  for (uint32_t i = 0; i < p->input_count; ++i) {
    p->inputs[i] = (quantisation){.scale = scale_count != 0 ? scales->floats[i] : 0,
                                  .zero_point = zero_count != 0 ? zeros->ints[i] : 0};
    if (leati_is_given(desc, i)) {
      LEATI_TRY(check_input(p, i, leati_type_of(desc->inputs[i].dtype), err));
    }
  }
  return LEAT_OK;
}

static int32_t read_result(program *p, const leati_op_desc *desc, leat_error *err) {
  const int64_t number = leati_attr_int(desc, attribute_result_type.name, 0);
  p->result = (quantisation){.scale = leati_attr_float(desc, attribute_result_scale.name, 0),
                             .zero_point = leati_attr_int(desc, attribute_result_zero_point.name, 0)};
  p->result_type = number != 0 ? leati_type_of_onnx(number) : LEAT_TYPE_FLOAT32;
  if (number != 0 && (p->result_type & LEATI_TYPES_BYTE) == 0) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: 'result_type' is %" PRId64 "; it must be ONNX's number of int8 or uint8, or absent", p->name,
                      number);
  }
  return check_quantisation(p, "the result", &p->result, p->result_type, err);
}

static int32_t quantized_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  program *const p = leati_op_state(op);
  LEATI_TRY(pointwise_create(op, desc, err));
  LEATI_TRY(read_inputs(p, desc, err));
  return read_result(p, desc, err);
}

static int32_t quantized_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const program *const p = leati_op_state_const(op);
  LEATI_TRY(pointwise_infer(op, call, out, err));
  for (uint32_t i = 0; i < p->input_count; ++i) {
    LEATI_TRY(check_input(p, i, call->inputs[i].type, err));
  }
  out->dtype = leati_dtype_of(p->result_type);
  return LEAT_OK;
}

/* Divisor::inverse of kernels/quotient.glsl. */
static float inverse_of(float scale) {
  return fabsf(scale) >= 0x1p-103f && fabsf(scale) < 0x1p125f ? 1 / scale : NAN;
}

static int32_t quantized_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const program *const p = leati_op_state_const(op);
  const int32_t low = lowest(p->result_type);
  pointwise_args args = {.rest.quantized = {.result_scale = p->result.scale,
                                            .result_inverse = inverse_of(p->result.scale),
                                            .result_zero = (int32_t)p->result.zero_point,
                                            .result_low = low}};
  job j = {.kernel = LEATI_KERNEL_QUANTIZED_POINTWISE_F32,
           .bytes = p->result_type != LEAT_TYPE_FLOAT32 ? 1u << LEAT_POINTWISE_INPUTS : 0,
           .dims_at = offsetof(pointwise_args, rest.quantized.dims),
           .result = &call->outputs[0]};
  read_inputs_of(call, &args, &j);
  for (uint32_t i = 0; i < p->input_count; ++i) {
    const uint64_t type = call->inputs[i].type;
    args.rest.quantized.bytes[i].scale = p->inputs[i].scale;
    args.rest.quantized.bytes[i].zero = (float)(p->inputs[i].zero_point - lowest(type));
    args.rest.quantized.bytes[i].flip = flip_of(type);
    j.bytes |= (uint32_t)(type != LEAT_TYPE_FLOAT32) << i;
  }
  return plan_program(p, planner, &j, &args, err);
}

/* ---- Scales in memory ------------------------------------------------------------------------------------------- */

/* A program of one function, of the operands and then the parameters. */
static program program_of(const leati_function *computed, uint32_t operand_count) {
  program p = {.input_count = operand_count, .step_count = 1, .constant_count = 2};
  memcpy(p.constants, computed->parameters, sizeof(computed->parameters));
  p.steps[0] = kind_of(computed->operation) | computed->operation << 2;
  for (uint32_t k = 0; k < OPERANDS_MAX; ++k) {
    p.steps[0] |= number_of(&p, k < operand_count ? (int64_t)k : (int64_t)operand_count - k - 1) << (9 + 6 * k);
  }
  return p;
}

int32_t leati_plan_scaled(leati_planner *planner, const leati_function *computed, const leati_scaled *operands,
                          uint32_t operand_count, const leati_scaled *result, leat_error *err) {
  const program p = program_of(computed, operand_count);
  pointwise_args args = {.rest.scaled.result_low = lowest(result->view.type)};
  job j = {.kernel = LEATI_KERNEL_SCALED_POINTWISE_F32,
           .bytes = result->scale != NULL ? 1u << LEAT_POINTWISE_INPUTS : 0,
           .dims_at = offsetof(pointwise_args, rest.scaled.dims),
           .result = &result->view};
  for (uint32_t k = 0; k < operand_count; ++k) {
    add_read(&j, &operands[k].view, &args.operands[k]);
  }
  for (uint32_t k = 0; k < operand_count; ++k) {
    args.rest.scaled.bytes[k].flip = flip_of(operands[k].view.type);
    j.bytes |= (uint32_t)(operands[k].scale != NULL) << k;
    add_read(&j, operands[k].scale, &args.rest.scaled.bytes[k].scale);
    add_read(&j, operands[k].zero, &args.rest.scaled.bytes[k].zero);
  }
  add_read(&j, result->scale, &args.rest.scaled.result_scale);
  add_read(&j, result->zero, &args.rest.scaled.result_zero);
  return plan_program(&p, planner, &j, &args, err);
}

/* Makes a temporary of float32 in the shape of bytes, with `last` in NHWC layout too where they are. */
static int32_t make_floats(leati_planner *planner, const leati_view *bytes, bool last, leati_scaled *out,
                           leat_error *err) {
  *out = (leati_scaled){.view = {.type = LEAT_TYPE_FLOAT32, .ndim = bytes->ndim}};
  memcpy(out->view.shape, bytes->shape, sizeof(bytes->shape));
  LEATI_TRY(leati_plan_temporary(planner, &out->view, err));
  if (last && leati_is_channels_last(bytes)) {
    leati_make_channels_last(&out->view);
  }
  return LEAT_OK;
}

int32_t leati_plan_as_floats(const leat_op *op, leati_planner *planner, const leati_call *call,
                             int32_t (*plan)(const leat_op *, leati_planner *, const leati_call *, leat_error *),
                             bool last, leat_error *err) {
  static const leati_function same = {.operation = LEAT_EW_IDENTITY};
  const leati_scaled from = leati_scaled_by(call, &call->inputs[0], 1),
                     to = leati_scaled_by(call, &call->outputs[0], 3);
  leati_scaled x, y;
  if (to.view.count == 0) {
    return LEAT_OK;
  }
  LEATI_TRY(make_floats(planner, &from.view, last, &x, err));
  LEATI_TRY(make_floats(planner, &to.view, last, &y, err));
  const leati_call floats = {.input_count = 1, .inputs = &x.view, .output_count = 1, .outputs = &y.view};
  LEATI_TRY(leati_plan_scaled(planner, &same, &from, 1, &x, err));
  LEATI_TRY(plan(op, planner, &floats, err));
  return leati_plan_scaled(planner, &same, &y, 1, &to, err);
}

/* ---- The list --------------------------------------------------------------------------------------------------- */

#define TYPES_QUANTIZED (LEAT_TYPE_FLOAT32 | LEATI_TYPES_BYTE)
static LEATI_TYPE(type_1, "T1", TYPES_QUANTIZED);
static LEATI_TYPE(type_2, "T2", TYPES_QUANTIZED);
static LEATI_TYPE(type_3, "T3", TYPES_QUANTIZED);
static LEATI_TYPE(type_4, "T4", TYPES_QUANTIZED);
static LEATI_TYPE(type_5, "T5", TYPES_QUANTIZED);
static LEATI_TYPE(type_6, "T6", TYPES_QUANTIZED);
static LEATI_TYPE(type_7, "T7", TYPES_QUANTIZED);
static LEATI_TYPE(type_8, "T8", TYPES_QUANTIZED);
static LEATI_TYPE(type_result, "T9", TYPES_QUANTIZED);

static const leati_op_def ops[] = {
    LEATI_OP("Pointwise", "leat", (1, 1), (1, LEAT_POINTWISE_INPUTS), (1, 1), .info.flags = LEAT_OP_IN_PLACE,
             LEATI_TYPES(&leati_type_real),
             LEATI_ATTRIBUTES(&attribute_functions, &attribute_operands, &attribute_constants),
             .state_size = sizeof(program), .create = pointwise_create, .infer = pointwise_infer,
             LEATI_KERNELS(LEATI_KERNELS_POINTWISE), .plan = pointwise_plan, .reads_view = leati_reads_rows,
             .channels_last = leati_elementwise_channels_last),
    LEATI_OP("QuantizedPointwise", "leat", (1, 1), (1, LEAT_POINTWISE_INPUTS), (1, 1), .info.flags = LEAT_OP_IN_PLACE,
             LEATI_TYPES(&type_1, &type_2, &type_3, &type_4, &type_5, &type_6, &type_7, &type_8, &type_result),
             LEATI_ATTRIBUTES(&attribute_functions, &attribute_operands, &attribute_constants, &attribute_scales,
                              &attribute_zero_points, &attribute_result_scale, &attribute_result_zero_point,
                              &attribute_result_type),
             LEATI_INPUT_TYPES(0, 1, 2, 3, 4, 5, 6, 7), LEATI_OUTPUT_TYPES(8), .state_size = sizeof(program),
             .create = quantized_create, .infer = quantized_infer, LEATI_KERNELS(LEATI_KERNELS_QUANTIZED_POINTWISE),
             .plan = quantized_plan, .reads_view = leati_reads_rows, .channels_last = leati_elementwise_channels_last),
};

const leati_op_family leati_pointwise_family = LEATI_FAMILY(ops);
