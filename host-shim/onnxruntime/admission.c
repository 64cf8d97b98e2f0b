/* SPDX-License-Identifier: BSD-3-Clause */
#include "admission.h"

#include <stdio.h>

#include "ep_gate.h"

/* Devices that one thread can be in Runs on at once, by Runs inside of Runs: more than any machine has. */
#define PLACE_MAX 32u

/* A device that this thread is in a Run on. */
typedef struct place {
  leati_shared_device *device;
  unsigned depth;  /* Runs on it, one inside another */
  bool held;       /* `ticket` counts; false: the backend has no pool */
  uint64_t ticket; /* what gives the place back */
} place;

/* The places that this thread has. */
static _Thread_local struct {
  unsigned count;
  place places[PLACE_MAX];
} mine;

static place *place_on(const leati_shared_device *device) {
  for (unsigned i = 0; i < mine.count; ++i) {
    if (mine.places[i].device == device) {
      return &mine.places[i];
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
static int32_t place_take(leati_shared_device *device, int64_t timeout_ms, place *out, leat_error *err) {
  const leat_pool_api *pool = device->runtime->leat->pool;
  leat_device *opened = NULL;
  leat_stream *stream = NULL;
  *out = (place){.device = device, .depth = 1};
  int32_t code = leati_shared_device_open(device, &opened, err);
  if (code != LEAT_OK) {
    return code;
  }
  /* A thread that waits holds nothing that an exit of the process could take away, and should not hold that up. */
  const bool outside = timeout_ms != 0 && is_full(pool, opened);
  if (outside) {
    leati_ep_gate_leave();
  }
  code = pool->acquire(opened, timeout_ms, &stream, &out->ticket, err);
  if (outside && leati_ep_gate_enter() != LEATI_GATE_OPEN) {
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
      leati_ort_log(runtime, NULL, ORT_LOGGING_LEVEL_ERROR, LEATI_PROVIDER_NAME ": giving a stream back: %s",
                    error.message);
    }
  }
  *taken = mine.places[--mine.count];
}

int32_t leati_admission_take(leati_shared_device *device, int64_t timeout_ms, leat_error *err) {
  place *there = place_on(device);
  if (there != NULL) {
    there->depth++;
    return LEAT_OK;
  }
  if (mine.count == PLACE_MAX) {
    snprintf(err->message, sizeof(err->message), "this thread is in Runs on %u devices already", PLACE_MAX);
    return LEAT_ERROR_INTERNAL;
  }
  place taken;
  int32_t code = place_take(device, timeout_ms, &taken, err);
  if (code == LEAT_OK) {
    mine.places[mine.count++] = taken;
  }
  return code;
}

bool leati_admission_give_back(const leati_shared_device *device) {
  place *there = place_on(device);
  if (there != NULL && --there->depth == 0) {
    place_give_back(there);
  }
  return there != NULL;
}
