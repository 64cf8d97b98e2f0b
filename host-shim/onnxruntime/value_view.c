/* SPDX-License-Identifier: BSD-3-Clause */
#include "value_view.h"

#include "element_type.h"

OrtStatus *leati_view_ort_value(const OrtApi *ort, const OrtValue *value, DLDevice device, DLTensor *out,
                                bool *out_known) {
  ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  const int64_t *dims = NULL;
  size_t rank = 0;
  const void *data = NULL;
  OrtStatus *status = ort->GetTensorElementTypeAndShapeDataReference(value, &element, &dims, &rank);
  if (status == NULL) {
    status = ort->GetTensorData(value, &data);
  }
  *out = (DLTensor){
      .data = (void *)(uintptr_t)data,
      .device = device,
      .ndim = (int32_t)rank,
      .shape = (int64_t *)(uintptr_t)dims,
  };
  *out_known = status == NULL && leati_element_type_to_dlpack(element, &out->dtype);
  return status;
}
