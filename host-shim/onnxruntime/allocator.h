/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Device memory for ONNX Runtime. What it holds as `void *` is a device address, which it never reads but does
 * arithmetic on; the backend orders the reuse of freed memory by the streams that used it.
 */
#ifndef LEAT_ONNXRUNTIME_ALLOCATOR_H_
#define LEAT_ONNXRUNTIME_ALLOCATOR_H_

#include "shared_device.h"

/** Makes an allocator.
 * @threads any
 * @param device [in] the device, which must outlive the allocator; it is opened at the first allocation
 * @param out [out] the allocator; release with leati_allocator_destroy()
 * @return NULL, or what went wrong */
OrtStatus *leati_allocator_create(leati_shared_device *device, OrtAllocator **out);

/** Frees an allocator; what it allocated lives on.
 * @threads owner
 * @param allocator [owned] what leati_allocator_create() gave */
void leati_allocator_destroy(OrtAllocator *allocator);

/** Gives the reason of this thread's last failed allocation, and forgets it. ONNX Runtime's allocators can only return
 * NULL, so the status of the operator that needed the memory would otherwise lack the reason.
 * @threads any
 * @return the reason, until this thread's next failure; NULL when there was none */
const char *leati_allocator_take_failure(void);

#endif /* LEAT_ONNXRUNTIME_ALLOCATOR_H_ */
