/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Tensors of ONNX Runtime as the backend sees them.
 */
#ifndef LEAT_ONNXRUNTIME_VALUE_VIEW_H_
#define LEAT_ONNXRUNTIME_VALUE_VIEW_H_

#include <leat/backend.h>
#include <onnxruntime_c_api.h>
#include <stdbool.h>

/** Fills in a view of a tensor.
 * @threads any
 * @param value [in] a tensor, which must outlive the view: shape and elements stay its own
 * @param device where its elements are
 * @param out [out] the view. DLPack has no word for constant: of inputs the backend only reads shape and elements.
 * @param out_known [out] false: its elements are of a type that Leat does not know
 * @errors those of ONNX Runtime */
OrtStatus *leati_view_ort_value(const OrtApi *ort, const OrtValue *value, DLDevice device, DLTensor *out,
                                bool *out_known);

#endif /* LEAT_ONNXRUNTIME_VALUE_VIEW_H_ */
