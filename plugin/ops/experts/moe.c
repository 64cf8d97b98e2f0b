/* SPDX-License-Identifier: BSD-3-Clause */
/* com.microsoft's MoE and QMoE: mixtures of experts, of which each token takes those of the largest scores. Which these
 * are is found on the device, and so are the tokens of each expert where there are many. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/status.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/core/movement.h"
#include "ops/experts/kernels/moe_codes.glsl"
#include "ops/reduce/reduce.h"
#include "policy/tiling.h"

/* Pairs of a token and an expert, for each expert, from which on they are sorted by experts, so that weights are read
 * once for several. */
#define MOE_SORTED_MIN 2u

static LEATI_TYPE(type_weights, "T1", LEAT_TYPE_UINT8);
static LEATI_ATTRIBUTE(attribute_accuracy_level, "accuracy_level", INT);
static LEATI_ATTRIBUTE(attribute_activation_alpha, "activation_alpha", FLOAT);
static LEATI_ATTRIBUTE(attribute_activation_beta, "activation_beta", FLOAT);
static LEATI_ATTRIBUTE(attribute_activation_type, "activation_type", STRING);
static LEATI_ATTRIBUTE(attribute_block_size, "block_size", INT);
static LEATI_ATTRIBUTE(attribute_expert_weight_bits, "expert_weight_bits", INT);
static LEATI_ATTRIBUTE(attribute_fc1_expert_weight_bits, "fc1_expert_weight_bits", INT);
static LEATI_ATTRIBUTE(attribute_fc2_expert_weight_bits, "fc2_expert_weight_bits", INT);
static LEATI_ATTRIBUTE(attribute_fc3_expert_weight_bits, "fc3_expert_weight_bits", INT);
static LEATI_ATTRIBUTE(attribute_k, "k", INT);
static LEATI_ATTRIBUTE(attribute_normalize_routing_weights, "normalize_routing_weights", INT);
static LEATI_ATTRIBUTE(attribute_quant_type, "quant_type", STRING);
static LEATI_ATTRIBUTE(attribute_swiglu_fusion, "swiglu_fusion", INT);
static LEATI_ATTRIBUTE(attribute_swiglu_limit, "swiglu_limit", FLOAT);
static LEATI_ATTRIBUTE(attribute_swiglu_limit_after_activation, "swiglu_limit_after_activation", INT);
static LEATI_ATTRIBUTE(attribute_use_sparse_mixer, "use_sparse_mixer", INT);
static LEATI_ATTRIBUTE(attribute_weights_prepacked, "weights_prepacked", INT);

/* Where inputs of each stand; 0: it has none. */
enum { MOE, QMOE };
enum { INPUT_X, INPUT_SCORES, INPUTS_MOST = 15 };
typedef struct product_inputs {
  uint32_t weights, scales, bias, zeros;
} product_inputs;
static const struct {
  product_inputs products[2];
  uint32_t third[4]; /* those of a third product, which is not there */
  uint32_t given;    /* weights of experts, if they are not of the scores */
} places[] = {
    [MOE] = {.products = {{.weights = 2, .bias = 3}, {.weights = 4, .bias = 5}}, .third = {6, 7}},
    [QMOE] = {.products = {{2, 3, 4, 11}, {5, 6, 7, 12}}, .third = {8, 9, 10, 13}, .given = 14},
};

typedef struct moe_state {
  int64_t taken;
  uint32_t activation, fusion;
  float alpha, beta, limit;
  bool normalized;
  uint32_t bits;      /* 0: weights are floats */
  int64_t block_size; /* 0: a row of weights has one scale */
} moe_state;

/* Sizes of a call. */
typedef struct sizes {
  int64_t tokens, experts;
  int64_t hidden, inner;
  int64_t rows[2], k[2]; /* of the products */
} sizes;

/* Argument record of kernels/moe.comp. */
typedef struct moe_args {
  uint64_t x, weights, scales, zeros, bias, experts, sorted, blocks, y;
  uint32_t block_count, column_groups, columns;
  uint32_t k, n;
  uint32_t taken;
  uint32_t scale_size, scale_count;
  uint32_t zeros_by_row, zeros_size;
  float alpha, beta, limit;
} moe_args;

/* ---- Attributes and shapes ---------------------------------------------------------------------------------------
 */

/* Fails unless an attribute is `value`, the one that there is. */
static int32_t check_only(const leati_op_def *def, const leati_op_desc *desc, const char *name, int64_t value,
                          leat_error *err) {
  const int64_t given = leati_attr_int(desc, name, value);
  return given == value
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s with %s = %" PRId64 " is not supported; %" PRId64 " is",
                          def->info.name, name, given, value);
}

static int32_t moe_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc, leat_error *err) {
  (void)device;
  const int64_t taken = leati_attr_int(desc, "k", 1), fusion = leati_attr_int(desc, "swiglu_fusion", 0);
  LEATI_TRY(check_only(def, desc, "use_sparse_mixer", 0, err));
  LEATI_TRY(check_only(def, desc, "swiglu_limit_after_activation", 0, err));
  /* -1 leaves the layout to the provider, which is that of 0 here. */
  if (leati_attr_int(desc, "weights_prepacked", -1) != -1) {
    LEATI_TRY(check_only(def, desc, "weights_prepacked", 0, err));
  }
  if (taken < 1 || taken > INT32_MAX) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: k is %" PRId64 "; a token takes 1 expert at least",
                      def->info.name, taken);
  }
  if (leati_attr_is(desc, "activation_type", "swiglu") && fusion != 1 && fusion != 2) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                      "%s: swiglu with swiglu_fusion = %" PRId64 " is not supported; 1 and 2 are", def->info.name,
                      fusion);
  }
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t third = places[def->param].third[i];
    if (third != 0 && leati_is_given(desc, third)) {
      return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s with a third product (input %u) is not supported",
                        def->info.name, third);
    }
  }
  if (def->param == QMOE) {
    const int64_t bits = leati_attr_int(desc, "expert_weight_bits", 4), block = leati_attr_int(desc, "block_size", 0);
    if (leati_attr(desc, "quant_type") != NULL && !leati_attr_is(desc, "quant_type", "int")) {
      return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "QMoE: only the quant_type \"int\" is supported");
    }
    if (bits != 4 && bits != 8) {
      return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                        "QMoE with weights of %" PRId64 " bits is not supported; 4 and 8 are", bits);
    }
    LEATI_TRY(check_only(def, desc, "fc1_expert_weight_bits", bits, err));
    LEATI_TRY(check_only(def, desc, "fc2_expert_weight_bits", bits, err));
    LEATI_TRY(check_only(def, desc, "fc3_expert_weight_bits", bits, err));
    if (block < 0 || (block > 0 && (block < 16 || (block & (block - 1)) != 0 || block > INT32_MAX))) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                        "QMoE: block_size is %" PRId64 "; it must be 0, or a power of two from 16 on", block);
    }
  }
  return LEAT_OK;
}

static int32_t moe_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  static const char *const activations[] = {"relu", "gelu", "silu", "identity", "swiglu"};
  const leati_op_def *const def = leati_op_def_of(op);
  moe_state *const state = leati_op_state(op);
  LEATI_TRY(leati_attr_choice(desc, def->info.name, "activation_type", activations, 5, &state->activation, err));
  state->taken = leati_attr_int(desc, "k", 1);
  state->fusion = state->activation == LEAT_MOE_SWIGLU ? (uint32_t)leati_attr_int(desc, "swiglu_fusion", 0) : 0;
  state->alpha = leati_attr_float(desc, "activation_alpha", 1);
  state->beta = leati_attr_float(desc, "activation_beta", 0);
  state->limit = leati_attr_float(desc, "swiglu_limit", INFINITY);
  state->normalized = leati_attr_int(desc, "normalize_routing_weights", 0) != 0;
  state->bits = def->param == QMOE ? (uint32_t)leati_attr_int(desc, "expert_weight_bits", 4) : 0;
  state->block_size = leati_attr_int(desc, "block_size", 0);
  return LEAT_OK;
}

static bool has_shape(const leati_view *view, int32_t ndim, int64_t a, int64_t b, int64_t c) {
  const int64_t shape[] = {a, b, c};
  return view == NULL || (view->ndim == ndim && leati_same_numbers(view->shape, shape, ndim));
}

/* Checks what a product has beside its input. */
static int32_t check_product(const leat_op *op, const leati_call *call, uint32_t number, const sizes *s,
                             leat_error *err) {
  const moe_state *const state = leati_op_state_const(op);
  const leati_op_def *const def = leati_op_def_of(op);
  const product_inputs in = places[def->param].products[number];
  const int64_t n = s->rows[number], k = s->k[number], bits = state->bits, block = state->block_size;
  const int64_t scales = block > 0 ? k / block : 1;
  const leati_view *const weights = &call->inputs[in.weights];
  const bool whole = bits == 0 || (k * bits % 8 == 0 && (block == 0 || k % block == 0));
  if (!whole || !has_shape(weights, 3, s->experts, n, bits == 0 ? k : k * bits / 8)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: input %u must be the weights of %" PRId64 " experts, %" PRId64 " rows of %" PRId64
                      "%s, in whole bytes and blocks",
                      def->info.name, in.weights, s->experts, n, k, bits == 0 ? "" : " of few bits");
  }
  if (!has_shape(leati_input(call, in.bias), 2, s->experts, n, 0)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: input %u, a bias, must have shape [%" PRId64 ", %" PRId64 "]", def->info.name, in.bias,
                      s->experts, n);
  }
  if (bits == 0) {
    return LEAT_OK;
  }
  const leati_view *const zeros = leati_input(call, in.zeros);
  const leati_view *const scale = &call->inputs[in.scales];
  if (!has_shape(scale, block > 0 ? 3 : 2, s->experts, n, scales) ||
      !(block > 0 ? has_shape(zeros, 3, s->experts, n, (scales * bits + 7) / 8)
                  : has_shape(zeros, 2, s->experts, (n * bits + 7) / 8, 0))) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: inputs %u and %u, scales and zero points, must have %" PRId64 " of each of %" PRId64
                      " rows of %" PRId64 " experts, and bytes of them",
                      def->info.name, in.scales, in.zeros, scales, n, s->experts);
  }
  return LEAT_OK;
}

/* Reads the sizes of a call and fails unless all shapes go with each other. */
static int32_t moe_sizes(const leat_op *op, const leati_call *call, sizes *out, leat_error *err) {
  const moe_state *const state = leati_op_state_const(op);
  const leati_op_def *const def = leati_op_def_of(op);
  const leati_view *const x = &call->inputs[INPUT_X], *const scores = &call->inputs[INPUT_SCORES];
  const leati_view *const first = &call->inputs[places[def->param].products[0].weights];
  const leati_view *const given = places[def->param].given != 0 ? leati_input(call, places[def->param].given) : NULL;
  *out = (sizes){.tokens = (int64_t)leati_product(x->shape, 0, x->ndim - 1), .hidden = x->shape[x->ndim - 1]};
  if (scores->ndim != 2 || scores->shape[0] != out->tokens || scores->shape[1] < state->taken) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: router_probs must have %" PRId64
                      " rows, one for each token, and as many columns as there "
                      "are experts, %" PRId64 " at least",
                      def->info.name, out->tokens, state->taken);
  }
  out->experts = scores->shape[1];
  if (!has_shape(given, 2, out->tokens, out->experts, 0)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: router_weights must have the shape of router_probs",
                      def->info.name);
  }
  const int64_t parts = state->activation == LEAT_MOE_SWIGLU ? 2 : 1;
  if (first->ndim != 3 || first->shape[1] % parts != 0) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: the first weights must have 3 dimensions, experts, rows%s and elements of a row",
                      def->info.name, parts == 2 ? ", an even number," : "");
  }
  out->inner = first->shape[1] / parts;
  if (out->inner == 0) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                      "%s: experts without rows between their products are not supported", def->info.name);
  }
  out->rows[0] = first->shape[1];
  out->rows[1] = out->k[0] = out->hidden;
  out->k[1] = out->inner;
  LEATI_TRY(check_product(op, call, 0, out, err));
  LEATI_TRY(check_product(op, call, 1, out, err));
  if (out->tokens > INT32_MAX / state->taken || out->experts > LEAT_MOE_SORTED_MAX ||
      out->rows[0] > INT32_MAX / out->experts || out->hidden > INT32_MAX / out->experts ||
      (out->tokens > 0 && (out->inner > INT32_MAX / (out->tokens * state->taken) ||
                           out->hidden > INT32_MAX / (out->tokens * state->taken)))) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                      "%s: more than %d experts, or results of them with 2^31 elements or more, are not supported",
                      def->info.name, LEAT_MOE_SORTED_MAX);
  }
  return LEAT_OK;
}

static int32_t moe_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  sizes s;
  LEATI_TRY(moe_sizes(op, call, &s, err));
  return leati_infer_same(op, call, out, err);
}

/* ---- The plan ---------------------------------------------------------------------------------------------------- */

/* What the steps of a call hand on. */
typedef struct moe_plan_state {
  sizes s;
  uint64_t pairs;   /* of tokens and experts */
  bool sorted_them; /* pairs are in blocks of one expert */
  uint32_t block_count;
  leati_view experts, weights, sorted, blocks, inner, results;
} moe_plan_state;

static int32_t add_temporary(leati_planner *planner, uint64_t type, uint64_t count, leati_view *out, leat_error *err) {
  *out = (leati_view){.type = type, .ndim = 1, .shape = {(int64_t)count}};
  return leati_plan_temporary(planner, out, err);
}

static int32_t plan_route(const leat_op *op, leati_planner *planner, const leati_call *call, moe_plan_state *p,
                          leat_error *err) {
  const moe_state *const state = leati_op_state_const(op);
  const uint32_t place = places[leati_op_def_of(op)->param].given;
  const leati_view *const unread = place != 0 ? leati_input(call, place) : NULL;
  leati_view scores, given;
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[INPUT_SCORES], &scores, err));
  if (unread != NULL) {
    LEATI_TRY(leati_plan_compact(planner, unread, &given, err));
  }
  LEATI_TRY(add_temporary(planner, LEAT_TYPE_UINT32, p->pairs, &p->experts, err));
  LEATI_TRY(add_temporary(planner, LEAT_TYPE_FLOAT32, p->pairs, &p->weights, err));
  uint32_t parts = 1;
  while (parts < p->s.experts && parts < LEATI_ROW_THREADS / 4) {
    parts *= 2;
  }
  const struct {
    uint64_t scores, given, experts, weights;
    uint32_t tokens, count, taken;
  } args = {.tokens = (uint32_t)p->s.tokens, .count = (uint32_t)p->s.experts, .taken = (uint32_t)state->taken};
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_MOE_ROUTE, scores.type),
                   .constants.moe_route = {.rows_spec = leati_rows_spec(true, parts), .normalized = state->normalized}},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({&scores, &args.scores}, {unread != NULL ? &given : NULL, &args.given}),
      LEATI_WRITES({&p->experts, &args.experts}, {&p->weights, &args.weights})};
  leati_groups_linear(planner->device, (uint64_t)p->s.tokens, LEATI_ROW_THREADS / parts, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

static int32_t plan_sort(leati_planner *planner, moe_plan_state *p, leat_error *err) {
  p->block_count = (uint32_t)(p->pairs / LEAT_MOE_TOGETHER + (uint64_t)p->s.experts);
  LEATI_TRY(add_temporary(planner, LEAT_TYPE_UINT32, p->pairs, &p->sorted, err));
  LEATI_TRY(add_temporary(planner, LEAT_TYPE_UINT32, 3 * (uint64_t)p->block_count, &p->blocks, err));
  const struct {
    uint64_t experts, sorted, blocks;
    uint32_t count, block_count;
  } args = {.count = (uint32_t)p->pairs, .block_count = p->block_count};
  const leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = LEATI_KERNEL_MOE_SORT, .constants.moe_sort = {.experts = (uint32_t)p->s.experts}},
      .args = &args,
      .args_size = sizeof(args),
      .groups = {1, 1, 1},
      LEATI_READS({&p->experts, &args.experts}),
      LEATI_WRITES({&p->sorted, &args.sorted}, {&p->blocks, &args.blocks})};
  return leati_plan_dispatch(planner, &dispatch, err);
}

/* An optional input, compact; NULL where it is not there. */
static int32_t compact_input(leati_planner *planner, const leati_call *call, uint32_t place, leati_view *hold,
                             const leati_view **out, leat_error *err) {
  const leati_view *const given = place != 0 ? leati_input(call, place) : NULL;
  *out = NULL;
  if (given != NULL) {
    LEATI_TRY(leati_plan_compact(planner, given, hold, err));
    *out = hold;
  }
  return LEAT_OK;
}

static int32_t plan_product(const leat_op *op, leati_planner *planner, const leati_call *call, uint32_t number,
                            const moe_plan_state *p, const leati_view *x, const leati_view *y, leat_error *err) {
  const moe_state *const state = leati_op_state_const(op);
  const product_inputs in = places[leati_op_def_of(op)->param].products[number];
  const int64_t n = p->s.rows[number], k = p->s.k[number], bits = state->bits;
  leati_view held[4];
  const leati_view *weights, *scales, *zeros, *bias;
  LEATI_TRY(compact_input(planner, call, in.weights, &held[0], &weights, err));
  LEATI_TRY(compact_input(planner, call, in.scales, &held[1], &scales, err));
  LEATI_TRY(compact_input(planner, call, in.zeros, &held[2], &zeros, err));
  LEATI_TRY(compact_input(planner, call, in.bias, &held[3], &bias, err));
  const int64_t scale_count = state->block_size > 0 ? k / state->block_size : 1;
  const int64_t columns = number == 0 ? p->s.inner : p->s.hidden;
  const uint64_t four = bits == 0 ? 4 * weights->item_size : (uint64_t)bits / 2;
  const bool quads = k % 4 == 0 && weights->address % four == 0 && x->address % (4 * x->item_size) == 0;
  /* Some thirty elements for a thread, so that a sum does not take longer to put together than to add up. */
  uint32_t parts = 1;
  while (parts * 32 < k && parts < LEATI_ROW_THREADS / 4) {
    parts *= 2;
  }
  const uint32_t per_group = LEATI_ROW_THREADS / parts;
  LEATI_TRY(
      leati_check_rounds(planner->device, 2 * ((uint64_t)k / parts + 1) + 64, leati_op_def_of(op)->info.name, err));
  const moe_args args = {.block_count = p->block_count,
                         .column_groups = (uint32_t)((columns + per_group - 1) / per_group),
                         .columns = (uint32_t)columns,
                         .k = (uint32_t)k,
                         .n = (uint32_t)n,
                         .taken = (uint32_t)state->taken,
                         .scale_size = (uint32_t)(k / scale_count),
                         .scale_count = (uint32_t)scale_count,
                         .zeros_by_row = state->block_size > 0,
                         .zeros_size = (uint32_t)(((state->block_size > 0 ? scale_count : n) * bits + 7) / 8),
                         .alpha = state->alpha,
                         .beta = state->beta,
                         .limit = state->limit};
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_MOE, call->outputs[0].type),
                   .constants.moe = {.rows_spec = leati_rows_spec(true, parts),
                                     .second = number,
                                     .together = p->sorted_them ? LEAT_MOE_TOGETHER : 1,
                                     .bits = (uint32_t)bits,
                                     .quads = quads,
                                     .activation = state->activation,
                                     .fusion = state->fusion}},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({x, &args.x}, {weights, &args.weights}, {scales, &args.scales}, {zeros, &args.zeros},
                  {bias, &args.bias}, {&p->experts, &args.experts}, {p->sorted_them ? &p->sorted : NULL, &args.sorted},
                  {p->sorted_them ? &p->blocks : NULL, &args.blocks}),
      LEATI_WRITES({y, &args.y}),
      .multiplications = p->pairs * (uint64_t)n * (uint64_t)k,
  };
  leati_groups_linear(planner->device, (uint64_t)p->block_count * args.column_groups, 1, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

static int32_t moe_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const moe_state *const state = leati_op_state_const(op);
  const leati_view *const y = &call->outputs[0];
  moe_plan_state p = {.sorted_them = false};
  LEATI_TRY(moe_sizes(op, call, &p.s, err));
  if (y->count == 0) {
    return LEAT_OK;
  }
  p.pairs = (uint64_t)p.s.tokens * (uint64_t)state->taken;
  leati_view x;
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[INPUT_X], &x, err));
  LEATI_TRY(plan_route(op, planner, call, &p, err));
  p.sorted_them = p.pairs >= MOE_SORTED_MIN * (uint64_t)p.s.experts;
  p.block_count = (uint32_t)p.pairs;
  if (p.sorted_them) {
    LEATI_TRY(plan_sort(planner, &p, err));
  }
  LEATI_TRY(add_temporary(planner, LEAT_TYPE_FLOAT32, p.pairs * (uint64_t)p.s.inner, &p.inner, err));
  LEATI_TRY(add_temporary(planner, LEAT_TYPE_FLOAT32, p.pairs * (uint64_t)p.s.hidden, &p.results, err));
  LEATI_TRY(plan_product(op, planner, call, 0, &p, &x, &p.inner, err));
  LEATI_TRY(plan_product(op, planner, call, 1, &p, &p.inner, &p.results, err));
  const struct {
    uint64_t results, weights, y;
    uint32_t count, width, taken;
  } args = {.count = (uint32_t)y->count, .width = (uint32_t)p.s.hidden, .taken = (uint32_t)state->taken};
  leati_dispatch_desc dispatch = {.pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_MOE_COMBINE, y->type)},
                                  .args = &args,
                                  .args_size = sizeof(args),
                                  LEATI_READS({&p.results, &args.results}, {&p.weights, &args.weights}),
                                  LEATI_WRITES({y, &args.y})};
  leati_groups_linear(planner->device, y->count, LEATI_ITEMS_PER_GROUP, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

/* ---- The list ---------------------------------------------------------------------------------------------------- */

#define COMMON                                                                                       \
  &attribute_activation_alpha, &attribute_activation_beta, &attribute_activation_type, &attribute_k, \
      &attribute_normalize_routing_weights, &attribute_swiglu_fusion, &attribute_swiglu_limit,       \
      &attribute_swiglu_limit_after_activation, &attribute_use_sparse_mixer
#define EXPERTS(name, which, inputs, ...)                                                           \
  LEATI_OP(name, "com.microsoft", (1, 1), inputs, (1, 1), .info.flags = LEAT_OP_HEAVY, __VA_ARGS__, \
           .state_size = sizeof(moe_state), .param = (which), .least_rank = 2, .most_rank = 3,      \
           .supports = moe_supports, .create = moe_create, .infer = moe_infer,                      \
           LEATI_KERNELS(LEATI_KERNELS_MOE, LEATI_KERNELS_MOE_ROUTE, LEATI_KERNELS_MOE_COMBINE), .plan = moe_plan)

static const leati_op_def ops[] = {
    EXPERTS("MoE", MOE, (3, 8), LEATI_TYPES(&leati_type_real), LEATI_ATTRIBUTES(COMMON), .required_inputs = 1u << 4),
    EXPERTS("QMoE", QMOE, (3, INPUTS_MOST), LEATI_TYPES(&leati_type_real, &type_weights),
            LEATI_ATTRIBUTES(COMMON, &attribute_accuracy_level, &attribute_block_size, &attribute_expert_weight_bits,
                             &attribute_fc1_expert_weight_bits, &attribute_fc2_expert_weight_bits,
                             &attribute_fc3_expert_weight_bits, &attribute_quant_type, &attribute_weights_prepacked),
            .required_inputs = 1u << 3 | 1u << 5 | 1u << 6,
            LEATI_INPUT_TYPES(0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 1, 1, 0)),
};

const leati_op_family leati_moe_family = LEATI_FAMILY(ops);
