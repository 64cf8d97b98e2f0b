/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "ops/core/draw.h"

#define RANK LEAT_MAX_RANK

static void reduce(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  int64_t axes[RANK];
  leati_draw_tensor *x = leati_draw_any(d, "T", 0, RANK, &rank, dims);
  /* A long product may come to 0 before it meets an infinity, or after. */
  x->plain = strcmp(d->info->name, "ReduceProd") == 0 && x->count > 30;
  const int32_t count = leati_draw_axes(d, rank, axes);
  if (leati_draw_chance(d, 70)) {
    if (d->info->max_inputs > 1) {
      leati_draw_list(d, LEAT_TYPE_INT64, count, axes);
    } else if (count > 0) {
      leati_draw_attribute_ints(d, "axes", count, axes);
    }
  }
  if (leati_draw_chance(d, 60))
    leati_draw_attribute_int(d, "keepdims", leati_draw_int(d, 0, 1));
  if (leati_draw_chance(d, 40))
    leati_draw_attribute_int(d, "noop_with_empty_axes", leati_draw_int(d, 0, 1));
}

static void arg_reduce(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  leati_draw_any(d, "T", 1, RANK, &rank, dims);
  if (leati_draw_chance(d, 80))
    leati_draw_attribute_int(d, "axis", leati_draw_axis(d, rank));
  if (leati_draw_chance(d, 60))
    leati_draw_attribute_int(d, "keepdims", leati_draw_int(d, 0, 1));
  if (d->since_version >= 12 && leati_draw_chance(d, 60))
    leati_draw_attribute_int(d, "select_last_index", leati_draw_int(d, 0, 1));
}

const leati_draw_entry leati_draws_reduce[] = {
    {"reduce", "", "ReduceSum", reduce},
    {"reduce", "", "ReduceMean", reduce},
    {"reduce", "", "ReduceMax", reduce},
    {"reduce", "", "ReduceMin", reduce},
    {"reduce", "", "ReduceProd", reduce},
    {"reduce", "", "ReduceL1", reduce},
    {"reduce", "", "ReduceL2", reduce},
    {"reduce", "", "ReduceSumSquare", reduce},
    {"reduce", "", "ReduceLogSum", reduce},
    {"reduce", "", "ReduceLogSumExp", reduce},
    {"reduce", "", "ArgMax", arg_reduce},
    {"reduce", "", "ArgMin", arg_reduce},
    {NULL, NULL, NULL, NULL},
};
