/* SPDX-License-Identifier: BSD-3-Clause */
#include "run.h"

#include <stdio.h>

#include "gate.h"

/* A Run uses one stream per device of ours, more only with a hand-written partition of its nodes. */
#define STREAM_MAX 16u

/* Devices that one thread can be in Runs on at once, by Runs inside of Runs: more than any machine has. */
#define PLACE_MAX 32u

/* A device that this thread is in a Run on. */
typedef struct place {
  leati_device *device;
  unsigned depth;  /* Runs on it, one inside another */
  bool held;       /* `ticket` counts; false: the backend has no pool */
  uint64_t ticket; /* what gives the place back */
} place;

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
  unsigned place_count;
  place places[PLACE_MAX];
} run;

static place *place_on(const leati_device *device) {
  for (unsigned i = 0; i < run.place_count; i++) {
    if (run.places[i].device == device) {
      return &run.places[i];
    }
  }
  return NULL;
}

/* Whether a thread that asks for a place now would have to wait. */
static bool is_full(const leat_pool_api *pool, leat_device *device) {
  leat_pool_info info = {.struct_size = sizeof(info)};
  return pool->info(device, &info, NULL) == LEAT_OK && (info.flags & LEAT_POOL_ROUND_ROBIN) == 0 &&
         (info.waiting_count != 0 || info.held_count + 1 >= info.stream_count);
}

/* Takes a place in the pool. */
static int32_t place_take(leati_device *device, int64_t timeout_ms, place *out, leat_error *err) {
  const leat_pool_api *pool = device->runtime->leat->pool;
  leat_device *opened = NULL;
  leat_stream *stream = NULL;
  *out = (place){.device = device, .depth = 1};
  int32_t code = leati_device_open(device, &opened, err);
  if (code != LEAT_OK) {
    return code;
  }
  /* Who waits holds nothing that an exit of the process could take away, and should not hold that up. */
  const bool outside = timeout_ms != 0 && is_full(pool, opened);
  if (outside) {
    leati_gate_leave();
  }
  code = pool->acquire(opened, timeout_ms, &stream, &out->ticket, err);
  if (outside && leati_gate_enter() != LEATI_GATE_OPEN) {
    return LEAT_ERROR_INTERNAL;
  }
  out->held = code == LEAT_OK;
  /* Without a pool everybody is admitted. */
  return code == LEAT_ERROR_NOT_SUPPORTED ? LEAT_OK : code;
}

static void place_give_back(place *taken) {
  const leati_runtime *runtime = taken->device->runtime;
  leat_error error = {.struct_size = sizeof(error)};
  if (taken->held) {
    int32_t code = runtime->leat->pool->release(atomic_load_explicit(&taken->device->opened, memory_order_acquire),
                                                taken->ticket, &error);
    if (code != LEAT_OK) {
      leati_log(runtime, NULL, ORT_LOGGING_LEVEL_ERROR, LEATI_PROVIDER_NAME ": giving a stream back: %s",
                error.message);
    }
  }
  *taken = run.places[--run.place_count];
}

int32_t leati_run_begin(leati_device *device, int64_t timeout_ms, leat_error *err) {
  place *mine = place_on(device);
  if (mine) {
    mine->depth++;
  } else if (run.place_count == PLACE_MAX) {
    snprintf(err->message, sizeof(err->message), "this thread is in Runs on %u devices already", PLACE_MAX);
    return LEAT_ERROR_INTERNAL;
  } else {
    place taken;
    int32_t code = place_take(device, timeout_ms, &taken, err);
    if (code != LEAT_OK) {
      return code;
    }
    run.places[run.place_count++] = taken;
  }
  run.depth++;
  return LEAT_OK;
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

OrtStatus *leati_run_end(leati_device *device, bool wait) {
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
  place *mine = place_on(device);
  if (mine) {
    run.depth--;
    if (--mine->depth == 0) {
      place_give_back(mine);
    }
  }
  return first;
}
