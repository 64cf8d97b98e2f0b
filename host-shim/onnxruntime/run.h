/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What a thread does between OnRunStart and OnRunEnd: which streams it puts work into, because OnRunEnd is not told.
 */
#ifndef LEAT_ONNXRUNTIME_RUN_H_
#define LEAT_ONNXRUNTIME_RUN_H_

#include "shared_device.h"

/** Begins a Run on this thread: takes a place in the pool, unless the backend has none. One inside another is legal (an
 * operator that runs a session) and, on the same device, shares the outer one's place.
 * @threads any, inside of the gate, which a thread that has to wait leaves meanwhile
 * @param device [inout] the device, which is opened if need be
 * @param timeout_ms milliseconds to wait for a place; 0: not at all; -1: for ever; LEAT_POOL_TIMEOUT_CONFIGURED
 * @param err [out] what went wrong
 * @return LEAT_OK; LEAT_ERROR_EXHAUSTED: no place came free in time; or the code of another failure. leati_run_end()
 * must follow on LEAT_OK only */
int32_t leati_run_begin(leati_shared_device *device, int64_t timeout_ms, leat_error *err);

/** Notes that this thread puts work into a stream. Does nothing outside of a Run.
 * @threads any
 * @param stream [in] the stream
 * @param to_host whether the work writes memory of the host
 * @return whether the end of a Run on this thread sees to the stream; false: what writes to the host must be waited for
 * at once, because nobody else does before that memory goes */
bool leati_run_note(leat_stream *stream, bool to_host);

/** Forgets a stream that is going away.
 * @threads any
 * @param stream [in] the stream
 * @return whether work of this Run in it writes memory of the host, so that it must be waited for */
bool leati_run_forget(leat_stream *stream);

/** Ends a Run on this thread: flushes the noted streams, or waits for them, leaves no error behind in them, and gives
 * the place back with the outermost Run on the device.
 * @threads any
 * @param device [in] what leati_run_begin() was given
 * @param wait true: wait for all of them; false: only for those that write memory of the host, which its owner may free
 * from now on, and submit the others
 * @return the first failure of a stream's work */
OrtStatus *leati_run_end(leati_shared_device *device, bool wait);

#endif /* LEAT_ONNXRUNTIME_RUN_H_ */
