/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * ONNX Runtime's profiling (SessionOptions.enable_profiling, RunOptions): GPU times of steps among its own events.
 * There are profilers from API 25 on.
 */
#ifndef LEAT_ONNXRUNTIME_EP_PROFILER_H_
#define LEAT_ONNXRUNTIME_EP_PROFILER_H_

#include "shared_device.h"

#if ORT_API_VERSION >= 25
/** Makes the profiler of a session or a Run. It costs nothing until ONNX Runtime starts it.
 * @threads any, inside of the gate
 * @param device [inout] the device, which must outlive the profiler
 * @param logger [in] the session's logger, which outlives all but the profiler's release
 * @param out [out] what ONNX Runtime calls and releases
 * @return NULL, or what went wrong */
OrtStatus *leati_ep_profiler_create(leati_shared_device *device, const OrtLogger *logger, OrtEpProfilerImpl **out);
#endif

#endif /* LEAT_ONNXRUNTIME_EP_PROFILER_H_ */
