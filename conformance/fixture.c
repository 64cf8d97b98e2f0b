/* SPDX-License-Identifier: BSD-3-Clause */
#include "fixture.h"

#include <string.h>

/* Bytes of each of the two blocks that leati_stream_load() copies between, and how often. */
#define LOAD_BYTES (UINT64_C(8) << 20)
#define LOAD_COPIES 16

struct leat_fixture {
  GMutex lock;         /* guards device */
  leat_device *device; /* opened at first use, or NULL */
};

void leati_fixture_begin(leat_case_context *ctx) {
  ctx->fixture = g_new0(struct leat_fixture, 1);
  g_mutex_init(&ctx->fixture->lock);
}

void leati_fixture_end(leat_case_context *ctx) {
  if (ctx->fixture->device != NULL) {
    LEAT_CHECK_OK(ctx, ctx->device->close(ctx->fixture->device, LEAT_ERR));
  }
  g_mutex_clear(&ctx->fixture->lock);
  g_free(ctx->fixture);
  ctx->fixture = NULL;
}

DLDataType leati_dtype(uint32_t code, uint32_t bits) {
  return (DLDataType){.code = (uint8_t)code, .bits = (uint8_t)bits, .lanes = 1};
}

static void fill_tensor(leat_case_tensor *out, void *data, DLDeviceType type, int device_id, DLDataType dtype,
                        int32_t ndim, const int64_t *shape) {
  memset(out, 0, sizeof(*out));
  for (int32_t i = 0; i < ndim; ++i) {
    out->shape[i] = shape[i];
  }
  for (int32_t i = ndim - 1; i >= 0; --i) {
    out->strides[i] = i == ndim - 1 ? 1 : out->strides[i + 1] * out->shape[i + 1];
  }
  out->tensor = (DLTensor){.data = data,
                           .device = {.device_type = type, .device_id = device_id},
                           .ndim = ndim,
                           .dtype = dtype,
                           .shape = out->shape};
}

void leati_case_tensor_device(const leat_case_context *ctx, leat_case_tensor *out, uint64_t address, DLDataType dtype,
                              int32_t ndim, const int64_t *shape) {
  fill_tensor(out, (void *)(uintptr_t)address, kDLVulkan, (int)ctx->device_index, dtype, ndim, shape);
}

void leati_case_tensor_host(leat_case_tensor *out, void *data, DLDataType dtype, int32_t ndim, const int64_t *shape) {
  fill_tensor(out, data, kDLCPU, 0, dtype, ndim, shape);
}

leat_device *leati_fixture_device(leat_case_context *ctx) {
  leat_device *device;
  g_mutex_lock(&ctx->fixture->lock);
  if (ctx->fixture->device == NULL) {
    LEAT_CHECK_OK(ctx, ctx->device->open(ctx->device_index, &ctx->fixture->device, LEAT_ERR));
    LEAT_CHECK_MESSAGE(ctx, ctx->fixture->device != NULL, "device.open returned LEAT_OK and a NULL device");
  }
  device = ctx->fixture->device;
  g_mutex_unlock(&ctx->fixture->lock);
  return device;
}

void leati_case_require_op(leat_case_context *ctx, const leat_op_desc *desc) {
  leat_error err = {.struct_size = sizeof(err)};
  int32_t status = ctx->op->supports(leati_fixture_device(ctx), desc, &err);
  err.message[sizeof(err.message) - 1] = '\0';
  if (status == LEAT_ERROR_NOT_SUPPORTED) {
    leati_case_lack(ctx, desc->name, "%s", err.message);
  }
  if (status != LEAT_OK) {
    LEAT_FAIL(ctx, "op.supports(%s) returned %s: %s", desc->name, leati_case_status_name(status), err.message);
  }
}

leat_stream *leati_stream_new(leat_case_context *ctx) {
  leat_stream *stream = NULL;
  LEAT_CHECK_OK(ctx, ctx->stream->create(leati_fixture_device(ctx), 0, &stream, LEAT_ERR));
  LEAT_CHECK_MESSAGE(ctx, stream != NULL, "stream.create returned LEAT_OK and a NULL stream");
  return stream;
}

void leati_stream_destroy(leat_case_context *ctx, leat_stream *stream) {
  LEAT_CHECK_OK(ctx, ctx->stream->destroy(stream, LEAT_ERR));
}

leat_event *leati_event_new(leat_case_context *ctx) {
  leat_event *event = NULL;
  LEAT_CHECK_OK(ctx, ctx->event->create(leati_fixture_device(ctx), 0, &event, LEAT_ERR));
  LEAT_CHECK_MESSAGE(ctx, event != NULL, "event.create returned LEAT_OK and a NULL event");
  return event;
}

void leati_event_destroy(leat_case_context *ctx, leat_event *event) {
  LEAT_CHECK_OK(ctx, ctx->event->destroy(event, LEAT_ERR));
}

uint64_t leati_case_alloc(leat_case_context *ctx, uint64_t size, leat_stream *stream) {
  uint64_t address = 0;
  LEAT_CHECK_OK(ctx, ctx->memory->alloc(leati_fixture_device(ctx), size, stream, &address, LEAT_ERR));
  LEAT_CHECK_MESSAGE(ctx, address != 0, "memory.alloc of %" G_GUINT64_FORMAT " bytes returned LEAT_OK and address 0",
                     size);
  return address;
}

void leati_case_free(leat_case_context *ctx, uint64_t address) {
  LEAT_CHECK_OK(ctx, ctx->memory->free(leati_fixture_device(ctx), address, LEAT_ERR));
}

int32_t leati_try_upload(leat_case_context *ctx, leat_stream *stream, uint64_t address, const void *bytes,
                         uint64_t size) {
  leat_case_tensor src;
  leat_case_tensor dst;
  const int64_t shape[1] = {(int64_t)size};
  /* The source is only read; DLTensor has no const. */
  leati_case_tensor_host(&src, (void *)(uintptr_t)bytes, LEAT_U8, 1, shape);
  leati_case_tensor_device(ctx, &dst, address, LEAT_U8, 1, shape);
  return ctx->memory->copy(stream, &src.tensor, &dst.tensor, LEAT_ERR);
}

void leati_upload(leat_case_context *ctx, leat_stream *stream, uint64_t address, const void *bytes, uint64_t size) {
  LEAT_CHECK_OK(ctx, leati_try_upload(ctx, stream, address, bytes, size));
}

void leati_download(leat_case_context *ctx, leat_stream *stream, uint64_t address, void *bytes, uint64_t size) {
  leat_case_tensor src;
  leat_case_tensor dst;
  const int64_t shape[1] = {(int64_t)size};
  leati_case_tensor_device(ctx, &src, address, LEAT_U8, 1, shape);
  leati_case_tensor_host(&dst, bytes, LEAT_U8, 1, shape);
  LEAT_CHECK_OK(ctx, ctx->memory->copy(stream, &src.tensor, &dst.tensor, LEAT_ERR));
}

void leati_copy(leat_case_context *ctx, leat_stream *stream, uint64_t from, uint64_t to, uint64_t size) {
  leat_case_tensor src;
  leat_case_tensor dst;
  const int64_t shape[1] = {(int64_t)size};
  leati_case_tensor_device(ctx, &src, from, LEAT_U8, 1, shape);
  leati_case_tensor_device(ctx, &dst, to, LEAT_U8, 1, shape);
  LEAT_CHECK_OK(ctx, ctx->memory->copy(stream, &src.tensor, &dst.tensor, LEAT_ERR));
}

void leati_synchronize(leat_case_context *ctx, leat_stream *stream) {
  LEAT_CHECK_OK(ctx, ctx->stream->synchronize(stream, LEAT_ERR));
}

leat_op *leati_op_new(leat_case_context *ctx, const char *name, uint32_t since_version, uint32_t inputs,
                      DLDataType dtype, int32_t ndim) {
  int64_t unknown[LEAT_MAX_RANK] = {-1, -1, -1, -1, -1, -1, -1, -1};
  leat_value_info info = {.struct_size = sizeof(info), .ndim = ndim, .dtype = dtype, .shape = unknown};
  const leat_value_info *infos[LEAT_MAX_RANK];
  leat_op_desc desc = {.struct_size = sizeof(desc),
                       .since_version = since_version,
                       .name = name,
                       .domain = "",
                       .input_count = inputs,
                       .output_count = 1,
                       .inputs = infos};
  leat_op *op = NULL;
  g_assert(inputs <= G_N_ELEMENTS(infos));
  for (uint32_t i = 0; i < inputs; ++i) {
    infos[i] = &info;
  }
  leati_case_require_op(ctx, &desc);
  LEAT_CHECK_OK(ctx, ctx->op->create(leati_fixture_device(ctx), &desc, &op, LEAT_ERR));
  LEAT_CHECK_MESSAGE(ctx, op != NULL, "op.create(%s) returned LEAT_OK and a NULL operator", name);
  return op;
}

void leati_op_destroy(leat_case_context *ctx, leat_op *op) {
  LEAT_CHECK_OK(ctx, ctx->op->destroy(op, LEAT_ERR));
}

void leati_op_invoke(leat_case_context *ctx, const leat_op *op, leat_stream *stream, uint32_t count,
                     const leat_case_tensor *const *inputs, const leat_case_tensor *output) {
  const DLTensor *views[LEAT_MAX_RANK];
  const DLTensor *outputs[1] = {&output->tensor};
  g_assert(count <= G_N_ELEMENTS(views));
  for (uint32_t i = 0; i < count; ++i) {
    views[i] = &inputs[i]->tensor;
  }
  LEAT_CHECK_OK(ctx, ctx->op->invoke(op, stream, count, views, 1, outputs, LEAT_ERR));
}

void leati_pattern(uint8_t *out, size_t size, uint32_t tag) {
  /* A 32-bit generator with full period (Numerical Recipes' constants), of which the upper byte is well mixed. */
  uint32_t state = tag * 2654435761u + 12345u;
  for (size_t i = 0; i < size; ++i) {
    state = state * 1664525u + 1013904223u;
    out[i] = (uint8_t)(state >> 24);
  }
}

/* ---- Waiting ---- */

/* Between two looks at what is waited for. */
#define PAUSE_LEAST_US 100u
#define PAUSE_MOST_US 20000u

void leati_pause(guint *inout_us) {
  *inout_us = CLAMP(2 * *inout_us, PAUSE_LEAST_US, PAUSE_MOST_US);
  g_usleep(*inout_us);
}

void leati_stream_poll(leat_case_context *ctx, leat_stream *stream) {
  int32_t status;
  guint pause_us = 0;
  while ((status = ctx->stream->query(stream, LEAT_ERR)) == LEAT_ERROR_NOT_READY) {
    leati_pause(&pause_us);
  }
  LEAT_CHECK_MESSAGE(ctx, status == LEAT_OK, "stream.query returned %s", leati_case_status_name(status));
}

void leati_event_poll(leat_case_context *ctx, leat_event *event) {
  int32_t status;
  guint pause_us = 0;
  while ((status = ctx->event->query(event, LEAT_ERR)) == LEAT_ERROR_NOT_READY) {
    leati_pause(&pause_us);
  }
  LEAT_CHECK_MESSAGE(ctx, status == LEAT_OK, "event.query returned %s", leati_case_status_name(status));
}

void leati_trip_begin(leat_case_context *ctx, leat_case_trip *trip, leat_stream *stream, size_t size) {
  trip->own = stream == NULL;
  trip->stream = trip->own ? leati_stream_new(ctx) : stream;
  trip->block = leati_case_alloc(ctx, size, trip->stream);
  trip->size = size;
  trip->in = g_malloc0(size);
  trip->out = g_malloc0(size);
}

void leati_trip_end(leat_case_context *ctx, leat_case_trip *trip) {
  leati_case_free(ctx, trip->block);
  if (trip->own) {
    leati_stream_destroy(ctx, trip->stream);
  }
  g_free(trip->in);
  g_free(trip->out);
}

void leati_trip_put(leat_case_context *ctx, leat_case_trip *trip, uint32_t tag) {
  leati_pattern(trip->in, trip->size, tag);
  memset(trip->out, 0, trip->size);
  leati_upload(ctx, trip->stream, trip->block, trip->in, trip->size);
  leati_download(ctx, trip->stream, trip->block, trip->out, trip->size);
}

void leati_trip_put_slow(leat_case_context *ctx, leat_case_trip *trip, uint32_t tag) {
  leati_stream_load(ctx, trip->stream);
  leati_trip_put(ctx, trip, tag);
}

void leati_trip_check(const leat_case_context *ctx, const leat_case_trip *trip) {
  LEAT_CHECK_BYTES(ctx, trip->in, trip->out, trip->size);
}

/* ---- Threads ---- */

void leati_sum_begin(leat_case_context *ctx, leat_case_sum *sum, leat_stream *stream, uint32_t count) {
  const int64_t shape[1] = {count};
  const uint64_t size = count * sizeof(float);
  *sum = (leat_case_sum){.add = leati_op_new(ctx, "Add", 14, 2, LEAT_F32, 1),
                         .block = leati_case_alloc(ctx, 3 * size, stream),
                         .values = g_new(float, 2 * count),
                         .count = count};
  for (uint32_t i = 0; i < count; ++i) {
    sum->values[i] = (float)i;
    sum->values[count + i] = 1.0f;
  }
  leati_case_tensor_device(ctx, &sum->views[0], sum->block, LEAT_F32, 1, shape);
  leati_case_tensor_device(ctx, &sum->ones, sum->block + size, LEAT_F32, 1, shape);
  leati_case_tensor_device(ctx, &sum->views[1], sum->block + 2 * size, LEAT_F32, 1, shape);
  leati_upload(ctx, stream, sum->block, sum->values, 2 * size);
}

void leati_sum_end(leat_case_context *ctx, leat_case_sum *sum) {
  leati_case_free(ctx, sum->block);
  leati_op_destroy(ctx, sum->add);
  g_free(sum->values);
}

void leati_sum_step(leat_case_context *ctx, leat_case_sum *sum, leat_stream *stream) {
  const leat_case_tensor *inputs[2] = {&sum->views[sum->steps % 2], &sum->ones};
  leati_op_invoke(ctx, sum->add, stream, 2, inputs, &sum->views[(sum->steps + 1) % 2]);
  ++sum->steps;
}

void leati_sum_check(leat_case_context *ctx, const leat_case_sum *sum, leat_stream *stream) {
  float *out = g_new0(float, sum->count);
  leati_download(ctx, stream, (uint64_t)(uintptr_t)sum->views[sum->steps % 2].tensor.data, out,
                 sum->count * sizeof(float));
  leati_synchronize(ctx, stream);
  for (uint32_t i = 0; i < sum->count; ++i) {
    LEAT_CHECK_MESSAGE(ctx, out[i] == (float)(i + sum->steps), "element %u is %g after %u additions, expected %u", i,
                       (double)out[i], sum->steps, i + sum->steps);
  }
  g_free(out);
}

typedef struct {
  leat_case_context *ctx;
  leat_case_thread_fn run;
  void *data;
  GMutex lock;      /* guards waiting */
  GCond all_here;   /* signalled when waiting reaches count */
  uint32_t waiting; /* threads at the start line */
  uint32_t count;
} thread_group;

typedef struct {
  thread_group *group;
  uint32_t index;
} thread_member;

static gpointer run_member(gpointer user_data) {
  const thread_member *member = user_data;
  thread_group *group = member->group;
  g_mutex_lock(&group->lock);
  ++group->waiting;
  if (group->waiting == group->count) {
    g_cond_broadcast(&group->all_here);
  }
  while (group->waiting < group->count) {
    g_cond_wait(&group->all_here, &group->lock);
  }
  g_mutex_unlock(&group->lock);
  group->run(group->ctx, member->index, group->data);
  return NULL;
}

void leati_threads_run(leat_case_context *ctx, uint32_t count, leat_case_thread_fn run, void *data) {
  thread_group group = {.ctx = ctx, .run = run, .data = data, .count = count};
  thread_member *members = g_new(thread_member, count);
  GThread **threads = g_new(GThread *, count);
  g_mutex_init(&group.lock);
  g_cond_init(&group.all_here);
  /* Threads and not a pool of them: these end, and are joined, so that what hangs on the end of a thread has happened
   * when this function returns. */
  for (uint32_t i = 0; i < count; ++i) {
    GError *error = NULL;
    members[i] = (thread_member){.group = &group, .index = i};
    threads[i] = g_thread_try_new("case", run_member, &members[i], &error);
    if (threads[i] == NULL) {
      LEAT_FAIL(ctx, "cannot start thread %u of %u: %s", i + 1, count, error->message);
    }
  }
  for (uint32_t i = 0; i < count; ++i) {
    g_thread_join(threads[i]);
  }
  g_cond_clear(&group.all_here);
  g_mutex_clear(&group.lock);
  g_free(threads);
  g_free(members);
}

void leati_stream_load(leat_case_context *ctx, leat_stream *stream) {
  uint64_t a = leati_case_alloc(ctx, LOAD_BYTES, stream);
  uint64_t b = leati_case_alloc(ctx, LOAD_BYTES, stream);
  for (int i = 0; i < LOAD_COPIES; ++i) {
    leati_copy(ctx, stream, i % 2 == 0 ? a : b, i % 2 == 0 ? b : a, LOAD_BYTES);
  }
  /* Legal in any state of use; the device still reads and writes both. */
  leati_case_free(ctx, a);
  leati_case_free(ctx, b);
}
