/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What a thread does between OnRunStart and OnRunEnd: the streams it puts work into, because OnRunEnd is not told.
 */
#ifndef LEAT_ONNXRUNTIME_RUN_H_
#define LEAT_ONNXRUNTIME_RUN_H_

#include "runtime.h"

/** Begins a Run on this thread; one inside another is legal (an operator that runs a session).
 * @threads any */
void leati_run_begin(void);

/** Notes that this thread puts work into a stream. Does nothing outside of a Run.
 * @threads any
 * @param stream [in] the stream */
void leati_run_note(leat_stream *stream);

/** Forgets a stream that is going away.
 * @threads any
 * @param stream [in] the stream */
void leati_run_forget(leat_stream *stream);

/** Ends a Run on this thread: flushes the noted streams, or waits for them, and leaves no error behind in them.
 * @threads any
 * @param runtime [in] the tables
 * @param wait true: wait, so that everything has arrived; false: only submit
 * @return the first failure of a stream's work */
OrtStatus *leati_run_end(const leati_runtime *runtime, bool wait);

#endif /* LEAT_ONNXRUNTIME_RUN_H_ */
