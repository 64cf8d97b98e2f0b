/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/product/matrix_product.h"

#include "core/status.h"
#include "device/device.h"
#include "ops/core/attribute.h"
#include "ops/core/dims.h"

/* ---- Attributes -------------------------------------------------------------------------------------------------- */

LEATI_ATTRIBUTE(leati_attribute_trans_a, "transA", INT);
LEATI_ATTRIBUTE(leati_attribute_trans_b, "transB", INT);

int32_t leati_matrix_product_read(const leati_op_def *def, const leati_op_desc *desc, leati_matrix_product_state *out,
                                  leat_error *err) {
  out->alpha = leati_attr_float(desc, "alpha", 1.0f);
  out->beta = leati_attr_float(desc, "beta", 1.0f);
  out->trans_a = leati_attr_int(desc, "transA", 0) != 0;
  out->trans_b = leati_attr_int(desc, "transB", 0) != 0;
  LEATI_TRY(
      leati_matrix_check_product(def->info.name, &desc->inputs[0], &desc->inputs[1], out->trans_a, out->trans_b, err));
  return leati_epilogue_read(def, desc, &out->epilogue, err);
}

/* ---- The product ------------------------------------------------------------------------------------------------- */

leati_gemm leati_gemm_of(const leati_matrix *ma, const leati_matrix *mb, const leati_view *a, const leati_view *b,
                         const leati_view *c) {
  return (leati_gemm){.a = a,
                      .b = b,
                      .c = c,
                      .m = ma->rows,
                      .n = mb->columns,
                      .k = ma->columns,
                      .a_row = ma->row_stride,
                      .a_k = ma->column_stride,
                      .b_k = mb->row_stride,
                      .b_column = mb->column_stride,
                      .alpha = 1,
                      .beta = 1};
}

leati_gemm leati_product_of(const leati_view *a, const leati_view *b, const leati_view *c, const leati_view *bias,
                            bool trans_b) {
  const leati_matrix ma = leati_matrix_of(a, false, true), mb = leati_matrix_of(b, trans_b, false);
  int64_t dims[LEAT_MAX_RANK], strides[1][LEAT_MAX_RANK];
  leati_gemm gemm = leati_gemm_of(&ma, &mb, a, b, c);
  gemm.bias = bias;
  gemm.bias_column = bias != NULL ? bias->strides[0] : 0;
  for (int32_t d = 0; d < ma.batch.ndim; ++d) {
    dims[d] = a->shape[d];
    strides[0][d] = a->strides[d];
  }
  gemm.batch_rank = ma.batch.ndim > 0 ? leati_collapse(ma.batch.ndim, dims, 1, strides) : 0;
  for (int32_t d = 0; d < gemm.batch_rank; ++d) {
    gemm.batch_shape[d] = dims[d];
    gemm.a_batch[d] = strides[0][d];
  }
  return gemm;
}

/* What is divided by the root behind the sums overflows and underflows earlier than what is divided before; elements of
 * float16 are far from that, however long the sums. */
bool leati_product_takes_factor(const leat_device *device, const leati_view *a, const leati_view *b,
                                const leati_view *c, bool trans_b, bool norm) {
  const leati_gemm gemm = leati_product_of(a, b, c, NULL, trans_b);
  leati_gemm_config config;
  leati_gemm_select(device, &gemm, &config);
  return leati_gemm_takes_a_prologue(&config) && (!norm || c->type == LEAT_TYPE_FLOAT16);
}

/* ---- Operands in place ------------------------------------------------------------------------------------------- */

/* The fewest dimensions of the batch and so many rows of each matrix. */
static int32_t collapse_rows(const leati_matrix *m, int64_t rows, int64_t *dims, int64_t (*strides)[LEAT_MAX_RANK]) {
  const int32_t rank = m->batch.ndim;
  for (int32_t d = 0; d < rank; ++d) {
    dims[d] = m->batch.shape[d];
    strides[0][d] = m->batch.strides[d];
  }
  dims[rank] = rows;
  strides[0][rank] = m->row_stride;
  return leati_collapse(rank + 1, dims, 1, strides);
}

/* How an operand may be read four elements at a time; with few rows the order of the sums follows from that. */
static uint32_t quads_of(const leati_matrix *m, uint64_t address, bool first) {
  int64_t dims[LEAT_MAX_RANK], strides[1][LEAT_MAX_RANK];
  const int32_t rank = collapse_rows(m, 1, dims, strides);
  const uint32_t mode = first ? leati_operand_mode(address, m->batch.item_size, m->row_stride, m->rows,
                                                   m->column_stride, m->columns, rank, strides[0])
                              : leati_operand_mode(address, m->batch.item_size, m->column_stride, m->columns,
                                                   m->row_stride, m->rows, rank, strides[0]);
  return mode < LEATI_MODE_SINGLES_K ? mode : LEATI_MODE_SINGLES_K;
}

/* Whether the rows of all matrices of an operand follow each other in one stride: with one matrix for b they are then
 * the rows of one product. */
static bool rows_in_one(const leati_matrix *m) {
  int64_t dims[LEAT_MAX_RANK], strides[1][LEAT_MAX_RANK];
  return collapse_rows(m, m->rows, dims, strides) == 1;
}

static bool repeats(const leati_view *batch) {
  bool found = false;
  for (int32_t d = 0; d < batch->ndim; ++d) {
    found = found || (batch->shape[d] > 1 && batch->strides[d] == 0);
  }
  return found;
}

bool leati_product_reads(const leat_device *device, const leati_view *a, const leati_view *b, const leati_view *c,
                         bool trans_a, bool trans_b, bool first) {
  const leati_view *const view = first ? a : b;
  const bool transposed = first ? trans_a : trans_b;
  leati_view copy = *view;
  leati_view_make_compact(&copy);
  const leati_matrix lies = leati_matrix_of(view, transposed, first), would = leati_matrix_of(&copy, transposed, first);
  const bool neighbours = lies.row_stride == 1 || lies.column_stride == 1 || lies.rows == 1 || lies.columns == 1;
  if (!leati_view_walkable(view) || (!neighbours && !leati_reads_scattered(view->count * view->item_size))) {
    return false;
  }
  const leati_matrix ma = leati_matrix_of(a, trans_a, true), mb = leati_matrix_of(b, trans_b, false);
  const bool one = (int64_t)b->count == mb.rows * mb.columns;
  if (first ? one && rows_in_one(&lies) != rows_in_one(&would) : !one && repeats(&lies.batch)) {
    return false;
  }
  const bool joined = one && rows_in_one(&ma);
  const int64_t rows = joined && mb.columns != 0 ? (int64_t)c->count / mb.columns : ma.rows;
  return !leati_gemm_is_skinny(&device->traits, false, rows, mb.columns) ||
         quads_of(&lies, view->address, first) == quads_of(&would, 0, first);
}

bool leati_matrix_product_reads_view(const leat_op *op, const leati_matrix_product_state *state, const leati_call *call,
                                     uint32_t i) {
  const leati_view *const view = &call->inputs[i];
  return i > 1 ? leati_view_walkable(view) && view->ndim <= 2
               : leati_product_reads(leati_op_device(op), &call->inputs[0], &call->inputs[1], &call->outputs[0],
                                     state->trans_a, state->trans_b, i == 0);
}

uint32_t leati_matrix_product_transposes(const leat_op *op, const leati_matrix_product_state *state,
                                         const leati_call *call, uint32_t constants) {
  const leati_view *a = &call->inputs[0], *b = &call->inputs[1];
  if (!leati_has_input(constants, 1) || b->ndim != 2 || a->ndim < 2 || state->trans_a || a->count == 0) {
    return 0;
  }
  const leati_gemm gemm = leati_product_of(a, b, &call->outputs[0], NULL, state->trans_b);
  return leati_gemm_gains_along_k(leati_op_device(op), &gemm) ? 1u << 1 : 0;
}
