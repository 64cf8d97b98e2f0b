/* SPDX-License-Identifier: BSD-3-Clause */
/* MatMulInteger, MatMulIntegerToFloat, DynamicQuantizeMatMul, QLinearMatMul, QGemm and QuantizedMatMul: products of
 * matrices of int8 or uint8, which sum up to int32. */
#include "core/status.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/core/matrix_view.h"
#include "ops/elementwise/function.h"
#include "ops/product/integer_product.h"
#include "ops/quantize/dynamic_quantize.h"
#include "policy/tiling.h"

/* TO_FLOAT: MatMulIntegerToFloat and QuantizedMatMul, which has two inputs more. */
enum { MATMUL_INTEGER, TO_FLOAT, QLINEAR_MATMUL, QGEMM, DYNAMIC };

/* Of QuantizedMatMul and QGemm; of MatMulIntegerToFloat all false. */
typedef struct integer_state {
  bool trans_b, relu;
} integer_state;

/* The inputs of an operator; c is not set. Of DynamicQuantizeMatMul a is of floats, and has no scale yet. */
static leati_integer_product operands_of(const leat_op *op, const leati_call *call) {
  const leati_view *const in = call->inputs;
  if (leati_op_def_of(op)->param == MATMUL_INTEGER) {
    return (leati_integer_product){
        .a = &in[0], .b = &in[1], .a_zero = leati_input(call, 2), .b_zero = leati_input(call, 3)};
  }
  if (leati_op_def_of(op)->param == DYNAMIC) {
    return (leati_integer_product){.a = &in[0],
                                   .b = &in[1],
                                   .b_scale = &in[2],
                                   .b_zero = leati_input(call, 3),
                                   .bias = leati_input(call, 4),
                                   .floats = true};
  }
  if (leati_op_def_of(op)->param == TO_FLOAT) {
    const integer_state *const state = leati_op_state_const(op);
    return (leati_integer_product){.a = &in[0],
                                   .b = &in[1],
                                   .a_scale = &in[2],
                                   .b_scale = &in[3],
                                   .a_zero = leati_input(call, 4),
                                   .b_zero = leati_input(call, 5),
                                   .bias = leati_input(call, 6),
                                   .y_scale = leati_input(call, 7),
                                   .y_zero = leati_input(call, 8),
                                   .trans_b = state->trans_b,
                                   .floats = true,
                                   .relu = state->relu};
  }
  if (leati_op_def_of(op)->param == QGEMM) {
    const integer_state *const state = leati_op_state_const(op);
    return (leati_integer_product){.a = &in[0],
                                   .a_scale = &in[1],
                                   .a_zero = &in[2],
                                   .b = &in[3],
                                   .b_scale = &in[4],
                                   .b_zero = leati_input(call, 5),
                                   .bias = leati_input(call, 6),
                                   .y_scale = leati_input(call, 7),
                                   .y_zero = leati_input(call, 8),
                                   .trans_b = state->trans_b};
  }
  return (leati_integer_product){.a = &in[0],
                                 .a_scale = &in[1],
                                 .a_zero = &in[2],
                                 .b = &in[3],
                                 .b_scale = &in[4],
                                 .b_zero = &in[5],
                                 .y_scale = &in[6],
                                 .y_zero = &in[7]};
}

static LEATI_ATTRIBUTE(attribute_trans_b, "transB", INT);

/* Which input is the second operand. */
static uint32_t second_of(const leati_op_def *def) {
  return def->param == MATMUL_INTEGER || def->param == TO_FLOAT || def->param == DYNAMIC ? 1 : 3;
}

/* Fails if what is known of the shapes of the operands says that they have no product. */
static int32_t integer_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                                leat_error *err) {
  (void)device;
  return leati_matrix_check_product(def->info.name, &desc->inputs[0], &desc->inputs[second_of(def)], false,
                                    leati_attr_int(desc, attribute_trans_b.name, 0) != 0, err);
}

static int32_t quantized_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                                  leat_error *err) {
  LEATI_TRY(integer_supports(def, device, desc, err));
  bool relu;
  return leati_integer_product_read(def, desc, &relu, err);
}

static int32_t quantized_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  integer_state *const state = leati_op_state(op);
  state->trans_b = leati_attr_int(desc, attribute_trans_b.name, 0) != 0;
  return leati_integer_product_read(leati_op_def_of(op), desc, &state->relu, err);
}

static LEATI_ATTRIBUTE(attribute_trans_a, "transA", INT);

/* Whether a bias may be one number for each column, as far as shapes are known: often the rows of the first operand are
 * not, so that nothing is inferred yet. */
static bool may_be_row(const leati_op_desc *desc) {
  if (!leati_is_given(desc, 6) || desc->inputs[6].ndim < 0) {
    return true;
  }
  const leat_value_info *const b = &desc->inputs[3], *const bias = &desc->inputs[6];
  const int32_t columns_at = leati_attr_int(desc, attribute_trans_b.name, 0) != 0 ? 0 : 1;
  const int64_t columns = b->ndim == 2 ? b->shape[columns_at] : -1;
  return bias->ndim == 1 && (columns < 0 || bias->shape[0] < 0 || bias->shape[0] == columns);
}

static int32_t qgemm_supports(const leati_op_def *def, leat_device *device, const leati_op_desc *desc,
                              leat_error *err) {
  LEATI_TRY(integer_supports(def, device, desc, err));
  if (!may_be_row(desc)) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                      "%s with a C that is not one number for each column, in one dimension, is not supported",
                      def->info.name);
  }
  if (leati_attr_float(desc, leati_attribute_alpha.name, 1) != 1 ||
      leati_attr_int(desc, attribute_trans_a.name, 0) != 0) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s with transA, or another alpha than 1, is not supported",
                      def->info.name);
  }
  return leati_is_given(desc, 7) && leati_is_given(desc, 8)
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                          "%s to float32 is not supported: it needs y_scale and y_zero_point", def->info.name);
}

/* ---- Shapes ------------------------------------------------------------------------------------------------------ */

/* Whether a scale or a zero point is for all elements, or one for each row of the first operand, or each column of the
 * second; in one dimension, or in those of the operand, which it broadcasts to. */
static bool place_fits(const leati_view *place, const leati_view *operand, bool first, bool transposed) {
  const leati_matrix m = leati_matrix_of(operand, transposed, first);
  const int64_t each = first ? m.rows : m.columns;
  if (place->count == 1 && place->ndim <= operand->ndim) {
    return true;
  }
  if (place->ndim == 1) {
    return operand->ndim > 1 && place->shape[0] == each;
  }
  bool fits = place->ndim <= operand->ndim && !transposed;
  for (int32_t d = 1; fits && d <= place->ndim; ++d) {
    const int64_t size = place->shape[place->ndim - d];
    const int64_t most = d > 2 ? operand->shape[operand->ndim - d] : (d == 2) == first ? each : 1;
    fits = size == 1 || size == most;
  }
  return fits;
}

static int32_t check_place(const leat_op *op, const char *what, const leati_view *place, const leati_view *operand,
                           bool first, bool transposed, leat_error *err) {
  return place == NULL || place_fits(place, operand, first, transposed)
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                          "%s: the %s of the %s operand must have one element, or one for each of its %s",
                          leati_op_def_of(op)->info.name, what, first ? "first" : "second", first ? "rows" : "columns");
}

/* Whether a zero point, if there is one, has its scale's shape, or is one for all. */
static bool is_like(const leati_view *zero, const leati_view *scale) {
  return zero == NULL || zero->count == 1 ||
         (zero->ndim == scale->ndim && leati_same_numbers(zero->shape, scale->shape, zero->ndim));
}

static int32_t check_scales(const leat_op *op, const leati_integer_product *in, leat_error *err) {
  const char *const name = leati_op_def_of(op)->info.name;
  LEATI_TRY(check_place(op, "scale", in->a_scale, in->a, true, false, err));
  LEATI_TRY(check_place(op, "scale", in->b_scale, in->b, false, in->trans_b, err));
  if (!is_like(in->a_zero, in->a_scale) || !is_like(in->b_zero, in->b_scale)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: a zero point must have the shape of its scale", name);
  }
  if (in->y_zero != NULL && in->y_scale == NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: the result has a zero point and no scale", name);
  }
  return in->y_scale == NULL || (in->y_scale->count == 1 && (in->y_zero == NULL || in->y_zero->count == 1))
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                          "%s with several scales or zero points of the result is not supported", name);
}

static int32_t check_bias(const leat_op *op, const leati_integer_product *in, leat_error *err) {
  const int64_t columns = leati_matrix_of(in->b, in->trans_b, false).columns;
  return in->bias == NULL || (in->bias->ndim == 1 && in->bias->shape[0] == columns)
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                          "%s: the bias must have one element for each of %lld columns", leati_op_def_of(op)->info.name,
                          (long long)columns);
}

static int32_t integer_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const leati_integer_product in = operands_of(op, call);
  out[0].dtype = leati_dtype_of(leati_integer_product_type(in.b_scale, in.y_scale, in.y_zero));
  LEATI_TRY(leati_matrix_infer_product(leati_op_def_of(op)->info.name, in.a, in.b, false, in.trans_b, out, err));
  LEATI_TRY(check_place(op, "zero point", in.a_zero, in.a, true, false, err));
  LEATI_TRY(check_place(op, "zero point", in.b_zero, in.b, false, in.trans_b, err));
  LEATI_TRY(check_bias(op, &in, err));
  return in.b_scale != NULL ? check_scales(op, &in, err) : LEAT_OK;
}

static int32_t qgemm_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  const leati_integer_product in = operands_of(op, call);
  return in.b->ndim == 2 ? integer_infer(op, call, out, err)
                         : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "QGemm: B must be a matrix");
}

/* ---- The plan ---------------------------------------------------------------------------------------------------- */

static int32_t integer_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  leati_integer_product product = operands_of(op, call);
  product.c = &call->outputs[0];
  return leati_plan_integer_product(planner, &product, err);
}

static int32_t dynamic_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  leati_integer_product product = operands_of(op, call);
  leati_quantized a;
  if (call->outputs[0].count == 0) {
    return LEAT_OK;
  }
  LEATI_TRY(leati_plan_dynamically_quantized(planner, product.a, &a, err));
  product.a = &a.bytes;
  product.a_scale = &a.scale;
  product.a_zero = &a.zero;
  product.c = &call->outputs[0];
  return leati_plan_integer_product(planner, &product, err);
}

/* The order of sums changes no bit. */
static bool integer_reads_view(const leat_op *op, const leati_call *call, uint32_t i) {
  const leati_integer_product in = operands_of(op, call);
  const leati_view *const view = &call->inputs[i];
  const bool is_quantised = view == in.a && leati_op_def_of(op)->param == DYNAMIC;
  if (is_quantised || (view != in.a && view != in.b) || !leati_view_walkable(view)) {
    return false;
  }
  const leati_matrix m = leati_matrix_of(view, false, view == in.a);
  return m.row_stride == 1 || m.column_stride == 1 || m.rows == 1 || m.columns == 1 ||
         leati_reads_scattered(view->count * view->item_size);
}

/* ---- The list ---------------------------------------------------------------------------------------------------- */

static LEATI_TYPE(type_a, "T1", LEATI_TYPES_BYTE);
static LEATI_TYPE(type_b, "T2", LEATI_TYPES_BYTE);
static LEATI_TYPE(type_sum, "T3", LEAT_TYPE_INT32);
static LEATI_TYPE(type_float, "T3", LEAT_TYPE_FLOAT32);
static LEATI_TYPE(type_float_1, "T1", LEAT_TYPE_FLOAT32);
static LEATI_TYPE(type_result, "T3", LEATI_TYPES_BYTE);
static LEATI_TYPE(type_any_result, "T3", LEATI_TYPES_BYTE | LEAT_TYPE_FLOAT32);
static LEATI_TYPE(type_result_zero, "T4", LEATI_TYPES_BYTE);
static LEATI_TYPE(type_floats, "tensor(float)", LEAT_TYPE_FLOAT32);
static LEATI_TYPE(type_scale, "TS", LEATI_TYPES_REAL);
static LEATI_TYPE(type_qgemm_a, "TA", LEATI_TYPES_BYTE);
static LEATI_TYPE(type_qgemm_b, "TB", LEATI_TYPES_BYTE);
static LEATI_TYPE(type_bias, "TC", LEAT_TYPE_INT32);
static LEATI_TYPE(type_zero, "TYZ", LEATI_TYPES_BYTE);
static LEATI_TYPE(type_qgemm_scale, "T", LEAT_TYPE_FLOAT32);

static const leati_op_def ops[] = {
    LEATI_OP("MatMulInteger", "", (10, 10), (2, 4), (1, 1), .info.flags = LEAT_OP_HEAVY,
             LEATI_TYPES(&type_a, &type_b, &type_sum), LEATI_INPUT_TYPES(0, 1, 0, 1), LEATI_OUTPUT_TYPES(2),
             .param = MATMUL_INTEGER, .least_rank = 1, .supports = integer_supports, .infer = integer_infer,
             .plan = integer_plan, .reads_view = integer_reads_view),
    LEATI_OP("MatMulIntegerToFloat", "com.microsoft", (1, 1), (4, 7), (1, 1), .info.flags = LEAT_OP_HEAVY,
             LEATI_TYPES(&type_a, &type_b, &type_float), LEATI_INPUT_TYPES(0, 1, 2, 2, 0, 1, 2), LEATI_OUTPUT_TYPES(2),
             .param = TO_FLOAT, .state_size = sizeof(integer_state), .least_rank = 1, .supports = integer_supports,
             .infer = integer_infer, .plan = integer_plan, .reads_view = integer_reads_view),
    LEATI_OP("DynamicQuantizeMatMul", "com.microsoft", (1, 1), (3, 5), (1, 1), .info.flags = LEAT_OP_HEAVY,
             LEATI_TYPES(&type_float_1, &type_b), LEATI_INPUT_TYPES(0, 1, 0, 1, 0), LEATI_OUTPUT_TYPES(0),
             .param = DYNAMIC, .least_rank = 1, .supports = integer_supports, .infer = integer_infer,
             .plan = dynamic_plan, .reads_view = integer_reads_view),
    LEATI_OP("QLinearMatMul", "", (10, 21), (8, 8), (1, 1), .info.flags = LEAT_OP_HEAVY,
             LEATI_TYPES(&type_a, &type_b, &type_result, &type_scale), LEATI_INPUT_TYPES(0, 3, 0, 1, 3, 1, 3, 2),
             LEATI_OUTPUT_TYPES(2), .param = QLINEAR_MATMUL, .least_rank = 1, .supports = integer_supports,
             .infer = integer_infer, .plan = integer_plan, .reads_view = integer_reads_view),
    LEATI_OP("QGemm", "com.microsoft", (1, 1), (5, 9), (1, 1), .info.flags = LEAT_OP_HEAVY,
             LEATI_TYPES(&type_qgemm_a, &type_qgemm_b, &type_bias, &type_zero, &type_qgemm_scale),
             LEATI_ATTRIBUTES(&leati_attribute_alpha, &attribute_trans_a, &attribute_trans_b),
             LEATI_INPUT_TYPES(0, 4, 0, 1, 4, 1, 2, 4, 3), LEATI_OUTPUT_TYPES(3), .param = QGEMM,
             .state_size = sizeof(integer_state), .least_rank = 2, .most_rank = 2, .supports = qgemm_supports,
             .create = quantized_create, .infer = qgemm_infer, .plan = integer_plan, .reads_view = integer_reads_view),
    LEATI_OP("QuantizedMatMul", "leat", (1, 1), (4, 9), (1, 1), .info.flags = LEAT_OP_HEAVY,
             LEATI_TYPES(&type_a, &type_b, &type_any_result, &type_floats, &type_result_zero),
             LEATI_ATTRIBUTES(&leati_attribute_activation, &attribute_trans_b),
             LEATI_INPUT_TYPES(0, 1, 3, 3, 0, 1, 3, 3, 4), LEATI_OUTPUT_TYPES(2), .param = TO_FLOAT,
             .state_size = sizeof(integer_state), .least_rank = 1, .supports = quantized_supports,
             .create = quantized_create, .infer = integer_infer, .plan = integer_plan,
             .reads_view = integer_reads_view),
};

const leati_op_family leati_matmul_integer_family = LEATI_FAMILY(ops);
