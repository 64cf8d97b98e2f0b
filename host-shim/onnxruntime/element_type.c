/* SPDX-License-Identifier: BSD-3-Clause */
#include "element_type.h"

/* One row for each LEAT_TYPE_* bit, in the order of the bits. */
static const struct {
  ONNXTensorElementDataType type;
  DLDataType dtype;
} elements[] = {
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, {kDLFloat, 32, 1}},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16, {kDLFloat, 16, 1}},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16, {kDLBfloat, 16, 1}},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE, {kDLFloat, 64, 1}},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8, {kDLInt, 8, 1}},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16, {kDLInt, 16, 1}},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32, {kDLInt, 32, 1}},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, {kDLInt, 64, 1}},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8, {kDLUInt, 8, 1}},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16, {kDLUInt, 16, 1}},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32, {kDLUInt, 32, 1}},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64, {kDLUInt, 64, 1}},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL, {LEAT_DL_BOOL, 8, 1}},
};

#define ELEMENT_COUNT (sizeof(elements) / sizeof(elements[0]))

_Static_assert(LEAT_TYPE_BOOL == UINT64_C(1) << (ELEMENT_COUNT - 1), "the table has one row for each LEAT_TYPE_* bit");

bool leati_element_type_to_dlpack(ONNXTensorElementDataType type, DLDataType *out) {
  for (unsigned i = 0; i < ELEMENT_COUNT; i++) {
    if (elements[i].type == type) {
      *out = elements[i].dtype;
      return true;
    }
  }
  return false;
}

ONNXTensorElementDataType leati_element_type_of_bit(unsigned bit) {
  return bit < ELEMENT_COUNT ? elements[bit].type : ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
}
