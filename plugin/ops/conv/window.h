/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The window that convolutions and pools move over an image: attributes kernel_shape, strides, dilations, pads,
 * auto_pad, ceil_mode.
 */
#ifndef LEAT_PLUGIN_OPS_CONV_WINDOW_H_
#define LEAT_PLUGIN_OPS_CONV_WINDOW_H_

#include "ops/core/op.h"

#define LEATI_WINDOW_RANK 3 /**< spatial dimensions at most */

/** How the padding is found. */
typedef enum leati_auto_pad {
  LEATI_PAD_GIVEN,
  LEATI_PAD_VALID,
  LEATI_PAD_SAME_UPPER,
  LEATI_PAD_SAME_LOWER
} leati_auto_pad;

/** The attributes as they were given; absent ones have their defaults. */
typedef struct leati_window {
  leati_auto_pad auto_pad;
  bool ceil;             /**< ceil_mode */
  uint32_t kernel_count; /**< 0: kernel_shape was not given */
  uint32_t rank;         /**< spatial dimensions that the attributes tell of; 0: none does */
  int64_t kernel[LEATI_WINDOW_RANK], stride[LEATI_WINDOW_RANK], dilation[LEATI_WINDOW_RANK];
  int64_t pad[2 * LEATI_WINDOW_RANK]; /**< all beginnings, then all ends, `rank` each */
} leati_window;

/** What ConvTranspose's own attributes say of the size of its result. */
typedef struct leati_transposed_sizes {
  uint32_t padding_count, shape_count; /**< 0: the attribute was not given */
  int64_t padding[LEATI_WINDOW_RANK];  /**< output_padding */
  int64_t shape[LEATI_WINDOW_RANK];    /**< output_shape */
} leati_transposed_sizes;

/** The window over one image, always with three dimensions: those that are not there have size 1. */
typedef struct leati_window_fit {
  int64_t in[LEATI_WINDOW_RANK], out[LEATI_WINDOW_RANK];
  int64_t kernel[LEATI_WINDOW_RANK], stride[LEATI_WINDOW_RANK], dilation[LEATI_WINDOW_RANK];
  int64_t pad_begin[LEATI_WINDOW_RANK], pad_end[LEATI_WINDOW_RANK];
} leati_window_fit;

/** The attributes that convolutions and pools have. */
extern const leat_op_attribute leati_attribute_auto_pad, leati_attribute_dilations, leati_attribute_kernel_shape;
extern const leat_op_attribute leati_attribute_pads, leati_attribute_strides;

/** Reads kernel_shape, strides, dilations and pads, whatever rank the first input has.
 * @errors as leati_window_read() */
int32_t leati_window_read_lists(const leati_op_desc *desc, leati_window *out, leat_error *err);

/** Reads the attributes.
 * @errors INVALID_ARGUMENT: values that make no sense; NOT_SUPPORTED: more than three spatial dimensions */
int32_t leati_window_read(const leati_op_desc *desc, leati_window *out, leat_error *err);

/** Lays the window over an image of `rank` spatial dimensions `in`. `kernel` is the kernel's size or NULL:
 * kernel_shape, which must have been given. `out` sizes of 0 are possible. */
int32_t leati_window_lay(const leati_window *window, int32_t rank, const int64_t *in, const int64_t *kernel,
                         leati_window_fit *out, leat_error *err);

/** Reads output_padding and output_shape.
 * @errors INVALID_ARGUMENT */
int32_t leati_transposed_sizes_read(const leati_op_desc *desc, leati_transposed_sizes *out, leat_error *err);

/** As leati_window_lay(), for ConvTranspose: its output is what a Conv with this window would have as input. */
int32_t leati_window_lay_transposed(const leati_window *window, const leati_transposed_sizes *sizes, int32_t rank,
                                    const int64_t *in, const int64_t *kernel, leati_window_fit *out, leat_error *err);

#endif /* LEAT_PLUGIN_OPS_CONV_WINDOW_H_ */
