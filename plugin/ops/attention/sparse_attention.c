/* SPDX-License-Identifier: BSD-3-Clause */
/* com.microsoft's SparseAttention: GroupQueryAttention whose queries have some blocks of the keys before them. */
#include <inttypes.h>

#include "core/status.h"
#include "ops/attention/attention_plan.h"
#include "ops/attention/group_query.h"
#include "ops/core/attribute.h"
#include "ops/core/matrix_view.h"
#include "ops/core/movement.h"

static LEATI_ATTRIBUTE(attribute_num_heads, "num_heads", INT);
static LEATI_ATTRIBUTE(attribute_kv_num_heads, "kv_num_heads", INT);
static LEATI_ATTRIBUTE(attribute_scale, "scale", FLOAT);
static LEATI_ATTRIBUTE(attribute_do_rotary, "do_rotary", INT);
static LEATI_ATTRIBUTE(attribute_rotary_interleaved, "rotary_interleaved", INT);
static LEATI_ATTRIBUTE(attribute_sparse_block_size, "sparse_block_size", INT);
static LEATI_TYPE(type_numbers, "M", LEAT_TYPE_INT32);

enum { QUERY, KEY, VALUE, PAST_KEY, PAST_VALUE, BLOCK_ROWS, BLOCK_COLUMNS, TOTAL, LENGTHS, COSINES, SINES, INPUTS };

/* Keys that a thread of kernels/block_mask.comp has, all of one block. */
#define TOGETHER 4

typedef struct sparse_state {
  leati_group_query_state group;
  int64_t block; /* positions of a block */
} sparse_state;

/* Argument record of kernels/block_mask.comp. */
typedef struct mask_args {
  uint64_t rows, columns, y;
  leati_lengths_args lengths;
  int32_t row_strides[2], column_strides[2];
  uint32_t count, words;
  uint32_t queries, heads, layouts;
  uint32_t block;
  int32_t blocks, entries;
  uint32_t first;
} mask_args;

/* The call as one of GroupQueryAttention. */
static leati_call as_group(const leati_call *call, leati_view views[LEATI_GROUP_QUERY_INPUTS]) {
  static const uint32_t from[LEATI_GROUP_QUERY_INPUTS] = {QUERY,   KEY,   VALUE,   PAST_KEY, PAST_VALUE,
                                                          LENGTHS, TOTAL, COSINES, SINES};
  for (uint32_t i = 0; i < LEATI_GROUP_QUERY_INPUTS; ++i) {
    const leati_view *const input = leati_input(call, from[i]);
    views[i] = input != NULL ? *input : (leati_view){.present = false};
  }
  return (leati_call){.input_count = LEATI_GROUP_QUERY_INPUTS,
                      .output_count = call->output_count,
                      .inputs = views,
                      .outputs = call->outputs};
}

/* Positions that there are blocks for. */
static int64_t positions_of(const sparse_state *state, const leati_call *call) {
  return (call->inputs[BLOCK_ROWS].shape[1] - 1) * state->block;
}

static int32_t sparse_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const sparse_state *const state = leati_op_state_const(op);
  const leati_view *const rows = &call->inputs[BLOCK_ROWS], *const columns = &call->inputs[BLOCK_COLUMNS];
  leati_view views[LEATI_GROUP_QUERY_INPUTS];
  const leati_call group = as_group(call, views);
  LEATI_TRY(leati_group_query_infer(op, &group, out, err));
  if (rows->ndim != 2 || columns->ndim != 2 || rows->shape[0] < 1 || state->group.heads % rows->shape[0] != 0 ||
      rows->shape[1] < 2 || columns->shape[0] != rows->shape[0]) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "SparseAttention: block_row_indices and block_col_indices need 2 dimensions each, the first one "
                      "alike and a divisor of num_heads, %" PRId64 ", and rows of 2 numbers and more",
                      state->group.heads);
  }
  const int64_t total = leati_host_int(&call->inputs[TOTAL], 0), room = call->inputs[PAST_KEY].shape[2];
  if (total > room || total > positions_of(state, call)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "SparseAttention: total_sequence_length is %" PRId64 "; the caches have room for %" PRId64
                      " positions, and there are blocks for %" PRId64,
                      total, room, positions_of(state, call));
  }
  return leati_check_rounds(leati_op_device(op), (uint64_t)rows->shape[1] * TOGETHER, "SparseAttention", err);
}

/* Plans which keys each query has by its blocks: bool, of batches or 1, heads or 1, queries and keys. Of the first
 * positions all batches have the same. */
static int32_t plan_mask(const leat_op *op, leati_planner *planner, const leati_call *call, leati_view *out,
                         leat_error *err) {
  const sparse_state *const state = leati_op_state_const(op);
  const int64_t *const query = call->inputs[QUERY].shape;
  const int64_t fresh = query[1], room = call->inputs[PAST_KEY].shape[2];
  const bool first = leati_host_int(&call->inputs[TOTAL], 0) == fresh;
  leati_view rows, columns, lengths;
  LEATI_TRY(leati_plan_walkable(planner, &call->inputs[BLOCK_ROWS], &rows, err));
  LEATI_TRY(leati_plan_walkable(planner, &call->inputs[BLOCK_COLUMNS], &columns, err));
  LEATI_TRY(leati_plan_walkable(planner, &call->inputs[LENGTHS], &lengths, err));
  const int64_t words = ((first ? fresh : room) + TOGETHER - 1) / TOGETHER;
  *out = (leati_view){
      .type = LEAT_TYPE_BOOL,
      .ndim = 4,
      .shape = {first ? 1 : query[0], rows.shape[0] > 1 ? state->group.heads : 1, fresh, words * TOGETHER}};
  LEATI_TRY(leati_plan_temporary(planner, out, err));
  LEATI_TRY(leati_check_reach(out, "a mask of scores", err));
  if (out->count == 0) {
    return LEAT_OK;
  }
  const leati_lengths counted = {.view = &lengths, .least = fresh, .most = room};
  mask_args args = {.lengths = leati_lengths_fill(&counted),
                    .count = (uint32_t)(out->count / TOGETHER),
                    .words = (uint32_t)words,
                    .queries = (uint32_t)fresh,
                    .heads = (uint32_t)out->shape[1],
                    .layouts = (uint32_t)rows.shape[0],
                    .block = (uint32_t)state->block,
                    .blocks = (int32_t)(rows.shape[1] - 1),
                    .entries = (int32_t)columns.shape[1],
                    .first = first};
  for (uint32_t d = 0; d < 2; ++d) {
    args.row_strides[d] = (int32_t)rows.strides[d];
    args.column_strides[d] = (int32_t)columns.strides[d];
  }
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find_item(LEATI_KERNELS_BLOCK_MASK, 4)},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({&rows, &args.rows}, {&columns, &args.columns}, {&lengths, &args.lengths.at}),
      LEATI_WRITES({out, &args.y})};
  leati_groups_linear(planner->device, args.count, LEATI_ITEMS_PER_GROUP, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

static int32_t sparse_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  leati_view views[LEATI_GROUP_QUERY_INPUTS], mask;
  const leati_call group = as_group(call, views);
  LEATI_TRY(plan_mask(op, planner, call, &mask, err));
  return leati_group_query_attend(op, planner, &group, &mask, err);
}

static int32_t sparse_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                               leat_error *err) {
  (void)device;
  const int64_t block = leati_attr_int(desc, "sparse_block_size", 0);
  if (block != 16 && block != 32 && block != 64 && block != 128) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: sparse_block_size is %" PRId64 "; it is 16, 32, 64 or 128",
                      def->info.name, block);
  }
  return leati_group_query_check_heads(def->info.name, desc, err);
}

static int32_t sparse_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  sparse_state *const state = leati_op_state(op);
  *state = (sparse_state){.group = {.heads = leati_attr_int(desc, "num_heads", 0),
                                    .kv_heads = leati_attr_int(desc, "kv_num_heads", 0),
                                    .scale = leati_attr_float(desc, "scale", 0.0f),
                                    .window = -1,
                                    .causal = true,
                                    .rotates = leati_attr_int(desc, "do_rotary", 0) != 0,
                                    .interleaved = leati_attr_int(desc, "rotary_interleaved", 0) != 0},
                          .block = leati_attr_int(desc, "sparse_block_size", 0)};
  return LEAT_OK;
}

static bool sparse_host_range(const leat_op *op, const leati_call *call, uint32_t i, int64_t *out_least,
                              int64_t *out_most) {
  leati_view views[LEATI_GROUP_QUERY_INPUTS];
  const leati_call group = as_group(call, views);
  if (i != TOTAL || !leati_group_query_host_range(op, &group, LEATI_GROUP_QUERY_TOTAL, out_least, out_most)) {
    return false;
  }
  const int64_t positions = positions_of(leati_op_state_const(op), call);
  *out_most = *out_most < positions ? *out_most : positions;
  return true;
}

static bool sparse_reads_view(const leat_op *op, const leati_call *call, uint32_t i) {
  (void)op;
  return leati_view_walkable(&call->inputs[i]);
}

/* ---- The list --------------------------------------------------------------------------------------------------- */

static const leati_op_def ops[] = {
    LEATI_OP("SparseAttention", "com.microsoft", (1, 1), (1, INPUTS), (1, 3),
             .info.flags = LEAT_OP_CACHES | LEAT_OP_HEAVY, .info.host_inputs = 1u << TOTAL,
             LEATI_TYPES(&leati_type_real, &type_numbers),
             LEATI_ATTRIBUTES(&attribute_num_heads, &attribute_kv_num_heads, &attribute_scale, &attribute_do_rotary,
                              &attribute_rotary_interleaved, &attribute_sparse_block_size),
             .required_inputs = 1u << PAST_KEY | 1u << PAST_VALUE | 1u << BLOCK_ROWS | 1u << BLOCK_COLUMNS |
                                1u << TOTAL | 1u << LENGTHS,
             LEATI_INPUT_TYPES(0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0), .state_size = sizeof(sparse_state),
             LEATI_KERNELS(LEATI_KERNELS_ATTENTION_64, LEATI_KERNELS_ATTENTION_256, LEATI_KERNELS_APPEND,
                           LEATI_KERNELS_BLOCK_MASK),
             .supports = sparse_supports, .create = sparse_create, .infer = sparse_infer, .plan = sparse_plan,
             .host_range = sparse_host_range, .reads_view = sparse_reads_view),
};

const leati_op_family leati_sparse_attention_family = LEATI_FAMILY(ops);
