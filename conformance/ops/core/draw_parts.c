/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/core/draw_parts.h"

void leati_draw_scale(leati_draw *d, leati_draw_tensor *tensor) {
  static const double scales[] = {1, 100, 1e5, 5e9, 2e19};
  const double scale = scales[leati_draw_int(d, 0, G_N_ELEMENTS(scales) - 1)];
  for (int64_t k = 0; k < tensor->count && leati_draw_is_float(tensor->type); ++k) {
    leati_draw_set(tensor, k, g_rand_double_range(d->rand, -scale, scale));
  }
}

void leati_draw_bytes(leati_draw *d, leati_draw_tensor *tensor) {
  const bool has_sign = tensor->type == LEAT_TYPE_INT8;
  leati_draw_range(d, tensor, has_sign ? -128 : 0, has_sign ? 127 : 255);
}

void leati_draw_scale_of_bytes(leati_draw *d, uint64_t type) {
  const int64_t one = 1;
  leati_draw_set(leati_draw_input(d, LEAT_TYPE_FLOAT32, (int32_t)leati_draw_int(d, 0, 1), &one), 0,
                 g_rand_double_range(d->rand, 0.01, 0.3));
  if (leati_draw_chance(d, 80)) {
    leati_draw_bytes(d, leati_draw_input(d, type, (int32_t)leati_draw_int(d, 0, 1), &one));
  } else {
    leati_draw_absent(d);
  }
}

void leati_draw_make_bytes(leati_draw *d) {
  leati_draw_bytes(d, &d->inputs[0]);
  leati_draw_scale_of_bytes(d, d->inputs[0].type);
  leati_draw_scale_of_bytes(d, d->inputs[0].type);
}

void leati_draw_named_activation(leati_draw *d, const char *name, const char *list) {
  static const struct {
    const char *name;
    int32_t parameters;
  } choices[] = {{"", 0},          {"Relu", 0},    {"Clip", 2}, {"LeakyRelu", 1}, {"HardSigmoid", 2},
                 {"HardSwish", 0}, {"Sigmoid", 0}, {"Tanh", 0}, {"Gelu", 0},      {"FastGelu", 0},
                 {"QuickGelu", 1}, {"Swish", 1},   {"Mish", 0}, {"Softplus", 0},  {"Softsign", 0},
                 {"Elu", 1},       {"Selu", 2},    {"Celu", 1}, {"Shrink", 2},    {"ThresholdedRelu", 1}};
  /* A driver may compile each with each operator anew, and each has cases of its own: often it is one of few. */
  const int64_t choice = leati_draw_int(d, 0, leati_draw_chance(d, 70) ? 2 : G_N_ELEMENTS(choices) - 1);
  const double values[2] = {g_rand_double_range(d->rand, 0.1, 2), g_rand_double_range(d->rand, 0.1, 2)};
  leati_draw_attribute_string(d, name, choices[choice].name);
  if (leati_draw_chance(d, 60)) {
    leati_draw_attribute_floats(d, list, (int32_t)leati_draw_int(d, 0, choices[choice].parameters), values);
  }
}

void leati_draw_activation(leati_draw *d) {
  static const char *const alone[] = {"activation_alpha", "activation_beta", "activation_gamma"};
  leati_draw_named_activation(d, "activation", "activation_params");
  for (size_t k = 0; k < G_N_ELEMENTS(alone); ++k) {
    if (leati_draw_chance(d, 50)) {
      leati_draw_attribute_float(d, alone[k], g_rand_double_range(d->rand, 0.1, 2));
    }
  }
  leati_draw_attribute_int(d, "residual_first", leati_draw_int(d, 0, 1));
}

void leati_draw_quantized_result(leati_draw *d, int64_t count, bool bias) {
  if (bias) {
    leati_draw_input(d, LEAT_TYPE_FLOAT32, 1, &count);
  } else {
    leati_draw_absent(d);
  }
  if (leati_draw_chance(d, 60)) {
    leati_draw_set(leati_draw_input(d, LEAT_TYPE_FLOAT32, 0, NULL), 0, 64 * (double)leati_draw_int(d, 1, 400));
    leati_draw_bytes(d, leati_draw_input(d, leati_draw_chance(d, 50) ? LEAT_TYPE_INT8 : LEAT_TYPE_UINT8, 0, NULL));
  }
  if (leati_draw_chance(d, 40)) {
    leati_draw_attribute_string(d, "activation", "Relu");
  }
}

void leati_draw_quantized_operands(leati_draw *d, const int32_t ranks[2], const int64_t *const dims[2],
                                   const int64_t *scales) {
  const uint64_t types[2] = {leati_draw_type(d, "T1"), leati_draw_type(d, "T2")};
  for (int side = 0; side < 2; ++side) {
    leati_draw_bytes(d, leati_draw_input(d, types[side], ranks[side], dims[side]));
  }
  for (int side = 0; side < 2; ++side) {
    leati_draw_input(d, LEAT_TYPE_FLOAT32, side, scales);
  }
  for (int side = 0; side < 2; ++side) {
    if (leati_draw_chance(d, 60)) {
      leati_draw_bytes(d, leati_draw_input(d, types[side], side, scales));
    } else {
      leati_draw_absent(d);
    }
  }
}
