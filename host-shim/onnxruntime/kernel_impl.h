/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Kernels: one object per node that runs on Leat. Their Compute is called from many threads at once and keeps nothing
 * between calls; what a call needs is on its stack.
 */
#ifndef LEAT_ONNXRUNTIME_KERNEL_IMPL_H_
#define LEAT_ONNXRUNTIME_KERNEL_IMPL_H_

#include "runtime.h"

/** What a kernel is made of: `kernel_create_func_state` of leati_kernel_impl_create(). */
typedef struct leati_kernel_source {
  const leati_runtime *runtime; /**< the tables */
  const leat_op_info *info;     /**< the operator */
} leati_kernel_source;

/** Makes the kernel of a node (OrtKernelCreateFunc).
 * @threads any
 * @param state [in] a leati_kernel_source that outlives the kernel
 * @param info [in] the node
 * @param out [out] the kernel; ONNX Runtime releases it
 * @return NULL, or what went wrong */
OrtStatus *ORT_API_CALL leati_kernel_impl_create(void *state, const OrtKernelInfo *info, OrtKernelImpl **out);

/** Makes the kernel of a MemcpyFromHost node, which ONNX Runtime puts before device inputs (OrtKernelCreateFunc).
 * @threads any
 * @param state [in] the leati_runtime
 * @param info [in] the node
 * @param out [out] the kernel; ONNX Runtime releases it
 * @return NULL, or what went wrong */
OrtStatus *ORT_API_CALL leati_kernel_impl_create_from_host(void *state, const OrtKernelInfo *info, OrtKernelImpl **out);

/** Makes the kernel of a MemcpyToHost node, which ONNX Runtime puts before host inputs (OrtKernelCreateFunc).
 * @threads any
 * @param state [in] the leati_runtime
 * @param info [in] the node
 * @param out [out] the kernel; ONNX Runtime releases it
 * @return NULL, or what went wrong */
OrtStatus *ORT_API_CALL leati_kernel_impl_create_to_host(void *state, const OrtKernelInfo *info, OrtKernelImpl **out);

#endif /* LEAT_ONNXRUNTIME_KERNEL_IMPL_H_ */
