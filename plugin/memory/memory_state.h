/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What the allocator consists of, for the files that share it: blocks, the segments that are cut into them, classes of
 * blocks of one size, and the table of segments.
 */
#ifndef LEAT_PLUGIN_MEMORY_MEMORY_STATE_H_
#define LEAT_PLUGIN_MEMORY_MEMORY_STATE_H_

#include <stdatomic.h>
#include <stdbool.h>

#include "core/pages.h"
#include "core/sync.h"
#include "device/vulkan.h"
#include "memory/block.h"
#include "policy/constants.h"

/* Every block begins on this many bytes: what ONNX Runtime plans with, and enough for every kernel's vector loads. */
#define LEATI_BLOCK_ALIGNMENT UINT64_C(256)
/* And on this many as the host knows it: what Vulkan promises of mapped memory at least. */
#define LEATI_HOST_ALIGNMENT UINT64_C(64)
/* Size classes; the last one is of everything that is too large for the others. */
#define LEATI_CLASS_COUNT 72
#define LEATI_CLASS_LARGE (LEATI_CLASS_COUNT - 1)
/* Behind them, of memory that other APIs made (memory/imported.h): in no figure, and nothing is taken from it. */
#define LEATI_CLASS_IMPORTED LEATI_CLASS_COUNT
/* And as many again as of the device's, of memory of the host that the device works in. */
#define LEATI_CLASS_HOST (LEATI_CLASS_IMPORTED + 1)
#define LEATI_CLASS_ALL (LEATI_CLASS_HOST + LEATI_CLASS_COUNT)
/* One exported tensor in leati_block::references. */
#define LEATI_SHARE (UINT64_C(1) << 32)
/* There: a recording has the block, and nobody finds it. */
#define LEATI_TEMPORARY (UINT64_C(1) << 63)

typedef struct leati_segment leati_segment;

struct leati_block {
  leati_segment *home;
  /* The holder of the block; 0 when free. The caller's holds count in the lower half, those of exported tensors by
   * LEATI_SHARE in the upper half, so that a second free() cannot take what belongs to an exported tensor. The last
   * release makes the block free (acquire-release, so that all uses come before the reuse). */
  _Atomic uint64_t references;
  uint32_t index;
  /* Requested bytes. Written by the allocating thread before the address is known to anybody. Atomic as in
   * leati_segment. */
  _Atomic uint64_t size;
  bool for_stream; /* allocated for what follows in a stream; the holder's */
  /* The timeline that uses the block most, for which stamping is one store. `owner` is set by the first stamp after an
   * allocation (under `stamp_lock`); `owner_value` only rises. Read when the block is free. */
  _Atomic(leati_timeline *) owner;
  _Atomic uint64_t owner_value;
  /* Uses by other timelines. */
  leati_mutex stamp_lock; /* guards what follows up to `next_free`, while the block is held */
  uint32_t stamp_count, spilled_capacity;
  leati_stamp stamps[LEATI_INLINE_STAMPS];
  leati_stamp *spilled;
  bool pinned;            /* never reused again */
  leati_block *next_free; /* this and what follows: guarded by the class's lock */
  leati_block *previous_free;
  uint64_t generation; /* how often it was handed out; also the thread's that takes it from where it is kept */
  bool poisoned;       /* under guard, while it waits in the quarantine */
};

struct leati_segment {
  /* Three that are atomic for those who look up an address that they do not hold: meanwhile the segment may be released
   * and be made anew. What they find then they compare with the address. */
  _Atomic uint64_t address;      /* of block 0 */
  _Atomic uint64_t host_address; /* of block 0 of memory of the host, as the host knows it */
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
  bool leaving;        /* taken off its class to be released; guarded by `trim_lock` */
  uint32_t carved;     /* blocks handed out at least once; this and what follows: guarded by the class's lock */
  uint32_t free_count; /* of its blocks, those on the class's free list */
  leati_segment *next;
  leati_block *blocks;
};

/* One size class, on cache lines of its own. */
typedef struct leati_size_class {
  _Alignas(LEATI_CACHE_LINE) leati_mutex lock; /* guards everything below and the free state of the blocks */
  leati_block *first_free, *last_free;         /* newest first, linked both ways */
  leati_block *first_waiting, *last_waiting;   /* the quarantine under guard, oldest first, linked by `next_free` */
  uint32_t waiting_count;
  leati_segment *segments;   /* they leave under `trim_lock` too */
  leati_segment *retired[2]; /* without device memory: those of several blocks, and those of one */
  uint64_t block_size;       /* of the last segment that was made */
  uint64_t carved_count;     /* blocks of the segments that were handed out at least once */
  uint64_t reserved_bytes;
  /* Not guarded, and relaxed: exact each by itself. A block that a timeline keeps changes them without the lock. */
  _Atomic uint64_t live_count, allocation_count, reuse_count;
} leati_size_class;
LEATI_OWN_LINE(leati_size_class);

typedef struct leati_segment_entry {
  _Atomic uint64_t address;
  _Atomic uint64_t end;
  _Atomic(leati_segment *) home;
} leati_segment_entry;

typedef struct leati_segment_array {
  struct leati_segment_array *older;
  uint32_t capacity;
  leati_segment_entry entries[];
} leati_segment_array;

/* The table of live segments, sorted by address, for lookups without a lock: a sequence counter that is odd while a
 * writer moves entries. Readers look again when it changed under them. Old arrays are kept until the device closes
 * (they double, so all of them together are smaller than the newest), and segments that were released keep their host
 * memory for the next one of their class, so a reader never touches freed memory. */
typedef struct leati_segment_table {
  _Alignas(LEATI_CACHE_LINE) _Atomic uint32_t sequence; /* pairs: writers release, readers acquire */
  bool by_host; /* addresses are those that the host knows segments by; constant */
  _Atomic(leati_segment_array *) array;
  _Atomic uint32_t count;
  leati_mutex lock; /* guards writes */
} leati_segment_table;
LEATI_OWN_LINE(leati_segment_table);

/* Statistics of memory of the device, or of the host: each counter is exact by itself. Relaxed, as nothing is ordered
 * by them, but for two pairs: `frees` is raised by release and read by acquire, so that no reader sees more frees than
 * allocations; and a peak never stays below what it is the peak of. For that, raising its counter and then looking at
 * it, and resetting it and then looking at the counter, are sequentially consistent: one of the two sees the other. */
typedef struct leati_memory_figures {
  _Alignas(LEATI_CACHE_LINE) _Atomic uint64_t allocated, allocated_peak, allocations, frees, cached;
  _Alignas(LEATI_CACHE_LINE) _Atomic uint64_t reserved, reserved_peak, driver_calls;
} leati_memory_figures;
LEATI_APART(leati_memory_figures, cached, reserved);
LEATI_OWN_LINE(leati_memory_figures);

struct leati_memory {
  leati_size_class classes[LEATI_CLASS_ALL];
  leati_segment_table table; /* of the device's memory, and what is imported */
  leati_segment_table hosts; /* of the host's */
  /* Held by the one thread that releases memory. Segments leave their class only under it, so the thread that has it
   * may give a class's lock up in the middle of a walk through its segments; and a thread that finds memory short while
   * another thread releases some back waits here until the driver has it. */
  leati_mutex trim_lock;
  leati_memory_figures figures[2]; /* of the device's memory, and of the host's */
  _Atomic uint64_t reclaims;       /* relaxed */
  /* Constant while the device is open. */
  uint32_t mapped_type;     /* memory type for segments that the host maps, or UINT32_MAX */
  uint32_t any_mapped_type; /* one that buffers may always have */
  bool closing;             /* the device is idle for good, and its timelines are gone */
  bool guard;               /* all segments are mapped, and blocks lie between red zones */
  bool pages;               /* likewise, and each block ends where pages end that may be touched */
  uint64_t front;           /* bytes before each block that belong to it: its red zone, or none */
};
LEATI_APART(struct leati_memory, trim_lock, figures);

/* Whether a class, or a segment by its class, is of memory of the host. */
static inline bool leati_class_is_host(uint32_t class_index) {
  return class_index >= LEATI_CLASS_HOST;
}

/* The figures that a class counts in. */
static inline leati_memory_figures *leati_figures_of(struct leati_memory *memory, uint32_t class_index) {
  return &memory->figures[leati_class_is_host(class_index) ? 1 : 0];
}

#endif /* LEAT_PLUGIN_MEMORY_MEMORY_STATE_H_ */
