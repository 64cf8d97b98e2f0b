/* SPDX-License-Identifier: BSD-3-Clause */
#include "nulldriver/objects.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "nulldriver/races.h"

/* Handles: 16 bits of tag, 8 of kind, 24 of generation, 16 of slot. */
#define TAG UINT64_C(0x4e44)
#define SLOTS 65536
#define GENERATIONS 0xffffffu

typedef struct slot {
  nd_object *object;  /* guarded by the driver's lock */
  uint32_t next_free; /* likewise */
  _Atomic uint64_t
      handle;             /* of `object`, 0 when it is dead. Relaxed, like the two below: nothing is ordered by them. */
  _Atomic uint32_t guard; /* slot whose `busy` stands for this one */
  _Atomic uint32_t busy;  /* a thread is in a call that Vulkan wants it to be alone in */
  unsigned mark;          /* stands for the object's state before the thread sanitizer */
} slot;

static slot slots[SLOTS];
/* Guarded by the driver's lock. */
static uint32_t first_free, slots_used;
static uint32_t generation;
static uint32_t live[NULLDRIVER_KINDS];

const char *nd_kind_name(nulldriver_kind kind) {
  static const char *const kind_names[NULLDRIVER_KINDS] = {
      [NULLDRIVER_INSTANCE] = "VkInstance",
      [NULLDRIVER_DEVICE] = "VkDevice",
      [NULLDRIVER_QUEUE] = "VkQueue",
      [NULLDRIVER_MEMORY] = "VkDeviceMemory",
      [NULLDRIVER_BUFFER] = "VkBuffer",
      [NULLDRIVER_SHADER_MODULE] = "VkShaderModule",
      [NULLDRIVER_SET_LAYOUT] = "VkDescriptorSetLayout",
      [NULLDRIVER_PIPELINE_LAYOUT] = "VkPipelineLayout",
      [NULLDRIVER_PIPELINE_CACHE] = "VkPipelineCache",
      [NULLDRIVER_PIPELINE] = "VkPipeline",
      [NULLDRIVER_DESCRIPTOR_POOL] = "VkDescriptorPool",
      [NULLDRIVER_DESCRIPTOR_SET] = "VkDescriptorSet",
      [NULLDRIVER_COMMAND_POOL] = "VkCommandPool",
      [NULLDRIVER_COMMAND_BUFFER] = "VkCommandBuffer",
      [NULLDRIVER_SEMAPHORE] = "VkSemaphore",
      [NULLDRIVER_QUERY_POOL] = "VkQueryPool",
  };
  return kind > 0 && kind < NULLDRIVER_KINDS ? kind_names[kind] : "a handle of no kind";
}

static nulldriver_kind kind_of(uint64_t handle) {
  return (nulldriver_kind)(handle >> 40 & 0xffu);
}

static slot *slot_of(uint64_t handle) {
  return &slots[handle & (SLOTS - 1)];
}

static bool is_live(uint64_t handle) {
  return handle != 0 && atomic_load_explicit(&slot_of(handle)->handle, memory_order_relaxed) == handle;
}

/* Lets the sanitizer see the mark read or written. */
static void see_mark(slot *s, bool written) {
  volatile unsigned *const mark = &s->mark;
  nd_races_seen();
  if (written) {
    *mark = *mark + 1;
  } else {
    (void)*mark;
  }
  nd_races_unseen();
}

void *nd_object_create(nulldriver_kind kind, size_t size, nd_device *device) {
  if (first_free == 0 && slots_used == SLOTS - 1) {
    return NULL;
  }
  nd_object *const object = calloc(1, size);
  if (object == NULL) {
    return NULL;
  }
  uint32_t index = first_free;
  if (index != 0) {
    first_free = slots[index].next_free;
  } else {
    index = ++slots_used;
  }
  slot *const s = &slots[index];
  generation = generation == GENERATIONS ? 1 : generation + 1;
  object->kind = kind;
  object->device = device;
  object->handle = TAG << 48 | (uint64_t)kind << 40 | (uint64_t)generation << 16 | index;
  s->object = object;
  atomic_store_explicit(&s->guard, index, memory_order_relaxed);
  atomic_store_explicit(&s->handle, object->handle, memory_order_relaxed);
  ++live[kind];
  nd_races_after(&s->mark);
  see_mark(s, true);
  return object;
}

static void finish(nd_object *object) {
  switch (object->kind) {
    case NULLDRIVER_MEMORY:
      nd_memory_finish((nd_memory *)object);
      break;
    case NULLDRIVER_BUFFER:
      nd_buffer_finish((nd_buffer *)object);
      break;
    case NULLDRIVER_COMMAND_BUFFER:
      nd_command_buffer_finish((nd_command_buffer *)object);
      break;
    case NULLDRIVER_QUERY_POOL:
      nd_query_pool_finish((nd_query_pool *)object);
      break;
    case NULLDRIVER_SEMAPHORE:
      nd_semaphore_finish((nd_semaphore *)object);
      break;
    case NULLDRIVER_PIPELINE_CACHE:
      nd_pipeline_cache_finish((nd_pipeline_cache *)object);
      break;
    default:
      break;
  }
  free(object);
}

void nd_object_destroy(const char *function, nd_object *object) {
  const uint32_t index = (uint32_t)(object->handle & (SLOTS - 1));
  slot *const s = &slots[index];
  if (nd_object_in_use(object)) {
    nd_violation(function, "%s 0x%llx is destroyed while %u submissions in flight use it", nd_kind_name(object->kind),
                 (unsigned long long)object->handle, object->in_flight);
  }
  --live[object->kind];
  atomic_store_explicit(&s->handle, 0, memory_order_relaxed);
  nd_races_before(&s->mark);
  s->object = NULL;
  s->next_free = first_free;
  first_free = index;
  object->destroyed = true;
  if (object->in_flight == 0) {
    finish(object);
  }
}

void *nd_object_peek(nulldriver_kind kind, uint64_t handle) {
  return is_live(handle) && kind_of(handle) == kind ? slot_of(handle)->object : NULL;
}

static void *find(const char *function, nulldriver_kind kind, uint64_t handle, bool written) {
  if (nd_object_peek(kind, handle) != NULL) {
    see_mark(slot_of(handle), written);
    return slot_of(handle)->object;
  }
  const bool ours = handle >> 48 == TAG;
  nd_violation(function, "0x%llx is %s where a live %s is due", (unsigned long long)handle,
               handle == 0               ? "no handle"
               : !ours                   ? "no handle of this driver"
               : is_live(handle)         ? nd_kind_name(kind_of(handle))
               : kind_of(handle) == kind ? "destroyed"
                                         : "a destroyed handle of another kind",
               nd_kind_name(kind));
  return NULL;
}

void *nd_object_find(const char *function, nulldriver_kind kind, uint64_t handle) {
  return find(function, kind, handle, false);
}

void *nd_object_find_to_change(const char *function, nulldriver_kind kind, uint64_t handle) {
  return find(function, kind, handle, true);
}

bool nd_object_in_use(const nd_object *object) {
  return object->in_flight != 0 && !object->device->lost;
}

void nd_object_use(nd_object *object) {
  ++object->in_flight;
}

void nd_object_unuse(nd_object *object) {
  if (--object->in_flight == 0 && object->destroyed) {
    finish(object);
  }
}

void nd_object_set_guard(nd_object *object, const nd_object *guard) {
  atomic_store_explicit(&slot_of(object->handle)->guard, (uint32_t)(guard->handle & (SLOTS - 1)), memory_order_relaxed);
}

void nd_objects_end(const char *function, const nd_device *device) {
  uint32_t counts[NULLDRIVER_KINDS] = {0};
  for (uint32_t i = 1; i <= slots_used; ++i) {
    nd_object *const object = slots[i].object;
    if (object == NULL || object->device != device) {
      continue;
    }
    /* Queues have no function that destroys them; buffers and sets go with their pools. */
    if (object->kind != NULLDRIVER_QUEUE && object->kind != NULLDRIVER_COMMAND_BUFFER &&
        object->kind != NULLDRIVER_DESCRIPTOR_SET) {
      ++counts[object->kind];
    }
    object->in_flight = 0;
    nd_object_destroy(function, object);
  }
  for (uint32_t i = 1; i < NULLDRIVER_KINDS; ++i) {
    if (counts[i] != 0) {
      nd_violation(function, "%u objects of kind %s are alive", counts[i], nd_kind_name((nulldriver_kind)i));
    }
  }
}

bool nd_guard_enter(const char *function, uint64_t handle, uint32_t *out_slot) {
  if (!is_live(handle)) {
    return false;
  }
  *out_slot = atomic_load_explicit(&slot_of(handle)->guard, memory_order_relaxed);
  slot *const s = &slots[*out_slot];
  if (atomic_exchange_explicit(&s->busy, 1, memory_order_relaxed) != 0) {
    nd_lock();
    nd_violation(function, "two threads are in calls that use %s 0x%llx at once", nd_kind_name(kind_of(handle)),
                 (unsigned long long)handle);
    nd_unlock();
    return false;
  }
  ++s->mark;
  return true;
}

void nd_guard_leave(uint32_t slot_index) {
  atomic_store_explicit(&slots[slot_index].busy, 0, memory_order_relaxed);
}

uint32_t nulldriver_live(nulldriver_kind kind) {
  nd_lock();
  const uint32_t count = kind > 0 && kind < NULLDRIVER_KINDS ? live[kind] : 0;
  nd_unlock();
  return count;
}
