/* SPDX-License-Identifier: BSD-3-Clause */
/* Drivers that answer what no device should: stubs without memory or queues, limits of 0, counts that are absurd or
 * change. Such a device is refused with its reason, or what is wrong counts for nothing; the one beside it works. */
#include "unit_fixture.h"

#include <string.h>

#include "device/devices.h"
#include "nulldriver/blocks.h"
#include "nulldriver/test_host.h"

#define IS(name) (strcmp(function, "vk" name) == 0)
#define LIMITS ((VkPhysicalDeviceProperties2 *)answer)->properties.limits
#define MEMORY ((VkPhysicalDeviceMemoryProperties2 *)answer)->memoryProperties

/* The struct of a type in the chain of an answer, or NULL. */
static void *chained(void *answer, VkStructureType type) {
  VkBaseOutStructure *at = answer;
  while (at != NULL && at->sType != type) {
    at = at->pNext;
  }
  return at;
}

/* An answer that changes some members of the properties, and likewise of the memory. */
#define PROPERTIES(name, ...)                                                                  \
  static VkResult name(const char *function, VkResult result, uint32_t *items, void *answer) { \
    (void)items;                                                                               \
    if (IS("GetPhysicalDeviceProperties2")) {                                                  \
      __VA_ARGS__;                                                                             \
    }                                                                                          \
    return result;                                                                             \
  }
#define MEMORIES(name, ...)                                                                    \
  static VkResult name(const char *function, VkResult result, uint32_t *items, void *answer) { \
    (void)items;                                                                               \
    if (IS("GetPhysicalDeviceMemoryProperties2")) {                                            \
      __VA_ARGS__;                                                                             \
    }                                                                                          \
    return result;                                                                             \
  }

PROPERTIES(all_limits_zero, memset(&LIMITS, 0, sizeof(LIMITS)))
PROPERTIES(no_invocations, LIMITS.maxComputeWorkGroupInvocations = 0)
PROPERTIES(no_width, LIMITS.maxComputeWorkGroupSize[0] = 0)
PROPERTIES(no_height, LIMITS.maxComputeWorkGroupSize[1] = 0)
PROPERTIES(no_groups, LIMITS.maxComputeWorkGroupCount[1] = 0)
PROPERTIES(no_shared_memory, LIMITS.maxComputeSharedMemorySize = 0)
PROPERTIES(no_range, LIMITS.maxUniformBufferRange = 0)
PROPERTIES(no_sets, LIMITS.maxBoundDescriptorSets = 0)
PROPERTIES(no_dynamic, LIMITS.maxDescriptorSetUniformBuffersDynamic = 0)
PROPERTIES(alignment_zero, LIMITS.minUniformBufferOffsetAlignment = 0)
PROPERTIES(alignment_odd, LIMITS.minUniformBufferOffsetAlignment = 48)
PROPERTIES(alignment_huge, LIMITS.minUniformBufferOffsetAlignment = UINT64_C(1) << 40)
PROPERTIES(old, ((VkPhysicalDeviceProperties2 *)answer)->properties.apiVersion = 0)

#define OF(type, name) ((type *)chained(answer, VK_STRUCTURE_TYPE_##name))
PROPERTIES(
    no_subgroups, VkPhysicalDeviceSubgroupProperties *const it = OF(VkPhysicalDeviceSubgroupProperties,
                                                                    PHYSICAL_DEVICE_SUBGROUP_PROPERTIES);
    if (it != NULL) { it->subgroupSize = 0; })
PROPERTIES(
    no_allocation, VkPhysicalDeviceMaintenance3Properties *const it = OF(VkPhysicalDeviceMaintenance3Properties,
                                                                         PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES);
    if (it != NULL) { it->maxMemoryAllocationSize = 0; })

MEMORIES(no_types, MEMORY.memoryTypeCount = 0)
MEMORIES(no_heaps, MEMORY.memoryHeapCount = 0)
MEMORIES(no_memory, memset(&MEMORY, 0, sizeof(MEMORY)))
MEMORIES(many_types, MEMORY.memoryTypeCount = UINT32_MAX)
MEMORIES(many_heaps, MEMORY.memoryHeapCount = UINT32_MAX)
MEMORIES(strange_heap, MEMORY.memoryTypes[1].heapIndex = 200)
MEMORIES(empty_heaps, for (int i = 0; i < 2; ++i) MEMORY.memoryHeaps[i].size = 0)
MEMORIES(unseen, for (int i = 0; i < 4; ++i) MEMORY.memoryTypes[i].propertyFlags &=
                 ~(VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT)
MEMORIES(elsewhere, for (int i = 0; i < 4; ++i) MEMORY.memoryTypes[i].propertyFlags &=
                    ~(VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT)

static VkResult no_families(const char *function, VkResult result, uint32_t *items, void *answer) {
  (void)answer;
  if (IS("GetPhysicalDeviceQueueFamilyProperties")) {
    *items = 0;
  }
  return result;
}

/* Families without queues, none of which is said to be there. */
static VkResult no_queues(const char *function, VkResult result, uint32_t *items, void *answer) {
  for (uint32_t i = 0; IS("GetPhysicalDeviceQueueFamilyProperties") && i < *items; ++i) {
    ((VkQueueFamilyProperties *)answer)[i].queueCount = 0;
  }
  return result;
}

static VkResult no_features(const char *function, VkResult result, uint32_t *items, void *answer) {
  (void)items;
  if (IS("GetPhysicalDeviceFeatures2")) {
    VkPhysicalDeviceFeatures2 *const features = answer;
    memset(&features->features, 0, sizeof(features->features));
  }
  return result;
}

/* Is refused for its memory, too, so that nobody opens it: what else it says must do no harm. */
static VkResult refuse(const char *function, VkResult result, void *answer) {
  return no_types(function, result, NULL, answer);
}

/* A name, and names of extensions, without an end. */
static VkResult endless_names(const char *function, VkResult result, uint32_t *items, void *answer) {
  if (IS("GetPhysicalDeviceProperties2")) {
    memset(((VkPhysicalDeviceProperties2 *)answer)->properties.deviceName, 'x', VK_MAX_PHYSICAL_DEVICE_NAME_SIZE);
  }
  for (uint32_t i = 0; IS("EnumerateDeviceExtensionProperties") && answer != NULL && i < *items; ++i) {
    memset(((VkExtensionProperties *)answer)[i].extensionName, 'x', VK_MAX_EXTENSION_NAME_SIZE);
  }
  return refuse(function, result, answer);
}

/* Lists that have more items than there is room for, whoever asks. */
static VkResult absurd_counts(const char *function, VkResult result, uint32_t *items, void *answer) {
  if (items != NULL && !IS("EnumeratePhysicalDevices")) {
    *items = UINT32_MAX;
  }
  return refuse(function, result, answer);
}

/* Lists that have more items when they are read than when they were counted. */
static VkResult growing_counts(const char *function, VkResult result, uint32_t *items, void *answer) {
  if (IS("EnumerateDeviceExtensionProperties")) {
    *items = answer == NULL ? 1 : 1000;
    return answer == NULL ? VK_SUCCESS : VK_INCOMPLETE;
  }
  return refuse(function, result, answer);
}

/* Lists that cannot be read, or not even counted. */
static VkResult failing_lists(const char *function, VkResult result, uint32_t *items, void *answer) {
  if (IS("EnumerateDeviceExtensionProperties") && answer != NULL) {
    *items = 1000;
    return VK_ERROR_INITIALIZATION_FAILED;
  }
  return refuse(function, result, answer);
}

static VkResult failing_counts(const char *function, VkResult result, uint32_t *items, void *answer) {
  if (IS("EnumerateDeviceExtensionProperties")) {
    *items = 1000;
    return VK_ERROR_INITIALIZATION_FAILED;
  }
  return refuse(function, result, answer);
}

/* More devices than there is room for, of which those that are listed are the two. */
static VkResult many_devices(const char *function, VkResult result, uint32_t *items, void *answer) {
  if (IS("EnumeratePhysicalDevices")) {
    *items = UINT32_MAX;
    return VK_INCOMPLETE;
  }
  return refuse(function, result, answer);
}

/* What the stub says, and a part of the reason for which it is refused. */
static const struct {
  const char *name;
  nulldriver_answer answer;
  const char *reason;
} stubs[] = {
    {"all_limits_zero", all_limits_zero, "lacks workgroups of 256 invocations, 65535 workgroups along x"},
    {"no_invocations", no_invocations, "lacks workgroups of 256 invocations"},
    {"no_width", no_width, "lacks workgroups of 256 invocations"},
    {"no_height", no_height, "lacks workgroups of 256 invocations"},
    {"no_groups", no_groups, "lacks 65535 workgroups along y"},
    {"no_shared_memory", no_shared_memory, "lacks 32 KiB of shared memory"},
    {"no_range", no_range, "lacks uniform buffers of 16 KiB with a dynamic offset"},
    {"no_sets", no_sets, "lacks uniform buffers of 16 KiB with a dynamic offset"},
    {"no_dynamic", no_dynamic, "lacks uniform buffers of 16 KiB with a dynamic offset"},
    {"alignment_zero", alignment_zero, "lacks an alignment of uniform buffers"},
    {"alignment_odd", alignment_odd, "lacks an alignment of uniform buffers"},
    {"alignment_huge", alignment_huge, "lacks an alignment of uniform buffers"},
    {"old", old, "lacks Vulkan 1.2 (it has 0.0)"},
    {"no_subgroups", no_subgroups, "lacks subgroups of 1 to 128 invocations"},
    {"no_allocation", no_allocation, "lacks allocations of 1 MiB of memory"},
    {"no_types", no_types, "lacks memory of the device, memory that the host sees"},
    {"no_heaps", no_heaps, "lacks memory types that are of its heaps"},
    {"no_memory", no_memory, "lacks memory of the device, memory that the host sees"},
    {"many_types", many_types, "lacks memory types that are of its heaps"},
    {"many_heaps", many_heaps, "lacks memory types that are of its heaps"},
    {"strange_heap", strange_heap, "lacks memory types that are of its heaps"},
    {"empty_heaps", empty_heaps, "lacks memory of the device, memory that the host sees"},
    {"unseen", unseen, "lacks memory that the host sees"},
    {"elsewhere", elsewhere, "lacks memory of the device"},
    {"no_families", no_families, "lacks a queue for compute"},
    {"no_queues", no_queues, "lacks a queue for compute"},
    {"no_features", no_features, "lacks shaderInt64, shaderInt16"},
    {"endless_names", endless_names, "lacks memory of the device"},
    {"absurd_counts", absurd_counts, "lacks memory of the device"},
    {"growing_counts", growing_counts, "lacks memory of the device"},
    {"failing_lists", failing_lists, "lacks memory of the device"},
    {"failing_counts", failing_counts, "lacks memory of the device"},
    {"many_devices", many_devices, "lacks memory of the device"},
};

static void a_stub_is_refused_and_the_device_beside_it_works(void **state) {
  for (size_t i = 0; i < sizeof(stubs) / sizeof(stubs[0]); ++i) {
    assert_int_equal(host_before(state), 0);
    nulldriver_add_stub(stubs[i].answer);
    open_device();
    assert_int_equal(leati_devices_count(), 2);
    assert_int_equal(leati_devices_usable(), 1);
    assert_true(leati_devices_get(0)->usable);
    const leati_physical *const stub = leati_devices_get(1);
    if (strncmp(stub->reason, stubs[i].reason, strlen(stubs[i].reason)) != 0) {
      fail_msg("%s: \"%s\"", stubs[i].name, stub->reason);
    }
    /* The report tells of it. */
    static leat_property properties[1024];
    uint32_t found = 1024;
    for (uint32_t p = 0; p < found; ++p) {
      properties[p].struct_size = sizeof(properties[p]);
    }
    assert_ok(h.api->device->report(&found, properties, &err));
    bool told = false;
    for (uint32_t p = 0; p < found; ++p) {
      told = told || strncmp(properties[p].value, stubs[i].reason, strlen(stubs[i].reason)) == 0;
    }
    assert_true(told);
    run_through(2);
    close_device();
    assert_int_equal(host_after(state), 0);
  }
}

/* The list of devices itself. */
static VkResult failing_devices(const char *function, VkResult result, uint32_t *items, void *answer) {
  if (IS("EnumeratePhysicalDevices")) {
    *items = 2;
    return VK_ERROR_INITIALIZATION_FAILED;
  }
  return refuse(function, result, answer);
}

/* Handles that were never written. */
static VkResult null_devices(const char *function, VkResult result, uint32_t *items, void *answer) {
  if (IS("EnumeratePhysicalDevices") && answer != NULL) {
    memset(answer, 0, *items * sizeof(VkPhysicalDevice));
    return VK_SUCCESS;
  }
  return refuse(function, result, answer);
}

static void a_list_of_devices_that_cannot_be_read_is_an_error_and_may_be_tried_again(void **state) {
  (void)state;
  leat_error said = {.struct_size = sizeof(said)};
  nulldriver_add_stub(failing_devices);
  assert_int_equal(host_open(&h, &said), LEAT_ERROR_INTERNAL);
  assert_string_equal(said.message, "vkEnumeratePhysicalDevices failed: VK_ERROR_INITIALIZATION_FAILED");
  nulldriver_add_stub(no_types);
  open_device();
  run_through(1);
  close_device();
}

static void devices_without_a_handle_are_none(void **state) {
  (void)state;
  uint32_t found = 1;
  nulldriver_add_stub(null_devices);
  const leat_host_info info = {.struct_size = sizeof(info), .abi_min = LEAT_ABI_1_0, .abi_max = LEAT_ABI_CURRENT};
  assert_ok(leat_backend_query(&info, &h.api, &err));
  assert_ok(h.api->device->count(&found, &err));
  assert_int_equal(found, 0);
  assert_non_null(strstr(leati_devices_reason(), "offer no device"));
  assert_ok(h.api->shutdown(&err));
}

/* ---- What a device that is used says wrong ------------------------------------------------------------------------
 */

static void a_budget_of_nothing_is_no_answer(void **state) {
  (void)state;
  nulldriver_shape shape = nulldriver_get_shape();
  shape.no_budget = true;
  nulldriver_set_shape(&shape);
  open_device();
  run_through(2);
  close_device();
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, host_before, host_after)
      CASE(a_stub_is_refused_and_the_device_beside_it_works),
      CASE(a_list_of_devices_that_cannot_be_read_is_an_error_and_may_be_tried_again),
      CASE(devices_without_a_handle_are_none),
      CASE(a_budget_of_nothing_is_no_answer),
#undef CASE
  };
  return cmocka_run_group_tests_name("nulldriver.stub", tests, NULL, NULL);
}
