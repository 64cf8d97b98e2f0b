/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of the host that the device works in: downloads into it are written by the device alone, in order with
 * whatever else is there, and what is freed serves nobody else before they have run. */
#include "unit_fixture.h"

#include <string.h>

#include "device/device.h"
#include "nulldriver/blocks.h"
#include "nulldriver/test_host.h"
#include "policy/allocation.h"
#include "streams/stream_state.h"
#include "submit/lane.h"

static void *take(uint64_t size) {
  void *memory = NULL;
  assert_ok(h.api->memory->alloc_host(h.device, size, &memory, &err));
  assert_int_equal((uintptr_t)memory % 64, 0);
  return memory;
}

static void give(void *memory) {
  assert_ok(h.api->memory->free_host(h.device, memory, &err));
}

/* Before a test: a GPU with memory of its own, where small downloads are a kernel's and large ones go in pieces. */
static int before(void **state) {
  const int status = host_before(state);
  host_be_discrete();
  return status;
}

static uint64_t staging(void) {
  leat_memory_stats stats = {.struct_size = sizeof(stats)};
  assert_ok(h.api->memory->stats(h.device, &stats, &err));
  return stats.staging_bytes;
}

/* By a kernel and by a copy command. The bytes are there before anybody waits, and no staging was taken for them. */
static void the_device_writes_there_itself(void **state) {
  (void)state;
  static float in[2 * LEATI_DOWNLOAD_PIECE / sizeof(float) + 99];
  static const int64_t sizes[] = {COUNT, sizeof(in) / sizeof(in[0])};
  for (int i = 0; i < 2; ++i) {
    int64_t floats = sizes[i];
    uint64_t block;
    open_device();
    leat_stream *const stream = make_stream();
    float *const out = take((uint64_t)floats * sizeof(float));
    assert_ok(h.api->memory->alloc(h.device, (uint64_t)floats * sizeof(float), stream, &block, &err));
    const DLTensor source = host_tensor(in, &floats), device = device_tensor(block, &floats),
                   to = host_tensor(out, &floats);
    host_fill(in, floats, (host_content){.seed = 1});
    assert_ok(h.api->memory->copy(stream, &source, &device, &err));
    assert_ok(h.api->stream->synchronize(stream, &err));
    memset(out, 0xff, (size_t)floats * sizeof(float));
    nulldriver_set_mode(NULLDRIVER_HELD, 0);
    const uint64_t before_it = staging(), copies = nulldriver_calls("vkCmdCopyBuffer"),
                   dispatches = nulldriver_calls("vkCmdDispatch");
    assert_ok(h.api->memory->copy(stream, &device, &to, &err));
    assert_ok(h.api->stream->flush(stream, &err));
    assert_int_equal(nulldriver_calls("vkCmdCopyBuffer") - copies, i);
    assert_int_equal(nulldriver_calls("vkCmdDispatch") - dispatches, 1 - i);
    assert_true(out[0] != out[0]);
    assert_int_equal(nulldriver_step(UINT32_MAX), 1);
    assert_int_equal(host_compare(out, floats, (host_content){.seed = 1}), -1);
    /* The kernel's argument record is all that was staged: no more than one slab is there for it. */
    assert_true(staging() - before_it <= (i == 0 ? LEATI_CHUNKS_PER_SLAB * LEATI_CHUNK_ARGUMENTS_SIZE : 0));
    assert_ok(h.api->stream->synchronize(stream, &err));
    give(out);
    assert_ok(h.api->memory->free(h.device, block, &err));
    assert_ok(h.api->stream->destroy(stream, &err));
    nulldriver_set_mode(NULLDRIVER_EAGER, 0);
    close_device();
    (void)before(state);
  }
}

/* What only begins in it, or reaches further than was asked for, is not written directly, and arrives all the same.
 * Kernels write 16 bytes at once only where these lie on 16 bytes. */
static void only_what_lies_in_it_is_written_directly(void **state) {
  (void)state;
  static blocks t;
  open_device();
  leat_stream *const stream = make_stream();
  take_blocks(&t, stream);
  assert_int_equal(upload(&t, stream, 1), LEAT_OK);
  assert_int_equal(rectify(&t, stream), LEAT_OK);
  /* The last has room for one float less, but lies in more. */
  float *const out = take(2 * sizeof(t.out)), *const less = take(sizeof(t.out) - sizeof(float));
  float *const places[] = {out, out + 3, out + COUNT, t.out, less};
  for (int i = 0; i < 5; ++i) {
    const DLTensor from = device_tensor(t.b, &count), to = host_tensor(places[i], &count);
    memset(places[i], 0xff, (COUNT - 1) * sizeof(float));
    assert_ok(h.api->memory->copy(stream, &from, &to, &err));
    assert_int_equal(stream->open->delivery_count, i < 3 ? 0 : 1);
    const leati_command *const last = &stream->open->commands[stream->open->command_count - 1];
    assert_int_equal(last->dispatch.pipeline->key.kernel,
                     i == 1 ? LEATI_KERNEL_DOWNLOAD_32 : LEATI_KERNEL_DOWNLOAD_128);
    assert_ok(h.api->stream->synchronize(stream, &err));
    assert_int_equal(host_compare(places[i], COUNT, (host_content){.seed = 1, .rectified = true}), -1);
  }
  give(out);
  give(less);
  give_blocks(&t);
  assert_ok(h.api->stream->destroy(stream, &err));
  close_device();
}

/* Two downloads to one place in one list have a barrier between them; to two places they have none. */
static void downloads_to_one_place_are_ordered_on_the_device(void **state) {
  (void)state;
  static blocks t;
  open_device();
  leat_stream *const stream = make_stream();
  take_blocks(&t, stream);
  assert_int_equal(upload(&t, stream, 2), LEAT_OK);
  assert_ok(h.api->stream->synchronize(stream, &err));
  float *const out = take(2 * sizeof(t.out));
  const DLTensor from = device_tensor(t.a, &count), first = host_tensor(out, &count),
                 second = host_tensor(out + COUNT, &count), over = host_tensor(out + COUNT / 2, &count);
  assert_ok(h.api->memory->copy(stream, &from, &first, &err));
  assert_ok(h.api->memory->copy(stream, &from, &second, &err));
  assert_false(stream->open->commands[1].barrier);
  assert_ok(h.api->memory->copy(stream, &from, &over, &err));
  assert_true(stream->open->commands[2].barrier);
  assert_ok(h.api->stream->synchronize(stream, &err));
  assert_int_equal(host_compare(out + COUNT / 2, COUNT, (host_content){.seed = 2}), -1);
  give(out);
  give_blocks(&t);
  assert_ok(h.api->stream->destroy(stream, &err));
  close_device();
}

static void what_is_freed_serves_nobody_before_it_was_written(void **state) {
  (void)state;
  static blocks t;
  open_device();
  leat_stream *const stream = make_stream();
  take_blocks(&t, stream);
  assert_int_equal(upload(&t, stream, 3), LEAT_OK);
  assert_ok(h.api->stream->synchronize(stream, &err));
  nulldriver_set_mode(NULLDRIVER_HELD, 0);
  float *const out = take(sizeof(t.out));
  const DLTensor from = device_tensor(t.a, &count), to = host_tensor(out, &count);
  assert_ok(h.api->memory->copy(stream, &from, &to, &err));
  give(out);
  float *const other = take(sizeof(t.out));
  assert_ptr_not_equal(other, out);
  assert_ok(h.api->stream->destroy(stream, &err));
  assert_ok(h.api->memory->trim(h.device, NULL, &err));
  assert_true(nulldriver_step(UINT32_MAX) > 0);
  nulldriver_set_mode(NULLDRIVER_EAGER, 0);
  assert_ok(h.api->device->synchronize(h.device, &err));
  float *const again = take(sizeof(t.out));
  assert_ptr_equal(again, out);
  give(other);
  give(again);
  give_blocks(&t);
  close_device();
}

/* It counts against the limit, and what is not held makes room for other memory. */
static void it_is_within_the_limit(void **state) {
  (void)state;
  const uint64_t mib = UINT64_C(1) << 20;
  nulldriver_shape shape = nulldriver_get_shape();
  shape.device_heap = 64 * mib;
  nulldriver_set_shape(&shape);
  open_device();
  void *memory = take(40 * mib), *more = NULL;
  uint64_t block;
  assert_int_equal(h.api->memory->alloc_host(h.device, 40 * mib, &more, NULL), LEAT_ERROR_OUT_OF_MEMORY);
  assert_int_equal(h.api->memory->alloc(h.device, 40 * mib, NULL, &block, NULL), LEAT_ERROR_OUT_OF_MEMORY);
  give(memory);
  assert_ok(h.api->memory->alloc(h.device, 40 * mib, NULL, &block, &err));
  assert_int_equal(h.api->memory->alloc_host(h.device, 40 * mib, &more, NULL), LEAT_ERROR_OUT_OF_MEMORY);
  assert_ok(h.api->memory->free(h.device, block, &err));
  more = take(40 * mib);
  give(more);
  close_device();
}

static void writes_outside_of_it_are_found_under_guard(void **state) {
  (void)state;
  open_configured("LEAT_MEMORY_GUARD", "1");
  char *const memory = take(1000);
  memset(memory, 1, 1000);
  memory[1000] ^= 1;
  assert_int_equal(h.api->memory->free_host(h.device, memory, NULL), LEAT_ERROR_CORRUPTED);
  (void)h.api->device->synchronize(h.device, NULL);
  close_configured("LEAT_MEMORY_GUARD");
}

/* A device that goes takes what is left of it along. */
static void what_is_left_goes_with_the_device(void **state) {
  (void)state;
  for (int i = 0; i < 3; ++i) {
    open_device();
    memset(take(100000), 1, 100000);
    close_device();
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, before, host_after)
      CASE(the_device_writes_there_itself),
      CASE(only_what_lies_in_it_is_written_directly),
      CASE(downloads_to_one_place_are_ordered_on_the_device),
      CASE(what_is_freed_serves_nobody_before_it_was_written),
      CASE(it_is_within_the_limit),
      CASE(writes_outside_of_it_are_found_under_guard),
      CASE(what_is_left_goes_with_the_device),
#undef CASE
  };
  return cmocka_run_group_tests_name("nulldriver.host_memory", tests, NULL, NULL);
}
