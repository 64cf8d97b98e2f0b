/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "ops/core/draw.h"
#include "ops/core/draw_parts.h"

#define RANK LEAT_MAX_RANK

static void qlinear_softmax(leati_draw *d) {
  leati_draw_make_bytes(d);
  leati_draw_attribute_int(d, "opset", leati_draw_int(d, 12, 15));
}

static void draw_epsilon(leati_draw *d) {
  /* Not too small, or what the variance of equal elements is off by shows. */
  leati_draw_attribute_float(d, "epsilon", leati_draw_chance(d, 50) ? 1e-3 : 1e-2);
}

/* The scale of a norm. Where a number is as large as the mean, rounding decides what an infinite one makes of it. */
static void draw_gain(leati_draw *d, uint64_t type, int32_t rank, const int64_t *dims) {
  leati_draw_input(d, type, rank, dims)->plain = true;
}

static void layer_norm(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  leati_draw_any(d, "T", 1, RANK, &rank, dims);
  const int64_t axis = leati_draw_axis(d, rank);
  const int32_t first = leati_draw_front(axis, rank);
  const uint64_t type = d->inputs[0].type;
  draw_gain(d, type, rank - first, dims + first);
  if (d->info->max_inputs > 2 && leati_draw_chance(d, 60)) {
    leati_draw_input(d, type, rank - first, dims + first);
  }
  leati_draw_attribute_int(d, "axis", axis);
  draw_epsilon(d);
  d->output_count = (uint32_t)leati_draw_int(d, 1, d->info->max_outputs);
}

static void skip_layer_norm(leati_draw *d) {
  int64_t dims[3];
  const int32_t rank = leati_draw_rank(d, 2, 3);
  leati_draw_dims(d, rank, dims);
  const uint64_t type = leati_draw_type(d, "T");
  const int32_t cut = leati_draw_chance(d, 30) ? rank - 2 : 0;
  leati_draw_input(d, type, rank, dims);
  leati_draw_input(d, type, rank - cut, dims + cut);
  draw_gain(d, type, 1, dims + rank - 1);
  for (uint32_t k = 3; k < d->info->max_inputs; ++k) {
    if (leati_draw_chance(d, 60)) {
      leati_draw_input(d, type, 1, dims + rank - 1);
    } else {
      leati_draw_absent(d);
    }
  }
  draw_epsilon(d);
  d->output_count = (uint32_t)leati_draw_int(d, 1, d->info->max_outputs);
}

static void channel_norm(leati_draw *d) {
  const bool grouped = strcmp(d->info->name, "GroupNormalization") == 0;
  const bool batch = strcmp(d->info->name, "BatchNormalization") == 0;
  const int32_t rank = leati_draw_rank(d, batch ? 2 : 3, 5);
  const int64_t groups = leati_draw_int(d, 1, 3);
  int64_t dims[RANK];
  leati_draw_dims(d, rank, dims);
  if (grouped) {
    dims[1] = groups * leati_draw_int(d, 1, 3);
    leati_draw_attribute_int(d, "num_groups", groups);
  }
  const uint64_t type = leati_draw_type(d, "T");
  leati_draw_input(d, type, rank, dims);
  draw_gain(d, type, 1, grouped && d->since_version < 21 ? &groups : &dims[1]);
  for (int k = 1; k < (batch ? 4 : 2); ++k) {
    leati_draw_tensor *parameter = leati_draw_input(d, type, 1, grouped && d->since_version < 21 ? &groups : &dims[1]);
    if (k == 3) {
      /* No variance is negative. */
      leati_draw_range(d, parameter, 1, 3);
      parameter->plain = true;
    }
  }
  draw_epsilon(d);
  if (batch && d->since_version == 7) {
    leati_draw_attribute_int(d, "spatial", 1);
  }
}

/* The axis of versions before 13 is 1 if it is not told, which one dimension does not have. */
static void softmax(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  leati_draw_any(d, "T", d->since_version < 13 ? 2 : 1, RANK, &rank, dims);
  if (leati_draw_chance(d, 80)) {
    leati_draw_attribute_int(d, "axis", leati_draw_axis(d, rank));
  }
}

static void lrn(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  leati_draw_any(d, "T", 2, 5, &rank, dims);
  leati_draw_attribute_int(d, "size", leati_draw_int(d, 1, 9));
  leati_draw_attribute_float(d, "alpha", leati_draw_chance(d, 50) ? 1e-3 : 0.5);
  if (leati_draw_chance(d, 50)) {
    leati_draw_attribute_float(d, "beta", leati_draw_chance(d, 50) ? 0.5 : 1.25);
  }
  if (leati_draw_chance(d, 50)) {
    leati_draw_attribute_float(d, "bias", 2);
  }
}

static void gated_rms_norm(leati_draw *d) {
  static const char *const names[] = {"silu", "swish", "sigmoid", "tanh"};
  int32_t rank;
  int64_t dims[RANK];
  rank = leati_draw_rank(d, 1, 4);
  leati_draw_dims(d, rank, dims);
  const int64_t part = dims[rank - 1];
  dims[rank - 1] *= leati_draw_int(d, 1, 3);
  const uint64_t type = leati_draw_type(d, "T");
  leati_draw_input(d, type, rank, dims)->plain = true;
  draw_gain(d, type, 1, &part);
  leati_draw_input(d, type, rank, dims)->plain = true;
  if (leati_draw_chance(d, 60)) {
    leati_draw_attribute_string(d, "activation", names[leati_draw_int(d, 0, leati_draw_chance(d, 5) ? 3 : 2)]);
  }
  draw_epsilon(d);
}

static void lp_norm(leati_draw *d) {
  if (leati_draw_chance(d, 60)) {
    leati_draw_attribute_int(d, "p", leati_draw_int(d, 1, 2));
  }
}

static void draw_line(leati_draw *d, uint64_t type, int64_t size) {
  leati_draw_input(d, type, 1, &size)->plain = true;
}

/* A table of lines of a length; gives how many there are. */
static int64_t draw_table(leati_draw *d, uint64_t type, int64_t least, int64_t size) {
  const int64_t dims[] = {least + leati_draw_int(d, 0, 4), size};
  leati_draw_input(d, type, 2, dims);
  return dims[0];
}

static void draw_indices(leati_draw *d, int64_t batch, int64_t sequence, int64_t lines) {
  const int64_t dims[] = {batch, sequence};
  leati_draw_range(d, leati_draw_input(d, LEAT_TYPE_INT32, 2, dims), -lines, lines - 1);
}

static void embed_layer_norm(leati_draw *d) {
  const uint64_t type = leati_draw_type(d, "T");
  const int64_t batch = leati_draw_int(d, 1, 3), sequence = leati_draw_int(d, 1, 5), size = leati_draw_int(d, 1, 40);
  const bool segments = leati_draw_chance(d, 60);
  draw_indices(d, batch, sequence, 3);
  if (segments) {
    draw_indices(d, batch, sequence, 2);
  } else {
    leati_draw_absent(d);
  }
  draw_table(d, type, 3, size);
  draw_table(d, type, sequence, size);
  if (segments) {
    draw_table(d, type, 2, size);
  } else {
    leati_draw_absent(d);
  }
  draw_line(d, type, size);
  draw_line(d, type, size);
  if (leati_draw_chance(d, 50)) {
    draw_indices(d, batch, sequence, 2);
  } else {
    leati_draw_absent(d);
  }
  if (leati_draw_chance(d, 50)) {
    draw_indices(d, leati_draw_chance(d, 50) ? batch : 1, sequence, sequence);
  }
  draw_epsilon(d);
  leati_draw_attribute_int(d, "mask_index_type", leati_draw_int(d, 0, 1));
  d->output_count = (uint32_t)leati_draw_int(d, 1, 3);
}

static void q_embed_layer_norm(leati_draw *d) {
  const uint64_t type = leati_draw_type(d, "T2");
  const int64_t batch = leati_draw_int(d, 1, 3), sequence = leati_draw_int(d, 1, 5), size = leati_draw_int(d, 1, 40);
  const bool segments = leati_draw_chance(d, 60);
  draw_indices(d, batch, sequence, 3);
  if (segments) {
    draw_indices(d, batch, sequence, 2);
  } else {
    leati_draw_absent(d);
  }
  const int64_t lines[] = {3, sequence, 2};
  for (uint32_t k = 0; k < 3; ++k) {
    if (k < 2 || segments) {
      draw_table(d, type, lines[k], size);
    } else {
      leati_draw_absent(d);
    }
  }
  draw_line(d, type, size);
  draw_line(d, type, size);
  if (leati_draw_chance(d, 50)) {
    draw_indices(d, batch, sequence, 2);
  } else {
    leati_draw_absent(d);
  }
  for (uint32_t k = 0; k < 10; ++k) {
    if (k % 5 == 2 && !segments) {
      leati_draw_absent(d);
    } else if (k < 5) {
      leati_draw_tensor *const scale = leati_draw_input(d, LEAT_TYPE_FLOAT32, 0, NULL);
      leati_draw_set(scale, 0, g_rand_double_range(d->rand, 0.01, 0.3));
      scale->plain = true;
    } else {
      leati_draw_input(d, type, leati_draw_chance(d, 50), (const int64_t[]){1});
    }
  }
  draw_epsilon(d);
  d->output_count = (uint32_t)leati_draw_int(d, 1, 2);
}

static void bias_softmax(leati_draw *d) {
  int32_t rank;
  int64_t dims[RANK];
  const uint64_t type = leati_draw_any(d, "T", 2, RANK, &rank, dims)->type;
  leati_draw_narrow_input(d, type, rank, dims);
  if (leati_draw_chance(d, 80)) {
    leati_draw_attribute_int(d, "axis", leati_draw_axis(d, rank));
  }
  leati_draw_attribute_int(d, "is_inner_broadcast", leati_draw_int(d, 0, 1));
}

static void image_norm(leati_draw *d) {
  const bool last = leati_draw_chance(d, 60);
  const int64_t groups = leati_draw_int(d, 1, 3), channels = groups * leati_draw_int(d, 1, 3);
  const uint64_t type = leati_draw_type(d, "T"), parameters = leati_draw_type(d, "M");
  int64_t dims[RANK];
  leati_draw_dims(d, 4, dims);
  dims[last ? 3 : 1] = channels;
  leati_draw_input(d, type, 4, dims);
  draw_line(d, parameters, channels);
  draw_line(d, parameters, channels);
  if (d->info->max_inputs > 3) {
    const int64_t pair[] = {dims[0], channels};
    const bool whole = leati_draw_chance(d, 50);
    leati_draw_input(d, type, whole ? 4 : 2, whole ? dims : pair);
    if (leati_draw_chance(d, 60)) {
      draw_line(d, type, channels);
    }
    d->output_count = (uint32_t)leati_draw_int(d, 1, 2);
  }
  draw_epsilon(d);
  leati_draw_attribute_int(d, "groups", groups);
  leati_draw_attribute_int(d, "activation", leati_draw_int(d, 0, 1));
  leati_draw_attribute_int(d, "channels_last", last);
}

const leati_draw_entry leati_draws_norm[] = {
    {"norm", LEAT_MICROSOFT, "EmbedLayerNormalization", NULL, embed_layer_norm},
    {"norm", LEAT_MICROSOFT, "QEmbedLayerNormalization", NULL, q_embed_layer_norm},
    {"norm", LEAT_MICROSOFT, "BiasSoftmax", NULL, bias_softmax},
    {"norm", LEAT_MICROSOFT, "GroupNorm SkipGroupNorm", NULL, image_norm},
    {"norm", LEAT_MICROSOFT, "QLinearSoftmax", "*1", qlinear_softmax},
    {"norm", "", "LayerNormalization RMSNormalization SimplifiedLayerNormalization", NULL, layer_norm},
    {"norm", LEAT_MICROSOFT, "SkipLayerNormalization SkipSimplifiedLayerNormalization", NULL, skip_layer_norm},
    {"norm", "", "InstanceNormalization GroupNormalization BatchNormalization", NULL, channel_norm},
    {"norm", "", "LRN", NULL, lrn},
    {"norm", LEAT_MICROSOFT, "GatedRMSNorm", NULL, gated_rms_norm},
    {"norm", "", "LpNormalization", "*1", lp_norm},
    {"norm", "", "Softmax LogSoftmax Hardmax", NULL, softmax},
    {NULL, NULL, NULL, NULL, NULL},
};
