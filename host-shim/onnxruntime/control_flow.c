/* SPDX-License-Identifier: BSD-3-Clause */
#include "control_flow.h"

#include <stdlib.h>
#include <string.h>

#include "call_stream.h"
#include "element_type.h"
#include "ep_gate.h"
#include "scratch.h"
#include "shared_device.h"
#include "sync_stream.h"
#include "transfer.h"
#include "value_view.h"

/* ---- What there is ------------------------------------------------------------------------------------------------
 */

/* Tensors of all types. Sequences and optional values stay with the CPU provider. */
static const leat_op_type any_tensor = {.struct_size = sizeof(any_tensor), .name = "V", .types = UINT64_MAX};
static const leat_op_type *const any_tensors[] = {&any_tensor};

/* A body is as much work as there is in it; a node is claimed for no other reason. */
#define CONTROL_FLOW(operator, first, on_host)                                                            \
  {                                                                                                       \
    .struct_size = sizeof(leat_op_info), .since_version_min = (first), .since_version_max = UINT32_MAX,   \
    .max_inputs = LEAT_VARIADIC, .max_outputs = LEAT_VARIADIC, .type_count = 1, .host_inputs = (on_host), \
    .flags = LEAT_OP_HEAVY, .name = (operator), .domain = "", .types = any_tensors                        \
  }

enum { IF, LOOP, SCAN };

static const leat_op_info infos[LEATI_CONTROL_FLOW_COUNT] = {
    [IF] = CONTROL_FLOW("If", 1, 1),
    [LOOP] = CONTROL_FLOW("Loop", 1, 3),
    /* Another operator before: of batches, which ONNX Runtime has no kernel of for such providers. */
    [SCAN] = CONTROL_FLOW("Scan", 9, 0),
};

const leat_op_info *leati_control_flow_info(uint32_t index) {
  return &infos[index];
}

bool leati_control_flow_is(const leat_op_info *info) {
  return info >= infos && info < infos + LEATI_CONTROL_FLOW_COUNT;
}

OrtStatus *leati_control_flow_has_body(const leati_runtime *runtime, const OrtNode *parent, bool *out) {
  const char *type = NULL, *domain = NULL;
  OrtStatus *status = runtime->ort->Node_GetOperatorType(parent, &type);
  if (status == NULL) {
    status = runtime->ort->Node_GetDomain(parent, &domain);
  }
  *out = false;
  for (uint32_t i = 0; i < LEATI_CONTROL_FLOW_COUNT && status == NULL && !*out; ++i) {
    *out = strcmp(type, infos[i].name) == 0 && domain[0] == '\0';
  }
  return status;
}

/* ---- What the kernels need done on the device ---------------------------------------------------------------------
 */

/* One of the two helpers, for what only a provider can do with memory of its device. ONNX Runtime releases it. */
typedef struct helper {
  union {
    OrtLoopKernelHelper loop;
    OrtScanKernelHelper scan;
  } base;
  leati_shared_device *device;
} helper;

static const char concat_label[] = "putting the outputs of a Loop's rounds together";
static const char transpose_label[] = "transposing for a Scan";

/* Copies the values one behind the other. What they say of each other is the model's word only. */
static OrtStatus *concat_on(leati_shared_device *device, leat_stream *stream, const OrtValue *const *values,
                            size_t count, char *output, size_t size) {
  OrtStatus *status = NULL;
  const size_t each = count != 0 ? size / count : 0;
  for (size_t i = 0; i < count && status == NULL; ++i) {
    size_t bytes = 0;
    status = device->runtime->ort->GetTensorSizeInBytes(values[i], &bytes);
    if (status == NULL && (bytes != each || size % count != 0)) {
      status =
          leati_status(device->runtime, ORT_FAIL,
                       "round %zu of %zu gives %zu bytes where %zu are expected; a result must have the same shape in "
                       "all rounds",
                       i + 1, count, bytes, each);
    }
    if (status == NULL) {
      status = leati_transfer_within(device, stream, values[i], output + i * each, each);
    }
  }
  return status;
}

static OrtStatus *ORT_API_CALL loop_concat_output(OrtLoopKernelHelper *base, void *handle,
                                                  const OrtValue *const *values, size_t count, void *output,
                                                  size_t size) {
  leati_shared_device *device = ((helper *)base)->device;
  OrtStatus *status = leati_ep_gate_enter_or_fail(device->runtime, concat_label);
  if (status != NULL) {
    return status;
  }
  leati_call_stream where = {0};
  status = leati_call_stream_begin(device, handle, &where);
  if (status == NULL) {
    status = concat_on(device, where.handle, values, count, output, size);
  }
  status = leati_call_stream_leave(device, &where, concat_label, status);
  leati_ep_gate_leave();
  return status;
}

/* A tensor of the device. */
static OrtStatus *view_of(const leati_shared_device *device, const OrtValue *value, DLTensor *out) {
  const DLDevice on = {kDLVulkan, (int32_t)device->info.index};
  bool known;
  OrtStatus *status = leati_view_ort_value(device->runtime->ort, value, on, out, &known);
  if (status == NULL && !known) {
    status = leati_status(device->runtime, ORT_NOT_IMPLEMENTED, "its elements are of a type that Leat does not know");
  }
  return status;
}

/* What brings the axis to the front that a Scan goes along, and back. */
static const char scan_operator[] = "Transpose";

/* A transposition of few dimensions: those that stay next to each other are one. */
typedef struct transposition {
  size_t rank;
  int64_t axes[LEAT_MAX_RANK];
  int64_t from[LEAT_MAX_RANK], to[LEAT_MAX_RANK]; /* dimensions of the input, and of the output */
} transposition;

/* Joins dimensions. False: there are too many all the same, which moving one axis does not leave. */
static bool join_dimensions(const size_t *permutation, size_t rank, const int64_t *dims, transposition *out) {
  size_t firsts[LEAT_MAX_RANK];
  *out = (transposition){.rank = 0};
  for (size_t i = 0; i < rank; ++i) {
    const bool follows = i != 0 && permutation[i] == permutation[i - 1] + 1;
    if (!follows && out->rank == LEAT_MAX_RANK) {
      return false;
    }
    if (!follows) {
      firsts[out->rank] = permutation[i];
      out->to[out->rank++] = 1;
    }
    out->to[out->rank - 1] *= dims[permutation[i]];
  }
  for (size_t i = 0; i < out->rank; ++i) {
    size_t before = 0;
    for (size_t j = 0; j < out->rank; ++j) {
      before += firsts[j] < firsts[i];
    }
    out->axes[i] = (int64_t)before;
    out->from[before] = out->to[i];
  }
  return true;
}

static OrtStatus *transpose_on(const leati_shared_device *device, leat_stream *stream, const size_t *permutation,
                               size_t rank, const OrtValue *input, const OrtValue *output) {
  const leati_runtime *runtime = device->runtime;
  DLTensor from, to;
  transposition job;
  OrtStatus *status = view_of(device, input, &from);
  if (status == NULL) {
    status = view_of(device, output, &to);
  }
  if (status == NULL && ((size_t)from.ndim != rank || !join_dimensions(permutation, rank, from.shape, &job))) {
    status = leati_status(runtime, ORT_NOT_IMPLEMENTED, "a permutation of %zu dimensions", rank);
  }
  if (status != NULL) {
    return status;
  }
  from.ndim = to.ndim = (int32_t)job.rank;
  from.shape = job.from;
  to.shape = job.to;
  const leat_attribute perm = {
      .struct_size = sizeof(perm), .type = LEAT_ATTRIBUTE_INTS, .name = "perm", .count = job.rank, .ints = job.axes};
  const leat_value_info taken = {
      .struct_size = sizeof(taken), .ndim = from.ndim, .dtype = from.dtype, .shape = from.shape};
  const leat_op_desc desc = {.struct_size = sizeof(desc),
                             .since_version = 13,
                             .name = scan_operator,
                             .attribute_count = 1,
                             .input_count = 1,
                             .output_count = 1,
                             .attributes = (const leat_attribute *const[]){&perm},
                             .inputs = (const leat_value_info *const[]){&taken}};
  const leat_op_api *ops = runtime->leat->op;
  leat_device *opened = atomic_load_explicit(&device->opened, memory_order_acquire);
  leat_op *op = NULL;
  leat_error error = {.struct_size = sizeof(error)};
  int32_t code = ops->create(opened, &desc, &op, &error);
  if (code == LEAT_OK) {
    code = ops->invoke(op, stream, 1, (const DLTensor *const[]){&from}, 1, (const DLTensor *const[]){&to}, &error);
    ops->destroy(op, NULL);
  }
  return leati_status_from(runtime, code, &error, "the transposition");
}

static OrtStatus *ORT_API_CALL scan_transpose(OrtScanKernelHelper *base, const size_t *permutation, size_t rank,
                                              const OrtValue *input, OrtSyncStream *stream, OrtValue *output) {
  leati_shared_device *device = ((helper *)base)->device;
  const leati_runtime *runtime = device->runtime;
  OrtStatus *status = leati_ep_gate_enter_or_fail(runtime, transpose_label);
  if (status != NULL) {
    return status;
  }
  const leati_sync_stream *ours = leati_sync_stream_of(runtime, stream);
  leati_call_stream where = {0};
  status = leati_call_stream_begin(device, ours != NULL ? ours->handle : NULL, &where);
  if (status == NULL) {
    status = transpose_on(device, where.handle, permutation, rank, input, output);
  }
  status = leati_call_stream_leave(device, &where, transpose_label, status);
  leati_ep_gate_leave();
  return status;
}

/* ---- Making kernels -----------------------------------------------------------------------------------------------
 */

static void ORT_API_CALL loop_release(OrtLoopKernelHelper *base) {
  free((helper *)base);
}

static void ORT_API_CALL scan_release(OrtScanKernelHelper *base) {
  free((helper *)base);
}

/* A helper on the device of a kernel; NULL: out of memory. */
static helper *make_helper(const OrtEp *ep) {
  helper *made = calloc(1, sizeof(*made));
  if (made != NULL) {
    made->device = ((const leati_ep_head *)ep)->device;
  }
  return made;
}

static OrtStatus *create_loop(const leati_runtime *runtime, const OrtKernelInfo *info, helper *here,
                              OrtKernelImpl **out) {
  here->base.loop = (OrtLoopKernelHelper){
      .ort_version_supported = runtime->version, .Release = loop_release, .ConcatOutput = loop_concat_output};
  return runtime->ep->CreateLoopKernel(info, &here->base.loop, out);
}

static OrtStatus *create_scan(const leati_runtime *runtime, const OrtKernelInfo *info, helper *here,
                              OrtKernelImpl **out) {
  here->base.scan = (OrtScanKernelHelper){
      .ort_version_supported = runtime->version, .Release = scan_release, .Transpose = scan_transpose};
  return runtime->ep->CreateScanKernel(info, &here->base.scan, out);
}

OrtStatus *ORT_API_CALL leati_control_flow_create(void *state, const OrtKernelInfo *info, OrtKernelImpl **out) {
  const leati_kernel_source *source = state;
  const leati_runtime *runtime = source->runtime;
  const OrtEp *ep = NULL;
  if (source->info == &infos[IF]) {
    return runtime->ep->CreateIfKernel(info, out);
  }
  OrtStatus *status = runtime->ep->KernelInfo_GetEp(info, &ep);
  if (status != NULL) {
    return status;
  }
  helper *here = make_helper(ep);
  if (here == NULL) {
    return leati_status(runtime, ORT_FAIL, LEATI_PROVIDER_NAME ": out of memory for a kernel of %s",
                        source->info->name);
  }
  status = source->info == &infos[LOOP] ? create_loop(runtime, info, here, out) : create_scan(runtime, info, here, out);
  if (status != NULL) {
    free(here);
  }
  return status;
}

/* ---- Which nodes --------------------------------------------------------------------------------------------------
 */

/* Reads whether values are tensors of elements that the device can hold. ONNX Runtime compares no more than the first
 * of several with the list of types. */
static OrtStatus *are_held(const leati_runtime *runtime, const OrtValueInfo *const *values, size_t count, bool *out) {
  const OrtApi *ort = runtime->ort;
  OrtStatus *status = NULL;
  for (size_t i = 0; i < count && status == NULL && *out; ++i) {
    const char *name = NULL;
    const OrtTypeInfo *type = NULL;
    const OrtTensorTypeAndShapeInfo *tensor = NULL;
    ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
    DLDataType held;
    status = values[i] != NULL ? ort->GetValueInfoName(values[i], &name) : NULL;
    if (status != NULL || name == NULL || *name == '\0') {
      continue;
    }
    status = ort->GetValueInfoTypeInfo(values[i], &type);
    if (status == NULL && type != NULL) {
      status = ort->CastTypeInfoToTensorInfo(type, &tensor);
    }
    if (status == NULL && tensor != NULL) {
      status = ort->GetTensorElementType(tensor, &element);
    }
    *out = leati_element_type_to_dlpack(element, &held);
  }
  return status;
}

static OrtStatus *no_memory(const leati_runtime *runtime) {
  return leati_status(runtime, ORT_FAIL, LEATI_PROVIDER_NAME ": out of memory for what is in a body");
}

static OrtStatus *are_ends_held(const leati_runtime *runtime, const OrtNode *node, leati_scratch *scratch, bool *out) {
  const OrtApi *ort = runtime->ort;
  size_t input_count = 0, output_count = 0;
  OrtStatus *status = ort->Node_GetNumInputs(node, &input_count);
  if (status == NULL) {
    status = ort->Node_GetNumOutputs(node, &output_count);
  }
  const OrtValueInfo **values = leati_scratch_alloc(scratch, input_count + output_count, sizeof(*values));
  if (status == NULL) {
    status = values == NULL     ? no_memory(runtime)
             : input_count != 0 ? ort->Node_GetInputs(node, values, input_count)
                                : NULL;
  }
  if (status == NULL && output_count != 0) {
    status = ort->Node_GetOutputs(node, values + input_count, output_count);
  }
  return status != NULL ? status : are_held(runtime, values, input_count + output_count, out);
}

/* The same of what a body takes and gives; and finds whether one of its nodes was taken. */
static OrtStatus *look_into(const leati_runtime *runtime, const OrtGraph *body, leati_scratch *scratch, bool *held,
                            bool *taken) {
  const OrtApi *ort = runtime->ort;
  size_t count = 0, input_count = 0, output_count = 0;
  OrtStatus *status = ort->Graph_GetNumNodes(body, &count);
  if (status == NULL) {
    status = ort->Graph_GetNumInputs(body, &input_count);
  }
  if (status == NULL) {
    status = ort->Graph_GetNumOutputs(body, &output_count);
  }
  const OrtNode **nodes = leati_scratch_alloc(scratch, count, sizeof(*nodes));
  const OrtValueInfo **values = leati_scratch_alloc(scratch, input_count + output_count, sizeof(*values));
  if (status == NULL) {
    status = nodes == NULL || values == NULL ? no_memory(runtime)
             : count != 0                    ? ort->Graph_GetNodes(body, nodes, count)
                                             : NULL;
  }
  if (status == NULL && input_count != 0) {
    status = ort->Graph_GetInputs(body, values, input_count);
  }
  if (status == NULL && output_count != 0) {
    status = ort->Graph_GetOutputs(body, values + input_count, output_count);
  }
  if (status == NULL) {
    status = are_held(runtime, values, input_count + output_count, held);
  }
  for (size_t i = 0; i < count && status == NULL && !*taken; ++i) {
    const char *taken_by = NULL;
    status = ort->Node_GetEpName(nodes[i], &taken_by);
    *taken = taken_by != NULL && strcmp(taken_by, LEATI_PROVIDER_NAME) == 0;
  }
  return status;
}

OrtStatus *leati_control_flow_bodies(const leati_runtime *runtime, const OrtNode *node, leati_scratch *scratch,
                                     const OrtGraph ***out, size_t *out_count) {
  const OrtApi *ort = runtime->ort;
  OrtStatus *status = ort->Node_GetNumSubgraphs(node, out_count);
  *out = leati_scratch_alloc(scratch, *out_count, sizeof(**out));
  if (status == NULL && *out == NULL) {
    status = no_memory(runtime);
  }
  return status != NULL || *out_count == 0 ? status : ort->Node_GetSubgraphs(node, *out, *out_count, NULL);
}

OrtStatus *leati_control_flow_refusal(const leati_runtime *runtime, const OrtNode *node, const char **out) {
  leati_scratch scratch = {0};
  const OrtGraph **bodies = NULL;
  size_t count = 0;
  bool held = true, taken = false;
  OrtStatus *status = leati_control_flow_bodies(runtime, node, &scratch, &bodies, &count);
  if (status == NULL) {
    status = are_ends_held(runtime, node, &scratch, &held);
  }
  for (size_t i = 0; i < count && status == NULL; ++i) {
    status = look_into(runtime, bodies[i], &scratch, &held, &taken);
  }
  leati_scratch_clear(&scratch);
  *out = !held    ? "what it or a body of it takes or gives is no tensor of numbers"
         : !taken ? "no node of its bodies runs on Leat"
                  : NULL;
  return status;
}

/* The name of a body's first output, unless another one has it too. */
static OrtStatus *find_first(const leati_runtime *runtime, const OrtGraph *body, leati_scratch *scratch,
                             const char **out) {
  const OrtApi *ort = runtime->ort;
  size_t count = 0;
  OrtStatus *status = ort->Graph_GetNumOutputs(body, &count);
  const OrtValueInfo **values = leati_scratch_alloc(scratch, count, sizeof(*values));
  if (status != NULL || count == 0) {
    return status;
  }
  status = values != NULL ? ort->Graph_GetOutputs(body, values, count) : no_memory(runtime);
  for (size_t i = 0; i < count && status == NULL; ++i) {
    const char *name = NULL;
    status = ort->GetValueInfoName(values[i], &name);
    if (i == 0) {
      *out = name;
    } else if (*out != NULL && name != NULL && strcmp(*out, name) == 0) {
      *out = NULL;
    }
  }
  return status;
}

OrtStatus *leati_control_flow_find_condition(const leati_runtime *runtime, const OrtNode *parent, const OrtGraph *body,
                                             const char **out) {
  const char *type = NULL;
  leati_scratch scratch = {0};
  *out = NULL;
  OrtStatus *status = runtime->ort->Node_GetOperatorType(parent, &type);
  if (status == NULL && strcmp(type, infos[LOOP].name) == 0) {
    status = find_first(runtime, body, &scratch, out);
  }
  leati_scratch_clear(&scratch);
  return status;
}
