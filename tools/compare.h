/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Whether two results of one model are the same, up to the rounding that separates two right ways to compute it.
 */
#ifndef LEAT_TOOLS_COMPARE_H_
#define LEAT_TOOLS_COMPARE_H_

#include "ndarray.h"

/** What comparing two arrays found. */
typedef struct leati_comparison {
  gboolean same;
  /** max|got - want| / max(max|want|, unit of the type) over finite elements; infinite if the arrays differ in shape,
   * in the places of NaN or infinity, or in a whole number; 0 for equal whole numbers. */
  double error;
  char what[192]; /**< the first or worst difference in words; empty if same */
} leati_comparison;

/** How far apart two results may be. */
typedef struct leati_tolerance {
  double value;
  char *reason; /**< [owned: release with g_free] its derivation, or "set by --tolerance" */
} leati_tolerance;

/** Compares a result with the one wanted. Floating-point: NaN in the same places, infinity in the same places with the
 * same sign, and an error of at most @p tolerance. Whole numbers and bools: equal.
 * @threads any
 * @param got,want [borrowed: until return]
 * @param tolerance at least 0; not used for whole numbers
 * @param out [out] always filled */
void leati_compare(const leati_ndarray *got, const leati_ndarray *want, double tolerance, leati_comparison *out);

/** The tolerance for a model whose coarsest floating-point type is @p element: for float32 2^-10 up to 1,024 nodes, and
 * growing with the root of their number from there. The text of leati_tolerance_explain() derives it.
 * @threads any
 * @param nodes nodes in the model
 * @param out [out] value and reason */
void leati_tolerance_choose(leati_element element, size_t nodes, leati_tolerance *out);

/** The derivation in general, for help texts.
 * @threads any */
const char *leati_tolerance_explain(void);

#endif /* LEAT_TOOLS_COMPARE_H_ */
