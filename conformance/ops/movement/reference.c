/* SPDX-License-Identifier: BSD-3-Clause */
/* Operators that put elements elsewhere without changing them, and those that make tensors of numbers out of shapes. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ops/core/bound.h"
#include "ops/core/node.h"

/* Output 0 with the elements of input 0 in the same order. */
static bool same_elements(leati_ref_node *node, int32_t rank, const int64_t *dims) {
  const leati_ref_tensor *x = node->inputs[0];
  leati_ref_tensor_init(&node->outputs[0], x->type, rank, dims);
  if (node->outputs[0].count != x->count) {
    return leati_ref_fail(node, "%s: %" PRId64 " elements do not fit a shape of %" PRId64, node->name, x->count,
                          node->outputs[0].count);
  }
  for (int64_t k = 0; k < x->count; ++k) {
    leati_ref_tensor_copy_element(&node->outputs[0], k, x, k);
  }
  return true;
}

static bool run_identity(leati_ref_node *node) {
  return same_elements(node, node->inputs[0]->rank, node->inputs[0]->dims);
}

/* The bytes of the elements read as another type of the same size. */
static bool run_bit_cast(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  leati_ref_type to = leati_ref_type_from_onnx(leati_ref_int(node, "to", 0));
  if (to == LEATI_REF_TYPE_COUNT || leati_ref_type_size(to) != leati_ref_type_size(x->type)) {
    return leati_ref_fail(node, "BitCast: types of different sizes");
  }
  void *bytes = leati_ref_alloc(x->count, (size_t)leati_ref_type_size(to));
  leati_ref_tensor_store(x, bytes);
  leati_ref_tensor_init(&node->outputs[0], to, x->rank, x->dims);
  leati_ref_tensor_load(&node->outputs[0], bytes);
  free(bytes);
  return true;
}

/* The number of the element of X that an element of the places has, by the attributes. */
static int64_t place_of(const leati_ref_node *node, int32_t rank, const int64_t *dims, int64_t k) {
  int64_t index[LEAT_MAX_RANK], place = leati_ref_int(node, "offset", 0);
  leati_ref_unravel(rank, dims, k, index);
  for (int32_t d = 0; d < rank; ++d) {
    place += index[d] * leati_ref_ints_at(node, "strides", d, 0);
  }
  return place;
}

static bool run_as_strided(leati_ref_node *node) {
  const leat_attribute *shape = leati_ref_attribute(node, "shape");
  const int32_t rank = shape != NULL ? (int32_t)shape->count : 0;
  leati_ref_tensor *y = &node->outputs[0];
  leati_ref_tensor_init(y, node->inputs[0]->type, rank, shape != NULL ? shape->ints : NULL);
  for (int64_t k = 0; k < y->count; ++k) {
    leati_ref_tensor_copy_element(y, k, node->inputs[0], place_of(node, rank, y->dims, k));
  }
  return true;
}

static bool run_as_strided_scatter(leati_ref_node *node) {
  const leati_ref_tensor *update = node->inputs[1];
  if (!same_elements(node, node->inputs[0]->rank, node->inputs[0]->dims)) {
    return false;
  }
  for (int64_t k = 0; k < update->count; ++k) {
    leati_ref_tensor_copy_element(&node->outputs[0], place_of(node, update->rank, update->dims, k), update, k);
  }
  return true;
}

static int64_t rolled(int64_t at, int64_t by, int64_t size) {
  const int64_t to = (at + by % size) % size;
  return to < 0 ? to + size : to;
}

static bool run_roll(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  const leat_attribute *axes = leati_ref_attribute(node, "axes");
  leati_ref_tensor *y = &node->outputs[0];
  leati_ref_tensor_init(y, x->type, x->rank, x->dims);
  for (int64_t k = 0; k < x->count; ++k) {
    int64_t index[LEAT_MAX_RANK], to = rolled(k, leati_ref_ints_at(node, "shifts", 0, 0), x->count);
    leati_ref_unravel(x->rank, x->dims, k, index);
    for (uint32_t n = 0; axes != NULL && n < axes->count; ++n) {
      int32_t d;
      if (!leati_ref_axis(node, axes->ints[n], x->rank, &d)) {
        return false;
      }
      index[d] = rolled(index[d], leati_ref_ints_at(node, "shifts", n, 0), x->dims[d]);
    }
    leati_ref_tensor_copy_element(y, axes != NULL ? leati_ref_ravel(x->rank, x->dims, index) : to, x, k);
  }
  return true;
}

static bool run_reshape(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  const leati_ref_tensor *shape = node->inputs[1];
  bool allow_zero = leati_ref_int(node, "allowzero", 0) != 0;
  int64_t dims[LEAT_MAX_RANK];
  int64_t known = 1;
  int32_t open = -1;
  for (int32_t d = 0; d < (int32_t)shape->count; ++d) {
    dims[d] = shape->i[d];
    if (dims[d] == 0 && !allow_zero) {
      dims[d] = x->dims[d];
    }
    if (dims[d] < 0) {
      open = d;
    } else {
      known *= dims[d];
    }
  }
  if (open >= 0) {
    dims[open] = known == 0 ? 0 : x->count / known;
  }
  return same_elements(node, (int32_t)shape->count, dims);
}

static bool run_flatten(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  int64_t axis = leati_ref_int(node, "axis", 1);
  axis += axis < 0 ? x->rank : 0;
  int64_t dims[2] = {1, 1};
  for (int32_t d = 0; d < x->rank; ++d) {
    dims[d < axis ? 0 : 1] *= x->dims[d];
  }
  return same_elements(node, 2, dims);
}

static bool run_squeeze(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  int32_t axes[LEAT_MAX_RANK];
  int32_t count;
  if (!leati_ref_axes(node, 1, x->rank, axes, &count)) {
    return false;
  }
  bool gone[LEAT_MAX_RANK] = {false};
  for (int32_t k = 0; k < count; ++k) {
    gone[axes[k]] = true;
  }
  int64_t dims[LEAT_MAX_RANK];
  int32_t rank = 0;
  for (int32_t d = 0; d < x->rank; ++d) {
    if (!(count < 0 ? x->dims[d] == 1 : gone[d])) {
      dims[rank++] = x->dims[d];
    }
  }
  return same_elements(node, rank, dims);
}

static bool run_unsqueeze(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  int32_t axes[LEAT_MAX_RANK];
  int32_t count;
  int32_t rank = x->rank + (int32_t)node->inputs[1]->count;
  if (!leati_ref_axes(node, 1, rank, axes, &count)) {
    return false;
  }
  int64_t dims[LEAT_MAX_RANK] = {0};
  for (int32_t k = 0; k < count; ++k) {
    dims[axes[k]] = -1;
  }
  for (int32_t d = 0, from = 0; d < rank; ++d) {
    dims[d] = dims[d] == -1 ? 1 : x->dims[from++];
  }
  return same_elements(node, rank, dims);
}

static bool run_transpose(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  leati_ref_tensor *y = &node->outputs[0];
  int64_t perm[LEAT_MAX_RANK];
  int64_t dims[LEAT_MAX_RANK];
  for (int32_t d = 0; d < x->rank; ++d) {
    perm[d] = leati_ref_ints_at(node, "perm", d, x->rank - 1 - d);
    dims[d] = x->dims[perm[d]];
  }
  leati_ref_tensor_init(y, x->type, x->rank, dims);
  for (int64_t k = 0; k < y->count; ++k) {
    int64_t index[LEAT_MAX_RANK];
    int64_t from[LEAT_MAX_RANK];
    leati_ref_unravel(y->rank, y->dims, k, index);
    for (int32_t d = 0; d < x->rank; ++d) {
      from[perm[d]] = index[d];
    }
    leati_ref_tensor_copy_element(y, k, x, leati_ref_ravel(x->rank, x->dims, from));
  }
  return true;
}

/* Copies a tensor into another of the same rank, at an offset along one axis. */
static void place(leati_ref_tensor *y, const leati_ref_tensor *x, int32_t axis, int64_t offset) {
  for (int64_t k = 0; k < x->count; ++k) {
    int64_t index[LEAT_MAX_RANK];
    leati_ref_unravel(x->rank, x->dims, k, index);
    index[axis] += offset;
    leati_ref_tensor_copy_element(y, leati_ref_ravel(y->rank, y->dims, index), x, k);
  }
}

static bool run_concat(leati_ref_node *node) {
  const leati_ref_tensor *first = node->inputs[0];
  int32_t axis;
  if (!leati_ref_axis(node, leati_ref_int(node, "axis", 0), first->rank, &axis)) {
    return false;
  }
  int64_t dims[LEAT_MAX_RANK];
  memcpy(dims, first->dims, sizeof(dims));
  for (uint32_t k = 1; k < node->input_count; ++k) {
    dims[axis] += node->inputs[k]->dims[axis];
  }
  leati_ref_tensor_init(&node->outputs[0], first->type, first->rank, dims);
  int64_t offset = 0;
  for (uint32_t k = 0; k < node->input_count; ++k) {
    place(&node->outputs[0], node->inputs[k], axis, offset);
    offset += node->inputs[k]->dims[axis];
  }
  return true;
}

static bool run_split(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  const leati_ref_tensor *sizes = leati_ref_input(node, 1);
  int32_t axis;
  if (!leati_ref_axis(node, leati_ref_int(node, "axis", 0), x->rank, &axis)) {
    return false;
  }
  /* Equal parts, the last one smaller if they do not come out even. */
  int64_t parts = leati_ref_int(node, "num_outputs", node->output_count);
  int64_t part = (x->dims[axis] + parts - 1) / parts;
  int64_t offset = 0;
  for (uint32_t n = 0; n < node->output_count; ++n) {
    int64_t dims[LEAT_MAX_RANK];
    memcpy(dims, x->dims, sizeof(dims));
    int64_t left = x->dims[axis] - offset;
    dims[axis] = sizes != NULL ? sizes->i[n] : part < left ? part : left;
    leati_ref_tensor *y = &node->outputs[n];
    leati_ref_tensor_init(y, x->type, x->rank, dims);
    for (int64_t k = 0; k < y->count; ++k) {
      int64_t index[LEAT_MAX_RANK];
      leati_ref_unravel(y->rank, y->dims, k, index);
      index[axis] += offset;
      leati_ref_tensor_copy_element(y, k, x, leati_ref_ravel(x->rank, x->dims, index));
    }
    offset += dims[axis];
  }
  return true;
}

static int64_t clamp(int64_t value, int64_t low, int64_t high) {
  return value < low ? low : value > high ? high : value;
}

static bool run_slice(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  const leati_ref_tensor *starts = node->inputs[1];
  const leati_ref_tensor *ends = node->inputs[2];
  const leati_ref_tensor *axes = leati_ref_input(node, 3);
  const leati_ref_tensor *steps = leati_ref_input(node, 4);
  int64_t start[LEAT_MAX_RANK] = {0};
  int64_t step[LEAT_MAX_RANK];
  int64_t dims[LEAT_MAX_RANK];
  for (int32_t d = 0; d < x->rank; ++d) {
    step[d] = 1;
    dims[d] = x->dims[d];
  }
  for (int64_t k = 0; k < starts->count; ++k) {
    int32_t d;
    if (!leati_ref_axis(node, axes != NULL ? axes->i[k] : k, x->rank, &d)) {
      return false;
    }
    int64_t n = x->dims[d];
    /* The most negative number has no opposite, and goes as far beyond every end as its neighbour. */
    step[d] = steps != NULL ? (steps->i[k] == INT64_MIN ? -INT64_MAX : steps->i[k]) : 1;
    int64_t from = starts->i[k] + (starts->i[k] < 0 ? n : 0);
    /* A negative end counts from the back once; the most negative numbers stay below -1 and mean "before the first". */
    int64_t to = ends->i[k] < 0 ? (ends->i[k] < -n ? -1 : ends->i[k] + n) : ends->i[k];
    if (ends->i[k] < -n && step[d] > 0) {
      to = 0;
    }
    from = step[d] > 0 ? clamp(from, 0, n) : clamp(from, 0, n - 1);
    to = step[d] > 0 ? clamp(to, 0, n) : clamp(to, -1, n - 1);
    int64_t span = step[d] > 0 ? to - from : from - to;
    int64_t stride = step[d] > 0 ? step[d] : -step[d];
    start[d] = from;
    dims[d] = span > 0 && n > 0 ? (span - 1) / stride + 1 : 0;
  }
  leati_ref_tensor *y = &node->outputs[0];
  leati_ref_tensor_init(y, x->type, x->rank, dims);
  for (int64_t k = 0; k < y->count; ++k) {
    int64_t index[LEAT_MAX_RANK];
    leati_ref_unravel(y->rank, y->dims, k, index);
    for (int32_t d = 0; d < x->rank; ++d) {
      index[d] = start[d] + index[d] * step[d];
    }
    leati_ref_tensor_copy_element(y, k, x, leati_ref_ravel(x->rank, x->dims, index));
  }
  return true;
}

/* Where an index that may lie outside 0..n-1 comes from, or -1 for the constant. */
static int64_t pad_source(const leati_ref_node *node, int64_t i, int64_t n) {
  if (i >= 0 && i < n) {
    return i;
  }
  if (leati_ref_string_is(node, "mode", "constant", "edge")) {
    return clamp(i, 0, n - 1);
  }
  if (leati_ref_string_is(node, "mode", "constant", "wrap")) {
    return (i % n + n) % n;
  }
  if (leati_ref_string_is(node, "mode", "constant", "reflect")) {
    /* Mirrored at the first and the last element, which are not doubled: period 2 (n - 1). */
    int64_t period = n > 1 ? 2 * (n - 1) : 1;
    int64_t at = (i % period + period) % period;
    return at < n ? at : period - at;
  }
  return -1;
}

static bool run_pad(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  const leati_ref_tensor *pads = node->inputs[1];
  const leati_ref_tensor *value = leati_ref_input(node, 2);
  int32_t axes[LEAT_MAX_RANK];
  int32_t count;
  if (!leati_ref_axes(node, 3, x->rank, axes, &count)) {
    return false;
  }
  if (count < 0) {
    count = x->rank;
    for (int32_t d = 0; d < count; ++d) {
      axes[d] = d;
    }
  }
  /* Negative pads take elements off first; what is left is padded. */
  int64_t begin[LEAT_MAX_RANK] = {0};
  int64_t gone[LEAT_MAX_RANK] = {0};
  int64_t left[LEAT_MAX_RANK];
  int64_t dims[LEAT_MAX_RANK];
  memcpy(dims, x->dims, sizeof(dims));
  memcpy(left, x->dims, sizeof(left));
  for (int32_t k = 0; k < count; ++k) {
    int64_t before = pads->i[k];
    int64_t behind = pads->i[k + count];
    begin[axes[k]] = before > 0 ? before : 0;
    gone[axes[k]] = before < 0 ? -before : 0;
    left[axes[k]] += (before < 0 ? before : 0) + (behind < 0 ? behind : 0);
    dims[axes[k]] += before + behind;
  }
  leati_ref_tensor *y = &node->outputs[0];
  leati_ref_tensor_init(y, x->type, x->rank, dims);
  for (int64_t k = 0; k < y->count; ++k) {
    int64_t index[LEAT_MAX_RANK];
    leati_ref_unravel(y->rank, y->dims, k, index);
    bool constant = false;
    for (int32_t d = 0; d < x->rank; ++d) {
      int64_t from = pad_source(node, index[d] - begin[d], left[d]);
      constant = constant || from < 0;
      index[d] = from + gone[d];
    }
    if (!constant) {
      leati_ref_tensor_copy_element(y, k, x, leati_ref_ravel(x->rank, x->dims, index));
    } else if (value != NULL) {
      leati_ref_tensor_copy_element(y, k, value, 0);
    }
  }
  return true;
}

static bool run_expand(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  const leati_ref_tensor *shape = node->inputs[1];
  int32_t wanted = (int32_t)shape->count;
  int32_t rank = wanted > x->rank ? wanted : x->rank;
  int64_t dims[LEAT_MAX_RANK];
  for (int32_t d = 0; d < rank; ++d) {
    int64_t a = d < rank - x->rank ? 1 : x->dims[d - (rank - x->rank)];
    int64_t b = d < rank - wanted ? 1 : shape->i[d - (rank - wanted)];
    if (a != b && a != 1 && b != 1) {
      return leati_ref_fail(node, "Expand: shapes do not broadcast");
    }
    dims[d] = a != 1 ? a : b;
  }
  leati_ref_tensor *y = &node->outputs[0];
  leati_ref_tensor_init(y, x->type, rank, dims);
  for (int64_t k = 0; k < y->count; ++k) {
    int64_t index[LEAT_MAX_RANK];
    leati_ref_unravel(rank, dims, k, index);
    leati_ref_tensor_copy_element(y, k, x, leati_ref_broadcast_at(x, rank, index));
  }
  return true;
}

static bool run_tile(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  int64_t dims[LEAT_MAX_RANK];
  for (int32_t d = 0; d < x->rank; ++d) {
    dims[d] = x->dims[d] * node->inputs[1]->i[d];
  }
  leati_ref_tensor *y = &node->outputs[0];
  leati_ref_tensor_init(y, x->type, x->rank, dims);
  for (int64_t k = 0; k < y->count; ++k) {
    int64_t index[LEAT_MAX_RANK];
    leati_ref_unravel(y->rank, y->dims, k, index);
    for (int32_t d = 0; d < x->rank; ++d) {
      index[d] %= x->dims[d];
    }
    leati_ref_tensor_copy_element(y, k, x, leati_ref_ravel(x->rank, x->dims, index));
  }
  return true;
}

/* Where a number of the depth and one of the blocks' places go together: the blocks count first (mode DCR) or last. */
static int64_t deep_channel(const leati_ref_node *node, int64_t channel, int64_t channels, int64_t block,
                            int64_t blocks) {
  return leati_ref_string_is(node, "mode", "DCR", "CRD") ? channel * blocks + block : block * channels + channel;
}

/* DepthToSpace, and the other way round. Both go over the elements of the wide side. */
static bool run_blocks(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  const bool to_space = strcmp(node->name, "DepthToSpace") == 0;
  const int64_t b = leati_ref_int(node, "blocksize", 0);
  if (x->rank != 4 || b < 1) {
    return leati_ref_fail(node, "%s takes images and blocks of at least one element", node->name);
  }
  const int64_t dims[4] = {x->dims[0], to_space ? x->dims[1] / (b * b) : x->dims[1] * b * b,
                           to_space ? x->dims[2] * b : x->dims[2] / b, to_space ? x->dims[3] * b : x->dims[3] / b};
  leati_ref_tensor *y = &node->outputs[0];
  leati_ref_tensor_init(y, x->type, 4, dims);
  const leati_ref_tensor *wide = to_space ? y : x;
  const leati_ref_tensor *deep = to_space ? x : y;
  for (int64_t k = 0; k < wide->count; ++k) {
    int64_t at[4];
    leati_ref_unravel(4, wide->dims, k, at);
    const int64_t block = at[2] % b * b + at[3] % b;
    const int64_t to[4] = {at[0], deep_channel(node, at[1], wide->dims[1], block, b * b), at[2] / b, at[3] / b};
    const int64_t there = leati_ref_ravel(4, deep->dims, to);
    leati_ref_tensor_copy_element(y, to_space ? k : there, x, to_space ? there : k);
  }
  return true;
}

/* The elements on and above a diagonal (or below); the others are zero, which a new tensor holds. */
static bool run_trilu(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  const leati_ref_tensor *diagonal = leati_ref_input(node, 1);
  const bool upper = leati_ref_int(node, "upper", 1) != 0;
  const int64_t k0 = diagonal != NULL ? diagonal->i[0] : 0;
  if (x->rank < 2) {
    return leati_ref_fail(node, "Trilu takes matrices");
  }
  leati_ref_tensor_init(&node->outputs[0], x->type, x->rank, x->dims);
  for (int64_t k = 0; k < x->count; ++k) {
    const int64_t column = k % x->dims[x->rank - 1];
    const int64_t row = k / x->dims[x->rank - 1] % x->dims[x->rank - 2];
    /* The indices are small, so that their difference cannot overflow, whatever the diagonal is. */
    if (upper ? column - row >= k0 : column - row <= k0) {
      leati_ref_tensor_copy_element(&node->outputs[0], k, x, k);
    }
  }
  return true;
}

static bool run_shape(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  int64_t start = leati_ref_int(node, "start", 0);
  int64_t end = leati_ref_int(node, "end", x->rank);
  start = clamp(start + (start < 0 ? x->rank : 0), 0, x->rank);
  end = clamp(end + (end < 0 ? x->rank : 0), 0, x->rank);
  int64_t count = end > start ? end - start : 0;
  leati_ref_tensor_init(&node->outputs[0], LEATI_REF_INT64, 1, &count);
  for (int64_t k = 0; k < count; ++k) {
    node->outputs[0].i[k] = x->dims[start + k];
  }
  return true;
}

static bool run_size(leati_ref_node *node) {
  leati_ref_tensor_init(&node->outputs[0], LEATI_REF_INT64, 0, NULL);
  node->outputs[0].i[0] = node->inputs[0]->count;
  return true;
}

static bool run_constant_of_shape(leati_ref_node *node) {
  const leati_ref_tensor *shape = node->inputs[0];
  const leat_attribute *value = leati_ref_attribute(node, "value");
  leati_ref_type type = value != NULL ? leati_ref_type_from_dlpack(value->tensor->dtype) : LEATI_REF_FLOAT32;
  if (type == LEATI_REF_TYPE_COUNT) {
    return leati_ref_fail(node, "ConstantOfShape: a type that the reference does not have");
  }
  leati_ref_tensor *y = &node->outputs[0];
  leati_ref_tensor_init(y, type, (int32_t)shape->count, shape->i);
  if (value == NULL) {
    return true;
  }
  leati_ref_tensor one;
  leati_ref_tensor_init(&one, type, 0, NULL);
  leati_ref_tensor_load(&one, (const char *)value->tensor->data + value->tensor->byte_offset);
  for (int64_t k = 0; k < y->count; ++k) {
    leati_ref_tensor_copy_element(y, k, &one, 0);
  }
  leati_ref_tensor_clear(&one);
  return true;
}

static bool run_range(leati_ref_node *node) {
  leati_ref_type type = node->inputs[0]->type;
  leati_ref_tensor *y = &node->outputs[0];
  const leati_ref_tensor *by = leati_ref_input(node, 2);
  if (leati_ref_type_is_float(type)) {
    double start = node->inputs[0]->f[0];
    double delta = (by != NULL ? by->f[0] : 1);
    double steps = ceil((node->inputs[1]->f[0] - start) / delta);
    int64_t count = steps > 0 ? (int64_t)steps : 0;
    leati_ref_tensor_init(y, type, 1, &count);
    for (int64_t k = 0; k < count; ++k) {
      double moved = (double)k * delta;
      y->f[k] = start + moved;
      /* By multiplication: two roundings. By repeated addition, which the specification's function body does: one
       * rounding by step of a number no larger than the ends. */
      double largest = fmax(fabs(start), fabs(y->f[k]));
      y->bound[k] = (double)(k + 1) * LEATI_REF_ULP * fmax(largest, fabs(moved)) + FLT_MIN;
    }
    return true;
  }
  int64_t start = node->inputs[0]->i[0];
  int64_t span = node->inputs[1]->i[0] - start;
  int64_t delta = (by != NULL ? by->i[0] : 1);
  if (delta == 0) {
    return leati_ref_fail(node, "Range: a step of 0");
  }
  int64_t count = span / delta + (span % delta != 0 && (span < 0) == (delta < 0));
  count = (span < 0) == (delta < 0) && count > 0 ? count : 0;
  leati_ref_tensor_init(y, type, 1, &count);
  for (int64_t k = 0; k < count; ++k) {
    y->i[k] = start + k * delta;
  }
  return true;
}

/* Windows of com.microsoft's UnfoldTensor, side by side in a dimension of their own. */
static bool run_unfold(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  const int64_t size = leati_ref_int(node, "size", 0), step = leati_ref_int(node, "step", 1);
  int64_t dims[LEAT_MAX_RANK + 1], index[LEAT_MAX_RANK + 1];
  int32_t axis;
  if (!leati_ref_axis(node, leati_ref_int(node, "dim", -1), x->rank, &axis) || size < 1 || step < 1 ||
      x->dims[axis] < size || x->rank == LEAT_MAX_RANK) {
    return leati_ref_fail(node, "UnfoldTensor: no such windows");
  }
  memcpy(dims, x->dims, sizeof(dims[0]) * (size_t)x->rank);
  dims[axis] = (x->dims[axis] - size) / step + 1;
  dims[x->rank] = size;
  leati_ref_tensor *y = &node->outputs[0];
  leati_ref_tensor_init(y, x->type, x->rank + 1, dims);
  for (int64_t k = 0; k < y->count; ++k) {
    leati_ref_unravel(y->rank, dims, k, index);
    index[axis] = index[axis] * step + index[x->rank];
    leati_ref_tensor_copy_element(y, k, x, leati_ref_ravel(x->rank, x->dims, index));
  }
  return true;
}

/* 1 on a diagonal of a matrix of a given shape, 0 elsewhere. */
static bool run_eye_like(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  const leat_attribute *dtype = leati_ref_attribute(node, "dtype");
  const leati_ref_type type = dtype != NULL ? leati_ref_type_from_onnx(dtype->i) : x->type;
  leati_ref_tensor *y = &node->outputs[0];
  if (x->rank != 2 || type == LEATI_REF_TYPE_COUNT) {
    return leati_ref_fail(node, "EyeLike: no matrix, or another type");
  }
  leati_ref_tensor_init(y, type, 2, x->dims);
  for (int64_t k = 0; k < y->count; ++k) {
    const bool on = k % x->dims[1] - k / x->dims[1] == leati_ref_int(node, "k", 0);
    if (leati_ref_type_is_float(type)) {
      y->f[k] = on;
    } else {
      y->i[k] = on;
    }
  }
  return true;
}

/* Sums of cosines, as the specification has them. A sine or cosine may be off by 2^-11 between -pi and pi, whose
 * square by twice as much, and its angle is rounded. */
static bool run_cosine_window(leati_ref_node *node) {
  const int64_t count = node->inputs[0]->i[0], datatype = leati_ref_int(node, "output_datatype", 1);
  const int64_t steps = leati_ref_int(node, "periodic", 1) != 0 ? count : count - 1;
  const leati_ref_type type = leati_ref_type_from_onnx(datatype);
  const bool hann = strcmp(node->name, "HannWindow") == 0, hamming = strcmp(node->name, "HammingWindow") == 0;
  if (count < 0 || (count > 0 && steps == 0) || type == LEATI_REF_TYPE_COUNT || !leati_ref_type_is_float(type)) {
    return leati_ref_fail(node, "%s: not of this form", node->name);
  }
  const double a = hann ? 0.5 : hamming ? 25.0 / 46 : 0.42, b = hann ? 0.5 : hamming ? 21.0 / 46 : 0.5;
  const double c = hann || hamming ? 0 : 0.08;
  leati_ref_tensor *y = &node->outputs[0];
  leati_ref_tensor_init(y, type, 1, &count);
  for (int64_t k = 0; k < count; ++k) {
    const double angle = 2 * M_PI * (double)k / (double)steps;
    y->f[k] = a - b * cos(angle) + c * cos(2 * angle);
    y->bound[k] = (b + 2 * c) * (2 * 0x1p-11 + 16 * LEATI_REF_ULP) + leati_ref_bound_ulps(1, 4);
  }
  return true;
}

const leati_ref_entry leati_ref_movement[] = {
    {"Identity", run_identity},
    {"AsStrided", run_as_strided},
    {"AsStridedScatter", run_as_strided_scatter},
    {"Roll", run_roll},
    {"BitCast", run_bit_cast},
    {"Reshape", run_reshape},
    {"Flatten", run_flatten},
    {"Squeeze", run_squeeze},
    {"Unsqueeze", run_unsqueeze},
    {"Transpose", run_transpose},
    {"Concat", run_concat},
    {"Split", run_split},
    {"Slice", run_slice},
    {"DynamicSlice", run_slice},
    {"Pad", run_pad},
    {"Expand", run_expand},
    {"Tile", run_tile},
    {"DepthToSpace", run_blocks},
    {"SpaceToDepth", run_blocks},
    {"EyeLike", run_eye_like},
    {"Trilu", run_trilu},
    {"Shape", run_shape},
    {"Size", run_size},
    {"ConstantOfShape", run_constant_of_shape},
    {"UnfoldTensor", run_unfold},
    {"Range", run_range},
    {"HannWindow", run_cosine_window},
    {"HammingWindow", run_cosine_window},
    {"BlackmanWindow", run_cosine_window},
    {NULL, NULL},
};
