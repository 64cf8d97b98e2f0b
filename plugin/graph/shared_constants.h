/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Constants on the device, shared by content: graphs that hold the same bytes hold one block. A constant may also hold
 * the elements of another one in another order; graphs that want the same order share it too.
 */
#ifndef LEAT_PLUGIN_GRAPH_SHARED_CONSTANTS_H_
#define LEAT_PLUGIN_GRAPH_SHARED_CONSTANTS_H_

#include "memory/tensor.h"

/** Bytes on the device that never change. */
typedef struct leati_shared_constant {
  struct leati_shared_constant *next; /**< of the same place in the table; guarded by its lock */
  uint32_t references;                /**< guarded by the lock too */
  uint64_t hash, size;
  uint64_t address;
  struct leati_block *block;
  struct leati_shared_constant *source; /**< whose elements it holds, and which it keeps; NULL: the host's */
  leati_view order;                     /**< of `source`: as in a request */
} leati_shared_constant;

/** What somebody wants on the device. */
typedef struct leati_shared_constant_request {
  const void *bytes;             /**< NULL: those of */
  leati_shared_constant *source; /**< this one, element by element */
  leati_view order;              /**< of this view of it, which has type, shape, strides and no address */
  uint64_t size;                 /**< not 0 */
  leati_shared_constant *out;    /**< release with leati_shared_constant_release() */
} leati_shared_constant_request;

/** Makes the device's table.
 * @errors OUT_OF_MEMORY */
int32_t leati_shared_constants_create(leat_device *device, leat_error *err);
/** Frees the table, in which nothing is left. */
void leati_shared_constants_destroy(leat_device *device);

/** Finds each of these on the device or brings it there, and has waited for that. All or none. Hold no lock.
 * @errors OUT_OF_MEMORY, DEVICE_LOST; what leati_plan_strided_copy() returns */
int32_t leati_shared_constants_take(leat_device *device, leati_shared_constant_request *requests, uint32_t count,
                                    leat_error *err);
/** Ends a use; the last one frees the block when the work that was recorded with it has run. NULL: nothing. */
void leati_shared_constant_release(leat_device *device, leati_shared_constant *constant);

#endif /* LEAT_PLUGIN_GRAPH_SHARED_CONSTANTS_H_ */
