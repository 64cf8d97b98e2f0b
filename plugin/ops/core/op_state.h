/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What an operator holds. For op.c and those who make, list and invoke operators; families ask by the functions of
 * op.h.
 */
#ifndef LEAT_PLUGIN_OPS_CORE_OP_STATE_H_
#define LEAT_PLUGIN_OPS_CORE_OP_STATE_H_

#include <stdalign.h>

#include "device/device.h"
#include "ops/core/op.h"
#include "ops/core/plan_cache.h"

struct leat_op {
  leati_kind kind;
  uint32_t since_version;
  const leati_op_def *def;
  leat_device *device;
  leat_op *previous, *next;                   /**< in the device's list; guarded by its lock */
  leati_plan_cache plans;                     /**< its only part that changes */
  alignas(max_align_t) unsigned char state[]; /**< the family's, leati_op_def::state_size bytes */
};

#endif /* LEAT_PLUGIN_OPS_CORE_OP_STATE_H_ */
