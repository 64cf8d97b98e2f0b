/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Functions of one and of two numbers on the host, of int64, int32, bool and float32, as the kernels compute them.
 */
#ifndef LEAT_PLUGIN_OPS_ELEMENTWISE_HOST_FUNCTION_H_
#define LEAT_PLUGIN_OPS_ELEMENTWISE_HOST_FUNCTION_H_

#include "ops/core/op.h"

/** Computes output 0 of an operator from inputs that broadcast to it: of more than two from the first two, and on from
 * the left.
 * @param operation LEAT_EW_* of an operator whose entry is LEATI_EVALUATED(), with its types */
void leati_evaluate_function(uint32_t operation, const leati_call *call);

#endif /* LEAT_PLUGIN_OPS_ELEMENTWISE_HOST_FUNCTION_H_ */
