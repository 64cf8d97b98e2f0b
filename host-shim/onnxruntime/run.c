/* SPDX-License-Identifier: BSD-3-Clause */
#include "run.h"

/* A Run uses one stream per device of ours, more only with a hand-written partition of its nodes. */
#define STREAM_MAX 16u

/* The Runs that this thread is in. */
static _Thread_local struct {
  unsigned depth;
  unsigned count;
  leat_stream *streams[STREAM_MAX]; /* each once, the latest last */
} run;

void leati_run_begin(void) {
  run.depth++;
}

void leati_run_note(leat_stream *stream) {
  if (run.depth == 0 || (run.count != 0 && run.streams[run.count - 1] == stream)) {
    return;
  }
  for (unsigned i = 0; i < run.count; i++) {
    if (run.streams[i] == stream) {
      return;
    }
  }
  /* A seventeenth stream is left to its own Flush, which ONNX Runtime calls unless the Run fails. */
  if (run.count < STREAM_MAX) {
    run.streams[run.count++] = stream;
  }
}

void leati_run_forget(leat_stream *stream) {
  for (unsigned i = 0; i < run.count; i++) {
    if (run.streams[i] == stream) {
      run.streams[i] = run.streams[--run.count];
      return;
    }
  }
}

OrtStatus *leati_run_end(const leati_runtime *runtime, bool wait) {
  const leat_stream_api *api = runtime->leat->stream;
  OrtStatus *first = NULL;
  /* An inner Run's end serves the outer one's streams too: they are noted anew when the outer one uses them again. */
  while (run.count != 0) {
    leat_stream *stream = run.streams[--run.count];
    leat_error error = {.struct_size = sizeof(error)};
    int32_t code = wait ? api->synchronize(stream, &error) : api->flush(stream, &error);
    if (code != LEAT_OK) {
      api->clear_error(stream, NULL);
      if (!first) {
        first = leati_status_from(runtime, code, &error, LEATI_PROVIDER_NAME ": the work of this Run failed");
      }
    }
  }
  if (run.depth != 0) {
    run.depth--;
  }
  return first;
}
