/* SPDX-License-Identifier: BSD-3-Clause */
/* Operators that stand for several elementwise ones: each the program of Pointwise that it is. */
#include <string.h>

#include "ops/core/node.h"

#define OPERANDS_MAX 12
#define INPUTS_MAX 4

/* A program: names, and operands as Pointwise has them. */
typedef struct program {
  const char *functions;
  int64_t operands[OPERANDS_MAX];
  uint64_t operand_count;
} program;

static const program bias_gelu = {"Add Gelu", {0, 1, 2}, 3};
static const program fast_gelu = {"Add FastGelu", {0, 1, 2}, 3};
static const program plain_fast_gelu = {"FastGelu", {0}, 1};
static const program plain_add = {"Add", {0, 1}, 2};
static const program bias_add = {"Add Add", {0, 1, 3, 2}, 4};
static const program split_gelu = {"Add Add Gelu Mul", {0, 1, 2, 3, 5, 4, 6}, 7};
static const program affine = {"Mul Add", {0, -1, 1, -2}, 4};
static const program soft = {"Mul Softplus Mul", {0, -2, 1, 2, -1}, 5};
static const program hyperbolic = {"Mul Tanh Mul", {0, -2, 1, 2, -1}, 5};
static const program gated_add = {"Mul Add", {1, 2, 0, 3}, 4};
static const program scaled_silu = {"Mul Sigmoid Mul", {0, -1, 1, 1, 2}, 5};
static const program real_product = {"Mul Mul Sub", {0, 2, 1, 3, 4, 5}, 6};
static const program real_conjugate = {"Mul Mul Add", {0, 2, 1, 3, 4, 5}, 6};
static const program imaginary_product = {"Mul Mul Add", {1, 2, 0, 3, 4, 5}, 6};
static const program imaginary_conjugate = {"Mul Mul Sub", {1, 2, 0, 3, 4, 5}, 6};

/* What a program gives of some inputs. */
static bool run_program(leati_ref_node *node, const program *p, uint32_t input_count,
                        const leati_ref_tensor *const *inputs, const float constants[2], leati_ref_tensor *out) {
  const leat_attribute attributes[] = {{.struct_size = sizeof(leat_attribute),
                                        .type = LEAT_ATTRIBUTE_STRING,
                                        .name = "functions",
                                        .count = strlen(p->functions),
                                        .string = p->functions},
                                       {.struct_size = sizeof(leat_attribute),
                                        .type = LEAT_ATTRIBUTE_INTS,
                                        .name = "operands",
                                        .count = p->operand_count,
                                        .ints = p->operands},
                                       {.struct_size = sizeof(leat_attribute),
                                        .type = LEAT_ATTRIBUTE_FLOATS,
                                        .name = "constants",
                                        .count = 2,
                                        .floats = constants}};
  const leat_attribute *pointers[] = {&attributes[0], &attributes[1], &attributes[2]};
  leati_ref_node part = {.name = "Pointwise",
                         .since_version = 1,
                         .attribute_count = 3,
                         .attributes = pointers,
                         .input_count = input_count,
                         .inputs = inputs,
                         .output_count = 1};
  if (!leati_ref_run_of(leati_ref_pointwise, &part)) {
    return leati_ref_fail(node, "%s", part.error);
  }
  *out = part.outputs[0];
  return true;
}

/* A program of the node's own inputs. */
static bool run_own(leati_ref_node *node, const program *p, uint32_t input_count) {
  const float constants[] = {leati_ref_float(node, "alpha", 1), leati_ref_float(node, "beta", 0)};
  return run_program(node, p, input_count, node->inputs, constants, &node->outputs[0]);
}

static bool run_bias_gelu(leati_ref_node *node) {
  return run_own(node, &bias_gelu, 2);
}

static bool run_fast_gelu(leati_ref_node *node) {
  const bool biased = leati_ref_input(node, 1) != NULL;
  return run_own(node, biased ? &fast_gelu : &plain_fast_gelu, biased ? 2 : 1);
}

static bool run_bias_add(leati_ref_node *node) {
  return run_own(node, &bias_add, 3);
}

/* At inference, where the mask is all true. */
static bool run_bias_dropout(leati_ref_node *node) {
  const leati_ref_tensor *training = leati_ref_input(node, 4);
  const bool more = leati_ref_input(node, 2) != NULL;
  if (training != NULL && training->i[0] != 0) {
    return leati_ref_fail(node, "BiasDropout: training is not computed here");
  }
  if (node->output_count > 1) {
    leati_ref_tensor *const mask = &node->outputs[1];
    leati_ref_tensor_init(mask, LEATI_REF_BOOL, node->inputs[0]->rank, node->inputs[0]->dims);
    for (int64_t k = 0; k < mask->count; ++k) {
      mask->i[k] = 1;
    }
  }
  return run_own(node, more ? &bias_add : &plain_add, more ? 3 : 2);
}

static bool run_gated_add(leati_ref_node *node) {
  return run_own(node, &gated_add, 3);
}

static bool run_scaled_silu(leati_ref_node *node) {
  return run_own(node, &scaled_silu, 1);
}

static bool run_affine(leati_ref_node *node) {
  return run_own(node, &affine, 1);
}

static bool run_parametric_softplus(leati_ref_node *node) {
  return run_own(node, &soft, 1);
}

static bool run_scaled_tanh(leati_ref_node *node) {
  return run_own(node, &hyperbolic, 1);
}

/* Part `at` of `of` of the last dimension. */
static void take_part(const leati_ref_tensor *x, int64_t at, int64_t of, leati_ref_tensor *out) {
  int64_t dims[LEAT_MAX_RANK];
  memcpy(dims, x->dims, sizeof(dims));
  const int64_t size = dims[x->rank - 1] / of;
  dims[x->rank - 1] = size;
  leati_ref_tensor_init(out, x->type, x->rank, dims);
  for (int64_t k = 0; k < out->count; ++k) {
    leati_ref_tensor_copy_element(out, k, x, k / size * size * of + at * size + k % size);
  }
}

/* Halves of both inputs of a node: of the first, then of the second. */
static void take_halves(const leati_ref_node *node, leati_ref_tensor halves[INPUTS_MAX]) {
  for (int64_t k = 0; k < INPUTS_MAX; ++k) {
    take_part(node->inputs[k / 2], k % 2, 2, &halves[k]);
  }
}

static void clear(leati_ref_tensor *tensors) {
  for (uint32_t k = 0; k < INPUTS_MAX; ++k) {
    leati_ref_tensor_clear(&tensors[k]);
  }
}

static const float none[2] = {0};

static bool run_bias_split_gelu(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  if (x->dims[x->rank - 1] % 2 != 0) {
    return leati_ref_fail(node, "BiasSplitGelu: an odd number of elements");
  }
  leati_ref_tensor halves[INPUTS_MAX] = {{0}};
  take_halves(node, halves);
  const leati_ref_tensor *given[] = {&halves[0], &halves[2], &halves[1], &halves[3]};
  const bool ok = run_program(node, &split_gelu, 4, given, none, &node->outputs[0]);
  clear(halves);
  return ok;
}

static bool run_complex(leati_ref_node *node, const program *real, const program *imaginary) {
  leati_ref_tensor parts[INPUTS_MAX] = {{0}}, products[2] = {{0}};
  take_halves(node, parts);
  const leati_ref_tensor *given[] = {&parts[0], &parts[1], &parts[2], &parts[3]};
  const bool ok = run_program(node, real, 4, given, none, &products[0]) &&
                  run_program(node, imaginary, 4, given, none, &products[1]);
  if (ok) {
    int64_t dims[LEAT_MAX_RANK];
    memcpy(dims, products[0].dims, sizeof(dims));
    dims[products[0].rank - 1] = 2;
    leati_ref_tensor_init(&node->outputs[0], products[0].type, products[0].rank, dims);
    for (int64_t k = 0; k < node->outputs[0].count; ++k) {
      leati_ref_tensor_copy_element(&node->outputs[0], k, &products[k % 2], k / 2);
    }
  }
  leati_ref_tensor_clear(&products[0]);
  leati_ref_tensor_clear(&products[1]);
  clear(parts);
  return ok;
}

static bool run_complex_mul(leati_ref_node *node) {
  return run_complex(node, &real_product, &imaginary_product);
}

static bool run_complex_mul_conj(leati_ref_node *node) {
  return run_complex(node, &real_conjugate, &imaginary_conjugate);
}

/* x scale + a number for each channel. */
static bool run_image_scaler(leati_ref_node *node) {
  const leati_ref_tensor *x = node->inputs[0];
  const leat_attribute *biases = leati_ref_attribute(node, "bias");
  const int64_t pixels = x->dims[2] * x->dims[3];
  if (biases == NULL ? x->dims[1] != 0 : biases->count != (uint64_t)x->dims[1]) {
    return leati_ref_fail(node, "ImageScaler: not a bias for each channel");
  }
  leati_ref_tensor_init(&node->outputs[0], x->type, x->rank, x->dims);
  for (int64_t plane = 0; x->count != 0 && plane < x->dims[0] * x->dims[1]; ++plane) {
    const float constants[] = {leati_ref_float(node, "scale", 1), biases->floats[plane % x->dims[1]]};
    leati_ref_tensor one = {0}, scaled = {0};
    leati_ref_tensor_init(&one, x->type, 1, &pixels);
    for (int64_t k = 0; k < pixels; ++k) {
      leati_ref_tensor_copy_element(&one, k, x, plane * pixels + k);
    }
    const leati_ref_tensor *given[] = {&one};
    const bool ok = run_program(node, &affine, 1, given, constants, &scaled);
    for (int64_t k = 0; k < pixels && ok; ++k) {
      leati_ref_tensor_copy_element(&node->outputs[0], plane * pixels + k, &scaled, k);
    }
    leati_ref_tensor_clear(&one);
    leati_ref_tensor_clear(&scaled);
    if (!ok) {
      return false;
    }
  }
  return true;
}

const leati_ref_entry leati_ref_composite[] = {
    {"BiasGelu", run_bias_gelu},
    {"FastGelu", run_fast_gelu},
    {"BiasAdd", run_bias_add},
    {"BiasDropout", run_bias_dropout},
    {"GatedAdd", run_gated_add},
    {"ScaledSiLU", run_scaled_silu},
    {"BiasSplitGelu", run_bias_split_gelu},
    {"ComplexMul", run_complex_mul},
    {"ComplexMulConj", run_complex_mul_conj},
    {"Affine", run_affine},
    {"ParametricSoftplus", run_parametric_softplus},
    {"ScaledTanh", run_scaled_tanh},
    {"ImageScaler", run_image_scaler},
    {NULL, NULL},
};
