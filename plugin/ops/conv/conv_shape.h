/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What convolutions of all types share: attributes and shapes.
 */
#ifndef LEAT_PLUGIN_OPS_CONV_CONV_SHAPE_H_
#define LEAT_PLUGIN_OPS_CONV_CONV_SHAPE_H_

#include "ops/conv/window.h"

extern const leat_op_attribute leati_attribute_group;

/** Reads the window and the number of groups.
 * @errors as leati_window_read() */
int32_t leati_conv_read(const leati_op_def *def, const leati_op_desc *desc, leati_window *window, int64_t *out_group,
                        leat_error *err);

/** Checks the channels of input and weights, by their shapes, against each other.
 * @errors INVALID_ARGUMENT */
int32_t leati_conv_check_channels(const int64_t *x, const int64_t *w, bool transposed, int64_t group, leat_error *err);

/** Checks the shapes of the input and the weights of a convolution against each other and lays the window; `name` is
 * the operator's. `transposed`: what ConvTranspose says of the size of its result; NULL: it is a Conv.
 * @errors INVALID_ARGUMENT, NOT_SUPPORTED */
int32_t leati_conv_lay(const char *name, const leati_window *window, const leati_transposed_sizes *transposed,
                       int64_t group, const leati_view *x, const leati_view *w, leati_window_fit *out, leat_error *err);

/** Dimension `d` of an image in NHWC layout among those of one in NCHW. */
int32_t leati_conv_nhwc_place(int32_t d, int32_t ndim);
/** A view of an image of NHWC with its channels in dimension 1. */
leati_view leati_conv_in_nchw(const leati_view *view);

/** Whether a window is of one tap and moves by one. */
bool leati_conv_is_pointwise(const leati_window_fit *fit);

#endif /* LEAT_PLUGIN_OPS_CONV_CONV_SHAPE_H_ */
