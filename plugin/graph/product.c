/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/product.h"

#include <string.h>

#include "ops/elementwise/function.h"

/* ---- Reading ---------------------------------------------------------------------------------------------------- */

/* Attributes that are written anew, or that say nothing of a FusedMatMul. */
static bool is_rewritten(const char *name) {
  static const char *const names[] = {"alpha",          "beta",        "activation",  "activation_params",
                                      "residual_first", "transBatchA", "transBatchB", "shape"};
  bool found = false;
  for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]) && !found; ++i) {
    found = strcmp(name, names[i]) == 0;
  }
  return found;
}

/* Gemm's third input is a bias if it is a row, else a residual. */
static bool read_gemm(const leati_fusion *f, const leati_node *node, leati_product *out) {
  const uint32_t c = leati_fusion_input(node, 2);
  if (c != LEAT_GRAPH_NO_VALUE && leati_attributes_float(&node->attributes, "beta", 1.0f) != 1.0f) {
    return false;
  }
  const bool row =
      c != LEAT_GRAPH_NO_VALUE && leati_fusion_rank(f, c) == 1 && leati_fusion_same_size(f, c, 0, node->outputs[0], 1);
  out->inputs[row ? 2 : 3] = c;
  return true;
}

static void read_activation(const leati_node *node, leati_product *out) {
  const leat_attribute *const name = leati_attributes_find(&node->attributes, "activation");
  const leat_attribute *const list = leati_attributes_find(&node->attributes, "activation_params");
  if (name != NULL && name->count < sizeof(out->activation)) {
    memcpy(out->activation, name->string, (size_t)name->count);
  }
  out->parameter_count = list != NULL ? (uint32_t)list->count : 0;
  memcpy(out->parameters, list != NULL ? list->floats : out->parameters, out->parameter_count * sizeof(float));
}

bool leati_product_read(const leati_fusion *f, const leati_node *node, leati_product *out) {
  const bool gemm = leati_fusion_is(node, LEATI_IS_GEMM), fused_conv = leati_fusion_is(node, LEATI_IS_FUSED_CONV);
  const bool fused = fused_conv || leati_fusion_is(node, LEATI_IS_FUSED_MATMUL);
  const bool conv = fused_conv || leati_fusion_is(node, LEATI_IS_CONV);
  const bool fast_gelu = leati_fusion_is(node, LEATI_IS_GEMM_FAST_GELU);
  if (!gemm && !fused && !conv && !fast_gelu && !leati_fusion_is(node, LEATI_IS_MATMUL) &&
      !leati_fusion_is(node, LEATI_IS_ORT_FUSED_MATMUL) && !leati_fusion_is(node, LEATI_IS_TRANSPOSE_MATMUL)) {
    return false;
  }
  *out = (leati_product){.conv = conv, .inputs = {0, 0, LEAT_GRAPH_NO_VALUE, LEAT_GRAPH_NO_VALUE, LEAT_GRAPH_NO_VALUE}};
  const uint32_t count = gemm ? 2 : node->input_count;
  for (uint32_t i = 0; i < count && i < LEATI_PRODUCT_INPUTS; ++i) {
    out->inputs[i] = node->inputs[i];
  }
  if (gemm && !read_gemm(f, node, out)) {
    return false;
  }
  for (uint32_t i = 0; i < node->attributes.count; ++i) {
    if (!is_rewritten(node->attributes.list[i]->name) && out->kept_count < LEATI_PRODUCT_KEPT_MAX) {
      out->kept[out->kept_count++] = *node->attributes.list[i];
    }
  }
  out->alpha = leati_attributes_float(&node->attributes, "alpha", 1.0f);
  out->residual_first = leati_attributes_int(&node->attributes, "residual_first", 1) != 0;
  if (fast_gelu) {
    const leati_function function = {.operation = LEAT_EW_GELU_TANH};
    const char *const name = leati_function_activation(&function, &out->parameter_count);
    memcpy(out->activation, name, strlen(name) + 1);
  }
  if (fused) {
    read_activation(node, out);
    const leat_attribute *const shape = leati_attributes_find(&node->attributes, "shape");
    out->shape_rank = shape != NULL ? (uint32_t)shape->count : 0;
  }
  return true;
}

bool leati_product_read_maker(const leati_fusion *f, uint32_t v, leati_product *out) {
  return leati_product_read(f, leati_fusion_private_maker(f, v), out);
}

/* ---- Writing ---------------------------------------------------------------------------------------------------- */

leati_fusion_node leati_product_node(const leati_product *p, leat_attribute attributes[LEATI_FUSION_ATTRIBUTES_MAX]) {
  uint32_t count = p->kept_count;
  memcpy(attributes, p->kept, count * sizeof(attributes[0]));
  if (!p->conv) {
    attributes[count++] = leati_fusion_float("alpha", p->alpha);
  }
  attributes[count++] = leati_fusion_string("activation", p->activation);
  attributes[count++] = leati_fusion_floats("activation_params", p->parameters, p->parameter_count);
  attributes[count++] = leati_fusion_int("residual_first", p->residual_first);
  if (p->shape_rank != 0) {
    static const int64_t as_residual[LEAT_MAX_RANK] = {-1, -1, -1, -1, -1, -1, -1, -1};
    attributes[count++] = leati_fusion_ints("shape", as_residual, p->shape_rank);
  }
  return (leati_fusion_node){.op = p->conv ? LEATI_IS_FUSED_CONV : LEATI_IS_FUSED_MATMUL,
                             .since_version = 1,
                             .input_count = LEATI_PRODUCT_INPUTS,
                             .inputs = p->inputs,
                             .attribute_count = count,
                             .attributes = attributes};
}

int32_t leati_product_write(leati_fusion *f, uint32_t n, const leati_product *p, bool *out_done, leat_error *err) {
  leat_attribute attributes[LEATI_FUSION_ATTRIBUTES_MAX];
  const leati_fusion_node with = leati_product_node(p, attributes);
  return leati_fusion_replace(f, n, &with, out_done, err);
}
