/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What an operator holds. For op.c and those who make, list and invoke operators; families ask by the functions of
 * op.h.
 */
#ifndef LEAT_PLUGIN_OPS_CORE_OP_STATE_H_
#define LEAT_PLUGIN_OPS_CORE_OP_STATE_H_

#include <stdalign.h>
#include <stdatomic.h>

#include "common/lru_table.h"
#include "device/device.h"
#include "ops/core/op.h"

/** Buckets of the table. */
#define LEATI_PLAN_BUCKETS 16

/** The plans of one operator. Threads look without a lock; one adds at a time. */
typedef struct leati_plan_cache {
  leati_lru_table table;
  leati_lru_bucket buckets[LEATI_PLAN_BUCKETS];
  atomic_bool adding; /**< a thread adds: taken by acquire, left by release; another one then does not */
} leati_plan_cache;

struct leat_op {
  leati_kind kind;
  uint32_t since_version;
  const leati_op_def *def;
  leat_device *device;
  uint64_t types[LEATI_TYPE_CONSTRAINTS_MAX]; /**< by type constraint, what the inputs that it was made for have; 0: no
                                                 input has that constraint */
  uint64_t given;                             /**< bit i: input i is one that it was made for */
  uint32_t input_count, output_count;         /**< that it was made for */
  struct leati_adapted_inputs *adapted;       /**< of an operator with an adapter; else NULL */
  leat_op *previous, *next;                   /**< in the device's list; guarded by its lock */
  leati_plan_cache plans;                     /**< its only part that changes */
  alignas(max_align_t) unsigned char state[]; /**< the family's, leati_op_def::state_size bytes */
};

#endif /* LEAT_PLUGIN_OPS_CORE_OP_STATE_H_ */
