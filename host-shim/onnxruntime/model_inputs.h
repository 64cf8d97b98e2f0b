/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The inputs of a model. ONNX Runtime compares what a Run gives for them with the shapes that the model declares. Of
 * any other value a model may declare a shape that some Run does not keep to (a Loop whose state grows, dimensions that
 * a tracing exporter saw), and nobody notices.
 */
#ifndef LEAT_ONNXRUNTIME_MODEL_INPUTS_H_
#define LEAT_ONNXRUNTIME_MODEL_INPUTS_H_

#include <stdbool.h>

#include "runtime.h"
#include "scratch.h"

/** Inputs of a model by name. All zero are none. For one thread at a time. */
typedef struct leati_model_inputs {
  leati_scratch scratch; /**< what `names` points to, and the names */
  const char **names;
  size_t count;
} leati_model_inputs;

/** Takes note of the inputs of a graph, in place of those of an earlier one. A body of If, Loop or Scan has none:
 * nobody checks its inputs.
 * @threads one at a time per list
 * @param inputs [inout] the list; clear it also on failure
 * @param runtime [in] the tables
 * @param graph [in] the graph
 * @return NULL, or what went wrong */
OrtStatus *leati_model_inputs_read(leati_model_inputs *inputs, const leati_runtime *runtime, const OrtGraph *graph);

/** Whether a value is an input of the model.
 * @threads one at a time per list
 * @param inputs [in] the list
 * @param name [in] the value's name
 * @return whether it is one */
bool leati_model_inputs_have(const leati_model_inputs *inputs, const char *name);

/** Frees what a list holds; it is empty then.
 * @threads one at a time per list
 * @param inputs [inout] the list */
void leati_model_inputs_clear(leati_model_inputs *inputs);

#endif /* LEAT_ONNXRUNTIME_MODEL_INPUTS_H_ */
