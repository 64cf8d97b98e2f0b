/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * A fused subgraph once ONNX Runtime has put one node in its place: a graph of the backend, which each Run launches.
 */
#ifndef LEAT_ONNXRUNTIME_FUSED_SUBGRAPH_H_
#define LEAT_ONNXRUNTIME_FUSED_SUBGRAPH_H_

#include "kernel_registry.h"
#include "model_inputs.h"
#include "shared_device.h"

/** Builds the graph of a fused subgraph.
 * @threads any
 * @param device [inout] the device, which must outlive the fused subgraph, and is opened if need be
 * @param registry [in] the operators
 * @param inputs [in] the inputs of the model, those that leati_fused_subgraph_try() was given
 * @param graph [in] the nodes of the fused subgraph
 * @param fused [in] the node in their place
 * @param logger [in] the session's logger
 * @param out [out] what ONNX Runtime calls; release with leati_fused_subgraph_destroy()
 * @return NULL, or what went wrong */
OrtStatus *leati_fused_subgraph_create(leati_shared_device *device, const leati_kernel_registry *registry,
                                       const leati_model_inputs *inputs, const OrtGraph *graph, const OrtNode *fused,
                                       const OrtLogger *logger, OrtNodeComputeInfo **out);

/** Graphs that were built to see whether they can be. While they are there, a graph of the same nodes finds its
 * constants on the device. */
typedef struct leati_trials {
  leat_graph **graphs; /**< owned */
  size_t count;
} leati_trials;

/** Tries whether the backend can build a graph of some nodes, whose inputs are all given on the device.
 * @threads any
 * @param device [inout] the device, which is opened if need be
 * @param registry [in] the operators
 * @param inputs [in] the inputs of the model
 * @param nodes [in] the nodes in topological order
 * @param count elements of `nodes`; not 0
 * @param trials [inout] keeps the graph
 * @param out_possible [out] whether it can
 * @param why [out] why not, if it cannot
 * @return NULL, or what went wrong */
OrtStatus *leati_fused_subgraph_try(leati_shared_device *device, const leati_kernel_registry *registry,
                                    const leati_model_inputs *inputs, const OrtNode *const *nodes, size_t count,
                                    leati_trials *trials, bool *out_possible, leat_error *why);

/** Destroys the graphs.
 * @threads owner, inside of the gate
 * @param trials [inout] the graphs; none afterwards
 * @param runtime [in] the tables */
void leati_trials_clear(leati_trials *trials, const leati_runtime *runtime);

/** Gives the graph of a fused subgraph.
 * @threads any
 * @param info [in] what leati_fused_subgraph_create() gave
 * @param out_label [out] the fused subgraph, for messages; lives as long as it
 * @return the graph, which belongs to the fused subgraph */
const leat_graph *leati_fused_subgraph_graph(const OrtNodeComputeInfo *info, const char **out_label);

/** Destroys a fused subgraph that no Run is in.
 * @threads owner, inside of the gate
 * @param info [owned] what leati_fused_subgraph_create() gave; NULL does nothing */
void leati_fused_subgraph_destroy(OrtNodeComputeInfo *info);

#endif /* LEAT_ONNXRUNTIME_FUSED_SUBGRAPH_H_ */
