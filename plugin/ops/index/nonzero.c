/* SPDX-License-Identifier: BSD-3-Clause */
/* NonZero: where the elements are that are not zero. */
#include "core/status.h"
#include "ops/core/host_kernel.h"
#include "ops/index/host_selection.h"

#define TYPES_FLOATING (LEATI_TYPES_REAL | LEAT_TYPE_FLOAT64)

/* Whether an element is not zero. -0 is, so the sign of floats, the highest bit of their last byte, does not count. */
static bool is_set(const leati_view *x, const unsigned char *element) {
  const uint32_t last = x->item_size - 1;
  for (uint32_t b = 0; b < last; ++b) {
    if (element[b] != 0) {
      return true;
    }
  }
  return (element[last] & ((x->type & TYPES_FLOATING) != 0 ? 0x7f : 0xff)) != 0;
}

/* Output 0 has a row for each dimension, of a scalar one row, with the positions there of all that are not zero. */
static int32_t nonzero_select(const leat_op *op, const leati_call *call, leati_selection *out, leat_error *err) {
  (void)op;
  const leati_view *const x = &call->inputs[0];
  int64_t dims[2] = {x->ndim > 0 ? x->ndim : 1, 0};
  for (uint64_t i = 0; i < x->count; ++i) {
    dims[1] += is_set(x, leati_host_at(x, i));
  }
  void *given;
  LEATI_TRY(leati_selection_place(out, 0, 2, dims, LEAT_TYPE_INT64, &given, err));
  leati_host_walk walk;
  leati_host_walk_begin(&walk, x, 0);
  int64_t found = 0;
  for (uint64_t i = 0; i < x->count && found < dims[1]; ++i) {
    if (is_set(x, leati_host_at(x, i))) {
      for (int32_t d = 0; d < x->ndim; ++d) {
        ((int64_t *)given)[d * dims[1] + found] = walk.position[d];
      }
      ++found;
    }
    leati_host_walk_next(&walk);
  }
  return LEAT_OK;
}

static int32_t nonzero_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  return leati_selection_infer(op, call, nonzero_select, out, err);
}

static const leati_op_def ops[] = {
    LEATI_OP("NonZero", "", (9, 13), (1, 1), (1, 1), .info.flags = LEAT_OP_EVALUATED | LEAT_OP_EVALUATED_FLOAT32,
             .info.host_inputs = 1, .info.host_outputs = 1, LEATI_TYPES(&leati_type_moved, &leati_type_int64),
             LEATI_OUTPUT_TYPES(1), .infer = nonzero_infer, .plan = leati_selection_plan),
};

const leati_op_family leati_nonzero_family = LEATI_FAMILY(ops);
