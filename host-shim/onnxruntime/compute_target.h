/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What a Run calls: the operator of a node, or the graph of a fused subgraph of nodes. Calls come from many threads at
 * once and leave nothing behind but shapes; what a call needs is on its stack.
 */
#ifndef LEAT_ONNXRUNTIME_COMPUTE_TARGET_H_
#define LEAT_ONNXRUNTIME_COMPUTE_TARGET_H_

#include "shape_cache.h"
#include "shared_device.h"

/** A target: filled in by its maker, and immutable then but for `shapes`. */
typedef struct leati_compute_target {
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
} leati_compute_target;

/** Runs the target on the stream of a Run: views of the inputs, shapes and memory of the outputs, and the work.
 * @threads any
 * @param target [inout] the target
 * @param context [in] the call
 * @return NULL, or what went wrong, with the label before it */
OrtStatus *leati_compute_target_run(leati_compute_target *target, OrtKernelContext *context);

/** Frees what a target holds. Work that it put into streams still runs.
 * @threads owner, inside of the gate
 * @param target [inout] the target, which has a runtime */
void leati_compute_target_clear(leati_compute_target *target);

#endif /* LEAT_ONNXRUNTIME_COMPUTE_TARGET_H_ */
