/* SPDX-License-Identifier: BSD-3-Clause */
/* DequantizeLinear. */
#include "reference/bound.h"
#include "reference/node.h"

/* Whether there is a scale for each index of the axis, or for each block along it. */
static bool scale_shape_fits(const leati_ref_tensor *x, const leati_ref_tensor *scale, int64_t block, int32_t axis) {
  if (block == 0) {
    return scale->rank == 1 && scale->dims[0] == x->dims[axis];
  }
  bool fits = scale->rank == x->rank;
  for (int32_t d = 0; fits && d < x->rank; d++) {
    fits = scale->dims[d] == (d == axis ? (x->dims[d] + block - 1) / block : x->dims[d]);
  }
  return fits;
}

static bool run_dequantize(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  const leati_ref_tensor *scale = node->inputs[1];
  const leati_ref_tensor *zero = leati_ref_input(node, 2);
  const int64_t block = leati_ref_int(node, "block_size", 0);
  const bool one = block == 0 && scale->count == 1 && scale->rank <= 1;
  int32_t axis = 0;
  if (block < 0 || leati_ref_int(node, "output_dtype", 0) != 0 ||
      (!one && !leati_ref_axis(node, leati_ref_int(node, "axis", 1), x->rank, &axis))) {
    return leati_ref_fail(node, "DequantizeLinear: not of this form");
  }
  bool fits = one || scale_shape_fits(x, scale, block, axis);
  const bool alike = one && zero != NULL && zero->count == 1 && zero->rank <= 1;
  fits = fits && (zero == NULL || alike || zero->rank == scale->rank);
  for (int32_t d = 0; fits && zero != NULL && !alike && d < scale->rank; d++) {
    fits = zero->dims[d] == scale->dims[d];
  }
  if (!fits) {
    return leati_ref_fail(node, "DequantizeLinear: shapes that do not go together");
  }
  leati_ref_tensor *y = &node->outputs[0];
  leati_ref_tensor_init(y, scale->type, x->rank, x->dims);
  for (int64_t k = 0; k < x->count; k++) {
    int64_t index[LEAT_MAX_RANK];
    leati_ref_unravel(x->rank, x->dims, k, index);
    int64_t at = one ? 0 : index[axis];
    if (block != 0) {
      index[axis] /= block;
      at = leati_ref_ravel(scale->rank, scale->dims, index);
    }
    /* The difference becomes a float32, and is exact for integers of up to 16 bits; the product is rounded once. */
    y->f[k] = (double)(x->i[k] - (zero != NULL ? zero->i[at] : 0)) * scale->f[at];
    y->bound[k] = leati_ref_bound_ulps(y->f[k], x->type == LEATI_REF_INT32 ? 2 : 1);
  }
  return true;
}

const leati_ref_entry leati_ref_dequantize[] = {{"DequantizeLinear", run_dequantize}, {NULL, NULL}};
