/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/conv/window.h"

#include "core/status.h"
#include "ops/core/attribute.h"

/* Larger strides, paddings and so on are refused, so that sums of products of them cannot overflow. */
#define WINDOW_VALUE_MAX (1 << 24)

LEATI_ATTRIBUTE(leati_attribute_auto_pad, "auto_pad", STRING);
LEATI_ATTRIBUTE(leati_attribute_dilations, "dilations", INTS);
LEATI_ATTRIBUTE(leati_attribute_kernel_shape, "kernel_shape", INTS);
LEATI_ATTRIBUTE(leati_attribute_pads, "pads", INTS);
LEATI_ATTRIBUTE(leati_attribute_strides, "strides", INTS);

static int32_t read_list(const leati_op_desc *desc, const char *name, uint32_t per_rank, int64_t least, int64_t *out,
                         uint32_t *inout_rank, leat_error *err) {
  int64_t values[2 * LEATI_WINDOW_RANK];
  uint32_t count = 0;
  LEATI_TRY(leati_attr_ints(desc, name, per_rank * LEATI_WINDOW_RANK, values, &count, err));
  if (count == 0) {
    return LEAT_OK;
  }
  if (count % per_rank != 0 || (*inout_rank != 0 && count != per_rank * *inout_rank)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "attribute %s has %u elements, which does not fit the others",
                      name, count);
  }
  *inout_rank = count / per_rank;
  for (uint32_t i = 0; i < count; ++i) {
    if (values[i] < least || values[i] > WINDOW_VALUE_MAX) {
      return leati_fail(err, values[i] < 0 ? LEAT_ERROR_NOT_SUPPORTED : LEAT_ERROR_INVALID_ARGUMENT,
                        "attribute %s has %lld; from %lld to %d is supported", name, (long long)values[i],
                        (long long)least, WINDOW_VALUE_MAX);
    }
    out[i] = values[i];
  }
  return LEAT_OK;
}

int32_t leati_window_read_lists(const leati_op_desc *desc, leati_window *out, leat_error *err) {
  *out = (leati_window){.stride = {1, 1, 1}, .dilation = {1, 1, 1}};
  LEATI_TRY(read_list(desc, "kernel_shape", 1, 1, out->kernel, &out->rank, err));
  out->kernel_count = out->rank;
  LEATI_TRY(read_list(desc, "strides", 1, 1, out->stride, &out->rank, err));
  LEATI_TRY(read_list(desc, "dilations", 1, 1, out->dilation, &out->rank, err));
  return read_list(desc, "pads", 2, 0, out->pad, &out->rank, err);
}

int32_t leati_window_read(const leati_op_desc *desc, leati_window *out, leat_error *err) {
  LEATI_TRY(leati_window_read_lists(desc, out, err));
  const int32_t given = desc->inputs[0].ndim;
  if (out->rank != 0 && given >= 0 && given != 2 + (int32_t)out->rank) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "the attributes are for %u spatial dimensions, the input has %d", out->rank, given - 2);
  }
  out->ceil = leati_attr_int(desc, "ceil_mode", 0) != 0;
  if (leati_attr_is(desc, "auto_pad", "SAME_UPPER")) {
    out->auto_pad = LEATI_PAD_SAME_UPPER;
  } else if (leati_attr_is(desc, "auto_pad", "SAME_LOWER")) {
    out->auto_pad = LEATI_PAD_SAME_LOWER;
  } else if (leati_attr_is(desc, "auto_pad", "VALID")) {
    out->auto_pad = LEATI_PAD_VALID;
  } else if (leati_attr(desc, "auto_pad") != NULL && !leati_attr_is(desc, "auto_pad", "NOTSET")) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "attribute auto_pad must be NOTSET, VALID, SAME_UPPER or SAME_LOWER");
  }
  if (out->auto_pad == LEATI_PAD_SAME_UPPER || out->auto_pad == LEATI_PAD_SAME_LOWER) {
    for (uint32_t d = 0; d < LEATI_WINDOW_RANK; ++d) {
      if (out->dilation[d] != 1) {
        /* ONNX Runtime's CPU provider refuses this for Conv and pads pools as if there were no dilation. */
        return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "auto_pad SAME with dilations is not supported; give pads");
      }
    }
  }
  return LEAT_OK;
}

/* Fills in all but `out` and padding that is found. */
static int32_t spread(const leati_window *window, int32_t rank, const int64_t *in, const int64_t *kernel,
                      leati_window_fit *out, leat_error *err) {
  if (rank < 1 || rank > LEATI_WINDOW_RANK) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "images with %d spatial dimensions are not supported; 1 to %d are",
                      rank, LEATI_WINDOW_RANK);
  }
  if (window->rank != 0 && window->rank != (uint32_t)rank) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "the attributes are for %u spatial dimensions, the input has %d", window->rank, rank);
  }
  kernel = kernel != NULL ? kernel : window->kernel;
  *out = (leati_window_fit){
      .in = {1, 1, 1}, .out = {1, 1, 1}, .kernel = {1, 1, 1}, .stride = {1, 1, 1}, .dilation = {1, 1, 1}};
  for (int32_t d = 0; d < rank; ++d) {
    const int32_t to = LEATI_WINDOW_RANK - rank + d;
    if (in[d] > INT32_MAX) {
      return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "an image of %lld pixels along a side; up to %d are supported",
                        (long long)in[d], INT32_MAX);
    }
    if (window->kernel_count != 0 && kernel[d] != window->kernel[d]) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "kernel_shape says %lld where the weights have %lld",
                        (long long)window->kernel[d], (long long)kernel[d]);
    }
    if (kernel[d] < 1 || kernel[d] > WINDOW_VALUE_MAX) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "a kernel of size %lld; from 1 to %d is supported",
                        (long long)kernel[d], WINDOW_VALUE_MAX);
    }
    out->in[to] = in[d];
    out->kernel[to] = kernel[d];
    out->stride[to] = window->stride[d];
    out->dilation[to] = window->dilation[d];
    out->pad_begin[to] = window->pad[d];
    out->pad_end[to] = window->pad[rank + d];
  }
  return LEAT_OK;
}

int32_t leati_window_lay(const leati_window *window, int32_t rank, const int64_t *in, const int64_t *kernel,
                         leati_window_fit *out, leat_error *err) {
  LEATI_TRY(spread(window, rank, in, kernel, out, err));
  for (int32_t d = LEATI_WINDOW_RANK - rank; d < LEATI_WINDOW_RANK; ++d) {
    const int64_t reach = (out->kernel[d] - 1) * out->dilation[d] + 1;
    const int64_t stride = out->stride[d];
    if (window->auto_pad == LEATI_PAD_SAME_UPPER || window->auto_pad == LEATI_PAD_SAME_LOWER) {
      out->out[d] = (out->in[d] + stride - 1) / stride;
      int64_t total = (out->out[d] - 1) * stride + reach - out->in[d];
      total = total > 0 ? total : 0;
      out->pad_begin[d] = window->auto_pad == LEATI_PAD_SAME_UPPER ? total / 2 : total - total / 2;
      out->pad_end[d] = total - out->pad_begin[d];
      continue;
    }
    if (window->auto_pad == LEATI_PAD_VALID) {
      out->pad_begin[d] = out->pad_end[d] = 0;
    }
    const int64_t room = out->in[d] + out->pad_begin[d] + out->pad_end[d] - reach;
    if (room < 0) {
      /* As in ONNX Runtime, a window may reach beyond the image and its padding by less than a stride. */
      out->out[d] = out->in[d] == 0 ? 0 : room / stride + 1;
      if (out->out[d] < 0) {
        return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                          "a window over %lld pixels does not fit an image of %lld with %lld of padding",
                          (long long)reach, (long long)out->in[d], (long long)(out->pad_begin[d] + out->pad_end[d]));
      }
      continue;
    }
    out->out[d] = (window->ceil ? room + stride - 1 : room) / stride + 1;
    /* A window that would begin in the padding at the end is left out. */
    if (window->ceil && (out->out[d] - 1) * stride >= out->in[d] + out->pad_begin[d]) {
      --out->out[d];
    }
  }
  return LEAT_OK;
}

/* ---- ConvTranspose ---------------------------------------------------------------------------------------------- */

int32_t leati_transposed_sizes_read(const leati_op_desc *desc, leati_transposed_sizes *out, leat_error *err) {
  LEATI_TRY(leati_attr_ints(desc, "output_padding", LEATI_WINDOW_RANK, out->padding, &out->padding_count, err));
  LEATI_TRY(leati_attr_ints(desc, "output_shape", LEATI_WINDOW_RANK, out->shape, &out->shape_count, err));
  for (uint32_t d = 0; d < LEATI_WINDOW_RANK; ++d) {
    /* Those that were not given are 0. */
    const int64_t padding = out->padding[d], shape = out->shape[d];
    if (padding < 0 || padding > INT32_MAX || shape < 0 || shape > INT32_MAX) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                        "ConvTranspose: output_padding %lld or output_shape %lld; from 0 to %d is supported",
                        (long long)padding, (long long)shape, INT32_MAX);
    }
  }
  return LEAT_OK;
}

int32_t leati_window_lay_transposed(const leati_window *window, const leati_transposed_sizes *sizes, int32_t rank,
                                    const int64_t *in, const int64_t *kernel, leati_window_fit *out, leat_error *err) {
  LEATI_TRY(spread(window, rank, in, kernel, out, err));
  if ((sizes->padding_count != 0 && sizes->padding_count != (uint32_t)rank) ||
      (sizes->shape_count != 0 && sizes->shape_count != (uint32_t)rank)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "ConvTranspose: output_padding or output_shape is not for %d spatial dimensions", rank);
  }
  const bool sized = sizes->shape_count != 0;
  const bool same = window->auto_pad == LEATI_PAD_SAME_UPPER || window->auto_pad == LEATI_PAD_SAME_LOWER;
  for (int32_t i = 0; i < rank; ++i) {
    const int32_t d = LEATI_WINDOW_RANK - rank + i;
    const int64_t reach = (out->kernel[d] - 1) * out->dilation[d] + 1;
    const int64_t reached = out->stride[d] * (out->in[d] - 1) + reach, full = reached + sizes->padding[i];
    if (sized || same) {
      const int64_t wanted = sized ? sizes->shape[i] : out->in[d] * out->stride[d];
      /* As in ONNX Runtime, zeros may follow what the kernel reaches, but no place of it more. */
      if (sized && out->in[d] != 0 && wanted >= reached + out->stride[d]) {
        return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                          "ConvTranspose: output_shape says %lld; from %lld pixels with a kernel that reaches %lld and "
                          "stride %lld it may be %lld at most",
                          (long long)wanted, (long long)out->in[d], (long long)reach, (long long)out->stride[d],
                          (long long)(reached + out->stride[d] - 1));
      }
      const int64_t total = full > wanted ? full - wanted : 0;
      out->pad_begin[d] = window->auto_pad == LEATI_PAD_SAME_UPPER ? total / 2 : total - total / 2;
      out->pad_end[d] = total - out->pad_begin[d];
      /* SAME alone never makes the output larger than what the kernel reaches. */
      out->out[d] = sized ? wanted : full - total;
    } else {
      if (window->auto_pad == LEATI_PAD_VALID) {
        out->pad_begin[d] = out->pad_end[d] = 0;
      }
      out->out[d] = full - out->pad_begin[d] - out->pad_end[d];
    }
    if (out->in[d] == 0) {
      out->out[d] = 0;
    } else if (out->out[d] <= 0) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                        "ConvTranspose: padding of %lld leaves nothing of a result of %lld pixels",
                        (long long)(out->pad_begin[d] + out->pad_end[d]), (long long)full);
    }
  }
  return LEAT_OK;
}
