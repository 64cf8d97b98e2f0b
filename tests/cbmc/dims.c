/* SPDX-License-Identifier: BSD-3-Clause */
/* Dimensions of operators: axes, broadcasting, and the strides of what has another shape. */
#include "ops/core/dims.c"

#include "outside.h"

/* What messages say is not looked at, only that it has room. */
int snprintf(char *text, size_t size, const char *format, ...) {
  const int length = ANY(int);
  (void)format;
  ASSUME(length >= 0 && length < 24);
  text[(size_t)length < size ? (size_t)length : size - 1] = '\0';
  return length;
}

/* An axis that is taken lies in the tensor, and counts from its end if it is negative.
 * MISTAKE plugin/ops/core/dims.c: `axis < -(int64_t)rank || axis >= rank` becomes `axis < -(int64_t)rank || axis >
 * rank`
 * MISTAKE plugin/ops/core/dims.c: `axis < 0 ? axis + rank : axis` becomes `axis < 0 ? axis + rank - 1 : axis` */
void prove_an_axis_lies_in_the_rank(void) {
  const int64_t axis = ANY(int64_t);
  const int32_t rank = ANY(int32_t);
  int32_t found;
  ASSUME(rank >= 0 && rank <= LEAT_MAX_RANK);
  if (leati_axis(axis, rank, &found, NULL) == LEAT_OK) {
    PROVE(found >= 0 && found < rank && (found == axis || found - rank == axis));
  } else {
    PROVE(axis < -rank || axis >= rank);
  }
}

/* Where shapes of rank up to 4 broadcast, each dimension of both is that of the result or 1, and the strides of either
 * with the result's shape reach its own elements alone.
 * UNWIND 5 LOOPS memcmp.0:33
 * MISTAKE plugin/ops/core/dims.c: `result[i] = a == 1 ? b : a;` becomes `result[i] = a;`
 * MISTAKE plugin/ops/core/dims.c: `if (a != b && a != 1 && b != 1)` becomes `if (a != b && a != 1 && b == 1)`
 * MISTAKE plugin/ops/core/dims.c: `(view->shape[j] == 1 && dims[i] != 1) ? 0 : view->strides[j]` becomes
 * `false ? 0 : view->strides[j]` */
void prove_broadcast_strides_stay_inside(void) {
  leati_view view;
  int64_t dims[LEAT_MAX_RANK];
  int32_t rank = 1 + (ANY(uint8_t) & 3);
  view.ndim = 1 + (ANY(uint8_t) & 3);
  for (int d = 0; d < 4; ++d) {
    view.shape[d] &= 7;
    dims[d] &= 7;
    view.strides[d] = ANY(int64_t);
  }
  if (leati_broadcast(&rank, dims, view.ndim, view.shape, NULL) == LEAT_OK) {
    int64_t strides[LEAT_MAX_RANK];
    PROVE(rank >= view.ndim && rank <= 4);
    leati_broadcast_strides(&view, rank, dims, strides);
    for (int32_t d = 0; d < rank; ++d) {
      const int32_t own = d - (rank - view.ndim);
      const int64_t size = own < 0 ? 1 : view.shape[own];
      PROVE(dims[d] == size || size == 1);
      PROVE(strides[d] == (own < 0 || (size == 1 && dims[d] != 1) ? 0 : view.strides[own]));
    }
  }
}
