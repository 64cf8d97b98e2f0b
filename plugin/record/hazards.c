/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/hazards.h"

#include <inttypes.h>

#include "core/array.h"
#include "core/status.h"
#include "memory/memory.h"

/* A write that the device may not have done yet. */
typedef struct pending_write {
  leati_range range;
  leati_timeline *timeline;
  uint64_t value;
  uint32_t command; /* in its list */
  const leat_stream *stream;
  uint32_t number;
} pending_write;

struct leati_hazards {
  leati_mutex lock; /* guards everything below, and every leati_known of the device */
  leati_known external;
  pending_write *writes;
  uint32_t count, capacity;
  uint32_t kept; /* how many were left when those that the device has done were last taken off */
};

int32_t leati_hazards_create(leat_device *device, leat_error *err) {
  if (!leati_memory_guarded(device)) {
    return LEAT_OK;
  }
  struct leati_hazards *const hazards = leati_calloc(1, sizeof(*hazards));
  if (hazards == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for what guarding knows of writes");
  }
  leati_mutex_init(&hazards->lock, LEATI_RANK_HAZARDS);
  device->hazards = hazards;
  return LEAT_OK;
}

void leati_hazards_destroy(leat_device *device) {
  struct leati_hazards *const hazards = device->hazards;
  if (hazards != NULL) {
    leati_known_destroy(&hazards->external);
    leati_mutex_destroy(&hazards->lock);
    leati_free(hazards->writes);
    leati_free(hazards);
    device->hazards = NULL;
  }
}

/* ---- What is known ------------------------------------------------------------------------------------------------
 */

void leati_known_destroy(leati_known *known) {
  leati_free(known->points);
}

/* Keeps the room for points. The lock is held. */
static void forget(leati_known *known) {
  known->count = 0;
  known->everything = false;
}

void leati_known_forget(leat_device *device, leati_known *known) {
  if (device->hazards != NULL) {
    leati_mutex_lock(&device->hazards->lock);
    forget(known);
    leati_mutex_unlock(&device->hazards->lock);
  }
}

/* Adds a point, unless a later one of its timeline is known. */
static void know(leati_known *known, leati_timeline *timeline, uint64_t value) {
  uint32_t i = 0;
  while (i < known->count && known->points[i].timeline != timeline) {
    ++i;
  }
  if (i == known->count) {
    if (leati_array_room(&known->points, i, &known->capacity, sizeof(*known->points), 8, "points", NULL) != LEAT_OK) {
      known->everything = true;
      return;
    }
    known->points[known->count++] = (leati_stamp){.timeline = timeline};
  }
  known->points[i].value = known->points[i].value > value ? known->points[i].value : value;
}

static void know_all(leati_known *known, const leati_known *other) {
  known->everything = known->everything || other->everything;
  for (uint32_t i = 0; i < other->count; ++i) {
    know(known, other->points[i].timeline, other->points[i].value);
  }
}

static bool knows(const leati_known *known, const leati_timeline *timeline, uint64_t value) {
  for (uint32_t i = 0; i < known->count; ++i) {
    if (known->points[i].timeline == timeline) {
      return known->everything || known->points[i].value >= value;
    }
  }
  return known->everything;
}

/* Adds what a stream knows, and its own point. The lock is held. */
static void know_stream(leati_known *known, const leati_known *stream, leati_timeline *timeline, uint64_t value) {
  know_all(known, stream);
  know(known, timeline, value);
}

void leati_known_record(leat_device *device, leati_known *event, const leati_known *stream, leati_timeline *timeline,
                        uint64_t value) {
  if (device->hazards != NULL) {
    leati_mutex_lock(&device->hazards->lock);
    forget(event);
    know_stream(event, stream, timeline, value);
    leati_mutex_unlock(&device->hazards->lock);
  }
}

void leati_known_publish(leat_device *device, const leati_known *stream, leati_timeline *timeline, uint64_t value) {
  if (device->hazards != NULL) {
    leati_mutex_lock(&device->hazards->lock);
    know_stream(&device->hazards->external, stream, timeline, value);
    leati_mutex_unlock(&device->hazards->lock);
  }
}

void leati_known_learn(leat_device *device, leati_known *stream, const leati_known *event) {
  if (device->hazards != NULL) {
    leati_mutex_lock(&device->hazards->lock);
    know_all(stream, event);
    leati_mutex_unlock(&device->hazards->lock);
  }
}

leati_known *leati_known_external(leat_device *device) {
  return device->hazards != NULL ? &device->hazards->external : NULL;
}

/* ---- Reads and writes ---------------------------------------------------------------------------------------------
 */

/* Whether the device has yet to do a write. */
static bool is_pending(const pending_write *write) {
  /* The quick look says no too while another thread has the timeline. */
  return !leati_timeline_passed(write->timeline, write->value) &&
         leati_timeline_query(write->timeline, write->value, NULL) == LEAT_ERROR_NOT_READY;
}

/* Whether a write is in order with a read because their stream has one owner. */
static bool is_own(const pending_write *write, const leati_accessor *reader) {
  return write->timeline == reader->timeline && write->value > reader->owned_since;
}

int32_t leati_hazards_read(const leati_accessor *reader, const leati_range *range, leat_error *err) {
  struct leati_hazards *const hazards = reader->device->hazards;
  int32_t status = LEAT_OK;
  leati_mutex_lock(&hazards->lock);
  for (uint32_t i = 0; i < hazards->count && status == LEAT_OK; ++i) {
    const pending_write *const write = &hazards->writes[i];
    if (!is_own(write, reader) && leati_range_meets(&write->range, range) &&
        !knows(reader->known, write->timeline, write->value) && is_pending(write)) {
      status = leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                          "stream %" PRIu32 " (%p) would read memory from 0x%" PRIx64 " on before %sstream %" PRIu32
                          " (%p) has written it: nothing orders the two. Record an event in the one behind the write "
                          "and let the other wait for it, or synchronize the one that writes",
                          reader->number, (const void *)reader->stream, range->begin,
                          write->stream == reader->stream ? "the owner before of " : "", write->number,
                          (const void *)write->stream);
    }
  }
  leati_mutex_unlock(&hazards->lock);
  return status;
}

/* Takes off what the device has done. */
static void drop_done(struct leati_hazards *hazards) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < hazards->count; ++i) {
    if (!leati_timeline_passed(hazards->writes[i].timeline, hazards->writes[i].value)) {
      hazards->writes[kept++] = hazards->writes[i];
    }
  }
  hazards->count = hazards->kept = kept;
}

void leati_hazards_write(const leati_accessor *writer, const leati_range *range) {
  struct leati_hazards *const hazards = writer->device->hazards;
  leati_mutex_lock(&hazards->lock);
  /* As often as it pays: each pass looks at no more than twice what it leaves. */
  if (hazards->count >= 64 && hazards->count >= 2 * hazards->kept) {
    drop_done(hazards);
  }
  /* Without host memory the write is not known, and no read of it is refused. */
  if (leati_array_room(&hazards->writes, hazards->count, &hazards->capacity, sizeof(*hazards->writes), 64, "writes",
                       NULL) == LEAT_OK) {
    hazards->writes[hazards->count++] = (pending_write){.range = *range,
                                                        .timeline = writer->timeline,
                                                        .value = writer->value,
                                                        .command = writer->command,
                                                        .stream = writer->stream,
                                                        .number = writer->number};
  }
  leati_mutex_unlock(&hazards->lock);
}

void leati_hazards_take_back(leat_device *device, const leati_timeline *timeline, uint64_t value,
                             uint32_t first_command) {
  struct leati_hazards *const hazards = device->hazards;
  if (hazards == NULL) {
    return;
  }
  uint32_t kept = 0;
  leati_mutex_lock(&hazards->lock);
  for (uint32_t i = 0; i < hazards->count; ++i) {
    const pending_write *const write = &hazards->writes[i];
    if (write->timeline != timeline || write->value != value || write->command < first_command) {
      hazards->writes[kept++] = *write;
    }
  }
  hazards->count = kept;
  leati_mutex_unlock(&hazards->lock);
}
