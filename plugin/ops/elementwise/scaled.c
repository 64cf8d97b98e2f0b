/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/elementwise/scaled.h"

#include "core/status.h"

LEATI_TYPE(leati_type_scaled, "T", LEATI_TYPES_BYTE);
LEATI_TYPE(leati_type_scale, "tensor(float)", LEAT_TYPE_FLOAT32);

static bool is_one(const leati_view *view) {
  return view->count == 1 && view->ndim <= 1;
}

int32_t leati_check_scale(const leat_op *op, const leati_call *call, uint32_t i, leat_error *err) {
  const leati_view *const scale = leati_input(call, i), *const zero = leati_input(call, i + 1);
  return scale != NULL && is_one(scale) && (zero == NULL || is_one(zero))
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                          "%s: input %u must be a scale of one element, and input %u a zero point of one, or absent",
                          leati_op_def_of(op)->info.name, i, i + 1);
}

leati_scaled leati_scaled_by(const leati_call *call, const leati_view *view, uint32_t i) {
  return (leati_scaled){.view = *view, .scale = leati_input(call, i), .zero = leati_input(call, i + 1)};
}
