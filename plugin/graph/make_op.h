/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Making the operator of a node.
 */
#ifndef LEAT_PLUGIN_GRAPH_MAKE_OP_H_
#define LEAT_PLUGIN_GRAPH_MAKE_OP_H_

#include "graph/inference.h"

/** Makes the operator of a node that is described as one of leat_graph_desc, with all that is known of its inputs, or
 * if `any_shape` with no more than ranks of those that are no constants: then it is for other shapes too.
 * leati_op_free() it.
 * @errors what leat_op_api::create() returns; NOT_SUPPORTED: nobody can say which type an input has */
int32_t leati_graph_make_op(const leat_graph *graph, const leati_inference *inference, bool any_shape,
                            const leat_graph_node *from, leat_op **out, leat_error *err);

#endif /* LEAT_PLUGIN_GRAPH_MAKE_OP_H_ */
