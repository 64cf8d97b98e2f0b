/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "ops/core/draw.h"

/* Lists of a few tensors: shapes that each list repeats. */
static void draw_lists(leati_draw *d, uint32_t lists, uint32_t most) {
  const uint64_t type = leati_draw_type(d, "T");
  const int64_t count = leati_draw_int(d, 1, most);
  int64_t dims[4][LEAT_DRAW_RANK];
  int32_t ranks[4];
  for (int64_t t = 0; t < count; ++t) {
    ranks[t] = leati_draw_rank(d, 0, LEAT_MAX_RANK);
    leati_draw_dims(d, ranks[t], dims[t]);
  }
  for (uint32_t k = 0; k < lists; ++k) {
    for (int64_t t = 0; t < count; ++t) {
      leati_draw_input(d, type, ranks[t], dims[t]);
    }
  }
  d->output_count = (uint32_t)count;
}

static void draw_float(leati_draw *d, const char *name, double low, double high) {
  if (leati_draw_chance(d, 60)) {
    leati_draw_attribute_float(d, name, g_rand_double_range(d->rand, low, high));
  }
}

static void two_lists(leati_draw *d) {
  draw_lists(d, 2, 4);
  draw_float(d, "alpha", -2, 2);
  draw_float(d, "weight", -0.5, 1.5);
}

static void three_lists(leati_draw *d) {
  draw_lists(d, 3, 4);
  draw_float(d, "value", -2, 2);
}

static void norms(leati_draw *d) {
  draw_lists(d, 1, 4);
  const bool clips = strcmp(d->info->name, "ForeachClipByNorm") == 0;
  d->output_count = clips ? d->output_count + 1 : 1;
  draw_float(d, "max_norm", 0, 9);
  draw_float(d, "epsilon", 1e-6, 0.5);
}

/* A learning rate in sixty-fourths. */
static void draw_rate(leati_draw *d) {
  leati_draw_tensor *const rate = leati_draw_input(d, LEAT_TYPE_FLOAT32, 0, NULL);
  rate->plain = true;
  leati_draw_set(rate, 0, (double)leati_draw_int(d, 0, 16) / 64);
}

static void sgd(leati_draw *d) {
  draw_rate(d);
  draw_lists(d, 3, 3);
  d->output_count *= 2;
  draw_float(d, "momentum", 0, 1);
  draw_float(d, "dampening", 0, 1);
  draw_float(d, "weight_decay", 0, 0.5);
  if (leati_draw_chance(d, 60)) {
    leati_draw_attribute_int(d, "nesterov", leati_draw_int(d, 0, 1));
  }
}

/* Averages of squares are not negative. */
static void adam(leati_draw *d) {
  static const int64_t one[1] = {1};
  draw_rate(d);
  leati_draw_tensor *const steps = leati_draw_input(d, LEAT_TYPE_INT64, leati_draw_chance(d, 50), one);
  leati_draw_set(steps, 0, (double)leati_draw_int(d, 1, leati_draw_chance(d, 50) ? 3 : 100000));
  draw_lists(d, 4, 2);
  const uint32_t count = d->output_count;
  for (uint32_t k = d->input_count - count; k < d->input_count; ++k) {
    leati_draw_range(d, &d->inputs[k], 0, 9);
  }
  d->output_count = 3 * count;
  draw_float(d, "beta1", 0, 0.99);
  draw_float(d, "beta2", 0, 0.9999);
  draw_float(d, "epsilon", 1e-8, 0.1);
  draw_float(d, "weight_decay", 0, 0.5);
}

const leati_draw_entry leati_draws_foreach[] = {
    {"norm", "leat", "ForeachAdd ForeachMul ForeachLerp", NULL, two_lists},
    {"norm", "leat", "ForeachAddcmul", NULL, three_lists},
    {"norm", "leat", "ForeachNorm ForeachClipByNorm", NULL, norms},
    {"norm", "leat", "ForeachSGD", NULL, sgd},
    {"norm", "leat", "ForeachAdam ForeachAdamW", NULL, adam},
    {NULL, NULL, NULL, NULL, NULL},
};
