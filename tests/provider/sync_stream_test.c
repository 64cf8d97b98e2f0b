/* SPDX-License-Identifier: BSD-3-Clause */
/* host-shim/onnxruntime/sync_stream.c on devices, streams and events that only write down what they are asked for: who
 * waits for what, and that whatever fails leaves nothing behind and nobody inside of the gate. */
#include "onnxruntime/sync_stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "onnxruntime/run.h"
#include "provider/stand_ins.h"

/* A stream of ONNX Runtime's. */
typedef struct ort_stream {
  void *handle;
  const OrtSyncStreamImpl *impl;
} ort_stream;

/* What is around the streams, and what they have done to it. */
static struct {
  int borrowed, events;                /* not given back */
  bool no_memory, no_stream, no_event; /* and what fails */
  bool no_device, no_order, lost;
  unsigned impl_asked; /* how often ONNX Runtime was asked for what is behind a stream */
} world;

static char streams[4], events[4];
static char opened[2]; /* backend handles of the devices */

static int number_of(const void *handle) {
  const char *const at = handle;
  return at >= events && at < events + sizeof(events) ? (int)(at - events) : (int)(at - streams);
}

/* ---- What the streams stand on ------------------------------------------------------------------------------------
 */

OrtStatus *leati_run_note(leati_shared_device *device, leat_stream *stream, bool to_host, bool *out_inside) {
  (void)device;
  assert_false(to_host);
  note("note %d;", number_of(stream));
  *out_inside = false;
  return world.no_order ? FAILURE : NULL;
}

void leati_run_forget(leat_stream *stream) {
  note("forget %d;", number_of(stream));
}

int32_t leati_shared_device_open(leati_shared_device *device, leat_device **out, leat_error *err) {
  (void)err;
  *out = world.no_device ? NULL : (leat_device *)&opened[device->info.index];
  return world.no_device ? LEAT_ERROR_DEVICE_LOST : LEAT_OK;
}

/* The first stream of a device has its number. */
int32_t leati_shared_device_borrow_stream(leati_shared_device *device, leat_stream **out, leat_error *err) {
  (void)err;
  if (world.no_stream) {
    return LEAT_ERROR_OUT_OF_MEMORY;
  }
  ++world.borrowed;
  *out = (leat_stream *)&streams[device->info.index];
  return LEAT_OK;
}

void leati_shared_device_return_stream(leati_shared_device *device, leat_stream *stream) {
  (void)device;
  --world.borrowed;
  note("return %d;", number_of(stream));
}

static int32_t synchronize(leat_stream *stream, leat_error *err) {
  (void)err;
  note("synchronize %d;", number_of(stream));
  return world.lost ? LEAT_ERROR_DEVICE_LOST : LEAT_OK;
}

static int32_t clear_error(leat_stream *stream, leat_error *err) {
  (void)err;
  note("clear %d;", number_of(stream));
  return LEAT_OK;
}

static int32_t wait_event(leat_stream *stream, leat_event *event, leat_error *err) {
  (void)err;
  note("let %d wait for event %d;", number_of(stream), number_of(event));
  return world.lost ? LEAT_ERROR_DEVICE_LOST : LEAT_OK;
}

static int32_t create(leat_device *device, uint64_t flags, leat_event **out, leat_error *err) {
  (void)flags;
  (void)err;
  if (world.no_event) {
    return LEAT_ERROR_OUT_OF_MEMORY;
  }
  assert_true((const char *)device >= opened && (const char *)device < opened + sizeof(opened));
  *out = (leat_event *)&events[world.events++];
  return LEAT_OK;
}

static int32_t destroy(leat_event *event, leat_error *err) {
  (void)err;
  --world.events;
  note("destroy event %d;", number_of(event));
  return LEAT_OK;
}

static int32_t record(leat_event *event, leat_stream *stream, leat_error *err) {
  (void)err;
  note("record event %d in %d;", number_of(event), number_of(stream));
  return world.lost ? LEAT_ERROR_DEVICE_LOST : LEAT_OK;
}

static int32_t wait_for(leat_event *event, int64_t timeout_ns, leat_error *err) {
  (void)err;
  assert_int_equal(timeout_ns, -1);
  note("wait for event %d;", number_of(event));
  return world.lost ? LEAT_ERROR_DEVICE_LOST : LEAT_OK;
}

static void *ORT_API_CALL handle_of(OrtSyncStream *stream) {
  return ((const ort_stream *)stream)->handle;
}

static const OrtSyncStreamImpl *ORT_API_CALL impl_of(const OrtSyncStream *stream) {
  ++world.impl_asked;
  return ((const ort_stream *)stream)->impl;
}

void *__wrap_calloc(size_t count, size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size) {
  return world.no_memory ? NULL : __real_calloc(count, size);
}

static const leat_stream_api stream_api = {
    .synchronize = synchronize, .clear_error = clear_error, .wait_event = wait_event};
static const leat_event_api event_api = {.create = create, .destroy = destroy, .record = record, .wait = wait_for};
static const leat_backend_api leat = {.stream = &stream_api, .event = &event_api};
static const OrtApi ort = {.SyncStream_GetHandle = handle_of};
static const OrtEpApi ep = {.SyncStream_GetImpl = impl_of};
static const leati_runtime runtime = {.ort = &ort, .ep = &ep, .leat = &leat, .version = ORT_API_VERSION};
static leati_shared_device devices[2] = {{.runtime = &runtime, .info = {.index = 0}},
                                         {.runtime = &runtime, .info = {.index = 1}}};

static void ORT_API_CALL release_other(OrtSyncStreamImpl *stream) {
  fail_msg("%p is none of ours", (void *)stream);
}

/* ---- Helpers ------------------------------------------------------------------------------------------------------
 */

static int forget_world(void **state) {
  (void)state;
  memset(&world, 0, sizeof(world));
  memset(&around, 0, sizeof(around));
  return 0;
}

static OrtSyncStreamImpl *stream_of(leati_shared_device *device) {
  OrtSyncStreamImpl *made = NULL;
  assert_null(leati_sync_stream_create(device, &made));
  assert_non_null(made);
  return made;
}

static OrtSyncNotificationImpl *notification_of(OrtSyncStreamImpl *stream) {
  OrtSyncNotificationImpl *made = NULL;
  assert_null(stream->CreateNotification(stream, &made));
  assert_non_null(made);
  assert_int_equal(around.inside, 0);
  return made;
}

static void release(OrtSyncStreamImpl *stream) {
  around.asked[0] = '\0';
  const int number = number_of(stream->GetHandle(stream));
  stream->Release(stream);
  /* What this Run has noted of it is waited for before somebody else gets it. */
  char asked[64];
  (void)snprintf(asked, sizeof(asked), "forget %d;return %d;", number, number);
  expect(asked);
}

static void expect_nothing_left(void) {
  assert_int_equal(world.borrowed, 0);
  assert_int_equal(world.events, 0);
}

/* ---- Streams ------------------------------------------------------------------------------------------------------
 */

static void a_flushed_stream_has_finished(void **state) {
  (void)state;
  OrtSyncStreamImpl *const stream = stream_of(&devices[1]);
  assert_ptr_equal(stream->GetHandle(stream), &streams[1]);
  assert_null(stream->Flush(stream));
  expect("synchronize 1;");
  assert_null(stream->OnSessionRunEnd(stream));
  expect("");
  /* A failure is told once. */
  world.lost = true;
  assert_ptr_equal(stream->Flush(stream), FAILURE);
  expect("synchronize 1;clear 1;");
  release(stream);
  expect_nothing_left();
}

static void a_stream_that_cannot_be_made_leaves_nothing(void **state) {
  (void)state;
  OrtSyncStreamImpl *made = (OrtSyncStreamImpl *)0x1;
  world.no_stream = true;
  assert_ptr_equal(leati_sync_stream_create(&devices[0], &made), FAILURE);
  assert_null(made);
  world.no_memory = true;
  assert_ptr_equal(leati_sync_stream_create(&devices[0], &made), FAILURE);
  world.no_stream = false;
  assert_ptr_equal(leati_sync_stream_create(&devices[0], &made), FAILURE);
  assert_null(made);
  expect_nothing_left();
}

static void our_streams_are_known_among_others(void **state) {
  (void)state;
  OrtSyncStreamImpl *const stream = stream_of(&devices[0]);
  const OrtSyncStreamImpl other = {.Release = release_other};
  ort_stream ours = {streams, stream}, others = {streams, &other}, nobodys = {streams, NULL},
             placeholder = {NULL, NULL};
  assert_ptr_equal(leati_sync_stream_of(&runtime, (OrtSyncStream *)&ours), stream);
  assert_null(leati_sync_stream_of(&runtime, (OrtSyncStream *)&others));
  assert_null(leati_sync_stream_of(&runtime, (OrtSyncStream *)&nobodys));
  assert_null(leati_sync_stream_of(&runtime, NULL));
  /* There is nothing behind it that could be read. */
  world.impl_asked = 0;
  assert_null(leati_sync_stream_of(&runtime, (OrtSyncStream *)&placeholder));
  assert_int_equal(world.impl_asked, 0);
  release(stream);
}

/* ---- Notifications ------------------------------------------------------------------------------------------------
 */

static void an_event_stands_for_its_stream(void **state) {
  (void)state;
  OrtSyncStreamImpl *const stream = stream_of(&devices[1]);
  OrtSyncNotificationImpl *const notification = notification_of(stream);
  assert_null(notification->Activate(notification));
  expect("record event 0 in 1;");
  assert_null(notification->WaitOnHost(notification));
  expect("wait for event 0;");
  world.lost = true;
  assert_ptr_equal(notification->Activate(notification), FAILURE);
  expect("record event 0 in 1;");
  assert_ptr_equal(notification->WaitOnHost(notification), FAILURE);
  expect("wait for event 0;");
  notification->Release(notification);
  expect("destroy event 0;");
  release(stream);
  expect_nothing_left();
}

/* The stream waits where it can. Where it cannot the host does, before the stream gets what comes next. */
static void a_consumer_comes_after_the_event(void **state) {
  (void)state;
  OrtSyncStreamImpl *const producer = stream_of(&devices[0]), *const far = stream_of(&devices[1]);
  OrtSyncNotificationImpl *const notification = notification_of(producer);
  leati_sync_stream near = *(const leati_sync_stream *)(const void *)producer;
  near.handle = (leat_stream *)&streams[2];
  ort_stream same = {near.handle, &near.base}, other = {&streams[1], far}, strange = {streams, NULL};
  assert_null(notification->WaitOnDevice(notification, (OrtSyncStream *)&same));
  expect("note 2;let 2 wait for event 0;");
  assert_null(notification->WaitOnDevice(notification, (OrtSyncStream *)&other));
  expect("wait for event 0;");
  assert_null(notification->WaitOnDevice(notification, (OrtSyncStream *)&strange));
  expect("wait for event 0;");
  assert_null(notification->WaitOnDevice(notification, NULL));
  expect("wait for event 0;");
  world.lost = true;
  assert_ptr_equal(notification->WaitOnDevice(notification, (OrtSyncStream *)&same), FAILURE);
  expect("note 2;let 2 wait for event 0;");
  assert_ptr_equal(notification->WaitOnDevice(notification, (OrtSyncStream *)&other), FAILURE);
  expect("wait for event 0;");
  world.no_order = true;
  world.lost = false;
  assert_ptr_equal(notification->WaitOnDevice(notification, (OrtSyncStream *)&same), FAILURE);
  expect("note 2;");
  notification->Release(notification);
  release(producer);
  release(far);
  expect_nothing_left();
}

static void a_notification_that_cannot_be_made_leaves_nothing(void **state) {
  (void)state;
  OrtSyncStreamImpl *const stream = stream_of(&devices[0]);
  OrtSyncNotificationImpl *made = NULL;
  world.no_memory = true;
  assert_ptr_equal(stream->CreateNotification(stream, &made), FAILURE);
  expect("destroy event 0;");
  world.no_event = true;
  assert_ptr_equal(stream->CreateNotification(stream, &made), FAILURE);
  world.no_device = true;
  assert_ptr_equal(stream->CreateNotification(stream, &made), FAILURE);
  expect("");
  assert_null(made);
  release(stream);
  expect_nothing_left();
}

/* ---- The gate -----------------------------------------------------------------------------------------------------
 */

static void behind_a_closed_gate_nothing_is_touched(void **state) {
  (void)state;
  OrtSyncStreamImpl *const stream = stream_of(&devices[0]);
  OrtSyncNotificationImpl *const notification = notification_of(stream);
  OrtSyncNotificationImpl *late = NULL;
  ort_stream same = {streams, stream};
  around.gate = LEATI_GATE_CLOSED;
  assert_ptr_equal(stream->Flush(stream), FAILURE);
  assert_ptr_equal(stream->CreateNotification(stream, &late), FAILURE);
  assert_ptr_equal(notification->Activate(notification), FAILURE);
  assert_ptr_equal(notification->WaitOnHost(notification), FAILURE);
  assert_ptr_equal(notification->WaitOnDevice(notification, (OrtSyncStream *)&same), FAILURE);
  notification->Release(notification);
  stream->Release(stream);
  expect("");
  assert_null(late);
  around.gate = LEATI_GATE_OPEN;
  notification->Release(notification);
  expect("destroy event 0;");
  release(stream);
  expect_nothing_left();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(a_flushed_stream_has_finished, forget_world),
      cmocka_unit_test_setup(a_stream_that_cannot_be_made_leaves_nothing, forget_world),
      cmocka_unit_test_setup(our_streams_are_known_among_others, forget_world),
      cmocka_unit_test_setup(an_event_stands_for_its_stream, forget_world),
      cmocka_unit_test_setup(a_consumer_comes_after_the_event, forget_world),
      cmocka_unit_test_setup(a_notification_that_cannot_be_made_leaves_nothing, forget_world),
      cmocka_unit_test_setup(behind_a_closed_gate_nothing_is_touched, forget_world),
  };
  return cmocka_run_group_tests_name("sync_stream", tests, NULL, NULL);
}
