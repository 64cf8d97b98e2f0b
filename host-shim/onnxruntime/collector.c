/* SPDX-License-Identifier: BSD-3-Clause */
#include "collector.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Records that are asked for at once. */
#define CHUNK 256u

bool leati_collector_init(leati_collector *collector) {
  *collector = (leati_collector){.spans = {.most = LEATI_PROFILE_MOST}};
  return pthread_mutex_init(&collector->lock, NULL) == 0;
}

void leati_collector_clear(leati_collector *collector) {
  pthread_mutex_destroy(&collector->lock);
}

static uint64_t now_ns(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* As the backend names this thread in its records. */
static uint32_t own_thread(void) {
  return (uint32_t)syscall(SYS_gettid);
}

/* What was lost since the backend's profiler was started; `pending`: with what it has for us. `lock` held. */
static uint64_t lost_so_far(const leati_collector *collector, const leat_profiler_api *api, leat_device *device,
                            bool pending) LEATI_HOLDS(collector->lock) {
  leat_profiler_info info = {.struct_size = sizeof(info)};
  (void)api->info(device, &info, NULL);
  return collector->lost_spans + info.lost_count + (pending ? info.pending_count : 0);
}

int32_t leati_collector_begin(leati_collector *collector, const leat_profiler_api *api, leat_device *device,
                              leati_profile *profile, leat_error *err) {
  pthread_mutex_lock(&collector->lock);
  int32_t code = LEAT_OK;
  if (profile->running) {
    strcpy(err->message, "this profile runs already");
    code = LEAT_ERROR_BUSY;
  } else if (collector->profiles == 0) {
    code = api->start(device, LEATI_PROFILE_MOST, 0, err);
    collector->lost_spans = 0;
  }
  if (code == LEAT_OK) {
    *profile = (leati_profile){.running = true, .lost = lost_so_far(collector, api, device, false)};
    collector->profiles++;
  }
  pthread_mutex_unlock(&collector->lock);
  return code;
}

void leati_collector_enter(leati_collector *collector, const leati_profile *profile, uint64_t id) {
  pthread_mutex_lock(&collector->lock);
  if (profile->running && !leati_spans_begin(&collector->spans, own_thread(), profile, id, now_ns())) {
    collector->lost_spans++;
  }
  pthread_mutex_unlock(&collector->lock);
}

void leati_collector_leave(leati_collector *collector, const leati_profile *profile, uint64_t id, char *name) {
  pthread_mutex_lock(&collector->lock);
  leati_spans_end(&collector->spans, own_thread(), profile, id, now_ns(), name);
  pthread_mutex_unlock(&collector->lock);
}

/* Makes room for a chunk of records. `lock` held. */
static bool reserve(leati_collector *collector) LEATI_HOLDS(collector->lock) {
  if (collector->count + CHUNK > LEATI_PROFILE_MOST) {
    return false;
  }
  if (collector->count + CHUNK <= collector->capacity) {
    return true;
  }
  const size_t capacity = 2 * collector->capacity + CHUNK;
  leat_profile_record *grown = realloc(collector->records, capacity * sizeof(*grown));
  if (grown != NULL) {
    collector->records = grown;
    collector->capacity = capacity;
  }
  return grown != NULL;
}

/* Reads what the backend has. False: there is no room, and the rest stays there. `lock` held. */
static bool read_records(leati_collector *collector, const leat_profiler_api *api, leat_device *device)
    LEATI_HOLDS(collector->lock) {
  uint32_t count = CHUNK;
  while (count == CHUNK) {
    if (!reserve(collector)) {
      return false;
    }
    leat_profile_record *end = collector->records + collector->count;
    for (uint32_t i = 0; i < CHUNK; ++i) {
      end[i].struct_size = sizeof(*end);
    }
    if (api->read(device, &count, end, NULL) != LEAT_OK) {
      return true;
    }
    collector->count += count;
  }
  return true;
}

/* By launch: what is told of all of it, then its steps in their order. */
static int compare(const void *a, const void *b) {
  const leat_profile_record *left = a;
  const leat_profile_record *right = b;
  if (left->launch != right->launch) {
    return left->launch < right->launch ? -1 : 1;
  }
  const bool left_whole = left->kind == LEAT_PROFILE_LAUNCH;
  const bool right_whole = right->kind == LEAT_PROFILE_LAUNCH;
  if (left_whole != right_whole) {
    return left_whole ? -1 : 1;
  }
  return (left->step > right->step) - (left->step < right->step);
}

static bool is_step(const leat_profile_record *record) {
  return record->kind == LEAT_PROFILE_KERNEL || record->kind == LEAT_PROFILE_COPY;
}

/* Hands out the steps that belong to a profile, and keeps what may belong to another. Gives the number of steps whose
 * launch is not there, and which nobody will ask for any more. `lock` held. */
static uint64_t hand_out(leati_collector *collector, const leati_profile *profile, leati_collector_visit visit,
                         void *context) LEATI_HOLDS(collector->lock) {
  if (collector->count != 0) {
    qsort(collector->records, collector->count, sizeof(*collector->records), compare);
  }
  uint64_t launch = 0;
  const leati_span *span = NULL;
  size_t kept = 0;
  uint64_t orphans = 0;
  for (size_t i = 0; i < collector->count; ++i) {
    leat_profile_record *record = &collector->records[i];
    if (record->kind == LEAT_PROFILE_LAUNCH) {
      launch = record->launch;
      span = leati_spans_find(&collector->spans, record->thread, record->recorded_ns);
    } else if (!is_step(record)) {
      continue;
    }
    /* Of a launch that still runs the steps may be there and the rest not. */
    const bool is_known = record->launch == launch;
    if (is_known && span != NULL && span->profile == profile) {
      if (visit != NULL && is_step(record)) {
        visit(context, record, span);
      }
    } else if (is_known ? span != NULL : collector->profiles > 1) {
      collector->records[kept++] = *record;
    } else {
      orphans += !is_known;
    }
  }
  collector->count = kept;
  return orphans;
}

uint64_t leati_collector_end(leati_collector *collector, const leat_profiler_api *api, leat_device *device,
                             leati_profile *profile, leati_collector_visit visit, void *context) {
  uint64_t lost = 0;
  pthread_mutex_lock(&collector->lock);
  if (profile->running) {
    const bool complete = read_records(collector, api, device);
    lost = lost_so_far(collector, api, device, !complete) - profile->lost;
    const uint64_t orphans = hand_out(collector, profile, visit, context);
    /* While nothing is lost, they are of a launch that is just being told of, and of no profile. */
    lost += lost != 0 ? orphans : 0;
    leati_spans_forget(&collector->spans, profile);
    profile->running = false;
    if (--collector->profiles == 0) {
      api->stop(device, NULL);
      free(collector->records);
      collector->records = NULL;
      collector->count = collector->capacity = 0;
    }
  }
  pthread_mutex_unlock(&collector->lock);
  return lost;
}
