/* SPDX-License-Identifier: BSD-3-Clause */
/* TopK: lists of elements are sorted in shared memory, and lists of longer rows then merged, two at a time, of which no
 * more than k places are kept. */
#include <inttypes.h>

#include "core/status.h"
#include "ops/core/adapter.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/core/divider.h"
#include "ops/core/movement.h"

enum { INPUT_X, INPUT_K };
enum { OUTPUT_VALUES, OUTPUT_INDICES };

/* Elements of a list that a workgroup sorts at most, and threads; kernels/topk.comp has them too. */
#define SLOTS 2048
#define THREADS 256
/* Shorter lists are sorted by one workgroup until each of its threads has two elements. */
#define SLOTS_SHARED (2 * THREADS)

typedef struct topk_state {
  int64_t axis;
  bool largest;
} topk_state;

/* Argument record of kernels/topk.comp and topk_merge.comp. */
typedef struct topk_args {
  uint64_t x, values, indices;
  uint64_t from, to;
  uint32_t size, k, inner;
  uint32_t largest;
  uint32_t last;
  uint32_t span;
  uint32_t lists, each, row;
  uint32_t next_each, next_row;
  uint32_t total;
  uint32_t block, per_group;
  leati_divider per_lists, per_inner, per_row, per_each;
} topk_args;

static int32_t topk_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  topk_state *const state = leati_op_state(op);
  state->axis = leati_attr_int(desc, "axis", -1);
  /* What is sorted is right without `sorted` too. */
  state->largest = leati_attr_int(desc, "largest", 1) != 0;
  return LEAT_OK;
}

static int32_t topk_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const topk_state *const state = leati_op_state_const(op);
  const leati_view *const x = &call->inputs[INPUT_X], *const k_view = &call->inputs[INPUT_K];
  int32_t axis;
  LEATI_TRY(leati_axis(state->axis, x->ndim, &axis, err));
  if (k_view->count != 1 || k_view->ndim > 1) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "TopK: k has %" PRIu64 " elements and rank %d; it must be one number, of rank 0 or 1",
                      k_view->count, k_view->ndim);
  }
  const int64_t k = leati_host_int(k_view, 0);
  if (k < 0 || k > x->shape[axis]) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "TopK: k is %" PRId64 "; it must be from 0 to the size of the axis, %" PRId64, k, x->shape[axis]);
  }
  LEATI_TRY(leati_infer_same(op, call, &out[OUTPUT_VALUES], err));
  out[OUTPUT_VALUES].dims[axis] = k;
  out[OUTPUT_INDICES] = out[OUTPUT_VALUES];
  out[OUTPUT_INDICES].dtype = leati_dtype_of(LEAT_TYPE_INT64);
  return LEAT_OK;
}

/* Sets the lists that a row has when each is of `span` elements. */
static void set_lists(topk_args *args, uint32_t span) {
  const uint32_t rest = (args->size - 1) % span + 1;
  args->span = span;
  args->lists = (args->size - 1) / span + 1;
  args->each = args->k < span ? args->k : span;
  args->row = (args->lists - 1) * args->each + (args->k < rest ? args->k : rest);
  args->per_lists = leati_divider_of(args->lists);
  args->per_row = leati_divider_of(args->row);
  args->per_each = leati_divider_of(args->each);
}

/* Plans the first dispatch: sorts lists, of which the best go to `to`, or into the results if it is NULL. */
static int32_t add_sort(leati_planner *planner, const leati_call *call, const leati_view *x, const leati_view *to,
                        uint32_t rows, topk_args *args, leat_error *err) {
  const uint32_t longest = args->size < SLOTS ? args->size : SLOTS;
  for (args->block = 1; args->block < longest; args->block *= 2) {
  }
  args->total = rows * args->lists;
  args->per_group = args->block < SLOTS_SHARED ? SLOTS_SHARED / args->block : 1;
  args->per_group = args->per_group < args->total ? args->per_group : args->total;
  args->last = to == NULL;
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_TOPK, x->type)},
      .args = args,
      .args_size = sizeof(*args),
      LEATI_READS({x, &args->x}),
      LEATI_WRITES({to, &args->to}, {to != NULL ? NULL : &call->outputs[OUTPUT_VALUES], &args->values},
                   {to != NULL ? NULL : &call->outputs[OUTPUT_INDICES], &args->indices}),
  };
  leati_groups_linear(planner->device, args->total, args->per_group, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

/* Plans a later one: merges the lists in `from` by twos, into those in `to`, or into the results if there is one left.
 */
static int32_t add_merge(leati_planner *planner, const leati_call *call, const leati_view *x, const leati_view *from,
                         const leati_view *to, uint32_t rows, topk_args *args, leat_error *err) {
  topk_args next = *args;
  set_lists(&next, 2 * args->span);
  args->last = next.lists == 1;
  args->next_each = next.each;
  args->next_row = next.row;
  args->total = rows * args->row;
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_TOPK_MERGE, x->type)},
      .args = args,
      .args_size = sizeof(*args),
      LEATI_READS({x, &args->x}, {from, &args->from}),
      LEATI_WRITES({args->last != 0 ? NULL : to, &args->to},
                   {args->last == 0 ? NULL : &call->outputs[OUTPUT_VALUES], &args->values},
                   {args->last == 0 ? NULL : &call->outputs[OUTPUT_INDICES], &args->indices}),
  };
  leati_groups_linear(planner->device, args->total, THREADS, dispatch.groups);
  LEATI_TRY(leati_plan_dispatch(planner, &dispatch, err));
  *args = next;
  return LEAT_OK;
}

static int32_t topk_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const topk_state *const state = leati_op_state_const(op);
  const leati_view *const values = &call->outputs[OUTPUT_VALUES];
  if (values->count == 0) {
    return LEAT_OK;
  }
  int32_t axis;
  leati_view x;
  LEATI_TRY(leati_axis(state->axis, values->ndim, &axis, err));
  LEATI_TRY(leati_check_reach(&call->inputs[INPUT_X], "TopK", err));
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[INPUT_X], &x, err));
  topk_args args = {.size = (uint32_t)x.shape[axis],
                    .k = (uint32_t)values->shape[axis],
                    .inner = (uint32_t)leati_product(x.shape, axis + 1, x.ndim),
                    .largest = state->largest};
  const uint32_t rows = (uint32_t)x.count / args.size;
  args.per_inner = leati_divider_of(args.inner);
  set_lists(&args, SLOTS);
  if (args.lists == 1) {
    return add_sort(planner, call, &x, NULL, rows, &args, err);
  }
  /* Those of the first dispatch are the most; they and those of later ones take turns. */
  leati_view lists[2];
  for (uint32_t i = 0; i < 2; ++i) {
    lists[i] = (leati_view){.type = LEAT_TYPE_UINT32, .ndim = 1, .shape = {(int64_t)rows * args.row}};
    LEATI_TRY(leati_plan_temporary(planner, &lists[i], err));
  }
  LEATI_TRY(add_sort(planner, call, &x, &lists[0], rows, &args, err));
  for (uint32_t i = 0; args.lists > 1; i ^= 1) {
    LEATI_TRY(add_merge(planner, call, &x, &lists[i], &lists[i ^ 1], rows, &args, err));
  }
  return LEAT_OK;
}

static LEATI_TYPE(type_ranked, "T", LEATI_TYPES_OF_TOPK);
static LEATI_TYPE(type_place, "I", LEAT_TYPE_INT64);
static LEATI_ATTRIBUTE(attribute_largest, "largest", INT);
static LEATI_ATTRIBUTE(attribute_sorted, "sorted", INT);
static LEATI_ATTRIBUTE(attribute_k, "k", INT);

/* ---- The list --------------------------------------------------------------------------------------------------- */

static const leati_op_def ops[] = {
    LEATI_OP("TopK", "", (1, 1), (1, 1), (2, 2), LEATI_TYPES(&leati_type_real, &type_place),
             LEATI_ATTRIBUTES(&leati_attribute_axis, &attribute_k), LEATI_OUTPUT_TYPES(0, 1),
             .state_size = sizeof(topk_state), .least_rank = 1, .create = topk_create, .infer = leati_adapted_infer,
             LEATI_KERNELS(LEATI_KERNELS_COPY, LEATI_KERNELS_TOPK, LEATI_KERNELS_TOPK_MERGE), .plan = topk_plan,
             LEATI_ADAPTER(.inputs = {{&attribute_k, INPUT_K, true}}, .infer = topk_infer)),
    LEATI_OP("TopK", "", (10, 24), (2, 2), (2, 2), .info.host_inputs = 1u << INPUT_K,
             LEATI_TYPES(&type_ranked, &leati_type_int64, &type_place),
             LEATI_ATTRIBUTES(&leati_attribute_axis, &attribute_largest, &attribute_sorted), LEATI_INPUT_TYPES(0, 1),
             LEATI_OUTPUT_TYPES(0, 2), .state_size = sizeof(topk_state), .least_rank = 1, .create = topk_create,
             .infer = topk_infer, LEATI_KERNELS(LEATI_KERNELS_COPY, LEATI_KERNELS_TOPK, LEATI_KERNELS_TOPK_MERGE),
             .plan = topk_plan),
};

const leati_op_family leati_topk_family = LEATI_FAMILY(ops);
