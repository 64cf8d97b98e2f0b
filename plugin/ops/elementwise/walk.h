/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * How a kernel goes through a result and the operands that broadcast to it, element by element: in as few dimensions as
 * there can be, and four elements at once where memory allows it.
 */
#ifndef LEAT_PLUGIN_OPS_ELEMENTWISE_WALK_H_
#define LEAT_PLUGIN_OPS_ELEMENTWISE_WALK_H_

#include "ops/core/divider.h"
#include "ops/core/op.h"
#include "ops/elementwise/kernels/elementwise_codes.glsl"

#define LEATI_WALK_OPERANDS_MAX LEAT_POINTWISE_INPUTS
/** Elements that a workgroup of such a kernel handles, in either way of access. */
#define LEATI_WALK_GROUP 1024

typedef struct leati_walk {
  uint32_t access; /**< LEAT_EW_STRIDED and its kind */
  uint32_t rank;   /**< dimensions, at least 1 */
  struct {
    uint32_t size; /**< LEAT_EW_VECTOR: the innermost one counts groups of four */
    leati_divider per_size;
    int32_t result; /**< elements from one to the next */
    int32_t operands[LEATI_WALK_OPERANDS_MAX];
  } dims[LEAT_MAX_RANK]; /**< LEAT_EW_FLAT: none */
} leati_walk;

/** Finds the way through operands that broadcast to the shape of a result with elements.
 * @errors NOT_SUPPORTED: a tensor reaches over 2^31 elements */
int32_t leati_walk_find(const leati_view *const *operands, uint32_t operand_count, const leati_view *result,
                        leati_walk *out, leat_error *err);

#endif /* LEAT_PLUGIN_OPS_ELEMENTWISE_WALK_H_ */
