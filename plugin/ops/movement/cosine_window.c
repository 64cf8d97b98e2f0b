/* SPDX-License-Identifier: BSD-3-Clause */
/* HannWindow, HammingWindow and BlackmanWindow: what pieces of a signal are multiplied by before their spectra are
 * taken. */
#include <inttypes.h>

#include "core/status.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/core/movement.h"

/* leati_op_def::param */
enum { HANN, HAMMING, BLACKMAN };

/* Of the square of a sine, from 0 to 1 and back to 0. The specification has cosines of the double angle, and of that
 * four times; as a polynomial of the square nothing is taken from anything, so that small numbers keep their digits. */
static const float coefficients[][3] = {
    [HANN] = {0, 1, 0}, [HAMMING] = {4.0f / 46, 42.0f / 46, 0}, [BLACKMAN] = {0, 0.36f, 0.64f}};

typedef struct cosine_window_state {
  uint64_t type;
  bool periodic;
} cosine_window_state;

/* Argument record of kernels/cosine_window.comp. */
typedef struct cosine_window_args {
  uint64_t y;
  uint32_t count, steps;
  float coefficients[3];
} cosine_window_args;

static LEATI_TYPE(type_size, "T1", LEAT_TYPE_INT32 | LEAT_TYPE_INT64);
static LEATI_TYPE(type_window, "T2", LEATI_TYPES_OF_COSINE_WINDOW);
static LEATI_ATTRIBUTE(attribute_datatype, "output_datatype", INT);
static LEATI_ATTRIBUTE(attribute_periodic, "periodic", INT);

static int32_t cosine_window_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                                      leat_error *err) {
  (void)device;
  const int64_t number = leati_attr_int(desc, attribute_datatype.name, 1);
  return (leati_type_of_onnx(number) & LEATI_TYPES_OF_COSINE_WINDOW) != 0
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                          "%s: 'output_datatype' is %" PRId64 "; float32, float16 and bfloat16 are supported",
                          def->info.name, number);
}

static int32_t cosine_window_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  (void)err;
  *(cosine_window_state *)leati_op_state(op) =
      (cosine_window_state){.type = leati_type_of_onnx(leati_attr_int(desc, attribute_datatype.name, 1)),
                            .periodic = leati_attr_int(desc, attribute_periodic.name, 1) != 0};
  return LEAT_OK;
}

static int32_t cosine_window_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const cosine_window_state *const state = leati_op_state_const(op);
  const leati_view *const size = &call->inputs[0];
  const char *const name = leati_op_def_of(op)->info.name;
  if (size->count != 1 || size->ndim > 1) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: 'size' has %" PRIu64 " elements; expected a scalar", name,
                      size->count);
  }
  const int64_t count = leati_host_int(size, 0);
  if (count < 0 || count > INT32_MAX) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s of %" PRId64 " elements; 0 to %d are supported", name,
                      count, INT32_MAX);
  }
  if (count == 1 && !state->periodic) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                      "%s: a symmetric window of one element, which divides by 0, is not supported", name);
  }
  out->ndim = 1;
  out->dims[0] = count;
  out->dtype = leati_dtype_of(state->type);
  return LEAT_OK;
}

static int32_t cosine_window_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const cosine_window_state *const state = leati_op_state_const(op);
  const leati_view *const y = &call->outputs[0];
  if (y->count == 0) {
    return LEAT_OK;
  }
  const float *const by = coefficients[leati_op_def_of(op)->param];
  const cosine_window_args args = {.count = (uint32_t)y->count,
                                   .steps = (uint32_t)y->count - (state->periodic ? 0 : 1),
                                   .coefficients = {by[0], by[1], by[2]}};
  leati_dispatch_desc dispatch = {.pipeline = {.kernel = leati_kernel_find(LEATI_KERNELS_COSINE_WINDOW, y->type)},
                                  .args = &args,
                                  .args_size = sizeof(args),
                                  LEATI_WRITES({y, &args.y})};
  leati_groups_linear(planner->device, y->count, 256, dispatch.groups);
  return leati_plan_dispatch(planner, &dispatch, err);
}

#define COSINE_WINDOW(name, which)                                                                            \
  LEATI_OP(name, "", (17, 17), (1, 1), (1, 1), .info.flags = LEAT_OP_GROWS, .info.host_inputs = 1u << 0,      \
           LEATI_TYPES(&type_size, &type_window), LEATI_ATTRIBUTES(&attribute_datatype, &attribute_periodic), \
           LEATI_OUTPUT_TYPES(1), .state_size = sizeof(cosine_window_state), .param = (which),                \
           .supports = cosine_window_supports, .create = cosine_window_create, .infer = cosine_window_infer,  \
           LEATI_KERNELS(LEATI_KERNELS_COSINE_WINDOW), .plan = cosine_window_plan)

static const leati_op_def ops[] = {
    COSINE_WINDOW("HannWindow", HANN),
    COSINE_WINDOW("HammingWindow", HAMMING),
    COSINE_WINDOW("BlackmanWindow", BLACKMAN),
};

const leati_op_family leati_cosine_window_family = LEATI_FAMILY(ops);
