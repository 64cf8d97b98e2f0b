/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * How the steps of a recurrent layer are cut into dispatches and workgroups (ops/recurrent/kernels/recurrent.comp).
 * Pure functions; counts in elements, "fours" in four of them.
 */
#ifndef LEAT_PLUGIN_POLICY_RECURRENCE_H_
#define LEAT_PLUGIN_POLICY_RECURRENCE_H_

#include "policy/constants.h"
#include "policy/traits.h"

/** Rows of a workgroup at most, and fours of k whose weights a thread keeps. */
#define LEATI_RECURRENT_ROWS_MOST 16u
#define LEATI_RECURRENT_HELD_MOST 2u

/** A recurrent layer. */
typedef struct leati_recurrent_shape {
  uint32_t gates;                 /**< of a unit: 1 to 4 */
  uint32_t round_gates[2];        /**< those of the first and the second round of a step; no second round: 0 */
  uint32_t units;                 /**< at least 1 */
  uint32_t batch, steps;          /**< batch at least 1 */
  uint32_t directions, item_size; /**< item_size: bytes of a weight */
  bool quantized;                 /**< states are quantised, each row with a scale in shared memory */
} leati_recurrent_shape;

/** How it is cut. */
typedef struct leati_recurrent_cut {
  bool whole;       /**< a workgroup has all units and many rounds; else a dispatch is one round */
  uint32_t threads; /**< of a workgroup */
  uint32_t rows,
      pass;          /**< of the batch, of a workgroup; those whose sums are put together at once, which divide them */
  uint32_t fours;    /**< of units, of a workgroup */
  uint32_t vectors;  /**< fours of shared memory for what the sums are of, if a workgroup has it there; else 1 */
  uint32_t held;     /**< fours of k whose weights a thread keeps, up to LEATI_RECURRENT_HELD_MOST */
  uint32_t parts[2]; /**< of k, by round, each of */
  uint32_t part_fours[2];
} leati_recurrent_cut;

/** Cuts one. */
leati_recurrent_cut leati_recurrent_cut_of(const leati_traits *traits, const leati_recurrent_shape *shape);

#endif /* LEAT_PLUGIN_POLICY_RECURRENCE_H_ */
