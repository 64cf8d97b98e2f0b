/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/chunk.h"

#include <string.h>

#include "core/gate.h"
#include "core/status.h"
#include "core/sync.h"
#include "device/budget.h"
#include "device/buffer.h"
#include "device/device.h"
#include "device/pipeline.h"
#include "policy/allocation.h"

static const uint64_t standard_size[LEATI_CHUNK_KINDS] = {
    [LEATI_CHUNK_ARGUMENTS] = LEATI_CHUNK_ARGUMENTS_SIZE,
    [LEATI_CHUNK_UPLOAD] = LEATI_CHUNK_COPY_SIZE,
    [LEATI_CHUNK_DOWNLOAD] = LEATI_CHUNK_COPY_SIZE,
};

/* Chunks of standard size have free lists by user, and what those do not keep is for all. */
enum { COMMON = LEATI_CHUNK_USERS, LARGE, SHELVES };

/* Free chunks. */
typedef struct free_list {
  _Alignas(LEATI_CACHE_LINE) leati_mutex lock; /* guards everything below */
  leati_chunk *free[LEATI_CHUNK_KINDS];        /* what was given last comes first */
  uint64_t bytes;                              /* of the chunks on it */
  uint64_t gives;                              /* chunks that were ever given to it */
} free_list;
LEATI_OWN_LINE(free_list);

struct leati_chunks {
  free_list free_lists[SHELVES];
  leati_mutex making[LEATI_CHUNK_KINDS]; /* one thread at a time makes chunks of standard size */
  leati_chunk *reserve; /* NULL: there was no memory for it; set once. The thread that has the role uses it */
  leati_role reserve_taken;
  /* Taken from the driver. Relaxed: for statistics only. */
  _Atomic uint64_t driver_bytes;
};

/* Returns the bytes that went back to the driver. */
static uint64_t leave_slab(leat_device *device, leati_slab *slab) {
  const uint64_t bytes = leati_slab_leave(device, slab);
  (void)atomic_fetch_sub_explicit(&device->chunks->driver_bytes, bytes, memory_order_relaxed);
  return bytes;
}

/* The same. */
static uint64_t destroy_chunk(leat_device *device, leati_chunk *chunk) {
  const leati_vk_device *const vk = &device->vk;
  (void)atomic_fetch_add_explicit(&device->destroyed, 1, memory_order_release);
  if (chunk->descriptor_pool != VK_NULL_HANDLE) {
    vk->DestroyDescriptorPool(vk->handle, chunk->descriptor_pool, NULL);
  }
  if (chunk->buffer != VK_NULL_HANDLE) {
    vk->DestroyBuffer(vk->handle, chunk->buffer, NULL);
  }
  const uint64_t bytes = chunk->slab != NULL ? leave_slab(device, chunk->slab) : 0;
  leati_free(chunk->draft);
  leati_free(chunk);
  return bytes;
}

/* The same. */
static uint64_t destroy_chunks(leat_device *device, leati_chunk *chunks) {
  uint64_t bytes = 0;
  while (chunks != NULL) {
    leati_chunk *const next = chunks->next;
    bytes += destroy_chunk(device, chunks);
    chunks = next;
  }
  return bytes;
}

static int32_t make_set(leat_device *device, leati_chunk *chunk, leat_error *err) {
  const leati_vk_device *const vk = &device->vk;
  const VkDescriptorPoolSize size = {.type = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC, .descriptorCount = 1};
  const VkDescriptorPoolCreateInfo pool = {
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, .maxSets = 1, .poolSizeCount = 1, .pPoolSizes = &size};
  VkResult result = vk->CreateDescriptorPool(vk->handle, &pool, NULL, &chunk->descriptor_pool);
  if (result != VK_SUCCESS) {
    chunk->descriptor_pool = VK_NULL_HANDLE;
    return leati_device_fail(device, result, "vkCreateDescriptorPool", err);
  }
  const VkDescriptorSetAllocateInfo allocation = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                                  .descriptorPool = chunk->descriptor_pool,
                                                  .descriptorSetCount = 1,
                                                  .pSetLayouts = &device->set_layout};
  result = vk->AllocateDescriptorSets(vk->handle, &allocation, &chunk->set);
  if (result != VK_SUCCESS) {
    return leati_device_fail(device, result, "vkAllocateDescriptorSets", err);
  }
  const VkDescriptorBufferInfo window = {.buffer = chunk->buffer, .offset = 0, .range = LEATI_ARGS_MAX};
  const VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                      .dstSet = chunk->set,
                                      .descriptorCount = 1,
                                      .descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC,
                                      .pBufferInfo = &window};
  vk->UpdateDescriptorSets(vk->handle, 1, &write, 0, NULL);
  return LEAT_OK;
}

/* Makes the buffer of a chunk, which needs memory then. */
static int32_t make_buffer(leat_device *device, leati_chunk *chunk, VkMemoryRequirements *out_needs, leat_error *err) {
  const leati_vk_device *const vk = &device->vk;
  const VkBufferUsageFlags usage[LEATI_CHUNK_KINDS] = {
      VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT | VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
          VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT,
      VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT,
      /* The reserve, which is one of these, is copied from, too. */
      VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
          VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT};
  if (chunk->kind == LEATI_CHUNK_ARGUMENTS) {
    chunk->draft = leati_calloc(1, chunk->size);
    if (chunk->draft == NULL) {
      return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for argument records");
    }
  }
  const VkBufferCreateInfo buffer = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = chunk->size,
                                     .usage = usage[chunk->kind],
                                     .sharingMode = VK_SHARING_MODE_EXCLUSIVE};
  const VkResult result = vk->CreateBuffer(vk->handle, &buffer, NULL, &chunk->buffer);
  if (result != VK_SUCCESS) {
    chunk->buffer = VK_NULL_HANDLE;
    return leati_device_fail(device, result, "vkCreateBuffer for staging", err);
  }
  return leati_buffer_needs(device, chunk->buffer, chunk->size, out_needs, err);
}

/* Lays a chunk into a slab, `offset` bytes from its begin. */
static int32_t lay_chunk(leat_device *device, leati_chunk *chunk, leati_slab *slab, uint64_t offset, leat_error *err) {
  const leati_vk_device *const vk = &device->vk;
  leati_slab_join(slab);
  chunk->slab = slab;
  chunk->mapped = slab->mapped + offset;
  const VkResult result = vk->BindBufferMemory(vk->handle, chunk->buffer, slab->memory, offset);
  if (result != VK_SUCCESS) {
    return leati_device_fail(device, result, "vkBindBufferMemory for staging", err);
  }
  LEATI_TRY(leati_buffer_address(device, chunk->buffer, chunk->size, &chunk->address, err));
  return chunk->kind == LEATI_CHUNK_ARGUMENTS ? make_set(device, chunk, err) : LEAT_OK;
}

/* Makes a slab of so many bytes for chunks of a kind. */
static int32_t make_slab(leat_device *device, leati_chunk_kind kind, uint64_t size, uint32_t allowed, leati_slab **out,
                         leat_error *err) {
  /* Device-local mapped memory is scarce on some devices: plain mapped memory serves as well, only slower. */
  const uint32_t types[2] = {
      kind == LEATI_CHUNK_DOWNLOAD ? device->download_memory_type : device->upload_memory_type,
      leati_physical_memory_type(device->physical,
                                 VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT, 0,
                                 VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT)};
  LEATI_TRY(leati_slab_create(device, size, types, allowed, out, err));
  (void)atomic_fetch_add_explicit(&device->chunks->driver_bytes, (*out)->size, memory_order_relaxed);
  return LEAT_OK;
}

/* Makes a chunk of those that lie in one slab, which is made for `count` with the first of them. */
static int32_t make_chunk(leat_device *device, leati_chunk *chunk, uint32_t number, uint32_t count,
                          leati_slab **inout_slab, leat_error *err) {
  VkMemoryRequirements needs;
  LEATI_TRY(make_buffer(device, chunk, &needs, err));
  /* Each begins where a chunk by itself would, for whatever alignment is promised of its parts. */
  const uint64_t alignment = needs.alignment > LEATI_CHUNK_GRANULE ? needs.alignment : LEATI_CHUNK_GRANULE;
  const uint64_t stride = (needs.size + alignment - 1) / alignment * alignment;
  if (*inout_slab == NULL) {
    LEATI_TRY(make_slab(device, chunk->kind, (count - 1) * stride + needs.size, needs.memoryTypeBits, inout_slab, err));
  }
  return lay_chunk(device, chunk, *inout_slab, number * stride, err);
}

/* Makes chunks in one slab, linked by `next`. */
static int32_t make_chunks(leat_device *device, leati_chunk_kind kind, uint64_t size, uint32_t count, leati_chunk **out,
                           leat_error *err) {
  leati_chunk *made = NULL;
  leati_slab *slab = NULL;
  int32_t status = LEAT_OK;
  for (uint32_t i = 0; i < count && status == LEAT_OK; ++i) {
    leati_chunk *const chunk = leati_calloc(1, sizeof(*chunk));
    if (chunk == NULL) {
      status = leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for staging");
      break;
    }
    *chunk = (leati_chunk){.next = made, .kind = kind, .size = size};
    made = chunk;
    status = make_chunk(device, chunk, i, count, &slab, err);
  }
  if (status != LEAT_OK) {
    (void)destroy_chunks(device, made);
  }
  if (slab != NULL) {
    leave_slab(device, slab);
  }
  if (status == LEAT_OK) {
    *out = made;
  }
  return status;
}

/* The first place to look for a chunk of a size. */
static free_list *free_list_of(struct leati_chunks *chunks, leati_chunk_kind kind, uint64_t size, uint32_t user) {
  return &chunks->free_lists[size > standard_size[kind] ? LARGE : user % LEATI_CHUNK_USERS];
}

uint64_t leati_chunks_size(leati_chunk_kind kind, uint64_t size) {
  return leati_chunk_size_for(standard_size[kind], size);
}

uint64_t leati_chunks_bytes(leat_device *device) {
  return atomic_load_explicit(&device->chunks->driver_bytes, memory_order_relaxed);
}

/* Takes those chunks of a kind off a free list whose slab nobody uses, or all. `lock` held. */
static leati_chunk *take_idle(free_list *s, leati_chunk_kind kind, bool all) LEATI_HOLDS(s->lock) {
  leati_chunk *idle = NULL;
  for (leati_chunk **at = &s->free[kind]; *at != NULL;) {
    leati_chunk *const chunk = *at;
    if (!all && atomic_load_explicit(&chunk->slab->busy, memory_order_relaxed) != 0) {
      at = &chunk->next;
      continue;
    }
    *at = chunk->next;
    s->bytes -= chunk->size;
    chunk->next = idle;
    idle = chunk;
  }
  return idle;
}

/* Returns the bytes that went back to the driver. */
static uint64_t clear(leat_device *device, free_list *s, bool all) {
  leati_chunk *lists[LEATI_CHUNK_KINDS];
  leati_mutex_lock(&s->lock);
  for (int i = 0; i < LEATI_CHUNK_KINDS; ++i) {
    lists[i] = take_idle(s, (leati_chunk_kind)i, all);
  }
  leati_mutex_unlock(&s->lock);
  uint64_t bytes = 0;
  for (int i = 0; i < LEATI_CHUNK_KINDS; ++i) {
    bytes += destroy_chunks(device, lists[i]);
  }
  return bytes;
}

uint64_t leati_chunks_trim(leat_device *device) {
  uint64_t bytes = 0;
  for (int i = 0; i < SHELVES; ++i) {
    bytes += clear(device, &device->chunks->free_lists[i], false);
  }
  return bytes;
}

/* Takes the first chunk that is large enough, or NULL. */
static leati_chunk *pop_fitting(free_list *s, leati_chunk_kind kind, uint64_t size) {
  leati_mutex_lock(&s->lock);
  leati_chunk **at = &s->free[kind];
  while (*at != NULL && (*at)->size < size) {
    at = &(*at)->next;
  }
  leati_chunk *const chunk = *at;
  if (chunk != NULL) {
    *at = chunk->next;
    s->bytes -= chunk->size;
  }
  leati_mutex_unlock(&s->lock);
  return chunk;
}

/* Puts a chunk on a free list. False: there would be more than `most` bytes on it. `lock` held. */
static bool put(free_list *s, leati_chunk *chunk, uint64_t most) LEATI_HOLDS(s->lock) {
  const bool fits = s->bytes + chunk->size <= most;
  if (fits) {
    s->bytes += chunk->size;
    chunk->number = ++s->gives;
    chunk->next = s->free[chunk->kind];
    s->free[chunk->kind] = chunk;
  }
  return fits;
}

/* The same, without the lock. */
static bool push(free_list *s, leati_chunk *chunk, uint64_t most) {
  leati_mutex_lock(&s->lock);
  const bool fits = put(s, chunk, most);
  leati_mutex_unlock(&s->lock);
  return fits;
}

/* Takes the chunk that was given first of those that there are. `lock` held. */
static leati_chunk *pop_oldest(free_list *s) LEATI_HOLDS(s->lock) {
  leati_chunk **oldest = NULL;
  for (int i = 0; i < LEATI_CHUNK_KINDS; ++i) {
    leati_chunk **at = &s->free[i];
    while (*at != NULL && (*at)->next != NULL) {
      at = &(*at)->next;
    }
    if (*at != NULL && (oldest == NULL || (*at)->number < (*oldest)->number)) {
      oldest = at;
    }
  }
  leati_chunk *const chunk = *oldest;
  *oldest = NULL;
  s->bytes -= chunk->size;
  return chunk;
}

/* Puts a chunk on a free list of up to `most` bytes, in place of those that were given first, whose sizes are the least
 * likely to be needed again. Gives what it has no room for. */
static leati_chunk *push_over(free_list *s, leati_chunk *chunk, uint64_t most) {
  leati_chunk *out = NULL;
  leati_mutex_lock(&s->lock);
  while (chunk->size <= most && s->bytes > most - chunk->size) {
    leati_chunk *const oldest = pop_oldest(s);
    oldest->next = out;
    out = oldest;
  }
  if (!put(s, chunk, most)) {
    chunk->next = out;
    out = chunk;
  }
  leati_mutex_unlock(&s->lock);
  return out;
}

/* How many chunks of standard size are made at once: one where the slabs of all kinds would not fit. */
static uint32_t slab_count(const leat_device *device) {
  const uint64_t used = leati_budget_committed(device), limit = leati_budget_limit(device);
  uint64_t all = 0;
  for (int i = 0; i < LEATI_CHUNK_KINDS; ++i) {
    all += LEATI_CHUNKS_PER_SLAB * standard_size[i];
  }
  return used <= limit && limit - used >= 2 * all ? LEATI_CHUNKS_PER_SLAB : 1;
}

/* Makes a chunk of standard size, and some more for those who come next: threads that begin together would each wait
 * for the driver, which gives them memory one after the other and takes about as long for one chunk as for all. */
static int32_t make_standard(leat_device *device, leati_chunk_kind kind, leati_chunk **out, leat_error *err) {
  struct leati_chunks *const chunks = device->chunks;
  const uint64_t size = standard_size[kind];
  const uint32_t count = slab_count(device);
  int32_t status = LEAT_OK;
  leati_mutex_lock(&chunks->making[kind]);
  *out = pop_fitting(&chunks->free_lists[COMMON], kind, size);
  if (*out == NULL) {
    status = make_chunks(device, kind, size, count, out, err);
    if (status == LEAT_ERROR_OUT_OF_MEMORY && count != 1) {
      leati_forget(err);
      status = make_chunks(device, kind, size, 1, out, err);
    }
    for (leati_chunk *at = status == LEAT_OK ? (*out)->next : NULL, *next; at != NULL; at = next) {
      next = at->next;
      (void)push(&chunks->free_lists[COMMON], at, UINT64_MAX);
    }
  }
  leati_mutex_unlock(&chunks->making[kind]);
  return status;
}

int32_t leati_chunks_take(leat_device *device, uint32_t user, leati_chunk_kind kind, uint64_t size, leati_chunk **out,
                          leat_error *err) {
  leati_chunk *chunk = pop_fitting(free_list_of(device->chunks, kind, size, user), kind, size);
  if (chunk == NULL && size > standard_size[kind]) {
    LEATI_TRY(make_chunks(device, kind, leati_chunks_size(kind, size), 1, &chunk, err));
  } else if (chunk == NULL) {
    chunk = pop_fitting(&device->chunks->free_lists[COMMON], kind, size);
  }
  if (chunk == NULL) {
    LEATI_TRY(make_standard(device, kind, &chunk, err));
  }
  (void)atomic_fetch_add_explicit(&chunk->slab->busy, 1, memory_order_relaxed);
  chunk->user = user;
  chunk->used = 0;
  chunk->next = NULL;
  *out = chunk;
  return LEAT_OK;
}

/* Puts a chunk where the next thread that needs it looks. Gives chunks that are not kept. */
static leati_chunk *keep(struct leati_chunks *chunks, leati_chunk *chunk) {
  free_list *const s = free_list_of(chunks, chunk->kind, chunk->size, chunk->user);
  if (s == &chunks->free_lists[LARGE]) {
    return push_over(s, chunk, LEATI_CHUNKS_LARGE_KEPT_MAX);
  }
  if (!push(s, chunk, LEATI_CHUNKS_OWN_KEPT_MAX)) {
    (void)push(&chunks->free_lists[COMMON], chunk, UINT64_MAX);
  }
  return NULL;
}

void leati_chunks_give(leat_device *device, leati_chunk *chunks) {
  while (chunks != NULL) {
    leati_chunk *const next = chunks->next;
    (void)atomic_fetch_sub_explicit(&chunks->slab->busy, 1, memory_order_relaxed);
    (void)destroy_chunks(device, keep(device->chunks, chunks));
    chunks = next;
  }
}

int32_t leati_chunks_create(leat_device *device, leat_error *err) {
  device->chunks = leati_calloc_line(sizeof(*device->chunks));
  if (device->chunks == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for staging");
  }
  for (int i = 0; i < SHELVES; ++i) {
    leati_mutex_init(&device->chunks->free_lists[i].lock, LEATI_RANK_STAGING);
  }
  for (int i = 0; i < LEATI_CHUNK_KINDS; ++i) {
    leati_mutex_init(&device->chunks->making[i], LEATI_RANK_SLABS);
  }
  /* A device that has no memory for it does without. */
  (void)make_chunks(device, LEATI_CHUNK_DOWNLOAD, LEATI_RESERVE_SIZE, 1, &device->chunks->reserve, NULL);
  return LEAT_OK;
}

void leati_chunks_destroy(leat_device *device) {
  if (device->chunks == NULL) {
    return;
  }
  (void)destroy_chunks(device, device->chunks->reserve);
  for (int i = 0; i < SHELVES; ++i) {
    (void)clear(device, &device->chunks->free_lists[i], true);
    leati_mutex_destroy(&device->chunks->free_lists[i].lock);
  }
  for (int i = 0; i < LEATI_CHUNK_KINDS; ++i) {
    leati_mutex_destroy(&device->chunks->making[i]);
  }
  leati_free(device->chunks);
  device->chunks = NULL;
}

leati_chunk *leati_chunks_take_reserve(leat_device *device) {
  struct leati_chunks *const chunks = device->chunks;
  leati_assert_unlocked();
  while (chunks->reserve != NULL && !leati_role_wait(&chunks->reserve_taken, LEATI_GATE_LOOK_NS)) {
    leati_gate_check();
  }
  return chunks->reserve;
}

void leati_chunks_give_reserve(leat_device *device) {
  leati_role_leave(&device->chunks->reserve_taken);
}
