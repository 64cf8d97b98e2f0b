/* SPDX-License-Identifier: BSD-3-Clause */
/* Attention. */
#include <stdlib.h>

#include "reference/bound.h"
#include "reference/node.h"

/* Keys that an implementation takes at a time at least, if it does not take all at once. */
#define KEYS_AT_ONCE 16

/* An operand: heads of its own dimension, or side by side in the last one. */
typedef struct operand {
  const double *f;
  int64_t batch;
  int64_t heads;
  int64_t positions;
  int64_t size; /* elements of a head */
  bool flat;
} operand;

static bool read_operand(leati_ref_node *node, uint32_t at, int64_t heads, operand *out) {
  const leati_ref_tensor *x = leati_ref_input(node, at);
  if (x == NULL || (x->rank != 3 && x->rank != 4)) {
    return leati_ref_fail(node, "%s: operands have 3 or 4 dimensions", node->name);
  }
  *out = (operand){.f = x->f, .batch = x->dims[0], .flat = x->rank == 3};
  if (out->flat && (heads < 1 || x->dims[2] % heads != 0)) {
    return leati_ref_fail(node, "%s: heads do not divide the last dimension", node->name);
  }
  out->heads = out->flat ? heads : x->dims[1];
  out->positions = out->flat ? x->dims[1] : x->dims[2];
  out->size = out->flat ? x->dims[2] / heads : x->dims[3];
  return out->heads > 0 && out->size > 0 ? true : leati_ref_fail(node, "%s: heads of nothing", node->name);
}

/* The first element of a head at a position. */
static int64_t begin_of(const operand *x, int64_t batch, int64_t head, int64_t position) {
  const int64_t row = x->flat ? (batch * x->positions + position) * x->heads + head
                              : (batch * x->heads + head) * x->positions + position;
  return row * x->size;
}

typedef struct attention {
  operand q;
  operand k;
  operand v;
  const leati_ref_tensor *mask;
  bool padded; /* a mask with fewer keys takes the others out */
  bool causal;
  double scale;
  double cap;
} attention;

/* The score of a query with a key, which may be off by `*off`; false: the key is not taken. */
static bool score_of(const attention *a, const int64_t at[4], double *score, double *off) {
  if (a->causal && at[3] > at[2]) {
    return false;
  }
  double added = 0;
  const leati_ref_tensor *mask = a->mask;
  if (mask != NULL) {
    const int64_t own = mask->rank > 0 ? mask->dims[mask->rank - 1] : 1;
    if (a->padded && mask->rank > 0 && at[3] >= own) {
      return false;
    }
    const int64_t element = leati_ref_broadcast_at(mask, 4, at);
    added = mask->f != NULL ? mask->f[element] : mask->i[element] != 0 ? 0 : -INFINITY;
    if (added == -INFINITY) {
      return false;
    }
  }
  const int64_t share = a->q.heads / a->k.heads;
  const double *q = a->q.f + begin_of(&a->q, at[0], at[1], at[2]);
  const double *k = a->k.f + begin_of(&a->k, at[0], at[1] / share, at[3]);
  double sum = 0;
  double magnitude = 0;
  for (int64_t e = 0; e < a->q.size; e++) {
    sum += q[e] * k[e];
    magnitude += fabs(q[e] * k[e]);
  }
  double value = a->scale * sum;
  /* The scale may be applied in two parts, each rounded, to queries and keys. */
  *off = fabs(a->scale) * leati_ref_bound_sum(a->q.size + 4, magnitude);
  if (a->cap > 0) {
    /* No slope is above 1. The quotient is off by 2.5 ULP; tanh, by exponentials, by a few ULP of 1. */
    *off += 2.5 * LEATI_REF_ULP * fabs(value) + 16 * LEATI_REF_ULP * a->cap;
    value = a->cap * tanh(value / a->cap);
  }
  value += added;
  *off += added != 0 ? LEATI_REF_ULP * fabs(value) : 0;
  *score = value;
  return true;
}

/* One query of one head: softmax of its scores times the values. A weight e^(score - top) is off by what its score is
 * off by, by the exponential and the rounding of its argument; where scores come in tiles, the distance to the top is
 * gone in as many steps, with an exponential and a product each. Numbers below FLT_MIN may be lost. */
static void attend(const attention *a, const int64_t at[4], double *scores, double *offs, leati_ref_tensor *y,
                   int64_t out) {
  const int64_t keys = a->k.positions;
  const int64_t share = a->q.heads / a->k.heads;
  const double tiles = (double)((keys + KEYS_AT_ONCE - 1) / KEYS_AT_ONCE);
  double top = -INFINITY;
  for (int64_t j = 0; j < keys; j++) {
    const int64_t here[4] = {at[0], at[1], at[2], j};
    if (!score_of(a, here, &scores[j], &offs[j])) {
      scores[j] = -INFINITY;
    }
    top = scores[j] > top ? scores[j] : top;
  }
  double total = 0;
  double total_off = 0;
  for (int64_t j = 0; j < keys; j++) {
    const double d = scores[j] - (top == -INFINITY ? 0 : top);
    scores[j] = exp(d);
    offs[j] = scores[j] > 0 ? scores[j] * (expm1(offs[j]) + (3 + 3 * fabs(d) + 4 * tiles) * LEATI_REF_ULP) : 0;
    offs[j] += FLT_MIN;
    total += scores[j];
    total_off += offs[j];
  }
  for (int64_t e = 0; e < a->v.size; e++) {
    double sum = 0;
    double magnitude = 0;
    double off = 0;
    for (int64_t j = 0; j < keys; j++) {
      const double v = a->v.f[begin_of(&a->v, at[0], at[1] / share, j) + e];
      sum += scores[j] != 0 ? scores[j] * v : 0;
      magnitude += scores[j] != 0 ? scores[j] * fabs(v) : 0;
      off += offs[j] * fabs(v);
    }
    const double value = total == 0 ? 0 : sum / total;
    const double sums = (double)(keys + 2) * 0x1p-24;
    y->f[out + e] = value;
    y->bound[out + e] = total == 0 ? 0
                                   : (off + sums * magnitude) / total +
                                         fabs(value) * (total_off / total + sums + 3.5 * LEATI_REF_ULP) +
                                         (double)(keys + 2) * FLT_MIN;
  }
}

static bool attend_all(leati_ref_node *node, const attention *a) {
  const operand *q = &a->q;
  const operand *k = &a->k;
  const operand *v = &a->v;
  if (k->batch != q->batch || v->batch != q->batch || v->heads != k->heads || q->heads % k->heads != 0 ||
      v->positions != k->positions || k->size != q->size || k->flat != q->flat || v->flat != q->flat) {
    return leati_ref_fail(node, "%s: operands do not go together", node->name);
  }
  const int64_t flat[3] = {q->batch, q->positions, q->heads * v->size};
  const int64_t full[4] = {q->batch, q->heads, q->positions, v->size};
  leati_ref_tensor *y = &node->outputs[0];
  leati_ref_tensor_init(y, node->inputs[0]->type, q->flat ? 3 : 4, q->flat ? flat : full);
  const operand result = {
      .batch = q->batch, .heads = q->heads, .positions = q->positions, .size = v->size, .flat = q->flat};
  double *scores = leati_ref_alloc(k->positions + 1, sizeof *scores);
  double *offs = leati_ref_alloc(k->positions + 1, sizeof *offs);
  for (int64_t b = 0; b < q->batch; b++) {
    for (int64_t h = 0; h < q->heads; h++) {
      for (int64_t s = 0; s < q->positions; s++) {
        attend(a, (const int64_t[4]){b, h, s, 0}, scores, offs, y, begin_of(&result, b, h, s));
      }
    }
  }
  free(scores);
  free(offs);
  return true;
}

/* softmax(cap(scale Q K') + mask) V. A query none of whose keys is taken gives 0. */
static bool run_attention(leati_ref_node *node) {
  attention a = {.mask = leati_ref_input(node, 3),
                 .padded = node->since_version >= 24,
                 .causal = leati_ref_int(node, "is_causal", 0) != 0,
                 .cap = (double)leati_ref_float(node, "softcap", 0)};
  const int64_t kv_heads = leati_ref_int(node, "kv_num_heads", 0);
  if (!read_operand(node, 0, leati_ref_int(node, "q_num_heads", 0), &a.q) || !read_operand(node, 1, kv_heads, &a.k) ||
      !read_operand(node, 2, kv_heads, &a.v)) {
    return false;
  }
  a.scale = leati_ref_attribute(node, "scale") != NULL ? (double)leati_ref_float(node, "scale", 1)
                                                       : 1 / sqrt((double)a.q.size);
  return attend_all(node, &a);
}

/* The same of com.microsoft. */
static bool run_multi_head(leati_ref_node *node) {
  attention a = {.mask = leati_ref_input(node, 5), .causal = leati_ref_int(node, "unidirectional", 0) != 0};
  const int64_t heads = leati_ref_int(node, "num_heads", 0);
  if (!read_operand(node, 0, heads, &a.q) || !read_operand(node, 1, heads, &a.k) ||
      !read_operand(node, 2, heads, &a.v)) {
    return false;
  }
  a.scale = (double)leati_ref_float(node, "scale", 0);
  a.scale = a.scale != 0 ? a.scale : 1 / sqrt((double)a.q.size);
  return attend_all(node, &a);
}

const leati_ref_entry leati_ref_attention[] = {
    {"Attention", run_attention}, {"MultiHeadAttention", run_multi_head}, {NULL, NULL}};
