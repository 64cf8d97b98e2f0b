/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "ops/core/draw.h"

#define RANK LEAT_MAX_RANK

static void expand(leati_draw *d) {
  const int32_t rank = leati_draw_rank(d, 0, RANK);
  int64_t dims[RANK];
  leati_draw_dims(d, rank, dims);
  leati_draw_narrow_input(d, leati_draw_type(d, "T"), rank, dims);
  for (int32_t k = 0; k < rank; ++k) {
    dims[k] = leati_draw_chance(d, 20) && dims[k] != 0 ? 1 : dims[k];
  }
  leati_draw_list(d, LEAT_TYPE_INT64, rank, dims);
}

static void slice(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  int64_t axes[RANK];
  int64_t numbers[3][RANK]; /* starts, ends, steps */
  leati_draw_any(d, "T", 1, RANK, &rank, dims);
  const bool has_steps = d->since_version >= 10;
  const uint64_t type = has_steps ? leati_draw_type(d, "Tind") : LEAT_TYPE_INT64;
  const bool listed = leati_draw_chance(d, 70);
  int32_t count = leati_draw_axes(d, rank, axes);
  if (!listed) {
    for (int32_t k = 0; k < count; ++k) {
      axes[k] = k;
    }
  }
  for (int32_t k = 0; k < count; ++k) {
    const int64_t size = dims[leati_draw_front(axes[k], rank)];
    numbers[0][k] = leati_draw_int(d, -size - 1, size + 1);
    numbers[1][k] = leati_draw_int(d, -size - 1, size + 1);
    numbers[2][k] = leati_draw_int(d, 1, 3);
    if (listed && has_steps && leati_draw_chance(d, 40)) {
      numbers[2][k] = -numbers[2][k];
    }
    /* Models say "to the end" with the largest and smallest numbers that there are. */
    for (int n = 0; n < (listed ? 3 : 2); ++n) {
      if (leati_draw_chance(d, 6)) {
        numbers[n][k] = type == LEAT_TYPE_INT32 ? (leati_draw_chance(d, 50) ? INT32_MIN : INT32_MAX)
                                                : (leati_draw_chance(d, 50) ? INT64_MIN : INT64_MAX);
      }
    }
  }
  leati_draw_list(d, type, count, numbers[0]);
  leati_draw_list(d, type, count, numbers[1]);
  if (listed) {
    leati_draw_list(d, type, count, axes);
    if (has_steps) {
      leati_draw_list(d, type, count, numbers[2]);
    }
  }
}

static void concat(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  leati_draw_any(d, "T", 1, RANK, &rank, dims);
  const int64_t axis = leati_draw_axis(d, rank);
  for (int64_t k = leati_draw_int(d, 0, 4); k > 0; --k) {
    dims[leati_draw_front(axis, rank)] = leati_draw_int(d, 0, 4);
    leati_draw_input(d, d->inputs[0].type, rank, dims);
  }
  leati_draw_attribute_int(d, "axis", axis);
}

static void split(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  int64_t parts[LEAT_DRAW_OUTPUTS];
  rank = leati_draw_rank(d, 1, RANK);
  leati_draw_dims(d, rank, dims);
  const int64_t axis = leati_draw_axis(d, rank);
  const int32_t count = (int32_t)leati_draw_int(d, 1, 4);
  const bool listed = leati_draw_chance(d, 50);
  int64_t sum = 0;
  for (int32_t k = 0; k < count; ++k) {
    parts[k] = listed ? leati_draw_int(d, d->empty ? 0 : 1, 4) : 2;
    sum += parts[k];
  }
  dims[leati_draw_front(axis, rank)] = sum;
  leati_draw_input(d, leati_draw_type(d, "T"), rank, dims);
  if (listed) {
    leati_draw_list(d, LEAT_TYPE_INT64, count, parts);
  } else if (d->since_version >= 18) {
    leati_draw_attribute_int(d, "num_outputs", count);
  }
  leati_draw_attribute_int(d, "axis", axis);
  d->output_count = (uint32_t)count;
}

static void pad(leati_draw *d) {
  static const char *const modes[] = {"constant", "edge", "reflect", "wrap"};
  int32_t rank;
  int64_t dims[RANK];
  int64_t axes[RANK];
  int64_t pads[2 * RANK];
  leati_draw_any(d, "T", 1, 4, &rank, dims);
  const int64_t mode = leati_draw_int(d, 0, d->since_version >= 19 ? 3 : 2);
  const bool listed = d->since_version >= 18 && leati_draw_chance(d, 30);
  const int32_t count = listed ? leati_draw_axes(d, rank, axes) : rank;
  for (int32_t k = 0; k < count; ++k) {
    int64_t left = dims[listed ? leati_draw_front(axes[k], rank) : k];
    /* What is taken off comes first; all modes but "constant" need something that is left. */
    for (int32_t side = k; side < 2 * count; side += count) {
      const int64_t most = mode == 0 ? left : left - 1;
      pads[side] = most > 0 && leati_draw_chance(d, 15) ? -leati_draw_int(d, 1, most < 3 ? most : 3) : 0;
      left += pads[side];
    }
    for (int32_t side = k; side < 2 * count; side += count) {
      const int64_t most = mode == 0 ? 3 : mode == 2 ? left - 1 : left;
      pads[side] += pads[side] < 0 ? 0 : leati_draw_int(d, 0, most < 3 ? most : 3);
    }
  }
  leati_draw_list(d, LEAT_TYPE_INT64, 2 * count, pads);
  if (leati_draw_chance(d, 50)) {
    leati_draw_input(d, d->inputs[0].type, 0, NULL);
  } else {
    leati_draw_absent(d);
  }
  if (listed) {
    leati_draw_list(d, LEAT_TYPE_INT64, count, axes);
  }
  if (mode != 0 || leati_draw_chance(d, 50)) {
    leati_draw_attribute_string(d, "mode", modes[mode]);
  }
}

static void tile(leati_draw *d) {
  const int32_t rank = d->inputs[0].rank;
  int64_t repeats[RANK];
  for (int32_t k = 0; k < rank; ++k) {
    repeats[k] = leati_draw_chance(d, 60) ? 1 : leati_draw_int(d, d->empty ? 0 : 1, 3);
  }
  leati_draw_list(d, LEAT_TYPE_INT64, rank, repeats);
}

static void depth_space(leati_draw *d) {
  const int64_t block = leati_draw_int(d, 1, 3);
  const bool to_space = strcmp(d->info->name, "DepthToSpace") == 0;
  int64_t dims[4];
  for (int k = 0; k < 4; ++k) {
    dims[k] = leati_draw_int(d, d->empty ? 0 : 1, 3);
  }
  dims[1] *= to_space ? block * block : 1;
  dims[2] *= to_space ? 1 : block;
  dims[3] *= to_space ? 1 : block;
  leati_draw_input(d, leati_draw_type(d, "T"), 4, dims);
  leati_draw_attribute_int(d, "blocksize", block);
  if (to_space && leati_draw_chance(d, 60)) {
    leati_draw_attribute_string(d, "mode", leati_draw_chance(d, 50) ? "CRD" : "DCR");
  }
}

/* Which diagonal, perhaps. */
static void trilu(leati_draw *d) {
  const int64_t k = leati_draw_int(d, -4, 4);
  if (leati_draw_chance(d, 60)) {
    leati_draw_list(d, LEAT_TYPE_INT64, -1, &k);
  }
}

static void reshape(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  int64_t shape[RANK];
  leati_draw_any(d, "T", 0, RANK, &rank, dims);
  const bool zero = leati_draw_count(rank, dims) == 0;
  int32_t count = 0;
  /* Joins neighbours, or keeps them; one of what comes out may be left to be found. */
  for (int32_t k = 0; k < rank; ++k) {
    if (count > 0 && leati_draw_chance(d, 40)) {
      shape[count - 1] *= dims[k];
    } else {
      shape[count++] = dims[k];
    }
  }
  if (count > 0 && !zero && leati_draw_chance(d, 40)) {
    shape[leati_draw_int(d, 0, count - 1)] = -1;
  }
  if (d->since_version >= 14) {
    leati_draw_attribute_int(d, "allowzero", 1);
  }
  if (zero && d->since_version < 14) {
    /* A zero copies the dimension of the input. */
    count = rank;
    memcpy(shape, dims, sizeof(shape));
  }
  leati_draw_list(d, LEAT_TYPE_INT64, count, shape);
}

static void flatten(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  leati_draw_any(d, "T", 0, RANK, &rank, dims);
  /* One behind the last is an axis here. */
  const int64_t axis = leati_draw_int(d, d->since_version >= 11 ? -rank : 0, rank);
  if (rank == 0 || leati_draw_chance(d, 80)) {
    leati_draw_attribute_int(d, "axis", rank == 0 ? 0 : axis);
  }
}

static void squeeze(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  int64_t axes[RANK];
  rank = leati_draw_rank(d, 0, RANK);
  leati_draw_dims(d, rank, dims);
  const int32_t count = leati_draw_axes(d, rank, axes);
  const bool listed = leati_draw_chance(d, 70);
  for (int32_t k = 0; k < count; ++k) {
    dims[leati_draw_front(axes[k], rank)] = 1;
  }
  leati_draw_input(d, leati_draw_type(d, "T"), rank, dims);
  if (listed) {
    leati_draw_list(d, LEAT_TYPE_INT64, count, axes);
  }
}

static void unsqueeze(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  int64_t axes[RANK];
  leati_draw_any(d, "T", 0, 5, &rank, dims);
  const int32_t count = (int32_t)leati_draw_int(d, 0, RANK - rank > 3 ? 3 : RANK - rank);
  for (int32_t k = 0; k < count; ++k) {
    axes[k] = leati_draw_chance(d, 50) ? k * 2 : k * 2 - rank - count;
  }
  /* Every second one may be too many for a small tensor. */
  for (int32_t k = 0; k < count; ++k) {
    if (2 * (count - 1) >= rank + count) {
      axes[k] = k;
    }
  }
  leati_draw_list(d, LEAT_TYPE_INT64, count, axes);
}

static void constant_of_shape(leati_draw *d) {
  static int64_t one[1] = {1};
  const int32_t rank = leati_draw_rank(d, 0, RANK);
  int64_t dims[RANK];
  leati_draw_dims(d, rank, dims);
  leati_draw_list(d, LEAT_TYPE_INT64, rank, dims);
  if (leati_draw_chance(d, 80)) {
    leati_draw_tensor *kept = leati_draw_input(d, leati_draw_type(d, "T2"), 1, one);
    d->value = *kept;
    memset(kept, 0, sizeof(*kept));
    d->input_count--;
    d->value_view = (DLTensor){.data = d->value.bytes,
                               .device = {kDLCPU, 0},
                               .ndim = 1,
                               .dtype = leati_draw_dlpack(d->value.type),
                               .shape = d->value.dims};
    leati_draw_attribute_tensor(d, "value", &d->value_view);
  }
}

static void range(leati_draw *d) {
  const uint64_t type = leati_draw_type(d, "T");
  const bool backwards = leati_draw_chance(d, 40);
  const int64_t start = leati_draw_int(d, -20, 20);
  const int64_t limit = start + leati_draw_int(d, -5, 40) * (backwards ? -1 : 1);
  const int64_t delta = leati_draw_int(d, 1, 4) * (backwards ? -1 : 1);
  const int64_t numbers[3] = {start, limit, delta};
  const int count = d->info->min_inputs == 3 || leati_draw_chance(d, 60) ? 3 : 2;
  for (int k = 0; k < count; ++k) {
    leati_draw_tensor *scalar = leati_draw_input(d, type, 0, NULL);
    leati_draw_set(scalar, 0, (double)numbers[k]);
  }
}

static void unfold_tensor(leati_draw *d) {
  const int32_t rank = leati_draw_rank(d, 1, 5);
  const int64_t axis = leati_draw_axis(d, rank);
  int64_t dims[RANK];
  leati_draw_dims(d, rank, dims);
  /* No window is of nothing. */
  int64_t *const along = &dims[leati_draw_front(axis, rank)];
  *along = *along > 0 ? *along : 1;
  leati_draw_input(d, leati_draw_type(d, "T"), rank, dims);
  leati_draw_attribute_int(d, "dim", axis);
  leati_draw_attribute_int(d, "size", leati_draw_int(d, 1, *along));
  if (leati_draw_chance(d, 60)) {
    leati_draw_attribute_int(d, "step", leati_draw_int(d, 1, 4));
  }
}

/* Slice without steps. */
static void dynamic_slice(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK], axes[RANK], starts[RANK], ends[RANK];
  leati_draw_any(d, "T", 1, RANK, &rank, dims);
  const uint64_t type = leati_draw_type(d, "Tind");
  const int32_t count = leati_draw_axes(d, rank, axes);
  const bool listed = leati_draw_chance(d, 70);
  for (int32_t k = 0; k < count; ++k) {
    const int64_t size = dims[listed ? leati_draw_front(axes[k], rank) : k];
    starts[k] = leati_draw_int(d, -size - 1, size + 1);
    ends[k] = leati_draw_int(d, -size - 1, size + 1);
  }
  leati_draw_list(d, type, count, starts);
  leati_draw_list(d, type, count, ends);
  if (listed) {
    leati_draw_list(d, type, count, axes);
  }
}

static void eye_like(leati_draw *d) {
  /* ONNX's numbers of types. */
  static const int64_t types[] = {1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 16};
  int32_t rank;
  int64_t dims[LEAT_MAX_RANK];
  leati_draw_any(d, "T1", 2, 2, &rank, dims);
  if (leati_draw_chance(d, 60)) {
    leati_draw_attribute_int(d, "dtype", types[leati_draw_int(d, 0, 12)]);
  }
  if (leati_draw_chance(d, 60)) {
    leati_draw_attribute_int(d, "k", leati_draw_int(d, -9, 9));
  }
}

/* To a type of the same size. */
static void bit_cast(leati_draw *d) {
  static const struct {
    uint64_t types;
    int64_t numbers[4]; /* ONNX's of them */
  } sizes[] = {
      {LEAT_TYPE_INT8 | LEAT_TYPE_UINT8 | LEAT_TYPE_BOOL, {2, 3, 2, 3}},
      {LEAT_TYPE_INT16 | LEAT_TYPE_UINT16 | LEAT_TYPE_FLOAT16 | LEAT_TYPE_BFLOAT16, {4, 5, 10, 16}},
      {LEAT_TYPE_INT32 | LEAT_TYPE_UINT32 | LEAT_TYPE_FLOAT32, {1, 6, 12, 1}},
      {LEAT_TYPE_INT64 | LEAT_TYPE_UINT64 | LEAT_TYPE_FLOAT64, {7, 11, 13, 7}},
  };
  int32_t rank;
  int64_t dims[RANK];
  leati_draw_any(d, "T1", 0, RANK, &rank, dims);
  size_t size = 0;
  for (size_t k = 0; k < G_N_ELEMENTS(sizes); ++k) {
    size = (sizes[k].types & d->inputs[0].type) != 0 ? k : size;
  }
  leati_draw_attribute_int(d, "to", sizes[size].numbers[leati_draw_int(d, 0, 3)]);
}

/* Places that are mostly inside: `strides` of any kind for what is read, of those of a part of X, its dimensions in any
 * order, for what is written. */
static void as_strided(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK], shape[RANK], strides[RANK], offset = 0;
  const bool scatters = strcmp(d->info->name, "AsStridedScatter") == 0;
  leati_draw_any(d, "T", scatters ? 1 : 0, 5, &rank, dims);
  const int64_t count = leati_draw_count(rank, dims);
  int64_t least = 0, most = 0;
  if (scatters) {
    int64_t stride = 1;
    for (int32_t k = rank - 1; k >= 0; stride *= dims[k--]) {
      const int64_t step = leati_draw_int(d, 1, 2), first = leati_draw_int(d, 0, dims[k] / 2);
      shape[k] = (dims[k] - first + step - 1) / step;
      strides[k] = step * stride;
      offset += first * stride;
    }
    if (rank > 1 && leati_draw_chance(d, 50)) {
      const int64_t size = shape[0], other = strides[0];
      shape[0] = shape[rank - 1];
      strides[0] = strides[rank - 1];
      shape[rank - 1] = size;
      strides[rank - 1] = other;
    }
  } else {
    /* Of a tensor without elements there are no places. */
    rank = leati_draw_rank(d, count == 0 ? 1 : 0, RANK);
    leati_draw_dims(d, rank, shape);
    if (count == 0) {
      shape[0] = 0;
    }
    for (int32_t k = 0; k < rank; ++k) {
      const int64_t most_of = MAX(shape[k] - 1, 0), left = count - 1 - most + least;
      strides[k] = leati_draw_int(d, -2, 3);
      strides[k] = most_of * ABS(strides[k]) > left ? 0 : strides[k];
      least += most_of * MIN(strides[k], 0);
      most += most_of * MAX(strides[k], 0);
    }
    offset = count == 0 ? 0 : leati_draw_int(d, -least, count - 1 - most);
  }
  if (scatters) {
    leati_draw_input(d, d->inputs[0].type, rank, shape);
  }
  leati_draw_attribute_ints(d, "shape", rank, shape);
  leati_draw_attribute_ints(d, "strides", rank, strides);
  leati_draw_attribute_int(d, "offset", offset);
}

static void roll(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK], axes[RANK], shifts[RANK];
  leati_draw_any(d, "T", 1, RANK, &rank, dims);
  int32_t count = 1;
  if (leati_draw_chance(d, 80)) {
    count = leati_draw_axes(d, rank, axes);
    leati_draw_attribute_ints(d, "axes", count, axes);
    count = MAX(count, 1);
  }
  for (int32_t k = 0; k < count; ++k) {
    shifts[k] = leati_draw_int(d, -9, 9);
  }
  leati_draw_attribute_ints(d, "shifts", count, shifts);
}

static void cosine_window(leati_draw *d) {
  /* ONNX's numbers of the floats. */
  static const int64_t types[] = {1, 10, 16};
  const int64_t size = leati_draw_int(d, 0, 99);
  leati_draw_list(d, leati_draw_type(d, "T1"), -1, &size);
  leati_draw_attribute_int(d, "periodic", leati_draw_int(d, 0, 1));
  if (leati_draw_chance(d, 70)) {
    leati_draw_attribute_int(d, "output_datatype", types[leati_draw_int(d, 0, 2)]);
  }
}

const leati_draw_entry leati_draws_movement[] = {
    {"movement", "", "EyeLike", NULL, eye_like},
    {"movement", "", "Trilu", "*2", trilu},
    {"movement", LEAT_MICROSOFT, "Trilu", "*2", trilu},
    {"movement", "", "Tile", "*", tile},
    {"movement", "", "Expand", NULL, expand},
    {"movement", "", "Slice", NULL, slice},
    {"movement", "", "DynamicSlice", NULL, dynamic_slice},
    {"movement", "", "Concat", NULL, concat},
    {"movement", "", "Split", NULL, split},
    {"movement", "", "Pad", NULL, pad},
    {"movement", LEAT_MICROSOFT, "Pad", NULL, pad},
    {"movement", LEAT_MICROSOFT, "Range", NULL, range},
    {"movement", LEAT_MICROSOFT, "UnfoldTensor", NULL, unfold_tensor},
    {"movement", "", "DepthToSpace SpaceToDepth", NULL, depth_space},
    {"movement", "leat", "AsStrided AsStridedScatter", NULL, as_strided},
    {"movement", "leat", "Roll", NULL, roll},
    {"movement", "", "BitCast", NULL, bit_cast},
    {"movement", "", "Reshape", NULL, reshape},
    {"movement", "", "Flatten", NULL, flatten},
    {"movement", "", "Squeeze", NULL, squeeze},
    {"movement", "", "Unsqueeze", NULL, unsqueeze},
    {"movement", "", "ConstantOfShape", NULL, constant_of_shape},
    {"movement", "", "Range", NULL, range},
    {"movement", "", "HannWindow HammingWindow BlackmanWindow", NULL, cosine_window},
    {NULL, NULL, NULL, NULL, NULL},
};
