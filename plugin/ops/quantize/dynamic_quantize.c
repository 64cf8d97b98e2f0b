/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/quantize/dynamic_quantize.h"

#include <string.h>

#include "core/status.h"
#include "device/device.h"
#include "ops/core/movement.h"
#include "ops/elementwise/elementwise.h"
#include "policy/tiling.h"

/* Stages of kernels/dynamic_quantize.comp. */
enum { DYNAMIC_WHOLE, DYNAMIC_RANGES, DYNAMIC_REST };

/* Argument record of that kernel. */
typedef struct dynamic_args {
  uint64_t x, y, scale, zero;
  uint64_t pieces;
  uint32_t count, groups;
} dynamic_args;

/* The tensors of a call as kernels take them; `pieces` is absent where one dispatch does all. */
typedef struct dynamic_job {
  leati_view x, pieces;
  const leati_view *y, *scale, *zero;
  leati_dynamic_cut cut;
} dynamic_job;

static int32_t plan_dynamic_stage(leati_planner *planner, const dynamic_job *job, uint32_t stage, leat_error *err) {
  const bool ranges = stage == DYNAMIC_RANGES;
  const leati_view *const y = job->y, *const pieces = job->pieces.present ? &job->pieces : NULL;
  dynamic_args args = {.count = (uint32_t)y->count, .groups = job->cut.groups};
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = planner->device->physical->shuffles ? LEATI_KERNEL_DYNAMIC_QUANTIZE_SHUFFLED
                                                                 : LEATI_KERNEL_DYNAMIC_QUANTIZE,
                   .constants.dynamic_quantize = {.threads = job->cut.threads,
                                                  .stage = stage,
                                                  .quads = y->count % 4 == 0 && job->x.address % 16 == 0 &&
                                                           y->address % 4 == 0}},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({&job->x, &args.x}, {ranges ? NULL : pieces, &args.pieces}),
      LEATI_WRITES({ranges ? NULL : y, &args.y}, {ranges ? NULL : job->scale, &args.scale},
                   {ranges ? NULL : job->zero, &args.zero}, {ranges ? pieces : NULL, &args.pieces})};
  leati_groups_linear(planner->device, args.groups, 1, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

int32_t leati_plan_dynamic_quantize(leati_planner *planner, const leati_view *x, const leati_view *y,
                                    const leati_view *scale, const leati_view *zero, leat_error *err) {
  dynamic_job job = {.y = y, .scale = scale, .zero = zero};
  LEATI_TRY(leati_plan_compact(planner, x, &job.x, err));
  LEATI_TRY(leati_check_reach(y, "DynamicQuantizeLinear", err));
  job.cut = leati_dynamic_cut_of(&planner->device->traits, y->count);
  if (job.cut.whole) {
    return plan_dynamic_stage(planner, &job, DYNAMIC_WHOLE, err);
  }
  job.pieces = (leati_view){.type = LEAT_TYPE_FLOAT32, .ndim = 1, .shape = {2 * (int64_t)job.cut.groups}};
  LEATI_TRY(leati_plan_temporary(planner, &job.pieces, err));
  LEATI_TRY(plan_dynamic_stage(planner, &job, DYNAMIC_RANGES, err));
  return plan_dynamic_stage(planner, &job, DYNAMIC_REST, err);
}

int32_t leati_plan_dynamically_quantized(leati_planner *planner, const leati_view *x, leati_quantized *out,
                                         leat_error *err) {
  *out = (leati_quantized){.bytes = {.type = LEAT_TYPE_UINT8, .ndim = x->ndim},
                           .scale = {.type = LEAT_TYPE_FLOAT32},
                           .zero = {.type = LEAT_TYPE_UINT8}};
  memcpy(out->bytes.shape, x->shape, sizeof(out->bytes.shape));
  LEATI_TRY(leati_plan_temporary(planner, &out->bytes, err));
  LEATI_TRY(leati_plan_temporary(planner, &out->scale, err));
  LEATI_TRY(leati_plan_temporary(planner, &out->zero, err));
  return leati_plan_dynamic_quantize(planner, x, &out->bytes, &out->scale, &out->zero, err);
}
