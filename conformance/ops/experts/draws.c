/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "ops/core/draw.h"

/* Adds an input, or leaves it out; its numbers are plain, because what lies between the products is not told. */
static leati_draw_tensor *add(leati_draw *d, bool there, uint64_t type, int32_t rank, int64_t a, int64_t b, int64_t c) {
  const int64_t dims[] = {a, b, c};
  if (!there) {
    leati_draw_absent(d);
    return NULL;
  }
  leati_draw_tensor *const tensor = leati_draw_input(d, type, rank, dims);
  tensor->plain = true;
  return tensor;
}

/* What a product has: codes, scales and, where it is not NULL, a bias. */
static void add_codes(leati_draw *d, uint64_t type, int64_t experts, int64_t rows, int64_t k, int64_t bits,
                      int64_t block, bool bias) {
  leati_draw_range(d, add(d, true, LEAT_TYPE_UINT8, 3, experts, rows, k * bits / 8), 0, 255);
  leati_draw_range(d, add(d, true, type, block > 0 ? 3 : 2, experts, rows, block > 0 ? k / block : 0), 1, 2);
  add(d, bias, type, 2, experts, rows, 0);
}

static void add_zeros(leati_draw *d, bool there, int64_t experts, int64_t rows, int64_t k, int64_t bits,
                      int64_t block) {
  leati_draw_tensor *const zeros = block > 0
                                       ? add(d, there, LEAT_TYPE_UINT8, 3, experts, rows, (k / block * bits + 7) / 8)
                                       : add(d, there, LEAT_TYPE_UINT8, 2, experts, (rows * bits + 7) / 8, 0);
  if (zeros != NULL) {
    leati_draw_range(d, zeros, 0, 255);
  }
}

static void mixture(leati_draw *d) {
  static const char *const names[] = {"relu", "gelu", "silu", "identity", "swiglu"};
  const bool quantized = strcmp(d->info->name, "QMoE") == 0, bias = leati_draw_chance(d, 60);
  const uint64_t type = leati_draw_type(d, "T");
  const int64_t activation = leati_draw_int(d, 0, 4), experts = leati_draw_int(d, 1, 6);
  const int64_t bits = leati_draw_chance(d, 50) ? 4 : 8, block = leati_draw_chance(d, 50) ? 16 : 0;
  const int64_t unit = !quantized ? 1 : block > 0 ? 16 : 2;
  const int64_t tokens = leati_draw_int(d, d->empty ? 0 : 1, leati_draw_chance(d, 30) ? 20 : 3);
  const int64_t hidden = unit * leati_draw_int(d, 1, 4), inner = unit * leati_draw_int(d, 1, 3);
  const int64_t rows = activation == 4 ? 2 * inner : inner;
  /* A third product is refused. */
  const bool third = leati_draw_chance(d, 5);
  const bool deep = leati_draw_chance(d, 40);
  add(d, true, type, deep ? 3 : 2, deep ? 1 : tokens, deep ? tokens : hidden, hidden);
  add(d, true, type, 2, tokens, experts, 0);
  if (quantized) {
    const bool zeros = leati_draw_chance(d, 50);
    add_codes(d, type, experts, rows, hidden, bits, block, bias);
    add_codes(d, type, experts, hidden, inner, bits, block, bias);
    add(d, third, LEAT_TYPE_UINT8, 3, experts, inner, hidden);
    add(d, third, type, 2, experts, inner, 0);
    add(d, third, type, 2, experts, inner, 0);
    add_zeros(d, zeros, experts, rows, hidden, bits, block);
    add_zeros(d, zeros, experts, hidden, inner, bits, block);
    add(d, third, LEAT_TYPE_UINT8, 2, experts, inner, 0);
    leati_draw_tensor *const given = add(d, leati_draw_chance(d, 40), type, 2, tokens, experts, 0);
    if (given != NULL) {
      leati_draw_range(d, given, 1, 5);
    }
    leati_draw_attribute_int(d, "expert_weight_bits", bits);
    leati_draw_attribute_int(d, "block_size", block);
    leati_draw_attribute_int(d, "weights_prepacked", -leati_draw_int(d, 0, 1));
    static const char *const widths[] = {"fc1_expert_weight_bits", "fc2_expert_weight_bits", "fc3_expert_weight_bits"};
    leati_draw_attribute_int(d, widths[leati_draw_int(d, 0, 2)], bits);
    leati_draw_attribute_int(d, "accuracy_level", leati_draw_int(d, 0, 4));
    leati_draw_attribute_string(d, "quant_type", leati_draw_chance(d, 3) ? "fp8" : "int");
  } else {
    add(d, true, type, 3, experts, rows, hidden);
    add(d, bias, type, 2, experts, rows, 0);
    add(d, true, type, 3, experts, hidden, inner);
    add(d, bias, type, 2, experts, hidden, 0);
    add(d, third, type, 3, experts, inner, hidden);
    add(d, third, type, 2, experts, inner, 0);
  }
  leati_draw_attribute_string(d, "activation_type", names[activation]);
  leati_draw_attribute_int(d, "k", leati_draw_int(d, 1, experts));
  if (leati_draw_chance(d, 50)) {
    leati_draw_attribute_int(d, "normalize_routing_weights", leati_draw_int(d, 0, 1));
  }
  leati_draw_attribute_int(d, "swiglu_fusion", leati_draw_int(d, 1, 2));
  if (activation == 4) {
    leati_draw_attribute_float(d, "swiglu_limit", 2);
    leati_draw_attribute_float(d, "activation_alpha", 1.5);
    leati_draw_attribute_float(d, "activation_beta", 1);
  } else {
    leati_draw_attribute_int(d, "use_sparse_mixer", 0);
    leati_draw_attribute_int(d, "swiglu_limit_after_activation", 0);
  }
}

const leati_draw_entry leati_draws_experts[] = {
    {"matmul", LEAT_MICROSOFT, "MoE QMoE", NULL, mixture},
    {NULL, NULL, NULL, NULL, NULL},
};
