/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Earlier versions of operators whose attributes became inputs on the host: an entry of such a version has the
 * functions below, which call those of today's operator with the attributes as inputs.
 */
#ifndef LEAT_PLUGIN_OPS_CORE_ADAPTER_H_
#define LEAT_PLUGIN_OPS_CORE_ADAPTER_H_

#include "ops/core/op.h"

#define LEATI_ADAPTED_MAX 3

/** An attribute, and the input that it became: INT and INTS a list of int64, FLOATS one of float32, FLOAT a scalar of
 * the type of input 0, which is float32 or float64. */
typedef struct leati_adapted {
  const leat_op_attribute *attribute; /**< NULL: no more */
  uint32_t input;                     /**< of today's operator, not 0 */
  bool required;                      /**< the version has no default for it */
} leati_adapted;

/** leati_op_def::adapter: functions of today's operator; those that do not look at such inputs an entry has itself. */
struct leati_adapter {
  leati_adapted inputs[LEATI_ADAPTED_MAX];
  int32_t (*infer)(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err);
  int32_t (*plan)(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err);
  int32_t (*view)(const leat_op *op, const leati_call *call, uint32_t o, leati_view *out, leat_error *err);
  leati_channels_last_use (*channels_last)(const leat_op *op, const leati_call *call, uint32_t constants);
  void (*evaluate)(const leat_op *op, const leati_call *call, uint32_t o);
};

/** `adapter` of an entry: LEATI_ADAPTER(.inputs = {{&attribute_axes, 1, true}}, .infer = unsqueeze_infer). */
#define LEATI_ADAPTER(...)                   \
  .adapter = &(const struct leati_adapter) { \
    __VA_ARGS__                              \
  }

/** The functions of leati_op_def of these names. */
int32_t leati_adapted_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err);
int32_t leati_adapted_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err);
int32_t leati_adapted_view(const leat_op *op, const leati_call *call, uint32_t o, leati_view *out, leat_error *err);
leati_channels_last_use leati_adapted_channels_last(const leat_op *op, const leati_call *call, uint32_t constants);
void leati_adapted_evaluate(const leat_op *op, const leati_call *call, uint32_t o);

/** Reads the attributes of an operator whose entry has an adapter, which is being created; any other has none.
 * @errors INVALID_ARGUMENT: a required one is missing; OUT_OF_MEMORY */
int32_t leati_adapter_read(leat_op *op, const leati_op_desc *desc, leat_error *err);

#endif /* LEAT_PLUGIN_OPS_CORE_ADAPTER_H_ */
