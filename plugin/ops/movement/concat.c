/* SPDX-License-Identifier: BSD-3-Clause */
/* Concat and Split; com.microsoft's QLinearConcat, whose inputs have scales of their own. */
#include <inttypes.h>
#include <string.h>

#include "core/status.h"
#include "ops/core/adapter.h"
#include "ops/core/attribute.h"
#include "ops/core/channels_last.h"
#include "ops/core/dims.h"
#include "ops/core/host_kernel.h"
#include "ops/core/movement.h"
#include "ops/elementwise/pointwise.h"
#include "ops/elementwise/scaled.h"
#include "policy/tiling.h"

static LEATI_ATTRIBUTE(attribute_num_outputs, "num_outputs", INT);
static LEATI_ATTRIBUTE(attribute_split, "split", INTS);

#define SEGMENTS_MAX LEATI_ACCESS_MAX

/* A block of rows, in bytes until it is dispatched. */
typedef struct segment {
  uint64_t src, dst;
  uint32_t count, row, src_pitch, dst_pitch, src_step;
} segment;

typedef struct segments_args {
  segment segments[SEGMENTS_MAX];
  uint32_t used;   /* segments that there are */
  uint32_t groups; /* workgroups of each */
} segments_args;

/* Blocks that are collected for one dispatch. */
typedef struct segments {
  uint32_t count;
  leati_view src[SEGMENTS_MAX], dst[SEGMENTS_MAX]; /* at their first element; with the extent of the whole tensor */
  uint64_t rows[SEGMENTS_MAX];
  uint64_t row[SEGMENTS_MAX], src_pitch[SEGMENTS_MAX], dst_pitch[SEGMENTS_MAX]; /* bytes */
  bool apart[SEGMENTS_MAX];        /* the elements of a row of `src` are no neighbours */
  uint64_t src_step[SEGMENTS_MAX]; /* bytes from one to the next then */
} segments;

static int32_t add_segments(leati_planner *planner, segments *s, leat_error *err) {
  if (s->count == 0) {
    return LEAT_OK;
  }
  uint64_t quantities = 0;
  for (uint32_t i = 0; i < s->count; ++i) {
    quantities |= s->src[i].address | s->dst[i].address | s->row[i] | s->src_pitch[i] | s->dst_pitch[i];
    quantities |= s->apart[i] ? s->src_step[i] | s->src[i].item_size : 0;
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
        .src_step = s->apart[i] ? (uint32_t)(s->src_step[i] / width) : 1,
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
  args.used = s->count;
  args.groups = (uint32_t)((most + LEATI_ITEMS_PER_GROUP - 1) / LEATI_ITEMS_PER_GROUP);
  leati_groups_linear(planner->device, (uint64_t)args.used * args.groups, 1, dispatch.groups);
  s->count = 0;
  return leati_plan_dispatch(planner, &dispatch, err);
}

typedef struct axis_state {
  int64_t axis;
  int64_t num_outputs; /* Split: 0 when not given */
} axis_state;

static int32_t fail_size(const char *name, uint32_t i, int64_t size, int32_t dimension, int64_t first,
                         leat_error *err) {
  return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                    "%s: tensor %u has size %" PRId64 " in dimension %d, the first has %" PRId64, name, i, size,
                    dimension, first);
}

static int32_t concat_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                               leat_error *err) {
  (void)device;
  return leati_attr(desc, "axis") != NULL
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: attribute 'axis' is missing", def->info.name);
}

/* Fails if what is known of the shapes of tensors says that they do not lie side by side. */
static int32_t tensors_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                                leat_error *err) {
  LEATI_TRY(concat_supports(def, device, desc, err));
  const leat_value_info *const first = &desc->inputs[0];
  const int64_t given = leati_attr_int(desc, "axis", 0), axis = given < 0 ? given + first->ndim : given;
  for (uint32_t i = 1; i < desc->input_count; ++i) {
    const leat_value_info *const input = &desc->inputs[i];
    if (!leati_may_equal(first->ndim, input->ndim)) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: tensor %u has %d dimensions, the first has %d",
                        def->info.name, i, input->ndim, first->ndim);
    }
    for (int32_t d = 0; d < first->ndim && d < input->ndim; ++d) {
      if (d != axis && !leati_may_equal(first->shape[d], input->shape[d])) {
        return fail_size(def->info.name, i, input->shape[d], d, first->shape[d], err);
      }
    }
  }
  return LEAT_OK;
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
  const char *const name = leati_op_def_of(op)->info.name;
  int32_t axis;
  LEATI_TRY(leati_axis(state->axis, first->ndim, &axis, err));
  LEATI_TRY(leati_infer_same(op, call, out, err));
  for (uint32_t i = 1; i < call->input_count; ++i) {
    const leati_view *const input = leati_input(call, i);
    if (input == NULL || input->ndim != first->ndim) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: tensor %u is absent or has another rank than the first",
                        name, i);
    }
    for (int32_t d = 0; d < first->ndim; ++d) {
      if (d != axis && input->shape[d] != first->shape[d]) {
        return fail_size(name, i, input->shape[d], d, first->shape[d], err);
      }
    }
    /* Empty inputs may have sizes that together are more than can be counted. */
    if (__builtin_add_overflow(out->dims[axis], input->shape[axis], &out->dims[axis])) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: the result is too large in dimension %d", name, axis);
    }
  }
  return LEAT_OK;
}

/* The part of `shape` of a tensor that begins at `first` along the axis. */
static leati_view slice_along(const leati_view *view, int32_t axis, int64_t first, const int64_t *shape) {
  static const int64_t step[LEAT_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
  int64_t start[LEAT_MAX_RANK] = {0};
  start[axis] = first;
  return leati_view_slice(view, start, step, shape);
}

static int32_t concat_part(const leat_op *op, const leati_call *call, uint32_t i, leati_view *out, leat_error *err) {
  const axis_state *const state = leati_op_state_const(op);
  int32_t axis;
  LEATI_TRY(leati_axis(state->axis, call->outputs[0].ndim, &axis, err));
  int64_t position = 0;
  for (uint32_t k = 0; k < i; ++k) {
    position += call->inputs[k].shape[axis];
  }
  *out = slice_along(&call->outputs[0], axis, position, call->inputs[i].shape);
  return LEAT_OK;
}

/* Collects the copy of a view to a part of the result that is not as simple as between compact ones, if it is rows of
 * elements that lie equally far apart; `scattered`: also if they are no neighbours in the view. */
static bool add_apart(segments *s, const leati_view *src, const leati_view *part, bool scattered) {
  const uint32_t i = s->count, item = src->item_size;
  int64_t dims[LEAT_MAX_RANK], strides[2][LEAT_MAX_RANK];
  memcpy(dims, src->shape, sizeof(dims));
  memcpy(strides[0], src->strides, sizeof(strides[0]));
  memcpy(strides[1], part->strides, sizeof(strides[1]));
  const int32_t rank = leati_collapse(src->ndim, dims, 2, strides), last = rank - 1;
  if (rank > 2 || strides[1][last] != 1 || (strides[0][last] != 1 && !scattered) || strides[0][0] < 0 ||
      strides[0][last] < 0 || (src->end - src->begin) / item > INT32_MAX ||
      (rank == 2 && dims[0] * strides[0][0] > INT32_MAX)) {
    return false;
  }
  s->src[i] = *src;
  s->dst[i] = *part;
  s->rows[i] = rank == 2 ? (uint64_t)dims[0] : 1;
  s->row[i] = (uint64_t)dims[last] * item;
  s->src_pitch[i] = rank == 2 ? (uint64_t)strides[0][0] * item : 0;
  s->dst_pitch[i] = rank == 2 ? (uint64_t)strides[1][0] * item : 0;
  s->apart[i] = strides[0][last] != 1;
  s->src_step[i] = (uint64_t)strides[0][last] * item;
  ++s->count;
  return true;
}

static int32_t concat_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const axis_state *const state = leati_op_state_const(op);
  int32_t axis;
  LEATI_TRY(leati_axis(state->axis, call->outputs[0].ndim, &axis, err));
  /* In NHWC layout the dimensions are taken in the order in which they lie. */
  const bool last = leati_is_channels_last(&call->outputs[0]);
  const leati_view ordered = last ? leati_channels_last_order(&call->outputs[0]) : call->outputs[0];
  const leati_view *const dst = &ordered;
  axis = !last || axis == 0 ? axis : axis == 1 ? dst->ndim - 1 : axis - 1;
  const uint64_t rows = leati_product(dst->shape, 0, axis);
  const uint64_t inner = leati_product(dst->shape, axis + 1, dst->ndim) * dst->item_size;
  const bool scattered = leati_reads_scattered(dst->count * dst->item_size);
  segments s;
  s.count = 0;
  int64_t position = 0;
  for (uint32_t i = 0; i < call->input_count; ++i) {
    const leati_view given = last ? leati_channels_last_order(&call->inputs[i]) : call->inputs[i];
    const leati_view *const src = &given;
    const int64_t size = src->shape[axis];
    if (src->count == 0) {
      position += size;
      continue;
    }
    if (!src->compact || !dst->compact) {
      const leati_view part = slice_along(dst, axis, position, src->shape);
      position += size;
      if (!add_apart(&s, src, &part, scattered)) {
        LEATI_TRY(leati_plan_strided_copy(planner, src, &part, err));
      } else if (s.count == SEGMENTS_MAX) {
        LEATI_TRY(add_segments(planner, &s, err));
      }
      continue;
    }
    s.apart[s.count] = false;
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

static void concat_evaluate(const leat_op *op, const leati_call *call, uint32_t o) {
  const axis_state *const state = leati_op_state_const(op);
  const leati_view *const out = &call->outputs[o];
  const int32_t axis = (int32_t)(state->axis < 0 ? state->axis + out->ndim : state->axis);
  const uint64_t inner = leati_product(out->shape, axis + 1, out->ndim) * out->item_size;
  const uint64_t row = (uint64_t)out->shape[axis] * inner; /* bytes from one step before the axis to the next */
  unsigned char *to = out->data;
  for (uint32_t i = 0; i < call->input_count; ++i) {
    const leati_view *const in = &call->inputs[i];
    const uint64_t part = (uint64_t)in->shape[axis] * inner,
                   rows = in->count == 0 ? 0 : in->count * in->item_size / part;
    for (uint64_t k = 0; k < rows; ++k) {
      memcpy(to + k * row, (const unsigned char *)in->data + k * part, part);
    }
    to += part;
  }
}

/* Whether all inputs with elements can be made where they go, in a result that lies like `y`: compact, or in NHWC
 * layout. */
static bool can_join(const leat_op *op, const leati_call *call, const leati_view *y) {
  const leati_call lies = {.input_count = call->input_count, .inputs = call->inputs, .output_count = 1, .outputs = y};
  bool can = true;
  for (uint32_t i = 0; i < call->input_count && can; ++i) {
    leati_view part;
    can = call->inputs[i].count == 0 ||
          (concat_part(op, &lies, i, &part, NULL) == LEAT_OK &&
           (y->compact ? part.compact && part.address % LEATI_PLAN_ALIGNMENT == 0 : leati_holds_channels(&part)));
  }
  return can;
}

/* It costs nothing where inputs are made in the result as well as if they lay compact; or copied as well, channels four
 * at a time. Where they are made there only so, a copy is gained. */
static leati_channels_last_use concat_channels_last(const leat_op *op, const leati_call *call, uint32_t constants) {
  leati_view compact = call->outputs[0], last = compact;
  leati_channels_last_use use = {0};
  if (call->input_count > 32 || !leati_has_channels(&compact)) {
    return use;
  }
  leati_view_make_compact(&compact);
  leati_make_channels_last(&last);
  const bool joins = can_join(op, call, &last), copies = !can_join(op, call, &compact);
  use.writes = joins || copies;
  for (uint32_t i = 0; i < call->input_count; ++i) {
    const leati_view *const x = &call->inputs[i];
    const uint32_t bit = 1u << i;
    use.writes = use.writes && x->shape[1] % 4 == 0;
    if (!leati_has_channels(x)) {
      use.reads |= bit;
    } else if ((constants & bit) == 0) {
      use.requires_output_layout |= bit;
      use.prefers |= joins && copies ? bit : 0;
    } else if (leati_is_channels_last(&call->outputs[0])) {
      use.orders |= bit;
    }
  }
  return use;
}

/* ---- QLinearConcat ---------------------------------------------------------------------------------------------- */

#define PARTS_MAX 32

/* Scale and zero point of the result come first, then each tensor with those of its own. */
enum { SCALE, ZERO, FIRST };
static uint32_t input_of(uint32_t part) {
  return FIRST + 3 * part;
}

/* The call as one of Concat has it. */
static leati_call plain_call(const leati_call *call, leati_view parts[PARTS_MAX]) {
  leati_call plain = {.inputs = parts, .output_count = call->output_count, .outputs = call->outputs};
  for (uint32_t i = FIRST; i < call->input_count; i += 3) {
    parts[plain.input_count++] = call->inputs[i];
  }
  return plain;
}

static int32_t qlinear_concat_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  leati_view parts[PARTS_MAX];
  const leati_call plain = plain_call(call, parts);
  LEATI_TRY(leati_check_scale(op, call, SCALE, err));
  for (uint32_t i = 0; i < plain.input_count; ++i) {
    LEATI_TRY(leati_check_scale(op, call, input_of(i) + 1, err));
  }
  return concat_infer(op, &plain, out, err);
}

static int32_t qlinear_concat_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  static const leati_function same = {.operation = LEAT_EW_IDENTITY};
  leati_view parts[PARTS_MAX];
  const leati_call plain = plain_call(call, parts);
  for (uint32_t i = 0; i < plain.input_count; ++i) {
    const leati_scaled from = leati_scaled_by(call, &parts[i], input_of(i) + 1);
    leati_scaled to = leati_scaled_by(call, &call->outputs[0], SCALE);
    LEATI_TRY(concat_part(op, &plain, i, &to.view, err));
    LEATI_TRY(leati_plan_scaled(planner, &same, &from, 1, &to, err));
  }
  return LEAT_OK;
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
  if (split == NULL && leati_op_since_version(op) < 18 && total % call->output_count != 0) {
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

static int32_t split_view(const leat_op *op, const leati_call *call, uint32_t o, leati_view *out, leat_error *err) {
  const axis_state *const state = leati_op_state_const(op);
  const leati_view *const src = &call->inputs[0];
  int32_t axis;
  LEATI_TRY(leati_axis(state->axis, src->ndim, &axis, err));
  int64_t first = 0;
  for (uint32_t i = 0; i < o; ++i) {
    first += split_size(call, src->shape[axis], i);
  }
  *out = slice_along(src, axis, first, call->outputs[o].shape);
  return LEAT_OK;
}

/* Copies parts that are not as simple as those of a compact input: rows of neighbours by one dispatch, NHWC layout
 * too. */
static int32_t split_views(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  segments s;
  s.count = 0;
  for (uint32_t i = 0; i < call->output_count; ++i) {
    const leati_view *const dst = leati_output(call, i);
    leati_view part;
    if (dst == NULL || dst->count == 0) {
      continue;
    }
    LEATI_TRY(split_view(op, call, i, &part, err));
    const bool last = leati_is_channels_last(dst);
    const leati_view from = last ? leati_channels_last_order(&part) : part;
    const leati_view to = last ? leati_channels_last_order(dst) : *dst;
    if (!add_apart(&s, &from, &to, false)) {
      LEATI_TRY(leati_plan_strided_copy(planner, &from, &to, err));
    } else if (s.count == SEGMENTS_MAX) {
      LEATI_TRY(add_segments(planner, &s, err));
    }
  }
  return add_segments(planner, &s, err);
}

/* A compact input is taken apart by one dispatch, whatever the number of parts. */
static int32_t split_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const axis_state *const state = leati_op_state_const(op);
  const leati_view *const src = &call->inputs[0];
  int32_t axis;
  if (!src->compact) {
    return split_views(op, planner, call, err);
  }
  LEATI_TRY(leati_axis(state->axis, src->ndim, &axis, err));
  const uint64_t rows = leati_product(src->shape, 0, axis);
  const uint64_t inner = leati_product(src->shape, axis + 1, src->ndim) * src->item_size;
  segments s;
  s.count = 0;
  int64_t position = 0;
  for (uint32_t i = 0; i < call->output_count; ++i) {
    const leati_view *const dst = leati_output(call, i);
    const int64_t size = split_size(call, src->shape[axis], i);
    const int64_t first = position;
    position += size;
    if (dst == NULL || dst->count == 0) {
      continue;
    }
    s.apart[s.count] = false;
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

/* Nothing is gained by itself, and nothing lost where all parts can stay where they are. */
static leati_channels_last_use split_channels_last(const leat_op *op, const leati_call *call, uint32_t constants) {
  (void)constants;
  leati_view inputs[2] = {call->inputs[0]};
  leati_channels_last_use use = {.writes = leati_has_channels(&inputs[0]), .requires_output_layout = 1u << 0};
  if (leati_input(call, 1) != NULL) {
    inputs[1] = call->inputs[1];
  }
  if (use.writes) {
    leati_make_channels_last(&inputs[0]);
  }
  const leati_call lies = {
      .input_count = call->input_count, .inputs = inputs, .output_count = call->output_count, .outputs = call->outputs};
  for (uint32_t i = 0; i < call->output_count && use.writes; ++i) {
    leati_view part;
    use.writes = leati_output(call, i) == NULL || (split_view(op, &lies, i, &part, NULL) == LEAT_OK &&
                                                   leati_holds_channels(&part) && part.shape[1] % 4 == 0);
  }
  return use;
}

/* ---- The list --------------------------------------------------------------------------------------------------- */

static LEATI_TYPE(type_parts, "T8", LEATI_TYPES_BYTE);

/* A tensor, its scale and its zero point. */
#define PART 0, 1, 0
#define FOUR_PARTS PART, PART, PART, PART

static const leati_op_def ops[] = {
    LEATI_OP("Concat", "", (4, 13), (1, LEAT_VARIADIC), (1, 1),
             LEATI_EVALUATED(0, LEATI_EVALUATED_ALL, concat_evaluate), LEATI_TYPES(&leati_type_moved),
             LEATI_ATTRIBUTES(&leati_attribute_axis), .state_size = sizeof(axis_state), .any_size = true,
             .least_rank = 1, .supports = tensors_supports, .create = axis_create, .infer = concat_infer,
             LEATI_KERNELS(LEATI_KERNELS_COPY, LEATI_KERNELS_SEGMENTS), .plan = concat_plan, .part = concat_part,
             .reads_view = leati_reads_any_view, .channels_last = concat_channels_last),
    LEATI_OP("QLinearConcat", "com.microsoft", (1, 1), (4, FIRST + 3 * PARTS_MAX), (1, 1),
             LEATI_TYPES(&type_parts, &leati_type_scale), LEATI_ATTRIBUTES(&leati_attribute_axis),
             LEATI_INPUT_TYPES(1, 0, FOUR_PARTS, FOUR_PARTS, FOUR_PARTS, FOUR_PARTS, FOUR_PARTS, FOUR_PARTS, FOUR_PARTS,
                               FOUR_PARTS),
             .state_size = sizeof(axis_state), .supports = concat_supports, .create = axis_create,
             .infer = qlinear_concat_infer, LEATI_KERNELS(LEATI_KERNELS_SCALED_POINTWISE), .plan = qlinear_concat_plan,
             .reads_view = leati_reads_rows),
    LEATI_OP("Split", "", (2, 11), (1, 1), (1, LEAT_VARIADIC),
             LEATI_EVALUATED(0, LEATI_EVALUATED_ALL, leati_evaluate_view), LEATI_TYPES(&leati_type_moved),
             LEATI_ATTRIBUTES(&leati_attribute_axis, &attribute_split), .state_size = sizeof(axis_state),
             .any_size = true, .least_rank = 1, .create = axis_create, .infer = leati_adapted_infer,
             LEATI_KERNELS(LEATI_KERNELS_COPY, LEATI_KERNELS_SEGMENTS), .plan = leati_adapted_plan,
             .view = leati_adapted_view, .channels_last = leati_adapted_channels_last,
             LEATI_ADAPTER(.inputs = {{&attribute_split, 1, false}}, .infer = split_infer, .plan = split_plan,
                           .view = split_view, .channels_last = split_channels_last)),
    LEATI_OP("Split", "", (13, 18), (1, 2), (1, LEAT_VARIADIC),
             LEATI_EVALUATED(0, LEATI_EVALUATED_ALL, leati_evaluate_view), .info.host_inputs = 1u << 1,
             LEATI_TYPES(&leati_type_moved, &leati_type_int64),
             LEATI_ATTRIBUTES(&leati_attribute_axis, &attribute_num_outputs), LEATI_INPUT_TYPES(0, 1),
             .state_size = sizeof(axis_state), .any_size = true, .least_rank = 1, .create = axis_create,
             .infer = split_infer, LEATI_KERNELS(LEATI_KERNELS_COPY, LEATI_KERNELS_SEGMENTS), .plan = split_plan,
             .view = split_view, .channels_last = split_channels_last),
};

const leati_op_family leati_concat_family = LEATI_FAMILY(ops);
