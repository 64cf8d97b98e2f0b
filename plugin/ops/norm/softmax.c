/* SPDX-License-Identifier: BSD-3-Clause */
/* What is computed along the lines of one dimension: Softmax and LogSoftmax, com.microsoft's QLinearSoftmax and
 * BiasSoftmax, and LpNormalization. */
#include <inttypes.h>
#include <string.h>

#include "core/status.h"
#include "device/device.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/core/movement.h"
#include "ops/elementwise/pointwise.h"
#include "ops/elementwise/scaled.h"
#include "ops/norm/row_sharing.h"

enum { SOFTMAX, LOG_SOFTMAX, LP_NORM };

static LEATI_ATTRIBUTE(attribute_opset, "opset", INT);
static LEATI_ATTRIBUTE(attribute_p, "p", INT);
static LEATI_ATTRIBUTE(attribute_is_inner_broadcast, "is_inner_broadcast", INT);

typedef struct softmax_state {
  int64_t axis;
  bool flattens;
  bool squares; /* of LpNormalization: p is 2 */
} softmax_state;

/* The rows along the axis: their elements, and how far those lie apart. Before version 13 all dimensions from the axis
 * on are one. */
static int32_t softmax_lines(const leat_op *op, const leati_view *x, int64_t *out_count, int64_t *out_inner,
                             leat_error *err) {
  const softmax_state *state = leati_op_state_const(op);
  *out_count = 1;
  *out_inner = 1;
  if (x->ndim > 0) {
    int32_t axis;
    LEATI_TRY(leati_axis(state->axis, x->ndim, &axis, err));
    const int32_t behind = state->flattens ? x->ndim : axis + 1;
    *out_count = (int64_t)leati_product(x->shape, axis, behind);
    *out_inner = (int64_t)leati_product(x->shape, behind, x->ndim);
  }
  return LEAT_OK;
}

static int32_t softmax_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const leati_view *x = &call->inputs[0];
  int64_t count, inner;
  LEATI_TRY(softmax_lines(op, x, &count, &inner, err));
  if (x->count > 0) {
    LEATI_TRY(leati_op_check_row_rounds(op, inner == 1, (int64_t)x->count / count, count, err));
  }
  return leati_infer_same(op, call, out, err);
}

static leati_pipeline_key pipeline_of(const leat_op *op, const leat_device *device, uint64_t type,
                                      const leati_row_sharing *share, bool quads) {
  const softmax_state *const state = leati_op_state_const(op);
  const uint32_t which = leati_op_def_of(op)->param;
  if (which == LP_NORM) {
    return (leati_pipeline_key){
        .kernel = leati_row_kernel(device, LEATI_KERNELS_LP_NORM, LEATI_KERNELS_LP_NORM_SHUFFLED, type),
        .constants.lp_norm = {.rows_spec = share->spec,
                              .group = share->group,
                              .held = share->held,
                              .quads = quads,
                              .squares = state->squares}};
  }
  return (leati_pipeline_key){
      .kernel = leati_row_kernel(device, LEATI_KERNELS_SOFTMAX, LEATI_KERNELS_SOFTMAX_SHUFFLED, type),
      .constants.softmax = {.rows_spec = share->spec,
                            .group = share->group,
                            .held = share->held,
                            .quads = quads,
                            .logarithm = which == LOG_SOFTMAX}};
}

static int32_t softmax_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const leati_view *y = &call->outputs[0];
  if (y->count == 0) {
    return LEAT_OK;
  }
  LEATI_TRY(leati_check_rows_size(y, err));
  leati_view x;
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[0], &x, err));
  int64_t count, inner;
  LEATI_TRY(softmax_lines(op, &x, &count, &inner, err));
  const int64_t rows = (int64_t)x.count / count;
  const leati_row_sharing share = leati_row_sharing_of(planner->device, inner == 1, (uint64_t)rows, (uint64_t)count);
  const bool quads = inner == 1 && leati_rows_in_fours(count, (const leati_view *[]){&x, y}, 2);
  const struct {
    uint64_t x, y;
    uint32_t rows, count, inner;
  } args = {.rows = (uint32_t)rows, .count = (uint32_t)count, .inner = (uint32_t)inner};
  leati_dispatch_desc dispatch = {.pipeline = pipeline_of(op, planner->device, x.type, &share, quads),
                                  .args = &args,
                                  .args_size = sizeof(args),
                                  LEATI_READS({&x, &args.x}),
                                  LEATI_WRITES({y, &args.y})};
  leati_groups_linear(planner->device, (uint64_t)rows, share.per_group, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

static int32_t softmax_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  softmax_state *state = leati_op_state(op);
  state->flattens = desc->since_version < 13 && leati_op_def_of(op)->info.domain[0] == '\0';
  state->axis = leati_attr_int(desc, "axis", state->flattens ? 1 : -1);
  return LEAT_OK;
}

/* It follows Softmax of an operator set, which before 13 is another one. */
static int32_t qlinear_softmax_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                                        leat_error *err) {
  (void)device;
  const int64_t opset = leati_attr_int(desc, attribute_opset.name, 0);
  return opset >= 13
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s with opset %lld is not supported: it must be 13 or more",
                          def->info.name, (long long)opset);
}

static int32_t qlinear_softmax_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  LEATI_TRY(leati_check_scales(op, call, err));
  return softmax_infer(op, call, out, err);
}

static int32_t qlinear_softmax_plan(const leat_op *op, leati_planner *planner, const leati_call *call,
                                    leat_error *err) {
  return leati_plan_as_floats(op, planner, call, softmax_plan, false, err);
}

static int32_t bias_softmax_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  *(softmax_state *)leati_op_state(op) =
      (softmax_state){.axis = leati_attr_int(desc, leati_attribute_axis.name, 1), .flattens = true};
  return LEAT_OK;
}

static int32_t bias_softmax_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const leati_view *const x = &call->inputs[0], *const bias = &call->inputs[1];
  bool fits = bias->ndim <= x->ndim;
  for (int32_t d = 1; fits && d <= bias->ndim; ++d) {
    const int64_t size = bias->shape[bias->ndim - d];
    fits = size == 1 || size == x->shape[x->ndim - d];
  }
  return fits ? softmax_infer(op, call, out, err)
              : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: the bias cannot be broadcast to the data",
                           leati_op_def_of(op)->info.name);
}

static int32_t bias_softmax_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  static const leati_program add = {.input_count = 2, .step_count = 1, .steps = {{LEAT_EW_ADD, {0, 1}}}};
  const leati_view *const y = &call->outputs[0];
  leati_view sum = {.type = y->type, .ndim = y->ndim};
  if (y->count == 0) {
    return LEAT_OK;
  }
  memcpy(sum.shape, y->shape, sizeof(sum.shape));
  LEATI_TRY(leati_plan_temporary(planner, &sum, err));
  LEATI_TRY(leati_plan_program(planner, &add, call->inputs, &sum, err));
  const leati_call of_sum = {.input_count = 1, .inputs = &sum, .output_count = 1, .outputs = y};
  return softmax_plan(op, planner, &of_sum, err);
}

static int32_t lp_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc, leat_error *err) {
  (void)device;
  const int64_t p = leati_attr_int(desc, attribute_p.name, 2);
  return p == 1 || p == 2 ? LEAT_OK
                          : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: p is %" PRId64 "; it must be 1 or 2",
                                       def->info.name, p);
}

static int32_t lp_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  *(softmax_state *)leati_op_state(op) = (softmax_state){.axis = leati_attr_int(desc, leati_attribute_axis.name, -1),
                                                         .squares = leati_attr_int(desc, attribute_p.name, 2) == 2};
  return LEAT_OK;
}

/* In place: a row is read whole by its workgroup before it is written, or each element by the thread that writes it.
 */
#define SOFTMAX_OF(name, which)                                                                              \
  LEATI_OP(name, "", (1, 13), (1, 1), (1, 1), .info.flags = LEAT_OP_IN_PLACE, LEATI_TYPES(&leati_type_real), \
           LEATI_ATTRIBUTES(&leati_attribute_axis), .state_size = sizeof(softmax_state), .param = (which),   \
           .create = softmax_create, .infer = softmax_infer, LEATI_KERNELS(LEATI_KERNELS_SOFTMAX),           \
           .plan = softmax_plan)

static const leati_op_def ops[] = {
    SOFTMAX_OF("Softmax", SOFTMAX),
    SOFTMAX_OF("LogSoftmax", LOG_SOFTMAX),
    LEATI_OP("QLinearSoftmax", "com.microsoft", (1, 1), (2, 5), (1, 1),
             LEATI_TYPES(&leati_type_scaled, &leati_type_scale),
             LEATI_ATTRIBUTES(&leati_attribute_axis, &attribute_opset), .required_inputs = 1u << 3,
             LEATI_INPUT_TYPES(0, 1, 0, 1, 0), .state_size = sizeof(softmax_state), .param = SOFTMAX,
             .supports = qlinear_softmax_supports, .create = softmax_create, .infer = qlinear_softmax_infer,
             LEATI_KERNELS(LEATI_KERNELS_SOFTMAX, LEATI_KERNELS_SCALED_POINTWISE), .plan = qlinear_softmax_plan,
             .reads_view = leati_reads_rows),
    LEATI_OP("BiasSoftmax", "com.microsoft", (1, 1), (2, 2), (1, 1), LEATI_TYPES(&leati_type_real),
             LEATI_ATTRIBUTES(&leati_attribute_axis, &attribute_is_inner_broadcast),
             .state_size = sizeof(softmax_state), .param = SOFTMAX, .least_rank = 1, .create = bias_softmax_create,
             .infer = bias_softmax_infer, LEATI_KERNELS(LEATI_KERNELS_SOFTMAX, LEATI_KERNELS_POINTWISE),
             .plan = bias_softmax_plan, .reads_view = leati_reads_rows),
    LEATI_OP("LpNormalization", "", (1, 22), (1, 1), (1, 1), .info.flags = LEAT_OP_IN_PLACE,
             LEATI_TYPES(&leati_type_real), LEATI_ATTRIBUTES(&leati_attribute_axis, &attribute_p),
             .state_size = sizeof(softmax_state), .param = LP_NORM, .least_rank = 1, .supports = lp_supports,
             .create = lp_create, .infer = softmax_infer, LEATI_KERNELS(LEATI_KERNELS_LP_NORM), .plan = softmax_plan),
};

const leati_op_family leati_softmax_family = LEATI_FAMILY(ops);
