/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/schedule.h"

#include <string.h>

#include "core/array.h"
#include "core/status.h"
#include "core/sync.h"
#include "graph/arena.h"

#define NONE UINT32_MAX

struct leati_schedule_access {
  leati_plan_access it; /* its binding is a storage; its bytes count from there */
  uint32_t step;
  uint32_t before; /* the access of the same kind to the same storage before this one, or NONE */
};

struct leati_schedule_step {
  leati_plan_step it;
  uint32_t level;
};

void leati_schedule_end(leati_schedule *schedule) {
  leati_free(schedule->storages);
  leati_free(schedule->steps);
  leati_free(schedule->accesses);
  leati_free(schedule->args);
}

int32_t leati_schedule_storage(leati_schedule *schedule, uint32_t binding, uint64_t size, uint32_t *out,
                               leat_error *err) {
  LEATI_TRY(leati_array_room(&schedule->storages, schedule->storage_count, &schedule->storage_capacity,
                             sizeof(*schedule->storages), 64, "the tensors of a graph", err));
  *out = schedule->storage_count++;
  schedule->storages[*out] = (leati_storage){.binding = binding, .size = size, .reads = NONE, .writes = NONE};
  return LEAT_OK;
}

/* ---- Steps ------------------------------------------------------------------------------------------------------ */

/* The lowest level behind all accesses of a list that touch these bytes, but not below `level`. */
static uint32_t level_behind(const leati_schedule *schedule, uint32_t last, const leati_plan_access *access,
                             uint32_t level) {
  for (uint32_t i = last; i != NONE; i = schedule->accesses[i].before) {
    const leati_schedule_access *const other = &schedule->accesses[i];
    const uint32_t behind = schedule->steps[other->step].level + 1;
    if (behind > level && other->it.begin < access->end && access->begin < other->it.end &&
        !leati_runs_are_apart(&other->it.runs, &access->runs, access->begin - other->it.begin)) {
      level = behind;
    }
  }
  return level;
}

/* Puts the last step at the lowest level at which all that it depends on is done: it reads and writes behind what was
 * written, and writes behind what was read. */
static void find_level(leati_schedule *schedule) {
  const uint32_t step = schedule->step_count - 1;
  leati_schedule_step *const it = &schedule->steps[step];
  leati_schedule_access *const accesses = &schedule->accesses[it->it.first_access];
  const uint32_t count = it->it.read_count + it->it.write_count;
  for (uint32_t i = 0; i < count; ++i) {
    const leati_storage *const storage = &schedule->storages[accesses[i].it.binding];
    it->level = level_behind(schedule, storage->writes, &accesses[i].it, it->level);
    if (i >= it->it.read_count) {
      it->level = level_behind(schedule, storage->reads, &accesses[i].it, it->level);
    }
  }
  for (uint32_t i = 0; i < count; ++i) {
    leati_storage *const storage = &schedule->storages[accesses[i].it.binding];
    uint32_t *const last = i < it->it.read_count ? &storage->reads : &storage->writes;
    accesses[i].step = step;
    accesses[i].before = *last;
    *last = it->it.first_access + i;
  }
}

/* Appends a step without accesses. */
static int32_t add_step(leati_schedule *schedule, const leati_plan_step *step, uint32_t node, leat_error *err) {
  LEATI_TRY(leati_array_room(&schedule->steps, schedule->step_count, &schedule->step_capacity, sizeof(*schedule->steps),
                             64, "the steps of a graph", err));
  schedule->steps[schedule->step_count] = (leati_schedule_step){.it = *step};
  schedule->steps[schedule->step_count].it.node = node;
  schedule->steps[schedule->step_count++].it.first_access = schedule->access_count;
  return LEAT_OK;
}

/* Appends an access of the last step. */
static int32_t add_access(leati_schedule *schedule, const leati_plan_access *access, leati_place place,
                          leat_error *err) {
  LEATI_TRY(leati_array_room(&schedule->accesses, schedule->access_count, &schedule->access_capacity,
                             sizeof(*schedule->accesses), 256, "the accesses of a graph", err));
  schedule->accesses[schedule->access_count++].it = (leati_plan_access){.binding = place.storage,
                                                                        .field = access->field,
                                                                        .offset = access->offset + place.offset,
                                                                        .begin = access->begin + place.offset,
                                                                        .end = access->end + place.offset,
                                                                        .runs = access->runs};
  return LEAT_OK;
}

int32_t leati_schedule_bytes(leati_schedule *schedule, const void *bytes, uint32_t size, uint32_t *out_at,
                             leat_error *err) {
  const uint32_t rounded = (size + 7) / 8 * 8;
  while (schedule->args_capacity - schedule->args_size < rounded) {
    LEATI_TRY(
        leati_array_grow(&schedule->args, &schedule->args_capacity, 1, 4096, "the argument records of a graph", err));
  }
  if (size != 0) {
    memcpy(schedule->args + schedule->args_size, bytes, size);
  }
  *out_at = schedule->args_size;
  schedule->args_size += rounded;
  return LEAT_OK;
}

int32_t leati_schedule_append(leati_schedule *schedule, const leati_plan *plan, uint32_t node,
                              const leati_place *places, leat_error *err) {
  const uint32_t first = plan->binding_count - plan->temporary_count;
  leati_place temporaries[LEATI_TEMP_MAX];
  for (uint32_t i = 0; i < plan->temporary_count; ++i) {
    temporaries[i].offset = 0;
    LEATI_TRY(
        leati_schedule_storage(schedule, LEATI_IN_ARENA, plan->temporaries[i].size, &temporaries[i].storage, err));
  }
  for (uint32_t s = 0; s < plan->step_count; ++s) {
    const leati_plan_step *const step = &plan->steps[s];
    LEATI_TRY(add_step(schedule, step, node, err));
    for (uint32_t i = 0; i < step->read_count + step->write_count; ++i) {
      const leati_plan_access *const access = &plan->accesses[step->first_access + i];
      LEATI_TRY(add_access(schedule, access,
                           access->binding < first ? places[access->binding] : temporaries[access->binding - first],
                           err));
    }
    uint32_t *const args = &schedule->steps[schedule->step_count - 1].it.args;
    LEATI_TRY(leati_schedule_bytes(schedule, plan->args + step->args, step->args_size, args, err));
    find_level(schedule);
  }
  return LEAT_OK;
}

int32_t leati_schedule_copy(leati_schedule *schedule, uint32_t node, leati_place from, leati_place to, uint64_t size,
                            leat_error *err) {
  const leati_plan_access access = {.field = LEATI_FIELD_NONE, .end = (int64_t)size};
  const leati_plan_step step = {.copies = true, .read_count = 1, .write_count = 1};
  LEATI_TRY(add_step(schedule, &step, node, err));
  LEATI_TRY(add_access(schedule, &access, from, err));
  LEATI_TRY(add_access(schedule, &access, to, err));
  find_level(schedule);
  return LEAT_OK;
}

/* Whether an access and those before it are there, and all of dispatches. */
static bool are_dispatches(const leati_schedule *schedule, uint32_t access) {
  bool are = access != NONE;
  for (uint32_t i = access; i != NONE && are; i = schedule->accesses[i].before) {
    are = !schedule->steps[schedule->accesses[i].step].it.copies;
  }
  return are;
}

bool leati_schedule_is_input(const leati_schedule *schedule, uint32_t storage) {
  const leati_storage *const it = &schedule->storages[storage];
  return it->writes == NONE && !it->emptied && are_dispatches(schedule, it->reads);
}

bool leati_schedule_is_output(const leati_schedule *schedule, uint32_t storage) {
  const leati_storage *const it = &schedule->storages[storage];
  return it->reads == NONE && !it->filled && are_dispatches(schedule, it->writes);
}

/* ---- The end ---------------------------------------------------------------------------------------------------- */

/* Finds how long each part of the arena is needed: from its first use to its last, by levels. */
static int32_t place_arena(leati_schedule *schedule, uint32_t level_count, leati_joined *out, leat_error *err) {
  leati_lifetime *const lifetimes = leati_calloc((size_t)schedule->storage_count + 1, sizeof(*lifetimes));
  if (lifetimes == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory to place %u tensors of a graph",
                      schedule->storage_count);
  }
  uint32_t count = 0;
  for (uint32_t s = 0; s < schedule->storage_count; ++s) {
    const leati_storage *const storage = &schedule->storages[s];
    leati_lifetime *const it = &lifetimes[count];
    if (storage->binding != LEATI_IN_ARENA || storage->size == 0) {
      continue;
    }
    it->size = storage->size;
    it->first = storage->filled ? 0 : UINT32_MAX;
    it->last = storage->emptied ? level_count : 0;
    const uint32_t lists[] = {storage->reads, storage->writes};
    for (int k = 0; k < 2; ++k) {
      for (uint32_t i = lists[k]; i != NONE; i = schedule->accesses[i].before) {
        const uint32_t level = schedule->steps[schedule->accesses[i].step].level;
        it->first = level < it->first ? level : it->first;
        it->last = level > it->last ? level : it->last;
      }
    }
    count += it->first != UINT32_MAX;
  }
  const int32_t status = leati_arena_place(lifetimes, count, &out->arena_bytes, &out->naive_bytes, err);
  count = 0;
  for (uint32_t s = 0; s < schedule->storage_count && status == LEAT_OK; ++s) {
    leati_storage *const storage = &schedule->storages[s];
    if (storage->binding == LEATI_IN_ARENA && storage->size != 0 &&
        (storage->filled || storage->reads != NONE || storage->writes != NONE)) {
      storage->offset = lifetimes[count++].offset;
    }
  }
  leati_free(lifetimes);
  return status;
}

/* Writes the steps in the order of their levels, which is that in which they came within one. `at`: for each level, how
 * many steps come before it. */
static void write_steps(const leati_schedule *schedule, uint32_t arena, uint32_t *at, leati_plan_step *steps,
                        leati_plan_access *accesses) {
  uint32_t access_count = 0;
  for (uint32_t s = 0; s < schedule->step_count; ++s) {
    steps[at[schedule->steps[s].level]++] = schedule->steps[s].it;
  }
  for (uint32_t s = 0; s < schedule->step_count; ++s) {
    leati_plan_step *const step = &steps[s];
    const leati_schedule_access *const from = &schedule->accesses[step->first_access];
    step->first_access = access_count;
    for (uint32_t i = 0; i < step->read_count + step->write_count; ++i) {
      const leati_storage *const storage = &schedule->storages[from[i].it.binding];
      const bool within = storage->binding == LEATI_IN_ARENA;
      const int64_t offset = within ? (int64_t)storage->offset : 0;
      accesses[access_count++] = (leati_plan_access){.binding = within ? arena : storage->binding,
                                                     .field = from[i].it.field,
                                                     .offset = from[i].it.offset + offset,
                                                     .begin = from[i].it.begin + offset,
                                                     .end = from[i].it.end + offset,
                                                     .runs = from[i].it.runs};
    }
  }
}

int32_t leati_schedule_finish(leati_schedule *schedule, uint32_t arena, leati_joined *out, leat_error *err) {
  *out = (leati_joined){0};
  for (uint32_t s = 0; s < schedule->step_count; ++s) {
    const uint32_t level = schedule->steps[s].level;
    out->level_count = level >= out->level_count ? level + 1 : out->level_count;
    out->copy_count += schedule->steps[s].it.copies;
  }
  out->dispatch_count = schedule->step_count - out->copy_count;
  LEATI_TRY(place_arena(schedule, out->level_count, out, err));
  uint32_t *const at = leati_calloc((size_t)out->level_count + 1, sizeof(*at));
  leati_plan_step *const steps = leati_calloc((size_t)schedule->step_count + 1, sizeof(*steps));
  leati_plan_access *const accesses = leati_calloc((size_t)schedule->access_count + 1, sizeof(*accesses));
  if (at == NULL || steps == NULL || accesses == NULL) {
    leati_free(at);
    leati_free(steps);
    leati_free(accesses);
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for the %u steps of a graph",
                      schedule->step_count);
  }
  for (uint32_t s = 0; s < schedule->step_count; ++s) {
    ++at[schedule->steps[s].level + 1];
  }
  for (uint32_t level = 1; level < out->level_count; ++level) {
    at[level] += at[level - 1];
  }
  write_steps(schedule, arena, at, steps, accesses);
  leati_free(at);
  out->plan = (leati_plan){.binding_count = arena + 1,
                           .step_count = schedule->step_count,
                           .access_count = schedule->access_count,
                           .steps = steps,
                           .accesses = accesses,
                           .args = schedule->args};
  schedule->args = NULL;
  return LEAT_OK;
}
