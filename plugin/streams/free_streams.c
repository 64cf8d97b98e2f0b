/* SPDX-License-Identifier: BSD-3-Clause */
#include "streams/free_streams.h"

#include "core/status.h"
#include "device/device.h"
#include "memory/memory.h"
#include "policy/constants.h"
#include "record/hazards.h"
#include "record/profiler.h"
#include "streams/event_state.h"
#include "streams/stream_state.h"
#include "streams/wait.h"
#include "submit/lane.h"
#include "submit/timestamp.h"

/* How often a thread waits for memory that others take before it. */
#define MEMORY_TRIES_MAX 8

struct leati_streams {
  leati_mutex lock;          /* guards everything below */
  leat_stream *all_streams;  /* every stream object, linked by `next` */
  leat_stream *free_streams; /* linked by `next_free` */
  leat_event *free_events;
  struct event_block *event_blocks;
};

/* Events are made in blocks, so that the device can free them all without a list of the live ones. */
typedef struct event_block {
  struct event_block *next;
  leat_event events[LEATI_EVENTS_PER_BLOCK];
} event_block;

int32_t leati_streams_create(leat_device *device, leat_error *err) {
  struct leati_streams *const streams = leati_calloc_line(sizeof(*streams));
  if (streams == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for streams");
  }
  leati_mutex_init(&streams->lock, LEATI_RANK_OBJECTS);
  leati_external_semaphores_create(device);
  leati_timelines_create(device);
  device->streams = streams;
  if (device->physical->timestamp_bits != 0 && device->physical->has_query_reset) {
    LEATI_TRY(leati_timestamps_create(device, err));
  }
  LEATI_TRY(leati_hazards_create(device, err));
  LEATI_TRY(leati_profiler_create(device, err));
  return leati_lanes_create(device, err);
}

void leati_streams_destroy(leat_device *device) {
  struct leati_streams *const streams = device->streams;
  if (streams == NULL) {
    return;
  }
  while (streams->all_streams != NULL) {
    leat_stream *const stream = streams->all_streams;
    streams->all_streams = stream->next;
    leati_stream_finish(stream);
    leati_free(stream);
  }
  leati_timelines_destroy(device);
  leati_external_semaphores_destroy(device);
  while (streams->event_blocks != NULL) {
    event_block *const block = streams->event_blocks;
    streams->event_blocks = block->next;
    for (int i = 0; i < LEATI_EVENTS_PER_BLOCK; ++i) {
      leati_known_destroy(&block->events[i].known);
      leati_mutex_destroy(&block->events[i].lock);
    }
    leati_free(block);
  }
  leati_hazards_destroy(device);
  leati_lanes_destroy(device);
  leati_timestamps_destroy(device);
  leati_profiler_destroy(device);
  leati_mutex_destroy(&streams->lock);
  leati_free(streams);
  device->streams = NULL;
}

static int32_t make_stream(leat_device *device, leat_stream **out, leat_error *err) {
  struct leati_streams *const streams = device->streams;
  leat_stream *const stream = leati_calloc_line(sizeof(*stream));
  if (stream == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for a stream");
  }
  leati_timeline *timeline;
  const int32_t status = leati_timeline_take(device, &timeline, err);
  if (status != LEAT_OK) {
    leati_free(stream);
    return status;
  }
  atomic_store_explicit(&stream->timeline, timeline, memory_order_relaxed);
  stream->device = device;
  stream->pool_index = -1;
  leati_mutex_init(&stream->lock, LEATI_RANK_STREAM);
  leati_mutex_lock(&streams->lock);
  stream->number = streams->all_streams != NULL ? streams->all_streams->number + 1 : 0;
  stream->next = streams->all_streams;
  streams->all_streams = stream;
  leati_mutex_unlock(&streams->lock);
  *out = stream;
  return LEAT_OK;
}

int32_t leati_streams_take(leat_device *device, leat_stream **out, leat_error *err) {
  struct leati_streams *const streams = device->streams;
  leati_mutex_lock(&streams->lock);
  leat_stream *stream = streams->free_streams;
  if (stream != NULL) {
    streams->free_streams = stream->next_free;
  }
  leati_mutex_unlock(&streams->lock);
  if (stream == NULL) {
    LEATI_TRY(make_stream(device, &stream, err));
  }
  const int32_t status = leati_stream_adopt_owner(stream, err);
  if (status != LEAT_OK) {
    leati_streams_release(stream);
    return status;
  }
  leati_mutex_lock(&stream->lock);
  stream->kind = LEATI_KIND_STREAM;
  leati_mutex_unlock(&stream->lock);
  *out = stream;
  return LEAT_OK;
}

void leati_streams_release(leat_stream *stream) {
  struct leati_streams *const streams = stream->device->streams;
  leati_mutex_lock(&stream->lock);
  stream->kind = LEATI_KIND_DEAD;
  (void)atomic_fetch_add_explicit(&stream->ended, 1, memory_order_relaxed);
  leati_stream_forget(stream);
  leati_stream_own_anew(stream);
  leati_timeline_abandon(stream->timeline);
  leati_mutex_unlock(&stream->lock);
  leati_mutex_lock(&streams->lock);
  stream->next_free = streams->free_streams;
  streams->free_streams = stream;
  leati_mutex_unlock(&streams->lock);
}

/* Calls a function for all stream objects. Fails with the first failure. */
static int32_t for_all(leat_device *device, int32_t (*call)(leat_stream *, leat_error *), leat_error *err) {
  struct leati_streams *const streams = device->streams;
  int32_t status = LEAT_OK;
  leati_mutex_lock(&streams->lock);
  leat_stream *stream = streams->all_streams;
  leati_mutex_unlock(&streams->lock);
  /* The list only grows at its head and nothing in it is freed, so what was there can be walked without the lock. The
   * same goes for that of the timelines. */
  for (; stream != NULL; stream = stream->next) {
    leat_error failure = {.struct_size = sizeof(failure)};
    const int32_t called = call(stream, &failure);
    if (called != LEAT_OK && status == LEAT_OK) {
      status = leati_fail_again(err, &failure);
    }
  }
  return status;
}

void leati_streams_flush(leat_device *device) {
  (void)for_all(device, leati_stream_flush_if_live, NULL);
}

int32_t leati_streams_synchronize(leat_device *device, leat_error *err) {
  leati_timeline *timeline = atomic_load_explicit(&device->timelines, memory_order_acquire);
  int32_t status = for_all(device, leati_stream_flush_if_live, err);
  /* A failure that is known by now was reported by its stream above, is below, or was cleared. */
  for (; timeline != NULL; timeline = timeline->next) {
    leat_error failure = {.struct_size = sizeof(failure)};
    const uint64_t value = leati_timeline_last(timeline);
    const bool known = leati_timeline_flawed(timeline, value);
    const int32_t waited = leati_wait(timeline, value, -1, &failure);
    if (waited != LEAT_OK && !known && status == LEAT_OK) {
      status = leati_fail_again(err, &failure);
    }
  }
  /* While this thread waited for one stream, another one may have failed. */
  return status == LEAT_OK ? for_all(device, leati_stream_error_if_live, err) : status;
}

/* Waits for what may come free. False: there was nothing to wait for. */
static bool await_uses(leat_device *device) {
  leati_streams_flush(device);
  leati_timeline *const newest = atomic_load_explicit(&device->timelines, memory_order_acquire);
  uint32_t count = 0;
  for (const leati_timeline *at = newest; at != NULL; at = at->next) {
    ++count;
  }
  leati_stamp *const uses = count == 0 ? NULL : leati_calloc(count, sizeof(*uses));
  if (uses == NULL) {
    return false;
  }
  uint32_t i = 0;
  for (leati_timeline *at = newest; at != NULL; at = at->next) {
    uses[i++] = (leati_stamp){.timeline = at, .value = leati_timeline_last_staged(at)};
  }
  leati_memory_last_uses(device, uses, count);
  bool waited = false;
  for (i = 0; i < count; ++i) {
    /* A block may be stamped with a list that was put in after the flush, or was lost: that is not waited for. */
    leati_timeline *const timeline = uses[i].timeline;
    const uint64_t last = leati_timeline_last(timeline), value = uses[i].value < last ? uses[i].value : last;
    if (atomic_load_explicit(&timeline->completed, memory_order_acquire) < value) {
      (void)leati_wait(timeline, value, -1, NULL);
      waited = true;
    }
  }
  leati_free(uses);
  return waited;
}

bool leati_streams_await_memory(leat_device *device, uint32_t *inout_tries) {
  if (*inout_tries == MEMORY_TRIES_MAX) {
    return false;
  }
  *inout_tries = await_uses(device) ? *inout_tries + 1 : MEMORY_TRIES_MAX;
  return true;
}

/* Makes a block of events. The lock of the free streams is held. */
static int32_t make_events(leat_device *device, leat_error *err) {
  struct leati_streams *const streams = device->streams;
  event_block *const block = leati_calloc(1, sizeof(*block));
  if (block == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for events");
  }
  block->next = streams->event_blocks;
  streams->event_blocks = block;
  for (int i = 0; i < LEATI_EVENTS_PER_BLOCK; ++i) {
    leat_event *const event = &block->events[i];
    event->device = device;
    leati_mutex_init(&event->lock, LEATI_RANK_EVENT);
    event->next_free = streams->free_events;
    streams->free_events = event;
  }
  return LEAT_OK;
}

int32_t leati_events_take(leat_device *device, bool timed, leat_event **out, leat_error *err) {
  struct leati_streams *const streams = device->streams;
  leati_mutex_lock(&streams->lock);
  const int32_t status = streams->free_events != NULL ? LEAT_OK : make_events(device, err);
  leat_event *const event = status == LEAT_OK ? streams->free_events : NULL;
  if (event != NULL) {
    streams->free_events = event->next_free;
    event->kind = LEATI_KIND_EVENT;
    event->timed = timed;
    *out = event;
  }
  leati_mutex_unlock(&streams->lock);
  return status;
}

void leati_events_release(leat_event *event) {
  struct leati_streams *const streams = event->device->streams;
  leati_mutex_lock(&event->lock);
  leati_timeline_unwatch(&event->watch);
  leati_timestamp_release(event->device, event->timestamp);
  event->timestamp = NULL;
  leati_known_forget(event->device, &event->known);
  leati_mutex_unlock(&event->lock);
  leati_mutex_lock(&streams->lock);
  event->kind = LEATI_KIND_DEAD;
  event->next_free = streams->free_events;
  streams->free_events = event;
  leati_mutex_unlock(&streams->lock);
}
