/* SPDX-License-Identifier: BSD-3-Clause */
/* NonZero. How many elements are not zero is the shape of the result, which must be known before anything is launched:
 * so the tensor is read on the host, and the places are given there. */
#include <inttypes.h>
#include <stdlib.h>

#include "core/status.h"
#include "ops/core/host_kernel.h"
#include "ops/core/planner.h"

#define TYPES_FLOATING (LEATI_TYPES_REAL | LEAT_TYPE_FLOAT64)

/* Bytes of a result at most: plans have a copy of it. */
#define BYTES_MAX (INT64_C(1) << 30)

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

/* Counts the elements that are not zero, and puts the position of the nth in each dimension d to `out[d * count + n]`,
 * if `out` is there. */
static int64_t find_places(const leati_view *x, int64_t *out, int64_t count) {
  leati_host_walk walk;
  int64_t found = 0;
  leati_host_walk_begin(&walk, x, 1);
  for (int32_t d = 0; d < x->ndim; ++d) {
    walk.strides[0][d] = x->strides[d];
  }
  for (uint64_t i = 0; i < x->count; ++i) {
    if (is_set(x, (const unsigned char *)x->data + walk.at[0] * (int64_t)x->item_size)) {
      for (int32_t d = 0; out != NULL && d < x->ndim; ++d) {
        out[d * count + found] = walk.position[d];
      }
      ++found;
    }
    leati_host_walk_next(&walk);
  }
  return found;
}

static int32_t nonzero_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  (void)op;
  const leati_view *const x = &call->inputs[0];
  const int64_t count = find_places(x, NULL, 0);
  if (count > BYTES_MAX / (int64_t)sizeof(int64_t) / x->ndim) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                      "NonZero: %" PRId64 " elements of rank %d are not zero; supported: results of up to %" PRId64
                      " bytes",
                      count, x->ndim, BYTES_MAX);
  }
  out->ndim = 2;
  out->dims[0] = x->ndim;
  out->dims[1] = count;
  out->dtype = leati_dtype_of(LEAT_TYPE_INT64);
  return LEAT_OK;
}

static int32_t nonzero_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  (void)op;
  const leati_view *const places = &call->outputs[0];
  const uint32_t size = (uint32_t)(places->count * sizeof(int64_t));
  if (size == 0) {
    return LEAT_OK;
  }
  int64_t *const bytes = malloc(size);
  if (bytes == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "NonZero: no memory on the host for %u bytes", size);
  }
  (void)find_places(&call->inputs[0], bytes, places->shape[1]);
  const int32_t status = leati_plan_answer_host(planner, places, bytes, size, err);
  free(bytes);
  return status;
}

static void nonzero_evaluate(const leat_op *op, const leati_call *call, uint32_t o) {
  (void)op;
  const leati_view *const places = &call->outputs[o];
  (void)find_places(&call->inputs[0], (int64_t *)places->data, places->shape[1]);
}

static const leati_op_def ops[] = {
    LEATI_OP("NonZero", "", (9, 13), (1, 1), (1, 1), LEATI_EVALUATED(0, LEATI_EVALUATED_ALL, nonzero_evaluate),
             .info.host_inputs = 1, .info.host_outputs = 1, LEATI_TYPES(&leati_type_moved, &leati_type_int64),
             LEATI_OUTPUT_TYPES(1), .least_rank = 1, .infer = nonzero_infer, .plan = nonzero_plan),
};

const leati_op_family leati_nonzero_family = LEATI_FAMILY(ops);
