/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "scene.h"

/* Functions in a table that consists of nothing else behind its two leading numbers. */
#define SLOTS(table) ((sizeof(table) - 2 * sizeof(uint32_t)) / sizeof(void (*)(void)))

typedef struct expectation {
  int32_t status;
  const char *word;
  unsigned calls; /* so far, of this table */
} expectation;

static void expect(expectation *expected, const char *call, int32_t got, const leat_error *err) {
  expected->calls++;
  scene_expect(call, got, expected->status, err);
  if (strstr(err->message, expected->word) == NULL) {
    scene_fail("%s says nothing of \"%s\": %s", call, expected->word, err->message);
  }
}

#define CALL(call)                                 \
  do {                                             \
    leat_error err = {.struct_size = sizeof(err)}; \
    const int32_t got_ = (call);                   \
    expect(&expected, #call, got_, &err);          \
  } while (0)

static void expect_slots(expectation *expected, const char *table, size_t slots) {
  if (expected->calls != slots) {
    scene_fail("%s has %zu functions; %u were called", table, slots, expected->calls);
  }
  expected->calls = 0;
}

void scene_call_everything(const scene_host *host, leat_stream *stream, leat_event *event,
                           DLManagedTensorVersioned *managed, DLManagedTensor *unversioned, int32_t status,
                           const char *word) {
  expectation expected = {.status = status, .word = word};
  const leat_backend_api *const api = host->api;
  leat_device *const device = host->device;
  int64_t shape[] = {SCENE_ELEMENTS};
  static float values[SCENE_ELEMENTS];
  const DLTensor here = {values, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, shape, NULL, 0};
  const DLTensor there = managed->dl_tensor;
  const DLTensor *const inputs[] = {&there, &there}, *const outputs[] = {&there};
  const leat_value_info vector = {.struct_size = sizeof(vector), .ndim = 1, .dtype = {kDLFloat, 32, 1}, .shape = shape};
  const leat_value_info *const infos[] = {&vector, &vector};
  const leat_op_desc desc = {.struct_size = sizeof(desc),
                             .since_version = 14,
                             .name = "Add",
                             .input_count = 2,
                             .output_count = 1,
                             .inputs = infos};
  leat_device *opened;
  leat_stream *some_stream;
  leat_event *some_event;
  leat_op *some_op;
  DLManagedTensorVersioned *exported;
  DLManagedTensor *exported_unversioned;
  const leat_op_info *op_info;
  uint32_t count = 0;
  uint64_t base, size;
  leat_device_info device_info = {.struct_size = sizeof(device_info)};
  leat_memory_stats stats = {.struct_size = sizeof(stats)};
  void *memory;
  leat_view view = {.struct_size = sizeof(view)};
  leat_stream_info stream_info = {.struct_size = sizeof(stream_info)};
  leat_shape result = {.struct_size = sizeof(result)};
  leat_shape *const results[] = {&result};

  CALL(api->device->count(&count, &err));
  CALL(api->device->info(0, &device_info, &err));
  count = 0;
  CALL(api->device->report(&count, NULL, &err));
  CALL(api->device->open(0, &opened, &err));
  CALL(api->device->close(device, &err));
  CALL(api->device->synchronize(device, &err));
  expect_slots(&expected, "leat_device_api", SLOTS(leat_device_api));

  const uint64_t address = (uint64_t)(uintptr_t)there.data + there.byte_offset;
  CALL(api->memory->alloc(device, 64, stream, &base, &err));
  CALL(api->memory->free(device, address, &err));
  CALL(api->memory->record_stream(device, address, stream, &err));
  CALL(api->memory->copy(stream, &here, &there, &err));
  CALL(api->memory->find(device, address, &base, &size, &err));
  CALL(api->memory->stats(device, &stats, &err));
  count = 0;
  CALL(api->memory->classes(device, &count, NULL, &err));
  CALL(api->memory->reset_peaks(device, &err));
  CALL(api->memory->trim(device, NULL, &err));
  CALL(api->memory->export_dlpack(stream, &there, event, &exported, &err));
  CALL(api->memory->import_dlpack(stream, managed, event, &view, &err));
  CALL(api->memory->export_dlpack_unversioned(stream, &there, event, &exported_unversioned, &err));
  CALL(api->memory->import_dlpack_unversioned(stream, unversioned, event, &view, &err));
  CALL(api->memory->alloc_host(device, 64, &memory, &err));
  CALL(api->memory->free_host(device, &base, &err));
  expect_slots(&expected, "leat_memory_api", SLOTS(leat_memory_api));

  CALL(api->stream->create(device, 0, &some_stream, &err));
  CALL(api->stream->destroy(stream, &err));
  CALL(api->stream->flush(stream, &err));
  CALL(api->stream->synchronize(stream, &err));
  CALL(api->stream->query(stream, &err));
  CALL(api->stream->wait_event(stream, event, &err));
  CALL(api->stream->error(stream, &err));
  CALL(api->stream->clear_error(stream, &err));
  CALL(api->stream->info(stream, &stream_info, &err));
  expect_slots(&expected, "leat_stream_api", SLOTS(leat_stream_api));

  CALL(api->event->create(device, 0, &some_event, &err));
  CALL(api->event->destroy(event, &err));
  CALL(api->event->record(event, stream, &err));
  CALL(api->event->query(event, &err));
  CALL(api->event->wait(event, -1, &err));
  if ((api->capabilities & LEAT_CAPABILITY_EVENT_TIMING) != 0) {
    double ns;
    CALL(api->event->elapsed(event, event, &ns, &err));
  } else {
    expected.calls++;
  }
  int32_t fd;
  CALL(api->event->export_sync_fd(event, &fd, &err));
  expect_slots(&expected, "leat_event_api", SLOTS(leat_event_api));

  CALL(api->op->count(&count, &err));
  CALL(api->op->info(0, &op_info, &err));
  CALL(api->op->supports(device, &desc, &err));
  CALL(api->op->create(device, &desc, &some_op, &err));
  CALL(api->op->destroy(host->add, &err));
  CALL(api->op->infer(host->add, 2, inputs, 1, results, &err));
  CALL(api->op->invoke(host->add, stream, 2, inputs, 1, outputs, &err));
  expect_slots(&expected, "leat_op_api", SLOTS(leat_op_api));

  if (host->has_pool) {
    leat_pool_info pool_info = {.struct_size = sizeof(pool_info)};
    uint64_t ticket = 0;
    CALL(api->pool->acquire(device, -1, &some_stream, &ticket, &err));
    CALL(api->pool->release(device, ticket, &err));
    CALL(api->pool->stream(device, 0, &some_stream, &err));
    CALL(api->pool->current(device, &some_stream, &err));
    CALL(api->pool->set_current(device, stream, NULL, &err));
    CALL(api->pool->release_current(device, &err));
    CALL(api->pool->info(device, &pool_info, &err));
    expect_slots(&expected, "leat_pool_api", SLOTS(leat_pool_api));
  }
  CALL(api->shutdown(&err));
  CALL(api->configure("LEAT_LANES", "1", &err));
}
