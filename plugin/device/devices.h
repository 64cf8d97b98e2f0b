/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Devices: which there are, in which order, and why there is none.
 */
#ifndef LEAT_PLUGIN_DEVICE_DEVICES_H_
#define LEAT_PLUGIN_DEVICE_DEVICES_H_

#include <leat/backend.h>
#include <stdbool.h>

#include "device/physical.h"
#include "device/vulkan.h"

/** Finds the devices, once until leati_devices_forget(). Call with the backend's lock held.
 * @errors LEAT_ERROR_INVALID_ARGUMENT: LEAT_VULKAN_DEVICE names none of them, or a setting cannot be understood;
 *   LEAT_ERROR_UNAVAILABLE: it is set, and there is none that it could name */
int32_t leati_devices_find(leat_error *err);
/** Forgets the devices, so that they are looked for again. No device may be open. Backend's lock held. */
void leati_devices_forget(void);
/** Whether they have been found. Backend's lock held. */
bool leati_devices_known(void);
/** Devices found: usable ones first. */
uint32_t leati_devices_count(void);
uint32_t leati_devices_usable(void);
const leati_physical *leati_devices_get(uint32_t i);
/** Why there is no usable device; "" if there is one. */
const char *leati_devices_reason(void);
/** The instance that names the devices; its handle is VK_NULL_HANDLE where there is none. Backend's lock held. */
const leati_vk_instance *leati_devices_instance(void);
/** Whether there is a Vulkan loader. Backend's lock held. */
bool leati_devices_have_loader(void);

#endif /* LEAT_PLUGIN_DEVICE_DEVICES_H_ */
