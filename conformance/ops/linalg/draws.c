/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "ops/core/draw.h"

#define RANK LEAT_MAX_RANK

/* Draws a batch of matrices of `rows` by `columns`; gives their rank. */
static int32_t draw_shape(leati_draw *d, int64_t rows, int64_t columns, int64_t *dims) {
  const int32_t rank = leati_draw_rank(d, 2, RANK);
  leati_draw_dims(d, rank, dims);
  for (int32_t k = 0; k < rank - 2; ++k) {
    dims[k] = dims[k] > 3 ? 3 : dims[k];
  }
  dims[rank - 2] = rows;
  dims[rank - 1] = columns;
  return rank;
}

/* Whole numbers, of which one in each column, in another row for each, is larger than all others together: which row is
 * the pivot is beyond doubt, and stays so. */
static void draw_pivots(leati_draw *d, leati_draw_tensor *x) {
  const int64_t rows = x->dims[x->rank - 2], columns = x->dims[x->rank - 1];
  leati_draw_range(d, x, -3, 3);
  for (int64_t b = 0; rows * columns != 0 && b < x->count / (rows * columns); ++b) {
    const int64_t turn = leati_draw_int(d, 0, rows - 1);
    for (int64_t c = 0; c < columns; ++c) {
      leati_draw_set(x, (b * rows + (c + turn) % rows) * columns + c,
                     (double)((leati_draw_chance(d, 50) ? 1 : -1) * (4 * rows + leati_draw_int(d, 0, 5))));
    }
  }
  x->plain = true;
}

/* Whole numbers whose diagonal is not 0. */
static void draw_triangle(leati_draw *d, leati_draw_tensor *x) {
  const int64_t rows = x->dims[x->rank - 1];
  leati_draw_range(d, x, -2, 2);
  for (int64_t k = 0; k < x->count; ++k) {
    if (k / rows % rows == k % rows) {
      leati_draw_set(x, k, (double)leati_draw_int(d, 1, 4));
    }
  }
  x->plain = true;
}

static void draw_flag(leati_draw *d, const char *name) {
  if (leati_draw_chance(d, 70)) {
    leati_draw_attribute_int(d, name, leati_draw_int(d, 0, 1));
  }
}

static int64_t draw_size(leati_draw *d) {
  return leati_draw_int(d, d->empty ? 0 : 1, leati_draw_chance(d, 10) ? 40 : 6);
}

static void factors(leati_draw *d) {
  int64_t dims[RANK];
  const int64_t rows = draw_size(d);
  const bool lu = strcmp(d->info->name, "LU") == 0;
  const int32_t rank = draw_shape(d, rows, lu ? leati_draw_int(d, d->empty ? 0 : 1, rows) : rows, dims);
  d->output_count = lu ? 3 : 1;
  draw_pivots(d, leati_draw_input(d, leati_draw_type(d, "T"), rank, dims));
}

static void lu_solve(leati_draw *d) {
  int64_t dims[RANK];
  const int64_t rows = draw_size(d);
  const int32_t rank = draw_shape(d, rows, rows, dims);
  const uint64_t type = leati_draw_type(d, "T");
  draw_triangle(d, leati_draw_input(d, type, rank, dims));
  leati_draw_tensor *const pivots = leati_draw_input(d, LEAT_TYPE_INT32, rank - 1, dims);
  for (int64_t k = 0; k < pivots->count; ++k) {
    leati_draw_set(pivots, k,
                   (double)(d->faults && leati_draw_chance(d, 10) ? leati_draw_int(d, -1, rows + 2)
                                                                  : leati_draw_int(d, k % rows + 1, rows)));
  }
  dims[rank - 1] = leati_draw_int(d, d->empty ? 0 : 1, 9);
  leati_draw_input(d, type, rank, dims)->plain = true;
  d->output_count = leati_draw_chance(d, 50) ? 2 : 1;
  draw_flag(d, "transpose");
}

static void solve(leati_draw *d) {
  int64_t dims[RANK];
  const int64_t rows = draw_size(d);
  const int32_t rank = draw_shape(d, rows, rows, dims);
  const uint64_t type = leati_draw_type(d, "T");
  const bool right = strcmp(d->info->name, "TriangularSolve") == 0 && leati_draw_chance(d, 40);
  draw_triangle(d, leati_draw_input(d, type, rank, dims));
  dims[rank - (right ? 2 : 1)] = leati_draw_int(d, d->empty ? 0 : 1, 9);
  leati_draw_input(d, type, rank, dims)->plain = true;
  d->output_count = leati_draw_chance(d, 50) ? 2 : 1;
  draw_flag(d, "upper");
  if (strcmp(d->info->name, "TriangularSolve") == 0) {
    leati_draw_attribute_int(d, "right", right);
    draw_flag(d, "transpose");
    draw_flag(d, "unit_diagonal");
  }
}

/* Symmetric, with a diagonal larger than all else in its row. */
static void cholesky(leati_draw *d) {
  int64_t dims[RANK];
  const int64_t rows = draw_size(d);
  const int32_t rank = draw_shape(d, rows, rows, dims);
  leati_draw_tensor *const x = leati_draw_input(d, leati_draw_type(d, "T"), rank, dims);
  leati_draw_range(d, x, 1, 1);
  for (int64_t k = 0; k < x->count; ++k) {
    if (k / rows % rows == k % rows) {
      leati_draw_set(x, k, (double)(rows + leati_draw_int(d, 1, 9)));
    }
  }
  x->plain = true;
  d->output_count = leati_draw_chance(d, 50) ? 2 : 1;
  draw_flag(d, "upper");
}

/* The number that an input on the host is. */
static void number_input(leati_draw *d, uint64_t type, int64_t value) {
  leati_draw_list(d, type, leati_draw_chance(d, 50) ? 1 : -1, &value);
}

static void dft(leati_draw *d) {
  const bool old = d->since_version < 20, inverse = leati_draw_chance(d, 50), onesided = leati_draw_chance(d, 40);
  const int32_t rank = leati_draw_rank(d, 2, 5);
  const int64_t axis = leati_draw_axis(d, rank - 1);
  int64_t dims[RANK];
  leati_draw_dims(d, rank, dims);
  const int32_t front = leati_draw_front(axis, rank - 1);
  dims[front] = leati_draw_int(d, 2, 40);
  dims[rank - 1] = onesided ? (inverse ? 2 : 1) : leati_draw_int(d, 1, 2);
  leati_draw_input(d, leati_draw_type(d, "T1"), rank, dims);
  const bool has_length = leati_draw_chance(d, 50), has_axis = !old && (front != rank - 2 || leati_draw_chance(d, 50));
  if (has_length) {
    number_input(d, leati_draw_type(d, "T2"), leati_draw_int(d, 1, 50));
  } else if (has_axis) {
    leati_draw_absent(d);
  }
  if (has_axis) {
    const int64_t said = front - (leati_draw_chance(d, 50) ? rank : 0);
    leati_draw_list(d, LEAT_TYPE_INT64, -1, &said);
  }
  if (old) {
    leati_draw_attribute_int(d, "axis", front);
  }
  leati_draw_attribute_int(d, "inverse", inverse);
  leati_draw_attribute_int(d, "onesided", onesided);
}

static void stft(leati_draw *d) {
  const bool onesided = leati_draw_chance(d, 50);
  const int64_t samples = leati_draw_int(d, 1, 90), length = leati_draw_int(d, 1, samples);
  const uint64_t type = leati_draw_type(d, "T1");
  leati_draw_input(d, type, 3,
                   (const int64_t[3]){leati_draw_int(d, 1, 3), samples, onesided ? 1 : leati_draw_int(d, 1, 2)});
  const uint64_t whole = leati_draw_type(d, "T2");
  number_input(d, whole, leati_draw_int(d, 1, 30));
  const bool has_window = leati_draw_chance(d, 60), has_length = leati_draw_chance(d, 50);
  if (has_window) {
    leati_draw_input(d, type, 1, &length);
  } else if (has_length) {
    leati_draw_absent(d);
  }
  if (has_length) {
    number_input(d, whole, length);
  }
  leati_draw_attribute_int(d, "onesided", onesided);
}

const leati_draw_entry leati_draws_linalg[] = {
    {"matmul", "leat", "LU", NULL, factors},
    {"matmul", "", "Det", NULL, factors},
    {"matmul", LEAT_MICROSOFT, "Inverse", NULL, factors},
    {"matmul", "leat", "LUSolve", NULL, lu_solve},
    {"matmul", "leat", "TriangularSolve CholeskySolve", NULL, solve},
    {"matmul", "leat", "Cholesky", NULL, cholesky},
    {"matmul", "", "DFT", NULL, dft},
    {"matmul", "", "STFT", NULL, stft},
    {NULL, NULL, NULL, NULL, NULL},
};
