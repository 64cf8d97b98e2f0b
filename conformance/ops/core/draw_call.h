/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Draws calls of operators.
 *
 * A call is what the specification allows, with indices out of range and divisors of 0 where backend.h says what those
 * give: as the backend's operator list, forms of inputs and recipes (draws.c of a family) have it. What came out can
 * then be spoilt in one place: an extreme attribute, a shape that does not fit, a rank too high, a wrong type,
 * something left out. All of it follows from the seed.
 */
#ifndef LEAT_CONFORMANCE_OPS_CORE_DRAW_CALL_H_
#define LEAT_CONFORMANCE_OPS_CORE_DRAW_CALL_H_

#include "ops/core/draw.h"

/** The kinds of operators, each of which has its cases in random.c. */
#define LEATI_DRAW_KINDS(one) \
  one("elementwise") one("movement") one("index") one("reduce") one("norm") one("matmul") one("conv")

/** Whether it is known how to draw the operator, and it is of the kind (NULL: of any). */
bool leati_draw_knows(const leat_op_info *info, const char *kind);

/** Draws a call.
 * @param draw [out] holds nothing before; release with leati_draw_clear()
 * @param info [in] an entry of the operator list that leati_draw_knows()
 * @param seed what all of it follows from
 * @param empty in how many of 100 calls dimensions of size 0 are likely
 * @param faults leati_draw::faults
 * @param choices [in] leati_draw::choices, which outlive the draw
 * @param choice_count bytes of them; 0: all follows from the seed */
void leati_draw_make(leati_draw *draw, const leat_op_info *info, uint32_t seed, int empty, bool faults,
                     const uint8_t *choices, size_t choice_count);

/** Spoils the call in one place. */
void leati_draw_spoil(leati_draw *draw);

void leati_draw_clear(leati_draw *draw);

/** The call in words: operator, version, attributes and inputs. Free it with g_free(). */
char *leati_draw_text(const leati_draw *draw);

#endif /* LEAT_CONFORMANCE_OPS_CORE_DRAW_CALL_H_ */
