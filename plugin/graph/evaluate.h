/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Shape arithmetic: nodes on few integers of which shapes follow are computed on the host, where shapes are needed; and
 * what is computed with sizes in float32, such as the scale of an attention, or a size that a quotient is rounded up
 * to. Integers are those that the operators give on the device; each float32 is rounded once.
 */
#ifndef LEAT_PLUGIN_GRAPH_EVALUATE_H_
#define LEAT_PLUGIN_GRAPH_EVALUATE_H_

#include "graph/graph.h"
#include "memory/tensor.h"

/** Types that all such nodes work on; some of them on float32 too. */
#define LEATI_EVALUATED_TYPES (LEAT_TYPE_INT64 | LEAT_TYPE_INT32 | LEAT_TYPE_BOOL)

/** Reads what evaluating a node takes of its attributes, and finds leati_node::evaluator, by them and the types
 * of its inputs. */
void leati_evaluate_prepare(const leat_graph *graph, leati_node *node, const leat_graph_node *from);

/** The elements of a tensor on the host, compact. */
typedef struct leati_elements {
  const leati_view *view; /**< type and shape; NULL: an absent input */
  const void *bytes;
} leati_elements;

/** Whether an output of a node can be computed if it has this type. */
bool leati_can_evaluate(const leati_node *node, uint64_t type);

/** Computes output `o`, of the type and shape of `out`, from inputs that the operator has inferred it from and found
 * right. */
void leati_evaluate(const leati_node *node, uint32_t o, const leati_elements *inputs, const leati_view *out,
                    void *out_bytes);

#endif /* LEAT_PLUGIN_GRAPH_EVALUATE_H_ */
