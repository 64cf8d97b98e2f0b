/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Streams for ONNX Runtime. It makes one per thread and session, on threads of its choice, and a server that starts a
 * thread per request makes one per request; so streams come from a list of idle ones, kept per device.
 */
#ifndef LEAT_ONNXRUNTIME_STREAM_H_
#define LEAT_ONNXRUNTIME_STREAM_H_

#include "device.h"

/** A stream. Its handle for ONNX Runtime (SyncStream_GetHandle, KernelContext_GetGPUComputeStream) is `handle`. */
typedef struct leati_stream {
  OrtSyncStreamImpl base;    /**< what ONNX Runtime calls; immutable */
  leati_device *device;      /**< immutable */
  leat_stream *handle;       /**< immutable */
  struct leati_stream *next; /**< in the device's list of idle streams; guarded by its lock */
} leati_stream;

/** Gives a stream that nobody else uses, without an error in it.
 * @threads any
 * @param device [inout] the device, which is opened if need be
 * @param out [out] the stream; return it with leati_stream_release()
 * @param err [out] what went wrong
 * @return LEAT_OK or the code of the failure */
int32_t leati_stream_acquire(leati_device *device, leati_stream **out, leat_error *err);

/** Puts a stream back. What is in it is submitted and still runs, but for the downloads of this thread's Run, which
 * have arrived; whoever gets the stream next comes after it.
 * @threads any
 * @param stream [owned] the stream */
void leati_stream_release(leati_stream *stream);

/** Destroys the device's idle streams.
 * @threads owner
 * @param device [inout] the device */
void leati_stream_free_idle(leati_device *device);

/** Gives our stream behind one of ONNX Runtime's.
 * @threads any
 * @param runtime [in] the tables
 * @param stream [in] a stream of any provider in a library, a placeholder of ONNX Runtime's, or NULL
 * @return our stream, or NULL: it is another provider's, or there is none */
const leati_stream *leati_stream_of(const leati_runtime *runtime, OrtSyncStream *stream);

#endif /* LEAT_ONNXRUNTIME_STREAM_H_ */
