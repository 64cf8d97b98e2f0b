/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What programs of the operator leat.Pointwise are made of.
 */
#ifndef LEAT_PLUGIN_OPS_POINTWISE_H_
#define LEAT_PLUGIN_OPS_POINTWISE_H_

#include "ops/kernels/elementwise_codes.glsl"
#include "ops/op.h"

/** The name that the function of an operation (LEAT_EW_*) has in programs, and how many operands; NULL: it has none. */
const char *leati_pointwise_name(uint32_t operation, uint32_t *out_operands);

#endif /* LEAT_PLUGIN_OPS_POINTWISE_H_ */
