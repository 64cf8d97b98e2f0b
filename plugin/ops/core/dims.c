/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/core/dims.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/status.h"
#include "ops/core/attribute.h"

int32_t leati_check_rank(const char *name, int64_t rank, leat_error *err) {
  return rank <= LEAT_MAX_RANK
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                          "%s: the result would have rank %" PRId64 "; supported: up to %d", name, rank, LEAT_MAX_RANK);
}

int32_t leati_sizes_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc, leat_error *err) {
  (void)device;
  return leati_check_rank(def->info.name, leati_list_length(desc, desc->input_count - 1), err);
}

int32_t leati_axis(int64_t axis, int32_t rank, int32_t *out, leat_error *err) {
  if (axis < -(int64_t)rank || axis >= rank) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "axis %" PRId64 " is outside [%d, %d) of a tensor of rank %d",
                      axis, -rank, rank, rank);
  }
  *out = (int32_t)(axis < 0 ? axis + rank : axis);
  return LEAT_OK;
}

int32_t leati_axes(const int64_t *axes, uint32_t count, int32_t rank, const char *what, int32_t *out, leat_error *err) {
  uint32_t seen = 0;
  for (uint32_t i = 0; i < count; ++i) {
    LEATI_TRY(leati_axis(axes[i], rank, &out[i], err));
    if ((seen >> out[i] & 1u) != 0) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s name dimension %d twice", what, out[i]);
    }
    seen |= 1u << out[i];
  }
  return LEAT_OK;
}

/* Writes a shape as "[2, 3]" for messages. */
static const char *shape_text(int32_t ndim, const int64_t *dims, char *text, size_t size) {
  size_t used = (size_t)snprintf(text, size, "[");
  for (int32_t i = 0; i < ndim && used < size; ++i) {
    used += (size_t)snprintf(text + used, size - used, i == 0 ? "%" PRId64 : ", %" PRId64, dims[i]);
  }
  if (used < size) {
    (void)snprintf(text + used, size - used, "]");
  }
  return text;
}

int32_t leati_broadcast(int32_t *inout_ndim, int64_t *inout_dims, int32_t ndim, const int64_t *dims, leat_error *err) {
  /* A scalar may come without dimensions, which memcmp() must not be given. */
  if (ndim == *inout_ndim && (ndim == 0 || memcmp(dims, inout_dims, (size_t)ndim * sizeof(dims[0])) == 0)) {
    return LEAT_OK;
  }
  int64_t result[LEAT_MAX_RANK];
  const int32_t rank = ndim > *inout_ndim ? ndim : *inout_ndim;
  for (int32_t i = 0; i < rank; ++i) {
    const int32_t ia = i - (rank - *inout_ndim);
    const int32_t ib = i - (rank - ndim);
    const int64_t a = ia < 0 ? 1 : inout_dims[ia];
    const int64_t b = ib < 0 ? 1 : dims[ib];
    if (a != b && a != 1 && b != 1) {
      char left[192], right[192];
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                        "shapes %s and %s do not broadcast: dimension %d from the end is %" PRId64 " and %" PRId64
                        "; they must be equal or one of them 1",
                        shape_text(*inout_ndim, inout_dims, left, sizeof(left)),
                        shape_text(ndim, dims, right, sizeof(right)), rank - i, a, b);
    }
    result[i] = a == 1 ? b : a;
  }
  *inout_ndim = rank;
  for (int32_t i = 0; i < rank; ++i) {
    inout_dims[i] = result[i];
  }
  return LEAT_OK;
}

int32_t leati_check_broadcast(const leat_value_info *infos, uint32_t count, leat_error *err) {
  int64_t known[LEAT_MAX_RANK]; /* from the last dimension on */
  for (int32_t d = 0; d < LEAT_MAX_RANK; ++d) {
    known[d] = -1;
  }
  for (uint32_t i = 0; i < count; ++i) {
    for (int32_t d = 0; d < infos[i].ndim && d < LEAT_MAX_RANK; ++d) {
      const int64_t size = infos[i].shape[infos[i].ndim - 1 - d];
      if (size != 1 && !leati_may_equal(known[d], size)) {
        return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                          "shapes do not broadcast: dimension %d from the end is %" PRId64 " and %" PRId64
                          "; they must be equal or one of them 1",
                          d + 1, known[d], size);
      }
      known[d] = size >= 0 && size != 1 ? size : known[d];
    }
  }
  return LEAT_OK;
}

int32_t leati_read_ints(const leati_view *view, const char *what, uint32_t capacity, int64_t *out, uint32_t *out_count,
                        leat_error *err) {
  *out_count = 0;
  if (view->type != LEAT_TYPE_INT64 && view->type != LEAT_TYPE_INT32) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s has type %s; expected int64 or int32", what,
                      leati_type_name(view->type));
  }
  if (view->ndim > 1) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s has rank %d; expected 0 or 1", what, view->ndim);
  }
  if (view->count > capacity) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s has %" PRIu64 " elements; expected at most %u", what,
                      view->count, capacity);
  }
  const int64_t stride = view->ndim == 1 ? view->strides[0] : 0;
  for (uint64_t i = 0; i < view->count; ++i) {
    const unsigned char *const at = (const unsigned char *)view->data + (int64_t)i * stride * (int64_t)view->item_size;
    /* The host's tensor may lie at any address. */
    if (view->type == LEAT_TYPE_INT64) {
      memcpy(&out[i], at, sizeof(out[i]));
    } else {
      int32_t narrow;
      memcpy(&narrow, at, sizeof(narrow));
      out[i] = narrow;
    }
  }
  *out_count = (uint32_t)view->count;
  return LEAT_OK;
}

void leati_broadcast_strides(const leati_view *view, int32_t ndim, const int64_t *dims, int64_t *out) {
  for (int32_t i = 0; i < ndim; ++i) {
    const int32_t j = i - (ndim - view->ndim);
    out[i] = j < 0 || (view->shape[j] == 1 && dims[i] != 1) ? 0 : view->strides[j];
  }
}

int32_t leati_collapse(int32_t ndim, int64_t *dims, uint32_t operands, int64_t (*strides)[LEAT_MAX_RANK]) {
  int32_t rank = 0;
  for (int32_t d = 0; d < ndim; ++d) {
    if (dims[d] == 1) {
      continue;
    }
    /* Joins d to the dimension before it if a step there is a whole turn of d, for all operands. */
    bool join = rank > 0;
    for (uint32_t k = 0; join && k < operands; ++k) {
      join = strides[k][rank - 1] == strides[k][d] * dims[d];
    }
    if (join) {
      dims[rank - 1] *= dims[d];
    } else {
      dims[rank++] = dims[d];
    }
    for (uint32_t k = 0; k < operands; ++k) {
      strides[k][rank - 1] = strides[k][d];
    }
  }
  if (rank == 0) {
    rank = 1;
    dims[0] = 1;
    for (uint32_t k = 0; k < operands; ++k) {
      strides[k][0] = 0;
    }
  }
  return rank;
}

bool leati_reshape_strides(const leati_view *view, int32_t ndim, const int64_t *shape, int64_t *out) {
  if (view->count == 0) {
    leati_view empty = {.ndim = ndim};
    memcpy(empty.shape, shape, (size_t)ndim * sizeof(shape[0]));
    leati_view_make_compact(&empty);
    memcpy(out, empty.strides, (size_t)ndim * sizeof(out[0]));
    return true;
  }
  int64_t dims[LEAT_MAX_RANK], strides[1][LEAT_MAX_RANK];
  memcpy(dims, view->shape, sizeof(dims));
  memcpy(strides[0], view->strides, sizeof(strides[0]));
  /* From the last dimension on each of the collapsed ones is cut into whole ones of the new shape. */
  int32_t from = leati_collapse(view->ndim, dims, 1, strides) - 1;
  int64_t left = dims[from], stride = strides[0][from];
  for (int32_t d = ndim - 1; d >= 0; --d) {
    if (left == 1 && shape[d] != 1) {
      --from;
      left = dims[from];
      stride = strides[0][from];
    }
    if (left % shape[d] != 0) {
      return false;
    }
    out[d] = stride;
    stride *= shape[d];
    left /= shape[d];
  }
  return true;
}

int32_t leati_infer_same(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  (void)op;
  (void)err;
  const leati_view *const input = &call->inputs[0];
  out[0].ndim = input->ndim;
  memcpy(out[0].dims, input->shape, (size_t)input->ndim * sizeof(out[0].dims[0]));
  return LEAT_OK;
}
