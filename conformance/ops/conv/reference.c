/* SPDX-License-Identifier: BSD-3-Clause */
/* Operators that slide a window over the spatial dimensions: convolutions and pools. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops/core/bound.h"
#include "ops/core/node.h"
#include "ops/core/turned_image.h"
#include "ops/elementwise/epilogue.h"
#include "ops/quantize/reference.h"

#define MAX_SPATIAL (LEAT_MAX_RANK - 2)

/* A window and where it stands for each place of the output. */
typedef struct window {
  int32_t spatial;               /* spatial dimensions */
  int64_t in[MAX_SPATIAL];       /* elements of the input */
  int64_t kernel[MAX_SPATIAL];   /* elements of the window */
  int64_t stride[MAX_SPATIAL];   /* step from one place to the next */
  int64_t dilation[MAX_SPATIAL]; /* step between the elements of a window */
  int64_t begin[MAX_SPATIAL];    /* padding in front */
  int64_t end[MAX_SPATIAL];      /* padding behind */
  int64_t out[MAX_SPATIAL];      /* places */
  int64_t taps;                  /* elements of the window in all */
  int64_t places;                /* places in all */
} window;

static int64_t ceil_div(int64_t a, int64_t b) {
  return a >= 0 ? (a + b - 1) / b : -(-a / b);
}

/* Reads strides, dilations, pads, auto_pad and ceil_mode. `kernel` is set by the caller. */
static bool window_init(leati_ref_node *node, window *w) {
  const leati_ref_tensor *x = node->inputs[0];
  if (x->rank < 3) {
    return leati_ref_fail(node, "%s needs a batch, a channel and a spatial dimension", node->name);
  }
  w->spatial = x->rank - 2;
  w->taps = 1;
  w->places = 1;
  bool ceil_mode = leati_ref_int(node, "ceil_mode", 0) != 0;
  bool upper = leati_ref_string_is(node, "auto_pad", "NOTSET", "SAME_UPPER");
  bool lower = leati_ref_string_is(node, "auto_pad", "NOTSET", "SAME_LOWER");
  bool valid = leati_ref_string_is(node, "auto_pad", "NOTSET", "VALID");
  for (int32_t d = 0; d < w->spatial; ++d) {
    w->in[d] = x->dims[2 + d];
    w->stride[d] = leati_ref_ints_at(node, "strides", d, 1);
    w->dilation[d] = leati_ref_ints_at(node, "dilations", d, 1);
    w->begin[d] = valid ? 0 : leati_ref_ints_at(node, "pads", d, 0);
    w->end[d] = valid ? 0 : leati_ref_ints_at(node, "pads", w->spatial + d, 0);
    int64_t extent = (w->kernel[d] - 1) * w->dilation[d] + 1;
    if (upper || lower) {
      w->out[d] = ceil_div(w->in[d], w->stride[d]);
      int64_t pad = (w->out[d] - 1) * w->stride[d] + extent - w->in[d];
      pad = pad > 0 ? pad : 0;
      w->begin[d] = upper ? pad / 2 : pad - pad / 2;
      w->end[d] = pad - w->begin[d];
    } else {
      int64_t room = w->in[d] + w->begin[d] + w->end[d] - extent;
      /* Rounded towards zero, as ONNX infers shapes: a window may reach beyond the padding by less than a stride. */
      w->out[d] = (ceil_mode ? ceil_div(room, w->stride[d]) : room / w->stride[d]) + 1;
      /* A window that would begin behind the input, in the padding, is left out. */
      if (ceil_mode && (w->out[d] - 1) * w->stride[d] >= w->in[d] + w->begin[d]) {
        w->out[d]--;
      }
    }
    if (w->out[d] < 0) {
      return leati_ref_fail(node, "%s: the window is larger than the padded input", node->name);
    }
    w->taps *= w->kernel[d];
    w->places *= w->out[d];
  }
  return true;
}

/* The element of a channel that tap `tap` meets at place `place`: its number, -1 in the padding, -2 beyond the padding.
 */
static int64_t window_at(const window *w, int64_t place, int64_t tap) {
  int64_t p[MAX_SPATIAL];
  int64_t t[MAX_SPATIAL];
  leati_ref_unravel(w->spatial, w->out, place, p);
  leati_ref_unravel(w->spatial, w->kernel, tap, t);
  int64_t at = 0;
  bool padding = false;
  for (int32_t d = 0; d < w->spatial; ++d) {
    int64_t i = p[d] * w->stride[d] - w->begin[d] + t[d] * w->dilation[d];
    if (i >= w->in[d] + w->end[d]) {
      return -2;
    }
    padding = padding || i < 0 || i >= w->in[d];
    at = at * w->in[d] + i;
  }
  return padding ? -1 : at;
}

static void window_output(leati_ref_node *node, const window *w, int64_t channels) {
  int64_t dims[LEAT_MAX_RANK] = {node->inputs[0]->dims[0], channels};
  memcpy(dims + 2, w->out, sizeof(w->out[0]) * (size_t)w->spatial);
  for (uint32_t k = 0; k < node->output_count && k < 2; ++k) {
    leati_ref_tensor_init(&node->outputs[k], k == 0 ? node->inputs[0]->type : LEATI_REF_INT64, w->spatial + 2, dims);
  }
}

static int64_t window_elements(const window *w) {
  int64_t count = 1;
  for (int32_t d = 0; d < w->spatial; ++d) {
    count *= w->in[d];
  }
  return count;
}

/* Stores element `k` of an output: a sum of so many products, and the bias of its map (NULL: none). */
static void store_sum(leati_ref_tensor *out, int64_t k, const leati_ref_tensor *bias, int64_t map,
                      leati_ref_products sum, int64_t products) {
  leati_ref_add_product(&sum, bias != NULL ? bias->f[map] : 0, 1);
  out->f[k] = sum.sum;
  out->bound[k] = leati_ref_bound_products(products + 1, &sum, out->type == LEATI_REF_FLOAT32);
}

/* Fused forms have an epilogue, and what it adds has the shape of the result; and a gate, which the input is multiplied
 * by. */
/* The convolution and its bias. */
static bool convolve(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  const leati_ref_tensor *weights = node->inputs[1];
  const leati_ref_tensor *bias = leati_ref_input(node, 2);
  const leati_ref_tensor *gate = leati_ref_input(node, 4);
  window w = {0};
  for (int32_t d = 0; d < weights->rank - 2; ++d) {
    w.kernel[d] = weights->dims[2 + d];
  }
  if (!window_init(node, &w)) {
    return false;
  }
  int64_t groups = leati_ref_int(node, "group", 1);
  int64_t maps = weights->dims[0];
  int64_t depth = weights->dims[1];
  if (x->dims[1] != depth * groups || maps % groups != 0) {
    return leati_ref_fail(node, "Conv: channels and groups do not agree");
  }
  window_output(node, &w, maps);
  int64_t elements = window_elements(&w);
  for (int64_t k = 0; k < node->outputs[0].count; ++k) {
    int64_t place = k % w.places;
    int64_t map = k / w.places % maps;
    int64_t image = k / w.places / maps;
    int64_t group = map / (maps / groups);
    leati_ref_products sum = {0};
    for (int64_t tap = 0; depth > 0 && tap < w.taps; ++tap) {
      const int64_t at = window_at(&w, place, tap);
      for (int64_t c = 0; at >= 0 && c < depth; ++c) {
        const int64_t channel = image * x->dims[1] + group * depth + c;
        const double factor = gate != NULL ? gate->f[channel] : 1;
        leati_ref_add_product(&sum, x->f[channel * elements + at] * factor,
                              weights->f[(map * depth + c) * w.taps + tap]);
      }
    }
    /* With a gate each product rounds once more. */
    store_sum(&node->outputs[0], k, bias, map, sum, depth * w.taps + (gate != NULL ? 1 : 0));
  }
  return true;
}

static bool run_conv(leati_ref_node *node) {
  return convolve(node) && leati_ref_epilogue(node, leati_ref_input(node, 3));
}

static bool run_nhwc_conv(leati_ref_node *node) {
  leati_ref_tensor x = {0}, w = {0}, residual = {0};
  leati_ref_node part = *node;
  /* Its weights are in the same layout, those of NhwcFusedConv are not. */
  const bool turns = strcmp(node->name, "NhwcConv") == 0;
  if (turns) {
    leati_ref_turn_image(node->inputs[1], false, &w);
  }
  leati_ref_turn_image(node->inputs[0], false, &x);
  if (leati_ref_input(node, 3) != NULL) {
    leati_ref_turn_image(node->inputs[3], false, &residual);
  }
  const leati_ref_tensor *const inputs[] = {&x, turns ? &w : node->inputs[1], leati_ref_input(node, 2),
                                            residual.f != NULL ? &residual : NULL};
  part.inputs = inputs;
  part.input_count = 4;
  const bool ok = run_conv(&part);
  if (ok) {
    leati_ref_turn_image(&part.outputs[0], true, &node->outputs[0]);
  } else {
    leati_ref_fail(node, "%s", part.error);
  }
  leati_ref_tensor_clear(&part.outputs[0]);
  leati_ref_tensor_clear(&x);
  leati_ref_tensor_clear(&w);
  leati_ref_tensor_clear(&residual);
  return ok;
}

/* activation(weights * x + bias) for each image, where `x` may be off by what its bounds say; the attributes of the
 * activation are `name` and `name`_params. Weights are a row for each element of the result, and are right as they are.
 */
static bool run_layer(leati_ref_node *node, const char *name, const leati_ref_tensor *x,
                      const leati_ref_tensor *weights, const leati_ref_tensor *bias, leati_ref_tensor *out) {
  leat_attribute attributes[2];
  const leat_attribute *const pointers[2] = {&attributes[0], &attributes[1]};
  leati_ref_node layer = {.name = node->name, .attributes = pointers, .output_count = 1};
  char params[64];
  snprintf(params, sizeof(params), "%s_params", name);
  for (uint32_t k = 0; k < node->attribute_count; ++k) {
    const bool list = strcmp(node->attributes[k]->name, params) == 0;
    if (list || strcmp(node->attributes[k]->name, name) == 0) {
      attributes[layer.attribute_count] = *node->attributes[k];
      attributes[layer.attribute_count++].name = list ? "activation_params" : "activation";
    }
  }
  const int64_t rows = weights->dims[0];
  const int64_t columns = weights->dims[1];
  leati_ref_tensor_init(&layer.outputs[0], x->type, 2, (const int64_t[]){x->dims[0], rows});
  for (int64_t k = 0; k < layer.outputs[0].count; ++k) {
    leati_ref_products sum = {0};
    double off = 0;
    for (int64_t c = 0; c < columns; ++c) {
      const double weight = weights->f[k % rows * columns + c];
      const int64_t at = k / rows * columns + c;
      leati_ref_add_product(&sum, x->f[at], weight);
      off += fabs(weight) * x->bound[at];
    }
    store_sum(&layer.outputs[0], k, bias, k % rows, sum, columns);
    /* The sum is one of numbers that are off, so it also rounds what they are off by. */
    layer.outputs[0].bound[k] += off + leati_ref_bound_sum(columns + 1, off);
  }
  const bool ok = leati_ref_epilogue(&layer, NULL) || leati_ref_fail(node, "%s", layer.error);
  *out = layer.outputs[0];
  return ok;
}

/* The means of channels, and two layers of these; the result is a number for each channel of each image. */
static bool run_squeeze_excite(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  const leati_ref_tensor *squeeze = node->inputs[1];
  const leati_ref_tensor *excite = node->inputs[2];
  if (x->rank < 2 || squeeze->rank < 2 || excite->rank < 2 || squeeze->dims[1] != x->dims[1] ||
      excite->dims[0] != x->dims[1] || excite->dims[1] != squeeze->dims[0]) {
    return leati_ref_fail(node, "SqueezeExcite: channels do not agree");
  }
  int64_t dims[LEAT_MAX_RANK];
  for (int32_t d = 0; d < x->rank; ++d) {
    dims[d] = d < 2 ? x->dims[d] : 1;
  }
  leati_ref_tensor_init(&node->outputs[0], x->type, x->rank, dims);
  const int64_t count = node->outputs[0].count;
  if (count == 0) {
    return true;
  }
  const int64_t pixels = x->count / count;
  leati_ref_tensor means = {0};
  leati_ref_tensor inner = {0};
  leati_ref_tensor gates = {0};
  leati_ref_tensor_init(&means, x->type, 2, dims);
  for (int64_t k = 0; k < count; ++k) {
    double magnitude = 0;
    for (int64_t i = 0; i < pixels; ++i) {
      means.f[k] += x->f[k * pixels + i] / (double)pixels;
      magnitude += fabs(x->f[k * pixels + i]) / (double)pixels;
    }
    /* A sum that is divided. */
    means.bound[k] = leati_ref_bound_sum(pixels, magnitude) + leati_ref_bound_ulps(means.f[k], 2.5);
  }
  const bool ok = run_layer(node, "activation", &means, squeeze, leati_ref_input(node, 3), &inner) &&
                  run_layer(node, "gate_activation", &inner, excite, leati_ref_input(node, 4), &gates);
  for (int64_t k = 0; k < count && ok; ++k) {
    node->outputs[0].f[k] = gates.f[k];
    node->outputs[0].bound[k] = gates.bound[k];
  }
  leati_ref_tensor_clear(&means);
  leati_ref_tensor_clear(&inner);
  leati_ref_tensor_clear(&gates);
  return ok;
}

/* A tensor of int8 or uint8 less its zero points, one for all or one for each of its first dimension, as float64. */
static void centre(const leati_ref_tensor *x, const leati_ref_tensor *zero, leati_ref_tensor *out) {
  leati_ref_tensor_init(out, LEATI_REF_FLOAT64, x->rank, x->dims);
  for (int64_t k = 0; k < x->count; ++k) {
    const int64_t map = k / (x->count / x->dims[0]);
    out->f[k] = (double)(x->i[k] - (zero != NULL ? zero->i[zero->count > 1 ? map : 0] : 0));
  }
}

/* The sums of a convolution of int8 or uint8, as output 0; doubles hold them all. */
static bool run_sums(leati_ref_node *node, const leati_ref_tensor *x, const leati_ref_tensor *x_zero,
                     const leati_ref_tensor *weights, const leati_ref_tensor *w_zero) {
  if ((x_zero != NULL && (x_zero->count != 1 || x_zero->rank > 1)) ||
      (w_zero != NULL && (w_zero->rank > 1 || (w_zero->count != 1 && w_zero->count != weights->dims[0])))) {
    return leati_ref_fail(node, "%s: zero points that do not go together", node->name);
  }
  leati_ref_tensor centred[2];
  centre(x, x_zero, &centred[0]);
  centre(weights, w_zero, &centred[1]);
  const leati_ref_tensor *const inputs[2] = {&centred[0], &centred[1]};
  leati_ref_node conv = *node;
  conv.input_count = 2;
  conv.inputs = inputs;
  const bool done = convolve(&conv);
  memcpy(node->error, conv.error, sizeof(node->error));
  if (done) {
    const leati_ref_tensor *sums = &conv.outputs[0];
    leati_ref_tensor_init(&node->outputs[0], LEATI_REF_INT32, sums->rank, sums->dims);
    for (int64_t k = 0; k < sums->count; ++k) {
      node->outputs[0].i[k] = leati_ref_type_wrap(LEATI_REF_INT32, (int64_t)sums->f[k]);
    }
  }
  leati_ref_tensor_clear(&conv.outputs[0]);
  leati_ref_tensor_clear(&centred[0]);
  leati_ref_tensor_clear(&centred[1]);
  return done;
}

static bool run_conv_integer(leati_ref_node *node) {
  return run_sums(node, node->inputs[0], leati_ref_input(node, 2), node->inputs[1], leati_ref_input(node, 3));
}

/* The sums, each with its bias. */
static bool run_plain_qlinear_conv(leati_ref_node *node) {
  const leati_ref_tensor *weights = node->inputs[3], *bias = leati_ref_input(node, 8);
  const leati_ref_tensor *x_scale = node->inputs[1], *w_scale = node->inputs[4], *w_zero = node->inputs[5];
  const leati_ref_tensor *y_scale = node->inputs[6], *y_zero = node->inputs[7];
  const int64_t maps = weights->rank > 0 ? weights->dims[0] : 0;
  if (x_scale->count != 1 || y_scale->count != 1 || y_zero->count != 1 || x_scale->rank > 1 || y_scale->rank > 1 ||
      y_zero->rank > 1 || w_scale->rank > 1 || (w_scale->count != 1 && w_scale->count != maps) ||
      (w_zero->count != 1 && w_scale->count == 1) || (bias != NULL && (bias->rank != 1 || bias->count != maps))) {
    return leati_ref_fail(node, "QLinearConv: shapes that do not go together");
  }
  if (!run_sums(node, node->inputs[0], node->inputs[2], weights, w_zero)) {
    return false;
  }
  leati_ref_tensor sums = node->outputs[0];
  leati_ref_tensor *y = &node->outputs[0];
  leati_ref_tensor_init(y, y_zero->type, sums.rank, sums.dims);
  y->bound = leati_ref_alloc(y->count, sizeof(double));
  for (int64_t k = 0; k < y->count; ++k) {
    const int64_t map = k / (y->count / y->dims[0] / maps) % maps;
    const int64_t sum = leati_ref_type_wrap(LEATI_REF_INT32, sums.i[k] + (bias != NULL ? bias->i[map] : 0));
    const double x = (double)sum * x_scale->f[0] * w_scale->f[w_scale->count > 1 ? map : 0] / y_scale->f[0];
    leati_ref_requantise(y, k, x, y_zero->i[0]);
  }
  leati_ref_tensor_clear(&sums);
  return true;
}

/* That of com.microsoft may have its images with their channels last. */
static bool run_qlinear_conv(leati_ref_node *node) {
  return leati_ref_int(node, "channels_last", 0) == 0 ? run_plain_qlinear_conv(node)
                                                      : leati_ref_run_turned(node, run_plain_qlinear_conv);
}

/* The sums as floats, each with its bias. */
static bool run_quantized_conv(leati_ref_node *node) {
  const leati_ref_tensor *weights = node->inputs[1], *bias = leati_ref_input(node, 6);
  const leati_ref_tensor *x_scale = node->inputs[2], *w_scale = node->inputs[3];
  const int64_t maps = weights->rank > 0 ? weights->dims[0] : 0;
  if (x_scale->count != 1 || (w_scale->count != 1 && w_scale->count != maps) || (bias != NULL && bias->count != maps)) {
    return leati_ref_fail(node, "QuantizedConv: shapes that do not go together");
  }
  if (!run_sums(node, node->inputs[0], leati_ref_input(node, 4), weights, leati_ref_input(node, 5))) {
    return false;
  }
  leati_ref_tensor sums = node->outputs[0];
  leati_ref_tensor *y = &node->outputs[0];
  leati_ref_tensor_init(y, LEATI_REF_FLOAT32, sums.rank, sums.dims);
  y->bound = leati_ref_alloc(y->count, sizeof(double));
  for (int64_t k = 0; k < y->count; ++k) {
    const int64_t map = k / (y->count / y->dims[0] / maps) % maps;
    const double product = (double)sums.i[k] * x_scale->f[0] * w_scale->f[w_scale->count > 1 ? map : 0];
    y->f[k] = product + (bias != NULL ? bias->f[map] : 0);
    /* The sum, the product of the scales, theirs, and that plus the bias are rounded. */
    y->bound[k] = leati_ref_bound_sum(3, fabs(product)) + leati_ref_bound_ulps(y->f[k], 1);
  }
  leati_ref_tensor_clear(&sums);
  return leati_ref_quantise_output(node, leati_ref_input(node, 7), leati_ref_input(node, 8));
}

/* Sizes of ConvTranspose: of the window that a Conv would have to get from the output to the input. */
static void transposed_init(const leati_ref_node *node, const leati_ref_tensor *weights, window *w) {
  const leati_ref_tensor *x = node->inputs[0];
  const bool upper = leati_ref_string_is(node, "auto_pad", "NOTSET", "SAME_UPPER");
  const bool same = upper || leati_ref_string_is(node, "auto_pad", "NOTSET", "SAME_LOWER");
  const bool valid = leati_ref_string_is(node, "auto_pad", "NOTSET", "VALID");
  const bool sized = leati_ref_attribute(node, "output_shape") != NULL;
  w->spatial = x->rank - 2;
  w->taps = 1;
  w->places = 1;
  for (int32_t d = 0; d < w->spatial; ++d) {
    w->in[d] = x->dims[2 + d];
    w->kernel[d] = weights->dims[2 + d];
    w->stride[d] = leati_ref_ints_at(node, "strides", d, 1);
    w->dilation[d] = leati_ref_ints_at(node, "dilations", d, 1);
    w->begin[d] = valid ? 0 : leati_ref_ints_at(node, "pads", d, 0);
    w->end[d] = valid ? 0 : leati_ref_ints_at(node, "pads", w->spatial + d, 0);
    const int64_t full = w->stride[d] * (w->in[d] - 1) + leati_ref_ints_at(node, "output_padding", d, 0) +
                         (w->kernel[d] - 1) * w->dilation[d] + 1;
    w->out[d] = full - w->begin[d] - w->end[d];
    if (sized || same) {
      /* What is beyond the kernel's reach is no padding: with output_shape it is filled, with SAME it is left out, as
       * ONNX Runtime does. */
      const int64_t wanted = sized ? leati_ref_ints_at(node, "output_shape", d, 0) : w->in[d] * w->stride[d];
      const int64_t total = full > wanted ? full - wanted : 0;
      w->begin[d] = upper ? total / 2 : total - total / 2;
      w->end[d] = total - w->begin[d];
      w->out[d] = sized ? wanted : full - total;
    }
    w->out[d] = w->in[d] == 0 ? 0 : w->out[d];
    w->taps *= w->kernel[d];
    w->places *= w->out[d];
  }
}

/* The element of a channel whose tap `tap` meets place `place` of the output: its number, or -1. */
static int64_t transposed_at(const window *w, int64_t place, int64_t tap) {
  int64_t p[MAX_SPATIAL];
  int64_t t[MAX_SPATIAL];
  leati_ref_unravel(w->spatial, w->out, place, p);
  leati_ref_unravel(w->spatial, w->kernel, tap, t);
  int64_t at = 0;
  for (int32_t d = 0; d < w->spatial; ++d) {
    const int64_t moved = p[d] + w->begin[d] - t[d] * w->dilation[d];
    if (moved < 0 || moved % w->stride[d] != 0 || moved / w->stride[d] >= w->in[d]) {
      return -1;
    }
    at = at * w->in[d] + moved / w->stride[d];
  }
  return at;
}

static bool run_conv_transpose(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  const leati_ref_tensor *weights = node->inputs[1];
  const leati_ref_tensor *bias = leati_ref_input(node, 2);
  const int64_t groups = leati_ref_int(node, "group", 1);
  const int64_t maps = weights->dims[1];
  if (x->rank < 3 || weights->rank != x->rank || x->dims[1] != weights->dims[0] || x->dims[1] % groups != 0) {
    return leati_ref_fail(node, "ConvTranspose: input, weights and groups do not agree");
  }
  const int64_t depth = x->dims[1] / groups;
  window w = {0};
  transposed_init(node, weights, &w);
  window_output(node, &w, maps * groups);
  const int64_t elements = window_elements(&w);
  for (int64_t k = 0; k < node->outputs[0].count; ++k) {
    const int64_t place = k % w.places;
    const int64_t map = k / w.places % (maps * groups);
    const int64_t image = k / w.places / (maps * groups);
    const int64_t first = map / maps * depth;
    leati_ref_products sum = {0};
    for (int64_t tap = 0; tap < w.taps; ++tap) {
      const int64_t at = transposed_at(&w, place, tap);
      for (int64_t c = first; c < first + depth && at >= 0; ++c) {
        leati_ref_add_product(&sum, x->f[(image * x->dims[1] + c) * elements + at],
                              weights->f[(c * maps + map % maps) * w.taps + tap]);
      }
    }
    store_sum(&node->outputs[0], k, bias, map, sum, depth * w.taps);
  }
  return true;
}

/* The window of a pool; that of a global one is the image. */
static bool pool_init(leati_ref_node *node, window *w) {
  const leati_ref_tensor *x = node->inputs[0];
  const bool global = strncmp(node->name, "Global", 6) == 0;
  for (int32_t d = 0; d < x->rank - 2; ++d) {
    w->kernel[d] = global ? x->dims[2 + d] : leati_ref_ints_at(node, "kernel_shape", d, 1);
  }
  return window_init(node, w);
}

/* The number of an element within the whole input, with the spatial indices swapped for storage_order 1. */
static int64_t stored_at(const window *w, int64_t channel, int64_t at, bool column_major) {
  int64_t elements = window_elements(w);
  if (!column_major) {
    return channel * elements + at;
  }
  int64_t index[MAX_SPATIAL];
  leati_ref_unravel(w->spatial, w->in, at, index);
  int64_t swapped = 0;
  for (int32_t d = w->spatial - 1; d >= 0; --d) {
    swapped = swapped * w->in[d] + index[d];
  }
  return channel * elements + swapped;
}

static bool run_max_pool(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  bool column_major = leati_ref_int(node, "storage_order", 0) != 0;
  window w = {0};
  if (!pool_init(node, &w)) {
    return false;
  }
  window_output(node, &w, x->dims[1]);
  int64_t elements = window_elements(&w);
  for (int64_t k = 0; k < node->outputs[0].count; ++k) {
    int64_t channel = k / w.places;
    int64_t best = -1;
    for (int64_t tap = 0; tap < w.taps; ++tap) {
      int64_t at = window_at(&w, k % w.places, tap);
      if (at < 0) {
        continue;
      }
      int64_t here = channel * elements + at;
      int64_t there = channel * elements + best;
      /* A NaN is the maximum of what it is among. */
      if (best < 0 || (leati_ref_type_is_float(x->type) ? !(x->f[here] <= x->f[there]) && !isnan(x->f[there])
                                                        : x->i[here] > x->i[there])) {
        best = at;
      }
    }
    if (best < 0) {
      return leati_ref_fail(node, "MaxPool: a window lies in the padding alone");
    }
    leati_ref_tensor_copy_element(&node->outputs[0], k, x, channel * elements + best);
    if (leati_ref_type_is_float(x->type) && fabs(node->outputs[0].f[k]) < FLT_MIN) {
      node->outputs[0].bound[k] = FLT_MIN;
    }
    if (node->output_count > 1) {
      node->outputs[1].i[k] = stored_at(&w, channel, best, column_major);
    }
  }
  return true;
}

static bool run_nhwc_max_pool(leati_ref_node *node) {
  return leati_ref_run_turned(node, run_max_pool);
}

/* Images from columns: each element of a column is added to the pixel that it was taken from, if there is one. */
static bool run_col2im(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0], *image = node->inputs[1], *block = node->inputs[2];
  const int32_t spatial = (int32_t)image->count;
  int64_t dims[LEAT_MAX_RANK] = {x->dims[0]}, places[MAX_SPATIAL], stride[MAX_SPATIAL], dilation[MAX_SPATIAL];
  int64_t taps = 1, count = 1, begin[MAX_SPATIAL];
  if (spatial < 1 || spatial > MAX_SPATIAL || block->count != spatial || x->rank != 3) {
    return leati_ref_fail(node, "Col2Im: not of this form");
  }
  for (int32_t d = 0; d < spatial; ++d) {
    stride[d] = leati_ref_ints_at(node, "strides", d, 1);
    dilation[d] = leati_ref_ints_at(node, "dilations", d, 1);
    begin[d] = leati_ref_ints_at(node, "pads", d, 0);
    const int64_t room =
        image->i[d] + begin[d] + leati_ref_ints_at(node, "pads", spatial + d, 0) - (block->i[d] - 1) * dilation[d] - 1;
    if (image->i[d] < 1 || block->i[d] < 1 || stride[d] < 1 || dilation[d] < 1 || room < 0) {
      return leati_ref_fail(node, "Col2Im: no such blocks in such images");
    }
    places[d] = room / stride[d] + 1;
    taps *= block->i[d];
    count *= places[d];
    dims[2 + d] = image->i[d];
  }
  if (x->dims[1] % taps != 0 || x->dims[2] != count) {
    return leati_ref_fail(node, "Col2Im: not so many columns");
  }
  dims[1] = x->dims[1] / taps;
  leati_ref_tensor *y = &node->outputs[0];
  leati_ref_tensor_init(y, x->type, 2 + spatial, dims);
  double *const magnitude = leati_ref_alloc(y->count, sizeof(*magnitude));
  for (int64_t k = 0; k < x->count; ++k) {
    int64_t place[MAX_SPATIAL], tap[MAX_SPATIAL], at = k / count / taps;
    bool inside = true;
    leati_ref_unravel(spatial, places, k % count, place);
    leati_ref_unravel(spatial, block->i, k / count % taps, tap);
    for (int32_t d = 0; d < spatial; ++d) {
      const int64_t pixel = place[d] * stride[d] - begin[d] + tap[d] * dilation[d];
      inside = inside && pixel >= 0 && pixel < image->i[d];
      at = at * image->i[d] + pixel;
    }
    if (inside) {
      y->f[at] += x->f[k];
      magnitude[at] += fabs(x->f[k]);
    }
  }
  for (int64_t k = 0; k < y->count; ++k) {
    y->bound[k] = leati_ref_bound_sum(taps, magnitude[k]);
  }
  free(magnitude);
  return true;
}

/* The norm of a window: powers, which may each be off, added up, and a root of the sum. */
static bool run_lp_pool(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  const double p = (double)leati_ref_int(node, "p", 2);
  window w = {0};
  if (p < 1) {
    return leati_ref_fail(node, "LpPool: there is no such norm");
  }
  if (!pool_init(node, &w)) {
    return false;
  }
  window_output(node, &w, x->dims[1]);
  const int64_t elements = window_elements(&w);
  for (int64_t k = 0; k < node->outputs[0].count; ++k) {
    double sum = 0, off = 0;
    for (int64_t tap = 0; tap < w.taps; ++tap) {
      const int64_t at = window_at(&w, k % w.places, tap);
      const double v = at >= 0 ? fabs(x->f[k / w.places * elements + at]) : 0, power = pow(v, p);
      sum += power;
      off += power == 0 || p == 1 ? 0 : power * leati_ref_bound_pow(v, p) + FLT_MIN;
    }
    off += leati_ref_bound_sum(w.taps, sum);
    const double value = pow(sum, 1 / p);
    /* The root is steep where the sum is small. */
    const double most = pow(sum + off, 1 / p), least = pow(fmax(sum - off, 0), 1 / p);
    node->outputs[0].f[k] = value;
    node->outputs[0].bound[k] = fmax(most - value, value - least) +
                                (sum > 0 && p != 1 ? most * leati_ref_bound_pow(sum + off, 1 / p) : 0) + FLT_MIN;
  }
  return true;
}

static bool run_average_pool(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  bool with_padding = leati_ref_int(node, "count_include_pad", 0) != 0;
  window w = {0};
  if (!pool_init(node, &w)) {
    return false;
  }
  window_output(node, &w, x->dims[1]);
  int64_t elements = window_elements(&w);
  for (int64_t k = 0; k < node->outputs[0].count; ++k) {
    double sum = 0;
    double magnitude = 0;
    int64_t counted = 0;
    for (int64_t tap = 0; tap < w.taps; ++tap) {
      int64_t at = window_at(&w, k % w.places, tap);
      if (at >= 0) {
        double v = x->f[k / w.places * elements + at];
        sum += v;
        magnitude += fabs(v);
      }
      counted += at >= 0 || (at == -1 && with_padding);
    }
    /* The mean of nothing is 0. */
    double n = counted > 0 ? (double)counted : 1;
    double value = sum / n;
    node->outputs[0].f[k] = value;
    /* The division, or the multiplication by a rounded reciprocal. */
    node->outputs[0].bound[k] = leati_ref_bound_sum(w.taps, magnitude) / n + leati_ref_bound_ulps(value, 3.5);
  }
  return true;
}

const leati_ref_entry leati_ref_conv[] = {
    {"Conv", run_conv},
    {"ConvInteger", run_conv_integer},
    {"QLinearConv", run_qlinear_conv},
    {"QuantizedConv", run_quantized_conv},
    {"FusedConv", run_conv},
    {"NhwcConv", run_nhwc_conv},
    {"NhwcFusedConv", run_nhwc_conv},
    {"SqueezeExcite", run_squeeze_excite},
    {"ConvTranspose", run_conv_transpose},
    {"MaxPool", run_max_pool},
    {"NhwcMaxPool", run_nhwc_max_pool},
    {"AveragePool", run_average_pool},
    {"GlobalAveragePool", run_average_pool},
    {"LpPool", run_lp_pool},
    {"Col2Im", run_col2im},
    {"GlobalMaxPool", run_max_pool},
    {NULL, NULL},
};
