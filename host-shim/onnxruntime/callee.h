/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What a Run calls: the operator of a node, or the graph of an island of nodes. Calls come from many threads at once
 * and leave nothing behind but shapes; what a call needs is on its stack.
 */
#ifndef LEAT_ONNXRUNTIME_CALLEE_H_
#define LEAT_ONNXRUNTIME_CALLEE_H_

#include "shape_cache.h"
#include "shared_device.h"

/** A callee: filled in by its maker, and immutable then but for `shapes`. */
typedef struct leati_callee {
  const leati_runtime *runtime; /**< the tables */
  leati_shared_device *device;  /**< outlives it */
  leat_op *op;              /**< owned; NULL: there is a graph instead, or the node is a copy, which nobody calls so */
  leat_graph *graph;        /**< owned; NULL: there is an operator instead */
  uint64_t host_inputs;     /**< bit i: input i is on the host */
  uint64_t host_outputs;    /**< bit i: output i is on the host */
  uint32_t input_count;     /**< inputs that ONNX Runtime gives */
  uint32_t output_count;    /**< outputs that ONNX Runtime asks for */
  bool *wanted;             /**< by output: somebody uses it; owned */
  char *label;              /**< the node, for messages: "Add node 'x'"; owned */
  leati_shape_cache shapes; /**< the only part that changes, by itself thread-safe */
} leati_callee;

/** Runs the callee on the stream of a Run: views of the inputs, shapes and memory of the outputs, and the work.
 * @threads any
 * @param callee [inout] the callee
 * @param context [in] the call
 * @return NULL, or what went wrong, with the label before it */
OrtStatus *leati_callee_compute(leati_callee *callee, OrtKernelContext *context);

/** Frees what a callee holds. Work that it put into streams still runs.
 * @threads owner, inside of the gate
 * @param callee [inout] the callee, which has a runtime */
void leati_callee_clear(leati_callee *callee);

#endif /* LEAT_ONNXRUNTIME_CALLEE_H_ */
