/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What of a drawn call follows from the operator's entry in the list of operators (leat_op_info): how many inputs there
 * are and which may be absent, types, and attributes whose names always mean the same.
 *
 * A form says what the entry cannot: the shapes of inputs, a word for each, separated by spaces.
 *
 *     *      any shape, of 0 to 8 dimensions; *2 of 2 at least, *3-5 of 3 to 5
 *     ~      a shape that broadcasts to the first `*`, or to one that all `~` have in common
 *     .      a scalar
 *     ?      some shape of up to 3 dimensions
 *
 * "T1:" before a word is the type constraint of the input, else it is T. Inputs of one constraint have one type. Where
 * any number of inputs is taken, the last word is for all further ones.
 */
#ifndef LEAT_CONFORMANCE_OPS_CORE_DRAW_DERIVE_H_
#define LEAT_CONFORMANCE_OPS_CORE_DRAW_DERIVE_H_

#include "ops/core/draw.h"

/** Draws the inputs that a form has words for.
 * @param draw [inout] a call without inputs
 * @param form [in] NULL: `*` where one input is taken, `*1` if there is an attribute "axis", else `~` for each */
void leati_draw_inputs(leati_draw *draw, const char *form);

/** Draws values for the attributes of the operator whose names always mean the same, but for those that are there. */
void leati_draw_attributes(leati_draw *draw);

#endif /* LEAT_CONFORMANCE_OPS_CORE_DRAW_DERIVE_H_ */
