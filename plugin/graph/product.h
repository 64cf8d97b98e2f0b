/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * A matrix product or convolution as rules change it: read of a node, and written as leat's FusedMatMul or FusedConv.
 */
#ifndef LEAT_PLUGIN_GRAPH_PRODUCT_H_
#define LEAT_PLUGIN_GRAPH_PRODUCT_H_

#include "graph/fusion.h"

/** Attributes of a node that stay, at most; five are written beside them. */
#define LEATI_PRODUCT_KEPT_MAX (LEATI_FUSION_ATTRIBUTES_MAX - 5)

/** Inputs of FusedMatMul and FusedConv. */
#define LEATI_PRODUCT_INPUTS 5

/** Inputs A, B, bias, residual; of a convolution a gate, of a matrix product a factor. */
typedef struct leati_product {
  bool conv;
  uint32_t inputs[LEATI_PRODUCT_INPUTS]; /**< LEAT_GRAPH_NO_VALUE: absent */
  leat_attribute kept[LEATI_PRODUCT_KEPT_MAX];
  uint32_t kept_count;
  float alpha; /**< of a matrix product */
  bool residual_first;
  char activation[32]; /**< empty: none */
  float parameters[2];
  uint32_t parameter_count;
  uint32_t shape_rank; /**< of a matrix product whose result looks as the residual does; 0: as the product does */
} leati_product;

/** Reads a node as a product; false: it is none, or NULL. Its attributes are borrowed. */
bool leati_product_read(const leati_fusion *f, const leati_node *node, leati_product *out);
/** Reads the node that makes value `v` for one input alone. */
bool leati_product_read_maker(const leati_fusion *f, uint32_t v, leati_product *out);

/** The node of a product, whose attributes get a place. */
leati_fusion_node leati_product_node(const leati_product *p, leat_attribute attributes[LEATI_FUSION_ATTRIBUTES_MAX]);
/** Puts a product in the place of node `n`, which gives what it gives: leati_fusion_replace().
 * @errors OUT_OF_MEMORY */
int32_t leati_product_write(leati_fusion *f, uint32_t n, const leati_product *p, bool *out_done, leat_error *err);

#endif /* LEAT_PLUGIN_GRAPH_PRODUCT_H_ */
