/* SPDX-License-Identifier: BSD-3-Clause */
/* Operators that scale elements by what a group of them has in common. */
#include "reference/bound.h"
#include "reference/node.h"

/* exp(x - max) / sum of the same, along one axis. */
static bool run_softmax(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  int32_t axis;
  if (!leati_ref_axis(node, leati_ref_int(node, "axis", -1), x->rank, &axis)) {
    return false;
  }
  leati_ref_tensor *y = &node->outputs[0];
  leati_ref_tensor_init(y, x->type, x->rank, x->dims);
  int64_t inner = 1;
  for (int32_t d = axis + 1; d < x->rank; d++) {
    inner *= x->dims[d];
  }
  int64_t length = x->dims[axis];
  for (int64_t group = 0; length > 0 && group < x->count / length; group++) {
    int64_t base = group / inner * inner * length + group % inner;
    double most = -INFINITY;
    for (int64_t n = 0; n < length; n++) {
      double v = x->f[base + n * inner];
      most = isnan(v) || v > most ? v : most;
    }
    /* Each term is off by the rounding of its argument and by its exponential; the sum by the mean of that over its
     * terms and by its additions. */
    double sum = 0;
    double off = 0;
    for (int64_t n = 0; n < length; n++) {
      double d = x->f[base + n * inner] - most;
      double term = exp(d);
      sum += term;
      off += term > 0 ? term * (leati_ref_bound_exp(d) + fabs(d) * LEATI_REF_ULP) : FLT_MIN;
    }
    for (int64_t n = 0; n < length; n++) {
      double d = x->f[base + n * inner] - most;
      double value = exp(d) / sum;
      double relative = leati_ref_bound_exp(d) + fabs(d) * LEATI_REF_ULP + off / sum + (double)(length + 2) * 0x1p-24 +
                        3.5 * LEATI_REF_ULP;
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

static moments measure(const double *x, int64_t count, double epsilon) {
  /* Nothing has mean and variance 0. */
  const int64_t n = count > 0 ? count : 1;
  double sum = 0;
  double magnitude = 0;
  double square = 0;
  for (int64_t k = 0; k < count; k++) {
    sum += x[k];
    magnitude += fabs(x[k]);
    square += x[k] * x[k];
  }
  moments m = {.mean = sum / (double)n};
  m.mean_bound = leati_ref_bound_sum(n, magnitude) / (double)n + leati_ref_bound_ulps(m.mean, 3.5);
  double variance = 0;
  for (int64_t k = 0; k < count; k++) {
    variance += (x[k] - m.mean) * (x[k] - m.mean);
  }
  variance /= (double)n;
  double mean_square = square / (double)n;
  /* The sum of squares, and twice the mean times its error; then the subtraction. */
  double variance_bound =
      (double)(n + 6) * 0x1p-24 * mean_square + 2 * fabs(m.mean) * m.mean_bound + 2 * LEATI_REF_ULP * mean_square;
  m.rstd = 1 / sqrt(variance + epsilon);
  /* Half of the variance's relative error, and a square root and a division. */
  m.rstd_relative = 0.5 * variance_bound / (variance + epsilon) + 9 * LEATI_REF_ULP;
  return m;
}

static bool run_layer_norm(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  const leati_ref_tensor *scale = node->inputs[1];
  const leati_ref_tensor *shift = leati_ref_input(node, 2);
  double epsilon = leati_ref_float(node, "epsilon", 1e-5f);
  int32_t axis;
  if (!leati_ref_axis(node, leati_ref_int(node, "axis", -1), x->rank, &axis)) {
    return false;
  }
  int64_t dims[LEAT_MAX_RANK];
  int64_t lines = 1;
  int64_t length = 1;
  for (int32_t d = 0; d < x->rank; d++) {
    dims[d] = d < axis ? x->dims[d] : 1;
    lines *= dims[d];
    length *= d < axis ? 1 : x->dims[d];
  }
  leati_ref_tensor_init(&node->outputs[0], x->type, x->rank, x->dims);
  for (uint32_t k = 1; k < node->output_count; k++) {
    leati_ref_tensor_init(&node->outputs[k], LEATI_REF_FLOAT32, x->rank, dims);
  }
  for (int64_t group = 0; group < lines; group++) {
    moments m = measure(x->f + group * length, length, epsilon);
    for (int64_t n = 0; n < length; n++) {
      int64_t at = group * length + n;
      int64_t index[LEAT_MAX_RANK];
      leati_ref_unravel(x->rank, x->dims, at, index);
      double gain = scale->f[leati_ref_broadcast_at(scale, x->rank, index)];
      double offset = shift != NULL ? shift->f[leati_ref_broadcast_at(shift, x->rank, index)] : 0;
      double away = x->f[at] - m.mean;
      double scaled = away * m.rstd * gain;
      double value = scaled + offset;
      node->outputs[0].f[at] = value;
      node->outputs[0].bound[at] =
          fabs(gain) * m.rstd * (m.mean_bound + fabs(away) * (m.rstd_relative + LEATI_REF_ULP)) +
          leati_ref_bound_ulps(scaled, 2) + leati_ref_bound_ulps(value, 1);
    }
    if (node->output_count > 1) {
      node->outputs[1].f[group] = m.mean;
      node->outputs[1].bound[group] = m.mean_bound;
    }
    if (node->output_count > 2) {
      node->outputs[2].f[group] = m.rstd;
      node->outputs[2].bound[group] = m.rstd * m.rstd_relative;
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
  for (int32_t d = 2; d < x->rank; d++) {
    inner *= x->dims[d];
  }
  for (int64_t k = 0; k < x->count; k++) {
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

const leati_ref_entry leati_ref_norm[] = {
    {"Softmax", run_softmax},
    {"LayerNormalization", run_layer_norm},
    {"BatchNormalization", run_batch_norm},
    {NULL, NULL},
};
