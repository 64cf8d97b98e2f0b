/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * ONNX Runtime's importer of external resources: memory and timeline semaphores of Vulkan, as tensors and in streams.
 */
#ifndef LEAT_ONNXRUNTIME_IMPORTER_H_
#define LEAT_ONNXRUNTIME_IMPORTER_H_

#include "shared_device.h"

/** Makes the importer of a device.
 * @threads any, inside of the gate
 * @param device [inout] the device, which must outlive the importer; it is opened at the first question
 * @param ep_device [in] what ONNX Runtime calls the device
 * @param out [out] what ONNX Runtime calls and releases
 * @return NULL, or what went wrong */
OrtStatus *leati_importer_create(leati_shared_device *device, const OrtEpDevice *ep_device,
                                 OrtExternalResourceImporterImpl **out);

#endif /* LEAT_ONNXRUNTIME_IMPORTER_H_ */
