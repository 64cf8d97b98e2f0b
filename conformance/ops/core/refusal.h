/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Cases of what an operator has to refuse when it is asked for: attributes that make no sense, and shapes that do not
 * go together.
 */
#ifndef LEAT_CONFORMANCE_OPS_CORE_REFUSAL_H_
#define LEAT_CONFORMANCE_OPS_CORE_REFUSAL_H_

#include "ops/core/op_engine.h"

#define LEATI_REFUSAL_ATTRIBUTES 3

/** Attributes of one description, up to the first without a name. */
typedef leat_attribute leati_refusal[LEATI_REFUSAL_ATTRIBUTES];

/** Descriptions of one operator. Constant; lives as long as the process. */
typedef struct leati_refusals {
  /** Is not refused. Inputs with given elements are constants, other ones have a shape and no value. */
  const leati_op_spec *sound;
  /** Each in turn beside the attributes of the sound one, or in the place of those of the same name. */
  const leati_refusal *wrong;
  uint32_t wrong_count;
  const leati_op_spec *others; /**< descriptions that are refused as they are */
  uint32_t other_count;
  /** Bit `d` for each input: its dimension `d` may have any size, or be there where it has so many dimensions. Every
   * other one, one larger than it is, and one more of size 1 make a description that is refused; but inputs with given
   * elements stay. */
  uint16_t any_size[LEATI_OP_MAX_INPUTS];
} leati_refusals;

/** Checks that supports() and create() take the sound description, and refuse all that come of it. `run` of a leat_case
 * whose data are leati_refusals. */
void leati_check_refusals(leat_case_context *ctx, const void *data);

/** Members of a case that does: REFUSALS("MoE", "refused", &refusals). */
#define REFUSALS(op, named, refusals_)                                          \
  .name = "op." op "." named, .run = leati_check_refusals, .data = (refusals_), \
  .summary = "Attributes and shapes that " op " gives no meaning are refused when it is asked for."

#endif /* LEAT_CONFORMANCE_OPS_CORE_REFUSAL_H_ */
