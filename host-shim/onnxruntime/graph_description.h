/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * A graph of ONNX Runtime as the backend wants to hear of it.
 */
#ifndef LEAT_ONNXRUNTIME_GRAPH_DESCRIPTION_H_
#define LEAT_ONNXRUNTIME_GRAPH_DESCRIPTION_H_

#include "description.h"
#include "kernel_registry.h"
#include "model_inputs.h"

/** A graph's description and what it points to. All zero is an empty one. For one thread at a time. */
typedef struct leati_graph_description {
  leat_graph_desc graph;    /**< the description itself */
  leati_description values; /**< what `graph` points to, but for what is of one node */
  leati_description *nodes; /**< one for each node; lies in `values` */
} leati_graph_description;

/** Describes the nodes of a fused subgraph. Initializers are constants of the graph, but for those that the node that
 * takes the fused subgraph's place takes as inputs. Of values the element types are said, and the shapes of those alone
 * that are constants or inputs of the model.
 * @threads one at a time per description
 * @param out [inout] an empty description; clear it also on failure
 * @param registry [in] the operators
 * @param inputs [in] the inputs of the model
 * @param graph [in] the nodes of the fused subgraph, whose names and initializers the description borrows
 * @param fused [in] the node in their place: its inputs and outputs, in this order, are those of the graph
 * @return NULL, or what went wrong */
OrtStatus *leati_graph_description_read(leati_graph_description *out, const leati_kernel_registry *registry,
                                        const leati_model_inputs *inputs, const OrtGraph *graph, const OrtNode *fused);

/** Describes some nodes of a graph as a graph of their own. Its inputs are what none of them gives and is no constant,
 * its outputs what some of them give and none takes. Shapes are said as by leati_graph_description_read().
 * @threads one at a time per description
 * @param out [inout] an empty description; clear it also on failure
 * @param registry [in] the operators
 * @param inputs [in] the inputs of the model
 * @param nodes [in] the nodes in topological order, whose names and initializers the description borrows
 * @param count elements of `nodes`; not 0
 * @return NULL, or what went wrong */
OrtStatus *leati_graph_description_of_nodes(leati_graph_description *out, const leati_kernel_registry *registry,
                                            const leati_model_inputs *inputs, const OrtNode *const *nodes,
                                            size_t count);

/** Frees what a description holds; it is empty then.
 * @threads one at a time per description
 * @param description [inout] the description
 * @param runtime [in] the tables */
void leati_graph_description_clear(leati_graph_description *description, const leati_runtime *runtime);

#endif /* LEAT_ONNXRUNTIME_GRAPH_DESCRIPTION_H_ */
