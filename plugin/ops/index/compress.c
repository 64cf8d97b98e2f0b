/* SPDX-License-Identifier: BSD-3-Clause */
/* Compress: the slices along an axis, or of a flattened tensor the elements, whose condition is true. */
#include <stdint.h>
#include <string.h>

#include "core/status.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/core/movement.h"
#include "ops/index/host_selection.h"

static LEATI_TYPE(type_condition, "T1", LEAT_TYPE_BOOL);

typedef struct compress_state {
  int64_t axis;
  bool flattens;
} compress_state;

static int32_t compress_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  compress_state *const state = leati_op_state(op);
  state->flattens = leati_attr(desc, "axis") == NULL;
  state->axis = leati_attr_int(desc, "axis", 0);
  return LEAT_OK;
}

static int32_t compress_select(const leat_op *op, const leati_call *call, leati_selection *out, leat_error *err) {
  const compress_state *const state = leati_op_state_const(op);
  const leati_view *const x = &call->inputs[0], *const condition = &call->inputs[1];
  const unsigned char *const taken = condition->data;
  int64_t dims[LEAT_MAX_RANK] = {(int64_t)x->count};
  int32_t axis = 0, rank = 1;
  if (!state->flattens) {
    rank = x->ndim;
    LEATI_TRY(leati_axis(state->axis, rank, &axis, err));
    memcpy(dims, x->shape, (size_t)rank * sizeof(dims[0]));
  }
  /* Of slices that are not there nothing is asked, and conditions of any shape are taken in their order, as in ONNX
   * Runtime. */
  const int64_t size = dims[axis], asked = (int64_t)condition->count < size ? (int64_t)condition->count : size;
  int64_t count = 0;
  for (int64_t k = 0; k < asked; ++k) {
    count += taken[k] != 0;
  }
  const uint64_t outer = leati_product(dims, 0, axis), inner = leati_product(dims, axis + 1, rank) * x->item_size;
  unsigned char *to;
  dims[axis] = count;
  LEATI_TRY(leati_selection_place(out, 0, rank, dims, x->type, (void **)&to, err));
  for (uint64_t o = 0; o < outer && to != NULL; ++o) {
    int64_t found = 0;
    for (int64_t k = 0; k < asked && found < count; ++k) {
      if (taken[k] != 0) {
        memcpy(to + (uint64_t)found++ * inner,
               (const unsigned char *)x->data + (o * (uint64_t)size + (uint64_t)k) * inner, inner);
      }
    }
    to += (uint64_t)count * inner;
  }
  return LEAT_OK;
}

static int32_t compress_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  return leati_selection_infer(op, call, compress_select, out, err);
}

static const leati_op_def ops[] = {
    LEATI_OP("Compress", "", (9, 28), (2, 2), (1, 1), .info.host_inputs = 3, .info.host_outputs = 1,
             LEATI_TYPES(&leati_type_moved, &type_condition), LEATI_ATTRIBUTES(&leati_attribute_axis),
             LEATI_INPUT_TYPES(0, 1), .state_size = sizeof(compress_state), .create = compress_create,
             .infer = compress_infer, .plan = leati_selection_plan),
};

const leati_op_family leati_compress_family = LEATI_FAMILY(ops);
