/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Transposed convolutions whose windows lie side by side: each pixel of the result comes of one pixel and one tap, and
 * all of it is one product of pixels by channels and channels by taps, stored where its rows and columns belong.
 */
#ifndef LEAT_PLUGIN_OPS_CONV_CONV_TRANSPOSE_GEMM_H_
#define LEAT_PLUGIN_OPS_CONV_CONV_TRANSPOSE_GEMM_H_

#include "ops/conv/window.h"
#include "ops/core/op.h"

/** Whether the windows of a transposed convolution lie so: strides are those of the kernel, without gaps or padding. */
bool leati_conv_is_transpose_gemm(const leati_window_fit *fit);

/** How one deals with images in NHWC layout, as they lie now; `constants` are its inputs that
 * are. */
leati_channels_last_use leati_conv_transpose_gemm_use(const leat_device *device, const leati_view *x,
                                                      const leati_view *w, const leati_view *y, uint32_t constants);

/** Gives weights that leati_plan_conv_transpose_gemm() reads: `view` itself, in NHWC layout or not,
 * or a compact copy. What is stored in NHWC layout is stored fastest if those of weights lie so.
 * @errors as leati_plan_compact() */
int32_t leati_plan_transpose_gemm_weights(leati_planner *planner, const leati_view *view, leati_view *out,
                                          leat_error *err);

/** Plans one of one group. x, if it is not compact, and y are in NHWC layout, or are compact;
 * weights are of leati_plan_transpose_gemm_weights(). `bias`: NULL, or compact.
 * @errors as leati_plan_gemm() */
int32_t leati_plan_conv_transpose_gemm(leati_planner *planner, const leati_window_fit *fit, const leati_view *x,
                                       const leati_view *w, const leati_view *bias, const leati_view *y,
                                       leat_error *err);

#endif /* LEAT_PLUGIN_OPS_CONV_CONV_TRANSPOSE_GEMM_H_ */
