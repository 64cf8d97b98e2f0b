/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Caches of keys and values that have room for a window and no more: positions before it are evicted. As
 * com.microsoft's GroupQueryAttention defines it (sliding_window_cache), of `total` positions the last resident(total)
 * = total                                         if total <= capacity total - step * ceil((total - capacity) / step)
 * otherwise, step = capacity - window + 1 are in the cache, from its first row on, in their order.
 */
#ifndef LEAT_PLUGIN_OPS_ATTENTION_WINDOW_CACHE_H_
#define LEAT_PLUGIN_OPS_ATTENTION_WINDOW_CACHE_H_

#include "ops/attention/kv_cache.h"

/** Positions of a batch at most, new ones included, that such a cache counts to: its kernels add to them. */
#define LEATI_WINDOW_TOTAL_MAX (1 << 30)

/** How many rows a cache has, and new positions are put behind it. */
typedef struct leati_window_cache {
  int64_t capacity, window; /**< 1 <= window <= capacity */
  int64_t fresh;            /**< new positions of each batch, */
  leati_lengths valid;      /**< of which the first so many go into the cache; `most` is `fresh` */
  leati_lengths totals;     /**< of each batch, new ones included, with a view; at most LEATI_WINDOW_TOTAL_MAX */
} leati_window_cache;

/** Plans two temporaries: for each batch how many keys it has, those in the cache and all new ones; and for each batch
 * and new position which one that is, counted from the first one that was ever put into the cache, as numbers of 64
 * bits.
 * @errors OUT_OF_MEMORY, INTERNAL */
int32_t leati_plan_window_keys(leati_planner *planner, const leati_window_cache *cache, leati_view *out_keys,
                               leati_view *out_positions, leat_error *err);

/** Plans the cache that is left, with zeros behind it: of `from`, the rows of the cache with the new ones behind them,
 * the last ones that stay. Both are compact: batch, head, position, element. A cache that was read to make `from` may
 * be `to`.
 * @errors INTERNAL, NOT_SUPPORTED: 2^31 elements or more */
int32_t leati_plan_window_keep(leati_planner *planner, const leati_window_cache *cache, const leati_view *from,
                               const leati_view *to, leat_error *err);

#endif /* LEAT_PLUGIN_OPS_ATTENTION_WINDOW_CACHE_H_ */
