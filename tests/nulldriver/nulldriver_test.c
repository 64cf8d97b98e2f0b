/* SPDX-License-Identifier: BSD-3-Clause */
/* The null driver itself: its modes do what they say, and each rule that it keeps is broken once and noted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first. */
#include <cmocka.h>

#include <pthread.h>
#include <string.h>

#include "nulldriver/races.h"
#include "nulldriver/raw.h"

static raw_device d;

static int open_all(void **state) {
  (void)state;
  memset(&d, 0, sizeof(d));
  nulldriver_reset();
  raw_open(&d);
  return nulldriver_violations() == 0 ? 0 : -1;
}

static int close_all(void **state) {
  (void)state;
  const uint32_t before = nulldriver_violations();
  nulldriver_set_mode(NULLDRIVER_EAGER, 0);
  raw_close(&d);
  /* What a test broke it has counted; closing breaks nothing more, and leaves nothing. */
  for (int kind = NULLDRIVER_INSTANCE; kind < NULLDRIVER_KINDS; ++kind) {
    if (nulldriver_live((nulldriver_kind)kind) != 0) {
      print_error("%u objects of kind %d are alive\n", nulldriver_live((nulldriver_kind)kind), kind);
      return -1;
    }
  }
  return nulldriver_violations() == before && nulldriver_memory_used() == 0 ? 0 : -1;
}

static uint32_t seen; /* violations that the running test has looked at */

/* One more violation has been noted, and its text holds the words. */
static void assert_violation(const char *words) {
  if (nulldriver_violations() != seen + 1 || strstr(nulldriver_violation(seen), words) == NULL) {
    for (uint32_t i = 0; i < nulldriver_violations(); ++i) {
      print_error("violation: %s\n", nulldriver_violation(i));
    }
    fail_msg("expected one violation more than %u, with \"%s\"", seen, words);
  }
  ++seen;
}

static int open_rule(void **state) {
  seen = 0;
  return open_all(state);
}

/* ---- Modes ---------------------------------------------------------------------------------------------------------
 */

static void submit_copy(unsigned char byte) {
  memset(d.a_bytes, byte, RAW_SIZE);
  raw_record_copy(&d);
  assert_int_equal(raw_submit(&d, 0, d.commands, 0, 1), VK_SUCCESS);
}

static void eager_work_is_done_when_submit_returns(void **state) {
  (void)state;
  submit_copy(3);
  assert_int_equal(d.b_bytes[RAW_SIZE - 1], 3);
  assert_int_equal(raw_value(&d), 1);
  assert_int_equal(nulldriver_pending(), 0);
}

static void lazy_work_is_done_when_waited_for(void **state) {
  (void)state;
  nulldriver_set_mode(NULLDRIVER_LAZY, 0);
  submit_copy(4);
  assert_int_equal(raw_value(&d), 0);
  assert_int_equal(d.b_bytes[0], 0);
  assert_int_equal(raw_wait(&d, 1, UINT64_MAX), VK_SUCCESS);
  assert_int_equal(d.b_bytes[0], 4);
}

static void late_work_is_done_after_so_many_looks(void **state) {
  (void)state;
  nulldriver_set_mode(NULLDRIVER_LATE, 3);
  submit_copy(5);
  assert_int_equal(raw_value(&d), 0);
  assert_int_equal(raw_wait(&d, 1, 0), VK_TIMEOUT);
  assert_int_equal(raw_value(&d), 1);
  assert_int_equal(d.b_bytes[0], 5);
}

static void held_work_waits_for_the_test(void **state) {
  (void)state;
  nulldriver_set_mode(NULLDRIVER_HELD, 0);
  submit_copy(6);
  assert_int_equal(raw_wait(&d, 1, 1000), VK_TIMEOUT);
  assert_int_equal(raw_value(&d), 0);
  assert_int_equal(nulldriver_step(5), 1);
  assert_int_equal(raw_wait(&d, 1, 0), VK_SUCCESS);
  assert_int_equal(d.b_bytes[0], 6);
}

static void threaded_work_is_done_by_itself(void **state) {
  (void)state;
  nulldriver_set_mode(NULLDRIVER_THREADED, 3);
  submit_copy(7);
  assert_int_equal(raw_wait(&d, 1, UINT64_MAX), VK_SUCCESS);
  assert_int_equal(d.b_bytes[0], 7);
  assert_int_equal(vk.QueueWaitIdle(d.queues[0]), VK_SUCCESS);
}

static VkSemaphore make_semaphore(void) {
  const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                          .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
  const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
  VkSemaphore semaphore = VK_NULL_HANDLE;
  assert_int_equal(vk.CreateSemaphore(d.device, &info, NULL, &semaphore), VK_SUCCESS);
  return semaphore;
}

/* Whether the second queue's work is seen done while the first queue's is not, with this seed. */
static bool overtakes(uint64_t seed) {
  const VkSemaphore first = d.semaphore, second = make_semaphore();
  bool overtaken = false;
  nulldriver_set_mode(NULLDRIVER_HELD, 0);
  const uint64_t base = raw_value(&d);
  assert_int_equal(raw_submit(&d, 0, VK_NULL_HANDLE, 0, base + 1), VK_SUCCESS);
  d.semaphore = second;
  assert_int_equal(raw_submit(&d, 1, VK_NULL_HANDLE, 0, 1), VK_SUCCESS);
  nulldriver_set_mode(NULLDRIVER_SHUFFLED, seed);
  for (int i = 0; i < 10; ++i) {
    d.semaphore = first;
    const bool first_done = raw_value(&d) > base;
    d.semaphore = second;
    overtaken = overtaken || (!first_done && raw_value(&d) == 1);
  }
  d.semaphore = first;
  assert_int_equal(vk.DeviceWaitIdle(d.device), VK_SUCCESS);
  vk.DestroySemaphore(d.device, second, NULL);
  return overtaken;
}

static void shuffled_work_overtakes_between_queues(void **state) {
  (void)state;
  bool either[2] = {false, false};
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    either[overtakes(seed) ? 1 : 0] = true;
  }
  assert_true(either[0] && either[1]);
}

static void queues_and_semaphores_keep_order_in_every_mode(void **state) {
  (void)state;
  static const nulldriver_mode modes[] = {NULLDRIVER_EAGER,    NULLDRIVER_LAZY, NULLDRIVER_LATE,
                                          NULLDRIVER_SHUFFLED, NULLDRIVER_HELD, NULLDRIVER_THREADED};
  uint64_t value = 0;
  for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); ++i) {
    nulldriver_set_mode(modes[i], 2);
    for (int round = 0; round < 5; ++round) {
      /* Four submissions that take turns on the two queues, each waiting for the one before; the last but one copies
       * what the second one fills. */
      VkCommandBuffer both[2];
      const VkCommandBufferAllocateInfo info = {
          .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, .commandPool = d.pool, .commandBufferCount = 2};
      const VkBufferCopy region = {.size = RAW_SIZE};
      assert_int_equal(vk.AllocateCommandBuffers(d.device, &info, both), VK_SUCCESS);
      raw_begin(both[0]);
      vk.CmdFillBuffer(both[0], d.a, 0, RAW_SIZE, (uint32_t)value + 1);
      assert_int_equal(vk.EndCommandBuffer(both[0]), VK_SUCCESS);
      raw_begin(both[1]);
      vk.CmdCopyBuffer(both[1], d.a, d.b, 1, &region);
      assert_int_equal(vk.EndCommandBuffer(both[1]), VK_SUCCESS);
      assert_int_equal(raw_submit(&d, 0, VK_NULL_HANDLE, value, value + 1), VK_SUCCESS);
      assert_int_equal(raw_submit(&d, 1, both[0], value + 1, value + 2), VK_SUCCESS);
      assert_int_equal(raw_submit(&d, 0, both[1], value + 2, value + 3), VK_SUCCESS);
      assert_int_equal(raw_submit(&d, 1, VK_NULL_HANDLE, value + 3, value + 4), VK_SUCCESS);
      if (modes[i] == NULLDRIVER_HELD) {
        assert_int_equal(nulldriver_step(10), 4);
      }
      const uint32_t expected = (uint32_t)value + 1;
      value += 4;
      assert_int_equal(raw_wait(&d, value, UINT64_MAX), VK_SUCCESS);
      assert_memory_equal(d.b_bytes, &expected, sizeof(expected));
      vk.FreeCommandBuffers(d.device, d.pool, 2, both);
    }
  }
  assert_int_equal(nulldriver_violations(), 0);
}

static void timestamps_rise(void **state) {
  (void)state;
  uint64_t values[2] = {0, 0};
  nulldriver_set_mode(NULLDRIVER_LAZY, 0);
  vk.ResetQueryPool(d.device, d.queries, 0, 2);
  raw_begin(d.commands);
  vk.CmdWriteTimestamp(d.commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, d.queries, 0);
  vk.CmdWriteTimestamp(d.commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, d.queries, 1);
  assert_int_equal(vk.EndCommandBuffer(d.commands), VK_SUCCESS);
  assert_int_equal(raw_submit(&d, 0, d.commands, 0, 1), VK_SUCCESS);
  assert_int_equal(vk.GetQueryPoolResults(d.device, d.queries, 0, 2, sizeof(values), values, sizeof(values[0]),
                                          VK_QUERY_RESULT_64_BIT),
                   VK_NOT_READY);
  assert_int_equal(vk.GetQueryPoolResults(d.device, d.queries, 0, 2, sizeof(values), values, sizeof(values[0]),
                                          VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
                   VK_SUCCESS);
  assert_true(values[1] > values[0] && values[0] > 0);
  assert_int_equal(nulldriver_violations(), 0);
}

static void record_timestamps(void) {
  vk.ResetQueryPool(d.device, d.queries, 0, 2);
  raw_begin(d.commands);
  vk.CmdWriteTimestamp(d.commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, d.queries, 0);
  vk.CmdWriteTimestamp(d.commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, d.queries, 1);
}

#define COPY_FLAGS (VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT)

static void timestamps_are_copied(void **state) {
  (void)state;
  uint64_t values[2], copies[4];
  nulldriver_set_mode(NULLDRIVER_LAZY, 0);
  memset(d.b_bytes, 0xff, RAW_SIZE);
  record_timestamps();
  vk.CmdCopyQueryPoolResults(d.commands, d.queries, 0, 2, d.b, 8, 16, COPY_FLAGS);
  assert_int_equal(vk.EndCommandBuffer(d.commands), VK_SUCCESS);
  assert_int_equal(raw_submit(&d, 0, d.commands, 0, 1), VK_SUCCESS);
  assert_int_equal(raw_wait(&d, 1, UINT64_MAX), VK_SUCCESS);
  assert_int_equal(vk.GetQueryPoolResults(d.device, d.queries, 0, 2, sizeof(values), values, sizeof(values[0]),
                                          VK_QUERY_RESULT_64_BIT),
                   VK_SUCCESS);
  memcpy(copies, d.b_bytes, sizeof(copies));
  assert_true(copies[0] == UINT64_MAX && copies[2] == UINT64_MAX);
  assert_true(copies[1] == values[0] && copies[3] == values[1]);
  assert_int_equal(nulldriver_violations(), 0);
}

/* ---- Faults, loss, limits ------------------------------------------------------------------------------------------
 */

static void the_nth_call_fails_once(void **state) {
  (void)state;
  assert_true(nulldriver_fail("vkQueueSubmit", 2, VK_ERROR_OUT_OF_HOST_MEMORY));
  assert_int_equal(raw_submit(&d, 0, VK_NULL_HANDLE, 0, 1), VK_SUCCESS);
  assert_int_equal(raw_submit(&d, 0, VK_NULL_HANDLE, 0, 2), VK_ERROR_OUT_OF_HOST_MEMORY);
  assert_int_equal(raw_value(&d), 1);
  assert_int_equal(raw_submit(&d, 0, VK_NULL_HANDLE, 0, 2), VK_SUCCESS);
  assert_int_equal(nulldriver_calls("vkQueueSubmit"), 3);
  assert_false(nulldriver_fail("vkQueueForget", 1, VK_ERROR_UNKNOWN));
  assert_false(nulldriver_fail("vkCmdDispatch", 1, VK_ERROR_UNKNOWN));
}

static void a_lost_device_says_so(void **state) {
  (void)state;
  uint64_t value;
  nulldriver_set_mode(NULLDRIVER_HELD, 0);
  submit_copy(9);
  nulldriver_lose_device();
  assert_int_equal(nulldriver_pending(), 0);
  assert_int_equal(raw_wait(&d, 1, UINT64_MAX), VK_ERROR_DEVICE_LOST);
  assert_int_equal(vk.GetSemaphoreCounterValue(d.device, d.semaphore, &value), VK_ERROR_DEVICE_LOST);
  assert_int_equal(raw_submit(&d, 0, VK_NULL_HANDLE, 0, 2), VK_ERROR_DEVICE_LOST);
  assert_int_equal(vk.DeviceWaitIdle(d.device), VK_ERROR_DEVICE_LOST);
  assert_int_equal(d.b_bytes[0], 0);
}

static void memory_has_its_limits(void **state) {
  (void)state;
  nulldriver_shape shape = nulldriver_get_shape();
  VkPhysicalDeviceMemoryProperties2 memory = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2};
  vk.GetPhysicalDeviceMemoryProperties2(d.physical, &memory);
  assert_int_equal(memory.memoryProperties.memoryTypeCount, 4);
  const VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                     .allocationSize = shape.device_heap + 1};
  VkDeviceMemory none;
  assert_int_equal(vk.AllocateMemory(d.device, &info, NULL, &none), VK_ERROR_OUT_OF_DEVICE_MEMORY);
  shape.no_mapped_device_local = true;
  nulldriver_set_shape(&shape);
  vk.GetPhysicalDeviceMemoryProperties2(d.physical, &memory);
  assert_int_equal(memory.memoryProperties.memoryTypeCount, 3);
}

static void addresses_are_distinct_and_no_host_addresses(void **state) {
  (void)state;
  const VkBufferDeviceAddressInfo a = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, .buffer = d.a};
  const VkBufferDeviceAddressInfo b = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, .buffer = d.b};
  const VkDeviceAddress first = vk.GetBufferDeviceAddress(d.device, &a);
  const VkDeviceAddress second = vk.GetBufferDeviceAddress(d.device, &b);
  assert_true(first >= NULLDRIVER_ADDRESS_FIRST && second >= first + RAW_SIZE);
  assert_ptr_equal(nulldriver_at(second + 8, 16), d.b_bytes + 8);
  assert_int_equal(nulldriver_violations(), 0);
  assert_null(nulldriver_at(first + RAW_SIZE, 1));
  assert_int_equal(nulldriver_violations(), 1);
}

/* ---- Rules ---------------------------------------------------------------------------------------------------------
 */

/* Under the thread sanitizer two threads in one object are its to report: race.c shows that it does. */
static void leave_to_sanitizer(void) {
#ifdef __SANITIZE_THREAD__
  skip();
#endif
}

static void *submit_alone(void *unused) {
  (void)raw_submit(&d, 0, VK_NULL_HANDLE, 0, 1);
  return unused;
}

static void *reset_alone(void *unused) {
  (void)vk.ResetCommandPool(d.device, d.pool, 0);
  return unused;
}

static void one_thread_at_a_time_per_queue(void **state) {
  (void)state;
  pthread_t thread;
  leave_to_sanitizer();
  assert_true(nulldriver_hold("vkQueueSubmit"));
  assert_int_equal(pthread_create(&thread, NULL, submit_alone, NULL), 0);
  nulldriver_wait_held();
  (void)vk.QueueWaitIdle(d.queues[0]);
  nulldriver_release();
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_violation("two threads are in calls that use VkQueue");
}

static void one_thread_at_a_time_per_pool_and_its_buffers(void **state) {
  (void)state;
  pthread_t thread;
  leave_to_sanitizer();
  assert_true(nulldriver_hold("vkResetCommandPool"));
  assert_int_equal(pthread_create(&thread, NULL, reset_alone, NULL), 0);
  nulldriver_wait_held();
  raw_begin(d.commands);
  nulldriver_release();
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_violation("two threads are in calls that use VkCommandBuffer");
}

static void *make_sets_alone(void *unused) {
  const VkDescriptorSetAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                            .descriptorPool = d.sets};
  (void)vk.AllocateDescriptorSets(d.device, &info, NULL);
  return unused;
}

static void one_thread_at_a_time_per_descriptor_pool(void **state) {
  (void)state;
  pthread_t thread;
  leave_to_sanitizer();
  assert_true(nulldriver_hold("vkAllocateDescriptorSets"));
  assert_int_equal(pthread_create(&thread, NULL, make_sets_alone, NULL), 0);
  nulldriver_wait_held();
  (void)make_sets_alone(NULL);
  nulldriver_release();
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_violation("two threads are in calls that use VkDescriptorPool");
}

static void values_rise(void **state) {
  (void)state;
  assert_int_equal(raw_submit(&d, 0, VK_NULL_HANDLE, 0, 5), VK_SUCCESS);
  (void)raw_submit(&d, 0, VK_NULL_HANDLE, 0, 5);
  assert_violation("signal 0 of value 5 does not rise above 5");
}

static void nobody_waits_for_what_is_not_submitted(void **state) {
  (void)state;
  (void)raw_submit(&d, 0, VK_NULL_HANDLE, 1, 0);
  assert_violation("wait 0 is for value 1 before anybody has submitted");
  assert_int_equal(raw_submit(&d, 1, VK_NULL_HANDLE, 0, 1), VK_SUCCESS);
  assert_int_equal(nulldriver_pending(), 0);
}

static void dead_handles_are_known(void **state) {
  (void)state;
  const VkSemaphore dead = make_semaphore();
  VkBuffer buffer;
  VkDeviceMemory memory;
  unsigned char *bytes;
  uint64_t value;
  raw_buffer(&d, &buffer, &memory, &bytes);
  vk.DestroySemaphore(d.device, dead, NULL);
  vk.DestroyBuffer(d.device, buffer, NULL);
  (void)vk.GetSemaphoreCounterValue(d.device, dead, &value);
  assert_violation("is destroyed where a live VkSemaphore is due");
  vk.DestroySemaphore(d.device, dead, NULL);
  assert_violation("is destroyed where a live VkSemaphore is due");
  const VkBufferDeviceAddressInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, .buffer = buffer};
  (void)vk.GetBufferDeviceAddress(d.device, &info);
  assert_violation("vkGetBufferDeviceAddress: 0x");
  vk.FreeMemory(d.device, memory, NULL);
  vk.FreeMemory(d.device, (VkDeviceMemory)(uintptr_t)d.semaphore, NULL);
  assert_violation("is VkSemaphore where a live VkDeviceMemory is due");
  vk.FreeMemory(d.device, (VkDeviceMemory)(uintptr_t)&value, NULL);
  assert_violation("no handle of this driver");
}

/* Leaves a copy in flight. */
static void hold_copy(void) {
  nulldriver_set_mode(NULLDRIVER_HELD, 0);
  submit_copy(1);
}

static void pools_in_flight_stay(void **state) {
  (void)state;
  hold_copy();
  assert_int_equal(vk.ResetCommandPool(d.device, d.pool, 0), VK_SUCCESS);
  assert_violation("is reset in flight");
  vk.DestroyCommandPool(d.device, d.pool, NULL);
  assert_violation("vkDestroyCommandPool: VkCommandBuffer");
  d.pool = VK_NULL_HANDLE;
  assert_int_equal(nulldriver_step(1), 1);
}

static void buffers_and_memory_in_flight_stay(void **state) {
  (void)state;
  hold_copy();
  vk.DestroyBuffer(d.device, d.a, NULL);
  assert_violation("vkDestroyBuffer: VkBuffer");
  vk.FreeMemory(d.device, d.b_memory, NULL);
  assert_violation("vkFreeMemory: VkDeviceMemory");
  d.a = VK_NULL_HANDLE;
  d.b_memory = VK_NULL_HANDLE;
  assert_int_equal(nulldriver_step(1), 1);
}

static void semaphores_in_flight_stay(void **state) {
  (void)state;
  hold_copy();
  vk.DestroySemaphore(d.device, d.semaphore, NULL);
  assert_violation("vkDestroySemaphore: VkSemaphore");
  d.semaphore = VK_NULL_HANDLE;
  assert_int_equal(nulldriver_step(1), 1);
}

static void record_dispatch(uint32_t offset) {
  raw_begin(d.commands);
  vk.CmdBindPipeline(d.commands, VK_PIPELINE_BIND_POINT_COMPUTE, d.pipeline);
  vk.CmdBindDescriptorSets(d.commands, VK_PIPELINE_BIND_POINT_COMPUTE, d.layout, 0, 1, &d.set, 1, &offset);
  vk.CmdDispatch(d.commands, 1, 1, 1);
  assert_int_equal(vk.EndCommandBuffer(d.commands), VK_SUCCESS);
}

static void pipelines_and_descriptors_in_flight_stay(void **state) {
  (void)state;
  nulldriver_set_mode(NULLDRIVER_HELD, 0);
  record_dispatch(0);
  assert_int_equal(raw_submit(&d, 0, d.commands, 0, 1), VK_SUCCESS);
  vk.DestroyPipeline(d.device, d.pipeline, NULL);
  assert_violation("vkDestroyPipeline: VkPipeline");
  const VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, .dstSet = d.set};
  vk.UpdateDescriptorSets(d.device, 1, &write, 0, NULL);
  assert_violation("the set is used by 1 submissions in flight");
  d.pipeline = VK_NULL_HANDLE;
  assert_int_equal(nulldriver_step(1), 1);
}

static void pipeline_caches_keep_their_rules(void **state) {
  (void)state;
  const VkComputePipelineCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
  VkPipelineCacheCreateInfo flagged = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO, .flags = 1};
  VkPipelineCache cache;
  assert_int_equal(vk.CreatePipelineCache(d.device, &flagged, NULL, &cache), VK_SUCCESS);
  assert_violation("flags 0x1 need pipelineCreationCacheControl");
  assert_int_equal(nulldriver_live(NULLDRIVER_PIPELINE_CACHE), 1);
  vk.DestroyPipelineCache(d.device, cache, NULL);
  vk.DestroyPipelineCache(d.device, VK_NULL_HANDLE, NULL);
  assert_int_equal(nulldriver_live(NULLDRIVER_PIPELINE_CACHE), 0);
  assert_int_equal(vk.CreateComputePipelines(d.device, cache, 0, &info, NULL, NULL), VK_SUCCESS);
  assert_violation("where a live VkPipelineCache is due");
}

static VkPipelineCache make_cache(const void *data, size_t size) {
  const VkPipelineCacheCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO, .initialDataSize = size, .pInitialData = data};
  VkPipelineCache cache;
  assert_int_equal(vk.CreatePipelineCache(d.device, &info, NULL, &cache), VK_SUCCESS);
  return cache;
}

/* Compiles the same kernel with a constant. */
static void compile_with(VkPipelineCache cache, uint32_t constant) {
  static const uint32_t code[5] = {0x07230203};
  const VkShaderModuleCreateInfo module_info = {
      .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = sizeof(code), .pCode = code};
  const VkSpecializationInfo constants = {.dataSize = sizeof(constant), .pData = &constant};
  VkComputePipelineCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                      .stage.pSpecializationInfo = &constants,
                                      .layout = d.layout};
  VkPipeline pipeline;
  assert_int_equal(vk.CreateShaderModule(d.device, &module_info, NULL, &info.stage.module), VK_SUCCESS);
  assert_int_equal(vk.CreateComputePipelines(d.device, cache, 1, &info, NULL, &pipeline), VK_SUCCESS);
  vk.DestroyPipeline(d.device, pipeline, NULL);
  vk.DestroyShaderModule(d.device, info.stage.module, NULL);
}

static void pipeline_caches_give_and_take_what_they_know(void **state) {
  (void)state;
  unsigned char data[512];
  size_t size = 0, part = 100;
  const VkPipelineCache first = make_cache(NULL, 0), second = make_cache(NULL, 0);
  compile_with(first, 1);
  compile_with(first, 2);
  compile_with(second, 2);
  compile_with(second, 3);
  assert_int_equal(nulldriver_pipelines_known(), 0);
  compile_with(second, 3);
  assert_int_equal(nulldriver_pipelines_known(), 1);
  assert_int_equal(vk.MergePipelineCaches(d.device, first, 1, &second), VK_SUCCESS);
  assert_int_equal(vk.GetPipelineCacheData(d.device, first, &size, NULL), VK_SUCCESS);
  assert_int_equal(size, 32 + 3 * 16);
  assert_int_equal(vk.GetPipelineCacheData(d.device, first, &size, data), VK_SUCCESS);
  const VkPipelineCache third = make_cache(data, size);
  for (uint32_t i = 1; i <= 4; ++i) {
    compile_with(third, i);
  }
  assert_int_equal(nulldriver_pipelines_known(), 4);
  /* What there is room for is whole. */
  part = 32 + 16 + 15;
  assert_int_equal(vk.GetPipelineCacheData(d.device, first, &part, data), VK_INCOMPLETE);
  assert_int_equal(part, 32 + 16);
  vk.DestroyPipelineCache(d.device, make_cache(data, part), NULL);
  part = 31;
  assert_int_equal(vk.GetPipelineCacheData(d.device, first, &part, data), VK_INCOMPLETE);
  assert_int_equal(part, 0);
  assert_int_equal(nulldriver_violations(), 0);
  data[40] ^= 1;
  vk.DestroyPipelineCache(d.device, make_cache(data, 48), NULL);
  assert_violation("byte 32 of the initial data or one of the next 15 is damaged");
  data[20] ^= 1;
  vk.DestroyPipelineCache(d.device, make_cache(data, 48), NULL);
  assert_violation("48 bytes of initial data are no other cache's of this device");
  assert_int_equal(vk.MergePipelineCaches(d.device, first, 1, &first), VK_SUCCESS);
  assert_violation("a cache is merged into itself");
  vk.DestroyPipelineCache(d.device, first, NULL);
  vk.DestroyPipelineCache(d.device, second, NULL);
  vk.DestroyPipelineCache(d.device, third, NULL);
}

static void queries_in_flight_stay(void **state) {
  (void)state;
  nulldriver_set_mode(NULLDRIVER_HELD, 0);
  raw_begin(d.commands);
  vk.CmdWriteTimestamp(d.commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, d.queries, 1);
  assert_int_equal(vk.EndCommandBuffer(d.commands), VK_SUCCESS);
  assert_int_equal(raw_submit(&d, 0, d.commands, 0, 1), VK_SUCCESS);
  vk.ResetQueryPool(d.device, d.queries, 0, 2);
  assert_violation("query 1 is reset in flight");
  vk.DestroyQueryPool(d.device, d.queries, NULL);
  assert_violation("vkDestroyQueryPool: VkQueryPool");
  d.queries = VK_NULL_HANDLE;
  assert_int_equal(nulldriver_step(1), 1);
  assert_violation("query 1 is written without a reset");
}

static void copies_of_queries_keep_their_rules(void **state) {
  (void)state;
  vk.CmdCopyQueryPoolResults(d.commands, d.queries, 0, 1, d.b, 0, 8, COPY_FLAGS);
  assert_violation("the command buffer is not recording");
  record_timestamps();
  vk.CmdCopyQueryPoolResults(d.commands, d.queries, 1, 1000, d.b, 0, 8, COPY_FLAGS);
  assert_violation("1000 queries from 1 of a pool of");
  vk.CmdCopyQueryPoolResults(d.commands, d.queries, 0, 1, d.b, 0, 8, VK_QUERY_RESULT_64_BIT);
  assert_violation("flags 0x1");
  vk.CmdCopyQueryPoolResults(d.commands, d.queries, 0, 1, d.b, 4, 8, COPY_FLAGS);
  assert_violation("offset 4 and stride 8");
  vk.CmdCopyQueryPoolResults(d.commands, d.queries, 0, 2, d.b, 0, 0, COPY_FLAGS);
  assert_violation("offset 0 and stride 0");
  vk.CmdCopyQueryPoolResults(d.commands, d.queries, 0, 2, d.b, RAW_SIZE - 8, 8, COPY_FLAGS);
  assert_violation("16 bytes at 4088 of a buffer of 4096");
}

static void copied_queries_are_written_and_stay(void **state) {
  (void)state;
  nulldriver_set_mode(NULLDRIVER_HELD, 0);
  vk.ResetQueryPool(d.device, d.queries, 0, 2);
  raw_begin(d.commands);
  vk.CmdCopyQueryPoolResults(d.commands, d.queries, 1, 1, d.b, 0, 8, COPY_FLAGS);
  assert_int_equal(vk.EndCommandBuffer(d.commands), VK_SUCCESS);
  assert_int_equal(raw_submit(&d, 0, d.commands, 0, 1), VK_SUCCESS);
  vk.ResetQueryPool(d.device, d.queries, 1, 1);
  assert_violation("query 1 is reset in flight");
  vk.DestroyBuffer(d.device, d.b, NULL);
  assert_violation("vkDestroyBuffer: VkBuffer");
  d.b = VK_NULL_HANDLE;
  assert_int_equal(nulldriver_step(1), 1);
  assert_violation("query 1 is waited for and nothing writes it");
}

static void pools_of_copied_queries_live_until_submission(void **state) {
  (void)state;
  raw_begin(d.commands);
  vk.CmdCopyQueryPoolResults(d.commands, d.queries, 0, 1, d.b, 0, 8, COPY_FLAGS);
  assert_int_equal(vk.EndCommandBuffer(d.commands), VK_SUCCESS);
  vk.DestroyQueryPool(d.device, d.queries, NULL);
  d.queries = VK_NULL_HANDLE;
  nulldriver_set_mode(NULLDRIVER_HELD, 0);
  assert_int_equal(raw_submit(&d, 0, d.commands, 0, 1), VK_SUCCESS);
  assert_violation("is destroyed where a live VkQueryPool is due");
  assert_int_equal(nulldriver_step(1), 1);
  /* The buffer is not taken for in use. */
  vk.DestroyBuffer(d.device, d.b, NULL);
  d.b = VK_NULL_HANDLE;
  assert_int_equal(nulldriver_violations(), seen);
}

static void command_buffers_are_submitted_once_and_ready(void **state) {
  (void)state;
  (void)raw_submit(&d, 0, d.commands, 0, 1);
  assert_violation("command buffer 0 is empty");
  raw_begin(d.commands);
  (void)raw_submit(&d, 0, d.commands, 0, 2);
  assert_violation("command buffer 0 is still recording");
  assert_int_equal(vk.EndCommandBuffer(d.commands), VK_SUCCESS);
  nulldriver_set_mode(NULLDRIVER_HELD, 0);
  assert_int_equal(raw_submit(&d, 0, d.commands, 0, 3), VK_SUCCESS);
  (void)raw_submit(&d, 0, d.commands, 0, 4);
  assert_violation("command buffer 0 is in flight already");
  assert_int_equal(nulldriver_step(10), 2);
  (void)raw_submit(&d, 0, d.commands, 0, 5);
  assert_violation("for one submission, which it has had");
  assert_int_equal(nulldriver_step(10), 1);
  const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  assert_int_equal(vk.BeginCommandBuffer(d.commands, &info), VK_ERROR_UNKNOWN);
  assert_violation("vkBeginCommandBuffer: the command buffer is not reset");
  vk.CmdDispatch(d.commands, 1, 1, 1);
  assert_violation("vkCmdDispatch: the command buffer is not recording");
}

static void recorded_handles_live_until_submission(void **state) {
  (void)state;
  raw_record_copy(&d);
  vk.DestroyBuffer(d.device, d.b, NULL);
  d.b = VK_NULL_HANDLE;
  assert_int_equal(raw_submit(&d, 0, d.commands, 0, 1), VK_SUCCESS);
  assert_violation("is destroyed where a live VkBuffer is due");
}

static void memory_lives_until_submission(void **state) {
  (void)state;
  raw_record_copy(&d);
  vk.FreeMemory(d.device, d.a_memory, NULL);
  d.a_memory = VK_NULL_HANDLE;
  assert_int_equal(raw_submit(&d, 0, d.commands, 0, 1), VK_SUCCESS);
  assert_violation("is destroyed where a live VkDeviceMemory is due");
}

static void copies_stay_in_their_buffers(void **state) {
  (void)state;
  const VkBufferCopy outside[3] = {
      {.size = RAW_SIZE + 1}, {.dstOffset = 1, .size = RAW_SIZE}, {.srcOffset = UINT64_MAX, .size = 4}};
  const VkBufferCopy overlap = {.dstOffset = 8, .size = 16};
  raw_begin(d.commands);
  for (int i = 0; i < 3; ++i) {
    vk.CmdCopyBuffer(d.commands, d.a, d.b, 1, &outside[i]);
    assert_violation("of a buffer of 4096");
  }
  vk.CmdCopyBuffer(d.commands, d.a, d.a, 1, &overlap);
  assert_violation("overlap");
}

static void dispatches_have_what_they_need(void **state) {
  (void)state;
  const uint32_t offset = 32, far = RAW_SIZE - 512;
  raw_begin(d.commands);
  vk.CmdDispatch(d.commands, 1, 1, 1);
  assert_violation("no pipeline is bound");
  vk.CmdBindPipeline(d.commands, VK_PIPELINE_BIND_POINT_COMPUTE, d.pipeline);
  vk.CmdDispatch(d.commands, 1, 1, 1);
  assert_violation("no descriptor set is bound");
  vk.CmdBindDescriptorSets(d.commands, VK_PIPELINE_BIND_POINT_COMPUTE, d.layout, 0, 1, &d.set, 0, NULL);
  assert_violation("0 dynamic offsets, the set has 1");
  vk.CmdBindDescriptorSets(d.commands, VK_PIPELINE_BIND_POINT_COMPUTE, d.layout, 0, 1, &d.set, 1, &offset);
  assert_violation("is not aligned");
  assert_int_equal(vk.ResetCommandPool(d.device, d.pool, 0), VK_SUCCESS);
  record_dispatch(far);
  assert_int_equal(raw_submit(&d, 0, d.commands, 0, 1), VK_SUCCESS);
  assert_violation("a dispatch reads 1024 bytes of arguments at 3584");
}

/* What the dispatches of a test were told. */
static nulldriver_dispatch told;

static void tell(const nulldriver_dispatch *dispatch, void *user) {
  told = *dispatch;
  ++*(int *)user;
}

static void a_test_can_run_dispatches(void **state) {
  (void)state;
  int calls = 0;
  nulldriver_set_kernel(tell, &calls);
  record_dispatch(64);
  assert_int_equal(raw_submit(&d, 0, d.commands, 0, 1), VK_SUCCESS);
  assert_int_equal(calls, 1);
  assert_int_equal(told.arguments_size, 1024);
  assert_int_equal(told.groups[0], 1);
  assert_int_equal(told.code[0], 0x07230203);
  assert_int_equal(nulldriver_violations(), 0);
}

static void leaks_are_counted_by_kind(void **state) {
  (void)state;
  raw_device other = {.semaphore = VK_NULL_HANDLE};
  raw_open(&other);
  vk.DestroyDevice(other.device, NULL);
  const char *const kinds[] = {
      "3 objects of kind VkDeviceMemory",   "3 objects of kind VkBuffer",    "1 objects of kind VkDescriptorSetLayout",
      "1 objects of kind VkPipelineLayout", "1 objects of kind VkPipeline",  "1 objects of kind VkDescriptorPool",
      "1 objects of kind VkCommandPool",    "1 objects of kind VkSemaphore", "1 objects of kind VkQueryPool"};
  const uint32_t count = sizeof(kinds) / sizeof(kinds[0]);
  assert_int_equal(nulldriver_violations(), count);
  for (uint32_t i = 0; i < count; ++i) {
    assert_non_null(strstr(nulldriver_violation(i), kinds[i]));
  }
  vk.DestroyInstance(other.instance, NULL);
}

static void devices_end_idle(void **state) {
  (void)state;
  hold_copy();
  raw_device gone = d;
  vk.DestroyDevice(d.device, NULL);
  assert_non_null(strstr(nulldriver_violation(0), "submissions are in flight"));
  vk.DestroyInstance(gone.instance, NULL);
  memset(&d, 0, sizeof(d));
  raw_open(&d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_rule, close_all)
      CASE(eager_work_is_done_when_submit_returns),
      CASE(lazy_work_is_done_when_waited_for),
      CASE(late_work_is_done_after_so_many_looks),
      CASE(held_work_waits_for_the_test),
      CASE(threaded_work_is_done_by_itself),
      CASE(shuffled_work_overtakes_between_queues),
      CASE(queues_and_semaphores_keep_order_in_every_mode),
      CASE(timestamps_rise),
      CASE(timestamps_are_copied),
      CASE(the_nth_call_fails_once),
      CASE(a_lost_device_says_so),
      CASE(memory_has_its_limits),
      CASE(addresses_are_distinct_and_no_host_addresses),
      CASE(one_thread_at_a_time_per_queue),
      CASE(one_thread_at_a_time_per_pool_and_its_buffers),
      CASE(one_thread_at_a_time_per_descriptor_pool),
      CASE(values_rise),
      CASE(nobody_waits_for_what_is_not_submitted),
      CASE(dead_handles_are_known),
      CASE(pools_in_flight_stay),
      CASE(buffers_and_memory_in_flight_stay),
      CASE(semaphores_in_flight_stay),
      CASE(pipelines_and_descriptors_in_flight_stay),
      CASE(pipeline_caches_keep_their_rules),
      CASE(pipeline_caches_give_and_take_what_they_know),
      CASE(queries_in_flight_stay),
      CASE(copies_of_queries_keep_their_rules),
      CASE(copied_queries_are_written_and_stay),
      CASE(pools_of_copied_queries_live_until_submission),
      CASE(command_buffers_are_submitted_once_and_ready),
      CASE(recorded_handles_live_until_submission),
      CASE(memory_lives_until_submission),
      CASE(copies_stay_in_their_buffers),
      CASE(dispatches_have_what_they_need),
      CASE(a_test_can_run_dispatches),
      CASE(leaks_are_counted_by_kind),
      CASE(devices_end_idle),
#undef CASE
  };
  return cmocka_run_group_tests_name("nulldriver", tests, NULL, NULL);
}
