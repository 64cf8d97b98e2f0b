/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/attention/attention_plan.h"

#include <string.h>

#include "core/status.h"
#include "device/device.h"
#include "ops/attention/attention_few.h"
#include "ops/attention/attention_scores.h"
#include "ops/attention/kernels/attention_codes.glsl"
#include "ops/core/matrix_view.h"
#include "policy/tiling.h"

/* What kernels/attention.comp is written for. */
#define CHUNK_LEAST 8
#define CHUNK_MOST 16
/* Elements that a workgroup puts aside where keys are split. */
#define PIECES_OF(rows_each, head) (4 * LEAT_ATTENTION_SLICE(rows_each) * LEAT_ATTENTION_PIECE(rows_each, head))
/* What kernels/attention_matrix.comp is written for. */
#define MATRIX_HEAD_MOST 128
_Static_assert(LEAT_ATTENTION_MATRIX_SUBGROUPS == LEATI_MATRIX_SUBGROUPS,
               "kernels/attention_matrix.comp has room for as many subgroups as there may be");

int32_t leati_attention_check_rounds(const leat_op *op, int64_t keys, int64_t depth, int64_t width, leat_error *err) {
  /* A tile of keys takes a round for each four of its keys and of the elements of a head, and some more. */
  const uint64_t tiles = ((uint64_t)keys + LEAT_ATTENTION_KEYS - 1) / LEAT_ATTENTION_KEYS;
  return leati_check_rounds(leati_op_device(op), tiles * (uint64_t)(depth / 4 + width / 8 + 24),
                            leati_op_def_of(op)->info.name, err);
}

/* ---- One dispatch --------------------------------------------------------------------------------------------- */

enum { Q, K, V, Y, OPERANDS };

/* Whether the kernel for small heads has room for those of queries and keys, and of values. */
static bool is_small(int64_t depth, int64_t width) {
  return depth <= LEAT_ATTENTION_SMALL && width <= LEAT_ATTENTION_SMALL;
}

/* Fours of a chunk of heads of so many elements. */
static uint32_t chunk_of(int64_t size) {
  return size <= CHUNK_LEAST * 4 ? CHUNK_LEAST : CHUNK_MOST;
}

/* Queries, keys, values and the result as a plan has them. */
typedef struct tensors {
  const leati_operand *of[OPERANDS];
  const int32_t *strides[OPERANDS];
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

/* The kernel for matrix hardware that has such matrices; one that keeps scores in registers where there is such. */
static leati_kernel find_matrix_kernel(const leat_device *device, leati_matrix_shape matrix, bool small,
                                       uint64_t type) {
  static const leati_kernel_set kernels[][2] = {
      {LEATI_KERNELS_ATTENTION_MATRIX_128, LEATI_KERNELS_ATTENTION_MATRIX_64},
      {LEATI_KERNELS_ATTENTION_MATRIX2_128, LEATI_KERNELS_ATTENTION_MATRIX2_64}};
  const bool holds = device->matrix2 && matrix.n == matrix.k;
  const leati_kernel held = holds ? leati_kernel_find(kernels[1][small], type) : LEATI_KERNEL_NONE;
  return held != LEATI_KERNEL_NONE ? held : leati_kernel_find(kernels[0][small], type);
}

/* The kernel, how many queries a workgroup of it has, and how many workgroups share keys. */
static leati_pipeline_key choose_kernel(const leat_device *device, const tensors *all, const leati_attention *a,
                                        uint32_t *out_rows, uint32_t *out_splits) {
  const uint64_t type = all->of[Y]->view.type;
  const bool capped = a->cap > 0;
  const int64_t depth = all->of[Q]->heads.shape[3], width = all->of[V]->heads.shape[3];
  const int64_t larger = depth > width ? depth : width;
  const bool small = is_small(depth, width);
  const leati_matrix_shape matrix = leati_device_matrix(device, type);
  const leati_kernel by_matrices = find_matrix_kernel(device, matrix, small, type);
  const leati_heads *const queries = &all->of[Q]->heads;
  *out_splits = splits_of(device, queries, all->of[K]->heads.shape[2]);
  /* With few queries matrices are mostly empty, and none of their workgroups share keys. */
  const bool shares = *out_splits > 1 && queries->shape[2] <= LEAT_ATTENTION_ROWS;
  if (!shares && matrix.m != 0 && by_matrices != LEATI_KERNEL_NONE && larger <= MATRIX_HEAD_MOST &&
      all->of[K]->heads.shape[2] >= device->traits.tuning.attention_matrix_keys) {
    const uint32_t subgroup = device->physical->subgroup_size;
    uint32_t wide = in_groups(all, Y, 4) ? LEAT_ATTENTION_Y : 0;
    for (uint32_t i = Q; i <= V; ++i) {
      wide |= in_groups(all, i, 8) ? 1u << i : 0;
    }
    const int64_t *const q = queries->shape;
    const uint32_t subgroups =
        leati_attention_subgroups(&device->traits, (uint64_t)(q[0] * q[1]), (uint32_t)q[2], matrix.m);
    *out_rows = matrix.m * subgroups;
    *out_splits = 1;
    return (leati_pipeline_key){.kernel = by_matrices,
                                .constants.attention_matrix = {.wide = wide,
                                                               .depth = in_steps(depth),
                                                               .width = in_steps(width),
                                                               .masked = a->mask != NULL,
                                                               .capped = capped,
                                                               .subgroup_size = subgroup,
                                                               .matrix_m = matrix.m,
                                                               .matrix_n = matrix.n,
                                                               .matrix_k = matrix.k,
                                                               .threads = subgroup * subgroups,
                                                               .zeroed = a->zeroed}};
  }
  *out_rows = LEAT_ATTENTION_ROWS;
  return (leati_pipeline_key){
      .kernel = leati_kernel_find(small ? LEATI_KERNELS_ATTENTION_64 : LEATI_KERNELS_ATTENTION_256, type),
      .constants.attention = {.quads = in_groups_all(all, 4),
                              .depth_chunk = small ? chunk_of(depth) : CHUNK_MOST,
                              .width_chunk = small ? chunk_of(width) : CHUNK_MOST,
                              .split = *out_splits > 1,
                              .capped = capped,
                              .zeroed = a->zeroed}};
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
  if (a->scores != NULL) {
    LEATI_TRY(leati_plan_attention_scores(planner, a, err));
  }
  if (leati_attention_few_fits(planner->device, a, NULL)) {
    return leati_plan_attention_few(planner, a, NULL, err);
  }
  const int64_t shared = a->q.heads.shape[1] / a->k.heads.shape[1];
  const bool joined = a->q.heads.shape[2] == 1 && shared > 1;
  if (joined) {
    join_heads(&a->q.heads, shared);
    join_heads(&a->y.heads, shared);
    a->mask_strides[2] = a->mask_strides[1];
    a->mask_strides[1] *= shared;
    a->sink_strides[1] = a->sink_strides[0];
    a->sink_strides[0] *= shared;
  }
  const int64_t *const q = a->q.heads.shape;
  leati_attention_args args = leati_attention_fill(a);
  if (joined) {
    args.fresh = 1;
    args.step = 0;
  }
  const tensors all = {{&a->q, &a->k, &a->v, &a->y}, {args.q_strides, args.k_strides, args.v_strides, args.y_strides}};
  leati_view pieces = {.type = LEAT_TYPE_FLOAT32, .ndim = 1};
  uint32_t rows;
  leati_dispatch_desc dispatch = {
      .pipeline = choose_kernel(planner->device, &all, a, &rows, &args.splits),
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({&a->q.view, &args.q}, {&a->k.view, &args.k}, {&a->v.view, &args.v}, {a->mask, &args.mask},
                  {a->lengths.view, &args.lengths.at}, {leati_attention_sinks(a), &args.sinks}),
      LEATI_WRITES({&a->y.view, &args.y}, {&pieces, &args.pieces}),
      .multiplications = (a->q.view.count + a->y.view.count) * (uint64_t)a->k.heads.shape[2]};
  args.blocks = ((uint32_t)q[2] + rows - 1) / rows;
  args.groups = (uint32_t)(q[0] * q[1]) * args.blocks;
  if (args.splits > 1) {
    const int64_t piece = is_small(args.depth, args.width)
                              ? PIECES_OF(LEAT_ATTENTION_SMALL_ROWS_EACH, LEAT_ATTENTION_SMALL)
                              : PIECES_OF(1, LEATI_HEAD_MOST);
    dispatch.counter_count = args.groups;
    dispatch.counters = &args.counters;
    args.groups *= args.splits;
    pieces.shape[0] = args.groups * piece;
    LEATI_TRY(leati_plan_temporary(planner, &pieces, err));
  }
  leati_attention_fill_dividers(&args);
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

/* Makes what nobody wants a temporary, of so many positions of the heads of an operand. */
static int32_t place(leati_planner *planner, const leati_view *wanted, int64_t positions, const leati_operand *like,
                     leati_operand *out, leat_error *err) {
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

/* Whether a part is anything else than what is new of it. */
static bool changes(const leati_append_part *part) {
  return part->past != NULL || part->to != NULL || part->rotates || part->bias != NULL;
}

/* Plans the results that somebody wants, if earlier positions are of other batches, which theirs are not: attention
 * goes on from temporaries then. */
static int32_t plan_present(leati_planner *planner, leati_append *append, leat_error *err) {
  leati_append wanted = *append;
  wanted.origins = NULL;
  wanted.count = 0;
  for (uint32_t i = 0; i < LEATI_APPEND_PARTS; ++i) {
    if (append->parts[i].to != NULL) {
      wanted.parts[wanted.count++] = append->parts[i];
      append->parts[i].to = NULL;
    }
  }
  return wanted.count > 0 ? leati_plan_append(planner, &wanted, err) : LEAT_OK;
}

/* Plans codes of keys and values; attention goes on from what they stand for. */
static int32_t plan_codes(leati_planner *planner, leati_attention *attention, const leati_past *past, int64_t positions,
                          const leati_lengths *lengths, leat_error *err) {
  const leati_view *const given[] = {past->keys, past->values};
  const leati_view *const wanted[] = {past->to_keys, past->to_values};
  const leati_operand fresh[] = {attention->k, attention->v};
  leati_operand *const to[] = {&attention->k, &attention->v};
  leati_kv_codes_part parts[2];
  leati_view walked[2];
  for (uint32_t i = 0; i < 2; ++i) {
    LEATI_TRY(leati_plan_walkable(planner, given[i], &walked[i], err));
    LEATI_TRY(place(planner, NULL, positions, &fresh[i], to[i], err));
    parts[i] = (leati_kv_codes_part){.past = &walked[i], .fresh = &fresh[i], .to = wanted[i], .values = &to[i]->view};
  }
  return leati_plan_kv_codes(planner, past->code, parts, lengths, err);
}

int32_t leati_plan_attention_behind(leati_planner *planner, leati_attention *attention, const leati_past *past,
                                    int64_t positions, leati_append *append, leat_error *err) {
  const leati_view *const given[] = {past->keys, past->values, NULL};
  const leati_view *const wanted[] = {past->to_keys, past->to_values, NULL};
  const leati_operand fresh[] = {attention->k, attention->v, attention->q};
  leati_operand *const to[] = {&attention->k, &attention->v, &attention->q};
  const bool rotates = append->rotation.cosines != NULL, coded = past->code != NULL;
  leati_operand earlier[2];
  bool biased = false;
  for (uint32_t i = 0; i < LEATI_APPEND_PARTS; ++i) {
    const bool queries = to[i] == &attention->q, values = to[i] == &attention->v;
    append->parts[i] = (leati_append_part){.fresh = &fresh[i],
                                           .to = coded ? NULL : wanted[i],
                                           .alone = queries || coded,
                                           .rotates = rotates && !values,
                                           .bias = append->parts[i].bias};
    biased = biased || append->parts[i].bias != NULL;
    if (given[i] != NULL && !coded) {
      leati_view walked;
      LEATI_TRY(leati_plan_walkable(planner, given[i], &walked, err));
      earlier[i] = as_apart(&walked);
      append->parts[i].past = &earlier[i];
    }
  }
  /* Scores need all keys, and queries that are rotated, in memory. */
  if (!biased && !coded && append->origins == NULL && attention->scores == NULL &&
      leati_attention_few_fits(planner->device, attention, append)) {
    return leati_plan_attention_few(planner, attention, append, err);
  }
  if (append->origins != NULL) {
    LEATI_TRY(plan_present(planner, append, err));
  }
  append->count = 0;
  for (uint32_t i = 0; i < LEATI_APPEND_PARTS; ++i) {
    if (changes(&append->parts[i])) {
      leati_append_part *const part = &append->parts[append->count];
      *part = append->parts[i];
      LEATI_TRY(place(planner, part->to, part->alone ? fresh[i].heads.shape[2] : positions, &fresh[i], to[i], err));
      part->to = &to[i]->view;
      ++append->count;
    }
  }
  if (append->count > 0) {
    LEATI_TRY(leati_plan_append(planner, append, err));
  }
  if (coded) {
    LEATI_TRY(plan_codes(planner, attention, past, positions, &append->lengths, err));
  }
  return leati_plan_attention(planner, attention, err);
}
