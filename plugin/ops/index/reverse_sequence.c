/* SPDX-License-Identifier: BSD-3-Clause */
/* ReverseSequence: of each batch the first entries, as many as its length, in the opposite order. */
#include <inttypes.h>

#include "core/status.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/core/movement.h"

static LEATI_ATTRIBUTE(attribute_batch_axis, "batch_axis", INT);
static LEATI_ATTRIBUTE(attribute_time_axis, "time_axis", INT);

typedef struct sequence_state {
  int64_t time_axis;
} sequence_state;

static int32_t reverse_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                                leat_error *err) {
  (void)def;
  (void)device;
  const int64_t batch = leati_attr_int(desc, "batch_axis", 1), time = leati_attr_int(desc, "time_axis", 0);
  return (batch == 0 && time == 1) || (batch == 1 && time == 0)
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                          "ReverseSequence: of 'batch_axis' and 'time_axis' one must be 0 and the other 1");
}

static int32_t reverse_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  ((sequence_state *)leati_op_state(op))->time_axis = leati_attr_int(desc, "time_axis", 0);
  return LEAT_OK;
}

static int32_t reverse_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const sequence_state *const state = leati_op_state_const(op);
  const leati_view *const lengths = &call->inputs[1];
  const int64_t batches = call->inputs[0].shape[1 - state->time_axis];
  if (lengths->ndim != 1 || lengths->shape[0] != batches) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "ReverseSequence: sequence_lens must have shape [%" PRId64 "], one for each batch", batches);
  }
  return leati_infer_same(op, call, out, err);
}

static int32_t reverse_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const sequence_state *const state = leati_op_state_const(op);
  const leati_view *const to = &call->outputs[0];
  leati_view from, lengths;
  LEATI_TRY(leati_check_reach(to, "ReverseSequence", err));
  if (to->count == 0) {
    return LEAT_OK;
  }
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[0], &from, err));
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[1], &lengths, err));
  const uint64_t entry = leati_product(to->shape, 2, to->ndim) * to->item_size;
  const uint32_t width = leati_item_width(entry | from.address | to->address);
  const struct {
    uint64_t from, lengths, to;
    uint32_t count, inner, columns, rows;
    uint32_t time_axis;
  } args = {.count = (uint32_t)(to->count * to->item_size / width),
            .inner = (uint32_t)(entry / width),
            .columns = (uint32_t)to->shape[1],
            .rows = (uint32_t)to->shape[0],
            .time_axis = (uint32_t)state->time_axis};
  leati_dispatch_desc dispatch = {.pipeline = {.kernel = leati_kernel_find_item(LEATI_KERNELS_REVERSE_SEQUENCE, width)},
                                  .args = &args,
                                  .args_size = sizeof(args),
                                  LEATI_READS({&from, &args.from}, {&lengths, &args.lengths}),
                                  LEATI_WRITES({to, &args.to})};
  leati_groups_linear(planner->device, args.count, LEATI_ITEMS_PER_GROUP, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

static const leati_op_def ops[] = {
    LEATI_OP("ReverseSequence", "", (10, 28), (2, 2), (1, 1), LEATI_TYPES(&leati_type_moved, &leati_type_int64),
             LEATI_ATTRIBUTES(&attribute_batch_axis, &attribute_time_axis), LEATI_INPUT_TYPES(0, 1),
             .state_size = sizeof(sequence_state), .least_rank = 2, .supports = reverse_supports,
             .create = reverse_create, .infer = reverse_infer, LEATI_KERNELS(LEATI_KERNELS_REVERSE_SEQUENCE),
             .plan = reverse_plan),
};

const leati_op_family leati_reverse_sequence_family = LEATI_FAMILY(ops);
