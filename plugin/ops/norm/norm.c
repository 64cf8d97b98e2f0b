/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/norm/norm.h"

#include "core/status.h"
#include "device/device.h"
#include "ops/core/attribute.h"
#include "ops/norm/row_sharing.h"

LEATI_ATTRIBUTE(leati_attribute_epsilon, "epsilon", FLOAT);
LEATI_ATTRIBUTE(leati_attribute_stash_type, "stash_type", INT);

#define STASH_FLOAT 1 /* TensorProto.FLOAT */

int32_t leati_norm_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc, leat_error *err) {
  (void)device;
  if (leati_attr_int(desc, "stash_type", STASH_FLOAT) != STASH_FLOAT) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s: a stash_type other than 1 (float32) is not supported",
                      def->info.name);
  }
  return LEAT_OK;
}

int32_t leati_plan_norm(leati_planner *planner, leati_norm_job *job, leat_error *err) {
  leati_norm_args *args = &job->args;
  const leati_row_sharing share = leati_row_sharing_of(planner->device, true, args->rows, args->count);
  const bool sets = args->period != 1 || args->spread != 1;
  const leati_view *const fours[] = {
      job->x, job->y, job->skip, job->addend, job->total, sets ? NULL : job->scale, sets ? NULL : job->bias, job->gate};
  const leati_kernel kernel =
      leati_row_kernel(planner->device, LEATI_KERNELS_NORM, LEATI_KERNELS_NORM_SHUFFLED, job->x->type);
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = kernel,
                   .constants.norm = {.rows_spec = share.spec,
                                      .group = share.group,
                                      .held = share.held,
                                      .quads = leati_rows_in_fours(args->count, fours, 8),
                                      .rms = job->rms,
                                      .skip = job->skip == NULL               ? 0
                                              : args->skip_rows == args->rows ? 1
                                                                              : 2,
                                      .sets = sets,
                                      .early = (uint64_t)args->rows * share.parts <= LEATI_ROW_EARLY_MAX,
                                      .gate = (uint32_t)job->gates}},
      .args = args,
      .args_size = sizeof(*args),
      LEATI_READS({job->x, &args->x}, {job->scale, &args->scale}, {job->bias, &args->bias}, {job->skip, &args->skip},
                  {job->addend, &args->addend}, {job->gate, &args->gate}),
      LEATI_WRITES({job->y, &args->y}, {job->mean, &args->mean}, {job->deviation, &args->deviation},
                   {job->total, &args->total})};
  leati_groups_linear(planner->device, args->rows, share.per_group, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

int32_t leati_plan_rms_norm(leati_planner *planner, const char *name, const leati_view *given,
                            const leati_view *given_scale, float epsilon, const leati_view *y, leat_error *err) {
  LEATI_TRY(leati_check_rows_size(y, err));
  if (y->count == 0) {
    return LEAT_OK;
  }
  const int64_t count = given->shape[given->ndim - 1], rows = (int64_t)y->count / count;
  LEATI_TRY(leati_check_row_rounds(planner->device, name, true, rows, count, err));
  leati_view x, scale;
  LEATI_TRY(leati_plan_compact(planner, given, &x, err));
  LEATI_TRY(leati_plan_compact(planner, given_scale, &scale, err));
  leati_norm_job job = {.x = &x,
                        .scale = &scale,
                        .y = y,
                        .rms = true,
                        .args = {.rows = (uint32_t)rows,
                                 .count = (uint32_t)count,
                                 .skip_rows = 1,
                                 .period = 1,
                                 .step = (uint32_t)count,
                                 .spread = 1,
                                 .epsilon = epsilon}};
  return leati_plan_norm(planner, &job, err);
}
