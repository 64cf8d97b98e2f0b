/* SPDX-License-Identifier: BSD-3-Clause */
/* Dropout: at inference the same bytes, in training some of the elements. */
#include <inttypes.h>

#include "core/status.h"
#include "ops/core/dims.h"
#include "ops/core/host_kernel.h"
#include "ops/movement/fill.h"
#include "ops/random/random_numbers.h"

#define TYPES_MOVED (LEATI_TYPES_REAL | LEAT_TYPE_FLOAT64)
static LEATI_TYPE(type_ratio, "T1", TYPES_MOVED);
static LEATI_TYPE(type_mask, "T2", LEAT_TYPE_BOOL);
static LEATI_TYPE(type_old_mask, "T1", LEAT_TYPE_BOOL);
static LEATI_TYPE(type_dropout, "T", TYPES_MOVED);
static LEATI_ATTRIBUTE(attribute_ratio, "ratio", FLOAT);

typedef struct dropout_state {
  leati_random random;
  float ratio; /* of domain "leat" */
} dropout_state;

typedef struct dropout_args {
  uint64_t y, mask, x;
  leati_random_args random;
  float ratio, scale;
  uint32_t count;
} dropout_args;

static bool is_ours(const leat_op *op) {
  return leati_op_def_of(op)->info.domain[0] != '\0';
}

/* Whether training_mode is there and true. */
static bool trains(const leat_op *op, const leati_call *call) {
  const leati_view *const training = leati_input(call, 2);
  return is_ours(op) || (training != NULL && *(const unsigned char *)training->data != 0);
}

static double ratio_of(const leat_op *op, const leati_call *call) {
  const dropout_state *const state = leati_op_state_const(op);
  const leati_view *const ratio = leati_input(call, 1);
  if (is_ours(op)) {
    return state->ratio;
  }
  return ratio == NULL                      ? 0.5
         : ratio->type == LEAT_TYPE_FLOAT64 ? *(const double *)ratio->data
                                            : (double)leati_real_of(ratio->type, ratio->data);
}

static int32_t dropout_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                                leat_error *err) {
  (void)def;
  (void)device;
  leati_view training;
  /* Whether it trains must be known now where that is refused: a host that is refused here has another place to run it,
   * later it has none. */
  const bool inference = !leati_is_given(desc, 2) || (leati_constant(desc, 2, &training) && training.count == 1 &&
                                                      *(const unsigned char *)training.data == 0);
  return inference || leati_type_of(desc->inputs[0].dtype) != LEAT_TYPE_FLOAT64
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "Dropout: training_mode of float64 is not a constant false");
}

static int32_t dropout_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  dropout_state *const state = leati_op_state(op);
  state->random = leati_random_read(desc);
  state->ratio = leati_attr_float(desc, "ratio", 0.5f);
  return LEAT_OK;
}

static int32_t infer_both(const leat_op *op, const leati_call *call, uint64_t mask, leat_shape *out, leat_error *err) {
  LEATI_TRY(leati_infer_same(op, call, out, err));
  if (call->output_count > 1) {
    LEATI_TRY(leati_infer_same(op, call, &out[1], err));
    out[1].dtype = leati_dtype_of(mask);
  }
  return LEAT_OK;
}

static int32_t dropout_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  for (uint32_t i = 1; i < 3 && !is_ours(op); ++i) {
    const leati_view *const scalar = leati_input(call, i);
    if (scalar != NULL && scalar->count != 1) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Dropout: input %u has %" PRIu64 " elements; expected one", i,
                        scalar->count);
    }
  }
  if (trains(op, call)) {
    const double ratio = ratio_of(op, call);
    if (!(ratio >= 0 && ratio < 1)) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                        "Dropout: the ratio is %g; expected 0 or more, and less than 1", ratio);
    }
    if (call->inputs[0].type == LEAT_TYPE_FLOAT64 || call->inputs[0].count > INT32_MAX) {
      return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                        "Dropout in training takes floats of up to 32 bits, and up to 2147483647 of them");
    }
    if (is_ours(op)) {
      LEATI_TRY(leati_random_check_offset(op, call, 1, err));
    }
  }
  return infer_both(op, call, LEAT_TYPE_BOOL, out, err);
}

/* The mask has the type of the data, or is bool. */
static int32_t old_dropout_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  return infer_both(op, call, leati_op_since_version(op) < 10 ? call->inputs[0].type : LEAT_TYPE_BOOL, out, err);
}

/* Output 0 as input 0, and a mask of one value. */
static int32_t plan_same(leati_planner *planner, const leati_call *call, uint64_t mask_value, leat_error *err) {
  const leati_view *const x = &call->inputs[0], *const y = leati_output(call, 0), *const mask = leati_output(call, 1);
  if (y != NULL && !(x->compact && x->address == y->address)) {
    LEATI_TRY(leati_plan_strided_copy(planner, x, y, err));
  }
  return mask == NULL ? LEAT_OK : leati_plan_fill(planner, mask, mask_value, err);
}

static int32_t old_dropout_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  (void)op;
  return plan_same(planner, call, 0, err);
}

static int32_t dropout_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const dropout_state *const state = leati_op_state_const(op);
  const leati_view *const y = &call->outputs[0], *const mask = leati_output(call, 1);
  if (!trains(op, call)) {
    return plan_same(planner, call, 1, err);
  }
  if (call->inputs[0].count == 0) {
    return LEAT_OK;
  }
  const leati_view *const offset = is_ours(op) ? leati_random_offset(&state->random, call, 1) : NULL;
  const double ratio = ratio_of(op, call);
  leati_view x;
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[0], &x, err));
  const uint64_t places = x.address | y->address;
  const dropout_args args = {.random = leati_random_args_of(op, &state->random),
                             .ratio = (float)ratio,
                             .scale = (float)(1 / (1 - ratio)),
                             .count = (uint32_t)x.count};
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_DROPOUT, x.type),
                   .constants.dropout = {.has_offset = offset != NULL,
                                         .quads = places % (4 * x.item_size) == 0,
                                         .masked = mask != NULL}},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({&x, &args.x}, {offset, &args.random.offset}),
      LEATI_WRITES({y, &args.y}, {mask, &args.mask}),
      .draws = leati_random_draws(&state->random, &args.random),
  };
  leati_random_groups(op, x.count, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

/* Output 0 is input 0 where nothing is dropped. */
static int32_t dropout_view(const leat_op *op, const leati_call *call, uint32_t o, leati_view *out, leat_error *err) {
  (void)err;
  *out = call->inputs[0];
  out->present = o == 0 && !trains(op, call);
  return LEAT_OK;
}

#define OLD_DROPOUT(versions, ...)                                                                              \
  LEATI_OP("Dropout", "", versions, (1, 1), (1, 2), .info.flags = LEAT_OP_ALIAS, __VA_ARGS__, .any_size = true, \
           .infer = old_dropout_infer, .plan = old_dropout_plan, .view = dropout_view)

static const leati_op_def ops[] = {
    /* The ratio was an attribute, which matters in training alone, and the mask had zeros. */
    OLD_DROPOUT((7, 7), LEATI_TYPES(&type_dropout), LEATI_OUTPUT_TYPES(0, 0)),
    OLD_DROPOUT((10, 10), LEATI_TYPES(&type_dropout, &type_old_mask), LEATI_OUTPUT_TYPES(0, 1)),
    LEATI_OP("Dropout", "", (12, 22), (1, 3), (1, 2), .info.flags = LEAT_OP_IN_PLACE, .info.host_inputs = 0x6,
             LEATI_TYPES(&type_dropout, &type_ratio, &type_mask), LEATI_ATTRIBUTES(&leati_attribute_seed),
             LEATI_INPUT_TYPES(0, 1, 2), LEATI_OUTPUT_TYPES(0, 2), .state_size = sizeof(dropout_state), .draws = true,
             .any_size = true, .supports = dropout_supports, .create = dropout_create, .infer = dropout_infer,
             .plan = dropout_plan, .view = dropout_view),
    LEATI_OP("Dropout", "leat", (1, 1), (1, 2), (1, 2), .info.flags = LEAT_OP_IN_PLACE,
             LEATI_TYPES(&leati_type_real, &leati_type_int64, &type_mask),
             LEATI_ATTRIBUTES(&leati_attribute_offset, &attribute_ratio, &leati_attribute_seed),
             LEATI_INPUT_TYPES(0, 1), LEATI_OUTPUT_TYPES(0, 2), .state_size = sizeof(dropout_state),
             LEATI_KERNELS(LEATI_KERNELS_DROPOUT), .draws = true, .create = dropout_create, .infer = dropout_infer,
             .plan = dropout_plan),
};

const leati_op_family leati_dropout_family = LEATI_FAMILY(ops);
