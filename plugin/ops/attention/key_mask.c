/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/attention/key_mask.h"

#include <float.h>

#include "core/status.h"
#include "ops/attention/kernels/attention_codes.glsl"
#include "ops/core/divider.h"
#include "ops/core/movement.h"

/* Argument record of kernels/key_mask.comp. */
typedef struct key_mask_args {
  uint64_t numbers, added, y;
  int32_t number_strides[3];
  int32_t start;
  int32_t added_strides[4];
  uint32_t kind;
  uint32_t has_added;
  uint32_t count, heads, queries, keys;
  leati_divider per_heads, per_queries, per_keys;
  float masked, lowest;
} key_mask_args;

leati_key_mask_form leati_key_mask_form_of(const leati_view *numbers, const leati_scores *scores) {
  const int64_t *const shape = numbers->shape, batches = scores->batches;
  const bool own = numbers->ndim > 0 && shape[0] == batches;
  switch (numbers->ndim) {
    case 1:
      return own || shape[0] == 3 * batches + 2 ? LEATI_KEY_MASK_ENDS
             : shape[0] == 2 * batches          ? LEATI_KEY_MASK_ENDS_STARTS
                                                : LEATI_KEY_MASK_UNKNOWN;
    case 2:
      return own && shape[1] == scores->keys           ? LEATI_KEY_MASK_KEYS
             : (own || shape[0] == 1) && shape[1] == 1 ? LEATI_KEY_MASK_ALIKE
                                                       : LEATI_KEY_MASK_UNKNOWN;
    case 3:
      return own && shape[1] == scores->queries && shape[2] == scores->keys ? LEATI_KEY_MASK_SCORES
                                                                            : LEATI_KEY_MASK_UNKNOWN;
    case 4:
      return own && shape[1] == 1 && shape[2] == shape[3] && shape[2] >= scores->keys &&
                     shape[2] >= scores->earlier + scores->queries
                 ? LEATI_KEY_MASK_SQUARE
                 : LEATI_KEY_MASK_UNKNOWN;
    default:
      return LEATI_KEY_MASK_UNKNOWN;
  }
}

/* The lowest number of a type of floats. */
static float lowest_of(uint64_t type) {
  return type == LEAT_TYPE_FLOAT16 ? -65504.0f : type == LEAT_TYPE_BFLOAT16 ? -0x1.fep127f : -FLT_MAX;
}

/* Fills in where the numbers lie, of which `numbers` becomes the part that counts. */
static void fill_numbers(const leati_scores *scores, leati_key_mask_form form, leati_view *numbers,
                         key_mask_args *args) {
  static const int64_t step[] = {1, 1, 1, 1};
  if (form == LEATI_KEY_MASK_SQUARE) {
    const int64_t size[] = {scores->batches, 1, scores->queries, scores->keys};
    *numbers = leati_view_slice(numbers, (const int64_t[]){0, 0, scores->earlier, 0}, step, size);
  }
  const int64_t *const strides = numbers->strides;
  const bool ends = numbers->ndim == 1;
  args->kind = form == LEATI_KEY_MASK_ENDS_STARTS ? LEAT_KEY_MASK_ENDS_STARTS
               : ends                             ? LEAT_KEY_MASK_ENDS
                                                  : LEAT_KEY_MASK_KEYS;
  args->number_strides[0] = (int32_t)strides[0];
  args->start = ends ? (int32_t)(scores->batches * strides[0]) : 0;
  if (!ends) {
    args->number_strides[1] = form == LEATI_KEY_MASK_KEYS ? 0 : (int32_t)strides[numbers->ndim - 2];
    args->number_strides[2] = (int32_t)strides[numbers->ndim - 1];
  }
}

int32_t leati_plan_key_mask(leati_planner *planner, const leati_view *numbers, const leati_view *added,
                            const leati_scores *scores, uint64_t type, float filter, leati_view *out, leat_error *err) {
  const leati_key_mask_form form = leati_key_mask_form_of(numbers, scores);
  const bool by_query = added != NULL || form == LEATI_KEY_MASK_SCORES || form == LEATI_KEY_MASK_SQUARE;
  *out = (leati_view){.type = type, .ndim = 4};
  out->shape[0] = scores->batches;
  out->shape[1] = added != NULL ? added->shape[1] : 1;
  out->shape[2] = by_query ? scores->queries : 1;
  out->shape[3] = scores->keys;
  LEATI_TRY(leati_plan_temporary(planner, out, err));
  if (out->count == 0) {
    return LEAT_OK;
  }
  LEATI_TRY(leati_check_reach(out, "a mask of scores", err));
  leati_view used = *numbers;
  key_mask_args args = {.has_added = added != NULL,
                        .count = (uint32_t)out->count,
                        .heads = (uint32_t)out->shape[1],
                        .queries = (uint32_t)out->shape[2],
                        .keys = (uint32_t)out->shape[3],
                        .per_heads = leati_divider_of((uint32_t)out->shape[1]),
                        .per_queries = leati_divider_of((uint32_t)out->shape[2]),
                        .per_keys = leati_divider_of((uint32_t)out->shape[3]),
                        .masked = filter,
                        .lowest = lowest_of(type)};
  fill_numbers(scores, form, &used, &args);
  for (uint32_t d = 0; d < 4 && added != NULL; ++d) {
    args.added_strides[d] = added->shape[d] > 1 ? (int32_t)added->strides[d] : 0;
  }
  /* A driver may read `added` before it looks at `has_added`. */
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_KEY_MASK, type)},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({&used, &args.numbers}, {added != NULL ? added : &used, &args.added}),
      LEATI_WRITES({out, &args.y}),
  };
  leati_groups_linear(planner->device, args.count, LEATI_ITEMS_PER_GROUP, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}
