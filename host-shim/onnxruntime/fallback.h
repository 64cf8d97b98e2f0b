/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What becomes of nodes that Leat refuses: ONNX Runtime's CPU provider runs them, if it has a kernel. Its API has no
 * list of another provider's kernels, so a session of just these nodes is made on the CPU, which tells.
 */
#ifndef LEAT_ONNXRUNTIME_FALLBACK_H_
#define LEAT_ONNXRUNTIME_FALLBACK_H_

#include "runtime.h"

/** Tells whether no provider but Leat and the CPU provider can be in a session of this process. Which providers are in
 * a session, a provider is not told.
 * @threads any
 * @param runtime [in] the tables
 * @return false also if that cannot be found out */
bool leati_fallback_is_cpu(const leati_runtime *runtime);

/** Finds a node that the CPU provider has no kernel for, and that is no function whose nodes it may have. Nodes that
 * the question cannot be put for count as runnable: custom operators, whose kernels only the session has, bodies,
 * values that are no tensors, and whatever fails in another way.
 * @threads any
 * @param runtime [in] the tables
 * @param graph [in] the graph that the nodes are of
 * @param nodes [in] the nodes
 * @param count elements of `nodes`
 * @param out_why [out] what the CPU provider lacks, for a message, if there is such a node
 * @return index of the first such node, or `count` */
size_t leati_fallback_find_unrunnable(const leati_runtime *runtime, const OrtGraph *graph, const OrtNode *const *nodes,
                                      size_t count, const char **out_why);

#endif /* LEAT_ONNXRUNTIME_FALLBACK_H_ */
