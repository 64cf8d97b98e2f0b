/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What programs of the operator leat.Pointwise are made of.
 */
#ifndef LEAT_PLUGIN_OPS_POINTWISE_H_
#define LEAT_PLUGIN_OPS_POINTWISE_H_

#include "ops/op.h"

/** The number of operands of the function `name[size]` of programs; 0: there is none of that name. */
uint32_t leati_pointwise_operands(const char *name, size_t size);

#endif /* LEAT_PLUGIN_OPS_POINTWISE_H_ */
