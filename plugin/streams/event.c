/* SPDX-License-Identifier: BSD-3-Clause */
#include "streams/event.h"

#include "core/status.h"
#include "streams/free_streams.h"
#include "streams/stream.h"
#include "streams/stream_state.h"
#include "streams/wait.h"
#include "submit/lane.h"

int32_t leati_event_check(const leat_event *event, const leat_device *device, leat_error *err) {
  if (leati_kind_of(event) != LEATI_KIND_EVENT) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, event == NULL ? "event is NULL" : "event is not a live event");
  }
  if (device != NULL && event->device != device) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "event and stream belong to different devices");
  }
  return LEAT_OK;
}

/* What an event stands for now, which stays wanted with all its downloads, and its failure known, though the event is
 * recorded anew, until leati_timeline_unwatch(). Of no timeline if it has arrived already or was never recorded.
 * Returns leat_event::stream. */
static leat_stream *hold(leat_event *event, leati_watch *held) {
  leati_mutex_lock(&event->lock);
  const leati_watch *const watch = &event->watch;
  held->timeline = NULL;
  if (watch->timeline != NULL &&
      (atomic_load_explicit(&watch->timeline->completed, memory_order_acquire) < watch->value ||
       leati_timeline_flawed(watch->timeline, watch->value))) {
    leati_timeline_watch_too(watch, held);
  }
  leat_stream *const stream = event->stream;
  leati_mutex_unlock(&event->lock);
  return stream;
}

static int32_t event_create(leat_device *device, uint64_t flags, leat_event **out, leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_device_check(device, err));
  if (out == NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "out is NULL");
  }
  if ((flags & ~LEAT_EVENT_TIMING) != 0) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "event flags 0x%llx are unknown", (unsigned long long)flags);
  }
  const bool timed = (flags & LEAT_EVENT_TIMING) != 0;
  if (timed && device->timestamps == NULL) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "the driver has no timestamps on compute queues");
  }
  return leati_events_take(device, timed, out, err);
}

static int32_t event_destroy(leat_event *event, leat_error *err) {
  LEATI_ENTER_TO_RELEASE(err);
  if (event != NULL) {
    LEATI_TRY(leati_event_check(event, NULL, err));
    leati_events_release(event);
  }
  return LEAT_OK;
}

/* Takes a query that is ready to be written, or waits for memory to make some. */
static int32_t take_tick(leat_device *device, leati_timestamp **out, leat_error *err) {
  uint32_t tries = 0;
  int32_t status = leati_timestamp_take(device, out, err);
  while (status == LEAT_ERROR_OUT_OF_MEMORY && leati_streams_await_memory(device, &tries)) {
    leati_forget(err);
    status = leati_timestamp_take(device, out, err);
  }
  return status;
}

int32_t leati_event_record(leat_event *event, leat_stream *stream, leat_error *err) {
  leati_timeline *timeline;
  uint64_t value;
  leati_timestamp *timestamp = NULL;
  if (event->timed) {
    LEATI_TRY(take_tick(event->device, &timestamp, err));
  }
  const int32_t status = leati_stream_mark(stream, timestamp, &timeline, &value, err);
  if (timeline == NULL) {
    leati_timestamp_release(event->device, timestamp);
    return status;
  }
  /* Also when the stream failed: the event then stands for work that never runs, and its waiters get the failure. */
  leati_mutex_lock(&event->lock);
  leati_timeline_watch(timeline, value, &event->watch);
  event->stream = stream;
  leati_known_record(event->device, &event->known, &stream->known, timeline, value);
  leati_timestamp_release(event->device, event->timestamp);
  event->timestamp = timestamp;
  leati_mutex_unlock(&event->lock);
  leati_timeline_release(timeline);
  return status;
}

int32_t leati_event_await(leat_event *event, leat_stream *stream, leat_error *err) {
  leati_watch held;
  (void)hold(event, &held);
  leati_timeline *const timeline = held.timeline;
  leat_error failure = {.struct_size = sizeof(failure)};
  int32_t state = timeline == NULL ? LEAT_OK : leati_timeline_query(timeline, held.value, &failure);
  /* The device may only be made to wait for what a queue has taken. */
  leati_point point = {.value = 0};
  if (state == LEAT_ERROR_NOT_READY && !leati_lane_ensure(timeline, held.value, &point)) {
    state = leati_timeline_query(timeline, held.value, &failure);
  }
  leati_timeline_unwatch(&held);
  leati_mutex_lock(&stream->lock);
  int32_t status = leati_stream_sticky(stream, err);
  if (status == LEAT_OK && state != LEAT_OK && state != LEAT_ERROR_NOT_READY) {
    leati_timeline_fail(stream->timeline, leati_stream_open_value(stream), &failure);
    leati_stream_forget(stream);
    status = leati_fail_again(err, &failure);
  }
  /* What is in the list already need not wait; a stream's own work is in order anyway. */
  if (status == LEAT_OK && timeline != stream->timeline && state == LEAT_ERROR_NOT_READY) {
    status = leati_stream_open_count(stream) != 0 ? leati_stream_flush(stream, err) : LEAT_OK;
    if (status == LEAT_OK) {
      leati_stream_add_wait(stream, point);
    }
  }
  if (status == LEAT_OK) {
    leati_known_learn(stream->device, &stream->known, &event->known);
  }
  return leati_stream_unlock_and_help(stream, status, err);
}

static int32_t event_record(leat_event *event, leat_stream *stream, leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_stream_check(stream, NULL, err));
  LEATI_TRY(leati_event_check(event, leati_stream_device(stream), err));
  return leati_event_record(event, stream, err);
}

static int32_t event_query(leat_event *event, leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_event_check(event, NULL, err));
  leati_watch held;
  leati_point point;
  (void)hold(event, &held);
  if (held.timeline == NULL) {
    return LEAT_OK;
  }
  const int32_t status = leati_timeline_answer(held.timeline, held.value, err);
  if (status == LEAT_ERROR_NOT_READY && leati_timeline_locate(held.timeline, held.value, &point) && point.value == 0) {
    /* A thread that asks again and again does not wait, but the list may have been left for others to join. */
    leati_lane_help(leati_lane_of(point.semaphore));
  }
  leati_timeline_unwatch(&held);
  return status;
}

static int32_t event_wait(leat_event *event, int64_t timeout_ns, leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_event_check(event, NULL, err));
  if (timeout_ns < -1) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "timeout_ns is %lld; allowed: -1 (no limit), 0 and above",
                      (long long)timeout_ns);
  }
  const uint64_t deadline = timeout_ns < 0 ? UINT64_MAX : leati_now_ns() + (uint64_t)timeout_ns;
  leati_watch held;
  leat_stream *const stream = hold(event, &held);
  if (held.timeline == NULL) {
    return LEAT_OK;
  }
  int32_t status = leati_wait(held.timeline, held.value, timeout_ns, err);
  if (status != LEAT_OK && leati_timeline_fails(held.timeline, held.value) &&
      leati_stream_drain(stream, held.timeline, deadline, NULL) == LEAT_ERROR_TIMEOUT) {
    status = leati_fail(err, LEAT_ERROR_TIMEOUT, "what came before a failure has not finished yet");
  }
  leati_timeline_unwatch(&held);
  return status;
}

/* Reads when a timed event was, if it was recorded and has finished. */
static int32_t read_timestamp(leat_event *event, leati_reading *out, leat_error *err) {
  LEATI_TRY(leati_event_check(event, NULL, err));
  if (!event->timed) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "an event was created without LEAT_EVENT_TIMING");
  }
  leati_mutex_lock(&event->lock);
  leati_timeline *const timeline = event->watch.timeline;
  const uint64_t value = event->watch.value;
  leati_mutex_unlock(&event->lock);
  if (timeline == NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "an event was never recorded");
  }
  LEATI_TRY(leati_timeline_answer(timeline, value, err));
  leati_mutex_lock(&event->lock);
  /* Recorded anew meanwhile, it may stand for work that is under way. */
  const bool same = event->watch.timeline == timeline && event->watch.value == value;
  if (same) {
    *out = leati_timestamp_read(event->timestamp);
  }
  leati_mutex_unlock(&event->lock);
  return same ? LEAT_OK : leati_fail(err, LEAT_ERROR_NOT_READY, "the event was recorded anew meanwhile");
}

static int32_t event_elapsed(leat_event *start, leat_event *end, double *out_ns, leat_error *err) {
  LEATI_ENTER(err);
  leati_reading from, to;
  LEATI_TRY(read_timestamp(start, &from, err));
  LEATI_TRY(read_timestamp(end, &to, err));
  if (out_ns == NULL || start->device != end->device) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      out_ns == NULL ? "out_ns is NULL" : "the events belong to different devices");
  }
  return leati_timestamp_elapsed(start->device, from, to, out_ns, err);
}

static int32_t event_export_sync_fd(leat_event *event, int32_t *out_fd, leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_event_check(event, NULL, err));
  if (out_fd == NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "out_fd is NULL");
  }
  *out_fd = -1;
  if (!event->device->physical->has_sync_fd) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                      "the driver makes no sync files (VK_KHR_external_semaphore_fd with SYNC_FD)");
  }
  leati_watch held;
  leati_point point;
  (void)hold(event, &held);
  int32_t status = held.timeline == NULL ? LEAT_OK : leati_timeline_query(held.timeline, held.value, err);
  if (status == LEAT_ERROR_NOT_READY) {
    status = leati_lane_ensure(held.timeline, held.value, &point)
                 ? leati_lane_export(leati_lane_of(point.semaphore), out_fd, err)
                 : leati_timeline_query(held.timeline, held.value, err);
  }
  leati_timeline_unwatch(&held);
  return status;
}

const leat_event_api leati_event_table = {
    .struct_size = sizeof(leat_event_api),
    .create = event_create,
    .destroy = event_destroy,
    .record = event_record,
    .query = event_query,
    .wait = event_wait,
    .elapsed = event_elapsed,
    .export_sync_fd = event_export_sync_fd,
};
