/* SPDX-License-Identifier: BSD-3-Clause */
#include "description.h"

#include <string.h>

#include "element_type.h"
#include "value_view.h"

static OrtStatus *no_memory(const leati_runtime *runtime) {
  return leati_status(runtime, ORT_FAIL, "out of memory for the description of a node");
}

/* ---- Tensors ------------------------------------------------------------------------------------------------------
 */

/* Describes a tensor by what is known of its type; false: Leat has no words for it. */
static bool describe_type(leati_description *out, const leati_runtime *runtime, const OrtTypeInfo *type,
                          leat_value_info *value) {
  const OrtApi *ort = runtime->ort;
  const OrtTensorTypeAndShapeInfo *tensor = NULL;
  ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  if (!leati_status_drop(runtime, ort->CastTypeInfoToTensorInfo(type, &tensor)) || tensor == NULL ||
      !leati_status_drop(runtime, ort->GetTensorElementType(tensor, &element)) ||
      !leati_element_type_to_dlpack(element, &value->dtype)) {
    return false;
  }
  value->struct_size = sizeof(*value);
  value->ndim = -1;
  size_t rank = 0;
  if (!ort->TensorTypeAndShape_HasShape(tensor) ||
      !leati_status_drop(runtime, ort->GetDimensionsCount(tensor, &rank))) {
    return true;
  }
  int64_t *shape = leati_scratch_alloc(&out->scratch, rank, sizeof(*shape));
  if (shape == NULL || !leati_status_drop(runtime, ort->GetDimensions(tensor, shape, rank))) {
    return true;
  }
  value->ndim = (int32_t)rank;
  value->shape = shape;
  return true;
}

/* A view of a tensor on the host; NULL when it is no such thing. */
static const DLTensor *describe_value(leati_description *out, const leati_runtime *runtime, const OrtValue *value) {
  const OrtMemoryDevice *memory = runtime->ep->Value_GetMemoryDevice(value);
  DLTensor *view = leati_scratch_alloc(&out->scratch, 1, sizeof(*view));
  bool known;
  if (view == NULL || memory == NULL ||
      runtime->ep->MemoryDevice_GetDeviceType(memory) != OrtMemoryInfoDeviceType_CPU ||
      !leati_status_drop(runtime, leati_view_ort_value(runtime->ort, value, (DLDevice){kDLCPU, 0}, view, &known)) ||
      !known) {
    return NULL;
  }
  int64_t *shape = leati_scratch_alloc(&out->scratch, (size_t)view->ndim, sizeof(*shape));
  if (shape == NULL) {
    return NULL;
  }
  if (view->ndim != 0) {
    memcpy(shape, view->shape, (size_t)view->ndim * sizeof(*shape));
  }
  view->shape = shape;
  return view;
}

static bool is_host_input(const leat_op_info *info, size_t index) {
  return index < 64 && (info->host_inputs >> index & 1) != 0;
}

/* ---- Attributes ---------------------------------------------------------------------------------------------------
 */

/* Where attributes come from: one of the two is set. */
typedef struct source {
  const OrtNode *node;
  const OrtKernelInfo *kernel;
} source;

/* Each of these reads one attribute; false: the node does not have it. */

static bool read_int(const leati_runtime *runtime, source from, const OrtOpAttr *handle, leat_attribute *out) {
  size_t size = 0;
  return leati_status_drop(
      runtime, from.kernel != NULL ? runtime->ort->KernelInfoGetAttribute_int64(from.kernel, out->name, &out->i)
                                   : runtime->ort->ReadOpAttr(handle, ORT_OP_ATTR_INT, &out->i, sizeof(out->i), &size));
}

static bool read_float(const leati_runtime *runtime, source from, const OrtOpAttr *handle, leat_attribute *out) {
  size_t size = 0;
  return leati_status_drop(runtime,
                           from.kernel != NULL
                               ? runtime->ort->KernelInfoGetAttribute_float(from.kernel, out->name, &out->f)
                               : runtime->ort->ReadOpAttr(handle, ORT_OP_ATTR_FLOAT, &out->f, sizeof(out->f), &size));
}

/* Reads what has a length: first the length, then the contents. Graph attributes give bytes; kernel attributes give
 * elements. */
static bool read_array(const leati_runtime *runtime, source from, const OrtOpAttr *handle, OrtOpAttrType type,
                       size_t element_size, leati_scratch *scratch, const char *name, void **out, size_t *out_count) {
  const OrtApi *ort = runtime->ort;
  size_t size = 0;
  if (from.kernel != NULL) {
    for (unsigned pass = 0; pass < 2; ++pass) {
      void *data = pass == 0 ? NULL : *out;
      OrtStatus *status =
          type == ORT_OP_ATTR_INTS     ? ort->KernelInfoGetAttributeArray_int64(from.kernel, name, data, &size)
          : type == ORT_OP_ATTR_FLOATS ? ort->KernelInfoGetAttributeArray_float(from.kernel, name, data, &size)
                                       : ort->KernelInfoGetAttribute_string(from.kernel, name, data, &size);
      if (!leati_status_drop(runtime, status)) {
        return false;
      }
      if (pass == 0) {
        *out = leati_scratch_alloc(scratch, size, element_size);
        if (*out == NULL || size == 0) {
          *out_count = 0;
          return *out != NULL;
        }
      }
    }
    *out_count = size;
    return true;
  }
  /* Asked with no room, this fails unless the list is empty, and says how much room is needed. */
  leati_status_drop(runtime, ort->ReadOpAttr(handle, type, NULL, 0, &size));
  *out = leati_scratch_alloc(scratch, size, 1);
  *out_count = size / element_size;
  return *out != NULL && (size == 0 || leati_status_drop(runtime, ort->ReadOpAttr(handle, type, *out, size, &size)));
}

/* Lists strings that lie one behind the other, each with a zero at its end. */
static bool list_strings(leati_scratch *scratch, const char *bytes, size_t size, leat_attribute *out) {
  size_t count = 0;
  for (size_t i = 0; i < size; ++i) {
    count += bytes[i] == '\0';
  }
  const char **strings = leati_scratch_alloc(scratch, count, sizeof(*strings));
  uint64_t *lengths = leati_scratch_alloc(scratch, count, sizeof(*lengths));
  for (size_t i = 0; i < count && strings != NULL && lengths != NULL; ++i) {
    strings[i] = bytes;
    lengths[i] = strlen(bytes);
    bytes += lengths[i] + 1;
  }
  out->strings = strings;
  out->lengths = lengths;
  out->count = count;
  return strings != NULL && lengths != NULL;
}

static bool read_strings(leati_scratch *scratch, const leati_runtime *runtime, source from, const OrtOpAttr *handle,
                         leat_attribute *out) {
  const OrtApi *ort = runtime->ort;
  if (from.kernel == NULL) {
    void *bytes = NULL;
    size_t size = 0;
    return read_array(runtime, from, handle, ORT_OP_ATTR_STRINGS, 1, scratch, out->name, &bytes, &size) &&
           list_strings(scratch, bytes, size, out);
  }
#if ORT_API_VERSION >= 25
  OrtAllocator *allocator = NULL;
  char **strings = NULL;
  size_t count = 0;
  if (!leati_status_drop(runtime, ort->GetAllocatorWithDefaultOptions(&allocator)) ||
      !leati_status_drop(
          runtime, ort->KernelInfoGetAttributeArray_string(from.kernel, out->name, allocator, &strings, &count))) {
    return false;
  }
  size_t size = 0;
  for (size_t i = 0; i < count; ++i) {
    size += strlen(strings[i]) + 1;
  }
  char *bytes = leati_scratch_alloc(scratch, size, 1), *at = bytes;
  for (size_t i = 0; i < count; ++i) {
    if (bytes != NULL) {
      at = stpcpy(at, strings[i]) + 1;
    }
    leati_status_drop(runtime, ort->AllocatorFree(allocator, strings[i]));
  }
  leati_status_drop(runtime, strings != NULL ? ort->AllocatorFree(allocator, strings) : NULL);
  return bytes != NULL && list_strings(scratch, bytes, size, out);
#else
  return false;
#endif
}

/* Whether lists of strings can be read from a kernel. */
static bool kernels_tell_strings(const leati_runtime *runtime) {
  return ORT_API_VERSION >= 25 && runtime->version >= 25;
}

static bool read_tensor(leati_description *description, const leati_runtime *runtime, source from,
                        const OrtOpAttr *handle, leat_attribute *out) {
  OrtAllocator *allocator = NULL;
  OrtValue *value = NULL;
  OrtStatus *status = NULL;
  if (from.kernel != NULL) {
    status = runtime->ort->GetAllocatorWithDefaultOptions(&allocator);
    if (status == NULL) {
      status = runtime->ort->KernelInfoGetAttribute_tensor(from.kernel, out->name, allocator, &value);
    }
  } else {
    status = runtime->ort->OpAttr_GetTensorAttributeAsOrtValue(handle, &value);
  }
  if (!leati_status_drop(runtime, status) || value == NULL) {
    return false;
  }
  description->values[description->value_count++] = value;
  out->tensor = describe_value(description, runtime, value);
  return out->tensor != NULL;
}

static bool read_attribute(leati_description *description, const leati_runtime *runtime, source from,
                           leat_attribute *out) {
  const OrtOpAttr *handle = NULL;
  if (from.node != NULL &&
      (!leati_status_drop(runtime, runtime->ort->Node_GetAttributeByName(from.node, out->name, &handle)) ||
       handle == NULL)) {
    return false;
  }
  leati_scratch *scratch = &description->scratch;
  void *data = NULL;
  size_t count = 0;
  bool found = false;
  switch (out->type) {
    case LEAT_ATTRIBUTE_INT:
      return read_int(runtime, from, handle, out);
    case LEAT_ATTRIBUTE_FLOAT:
      return read_float(runtime, from, handle, out);
    case LEAT_ATTRIBUTE_TENSOR:
      return read_tensor(description, runtime, from, handle, out);
    case LEAT_ATTRIBUTE_INTS:
      found = read_array(runtime, from, handle, ORT_OP_ATTR_INTS, sizeof(int64_t), scratch, out->name, &data, &count);
      out->ints = data;
      break;
    case LEAT_ATTRIBUTE_FLOATS:
      found = read_array(runtime, from, handle, ORT_OP_ATTR_FLOATS, sizeof(float), scratch, out->name, &data, &count);
      out->floats = data;
      break;
    case LEAT_ATTRIBUTE_STRING:
      found = read_array(runtime, from, handle, ORT_OP_ATTR_STRING, 1, scratch, out->name, &data, &count);
      /* Of a kernel, ONNX Runtime counts the end of the string too. */
      count -= found && count != 0 && ((const char *)data)[count - 1] == '\0';
      out->string = data;
      break;
    case LEAT_ATTRIBUTE_STRINGS:
      return read_strings(scratch, runtime, from, handle, out);
    default:
      break;
  }
  out->count = count;
  return found;
}

static OrtStatus *describe_attributes(leati_description *out, const leati_runtime *runtime, source from,
                                      const leat_op_info *info) {
  leat_attribute *attributes = leati_scratch_alloc(&out->scratch, info->attribute_count, sizeof(*attributes));
  const leat_attribute **list = leati_scratch_alloc(&out->scratch, info->attribute_count, sizeof(*list));
  out->values = leati_scratch_alloc(&out->scratch, info->attribute_count, sizeof(*out->values));
  if (attributes == NULL || list == NULL || out->values == NULL) {
    return no_memory(runtime);
  }
  for (uint32_t i = 0; i < info->attribute_count; ++i) {
    if (info->attributes[i]->type == LEAT_ATTRIBUTE_STRINGS && from.kernel != NULL && !kernels_tell_strings(runtime)) {
      return leati_status(runtime, ORT_NOT_IMPLEMENTED,
                          "attribute '%s' of %s can be read from ONNX Runtime 1.25 on where nodes run one by one",
                          info->attributes[i]->name, info->name);
    }
    leat_attribute *attribute = &attributes[out->op.attribute_count];
    *attribute = (leat_attribute){
        .struct_size = sizeof(*attribute), .type = info->attributes[i]->type, .name = info->attributes[i]->name};
    if (read_attribute(out, runtime, from, attribute)) {
      list[out->op.attribute_count++] = attribute;
    }
  }
  out->op.attributes = list;
  return NULL;
}

/* ---- Both kinds of nodes ------------------------------------------------------------------------------------------
 */

/* Sets what the operator list knows, and makes room for the inputs. */
static OrtStatus *begin(leati_description *out, const leati_runtime *runtime, const leat_op_info *info, int since,
                        size_t input_count, size_t output_count, leat_value_info **out_inputs) {
  leat_value_info *inputs = leati_scratch_alloc(&out->scratch, input_count, sizeof(*inputs));
  const leat_value_info **list = leati_scratch_alloc(&out->scratch, input_count, sizeof(*list));
  if (inputs == NULL || list == NULL) {
    return no_memory(runtime);
  }
  out->op.struct_size = sizeof(out->op);
  out->op.since_version = (uint32_t)since;
  out->op.name = info->name;
  out->op.domain = info->domain;
  out->op.input_count = (uint32_t)input_count;
  out->op.output_count = (uint32_t)output_count;
  out->op.inputs = list;
  *out_inputs = inputs;
  return NULL;
}

/* Lists input `index` as present. */
static void list_input(leati_description *out, size_t index, const leat_value_info *value) {
  /* The list is ours; only the backend's view of it is constant. */
  ((const leat_value_info **)out->op.inputs)[index] = value;
}

/* ---- Nodes of a graph ---------------------------------------------------------------------------------------------
 */

OrtStatus *leati_description_of_value(leati_description *out, const leati_runtime *runtime, const OrtValueInfo *from,
                                      bool constants, leat_value_info *to, bool *out_present, bool *out_sayable) {
  const OrtApi *ort = runtime->ort;
  const char *name = NULL;
  *out_present = false;
  if (from == NULL) {
    return NULL;
  }
  OrtStatus *status = ort->GetValueInfoName(from, &name);
  if (status != NULL || name == NULL || *name == '\0') {
    return status;
  }
  *out_present = true;
  const OrtTypeInfo *type = NULL;
  status = ort->GetValueInfoTypeInfo(from, &type);
  if (status != NULL) {
    return status;
  }
  if (type == NULL || !describe_type(out, runtime, type, to)) {
    *out_sayable = false;
    return NULL;
  }
  bool constant = false;
  const OrtValue *value = NULL;
  if (constants && leati_status_drop(runtime, ort->ValueInfo_IsConstantInitializer(from, &constant)) && constant &&
      leati_status_drop(runtime, ort->ValueInfo_GetInitializerValue(from, &value)) && value != NULL) {
    to->value = describe_value(out, runtime, value);
  }
  return NULL;
}

OrtStatus *leati_description_of_node(leati_description *out, const leati_runtime *runtime, const OrtNode *node,
                                     const leat_op_info *info, bool *out_sayable) {
  const OrtApi *ort = runtime->ort;
  size_t input_count = 0;
  size_t output_count = 0;
  int since = 0;
  *out_sayable = true;
  OrtStatus *status = ort->Node_GetNumInputs(node, &input_count);
  if (status == NULL) {
    status = ort->Node_GetNumOutputs(node, &output_count);
  }
  if (status == NULL) {
    status = ort->Node_GetSinceVersion(node, &since);
  }
  leat_value_info *inputs = NULL;
  if (status == NULL) {
    status = begin(out, runtime, info, since, input_count, output_count, &inputs);
  }
  if (status != NULL) {
    return status;
  }
  const OrtValueInfo **values = leati_scratch_alloc(&out->scratch, input_count, sizeof(*values));
  if (values == NULL) {
    return no_memory(runtime);
  }
  status = input_count != 0 ? ort->Node_GetInputs(node, values, input_count) : NULL;
  for (size_t i = 0; i < input_count && status == NULL; ++i) {
    bool present = false;
    status =
        leati_description_of_value(out, runtime, values[i], is_host_input(info, i), &inputs[i], &present, out_sayable);
    if (present) {
      list_input(out, i, &inputs[i]);
    }
  }
  return status != NULL ? status : describe_attributes(out, runtime, (source){.node = node}, info);
}

OrtStatus *leati_description_of_attributes(leati_description *out, const leati_runtime *runtime, const OrtNode *node,
                                           const leat_op_info *info) {
  return describe_attributes(out, runtime, (source){.node = node}, info);
}

/* ---- Kernels ------------------------------------------------------------------------------------------------------
 */

/* Whether input `index` is there: an absent optional one has an empty name. */
static OrtStatus *kernel_input_present(const leati_runtime *runtime, const OrtKernelInfo *kernel, size_t index,
                                       bool *out) {
  size_t size = 0;
  OrtStatus *status = runtime->ort->KernelInfo_GetInputName(kernel, index, NULL, &size);
  *out = size > 1;
  return status;
}

static OrtStatus *describe_kernel_input(leati_description *out, const leati_runtime *runtime,
                                        const OrtKernelInfo *kernel, size_t index, bool host, leat_value_info *to,
                                        bool *present) {
  const OrtApi *ort = runtime->ort;
  OrtStatus *status = kernel_input_present(runtime, kernel, index, present);
  if (status != NULL || !*present) {
    return status;
  }
  OrtTypeInfo *type = NULL;
  status = ort->KernelInfo_GetInputTypeInfo(kernel, index, &type);
  if (status != NULL) {
    return status;
  }
  bool sayable = describe_type(out, runtime, type, to);
  ort->ReleaseTypeInfo(type);
  if (!sayable) {
    return leati_status(runtime, ORT_NOT_IMPLEMENTED, "input %zu is no tensor that Leat knows", index);
  }
  int constant = 0;
  const OrtValue *value = NULL;
  if (host && leati_status_drop(runtime, ort->KernelInfoGetConstantInput_tensor(kernel, index, &constant, &value)) &&
      constant != 0 && value != NULL) {
    to->value = describe_value(out, runtime, value);
  }
  return NULL;
}

OrtStatus *leati_description_of_kernel(leati_description *out, const leati_runtime *runtime,
                                       const OrtKernelInfo *kernel, const leat_op_info *info) {
  const OrtApi *ort = runtime->ort;
  size_t input_count = 0;
  size_t output_count = 0;
  int since = 0;
  OrtStatus *status = ort->KernelInfo_GetInputCount(kernel, &input_count);
  if (status == NULL) {
    status = ort->KernelInfo_GetOutputCount(kernel, &output_count);
  }
  if (status == NULL) {
    status = ort->KernelInfo_GetOperatorSinceVersion(kernel, &since);
  }
  leat_value_info *inputs = NULL;
  if (status == NULL) {
    status = begin(out, runtime, info, since, input_count, output_count, &inputs);
  }
  for (size_t i = 0; i < input_count && status == NULL; ++i) {
    bool present = false;
    status = describe_kernel_input(out, runtime, kernel, i, is_host_input(info, i), &inputs[i], &present);
    if (present) {
      list_input(out, i, &inputs[i]);
    }
  }
  return status != NULL ? status : describe_attributes(out, runtime, (source){.kernel = kernel}, info);
}

void leati_description_clear(leati_description *description, const leati_runtime *runtime) {
  for (uint32_t i = 0; i < description->value_count; ++i) {
    runtime->ort->ReleaseValue(description->values[i]);
  }
  leati_scratch_clear(&description->scratch);
  *description = (leati_description){0};
}
