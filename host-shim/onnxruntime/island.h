/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * An island once ONNX Runtime has put one node in its place: a graph of the backend, which each Run launches.
 */
#ifndef LEAT_ONNXRUNTIME_ISLAND_H_
#define LEAT_ONNXRUNTIME_ISLAND_H_

#include "device.h"
#include "registry.h"

/** Builds the graph of an island.
 * @threads any
 * @param device [inout] the device, which must outlive the island, and is opened if need be
 * @param registry [in] the operators
 * @param graph [in] the nodes of the island
 * @param fused [in] the node in their place
 * @param logger [in] the session's logger
 * @param out [out] what ONNX Runtime calls; release with leati_island_destroy()
 * @return NULL, or what went wrong */
OrtStatus *leati_island_create(leati_device *device, const leati_registry *registry, const OrtGraph *graph,
                               const OrtNode *fused, const OrtLogger *logger, OrtNodeComputeInfo **out);

/** Tries whether the backend could build a graph of some nodes, whose inputs are all given on the device.
 * @threads any
 * @param device [inout] the device, which is opened if need be
 * @param registry [in] the operators
 * @param nodes [in] the nodes in topological order
 * @param count elements of `nodes`; not 0
 * @param out_possible [out] whether it can
 * @param why [out] why not, if it cannot
 * @return NULL, or what went wrong */
OrtStatus *leati_island_try(leati_device *device, const leati_registry *registry, const OrtNode *const *nodes,
                            size_t count, bool *out_possible, leat_error *why);

/** Destroys an island that no Run is in.
 * @threads owner, inside of the gate
 * @param info [owned] what leati_island_create() gave; NULL does nothing */
void leati_island_destroy(OrtNodeComputeInfo *info);

#endif /* LEAT_ONNXRUNTIME_ISLAND_H_ */
