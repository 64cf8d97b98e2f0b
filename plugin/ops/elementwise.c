/* SPDX-License-Identifier: BSD-3-Clause */
/* Operators that compute each element of their result from one element of each operand, with broadcasting: arithmetic,
 * functions of one number, comparison, logic, selection, conversion. They share one kernel source; see
 * kernels/elementwise.comp. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/status.h"
#include "ops/kernels/elementwise_codes.glsl"
#include "ops/op.h"

#define OPERANDS_MAX 3

/* The kernel's argument record. */
typedef struct elementwise_args {
  uint64_t operands[OPERANDS_MAX];
  uint64_t result;
  uint32_t count;
  uint32_t rank;
  float parameters[2];
  uint32_t dims[LEAT_MAX_RANK];
  int32_t operand_strides[OPERANDS_MAX][LEAT_MAX_RANK];
  int32_t result_strides[LEAT_MAX_RANK];
} elementwise_args;

/* Elements that a workgroup of the kernel handles, in either way of access. */
#define ELEMENTS_PER_GROUP 1024

/* One use of the kernel. */
typedef struct elementwise {
  leati_kernel kernel;
  uint32_t operation;         /* LEAT_EW_* */
  uint32_t type_in, type_out; /* specialisation constants */
  const float *parameters;    /* two, or NULL */
  uint32_t operand_count;     /* 1 to OPERANDS_MAX */
  const leati_view *operands[OPERANDS_MAX];
  const char *divides; /* NULL, or the name of an operator of two integers that may meet a zero divisor */
} elementwise;

/* ---- Planning --------------------------------------------------------------------------------------------------- */

/* Kernels count elements and offsets in 32 bits. */
static int32_t check_reach(const leati_view *view, leat_error *err) {
  return view->end - view->begin <= (uint64_t)INT32_MAX * view->item_size
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                          "a tensor reaches over %llu elements; elementwise operators support up to 2147483647",
                          (unsigned long long)((view->end - view->begin) / view->item_size));
}

static bool aligned_for_four(const leati_view *view) {
  const uint32_t bytes = view->item_size * 4 > 16 ? 16 : view->item_size * 4;
  return (view->address & (bytes - 1)) == 0; /* sizes of elements are powers of two, here and in memory/tensor.c */
}

/* Whether four elements side by side can be handled at once: the innermost dimension is compact in the result and
 * compact or repeated in operands, and groups of four start at aligned addresses. */
static bool is_vector(const elementwise *e, const leati_view *result, int32_t rank, const int64_t *dims,
                      int64_t (*strides)[LEAT_MAX_RANK]) {
  const int32_t last = rank - 1;
  if (rank > 1 && dims[last] % 4 != 0) {
    return false;
  }
  for (uint32_t k = 0; k <= e->operand_count; ++k) {
    const leati_view *const view = k < e->operand_count ? e->operands[k] : result;
    if (strides[k][last] == 0 && k < e->operand_count) {
      continue;
    }
    if (strides[k][last] != 1 || !aligned_for_four(view)) {
      return false;
    }
    for (int32_t d = 0; d < last; ++d) {
      if (strides[k][d] % 4 != 0) {
        return false;
      }
    }
  }
  return true;
}

/* The fewest dimensions that the operation has, and the steps of operands and result (the last) in each. */
static int32_t collapse(const elementwise *e, const leati_view *result, int64_t *dims,
                        int64_t (*strides)[LEAT_MAX_RANK]) {
  memcpy(dims, result->shape, sizeof(result->shape));
  for (uint32_t k = 0; k < e->operand_count; ++k) {
    leati_broadcast_strides(e->operands[k], result->ndim, dims, strides[k]);
  }
  leati_broadcast_strides(result, result->ndim, dims, strides[e->operand_count]);
  const int32_t rank = leati_collapse(result->ndim, dims, e->operand_count + 1, strides);
  if (rank == 1 && dims[0] == 1) {
    /* A single element: a step of one anywhere, so that it counts as compact. */
    strides[e->operand_count][0] = 1;
  }
  return rank;
}

/* Fills in dimensions and steps of an operation whose tensors are all compact and of one shape: one dimension. Says
 * whether four elements can be handled at once. */
static bool fill_flat(const elementwise *e, const leati_view *result, elementwise_args *args) {
  bool vector = aligned_for_four(result);
  for (uint32_t k = 0; k < e->operand_count; ++k) {
    vector = vector && aligned_for_four(e->operands[k]);
  }
  const int32_t step = vector ? 4 : 1;
  args->rank = 1;
  args->dims[0] = vector ? (args->count + 3) / 4 : args->count;
  args->result_strides[0] = step;
  for (uint32_t k = 0; k < e->operand_count; ++k) {
    args->operand_strides[k][0] = step;
  }
  return vector;
}

/* The same for any operation. */
static bool fill_dims(const elementwise *e, const leati_view *result, elementwise_args *args) {
  int64_t dims[LEAT_MAX_RANK];
  int64_t strides[OPERANDS_MAX + 1][LEAT_MAX_RANK];
  const int32_t rank = collapse(e, result, dims, strides);
  args->rank = (uint32_t)rank;
  for (int32_t d = 0; d < rank; ++d) {
    args->dims[d] = (uint32_t)dims[d];
    args->result_strides[d] = (int32_t)strides[e->operand_count][d];
    for (uint32_t k = 0; k < e->operand_count; ++k) {
      args->operand_strides[k][d] = (int32_t)strides[k][d];
    }
  }
  if (!is_vector(e, result, rank, dims, strides)) {
    return false;
  }
  args->dims[rank - 1] = (args->dims[rank - 1] + 3) / 4;
  args->result_strides[rank - 1] *= 4;
  for (uint32_t k = 0; k < e->operand_count; ++k) {
    args->operand_strides[k][rank - 1] *= 4;
  }
  return true;
}

static int32_t add(leati_planner *planner, const elementwise *e, const leati_view *result, leat_error *err) {
  if (result->count == 0) {
    return LEAT_OK;
  }
  LEATI_TRY(check_reach(result, err));
  elementwise_args args = {.count = (uint32_t)result->count};
  for (uint32_t i = 0; i < 2; ++i) {
    args.parameters[i] = e->parameters != NULL ? e->parameters[i] : 0.0f;
  }
  bool flat = result->compact;
  leati_access operands[OPERANDS_MAX];
  for (uint32_t k = 0; k < e->operand_count; ++k) {
    LEATI_TRY(check_reach(e->operands[k], err));
    flat = flat && e->operands[k]->compact && e->operands[k]->count == result->count;
    operands[k] = (leati_access){.view = e->operands[k], .field = &args.operands[k]};
  }
  /* The kernel of a division has two operands, and takes where it tells of a zero divisor for the third. */
  const uint32_t type_in = e->divides != NULL ? planner->guarded : e->type_in;
  const bool vector = flat ? fill_flat(e, result, &args) : fill_dims(e, result, &args);
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = e->kernel,
                   .constants.elementwise = {.operation = e->operation,
                                             .access = vector ? LEAT_EW_VECTOR : LEAT_EW_STRIDED,
                                             .type_in = type_in,
                                             .type_out = e->type_out}},
      .args = &args,
      .args_size = sizeof(args),
      .read_count = e->operand_count,
      .reads = operands,
      LEATI_WRITES({result, &args.result}),
      .finding = e->divides != NULL ? &args.operands[2] : NULL,
      .fault = LEATI_FAULT_DIVISOR,
      .name = e->divides,
  };
  leati_groups_linear(planner->device, result->count, ELEMENTS_PER_GROUP, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

/* ---- Types ------------------------------------------------------------------------------------------------------ */

#define TYPES_SIGNED (LEAT_TYPE_INT8 | LEAT_TYPE_INT16 | LEAT_TYPE_INT32 | LEAT_TYPE_INT64)
#define TYPES_UNSIGNED (LEAT_TYPE_UINT8 | LEAT_TYPE_UINT16 | LEAT_TYPE_UINT32 | LEAT_TYPE_UINT64)
#define TYPES_INTEGER (TYPES_SIGNED | TYPES_UNSIGNED)
#define TYPES_NUMBER (LEAT_TYPE_FLOAT32 | TYPES_INTEGER)
#define TYPES_MOVED (TYPES_NUMBER | LEAT_TYPE_FLOAT16 | LEAT_TYPE_BFLOAT16 | LEAT_TYPE_FLOAT64 | LEAT_TYPE_BOOL)
#define TYPES_CAST (TYPES_NUMBER | LEAT_TYPE_FLOAT16 | LEAT_TYPE_BFLOAT16 | LEAT_TYPE_BOOL)

/* A type as the kernels of Cast and Pow are told of it. */
static uint32_t type_code(uint64_t type) {
  return (uint32_t)__builtin_ctzll(type);
}
_Static_assert(LEAT_TYPE_FLOAT32 == UINT64_C(1) << LEAT_ANY_F32 && LEAT_TYPE_BFLOAT16 == UINT64_C(1) << LEAT_ANY_BF16 &&
                   LEAT_TYPE_INT8 == UINT64_C(1) << LEAT_ANY_I8 && LEAT_TYPE_UINT8 == UINT64_C(1) << LEAT_ANY_U8 &&
                   LEAT_TYPE_BOOL == UINT64_C(1) << LEAT_ANY_BOOL,
               "elementwise_codes.glsl numbers types as the ABI does");

static LEATI_TYPE(type_number, "T", TYPES_NUMBER);
static LEATI_TYPE(type_signed, "T", LEAT_TYPE_FLOAT32 | TYPES_SIGNED);
static LEATI_TYPE(type_prelu, "T", LEAT_TYPE_FLOAT32 | LEAT_TYPE_INT32 | LEAT_TYPE_INT64);
static LEATI_TYPE(type_equal, "T", TYPES_NUMBER | LEAT_TYPE_BOOL);
static LEATI_TYPE(type_bool_in, "T", LEAT_TYPE_BOOL);
static LEATI_TYPE(type_bool_out, "T1", LEAT_TYPE_BOOL);
static LEATI_TYPE(type_float_in, "T1", LEAT_TYPE_FLOAT32);
static LEATI_TYPE(type_class_out, "T2", LEAT_TYPE_BOOL);
static LEATI_TYPE(type_pow, "T", LEAT_TYPE_FLOAT32 | LEAT_TYPE_INT32 | LEAT_TYPE_INT64);
static LEATI_TYPE(type_pow_exponent, "T1", TYPES_NUMBER);
static LEATI_TYPE(type_where_condition, "B", LEAT_TYPE_BOOL);
static LEATI_TYPE(type_where, "T", TYPES_MOVED);
static LEATI_TYPE(type_cast_in, "T1", TYPES_CAST);
static LEATI_TYPE(type_cast_out, "T2", TYPES_CAST);

static LEATI_ATTRIBUTE(attribute_gamma, "gamma", FLOAT);
static LEATI_ATTRIBUTE(attribute_lambd, "lambd", FLOAT);
static LEATI_ATTRIBUTE(attribute_bias, "bias", FLOAT);
static LEATI_ATTRIBUTE(attribute_approximate, "approximate", STRING);
static LEATI_ATTRIBUTE(attribute_detect_negative, "detect_negative", INT);
static LEATI_ATTRIBUTE(attribute_detect_positive, "detect_positive", INT);
static LEATI_ATTRIBUTE(attribute_fmod, "fmod", INT);
static LEATI_ATTRIBUTE(attribute_to, "to", INT);
static LEATI_ATTRIBUTE(attribute_saturate, "saturate", INT);

/* ---- Shapes and attributes -------------------------------------------------------------------------------------- */

/* What an operator keeps of its attributes. */
typedef struct elementwise_state {
  uint32_t operation;
  float parameters[2];
  uint64_t to; /* LEAT_TYPE_* that Cast gives */
} elementwise_state;

/* The result has the shape that all operands broadcast to. */
static int32_t broadcast_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  (void)op;
  for (uint32_t i = 0; i < call->input_count; ++i) {
    const leati_view *const input = leati_input(call, i);
    if (input != NULL) {
      LEATI_TRY(leati_broadcast(&out->ndim, out->dims, input->ndim, input->shape, err));
    }
  }
  return LEAT_OK;
}

/* PRelu's slope broadcasts to the input and never the other way round. */
static int32_t prelu_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const leati_view *const input = &call->inputs[0];
  LEATI_TRY(broadcast_infer(op, call, out, err));
  if (out->ndim != input->ndim || memcmp(out->dims, input->shape, (size_t)input->ndim * sizeof(out->dims[0])) != 0) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "PRelu: the slope does not broadcast to the shape of the input");
  }
  return LEAT_OK;
}

/* Attributes of the operators of one number, and their defaults. */
static const struct {
  uint32_t operation;
  const char *names[2];
  float otherwise[2];
} parameters_by_operation[] = {
    {LEAT_EW_LEAKY_RELU, {"alpha", NULL}, {0.01f, 0.0f}},
    {LEAT_EW_HARD_SIGMOID, {"alpha", "beta"}, {0.2f, 0.5f}},
    {LEAT_EW_ELU, {"alpha", NULL}, {1.0f, 0.0f}},
    {LEAT_EW_SELU, {"alpha", "gamma"}, {1.67326319217681884765625f, 1.05070102214813232421875f}},
    {LEAT_EW_CELU, {"alpha", NULL}, {1.0f, 0.0f}},
    {LEAT_EW_THRESHOLDED_RELU, {"alpha", NULL}, {1.0f, 0.0f}},
    {LEAT_EW_SHRINK, {"lambd", "bias"}, {0.5f, 0.0f}},
};

/* The result is bool; nothing among the inputs says so. */
static int32_t bool_same_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  out->dtype = leati_dtype_of(LEAT_TYPE_BOOL);
  return leati_infer_same(op, call, out, err);
}
static int32_t bool_broadcast_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  out->dtype = leati_dtype_of(LEAT_TYPE_BOOL);
  return broadcast_infer(op, call, out, err);
}

static int32_t unary_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  elementwise_state *const state = leati_op_state(op);
  state->operation = leati_op_def_of(op)->param;
  for (size_t i = 0; i < sizeof(parameters_by_operation) / sizeof(parameters_by_operation[0]); ++i) {
    if (parameters_by_operation[i].operation != state->operation) {
      continue;
    }
    for (uint32_t k = 0; k < 2; ++k) {
      const char *const name = parameters_by_operation[i].names[k];
      const float otherwise = parameters_by_operation[i].otherwise[k];
      state->parameters[k] = name == NULL ? otherwise : leati_attr_float(desc, name, otherwise);
    }
  }
  /* A device may take a subnormal divisor for 0, with which Celu is another function. */
  float *const alpha = &state->parameters[0];
  if (state->operation == LEAT_EW_CELU && *alpha != 0.0f && fabsf(*alpha) < FLT_MIN) {
    *alpha = copysignf(FLT_MIN, *alpha);
  }
  return LEAT_OK;
}

static int32_t swish_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  elementwise_state *const state = leati_op_state(op);
  state->operation = LEAT_EW_SWISH;
  /* QuickGelu is Swish with another default. */
  state->parameters[0] = leati_attr_float(desc, "alpha", leati_op_def_of(op)->info.domain[0] == '\0' ? 1.0f : 1.702f);
  return LEAT_OK;
}

static int32_t gelu_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc, leat_error *err) {
  (void)def;
  (void)device;
  return leati_attr(desc, "approximate") == NULL || leati_attr_is(desc, "approximate", "none") ||
                 leati_attr_is(desc, "approximate", "tanh")
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Gelu: 'approximate' must be 'none' or 'tanh'");
}

static int32_t gelu_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  elementwise_state *const state = leati_op_state(op);
  state->operation = leati_attr_is(desc, "approximate", "tanh") ? LEAT_EW_GELU_TANH : LEAT_EW_GELU;
  return LEAT_OK;
}

static int32_t isinf_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  elementwise_state *const state = leati_op_state(op);
  state->operation = LEAT_EW_ISINF;
  state->parameters[0] = leati_attr_int(desc, "detect_negative", 1) != 0 ? 1.0f : 0.0f;
  state->parameters[1] = leati_attr_int(desc, "detect_positive", 1) != 0 ? 1.0f : 0.0f;
  return LEAT_OK;
}

static int32_t mod_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc, leat_error *err) {
  (void)def;
  (void)device;
  return leati_type_of(desc->inputs[0].dtype) != LEAT_TYPE_FLOAT32 || desc->opset >= 28 ||
                 leati_attr_int(desc, "fmod", 0) == 1
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                          "Mod: floating-point operands need 'fmod' = 1 before version 28");
}

static int32_t mod_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  elementwise_state *const state = leati_op_state(op);
  state->operation = leati_attr_int(desc, "fmod", 0) == 1 ? LEAT_EW_FMOD : LEAT_EW_MOD;
  return LEAT_OK;
}

/* LEAT_TYPE_* of a number of ONNX's TensorProto.DataType; 0: none that Cast knows. */
static uint64_t type_of_onnx(int64_t number) {
  switch (number) {
    case 1:
      return LEAT_TYPE_FLOAT32;
    case 2:
      return LEAT_TYPE_UINT8;
    case 3:
      return LEAT_TYPE_INT8;
    case 4:
      return LEAT_TYPE_UINT16;
    case 5:
      return LEAT_TYPE_INT16;
    case 6:
      return LEAT_TYPE_INT32;
    case 7:
      return LEAT_TYPE_INT64;
    case 9:
      return LEAT_TYPE_BOOL;
    case 10:
      return LEAT_TYPE_FLOAT16;
    case 12:
      return LEAT_TYPE_UINT32;
    case 13:
      return LEAT_TYPE_UINT64;
    case 16:
      return LEAT_TYPE_BFLOAT16;
    default:
      return 0;
  }
}

static int32_t cast_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc, leat_error *err) {
  (void)def;
  (void)device;
  const int64_t to = leati_attr_int(desc, "to", 0);
  return type_of_onnx(to) != 0
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "Cast to ONNX type %lld is not supported", (long long)to);
}

static int32_t cast_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  elementwise_state *const state = leati_op_state(op);
  state->to = type_of_onnx(leati_attr_int(desc, "to", 0));
  return LEAT_OK;
}

static int32_t cast_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const elementwise_state *const state = leati_op_state_const(op);
  out->dtype = leati_dtype_of(state->to);
  return leati_infer_same(op, call, out, err);
}

/* ---- Operators -------------------------------------------------------------------------------------------------- */

static leati_kernel unary_kernel(uint64_t type, uint32_t operation) {
  const leati_kernel_set set = operation >= LEAT_EW_FIRST_TRIGONOMETRIC ? LEATI_KERNELS_TRIGONOMETRIC
                               : operation >= LEAT_EW_FIRST_EXPONENTIAL ? LEATI_KERNELS_EXPONENTIAL
                                                                        : LEATI_KERNELS_UNARY;
  return leati_kernel_find(set, type);
}

static int32_t unary_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const elementwise_state *const state = leati_op_state_const(op);
  const leati_view *const x = &call->inputs[0];
  const elementwise e = {
      .kernel = unary_kernel(x->type, state->operation),
      .operation = state->operation,
      .parameters = state->parameters,
      .operand_count = 1,
      .operands = {x},
  };
  return add(planner, &e, &call->outputs[0], err);
}

static int32_t classify_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const elementwise_state *const state = leati_op_state_const(op);
  const elementwise e = {
      .kernel = leati_kernel_find(LEATI_KERNELS_CLASSIFY, call->inputs[0].type),
      .operation = state->operation,
      .parameters = state->parameters,
      .operand_count = 1,
      .operands = {&call->inputs[0]},
  };
  return add(planner, &e, &call->outputs[0], err);
}

static int32_t not_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  (void)op;
  const elementwise e = {
      .kernel = leati_kernel_find(LEATI_KERNELS_LOGIC_NOT, call->inputs[0].type),
      .operation = LEAT_EW_NOT,
      .operand_count = 1,
      .operands = {&call->inputs[0]},
  };
  return add(planner, &e, &call->outputs[0], err);
}

/* The operation of Mod depends on an attribute, that of the others on the operator alone. */
static uint32_t operation_of(const leat_op *op) {
  const leati_op_def *const def = leati_op_def_of(op);
  return def->state_size == 0 ? def->param : ((const elementwise_state *)leati_op_state_const(op))->operation;
}

static int32_t binary_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const uint32_t operation = operation_of(op);
  const bool divides = operation == LEAT_EW_DIV || operation == LEAT_EW_MOD || operation == LEAT_EW_FMOD;
  const elementwise e = {
      .kernel = leati_kernel_find(LEATI_KERNELS_BINARY, call->inputs[0].type),
      .operation = operation,
      .divides = divides && call->inputs[0].type != LEAT_TYPE_FLOAT32 ? leati_op_def_of(op)->info.name : NULL,
      .operand_count = 2,
      .operands = {&call->inputs[0], &call->inputs[1]},
  };
  return add(planner, &e, &call->outputs[0], err);
}

static int32_t compare_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const elementwise e = {
      .kernel = leati_kernel_find(LEATI_KERNELS_COMPARE, call->inputs[0].type),
      .operation = operation_of(op),
      .operand_count = 2,
      .operands = {&call->inputs[0], &call->inputs[1]},
  };
  return add(planner, &e, &call->outputs[0], err);
}

static int32_t logic_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const elementwise e = {
      .kernel = leati_kernel_find(LEATI_KERNELS_LOGIC, call->inputs[0].type),
      .operation = operation_of(op),
      .operand_count = 2,
      .operands = {&call->inputs[0], &call->inputs[1]},
  };
  return add(planner, &e, &call->outputs[0], err);
}

/* Folds any number of operands into the result, two at a time from the left. */
static int32_t variadic_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const leati_op_def *const def = leati_op_def_of(op);
  const leati_view *const result = &call->outputs[0];
  if (call->input_count == 1) {
    return leati_plan_strided_copy(planner, &call->inputs[0], result, err);
  }
  const bool mean = def->param == LEAT_EW_ADD_SCALED;
  const float parameters[2] = {(float)call->input_count, 0.0f};
  for (uint32_t i = 1; i < call->input_count; ++i) {
    const elementwise e = {
        .kernel = leati_kernel_find(LEATI_KERNELS_BINARY, result->type),
        .operation = mean && i + 1 < call->input_count ? LEAT_EW_ADD : def->param,
        .parameters = parameters,
        .operand_count = 2,
        .operands = {i == 1 ? &call->inputs[0] : result, &call->inputs[i]},
    };
    LEATI_TRY(add(planner, &e, result, err));
  }
  return LEAT_OK;
}

static int32_t pow_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  (void)op;
  const elementwise e = {
      .kernel = leati_kernel_find(LEATI_KERNELS_POW, call->inputs[0].type),
      .operation = LEAT_EW_POW,
      .type_in = type_code(call->inputs[1].type),
      .operand_count = 2,
      .operands = {&call->inputs[0], &call->inputs[1]},
  };
  return add(planner, &e, &call->outputs[0], err);
}

static int32_t clip_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  for (uint32_t i = 1; i < 3; ++i) {
    const leati_view *const bound = leati_input(call, i);
    if (bound != NULL && bound->count != 1) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Clip: input %u has %llu elements; expected a scalar", i,
                        (unsigned long long)bound->count);
    }
  }
  return leati_infer_same(op, call, out, err);
}

static int32_t clip_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  (void)op;
  const leati_view *const x = &call->inputs[0];
  const leati_view *const given[2] = {leati_input(call, 1), leati_input(call, 2)};
  leati_view bounds[2];
  for (uint32_t i = 0; i < 2; ++i) {
    /* A bound may have shape [1, 1]: as a scalar it broadcasts to anything. One that is missing is read and ignored. */
    bounds[i] = given[i] != NULL ? *given[i] : *x;
    bounds[i].ndim = 0;
    bounds[i].count = 1;
  }
  const elementwise e = {
      .kernel = leati_kernel_find(LEATI_KERNELS_CLIP, x->type),
      .operation = LEAT_EW_CLIP,
      .type_in = (given[0] != NULL ? 1u : 0u) | (given[1] != NULL ? 2u : 0u),
      .operand_count = 3,
      .operands = {x, &bounds[0], &bounds[1]},
  };
  return add(planner, &e, &call->outputs[0], err);
}

static int32_t where_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  (void)op;
  const elementwise e = {
      .kernel = leati_kernel_find_item(LEATI_KERNELS_WHERE, call->inputs[1].item_size),
      .operation = LEAT_EW_WHERE,
      .operand_count = 3,
      .operands = {&call->inputs[0], &call->inputs[1], &call->inputs[2]},
  };
  return add(planner, &e, &call->outputs[0], err);
}

/* Cast and CastLike; the type wanted is that of the output. */
static int32_t cast_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  (void)op;
  const leati_view *const x = &call->inputs[0];
  const leati_view *const result = &call->outputs[0];
  /* bool to bool is not a copy: any byte but 0 becomes 1. */
  if (x->type == result->type && x->type != LEAT_TYPE_BOOL) {
    return leati_plan_strided_copy(planner, x, result, err);
  }
  const elementwise e = {
      .kernel = LEATI_KERNEL_CAST,
      .operation = LEAT_EW_IDENTITY,
      .type_in = type_code(x->type),
      .type_out = type_code(result->type),
      .operand_count = 1,
      .operands = {x},
  };
  return add(planner, &e, result, err);
}

/* ---- The list --------------------------------------------------------------------------------------------------- */

/* An operator of one number; the rest are designated initialisers. */
#define UNARY_WITH(name, domain, versions, types_, operation, ...)                                       \
  LEATI_OP(name, domain, versions, (1, 1), (1, 1), .info.flags = LEAT_OP_IN_PLACE, LEATI_TYPES(&types_), \
           .state_size = sizeof(elementwise_state), .param = (operation), .infer = leati_infer_same,     \
           LEATI_KERNELS(LEATI_KERNELS_UNARY, LEATI_KERNELS_EXPONENTIAL, LEATI_KERNELS_TRIGONOMETRIC),   \
           .plan = unary_plan, __VA_ARGS__)
#define UNARY(name, versions, types_, operation) \
  UNARY_WITH(name, "", versions, types_, operation, .create = unary_create)
/* Two operands of one type, and a result of the same type. */
#define BINARY(name, versions, types_, operation, infer_, plan_)                                              \
  LEATI_OP(name, "", versions, (2, 2), (1, 1), .info.flags = LEAT_OP_IN_PLACE, LEATI_TYPES(&types_),          \
           .param = (operation), .infer = (infer_), LEATI_KERNELS(LEATI_KERNELS_BINARY, LEATI_KERNELS_LOGIC), \
           .plan = (plan_))
#define COMPARE(name, versions, types_, operation)                                                          \
  LEATI_OP(name, "", versions, (2, 2), (1, 1), LEATI_TYPES(&types_, &type_bool_out), LEATI_OUTPUT_TYPES(1), \
           .param = (operation), .infer = bool_broadcast_infer, LEATI_KERNELS(LEATI_KERNELS_COMPARE),       \
           .plan = compare_plan)
/* Not in place: an operand that comes later would be overwritten before it is read. */
#define VARIADIC(name, types_, operation)                                                             \
  LEATI_OP(name, "", (8, 13), (1, LEAT_VARIADIC), (1, 1), LEATI_TYPES(&types_), .param = (operation), \
           .infer = broadcast_infer, LEATI_KERNELS(LEATI_KERNELS_BINARY), .plan = variadic_plan)

static const leati_op_def ops[] = {
    UNARY("Neg", (6, 13), type_signed, LEAT_EW_NEG),
    UNARY("Abs", (6, 13), type_number, LEAT_EW_ABS),
    UNARY("Sign", (9, 13), type_number, LEAT_EW_SIGN),
    UNARY("Sqrt", (6, 13), leati_type_float, LEAT_EW_SQRT),
    UNARY("Reciprocal", (6, 13), leati_type_float, LEAT_EW_RECIPROCAL),
    UNARY("Exp", (6, 13), leati_type_float, LEAT_EW_EXP),
    UNARY("Log", (6, 13), leati_type_float, LEAT_EW_LOG),
    UNARY("Erf", (9, 13), leati_type_float, LEAT_EW_ERF),
    UNARY("Tanh", (6, 13), leati_type_float, LEAT_EW_TANH),
    UNARY("Sigmoid", (6, 13), leati_type_float, LEAT_EW_SIGMOID),
    UNARY("Relu", (6, 14), type_signed, LEAT_EW_RELU),
    UNARY("HardSwish", (14, 22), leati_type_float, LEAT_EW_HARD_SWISH),
    UNARY("Sin", (7, 22), leati_type_float, LEAT_EW_SIN),
    UNARY("Cos", (7, 22), leati_type_float, LEAT_EW_COS),
    UNARY("Tan", (7, 22), leati_type_float, LEAT_EW_TAN),
    UNARY("Asin", (7, 22), leati_type_float, LEAT_EW_ASIN),
    UNARY("Acos", (7, 22), leati_type_float, LEAT_EW_ACOS),
    UNARY("Atan", (7, 22), leati_type_float, LEAT_EW_ATAN),
    UNARY("Sinh", (9, 22), leati_type_float, LEAT_EW_SINH),
    UNARY("Cosh", (9, 22), leati_type_float, LEAT_EW_COSH),
    UNARY("Asinh", (9, 22), leati_type_float, LEAT_EW_ASINH),
    UNARY("Acosh", (9, 22), leati_type_float, LEAT_EW_ACOSH),
    UNARY("Atanh", (9, 22), leati_type_float, LEAT_EW_ATANH),
    UNARY("Floor", (6, 13), leati_type_float, LEAT_EW_FLOOR),
    UNARY("Ceil", (6, 13), leati_type_float, LEAT_EW_CEIL),
    UNARY("Round", (11, 22), leati_type_float, LEAT_EW_ROUND),
    UNARY("Softplus", (1, 22), leati_type_float, LEAT_EW_SOFTPLUS),
    UNARY("Softsign", (1, 22), leati_type_float, LEAT_EW_SOFTSIGN),
    UNARY("Mish", (18, 22), leati_type_float, LEAT_EW_MISH),
    UNARY_WITH("LeakyRelu", "", (6, 16), leati_type_float, LEAT_EW_LEAKY_RELU, LEATI_ATTRIBUTES(&leati_attribute_alpha),
               .create = unary_create),
    UNARY_WITH("Elu", "", (6, 22), leati_type_float, LEAT_EW_ELU, LEATI_ATTRIBUTES(&leati_attribute_alpha),
               .create = unary_create),
    UNARY_WITH("HardSigmoid", "", (6, 22), leati_type_float, LEAT_EW_HARD_SIGMOID,
               LEATI_ATTRIBUTES(&leati_attribute_alpha, &leati_attribute_beta), .create = unary_create),
    UNARY_WITH("Selu", "", (6, 22), leati_type_float, LEAT_EW_SELU,
               LEATI_ATTRIBUTES(&leati_attribute_alpha, &attribute_gamma), .create = unary_create),
    UNARY_WITH("Celu", "", (12, 28), leati_type_float, LEAT_EW_CELU, LEATI_ATTRIBUTES(&leati_attribute_alpha),
               .create = unary_create),
    UNARY_WITH("ThresholdedRelu", "", (10, 22), leati_type_float, LEAT_EW_THRESHOLDED_RELU,
               LEATI_ATTRIBUTES(&leati_attribute_alpha), .create = unary_create),
    UNARY_WITH("Shrink", "", (9, 9), leati_type_float, LEAT_EW_SHRINK,
               LEATI_ATTRIBUTES(&attribute_lambd, &attribute_bias), .create = unary_create),
    UNARY_WITH("Swish", "", (24, 24), leati_type_float, LEAT_EW_SWISH, LEATI_ATTRIBUTES(&leati_attribute_alpha),
               .create = swish_create),
    UNARY_WITH("QuickGelu", "com.microsoft", (1, 1), leati_type_float, LEAT_EW_SWISH,
               LEATI_ATTRIBUTES(&leati_attribute_alpha), .create = swish_create),
    UNARY_WITH("Gelu", "", (20, 20), leati_type_float, LEAT_EW_GELU, LEATI_ATTRIBUTES(&attribute_approximate),
               .supports = gelu_supports, .create = gelu_create),
    UNARY_WITH("Gelu", "com.microsoft", (1, 1), leati_type_float, LEAT_EW_GELU, .create = gelu_create),
    LEATI_OP("IsNaN", "", (9, 20), (1, 1), (1, 1), LEATI_TYPES(&type_float_in, &type_class_out), LEATI_OUTPUT_TYPES(1),
             .state_size = sizeof(elementwise_state), .param = LEAT_EW_ISNAN, .create = unary_create,
             .infer = bool_same_infer, LEATI_KERNELS(LEATI_KERNELS_CLASSIFY), .plan = classify_plan),
    LEATI_OP("IsInf", "", (10, 20), (1, 1), (1, 1), LEATI_TYPES(&type_float_in, &type_class_out),
             LEATI_ATTRIBUTES(&attribute_detect_negative, &attribute_detect_positive), LEATI_OUTPUT_TYPES(1),
             .state_size = sizeof(elementwise_state), .create = isinf_create, .infer = bool_same_infer,
             LEATI_KERNELS(LEATI_KERNELS_CLASSIFY), .plan = classify_plan),
    LEATI_OP("Not", "", (1, 1), (1, 1), (1, 1), .info.flags = LEAT_OP_IN_PLACE, LEATI_TYPES(&type_bool_in),
             .infer = leati_infer_same, LEATI_KERNELS(LEATI_KERNELS_LOGIC_NOT), .plan = not_plan),
    BINARY("Add", (7, 14), type_number, LEAT_EW_ADD, broadcast_infer, binary_plan),
    BINARY("Sub", (7, 14), type_number, LEAT_EW_SUB, broadcast_infer, binary_plan),
    BINARY("Mul", (7, 14), type_number, LEAT_EW_MUL, broadcast_infer, binary_plan),
    BINARY("Div", (7, 14), type_number, LEAT_EW_DIV, broadcast_infer, binary_plan),
    BINARY("PRelu", (7, 16), type_prelu, LEAT_EW_PRELU, prelu_infer, binary_plan),
    BINARY("And", (7, 7), type_bool_in, LEAT_EW_AND, broadcast_infer, logic_plan),
    BINARY("Or", (7, 7), type_bool_in, LEAT_EW_OR, broadcast_infer, logic_plan),
    BINARY("Xor", (7, 7), type_bool_in, LEAT_EW_XOR, broadcast_infer, logic_plan),
    LEATI_OP("Mod", "", (10, 28), (2, 2), (1, 1), .info.flags = LEAT_OP_IN_PLACE, LEATI_TYPES(&type_number),
             LEATI_ATTRIBUTES(&attribute_fmod), .state_size = sizeof(elementwise_state), .supports = mod_supports,
             .create = mod_create, .infer = broadcast_infer, LEATI_KERNELS(LEATI_KERNELS_BINARY), .plan = binary_plan),
    LEATI_OP("Pow", "", (7, 15), (2, 2), (1, 1), .info.flags = LEAT_OP_IN_PLACE,
             LEATI_TYPES(&type_pow, &type_pow_exponent), LEATI_INPUT_TYPES(0, 1), .infer = broadcast_infer,
             LEATI_KERNELS(LEATI_KERNELS_POW), .plan = pow_plan),
    COMPARE("Equal", (7, 19), type_equal, LEAT_EW_EQUAL),
    COMPARE("Less", (7, 13), type_number, LEAT_EW_LESS),
    COMPARE("Greater", (7, 13), type_number, LEAT_EW_GREATER),
    COMPARE("LessOrEqual", (12, 16), type_number, LEAT_EW_LESS_OR_EQUAL),
    COMPARE("GreaterOrEqual", (12, 16), type_number, LEAT_EW_GREATER_OR_EQUAL),
    VARIADIC("Min", type_number, LEAT_EW_MIN),
    VARIADIC("Max", type_number, LEAT_EW_MAX),
    VARIADIC("Sum", leati_type_float, LEAT_EW_ADD),
    VARIADIC("Mean", leati_type_float, LEAT_EW_ADD_SCALED),
    LEATI_OP("Clip", "", (11, 13), (1, 3), (1, 1), .info.flags = LEAT_OP_IN_PLACE, LEATI_TYPES(&type_number),
             .infer = clip_infer, LEATI_KERNELS(LEATI_KERNELS_CLIP), .plan = clip_plan),
    LEATI_OP("Where", "", (9, 16), (3, 3), (1, 1), .info.flags = LEAT_OP_IN_PLACE,
             LEATI_TYPES(&type_where_condition, &type_where), LEATI_INPUT_TYPES(0, 1, 1), LEATI_OUTPUT_TYPES(1),
             .infer = broadcast_infer, LEATI_KERNELS(LEATI_KERNELS_WHERE), .plan = where_plan),
    LEATI_OP("Cast", "", (6, 28), (1, 1), (1, 1), LEATI_TYPES(&type_cast_in, &type_cast_out),
             LEATI_ATTRIBUTES(&attribute_to, &attribute_saturate), LEATI_OUTPUT_TYPES(1),
             .state_size = sizeof(elementwise_state), .supports = cast_supports, .create = cast_create,
             .infer = cast_infer, .plan = cast_plan),
    LEATI_OP("CastLike", "", (15, 25), (2, 2), (1, 1), LEATI_TYPES(&type_cast_in, &type_cast_out),
             LEATI_ATTRIBUTES(&attribute_saturate), LEATI_INPUT_TYPES(0, 1), LEATI_OUTPUT_TYPES(1),
             .infer = leati_infer_same, .plan = cast_plan),
};

const leati_op_family leati_elementwise_family = LEATI_FAMILY(ops);
