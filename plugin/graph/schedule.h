/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Joining the plans of nodes into one. What steps touch are *storages*: inputs and outputs of the graph, constants, and
 * parts of the arena; several values may lie in one. Of each step it is known which bytes of which storages it reads
 * and writes, and from that alone follow the levels, and how long a part of the arena is needed. Belongs to one thread.
 */
#ifndef LEAT_PLUGIN_GRAPH_SCHEDULE_H_
#define LEAT_PLUGIN_GRAPH_SCHEDULE_H_

#include <leat/backend.h>
#include <stdbool.h>

#include "record/plan.h"

/** leati_storage::binding of one that lies in the arena. */
#define LEATI_IN_ARENA UINT32_MAX

typedef struct leati_storage {
  uint32_t binding;       /**< of the joined plan, or LEATI_IN_ARENA */
  uint8_t residue;        /**< of its address, modulo LEATI_PLAN_ALIGNMENT */
  bool filled;            /**< in the arena: filled before the first step, */
  bool emptied;           /**< read behind the last */
  uint64_t size;          /**< in the arena: bytes */
  uint64_t offset;        /**< in the arena: from its begin; known when joined */
  uint32_t reads, writes; /**< the last access of each kind, or UINT32_MAX; the others follow from there */
} leati_storage;

/** Where a value lies: a storage, and where in it element [0, 0, ...] is. */
typedef struct leati_place {
  uint32_t storage;
  int64_t offset; /**< bytes */
} leati_place;

typedef struct leati_schedule_access leati_schedule_access;
typedef struct leati_schedule_step leati_schedule_step;

/** All zero at first. */
typedef struct leati_schedule {
  leati_storage *storages;
  leati_schedule_step *steps;
  leati_schedule_access *accesses;
  unsigned char *args;
  uint32_t storage_count, storage_capacity;
  uint32_t step_count, step_capacity;
  uint32_t access_count, access_capacity;
  uint32_t args_size, args_capacity;
} leati_schedule;

/** The joined plan. */
typedef struct leati_joined {
  leati_plan plan; /**< steps, accesses and args are leati_free()d one by one */
  uint32_t level_count, dispatch_count, copy_count;
  uint64_t arena_bytes, naive_bytes;
} leati_joined;

void leati_schedule_end(leati_schedule *schedule);

/** Whether a storage is read by dispatches and touched by nothing else; and likewise written, or read and written. */
bool leati_schedule_is_input(const leati_schedule *schedule, uint32_t storage);
bool leati_schedule_is_output(const leati_schedule *schedule, uint32_t storage);

/** Adds a storage and tells its number. `size` counts in the arena, whose addresses are multiples of
 * LEATI_PLAN_ALIGNMENT.
 * @errors OUT_OF_MEMORY */
int32_t leati_schedule_storage(leati_schedule *schedule, uint32_t binding, uint64_t size, uint32_t *out,
                               leat_error *err);
/** Appends the steps of a plan of node number `node`, whose inputs and outputs lie at `places`, by binding; its
 * temporaries get storages.
 * @errors OUT_OF_MEMORY */
int32_t leati_schedule_append(leati_schedule *schedule, const leati_plan *plan, uint32_t node,
                              const leati_place *places, leat_error *err);
/** Appends a copy of `size` bytes, as a step of node number `node`.
 * @errors OUT_OF_MEMORY */
int32_t leati_schedule_copy(leati_schedule *schedule, uint32_t node, leati_place from, leati_place to, uint64_t size,
                            leat_error *err);
/** Appends bytes to the argument records; `*out_at` says where in leati_plan::args they will be.
 * @errors OUT_OF_MEMORY */
int32_t leati_schedule_bytes(leati_schedule *schedule, const void *bytes, uint32_t size, uint32_t *out_at,
                             leat_error *err);
/** Orders the steps by levels, places the arena, and makes a plan of it all in which the arena is binding `arena`, the
 * last one. Nothing may be added any more.
 * @errors OUT_OF_MEMORY */
int32_t leati_schedule_finish(leati_schedule *schedule, uint32_t arena, leati_joined *out, leat_error *err);

#endif /* LEAT_PLUGIN_GRAPH_SCHEDULE_H_ */
