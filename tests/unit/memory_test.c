/* SPDX-License-Identifier: BSD-3-Clause */
/* The allocator: blocks never overlap, a block in use is never handed to somebody else, memory goes back, the watermark
 * holds, and writes outside of blocks are found. */
#include "memory/memory.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "again.h"
#include "device/device.h"
#include "leat_kernels.h"
#include "memory/tensor.h"
#include "streams/recorder.h"
#include "streams/staged_copy.h"
#include "streams/stream_state.h"
#include "unit_fixture.h"

static leat_stream *open_stream(fixture *f) {
  leat_stream *stream;
  assert_ok(f->api->stream->create(f->device, 0, &stream, &err));
  return stream;
}

static uint64_t alloc_on(fixture *f, uint64_t size, leat_stream *stream) {
  uint64_t address = 0;
  assert_ok(f->api->memory->alloc(f->device, size, stream, &address, &err));
  return address;
}

static void release(fixture *f, uint64_t address) {
  assert_ok(f->api->memory->free(f->device, address, &err));
}

/* Says that work which is not submitted yet uses the block. */
static void use_in_future(fixture *f, uint64_t address, leat_stream *stream) {
  leati_block_stamp(leati_memory_find(f->device, address), stream->timeline, leati_stream_open_value(stream));
}

static int by_address(const void *a, const void *b) {
  const uint64_t left = *(const uint64_t *)a;
  const uint64_t right = *(const uint64_t *)b;
  return left < right ? -1 : left > right ? 1 : 0;
}

static void blocks_of_all_sizes_are_aligned_and_disjoint(void **state) {
  enum { COUNT = 400 };
  fixture *const f = fixture_of(state);
  static uint64_t blocks[COUNT][2];
  for (unsigned i = 0; i < COUNT; ++i) {
    /* Around every class boundary from 256 bytes to 4 MiB, and below and above it. */
    const uint64_t base = UINT64_C(256) << (i % 15);
    blocks[i][1] = base + base / 4 * (i / 15 % 4) + i % 3 - 1;
    blocks[i][0] = alloc_on(f, blocks[i][1], NULL);
    assert_int_equal(blocks[i][0] % 256, 0);
  }
  qsort(blocks, COUNT, sizeof(blocks[0]), by_address);
  for (unsigned i = 0; i + 1 < COUNT; ++i) {
    assert_true(blocks[i][0] + blocks[i][1] <= blocks[i + 1][0]);
  }
  for (unsigned i = 0; i < COUNT; ++i) {
    release(f, blocks[i][0]);
  }
}

static void find_knows_live_blocks_only(void **state) {
  fixture *const f = fixture_of(state);
  const uint64_t address = alloc_on(f, 1000, NULL);
  assert_non_null(leati_memory_find(f->device, address));
  assert_ptr_equal(leati_memory_find(f->device, address + 999), leati_memory_find(f->device, address));
  const leati_block *const block = leati_memory_find(f->device, address);
  assert_int_equal(leati_block_size(block), 1000);
  assert_true(leati_block_holds(block, address, 0, 1000));
  assert_true(leati_block_holds(block, address + 600, 600, 400));
  assert_true(leati_block_holds(block, address + 1000, 1000, 0));
  assert_false(leati_block_holds(block, address, 0, 1001));
  assert_false(leati_block_holds(block, address + 600, 601, 400));
  assert_false(leati_block_holds(block, address + 1001, 0, 0));
  assert_false(leati_block_holds(block, address + 2000, 0, 8));
  assert_false(leati_block_holds(block, address - 1, 0, 1));
  release(f, address);
  assert_null(leati_memory_find(f->device, address));
  assert_null(leati_memory_find(f->device, 0));
  assert_null(leati_memory_find(f->device, UINT64_MAX));
  assert_int_equal(f->api->memory->free(f->device, address, NULL), LEAT_ERROR_INVALID_ARGUMENT);
}

static void a_block_in_use_is_reused_by_its_own_stream_only(void **state) {
  fixture *const f = fixture_of(state);
  leat_stream *const a = open_stream(f);
  leat_stream *const b = open_stream(f);
  const uint64_t first = alloc_on(f, 5000, a);
  use_in_future(f, first, a);
  release(f, first);
  const uint64_t other = alloc_on(f, 5000, b);
  assert_int_not_equal(other, first);
  const uint64_t host = alloc_on(f, 5000, NULL);
  assert_int_not_equal(host, first);
  const uint64_t again = alloc_on(f, 5000, a);
  assert_int_equal(again, first);
  release(f, again);
  release(f, other);
  release(f, host);
  assert_ok(f->api->stream->destroy(a, &err));
  assert_ok(f->api->stream->destroy(b, &err));
}

/* Threads that each free what their work in flight still uses would else take fresh memory for ever. */
static void an_idle_block_is_found_behind_many_in_use(void **state) {
  enum { IN_USE = 100, SIZE = 5000 };
  fixture *const f = fixture_of(state);
  leat_stream *const stream = open_stream(f);
  uint64_t in_use[IN_USE];
  const uint64_t idle = alloc_on(f, SIZE, NULL);
  for (int i = 0; i < IN_USE; ++i) {
    in_use[i] = alloc_on(f, SIZE, stream);
    use_in_future(f, in_use[i], stream);
  }
  release(f, idle);
  for (int i = 0; i < IN_USE; ++i) {
    release(f, in_use[i]);
  }
  const uint64_t found = alloc_on(f, SIZE, NULL);
  assert_int_equal(found, idle);
  /* The stream keeps the first that was freed. */
  const uint64_t kept = alloc_on(f, SIZE, stream);
  assert_int_equal(kept, in_use[0]);
  const uint64_t newest = alloc_on(f, SIZE, stream);
  assert_int_equal(newest, in_use[IN_USE - 1]);
  release(f, found);
  release(f, kept);
  release(f, newest);
  assert_ok(f->api->stream->destroy(stream, &err));
}

static void passing_a_block_on_unused_does_not_hide_its_use(void **state) {
  fixture *const f = fixture_of(state);
  leat_stream *const a = open_stream(f);
  leat_stream *const b = open_stream(f);
  const uint64_t first = alloc_on(f, 9000, a);
  use_in_future(f, first, a);
  release(f, first);
  /* Allocated and freed by stream a without a use: a's earlier work still runs. */
  const uint64_t again = alloc_on(f, 9000, a);
  assert_int_equal(again, first);
  release(f, again);
  const uint64_t other = alloc_on(f, 9000, b);
  assert_int_not_equal(other, first);
  release(f, other);
  assert_ok(f->api->stream->destroy(a, &err));
  assert_ok(f->api->stream->destroy(b, &err));
}

static void uses_by_many_streams_all_count(void **state) {
  enum { STREAMS = 20 };
  fixture *const f = fixture_of(state);
  leat_stream *streams[STREAMS];
  const uint64_t address = alloc_on(f, 300, NULL);
  for (int i = 0; i < STREAMS; ++i) {
    streams[i] = open_stream(f);
    use_in_future(f, address, streams[i]);
  }
  release(f, address);
  for (int i = 0; i < STREAMS; ++i) {
    const uint64_t other = alloc_on(f, 300, streams[i]);
    assert_int_not_equal(other, address);
    release(f, other);
    assert_ok(f->api->stream->destroy(streams[i], &err));
  }
}

static void trim_gives_back_what_nothing_uses(void **state) {
  fixture *const f = fixture_of(state);
  leat_stream *const stream = open_stream(f);
  uint64_t released;
  assert_ok(f->api->memory->trim(f->device, NULL, &err));
  const uint64_t idle = alloc_on(f, 40u << 20, NULL);
  const uint64_t busy = alloc_on(f, 50u << 20, stream);
  use_in_future(f, busy, stream);
  release(f, idle);
  release(f, busy);
  assert_ok(f->api->memory->trim(f->device, &released, &err));
  assert_true(released >= 40u << 20 && released < 50u << 20);
  assert_ok(f->api->stream->destroy(stream, &err));
}

/* Blocks of which there are many. A sanitizer, which makes each slow, need not see what as many take. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { MANY = 20000 };
#else
enum { MANY = 400000 };
#endif

/* Steps in proportion to the blocks. With steps in proportion to their square this takes minutes, and ctest ends it. */
static void many_blocks_go_back_quickly(void **state) {
  fixture *const f = fixture_of(state);
  static uint64_t held[MANY];
  unsigned seed = 1;
  uint64_t released;
  assert_ok(f->api->memory->trim(f->device, NULL, &err));
  for (size_t i = 0; i < MANY; ++i) {
    held[i] = alloc_on(f, 512, NULL);
  }
  /* In any order, so that the free list leads from segment to segment. */
  for (size_t left = MANY; left > 0; --left) {
    const size_t i = (size_t)rand_r(&seed) % left;
    release(f, held[i]);
    held[i] = held[left - 1];
  }
  assert_ok(f->api->memory->trim(f->device, &released, &err));
  assert_true(released >= UINT64_C(512) * MANY);
}

static void running_out_is_an_error_that_loses_nothing(void **state) {
  fixture *const f = fixture_of(state);
  uint64_t address = 0;
  leat_error said = {.struct_size = sizeof(said)};
  assert_int_equal(f->api->memory->alloc(f->device, UINT64_C(1) << 60, NULL, &address, &said),
                   LEAT_ERROR_OUT_OF_MEMORY);
  assert_non_null(strstr(said.message, "1152921504606846976"));
  assert_int_equal(f->api->memory->alloc(f->device, UINT64_MAX, NULL, &address, NULL), LEAT_ERROR_OUT_OF_MEMORY);
  release(f, alloc_on(f, 100, NULL));
}

static VkResult no_memory(VkDevice device, const VkMemoryAllocateInfo *info, const VkAllocationCallbacks *host,
                          VkDeviceMemory *out) {
  (void)device;
  (void)info;
  (void)host;
  (void)out;
  return VK_ERROR_TOO_MANY_OBJECTS;
}

static void before_running_out_every_free_block_is_looked_at(void **state) {
  enum { MOST = 200, BUSY = 40 };
  fixture *const f = fixture_of(state);
  leat_stream *const stream = open_stream(f);
  const PFN_vkAllocateMemory allocate = f->device->vk.AllocateMemory;
  uint64_t held[MOST];
  int count = 0;
  /* Every block of the class that there is, with enough for what follows. */
  for (; count < BUSY + 1; ++count) {
    held[count] = alloc_on(f, 3000, NULL);
  }
  f->device->vk.AllocateMemory = no_memory;
  int32_t status = LEAT_OK;
  while (status == LEAT_OK && count < MOST) {
    status = f->api->memory->alloc(f->device, 3000, NULL, &held[count], NULL);
    count += status == LEAT_OK ? 1 : 0;
  }
  /* One that is idle, behind many that are in use. */
  release(f, held[0]);
  for (int i = 1; i <= BUSY; ++i) {
    use_in_future(f, held[i], stream);
    release(f, held[i]);
  }
  uint64_t address = 0;
  const int32_t found = f->api->memory->alloc(f->device, 3000, NULL, &address, NULL);
  f->device->vk.AllocateMemory = allocate;
  assert_int_equal(status, LEAT_ERROR_OUT_OF_MEMORY);
  assert_int_equal(found, LEAT_OK);
  assert_int_equal(address, held[0]);
  release(f, address);
  for (int i = BUSY + 1; i < count; ++i) {
    release(f, held[i]);
  }
  assert_ok(f->api->stream->destroy(stream, &err));
}

/* ---- Uploads without a command ------------------------------------------------------------------------------------
 */

static DLTensor bytes_on(fixture *f, uint64_t address, void *host, int64_t *size) {
  return (DLTensor){.data = host != NULL ? host : (void *)(uintptr_t)address,
                    .device = {host != NULL ? kDLCPU : kDLVulkan, host != NULL ? 0 : (int)f->device->index},
                    .ndim = 1,
                    .dtype = {.code = kDLUInt, .bits = 8, .lanes = 1},
                    .shape = size};
}

static void upload(fixture *f, leat_stream *stream, uint64_t address, void *bytes, int64_t size) {
  const DLTensor from = bytes_on(f, 0, bytes, &size), to = bytes_on(f, address, NULL, &size);
  assert_ok(f->api->memory->copy(stream, &from, &to, &err));
}

static void download(fixture *f, leat_stream *stream, uint64_t address, void *bytes, int64_t size) {
  const DLTensor from = bytes_on(f, address, NULL, &size), to = bytes_on(f, 0, bytes, &size);
  assert_ok(f->api->memory->copy(stream, &from, &to, &err));
  assert_ok(f->api->stream->synchronize(stream, &err));
}

/* The value that covers what is in the stream: it rises when a command is appended to an empty list. */
static uint64_t promised(const leat_stream *stream) {
  return leati_stream_open_value(stream) - (leati_stream_open_count(stream) == 0 ? 1 : 0);
}

static void an_idle_mapped_block_takes_small_uploads_without_a_command(void **state) {
  enum { SIZE = 70000 };
  fixture *const f = fixture_of(state);
  leat_stream *const a = open_stream(f);
  leat_stream *const b = open_stream(f);
  static unsigned char in[SIZE], out[SIZE];
  const uint64_t address = alloc_on(f, SIZE, a);
  leati_block *const block = leati_memory_find(f->device, address);
  unsigned char *const mapped = leati_block_mapped(block);
  if (mapped == NULL) {
    print_message("the device's memory is not mapped\n");
    skip();
  }
  memset(in, 7, SIZE);
  uint64_t before = promised(a);
  upload(f, a, address + 4000, in, 1 << 16);
  assert_int_equal(promised(a), before);
  assert_memory_equal(mapped + 4000, in, 1 << 16);
  /* One byte more goes through staging. */
  upload(f, a, address, in, (1 << 16) + 1);
  assert_int_equal(promised(a), before + 1);
  assert_false(leati_block_idle(block));
  assert_ok(f->api->stream->synchronize(a, &err));
  assert_true(leati_block_idle(block));
  /* So does a small one while another stream uses the block. */
  use_in_future(f, address, b);
  assert_false(leati_block_idle(block));
  memset(in, 8, SIZE);
  upload(f, a, address, in, 100);
  assert_int_equal(promised(a), before + 2);
  assert_ok(f->api->stream->synchronize(a, &err));
  assert_false(leati_block_idle(block));
  download(f, a, address, out, SIZE);
  assert_memory_equal(out, in, 100);
  assert_int_equal(out[100], 7);
  release(f, address);
  /* Large blocks are not mapped, and their uploads arrive all the same. */
  const uint64_t large = alloc_on(f, 2u << 20, a);
  assert_null(leati_block_mapped(leati_memory_find(f->device, large)));
  upload(f, a, large, in, 100);
  download(f, a, large, out, 100);
  assert_memory_equal(out, in, 100);
  release(f, large);
  assert_ok(f->api->stream->destroy(a, &err));
  assert_ok(f->api->stream->destroy(b, &err));
}

static VkResult no_mapping(VkDevice device, VkDeviceMemory memory, VkDeviceSize offset, VkDeviceSize size,
                           VkMemoryMapFlags flags, void **out) {
  (void)device;
  (void)memory;
  (void)offset;
  (void)size;
  (void)flags;
  (void)out;
  return VK_ERROR_MEMORY_MAP_FAILED;
}

static void a_block_that_cannot_be_mapped_is_used_unmapped(void **state) {
  fixture *const f = fixture_of(state);
  leat_stream *const stream = open_stream(f);
  unsigned char in[100], out[100];
  const PFN_vkMapMemory map = f->device->vk.MapMemory;
  assert_ok(f->api->memory->trim(f->device, NULL, &err));
  f->device->vk.MapMemory = no_mapping;
  uint64_t address = 0;
  const int32_t status = f->api->memory->alloc(f->device, 100, stream, &address, NULL);
  f->device->vk.MapMemory = map;
  assert_int_equal(status, LEAT_OK);
  assert_null(leati_block_mapped(leati_memory_find(f->device, address)));
  memset(in, 9, sizeof(in));
  upload(f, stream, address, in, sizeof(in));
  download(f, stream, address, out, sizeof(out));
  assert_memory_equal(in, out, sizeof(in));
  release(f, address);
  assert_ok(f->api->memory->trim(f->device, NULL, &err));
  assert_ok(f->api->stream->destroy(stream, &err));
}

/* ---- Watermarks ---------------------------------------------------------------------------------------------------
 */

static leat_memory_stats stats_of(fixture *f) {
  leat_memory_stats stats = {.struct_size = sizeof(stats)};
  assert_ok(f->api->memory->stats(f->device, &stats, &err));
  return stats;
}

static void streams_reuse_their_staging_and_trim_gives_it_back(void **state) {
  enum { STREAMS = 3 };
  fixture *const f = fixture_of(state);
  leat_stream *streams[STREAMS];
  unsigned char bytes[100];
  uint64_t released, taken = 0;
  for (int i = 0; i < STREAMS; ++i) {
    streams[i] = open_stream(f);
  }
  const uint64_t address = alloc_on(f, sizeof(bytes), streams[0]);
  assert_ok(f->api->memory->trim(f->device, NULL, &err));
  const leat_memory_stats idle = stats_of(f);
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < STREAMS; ++i) {
      download(f, streams[i], address, bytes, sizeof(bytes));
    }
    taken = round == 0 ? stats_of(f).staging_bytes - idle.staging_bytes : taken;
  }
  assert_int_not_equal(taken, 0);
  assert_int_equal(stats_of(f).staging_bytes - idle.staging_bytes, taken);
  assert_ok(f->api->memory->trim(f->device, &released, &err));
  assert_int_equal(released, taken);
  assert_int_equal(stats_of(f).staging_bytes, idle.staging_bytes);
  release(f, address);
  for (int i = 0; i < STREAMS; ++i) {
    assert_ok(f->api->stream->destroy(streams[i], &err));
  }
}

static void large_staging_is_kept_for_reuse_up_to_a_bound(void **state) {
  enum { SIZE = 40 << 20, KEPT_MAX = 256 << 20, TIMES = KEPT_MAX / SIZE + 1 };
  fixture *const f = fixture_of(state);
  leat_stream *const stream = open_stream(f);
  unsigned char *const bytes = malloc(SIZE);
  int64_t size = SIZE;
  assert_non_null(bytes);
  const uint64_t address = alloc_on(f, SIZE, stream);
  const DLTensor from = bytes_on(f, address, NULL, &size), to = bytes_on(f, 0, bytes, &size);
  assert_ok(f->api->memory->trim(f->device, NULL, &err));
  const uint64_t idle = stats_of(f).staging_bytes;
  download(f, stream, address, bytes, SIZE);
  const uint64_t taken = stats_of(f).staging_bytes - idle;
  assert_true(taken >= SIZE);
  /* However often they are used and trimmed. */
  for (int i = 0; i < 2 * TIMES; ++i) {
    download(f, stream, address, bytes, SIZE);
    assert_int_equal(stats_of(f).staging_bytes - idle, taken);
    if (i < TIMES) {
      assert_ok(f->api->memory->trim(f->device, NULL, &err));
    }
  }
  for (int i = 0; i < TIMES; ++i) {
    assert_ok(f->api->memory->copy(stream, &from, &to, &err));
  }
  assert_ok(f->api->stream->synchronize(stream, &err));
  assert_in_range(stats_of(f).staging_bytes - idle, taken, KEPT_MAX);
  assert_ok(f->api->memory->trim(f->device, NULL, &err));
  free(bytes);
  release(f, address);
  assert_ok(f->api->stream->destroy(stream, &err));
}

static void what_streams_need_one_after_the_other_is_kept_once(void **state) {
  /* Each download has a chunk of its own. */
  enum { STREAMS = 4, CHUNKS = 32, SIZE = 200000 };
  fixture *const f = fixture_of(state);
  leat_stream *streams[STREAMS];
  unsigned char *const bytes = malloc(SIZE);
  int64_t size = SIZE;
  uint64_t once = 0;
  assert_non_null(bytes);
  for (int i = 0; i < STREAMS; ++i) {
    streams[i] = open_stream(f);
  }
  const uint64_t address = alloc_on(f, SIZE, streams[0]);
  assert_ok(f->api->memory->trim(f->device, NULL, &err));
  const uint64_t idle = stats_of(f).staging_bytes;
  for (int i = 0; i < STREAMS; ++i) {
    const DLTensor from = bytes_on(f, address, NULL, &size), to = bytes_on(f, 0, bytes, &size);
    for (int j = 0; j < CHUNKS; ++j) {
      assert_ok(f->api->memory->copy(streams[i], &from, &to, &err));
    }
    assert_ok(f->api->stream->synchronize(streams[i], &err));
    once = i == 0 ? stats_of(f).staging_bytes - idle : once;
  }
  assert_true(once >= (uint64_t)CHUNKS * SIZE);
  assert_true(stats_of(f).staging_bytes - idle < 2 * once);
  assert_ok(f->api->memory->trim(f->device, NULL, &err));
  assert_int_equal(stats_of(f).staging_bytes, idle);
  free(bytes);
  release(f, address);
  for (int i = 0; i < STREAMS; ++i) {
    assert_ok(f->api->stream->destroy(streams[i], &err));
  }
}

/* Sets the high watermark to so many bytes of the device's memory, or a little less. */
static void limit_to(fixture *f, uint64_t bytes) {
  char ratio[32];
  (void)snprintf(ratio, sizeof(ratio), "%.9f", (double)bytes / (double)f->device->physical->info.memory_size);
  reopen(f, "LEAT_HIGH_WATERMARK_RATIO", ratio);
}

static void the_high_watermark_holds_and_says_so(void **state) {
  enum { MOST = 64 };
  fixture *const f = fixture_of(state);
  limit_to(f, UINT64_C(256) << 20);
  uint64_t held[MOST];
  int count = 0;
  leat_error said = {.struct_size = sizeof(said)};
  int32_t status = LEAT_OK;
  while (status == LEAT_OK && count < MOST) {
    status = f->api->memory->alloc(f->device, 8u << 20, NULL, &held[count], &said);
    count += status == LEAT_OK ? 1 : 0;
  }
  leat_memory_stats stats = stats_of(f);
  assert_int_equal(status, LEAT_ERROR_OUT_OF_MEMORY);
  assert_non_null(strstr(said.message, "LEAT_HIGH_WATERMARK_RATIO"));
  char figure[32];
  (void)snprintf(figure, sizeof(figure), "%llu", (unsigned long long)stats.limit_bytes);
  assert_non_null(strstr(said.message, figure));
  assert_true(stats.limit_bytes <= UINT64_C(256) << 20);
  assert_true(stats.reserved_bytes + stats.staging_bytes <= stats.limit_bytes);
  assert_true(stats.reserved_bytes + stats.staging_bytes + (9u << 20) > stats.limit_bytes);
  assert_int_equal(stats.reclaim_count, 0);
  for (int i = 0; i < count; ++i) {
    release(f, held[i]);
  }
  assert_int_equal(stats_of(f).cached_bytes, stats_of(f).reserved_bytes);
  /* What is cached makes room for another class, down to the low watermark, which is 0.8 of the high one. */
  const uint64_t other = alloc_on(f, 20u << 20, NULL);
  stats = stats_of(f);
  assert_int_equal(stats.reclaim_count, 1);
  assert_true((double)(stats.reserved_bytes - (20u << 20)) <= 0.8 * (double)stats.limit_bytes + (1 << 20));
  assert_true(stats.cached_bytes > 64u << 20);
  release(f, other);
  reopen(f, "LEAT_HIGH_WATERMARK_RATIO", NULL);
}

/* Opens the device anew with watermarks of so many bytes. */
static void limits_to(fixture *f, uint64_t high, uint64_t low) {
  char ratio[32];
  (void)snprintf(ratio, sizeof(ratio), "%.9f", (double)low / (double)f->device->physical->info.memory_size);
  reopen(f, "LEAT_LOW_WATERMARK_RATIO", ratio);
  limit_to(f, high);
}

static void the_low_watermark_is_what_was_set(void **state) {
  enum { MOST = 24 };
  fixture *const f = fixture_of(state);
  for (uint64_t low = UINT64_C(64) << 20; low <= UINT64_C(128) << 20; low += UINT64_C(64) << 20) {
    limits_to(f, UINT64_C(256) << 20, low);
    uint64_t held[MOST];
    for (int i = 0; i < MOST; ++i) {
      held[i] = alloc_on(f, 8u << 20, NULL);
    }
    for (int i = 0; i < MOST; ++i) {
      release(f, held[i]);
    }
    /* There is no room for this one. Idle memory goes back down to the low watermark, and no further. */
    const uint64_t other = alloc_on(f, 80u << 20, NULL);
    const leat_memory_stats stats = stats_of(f);
    assert_int_equal(stats.reclaim_count, 1);
    assert_true(stats.reserved_bytes - (80u << 20) <= low + (1u << 20));
    assert_true(stats.reserved_bytes - (80u << 20) + (24u << 20) > low);
    release(f, other);
    reopen(f, "LEAT_HIGH_WATERMARK_RATIO", NULL);
    reopen(f, "LEAT_LOW_WATERMARK_RATIO", NULL);
  }
}

static void a_class_counts_what_becomes_of_its_blocks(void **state) {
  enum { BLOCKS = 5, AGAIN = 3, SIZE = 57344 };
  fixture *const f = fixture_of(state);
  uint64_t held[BLOCKS];
  reopen(f, "LEAT_LANES", NULL); /* the figures begin anew */
  for (int i = 0; i < BLOCKS; ++i) {
    held[i] = alloc_on(f, SIZE, NULL);
  }
  const uint64_t calls = stats_of(f).driver_call_count;
  assert_int_equal(calls, 1);
  for (int i = 0; i < BLOCKS; ++i) {
    release(f, held[i]);
  }
  leat_memory_class seen = class_of_size(f, SIZE);
  assert_int_equal(seen.live_count, 0);
  assert_int_equal(seen.cached_count, BLOCKS);
  assert_int_equal(seen.allocation_count, BLOCKS);
  assert_int_equal(seen.reuse_count, 0);
  for (int i = 0; i < AGAIN; ++i) {
    held[i] = alloc_on(f, SIZE, NULL);
  }
  seen = class_of_size(f, SIZE);
  assert_int_equal(seen.live_count, AGAIN);
  assert_int_equal(seen.cached_count, BLOCKS - AGAIN);
  assert_int_equal(seen.allocation_count, BLOCKS + AGAIN);
  assert_int_equal(seen.reuse_count, AGAIN);
  for (int i = 0; i < AGAIN; ++i) {
    release(f, held[i]);
  }
  release(f, alloc_on(f, 50u << 20, NULL));
  assert_int_equal(stats_of(f).driver_call_count, calls + 1);
  assert_ok(f->api->memory->trim(f->device, NULL, &err));
  seen = class_of_size(f, SIZE);
  assert_int_equal(seen.cached_count, 0);
  assert_int_equal(seen.reserved_bytes, 0);
}

static void near_the_watermark_a_segment_is_as_small_as_its_block(void **state) {
  fixture *const f = fixture_of(state);
  /* Less than the segment of 16 MiB that blocks of this size are usually cut from. */
  limit_to(f, UINT64_C(4) << 20);
  const uint64_t a = alloc_on(f, 300000, NULL);
  const uint64_t b = alloc_on(f, 300000, NULL);
  assert_true(stats_of(f).reserved_bytes <= 1u << 20);
  release(f, a);
  release(f, b);
  assert_int_equal(f->api->memory->trim(f->device, NULL, NULL), LEAT_OK);
  assert_int_equal(stats_of(f).reserved_bytes, 0);
  assert_int_equal(stats_of(f).cached_bytes, 0);
  reopen(f, "LEAT_HIGH_WATERMARK_RATIO", NULL);
}

/* The driver refuses as long as the device has more than this. Guarded by the test's single thread. */
static uint64_t driver_has;
static fixture *driver_of;
static PFN_vkAllocateMemory driver_allocate;

static VkResult little_memory(VkDevice device, const VkMemoryAllocateInfo *info, const VkAllocationCallbacks *host,
                              VkDeviceMemory *out) {
  return stats_of(driver_of).reserved_bytes + info->allocationSize > driver_has
             ? VK_ERROR_OUT_OF_DEVICE_MEMORY
             : driver_allocate(device, info, host, out);
}

static void a_refusal_by_the_driver_gives_all_cached_memory_back(void **state) {
  fixture *const f = fixture_of(state);
  assert_ok(f->api->memory->trim(f->device, NULL, &err));
  const uint64_t idle = alloc_on(f, 40u << 20, NULL);
  const uint64_t kept = alloc_on(f, 34u << 20, NULL);
  release(f, idle);
  const leat_memory_stats before = stats_of(f);
  driver_of = f;
  driver_has = before.reserved_bytes;
  driver_allocate = f->device->vk.AllocateMemory;
  f->device->vk.AllocateMemory = little_memory;
  uint64_t address = 0, never = 0;
  const int32_t status = f->api->memory->alloc(f->device, 3u << 20, NULL, &address, NULL);
  const int32_t too_much = f->api->memory->alloc(f->device, 60u << 20, NULL, &never, NULL);
  f->device->vk.AllocateMemory = driver_allocate;
  assert_int_equal(status, LEAT_OK);
  assert_int_equal(too_much, LEAT_ERROR_OUT_OF_MEMORY);
  assert_int_equal(stats_of(f).reclaim_count, before.reclaim_count + 1);
  assert_true(stats_of(f).reserved_bytes < before.reserved_bytes);
  release(f, kept);
  release(f, address);
  assert_ok(f->api->memory->trim(f->device, NULL, &err));
}

static void peaks_begin_again_from_what_is_held(void **state) {
  fixture *const f = fixture_of(state);
  assert_ok(f->api->memory->trim(f->device, NULL, &err));
  const leat_memory_stats begin = stats_of(f);
  release(f, alloc_on(f, 50u << 20, NULL));
  assert_true(stats_of(f).allocated_peak >= begin.allocated_bytes + (50u << 20));
  assert_ok(f->api->memory->trim(f->device, NULL, &err));
  assert_ok(f->api->memory->reset_peaks(f->device, &err));
  assert_int_equal(stats_of(f).allocated_peak, begin.allocated_bytes);
  assert_int_equal(stats_of(f).reserved_peak, begin.reserved_bytes);
}

/* ---- Guarding -----------------------------------------------------------------------------------------------------
 */

static unsigned char *seen_at(fixture *f, uint64_t address) {
  return leati_block_mapped(leati_memory_find(f->device, address));
}

/* The call said that the block is damaged, and how. */
static void assert_found(int32_t status, const leat_error *said, uint64_t address, const char *what) {
  char name[32];
  (void)snprintf(name, sizeof(name), "0x%llx", (unsigned long long)address);
  if (status != LEAT_ERROR_CORRUPTED || strstr(said->message, name) == NULL || strstr(said->message, what) == NULL) {
    fail_msg("status %d: \"%s\" lacks \"%s\" or \"%s\"", (int)status, said->message, name, what);
  }
}

static void damage_is_found_when_a_block_is_freed(void **state) {
  static const struct {
    int64_t offset;
    const char *what;
  } damages[] = {
      {-1, "before its begin: the first bad byte is at offset -1"},
      {-256, "before its begin: the first bad byte is at offset -256"},
      {1000, "of 1000 bytes (generation 1) was written behind its end: the first bad byte is at offset 1000"},
      {1255, "behind its end: the first bad byte is at offset 1255"}};
  fixture *const f = fixture_of(state);
  reopen(f, "LEAT_MEMORY_GUARD", "1");
  for (unsigned i = 0; i < sizeof(damages) / sizeof(damages[0]); ++i) {
    leat_error said = {.struct_size = sizeof(said)};
    const uint64_t neighbour = alloc_on(f, 1000, NULL);
    const uint64_t address = alloc_on(f, 1000, NULL);
    const uint64_t next = alloc_on(f, 1000, NULL);
    assert_int_equal(address % 256, 0);
    seen_at(f, address)[0] = 1;
    seen_at(f, address)[999] = 1;
    seen_at(f, address)[damages[i].offset] ^= 0x40;
    if (i != 2) {
      assert_found(f->api->memory->free(f->device, address, &said), &said, address, damages[i].what);
    } else {
      /* Without a place for the message the next synchronisation has it. */
      assert_int_equal(f->api->memory->free(f->device, address, NULL), LEAT_ERROR_CORRUPTED);
      char what[128];
      (void)snprintf(what, sizeof(what), "%s", strchr(damages[i].what, 'w'));
      assert_found(f->api->device->synchronize(f->device, &said), &said, address, what);
    }
    assert_int_equal(f->api->memory->free(f->device, address, NULL), LEAT_ERROR_INVALID_ARGUMENT);
    release(f, neighbour);
    release(f, next);
    /* It is told once. */
    assert_ok(f->api->device->synchronize(f->device, &err));
  }
  reopen(f, "LEAT_MEMORY_GUARD", NULL);
}

/* A copy of the first view to the second. */
static int32_t record_copy(leati_recorder *recorder, const void *what, leat_error *err) {
  const leati_view *const views = what;
  return leati_record_copy(recorder, &views[0], &views[1], err);
}

static void damage_to_a_live_block_is_found_by_synchronize(void **state) {
  fixture *const f = fixture_of(state);
  reopen(f, "LEAT_MEMORY_GUARD", "1");
  leat_error said = {.struct_size = sizeof(said)};
  leat_stream *const stream = open_stream(f);
  const uint64_t from = alloc_on(f, 64, stream), to = alloc_on(f, 500, stream);
  /* By the device, through a view that no check has seen: its last four bytes are not the block's. */
  static unsigned char bytes[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  upload(f, stream, from, bytes, sizeof(bytes));
  int64_t size = 8;
  leati_view views[2];
  const DLTensor from_view = bytes_on(f, from, NULL, &size), to_view = bytes_on(f, to, NULL, &size);
  assert_ok(leati_view_import(f->device, &from_view, "source", &views[0], &err));
  assert_ok(leati_view_import(f->device, &to_view, "target", &views[1], &err));
  views[1].address = views[1].begin = to + 496;
  views[1].end = to + 504;
  assert_ok(leati_record(stream, record_copy, views, &err));
  assert_found(f->api->device->synchronize(f->device, &said), &said, to,
               "behind its end: the first bad byte is at offset 500");
  assert_ok(f->api->device->synchronize(f->device, &err));
  release(f, from);
  release(f, to);
  assert_ok(f->api->stream->destroy(stream, &err));
  reopen(f, "LEAT_MEMORY_GUARD", NULL);
}

static void damage_to_a_block_in_flight_is_found_later(void **state) {
  fixture *const f = fixture_of(state);
  reopen(f, "LEAT_MEMORY_GUARD", "1");
  leat_error said = {.struct_size = sizeof(said)};
  leat_stream *const stream = open_stream(f);
  const uint64_t address = alloc_on(f, 2000, stream), other = alloc_on(f, 2000, stream);
  unsigned char *const seen = seen_at(f, address);
  use_in_future(f, address, stream);
  seen[2001] ^= 1;
  release(f, address);
  assert_ok(f->api->device->synchronize(f->device, &err));
  /* Nobody gets it meanwhile, not even its own stream: its last user's bytes may still land there. */
  const uint64_t again = alloc_on(f, 2000, stream);
  assert_int_not_equal(again, address);
  unsigned char out[10];
  download(f, stream, other, out, sizeof(out));
  assert_found(f->api->device->synchronize(f->device, &said), &said, address, "offset 2001");
  /* Poisoned now, and watched as a whole. */
  assert_int_equal(seen[0], seen[1999]);
  seen[1234] ^= 0x80;
  assert_found(f->api->device->synchronize(f->device, &said), &said, address,
               "after it was freed: the first bad byte is at offset 1234");
  seen[7] = 0;
  /* It leaves the quarantine when many have come after it, and is looked at then. */
  for (int i = 0; i < 40; ++i) {
    release(f, alloc_on(f, 2000, NULL));
  }
  assert_found(f->api->device->synchronize(f->device, &said), &said, address,
               "after it was freed: the first bad byte is at offset 7");
  release(f, other);
  release(f, again);
  assert_ok(f->api->stream->destroy(stream, &err));
  reopen(f, "LEAT_MEMORY_GUARD", NULL);
}

static void the_quarantine_is_bounded(void **state) {
  fixture *const f = fixture_of(state);
  reopen(f, "LEAT_MEMORY_GUARD", "1");
  /* 1110 MiB, were it not for the bound. */
  for (int i = 0; i < 30; ++i) {
    release(f, alloc_on(f, 3u << 20, NULL));
    release(f, alloc_on(f, 34u << 20, NULL));
  }
  /* Two classes: a segment of 16 MiB more than the quarantine, and two blocks of a size of their own. */
  assert_true(stats_of(f).reserved_bytes <= 128u << 20);
  assert_ok(f->api->memory->trim(f->device, NULL, &err));
  assert_int_equal(stats_of(f).reserved_bytes, 0);
  reopen(f, "LEAT_MEMORY_GUARD", NULL);
}

/* Blocks that are freed while work uses them are not all looked at whenever another one comes or goes. */
static void many_blocks_wait_in_the_quarantine_quickly(void **state) {
  enum { BLOCKS = MANY / 2 };
  fixture *const f = fixture_of(state);
  reopen(f, "LEAT_MEMORY_GUARD", "1");
  leat_stream *const stream = open_stream(f);
  static uint64_t held[BLOCKS];
  unsigned char byte = 1;
  for (size_t i = 0; i < BLOCKS; ++i) {
    held[i] = alloc_on(f, 100, NULL);
    use_in_future(f, held[i], stream);
  }
  upload(f, stream, held[0], &byte, 1);
  for (size_t i = 0; i < BLOCKS; ++i) {
    release(f, held[i]);
  }
  assert_ok(f->api->memory->trim(f->device, NULL, &err));
  assert_true(stats_of(f).reserved_bytes >= UINT64_C(100) * BLOCKS);
  assert_ok(f->api->stream->synchronize(stream, &err));
  assert_ok(f->api->memory->trim(f->device, NULL, &err));
  assert_int_equal(stats_of(f).reserved_bytes, 0);
  assert_ok(f->api->stream->destroy(stream, &err));
  reopen(f, "LEAT_MEMORY_GUARD", NULL);
}

/* ---- Guard pages --------------------------------------------------------------------------------------------------
 */

enum { STRAY_SIZE = 1000, STRAY_ROOM = 1024 };

/* What a process does on a device that is guarded by pages, to end by it or not. */
typedef struct stray {
  const char *name;
  int64_t offset; /* bytes from the block's begin that a kernel reads there */
  bool freed;     /* the block was freed before */
  bool ends;
} stray;

static const stray strays[] = {
    {.name = "first bytes", .offset = 0},
    {.name = "last bytes", .offset = STRAY_ROOM - 4},
    {.name = "behind the block", .offset = STRAY_ROOM, .ends = true},
    {.name = "before the pages", .offset = -4096, .ends = true},
    {.name = "after it was freed", .freed = true, .ends = true},
};

/* The argument record of plugin/ops/core/kernels/download.comp. */
typedef struct reading {
  uint64_t from, to;
  uint32_t count; /* of four bytes each */
} reading;

static int32_t record_reading(leati_recorder *recorder, const void *what, leat_error *err) {
  const leati_dispatch dispatch = {.pipeline = {.kernel = LEATI_KERNEL_DOWNLOAD_32},
                                   .args = what,
                                   .args_size = sizeof(reading),
                                   .groups = {1, 1, 1}};
  return leati_record_dispatch(recorder, &dispatch, err);
}

/* Lets a kernel read where no check of ours lets one. In a process of its own; returns its exit status. */
static int go_astray(const stray *how) {
  const struct rlimit no_core = {.rlim_cur = 0};
  void *state = NULL;
  (void)setrlimit(RLIMIT_CORE, &no_core);
  /* Sanitizers would rather tell of it. */
  (void)signal(SIGSEGV, SIG_DFL);
  (void)setenv("LEAT_MEMORY_GUARD", "pages", 1);
  if (fixture_open(&state) != 0) {
    free(state);
    return 77;
  }
  fixture *const f = state;
  leat_stream *const stream = open_stream(f);
  const uint64_t block = alloc_on(f, STRAY_SIZE, stream), target = alloc_on(f, STRAY_SIZE, stream);
  if (how->freed) {
    release(f, block);
    assert_ok(f->api->device->synchronize(f->device, &err));
  }
  const reading there = {.from = block + (uint64_t)how->offset, .to = target, .count = 1};
  assert_ok(leati_record(stream, record_reading, &there, &err));
  assert_ok(f->api->stream->synchronize(stream, &err));
  if (!how->freed) {
    release(f, block);
  }
  release(f, target);
  assert_ok(f->api->stream->destroy(stream, &err));
  return fixture_close(&state);
}

static void a_device_that_leaves_its_pages_is_stopped(void **state) {
  (void)fixture_of(state);
  for (size_t i = 0; i < sizeof(strays) / sizeof(strays[0]); ++i) {
    char *const arguments[] = {(char *)(uintptr_t) "memory_test", (char *)(uintptr_t)strays[i].name, NULL};
    pid_t process = 0;
    int status = 0;
    assert_int_equal(start_again(arguments, &process), 0);
    assert_int_equal(waitpid(process, &status, 0), process);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
      skip();
    }
    const bool ended = WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
    if (ended != strays[i].ends || (!ended && (!WIFEXITED(status) || WEXITSTATUS(status) != 0))) {
      fail_msg("reading the %s: status %#x", strays[i].name, (unsigned)status);
    }
  }
}

/* ---- The report of leaks ------------------------------------------------------------------------------------------
 */

static void leaks_are_named_when_the_device_closes(void **state) {
  enum { LEAKED = 15 };
  fixture *const f = fixture_of(state);
  reopen(f, "LEAT_LOG", "info");
  uint64_t leaked[LEAKED];
  for (int i = 0; i < LEAKED; ++i) {
    leaked[i] = alloc_on(f, 4321, NULL);
  }
  FILE *const file = tmpfile();
  assert_non_null(file);
  (void)fflush(stderr);
  const int usual = dup(STDERR_FILENO);
  assert_true(dup2(fileno(file), STDERR_FILENO) >= 0);
  leat_error said = {.struct_size = sizeof(said)};
  const int32_t status = f->api->device->close(f->device, &said);
  (void)fflush(stderr);
  (void)dup2(usual, STDERR_FILENO);
  (void)close(usual);
  assert_int_equal(status, LEAT_OK);
  f->device = NULL;
  rewind(file);
  char line[256], first[64];
  int named = 0, totals = 0;
  (void)snprintf(first, sizeof(first), "still held: 0x%llx, 4321 bytes\n", (unsigned long long)leaked[0]);
  while (fgets(line, sizeof(line), file) != NULL) {
    totals += strstr(line, "warn: 15 blocks (64815 bytes)") != NULL ? 1 : 0;
    if (strstr(line, "info: still held: 0x") != NULL) {
      assert_true(named != 0 || strstr(line, first) != NULL);
      ++named;
    }
  }
  (void)fclose(file);
  assert_int_equal(totals, 1);
  assert_int_equal(named, 10);
  assert_ok(f->api->shutdown(&err));
  assert_ok(f->api->configure("LEAT_LOG", NULL, &err));
  assert_ok(f->api->device->open(0, &f->device, &err));
}

/* ---- Threads ------------------------------------------------------------------------------------------------------
 */

/* Whether the figures are possible at any moment. */
static bool plausible(const leat_memory_stats *stats) {
  return stats->allocated_peak >= stats->allocated_bytes && stats->reserved_peak >= stats->reserved_bytes &&
         stats->live_block_count < 1000 && stats->cached_bytes < UINT64_C(1) << 40 &&
         stats->reserved_bytes <= stats->limit_bytes;
}

static void *churn(void *argument) {
  fixture *const f = argument;
  uint64_t held[16] = {0};
  unsigned seed = (unsigned)(uintptr_t)&held;
  leat_stream *stream;
  if (f->api->stream->create(f->device, 0, &stream, NULL) != LEAT_OK) {
    return argument;
  }
  for (int i = 0; i < 4000; ++i) {
    const unsigned slot = (unsigned)rand_r(&seed) % 16;
    if (held[slot] != 0 && (leati_memory_find(f->device, held[slot]) == NULL ||
                            f->api->memory->free(f->device, held[slot], NULL) != LEAT_OK)) {
      return argument;
    }
    held[slot] = 0;
    if (f->api->memory->alloc(f->device, (unsigned)rand_r(&seed) % 100000, NULL, &held[slot], NULL) != LEAT_OK) {
      return argument;
    }
    if (i % 8 == 0 && f->api->memory->record_stream(f->device, held[slot], stream, NULL) != LEAT_OK) {
      return argument;
    }
    if (i % 64 == 0) {
      leat_memory_stats stats = {.struct_size = sizeof(stats)};
      leat_memory_class classes[72];
      uint32_t count = 72;
      for (uint32_t j = 0; j < count; ++j) {
        classes[j].struct_size = sizeof(classes[j]);
      }
      if (f->api->memory->stats(f->device, &stats, NULL) != LEAT_OK || !plausible(&stats) ||
          f->api->memory->classes(f->device, &count, classes, NULL) != LEAT_OK) {
        return argument;
      }
    }
    if (i % 512 == 0) {
      (void)leati_memory_trim(f->device);
      (void)f->api->memory->reset_peaks(f->device, NULL);
    }
  }
  for (int i = 0; i < 16; ++i) {
    (void)f->api->memory->free(f->device, held[i], NULL);
  }
  return f->api->stream->destroy(stream, NULL) == LEAT_OK ? NULL : argument;
}

/* Elements of a longer struct lie elsewhere than ours: nothing is written, in no list of the ABI. */
static void lists_of_other_structs_are_refused(void **state) {
  fixture *const f = fixture_of(state);
  uint64_t address;
  assert_ok(f->api->memory->alloc(f->device, 300, NULL, &address, &err));
  leat_memory_class classes[2] = {{.struct_size = sizeof(classes[0])}, {.struct_size = sizeof(classes[0]) + 8}};
  leat_property properties[2] = {{.struct_size = sizeof(properties[0])}, {.struct_size = sizeof(properties[0]) + 8}};
  leat_profile_record records[2] = {{.struct_size = sizeof(records[0])}, {.struct_size = sizeof(records[0]) + 8}};
  uint32_t count = 2;
  assert_int_equal(f->api->memory->classes(f->device, &count, classes, NULL), LEAT_ERROR_INVALID_ARGUMENT);
  assert_int_equal(f->api->device->report(&count, properties, NULL), LEAT_ERROR_INVALID_ARGUMENT);
  assert_int_equal(f->api->profiler->read(f->device, &count, records, NULL), LEAT_ERROR_INVALID_ARGUMENT);
  assert_int_equal(count, 2);
  assert_int_equal(classes[0].allocation_count, 0);
  count = 1;
  assert_ok(f->api->memory->classes(f->device, &count, classes, &err));
  assert_int_not_equal(classes[0].allocation_count, 0);
  assert_ok(f->api->memory->free(f->device, address, &err));
}

static void threads_allocate_and_free_at_once(void **state) {
  enum { THREADS = 8 };
  fixture *const f = fixture_of(state);
  leat_memory_stats before = {.struct_size = sizeof(before)}, after = {.struct_size = sizeof(after)};
  assert_ok(f->api->memory->stats(f->device, &before, &err));
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    assert_int_equal(pthread_create(&threads[i], NULL, churn, f), 0);
  }
  for (int i = 0; i < THREADS; ++i) {
    void *failed;
    assert_int_equal(pthread_join(threads[i], &failed), 0);
    assert_null(failed);
  }
  assert_ok(f->api->memory->stats(f->device, &after, &err));
  assert_int_equal(after.allocated_bytes, before.allocated_bytes);
  assert_int_equal(after.live_block_count, before.live_block_count);
  assert_true(after.allocated_peak >= after.allocated_bytes);
}

/* A segment that comes and goes, of one large block or of many small ones. */
typedef struct coming {
  fixture *f;
  _Atomic uint64_t last; /* an address in it, live or not */
  _Atomic int done;
} coming;

static void *look_up(void *argument) {
  coming *const c = argument;
  while (atomic_load(&c->done) == 0) {
    const uint64_t address = atomic_load(&c->last) + 10;
    uint64_t base = 0, size = 0;
    if (c->f->api->memory->find(c->f->device, address, &base, &size, NULL) == LEAT_OK &&
        (address < base || address - base >= size)) {
      return argument;
    }
  }
  return NULL;
}

static void addresses_are_looked_up_while_segments_come_and_go(void **state) {
  coming c = {.f = fixture_of(state)};
  pthread_t thread;
  void *failed;
  assert_int_equal(pthread_create(&thread, NULL, look_up, &c), 0);
  for (uint64_t i = 0; i < 100; ++i) {
    const uint64_t address = alloc_on(c.f, i % 2 == 0 ? 7000 : (33 + i % 5 * 2) << 20, NULL);
    atomic_store(&c.last, address);
    release(c.f, address);
    (void)leati_memory_trim(c.f->device);
  }
  atomic_store(&c.done, 1);
  assert_int_equal(pthread_join(thread, &failed), 0);
  assert_null(failed);
}

int main(int argc, char **argv) {
  for (size_t i = 0; argc == 2 && i < sizeof(strays) / sizeof(strays[0]); ++i) {
    if (strcmp(argv[1], strays[i].name) == 0) {
      return go_astray(&strays[i]);
    }
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(blocks_of_all_sizes_are_aligned_and_disjoint),
      cmocka_unit_test(find_knows_live_blocks_only),
      cmocka_unit_test(a_block_in_use_is_reused_by_its_own_stream_only),
      cmocka_unit_test(an_idle_block_is_found_behind_many_in_use),
      cmocka_unit_test(passing_a_block_on_unused_does_not_hide_its_use),
      cmocka_unit_test(uses_by_many_streams_all_count),
      cmocka_unit_test(trim_gives_back_what_nothing_uses),
      cmocka_unit_test(many_blocks_go_back_quickly),
      cmocka_unit_test(running_out_is_an_error_that_loses_nothing),
      cmocka_unit_test(before_running_out_every_free_block_is_looked_at),
      cmocka_unit_test(an_idle_mapped_block_takes_small_uploads_without_a_command),
      cmocka_unit_test(a_block_that_cannot_be_mapped_is_used_unmapped),
      cmocka_unit_test(streams_reuse_their_staging_and_trim_gives_it_back),
      cmocka_unit_test(large_staging_is_kept_for_reuse_up_to_a_bound),
      cmocka_unit_test(what_streams_need_one_after_the_other_is_kept_once),
      cmocka_unit_test(the_high_watermark_holds_and_says_so),
      cmocka_unit_test(the_low_watermark_is_what_was_set),
      cmocka_unit_test(a_class_counts_what_becomes_of_its_blocks),
      cmocka_unit_test(near_the_watermark_a_segment_is_as_small_as_its_block),
      cmocka_unit_test(a_refusal_by_the_driver_gives_all_cached_memory_back),
      cmocka_unit_test(peaks_begin_again_from_what_is_held),
      cmocka_unit_test(damage_is_found_when_a_block_is_freed),
      cmocka_unit_test(damage_to_a_live_block_is_found_by_synchronize),
      cmocka_unit_test(damage_to_a_block_in_flight_is_found_later),
      cmocka_unit_test(the_quarantine_is_bounded),
      cmocka_unit_test(many_blocks_wait_in_the_quarantine_quickly),
      cmocka_unit_test(a_device_that_leaves_its_pages_is_stopped),
      cmocka_unit_test(leaks_are_named_when_the_device_closes),
      cmocka_unit_test(lists_of_other_structs_are_refused),
      cmocka_unit_test(threads_allocate_and_free_at_once),
      cmocka_unit_test(addresses_are_looked_up_while_segments_come_and_go),
  };
  return cmocka_run_group_tests_name("memory", tests, fixture_open, fixture_close);
}
