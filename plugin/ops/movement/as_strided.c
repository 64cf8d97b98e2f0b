/* SPDX-License-Identifier: BSD-3-Clause */
/* AsStrided and AsStridedScatter of domain "leat": elements at places that follow from an offset and strides. */
#include <inttypes.h>
#include <string.h>

#include "core/status.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/core/movement.h"

static LEATI_ATTRIBUTE(attribute_shape, "shape", INTS);
static LEATI_ATTRIBUTE(attribute_strides, "strides", INTS);
static LEATI_ATTRIBUTE(attribute_offset, "offset", INT);

typedef struct places {
  int32_t ndim;
  uint64_t count;
  int64_t shape[LEAT_MAX_RANK], strides[LEAT_MAX_RANK], offset;
} places;

static int32_t places_read(const leati_op_def *def, const leati_op_desc *desc, places *out, leat_error *err) {
  uint32_t rank, strides;
  LEATI_TRY(leati_attr_ints(desc, "shape", LEAT_MAX_RANK, out->shape, &rank, err));
  LEATI_TRY(leati_attr_ints(desc, "strides", LEAT_MAX_RANK, out->strides, &strides, err));
  if (rank != strides) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: 'shape' has %u elements and 'strides' %u", def->info.name,
                      rank, strides);
  }
  out->ndim = (int32_t)rank;
  out->offset = leati_attr_int(desc, "offset", 0);
  out->count = 1;
  for (uint32_t d = 0; d < rank; ++d) {
    if (out->shape[d] < 0 || __builtin_mul_overflow(out->count, (uint64_t)out->shape[d], &out->count)) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                        "%s: 'shape' has %" PRId64 " for dimension %u; expected sizes whose product can be counted",
                        def->info.name, out->shape[d], d);
    }
  }
  return LEAT_OK;
}

/* How far dimension `d` reaches: its last element from its first. False: further than can be counted. */
static bool reach_of(const places *p, int32_t d, int64_t *out) {
  return !__builtin_mul_overflow(p->shape[d] - 1, p->strides[d], out) && *out != INT64_MIN;
}

/* Fails unless all places are elements of a tensor of so many. */
static int32_t check_inside(const places *p, const char *name, uint64_t count, leat_error *err) {
  int64_t least = p->offset, most = p->offset;
  bool inside = true;
  for (int32_t d = 0; d < p->ndim && inside && p->count != 0; ++d) {
    int64_t reach;
    inside = reach_of(p, d, &reach) &&
             !(reach < 0 ? __builtin_add_overflow(least, reach, &least) : __builtin_add_overflow(most, reach, &most));
  }
  return p->count == 0 || (inside && least >= 0 && (uint64_t)most < count)
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                          "%s: 'offset' and 'strides' lead out of a tensor of %" PRIu64 " elements", name, count);
}

/* Fails if two places may be the same. Strides are taken in the order of their sizes. */
static int32_t check_apart(const places *p, const char *name, leat_error *err) {
  uint32_t seen = 0;
  uint64_t way = 0; /* from the first to the last element of the dimensions that were seen */
  for (int32_t n = 0; n < p->ndim && p->count != 0; ++n) {
    int32_t next = -1;
    uint64_t least = 0;
    for (int32_t d = 0; d < p->ndim; ++d) {
      const uint64_t stride = p->strides[d] < 0 ? 0 - (uint64_t)p->strides[d] : (uint64_t)p->strides[d];
      if ((seen >> d & 1u) == 0 && (next < 0 || stride < least)) {
        next = d;
        least = stride;
      }
    }
    seen |= 1u << next;
    if (p->shape[next] > 1 && least <= way) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                        "%s: elements of dimension %d would be written over others: its stride is %" PRId64
                        ", and smaller ones reach over %" PRIu64 " elements",
                        name, next, p->strides[next], way + 1);
    }
    way += (uint64_t)(p->shape[next] - 1) * least;
  }
  return LEAT_OK;
}

static int32_t as_strided_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                                   leat_error *err) {
  (void)device;
  places p;
  return places_read(def, desc, &p, err);
}

static int32_t scatter_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                                leat_error *err) {
  (void)device;
  places p;
  LEATI_TRY(places_read(def, desc, &p, err));
  return check_apart(&p, def->info.name, err);
}

static int32_t as_strided_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  return places_read(leati_op_def_of(op), desc, leati_op_state(op), err);
}

/* The places in a compact tensor. */
static leati_view view_of_places(const places *p, const leati_view *whole) {
  leati_view part = *whole;
  part.address += (uint64_t)p->offset * part.item_size;
  leati_view_reshape(&part, p->ndim, p->shape, p->strides);
  return part;
}

static int32_t as_strided_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const places *const p = leati_op_state_const(op);
  LEATI_TRY(check_inside(p, "AsStrided", call->inputs[0].count, err));
  out->ndim = p->ndim;
  memcpy(out->dims, p->shape, (size_t)p->ndim * sizeof(out->dims[0]));
  return LEAT_OK;
}

static int32_t as_strided_view(const leat_op *op, const leati_call *call, uint32_t o, leati_view *out,
                               leat_error *err) {
  (void)o;
  (void)err;
  const leati_view *const x = &call->inputs[0];
  const places *const p = leati_op_state_const(op);
  *out = *x;
  out->present = x->compact && p->count != 0;
  if (out->present) {
    *out = view_of_places(p, x);
  }
  return LEAT_OK;
}

static int32_t as_strided_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const places *const p = leati_op_state_const(op);
  const leati_view *const y = leati_output(call, 0);
  leati_view x;
  if (y == NULL || p->count == 0) {
    return LEAT_OK;
  }
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[0], &x, err));
  const leati_view from = view_of_places(p, &x);
  return leati_plan_strided_copy(planner, &from, y, err);
}

static int32_t scatter_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const places *const p = leati_op_state_const(op);
  const leati_view *const y = &call->inputs[1];
  LEATI_TRY(check_inside(p, "AsStridedScatter", call->inputs[0].count, err));
  if (y->ndim != p->ndim || !leati_same_numbers(y->shape, p->shape, p->ndim)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "AsStridedScatter: the second input has another shape than 'shape'");
  }
  return leati_infer_same(op, call, out, err);
}

static int32_t scatter_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const places *const p = leati_op_state_const(op);
  const leati_view *const result = &call->outputs[0];
  LEATI_TRY(leati_plan_strided_copy(planner, &call->inputs[0], result, err));
  if (p->count == 0) {
    return LEAT_OK;
  }
  const leati_view to = view_of_places(p, result);
  return leati_plan_strided_copy(planner, &call->inputs[1], &to, err);
}

/* ---- The list ---------------------------------------------------------------------------------------------------- */

#define PLACES LEATI_ATTRIBUTES(&attribute_shape, &attribute_strides, &attribute_offset)

static const leati_op_def ops[] = {
    LEATI_OP("AsStrided", "leat", (1, 1), (1, 1), (1, 1), LEATI_TYPES(&leati_type_moved), PLACES,
             .state_size = sizeof(places), .supports = as_strided_supports, .create = as_strided_create,
             .infer = as_strided_infer, LEATI_KERNELS(LEATI_KERNELS_COPY), .plan = as_strided_plan,
             .view = as_strided_view),
    LEATI_OP("AsStridedScatter", "leat", (1, 1), (2, 2), (1, 1), LEATI_TYPES(&leati_type_moved), PLACES,
             .state_size = sizeof(places), .supports = scatter_supports, .create = as_strided_create,
             .infer = scatter_infer, LEATI_KERNELS(LEATI_KERNELS_COPY), .plan = scatter_plan,
             .reads_view = leati_reads_any_view),
};

const leati_op_family leati_as_strided_family = LEATI_FAMILY(ops);
