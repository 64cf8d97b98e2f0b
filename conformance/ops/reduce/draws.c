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

const leati_draw_entry leati_draws_reduce[] = {
    {"reduce", "",
     "ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceSumSquare ReduceLogSum "
     "ReduceLogSumExp",
     "*", reduce},
    {"reduce", "", "ArgMax ArgMin", "*1", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
