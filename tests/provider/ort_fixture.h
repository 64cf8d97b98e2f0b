/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What the provider's tests share: ONNX Runtime with the provider registered, and models built through its model
 * editor. Whatever fails here without being the matter of a test ends the program with a message.
 */
#ifndef LEAT_TESTS_PROVIDER_ORT_FIXTURE_H_
#define LEAT_TESTS_PROVIDER_ORT_FIXTURE_H_

#include <onnxruntime_c_api.h>
#include <stdbool.h>

#define ORT_FIXTURE_PROVIDER "LeatExecutionProvider"
/** Exit status of a test program that could not test anything. */
#define ORT_FIXTURE_SKIPPED 77

/** ONNX Runtime, once per process. */
typedef struct ort_fixture {
  const OrtApi *ort;
  const OrtModelEditorApi *editor;
  OrtEnv *env;
  const OrtEpDevice *device; /**< the first of Leat; NULL: there is none */
} ort_fixture;

/** Loads ONNX Runtime and makes its environment; registers nothing. */
void ort_fixture_open(ort_fixture *fixture);

/** Registers the provider and finds its first device.
 * @return NULL, or why it cannot be registered */
OrtStatus *ort_fixture_register(ort_fixture *fixture);

/** Unregisters the provider and releases the environment. */
void ort_fixture_close(ort_fixture *fixture);

/** Ends the program if a status is a failure; releases it. */
void ort_fixture_check(const ort_fixture *fixture, OrtStatus *status, const char *what);

/** A tensor on the host with a copy of `data`; NULL data: zeros. */
OrtValue *ort_fixture_tensor(const ort_fixture *fixture, ONNXTensorElementDataType type, const int64_t *dims,
                             size_t rank, const void *data);

/** A model that is being built. */
typedef struct ort_model {
  const ort_fixture *fixture;
  OrtGraph *graph;
  OrtValueInfo *inputs[8];
  size_t input_count;
  OrtValueInfo *outputs[8];
  size_t output_count;
} ort_model;

void ort_model_begin(ort_model *model, const ort_fixture *fixture);
/** A dimension of -1 is unknown. */
void ort_model_input(ort_model *model, const char *name, ONNXTensorElementDataType type, const int64_t *dims,
                     size_t rank);
void ort_model_output(ort_model *model, const char *name, ONNXTensorElementDataType type, const int64_t *dims,
                      size_t rank);
/** A constant of the model. */
void ort_model_constant(ort_model *model, const char *name, ONNXTensorElementDataType type, const int64_t *dims,
                        size_t rank, const void *data);
/** A node. Names are separated by blanks, "-" is an absent input; `attribute` is one integer attribute, or NULL. */
void ort_model_node(ort_model *model, const char *type, const char *name, const char *inputs, const char *outputs,
                    const char *attribute, int64_t value);
/** A node that gives the float32 that it takes, of an operator that Leat lacks: Scaler of ai.onnx.ml. */
void ort_model_foreign(ort_model *model, const char *name, const char *input, const char *output);

/** Where a session runs, and what it is told. */
typedef struct ort_session_request {
  bool leat;                /**< on Leat's first device, with ONNX Runtime's CPU provider behind it */
  bool alone;               /**< without the CPU provider behind it */
  const char *option;       /**< key of one option for Leat, or NULL */
  const char *option_value; /**< its value */
  const char *second;       /**< key of another one, or NULL; only with the first */
  const char *second_value; /**< its value */
} ort_session_request;

/** Makes a session of the model, which is used up.
 * @return NULL, or why not */
OrtStatus *ort_model_session(ort_model *model, const ort_session_request *request, OrtSession **out);

/** Runs a session with the inputs of its model in order, all outputs made by ONNX Runtime.
 * @return NULL, or why not */
OrtStatus *ort_fixture_run(const ort_fixture *fixture, OrtSession *session, const OrtRunOptions *options,
                           const OrtValue *const *inputs, OrtValue **outputs);

/** Counts the nodes of a session that run on a provider; NULL: on any. */
size_t ort_fixture_nodes_on(const ort_fixture *fixture, const OrtSession *session, const char *provider);

/** Counts the fused subgraphs of a session: groups of nodes that Leat runs as one.
 * @param out_nodes the nodes in them, may be NULL */
size_t ort_fixture_subgraphs(const ort_fixture *fixture, const OrtSession *session, size_t *out_nodes);

#endif /* LEAT_TESTS_PROVIDER_ORT_FIXTURE_H_ */
