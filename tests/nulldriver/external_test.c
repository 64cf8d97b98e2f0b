/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory and semaphores of other APIs where the driver refuses, and where a device shares none. What they do is shown
 * by tests/interop/. */
#include "unit_fixture.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "nulldriver/blocks.h"
#include "nulldriver/test_host.h"

#define SIZE 4096

static leat_error said = {.struct_size = sizeof(said)};

static bool is_open(int fd) {
  return fcntl(fd, F_GETFD) >= 0;
}

/* A descriptor of so many bytes, as this driver shares them. */
static int make_fd(size_t size) {
  const int fd = memfd_create("shared", MFD_CLOEXEC);
  assert_true(fd >= 0 && ftruncate(fd, (off_t)size) == 0);
  return fd;
}

static leat_external_memory memory_of(int fd) {
  const leat_external_memory memory = {.struct_size = sizeof(memory),
                                       .fd = fd,
                                       .handle_type = LEAT_EXTERNAL_OPAQUE_FD,
                                       .allocation_size = SIZE,
                                       .size = SIZE,
                                       .memory_type = LEAT_EXTERNAL_ANY_MEMORY_TYPE};
  return memory;
}

static void memory_that_cannot_be_imported_changes_nothing(void **state) {
  (void)state;
  static const char *const functions[] = {"vkCreateBuffer", "vkAllocateMemory", "vkBindBufferMemory"};
  open_device();
  const uint32_t memories = nulldriver_live(NULLDRIVER_MEMORY), buffers = nulldriver_live(NULLDRIVER_BUFFER);
  for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); ++i) {
    const leat_external_memory memory = memory_of(make_fd(SIZE));
    uint64_t address = 0;
    assert_true(nulldriver_fail(functions[i], 1, VK_ERROR_OUT_OF_DEVICE_MEMORY));
    assert_int_equal(h.api->external->import_memory(h.device, &memory, &address, &said), LEAT_ERROR_OUT_OF_MEMORY);
    assert_non_null(strstr(said.message, functions[i]));
    assert_true(is_open(memory.fd));
    assert_int_equal(nulldriver_live(NULLDRIVER_MEMORY), memories);
    assert_int_equal(nulldriver_live(NULLDRIVER_BUFFER), buffers);
    assert_ok(h.api->external->import_memory(h.device, &memory, &address, &err));
    assert_false(is_open(memory.fd));
    assert_int_equal(nulldriver_live(NULLDRIVER_MEMORY), memories + 1);
    /* Nothing uses it, so it goes at once. */
    assert_ok(h.api->memory->free(h.device, address, &err));
    assert_int_equal(nulldriver_live(NULLDRIVER_MEMORY), memories);
    assert_int_equal(nulldriver_live(NULLDRIVER_BUFFER), buffers);
  }
  close_device();
}

static void imported_memory_goes_when_its_work_has_run(void **state) {
  (void)state;
  uint64_t address;
  int64_t half = SIZE / sizeof(float) / 2;
  open_device();
  const leat_external_memory memory = memory_of(make_fd(SIZE));
  const uint32_t memories = nulldriver_live(NULLDRIVER_MEMORY);
  assert_ok(h.api->external->import_memory(h.device, &memory, &address, &err));
  leat_stream *const stream = make_stream();
  nulldriver_set_mode(NULLDRIVER_HELD, 0);
  const DLTensor from = device_tensor(address, &half), to = device_tensor(address + SIZE / 2, &half);
  assert_ok(h.api->memory->copy(stream, &from, &to, &err));
  assert_ok(h.api->memory->free(h.device, address, &err));
  assert_ok(h.api->stream->flush(stream, &err));
  assert_ok(h.api->memory->trim(h.device, NULL, &err));
  assert_int_equal(nulldriver_live(NULLDRIVER_MEMORY), memories + 1);
  nulldriver_set_mode(NULLDRIVER_EAGER, 0);
  assert_ok(h.api->stream->synchronize(stream, &err));
  assert_ok(h.api->memory->trim(h.device, NULL, &err));
  assert_true(nulldriver_live(NULLDRIVER_MEMORY) <= memories);
  assert_ok(h.api->stream->destroy(stream, &err));
  close_device();
}

static void imported_memory_goes_with_the_last_tensor_in_it(void **state) {
  (void)state;
  uint64_t address;
  int64_t floats = SIZE / sizeof(float);
  DLManagedTensorVersioned *managed;
  open_device();
  leat_stream *const stream = make_stream();
  const leat_external_memory memory = memory_of(make_fd(SIZE));
  const uint32_t memories = nulldriver_live(NULLDRIVER_MEMORY);
  assert_ok(h.api->external->import_memory(h.device, &memory, &address, &err));
  const DLTensor view = device_tensor(address, &floats);
  assert_ok(h.api->memory->export_dlpack(stream, &view, NULL, &managed, &err));
  assert_ok(h.api->memory->free(h.device, address, &err));
  assert_int_equal(h.api->memory->free(h.device, address, &said), LEAT_ERROR_INVALID_ARGUMENT);
  assert_ok(h.api->memory->trim(h.device, NULL, &err));
  assert_int_equal(nulldriver_live(NULLDRIVER_MEMORY), memories + 1);
  managed->deleter(managed);
  assert_ok(h.api->memory->trim(h.device, NULL, &err));
  assert_true(nulldriver_live(NULLDRIVER_MEMORY) <= memories);
  assert_ok(h.api->stream->destroy(stream, &err));
  close_device();
}

static void a_semaphore_that_cannot_be_imported_changes_nothing(void **state) {
  (void)state;
  static const char *const functions[] = {"vkCreateSemaphore", "vkImportSemaphoreFdKHR"};
  open_device();
  const uint32_t semaphores = nulldriver_live(NULLDRIVER_SEMAPHORE);
  for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); ++i) {
    const int fd = make_fd(2 * sizeof(uint64_t));
    leat_semaphore *semaphore = NULL;
    assert_true(nulldriver_fail(functions[i], 1, VK_ERROR_OUT_OF_HOST_MEMORY));
    assert_int_equal(h.api->external->import_semaphore(h.device, LEAT_EXTERNAL_OPAQUE_FD, fd, &semaphore, &said),
                     LEAT_ERROR_OUT_OF_MEMORY);
    assert_true(is_open(fd));
    assert_int_equal(nulldriver_live(NULLDRIVER_SEMAPHORE), semaphores);
    assert_ok(h.api->external->import_semaphore(h.device, LEAT_EXTERNAL_OPAQUE_FD, fd, &semaphore, &err));
    assert_false(is_open(fd));
    assert_ok(h.api->external->destroy_semaphore(semaphore, &err));
    assert_int_equal(h.api->external->destroy_semaphore(semaphore, &said), LEAT_ERROR_INVALID_ARGUMENT);
    assert_int_equal(nulldriver_live(NULLDRIVER_SEMAPHORE), semaphores);
  }
  close_device();
}

/* A quarter of a block: its address, and whether it holds what the first one does. */
static bool is_copied(uint64_t block, uint32_t quarter) {
  const void *const first = nulldriver_at(block, SIZE / 4);
  const void *const other = nulldriver_at(block + quarter * SIZE / 4, SIZE / 4);
  return memcmp(first, other, SIZE / 4) == 0;
}

static void copy_to(leat_stream *stream, uint64_t block, uint32_t quarter) {
  int64_t floats = SIZE / sizeof(float) / 4;
  const DLTensor from = device_tensor(block, &floats), to = device_tensor(block + quarter * SIZE / 4, &floats);
  assert_ok(h.api->memory->copy(stream, &from, &to, &err));
}

static void what_was_put_in_before_a_wait_does_not_wait(void **state) {
  (void)state;
  const int fd = make_fd(2 * sizeof(uint64_t));
  uint64_t *const counter = mmap(NULL, 2 * sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  leat_semaphore *semaphore;
  uint64_t block;
  assert_true(counter != MAP_FAILED);
  open_device();
  leat_stream *const stream = make_stream();
  assert_ok(h.api->external->import_semaphore(h.device, LEAT_EXTERNAL_OPAQUE_FD, fd, &semaphore, &err));
  assert_ok(h.api->memory->alloc(h.device, SIZE, NULL, &block, &err));
  memset(nulldriver_at(block, SIZE / 4), 7, SIZE / 4);
  nulldriver_set_mode(NULLDRIVER_HELD, 0);
  /* The first goes at once, the second gathers while that is in flight. */
  copy_to(stream, block, 1);
  copy_to(stream, block, 2);
  assert_ok(h.api->external->wait(stream, semaphore, 5, &err));
  copy_to(stream, block, 3);
  assert_ok(h.api->stream->flush(stream, &err));
  while (nulldriver_step(1) != 0) {
  }
  assert_true(is_copied(block, 1) && is_copied(block, 2));
  assert_false(is_copied(block, 3));
  assert_int_equal(nulldriver_pending(), 1);
  counter[0] = 5;
  assert_int_equal(nulldriver_step(1), 1);
  assert_true(is_copied(block, 3));
  assert_ok(h.api->memory->free(h.device, block, &err));
  assert_ok(h.api->external->destroy_semaphore(semaphore, &err));
  assert_ok(h.api->stream->destroy(stream, &err));
  close_device();
  assert_int_equal(munmap(counter, 2 * sizeof(uint64_t)), 0);
}

/* What the queue refuses is told, and the value does not come; what is left over goes with the device. */
static void a_signal_that_is_lost_is_told(void **state) {
  (void)state;
  leat_semaphore *semaphore;
  open_device();
  leat_stream *const stream = make_stream();
  const int fd = make_fd(2 * sizeof(uint64_t));
  assert_ok(h.api->external->import_semaphore(h.device, LEAT_EXTERNAL_OPAQUE_FD, fd, &semaphore, &err));
  assert_true(nulldriver_fail("vkQueueSubmit", 1, VK_ERROR_OUT_OF_HOST_MEMORY));
  assert_int_equal(h.api->external->signal(stream, semaphore, 1, &said), LEAT_ERROR_OUT_OF_MEMORY);
  assert_int_equal(h.api->external->signal(stream, semaphore, 1, &said), LEAT_ERROR_OUT_OF_MEMORY);
  assert_int_equal(h.api->external->wait(stream, semaphore, 1, &said), LEAT_ERROR_OUT_OF_MEMORY);
  assert_ok(h.api->stream->clear_error(stream, &err));
  assert_ok(h.api->external->signal(stream, semaphore, 1, &err));
  assert_ok(h.api->external->wait(stream, semaphore, 1, &err));
  assert_ok(h.api->stream->synchronize(stream, &err));
  /* A wait that nothing was put in behind, on a semaphore that nobody destroys. */
  assert_ok(h.api->external->wait(stream, semaphore, 1, &err));
  close_device();
}

static void a_device_that_shares_nothing_says_so(void **state) {
  (void)state;
  nulldriver_shape shape = nulldriver_get_shape();
  shape.no_sharing = true;
  nulldriver_set_shape(&shape);
  open_device();
  leat_external_info info = {.struct_size = sizeof(info)};
  leat_semaphore *semaphore;
  uint64_t address;
  const int fd = make_fd(SIZE);
  const leat_external_memory memory = memory_of(fd);
  assert_ok(h.api->external->info(h.device, &info, &err));
  assert_true(info.memory_handles == 0 && info.semaphore_handles == 0);
  assert_int_equal(h.api->external->import_memory(h.device, &memory, &address, &said), LEAT_ERROR_NOT_SUPPORTED);
  assert_non_null(strstr(said.message, "VK_KHR_external_memory_fd"));
  assert_int_equal(h.api->external->import_semaphore(h.device, LEAT_EXTERNAL_OPAQUE_FD, fd, &semaphore, &said),
                   LEAT_ERROR_NOT_SUPPORTED);
  assert_non_null(strstr(said.message, "timeline semaphores"));
  assert_true(is_open(fd));
  (void)close(fd);
  close_device();
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, host_before, host_after)
      CASE(memory_that_cannot_be_imported_changes_nothing),
      CASE(imported_memory_goes_when_its_work_has_run),
      CASE(imported_memory_goes_with_the_last_tensor_in_it),
      CASE(a_semaphore_that_cannot_be_imported_changes_nothing),
      CASE(what_was_put_in_before_a_wait_does_not_wait),
      CASE(a_signal_that_is_lost_is_told),
      CASE(a_device_that_shares_nothing_says_so),
#undef CASE
  };
  return cmocka_run_group_tests_name("nulldriver.external", tests, NULL, NULL);
}
