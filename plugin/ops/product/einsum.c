/* SPDX-License-Identifier: BSD-3-Clause */
/* Einsum: a copy or a sum of one operand, products of two, and of three from the left. */
#include <inttypes.h>
#include <string.h>

#include "core/status.h"
#include "device/device.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"
#include "ops/core/matrix_view.h"
#include "ops/core/movement.h"
#include "ops/elementwise/elementwise.h"
#include "ops/product/equation.h"
#include "ops/product/gemm.h"
#include "ops/reduce/reduce.h"

static LEATI_ATTRIBUTE(attribute_equation, "equation", STRING);

/* ---- Shapes -------------------------------------------------------------------------------------------------------
 */

/* Which label each dimension of a call has, and of what size that is: 1 where some operands have another size. */
typedef struct labelled {
  uint8_t operands[LEATI_EQUATION_OPERANDS_MAX][LEAT_MAX_RANK];
  int32_t rank;
  uint8_t result[LEAT_MAX_RANK];
  int64_t sizes[LEATI_EQUATION_LABELS]; /* 0 and more of those that there are */
} labelled;

static uint64_t bit(uint8_t label) {
  return UINT64_C(1) << label;
}

static uint64_t set_of(const uint8_t *labels, int32_t count) {
  uint64_t set = 0;
  for (int32_t d = 0; d < count; ++d) {
    set |= bit(labels[d]);
  }
  return set;
}

/* Finds the labels of operands of these ranks, and of the result. */
static int32_t label_dimensions(const leati_equation *e, const int32_t *ranks, labelled *out, leat_error *err) {
  int32_t dots = 0;
  for (uint32_t i = 0; i < e->operand_count; ++i) {
    if (!leati_equation_labels(&e->operands[i], ranks[i], out->operands[i])) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                        "Einsum: operand %u of \"%s\" has %d labels%s, its rank is %d", i, e->text,
                        e->operands[i].count, e->operands[i].ellipsis >= 0 ? " beside the ellipsis" : "", ranks[i]);
    }
    dots = ranks[i] - e->operands[i].count > dots ? ranks[i] - e->operands[i].count : dots;
  }
  if (dots > 0 && e->result.ellipsis < 0) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "Einsum: the result of \"%s\" has no ellipsis, which stands for %d dimensions of an operand",
                      e->text, dots);
  }
  out->rank = e->result.count + dots;
  LEATI_TRY(leati_check_rank("Einsum", out->rank, err));
  (void)leati_equation_labels(&e->result, out->rank, out->result);
  if (e->operand_count > 2) {
    const uint64_t first = set_of(out->operands[0], ranks[0]) | set_of(out->operands[1], ranks[1]);
    const uint64_t later = set_of(out->operands[2], ranks[2]) | set_of(out->result, out->rank);
    const int count = __builtin_popcountll(first & later);
    if (count > LEAT_MAX_RANK) {
      return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                        "Einsum: the product of the first two operands of \"%s\" has rank %d; supported: up to %d",
                        e->text, count, LEAT_MAX_RANK);
    }
  }
  return LEAT_OK;
}

static int32_t fail_sizes(const leati_equation *e, uint8_t label, int64_t a, int64_t b, leat_error *err) {
  const char name[2] = {leati_equation_letter(label), '\0'};
  return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                    "Einsum: \"%s\": dimensions of '%s' have sizes %" PRId64 " and %" PRId64, e->text,
                    name[0] == '.' ? "..." : name, a, b);
}

/* Takes the sizes of an operand's dimensions: of those with one label in one operand all are the same, of those in
 * several some may be 1. */
static int32_t take_sizes(const leati_equation *e, const leati_view *operand, const uint8_t *labels, int64_t *sizes,
                          leat_error *err) {
  for (int32_t d = 0; d < operand->ndim; ++d) {
    const int64_t size = operand->shape[d];
    for (int32_t before = 0; before < d; ++before) {
      if (labels[before] == labels[d] && operand->shape[before] != size) {
        return fail_sizes(e, labels[d], operand->shape[before], size, err);
      }
    }
    int64_t *const known = &sizes[labels[d]];
    if (*known != 1 && size != 1 && *known != size) {
      return fail_sizes(e, labels[d], *known, size, err);
    }
    *known = size != 1 ? size : *known;
  }
  return LEAT_OK;
}

/* Fails if what lies between three operands cannot be counted in 32 bits. */
static int32_t check_between(const leati_equation *e, const leati_call *call, const labelled *in, leat_error *err) {
  const uint64_t later = set_of(in->operands[2], call->inputs[2].ndim) | set_of(in->result, in->rank);
  uint64_t first = set_of(in->operands[0], call->inputs[0].ndim) | set_of(in->operands[1], call->inputs[1].ndim);
  int64_t count = 1;
  bool can = true, none = false;
  for (first &= later; first != 0; first &= first - 1) {
    const int64_t size = in->sizes[__builtin_ctzll(first)];
    none = none || size == 0;
    can = can && !__builtin_mul_overflow(count, size, &count) && count <= INT32_MAX;
  }
  return can || none
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                          "Einsum: the product of the first two operands of \"%s\" has 2^31 elements or more", e->text);
}

static int32_t check_count(const leati_equation *e, uint32_t count, leat_error *err) {
  return count == e->operand_count
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Einsum: \"%s\" is for %u operands; there are %u", e->text,
                          e->operand_count, count);
}

static int32_t read_call(const leat_op *op, const leati_call *call, labelled *out, leat_error *err) {
  const leati_equation *const e = leati_op_state_const(op);
  int32_t ranks[LEATI_EQUATION_OPERANDS_MAX];
  LEATI_TRY(check_count(e, call->input_count, err));
  for (uint32_t i = 0; i < e->operand_count; ++i) {
    ranks[i] = call->inputs[i].ndim;
  }
  LEATI_TRY(label_dimensions(e, ranks, out, err));
  for (uint32_t i = 0; i < LEATI_EQUATION_LABELS; ++i) {
    out->sizes[i] = 1;
  }
  for (uint32_t i = 0; i < e->operand_count; ++i) {
    LEATI_TRY(take_sizes(e, &call->inputs[i], out->operands[i], out->sizes, err));
  }
  return e->operand_count > 2 ? check_between(e, call, out, err) : LEAT_OK;
}

static int32_t einsum_create(leat_op *op, const leati_op_desc *desc, leat_error *err) {
  leati_equation *const e = leati_op_state(op);
  const leat_attribute *const given = leati_attr(desc, attribute_equation.name);
  if (given == NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "Einsum needs the attribute 'equation'");
  }
  LEATI_TRY(leati_equation_read(given->string, given->count, e, err));
  LEATI_TRY(check_count(e, desc->input_count, err));
  int32_t ranks[LEATI_EQUATION_OPERANDS_MAX];
  bool known = true;
  for (uint32_t i = 0; i < e->operand_count; ++i) {
    ranks[i] = desc->inputs[i].ndim;
    known = known && ranks[i] >= 0;
  }
  labelled labels;
  return known ? label_dimensions(e, ranks, &labels, err) : LEAT_OK;
}

static int32_t einsum_infer(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err) {
  labelled in;
  LEATI_TRY(read_call(op, call, &in, err));
  out->ndim = in.rank;
  for (int32_t d = 0; d < in.rank; ++d) {
    out->dims[d] = in.sizes[in.result[d]];
  }
  return LEAT_OK;
}

/* ---- Operands -----------------------------------------------------------------------------------------------------
 */

/* Labels in an order. */
typedef struct labels {
  int32_t count;
  uint8_t of[LEAT_MAX_RANK];
} labels;

/* A view with a label for each dimension. Dimensions of size 1 are left out, and one with two labels is its diagonal,
 * so that a label is there once, or is as if it had stride 0. */
typedef struct operand {
  leati_view view;
  labels labels;
} operand;

/* What plans a call. */
typedef struct einsum {
  const leat_device *device;
  leati_planner *planner;
  const int64_t *sizes;
  leat_error *err;
} einsum;

static uint64_t set_of_labels(const labels *l) {
  return set_of(l->of, l->count);
}

/* Those of `from` that are in a set, behind those that there are. */
static void append(labels *to, const labels *from, uint64_t set) {
  for (int32_t i = 0; i < from->count; ++i) {
    if ((set & bit(from->of[i])) != 0) {
      to->of[to->count++] = from->of[i];
    }
  }
}

static int64_t stride_of(const operand *o, uint8_t label) {
  for (int32_t d = 0; d < o->labels.count; ++d) {
    if (o->labels.of[d] == label) {
      return o->view.strides[d];
    }
  }
  return 0;
}

static operand operand_of(const leati_view *input, const uint8_t *given) {
  operand o = {.view = *input};
  int64_t shape[LEAT_MAX_RANK], strides[LEAT_MAX_RANK];
  for (int32_t d = 0; d < input->ndim; ++d) {
    int32_t at = 0;
    while (at < o.labels.count && o.labels.of[at] != given[d]) {
      ++at;
    }
    if (input->shape[d] != 1 && at == o.labels.count) {
      o.labels.of[o.labels.count++] = given[d];
      shape[at] = input->shape[d];
      strides[at] = input->strides[d];
    } else if (input->shape[d] != 1) {
      strides[at] += input->strides[d];
    }
  }
  leati_view_reshape(&o.view, o.labels.count, shape, strides);
  return o;
}

/* The operand with its dimensions in an order, repeated along those that it does not have. */
static leati_view arrange(const einsum *e, const operand *o, const labels *order) {
  leati_view view = o->view;
  int64_t shape[LEAT_MAX_RANK], strides[LEAT_MAX_RANK];
  for (int32_t d = 0; d < order->count; ++d) {
    shape[d] = e->sizes[order->of[d]];
    strides[d] = stride_of(o, order->of[d]);
  }
  leati_view_reshape(&view, order->count, shape, strides);
  return view;
}

/* A temporary tensor for such dimensions. */
static int32_t make_operand(const einsum *e, uint64_t type, const labels *order, operand *out) {
  *out = (operand){.view = {.type = type, .ndim = order->count}, .labels = *order};
  for (int32_t d = 0; d < order->count; ++d) {
    out->view.shape[d] = e->sizes[order->of[d]];
  }
  return leati_plan_temporary(e->planner, &out->view, e->err);
}

/* Sums an operand up over the labels that a result does not have. */
static int32_t plan_sum(const einsum *e, const operand *o, const operand *result) {
  labels order = result->labels;
  const uint64_t kept = set_of_labels(&order);
  append(&order, &o->labels, ~kept);
  const leati_view x = arrange(e, o, &order);
  const uint32_t axes = (1u << order.count) - (1u << result->labels.count);
  return axes == 0 ? leati_plan_strided_copy(e->planner, &x, &result->view, e->err)
                   : leati_plan_reduction(e->planner, LEATI_REDUCE_SUM, &x, axes, &result->view, e->err);
}

/* Makes an operand one that has no labels but those in a set. */
static int32_t sum_away(const einsum *e, uint64_t kept, operand *o) {
  labels order = {0};
  append(&order, &o->labels, kept);
  if (order.count == o->labels.count) {
    return LEAT_OK;
  }
  operand sum;
  LEATI_TRY(make_operand(e, o->view.type, &order, &sum));
  LEATI_TRY(plan_sum(e, o, &sum));
  *o = sum;
  return LEAT_OK;
}

/* ---- Products -----------------------------------------------------------------------------------------------------
 */

/* Whether an operand, which has all of these, walks through them in one stride. */
static bool in_one_stride(const einsum *e, const operand *o, const uint8_t *of, int32_t count) {
  bool one = true;
  for (int32_t i = 1; i < count; ++i) {
    one = one && stride_of(o, of[i - 1]) == stride_of(o, of[i]) * e->sizes[of[i]];
  }
  return one;
}

static int64_t count_of(const einsum *e, const uint8_t *of, int32_t count) {
  int64_t elements = 1;
  for (int32_t i = 0; i < count; ++i) {
    elements *= e->sizes[of[i]];
  }
  return elements;
}

/* Where the labels of `order` before `end` begin that one operand has and the other has not, and that lie in one
 * stride. */
static int32_t begin_of_run(const einsum *e, const operand *o, const operand *other, const labels *order, int32_t end) {
  const uint64_t own = set_of_labels(&o->labels) & ~set_of_labels(&other->labels);
  int32_t begin = end;
  while (begin > 0 && (own & bit(order->of[begin - 1])) != 0 &&
         in_one_stride(e, o, &order->of[begin - 1], end - begin + 1)) {
    --begin;
  }
  return begin;
}

/* Lays a product of matrices out for a result with its dimensions in an order: the last that are b's are columns, those
 * before them that are a's are rows, and all before is the batch. Rows or columns in the batch are read again for each;
 * that pays where matrices are left. */
static bool lay_product(const einsum *e, const operand *a, const operand *b, const labels *order, const labels *inner,
                        leati_gemm *out) {
  const int32_t n = begin_of_run(e, b, a, order, order->count), m = begin_of_run(e, a, b, order, n);
  const uint8_t last = inner->of[inner->count - 1];
  *out = (leati_gemm){.a = &a->view,
                      .b = &b->view,
                      .m = count_of(e, &order->of[m], n - m),
                      .n = count_of(e, &order->of[n], order->count - n),
                      .k = count_of(e, inner->of, inner->count),
                      .a_row = m < n ? stride_of(a, order->of[n - 1]) : 0,
                      .a_k = stride_of(a, last),
                      .b_k = stride_of(b, last),
                      .b_column = n < order->count ? stride_of(b, order->of[order->count - 1]) : 0,
                      .alpha = 1,
                      .beta = 1};
  int64_t dims[LEAT_MAX_RANK], strides[2][LEAT_MAX_RANK];
  for (int32_t d = 0; d < m; ++d) {
    dims[d] = e->sizes[order->of[d]];
    strides[0][d] = stride_of(a, order->of[d]);
    strides[1][d] = stride_of(b, order->of[d]);
  }
  const uint64_t alone = set_of_labels(&a->labels) ^ set_of_labels(&b->labels);
  const bool repeats = (set_of(order->of, m) & alone) != 0;
  const int32_t rank = m > 0 ? leati_collapse(m, dims, 2, strides) : 0;
  if (rank > LEATI_GEMM_BATCH_MAX || (repeats && leati_gemm_is_skinny(&e->device->traits, false, out->m, out->n))) {
    return false;
  }
  out->batch_rank = rank;
  memcpy(out->batch_shape, dims, (size_t)rank * sizeof(dims[0]));
  memcpy(out->a_batch, strides[0], (size_t)rank * sizeof(dims[0]));
  memcpy(out->b_batch, strides[1], (size_t)rank * sizeof(dims[0]));
  return true;
}

/* The labels of a result by what has them: both operands, the first alone and the second alone. */
static labels in_blocks(const labels *result, const operand *a, const operand *b) {
  const uint64_t in_a = set_of_labels(&a->labels), in_b = set_of_labels(&b->labels);
  labels order = {0};
  append(&order, result, in_a & in_b);
  append(&order, result, in_a & ~in_b);
  append(&order, result, in_b & ~in_a);
  return order;
}

/* Makes an operand compact, its dimensions in blocks and those that are summed up last, unless some of its labels lie
 * in one stride already and kernels can walk it. */
static int32_t settle(const einsum *e, const labels *blocks, const labels *inner, const labels *one, operand *o) {
  if (leati_view_walkable(&o->view) && in_one_stride(e, o, one->of, one->count)) {
    return LEAT_OK;
  }
  labels own = {0};
  append(&own, blocks, set_of_labels(&o->labels));
  append(&own, inner, ~UINT64_C(0));
  const leati_view view = arrange(e, o, &own);
  o->labels = own;
  return leati_plan_compact(e->planner, &view, &o->view, e->err);
}

/* The labels that are summed up, in the order in which the larger operand has them in memory. */
static labels inner_labels(const operand *a, const operand *b, uint64_t kept) {
  const operand *const large = a->view.count >= b->view.count ? a : b;
  labels inner = {0};
  append(&inner, &large->labels, ~kept);
  for (int32_t end = 1; end < inner.count; ++end) {
    for (int32_t i = end; i > 0 && stride_of(large, inner.of[i - 1]) < stride_of(large, inner.of[i]); --i) {
      const uint8_t label = inner.of[i];
      inner.of[i] = inner.of[i - 1];
      inner.of[i - 1] = label;
    }
  }
  return inner;
}

/* Plans a product of two operands that share labels which the result does not have, and have no other such. Where no
 * layout gives the result as it is wanted, its dimensions are put in order behind. */
static int32_t plan_matrices(const einsum *e, operand *a, operand *b, const operand *result) {
  const labels *const wanted = &result->labels;
  const labels inner = inner_labels(a, b, set_of_labels(wanted)), blocks = in_blocks(wanted, a, b);
  const uint64_t in_a = set_of_labels(&a->labels), in_b = set_of_labels(&b->labels);
  LEATI_TRY(settle(e, &blocks, &inner, &inner, a));
  LEATI_TRY(settle(e, &blocks, &inner, &inner, b));
  leati_gemm gemm;
  operand product = *result;
  bool as_wanted = true;
  if (!lay_product(e, a, b, wanted, &inner, &gemm)) {
    labels batch = {0}, rows = {0}, columns = {0};
    append(&batch, wanted, in_a & in_b);
    append(&rows, wanted, in_a & ~in_b);
    append(&columns, wanted, in_b & ~in_a);
    /* Of a batch with more dimensions than a product has, operands have no other but one that is summed up. */
    const bool deep = batch.count > LEATI_GEMM_BATCH_MAX;
    LEATI_TRY(settle(e, &blocks, &inner, deep ? &batch : &rows, a));
    LEATI_TRY(settle(e, &blocks, &inner, deep ? &batch : &columns, b));
    as_wanted = memcmp(blocks.of, wanted->of, (size_t)blocks.count) == 0;
    if (!as_wanted) {
      LEATI_TRY(make_operand(e, result->view.type, &blocks, &product));
    }
    (void)lay_product(e, a, b, &blocks, &inner, &gemm);
  }
  gemm.c = &product.view;
  LEATI_TRY(leati_plan_gemm(e->planner, &gemm, e->err));
  return as_wanted ? LEAT_OK : plan_sum(e, &product, result);
}

/* Whether the last label of a result that is not in both operands is in the first, so that they are to be exchanged. */
static bool is_turned(const labels *result, const operand *a, const operand *b) {
  const uint64_t in_a = set_of_labels(&a->labels), alone = in_a ^ set_of_labels(&b->labels);
  int32_t last = result->count - 1;
  while (last >= 0 && (alone & bit(result->of[last])) == 0) {
    --last;
  }
  return last >= 0 && (in_a & bit(result->of[last])) != 0;
}

static int32_t plan_product(const einsum *e, operand *a, operand *b, const operand *result) {
  const uint64_t kept = set_of_labels(&result->labels);
  LEATI_TRY(sum_away(e, kept | set_of_labels(&b->labels), a));
  LEATI_TRY(sum_away(e, kept | set_of_labels(&a->labels), b));
  if ((set_of_labels(&a->labels) & ~kept) == 0) {
    const leati_view x = arrange(e, a, &result->labels), y = arrange(e, b, &result->labels);
    const leati_elementwise product = {.kernel = leati_kernel_find(LEATI_KERNELS_BINARY, x.type),
                                       .operation = LEAT_EW_MUL,
                                       .operand_count = 2,
                                       .operands = {&x, &y}};
    return leati_plan_elementwise(e->planner, &product, &result->view, e->err);
  }
  return is_turned(&result->labels, a, b) ? plan_matrices(e, b, a, result) : plan_matrices(e, a, b, result);
}

/* ---- The operator -------------------------------------------------------------------------------------------------
 */

/* What an operand without elements leads to, as a product without inner elements. */
static int32_t plan_zeros(leati_planner *planner, const leati_view *empty, const leati_view *y, leat_error *err) {
  const leati_gemm gemm = {.a = empty, .b = empty, .c = y, .m = 1, .n = (int64_t)y->count, .alpha = 1, .beta = 1};
  return leati_plan_gemm(planner, &gemm, err);
}

static int32_t einsum_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  const leati_view *const y = leati_output(call, 0);
  const uint32_t count = call->input_count;
  labelled in;
  LEATI_TRY(read_call(op, call, &in, err));
  if (y == NULL || y->count == 0) {
    return LEAT_OK;
  }
  const einsum e = {.device = planner->device, .planner = planner, .sizes = in.sizes, .err = err};
  const operand result = operand_of(y, in.result);
  operand operands[LEATI_EQUATION_OPERANDS_MAX];
  for (uint32_t i = 0; i < count; ++i) {
    if (call->inputs[i].count == 0) {
      return plan_zeros(planner, &call->inputs[i], y, err);
    }
    operands[i] = operand_of(&call->inputs[i], in.operands[i]);
  }
  if (count == 1) {
    return plan_sum(&e, &operands[0], &result);
  }
  if (count > 2) {
    const uint64_t later = set_of_labels(&operands[2].labels) | set_of_labels(&result.labels);
    labels all = {0};
    append(&all, &operands[0].labels, later);
    append(&all, &operands[1].labels, later & ~set_of_labels(&operands[0].labels));
    const labels order = in_blocks(&all, &operands[0], &operands[1]);
    operand product;
    LEATI_TRY(make_operand(&e, y->type, &order, &product));
    LEATI_TRY(plan_product(&e, &operands[0], &operands[1], &product));
    operands[0] = product;
  }
  return plan_product(&e, &operands[0], &operands[count - 1], &result);
}

/* A result of one operand that has all its labels is a view of it. */
static int32_t einsum_view(const leat_op *op, const leati_call *call, uint32_t o, leati_view *out, leat_error *err) {
  const leati_view *const result = &call->outputs[o];
  labelled in;
  *out = call->inputs[0];
  LEATI_TRY(read_call(op, call, &in, err));
  const operand x = operand_of(out, in.operands[0]);
  out->present = call->input_count == 1 && (set_of_labels(&x.labels) & ~set_of(in.result, in.rank)) == 0;
  int64_t strides[LEAT_MAX_RANK];
  for (int32_t d = 0; d < in.rank; ++d) {
    strides[d] = stride_of(&x, in.result[d]);
  }
  if (out->present) {
    leati_view_reshape(out, in.rank, result->shape, strides);
  }
  return LEAT_OK;
}

/* A product of matrices without copies and sums before it or behind it. */
typedef struct layout {
  operand a, b;
  labels inner;
  leati_gemm_config config;
} layout;

/* Lays it out if the call is one. */
static bool lay_in_place(const leat_device *device, const leati_call *call, const labelled *in, const leati_view *first,
                         const leati_view *second, layout *out) {
  const einsum e = {.device = device, .sizes = in->sizes};
  const operand result = operand_of(&call->outputs[0], in->result), a = operand_of(first, in->operands[0]),
                b = operand_of(second, in->operands[1]);
  const uint64_t kept = set_of_labels(&result.labels), in_a = set_of_labels(&a.labels), in_b = set_of_labels(&b.labels);
  if (((in_a ^ in_b) & ~kept) != 0 || (in_a & in_b & ~kept) == 0) {
    return false;
  }
  const bool turned = is_turned(&result.labels, &a, &b);
  out->a = turned ? b : a;
  out->b = turned ? a : b;
  out->inner = inner_labels(&out->a, &out->b, kept);
  leati_gemm gemm;
  if (!leati_view_walkable(&a.view) || !leati_view_walkable(&b.view) ||
      !in_one_stride(&e, &a, out->inner.of, out->inner.count) ||
      !in_one_stride(&e, &b, out->inner.of, out->inner.count) ||
      !lay_product(&e, &out->a, &out->b, &result.labels, &out->inner, &gemm)) {
    return false;
  }
  gemm.c = &result.view;
  leati_gemm_select(device, &gemm, &out->config);
  return true;
}

/* Whether a product of two is the same, by the same kernel, from where operand `i` lies as from a copy. */
static bool product_reads_view(const leat_op *op, const leati_call *call, const labelled *in, uint32_t i) {
  leati_view copy = call->inputs[i];
  leati_view_make_compact(&copy);
  copy.address = 0;
  const leati_view *const x = &call->inputs[0], *const y = &call->inputs[1];
  layout lies, would;
  return lay_in_place(leati_op_device(op), call, in, x, y, &lies) &&
         lay_in_place(leati_op_device(op), call, in, i == 0 ? &copy : x, i == 1 ? &copy : y, &would) &&
         memcmp(&lies.inner, &would.inner, sizeof(lies.inner)) == 0 &&
         memcmp(&lies.config.pipeline, &would.config.pipeline, sizeof(lies.config.pipeline)) == 0 &&
         lies.config.args.m == would.config.args.m && lies.config.args.n == would.config.args.n &&
         lies.config.args.splits == would.config.args.splits && lies.config.args.k_chunk == would.config.args.k_chunk;
}

/* Without sums all is copied or multiplied element by element, from wherever it lies. */
static bool einsum_reads_view(const leat_op *op, const leati_call *call, uint32_t i) {
  labelled in;
  if (read_call(op, call, &in, NULL) != LEAT_OK || call->inputs[i].count == 0) {
    return false;
  }
  bool summed = false;
  for (uint32_t k = 0; k < call->input_count; ++k) {
    summed = summed || (set_of(in.operands[k], call->inputs[k].ndim) & ~set_of(in.result, in.rank)) != 0;
  }
  return summed ? call->input_count == 2 && product_reads_view(op, call, &in, i)
                : leati_view_has_rows(&call->inputs[i]);
}

/* ---- The list --------------------------------------------------------------------------------------------------- */

static const leati_op_def ops[] = {
    LEATI_OP("Einsum", "", (12, 28), (1, LEAT_VARIADIC), (1, 1), .info.flags = LEAT_OP_HEAVY,
             LEATI_TYPES(&leati_type_real), LEATI_ATTRIBUTES(&attribute_equation), .state_size = sizeof(leati_equation),
             LEATI_KERNELS(LEATI_KERNELS_OF_PRODUCTS, LEATI_KERNELS_REDUCE, LEATI_KERNELS_BINARY),
             .create = einsum_create, .infer = einsum_infer, .plan = einsum_plan, .view = einsum_view,
             .reads_view = einsum_reads_view),
};

const leati_op_family leati_einsum_family = LEATI_FAMILY(ops);
