/* SPDX-License-Identifier: BSD-3-Clause */
/* The allocator: blocks never overlap, a block in use is never handed to somebody else, and memory goes back. */
#include "memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "device.h"
#include "fixture.h"
#include "streams/stream.h"

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
  leati_timeline *timeline;
  uint64_t value;
  leati_stream_promise(stream, &timeline, &value);
  leati_block_stamp(leati_memory_find(f->device, address), timeline, value + 1);
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
  assert_int_equal(leati_block_size(leati_memory_find(f->device, address)), 1000);
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

static void passing_a_block_on_unused_does_not_hide_its_use(void **state) {
  fixture *const f = fixture_of(state);
  leat_stream *const a = open_stream(f);
  leat_stream *const b = open_stream(f);
  const uint64_t first = alloc_on(f, 9000, a);
  use_in_future(f, first, a);
  release(f, first);
  /* Taken and given back by stream a without a use: a's earlier work still runs. */
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

static void *churn(void *argument) {
  fixture *const f = argument;
  uint64_t held[16] = {0};
  unsigned seed = (unsigned)(uintptr_t)&held;
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
    if (i % 512 == 0) {
      (void)leati_memory_trim(f->device);
    }
  }
  for (int i = 0; i < 16; ++i) {
    (void)f->api->memory->free(f->device, held[i], NULL);
  }
  return NULL;
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(blocks_of_all_sizes_are_aligned_and_disjoint),
      cmocka_unit_test(find_knows_live_blocks_only),
      cmocka_unit_test(a_block_in_use_is_reused_by_its_own_stream_only),
      cmocka_unit_test(passing_a_block_on_unused_does_not_hide_its_use),
      cmocka_unit_test(uses_by_many_streams_all_count),
      cmocka_unit_test(trim_gives_back_what_nothing_uses),
      cmocka_unit_test(running_out_is_an_error_that_loses_nothing),
      cmocka_unit_test(before_running_out_every_free_block_is_looked_at),
      cmocka_unit_test(threads_allocate_and_free_at_once),
      cmocka_unit_test(addresses_are_looked_up_while_segments_come_and_go),
  };
  return cmocka_run_group_tests_name("memory", tests, fixture_open, fixture_close);
}
