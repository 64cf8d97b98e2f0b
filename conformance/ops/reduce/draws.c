/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "ops/core/draw.h"

#define RANK LEAT_MAX_RANK

static void reduce(leati_draw *d) {
  leati_draw_tensor *const x = &d->inputs[0];
  int64_t axes[RANK];
  /* A long product may come to 0 before it meets an infinity, or after. */
  x->plain = strcmp(d->info->name, "ReduceProd") == 0 && x->count > 30;
  const int32_t count = leati_draw_axes(d, x->rank, axes);
  if (leati_draw_chance(d, 70)) {
    if (d->info->max_inputs > 1) {
      leati_draw_list(d, LEAT_TYPE_INT64, count, axes);
    } else if (count > 0) {
      leati_draw_attribute_ints(d, "axes", count, axes);
    }
  }
}

static void top_k(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  leati_draw_tensor *x = leati_draw_any(d, "T", 1, RANK, &rank, dims);
  const int64_t axis = leati_draw_axis(d, rank);
  const int64_t size = dims[axis < 0 ? axis + rank : axis], most = size > 0 ? size : 0;
  const int64_t k[1] = {leati_draw_int(d, d->empty ? 0 : most > 0, most)};
  leati_draw_list(d, LEAT_TYPE_INT64, 1, k);
  /* Equal ones. */
  const bool few = leati_draw_chance(d, 40);
  for (int64_t i = 0; few && i < x->count; ++i) {
    leati_draw_set(x, i, (double)leati_draw_int(d, 0, 2));
  }
  if (axis != -1 || leati_draw_chance(d, 50)) {
    leati_draw_attribute_int(d, "axis", axis);
  }
  if (leati_draw_chance(d, 60)) {
    leati_draw_attribute_int(d, "largest", leati_draw_int(d, 0, 1));
  }
  /* Several come in any order if they need not be sorted. */
  if (leati_draw_chance(d, 30)) {
    leati_draw_attribute_int(d, "sorted", leati_draw_int(d, k[0] > 1, 1));
  }
  d->output_count = 2;
}

const leati_draw_entry leati_draws_reduce[] = {
    {"reduce", "",
     "ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceSumSquare ReduceLogSum "
     "ReduceLogSumExp",
     "*", reduce},
    {"movement", "", "TopK", NULL, top_k},
    {NULL, NULL, NULL, NULL, NULL},
};
