/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Caches of keys and values as codes of 8 or 4 bits: a code times a scale is what it stands for.
 */
#ifndef LEAT_PLUGIN_OPS_ATTENTION_KV_CODES_H_
#define LEAT_PLUGIN_OPS_ATTENTION_KV_CODES_H_

#include "ops/attention/kv_cache.h"

/** How keys (0) and values (1) are coded. Of 8 bits: int8; of 4: two codes in a uint8, each 8 more than the code, the
 * first in the low half. */
typedef struct leati_kv_code {
  uint32_t bits;               /**< 8, or 4 of heads of an even number of elements */
  const leati_view *scales[2]; /**< float32, compact: one, or one for each element of each head */
} leati_kv_code;

/** Codes of keys or of values, and what they stand for. */
typedef struct leati_kv_codes_part {
  const leati_view *past;     /**< of earlier positions, that kernels can walk; NULL: there are none */
  const leati_operand *fresh; /**< new positions, in floats; both parts have heads of the same shape */
  const leati_view *to;       /**< of all positions, compact; may be exactly `past`; NULL: nobody wants them */
  const leati_view *values;   /**< what they stand for, of the new ones' type, compact: batch, head, position, element;
                                 as many positions as `to`. Those behind the last of a batch are left as they are. */
} leati_kv_codes_part;

/** Plans codes of the new positions behind those of earlier ones, and behind both bytes of 0, and what they all stand
 * for, as one dispatch. A code is the nearest to an element by its scale that there is, of two the even one, and 0
 * where the quotient is NaN.
 * @param lengths of earlier and new positions together, if it has a view; else there are no earlier ones
 * @errors OUT_OF_MEMORY, INTERNAL, NOT_SUPPORTED: a result of 2^31 elements or more */
int32_t leati_plan_kv_codes(leati_planner *planner, const leati_kv_code *code, const leati_kv_codes_part parts[2],
                            const leati_lengths *lengths, leat_error *err);

#endif /* LEAT_PLUGIN_OPS_ATTENTION_KV_CODES_H_ */
