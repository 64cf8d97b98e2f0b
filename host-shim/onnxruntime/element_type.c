/* SPDX-License-Identifier: BSD-3-Clause */
#include "element_type.h"

/* The types that are handed to a backend. */
static const struct {
  uint64_t bit; /* LEAT_TYPE_* */
  ONNXTensorElementDataType type;
  DLDataType dtype;
} elements[] = {
    {LEAT_TYPE_FLOAT32, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, {kDLFloat, 32, 1}},
    {LEAT_TYPE_FLOAT16, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16, {kDLFloat, 16, 1}},
    {LEAT_TYPE_BFLOAT16, ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16, {kDLBfloat, 16, 1}},
    {LEAT_TYPE_FLOAT64, ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE, {kDLFloat, 64, 1}},
    {LEAT_TYPE_INT8, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8, {kDLInt, 8, 1}},
    {LEAT_TYPE_INT16, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16, {kDLInt, 16, 1}},
    {LEAT_TYPE_INT32, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32, {kDLInt, 32, 1}},
    {LEAT_TYPE_INT64, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, {kDLInt, 64, 1}},
    {LEAT_TYPE_UINT8, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8, {kDLUInt, 8, 1}},
    {LEAT_TYPE_UINT16, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16, {kDLUInt, 16, 1}},
    {LEAT_TYPE_UINT32, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32, {kDLUInt, 32, 1}},
    {LEAT_TYPE_UINT64, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64, {kDLUInt, 64, 1}},
    {LEAT_TYPE_BOOL, ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL, {LEAT_DL_BOOL, 8, 1}},
};

#define ELEMENT_COUNT (sizeof(elements) / sizeof(elements[0]))

bool leati_element_type_to_dlpack(ONNXTensorElementDataType type, DLDataType *out) {
  for (unsigned i = 0; i < ELEMENT_COUNT; ++i) {
    if (elements[i].type == type) {
      *out = elements[i].dtype;
      return true;
    }
  }
  return false;
}

ONNXTensorElementDataType leati_element_type_of_bit(unsigned bit) {
  for (unsigned i = 0; i < ELEMENT_COUNT && bit < 64; ++i) {
    if (elements[i].bit == UINT64_C(1) << bit) {
      return elements[i].type;
    }
  }
  return ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
}
