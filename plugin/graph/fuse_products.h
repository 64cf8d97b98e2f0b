/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Rules about products side by side, which become leat's MultiMatMul, and about what their first operand is multiplied
 * by.
 */
#ifndef LEAT_PLUGIN_GRAPH_FUSE_PRODUCTS_H_
#define LEAT_PLUGIN_GRAPH_FUSE_PRODUCTS_H_

#include "graph/fusion.h"

/** Products of one value and given matrices: one dispatch. Node `n` is the first of them. */
leati_fusion_rule leati_fuse_products;

/** RMS norm of few rows, or a product element by element, as the first operand of a product, or of several in one
 * dispatch. Node `n` is the product. */
leati_fusion_rule leati_fuse_factor;

#endif /* LEAT_PLUGIN_GRAPH_FUSE_PRODUCTS_H_ */
