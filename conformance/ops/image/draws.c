/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "ops/core/draw.h"

/* Upsample, and Resize before version 11. */
static void upsample(leati_draw *d) {
  const int32_t rank = (int32_t)leati_draw_int(d, 3, 4);
  const bool more = strcmp(d->info->name, "Upsample") == 0 || leati_draw_chance(d, 60),
             linear = leati_draw_chance(d, 50);
  const int64_t count[1] = {rank};
  int64_t dims[4];
  for (int32_t k = 0; k < rank; ++k) {
    dims[k] = leati_draw_int(d, 1, k < 2 ? 4 : 8);
  }
  /* A neighbour of weight 0 may count as 0 times its number, which need not be 0, or as nothing. */
  leati_draw_input(d, leati_draw_type(d, "T1"), rank, dims)->plain = linear;
  leati_draw_tensor *scales = leati_draw_input(d, LEAT_TYPE_FLOAT32, 1, count);
  for (int32_t k = 0; k < rank; ++k) {
    leati_draw_set(scales, k, k < 2 ? 1 : (double)leati_draw_int(d, more ? 4 : 2, more ? 12 : 4) / 4);
  }
  leati_draw_attribute_string(d, "mode", linear ? "linear" : "nearest");
}

static void resize(leati_draw *d) {
  if (d->since_version < 11) {
    upsample(d);
    return;
  }
  static const char *const modes[] = {"nearest", "linear", "cubic"};
  static const char *const places[] = {"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"};
  static const char *const roundings[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};
  const int32_t spatial = (int32_t)leati_draw_int(d, 1, 2);
  const int32_t rank = spatial + 2;
  int64_t dims[4];
  int64_t sizes[4];
  for (int32_t k = 0; k < rank; ++k) {
    dims[k] = leati_draw_int(d, 1, 4);
    sizes[k] = k < 2 ? dims[k] : leati_draw_int(d, 1, 8);
  }
  const int64_t mode = leati_draw_int(d, 0, G_N_ELEMENTS(modes) - 1);
  /* A neighbour of weight 0 may count as 0 times its number, which need not be 0, or as nothing. */
  leati_draw_input(d, leati_draw_type(d, "T1"), rank, dims)->plain = mode != 0;
  leati_draw_absent(d);
  if (leati_draw_chance(d, 50)) {
    const int64_t count[1] = {rank};
    leati_draw_tensor *scales = leati_draw_input(d, LEAT_TYPE_FLOAT32, 1, count);
    for (int32_t k = 0; k < rank; ++k) {
      leati_draw_set(scales, k, k < 2 ? 1 : (double)leati_draw_int(d, 2, 8) / 4);
    }
  } else {
    leati_draw_absent(d);
    leati_draw_list(d, LEAT_TYPE_INT64, rank, sizes);
  }
  leati_draw_attribute_string(d, "mode", modes[mode]);
  if (mode != 0 && leati_draw_chance(d, 40)) {
    leati_draw_attribute_int(d, "antialias", leati_draw_int(d, 0, 1));
  }
  if (mode == 2) {
    leati_draw_attribute_int(d, "exclude_outside", leati_draw_int(d, 0, 1));
    leati_draw_attribute_float(d, "cubic_coeff_a", (double)leati_draw_int(d, -4, 0) / 4);
  }
  leati_draw_attribute_string(d, "coordinate_transformation_mode", places[leati_draw_int(d, 0, 3)]);
  leati_draw_attribute_string(d, "nearest_mode", roundings[leati_draw_int(d, 0, 3)]);
}

static void grid_sample(leati_draw *d) {
  static const char *const modes[2][3] = {{"linear", "nearest", "cubic"}, {"bilinear", "nearest", "bicubic"}};
  static const char *const paddings[] = {"zeros", "border", "reflection"};
  const bool old = d->since_version < 20;
  const int32_t spatial = (int32_t)leati_draw_int(d, 2, old ? 2 : 3);
  int64_t x[5] = {leati_draw_int(d, d->empty ? 0 : 1, 2), leati_draw_int(d, d->empty ? 0 : 1, 9)};
  int64_t places[5] = {x[0]};
  for (int32_t k = 0; k < spatial; ++k) {
    x[2 + k] = leati_draw_int(d, 1, leati_draw_chance(d, 20) ? 20 : 5);
    places[1 + k] = leati_draw_int(d, d->empty ? 0 : 1, 5);
  }
  places[1 + spatial] = spatial;
  leati_draw_input(d, leati_draw_type(d, "T1"), spatial + 2, x)->plain = true;
  leati_draw_tensor *grid = leati_draw_input(d, leati_draw_type(d, "T2"), spatial + 2, places);
  /* Middles and edges of elements, so that places are found without rounding. */
  const bool exact = leati_draw_chance(d, 50);
  for (int64_t i = 0; exact && i < grid->count; ++i) {
    leati_draw_set(grid, i, (double)leati_draw_int(d, -12, 12) / 4);
  }
  if (leati_draw_chance(d, 80)) {
    leati_draw_attribute_string(d, "mode", modes[old][leati_draw_int(d, 0, spatial == 2 ? 2 : 1)]);
  }
  if (leati_draw_chance(d, 80)) {
    leati_draw_attribute_string(d, "padding_mode", paddings[leati_draw_int(d, 0, 2)]);
  }
  if (leati_draw_chance(d, 60)) {
    leati_draw_attribute_int(d, "align_corners", leati_draw_int(d, 0, 1));
  }
}

static void affine_grid(leati_draw *d) {
  const int32_t spatial = (int32_t)leati_draw_int(d, 2, 3);
  int64_t size[5] = {leati_draw_int(d, d->empty ? 0 : 1, 3), leati_draw_int(d, 1, 3)};
  for (int32_t k = 0; k < spatial; ++k) {
    size[2 + k] = leati_draw_int(d, d->empty ? 0 : 1, 6);
  }
  leati_draw_input(d, leati_draw_type(d, "T1"), 3, (const int64_t[]){size[0], spatial, spatial + 1})->plain = true;
  leati_draw_list(d, LEAT_TYPE_INT64, spatial + 2, size);
  leati_draw_attribute_int(d, "align_corners", leati_draw_int(d, 0, 1));
}

const leati_draw_entry leati_draws_image[] = {
    {"conv", "", "Resize Upsample", NULL, resize},
    {"conv", "", "GridSample", NULL, grid_sample},
    {"conv", "", "AffineGrid", NULL, affine_grid},
    {"conv", LEAT_MICROSOFT, "GridSample", NULL, grid_sample},
    {NULL, NULL, NULL, NULL, NULL},
};
