/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * If, Loop and Scan around bodies that run on Leat. The kernels are ONNX Runtime's own, which it has for providers in
 * libraries from release 1.24 on: what bodies take and give, and the states of loops, stay on the device. Conditions
 * and the number of rounds are taken on the host.
 */
#ifndef LEAT_ONNXRUNTIME_CONTROL_FLOW_H_
#define LEAT_ONNXRUNTIME_CONTROL_FLOW_H_

#include "kernel_impl.h"
#include "scratch.h"

/** Number of the operators. */
#define LEATI_CONTROL_FLOW_COUNT 3u

/** Gives what there is to say of one of the operators, as the backend's operator list says it of its own.
 * @threads any
 * @param index number below LEATI_CONTROL_FLOW_COUNT
 * @return the entry, a constant */
const leat_op_info *leati_control_flow_info(uint32_t index);

/** Tells whether an entry is one of leati_control_flow_info().
 * @threads any
 * @param info [in] any entry */
bool leati_control_flow_is(const leat_op_info *info);

/** Tells whether a graph that is a part of a node is a body of If, Loop or Scan. Of other operators' ONNX Runtime does
 * not bring to the device what they are given: com.microsoft's BeamSearch and its kind run on the host and hand their
 * decoders memory of the host.
 * @threads any
 * @param runtime [in] the tables
 * @param parent [in] the node
 * @param out [out] whether it is one of them
 * @return NULL, or what went wrong */
OrtStatus *leati_control_flow_has_body(const leati_runtime *runtime, const OrtNode *parent, bool *out);

/** Makes the kernel of a node (OrtKernelCreateFunc).
 * @threads any
 * @param state [in] a leati_kernel_source of leati_control_flow_info() that outlives the kernel
 * @param info [in] the node
 * @param out [out] the kernel; ONNX Runtime releases it
 * @return NULL, or what went wrong */
OrtStatus *ORT_API_CALL leati_control_flow_create(void *state, const OrtKernelInfo *info, OrtKernelImpl **out);

/** Gives the bodies of a node.
 * @threads one at a time per graph
 * @param runtime [in] the tables
 * @param node [in] the node
 * @param scratch [inout] where the list lies
 * @param out [out] the bodies
 * @param out_count [out] elements of `out`
 * @return NULL, or what went wrong */
OrtStatus *leati_control_flow_bodies(const leati_runtime *runtime, const OrtNode *node, leati_scratch *scratch,
                                     const OrtGraph ***out, size_t *out_count);

/** Finds why a node cannot run on Leat: what crosses its bodies cannot be held by the device, or none of their nodes
 * was given to Leat; one that has such bodies itself was, too. ONNX Runtime asks for nodes from the inside to the
 * outside, so that this is known when the node itself is asked for.
 * @threads one at a time per graph
 * @param runtime [in] the tables
 * @param node [in] the node
 * @param out [out] the reason, a constant; NULL: it can
 * @return NULL, or what went wrong */
OrtStatus *leati_control_flow_refusal(const leati_runtime *runtime, const OrtNode *node, const char **out);

/** Finds what of a body ONNX Runtime reads on the host after each round: whether a Loop goes on.
 * @threads one at a time per graph
 * @param runtime [in] the tables
 * @param parent [in] the node that the body is of
 * @param body [in] the body
 * @param out [out] the name of the value, which lives as long as the body; NULL: there is none, or the body gives it
 * out for the device too
 * @return NULL, or what went wrong */
OrtStatus *leati_control_flow_find_condition(const leati_runtime *runtime, const OrtNode *parent, const OrtGraph *body,
                                             const char **out);

#endif /* LEAT_ONNXRUNTIME_CONTROL_FLOW_H_ */
