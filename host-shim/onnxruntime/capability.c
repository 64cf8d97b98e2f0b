/* SPDX-License-Identifier: BSD-3-Clause */
#include "capability.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bits.h"
#include "control_flow.h"
#include "description.h"
#include "fallback.h"
#include "fused_subgraphs.h"
#include "shape_arithmetic.h"

/* Longest reason why a node is refused; longer ones are cut. */
#define REASON_SIZE (LEAT_ERROR_MESSAGE_SIZE + 64)

typedef struct asking {
  const leati_runtime *runtime;
  leati_shared_device *provider_device;
  leat_device *device;
  const leati_kernel_registry *registry;
  OrtEpGraphSupportInfo *support;
  const OrtLogger *logger;
  const leati_model_inputs *inputs;
  leati_capability_findings *findings;
  char *reason;          /* of the last refusal, REASON_SIZE bytes */
  const OrtNode *parent; /* If, Loop or Scan, if the graph is a body of it; else NULL */
} asking;

static void log_refusal(const asking *self, const char *operator_name, const char *node_name, const char *reason) {
  snprintf(self->reason, REASON_SIZE, "%s", reason);
  leati_ort_log(self->runtime, self->logger, ORT_LOGGING_LEVEL_VERBOSE,
                LEATI_PROVIDER_NAME ": %s node '%s' stays with another provider: %s", operator_name, node_name, reason);
}

/* Asks the backend about a node whose operator is in its list. */
static OrtStatus *ask_backend(const asking *self, const OrtNode *node, const leat_op_info *info, const char *node_name,
                              bool *supported) {
  leati_description description = {0};
  bool sayable = true;
  OrtStatus *status = leati_description_of_node(&description, self->runtime, node, info, &sayable);
  *supported = false;
  if (status == NULL && !sayable) {
    log_refusal(self, info->name, node_name, "it has an input that is no tensor of numbers");
  } else if (status == NULL) {
    leat_error error = {.struct_size = sizeof(error)};
    int32_t code = self->runtime->leat->op->supports(self->device, &description.op, &error);
    *supported = code == LEAT_OK;
    if (code == LEAT_ERROR_NOT_SUPPORTED || code == LEAT_ERROR_INVALID_ARGUMENT) {
      log_refusal(self, info->name, node_name, error.message);
    } else {
      status =
          leati_status_from(self->runtime, code, &error, LEATI_PROVIDER_NAME ": %s node '%s'", info->name, node_name);
    }
  }
  leati_description_clear(&description, self->runtime);
  return status;
}

/* Asks about If, Loop or Scan: they run where their bodies do. */
static OrtStatus *ask_bodies(const asking *self, const OrtNode *node, const leati_node_form *form, bool *supported) {
  const char *why = NULL;
  OrtStatus *status = leati_control_flow_refusal(self->runtime, node, &why);
  *supported = status == NULL && why == NULL;
  if (why != NULL) {
    log_refusal(self, form->type, form->name, why);
  }
  return status;
}

/* Whether two of some inputs are one value, of which one is taken on the host and the other is not, and whether each
 * such value is a constant. */
static OrtStatus *are_both(const asking *self, const OrtValueInfo *const *inputs, const char **names, size_t count,
                           uint64_t host_inputs, bool *out, bool *out_constant) {
  OrtStatus *status = NULL;
  for (size_t i = 0; i < count && status == NULL; ++i) {
    bool both = false, constant = true;
    status = inputs[i] != NULL ? self->runtime->ort->GetValueInfoName(inputs[i], &names[i]) : NULL;
    for (size_t j = 0; j < i && names[i] != NULL && *names[i] != 0; ++j) {
      const bool differ = leati_bit(host_inputs, i) != leati_bit(host_inputs, j);
      both = both || (differ && names[j] != NULL && strcmp(names[i], names[j]) == 0);
    }
    if (both && status == NULL) {
      status = self->runtime->ort->ValueInfo_IsConstantInitializer(inputs[i], &constant);
    }
    *out = *out || both;
    *out_constant = *out_constant && constant;
  }
  return status;
}

/* Whether a node takes one value both on the host and on the device. ONNX Runtime keeps one copy of it for the node and
 * would hand the device's address to code that reads it on the host. A graph has constants on both. */
static OrtStatus *wants_both(const asking *self, const OrtNode *node, const leat_op_info *info, bool *out,
                             bool *out_constant) {
  const OrtApi *ort = self->runtime->ort;
  size_t count = 0;
  *out = false;
  *out_constant = true;
  OrtStatus *status = info->host_inputs != 0 ? ort->Node_GetNumInputs(node, &count) : NULL;
  if (status != NULL || count == 0) {
    return status;
  }
  leati_scratch scratch = {0};
  const OrtValueInfo **inputs = leati_scratch_alloc(&scratch, count, sizeof(*inputs));
  const char **names = leati_scratch_alloc(&scratch, count, sizeof(*names));
  status = inputs != NULL && names != NULL ? ort->Node_GetInputs(node, inputs, count)
                                           : leati_node_list_no_memory(self->runtime);
  if (status == NULL) {
    status = are_both(self, inputs, names, count, info->host_inputs, out, out_constant);
  }
  leati_scratch_clear(&scratch);
  return status;
}

static const char wanted_twice[] = "it takes one value both on the host and on the device";

/* Gives the operator of a node that can run on the device, or NULL in `*out`, and whether it can in a fused subgraph
 * alone. */
static OrtStatus *ask_node(const asking *self, const OrtNode *node, const leat_op_info **out, bool *out_fused_only) {
  const OrtApi *ort = self->runtime->ort;
  const char *taken_by = NULL;
  *out = NULL;
  OrtStatus *status = ort->Node_GetEpName(node, &taken_by);
  if (status != NULL || (taken_by != NULL && *taken_by != '\0' && strcmp(taken_by, LEATI_PROVIDER_NAME) != 0)) {
    return status;
  }
  leati_node_form form;
  status = leati_kernel_registry_find(self->registry, node, &form);
  if (status != NULL) {
    return status;
  }
  const char *const name = form.name, *const type = form.type;
  const leat_op_info *const info = form.info;
  if (info == NULL) {
    char reason[256];
    leati_kernel_registry_explain(self->registry, &form, reason);
    log_refusal(self, type, name, reason);
    return NULL;
  }
  const OrtKernelDef *definition = NULL;
  status = self->runtime->ep->EpGraphSupportInfo_LookUpKernel(self->support, node, &definition);
  if (status != NULL || definition == NULL) {
    /* A look-up that fails is about this node; the others may well run. */
    log_refusal(self, type, name,
                status != NULL ? ort->GetErrorMessage(status) : "its element types are not in the backend's list");
    leati_status_drop(self->runtime, status);
    return NULL;
  }
  bool both = false, constant = false;
  status = wants_both(self, node, info, &both, &constant);
  *out_fused_only = both;
  if (status != NULL || (both && !constant)) {
    log_refusal(self, type, name, wanted_twice);
    return status;
  }
  bool supported = false;
  status = leati_control_flow_is(info) ? ask_bodies(self, node, &form, &supported)
                                       : ask_backend(self, node, info, name, &supported);
  *out = supported ? info : NULL;
  return status;
}

/* Takes the nodes of a fused subgraph apart. */
static void dissolve(leati_node_list *list, uint32_t subgraph) {
  for (size_t i = 0; i < list->count; ++i) {
    if (list->nodes[i].subgraph == subgraph) {
      list->nodes[i].subgraph = 0;
    }
  }
}

/* Claims the nodes of a fused subgraph, which become one, if the backend can build their graph: once they are claimed,
 * there is no session without it. */
static OrtStatus *claim_subgraph(const asking *self, leati_node_list *list, uint32_t subgraph, const OrtNode **members,
                                 bool *claimed) {
  leat_error why = {.struct_size = sizeof(why)};
  size_t count = 0;
  for (size_t i = 0; i < list->count; ++i) {
    if (list->nodes[i].subgraph == subgraph) {
      members[count++] = list->nodes[i].node;
    }
  }
  OrtStatus *status = leati_fused_subgraph_try(self->provider_device, self->registry, self->inputs, members, count,
                                               &self->findings->trials, claimed, &why);
  if (status == NULL && !*claimed) {
    dissolve(list, subgraph);
    leati_ort_log(self->runtime, self->logger, ORT_LOGGING_LEVEL_INFO,
                  LEATI_PROVIDER_NAME ": %zu nodes run one by one, because no graph could be built of them: %s", count,
                  why.message);
  }
  if (status != NULL || !*claimed) {
    return status;
  }
  /* The graph has copies of its constants. */
  const OrtNodeFusionOptions options = {.ort_version_supported = self->runtime->version,
                                        .drop_constant_initializers = true};
  return self->runtime->ep->EpGraphSupportInfo_AddNodesToFuse(self->support, members, count, &options);
}

/* Claims the fused subgraphs, and gives the number of those that could be. */
static OrtStatus *claim_subgraphs(const asking *self, leati_node_list *list, uint32_t count, uint32_t *out_count) {
  leati_scratch scratch = {0};
  const OrtNode **members = leati_scratch_alloc(&scratch, list->count, sizeof(*members));
  OrtStatus *status = members != NULL ? NULL : leati_node_list_no_memory(self->runtime);
  for (uint32_t subgraph = 1; subgraph <= count && status == NULL; ++subgraph) {
    bool claimed = false;
    status = claim_subgraph(self, list, subgraph, members, &claimed);
    *out_count += claimed;
  }
  leati_scratch_clear(&scratch);
  return status;
}

/* Says why a node stays with another provider although Leat could run it. */
static OrtStatus *tell_why(const asking *self, const OrtNode *node, const char *reason) {
  leati_node_form form;
  OrtStatus *status = leati_kernel_registry_find(self->registry, node, &form);
  if (status == NULL) {
    log_refusal(self, form.type, form.name, reason);
  }
  return status;
}

static OrtStatus *tell_host_node(const asking *self, const leati_listed_node *node) {
  return tell_why(self, node->node,
                  node->of_shapes
                      ? "it computes shapes from shapes, which costs less on the host"
                      : "what it takes and gives is on the host in any case, and the copies would cost more than it");
}

/* Claims the nodes that are in no fused subgraph, each for a kernel of its own. */
static OrtStatus *claim_nodes(const asking *self, const leati_node_list *list, uint32_t subgraphs) {
  OrtStatus *status = NULL;
  size_t claimed = 0;
  size_t arithmetic = 0;
  size_t between = 0;
  size_t joined = 0;
  for (size_t i = 0; i < list->count && status == NULL; ++i) {
    const leati_listed_node *node = &list->nodes[i];
    const bool on_host = node->on_host && node->subgraph == 0;
    const bool mine = node->info != NULL && !on_host && (node->subgraph != 0 || !node->fused_only);
    if (mine && node->subgraph == 0) {
      status = self->runtime->ep->EpGraphSupportInfo_AddSingleNode(self->support, node->node);
    } else if (on_host) {
      status = tell_host_node(self, node);
    } else if (node->info != NULL && !mine) {
      status = tell_why(self, node->node, wanted_twice);
    }
    claimed += mine;
    arithmetic += on_host && node->of_shapes;
    between += on_host && !node->of_shapes;
    joined += node->subgraph != 0;
  }
  if (status == NULL && list->count != 0) {
    leati_ort_log(
        self->runtime, self->logger, ORT_LOGGING_LEVEL_INFO,
        LEATI_PROVIDER_NAME
        ": %zu of %zu nodes run on Leat, %zu of them in %u fused subgraphs; %zu of shape arithmetic and %zu between "
        "nodes of other providers stay on the host",
        claimed, list->count, joined, subgraphs, arithmetic, between);
  }
  return status;
}

/* Elements from which a pass over a value is worth a device's while, unknown dimensions taken for 1: 256 KiB of
 * float32, for which the host takes longer than two copies and a wait (some 20 us). */
#define BULK_ELEMENTS 65536

/* Whether a node gives an array of real numbers that is large. */
static OrtStatus *gives_bulk(const asking *self, const OrtNode *node, bool *out) {
  const OrtApi *ort = self->runtime->ort;
  leati_description description = {0};
  size_t count = 0;
  OrtStatus *status = ort->Node_GetNumOutputs(node, &count);
  const OrtValueInfo **values = leati_scratch_alloc(&description.scratch, count, sizeof(*values));
  if (status == NULL) {
    status = values == NULL ? leati_node_list_no_memory(self->runtime)
             : count != 0   ? ort->Node_GetOutputs(node, values, count)
                            : NULL;
  }
  for (size_t i = 0; i < count && status == NULL && !*out; ++i) {
    leat_value_info value = {.ndim = -1};
    bool present = false, sayable = true;
    status = leati_description_of_value(&description, self->runtime, values[i], false, &value, &present, &sayable);
    const bool real = value.dtype.code == kDLFloat || value.dtype.code == kDLBfloat;
    double elements = 1.0;
    for (int32_t j = 0; j < value.ndim; ++j) {
      elements *= value.shape[j] < 0 ? 1.0 : (double)value.shape[j];
    }
    *out = present && sayable && real && elements >= BULK_ELEMENTS;
  }
  leati_description_clear(&description, self->runtime);
  return status;
}

/* Whether a body is to run on the device: nodes of it were given to Leat, of which fused ones tell no operator any
 * more, or it has products or their kind, by what the list says of its operators. */
static OrtStatus *is_heavy(const asking *self, const OrtGraph *body, leati_scratch *scratch, bool *out) {
  const OrtApi *ort = self->runtime->ort;
  size_t count = 0;
  OrtStatus *status = ort->Graph_GetNumNodes(body, &count);
  const OrtNode **nodes = leati_scratch_alloc(scratch, count, sizeof(*nodes));
  if (status == NULL) {
    status = nodes == NULL ? leati_node_list_no_memory(self->runtime)
             : count != 0  ? ort->Graph_GetNodes(body, nodes, count)
                           : NULL;
  }
  for (size_t i = 0; i < count && status == NULL && !*out; ++i) {
    leati_node_form form = {.since = 0};
    const char *taken_by = NULL;
    status = ort->Node_GetEpName(nodes[i], &taken_by);
    if (status == NULL) {
      status = leati_kernel_registry_find(self->registry, nodes[i], &form);
    }
    *out = status == NULL && ((taken_by != NULL && strcmp(taken_by, LEATI_PROVIDER_NAME) == 0) ||
                              (form.info != NULL && (form.info->flags & LEAT_OP_HEAVY) != 0));
  }
  return status;
}

/* Whether any body of the node that this one is of is heavy: then the node runs on Leat, and so do its values. */
static OrtStatus *has_heavy_sibling(const asking *self, bool *out) {
  leati_scratch scratch = {0};
  const OrtGraph **bodies = NULL;
  size_t count = 0;
  OrtStatus *status = leati_control_flow_bodies(self->runtime, self->parent, &scratch, &bodies, &count);
  for (size_t i = 0; i < count && status == NULL && !*out; ++i) {
    status = is_heavy(self, bodies[i], &scratch, out);
  }
  leati_scratch_clear(&scratch);
  return status;
}

/* Whether a body of If, Loop or Scan has work for a device. Where some of its nodes are the host's, each value that
 * crosses is copied and waited for in every round: only products and their kind are worth that. Where none is, the
 * values stay on the device, and whatever is done to large ones is worth it, and to what the other branch has there;
 * counting and comparing is not. */
static OrtStatus *find_work(const asking *self, const leati_node_list *list, bool *has) {
  OrtStatus *status = NULL;
  bool whole = true;
  *has = false;
  for (size_t i = 0; i < list->count && !*has; ++i) {
    const leat_op_info *info = list->nodes[i].info;
    *has = info != NULL && (info->flags & LEAT_OP_HEAVY) != 0;
    whole = whole && info != NULL;
  }
  if (whole && !*has) {
    status = has_heavy_sibling(self, has);
  }
  for (size_t i = 0; i < list->count && whole && !*has && status == NULL; ++i) {
    status = gives_bulk(self, list->nodes[i].node, has);
  }
  return status;
}

/* Says that a node of the list can run nowhere. */
static OrtStatus *refuse_session(const asking *self, const OrtNode *node, const char *why_not_cpu) {
  static const char format[] = LEATI_PROVIDER_NAME
      ": no provider can run the %s node '%s' (domain '%s', version %d). Leat does not, because %s; ONNX Runtime's CPU "
      "provider does not, because %s";
  const leat_op_info *info = NULL;
  leati_node_form form;
  OrtStatus *status = leati_kernel_registry_find(self->registry, node, &form);
  if (status == NULL) {
    /* The reason once more: others were given since. */
    bool fused_only = false;
    status = ask_node(self, node, &info, &fused_only);
  }
  if (status != NULL) {
    return status;
  }
  const int length =
      snprintf(NULL, 0, format, form.type, form.name, form.domain, form.since, self->reason, why_not_cpu);
  char *message = malloc((size_t)length + 1);
  if (message == NULL) {
    return leati_node_list_no_memory(self->runtime);
  }
  snprintf(message, (size_t)length + 1, format, form.type, form.name, form.domain, form.since, self->reason,
           why_not_cpu);
  if (!leati_fallback_is_cpu(self->runtime)) {
    /* Another provider of the session may have one. */
    leati_ort_log(self->runtime, self->logger, ORT_LOGGING_LEVEL_WARNING, "%s", message);
    free(message);
    return NULL;
  }
  free(self->findings->unrunnable);
  self->findings->unrunnable = message;
  return self->runtime->ep->EpGraphSupportInfo_AddNodesToFuse(self->support, &node, 1, NULL);
}

/* Finds a node that the CPU provider cannot run, among those that Leat could run, or among those that it could not and
 * nobody has. NULL in `*out`: there is none. */
static OrtStatus *find_unrunnable(const asking *self, const OrtGraph *graph, const leati_node_list *list,
                                  bool supported, const OrtNode **out, const char **why) {
  leati_scratch scratch = {0};
  const OrtNode **nodes = leati_scratch_alloc(&scratch, list->count, sizeof(*nodes));
  OrtStatus *status = nodes != NULL ? NULL : leati_node_list_no_memory(self->runtime);
  size_t count = 0;
  *out = NULL;
  for (size_t i = 0; i < list->count && status == NULL; ++i) {
    const char *taken_by = NULL;
    const bool asked = supported == (list->nodes[i].info != NULL);
    status = asked ? self->runtime->ort->Node_GetEpName(list->nodes[i].node, &taken_by) : NULL;
    if (status == NULL && asked && !(taken_by != NULL && *taken_by != '\0')) {
      nodes[count++] = list->nodes[i].node;
    }
  }
  const size_t found = status != NULL ? count : leati_fallback_find_unrunnable(self->runtime, graph, nodes, count, why);
  if (found < count) {
    *out = nodes[found];
  }
  leati_scratch_clear(&scratch);
  return status;
}

/* Refuses the session if one of the nodes that Leat cannot run can run nowhere. */
static OrtStatus *check_rest(const asking *self, const OrtGraph *graph, const leati_node_list *list, bool *runs) {
  const OrtNode *node = NULL;
  const char *why = NULL;
  OrtStatus *status = find_unrunnable(self, graph, list, false, &node, &why);
  if (status == NULL && node != NULL) {
    status = refuse_session(self, node, why);
    *runs = self->findings->unrunnable == NULL;
  }
  return status;
}

/* Decides whether nodes of a body run on the device, and says why not. Without work they do if the CPU provider cannot
 * run them. */
static OrtStatus *weigh_body(const asking *self, const OrtGraph *graph, const leati_node_list *list, bool *worth) {
  const OrtNode *node = NULL;
  const char *why = NULL;
  OrtStatus *status = find_work(self, list, worth);
  if (status == NULL && !*worth) {
    status = find_unrunnable(self, graph, list, true, &node, &why);
    *worth = node != NULL;
  }
  for (size_t i = 0; i < list->count && status == NULL && !*worth; ++i) {
    if (list->nodes[i].info != NULL) {
      status = tell_why(self, list->nodes[i].node,
                        "the body that it is in has no matrix product, convolution or attention that Leat runs, and "
                        "what else it does is little, or would have to be copied to nodes on the host and back");
    }
  }
  return status;
}

static OrtStatus *ask_all(const asking *self, const OrtGraph *graph, leati_node_list *list,
                          const leati_capability_wishes *wishes) {
  bool runs = true, worth = true;
  OrtStatus *status = leati_node_list_read(list, self->runtime, graph);
  for (size_t i = 0; i < list->count && status == NULL; ++i) {
    leati_listed_node *const node = &list->nodes[i];
    status = ask_node(self, node->node, &node->info, &node->fused_only);
  }
  if (status == NULL) {
    status = check_rest(self, graph, list, &runs);
  }
  if (status == NULL && runs && self->parent != NULL && !wishes->whole) {
    status = weigh_body(self, graph, list, &worth);
  }
  if (status != NULL || !runs || !worth) {
    return status;
  }
  self->findings->has_bodies = self->findings->has_bodies || self->parent != NULL;
  if (status == NULL && self->parent != NULL) {
    status = leati_control_flow_find_condition(self->runtime, self->parent, graph, &list->condition);
  }
  if (status == NULL && !wishes->whole) {
    status = leati_shape_arithmetic_find(list);
  }
  uint32_t found = 0, subgraphs = 0;
  /* Release 1.24 counts the fused subgraphs of each graph from 0 and names them by that alone, so that those of a body
   * and of the graph around it meet. */
  if (status == NULL && wishes->subgraphs && (self->parent == NULL || self->runtime->version > 24)) {
    status = leati_fused_subgraphs_find(list, self->logger, &found);
  }
  if (status == NULL) {
    status = claim_subgraphs(self, list, found, &subgraphs);
  }
  return status != NULL ? status : claim_nodes(self, list, subgraphs);
}

void leati_capability_findings_clear(leati_capability_findings *findings, const leati_runtime *runtime) {
  leati_trials_clear(&findings->trials, runtime);
  free(findings->unrunnable);
  *findings = (leati_capability_findings){0};
}

OrtStatus *leati_capability_tell(leati_shared_device *device, leati_kernel_registry *registry, const OrtGraph *graph,
                                 OrtEpGraphSupportInfo *support, const OrtLogger *logger,
                                 const leati_capability_wishes *wishes, leati_capability_findings *findings) {
  const leati_runtime *runtime = device->runtime;
  const OrtNode *parent = NULL;
  bool reached = true;
  OrtStatus *status = runtime->ort->Graph_GetParentNode(graph, &parent);
  if (status == NULL && parent != NULL) {
    status = leati_control_flow_has_body(runtime, parent, &reached);
  }
  if (status != NULL || !reached) {
    return status;
  }
  char reason[REASON_SIZE] = "";
  asking self = {.runtime = runtime,
                 .provider_device = device,
                 .registry = registry,
                 .support = support,
                 .logger = logger,
                 .inputs = wishes->inputs,
                 .findings = findings,
                 .reason = reason,
                 .parent = parent};
  const OrtKernelRegistry *kernels = NULL;
  status = leati_kernel_registry_kernels(registry, &kernels);
  if (status != NULL) {
    return status;
  }
  leat_error error = {.struct_size = sizeof(error)};
  int32_t code = leati_shared_device_open(device, &self.device, &error);
  if (code != LEAT_OK) {
    return leati_status_from(runtime, code, &error, LEATI_PROVIDER_NAME ": opening %s", device->info.name);
  }
  leati_node_list list = {0};
  status = ask_all(&self, graph, &list, wishes);
  leati_node_list_clear(&list);
  return status;
}
