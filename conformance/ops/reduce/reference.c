/* SPDX-License-Identifier: BSD-3-Clause */
/* Operators that take one value out of all elements along some axes. */
#include <stdlib.h>
#include <string.h>

#include "ops/core/bound.h"
#include "ops/core/node.h"

/* What is folded, by output element. */
typedef struct accumulator {
  double sum;
  double magnitude;
  double squares;
  double product;
  double powers;       /* sum of e^(x - most) */
  double powers_bound; /* how far that may be off */
  double most;         /* the largest or smallest so far, NaN once one was seen */
  int64_t isum;        /* modulo 2^64 */
  int64_t iupper;      /* of the sum: the part above 32 bits, rounded down by term */
  uint64_t ilower;     /* of the sum: what that leaves */
  int64_t imost;
  uint64_t iproduct; /* modulo 2^64 */
  int64_t terms;
} accumulator;

static void fold(accumulator *a, const leati_ref_tensor *x, int64_t at, bool largest) {
  if (leati_ref_type_is_float(x->type)) {
    double v = x->f[at];
    a->sum += v;
    a->magnitude += fabs(v);
    a->squares += v * v;
    a->product = a->terms == 0 ? v : a->product * v;
    if (a->terms == 0 || isnan(v) || (largest ? v > a->most : v < a->most)) {
      a->most = a->terms > 0 && isnan(a->most) ? a->most : v;
    }
  } else {
    int64_t v = x->i[at];
    a->isum = (int64_t)((uint64_t)a->isum + (uint64_t)v);
    a->iproduct = a->terms == 0 ? (uint64_t)v : a->iproduct * (uint64_t)v;
    a->iupper += v >= 0 ? v / (INT64_C(1) << 32) : -1 - (-1 - v) / (INT64_C(1) << 32);
    a->ilower += (uint64_t)v & UINT32_MAX;
    if (a->terms == 0 ||
        (largest ? leati_ref_type_less(x->type, a->imost, v) : leati_ref_type_less(x->type, v, a->imost))) {
      a->imost = v;
    }
  }
  a->terms++;
}

/* What is taken from every element before the exponential, so that none overflows: the largest element. */
static double shift_of(const accumulator *a) {
  return isfinite(a->most) ? a->most : 0;
}

/* After all elements were folded: the exponentials, off by their own error and by that of a rounded difference. */
static void fold_power(accumulator *a, double v) {
  double away = v - shift_of(a);
  double power = exp(away);
  a->powers += power;
  a->powers_bound += power > 0 ? power * (leati_ref_bound_exp(away) + fabs(away) * LEATI_REF_ULP) : FLT_MIN;
}

/* The mean of integers, rounded towards zero, whatever their sum is. For fewer than 2^31 of them. */
static int64_t integer_mean(const accumulator *a) {
  int64_t n = a->terms;
  int64_t above = a->iupper >= 0 ? a->iupper / n : -1 - (-1 - a->iupper) / n;
  uint64_t rest = ((uint64_t)(a->iupper - above * n) << 32) + a->ilower;
  int64_t mean = above * (INT64_C(1) << 32) + (int64_t)(rest / (uint64_t)n);
  return mean < 0 && rest % (uint64_t)n != 0 ? mean + 1 : mean;
}

/* The logarithm of a sum that is off by `off`, and a shift that was taken from it. */
static void finish_log(leati_ref_tensor *y, int64_t at, double sum, double off, double shift) {
  double value = log(sum);
  y->f[at] = value + shift;
  if (isfinite(value)) {
    y->bound[at] = (off < sum ? -log1p(-off / sum) : INFINITY) + leati_ref_bound_log(sum, value) +
                   leati_ref_bound_ulps(y->f[at], 1);
  }
}

/* The root of a sum that is off by `off`: 5 ULP of its own, see sqrt_of(). Where a square overflows, so may the sum. */
static void finish_root(leati_ref_tensor *y, int64_t at, double sum, double off) {
  y->f[at] = sqrt(sum);
  y->bound[at] = sum > FLT_MAX ? INFINITY
                 : sum > 0     ? fmin(sqrt(off), off / y->f[at]) + leati_ref_bound_ulps(y->f[at], 5)
                               : FLT_MIN;
}

static void finish_float(const char *what, leati_ref_tensor *y, const accumulator *a, int64_t at) {
  double n = a->terms > 0 ? (double)a->terms : 1;
  double sum_off = leati_ref_bound_sum(a->terms, a->magnitude);
  /* One rounding more by term, and squares that are flushed to zero. */
  double squares_off = leati_ref_bound_sum(a->terms, a->squares) + LEATI_REF_ULP * a->squares + n * FLT_MIN;
  if (strcmp(what, "Sum") == 0) {
    y->f[at] = a->sum;
    y->bound[at] = sum_off;
  } else if (strcmp(what, "Mean") == 0) {
    /* The mean of nothing is 0, as ONNX Runtime has it; the specification leaves it open. The division, or the
     * multiplication by a rounded reciprocal. */
    y->f[at] = a->sum / n;
    y->bound[at] = sum_off / n + leati_ref_bound_ulps(y->f[at], 3.5);
  } else if (strcmp(what, "Prod") == 0) {
    y->f[at] = a->terms > 0 ? a->product : 1;
    y->bound[at] = leati_ref_bound_ulps(y->f[at], n);
  } else if (strcmp(what, "L1") == 0) {
    y->f[at] = a->magnitude;
    y->bound[at] = sum_off;
  } else if (strcmp(what, "L2") == 0) {
    finish_root(y, at, a->squares, squares_off);
  } else if (strcmp(what, "SumSquare") == 0) {
    y->f[at] = a->squares;
    y->bound[at] = squares_off;
  } else if (strcmp(what, "LogSum") == 0) {
    finish_log(y, at, a->sum, sum_off, 0);
  } else if (strcmp(what, "LogSumExp") == 0) {
    finish_log(y, at, a->powers, leati_ref_bound_sum(a->terms, a->powers) + a->powers_bound, shift_of(a));
  } else {
    y->f[at] = a->terms > 0 ? a->most : strcmp(what, "Max") == 0 ? -INFINITY : INFINITY;
    y->bound[at] = fabs(y->f[at]) < FLT_MIN ? FLT_MIN : 0;
  }
}

static void finish(leati_ref_node *node, const accumulator *a, int64_t at) {
  leati_ref_tensor *y = &node->outputs[0];
  const char *what = node->name + strlen("Reduce");
  bool sum = strcmp(what, "Sum") == 0;
  if (leati_ref_type_is_float(y->type)) {
    finish_float(what, y, a, at);
  } else if (sum || strcmp(what, "Mean") == 0) {
    y->i[at] = leati_ref_type_wrap(y->type, sum || a->terms == 0 ? a->isum : integer_mean(a));
  } else if (strcmp(what, "Prod") == 0) {
    y->i[at] = leati_ref_type_wrap(y->type, a->terms > 0 ? (int64_t)a->iproduct : 1);
  } else {
    /* Over nothing: the number that any other one replaces. */
    y->i[at] = a->terms > 0               ? a->imost
               : strcmp(what, "Max") == 0 ? leati_ref_type_low(y->type)
                                          : leati_ref_type_high(y->type);
  }
}

/* Adds each element to the result that it belongs to; in a second round the exponentials. */
static void fold_all(leati_ref_node *node, const bool *reduced, const int64_t *kept, accumulator *all_of, bool powers) {
  const leati_ref_tensor *x = node->inputs[0];
  bool largest = strcmp(node->name, "ReduceMin") != 0;
  for (int64_t k = 0; k < x->count; ++k) {
    int64_t index[LEAT_MAX_RANK];
    leati_ref_unravel(x->rank, x->dims, k, index);
    for (int32_t d = 0; d < x->rank; ++d) {
      index[d] = reduced[d] ? 0 : index[d];
    }
    accumulator *a = &all_of[leati_ref_ravel(x->rank, kept, index)];
    if (powers) {
      fold_power(a, x->f[k]);
    } else {
      fold(a, x, k, largest);
    }
  }
}

static bool run_reduce(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  int32_t axes[LEAT_MAX_RANK];
  int32_t count;
  if (!leati_ref_axes(node, 1, x->rank, axes, &count)) {
    return false;
  }
  bool keep = leati_ref_int(node, "keepdims", 1) != 0;
  bool reduced[LEAT_MAX_RANK] = {false};
  /* "noop": every element is the reduction of itself. */
  bool all = count <= 0 && leati_ref_int(node, "noop_with_empty_axes", 0) == 0;
  for (int32_t d = 0; d < x->rank; ++d) {
    reduced[d] = all;
  }
  for (int32_t k = 0; k < count; ++k) {
    reduced[axes[k]] = true;
  }
  int64_t kept[LEAT_MAX_RANK];
  int64_t dims[LEAT_MAX_RANK];
  int32_t rank = 0;
  for (int32_t d = 0; d < x->rank; ++d) {
    kept[d] = reduced[d] ? 1 : x->dims[d];
    if (keep || !reduced[d]) {
      dims[rank++] = kept[d];
    }
  }
  leati_ref_tensor_init(&node->outputs[0], x->type, rank, dims);
  accumulator *all_of = leati_ref_alloc(node->outputs[0].count, sizeof(*all_of));
  fold_all(node, reduced, kept, all_of, false);
  if (strcmp(node->name, "ReduceLogSumExp") == 0) {
    fold_all(node, reduced, kept, all_of, true);
  }
  for (int64_t k = 0; k < node->outputs[0].count; ++k) {
    finish(node, &all_of[k], k);
  }
  free(all_of);
  return true;
}

/* Whether the one is greater, or if not `most` is asked for smaller, than the other. A NaN is more than that, as for
 * NumPy. */
static bool comes_first(const leati_ref_tensor *x, int64_t a, int64_t b, bool most) {
  if (!leati_ref_type_is_float(x->type)) {
    return most ? leati_ref_type_less(x->type, x->i[b], x->i[a]) : leati_ref_type_less(x->type, x->i[a], x->i[b]);
  }
  return isnan(x->f[a]) ? !isnan(x->f[b]) : most ? x->f[a] > x->f[b] : x->f[a] < x->f[b];
}

/* ArgMax and ArgMin, which takes a NaN before all others too. */
static bool run_arg_max(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  int32_t axis;
  if (!leati_ref_axis(node, leati_ref_int(node, "axis", 0), x->rank, &axis)) {
    return false;
  }
  bool keep = leati_ref_int(node, "keepdims", 1) != 0;
  bool last = leati_ref_int(node, "select_last_index", 0) != 0;
  bool most = strcmp(node->name, "ArgMax") == 0;
  int64_t dims[LEAT_MAX_RANK];
  int32_t rank = 0;
  int64_t inner = 1;
  for (int32_t d = 0; d < x->rank; ++d) {
    if (d != axis || keep) {
      dims[rank++] = d == axis ? 1 : x->dims[d];
    }
    inner *= d > axis ? x->dims[d] : 1;
  }
  leati_ref_tensor_init(&node->outputs[0], LEATI_REF_INT64, rank, dims);
  int64_t length = x->dims[axis];
  if (length == 0 && node->outputs[0].count > 0) {
    return leati_ref_fail(node, "%s over nothing is undefined", node->name);
  }
  for (int64_t k = 0; k < node->outputs[0].count; ++k) {
    int64_t base = k / inner * inner * length + k % inner;
    int64_t best = 0;
    for (int64_t n = 1; n < length; ++n) {
      bool less = comes_first(x, base + best * inner, base + n * inner, most);
      bool more = comes_first(x, base + n * inner, base + best * inner, most);
      if (more || (last && !less)) {
        best = n;
      }
    }
    node->outputs[0].i[k] = best;
  }
  return true;
}

/* Whether element `a` comes before `b`: the larger one or the smaller one, a NaN as what is above infinity, and of
 * equal ones the first (backend.h). */
static bool ranks_before(const leati_ref_tensor *x, int64_t a, int64_t b, bool largest) {
  const int64_t high = largest ? a : b, low = largest ? b : a;
  bool above, below;
  if (leati_ref_type_is_float(x->type)) {
    const bool high_nan = isnan(x->f[high]), low_nan = isnan(x->f[low]);
    above = high_nan ? !low_nan : x->f[high] > x->f[low];
    below = low_nan ? !high_nan : x->f[high] < x->f[low];
  } else {
    above = leati_ref_type_less(x->type, x->i[low], x->i[high]);
    below = leati_ref_type_less(x->type, x->i[high], x->i[low]);
  }
  return above || (!below && a < b);
}

static bool run_top_k(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  const leati_ref_tensor *wanted = node->inputs[1];
  const bool largest = leati_ref_int(node, "largest", 1) != 0;
  int32_t axis;
  if (!leati_ref_axis(node, leati_ref_int(node, "axis", -1), x->rank, &axis)) {
    return false;
  }
  const int64_t size = x->dims[axis];
  if (wanted->count != 1 || wanted->i[0] < 0 || wanted->i[0] > size) {
    return leati_ref_fail(node, "TopK: k must be one number, from 0 to the size of the axis");
  }
  const int64_t k = wanted->i[0];
  int64_t dims[LEAT_MAX_RANK], inner = 1;
  for (int32_t d = 0; d < x->rank; ++d) {
    dims[d] = d == axis ? k : x->dims[d];
    inner *= d > axis ? x->dims[d] : 1;
  }
  for (uint32_t o = 0; o < node->output_count; ++o) {
    leati_ref_tensor_init(&node->outputs[o], o == 0 ? x->type : LEATI_REF_INT64, x->rank, dims);
  }
  for (int64_t row = 0; k > 0 && row < x->count / size; ++row) {
    const int64_t from = row / inner * size * inner + row % inner, to = row / inner * k * inner + row % inner;
    int64_t before = -1;
    for (int64_t rank = 0; rank < k; ++rank) {
      /* The first of those that come behind the one before. */
      int64_t next = -1;
      for (int64_t i = from; i < from + size * inner; i += inner) {
        const bool left = before < 0 || ranks_before(x, before, i, largest);
        next = left && i != before && (next < 0 || ranks_before(x, i, next, largest)) ? i : next;
      }
      leati_ref_tensor_copy_element(&node->outputs[0], to + rank * inner, x, next);
      if (node->output_count > 1) {
        node->outputs[1].i[to + rank * inner] = (next - from) / inner;
      }
      before = next;
    }
  }
  return true;
}

const leati_ref_entry leati_ref_reduce[] = {
    {"ReduceMean", run_reduce},   {"ReduceSum", run_reduce},
    {"ReduceMax", run_reduce},    {"ReduceMin", run_reduce},
    {"ReduceProd", run_reduce},   {"ReduceL1", run_reduce},
    {"ReduceL2", run_reduce},     {"ReduceSumSquare", run_reduce},
    {"ReduceLogSum", run_reduce}, {"ReduceLogSumExp", run_reduce},
    {"ArgMax", run_arg_max},      {"ArgMin", run_arg_max},
    {"TopK", run_top_k},          {NULL, NULL},
};
