/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/elementwise/walk.h"

#include <string.h>

#include "core/status.h"
#include "ops/core/dims.h"

/* What is walked through. The result comes behind the operands. */
typedef struct tensors {
  const leati_view *const *operands;
  uint32_t operand_count;
  const leati_view *result;
} tensors;

/* Kernels count elements and offsets in 32 bits. */
static int32_t check_reach(const leati_view *view, leat_error *err) {
  return view->end - view->begin <= (uint64_t)INT32_MAX * view->item_size
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                          "a tensor reaches over %llu elements; elementwise operators support up to 2147483647",
                          (unsigned long long)((view->end - view->begin) / view->item_size));
}

static bool aligned_for_four(const leati_view *view) {
  const uint32_t bytes = view->item_size * 4 > 16 ? 16 : view->item_size * 4;
  return (view->address & (bytes - 1)) == 0; /* sizes of elements are powers of two, here and in memory/tensor.c */
}

/* Whether four elements side by side can be handled at once: the innermost dimension is compact in the result and
 * compact or repeated in operands, and groups of four start at aligned addresses. */
static bool is_vector(const tensors *t, int32_t rank, const int64_t *dims, int64_t (*strides)[LEAT_MAX_RANK]) {
  const int32_t last = rank - 1;
  if (rank > 1 && dims[last] % 4 != 0) {
    return false;
  }
  for (uint32_t k = 0; k <= t->operand_count; ++k) {
    const leati_view *const view = k < t->operand_count ? t->operands[k] : t->result;
    if (strides[k][last] == 0 && k < t->operand_count) {
      continue;
    }
    if (strides[k][last] != 1 || !aligned_for_four(view)) {
      return false;
    }
    for (int32_t d = 0; d < last; ++d) {
      if (strides[k][d] % 4 != 0) {
        return false;
      }
    }
  }
  return true;
}

static void swap(int64_t *a, int64_t *b) {
  const int64_t was = *a;
  *a = *b;
  *b = was;
}

/* Orders dimensions by the steps of the result, so that the one where they are smallest is the innermost. */
static void order(int32_t ndim, int64_t *dims, uint32_t result, int64_t (*strides)[LEAT_MAX_RANK]) {
  for (int32_t end = 1; end < ndim; ++end) {
    for (int32_t d = end; d > 0 && strides[result][d - 1] < strides[result][d]; --d) {
      swap(&dims[d - 1], &dims[d]);
      for (uint32_t k = 0; k <= result; ++k) {
        swap(&strides[k][d - 1], &strides[k][d]);
      }
    }
  }
}

/* The fewest dimensions that there can be, and the steps of operands and result (the last) in each. */
static int32_t collapse(const tensors *t, int64_t *dims, int64_t (*strides)[LEAT_MAX_RANK]) {
  memcpy(dims, t->result->shape, sizeof(t->result->shape));
  for (uint32_t k = 0; k < t->operand_count; ++k) {
    leati_broadcast_strides(t->operands[k], t->result->ndim, dims, strides[k]);
  }
  leati_broadcast_strides(t->result, t->result->ndim, dims, strides[t->operand_count]);
  if (!t->result->compact) {
    order(t->result->ndim, dims, t->operand_count, strides);
  }
  const int32_t rank = leati_collapse(t->result->ndim, dims, t->operand_count + 1, strides);
  if (rank == 1 && dims[0] == 1) {
    /* A single element: a step of one anywhere, so that it counts as compact. */
    strides[t->operand_count][0] = 1;
  }
  return rank;
}

static void set_size(leati_walk *walk, int32_t d, uint32_t size) {
  walk->dims[d].size = size;
  walk->dims[d].per_size = leati_divider_of(size);
}

/* The way through tensors that are all compact and of one shape. */
static void walk_flat(const tensors *t, leati_walk *out) {
  bool vector = aligned_for_four(t->result);
  for (uint32_t k = 0; k < t->operand_count; ++k) {
    vector = vector && aligned_for_four(t->operands[k]);
  }
  out->rank = 1;
  if (vector) {
    out->access = LEAT_EW_FLAT;
    return;
  }
  out->access = LEAT_EW_STRIDED;
  set_size(out, 0, (uint32_t)t->result->count);
  out->dims[0].result = 1;
  for (uint32_t k = 0; k < t->operand_count; ++k) {
    out->dims[0].operands[k] = 1;
  }
}

/* The way through any tensors. */
static void walk_dims(const tensors *t, leati_walk *out) {
  int64_t dims[LEAT_MAX_RANK];
  int64_t strides[LEATI_WALK_OPERANDS_MAX + 1][LEAT_MAX_RANK];
  const int32_t rank = collapse(t, dims, strides);
  const bool vector = is_vector(t, rank, dims, strides);
  out->access = vector ? LEAT_EW_VECTOR : LEAT_EW_STRIDED;
  out->rank = (uint32_t)rank;
  for (int32_t d = 0; d < rank; ++d) {
    const int32_t taken = vector && d == rank - 1 ? 4 : 1;
    set_size(out, d, ((uint32_t)dims[d] + (uint32_t)taken - 1) / (uint32_t)taken);
    out->dims[d].result = (int32_t)strides[t->operand_count][d] * taken;
    for (uint32_t k = 0; k < t->operand_count; ++k) {
      out->dims[d].operands[k] = (int32_t)strides[k][d] * taken;
    }
  }
}

int32_t leati_walk_find(const leati_view *const *operands, uint32_t operand_count, const leati_view *result,
                        leati_walk *out, leat_error *err) {
  const tensors t = {.operands = operands, .operand_count = operand_count, .result = result};
  LEATI_TRY(check_reach(result, err));
  bool flat = result->compact;
  for (uint32_t k = 0; k < operand_count; ++k) {
    LEATI_TRY(check_reach(operands[k], err));
    flat = flat && operands[k]->compact && operands[k]->count == result->count;
  }
  memset(out, 0, sizeof(*out));
  if (flat) {
    walk_flat(&t, out);
  } else {
    walk_dims(&t, out);
  }
  return LEAT_OK;
}
