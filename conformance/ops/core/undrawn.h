/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What drawn calls never have.
 */
#ifndef LEAT_CONFORMANCE_OPS_CORE_UNDRAWN_H_
#define LEAT_CONFORMANCE_OPS_CORE_UNDRAWN_H_

#include <stdbool.h>

#include "case.h"

/** Prints each entry of a plugin's operator list that is never drawn, and of the others what no drawn call has: element
 * types, attributes, and optional inputs. One a line, in the words of leati_op_untried(): `Name 7 to 14` with ` T
 * int8`, ` attribute auto_pad` or ` input 2` behind it.
 * @threads owner
 * @param op [in] the plugin's table
 * @param calls how many calls of each entry are drawn
 * @return false if the plugin does not give its list */
bool leati_op_undrawn(const leat_op_api *op, uint32_t calls);

#endif /* LEAT_CONFORMANCE_OPS_CORE_UNDRAWN_H_ */
