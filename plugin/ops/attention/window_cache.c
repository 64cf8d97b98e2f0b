/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/attention/window_cache.h"

#include "core/status.h"
#include "ops/core/movement.h"

/* The part that argument records have in common; Window of kernels/window_cache.glsl. */
typedef struct window_args {
  leati_lengths_args totals, valid;
  int32_t fresh;
  int32_t capacity, step;
} window_args;

/* Argument record of kernels/window_keys.comp. */
typedef struct keys_args {
  window_args window;
  uint32_t count;
  uint64_t keys, positions;
} keys_args;

/* Argument record of kernels/window_keep.comp. */
typedef struct keep_args {
  window_args window;
  uint32_t heads;
  uint64_t from, to;
  uint32_t row;
  uint32_t rows_from;
  uint32_t count;
} keep_args;

static window_args window_args_of(const leati_window_cache *cache) {
  return (window_args){.totals = leati_lengths_fill(&cache->totals),
                       .valid = leati_lengths_fill(&cache->valid),
                       .fresh = (int32_t)cache->fresh,
                       .capacity = (int32_t)cache->capacity,
                       .step = (int32_t)(cache->capacity - cache->window + 1)};
}

int32_t leati_plan_window_keys(leati_planner *planner, const leati_window_cache *cache, leati_view *out_keys,
                               leati_view *out_positions, leat_error *err) {
  const int64_t batches = cache->totals.view->shape[0];
  *out_keys = (leati_view){.type = LEAT_TYPE_INT32, .ndim = 1, .shape = {batches}};
  *out_positions = (leati_view){.type = LEAT_TYPE_INT64, .ndim = 2, .shape = {batches, cache->fresh}};
  LEATI_TRY(leati_plan_temporary(planner, out_keys, err));
  LEATI_TRY(leati_plan_temporary(planner, out_positions, err));
  LEATI_TRY(leati_check_reach(out_positions, "positions", err));
  keys_args args = {.window = window_args_of(cache), .count = (uint32_t)out_positions->count};
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find_item(LEATI_KERNELS_WINDOW_KEYS, out_keys->item_size)},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({cache->totals.view, &args.window.totals.at}, {cache->valid.view, &args.window.valid.at}),
      LEATI_WRITES({out_keys, &args.keys}, {out_positions, &args.positions})};
  leati_groups_linear(planner->device, args.count, LEATI_ITEMS_PER_GROUP, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

int32_t leati_plan_window_keep(leati_planner *planner, const leati_window_cache *cache, const leati_view *from,
                               const leati_view *to, leat_error *err) {
  if (to->count == 0) {
    return LEAT_OK;
  }
  const uint64_t row = (uint64_t)to->shape[3] * to->item_size;
  const uint32_t width = leati_item_width(row | from->address | to->address);
  LEATI_TRY(leati_check_reach(from, "a cache of keys and values", err));
  LEATI_TRY(leati_check_reach(to, "a cache of keys and values", err));
  keep_args args = {.window = window_args_of(cache),
                    .heads = (uint32_t)to->shape[1],
                    .row = (uint32_t)(row / width),
                    .rows_from = (uint32_t)from->shape[2],
                    .count = (uint32_t)(to->count * to->item_size / width)};
  leati_dispatch_desc dispatch = {.pipeline = {.kernel = leati_kernel_find_item(LEATI_KERNELS_WINDOW_KEEP, width)},
                                  .args = &args,
                                  .args_size = sizeof(args),
                                  LEATI_READS({from, &args.from}, {cache->totals.view, &args.window.totals.at},
                                              {cache->valid.view, &args.window.valid.at}),
                                  LEATI_WRITES({to, &args.to})};
  leati_groups_linear(planner->device, args.count, LEATI_ITEMS_PER_GROUP, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}
