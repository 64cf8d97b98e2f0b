/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/config.h"
#include "core/gate.h"
#include "core/status.h"

/* All guarded by the backend's lock while they change; constant between leati_devices_find() and
 * leati_devices_forget(). */
static leati_vk_library library;
static leati_vk_instance instance;
static bool found;
static leati_physical physicals[LEATI_DEVICES_MAX];
static uint32_t physical_count, usable_count;
static char no_device_reason[512];

bool leati_devices_known(void) {
  return found;
}
uint32_t leati_devices_count(void) {
  return physical_count;
}
uint32_t leati_devices_usable(void) {
  return usable_count;
}
const leati_physical *leati_devices_get(uint32_t i) {
  return &physicals[i];
}
const char *leati_devices_reason(void) {
  return no_device_reason;
}
const leati_vk_instance *leati_devices_instance(void) {
  return &instance;
}
bool leati_devices_have_loader(void) {
  return library.handle != NULL;
}

/* Rank of a device, best first. */
static int rank_of(const leati_physical *physical) {
  VkPhysicalDeviceProperties2 basic = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
  physical->instance->GetPhysicalDeviceProperties2(physical->handle, &basic);
  int rank = 4;
  switch (basic.properties.deviceType) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
      rank = 0;
      break;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
      rank = 1;
      break;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
      rank = 2;
      break;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
      rank = 5;
      break;
    default:
      break;
  }
  return physical->usable ? rank : rank + 100;
}

static int compare_physicals(const void *a, const void *b) {
  const leati_physical *const left = a;
  const leati_physical *const right = b;
  const int by_rank = rank_of(left) - rank_of(right);
  /* Equal devices keep one order in every process: drivers may list them in any. */
  return by_rank != 0 ? by_rank : memcmp(left->info.uuid, right->info.uuid, sizeof(left->info.uuid));
}

/* Whether one item of LEAT_VULKAN_DEVICE means the usable device at `position` of the full order. */
static bool matches(const leati_physical *physical, uint32_t position, const char *item) {
  char *end;
  const unsigned long number = strtoul(item, &end, 10);
  if (item[0] >= '0' && item[0] <= '9' && *end == '\0') {
    return number == position;
  }
  char uuid[37];
  leati_physical_uuid(physical, uuid);
  return strcasecmp(uuid, item) == 0 || strcasestr(physical->info.name, item) != NULL;
}

/* Applies LEAT_VULKAN_DEVICE: keeps what it names, in the order in which it names it. */
static int32_t select_devices(const char *wish, leat_error *err) {
  bool taken[LEATI_DEVICES_MAX] = {false};
  leati_physical kept[LEATI_DEVICES_MAX];
  uint32_t kept_count = 0;
  char copy[sizeof(((leati_config *)0)->vulkan_device)];
  (void)snprintf(copy, sizeof(copy), "%s", wish);
  char *rest = copy;
  for (char *item = strsep(&rest, ","); item != NULL; item = strsep(&rest, ",")) {
    while (*item == ' ') {
      ++item;
    }
    for (uint32_t i = 0; i < usable_count && item[0] != '\0'; ++i) {
      if (!taken[i] && matches(&physicals[i], i, item)) {
        taken[i] = true;
        kept[kept_count++] = physicals[i];
      }
    }
  }
  if (kept_count == 0) {
    char names[600] = "";
    for (uint32_t i = 0; i < usable_count; ++i) {
      const size_t used = strlen(names);
      (void)snprintf(names + used, sizeof(names) - used, "%s%u \"%s\"", i == 0 ? "" : ", ", i, physicals[i].info.name);
    }
    /* Where there is nothing to name, the setting is not what is wrong. */
    return leati_fail(
        err, usable_count == 0 ? LEAT_ERROR_UNAVAILABLE : LEAT_ERROR_INVALID_ARGUMENT,
        "LEAT_VULKAN_DEVICE is \"%s\", which names no usable device; allowed: an index, a UUID or part of a "
        "name, or several with commas between; usable here: %s",
        wish, usable_count == 0 ? "none" : names);
  }
  for (uint32_t i = 0; i < usable_count; ++i) {
    if (!taken[i]) {
      physicals[i].usable = false;
      (void)snprintf(physicals[i].reason, sizeof(physicals[i].reason), "not named by LEAT_VULKAN_DEVICE");
      kept[kept_count++] = physicals[i];
    }
  }
  memcpy(physicals, kept, usable_count * sizeof(kept[0]));
  return LEAT_OK;
}

/* Software devices are for machines that have nothing else, or for those who ask. */
static void hide_software(void) {
  if (usable_count == 0 || (physicals[0].info.flags & LEAT_DEVICE_SOFTWARE) != 0) {
    return;
  }
  for (uint32_t i = 0; i < usable_count; ++i) {
    if ((physicals[i].info.flags & LEAT_DEVICE_SOFTWARE) != 0) {
      physicals[i].usable = false;
      (void)snprintf(physicals[i].reason, sizeof(physicals[i].reason),
                     "software device, not needed beside a GPU; name it in LEAT_VULKAN_DEVICE to use it");
    }
  }
}

static void count_usable(void) {
  usable_count = 0;
  for (uint32_t i = 0; i < physical_count; ++i) {
    if (physicals[i].usable) {
      physicals[i].info.index = usable_count++;
    }
  }
}

static int32_t enumerate(leat_error *err) {
  VkPhysicalDevice handles[LEATI_DEVICES_MAX] = {VK_NULL_HANDLE};
  uint32_t count = LEATI_DEVICES_MAX;
  const VkResult result = instance.EnumeratePhysicalDevices(instance.handle, &count, handles);
  if (result != VK_SUCCESS && result != VK_INCOMPLETE) {
    return leati_fail_vk(err, result, "vkEnumeratePhysicalDevices");
  }
  memset(physicals, 0, sizeof(physicals));
  physical_count = 0;
  /* As many as there are, or more: a driver may say anything. */
  for (uint32_t i = 0; i < LEATI_DEVICES_MAX && i < count; ++i) {
    if (handles[i] != VK_NULL_HANDLE) {
      LEATI_TRY(leati_physical_probe(&instance, handles[i], &physicals[physical_count], err));
      ++physical_count;
    }
  }
  qsort(physicals, physical_count, sizeof(physicals[0]), compare_physicals);
  count_usable();
  return LEAT_OK;
}

static void explain_none(const leat_error *cause) {
  no_device_reason[0] = '\0';
  if (cause != NULL) {
    (void)snprintf(no_device_reason, sizeof(no_device_reason), "%.500s", cause->message);
  } else if (physical_count == 0) {
    (void)snprintf(no_device_reason, sizeof(no_device_reason),
                   "the Vulkan drivers of this machine offer no device; check with `vulkaninfo --summary`");
  } else if (usable_count == 0) {
    (void)snprintf(no_device_reason, sizeof(no_device_reason), "\"%.120s\" is not usable: %.240s",
                   physicals[0].info.name, physicals[0].reason);
  }
}

int32_t leati_devices_find(leat_error *err) {
  const leati_config *config;
  LEATI_TRY(leati_config_get(&config, err));
  if (found) {
    return LEAT_OK;
  }
  leat_error cause = {.struct_size = sizeof(cause)};
  int32_t status = instance.loaded ? LEAT_OK : leati_vk_instance_create(&library, &instance, &cause);
  if (status == LEAT_OK) {
    leati_gate_register(LEATI_GATE_LOADED);
    status = enumerate(&cause);
    leati_gate_register(LEATI_GATE_LISTED);
  }
  if (status == LEAT_ERROR_UNAVAILABLE) {
    physical_count = usable_count = 0;
    if (config->vulkan_device[0] != '\0') {
      return leati_fail(err, status, "LEAT_VULKAN_DEVICE is \"%s\", but %.800s", config->vulkan_device, cause.message);
    }
    explain_none(&cause);
    found = true;
    return LEAT_OK;
  }
  if (status == LEAT_OK && config->vulkan_device[0] != '\0') {
    status = select_devices(config->vulkan_device, &cause);
  } else if (status == LEAT_OK) {
    hide_software();
  }
  if (status != LEAT_OK) {
    /* The instance stays for the next try: without a device that holds the driver, destroying it would unmap the
     * driver. */
    physical_count = usable_count = 0;
    return leati_fail_again(err, &cause);
  }
  count_usable();
  explain_none(NULL);
  found = true;
  return LEAT_OK;
}

void leati_devices_forget(void) {
  /* The instance stays: with the last one the loader unmaps the drivers, while threads that used them still have
   * destructors in them. */
  physical_count = usable_count = 0;
  found = false;
}
