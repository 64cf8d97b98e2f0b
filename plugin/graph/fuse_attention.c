/* SPDX-License-Identifier: BSD-3-Clause */
/* The rule about attention that is written out: two products with a softmax between them, and the movements that bring
 * heads to where products want them, or repeat those that several heads of queries share. They become one
 * FusedAttention, which reads operands where they lie. Weights may be guarded, as PyTorch does where there is a mask:
 * Where(IsNaN(weights), 0, weights). */
#include <string.h>

#include "core/status.h"
#include "graph/expression.h"
#include "graph/fusion.h"
#include "ops/core/op_state.h"

enum { Q, K, V, Y, LAYOUTS };

#define LAYOUT_MOST 4

static const char *const layout_names[LAYOUTS] = {"q_layout", "k_layout", "v_layout", "y_layout"};

/* An attention as FusedAttention has it. */
typedef struct attention {
  uint32_t inputs[4];                     /* queries, keys, values, mask; LEAT_GRAPH_NO_VALUE: absent */
  char layouts[LAYOUTS][LAYOUT_MOST + 1]; /* a letter for each dimension */
  int64_t heads[LAYOUTS];                 /* of operands whose heads lie side by side; 0: not known */
  float scale;
  bool guarded; /* weights that are NaN count as 0 */
} attention;

/* ---- Writing ---------------------------------------------------------------------------------------------------- */

/* Puts an attention in the place of node `n`, which gives what it gives. */
static int32_t write_attention(leati_fusion *f, uint32_t n, const attention *a, bool *out_done, leat_error *err) {
  const leat_attribute attributes[] = {
      leati_fusion_string(layout_names[Q], a->layouts[Q]),
      leati_fusion_string(layout_names[K], a->layouts[K]),
      leati_fusion_string(layout_names[V], a->layouts[V]),
      leati_fusion_string(layout_names[Y], a->layouts[Y]),
      leati_fusion_float("scale", a->scale),
      leati_fusion_int("q_num_heads", a->heads[Q]),
      leati_fusion_int("kv_num_heads", a->heads[K] != 0 ? a->heads[K] : a->heads[V]),
      leati_fusion_int("nan_to_zero", a->guarded),
  };
  const leati_fusion_node with = {.op = LEATI_IS_FUSED_ATTENTION,
                                  .since_version = 1,
                                  .input_count = 4,
                                  .inputs = a->inputs,
                                  .attribute_count = sizeof(attributes) / sizeof(attributes[0]),
                                  .attributes = attributes};
  return leati_fusion_replace(f, n, &with, out_done, err);
}

/* ---- Movements -------------------------------------------------------------------------------------------------- */

/* Looks through a Transpose that makes operand `i`. */
static bool through_transpose(const leati_fusion *f, attention *a, uint32_t i, const leati_node *node) {
  const size_t rank = strlen(a->layouts[i]);
  int64_t order[LAYOUT_MOST];
  char before[LAYOUT_MOST + 1] = "";
  if (!leati_fusion_is(node, LEATI_IS_TRANSPOSE) || leati_fusion_rank(f, node->inputs[0]) != (int32_t)rank) {
    return false;
  }
  leati_attributes_order(&node->attributes, (int32_t)rank, order);
  for (size_t d = 0; d < rank; ++d) {
    before[order[d]] = a->layouts[i][d];
  }
  memcpy(a->layouts[i], before, sizeof(before));
  a->inputs[i] = node->inputs[0];
  return true;
}

/* Whether the heads of `apart`, of layout "bshd", lie side by side in `together`. */
static bool lie_side_by_side(const leati_fusion *f, uint32_t together, uint32_t apart) {
  return leati_fusion_rank(f, together) == 3 && leati_fusion_rank(f, apart) == 4 &&
         leati_fusion_same_size(f, together, 0, apart, 0) && leati_fusion_same_size(f, together, 1, apart, 1) &&
         leati_fusion_size(f, together, 2) == leati_fusion_size(f, apart, 2) * leati_fusion_size(f, apart, 3);
}

/* Looks through a Reshape that cuts the last dimension into heads. */
static bool through_reshape(const leati_fusion *f, attention *a, uint32_t i, const leati_node *node) {
  if (!leati_fusion_is(node, LEATI_IS_RESHAPE) || strcmp(a->layouts[i], "bshd") != 0) {
    return false;
  }
  if (!lie_side_by_side(f, node->inputs[0], a->inputs[i])) {
    return false;
  }
  const int64_t heads = leati_fusion_size(f, a->inputs[i], 2), other = i == Q ? 0 : a->heads[K + V - i];
  if (other != 0 && other != heads) {
    return false;
  }
  memcpy(a->layouts[i], "bsx", sizeof("bsx"));
  a->heads[i] = heads;
  a->inputs[i] = node->inputs[0];
  return true;
}

/* The value that is scaled by a node that multiplies or divides by a constant; the factor goes into `*scale`. */
static bool read_scale(const leati_fusion *f, const leati_node *node, uint32_t *out, float *scale) {
  uint32_t scaled;
  float factor;
  if (leati_fusion_is(node, LEATI_IS_MUL) && leati_expression_beside_input(f, node, &scaled, &factor)) {
    factor *= *scale;
  } else if (leati_fusion_is(node, LEATI_IS_DIV) && leati_fusion_scalar(f, node->inputs[1], &factor) &&
             factor != 0.0f) {
    scaled = node->inputs[0];
    factor = *scale / factor;
  } else {
    return false;
  }
  if (leati_fusion_rank(f, scaled) != leati_fusion_rank(f, node->outputs[0])) {
    return false;
  }
  *scale = factor;
  *out = scaled;
  return true;
}

/* Looks for where operand `i` comes from: through movements, and of queries and keys scales. */
static void look_through(const leati_fusion *f, attention *a, uint32_t i) {
  bool further = true;
  while (further) {
    const leati_node *const node = leati_fusion_maker(f, a->inputs[i]);
    further = through_transpose(f, a, i, node) || through_reshape(f, a, i, node) ||
              (i != V && read_scale(f, node, &a->inputs[i], &a->scale));
  }
}

/* Whether dimension 2 of `apart`, of five dimensions, is what `together` has more of: each of its heads is as many of
 * those. */
static bool repeats_heads(const leati_fusion *f, uint32_t apart, uint32_t together) {
  return leati_fusion_rank(f, apart) == 5 && leati_fusion_rank(f, together) == 4 &&
         leati_fusion_same_size(f, together, 0, apart, 0) && leati_fusion_same_size(f, together, 2, apart, 3) &&
         leati_fusion_same_size(f, together, 3, apart, 4) &&
         leati_fusion_size(f, together, 1) == leati_fusion_size(f, apart, 1) * leati_fusion_size(f, apart, 2);
}

/* Looks through what repeats each head of operand `i` for those queries that share it: a dimension of 1 behind the
 * heads, made larger, and put together with them. */
static bool through_repeat(const leati_fusion *f, attention *a, uint32_t i) {
  const leati_node *const joins = leati_fusion_maker(f, a->inputs[i]);
  if (!leati_fusion_is(joins, LEATI_IS_RESHAPE) || memcmp(a->layouts[i], "bh", 2) != 0) {
    return false;
  }
  const leati_node *const repeats = leati_fusion_maker(f, joins->inputs[0]);
  if (!leati_fusion_is(repeats, LEATI_IS_EXPAND) && !leati_fusion_is(repeats, LEATI_IS_TILE)) {
    return false;
  }
  const leati_node *const parts = leati_fusion_maker(f, repeats->inputs[0]);
  if (!leati_fusion_is(parts, LEATI_IS_UNSQUEEZE) && !leati_fusion_is(parts, LEATI_IS_RESHAPE)) {
    return false;
  }
  const uint32_t many = joins->inputs[0], one = repeats->inputs[0];
  bool repeated = repeats_heads(f, many, a->inputs[i]) && repeats_heads(f, one, parts->inputs[0]);
  for (int32_t d = 0; d < 5 && repeated; ++d) {
    repeated = d == 2 ? leati_fusion_is_one(f, one, d) : leati_fusion_same_size(f, one, d, many, d);
  }
  if (!repeated) {
    return false;
  }
  a->inputs[i] = parts->inputs[0];
  return true;
}

/* Looks further behind keys and values that are both repeated, each for as many queries. */
static void look_through_repeats(const leati_fusion *f, attention *a) {
  attention shared = *a;
  if (through_repeat(f, &shared, K) && through_repeat(f, &shared, V) &&
      leati_fusion_same_size(f, shared.inputs[K], 1, shared.inputs[V], 1)) {
    look_through(f, &shared, K);
    look_through(f, &shared, V);
    *a = shared;
  }
}

/* ---- Rules ------------------------------------------------------------------------------------------------------ */

/* The node that makes what `node` gives, for one input alone, behind casts that an attention has no need of, since it
 * computes in float32: to the type that the value has, and those by which a softmax of 16 bits becomes one of float32.
 * `scores`: the value goes to the softmax; else it comes from there. */
static const leati_node *behind_casts(const leati_fusion *f, const leati_node *node, bool scores) {
  while (leati_fusion_is(node, LEATI_IS_CAST)) {
    const uint64_t from = leati_fusion_type(f, node->inputs[0]);
    const uint64_t to = leati_fusion_type(f, node->outputs[0]);
    if (from != to && (scores ? to : from) != LEAT_TYPE_FLOAT32) {
      break;
    }
    node = leati_fusion_private_maker(f, node->inputs[0]);
  }
  return node;
}

/* The node that makes what a guard takes: Where(IsNaN(x), 0, x), as PyTorch writes it, for queries that have no key.
 * NULL: `node` is no guard, or x is needed elsewhere. */
static const leati_node *behind_guard(const leati_fusion *f, const leati_node *node) {
  float zero;
  if (!leati_fusion_is(node, LEATI_IS_WHERE)) {
    return NULL;
  }
  const uint32_t x = node->inputs[2];
  const leati_node *const test = leati_fusion_private_maker(f, node->inputs[0]);
  const bool guards = leati_fusion_is(test, LEATI_IS_ISNAN) && test->inputs[0] == x && f->uses[x] == 2 &&
                      leati_fusion_scalar(f, node->inputs[1], &zero) && zero == 0.0f &&
                      leati_fusion_same_shape(f, node->outputs[0], x);
  return guards ? leati_fusion_maker(f, x) : NULL;
}

/* The softmax that makes weights, perhaps guarded. */
static const leati_node *softmax_behind(const leati_fusion *f, uint32_t weights, bool *out_guarded) {
  const leati_node *const node = behind_casts(f, leati_fusion_private_maker(f, weights), false);
  const leati_node *const guarded = behind_guard(f, node);
  *out_guarded = guarded != NULL;
  return *out_guarded ? behind_casts(f, guarded, false) : node;
}

/* Whether a node is a product of two operands and no more, perhaps scaled or with its second one transposed. */
static bool read_product(const leati_node *node, bool *transposed, float *scale) {
  const bool fused = leati_fusion_is(node, LEATI_IS_ORT_FUSED_MATMUL);
  if ((!fused && !leati_fusion_is(node, LEATI_IS_MATMUL)) ||
      leati_attributes_int(&node->attributes, "transA", 0) != 0) {
    return false;
  }
  *transposed = leati_attributes_int(&node->attributes, "transB", 0) != 0;
  *scale *= leati_attributes_float(&node->attributes, "alpha", 1.0f);
  return true;
}

/* Reads the scores, which are for the softmax alone: scale and mask in this order, or without one of them. */
static bool read_scores(const leati_fusion *f, uint32_t v, attention *a) {
  const leati_node *node = behind_casts(f, leati_fusion_private_maker(f, v), true);
  uint32_t inner = v;
  bool transposed;
  for (uint32_t i = 0; i < 2 && leati_fusion_is(node, LEATI_IS_ADD); ++i) {
    /* Of two operands the mask is the one that is not a product. */
    attention other = *a;
    other.inputs[3] = node->inputs[1 - i];
    if (node->inputs[0] != node->inputs[1] && leati_fusion_same_shape(f, node->inputs[i], v) &&
        a->inputs[3] == LEAT_GRAPH_NO_VALUE && read_scores(f, node->inputs[i], &other)) {
      *a = other;
      return true;
    }
  }
  if (read_scale(f, node, &inner, &a->scale)) {
    node = behind_casts(f, leati_fusion_private_maker(f, inner), true);
  }
  if (!read_product(node, &transposed, &a->scale)) {
    return false;
  }
  const int32_t rank = leati_fusion_rank(f, v);
  if ((rank != 3 && rank != 4) || leati_fusion_rank(f, node->inputs[0]) != rank ||
      leati_fusion_rank(f, node->inputs[1]) != rank) {
    return false;
  }
  a->inputs[Q] = node->inputs[0];
  a->inputs[K] = node->inputs[1];
  memcpy(a->layouts[Q], rank == 4 ? "bhsd" : "bsd", (size_t)rank + 1);
  memcpy(a->layouts[K], rank == 4 ? (transposed ? "bhsd" : "bhds") : (transposed ? "bsd" : "bds"), (size_t)rank + 1);
  return true;
}

/* Softmax over the last dimension, which is all that it takes as one before version 13 then. */
static bool is_softmax(const leati_fusion *f, const leati_node *node) {
  if (!leati_fusion_is(node, LEATI_IS_SOFTMAX)) {
    return false;
  }
  const int64_t axis = leati_attributes_int(&node->attributes, "axis", leati_op_since_version(node->op) < 13 ? 1 : -1);
  return axis == -1 || axis == leati_fusion_rank(f, node->outputs[0]) - 1;
}

/* Two products with a softmax between them, and perhaps a guard behind that. */
static int32_t fuse_products(leati_fusion *f, uint32_t n, bool *out_done, leat_error *err) {
  attention a = {.inputs = {0, 0, 0, LEAT_GRAPH_NO_VALUE}, .scale = 1.0f};
  const leati_node *const node = &f->nodes[n];
  bool transposed;
  float scale = 1.0f;
  if (!read_product(node, &transposed, &scale) || scale != 1.0f) {
    return LEAT_OK;
  }
  const leati_node *const softmax = softmax_behind(f, node->inputs[0], &a.guarded);
  if (!is_softmax(f, softmax) || !read_scores(f, softmax->inputs[0], &a)) {
    return LEAT_OK;
  }
  const int32_t rank = leati_fusion_rank(f, node->outputs[0]);
  if (leati_fusion_rank(f, node->inputs[1]) != rank || leati_fusion_rank(f, node->inputs[0]) != rank) {
    return LEAT_OK;
  }
  a.inputs[V] = node->inputs[1];
  memcpy(a.layouts[V], rank == 4 ? (transposed ? "bhds" : "bhsd") : (transposed ? "bds" : "bsd"), (size_t)rank + 1);
  memcpy(a.layouts[Y], rank == 4 ? "bhsd" : "bsd", (size_t)rank + 1);
  for (uint32_t i = 0; i < Y; ++i) {
    look_through(f, &a, i);
  }
  look_through_repeats(f, &a);
  return write_attention(f, n, &a, out_done, err);
}

/* Reads a FusedAttention. */
static bool read_attention(const leati_node *node, attention *a) {
  if (!leati_fusion_is(node, LEATI_IS_FUSED_ATTENTION) || node->input_count != 4) {
    return false;
  }
  memcpy(a->inputs, node->inputs, sizeof(a->inputs));
  for (uint32_t i = 0; i < LAYOUTS; ++i) {
    const leat_attribute *const layout = leati_attributes_find(&node->attributes, layout_names[i]);
    if (layout == NULL) {
      return false;
    }
    memcpy(a->layouts[i], layout->string, (size_t)layout->count);
  }
  /* Without one it follows from the queries. */
  const leat_attribute *const scale = leati_attributes_find(&node->attributes, "scale");
  if (scale == NULL) {
    return false;
  }
  a->scale = scale->f;
  a->guarded = leati_attributes_int(&node->attributes, "nan_to_zero", 0) != 0;
  a->heads[Q] = leati_attributes_int(&node->attributes, "q_num_heads", 0);
  a->heads[K] = leati_attributes_int(&node->attributes, "kv_num_heads", 0);
  return true;
}

/* A movement of what an attention gives for it alone. */
static int32_t fuse_movement(leati_fusion *f, uint32_t n, bool *out_done, leat_error *err) {
  attention a = {.scale = 1.0f};
  const leati_node *const node = &f->nodes[n];
  if (!read_attention(leati_fusion_private_maker(f, node->inputs[0]), &a)) {
    return LEAT_OK;
  }
  const int32_t rank = leati_fusion_rank(f, node->inputs[0]);
  if (leati_fusion_is(node, LEATI_IS_TRANSPOSE)) {
    int64_t order[LAYOUT_MOST];
    char after[LAYOUT_MOST + 1] = "";
    leati_attributes_order(&node->attributes, rank, order);
    for (int32_t d = 0; d < rank; ++d) {
      after[d] = a.layouts[Y][order[d]];
    }
    memcpy(a.layouts[Y], after, sizeof(after));
  } else if (strcmp(a.layouts[Y], "bshd") == 0 && lie_side_by_side(f, node->outputs[0], node->inputs[0])) {
    memcpy(a.layouts[Y], "bsx", sizeof("bsx"));
  } else {
    return LEAT_OK;
  }
  return write_attention(f, n, &a, out_done, err);
}

/* softmax(scale Q K' + mask) V; and a movement of its result. A query whose mask is -infinity throughout gives 0, where
 * the nodes give NaN unless weights are guarded; one whose scores are -infinity by themselves gives NaN, as the nodes
 * do. Where weights are guarded, either gives 0 whatever the values are: with values that are not finite the nodes give
 * NaN. A key whose mask is -infinity counts for nothing, whatever its score. */
int32_t leati_fuse_attention(leati_fusion *f, uint32_t n, bool *out_done, leat_error *err) {
  const leati_node *const node = &f->nodes[n];
  const bool moves = leati_fusion_is(node, LEATI_IS_TRANSPOSE) || leati_fusion_is(node, LEATI_IS_RESHAPE);
  return moves ? fuse_movement(f, n, out_done, err) : fuse_products(f, n, out_done, err);
}
