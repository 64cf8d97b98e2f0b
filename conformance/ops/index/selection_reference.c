/* SPDX-License-Identifier: BSD-3-Clause */
/* Operators whose results have shapes that follow from values: Compress, Unique, NonMaxSuppression, MelWeightMatrix. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ops/core/bound.h"
#include "ops/core/node.h"

/* ---- Slices ----------------------------------------------------------------------------------------------------- */

/* The slices of a tensor along an axis, or without one the elements of the flattened tensor. */
typedef struct slices {
  const leati_ref_tensor *x;
  int32_t rank, axis;
  int64_t dims[LEAT_MAX_RANK];
  int64_t count; /* slices; `outer` times `inner` elements are in each */
  int64_t outer, inner;
} slices;

static bool read_slices(leati_ref_node *node, slices *out) {
  const leati_ref_tensor *x = node->inputs[0];
  *out = (slices){.x = x, .rank = 1, .dims = {x->count}, .outer = 1, .inner = 1};
  if (leati_ref_attribute(node, "axis") != NULL) {
    out->rank = x->rank;
    memcpy(out->dims, x->dims, (size_t)x->rank * sizeof(x->dims[0]));
    if (!leati_ref_axis(node, leati_ref_int(node, "axis", 0), x->rank, &out->axis)) {
      return false;
    }
  }
  out->count = out->dims[out->axis];
  for (int32_t d = 0; d < out->rank; ++d) {
    out->outer *= d < out->axis ? out->dims[d] : 1;
    out->inner *= d > out->axis ? out->dims[d] : 1;
  }
  return true;
}

/* Element `i` of a slice, of which `along` times as many are along the axis as in the tensor given. */
static int64_t place_of(const slices *s, int64_t along, int64_t slice, int64_t i) {
  return (i / s->inner * along + slice) * s->inner + i % s->inner;
}

static void copy_slice(const slices *s, int64_t from, leati_ref_tensor *y, int64_t along, int64_t to) {
  for (int64_t i = 0; i < s->outer * s->inner; ++i) {
    const int64_t a = place_of(s, s->count, from, i), b = place_of(s, along, to, i);
    if (y->f != NULL) {
      y->f[b] = s->x->f[a];
    } else {
      y->i[b] = s->x->i[a];
    }
  }
}

static bool run_compress(leati_ref_node *node) {
  const leati_ref_tensor *condition = node->inputs[1];
  slices s;
  if (!read_slices(node, &s)) {
    return false;
  }
  const int64_t asked = condition->count < s.count ? condition->count : s.count;
  int64_t taken = 0;
  for (int64_t k = 0; k < asked; ++k) {
    taken += condition->i[k] != 0;
  }
  s.dims[s.axis] = taken;
  leati_ref_tensor_init(&node->outputs[0], s.x->type, s.rank, s.dims);
  int64_t to = 0;
  for (int64_t k = 0; k < asked; ++k) {
    if (condition->i[k] != 0) {
      copy_slice(&s, k, &node->outputs[0], taken, to++);
    }
  }
  return true;
}

/* Where a float stands among others: NaN is behind all. */
static int order_of(double a, double b) {
  return isnan(a) || isnan(b) ? isnan(a) - isnan(b) : (a > b) - (a < b);
}

static int compare(const slices *s, int64_t left, int64_t right) {
  int order = 0;
  for (int64_t i = 0; order == 0 && i < s->outer * s->inner; ++i) {
    const int64_t a = place_of(s, s->count, left, i), b = place_of(s, s->count, right, i);
    if (s->x->f != NULL) {
      order = order_of(s->x->f[a], s->x->f[b]);
    } else if (s->x->type == LEATI_REF_UINT64) {
      order = ((uint64_t)s->x->i[a] > (uint64_t)s->x->i[b]) - ((uint64_t)s->x->i[a] < (uint64_t)s->x->i[b]);
    } else {
      order = (s->x->i[a] > s->x->i[b]) - (s->x->i[a] < s->x->i[b]);
    }
  }
  return order;
}

/* Each slice looks for the first that it equals. In ascending order the place of such a one is how many are less. */
static bool run_unique(leati_ref_node *node) {
  const bool sorts = leati_ref_int(node, "sorted", 1) != 0;
  slices s;
  if (!read_slices(node, &s)) {
    return false;
  }
  int64_t *const firsts = leati_ref_alloc(s.count + 1, sizeof(*firsts));
  int64_t *const places = leati_ref_alloc(s.count + 1, sizeof(*places));
  int64_t groups = 0;
  for (int64_t k = 0; k < s.count; ++k) {
    firsts[k] = 0;
    while (compare(&s, firsts[k], k) != 0) {
      ++firsts[k];
    }
    groups += firsts[k] == k;
  }
  for (int64_t k = 0; k < s.count; ++k) {
    places[k] = 0;
    for (int64_t other = 0; other < s.count; ++other) {
      const bool before = sorts ? compare(&s, other, firsts[k]) < 0 : other < firsts[k];
      places[k] += firsts[other] == other && before;
    }
  }
  s.dims[s.axis] = groups;
  leati_ref_tensor_init(&node->outputs[0], s.x->type, s.rank, s.dims);
  for (uint32_t o = 1; o < node->output_count; ++o) {
    leati_ref_tensor_init(&node->outputs[o], LEATI_REF_INT64, 1, o == 2 ? &s.count : &groups);
  }
  for (int64_t k = 0; k < s.count; ++k) {
    if (firsts[k] == k) {
      copy_slice(&s, k, &node->outputs[0], groups, places[k]);
    }
    for (uint32_t o = 1; o < node->output_count; ++o) {
      int64_t *const to = node->outputs[o].i;
      if (o == 2) {
        to[k] = places[k];
      } else if (o == 3) {
        ++to[places[k]];
      } else {
        to[places[k]] = firsts[k];
      }
    }
  }
  free(firsts);
  free(places);
  return true;
}

/* ---- Boxes ------------------------------------------------------------------------------------------------------ */

typedef struct boxes {
  const double *at;
  bool centred;
} boxes;

/* One side of a box in a dimension. In float32, as the operator has it. */
static float side_of(const boxes *all, int64_t i, int d, bool high) {
  const float a = (float)all->at[4 * i + d], b = (float)all->at[4 * i + d + 2];
  if (all->centred) {
    return high ? a + b / 2 : a - b / 2;
  }
  return (a < b) == high ? b : a;
}

static bool overlap(const boxes *all, int64_t i, int64_t j, float allowed) {
  float sizes[2][2], shared[2];
  for (int d = 0; d < 2; ++d) {
    const int64_t which[2] = {i, j};
    float low[2], high[2];
    for (int k = 0; k < 2; ++k) {
      low[k] = side_of(all, which[k], d, false);
      high[k] = side_of(all, which[k], d, true);
      sizes[k][d] = high[k] - low[k];
    }
    shared[d] = fminf(high[0], high[1]) - fmaxf(low[0], low[1]);
    if (!(shared[d] > 0)) {
      return false;
    }
  }
  const float both = shared[0] * shared[1];
  const float together = sizes[0][0] * sizes[0][1] + sizes[1][0] * sizes[1][1] - both;
  return both > 0 && together > 0 && both / together > allowed;
}

/* Takes the candidate with the largest score, the first of equal ones, as long as there is one, and drops what overlaps
 * it. Rows of batch, class and box go to `out`, which may be NULL; how many there are is given. */
static int64_t suppress(const leati_ref_node *node, int64_t most, float allowed, int64_t *out) {
  const leati_ref_tensor *x = node->inputs[0], *scores = node->inputs[1], *least = leati_ref_input(node, 4);
  const int64_t count = x->dims[1];
  if (scores->count == 0) {
    return 0;
  }
  bool *const dropped = leati_ref_alloc(count + 1, sizeof(*dropped));
  int64_t rows = 0;
  for (int64_t line = 0; line < scores->dims[0] * scores->dims[1]; ++line) {
    const double *const score = scores->f + line * count;
    const int64_t batch = line / scores->dims[1];
    const boxes all = {.at = x->f + batch * count * 4, .centred = leati_ref_int(node, "center_point_box", 0) != 0};
    for (int64_t i = 0; i < count; ++i) {
      dropped[i] = isnan(score[i]) || (least != NULL && !(score[i] > least->f[0]));
    }
    for (int64_t taken = 0; taken < most; ++taken) {
      int64_t best = -1;
      for (int64_t i = 0; i < count; ++i) {
        best = !dropped[i] && (best < 0 || score[i] > score[best]) ? i : best;
      }
      if (best < 0) {
        break;
      }
      for (int64_t i = 0; i < count; ++i) {
        dropped[i] = dropped[i] || i == best || overlap(&all, best, i, allowed);
      }
      if (out != NULL) {
        memcpy(out + 3 * rows, (const int64_t[3]){batch, line % scores->dims[1], best}, 3 * sizeof(*out));
      }
      ++rows;
    }
  }
  free(dropped);
  return rows;
}

static bool run_suppression(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0], *scores = node->inputs[1];
  const leati_ref_tensor *most = leati_ref_input(node, 2), *allowed = leati_ref_input(node, 3);
  bool good = x->rank == 3 && scores->rank == 3 && x->dims[2] == 4 && x->dims[0] == scores->dims[0] &&
              x->dims[1] == scores->dims[2];
  for (uint32_t i = 2; i < 5; ++i) {
    good = good && (leati_ref_input(node, i) == NULL || leati_ref_input(node, i)->count == 1);
  }
  const float limit = good && allowed != NULL ? (float)allowed->f[0] : 0;
  if (!good || !(limit >= 0 && limit <= 1)) {
    return leati_ref_fail(node, "NonMaxSuppression: inputs do not go together");
  }
  const int64_t most_each = most != NULL ? most->i[0] : 0;
  const int64_t dims[2] = {suppress(node, most_each, limit, NULL), 3};
  leati_ref_tensor_init(&node->outputs[0], LEATI_REF_INT64, 2, dims);
  (void)suppress(node, most_each, limit, node->outputs[0].i);
  return true;
}

/* ---- Mel spectra ------------------------------------------------------------------------------------------------- */

/* Triangles, as the specification has them. */
static bool run_mel_weight_matrix(leati_ref_node *node) {
  const int64_t mels = node->inputs[0]->i[0], length = node->inputs[1]->i[0], rate = node->inputs[2]->i[0];
  const double lower = node->inputs[3]->f[0], upper = node->inputs[4]->f[0];
  const leati_ref_type type = leati_ref_type_from_onnx(leati_ref_int(node, "output_datatype", 1));
  if (mels < 0 || length < 0 || rate < 1 || !(lower >= 0 && upper >= lower && upper <= (double)rate / 2) ||
      (type != LEATI_REF_FLOAT32 && type != LEATI_REF_FLOAT64)) {
    return leati_ref_fail(node, "MelWeightMatrix: not of this form");
  }
  const int64_t bins = length / 2 + 1;
  int64_t *const points = leati_ref_alloc(mels + 2, sizeof(*points));
  const double low = 2595 * log10(1 + lower / 700), high = 2595 * log10(1 + upper / 700);
  for (int64_t k = 0; k < mels + 2; ++k) {
    const double mel = low + (double)k * (high - low) / (double)(mels + 2);
    points[k] = (int64_t)((double)(length + 1) * 700 * (pow(10, mel / 2595) - 1) / (double)rate);
  }
  leati_ref_tensor *const y = &node->outputs[0];
  leati_ref_tensor_init(y, type, 2, (const int64_t[]){bins, mels});
  for (int64_t at = 0; at < y->count; ++at) {
    const int64_t bin = at / mels, first = points[at % mels], middle = points[at % mels + 1];
    const int64_t end = points[at % mels + 2];
    if (bin == middle && (first == middle || end == middle)) {
      y->f[at] = 1;
    } else if (bin >= first && bin < middle) {
      y->f[at] = (double)(bin - first) / (double)(middle - first);
    } else if (bin >= middle && bin < end) {
      y->f[at] = (double)(end - bin) / (double)(end - middle);
    }
    y->bound[at] = type == LEATI_REF_FLOAT64 ? 0x1p-52 : leati_ref_bound_ulps(y->f[at], 1);
  }
  free(points);
  return true;
}

const leati_ref_entry leati_ref_selection[] = {{"Compress", run_compress},
                                               {"Unique", run_unique},
                                               {"NonMaxSuppression", run_suppression},
                                               {"MelWeightMatrix", run_mel_weight_matrix},
                                               {NULL, NULL}};
