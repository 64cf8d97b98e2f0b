/* SPDX-License-Identifier: BSD-3-Clause */
/* Operators that put elements elsewhere: Transpose, Expand, Slice, Concat, Split, Pad, Tile, DepthToSpace,
 * SpaceToDepth, Trilu. */
#include "ops/movement.h"

#include <inttypes.h>
#include <string.h>

#include "core/status.h"

/* ---- Copies ----------------------------------------------------------------------------------------------------- */

typedef struct copy_args {
  uint64_t src, dst;
  uint32_t count, rank;
  uint32_t dims[LEAT_MAX_RANK];
  int32_t src_strides[LEAT_MAX_RANK];
  int32_t dst_strides[LEAT_MAX_RANK];
} copy_args;

int32_t leati_check_reach(const leati_view *view, const char *what, leat_error *err) {
  const uint64_t reach = (view->end - view->begin) / view->item_size;
  return reach <= INT32_MAX && view->count <= INT32_MAX
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                          "%s: a tensor has %" PRIu64 " elements over a reach of %" PRIu64
                          "; supported: up to 2147483647",
                          what, view->count, reach);
}

int64_t leati_host_int(const leati_view *view, uint64_t i) {
  const int64_t stride = view->ndim == 1 ? view->strides[0] : 0;
  const unsigned char *const at = (const unsigned char *)view->data + (int64_t)i * stride * (int64_t)view->item_size;
  if (view->type == LEAT_TYPE_INT64) {
    int64_t wide;
    memcpy(&wide, at, sizeof(wide));
    return wide;
  }
  int32_t narrow;
  memcpy(&narrow, at, sizeof(narrow));
  return narrow;
}

int32_t leati_plan_strided_copy(leati_planner *planner, const leati_view *src, const leati_view *dst, leat_error *err) {
  if (dst->count == 0) {
    return LEAT_OK;
  }
  int64_t dims[LEAT_MAX_RANK];
  int64_t strides[2][LEAT_MAX_RANK];
  memcpy(dims, dst->shape, sizeof(dims));
  memcpy(strides[0], src->strides, sizeof(strides[0]));
  memcpy(strides[1], dst->strides, sizeof(strides[1]));
  const int32_t rank = leati_collapse(dst->ndim, dims, 2, strides);
  const int32_t last = rank - 1;
  const uint32_t item = dst->item_size;
  uint32_t width = item;
  if (dims[last] > 1 && strides[0][last] == 1 && strides[1][last] == 1) {
    /* Rows lie side by side in both: move them in the widest pieces that fit. */
    uint64_t quantities = src->address | dst->address | (uint64_t)dims[last] * item;
    for (int32_t d = 0; d < last; ++d) {
      quantities |= (uint64_t)(strides[0][d] * item) | (uint64_t)(strides[1][d] * item);
    }
    width = leati_item_width(quantities);
  }
  if (rank == 1 && strides[0][0] == 1 && strides[1][0] == 1 && dst->count * item / width > INT32_MAX) {
    return leati_plan_copy(planner, src, dst, err);
  }
  if (width == item) {
    LEATI_TRY(leati_check_reach(src, "copy", err));
    LEATI_TRY(leati_check_reach(dst, "copy", err));
  } else if ((src->end - src->begin) / width > INT32_MAX || (dst->end - dst->begin) / width > INT32_MAX) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                      "copy: a tensor reaches over more than 2147483647 items of %u bytes", width);
  }
  copy_args args = {
      .count = (uint32_t)(dst->count * item / width),
      .rank = (uint32_t)rank,
  };
  const int64_t ratio = width / item;
  for (int32_t d = 0; d < rank; ++d) {
    const bool row = d == last;
    args.dims[d] = (uint32_t)(row ? dims[d] / ratio : dims[d]);
    args.src_strides[d] = (int32_t)(row ? strides[0][d] : strides[0][d] / ratio);
    args.dst_strides[d] = (int32_t)(row ? strides[1][d] : strides[1][d] / ratio);
  }
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find_item(LEATI_KERNELS_COPY, width)},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({src, &args.src}),
      LEATI_WRITES({dst, &args.dst}),
  };
  leati_groups_linear(planner->device, args.count, LEATI_ITEMS_PER_GROUP, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

int32_t leati_plan_compact(leati_planner *planner, const leati_view *view, leati_view *out, leat_error *err) {
  if (view->compact) {
    *out = *view;
    return LEAT_OK;
  }
  memset(out, 0, sizeof(*out));
  out->type = view->type;
  out->ndim = view->ndim;
  memcpy(out->shape, view->shape, sizeof(out->shape));
  LEATI_TRY(leati_plan_temporary(planner, out, err));
  return leati_plan_strided_copy(planner, view, out, err);
}

/* Gives a view another shape and strides over the same bytes. */
static void reshape_view(leati_view *view, int32_t ndim, const int64_t *shape, const int64_t *strides) {
  view->ndim = ndim;
  view->count = 1;
  for (int32_t d = 0; d < ndim; ++d) {
    view->shape[d] = shape[d];
    view->strides[d] = strides[d];
    view->count *= (uint64_t)shape[d];
  }
  view->compact = false;
}

/* ---- Transpose -------------------------------------------------------------------------------------------------- */

typedef struct transpose_state {
  uint32_t count; /* 0: all dimensions in reverse */
  int64_t perm[LEAT_MAX_RANK];
} transpose_state;

static LEATI_ATTRIBUTE(attribute_perm, "perm", INTS);
static LEATI_ATTRIBUTE(attribute_num_outputs, "num_outputs", INT);
static LEATI_ATTRIBUTE(attribute_blocksize, "blocksize", INT);
static LEATI_ATTRIBUTE(attribute_upper, "upper", INT);

static int32_t transpose_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  transpose_state *const state = leati_op_state(op);
  LEATI_TRY(leati_attr_ints(desc, "perm", LEAT_MAX_RANK, state->perm, &state->count, err));
  uint32_t seen = 0;
  for (uint32_t i = 0; i < state->count; ++i) {
    if (state->perm[i] < 0 || state->perm[i] >= (int64_t)state->count) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Transpose: 'perm' holds %" PRId64 "; expected 0 to %u",
                        state->perm[i], state->count - 1);
    }
    seen |= 1u << state->perm[i];
  }
  return seen == (1u << state->count) - 1
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Transpose: 'perm' names a dimension twice");
}

static int32_t permutation(const leat_op *op, const leati_view *input, int32_t *perm, leat_error *err) {
  const transpose_state *const state = leati_op_state_const(op);
  if (state->count != 0 && (int32_t)state->count != input->ndim) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Transpose: 'perm' has %u elements for an input of rank %d",
                      state->count, input->ndim);
  }
  for (int32_t d = 0; d < input->ndim; ++d) {
    perm[d] = state->count == 0 ? input->ndim - 1 - d : (int32_t)state->perm[d];
  }
  return LEAT_OK;
}

static int32_t transpose_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  int32_t perm[LEAT_MAX_RANK];
  const leati_view *const input = &call->inputs[0];
  LEATI_TRY(permutation(op, input, perm, err));
  out->ndim = input->ndim;
  for (int32_t d = 0; d < input->ndim; ++d) {
    out->dims[d] = input->shape[perm[d]];
  }
  return LEAT_OK;
}

static int32_t transpose_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  int32_t perm[LEAT_MAX_RANK];
  int64_t strides[LEAT_MAX_RANK];
  leati_view src = call->inputs[0];
  LEATI_TRY(permutation(op, &src, perm, err));
  for (int32_t d = 0; d < src.ndim; ++d) {
    strides[d] = call->inputs[0].strides[perm[d]];
  }
  reshape_view(&src, src.ndim, call->outputs[0].shape, strides);
  return leati_plan_strided_copy(planner, &src, &call->outputs[0], err);
}

/* ---- Expand ----------------------------------------------------------------------------------------------------- */

static int32_t expand_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                               leat_error *err) {
  (void)device;
  return leati_check_rank(def->info.name, leati_list_length(desc, 1), err);
}

static int32_t expand_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  (void)op;
  const leati_view *const input = &call->inputs[0];
  int64_t shape[LEAT_MAX_RANK];
  uint32_t rank;
  LEATI_TRY(leati_check_rank("Expand", (int64_t)call->inputs[1].count, err));
  LEATI_TRY(leati_read_ints(&call->inputs[1], "Expand: shape", LEAT_MAX_RANK, shape, &rank, err));
  for (uint32_t d = 0; d < rank; ++d) {
    if (shape[d] < 0) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Expand: shape holds %" PRId64 "; sizes are not negative",
                        shape[d]);
    }
  }
  out->ndim = input->ndim;
  memcpy(out->dims, input->shape, (size_t)input->ndim * sizeof(out->dims[0]));
  return leati_broadcast(&out->ndim, out->dims, (int32_t)rank, shape, err);
}

static int32_t expand_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  (void)op;
  const leati_view *const dst = &call->outputs[0];
  int64_t strides[LEAT_MAX_RANK];
  leati_view src = call->inputs[0];
  leati_broadcast_strides(&call->inputs[0], dst->ndim, dst->shape, strides);
  reshape_view(&src, dst->ndim, dst->shape, strides);
  return leati_plan_strided_copy(planner, &src, dst, err);
}

/* ---- Slice ------------------------------------------------------------------------------------------------------ */

/* What is taken of each dimension. */
typedef struct slice_part {
  int64_t start[LEAT_MAX_RANK], step[LEAT_MAX_RANK], size[LEAT_MAX_RANK];
} slice_part;

static int64_t clamp(int64_t x, int64_t low, int64_t high) {
  return x < low ? low : x > high ? high : x;
}

/* Takes [start, end) by `step` of a dimension, all as the specification clamps them. */
static void slice_dimension(int64_t size, int64_t start, int64_t end, int64_t step, slice_part *plan, int32_t d) {
  /* Beyond any size a step is as good as another; this keeps its negative and its products in range. */
  step = clamp(step, -(INT64_C(1) << 60), INT64_C(1) << 60);
  start = start < 0 ? start + size : start;
  end = end < 0 ? end + size : end;
  int64_t count;
  if (step > 0) {
    start = clamp(start, 0, size);
    end = clamp(end, 0, size);
    count = end > start ? 1 + (end - start - 1) / step : 0;
  } else {
    start = clamp(start, 0, size - 1);
    end = clamp(end, -1, size - 1);
    count = start > end && size > 0 ? 1 + (start - end - 1) / -step : 0;
  }
  plan->start[d] = count == 0 ? 0 : start;
  plan->step[d] = count < 2 ? 1 : step;
  plan->size[d] = count;
}

static int32_t lay_slice(const leati_call *call, slice_part *plan, leat_error *err) {
  const leati_view *const input = &call->inputs[0];
  const leati_view *const axes_view = leati_input(call, 3);
  const leati_view *const steps_view = leati_input(call, 4);
  int64_t starts[LEAT_MAX_RANK], ends[LEAT_MAX_RANK], axes[LEAT_MAX_RANK], steps[LEAT_MAX_RANK];
  uint32_t count, end_count, axis_count, step_count;
  LEATI_TRY(leati_read_ints(&call->inputs[1], "Slice: starts", LEAT_MAX_RANK, starts, &count, err));
  LEATI_TRY(leati_read_ints(&call->inputs[2], "Slice: ends", LEAT_MAX_RANK, ends, &end_count, err));
  axis_count = count;
  step_count = count;
  for (uint32_t i = 0; i < count; ++i) {
    axes[i] = i;
    steps[i] = 1;
  }
  if (axes_view != NULL) {
    LEATI_TRY(leati_read_ints(axes_view, "Slice: axes", LEAT_MAX_RANK, axes, &axis_count, err));
  }
  if (steps_view != NULL) {
    LEATI_TRY(leati_read_ints(steps_view, "Slice: steps", LEAT_MAX_RANK, steps, &step_count, err));
  }
  if (end_count != count || axis_count != count || step_count != count) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "Slice: starts, ends, axes and steps have %u, %u, %u and %u elements", count, end_count,
                      axis_count, step_count);
  }
  for (int32_t d = 0; d < input->ndim; ++d) {
    plan->start[d] = 0;
    plan->step[d] = 1;
    plan->size[d] = input->shape[d];
  }
  int32_t at[LEAT_MAX_RANK];
  LEATI_TRY(leati_axes(axes, count, input->ndim, "Slice: axes", at, err));
  for (uint32_t i = 0; i < count; ++i) {
    if (steps[i] == 0) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Slice: a step is 0");
    }
    slice_dimension(input->shape[at[i]], starts[i], ends[i], steps[i], plan, at[i]);
  }
  return LEAT_OK;
}

static int32_t slice_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  (void)op;
  slice_part plan;
  LEATI_TRY(lay_slice(call, &plan, err));
  out->ndim = call->inputs[0].ndim;
  memcpy(out->dims, plan.size, (size_t)out->ndim * sizeof(out->dims[0]));
  return LEAT_OK;
}

/* The part of `view` from `start` on by `step`, of shape `size`. Bytes touched are taken to be those of the whole. */
static leati_view slice_view(const leati_view *view, const int64_t *start, const int64_t *step, const int64_t *size) {
  leati_view part = *view;
  int64_t strides[LEAT_MAX_RANK];
  int64_t offset = 0;
  for (int32_t d = 0; d < view->ndim; ++d) {
    offset += start[d] * view->strides[d];
    strides[d] = view->strides[d] * step[d];
  }
  part.address += (uint64_t)(offset * (int64_t)view->item_size);
  reshape_view(&part, view->ndim, size, strides);
  return part;
}

static int32_t slice_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  (void)op;
  slice_part plan;
  LEATI_TRY(lay_slice(call, &plan, err));
  const leati_view src = slice_view(&call->inputs[0], plan.start, plan.step, plan.size);
  return leati_plan_strided_copy(planner, &src, &call->outputs[0], err);
}

/* ---- Concat and Split ------------------------------------------------------------------------------------------- */

#define SEGMENTS_MAX LEATI_ACCESS_MAX

/* A block of rows, in bytes until it is dispatched. */
typedef struct segment {
  uint64_t src, dst;
  uint32_t count, row, src_pitch, dst_pitch;
} segment;

typedef struct segments_args {
  segment segments[SEGMENTS_MAX];
} segments_args;

/* Blocks that are collected for one dispatch. */
typedef struct segments {
  uint32_t count;
  leati_view src[SEGMENTS_MAX], dst[SEGMENTS_MAX]; /* at their first element; with the extent of the whole tensor */
  uint64_t rows[SEGMENTS_MAX];
  uint64_t row[SEGMENTS_MAX], src_pitch[SEGMENTS_MAX], dst_pitch[SEGMENTS_MAX]; /* bytes */
} segments;

static int32_t add_segments(leati_planner *planner, segments *s, leat_error *err) {
  if (s->count == 0) {
    return LEAT_OK;
  }
  uint64_t quantities = 0;
  for (uint32_t i = 0; i < s->count; ++i) {
    quantities |= s->src[i].address | s->dst[i].address | s->row[i] | s->src_pitch[i] | s->dst_pitch[i];
  }
  const uint32_t width = leati_item_width(quantities);
  segments_args args = {0};
  leati_access reads[SEGMENTS_MAX], writes[SEGMENTS_MAX];
  uint64_t most = 0;
  for (uint32_t i = 0; i < s->count; ++i) {
    const uint64_t pitch = s->src_pitch[i] > s->dst_pitch[i] ? s->src_pitch[i] : s->dst_pitch[i];
    const uint64_t count = s->rows[i] * s->row[i] / width;
    if (s->rows[i] * (pitch / width) > INT32_MAX) {
      return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                        "Concat and Split support tensors of up to 2147483647 items; these items have %u bytes", width);
    }
    reads[i] = (leati_access){.view = &s->src[i], .field = &args.segments[i].src};
    writes[i] = (leati_access){.view = &s->dst[i], .field = &args.segments[i].dst};
    args.segments[i] = (segment){
        .count = (uint32_t)count,
        .row = (uint32_t)(s->row[i] / width),
        .src_pitch = (uint32_t)(s->src_pitch[i] / width),
        .dst_pitch = (uint32_t)(s->dst_pitch[i] / width),
    };
    most = count > most ? count : most;
  }
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find_item(LEATI_KERNELS_SEGMENTS, width)},
      .args = &args,
      .args_size = sizeof(args),
      .read_count = s->count,
      .write_count = s->count,
      .reads = reads,
      .writes = writes,
  };
  leati_groups_linear(planner->device, most, LEATI_ITEMS_PER_GROUP, dispatch.groups);
  dispatch.groups[2] = s->count;
  s->count = 0;
  return leati_plan_dispatch(planner, &dispatch, err);
}

/* Product of the sizes of dimensions [from, to). */
static uint64_t product(const int64_t *shape, int32_t from, int32_t to) {
  uint64_t result = 1;
  for (int32_t d = from; d < to; ++d) {
    result *= (uint64_t)shape[d];
  }
  return result;
}

typedef struct axis_state {
  int64_t axis;
  int64_t num_outputs; /* Split: 0 when not given */
} axis_state;

static int32_t concat_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                               leat_error *err) {
  (void)def;
  (void)device;
  return leati_attr(desc, "axis") != NULL
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Concat: attribute 'axis' is missing");
}

static int32_t axis_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  axis_state *const state = leati_op_state(op);
  state->axis = leati_attr_int(desc, "axis", 0);
  state->num_outputs = leati_attr_int(desc, "num_outputs", 0);
  if (state->num_outputs != 0 && state->num_outputs != (int64_t)desc->output_count) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Split: 'num_outputs' is %" PRId64 " and there are %u outputs",
                      state->num_outputs, desc->output_count);
  }
  return LEAT_OK;
}

static int32_t concat_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const axis_state *const state = leati_op_state_const(op);
  const leati_view *const first = &call->inputs[0];
  int32_t axis;
  LEATI_TRY(leati_axis(state->axis, first->ndim, &axis, err));
  LEATI_TRY(leati_infer_same(op, call, out, err));
  for (uint32_t i = 1; i < call->input_count; ++i) {
    const leati_view *const input = leati_input(call, i);
    if (input == NULL || input->ndim != first->ndim) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Concat: input %u is absent or has another rank than input 0",
                        i);
    }
    for (int32_t d = 0; d < first->ndim; ++d) {
      if (d != axis && input->shape[d] != first->shape[d]) {
        return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                          "Concat: input %u has size %" PRId64 " in dimension %d, input 0 has %" PRId64, i,
                          input->shape[d], d, first->shape[d]);
      }
    }
    /* Empty inputs may have sizes that together are more than can be counted. */
    if (__builtin_add_overflow(out->dims[axis], input->shape[axis], &out->dims[axis])) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Concat: the result is too large in dimension %d", axis);
    }
  }
  return LEAT_OK;
}

static int32_t concat_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const axis_state *const state = leati_op_state_const(op);
  const leati_view *const dst = &call->outputs[0];
  int32_t axis;
  LEATI_TRY(leati_axis(state->axis, dst->ndim, &axis, err));
  const uint64_t rows = product(dst->shape, 0, axis);
  const uint64_t inner = product(dst->shape, axis + 1, dst->ndim) * dst->item_size;
  segments s = {0};
  int64_t position = 0;
  for (uint32_t i = 0; i < call->input_count; ++i) {
    const leati_view *const src = &call->inputs[i];
    const int64_t size = src->shape[axis];
    if (src->count == 0) {
      position += size;
      continue;
    }
    if (!src->compact) {
      int64_t start[LEAT_MAX_RANK] = {0};
      const int64_t step[LEAT_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
      start[axis] = position;
      const leati_view part = slice_view(dst, start, step, src->shape);
      LEATI_TRY(leati_plan_strided_copy(planner, src, &part, err));
      position += size;
      continue;
    }
    s.src[s.count] = *src;
    s.dst[s.count] = *dst;
    s.dst[s.count].address += (uint64_t)position * inner;
    s.rows[s.count] = rows;
    s.row[s.count] = (uint64_t)size * inner;
    s.src_pitch[s.count] = (uint64_t)size * inner;
    s.dst_pitch[s.count] = (uint64_t)dst->shape[axis] * inner;
    position += size;
    if (++s.count == SEGMENTS_MAX) {
      LEATI_TRY(add_segments(planner, &s, err));
    }
  }
  return add_segments(planner, &s, err);
}

/* Size along the axis of output `i` of a Split. */
static int64_t split_size(const leati_call *call, int64_t total, uint32_t i) {
  const leati_view *const split = leati_input(call, 1);
  if (split != NULL) {
    return leati_host_int(split, i);
  }
  const int64_t chunk = (total + call->output_count - 1) / call->output_count;
  const int64_t left = total - chunk * i;
  return left < 0 ? 0 : left < chunk ? left : chunk;
}

static int32_t split_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const axis_state *const state = leati_op_state_const(op);
  const leati_view *const input = &call->inputs[0];
  const leati_view *const split = leati_input(call, 1);
  int32_t axis;
  LEATI_TRY(leati_axis(state->axis, input->ndim, &axis, err));
  const int64_t total = input->shape[axis];
  if (split != NULL && (split->ndim != 1 || split->count != call->output_count)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Split: 'split' has %" PRIu64 " elements for %u outputs",
                      split->count, call->output_count);
  }
  if (split == NULL && leati_op_opset(op) < 18 && total % call->output_count != 0) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Split: %" PRId64 " does not split into %u equal parts", total,
                      call->output_count);
  }
  int64_t sum = 0;
  for (uint32_t i = 0; i < call->output_count; ++i) {
    const int64_t size = split_size(call, total, i);
    if (size < 0 || size > total - sum) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                        "Split: part %u of size %" PRId64 " does not fit a dimension of size %" PRId64, i, size, total);
    }
    sum += size;
    out[i].ndim = input->ndim;
    memcpy(out[i].dims, input->shape, (size_t)input->ndim * sizeof(out[i].dims[0]));
    out[i].dims[axis] = size;
  }
  return sum == total ? LEAT_OK
                      : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Split: the parts sum to %" PRId64 " of %" PRId64,
                                   sum, total);
}

static int32_t split_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const axis_state *const state = leati_op_state_const(op);
  const leati_view *const src = &call->inputs[0];
  int32_t axis;
  LEATI_TRY(leati_axis(state->axis, src->ndim, &axis, err));
  const uint64_t rows = product(src->shape, 0, axis);
  const uint64_t inner = product(src->shape, axis + 1, src->ndim) * src->item_size;
  segments s = {0};
  int64_t position = 0;
  for (uint32_t i = 0; i < call->output_count; ++i) {
    const leati_view *const dst = leati_output(call, i);
    const int64_t size = split_size(call, src->shape[axis], i);
    const int64_t first = position;
    position += size;
    if (dst == NULL || dst->count == 0) {
      continue;
    }
    if (!src->compact) {
      int64_t start[LEAT_MAX_RANK] = {0};
      const int64_t step[LEAT_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
      start[axis] = first;
      const leati_view part = slice_view(src, start, step, dst->shape);
      LEATI_TRY(leati_plan_strided_copy(planner, &part, dst, err));
      continue;
    }
    s.src[s.count] = *src;
    s.src[s.count].address += (uint64_t)first * inner;
    s.dst[s.count] = *dst;
    s.rows[s.count] = rows;
    s.row[s.count] = (uint64_t)size * inner;
    s.src_pitch[s.count] = (uint64_t)src->shape[axis] * inner;
    s.dst_pitch[s.count] = (uint64_t)size * inner;
    if (++s.count == SEGMENTS_MAX) {
      LEATI_TRY(add_segments(planner, &s, err));
    }
  }
  return add_segments(planner, &s, err);
}

/* ---- Pad and Tile ----------------------------------------------------------------------------------------------- */

enum { PAD_CONSTANT = 0, PAD_REFLECT = 1, PAD_EDGE = 2, PAD_WRAP = 3 };

typedef struct pad_args {
  uint64_t src, dst;
  uint64_t value;
  uint32_t count, rank;
  uint32_t dims[LEAT_MAX_RANK];
  int32_t src_dims[LEAT_MAX_RANK];
  int32_t begins[LEAT_MAX_RANK];
  int32_t strides[LEAT_MAX_RANK];
} pad_args;

typedef struct pad_state {
  uint32_t mode;
} pad_state;

/* What negative numbers of `begins` and `ends` leave of dimension `d`: all modes pad that and know nothing of the rest.
 */
static int64_t left_of(const leati_view *src, const int64_t *begins, const int64_t *ends, int32_t d) {
  const int64_t left = src->shape[d] + (begins[d] < 0 ? begins[d] : 0) + (ends[d] < 0 ? ends[d] : 0);
  return left < 0 ? 0 : left;
}

/* Adds, or takes off, `begins` items before and `ends` behind. */
static int32_t add_pad(leati_planner *planner, const leati_view *src, const leati_view *dst, uint32_t mode,
                       const int64_t *begins, const int64_t *ends, uint64_t value, leat_error *err) {
  if (dst->count == 0) {
    return LEAT_OK;
  }
  LEATI_TRY(leati_check_reach(src, "Pad or Tile", err));
  LEATI_TRY(leati_check_reach(dst, "Pad or Tile", err));
  leati_view from = *src; /* its address: of the first item that is left */
  pad_args args = {
      .value = value,
      .count = (uint32_t)dst->count,
      .rank = dst->ndim == 0 ? 1 : (uint32_t)dst->ndim,
      .dims = {1},
      .src_dims = {1},
  };
  for (int32_t d = 0; d < dst->ndim; ++d) {
    args.dims[d] = (uint32_t)dst->shape[d];
    args.src_dims[d] = (int32_t)left_of(src, begins, ends, d);
    if (begins[d] < 0) {
      from.address -= (uint64_t)(begins[d] * src->strides[d] * (int64_t)src->item_size);
    } else {
      args.begins[d] = (int32_t)begins[d];
    }
    args.strides[d] = src->shape[d] == 1 ? 0 : (int32_t)src->strides[d];
  }
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find_item(LEATI_KERNELS_PAD, dst->item_size),
                   .constants.pad = {.mode = mode}},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({&from, &args.src}),
      LEATI_WRITES({dst, &args.dst}),
  };
  leati_groups_linear(planner->device, args.count, LEATI_ITEMS_PER_GROUP, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

static int32_t pad_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc, leat_error *err) {
  (void)def;
  (void)device;
  return leati_attr(desc, "mode") == NULL || leati_attr_is(desc, "mode", "constant") ||
                 leati_attr_is(desc, "mode", "reflect") || leati_attr_is(desc, "mode", "edge") ||
                 leati_attr_is(desc, "mode", "wrap")
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                          "Pad: 'mode' must be 'constant', 'reflect', 'edge' or 'wrap'");
}

static int32_t pad_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  pad_state *const state = leati_op_state(op);
  state->mode = leati_attr_is(desc, "mode", "reflect") ? PAD_REFLECT
                : leati_attr_is(desc, "mode", "edge")  ? PAD_EDGE
                : leati_attr_is(desc, "mode", "wrap")  ? PAD_WRAP
                                                       : PAD_CONSTANT;
  return LEAT_OK;
}

/* Items before and after, by dimension. */
static int32_t read_pads(const leati_call *call, int64_t *begins, int64_t *ends, leat_error *err) {
  const leati_view *const input = &call->inputs[0];
  const leati_view *const axes_view = leati_input(call, 3);
  int64_t pads[2 * LEAT_MAX_RANK], axes[LEAT_MAX_RANK];
  uint32_t pad_count, axis_count = (uint32_t)input->ndim;
  LEATI_TRY(leati_read_ints(&call->inputs[1], "Pad: pads", 2 * LEAT_MAX_RANK, pads, &pad_count, err));
  for (int32_t d = 0; d < input->ndim; ++d) {
    axes[d] = d;
    begins[d] = 0;
    ends[d] = 0;
  }
  if (axes_view != NULL) {
    LEATI_TRY(leati_read_ints(axes_view, "Pad: axes", LEAT_MAX_RANK, axes, &axis_count, err));
  }
  if (pad_count != 2 * axis_count) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "Pad: 'pads' has %u elements; expected two for each of %u dimensions", pad_count, axis_count);
  }
  int32_t at[LEAT_MAX_RANK];
  LEATI_TRY(leati_axes(axes, axis_count, input->ndim, "Pad: axes", at, err));
  for (uint32_t i = 0; i < axis_count; ++i) {
    const int32_t d = at[i];
    begins[d] = pads[i];
    ends[d] = pads[axis_count + i];
    if (begins[d] < INT32_MIN || begins[d] > INT32_MAX || ends[d] < INT32_MIN || ends[d] > INT32_MAX) {
      return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "Pad: pads of dimension %d are beyond 32 bits", d);
    }
  }
  return LEAT_OK;
}

static int32_t pad_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const pad_state *const state = leati_op_state_const(op);
  const leati_view *const input = &call->inputs[0];
  const leati_view *const value = leati_input(call, 2);
  int64_t begins[LEAT_MAX_RANK], ends[LEAT_MAX_RANK];
  LEATI_TRY(read_pads(call, begins, ends, err));
  if (value != NULL && value->count != 1) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "Pad: 'constant_value' has %" PRIu64 " elements; expected a scalar", value->count);
  }
  out->ndim = input->ndim;
  for (int32_t d = 0; d < input->ndim; ++d) {
    out->dims[d] = input->shape[d] + begins[d] + ends[d];
    if (out->dims[d] < 0) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Pad: dimension %d would have size %" PRId64, d,
                        out->dims[d]);
    }
    if (left_of(input, begins, ends, d) == 0 && out->dims[d] != 0 && state->mode != PAD_CONSTANT) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                        "Pad: nothing is left of dimension %d and the mode needs an element to repeat", d);
    }
  }
  return LEAT_OK;
}

static int32_t pad_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const pad_state *const state = leati_op_state_const(op);
  const leati_view *const value_view = leati_input(call, 2);
  int64_t begins[LEAT_MAX_RANK], ends[LEAT_MAX_RANK];
  LEATI_TRY(read_pads(call, begins, ends, err));
  uint64_t value = 0;
  if (value_view != NULL) {
    /* The kernel takes the low bytes, which come first on every machine that Leat runs on. */
    memcpy(&value, value_view->data, value_view->item_size);
  }
  return add_pad(planner, &call->inputs[0], &call->outputs[0], state->mode, begins, ends, value, err);
}

static int32_t tile_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  (void)op;
  const leati_view *const input = &call->inputs[0];
  int64_t repeats[LEAT_MAX_RANK];
  uint32_t count;
  LEATI_TRY(leati_read_ints(&call->inputs[1], "Tile: repeats", LEAT_MAX_RANK, repeats, &count, err));
  if ((int32_t)count != input->ndim) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Tile: 'repeats' has %u elements for an input of rank %d",
                      count, input->ndim);
  }
  out->ndim = input->ndim;
  for (int32_t d = 0; d < input->ndim; ++d) {
    if (repeats[d] < 0 || __builtin_mul_overflow(input->shape[d], repeats[d], &out->dims[d])) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Tile: dimension %d cannot be repeated %" PRId64 " times", d,
                        repeats[d]);
    }
  }
  return LEAT_OK;
}

static int32_t tile_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  (void)op;
  const int64_t none[LEAT_MAX_RANK] = {0};
  return add_pad(planner, &call->inputs[0], &call->outputs[0], PAD_WRAP, none, none, 0, err);
}

/* ---- DepthToSpace and SpaceToDepth ------------------------------------------------------------------------------ */

typedef struct block_state {
  int64_t size;
  bool channels_first; /* mode CRD: the depth counts channels before blocks */
} block_state;

static int32_t block_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  block_state *const state = leati_op_state(op);
  state->size = leati_attr_int(desc, "blocksize", 0);
  state->channels_first = leati_attr_is(desc, "mode", "CRD");
  if (leati_attr(desc, "mode") != NULL && !state->channels_first && !leati_attr_is(desc, "mode", "DCR")) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: 'mode' must be 'DCR' or 'CRD'",
                      leati_op_def_of(op)->info.name);
  }
  if (state->size < 1 || state->size > INT32_MAX) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: 'blocksize' is %" PRId64 "; expected at least 1",
                      leati_op_def_of(op)->info.name, state->size);
  }
  return LEAT_OK;
}

enum { DEPTH_TO_SPACE = 0, SPACE_TO_DEPTH = 1 };

static int32_t block_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const leati_op_def *const def = leati_op_def_of(op);
  const block_state *const state = leati_op_state_const(op);
  const leati_view *const input = &call->inputs[0];
  const int64_t b = state->size;
  const bool to_space = def->param == DEPTH_TO_SPACE;
  const bool fits = input->ndim == 4 &&
                    (to_space ? input->shape[1] % (b * b) == 0 : input->shape[2] % b == 0 && input->shape[3] % b == 0);
  if (!fits) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: the input must have rank 4 and %s divisible by %s %" PRId64, def->info.name,
                      to_space ? "a depth" : "a height and width", to_space ? "the square of" : "the block size", b);
  }
  out->ndim = 4;
  out->dims[0] = input->shape[0];
  /* The sizes of an empty input alone can be such that a product is too large. */
  bool overflow = false;
  if (to_space) {
    out->dims[1] = input->shape[1] / (b * b);
    overflow = __builtin_mul_overflow(input->shape[2], b, &out->dims[2]) ||
               __builtin_mul_overflow(input->shape[3], b, &out->dims[3]);
  } else {
    overflow = __builtin_mul_overflow(input->shape[1], b * b, &out->dims[1]);
    out->dims[2] = input->shape[2] / b;
    out->dims[3] = input->shape[3] / b;
  }
  return overflow
             ? leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                          "%s: a block size of %" PRId64 " gives more elements than can be counted", def->info.name, b)
             : LEAT_OK;
}

static int32_t block_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const block_state *const state = leati_op_state_const(op);
  const bool to_space = leati_op_def_of(op)->param == DEPTH_TO_SPACE;
  const int64_t b = state->size;
  leati_view src = call->inputs[0];
  leati_view dst = call->outputs[0];
  /* Both sides as [batch, channel, height, row in block, width, column in block]. `deep` is the side whose depth holds
   * the blocks. */
  leati_view *const deep = to_space ? &src : &dst;
  leati_view *const wide = to_space ? &dst : &src;
  const int64_t channels = wide->shape[1];
  const int64_t shape[6] = {deep->shape[0], channels, deep->shape[2], b, deep->shape[3], b};
  const int64_t depth = deep->strides[1];
  const bool crd = state->channels_first;
  const int64_t deep_strides[6] = {deep->strides[0], crd ? depth * b * b : depth,
                                   deep->strides[2], crd ? depth * b : depth * channels * b,
                                   deep->strides[3], crd ? depth : depth * channels};
  const int64_t wide_strides[6] = {wide->strides[0], wide->strides[1],     wide->strides[2] * b,
                                   wide->strides[2], wide->strides[3] * b, wide->strides[3]};
  reshape_view(deep, 6, shape, deep_strides);
  reshape_view(wide, 6, shape, wide_strides);
  return leati_plan_strided_copy(planner, &src, &dst, err);
}

/* ---- Trilu ------------------------------------------------------------------------------------------------------ */

typedef struct trilu_args {
  uint64_t src, dst;
  uint32_t count, rows, columns;
  int32_t diagonal;
  uint32_t upper;
} trilu_args;

typedef struct trilu_state {
  bool upper;
} trilu_state;

static int32_t trilu_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  trilu_state *const state = leati_op_state(op);
  state->upper = leati_attr_int(desc, "upper", 1) != 0;
  return LEAT_OK;
}

static int32_t trilu_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const leati_view *const k = leati_input(call, 1);
  if (call->inputs[0].ndim < 2 || (k != NULL && k->count != 1)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "Trilu: the input must have rank 2 or more and 'k' be a scalar");
  }
  return leati_infer_same(op, call, out, err);
}

static int32_t trilu_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const trilu_state *const state = leati_op_state_const(op);
  const leati_view *const dst = &call->outputs[0];
  const leati_view *const k = leati_input(call, 1);
  if (dst->count == 0) {
    return LEAT_OK;
  }
  leati_view src;
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[0], &src, err));
  LEATI_TRY(leati_check_reach(dst, "Trilu", err));
  const trilu_args args = {
      .count = (uint32_t)dst->count,
      .rows = (uint32_t)dst->shape[dst->ndim - 2],
      .columns = (uint32_t)dst->shape[dst->ndim - 1],
      .diagonal = k == NULL ? 0 : (int32_t)clamp(leati_host_int(k, 0), -INT32_MAX, INT32_MAX),
      .upper = state->upper ? 1 : 0,
  };
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find_item(LEATI_KERNELS_TRILU, dst->item_size)},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({&src, &args.src}),
      LEATI_WRITES({dst, &args.dst}),
  };
  leati_groups_linear(planner->device, args.count, LEATI_ITEMS_PER_GROUP, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

/* ---- The list --------------------------------------------------------------------------------------------------- */

static const leati_op_def ops[] = {
    LEATI_OP("Transpose", "", (1, 25), (1, 1), (1, 1), LEATI_TYPES(&leati_type_moved),
             LEATI_ATTRIBUTES(&attribute_perm), .state_size = sizeof(transpose_state), .any_size = true,
             .create = transpose_create, .infer = transpose_infer, LEATI_KERNELS(LEATI_KERNELS_COPY),
             .plan = transpose_plan),
    LEATI_OP("Expand", "", (8, 13), (2, 2), (1, 1), .info.host_inputs = 1u << 1,
             LEATI_TYPES(&leati_type_moved, &leati_type_int64), LEATI_INPUT_TYPES(0, 1), .any_size = true,
             .supports = expand_supports, .infer = expand_infer, LEATI_KERNELS(LEATI_KERNELS_COPY),
             .plan = expand_plan),
    LEATI_OP("Slice", "", (10, 13), (3, 5), (1, 1), .info.host_inputs = 0x1e,
             LEATI_TYPES(&leati_type_moved, &leati_type_index), LEATI_INPUT_TYPES(0, 1, 1, 1, 1), .any_size = true,
             .infer = slice_infer, LEATI_KERNELS(LEATI_KERNELS_COPY), .plan = slice_plan),
    LEATI_OP("Concat", "", (4, 13), (1, LEAT_VARIADIC), (1, 1), LEATI_TYPES(&leati_type_moved),
             LEATI_ATTRIBUTES(&leati_attribute_axis), .state_size = sizeof(axis_state), .any_size = true,
             .least_rank = 1, .supports = concat_supports, .create = axis_create, .infer = concat_infer,
             LEATI_KERNELS(LEATI_KERNELS_COPY, LEATI_KERNELS_SEGMENTS), .plan = concat_plan),
    LEATI_OP("Split", "", (13, 18), (1, 2), (1, LEAT_VARIADIC), .info.host_inputs = 1u << 1,
             LEATI_TYPES(&leati_type_moved, &leati_type_int64),
             LEATI_ATTRIBUTES(&leati_attribute_axis, &attribute_num_outputs), LEATI_INPUT_TYPES(0, 1),
             .state_size = sizeof(axis_state), .any_size = true, .least_rank = 1, .create = axis_create,
             .infer = split_infer, LEATI_KERNELS(LEATI_KERNELS_COPY, LEATI_KERNELS_SEGMENTS), .plan = split_plan),
    LEATI_OP("Pad", "", (11, 25), (2, 4), (1, 1), .info.host_inputs = 0xe,
             LEATI_TYPES(&leati_type_moved, &leati_type_int64, &leati_type_index),
             LEATI_ATTRIBUTES(&leati_attribute_mode), LEATI_INPUT_TYPES(0, 1, 0, 2), .state_size = sizeof(pad_state),
             .supports = pad_supports, .create = pad_create, .infer = pad_infer, LEATI_KERNELS(LEATI_KERNELS_PAD),
             .plan = pad_plan),
    LEATI_OP("Tile", "", (6, 13), (2, 2), (1, 1), .info.host_inputs = 1u << 1,
             LEATI_TYPES(&leati_type_moved, &leati_type_int64), LEATI_INPUT_TYPES(0, 1), .infer = tile_infer,
             LEATI_KERNELS(LEATI_KERNELS_COPY), .plan = tile_plan),
    LEATI_OP("DepthToSpace", "", (1, 28), (1, 1), (1, 1), LEATI_TYPES(&leati_type_moved),
             LEATI_ATTRIBUTES(&attribute_blocksize, &leati_attribute_mode), .state_size = sizeof(block_state),
             .param = DEPTH_TO_SPACE, .any_size = true, .least_rank = 4, .most_rank = 4, .create = block_create,
             .infer = block_infer, LEATI_KERNELS(LEATI_KERNELS_COPY), .plan = block_plan),
    LEATI_OP("SpaceToDepth", "", (1, 28), (1, 1), (1, 1), LEATI_TYPES(&leati_type_moved),
             LEATI_ATTRIBUTES(&attribute_blocksize, &leati_attribute_mode), .state_size = sizeof(block_state),
             .param = SPACE_TO_DEPTH, .any_size = true, .least_rank = 4, .most_rank = 4, .create = block_create,
             .infer = block_infer, LEATI_KERNELS(LEATI_KERNELS_COPY), .plan = block_plan),
    LEATI_OP("Trilu", "", (14, 14), (1, 2), (1, 1), .info.host_inputs = 1u << 1,
             LEATI_TYPES(&leati_type_moved, &leati_type_int64), LEATI_ATTRIBUTES(&attribute_upper),
             LEATI_INPUT_TYPES(0, 1), .state_size = sizeof(trilu_state), .least_rank = 2, .create = trilu_create,
             .infer = trilu_infer, LEATI_KERNELS(LEATI_KERNELS_TRILU), .plan = trilu_plan),
};

const leati_op_family leati_movement_family = LEATI_FAMILY(ops);
