/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams and events: order, taking back, sticky failures, and downloads that arrive on whichever thread waits. */
#include "streams/stream.h"

#include <pthread.h>
#include <string.h>

#include "device/device.h"
#include "memory/memory.h"
#include "streams/recorder.h"
#include "streams/staged_copy.h"
#include "streams/stream_state.h"
#include "timeline/timeline.h"
#include "unit_fixture.h"

enum { ELEMENTS = 1000 };

/* A stream with two device tensors. */
typedef struct bench {
  fixture *f;
  leat_stream *stream;
  uint64_t a, b;
  int64_t shape[1];
} bench;

static bench open_bench(void **state) {
  bench t = {.f = fixture_of(state), .shape = {ELEMENTS}};
  assert_ok(t.f->api->stream->create(t.f->device, 0, &t.stream, &err));
  assert_ok(t.f->api->memory->alloc(t.f->device, ELEMENTS * 4, t.stream, &t.a, &err));
  assert_ok(t.f->api->memory->alloc(t.f->device, ELEMENTS * 4, t.stream, &t.b, &err));
  return t;
}

static void close_bench(bench *t) {
  assert_ok(t->f->api->memory->free(t->f->device, t->a, &err));
  assert_ok(t->f->api->memory->free(t->f->device, t->b, &err));
  assert_ok(t->f->api->stream->destroy(t->stream, &err));
}

static DLTensor on_device(bench *t, uint64_t address) {
  return (DLTensor){.data = (void *)(uintptr_t)address,
                    .device = {.device_type = kDLVulkan},
                    .ndim = 1,
                    .dtype = {.code = kDLInt, .bits = 32, .lanes = 1},
                    .shape = t->shape};
}

static DLTensor on_host(bench *t, int32_t *data) {
  DLTensor tensor = on_device(t, 0);
  tensor.data = data;
  tensor.device.device_type = kDLCPU;
  return tensor;
}

static int32_t copy(bench *t, DLTensor from, DLTensor to) {
  return t->f->api->memory->copy(t->stream, &from, &to, NULL);
}

static void fill(int32_t *data, int32_t first) {
  for (int32_t i = 0; i < ELEMENTS; ++i) {
    data[i] = first + i;
  }
}

static void copies_run_in_order(void **state) {
  bench t = open_bench(state);
  int32_t in[ELEMENTS], out[ELEMENTS], expected[ELEMENTS];
  /* Each round overwrites what the round before read and wrote, so a missing barrier shows. */
  for (int32_t round = 0; round < 50; ++round) {
    fill(in, round * 7);
    assert_int_equal(copy(&t, on_host(&t, in), on_device(&t, t.a)), LEAT_OK);
    memset(in, 0xff, sizeof(in)); /* read already */
    assert_int_equal(copy(&t, on_device(&t, t.a), on_device(&t, t.b)), LEAT_OK);
    assert_int_equal(copy(&t, on_device(&t, t.b), on_host(&t, out)), LEAT_OK);
  }
  assert_ok(t.f->api->stream->synchronize(t.stream, &err));
  fill(expected, 49 * 7);
  assert_memory_equal(out, expected, sizeof(out));
  close_bench(&t);
}

/* An upload and a download, and then the operation is not supported after all. */
static int32_t record_and_refuse(leati_recorder *recorder, const void *what, leat_error *err) {
  const leati_view *const views = what;
  const int32_t status = leati_record_copy(recorder, &views[0], &views[1], err);
  return status == LEAT_OK && leati_record_copy(recorder, &views[1], &views[2], err) == LEAT_OK
             ? LEAT_ERROR_NOT_SUPPORTED
             : LEAT_ERROR_INTERNAL;
}

static void a_failed_operation_leaves_nothing_behind(void **state) {
  bench t = open_bench(state);
  int32_t good[ELEMENTS], bad[ELEMENTS], out[ELEMENTS];
  fill(good, 1);
  fill(bad, -5000);
  memset(out, 0, sizeof(out));
  assert_int_equal(copy(&t, on_host(&t, good), on_device(&t, t.a)), LEAT_OK);
  leati_view views[3];
  const DLTensor bad_tensor = on_host(&t, bad), a = on_device(&t, t.a), out_tensor = on_host(&t, out);
  assert_ok(leati_view_import(t.f->device, &bad_tensor, "bad", &views[0], &err));
  assert_ok(leati_view_import(t.f->device, &a, "a", &views[1], &err));
  assert_ok(leati_view_import(t.f->device, &out_tensor, "out", &views[2], &err));
  assert_int_equal(leati_record(t.stream, record_and_refuse, views, NULL), LEAT_ERROR_NOT_SUPPORTED);
  assert_ok(t.f->api->stream->synchronize(t.stream, &err));
  assert_int_equal(out[0], 0);
  assert_int_equal(copy(&t, a, out_tensor), LEAT_OK);
  assert_ok(t.f->api->stream->synchronize(t.stream, &err));
  assert_memory_equal(out, good, sizeof(out));
  close_bench(&t);
}

static void a_failure_is_sticky_until_cleared_and_events_keep_it(void **state) {
  bench t = open_bench(state);
  const leat_stream_api *const streams = t.f->api->stream;
  const leat_event_api *const events = t.f->api->event;
  int32_t data[ELEMENTS];
  leat_event *before, *after;
  assert_ok(events->create(t.f->device, 0, &before, &err));
  assert_ok(events->create(t.f->device, 0, &after, &err));
  fill(data, 3);
  assert_int_equal(copy(&t, on_host(&t, data), on_device(&t, t.a)), LEAT_OK);
  assert_ok(events->record(before, t.stream, &err));
  leati_timeline *const timeline = t.stream->timeline;
  const uint64_t open_value = leati_stream_open_value(t.stream);
  const leat_error first = {.struct_size = sizeof(first), .code = LEAT_ERROR_OUT_OF_MEMORY, .message = "first failure"};
  const leat_error second = {.struct_size = sizeof(second), .code = LEAT_ERROR_INTERNAL, .message = "second failure"};
  leati_timeline_fail(timeline, open_value, &first);
  leati_timeline_fail(timeline, open_value, &second);
  leat_error said = {.struct_size = sizeof(said)};
  assert_int_equal(streams->flush(t.stream, &said), LEAT_ERROR_OUT_OF_MEMORY);
  assert_string_equal(said.message, "first failure");
  assert_int_equal(copy(&t, on_host(&t, data), on_device(&t, t.a)), LEAT_ERROR_OUT_OF_MEMORY);
  assert_int_equal(events->record(after, t.stream, NULL), LEAT_ERROR_OUT_OF_MEMORY);
  assert_int_equal(events->wait(after, -1, &said), LEAT_ERROR_OUT_OF_MEMORY);
  /* What was submitted before the failure still counts. */
  assert_ok(events->wait(before, -1, &err));
  assert_ok(streams->clear_error(t.stream, &err));
  assert_ok(streams->error(t.stream, &err));
  assert_int_equal(copy(&t, on_device(&t, t.a), on_host(&t, data)), LEAT_OK);
  assert_ok(streams->synchronize(t.stream, &err));
  assert_int_equal(events->query(after, NULL), LEAT_ERROR_OUT_OF_MEMORY);
  assert_ok(events->destroy(before, &err));
  assert_ok(events->destroy(after, &err));
  close_bench(&t);
}

static void a_stream_takes_over_the_failure_it_waits_for(void **state) {
  bench t = open_bench(state);
  leat_stream *other;
  leat_event *event;
  assert_ok(t.f->api->stream->create(t.f->device, 0, &other, &err));
  assert_ok(t.f->api->event->create(t.f->device, 0, &event, &err));
  const leat_error cause = {.struct_size = sizeof(cause), .code = LEAT_ERROR_INTERNAL, .message = "gone"};
  leati_timeline_fail(t.stream->timeline, leati_stream_open_value(t.stream), &cause);
  assert_int_equal(t.f->api->event->record(event, t.stream, NULL), LEAT_ERROR_INTERNAL);
  assert_int_equal(t.f->api->stream->wait_event(other, event, NULL), LEAT_ERROR_INTERNAL);
  assert_int_equal(t.f->api->stream->synchronize(other, NULL), LEAT_ERROR_INTERNAL);
  assert_ok(t.f->api->event->destroy(event, &err));
  assert_ok(t.f->api->stream->destroy(other, &err));
  close_bench(&t);
}

static void *wait_for(void *argument) {
  leat_event *const event = ((void **)argument)[0];
  const leat_event_api *const events = ((void **)argument)[1];
  return events->wait(event, -1, NULL) == LEAT_OK ? NULL : argument;
}

static void a_download_arrives_with_any_waiter_also_when_its_stream_is_gone(void **state) {
  bench t = open_bench(state);
  int32_t in[ELEMENTS], out[ELEMENTS];
  leat_event *event;
  leat_stream *gone;
  fill(in, 11);
  memset(out, 0, sizeof(out));
  assert_ok(t.f->api->event->create(t.f->device, 0, &event, &err));
  assert_ok(t.f->api->stream->create(t.f->device, 0, &gone, &err));
  const DLTensor in_tensor = on_host(&t, in), a = on_device(&t, t.a), out_tensor = on_host(&t, out);
  assert_ok(t.f->api->memory->copy(gone, &in_tensor, &a, &err));
  assert_ok(t.f->api->memory->copy(gone, &a, &out_tensor, &err));
  assert_ok(t.f->api->event->record(event, gone, &err));
  assert_ok(t.f->api->stream->destroy(gone, &err));
  void *argument[2] = {event, (void *)(uintptr_t)t.f->api->event};
  pthread_t thread;
  void *failed;
  assert_int_equal(pthread_create(&thread, NULL, wait_for, argument), 0);
  assert_int_equal(pthread_join(thread, &failed), 0);
  assert_null(failed);
  assert_memory_equal(out, in, sizeof(out));
  assert_ok(t.f->api->event->destroy(event, &err));
  close_bench(&t);
}

static void more_commands_than_a_list_holds_are_submitted_on_the_way(void **state) {
  bench t = open_bench(state);
  int32_t data[ELEMENTS];
  fill(data, 0);
  const uint64_t before = leati_stream_open_value(t.stream);
  for (int i = 0; i < 2000; ++i) {
    assert_int_equal(copy(&t, on_device(&t, t.a), on_device(&t, t.b)), LEAT_OK);
    assert_int_equal(copy(&t, on_device(&t, t.b), on_device(&t, t.a)), LEAT_OK);
  }
  assert_true(leati_stream_open_value(t.stream) > before + 1);
  assert_ok(t.f->api->stream->synchronize(t.stream, &err));
  close_bench(&t);
}

static void waiting_orders_two_streams(void **state) {
  bench t = open_bench(state);
  leat_stream *other;
  leat_event *event;
  int32_t in[ELEMENTS], out[ELEMENTS], expected[ELEMENTS];
  assert_ok(t.f->api->stream->create(t.f->device, 0, &other, &err));
  assert_ok(t.f->api->event->create(t.f->device, 0, &event, &err));
  const DLTensor a = on_device(&t, t.a), b = on_device(&t, t.b), in_tensor = on_host(&t, in);
  const DLTensor out_tensor = on_host(&t, out);
  for (int32_t round = 0; round < 100; ++round) {
    fill(in, round);
    assert_ok(t.f->api->memory->copy(t.stream, &in_tensor, &a, &err));
    assert_ok(t.f->api->event->record(event, t.stream, &err));
    assert_ok(t.f->api->stream->wait_event(other, event, &err));
    assert_ok(t.f->api->memory->copy(other, &a, &b, &err));
    assert_ok(t.f->api->memory->copy(other, &b, &out_tensor, &err));
    assert_ok(t.f->api->event->record(event, other, &err));
    assert_ok(t.f->api->stream->wait_event(t.stream, event, &err));
  }
  assert_ok(t.f->api->event->wait(event, -1, &err));
  fill(expected, 99);
  assert_memory_equal(out, expected, sizeof(out));
  assert_ok(t.f->api->event->destroy(event, &err));
  assert_ok(t.f->api->stream->destroy(other, &err));
  close_bench(&t);
}

/* What the driver functions below stand in front of. One test at a time uses them. */
static leati_vk_device driver;
static leati_timeline *watched;
static uint64_t watched_value;

static void *ask(void *unused) {
  (void)leati_timeline_query(watched, watched_value, NULL);
  return unused;
}

/* Returns only when the batch has run and another thread has seen that. */
static VkResult submit_and_let_others_see(VkQueue queue, uint32_t count, const VkSubmitInfo *batches, VkFence fence) {
  const VkResult result = driver.QueueSubmit(queue, count, batches, fence);
  const VkTimelineSemaphoreSubmitInfo *const values = batches[0].pNext;
  const VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                    .semaphoreCount = 1,
                                    .pSemaphores = batches[0].pSignalSemaphores,
                                    .pValues = values->pSignalSemaphoreValues};
  pthread_t thread;
  assert_int_equal(driver.WaitSemaphores(driver.handle, &info, UINT64_MAX), VK_SUCCESS);
  assert_int_equal(pthread_create(&thread, NULL, ask, NULL), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
  return result;
}

static void a_submission_seen_to_end_before_it_is_listed_delivers(void **state) {
  bench t = open_bench(state);
  int32_t in[ELEMENTS], out[ELEMENTS];
  fill(in, 21);
  memset(out, 0, sizeof(out));
  assert_int_equal(copy(&t, on_host(&t, in), on_device(&t, t.a)), LEAT_OK);
  assert_int_equal(copy(&t, on_device(&t, t.a), on_host(&t, out)), LEAT_OK);
  watched = t.stream->timeline;
  watched_value = leati_stream_open_value(t.stream);
  driver = t.f->device->vk;
  t.f->device->vk.QueueSubmit = submit_and_let_others_see;
  const int32_t status = t.f->api->stream->flush(t.stream, NULL);
  t.f->device->vk = driver;
  assert_int_equal(status, LEAT_OK);
  assert_ok(t.f->api->stream->synchronize(t.stream, &err));
  assert_memory_equal(out, in, sizeof(out));
  close_bench(&t);
}

/* An event that stands for work that failed. */
static leat_event *failed_event(bench *t) {
  leat_stream *stream;
  leat_event *event;
  assert_ok(t->f->api->stream->create(t->f->device, 0, &stream, &err));
  assert_ok(t->f->api->event->create(t->f->device, 0, &event, &err));
  const leat_error cause = {.struct_size = sizeof(cause), .code = LEAT_ERROR_INTERNAL, .message = "gone"};
  leati_timeline_fail(stream->timeline, leati_stream_open_value(stream), &cause);
  assert_int_equal(t->f->api->event->record(event, stream, NULL), LEAT_ERROR_INTERNAL);
  assert_ok(t->f->api->stream->destroy(stream, &err));
  return event;
}

static void a_list_that_was_never_submitted_goes_with_its_stream(void **state) {
  bench t = open_bench(state);
  const leat_stream_api *const streams = t.f->api->stream;
  int32_t in[ELEMENTS], out[ELEMENTS];
  leat_event *const failed = failed_event(&t);
  leat_stream *gone, *next;
  fill(in, 31);
  memset(out, 0, sizeof(out));
  const DLTensor in_tensor = on_host(&t, in), a = on_device(&t, t.a), out_tensor = on_host(&t, out);
  assert_ok(streams->create(t.f->device, 0, &gone, &err));
  assert_ok(t.f->api->memory->copy(gone, &in_tensor, &a, &err));
  assert_ok(t.f->api->memory->copy(gone, &a, &out_tensor, &err));
  assert_int_equal(streams->wait_event(gone, failed, NULL), LEAT_ERROR_INTERNAL);
  assert_ok(streams->destroy(gone, &err));
  assert_ok(streams->create(t.f->device, 0, &next, &err));
  assert_ptr_equal(next, gone);
  assert_ok(streams->synchronize(next, &err));
  assert_int_equal(out[0], 0);
  assert_ok(streams->destroy(next, &err));
  assert_ok(t.f->api->event->destroy(failed, &err));
  close_bench(&t);
}

/* A destination may be gone once the stream and the events behind the download are. */
static void downloads_that_nobody_can_wait_for_are_not_delivered(void **state) {
  bench t = open_bench(state);
  const leat_stream_api *const streams = t.f->api->stream;
  int32_t in[ELEMENTS], out[ELEMENTS];
  fill(in, 41);
  const DLTensor in_tensor = on_host(&t, in), a = on_device(&t, t.a), out_tensor = on_host(&t, out);
  for (int with_event = 0; with_event < 4; ++with_event) {
    leat_stream *gone;
    leat_event *early, *late;
    memset(out, 0, sizeof(out));
    assert_ok(streams->create(t.f->device, 0, &gone, &err));
    assert_ok(t.f->api->event->create(t.f->device, 0, &early, &err));
    assert_ok(t.f->api->event->create(t.f->device, 0, &late, &err));
    assert_ok(t.f->api->memory->copy(gone, &in_tensor, &a, &err));
    assert_ok(t.f->api->event->record(early, gone, &err));
    assert_ok(t.f->api->memory->copy(gone, &a, &out_tensor, &err));
    if (with_event != 0) {
      assert_ok(t.f->api->event->record(late, gone, &err));
    }
    assert_ok(streams->destroy(gone, &err));
    if (with_event == 3) {
      /* The timeline's next stream has an event of its own, which has nothing to do with the download. */
      leat_stream *next;
      assert_ok(streams->create(t.f->device, 0, &next, &err));
      assert_ptr_equal(next, gone);
      assert_ok(t.f->api->memory->copy(next, &in_tensor, &a, &err));
      assert_ok(t.f->api->event->record(early, next, &err));
      assert_ok(streams->destroy(next, &err));
    }
    if (with_event == 1 || with_event == 3) {
      assert_ok(t.f->api->event->record(late, t.stream, &err));
    }
    assert_ok(t.f->api->device->synchronize(t.f->device, &err));
    assert_int_equal(out[0], with_event == 2 ? in[0] : 0);
    assert_ok(t.f->api->event->destroy(early, &err));
    assert_ok(t.f->api->event->destroy(late, &err));
  }
  close_bench(&t);
}

static VkResult not_there_yet(VkDevice device, VkSemaphore semaphore, uint64_t *out_value) {
  (void)device;
  (void)semaphore;
  *out_value = 0;
  return VK_SUCCESS;
}

static void a_wait_covers_downloads_of_the_streams_it_waited_for(void **state) {
  bench t = open_bench(state);
  const leat_stream_api *const streams = t.f->api->stream;
  int32_t in[ELEMENTS], out[ELEMENTS];
  leat_stream *second, *third;
  leat_event *event;
  fill(in, 51);
  memset(out, 0, sizeof(out));
  assert_ok(streams->create(t.f->device, 0, &second, &err));
  assert_ok(streams->create(t.f->device, 0, &third, &err));
  assert_ok(t.f->api->event->create(t.f->device, 0, &event, &err));
  assert_int_equal(copy(&t, on_host(&t, in), on_device(&t, t.a)), LEAT_OK);
  assert_int_equal(copy(&t, on_device(&t, t.a), on_host(&t, out)), LEAT_OK);
  driver = t.f->device->vk;
  t.f->device->vk.GetSemaphoreCounterValue = not_there_yet;
  assert_ok(t.f->api->event->record(event, t.stream, &err));
  assert_ok(streams->wait_event(second, event, &err));
  assert_ok(t.f->api->event->record(event, second, &err));
  assert_ok(streams->wait_event(third, event, &err));
  t.f->device->vk = driver;
  assert_ok(streams->synchronize(third, &err));
  assert_memory_equal(out, in, sizeof(out));
  assert_ok(t.f->api->event->destroy(event, &err));
  assert_ok(streams->destroy(second, &err));
  assert_ok(streams->destroy(third, &err));
  close_bench(&t);
}

/* How many of the next allocations fail. */
static int failures;

static VkResult allocate_or_fail(VkDevice device, const VkMemoryAllocateInfo *info, const VkAllocationCallbacks *host,
                                 VkDeviceMemory *out) {
  return failures-- > 0 ? VK_ERROR_OUT_OF_DEVICE_MEMORY : driver.AllocateMemory(device, info, host, out);
}

/* Fails and leaves rubbish in its output, as Vulkan allows. */
static VkResult fail_with_rubbish(VkDevice device, const VkBufferCreateInfo *info, const VkAllocationCallbacks *host,
                                  VkBuffer *out) {
  (void)device;
  (void)info;
  (void)host;
  memset(out, 0x11, sizeof(*out));
  return VK_ERROR_OUT_OF_HOST_MEMORY;
}

static int32_t record_upload(leati_recorder *recorder, const void *what, leat_error *err) {
  const leati_view *const views = what;
  return leati_record_copy(recorder, &views[0], &views[1], err);
}

/* As a part of an operation; one of its own takes what the device has in reserve. */
static void staging_that_cannot_be_had_fails_the_copy_alone(void **state) {
  enum { LARGE = 1 << 20 };
  bench t = open_bench(state);
  int32_t *const in = calloc(LARGE, 4), *const out = calloc(LARGE, 4);
  uint64_t block;
  assert_non_null(in);
  assert_non_null(out);
  in[LARGE - 1] = 61;
  assert_ok(t.f->api->memory->alloc(t.f->device, LARGE * 4, t.stream, &block, &err));
  t.shape[0] = LARGE;
  const DLTensor from = on_host(&t, in), to = on_device(&t, block);
  leati_view views[2];
  assert_ok(leati_view_import(t.f->device, &from, "source", &views[0], &err));
  assert_ok(leati_view_import(t.f->device, &to, "target", &views[1], &err));
  driver = t.f->device->vk;
  t.f->device->vk.CreateBuffer = fail_with_rubbish;
  assert_int_equal(leati_record(t.stream, record_upload, views, NULL), LEAT_ERROR_OUT_OF_MEMORY);
  assert_int_equal(copy(&t, on_host(&t, in), on_device(&t, block)), LEAT_OK);
  t.f->device->vk = driver;
  /* Both kinds of memory that staging may lie in are short, until unused memory has gone back. */
  failures = 2;
  t.f->device->vk.AllocateMemory = allocate_or_fail;
  const int32_t status = copy(&t, on_host(&t, in), on_device(&t, block));
  t.f->device->vk = driver;
  assert_int_equal(status, LEAT_OK);
  assert_int_equal(copy(&t, on_device(&t, block), on_host(&t, out)), LEAT_OK);
  assert_ok(t.f->api->stream->synchronize(t.stream, &err));
  assert_int_equal(out[LARGE - 1], 61);
  assert_ok(t.f->api->memory->free(t.f->device, block, &err));
  free(in);
  free(out);
  close_bench(&t);
}

/* Each time a device is opened, its pool begins anew; what an earlier one gave out must not fit by accident. */
static void a_ticket_from_before_the_device_was_closed_gives_nothing_back(void **state) {
  fixture *const f = fixture_of(state);
  const leat_pool_api *const pool = f->api->pool;
  leat_stream *stream;
  uint64_t before, now;
  assert_ok(f->api->device->close(f->device, &err));
  assert_ok(f->api->device->open(0, &f->device, &err));
  assert_ok(pool->acquire(f->device, 0, &stream, &before, &err));
  assert_ok(f->api->device->close(f->device, &err));
  assert_ok(f->api->device->open(0, &f->device, &err));
  assert_ok(pool->acquire(f->device, 0, &stream, &now, &err));
  assert_int_equal(pool->release(f->device, before, NULL), LEAT_ERROR_INVALID_ARGUMENT);
  leat_pool_info info = {.struct_size = sizeof(info)};
  assert_ok(pool->info(f->device, &info, &err));
  assert_int_equal(info.held_count, 1);
  assert_ok(pool->release(f->device, now, &err));
}

/* Downloads of every alignment and remainder that a kernel writes, and beside one that a copy command writes. */
static void small_downloads_are_written_by_kernels(void **state) {
  static const int64_t sizes[] = {1, 3, 4, 20, 16, 48, 1000, 4096, 65536};
  enum { BYTES = 128 << 10, SIZES = sizeof(sizes) / sizeof(sizes[0]) };
  bench t = open_bench(state);
  if (strstr(t.f->device->physical->info.name, "null driver") != NULL) {
    close_bench(&t);
    skip(); /* its kernels do nothing */
  }
  const uint64_t usual = t.f->device->kernel_download_max;
  unsigned char *const in = malloc(BYTES), *const out = calloc(2, BYTES);
  uint64_t block;
  assert_non_null(in);
  assert_non_null(out);
  for (int i = 0; i < BYTES; ++i) {
    in[i] = (unsigned char)(i * 31 + i / 256);
  }
  assert_ok(t.f->api->memory->alloc(t.f->device, BYTES, t.stream, &block, &err));
  DLTensor host = on_host(&t, (int32_t *)(void *)in), device = on_device(&t, block), to = host;
  host.dtype.bits = device.dtype.bits = to.dtype.bits = 8;
  t.shape[0] = BYTES;
  assert_int_equal(copy(&t, host, device), LEAT_OK);
  t.f->device->kernel_download_max = 64 << 10;
  for (int i = 0; i < SIZES; ++i) {
    for (uint64_t offset = 0; offset < 17; offset = offset * 2 + 1) {
      memset(out, 0xee, (size_t)sizes[i] + 1);
      t.shape[0] = sizes[i];
      to.data = out;
      device.byte_offset = offset;
      assert_int_equal(copy(&t, device, to), LEAT_OK);
      t.shape[0] = BYTES;
      to.data = out + BYTES;
      device.byte_offset = 0;
      assert_int_equal(copy(&t, device, to), LEAT_OK);
      assert_ok(t.f->api->stream->synchronize(t.stream, &err));
      assert_memory_equal(out, in + offset, (size_t)sizes[i]);
      assert_int_equal(out[sizes[i]], 0xee);
      assert_memory_equal(out + BYTES, in, BYTES);
    }
  }
  t.f->device->kernel_download_max = usual;
  assert_ok(t.f->api->memory->free(t.f->device, block, &err));
  free(in);
  free(out);
  close_bench(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(small_downloads_are_written_by_kernels),
      cmocka_unit_test(copies_run_in_order),
      cmocka_unit_test(a_failed_operation_leaves_nothing_behind),
      cmocka_unit_test(a_failure_is_sticky_until_cleared_and_events_keep_it),
      cmocka_unit_test(a_stream_takes_over_the_failure_it_waits_for),
      cmocka_unit_test(a_download_arrives_with_any_waiter_also_when_its_stream_is_gone),
      cmocka_unit_test(more_commands_than_a_list_holds_are_submitted_on_the_way),
      cmocka_unit_test(waiting_orders_two_streams),
      cmocka_unit_test(a_submission_seen_to_end_before_it_is_listed_delivers),
      cmocka_unit_test(a_list_that_was_never_submitted_goes_with_its_stream),
      cmocka_unit_test(downloads_that_nobody_can_wait_for_are_not_delivered),
      cmocka_unit_test(a_wait_covers_downloads_of_the_streams_it_waited_for),
      cmocka_unit_test(staging_that_cannot_be_had_fails_the_copy_alone),
      cmocka_unit_test(a_ticket_from_before_the_device_was_closed_gives_nothing_back),
  };
  return cmocka_run_group_tests_name("stream", tests, fixture_open, fixture_close);
}
