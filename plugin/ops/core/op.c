/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/core/op.h"

#include <stdio.h>

#include "core/status.h"
#include "core/sync.h"
#include "ops/core/op_state.h"

LEATI_TYPE(leati_type_real, "T", LEATI_TYPES_REAL);
LEATI_TYPE(leati_type_moved, "T", LEATI_TYPES_HELD);
LEATI_TYPE(leati_type_int64, "tensor(int64)", LEAT_TYPE_INT64);
LEATI_TYPE(leati_type_index, "Tind", LEAT_TYPE_INT32 | LEAT_TYPE_INT64);
LEATI_ATTRIBUTE(leati_attribute_alpha, "alpha", FLOAT);
LEATI_ATTRIBUTE(leati_attribute_beta, "beta", FLOAT);
LEATI_ATTRIBUTE(leati_attribute_axis, "axis", INT);
LEATI_ATTRIBUTE(leati_attribute_mode, "mode", STRING);

const leati_op_def *leati_op_def_of(const leat_op *op) {
  return op->def;
}
leat_device *leati_op_device(const leat_op *op) {
  return op->device;
}
uint32_t leati_op_since_version(const leat_op *op) {
  return op->since_version;
}
void *leati_op_state(leat_op *op) {
  return op->state;
}
const void *leati_op_state_const(const leat_op *op) {
  return op->state;
}

void leati_op_free(leat_op *op) {
  if (op != NULL) {
    leati_lru_clear(&op->plans.table);
    leati_free(op->adapted);
    leati_free(op);
  }
}

int32_t leati_op_check(const leat_op *op, leat_error *err) {
  return leati_kind_of(op) == LEATI_KIND_OP
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "not an operator: %s",
                          op == NULL ? "NULL" : "the handle is destroyed or of another kind");
}

/* ---- Types and counts ------------------------------------------------------------------------------------------- */

void leati_range_text(uint32_t least, uint32_t most, uint32_t open, char out[32]) {
  if (least == most) {
    (void)snprintf(out, 32, "%u", least);
  } else if (most == open) {
    (void)snprintf(out, 32, "%u and more", least);
  } else {
    (void)snprintf(out, 32, "%u to %u", least, most);
  }
}

/* Which type constraint argument `i` has, by a def's list (NULL: all have 0; the last element stands for all that
 * follow). How long a list is follows from the highest count of arguments. */
static uint32_t type_of_argument(const uint8_t *list, uint32_t max_count, uint32_t min_count, uint32_t i) {
  if (list == NULL) {
    return 0;
  }
  const uint32_t last = (max_count == LEAT_VARIADIC ? (min_count == 0 ? 1 : min_count) : max_count) - 1;
  return list[i < last ? i : last];
}

uint32_t leati_op_input_type(const leati_op_def *def, uint32_t i) {
  return type_of_argument(def->input_types, def->info.max_inputs, def->info.min_inputs, i);
}

uint32_t leati_op_output_type(const leati_op_def *def, uint32_t o) {
  return type_of_argument(def->output_types, def->info.max_outputs, def->info.min_outputs, o);
}

int32_t leati_op_check_rank(const leati_op_def *def, int32_t rank, leat_error *err) {
  const int32_t most = def->most_rank != 0 ? def->most_rank : LEAT_MAX_RANK;
  return rank >= def->least_rank && rank <= most
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s: input 0 has rank %d; supported: %d to %d", def->info.name,
                          rank, def->least_rank, most);
}

static int32_t fail_count(const leat_op_info *info, const char *what, uint32_t count, uint32_t least, uint32_t most,
                          leat_error *err) {
  char range[32];
  leati_range_text(least, most, LEAT_VARIADIC, range);
  return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: %u %s %s", info->name, count, what, range);
}

int32_t leati_op_fail_counts(const leat_op_info *info, uint32_t input_count, uint32_t output_count, leat_error *err) {
  return input_count < info->min_inputs || input_count > info->max_inputs
             ? fail_count(info, "inputs; it takes", input_count, info->min_inputs, info->max_inputs, err)
             : fail_count(info, "outputs; it has", output_count, info->min_outputs, info->max_outputs, err);
}
