/* SPDX-License-Identifier: BSD-3-Clause */
#include "ort_fixture.h"

#include <dlfcn.h>
#include <leat/host.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_MAX 8

static void die(const char *what, const char *why) {
  fprintf(stderr, "%s: %s\n", what, why);
  exit(2);
}

void ort_fixture_check(const ort_fixture *fixture, OrtStatus *status, const char *what) {
  if (status != NULL) {
    die(what, fixture->ort->GetErrorMessage(status));
  }
}

/* The path of a library: where the build has it, or on another machine what a variable says. */
static const char *path_of(const char *variable, const char *built) {
  const char *set = getenv(variable);
  return set != NULL ? set : built;
}

void ort_fixture_open(ort_fixture *fixture) {
  const char *path = path_of("LEAT_TEST_ORT_LIBRARY", LEAT_TEST_ONNXRUNTIME);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void *symbol = library != NULL ? dlsym(library, "OrtGetApiBase") : NULL;
  if (symbol == NULL) {
    die(path, dlerror());
  }
  const OrtApiBase *(*get_base)(void) = NULL;
  memcpy(&get_base, &symbol, sizeof(get_base));
  *fixture = (ort_fixture){.ort = get_base()->GetApi(ORT_API_VERSION)};
  if (fixture->ort == NULL) {
    die(get_base()->GetVersionString(), "this ONNX Runtime is older than the headers that the tests were built with");
  }
  fixture->editor = fixture->ort->GetModelEditorApi();
  const char *level = getenv("LEAT_TEST_ORT_LOG");
  ort_fixture_check(fixture,
                    fixture->ort->CreateEnv(level != NULL ? (OrtLoggingLevel)atoi(level) : ORT_LOGGING_LEVEL_FATAL,
                                            "leat-provider-test", &fixture->env),
                    "CreateEnv");
}

/* Whether the backend of the provider has a device: then ONNX Runtime must have been told of it. */
static bool backend_has_a_device(void) {
  const leat_backend_api *leat = NULL;
  uint32_t count = 0;
  return leat_host_load(NULL, &leat, NULL) == LEAT_OK && leat->device->count(&count, NULL) == LEAT_OK && count != 0;
}

OrtStatus *ort_fixture_register(ort_fixture *fixture) {
  const char *path = path_of("LEAT_TEST_ORT_PROVIDER", LEAT_TEST_PROVIDER);
  OrtStatus *status = fixture->ort->RegisterExecutionProviderLibrary(fixture->env, "leat", path);
  if (status != NULL) {
    return status;
  }
  const OrtEpDevice *const *devices = NULL;
  size_t count = 0;
  ort_fixture_check(fixture, fixture->ort->GetEpDevices(fixture->env, &devices, &count), "GetEpDevices");
  fixture->device = NULL;
  for (size_t i = 0; i < count && fixture->device == NULL; ++i) {
    if (strcmp(fixture->ort->EpDevice_EpName(devices[i]), ORT_FIXTURE_PROVIDER) == 0) {
      fixture->device = devices[i];
    }
  }
  if (fixture->device == NULL && backend_has_a_device()) {
    die("registering the provider", "the backend has a device, of which ONNX Runtime is not told");
  }
  return NULL;
}

void ort_fixture_close(ort_fixture *fixture) {
  ort_fixture_check(fixture, fixture->ort->UnregisterExecutionProviderLibrary(fixture->env, "leat"), "Unregister");
  fixture->ort->ReleaseEnv(fixture->env);
}

OrtValue *ort_fixture_tensor(const ort_fixture *fixture, ONNXTensorElementDataType type, const int64_t *dims,
                             size_t rank, const void *data) {
  OrtAllocator *allocator = NULL;
  OrtValue *value = NULL;
  void *bytes = NULL;
  size_t size = 0;
  ort_fixture_check(fixture, fixture->ort->GetAllocatorWithDefaultOptions(&allocator), "allocator");
  ort_fixture_check(fixture, fixture->ort->CreateTensorAsOrtValue(allocator, dims, rank, type, &value), "tensor");
  ort_fixture_check(fixture, fixture->ort->GetTensorSizeInBytes(value, &size), "tensor");
  ort_fixture_check(fixture, fixture->ort->GetTensorMutableData(value, &bytes), "tensor");
  if (size != 0 && data != NULL) {
    memcpy(bytes, data, size);
  } else if (size != 0) {
    memset(bytes, 0, size);
  }
  return value;
}

/* ---- Models -------------------------------------------------------------------------------------------------------
 */

void ort_model_begin(ort_model *model, const ort_fixture *fixture) {
  *model = (ort_model){.fixture = fixture};
  ort_fixture_check(fixture, fixture->editor->CreateGraph(&model->graph), "CreateGraph");
}

static OrtValueInfo *value_info(const ort_fixture *fixture, const char *name, ONNXTensorElementDataType type,
                                const int64_t *dims, size_t rank) {
  OrtTensorTypeAndShapeInfo *shape = NULL;
  OrtTypeInfo *info = NULL;
  OrtValueInfo *value = NULL;
  ort_fixture_check(fixture, fixture->ort->CreateTensorTypeAndShapeInfo(&shape), name);
  ort_fixture_check(fixture, fixture->ort->SetTensorElementType(shape, type), name);
  ort_fixture_check(fixture, fixture->ort->SetDimensions(shape, dims, rank), name);
  ort_fixture_check(fixture, fixture->editor->CreateTensorTypeInfo(shape, &info), name);
  ort_fixture_check(fixture, fixture->editor->CreateValueInfo(name, info, &value), name);
  fixture->ort->ReleaseTypeInfo(info);
  fixture->ort->ReleaseTensorTypeAndShapeInfo(shape);
  return value;
}

void ort_model_input(ort_model *model, const char *name, ONNXTensorElementDataType type, const int64_t *dims,
                     size_t rank) {
  model->inputs[model->input_count++] = value_info(model->fixture, name, type, dims, rank);
}

void ort_model_output(ort_model *model, const char *name, ONNXTensorElementDataType type, const int64_t *dims,
                      size_t rank) {
  model->outputs[model->output_count++] = value_info(model->fixture, name, type, dims, rank);
}

void ort_model_constant(ort_model *model, const char *name, ONNXTensorElementDataType type, const int64_t *dims,
                        size_t rank, const void *data) {
  OrtValue *value = ort_fixture_tensor(model->fixture, type, dims, rank, data);
  ort_fixture_check(model->fixture, model->fixture->editor->AddInitializerToGraph(model->graph, name, value, false),
                    name);
}

/* Cuts a list of names at its blanks; `text` is changed. ONNX's name of what is absent is empty. */
static size_t split_names(char *text, const char *out[NAMES_MAX]) {
  size_t count = 0;
  char *rest = NULL;
  for (char *name = strtok_r(text, " ", &rest); name != NULL && count < NAMES_MAX; name = strtok_r(NULL, " ", &rest)) {
    out[count++] = strcmp(name, "-") == 0 ? "" : name;
  }
  return count;
}

/* The attributes are released. */
static void add_node(ort_model *model, const char *domain, const char *type, const char *name, const char *inputs,
                     const char *outputs, OrtOpAttr **attributes, size_t attribute_count) {
  const ort_fixture *fixture = model->fixture;
  char *texts[] = {strdup(inputs), strdup(outputs)};
  const char *input_names[NAMES_MAX];
  const char *output_names[NAMES_MAX];
  size_t input_count = split_names(texts[0], input_names);
  size_t output_count = split_names(texts[1], output_names);
  OrtNode *node = NULL;
  ort_fixture_check(fixture,
                    fixture->editor->CreateNode(type, domain, name, input_names, input_count, output_names,
                                                output_count, attributes, attribute_count, &node),
                    name);
  ort_fixture_check(fixture, fixture->editor->AddNodeToGraph(model->graph, node), name);
  for (size_t i = 0; i < attribute_count; ++i) {
    fixture->ort->ReleaseOpAttr(attributes[i]);
  }
  free(texts[0]);
  free(texts[1]);
}

void ort_model_node(ort_model *model, const char *type, const char *name, const char *inputs, const char *outputs,
                    const char *attribute, int64_t value) {
  const ort_fixture *fixture = model->fixture;
  OrtOpAttr *attributes[1] = {NULL};
  if (attribute != NULL) {
    ort_fixture_check(fixture, fixture->ort->CreateOpAttr(attribute, &value, 1, ORT_OP_ATTR_INT, &attributes[0]), name);
  }
  add_node(model, "", type, name, inputs, outputs, attribute != NULL ? attributes : NULL, attribute != NULL);
}

void ort_model_foreign(ort_model *model, const char *name, const char *input, const char *output) {
  const ort_fixture *fixture = model->fixture;
  const float zero = 0, one = 1;
  OrtOpAttr *attributes[2];
  ort_fixture_check(fixture, fixture->ort->CreateOpAttr("offset", &zero, 1, ORT_OP_ATTR_FLOATS, &attributes[0]), name);
  ort_fixture_check(fixture, fixture->ort->CreateOpAttr("scale", &one, 1, ORT_OP_ATTR_FLOATS, &attributes[1]), name);
  add_node(model, "ai.onnx.ml", "Scaler", name, input, output, attributes, 2);
}

/* ---- Sessions -----------------------------------------------------------------------------------------------------
 */

static OrtStatus *session_options(const ort_fixture *fixture, const ort_session_request *request,
                                  OrtSessionOptions **out) {
  const OrtApi *ort = fixture->ort;
  ort_fixture_check(fixture, ort->CreateSessionOptions(out), "CreateSessionOptions");
  /* Threads of its own would spin on the two cores of a small machine, for models this size. */
  ort_fixture_check(fixture, ort->SetIntraOpNumThreads(*out, 1), "SetIntraOpNumThreads");
  ort_fixture_check(fixture, ort->AddSessionConfigEntry(*out, "session.record_ep_graph_assignment_info", "1"), "entry");
  if (request->alone) {
    ort_fixture_check(fixture, ort->AddSessionConfigEntry(*out, "session.disable_cpu_ep_fallback", "1"), "entry");
  }
  const char *const keys[] = {request->option, request->second};
  const char *const values[] = {request->option_value, request->second_value};
  const size_t count = request->option == NULL ? 0 : request->second != NULL ? 2 : 1;
  return request->leat ? ort->SessionOptionsAppendExecutionProvider_V2(*out, fixture->env, &fixture->device, 1, keys,
                                                                       values, count)
                       : NULL;
}

OrtStatus *ort_model_session(ort_model *model, const ort_session_request *request, OrtSession **out) {
  const ort_fixture *fixture = model->fixture;
  const char *const domains[] = {"", "ai.onnx.ml"};
  const int opsets[] = {17, 1};
  OrtModel *made = NULL;
  ort_fixture_check(fixture, fixture->editor->SetGraphInputs(model->graph, model->inputs, model->input_count),
                    "inputs");
  ort_fixture_check(fixture, fixture->editor->SetGraphOutputs(model->graph, model->outputs, model->output_count),
                    "outputs");
  ort_fixture_check(fixture, fixture->editor->CreateModel((const char **)domains, opsets, 2, &made), "CreateModel");
  ort_fixture_check(fixture, fixture->editor->AddGraphToModel(made, model->graph), "AddGraphToModel");
  OrtSessionOptions *options = NULL;
  OrtStatus *status = session_options(fixture, request, &options);
  if (status == NULL) {
    status = fixture->editor->CreateSessionFromModel(fixture->env, made, options, out);
  }
  fixture->ort->ReleaseSessionOptions(options);
  fixture->ort->ReleaseModel(made);
  *model = (ort_model){0};
  return status;
}

OrtStatus *ort_fixture_run(const ort_fixture *fixture, OrtSession *session, const OrtRunOptions *options,
                           const OrtValue *const *inputs, OrtValue **outputs) {
  const OrtApi *ort = fixture->ort;
  OrtAllocator *allocator = NULL;
  size_t input_count = 0;
  size_t output_count = 0;
  char *input_names[NAMES_MAX];
  char *output_names[NAMES_MAX];
  ort_fixture_check(fixture, ort->GetAllocatorWithDefaultOptions(&allocator), "allocator");
  ort_fixture_check(fixture, ort->SessionGetInputCount(session, &input_count), "inputs");
  ort_fixture_check(fixture, ort->SessionGetOutputCount(session, &output_count), "outputs");
  for (size_t i = 0; i < input_count; ++i) {
    ort_fixture_check(fixture, ort->SessionGetInputName(session, i, allocator, &input_names[i]), "input");
  }
  for (size_t i = 0; i < output_count; ++i) {
    ort_fixture_check(fixture, ort->SessionGetOutputName(session, i, allocator, &output_names[i]), "output");
    outputs[i] = NULL;
  }
  OrtStatus *status = ort->Run(session, options, (const char *const *)input_names, inputs, input_count,
                               (const char *const *)output_names, output_count, outputs);
  for (size_t i = 0; i < input_count; ++i) {
    allocator->Free(allocator, input_names[i]);
  }
  for (size_t i = 0; i < output_count; ++i) {
    allocator->Free(allocator, output_names[i]);
  }
  return status;
}

size_t ort_fixture_nodes_on(const ort_fixture *fixture, const OrtSession *session, const char *provider) {
  const OrtApi *ort = fixture->ort;
  const OrtEpAssignedSubgraph *const *graphs = NULL;
  size_t graph_count = 0;
  size_t total = 0;
  ort_fixture_check(fixture, ort->Session_GetEpGraphAssignmentInfo(session, &graphs, &graph_count), "assignment");
  for (size_t i = 0; i < graph_count; ++i) {
    const char *name = NULL;
    const OrtEpAssignedNode *const *nodes = NULL;
    size_t count = 0;
    ort_fixture_check(fixture, ort->EpAssignedSubgraph_GetEpName(graphs[i], &name), "assignment");
    ort_fixture_check(fixture, ort->EpAssignedSubgraph_GetNodes(graphs[i], &nodes, &count), "assignment");
    total += provider == NULL || strcmp(name, provider) == 0 ? count : 0;
  }
  return total;
}

size_t ort_fixture_subgraphs(const ort_fixture *fixture, const OrtSession *session, size_t *out_nodes) {
  const OrtApi *ort = fixture->ort;
  const OrtEpAssignedSubgraph *const *graphs = NULL;
  size_t graph_count = 0;
  size_t subgraphs = 0;
  size_t nodes = 0;
  ort_fixture_check(fixture, ort->Session_GetEpGraphAssignmentInfo(session, &graphs, &graph_count), "assignment");
  for (size_t i = 0; i < graph_count; ++i) {
    const char *name = NULL;
    const OrtEpAssignedNode *const *members = NULL;
    size_t count = 0;
    ort_fixture_check(fixture, ort->EpAssignedSubgraph_GetEpName(graphs[i], &name), "assignment");
    ort_fixture_check(fixture, ort->EpAssignedSubgraph_GetNodes(graphs[i], &members, &count), "assignment");
    if (strcmp(name, ORT_FIXTURE_PROVIDER) == 0 && count > 1) {
      subgraphs++;
      nodes += count;
    }
  }
  if (out_nodes != NULL) {
    *out_nodes = nodes;
  }
  return subgraphs;
}
