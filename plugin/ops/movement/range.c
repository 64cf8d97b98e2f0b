/* SPDX-License-Identifier: BSD-3-Clause */
/* Range. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/status.h"
#include "ops/core/dims.h"
#include "ops/core/host_kernel.h"
#include "ops/core/movement.h"

static LEATI_TYPE(type_range, "T", LEATI_TYPES_OF_RANGE);
static LEATI_TYPE(type_range_1, "T", LEAT_TYPE_FLOAT32 | LEAT_TYPE_INT32 | LEAT_TYPE_INT64); /* of com.microsoft */

typedef struct range_args {
  uint64_t dst;
  int64_t start, delta; /* of floats: the bits of a float32 */
  uint32_t count;
} range_args;

#define RANGE_PER_GROUP 256

/* Elements from `start` to before `limit`; both differences are taken without overflow. */
static uint64_t range_count(int64_t start, int64_t limit, int64_t delta) {
  if (delta > 0) {
    return limit > start ? ((uint64_t)limit - (uint64_t)start - 1) / (uint64_t)delta + 1 : 0;
  }
  return start > limit ? ((uint64_t)start - (uint64_t)limit - 1) / (UINT64_C(0) - (uint64_t)delta) + 1 : 0;
}

static int32_t range_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  (void)op;
  uint64_t count;
  for (uint32_t i = 0; i < 3; ++i) {
    if (leati_input(call, i) == NULL) {
      continue;
    }
    if (call->inputs[i].count != 1 || call->inputs[i].ndim > 1) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Range: input %u has %" PRIu64 " elements; expected a scalar",
                        i, call->inputs[i].count);
    }
  }
  const leati_view *const in = call->inputs, *const by = leati_input(call, 2);
  if ((in[0].type & LEATI_TYPES_REAL) != 0) {
    const double start = leati_real_of(in[0].type, in[0].data), limit = leati_real_of(in[1].type, in[1].data),
                 delta = by != NULL ? leati_real_of(by->type, by->data) : 1;
    const double steps = ceil((limit - start) / delta);
    if (delta == 0 || isnan(steps) || steps > (double)INT32_MAX) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Range: from %g to %g by %g is no finite range", start, limit,
                        delta);
    }
    count = steps > 0 ? (uint64_t)steps : 0;
  } else {
    const int64_t delta = by != NULL ? leati_host_int(by, 0) : 1;
    if (delta == 0) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Range: 'delta' is 0");
    }
    count = range_count(leati_host_int(&in[0], 0), leati_host_int(&in[1], 0), delta);
  }
  if (count > INT32_MAX) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "Range: %" PRIu64 " elements; supported: up to 2147483647", count);
  }
  out->ndim = 1;
  out->dims[0] = (int64_t)count;
  return LEAT_OK;
}

static int32_t range_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  (void)op;
  const leati_view *const dst = &call->outputs[0], *const by = leati_input(call, 2);
  if (dst->count == 0) {
    return LEAT_OK;
  }
  range_args args = {.count = (uint32_t)dst->count};
  if ((dst->type & LEATI_TYPES_REAL) != 0) {
    const float start = leati_real_of(call->inputs[0].type, call->inputs[0].data),
                delta = by != NULL ? leati_real_of(by->type, by->data) : 1;
    memcpy(&args.start, &start, sizeof(start));
    memcpy(&args.delta, &delta, sizeof(delta));
  } else {
    args.start = leati_host_int(&call->inputs[0], 0);
    args.delta = by != NULL ? leati_host_int(by, 0) : 1;
  }
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_RANGE, dst->type)},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_WRITES({dst, &args.dst}),
  };
  leati_groups_linear(planner->device, dst->count, RANGE_PER_GROUP, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

static void range_evaluate(const leat_op *op, const leati_call *call, uint32_t o) {
  (void)op;
  const leati_view *const out = &call->outputs[o], *const by = leati_input(call, 2);
  const uint64_t start = (uint64_t)leati_host_get(&call->inputs[0], 0),
                 delta = by != NULL ? (uint64_t)leati_host_get(by, 0) : 1;
  for (uint64_t i = 0; i < out->count; ++i) {
    leati_host_put(out, i, (int64_t)(start + i * delta));
  }
}

static const leati_op_def ops[] = {
    LEATI_OP("Range", "", (11, 27), (3, 3), (1, 1),
             LEATI_EVALUATED(LEAT_OP_GROWS, LEATI_EVALUATED_WHOLE, range_evaluate), .info.host_inputs = 0x7,
             LEATI_TYPES(&type_range), .infer = range_infer, LEATI_KERNELS(LEATI_KERNELS_RANGE), .plan = range_plan),
    LEATI_OP("Range", "com.microsoft", (1, 1), (2, 3), (1, 1),
             LEATI_EVALUATED(LEAT_OP_GROWS, LEATI_EVALUATED_WHOLE, range_evaluate), .info.host_inputs = 0x7,
             LEATI_TYPES(&type_range_1), .infer = range_infer, LEATI_KERNELS(LEATI_KERNELS_RANGE), .plan = range_plan),
};

const leati_op_family leati_range_family = LEATI_FAMILY(ops);
