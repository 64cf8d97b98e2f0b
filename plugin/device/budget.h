/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The budget: bytes of device memory that are taken from the driver, for segments and for staging. They stay below the
 * high watermark.
 */
#ifndef LEAT_PLUGIN_DEVICE_BUDGET_H_
#define LEAT_PLUGIN_DEVICE_BUDGET_H_

#include <leat/backend.h>
#include <stdbool.h>

/** `heap` is the one that the watermarks are parts of. Release with leati_budget_destroy(). */
int32_t leati_budget_create(leat_device *device, uint32_t heap, leat_error *err);
/** Does nothing if there is none. */
void leati_budget_destroy(leat_device *device);

/** Counts bytes that are about to be taken from the driver. leati_budget_uncommit() must follow when they are given
 * back.
 * @errors OUT_OF_MEMORY: they would cross the high watermark */
int32_t leati_budget_commit(leat_device *device, uint64_t bytes, leat_error *err);
void leati_budget_uncommit(leat_device *device, uint64_t bytes);

/** Bytes that are taken or about to be. */
uint64_t leati_budget_committed(const leat_device *device);
/** The high watermark in bytes. It only rises. */
uint64_t leati_budget_limit(const leat_device *device);

/** Down to how many bytes what is cached must be released because `wanted` bytes could not be had, of which `least`
 * would do: down to the low watermark and until there is room for them if the high one is in the way, else all of it.
 * False: releasing cannot help. */
bool leati_budget_target(const leat_device *device, uint64_t wanted, uint64_t least, uint64_t *out_target);

#endif /* LEAT_PLUGIN_DEVICE_BUDGET_H_ */
