/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernel_registry.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control_flow.h"
#include "element_type.h"

/* ONNX Runtime takes INT_MAX as the end of a range for "exactly the version it starts with"; any other number is a
 * range. The backend, which is asked about every node, has the last word on versions that are newer than it. */
#define VERSION_OPEN_END (INT_MAX - 1)

/* Most element types that ONNX Runtime has a number for. */
#define ELEMENT_TYPE_MAX 64

bool leati_kernel_registry_init(leati_kernel_registry *registry, const leati_runtime *runtime) {
  *registry = (leati_kernel_registry){.runtime = runtime};
  return pthread_mutex_init(&registry->lock, NULL) == 0;
}

void leati_kernel_registry_clear(leati_kernel_registry *registry) {
  if (registry->kernels != NULL) {
    registry->runtime->ep->ReleaseKernelRegistry(registry->kernels);
  }
  free(registry->sources);
  pthread_mutex_destroy(&registry->lock);
}

/* Builds what the builder was told, adds it, and frees both. */
static OrtStatus *add_kernel(const leati_runtime *runtime, OrtKernelRegistry *kernels, OrtKernelDefBuilder *builder,
                             OrtKernelCreateFunc create, void *state) {
  OrtKernelDef *definition = NULL;
  OrtStatus *status = runtime->ep->KernelDefBuilder_Build(builder, &definition);
  if (status == NULL) {
    status = runtime->ep->KernelRegistry_AddKernel(kernels, definition, create, state);
  }
  if (definition != NULL) {
    runtime->ep->ReleaseKernelDef(definition);
  }
  return status;
}

static OrtStatus *name_kernel(const leati_runtime *runtime, OrtKernelDefBuilder *builder, const char *domain,
                              const char *name, int first, int last) {
  const OrtEpApi *ep = runtime->ep;
  OrtStatus *status = ep->KernelDefBuilder_SetOperatorType(builder, name);
  if (status == NULL) {
    status = ep->KernelDefBuilder_SetDomain(builder, domain);
  }
  if (status == NULL) {
    status = ep->KernelDefBuilder_SetSinceVersion(builder, first, last);
  }
  if (status == NULL) {
    status = ep->KernelDefBuilder_SetExecutionProvider(builder, LEATI_PROVIDER_NAME);
  }
  return status;
}

#if ORT_API_VERSION >= 25
/* Whether a schema knows a name for the type of some input or output: its type constraint, or, where the schema fixes
 * the type without a parameter, its own name. */
static bool schema_knows_one(const OrtEpApi *ep, const OrtOpSchema *schema, const char *name, bool outputs,
                             const leati_runtime *runtime) {
  size_t count = 0;
  if (!leati_status_drop(
          runtime, outputs ? ep->OpSchema_GetNumOutputs(schema, &count) : ep->OpSchema_GetNumInputs(schema, &count))) {
    return false;
  }
  for (size_t i = 0; i < count; ++i) {
    const OrtOpSchemaTypeConstraint *constraint = NULL;
    const char *known = NULL;
    OrtStatus *status = outputs ? ep->OpSchema_GetOutputTypeConstraint(schema, i, &constraint)
                                : ep->OpSchema_GetInputTypeConstraint(schema, i, &constraint);
    if (status == NULL) {
      status = constraint != NULL ? ep->OpSchemaTypeConstraint_GetTypeParamName(constraint, &known)
               : outputs          ? ep->OpSchema_GetOutputName(schema, i, &known)
                                  : ep->OpSchema_GetInputName(schema, i, &known);
    }
    if (leati_status_drop(runtime, status) && strcmp(known, name) == 0) {
      return true;
    }
  }
  return false;
}

/* Whether ONNX Runtime's schemas of all versions of an operator know the name of a type. With one that they do not
 * know, it would fail every look-up of the kernel instead of passing over the constraint. */
static bool schemas_know(const leati_runtime *runtime, const leat_op_info *info, const char *name) {
  const OrtEpApi *ep = runtime->ep;
  if (runtime->version < 25) {
    return true;
  }
  for (int version = VERSION_OPEN_END; version >= (int)info->since_version_min;) {
    OrtOpSchema *schema = NULL;
    if (!leati_status_drop(runtime, ep->GetOpSchema(info->name, version, info->domain, &schema)) || schema == NULL) {
      return true;
    }
    int since = 0;
    bool read = leati_status_drop(runtime, ep->OpSchema_GetSinceVersion(schema, &since));
    bool counts = since >= (int)info->since_version_min && (uint32_t)since <= info->since_version_max;
    bool known = !read || !counts || schema_knows_one(ep, schema, name, false, runtime) ||
                 schema_knows_one(ep, schema, name, true, runtime);
    ep->ReleaseOpSchema(schema);
    if (!known) {
      return false;
    }
    version = read ? since - 1 : 0;
  }
  return true;
}
#endif

/* Whether ONNX Runtime can take a type of the operator list as a constraint. What it cannot take is left out, and
 * nothing wrong comes of that: the backend looks at the types of every node again. */
static bool is_constraint(const leati_runtime *runtime, const leat_op_info *info, const char *name) {
  /* "tensor(int64)": the specification fixes the type, so there is nothing to constrain. */
  if (strchr(name, '(') != NULL) {
    return false;
  }
#if ORT_API_VERSION >= 25
  if (!schemas_know(runtime, info, name)) {
    leati_ort_log(runtime, NULL, ORT_LOGGING_LEVEL_VERBOSE,
                  LEATI_PROVIDER_NAME ": %s: not all of its versions from %u to %u have a type '%s'", info->name,
                  info->since_version_min, info->since_version_max, name);
    return false;
  }
#else
  (void)runtime;
  (void)info;
#endif
  return true;
}

static OrtStatus *constrain_types(const leati_runtime *runtime, OrtKernelDefBuilder *builder,
                                  const leat_op_type *type) {
  const OrtDataType *types[64];
  size_t count = 0;
  for (unsigned bit = 0; bit < 64; ++bit) {
    ONNXTensorElementDataType element = leati_element_type_of_bit(bit);
    if ((type->types >> bit & 1) != 0 && element != ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED) {
      OrtStatus *status = runtime->ep->GetTensorDataType(element, &types[count]);
      if (status != NULL) {
        return status;
      }
      count++;
    }
  }
  return runtime->ep->KernelDefBuilder_AddTypeConstraint(builder, type->name, types, count);
}

static OrtStatus *define_kernel(const leati_runtime *runtime, OrtKernelDefBuilder *builder, const leat_op_info *info) {
  const OrtEpApi *ep = runtime->ep;
  OrtStatus *status = name_kernel(
      runtime, builder, info->domain, info->name, (int)info->since_version_min,
      info->since_version_max > (uint32_t)VERSION_OPEN_END ? VERSION_OPEN_END : (int)info->since_version_max);
  for (uint32_t i = 0; i < info->type_count && status == NULL; ++i) {
    if (is_constraint(runtime, info, info->types[i]->name)) {
      status = constrain_types(runtime, builder, info->types[i]);
    }
  }
  for (size_t i = 0; i < 64 && status == NULL; ++i) {
    if ((info->host_inputs >> i & 1) != 0) {
      status = ep->KernelDefBuilder_SetInputMemType(builder, i, OrtMemTypeCPUInput);
    }
    if (status == NULL && (info->host_outputs >> i & 1) != 0) {
      status = ep->KernelDefBuilder_SetOutputMemType(builder, i, OrtMemTypeCPUOutput);
    }
  }
  if (status == NULL && (info->flags & LEAT_OP_ALIAS)) {
    const int index = 0;
    status = ep->KernelDefBuilder_AddInputOutputAliases(builder, &index, &index, 1);
  }
  return status;
}

static OrtStatus *add_operator(OrtKernelRegistry *kernels, leati_kernel_source *source) {
  const leati_runtime *runtime = source->runtime;
  OrtKernelDefBuilder *builder = NULL;
  OrtStatus *status = runtime->ep->CreateKernelDefBuilder(&builder);
  if (status == NULL) {
    status = define_kernel(runtime, builder, source->info);
  }
  if (status == NULL) {
    status =
        add_kernel(runtime, kernels, builder,
                   leati_control_flow_is(source->info) ? leati_control_flow_create : leati_kernel_impl_create, source);
  }
  if (builder != NULL) {
    runtime->ep->ReleaseKernelDefBuilder(builder);
  }
  return leati_status_prefix(runtime, status, LEATI_PROVIDER_NAME ": registering %s of '%s', versions %u to %u",
                             source->info->name, source->info->domain, source->info->since_version_min,
                             source->info->since_version_max);
}

/* The copies that ONNX Runtime inserts between its CPU provider and us: any tensor but one of strings. */
static OrtStatus *add_copy(const leati_runtime *runtime, OrtKernelRegistry *kernels, bool to_host) {
  const OrtEpApi *ep = runtime->ep;
  const OrtDataType *types[ELEMENT_TYPE_MAX];
  size_t count = 0;
  for (int element = ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT; element < ELEMENT_TYPE_MAX; ++element) {
    if (element != ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING &&
        leati_status_drop(runtime, ep->GetTensorDataType((ONNXTensorElementDataType)element, &types[count]))) {
      count++;
    }
  }
  OrtKernelDefBuilder *builder = NULL;
  OrtStatus *status = ep->CreateKernelDefBuilder(&builder);
  if (status == NULL) {
    status = name_kernel(runtime, builder, "", to_host ? "MemcpyToHost" : "MemcpyFromHost", 1, VERSION_OPEN_END);
  }
  if (status == NULL) {
    status = ep->KernelDefBuilder_AddTypeConstraint(builder, "T", types, count);
  }
  if (status == NULL) {
    status = to_host ? ep->KernelDefBuilder_SetOutputMemType(builder, 0, OrtMemTypeCPUOutput)
                     : ep->KernelDefBuilder_SetInputMemType(builder, 0, OrtMemTypeCPUInput);
  }
  if (status == NULL) {
    /* ONNX Runtime hands the state back unchanged; what it points to is only read. */
    status = add_kernel(runtime, kernels, builder,
                        to_host ? leati_kernel_impl_create_to_host : leati_kernel_impl_create_from_host,
                        (void *)(uintptr_t)runtime);
  }
  if (builder != NULL) {
    ep->ReleaseKernelDefBuilder(builder);
  }
  return leati_status_prefix(runtime, status, LEATI_PROVIDER_NAME ": registering the copies");
}

static OrtStatus *read_list(leati_kernel_registry *registry) {
  const leati_runtime *runtime = registry->runtime;
  leat_error error = {.struct_size = sizeof(error)};
  uint32_t count = 0;
  int32_t code = runtime->leat->op->count(&count, &error);
  if (code == LEAT_OK) {
    registry->sources = calloc(count + LEATI_CONTROL_FLOW_COUNT, sizeof(*registry->sources));
    if (registry->sources == NULL) {
      return leati_status(runtime, ORT_FAIL, LEATI_PROVIDER_NAME ": out of memory for the operator list");
    }
  }
  for (uint32_t i = 0; i < count && code == LEAT_OK; ++i) {
    registry->sources[i].runtime = runtime;
    code = runtime->leat->op->info(i, &registry->sources[i].info, &error);
    registry->source_count += code == LEAT_OK;
  }
  for (uint32_t i = 0; i < LEATI_CONTROL_FLOW_COUNT && code == LEAT_OK; ++i) {
    registry->sources[registry->source_count++] = (leati_kernel_source){runtime, leati_control_flow_info(i)};
  }
  return leati_status_from(runtime, code, &error, LEATI_PROVIDER_NAME ": reading the operator list");
}

static OrtStatus *make(leati_kernel_registry *registry) {
  const leati_runtime *runtime = registry->runtime;
  OrtKernelRegistry *kernels = NULL;
  OrtStatus *status = read_list(registry);
  if (status == NULL) {
    status = runtime->ep->CreateKernelRegistry(&kernels);
  }
  for (uint32_t i = 0; i < registry->source_count && status == NULL; ++i) {
    status = add_operator(kernels, &registry->sources[i]);
  }
  for (int to_host = 0; to_host < 2 && status == NULL; ++to_host) {
    status = add_copy(runtime, kernels, to_host != 0);
  }
  if (status != NULL) {
    if (kernels != NULL) {
      runtime->ep->ReleaseKernelRegistry(kernels);
    }
    free(registry->sources);
    registry->sources = NULL;
    registry->source_count = 0;
    return status;
  }
  registry->kernels = kernels;
  return NULL;
}

OrtStatus *leati_kernel_registry_kernels(leati_kernel_registry *registry, const OrtKernelRegistry **out) {
  pthread_mutex_lock(&registry->lock);
  OrtStatus *status = registry->kernels != NULL ? NULL : make(registry);
  *out = registry->kernels;
  pthread_mutex_unlock(&registry->lock);
  return status;
}

/* Whether an entry is for a node's operator, in whatever versions. */
static bool is_of_operator(const leat_op_info *info, const leati_node_form *form) {
  return strcmp(info->name, form->type) == 0 && strcmp(info->domain, form->domain) == 0;
}

OrtStatus *leati_kernel_registry_find(const leati_kernel_registry *registry, const OrtNode *node,
                                      leati_node_form *out) {
  const OrtApi *ort = registry->runtime->ort;
  *out = (leati_node_form){.since = 0};
  OrtStatus *status = ort->Node_GetName(node, &out->name);
  if (status == NULL) {
    status = ort->Node_GetDomain(node, &out->domain);
  }
  if (status == NULL) {
    status = ort->Node_GetOperatorType(node, &out->type);
  }
  if (status == NULL) {
    status = ort->Node_GetSinceVersion(node, &out->since);
  }
  if (status != NULL) {
    return status;
  }
  for (uint32_t i = 0; i < registry->source_count && out->info == NULL && out->since >= 0; ++i) {
    const leat_op_info *info = registry->sources[i].info;
    const uint32_t since = (uint32_t)out->since;
    if (since >= info->since_version_min && since <= info->since_version_max && is_of_operator(info, out)) {
      out->info = info;
    }
  }
  return NULL;
}

/* Appends the versions of an entry to a list in words; what does not fit is left out. */
static void add_versions(char *text, size_t size, const leat_op_info *info) {
  const size_t used = strlen(text);
  const char *const before = used == 0 ? "" : ", ";
  const uint32_t first = info->since_version_min, last = info->since_version_max;
  if (last == first) {
    snprintf(text + used, size - used, "%s%u", before, first);
  } else if (last == UINT32_MAX) {
    snprintf(text + used, size - used, "%s%u and newer", before, first);
  } else {
    snprintf(text + used, size - used, "%s%u to %u", before, first, last);
  }
}

void leati_kernel_registry_explain(const leati_kernel_registry *registry, const leati_node_form *form, char out[256]) {
  char versions[128] = "";
  for (uint32_t i = 0; i < registry->source_count; ++i) {
    if (is_of_operator(registry->sources[i].info, form)) {
      add_versions(versions, sizeof(versions), registry->sources[i].info);
    }
  }
  if (versions[0] != 0) {
    snprintf(out, 256, "its operator is of version %d; the backend's list has it in %s", form->since, versions);
  } else {
    snprintf(out, 256, "its operator is not in the backend's list");
  }
}
