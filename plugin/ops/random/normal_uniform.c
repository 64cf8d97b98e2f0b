/* SPDX-License-Identifier: BSD-3-Clause */
/* RandomNormal, RandomUniform, RandomNormalLike and RandomUniformLike. */
#include <inttypes.h>
#include <string.h>

#include "core/status.h"
#include "ops/core/dims.h"
#include "ops/random/random_numbers.h"

static LEATI_TYPE(type_like, "T1", LEATI_TYPES_HELD);
static LEATI_TYPE(type_like_out, "T2", LEATI_TYPES_REAL);
static LEATI_ATTRIBUTE(attribute_mean, "mean", FLOAT);
static LEATI_ATTRIBUTE(attribute_scale, "scale", FLOAT);
static LEATI_ATTRIBUTE(attribute_low, "low", FLOAT);
static LEATI_ATTRIBUTE(attribute_high, "high", FLOAT);
static LEATI_ATTRIBUTE(attribute_shape, "shape", INTS);

/* leati_op_def::param */
enum { NORMAL = 1, LIKE = 2 };

typedef struct normal_uniform_state {
  leati_random random;
  uint64_t type;      /* of what it gives; 0: the type of the input */
  float start, width; /* of the number that is 0, and from there to 1 */
  uint32_t ndim;
  int64_t dims[LEAT_MAX_RANK]; /* what the attribute `shape` says */
} normal_uniform_state;

typedef struct normal_uniform_args {
  uint64_t dst;
  leati_random_args random;
  float start, width;
  uint32_t count;
} normal_uniform_args;

static int32_t read_shape(const leati_op_desc *desc, uint32_t *out_ndim, int64_t *dims, leat_error *err) {
  if (leati_attr(desc, "shape") == NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "random numbers need the attribute 'shape'");
  }
  LEATI_TRY(leati_attr_ints(desc, "shape", LEAT_MAX_RANK, dims, out_ndim, err));
  for (uint32_t d = 0; d < *out_ndim; ++d) {
    if (dims[d] < 0) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "random numbers: 'shape' holds %" PRId64, dims[d]);
    }
  }
  return LEAT_OK;
}

static int32_t normal_uniform_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                                       leat_error *err) {
  (void)device;
  int64_t dims[LEAT_MAX_RANK];
  uint32_t ndim;
  uint64_t type = LEAT_TYPE_FLOAT32;
  if ((def->param & LIKE) != 0) {
    type = leati_type_of(desc->inputs[0].dtype);
  } else {
    LEATI_TRY(read_shape(desc, &ndim, dims, err));
  }
  LEATI_TRY(leati_random_type(def, desc, LEATI_TYPES_REAL, type, &type, err));
  return (type & LEATI_TYPES_REAL) != 0
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s: without dtype the input must be a float of up to 32 bits",
                          def->info.name);
}

static int32_t normal_uniform_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  const leati_op_def *const def = leati_op_def_of(op);
  normal_uniform_state *const state = leati_op_state(op);
  state->random = leati_random_read(desc);
  const bool normal = (def->param & NORMAL) != 0, like = (def->param & LIKE) != 0;
  state->start = leati_attr_float(desc, normal ? "mean" : "low", 0);
  state->width = leati_attr_float(desc, normal ? "scale" : "high", 1) - (normal ? 0 : state->start);
  LEATI_TRY(leati_random_type(def, desc, LEATI_TYPES_REAL, like ? 0 : LEAT_TYPE_FLOAT32, &state->type, err));
  return like ? LEAT_OK : read_shape(desc, &state->ndim, state->dims, err);
}

static int32_t normal_uniform_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const normal_uniform_state *const state = leati_op_state_const(op);
  if ((leati_op_def_of(op)->param & LIKE) != 0) {
    out->dtype = leati_dtype_of(state->type != 0 ? state->type : call->inputs[0].type);
    return leati_infer_same(op, call, out, err);
  }
  LEATI_TRY(leati_random_check_offset(op, call, 0, err));
  out->ndim = (int32_t)state->ndim;
  memcpy(out->dims, state->dims, sizeof(state->dims));
  out->dtype = leati_dtype_of(state->type);
  return LEAT_OK;
}

static int32_t normal_uniform_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const normal_uniform_state *const state = leati_op_state_const(op);
  const leati_op_def *const def = leati_op_def_of(op);
  const leati_view *const y = &call->outputs[0];
  if (y->count == 0) {
    return LEAT_OK;
  }
  const leati_view *const offset = (def->param & LIKE) != 0 ? NULL : leati_random_offset(&state->random, call, 0);
  const normal_uniform_args args = {.random = leati_random_args_of(op, &state->random),
                                    .start = state->start,
                                    .width = state->width,
                                    .count = (uint32_t)y->count};
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find(def->kernels[0], y->type),
                   .constants.normal_uniform = {.quads = y->address % (4 * y->item_size) == 0,
                                                .has_offset = offset != NULL}},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({offset, &args.random.offset}),
      LEATI_WRITES({y, &args.dst}),
      .draws = leati_random_draws(&state->random, &args.random),
  };
  leati_random_groups(op, y->count, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

#define DRAWN(kernels_, param_)                                                                                \
  .output_types = (const uint8_t[]){((param_)&LIKE) != 0 ? 1 : 0}, .state_size = sizeof(normal_uniform_state), \
  LEATI_KERNELS(kernels_), .param = (param_), .draws = true, .supports = normal_uniform_supports,              \
  .create = normal_uniform_create, .infer = normal_uniform_infer, .plan = normal_uniform_plan

static const leati_op_def ops[] = {
    LEATI_OP("RandomNormal", "", (1, 22), (0, 0), (1, 1), LEATI_TYPES(&leati_type_real),
             LEATI_ATTRIBUTES(&leati_attribute_dtype, &attribute_mean, &attribute_scale, &leati_attribute_seed_float,
                              &attribute_shape),
             DRAWN(LEATI_KERNELS_RANDOM_NORMAL, NORMAL)),
    LEATI_OP("RandomNormalLike", "", (1, 22), (1, 1), (1, 1), LEATI_TYPES(&type_like, &type_like_out),
             LEATI_ATTRIBUTES(&leati_attribute_dtype, &attribute_mean, &attribute_scale, &leati_attribute_seed_float),
             DRAWN(LEATI_KERNELS_RANDOM_NORMAL, NORMAL | LIKE)),
    LEATI_OP("RandomUniform", "", (1, 22), (0, 0), (1, 1), LEATI_TYPES(&leati_type_real),
             LEATI_ATTRIBUTES(&leati_attribute_dtype, &attribute_high, &attribute_low, &leati_attribute_seed_float,
                              &attribute_shape),
             DRAWN(LEATI_KERNELS_RANDOM_UNIFORM, 0)),
    LEATI_OP("RandomUniformLike", "", (1, 22), (1, 1), (1, 1), LEATI_TYPES(&type_like, &type_like_out),
             LEATI_ATTRIBUTES(&leati_attribute_dtype, &attribute_high, &attribute_low, &leati_attribute_seed_float),
             DRAWN(LEATI_KERNELS_RANDOM_UNIFORM, LIKE)),
    LEATI_OP("RandomNormal", "leat", (1, 1), (0, 1), (1, 1), LEATI_TYPES(&leati_type_real, &leati_type_int64),
             LEATI_ATTRIBUTES(&leati_attribute_dtype, &attribute_mean, &leati_attribute_offset, &attribute_scale,
                              &leati_attribute_seed, &attribute_shape),
             LEATI_INPUT_TYPES(1), DRAWN(LEATI_KERNELS_RANDOM_NORMAL, NORMAL)),
    LEATI_OP("RandomUniform", "leat", (1, 1), (0, 1), (1, 1), LEATI_TYPES(&leati_type_real, &leati_type_int64),
             LEATI_ATTRIBUTES(&leati_attribute_dtype, &attribute_high, &attribute_low, &leati_attribute_offset,
                              &leati_attribute_seed, &attribute_shape),
             LEATI_INPUT_TYPES(1), DRAWN(LEATI_KERNELS_RANDOM_UNIFORM, 0)),
};

const leati_op_family leati_normal_uniform_family = LEATI_FAMILY(ops);
