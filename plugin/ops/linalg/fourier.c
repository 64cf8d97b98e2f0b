/* SPDX-License-Identifier: BSD-3-Clause */
/* DFT, and STFT, which is that of overlapping pieces of a signal. Each as it is defined: of n elements that is n^2
 * products. */
#include <inttypes.h>
#include <string.h>

#include "core/status.h"
#include "device/device.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/core/divider.h"
#include "ops/core/movement.h"

static LEATI_ATTRIBUTE(attribute_inverse, "inverse", INT);
static LEATI_ATTRIBUTE(attribute_onesided, "onesided", INT);

static LEATI_TYPE(type_signal, "T1", LEATI_TYPES_REAL);
static LEATI_TYPE(type_size, "T2", LEAT_TYPE_INT32 | LEAT_TYPE_INT64);
static LEATI_TYPE(type_axis, "tensor(int64)", LEAT_TYPE_INT64);

/* Elements of a transform at most: a thread sums up as many, some 50 ms. */
#define ELEMENTS_MAX (INT64_C(1) << 22)
/* Products of a dispatch, some 100 ms of a device that does 10^12 operations a second, and of one in software some 10;
 * dispatches at most. */
#define PRODUCTS (UINT64_C(1) << 35)
#define PRODUCTS_SOFTWARE (UINT64_C(1) << 22)
#define DISPATCHES_MAX 4096

enum { DFT_LENGTH = 1, DFT_AXIS = 2, STFT_STEP = 1, STFT_WINDOW = 2, STFT_LENGTH = 3 };

typedef struct fourier_state {
  int64_t axis; /* where no input says it */
  bool inverse, onesided;
} fourier_state;

/* Argument record of kernels/dft.comp. */
typedef struct dft_args {
  uint64_t x, window, table, y;
  uint32_t first, end, bins, terms, size, inner;
  leati_divider per_bins, per_inner;
  int32_t x_outer, x_inner, x_step;
  int32_t y_outer, y_inner, y_step;
  uint32_t numbers, given, has_window, halved;
  float turn, scale;
} dft_args;

/* Argument record of kernels/dft_table.comp. */
typedef struct table_args {
  uint64_t table;
  uint32_t size;
} table_args;

/* What a call transforms: the elements of lines. */
typedef struct transform {
  int64_t size;  /* steps of a turn */
  int64_t terms; /* elements of a line that count */
  int64_t bins;  /* of a line of the result */
  int64_t outer, inner;
  int64_t numbers, given; /* of an element, and of one of the result: 2 is a complex one */
} transform;

static int32_t fourier_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  fourier_state *const state = leati_op_state(op);
  const bool pieces = leati_op_def_of(op)->param != 0;
  state->axis = leati_attr_int(desc, "axis", desc->since_version < 20 ? 1 : -2);
  state->inverse = leati_attr_int(desc, "inverse", 0) != 0;
  state->onesided = leati_attr_int(desc, "onesided", pieces) != 0;
  return LEAT_OK;
}

/* The number that an input on the host is, if it is given. */
static int32_t read_number(const leat_op *op, const leati_call *call, uint32_t i, const char *what, int64_t *inout,
                           leat_error *err) {
  const leati_view *const view = leati_input(call, i);
  if (view == NULL) {
    return LEAT_OK;
  }
  if (view->count != 1 || view->ndim > 1) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: %s has %" PRIu64 " elements; expected a scalar",
                      leati_op_def_of(op)->info.name, what, view->count);
  }
  *inout = leati_host_int(view, 0);
  return LEAT_OK;
}

/* Fails unless the last dimension is a number or two, and sets what follows of it and of the length of a line. */
static int32_t set_numbers(const leat_op *op, const leati_view *x, int64_t length, transform *t, leat_error *err) {
  const fourier_state *const state = leati_op_state_const(op);
  const char *const name = leati_op_def_of(op)->info.name;
  const bool halved = state->onesided && state->inverse;
  t->numbers = x->shape[x->ndim - 1];
  t->given = halved ? 1 : 2;
  if (t->numbers != 1 && t->numbers != 2) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: the last dimension is %" PRId64 "; it is 1 for real numbers, or 2 for complex ones", name,
                      t->numbers);
  }
  if (state->onesided && t->numbers != (state->inverse ? 2 : 1)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s: with onesided what is transformed is real, or if inverse complex; its last dimension is "
                      "%" PRId64,
                      name, t->numbers);
  }
  if (t->size < 1) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: a transform of %" PRId64 " elements; it has 1 at least",
                      name, t->size);
  }
  if (t->size > ELEMENTS_MAX) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                      "%s: a transform of %" PRId64 " elements; supported: up to %" PRId64, name, t->size,
                      ELEMENTS_MAX);
  }
  const int64_t all = halved ? t->size / 2 + 1 : t->size;
  t->terms = length < all ? length : all;
  t->bins = state->onesided && !state->inverse ? t->size / 2 + 1 : t->size;
  return leati_check_rounds(leati_op_device(op), (uint64_t)t->terms, name, err);
}

static int32_t dft_read(const leat_op *op, const leati_call *call, transform *out, int32_t *out_axis, leat_error *err) {
  const fourier_state *const state = leati_op_state_const(op);
  const leati_view *const x = &call->inputs[0];
  int64_t axis = state->axis;
  LEATI_TRY(read_number(op, call, DFT_AXIS, "axis", &axis, err));
  LEATI_TRY(leati_axis(axis, x->ndim, out_axis, err));
  if (*out_axis == x->ndim - 1) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "DFT: the axis is the last dimension, of complex numbers");
  }
  const int64_t length = x->shape[*out_axis];
  out->size = state->inverse && state->onesided ? 2 * (length - 1) : length;
  LEATI_TRY(read_number(op, call, DFT_LENGTH, "dft_length", &out->size, err));
  out->outer = (int64_t)leati_product(x->shape, 0, *out_axis);
  out->inner = (int64_t)leati_product(x->shape, *out_axis + 1, x->ndim - 1);
  return set_numbers(op, x, length, out, err);
}

static int32_t dft_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const leati_view *const x = &call->inputs[0];
  transform t;
  int32_t axis;
  LEATI_TRY(dft_read(op, call, &t, &axis, err));
  out->ndim = x->ndim;
  memcpy(out->dims, x->shape, (size_t)x->ndim * sizeof(x->shape[0]));
  out->dims[axis] = t.bins;
  out->dims[x->ndim - 1] = t.given;
  return LEAT_OK;
}

static int32_t stft_read(const leat_op *op, const leati_call *call, transform *out, int64_t *out_step,
                         leat_error *err) {
  const leati_view *const x = &call->inputs[0], *const window = leati_input(call, STFT_WINDOW);
  if (x->ndim != 3) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "STFT: the signal has %d dimensions; there are 3: batches, samples and numbers of a sample",
                      x->ndim);
  }
  if (window != NULL && window->ndim != 1) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "STFT: the window has %d dimensions; it has 1", window->ndim);
  }
  out->size = window != NULL ? window->shape[0] : x->shape[1];
  LEATI_TRY(read_number(op, call, STFT_STEP, "frame_step", out_step, err));
  LEATI_TRY(read_number(op, call, STFT_LENGTH, "frame_length", &out->size, err));
  if (*out_step < 1 || out->size < 1 || out->size > x->shape[1] || (window != NULL && window->shape[0] != out->size)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "STFT: frames of %" PRId64 " samples, %" PRId64 " apart, of a signal of %" PRId64
                      "; a step is 1 at least, a frame as long as the window, and no longer than the signal",
                      out->size, *out_step, x->shape[1]);
  }
  out->outer = x->shape[0];
  out->inner = (x->shape[1] - out->size) / *out_step + 1;
  return set_numbers(op, x, out->size, out, err);
}

static int32_t stft_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  transform t;
  int64_t step;
  LEATI_TRY(stft_read(op, call, &t, &step, err));
  out->ndim = 4;
  memcpy(out->dims, (const int64_t[]){t.outer, t.inner, t.bins, 2}, 4 * sizeof(int64_t));
  return LEAT_OK;
}

/* Plans a transform: `args` has the strides. */
static int32_t plan_transform(const leat_op *op, leati_planner *planner, const transform *t, const leati_view *x,
                              const leati_view *window, const leati_view *y, dft_args *args, leat_error *err) {
  const fourier_state *const state = leati_op_state_const(op);
  leati_view table = {.type = LEAT_TYPE_FLOAT32, .ndim = 2, .shape = {t->size, 2}};
  LEATI_TRY(leati_plan_temporary(planner, &table, err));
  LEATI_TRY(leati_check_reach(&table, leati_op_def_of(op)->info.name, err));
  table_args of_table = {.size = (uint32_t)t->size};
  leati_dispatch_desc dispatch = {.pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_DFT_TABLE, LEAT_TYPE_FLOAT32)},
                                  .args = &of_table,
                                  .args_size = sizeof(of_table),
                                  LEATI_WRITES({&table, &of_table.table})};
  leati_groups_linear(planner->device, (uint64_t)t->size, 256, dispatch.groups);
  LEATI_TRY(leati_plan_dispatch(planner, &dispatch, err));
  const uint32_t count = (uint32_t)(y->count / (uint64_t)t->given);
  const bool software = (planner->device->physical->info.flags & LEAT_DEVICE_SOFTWARE) != 0;
  const uint64_t products = 2 * (uint64_t)((t->terms + 1) * t->numbers);
  const uint64_t fits = (software ? PRODUCTS_SOFTWARE : PRODUCTS) / products;
  const uint32_t each = count < fits ? count : (uint32_t)fits;
  if (count / each >= DISPATCHES_MAX) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s: %u sums of %" PRId64 " terms are not supported",
                      leati_op_def_of(op)->info.name, count, t->terms);
  }
  args->bins = (uint32_t)t->bins;
  args->terms = (uint32_t)t->terms;
  args->size = (uint32_t)t->size;
  args->inner = (uint32_t)t->inner;
  args->per_bins = leati_divider_of(args->bins);
  args->per_inner = leati_divider_of(args->inner);
  args->numbers = (uint32_t)t->numbers;
  args->given = (uint32_t)t->given;
  args->has_window = window != NULL;
  args->halved = state->inverse && state->onesided;
  args->turn = state->inverse ? 1.0f : -1.0f;
  args->scale = state->inverse ? 1.0f / (float)t->size : 1.0f;
  dispatch = (leati_dispatch_desc){
      .pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_DFT, y->type)},
      .args = args,
      .args_size = sizeof(*args),
      /* A driver may read the window before it looks at `has_window`. */
      LEATI_READS({x, &args->x}, {window != NULL ? window : x, &args->window}, {&table, &args->table}),
      LEATI_WRITES({y, &args->y}),
      .multiplications = each * products};
  for (args->end = 0; args->end < count;) {
    args->first = args->end;
    args->end += count - args->first < each ? count - args->first : each;
    leati_groups_linear(planner->device, args->end - args->first, 64, dispatch.groups);
    LEATI_TRY(leati_plan_dispatch(planner, &dispatch, err));
  }
  return LEAT_OK;
}

static int32_t dft_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const leati_view *const y = &call->outputs[0];
  leati_view x;
  transform t;
  int32_t axis;
  LEATI_TRY(dft_read(op, call, &t, &axis, err));
  LEATI_TRY(leati_check_reach(&call->inputs[0], "DFT", err));
  LEATI_TRY(leati_check_reach(y, "DFT", err));
  if (y->count == 0) {
    return LEAT_OK;
  }
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[0], &x, err));
  dft_args args = {.x_outer = (int32_t)(x.shape[axis] * t.inner * t.numbers),
                   .x_inner = (int32_t)t.numbers,
                   .x_step = (int32_t)(t.inner * t.numbers),
                   .y_outer = (int32_t)(t.bins * t.inner * t.given),
                   .y_inner = (int32_t)t.given,
                   .y_step = (int32_t)(t.inner * t.given)};
  return plan_transform(op, planner, &t, &x, NULL, y, &args, err);
}

static int32_t stft_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const leati_view *const given = leati_input(call, STFT_WINDOW), *const y = &call->outputs[0];
  leati_view x, window;
  transform t;
  int64_t step;
  LEATI_TRY(stft_read(op, call, &t, &step, err));
  LEATI_TRY(leati_check_reach(&call->inputs[0], "STFT", err));
  LEATI_TRY(leati_check_reach(y, "STFT", err));
  if (y->count == 0) {
    return LEAT_OK;
  }
  LEATI_TRY(leati_plan_compact(planner, &call->inputs[0], &x, err));
  if (given != NULL) {
    LEATI_TRY(leati_plan_compact(planner, given, &window, err));
  }
  dft_args args = {.x_outer = (int32_t)(x.shape[1] * t.numbers),
                   .x_inner = (int32_t)(t.inner > 1 ? step * t.numbers : 0),
                   .x_step = (int32_t)t.numbers,
                   .y_outer = (int32_t)(t.inner * t.bins * 2),
                   .y_inner = (int32_t)(t.bins * 2),
                   .y_step = 2};
  return plan_transform(op, planner, &t, &x, given != NULL ? &window : NULL, y, &args, err);
}

static const leati_op_def ops[] = {
    LEATI_OP("DFT", "", (17, 17), (1, 2), (1, 1), .info.host_inputs = 1u << DFT_LENGTH,
             LEATI_TYPES(&type_signal, &type_size),
             LEATI_ATTRIBUTES(&leati_attribute_axis, &attribute_inverse, &attribute_onesided), LEATI_INPUT_TYPES(0, 1),
             .state_size = sizeof(fourier_state), LEATI_KERNELS(LEATI_KERNELS_DFT), .least_rank = 2,
             .create = fourier_create, .infer = dft_infer, .plan = dft_plan),
    LEATI_OP("DFT", "", (20, 20), (1, 3), (1, 1), .info.host_inputs = 1u << DFT_LENGTH | 1u << DFT_AXIS,
             LEATI_TYPES(&type_signal, &type_size, &type_axis),
             LEATI_ATTRIBUTES(&attribute_inverse, &attribute_onesided), LEATI_INPUT_TYPES(0, 1, 2),
             .state_size = sizeof(fourier_state), LEATI_KERNELS(LEATI_KERNELS_DFT), .least_rank = 2,
             .create = fourier_create, .infer = dft_infer, .plan = dft_plan),
    LEATI_OP("STFT", "", (17, 17), (2, 4), (1, 1), .info.host_inputs = 1u << STFT_STEP | 1u << STFT_LENGTH,
             LEATI_TYPES(&type_signal, &type_size), LEATI_ATTRIBUTES(&attribute_onesided),
             LEATI_INPUT_TYPES(0, 1, 0, 1), .state_size = sizeof(fourier_state), LEATI_KERNELS(LEATI_KERNELS_DFT),
             .param = 1, .least_rank = 3, .most_rank = 3, .create = fourier_create, .infer = stft_infer,
             .plan = stft_plan),
};

const leati_op_family leati_fourier_family = LEATI_FAMILY(ops);
