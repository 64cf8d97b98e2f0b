/* SPDX-License-Identifier: BSD-3-Clause */
/* Operators that pick elements at computed places. */
#include <inttypes.h>
#include <string.h>

#include "ops/core/bound.h"
#include "ops/core/node.h"

/* The place of an index that may count from the back, or -1 if it is out of range: the caller's mistake, which reads as
 * the zero that a new tensor holds, or has nothing written (backend.h). */
static int64_t place_of(int64_t index, int64_t size) {
  int64_t place = index < 0 ? index + size : index;
  return place >= 0 && place < size ? place : -1;
}

static bool run_gather(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  const leati_ref_tensor *indices = node->inputs[1];
  int32_t axis;
  if (!leati_ref_axis(node, leati_ref_int(node, "axis", 0), x->rank, &axis)) {
    return false;
  }
  if (x->rank - 1 + indices->rank > LEAT_MAX_RANK) {
    return leati_ref_fail(node, "Gather: the result has too many dimensions");
  }
  int64_t dims[2 * LEAT_MAX_RANK];
  int32_t rank = 0;
  int64_t inner = 1;
  for (int32_t d = 0; d < x->rank; ++d) {
    if (d == axis) {
      memcpy(dims + rank, indices->dims, sizeof(dims[0]) * (size_t)indices->rank);
      rank += indices->rank;
    } else {
      dims[rank++] = x->dims[d];
    }
    inner *= d > axis ? x->dims[d] : 1;
  }
  leati_ref_tensor *y = &node->outputs[0];
  leati_ref_tensor_init(y, x->type, rank, dims);
  for (int64_t k = 0; k < y->count; ++k) {
    int64_t n = x->dims[axis];
    int64_t i = place_of(indices->i[k / inner % indices->count], n);
    int64_t outer = k / inner / indices->count;
    if (i >= 0) {
      leati_ref_tensor_copy_element(y, k, x, (outer * n + i) * inner + k % inner);
    }
  }
  return true;
}

/* What a step of float32 is off by that gives `value`, with what a device may take for 0. */
static double step_bound(double value) {
  return LEATI_REF_ULP * fabs(value) + FLT_MIN;
}

/* Writes an update over an element, or by "reduction" adds it and the like. Updates come in the order in which they
 * lie, and of floats each step is rounded, to float32 at least. */
static bool update_element(leati_ref_node *node, leati_ref_tensor *y, int64_t at, const leati_ref_tensor *updates,
                           int64_t k) {
  const char *const key = "reduction";
  const bool add = leati_ref_string_is(node, key, "none", "add"), mul = leati_ref_string_is(node, key, "none", "mul");
  const bool least = leati_ref_string_is(node, key, "none", "min");
  if (!add && !mul && !least && !leati_ref_string_is(node, key, "none", "max")) {
    leati_ref_tensor_copy_element(y, at, updates, k);
    return leati_ref_string_is(node, key, "none", "none") || leati_ref_fail(node, "%s: no such reduction", node->name);
  }
  if (y->type == LEATI_REF_BOOL || y->type == LEATI_REF_FLOAT64) {
    return leati_ref_fail(node, "%s: reductions of this type are not computed here", node->name);
  }
  if (!leati_ref_type_is_float(y->type)) {
    const int64_t x = y->i[at], u = updates->i[k];
    const bool less = leati_ref_type_less(y->type, u, x);
    const uint64_t wide = add ? (uint64_t)x + (uint64_t)u : (uint64_t)x * (uint64_t)u;
    y->i[at] = add || mul ? leati_ref_type_wrap(y->type, (int64_t)wide) : less == least ? u : x;
    return true;
  }
  const double x = y->f[at], u = updates->f[k];
  if (add || mul) {
    y->f[at] = add ? x + u : x * u;
    y->bound[at] = (add ? y->bound[at] : y->bound[at] * fabs(u)) * (1 + LEATI_REF_ULP) + step_bound(y->f[at]);
  } else {
    y->f[at] = isnan(x) || isnan(u) ? NAN : least ? fmin(x, u) : fmax(x, u);
  }
  return true;
}

/* GatherElements, and ScatterElements: the place of each index along the axis is another one in the tensor. */
static bool run_elements(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  const leati_ref_tensor *indices = node->inputs[1];
  const leati_ref_tensor *updates = leati_ref_input(node, 2);
  leati_ref_tensor *y = &node->outputs[0];
  int32_t axis;
  if (!leati_ref_axis(node, leati_ref_int(node, "axis", 0), x->rank, &axis)) {
    return false;
  }
  leati_ref_tensor_init(y, x->type, x->rank, updates != NULL ? x->dims : indices->dims);
  for (int64_t k = 0; updates != NULL && k < x->count; ++k) {
    leati_ref_tensor_copy_element(y, k, x, k);
  }
  for (int64_t k = 0; k < indices->count; ++k) {
    int64_t index[LEAT_MAX_RANK];
    leati_ref_unravel(indices->rank, indices->dims, k, index);
    index[axis] = place_of(indices->i[k], x->dims[axis]);
    if (index[axis] < 0) {
      continue;
    }
    int64_t at = leati_ref_ravel(x->rank, x->dims, index);
    if (updates == NULL) {
      leati_ref_tensor_copy_element(y, k, x, at);
    } else if (!update_element(node, y, at, updates, k)) {
      return false;
    }
  }
  return true;
}

/* GatherND, and ScatterND: the last dimension of the indices holds places in some dimensions of the tensor, behind
 * "batch_dims" common ones; what lies behind those is copied as a whole. */
static bool run_nd(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  const leati_ref_tensor *indices = node->inputs[1];
  const leati_ref_tensor *updates = leati_ref_input(node, 2);
  leati_ref_tensor *y = &node->outputs[0];
  int32_t first = (int32_t)leati_ref_int(node, "batch_dims", 0);
  int32_t last = indices->rank - 1;
  int64_t tuple = indices->dims[last];
  int64_t dims[2 * LEAT_MAX_RANK];
  int64_t batches = 1;
  int64_t inner = 1;
  int32_t rank = last;
  if (tuple < 1 || first + tuple > x->rank || last + x->rank - first - tuple > LEAT_MAX_RANK) {
    return leati_ref_fail(node, "%s: such ranks are not computed here", node->name);
  }
  memcpy(dims, indices->dims, sizeof(dims[0]) * (size_t)last);
  for (int32_t d = 0; d < x->rank; ++d) {
    batches *= d < first ? x->dims[d] : 1;
    if (d >= first + tuple) {
      dims[rank++] = x->dims[d];
      inner *= x->dims[d];
    }
  }
  leati_ref_tensor_init(y, x->type, updates != NULL ? x->rank : rank, updates != NULL ? x->dims : dims);
  for (int64_t k = 0; updates != NULL && k < x->count; ++k) {
    leati_ref_tensor_copy_element(y, k, x, k);
  }
  int64_t rows = indices->count / tuple;
  for (int64_t r = 0; r < rows; ++r) {
    int64_t at = r / (rows / batches);
    for (int64_t t = 0; t < tuple && at >= 0; ++t) {
      int64_t i = place_of(indices->i[r * tuple + t], x->dims[first + t]);
      at = i < 0 ? -1 : at * x->dims[first + t] + i;
    }
    for (int64_t k = 0; k < inner && at >= 0; ++k) {
      if (updates == NULL) {
        leati_ref_tensor_copy_element(y, r * inner + k, x, at * inner + k);
      } else if (!update_element(node, y, at * inner + k, updates, r * inner + k)) {
        return false;
      }
    }
  }
  return true;
}

/* A cache with an update written over it, in each batch from a place on ("circular": round the end). */
static bool run_tensor_scatter(leati_ref_node *node) {
  const leati_ref_tensor *past = node->inputs[0];
  const leati_ref_tensor *update = node->inputs[1];
  const leati_ref_tensor *places = leati_ref_input(node, 2);
  leati_ref_tensor *y = &node->outputs[0];
  const bool circular = leati_ref_string_is(node, "mode", "linear", "circular");
  int64_t axis = leati_ref_int(node, "axis", -2);
  axis += axis < 0 ? past->rank : 0;
  leati_ref_tensor_init(y, past->type, past->rank, past->dims);
  for (int64_t k = 0; k < past->count; ++k) {
    leati_ref_tensor_copy_element(y, k, past, k);
  }
  for (int64_t k = 0; k < update->count; ++k) {
    int64_t index[LEAT_MAX_RANK];
    leati_ref_unravel(update->rank, update->dims, k, index);
    const int64_t first = places != NULL ? places->i[index[0]] : 0, size = past->dims[axis];
    if (first < 0 || (!circular && first > size - 1 - index[axis])) {
      continue;
    }
    index[axis] = (first % size + index[axis]) % size;
    leati_ref_tensor_copy_element(y, leati_ref_ravel(past->rank, past->dims, index), update, k);
  }
  return true;
}

/* Entries [0, length) of each batch in the opposite order; a length beyond the entries is their number. */
static bool run_reverse_sequence(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  const leati_ref_tensor *lengths = node->inputs[1];
  leati_ref_tensor *y = &node->outputs[0];
  const int64_t time = leati_ref_int(node, "time_axis", 0), batch = leati_ref_int(node, "batch_axis", 1);
  leati_ref_tensor_init(y, x->type, x->rank, x->dims);
  for (int64_t k = 0; k < x->count; ++k) {
    int64_t index[LEAT_MAX_RANK];
    leati_ref_unravel(x->rank, x->dims, k, index);
    const int64_t told = lengths->i[index[batch]], length = told < x->dims[time] ? told : x->dims[time];
    if (index[time] < length) {
      index[time] = length - 1 - index[time];
    }
    leati_ref_tensor_copy_element(y, k, x, leati_ref_ravel(x->rank, x->dims, index));
  }
  return true;
}

/* The second of two values where an index names the place along a new axis, the first elsewhere. */
static bool run_one_hot(leati_ref_node *node) {
  const leati_ref_tensor *indices = node->inputs[0];
  const leati_ref_tensor *depth = node->inputs[1];
  const leati_ref_tensor *values = node->inputs[2];
  const int64_t size = leati_ref_type_is_float(depth->type) ? (int64_t)depth->f[0] : depth->i[0];
  int64_t dims[LEAT_MAX_RANK + 1];
  int32_t axis;
  if (indices->rank == LEAT_MAX_RANK) {
    return leati_ref_fail(node, "OneHot: the result has too many dimensions");
  }
  if (!leati_ref_axis(node, leati_ref_int(node, "axis", -1), indices->rank + 1, &axis)) {
    return false;
  }
  int64_t inner = 1;
  for (int32_t d = 0; d <= indices->rank; ++d) {
    dims[d] = d < axis ? indices->dims[d] : d == axis ? size : indices->dims[d - 1];
    inner *= d > axis ? dims[d] : 1;
  }
  leati_ref_tensor *y = &node->outputs[0];
  leati_ref_tensor_init(y, values->type, indices->rank + 1, dims);
  for (int64_t k = 0; k < y->count; ++k) {
    const int64_t at = k / inner / size * inner + k % inner, place = k / inner % size;
    bool here;
    if (leati_ref_type_is_float(indices->type)) {
      const double index = trunc(indices->f[at]);
      here = index == (double)place || index == (double)(place - size);
    } else {
      here = indices->i[at] == place || indices->i[at] == place - size;
    }
    leati_ref_tensor_copy_element(y, k, values, here ? 1 : 0);
  }
  return true;
}

/* The sum of what stands in front of each element along an axis ("reverse": behind), and, unless "exclusive", of
 * itself.
 */
/* A running sum or product, and how far an implementation may be off. */
typedef struct running {
  double value, bound;
  double magnitude; /* of a sum: those of its terms, added up */
  int64_t terms;
  uint64_t whole; /* of integers */
} running;

/* Takes an element. A sum of float64 is as one of float32 with smaller units, and the reference has as many roundings
 * of its own. A product is off by what the one before was, a unit for its own rounding, and by what is so small that a
 * device may take it for 0. */
static running taken(running so_far, const leati_ref_tensor *x, int64_t k, bool product) {
  if (!leati_ref_type_is_float(x->type)) {
    so_far.whole = product ? so_far.whole * (uint64_t)x->i[k] : so_far.whole + (uint64_t)x->i[k];
    return so_far;
  }
  const bool is_double = x->type == LEATI_REF_FLOAT64;
  const double ulp = is_double ? 2 * leati_ref_type_ulp(LEATI_REF_FLOAT64) : LEATI_REF_ULP;
  const double smallest = is_double ? DBL_MIN : FLT_MIN;
  const double size = fabs(x->f[k]);
  const int64_t terms = ++so_far.terms;
  if (product) {
    const double flushed = size < smallest ? fabs(so_far.value) * size : 0;
    so_far.value *= x->f[k];
    so_far.bound = so_far.bound * size * (1 + ulp) + fabs(so_far.value) * ulp + flushed + smallest;
  } else {
    so_far.value += x->f[k];
    so_far.magnitude += size;
    so_far.bound = is_double ? (double)(terms + 2) * ulp / 2 * so_far.magnitude + (double)(2 * terms + 1) * smallest
                             : leati_ref_bound_sum(terms, so_far.magnitude);
  }
  return so_far;
}

static bool run_running(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  leati_ref_tensor *y = &node->outputs[0];
  const bool exclusive = leati_ref_int(node, "exclusive", 0) != 0, reverse = leati_ref_int(node, "reverse", 0) != 0;
  const bool product = strcmp(node->name, "CumProd") == 0;
  int32_t axis;
  if (!leati_ref_axis(node, node->inputs[1]->i[0], x->rank, &axis)) {
    return false;
  }
  leati_ref_tensor_init(y, x->type, x->rank, x->dims);
  int64_t inner = 1;
  for (int32_t d = axis + 1; d < x->rank; ++d) {
    inner *= x->dims[d];
  }
  const int64_t length = x->dims[axis];
  for (int64_t first = 0; first < x->count; ++first) {
    if (first / inner % length != 0) {
      continue; /* Its line begins elsewhere. */
    }
    running so_far = {.value = product ? 1 : 0, .whole = product ? 1 : 0};
    for (int64_t n = 0; n < length; ++n) {
      const int64_t k = first + (reverse ? length - 1 - n : n) * inner;
      const running with = taken(so_far, x, k, product), said = exclusive ? so_far : with;
      if (leati_ref_type_is_float(x->type)) {
        y->f[k] = said.value;
        y->bound[k] = said.bound;
      } else {
        y->i[k] = leati_ref_type_wrap(x->type, (int64_t)said.whole);
      }
      so_far = with;
    }
  }
  return true;
}

static bool run_nonzero(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  const bool is_float = leati_ref_type_is_float(x->type);
  int64_t dims[2] = {x->rank > 0 ? x->rank : 1, 0};
  for (int64_t k = 0; k < x->count; ++k) {
    dims[1] += is_float ? x->f[k] != 0 : x->i[k] != 0;
  }
  leati_ref_tensor *y = &node->outputs[0];
  leati_ref_tensor_init(y, LEATI_REF_INT64, 2, dims);
  int64_t found = 0;
  for (int64_t k = 0; k < x->count; ++k) {
    if (is_float ? x->f[k] != 0 : x->i[k] != 0) {
      int64_t index[LEAT_MAX_RANK];
      leati_ref_unravel(x->rank, x->dims, k, index);
      for (int32_t d = 0; d < x->rank; ++d) {
        y->i[d * dims[1] + found] = index[d];
      }
      found++;
    }
  }
  return true;
}

/* Number `at` of those of so many bits that a list has in bytes, the first in the lowest bits. */
static int64_t number_at(const leati_ref_tensor *bytes, int64_t first, int64_t bits, int64_t at) {
  return bytes->i[first + at * bits / 8] >> at * bits % 8 & ((1 << bits) - 1);
}

/* com.microsoft's GatherBlockQuantized of bytes: a difference that is exact, and a product. */
static bool run_gather_quantized(leati_ref_node *node) {
  const leati_ref_tensor *data = node->inputs[0], *indices = node->inputs[1], *scales = node->inputs[2];
  const leati_ref_tensor *zeros = leati_ref_input(node, 3);
  const int64_t bits = leati_ref_int(node, "bits", 4), size = leati_ref_int(node, "block_size", 128);
  const int32_t last = data->rank - 1;
  int64_t dims[2 * LEAT_MAX_RANK], shape[LEAT_MAX_RANK], blocks[LEAT_MAX_RANK];
  int32_t axis, gathered;
  if ((bits != 2 && bits != 4 && bits != 8) || size < 16 || (size & (size - 1)) != 0 ||
      !leati_ref_axis(node, leati_ref_int(node, "quantize_axis", 1), data->rank, &axis) ||
      !leati_ref_axis(node, leati_ref_int(node, "gather_axis", 0), data->rank, &gathered) || gathered != 0 ||
      axis == 0 || last + indices->rank > LEAT_MAX_RANK || scales->rank != data->rank) {
    return leati_ref_fail(node, "%s: not of this form", node->name);
  }
  memcpy(shape, data->dims, sizeof(shape));
  shape[last] *= 8 / bits;
  memcpy(blocks, shape, sizeof(blocks));
  blocks[axis] = (shape[axis] + size - 1) / size;
  const int64_t packed = (blocks[last] * bits + 7) / 8;
  if (memcmp(scales->dims, blocks, sizeof(blocks[0]) * (size_t)data->rank) != 0 ||
      (zeros != NULL && (zeros->rank != data->rank || zeros->dims[last] != packed ||
                         memcmp(zeros->dims, blocks, sizeof(blocks[0]) * (size_t)last) != 0))) {
    return leati_ref_fail(node, "%s: shapes that do not go together", node->name);
  }
  memcpy(dims, indices->dims, sizeof(dims[0]) * (size_t)indices->rank);
  memcpy(dims + indices->rank, shape + 1, sizeof(dims[0]) * (size_t)last);
  leati_ref_tensor *y = &node->outputs[0];
  leati_ref_tensor_init(y, scales->type, last + indices->rank, dims);
  const int64_t line = indices->count > 0 ? y->count / indices->count : 0;
  for (int64_t k = 0; k < y->count; ++k) {
    const int64_t x = place_of(indices->i[k / line], shape[0]);
    int64_t at[LEAT_MAX_RANK];
    if (x >= 0) {
      leati_ref_unravel(data->rank, shape, x * line + k % line, at);
      at[axis] /= size;
      const int64_t block = leati_ref_ravel(data->rank, blocks, at);
      const int64_t row = block / blocks[last];
      const int64_t zero =
          zeros != NULL ? number_at(zeros, row * packed, bits, block % blocks[last]) : INT64_C(1) << (bits - 1);
      y->f[k] = (double)(number_at(data, 0, bits, x * line + k % line) - zero) * scales->f[block];
      y->bound[k] = leati_ref_bound_ulps(y->f[k], 1);
    }
  }
  return true;
}

const leati_ref_entry leati_ref_index[] = {
    {"Gather", run_gather},
    {"GatherBlockQuantized", run_gather_quantized},
    {"GatherElements", run_elements},
    {"ScatterElements", run_elements},
    {"Scatter", run_elements},
    {"GatherND", run_nd},
    {"ScatterND", run_nd},
    {"NonZero", run_nonzero},
    {"OneHot", run_one_hot},
    {"TensorScatter", run_tensor_scatter},
    {"ReverseSequence", run_reverse_sequence},
    {"CumSum", run_running},
    {"CumProd", run_running},
    {NULL, NULL},
};
