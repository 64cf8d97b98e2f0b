/* SPDX-License-Identifier: BSD-3-Clause */
/* Einsum, as it is defined: for each element of the result, the products of the operands' elements that its labels and
 * all others lead to are summed up. */
#include <math.h>
#include <string.h>

#include "ops/core/bound.h"
#include "ops/core/node.h"

#define OPERANDS 3
#define DOTS 128 /* labels below are characters, the dimensions of an ellipsis go on from here, the last one first */
#define LABELS (DOTS + LEAT_MAX_RANK)

typedef struct term {
  int32_t rank;
  int labels[LEAT_MAX_RANK];
} term;

/* An equation and what it is for. */
typedef struct einsum {
  uint32_t count;
  term operands[OPERANDS];
  term result;
  int64_t sizes[LABELS]; /* -1: there is no such label */
} einsum;

static bool is_letter(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* The text without its spaces; false: it is too long. */
static bool pack(const leat_attribute *text, char *out, size_t size) {
  size_t used = 0;
  for (uint64_t k = 0; k < text->count; ++k) {
    if (text->string[k] == ' ') {
      continue;
    }
    if (used + 1 >= size) {
      return false;
    }
    out[used++] = text->string[k];
  }
  out[used] = '\0';
  return true;
}

/* Reads a term of so many characters; of `rank` dimensions, or of `dots` more than it has letters. */
static bool read_term(const char *text, size_t length, int32_t rank, int32_t dots, term *out) {
  int32_t letters = 0;
  for (size_t k = 0; k < length; ++k) {
    letters += is_letter(text[k]) ? 1 : 0;
  }
  if (rank >= 0) {
    dots = rank - letters;
  }
  if (dots < 0 || letters + dots > LEAT_MAX_RANK) {
    return false;
  }
  bool seen = false;
  out->rank = 0;
  for (size_t k = 0; k < length; ++k) {
    if (is_letter(text[k])) {
      out->labels[out->rank++] = text[k];
    } else if (!seen && length - k >= 3 && strncmp(text + k, "...", 3) == 0) {
      seen = true;
      k += 2;
      for (int32_t d = dots; d > 0; --d) {
        out->labels[out->rank++] = DOTS + d - 1;
      }
    } else {
      return false;
    }
  }
  return seen || dots == 0;
}

/* The result where the equation has none: the ellipsis, and letters that are there once. */
static bool imply(einsum *e, int32_t dots) {
  int counts[LABELS] = {0};
  for (uint32_t i = 0; i < e->count; ++i) {
    for (int32_t d = 0; d < e->operands[i].rank; ++d) {
      counts[e->operands[i].labels[d]]++;
    }
  }
  e->result.rank = 0;
  for (int32_t d = dots; d > 0; --d) {
    e->result.labels[e->result.rank++] = DOTS + d - 1;
  }
  for (int label = 0; label < DOTS; ++label) {
    if (counts[label] != 1) {
      continue;
    }
    if (e->result.rank == LEAT_MAX_RANK) {
      return false;
    }
    e->result.labels[e->result.rank++] = label;
  }
  return true;
}

static bool take_sizes(einsum *e, const leati_ref_node *node) {
  for (uint32_t i = 0; i < e->count; ++i) {
    const term *t = &e->operands[i];
    for (int32_t d = 0; d < t->rank; ++d) {
      const int64_t size = node->inputs[i]->dims[d];
      int64_t *known = &e->sizes[t->labels[d]];
      for (int32_t before = 0; before < d; ++before) {
        if (t->labels[before] == t->labels[d] && node->inputs[i]->dims[before] != size) {
          return false;
        }
      }
      if (*known == -1 || *known == 1) {
        *known = size;
      } else if (size != 1 && size != *known) {
        return false;
      }
    }
  }
  int seen[LABELS] = {0};
  for (int32_t d = 0; d < e->result.rank; ++d) {
    if (e->sizes[e->result.labels[d]] < 0 || seen[e->result.labels[d]]++ > 0) {
      return false;
    }
  }
  return true;
}

static bool read_equation(leati_ref_node *node, einsum *e) {
  char text[256];
  const leat_attribute *given = leati_ref_attribute(node, "equation");
  if (given == NULL || !pack(given, text, sizeof(text))) {
    return false;
  }
  const char *arrow = strstr(text, "->");
  const char *at = text;
  const char *const end = arrow != NULL ? arrow : text + strlen(text);
  int32_t dots = 0;
  for (bool more = true; more; ++e->count) {
    const char *stop = at;
    while (stop < end && *stop != ',') {
      stop++;
    }
    if (e->count == OPERANDS || e->count == node->input_count || node->inputs[e->count] == NULL ||
        !read_term(at, (size_t)(stop - at), node->inputs[e->count]->rank, 0, &e->operands[e->count])) {
      return false;
    }
    int32_t own = 0;
    for (int32_t d = 0; d < e->operands[e->count].rank; ++d) {
      own += e->operands[e->count].labels[d] >= DOTS ? 1 : 0;
    }
    dots = own > dots ? own : dots;
    more = stop < end;
    at = stop + 1;
  }
  return e->count == node->input_count &&
         (arrow != NULL ? read_term(arrow + 2, strlen(arrow + 2), -1, dots, &e->result) : imply(e, dots)) &&
         take_sizes(e, node);
}

/* All labels, those of the result first, and how far elements of each operand are apart along them. */
typedef struct walk {
  int32_t rank;
  int64_t dims[OPERANDS * LEAT_MAX_RANK];
  int64_t strides[OPERANDS][OPERANDS * LEAT_MAX_RANK];
} walk;

static void add_label(const einsum *e, const leati_ref_node *node, int label, walk *w) {
  w->dims[w->rank] = e->sizes[label];
  for (uint32_t i = 0; i < e->count; ++i) {
    int64_t stride = 1;
    w->strides[i][w->rank] = 0;
    for (int32_t d = e->operands[i].rank - 1; d >= 0; --d) {
      if (e->operands[i].labels[d] == label && node->inputs[i]->dims[d] != 1) {
        w->strides[i][w->rank] += stride;
      }
      stride *= node->inputs[i]->dims[d];
    }
  }
  w->rank++;
}

static walk walk_of(const einsum *e, const leati_ref_node *node) {
  walk w = {0};
  for (int32_t d = 0; d < e->result.rank; ++d) {
    add_label(e, node, e->result.labels[d], &w);
  }
  for (int label = 0; label < LABELS; ++label) {
    bool kept = false;
    for (int32_t d = 0; d < e->result.rank; ++d) {
      kept = kept || e->result.labels[d] == label;
    }
    if (e->sizes[label] >= 0 && !kept) {
      add_label(e, node, label, &w);
    }
  }
  return w;
}

/* How often something may be rounded to a type of 16 bits before the result is: the sums over labels that one operand
 * alone has, and the product of the first two of three. */
static int roundings(const einsum *e, const walk *w) {
  int count = e->count > 2 ? 1 : 0;
  for (uint32_t i = 0; i < e->count && e->count > 1; ++i) {
    bool alone = false;
    for (int32_t d = e->result.rank; d < w->rank; ++d) {
      uint32_t others = 0;
      for (uint32_t k = 0; k < e->count; ++k) {
        others += k != i && w->strides[k][d] != 0 ? 1 : 0;
      }
      alone = alone || (w->strides[i][d] != 0 && others == 0);
    }
    count += alone ? 1 : 0;
  }
  return count;
}

/* The sum over all labels behind those of the result, from the offsets of an element of that on.
 *
 * Sums of a label that one operand alone has may be taken before the products, so that each product of the sum goes
 * through a few sums instead of one: of their lengths the product is `terms`, so that they add up to `terms` and one
 * for each further sum at most; each rounds twice more. What is flushed to zero or rounded between is multiplied by
 * some of the operands' elements, all of whose products are in that of 1 + |x|. */
static void sum_up(const einsum *e, const leati_ref_node *node, const walk *w, const int64_t *from, int64_t terms,
                   int rounded, double *out_value, double *out_bound) {
  const int32_t kept = e->result.rank;
  const leati_ref_type type = node->inputs[0]->type;
  leati_ref_products sum = {0};
  double others = 0;
  for (int64_t t = 0; t < terms; ++t) {
    int64_t index[OPERANDS * LEAT_MAX_RANK];
    leati_ref_unravel(w->rank - kept, w->dims + kept, t, index);
    double x[OPERANDS] = {1, 1, 1};
    for (uint32_t i = 0; i < e->count; ++i) {
      int64_t at = from[i];
      for (int32_t d = kept; d < w->rank; ++d) {
        at += index[d - kept] * w->strides[i][d];
      }
      x[i] = node->inputs[i]->f[at];
    }
    leati_ref_add_product(&sum, x[0] * x[1], x[2]);
    others += (1 + fabs(x[0])) * (1 + fabs(x[1])) * (1 + fabs(x[2]));
  }
  sum.factors = others;
  const int64_t steps = (int64_t)e->count - 1;
  *out_value = sum.sum;
  if (steps == 0) {
    *out_bound = w->rank == kept ? 0 : leati_ref_bound_sum(terms, sum.magnitude);
    return;
  }
  if (w->rank == kept && steps == 1) {
    *out_bound = leati_ref_bound_ulps(sum.sum, 1);
    return;
  }
  *out_bound = (double)steps * leati_ref_bound_products(terms + 6 * steps, &sum, type == LEATI_REF_FLOAT32) +
               2 * (double)(terms + 6 * steps) * FLT_MIN * others;
  if (type != LEATI_REF_FLOAT32) {
    *out_bound +=
        1.02 * rounded * leati_ref_type_ulp(type) / 2 * (sum.magnitude + leati_ref_type_smallest(type) * others);
  }
}

static bool run_einsum(leati_ref_node *node) {
  einsum e = {0};
  int64_t dims[LEAT_MAX_RANK];
  for (int label = 0; label < LABELS; ++label) {
    e.sizes[label] = -1;
  }
  if (!read_equation(node, &e) || !leati_ref_type_is_float(node->inputs[0]->type)) {
    return leati_ref_fail(node, "Einsum: no such equation for these shapes");
  }
  for (int32_t d = 0; d < e.result.rank; ++d) {
    dims[d] = e.sizes[e.result.labels[d]];
  }
  leati_ref_tensor *y = &node->outputs[0];
  leati_ref_tensor_init(y, node->inputs[0]->type, e.result.rank, dims);
  for (uint32_t i = 0; i < e.count; ++i) {
    if (node->inputs[i]->count == 0) {
      return true;
    }
  }
  const walk w = walk_of(&e, node);
  const int rounded = roundings(&e, &w);
  int64_t terms = 1;
  for (int32_t d = e.result.rank; d < w.rank; ++d) {
    terms *= w.dims[d];
  }
  for (int64_t at = 0; at < y->count; ++at) {
    int64_t index[LEAT_MAX_RANK];
    int64_t from[OPERANDS] = {0};
    leati_ref_unravel(y->rank, y->dims, at, index);
    for (uint32_t i = 0; i < e.count; ++i) {
      for (int32_t d = 0; d < y->rank; ++d) {
        from[i] += index[d] * w.strides[i][d];
      }
    }
    sum_up(&e, node, &w, from, terms, rounded, &y->f[at], &y->bound[at]);
  }
  return true;
}

const leati_ref_entry leati_ref_einsum[] = {{"Einsum", run_einsum}, {NULL, NULL}};
