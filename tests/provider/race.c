/* SPDX-License-Identifier: BSD-3-Clause */
/* Wrong on purpose: a provider in which each Run counts itself, at its beginning, without an order between threads. The
 * linker puts this in front of leati_run_begin(). The thread sanitizer must report it, or it sees nothing of the
 * provider under ONNX Runtime, which is not instrumented. */
#include "onnxruntime/run.h"

int32_t __real_leati_run_begin(leati_shared_device *device, int64_t timeout_ms, bool has_bodies, leat_error *err);
int32_t __wrap_leati_run_begin(leati_shared_device *device, int64_t timeout_ms, bool has_bodies, leat_error *err);

static unsigned begun;

int32_t __wrap_leati_run_begin(leati_shared_device *device, int64_t timeout_ms, bool has_bodies, leat_error *err) {
  ++begun;
  return __real_leati_run_begin(device, timeout_ms, has_bodies, err);
}
