/* SPDX-License-Identifier: BSD-3-Clause */
/* Operators of domain "leat" that give each element a number of the distribution whose parameters it is:
 * RandomExponential, RandomGeometric, RandomGamma, RandomBeta and RandomDirichlet. */
#include <inttypes.h>
#include <string.h>

#include "core/status.h"
#include "ops/core/dims.h"
#include "ops/random/random_numbers.h"

/* Columns of a row that one thread goes through at most. A constant, so that numbers are the same on every device. */
#define SHORT_ROW 256

/* leati_op_def::param */
enum { WAITING, GAMMA, BETA, DIRICHLET };

typedef struct waiting_args {
  uint64_t dst, x;
  leati_random_args random;
  uint32_t count;
} waiting_args;

typedef struct gamma_args {
  uint64_t dst, a, b;
  leati_random_args random;
  uint32_t count;
} gamma_args;

typedef struct dirichlet_args {
  uint64_t dst, x;
  uint32_t rows, columns;
} dirichlet_args;

/* The number of the input that counts on the stream: behind the parameters. */
static uint32_t offset_of(const leat_op *op) {
  return leati_op_def_of(op)->param == BETA ? 2 : 1;
}

static int32_t gamma_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  leati_random *const random = leati_op_state(op);
  *random = leati_random_read(desc);
  return LEAT_OK;
}

static int32_t gamma_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const leati_view *const a = &call->inputs[0];
  const uint32_t param = leati_op_def_of(op)->param;
  LEATI_TRY(leati_random_check_offset(op, call, offset_of(op), err));
  if (param == BETA &&
      (call->inputs[1].ndim != a->ndim || !leati_same_numbers(call->inputs[1].shape, a->shape, a->ndim))) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "RandomBeta: both inputs must have the same shape");
  }
  return leati_infer_same(op, call, out, err);
}

static int32_t waiting_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const leati_random *const random = leati_op_state_const(op);
  const leati_view *const y = &call->outputs[0], *const offset = leati_random_offset(random, call, 1);
  leati_view x;
  if (y->count == 0) {
    return LEAT_OK;
  }
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[0], &x, err));
  const waiting_args args = {.random = leati_random_args_of(op, random), .count = (uint32_t)y->count};
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find(leati_op_def_of(op)->kernels[0], y->type),
                   .constants.waiting = {.has_offset = offset != NULL}},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({&x, &args.x}, {offset, &args.random.offset}),
      LEATI_WRITES({y, &args.dst}),
      .draws = leati_random_draws(random, &args.random),
  };
  leati_random_groups(op, y->count, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

/* Numbers of the kernel of a set, for each element of input 0, into a tensor of as many. */
static int32_t plan_gammas(const leat_op *op, leati_planner *planner, const leati_call *call, leati_kernel_set kernels,
                           const leati_view *dst, leat_error *err) {
  const leati_random *const random = leati_op_state_const(op);
  const leati_view *const offset = leati_random_offset(random, call, offset_of(op));
  leati_view a, b = {.present = false};
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[0], &a, err));
  if (leati_op_def_of(op)->param == BETA) {
    LEATI_TRY(leati_plan_compact(planner, &call->inputs[1], &b, err));
  }
  const gamma_args args = {.random = leati_random_args_of(op, random), .count = (uint32_t)dst->count};
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find(kernels, a.type), .constants.gamma = {.has_offset = offset != NULL}},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({&a, &args.a}, {b.present ? &b : NULL, &args.b}, {offset, &args.random.offset}),
      LEATI_WRITES({dst, &args.dst}),
      .draws = leati_random_draws(random, &args.random),
  };
  leati_groups_linear(planner->device, dst->count, 256, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

static int32_t gamma_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const leati_view *const y = &call->outputs[0];
  return y->count == 0 ? LEAT_OK : plan_gammas(op, planner, call, leati_op_def_of(op)->kernels[0], y, err);
}

static int32_t dirichlet_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const leati_view *const y = &call->outputs[0];
  if (y->count == 0) {
    return LEAT_OK;
  }
  leati_view logarithms = {.type = LEAT_TYPE_FLOAT32, .ndim = y->ndim};
  memcpy(logarithms.shape, y->shape, sizeof(logarithms.shape));
  LEATI_TRY(leati_plan_temporary(planner, &logarithms, err));
  LEATI_TRY(plan_gammas(op, planner, call, LEATI_KERNELS_RANDOM_LOG_GAMMA, &logarithms, err));
  const uint32_t columns = (uint32_t)y->shape[y->ndim - 1];
  const dirichlet_args args = {.rows = (uint32_t)(y->count / columns), .columns = columns};
  const bool shared_rows = columns > SHORT_ROW;
  LEATI_TRY(leati_check_rounds(planner->device, 3 * (uint64_t)(columns / (shared_rows ? 256 : 1) + 1) + 16,
                               "RandomDirichlet", err));
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_DIRICHLET, y->type),
                   .constants.dirichlet = {.shared_rows = shared_rows}},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({&logarithms, &args.x}),
      LEATI_WRITES({y, &args.dst}),
  };
  leati_groups_linear(planner->device, args.rows, shared_rows ? 1 : 256, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

#define DISTRIBUTION(name_, inputs_, param_, plan_, ...)                                                              \
  LEATI_OP(name_, "leat", (1, 1), inputs_, (1, 1), LEATI_TYPES(&leati_type_real, &leati_type_int64),                  \
           LEATI_ATTRIBUTES(&leati_attribute_offset, &leati_attribute_seed),                                          \
           .input_types = (const uint8_t[]){0, (param_) == BETA ? 0 : 1, 1}, .state_size = sizeof(leati_random),      \
           LEATI_KERNELS(__VA_ARGS__), .param = (param_), .draws = true, .least_rank = (param_) == DIRICHLET ? 1 : 0, \
           .create = gamma_create, .infer = gamma_infer, .plan = plan_)

static const leati_op_def ops[] = {
    DISTRIBUTION("RandomExponential", (1, 2), WAITING, waiting_plan, LEATI_KERNELS_RANDOM_EXPONENTIAL),
    DISTRIBUTION("RandomGeometric", (1, 2), WAITING, waiting_plan, LEATI_KERNELS_RANDOM_GEOMETRIC),
    DISTRIBUTION("RandomGamma", (1, 2), GAMMA, gamma_plan, LEATI_KERNELS_RANDOM_GAMMA),
    DISTRIBUTION("RandomBeta", (2, 3), BETA, gamma_plan, LEATI_KERNELS_RANDOM_BETA),
    DISTRIBUTION("RandomDirichlet", (1, 2), DIRICHLET, dirichlet_plan, LEATI_KERNELS_RANDOM_LOG_GAMMA,
                 LEATI_KERNELS_DIRICHLET),
};

const leati_op_family leati_gamma_family = LEATI_FAMILY(ops);
