/* SPDX-License-Identifier: BSD-3-Clause */
/* Operators that sample images at computed places. */
#include <string.h>

#include "ops/core/bound.h"
#include "ops/core/node.h"

/* ---- Resize ----------------------------------------------------------------------------------------------------- */

/* One dimension of a Resize. */
typedef struct axis_scale {
  int64_t in;
  int64_t out;
  double scale;  /* out / in, or the number given */
  double start;  /* of the region of interest, relative */
  double finish; /* likewise its end */
} axis_scale;

/* Before version 11, Upsample included: scales alone, as input 1, and a way of its own from places to neighbours. */
static bool is_earlier(const leati_ref_node *node) {
  return node->since_version < 11;
}

static double original(const leati_ref_node *node, const axis_scale *a, int64_t at) {
  const char *key = "coordinate_transformation_mode";
  double x = (double)at;
  double in = (double)a->in;
  double out = (double)a->out;
  double half = (x + 0.5) / a->scale - 0.5;
  if (is_earlier(node) || leati_ref_string_is(node, key, "half_pixel", "asymmetric")) {
    return x / a->scale;
  }
  if (leati_ref_string_is(node, key, "half_pixel", "align_corners")) {
    return a->out == 1 ? 0 : x * (in - 1) / (out - 1);
  }
  if (leati_ref_string_is(node, key, "half_pixel", "pytorch_half_pixel")) {
    return a->out > 1 ? half : 0;
  }
  if (leati_ref_string_is(node, key, "half_pixel", "half_pixel_symmetric")) {
    double adjustment = out / (a->scale * in);
    return in / 2 * (1 - adjustment) + half;
  }
  if (leati_ref_string_is(node, key, "half_pixel", "tf_crop_and_resize")) {
    return a->out > 1 ? a->start * (in - 1) + x * (a->finish - a->start) * (in - 1) / (out - 1)
                      : 0.5 * (a->start + a->finish) * (in - 1);
  }
  return half;
}

static int64_t nearest(const leati_ref_node *node, const axis_scale *a, double x) {
  double at;
  if (is_earlier(node)) {
    at = a->scale < 1 ? ceil(x) : floor(x);
  } else if (leati_ref_string_is(node, "nearest_mode", "round_prefer_floor", "floor")) {
    at = floor(x);
  } else if (leati_ref_string_is(node, "nearest_mode", "round_prefer_floor", "ceil")) {
    at = ceil(x);
  } else if (leati_ref_string_is(node, "nearest_mode", "round_prefer_floor", "round_prefer_ceil")) {
    at = floor(x + 0.5);
  } else {
    at = ceil(x - 0.5);
  }
  double last = (double)a->in - 1;
  return (int64_t)(at < 0 ? 0 : at > last ? last : at);
}

/* The corner of the cell around a place: lower neighbour where the bit of the dimension is clear, else the upper one.
 * Its weight is the product of the distances to the opposite one. */
static int64_t corner(const leati_ref_tensor *x, const axis_scale *axes, const double *at, uint32_t bits,
                      double *weight) {
  int64_t index[LEAT_MAX_RANK];
  *weight = 1;
  for (int32_t d = 0; d < x->rank; ++d) {
    double last = (double)axes[d].in - 1;
    double place = at[d] < 0 ? 0 : at[d] > last ? last : at[d];
    double low = floor(place);
    bool upper = (bits >> d & 1) != 0;
    index[d] = (int64_t)low + (upper && low < last);
    *weight *= upper ? place - low : 1 - (place - low);
  }
  return leati_ref_ravel(x->rank, x->dims, index);
}

static bool resize_sizes(leati_ref_node *node, axis_scale *scales) {
  const leati_ref_tensor *x = node->inputs[0];
  const leati_ref_tensor *roi = is_earlier(node) ? NULL : leati_ref_input(node, 1);
  const leati_ref_tensor *factors = leati_ref_input(node, is_earlier(node) ? 1 : 2);
  const leati_ref_tensor *sizes = leati_ref_input(node, 3);
  bool crop = leati_ref_string_is(node, "coordinate_transformation_mode", "half_pixel", "tf_crop_and_resize");
  int32_t axes[LEAT_MAX_RANK];
  int32_t count;
  if (!leati_ref_axes(node, UINT32_MAX, x->rank, axes, &count)) {
    return false;
  }
  if (count < 0) {
    count = x->rank;
    for (int32_t d = 0; d < count; ++d) {
      axes[d] = d;
    }
  }
  for (int32_t d = 0; d < x->rank; ++d) {
    scales[d] = (axis_scale){.in = x->dims[d], .out = x->dims[d], .scale = 1, .start = 0, .finish = 1};
  }
  bool larger = leati_ref_string_is(node, "keep_aspect_ratio_policy", "stretch", "not_smaller");
  bool kept = larger || leati_ref_string_is(node, "keep_aspect_ratio_policy", "stretch", "not_larger");
  double common = 0;
  for (int32_t k = 0; kept && sizes != NULL && k < count; ++k) {
    double factor = (double)sizes->i[k] / (double)x->dims[axes[k]];
    common = k == 0 || (larger ? factor > common : factor < common) ? factor : common;
  }
  for (int32_t k = 0; k < count; ++k) {
    axis_scale *a = &scales[axes[k]];
    if (crop && roi != NULL) {
      a->start = roi->f[k];
      a->finish = roi->f[k + count];
    }
    if (factors != NULL && factors->count > 0) {
      a->scale = factors->f[k];
      a->out = (int64_t)floor((double)a->in * (crop ? a->finish - a->start : 1) * a->scale);
    } else if (sizes != NULL && sizes->count > 0) {
      a->out = kept ? (int64_t)floor(common * (double)a->in + 0.5) : sizes->i[k];
      a->scale = kept ? common : (double)a->out / (double)a->in;
    } else {
      return leati_ref_fail(node, "Resize needs scales or sizes");
    }
  }
  return true;
}

/* The filter of cubic or linear at a distance of `t` elements. */
static double filter_at(bool cubic, double a, double t) {
  t = fabs(t);
  if (!cubic) {
    return t < 1 ? 1 - t : 0;
  }
  return t <= 1 ? ((a + 2) * t - (a + 3)) * t * t + 1 : t < 2 ? a * (((t - 5) * t + 8) * t - 4) : 0;
}

/* A weighted sum, and what an implementation's may be off by. */
typedef struct weighing {
  double sum, weights;   /* of the products, and of the weights alone */
  double magnitude, off; /* of the products: their sizes, and what weights and elements that are off make */
  double weights_size, weights_off;
  int64_t terms;
} weighing;

/* What a filter makes of a line around the coordinate `at`, which may be off by `moved`. A weight is off by its
 * steepest slope times what its distance is off by, and by the roundings of the polynomial, no more than eight of any
 * of its terms, which are largest at its ends. */
static weighing filter_line(const leati_ref_node *node, const axis_scale *axis, const leati_ref_tensor *x,
                            int64_t begin, int64_t inner, double at, double moved) {
  const bool cubic = leati_ref_string_is(node, "mode", "nearest", "cubic");
  const bool exclude = leati_ref_int(node, "exclude_outside", 0) != 0;
  const double a = leati_ref_float(node, "cubic_coeff_a", -0.75F);
  const double stretch = leati_ref_int(node, "antialias", 0) != 0 && axis->scale < 1 ? axis->scale : 1;
  const double slope = cubic ? 3 * fabs(a + 2) + 2 * fabs(a + 3) + fabs(a) : 1;
  const double largest = cubic ? fabs(a + 2) + fabs(a + 3) + 1 + 48 * fabs(a) : 1;
  const double weight_off = slope * (stretch * moved + 8 * LEATI_REF_ULP) + 8 * LEATI_REF_ULP * largest;
  const double reach = (cubic ? 2 : 1) / stretch;
  weighing w = {0};
  for (int64_t n = (int64_t)floor(at - reach); n <= (int64_t)ceil(at + reach); ++n) {
    const bool outside = n < 0 || n >= axis->in;
    const double t = ((double)n - at) * stretch, weight = exclude && outside ? 0 : filter_at(cubic, a, t);
    const int64_t from = begin + (n < 0 ? 0 : n >= axis->in ? axis->in - 1 : n) * inner;
    if ((exclude && outside) || fabs(t) > (cubic ? 2 : 1) + stretch * moved) {
      continue;
    }
    w.sum += weight != 0 ? weight * x->f[from] : 0;
    w.weights += weight;
    w.magnitude += fabs(weight * x->f[from]);
    w.off += weight_off * fabs(x->f[from]) + (fabs(weight) + weight_off) * x->bound[from];
    w.weights_size += fabs(weight);
    w.weights_off += weight_off;
    ++w.terms;
  }
  return w;
}

/* Cubic, and what has antialias: along one dimension after the other. */
static bool run_taps(leati_ref_node *node, const axis_scale *scales) {
  const bool normalised = leati_ref_int(node, "antialias", 0) != 0 || leati_ref_int(node, "exclude_outside", 0) != 0;
  leati_ref_tensor x = {0}, y;
  const leati_ref_tensor *const given = node->inputs[0];
  leati_ref_tensor_init(&x, given->type, given->rank, given->dims);
  for (int64_t k = 0; k < x.count; ++k) {
    leati_ref_tensor_copy_element(&x, k, given, k);
  }
  for (int32_t d = x.rank - 1; d >= 0; --d) {
    if (scales[d].scale == 1 && scales[d].in == scales[d].out) {
      continue;
    }
    int64_t dims[LEAT_MAX_RANK], inner = 1;
    memcpy(dims, x.dims, sizeof(dims));
    dims[d] = scales[d].out;
    for (int32_t e = d + 1; e < x.rank; ++e) {
      inner *= dims[e];
    }
    leati_ref_tensor_init(&y, x.type, x.rank, dims);
    for (int64_t k = 0; x.count > 0 && k < y.count; ++k) {
      const double at = original(node, &scales[d], k / inner % dims[d]);
      const double moved = 4 * LEATI_REF_ULP * (fabs(at) + 1);
      const int64_t begin = k / inner / dims[d] * scales[d].in * inner + k % inner;
      const weighing w = filter_line(node, &scales[d], &x, begin, inner, at, moved);
      const double divisor = normalised ? w.weights : 1;
      const double off = w.off + leati_ref_bound_sum(2 * w.terms, w.magnitude);
      const double weights_off = normalised ? w.weights_off + leati_ref_bound_sum(w.terms, w.weights_size) : 0;
      y.f[k] = w.sum / divisor;
      /* A quotient of what is off; division is off by 2.5 units itself. */
      y.bound[k] = (off + fabs(y.f[k]) * weights_off) / fmax(fabs(divisor) - weights_off, DBL_MIN) +
                   leati_ref_bound_ulps(y.f[k], normalised ? 2.5 : 1);
    }
    leati_ref_tensor_clear(&x);
    x = y;
  }
  node->outputs[0] = x;
  return true;
}

static bool run_resize(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  bool linear = leati_ref_string_is(node, "mode", "nearest", "linear");
  bool crop = leati_ref_string_is(node, "coordinate_transformation_mode", "half_pixel", "tf_crop_and_resize");
  bool cubic = leati_ref_string_is(node, "mode", "nearest", "cubic");
  bool antialias = leati_ref_int(node, "antialias", 0) != 0;
  if (!linear && !cubic && !leati_ref_string_is(node, "mode", "nearest", "nearest")) {
    return leati_ref_fail(node, "Resize: only nearest, linear and cubic are computed here");
  }
  if ((antialias && !linear && !cubic) || (leati_ref_int(node, "exclude_outside", 0) != 0 && !cubic)) {
    return leati_ref_fail(node, "Resize: a filter for a mode that has none");
  }
  if ((antialias || cubic) && (crop || is_earlier(node))) {
    return leati_ref_fail(node, "Resize: cubic and antialias of this form are not computed here");
  }
  if ((linear || cubic) && !leati_ref_type_is_float(x->type)) {
    return leati_ref_fail(node, "Resize: only floats are interpolated here");
  }
  axis_scale scales[LEAT_MAX_RANK];
  if (!resize_sizes(node, scales)) {
    return false;
  }
  if (cubic || antialias) {
    return run_taps(node, scales);
  }
  int64_t dims[LEAT_MAX_RANK];
  double least = INFINITY;
  double most = -INFINITY;
  for (int32_t d = 0; d < x->rank; ++d) {
    dims[d] = scales[d].out;
  }
  for (int64_t k = 0; linear && k < x->count; ++k) {
    least = fmin(least, x->f[k]);
    most = fmax(most, x->f[k]);
  }
  leati_ref_tensor *y = &node->outputs[0];
  leati_ref_tensor_init(y, x->type, x->rank, dims);
  if (x->count == 0) {
    return true;
  }
  for (int64_t k = 0; k < y->count; ++k) {
    int64_t index[LEAT_MAX_RANK];
    double at[LEAT_MAX_RANK];
    double moved = 0;
    bool outside = false;
    leati_ref_unravel(y->rank, y->dims, k, index);
    for (int32_t d = 0; d < x->rank; ++d) {
      at[d] = scales[d].scale == 1 && !crop ? (double)index[d] : original(node, &scales[d], index[d]);
      outside = outside || at[d] < 0 || at[d] > (double)scales[d].in - 1;
      /* The place is off by 4 roundings of a number no larger than itself plus one. */
      moved += scales[d].scale == 1 ? 0 : 4 * LEATI_REF_ULP * (fabs(at[d]) + 1);
    }
    if (crop && outside) {
      y->f[k] = leati_ref_float(node, "extrapolation_value", 0);
      continue;
    }
    if (!linear) {
      for (int32_t d = 0; d < x->rank; ++d) {
        index[d] = nearest(node, &scales[d], at[d]);
      }
      leati_ref_tensor_copy_element(y, k, x, leati_ref_ravel(x->rank, x->dims, index));
      continue;
    }
    double value = 0;
    double magnitude = 0;
    for (uint32_t bits = 0; bits < 1u << x->rank; ++bits) {
      double weight;
      int64_t from = corner(x, scales, at, bits, &weight);
      if (weight != 0) {
        value += weight * x->f[from];
        magnitude += weight * fabs(x->f[from]);
      }
    }
    y->f[k] = value;
    /* A place that is off moves the value along a slope of at most the whole range by element, and 4 roundings by
     * resized dimension make up the weights and the sum. */
    y->bound[k] = moved * (most - least) + leati_ref_bound_ulps(magnitude, 4 * x->rank);
  }
  return true;
}

/* ---- GridSample ------------------------------------------------------------------------------------------------- */

enum { SAMPLE_LINEAR, SAMPLE_NEAREST, SAMPLE_CUBIC };

/* How a GridSample samples. */
typedef struct sampling {
  int mode; /* a SAMPLE_... */
  bool aligned, zeros, reflected;
} sampling;

/* A place along a dimension, in elements, and how far that of an implementation may be off. */
typedef struct place {
  double at, off;
} place;

/* The result of a step of float32: off by a unit in the last place more, unless it and what it is made of are numbers
 * of that type, which a step that is rounded correctly gives as they are. */
static place rounded(double value, double off) {
  const bool exact = off == 0 && (double)(float)value == value;
  return (place){.at = value, .off = off + (exact ? 0 : LEATI_REF_ULP * fabs(value) + FLT_MIN)};
}

/* Where a number of the grid lies. What is 2^63 elements away, or not a number, is outside of the image, or counts as
 * -1 by reflection (backend.h). */
static place locate(const sampling *by, double number, int64_t size) {
  place p = rounded(number + 1, 0);
  if (by->aligned) {
    p = rounded(p.at * (double)(size - 1) / 2, p.off * (double)(size - 1) / 2);
  } else {
    p = rounded(p.at * (double)size, p.off * (double)size);
    p = rounded(p.at - 1, p.off);
    p = (place){.at = p.at / 2, .off = p.off / 2};
  }
  if (fabs(p.at) < 0x1p63) {
    return p;
  }
  const double edge = by->aligned ? 0 : -0.5;
  return (place){.at = by->reflected ? edge : p.at > 0 ? 0x1p63 : -0x1p63};
}

/* Which element is in the place of element `i` of a line, or -1 if that counts as 0. */
static int64_t padded(const sampling *by, double i, int64_t size) {
  const double low = by->aligned ? 0 : -0.5;
  const double range = (double)(by->aligned ? size - 1 : size);
  const double last = (double)size - 1;
  if (by->zeros && (i < 0 || i > last)) {
    return -1;
  }
  if (by->reflected && range > 0) {
    /* There and back again. */
    const double turn = fmod(fmod(i - low, 2 * range) + 2 * range, 2 * range);
    i = low + (turn > range ? 2 * range - turn : turn);
  }
  return (int64_t)(i < 0 ? 0 : i > last ? last : i);
}

/* Weights of the elements around a place `t` behind one of them: of two, or of four by cubic convolution with the
 * parameter -0.75. */
static int64_t weigh(int mode, double t, double *weights) {
  if (mode == SAMPLE_NEAREST) {
    weights[0] = 1;
    return 1;
  }
  if (mode == SAMPLE_LINEAR) {
    weights[0] = 1 - t;
    weights[1] = t;
    return 2;
  }
  for (int k = 0; k < 4; ++k) {
    const double d = fabs(t + 1 - k);
    weights[k] = d < 1 ? (1.25 * d - 2.25) * d * d + 1 : -0.75 * (((d - 5) * d + 8) * d - 4);
  }
  return 4;
}

/* Samples one channel of an image, of which `most` is the largest magnitude, at a place. */
static double sample(const sampling *by, const leati_ref_tensor *x, int64_t first, const place *places, double most,
                     double *bound) {
  const int32_t dimensions = x->rank - 2;
  double weights[3][4], base[3], value = 0, magnitude = 0, moved = 0;
  int64_t each = 1, all = 1;
  bool certain = true;
  for (int32_t d = 0; d < dimensions; ++d) {
    const place p = places[d];
    base[d] = by->mode == SAMPLE_NEAREST ? rint(p.at) : floor(p.at);
    each = weigh(by->mode, p.at - base[d], weights[d]);
    base[d] -= by->mode == SAMPLE_CUBIC ? 1 : 0;
    all *= each;
    moved += p.off;
    certain = certain && rint(p.at - p.off) == rint(p.at + p.off);
  }
  for (int64_t k = 0; k < all; ++k) {
    int64_t at = 0, rest = k;
    double weight = 1;
    for (int32_t d = 0; d < dimensions; ++d) {
      const int64_t size = x->dims[2 + d], from = padded(by, base[d] + (double)(rest % each), size);
      at = at < 0 || from < 0 ? -1 : at * size + from;
      weight *= weights[d][rest % each];
      rest /= each;
    }
    const double element = at < 0 ? 0 : x->f[first + at];
    value += by->mode == SAMPLE_NEAREST ? element : weight * element;
    magnitude += fabs(weight * element);
  }
  /* The nearest element is what it is, or one of several if a place that is off decides. Else a place that is off moves
   * the value along a slope: of at most the difference of two elements by linear interpolation; by cubic convolution of
   * at most the sum of its weights' slopes, 4.2, times that of the weights of the other dimension, 1.375. 5 roundings
   * by dimension make up products and sum. A cubic weight is off by up to 24 units, if its polynomial, whose terms are
   * up to 4.5, is computed step by step; there are 4 in each of two dimensions. */
  if (by->mode == SAMPLE_NEAREST) {
    *bound = certain ? 0 : 2 * most;
  } else {
    const bool cubic = by->mode == SAMPLE_CUBIC;
    *bound = moved * (cubic ? 5.8 : 2) * most + (cubic ? 2 * 4 * 24 * 1.375 * LEATI_REF_ULP * most : 0) +
             leati_ref_bound_ulps(magnitude, 5 * dimensions);
  }
  return value;
}

static bool run_grid_sample(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  const leati_ref_tensor *grid = node->inputs[1];
  const int32_t dimensions = x->rank - 2;
  const bool old = node->since_version < 20;
  if (!leati_ref_type_is_float(x->type) || dimensions < 2 || dimensions > 3 || grid->rank != x->rank ||
      grid->dims[0] != x->dims[0] || grid->dims[x->rank - 1] != dimensions) {
    return leati_ref_fail(node, "GridSample: only floats of images and volumes are sampled here");
  }
  const sampling by = {.mode = leati_ref_string_is(node, "mode", "linear", "nearest")                   ? SAMPLE_NEAREST
                               : leati_ref_string_is(node, "mode", "linear", old ? "bicubic" : "cubic") ? SAMPLE_CUBIC
                                                                                                        : SAMPLE_LINEAR,
                       .aligned = leati_ref_int(node, "align_corners", 0) != 0,
                       .zeros = leati_ref_string_is(node, "padding_mode", "zeros", "zeros"),
                       .reflected = leati_ref_string_is(node, "padding_mode", "zeros", "reflection")};
  if (by.mode == SAMPLE_CUBIC && dimensions == 3) {
    return leati_ref_fail(node, "GridSample: volumes are not sampled by cubic convolution here");
  }
  int64_t dims[LEAT_MAX_RANK] = {x->dims[0], x->dims[1]};
  int64_t inside = 1;
  for (int32_t d = 0; d < dimensions; ++d) {
    dims[2 + d] = grid->dims[1 + d];
    inside *= x->dims[2 + d];
  }
  leati_ref_tensor *y = &node->outputs[0];
  leati_ref_tensor_init(y, x->type, x->rank, dims);
  double most = 0;
  for (int64_t k = 0; k < x->count; ++k) {
    most = fmax(most, fabs(x->f[k]));
  }
  const int64_t channels = dims[1], spots = y->count == 0 ? 0 : y->count / dims[0] / channels;
  if (y->count > 0 && inside == 0) {
    return leati_ref_fail(node, "GridSample: images without elements cannot be sampled");
  }
  for (int64_t k = 0; k < y->count; ++k) {
    place places[3];
    const int64_t image = k / spots / channels, numbers = (image * spots + k % spots) * dimensions;
    for (int32_t d = 0; d < dimensions; ++d) {
      places[d] = locate(&by, grid->f[numbers + dimensions - 1 - d], x->dims[2 + d]);
    }
    y->f[k] = sample(&by, x, k / spots * inside, places, most, &y->bound[k]);
  }
  return true;
}

/* ---- AffineGrid ------------------------------------------------------------------------------------------------- */

static bool run_affine_grid(leati_ref_node *node) {
  const leati_ref_tensor *theta = node->inputs[0], *size = node->inputs[1];
  const bool aligned = leati_ref_int(node, "align_corners", 0) != 0;
  const int32_t spatial = (int32_t)size->count - 2;
  int64_t dims[LEAT_MAX_RANK] = {theta->dims[0]};
  if (spatial < 2 || spatial > 3 || theta->rank != 3 || theta->dims[0] != size->i[0] || theta->dims[1] != spatial ||
      theta->dims[2] != spatial + 1) {
    return leati_ref_fail(node, "AffineGrid: not of this form");
  }
  for (int32_t d = 0; d < spatial; ++d) {
    dims[1 + d] = size->i[2 + d];
  }
  dims[1 + spatial] = spatial;
  leati_ref_tensor *y = &node->outputs[0];
  leati_ref_tensor_init(y, theta->type, spatial + 2, dims);
  for (int64_t k = 0; k < y->count; ++k) {
    int64_t index[LEAT_MAX_RANK];
    leati_ref_unravel(y->rank, dims, k, index);
    const double *const row = &theta->f[(index[0] * spatial + index[1 + spatial]) * (spatial + 1)];
    double sum = row[spatial], magnitude = fabs(row[spatial]);
    for (int32_t d = 0; d < spatial; ++d) {
      /* The last dimension comes first. */
      const int64_t n = dims[spatial - d], steps = aligned ? n - 1 : n;
      const double lies = steps == 0 ? 1 : (double)(2 * index[spatial - d] + (aligned ? 0 : 1) - steps) / (double)steps;
      sum += row[d] * lies;
      magnitude += fabs(row[d] * lies);
    }
    y->f[k] = sum;
    /* Places are off by three units: a quotient, and what is taken off it. */
    y->bound[k] = leati_ref_bound_sum(spatial + 1, magnitude) + 4 * LEATI_REF_ULP * magnitude;
  }
  return true;
}

const leati_ref_entry leati_ref_image[] = {
    {"AffineGrid", run_affine_grid}, {"Resize", run_resize}, {"Upsample", run_resize},
    {"GridSample", run_grid_sample}, {NULL, NULL},
};
