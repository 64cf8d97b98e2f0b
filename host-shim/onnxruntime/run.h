/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What a thread does between OnRunStart and OnRunEnd: which streams it puts work into, because OnRunEnd is not told,
 * and in which order.
 *
 * Whatever ONNX Runtime hands to a node was ordered after what wrote it. Between nodes ONNX Runtime sees to that, by
 * notifications. But it copies the inputs of a Run, and those of a body of If, Loop or Scan, on the first stream that
 * fits of that graph's own, and nobody is notified of such a copy; a node elsewhere, in another body say, may run on
 * another stream. So inside of a Run each stream comes after the one that its thread used before. Threads that call
 * nodes outside of any Run of theirs (the workers of ORT_PARALLEL) cannot know what came before; they wait for the
 * device (call_stream.h).
 */
#ifndef LEAT_ONNXRUNTIME_RUN_H_
#define LEAT_ONNXRUNTIME_RUN_H_

#include "shared_device.h"

/** Begins a Run on this thread: takes a place in the pool, unless the backend has none. One inside another is legal (an
 * operator that runs a session) and, on the same device, shares the outer one's place.
 * @threads any, inside of the gate, which a thread that has to wait leaves meanwhile
 * @param device [inout] the device, which is opened if need be
 * @param timeout_ms milliseconds to wait for a place; 0: not at all; -1: for ever; LEAT_POOL_TIMEOUT_CONFIGURED
 * @param has_bodies whether some of the session's nodes are in bodies of If, Loop or Scan. What those give is read on
 *   the host without any wait
 * @param err [out] what went wrong
 * @return LEAT_OK; LEAT_ERROR_EXHAUSTED: no place came free in time; or the code of another failure. leati_run_end()
 * must follow on LEAT_OK only */
int32_t leati_run_begin(leati_shared_device *device, int64_t timeout_ms, bool has_bodies, leat_error *err);

/** Lets a stream come after what this thread put into another one of the device in its Run, and after what was copied
 * outside of Runs on streams of applications. Does nothing outside of a Run.
 * @threads any
 * @param device [inout] the device
 * @param stream [in] the stream, which this thread is about to put work into
 * @param out_inside [out] whether this thread is in a Run
 * @return NULL, or what went wrong */
OrtStatus *leati_run_order(leati_shared_device *device, leat_stream *stream, bool *out_inside);

/** leati_run_order(), and the end of the Run sees to the stream. Does nothing outside of a Run: what writes to the host
 * must then be waited for at once, because nobody else does before that memory goes.
 * @threads any
 * @param device [inout] the device
 * @param stream [in] the stream
 * @param to_host whether the work writes memory of the host
 * @param out_inside [out] whether this thread is in a Run
 * @return NULL, or what went wrong; the stream is noted then too */
OrtStatus *leati_run_note(leati_shared_device *device, leat_stream *stream, bool to_host, bool *out_inside);

/** Whether this thread is in a Run of a session whose bodies of If, Loop or Scan have nodes on Leat: copies to the host
 * must have arrived when they return.
 * @threads any */
bool leati_run_has_bodies(void);

/** Forgets a stream that is going away, of which this Run may have noted work: that is waited for, since what comes
 * next can no longer be ordered after it.
 * @threads any
 * @param stream [in] the stream */
void leati_run_forget(leat_stream *stream);

/** Ends a Run on this thread: flushes the noted streams, or waits for them, leaves no error behind in them, and gives
 * the place back with the outermost Run on the device.
 * @threads any
 * @param device [in] what leati_run_begin() was given
 * @param wait true: wait for all of them; false: only for those that write memory of the host, which its owner may free
 * from now on, submit the others, and let what is put into any of them later come after all of them
 * @return the first failure of a stream's work */
OrtStatus *leati_run_end(leati_shared_device *device, bool wait);

#endif /* LEAT_ONNXRUNTIME_RUN_H_ */
