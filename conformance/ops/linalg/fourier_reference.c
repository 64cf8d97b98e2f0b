/* SPDX-License-Identifier: BSD-3-Clause */
/* DFT and STFT, as they are defined. */
#include <math.h>
#include <string.h>

#include "ops/core/bound.h"
#include "ops/core/node.h"

#define TURN 6.283185307179586476925

/* By how much a factor may be off: a sine or cosine by 1.3e-7, and by the three roundings of an angle below pi/4. */
#define FACTOR_OFF 2.5e-7

/* A line that is transformed: where its elements are, of one number or two. */
typedef struct line {
  const leati_ref_tensor *x, *window;
  int64_t first, step, count; /* in elements */
  int64_t numbers;
  int64_t size; /* of the transform */
  bool inverse, halved;
} line;

/* The cosine of `part` turns of `whole`, from 0 to 1, which is 0 at a quarter: an infinity times that is not a number.
 */
static double cosine_of(int64_t part, int64_t whole) {
  return 4 * part == whole || 4 * part == 3 * whole ? 0 : cos(TURN * (double)part / (double)whole);
}

static double sine_of(int64_t part, int64_t whole) {
  return 2 * part == whole ? 0 : sin(TURN * (double)part / (double)whole);
}

/* Sums up one element of the result. Each product of it is off by its factor and rounded, and so are all sums. */
static void sum_up(const line *l, int64_t bin, double out[2], double bound[2]) {
  const int64_t all = l->halved ? l->size / 2 + 1 : l->size;
  const int64_t terms = l->count < all ? l->count : all;
  double magnitude = 0;
  out[0] = out[1] = 0;
  for (int64_t n = 0; n < terms; ++n) {
    const int64_t at = (l->first + n * l->step) * l->numbers;
    const double weight = (l->window != NULL ? l->window->f[n] : 1) * (l->halved && n != 0 && 2 * n != l->size ? 2 : 1);
    const double real = weight * l->x->f[at], imaginary = l->numbers == 2 ? weight * l->x->f[at + 1] : 0;
    const int64_t part = n * bin % l->size;
    const double cosine = cosine_of(part, l->size), sine = (l->inverse ? 1 : -1) * sine_of(part, l->size);
    out[0] += real * cosine - imaginary * sine;
    out[1] += real * sine + imaginary * cosine;
    magnitude += fabs(real) + fabs(imaginary);
  }
  const double scale = l->inverse ? 1 / (double)l->size : 1;
  for (int k = 0; k < 2; ++k) {
    out[k] *= scale;
    bound[k] =
        scale * (magnitude * FACTOR_OFF + leati_ref_bound_sum(terms + 4, magnitude)) + leati_ref_bound_ulps(out[k], 2);
  }
}

static void give(leati_ref_tensor *y, int64_t at, int64_t given, const double values[2], const double bounds[2]) {
  for (int64_t k = 0; k < given; ++k) {
    y->f[at * given + k] = values[k];
    y->bound[at * given + k] = bounds[k];
  }
}

/* The number that an input is, or another if it is absent. */
static int64_t number_of(const leati_ref_node *node, uint32_t i, int64_t otherwise) {
  const leati_ref_tensor *x = leati_ref_input(node, i);
  return x != NULL && x->count > 0 ? x->i[0] : otherwise;
}

static bool is_number(const leati_ref_node *node, uint32_t i) {
  const leati_ref_tensor *x = leati_ref_input(node, i);
  return x == NULL || (x->count == 1 && x->rank <= 1);
}

static bool run_dft(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  const bool old = node->since_version < 20;
  const bool onesided = leati_ref_int(node, "onesided", 0) != 0;
  line l = {.x = x, .inverse = leati_ref_int(node, "inverse", 0) != 0};
  l.halved = l.inverse && onesided;
  int32_t axis;
  if (!is_number(node, 1) || !is_number(node, 2) ||
      !leati_ref_axis(node, old ? leati_ref_int(node, "axis", 1) : number_of(node, 2, -2), x->rank, &axis)) {
    return leati_ref_fail(node, "DFT: no axis");
  }
  l.numbers = x->dims[x->rank - 1];
  l.count = x->dims[axis];
  l.size = number_of(node, 1, l.halved ? 2 * (l.count - 1) : l.count);
  if (axis == x->rank - 1 || (l.numbers != 1 && l.numbers != 2) || (onesided && l.numbers != (l.inverse ? 2 : 1)) ||
      l.size < 1) {
    return leati_ref_fail(node, "DFT: no such transform");
  }
  int64_t dims[LEAT_MAX_RANK];
  int64_t inner = 1, outer = 1;
  memcpy(dims, x->dims, (size_t)x->rank * sizeof(dims[0]));
  for (int32_t d = 0; d < x->rank - 1; ++d) {
    inner *= d > axis ? dims[d] : 1;
    outer *= d < axis ? dims[d] : 1;
  }
  const int64_t given = l.halved ? 1 : 2, bins = onesided && !l.inverse ? l.size / 2 + 1 : l.size;
  dims[axis] = bins;
  dims[x->rank - 1] = given;
  leati_ref_tensor_init(&node->outputs[0], x->type, x->rank, dims);
  l.step = inner;
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t k = 0; k < bins; ++k) {
      for (int64_t i = 0; i < inner; ++i) {
        double values[2], bounds[2];
        l.first = o * l.count * inner + i;
        sum_up(&l, k, values, bounds);
        give(&node->outputs[0], (o * bins + k) * inner + i, given, values, bounds);
      }
    }
  }
  return true;
}

static bool run_stft(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0], *window = leati_ref_input(node, 2);
  const bool onesided = leati_ref_int(node, "onesided", 1) != 0;
  if (x->rank != 3 || !is_number(node, 1) || !is_number(node, 3) || (window != NULL && window->rank != 1)) {
    return leati_ref_fail(node, "STFT: ranks do not go together");
  }
  const int64_t samples = x->dims[1], step = number_of(node, 1, 0);
  line l = {.x = x, .window = window, .step = 1, .numbers = x->dims[2]};
  l.size = l.count = number_of(node, 3, window != NULL ? window->count : samples);
  if (step < 1 || l.size < 1 || l.size > samples || (window != NULL && window->count != l.size) ||
      (l.numbers != 1 && l.numbers != 2) || (onesided && l.numbers != 1)) {
    return leati_ref_fail(node, "STFT: no such frames");
  }
  const int64_t frames = (samples - l.size) / step + 1, bins = onesided ? l.size / 2 + 1 : l.size;
  leati_ref_tensor_init(&node->outputs[0], x->type, 4, (const int64_t[4]){x->dims[0], frames, bins, 2});
  for (int64_t at = 0; at < x->dims[0] * frames * bins; ++at) {
    double values[2], bounds[2];
    l.first = at / bins / frames * samples + at / bins % frames * step;
    sum_up(&l, at % bins, values, bounds);
    give(&node->outputs[0], at, 2, values, bounds);
  }
  return true;
}

const leati_ref_entry leati_ref_fourier[] = {{"DFT", run_dft}, {"STFT", run_stft}, {NULL, NULL}};
