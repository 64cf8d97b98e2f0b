/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/attention/heads.h"

#include <string.h>

#include "core/status.h"

int32_t leati_heads_read(const char *name, const leati_view *view, const char *what, const char *layout, int64_t count,
                         leati_heads *out, leat_error *err) {
  *out = (leati_heads){.shape = {1, 1, 1, 1}};
  if (view->ndim != (int32_t)strlen(layout)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: %s have %d dimensions, not those of \"%s\"", name, what,
                      view->ndim, layout);
  }
  for (int32_t d = 0; d < view->ndim; ++d) {
    const int64_t size = view->shape[d], stride = view->strides[d];
    if (layout[d] != 'x') {
      const ptrdiff_t at = strchr(LEATI_HEADS_LETTERS, layout[d]) - LEATI_HEADS_LETTERS;
      out->shape[at] = size;
      out->strides[at] = stride;
    } else if (count <= 0 || size % count != 0) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: %s of %lld elements cannot be shared out to %lld heads",
                        name, what, (long long)size, (long long)count);
    } else {
      out->shape[1] = count;
      out->strides[1] = size / count * stride;
      out->shape[3] = size / count;
      out->strides[3] = stride;
    }
  }
  if (out->shape[1] < 1 || out->shape[3] < 1) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: %s without heads, or with heads of no elements", name,
                      what);
  }
  return leati_heads_check_size(name, out->shape[3], 1, err);
}

int32_t leati_heads_check_size(const char *name, int64_t size, int64_t count, leat_error *err) {
  const int64_t each = count > 0 ? size / count : 0;
  return each <= LEATI_HEAD_MOST
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s: heads of %lld elements are not supported; at most %d are",
                          name, (long long)each, LEATI_HEAD_MOST);
}

void leati_heads_strides(const leati_heads *heads, int32_t out[4]) {
  for (int32_t d = 0; d < 4; ++d) {
    out[d] = heads->shape[d] > 1 ? (int32_t)heads->strides[d] : 0;
  }
}

bool leati_heads_in_groups(const leati_operand *operand, const int32_t strides[4], uint32_t count) {
  const int32_t n = (int32_t)count;
  const bool rows = strides[0] % n == 0 && strides[1] % n == 0 && strides[2] % n == 0;
  return rows && strides[3] == 1 && operand->heads.shape[3] % n == 0 &&
         operand->view.address % (count * operand->view.item_size) == 0;
}
