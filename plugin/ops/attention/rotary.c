/* SPDX-License-Identifier: BSD-3-Clause */
/* RotaryEmbedding, ONNX's and com.microsoft's, and as it is written out. */
#include <inttypes.h>
#include <string.h>

#include "core/status.h"
#include "ops/attention/kv_cache.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/core/divider.h"
#include "ops/core/matrix_view.h"
#include "ops/core/movement.h"

static LEATI_TYPE(type_positions, "M", LEAT_TYPE_INT64);
static LEATI_ATTRIBUTE(attribute_interleaved, "interleaved", INT);
static LEATI_ATTRIBUTE(attribute_is_packed_batching, "is_packed_batching", INT);
static LEATI_ATTRIBUTE(attribute_num_heads, "num_heads", INT);
static LEATI_ATTRIBUTE(attribute_rotary_embedding_dim, "rotary_embedding_dim", INT);
static LEATI_ATTRIBUTE(attribute_scale, "scale", FLOAT);

/* Which inputs those of an operator are. */
typedef struct rotary_inputs {
  uint8_t cosines, sines, positions;
} rotary_inputs;
enum { ONNX, MICROSOFT };
static const rotary_inputs inputs_of[] = {[ONNX] = {1, 2, 3}, [MICROSOFT] = {2, 3, 1}};

/* Argument record of kernels/rotary.comp. */
typedef struct rotary_args {
  uint64_t x, y;
  leati_rotation_args rotation;
  int32_t strides[4];
  int32_t cosine_batch, sine_batch;
  uint32_t count;
  uint32_t together;
  uint32_t size, inner, outer;
  leati_divider per_size, per_inner, per_outer;
} rotary_args;

typedef struct rotary_state {
  int64_t heads;  /* 0: the shapes tell */
  int64_t turned; /* elements of a head; 0: all */
  bool interleaved;
} rotary_state;

/* The arguments of a call. */
typedef struct rotary {
  const leati_view *x, *cosines, *sines, *positions; /* the last NULL: each batch has angles of its own */
  leati_heads heads;
} rotary;

static int32_t rotary_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  const char *const name = leati_op_def_of(op)->info.name;
  rotary_state *const state = leati_op_state(op);
  *state = (rotary_state){.heads = leati_attr_int(desc, "num_heads", 0),
                          .turned = leati_attr_int(desc, "rotary_embedding_dim", 0),
                          .interleaved = leati_attr_int(desc, "interleaved", 0) != 0};
  return state->heads >= 0 && state->turned >= 0 && state->turned % 2 == 0
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                          "%s: num_heads is %" PRId64 " and rotary_embedding_dim %" PRId64
                          "; neither may be negative, and the second is even",
                          name, state->heads, state->turned);
}

/* Fails unless there are angles for each position, and a position for each row where numbers say so. */
static int32_t check_angles(const leat_op *op, const rotary *in, leat_error *err) {
  const char *const name = leati_op_def_of(op)->info.name;
  const rotary_state *const state = leati_op_state_const(op);
  const int64_t batches = in->heads.shape[0], rows = in->heads.shape[2], size = in->heads.shape[3];
  const int64_t turned = state->turned != 0 ? state->turned : size, pairs = turned / 2;
  const int64_t *const shape = in->cosines->shape;
  if (turned > size || turned % 2 != 0) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: rotary_embedding_dim %" PRId64 " must be even and at most the head size %" PRId64, name,
                      turned, size);
  }
  if (in->positions == NULL
          ? in->cosines->ndim != 3 || shape[0] != batches || shape[1] != rows || shape[2] != pairs
          : in->cosines->ndim != 2 || shape[0] < (in->positions->count == 1 ? rows : 1) || shape[1] != pairs) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: cos_cache needs %s, with %" PRId64 " pairs of elements for %" PRId64 " batches of %" PRId64
                      " positions",
                      name,
                      in->positions == NULL ? "3 dimensions, batches, positions and pairs, without position_ids"
                                            : "2 dimensions, positions and pairs, with position_ids",
                      pairs, batches, rows);
  }
  if (in->sines->ndim != in->cosines->ndim || !leati_same_numbers(in->sines->shape, shape, in->cosines->ndim)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: sin_cache has another shape than cos_cache", name);
  }
  const bool counted = leati_op_def_of(op)->param == MICROSOFT && in->positions->count == 1 && in->positions->ndim <= 1;
  return in->positions == NULL || counted ||
                 (in->positions->ndim == 2 && in->positions->shape[0] == batches && in->positions->shape[1] == rows)
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                          "%s: position_ids must have shape [%" PRId64 ", %" PRId64 "], by batches and positions", name,
                          batches, rows);
}

/* Reads the arguments of a call, of which `x` may be another view. */
static int32_t rotary_read(const leat_op *op, const leati_call *call, const leati_view *x, rotary *out,
                           leat_error *err) {
  const leati_op_def *const def = leati_op_def_of(op);
  const rotary_state *const state = leati_op_state_const(op);
  const rotary_inputs at = inputs_of[def->param];
  *out = (rotary){.x = x,
                  .cosines = leati_input(call, at.cosines),
                  .sines = leati_input(call, at.sines),
                  .positions = leati_input(call, at.positions)};
  int64_t count = state->heads;
  if (count == 0 && x->ndim == 3 && def->param == MICROSOFT && state->turned == 0 && out->cosines->ndim == 2 &&
      out->cosines->shape[1] > 0) {
    count = x->shape[2] / (2 * out->cosines->shape[1]);
  }
  LEATI_TRY(leati_heads_read(def->info.name, x, "elements", x->ndim == 3 ? LEATI_HEADS_TOGETHER : LEATI_HEADS_APART,
                             count, &out->heads, err));
  return check_angles(op, out, err);
}

static int32_t rotary_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  rotary in;
  LEATI_TRY(rotary_read(op, call, &call->inputs[0], &in, err));
  return leati_infer_same(op, call, out, err);
}

/* Angles of one batch, by position and pair; and how far those of the next are. */
static leati_view of_one_batch(const leati_view *angles, int32_t *out_batch) {
  leati_view one = *angles;
  *out_batch = 0;
  if (angles->ndim == 3) {
    *out_batch = angles->shape[0] > 1 ? (int32_t)angles->strides[0] : 0;
    leati_view_reshape(&one, 2, &angles->shape[1], &angles->strides[1]);
  }
  return one;
}

static int32_t rotary_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const rotary_state *const state = leati_op_state_const(op);
  const rotary_inputs at = inputs_of[leati_op_def_of(op)->param];
  const leati_view *const y = &call->outputs[0];
  if (y->count == 0) {
    return LEAT_OK;
  }
  leati_view x, cosines, sines, positions = {.present = false};
  rotary in;
  LEATI_TRY(leati_check_reach(y, "RotaryEmbedding", err));
  LEATI_TRY(leati_plan_walkable(planner, &call->inputs[0], &x, err));
  LEATI_TRY(rotary_read(op, call, &x, &in, err));
  LEATI_TRY(leati_plan_walkable(planner, &call->inputs[at.cosines], &cosines, err));
  LEATI_TRY(leati_plan_walkable(planner, &call->inputs[at.sines], &sines, err));
  if (in.positions != NULL) {
    LEATI_TRY(leati_plan_walkable(planner, in.positions, &positions, err));
  }
  const bool together = x.ndim == 3;
  rotary_args args = {.count = (uint32_t)y->count,
                      .together = together,
                      .size = (uint32_t)in.heads.shape[3],
                      .inner = (uint32_t)in.heads.shape[together ? 1 : 2],
                      .outer = (uint32_t)in.heads.shape[together ? 2 : 1]};
  const leati_view one_cosine = of_one_batch(&cosines, &args.cosine_batch);
  const leati_view one_sine = of_one_batch(&sines, &args.sine_batch);
  const leati_rotation rotation = {.cosines = &one_cosine,
                                   .sines = &one_sine,
                                   .position_ids = in.positions != NULL ? &positions : NULL,
                                   .counted = in.positions != NULL && in.positions->ndim < 2,
                                   .interleaved = state->interleaved};
  args.rotation = leati_rotation_fill(&rotation);
  leati_heads_strides(&in.heads, args.strides);
  args.per_size = leati_divider_of(args.size);
  args.per_inner = leati_divider_of(args.inner);
  args.per_outer = leati_divider_of(args.outer);
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_ROTARY, y->type)},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({&x, &args.x}, {&cosines, &args.rotation.cosines}, {&sines, &args.rotation.sines},
                  {rotation.position_ids, &args.rotation.position_ids}),
      LEATI_WRITES({y, &args.y}),
  };
  leati_groups_linear(planner->device, args.count, LEATI_ITEMS_PER_GROUP, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

static bool rotary_reads_view(const leat_op *op, const leati_call *call, uint32_t i) {
  (void)op;
  return leati_view_walkable(&call->inputs[i]);
}

/* ---- Written out ------------------------------------------------------------------------------------------------ */

#define FUSED_RANK 4

/* Argument record of kernels/rotary_fused.comp. */
typedef struct fused_args {
  uint64_t x, cosines, sines, y;
  int32_t x_strides[FUSED_RANK], cosine_strides[FUSED_RANK], sine_strides[FUSED_RANK];
  uint32_t count;
  uint32_t sizes[FUSED_RANK - 1];
  leati_divider per_size[FUSED_RANK - 1];
} fused_args;

/* Whether `view` broadcasts to `x`, which stays as it is. */
static bool broadcasts_to(const leati_view *view, const leati_view *x) {
  int32_t ndim = x->ndim;
  int64_t dims[LEAT_MAX_RANK];
  memcpy(dims, x->shape, (size_t)ndim * sizeof(dims[0]));
  return leati_broadcast(&ndim, dims, view->ndim, view->shape, NULL) == LEAT_OK && ndim == x->ndim &&
         leati_same_numbers(dims, x->shape, ndim);
}

static int32_t fused_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const leati_view *const x = &call->inputs[0];
  if (x->shape[x->ndim - 1] % 2 != 0 || !broadcasts_to(&call->inputs[1], x) || !broadcasts_to(&call->inputs[2], x)) {
    return leati_fail(
        err, LEAT_ERROR_INVALID_ARGUMENT,
        "FusedRotaryEmbedding: the last dimension has to be even, and both others broadcast to the first");
  }
  return leati_infer_same(op, call, out, err);
}

/* Strides of a tensor that is broadcast to a result, with those that are missing in front. */
static void fill_strides(const leati_view *view, const leati_view *y, int32_t out[FUSED_RANK]) {
  int64_t strides[LEAT_MAX_RANK];
  leati_broadcast_strides(view, y->ndim, y->shape, strides);
  for (int32_t d = 0; d < y->ndim; ++d) {
    out[FUSED_RANK - y->ndim + d] = (int32_t)strides[d];
  }
}

static int32_t fused_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  (void)op;
  const leati_view *const y = &call->outputs[0];
  if (y->count == 0) {
    return LEAT_OK;
  }
  leati_view in[3];
  LEATI_TRY(leati_check_reach(y, "FusedRotaryEmbedding", err));
  for (uint32_t i = 0; i < 3; ++i) {
    LEATI_TRY(leati_plan_walkable(planner, &call->inputs[i], &in[i], err));
  }
  fused_args args = {.count = (uint32_t)y->count};
  fill_strides(&in[0], y, args.x_strides);
  fill_strides(&in[1], y, args.cosine_strides);
  fill_strides(&in[2], y, args.sine_strides);
  for (int32_t d = 0; d < FUSED_RANK - 1; ++d) {
    const int32_t at = y->ndim - (FUSED_RANK - 1) + d;
    args.sizes[d] = at < 0 ? 1 : (uint32_t)y->shape[at];
    args.per_size[d] = leati_divider_of(args.sizes[d]);
  }
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_ROTARY_FUSED, y->type)},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({&in[0], &args.x}, {&in[1], &args.cosines}, {&in[2], &args.sines}),
      LEATI_WRITES({y, &args.y}),
  };
  leati_groups_linear(planner->device, args.count, LEATI_ITEMS_PER_GROUP, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

/* ---- The list --------------------------------------------------------------------------------------------------- */

#define ROTARY(domain_, version, inputs, number, types, ...)                                                         \
  LEATI_OP("RotaryEmbedding", domain_, (version, version), inputs, (1, 1), .param = (number),                        \
           LEATI_TYPES(&leati_type_real, &type_positions), LEATI_ATTRIBUTES(__VA_ARGS__), types,                     \
           .state_size = sizeof(rotary_state), .least_rank = 3, .most_rank = 4, LEATI_KERNELS(LEATI_KERNELS_ROTARY), \
           .create = rotary_create, .infer = rotary_infer, .plan = rotary_plan, .reads_view = rotary_reads_view)

static const leati_op_def ops[] = {
    ROTARY("", 23, (3, 4), ONNX, LEATI_INPUT_TYPES(0, 0, 0, 1), &attribute_interleaved, &attribute_num_heads,
           &attribute_rotary_embedding_dim),
    ROTARY("com.microsoft", 1, (4, 4), MICROSOFT, LEATI_INPUT_TYPES(0, 1, 0, 0), &attribute_interleaved,
           &attribute_is_packed_batching, &attribute_num_heads, &attribute_rotary_embedding_dim, &attribute_scale),
    LEATI_OP("FusedRotaryEmbedding", "leat", (1, 1), (3, 3), (1, 1), LEATI_TYPES(&leati_type_real), .least_rank = 1,
             .most_rank = FUSED_RANK, LEATI_KERNELS(LEATI_KERNELS_ROTARY_FUSED), .infer = fused_infer,
             .plan = fused_plan, .reads_view = rotary_reads_view),
};

const leati_op_family leati_rotary_family = LEATI_FAMILY(ops);
