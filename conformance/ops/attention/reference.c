/* SPDX-License-Identifier: BSD-3-Clause */
/* Attention. */
#include <stdlib.h>
#include <string.h>

#include "ops/core/bound.h"
#include "ops/core/node.h"
#include "ops/quantize/reference.h"

/* Keys that an implementation takes at a time at least, if it does not take all at once. */
#define KEYS_AT_ONCE 16

/* A tensor by its layout, a letter for each dimension: b batch, h head, s position, d element of the head, x heads side
 * by side. */
typedef struct operand {
  const double *f;
  const double *off; /* by how much each may be wrong; NULL: it is what it is */
  const char *layout;
  int64_t batch;
  int64_t heads;
  int64_t positions;
  int64_t size;       /* elements of a head */
  int64_t strides[4]; /* by batch, head, position, element */
} operand;

/* Where each letter but x stands. */
static const char letters[] = "bhsd";

/* Says how far elements lie apart, when all sizes are known. */
static void walk(operand *x) {
  const int64_t sizes[4] = {x->batch, x->heads, x->positions, x->size};
  int64_t step = 1;
  for (size_t at = strlen(x->layout); at-- > 0;) {
    if (x->layout[at] == 'x') {
      x->strides[3] = step;
      x->strides[1] = step * x->size;
      step *= x->size * x->heads;
    } else {
      const ptrdiff_t letter = strchr(letters, x->layout[at]) - letters;
      x->strides[letter] = step;
      step *= sizes[letter];
    }
  }
}

static const char *layout_of(const leati_ref_node *node, const char *name, const leati_ref_tensor *x) {
  const leat_attribute *given = leati_ref_attribute(node, name);
  return given != NULL ? given->string : strcmp(node->name, "FusedAttention") != 0 && x->rank % 2 == 1 ? "bsx" : "bhsd";
}

static bool read_operand(leati_ref_node *node, uint32_t at, const char *name, int64_t heads, operand *out) {
  const leati_ref_tensor *x = leati_ref_input(node, at);
  *out = (operand){.f = x->f, .layout = layout_of(node, name, x), .batch = 1, .heads = 1};
  if (x->rank != (int32_t)strlen(out->layout)) {
    return leati_ref_fail(node, "%s: input %u is not \"%s\"", node->name, at, out->layout);
  }
  for (int32_t d = 0; d < x->rank; ++d) {
    if (out->layout[d] == 'x') {
      if (heads < 1 || x->dims[d] % heads != 0) {
        return leati_ref_fail(node, "%s: heads do not divide a dimension", node->name);
      }
      out->heads = heads;
      out->size = x->dims[d] / heads;
    } else {
      int64_t *const sizes[4] = {&out->batch, &out->heads, &out->positions, &out->size};
      *sizes[strchr(letters, out->layout[d]) - letters] = x->dims[d];
    }
  }
  walk(out);
  return out->heads > 0 && out->size > 0 ? true : leati_ref_fail(node, "%s: heads of nothing", node->name);
}

/* An element of a head at a position. */
static int64_t place_of(const operand *x, int64_t batch, int64_t head, int64_t position, int64_t element) {
  return batch * x->strides[0] + head * x->strides[1] + position * x->strides[2] + element * x->strides[3];
}

typedef struct attention {
  operand q;
  operand k;
  operand v;
  const leati_ref_tensor *mask;
  const leati_ref_tensor *numbers; /* a mask of whole numbers, whose shape says what they are about; NULL: none */
  double filter;                   /* is added for a key that these do not have */
  const leati_ref_tensor *lengths; /* keys of each batch; NULL: all have all */
  int64_t added;                   /* to each length */
  int64_t least;                   /* keys of a batch at least, whatever its length says, */
  int64_t most;                    /* and at most; 0: as many as there are */
  int64_t offset;                  /* position of the first query among the keys, */
  bool ends;                       /* or the last query of a batch has that of its last key */
  int64_t before, after;           /* keys before and behind its position that a query has; negative: all */
  bool smooth;                     /* each query has one more key, of score and value 0, */
  const leati_ref_tensor *sinks;   /* or by its head one with such a score; NULL: none of these */
  bool padded;                     /* a mask with fewer keys takes the others out */
  bool guarded;                    /* a query whose weights are NaN gives 0, */
  bool infinite;                   /* or where all of its scores are -infinity */
  double scale;
  double cap;
  double lowest;            /* number of the operands' type */
  double weight_off;        /* what a weight may be rounded by, of itself */
  double weight_lost;       /* and what of it may be lost at the lower end of its type, of the largest weight */
  leati_ref_tensor *scores; /* is given them too, in one of the forms that follow; NULL: nobody wants that */
  const int64_t *scored;    /* of the first so many keys; NULL: of all */
  int64_t mode;             /* 0: scaled products, 1: capped ones, 2: with the mask, 3: weights, 4: with the mask, and 0
                               for a key that a query does not have by its position */
} attention;

/* The type of floats of an operator, whose first inputs may be bytes before a bias of it. */
static leati_ref_type float_of(const leati_ref_node *node) {
  return node->inputs[leati_ref_type_is_float(node->inputs[0]->type) ? 0 : 2]->type;
}

/* Queries without batches or heads have a mask without them. */
static int64_t mask_place(const attention *a, const int64_t at[4]) {
  const char *layout = a->q.layout;
  int64_t index[4];
  int32_t rank = 0;
  for (int32_t d = 0; d < 4; ++d) {
    if (d > 1 || strchr(layout, 'x') != NULL || strchr(layout, letters[d]) != NULL) {
      index[rank++] = at[d];
    }
  }
  return leati_ref_broadcast_at(a->mask, rank, index);
}

/* Keys of a batch. */
static int64_t keys_of(const attention *a, int64_t batch) {
  const int64_t most = a->most != 0 ? a->most : a->k.positions;
  if (a->lengths == NULL) {
    return most;
  }
  const int64_t length = a->lengths->i[batch];
  return length >= most ? most : length + a->added < a->least ? a->least : length + a->added;
}

/* Whether a query has a key by their positions. */
static bool has_key(const attention *a, const int64_t at[4]) {
  const int64_t keys = keys_of(a, at[0]);
  const int64_t position = at[2] + (a->ends ? keys - a->q.positions : a->offset);
  return at[3] < keys && (a->after < 0 || at[3] - position <= a->after) &&
         (a->before < 0 || position - at[3] <= a->before);
}

/* By how much an element may be wrong that was computed and then rounded to its type. */
static double off_of(const attention *a, const operand *x, int64_t at) {
  const double off = x->off != NULL ? x->off[at] : 0;
  return off == 0 ? 0 : off + fabs(x->f[at]) * a->weight_off + a->weight_lost;
}

/* Whether whole numbers have a key: by where the keys of a batch end and perhaps start, or by a number for each key,
 * each score, or each pair of positions, of which the query's own is that of the last keys. */
static bool counts(const attention *a, const int64_t at[4]) {
  const leati_ref_tensor *x = a->numbers;
  /* One number for all keys of a batch is no mask, but that of its only key. */
  if (x == NULL || (x->rank == 2 && x->dims[1] == 1 && a->k.positions > 1)) {
    return true;
  }
  const int64_t batches = a->q.batch;
  if (x->rank == 1) {
    return at[3] < x->i[at[0]] && (x->count != 2 * batches || batches == x->count || at[3] >= x->i[batches + at[0]]);
  }
  const int64_t width = x->dims[x->rank - 1];
  const int64_t row = x->rank == 2   ? at[0]
                      : x->rank == 3 ? at[0] * x->dims[1] + at[2]
                                     : at[0] * width + a->offset + at[2];
  return x->i[row * width + at[3]] > 0;
}

/* The product of a query and a key times the scale, and capped if `capped` says so, which may be off by `*off`. */
static double product_of(const attention *a, const int64_t at[4], bool capped, double *off) {
  const int64_t share = a->q.heads / a->k.heads;
  double sum = 0;
  double magnitude = 0;
  double wrong = 0;
  for (int64_t e = 0; e < a->q.size; ++e) {
    const int64_t in_q = place_of(&a->q, at[0], at[1], at[2], e);
    const int64_t in_k = place_of(&a->k, at[0], at[1] / share, at[3], e);
    const double product = a->q.f[in_q] * a->k.f[in_k];
    const double off_q = off_of(a, &a->q, in_q);
    const double off_k = off_of(a, &a->k, in_k);
    sum += product;
    wrong += off_q * fabs(a->k.f[in_k]) + off_k * fabs(a->q.f[in_q]) + off_q * off_k;
    magnitude += fabs(product);
  }
  double value = a->scale * sum;
  /* The scale may be applied in two parts, each rounded, to queries and keys. */
  *off = fabs(a->scale) * (leati_ref_bound_sum(a->q.size + 4, magnitude + wrong) + wrong);
  if (capped && a->cap > 0) {
    /* No slope is above 1. The quotient is off by 2.5 ULP; tanh, by exponentials, by a few ULP of 1. */
    *off += 2.5 * LEATI_REF_ULP * fabs(value) + 16 * LEATI_REF_ULP * a->cap;
    value = a->cap * tanh(value / a->cap);
  }
  return value;
}

/* The score of a query with a key, which may be off by `*off`; false: the key is not taken. */
static bool score_of(const attention *a, const int64_t at[4], double *score, double *off) {
  if (!has_key(a, at)) {
    return false;
  }
  double added = 0;
  const leati_ref_tensor *mask = a->mask;
  if (mask != NULL) {
    const int64_t own = mask->rank > 0 ? mask->dims[mask->rank - 1] : 1;
    if (a->padded && mask->rank > 0 && at[3] >= own) {
      return false;
    }
    const int64_t element = mask_place(a, at);
    added = mask->f != NULL ? mask->f[element] : mask->i[element] != 0 ? 0 : -INFINITY;
    if (added == -INFINITY) {
      return false;
    }
  }
  double added_off = 0;
  if (!counts(a, at)) {
    /* Both are joined in the operands' type, no further down than that goes. */
    added_off = (fabs(added) + fabs(a->filter)) * (LEATI_REF_ULP + 2 * a->weight_off);
    added = added + a->filter < a->lowest ? a->lowest : added + a->filter;
  }
  const double value = product_of(a, at, true, off) + added;
  *off += (added != 0 ? LEATI_REF_ULP * fabs(value) : 0) + added_off;
  *score = value;
  return true;
}

/* Gives the scores of a query before weights are made of them. */
static void give_scores(const attention *a, const int64_t at[4], const double *scores, const double *offs) {
  const int64_t keys = a->scores->dims[3], first = ((at[0] * a->q.heads + at[1]) * a->q.positions + at[2]) * keys;
  for (int64_t j = 0; j < keys; ++j) {
    const int64_t here[4] = {at[0], at[1], at[2], j};
    double off = offs[j];
    a->scores->f[first + j] = a->mode == 4 && !has_key(a, here) ? 0
                              : a->mode >= 2                    ? scores[j]
                                                                : product_of(a, here, a->mode == 1, &off);
    a->scores->bound[first + j] = a->mode >= 2 && scores[j] == -INFINITY ? 0 : off;
  }
}

/* Gives the weights of a query, of which each is divided by their sum. */
static void give_weights(const attention *a, const int64_t at[4], const double *weights, const double *offs,
                         double total, double total_off) {
  const int64_t keys = a->scores->dims[3], first = ((at[0] * a->q.heads + at[1]) * a->q.positions + at[2]) * keys;
  for (int64_t j = 0; j < keys; ++j) {
    const double value = total == 0 ? 0 : weights[j] / total;
    a->scores->f[first + j] = value;
    a->scores->bound[first + j] =
        total == 0 ? 0 : offs[j] / total + fabs(value) * (total_off / total + 3.5 * LEATI_REF_ULP) + FLT_MIN;
  }
}

/* One query of one head: softmax of its scores times the values. A weight e^(score - top) is off by what its score is
 * off by, by the exponential and the rounding of its argument; where scores come in tiles, the distance to the top is
 * gone in as many steps, with an exponential and a product each. Numbers below FLT_MIN may be lost. Matrix hardware
 * multiplies by weights of the operands' type, which are summed up with or without that rounding: half of one unit of
 * their last place, or of the smallest subnormal number. A sink is taken as one more tile. Values that were computed
 * are off by what that may do. */
static void attend(const attention *a, const int64_t at[4], double *scores, double *offs, const operand *result,
                   leati_ref_tensor *y) {
  const int64_t keys = a->k.positions;
  const int64_t share = a->q.heads / a->k.heads;
  const bool has_sink = a->smooth || a->sinks != NULL;
  const double tiles = (double)((keys + KEYS_AT_ONCE - 1) / KEYS_AT_ONCE + has_sink);
  const double sink = a->sinks != NULL ? a->sinks->f[at[1]] : a->smooth ? 0 : -INFINITY;
  double top = sink;
  bool taken = false;
  for (int64_t j = 0; j < keys; ++j) {
    const int64_t here[4] = {at[0], at[1], at[2], j};
    if (score_of(a, here, &scores[j], &offs[j])) {
      taken = true;
    } else {
      scores[j] = -INFINITY;
    }
    top = scores[j] > top ? scores[j] : top;
  }
  if (a->scores != NULL && a->mode != 3) {
    give_scores(a, at, scores, offs);
  }
  const double base = top == -INFINITY ? 0 : top;
  double total = exp(sink - base);
  double total_off = total > 0 ? total * (3 + 3 * fabs(sink - base) + 4 * tiles) * LEATI_REF_ULP + FLT_MIN : 0;
  for (int64_t j = 0; j < keys; ++j) {
    const double d = scores[j] - base;
    scores[j] = exp(d);
    offs[j] = scores[j] > 0 ? scores[j] * (expm1(offs[j]) + (3 + 3 * fabs(d) + 4 * tiles) * LEATI_REF_ULP) : 0;
    offs[j] += scores[j] * a->weight_off + a->weight_lost + FLT_MIN;
    total += scores[j];
    total_off += offs[j];
  }
  if (taken && top == -INFINITY && !a->infinite) {
    total = NAN;
  }
  if (a->guarded && isnan(total)) {
    total = 0;
  }
  if (a->scores != NULL && a->mode == 3) {
    give_weights(a, at, scores, offs, total, total_off);
  }
  for (int64_t e = 0; e < a->v.size; ++e) {
    double sum = 0;
    double magnitude = 0;
    double off = 0;
    for (int64_t j = 0; j < keys; ++j) {
      const int64_t in_v = place_of(&a->v, at[0], at[1] / share, j, e);
      const double v = a->v.f[in_v], off_v = off_of(a, &a->v, in_v);
      if (scores[j] != 0) {
        sum += scores[j] * v;
        magnitude += scores[j] * (fabs(v) + off_v);
        off += scores[j] * off_v;
      }
      off += offs[j] * (fabs(v) + off_v);
    }
    const int64_t out = place_of(result, at[0], at[1], at[2], e);
    const double value = total == 0 ? 0 : sum / total;
    const double sums = (double)(keys + 2 + has_sink) * 0x1p-24;
    y->f[out] = value;
    y->bound[out] = total == 0 ? 0
                               : (off + sums * magnitude) / total +
                                     fabs(value) * (total_off / total + sums + 3.5 * LEATI_REF_ULP) +
                                     (double)(keys + 2) * FLT_MIN;
  }
}

/* Says what a type of operands rounds and loses. */
static void set_type(attention *a, leati_ref_type type) {
  a->lowest = type == LEATI_REF_FLOAT16 ? -65504 : type == LEATI_REF_BFLOAT16 ? -0x1.fep127 : -FLT_MAX;
  if (type != LEATI_REF_FLOAT32) {
    a->weight_off = leati_ref_type_ulp(type) / 2;
    a->weight_lost = leati_ref_type_ulp(type) / 2 * leati_ref_type_smallest(type);
  }
}

static bool attend_all(leati_ref_node *node, attention *a) {
  const operand *q = &a->q;
  const operand *k = &a->k;
  const operand *v = &a->v;
  if (k->batch != q->batch || v->batch != q->batch || v->heads != k->heads || q->heads % k->heads != 0 ||
      v->positions != k->positions || k->size != q->size) {
    return leati_ref_fail(node, "%s: operands do not go together", node->name);
  }
  operand result = {.layout = layout_of(node, "y_layout", node->inputs[0]),
                    .batch = q->batch,
                    .heads = q->heads,
                    .positions = q->positions,
                    .size = v->size};
  walk(&result);
  const int64_t sizes[4] = {q->batch, q->heads, q->positions, v->size};
  int64_t dims[4];
  int32_t rank = 0;
  for (const char *letter = result.layout; *letter != '\0'; ++letter) {
    dims[rank++] = *letter == 'x' ? q->heads * v->size : sizes[strchr(letters, *letter) - letters];
  }
  leati_ref_tensor *y = &node->outputs[0];
  const leati_ref_type type = float_of(node);
  leati_ref_tensor_init(y, type, rank, dims);
  set_type(a, type);
  if (a->scores != NULL) {
    leati_ref_tensor_init(
        a->scores, type, 4,
        (const int64_t[4]){q->batch, q->heads, q->positions, a->scored != NULL ? *a->scored : k->positions});
  }
  double *scores = leati_ref_alloc(k->positions + 1, sizeof(*scores));
  double *offs = leati_ref_alloc(k->positions + 1, sizeof(*offs));
  for (int64_t b = 0; b < q->batch; ++b) {
    for (int64_t h = 0; h < q->heads; ++h) {
      for (int64_t s = 0; s < q->positions; ++s) {
        attend(a, (const int64_t[4]){b, h, s, 0}, scores, offs, &result, y);
      }
    }
  }
  free(scores);
  free(offs);
  return true;
}

/* An element of a compact tensor of four dimensions. */
static int64_t element_of(const leati_ref_tensor *x, const int64_t at[4]) {
  return ((at[0] * x->dims[1] + at[1]) * x->dims[2] + at[2]) * x->dims[3] + at[3];
}

/* Puts the positions of `fresh` behind the first ones of `past`, which may be NULL, into a tensor of so many positions,
 * which it becomes. By the lengths of `a` so many of each batch are used, or if it has none `used`. */
static bool append(leati_ref_node *node, const attention *a, const leati_ref_tensor *past, operand *fresh,
                   int64_t positions, int64_t used, leati_ref_tensor *out) {
  const int64_t dims[4] = {fresh->batch, fresh->heads, positions, fresh->size};
  if (past != NULL &&
      (past->rank != 4 || past->dims[0] != dims[0] || past->dims[1] != dims[1] || past->dims[3] != dims[3])) {
    return leati_ref_fail(node, "%s: past and new positions do not go together", node->name);
  }
  leati_ref_tensor_init(out, float_of(node), 4, dims);
  for (int64_t i = 0; i < out->count; ++i) {
    const int64_t e = i % dims[3];
    const int64_t s = i / dims[3] % positions;
    const int64_t h = i / dims[3] / positions % dims[1];
    const int64_t b = i / dims[3] / positions / dims[1];
    const int64_t end = a->lengths != NULL ? keys_of(a, b) : used;
    const int64_t first = end - fresh->positions;
    if (s < first) {
      out->f[i] = past->f[element_of(past, (const int64_t[4]){b, h, s, e})];
    } else if (s < end) {
      const int64_t from = place_of(fresh, b, h, s - first, e);
      out->f[i] = fresh->f[from];
      out->bound[i] = fresh->off != NULL ? fresh->off[from] : 0;
    }
  }
  *fresh = (operand){.f = out->f,
                     .off = out->bound,
                     .layout = letters,
                     .batch = dims[0],
                     .heads = dims[1],
                     .positions = positions,
                     .size = dims[3]};
  walk(fresh);
  return true;
}

/* Keys and values with earlier ones before them are outputs 1 and 2, if they are wanted. */
static void give_present(leati_ref_node *node, bool done, leati_ref_tensor present[2]) {
  for (uint32_t o = 0; o < 2; ++o) {
    if (done && 1 + o < node->output_count) {
      node->outputs[1 + o] = present[o];
    } else {
      leati_ref_tensor_clear(&present[o]);
    }
  }
}

/* Puts keys and values behind past ones, which are inputs `past` and the one behind it, and attends. */
static bool attend_cached(leati_ref_node *node, attention *a, uint32_t past) {
  const leati_ref_tensor *past_key = leati_ref_input(node, past);
  const leati_ref_tensor *past_value = leati_ref_input(node, past + 1);
  leati_ref_tensor present[2] = {0};
  if ((past_key == NULL) != (past_value == NULL) || (past_key != NULL && a->lengths != NULL)) {
    return leati_ref_fail(node, "%s: past keys and values do not go together", node->name);
  }
  bool done = true;
  if (past_key != NULL || node->output_count > 1) {
    attention all = *a;
    all.lengths = NULL;
    a->offset = past_key != NULL && past_key->rank == 4 ? past_key->dims[2] : 0;
    const int64_t keys = a->offset + a->k.positions;
    const int64_t values = (past_value != NULL && past_value->rank == 4 ? past_value->dims[2] : 0) + a->v.positions;
    done = append(node, &all, past_key, &a->k, keys, keys, &present[0]) &&
           append(node, &all, past_value, &a->v, values, values, &present[1]);
  }
  a->scores = node->output_count > 3 ? &node->outputs[3] : NULL;
  done = done && attend_all(node, a);
  give_present(node, done, present);
  return done;
}

/* softmax(cap(scale Q K') + mask) V, with operands of any layout if the operator is ours. A query none of whose keys is
 * taken gives 0, and where that is asked for one whose weights are NaN. */
static bool run_attention(leati_ref_node *node) {
  const bool fused = strcmp(node->name, "FusedAttention") == 0;
  attention a = {.mask = leati_ref_input(node, 3),
                 .lengths = fused ? NULL : leati_ref_input(node, 6),
                 .ends = !fused && leati_ref_input(node, 6) != NULL,
                 .before = leati_ref_int(node, "left_window_size", -1),
                 .after = leati_ref_int(node, "is_causal", 0) != 0 ? 0 : leati_ref_int(node, "right_window_size", -1),
                 .padded = node->since_version >= 24,
                 .mode = leati_ref_int(node, "qk_matmul_output_mode", 0),
                 .guarded = fused && leati_ref_int(node, "nan_to_zero", 0) != 0,
                 .cap = (double)leati_ref_float(node, "softcap", 0)};
  const int64_t kv_heads = leati_ref_int(node, "kv_num_heads", 0);
  if (!read_operand(node, 0, "q_layout", leati_ref_int(node, "q_num_heads", 0), &a.q) ||
      !read_operand(node, 1, "k_layout", kv_heads, &a.k) || !read_operand(node, 2, "v_layout", kv_heads, &a.v)) {
    return false;
  }
  a.scale = leati_ref_attribute(node, "scale") != NULL ? (double)leati_ref_float(node, "scale", 1)
                                                       : 1 / sqrt((double)a.q.size);
  return fused ? attend_all(node, &a) : attend_cached(node, &a, 4);
}

/* Heads that lie side by side in columns from `first` on. */
static operand columns_of(const leati_ref_tensor *x, int64_t first, int64_t heads, int64_t size) {
  const int64_t width = x->dims[2];
  return (operand){.f = x->f + first,
                   .layout = "bsx",
                   .batch = x->dims[0],
                   .heads = heads,
                   .positions = x->dims[1],
                   .size = size,
                   .strides = {x->dims[1] * width, size, width, 1}};
}

/* ---- Of com.microsoft, with one number of heads ----------------------------------------------------------------- */

/* Earlier keys and values, of which so many positions count. */
typedef struct earlier {
  leati_ref_tensor parts[2]; /* of four dimensions; their elements belong to others */
  bool given;
  int64_t count;
  int64_t room;                    /* positions of the results; 0: as many as there are */
  const leati_ref_tensor *origins; /* which of the batches that belong together had each; NULL: its own */
} earlier;

/* Reads the one number of a tensor; 0: there is none. */
static int64_t number_of(const leati_ref_tensor *x) {
  return x != NULL && x->count == 1 ? x->i[0] : 0;
}

/* Adds so many elements of a bias, head by head, to each position; `x` becomes the result. */
static void add_bias(operand *x, leati_ref_type type, const double *bias, leati_ref_tensor *out) {
  const int64_t dims[4] = {x->batch, x->heads, x->positions, x->size};
  leati_ref_tensor_init(out, type, 4, dims);
  for (int64_t i = 0; i < out->count; ++i) {
    const int64_t e = i % dims[3];
    const int64_t s = i / dims[3] % dims[2];
    const int64_t h = i / dims[3] / dims[2] % dims[1];
    const int64_t b = i / dims[3] / dims[2] / dims[1];
    out->f[i] = x->f[place_of(x, b, h, s, e)] + bias[h * x->size + e];
    out->bound[i] = leati_ref_bound_ulps(out->f[i], 1);
  }
  *x = (operand){.f = out->f,
                 .off = out->bound,
                 .layout = letters,
                 .batch = dims[0],
                 .heads = dims[1],
                 .positions = dims[2],
                 .size = dims[3]};
  walk(x);
}

/* Earlier positions, each as the batch had it that it is from. */
static void gather(const leati_ref_tensor *past, const leati_ref_tensor *origins, leati_ref_type type,
                   leati_ref_tensor *out) {
  const int64_t beams = origins->dims[1];
  const int64_t positions = origins->dims[2];
  leati_ref_tensor_init(out, type, 4, past->dims);
  for (int64_t i = 0; i < out->count; ++i) {
    int64_t at[4];
    leati_ref_unravel(4, past->dims, i, at);
    if (at[2] < positions) {
      const int64_t beam = origins->i[at[0] * positions + at[2]];
      at[0] = at[0] / beams * beams + (beam < 0 ? 0 : beam < beams ? beam : beams - 1);
    }
    out->f[i] = past->f[element_of(past, at)];
  }
}

static bool fits(const leati_ref_node *node, const attention *a, const earlier *past, uint32_t added, bool square) {
  const leati_ref_tensor *mask = leati_ref_input(node, added);
  const leati_ref_tensor *x = a->numbers;
  const int64_t batches = a->q.batch;
  const int64_t queries = a->q.positions;
  const int64_t keys = past->count + a->k.positions;
  bool good = a->k.batch == batches && a->k.positions == a->v.positions && a->q.heads == a->k.heads;
  for (uint32_t i = 0; i < 2 && past->given; ++i) {
    const leati_ref_tensor *part = &past->parts[i];
    const operand *with = i == 0 ? &a->k : &a->v;
    good = good && part->rank == 4 && part->dims[0] == with->batch && part->dims[1] == with->heads &&
           part->dims[3] == with->size && part->dims[2] == past->parts[0].dims[2] && past->count <= part->dims[2];
  }
  good = good && past->count >= 0 && (past->room == 0 || keys <= past->room) &&
         (past->origins == NULL ||
          (past->given && past->origins->rank == 3 && past->origins->dims[0] * past->origins->dims[1] == batches &&
           past->origins->dims[1] > 0 && past->origins->dims[2] >= past->count));
  good = good && (mask == NULL || (mask->rank == 4 && (mask->dims[0] == 1 || mask->dims[0] == batches) &&
                                   (mask->dims[1] == 1 || mask->dims[1] == a->q.heads) && mask->dims[2] == queries &&
                                   mask->dims[3] == keys));
  if (x == NULL || !good) {
    return good;
  }
  const bool own = x->rank > 0 && x->dims[0] == batches;
  return x->rank == 1   ? own || x->dims[0] == 3 * batches + 2 || (square && x->dims[0] == 2 * batches)
         : x->rank == 2 ? (own && x->dims[1] == keys) || (square && (own || x->dims[0] == 1) && x->dims[1] == 1)
         : x->rank == 3 ? own && x->dims[1] == queries && x->dims[2] == keys
                        : x->rank == 4 && square && a->after < 0 && own && x->dims[1] == 1 &&
                              x->dims[2] == x->dims[3] && x->dims[2] >= keys && x->dims[2] >= past->count + queries;
}

/* Adds the bias, puts keys and values behind earlier ones, and attends. `added`: the input that is added to scores;
 * `square`: of Attention, whose masks have more forms. `present` is what becomes of keys and values. */
static bool attend_multi_head(leati_ref_node *node, attention *a, const earlier *past, uint32_t added, bool square,
                              const leati_ref_tensor *bias, bool of_queries, leati_ref_tensor present[2]) {
  const leati_ref_type type = float_of(node);
  operand *const parts[3] = {&a->q, &a->k, &a->v};
  leati_ref_tensor biased[3] = {0}, gathered[2] = {0}, used[2] = {0};
  int64_t width = 0;
  if (!fits(node, a, past, added, square)) {
    return leati_ref_fail(node, "%s: inputs do not go together", node->name);
  }
  for (uint32_t i = 0; i < 3; ++i) {
    width += parts[i]->heads * parts[i]->size;
  }
  if (bias != NULL && (bias->rank != 1 || bias->count != width)) {
    return leati_ref_fail(node, "%s: no such bias", node->name);
  }
  int64_t first = 0;
  for (uint32_t i = 0; i < 3 && bias != NULL; ++i) {
    const int64_t count = parts[i]->heads * parts[i]->size;
    if (i == 0 || !of_queries) {
      add_bias(parts[i], type, bias->f + first, &biased[i]);
    }
    first += count;
  }
  const int64_t keys = past->count + a->k.positions;
  const int64_t room = past->room != 0 ? past->room : keys;
  const attention plain = {0};
  bool done = true;
  a->mask = leati_ref_input(node, added);
  a->offset = past->count;
  a->most = keys;
  for (uint32_t i = 0; i < 2 && done; ++i) {
    const leati_ref_tensor *own = past->given ? &past->parts[i] : NULL;
    operand fresh = *parts[1 + i];
    done = append(node, &plain, own, &fresh, room, keys, &present[i]);
    if (done && past->origins != NULL) {
      gather(own, past->origins, type, &gathered[i]);
      fresh = *parts[1 + i];
      done = append(node, &plain, &gathered[i], &fresh, room, keys, &used[i]);
    }
    *parts[1 + i] = fresh;
  }
  if (node->output_count > 3) {
    a->scores = &node->outputs[3];
    a->mode = 2;
    a->k.positions = a->v.positions = keys;
  }
  done = done && attend_all(node, a);
  for (uint32_t i = 0; i < 3; ++i) {
    leati_ref_tensor_clear(&biased[i]);
  }
  for (uint32_t i = 0; i < 2; ++i) {
    leati_ref_tensor_clear(&gathered[i]);
    leati_ref_tensor_clear(&used[i]);
  }
  return done;
}

/* Part `which` of those that are packed: [batches, positions, heads, count, elements of a head]. */
static operand packed(const leati_ref_tensor *x, int64_t which) {
  const int64_t *d = x->dims;
  const int64_t step = d[3] * d[4];
  return (operand){.f = x->f + which * d[4],
                   .layout = "bshd",
                   .batch = d[0],
                   .heads = d[2],
                   .positions = d[1],
                   .size = d[4],
                   .strides = {d[1] * d[2] * step, step, d[2] * step, 1}};
}

static bool is_packed(const leati_ref_tensor *x, int64_t heads, int64_t count) {
  return x->rank == 5 && x->dims[2] == heads && x->dims[3] == count && heads > 0 && x->dims[4] > 0;
}

/* Queries, keys and values apart, keys and values packed, or all of them. */
static bool read_multi_head(leati_ref_node *node, int64_t heads, attention *a) {
  const leati_ref_tensor *query = leati_ref_input(node, 0);
  const leati_ref_tensor *key = leati_ref_input(node, 1);
  const leati_ref_tensor *value = leati_ref_input(node, 2);
  operand *const all[3] = {&a->q, &a->k, &a->v};
  if (key == NULL && value == NULL && is_packed(query, heads, 3)) {
    for (uint32_t i = 0; i < 3; ++i) {
      *all[i] = packed(query, i);
    }
    return true;
  }
  if (query->rank != 3 || key == NULL || !read_operand(node, 0, "", heads, &a->q)) {
    return leati_ref_fail(node, "%s: no such queries", node->name);
  }
  if (value == NULL && is_packed(key, heads, 2)) {
    for (uint32_t i = 1; i < 3; ++i) {
      *all[i] = packed(key, i - 1);
    }
    return true;
  }
  return value != NULL && read_operand(node, 1, "", heads, &a->k) && read_operand(node, 2, "", heads, &a->v)
             ? true
             : leati_ref_fail(node, "%s: no such keys and values", node->name);
}

static bool run_multi_head(leati_ref_node *node) {
  attention a = {.numbers = leati_ref_input(node, 4),
                 .filter = (double)leati_ref_float(node, "mask_filter_value", -10000),
                 .before = -1,
                 .after = leati_ref_int(node, "unidirectional", 0) != 0 ? 0 : -1,
                 .scale = (double)leati_ref_float(node, "scale", 0)};
  const leati_ref_tensor *key = leati_ref_input(node, 1);
  const leati_ref_tensor *count = leati_ref_input(node, 8);
  earlier past = {.given = leati_ref_input(node, 6) != NULL};
  past.origins = past.given ? leati_ref_input(node, 9) : NULL; /* of keys of an encoder it says nothing */
  if (past.given != (leati_ref_input(node, 7) != NULL) ||
      !read_multi_head(node, leati_ref_int(node, "num_heads", 0), &a)) {
    return leati_ref_fail(node, "%s: operands do not go together", node->name);
  }
  for (uint32_t i = 0; i < 2 && past.given; ++i) {
    past.parts[i] = *leati_ref_input(node, 6 + i);
    past.count = past.parts[i].rank == 4 ? past.parts[i].dims[2] : 0;
  }
  if (past.given && count != NULL) {
    past.room = past.count;
    past.count = number_of(count);
  }
  a.scale = a.scale != 0 ? a.scale : 1 / sqrt((double)a.q.size);
  leati_ref_tensor present[2] = {0};
  const bool done =
      attend_multi_head(node, &a, &past, 5, false, leati_ref_input(node, 3), key != NULL && key->rank == 4, present);
  give_present(node, done, present);
  return done;
}

#define NONE UINT32_MAX /* in the place of an input that an operator does not have */

/* Where the inputs are of an operator that projects its input. */
typedef struct projected_inputs {
  uint32_t mask, past, added, past_count;
  uint32_t x_scale, w_scale, x_zero, w_zero; /* of bytes that stand for floats; 0: there are none */
} projected_inputs;

/* Element `at` of a scale or zero point, which may be one for all, or absent. */
static double small_at(const leati_ref_tensor *x, int64_t at, double otherwise) {
  if (x == NULL) {
    return otherwise;
  }
  const int64_t i = x->count == 1 ? 0 : at;
  return leati_ref_type_is_float(x->type) ? x->f[i] : (double)x->i[i];
}

/* The input times the weights, and the bias. Of bytes the sum is exact; it is rounded when it becomes a float, as are
 * the product of the scales, both together, and the sum with the bias. */
static bool project(leati_ref_node *node, const projected_inputs *at, leati_ref_tensor *out) {
  const leati_ref_tensor *x = node->inputs[0];
  const leati_ref_tensor *w = node->inputs[1];
  const leati_ref_tensor *bias = leati_ref_input(node, 2);
  if (x->rank != 3 || w->rank != 2 || x->dims[2] != w->dims[0] ||
      (bias != NULL && (bias->rank != 1 || bias->count != w->dims[1]))) {
    return leati_ref_fail(node, "%s: input and weights do not go together", node->name);
  }
  const bool bytes = at->x_scale != 0;
  const leati_ref_tensor *x_zero = bytes ? leati_ref_input(node, at->x_zero) : NULL;
  const leati_ref_tensor *w_zero = bytes ? leati_ref_input(node, at->w_zero) : NULL;
  const int64_t depth = w->dims[0];
  const int64_t width = w->dims[1];
  leati_ref_tensor_init(out, (bytes ? bias : x)->type, 3, (const int64_t[3]){x->dims[0], x->dims[1], width});
  for (int64_t i = 0; i < out->count; ++i) {
    const int64_t column = i % width;
    const double own = bias != NULL ? bias->f[column] : 0;
    leati_ref_products sum = {0};
    for (int64_t k = 0; k < depth; ++k) {
      const int64_t in_x = i / width * depth + k, in_w = k * width + column;
      const double a = bytes ? (double)x->i[in_x] - small_at(x_zero, 0, 0) : x->f[in_x];
      const double b = bytes ? (double)w->i[in_w] - small_at(w_zero, column, 0) : w->f[in_w];
      leati_ref_add_product(&sum, a, b);
    }
    if (bytes) {
      sum.sum *= node->inputs[at->x_scale]->f[0] * small_at(node->inputs[at->w_scale], column, 0);
      out->f[i] = sum.sum + own;
      out->bound[i] = leati_ref_bound_ulps(sum.sum, 3) + leati_ref_bound_ulps(fabs(sum.sum) + fabs(own), 1);
      continue;
    }
    sum.magnitude += fabs(own);
    out->f[i] = sum.sum + own;
    out->bound[i] = leati_ref_bound_products(depth + 1, &sum, x->type == LEATI_REF_FLOAT32);
  }
  return true;
}

/* Keys (0) or values (1) of a tensor that has both. */
static leati_ref_tensor half_of(const leati_ref_tensor *both, int64_t which) {
  leati_ref_tensor half = *both;
  half.rank = 4;
  half.count = both->count / 2;
  half.f = both->f + which * half.count;
  memcpy(half.dims, both->dims + 1, 4 * sizeof(half.dims[0]));
  return half;
}

/* com.microsoft's Attention, which projects its input, and gives keys and values in one tensor, and its like. */
static bool run_projected(leati_ref_node *node, const projected_inputs *at) {
  const leati_ref_tensor *both = leati_ref_input(node, at->past);
  const int64_t heads = leati_ref_int(node, "num_heads", 0);
  attention a = {.numbers = leati_ref_input(node, at->mask),
                 .filter = (double)leati_ref_float(node, "mask_filter_value", -10000),
                 .before = -1,
                 .after = leati_ref_int(node, "unidirectional", 0) != 0 ? 0 : -1,
                 .scale = (double)leati_ref_float(node, "scale", 0)};
  leati_ref_tensor projection = {0};
  earlier past = {.given = both != NULL};
  if (heads < 1 || !project(node, at, &projection)) {
    return leati_ref_fail(node, "%s: no such heads", node->name);
  }
  operand *const parts[3] = {&a.q, &a.k, &a.v};
  int64_t first = 0;
  bool done = true;
  for (uint32_t i = 0; i < 3; ++i) {
    const int64_t width = leati_ref_ints_at(node, "qkv_hidden_sizes", i, projection.dims[2] / 3);
    done = done && width > 0 && width % heads == 0;
    *parts[i] = columns_of(&projection, first, heads, width / heads);
    parts[i]->off = projection.bound + first;
    first += width;
  }
  done = done && first == projection.dims[2] && a.q.size == a.k.size &&
         (both == NULL || (both->rank == 5 && both->dims[0] == 2)) && (node->output_count < 2 || a.k.size == a.v.size);
  for (uint32_t i = 0; i < 2 && done && past.given; ++i) {
    past.parts[i] = half_of(both, i);
    past.count = both->dims[3];
  }
  if (past.given && leati_ref_int(node, "past_present_share_buffer", 0) != 0) {
    past.room = past.count;
    const leati_ref_tensor *count = leati_ref_input(node, at->past_count);
    past.count = count != NULL ? number_of(count) : -1;
  }
  a.scale = a.scale != 0 ? a.scale : 1 / sqrt((double)(a.q.size > 0 ? a.q.size : 1));
  leati_ref_tensor present[2] = {0};
  done = done && attend_multi_head(node, &a, &past, at->added, true, NULL, false, present);
  if (done && node->output_count > 1) {
    const int64_t *d = present[0].dims;
    leati_ref_tensor *y = &node->outputs[1];
    leati_ref_tensor_init(y, projection.type, 5, (const int64_t[5]){2, d[0], d[1], d[2], d[3]});
    for (int64_t i = 0; i < y->count; ++i) {
      const leati_ref_tensor *from = &present[i / (y->count / 2)];
      y->f[i] = from->f[i % from->count];
      y->bound[i] = from->bound[i % from->count];
    }
  }
  leati_ref_tensor_clear(&present[0]);
  leati_ref_tensor_clear(&present[1]);
  leati_ref_tensor_clear(&projection);
  return done ? true : leati_ref_fail(node, "%s: inputs do not go together", node->name);
}

/* The reference knows names without domains: that of com.microsoft is of version 1. */
static bool run_any_attention(leati_ref_node *node) {
  static const projected_inputs at = {.mask = 3, .past = 4, .added = 5, .past_count = 6};
  return node->since_version < 23 ? run_projected(node, &at) : run_attention(node);
}

static bool run_q_attention(leati_ref_node *node) {
  static const projected_inputs at = {
      .mask = 5, .past = 8, .added = NONE, .x_scale = 3, .w_scale = 4, .x_zero = 6, .w_zero = 7};
  return run_projected(node, &at);
}

/* ---- With caches that are kept ---------------------------------------------------------------------------------- */

/* Reads queries, keys and values, which may be packed in one tensor. */
static bool read_group(leati_ref_node *node, int64_t heads, int64_t kv_heads, attention *a) {
  const leati_ref_tensor *query = leati_ref_input(node, 0);
  const leati_ref_tensor *key = leati_ref_input(node, 1);
  const leati_ref_tensor *value = leati_ref_input(node, 2);
  const int64_t all = key != NULL ? heads : heads + 2 * kv_heads;
  if (heads < 1 || kv_heads < 1 || heads % kv_heads != 0 || (key == NULL) != (value == NULL) || query->rank != 3 ||
      query->dims[2] % all != 0 || query->dims[2] == 0) {
    return leati_ref_fail(node, "%s: no such heads", node->name);
  }
  const int64_t size = query->dims[2] / all;
  for (uint32_t i = 1; i < 3 && key != NULL; ++i) {
    const leati_ref_tensor *x = leati_ref_input(node, i);
    if (x->rank != 3 || x->dims[0] != query->dims[0] || x->dims[1] != query->dims[1] || x->dims[2] != kv_heads * size) {
      return leati_ref_fail(node, "%s: keys and values do not go with the queries", node->name);
    }
  }
  a->q = columns_of(query, 0, heads, size);
  a->k = key != NULL ? columns_of(key, 0, kv_heads, size) : columns_of(query, heads * size, kv_heads, size);
  a->v = value != NULL ? columns_of(value, 0, kv_heads, size)
                       : columns_of(query, (heads + kv_heads) * size, kv_heads, size);
  return true;
}

/* The position by which a new one of a batch is rotated. Where all are new, the first number counts for all of them; of
 * a number out of range the nearest up to `last`. */
static int64_t position_of(const attention *a, const leati_ref_tensor *ids, int64_t batch, int64_t s, int64_t last) {
  if (ids == NULL) {
    return (a->ends ? keys_of(a, batch) - a->q.positions : 0) + s;
  }
  const int64_t given = ids->i[a->ends ? batch * a->q.positions + s : 0];
  return (given < 0 ? 0 : given < last ? given : last) + (a->ends ? 0 : s);
}

/* Element `e` of a head, of which so many pairs are turned, at an angle of which the cosines and sines begin at `at`.
 * Two products and a sum, each rounded once, if not together. */
typedef struct turn {
  const leati_ref_tensor *cosines, *sines;
  bool interleaved;
  int64_t pairs;
} turn;
static double turned(const turn *by, const double *head, int64_t stride, int64_t e, int64_t at, double *out_bound) {
  const double own = head[e * stride];
  *out_bound = 0;
  if (e >= 2 * by->pairs) {
    return own;
  }
  const bool second = by->interleaved ? e % 2 == 1 : e >= by->pairs;
  const int64_t apart = by->interleaved ? 1 : by->pairs;
  const int64_t pair = by->interleaved ? e / 2 : second ? e - by->pairs : e;
  const double straight = own * by->cosines->f[at + pair];
  const double crossed = head[(second ? e - apart : e + apart) * stride] * by->sines->f[at + pair];
  *out_bound = 2 * LEATI_REF_ULP * (fabs(straight) + fabs(crossed)) + 3 * FLT_MIN;
  return second ? straight + crossed : straight - crossed;
}

/* By how much element `e` of a head that begins at `head` is off because its pair is. */
static double turned_off(const attention *a, const turn *by, const operand *x, int64_t head, int64_t e, int64_t at) {
  const double own = off_of(a, x, head + e * x->strides[3]);
  if (e >= 2 * by->pairs) {
    return own;
  }
  const bool second = by->interleaved ? e % 2 == 1 : e >= by->pairs;
  const int64_t apart = by->interleaved ? 1 : by->pairs;
  const int64_t pair = by->interleaved ? e / 2 : second ? e - by->pairs : e;
  const double other = off_of(a, x, head + (second ? e - apart : e + apart) * x->strides[3]);
  return own * fabs(by->cosines->f[at + pair]) + other * fabs(by->sines->f[at + pair]);
}

/* Divides each head by the root of the mean of its squares and multiplies by weights; `x` becomes the result. Of n
 * squares the sum is off by (n + 2) / 2 ULP, the root of it by half of that, the root by 2, mean, epsilon and two
 * products by one each. */
static bool normalise(leati_ref_node *node, const leati_ref_tensor *weights, const char *epsilon, operand *x,
                      leati_ref_tensor *out) {
  const double added = (double)leati_ref_float(node, epsilon, leati_ref_float(node, "qk_norm_epsilon", 1e-6F));
  const int64_t dims[4] = {x->batch, x->heads, x->positions, x->size};
  if (weights->rank != 1 || weights->count != x->size) {
    return leati_ref_fail(node, "%s: no such norm", node->name);
  }
  leati_ref_tensor_init(out, node->inputs[0]->type, 4, dims);
  for (int64_t i = 0; i < out->count; ++i) {
    int64_t at[4];
    double squares = 0;
    leati_ref_unravel(4, dims, i, at);
    for (int64_t e = 0; e < x->size; ++e) {
      const double own = x->f[place_of(x, at[0], at[1], at[2], e)];
      squares += own * own;
    }
    out->f[i] =
        x->f[place_of(x, at[0], at[1], at[2], at[3])] / sqrt(squares / (double)x->size + added) * weights->f[at[3]];
    out->bound[i] = leati_ref_bound_ulps(out->f[i], (double)(x->size + 2) / 4 + 6);
  }
  *x = (operand){.f = out->f,
                 .off = out->bound,
                 .layout = letters,
                 .batch = dims[0],
                 .heads = dims[1],
                 .positions = dims[2],
                 .size = dims[3]};
  walk(x);
  return true;
}

/* Turns pairs of elements by the angles of their positions; `x` becomes the result. */
static bool rotate(leati_ref_node *node, const attention *a, operand *x, leati_ref_tensor *out) {
  const leati_ref_tensor *cosines = leati_ref_input(node, 7);
  const leati_ref_tensor *sines = leati_ref_input(node, 8);
  const leati_ref_tensor *ids = leati_ref_input(node, 9);
  if (cosines == NULL || sines == NULL || cosines->rank != 2 || sines->rank != 2 ||
      cosines->dims[0] != sines->dims[0] || cosines->dims[1] != sines->dims[1] || 2 * cosines->dims[1] > x->size) {
    return leati_ref_fail(node, "%s: no angles", node->name);
  }
  const turn by = {.cosines = cosines,
                   .sines = sines,
                   .interleaved = leati_ref_int(node, "rotary_interleaved", 0) != 0,
                   .pairs = cosines->dims[1]};
  const int64_t dims[4] = {x->batch, x->heads, x->positions, x->size};
  leati_ref_tensor_init(out, node->inputs[0]->type, 4, dims);
  for (int64_t i = 0; i < out->count; ++i) {
    const int64_t e = i % dims[3];
    const int64_t s = i / dims[3] % dims[2];
    const int64_t h = i / dims[3] / dims[2] % dims[1];
    const int64_t b = i / dims[3] / dims[2] / dims[1];
    /* A number that is out of range may lead to a position that no angles are for. */
    const int64_t last = cosines->dims[0] - 1;
    const int64_t position = position_of(a, ids, b, s, last);
    const int64_t head = place_of(x, b, h, s, 0);
    const int64_t at = (position < last ? position : last) * by.pairs;
    out->f[i] = turned(&by, &x->f[head], x->strides[3], e, at, &out->bound[i]);
    if (x->off != NULL) {
      out->bound[i] += turned_off(a, &by, x, head, e, at);
    }
  }
  *x = (operand){.f = out->f,
                 .off = out->bound,
                 .layout = x->layout,
                 .batch = dims[0],
                 .heads = dims[1],
                 .positions = dims[2],
                 .size = dims[3],
                 .strides = {dims[1] * dims[2] * dims[3], dims[2] * dims[3], dims[3], 1}};
  return true;
}

/* Whether optional inputs have the shapes that they need; `total`: positions of the longest batch. */
static bool has_optional(const leati_ref_node *node, const attention *a, int64_t total) {
  const leati_ref_tensor *ids = leati_ref_input(node, 9);
  const leati_ref_tensor *bias = leati_ref_input(node, 10);
  const leati_ref_tensor *sinks = leati_ref_input(node, 11);
  const operand *q = &a->q;
  return (ids == NULL || (ids->rank == 2 && ids->dims[0] == q->batch && ids->dims[1] == q->positions)) &&
         (bias == NULL || (bias->rank == 4 && (bias->dims[0] == 1 || bias->dims[0] == q->batch) &&
                           (bias->dims[1] == 1 || bias->dims[1] == q->heads) && bias->dims[2] == q->positions &&
                           bias->dims[3] == total)) &&
         (sinks == NULL || (sinks->rank == 1 && sinks->dims[0] == q->heads));
}

/* Positions of a batch at most that a cache of a window counts to. */
#define TOTAL_MAX (1 << 30)

/* Of so many positions, how many of the last ones are in a cache that has room for a window. */
static int64_t resident(const leati_ref_node *node, int64_t capacity, int64_t total) {
  const int64_t step = capacity - leati_ref_int(node, "local_window_size", -1) + 1;
  const int64_t over = total - capacity;
  return over <= 0 ? total : total - step * ((over + step - 1) / step);
}

/* How many keys each batch has when `fresh` new ones lie behind those in such a cache. */
static void count_resident(const leati_ref_node *node, const attention *a, int64_t capacity, leati_ref_tensor *out) {
  leati_ref_tensor_init(out, LEATI_REF_INT32, 1, (const int64_t[1]){a->q.batch});
  for (int64_t b = 0; b < a->q.batch; ++b) {
    out->i[b] = resident(node, capacity, keys_of(a, b) - a->q.positions) + a->q.positions;
  }
}

/* How many of the new positions of a batch there are; the others are padding. */
static int64_t valid_of(const leati_ref_node *node, const attention *a, int64_t batch) {
  const leati_ref_tensor *valid = leati_ref_input(node, 16);
  const int64_t fresh = a->q.positions, given = valid != NULL ? valid->i[batch] : fresh;
  return given < 0 ? 0 : given < fresh ? given : fresh;
}

/* Positions of each batch with all of the new ones, padding included. */
static void count_padded(const leati_ref_node *node, const attention *a, leati_ref_tensor *out) {
  leati_ref_tensor_init(out, LEATI_REF_INT32, 1, (const int64_t[1]){a->q.batch});
  for (int64_t b = 0; b < a->q.batch; ++b) {
    const int64_t given = a->lengths->i[b], total = given >= TOTAL_MAX ? TOTAL_MAX : given < 0 ? 0 : given + 1;
    const int64_t before = total - valid_of(node, a, b);
    out->i[b] = (before < 0 ? 0 : before) + a->q.positions;
  }
}

/* Of keys or values with the new ones behind those in such a cache, what stays in it; `x` becomes that. `a` counts all
 * positions of a batch. */
static void keep_resident(const leati_ref_node *node, const attention *a, int64_t capacity, leati_ref_tensor *x) {
  leati_ref_tensor kept = {0};
  leati_ref_tensor_init(&kept, x->type, 4, (const int64_t[4]){x->dims[0], x->dims[1], capacity, x->dims[3]});
  for (int64_t i = 0; i < kept.count; ++i) {
    int64_t at[4];
    leati_ref_unravel(4, kept.dims, i, at);
    const int64_t valid = valid_of(node, a, at[0]), before = keys_of(a, at[0]) - a->q.positions;
    const int64_t stay = resident(node, capacity, before + valid);
    if (at[2] < stay) {
      at[2] += resident(node, capacity, before) + valid - stay;
      kept.f[i] = x->f[element_of(x, at)];
      kept.bound[i] = x->bound[element_of(x, at)];
    }
  }
  leati_ref_tensor_clear(x);
  *x = kept;
}

/* ---- Caches of codes ---- */

/* Code `e` of a row of bytes, of so many bits each. */
static double code_at(const leati_ref_tensor *x, int64_t row, int64_t e, int64_t bits) {
  const int64_t byte = x->i[row * x->dims[3] + e * bits / 8];
  return (double)(bits == 8 ? byte : (byte >> e % 2 * 4 & 15) - 8);
}

/* The scale of an element of a head: the only one, or its own. */
static double scale_at(const leati_ref_tensor *scales, int64_t head, int64_t size, int64_t e) {
  return scales->f[scales->count == 1 ? 0 : head * size + e];
}

/* Codes of earlier positions as numbers; of new ones, which `fresh` becomes, those that elements are nearest to, off by
 * one where two are as near. */
static void code_all(const attention *a, const leati_ref_tensor *past, const leati_ref_tensor *scales, int64_t bits,
                     operand *fresh, leati_ref_tensor out[2]) {
  const int64_t heads = fresh->heads, size = fresh->size;
  const double low = bits == 8 ? -128 : -8;
  leati_ref_tensor code = {0};
  leati_ref_tensor_init(&code, LEATI_REF_INT8, 1, (const int64_t[1]){1});
  code.bound = leati_ref_alloc(1, sizeof(double));
  leati_ref_tensor_init(&out[0], LEATI_REF_FLOAT32, 4, (const int64_t[4]){past->dims[0], heads, past->dims[2], size});
  for (int64_t i = 0; i < out[0].count; ++i) {
    out[0].f[i] = code_at(past, i / size, i % size, bits);
  }
  leati_ref_tensor_init(&out[1], LEATI_REF_FLOAT32, 4, (const int64_t[4]){fresh->batch, heads, fresh->positions, size});
  for (int64_t i = 0; i < out[1].count; ++i) {
    int64_t at[4];
    leati_ref_unravel(4, out[1].dims, i, at);
    const int64_t from = place_of(fresh, at[0], at[1], at[2], at[3]);
    const double x = fresh->f[from], off = off_of(a, fresh, from);
    leati_ref_quantise(&code, 0, x - off, x + off, scale_at(scales, at[1], size, at[3]), 0);
    const double one = fmax(low, (double)code.i[0]), other = fmax(low, (double)code.i[0] + code.bound[0]);
    out[1].f[i] = fmin(-low - 1, one);
    out[1].bound[i] = fmin(-low - 1, other) - out[1].f[i];
  }
  leati_ref_tensor_clear(&code);
  *fresh = (operand){.f = out[1].f,
                     .off = out[1].bound,
                     .layout = letters,
                     .batch = fresh->batch,
                     .heads = heads,
                     .positions = fresh->positions,
                     .size = size};
  walk(fresh);
}

/* What codes stand for: `x` becomes that, in the type of the operands. */
static void decode(const attention *a, const leati_ref_tensor *codes, const leati_ref_tensor *scales, operand *x,
                   leati_ref_tensor *out) {
  leati_ref_tensor_init(out, codes->type, 4, codes->dims);
  for (int64_t i = 0; i < out->count; ++i) {
    const double scale =
        scale_at(scales, i / codes->dims[3] / codes->dims[2] % codes->dims[1], codes->dims[3], i % codes->dims[3]);
    out->f[i] = codes->f[i] * scale;
    out->bound[i] = codes->bound[i] * fabs(scale) + LEATI_REF_ULP * fabs(out->f[i]) + a->weight_lost;
  }
  x->f = out->f;
  x->off = out->bound;
}

/* Codes as the cache has them, with bytes of 0 behind the last of a batch. */
static void pack(const attention *a, leati_ref_type type, int64_t bits, int64_t used, leati_ref_tensor *x) {
  leati_ref_tensor packed = {0};
  const int64_t width = x->dims[3] * bits / 8;
  leati_ref_tensor_init(&packed, type, 4, (const int64_t[4]){x->dims[0], x->dims[1], x->dims[2], width});
  packed.bound = leati_ref_alloc(packed.count, sizeof(double));
  for (int64_t i = 0; i < packed.count; ++i) {
    int64_t at[4];
    leati_ref_unravel(4, packed.dims, i, at);
    const int64_t end = a->lengths != NULL ? keys_of(a, at[0]) : used, from = i * 8 / bits;
    for (int64_t j = 0; j < 8 / bits && at[2] < end; ++j) {
      const int64_t code = (int64_t)x->f[from + j];
      packed.i[i] += bits == 8 ? code : (code + 8) * (j == 0 ? 1 : 16);
      packed.bound[i] += x->bound[from + j] * (j == 0 ? 1 : 16);
    }
  }
  leati_ref_tensor_clear(x);
  *x = packed;
}

/* Bits of the codes of caches; 0: they are floats. */
static int64_t bits_of(const leati_ref_node *node) {
  return leati_ref_string_is(node, "k_quant_type", "NONE", "NONE") ? 0 : leati_ref_int(node, "kv_cache_bit_width", 8);
}

/* Whether caches of codes are of that type and width, with scales for them. */
static bool has_codes(const leati_ref_node *node, const attention *a) {
  const int64_t bits = bits_of(node);
  for (uint32_t i = 0; i < 2 && bits != 0; ++i) {
    const leati_ref_tensor *past = leati_ref_input(node, 3 + i), *scales = leati_ref_input(node, 12 + i);
    const bool by_channel = leati_ref_string_is(node, i == 0 ? "k_quant_type" : "v_quant_type", "", "PER_CHANNEL");
    if ((bits != 4 && bits != 8) || past == NULL || scales == NULL || past->rank != 4 || a->k.size * bits % 8 != 0 ||
        past->type != (bits == 8 ? LEATI_REF_INT8 : LEATI_REF_UINT8) || past->dims[0] != a->q.batch ||
        past->dims[1] != a->k.heads || past->dims[3] != a->k.size * bits / 8 ||
        scales->count != (by_channel ? a->k.heads * a->k.size : 1)) {
      return false;
    }
  }
  return true;
}

/* Rotates, puts keys and values behind earlier ones, and attends. All new: nothing of the earlier ones counts, and a
 * batch may have fewer keys than there are new ones; else its last key is the last new one. */
static bool run_group_query(leati_ref_node *node) {
  attention a = {.mask = leati_ref_input(node, 10),
                 .padded = true,
                 .infinite = true,
                 .sinks = leati_ref_input(node, 11),
                 .smooth = leati_ref_int(node, "smooth_softmax", 0) == 1,
                 .lengths = leati_ref_input(node, 5),
                 .added = 1,
                 .before = leati_ref_int(node, "local_window_size", -1),
                 .after = leati_ref_int(node, "causal", 1) != 0 ? 0 : -1,
                 .scale = (double)leati_ref_float(node, "scale", 0),
                 .cap = (double)leati_ref_float(node, "softcap", 0)};
  const leati_ref_tensor *total = leati_ref_input(node, 6);
  const leati_ref_tensor *past_key = leati_ref_input(node, 3);
  const leati_ref_tensor *past_value = leati_ref_input(node, 4);
  if (a.lengths == NULL || total == NULL || total->count != 1 || (past_key == NULL) != (past_value == NULL) ||
      (past_key != NULL &&
       (past_key->rank != 4 || past_value->rank != 4 || past_key->dims[2] != past_value->dims[2])) ||
      !read_group(node, leati_ref_int(node, "num_heads", 0), leati_ref_int(node, "kv_num_heads", 0), &a) ||
      a.lengths->count != a.q.batch || !has_optional(node, &a, total->i[0])) {
    return leati_ref_fail(node, "%s: inputs do not go together", node->name);
  }
  const leati_ref_tensor *valid = leati_ref_input(node, 16);
  const int64_t bits = bits_of(node), form = leati_ref_int(node, "qk_output", 0);
  if (total->i[0] < (valid != NULL && leati_ref_int(node, "sliding_window_cache", 0) != 0 ? 1 : a.q.positions) ||
      !has_codes(node, &a) || (valid != NULL && (valid->rank != 1 || valid->count != a.q.batch || a.after != 0)) ||
      (node->output_count > 3 && form == 0)) {
    return leati_ref_fail(node, "%s: not of this form", node->name);
  }
  const int64_t fresh = a.q.positions;
  const int64_t past = past_key != NULL ? past_key->dims[2] : 0;
  const bool evicts = leati_ref_int(node, "sliding_window_cache", 0) != 0;
  /* Else all positions that there ever were have room. */
  const bool over = evicts && (total->i[0] > past || valid != NULL);
  a.ends = total->i[0] != fresh || valid != NULL;
  const int64_t room = over ? fresh + (a.ends ? past : 0) : total->i[0] > past ? total->i[0] : past;
  const int64_t before = past < room - fresh ? past : room - fresh;
  a.least = a.ends ? fresh : 0;
  a.most = !a.ends ? fresh : over ? TOTAL_MAX : before + fresh;
  if (evicts && (past_key == NULL || a.before < 1 || past < a.before || a.mask != NULL || fresh == 0)) {
    return leati_ref_fail(node, "%s: no cache of a window", node->name);
  }
  a.before = a.before > 0 ? a.before - 1 : -1;
  a.scale = a.scale != 0 ? a.scale : 1 / sqrt((double)a.q.size);
  leati_ref_tensor rotated[2] = {0};
  leati_ref_tensor normal[2] = {0};
  leati_ref_tensor present[2] = {0};
  leati_ref_tensor keys = {0};
  const bool rotates = leati_ref_int(node, "do_rotary", 0) != 0;
  const leati_ref_tensor *norms[2] = {leati_ref_input(node, 14), leati_ref_input(node, 15)};
  set_type(&a, node->inputs[0]->type);
  if ((norms[0] == NULL) != (norms[1] == NULL)) {
    return leati_ref_fail(node, "%s: one norm", node->name);
  }
  leati_ref_tensor padded = {0}, codes[4] = {{0}}, values[2] = {{0}};
  if (valid != NULL) {
    count_padded(node, &a, &padded);
    a.lengths = &padded;
    a.added = 0;
  }
  attention all = a;
  all.most = valid != NULL ? TOTAL_MAX + fresh : a.most;
  if (over && a.ends) {
    count_resident(node, &all, past, &keys);
  }
  const bool prepared = (norms[0] == NULL || (normalise(node, norms[0], "q_norm_epsilon", &a.q, &normal[0]) &&
                                              normalise(node, norms[1], "k_norm_epsilon", &a.k, &normal[1]))) &&
                        (!rotates || (rotate(node, &all, &a.q, &rotated[0]) && rotate(node, &all, &a.k, &rotated[1])));
  if (keys.count != 0) {
    a.lengths = &keys;
    a.added = 0;
    a.most = room;
  }
  attention used = a;
  used.lengths = a.ends ? a.lengths : NULL;
  const leati_ref_tensor *behind[2] = {past_key, past_value};
  operand *const own[2] = {&a.k, &a.v};
  for (uint32_t i = 0; i < 2 && bits != 0 && prepared; ++i) {
    code_all(&a, behind[i], leati_ref_input(node, 12 + i), bits, own[i], &codes[2 * i]);
    behind[i] = &codes[2 * i];
  }
  bool done = prepared && append(node, &used, behind[0], &a.k, room, fresh, &present[0]) &&
              append(node, &used, behind[1], &a.v, room, fresh, &present[1]);
  for (uint32_t i = 0; i < 2 && bits != 0 && done; ++i) {
    decode(&a, &present[i], leati_ref_input(node, 12 + i), own[i], &values[i]);
  }
  if (node->output_count > 3) {
    a.scores = &node->outputs[3];
    a.scored = total->i;
    a.mode = form == 1 ? 4 : 3;
  }
  done = done && attend_all(node, &a);
  for (uint32_t i = 0; i < 2 && done && bits != 0; ++i) {
    pack(&used, node->inputs[3]->type, bits, fresh, &present[i]);
  }
  for (uint32_t i = 0; i < 2 && done && over; ++i) {
    keep_resident(node, &all, past, &present[i]);
  }
  give_present(node, done, present);
  for (uint32_t i = 0; i < 4; ++i) {
    leati_ref_tensor_clear(&codes[i]);
    leati_ref_tensor_clear(&values[i / 2]);
  }
  leati_ref_tensor_clear(&padded);
  leati_ref_tensor_clear(&keys);
  leati_ref_tensor_clear(&rotated[0]);
  leati_ref_tensor_clear(&rotated[1]);
  leati_ref_tensor_clear(&normal[0]);
  leati_ref_tensor_clear(&normal[1]);
  return done;
}

/* Whether a query at a position has a key by its blocks: the columns that its row of the head's table lists, from one
 * number on up to the next, no further than the list goes. */
static bool has_block(const leati_ref_node *node, int64_t head, int64_t position, int64_t key) {
  const leati_ref_tensor *rows = node->inputs[5], *columns = node->inputs[6];
  const int64_t block = leati_ref_int(node, "sparse_block_size", 0), blocks = rows->dims[1] - 1;
  const int64_t table = head % rows->dims[0], own = position / block < blocks ? position / block : blocks - 1;
  const int64_t *const at = &rows->i[table * rows->dims[1] + own], entries = columns->dims[1];
  const int64_t from = at[0] < 0 ? 0 : at[0] < entries ? at[0] : entries;
  const int64_t to = at[1] < entries ? at[1] : entries;
  for (int64_t j = from; j < to && j - from < blocks; ++j) {
    if (columns->i[table * entries + j] == key / block) {
      return true;
    }
  }
  return false;
}

/* GroupQueryAttention with a mask that is made of blocks, and numbers of keys that are one more. */
static bool run_sparse(leati_ref_node *node) {
  static const uint32_t from[9] = {0, 1, 2, 3, 4, 8, 7, 9, 10};
  const leati_ref_tensor *query = node->inputs[0], *past = node->inputs[3];
  const leati_ref_tensor *rows = node->inputs[5], *columns = node->inputs[6], *given = node->inputs[8];
  const int64_t heads = leati_ref_int(node, "num_heads", 0), block = leati_ref_int(node, "sparse_block_size", 0);
  const int64_t total = number_of(node->inputs[7]);
  if (rows->rank != 2 || columns->rank != 2 || rows->dims[0] < 1 || heads < 1 || heads % rows->dims[0] != 0 ||
      rows->dims[1] < 2 || columns->dims[0] != rows->dims[0] || past->rank != 4 || total > past->dims[2] ||
      block % 16 != 0 || block < 16 || block > 128 || total > (rows->dims[1] - 1) * block || query->rank != 3 ||
      given->count != query->dims[0]) {
    return leati_ref_fail(node, "%s: blocks do not go with positions", node->name);
  }
  const int64_t fresh = query->dims[1];
  leati_ref_tensor mask = {0}, lengths = {0};
  leati_ref_tensor_init(&mask, LEATI_REF_FLOAT32, 4, (const int64_t[4]){query->dims[0], heads, fresh, total});
  leati_ref_tensor_init(&lengths, LEATI_REF_INT32, 1, query->dims);
  for (int64_t b = 0; b < lengths.count; ++b) {
    lengths.i[b] = given->i[b] > INT32_MIN ? given->i[b] - 1 : INT32_MIN;
  }
  for (int64_t i = 0; i < mask.count; ++i) {
    int64_t at[4];
    leati_ref_unravel(4, mask.dims, i, at);
    const int64_t keys = given->i[at[0]] < fresh           ? fresh
                         : given->i[at[0]] < past->dims[2] ? given->i[at[0]]
                                                           : past->dims[2];
    const int64_t position = at[2] + (total == fresh ? 0 : keys - fresh);
    mask.f[i] = has_block(node, at[1], position, at[3]) ? 0 : -INFINITY;
  }
  const leati_ref_tensor *inputs[11] = {NULL};
  for (uint32_t i = 0; i < 9; ++i) {
    inputs[i] = leati_ref_input(node, from[i]);
  }
  inputs[5] = &lengths;
  inputs[10] = &mask;
  leati_ref_node group = *node;
  group.inputs = inputs;
  group.input_count = 11;
  const bool done = run_group_query(&group);
  memcpy(node->outputs, group.outputs, sizeof(node->outputs));
  memcpy(node->error, group.error, sizeof(node->error));
  leati_ref_tensor_clear(&mask);
  leati_ref_tensor_clear(&lengths);
  return done;
}

/* ONNX's has angles by batch and position, or by the position that position_ids say; com.microsoft's, of which the
 * second input is position_ids, has the latter, or one number from which all positions count on. */
static bool run_rotary(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  const bool microsoft = node->input_count > 1 && node->inputs[1] != NULL && node->inputs[1]->type == LEATI_REF_INT64;
  const leati_ref_tensor *ids = leati_ref_input(node, microsoft ? 1 : 3);
  const leati_ref_tensor *cosines = leati_ref_input(node, microsoft ? 2 : 1);
  const leati_ref_tensor *sines = leati_ref_input(node, microsoft ? 3 : 2);
  if (cosines == NULL || sines == NULL || cosines->count != sines->count || cosines->rank != (ids != NULL ? 2 : 3) ||
      cosines->dims[cosines->rank - 1] == 0 || (x->rank != 3 && x->rank != 4)) {
    return leati_ref_fail(node, "%s: inputs do not go together", node->name);
  }
  const turn by = {.cosines = cosines,
                   .sines = sines,
                   .interleaved = leati_ref_int(node, "interleaved", 0) != 0,
                   .pairs = cosines->dims[cosines->rank - 1]};
  const int64_t given = leati_ref_int(node, "num_heads", 0);
  const int64_t heads = x->rank == 4 ? x->dims[1] : given != 0 ? given : x->dims[2] / (2 * by.pairs);
  const int64_t rows = x->dims[x->rank - 2];
  const int64_t size = x->rank == 4 ? x->dims[3] : heads != 0 ? x->dims[2] / heads : 0;
  const int64_t last = ids != NULL ? cosines->dims[0] - 1 : 0;
  if (size == 0 || heads * size * rows * x->dims[0] != x->count || 2 * by.pairs > size ||
      (ids != NULL ? ids->count != 1 && ids->count != x->dims[0] * rows : cosines->dims[1] != rows)) {
    return leati_ref_fail(node, "%s: inputs do not go together", node->name);
  }
  leati_ref_tensor_init(&node->outputs[0], x->type, x->rank, x->dims);
  for (int64_t i = 0; i < x->count; ++i) {
    const int64_t line = i / size;
    const int64_t s = (x->rank == 4 ? line : line / heads) % rows;
    const int64_t b = line / (heads * rows);
    int64_t position = b * rows + s;
    if (ids != NULL) {
      const bool counted = ids->rank < 2;
      const int64_t from = ids->i[counted ? 0 : position];
      position = (from < 0 ? 0 : from < last ? from : last) + (counted ? s : 0);
      position = position < last ? position : last;
    }
    node->outputs[0].f[i] =
        turned(&by, &x->f[line * size], 1, i % size, position * by.pairs, &node->outputs[0].bound[i]);
  }
  return true;
}

static bool broadcasts_to(const leati_ref_tensor *tensor, const leati_ref_tensor *to) {
  bool fits = tensor != NULL && tensor->rank <= to->rank;
  for (int32_t d = 0; fits && d < tensor->rank; ++d) {
    fits = tensor->dims[d] == 1 || tensor->dims[d] == to->dims[to->rank - tensor->rank + d];
  }
  return fits;
}

/* Two products and a sum, each rounded once, if not together. */
static bool run_fused_rotary(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  const leati_ref_tensor *cosines = leati_ref_input(node, 1);
  const leati_ref_tensor *sines = leati_ref_input(node, 2);
  if (x->rank < 1 || x->dims[x->rank - 1] % 2 != 0 || !broadcasts_to(cosines, x) || !broadcasts_to(sines, x)) {
    return leati_ref_fail(node, "%s: inputs do not go together", node->name);
  }
  const int64_t half = x->dims[x->rank - 1] / 2;
  leati_ref_tensor_init(&node->outputs[0], x->type, x->rank, x->dims);
  for (int64_t i = 0; i < x->count; ++i) {
    int64_t index[LEAT_MAX_RANK];
    leati_ref_unravel(x->rank, x->dims, i, index);
    const bool first = index[x->rank - 1] < half;
    const double straight = x->f[i] * cosines->f[leati_ref_broadcast_at(cosines, x->rank, index)];
    const double crossed = x->f[first ? i + half : i - half] * sines->f[leati_ref_broadcast_at(sines, x->rank, index)];
    node->outputs[0].f[i] = first ? straight - crossed : straight + crossed;
    node->outputs[0].bound[i] = 2 * LEATI_REF_ULP * (fabs(straight) + fabs(crossed)) + 3 * FLT_MIN;
  }
  return true;
}

/* The bucket of T5 for a distance, of so many in its direction: in float32, as PyTorch computes it, for a logarithm
 * that is off by a little makes it another one. */
static int64_t bucket_of(int64_t distance, int64_t buckets, int64_t max_distance) {
  const int64_t exact = buckets / 2;
  if (distance < exact) {
    return distance;
  }
  const float range = (float)log((double)max_distance / (double)exact);
  const int64_t more = (int64_t)(logf((float)distance / (float)exact) / range * (float)(buckets - exact));
  return exact + more < buckets ? exact + more : buckets - 1;
}

/* The table's memory is by heads and then buckets, whatever its shape says. */
static bool run_relative_bias(leati_ref_node *node) {
  const leati_ref_tensor *table = node->inputs[0];
  const bool both = leati_ref_int(node, "is_bidirectional", 0) != 0;
  const int64_t max_distance = leati_ref_int(node, "max_distance", 0);
  const int64_t queries = number_of(node->inputs[1]), keys = number_of(node->inputs[2]);
  const int64_t buckets = table->rank == 2 ? table->dims[0] / (both ? 2 : 1) : 0;
  if (buckets < 2 || buckets / 2 >= max_distance || max_distance > INT32_MAX || (both && table->dims[0] % 2 != 0) ||
      queries < 0 || keys < 0) {
    return leati_ref_fail(node, "%s: not of this form", node->name);
  }
  leati_ref_tensor *y = &node->outputs[0];
  leati_ref_tensor_init(y, table->type, 4, (const int64_t[4]){1, table->dims[1], queries, keys});
  for (int64_t i = 0; i < y->count; ++i) {
    const int64_t away = i % keys - i / keys % queries, far = away < 0 ? -away : both ? away : 0;
    const int64_t bucket = bucket_of(far, buckets, max_distance) + (both && away > 0 ? buckets : 0);
    y->f[i] = table->f[i / keys / queries * table->dims[0] + bucket];
  }
  return true;
}

const leati_ref_entry leati_ref_attention[] = {{"Attention", run_any_attention},
                                               {"FusedAttention", run_attention},
                                               {"FusedRotaryEmbedding", run_fused_rotary},
                                               {"GroupQueryAttention", run_group_query},
                                               {"MultiHeadAttention", run_multi_head},
                                               {"QAttention", run_q_attention},
                                               {"RelativePositionBias", run_relative_bias},
                                               {"RotaryEmbedding", run_rotary},
                                               {"SparseAttention", run_sparse},
                                               {NULL, NULL}};
