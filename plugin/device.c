/* SPDX-License-Identifier: BSD-3-Clause */
#include "device.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config.h"
#include "gate.h"
#include "memory.h"
#include "pages.h"
#include "pipeline.h"
#include "staging.h"
#include "status.h"

/* What a kernel may count on; larger than Vulkan's guaranteed minimum, and met by every driver that has the rest. */
#define MIN_GROUP_INVOCATIONS 256u
#define MIN_SHARED_MEMORY 32768u

/* A download of this many bytes at most is written by a kernel on a discrete GPU, which changes from kernels to copies
 * and back slowly (docs/benchmarks.md) and copies more than that faster. Others copy: on a software device a dispatch
 * costs more than any copy. */
#define KERNEL_DOWNLOAD_MAX (UINT64_C(64) << 10)

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

static void add_reason(leati_physical *physical, const char *what) {
  const size_t used = strlen(physical->reason);
  (void)snprintf(physical->reason + used, sizeof(physical->reason) - used, "%s%s", used == 0 ? "lacks " : ", ", what);
}

/* What a device has of extensions. */
typedef struct extensions {
  VkExtensionProperties *list; /* leati_free() it, whatever came of listing */
  uint32_t count;
} extensions;

static int32_t list_extensions(VkPhysicalDevice handle, extensions *out, leat_error *err) {
  *out = (extensions){.count = 0};
  VkResult result = instance.EnumerateDeviceExtensionProperties(handle, NULL, &out->count, NULL);
  if (result == VK_SUCCESS && out->count != 0) {
    out->list = leati_calloc(out->count, sizeof(*out->list));
    if (out->list == NULL) {
      return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for the list of a device's extensions");
    }
    result = instance.EnumerateDeviceExtensionProperties(handle, NULL, &out->count, out->list);
  }
  /* A device that cannot list them passes for one that has none; for lack of memory that may be tried again. */
  return result == VK_ERROR_OUT_OF_HOST_MEMORY ? leati_fail_vk(err, result, "vkEnumerateDeviceExtensionProperties")
                                               : LEAT_OK;
}

static bool has_extension(const extensions *of, const char *name) {
  bool has = false;
  for (uint32_t i = 0; i < of->count; ++i) {
    has = has || strcmp(of->list[i].extensionName, name) == 0;
  }
  return has;
}

/* The features that are enabled in a device: what is required, and float16 where there is any. */
typedef struct features {
  VkPhysicalDeviceFeatures2 core;
  VkPhysicalDeviceVulkan11Features v11;
  VkPhysicalDeviceVulkan12Features v12;
} features;

static void chain_features(features *f) {
  memset(f, 0, sizeof(*f));
  f->core.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  f->core.pNext = &f->v11;
  f->v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
  f->v11.pNext = &f->v12;
  f->v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
}

#define REQUIRED_FEATURES(X)       \
  X(core.features, shaderInt64)    \
  X(core.features, shaderInt16)    \
  X(v11, storageBuffer16BitAccess) \
  X(v12, storageBuffer8BitAccess)  \
  X(v12, shaderInt8)               \
  X(v12, bufferDeviceAddress)      \
  X(v12, timelineSemaphore)        \
  X(v12, uniformBufferStandardLayout)

static void choose_queue_family(leati_physical *physical) {
  VkQueueFamilyProperties families[16];
  uint32_t count = 16;
  instance.GetPhysicalDeviceQueueFamilyProperties(physical->handle, &count, families);
  physical->queue_family = UINT32_MAX;
  bool without_graphics = false;
  for (uint32_t i = 0; i < count; ++i) {
    if ((families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) == 0) {
      continue;
    }
    /* A family without graphics is the one whose queues run beside each other; among equals the one with most queues.
     */
    const bool plain = (families[i].queueFlags & VK_QUEUE_GRAPHICS_BIT) == 0;
    if (physical->queue_family == UINT32_MAX || (plain && !without_graphics) ||
        (plain == without_graphics && families[i].queueCount > physical->queue_count)) {
      physical->queue_family = i;
      physical->queue_count = families[i].queueCount;
      physical->timestamp_bits = families[i].timestampValidBits;
      without_graphics = plain;
    }
  }
  if (physical->queue_family == UINT32_MAX) {
    add_reason(physical, "a queue for compute");
  }
}

uint32_t leati_device_memory_type(const leati_physical *physical, VkMemoryPropertyFlags required,
                                  VkMemoryPropertyFlags wanted, VkMemoryPropertyFlags unwanted) {
  uint32_t best = UINT32_MAX;
  int best_score = -1;
  for (uint32_t i = 0; i < physical->memory.memoryTypeCount; ++i) {
    const VkMemoryPropertyFlags flags = physical->memory.memoryTypes[i].propertyFlags;
    if ((flags & required) != required) {
      continue;
    }
    const int score = ((flags & wanted) == wanted ? 2 : 0) + ((flags & unwanted) == 0 ? 1 : 0);
    if (score > best_score) {
      best = i;
      best_score = score;
    }
  }
  return best;
}

uint64_t leati_device_heap_budget(const leati_physical *physical, uint32_t heap) {
  const uint64_t size = physical->memory.memoryHeaps[heap].size;
  if (!physical->has_budget) {
    return size;
  }
  VkPhysicalDeviceMemoryBudgetPropertiesEXT budget = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT};
  VkPhysicalDeviceMemoryProperties2 memory = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2,
                                              .pNext = &budget};
  instance.GetPhysicalDeviceMemoryProperties2(physical->handle, &memory);
  return budget.heapBudget[heap] < size ? budget.heapBudget[heap] : size;
}

/* Whether the timestamps of different queues are of one clock: the driver can relate that clock to others. */
static bool has_common_clock(VkPhysicalDevice handle, const extensions *has) {
  VkTimeDomainEXT domains[16];
  uint32_t count = 16;
  if (instance.GetPhysicalDeviceCalibrateableTimeDomainsEXT == NULL ||
      !has_extension(has, VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME) ||
      instance.GetPhysicalDeviceCalibrateableTimeDomainsEXT(handle, &count, domains) < 0) {
    return false;
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (domains[i] == VK_TIME_DOMAIN_DEVICE_EXT) {
      return true;
    }
  }
  return false;
}

/* Whether a device imports any page of the host. */
static bool imports_pages(VkPhysicalDevice handle, const extensions *has) {
  VkPhysicalDeviceExternalMemoryHostPropertiesEXT host = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT};
  VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &host};
  if (!has_extension(has, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME)) {
    return false;
  }
  instance.GetPhysicalDeviceProperties2(handle, &properties);
  return host.minImportedHostPointerAlignment <= leati_page_size();
}

/* Whether a binary semaphore of a device can be made into a sync file. */
static bool makes_sync_files(VkPhysicalDevice handle, const extensions *has) {
  const VkPhysicalDeviceExternalSemaphoreInfo which = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_SEMAPHORE_INFO,
      .handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT};
  VkExternalSemaphoreProperties properties = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_PROPERTIES};
  if (!has_extension(has, VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME)) {
    return false;
  }
  instance.GetPhysicalDeviceExternalSemaphoreProperties(handle, &which, &properties);
  return (properties.externalSemaphoreFeatures & VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT) != 0;
}

static void probe(leati_physical *physical, const extensions *has) {
  VkPhysicalDevicePCIBusInfoPropertiesEXT pci = {.sType =
                                                     VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT};
  VkPhysicalDeviceDriverProperties driver = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
  VkPhysicalDeviceMaintenance3Properties limits3 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES,
                                                    .pNext = &driver};
  VkPhysicalDeviceIDProperties id = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES, .pNext = &limits3};
  VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &id};
  VkPhysicalDeviceProperties2 basic = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
  instance.GetPhysicalDeviceProperties2(physical->handle, &basic);

  leat_device_info *const info = &physical->info;
  info->struct_size = sizeof(*info);
  info->vendor_id = basic.properties.vendorID;
  info->device_id = basic.properties.deviceID;
  (void)snprintf(info->name, sizeof(info->name), "%s", basic.properties.deviceName);
  if (basic.properties.apiVersion < VK_API_VERSION_1_2) {
    char version[64];
    (void)snprintf(version, sizeof(version), "Vulkan 1.2 (it has %u.%u)",
                   VK_API_VERSION_MAJOR(basic.properties.apiVersion),
                   VK_API_VERSION_MINOR(basic.properties.apiVersion));
    add_reason(physical, version);
    return;
  }
  physical->has_budget = has_extension(has, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
  const bool has_pci = has_extension(has, VK_EXT_PCI_BUS_INFO_EXTENSION_NAME);
  if (has_pci) {
    driver.pNext = &pci;
  }
  instance.GetPhysicalDeviceProperties2(physical->handle, &properties);
  (void)snprintf(info->driver, sizeof(info->driver), "%.120s %.120s", driver.driverName, driver.driverInfo);
  memcpy(info->uuid, id.deviceUUID, sizeof(info->uuid));
  if (has_pci) {
    (void)snprintf(info->pci_bus_id, sizeof(info->pci_bus_id), "%04x:%02x:%02x.%x", pci.pciDomain & 0xffffu,
                   pci.pciBus & 0xffu, pci.pciDevice & 0xffu, pci.pciFunction & 0xfu);
  }
  info->max_allocation_size = limits3.maxMemoryAllocationSize;
  physical->discrete = properties.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
  if (properties.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU) {
    info->flags |= LEAT_DEVICE_SOFTWARE;
    physical->works_in_host_memory = imports_pages(physical->handle, has);
  }
  const VkPhysicalDeviceLimits *const limits = &properties.properties.limits;
  physical->max_groups_x = limits->maxComputeWorkGroupCount[0];
  physical->uniform_alignment = (uint32_t)limits->minUniformBufferOffsetAlignment;
  if (limits->maxComputeWorkGroupInvocations < MIN_GROUP_INVOCATIONS ||
      limits->maxComputeWorkGroupSize[0] < MIN_GROUP_INVOCATIONS) {
    add_reason(physical, "workgroups of 256 invocations");
  }
  if (limits->maxComputeSharedMemorySize < MIN_SHARED_MEMORY) {
    add_reason(physical, "32 KiB of shared memory");
  }

  features f;
  chain_features(&f);
  instance.GetPhysicalDeviceFeatures2(physical->handle, &f.core);
#define CHECK(group, name)       \
  if (!f.group.name) {           \
    add_reason(physical, #name); \
  }
  REQUIRED_FEATURES(CHECK)
#undef CHECK
  physical->has_float16 = f.v12.shaderFloat16 == VK_TRUE;
  physical->has_query_reset = f.v12.hostQueryReset == VK_TRUE;
  physical->has_sync_fd = makes_sync_files(physical->handle, has);
  physical->timestamp_period = limits->timestampPeriod;
  physical->common_clock = has_common_clock(physical->handle, has);

  VkPhysicalDeviceMemoryProperties2 memory = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2};
  instance.GetPhysicalDeviceMemoryProperties2(physical->handle, &memory);
  physical->memory = memory.memoryProperties;
  bool all_local = true;
  for (uint32_t i = 0; i < physical->memory.memoryHeapCount; ++i) {
    const bool local = (physical->memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0;
    all_local = all_local && local;
    if (local && physical->memory.memoryHeaps[i].size > info->memory_size) {
      info->memory_size = physical->memory.memoryHeaps[i].size;
    }
  }
  if (all_local) {
    info->flags |= LEAT_DEVICE_UNIFIED_MEMORY;
  }
  choose_queue_family(physical);
  if (physical->reason[0] == '\0') {
    physical->usable = true;
  }
}

/* Rank of a device, best first. */
static int rank_of(const leati_physical *physical) {
  VkPhysicalDeviceProperties2 basic = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
  instance.GetPhysicalDeviceProperties2(physical->handle, &basic);
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

static void format_uuid(const uint8_t uuid[16], char out[37]) {
  size_t at = 0;
  for (int i = 0; i < 16; ++i) {
    at += (size_t)snprintf(out + at, 37 - at, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
  }
}

/* Whether one item of LEAT_VULKAN_DEVICE means the usable device at `position` of the full order. */
static bool matches(const leati_physical *physical, uint32_t position, const char *item) {
  char *end;
  const unsigned long number = strtoul(item, &end, 10);
  if (item[0] >= '0' && item[0] <= '9' && *end == '\0') {
    return number == position;
  }
  char uuid[37];
  format_uuid(physical->info.uuid, uuid);
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
  VkPhysicalDevice handles[LEATI_DEVICES_MAX];
  uint32_t count = LEATI_DEVICES_MAX;
  const VkResult result = instance.EnumeratePhysicalDevices(instance.handle, &count, handles);
  if (result != VK_SUCCESS && result != VK_INCOMPLETE) {
    return leati_fail_vk(err, result, "vkEnumeratePhysicalDevices");
  }
  memset(physicals, 0, sizeof(physicals));
  physical_count = count;
  for (uint32_t i = 0; i < count; ++i) {
    extensions has;
    physicals[i].handle = handles[i];
    const int32_t status = list_extensions(handles[i], &has, err);
    if (status == LEAT_OK) {
      probe(&physicals[i], &has);
    }
    leati_free(has.list);
    LEATI_TRY(status);
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
  int32_t status = instance.handle != VK_NULL_HANDLE ? LEAT_OK : leati_vk_instance_create(&library, &instance, &cause);
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

/* ---- Report ----------------------------------------------------------------------------------------------------- */

/* A report under construction: counts everything, writes what fits. */
typedef struct report {
  leat_property *out;
  uint32_t capacity, count;
} report;

__attribute__((format(printf, 4, 5))) static void add(report *r, int32_t device, const char *name, const char *format,
                                                      ...) {
  if (r->count < r->capacity) {
    leat_property line = {.struct_size = sizeof(line), .device = device};
    (void)snprintf(line.name, sizeof(line.name), "%s", name);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(line.value, sizeof(line.value), format, arguments);
    va_end(arguments);
    (void)leati_export(&r->out[r->count], &line, sizeof(line), sizeof(line), "leat_property", NULL);
  }
  ++r->count;
}

static void report_features(report *r, int32_t number, const leati_physical *physical) {
  features f;
  chain_features(&f);
  instance.GetPhysicalDeviceFeatures2(physical->handle, &f.core);
  char used[256] = "", missing[256] = "";
#define LIST(group, name)                                                                                        \
  {                                                                                                              \
    char *const list = f.group.name ? used : missing;                                                            \
    (void)snprintf(list + strlen(list), sizeof(used) - strlen(list), "%s%s", list[0] == '\0' ? "" : " ", #name); \
  }
  REQUIRED_FEATURES(LIST)
#undef LIST
  add(r, number, "features.used", "%s", used);
  add(r, number, "features.missing", "%s", missing);
  add(r, number, "features.shaderFloat16", "%s", physical->has_float16 ? "yes" : "no");
}

static void report_queues(report *r, int32_t number, const leati_physical *physical) {
  VkQueueFamilyProperties families[16];
  uint32_t count = 16;
  instance.GetPhysicalDeviceQueueFamilyProperties(physical->handle, &count, families);
  for (uint32_t i = 0; i < count; ++i) {
    char name[64];
    (void)snprintf(name, sizeof(name), "queue.family.%u", i);
    const VkQueueFlags flags = families[i].queueFlags;
    add(r, number, name, "%u queues:%s%s%s%s%s", families[i].queueCount,
        (flags & VK_QUEUE_GRAPHICS_BIT) != 0 ? " graphics" : "", (flags & VK_QUEUE_COMPUTE_BIT) != 0 ? " compute" : "",
        (flags & VK_QUEUE_TRANSFER_BIT) != 0 ? " transfer" : "",
        (flags & VK_QUEUE_SPARSE_BINDING_BIT) != 0 ? " sparse" : "", i == physical->queue_family ? " (used)" : "");
  }
}

static void report_device(report *r, int32_t number, const leati_physical *physical) {
  const leat_device_info *const info = &physical->info;
  char uuid[37];
  format_uuid(info->uuid, uuid);
  add(r, number, "name", "%.200s", info->name);
  add(r, number, "usable", "%s", physical->usable ? "yes" : "no");
  if (!physical->usable) {
    add(r, number, "reason", "%.250s", physical->reason);
  }
  if (info->driver[0] == '\0') {
    return;
  }
  add(r, number, "driver", "%.250s", info->driver);
  add(r, number, "uuid", "%s", uuid);
  add(r, number, "pci", "%s", info->pci_bus_id);
  add(r, number, "software", "%s", (info->flags & LEAT_DEVICE_SOFTWARE) != 0 ? "yes" : "no");
  add(r, number, "vendor", "0x%04x", info->vendor_id);
  add(r, number, "device", "0x%04x", info->device_id);
  add(r, number, "memory.size", "%llu", (unsigned long long)info->memory_size);
  add(r, number, "memory.max_allocation", "%llu", (unsigned long long)info->max_allocation_size);
  add(r, number, "memory.unified", "%s", (info->flags & LEAT_DEVICE_UNIFIED_MEMORY) != 0 ? "yes" : "no");
  for (uint32_t i = 0; i < physical->memory.memoryHeapCount; ++i) {
    char name[64];
    (void)snprintf(name, sizeof(name), "memory.heap.%u", i);
    add(r, number, name, "%llu bytes%s", (unsigned long long)physical->memory.memoryHeaps[i].size,
        (physical->memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0 ? ", device-local" : "");
  }
  report_queues(r, number, physical);
  report_features(r, number, physical);
}

void leati_devices_report(uint32_t *inout_count, leat_property *out) {
  report r = {.out = out, .capacity = *inout_count};
  add(&r, -1, "vulkan.loader", "%s", library.handle != NULL ? "libvulkan.so.1" : "not found");
  if (instance.handle != VK_NULL_HANDLE) {
    add(&r, -1, "vulkan.instance", "%u.%u", VK_API_VERSION_MAJOR(instance.api_version),
        VK_API_VERSION_MINOR(instance.api_version));
  }
  if (usable_count == 0) {
    add(&r, -1, "reason", "%.250s", no_device_reason);
  } else {
    const leati_config *config = NULL;
    (void)leati_config_get(&config, NULL);
    add(&r, -1, "chosen", "0");
    add(&r, -1, "chosen.reason", "%s",
        config->vulkan_device[0] != '\0' ? "first device named by LEAT_VULKAN_DEVICE"
                                         : "best kind first: discrete, integrated, virtual, software");
  }
  char name[64], value[200];
  for (unsigned i = 0; leati_config_describe(i, name, sizeof(name), value, sizeof(value)); ++i) {
    add(&r, -1, name, "%s", value);
  }
  int32_t unusable = -2;
  for (uint32_t i = 0; i < physical_count; ++i) {
    report_device(&r, physicals[i].usable ? (int32_t)physicals[i].info.index : unusable--, &physicals[i]);
  }
  *inout_count = r.count;
}

/* ---- Open devices ----------------------------------------------------------------------------------------------- */

int32_t leati_device_check(const leat_device *device, leat_error *err) {
  if (leati_kind_of(device) != LEATI_KIND_DEVICE) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      device == NULL ? "device is NULL" : "device is not an open device");
  }
  return LEAT_OK;
}

int32_t leati_device_fail(leat_device *device, VkResult result, const char *what, leat_error *err) {
  if (result == VK_ERROR_DEVICE_LOST) {
    atomic_store_explicit(&device->lost, true, memory_order_relaxed);
  }
  return leati_fail_vk(err, result, what);
}

static int32_t create_layouts(leat_device *device, leat_error *err) {
  const VkDescriptorSetLayoutBinding binding = {.binding = 0,
                                                .descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC,
                                                .descriptorCount = 1,
                                                .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
  const VkDescriptorSetLayoutCreateInfo set = {
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, .bindingCount = 1, .pBindings = &binding};
  VkResult result = device->vk.CreateDescriptorSetLayout(device->vk.handle, &set, NULL, &device->set_layout);
  if (result != VK_SUCCESS) {
    device->set_layout = VK_NULL_HANDLE;
    return leati_device_fail(device, result, "vkCreateDescriptorSetLayout", err);
  }
  const VkPipelineLayoutCreateInfo layout = {
      .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, .setLayoutCount = 1, .pSetLayouts = &device->set_layout};
  result = device->vk.CreatePipelineLayout(device->vk.handle, &layout, NULL, &device->pipeline_layout);
  if (result != VK_SUCCESS) {
    device->pipeline_layout = VK_NULL_HANDLE;
    return leati_device_fail(device, result, "vkCreatePipelineLayout", err);
  }
  return LEAT_OK;
}

static void choose_memory_types(leat_device *device) {
  const leati_physical *const physical = device->physical;
  const VkMemoryPropertyFlags mapped = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  /* Vulkan promises a type for each of these three requirements. */
  device->device_memory_type = leati_device_memory_type(
      physical, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0,
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT | VK_MEMORY_PROPERTY_PROTECTED_BIT);
  device->upload_memory_type = leati_device_memory_type(physical, mapped, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
                                                        VK_MEMORY_PROPERTY_HOST_CACHED_BIT);
  device->download_memory_type = leati_device_memory_type(physical, mapped, VK_MEMORY_PROPERTY_HOST_CACHED_BIT, 0);
}

int32_t leati_device_create(const leati_physical *physical, leat_device *device, leat_error *err) {
  const leati_config *config;
  LEATI_TRY(leati_config_get(&config, err));
  memset(device, 0, sizeof(*device));
  device->physical = physical;
  device->index = physical->info.index;

  float priorities[LEATI_LANES_MAX];
  uint32_t queues = physical->queue_count < LEATI_LANES_MAX ? physical->queue_count : LEATI_LANES_MAX;
  if (config->lanes > 0 && (uint32_t)config->lanes < queues) {
    queues = (uint32_t)config->lanes;
  }
  device->queue_count = queues;
  for (uint32_t i = 0; i < queues; ++i) {
    priorities[i] = 1.0f;
  }
  const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                         .queueFamilyIndex = physical->queue_family,
                                         .queueCount = queues,
                                         .pQueuePriorities = priorities};
  features f;
  chain_features(&f);
#define ENABLE(group, name) f.group.name = VK_TRUE;
  REQUIRED_FEATURES(ENABLE)
#undef ENABLE
  f.v12.shaderFloat16 = physical->has_float16 ? VK_TRUE : VK_FALSE;
  f.v12.hostQueryReset = physical->has_query_reset ? VK_TRUE : VK_FALSE;
  const bool pages = config->memory_guard == LEATI_GUARD_PAGES;
  if (pages && !physical->works_in_host_memory) {
    return leati_fail(err, LEAT_ERROR_UNAVAILABLE,
                      "LEAT_MEMORY_GUARD is pages, which needs a software device that works in the host's memory "
                      "(VK_EXT_external_memory_host), such as lavapipe; %s is none: set it to 1 or 0",
                      physical->info.name);
  }
  const char *extension_names[2];
  uint32_t extension_count = 0;
  if (pages) {
    extension_names[extension_count++] = VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME;
  }
  if (physical->has_sync_fd) {
    extension_names[extension_count++] = VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME;
  }
  const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                   .pNext = &f.core,
                                   .queueCreateInfoCount = 1,
                                   .pQueueCreateInfos = &queue,
                                   .enabledExtensionCount = extension_count,
                                   .ppEnabledExtensionNames = extension_names};
  VkDevice handle;
  const VkResult result = instance.CreateDevice(physical->handle, &info, NULL, &handle);
  if (result != VK_SUCCESS) {
    return leati_fail_vk(err, result, "vkCreateDevice");
  }
  int32_t status = leati_vk_device_load(&instance, handle, &device->vk, err);
  if (status != LEAT_OK) {
    const PFN_vkDestroyDevice destroy = (PFN_vkDestroyDevice)instance.GetDeviceProcAddr(handle, "vkDestroyDevice");
    if (destroy != NULL) {
      destroy(handle, NULL);
    }
    return status;
  }
  choose_memory_types(device);
  /* A software driver needs the cores that would spin. */
  device->spin_ns = config->wait_spin_us >= 0                            ? config->wait_spin_us * 1000
                    : (physical->info.flags & LEAT_DEVICE_SOFTWARE) != 0 ? 0
                                                                         : -1;
  device->kernel_download_max = physical->discrete ? KERNEL_DOWNLOAD_MAX : 0;
  device->core_count = leati_core_count();
  device->lanes_fixed = config->lanes > 0;
  status = create_layouts(device, err);
  if (status == LEAT_OK) {
    status = leati_memory_create(device, err);
  }
  if (status == LEAT_OK) {
    status = leati_staging_create(device, err);
  }
  if (status == LEAT_OK) {
    status = leati_pipelines_create(device, err);
  }
  if (status != LEAT_OK) {
    leati_device_destroy(device);
    return status;
  }
  leati_gate_register(LEATI_GATE_OPENED);
  device->kind = LEATI_KIND_DEVICE;
  return LEAT_OK;
}

void leati_device_destroy(leat_device *device) {
  device->kind = LEATI_KIND_DEAD;
  leati_pipelines_destroy(device);
  leati_staging_destroy(device);
  leati_memory_destroy(device);
  device->vk.DestroyPipelineLayout(device->vk.handle, device->pipeline_layout, NULL);
  device->vk.DestroyDescriptorSetLayout(device->vk.handle, device->set_layout, NULL);
  device->vk.DestroyDevice(device->vk.handle, NULL);
}
