/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Streams as ONNX Runtime sees them, and the notifications that it waits for in them.
 */
#ifndef LEAT_ONNXRUNTIME_SYNC_STREAM_H_
#define LEAT_ONNXRUNTIME_SYNC_STREAM_H_

#include "shared_device.h"

/** A stream of ONNX Runtime's. Its handle (SyncStream_GetHandle, KernelContext_GetGPUComputeStream) is `handle`. */
typedef struct leati_sync_stream {
  OrtSyncStreamImpl base;      /**< what ONNX Runtime calls; immutable */
  leati_shared_device *device; /**< immutable */
  leat_stream *handle;         /**< immutable; lent by the device */
} leati_sync_stream;

/** Makes a stream.
 * @threads any
 * @param device [inout] the device, which is opened if need be
 * @param out [out] the stream, which ONNX Runtime releases: what is in it then still runs, but for the downloads of the
 * releasing thread's Run, which have arrived
 * @return NULL, or what went wrong */
OrtStatus *leati_sync_stream_create(leati_shared_device *device, OrtSyncStreamImpl **out);

/** Gives our stream behind one of ONNX Runtime's.
 * @threads any
 * @param runtime [in] the tables
 * @param stream [in] a stream of any provider in a library, a placeholder of ONNX Runtime's, or NULL
 * @return our stream, or NULL: it is another provider's, or there is none */
const leati_sync_stream *leati_sync_stream_of(const leati_runtime *runtime, OrtSyncStream *stream);

#endif /* LEAT_ONNXRUNTIME_SYNC_STREAM_H_ */
