/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/attention/attention_scores.h"

#include "core/status.h"
#include "ops/core/movement.h"

int32_t leati_plan_attention_scores(leati_planner *planner, const leati_attention *a, leat_error *err) {
  const leati_view *const scores = a->scores;
  LEATI_TRY(leati_check_reach(scores, "the scores of an attention", err));
  if (scores->count == 0) {
    return LEAT_OK;
  }
  const int64_t *const q = a->q.heads.shape;
  /* Argument record of kernels/attention_scores.comp. */
  struct {
    leati_attention_args attention;
    uint64_t scores;
    uint32_t keys, mode;
  } args = {.attention = leati_attention_fill(a), .keys = (uint32_t)scores->shape[3], .mode = a->score_form};
  leati_attention_args *const base = &args.attention;
  base->blocks = (uint32_t)q[2];
  base->groups = (uint32_t)(q[0] * q[1] * q[2]);
  leati_attention_fill_dividers(base);
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_ATTENTION_SCORES, scores->type),
                   .constants.attention_scores = {.zeroed = a->zeroed}},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({&a->q.view, &base->q}, {&a->k.view, &base->k}, {a->mask, &base->mask},
                  {a->lengths.view, &base->lengths.at}, {leati_attention_sinks(a), &base->sinks}),
      LEATI_WRITES({scores, &args.scores}),
      .multiplications = scores->count * (uint64_t)q[3]};
  leati_groups_linear(planner->device, base->groups, 1, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}
