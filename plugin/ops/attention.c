/* SPDX-License-Identifier: BSD-3-Clause */
/* Attention, com.microsoft's MultiHeadAttention, and FusedAttention, whose operands have any layout. */
#include "ops/attention.h"

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
#define HEAD_SMALL 64
#define CHUNK_LEAST 8
#define CHUNK_MOST 16
/* Elements that a workgroup puts aside where keys are split: by fours, for each thread its results of a chunk twice,
 * and what they are relative to. */
#define THREADS 128
#define PIECE_OF(head) (THREADS * (2 * ((head) / 4 / CHUNK_MOST) + 1) * 4)
/* What kernels/attention_matrix.comp is written for. */
#define MATRIX_HEAD_MOST 128
_Static_assert(LEAT_ATTENTION_MATRIX_SUBGROUPS == LEATI_MATRIX_SUBGROUPS,
               "kernels/attention_matrix.comp has room for as many subgroups as there may be");

enum { ATTENTION, MULTI_HEAD, FUSED };

/* Which inputs are the mask, keys and values of earlier positions, and how many keys each batch has; 0: none is. */
static const struct {
  uint32_t mask, past_key, past_value, lengths;
} places[] = {[ATTENTION] = {3, 4, 5, 6}, [MULTI_HEAD] = {5, 6, 7, 0}, [FUSED] = {3, 0, 0, 0}};

enum { Q, K, V, Y, LAYOUTS };

#define LAYOUT_MOST 4

typedef struct attention_state {
  char layouts[LAYOUTS][LAYOUT_MOST + 1]; /* empty: of Attention, which has heads apart or together */
  int64_t q_heads, kv_heads;              /* of operands of three dimensions; 0: not said */
  float scale;
  float cap; /* 0: none */
  bool scaled;
  bool causal;
} attention_state;

static const char *layout_of(const attention_state *state, uint32_t which, int32_t rank) {
  const char *const own = state->layouts[which];
  return own[0] != '\0' ? own : rank == 3 ? LEATI_HEADS_TOGETHER : LEATI_HEADS_APART;
}

/* The input at one of an operator's places, if it has such inputs and this one is given. */
static const leati_view *given_at(const leati_call *call, uint32_t place) {
  return place != 0 ? leati_input(call, place) : NULL;
}

static const leati_view *mask_of(const leat_op *op, const leati_call *call) {
  return given_at(call, places[leati_op_def_of(op)->param].mask);
}

static const leati_view *past_of(const leat_op *op, const leati_call *call, bool values) {
  const uint32_t which = leati_op_def_of(op)->param;
  return given_at(call, values ? places[which].past_value : places[which].past_key);
}

static const leati_view *lengths_of(const leat_op *op, const leati_call *call) {
  return given_at(call, places[leati_op_def_of(op)->param].lengths);
}

typedef struct operands {
  leati_heads q, k, v;
  int64_t past; /* positions that go before those of k and v */
  int64_t keys; /* all together */
} operands;

/* Reads new keys and values that go behind earlier ones. */
static int32_t read_past(const leat_op *op, const leati_call *call, operands *out, leat_error *err) {
  const char *const name = leati_op_def_of(op)->info.name;
  LEATI_TRY(leati_kv_check(name, past_of(op, call, false), past_of(op, call, true), &out->k, &out->v, &out->past, err));
  const leati_view *const lengths = lengths_of(op, call);
  if (lengths != NULL && past_of(op, call, false) != NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: nonpad_kv_seqlen goes with a whole cache as keys and values, not with past ones", name);
  }
  if (lengths != NULL && (lengths->ndim != 1 || lengths->shape[0] != out->k.shape[0])) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: nonpad_kv_seqlen has %llu elements in %d dimensions; there is 1 with one for each of the "
                      "%lld batches",
                      name, (unsigned long long)lengths->count, lengths->ndim, (long long)out->k.shape[0]);
  }
  out->keys = out->past + out->k.shape[2];
  return LEAT_OK;
}

/* `views`: queries, keys and values. */
static int32_t read_operands(const leat_op *op, const leati_call *call, const leati_view *const *views, operands *out,
                             leat_error *err) {
  const attention_state *const state = leati_op_state_const(op);
  const char *const name = leati_op_def_of(op)->info.name;
  const int32_t rank = views[0]->ndim;
  if (state->layouts[Q][0] == '\0' && ((rank != 3 && rank != 4) || views[1]->ndim != rank || views[2]->ndim != rank)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: queries, keys and values need 3 or 4 dimensions, as many "
                      "each; they have %d, %d and %d",
                      name, rank, views[1]->ndim, views[2]->ndim);
  }
  LEATI_TRY(leati_heads_read(name, views[0], "queries", layout_of(state, Q, rank), state->q_heads, &out->q, err));
  LEATI_TRY(leati_heads_read(name, views[1], "keys", layout_of(state, K, rank), state->kv_heads, &out->k, err));
  LEATI_TRY(leati_heads_read(name, views[2], "values", layout_of(state, V, rank), state->kv_heads, &out->v, err));
  const int64_t *const q = out->q.shape, *const k = out->k.shape, *const v = out->v.shape;
  if (k[0] != q[0] || v[0] != q[0] || v[1] != k[1] || q[1] % k[1] != 0 || v[2] != k[2] || k[3] != q[3]) {
    return leati_fail(
        err, LEAT_ERROR_INVALID_ARGUMENT,
        "%s: queries, keys and values do not go together: batches %lld, %lld, %lld; heads %lld, %lld, "
        "%lld; positions of keys and values %lld, %lld; elements of a head of queries and keys %lld, %lld",
        name, (long long)q[0], (long long)k[0], (long long)v[0], (long long)q[1], (long long)k[1], (long long)v[1],
        (long long)k[2], (long long)v[2], (long long)q[3], (long long)k[3]);
  }
  return read_past(op, call, out, err);
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
  const int64_t all[4] = {in->q.shape[0], in->q.shape[1], in->q.shape[2], masked_keys(op, mask, in->keys)};
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
  bool fits = mask->ndim <= rank && shape[rank - 1] <= in->keys;
  for (int32_t d = 1; fits && d <= mask->ndim; ++d) {
    const int64_t size = mask->shape[mask->ndim - d];
    fits = size == 1 || size == shape[rank - d];
  }
  return fits ? LEAT_OK
              : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                           "%s: the mask does not broadcast to %lld batches, %lld heads, %lld queries and %lld keys",
                           leati_op_def_of(op)->info.name, (long long)in->q.shape[0], (long long)in->q.shape[1],
                           (long long)in->q.shape[2], (long long)in->keys);
}

/* The result as heads: its shape by its layout, and where elements lie when it is compact. */
static int32_t as_result(const leat_op *op, const operands *in, int32_t rank, leati_heads *out, leat_shape *shape,
                         leat_error *err) {
  const char *const layout = layout_of(leati_op_state_const(op), Y, rank);
  *out = (leati_heads){.shape = {in->q.shape[0], in->q.shape[1], in->q.shape[2], in->v.shape[3]}};
  int64_t step = 1, count = 1;
  shape->ndim = (int32_t)strlen(layout);
  for (int32_t d = shape->ndim - 1; d >= 0; --d) {
    const ptrdiff_t at = layout[d] == 'x' ? 3 : strchr(LEATI_HEADS_LETTERS, layout[d]) - LEATI_HEADS_LETTERS;
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

int32_t leati_attention_check_rounds(const leat_op *op, int64_t keys, int64_t depth, int64_t width, leat_error *err) {
  /* A tile of keys takes a round for each four of its keys and of the elements of a head, and some more. */
  const uint64_t tiles = ((uint64_t)keys + LEAT_ATTENTION_KEYS - 1) / LEAT_ATTENTION_KEYS;
  return leati_check_rounds(leati_op_device(op), tiles * (uint64_t)(depth / 4 + width / 8 + 24),
                            leati_op_def_of(op)->info.name, err);
}

static int32_t attention_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const leati_view *const views[] = {&call->inputs[0], &call->inputs[1], &call->inputs[2]};
  const leati_view *const mask = mask_of(op, call);
  operands in;
  LEATI_TRY(check_types(leati_op_def_of(op), views[0]->type, views[2]->type, mask != NULL ? mask->type : 0, err));
  LEATI_TRY(read_operands(op, call, views, &in, err));
  if (mask != NULL) {
    LEATI_TRY(check_mask(op, mask, &in, err));
  }
  LEATI_TRY(leati_attention_check_rounds(op, in.keys, in.q.shape[3], in.v.shape[3], err));
  for (uint32_t o = 1; o < call->output_count; ++o) {
    const int64_t *const fresh = o == 1 ? in.k.shape : in.v.shape;
    out[o].ndim = 4;
    memcpy(out[o].dims, (const int64_t[]){fresh[0], fresh[1], in.keys, fresh[3]}, 4 * sizeof(int64_t));
  }
  leati_heads result;
  return as_result(op, &in, views[0]->ndim, &result, &out[0], err);
}

/* ---- The plan --------------------------------------------------------------------------------------------------- */

/* Argument record of kernels/attention.comp and attention_matrix.comp. */
typedef struct attention_args {
  uint64_t q, k, v, mask, y;
  leati_lengths_args lengths;
  uint64_t pieces, counters;
  int32_t q_strides[4], k_strides[4], v_strides[4], mask_strides[4], y_strides[4];
  uint32_t groups, blocks;
  uint32_t splits;
  uint32_t heads, share;
  uint32_t queries;
  uint32_t masked_keys;
  uint32_t depth, width;
  float scale, cap;
  uint32_t mask_kind, causal;
  int32_t offset;
  uint32_t ends;
  int32_t fresh, step, before;
  uint32_t across;
} attention_args;

/* Fours of a chunk of heads of so many elements. */
static uint32_t chunk_of(int64_t size) {
  return size <= CHUNK_LEAST * 4 ? CHUNK_LEAST : CHUNK_MOST;
}

/* Queries, keys, values and the result as a plan has them. */
typedef struct tensors {
  const leati_operand *of[LAYOUTS];
  const int32_t *strides[LAYOUTS];
} tensors;

static bool in_groups(const tensors *all, uint32_t which, uint32_t count) {
  return leati_heads_in_groups(all->of[which], all->strides[which], count);
}

static bool in_groups_all(const tensors *all, uint32_t count) {
  return in_groups(all, Q, count) && in_groups(all, K, count) && in_groups(all, V, count) && in_groups(all, Y, count);
}

/* So many elements of a head as whole matrices hold them. */
static uint32_t in_steps(int64_t size) {
  return (uint32_t)((size + LEAT_ATTENTION_MATRIX_STEP - 1) / LEAT_ATTENTION_MATRIX_STEP * LEAT_ATTENTION_MATRIX_STEP);
}

/* Workgroups of kernels/attention.comp that share the keys of the same queries. More groups than there are counters
 * fill any device. */
static uint32_t splits_of(const leat_device *device, const leati_heads *q, int64_t keys) {
  const uint64_t blocks = ((uint64_t)q->shape[2] + LEAT_ATTENTION_ROWS - 1) / LEAT_ATTENTION_ROWS;
  const uint64_t groups = (uint64_t)(q->shape[0] * q->shape[1]) * blocks;
  return groups <= LEATI_COUNTERS_MAX ? leati_attention_splits(&device->traits, groups, (uint32_t)keys) : 1;
}

/* The kernel for matrix hardware; one that keeps scores in registers where there is such. */
static leati_kernel find_matrix_kernel(const leat_device *device, bool small, uint64_t type) {
  static const leati_kernel_set kernels[][2] = {
      {LEATI_KERNELS_ATTENTION_MATRIX_128, LEATI_KERNELS_ATTENTION_MATRIX_64},
      {LEATI_KERNELS_ATTENTION_MATRIX2_128, LEATI_KERNELS_ATTENTION_MATRIX2_64}};
  const leati_kernel held = device->matrix2 ? leati_kernel_find(kernels[1][small], type) : LEATI_KERNEL_NONE;
  return held != LEATI_KERNEL_NONE ? held : leati_kernel_find(kernels[0][small], type);
}

/* The kernel, how many queries a workgroup of it has, and how many workgroups share keys. */
static leati_pipeline_key choose_kernel(const leat_device *device, const tensors *all, uint32_t *out_rows,
                                        uint32_t *out_splits) {
  const uint64_t type = all->of[Y]->view.type;
  const int64_t depth = all->of[Q]->heads.shape[3], width = all->of[V]->heads.shape[3];
  const int64_t larger = depth > width ? depth : width;
  const bool small = larger <= HEAD_SMALL;
  const leati_kernel by_matrices = find_matrix_kernel(device, small, type);
  const leati_heads *const queries = &all->of[Q]->heads;
  *out_splits = splits_of(device, queries, all->of[K]->heads.shape[2]);
  /* With few queries matrices are mostly empty, and none of their workgroups share keys. */
  const bool shares = *out_splits > 1 && queries->shape[2] <= LEAT_ATTENTION_ROWS;
  if (!shares && device->matrix.m != 0 && by_matrices != LEATI_KERNEL_NONE && larger <= MATRIX_HEAD_MOST &&
      all->of[K]->heads.shape[2] >= device->traits.tuning.attention_matrix_keys) {
    const uint32_t subgroup = device->physical->subgroup_size;
    uint32_t wide = in_groups(all, Y, 4) ? LEAT_ATTENTION_Y : 0;
    for (uint32_t i = Q; i <= V; ++i) {
      wide |= in_groups(all, i, 8) ? 1u << i : 0;
    }
    const int64_t *const q = queries->shape;
    const uint32_t subgroups =
        leati_attention_subgroups(&device->traits, (uint64_t)(q[0] * q[1]), (uint32_t)q[2], LEAT_ATTENTION_MATRIX_ROWS);
    *out_rows = LEAT_ATTENTION_MATRIX_ROWS * subgroups;
    *out_splits = 1;
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
      .constants.attention = {.quads = in_groups_all(all, 4),
                              .depth_chunk = small ? chunk_of(depth) : CHUNK_MOST,
                              .width_chunk = small ? chunk_of(width) : CHUNK_MOST}};
}

/* Makes heads of one query that share a head of keys the queries of one head, which read its keys once. */
static void join_heads(leati_heads *heads, int64_t share) {
  heads->shape[1] /= share;
  heads->shape[2] = share;
  heads->strides[2] = heads->strides[1];
  heads->strides[1] *= share;
}

int32_t leati_plan_attention(leati_planner *planner, leati_attention *a, leat_error *err) {
  if (a->y.view.count == 0) {
    return LEAT_OK;
  }
  const int64_t fresh = a->q.heads.shape[2], shared = a->q.heads.shape[1] / a->k.heads.shape[1];
  const bool joined = fresh == 1 && shared > 1;
  if (joined) {
    join_heads(&a->q.heads, shared);
    join_heads(&a->y.heads, shared);
    a->mask_strides[2] = a->mask_strides[1];
    a->mask_strides[1] *= shared;
  }
  const int64_t *const q = a->q.heads.shape;
  const bool all_before = a->before < 0 || a->before > LEAT_ATTENTION_ALL_BEFORE;
  attention_args args = {.lengths = leati_lengths_fill(&a->lengths),
                         .heads = (uint32_t)q[1],
                         .share = (uint32_t)(q[1] / a->k.heads.shape[1]),
                         .queries = (uint32_t)q[2],
                         .masked_keys = (uint32_t)a->masked_keys,
                         .depth = (uint32_t)q[3],
                         .width = (uint32_t)a->v.heads.shape[3],
                         .scale = a->scale,
                         .cap = a->cap,
                         .causal = a->causal,
                         .offset = (int32_t)a->offset,
                         .ends = a->ends,
                         .fresh = (int32_t)fresh,
                         .step = !joined,
                         .before = all_before ? LEAT_ATTENTION_ALL_BEFORE : (int32_t)a->before};
  leati_heads_strides(&a->q.heads, args.q_strides);
  leati_heads_strides(&a->k.heads, args.k_strides);
  leati_heads_strides(&a->v.heads, args.v_strides);
  leati_heads_strides(&a->y.heads, args.y_strides);
  for (int32_t d = 0; d < 4; ++d) {
    args.mask_strides[d] = (int32_t)a->mask_strides[d];
  }
  args.across = (a->q.heads.strides[2] < a->q.heads.strides[3] ? LEAT_ATTENTION_Q : 0) |
                (a->k.heads.strides[2] < a->k.heads.strides[3] ? LEAT_ATTENTION_K : 0) |
                (a->v.heads.strides[2] < a->v.heads.strides[3] ? LEAT_ATTENTION_V : 0);
  args.mask_kind = a->mask == NULL                   ? LEAT_ATTENTION_MASK_NONE
                   : a->mask->type == LEAT_TYPE_BOOL ? LEAT_ATTENTION_MASK_BOOL
                                                     : LEAT_ATTENTION_MASK_ADDED;
  const tensors all = {{&a->q, &a->k, &a->v, &a->y}, {args.q_strides, args.k_strides, args.v_strides, args.y_strides}};
  leati_view pieces = {.type = LEAT_TYPE_FLOAT32, .ndim = 1};
  uint32_t rows;
  leati_dispatch_desc dispatch = {.pipeline = choose_kernel(planner->device, &all, &rows, &args.splits),
                                  .args = &args,
                                  .args_size = sizeof(args),
                                  LEATI_READS({&a->q.view, &args.q}, {&a->k.view, &args.k}, {&a->v.view, &args.v},
                                              {a->mask, &args.mask}, {a->lengths.view, &args.lengths.at}),
                                  LEATI_WRITES({&a->y.view, &args.y}, {&pieces, &args.pieces})};
  args.blocks = ((uint32_t)q[2] + rows - 1) / rows;
  args.groups = (uint32_t)(q[0] * q[1]) * args.blocks;
  if (args.splits > 1) {
    const bool small = args.depth <= HEAD_SMALL && args.width <= HEAD_SMALL;
    dispatch.counter_count = args.groups;
    dispatch.counters = &args.counters;
    args.groups *= args.splits;
    pieces.shape[0] = (int64_t)args.groups * PIECE_OF(small ? HEAD_SMALL : LEATI_HEAD_MOST);
    LEATI_TRY(leati_plan_temporary(planner, &pieces, err));
  }
  leati_groups_linear(planner->device, args.groups, 1, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

/* ---- Earlier keys and values ------------------------------------------------------------------------------------ */

static leati_operand as_apart(const leati_view *view) {
  leati_operand operand = {.view = *view};
  memcpy(operand.heads.shape, view->shape, sizeof(operand.heads.shape));
  memcpy(operand.heads.strides, view->strides, sizeof(operand.heads.strides));
  return operand;
}

/* Output `o`, if it is wanted, or a temporary of its shape, for so many positions of the heads of an operand. */
static int32_t place_of(leati_planner *planner, const leati_call *call, uint32_t o, int64_t positions,
                        const leati_operand *like, leati_operand *out, leat_error *err) {
  const leati_view *const wanted = leati_output(call, o);
  if (wanted != NULL) {
    *out = as_apart(wanted);
    return LEAT_OK;
  }
  leati_view view = {.type = like->view.type, .ndim = 4};
  memcpy(view.shape, like->heads.shape, sizeof(like->heads.shape));
  view.shape[2] = positions;
  LEATI_TRY(leati_plan_temporary(planner, &view, err));
  *out = as_apart(&view);
  return LEAT_OK;
}

int32_t leati_attention_append(leati_planner *planner, const leati_call *call, leati_attention *attention,
                               const leati_view *past_key, const leati_view *past_value, int64_t positions,
                               leati_append *append, leat_error *err) {
  const leati_view *const given[] = {past_key, past_value, NULL};
  const leati_operand fresh[] = {attention->k, attention->v, attention->q};
  leati_operand *const to[] = {&attention->k, &attention->v, &attention->q};
  leati_operand past[2];
  append->count = append->cosines != NULL ? LEATI_APPEND_PARTS : 2;
  for (uint32_t i = 0; i < append->count; ++i) {
    const bool queries = to[i] == &attention->q, values = to[i] == &attention->v;
    LEATI_TRY(place_of(planner, call, queries ? LEAT_VARIADIC : 1 + i, queries ? fresh[i].heads.shape[2] : positions,
                       &fresh[i], to[i], err));
    append->parts[i] = (leati_append_part){
        .fresh = &fresh[i], .to = &to[i]->view, .queries = queries, .rotates = append->cosines != NULL && !values};
    if (given[i] != NULL) {
      leati_view walked;
      LEATI_TRY(leati_plan_walkable(planner, given[i], &walked, err));
      past[i] = as_apart(&walked);
      append->parts[i].past = &past[i];
    }
  }
  return leati_plan_append(planner, append, err);
}

/* ---- Attention of an operator ----------------------------------------------------------------------------------- */

static void fill_mask(const leat_op *op, const leati_view *mask, const operands *in, leati_attention *a) {
  int64_t shape[4], strides[LEAT_MAX_RANK];
  uint32_t at[4];
  const int32_t rank = score_shape(op, mask, in, shape, at);
  leati_broadcast_strides(mask, rank, shape, strides);
  for (int32_t d = 0; d < rank; ++d) {
    a->mask_strides[at[d]] = shape[d] > 1 ? strides[d] : 0;
  }
}

static int32_t attention_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const attention_state *const state = leati_op_state_const(op);
  leati_attention a = {.y.view = call->outputs[0], .cap = state->cap, .causal = state->causal, .before = -1};
  leati_operand *const operand[] = {&a.q, &a.k, &a.v};
  leati_view mask, lengths;
  operands in;
  for (uint32_t i = 0; i < 3; ++i) {
    LEATI_TRY(leati_plan_walkable(planner, &call->inputs[i], &operand[i]->view, err));
  }
  LEATI_TRY(read_operands(op, call, (const leati_view *[]){&a.q.view, &a.k.view, &a.v.view}, &in, err));
  a.q.heads = in.q;
  a.k.heads = in.k;
  a.v.heads = in.v;
  a.offset = in.past;
  a.lengths.most = in.keys;
  a.scale = state->scaled ? state->scale : (float)(1.0 / sqrt((double)in.q.shape[3]));
  leat_shape shape;
  LEATI_TRY(as_result(op, &in, a.q.view.ndim, &a.y.heads, &shape, err));
  if (mask_of(op, call) != NULL) {
    LEATI_TRY(leati_plan_walkable(planner, mask_of(op, call), &mask, err));
    a.mask = &mask;
    fill_mask(op, &mask, &in, &a);
  }
  a.masked_keys = masked_keys(op, a.mask, in.keys);
  if (lengths_of(op, call) != NULL) {
    LEATI_TRY(leati_plan_walkable(planner, lengths_of(op, call), &lengths, err));
    a.lengths.view = &lengths;
    a.ends = true;
  }
  const leati_view *const past_key = past_of(op, call, false), *const past_value = past_of(op, call, true);
  if (past_key != NULL || leati_output(call, 1) != NULL || leati_output(call, 2) != NULL) {
    leati_append append = {.lengths.most = in.keys, .past = in.past};
    LEATI_TRY(leati_attention_append(planner, call, &a, past_key, past_value, in.keys, &append, err));
  }
  return leati_plan_attention(planner, &a, err);
}

/* ---- What is supported ------------------------------------------------------------------------------------------ */

/* check_types() of what is known when a host asks, before there are tensors. */
static int32_t check_given_types(const leati_op_def *def, const leati_op_desc *desc, leat_error *err) {
  const uint32_t mask = places[def->param].mask;
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
  } unknown[] = {{3, "bias"}, {4, "key_padding_mask"}, {8, "past_sequence_length"}, {9, "cache_indirection"}};
  (void)device;
  for (uint32_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]) && def->param == MULTI_HEAD; ++i) {
    LEATI_TRY(refuse_input(def, desc, unknown[i].input, unknown[i].what, err));
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
    memcpy(state->layouts[i], layout != NULL ? layout->string : LEATI_HEADS_APART,
           layout != NULL ? layout->count : LAYOUT_MOST);
  }
  return LEAT_OK;
}

static bool attention_reads_view(const leat_op *op, const leati_call *call, uint32_t i) {
  (void)op;
  return leati_view_walkable(&call->inputs[i]);
}

/* ---- The list --------------------------------------------------------------------------------------------------- */

static const leati_op_def ops[] = {
    LEATI_OP("Attention", "", (23, 24), (3, 7), (1, 3),
             LEATI_TYPES(&type_keys, &type_values, &type_mask, &leati_type_int64),
             LEATI_ATTRIBUTES(&attribute_scale, &attribute_softcap, &attribute_is_causal, &attribute_q_num_heads,
                              &attribute_kv_num_heads, &attribute_softmax_precision, &attribute_qk_matmul_output_mode),
             LEATI_INPUT_TYPES(0, 0, 1, 2, 0, 1, 3), LEATI_OUTPUT_TYPES(0, 0, 1), .state_size = sizeof(attention_state),
             LEATI_KERNELS(LEATI_KERNELS_ATTENTION_64, LEATI_KERNELS_ATTENTION_256, LEATI_KERNELS_APPEND),
             .param = ATTENTION, .supports = attention_supports, .create = attention_create, .infer = attention_infer,
             .plan = attention_plan, .reads_view = attention_reads_view),
    LEATI_OP("MultiHeadAttention", "com.microsoft", (1, 1), (3, 10), (1, 3), LEATI_TYPES(&leati_type_real, &type_int32),
             LEATI_ATTRIBUTES(&attribute_num_heads, &attribute_scale, &attribute_unidirectional,
                              &attribute_mask_filter_value),
             LEATI_INPUT_TYPES(0, 0, 0, 0, 1, 0, 0, 0, 1, 1), .state_size = sizeof(attention_state),
             LEATI_KERNELS(LEATI_KERNELS_ATTENTION_64, LEATI_KERNELS_ATTENTION_256, LEATI_KERNELS_APPEND),
             .param = MULTI_HEAD, .supports = attention_supports, .create = multi_head_create, .infer = attention_infer,
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
