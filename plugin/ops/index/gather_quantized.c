/* SPDX-License-Identifier: BSD-3-Clause */
/* com.microsoft's GatherBlockQuantized: Gather along dimension 0 of bytes that hold numbers of 2, 4 or 8 bits, which
 * become floats by the scale, and perhaps the zero point, of a block along another dimension. */
#include <inttypes.h>
#include <string.h>

#include "core/status.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/core/divider.h"
#include "ops/core/movement.h"

static LEATI_TYPE(type_data, "T1", LEAT_TYPE_UINT8);
static LEATI_TYPE(type_real, "T2", LEATI_TYPES_REAL);
static LEATI_TYPE(type_index, "Tind", LEAT_TYPE_INT32 | LEAT_TYPE_INT64);
static LEATI_ATTRIBUTE(attribute_bits, "bits", INT);
static LEATI_ATTRIBUTE(attribute_block_size, "block_size", INT);
static LEATI_ATTRIBUTE(attribute_gather_axis, "gather_axis", INT);
static LEATI_ATTRIBUTE(attribute_quantize_axis, "quantize_axis", INT);

enum { DATA, INDICES, SCALES, ZEROS };

/* Numbers of a block at least. */
#define BLOCK_MIN 16

typedef struct gather_state {
  int64_t bits, block_size;
  int64_t gather_axis, quantize_axis;
} gather_state;

typedef struct gather_args {
  uint64_t data, indices, scales, zeros, y;
  uint32_t count, line, rows;
  uint32_t bits;
  uint32_t size, inner; /* numbers along the dimension of blocks, and behind each */
  uint32_t block_shift, blocks;
  uint32_t last, last_bytes; /* scales of the last dimension, and bytes that have their zero points */
  leati_divider per_line, per_inner, per_size, per_last;
  uint64_t finding;
} gather_args;

static int32_t read_attributes(const leati_op_desc *desc, gather_state *out, leat_error *err) {
  *out = (gather_state){.bits = leati_attr_int(desc, attribute_bits.name, 4),
                        .block_size = leati_attr_int(desc, attribute_block_size.name, 128),
                        .gather_axis = leati_attr_int(desc, attribute_gather_axis.name, 0),
                        .quantize_axis = leati_attr_int(desc, attribute_quantize_axis.name, 1)};
  if (out->bits != 2 && out->bits != 4 && out->bits != 8) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "GatherBlockQuantized: bits is %" PRId64 "; it is 2, 4 or 8",
                      out->bits);
  }
  return out->block_size >= BLOCK_MIN && (out->block_size & (out->block_size - 1)) == 0
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                          "GatherBlockQuantized: block_size is %" PRId64 "; it must be a power of two from %d on",
                          out->block_size, BLOCK_MIN);
}

static int32_t gather_quantized_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                                         leat_error *err) {
  gather_state state;
  const int32_t data = desc->inputs[DATA].ndim, indices = desc->inputs[INDICES].ndim;
  (void)device;
  LEATI_TRY(read_attributes(desc, &state, err));
  return data < 0 || indices < 0 ? LEAT_OK : leati_check_rank(def->info.name, data - 1 + indices, err);
}

static int32_t gather_quantized_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  return read_attributes(desc, leati_op_state(op), err);
}

static int64_t divided(int64_t a, int64_t b) {
  return a / b + (a % b != 0);
}

/* The shape of the data in numbers, and the dimension of blocks. */
static int32_t read_shape(const gather_state *state, const leati_view *data, int64_t *out_shape, int32_t *out_axis,
                          leat_error *err) {
  int32_t gathered;
  LEATI_TRY(leati_axis(state->gather_axis, data->ndim, &gathered, err));
  LEATI_TRY(leati_axis(state->quantize_axis, data->ndim, out_axis, err));
  if (gathered != 0 || *out_axis == 0) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                      "GatherBlockQuantized that gathers along another dimension than the first, or has blocks along "
                      "that one, is not supported");
  }
  memcpy(out_shape, data->shape, (size_t)data->ndim * sizeof(data->shape[0]));
  if (data->shape[data->ndim - 1] > INT32_MAX) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "GatherBlockQuantized: 2^31 numbers in a row are not supported");
  }
  out_shape[data->ndim - 1] *= 8 / state->bits;
  return LEAT_OK;
}

/* Whether an input has the data's shape with blocks in their dimension; `packed`: and its last one in bytes. */
static bool fits(const gather_state *state, const leati_view *view, const int64_t *shape, int32_t ndim, int32_t axis,
                 bool packed) {
  bool good = view->ndim == ndim;
  for (int32_t d = 0; good && d < ndim; ++d) {
    int64_t size = d == axis ? divided(shape[d], state->block_size) : shape[d];
    if (packed && d == ndim - 1) {
      size = divided(size * state->bits, 8);
    }
    good = view->shape[d] == size;
  }
  return good;
}

static int32_t gather_quantized_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const gather_state *const state = leati_op_state_const(op);
  const leati_view *const data = &call->inputs[DATA], *const indices = &call->inputs[INDICES],
                          *const zeros = leati_input(call, ZEROS);
  int64_t shape[LEAT_MAX_RANK];
  int32_t axis;
  LEATI_TRY(read_shape(state, data, shape, &axis, err));
  LEATI_TRY(leati_check_rank("GatherBlockQuantized", data->ndim - 1 + indices->ndim, err));
  if (!fits(state, &call->inputs[SCALES], shape, data->ndim, axis, false) ||
      (zeros != NULL && !fits(state, zeros, shape, data->ndim, axis, true))) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "GatherBlockQuantized: scales must have the shape of the numbers, with %" PRId64
                      " blocks in dimension %d, and zero points so many numbers, packed along the last dimension",
                      divided(shape[axis], state->block_size), axis);
  }
  for (int32_t d = 0; d < indices->ndim; ++d) {
    out->dims[out->ndim++] = indices->shape[d];
  }
  for (int32_t d = 1; d < data->ndim; ++d) {
    out->dims[out->ndim++] = shape[d];
  }
  return LEAT_OK;
}

static int32_t gather_quantized_plan(const leat_op *op, leati_planner *planner, const leati_call *call,
                                     leat_error *err) {
  const gather_state *const state = leati_op_state_const(op);
  const char *const name = leati_op_def_of(op)->info.name;
  const leati_view *const y = &call->outputs[0];
  leati_view in[ZEROS + 1] = {{.present = false}};
  int64_t shape[LEAT_MAX_RANK];
  int32_t axis;
  if (y->count == 0) {
    return LEAT_OK;
  }
  LEATI_TRY(leati_check_reach(y, name, err));
  for (uint32_t i = DATA; i <= ZEROS; ++i) {
    if (leati_input(call, i) != NULL) {
      LEATI_TRY(leati_check_reach(&call->inputs[i], name, err));
      LEATI_TRY(leati_plan_compact(planner, &call->inputs[i], &in[i], err));
    }
  }
  LEATI_TRY(read_shape(state, &in[DATA], shape, &axis, err));
  const int32_t ndim = in[DATA].ndim;
  gather_args args = {.count = (uint32_t)y->count,
                      .line = (uint32_t)leati_product(shape, 1, ndim),
                      .rows = (uint32_t)shape[0],
                      .bits = (uint32_t)state->bits,
                      .size = (uint32_t)shape[axis],
                      .inner = (uint32_t)leati_product(shape, axis + 1, ndim),
                      .blocks = (uint32_t)divided(shape[axis], state->block_size),
                      .last = (uint32_t)in[SCALES].shape[ndim - 1]};
  while (args.block_shift < 31 && INT64_C(1) << args.block_shift < state->block_size) {
    ++args.block_shift;
  }
  args.last_bytes = (uint32_t)divided((int64_t)args.last * state->bits, 8);
  args.per_line = leati_divider_of(args.line);
  args.per_inner = leati_divider_of(args.inner);
  args.per_size = leati_divider_of(args.size);
  args.per_last = leati_divider_of(args.last);
  leati_dispatch_desc dispatch = {
      .pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_GATHER_QUANTIZED, y->type),
                   .constants.gather_quantized = {.index_is_32 = in[INDICES].type == LEAT_TYPE_INT32,
                                                  .reports_bad_index = planner->guarded}},
      .args = &args,
      .args_size = sizeof(args),
      LEATI_READS({&in[DATA], &args.data}, {&in[INDICES], &args.indices}, {&in[SCALES], &args.scales},
                  {&in[ZEROS], &args.zeros}),
      LEATI_WRITES({y, &args.y}),
      .finding = &args.finding,
      .fault = LEATI_FAULT_INDEX,
      .name = name};
  leati_groups_linear(planner->device, args.count, 1024, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

/* ---- The list --------------------------------------------------------------------------------------------------- */

static const leati_op_def ops[] = {
    LEATI_OP("GatherBlockQuantized", "com.microsoft", (1, 1), (3, 4), (1, 1), .info.flags = LEAT_OP_GROWS,
             LEATI_TYPES(&type_data, &type_real, &type_index),
             LEATI_ATTRIBUTES(&attribute_bits, &attribute_block_size, &attribute_gather_axis, &attribute_quantize_axis),
             LEATI_INPUT_TYPES(0, 2, 1, 0), LEATI_OUTPUT_TYPES(1), .state_size = sizeof(gather_state), .least_rank = 2,
             .supports = gather_quantized_supports, .create = gather_quantized_create, .infer = gather_quantized_infer,
             LEATI_KERNELS(LEATI_KERNELS_GATHER_QUANTIZED), .plan = gather_quantized_plan),
};

const leati_op_family leati_gather_quantized_family = LEATI_FAMILY(ops);
