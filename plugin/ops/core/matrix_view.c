/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/core/matrix_view.h"

#include "core/status.h"
#include "ops/core/dims.h"

bool leati_view_walkable(const leati_view *view) {
  int64_t last = 0;
  for (int32_t d = 0; d < view->ndim; ++d) {
    if (view->shape[d] > 1) {
      /* Each stride is below 2^31 here, and so is the extent, so that neither product nor sum can overflow. */
      if (view->strides[d] < 0 || view->strides[d] > INT32_MAX || view->shape[d] > INT32_MAX) {
        return false;
      }
      last += (view->shape[d] - 1) * view->strides[d];
      if (last > INT32_MAX) {
        return false;
      }
    }
  }
  return true;
}

int32_t leati_plan_walkable(leati_planner *planner, const leati_view *view, leati_view *out, leat_error *err) {
  if (view->count > INT32_MAX) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                      "a tensor of %llu elements is too large: fewer than 2^31 are supported",
                      (unsigned long long)view->count);
  }
  if (view->count == 0 || leati_view_walkable(view)) {
    *out = *view;
    return LEAT_OK;
  }
  return leati_plan_compact(planner, view, out, err);
}

leati_matrix leati_matrix_of(const leati_view *view, bool transposed, bool vector_is_row) {
  leati_matrix m = {.rows = 1, .columns = 1, .batch = *view};
  const int32_t r = view->ndim;
  if (r == 1) {
    m.batch.ndim = 0;
    if (vector_is_row) {
      m.columns = view->shape[0];
      m.column_stride = view->strides[0];
    } else {
      m.rows = view->shape[0];
      m.row_stride = view->strides[0];
    }
    return m;
  }
  const int32_t row = transposed ? r - 1 : r - 2;
  const int32_t column = transposed ? r - 2 : r - 1;
  m.rows = view->shape[row];
  m.row_stride = view->strides[row];
  m.columns = view->shape[column];
  m.column_stride = view->strides[column];
  m.batch.ndim = r - 2;
  return m;
}

static int32_t fail_unequal(const char *name, int64_t columns, int64_t rows, leat_error *err) {
  return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: the first operand has %lld columns, the second %lld rows",
                    name, (long long)columns, (long long)rows);
}

int32_t leati_matrix_check_product(const char *name, const leat_value_info *a, const leat_value_info *b, bool trans_a,
                                   bool trans_b, leat_error *err) {
  if (a->ndim < 1 || b->ndim < 1) {
    return LEAT_OK;
  }
  const int64_t columns = a->shape[a->ndim - (trans_a && a->ndim > 1 ? 2 : 1)];
  const int64_t rows = b->shape[b->ndim - (trans_b || b->ndim == 1 ? 1 : 2)];
  return leati_may_equal(columns, rows) ? LEAT_OK : fail_unequal(name, columns, rows, err);
}

int32_t leati_matrix_infer_product(const char *name, const leati_view *a, const leati_view *b, bool trans_a,
                                   bool trans_b, leat_shape *out, leat_error *err) {
  if (a->ndim < 1 || b->ndim < 1) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s of a scalar: both operands need at least one dimension",
                      name);
  }
  const leati_matrix ma = leati_matrix_of(a, trans_a, true), mb = leati_matrix_of(b, trans_b, false);
  if (ma.columns != mb.rows) {
    return fail_unequal(name, ma.columns, mb.rows, err);
  }
  out[0].ndim = ma.batch.ndim;
  for (int32_t d = 0; d < ma.batch.ndim; ++d) {
    out[0].dims[d] = a->shape[d];
  }
  LEATI_TRY(leati_broadcast(&out[0].ndim, out[0].dims, mb.batch.ndim, b->shape, err));
  if (a->ndim > 1) {
    out[0].dims[out[0].ndim++] = ma.rows;
  }
  if (b->ndim > 1) {
    out[0].dims[out[0].ndim++] = mb.columns;
  }
  return LEAT_OK;
}
