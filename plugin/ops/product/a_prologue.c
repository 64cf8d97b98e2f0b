/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/product/a_prologue.h"

#include <string.h>

#include "core/status.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/elementwise/elementwise.h"
#include "ops/norm/norm.h"

LEATI_ATTRIBUTE(leati_attribute_factor_epsilon, "epsilon", FLOAT);

leati_a_prologue_state leati_a_prologue_read(const leati_op_desc *desc) {
  const leat_attribute *const epsilon = leati_attr(desc, leati_attribute_factor_epsilon.name);
  return (leati_a_prologue_state){.norm = epsilon != NULL, .epsilon = epsilon != NULL ? epsilon->f : 0};
}

static bool is_row(const leati_view *a, const leati_view *factor) {
  return factor->ndim == 1 && a->ndim >= 1 && factor->shape[0] == a->shape[a->ndim - 1];
}

int32_t leati_a_prologue_check(const char *name, const leati_a_prologue_state *state, const leati_view *a,
                               const leati_view *factor, leat_error *err) {
  if (factor == NULL) {
    return state->norm ? leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: epsilon needs a factor", name) : LEAT_OK;
  }
  const bool same =
      !state->norm && factor->ndim == a->ndim && leati_same_numbers(factor->shape, a->shape, factor->ndim);
  if (!same && !is_row(a, factor)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: the factor must have shape [%lld]%s", name,
                      (long long)(a->ndim > 0 ? a->shape[a->ndim - 1] : 1),
                      state->norm ? "" : " or that of the first input");
  }
  return LEAT_OK;
}

/* The factor in one piece, from an address on where four elements may be read. */
static int32_t plan_aligned(leati_planner *planner, const leati_view *factor, leati_view *out, leat_error *err) {
  LEATI_TRY(leati_plan_compact(planner, factor, out, err));
  if (out->address % (4 * out->item_size) == 0) {
    return LEAT_OK;
  }
  const leati_view from = *out;
  LEATI_TRY(leati_plan_temporary(planner, out, err));
  return leati_plan_copy(planner, &from, out, err);
}

int32_t leati_plan_a_prologue(leati_planner *planner, const leati_a_prologue_state *state, const char *name,
                              const leati_view *factor, bool taken, leati_view *a, leati_view *space,
                              leati_a_prologue *out, leat_error *err) {
  *out = (leati_a_prologue){0};
  if (taken) {
    LEATI_TRY(plan_aligned(planner, factor, space, err));
    *out = (leati_a_prologue){
        .view = space, .one_row = factor->ndim < a->ndim, .norm = state->norm, .epsilon = state->epsilon};
    return LEAT_OK;
  }
  const leati_view given = *a;
  *a = (leati_view){.type = given.type, .ndim = given.ndim};
  memcpy(a->shape, given.shape, sizeof(a->shape));
  LEATI_TRY(leati_plan_temporary(planner, a, err));
  if (state->norm) {
    return leati_plan_rms_norm(planner, name, &given, factor, state->epsilon, a, err);
  }
  const leati_elementwise product = {.kernel = leati_kernel_find(LEATI_KERNELS_BINARY, given.type),
                                     .operation = LEAT_EW_MUL,
                                     .operand_count = 2,
                                     .operands = {&given, factor}};
  return leati_plan_elementwise(planner, &product, a, err);
}
