/* SPDX-License-Identifier: BSD-3-Clause */
#include "compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void differ(leati_comparison *out, double error, const char *format, ...) G_GNUC_PRINTF(3, 4);

static void differ(leati_comparison *out, double error, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  out->same = FALSE;
  out->error = error;
  vsnprintf(out->what, sizeof(out->what), format, arguments);
  va_end(arguments);
}

static gboolean same_kind(double got, double want) {
  return isfinite(want) ? isfinite(got) : isnan(want) ? isnan(got) : got == want;
}

static void compare_floats(const leati_ndarray *got, const leati_ndarray *want, double tolerance,
                           leati_comparison *out) {
  double largest = 0.0;
  double worst = 0.0;
  size_t place = 0;
  for (size_t i = 0; i < want->count; ++i) {
    const double a = leati_element_read(got->element, got->data, i);
    const double b = leati_element_read(want->element, want->data, i);
    if (!same_kind(a, b)) {
      differ(out, INFINITY, "element %" G_GSIZE_FORMAT " is %.9g and should be %.9g", i, a, b);
      return;
    }
    if (isfinite(b)) {
      largest = fmax(largest, fabs(b));
      if (fabs(a - b) > worst) {
        worst = fabs(a - b);
        place = i;
      }
    }
  }
  /* An output that is zero, or nearly so, everywhere has no scale of its own; rounding error of terms of size one,
   * which is what such outputs are the difference of, then is the scale. */
  out->error = worst / fmax(largest, leati_element_unit(want->element));
  if (out->error > tolerance) {
    differ(out, out->error, "element %" G_GSIZE_FORMAT " is %.9g and should be %.9g: error %.2e", place,
           leati_element_read(got->element, got->data, place), leati_element_read(want->element, want->data, place),
           out->error);
  }
}

void leati_compare(const leati_ndarray *got, const leati_ndarray *want, double tolerance, leati_comparison *out) {
  *out = (leati_comparison){.same = TRUE};
  if (got->element != want->element) {
    differ(out, INFINITY, "its type is %s and should be %s", leati_element_name(got->element),
           leati_element_name(want->element));
    return;
  }
  if (got->rank != want->rank || memcmp(got->dims, want->dims, want->rank * sizeof(*want->dims)) != 0) {
    char *is = leati_shape_text(got->dims, got->rank);
    char *should = leati_shape_text(want->dims, want->rank);
    differ(out, INFINITY, "its shape is %s and should be %s", is, should);
    g_free(is);
    g_free(should);
    return;
  }
  if (leati_element_is_float(want->element)) {
    compare_floats(got, want, tolerance, out);
    return;
  }
  const size_t size = leati_element_size(want->element);
  for (size_t i = 0; i < want->count; ++i) {
    const char *a = (const char *)got->data + i * size;
    const char *b = (const char *)want->data + i * size;
    if (memcmp(a, b, size) != 0) {
      differ(out, INFINITY, "element %" G_GSIZE_FORMAT " is %.17g and should be %.17g", i,
             leati_element_read(got->element, got->data, i), leati_element_read(want->element, want->data, i));
      return;
    }
  }
}

gboolean leati_distance_between(const leati_ndarray *a, const leati_ndarray *b, leati_distance *out) {
  double squares = 0.0;
  size_t count = 0;
  *out = (leati_distance){0};
  if (a->element != b->element || a->rank != b->rank || memcmp(a->dims, b->dims, a->rank * sizeof(*a->dims)) != 0) {
    return FALSE;
  }
  for (size_t i = 0; i < a->count; ++i) {
    const double x = leati_element_read(a->element, a->data, i);
    const double y = leati_element_read(b->element, b->data, i);
    if (!same_kind(x, y)) {
      return FALSE;
    }
    if (isfinite(x)) {
      out->most = fmax(out->most, fabs(x - y));
      squares += (x - y) * (x - y);
      ++count;
    }
  }
  out->rms = count > 0 ? sqrt(squares / (double)count) : 0.0;
  return TRUE;
}

/* Standard deviation of the finite elements; of a single one, its size. */
static double variation(const leati_ndarray *array) {
  double sum = 0.0;
  size_t count = 0;
  for (size_t i = 0; i < array->count; ++i) {
    const double value = leati_element_read(array->element, array->data, i);
    sum += isfinite(value) ? value : 0.0;
    count += isfinite(value);
  }
  const double mean = count > 1 ? sum / (double)count : 0.0;
  double squares = 0.0;
  for (size_t i = 0; i < array->count; ++i) {
    const double value = leati_element_read(array->element, array->data, i);
    squares += isfinite(value) ? (value - mean) * (value - mean) : 0.0;
  }
  return count > 0 ? sqrt(squares / (double)count) : 0.0;
}

gboolean leati_distance_allowed(const leati_distance *off, const leati_distance *spread, const leati_ndarray *want) {
  return off->most <= 2.0 * spread->most && off->rms <= 2.0 * spread->rms && 2.0 * spread->rms < variation(want);
}

void leati_tolerance_choose(leati_element element, size_t nodes, leati_tolerance *out) {
  const gboolean is_short = element == LEATI_FLOAT16 || element == LEATI_BFLOAT16;
  const int digits = element == LEATI_FLOAT64 ? 53 : element == LEATI_FLOAT16 ? 11 : element == LEATI_BFLOAT16 ? 8 : 24;
  /* Short floats are summed in float32, so their own rounding happens once a step. */
  const size_t fewest = is_short ? 64 : 1024;
  const size_t steps = MAX(nodes, fewest);
  const double sums = is_short ? 1.0 : 256.0;
  out->value = 2.0 * ldexp(1.0, -digits) * sums * sqrt((double)steps);
  out->ulps = (int64_t)ceil(sqrt((double)steps));
  out->reason =
      g_strdup_printf("%s: 2 sides x 2^-%d rounding%s x sqrt(%" G_GSIZE_FORMAT " steps); nodes: %" G_GSIZE_FORMAT,
                      leati_element_name(element), digits, is_short ? "" : " x sqrt(65,536 terms a sum)", steps, nodes);
}

const char *leati_tolerance_explain(void) {
  return "  The error of an output is max|got - want| / max|want| over its finite elements (the second at least 2^-24, "
         "so that\n"
         "  zeros have a scale); NaN and infinity must be in the same places; whole numbers and bools must be equal.\n"
         "  Two right ways to compute a model differ by rounding. Rounding once is off by at most 2^-24 (float32) of "
         "the\n"
         "  number. Errors of n roundings in a row add up like a random walk, to sqrt(n): a sum of up to 65,536 "
         "products is\n"
         "  off by 2^8 x 2^-24 of its scale, and up to 1,024 such steps one after another by 2^5 times that; both "
         "sides do\n"
         "  this, which makes 2 x 2^-24 x 2^8 x 2^5 = 2^-10, about 9.8e-04. A model of more nodes than 1,024 gets more "
         "by the\n"
         "  root of their number. float64 takes 2^-53 for 2^-24. float16 and bfloat16 take 2^-11 and 2^-8, no factor "
         "for sums\n"
         "  (those are kept in float32), and 64 steps or more. The coarsest type among a model's inputs and outputs "
         "counts.\n"
         "  A wrong kernel, a race or a mixed-up buffer is off by far more: 1e-2 to 1, or NaN.\n"
         "  Some models take such roundings further apart: a quantiser puts a number on the next step, a difference of "
         "two\n"
         "  numbers near 1 is near 0. An output beyond the tolerance is therefore compared once more with how far the "
         "CPU\n"
         "  provider's own results for these inputs lie apart: at each of its optimisation levels, and four times for "
         "inputs\n"
         "  of floating point, or weights where there are none, that are off by up to as many ulp as roundings add up "
         "to "
         "by the\n"
         "  above (32 up to 1,024 nodes). It is right if both its largest difference and the root of their mean square "
         "are at\n"
         "  most twice that, which a NOTE says.\n"
         "  Where twice that mean reaches the standard deviation of the output, right cannot be told from wrong, and "
         "it "
         "is\n"
         "  wrong. With --tolerance that number alone counts.";
}
