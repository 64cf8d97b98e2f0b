/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Which nodes of a graph run on Leat.
 */
#ifndef LEAT_ONNXRUNTIME_CAPABILITY_H_
#define LEAT_ONNXRUNTIME_CAPABILITY_H_

#include "fused_subgraph.h"
#include "kernel_registry.h"
#include "shared_device.h"

/** What a session wants, and of which model. */
typedef struct leati_capability_wishes {
  bool whole;     /**< it must not use the CPU provider, so even shape arithmetic goes to the device */
  bool subgraphs; /**< nodes that can run as one do */
  const leati_model_inputs *inputs; /**< of the model */
} leati_capability_wishes;

/** What comes of asking. */
typedef struct leati_capability_findings {
  leati_trials trials; /**< the graphs of the fused subgraphs, until they are built for good */
  bool has_bodies;     /**< nodes in bodies of If, Loop or Scan run on Leat */
  char *unrunnable;    /**< owned; a message that names a node which no provider can run; NULL: there is none */
} leati_capability_findings;

/** Frees what findings hold; there are none then.
 * @threads owner, inside of the gate
 * @param findings [inout] the findings
 * @param runtime [in] the tables */
void leati_capability_findings_clear(leati_capability_findings *findings, const leati_runtime *runtime);

/** Tells ONNX Runtime which nodes of a graph run on Leat: those that the backend supports on the device and that no
 * better stay on the host. The reasons why others do not are logged in detail. A fused subgraph is told of once its
 * graph could be built; its nodes run one by one if not. A node that neither Leat nor the CPU provider can run is
 * claimed, and nothing else, because ONNX Runtime asks a provider's Compile() why a session cannot be made, and nothing
 * before it.
 * @threads any
 * @param device [inout] the device, which is opened if need be
 * @param registry [inout] the operators
 * @param graph [in] the graph
 * @param support [inout] where ONNX Runtime takes the answer
 * @param logger [in] the session's logger
 * @param wishes [in] what the session wants, and of which model
 * @param findings [inout] is added to
 * @return NULL, or what went wrong */
OrtStatus *leati_capability_tell(leati_shared_device *device, leati_kernel_registry *registry, const OrtGraph *graph,
                                 OrtEpGraphSupportInfo *support, const OrtLogger *logger,
                                 const leati_capability_wishes *wishes, leati_capability_findings *findings);

#endif /* LEAT_ONNXRUNTIME_CAPABILITY_H_ */
