/* SPDX-License-Identifier: BSD-3-Clause */
/* Instance and group normalisation. */
#include "core/status.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/core/movement.h"
#include "ops/norm/norm.h"
#include "ops/norm/row_sharing.h"

static LEATI_ATTRIBUTE(attribute_num_groups, "num_groups", INT);

enum { INSTANCE, GROUP };

typedef struct group_state {
  int64_t groups; /* GroupNormalization only */
  float epsilon;
} group_state;

static int32_t group_check(const leat_op *op, const leati_call *call, int64_t *out_groups, leat_error *err) {
  const group_state *state = leati_op_state_const(op);
  const leati_op_def *def = leati_op_def_of(op);
  const leati_view *x = &call->inputs[0];
  if (x->ndim < (def->param == GROUP ? 2 : 3)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s of %d dimensions: it needs images of channels",
                      def->info.name, x->ndim);
  }
  const int64_t channels = x->shape[1];
  *out_groups = def->param == GROUP ? state->groups : channels;
  if (def->param == GROUP && (state->groups < 1 || channels % state->groups != 0)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: num_groups is %lld, which does not divide %lld channels",
                      def->info.name, (long long)state->groups, (long long)channels);
  }
  const int64_t parameters = def->param == GROUP && leati_op_since_version(op) < 21 ? state->groups : channels;
  for (uint32_t i = 1; i < 3; ++i) {
    if (call->inputs[i].ndim != 1 || call->inputs[i].shape[0] != parameters) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: scale and bias must have shape [%lld]", def->info.name,
                        (long long)parameters);
    }
  }
  const int64_t rows = x->shape[0] * *out_groups;
  return rows == 0 ? LEAT_OK : leati_op_check_row_rounds(op, true, rows, (int64_t)x->count / rows, err);
}

static int32_t group_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  int64_t groups;
  LEATI_TRY(group_check(op, call, &groups, err));
  return leati_infer_same(op, call, out, err);
}

static int32_t group_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const group_state *state = leati_op_state_const(op);
  const leati_view *y = &call->outputs[0];
  if (y->count == 0) {
    return LEAT_OK;
  }
  LEATI_TRY(leati_check_rows_size(y, err));
  int64_t groups = 0;
  LEATI_TRY(group_check(op, call, &groups, err));
  leati_view x, scale, bias;
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[0], &x, err));
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[1], &scale, err));
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[2], &bias, err));
  const int64_t pixels = (int64_t)leati_product(x.shape, 2, x.ndim), channels = x.shape[1] / groups;
  const bool per_channel = (int64_t)scale.count == x.shape[1];
  leati_norm_job job = {.x = &x,
                        .scale = &scale,
                        .bias = &bias,
                        .y = y,
                        .args = {.rows = (uint32_t)(x.shape[0] * groups),
                                 .count = (uint32_t)(channels * pixels),
                                 .skip_rows = 1,
                                 .period = (uint32_t)groups,
                                 .step = per_channel ? (uint32_t)channels : 1,
                                 .spread = (uint32_t)(per_channel ? pixels : channels * pixels),
                                 .epsilon = state->epsilon}};
  return leati_plan_norm(planner, &job, err);
}

static int32_t group_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  group_state *state = leati_op_state(op);
  state->groups = leati_attr_int(desc, "num_groups", 0);
  state->epsilon = leati_attr_float(desc, "epsilon", 1e-5f);
  return LEAT_OK;
}

#define GROUP_NORM(name, versions, which, ...)                                                               \
  LEATI_OP(name, "", versions, (3, 3), (1, 1), LEATI_TYPES(&leati_type_real), LEATI_ATTRIBUTES(__VA_ARGS__), \
           .state_size = sizeof(group_state), .param = (which), .least_rank = (which) == GROUP ? 2 : 3,      \
           .supports = leati_norm_supports, .create = group_create, .infer = group_infer,                    \
           LEATI_KERNELS(LEATI_KERNELS_NORM), .plan = group_plan)

static const leati_op_def ops[] = {
    GROUP_NORM("InstanceNormalization", (6, 22), INSTANCE, &leati_attribute_epsilon),
    GROUP_NORM("GroupNormalization", (18, 21), GROUP, &leati_attribute_epsilon, &attribute_num_groups,
               &leati_attribute_stash_type),
};

const leati_op_family leati_group_norm_family = LEATI_FAMILY(ops);
