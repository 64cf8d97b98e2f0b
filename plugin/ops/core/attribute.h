/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What is known of an operator when it is created: its attributes, and inputs that are constants.
 */
#ifndef LEAT_PLUGIN_OPS_CORE_ATTRIBUTE_H_
#define LEAT_PLUGIN_OPS_CORE_ATTRIBUTE_H_

#include "ops/core/op.h"

/** The attribute called `name`, or NULL. */
const leat_attribute *leati_attr(const leati_op_desc *desc, const char *name);
int64_t leati_attr_int(const leati_op_desc *desc, const char *name, int64_t otherwise);
float leati_attr_float(const leati_op_desc *desc, const char *name, float otherwise);
/** Whether a STRING attribute is there and equals `text`. */
bool leati_attr_is(const leati_op_desc *desc, const char *name, const char *text);
/** Finds the value of a STRING attribute of the operator `op` among `count` names; absent: the first.
 * @errors NOT_SUPPORTED: it is none of them */
int32_t leati_attr_choice(const leati_op_desc *desc, const char *op, const char *name, const char *const *names,
                          uint32_t count, uint32_t *out, leat_error *err);
/** Copies an INTS attribute into `out[capacity]`; `*out_count` is 0 when it is absent.
 * @errors NOT_SUPPORTED: it has more elements than `capacity` */
int32_t leati_attr_ints(const leati_op_desc *desc, const char *name, uint32_t capacity, int64_t *out,
                        uint32_t *out_count, leat_error *err);
/** LEAT_TYPE_* of a number of ONNX's TensorProto.DataType; 0: none that kernels compute with. */
uint64_t leati_type_of_onnx(int64_t number);
/** Whether input `i` is not left out. */
static inline bool leati_is_given(const leati_op_desc *desc, uint32_t i) {
  return i < desc->input_count && desc->inputs[i].ndim != LEATI_ABSENT;
}
/** A TENSOR attribute as a view of the host's memory, compact; false: it is absent. */
bool leati_attr_tensor(const leati_op_desc *desc, const char *name, leati_view *out);
/** Input `i` as a view of the host's memory if it is a constant; false: it is absent or not known before the run. This
 * and the former are the only ways to a constant's elements: nothing else has looked at where they lie. */
bool leati_constant(const leati_op_desc *desc, uint32_t i, leati_view *out);
/** Elements of input `i`, a list, if that is known before the run, else -1. */
int64_t leati_list_length(const leati_op_desc *desc, uint32_t i);

#endif /* LEAT_PLUGIN_OPS_CORE_ATTRIBUTE_H_ */
