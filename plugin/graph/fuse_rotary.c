/* SPDX-License-Identifier: BSD-3-Clause */
/* The rule about rotary embedding that is written out: x cosines + rotated(x) sines, where rotated(x) is the second
 * half of x's last dimension, negated, and behind it the first half. */
#include "core/status.h"
#include "graph/attributes.h"
#include "graph/fusion.h"

static bool is_last(const leati_fusion *f, uint32_t v, int64_t axis) {
  return axis == -1 || axis == leati_fusion_rank(f, v) - 1;
}

/* Reads a whole number that is known on the host; `otherwise` where there is no value. */
static bool read_int(const leati_fusion *f, uint32_t v, int64_t otherwise, int64_t *out) {
  *out = otherwise;
  return v == LEAT_GRAPH_NO_VALUE || leati_fusion_whole(f, v, out);
}

/* The same of what a Slice takes as input `i`, or as attribute in its first version. */
static bool read_bound(const leati_fusion *f, const leati_node *node, uint32_t i, int64_t otherwise, int64_t *out) {
  static const char *const names[] = {NULL, "starts", "ends", "axes"};
  const leat_attribute *const list =
      leati_op_since_version(node->op) < 10 && i < 4 ? leati_attributes_find(&node->attributes, names[i]) : NULL;
  if (list == NULL) {
    return read_int(f, leati_fusion_input(node, i), otherwise, out);
  }
  *out = list->count == 1 ? list->ints[0] : otherwise;
  return list->count == 1;
}

/* Whether a Slice takes one half of its input's last dimension, of `size` elements. */
static bool slices_half(const leati_fusion *f, const leati_node *node, bool second, int64_t size) {
  int64_t start, end, axis, step;
  if (!read_bound(f, node, 1, 0, &start) || !read_bound(f, node, 2, 0, &end) || !read_bound(f, node, 3, 0, &axis) ||
      !read_bound(f, node, 4, 1, &step)) {
    return false;
  }
  start += start < 0 ? size : 0;
  end += end < 0 ? size : 0;
  return is_last(f, node->inputs[0], axis) && step == 1 &&
         (second ? start == size / 2 && end >= size : start == 0 && end == size / 2);
}

/* Whether `v` is the first or second half of the last dimension of another value, of which it is a part. */
static bool is_half(const leati_fusion *f, uint32_t v, bool second, uint32_t *out_whole) {
  const leati_node *const node = leati_fusion_maker(f, v);
  const bool slices = leati_fusion_is(node, LEATI_IS_SLICE);
  if (!slices && !leati_fusion_is(node, LEATI_IS_SPLIT)) {
    return false;
  }
  *out_whole = node->inputs[0];
  const int32_t rank = leati_fusion_rank(f, *out_whole);
  if (rank == 0 || leati_fusion_rank(f, v) != rank) {
    return false;
  }
  const int64_t size = leati_fusion_size(f, *out_whole, rank - 1);
  if (size % 2 != 0 || leati_fusion_size(f, v, rank - 1) != size / 2) {
    return false;
  }
  return slices ? slices_half(f, node, second, size)
                : node->output_count == 2 && v == node->outputs[second] &&
                      is_last(f, *out_whole, leati_attributes_int(&node->attributes, "axis", 0));
}

/* Whether `v` is rotated(x) and for one input alone. */
static bool is_rotated(const leati_fusion *f, uint32_t v, uint32_t *out_x) {
  const leati_node *const node = leati_fusion_private_maker(f, v);
  uint32_t first;
  if (!leati_fusion_is(node, LEATI_IS_CONCAT) || node->input_count != 2 ||
      !is_last(f, v, leati_attributes_int(&node->attributes, "axis", 0))) {
    return false;
  }
  const leati_node *const negated = leati_fusion_private_maker(f, node->inputs[0]);
  return leati_fusion_is(negated, LEATI_IS_NEG) && is_half(f, negated->inputs[0], true, out_x) &&
         is_half(f, node->inputs[1], false, &first) && first == *out_x;
}

int32_t leati_fuse_rotary(leati_fusion *f, uint32_t n, bool *out_done, leat_error *err) {
  const leati_node *const node = &f->nodes[n];
  for (uint32_t side = 0; side < 4 && !*out_done && leati_fusion_is(&f->nodes[n], LEATI_IS_ADD); ++side) {
    const leati_node *const straight = leati_fusion_private_maker(f, node->inputs[side & 1]);
    const leati_node *const crossed = leati_fusion_private_maker(f, node->inputs[1 - (side & 1)]);
    const uint32_t which = side >> 1;
    uint32_t x;
    if (!leati_fusion_is(straight, LEATI_IS_MUL) || !leati_fusion_is(crossed, LEATI_IS_MUL) ||
        !is_rotated(f, crossed->inputs[which], &x) || (straight->inputs[0] != x && straight->inputs[1] != x) ||
        !leati_fusion_same_shape(f, x, node->outputs[0])) {
      continue;
    }
    const uint32_t inputs[] = {x, straight->inputs[straight->inputs[0] == x], crossed->inputs[1 - which]};
    const leati_fusion_node with = {
        .op = LEATI_IS_FUSED_ROTARY_EMBEDDING, .since_version = 1, .input_count = 3, .inputs = inputs};
    LEATI_TRY(leati_fusion_replace(f, n, &with, out_done, err));
  }
  return LEAT_OK;
}
