/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/answer.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "element.h"

/* The distance of two float32 numbers near 1. */
#define ULP 0x1p-23

float leati_answer_value(guint input, int64_t index) {
  guint32 x = (guint32)(index % LEATI_ANSWER_PERIOD) * 2654435761u + (input + 1) * 0x9e3779b9u;
  x = (x ^ x >> 15) * 0x2c1b3c6du;
  x ^= x >> 12;
  return (float)((int)(x & 2047u) - 1024) / 1024.0f;
}

guint8 leati_answer_byte(guint input, int64_t index) {
  return (guint8)((leati_answer_value(input, index) + 1) * 127.5f);
}

gboolean leati_answer_fast_float32;

/* The same as an operand of a product or convolution holds it. */
static double value_of(const leati_kernel *kernel, guint input, int64_t index) {
  const float value = leati_answer_value(input, index);
  guint16 stored;
  if (kernel->type.code != kDLBfloat) {
    return (double)value;
  }
  leati_element_write_float(LEATI_BFLOAT16, &stored, 0, (double)value);
  return leati_element_read(LEATI_BFLOAT16, &stored, 0);
}

/* A sum that grows term by term, and what bounds its error. */
typedef struct sum {
  double value;
  double magnitude; /* of all terms */
  int64_t terms;
} sum;

static void sum_add(sum *s, double term) {
  s->value += term;
  s->magnitude += fabs(term);
  ++s->terms;
}

/* n terms, each rounded once, summed in any order, are off by at most n u / (1 - n u) of their magnitude with u = 2^-24
 * (Higham, "Accuracy and Stability of Numerical Algorithms", 3.1); the 2 covers the denominator and the last store, the
 * rest partial sums that are flushed to zero. */
static double sum_bound(const sum *s) {
  return (double)(s->terms + 2) * ULP / 2 * s->magnitude + (double)(2 * s->terms + 1) * FLT_MIN;
}

/* The same of products of a row's type. Fast sums of float32 have three terms for each, and lack 3.01 2^-16 of its
 * magnitude (plugin/core/config.h, leati_float32_matmul). */
static double product_bound(const leati_kernel *kernel, sum s) {
  double lacking = 0;
  if (leati_answer_fast_float32 && kernel->type.bits == 32) {
    lacking = 3.01 * 0x1p-16 * s.magnitude + (double)s.terms * 0x1p-124;
    s.magnitude *= 1.02;
    s.terms *= 3;
  }
  return sum_bound(&s) + lacking;
}

static double answer_matmul(const leati_kernel *kernel, int64_t index, double *bound) {
  const int64_t m = kernel->size[1], n = kernel->size[2], k = kernel->size[3];
  const int64_t column = index % n, row = index / n; /* the row of all batches */
  const int64_t batch = row / m;
  sum s = {0};
  for (int64_t i = 0; i < k; ++i) {
    const int64_t at = kernel->size[4] != 0 ? column * k + i : (batch * k + i) * n + column;
    sum_add(&s, value_of(kernel, 0, row * k + i) * value_of(kernel, 1, at));
  }
  *bound = product_bound(kernel, s);
  return s.value;
}

/* Weights are (q - half of their range) scale. One may be rounded twice on its way to the row's type, and once to that:
 * a float16 by 2^-11 of itself, or 2^-25. */
static double answer_nbits(const leati_kernel *kernel, int64_t index, double *bound) {
  const int64_t bits = kernel->size[0], n = kernel->size[2], k = kernel->size[3], block = kernel->size[4];
  const int64_t column = index % n, row = index / n, blocks = (k + block - 1) / block;
  const double unit = kernel->type.bits == 16 ? 0x1p-11 : 0, least = kernel->type.bits == 16 ? 0x1p-25 : 0;
  double off = 0;
  sum s = {0};
  for (int64_t i = 0; i < k; ++i) {
    const int64_t at = column * blocks * block + i; /* of all weights */
    const int q = leati_answer_byte(1, at * bits / 8) >> at * bits % 8 & ((1 << bits) - 1);
    const double weight = (q - (1 << (bits - 1))) * (double)leati_answer_value(2, column * blocks + i / block);
    const double a = (double)leati_answer_value(0, row * k + i);
    sum_add(&s, a * weight);
    off += fabs(a) * (fabs(weight) * (2 * ULP + unit) + least);
  }
  *bound = sum_bound(&s) + off;
  return s.value;
}

static double answer_integer(const leati_kernel *kernel, int64_t index) {
  const int64_t n = kernel->size[1], k = kernel->size[2], column = index % n, row = index / n;
  int64_t total = 0;
  for (int64_t i = 0; i < k; ++i) {
    total += leati_answer_byte(0, row * k + i) * leati_answer_byte(1, i * n + column);
  }
  return (double)total;
}

/* Of so many elements some have the least value and the largest, -1 and 1023 / 1024. */
static double answer_dynamic(int64_t index) {
  const float scale = (float)((1 + 1023 / 1024.0) / 255);
  const double zero = rint(1 / (double)scale);
  return fmin(fmax(rint((double)leati_answer_value(0, index) / (double)scale) + zero, 0), 255);
}

/* Algorithms that transform, such as Winograd's with tiles of 4 x 4, lose some more digits, but what n roundings may
 * add up to at worst leaves room for the factor of about 10 that they are known for, from some hundred terms on; for
 * fewer nobody uses them. */
static double answer_conv(const leati_kernel *kernel, const leati_kernel_form *form, int64_t index, double *bound) {
  const int64_t in = kernel->size[1], features = kernel->size[2], side = kernel->size[3], extent = kernel->size[4],
                stride = kernel->size[5], pad = kernel->size[6], groups = kernel->size[7];
  const int64_t end = form->output.dims[3], x = index % end, y = index / end % end,
                feature = index / (end * end) % features, batch = index / (end * end * features);
  const int64_t channels = in / groups, first = feature / (features / groups) * channels;
  sum s = {0};
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t ky = 0; ky < extent; ++ky) {
      for (int64_t kx = 0; kx < extent; ++kx) {
        const int64_t row = y * stride + ky - pad, column = x * stride + kx - pad;
        if (row >= 0 && row < side && column >= 0 && column < side) {
          sum_add(&s, value_of(kernel, 0, ((batch * in + first + c) * side + row) * side + column) *
                          value_of(kernel, 1, ((feature * channels + c) * extent + ky) * extent + kx));
        }
      }
    }
  }
  *bound = product_bound(kernel, s);
  return s.value;
}

/* Windows lie side by side: each pixel comes of one pixel and one tap. */
static double answer_transposed(const leati_kernel *kernel, int64_t index, double *bound) {
  const int64_t in = kernel->size[1], features = kernel->size[2], side = kernel->size[3], extent = kernel->size[4];
  const int64_t end = side * extent, x = index % end, y = index / end % end, feature = index / (end * end) % features,
                batch = index / (end * end * features);
  sum s = {0};
  for (int64_t c = 0; c < in; ++c) {
    sum_add(&s, value_of(kernel, 0, ((batch * in + c) * side + y / extent) * side + x / extent) *
                    value_of(kernel, 1, ((c * features + feature) * extent + y % extent) * extent + x % extent));
  }
  *bound = product_bound(kernel, s);
  return s.value;
}

/* The values are at most 1, so exp(x - max) has an argument of at most 2 that is rounded once. Vulkan's exp() is off by
 * 3 + 2 |x| ULP, its division by 2.5; the error of a sum of positive terms is relative. */
static double answer_softmax(const leati_kernel *kernel, int64_t index, double *bound) {
  const int64_t columns = kernel->size[1], start = index / columns * columns;
  sum s = {0};
  for (int64_t i = 0; i < columns; ++i) {
    sum_add(&s, exp((double)leati_answer_value(0, start + i)));
  }
  const double value = exp((double)leati_answer_value(0, index)) / s.value;
  const double power = (3 + 2 * 2.0 + 2) * ULP;
  *bound = value * (2 * power + (double)(columns + 2) * ULP / 2 + 3 * ULP) + FLT_MIN;
  return value;
}

/* softmax(q k' / sqrt(head)) v, of values up to 1. A score is a sum of head terms, each at most 1 / sqrt(head), so that
 * its distance from the largest one is below 2 sqrt(head); exp() of that is off by 3 + 2 |x| ULP, and where scores come
 * in parts, by an exponential and a product more for each. With operands of float16, a weight may be rounded to it: by
 * 2^-11 of itself, and 2^-25 of the largest, which is 1. What is relative counts for the sum of weights too. */
static double answer_attention(const leati_kernel *kernel, int64_t index, double *bound) {
  const int64_t tokens = kernel->size[2], head = kernel->size[3], keys = kernel->size[4];
  const int64_t element = index % head, row = index / head;                        /* the row of all heads */
  const int64_t first = row / tokens / (kernel->size[1] / kernel->size[5]) * keys; /* of the keys of all heads */
  const double scale = 1 / sqrt((double)head), farthest = 2 * sqrt((double)head);
  const double score_off = (double)(head + 6) * ULP / 2 * sqrt((double)head);
  double top = -farthest;
  g_autofree double *scores = g_new(double, (gsize)keys);
  for (int64_t j = 0; j < keys; ++j) {
    sum s = {0};
    for (int64_t e = 0; e < head; ++e) {
      sum_add(&s,
              (double)leati_answer_value(0, row * head + e) * (double)leati_answer_value(1, (first + j) * head + e));
    }
    scores[j] = s.value * scale;
    top = fmax(top, scores[j]);
  }
  sum weights = {0}, s = {0};
  for (int64_t j = 0; j < keys; ++j) {
    const double weight = exp(scores[j] - top);
    sum_add(&weights, weight);
    sum_add(&s, weight * (double)leati_answer_value(2, (first + j) * head + element));
  }
  const double steps = 4 * ((double)keys / 16 + 1);
  const double weight_off = score_off + (3 + 3 * farthest + steps) * ULP + (kernel->type.bits == 16 ? 0x1p-11 : 0);
  const double lost = kernel->type.bits == 16 ? (double)keys * 0x1p-25 : 0;
  const double sums = (double)(keys + 4) * ULP / 2;
  *bound = ((weight_off + sums) * s.magnitude + lost) / weights.value +
           fabs(s.value / weights.value) * (weight_off + sums + lost / weights.value + 4 * ULP) + FLT_MIN;
  return s.value / weights.value;
}

/* scale (x - mean) / sqrt(variance + epsilon) + bias. The mean and the mean of squares are sums of n terms of
 * magnitude at most 1; an error e of the variance v changes the root by e / (2 v) of itself. inversesqrt() is off by 2
 * ULP, and there are four roundings more. */
static double answer_layer_norm(const leati_kernel *kernel, int64_t index, double *bound) {
  const int64_t columns = kernel->size[1], start = index / columns * columns, column = index - start;
  const double epsilon = (double)1e-5f, count = (double)columns, off = (count + 4) * ULP / 2;
  sum first = {0}, second = {0};
  for (int64_t i = 0; i < columns; ++i) {
    sum_add(&first, (double)leati_answer_value(0, start + i));
  }
  const double mean = first.value / count;
  for (int64_t i = 0; i < columns; ++i) {
    const double d = (double)leati_answer_value(0, start + i) - mean;
    sum_add(&second, d * d);
  }
  const double variance = second.value / count + epsilon;
  const double scale = (double)leati_answer_value(1, column), shift = (double)leati_answer_value(2, column);
  const double factor = scale / sqrt(variance), normal = factor * ((double)leati_answer_value(0, index) - mean);
  /* Of the mean, and of the variance as a mean of squares from which the square of the mean is taken. */
  const double mean_off = off, variance_off = off + 2 * mean_off;
  *bound = fabs(factor) * mean_off + fabs(normal) * variance_off / (2 * variance) +
           6 * ULP * (fabs(normal) + fabs(shift)) + FLT_MIN;
  return normal + shift;
}

static double answer_sum(const leati_kernel *kernel, int64_t index, double *bound) {
  const int64_t rows = kernel->size[0], columns = kernel->size[1];
  const gboolean down = kernel->size[2] != 0;
  sum s = {0};
  for (int64_t i = 0; i < (down ? rows : columns); ++i) {
    sum_add(&s, (double)leati_answer_value(0, down ? i * columns + index : index * columns + i));
  }
  *bound = sum_bound(&s);
  return s.value;
}

/* Of the first step, whose states are 0 before it. With such weights the states behind it follow from roundings; all
 * that is known of them is that they lie between -1 and 1. The slope of Sigmoid is 1 / 4 at most, that of Tanh 1, and
 * 2^-18 is more than what these functions are off by. */
static double answer_lstm(const leati_kernel *kernel, int64_t index, double *bound) {
  const int64_t batch = kernel->size[1], units = kernel->size[2], row = index / units, unit = index % units;
  *bound = 1;
  if (row >= batch) {
    return 0;
  }
  double gates[4];
  *bound = 0x1p-18;
  for (int g = 0; g < 4; ++g) {
    sum s = {0};
    for (int64_t k = 0; k < units; ++k) {
      sum_add(&s, (double)leati_answer_value(0, row * units + k) *
                      (double)leati_answer_value(1, (g * units + unit) * units + k));
    }
    gates[g] = s.value;
    *bound += g == 2 ? 0 : product_bound(kernel, s);
  }
  const double in = 1 / (1 + exp(-gates[0])), out = 1 / (1 + exp(-gates[1]));
  return out * tanh(in * tanh(gates[3]));
}

/* Vulkan has no erf(): 2^-18 is what the formula 7.1.26 of Abramowitz and Stegun and its roundings may be off by. Gelu
 * multiplies by x / 2 and rounds three times more. Relu and Identity are exact. */
static double answer_unary(const leati_kernel *kernel, int64_t index, double *bound) {
  const double x = (double)leati_answer_value(0, index);
  *bound = 0;
  if (strcmp(kernel->op, "Relu") == 0) {
    return fmax(x, 0);
  }
  if (strcmp(kernel->op, "Erf") == 0) {
    *bound = 0x1p-18;
    return erf(x);
  }
  if (strcmp(kernel->op, "Gelu") == 0) {
    *bound = fabs(x) / 2 * (0x1p-18 + 5 * ULP);
    return x / 2 * (1 + erf(x / sqrt(2.0)));
  }
  return x;
}

/* The answer where a float32, or a whole number, comes of it. */
static double answer_wide(const leati_kernel *kernel, const leati_kernel_form *form, int64_t index, double *bound) {
  switch (kernel->family) {
    case LEATI_KERNEL_MATMUL:
      return answer_matmul(kernel, index, bound);
    case LEATI_KERNEL_NBITS:
      return answer_nbits(kernel, index, bound);
    case LEATI_KERNEL_INTEGER:
      *bound = 0;
      return answer_integer(kernel, index);
    case LEATI_KERNEL_DYNAMIC:
      *bound = 0;
      return answer_dynamic(index);
    case LEATI_KERNEL_CONV:
      return answer_conv(kernel, form, index, bound);
    case LEATI_KERNEL_TRANSPOSED:
      return answer_transposed(kernel, index, bound);
    case LEATI_KERNEL_SOFTMAX:
      return answer_softmax(kernel, index, bound);
    case LEATI_KERNEL_ATTENTION:
      return answer_attention(kernel, index, bound);
    case LEATI_KERNEL_LAYER_NORM:
      return answer_layer_norm(kernel, index, bound);
    case LEATI_KERNEL_LSTM:
      return answer_lstm(kernel, index, bound);
    case LEATI_KERNEL_SUM:
      return answer_sum(kernel, index, bound);
    case LEATI_KERNEL_TRANSPOSE:
      *bound = 0;
      return (double)leati_answer_value(0, index % kernel->size[0] * kernel->size[1] + index / kernel->size[0]);
    case LEATI_KERNEL_UNARY:
      break;
  }
  return answer_unary(kernel, index, bound);
}

/* A float16 result is the float32 one, rounded once: by half the distance of two float16 numbers, which is 2^-11 of the
 * number, and 2^-25 below the normal ones; one of bfloat16 by 2^-8 of the number, and less than 2^-25. */
double leati_answer(const leati_kernel *kernel, const leati_kernel_form *form, int64_t index, double *bound) {
  const double value = answer_wide(kernel, form, index, bound);
  if (kernel->type.bits == 16) {
    *bound += (fabs(value) + *bound) * (kernel->type.code == kDLBfloat ? 0x1p-8 : 0x1p-11) + 0x1p-25;
  }
  return value;
}
