/* SPDX-License-Identifier: BSD-3-Clause */
/* Operators that scale elements by what a group of them has in common. */
#include <string.h>

#include "ops/core/bound.h"
#include "ops/core/node.h"

/* exp(x - max) / sum of the same, along one axis; and its logarithm, x - max - log(sum). */
static bool run_softmax(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  const bool logarithm = strcmp(node->name, "LogSoftmax") == 0;
  int32_t axis;
  /* Before version 13 a matrix is made of it first, of what is before the axis and the rest. */
  const bool flattens = node->since_version < 13;
  if (!leati_ref_axis(node, leati_ref_int(node, "axis", flattens ? 1 : -1), x->rank, &axis)) {
    return false;
  }
  leati_ref_tensor *y = &node->outputs[0];
  leati_ref_tensor_init(y, x->type, x->rank, x->dims);
  int64_t inner = 1;
  for (int32_t d = axis + 1; d < x->rank; ++d) {
    inner *= x->dims[d];
  }
  int64_t length = x->dims[axis] * (flattens ? inner : 1);
  inner = flattens ? 1 : inner;
  for (int64_t group = 0; length > 0 && group < x->count / length; ++group) {
    int64_t base = group / inner * inner * length + group % inner;
    double most = -INFINITY;
    for (int64_t n = 0; n < length; ++n) {
      double v = x->f[base + n * inner];
      most = isnan(v) || v > most ? v : most;
    }
    /* Each term is off by the rounding of its argument and by its exponential; the sum by the mean of that over its
     * terms and by its additions. */
    double sum = 0;
    double off = 0;
    for (int64_t n = 0; n < length; ++n) {
      double d = x->f[base + n * inner] - most;
      double term = exp(d);
      sum += term;
      off += term > 0 ? term * (leati_ref_bound_exp(d) + fabs(d) * LEATI_REF_ULP) : FLT_MIN;
    }
    for (int64_t n = 0; n < length; ++n) {
      double d = x->f[base + n * inner] - most;
      const double sum_relative = off / sum + (double)(length + 2) * 0x1p-24;
      if (logarithm) {
        const double log_sum = log(sum);
        y->f[base + n * inner] = d - log_sum;
        /* A factor in the sum is a summand here; and each of the two subtractions rounds. */
        y->bound[base + n * inner] =
            sum_relative + leati_ref_bound_log(sum, log_sum) + LEATI_REF_ULP * (fabs(d) + fabs(d - log_sum)) + FLT_MIN;
        continue;
      }
      double value = exp(d) / sum;
      double relative = leati_ref_bound_exp(d) + fabs(d) * LEATI_REF_ULP + sum_relative + 3.5 * LEATI_REF_ULP;
      y->f[base + n * inner] = value;
      y->bound[base + n * inner] = (value > 0 ? relative * value : 0) + FLT_MIN;
    }
  }
  return true;
}

/* The mean and the spread of one group, with what float32 arithmetic may add. The bounds hold for two passes and for
 * one pass over x and x^2, which loses more: all terms are taken relative to the mean square. */
typedef struct moments {
  double mean;
  double mean_bound;
  double rstd; /* 1 / sqrt(variance + epsilon) */
  double rstd_relative;
} moments;

/* Of `count` elements from `base` on, which may be off by their bounds. `rms`: around zero instead of the mean. */
static moments measure(const leati_ref_tensor *x, int64_t base, int64_t count, double epsilon, bool rms) {
  /* Nothing has mean and variance 0. */
  const int64_t n = count > 0 ? count : 1;
  double sum = 0;
  double magnitude = 0;
  double square = 0;
  double off = 0;
  for (int64_t k = base; k < base + count; ++k) {
    sum += x->f[k];
    magnitude += fabs(x->f[k]);
    square += x->f[k] * x->f[k];
    off += x->bound[k];
  }
  moments m = {0};
  if (!rms) {
    m.mean = sum / (double)n;
    m.mean_bound = leati_ref_bound_sum(n, magnitude) / (double)n + leati_ref_bound_ulps(m.mean, 3.5) + off / (double)n;
  }
  double variance = 0;
  double moved = 0;
  for (int64_t k = base; k < base + count; ++k) {
    const double away = x->f[k] - m.mean;
    variance += away * away;
    moved += 2 * fabs(away) * (x->bound[k] + (rms ? 0 : off / (double)n));
  }
  variance /= (double)n;
  double mean_square = square / (double)n;
  /* The sum of squares, and twice the mean times its error; then the subtraction; and what the elements are off by. */
  double variance_bound = (double)(n + 6) * 0x1p-24 * mean_square + 2 * fabs(m.mean) * m.mean_bound +
                          2 * LEATI_REF_ULP * mean_square + moved / (double)n;
  m.rstd = 1 / sqrt(variance + epsilon);
  /* Half of the variance's relative error, and a square root and a division. That of an infinite one is exactly 0. */
  m.rstd_relative = isinf(variance) ? 0 : 0.5 * variance_bound / (variance + epsilon) + 9 * LEATI_REF_ULP;
  return m;
}

/* One element of output 0. */
static void normalise(const leati_ref_tensor *x, int64_t at, const moments *m, double gain, double offset,
                      leati_ref_tensor *y) {
  const double away = x->f[at] - m->mean;
  const double scaled = away * m->rstd * gain;
  const double value = scaled + offset;
  y->f[at] = value;
  y->bound[at] =
      fabs(gain) * m->rstd * (x->bound[at] + m->mean_bound + fabs(away) * (m->rstd_relative + LEATI_REF_ULP)) +
      leati_ref_bound_ulps(scaled, 2) + leati_ref_bound_ulps(value, 1);
}

/* The element of an optional tensor that broadcasts to `x`, at element `at` of that. */
static double parameter_at(const leati_ref_tensor *parameter, const leati_ref_tensor *x, int64_t at, double otherwise) {
  if (parameter == NULL) {
    return otherwise;
  }
  int64_t index[LEAT_MAX_RANK];
  leati_ref_unravel(x->rank, x->dims, at, index);
  return parameter->f[leati_ref_broadcast_at(parameter, x->rank, index)];
}

/* The sum of input, skip and bias, each addition rounded. */
static void add_skip(const leati_ref_tensor *x, const leati_ref_tensor *skip, const leati_ref_tensor *bias,
                     leati_ref_tensor *out) {
  leati_ref_tensor_init(out, x->type, x->rank, x->dims);
  for (int64_t k = 0; k < x->count; ++k) {
    const double a = x->f[k];
    const double b = parameter_at(skip, x, k, 0);
    const double c = parameter_at(bias, x, k, 0);
    out->f[k] = a + b + c;
    out->bound[k] = leati_ref_bound_ulps(fabs(a) + fabs(b) + fabs(c), bias != NULL ? 2 : 1);
  }
}

/* Layer and RMS normalisation, and com.microsoft's that add a skip input before. Those take the default of epsilon from
 * ONNX Runtime. */
static bool run_layer_norm(leati_ref_node *node) {
  const bool with_skip = strncmp(node->name, "Skip", 4) == 0;
  const bool simplified = strstr(node->name, "Simplified") != NULL;
  const bool rms = simplified || strcmp(node->name, "RMSNormalization") == 0;
  const leati_ref_tensor *scale = node->inputs[with_skip ? 2 : 1];
  const leati_ref_tensor *shift = rms ? NULL : leati_ref_input(node, with_skip ? 3 : 2);
  const double epsilon = leati_ref_float(node, "epsilon", with_skip ? 1e-12f : 1e-5f);
  /* Which outputs are there; 0: none. RMS normalisation takes nothing off, so that its mean is 0. */
  const uint32_t mean_at = rms && !with_skip ? 0 : 1;
  const uint32_t rstd_at = simplified && !with_skip ? 1 : 2;
  const uint32_t total_at = 3;
  int32_t axis;
  if (!leati_ref_axis(node, leati_ref_int(node, "axis", -1), node->inputs[0]->rank, &axis)) {
    return false;
  }
  leati_ref_tensor total = {0};
  if (with_skip) {
    add_skip(node->inputs[0], node->inputs[1], leati_ref_input(node, simplified ? 3 : 4), &total);
  }
  const leati_ref_tensor *x = with_skip ? &total : node->inputs[0];
  int64_t dims[LEAT_MAX_RANK];
  int64_t rows = 1;
  int64_t length = 1;
  for (int32_t d = 0; d < x->rank; ++d) {
    dims[d] = d < axis ? x->dims[d] : 1;
    rows *= dims[d];
    length *= d < axis ? 1 : x->dims[d];
  }
  leati_ref_tensor_init(&node->outputs[0], x->type, x->rank, x->dims);
  for (uint32_t k = 1; k < node->output_count; ++k) {
    leati_ref_tensor_init(&node->outputs[k], k == total_at ? x->type : LEATI_REF_FLOAT32, x->rank,
                          k == total_at ? x->dims : dims);
  }
  for (int64_t group = 0; group < rows; ++group) {
    const moments m = measure(x, group * length, length, epsilon, rms);
    for (int64_t at = group * length; at < (group + 1) * length; ++at) {
      normalise(x, at, &m, parameter_at(scale, x, at, 1), parameter_at(shift, x, at, 0), &node->outputs[0]);
    }
    if (mean_at != 0 && node->output_count > mean_at) {
      node->outputs[mean_at].f[group] = m.mean;
      node->outputs[mean_at].bound[group] = m.mean_bound;
    }
    if (node->output_count > rstd_at) {
      node->outputs[rstd_at].f[group] = m.rstd;
      node->outputs[rstd_at].bound[group] = m.rstd * m.rstd_relative;
    }
  }
  for (int64_t k = 0; node->output_count > total_at && k < x->count; ++k) {
    leati_ref_tensor_copy_element(&node->outputs[total_at], k, x, k);
  }
  leati_ref_tensor_clear(&total);
  return true;
}

/* Instance and group normalisation: some channels of one image make a group. Before version 21 the parameters of
 * GroupNormalization are the groups', not the channels'. */
static bool run_group_norm(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  const bool instance = strcmp(node->name, "InstanceNormalization") == 0;
  const double epsilon = leati_ref_float(node, "epsilon", 1e-5f);
  const int64_t channels = x->dims[1];
  const int64_t groups = instance ? channels : leati_ref_int(node, "num_groups", 0);
  if (channels > 0 && (groups < 1 || channels % groups != 0)) {
    return leati_ref_fail(node, "%s: the groups do not divide the channels", node->name);
  }
  leati_ref_tensor_init(&node->outputs[0], x->type, x->rank, x->dims);
  if (x->count == 0) {
    return true;
  }
  const int64_t length = x->count / (x->dims[0] * groups);
  const int64_t pixels = x->count / (x->dims[0] * channels);
  const bool by_group = !instance && node->since_version < 21;
  for (int64_t group = 0; group < x->count / length; ++group) {
    const moments m = measure(x, group * length, length, epsilon, false);
    for (int64_t at = group * length; at < (group + 1) * length; ++at) {
      const int64_t p = by_group ? group % groups : at / pixels % channels;
      normalise(x, at, &m, node->inputs[1]->f[p], node->inputs[2]->f[p], &node->outputs[0]);
    }
  }
  return true;
}

/* (x - mean) / sqrt(variance + epsilon) * scale + shift, by channel, with given statistics. */
static bool run_batch_norm(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  double epsilon = leati_ref_float(node, "epsilon", 1e-5f);
  if (leati_ref_int(node, "training_mode", 0) != 0) {
    return leati_ref_fail(node, "BatchNormalization: training is not computed here");
  }
  leati_ref_tensor *y = &node->outputs[0];
  leati_ref_tensor_init(y, x->type, x->rank, x->dims);
  int64_t channels = x->rank > 1 ? x->dims[1] : 1;
  int64_t inner = 1;
  for (int32_t d = 2; d < x->rank; ++d) {
    inner *= x->dims[d];
  }
  for (int64_t k = 0; k < x->count; ++k) {
    int64_t c = k / inner % channels;
    double gain = node->inputs[1]->f[c] / sqrt(node->inputs[4]->f[c] + epsilon);
    double mean = node->inputs[3]->f[c];
    double shift = node->inputs[2]->f[c];
    y->f[k] = (x->f[k] - mean) * gain + shift;
    /* Also as x gain + (shift - mean gain). The gain is off by an addition, a square root, a division and a
     * multiplication, 10 ULP; two more for each use of it. */
    y->bound[k] = 12 * LEATI_REF_ULP * (fabs(x->f[k] * gain) + fabs(mean * gain) + fabs(shift)) + FLT_MIN;
  }
  return true;
}

/* The squares of a channel and of its neighbours, added up. */
static double sum_squares(const leati_ref_tensor *x, int64_t at, int64_t inner, int64_t size) {
  const int64_t channel = at / inner % x->dims[1];
  double sum = 0;
  for (int64_t c = channel - (size - 1) / 2; c <= channel + size / 2; ++c) {
    if (c >= 0 && c < x->dims[1]) {
      const double value = x->f[at + (c - channel) * inner];
      sum += value * value;
    }
  }
  return sum;
}

/* x / (bias + alpha / size * squares) ^ beta. */
static bool run_lrn(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  leati_ref_tensor *y = &node->outputs[0];
  const double alpha = leati_ref_float(node, "alpha", 1e-4f), beta = leati_ref_float(node, "beta", 0.75f),
               bias = leati_ref_float(node, "bias", 1);
  const int64_t size = leati_ref_int(node, "size", 0);
  if (size < 1) {
    return leati_ref_fail(node, "LRN: no channels");
  }
  int64_t inner = 1;
  for (int32_t d = 2; d < x->rank; ++d) {
    inner *= x->dims[d];
  }
  leati_ref_tensor_init(y, x->type, x->rank, x->dims);
  for (int64_t k = 0; k < x->count; ++k) {
    const double share = alpha / (double)size * sum_squares(x, k, inner, size), base = bias + share;
    y->f[k] = x->f[k] / pow(base, beta);
    /* The squares and their sum, the factor, and an addition; then the power of what is off by so much, and a product.
     * What is infinite is so exactly. */
    const double off = leati_ref_bound_sum(size, fabs(share)) + LEATI_REF_ULP * (2 * fabs(share) + fabs(base));
    const double relative = isinf(base) ? 0 : fabs(beta) * off / fabs(base) + leati_ref_bound_pow(base, -beta);
    y->bound[k] = (y->f[k] != 0 ? (relative + LEATI_REF_ULP) * fabs(y->f[k]) : 0) + FLT_MIN;
  }
  return true;
}

/* RMS normalisation of parts of rows, as long as the scale, times sigmoid(gate), and by default the gate too. */
static bool run_gated_rms_norm(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0], *scale = node->inputs[1], *gate = node->inputs[2];
  const bool sigmoid = leati_ref_string_is(node, "activation", "silu", "sigmoid");
  leati_ref_tensor *y = &node->outputs[0];
  if (x->rank == 0 || scale->rank != 1 || scale->count == 0 || x->dims[x->rank - 1] % scale->count != 0 ||
      gate->rank != x->rank || memcmp(gate->dims, x->dims, (size_t)x->rank * sizeof(x->dims[0])) != 0) {
    return leati_ref_fail(node, "GatedRMSNorm: shapes do not fit");
  }
  leati_ref_tensor_init(y, x->type, x->rank, x->dims);
  for (int64_t at = 0; at < x->count; ++at) {
    const moments m = measure(x, at / scale->count * scale->count, scale->count,
                              (double)leati_ref_float(node, "epsilon", 1e-5f), true);
    normalise(x, at, &m, scale->f[at % scale->count], 0, y);
    /* What the exponential is off by counts as far as it is a part of its sum with 1. */
    const double g = gate->f[at], raised = exp(-g), opened = (sigmoid ? 1 : g) / (1 + raised);
    const double part = isinf(raised) ? 1 : raised / (1 + raised);
    const double relative = (isinf(g) ? 0 : part * leati_ref_bound_exp(g)) + 6 * LEATI_REF_ULP;
    const double value = y->f[at] * opened;
    y->bound[at] =
        isfinite(value) ? fabs(opened) * y->bound[at] + fabs(value) * relative + FLT_MIN * (2 + fabs(y->f[at])) : 0;
    y->f[at] = value;
  }
  return true;
}

/* x / norm along one axis; rows of zeros stay so. */
static bool run_lp_norm(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  leati_ref_tensor *y = &node->outputs[0];
  const int64_t p = leati_ref_int(node, "p", 2);
  int32_t axis;
  if ((p != 1 && p != 2) || x->rank == 0 || !leati_ref_axis(node, leati_ref_int(node, "axis", -1), x->rank, &axis)) {
    return leati_ref_fail(node, "LpNormalization: no such norm");
  }
  leati_ref_tensor_init(y, x->type, x->rank, x->dims);
  int64_t inner = 1;
  for (int32_t d = axis + 1; d < x->rank; ++d) {
    inner *= x->dims[d];
  }
  const int64_t length = x->dims[axis];
  for (int64_t row = 0; length > 0 && row < x->count / length; ++row) {
    const int64_t base = row / inner * inner * length + row % inner;
    double sum = 0;
    for (int64_t n = 0; n < length; ++n) {
      const double value = fabs(x->f[base + n * inner]);
      sum += p == 2 ? value * value : value;
    }
    /* A square that is too large for float32 makes an infinite norm, and one that is too small may count for nothing.
     */
    const double norm = p == 2 ? sqrt(sum) : sum;
    const double lost = p == 2 ? 3 * (double)length * FLT_MIN / sum : 0;
    const double relative = (double)(length + 2) * 0x1p-24 + 9 * LEATI_REF_ULP + (sum > 0 ? lost : 0);
    for (int64_t n = 0; n < length; ++n) {
      const int64_t at = base + n * inner;
      y->f[at] = norm == 0 ? x->f[at] : sum > (double)FLT_MAX ? x->f[at] / INFINITY : x->f[at] / norm;
      y->bound[at] = isfinite(y->f[at]) ? fabs(y->f[at]) * relative + FLT_MIN : 0;
    }
  }
  return true;
}

/* ---- Operators of com.microsoft --------------------------------------------------------------------------------- */

/* (a + b) + c, of which c may be absent, each sum rounded to the type. */
static bool add_up(leati_ref_node *node, const leati_ref_tensor *a, const leati_ref_tensor *b,
                   const leati_ref_tensor *c, leati_ref_tensor *out) {
  const char *const functions = c != NULL ? "Add Add" : "Add";
  static const int64_t of_two[] = {0, 1}, of_three[] = {0, 1, 3, 2};
  const leat_attribute attributes[] = {{.struct_size = sizeof(leat_attribute),
                                        .type = LEAT_ATTRIBUTE_STRING,
                                        .name = "functions",
                                        .count = strlen(functions),
                                        .string = functions},
                                       {.struct_size = sizeof(leat_attribute),
                                        .type = LEAT_ATTRIBUTE_INTS,
                                        .name = "operands",
                                        .count = c != NULL ? 4 : 2,
                                        .ints = c != NULL ? of_three : of_two}};
  const leat_attribute *pointers[] = {&attributes[0], &attributes[1]};
  const leati_ref_tensor *inputs[] = {a, b, c};
  leati_ref_node part = {.name = "Pointwise",
                         .since_version = 1,
                         .attribute_count = 2,
                         .attributes = pointers,
                         .input_count = c != NULL ? 3 : 2,
                         .inputs = inputs,
                         .output_count = 1};
  if (!leati_ref_run_of(leati_ref_pointwise, &part)) {
    return leati_ref_fail(node, "%s", part.error);
  }
  *out = part.outputs[0];
  return true;
}

/* Softmax of a sum. What an element and the others of its row are off by is a factor of each. */
static bool run_bias_softmax(leati_ref_node *node) {
  leati_ref_tensor sum = {0};
  if (!add_up(node, node->inputs[0], node->inputs[1], NULL, &sum)) {
    return false;
  }
  const leati_ref_tensor *inputs[] = {&sum};
  const leati_ref_tensor *const *const given = node->inputs;
  int32_t axis = 0;
  int64_t length = 1;
  node->inputs = inputs;
  const bool ok = leati_ref_axis(node, leati_ref_int(node, "axis", 1), sum.rank, &axis) && run_softmax(node);
  node->inputs = given;
  for (int32_t d = axis; ok && d < sum.rank; ++d) {
    length *= sum.dims[d];
  }
  for (int64_t base = 0; ok && base < sum.count; base += length) {
    double off = 0;
    for (int64_t k = base; k < base + length; ++k) {
      off = fmax(off, sum.bound[k]);
    }
    for (int64_t k = base; k < base + length; ++k) {
      node->outputs[0].bound[k] += node->outputs[0].f[k] * expm1(2 * off);
    }
  }
  leati_ref_tensor_clear(&sum);
  return ok;
}

/* Adds the line of a table that an index names to `count` sums. */
static void add_line(const leati_ref_tensor *table, int64_t index, double *sums, double *magnitudes) {
  const int64_t lines = table->dims[0], count = table->dims[1], line = index < 0 ? index + lines : index;
  for (int64_t k = 0; line >= 0 && line < lines && k < count; ++k) {
    sums[k] += table->f[line * count + k];
    magnitudes[k] += fabs(table->f[line * count + k]);
  }
}

/* The tables, scale and bias of an embedding, and by how many roundings each element of them is off. */
typedef struct embedding {
  const leati_ref_tensor *parts[5]; /* words, places, kinds, scale, bias */
  const leati_ref_tensor *positions;
  double ulps;
} embedding;

static bool embed(leati_ref_node *node, const embedding *e) {
  const leati_ref_tensor *ids = node->inputs[0], *segments = leati_ref_input(node, 1), *words = e->parts[0];
  const leati_ref_tensor *mask = leati_ref_input(node, 7), *positions = e->positions;
  const int64_t batch = ids->dims[0], sequence = ids->dims[1], count = words->dims[1];
  const int64_t dims[] = {batch, sequence, count};
  leati_ref_tensor sums = {0};
  leati_ref_tensor_init(&sums, words->type, 3, dims);
  leati_ref_tensor_init(&node->outputs[0], words->type, 3, dims);
  for (int64_t row = 0; row < ids->count; ++row) {
    double *const sum = sums.f + row * count, *const magnitude = sums.bound + row * count;
    add_line(words, ids->i[row], sum, magnitude);
    add_line(e->parts[1], positions != NULL ? positions->i[row % positions->count] : row % sequence, sum, magnitude);
    if (segments != NULL) {
      add_line(e->parts[2], segments->i[row], sum, magnitude);
    }
    for (int64_t k = 0; k < count; ++k) {
      magnitude[k] = leati_ref_bound_ulps(magnitude[k], 2 + e->ulps);
    }
    const moments m = measure(&sums, row * count, count, leati_ref_float(node, "epsilon", 1e-12f), false);
    for (int64_t k = 0; k < count; ++k) {
      const double scale = e->parts[3]->f[k], bias = e->parts[4]->f[k];
      normalise(&sums, row * count + k, &m, scale, bias, &node->outputs[0]);
      node->outputs[0].bound[row * count + k] +=
          leati_ref_bound_ulps(fabs(bias) + fabs(node->outputs[0].f[row * count + k] - bias), e->ulps);
    }
  }
  if (node->output_count > 1) {
    leati_ref_tensor_init(&node->outputs[1], LEATI_REF_INT32, 1, &batch);
    for (int64_t k = 0; mask != NULL && k < mask->count; ++k) {
      node->outputs[1].i[k / sequence] += mask->i[k] == 1;
    }
  }
  if (node->output_count > 2) {
    node->outputs[2] = sums;
  } else {
    leati_ref_tensor_clear(&sums);
  }
  return true;
}

static bool run_embed_layer_norm(leati_ref_node *node) {
  embedding e = {.positions = leati_ref_input(node, 8)};
  for (uint32_t k = 0; k < 5; ++k) {
    e.parts[k] = node->inputs[2 + k];
  }
  return embed(node, &e);
}

/* Each tensor is of bytes that stand for floats, products that are rounded once. */
static bool run_q_embed_layer_norm(leati_ref_node *node) {
  enum { FIRST = 2, SCALES = 8, ZEROS = 13, PARTS = 5 };
  leati_ref_tensor floats[PARTS] = {{0}};
  embedding e = {.ulps = 1};
  for (uint32_t k = 0; k < PARTS; ++k) {
    const leati_ref_tensor *x = leati_ref_input(node, FIRST + k);
    if (x != NULL) {
      leati_ref_tensor_init(&floats[k], LEATI_REF_FLOAT32, x->rank, x->dims);
      for (int64_t i = 0; i < x->count; ++i) {
        floats[k].f[i] = (double)(x->i[i] - node->inputs[ZEROS + k]->i[0]) * node->inputs[SCALES + k]->f[0];
      }
      e.parts[k] = &floats[k];
    }
  }
  const bool done = embed(node, &e);
  for (uint32_t k = 0; k < PARTS; ++k) {
    leati_ref_tensor_clear(&floats[k]);
  }
  return done;
}

/* Where an element of images with their channels in dimension 1 is in such that have them last, or not. */
static int64_t place_of(const leati_ref_tensor *x, bool last, int64_t at) {
  const int64_t channels = x->dims[last ? 3 : 1], pixels = x->count / (x->dims[0] * channels);
  const int64_t image = at / (channels * pixels), channel = at / pixels % channels;
  return last ? image * channels * pixels + at % pixels * channels + channel : at;
}

/* x sigmoid(x) of an element that is off by its bound: its slope is 1.1 at most. */
static void apply_silu(leati_ref_tensor *y, int64_t at) {
  const double x = y->f[at], gate = 1 / (1 + exp(-x)), value = x * gate;
  const double relative = leati_ref_bound_exp(x) * (1 - gate) + 4 * LEATI_REF_ULP;
  y->f[at] = value;
  y->bound[at] = 1.1 * y->bound[at] + relative * fabs(value) + leati_ref_bound_ulps(value, 1);
}

/* What is added to images, in a shape that broadcasts to them. */
static leati_ref_tensor as_images(const leati_ref_tensor *x, bool last) {
  leati_ref_tensor as = *x;
  if (x->rank == 2) {
    const int64_t dims[] = {x->dims[0], last ? 1 : x->dims[1], 1, last ? x->dims[1] : 1};
    as.rank = 4;
    memcpy(as.dims, dims, sizeof(dims));
  } else if (x->rank == 1 && !last) {
    as.rank = 3;
    as.dims[1] = as.dims[2] = 1;
  }
  return as;
}

static bool run_image_norm(leati_ref_node *node) {
  const bool last = leati_ref_int(node, "channels_last", 1) != 0, skips = strcmp(node->name, "SkipGroupNorm") == 0;
  const leati_ref_tensor *x = node->inputs[0];
  const int64_t channels = x->dims[last ? 3 : 1], groups = leati_ref_int(node, "groups", 0);
  leati_ref_tensor sum = {0}, lined = {0}, normed = {0};
  if (groups < 1 || channels % groups != 0) {
    return leati_ref_fail(node, "%s: the groups do not divide the channels", node->name);
  }
  if (skips) {
    const leati_ref_tensor *bias = leati_ref_input(node, 4);
    const leati_ref_tensor skip_as = as_images(node->inputs[3], last),
                           bias_as = as_images(bias != NULL ? bias : x, last);
    if (!add_up(node, x, &skip_as, bias != NULL ? &bias_as : NULL, &sum)) {
      return false;
    }
    x = &sum;
  }
  leati_ref_tensor_init(&node->outputs[0], x->type, x->rank, x->dims);
  leati_ref_tensor_init(&lined, x->type, 1, &x->count);
  leati_ref_tensor_init(&normed, x->type, 1, &x->count);
  for (int64_t k = 0; k < x->count; ++k) {
    leati_ref_tensor_copy_element(&lined, k, x, place_of(x, last, k));
  }
  const int64_t length = x->count == 0 ? 1 : x->count / (x->dims[0] * groups);
  const int64_t pixels = length / (channels / groups);
  for (int64_t base = 0; base < x->count; base += length) {
    const moments m = measure(&lined, base, length, leati_ref_float(node, "epsilon", 1e-5f), false);
    for (int64_t k = base; k < base + length; ++k) {
      const int64_t channel = k / pixels % channels;
      normalise(&lined, k, &m, node->inputs[1]->f[channel], node->inputs[2]->f[channel], &normed);
      if (leati_ref_int(node, "activation", 0) != 0) {
        apply_silu(&normed, k);
      }
      leati_ref_tensor_copy_element(&node->outputs[0], place_of(x, last, k), &normed, k);
    }
  }
  leati_ref_tensor_clear(&lined);
  leati_ref_tensor_clear(&normed);
  if (node->output_count > 1) {
    node->outputs[1] = sum;
  } else {
    leati_ref_tensor_clear(&sum);
  }
  return true;
}

/* 1 at the first of the largest, of nothing but NaN at the first. Before version 13 all dimensions from the axis on are
 * one. */
static bool run_hardmax(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  leati_ref_tensor *y = &node->outputs[0];
  const bool flattens = node->since_version < 13;
  int32_t axis;
  if (!leati_ref_axis(node, leati_ref_int(node, "axis", flattens ? 1 : -1), x->rank, &axis)) {
    return false;
  }
  int64_t inner = 1, size = 1;
  for (int32_t d = axis; d < x->rank; ++d) {
    size *= d == axis || flattens ? x->dims[d] : 1;
    inner *= d > axis && !flattens ? x->dims[d] : 1;
  }
  leati_ref_tensor_init(y, x->type, x->rank, x->dims);
  for (int64_t line = 0; size != 0 && line < x->count / size; ++line) {
    const int64_t first = line / inner * size * inner + line % inner;
    int64_t place = -1;
    for (int64_t k = 0; k < size; ++k) {
      const double element = x->f[first + k * inner];
      place = !isnan(element) && (place < 0 || element > x->f[first + place * inner]) ? k : place;
    }
    y->f[first + (place < 0 ? 0 : place) * inner] = 1;
  }
  return true;
}

const leati_ref_entry leati_ref_norm[] = {
    {"Softmax", run_softmax},
    {"LogSoftmax", run_softmax},
    {"Hardmax", run_hardmax},
    {"LayerNormalization", run_layer_norm},
    {"RMSNormalization", run_layer_norm},
    {"SimplifiedLayerNormalization", run_layer_norm},
    {"SkipLayerNormalization", run_layer_norm},
    {"SkipSimplifiedLayerNormalization", run_layer_norm},
    {"InstanceNormalization", run_group_norm},
    {"GroupNormalization", run_group_norm},
    {"BatchNormalization", run_batch_norm},
    {"LRN", run_lrn},
    {"GatedRMSNorm", run_gated_rms_norm},
    {"LpNormalization", run_lp_norm},
    {"BiasSoftmax", run_bias_softmax},
    {"EmbedLayerNormalization", run_embed_layer_norm},
    {"QEmbedLayerNormalization", run_q_embed_layer_norm},
    {"GroupNorm", run_image_norm},
    {"SkipGroupNorm", run_image_norm},
    {NULL, NULL},
};
