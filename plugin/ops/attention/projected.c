/* SPDX-License-Identifier: BSD-3-Clause */
/* com.microsoft's Attention, which makes queries, keys and values of its input. */
#include "ops/attention/projected.h"

#include <inttypes.h>
#include <string.h>

#include "core/status.h"
#include "ops/core/attribute.h"
#include "ops/core/matrix_view.h"
#include "ops/core/movement.h"
#include "ops/product/matrix_product.h"

LEATI_ATTRIBUTE(leati_attribute_num_heads, "num_heads", INT);
LEATI_ATTRIBUTE(leati_attribute_unidirectional, "unidirectional", INT);
LEATI_ATTRIBUTE(leati_attribute_projected_scale, "scale", FLOAT);
LEATI_ATTRIBUTE(leati_attribute_mask_filter_value, "mask_filter_value", FLOAT);
LEATI_ATTRIBUTE(leati_attribute_do_rotary, "do_rotary", INT);
LEATI_ATTRIBUTE(leati_attribute_rotary_embedding_dim, "rotary_embedding_dim", INT);
LEATI_ATTRIBUTE(leati_attribute_past_present_share_buffer, "past_present_share_buffer", INT);
LEATI_ATTRIBUTE(leati_attribute_qkv_hidden_sizes, "qkv_hidden_sizes", INTS);

static LEATI_TYPE(type_numbers, "M", LEAT_TYPE_INT32);

enum { X, WEIGHTS, BIAS, MASK, PAST, ADDED, PAST_COUNT, INPUTS };
enum { Q, K, V, PARTS };

#define FILTER (-10000.0f) /* where an attribute does not say it */

/* ---- Of a projection --------------------------------------------------------------------------------------------- */

int32_t leati_projected_read(const leati_op_def *def, const leati_op_desc *desc, leati_projected_state *out,
                             leat_error *err) {
  const char *const name = def->info.name;
  uint32_t count;
  *out = (leati_projected_state){.heads = leati_attr_int(desc, "num_heads", 0),
                                 .scale = leati_attr_float(desc, "scale", 0.0f),
                                 .filter = leati_attr_float(desc, "mask_filter_value", FILTER),
                                 .causal = leati_attr_int(desc, "unidirectional", 0) != 0,
                                 .shares = leati_attr_int(desc, "past_present_share_buffer", 0) != 0};
  if (leati_attr_int(desc, "do_rotary", 0) != 0) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s with do_rotary is not supported", name);
  }
  if (out->heads < 1 || out->heads > INT32_MAX) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: num_heads is %" PRId64 "; it is at least 1", name,
                      out->heads);
  }
  LEATI_TRY(leati_attr_ints(desc, "qkv_hidden_sizes", PARTS, out->sizes, &count, err));
  bool fits = count == 0 || (count == PARTS && out->sizes[Q] == out->sizes[K]);
  for (uint32_t i = 0; i < count; ++i) {
    fits = fits && out->sizes[i] > 0 && out->sizes[i] <= INT32_MAX && out->sizes[i] % out->heads == 0;
  }
  return fits ? LEAT_OK
              : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                           "%s: qkv_hidden_sizes must be three multiples of num_heads (%" PRId64
                           "), of which the first two are equal",
                           name, out->heads);
}

/* The projection of an input by weights, without memory. */
static leati_view projection_of(const leati_view *x, const leati_view *weights, const leati_view *like) {
  leati_view projection = {.type = like->type, .dtype = like->dtype, .item_size = like->item_size, .ndim = 3};
  projection.shape[0] = x->shape[0];
  projection.shape[1] = x->shape[1];
  projection.shape[2] = weights->shape[1];
  leati_view_make_compact(&projection);
  return projection;
}

int32_t leati_projection_of(const leat_op *op, const leati_view *x, const leati_view *weights, const leati_view *bias,
                            const leati_view *like, leati_view *out, leat_error *err) {
  const char *const name = leati_op_def_of(op)->info.name;
  if (x->ndim != 3 || weights->ndim != 2 || weights->shape[0] != x->shape[2]) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: the input needs 3 dimensions, batches, positions and elements, and the weights 2, the first "
                      "for these elements",
                      name);
  }
  if (bias != NULL && (bias->ndim != 1 || bias->shape[0] != weights->shape[1])) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: the bias must have shape [%" PRId64 "], an element for each column of the weights", name,
                      weights->shape[1]);
  }
  *out = projection_of(x, weights, like);
  return LEAT_OK;
}

/* Sizes of the parts of a projection that is so wide. */
static int32_t read_sizes(const char *name, const leati_projected_state *state, int64_t width, int64_t out[PARTS],
                          leat_error *err) {
  for (uint32_t i = 0; i < PARTS; ++i) {
    out[i] = state->sizes[i] != 0 ? state->sizes[i] : width / PARTS;
  }
  return out[Q] + out[K] + out[V] == width
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                          "%s: weights for %" PRId64 " elements of queries, keys and values; there are %" PRId64
                          ", %" PRId64 " and %" PRId64,
                          name, width, out[Q], out[K], out[V]);
}

/* Keys (0) or values (1) of a tensor that has both. */
static leati_view half_of(const leati_view *both, int64_t which) {
  static const int64_t step[] = {1, 1, 1, 1, 1};
  const int64_t *const s = both->shape;
  leati_view half =
      leati_view_slice(both, (const int64_t[]){which, 0, 0, 0, 0}, step, (const int64_t[]){1, s[1], s[2], s[3], s[4]});
  int64_t shape[4], strides[4];
  memcpy(shape, half.shape + 1, sizeof(shape));
  memcpy(strides, half.strides + 1, sizeof(strides));
  leati_view_reshape(&half, 4, shape, strides);
  return half;
}

int32_t leati_projected_take(const leat_op *op, const leati_projected_state *state, const leati_view *projection,
                             const leati_projected_inputs *with, leati_view past[2], leati_multi_head *out,
                             leat_error *err) {
  static const char *const what[PARTS] = {"queries", "keys", "values"};
  static const int64_t step[] = {1, 1, 1};
  const char *const name = leati_op_def_of(op)->info.name;
  leati_operand *const to[PARTS] = {&out->q, &out->k, &out->v};
  int64_t sizes[PARTS], first = 0;
  *out = (leati_multi_head){.key_mask = with->mask,
                            .key_mask_forms = (uint32_t) ~(1u << LEATI_KEY_MASK_UNKNOWN),
                            .added = with->added,
                            .past_count = -1,
                            .scale = state->scale,
                            .filter = state->filter,
                            .causal = state->causal};
  if (state->causal) {
    out->key_mask_forms &= ~(1u << LEATI_KEY_MASK_SQUARE); /* which says itself what is causal */
  }
  LEATI_TRY(read_sizes(name, state, projection->shape[2], sizes, err));
  for (uint32_t i = 0; i < PARTS; first += sizes[i++]) {
    to[i]->view = leati_view_slice(projection, (const int64_t[]){0, 0, first}, step,
                                   (const int64_t[]){projection->shape[0], projection->shape[1], sizes[i]});
    LEATI_TRY(leati_heads_read(name, &to[i]->view, what[i], LEATI_HEADS_TOGETHER, state->heads, &to[i]->heads, err));
  }
  if (with->past != NULL) {
    if (with->past->ndim != 5 || with->past->shape[0] != 2 || sizes[K] != sizes[V]) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                        "%s: past keys and values have 5 dimensions, the first of them 2, and heads of one size", name);
    }
    for (uint32_t i = 0; i < 2; ++i) {
      past[i] = half_of(with->past, i);
      out->past[i] = &past[i];
    }
    if (state->shares && with->past_count == NULL) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: past_present_share_buffer without past_sequence_length",
                        name);
    }
    if (state->shares) {
      out->room = with->past->shape[3];
      LEATI_TRY(leati_multi_head_read_past_count(op, with->past_count, &out->past_count, err));
    }
  }
  return leati_multi_head_check(op, out, err);
}

int32_t leati_projected_walk(leati_planner *planner, const leati_call *call, uint32_t i, leati_view *view,
                             const leati_view **out, leat_error *err) {
  *out = NULL;
  if (leati_input(call, i) != NULL) {
    LEATI_TRY(leati_plan_walkable(planner, &call->inputs[i], view, err));
    *out = view;
  }
  return LEAT_OK;
}

int32_t leati_projected_infer(const leat_op *op, const leati_multi_head *in, uint32_t output_count, leat_shape *out,
                              leat_error *err) {
  leat_shape keys, values;
  if (output_count > 1 && in->k.heads.shape[3] != in->v.heads.shape[3]) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: keys and values that are given back together have heads of one size",
                      leati_op_def_of(op)->info.name);
  }
  leati_multi_head_infer(in, &out[0], &keys, &values);
  if (output_count > 1) {
    out[1].ndim = 5;
    out[1].dims[0] = 2;
    memcpy(out[1].dims + 1, keys.dims, 4 * sizeof(keys.dims[0]));
  }
  return LEAT_OK;
}

int32_t leati_plan_projected(leati_planner *planner, leati_multi_head *in, const leati_view *y,
                             const leati_view *present, leat_error *err) {
  leati_view halves[2];
  for (uint32_t i = 0; i < 2 && present != NULL; ++i) {
    halves[i] = half_of(present, i);
    in->present[i] = &halves[i];
  }
  return leati_plan_multi_head(planner, in, y, err);
}

/* ---- The operator ------------------------------------------------------------------------------------------------ */

static int32_t projected_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const leati_projected_inputs with = {leati_input(call, MASK), leati_input(call, PAST), leati_input(call, ADDED),
                                       leati_input(call, PAST_COUNT)};
  const leati_view *const x = &call->inputs[X];
  leati_view projection, past[2];
  leati_multi_head in;
  LEATI_TRY(leati_projection_of(op, x, &call->inputs[WEIGHTS], leati_input(call, BIAS), x, &projection, err));
  LEATI_TRY(leati_projected_take(op, leati_op_state_const(op), &projection, &with, past, &in, err));
  return leati_projected_infer(op, &in, call->output_count, out, err);
}

static int32_t projected_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  leati_projected_inputs with = {.past = leati_input(call, PAST), .past_count = leati_input(call, PAST_COUNT)};
  leati_view x, weights, bias, mask, added, past[2];
  const leati_view *given_bias;
  leati_multi_head in;
  LEATI_TRY(leati_plan_walkable(planner, &call->inputs[X], &x, err));
  LEATI_TRY(leati_plan_walkable(planner, &call->inputs[WEIGHTS], &weights, err));
  LEATI_TRY(leati_projected_walk(planner, call, BIAS, &bias, &given_bias, err));
  LEATI_TRY(leati_projected_walk(planner, call, MASK, &mask, &with.mask, err));
  LEATI_TRY(leati_projected_walk(planner, call, ADDED, &added, &with.added, err));
  leati_view projection = projection_of(&x, &weights, &x);
  LEATI_TRY(leati_plan_temporary(planner, &projection, err));
  if (projection.count != 0) {
    const leati_gemm gemm = leati_product_of(&x, &weights, &projection, given_bias, false);
    LEATI_TRY(leati_plan_gemm(planner, &gemm, err));
  }
  LEATI_TRY(leati_projected_take(op, leati_op_state_const(op), &projection, &with, past, &in, err));
  return leati_plan_projected(planner, &in, &call->outputs[0], leati_output(call, 1), err);
}

static int32_t projected_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                                  leat_error *err) {
  leati_projected_state state;
  (void)device;
  return leati_projected_read(def, desc, &state, err);
}

static int32_t projected_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  return leati_projected_read(leati_op_def_of(op), desc, leati_op_state(op), err);
}

static bool projected_reads_view(const leat_op *op, const leati_call *call, uint32_t i) {
  const leati_view *const x = &call->inputs[X], *const weights = &call->inputs[WEIGHTS];
  if (i > WEIGHTS) {
    return leati_view_walkable(&call->inputs[i]);
  }
  const leati_view projection = projection_of(x, weights, x);
  return leati_product_reads(leati_op_device(op), x, weights, &projection, false, false, i == X);
}

static uint32_t projected_transposes(const leat_op *op, const leati_call *call, uint32_t constants) {
  const leati_view *const x = &call->inputs[X], *const weights = &call->inputs[WEIGHTS];
  if (!leati_has_input(constants, WEIGHTS) || x->count == 0) {
    return 0;
  }
  const leati_view projection = projection_of(x, weights, x);
  const leati_gemm gemm = leati_product_of(x, weights, &projection, NULL, false);
  return leati_gemm_gains_along_k(leati_op_device(op), &gemm) ? 1u << WEIGHTS : 0;
}

/* ---- The list --------------------------------------------------------------------------------------------------- */

static const leati_op_def ops[] = {
    LEATI_OP("Attention", "com.microsoft", (1, 1), (2, INPUTS), (1, 2), .info.flags = LEAT_OP_HEAVY,
             .info.host_inputs = 1u << PAST_COUNT, LEATI_TYPES(&leati_type_real, &type_numbers),
             LEATI_ATTRIBUTES(&leati_attribute_num_heads, &leati_attribute_unidirectional,
                              &leati_attribute_projected_scale, &leati_attribute_mask_filter_value,
                              &leati_attribute_do_rotary, &leati_attribute_rotary_embedding_dim,
                              &leati_attribute_past_present_share_buffer, &leati_attribute_qkv_hidden_sizes),
             LEATI_INPUT_TYPES(0, 0, 0, 1, 0, 0, 1), LEATI_OUTPUT_TYPES(0, 0),
             .state_size = sizeof(leati_projected_state), .least_rank = 3, .most_rank = 3,
             LEATI_KERNELS(LEATI_KERNELS_OF_PRODUCTS, LEATI_KERNELS_OF_MULTI_HEAD), .supports = projected_supports,
             .create = projected_create, .infer = projected_infer, .plan = projected_plan,
             .reads_view = projected_reads_view, .transposes = projected_transposes),
};

const leati_op_family leati_projected_family = LEATI_FAMILY(ops);
