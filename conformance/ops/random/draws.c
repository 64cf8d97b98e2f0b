/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "ops/core/draw.h"

/* Seed and stream: nobody knows what comes without the former. */
static void draw_numbers(leati_draw *d) {
  const bool ours = strcmp(d->info->domain, "leat") == 0;
  if (ours) {
    leati_draw_attribute_int(d, "seed", (int64_t)((uint64_t)g_rand_int(d->rand) << 32 | g_rand_int(d->rand)));
    if (leati_draw_chance(d, 60)) {
      leati_draw_attribute_int(d, "offset", leati_draw_int(d, -2, 1000));
    }
  } else {
    leati_draw_attribute_float(d, "seed", leati_draw_chance(d, 30) ? -0.0 : (double)leati_draw_int(d, -9, 1000) / 2);
  }
}

/* The input that is added to the stream. */
static void draw_offset(leati_draw *d) {
  static const int64_t one[1] = {1};
  if (strcmp(d->info->domain, "leat") == 0 && leati_draw_chance(d, 50)) {
    leati_draw_range(d, leati_draw_input(d, LEAT_TYPE_INT64, leati_draw_chance(d, 50) ? 1 : 0, one), -3, 1000);
  }
}

/* ONNX's number of one of a few types. */
static void draw_dtype(leati_draw *d, int64_t most) {
  static const int64_t types[] = {1, 10, 16, 7, 6, 5, 3, 13, 12, 4, 2, 9};
  leati_draw_attribute_int(d, "dtype", types[leati_draw_int(d, 0, most)]);
}

static void normal_uniform(leati_draw *d) {
  int64_t dims[LEAT_DRAW_RANK];
  const int32_t rank = leati_draw_rank(d, 0, LEAT_MAX_RANK);
  const bool like = strstr(d->info->name, "Like") != NULL;
  leati_draw_dims(d, rank, dims);
  if (like) {
    leati_draw_input(d, leati_draw_type(d, "T1"), rank, dims);
  } else {
    leati_draw_attribute_ints(d, "shape", rank, dims);
  }
  if (like || leati_draw_chance(d, 60)) {
    draw_dtype(d, 2);
  }
  draw_numbers(d);
  draw_offset(d);
  static const char *const names[] = {"mean", "scale", "low", "high"};
  for (int k = 0; k < 4; ++k) {
    if (leati_draw_chance(d, 60)) {
      leati_draw_attribute_float(d, names[k], (double)leati_draw_int(d, -40, 40) / 8);
    }
  }
}

static void bernoulli(leati_draw *d) {
  int32_t rank;
  int64_t dims[LEAT_DRAW_RANK];
  leati_draw_any(d, "T1", 0, LEAT_MAX_RANK, &rank, dims);
  draw_offset(d);
  if (leati_draw_chance(d, 60)) {
    draw_dtype(d, 11);
  }
  draw_numbers(d);
}

static void multinomial(leati_draw *d) {
  const int64_t dims[] = {leati_draw_int(d, d->empty ? 0 : 1, 5), leati_draw_int(d, 1, 12)};
  leati_draw_input(d, leati_draw_type(d, "T1"), 2, dims);
  if (leati_draw_chance(d, 80)) {
    leati_draw_attribute_int(d, "sample_size", leati_draw_int(d, 1, 9));
  }
  if (leati_draw_chance(d, 60)) {
    leati_draw_attribute_int(d, "dtype", leati_draw_int(d, 6, 7));
  }
  draw_numbers(d);
}

static void dropout(leati_draw *d) {
  const bool ours = strcmp(d->info->domain, "leat") == 0;
  d->output_count = (uint32_t)leati_draw_int(d, 1, 2);
  if (ours) {
    draw_offset(d);
    leati_draw_attribute_float(d, "ratio", (double)leati_draw_int(d, 0, 3) / 4);
  } else if (d->since_version >= 12 && leati_draw_chance(d, 50)) {
    /* A number of 16 bits would be 1 at least. */
    const bool trains = leati_draw_chance(d, 40);
    leati_draw_tensor *ratio = leati_draw_input(d, trains ? LEAT_TYPE_FLOAT32 : leati_draw_type(d, "T1"), 0, NULL);
    leati_draw_set(ratio, 0, 0.25);
    if (trains || leati_draw_chance(d, 50)) {
      leati_draw_tensor *training = leati_draw_input(d, LEAT_TYPE_BOOL, 0, NULL);
      leati_draw_set(training, 0, trains);
      training->constant = true;
    }
  }
  if (ours) {
    draw_numbers(d);
  } else {
    leati_draw_attribute_int(d, "seed", leati_draw_int(d, -9, 1000));
  }
}

/* Parameters in eighths, most of them positive. */
static void distribution(leati_draw *d) {
  int32_t rank;
  int64_t dims[LEAT_DRAW_RANK];
  const uint64_t type = leati_draw_type(d, "T");
  const bool two = strcmp(d->info->name, "RandomBeta") == 0;
  const bool below_one = strcmp(d->info->name, "RandomGeometric") == 0;
  rank = leati_draw_rank(d, strcmp(d->info->name, "RandomDirichlet") == 0 ? 1 : 0, LEAT_MAX_RANK);
  leati_draw_dims(d, rank, dims);
  for (int k = 0; k < 1 + two; ++k) {
    leati_draw_tensor *const x = leati_draw_input(d, type, rank, dims);
    x->plain = true;
    for (int64_t e = 0; e < x->count; ++e) {
      leati_draw_set(x, e, (double)leati_draw_int(d, leati_draw_chance(d, 10) ? -4 : 1, below_one ? 8 : 100) / 8);
    }
  }
  draw_offset(d);
  draw_numbers(d);
}

static void permutation(leati_draw *d) {
  const int64_t count = leati_draw_int(d, leati_draw_chance(d, 5) ? -1 : 0, 400);
  leati_draw_attribute_int(d, "count", count);
  d->spoilt = d->spoilt || count < 0;
  if (leati_draw_chance(d, 60)) {
    leati_draw_attribute_int(d, "dtype", leati_draw_int(d, 6, 7));
  }
  draw_offset(d);
  draw_numbers(d);
}

const leati_draw_entry leati_draws_random[] = {
    {"movement", "", "RandomNormal RandomNormalLike RandomUniform RandomUniformLike", NULL, normal_uniform},
    {"movement", "leat", "RandomNormal RandomUniform", NULL, normal_uniform},
    {"movement", "", "Bernoulli", NULL, bernoulli},
    {"movement", "leat", "Bernoulli", NULL, bernoulli},
    {"movement", "", "Multinomial", NULL, multinomial},
    {"movement", "", "Dropout", "*", dropout},
    {"movement", "leat", "Dropout", "*", dropout},
    {"movement", "leat", "RandomExponential RandomGeometric RandomGamma RandomBeta RandomDirichlet", NULL,
     distribution},
    {"movement", "leat", "RandomPermutation", NULL, permutation},
    {NULL, NULL, NULL, NULL, NULL},
};
