/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Looking through expressions that are written out, for rules of fusion: a value is asked for what made it, which must
 * be for one input alone.
 */
#ifndef LEAT_PLUGIN_GRAPH_EXPRESSION_H_
#define LEAT_PLUGIN_GRAPH_EXPRESSION_H_

#include "graph/fusion.h"

/** The two operands of the node `op` that makes a value. */
bool leati_expression_operands(const leati_fusion *f, uint32_t v, leati_known_op op, uint32_t out[2]);
/** The operand beside a constant near `expected`, in either order. */
bool leati_expression_beside(const leati_fusion *f, uint32_t v, leati_known_op op, double expected, uint32_t *out);
/** The input beside any constant of one element, in either order, of a node with two inputs, and that constant. */
bool leati_expression_beside_input(const leati_fusion *f, const leati_node *node, uint32_t *out, float *out_scalar);
/** The same of the node `op` that makes a value. */
bool leati_expression_beside_scalar(const leati_fusion *f, uint32_t v, leati_known_op op, uint32_t *out,
                                    float *out_scalar);
/** The operand of a function of one number. */
bool leati_expression_inside(const leati_fusion *f, uint32_t v, leati_known_op op, uint32_t *out);

#endif /* LEAT_PLUGIN_GRAPH_EXPRESSION_H_ */
