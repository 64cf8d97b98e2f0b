/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/elementwise.h"

#include <string.h>

#include "core/status.h"
#include "ops/dims.h"

LEATI_TYPE(leati_type_number, "T", LEATI_TYPES_NUMBER);
LEATI_TYPE(leati_type_bool_in, "T", LEAT_TYPE_BOOL);

_Static_assert(LEAT_TYPE_FLOAT32 == UINT64_C(1) << LEAT_ANY_F32 && LEAT_TYPE_BFLOAT16 == UINT64_C(1) << LEAT_ANY_BF16 &&
                   LEAT_TYPE_INT8 == UINT64_C(1) << LEAT_ANY_I8 && LEAT_TYPE_UINT8 == UINT64_C(1) << LEAT_ANY_U8 &&
                   LEAT_TYPE_BOOL == UINT64_C(1) << LEAT_ANY_BOOL,
               "elementwise_codes.glsl numbers types as the ABI does");

/* The kernel's argument record. */
typedef struct elementwise_args {
  uint64_t operands[LEATI_OPERANDS_MAX];
  uint64_t result;
  uint32_t count;
  float parameters[2];
  struct {
    uint32_t size;
    int32_t operands[LEATI_OPERANDS_MAX], result;
  } dims[LEAT_MAX_RANK];
} elementwise_args;

/* How the kernel goes through its tensors: two of its specialisation constants. */
typedef struct walk {
  uint32_t access; /* LEAT_EW_STRIDED and its kind */
  uint32_t rank;
} walk;

/* Elements that a workgroup of the kernel handles, in either way of access. */
#define ELEMENTS_PER_GROUP 1024

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
static bool is_vector(const leati_elementwise *e, const leati_view *result, int32_t rank, const int64_t *dims,
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
static int32_t collapse(const leati_elementwise *e, const leati_view *result, int64_t *dims,
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

/* Fills in the dimension and steps of an operation whose tensors are all compact and of one shape. */
static walk fill_flat(const leati_elementwise *e, const leati_view *result, elementwise_args *args) {
  bool vector = aligned_for_four(result);
  for (uint32_t k = 0; k < e->operand_count; ++k) {
    vector = vector && aligned_for_four(e->operands[k]);
  }
  if (vector) {
    return (walk){.access = LEAT_EW_FLAT, .rank = 1}; /* for which the kernel needs none */
  }
  args->dims[0].size = args->count;
  args->dims[0].result = 1;
  for (uint32_t k = 0; k < e->operand_count; ++k) {
    args->dims[0].operands[k] = 1;
  }
  return (walk){.access = LEAT_EW_STRIDED, .rank = 1};
}

/* The same for any operation. */
static walk fill_dims(const leati_elementwise *e, const leati_view *result, elementwise_args *args) {
  int64_t dims[LEAT_MAX_RANK];
  int64_t strides[LEATI_OPERANDS_MAX + 1][LEAT_MAX_RANK];
  const int32_t rank = collapse(e, result, dims, strides);
  const bool vector = is_vector(e, result, rank, dims, strides);
  for (int32_t d = 0; d < rank; ++d) {
    const int32_t taken = vector && d == rank - 1 ? 4 : 1;
    args->dims[d].size = ((uint32_t)dims[d] + (uint32_t)taken - 1) / (uint32_t)taken;
    args->dims[d].result = (int32_t)strides[e->operand_count][d] * taken;
    for (uint32_t k = 0; k < e->operand_count; ++k) {
      args->dims[d].operands[k] = (int32_t)strides[k][d] * taken;
    }
  }
  return (walk){.access = vector ? LEAT_EW_VECTOR : LEAT_EW_STRIDED, .rank = (uint32_t)rank};
}

int32_t leati_plan_elementwise(leati_planner *planner, const leati_elementwise *e, const leati_view *result,
                               leat_error *err) {
  if (result->count == 0) {
    return LEAT_OK;
  }
  LEATI_TRY(check_reach(result, err));
  elementwise_args args = {.count = (uint32_t)result->count};
  for (uint32_t i = 0; i < 2; ++i) {
    args.parameters[i] = e->parameters != NULL ? e->parameters[i] : 0.0f;
  }
  bool flat = result->compact;
  leati_access operands[LEATI_OPERANDS_MAX];
  for (uint32_t k = 0; k < e->operand_count; ++k) {
    LEATI_TRY(check_reach(e->operands[k], err));
    flat = flat && e->operands[k]->compact && e->operands[k]->count == result->count;
    operands[k] = (leati_access){.view = e->operands[k], .field = &args.operands[k]};
  }
  /* The kernel of a division has two operands, and takes where it tells of a zero divisor for the third. */
  const uint32_t type_in = e->divides != NULL ? planner->guarded : e->type_in;
  const walk way = flat ? fill_flat(e, result, &args) : fill_dims(e, result, &args);
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = e->kernel,
                   .constants.elementwise = {.operation = e->operation,
                                             .access = way.access,
                                             .rank = way.rank,
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

bool leati_elementwise_reads_view(const leat_op *op, const leati_call *call, uint32_t i) {
  (void)op;
  return leati_view_has_rows(&call->inputs[i]);
}

int32_t leati_infer_broadcast(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  (void)op;
  for (uint32_t i = 0; i < call->input_count; ++i) {
    const leati_view *const input = leati_input(call, i);
    if (input != NULL) {
      LEATI_TRY(leati_broadcast(&out->ndim, out->dims, input->ndim, input->shape, err));
    }
  }
  return LEAT_OK;
}
