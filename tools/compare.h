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

/** How far apart the elements of two arrays are, those of NaN and infinity apart. */
typedef struct leati_distance {
  double most; /**< largest difference */
  double rms;  /**< root of the mean square of all differences */
} leati_distance;

/** How far apart two results may be. */
typedef struct leati_tolerance {
  double value;
  int64_t ulps; /**< roundings that add up, by its derivation; 0 if it has none */
  char *reason; /**< [owned: release with g_free] its derivation, or "set by --tolerance" */
} leati_tolerance;

/** Compares a result with the one wanted. Floating-point: NaN in the same places, infinity in the same places with the
 * same sign, and an error of at most @p tolerance. Whole numbers and bools: equal.
 * @threads any
 * @param got,want [borrowed: until return]
 * @param tolerance at least 0; not used for whole numbers
 * @param out [out] always filled */
void leati_compare(const leati_ndarray *got, const leati_ndarray *want, double tolerance, leati_comparison *out);

/** How far apart two arrays are.
 * @threads any
 * @param a,b [borrowed: until return]
 * @return FALSE if no number says it: they differ in type or shape, or in the places of NaN or infinity */
gboolean leati_distance_between(const leati_ndarray *a, const leati_ndarray *b, leati_distance *out);

/** Whether a result may be as far off as it is because right results lie apart, too. It may be twice as far off, since
 * both sides round, in its largest difference and in their mean: a result that is wrong in many elements is far off in
 * the second, whatever a few elements of a right one are. Where twice the spread reaches the standard deviation of the
 * wanted elements (of a single one, its size), a result of zeros or of chance would pass, and nothing is allowed.
 * @threads any
 * @param off how far it is off
 * @param spread how far right results lie apart
 * @param want [borrowed: until return] the result wanted */
gboolean leati_distance_allowed(const leati_distance *off, const leati_distance *spread, const leati_ndarray *want);

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
