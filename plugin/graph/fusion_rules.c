/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/fusion_rules.h"

#include "core/status.h"
#include "graph/fuse_attention.h"
#include "graph/fuse_chain.h"
#include "graph/fuse_function.h"
#include "graph/fuse_integer.h"
#include "graph/fuse_neutral.h"
#include "graph/fuse_norm.h"
#include "graph/fuse_product.h"
#include "graph/fuse_products.h"
#include "graph/fuse_rotary.h"

static leati_fusion_rule *const rules[LEATI_FUSION_CHANNELS_LAST] = {
    [LEATI_FUSION_INTEGER] = leati_fuse_integer,     /* product of bytes, times scales, + bias, Relu, to bytes */
    [LEATI_FUSION_ATTENTION] = leati_fuse_attention, /* two products, softmax between them, and movements around */
    [LEATI_FUSION_ROTARY] = leati_fuse_rotary,       /* x cosines + (-second half of x, first half) sines */
    [LEATI_FUSION_FLATTEN] = leati_fuse_flatten,     /* Reshape, product of matrices, Reshape: one of more dimensions */
    [LEATI_FUSION_GELU] = leati_fuse_gelu,           /* Gelu by erf or tanh, written out */
    [LEATI_FUSION_SWISH] = leati_fuse_swish,         /* x sigmoid(alpha x) and x hard_sigmoid(x), written out */
    [LEATI_FUSION_LAYER_NORM] = leati_fuse_layer_norm, /* layer norm, written out */
    [LEATI_FUSION_RMS_NORM] = leati_fuse_rms_norm,     /* norm by the root of the mean square, written out */
    [LEATI_FUSION_BIAS] = leati_fuse_bias,             /* product + row */
    [LEATI_FUSION_SCALE] = leati_fuse_scale,           /* product * constant */
    [LEATI_FUSION_ACTIVATION] = leati_fuse_activation, /* function of one number of a product or convolution */
    [LEATI_FUSION_RESIDUAL] = leati_fuse_residual,     /* product or convolution + tensor */
    [LEATI_FUSION_GATE] = leati_fuse_gate,             /* convolution of one tap of an image times a row of channels */
    [LEATI_FUSION_SQUEEZE] = leati_fuse_squeeze,       /* means of channels, two convolutions of one tap */
    [LEATI_FUSION_NEUTRAL] = leati_fuse_neutral,       /* And with true, Or and Xor with false: no longer first */
    [LEATI_FUSION_PRODUCTS] = leati_fuse_products,     /* products of one input */
    [LEATI_FUSION_FACTOR] = leati_fuse_factor,         /* norm or factor of few rows that go into products */
    [LEATI_FUSION_CHAIN] = leati_fuse_chain,           /* elementwise operators, one after the other */
    [LEATI_FUSION_SKIP_NORM] = leati_fuse_skip_norm,   /* sum of two, and norm of its rows */
};

/* Applies a rule to a node; `*out_any` is set if it did anything. */
static int32_t apply(leati_fusion *f, uint32_t r, uint32_t n, bool *out_any, leat_error *err) {
  bool done = false;
  if (f->live[n]) {
    LEATI_TRY(rules[r](f, n, &done, err));
  }
  f->counts[r] += done;
  *out_any = *out_any || done;
  return LEAT_OK;
}

static bool is_on(uint64_t off, uint32_t r) {
  return (off >> r & 1u) == 0;
}

/* Applies a rule to all nodes, in their order. */
static int32_t apply_all(leati_fusion *f, uint64_t off, uint32_t r, bool *out_any, leat_error *err) {
  for (uint32_t n = 0; n < f->graph->node_count && is_on(off, r); ++n) {
    LEATI_TRY(apply(f, r, n, out_any, err));
  }
  return LEAT_OK;
}

_Static_assert(LEATI_FUSION_PRODUCTS + 1 == LEATI_FUSION_FACTOR && LEATI_FUSION_FACTOR + 1 == LEATI_FUSION_CHAIN &&
                   LEATI_FUSION_CHAIN + 1 == LEATI_FUSION_SKIP_NORM &&
                   LEATI_FUSION_SKIP_NORM + 1 == LEATI_FUSION_CHANNELS_LAST &&
                   LEATI_FUSION_CHANNELS_LAST + 1 == LEATI_FUSION_COUNT,
               "a rule behind these would not be tried");

/* What one rule wrote another may go on with. Each rule leaves a node out, or makes one that no rule takes again, so
 * this ends. What nothing more is added to is merged then, and takes what its first operand is multiplied by; chains
 * take what is left, and each of those is gathered from its last node. A sum that no chain has taken goes to the norm
 * behind it. */
int32_t leati_fusion_apply(leati_fusion *f, uint64_t off, leat_error *err) {
  bool any = true;
  while (any) {
    any = false;
    for (uint32_t r = 0; r < LEATI_FUSION_PRODUCTS; ++r) {
      LEATI_TRY(apply_all(f, off, r, &any, err));
    }
  }
  LEATI_TRY(apply_all(f, off, LEATI_FUSION_PRODUCTS, &any, err));
  LEATI_TRY(apply_all(f, off, LEATI_FUSION_FACTOR, &any, err));
  for (uint32_t n = f->graph->node_count; n-- > 0 && is_on(off, LEATI_FUSION_CHAIN);) {
    LEATI_TRY(apply(f, LEATI_FUSION_CHAIN, n, &any, err));
  }
  return apply_all(f, off, LEATI_FUSION_SKIP_NORM, &any, err);
}
