/* SPDX-License-Identifier: BSD-3-Clause */
#include "memory.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "budget.h"
#include "chunk.h"
#include "config.h"
#include "device.h"
#include "finding.h"
#include "guard.h"
#include "pages.h"
#include "status.h"
#include "sync.h"

/* Every block begins on this many bytes: what ONNX Runtime plans with, and enough for every kernel's vector loads. */
#define ALIGNMENT UINT64_C(256)
/* Size classes are powers of two with three steps between; the largest one is this. Above it a block is a segment of
 * its own. */
#define CLASS_MAX (UINT64_C(32) << 20)
#define CLASS_COUNT 72
/* Class of everything above CLASS_MAX. */
#define CLASS_LARGE (CLASS_COUNT - 1)
/* A segment holds so many blocks of its class, within these bytes. */
#define BLOCKS_PER_SEGMENT 64u
#define SEGMENT_MIN (UINT64_C(64) << 10)
#define SEGMENT_MAX (UINT64_C(16) << 20)
/* Large blocks are rounded up to this, and one that is cached serves a request down to 3/4 of its size. */
#define LARGE_GRANULE (UINT64_C(2) << 20)
/* Blocks up to this size come from memory that the host has mapped, where the device has such memory of its own, so
 * that small uploads need no command. Larger blocks gain nothing: what fills them is better fetched by the device than
 * sent by the host, and mapping all of a device's memory would only cost page tables. */
#define MAPPED_BLOCK_MAX (UINT64_C(1) << 20)
/* What waits in the quarantine of a class under LEAT_MEMORY_GUARD, at most: so many blocks within so many bytes, yet
 * always one. */
#define QUARANTINE_BLOCKS 16u
#define QUARANTINE_BYTES (UINT64_C(16) << 20)
/* How many of them, the oldest, are looked at whenever a block comes or goes: more are there only while their uses have
 * not passed. When memory is short, and when the device is synchronised, all are looked at. */
#define QUARANTINE_PROBES 64
/* Blocks that the report of leaks names. */
#define LEAKS_NAMED 10
/* How many free blocks an allocation looks at before it takes fresh memory: bounds the cost when many are still in
 * flight. When there is no fresh memory it looks at all of them. */
#define FREE_LIST_PROBES 16
/* A walk through the blocks of a class gives the class's lock up after so many, so that nobody waits long for it. */
#define BLOCKS_PER_HOLD 256u
/* One exported tensor in leati_block::references. */
#define SHARE (UINT64_C(1) << 32)
/* Different timelines that may stamp a block before the oldest uses are waited for in a list on the heap. */
#define INLINE_STAMPS 3

typedef struct segment segment;

struct leati_block {
  segment *home;
  /* Who holds the block; 0 when free. The caller's holds count in the lower half, those of exported tensors by
   * SHARE in the upper half, so that a second free() cannot take what belongs to an exported tensor. The last release
   * makes the block free (acquire-release, so that all uses come before the reuse). */
  _Atomic uint64_t references;
  uint32_t index;
  /* Requested bytes. Written by the allocating thread before the address is known to anybody. Atomic as in segment. */
  _Atomic uint64_t size;
  /* The timeline that uses the block most, for which stamping is one store. `owner` is set by the first stamp after an
   * allocation (under `stamp_lock`); `owner_value` only rises. Read when the block is free. */
  _Atomic(leati_timeline *) owner;
  _Atomic uint64_t owner_value;
  /* Uses by other timelines. */
  leati_mutex stamp_lock; /* guards what follows up to `next_free`, while the block is held */
  uint32_t stamp_count, spilled_capacity;
  leati_stamp stamps[INLINE_STAMPS];
  leati_stamp *spilled;
  bool pinned;            /* never reused again */
  leati_block *next_free; /* this and what follows: guarded by the class's lock */
  leati_block *previous_free;
  uint64_t generation; /* how often it was handed out */
  bool poisoned;       /* under guard, while it waits in the quarantine */
};

struct segment {
  /* Two that are atomic for those who look up an address that they do not hold: meanwhile the segment may be given back
   * and be made anew. What they find then they compare with the address. */
  _Atomic uint64_t address; /* of block 0 */
  _Atomic uint64_t block_size;
  uint64_t size;        /* bytes of all blocks */
  uint64_t driver_size; /* bytes taken from the driver */
  uint64_t buffer_offset;
  VkBuffer buffer;
  VkDeviceMemory memory;
  unsigned char *mapped; /* where the host sees `address`, or NULL */
  leati_pages pages;     /* under guard by pages: where the memory is. The segment is for one block then, once */
  uint32_t class_index;
  uint32_t block_count;
  bool leaving;        /* taken off its class to be given back; guarded by `trim_lock` */
  uint32_t carved;     /* blocks handed out at least once; this and what follows: guarded by the class's lock */
  uint32_t free_count; /* of its blocks, those on the class's free list */
  segment *next;
  leati_block *blocks;
};

/* One size class, on cache lines of its own. */
typedef struct size_class {
  _Alignas(LEATI_CACHE_LINE) leati_mutex lock; /* guards everything below and the free state of the blocks */
  leati_block *first_free;                     /* linked both ways */
  leati_block *first_waiting, *last_waiting;   /* the quarantine under guard, oldest first, linked by `next_free` */
  uint32_t waiting_count;
  segment *segments;   /* they leave under `trim_lock` too */
  segment *retired[2]; /* without device memory: those of several blocks, and those of one */
  uint64_t block_size; /* of the last segment that was made */
  uint64_t live_count, cached_count, reserved_bytes, allocation_count, reuse_count;
} size_class;
LEATI_OWN_LINE(size_class);

/* The table of live segments, sorted by address, for lookups without a lock: a sequence counter that is odd while a
 * writer moves entries. Readers look again when it changed under them. Old arrays are kept until the device closes
 * (they double, so all of them together are smaller than the newest), and segments that were given back keep their host
 * memory for the next one of their class, so a reader never touches freed memory. */
typedef struct segment_entry {
  _Atomic uint64_t address;
  _Atomic uint64_t end;
  _Atomic(segment *) home;
} segment_entry;

typedef struct segment_array {
  struct segment_array *older;
  uint32_t capacity;
  segment_entry entries[];
} segment_array;

struct leati_memory {
  size_class classes[CLASS_COUNT];
  _Alignas(LEATI_CACHE_LINE) _Atomic uint32_t sequence; /* pairs: writers release, readers acquire */
  _Atomic(segment_array *) table;
  _Atomic uint32_t segment_count;
  leati_mutex table_lock; /* guards writes to the table */
  /* Held by the one thread that gives memory back. Segments leave their class only under it, so who has it may give a
   * class's lock up in the middle of a walk through its segments; and who finds memory short while another thread gives
   * some back waits here until the driver has it. */
  leati_mutex trim_lock;
  /* Statistics: each counter is exact by itself. Relaxed, as nothing is ordered by them, but for two pairs: `frees` is
   * raised by release and read by acquire, so that no reader sees more frees than allocations; a peak is raised by
   * release and reset by acquire, so that it never stays below what it is the peak of. */
  _Alignas(LEATI_CACHE_LINE) _Atomic uint64_t allocated, allocated_peak, allocations, frees, cached;
  _Alignas(LEATI_CACHE_LINE) _Atomic uint64_t reserved, reserved_peak, driver_calls, reclaims;
  /* Constant while the device is open. */
  uint32_t mapped_type;     /* memory type for segments that the host maps, or UINT32_MAX */
  uint32_t any_mapped_type; /* under guard: one that buffers may always have */
  bool closing;             /* the device is idle for good, and its timelines are gone */
  bool guard;               /* all segments are mapped, and blocks lie between red zones */
  bool pages;               /* likewise, and each block ends where pages end that may be touched */
  uint64_t front;           /* bytes before each block that belong to it: its red zone, or none */
};
LEATI_APART(struct leati_memory, table_lock, allocated);
LEATI_APART(struct leati_memory, cached, reserved);

/* ---- Size classes -------------------------------------------------------------------------------------------------
 */

/* Class of a request, and the bytes of its blocks. */
static uint32_t class_of(uint64_t size, uint64_t *out_block_size) {
  if (size <= ALIGNMENT) {
    *out_block_size = ALIGNMENT;
    return 0;
  }
  if (size > CLASS_MAX) {
    *out_block_size = (size + LARGE_GRANULE - 1) & ~(LARGE_GRANULE - 1);
    return CLASS_LARGE;
  }
  /* Between 2^k and 2^(k+1) there are four sizes, where those are multiples of the alignment. */
  const unsigned k = 63u - (unsigned)__builtin_clzll(size - 1);
  uint64_t step = UINT64_C(1) << (k >= 2 ? k - 2 : 0);
  if (step < ALIGNMENT) {
    step = ALIGNMENT;
  }
  const uint64_t base = UINT64_C(1) << k;
  const uint64_t steps = (size - base + step - 1) / step;
  *out_block_size = base + steps * step;
  /* 2^8 is class 0; four numbers for every doubling. */
  return (k - 8u) * 4u + (uint32_t)(steps * step * 4u / base);
}

/* The same for a request to this allocator, red zones included. Guarded by pages, every block is of its own size. */
static uint32_t class_for(const struct leati_memory *memory, uint64_t size, uint64_t *out_block_size) {
  if (!memory->pages) {
    return class_of(size + 2 * memory->front, out_block_size);
  }
  *out_block_size = ((size == 0 ? 1 : size) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + LEATI_GUARD_ZONE;
  return CLASS_LARGE;
}

/* ---- The table of live segments ---------------------------------------------------------------------------------- */

static segment *entry_get(const segment_array *array, uint32_t i) {
  return atomic_load_explicit(&array->entries[i].home, memory_order_relaxed);
}

static void entry_set(segment_array *array, uint32_t i, segment *home) {
  atomic_store_explicit(&array->entries[i].address, home->address, memory_order_release);
  atomic_store_explicit(&array->entries[i].end, home->address + home->size, memory_order_release);
  atomic_store_explicit(&array->entries[i].home, home, memory_order_release);
}

/* Makes room for one more entry. `table_lock` held. */
static int32_t table_reserve(struct leati_memory *memory, uint32_t count, leat_error *err) {
  segment_array *const array = atomic_load_explicit(&memory->table, memory_order_relaxed);
  if (array != NULL && count < array->capacity) {
    return LEAT_OK;
  }
  const uint32_t capacity = array == NULL ? 64 : array->capacity * 2;
  segment_array *const grown = leati_calloc(1, sizeof(*grown) + capacity * sizeof(segment_entry));
  if (grown == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for the table of segments");
  }
  grown->capacity = capacity;
  grown->older = array;
  for (uint32_t i = 0; i < count; ++i) {
    entry_set(grown, i, entry_get(array, i));
  }
  atomic_store_explicit(&memory->table, grown, memory_order_release);
  return LEAT_OK;
}

static int32_t table_insert(struct leati_memory *memory, segment *added, leat_error *err) {
  leati_mutex_lock(&memory->table_lock);
  const uint32_t count = atomic_load_explicit(&memory->segment_count, memory_order_relaxed);
  const int32_t status = table_reserve(memory, count, err);
  if (status == LEAT_OK) {
    segment_array *const array = atomic_load_explicit(&memory->table, memory_order_relaxed);
    (void)atomic_fetch_add_explicit(&memory->sequence, 1, memory_order_acq_rel);
    uint32_t at = count;
    for (; at > 0 && entry_get(array, at - 1)->address > added->address; --at) {
      entry_set(array, at, entry_get(array, at - 1));
    }
    entry_set(array, at, added);
    atomic_store_explicit(&memory->segment_count, count + 1, memory_order_release);
    (void)atomic_fetch_add_explicit(&memory->sequence, 1, memory_order_acq_rel);
  }
  leati_mutex_unlock(&memory->table_lock);
  return status;
}

/* Takes out all segments that are leaving. `trim_lock` held. */
static void table_remove_leaving(struct leati_memory *memory) {
  leati_mutex_lock(&memory->table_lock);
  segment_array *const array = atomic_load_explicit(&memory->table, memory_order_relaxed);
  const uint32_t count = atomic_load_explicit(&memory->segment_count, memory_order_relaxed);
  (void)atomic_fetch_add_explicit(&memory->sequence, 1, memory_order_acq_rel);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; ++i) {
    segment *const home = entry_get(array, i);
    if (!home->leaving) {
      entry_set(array, kept++, home);
    }
  }
  atomic_store_explicit(&memory->segment_count, kept, memory_order_release);
  (void)atomic_fetch_add_explicit(&memory->sequence, 1, memory_order_acq_rel);
  leati_mutex_unlock(&memory->table_lock);
}

static segment *table_find(struct leati_memory *memory, uint64_t address) {
  for (;;) {
    const uint32_t before = atomic_load_explicit(&memory->sequence, memory_order_acquire);
    if ((before & 1u) != 0) {
      leati_spin_pause();
      continue;
    }
    segment *home = NULL;
    const segment_array *const array = atomic_load_explicit(&memory->table, memory_order_acquire);
    uint32_t low = 0;
    uint32_t high = atomic_load_explicit(&memory->segment_count, memory_order_acquire);
    if (array == NULL || high > array->capacity) {
      high = 0;
    }
    while (low < high) {
      const uint32_t middle = low + (high - low) / 2;
      const segment_entry *const entry = &array->entries[middle];
      if (address < atomic_load_explicit(&entry->address, memory_order_acquire)) {
        high = middle;
      } else if (address >= atomic_load_explicit(&entry->end, memory_order_acquire)) {
        low = middle + 1;
      } else {
        home = atomic_load_explicit(&entry->home, memory_order_acquire);
        break;
      }
    }
    if (atomic_load_explicit(&memory->sequence, memory_order_acquire) == before) {
      return home;
    }
  }
}

leati_block *leati_memory_find(leat_device *device, uint64_t address) {
  segment *const home = table_find(device->memory, address);
  if (home == NULL) {
    return NULL;
  }
  const uint64_t index = (address - home->address) / home->block_size;
  if (index >= home->block_count) {
    return NULL;
  }
  leati_block *const block = &home->blocks[index];
  return atomic_load_explicit(&block->references, memory_order_acquire) != 0 ? block : NULL;
}

/* ---- Segments -----------------------------------------------------------------------------------------------------
 */

static void driver_free(leat_device *device, segment *s) {
  if (s->buffer != VK_NULL_HANDLE) {
    (void)atomic_fetch_add_explicit(&device->destroyed, 1, memory_order_release);
    device->vk.DestroyBuffer(device->vk.handle, s->buffer, NULL);
  }
  if (s->memory != VK_NULL_HANDLE) {
    device->vk.FreeMemory(device->vk.handle, s->memory, NULL);
  }
  leati_pages_give(&s->pages);
  leati_budget_uncommit(device, s->driver_size);
  s->buffer = VK_NULL_HANDLE;
  s->memory = VK_NULL_HANDLE;
  s->mapped = NULL;
  s->driver_size = 0;
}

/* Takes memory of the first of these types that the driver has some of: mapped memory for small blocks, or the
 * device's own. The first choice may be scarce where it is a part of the memory only. */
static int32_t allocate(leat_device *device, segment *s, uint32_t allowed_types, leat_error *err) {
  const struct leati_memory *const memory = device->memory;
  const bool mapped = memory->mapped_type != UINT32_MAX && (memory->guard || s->block_size <= MAPPED_BLOCK_MAX);
  uint32_t types[2] = {mapped ? memory->mapped_type : device->device_memory_type, device->device_memory_type};
  if (memory->guard) {
    types[1] = memory->any_mapped_type;
  } else if ((allowed_types & (UINT32_C(1) << types[1])) == 0) {
    types[1] = (uint32_t)__builtin_ctz(allowed_types);
  }
  const VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                           .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
  VkMemoryAllocateInfo allocation = {
      .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .pNext = &flags, .allocationSize = s->driver_size};
  VkResult result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
  for (int i = 0; i < 2 && result != VK_SUCCESS; ++i) {
    allocation.memoryTypeIndex = types[i];
    if ((allowed_types & (UINT32_C(1) << types[i])) == 0 || (i == 1 && types[1] == types[0])) {
      continue;
    }
    result = device->vk.AllocateMemory(device->vk.handle, &allocation, NULL, &s->memory);
  }
  if (result != VK_SUCCESS) {
    s->memory = VK_NULL_HANDLE;
    return leati_device_fail(device, result, "vkAllocateMemory", err);
  }
  if (mapped && (memory->guard || allocation.memoryTypeIndex == memory->mapped_type)) {
    void *at;
    result = device->vk.MapMemory(device->vk.handle, s->memory, 0, VK_WHOLE_SIZE, 0, &at);
    if (result == VK_SUCCESS) {
      s->mapped = at;
    } else if (memory->guard) {
      return leati_device_fail(device, result, "vkMapMemory for LEAT_MEMORY_GUARD", err);
    }
  }
  return LEAT_OK;
}

/* Lets the device work in the segment's pages. */
static int32_t import_pages(leat_device *device, segment *s, uint32_t allowed_types, leat_error *err) {
  const VkExternalMemoryHandleTypeFlagBits host = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
  VkMemoryHostPointerPropertiesEXT properties = {.sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
  VkResult result = device->vk.GetMemoryHostPointerPropertiesEXT(device->vk.handle, host, s->pages.begin, &properties);
  if (result != VK_SUCCESS) {
    return leati_device_fail(device, result, "vkGetMemoryHostPointerPropertiesEXT", err);
  }
  const uint32_t type = device->memory->mapped_type;
  if ((allowed_types & properties.memoryTypeBits & (UINT32_C(1) << type)) == 0 || s->driver_size > s->pages.size) {
    return leati_fail(err, LEAT_ERROR_UNAVAILABLE,
                      "LEAT_MEMORY_GUARD is pages, and this device takes none for its buffers: set it to 1 or 0");
  }
  const VkImportMemoryHostPointerInfoEXT import = {.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT,
                                                   .handleType = host,
                                                   .pHostPointer = s->pages.begin};
  const VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                           .pNext = &import,
                                           .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
  const VkMemoryAllocateInfo allocation = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                           .pNext = &flags,
                                           .allocationSize = s->pages.size,
                                           .memoryTypeIndex = type};
  result = device->vk.AllocateMemory(device->vk.handle, &allocation, NULL, &s->memory);
  if (result != VK_SUCCESS) {
    s->memory = VK_NULL_HANDLE;
    return leati_device_fail(device, result, "vkAllocateMemory for pages of the host", err);
  }
  s->mapped = s->pages.begin;
  return LEAT_OK;
}

/* Takes memory for a segment from the driver. What it got so far when it fails is for driver_free(). */
static int32_t driver_alloc(leat_device *device, segment *s, leat_error *err) {
  const leati_vk_device *const vk = &device->vk;
  const struct leati_memory *const memory = device->memory;
  const uint64_t front = memory->front;
  const VkExternalMemoryBufferCreateInfo external = {
      .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
      .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT};
  /* Guarded by pages, the zone behind the block is the page there. */
  const uint64_t room = s->size - LEATI_GUARD_ZONE;
  if (memory->pages && !leati_pages_take(front + room, &s->pages)) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for %" PRIu64 " bytes of guarded pages",
                      front + room);
  }
  /* A driver may place the buffer on less than our alignment: one alignment more leaves room to round up. */
  const VkBufferCreateInfo buffer = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .pNext = memory->pages ? &external : NULL,
                                     .size = memory->pages ? s->pages.size : s->size + front + ALIGNMENT,
                                     .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                              VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                                              VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT,
                                     .sharingMode = VK_SHARING_MODE_EXCLUSIVE};
  VkResult result = vk->CreateBuffer(vk->handle, &buffer, NULL, &s->buffer);
  if (result != VK_SUCCESS) {
    s->buffer = VK_NULL_HANDLE;
    return leati_device_fail(device, result, "vkCreateBuffer for device memory", err);
  }
  VkMemoryRequirements needs;
  vk->GetBufferMemoryRequirements(vk->handle, s->buffer, &needs);
  LEATI_TRY(leati_budget_commit(device, needs.size, err));
  s->driver_size = needs.size;
  LEATI_TRY(memory->pages ? import_pages(device, s, needs.memoryTypeBits, err)
                          : allocate(device, s, needs.memoryTypeBits, err));
  result = vk->BindBufferMemory(vk->handle, s->buffer, s->memory, 0);
  if (result != VK_SUCCESS) {
    return leati_device_fail(device, result, "vkBindBufferMemory", err);
  }
  const VkBufferDeviceAddressInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, .buffer = s->buffer};
  const VkDeviceAddress address = vk->GetBufferDeviceAddress(vk->handle, &info);
  s->address = memory->pages ? address + s->pages.size - room : ((address + ALIGNMENT - 1) & ~(ALIGNMENT - 1)) + front;
  s->buffer_offset = s->address - address;
  if (s->mapped != NULL) {
    s->mapped += s->buffer_offset;
  }
  return LEAT_OK;
}

/* Gives a segment of the class with all its host memory and no device memory: one that was given back, or a new one.
 * The class's lock is held. */
static segment *take_segment(size_class *class, uint32_t block_count) {
  segment **const retired = &class->retired[block_count == 1];
  segment *const again = *retired;
  if (again != NULL) {
    *retired = again->next;
    return again;
  }
  segment *const s = leati_calloc(1, sizeof(*s));
  leati_block *const blocks = leati_calloc(block_count, sizeof(*blocks));
  if (s == NULL || blocks == NULL) {
    leati_free(s);
    leati_free(blocks);
    return NULL;
  }
  s->blocks = blocks;
  s->block_count = block_count;
  for (uint32_t i = 0; i < block_count; ++i) {
    blocks[i].home = s;
    blocks[i].index = i;
    leati_mutex_init(&blocks[i].stamp_lock, LEATI_RANK_STAMPS);
  }
  return s;
}

static void retire_segment(size_class *class, segment *s) {
  segment **const retired = &class->retired[s->block_count == 1];
  s->next = *retired;
  *retired = s;
}

static uint32_t blocks_per_segment(uint32_t class_index, uint64_t block_size) {
  if (class_index == CLASS_LARGE) {
    return 1;
  }
  uint64_t bytes = block_size * BLOCKS_PER_SEGMENT;
  bytes = bytes > SEGMENT_MAX ? SEGMENT_MAX : bytes < SEGMENT_MIN ? SEGMENT_MIN : bytes;
  return bytes <= block_size ? 1 : (uint32_t)(bytes / block_size);
}

/* Makes a segment and links it into its class, whose lock is held. */
static int32_t segment_create(leat_device *device, uint32_t class_index, uint64_t block_size, uint32_t block_count,
                              leat_error *err) {
  struct leati_memory *const memory = device->memory;
  size_class *const class = &memory->classes[class_index];
  segment *const s = take_segment(class, block_count);
  if (s == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for a segment");
  }
  s->class_index = class_index;
  s->block_size = block_size;
  s->size = block_size * block_count;
  s->carved = 0;
  s->free_count = 0;
  int32_t status = driver_alloc(device, s, err);
  if (status == LEAT_OK) {
    status = table_insert(memory, s, err);
  }
  if (status != LEAT_OK) {
    driver_free(device, s);
    retire_segment(class, s);
    return status;
  }
  s->next = class->segments;
  class->segments = s;
  class->block_size = block_size;
  class->reserved_bytes += s->driver_size;
  (void)atomic_fetch_add_explicit(&memory->driver_calls, 1, memory_order_relaxed);
  (void)atomic_fetch_add_explicit(&memory->cached, s->driver_size, memory_order_relaxed);
  leati_raise(&memory->reserved_peak,
              atomic_fetch_add_explicit(&memory->reserved, s->driver_size, memory_order_relaxed) + s->driver_size);
  return LEAT_OK;
}

/* ---- Stamps -------------------------------------------------------------------------------------------------------
 */

/* Adds a stamp or raises one that is there. `stamp_lock` held. False when there is no host memory. */
static bool put_stamp(leati_block *block, leati_timeline *timeline, uint64_t value) {
  for (uint32_t i = 0; i < block->stamp_count; ++i) {
    leati_stamp *const at = i < INLINE_STAMPS ? &block->stamps[i] : &block->spilled[i - INLINE_STAMPS];
    if (at->timeline == timeline) {
      at->value = at->value > value ? at->value : value;
      return true;
    }
  }
  if (block->stamp_count >= INLINE_STAMPS) {
    const uint32_t spilled = block->stamp_count - INLINE_STAMPS;
    if (spilled == block->spilled_capacity) {
      const uint32_t capacity = spilled == 0 ? 8 : spilled * 2;
      leati_stamp *const grown = leati_realloc(block->spilled, capacity * sizeof(*grown));
      if (grown == NULL) {
        return false;
      }
      block->spilled = grown;
      block->spilled_capacity = capacity;
    }
    block->spilled[spilled] = (leati_stamp){.timeline = timeline, .value = value};
  } else {
    block->stamps[block->stamp_count] = (leati_stamp){.timeline = timeline, .value = value};
  }
  ++block->stamp_count;
  return true;
}

/* Stamps a block that does not belong to the timeline yet. Not inlined: it is needed once for most blocks. */
__attribute__((noinline)) static void stamp_other(leati_block *block, leati_timeline *timeline, uint64_t value) {
  leati_mutex_lock(&block->stamp_lock);
  if (atomic_load_explicit(&block->owner, memory_order_relaxed) == NULL) {
    atomic_store_explicit(&block->owner_value, value, memory_order_release);
    atomic_store_explicit(&block->owner, timeline, memory_order_release);
  } else if (!put_stamp(block, timeline, value)) {
    /* Without memory for one more stamp the block is never reused: wrong data would be worse than a block less. */
    block->pinned = true;
  }
  leati_mutex_unlock(&block->stamp_lock);
}

void leati_block_stamp(leati_block *block, leati_timeline *timeline, uint64_t value) {
  /* The common case: the block belongs to one stream, whose lock orders these two. */
  if (atomic_load_explicit(&block->owner, memory_order_acquire) == timeline) {
    atomic_store_explicit(&block->owner_value, value, memory_order_release);
  } else {
    stamp_other(block, timeline, value);
  }
}

bool leati_block_idle(leati_block *block) {
  leati_mutex_lock(&block->stamp_lock);
  leati_timeline *const owner = atomic_load_explicit(&block->owner, memory_order_acquire);
  bool idle =
      !block->pinned &&
      (owner == NULL || leati_timeline_passed(owner, atomic_load_explicit(&block->owner_value, memory_order_acquire)));
  for (uint32_t i = 0; i < block->stamp_count && idle; ++i) {
    const leati_stamp *const at = i < INLINE_STAMPS ? &block->stamps[i] : &block->spilled[i - INLINE_STAMPS];
    idle = leati_timeline_passed(at->timeline, at->value);
  }
  leati_mutex_unlock(&block->stamp_lock);
  return idle;
}

/* Whether a free block can be used: by anybody (`timeline` NULL), or by what follows on `timeline`. */
static bool reusable(leati_block *block, leati_timeline *timeline) {
  leati_timeline *const owner = atomic_load_explicit(&block->owner, memory_order_acquire);
  if (block->pinned) {
    return false;
  }
  if (owner != NULL && owner != timeline &&
      !leati_timeline_passed(owner, atomic_load_explicit(&block->owner_value, memory_order_acquire))) {
    return false;
  }
  for (uint32_t i = 0; i < block->stamp_count; ++i) {
    const leati_stamp *const at = i < INLINE_STAMPS ? &block->stamps[i] : &block->spilled[i - INLINE_STAMPS];
    if (at->timeline != timeline && !leati_timeline_passed(at->timeline, at->value)) {
      return false;
    }
  }
  return true;
}

/* Raises the use of the stamp's timeline to the stamp, unless that has passed. */
static void note_use(leati_stamp stamp, leati_stamp *uses, uint32_t count) {
  if (stamp.timeline == NULL || leati_timeline_passed(stamp.timeline, stamp.value)) {
    return;
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (uses[i].timeline == stamp.timeline && uses[i].value < stamp.value) {
      uses[i].value = stamp.value;
    }
  }
}

/* Notes what a free block waits for. The class's lock is held. */
static void note_uses(const leati_block *block, leati_stamp *uses, uint32_t count) {
  note_use((leati_stamp){.timeline = atomic_load_explicit(&block->owner, memory_order_acquire),
                         .value = atomic_load_explicit(&block->owner_value, memory_order_acquire)},
           uses, count);
  for (uint32_t i = 0; i < block->stamp_count; ++i) {
    note_use(i < INLINE_STAMPS ? block->stamps[i] : block->spilled[i - INLINE_STAMPS], uses, count);
  }
}

/* Counts blocks that were looked at under a class's lock, and gives it up for a moment when they are many. */
static void let_others_in(size_class *class, uint32_t looked, uint32_t *inout_sum) {
  *inout_sum += looked;
  if (*inout_sum >= BLOCKS_PER_HOLD) {
    leati_mutex_unlock(&class->lock);
    leati_mutex_lock(&class->lock);
    *inout_sum = 0;
  }
}

void leati_memory_last_uses(leat_device *device, leati_stamp *uses, uint32_t count) {
  struct leati_memory *const memory = device->memory;
  leati_mutex_lock(&memory->trim_lock);
  for (uint32_t i = 0; i < CLASS_COUNT; ++i) {
    size_class *const class = &memory->classes[i];
    uint32_t looked = 0;
    leati_mutex_lock(&class->lock);
    for (const segment *s = class->segments; s != NULL; s = s->next) {
      for (uint32_t j = 0; j < s->carved; ++j) {
        const leati_block *const block = &s->blocks[j];
        if (atomic_load_explicit(&block->references, memory_order_acquire) == 0 && !block->pinned) {
          note_uses(block, uses, count);
        }
      }
      let_others_in(class, 1 + s->carved, &looked);
    }
    leati_mutex_unlock(&class->lock);
  }
  leati_mutex_unlock(&memory->trim_lock);
}

/* Forgets the stamps of a block that is handed out to `timeline`, but for that timeline's own: its work may still be in
 * flight, and whoever gets the block next must know. */
static void keep_stamps_of(leati_block *block, leati_timeline *timeline) {
  leati_timeline *const owner = atomic_load_explicit(&block->owner, memory_order_relaxed);
  uint64_t value = owner == timeline ? atomic_load_explicit(&block->owner_value, memory_order_relaxed) : 0;
  for (uint32_t i = 0; i < block->stamp_count; ++i) {
    const leati_stamp *const at = i < INLINE_STAMPS ? &block->stamps[i] : &block->spilled[i - INLINE_STAMPS];
    if (at->timeline == timeline && at->value > value) {
      value = at->value;
    }
  }
  block->stamp_count = 0;
  atomic_store_explicit(&block->owner_value, value, memory_order_relaxed);
  atomic_store_explicit(&block->owner, value != 0 ? timeline : NULL, memory_order_release);
}

/* ---- The free list of a class. Its lock is held ------------------------------------------------------------------ */

static void put_free(size_class *class, leati_block *block) {
  block->previous_free = NULL;
  block->next_free = class->first_free;
  if (class->first_free != NULL) {
    class->first_free->previous_free = block;
  }
  class->first_free = block;
  ++block->home->free_count;
}

static void take_free(size_class *class, leati_block *block) {
  if (block->next_free != NULL) {
    block->next_free->previous_free = block->previous_free;
  }
  if (block->previous_free != NULL) {
    block->previous_free->next_free = block->next_free;
  } else {
    class->first_free = block->next_free;
  }
  --block->home->free_count;
}

/* ---- Guarding ---------------------------------------------------------------------------------------------------- */

static leati_guarded guarded(const leati_block *block) {
  return (leati_guarded){.begin = leati_block_mapped(block),
                         .address = leati_block_address(block),
                         .size = leati_block_size(block),
                         .room = block->home->block_size - LEATI_GUARD_ZONE,
                         .generation = block->generation};
}

/* Looks at the red zones of a block and makes them whole again, so that one write is told once. The class's lock is
 * held. */
static int32_t check_fence(const leati_block *block, leat_error *err) {
  const leati_guarded seen = guarded(block);
  const int32_t status = leati_guard_check_fence(&seen, err);
  if (status != LEAT_OK) {
    leati_guard_fence(&seen);
  }
  return status;
}

/* Sees to it that uses of a freed block are noticed. */
static void poison(const leati_block *block) {
  if (block->home->pages.begin != NULL) {
    leati_pages_close(&block->home->pages);
  } else {
    const leati_guarded gone = guarded(block);
    leati_guard_poison(&gone);
  }
}

/* Looks at the poison of a freed block, and likewise makes it whole. */
static int32_t check_poison(const leati_block *block, leat_error *err) {
  if (block->home->pages.begin != NULL) {
    return LEAT_OK;
  }
  const leati_guarded seen = guarded(block);
  const int32_t status = leati_guard_check_poison(&seen, err);
  if (status != LEAT_OK) {
    leati_guard_poison(&seen);
  }
  return status;
}

/* Lets the quarantine go on: of the `probes` oldest blocks those whose last use has passed are checked and poisoned,
 * and the oldest ones leave for the free list when there are too many, or all that can with `drain`. The class's lock
 * is held. */
static void settle(leat_device *device, size_class *class, uint32_t probes, bool drain) {
  const struct leati_memory *const memory = device->memory;
  leat_error failure = {.struct_size = sizeof(failure)};
  for (leati_block *at = class->first_waiting; at != NULL && probes > 0; --probes, at = at->next_free) {
    if (at->poisoned || (!memory->closing && !reusable(at, NULL))) {
      continue;
    }
    if (check_fence(at, &failure) != LEAT_OK) {
      leati_finding_keep(device, &failure);
    }
    poison(at);
    at->poisoned = true;
  }
  while (class->first_waiting != NULL && class->first_waiting->poisoned) {
    leati_block *const oldest = class->first_waiting;
    const bool many =
        class->waiting_count > QUARANTINE_BLOCKS || class->waiting_count * oldest->home->block_size > QUARANTINE_BYTES;
    if (!drain && (!many || class->waiting_count == 1)) {
      return;
    }
    if (check_poison(oldest, &failure) != LEAT_OK) {
      leati_finding_keep(device, &failure);
    }
    class->first_waiting = oldest->next_free;
    if (class->first_waiting == NULL) {
      class->last_waiting = NULL;
    }
    --class->waiting_count;
    put_free(class, oldest);
  }
}

/* Puts a freed block at the end of the quarantine. What it says of the block's zones is for free() if that can tell
 * already, else for later. The class's lock is held. */
static int32_t quarantine(leat_device *device, size_class *class, leati_block *block, leat_error *err) {
  int32_t status = LEAT_OK;
  block->poisoned = reusable(block, NULL);
  if (block->poisoned) {
    status = check_fence(block, err);
    poison(block);
  }
  block->next_free = NULL;
  if (class->last_waiting != NULL) {
    class->last_waiting->next_free = block;
  } else {
    class->first_waiting = block;
  }
  class->last_waiting = block;
  ++class->waiting_count;
  settle(device, class, QUARANTINE_PROBES, false);
  return status;
}

/* Checks everything of a class that can be checked: blocks that are held, and those in the quarantine. */
static void inspect(leat_device *device, size_class *class) {
  leat_error failure = {.struct_size = sizeof(failure)};
  leati_mutex_lock(&class->lock);
  for (const segment *s = class->segments; s != NULL; s = s->next) {
    for (uint32_t i = 0; i < s->carved; ++i) {
      if (atomic_load_explicit(&s->blocks[i].references, memory_order_acquire) != 0 &&
          check_fence(&s->blocks[i], &failure) != LEAT_OK) {
        leati_finding_keep(device, &failure);
      }
    }
  }
  for (const leati_block *at = class->first_waiting; at != NULL; at = at->next_free) {
    if (at->poisoned && check_poison(at, &failure) != LEAT_OK) {
      leati_finding_keep(device, &failure);
    }
  }
  settle(device, class, UINT32_MAX, false);
  leati_mutex_unlock(&class->lock);
}

bool leati_memory_guarded(const leat_device *device) {
  return device->memory->guard;
}

int32_t leati_memory_guard_check(leat_device *device, leat_error *err) {
  struct leati_memory *const memory = device->memory;
  if (!memory->guard) {
    return LEAT_OK;
  }
  for (uint32_t i = 0; i < CLASS_COUNT; ++i) {
    inspect(device, &memory->classes[i]);
  }
  return leati_finding_tell(device, err);
}

/* ---- Giving back ------------------------------------------------------------------------------------------------- */

/* Whether every carved block of a segment is on the free list, and used by nobody. The class's lock is held. */
static bool segment_idle(segment *s) {
  bool idle = s->free_count == s->carved;
  for (uint32_t i = 0; i < s->carved && idle; ++i) {
    idle = reusable(&s->blocks[i], NULL);
  }
  return idle;
}

/* Takes idle segments off a class and puts them before `gone`, whose bytes are `*inout_bytes`, until no more than
 * `target` bytes will be taken when all of them have gone; returns the new first one. Under guard, lets the quarantine
 * go on before. `trim_lock` held. */
static segment *detach_idle(leat_device *device, size_class *class, bool drain, uint64_t target, segment *gone,
                            uint64_t *inout_bytes) {
  const struct leati_memory *const memory = device->memory;
  uint32_t looked = 0;
  leati_mutex_lock(&class->lock);
  if (memory->guard) {
    settle(device, class, drain ? UINT32_MAX : QUARANTINE_PROBES, drain);
  }
  segment **at = &class->segments;
  while (*at != NULL && leati_budget_committed(device) > target + *inout_bytes) {
    segment *const s = *at;
    if (segment_idle(s)) {
      for (uint32_t i = 0; i < s->carved; ++i) {
        take_free(class, &s->blocks[i]);
      }
      class->reserved_bytes -= s->driver_size;
      class->cached_count -= s->carved;
      *inout_bytes += s->driver_size;
      s->leaving = true;
      *at = s->next;
      s->next = gone;
      gone = s;
    } else {
      at = &s->next;
    }
    let_others_in(class, 1 + s->carved, &looked);
  }
  leati_mutex_unlock(&class->lock);
  return gone;
}

/* Gives segments that were taken off their classes back to the driver. `trim_lock` held, and no class's: the driver
 * takes its time. */
static void give_back(leat_device *device, segment *gone) {
  struct leati_memory *const memory = device->memory;
  if (gone != NULL) {
    table_remove_leaving(memory);
  }
  while (gone != NULL) {
    segment *const next = gone->next;
    size_class *const class = &memory->classes[gone->class_index];
    const uint64_t bytes = gone->driver_size;
    driver_free(device, gone);
    (void)atomic_fetch_sub_explicit(&memory->cached, bytes, memory_order_relaxed);
    (void)atomic_fetch_sub_explicit(&memory->reserved, bytes, memory_order_relaxed);
    gone->leaving = false;
    leati_mutex_lock(&class->lock);
    retire_segment(class, gone);
    leati_mutex_unlock(&class->lock);
    gone = next;
  }
}

/* ---- Allocation ---------------------------------------------------------------------------------------------------
 */

/* Takes a block off the free list that can be used now, of the first `probes` there. The class's lock is held. */
static leati_block *pop_free(size_class *class, uint64_t block_size, uint32_t probes, leati_timeline *timeline) {
  for (leati_block *block = class->first_free; block != NULL && probes > 0; --probes, block = block->next_free) {
    /* In the class of large blocks sizes differ: one that is a little larger will do. */
    const uint64_t has = block->home->block_size;
    if (has >= block_size && has - block_size <= has / 4 && reusable(block, timeline)) {
      take_free(class, block);
      --class->cached_count;
      ++class->reuse_count;
      return block;
    }
  }
  return NULL;
}

/* Takes a block that was never used. The class's lock is held. */
static leati_block *carve(size_class *class, uint64_t block_size) {
  segment *const s = class->segments;
  if (s == NULL || s->carved == s->block_count || s->block_size != block_size) {
    return NULL;
  }
  return &s->blocks[s->carved++];
}

/* Takes a block for `size` bytes. `pressed`: memory is short, so look at every free block, and if there is no room for
 * a segment, take no more from the driver than this block needs. */
static int32_t class_alloc(leat_device *device, uint64_t size, bool pressed, leati_timeline *timeline,
                           leati_block **out, leat_error *err) {
  struct leati_memory *const memory = device->memory;
  uint64_t block_size;
  const uint32_t class_index = class_for(memory, size, &block_size);
  size_class *const class = &memory->classes[class_index];
  int32_t status = LEAT_OK;
  if (memory->pages) {
    /* What has left the quarantine is closed, and of no more use. */
    uint64_t bytes = 0;
    leati_mutex_lock(&memory->trim_lock);
    give_back(device, detach_idle(device, class, pressed, 0, NULL, &bytes));
    leati_mutex_unlock(&memory->trim_lock);
  }
  leati_block *block = NULL;
  leati_mutex_lock(&class->lock);
  if (!memory->pages) {
    if (memory->guard) {
      settle(device, class, pressed ? UINT32_MAX : QUARANTINE_PROBES, pressed);
    }
    block = pop_free(class, block_size, pressed ? UINT32_MAX : FREE_LIST_PROBES, timeline);
  }
  if (block == NULL) {
    block = carve(class, block_size);
  }
  if (block == NULL) {
    const uint32_t usual = blocks_per_segment(class_index, block_size);
    status = segment_create(device, class_index, block_size, usual, err);
    if (status == LEAT_ERROR_OUT_OF_MEMORY && pressed && usual > 1) {
      status = segment_create(device, class_index, block_size, 1, err);
    }
    block = status == LEAT_OK ? carve(class, block_size) : NULL;
  }
  if (block != NULL) {
    keep_stamps_of(block, timeline);
    block->size = size;
    block->next_free = NULL;
    ++block->generation;
    if (memory->guard) {
      const leati_guarded fresh = guarded(block);
      leati_guard_fence(&fresh);
    }
    (void)atomic_fetch_sub_explicit(&memory->cached, block->home->block_size, memory_order_relaxed);
    atomic_store_explicit(&block->references, 1, memory_order_release);
    ++class->live_count;
    ++class->allocation_count;
  }
  leati_mutex_unlock(&class->lock);
  *out = block;
  return status;
}

/* What must be taken from the driver at least for a block of so many bytes. */
static uint64_t least_for(uint64_t block_size, uint64_t front) {
  return block_size + front + ALIGNMENT;
}

bool leati_memory_possible(leat_device *device, uint64_t size) {
  struct leati_memory *const memory = device->memory;
  const leat_device_info *const info = &device->physical->info;
  if (size > info->memory_size) {
    return false;
  }
  uint64_t block_size;
  (void)class_for(memory, size, &block_size);
  const uint64_t least = least_for(block_size, memory->front);
  return least <= info->max_allocation_size && least <= leati_budget_limit(device);
}

int32_t leati_memory_alloc(leat_device *device, uint64_t size, leati_timeline *timeline, uint64_t *out_address,
                           leat_error *err) {
  struct leati_memory *const memory = device->memory;
  const leat_device_info *const info = &device->physical->info;
  if (size > info->memory_size) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "%" PRIu64 " bytes were asked for; the device has %" PRIu64, size,
                      info->memory_size);
  }
  uint64_t block_size;
  const uint32_t class_index = class_for(memory, size, &block_size);
  const uint64_t least = least_for(block_size, memory->front);
  if (least > info->max_allocation_size) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY,
                      "%" PRIu64 " bytes are more than one allocation can have on this device (%" PRIu64 ")", size,
                      info->max_allocation_size);
  }
  leati_block *block;
  int32_t status = class_alloc(device, size, false, timeline, &block, err);
  if (status == LEAT_ERROR_OUT_OF_MEMORY) {
    /* What is cached in other classes may be what is missing here. */
    const uint64_t usual = block_size * (blocks_per_segment(class_index, block_size) - 1) + least;
    leati_memory_reclaim(device, usual, least);
    status = class_alloc(device, size, true, timeline, &block, err);
  }
  LEATI_TRY(status);
  (void)atomic_fetch_add_explicit(&memory->allocations, 1, memory_order_relaxed);
  leati_raise(&memory->allocated_peak,
              atomic_fetch_add_explicit(&memory->allocated, size, memory_order_relaxed) + size);
  *out_address = leati_block_address(block);
  return LEAT_OK;
}

void leati_memory_hold(leati_block *block) {
  (void)atomic_fetch_add_explicit(&block->references, 1, memory_order_relaxed);
}

void leati_memory_retain(leati_block *block) {
  (void)atomic_fetch_add_explicit(&block->references, SHARE, memory_order_relaxed);
}

/* Puts a block whose last reference went onto its class's free list, or into its quarantine.
 * @errors CORRUPTED: it has gone there, and its red zones are damaged */
static int32_t recycle(leat_device *device, leati_block *block, leat_error *err) {
  struct leati_memory *const memory = device->memory;
  size_class *const class = &memory->classes[block->home->class_index];
  int32_t status = LEAT_OK;
  (void)atomic_fetch_add_explicit(&memory->frees, 1, memory_order_release);
  (void)atomic_fetch_sub_explicit(&memory->allocated, block->size, memory_order_relaxed);
  (void)atomic_fetch_add_explicit(&memory->cached, block->home->block_size, memory_order_relaxed);
  leati_mutex_lock(&class->lock);
  /* One that is pinned will never be idle, and would keep the others from leaving the quarantine. */
  if (memory->guard && !block->pinned) {
    status = quarantine(device, class, block, err);
  } else {
    put_free(class, block);
  }
  --class->live_count;
  ++class->cached_count;
  leati_mutex_unlock(&class->lock);
  return status;
}

/* As recycle() where nobody reads a message: it is kept for the next synchronisation. */
static int32_t recycle_unheard(leat_device *device, leati_block *block) {
  leat_error failure = {.struct_size = sizeof(failure)};
  const int32_t status = recycle(device, block, &failure);
  if (status != LEAT_OK) {
    leati_finding_keep(device, &failure);
  }
  return status;
}

void leati_memory_release(leat_device *device, leati_block *block) {
  if (atomic_fetch_sub_explicit(&block->references, SHARE, memory_order_acq_rel) == SHARE) {
    (void)recycle_unheard(device, block);
  }
}

int32_t leati_memory_free(leat_device *device, uint64_t address, leat_error *err) {
  leati_block *const block = leati_memory_find(device, address);
  if (block == NULL || leati_block_address(block) != address) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "0x%" PRIx64 " is not the address of a live block: freed already, or never allocated here",
                      address);
  }
  /* A counted decrement that refuses to go below zero: of two threads that free one block, one gets the error. */
  uint64_t references = atomic_load_explicit(&block->references, memory_order_relaxed);
  do {
    if (references % SHARE == 0) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "the block at 0x%" PRIx64 " was freed already", address);
    }
  } while (!atomic_compare_exchange_weak_explicit(&block->references, &references, references - 1, memory_order_acq_rel,
                                                  memory_order_relaxed));
  if (references != 1) {
    return LEAT_OK;
  }
  return err == NULL ? recycle_unheard(device, block) : recycle(device, block, err);
}

/* Gives idle segments, large ones first, and then idle staging back until no more than `target` bytes are taken;
 * returns their bytes. */
static uint64_t give_idle_back(leat_device *device, uint64_t target) {
  struct leati_memory *const memory = device->memory;
  /* Streams that lie idle hold the staging of what they did last. And blocks whose use has passed are known to be
   * idle then, also where another thread is making a stream's downloads all the while. */
  leati_timelines_retire(device);
  segment *gone = NULL;
  uint64_t bytes = 0;
  leati_mutex_lock(&memory->trim_lock);
  for (uint32_t i = CLASS_COUNT; i-- > 0;) {
    gone = detach_idle(device, &memory->classes[i], true, target, gone, &bytes);
  }
  give_back(device, gone);
  if (leati_budget_committed(device) > target) {
    bytes += leati_chunks_trim(device);
  }
  leati_mutex_unlock(&memory->trim_lock);
  return bytes;
}

uint64_t leati_memory_trim(leat_device *device) {
  return give_idle_back(device, 0);
}

void leati_memory_reclaim(leat_device *device, uint64_t wanted, uint64_t least) {
  uint64_t target;
  if (leati_budget_target(device, wanted, least, &target) && give_idle_back(device, target) != 0) {
    (void)atomic_fetch_add_explicit(&device->memory->reclaims, 1, memory_order_relaxed);
  }
}

uint64_t leati_block_address(const leati_block *block) {
  return block->home->address + (uint64_t)block->index * block->home->block_size;
}

uint64_t leati_block_size(const leati_block *block) {
  return block->size;
}

VkBuffer leati_block_buffer(const leati_block *block, uint64_t *out_offset) {
  *out_offset = block->home->buffer_offset + (uint64_t)block->index * block->home->block_size;
  return block->home->buffer;
}

void *leati_block_mapped(const leati_block *block) {
  unsigned char *const first = block->home->mapped;
  return first == NULL ? NULL : first + (uint64_t)block->index * block->home->block_size;
}

/* A peak for somebody who has seen `now`: who raised the counter may not have come to raise the peak yet. */
static uint64_t highest(_Atomic uint64_t *peak, uint64_t now) {
  const uint64_t seen = atomic_load_explicit(peak, memory_order_relaxed);
  return seen > now ? seen : now;
}

void leati_memory_stats_read(leat_device *device, leat_memory_stats *out) {
  struct leati_memory *const memory = device->memory;
  memset(out, 0, sizeof(*out));
  out->struct_size = sizeof(*out);
  out->allocated_bytes = atomic_load_explicit(&memory->allocated, memory_order_relaxed);
  out->allocated_peak = highest(&memory->allocated_peak, out->allocated_bytes);
  out->reserved_bytes = atomic_load_explicit(&memory->reserved, memory_order_relaxed);
  out->reserved_peak = highest(&memory->reserved_peak, out->reserved_bytes);
  out->free_count = atomic_load_explicit(&memory->frees, memory_order_acquire);
  out->allocation_count = atomic_load_explicit(&memory->allocations, memory_order_relaxed);
  out->driver_call_count = atomic_load_explicit(&memory->driver_calls, memory_order_relaxed);
  out->live_block_count = out->allocation_count - out->free_count;
  out->cached_bytes = atomic_load_explicit(&memory->cached, memory_order_relaxed);
  out->staging_bytes = leati_chunks_bytes(device);
  out->limit_bytes = leati_budget_limit(device);
  out->reclaim_count = atomic_load_explicit(&memory->reclaims, memory_order_relaxed);
}

int32_t leati_memory_classes_read(leat_device *device, uint32_t *inout_count, leat_memory_class *out, leat_error *err) {
  const uint32_t capacity = *inout_count;
  uint32_t count = 0;
  for (uint32_t i = 0; i < CLASS_COUNT; ++i) {
    size_class *const class = &device->memory->classes[i];
    leati_mutex_lock(&class->lock);
    const leat_memory_class line = {.struct_size = sizeof(line),
                                    .block_size = i == CLASS_LARGE ? 0 : class->block_size,
                                    .live_count = class->live_count,
                                    .cached_count = class->cached_count,
                                    .reserved_bytes = class->reserved_bytes,
                                    .allocation_count = class->allocation_count,
                                    .reuse_count = class->reuse_count};
    leati_mutex_unlock(&class->lock);
    if (line.allocation_count == 0) {
      continue;
    }
    if (count < capacity) {
      LEATI_TRY(leati_export(&out[count], &line, sizeof(line), sizeof(line), "leat_memory_class", err));
    }
    ++count;
  }
  *inout_count = count;
  return LEAT_OK;
}

/* Lets a peak begin again from a counter. An allocation at the same time is in the counter before it is in the peak; if
 * its peak is lost here, the second reading of the counter has it. */
static void reset_peak(_Atomic uint64_t *peak, _Atomic uint64_t *counter) {
  (void)atomic_exchange_explicit(peak, atomic_load_explicit(counter, memory_order_relaxed), memory_order_acq_rel);
  leati_raise(peak, atomic_load_explicit(counter, memory_order_relaxed));
}

void leati_memory_reset_peaks(leat_device *device) {
  struct leati_memory *const memory = device->memory;
  reset_peak(&memory->allocated_peak, &memory->allocated);
  reset_peak(&memory->reserved_peak, &memory->reserved);
}

/* Chooses the memory that the host maps, and the heap that counts.
 * @errors UNAVAILABLE: guarding is on and there is no memory for it */
static int32_t choose_memory(leat_device *device, uint32_t *out_heap, leat_error *err) {
  struct leati_memory *const memory = device->memory;
  const leati_physical *const physical = device->physical;
  const VkPhysicalDeviceMemoryProperties *const all = &physical->memory;
  const VkMemoryPropertyFlags mapped = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  *out_heap = all->memoryTypes[device->device_memory_type].heapIndex;
  if (memory->guard) {
    /* The host reads far more here than the device does, so it is the host that should have it near. */
    memory->mapped_type = leati_physical_memory_type(physical, mapped, VK_MEMORY_PROPERTY_HOST_CACHED_BIT, 0);
    memory->any_mapped_type = leati_physical_memory_type(physical, mapped, 0, 0);
    if (memory->mapped_type == UINT32_MAX) {
      return leati_fail(err, LEAT_ERROR_UNAVAILABLE,
                        "LEAT_MEMORY_GUARD is 1, which needs memory that both the host and the device see; this device "
                        "has none, so leave the setting at 0");
    }
    *out_heap = all->memoryTypes[memory->mapped_type].heapIndex;
    return LEAT_OK;
  }
  memory->mapped_type = leati_physical_memory_type(physical, mapped | VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0,
                                                   VK_MEMORY_PROPERTY_HOST_CACHED_BIT);
  /* A window of a few hundred MiB, which devices without a resizable one have, is left to staging. */
  if (memory->mapped_type != UINT32_MAX &&
      all->memoryHeaps[all->memoryTypes[memory->mapped_type].heapIndex].size < physical->info.memory_size / 2) {
    memory->mapped_type = UINT32_MAX;
  }
  return LEAT_OK;
}

int32_t leati_memory_create(leat_device *device, leat_error *err) {
  const leati_config *config;
  LEATI_TRY(leati_config_get(&config, err));
  struct leati_memory *const memory = leati_calloc_line(sizeof(*memory));
  if (memory == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for the allocator");
  }
  for (uint32_t i = 0; i < CLASS_COUNT; ++i) {
    leati_mutex_init(&memory->classes[i].lock, LEATI_RANK_MEMORY);
  }
  leati_mutex_init(&memory->trim_lock, LEATI_RANK_TRIM);
  leati_mutex_init(&memory->table_lock, LEATI_RANK_SEGMENTS);
  device->memory = memory;
  memory->guard = config->memory_guard != LEATI_GUARD_OFF;
  memory->pages = config->memory_guard == LEATI_GUARD_PAGES;
  memory->front = memory->guard ? LEATI_GUARD_ZONE : 0;
  uint32_t heap;
  LEATI_TRY(choose_memory(device, &heap, err));
  return leati_budget_create(device, heap, err);
}

/* Names some of the blocks that are still held. */
static void name_leaks(const struct leati_memory *memory) {
  int named = 0;
  for (uint32_t i = 0; i < CLASS_COUNT; ++i) {
    for (const segment *s = memory->classes[i].segments; s != NULL; s = s->next) {
      for (uint32_t j = 0; j < s->carved && named < LEAKS_NAMED; ++j) {
        const leati_block *const block = &s->blocks[j];
        char generation[48] = "";
        if (atomic_load_explicit(&block->references, memory_order_acquire) == 0) {
          continue;
        }
        if (memory->guard) {
          (void)snprintf(generation, sizeof(generation), " (generation %" PRIu64 ")", block->generation);
        }
        leati_log(LEATI_LOG_INFO, "still held: 0x%" PRIx64 ", %" PRIu64 " bytes%s", leati_block_address(block),
                  leati_block_size(block), generation);
        ++named;
      }
    }
  }
}

static void destroy_segments(leat_device *device, segment *list) {
  while (list != NULL) {
    segment *const next = list->next;
    driver_free(device, list);
    for (uint32_t i = 0; i < list->block_count; ++i) {
      leati_mutex_destroy(&list->blocks[i].stamp_lock);
      leati_free(list->blocks[i].spilled);
    }
    leati_free(list->blocks);
    leati_free(list);
    list = next;
  }
}

void leati_memory_destroy(leat_device *device) {
  struct leati_memory *const memory = device->memory;
  if (memory == NULL) {
    return;
  }
  const uint64_t held = atomic_load_explicit(&memory->allocations, memory_order_relaxed) -
                        atomic_load_explicit(&memory->frees, memory_order_relaxed);
  if (held != 0) {
    leati_log(LEATI_LOG_WARN, "%" PRIu64 " blocks (%" PRIu64 " bytes) were still held when the device was closed", held,
              atomic_load_explicit(&memory->allocated, memory_order_relaxed));
    name_leaks(memory);
  }
  memory->closing = true;
  /* Says on the log what it finds; there is nobody left to be told otherwise. */
  (void)leati_memory_guard_check(device, NULL);
  for (uint32_t i = 0; i < CLASS_COUNT; ++i) {
    destroy_segments(device, memory->classes[i].segments);
    destroy_segments(device, memory->classes[i].retired[0]);
    destroy_segments(device, memory->classes[i].retired[1]);
    leati_mutex_destroy(&memory->classes[i].lock);
  }
  segment_array *array = atomic_load_explicit(&memory->table, memory_order_relaxed);
  while (array != NULL) {
    segment_array *const older = array->older;
    leati_free(array);
    array = older;
  }
  leati_mutex_destroy(&memory->table_lock);
  leati_mutex_destroy(&memory->trim_lock);
  leati_free(memory);
  device->memory = NULL;
  leati_budget_destroy(device);
}
