/* SPDX-License-Identifier: BSD-3-Clause */
/* Operators that find elements by indices from tensor data: Gather, GatherElements, GatherND, ScatterElements,
 * ScatterND. An index out of range reads 0 or writes nothing: the kernels check every one before it becomes an address.
 * Under guard they also tell of it. */
#include <inttypes.h>
#include <string.h>

#include "core/status.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/core/divider.h"
#include "ops/core/host_kernel.h"
#include "ops/core/movement.h"
#include "ops/elementwise/elementwise.h"

static LEATI_ATTRIBUTE(attribute_batch_dims, "batch_dims", INT);
static LEATI_ATTRIBUTE(attribute_reduction, "reduction", STRING);

typedef struct index_state {
  int64_t axis;       /* GatherND: batch_dims */
  uint32_t reduction; /* of ScatterElements and ScatterND: 0, or LEAT_EW_* + 1 */
} index_state;

static int32_t index_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  static const char *const names[] = {"none", "add", "mul", "min", "max"};
  static const uint32_t operations[] = {0, LEAT_EW_ADD + 1, LEAT_EW_MUL + 1, LEAT_EW_MIN + 1, LEAT_EW_MAX + 1};
  index_state *const state = leati_op_state(op);
  uint32_t reduction = 0;
  state->axis = leati_attr_int(desc, "axis", leati_attr_int(desc, "batch_dims", 0));
  LEATI_TRY(leati_attr_choice(desc, leati_op_def_of(op)->info.name, "reduction", names,
                              sizeof(names) / sizeof(names[0]), &reduction, err));
  state->reduction = operations[reduction];
  return LEAT_OK;
}

#define TYPES_REDUCED (LEATI_TYPES_OF_SCATTER_REDUCE | LEATI_TYPES_HALF)

static int32_t scatter_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                                leat_error *err) {
  (void)device;
  return leati_attr(desc, "reduction") == NULL || leati_attr_is(desc, "reduction", "none") ||
                 (leati_type_of(desc->inputs[0].dtype) & TYPES_REDUCED) != 0
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s: a reduction of float64 or bool is not supported",
                          def->info.name);
}

static uint32_t is_32(const leati_view *indices) {
  return indices->type == LEAT_TYPE_INT32 ? 1 : 0;
}

static int32_t check_all(const leati_call *call, leat_error *err) {
  const char *const what = "an operator with indices";
  for (uint32_t i = 0; i < call->input_count; ++i) {
    if (!call->inputs[i].host) {
      LEATI_TRY(leati_check_reach(&call->inputs[i], what, err));
    }
  }
  return leati_check_reach(&call->outputs[0], what, err);
}

/* ---- Reductions ------------------------------------------------------------------------------------------------- */

/* Argument record of kernels/scatter_reduce.comp, which says what lines and places are. */
typedef struct reduce_args {
  uint64_t data, indices, updates;
  uint32_t threads, per_line;
  leati_divider of_line;
  uint32_t rank, tuple, begin, end, index_step, update_step, place_step;
  uint32_t dims[LEAT_MAX_RANK], index_stride[LEAT_MAX_RANK], update_stride[LEAT_MAX_RANK], data_stride[LEAT_MAX_RANK];
  uint32_t sizes[LEAT_MAX_RANK], places[LEAT_MAX_RANK];
  uint64_t finding;
} reduce_args;

/* Threads that have work on any device. More of them for a line read its indices more often. */
#define REDUCE_THREADS 16384
#define REDUCE_GROUP 64

/* Plans a scatter with a reduction into `y`: `args` says how `count` updates of each of `lines` lines lie. All have
 * elements. */
static int32_t add_reduction(const leat_op *op, leati_planner *planner, const leati_call *call, reduce_args *args,
                             uint64_t lines, uint32_t count, uint64_t places, leat_error *err) {
  const index_state *const state = leati_op_state_const(op);
  const leati_view *const y = &call->outputs[0];
  leati_view indices, updates, sums = *y;
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[1], &indices, err));
  if ((y->type & LEATI_TYPES_HALF) != 0) {
    /* What is added up is not rounded before the end. */
    LEATI_TRY(leati_plan_wide(planner, &call->inputs[2], &updates, err));
    LEATI_TRY(leati_plan_cast(planner, &call->inputs[2], &updates, err));
    LEATI_TRY(leati_plan_wide(planner, y, &sums, err));
    LEATI_TRY(leati_plan_cast(planner, &call->inputs[0], &sums, err));
  } else {
    LEATI_TRY(leati_plan_compact(planner, &call->inputs[2], &updates, err));
    LEATI_TRY(leati_plan_strided_copy(planner, &call->inputs[0], y, err));
  }
  const uint64_t shared = lines < REDUCE_THREADS ? REDUCE_THREADS / lines : 1;
  args->per_line = (uint32_t)(shared < places ? shared : places);
  args->of_line = leati_divider_of(args->per_line);
  args->threads = (uint32_t)(lines * args->per_line);
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_SCATTER_REDUCE, sums.type),
                   .constants.scatter_reduce = {.index_is_32 = is_32(&indices),
                                                .reports_bad_index = planner->guarded,
                                                .operation = state->reduction - 1}},
      .args = args,
      .args_size = sizeof(*args),
      LEATI_READS({&indices, &args->indices}, {&updates, &args->updates}, {&sums, &args->data}),
      LEATI_WRITES({&sums, &args->data}),
      .finding = &args->finding,
      .fault = LEATI_FAULT_INDEX,
      .name = leati_op_def_of(op)->info.name,
  };
  leati_groups_linear(planner->device, args->threads, REDUCE_GROUP, dispatch.groups);
  const uint32_t most = (LEATI_ROUNDS_MAX - LEAT_MAX_RANK) / (2 + args->tuple);
  for (args->begin = 0; args->begin < count; args->begin = args->end) {
    args->end = count - args->begin > most ? args->begin + most : count;
    LEATI_TRY(leati_plan_dispatch(planner, &dispatch, err));
  }
  return sums.type != y->type ? leati_plan_cast(planner, &sums, y, err) : LEAT_OK;
}

/* ---- Slices that are a view ------------------------------------------------------------------------------------- */

/* Where the slice begins that the indices of tuple `i` name, in elements behind the first of `data`; false: one of them
 * is out of range. They are for `tuple` dimensions from `axis` on, and known. */
static bool find_slice(const leati_view *data, const leati_view *indices, int32_t axis, int32_t tuple, uint64_t i,
                       int64_t *out) {
  bool within = true;
  *out = 0;
  for (int32_t k = 0; k < tuple && within; ++k) {
    const uint64_t at = i * (uint64_t)tuple + (uint64_t)k;
    const int64_t given =
        is_32(indices) != 0 ? ((const int32_t *)indices->data)[at] : ((const int64_t *)indices->data)[at];
    const int64_t size = data->shape[axis + k], index = given < 0 ? given + size : given;
    within = index >= 0 && index < size;
    *out += within ? index * data->strides[axis + k] : 0;
  }
  return within;
}

/* Indices that are looked at for a view at most: it is asked for several times while a graph is planned. */
#define PICKED_MAX 4096

/* Makes `out` what known indices pick from input 0, if they lie within it and each step along a dimension of theirs
 * leads as far as the one before: one index, some in a row, or the same one over and over. */
static void pick_view(const leati_call *call, uint32_t o, int32_t axis, int32_t tuple, leati_view *out) {
  const leati_view *const data = &call->inputs[0], *const indices = &call->inputs[1], *const result = &call->outputs[o];
  const int32_t behind = data->ndim - axis - tuple, ndim = result->ndim - axis - behind;
  const uint64_t count = leati_product(indices->shape, 0, ndim);
  int64_t first, next, strides[LEAT_MAX_RANK] = {0};
  uint64_t step = 1;
  bool even =
      indices->data != NULL && count != 0 && count <= PICKED_MAX && find_slice(data, indices, axis, tuple, 0, &first);
  for (int32_t d = ndim; d-- > 0 && even; step *= (uint64_t)indices->shape[d]) {
    even = find_slice(data, indices, axis, tuple, indices->shape[d] > 1 ? step : 0, &next);
    strides[axis + d] = next - first;
  }
  for (uint64_t i = 1; i < count && even; ++i) {
    int64_t expected = first;
    uint64_t rest = i;
    for (int32_t d = ndim; d-- > 0; rest /= (uint64_t)indices->shape[d]) {
      expected += (int64_t)(rest % (uint64_t)indices->shape[d]) * strides[axis + d];
    }
    even = find_slice(data, indices, axis, tuple, i, &next) && next == expected;
  }
  *out = *data;
  out->present = even;
  if (even) {
    memcpy(strides, data->strides, (size_t)axis * sizeof(strides[0]));
    memcpy(&strides[axis + ndim], &data->strides[axis + tuple], (size_t)behind * sizeof(strides[0]));
    out->address += (uint64_t)(first * (int64_t)data->item_size);
    leati_view_reshape(out, result->ndim, result->shape, strides);
  }
}

/* ---- Gather ----------------------------------------------------------------------------------------------------- */

typedef struct gather_args {
  uint64_t data, indices, dst;
  uint32_t count, inner, axis_size, index_count;
  leati_divider per_inner, per_index;
  uint64_t finding;
} gather_args;

static int32_t gather_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                               leat_error *err) {
  (void)device;
  const int32_t data = desc->inputs[0].ndim, indices = desc->inputs[1].ndim;
  return data < 0 || indices < 0 ? LEAT_OK : leati_check_rank(def->info.name, data - 1 + indices, err);
}

static int32_t gather_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const index_state *const state = leati_op_state_const(op);
  const leati_view *const data = &call->inputs[0];
  const leati_view *const indices = &call->inputs[1];
  int32_t axis;
  LEATI_TRY(leati_axis(state->axis, data->ndim, &axis, err));
  LEATI_TRY(leati_check_rank("Gather", data->ndim - 1 + indices->ndim, err));
  for (int32_t d = 0; d < axis; ++d) {
    out->dims[out->ndim++] = data->shape[d];
  }
  for (int32_t d = 0; d < indices->ndim; ++d) {
    out->dims[out->ndim++] = indices->shape[d];
  }
  for (int32_t d = axis + 1; d < data->ndim; ++d) {
    out->dims[out->ndim++] = data->shape[d];
  }
  return LEAT_OK;
}

static int32_t gather_view(const leat_op *op, const leati_call *call, uint32_t o, leati_view *out, leat_error *err) {
  const index_state *const state = leati_op_state_const(op);
  int32_t axis;
  LEATI_TRY(leati_axis(state->axis, call->inputs[0].ndim, &axis, err));
  pick_view(call, o, axis, 1, out);
  return LEAT_OK;
}

static int32_t gather_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const index_state *const state = leati_op_state_const(op);
  const leati_view *const dst = &call->outputs[0];
  if (dst->count == 0) {
    return LEAT_OK;
  }
  leati_view data, indices;
  int32_t axis;
  LEATI_TRY(gather_view(op, call, 0, &data, err));
  if (data.present) {
    return leati_plan_strided_copy(planner, &data, dst, err);
  }
  LEATI_TRY(leati_axis(state->axis, call->inputs[0].ndim, &axis, err));
  LEATI_TRY(check_all(call, err));
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[0], &data, err));
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[1], &indices, err));
  const uint64_t inner = leati_product(data.shape, axis + 1, data.ndim) * data.item_size;
  const uint32_t width = leati_item_width(inner | data.address | dst->address);
  gather_args args = {
      .count = (uint32_t)(dst->count * dst->item_size / width),
      .inner = (uint32_t)(inner / width),
      .axis_size = (uint32_t)data.shape[axis],
      .index_count = (uint32_t)indices.count,
      .per_inner = leati_divider_of((uint32_t)(inner / width)),
      .per_index = leati_divider_of((uint32_t)indices.count),
  };
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find_item(LEATI_KERNELS_GATHER, width),
                   .constants.gather = {.index_is_32 = is_32(&indices), .reports_bad_index = planner->guarded}},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({&data, &args.data}, {&indices, &args.indices}),
      LEATI_WRITES({dst, &args.dst}),
      .finding = &args.finding,
      .fault = LEATI_FAULT_INDEX,
      .name = leati_op_def_of(op)->info.name,
  };
  leati_groups_linear(planner->device, args.count, LEATI_ITEMS_PER_GROUP, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

static void gather_evaluate(const leat_op *op, const leati_call *call, uint32_t o) {
  const index_state *const state = leati_op_state_const(op);
  const leati_view *const data = &call->inputs[0], *const indices = &call->inputs[1], *const out = &call->outputs[o];
  const int32_t axis = (int32_t)(state->axis < 0 ? state->axis + data->ndim : state->axis);
  const int64_t size = data->shape[axis];
  const uint64_t inner = leati_product(data->shape, axis + 1, data->ndim);
  for (uint64_t i = 0; i < out->count; ++i) {
    const int64_t given = leati_host_get(indices, i / inner % indices->count), index = given < 0 ? given + size : given;
    const uint64_t outer = i / inner / indices->count;
    const uint64_t at = (outer * (uint64_t)size + (uint64_t)index) * inner + i % inner;
    leati_host_move_indexed(data, index >= 0 && index < size, at, out, i);
  }
}

/* ---- GatherElements and ScatterElements ------------------------------------------------------------------------- */

typedef struct elements_args {
  uint64_t data, indices, other;
  uint32_t count, rank, axis, axis_size;
  uint32_t dims[LEAT_MAX_RANK];
  int32_t strides[LEAT_MAX_RANK];
  uint64_t finding;
} elements_args;

/* The indices have the rank of the data, and outside the axis they are not larger. */
static int32_t check_elements(const leat_op *op, const leati_call *call, int32_t *out_axis, leat_error *err) {
  const index_state *const state = leati_op_state_const(op);
  const leati_view *const data = &call->inputs[0];
  const leati_view *const indices = &call->inputs[1];
  LEATI_TRY(leati_axis(state->axis, data->ndim, out_axis, err));
  bool fits = indices->ndim == data->ndim;
  for (int32_t d = 0; fits && d < data->ndim; ++d) {
    fits = d == *out_axis || indices->shape[d] <= data->shape[d];
  }
  return fits ? LEAT_OK
              : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                           "%s: the indices must have the rank of the data and, outside the axis, sizes within its",
                           leati_op_def_of(op)->info.name);
}

static int32_t gather_elements_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const leati_view *const indices = &call->inputs[1];
  int32_t axis;
  LEATI_TRY(check_elements(op, call, &axis, err));
  out->ndim = indices->ndim;
  memcpy(out->dims, indices->shape, (size_t)indices->ndim * sizeof(out->dims[0]));
  return LEAT_OK;
}

static int32_t scatter_elements_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const leati_view *const indices = &call->inputs[1];
  const leati_view *const updates = &call->inputs[2];
  int32_t axis;
  LEATI_TRY(check_elements(op, call, &axis, err));
  if (updates->ndim != indices->ndim ||
      memcmp(updates->shape, indices->shape, (size_t)indices->ndim * sizeof(indices->shape[0])) != 0) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: indices and updates have different shapes",
                      leati_op_def_of(op)->info.name);
  }
  return leati_infer_same(op, call, out, err);
}

/* `data` is what the indices point into; `other` has the shape of the indices. Both of them and `indices` are in place.
 */
static int32_t add_elements(const leat_op *op, leati_planner *planner, const leati_view *data,
                            const leati_view *indices, const leati_view *other, int32_t axis, bool scatter,
                            leat_error *err) {
  elements_args args = {
      .count = (uint32_t)indices->count,
      .rank = (uint32_t)indices->ndim,
      .axis = (uint32_t)axis,
      .axis_size = (uint32_t)data->shape[axis],
  };
  for (int32_t d = 0; d < indices->ndim; ++d) {
    args.dims[d] = (uint32_t)indices->shape[d];
    args.strides[d] = data->shape[d] == 1 ? 0 : (int32_t)data->strides[d];
  }
  const leati_access there = {.view = data, .field = &args.data}, here = {.view = other, .field = &args.other};
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find_item(
                       scatter ? LEATI_KERNELS_SCATTER_ELEMENTS : LEATI_KERNELS_GATHER_ELEMENTS, data->item_size),
                   .constants.index_elements = {.index_is_32 = is_32(indices), .reports_bad_index = planner->guarded}},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({indices, &args.indices}, scatter ? here : there),
      LEATI_WRITES(scatter ? there : here),
      .finding = &args.finding,
      .fault = LEATI_FAULT_INDEX,
      .name = leati_op_def_of(op)->info.name,
  };
  leati_groups_linear(planner->device, args.count, LEATI_ITEMS_PER_GROUP, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

static int32_t gather_elements_plan(const leat_op *op, leati_planner *planner, const leati_call *call,
                                    leat_error *err) {
  int32_t axis;
  leati_view indices;
  if (call->outputs[0].count == 0) {
    return LEAT_OK;
  }
  LEATI_TRY(check_elements(op, call, &axis, err));
  LEATI_TRY(check_all(call, err));
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[1], &indices, err));
  return add_elements(op, planner, &call->inputs[0], &indices, &call->outputs[0], axis, false, err);
}

static void gather_elements_evaluate(const leat_op *op, const leati_call *call, uint32_t o) {
  const index_state *const state = leati_op_state_const(op);
  const leati_view *const data = &call->inputs[0], *const out = &call->outputs[o];
  const int32_t axis = (int32_t)(state->axis < 0 ? state->axis + data->ndim : state->axis);
  leati_host_walk walk;
  leati_host_walk_begin(&walk, out, 1);
  memcpy(walk.strides[0], data->strides, sizeof(walk.strides[0]));
  walk.strides[0][axis] = 0;
  for (uint64_t i = 0; i < out->count; ++i) {
    const int64_t given = leati_host_get(&call->inputs[1], i), size = data->shape[axis];
    const int64_t index = given < 0 ? given + size : given;
    leati_host_move_indexed(data, index >= 0 && index < size, (uint64_t)(walk.at[0] + index * data->strides[axis]), out,
                            i);
    leati_host_walk_next(&walk);
  }
}

/* A line is what lies along the axis. */
static int32_t reduce_elements(const leat_op *op, leati_planner *planner, const leati_call *call, int32_t axis,
                               leat_error *err) {
  const leati_view *const indices = &call->inputs[1], *const y = &call->outputs[0];
  reduce_args args = {
      .tuple = 1,
      .index_step = (uint32_t)leati_product(indices->shape, axis + 1, indices->ndim),
      .update_step = (uint32_t)leati_product(indices->shape, axis + 1, indices->ndim),
      .place_step = (uint32_t)leati_product(y->shape, axis + 1, y->ndim),
      .sizes = {(uint32_t)y->shape[axis]},
      .places = {1},
  };
  for (int32_t d = 0; d < indices->ndim; ++d) {
    if (d != axis) {
      args.dims[args.rank] = (uint32_t)indices->shape[d];
      args.index_stride[args.rank] = (uint32_t)leati_product(indices->shape, d + 1, indices->ndim);
      args.update_stride[args.rank] = args.index_stride[args.rank];
      args.data_stride[args.rank++] = (uint32_t)leati_product(y->shape, d + 1, y->ndim);
    }
  }
  const uint64_t steps = (uint64_t)indices->shape[axis];
  return add_reduction(op, planner, call, &args, indices->count / steps, (uint32_t)steps, (uint64_t)y->shape[axis],
                       err);
}

static int32_t scatter_elements_plan(const leat_op *op, leati_planner *planner, const leati_call *call,
                                     leat_error *err) {
  const index_state *const state = leati_op_state_const(op);
  int32_t axis;
  leati_view indices, updates;
  LEATI_TRY(check_elements(op, call, &axis, err));
  LEATI_TRY(check_all(call, err));
  if (call->outputs[0].count == 0) {
    return LEAT_OK;
  }
  if (call->inputs[1].count > 0 && state->reduction != 0) {
    return reduce_elements(op, planner, call, axis, err);
  }
  LEATI_TRY(leati_plan_strided_copy(planner, &call->inputs[0], &call->outputs[0], err));
  if (call->inputs[1].count == 0) {
    return LEAT_OK;
  }
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[1], &indices, err));
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[2], &updates, err));
  return add_elements(op, planner, &call->outputs[0], &indices, &updates, axis, true, err);
}

/* ---- GatherND and ScatterND ------------------------------------------------------------------------------------- */

typedef struct nd_args {
  uint64_t data, indices, other;
  uint32_t count, inner, tuple, per_batch, batch_items;
  uint32_t dims[LEAT_MAX_RANK];
  uint32_t strides[LEAT_MAX_RANK];
  uint64_t finding;
} nd_args;

/* `*out_batch` dimensions of data and indices go together; a tuple of `*out_tuple` indices names a slice of the rest.
 */
static int32_t check_nd(const leat_op *op, const leati_call *call, int32_t *out_batch, int32_t *out_tuple,
                        leat_error *err) {
  const index_state *const state = leati_op_state_const(op);
  const leati_view *const data = &call->inputs[0];
  const leati_view *const indices = &call->inputs[1];
  const char *const name = leati_op_def_of(op)->info.name;
  const int64_t batch = state->axis;
  if (data->ndim < 1 || indices->ndim < 1 || batch < 0 || batch >= indices->ndim || batch >= data->ndim) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: ranks %d and %d with %" PRId64 " batch dimensions", name,
                      data->ndim, indices->ndim, batch);
  }
  for (int32_t d = 0; d < batch; ++d) {
    if (data->shape[d] != indices->shape[d]) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: batch dimension %d is %" PRId64 " and %" PRId64, name, d,
                        data->shape[d], indices->shape[d]);
    }
  }
  const int64_t tuple = indices->shape[indices->ndim - 1];
  if (tuple < 1 || tuple > data->ndim - batch) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: tuples of %" PRId64 " indices into %" PRId64 " dimensions",
                      name, tuple, data->ndim - batch);
  }
  *out_batch = (int32_t)batch;
  *out_tuple = (int32_t)tuple;
  return LEAT_OK;
}

/* Shape of what the indices name: that of the indices without the tuple, and of the slices. */
static int32_t shape_nd(const leat_op *op, const leati_call *call, int32_t *out_ndim, int64_t *out_dims,
                        leat_error *err) {
  const leati_view *const data = &call->inputs[0];
  const leati_view *const indices = &call->inputs[1];
  int32_t batch, tuple;
  LEATI_TRY(check_nd(op, call, &batch, &tuple, err));
  LEATI_TRY(leati_check_rank(leati_op_def_of(op)->info.name, indices->ndim - 1 + data->ndim - batch - tuple, err));
  *out_ndim = 0;
  for (int32_t d = 0; d < indices->ndim - 1; ++d) {
    out_dims[(*out_ndim)++] = indices->shape[d];
  }
  for (int32_t d = batch + tuple; d < data->ndim; ++d) {
    out_dims[(*out_ndim)++] = data->shape[d];
  }
  return LEAT_OK;
}

static int32_t gather_nd_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                                  leat_error *err) {
  (void)device;
  const leat_value_info *const data = &desc->inputs[0];
  const leat_value_info *const indices = &desc->inputs[1];
  if (data->ndim < 0 || indices->ndim < 1 || indices->shape[indices->ndim - 1] < 0) {
    return LEAT_OK;
  }
  /* A batch of more dimensions than there are is refused later. */
  const int64_t batch = leati_attr_int(desc, "batch_dims", 0);
  const int64_t tuple = indices->shape[indices->ndim - 1];
  return batch < 0 || batch > data->ndim || tuple > data->ndim
             ? LEAT_OK
             : leati_check_rank(def->info.name, indices->ndim - 1 + data->ndim - batch - tuple, err);
}

static int32_t gather_nd_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  return shape_nd(op, call, &out->ndim, out->dims, err);
}

static int32_t scatter_nd_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const leati_view *const updates = &call->inputs[2];
  int64_t dims[LEAT_MAX_RANK];
  int32_t ndim;
  LEATI_TRY(shape_nd(op, call, &ndim, dims, err));
  if (updates->ndim != ndim || memcmp(updates->shape, dims, (size_t)ndim * sizeof(dims[0])) != 0) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "ScatterND: the updates do not have the shape that the indices name");
  }
  return leati_infer_same(op, call, out, err);
}

/* All views are compact; `other` is the result of GatherND or the updates of ScatterND. */
static int32_t add_nd(const leat_op *op, leati_planner *planner, const leati_view *data, const leati_view *indices,
                      const leati_view *other, int32_t batch, int32_t tuple, bool scatter, leat_error *err) {
  const uint64_t inner = leati_product(data->shape, batch + tuple, data->ndim) * data->item_size;
  const uint32_t width = leati_item_width(inner | data->address | other->address);
  nd_args args = {
      .count = (uint32_t)(other->count * other->item_size / width),
      .inner = (uint32_t)(inner / width),
      .tuple = (uint32_t)tuple,
      .per_batch = (uint32_t)leati_product(indices->shape, batch, indices->ndim - 1),
      .batch_items =
          batch == 0 ? 0 : (uint32_t)(leati_product(data->shape, batch, data->ndim) * data->item_size / width),
  };
  for (int32_t k = 0; k < tuple; ++k) {
    args.dims[k] = (uint32_t)data->shape[batch + k];
    args.strides[k] = (uint32_t)(leati_product(data->shape, batch + k + 1, data->ndim) * data->item_size / width);
  }
  const leati_access there = {.view = data, .field = &args.data}, here = {.view = other, .field = &args.other};
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel =
                       leati_kernel_find_item(scatter ? LEATI_KERNELS_SCATTER_ND : LEATI_KERNELS_GATHER_ND, width),
                   .constants.index_nd = {.index_is_32 = is_32(indices), .reports_bad_index = planner->guarded}},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({indices, &args.indices}, scatter ? here : there),
      LEATI_WRITES(scatter ? there : here),
      .finding = &args.finding,
      .fault = LEATI_FAULT_INDEX,
      .name = leati_op_def_of(op)->info.name,
  };
  leati_groups_linear(planner->device, args.count, LEATI_ITEMS_PER_GROUP, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

/* Batches that go together are left to the kernel. */
static int32_t gather_nd_view(const leat_op *op, const leati_call *call, uint32_t o, leati_view *out, leat_error *err) {
  int32_t batch, tuple;
  LEATI_TRY(check_nd(op, call, &batch, &tuple, err));
  out->present = false;
  if (batch == 0) {
    pick_view(call, o, 0, tuple, out);
  }
  return LEAT_OK;
}

static int32_t gather_nd_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  int32_t batch, tuple;
  leati_view data, indices;
  if (call->outputs[0].count == 0) {
    return LEAT_OK;
  }
  LEATI_TRY(gather_nd_view(op, call, 0, &data, err));
  if (data.present) {
    return leati_plan_strided_copy(planner, &data, &call->outputs[0], err);
  }
  LEATI_TRY(check_nd(op, call, &batch, &tuple, err));
  LEATI_TRY(check_all(call, err));
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[0], &data, err));
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[1], &indices, err));
  return add_nd(op, planner, &data, &indices, &call->outputs[0], batch, tuple, false, err);
}

/* A line is what slices have at one place of them. */
static int32_t reduce_nd(const leat_op *op, leati_planner *planner, const leati_call *call, int32_t tuple,
                         leat_error *err) {
  const leati_view *const y = &call->outputs[0];
  const uint64_t inner = leati_product(y->shape, tuple, y->ndim);
  reduce_args args = {
      .rank = 1,
      .tuple = (uint32_t)tuple,
      .index_step = (uint32_t)tuple,
      .update_step = (uint32_t)inner,
      .place_step = (uint32_t)inner,
      .dims = {(uint32_t)inner},
      .update_stride = {1},
      .data_stride = {1},
  };
  for (int32_t k = 0; k < tuple; ++k) {
    args.sizes[k] = (uint32_t)y->shape[k];
    args.places[k] = (uint32_t)leati_product(y->shape, k + 1, tuple);
  }
  return add_reduction(op, planner, call, &args, inner, (uint32_t)(call->inputs[2].count / inner), y->count / inner,
                       err);
}

static int32_t scatter_nd_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const index_state *const state = leati_op_state_const(op);
  int32_t batch, tuple;
  leati_view indices, updates;
  LEATI_TRY(check_nd(op, call, &batch, &tuple, err));
  LEATI_TRY(check_all(call, err));
  if (call->outputs[0].count == 0) {
    return LEAT_OK;
  }
  if (call->inputs[2].count > 0 && state->reduction != 0) {
    return reduce_nd(op, planner, call, tuple, err);
  }
  LEATI_TRY(leati_plan_strided_copy(planner, &call->inputs[0], &call->outputs[0], err));
  if (call->inputs[2].count == 0) {
    return LEAT_OK;
  }
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[1], &indices, err));
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[2], &updates, err));
  return add_nd(op, planner, &call->outputs[0], &indices, &updates, batch, tuple, true, err);
}

/* ---- The list --------------------------------------------------------------------------------------------------- */

static const leati_op_def ops[] = {
    LEATI_OP("Gather", "", (1, 13), (2, 2), (1, 1), LEATI_EVALUATED(0, LEATI_EVALUATED_ALL, gather_evaluate),
             LEATI_TYPES(&leati_type_moved, &leati_type_index), LEATI_ATTRIBUTES(&leati_attribute_axis),
             LEATI_INPUT_TYPES(0, 1), .state_size = sizeof(index_state), .least_rank = 1, .supports = gather_supports,
             .create = index_create, .infer = gather_infer, LEATI_KERNELS(LEATI_KERNELS_COPY, LEATI_KERNELS_GATHER),
             .plan = gather_plan, .view = gather_view),
    LEATI_OP("GatherElements", "", (11, 13), (2, 2), (1, 1),
             LEATI_EVALUATED(0, LEATI_EVALUATED_ALL, gather_elements_evaluate),
             LEATI_TYPES(&leati_type_moved, &leati_type_index), LEATI_ATTRIBUTES(&leati_attribute_axis),
             LEATI_INPUT_TYPES(0, 1), .state_size = sizeof(index_state), .least_rank = 1, .create = index_create,
             .infer = gather_elements_infer, LEATI_KERNELS(LEATI_KERNELS_GATHER_ELEMENTS), .plan = gather_elements_plan,
             .reads_view = leati_reads_first_view),
    LEATI_OP("ScatterElements", "", (11, 18), (3, 3), (1, 1), LEATI_TYPES(&leati_type_moved, &leati_type_index),
             LEATI_ATTRIBUTES(&leati_attribute_axis, &attribute_reduction), LEATI_INPUT_TYPES(0, 1, 0),
             .state_size = sizeof(index_state), .least_rank = 1, .supports = scatter_supports, .create = index_create,
             .infer = scatter_elements_infer,
             LEATI_KERNELS(LEATI_KERNELS_COPY, LEATI_KERNELS_SCATTER_ELEMENTS, LEATI_KERNELS_SCATTER_REDUCE),
             .plan = scatter_elements_plan, .reads_view = leati_reads_first_view),
    /* ScatterElements by its first name. */
    LEATI_OP("Scatter", "", (9, 10), (3, 3), (1, 1), LEATI_TYPES(&leati_type_moved, &leati_type_index),
             LEATI_ATTRIBUTES(&leati_attribute_axis), LEATI_INPUT_TYPES(0, 1, 0), .state_size = sizeof(index_state),
             .least_rank = 1, .create = index_create, .infer = scatter_elements_infer,
             LEATI_KERNELS(LEATI_KERNELS_COPY, LEATI_KERNELS_SCATTER_ELEMENTS), .plan = scatter_elements_plan,
             .reads_view = leati_reads_first_view),
    LEATI_OP("GatherND", "", (11, 13), (2, 2), (1, 1), LEATI_TYPES(&leati_type_moved, &leati_type_int64),
             LEATI_ATTRIBUTES(&attribute_batch_dims), LEATI_INPUT_TYPES(0, 1), .state_size = sizeof(index_state),
             .least_rank = 1, .supports = gather_nd_supports, .create = index_create, .infer = gather_nd_infer,
             LEATI_KERNELS(LEATI_KERNELS_COPY, LEATI_KERNELS_GATHER_ND), .plan = gather_nd_plan,
             .view = gather_nd_view),
    LEATI_OP("GatherND", "com.microsoft", (1, 1), (2, 2), (1, 1), LEATI_TYPES(&leati_type_moved, &leati_type_index),
             LEATI_INPUT_TYPES(0, 1), .state_size = sizeof(index_state), .least_rank = 1,
             .supports = gather_nd_supports, .create = index_create, .infer = gather_nd_infer,
             LEATI_KERNELS(LEATI_KERNELS_COPY, LEATI_KERNELS_GATHER_ND), .plan = gather_nd_plan,
             .view = gather_nd_view),
    LEATI_OP("ScatterND", "", (11, 18), (3, 3), (1, 1), LEATI_TYPES(&leati_type_moved, &leati_type_int64),
             LEATI_ATTRIBUTES(&attribute_reduction), LEATI_INPUT_TYPES(0, 1, 0), .state_size = sizeof(index_state),
             .least_rank = 1, .supports = scatter_supports, .create = index_create, .infer = scatter_nd_infer,
             LEATI_KERNELS(LEATI_KERNELS_COPY, LEATI_KERNELS_SCATTER_ND, LEATI_KERNELS_SCATTER_REDUCE),
             .plan = scatter_nd_plan, .reads_view = leati_reads_first_view),
};

const leati_op_family leati_index_family = LEATI_FAMILY(ops);
