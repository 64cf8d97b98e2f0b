/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/compilation.h"

#include "core/config.h"
#include "core/status.h"
#include "core/sync.h"
#include "device/device.h"
#include "record/profile.h"

/* The innermost one of this thread, or NULL. */
static _Thread_local leati_compilation *current;

void leati_compilation_begin(leati_compilation *compilation) {
  compilation->count = 0;
  compilation->outer = current;
  current = compilation;
}

void leati_compilation_end(const leati_compilation *compilation) {
  current = compilation->outer;
}

static bool is_full(void) {
  return current != NULL && current->count == current->max;
}

/* Counts a pipeline that this thread has compiled since `begun_ns`. */
static void note(leat_device *device, const leati_pipeline_key *key, uint64_t begun_ns) {
  if (current != NULL) {
    ++current->count;
  }
  if (current != NULL && current->ahead) {
    return;
  }
  const char *const name = leati_pipeline_name(key);
  const uint32_t number = atomic_fetch_add_explicit(&device->compiled_in_requests, 1, memory_order_relaxed) + 1;
  leati_log(LEATI_LOG_INFO,
            "a request has compiled a pipeline of kernel %s, in %llu us; it is number %u of those on device %u", name,
            (unsigned long long)((leati_now_ns() - begun_ns) / 1000), number, device->index);
  leati_profile_compiled(device, name, begun_ns);
}

int32_t leati_compile(leat_device *device, const leati_pipeline_key *key, leat_error *err) {
  bool compiled;
  if (is_full()) {
    return leati_fail(err, LEAT_ERROR_EXHAUSTED, "no more than %u pipelines may be compiled", current->max);
  }
  const uint64_t begun_ns = leati_now_ns();
  LEATI_TRY(leati_pipeline_compile(device, key, &compiled, err));
  if (compiled) {
    note(device, key, begun_ns);
  }
  return LEAT_OK;
}
