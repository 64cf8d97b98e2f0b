/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Where the work of a node goes: ONNX Runtime's stream, or one that the device lends for the call if it has none.
 */
#ifndef LEAT_ONNXRUNTIME_CALL_STREAM_H_
#define LEAT_ONNXRUNTIME_CALL_STREAM_H_

#include "shared_device.h"

/** The stream of one call. */
typedef struct leati_call_stream {
  leat_stream *handle; /**< the stream */
  bool borrowed;       /**< of the device: to be released */
  bool waits;          /**< who leaves waits for the work: nobody else would, or knows what comes after it */
} leati_call_stream;

/** Begins a call: finds its stream, and lets it come after what this thread's Run has put into others (run.h). A thread
 * without a Run, a worker of ORT_PARALLEL, waits for the device instead, and for its own work when it leaves.
 * @threads any
 * @param device [inout] the device that the node runs on
 * @param context [in] the call
 * @param out [out] the stream; leati_call_stream_leave() must follow, also on failure
 * @return NULL, or what went wrong */
OrtStatus *leati_call_stream_find(leati_shared_device *device, OrtKernelContext *context, leati_call_stream *out);

/** leati_call_stream_find() for a call that has no context.
 * @threads any
 * @param device [inout] the device that the work is for
 * @param given [in] ONNX Runtime's stream of that device, or NULL: it has none
 * @param out [out] the stream; leati_call_stream_leave() must follow, also on failure
 * @return NULL, or what went wrong */
OrtStatus *leati_call_stream_begin(leati_shared_device *device, leat_stream *given, leati_call_stream *out);

/** Ends a call, and puts the node before the message of its failure. After a failure ONNX Runtime frees the buffers of
 * the Run at once: nothing may be on its way into them, and the stream's next owner starts clean.
 * @threads any
 * @param device [inout] the device
 * @param where [in] the stream
 * @param label [in] the node, for messages
 * @param status [owned] what the call came to, or NULL
 * @return NULL, or what went wrong, in the call or in its work */
OrtStatus *leati_call_stream_leave(leati_shared_device *device, const leati_call_stream *where, const char *label,
                                   OrtStatus *status);

#endif /* LEAT_ONNXRUNTIME_CALL_STREAM_H_ */
