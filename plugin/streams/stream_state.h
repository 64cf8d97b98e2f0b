/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What a stream holds. For the files of this room only.
 */
#ifndef LEAT_PLUGIN_STREAMS_STREAM_STATE_H_
#define LEAT_PLUGIN_STREAMS_STREAM_STATE_H_

#include <leat/backend.h>

#include "core/array.h"
#include "core/status.h"
#include "device/device.h"
#include "record/hazards.h"
#include "record/profile.h"
#include "record/ranges.h"
#include "submit/command_buffer.h"
#include "submit/lane.h"
#include "submit/timestamp.h"
#include "timeline/timeline.h"

struct leat_stream {
  leati_kind kind;    /* LEATI_KIND_DEAD while on the free list */
  int32_t pool_index; /* in the pool of streams, or -1; set once */
  /* How many streams this object has been and is no more. Relaxed: whoever has to know of a destruction has heard of it
   * from the thread that destroyed. */
  _Atomic uint64_t ended;
  leat_device *device;
  uint32_t number;                             /* how many stream objects were made before; set once */
  leat_stream *next;                           /* all stream objects; set once */
  leat_stream *next_free;                      /* guarded by the lock of the free streams */
  _Alignas(LEATI_CACHE_LINE) leati_mutex lock; /* guards everything below */
  /* Changes under `lock`. leati_stream_adopt_owner() looks without it: a load (acquire) that pairs with the store
   * (release) where it is replaced. */
  _Atomic(leati_timeline *) timeline;
  leati_lane *lane;                        /* that the last list went to; NULL: none did */
  uint32_t interval;                       /* of leati_lane_add() */
  leati_submission *open;                  /* the list of commands that are not submitted; NULL: none yet */
  leati_chunk *current[LEATI_CHUNK_KINDS]; /* chunks of `open` that are being filled */
  bool barrier_next;                       /* the next command needs a barrier whatever it touches */
  leati_ranges reads, writes;
  leati_known known;    /* what the next command comes after, beside what the stream's owner put in before */
  uint64_t owned_since; /* the last value of `timeline` that is not the owner's: of an owner before, or of nobody */
  /* The open list is submitted even without commands: it waits for something, or somebody waits for its value. What
   * it comes after may be of other timelines. */
  bool waiting;
  leati_point waits[LEATI_LANES_MAX]; /* by lane; what the open list waits for on the device */
};
LEATI_APART(struct leat_stream, ended, lock);

/* Steps on the open list. Recording takes some of them for each command, so they are compiled into it. */

/** Fails with the stream's sticky error. `lock` held. */
static inline int32_t leati_stream_sticky(const leat_stream *stream, leat_error *err) LEATI_HOLDS(stream->lock) {
  if (atomic_load_explicit(&stream->device->lost, memory_order_relaxed)) {
    return leati_fail(err, LEAT_ERROR_DEVICE_LOST, "the device is lost (driver crash, reset or removal)");
  }
  if (atomic_load_explicit(&stream->timeline->failed, memory_order_acquire) != LEAT_OK) {
    return leati_fail_again(err, &stream->timeline->failure);
  }
  return LEAT_OK;
}

/** Value that the open list will raise the timeline to. `lock` held. */
static inline uint64_t leati_stream_open_value(const leat_stream *stream) LEATI_HOLDS(stream->lock) {
  return atomic_load_explicit(&stream->timeline->promised, memory_order_relaxed) + 1;
}

/** Commands of the open list. `lock` held. */
static inline uint32_t leati_stream_open_count(const leat_stream *stream) LEATI_HOLDS(stream->lock) {
  return stream->open != NULL ? stream->open->command_count : 0;
}

/** Makes the open list wait for a point. `lock` held. */
static inline void leati_stream_add_wait(leat_stream *stream, leati_point point) LEATI_HOLDS(stream->lock) {
  leati_point *const slot = &stream->waits[leati_lane_of(point.semaphore)->index];
  if (slot->value < point.value) {
    *slot = point;
  }
  stream->waiting = true;
}

/** Makes the submission that the open list goes into, of which there is none. `lock` held. */
int32_t leati_stream_open_list(leat_stream *stream, leat_error *err) LEATI_HOLDS(stream->lock);

/** The submission that the open list goes into, made at need. `lock` held. */
static inline int32_t leati_stream_need_open(leat_stream *stream, leat_error *err) LEATI_HOLDS(stream->lock) {
  return stream->open != NULL ? LEAT_OK : leati_stream_open_list(stream, err);
}

/** A new command at the end of the list, which counts once `command_count` is raised. `lock` held. */
static inline int32_t leati_stream_append(leat_stream *stream, leati_command **out, leat_error *err)
    LEATI_HOLDS(stream->lock) {
  LEATI_TRY(leati_stream_need_open(stream, err));
  leati_submission *const open = stream->open;
  LEATI_TRY(leati_array_room(&open->commands, open->command_count, &open->command_capacity, sizeof(*open->commands), 16,
                             "commands", err));
  *out = &open->commands[open->command_count];
  return LEAT_OK;
}

/** Hands the open list to a lane. A list that cannot be is lost, and its timeline fails. `lock` held; when it is given
 * back, leati_stream_unlock_and_help() must follow. */
int32_t leati_stream_flush(leat_stream *stream, leat_error *err) LEATI_HOLDS(stream->lock);
/** The same, and right behind it hands over the pieces of downloads, linked by `next`, whose values follow the open
 * list's. Of a list that is lost they are too. */
int32_t leati_stream_flush_with(leat_stream *stream, leati_submission *pieces, leat_error *err)
    LEATI_HOLDS(stream->lock);
/** Gives the lock back and helps the lane that a list may have gone to. Returns `status`, or why the queue refused the
 * list. */
int32_t leati_stream_unlock_and_help(leat_stream *stream, int32_t status, leat_error *err) LEATI_GIVES(stream->lock);
/** Takes back everything in the stream that was not submitted. `lock` held. */
void leati_stream_forget(leat_stream *stream) LEATI_HOLDS(stream->lock);
/** Lets what is put in from now on come, for the guard, after nothing that is there. `lock` held. */
void leati_stream_own_anew(leat_stream *stream) LEATI_HOLDS(stream->lock);
/** Frees what a stream object holds. */
void leati_stream_finish(leat_stream *stream);
/** Flushes a stream unless it is on the free list. */
int32_t leati_stream_flush_if_live(leat_stream *stream, leat_error *err);
/** Gives the sticky error of a stream unless it is on the free list. */
int32_t leati_stream_error_if_live(leat_stream *stream, leat_error *err);
/** Lets a stream start afresh for another owner: flushes it, forgets the downloads that no event covers, whose
 * destinations may go with the owner, and clears its error. Work in flight goes on. */
void leati_stream_release_owner(leat_stream *stream);
/** Sees to it that the owner before leaves no error to the next one, neither now nor when the queue refuses what it
 * handed over last.
 * @errors OUT_OF_MEMORY */
int32_t leati_stream_adopt_owner(leat_stream *stream, leat_error *err);
/** leat_stream_api::clear_error, without the checks. */
int32_t leati_stream_clear_error(leat_stream *stream, leat_error *err);
/** Submits what is open with a timestamp behind it (NULL: without) and tells which value of which timeline covers it.
 * The timeline is kept for the caller, who calls leati_timeline_release().
 * If that fails, the value is one that is never reached, on a timeline that has failed; or `*out_timeline` is NULL:
 * there was no memory for the timestamp, and the stream is as it was. */
int32_t leati_stream_mark(leat_stream *stream, leati_timestamp *timestamp, leati_timeline **out_timeline,
                          uint64_t *out_value, leat_error *err);

#endif /* LEAT_PLUGIN_STREAMS_STREAM_STATE_H_ */
