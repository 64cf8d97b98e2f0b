/* SPDX-License-Identifier: BSD-3-Clause */
/* Attention, com.microsoft's MultiHeadAttention, and FusedAttention, whose operands have any layout. */
#include <math.h>
#include <string.h>

#include "core/status.h"
#include "device/device.h"
#include "ops/attribute.h"
#include "ops/dims.h"
#include "ops/kernels/attention_codes.glsl"
#include "ops/matmul.h"

static LEATI_ATTRIBUTE(attribute_scale, "scale", FLOAT);
static LEATI_ATTRIBUTE(attribute_softcap, "softcap", FLOAT);
static LEATI_ATTRIBUTE(attribute_is_causal, "is_causal", INT);
static LEATI_ATTRIBUTE(attribute_q_num_heads, "q_num_heads", INT);
static LEATI_ATTRIBUTE(attribute_kv_num_heads, "kv_num_heads", INT);
static LEATI_ATTRIBUTE(attribute_softmax_precision, "softmax_precision", INT);
static LEATI_ATTRIBUTE(attribute_qk_matmul_output_mode, "qk_matmul_output_mode", INT);
static LEATI_ATTRIBUTE(attribute_num_heads, "num_heads", INT);
static LEATI_ATTRIBUTE(attribute_unidirectional, "unidirectional", INT);
static LEATI_ATTRIBUTE(attribute_mask_filter_value, "mask_filter_value", FLOAT);

static LEATI_TYPE(type_keys, "T1", LEATI_TYPES_REAL);
static LEATI_TYPE(type_values, "T2", LEATI_TYPES_REAL);
static LEATI_TYPE(type_mask, "U", LEATI_TYPES_REAL | LEAT_TYPE_BOOL);
static LEATI_TYPE(type_int32, "M", LEAT_TYPE_INT32);

#define FLOAT_NUMBER 1 /* TensorProto.FLOAT */

/* What kernels/attention.comp is written for. */
#define HEAD_MOST 256
#define HEAD_SMALL 64
#define CHUNK_LEAST 8
#define CHUNK_MOST 16
/* What kernels/attention_matrix.comp is written for. */
#define MATRIX_HEAD_MOST 128
_Static_assert(LEAT_ATTENTION_MATRIX_SUBGROUPS == LEATI_MATRIX_SUBGROUPS,
               "kernels/attention_matrix.comp has room for as many subgroups as there may be");

enum { ATTENTION, MULTI_HEAD, FUSED };

/* Which input is the mask. */
static const uint32_t mask_places[] = {[ATTENTION] = 3, [MULTI_HEAD] = 5, [FUSED] = 3};

/* A layout has a letter for each dimension: b batch, h head, s position, d element of the head; x: the heads side by
 * side, each with its elements. Without b or h there is one batch, or one head. */
#define LAYOUT_MOST 4
static const char letters[] = "bhsd";

enum { Q, K, V, Y, LAYOUTS };

typedef struct attention_state {
  char layouts[LAYOUTS][LAYOUT_MOST + 1]; /* empty: of Attention, which has "bhsd" or "bsx" */
  int64_t q_heads, kv_heads;              /* of operands of three dimensions; 0: not said */
  float scale;
  float cap; /* 0: none */
  bool scaled;
  bool causal;
} attention_state;

static const char *layout_of(const attention_state *state, uint32_t which, int32_t rank) {
  const char *const own = state->layouts[which];
  return own[0] != '\0' ? own : rank == 3 ? "bsx" : "bhsd";
}

/* An operand as heads: sizes and strides of batch, head, position and element of the head. */
typedef struct heads {
  int64_t shape[4], strides[4];
} heads;

static const leati_view *mask_of(const leat_op *op, const leati_call *call) {
  return leati_input(call, mask_places[leati_op_def_of(op)->param]);
}

/* An operand of so many heads, which count if they lie side by side. */
static int32_t as_heads(const leat_op *op, const leati_view *view, const char *what, const char *layout, int64_t count,
                        heads *out, leat_error *err) {
  const char *const name = leati_op_def_of(op)->info.name;
  *out = (heads){.shape = {1, 1, 1, 1}};
  if (view->ndim != (int32_t)strlen(layout)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: %s have %d dimensions, not those of \"%s\"", name, what,
                      view->ndim, layout);
  }
  for (int32_t d = 0; d < view->ndim; ++d) {
    const int64_t size = view->shape[d], stride = view->strides[d];
    if (layout[d] != 'x') {
      const ptrdiff_t at = strchr(letters, layout[d]) - letters;
      out->shape[at] = size;
      out->strides[at] = stride;
    } else if (count <= 0 || size % count != 0) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: %s of %lld elements cannot be shared out to %lld heads",
                        name, what, (long long)size, (long long)count);
    } else {
      out->shape[1] = count;
      out->strides[1] = size / count * stride;
      out->shape[3] = size / count;
      out->strides[3] = stride;
    }
  }
  if (out->shape[1] < 1 || out->shape[3] < 1) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: %s without heads, or with heads of no elements", name,
                      what);
  }
  return out->shape[3] <= HEAD_MOST
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s: heads of %lld elements are not supported; at most %d are",
                          name, (long long)out->shape[3], HEAD_MOST);
}

typedef struct operands {
  heads q, k, v;
} operands;

/* `views`: queries, keys and values. */
static int32_t read_operands(const leat_op *op, const leati_view *const *views, operands *out, leat_error *err) {
  const attention_state *const state = leati_op_state_const(op);
  const char *const name = leati_op_def_of(op)->info.name;
  const int32_t rank = views[0]->ndim;
  if (state->layouts[Q][0] == '\0' && ((rank != 3 && rank != 4) || views[1]->ndim != rank || views[2]->ndim != rank)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: queries, keys and values need 3 or 4 dimensions, as many "
                      "each; they have %d, %d and %d",
                      name, rank, views[1]->ndim, views[2]->ndim);
  }
  LEATI_TRY(as_heads(op, views[0], "queries", layout_of(state, Q, rank), state->q_heads, &out->q, err));
  LEATI_TRY(as_heads(op, views[1], "keys", layout_of(state, K, rank), state->kv_heads, &out->k, err));
  LEATI_TRY(as_heads(op, views[2], "values", layout_of(state, V, rank), state->kv_heads, &out->v, err));
  const int64_t *const q = out->q.shape, *const k = out->k.shape, *const v = out->v.shape;
  if (k[0] != q[0] || v[0] != q[0] || v[1] != k[1] || q[1] % k[1] != 0 || v[2] != k[2] || k[3] != q[3]) {
    return leati_fail(
        err, LEAT_ERROR_INVALID_ARGUMENT,
        "%s: queries, keys and values do not go together: batches %lld, %lld, %lld; heads %lld, %lld, "
        "%lld; positions of keys and values %lld, %lld; elements of a head of queries and keys %lld, %lld",
        name, (long long)q[0], (long long)k[0], (long long)v[0], (long long)q[1], (long long)k[1], (long long)v[1],
        (long long)k[2], (long long)v[2], (long long)q[3], (long long)k[3]);
  }
  return LEAT_OK;
}

/* Keys that the mask has. In version 24 it may have fewer than there are, and takes the others out. */
static int64_t masked_keys(const leat_op *op, const leati_view *mask, int64_t keys) {
  const bool may_be_short = leati_op_since_version(op) >= 24;
  return mask != NULL && mask->ndim > 0 && may_be_short ? mask->shape[mask->ndim - 1] : keys;
}

/* The shape that the mask broadcasts to: batches and heads, if the queries have such dimensions, queries, keys. `at`
 * says which of the four each dimension is. */
static int32_t score_shape(const leat_op *op, const leati_view *mask, const operands *in, int64_t *shape,
                           uint32_t *at) {
  const attention_state *const state = leati_op_state_const(op);
  const char *const layout = state->layouts[Q];
  const int64_t all[4] = {in->q.shape[0], in->q.shape[1], in->q.shape[2], masked_keys(op, mask, in->k.shape[2])};
  const bool any = layout[0] == '\0' || strchr(layout, 'x') != NULL;
  const bool has[4] = {any || strchr(layout, 'b') != NULL, any || strchr(layout, 'h') != NULL, true, true};
  int32_t rank = 0;
  for (uint32_t d = 0; d < 4; ++d) {
    if (has[d]) {
      shape[rank] = all[d];
      at[rank++] = d;
    }
  }
  return rank;
}

static int32_t check_mask(const leat_op *op, const leati_view *mask, const operands *in, leat_error *err) {
  int64_t shape[4];
  uint32_t at[4];
  const int32_t rank = score_shape(op, mask, in, shape, at);
  bool fits = mask->ndim <= rank && shape[rank - 1] <= in->k.shape[2];
  for (int32_t d = 1; fits && d <= mask->ndim; ++d) {
    const int64_t size = mask->shape[mask->ndim - d];
    fits = size == 1 || size == shape[rank - d];
  }
  return fits ? LEAT_OK
              : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                           "%s: the mask does not broadcast to %lld batches, %lld heads, %lld queries and %lld keys",
                           leati_op_def_of(op)->info.name, (long long)in->q.shape[0], (long long)in->q.shape[1],
                           (long long)in->q.shape[2], (long long)in->k.shape[2]);
}

/* The result as heads: its shape by its layout, and where elements lie when it is compact. */
static int32_t as_result(const leat_op *op, const operands *in, int32_t rank, heads *out, leat_shape *shape,
                         leat_error *err) {
  const char *const layout = layout_of(leati_op_state_const(op), Y, rank);
  *out = (heads){.shape = {in->q.shape[0], in->q.shape[1], in->q.shape[2], in->v.shape[3]}};
  int64_t step = 1, count = 1;
  shape->ndim = (int32_t)strlen(layout);
  for (int32_t d = shape->ndim - 1; d >= 0; --d) {
    const ptrdiff_t at = layout[d] == 'x' ? 3 : strchr(letters, layout[d]) - letters;
    out->strides[at] = step;
    shape->dims[d] = out->shape[at];
    step *= out->shape[at];
    if (layout[d] == 'x') {
      out->strides[1] = step;
      shape->dims[d] *= out->shape[1];
      step *= out->shape[1];
    }
  }
  for (int32_t d = 0; d < 4; ++d) {
    count *= out->shape[d];
  }
  return step == count ? LEAT_OK
                       : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: the result \"%s\" lacks batches or heads",
                                    leati_op_def_of(op)->info.name, layout);
}

/* One kernel reads all operands, so they have one type; a mask may be of bool. `mask`: its type, or 0. */
static int32_t check_types(const leati_op_def *def, uint64_t queries, uint64_t values, uint64_t mask, leat_error *err) {
  const bool fits = values == queries && (mask == 0 || mask == queries || mask == LEAT_TYPE_BOOL);
  return fits ? LEAT_OK
              : leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                           "%s with queries of %s, values of %s and %s%s is not supported; all need one type, or the "
                           "mask bool",
                           def->info.name, leati_type_name(queries), leati_type_name(values),
                           mask == 0 ? "no mask" : "a mask of ", mask == 0 ? "" : leati_type_name(mask));
}

static int32_t attention_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const leati_view *const views[] = {&call->inputs[0], &call->inputs[1], &call->inputs[2]};
  const leati_view *const mask = mask_of(op, call);
  operands in;
  LEATI_TRY(check_types(leati_op_def_of(op), views[0]->type, views[2]->type, mask != NULL ? mask->type : 0, err));
  LEATI_TRY(read_operands(op, views, &in, err));
  if (mask != NULL) {
    LEATI_TRY(check_mask(op, mask, &in, err));
  }
  const int64_t *const q = in.q.shape, width = in.v.shape[3];
  /* A tile of keys takes a round for each four of its keys and of the elements of a head, and some more. */
  const uint64_t tiles = ((uint64_t)in.k.shape[2] + LEAT_ATTENTION_KEYS - 1) / LEAT_ATTENTION_KEYS;
  LEATI_TRY(leati_check_rounds(leati_op_device(op), tiles * (uint64_t)(q[3] / 4 + width / 8 + 24),
                               leati_op_def_of(op)->info.name, err));
  heads result;
  return as_result(op, &in, views[0]->ndim, &result, out, err);
}

/* ---- The plan --------------------------------------------------------------------------------------------------- */

/* Argument record of kernels/attention.comp and attention_matrix.comp. */
typedef struct attention_args {
  uint64_t q, k, v, mask, y;
  int32_t q_strides[4], k_strides[4], v_strides[4], mask_strides[4], y_strides[4];
  uint32_t groups, blocks;
  uint32_t heads, share;
  uint32_t queries, keys, masked_keys;
  uint32_t depth, width;
  float scale, cap;
  uint32_t mask_kind, causal, across;
} attention_args;

static void fill_strides(const heads *from, int32_t *out) {
  for (int32_t d = 0; d < 4; ++d) {
    /* That of a dimension of one element may be anything. */
    out[d] = from->shape[d] > 1 ? (int32_t)from->strides[d] : 0;
  }
}

/* Whether rows can be moved so many elements at a time. */
static bool in_groups(const leati_view *view, const heads *given, const int32_t *strides, uint32_t count) {
  const int32_t n = (int32_t)count;
  const bool rows = strides[0] % n == 0 && strides[1] % n == 0 && strides[2] % n == 0;
  return rows && strides[3] == 1 && given->shape[3] % n == 0 && view->address % (count * view->item_size) == 0;
}

/* Fours of a chunk of heads of so many elements. */
static uint32_t chunk_of(int64_t size) {
  return size <= CHUNK_LEAST * 4 ? CHUNK_LEAST : CHUNK_MOST;
}

/* Queries, keys, values and the result as a plan has them. */
typedef struct tensors {
  const leati_view *views[LAYOUTS];
  const heads *heads[LAYOUTS];
  const int32_t *strides[LAYOUTS];
} tensors;

static bool in_groups_all(const tensors *of, uint32_t count) {
  bool all = true;
  for (uint32_t i = 0; i < LAYOUTS; ++i) {
    all = all && in_groups(of->views[i], of->heads[i], of->strides[i], count);
  }
  return all;
}

/* So many elements of a head as whole matrices hold them. */
static uint32_t in_steps(int64_t size) {
  return (uint32_t)((size + LEAT_ATTENTION_MATRIX_STEP - 1) / LEAT_ATTENTION_MATRIX_STEP * LEAT_ATTENTION_MATRIX_STEP);
}

/* The kernel, and how many queries a workgroup of it has. */
static leati_pipeline_key choose_kernel(const leat_device *device, const tensors *of, uint32_t *out_rows) {
  const uint64_t type = of->views[Y]->type;
  const int64_t depth = of->heads[Q]->shape[3], width = of->heads[V]->shape[3];
  const int64_t larger = depth > width ? depth : width;
  const bool small = larger <= HEAD_SMALL;
  const leati_kernel by_matrices =
      leati_kernel_find(small ? LEATI_KERNELS_ATTENTION_MATRIX_64 : LEATI_KERNELS_ATTENTION_MATRIX_128, type);
  if (device->matrix.m != 0 && by_matrices != LEATI_KERNEL_NONE && larger <= MATRIX_HEAD_MOST &&
      of->heads[K]->shape[2] >= LEATI_ATTENTION_MATRIX_KEYS) {
    const uint32_t subgroup = device->physical->subgroup_size;
    uint32_t wide = in_groups(of->views[Y], of->heads[Y], of->strides[Y], 4) ? LEAT_ATTENTION_Y : 0;
    for (uint32_t i = Q; i <= V; ++i) {
      wide |= in_groups(of->views[i], of->heads[i], of->strides[i], 8) ? 1u << i : 0;
    }
    const int64_t *const q = of->heads[Q]->shape;
    const uint32_t subgroups =
        leati_attention_subgroups(&device->traits, (uint64_t)(q[0] * q[1]), (uint32_t)q[2], LEAT_ATTENTION_MATRIX_ROWS);
    *out_rows = LEAT_ATTENTION_MATRIX_ROWS * subgroups;
    return (leati_pipeline_key){.kernel = by_matrices,
                                .constants.attention_matrix = {.wide = wide,
                                                               .depth = in_steps(depth),
                                                               .width = in_steps(width),
                                                               .subgroup_size = subgroup,
                                                               .matrix_m = device->matrix.m,
                                                               .matrix_n = device->matrix.n,
                                                               .matrix_k = device->matrix.k,
                                                               .threads = subgroup * subgroups}};
  }
  *out_rows = LEAT_ATTENTION_ROWS;
  return (leati_pipeline_key){
      .kernel = leati_kernel_find(small ? LEATI_KERNELS_ATTENTION_64 : LEATI_KERNELS_ATTENTION_256, type),
      .constants.attention = {.quads = in_groups_all(of, 4),
                              .depth_chunk = small ? chunk_of(depth) : CHUNK_MOST,
                              .width_chunk = small ? chunk_of(width) : CHUNK_MOST}};
}

static void fill_mask(const leat_op *op, const leati_view *mask, const operands *in, attention_args *args) {
  int64_t shape[4], strides[LEAT_MAX_RANK];
  uint32_t at[4];
  const int32_t rank = score_shape(op, mask, in, shape, at);
  leati_broadcast_strides(mask, rank, shape, strides);
  for (int32_t d = 0; d < rank; ++d) {
    args->mask_strides[at[d]] = shape[d] > 1 ? (int32_t)strides[d] : 0;
  }
}

static int32_t attention_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const attention_state *const state = leati_op_state_const(op);
  const leati_view *const y = &call->outputs[0];
  if (y->count == 0) {
    return LEAT_OK;
  }
  leati_view views[3], mask = {.present = false};
  for (uint32_t i = 0; i < 3; ++i) {
    LEATI_TRY(leati_plan_walkable(planner, &call->inputs[i], &views[i], err));
  }
  const bool masked = mask_of(op, call) != NULL;
  if (masked) {
    LEATI_TRY(leati_plan_walkable(planner, mask_of(op, call), &mask, err));
  }
  operands in;
  LEATI_TRY(read_operands(op, (const leati_view *[]){&views[0], &views[1], &views[2]}, &in, err));
  const int64_t *const q = in.q.shape, keys = in.k.shape[2], width = in.v.shape[3];
  leat_shape shape;
  heads result;
  LEATI_TRY(as_result(op, &in, views[0].ndim, &result, &shape, err));
  attention_args args = {.heads = (uint32_t)q[1],
                         .share = (uint32_t)(q[1] / in.k.shape[1]),
                         .queries = (uint32_t)q[2],
                         .keys = (uint32_t)keys,
                         .masked_keys = (uint32_t)masked_keys(op, masked ? &mask : NULL, keys),
                         .depth = (uint32_t)q[3],
                         .width = (uint32_t)width,
                         .scale = state->scaled ? state->scale : (float)(1.0 / sqrt((double)q[3])),
                         .cap = state->cap,
                         .causal = state->causal};
  fill_strides(&in.q, args.q_strides);
  fill_strides(&in.k, args.k_strides);
  fill_strides(&in.v, args.v_strides);
  fill_strides(&result, args.y_strides);
  if (masked) {
    fill_mask(op, &mask, &in, &args);
  }
  args.across = (in.q.strides[2] < in.q.strides[3] ? LEAT_ATTENTION_Q : 0) |
                (in.k.strides[2] < in.k.strides[3] ? LEAT_ATTENTION_K : 0) |
                (in.v.strides[2] < in.v.strides[3] ? LEAT_ATTENTION_V : 0);
  args.mask_kind = !masked                       ? LEAT_ATTENTION_MASK_NONE
                   : mask.type == LEAT_TYPE_BOOL ? LEAT_ATTENTION_MASK_BOOL
                                                 : LEAT_ATTENTION_MASK_ADDED;
  const tensors all = {{&views[0], &views[1], &views[2], y},
                       {&in.q, &in.k, &in.v, &result},
                       {args.q_strides, args.k_strides, args.v_strides, args.y_strides}};
  uint32_t rows;
  leati_dispatch_desc dispatch = {.pipeline = choose_kernel(planner->device, &all, &rows),
                                  .args = &args,
                                  .args_size = sizeof(args),
                                  LEATI_READS({&views[0], &args.q}, {&views[1], &args.k}, {&views[2], &args.v},
                                              {masked ? &mask : NULL, &args.mask}),
                                  LEATI_WRITES({y, &args.y})};
  args.blocks = ((uint32_t)q[2] + rows - 1) / rows;
  args.groups = (uint32_t)(q[0] * q[1]) * args.blocks;
  leati_groups_linear(planner->device, args.groups, 1, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

/* ---- What is supported ------------------------------------------------------------------------------------------ */

/* check_types() of what is known when a host asks, before there are tensors. */
static int32_t check_given_types(const leati_op_def *def, const leati_op_desc *desc, leat_error *err) {
  const uint32_t mask = mask_places[def->param];
  return check_types(def, leati_type_of(desc->inputs[0].dtype), leati_type_of(desc->inputs[2].dtype),
                     leati_is_given(desc, mask) ? leati_type_of(desc->inputs[mask].dtype) : 0, err);
}

/* Fails if an input is given that is not known here. */
static int32_t refuse_input(const leati_op_def *def, const leati_op_desc *desc, uint32_t i, const char *what,
                            leat_error *err) {
  return leati_is_given(desc, i)
             ? leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s with %s is not supported", def->info.name, what)
             : LEAT_OK;
}

static int32_t attention_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                                  leat_error *err) {
  static const struct {
    uint32_t input;
    const char *what;
  } unknown[2][6] = {
      [ATTENTION] = {{4, "past_key"}, {5, "past_value"}, {6, "nonpad_kv_seqlen"}},
      [MULTI_HEAD] = {{3, "bias"},
                      {4, "key_padding_mask"},
                      {6, "past_key"},
                      {7, "past_value"},
                      {8, "past_sequence_length"},
                      {9, "cache_indirection"}},
  };
  (void)device;
  for (uint32_t i = 0; i < 6 && unknown[def->param][i].what != NULL; ++i) {
    LEATI_TRY(refuse_input(def, desc, unknown[def->param][i].input, unknown[def->param][i].what, err));
  }
  const int64_t precision = leati_attr_int(desc, "softmax_precision", FLOAT_NUMBER);
  if (precision != FLOAT_NUMBER) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s with softmax_precision %lld is not supported; only float32 is",
                      def->info.name, (long long)precision);
  }
  for (uint32_t i = 0; i < 3; ++i) {
    const int32_t rank = desc->inputs[i].ndim;
    if (rank >= 0 && rank != 3 && (def->param == MULTI_HEAD || rank != 4)) {
      return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s: input %u with %d dimensions is not supported",
                        def->info.name, i, rank);
    }
  }
  return check_given_types(def, desc, err);
}

static int32_t attention_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  attention_state *const state = leati_op_state(op);
  *state = (attention_state){.q_heads = leati_attr_int(desc, "q_num_heads", 0),
                             .kv_heads = leati_attr_int(desc, "kv_num_heads", 0),
                             .scale = leati_attr_float(desc, "scale", 0.0f),
                             .cap = leati_attr_float(desc, "softcap", 0.0f),
                             .scaled = leati_attr(desc, "scale") != NULL,
                             .causal = leati_attr_int(desc, "is_causal", 0) != 0};
  return LEAT_OK;
}

static int32_t multi_head_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  attention_state *const state = leati_op_state(op);
  const int64_t count = leati_attr_int(desc, "num_heads", 0);
  const float scale = leati_attr_float(desc, "scale", 0.0f);
  *state = (attention_state){.q_heads = count,
                             .kv_heads = count,
                             .scale = scale,
                             .scaled = scale != 0.0f, /* as ONNX Runtime reads it */
                             .causal = leati_attr_int(desc, "unidirectional", 0) != 0};
  return LEAT_OK;
}

/* ---- FusedAttention ----------------------------------------------------------------------------------------------
 */

static LEATI_ATTRIBUTE(attribute_q_layout, "q_layout", STRING);
static LEATI_ATTRIBUTE(attribute_k_layout, "k_layout", STRING);
static LEATI_ATTRIBUTE(attribute_v_layout, "v_layout", STRING);
static LEATI_ATTRIBUTE(attribute_y_layout, "y_layout", STRING);
static const leat_op_attribute *const layout_attributes[LAYOUTS] = {&attribute_q_layout, &attribute_k_layout,
                                                                    &attribute_v_layout, &attribute_y_layout};

/* Whether each letter is known and stands there once, and nothing is missing that there must be. */
static bool is_layout(const char *text, uint64_t size) {
  uint32_t seen[5] = {0};
  for (uint64_t i = 0; i < size && size <= LAYOUT_MOST; ++i) {
    static const char known[] = "bhsdx";
    const char *const at = text[i] == '\0' ? NULL : strchr(known, text[i]);
    if (at == NULL) {
      return false;
    }
    ++seen[at - known];
  }
  return seen[0] <= 1 && seen[1] + seen[4] <= 1 && seen[2] == 1 && seen[3] + seen[4] == 1;
}

static int32_t fused_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                              leat_error *err) {
  (void)device;
  for (uint32_t i = 0; i < LAYOUTS; ++i) {
    const leat_attribute *const layout = leati_attr(desc, layout_attributes[i]->name);
    if (layout != NULL && !is_layout(layout->string, layout->count)) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                        "%s: \"%.*s\" of %s is no layout: up to four of the letters b, h, s, d, or b, s, x",
                        def->info.name, layout->count <= 16 ? (int)layout->count : 16, layout->string,
                        layout_attributes[i]->name);
    }
  }
  return check_given_types(def, desc, err);
}

static int32_t fused_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  LEATI_TRY(attention_create(op, desc, err));
  attention_state *const state = leati_op_state(op);
  for (uint32_t i = 0; i < LAYOUTS; ++i) {
    const leat_attribute *const layout = leati_attr(desc, layout_attributes[i]->name);
    memcpy(state->layouts[i], layout != NULL ? layout->string : letters, layout != NULL ? layout->count : LAYOUT_MOST);
  }
  return LEAT_OK;
}

static bool attention_reads_view(const leat_op *op, const leati_call *call, uint32_t i) {
  (void)op;
  return leati_view_walkable(&call->inputs[i]);
}

/* ---- The list --------------------------------------------------------------------------------------------------- */

static const leati_op_def ops[] = {
    LEATI_OP("Attention", "", (23, 24), (3, 7), (1, 1),
             LEATI_TYPES(&type_keys, &type_values, &type_mask, &leati_type_int64),
             LEATI_ATTRIBUTES(&attribute_scale, &attribute_softcap, &attribute_is_causal, &attribute_q_num_heads,
                              &attribute_kv_num_heads, &attribute_softmax_precision, &attribute_qk_matmul_output_mode),
             LEATI_INPUT_TYPES(0, 0, 1, 2, 0, 1, 3), .state_size = sizeof(attention_state),
             LEATI_KERNELS(LEATI_KERNELS_ATTENTION_64, LEATI_KERNELS_ATTENTION_256), .param = ATTENTION,
             .supports = attention_supports, .create = attention_create, .infer = attention_infer,
             .plan = attention_plan, .reads_view = attention_reads_view),
    LEATI_OP("MultiHeadAttention", "com.microsoft", (1, 1), (3, 10), (1, 1), LEATI_TYPES(&leati_type_real, &type_int32),
             LEATI_ATTRIBUTES(&attribute_num_heads, &attribute_scale, &attribute_unidirectional,
                              &attribute_mask_filter_value),
             LEATI_INPUT_TYPES(0, 0, 0, 0, 1, 0, 0, 0, 1, 1), .state_size = sizeof(attention_state),
             LEATI_KERNELS(LEATI_KERNELS_ATTENTION_64, LEATI_KERNELS_ATTENTION_256), .param = MULTI_HEAD,
             .supports = attention_supports, .create = multi_head_create, .infer = attention_infer,
             .plan = attention_plan, .reads_view = attention_reads_view),
    LEATI_OP("FusedAttention", "leat", (1, 1), (3, 4), (1, 1), LEATI_TYPES(&leati_type_real, &type_mask),
             LEATI_ATTRIBUTES(&attribute_q_layout, &attribute_k_layout, &attribute_v_layout, &attribute_y_layout,
                              &attribute_q_num_heads, &attribute_kv_num_heads, &attribute_scale),
             LEATI_INPUT_TYPES(0, 0, 0, 1), .state_size = sizeof(attention_state),
             LEATI_KERNELS(LEATI_KERNELS_ATTENTION_64, LEATI_KERNELS_ATTENTION_256), .param = FUSED,
             .supports = fused_supports, .create = fused_create, .infer = attention_infer, .plan = attention_plan,
             .reads_view = attention_reads_view),
};

const leati_op_family leati_attention_family = LEATI_FAMILY(ops);
