/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "ops/core/draw.h"
#include "ops/core/draw_derive.h"
#include "ops/core/draw_parts.h"

#define RANK LEAT_MAX_RANK

/* Where windows of `spatial` dimensions go, as attributes; `image` grows until a window fits. */
static void draw_windows(leati_draw *d, int32_t spatial, int64_t *image, int64_t *kernel) {
  static const char *const paddings[] = {"SAME_UPPER", "SAME_LOWER", "VALID"};
  int64_t strides[3];
  int64_t dilations[3];
  int64_t pads[6];
  for (int32_t k = 0; k < spatial; ++k) {
    kernel[k] = leati_draw_int(d, 1, 3);
    strides[k] = leati_draw_int(d, 1, 3);
    dilations[k] = leati_draw_int(d, 1, 2);
    pads[k] = leati_draw_int(d, 0, kernel[k] - 1);
    pads[spatial + k] = leati_draw_int(d, 0, kernel[k] - 1);
    image[k] = leati_draw_int(d, 0, 5) + (kernel[k] - 1) * dilations[k] + 1;
  }
  leati_draw_attribute_ints(d, "kernel_shape", spatial, kernel);
  if (leati_draw_chance(d, 70)) {
    leati_draw_attribute_ints(d, "strides", spatial, strides);
  }
  if (leati_draw_chance(d, 50)) {
    leati_draw_attribute_ints(d, "pads", 2 * spatial, pads);
  } else if (strcmp(d->info->name, "ConvTranspose") != 0 && leati_draw_chance(d, 40)) {
    leati_draw_attribute_string(d, "auto_pad", paddings[leati_draw_int(d, 0, G_N_ELEMENTS(paddings) - 1)]);
  }
  if (leati_draw_chance(d, 40)) {
    leati_draw_attribute_ints(d, "dilations", spatial, dilations);
  }
}

/* An input of the shape that a convolution with the attributes drawn so far gives. */
static void draw_image(leati_draw *d, uint64_t type, int32_t spatial, const int64_t *x, int64_t channels,
                       const int64_t *kernel) {
  int64_t dims[5] = {x[0], channels};
  for (int32_t k = 0; k < spatial; ++k) {
    int64_t stride = 1;
    int64_t dilation = 1;
    int64_t room = x[2 + k];
    bool same = false;
    for (uint32_t a = 0; a < d->attribute_count; ++a) {
      const int64_t *values = d->attributes[a].ints;
      if (strcmp(d->attributes[a].name, "strides") == 0) {
        stride = values[k];
      }
      if (strcmp(d->attributes[a].name, "dilations") == 0) {
        dilation = values[k];
      }
      if (strcmp(d->attributes[a].name, "pads") == 0) {
        room += values[k] + values[spatial + k];
      }
      if (strcmp(d->attributes[a].name, "auto_pad") == 0) {
        same = strcmp(d->attributes[a].string, "VALID") != 0;
      }
    }
    dims[2 + k] = (room - (same ? 1 : (kernel[2 + k] - 1) * dilation + 1)) / stride + 1;
  }
  leati_draw_input(d, type, spatial + 2, dims);
}

static void conv(leati_draw *d) {
  const bool transposed = strcmp(d->info->name, "ConvTranspose") == 0;
  const int32_t spatial = (int32_t)leati_draw_int(d, 1, 3);
  const int64_t group = leati_draw_chance(d, 60) ? 1 : leati_draw_int(d, 1, 3);
  const int64_t in = leati_draw_int(d, 1, 3);
  const int64_t out = leati_draw_int(d, 1, 3);
  int64_t x[5] = {leati_draw_int(d, d->empty ? 0 : 1, 2), in * group};
  int64_t w[5] = {transposed ? in * group : out * group, transposed ? out : in};
  const int64_t channels[1] = {out * group};
  draw_windows(d, spatial, x + 2, w + 2);
  const uint64_t type = leati_draw_type(d, "T");
  leati_draw_input(d, type, spatial + 2, x);
  /* Padding may count as zeros, which a weight that is not finite makes NaN, or as nothing. */
  leati_draw_input(d, type, spatial + 2, w)->plain = true;
  const bool residual = d->info->max_inputs > 3 && leati_draw_chance(d, 60);
  const bool gate = d->info->max_inputs > 4 && leati_draw_chance(d, 30);
  if (leati_draw_chance(d, 50)) {
    leati_draw_input(d, type, 1, channels);
  } else if (residual || gate) {
    leati_draw_absent(d);
  }
  leati_draw_attribute_int(d, "group", group);
  if (residual) {
    draw_image(d, type, spatial, x, channels[0], w);
  } else if (gate) {
    leati_draw_absent(d);
  }
  /* Kernels of more than one tap are refused then. */
  if (gate) {
    leati_draw_input(d, type, spatial + 2, (const int64_t[5]){x[0], x[1], 1, 1, 1})->plain = true;
  }
  leati_draw_activation(d);
}

/* Puts the channels of an image last. */
static void put_channels_last(leati_draw_tensor *image) {
  const int64_t channels = image->dims[1];
  for (int32_t k = 2; k < image->rank; ++k) {
    image->dims[k - 1] = image->dims[k];
  }
  image->dims[image->rank - 1] = channels;
}

static void nhwc_conv(leati_draw *d) {
  conv(d);
  put_channels_last(&d->inputs[0]);
  if (strcmp(d->info->name, "NhwcConv") == 0) {
    put_channels_last(&d->inputs[1]);
  }
  if (d->input_count > 3 && d->inputs[3].present) {
    put_channels_last(&d->inputs[3]);
  }
}

static void squeeze_excite(leati_draw *d) {
  const uint64_t type = leati_draw_type(d, "T");
  const int32_t spatial = (int32_t)leati_draw_int(d, 0, 3);
  const int64_t channels = leati_draw_int(d, 1, 40), squeezed = leati_draw_int(d, 1, 20);
  int64_t x[5] = {leati_draw_int(d, d->empty ? 0 : 1, 3), channels};
  for (int32_t k = 0; k < spatial; ++k) {
    x[2 + k] = leati_draw_int(d, 1, 7);
  }
  leati_draw_input(d, type, 2 + spatial, x);
  leati_draw_input(d, type, (int32_t)leati_draw_int(d, 2, 5), (const int64_t[5]){squeezed, channels, 1, 1, 1});
  leati_draw_input(d, type, (int32_t)leati_draw_int(d, 2, 5), (const int64_t[5]){channels, squeezed, 1, 1, 1});
  if (leati_draw_chance(d, 60)) {
    leati_draw_input(d, type, 1, &squeezed);
  } else {
    leati_draw_absent(d);
  }
  if (leati_draw_chance(d, 60)) {
    leati_draw_input(d, type, 1, &channels);
  }
  leati_draw_named_activation(d, "activation", "activation_params");
  leati_draw_named_activation(d, "gate_activation", "gate_activation_params");
}

static void conv_integer(leati_draw *d) {
  const bool scaled = strcmp(d->info->name, "QLinearConv") == 0;
  const int32_t spatial = (int32_t)leati_draw_int(d, 1, 3);
  const int64_t group = leati_draw_chance(d, 60) ? 1 : leati_draw_int(d, 1, 3);
  const int64_t in = leati_draw_int(d, 1, 5), out = leati_draw_int(d, 1, 3), channels = out * group;
  int64_t x[5] = {leati_draw_int(d, d->empty ? 0 : 1, 2), in * group};
  int64_t w[5] = {channels, in};
  draw_windows(d, spatial, x + 2, w + 2);
  const uint64_t types[2] = {leati_draw_type(d, "T1"), leati_draw_type(d, "T2")};
  const int64_t one = 1, *const each = leati_draw_chance(d, 50) ? &channels : &one;
  leati_draw_attribute_int(d, "group", group);
  if (!scaled) {
    leati_draw_bytes(d, leati_draw_input(d, types[0], spatial + 2, x));
    leati_draw_bytes(d, leati_draw_input(d, types[1], spatial + 2, w));
    if (leati_draw_chance(d, 60)) {
      leati_draw_bytes(d, leati_draw_input(d, types[0], 0, NULL));
      if (leati_draw_chance(d, 60)) {
        leati_draw_bytes(d, leati_draw_input(d, types[1], 1, each));
      }
    }
    return;
  }
  leati_draw_bytes(d, leati_draw_input(d, types[0], spatial + 2, x));
  leati_draw_input(d, LEAT_TYPE_FLOAT32, 0, NULL);
  leati_draw_bytes(d, leati_draw_input(d, types[0], 0, NULL));
  leati_draw_bytes(d, leati_draw_input(d, types[1], spatial + 2, w));
  leati_draw_input(d, LEAT_TYPE_FLOAT32, 1, each);
  leati_draw_bytes(d, leati_draw_input(d, types[1], 1, each));
  leati_draw_set(leati_draw_input(d, LEAT_TYPE_FLOAT32, 0, NULL), 0, 64 * (double)leati_draw_int(d, 1, 400));
  leati_draw_bytes(d, leati_draw_input(d, leati_draw_type(d, "T3"), 0, NULL));
  if (leati_draw_chance(d, 50)) {
    leati_draw_range(d, leati_draw_input(d, LEAT_TYPE_INT32, 1, &channels), -99999, 99999);
  }
}

static void own_qlinear_conv(leati_draw *d) {
  conv_integer(d);
  if (leati_draw_chance(d, 50)) {
    put_channels_last(&d->inputs[0]);
    leati_draw_attribute_int(d, "channels_last", 1);
  } else if (leati_draw_chance(d, 50)) {
    leati_draw_attribute_int(d, "channels_last", 0);
  }
}

static void quantized_conv(leati_draw *d) {
  const int32_t spatial = (int32_t)leati_draw_int(d, 1, 3), ranks[2] = {spatial + 2, spatial + 2};
  const int64_t group = leati_draw_chance(d, 60) ? 1 : leati_draw_int(d, 1, 3);
  const int64_t in = leati_draw_int(d, 1, 5), out = leati_draw_int(d, 1, 3), channels = out * group;
  int64_t x[5] = {leati_draw_int(d, d->empty ? 0 : 1, 2), in * group};
  int64_t w[5] = {channels, in};
  const int64_t *const dims[2] = {x, w};
  draw_windows(d, spatial, x + 2, w + 2);
  leati_draw_attribute_int(d, "group", group);
  leati_draw_quantized_operands(d, ranks, dims, &channels);
  leati_draw_quantized_result(d, channels, leati_draw_chance(d, 50));
}

static void pool(leati_draw *d) {
  const int32_t spatial = (int32_t)leati_draw_int(d, 1, 3);
  int64_t x[5] = {leati_draw_int(d, d->empty ? 0 : 1, 2), leati_draw_int(d, d->empty ? 0 : 1, 3)};
  int64_t kernel[3];
  x[1] *= leati_draw_chance(d, 20) ? 4 : 1; /* of so many channels some may be moved at once */
  draw_windows(d, spatial, x + 2, kernel);
  leati_draw_input(d, leati_draw_type(d, "T"), spatial + 2, x);
  leati_draw_attribute_int(d, "p", leati_draw_int(d, 1, 4));
  leati_draw_attributes(d);
}

static void col2im(leati_draw *d) {
  const int32_t spatial = (int32_t)leati_draw_int(d, 1, 3);
  int64_t image[3], block[3], strides[3], dilations[3], pads[6], columns[3] = {0, leati_draw_int(d, 1, 3), 1};
  columns[0] = leati_draw_int(d, d->empty ? 0 : 1, 2);
  for (int32_t k = 0; k < spatial; ++k) {
    block[k] = leati_draw_int(d, 1, 3);
    strides[k] = leati_draw_int(d, 1, 3);
    dilations[k] = leati_draw_int(d, 1, 2);
    pads[k] = leati_draw_int(d, 0, 2);
    pads[spatial + k] = leati_draw_int(d, 0, 2);
    const int64_t reach = (block[k] - 1) * dilations[k] + 1;
    image[k] = reach + leati_draw_int(d, 0, 4);
    columns[1] *= block[k];
    columns[2] *= (image[k] + pads[k] + pads[spatial + k] - reach) / strides[k] + 1;
  }
  leati_draw_input(d, leati_draw_type(d, "T"), 3, columns);
  leati_draw_list(d, LEAT_TYPE_INT64, spatial, image);
  leati_draw_list(d, LEAT_TYPE_INT64, spatial, block);
  leati_draw_attribute_ints(d, "strides", spatial, strides);
  leati_draw_attribute_ints(d, "dilations", spatial, dilations);
  leati_draw_attribute_ints(d, "pads", 2 * spatial, pads);
}

static void nhwc_pool(leati_draw *d) {
  pool(d);
  put_channels_last(&d->inputs[0]);
}

static void qlinear_pool(leati_draw *d) {
  const bool last = leati_draw_chance(d, 50);
  leati_draw_attribute_int(d, "channels_last", last);
  pool(d);
  if (last) {
    put_channels_last(&d->inputs[0]);
  }
  leati_draw_make_bytes(d);
}

const leati_draw_entry leati_draws_conv[] = {
    {"conv", "", "Conv ConvTranspose", NULL, conv},
    {"conv", LEAT_MICROSOFT, "FusedConv", NULL, conv},
    {"conv", "leat", "FusedConv", NULL, conv},
    {"conv", LEAT_MICROSOFT, "NhwcConv NhwcFusedConv", NULL, nhwc_conv},
    {"conv", "leat", "SqueezeExcite", NULL, squeeze_excite},
    {"conv", "", "ConvInteger QLinearConv", NULL, conv_integer},
    {"conv", LEAT_MICROSOFT, "QLinearConv", NULL, own_qlinear_conv},
    {"conv", "leat", "QuantizedConv", NULL, quantized_conv},
    {"conv", "", "MaxPool AveragePool LpPool", NULL, pool},
    {"conv", "", "Col2Im", NULL, col2im},
    {"conv", "", "GlobalAveragePool GlobalMaxPool", "*3-5", NULL},
    {"conv", LEAT_MICROSOFT, "NhwcMaxPool", NULL, nhwc_pool},
    {"conv", LEAT_MICROSOFT, "QLinearAveragePool", NULL, qlinear_pool},
    {"conv", LEAT_MICROSOFT, "QLinearGlobalAveragePool", "*3-5", leati_draw_make_bytes},
    {NULL, NULL, NULL, NULL, NULL},
};
