/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What a stream holds. For the files of this room only.
 */
#ifndef LEAT_PLUGIN_STREAMS_STREAM_STATE_H_
#define LEAT_PLUGIN_STREAMS_STREAM_STATE_H_

#include <leat/backend.h>

#include "device.h"
#include "streams/lane.h"
#include "timeline.h"

/** A command, before it is recorded into a command buffer. */
typedef struct leati_command {
  bool is_copy;
  bool barrier; /**< everything before it must be visible to it */
  union {
    struct {
      VkPipeline pipeline;
      VkDescriptorSet set;
      uint32_t offset; /**< of the argument record in the set's buffer */
      uint32_t groups[3];
    } dispatch;
    struct {
      VkBuffer from, to;
      VkBufferCopy region;
    } copy;
  };
} leati_command;

/** Bytes [begin, end) of device memory. */
typedef struct leati_range {
  uint64_t begin, end;
} leati_range;

/** What the next submission waits for on the device. */
typedef struct leati_wait {
  leati_timeline *timeline;
  uint64_t value;
} leati_wait;

/* Ranges remembered since the last barrier; when they run out a barrier starts afresh. */
#define LEATI_RANGES_MAX 64
/* Timelines that one submission waits for; when they run out the list is submitted early. */
#define LEATI_WAITS_MAX 16

struct leat_stream {
  leati_kind kind; /* LEATI_KIND_DEAD while on the free list */
  leat_device *device;
  leati_lane *lane;
  leat_stream *next;                           /* all stream objects; set once */
  leat_stream *next_free;                      /* guarded by the pool's lock */
  _Alignas(LEATI_CACHE_LINE) leati_mutex lock; /* guards everything below */
  leati_timeline *timeline;
  leati_submission *open; /* NULL while the list is empty */
  leati_command *commands;
  uint32_t command_count, command_capacity;
  leati_chunk *current[LEATI_CHUNK_KINDS]; /* chunks of `open` that are being filled */
  bool barrier_next;                       /* the next command needs a barrier whatever it touches */
  uint32_t read_count, write_count;
  leati_range reads[LEATI_RANGES_MAX], writes[LEATI_RANGES_MAX];
  uint32_t wait_count;
  leati_wait waits[LEATI_WAITS_MAX];
};

/** Takes back everything in the stream that was not submitted. `lock` held. */
void leati_stream_forget(leat_stream *stream);
/** Frees what a stream object holds. */
void leati_stream_finish(leat_stream *stream);
/** Flushes a stream unless it is on the free list. */
int32_t leati_stream_flush_if_live(leat_stream *stream, leat_error *err);

#endif /* LEAT_PLUGIN_STREAMS_STREAM_STATE_H_ */
