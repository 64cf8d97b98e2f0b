/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Device memory for ONNX Runtime. What it holds as `void *` is a device address, which it never reads but does
 * arithmetic on; the backend orders the reuse of freed memory by the streams that used it.
 */
#ifndef LEAT_ONNXRUNTIME_MEMORY_H_
#define LEAT_ONNXRUNTIME_MEMORY_H_

#include "device.h"

/** Makes an allocator.
 * @threads any
 * @param device [in] the device, which must outlive the allocator; it is opened at the first allocation
 * @param out [out] the allocator; release with leati_memory_destroy()
 * @return NULL, or what went wrong */
OrtStatus *leati_memory_create(leati_device *device, OrtAllocator **out);

/** Frees an allocator; what it allocated lives on.
 * @threads owner
 * @param allocator [owned] what leati_memory_create() gave */
void leati_memory_destroy(OrtAllocator *allocator);

/** Gives the reason of this thread's last failed allocation, and forgets it. ONNX Runtime's allocators can only return
 * NULL, so the status of the operator that needed the memory would otherwise lack the reason.
 * @threads any
 * @return the reason, until this thread's next failure; NULL when there was none */
const char *leati_memory_take_failure(void);

#endif /* LEAT_ONNXRUNTIME_MEMORY_H_ */
