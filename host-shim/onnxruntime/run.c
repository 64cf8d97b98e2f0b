/* SPDX-License-Identifier: BSD-3-Clause */
#include "run.h"

#include "admission.h"

/* A Run uses a stream per device of ours and graph: the model's, and those of bodies that are inside one another. Of
 * more the one that was used longest ago is waited for. */
#define STREAM_MAX 16u

/* A stream that this thread has put work into. */
typedef struct noted {
  leati_shared_device *device;
  leat_stream *stream;
  bool to_host;       /* some of the work writes memory of the host */
  uint64_t caught_up; /* leati_shared_device::published that it comes after */
} noted;

/* The Runs that this thread is in. */
static _Thread_local struct {
  unsigned depth;
  unsigned count;
  bool has_bodies;           /* of a session of one of them */
  noted streams[STREAM_MAX]; /* each once, the latest last */
} run;

int32_t leati_run_begin(leati_shared_device *device, int64_t timeout_ms, bool has_bodies, leat_error *err) {
  int32_t code = leati_admission_take(device, timeout_ms, err);
  if (code == LEAT_OK) {
    run.depth++;
    run.has_bodies |= has_bodies;
  }
  return code;
}

bool leati_run_has_bodies(void) {
  return run.has_bodies;
}

/* ---- Order --------------------------------------------------------------------------------------------------------
 */

/* Lets a stream come after all that is in another one of the same device. */
static OrtStatus *come_after(const leati_shared_device *device, leat_stream *stream, leat_stream *before) {
  const leati_runtime *runtime = device->runtime;
  const leat_event_api *events = runtime->leat->event;
  leat_device *opened = atomic_load_explicit(&device->opened, memory_order_acquire);
  leat_event *event = NULL;
  leat_error error = {.struct_size = sizeof(error)};
  int32_t code = events->create(opened, 0, &event, &error);
  if (code == LEAT_OK) {
    code = events->record(event, before, &error);
    if (code == LEAT_OK) {
      code = runtime->leat->stream->wait_event(stream, event, &error);
    }
    events->destroy(event, NULL);
  }
  return leati_status_from(runtime, code, &error, LEATI_PROVIDER_NAME ": ordering two streams of a Run");
}

/* The stream of a device that this thread used last; NULL: none. */
static leat_stream *latest_on(const leati_shared_device *device) {
  unsigned i = run.count;
  while (i != 0 && run.streams[i - 1].device != device) {
    --i;
  }
  return i != 0 ? run.streams[i - 1].stream : NULL;
}

/* Takes a stream off the list; a new entry if it is not there. */
static noted take(leati_shared_device *device, leat_stream *stream) {
  noted entry = {.device = device, .stream = stream};
  for (unsigned i = 0; i < run.count; ++i) {
    if (run.streams[i].stream == stream) {
      entry = run.streams[i];
      run.count--;
      for (; i < run.count; ++i) {
        run.streams[i] = run.streams[i + 1];
      }
    }
  }
  return entry;
}

/* Lets the stream of an entry come after what was copied outside of Runs. */
static OrtStatus *catch_up(noted *entry) {
  if (atomic_load_explicit(&entry->device->published, memory_order_acquire) == entry->caught_up) {
    return NULL;
  }
  return leati_shared_device_catch_up(entry->device, entry->stream, &entry->caught_up);
}

/* Waits for a stream's work, and leaves no error behind in it. */
static OrtStatus *finish(const noted *entry) {
  const leati_runtime *runtime = entry->device->runtime;
  const leat_stream_api *api = runtime->leat->stream;
  leat_error error = {.struct_size = sizeof(error)};
  int32_t code = api->synchronize(entry->stream, &error);
  if (code != LEAT_OK) {
    api->clear_error(entry->stream, NULL);
  }
  return leati_status_from(runtime, code, &error, LEATI_PROVIDER_NAME ": the work of this Run failed");
}

/* Puts a stream at the end of the list, where there is room for it then, and orders it after the one before. */
static OrtStatus *turn_to(leati_shared_device *device, leat_stream *stream) {
  OrtStatus *status = NULL;
  noted entry = take(device, stream);
  leat_stream *before = latest_on(device);
  if (run.count == STREAM_MAX) {
    const noted oldest = take(NULL, run.streams[0].stream);
    status = finish(&oldest);
  }
  run.streams[run.count++] = entry;
  return status != NULL || before == NULL ? status : come_after(device, stream, before);
}

OrtStatus *leati_run_note(leati_shared_device *device, leat_stream *stream, bool to_host, bool *out_inside) {
  OrtStatus *status = NULL;
  *out_inside = run.depth != 0;
  if (!*out_inside) {
    return NULL;
  }
  if (run.count == 0 || run.streams[run.count - 1].stream != stream) {
    status = turn_to(device, stream);
  }
  noted *latest = &run.streams[run.count - 1];
  latest->to_host |= to_host;
  return status != NULL ? status : catch_up(latest);
}

OrtStatus *leati_run_order(leati_shared_device *device, leat_stream *stream, bool *out_inside) {
  *out_inside = run.depth != 0;
  leat_stream *before = *out_inside ? latest_on(device) : NULL;
  OrtStatus *status = before != NULL && before != stream ? come_after(device, stream, before) : NULL;
  return status != NULL || !*out_inside ? status : catch_up(&(noted){.device = device, .stream = stream});
}

/* ---- Ends ---------------------------------------------------------------------------------------------------------
 */

void leati_run_forget(leat_stream *stream) {
  for (unsigned i = 0; i < run.count; ++i) {
    if (run.streams[i].stream == stream) {
      const noted entry = take(NULL, stream);
      leati_status_drop(entry.device->runtime, finish(&entry));
    }
  }
}

/* Submits a stream's work. */
static OrtStatus *submit(const noted *entry) {
  const leati_runtime *runtime = entry->device->runtime;
  leat_error error = {.struct_size = sizeof(error)};
  int32_t code = runtime->leat->stream->flush(entry->stream, &error);
  if (code == LEAT_OK) {
    return NULL;
  }
  /* ONNX Runtime frees the Run's buffers now: nothing may be on its way into them. */
  leati_status_drop(runtime, finish(entry));
  return leati_status_from(runtime, code, &error, LEATI_PROVIDER_NAME ": the work of this Run failed");
}

/* Lets what is put into any of the streams from now on come after all that is in them: an application goes on with the
 * one that it gave for the Run, say, and the Run's last work may be in another one. What cannot be is waited for. */
static OrtStatus *join(void) {
  OrtStatus *status = NULL;
  for (unsigned i = 0; i < run.count && status == NULL; ++i) {
    const noted *entry = &run.streams[i];
    leat_stream *latest = latest_on(entry->device);
    status = latest != entry->stream ? come_after(entry->device, entry->stream, latest) : NULL;
  }
  for (unsigned i = 0; i < run.count && status != NULL; ++i) {
    leati_status_drop(run.streams[i].device->runtime, finish(&run.streams[i]));
  }
  return status;
}

OrtStatus *leati_run_end(leati_shared_device *device, bool wait) {
  OrtStatus *first = NULL;
  const bool outermost = run.depth == 1;
  unsigned kept = 0;
  for (unsigned i = 0; i < run.count; ++i) {
    const noted *entry = &run.streams[i];
    OrtStatus *status = wait || entry->to_host ? finish(entry) : submit(entry);
    if (first != NULL) {
      leati_status_drop(device->runtime, status);
    } else {
      first = status;
    }
  }
  if (!wait && first == NULL) {
    first = join();
  }
  /* An inner Run's end serves the outer one's streams too. Those that it does not wait for are still of the order. */
  for (unsigned i = 0; i < run.count; ++i) {
    if (!wait && !run.streams[i].to_host && !outermost) {
      run.streams[kept++] = run.streams[i];
    }
  }
  run.count = kept;
  if (leati_admission_give_back(device)) {
    run.depth--;
    run.has_bodies &= run.depth != 0;
  }
  return first;
}
