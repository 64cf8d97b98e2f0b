/* SPDX-License-Identifier: BSD-3-Clause */
#include "streams/stream.h"

#include <string.h>

#include "core/status.h"
#include "memory/memory.h"
#include "streams/stream_state.h"
#include "streams/wait.h"

/* ---- Checks -------------------------------------------------------------------------------------------------------
 */

leat_device *leati_stream_device(const leat_stream *stream) {
  return stream->device;
}

int32_t leati_stream_check(const leat_stream *stream, const leat_device *device, leat_error *err) {
  if (leati_kind_of(stream) != LEATI_KIND_STREAM) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      stream == NULL ? "stream is NULL" : "stream is not a live stream");
  }
  if (device != NULL && stream->device != device) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "the stream belongs to another device");
  }
  return LEAT_OK;
}

/* ---- Submission ---------------------------------------------------------------------------------------------------
 */

/* Whether there is something to submit. `lock` held. */
static bool is_open(const leat_stream *stream) LEATI_HOLDS(stream->lock) {
  return leati_stream_open_count(stream) != 0 || stream->waiting;
}

/* Lists of the stream that may be in flight. `lock` held. */
static uint64_t in_flight(const leat_stream *stream) LEATI_HOLDS(stream->lock) {
  uint64_t lists = 0;
  for (leati_timeline *at = stream->timeline; at != NULL; at = at->replaced) {
    const uint64_t last = leati_timeline_last(at);
    if (!leati_timeline_passed(at, last)) {
      lists += last - atomic_load_explicit(&at->completed, memory_order_acquire);
    }
  }
  return lists;
}

/* Decides where the open list goes and what orders it: nothing where the stream is idle; else it stays on its lane,
 * behind a barrier, unless the lane has much more to do than another one and the queue has taken what went before. A
 * wait for the chosen lane itself is a barrier too: what it waits for is there already. Says whether there must be one.
 * `lock` held. */
static bool place(leat_stream *stream) LEATI_HOLDS(stream->lock) {
  const uint64_t own = in_flight(stream);
  leati_lane *const lane = leati_placement_choose(stream->device, stream->lane, own);
  bool after = own != 0;
  if (own == 0) {
    stream->lane = lane;
  } else if (lane != stream->lane && stream->timeline->replaced == NULL) {
    leati_point last;
    const uint64_t promised = atomic_load_explicit(&stream->timeline->promised, memory_order_relaxed);
    const bool listed = leati_timeline_locate(stream->timeline, promised, &last);
    if (listed && last.value != 0) {
      leati_stream_add_wait(stream, last);
    }
    if (!listed || last.value != 0) {
      stream->lane = lane;
      after = false;
    }
  }
  leati_point *const same = &stream->waits[stream->lane->index];
  after = after || same->value != 0;
  same->value = 0;
  return after;
}

/* Forgets the list; its submission has gone elsewhere. */
static void start_list(leat_stream *stream) {
  stream->open = NULL;
  memset(stream->current, 0, sizeof(stream->current));
  stream->barrier_next = false;
  stream->reads.count = stream->writes.count = 0;
  stream->waiting = false;
  memset(stream->waits, 0, sizeof(stream->waits));
}

void leati_stream_own_anew(leat_stream *stream) {
  leati_known_forget(stream->device, &stream->known);
  stream->owned_since = atomic_load_explicit(&stream->timeline->promised, memory_order_relaxed);
}

void leati_stream_forget(leat_stream *stream) {
  if (stream->open != NULL) {
    leati_timeline_drop(stream->timeline, stream->open);
  }
  start_list(stream);
}

int32_t leati_stream_open_list(leat_stream *stream, leat_error *err) {
  LEATI_TRY(leati_timeline_open(stream->timeline, &stream->open, err));
  stream->open->value = leati_stream_open_value(stream);
  const uint32_t modes = atomic_load_explicit(&stream->device->profiling, memory_order_relaxed);
  if (modes != 0) {
    leati_profile_open(stream->open, modes);
  }
  return LEAT_OK;
}

/* As leati_stream_need_open(), for a list that must go: without memory for it the timeline fails. `lock` held. */
static int32_t open_to_go(leat_stream *stream, leat_error *err) LEATI_HOLDS(stream->lock) {
  leat_error failure = {.struct_size = sizeof(failure)};
  if (leati_stream_need_open(stream, &failure) == LEAT_OK) {
    return LEAT_OK;
  }
  leati_timeline_fail(stream->timeline, leati_stream_open_value(stream), &failure);
  leati_stream_forget(stream);
  return leati_fail_again(err, &failure);
}

/* Sends the argument records of a list to where the device reads them. One by one they would cost several times as
 * much: that memory is written through a few buffers of the processor's, and every lock in between has to wait until
 * these have gone over the bus. */
static void send_arguments(const leati_submission *list) {
  for (const leati_chunk *chunk = list->chunks; chunk != NULL; chunk = chunk->next) {
    if (chunk->kind == LEATI_CHUNK_ARGUMENTS) {
      memcpy(chunk->mapped, chunk->draft, chunk->used);
    }
  }
}

/* Hands a list to the stream's lane. `lock` held. */
static void hand_over(leat_stream *stream, leati_submission *list) LEATI_HOLDS(stream->lock) {
  list->stream = stream;
  list->semaphore = &stream->lane->semaphore;
  leati_mutex_lock(&stream->timeline->lock);
  leati_timeline_push(stream->timeline, list);
  leati_lane_add(stream->lane, list, &stream->interval);
  leati_mutex_unlock(&stream->timeline->lock);
}

int32_t leati_stream_flush(leat_stream *stream, leat_error *err) {
  LEATI_TRY(leati_stream_sticky(stream, err));
  if (!is_open(stream)) {
    return LEAT_OK;
  }
  leati_timeline_settle(stream->timeline);
  if (stream->open == NULL) {
    LEATI_TRY(open_to_go(stream, err));
  }
  leati_submission *const open = stream->open;
  send_arguments(open);
  open->after = place(stream);
  open->waited = stream->waiting || stream->timeline->replaced != NULL;
  memcpy(open->waits, stream->waits, sizeof(open->waits));
  start_list(stream);
  hand_over(stream, open);
  return LEAT_OK;
}

int32_t leati_stream_flush_with(leat_stream *stream, leati_submission *pieces, leat_error *err) {
  const int32_t status = leati_stream_flush(stream, err);
  while (pieces != NULL) {
    leati_submission *const piece = pieces;
    pieces = piece->next;
    if (status != LEAT_OK) {
      leati_timeline_drop(stream->timeline, piece);
      continue;
    }
    /* The barrier before the first part of the download is one before all that comes later on the queue, and what the
     * list before waited for has come when that list has run. */
    piece->after = piece->waited = false;
    memset(piece->waits, 0, sizeof(piece->waits));
    hand_over(stream, piece);
  }
  return status;
}

int32_t leati_stream_unlock_and_help(leat_stream *stream, int32_t status, leat_error *err) {
  /* The list is asked for by its value: the timeline may be another stream's when it is looked at, and fail there. */
  leati_lane *const lane = stream->lane;
  leati_timeline *const timeline = stream->timeline;
  const uint64_t value = leati_stream_open_value(stream) - 1;
  leati_mutex_unlock(&stream->lock);
  if (lane != NULL) {
    leati_lane_help(lane);
  }
  return status == LEAT_OK ? leati_timeline_failure(timeline, value, err) : status;
}

int32_t leati_stream_flush_if_live(leat_stream *stream, leat_error *err) {
  leati_mutex_lock(&stream->lock);
  if (stream->kind != LEATI_KIND_STREAM) {
    leati_mutex_unlock(&stream->lock);
    return LEAT_OK;
  }
  return leati_stream_unlock_and_help(stream, leati_stream_flush(stream, err), err);
}

int32_t leati_stream_error_if_live(leat_stream *stream, leat_error *err) {
  leati_mutex_lock(&stream->lock);
  const int32_t status = stream->kind == LEATI_KIND_STREAM ? leati_stream_sticky(stream, err) : LEAT_OK;
  leati_mutex_unlock(&stream->lock);
  return status;
}

void leati_stream_finish(leat_stream *stream) {
  if (stream->open != NULL) {
    leati_timeline_drop(stream->timeline, stream->open);
  }
  leati_known_destroy(&stream->known);
  leati_mutex_destroy(&stream->lock);
}

/* ---- Marks and waits ----------------------------------------------------------------------------------------------
 */

/* Which of a timeline and those it replaced still runs something, and the last value of it that is going to be
 * reached; or NULL. `lock` held. */
static leati_timeline *running(leati_timeline *timeline, uint64_t *out_value) {
  leati_timeline *at = timeline;
  for (; at != NULL; at = at->replaced) {
    *out_value = leati_timeline_last(at);
    if (atomic_load_explicit(&at->completed, memory_order_acquire) < *out_value) {
      break;
    }
  }
  return at;
}

/* Sees to it that the next value of the timeline, or the last one if nothing is open, covers everything in the stream.
 * What still runs on timelines that were replaced is covered by a list that came after; if none has, one without
 * commands does. It is made only where a caller asks for such a value, so that a caller that put nothing into the
 * stream is not told of its loss.
 * `lock` held. */
static void cover(leat_stream *stream) LEATI_HOLDS(stream->lock) {
  leati_timeline *const timeline = stream->timeline;
  if (timeline->replaced != NULL && !is_open(stream)) {
    uint64_t value;
    leati_timeline_settle(timeline);
    const leati_timeline *const newest = running(timeline, &value);
    stream->waiting = newest != NULL && newest != timeline;
  }
}

int32_t leati_stream_mark(leat_stream *stream, leati_timestamp *timestamp, leati_timeline **out_timeline,
                          uint64_t *out_value, leat_error *err) {
  leati_mutex_lock(&stream->lock);
  int32_t status = leati_stream_sticky(stream, err);
  if (status == LEAT_OK && timestamp != NULL) {
    leati_command *command = NULL;
    status = leati_stream_append(stream, &command, err);
    if (status != LEAT_OK) {
      *out_timeline = NULL;
      return leati_stream_unlock_and_help(stream, status, err);
    }
    *command = (leati_command){.kind = LEATI_COMMAND_TIMESTAMP, .timestamp = timestamp};
    ++stream->open->command_count;
  }
  if (status == LEAT_OK) {
    cover(stream);
    status = leati_stream_flush(stream, err);
  }
  if (status != LEAT_OK) {
    leati_timeline_end(stream->timeline);
  }
  *out_timeline = stream->timeline;
  leati_timeline_keep(stream->timeline);
  *out_value = status == LEAT_OK ? leati_stream_open_value(stream) - 1 : leati_stream_open_value(stream);
  if (timestamp != NULL) {
    timestamp->timeline = stream->timeline;
    timestamp->value = *out_value;
    timestamp->lane = stream->lane != NULL ? stream->lane->index : 0;
  }
  return leati_stream_unlock_and_help(stream, status, err);
}

/* The value that covers everything in the stream now, once it is submitted. `lock` held. */
static uint64_t covering_value(leat_stream *stream) LEATI_HOLDS(stream->lock) {
  cover(stream);
  return is_open(stream) ? leati_stream_open_value(stream) : leati_stream_open_value(stream) - 1;
}

int32_t leati_stream_alloc(leat_stream *stream, uint64_t size, uint64_t *out_address, leat_error *err) {
  leati_mutex_lock(&stream->lock);
  const int32_t status = leati_memory_alloc(stream->device, size, stream->timeline, out_address, err);
  leati_mutex_unlock(&stream->lock);
  return status;
}

void leati_stream_stamp(leat_stream *stream, leati_block *block) {
  leati_mutex_lock(&stream->lock);
  leati_block_stamp(block, stream->timeline, covering_value(stream));
  leati_mutex_unlock(&stream->lock);
}

int32_t leati_stream_synchronize(leat_stream *stream, leat_error *err) {
  leati_mutex_lock(&stream->lock);
  cover(stream);
  int32_t status = leati_stream_flush(stream, err);
  leati_timeline *const timeline = stream->timeline;
  const uint64_t value = leati_stream_open_value(stream) - 1;
  leati_lane *const lane = stream->lane;
  leati_timeline_keep(timeline);
  leati_mutex_unlock(&stream->lock);
  /* The wait looks after the lane, where the list may gather with those of others. */
  if (status == LEAT_OK) {
    status = leati_wait(timeline, value, -1, err);
  }
  if (status != LEAT_OK && lane != NULL) {
    leati_lane_help(lane);
  }
  if (status != LEAT_OK) {
    (void)leati_stream_drain(stream, timeline, UINT64_MAX, NULL);
  }
  leati_timeline_release(timeline);
  return status;
}

int32_t leati_stream_drain(leat_stream *stream, leati_timeline *failed, uint64_t deadline_ns, leat_error *err) {
  for (;;) {
    uint64_t value;
    leati_mutex_lock(&stream->lock);
    leati_timeline *const at = running(failed, &value);
    leati_mutex_unlock(&stream->lock);
    if (at == NULL) {
      return LEAT_OK;
    }
    const uint64_t now = leati_now_ns();
    const uint64_t left = now < deadline_ns ? deadline_ns - now : 0;
    leat_error failure = {.struct_size = sizeof(failure)};
    const int32_t status = leati_wait(at, value, deadline_ns == UINT64_MAX ? -1 : (int64_t)left, &failure);
    const bool reached = atomic_load_explicit(&at->completed, memory_order_acquire) >= value;
    if (status != LEAT_OK && !reached && !leati_timeline_fails(at, value)) {
      return leati_fail_again(err, &failure);
    }
  }
}

/* ---- Failures -----------------------------------------------------------------------------------------------------
 */

/* Puts a stream whose timeline was replaced back onto the lane where the rest of its work is: its last list may have
 * been lost on the way to another one. All of that rest is on one lane, since such a stream moves only when it is idle.
 * `lock` held. */
static void return_to_lane(leat_stream *stream) LEATI_HOLDS(stream->lock) {
  for (leati_timeline *at = stream->timeline->replaced; at != NULL; at = at->replaced) {
    const uint64_t last = leati_timeline_last(at);
    leati_point point;
    if (!leati_timeline_passed(at, last) && leati_timeline_locate(at, last, &point)) {
      stream->lane = leati_lane_of(point.semaphore);
      return;
    }
  }
}

/* Gives a stream a fresh timeline in place of its failed one, and an empty list. `lock` held. */
static int32_t renew(leat_stream *stream, leat_error *err) LEATI_HOLDS(stream->lock) {
  leati_timeline *fresh;
  LEATI_TRY(leati_timeline_take(stream->device, &fresh, err));
  leati_timeline_end(stream->timeline);
  leati_stream_forget(stream);
  /* What was pushed to the old timeline before it failed may still run: the stream is not idle until it has. */
  fresh->replaced = stream->timeline;
  atomic_store_explicit(&stream->timeline, fresh, memory_order_release);
  leati_timeline_settle(fresh);
  /* The waits of what was taken back are gone, and all that was submitted is waited for or another owner's. */
  leati_stream_own_anew(stream);
  return_to_lane(stream);
  /* A list on its way to another lane, which is to wait there for what the stream has in flight, may be lost yet: then
   * the next one has to. */
  for (leati_timeline *at = fresh->replaced; at != NULL; at = at->replaced) {
    leati_timeline_add_waits(at, stream->waits);
  }
  return LEAT_OK;
}

/* Whether the stream's timeline has failed. With or without `lock`. */
static bool has_failed(const leat_stream *stream) {
  const leati_timeline *const timeline = atomic_load_explicit(&stream->timeline, memory_order_acquire);
  return atomic_load_explicit(&timeline->failed, memory_order_acquire) != LEAT_OK;
}

/* Whether the queue may still refuse a list of the stream. */
static bool may_fail(const leat_stream *stream) {
  leati_timeline *const timeline = atomic_load_explicit(&stream->timeline, memory_order_acquire);
  const uint64_t promised = atomic_load_explicit(&timeline->promised, memory_order_acquire);
  leati_point point;
  return atomic_load_explicit(&timeline->completed, memory_order_acquire) < promised &&
         leati_timeline_locate(timeline, promised, &point) && point.value == 0;
}

int32_t leati_stream_adopt_owner(leat_stream *stream, leat_error *err) {
  /* In this order: a list that the queue refuses fails the stream before it is gone. */
  if (!may_fail(stream) && !has_failed(stream)) {
    return LEAT_OK;
  }
  leati_mutex_lock(&stream->lock);
  leati_timeline *const timeline = stream->timeline;
  if (timeline->replaced != NULL && may_fail(stream)) {
    /* One timeline too many is enough: of the others the queue is asked now. */
    const uint64_t promised = atomic_load_explicit(&timeline->promised, memory_order_relaxed);
    leati_point point;
    leati_mutex_unlock(&stream->lock);
    (void)leati_lane_ensure(timeline, promised, &point);
    leati_mutex_lock(&stream->lock);
  }
  /* Another thread may have cleared the error meanwhile. What others have put in since then stays where it is. */
  const bool late = may_fail(stream) && stream->open == NULL && !stream->waiting;
  const bool stale = has_failed(stream) || late;
  const int32_t status = stale ? renew(stream, err) : LEAT_OK;
  leati_mutex_unlock(&stream->lock);
  return status;
}

/* Flushes a stream whose owner leaves it, and abandons its timeline, in one step: what another thread puts in goes with
 * the one owner or stays for the next. */
static void leave(leat_stream *stream) {
  leati_mutex_lock(&stream->lock);
  if (leati_stream_flush(stream, NULL) != LEAT_OK) {
    leati_stream_forget(stream);
  }
  leati_timeline_abandon(stream->timeline);
  (void)leati_stream_unlock_and_help(stream, LEAT_OK, NULL);
}

void leati_stream_release_owner(leat_stream *stream) {
  leave(stream);
  leati_mutex_lock(&stream->lock);
  leati_stream_own_anew(stream);
  if (has_failed(stream)) {
    (void)renew(stream, NULL);
  }
  leati_mutex_unlock(&stream->lock);
}

int32_t leati_stream_clear_error(leat_stream *stream, leat_error *err) {
  for (;;) {
    leati_mutex_lock(&stream->lock);
    leati_timeline *const timeline = stream->timeline;
    const bool lost = atomic_load_explicit(&stream->device->lost, memory_order_relaxed);
    const bool failed = !lost && atomic_load_explicit(&timeline->failed, memory_order_acquire) != LEAT_OK;
    uint64_t value;
    const bool runs = failed && running(timeline, &value) != NULL;
    const int32_t status = lost ? leati_stream_sticky(stream, err) : failed && !runs ? renew(stream, err) : LEAT_OK;
    if (runs) {
      leati_timeline_keep(timeline);
    }
    leati_mutex_unlock(&stream->lock);
    if (!runs) {
      return status;
    }
    /* Then look again: another thread may have cleared this failure meanwhile, and the stream may have failed anew. */
    const int32_t drained = leati_stream_drain(stream, timeline, UINT64_MAX, err);
    leati_timeline_release(timeline);
    LEATI_TRY(drained);
  }
}
