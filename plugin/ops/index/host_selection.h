/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Operators whose results have shapes that follow from values: these must be known before anything is launched, so all
 * inputs are read on the host, and the results are given there.
 */
#ifndef LEAT_PLUGIN_OPS_INDEX_HOST_SELECTION_H_
#define LEAT_PLUGIN_OPS_INDEX_HOST_SELECTION_H_

#include "ops/core/op.h"
#include "ops/core/planner.h"

/** What an operator selects. `shapes[o]` has the rank, sizes and dtype of output `o`, `data[o]` its elements, compact,
 * from malloc(); NULL: it has none. */
typedef struct leati_selection {
  const char *op; /**< its name, for messages */
  leat_shape shapes[LEATI_ANSWER_MAX];
  void *data[LEATI_ANSWER_MAX];
} leati_selection;

/** Selects. `call` has compact inputs, which another thread may write to meanwhile: what is read twice may differ, and
 * must not lead outside of what was taken for a result. What is in `out` when it fails is freed by the caller.
 * @errors OUT_OF_MEMORY, INVALID_ARGUMENT: inputs that do not go together */
typedef int32_t (*leati_select)(const leat_op *op, const leati_call *call, leati_selection *out, leat_error *err);

/** leati_op_def::infer of such an operator, which selects, and plan(), which gives what infer() of the same call
 * selected.
 * @errors those of `select`; NOT_SUPPORTED: a result of more than 1 GiB, of which plans would have a copy */
int32_t leati_selection_infer(const leat_op *op, const leati_call *call, leati_select select, leat_shape *out,
                              leat_error *err);
int32_t leati_selection_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err);

/** Sets the shape of output `o` and gives memory for its elements, zeros; NULL in `*out` for none.
 * @errors OUT_OF_MEMORY, NOT_SUPPORTED: more than 1 GiB */
int32_t leati_selection_place(leati_selection *selection, uint32_t o, int32_t ndim, const int64_t *dims, uint64_t type,
                              void **out, leat_error *err);

/** Sorts indices by merging, so that those that are equal stay in their order. `less` says whether the element of the
 * first index comes before that of the second; `scratch` is room for as many.  */
void leati_sort_indices(int64_t *indices, int64_t *scratch, int64_t count,
                        bool (*less)(const void *data, int64_t a, int64_t b), const void *data);

/** A number that says by its size where an element of any type stands among others of it: -0 with 0, and NaN, each of
 * which is the same, behind all others. */
uint64_t leati_order_of(uint64_t type, const void *element);

#endif /* LEAT_PLUGIN_OPS_INDEX_HOST_SELECTION_H_ */
