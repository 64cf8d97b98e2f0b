/* SPDX-License-Identifier: BSD-3-Clause */
#include "nulldriver/blocks.h"

#include <string.h>

host h;
int64_t count = COUNT;

void open_device(void) {
  assert_ok(host_open(&h, &err));
}

void open_configured(const char *name, const char *value) {
  const leat_host_info info = {.struct_size = sizeof(info), .abi_min = LEAT_ABI_1_0, .abi_max = LEAT_ABI_CURRENT};
  assert_ok(leat_backend_query(&info, &h.api, &err));
  assert_ok(h.api->configure(name, value, &err));
  open_device();
}

void close_device(void) {
  assert_ok(host_close(&h, &err));
}

void close_configured(const char *name) {
  close_device();
  assert_ok(h.api->configure(name, NULL, &err));
}

void take_blocks(blocks *t, leat_stream *stream) {
  assert_ok(h.api->memory->alloc(h.device, sizeof(t->in), stream, &t->a, &err));
  assert_ok(h.api->memory->alloc(h.device, sizeof(t->in), stream, &t->b, &err));
}

void give_blocks(const blocks *t) {
  assert_ok(h.api->memory->free(h.device, t->a, &err));
  assert_ok(h.api->memory->free(h.device, t->b, &err));
}

leat_stream *make_stream(void) {
  leat_stream *stream;
  assert_ok(h.api->stream->create(h.device, 0, &stream, &err));
  return stream;
}

leat_event *make_event(void) {
  leat_event *event;
  assert_ok(h.api->event->create(h.device, 0, &event, &err));
  return event;
}

int32_t upload(blocks *t, leat_stream *stream, uint32_t seed) {
  host_fill(t->in, COUNT, (host_content){.seed = seed});
  const DLTensor from = host_tensor(t->in, &count), to = device_tensor(t->a, &count);
  return h.api->memory->copy(stream, &from, &to, NULL);
}

int32_t rectify(blocks *t, leat_stream *stream) {
  const DLTensor from = device_tensor(t->a, &count), to = device_tensor(t->b, &count);
  const DLTensor *const in[1] = {&from}, *const out[1] = {&to};
  return h.api->op->invoke(h.relu, stream, 1, in, 1, out, NULL);
}

int32_t download(blocks *t, leat_stream *stream) {
  const DLTensor from = device_tensor(t->b, &count), to = host_tensor(t->out, &count);
  memset(t->out, 0xff, sizeof(t->out));
  return h.api->memory->copy(stream, &from, &to, NULL);
}

int32_t put_run(blocks *t, leat_stream *stream, uint32_t seed) {
  int32_t status = upload(t, stream, seed);
  status = status == LEAT_OK ? rectify(t, stream) : status;
  return status == LEAT_OK ? download(t, stream) : status;
}

void assert_arrived(const blocks *t, uint32_t seed) {
  assert_int_equal(host_compare(t->out, COUNT, (host_content){.seed = seed, .rectified = true}), -1);
}

void run_through(uint32_t runs) {
  static blocks t;
  leat_stream *const stream = make_stream();
  take_blocks(&t, stream);
  for (uint32_t i = 0; i < runs; ++i) {
    assert_int_equal(put_run(&t, stream, i), LEAT_OK);
    assert_ok(h.api->stream->synchronize(stream, &err));
    assert_arrived(&t, i);
  }
  give_blocks(&t);
  assert_ok(h.api->stream->destroy(stream, &err));
}

void fail_stream(leat_stream *stream, blocks *t) {
  HOST_NEED(rectify(t, stream));
  (void)nulldriver_fail("vkQueueSubmit", 1, VK_ERROR_OUT_OF_HOST_MEMORY);
  const int32_t told = h.api->stream->flush(stream, NULL);
  const int32_t kept = h.api->stream->error(stream, NULL);
  HOST_NEED(told == LEAT_ERROR_OUT_OF_MEMORY && kept == told ? LEAT_OK : LEAT_ERROR_INTERNAL);
}

void start_thread(pthread_t *thread, void *(*run)(void *), void *argument) {
  assert_int_equal(pthread_create(thread, NULL, run, argument), 0);
}

void join_thread(pthread_t thread) {
  assert_int_equal(pthread_join(thread, NULL), 0);
}

void *leave_work(void *argument) {
  blocks *const t = argument;
  leat_stream *own;
  HOST_NEED(h.api->pool->current(h.device, &own, &err));
  HOST_NEED(upload(t, own, 1));
  HOST_NEED(rectify(t, own));
  return NULL;
}

void start_stuck(pthread_t *thread, blocks *t) {
  assert_true(nulldriver_hold("vkQueueSubmit"));
  start_thread(thread, leave_work, t);
  nulldriver_wait_held();
}

int32_t record_to_temporary(leati_recorder *recorder, const leati_view *from, uint64_t more, leat_error *err) {
  const uint64_t size = COUNT * sizeof(float);
  const leati_plan_access accesses[] = {{.binding = 0, .field = LEATI_FIELD_NONE, .end = (int64_t)size},
                                        {.binding = 1, .field = LEATI_FIELD_NONE, .end = (int64_t)size}};
  const leati_plan_step step = {.copies = true, .read_count = 1, .write_count = 1};
  const leati_temporary temporaries[] = {{.size = size}, {.size = more}};
  const leati_plan plan = {.binding_count = more == 0 ? 2 : 3,
                           .step_count = 1,
                           .access_count = 2,
                           .temporary_count = more == 0 ? 1 : 2,
                           .steps = &step,
                           .accesses = accesses,
                           .temporaries = temporaries,
                           .op = "test"};
  leati_binding bindings[3] = {{.address = from->address, .block = from->block}};
  return leati_record_plan(recorder, &plan, bindings, err);
}
