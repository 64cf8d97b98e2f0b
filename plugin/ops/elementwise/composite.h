/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Operators that compute what a program of elementwise functions does, for rules that look through them.
 */
#ifndef LEAT_PLUGIN_OPS_ELEMENTWISE_COMPOSITE_H_
#define LEAT_PLUGIN_OPS_ELEMENTWISE_COMPOSITE_H_

#include "ops/elementwise/pointwise.h"

/** The program that an operator computes of all the inputs that it was given, in their order, and that broadcast to the
 * first; NULL: it is no such operator. */
const leati_program *leati_program_of(const leat_op *op);

#endif /* LEAT_PLUGIN_OPS_ELEMENTWISE_COMPOSITE_H_ */
