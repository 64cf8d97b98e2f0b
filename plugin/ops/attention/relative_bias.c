/* SPDX-License-Identifier: BSD-3-Clause */
/* com.microsoft's RelativePositionBias: what T5 adds to scores, one of a table for each head, by how far a key is from
 * a query. Near distances have a bucket each, farther ones share buckets by the logarithm. */
#include <inttypes.h>
#include <math.h>

#include "core/status.h"
#include "ops/core/attribute.h"
#include "ops/core/divider.h"
#include "ops/core/movement.h"

static LEATI_TYPE(type_table, "T", LEAT_TYPE_FLOAT32 | LEAT_TYPE_FLOAT16);
static LEATI_TYPE(type_length, "U", LEAT_TYPE_INT64);
static LEATI_ATTRIBUTE(attribute_both, "is_bidirectional", INT);
static LEATI_ATTRIBUTE(attribute_max_distance, "max_distance", INT);

enum { TABLE, QUERIES, KEYS };

/* Buckets that are shared, in one direction. */
#define SHARED_MAX 64

typedef struct bias_state {
  int64_t max_distance;
  bool both;
} bias_state;

typedef struct bias_args {
  uint64_t table, y;
  uint32_t count, queries, keys, buckets;
  uint32_t half;  /* buckets before those of keys behind the query; 0: of such keys all are in bucket 0 */
  uint32_t exact; /* distances with a bucket of their own */
  uint32_t shared;
  uint32_t from[SHARED_MAX]; /* the least distance of each bucket but the first behind those */
  leati_divider per_keys, per_queries;
} bias_args;

static int32_t read_attributes(const leati_op_desc *desc, bias_state *out, leat_error *err) {
  out->both = leati_attr_int(desc, attribute_both.name, 0) != 0;
  out->max_distance = leati_attr_int(desc, attribute_max_distance.name, 0);
  return out->max_distance >= 1 && out->max_distance <= INT32_MAX
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                          "RelativePositionBias: max_distance is %" PRId64 " or missing; it must be from 1 to 2^31 - 1",
                          out->max_distance);
}

static int32_t bias_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc, leat_error *err) {
  bias_state state;
  (void)def;
  (void)device;
  return read_attributes(desc, &state, err);
}

static int32_t bias_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  return read_attributes(desc, leati_op_state(op), err);
}

/* Buckets of one direction. */
static int64_t buckets_of(const bias_state *state, const leati_view *table) {
  return state->both ? table->shape[0] / 2 : table->shape[0];
}

static int32_t bias_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const bias_state *const state = leati_op_state_const(op);
  const leati_view *const table = &call->inputs[TABLE];
  const int64_t buckets = buckets_of(state, table), exact = buckets / 2;
  if (exact < 1 || exact >= state->max_distance || (state->both && table->shape[0] % 2 != 0)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "RelativePositionBias: a table of %" PRId64 " buckets up to a distance of %" PRId64
                      "; each direction needs 2 and more, and half of them less than that distance",
                      table->shape[0], state->max_distance);
  }
  if (buckets - exact - 1 > SHARED_MAX) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                      "RelativePositionBias with %" PRId64 " buckets for a direction is not supported; %d are", buckets,
                      2 * SHARED_MAX);
  }
  out->ndim = 4;
  out->dims[0] = 1;
  out->dims[1] = table->shape[1];
  for (uint32_t i = QUERIES; i <= KEYS; ++i) {
    const leati_view *const length = &call->inputs[i];
    out->dims[1 + i] = length->count == 1 && length->ndim <= 1 ? leati_host_int(length, 0) : -1;
    if (out->dims[1 + i] < 0 || out->dims[1 + i] > INT32_MAX) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                        "RelativePositionBias: query_length and key_length must be one number from 0 to 2^31 - 1 each");
    }
  }
  return LEAT_OK;
}

/* The bucket of a distance that has none of its own, as T5 computes it in float32. */
static int64_t bucket_of(int64_t distance, int64_t buckets, int64_t exact, int64_t max_distance) {
  const float range = (float)log((double)max_distance / (double)exact);
  const float part = logf((float)distance / (float)exact) / range * (float)(buckets - exact);
  const int64_t bucket = exact + (int64_t)part;
  return bucket < buckets ? bucket : buckets - 1;
}

/* The least distance of a bucket, or of one behind it. */
static uint32_t least_distance(int64_t bucket, int64_t buckets, int64_t exact, int64_t max_distance) {
  int64_t low = exact, high = INT32_MAX;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (bucket_of(middle, buckets, exact, max_distance) >= bucket) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return (uint32_t)low;
}

static int32_t bias_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const bias_state *const state = leati_op_state_const(op);
  const leati_view *const y = &call->outputs[0];
  leati_view table;
  if (y->count == 0) {
    return LEAT_OK;
  }
  LEATI_TRY(leati_check_reach(y, "RelativePositionBias", err));
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[TABLE], &table, err));
  const int64_t buckets = buckets_of(state, &table), exact = buckets / 2;
  bias_args args = {.count = (uint32_t)y->count,
                    .queries = (uint32_t)y->shape[2],
                    .keys = (uint32_t)y->shape[3],
                    .buckets = (uint32_t)table.shape[0],
                    .half = state->both ? (uint32_t)buckets : 0,
                    .exact = (uint32_t)exact,
                    .shared = (uint32_t)(buckets - exact - 1)};
  for (uint32_t i = 0; i < args.shared; ++i) {
    args.from[i] = least_distance(exact + 1 + i, buckets, exact, state->max_distance);
  }
  args.per_keys = leati_divider_of(args.keys);
  args.per_queries = leati_divider_of(args.queries);
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find_item(LEATI_KERNELS_RELATIVE_BIAS, y->item_size)},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({&table, &args.table}),
      LEATI_WRITES({y, &args.y})};
  leati_groups_linear(planner->device, y->count, 256, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

/* ---- The list --------------------------------------------------------------------------------------------------- */

static const leati_op_def ops[] = {
    LEATI_OP("RelativePositionBias", "com.microsoft", (1, 1), (3, 3), (1, 1), .info.flags = LEAT_OP_GROWS,
             .info.host_inputs = 1u << QUERIES | 1u << KEYS, LEATI_TYPES(&type_table, &type_length),
             LEATI_ATTRIBUTES(&attribute_both, &attribute_max_distance), LEATI_INPUT_TYPES(0, 1, 1),
             .state_size = sizeof(bias_state), .least_rank = 2, .most_rank = 2, .supports = bias_supports,
             .create = bias_create, .infer = bias_infer, LEATI_KERNELS(LEATI_KERNELS_RELATIVE_BIAS), .plan = bias_plan),
};

const leati_op_family leati_relative_bias_family = LEATI_FAMILY(ops);
