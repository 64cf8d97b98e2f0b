/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies that find no memory for their staging: they go through what the device has in reserve, so that a device that
 * is full can be read and written, and one with a block of more than half of its memory. */
#include "unit_fixture.h"

#include <pthread.h>
#include <string.h>

#include "device/device.h"
#include "nulldriver/blocks.h"
#include "nulldriver/test_host.h"
#include "policy/constants.h"
#include "streams/stream.h"

/* A device of SIZE bytes is full of BLOCKS blocks, each of three pieces, the last of which is smaller. */
enum { MIB = 1 << 20, SIZE = 16 * MIB, BLOCKS = 8, THREADS = 3, LARGE = 10 * MIB };
enum { FLOATS = 2 * (int)(LEATI_RESERVE_SIZE / sizeof(float)) + 1001, LARGE_FLOATS = LARGE / (int)sizeof(float) };

static int64_t floats = FLOATS, large_floats = LARGE_FLOATS;

static float in[LARGE_FLOATS], out[LARGE_FLOATS];

static struct {
  uint64_t blocks[BLOCKS], rest[1024];
  uint32_t count, rest_count;
} full;

/* Opens a device and takes all of its memory. */
static void open_full(void) {
  nulldriver_shape shape = nulldriver_get_shape();
  shape.device_heap = SIZE;
  nulldriver_set_shape(&shape);
  open_device();
  /* What a list takes beside its copies. */
  run_through(1);
  full.count = full.rest_count = 0;
  while (full.count < BLOCKS &&
         h.api->memory->alloc(h.device, FLOATS * sizeof(float), NULL, &full.blocks[full.count], NULL) == LEAT_OK) {
    ++full.count;
  }
  assert_in_range(full.count, THREADS, BLOCKS - 1);
  for (uint64_t size = MIB; size >= MIB / 16; size /= 2) {
    while (h.api->memory->alloc(h.device, size, NULL, &full.rest[full.rest_count], NULL) == LEAT_OK) {
      ++full.rest_count;
    }
  }
}

static void close_full(void) {
  for (uint32_t i = 0; i < full.count; ++i) {
    assert_ok(h.api->memory->free(h.device, full.blocks[i], &err));
  }
  for (uint32_t i = 0; i < full.rest_count; ++i) {
    assert_ok(h.api->memory->free(h.device, full.rest[i], &err));
  }
  close_device();
}

static int32_t put(leat_stream *stream, uint32_t block, float *from, uint32_t seed) {
  host_fill(from, FLOATS, (host_content){.seed = seed});
  const DLTensor source = host_tensor(from, &floats), target = device_tensor(full.blocks[block], &floats);
  return h.api->memory->copy(stream, &source, &target, NULL);
}

static int32_t get(leat_stream *stream, uint32_t block, float *to) {
  memset(to, 0xff, FLOATS * sizeof(float));
  const DLTensor source = device_tensor(full.blocks[block], &floats), target = host_tensor(to, &floats);
  return h.api->memory->copy(stream, &source, &target, NULL);
}

static void a_full_device_is_written_and_read(void **state) {
  static const nulldriver_mode modes[] = {NULLDRIVER_EAGER, NULLDRIVER_LAZY, NULLDRIVER_LATE, NULLDRIVER_SHUFFLED,
                                          NULLDRIVER_THREADED};
  for (uint32_t m = 0; m < sizeof(modes) / sizeof(modes[0]); ++m) {
    assert_int_equal(host_before(state), 0);
    open_full();
    nulldriver_set_mode(modes[m], 5);
    leat_stream *const stream = make_stream();
    for (uint32_t i = 0; i < full.count; ++i) {
      assert_int_equal(put(stream, i, in, 100 * m + i), LEAT_OK);
      memset(in, 0xff, FLOATS * sizeof(float)); /* it has been read */
    }
    for (uint32_t i = 0; i < full.count; ++i) {
      assert_int_equal(get(stream, i, out), LEAT_OK);
      assert_ok(h.api->stream->synchronize(stream, &err));
      assert_int_equal(host_compare(out, FLOATS, (host_content){.seed = 100 * m + i}), -1);
    }
    assert_ok(h.api->stream->destroy(stream, &err));
    close_full();
    assert_int_equal(host_after(state), 0);
  }
}

/* Of a device with one heap a block is copied without its size again. */
static void a_block_of_most_of_the_memory_is_copied(void **state) {
  (void)state;
  nulldriver_shape shape = nulldriver_get_shape();
  uint64_t block;
  shape.device_heap = SIZE;
  shape.type = VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU;
  nulldriver_set_shape(&shape);
  open_device();
  leat_stream *const stream = make_stream();
  assert_ok(h.api->memory->alloc(h.device, sizeof(in), stream, &block, &err));
  const DLTensor device = device_tensor(block, &large_floats), from = host_tensor(in, &large_floats),
                 to = host_tensor(out, &large_floats);
  host_fill(in, LARGE_FLOATS, (host_content){.seed = 3});
  assert_ok(h.api->memory->copy(stream, &from, &device, &err));
  assert_ok(h.api->memory->copy(stream, &device, &to, &err));
  assert_ok(h.api->stream->synchronize(stream, &err));
  assert_int_equal(host_compare(out, LARGE_FLOATS, (host_content){.seed = 3}), -1);
  assert_ok(h.api->memory->free(h.device, block, &err));
  assert_ok(h.api->stream->destroy(stream, &err));
  close_device();
}

/* A thread that copies its own blocks. */
typedef struct copier {
  pthread_t thread;
  uint32_t first;
  float in[FLOATS], out[FLOATS];
} copier;

static void *copy_to_and_fro(void *argument) {
  copier *const c = argument;
  leat_stream *stream;
  HOST_NEED(h.api->stream->create(h.device, 0, &stream, &err));
  for (uint32_t i = c->first; i < full.count; i += THREADS) {
    HOST_NEED(put(stream, i, c->in, i));
    HOST_NEED(get(stream, i, c->out));
    HOST_NEED(h.api->stream->synchronize(stream, &err));
    HOST_NEED(host_compare(c->out, FLOATS, (host_content){.seed = i}) == -1 ? LEAT_OK : LEAT_ERROR_INTERNAL);
  }
  HOST_NEED(h.api->stream->destroy(stream, &err));
  return NULL;
}

static void threads_take_turns(void **state) {
  (void)state;
  static copier copiers[THREADS];
  open_full();
  nulldriver_set_mode(NULLDRIVER_THREADED, 3);
  for (uint32_t i = 0; i < THREADS; ++i) {
    copiers[i].first = i;
    start_thread(&copiers[i].thread, copy_to_and_fro, &copiers[i]);
  }
  for (uint32_t i = 0; i < THREADS; ++i) {
    join_thread(copiers[i].thread);
  }
  close_full();
}

/* A piece that the queue refuses fails the stream; others, and it when that is cleared, find the reserve free. */
static void a_piece_that_is_refused_fails_the_stream(void **state) {
  for (uint64_t n = 1; n <= 3; ++n) {
    for (int up = 0; up < 2; ++up) {
      assert_int_equal(host_before(state), 0);
      open_full();
      nulldriver_set_mode(NULLDRIVER_LAZY, 0);
      leat_stream *const stream = make_stream(), *const other = make_stream();
      assert_int_equal(put(stream, 0, in, 1), LEAT_OK);
      assert_true(nulldriver_fail("vkQueueSubmit", n, VK_ERROR_OUT_OF_HOST_MEMORY));
      assert_int_equal(up ? put(stream, 1, in, 2) : get(stream, 0, out), LEAT_ERROR_OUT_OF_MEMORY);
      assert_int_equal(h.api->stream->synchronize(stream, NULL), LEAT_ERROR_OUT_OF_MEMORY);
      assert_int_equal(put(other, 2, in, 3), LEAT_OK);
      assert_ok(h.api->stream->clear_error(stream, &err));
      assert_int_equal(get(stream, 2, out), LEAT_OK);
      assert_int_equal(host_compare(out, FLOATS, (host_content){.seed = 3}), -1);
      assert_ok(h.api->stream->destroy(other, &err));
      assert_ok(h.api->stream->destroy(stream, &err));
      close_full();
      assert_int_equal(host_after(state), 0);
    }
  }
}

static void a_device_that_is_lost_ends_the_copy(void **state) {
  (void)state;
  open_full();
  leat_stream *const stream = make_stream();
  assert_int_equal(put(stream, 0, in, 1), LEAT_OK);
  assert_true(nulldriver_fail("vkQueueSubmit", 2, VK_ERROR_DEVICE_LOST));
  assert_int_equal(get(stream, 0, out), LEAT_ERROR_DEVICE_LOST);
  assert_int_equal(get(stream, 1, out), LEAT_ERROR_DEVICE_LOST);
  assert_ok(h.api->stream->destroy(stream, &err));
  close_full();
}

/* A device that has no memory for it can be used, and says what is missing. */
static void a_device_without_a_reserve_says_what_is_missing(void **state) {
  (void)state;
  leat_error said = {.struct_size = sizeof(said)};
  assert_true(nulldriver_fail("vkCreateBuffer", 1, VK_ERROR_OUT_OF_DEVICE_MEMORY));
  open_full();
  leat_stream *const stream = make_stream();
  const DLTensor block = device_tensor(full.blocks[0], &floats), to = host_tensor(out, &floats);
  assert_int_equal(h.api->memory->copy(stream, &block, &to, &said), LEAT_ERROR_OUT_OF_MEMORY);
  assert_non_null(strstr(said.message, "LEAT_HIGH_WATERMARK_RATIO"));
  assert_ok(h.api->stream->destroy(stream, &err));
  close_full();
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, host_before, host_after)
      CASE(a_full_device_is_written_and_read),
      CASE(a_block_of_most_of_the_memory_is_copied),
      CASE(threads_take_turns),
      CASE(a_piece_that_is_refused_fails_the_stream),
      CASE(a_device_that_is_lost_ends_the_copy),
      CASE(a_device_without_a_reserve_says_what_is_missing),
#undef CASE
  };
  return cmocka_run_group_tests_name("nulldriver.reserve", tests, NULL, NULL);
}
