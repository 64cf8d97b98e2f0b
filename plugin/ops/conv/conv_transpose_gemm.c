/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/conv/conv_transpose_gemm.h"

#include "device/device.h"
#include "ops/core/channels_last.h"
#include "ops/core/movement.h"
#include "ops/product/gemm.h"

bool leati_conv_is_transpose_gemm(const leati_window_fit *fit) {
  bool is = true;
  for (int32_t d = 0; d < LEATI_WINDOW_RANK; ++d) {
    /* The stride of a single pixel leads nowhere. */
    is = is && (fit->stride[d] == fit->kernel[d] || fit->in[d] == 1) &&
         (fit->dilation[d] == 1 || fit->kernel[d] == 1) && fit->pad_begin[d] == 0 &&
         fit->out[d] == fit->in[d] * fit->kernel[d];
  }
  return is;
}

static int64_t product3(const int64_t *values) {
  return values[0] * values[1] * values[2];
}

static int64_t taps_of(const leati_view *w) {
  return (int64_t)leati_product(w->shape, 2, w->ndim);
}

/* Eights of channels are read at once, and fours are stored, by the kernels for matrix hardware. */
leati_channels_last_use leati_conv_transpose_gemm_use(const leat_device *device, const leati_view *x,
                                                      const leati_view *w, const leati_view *y, uint32_t constants) {
  const leati_gemm_args product = {.m = (uint32_t)(x->shape[0] * (int64_t)leati_product(x->shape, 2, x->ndim)),
                                   .n = (uint32_t)(w->shape[1] * taps_of(w)),
                                   .k = (uint32_t)x->shape[1],
                                   .batch = 1};
  const bool on_matrices = leati_gemm_on_matrices(device, y->type, &product);
  leati_channels_last_use use = {.writes = on_matrices && y->shape[1] % 4 == 0};
  use.reads = use.prefers = on_matrices && x->shape[1] % 8 == 0 ? 1u << 0 : 0;
  use.orders = leati_is_channels_last(y) && leati_has_channels(w) ? constants & 1u << 1 : 0;
  return use;
}

int32_t leati_plan_transpose_gemm_weights(leati_planner *planner, const leati_view *view, leati_view *out,
                                          leat_error *err) {
  if (leati_channels_last_order(view).compact) {
    *out = *view;
    return LEAT_OK;
  }
  return leati_plan_compact(planner, view, out, err);
}

/* Where a result lies: elements from one channel to the next, from one slice, line and pixel to the next, and from one
 * image to the next. */
typedef struct steps {
  int64_t channel, pixel[LEATI_WINDOW_RANK], image;
} steps;

static steps steps_of(const leati_window_fit *fit, const leati_view *y) {
  const bool last = leati_is_channels_last(y);
  const int64_t pixels = product3(fit->out);
  steps s = {.channel = last ? 1 : pixels, .pixel[2] = last ? leati_pixel_pitch(y) : 1};
  s.pixel[1] = s.pixel[2] * fit->out[2];
  s.pixel[0] = s.pixel[1] * fit->out[1];
  s.image = last ? s.pixel[0] * fit->out[0] : y->shape[1] * pixels;
  return s;
}

/* The side of pixels: image, slice, line and pixel of a line. */
static leati_spread spread_pixels(const leati_window_fit *fit, const steps *s) {
  leati_spread side = {.strides[0] = (uint32_t)s->image};
  for (int32_t d = 0; d < LEATI_WINDOW_RANK; ++d) {
    side.shape[d] = (uint32_t)fit->in[d];
    side.strides[1 + d] = (uint32_t)(s->pixel[d] * fit->kernel[d]);
  }
  return side;
}

/* The side of weights: channel and three coordinates of the tap, or the channel behind them. */
static leati_spread spread_weights(const leati_window_fit *fit, const steps *s, const leati_view *w) {
  const bool channel_last = leati_channels_last_order(w).compact;
  const int32_t channel = channel_last ? 3 : 0, first = channel_last ? 0 : 1;
  leati_spread side = {0};
  side.strides[channel] = (uint32_t)s->channel;
  side.bias[channel] = 1;
  for (int32_t d = 0; d < LEATI_WINDOW_RANK; ++d) {
    side.strides[first + d] = (uint32_t)s->pixel[d];
    if (first + d > 0) {
      side.shape[first + d - 1] = (uint32_t)fit->kernel[d];
    }
  }
  if (channel_last) {
    side.shape[2] = (uint32_t)w->shape[1];
  }
  return side;
}

int32_t leati_plan_conv_transpose_gemm(leati_planner *planner, const leati_window_fit *fit, const leati_view *x,
                                       const leati_view *w, const leati_view *bias, const leati_view *y,
                                       leat_error *err) {
  const int64_t images = x->shape[0], plane = product3(fit->in), columns = w->shape[1] * taps_of(w);
  const bool last_in = leati_is_channels_last(x), last_out = leati_is_channels_last(y);
  const int64_t pixel = last_in ? leati_pixel_pitch(x) : 1, channel = last_in ? 1 : plane;
  const steps s = steps_of(fit, y);
  const leati_spread pixels = spread_pixels(fit, &s), weights = spread_weights(fit, &s, w);
  leati_gemm gemm = {.c = y, .bias = bias, .k = x->shape[1], .c_batch = s.image, .alpha = 1, .beta = 1};
  if (last_out) {
    gemm.a = x;
    gemm.b = w;
    gemm.m = plane;
    gemm.n = columns;
    gemm.a_row = pixel;
    gemm.a_k = channel;
    gemm.b_k = columns;
    gemm.b_column = 1;
    gemm.rows = &pixels;
    gemm.columns = &weights;
  } else {
    gemm.a = w;
    gemm.b = x;
    gemm.m = columns;
    gemm.n = plane;
    gemm.a_row = 1;
    gemm.a_k = columns;
    gemm.b_k = channel;
    gemm.b_column = pixel;
    gemm.rows = &weights;
    gemm.columns = &pixels;
  }
  if (images > 1) {
    gemm.batch_rank = 1;
    gemm.batch_shape[0] = images;
    (last_out ? gemm.a_batch : gemm.b_batch)[0] = (last_in ? pixel : x->shape[1]) * plane;
  }
  return leati_plan_gemm(planner, &gemm, err);
}
