/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The arguments of a call: DLTensors that become views, checked against what the operator infers.
 */
#ifndef LEAT_PLUGIN_OPS_CORE_ARGUMENTS_H_
#define LEAT_PLUGIN_OPS_CORE_ARGUMENTS_H_

#include "ops/core/op.h"
#include "record/plan.h"

/** Everything that a call needs, on the caller's stack for usual numbers of arguments. */
typedef struct leati_arguments {
  leati_call call;
  leati_view *inputs, *outputs;
  leat_shape *shapes; /**< of the outputs, as inferred */
  void *memory;       /**< NULL: the arrays below are used */
  leati_inferred inferred;
  leati_view inline_inputs[LEATI_INLINE_ARGUMENTS], inline_outputs[LEATI_INLINE_ARGUMENTS];
  leat_shape inline_shapes[LEATI_INLINE_ARGUMENTS];
} leati_arguments;

/** Makes room for so many; leati_arguments_end() must follow, also when it fails.
 * @errors OUT_OF_MEMORY */
int32_t leati_arguments_begin(const leat_op *op, leati_arguments *a, uint32_t input_count, uint32_t output_count,
                              leat_error *err);
void leati_arguments_end(leati_arguments *a);

/** Imports the inputs and infers the shapes of the outputs. With `shapes_only` no memory on the device is looked at.
 * @errors INVALID_ARGUMENT, NOT_SUPPORTED */
int32_t leati_arguments_import_inputs(const leat_op *op, leati_arguments *a, const DLTensor *const *inputs,
                                      bool shapes_only, leat_error *err);
/** Imports the outputs and compares them with what was inferred, and with each other and the inputs for overlaps.
 * @errors INVALID_ARGUMENT */
int32_t leati_arguments_import_outputs(const leat_op *op, leati_arguments *a, const DLTensor *const *outputs,
                                       leat_error *err);
/** Shape and type of a device input that is not going to be touched: its memory need not exist yet. */
int32_t leati_arguments_import_shape(const leat_op *op, DLDataType dtype, int32_t ndim, const int64_t *shape,
                                     uint32_t i, leati_view *out, leat_error *err);
/** Infers shapes and types of the outputs from the inputs, which have the types that the operator was made for. */
int32_t leati_arguments_infer(const leat_op *op, leati_arguments *a, leat_error *err);
/** Fails if output `o` has more elements than can be counted, and gives its shape as a view. */
int32_t leati_arguments_result(const leat_op *op, const leati_arguments *a, uint32_t o, leati_view *out,
                               leat_error *err);
/** Writes shapes of outputs to those of the caller's structs that are not NULL.
 * @errors INVALID_ARGUMENT */
int32_t leati_arguments_export_shapes(const leat_shape *shapes, uint32_t count, leat_shape *const *out,
                                      leat_error *err);
/** Notes where the arguments are, in `bindings` of as many, and gives their views the addresses that stand for those:
 * see leati_planner_place(). An output that is the memory of input 0 stands for the same. */
void leati_arguments_place(const leat_op *op, leati_arguments *a, leati_binding *bindings);

#endif /* LEAT_PLUGIN_OPS_CORE_ARGUMENTS_H_ */
