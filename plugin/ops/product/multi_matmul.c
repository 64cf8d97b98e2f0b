/* SPDX-License-Identifier: BSD-3-Clause */
/* MultiMatMul: products of one left operand, in one dispatch where they are cut alike. Each is computed as it would be
 * by itself, so that its bits do not depend on which others there are. */
#include "ops/product/multi_matmul.h"

#include <string.h>

#include "core/status.h"
#include "device/device.h"
#include "ops/core/attribute.h"
#include "ops/product/a_prologue.h"
#include "ops/product/matrix_product.h"

/* Inputs: the left operand, the right ones, their biases, the factor. */
#define RIGHT(p) (1 + (p))
#define BIAS(p) (1 + LEATI_PRODUCTS_MAX + (p))
#define FACTOR (1 + 2 * LEATI_PRODUCTS_MAX)

typedef struct multi_state {
  leati_function activation;
  bool activated[LEATI_PRODUCTS_MAX];
  leati_a_prologue_state factor;
  float alpha;
  bool trans_b;
} multi_state;

/* Argument record of kernels/gemm.comp and gemv.comp with several products. */
typedef struct multi_args {
  leati_gemm_args gemm;
  leati_product_args products[LEATI_PRODUCTS_MAX];
} multi_args;
_Static_assert(offsetof(multi_args, products) == sizeof(leati_gemm_args), "as std430 lays it out");

/* The constant is set by the name that one of the tiled kernels has for it. */
_Static_assert(offsetof(leati_gemm_constants, several) == offsetof(leati_gemm_matrix_constants, several),
               "whichever kernel it is");

/* ---- Products ---------------------------------------------------------------------------------------------------- */

/* Whether a product can be one of several in a dispatch: its columns are columns, and it is no stack. */
static bool is_mergeable(const leati_gemm_config *config) {
  return !config->transposed && config->args.batch == 1;
}

/* Whether the same pipeline computes two products, with k cut in the same places. */
static bool is_cut_alike(const leati_gemm_config *x, const leati_gemm_config *y) {
  return is_mergeable(x) && is_mergeable(y) && memcmp(&x->pipeline, &y->pipeline, sizeof(x->pipeline)) == 0 &&
         x->tile_size == y->tile_size && x->args.tiles_m == y->args.tiles_m && x->args.splits == y->args.splits &&
         x->args.k_chunk == y->args.k_chunk;
}

/* Whether a dispatch with so many tiles is able to count those whose k is split. */
static bool counts(const leati_gemm_config *config, uint64_t tiles) {
  return tiles <= (config->args.splits > 1 ? LEATI_COUNTERS_MAX : UINT32_MAX);
}

bool leati_products_merge(const leat_device *device, const leati_view *a, const leati_view *const *b,
                          const leati_view *const *c, uint32_t count, bool trans_b) {
  leati_gemm_config first, other;
  uint64_t tiles = 0;
  bool alike = true;
  for (uint32_t p = 0; p < count && alike; ++p) {
    const leati_gemm gemm = leati_product_of(a, b[p], c[p], NULL, trans_b);
    leati_gemm_select(device, &gemm, p == 0 ? &first : &other);
    alike = is_cut_alike(&first, p == 0 ? &first : &other);
    tiles += (p == 0 ? &first : &other)->args.tiles;
  }
  return alike && counts(&first, tiles);
}

/* ---- The operator ------------------------------------------------------------------------------------------------ */

static int32_t multi_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const multi_state *state = leati_op_state_const(op);
  const leati_view *const a = &call->inputs[0];
  const int64_t k = a->shape[a->ndim - 1];
  LEATI_TRY(leati_a_prologue_check("MultiMatMul", &state->factor, a, leati_input(call, FACTOR), err));
  for (uint32_t p = 0; p < call->output_count; ++p) {
    const leati_view *const b = leati_input(call, RIGHT(p)), *const bias = leati_input(call, BIAS(p));
    if (b == NULL || b->ndim != 2) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "MultiMatMul: output %u needs input %u, a matrix", p,
                        RIGHT(p));
    }
    const int64_t rows = b->shape[state->trans_b ? 1 : 0], columns = b->shape[state->trans_b ? 0 : 1];
    if (rows != k) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                        "MultiMatMul: the first input has %lld columns, input %u %lld rows", (long long)k, RIGHT(p),
                        (long long)rows);
    }
    if (bias != NULL && (bias->ndim != 1 || bias->shape[0] != columns)) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                        "MultiMatMul: the bias of a product with %lld columns must have that shape",
                        (long long)columns);
    }
    out[p].ndim = a->ndim;
    memcpy(out[p].dims, a->shape, (size_t)a->ndim * sizeof(a->shape[0]));
    out[p].dims[a->ndim - 1] = columns;
  }
  return LEAT_OK;
}

/* A product of a call. */
typedef struct part {
  leati_gemm gemm; /* with the activation of the operator, whether or not it is for this product */
  leati_gemm_config config;
  uint32_t number;
  leati_view b, bias;
} part;

/* Plans one dispatch of two products and more. */
static int32_t plan_together(const multi_state *state, leati_planner *planner, const part *const *parts, uint32_t count,
                             leat_error *err) {
  leati_gemm_config together = parts[0]->config;
  const leati_gemm_config *const first = &together;
  leati_gemm_add_a_prologue(&together);
  multi_args args = {.gemm = first->args};
  leati_access reads[2 + 2 * LEATI_PRODUCTS_MAX] = {{first->gemm.a, &args.gemm.a},
                                                    {first->gemm.factor.view, &args.gemm.gate}},
                             writes[LEATI_PRODUCTS_MAX];
  args.gemm.tiles_n = 0;
  for (uint32_t i = 0; i < LEATI_PRODUCTS_MAX; ++i) {
    leati_product_args *const its = &args.products[i];
    its->first = UINT32_MAX;
    if (i >= count) {
      continue;
    }
    const leati_gemm *const gemm = &parts[i]->config.gemm;
    *its = (leati_product_args){.n = (uint32_t)gemm->n,
                                .first = args.gemm.tiles_n,
                                .b_column = (int32_t)gemm->b_column,
                                .b_k = (int32_t)gemm->b_k,
                                .bias_column = (int32_t)gemm->bias_column,
                                .activated = state->activated[parts[i]->number]};
    reads[2 + 2 * i] = (leati_access){gemm->b, &its->b};
    reads[3 + 2 * i] = (leati_access){gemm->bias, &its->bias};
    writes[i] = (leati_access){gemm->c, &its->c};
    args.gemm.tiles_n += parts[i]->config.args.tiles_n;
    args.gemm.vector &= parts[i]->config.args.vector;
  }
  args.gemm.tiles = args.gemm.tiles_m * args.gemm.tiles_n;
  leati_dispatch_desc dispatch = {.pipeline = first->pipeline,
                                  .args = &args,
                                  .args_size = sizeof(args),
                                  .reads = reads,
                                  .read_count = 2 + 2 * count,
                                  .writes = writes,
                                  .write_count = count};
  if (first->skinny) {
    dispatch.pipeline.constants.gemv.several = 1;
  } else {
    dispatch.pipeline.constants.gemm.several = 1;
  }
  return leati_plan_tiles(planner, &dispatch, &args.gemm, first->tile_size, err);
}

/* Plans those of `count` products that go together with the first of them, and takes them off the list. */
static int32_t plan_some(const multi_state *state, leati_planner *planner, const part **parts, uint32_t *inout_count,
                         leat_error *err) {
  const part *together[LEATI_PRODUCTS_MAX] = {parts[0]};
  uint64_t tiles = parts[0]->config.args.tiles;
  uint32_t count = 1, rest = 0;
  for (uint32_t i = 1; i < *inout_count; ++i) {
    const leati_gemm_config *const config = &parts[i]->config;
    if (is_cut_alike(&together[0]->config, config) && counts(config, tiles + config->args.tiles)) {
      tiles += config->args.tiles;
      together[count++] = parts[i];
    } else {
      parts[rest++] = parts[i];
    }
  }
  *inout_count = rest;
  if (count > 1) {
    return plan_together(state, planner, together, count, err);
  }
  leati_gemm alone = together[0]->gemm;
  alone.epilogue.activation = state->activated[together[0]->number] ? state->activation : (leati_function){0};
  return leati_plan_gemm(planner, &alone, err);
}

/* Reads the products with elements, all but what the first operand is; gives how many there are. */
static int32_t read_parts(leati_planner *planner, const leati_call *call, part *parts, uint32_t *out_count,
                          leat_error *err) {
  *out_count = 0;
  for (uint32_t p = 0; p < call->output_count; ++p) {
    const leati_view *const c = leati_output(call, p), *const bias = leati_input(call, BIAS(p));
    part *const it = &parts[*out_count];
    if (c == NULL || c->count == 0) {
      continue;
    }
    LEATI_TRY(leati_plan_walkable(planner, &call->inputs[RIGHT(p)], &it->b, err));
    if (bias != NULL) {
      LEATI_TRY(leati_plan_walkable(planner, bias, &it->bias, err));
    }
    if (c->count > INT32_MAX || it->b.count > INT32_MAX) {
      return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "a matrix product with 2^31 elements or more is not supported");
    }
    it->number = p;
    ++*out_count;
  }
  return LEAT_OK;
}

/* Has the factor, if there is one, taken by the kernels of all products or of none. */
static int32_t plan_factor(const multi_state *state, leati_planner *planner, const leati_call *call, const part *parts,
                           uint32_t count, leati_view *a, leati_view *space, leati_a_prologue *out, leat_error *err) {
  const leati_view *const factor = leati_input(call, FACTOR);
  bool takes = true;
  *out = (leati_a_prologue){0};
  for (uint32_t i = 0; factor != NULL && i < count; ++i) {
    takes = takes && leati_product_takes_factor(planner->device, a, &parts[i].b, &call->outputs[parts[i].number],
                                                state->trans_b, state->factor.norm);
  }
  return factor == NULL || count == 0
             ? LEAT_OK
             : leati_plan_a_prologue(planner, &state->factor, "MultiMatMul", factor, takes, a, space, out, err);
}

static int32_t multi_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const multi_state *state = leati_op_state_const(op);
  part all[LEATI_PRODUCTS_MAX];
  const part *parts[LEATI_PRODUCTS_MAX];
  uint32_t count;
  leati_view a, factor;
  leati_a_prologue taken;
  LEATI_TRY(leati_plan_walkable(planner, &call->inputs[0], &a, err));
  LEATI_TRY(read_parts(planner, call, all, &count, err));
  LEATI_TRY(plan_factor(state, planner, call, all, count, &a, &factor, &taken, err));
  for (uint32_t i = 0; i < count; ++i) {
    part *const it = &all[i];
    const leati_view *const bias = leati_input(call, BIAS(it->number)) != NULL ? &it->bias : NULL;
    it->gemm = leati_product_of(&a, &it->b, &call->outputs[it->number], bias, state->trans_b);
    it->gemm.alpha = state->alpha;
    it->gemm.factor = taken;
    it->gemm.epilogue.activation = state->activation;
    leati_gemm_select(planner->device, &it->gemm, &it->config);
    parts[i] = it;
  }
  while (count > 0) {
    LEATI_TRY(plan_some(state, planner, parts, &count, err));
  }
  return LEAT_OK;
}

/* An operand lies well if each product that takes it reads it there. */
static bool multi_reads_view(const leat_op *op, const leati_call *call, uint32_t i) {
  const multi_state *state = leati_op_state_const(op);
  if (i == FACTOR) {
    return call->inputs[i].compact;
  }
  bool reads = i < BIAS(0) || leati_view_walkable(&call->inputs[i]);
  for (uint32_t p = 0; p < call->output_count && i < BIAS(0) && reads; ++p) {
    reads = (i != 0 && i != RIGHT(p)) || !leati_output(call, p) ||
            leati_product_reads(leati_op_device(op), &call->inputs[0], &call->inputs[RIGHT(p)], &call->outputs[p],
                                false, state->trans_b, i == 0);
  }
  return reads;
}

/* All of them or none: products whose operands lie otherwise are no longer one dispatch. */
static uint32_t multi_transposes(const leat_op *op, const leati_call *call, uint32_t constants) {
  const multi_state *state = leati_op_state_const(op);
  uint32_t bits = 0;
  for (uint32_t p = 0; p < call->output_count; ++p) {
    const leati_view *const a = &call->inputs[0], *const b = leati_input(call, RIGHT(p)),
                            *const c = leati_output(call, p);
    if (b == NULL || c == NULL || c->count == 0) {
      continue;
    }
    const leati_gemm gemm = leati_product_of(a, b, c, NULL, state->trans_b);
    if (!leati_has_input(constants, RIGHT(p)) || !leati_gemm_gains_along_k(leati_op_device(op), &gemm)) {
      return 0;
    }
    bits |= 1u << RIGHT(p);
  }
  return bits;
}

static int32_t multi_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                              leat_error *err) {
  (void)device;
  leati_function activation;
  for (uint32_t p = 0; p < LEATI_PRODUCTS_MAX; ++p) {
    const uint32_t i = RIGHT(p);
    if (leati_is_given(desc, i) && desc->inputs[i].ndim >= 0 && desc->inputs[i].ndim != 2) {
      return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "MultiMatMul: input %u has %d dimensions; it needs 2", i,
                        desc->inputs[i].ndim);
    }
  }
  return leati_function_read_activation(def, desc, &activation, err);
}

static int32_t multi_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  multi_state *state = leati_op_state(op);
  int64_t activated[LEATI_PRODUCTS_MAX];
  uint32_t count;
  LEATI_TRY(leati_attr_ints(desc, "activated", LEATI_PRODUCTS_MAX, activated, &count, err));
  for (uint32_t p = 0; p < LEATI_PRODUCTS_MAX; ++p) {
    state->activated[p] = p >= count || activated[p] != 0;
  }
  state->factor = leati_a_prologue_read(desc);
  state->alpha = leati_attr_float(desc, "alpha", 1.0f);
  state->trans_b = leati_attr_int(desc, "transB", 0) != 0;
  return leati_function_read_activation(leati_op_def_of(op), desc, &state->activation, err);
}

static LEATI_ATTRIBUTE(attribute_trans_b, "transB", INT);
static LEATI_ATTRIBUTE(attribute_activated, "activated", INTS);

static const leati_op_def ops[] = {
    LEATI_OP(
        "MultiMatMul", "leat", (1, 1), (3, 2 + 2 * LEATI_PRODUCTS_MAX), (2, LEATI_PRODUCTS_MAX),
        .info.flags = LEAT_OP_HEAVY, LEATI_TYPES(&leati_type_real),
        LEATI_ATTRIBUTES(&leati_attribute_alpha, &attribute_trans_b, &leati_attribute_activation,
                         &leati_attribute_activation_params, &attribute_activated, &leati_attribute_factor_epsilon),
        .state_size = sizeof(multi_state), LEATI_KERNELS(LEATI_KERNELS_OF_PRODUCTS), .least_rank = 1,
        .supports = multi_supports, .create = multi_create, .infer = multi_infer, .plan = multi_plan,
        .reads_view = multi_reads_view, .transposes = multi_transposes),
};

const leati_op_family leati_multi_matmul_family = LEATI_FAMILY(ops);
