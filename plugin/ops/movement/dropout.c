/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/movement/dropout.h"

#include "core/status.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"

/* Whether training_mode is one false. */
static bool is_inference(const leati_view *training) {
  return training->count == 1 && *(const unsigned char *)training->data == 0;
}

int32_t leati_dropout_supports(const leati_op_def *def, const leati_op_desc *desc, uint32_t training, leat_error *err) {
  leati_view known;
  return !leati_is_given(desc, training) || (leati_constant(desc, training, &known) && is_inference(&known))
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s: training_mode is not a constant false", def->info.name);
}

int32_t leati_dropout_infer(const leat_op *op, const leati_call *call, uint32_t training, leat_shape *out,
                            leat_error *err) {
  const leati_view *const given = leati_input(call, training);
  if (given != NULL && !is_inference(given)) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s: training_mode must be one false",
                      leati_op_def_of(op)->info.name);
  }
  LEATI_TRY(leati_infer_same(op, call, out, err));
  if (call->output_count > 1) {
    LEATI_TRY(leati_infer_same(op, call, &out[1], err));
    out[1].dtype = leati_dtype_of(LEAT_TYPE_BOOL);
  }
  return LEAT_OK;
}
