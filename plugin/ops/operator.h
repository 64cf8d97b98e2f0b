/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The operator object, and what its entry says of its arguments.
 */
#ifndef LEAT_PLUGIN_OPS_OPERATOR_H_
#define LEAT_PLUGIN_OPS_OPERATOR_H_

#include <stdalign.h>

#include "device/device.h"
#include "ops/op.h"
#include "ops/plan_cache.h"

/** Type constraints of one operator at most. */
#define LEATI_TYPE_CONSTRAINTS_MAX 8

struct leat_op {
  leati_kind kind;
  uint32_t since_version;
  const leati_op_def *def;
  leat_device *device;
  leat_op *previous, *next; /**< in the device's list; guarded by its lock */
  leati_plan_cache plans;
  alignas(max_align_t) unsigned char state[]; /**< the family's, leati_op_def::state_size bytes */
};

/** Frees an operator and the plans that it keeps; NULL: nothing. */
void leati_op_free(leat_op *op);
/** Fails unless `op` is a live operator. */
int32_t leati_op_check(const leat_op *op, leat_error *err);

/** Whether input `i` has to be there: those below the least count, and all of them where any number is taken. */
static inline bool leati_op_requires(const leat_op_info *info, uint32_t i) {
  return i < info->min_inputs || info->max_inputs == LEAT_VARIADIC;
}

/** Whether argument `i` is on the host, by leat_op_info::host_inputs or ::host_outputs. */
static inline bool leati_op_is_host(uint64_t mask, uint32_t i) {
  return i < 64 && (mask >> i & 1u) != 0;
}

/** Checks the type of input `i` and remembers it by its type constraint in `bound[LEATI_TYPE_CONSTRAINTS_MAX]`, which
 * starts as zeros.
 * @errors NOT_SUPPORTED, INVALID_ARGUMENT: an earlier input says another one */
int32_t leati_op_bind_type(const leati_op_def *def, uint32_t i, uint64_t type, uint64_t *bound, leat_error *err);
/** Which type constraint output `o` has. */
uint32_t leati_op_output_type(const leati_op_def *def, uint32_t o);

/** Says that an operator has not so many inputs or outputs.
 * @errors INVALID_ARGUMENT */
int32_t leati_op_fail_counts(const leat_op_info *info, uint32_t input_count, uint32_t output_count, leat_error *err);
/** Fails if it has not. */
static inline int32_t leati_op_check_counts(const leat_op_info *info, uint32_t input_count, uint32_t output_count,
                                            leat_error *err) {
  return input_count >= info->min_inputs && input_count <= info->max_inputs && output_count >= info->min_outputs &&
                 output_count <= info->max_outputs
             ? LEAT_OK
             : leati_op_fail_counts(info, input_count, output_count, err);
}

/** Writes "2", "2 to 4" or "2 and more"; `most` is `open` where there is no end. */
void leati_range_text(uint32_t least, uint32_t most, uint32_t open, char out[32]);

#endif /* LEAT_PLUGIN_OPS_OPERATOR_H_ */
