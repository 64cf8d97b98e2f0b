/* SPDX-License-Identifier: BSD-3-Clause */
#include "run.h"

#include "admission.h"

/* A Run uses one stream per device of ours, more only with a hand-written partition of its nodes. */
#define STREAM_MAX 16u

/* A stream that this thread has put work into. */
typedef struct noted {
  leat_stream *stream;
  bool to_host; /* some of the work writes memory of the host */
} noted;

/* The Runs that this thread is in. */
static _Thread_local struct {
  unsigned depth;
  unsigned count;
  noted streams[STREAM_MAX]; /* each once, the latest last */
} run;

int32_t leati_run_begin(leati_shared_device *device, int64_t timeout_ms, leat_error *err) {
  int32_t code = leati_admission_take(device, timeout_ms, err);
  if (code == LEAT_OK) {
    run.depth++;
  }
  return code;
}

bool leati_run_note(leat_stream *stream, bool to_host) {
  if (run.depth == 0) {
    return false;
  }
  unsigned i = run.count;
  while (i != 0 && run.streams[i - 1].stream != stream) {
    --i;
  }
  if (i == 0) {
    /* A seventeenth stream is left to its own Flush, which ONNX Runtime calls unless the Run fails or should not wait.
     */
    if (run.count == STREAM_MAX) {
      return false;
    }
    run.streams[run.count++] = (noted){.stream = stream};
    i = run.count;
  }
  run.streams[i - 1].to_host |= to_host;
  return true;
}

bool leati_run_forget(leat_stream *stream) {
  for (unsigned i = 0; i < run.count; i++) {
    if (run.streams[i].stream == stream) {
      const bool to_host = run.streams[i].to_host;
      run.streams[i] = run.streams[--run.count];
      return to_host;
    }
  }
  return false;
}

OrtStatus *leati_run_end(leati_shared_device *device, bool wait) {
  const leati_runtime *runtime = device->runtime;
  const leat_stream_api *api = runtime->leat->stream;
  OrtStatus *first = NULL;
  /* An inner Run's end serves the outer one's streams too: they are noted anew when the outer one uses them again. */
  while (run.count != 0) {
    const noted last = run.streams[--run.count];
    leat_stream *stream = last.stream;
    const bool waited = wait || last.to_host;
    leat_error error = {.struct_size = sizeof(error)};
    int32_t code = waited ? api->synchronize(stream, &error) : api->flush(stream, &error);
    if (code != LEAT_OK) {
      /* ONNX Runtime frees the Run's buffers now: nothing may be on its way into them. */
      if (!waited) {
        (void)api->synchronize(stream, NULL);
      }
      api->clear_error(stream, NULL);
      if (!first) {
        first = leati_status_from(runtime, code, &error, LEATI_PROVIDER_NAME ": the work of this Run failed");
      }
    }
  }
  if (leati_admission_give_back(device)) {
    run.depth--;
  }
  return first;
}
