/* SPDX-License-Identifier: BSD-3-Clause */
#include "nulldriver/raw.h"

#include <stdio.h>
#include <stdlib.h>

raw_functions vk;

/* The loader's entry, which the library exports. */
extern PFN_vkVoidFunction vkGetInstanceProcAddr(VkInstance instance, const char *name);

/* Ends the process when a call that prepares a test fails: nothing of the test would mean anything. */
static void need(VkResult result, const char *what) {
  if (result != VK_SUCCESS) {
    (void)fprintf(stderr, "%s: result %d\n", what, (int)result);
    exit(2);
  }
}
#define NEED(call) need((call), #call)

static void make_device(raw_device *d) {
#define LOAD(name) vk.name = (PFN_vk##name)vkGetInstanceProcAddr(VK_NULL_HANDLE, "vk" #name);
  NULLDRIVER_FUNCTIONS(LOAD)
#undef LOAD
  const VkInstanceCreateInfo instance = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  NEED(vk.CreateInstance(&instance, NULL, &d->instance));
  uint32_t count = 1;
  NEED(vk.EnumeratePhysicalDevices(d->instance, &count, &d->physical));
  const float priorities[2] = {1.0f, 1.0f};
  const VkDeviceQueueCreateInfo queues = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                          .queueFamilyIndex = 1,
                                          .queueCount = 2,
                                          .pQueuePriorities = priorities};
  VkPhysicalDeviceVulkan12Features features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
                                               .timelineSemaphore = VK_TRUE,
                                               .hostQueryReset = VK_TRUE};
  const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                   .pNext = &features,
                                   .queueCreateInfoCount = 1,
                                   .pQueueCreateInfos = &queues};
  NEED(vk.CreateDevice(d->physical, &info, NULL, &d->device));
  vk.GetDeviceQueue(d->device, 1, 0, &d->queues[0]);
  vk.GetDeviceQueue(d->device, 1, 1, &d->queues[1]);
}

void raw_buffer(raw_device *d, VkBuffer *out, VkDeviceMemory *out_memory, unsigned char **out_bytes) {
  const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                   .size = RAW_SIZE,
                                   .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                                            VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT |
                                            VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT};
  const VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                           .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
  const VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                       .pNext = &flags,
                                       .allocationSize = RAW_SIZE,
                                       .memoryTypeIndex = 2};
  void *bytes;
  NEED(vk.CreateBuffer(d->device, &info, NULL, out));
  NEED(vk.AllocateMemory(d->device, &memory, NULL, out_memory));
  NEED(vk.BindBufferMemory(d->device, *out, *out_memory, 0));
  NEED(vk.MapMemory(d->device, *out_memory, 0, VK_WHOLE_SIZE, 0, &bytes));
  *out_bytes = bytes;
}

static void make_pipeline(raw_device *d) {
  static const uint32_t code[5] = {0x07230203, 0x00010300, 0, 1, 0};
  const VkDescriptorSetLayoutBinding binding = {.descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC,
                                                .descriptorCount = 1,
                                                .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
  const VkDescriptorSetLayoutCreateInfo set_layout = {
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, .bindingCount = 1, .pBindings = &binding};
  NEED(vk.CreateDescriptorSetLayout(d->device, &set_layout, NULL, &d->set_layout));
  const VkPipelineLayoutCreateInfo layout = {
      .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, .setLayoutCount = 1, .pSetLayouts = &d->set_layout};
  NEED(vk.CreatePipelineLayout(d->device, &layout, NULL, &d->layout));
  const VkShaderModuleCreateInfo module_info = {
      .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = sizeof(code), .pCode = code};
  VkShaderModule module;
  NEED(vk.CreateShaderModule(d->device, &module_info, NULL, &module));
  const VkComputePipelineCreateInfo pipeline = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                                .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                          .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                          .module = module,
                                                          .pName = "main"},
                                                .layout = d->layout};
  NEED(vk.CreateComputePipelines(d->device, VK_NULL_HANDLE, 1, &pipeline, NULL, &d->pipeline));
  vk.DestroyShaderModule(d->device, module, NULL);
}

static void make_set(raw_device *d) {
  const VkDescriptorPoolSize size = {.type = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC, .descriptorCount = 1};
  const VkDescriptorPoolCreateInfo pool = {
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, .maxSets = 1, .poolSizeCount = 1, .pPoolSizes = &size};
  NEED(vk.CreateDescriptorPool(d->device, &pool, NULL, &d->sets));
  const VkDescriptorSetAllocateInfo set = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                           .descriptorPool = d->sets,
                                           .descriptorSetCount = 1,
                                           .pSetLayouts = &d->set_layout};
  NEED(vk.AllocateDescriptorSets(d->device, &set, &d->set));
  const VkDescriptorBufferInfo window = {.buffer = d->arguments, .range = 1024};
  const VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                      .dstSet = d->set,
                                      .descriptorCount = 1,
                                      .descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC,
                                      .pBufferInfo = &window};
  vk.UpdateDescriptorSets(d->device, 1, &write, 0, NULL);
}

void raw_open(raw_device *d) {
  unsigned char *unused;
  make_device(d);
  const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                          .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
  const VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
  NEED(vk.CreateSemaphore(d->device, &semaphore, NULL, &d->semaphore));
  const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, .queueFamilyIndex = 1};
  NEED(vk.CreateCommandPool(d->device, &pool, NULL, &d->pool));
  const VkCommandBufferAllocateInfo commands = {
      .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, .commandPool = d->pool, .commandBufferCount = 1};
  NEED(vk.AllocateCommandBuffers(d->device, &commands, &d->commands));
  raw_buffer(d, &d->a, &d->a_memory, &d->a_bytes);
  raw_buffer(d, &d->b, &d->b_memory, &d->b_bytes);
  raw_buffer(d, &d->arguments, &d->arguments_memory, &unused);
  make_pipeline(d);
  make_set(d);
  const VkQueryPoolCreateInfo queries = {
      .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO, .queryType = VK_QUERY_TYPE_TIMESTAMP, .queryCount = 4};
  NEED(vk.CreateQueryPool(d->device, &queries, NULL, &d->queries));
}

void raw_close(raw_device *d) {
  vk.DestroyQueryPool(d->device, d->queries, NULL);
  vk.DestroyDescriptorPool(d->device, d->sets, NULL);
  vk.DestroyPipeline(d->device, d->pipeline, NULL);
  vk.DestroyPipelineLayout(d->device, d->layout, NULL);
  vk.DestroyDescriptorSetLayout(d->device, d->set_layout, NULL);
  const VkBuffer buffers[3] = {d->a, d->b, d->arguments};
  const VkDeviceMemory memories[3] = {d->a_memory, d->b_memory, d->arguments_memory};
  for (int i = 0; i < 3; ++i) {
    vk.DestroyBuffer(d->device, buffers[i], NULL);
    vk.FreeMemory(d->device, memories[i], NULL);
  }
  vk.DestroyCommandPool(d->device, d->pool, NULL);
  vk.DestroySemaphore(d->device, d->semaphore, NULL);
  vk.DestroyDevice(d->device, NULL);
  vk.DestroyInstance(d->instance, NULL);
}

void raw_begin(VkCommandBuffer commands) {
  const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                         .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
  NEED(vk.BeginCommandBuffer(commands, &info));
}

void raw_record_copy(raw_device *d) {
  const VkBufferCopy region = {.size = RAW_SIZE};
  raw_begin(d->commands);
  vk.CmdCopyBuffer(d->commands, d->a, d->b, 1, &region);
  NEED(vk.EndCommandBuffer(d->commands));
}

VkResult raw_submit(raw_device *d, uint32_t queue, VkCommandBuffer commands, uint64_t wait, uint64_t signal) {
  const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
  const VkTimelineSemaphoreSubmitInfo values = {.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                                .waitSemaphoreValueCount = wait != 0 ? 1 : 0,
                                                .pWaitSemaphoreValues = &wait,
                                                .signalSemaphoreValueCount = signal != 0 ? 1 : 0,
                                                .pSignalSemaphoreValues = &signal};
  const VkSubmitInfo batch = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                              .pNext = &values,
                              .waitSemaphoreCount = values.waitSemaphoreValueCount,
                              .pWaitSemaphores = &d->semaphore,
                              .pWaitDstStageMask = &stage,
                              .commandBufferCount = commands != VK_NULL_HANDLE ? 1 : 0,
                              .pCommandBuffers = &commands,
                              .signalSemaphoreCount = values.signalSemaphoreValueCount,
                              .pSignalSemaphores = &d->semaphore};
  return vk.QueueSubmit(d->queues[queue], 1, &batch, VK_NULL_HANDLE);
}

VkResult raw_wait(raw_device *d, uint64_t value, uint64_t timeout_ns) {
  const VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                    .semaphoreCount = 1,
                                    .pSemaphores = &d->semaphore,
                                    .pValues = &value};
  return vk.WaitSemaphores(d->device, &info, timeout_ns);
}

uint64_t raw_value(raw_device *d) {
  uint64_t value = UINT64_MAX;
  NEED(vk.GetSemaphoreCounterValue(d->device, d->semaphore, &value));
  return value;
}
