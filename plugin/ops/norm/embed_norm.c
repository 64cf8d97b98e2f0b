/* SPDX-License-Identifier: BSD-3-Clause */
/* EmbedLayerNormalization and QEmbedLayerNormalization: lines of two or three tables that are found by indices, added
 * up, and layer normalisation of the sum. Of floats that is one use of the kernel of norms; bytes that stand for floats
 * are added up by a kernel of their own. */
#include <inttypes.h>

#include "core/status.h"
#include "device/device.h"
#include "ops/core/attribute.h"
#include "ops/core/movement.h"
#include "ops/elementwise/pointwise.h"
#include "ops/norm/norm.h"
#include "ops/norm/row_sharing.h"

static LEATI_TYPE(type_index, "T1", LEAT_TYPE_INT32);
static LEATI_ATTRIBUTE(attribute_mask_index_type, "mask_index_type", INT);

static LEATI_TYPE(type_bytes, "T2", LEATI_TYPES_BYTE);
static LEATI_TYPE(type_float, "T", LEAT_TYPE_FLOAT32);

enum { IDS, SEGMENTS, WORDS, PLACES, KINDS, SCALE, BIAS, MASK, POSITIONS, INPUTS };
/* Of bytes: for the tables, scale and bias in their order, scales and then zero points. */
enum { Q_SCALES = 8, Q_ZEROS = 13, Q_INPUTS = 18, Q_TENSORS = 5 };
/* leati_op_def::required_inputs: all of these tensors but KINDS. */
#define REQUIRED (1u << WORDS | 1u << PLACES | 1u << SCALE | 1u << BIAS)

typedef struct embed_state {
  float epsilon;
} embed_state;

/* The record of kernels/norm.comp with EMBED. */
typedef struct embed_args {
  leati_norm_args norm;
  uint64_t ids, positions, segments;
  uint64_t mask, counts;
  uint32_t words, places, kinds;
  uint32_t sequence, position_count;
} embed_args;

/* The record of kernels/embed_bytes.comp. */
typedef struct bytes_args {
  uint64_t ids, segments;
  uint64_t words, places, kinds;
  uint64_t scales[3], zeros[3];
  uint64_t mask, sums, counts;
  uint32_t rows, columns, sequence;
  uint32_t lines[3];
  uint32_t sign; /* the bit of a byte that counts negative; 0: none */
} bytes_args;

static int32_t fail_shape(const leat_op_info *info, leat_error *err, const char *what) {
  return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: %s", info->name, what);
}

static int32_t embed_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                              leat_error *err) {
  (void)device;
  return leati_is_given(desc, SEGMENTS) == leati_is_given(desc, KINDS)
             ? LEAT_OK
             : fail_shape(&def->info, err, "segment_ids and segment_embedding must both be there, or neither");
}

static int32_t embed_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  ((embed_state *)leati_op_state(op))->epsilon = leati_attr_float(desc, leati_attribute_epsilon.name, 1e-12f);
  return LEAT_OK;
}

/* Whether an input that is there is a table of such lines, or one line. */
static bool is_table(const leati_call *call, uint32_t i, int64_t columns) {
  const leati_view *const table = leati_input(call, i);
  return table == NULL || (table->ndim == 2 && table->shape[1] == columns);
}

static bool is_line(const leati_call *call, uint32_t i, int64_t columns) {
  const leati_view *const line = &call->inputs[i];
  return line->ndim == 1 && line->shape[0] == columns;
}

/* Whether an input that is there has an index for each row; `shared`: or for each of one sequence. */
static bool is_indices(const leati_call *call, uint32_t i, bool shared) {
  const leati_view *const ids = &call->inputs[IDS], *const indices = leati_input(call, i);
  return indices == NULL || (indices->ndim == 2 && indices->shape[1] == ids->shape[1] &&
                             (indices->shape[0] == ids->shape[0] || (shared && indices->shape[0] == 1)));
}

/* What both operators ask; `positions`: the input that says them, if there may be one. */
static int32_t check_shapes(const leat_op *op, const leati_call *call, uint32_t positions, leat_error *err) {
  const leat_op_info *const info = &leati_op_def_of(op)->info;
  const leati_view *const ids = &call->inputs[IDS], *const words = &call->inputs[WORDS];
  if (ids->ndim != 2 || words->ndim != 2) {
    return fail_shape(info, err, "input_ids and word_embedding must have 2 dimensions");
  }
  const int64_t columns = words->shape[1], rows = ids->shape[0] * ids->shape[1];
  if (!is_table(call, PLACES, columns) || !is_table(call, KINDS, columns) || !is_line(call, SCALE, columns) ||
      !is_line(call, BIAS, columns)) {
    return fail_shape(info, err, "embeddings, gamma and beta must have lines as long as those of word_embedding");
  }
  if (!is_indices(call, SEGMENTS, false) || !is_indices(call, MASK, false) ||
      (positions != 0 && !is_indices(call, positions, true))) {
    return fail_shape(info, err, "segment_ids, mask and position_ids must have the shape of input_ids");
  }
  if (ids->shape[1] == 0) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s of empty sequences is not supported", info->name);
  }
  LEATI_TRY(leati_check_rounds(leati_op_device(op), (uint64_t)ids->shape[1], info->name, err));
  return leati_op_check_row_rounds(op, true, rows, columns, err);
}

static void set_shapes(const leati_call *call, uint64_t type, leat_shape *out) {
  const leati_view *const ids = &call->inputs[IDS];
  for (uint32_t o = 0; o < call->output_count; ++o) {
    const bool counts = o == 1;
    out[o] = (leat_shape){.struct_size = out[o].struct_size,
                          .dtype = leati_dtype_of(counts ? LEAT_TYPE_INT32 : type),
                          .ndim = counts ? 1 : 3,
                          .dims = {ids->shape[0], ids->shape[1], call->inputs[WORDS].shape[1]}};
  }
}

static int32_t embed_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  LEATI_TRY(check_shapes(op, call, POSITIONS, err));
  set_shapes(call, call->inputs[WORDS].type, out);
  return LEAT_OK;
}

static uint32_t lines_of(const leati_view *table) {
  return table->present ? (uint32_t)table->shape[0] : 0;
}

static int32_t embed_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const embed_state *const state = leati_op_state_const(op);
  const leati_view *const y = &call->outputs[0], *const counts = leati_output(call, 1),
                          *const sum = leati_output(call, 2);
  leati_view views[INPUTS] = {{.present = false}};
  LEATI_TRY(leati_check_rows_size(y, err));
  for (uint32_t i = 0; i < INPUTS; ++i) {
    if (leati_input(call, i) != NULL) {
      LEATI_TRY(leati_check_reach(&call->inputs[i], "EmbedLayerNormalization", err));
      LEATI_TRY(leati_plan_compact(planner, &call->inputs[i], &views[i], err));
    }
  }
  const int64_t rows = (int64_t)views[IDS].count, columns = views[WORDS].shape[1];
  if (rows == 0) {
    return LEAT_OK;
  }
  const leati_row_sharing share =
      leati_row_sharing_of(planner->device, true, (uint64_t)rows, columns == 0 ? 1 : (uint64_t)columns);
  const leati_view *const fours[] = {
      &views[WORDS], &views[PLACES], views[KINDS].present ? &views[KINDS] : NULL, &views[SCALE], &views[BIAS], y, sum};
  const embed_args args = {.norm = {.rows = (uint32_t)rows,
                                    .count = (uint32_t)columns,
                                    .epsilon = state->epsilon,
                                    .period = 1,
                                    .step = (uint32_t)columns,
                                    .spread = 1,
                                    .skip_rows = 1},
                           .words = lines_of(&views[WORDS]),
                           .places = lines_of(&views[PLACES]),
                           .kinds = lines_of(&views[KINDS]),
                           .sequence = (uint32_t)views[IDS].shape[1],
                           .position_count = (uint32_t)views[POSITIONS].count};
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_row_kernel(planner->device, LEATI_KERNELS_EMBED_NORM,
                                              LEATI_KERNELS_EMBED_NORM_SHUFFLED, y->type),
                   .constants.norm = {.rows_spec = share.spec,
                                      .group = share.group,
                                      .held = share.held,
                                      .quads = leati_rows_in_fours(columns, fours, 7),
                                      .skip = 1}},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({&views[IDS], &args.ids}, {&views[SEGMENTS], &args.segments}, {&views[WORDS], &args.norm.x},
                  {&views[PLACES], &args.norm.skip}, {&views[KINDS], &args.norm.addend},
                  {&views[SCALE], &args.norm.scale}, {&views[BIAS], &args.norm.bias}, {&views[MASK], &args.mask},
                  {&views[POSITIONS], &args.positions}),
      LEATI_WRITES({y, &args.norm.y}, {counts, &args.counts}, {sum, &args.norm.total})};
  leati_groups_linear(planner->device, (uint64_t)rows, share.per_group, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

/* ---- Of bytes ---------------------------------------------------------------------------------------------------- */

static int32_t bytes_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                              leat_error *err) {
  LEATI_TRY(embed_supports(def, device, desc, err));
  const uint32_t k = KINDS - WORDS;
  const bool wanted = leati_is_given(desc, KINDS);
  return leati_is_given(desc, Q_SCALES + k) == wanted && leati_is_given(desc, Q_ZEROS + k) == wanted
             ? LEAT_OK
             : fail_shape(&def->info, err, "segment_embedding and its scale and zero point must all be there, or none");
}

static int32_t bytes_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  LEATI_TRY(check_shapes(op, call, 0, err));
  for (uint32_t k = 0; k < Q_TENSORS; ++k) {
    const leati_view *const scale = leati_input(call, Q_SCALES + k), *const zero = leati_input(call, Q_ZEROS + k);
    if (scale != NULL && (scale->count != 1 || scale->ndim > 1 || zero->count != 1 || zero->ndim > 1)) {
      return fail_shape(&leati_op_def_of(op)->info, err, "each scale and each zero point must have one element");
    }
  }
  set_shapes(call, LEAT_TYPE_FLOAT32, out);
  return LEAT_OK;
}

/* Plans the sums of the lines, and the counts of the mask, both of them by rows. */
static int32_t plan_sums(leati_planner *planner, const leati_call *call, const leati_view views[Q_INPUTS],
                         const leati_view *sums, leat_error *err) {
  const leati_view *const s = &views[Q_SCALES], *const z = &views[Q_ZEROS];
  const bytes_args args = {.rows = (uint32_t)views[IDS].count,
                           .columns = (uint32_t)views[WORDS].shape[1],
                           .sequence = (uint32_t)views[IDS].shape[1],
                           .lines = {lines_of(&views[WORDS]), lines_of(&views[PLACES]), lines_of(&views[KINDS])},
                           .sign = views[WORDS].type == LEAT_TYPE_INT8 ? 0x80u : 0};
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = LEATI_KERNEL_EMBED_BYTES},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({&views[IDS], &args.ids}, {&views[SEGMENTS], &args.segments}, {&views[WORDS], &args.words},
                  {&views[PLACES], &args.places}, {&views[KINDS], &args.kinds}, {&s[0], &args.scales[0]},
                  {&s[1], &args.scales[1]}, {&s[2], &args.scales[2]}, {&z[0], &args.zeros[0]}, {&z[1], &args.zeros[1]},
                  {&z[2], &args.zeros[2]}, {&views[MASK], &args.mask}),
      LEATI_WRITES({sums, &args.sums}, {leati_output(call, 1), &args.counts})};
  leati_groups_linear(planner->device, args.rows, 1, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

/* Plans the floats of a line of bytes, the tensor number `k` that has a scale. */
static int32_t plan_line(leati_planner *planner, const leati_call *call, uint32_t k, leati_view *out, leat_error *err) {
  const leati_function identity = {.operation = LEAT_EW_IDENTITY};
  const leati_view *const line = &call->inputs[WORDS + k];
  const leati_scaled from = {.view = *line, .scale = &call->inputs[Q_SCALES + k], .zero = &call->inputs[Q_ZEROS + k]};
  *out = (leati_view){.type = LEAT_TYPE_FLOAT32, .ndim = 1, .shape = {line->shape[0]}};
  LEATI_TRY(leati_plan_temporary(planner, out, err));
  const leati_scaled to = {.view = *out};
  return leati_plan_scaled(planner, &identity, &from, 1, &to, err);
}

static int32_t bytes_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const embed_state *const state = leati_op_state_const(op);
  const leati_view *const y = &call->outputs[0];
  leati_view views[Q_INPUTS] = {{.present = false}}, sums, scale, bias;
  LEATI_TRY(leati_check_rows_size(y, err));
  for (uint32_t i = 0; i < Q_INPUTS; ++i) {
    if (i != SCALE && i != BIAS && leati_input(call, i) != NULL) {
      LEATI_TRY(leati_check_reach(&call->inputs[i], leati_op_def_of(op)->info.name, err));
      LEATI_TRY(leati_plan_compact(planner, &call->inputs[i], &views[i], err));
    }
  }
  if (views[IDS].count == 0) {
    return LEAT_OK;
  }
  sums = *y;
  LEATI_TRY(leati_plan_temporary(planner, &sums, err));
  LEATI_TRY(plan_sums(planner, call, views, &sums, err));
  if (y->count == 0) {
    return LEAT_OK;
  }
  LEATI_TRY(plan_line(planner, call, SCALE - WORDS, &scale, err));
  LEATI_TRY(plan_line(planner, call, BIAS - WORDS, &bias, err));
  leati_norm_job job = {.x = &sums,
                        .scale = &scale,
                        .bias = &bias,
                        .y = y,
                        .args = {.rows = (uint32_t)views[IDS].count,
                                 .count = (uint32_t)views[WORDS].shape[1],
                                 .epsilon = state->epsilon,
                                 .period = 1,
                                 .step = (uint32_t)views[WORDS].shape[1],
                                 .spread = 1,
                                 .skip_rows = 1}};
  return leati_plan_norm(planner, &job, err);
}

static const leati_op_def ops[] = {
    LEATI_OP("EmbedLayerNormalization", "com.microsoft", (1, 1), (1, INPUTS), (1, 3),
             LEATI_TYPES(&leati_type_real, &type_index),
             LEATI_ATTRIBUTES(&leati_attribute_epsilon, &attribute_mask_index_type), .required_inputs = REQUIRED,
             LEATI_INPUT_TYPES(1, 1, 0, 0, 0, 0, 0, 1, 1), LEATI_OUTPUT_TYPES(0, 1, 0),
             .state_size = sizeof(embed_state), .supports = embed_supports, .create = embed_create,
             .infer = embed_infer, LEATI_KERNELS(LEATI_KERNELS_EMBED_NORM), .plan = embed_plan),
    LEATI_OP("QEmbedLayerNormalization", "com.microsoft", (1, 1), (1, Q_INPUTS), (1, 2),
             LEATI_TYPES(&type_index, &type_bytes, &type_float), LEATI_ATTRIBUTES(&leati_attribute_epsilon),
             .required_inputs = REQUIRED | REQUIRED << (Q_SCALES - WORDS) | REQUIRED << (Q_ZEROS - WORDS),
             LEATI_INPUT_TYPES(0, 0, 1, 1, 1, 1, 1, 0, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1), LEATI_OUTPUT_TYPES(2, 0),
             .state_size = sizeof(embed_state), .supports = bytes_supports, .create = embed_create,
             .infer = bytes_infer, LEATI_KERNELS(LEATI_KERNELS_NORM), .plan = bytes_plan),
};

const leati_op_family leati_embed_norm_family = LEATI_FAMILY(ops);
