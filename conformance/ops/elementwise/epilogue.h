/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What fused operators do with the result of a product or a convolution: the parts, one after the other.
 */
#ifndef LEAT_CONFORMANCE_OPS_ELEMENTWISE_EPILOGUE_H_
#define LEAT_CONFORMANCE_OPS_ELEMENTWISE_EPILOGUE_H_

#include "ops/core/node.h"

/** Adds a tensor that broadcasts one way to a result, each element rounded once.
 * @return false if it does not broadcast */
bool leati_ref_add(leati_ref_node *node, const leati_ref_tensor *added);

/** Applies the attribute `activation` to output 0, and adds a residual (NULL: none) before it, or behind it where the
 * attribute `residual_first` is 0.
 * @return false if the reference knows no such activation, or the residual does not broadcast */
bool leati_ref_epilogue(leati_ref_node *node, const leati_ref_tensor *residual);

#endif /* LEAT_CONFORMANCE_OPS_ELEMENTWISE_EPILOGUE_H_ */
