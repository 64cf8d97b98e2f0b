/* SPDX-License-Identifier: BSD-3-Clause */
/* Operators that make random numbers, by the generator and the counters that abi/leat/backend.h names. Without a seed
 * there is no telling what they give. */
#include <math.h>
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
  for (int64_t k = 0; k < y->count; k++) {
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
  for (int64_t k = 0; k < y->count; k++) {
    const bool one = uniform_of(word_of(&from, k)) < p->f[k];
    if (y->f != NULL) {
      y->f[k] = one;
    } else {
      y->i[k] = one;
    }
  }
  return true;
}

const leati_ref_entry leati_ref_random[] = {
    {"RandomNormal", run_normal},   {"RandomNormalLike", run_normal_like},
    {"RandomUniform", run_uniform}, {"RandomUniformLike", run_uniform_like},
    {"Bernoulli", run_bernoulli},   {NULL, NULL},
};
