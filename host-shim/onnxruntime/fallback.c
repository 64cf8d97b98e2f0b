/* SPDX-License-Identifier: BSD-3-Clause */
#include "fallback.h"

#include <stdio.h>
#include <string.h>

#include "scratch.h"

/* Longest name of a value or node of a trial. */
#define NAME_SIZE 48

/* Domains of operators that come with ONNX Runtime. */
static const char *const domains[] = {"", "ai.onnx", "ai.onnx.ml", "com.microsoft"};
#define DOMAIN_COUNT (sizeof(domains) / sizeof(domains[0]))

/* Inputs or outputs of a trial's graph. */
typedef struct ends {
  OrtValueInfo **values; /* owned until the graph has them */
  size_t count;
} ends;

/* A model that is made of nodes of another one. Each takes inputs, and gives outputs, of its own. */
typedef struct trial {
  const leati_runtime *runtime;
  const OrtModelEditorApi *editor;
  OrtGraph *graph; /* owned until the model has it */
  OrtModel *model;
  ends inputs, outputs;
  leati_scratch scratch;
} trial;

/* Whether a call succeeded. What failed is that no trial can be made. */
static bool done(const trial *self, OrtStatus *status) {
  return leati_status_drop(self->runtime, status);
}

static bool is_known_domain(const char *domain) {
  for (size_t i = 0; i < DOMAIN_COUNT; ++i) {
    if (strcmp(domain, domains[i]) == 0) {
      return true;
    }
  }
  return false;
}

static const char *name_of(trial *self, const char *kind, size_t node, size_t index) {
  char *name = leati_scratch_alloc(&self->scratch, NAME_SIZE, 1);
  if (name != NULL) {
    snprintf(name, NAME_SIZE, "%s %zu of node %zu", kind, index, node);
  }
  return name;
}

/* ---- Nodes --------------------------------------------------------------------------------------------------------
 */

/* Makes values of a trial's graph of the same types as those of a node, and gives their names; an absent one has none.
 * False: there is a value that is no tensor, or of unknown type. */
static bool copy_values(trial *self, const char *kind, size_t node, const OrtValueInfo *const *from, size_t count,
                        const char **names, ends *to) {
  const OrtApi *ort = self->runtime->ort;
  for (size_t i = 0; i < count; ++i) {
    const char *name = NULL;
    const OrtTypeInfo *type = NULL;
    enum ONNXType form = ONNX_TYPE_UNKNOWN;
    names[i] = "";
    if (from[i] == NULL || !done(self, ort->GetValueInfoName(from[i], &name)) || name == NULL || *name == '\0') {
      continue;
    }
    names[i] = name_of(self, kind, node, i);
    if (names[i] == NULL || !done(self, ort->GetValueInfoTypeInfo(from[i], &type)) || type == NULL ||
        !done(self, ort->GetOnnxTypeFromTypeInfo(type, &form)) || form != ONNX_TYPE_TENSOR ||
        !done(self, self->editor->CreateValueInfo(names[i], type, &to->values[to->count]))) {
      return false;
    }
    to->count++;
  }
  return true;
}

/* Copies an attribute. False: it is of a kind that cannot be copied. */
static bool copy_attribute(trial *self, const OrtOpAttr *from, OrtOpAttr **to) {
  const OrtApi *ort = self->runtime->ort;
  OrtOpAttrType type = ORT_OP_ATTR_UNDEFINED;
  const char *name = NULL;
  if (!done(self, ort->OpAttr_GetType(from, &type)) || !done(self, ort->OpAttr_GetName(from, &name))) {
    return false;
  }
  const size_t element = type == ORT_OP_ATTR_INT || type == ORT_OP_ATTR_INTS       ? sizeof(int64_t)
                         : type == ORT_OP_ATTR_FLOAT || type == ORT_OP_ATTR_FLOATS ? sizeof(float)
                         : type == ORT_OP_ATTR_STRING                              ? 1
                                                                                   : 0;
  size_t size = 0;
  if (element == 0) {
    return false;
  }
  /* Asked with no room, this fails unless the list is empty, and says how much room is needed. */
  (void)done(self, ort->ReadOpAttr(from, type, NULL, 0, &size));
  void *data = leati_scratch_alloc(&self->scratch, size + 1, 1);
  return data != NULL && (size == 0 || done(self, ort->ReadOpAttr(from, type, data, size, &size))) &&
         done(self, ort->CreateOpAttr(name, data, (int)(size / element), type, to));
}

static bool copy_attributes(trial *self, const OrtNode *from, OrtOpAttr ***out, size_t *out_count) {
  const OrtApi *ort = self->runtime->ort;
  if (!done(self, ort->Node_GetNumAttributes(from, out_count))) {
    return false;
  }
  const OrtOpAttr **attributes = leati_scratch_alloc(&self->scratch, *out_count, sizeof(*attributes));
  *out = leati_scratch_alloc(&self->scratch, *out_count, sizeof(**out));
  bool right = attributes != NULL && *out != NULL &&
               (*out_count == 0 || done(self, ort->Node_GetAttributes(from, attributes, *out_count)));
  for (size_t i = 0; i < *out_count && right; ++i) {
    /* An optional one that is not set has no handle. */
    right = attributes[i] == NULL || copy_attribute(self, attributes[i], &(*out)[i]);
  }
  return right;
}

/* A node of another model, as it is read. */
typedef struct original {
  const OrtNode *node;
  const char *type;
  const char *domain;
  const OrtValueInfo **inputs, **outputs;
  size_t input_count, output_count;
} original;

static bool read_original(trial *self, const OrtNode *node, original *out) {
  const OrtApi *ort = self->runtime->ort;
  size_t bodies = 0;
  *out = (original){.node = node};
  if (!done(self, ort->Node_GetOperatorType(node, &out->type)) ||
      !done(self, ort->Node_GetDomain(node, &out->domain)) || !is_known_domain(out->domain) ||
      !done(self, ort->Node_GetNumSubgraphs(node, &bodies)) || bodies != 0 ||
      !done(self, ort->Node_GetNumInputs(node, &out->input_count)) ||
      !done(self, ort->Node_GetNumOutputs(node, &out->output_count))) {
    return false;
  }
  out->inputs = leati_scratch_alloc(&self->scratch, out->input_count, sizeof(*out->inputs));
  out->outputs = leati_scratch_alloc(&self->scratch, out->output_count, sizeof(*out->outputs));
  return out->inputs != NULL && out->outputs != NULL &&
         (out->input_count == 0 || done(self, ort->Node_GetInputs(node, out->inputs, out->input_count))) &&
         (out->output_count == 0 || done(self, ort->Node_GetOutputs(node, out->outputs, out->output_count)));
}

/* Forgets values that a node was to have. */
static void forget(const trial *self, ends *list, size_t count) {
  while (list->count > count) {
    self->runtime->ort->ReleaseValueInfo(list->values[--list->count]);
  }
}

/* Adds a copy of a node to the graph. False: it cannot be copied, and the graph is as it was. */
static bool add_node(trial *self, const original *from, size_t index) {
  const OrtApi *ort = self->runtime->ort;
  const size_t inputs = self->inputs.count, outputs = self->outputs.count;
  const char **names = leati_scratch_alloc(&self->scratch, from->input_count + from->output_count, sizeof(*names));
  const char *name = name_of(self, "copy", index, 0);
  OrtOpAttr **attributes = NULL;
  size_t attribute_count = 0;
  OrtNode *node = NULL;
  bool added = names != NULL && name != NULL &&
               copy_values(self, "input", index, from->inputs, from->input_count, names, &self->inputs) &&
               copy_values(self, "output", index, from->outputs, from->output_count, names + from->input_count,
                           &self->outputs) &&
               copy_attributes(self, from->node, &attributes, &attribute_count);
  size_t set = 0;
  for (size_t i = 0; i < attribute_count && attributes != NULL; ++i) {
    OrtOpAttr *attribute = attributes[i];
    if (attribute != NULL) {
      attributes[i] = NULL;
      attributes[set++] = attribute;
    }
  }
  added = added &&
          done(self, self->editor->CreateNode(from->type, from->domain, name, names, from->input_count,
                                              names + from->input_count, from->output_count, attributes, set, &node));
  if (added && !done(self, self->editor->AddNodeToGraph(self->graph, node))) {
    ort->ReleaseNode(node);
    added = false;
  }
  /* Those that the node took over are NULL now. */
  for (size_t i = 0; i < set; ++i) {
    ort->ReleaseOpAttr(attributes[i]);
  }
  if (!added) {
    forget(self, &self->inputs, inputs);
    forget(self, &self->outputs, outputs);
  }
  return added;
}

/* ---- The session --------------------------------------------------------------------------------------------------
 */

/* Makes the model, in the versions of the operators that the original is in. */
static bool make_model(trial *self, const OrtGraph *original_graph) {
  const OrtApi *ort = self->runtime->ort;
  size_t count = 0;
  if (!done(self, ort->Graph_GetNumOperatorSets(original_graph, &count))) {
    return false;
  }
  const char **names = leati_scratch_alloc(&self->scratch, count, sizeof(*names));
  int64_t *versions = leati_scratch_alloc(&self->scratch, count, sizeof(*versions));
  int *numbers = leati_scratch_alloc(&self->scratch, count, sizeof(*numbers));
  if (names == NULL || versions == NULL || numbers == NULL ||
      !done(self, ort->Graph_GetOperatorSets(original_graph, names, versions, count))) {
    return false;
  }
  size_t kept = 0;
  for (size_t i = 0; i < count; ++i) {
    if (is_known_domain(names[i])) {
      names[kept] = names[i];
      numbers[kept++] = (int)versions[i];
    }
  }
  if (!done(self, self->editor->SetGraphInputs(self->graph, self->inputs.values, self->inputs.count))) {
    return false;
  }
  self->inputs.count = 0;
  if (!done(self, self->editor->SetGraphOutputs(self->graph, self->outputs.values, self->outputs.count))) {
    return false;
  }
  self->outputs.count = 0;
  if (!done(self, self->editor->CreateModel(names, numbers, kept, &self->model)) ||
      !done(self, self->editor->AddGraphToModel(self->model, self->graph))) {
    return false;
  }
  self->graph = NULL;
  return true;
}

/* What a trial says of its nodes. */
typedef enum verdict {
  RUNS,     /* each has a kernel */
  LACKS,    /* a kernel is missing */
  UNDECIDED /* it could not be made, or failed for another reason, which may be its own */
} verdict;

/* Makes a session of the model. */
static verdict try_session(trial *self) {
  const OrtApi *ort = self->runtime->ort;
  OrtEnv *environment = NULL;
  OrtSessionOptions *options = NULL;
  OrtSession *session = NULL;
  verdict said = UNDECIDED;
  /* There is one environment in a process, and the session that asks has it: this counts one more user. */
  if (done(self, ort->CreateEnv(ORT_LOGGING_LEVEL_FATAL, "leat", &environment)) &&
      done(self, ort->CreateSessionOptions(&options)) && done(self, ort->SetIntraOpNumThreads(options, 1)) &&
      done(self, ort->SetInterOpNumThreads(options, 1)) &&
      done(self, ort->SetSessionLogSeverityLevel(options, ORT_LOGGING_LEVEL_FATAL)) &&
      done(self, ort->SetSessionGraphOptimizationLevel(options, ORT_DISABLE_ALL))) {
    OrtStatus *status = self->editor->CreateSessionFromModel(environment, self->model, options, &session);
    said = status == NULL ? RUNS : ort->GetErrorCode(status) == ORT_NOT_IMPLEMENTED ? LACKS : UNDECIDED;
    leati_status_drop(self->runtime, status);
  }
  ort->ReleaseSession(session);
  ort->ReleaseSessionOptions(options);
  ort->ReleaseEnv(environment);
  return said;
}

static void trial_clear(trial *self) {
  const OrtApi *ort = self->runtime->ort;
  forget(self, &self->inputs, 0);
  forget(self, &self->outputs, 0);
  ort->ReleaseGraph(self->graph);
  ort->ReleaseModel(self->model);
  leati_scratch_clear(&self->scratch);
}

/* Whether the CPU provider has kernels for some nodes, but for those that the question cannot be put for. */
static verdict try_nodes(const leati_runtime *runtime, const OrtGraph *graph, const OrtNode *const *nodes,
                         size_t count) {
  trial self = {.runtime = runtime, .editor = runtime->ort->GetModelEditorApi()};
  original *originals = leati_scratch_alloc(&self.scratch, count, sizeof(*originals));
  size_t read = 0, inputs = 0, outputs = 0;
  for (size_t i = 0; i < count && originals != NULL; ++i) {
    if (read_original(&self, nodes[i], &originals[read])) {
      inputs += originals[read].input_count;
      outputs += originals[read++].output_count;
    }
  }
  self.inputs.values = leati_scratch_alloc(&self.scratch, inputs, sizeof(*self.inputs.values));
  self.outputs.values = leati_scratch_alloc(&self.scratch, outputs, sizeof(*self.outputs.values));
  size_t added = 0;
  if (self.editor != NULL && read != 0 && self.inputs.values != NULL && self.outputs.values != NULL &&
      done(&self, self.editor->CreateGraph(&self.graph))) {
    for (size_t i = 0; i < read; ++i) {
      added += add_node(&self, &originals[i], i);
    }
  }
  const verdict said = added != 0 && make_model(&self, graph) ? try_session(&self) : UNDECIDED;
  trial_clear(&self);
  return said;
}

/* Inputs that a kernel of the CPU provider refuses, which it says in a Run and not before. Only a Run would tell, and
 * one with made-up values may do harm: kernels do not check all of them. tests/onnx/refused.py asks for each row
 * whether it is true of the newest release; of one newer than that nobody knows. */
static const struct {
  const char *domain;
  const char *type;
  size_t input;
  uint32_t newest; /* release 1.N */
} refused_inputs[] = {
    {"com.microsoft", "GroupQueryAttention", 14, 32}, /* q_norm_weight */
    {"com.microsoft", "GroupQueryAttention", 15, 32}, /* k_norm_weight */
};

static bool refuses_input(trial *self, const original *node) {
  for (size_t i = 0; i < sizeof(refused_inputs) / sizeof(refused_inputs[0]); ++i) {
    const size_t input = refused_inputs[i].input;
    const char *name = NULL;
    if (strcmp(node->domain, refused_inputs[i].domain) == 0 && strcmp(node->type, refused_inputs[i].type) == 0 &&
        self->runtime->release <= refused_inputs[i].newest && input < node->input_count &&
        node->inputs[input] != NULL && done(self, self->runtime->ort->GetValueInfoName(node->inputs[input], &name)) &&
        name != NULL && *name != '\0') {
      return true;
    }
  }
  return false;
}

/* Index of the first node with an input that the CPU provider's kernel refuses, or `count`. */
static size_t find_refused_input(const leati_runtime *runtime, const OrtNode *const *nodes, size_t count) {
  trial self = {.runtime = runtime};
  size_t index = 0;
  original node;
  while (index < count && !(read_original(&self, nodes[index], &node) && refuses_input(&self, &node))) {
    index++;
  }
  leati_scratch_clear(&self.scratch);
  return index;
}

size_t leati_fallback_find_unrunnable(const leati_runtime *runtime, const OrtGraph *graph, const OrtNode *const *nodes,
                                      size_t count, const char **out_why) {
  *out_why = "its kernel refuses one of the inputs";
  const size_t refused = find_refused_input(runtime, nodes, count);
  /* Nearly always there are kernels for all, which one session tells. */
  if (refused < count || count == 0 || try_nodes(runtime, graph, nodes, count) == RUNS) {
    return refused;
  }
  *out_why = "it has no kernel for this";
  size_t index = 0;
  while (index < count && try_nodes(runtime, graph, &nodes[index], 1) != LACKS) {
    index++;
  }
  return index;
}

/* ---- Other providers ----------------------------------------------------------------------------------------------
 */

/* Azure's provider is in many builds and takes nothing but its own operators. */
static bool is_expected(const char *provider) {
  return strcmp(provider, "CPUExecutionProvider") == 0 || strcmp(provider, "AzureExecutionProvider") == 0 ||
         strcmp(provider, LEATI_PROVIDER_NAME) == 0;
}

/* Whether all providers that ONNX Runtime was built with are as expected. */
static bool has_expected_build(const leati_runtime *runtime) {
  char **names = NULL;
  int count = 0;
  bool expected = leati_status_drop(runtime, runtime->ort->GetAvailableProviders(&names, &count));
  for (int i = 0; i < count && expected; ++i) {
    expected = is_expected(names[i]);
  }
  if (names != NULL) {
    leati_status_drop(runtime, runtime->ort->ReleaseAvailableProviders(names, count));
  }
  return expected;
}

/* Whether all providers that were registered are as expected. */
static bool has_expected_devices(const leati_runtime *runtime) {
  const OrtApi *ort = runtime->ort;
  OrtEnv *environment = NULL;
  const OrtEpDevice *const *devices = NULL;
  size_t count = 0;
  bool expected = leati_status_drop(runtime, ort->CreateEnv(ORT_LOGGING_LEVEL_FATAL, "leat", &environment)) &&
                  leati_status_drop(runtime, ort->GetEpDevices(environment, &devices, &count));
  for (size_t i = 0; i < count && expected; ++i) {
    expected = is_expected(ort->EpDevice_EpName(devices[i]));
  }
  ort->ReleaseEnv(environment);
  return expected;
}

bool leati_fallback_is_cpu(const leati_runtime *runtime) {
  return has_expected_build(runtime) && has_expected_devices(runtime);
}
