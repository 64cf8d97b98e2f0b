/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/device_report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/config.h"
#include "core/status.h"
#include "device/devices.h"
#include "leat_kernels.h"
#include "policy/constants.h"

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

#ifdef LEATI_TYPES_OF_GEMM_MATRIX_128
#define HAS_MATRIX_KERNELS(type) ((LEATI_TYPES_OF_GEMM_MATRIX_128 & (type)) != 0)
#else
#define HAS_MATRIX_KERNELS(type) false
#endif
#ifdef LEATI_TYPES_OF_GEMM_INTEGER_MATRIX_128
#define HAS_BYTE_MATRIX_KERNELS true
#else
#define HAS_BYTE_MATRIX_KERNELS false
#endif
#ifdef LEATI_TYPES_OF_ATTENTION_MATRIX2_64
#define HAS_MATRIX2_KERNELS true
#else
#define HAS_MATRIX2_KERNELS false
#endif

/* Whether what a device has of matrices is used. */
static const char *use_of_matrices(const leati_config *config, bool has_kernels, bool second) {
  return !has_kernels                                       ? "not used: this build has no kernels for it (its "
                                                              "glslc is too old)"
         : config->matrices == LEATI_MATRICES_OFF           ? "not used: LEAT_MATRICES is 0"
         : second && config->matrices == LEATI_MATRICES_KHR ? "not used: LEAT_MATRICES is khr"
                                                            : "used";
}

static void report_matrix(report *r, int32_t number, const char *name, const char *type, const char *sum,
                          leati_matrix_shape matrix, const char *use) {
  if (matrix.m == 0) {
    add(r, number, name, "no");
  } else {
    add(r, number, name, "%ux%ux%u of %s, sums in %s; %s", matrix.m, matrix.n, matrix.k, type, sum, use);
  }
}

static void report_matrices(report *r, int32_t number, const leati_physical *physical) {
  const leati_config *config = NULL;
  (void)leati_config_get(&config, NULL);
  report_matrix(r, number, "features.cooperativeMatrix", "float16", "float32", physical->matrix,
                use_of_matrices(config, HAS_MATRIX_KERNELS(LEAT_TYPE_FLOAT16), false));
  report_matrix(r, number, "features.shaderBFloat16CooperativeMatrix", "bfloat16", "float32", physical->matrix_bfloat16,
                use_of_matrices(config, HAS_MATRIX_KERNELS(LEAT_TYPE_BFLOAT16), false));
  report_matrix(r, number, "features.cooperativeMatrixOfBytes", "int8", "int32", physical->matrix_int8,
                use_of_matrices(config, HAS_BYTE_MATRIX_KERNELS, false));
  if (!physical->matrix2) {
    add(r, number, "features.cooperativeMatrix2", "no");
  } else {
    add(r, number, "features.cooperativeMatrix2", "scores of attention in registers; %s",
        use_of_matrices(config, HAS_MATRIX2_KERNELS, true));
  }
}

/* How products of float32 are computed. */
static void report_float32(report *r, int32_t number, const leati_physical *physical) {
  const leati_config *config = NULL;
  (void)leati_config_get(&config, NULL);
  add(r, number, "float32.products", "%s",
      config->float32_matmul == LEATI_FLOAT32_IEEE ? "in float32"
      : physical->matrix_bfloat16.m == 0
          ? "in float32, though LEAT_FLOAT32_MATMUL is fast: the device multiplies no matrices of bfloat16"
      : !HAS_MATRIX_KERNELS(LEAT_TYPE_FLOAT32)
          ? "in float32, though LEAT_FLOAT32_MATMUL is fast: this build has no kernels for it (its glslc is too old)"
      : config->matrices == LEATI_MATRICES_OFF
          ? "in float32, though LEAT_FLOAT32_MATMUL is fast: LEAT_MATRICES is 0"
          : "large ones in parts of bfloat16 on matrix hardware, off by up to 3 x 2^-16 of the sum of magnitudes");
}

static void report_dots(report *r, int32_t number, const leati_physical *physical) {
  add(r, number, "features.integerDotProduct", "%s",
      physical->dots ? "dot products of int8 and uint8, four pairs at once"
                     : "not accelerated: products of int8 and uint8 are added up one by one");
}

static void report_halves(report *r, int32_t number, const leati_physical *physical) {
  add(r, number, "float16.conversions", "%s",
      physical->converts_halves
          ? "by the device, which keeps subnormal numbers and rounds to nearest even when asked"
          : "by integer arithmetic: the device's own may flush subnormal numbers or round otherwise");
}

static void report_features(report *r, int32_t number, const leati_physical *physical) {
  leati_features f;
  leati_features_chain(&f);
  physical->instance->GetPhysicalDeviceFeatures2(physical->handle, &f.core);
  char used[256] = "", missing[256] = "";
#define LIST(group, name)                                                                                        \
  {                                                                                                              \
    char *const list = f.group.name ? used : missing;                                                            \
    (void)snprintf(list + strlen(list), sizeof(used) - strlen(list), "%s%s", list[0] == '\0' ? "" : " ", #name); \
  }
  LEATI_REQUIRED_FEATURES(LIST)
#undef LIST
  add(r, number, "features.used", "%s", used);
  add(r, number, "features.missing", "%s", missing);
  add(r, number, "features.shaderFloat16", "%s", physical->has_float16 ? "yes" : "no");
  add(r, number, "features.shaderFloat64", "%s", physical->has_float64 ? "yes" : "no");
  report_matrices(r, number, physical);
  report_float32(r, number, physical);
  report_dots(r, number, physical);
  report_halves(r, number, physical);
}

/* What kernels are cut by, and what it may be. */
static void report_tuning(report *r) {
  const leati_config *config = NULL;
  (void)leati_config_get(&config, NULL);
  leati_tuning tuning = config->tuning;
  for (uint32_t i = 0; i < LEATI_TUNABLE_COUNT; ++i) {
    const leati_tunable *const it = &leati_tunables[i];
    char name[64];
    (void)snprintf(name, sizeof(name), "tuning.%s", it->name);
    add(r, -1, name, "%u (%u to %u, by itself %u)", *leati_tuning_field(&tuning, i), it->least, it->most, it->standard);
  }
}

static void report_queues(report *r, int32_t number, const leati_physical *physical) {
  VkQueueFamilyProperties families[LEATI_QUEUE_FAMILIES_MAX];
  const uint32_t count = leati_physical_queue_families(physical, families);
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

static void report_processors(report *r, int32_t number, const leati_physical *physical) {
  const leati_config *config = NULL;
  (void)leati_config_get(&config, NULL);
  if (physical->processors != 0) {
    add(r, number, "processors", "%u", physical->processors);
  } else {
    add(r, number, "processors", "%u are assumed: no extension tells", config->tuning.processors_assumed);
  }
}

static void report_device(report *r, int32_t number, const leati_physical *physical) {
  const leat_device_info *const info = &physical->info;
  char uuid[37];
  leati_physical_uuid(physical, uuid);
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
  add(r, number, "external.memory", "%s",
      physical->no_external_memory == NULL ? "by opaque descriptors" : physical->no_external_memory);
  add(r, number, "external.semaphores", "%s",
      physical->no_external_semaphores == NULL ? "by opaque descriptors" : physical->no_external_semaphores);
  add(r, number, "software", "%s", (info->flags & LEAT_DEVICE_SOFTWARE) != 0 ? "yes" : "no");
  add(r, number, "vendor", "0x%04x", info->vendor_id);
  add(r, number, "device", "0x%04x", info->device_id);
  report_processors(r, number, physical);
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

void leati_device_report_write(uint32_t *inout_count, leat_property *out) {
  report r = {.out = out, .capacity = *inout_count};
  add(&r, -1, "vulkan.loader", "%s", leati_devices_have_loader() ? "libvulkan.so.1" : "not found");
  const leati_vk_instance *const instance = leati_devices_instance();
  if (instance->handle != VK_NULL_HANDLE) {
    add(&r, -1, "vulkan.instance", "%u.%u", VK_API_VERSION_MAJOR(instance->api_version),
        VK_API_VERSION_MINOR(instance->api_version));
  }
  if (leati_devices_usable() == 0) {
    add(&r, -1, "reason", "%.250s", leati_devices_reason());
  } else {
    const leati_config *config = NULL;
    (void)leati_config_get(&config, NULL);
    add(&r, -1, "chosen", "0");
    add(&r, -1, "chosen.reason", "%s",
        config->vulkan_device[0] != '\0' ? "first device named by LEAT_VULKAN_DEVICE"
                                         : "best kind first: discrete, integrated, virtual, software");
  }
  char name[64], value[sizeof(((leat_property *)NULL)->value)];
  for (unsigned i = 0; leati_config_describe(i, name, sizeof(name), value, sizeof(value)); ++i) {
    add(&r, -1, name, "%s", value);
  }
  report_tuning(&r);
  int32_t unusable = -2;
  for (uint32_t i = 0; i < leati_devices_count(); ++i) {
    const leati_physical *const physical = leati_devices_get(i);
    report_device(&r, physical->usable ? (int32_t)physical->info.index : unusable--, physical);
  }
  *inout_count = r.count;
}
