/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Memory for ONNX Runtime: of the device, and of the host such that the device writes to (HOST_ACCESSIBLE). What it
 * holds of the former as `void *` is a device address, which it never reads but does arithmetic on; the backend orders
 * the reuse of freed memory by the streams that used it.
 */
#ifndef LEAT_ONNXRUNTIME_ALLOCATOR_H_
#define LEAT_ONNXRUNTIME_ALLOCATOR_H_

#include "shared_device.h"

/** What is to be told when an allocator is gone. */
typedef struct leati_allocator_owner {
  void (*gone)(void *owner); /**< called once, on any thread, inside of the gate */
  void *owner;
} leati_allocator_owner;

/** Makes an allocator.
 * @threads any
 * @param device [in] the device, which must live until the owner is told; it is opened at the first allocation
 * @param host whether its memory is of the host, which the backend must have
 * @param owner who is told when the allocator was destroyed and all that it allocated is freed
 * @param out [out] the allocator; release with leati_allocator_destroy()
 * @return NULL, or what went wrong */
OrtStatus *leati_allocator_create(leati_shared_device *device, bool host, leati_allocator_owner owner,
                                  OrtAllocator **out);

/** Destroys an allocator. What it allocated lives on: a tensor of an application's may be freed by it yet.
 * @threads owner
 * @param allocator [owned] what leati_allocator_create() gave */
void leati_allocator_destroy(OrtAllocator *allocator);

/** Gives the reason of this thread's last failed allocation, and forgets it. ONNX Runtime's allocators can only return
 * NULL, so the status of the operator that needed the memory would otherwise lack the reason.
 * @threads any
 * @return the reason, until this thread's next failure; NULL when there was none */
const char *leati_allocator_take_failure(void);

#endif /* LEAT_ONNXRUNTIME_ALLOCATOR_H_ */
