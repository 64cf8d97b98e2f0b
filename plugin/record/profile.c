/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/profile.h"

#include <stdio.h>
#include <string.h>

#include "core/status.h"
#include "memory/staging.h"
#include "record/command.h"
#include "record/profiler.h"

/* Nanoseconds after which the clocks of device and host are compared again. */
#define CLOCKS_COMPARED_NS UINT64_C(100000000)

/* leati_profile_entry::command of a record of the host. */
#define NO_COMMAND UINT32_MAX

/* ---- Recording --------------------------------------------------------------------------------------------------- */

void leati_profile_open(leati_submission *list, uint32_t modes) {
  leati_profile_list *const profile = leati_calloc(1, sizeof(*profile));
  if (profile != NULL) {
    profile->modes = modes;
  }
  list->profile = profile;
}

/* Makes room for `added` more entries. False: there is no memory. */
static bool reserve(leati_submission *list, uint32_t added) {
  leati_profile_list *const profile = list->profile;
  if (added <= profile->capacity - profile->count) {
    return true;
  }
  const uint32_t capacity = 2 * profile->count + added;
  leati_profile_list *const grown = leati_realloc(profile, sizeof(*profile) + capacity * sizeof(profile->entries[0]));
  if (grown != NULL) {
    grown->capacity = capacity;
    list->profile = grown;
  }
  return grown != NULL;
}

/* Copies a text as far as there is room, in whole characters of UTF-8. */
static void copy_text(char *to, size_t size, const char *text) {
  size_t length = strnlen(text, size);
  if (length == size) {
    for (length = size - 1; length > 0 && ((unsigned char)text[length] & 0xc0u) == 0x80u;) {
      --length;
    }
  }
  memcpy(to, text, length);
  to[length] = '\0';
}

/* Appends an entry, for which there is room. */
static leati_profile_entry *append(leati_profile_list *profile, uint32_t kind, uint64_t launch,
                                   const leati_profile_call *call) {
  leati_profile_entry *const entry = &profile->entries[profile->count++];
  *entry = (leati_profile_entry){.record = {.struct_size = sizeof(entry->record),
                                            .kind = kind,
                                            .launch = launch,
                                            .recorded_ns = call->begun_ns,
                                            .stream = (uint64_t)(uintptr_t)call->stream,
                                            .node = LEAT_PROFILE_NO_NODE},
                                 .command = NO_COMMAND};
  return entry;
}

/* What a command of no plan does. */
static const char *transfer_name(const leati_submission *list, uint32_t command) {
  static const char *const names[] = {
      [LEATI_TRANSFER_COPY] = "copy", [LEATI_TRANSFER_UPLOAD] = "upload", [LEATI_TRANSFER_DOWNLOAD] = "download"};
  return names[list->commands[command].transfer];
}

/* Notes one command of a call. */
static void note_step(const leati_submission *list, const leati_profile_call *call, uint64_t launch, uint32_t command) {
  const leati_plan *const plan = call->plan;
  const bool planned =
      plan != NULL && command >= call->first_of_plan && command - call->first_of_plan < plan->step_count;
  const leati_plan_step *const step = planned ? &plan->steps[command - call->first_of_plan] : NULL;
  leati_profile_entry *const entry =
      append(list->profile, planned && !step->copies ? LEAT_PROFILE_KERNEL : LEAT_PROFILE_COPY, launch, call);
  leat_profile_record *const record = &entry->record;
  entry->command = command;
  record->step = command - call->first_command;
  if (!planned) {
    copy_text(record->op, sizeof(record->op), transfer_name(list, command));
  } else if (plan->nodes == NULL) {
    copy_text(record->op, sizeof(record->op), plan->op);
  } else {
    const leati_plan_node *const node = &plan->nodes[step->node];
    copy_text(record->op, sizeof(record->op), node->op);
    copy_text(record->name, sizeof(record->name), node->name);
    record->node = node->number;
  }
}

void leati_profile_note(leat_device *device, leati_submission *list, const leati_profile_call *call) {
  const uint32_t steps = list->command_count - call->first_command;
  if (steps == 0) {
    return;
  }
  if (!reserve(list, steps + 1)) {
    /* The record of the launch and that of the recording are two. */
    leati_profiler_lose(device, list->profile->modes, steps + 2);
    return;
  }
  const uint64_t launch = leati_profiler_launch();
  for (uint32_t i = 0; i < steps; ++i) {
    note_step(list, call, launch, call->first_command + i);
  }
  /* Behind its steps: whoever goes through them has then seen all. */
  leat_profile_record *const record = &append(list->profile, LEAT_PROFILE_RECORD, launch, call)->record;
  record->begin_ns = call->begun_ns;
  record->end_ns = leati_now_ns();
  record->recorded_ns = 0;
  record->thread = leati_thread_id();
  record->step = steps;
  copy_text(record->op, sizeof(record->op),
            call->plan != NULL ? call->plan->op : transfer_name(list, call->first_command));
}

/* ---- Queries ----------------------------------------------------------------------------------------------------- */

static void drop_queries(leat_device *device, leati_profile_batch *batch) {
  if (batch->pool != VK_NULL_HANDLE) {
    device->vk.DestroyQueryPool(device->vk.handle, batch->pool, NULL);
    batch->pool = VK_NULL_HANDLE;
  }
  leati_chunks_give(device, batch->chunk);
  batch->chunk = NULL;
  batch->capacity = 0;
}

/* Sees to it that there are so many queries. False: there is no memory. */
static bool need_queries(leat_device *device, leati_profile_batch *batch, uint32_t count) {
  if (count <= batch->capacity) {
    return true;
  }
  drop_queries(device, batch);
  uint32_t capacity = LEATI_TIMESTAMPS_PER_BLOCK;
  while (capacity < count) {
    capacity *= 2;
  }
  const VkQueryPoolCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO, .queryType = VK_QUERY_TYPE_TIMESTAMP, .queryCount = capacity};
  const VkResult result = device->vk.CreateQueryPool(device->vk.handle, &info, NULL, &batch->pool);
  if (result != VK_SUCCESS) {
    batch->pool = VK_NULL_HANDLE;
    (void)leati_device_fail(device, result, "vkCreateQueryPool", NULL);
    return false;
  }
  if (leati_staging_take(device, 0, LEATI_CHUNK_DOWNLOAD, sizeof(uint64_t) * capacity, &batch->chunk, NULL) !=
      LEAT_OK) {
    batch->chunk = NULL;
    drop_queries(device, batch);
    return false;
  }
  batch->capacity = capacity;
  return true;
}

static void write_query(const leat_device *device, leati_profile_batch *batch, VkCommandBuffer commands) {
  device->vk.CmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, batch->pool, batch->query_count++);
}

/* Drops the profiles of lists that cannot have one. */
static void lose_lists(leat_device *device, leati_submission *const *lists, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    if (lists[i]->profile != NULL) {
      leati_profiler_lose(device, lists[i]->profile->modes, lists[i]->profile->count);
      leati_free(lists[i]->profile);
      lists[i]->profile = NULL;
    }
  }
}

leati_profile_batch *leati_profile_begin(leat_device *device, leati_profile_batch **inout_kept,
                                         VkCommandBuffer commands, leati_submission *const *lists, uint32_t count,
                                         uint32_t command_count) {
  if (*inout_kept == NULL) {
    *inout_kept = leati_calloc(1, sizeof(**inout_kept));
  }
  leati_profile_batch *const batch = *inout_kept;
  if (batch == NULL || !need_queries(device, batch, command_count + 1)) {
    lose_lists(device, lists, count);
    return NULL;
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (lists[i]->profile != NULL) {
      lists[i]->profile->written = 0;
    }
  }
  device->vk.ResetQueryPool(device->vk.handle, batch->pool, 0, command_count + 1);
  batch->query_count = 0;
  write_query(device, batch, commands);
  return batch;
}

void leati_profile_written(const leat_device *device, leati_profile_batch *batch, VkCommandBuffer commands,
                           const leati_submission *list, uint32_t i) {
  leati_profile_list *const profile = list->profile;
  if (profile != NULL) {
    while (profile->written < profile->count && (profile->entries[profile->written].command == NO_COMMAND ||
                                                 profile->entries[profile->written].command < i)) {
      ++profile->written;
    }
    if (profile->written < profile->count && profile->entries[profile->written].command == i) {
      profile->entries[profile->written].query = batch->query_count;
      profile->entries[profile->written].level = batch->level;
    }
  }
  /* Commands without an entry too, or the next one would seem to have kept the lane busy for both. */
  write_query(device, batch, commands);
}

void leati_profile_end(const leat_device *device, const leati_profile_batch *batch, VkCommandBuffer commands) {
  device->vk.CmdCopyQueryPoolResults(commands, batch->pool, 0, batch->query_count, batch->chunk->buffer, 0,
                                     sizeof(uint64_t), VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
}

leati_profile_list *leati_profile_part(leat_device *device, const leati_submission *list, uint32_t begin,
                                       uint32_t end) {
  leati_profile_list *const whole = list->profile;
  if (whole == NULL) {
    return NULL;
  }
  const uint32_t first = whole->written;
  while (whole->written < whole->count &&
         (whole->entries[whole->written].command == NO_COMMAND || whole->entries[whole->written].command < end)) {
    ++whole->written;
  }
  const uint32_t count = whole->written - first;
  leati_profile_list *const part = leati_calloc(1, sizeof(*part) + count * sizeof(part->entries[0]));
  if (part == NULL) {
    leati_profiler_lose(device, whole->modes, count);
    return NULL;
  }
  part->modes = whole->modes;
  part->count = part->capacity = count;
  for (uint32_t i = 0; i < count; ++i) {
    part->entries[i] = whole->entries[first + i];
    part->entries[i].command -= part->entries[i].command == NO_COMMAND ? 0 : begin;
  }
  return part;
}

/* ---- Submitting -------------------------------------------------------------------------------------------------- */

void leati_profile_sent(leat_device *device, leati_profile_batch *batch, leati_submission *const *lists, uint32_t count,
                        uint64_t begun_ns, bool first) {
  batch->submitted_ns = begun_ns;
  batch->list_count = 0;
  uint32_t modes = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (lists[i]->profile != NULL) {
      modes = lists[i]->profile->modes;
      batch->lists[batch->list_count++] = lists[i]->profile;
      lists[i]->profile = NULL;
    }
  }
  if (first) {
    leati_profiler_put(device, modes,
                       &(leat_profile_record){.struct_size = sizeof(leat_profile_record),
                                              .kind = LEAT_PROFILE_SUBMIT,
                                              .begin_ns = begun_ns,
                                              .end_ns = leati_now_ns(),
                                              .thread = leati_thread_id(),
                                              .node = LEAT_PROFILE_NO_NODE});
  }
}

/* ---- Collecting -------------------------------------------------------------------------------------------------- */

/* The moment on the host's clock at which the device's had a value. */
static uint64_t host_ns(const leat_device *device, const leati_profile_clock *clock, uint64_t steps) {
  /* The counter has so many valid bits and wraps around; `clock` is never so old that it has done so twice. */
  const uint32_t unused = 64 - device->physical->timestamp_bits;
  const int64_t difference = (int64_t)((steps - clock->steps) << unused) >> unused;
  return clock->ns + (uint64_t)(int64_t)((double)difference * (double)device->physical->timestamp_period);
}

/* Relates the clocks anew: by the driver, which must be asked now and then because no two clocks run alike; or so that
 * a batch which began at `steps` did not begin before it was submitted, and has ended by now. */
static void relate(const leat_device *device, leati_profile_clock *clock, uint64_t steps, uint64_t end_steps,
                   uint64_t submitted_ns) {
  const uint64_t now = leati_now_ns();
  if (device->physical->calibrates) {
    const VkCalibratedTimestampInfoEXT clocks[2] = {
        {.sType = VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT, .timeDomain = VK_TIME_DOMAIN_DEVICE_EXT},
        {.sType = VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT, .timeDomain = VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT}};
    uint64_t values[2] = {0}, deviation;
    if (clock->known && now - clock->asked_ns < CLOCKS_COMPARED_NS) {
      return;
    }
    if (device->vk.GetCalibratedTimestampsEXT(device->vk.handle, 2, clocks, values, &deviation) == VK_SUCCESS) {
      *clock = (leati_profile_clock){.known = true,
                                     .steps = values[0],
                                     .ns = values[1],
                                     .asked_ns = now,
                                     .last_ns = clock->last_ns,
                                     .launch = clock->launch};
      return;
    }
  }
  const uint64_t begun = clock->known ? host_ns(device, clock, steps) : 0;
  clock->known = true;
  clock->steps = steps;
  clock->ns = begun > submitted_ns ? begun : submitted_ns;
  const uint64_t ended = host_ns(device, clock, end_steps);
  clock->ns -= ended > now ? ended - now : 0;
}

/* The moments of a batch on the host's clock. */
typedef struct moments {
  const leat_device *device;
  const leati_profile_clock *clock;
  const uint64_t *steps; /* by query */
  uint64_t late; /* by what they would come before what was told already, because the clocks were related anew */
} moments;

static uint64_t moment(const moments *m, uint32_t query) {
  return host_ns(m->device, m->clock, m->steps[query]) + m->late;
}

/* Fills in the times of a step. */
static void fill_in(const moments *m, const leati_profile_entry *entry, leat_profile_record *record) {
  const uint64_t level = moment(m, entry->level), before = moment(m, entry->query - 1);
  record->end_ns = moment(m, entry->query);
  record->begin_ns = level < record->end_ns ? level : record->end_ns;
  record->busy_ns = before < record->end_ns ? record->end_ns - before : 0;
  if (record->busy_ns > record->end_ns - record->begin_ns) {
    record->busy_ns = record->end_ns - record->begin_ns;
  }
}

/* Adds a step to what its launch took. */
static void add_step(leati_profile_launch *launch, const leat_profile_record *step) {
  if (step->step == 0) {
    *launch = (leati_profile_launch){0};
  }
  launch->begin_ns = launch->begin_ns == 0 || step->begin_ns < launch->begin_ns ? step->begin_ns : launch->begin_ns;
  launch->end_ns = step->end_ns > launch->end_ns ? step->end_ns : launch->end_ns;
  launch->busy_ns += step->busy_ns;
}

/* Hands out the records of a list. */
static void collect_list(leat_device *device, const leati_profile_batch *batch, const moments *m, uint32_t lane,
                         leati_profile_list *list, leati_profile_launch *launch) {
  for (uint32_t i = 0; i < list->count; ++i) {
    leat_profile_record *const record = &list->entries[i].record;
    if (record->kind != LEAT_PROFILE_RECORD) {
      fill_in(m, &list->entries[i], record);
      record->submitted_ns = batch->submitted_ns;
      record->lane = lane;
      add_step(launch, record);
    } else {
      leat_profile_record whole = *record;
      whole.kind = LEAT_PROFILE_LAUNCH;
      whole.begin_ns = launch->begin_ns;
      whole.end_ns = launch->end_ns;
      whole.busy_ns = launch->busy_ns;
      whole.recorded_ns = record->begin_ns;
      whole.submitted_ns = batch->submitted_ns;
      whole.lane = lane;
      leati_profiler_put(device, list->modes, &whole);
    }
    leati_profiler_put(device, list->modes, record);
  }
}

void leati_profile_collect(leat_device *device, leati_profile_batch *batch, uint32_t lane, leati_profile_clock *clock) {
  const uint64_t *const steps = (const uint64_t *)(const void *)batch->chunk->mapped;
  relate(device, clock, steps[0], steps[batch->query_count - 1], batch->submitted_ns);
  moments m = {.device = device, .clock = clock, .steps = steps};
  const uint64_t begun = moment(&m, 0);
  m.late = begun < clock->last_ns ? clock->last_ns - begun : 0;
  for (uint32_t i = 0; i < batch->list_count; ++i) {
    collect_list(device, batch, &m, lane, batch->lists[i], &clock->launch);
    leati_free(batch->lists[i]);
  }
  clock->last_ns = moment(&m, batch->query_count - 1);
  batch->list_count = 0;
  batch->query_count = 0;
}

void leati_profile_destroy(leat_device *device, leati_profile_batch *batch) {
  if (batch == NULL) {
    return;
  }
  for (uint32_t i = 0; i < batch->list_count; ++i) {
    leati_free(batch->lists[i]);
  }
  drop_queries(device, batch);
  leati_free(batch);
}

/* ---- Compiling and waiting --------------------------------------------------------------------------------------- */

/* Gives a record of what this thread has done since `begun_ns`, of no call, to those who ask for it by now. */
static void put_of_thread(leat_device *device, uint32_t kind, const char *name, uint64_t begun_ns) {
  const uint32_t modes = atomic_load_explicit(&device->profiling, memory_order_relaxed);
  if (modes != 0) {
    leat_profile_record record = {.struct_size = sizeof(record),
                                  .kind = kind,
                                  .begin_ns = begun_ns,
                                  .end_ns = leati_now_ns(),
                                  .thread = leati_thread_id(),
                                  .node = LEAT_PROFILE_NO_NODE};
    (void)snprintf(record.name, sizeof(record.name), "%s", name);
    leati_profiler_put(device, modes, &record);
  }
}

void leati_profile_compiled(leat_device *device, const char *kernel, uint64_t begun_ns) {
  put_of_thread(device, LEAT_PROFILE_COMPILE, kernel, begun_ns);
}

void leati_profile_waited(leat_device *device, uint64_t begun_ns) {
  put_of_thread(device, LEAT_PROFILE_WAIT, "", begun_ns);
}
