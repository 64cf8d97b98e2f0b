/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "ops/core/draw.h"

#define RANK LEAT_MAX_RANK

/* Has some indices into dimensions of sizes point out of range; one after the other stands for each dimension. */
static void draw_strays(leati_draw *d, leati_draw_tensor *indices, int32_t sizes, const int64_t *size) {
  /* The last three are 0 in 32 bits. */
  const int64_t last = indices->type == LEAT_TYPE_INT64 ? 7 : 4;
  for (int64_t k = 0; k < indices->count; ++k) {
    const int64_t n = size[k % sizes];
    const int64_t strays[] = {n, -n - 1, n + 5, INT32_MAX, INT32_MIN, INT64_C(1) << 32, INT64_C(1) << 62, INT64_MIN};
    if (leati_draw_chance(d, 20)) {
      leati_draw_set(indices, k, (double)strays[leati_draw_int(d, 0, last)]);
    }
  }
}

/* Indices into a dimension, counted from the front or the back. */
static void draw_indices(leati_draw *d, leati_draw_tensor *indices, int64_t size, bool stray) {
  leati_draw_range(d, indices, -size, size - 1);
  if (stray) {
    draw_strays(d, indices, 1, &size);
  }
}

static bool draw_stray(leati_draw *d) {
  return d->faults && leati_draw_chance(d, 20);
}

static void gather(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  int64_t shape[RANK];
  leati_draw_any(d, "T", 1, 5, &rank, dims);
  const int64_t axis = leati_draw_axis(d, rank);
  const int64_t size = dims[leati_draw_front(axis, rank)];
  const bool stray = draw_stray(d);
  const bool nothing = size == 0 && !stray;
  int32_t more = leati_draw_rank(d, 0, 3);
  for (int32_t k = 0; k < more; ++k) {
    shape[k] = nothing ? 0 : leati_draw_int(d, d->empty ? 0 : 1, 3);
  }
  if (more == 0 && nothing) {
    shape[more++] = 0;
  }
  draw_indices(d, leati_draw_input(d, leati_draw_type(d, "Tind"), more, shape), size, stray);
  leati_draw_attribute_int(d, "axis", axis);
}

static void gather_quantized(leati_draw *d) {
  const int64_t bits = INT64_C(2) << leati_draw_int(d, 0, 2), size = INT64_C(16) << leati_draw_int(d, 0, 2);
  const int32_t rank = leati_draw_rank(d, 2, 4), axis = (int32_t)leati_draw_int(d, 1, rank - 1), last = rank - 1;
  int64_t dims[RANK], blocks[RANK], shape[RANK];
  for (int32_t k = 0; k < rank; ++k) {
    dims[k] = leati_draw_int(d, d->empty ? 0 : 1, k == axis ? 20 : 3);
    blocks[k] = k == last ? dims[k] * 8 / bits : dims[k];
  }
  blocks[axis] = (blocks[axis] + size - 1) / size;
  const bool stray = draw_stray(d);
  const bool nothing = dims[0] == 0 && !stray;
  int32_t more = leati_draw_rank(d, 0, 3);
  for (int32_t k = 0; k < more; ++k) {
    shape[k] = nothing ? 0 : leati_draw_int(d, d->empty ? 0 : 1, 3);
  }
  if (more == 0 && nothing) {
    shape[more++] = 0;
  }
  leati_draw_range(d, leati_draw_input(d, LEAT_TYPE_UINT8, rank, dims), 0, 255);
  draw_indices(d, leati_draw_input(d, leati_draw_type(d, "Tind"), more, shape), dims[0], stray);
  leati_draw_input(d, leati_draw_type(d, "T2"), rank, blocks);
  if (leati_draw_chance(d, 60)) {
    blocks[last] = (blocks[last] * bits + 7) / 8;
    leati_draw_range(d, leati_draw_input(d, LEAT_TYPE_UINT8, rank, blocks), 0, 255);
  }
  if (bits != 4 || leati_draw_chance(d, 50)) {
    leati_draw_attribute_int(d, "bits", bits);
  }
  leati_draw_attribute_int(d, "block_size", size);
  if (axis != 1 || leati_draw_chance(d, 50)) {
    leati_draw_attribute_int(d, "quantize_axis", leati_draw_chance(d, 50) ? axis : axis - rank);
  }
  if (leati_draw_chance(d, 30)) {
    leati_draw_attribute_int(d, "gather_axis", leati_draw_chance(d, 90) ? 0 : -rank);
  }
}

static void gather_elements(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  leati_draw_any(d, "T", 1, RANK, &rank, dims);
  const int64_t axis = leati_draw_axis(d, rank);
  const int64_t size = dims[leati_draw_front(axis, rank)];
  for (int32_t k = 0; k < rank; ++k) {
    dims[k] = k == leati_draw_front(axis, rank) && size > 0 ? leati_draw_int(d, 1, 6)
              : leati_draw_int(d, 0, 1)                     ? dims[k]
                                                            : dims[k] > 0;
  }
  draw_indices(d, leati_draw_input(d, leati_draw_type(d, "Tind"), rank, dims), size, draw_stray(d));
  leati_draw_attribute_int(d, "axis", axis);
}

/* Draws a reduction; false if updates must not meet in an element. */
static bool draw_reduction(leati_draw *d) {
  static const char *const names[] = {"none", "add", "mul", "min", "max"};
  const int64_t known = d->since_version >= 18 ? 4 : d->since_version >= 16 ? 2 : 0;
  const int64_t reduction = leati_draw_int(d, 0, known);
  if (d->since_version < 11 || leati_draw_chance(d, 40)) {
    return false;
  }
  leati_draw_attribute_string(d, "reduction", names[reduction]);
  return reduction != 0;
}

static void scatter_elements(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  int64_t shape[RANK];
  leati_draw_any(d, "T", 1, 5, &rank, dims);
  const int64_t axis = leati_draw_axis(d, rank);
  const int64_t size = dims[leati_draw_front(axis, rank)];
  for (int32_t k = 0; k < rank; ++k) {
    shape[k] = leati_draw_int(d, dims[k] > 0 && !d->empty ? 1 : 0, dims[k]);
  }
  leati_draw_tensor *indices = leati_draw_input(d, leati_draw_type(d, "Tind"), rank, shape);
  /* No place twice, unless updates are reduced: along the axis the indices count up from anywhere. */
  const bool reduced = draw_reduction(d);
  const int64_t begin = leati_draw_int(d, 0, size - 1);
  for (int64_t k = 0; k < indices->count; ++k) {
    int64_t index[RANK];
    leati_ref_unravel(rank, shape, k, index);
    const int64_t at =
        reduced ? leati_draw_int(d, -size, size - 1) : (index[leati_draw_front(axis, rank)] + begin) % size;
    leati_draw_set(indices, k, (double)at);
  }
  if (draw_stray(d)) {
    draw_strays(d, indices, 1, &size);
  }
  leati_draw_input(d, d->inputs[0].type, rank, shape);
  leati_draw_attribute_int(d, "axis", axis);
}

/* Tuples that say where in `rank` dimensions; distinct ones if asked for. */
static void draw_tuples(leati_draw *d, leati_draw_tensor *indices, int32_t tuple, const int64_t *dims, bool distinct) {
  const int64_t places = leati_draw_count(tuple, dims);
  const int64_t begin = leati_draw_int(d, 0, places - 1);
  for (int64_t k = 0; tuple > 0 && k < indices->count / tuple; ++k) {
    int64_t index[RANK];
    leati_ref_unravel(tuple, dims, distinct ? (begin + k) % places : leati_draw_int(d, 0, places - 1), index);
    for (int32_t t = 0; t < tuple; ++t) {
      leati_draw_set(indices, k * tuple + t, (double)(index[t] - (leati_draw_chance(d, 30) ? dims[t] : 0)));
    }
  }
  if (tuple > 0 && draw_stray(d)) {
    draw_strays(d, indices, tuple, dims);
  }
}

static void gather_nd(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  int64_t shape[RANK];
  leati_draw_any(d, "T", 1, 5, &rank, dims);
  const int32_t batch =
      d->since_version >= 12 && leati_draw_chance(d, 40) ? (int32_t)leati_draw_int(d, 0, rank - 1) : 0;
  const int32_t tuple = (int32_t)leati_draw_int(d, 1, rank - batch);
  const bool nothing = leati_draw_count(tuple, dims + batch) == 0;
  int32_t count = 0;
  for (; count < batch; ++count) {
    shape[count] = dims[count];
  }
  if (nothing || leati_draw_chance(d, 70)) {
    shape[count++] = nothing ? 0 : leati_draw_int(d, d->empty ? 0 : 1, 5);
  }
  shape[count++] = tuple;
  draw_tuples(d, leati_draw_input(d, LEAT_TYPE_INT64, count, shape), tuple, dims + batch, false);
  leati_draw_attribute_int(d, "batch_dims", batch);
}

static void scatter_nd(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  int64_t shape[RANK];
  leati_draw_any(d, "T", 1, 5, &rank, dims);
  const int32_t tuple = (int32_t)leati_draw_int(d, 1, rank);
  const int64_t places = leati_draw_count(tuple, dims);
  shape[0] = leati_draw_int(d, places > 0 && !d->empty ? 1 : 0, places < 6 ? places : 6);
  shape[1] = tuple;
  draw_tuples(d, leati_draw_input(d, LEAT_TYPE_INT64, 2, shape), tuple, dims, !draw_reduction(d));
  for (int32_t k = tuple; k < rank; ++k) {
    shape[1 + k - tuple] = dims[k];
  }
  leati_draw_input(d, d->inputs[0].type, 1 + rank - tuple, shape);
}

static void tensor_scatter(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  leati_draw_any(d, "T", 2, 5, &rank, dims);
  /* Not that of the batches. */
  const int64_t at = leati_draw_int(d, 1, rank - 1), size = dims[at], batches = dims[0];
  dims[at] = leati_draw_int(d, 0, size);
  leati_draw_input(d, d->inputs[0].type, rank, dims);
  if (leati_draw_chance(d, 80)) {
    leati_draw_tensor *places = leati_draw_input(d, LEAT_TYPE_INT64, 1, &batches);
    for (int64_t k = 0; k < places->count; ++k) {
      leati_draw_set(places, k, (double)leati_draw_int(d, 0, size - dims[at]));
    }
    if (draw_stray(d)) {
      draw_strays(d, places, 1, &size);
    }
  }
  if (at != rank - 2 || leati_draw_chance(d, 50)) {
    leati_draw_attribute_int(d, "axis", at - (leati_draw_chance(d, 50) ? rank : 0));
  }
  if (leati_draw_chance(d, 60)) {
    leati_draw_attribute_string(d, "mode", leati_draw_chance(d, 50) ? "circular" : "linear");
  }
}

static void running(leati_draw *d) {
  d->inputs[0].plain = strcmp(d->info->name, "CumProd") == 0; /* a product that overflows ends what is behind it */
  const int64_t axis = leati_draw_axis(d, d->inputs[0].rank);
  leati_draw_list(d, leati_draw_type(d, "T2"), -1, &axis);
}

static void reverse_sequence(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  leati_draw_any(d, "T", 2, 5, &rank, dims);
  const int64_t time = leati_draw_int(d, 0, 1);
  leati_draw_tensor *lengths = leati_draw_input(d, LEAT_TYPE_INT64, 1, &dims[1 - time]);
  for (int64_t k = 0; k < lengths->count; ++k) {
    leati_draw_set(lengths, k, (double)leati_draw_int(d, -1, dims[time] + 1));
  }
  leati_draw_attribute_int(d, "time_axis", time);
  leati_draw_attribute_int(d, "batch_axis", 1 - time);
}

static void nonzero(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  leati_draw_tensor *x = leati_draw_any(d, "T", 0, 6, &rank, dims);
  for (int64_t k = 0; k < x->count; ++k) {
    if (leati_draw_chance(d, 50)) {
      leati_draw_set(x, k, 0);
    }
  }
}

static void compress(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  leati_draw_any(d, "T", 0, 6, &rank, dims);
  int64_t conditions = leati_draw_count(rank, dims);
  if (rank > 0 && leati_draw_chance(d, 70)) {
    const int64_t axis = leati_draw_axis(d, rank);
    leati_draw_attribute_int(d, "axis", axis);
    conditions = dims[leati_draw_front(axis, rank)];
  }
  conditions = leati_draw_chance(d, 80) ? conditions : leati_draw_int(d, 0, conditions);
  leati_draw_input(d, LEAT_TYPE_BOOL, leati_draw_chance(d, 90) ? 1 : 0, &conditions);
}

/* Few numbers, so that some are there more than once. */
static void unique(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  leati_draw_tensor *x = leati_draw_any(d, "T", 0, 5, &rank, dims);
  if (leati_draw_chance(d, 80)) {
    const int64_t most = leati_draw_int(d, 0, 3);
    for (int64_t k = 0; k < x->count; ++k) {
      leati_draw_set(x, k, (double)(x->type == LEAT_TYPE_BOOL ? k & 1 : leati_draw_int(d, 0, most)));
    }
  }
  if (rank > 0 && leati_draw_chance(d, 60)) {
    leati_draw_attribute_int(d, "axis", leati_draw_axis(d, rank));
  }
  leati_draw_attribute_int(d, "sorted", leati_draw_int(d, 0, 1));
  d->output_count = (uint32_t)leati_draw_int(d, 1, 4);
}

static void suppression(leati_draw *d) {
  const int64_t batches = leati_draw_int(d, 0, 2), count = leati_draw_int(d, 0, 30);
  leati_draw_tensor *boxes = leati_draw_input(d, LEAT_TYPE_FLOAT32, 3, (const int64_t[3]){batches, count, 4});
  for (int64_t k = 0; k < boxes->count; ++k) {
    leati_draw_set(boxes, k, g_rand_double_range(d->rand, 0, 2));
  }
  leati_draw_input(d, LEAT_TYPE_FLOAT32, 3, (const int64_t[3]){batches, leati_draw_int(d, 0, 3), count});
  leati_draw_attribute_int(d, "center_point_box", leati_draw_int(d, 0, 1));
  const int64_t given = leati_draw_int(d, 0, 3), most = leati_draw_int(d, -1, 20);
  if (given > 0) {
    leati_draw_list(d, LEAT_TYPE_INT64, leati_draw_chance(d, 50) ? 1 : -1, &most);
  }
  for (int64_t k = 1; k < given; ++k) {
    leati_draw_set(leati_draw_input(d, LEAT_TYPE_FLOAT32, leati_draw_chance(d, 50) ? 1 : 0, (const int64_t[1]){1}), 0,
                   g_rand_double_range(d->rand, 0, 1));
  }
}

/* Edges are away from those of bins, where rounding decides; ONNX's numbers of the types. */
static void mel_weight_matrix(leati_draw *d) {
  const int64_t rate = leati_draw_int(d, 1, 9) * 1000,
                numbers[] = {leati_draw_int(d, 0, 20), leati_draw_int(d, 0, 99), rate};
  const uint64_t type = leati_draw_type(d, "T1");
  for (uint32_t k = 0; k < 3; ++k) {
    leati_draw_list(d, type, leati_draw_chance(d, 50) ? 1 : -1, &numbers[k]);
  }
  const double lower = g_rand_double_range(d->rand, 0, (double)rate / 4);
  leati_draw_set(leati_draw_input(d, LEAT_TYPE_FLOAT32, 0, NULL), 0, lower);
  leati_draw_set(leati_draw_input(d, LEAT_TYPE_FLOAT32, 0, NULL), 0,
                 lower + g_rand_double_range(d->rand, 0, (double)rate / 4));
  if (leati_draw_chance(d, 50)) {
    leati_draw_attribute_int(d, "output_datatype", leati_draw_chance(d, 50) ? 1 : 11);
  }
}

static void one_hot(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  const int64_t depth = leati_draw_int(d, 1, 9), two = 2;
  leati_draw_tensor *indices = leati_draw_any(d, "T1", 0, RANK - 1, &rank, dims);
  leati_draw_range(d, indices, -depth - 2, depth + 2);
  const uint64_t type = leati_draw_type(d, "T2");
  if (type == LEAT_TYPE_FLOAT32) {
    leati_draw_set(leati_draw_input(d, type, leati_draw_chance(d, 50) ? 1 : 0, (const int64_t[]){1}), 0, (double)depth);
  } else {
    leati_draw_list(d, type, leati_draw_chance(d, 50) ? 1 : -1, &depth);
  }
  leati_draw_input(d, leati_draw_type(d, "T3"), 1, &two);
  leati_draw_attribute_int(d, "axis", leati_draw_axis(d, rank + 1));
}

const leati_draw_entry leati_draws_index[] = {
    {"index", "", "Gather", NULL, gather},
    {"index", LEAT_MICROSOFT, "GatherBlockQuantized", NULL, gather_quantized},
    {"index", LEAT_MICROSOFT, "GatherND", NULL, gather_nd},
    {"index", "", "GatherElements", NULL, gather_elements},
    {"index", "", "ScatterElements Scatter", NULL, scatter_elements},
    {"index", "", "GatherND", NULL, gather_nd},
    {"index", "", "ScatterND", NULL, scatter_nd},
    {"index", "", "NonZero", NULL, nonzero},
    {"index", "", "Compress", NULL, compress},
    {"index", "", "Unique", NULL, unique},
    {"index", "", "NonMaxSuppression", NULL, suppression},
    {"index", "", "MelWeightMatrix", NULL, mel_weight_matrix},
    {"index", "", "OneHot", NULL, one_hot},
    {"index", "", "TensorScatter", NULL, tensor_scatter},
    {"index", "", "ReverseSequence", NULL, reverse_sequence},
    {"index", "", "CumSum CumProd", "*1", running},
    {NULL, NULL, NULL, NULL, NULL},
};
