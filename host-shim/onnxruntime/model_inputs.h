/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The inputs of a model. ONNX Runtime compares what a Run gives for them with the shapes that the model declares. Of
 * any other value a model may declare a shape that some Run does not keep to (a Loop whose state grows, dimensions that
 * a tracing exporter saw), and nobody notices.
 */
#ifndef LEAT_ONNXRUNTIME_MODEL_INPUTS_H_
#define LEAT_ONNXRUNTIME_MODEL_INPUTS_H_

#include <leat/backend.h>
#include <stdbool.h>

#include "runtime.h"
#include "scratch.h"

/** What a model declares of a value. */
typedef struct leati_declared_value {
  const char *name;
  DLDataType dtype;
  int32_t ndim;                       /**< -1: no rank is declared, or the value is no tensor that Leat knows */
  int64_t dims[LEAT_MAX_RANK];        /**< -1: it is open */
  const char *symbols[LEAT_MAX_RANK]; /**< name of an open dimension; one that has none gets VALUE[AXIS] */
} leati_declared_value;

/** Inputs of a model. All zero are none. For one thread at a time. */
typedef struct leati_model_inputs {
  leati_scratch scratch;        /**< what `values` points to, and names */
  leati_declared_value *values; /**< in the model's order */
  size_t count;
} leati_model_inputs;

/** Reads what a model declares of a value.
 * @threads one at a time per scratch memory
 * @param runtime [in] the tables
 * @param scratch [inout] what the copies of names come from
 * @param value [in] the value
 * @param out [out] what is declared
 * @return NULL, or what went wrong */
OrtStatus *leati_declared_value_read(const leati_runtime *runtime, leati_scratch *scratch, const OrtValueInfo *value,
                                     leati_declared_value *out);

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
