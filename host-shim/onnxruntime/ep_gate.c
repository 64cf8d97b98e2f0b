/* SPDX-License-Identifier: BSD-3-Clause */
#include "ep_gate.h"

#include <stdlib.h>

#include "common/fork.h"

/* A thread's last steps out of a Run lead through ONNX Runtime, after its last call into the provider. They take
 * microseconds; this is what they get, in a process that has made any call at all. */
#define GRACE_NS UINT64_C(10000000)

static void close_at_exit(void) {
  leati_inside_close(GRACE_NS);
}

void leati_ep_gate_register(void) {
  /* A child made before the first call must be told, too. Where fork() cannot be watched the backend may notice. */
  (void)leati_fork_watch();
  atexit(close_at_exit);
}

leati_gate leati_ep_gate_enter(void) {
  leati_inside *inside;
  return leati_inside_enter(&inside);
}

void leati_ep_gate_leave(void) {
  leati_inside_leave(leati_inside_own());
}

OrtStatus *leati_ep_gate_enter_or_fail(const leati_runtime *runtime, const char *call) {
  switch (leati_ep_gate_enter()) {
    case LEATI_GATE_OPEN:
      return NULL;
    case LEATI_GATE_CLOSED:
      return leati_status(runtime, ORT_FAIL, LEATI_PROVIDER_NAME ": %s: the process is exiting", call);
    default:
      break;
  }
  /* The backend knows best how to say it; that call touches no lock of ours. */
  uint32_t count = 0;
  leat_error error = {.struct_size = sizeof(error)};
  OrtStatus *status = leati_status_from(runtime, runtime->leat->device->count(&count, &error), &error,
                                        LEATI_PROVIDER_NAME ": %s", call);
  return status != NULL ? status
                        : leati_status(runtime, ORT_FAIL,
                                       LEATI_PROVIDER_NAME
                                       ": %s: this process is a child of fork(), in which the provider "
                                       "cannot work; start it anew instead, as spawn does",
                                       call);
}
