/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What ONNX Runtime shows of a device: the hardware device that it found, or one of our own, with facts for users.
 */
#ifndef LEAT_ONNXRUNTIME_HARDWARE_H_
#define LEAT_ONNXRUNTIME_HARDWARE_H_

#include "shared_device.h"

/** Key of an OrtEpDevice's metadata that says which device it is. */
#define LEATI_DEVICE_INDEX_KEY "leat_device_index"

/** Makes the OrtEpDevice: on the hardware device of ONNX Runtime that is the same card, or else on one of our own.
 * @threads one at a time
 * @param device [inout] the device
 * @param factory [in] the factory
 * @param hardware [inout] ONNX Runtime's hardware devices; the one that is used becomes NULL
 * @param hardware_count elements of `hardware`
 * @param out [out] the device, owned by ONNX Runtime once it is returned to it
 * @return NULL, or what went wrong */
OrtStatus *leati_hardware_describe(leati_shared_device *device, OrtEpFactory *factory,
                                   const OrtHardwareDevice **hardware, size_t hardware_count, OrtEpDevice **out);

#endif /* LEAT_ONNXRUNTIME_HARDWARE_H_ */
