/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/conv/conv_shape.h"

#include "core/status.h"
#include "ops/core/attribute.h"
#include "ops/core/movement.h"

LEATI_ATTRIBUTE(leati_attribute_group, "group", INT);

int32_t leati_conv_read(const leati_op_def *def, const leati_op_desc *desc, leati_window *window, int64_t *out_group,
                        leat_error *err) {
  LEATI_TRY(leati_window_read(desc, window, err));
  *out_group = leati_attr_int(desc, "group", 1);
  if (*out_group < 1 || *out_group > INT32_MAX) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: attribute group is %lld; it must be at least 1",
                      def->info.name, (long long)*out_group);
  }
  return LEAT_OK;
}

int32_t leati_conv_check_channels(const int64_t *x, const int64_t *w, bool transposed, int64_t group, leat_error *err) {
  int64_t grouped;
  if (__builtin_mul_overflow(w[1], group, &grouped)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%lld groups of %lld channels are more than can be counted",
                      (long long)group, (long long)w[1]);
  }
  const int64_t weights_in = transposed ? w[0] : grouped;
  return x[1] == weights_in && w[0] % group == 0
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                          "an input of %lld channels does not fit weights for %lld in %lld groups", (long long)x[1],
                          (long long)weights_in, (long long)group);
}

/* Checks input and weights against each other. */
static int32_t check_operands(const leati_view *x, const leati_view *w, bool transposed, int64_t group,
                              leat_error *err) {
  return x->ndim >= 3 && w->ndim == x->ndim
             ? leati_conv_check_channels(x->shape, w->shape, transposed, group, err)
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                          "a convolution needs input and weights of the same 3 to 5 dimensions; they have %d and %d",
                          x->ndim, w->ndim);
}

/* Checks how far the window reaches. */
static int32_t check_fit(const char *name, const leati_window_fit *fit, bool transposed, leat_error *err) {
  for (int32_t d = 0; d < LEATI_WINDOW_RANK; ++d) {
    const int64_t reach = (fit->kernel[d] - 1) * fit->dilation[d] + 1;
    const int64_t padding = fit->pad_begin[d] + fit->pad_end[d];
    /* Coordinates are computed in 32 bits, on the larger of the two sides and with padding. */
    const int64_t moved = (transposed ? fit->in[d] : fit->out[d]) * fit->stride[d];
    if (moved + reach + fit->in[d] + fit->out[d] + padding > INT32_MAX) {
      return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s: a window reaches 2^31 pixels, padding included", name);
    }
    if (!transposed && fit->in[d] != 0 && fit->in[d] + padding < reach) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                        "a convolution over %lld pixels does not fit an image of %lld with %lld of padding",
                        (long long)reach, (long long)fit->in[d], (long long)padding);
    }
  }
  return LEAT_OK;
}

int32_t leati_conv_lay(const char *name, const leati_window *window, const leati_transposed_sizes *transposed,
                       int64_t group, const leati_view *x, const leati_view *w, leati_window_fit *out,
                       leat_error *err) {
  const int32_t rank = x->ndim - 2;
  LEATI_TRY(check_operands(x, w, transposed != NULL, group, err));
  LEATI_TRY(transposed != NULL
                ? leati_window_lay_transposed(window, transposed, rank, x->shape + 2, w->shape + 2, out, err)
                : leati_window_lay(window, rank, x->shape + 2, w->shape + 2, out, err));
  return check_fit(name, out, transposed != NULL, err);
}

bool leati_conv_is_pointwise(const leati_window_fit *fit) {
  bool one = true;
  for (int32_t d = 0; d < LEATI_WINDOW_RANK; ++d) {
    one = one && fit->kernel[d] == 1 && fit->stride[d] == 1 && fit->pad_begin[d] == 0 && fit->pad_end[d] == 0;
  }
  return one;
}

int32_t leati_conv_nhwc_place(int32_t d, int32_t ndim) {
  return d == 0 ? 0 : d == 1 ? ndim - 1 : d - 1;
}

leati_view leati_conv_in_nchw(const leati_view *view) {
  int64_t shape[LEAT_MAX_RANK], strides[LEAT_MAX_RANK];
  leati_view out = *view;
  for (int32_t d = 0; d < view->ndim; ++d) {
    shape[d] = view->shape[leati_conv_nhwc_place(d, view->ndim)];
    strides[d] = view->strides[leati_conv_nhwc_place(d, view->ndim)];
  }
  if (view->ndim > 2) {
    leati_view_reshape(&out, view->ndim, shape, strides);
  }
  return out;
}
