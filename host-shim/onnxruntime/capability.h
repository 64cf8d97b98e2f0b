/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Which nodes of a graph run on Leat.
 */
#ifndef LEAT_ONNXRUNTIME_CAPABILITY_H_
#define LEAT_ONNXRUNTIME_CAPABILITY_H_

#include "island.h"
#include "kernel_registry.h"
#include "shared_device.h"

/** What a session wants, and of which model. */
typedef struct leati_capability_wishes {
  bool whole;   /**< it must not use the CPU provider, so even shape arithmetic goes to the device */
  bool islands; /**< nodes that can run as one do */
  const leati_model_inputs *inputs; /**< of the model */
} leati_capability_wishes;

/** Tells ONNX Runtime which nodes of a graph run on Leat: those that the backend supports on the device and that no
 * better stay on the host. The reasons why others do not are logged in detail. An island is told of once its graph
 * could be built; its nodes run one by one if not.
 * @threads any
 * @param device [inout] the device, which is opened if need be
 * @param registry [inout] the operators
 * @param graph [in] the graph
 * @param support [inout] where ONNX Runtime takes the answer
 * @param logger [in] the session's logger
 * @param wishes [in] what the session wants, and of which model
 * @param trials [inout] keeps the graphs of the islands, until they are built for good
 * @param has_bodies [inout] set to true if the graph is the body of a node and some of its nodes run on Leat
 * @return NULL, or what went wrong */
OrtStatus *leati_capability_tell(leati_shared_device *device, leati_kernel_registry *registry, const OrtGraph *graph,
                                 OrtEpGraphSupportInfo *support, const OrtLogger *logger,
                                 const leati_capability_wishes *wishes, leati_trials *trials, bool *has_bodies);

#endif /* LEAT_ONNXRUNTIME_CAPABILITY_H_ */
