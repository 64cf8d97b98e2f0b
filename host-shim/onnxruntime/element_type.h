/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Element types: ONNX Runtime's numbers, DLPack's, and the backend's bits for them.
 */
#ifndef LEAT_ONNXRUNTIME_ELEMENT_TYPE_H_
#define LEAT_ONNXRUNTIME_ELEMENT_TYPE_H_

#include <leat/backend.h>
#include <onnxruntime_c_api.h>
#include <stdbool.h>

/** Gives DLPack's name of an element type.
 * @threads any
 * @param type ONNX Runtime's number
 * @param out [out] the type, of one lane
 * @return false when DLPack as Leat uses it has none (strings, and types of less than a byte) */
bool leati_element_type_to_dlpack(ONNXTensorElementDataType type, DLDataType *out);

/** Gives the element type of one LEAT_TYPE_* bit.
 * @threads any
 * @param bit number of the bit
 * @return ONNX Runtime's number, or ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED for a bit that is not known */
ONNXTensorElementDataType leati_element_type_of_bit(unsigned bit);

#endif /* LEAT_ONNXRUNTIME_ELEMENT_TYPE_H_ */
