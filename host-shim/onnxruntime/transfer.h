/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Copies between host and device memory, and between devices. All of them are copies of bytes: the element type does
 * not matter, except that strings are no bytes.
 */
#ifndef LEAT_ONNXRUNTIME_TRANSFER_H_
#define LEAT_ONNXRUNTIME_TRANSFER_H_

#include "shared_device.h"

/** Makes the object that ONNX Runtime asks for copies outside of kernels.
 * @threads any
 * @param devices [in] the devices, which must outlive it
 * @param device_count elements of `devices`
 * @param runtime [in] the tables
 * @param out [out] the object; ONNX Runtime releases it
 * @return NULL, or what went wrong */
OrtStatus *leati_transfer_create(leati_shared_device *devices, uint32_t device_count, const leati_runtime *runtime,
                                 OrtDataTransferImpl **out);

/** Puts a copy of a tensor into a stream: from the host to the stream's device, or back.
 * @threads any
 * @param device [in] the device
 * @param stream [in] a stream of it
 * @param src [in] the source; on the host, it has been read when this returns
 * @param dst [in] the destination, as large as the source; on the host, it holds the bytes after a wait for the stream
 * @param to_host which way
 * @return NULL, or what went wrong */
OrtStatus *leati_transfer_value(leati_shared_device *device, leat_stream *stream, const OrtValue *src, OrtValue *dst,
                                bool to_host);

/** Puts a copy of a tensor of the device into a stream, to another place on the device.
 * @threads any
 * @param device [in] the device
 * @param stream [in] a stream of it
 * @param src [in] the source
 * @param dst [in] address of the destination
 * @param size bytes of the source
 * @return NULL, or what went wrong */
OrtStatus *leati_transfer_within(leati_shared_device *device, leat_stream *stream, const OrtValue *src, void *dst,
                                 size_t size);

#endif /* LEAT_ONNXRUNTIME_TRANSFER_H_ */
