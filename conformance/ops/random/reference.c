/* SPDX-License-Identifier: BSD-3-Clause */
/* Operators that make random numbers, by the generator and the counters that abi/leat/backend.h names. Without a seed
 * there is no telling what they give. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ops/core/bound.h"
#include "ops/core/node.h"
#include "ops/random/philox.h"

static const double turn = 6.283185307179586;

/* Which numbers a node takes. */
typedef struct numbers {
  uint32_t key[2];
  uint64_t stream;
} numbers;

/* `offset` is the number of the input that is added to the stream, if there is one. */
static bool read_numbers(leati_ref_node *node, uint32_t offset, numbers *out) {
  const leat_attribute *const seed = leati_ref_attribute(node, "seed");
  const leati_ref_tensor *const more = leati_ref_input(node, offset);
  if (seed == NULL) {
    return leati_ref_fail(node, "%s: nobody knows its numbers without a seed", node->name);
  }
  memset(out, 0, sizeof(*out));
  if (seed->type == LEAT_ATTRIBUTE_FLOAT) {
    memcpy(out->key, &seed->f, sizeof(seed->f));
  } else {
    out->key[0] = (uint32_t)(uint64_t)seed->i;
    out->key[1] = (uint32_t)((uint64_t)seed->i >> 32);
  }
  out->stream = (uint64_t)leati_ref_int(node, "offset", 0) + (more != NULL ? (uint64_t)more->i[0] : 0);
  return true;
}

static void words_of(const numbers *from, uint32_t block, uint32_t attempt, uint32_t out[4]) {
  const uint32_t counter[4] = {block, attempt, (uint32_t)from->stream, (uint32_t)(from->stream >> 32)};
  leati_ref_philox(counter, from->key, out);
}

/* The word of an element. */
static uint32_t word_of(const numbers *from, int64_t element) {
  uint32_t words[4];
  words_of(from, (uint32_t)(element / 4), 0, words);
  return words[element % 4];
}

static double uniform_of(uint32_t word) {
  return (double)(word >> 8) * 0x1p-24;
}

/* (word + 1) 2^-32, cut off behind 24 significant bits. */
static double positive_of(uint32_t word) {
  int exponent;
  const double fraction = frexp((double)word + 1, &exponent);
  return ldexp(floor(ldexp(fraction, 24)), exponent - 24 - 32);
}

/* A normal number of the two words of a pair, and the radius that it and its neighbour have. */
static double normal_of(uint32_t first, uint32_t second, bool is_second, double *out_radius) {
  const double angle = turn * (double)(second >> 6) * 0x1p-26;
  *out_radius = sqrt(-2 * log(positive_of(first)));
  return *out_radius * (is_second ? sin(angle) : cos(angle));
}

/* Gives output 0 the type that `dtype` says, or `otherwise`, and a shape. */
static bool make_output(leati_ref_node *node, leati_ref_type otherwise, int32_t rank, const int64_t *dims) {
  const int64_t number = leati_ref_int(node, "dtype", 0);
  const leati_ref_type type = number != 0 ? leati_ref_type_from_onnx(number) : otherwise;
  if (type == LEATI_REF_TYPE_COUNT) {
    return leati_ref_fail(node, "%s: the reference has no such type", node->name);
  }
  leati_ref_tensor_init(&node->outputs[0], type, rank, dims);
  return true;
}

/* `normal`: mean and scale, else low and high. Sums and products are rounded once each. */
static bool run_normal_uniform(leati_ref_node *node, bool like, bool normal) {
  const leat_attribute *const shape = leati_ref_attribute(node, "shape");
  numbers from;
  if (!read_numbers(node, like ? UINT32_MAX : 0, &from) ||
      !(like ? make_output(node, node->inputs[0]->type, node->inputs[0]->rank, node->inputs[0]->dims)
             : make_output(node, LEATI_REF_FLOAT32, (int32_t)shape->count, shape->ints))) {
    return false;
  }
  const float start = leati_ref_float(node, normal ? "mean" : "low", 0);
  const float width = leati_ref_float(node, normal ? "scale" : "high", 1) - (normal ? 0 : start);
  leati_ref_tensor *const y = &node->outputs[0];
  for (int64_t k = 0; k < y->count; ++k) {
    uint32_t words[4];
    double number, off = 0;
    words_of(&from, (uint32_t)(k / 4), 0, words);
    if (normal) {
      double radius;
      number = normal_of(words[k % 4 / 2 * 2], words[k % 4 / 2 * 2 + 1], k % 2 != 0, &radius);
      /* What backend.h allows. */
      off = 0x1p-21 * radius;
    } else {
      number = uniform_of(words[k % 4]);
    }
    y->f[k] = (double)start + (double)width * number;
    y->bound[k] = fabs(width) * off + LEATI_REF_ULP * (fabs(width * number) + fabs(y->f[k])) + FLT_MIN;
  }
  return true;
}

static bool run_normal(leati_ref_node *node) {
  return run_normal_uniform(node, false, true);
}
static bool run_normal_like(leati_ref_node *node) {
  return run_normal_uniform(node, true, true);
}
static bool run_uniform(leati_ref_node *node) {
  return run_normal_uniform(node, false, false);
}
static bool run_uniform_like(leati_ref_node *node) {
  return run_normal_uniform(node, true, false);
}

static bool run_bernoulli(leati_ref_node *node) {
  const leati_ref_tensor *const p = node->inputs[0];
  numbers from;
  if (!read_numbers(node, 1, &from) || !make_output(node, p->type, p->rank, p->dims)) {
    return false;
  }
  leati_ref_tensor *const y = &node->outputs[0];
  for (int64_t k = 0; k < y->count; ++k) {
    const bool one = uniform_of(word_of(&from, k)) < p->f[k];
    if (y->f != NULL) {
      y->f[k] = one;
    } else {
      y->i[k] = one;
    }
  }
  return true;
}

/* The class in whose part of the row's sum a share of it lies; behind all of them the last one that has a part. */
static int64_t class_of(const double *sums, int64_t classes, double share) {
  int64_t last = 0;
  for (int64_t c = 0; c < classes; ++c) {
    if (sums[c] > (c > 0 ? sums[c - 1] : 0)) {
      last = c;
      if (sums[c] > share) {
        break;
      }
    }
  }
  return last;
}

static bool run_multinomial(leati_ref_node *node) {
  const leati_ref_tensor *const x = node->inputs[0];
  const int64_t dims[2] = {x->dims[0], leati_ref_int(node, "sample_size", 1)};
  numbers from;
  if (!read_numbers(node, UINT32_MAX, &from) || !make_output(node, LEATI_REF_INT32, 2, dims)) {
    return false;
  }
  leati_ref_tensor *const y = &node->outputs[0];
  const int64_t classes = x->dims[1];
  double *const sums = leati_ref_alloc(classes, sizeof(*sums));
  y->bound = leati_ref_alloc(y->count, sizeof(*y->bound));
  for (int64_t r = 0; r < dims[0]; ++r) {
    const double *const row = &x->f[r * classes];
    double most = -INFINITY, sum = 0, off = 0;
    for (int64_t c = 0; c < classes; ++c) {
      most = isnan(row[c]) || isnan(most) ? NAN : fmax(most, row[c]);
    }
    const bool none = isnan(most) || most == -INFINITY;
    for (int64_t c = 0; c < classes && !none; ++c) {
      const double weight = isinf(most) ? row[c] == most : row[c] - most < -103 ? 0 : exp(row[c] - most);
      off += isinf(most) || weight == 0
                 ? 0
                 : weight * (leati_ref_bound_exp(row[c] - most) + fabs(row[c] - most) * LEATI_REF_ULP);
      sums[c] = sum += weight;
    }
    /* Sums of parts of the row, and the product with the number. */
    off += leati_ref_bound_sum(classes, sum) + LEATI_REF_ULP * sum;
    for (int64_t s = 0; s < dims[1]; ++s) {
      const int64_t k = r * dims[1] + s;
      const double share = uniform_of(word_of(&from, k)) * sum;
      y->i[k] = none ? 0 : class_of(sums, classes, share - off);
      y->bound[k] = none ? 0 : (double)(class_of(sums, classes, share + off) - y->i[k]);
    }
  }
  free(sums);
  return true;
}

/* At inference nothing is dropped, and the mask is all true; before version 12 it is all zero, as nothing was said of
 * it, and before 10 of the type of the data. */
static bool run_dropout(leati_ref_node *node) {
  const leati_ref_tensor *const x = node->inputs[0], *const training = leati_ref_input(node, 2);
  const bool ours = node->since_version < 7;
  const leati_ref_tensor *const given = ours ? NULL : leati_ref_input(node, 1);
  const double ratio = given != NULL ? given->f[0] : (double)leati_ref_float(node, "ratio", 0.5f);
  const bool trains = ours || (training != NULL && training->i[0] != 0);
  numbers from = {0};
  if (trains && !read_numbers(node, ours ? 1 : UINT32_MAX, &from)) {
    return false;
  }
  leati_ref_tensor *const y = &node->outputs[0], *const mask = node->output_count > 1 ? &node->outputs[1] : NULL;
  leati_ref_tensor_init(y, x->type, x->rank, x->dims);
  if (mask != NULL) {
    leati_ref_tensor_init(mask, !ours && node->since_version < 10 ? x->type : LEATI_REF_BOOL, x->rank, x->dims);
  }
  for (int64_t k = 0; k < x->count; ++k) {
    const bool kept = !trains || uniform_of(word_of(&from, k)) >= ratio;
    y->f[k] = !trains ? x->f[k] : kept ? x->f[k] / (1 - ratio) : 0;
    /* The factor is rounded, and the product with it. */
    y->bound[k] = trains ? leati_ref_bound_ulps(y->f[k], 2) : 0;
    if (mask != NULL && (ours || node->since_version >= 12)) {
      mask->i[k] = kept;
    }
  }
  return true;
}

/* ---- Waiting times ---------------------------------------------------------------------------------------------- */

static bool run_waiting(leati_ref_node *node, bool trials) {
  const leati_ref_tensor *const x = node->inputs[0];
  numbers from;
  if (!read_numbers(node, 1, &from) || !make_output(node, x->type, x->rank, x->dims)) {
    return false;
  }
  leati_ref_tensor *const y = &node->outputs[0];
  for (int64_t k = 0; k < y->count; ++k) {
    const double logarithm = -log(positive_of(word_of(&from, k)));
    if (!(x->f[k] > 0)) {
      y->f[k] = NAN;
    } else if (!trials) {
      y->f[k] = logarithm / x->f[k];
      y->bound[k] = 0x1p-20 * y->f[k] + FLT_MIN;
    } else if (x->f[k] >= 1) {
      y->f[k] = 1;
    } else {
      /* The next whole number where the quotient may be on either side of one. */
      const double quotient = logarithm / -log1p(-fmax(x->f[k], 1e-30)), off = 0x1p-20 * quotient;
      y->f[k] = floor(quotient) + 1;
      y->bound[k] = (floor(quotient - off) != floor(quotient + off) ? 1 : 0) + off;
    }
  }
  return true;
}

static bool run_exponential(leati_ref_node *node) {
  return run_waiting(node, false);
}
static bool run_geometric(leati_ref_node *node) {
  return run_waiting(node, true);
}

/* ---- Gamma distributions ---------------------------------------------------------------------------------------- */

/* The logarithm of a gamma distributed number, and how far off it may be: INFINITY where an attempt is so close to its
 * bound that float32 may decide otherwise. */
static double log_gamma_of(const numbers *from, uint32_t element, uint32_t attempt, double alpha, double *out_off) {
  *out_off = 0;
  if (!(alpha >= 0)) {
    return NAN;
  }
  if (alpha == 0 || alpha > 1e18) {
    return log(alpha);
  }
  const double d = (alpha < 1 ? alpha + 1 : alpha) - 1.0 / 3, c = 1 / sqrt(9 * d);
  uint32_t words[4] = {0};
  double v = 1, near = 0, log_v_off = 0;
  for (uint32_t k = 0; k < 64; ++k) {
    double radius;
    words_of(from, element, attempt + k, words);
    const double x = normal_of(words[0], words[1], false, &radius), one = 1 + c * x;
    const double u = positive_of(words[2]), off = 0x1p-20 * radius;
    v = one * one * one;
    /* The cube of what is 1 + c x, with the errors of c, of x and of four operations. */
    log_v_off = 3 * (c * off + 4 * LEATI_REF_ULP) / fabs(one) + 8 * LEATI_REF_ULP;
    if (fabs(one) <= 2 * c * off) {
      near = INFINITY;
    }
    if (one <= 0) {
      continue;
    }
    /* Whichever of both tests is asked, the second one says the same: the first one implies it. */
    const double t = c * x, bound = 3 * d * (log1p(t) - t + t * t / 2 - t * t * t / 3), log_u = log(u);
    const double slope = fabs(3 * d * t * t * t / one) / (fabs(t) + 1e-30);
    const double bound_off = slope * c * off + 0x1p-18 * fabs(bound) + d * fabs(t * t * t) * 0x1p-20 +
                             (t < -0.29 || t > 0.41 ? 16 * d * LEATI_REF_ULP : 0);
    if (fabs(log_u - bound) <= bound_off + 0x1p-20 * fabs(log_u)) {
      near = INFINITY;
    }
    if (log_u < bound) {
      break;
    }
    v = 1;
  }
  double result = log(d * v);
  *out_off = near + log_v_off + 4 * LEATI_REF_ULP;
  if (alpha < 1) {
    const double boost = log(positive_of(words[3])) / fmax(alpha, 1e-30);
    *out_off += 0x1p-20 * fabs(boost);
    result += boost;
  }
  return result;
}

/* e^x of a logarithm that is so far off; an error that nothing is known of lets any number be right. */
static void put_power(leati_ref_tensor *y, int64_t k, double x, double off) {
  y->f[k] = exp(x);
  const double own = isnan(x) || y->f[k] == 0 || isinf(x) ? 0 : y->f[k] * (expm1(off) + leati_ref_bound_exp(x));
  y->bound[k] = isinf(off) ? DBL_MAX : own + FLT_MIN;
}

static bool run_gamma(leati_ref_node *node) {
  const leati_ref_tensor *const x = node->inputs[0];
  numbers from;
  if (!read_numbers(node, 1, &from) || !make_output(node, x->type, x->rank, x->dims)) {
    return false;
  }
  for (int64_t k = 0; k < x->count; ++k) {
    double off;
    const double logarithm = log_gamma_of(&from, (uint32_t)k, 0, x->f[k], &off);
    put_power(&node->outputs[0], k, logarithm, off);
    if (x->f[k] > 1e18) {
      node->outputs[0].f[k] = x->f[k];
    }
  }
  return true;
}

static bool run_beta(leati_ref_node *node) {
  const leati_ref_tensor *const a = node->inputs[0], *const b = node->inputs[1];
  numbers from;
  if (!read_numbers(node, 2, &from) || !make_output(node, a->type, a->rank, a->dims)) {
    return false;
  }
  leati_ref_tensor *const y = &node->outputs[0];
  for (int64_t k = 0; k < a->count; ++k) {
    double a_off, b_off;
    const double log_a = log_gamma_of(&from, (uint32_t)k, 0, a->f[k], &a_off);
    const double log_b = log_gamma_of(&from, (uint32_t)k, 64, b->f[k], &b_off), apart = log_b - log_a;
    const double off = a_off + b_off + 4 * LEATI_REF_ULP * (fabs(log_a) + fabs(log_b));
    y->f[k] = isinf(apart) ? apart < 0 : 1 / (1 + exp(apart));
    y->bound[k] = isinf(apart) || isnan(apart) ? 0
                  : isinf(off)                 ? DBL_MAX
                               : y->f[k] * (expm1(off) + leati_ref_bound_exp(fmin(fabs(apart), 110))) + FLT_MIN;
  }
  return true;
}

static bool run_dirichlet(leati_ref_node *node) {
  const leati_ref_tensor *const x = node->inputs[0];
  numbers from;
  if (!read_numbers(node, 1, &from) || !make_output(node, x->type, x->rank, x->dims)) {
    return false;
  }
  const int64_t columns = x->dims[x->rank - 1];
  leati_ref_tensor *const y = &node->outputs[0];
  for (int64_t r = 0; columns > 0 && r < x->count / columns; ++r) {
    double most = -INFINITY, sum = 0, sum_off = 0, largest_off = 0;
    for (int64_t k = r * columns; k < (r + 1) * columns; ++k) {
      double off;
      y->f[k] = log_gamma_of(&from, (uint32_t)k, 0, x->f[k], &off);
      off += 2 * LEATI_REF_ULP * (isinf(y->f[k]) ? 0 : fabs(y->f[k]));
      y->bound[k] = off;
      most = isnan(y->f[k]) || isnan(most) ? NAN : fmax(most, y->f[k]);
      largest_off = fmax(largest_off, off);
    }
    for (int64_t k = r * columns; k < (r + 1) * columns; ++k) {
      const double apart = y->f[k] - most, weight = exp(apart);
      sum += weight;
      y->f[k] = weight;
      y->bound[k] += isinf(apart) ? 0 : leati_ref_bound_exp(apart) + fabs(apart) * LEATI_REF_ULP;
      sum_off += weight * (isinf(y->bound[k]) ? 0 : expm1(y->bound[k]));
    }
    sum_off = sum_off / sum + (double)(columns + 8) * 0x1p-24;
    for (int64_t k = r * columns; k < (r + 1) * columns; ++k) {
      y->f[k] /= sum;
      y->bound[k] = isinf(largest_off) ? DBL_MAX : y->f[k] * (expm1(y->bound[k]) + sum_off) + FLT_MIN;
    }
  }
  return true;
}

/* ---- Permutations ----------------------------------------------------------------------------------------------- */

static uint32_t scramble(uint32_t x) {
  x = (x ^ x >> 16) * 0x85EBCA6Bu;
  x = (x ^ x >> 13) * 0xC2B2AE35u;
  return x ^ x >> 16;
}

static bool run_permutation(leati_ref_node *node) {
  const int64_t count = leati_ref_int(node, "count", 0);
  uint32_t keys[16], half = 4;
  numbers from;
  if (!read_numbers(node, 0, &from) || !make_output(node, LEATI_REF_INT64, 1, &count)) {
    return false;
  }
  for (uint32_t block = 0; block < 4; ++block) {
    words_of(&from, block, 0, &keys[4 * block]);
  }
  while (INT64_C(1) << (2 * half) < count) {
    half++;
  }
  for (int64_t k = 0; k < count; ++k) {
    uint32_t number = (uint32_t)k;
    const uint32_t mask = (1u << half) - 1;
    do {
      uint32_t left = number >> half, right = number & mask;
      for (int r = 0; r < 16; ++r) {
        const uint32_t next = left ^ (scramble(right ^ keys[r]) & mask);
        left = right;
        right = next;
      }
      number = left << half | right;
    } while ((int64_t)number >= count);
    node->outputs[0].i[k] = number;
  }
  return true;
}

const leati_ref_entry leati_ref_random[] = {
    {"RandomNormal", run_normal},
    {"RandomNormalLike", run_normal_like},
    {"RandomUniform", run_uniform},
    {"RandomUniformLike", run_uniform_like},
    {"Bernoulli", run_bernoulli},
    {"Multinomial", run_multinomial},
    {"Dropout", run_dropout},
    {"RandomExponential", run_exponential},
    {"RandomGeometric", run_geometric},
    {"RandomGamma", run_gamma},
    {"RandomBeta", run_beta},
    {"RandomDirichlet", run_dirichlet},
    {"RandomPermutation", run_permutation},
    {NULL, NULL},
};
