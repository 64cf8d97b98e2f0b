/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The device of a test on the null driver, and runs on it: an upload, a Relu and a download of known floats. For the
 * one file of a test's program.
 */
#ifndef LEAT_TESTS_NULLDRIVER_BLOCKS_H_
#define LEAT_TESTS_NULLDRIVER_BLOCKS_H_

#include "fixture.h"

#include <string.h>

#include "nulldriver/host.h"

enum { COUNT = 1000 };

static host h;
static int64_t count = COUNT;

static inline void open_device(void) {
  assert_ok(host_open(&h, &err));
}

/* The same with a setting, which holds until close_configured(). */
static inline void open_configured(const char *name, const char *value) {
  const leat_host_info info = {.struct_size = sizeof(info), .abi_min = LEAT_ABI_1_0, .abi_max = LEAT_ABI_CURRENT};
  assert_ok(leat_backend_query(&info, &h.api, &err));
  assert_ok(h.api->configure(name, value, &err));
  open_device();
}

static inline void close_device(void) {
  assert_ok(host_close(&h, &err));
}

static inline void close_configured(const char *name) {
  close_device();
  assert_ok(h.api->configure(name, NULL, &err));
}

/* Two blocks and host memory of COUNT floats. */
typedef struct blocks {
  uint64_t a, b;
  float in[COUNT], out[COUNT];
} blocks;

static inline void take_blocks(blocks *t, leat_stream *stream) {
  assert_ok(h.api->memory->alloc(h.device, sizeof(t->in), stream, &t->a, &err));
  assert_ok(h.api->memory->alloc(h.device, sizeof(t->in), stream, &t->b, &err));
}

static inline void give_blocks(const blocks *t) {
  assert_ok(h.api->memory->free(h.device, t->a, &err));
  assert_ok(h.api->memory->free(h.device, t->b, &err));
}

static inline leat_stream *make_stream(void) {
  leat_stream *stream;
  assert_ok(h.api->stream->create(h.device, 0, &stream, &err));
  return stream;
}

static inline leat_event *make_event(void) {
  leat_event *event;
  assert_ok(h.api->event->create(h.device, 0, &event, &err));
  return event;
}

static inline int32_t upload(blocks *t, leat_stream *stream, uint32_t seed) {
  host_fill(t->in, COUNT, (host_content){.seed = seed});
  const DLTensor from = host_tensor(t->in, &count), to = device_tensor(t->a, &count);
  return h.api->memory->copy(stream, &from, &to, NULL);
}

/* a through Relu to b. */
static inline int32_t rectify(blocks *t, leat_stream *stream) {
  const DLTensor from = device_tensor(t->a, &count), to = device_tensor(t->b, &count);
  const DLTensor *const in[1] = {&from}, *const out[1] = {&to};
  return h.api->op->invoke(h.relu, stream, 1, in, 1, out, NULL);
}

static inline int32_t download(blocks *t, leat_stream *stream) {
  const DLTensor from = device_tensor(t->b, &count), to = host_tensor(t->out, &count);
  memset(t->out, 0xff, sizeof(t->out));
  return h.api->memory->copy(stream, &from, &to, NULL);
}

static inline void assert_arrived(const blocks *t, uint32_t seed) {
  assert_int_equal(host_compare(t->out, COUNT, (host_content){.seed = seed, .rectified = true}), -1);
}

/* Puts a whole run into a stream. */
static inline int32_t put_run(blocks *t, leat_stream *stream, uint32_t seed) {
  int32_t status = upload(t, stream, seed);
  status = status == LEAT_OK ? rectify(t, stream) : status;
  return status == LEAT_OK ? download(t, stream) : status;
}

#endif /* LEAT_TESTS_NULLDRIVER_BLOCKS_H_ */
