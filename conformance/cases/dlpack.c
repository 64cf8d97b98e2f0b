/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Cases about the exchange of tensors by DLPack, in its struct of today and in the one before 1.0.
 */
#include <string.h>

#include "cases/sources.h"
#include "fixture.h"

enum { ROWS = 5, COLUMNS = 40, BYTES = ROWS * COLUMNS * 4 };

static const int64_t matrix[2] = {ROWS, COLUMNS};

/* Either of the two managed structs, so that a case is written once. */
typedef struct {
  gboolean versioned;
  DLManagedTensorVersioned *now;
  DLManagedTensor *before;
} exchange;

static exchange kind_of(const void *data) {
  return (exchange){.versioned = data != NULL};
}
#define VERSIONED GINT_TO_POINTER(1)

static int32_t call_export(leat_case_context *ctx, exchange *tensor, leat_stream *stream, const DLTensor *view,
                           leat_event *ready, leat_error *err) {
  if (tensor->versioned) {
    return ctx->memory->export_dlpack(stream, view, ready, &tensor->now, err);
  }
  return ctx->memory->export_dlpack_unversioned(stream, view, ready, &tensor->before, err);
}

static int32_t call_import(leat_case_context *ctx, const exchange *tensor, leat_stream *stream, leat_event *ready,
                           leat_view *out, leat_error *err) {
  if (tensor->versioned) {
    return ctx->memory->import_dlpack(stream, tensor->now, ready, out, err);
  }
  return ctx->memory->import_dlpack_unversioned(stream, tensor->before, ready, out, err);
}

static const DLTensor *tensor_of(const exchange *tensor) {
  return tensor->versioned ? &tensor->now->dl_tensor : &tensor->before->dl_tensor;
}

static void call_deleter(const exchange *tensor) {
  if (tensor->versioned) {
    tensor->now->deleter(tensor->now);
  } else {
    tensor->before->deleter(tensor->before);
  }
}

static void check_dead(leat_case_context *ctx, uint64_t block) {
  uint64_t base = 0;
  uint64_t size = 0;
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT,
                    ctx->memory->find(leati_fixture_device(ctx), block, &base, &size, LEAT_ERR));
}

static void check_alive(leat_case_context *ctx, uint64_t block) {
  uint64_t base = 0;
  uint64_t size = 0;
  LEAT_CHECK_OK(ctx, ctx->memory->find(leati_fixture_device(ctx), block, &base, &size, LEAT_ERR));
  LEAT_CHECK_U64(ctx, block, base);
}

/* A new block with a pattern in it, still on its way in the stream, and a view of it. */
static uint64_t filled_block(leat_case_context *ctx, leat_stream *stream, uint32_t tag, uint8_t *bytes,
                             leat_case_tensor *view) {
  uint64_t block = leati_case_alloc(ctx, BYTES, stream);
  leati_pattern(bytes, BYTES, tag);
  leati_upload(ctx, stream, block, bytes, BYTES);
  leati_case_tensor_device(ctx, view, block, LEAT_F32, 2, matrix);
  return block;
}

/* The same, exported into `tensor`. */
static uint64_t exported_block(leat_case_context *ctx, leat_stream *stream, uint32_t tag, uint8_t *bytes,
                               leat_event *ready, exchange *tensor) {
  leat_case_tensor view;
  uint64_t block = filled_block(ctx, stream, tag, bytes, &view);
  LEAT_CHECK_OK(ctx, call_export(ctx, tensor, stream, &view.tensor, ready, LEAT_ERR));
  return block;
}

static void check_contents(leat_case_context *ctx, leat_stream *stream, uint64_t address, const uint8_t *want) {
  uint8_t have[BYTES] = {0};
  leati_download(ctx, stream, address, have, BYTES);
  leati_synchronize(ctx, stream);
  LEAT_CHECK_BYTES(ctx, want, have, BYTES);
}

/* ---- Export ---- */

static void export_fields(leat_case_context *ctx, const void *data) {
  exchange tensor = kind_of(data);
  leat_stream *stream = leati_stream_new(ctx);
  leat_case_tensor view;
  uint8_t in[BYTES];
  uint64_t block = filled_block(ctx, stream, 1, in, &view);
  const DLTensor *out;
  LEAT_CHECK_OK(ctx, call_export(ctx, &tensor, stream, &view.tensor, NULL, LEAT_ERR));
  LEAT_CHECK(ctx, tensor.versioned ? tensor.now != NULL : tensor.before != NULL);
  /* Shape and strides were copied: the caller's may change. */
  memset(&view, 0, sizeof(view));
  out = tensor_of(&tensor);
  LEAT_CHECK_U64(ctx, kDLVulkan, (uint64_t)out->device.device_type);
  LEAT_CHECK_U64(ctx, ctx->device_index, (uint64_t)out->device.device_id);
  LEAT_CHECK_U64(ctx, 2, (uint64_t)out->ndim);
  LEAT_CHECK_U64(ctx, kDLFloat, out->dtype.code);
  LEAT_CHECK_U64(ctx, 32, out->dtype.bits);
  LEAT_CHECK_U64(ctx, 1, out->dtype.lanes);
  LEAT_CHECK(ctx, out->shape != NULL && out->shape[0] == ROWS && out->shape[1] == COLUMNS);
  LEAT_CHECK_MESSAGE(ctx, out->strides != NULL, "an exported tensor always has strides");
  LEAT_CHECK(ctx, out->strides[0] == COLUMNS && out->strides[1] == 1);
  LEAT_CHECK_U64(ctx, block, (uint64_t)(uintptr_t)out->data + out->byte_offset);
  if (tensor.versioned) {
    LEAT_CHECK_U64(ctx, 1, tensor.now->version.major);
    LEAT_CHECK_U64(ctx, 0, tensor.now->flags & DLPACK_FLAG_BITMASK_READ_ONLY);
    LEAT_CHECK(ctx, tensor.now->deleter != NULL);
  } else {
    LEAT_CHECK(ctx, tensor.before->deleter != NULL);
  }
  call_deleter(&tensor);
  leati_case_free(ctx, block);
  leati_stream_destroy(ctx, stream);
}

static void export_strided(leat_case_context *ctx, const void *data) {
  exchange tensor = kind_of(data);
  leat_stream *stream = leati_stream_new(ctx);
  leat_case_tensor view;
  uint8_t in[BYTES];
  uint64_t block = filled_block(ctx, stream, 1, in, &view);
  /* Every second column, transposed, from the third row on. */
  view.tensor.byte_offset = 2 * COLUMNS * 4;
  view.shape[0] = COLUMNS / 2;
  view.shape[1] = ROWS - 2;
  view.strides[0] = 2;
  view.strides[1] = COLUMNS;
  view.tensor.strides = view.strides;
  LEAT_CHECK_OK(ctx, call_export(ctx, &tensor, stream, &view.tensor, NULL, LEAT_ERR));
  LEAT_CHECK(ctx, tensor_of(&tensor)->shape[0] == COLUMNS / 2 && tensor_of(&tensor)->shape[1] == ROWS - 2);
  LEAT_CHECK(ctx, tensor_of(&tensor)->strides[0] == 2 && tensor_of(&tensor)->strides[1] == COLUMNS);
  LEAT_CHECK_U64(ctx, block + 2 * COLUMNS * 4,
                 (uint64_t)(uintptr_t)tensor_of(&tensor)->data + tensor_of(&tensor)->byte_offset);
  call_deleter(&tensor);
  leati_case_free(ctx, block);
  leati_stream_destroy(ctx, stream);
}

static void export_bad(leat_case_context *ctx, const void *data) {
  exchange tensor = kind_of(data);
  leat_stream *stream = leati_stream_new(ctx);
  leat_case_tensor view;
  uint8_t in[BYTES];
  uint64_t block = filled_block(ctx, stream, 1, in, &view);
#define REFUSED() \
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, call_export(ctx, &tensor, stream, &view.tensor, NULL, LEAT_ERR))
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, call_export(ctx, &tensor, stream, NULL, NULL, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, call_export(ctx, &tensor, NULL, &view.tensor, NULL, LEAT_ERR));
  if (tensor.versioned) {
    LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT,
                      ctx->memory->export_dlpack(stream, &view.tensor, NULL, NULL, LEAT_ERR));
  } else {
    LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT,
                      ctx->memory->export_dlpack_unversioned(stream, &view.tensor, NULL, NULL, LEAT_ERR));
  }
  view.tensor.byte_offset = 4;
  REFUSED();
  view.tensor.byte_offset = UINT64_MAX - 3;
  REFUSED();
  leati_case_tensor_device(ctx, &view, block, LEAT_F32, 2, matrix);
  view.shape[0] = ROWS + 1;
  REFUSED();
  view.shape[0] = INT64_MAX;
  REFUSED();
  view.shape[0] = -1;
  REFUSED();
  leati_case_tensor_device(ctx, &view, block, LEAT_F32, 2, matrix);
  view.tensor.strides = view.strides;
  view.strides[0] = COLUMNS + 1;
  REFUSED();
  leati_case_tensor_host(&view, in, LEAT_F32, 2, matrix);
  REFUSED();
  leati_case_tensor_device(ctx, &view, block, LEAT_F32, 2, matrix);
  leati_case_free(ctx, block);
  REFUSED();
#undef REFUSED
  leati_stream_destroy(ctx, stream);
}

/* The block lives until free() and the deleter were both called, in either order. */
static void export_lifetime(leat_case_context *ctx, const void *data) {
  leat_stream *stream = leati_stream_new(ctx);
  for (int deleter_first = 0; deleter_first < 2; ++deleter_first) {
    exchange tensor = kind_of(data);
    uint8_t in[BYTES];
    uint64_t block = exported_block(ctx, stream, (uint32_t)deleter_first, in, NULL, &tensor);
    if (deleter_first) {
      call_deleter(&tensor);
    } else {
      leati_case_free(ctx, block);
    }
    check_alive(ctx, block);
    check_contents(ctx, stream, block, in);
    if (deleter_first) {
      leati_case_free(ctx, block);
    } else {
      call_deleter(&tensor);
    }
    check_dead(ctx, block);
  }
  leati_stream_destroy(ctx, stream);
}

static void export_two(leat_case_context *ctx, const void *data) {
  leat_stream *stream = leati_stream_new(ctx);
  exchange first = kind_of(data);
  exchange second = kind_of(data);
  leat_case_tensor view;
  uint8_t in[BYTES];
  uint64_t block = filled_block(ctx, stream, 1, in, &view);
  LEAT_CHECK_OK(ctx, call_export(ctx, &first, stream, &view.tensor, NULL, LEAT_ERR));
  LEAT_CHECK_OK(ctx, call_export(ctx, &second, stream, &view.tensor, NULL, LEAT_ERR));
  leati_case_free(ctx, block);
  call_deleter(&first);
  check_alive(ctx, block);
  check_contents(ctx, stream, block, in);
  call_deleter(&second);
  check_dead(ctx, block);
  leati_stream_destroy(ctx, stream);
}

/* What an exported tensor holds is not the caller's to free: a second free() is refused and takes nothing away. */
static void export_free_twice(leat_case_context *ctx, const void *data) {
  leat_stream *stream = leati_stream_new(ctx);
  exchange tensor = kind_of(data);
  uint8_t in[BYTES];
  uint64_t block = exported_block(ctx, stream, 1, in, NULL, &tensor);
  leati_case_free(ctx, block);
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->memory->free(leati_fixture_device(ctx), block, LEAT_ERR));
  check_alive(ctx, block);
  check_contents(ctx, stream, block, in);
  call_deleter(&tensor);
  check_dead(ctx, block);
  leati_stream_destroy(ctx, stream);
}

/* With an event the export does not wait; the event covers the work before. */
static void export_ready(leat_case_context *ctx, const void *data) {
  leat_stream *producer = leati_stream_new(ctx);
  leat_stream *consumer = leati_stream_new(ctx);
  leat_event *ready = leati_event_new(ctx);
  for (uint32_t round = 0; round < 5; ++round) {
    exchange tensor = kind_of(data);
    uint8_t in[BYTES];
    uint64_t block;
    leati_stream_load(ctx, producer);
    block = exported_block(ctx, producer, round, in, ready, &tensor);
    LEAT_CHECK_OK(ctx, ctx->stream->wait_event(consumer, ready, LEAT_ERR));
    check_contents(ctx, consumer, block, in);
    LEAT_CHECK_OK(ctx, ctx->event->query(ready, LEAT_ERR));
    call_deleter(&tensor);
    leati_case_free(ctx, block);
  }
  leati_event_destroy(ctx, ready);
  leati_stream_destroy(ctx, producer);
  leati_stream_destroy(ctx, consumer);
}

/* Without an event the export returns when the work before is done. */
static void export_synchronizes(leat_case_context *ctx, const void *data) {
  leat_stream *producer = leati_stream_new(ctx);
  leat_stream *consumer = leati_stream_new(ctx);
  for (uint32_t round = 0; round < 5; ++round) {
    exchange tensor = kind_of(data);
    uint8_t in[BYTES];
    uint64_t block;
    leati_stream_load(ctx, producer);
    block = exported_block(ctx, producer, round, in, NULL, &tensor);
    LEAT_CHECK_OK(ctx, ctx->stream->query(producer, LEAT_ERR));
    check_contents(ctx, consumer, block, in);
    call_deleter(&tensor);
    leati_case_free(ctx, block);
  }
  leati_stream_destroy(ctx, producer);
  leati_stream_destroy(ctx, consumer);
}

static void deleter_thread(leat_case_context *ctx, uint32_t index, void *data) {
  const exchange *tensors = data;
  (void)ctx;
  call_deleter(&tensors[index]);
}

static void deleter_threads(leat_case_context *ctx, const void *data) {
  enum { COUNT = 8 };
  leat_stream *stream = leati_stream_new(ctx);
  exchange tensors[COUNT];
  uint64_t blocks[COUNT];
  for (uint32_t i = 0; i < COUNT; ++i) {
    uint8_t in[BYTES];
    tensors[i] = kind_of(data);
    blocks[i] = exported_block(ctx, stream, i, in, NULL, &tensors[i]);
    leati_case_free(ctx, blocks[i]);
    check_alive(ctx, blocks[i]);
  }
  leati_threads_run(ctx, COUNT, deleter_thread, tensors);
  for (int i = 0; i < COUNT; ++i) {
    check_dead(ctx, blocks[i]);
  }
  leati_stream_destroy(ctx, stream);
}

/* The consumer's work on the block may be in flight when it calls the deleter. */
static void deleter_in_flight(leat_case_context *ctx, const void *data) {
  leat_stream *producer = leati_stream_new(ctx);
  leat_stream *consumer = leati_stream_new(ctx);
  for (uint32_t round = 0; round < 5; ++round) {
    exchange tensor = kind_of(data);
    leat_case_tensor view;
    uint8_t in[BYTES];
    uint8_t other[BYTES];
    uint8_t out[BYTES] = {0};
    uint64_t block = exported_block(ctx, producer, round, in, NULL, &tensor);
    leati_case_free(ctx, block);
    leati_stream_load(ctx, consumer);
    leati_download(ctx, consumer, block, out, BYTES);
    LEAT_CHECK_OK(ctx, ctx->stream->flush(consumer, LEAT_ERR));
    call_deleter(&tensor);
    /* Asks for the same size at once; it must not be written before the consumer has read. */
    block = filled_block(ctx, producer, round + 100, other, &view);
    leati_synchronize(ctx, producer);
    leati_synchronize(ctx, consumer);
    LEAT_CHECK_BYTES(ctx, in, out, BYTES);
    leati_case_free(ctx, block);
  }
  leati_stream_destroy(ctx, producer);
  leati_stream_destroy(ctx, consumer);
}

/* ---- Import ---- */

static void round_trip(leat_case_context *ctx, const void *data) {
  exchange tensor = kind_of(data);
  leat_stream *stream = leati_stream_new(ctx);
  uint8_t in[BYTES];
  leat_view imported = {.struct_size = sizeof(imported)};
  uint64_t block = exported_block(ctx, stream, 1, in, NULL, &tensor);
  LEAT_CHECK_OK(ctx, call_import(ctx, &tensor, stream, NULL, &imported, LEAT_ERR));
  LEAT_CHECK_U64(ctx, block, (uint64_t)(uintptr_t)imported.tensor.data + imported.tensor.byte_offset);
  LEAT_CHECK_U64(ctx, 2, (uint64_t)imported.tensor.ndim);
  LEAT_CHECK_MESSAGE(ctx, imported.tensor.shape == imported.shape && imported.tensor.strides == imported.strides,
                     "shape and strides of an imported view must point into the caller's struct");
  LEAT_CHECK(ctx, imported.shape[0] == ROWS && imported.shape[1] == COLUMNS);
  LEAT_CHECK(ctx, imported.strides[0] == COLUMNS && imported.strides[1] == 1);
  LEAT_CHECK_U64(ctx, kDLVulkan, (uint64_t)imported.tensor.device.device_type);
  LEAT_CHECK_U64(ctx, ctx->device_index, (uint64_t)imported.tensor.device.device_id);
  LEAT_CHECK_U64(ctx, 32, imported.tensor.dtype.bits);
  /* Two hold the block now: who allocated it, and the view. */
  leati_case_free(ctx, block);
  check_alive(ctx, block);
  check_contents(ctx, stream, block, in);
  leati_case_free(ctx, block);
  check_dead(ctx, block);
  leati_stream_destroy(ctx, stream);
}

/* A tensor of another producer: its own struct around a block of this device, with a deleter that counts. */
typedef struct {
  exchange tensor;
  DLManagedTensorVersioned now;
  DLManagedTensor before;
  leat_stream *stream; /* the block is filled and imported through it */
  uint64_t block;
  uint8_t in[BYTES]; /* what the block holds */
  leat_case_tensor view;
  leat_view imported; /* where the tensor is imported to */
  gint deleted;       /* atomic: the deleter may be called from any thread */
} producer;

static void deleted_now(DLManagedTensorVersioned *managed) {
  g_atomic_int_inc(&((producer *)managed->manager_ctx)->deleted);
}

static void deleted_before(DLManagedTensor *managed) {
  g_atomic_int_inc(&((producer *)managed->manager_ctx)->deleted);
}

/* `view` of the producer must be filled in. */
static void wrap(producer *maker, const void *data) {
  maker->tensor = kind_of(data);
  maker->tensor.now = &maker->now;
  maker->tensor.before = &maker->before;
  maker->now = (DLManagedTensorVersioned){.version = {.major = 1, .minor = 0},
                                          .manager_ctx = maker,
                                          .deleter = deleted_now,
                                          .dl_tensor = maker->view.tensor};
  maker->before = (DLManagedTensor){.manager_ctx = maker, .deleter = deleted_before, .dl_tensor = maker->view.tensor};
  maker->deleted = 0;
}

static producer *producer_new(leat_case_context *ctx, const void *data) {
  producer *maker = g_new0(producer, 1);
  maker->stream = leati_stream_new(ctx);
  maker->block = filled_block(ctx, maker->stream, 1, maker->in, &maker->view);
  maker->imported.struct_size = sizeof(maker->imported);
  wrap(maker, data);
  return maker;
}

/* Imports what the producer has. */
static int32_t call_import_of(leat_case_context *ctx, producer *maker, leat_error *err) {
  return call_import(ctx, &maker->tensor, maker->stream, NULL, &maker->imported, err);
}

/* By now, or at the latest when the device is closed, the tensor has been deleted, once. The stream must be gone. */
static void check_deleted_once(leat_case_context *ctx, producer *maker) {
  leati_fixture_end(ctx);
  leati_fixture_begin(ctx);
  LEAT_CHECK_U64(ctx, 1, (uint64_t)g_atomic_int_get(&maker->deleted));
}

/* Nothing was taken over: the block is the caller's alone. */
static void check_untouched(leat_case_context *ctx, producer *maker) {
  LEAT_CHECK_U64(ctx, 0, (uint64_t)g_atomic_int_get(&maker->deleted));
  check_contents(ctx, maker->stream, maker->block, maker->in);
  leati_case_free(ctx, maker->block);
  check_dead(ctx, maker->block);
}

static void import_foreign(leat_case_context *ctx, const void *data) {
  producer *maker = producer_new(ctx, data);
  LEAT_CHECK_OK(ctx, call_import_of(ctx, maker, LEAT_ERR));
  /* NULL strides came in; compact ones come out. */
  LEAT_CHECK(ctx, maker->imported.tensor.strides == maker->imported.strides && maker->imported.strides[0] == COLUMNS);
  leati_case_free(ctx, maker->block);
  check_alive(ctx, maker->block);
  check_contents(ctx, maker->stream, maker->block, maker->in);
  leati_case_free(ctx, maker->block);
  check_dead(ctx, maker->block);
  leati_stream_destroy(ctx, maker->stream);
  check_deleted_once(ctx, maker);
  g_free(maker);
}

static void import_no_deleter(leat_case_context *ctx, const void *data) {
  producer *maker = producer_new(ctx, data);
  maker->now.deleter = NULL;
  maker->before.deleter = NULL;
  LEAT_CHECK_OK(ctx, call_import_of(ctx, maker, LEAT_ERR));
  leati_case_free(ctx, maker->block);
  leati_case_free(ctx, maker->block);
  check_dead(ctx, maker->block);
  leati_stream_destroy(ctx, maker->stream);
  g_free(maker);
}

static void import_ready(leat_case_context *ctx, const void *data) {
  leat_stream *source = leati_stream_new(ctx);
  leat_stream *stream = leati_stream_new(ctx);
  leat_event *ready = leati_event_new(ctx);
  for (uint32_t round = 0; round < 5; ++round) {
    exchange tensor = kind_of(data);
    leat_view imported = {.struct_size = sizeof(imported)};
    uint8_t in[BYTES];
    uint64_t block;
    leati_stream_load(ctx, source);
    block = exported_block(ctx, source, round, in, ready, &tensor);
    /* The importing stream waits for the event by itself. */
    LEAT_CHECK_OK(ctx, call_import(ctx, &tensor, stream, ready, &imported, LEAT_ERR));
    check_contents(ctx, stream, (uint64_t)(uintptr_t)imported.tensor.data + imported.tensor.byte_offset, in);
    leati_case_free(ctx, block);
    leati_case_free(ctx, block);
  }
  leati_event_destroy(ctx, ready);
  leati_stream_destroy(ctx, source);
  leati_stream_destroy(ctx, stream);
}

/* What is refused stays the caller's: its deleter is not called, and the block is not held. */
static void import_refused(leat_case_context *ctx, const void *data) {
  producer *maker = producer_new(ctx, data);
  uint64_t gone = leati_case_alloc(ctx, BYTES, maker->stream);
  DLTensor *views[2] = {&maker->now.dl_tensor, &maker->before.dl_tensor};
  DLTensor *view = views[data != NULL ? 0 : 1];
#define REFUSED(first, second) LEAT_CHECK_EITHER(ctx, first, second, call_import_of(ctx, maker, LEAT_ERR))
  leati_case_free(ctx, gone);
  /* Another kind of device; the host; another device of the kind. */
  view->device.device_type = kDLCUDA;
  REFUSED(LEAT_ERROR_NOT_SUPPORTED, LEAT_ERROR_NOT_SUPPORTED);
  view->device.device_type = kDLCPU;
  view->data = maker->in;
  REFUSED(LEAT_ERROR_NOT_SUPPORTED, LEAT_ERROR_NOT_SUPPORTED);
  wrap(maker, data);
  view->device.device_id = 1000;
  REFUSED(LEAT_ERROR_NOT_SUPPORTED, LEAT_ERROR_NOT_SUPPORTED);
  /* Memory that is no live block of this device, or goes beyond it. */
  wrap(maker, data);
  view->data = (void *)(uintptr_t)gone;
  REFUSED(LEAT_ERROR_INVALID_ARGUMENT, LEAT_ERROR_NOT_SUPPORTED);
  wrap(maker, data);
  view->data = maker->in;
  REFUSED(LEAT_ERROR_INVALID_ARGUMENT, LEAT_ERROR_NOT_SUPPORTED);
  wrap(maker, data);
  view->byte_offset = 8;
  REFUSED(LEAT_ERROR_INVALID_ARGUMENT, LEAT_ERROR_INVALID_ARGUMENT);
  /* Shapes that cannot be. */
  wrap(maker, data);
  view->ndim = -1;
  REFUSED(LEAT_ERROR_INVALID_ARGUMENT, LEAT_ERROR_NOT_SUPPORTED);
  view->ndim = 9;
  REFUSED(LEAT_ERROR_INVALID_ARGUMENT, LEAT_ERROR_NOT_SUPPORTED);
  view->ndim = 2;
  view->shape = NULL;
  REFUSED(LEAT_ERROR_INVALID_ARGUMENT, LEAT_ERROR_INVALID_ARGUMENT);
  /* A view struct that is too short, and NULL. */
  wrap(maker, data);
  maker->imported.struct_size = sizeof(maker->imported) - 8;
  REFUSED(LEAT_ERROR_INVALID_ARGUMENT, LEAT_ERROR_INVALID_ARGUMENT);
  maker->imported.struct_size = sizeof(maker->imported);
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT,
                    call_import(ctx, &maker->tensor, maker->stream, NULL, NULL, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT,
                    call_import(ctx, &maker->tensor, NULL, NULL, &maker->imported, LEAT_ERR));
  maker->tensor.now = NULL;
  maker->tensor.before = NULL;
  REFUSED(LEAT_ERROR_INVALID_ARGUMENT, LEAT_ERROR_INVALID_ARGUMENT);
#undef REFUSED
  check_untouched(ctx, maker);
  leati_stream_destroy(ctx, maker->stream);
  g_free(maker);
}

static void import_version(leat_case_context *ctx, const void *data) {
  producer *maker = producer_new(ctx, VERSIONED);
  (void)data;
  maker->now.version.major = 2;
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_NOT_SUPPORTED, call_import_of(ctx, maker, LEAT_ERR));
  maker->now.version.major = 0;
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_NOT_SUPPORTED, call_import_of(ctx, maker, LEAT_ERR));
  LEAT_CHECK_U64(ctx, 0, (uint64_t)g_atomic_int_get(&maker->deleted));
  /* A later minor version has only more codes. */
  maker->now.version.major = 1;
  maker->now.version.minor = 77;
  LEAT_CHECK_OK(ctx, call_import_of(ctx, maker, LEAT_ERR));
  leati_case_free(ctx, maker->block);
  leati_case_free(ctx, maker->block);
  leati_stream_destroy(ctx, maker->stream);
  check_deleted_once(ctx, maker);
  g_free(maker);
}

static void import_read_only(leat_case_context *ctx, const void *data) {
  producer *maker = producer_new(ctx, VERSIONED);
  (void)data;
  maker->now.flags = DLPACK_FLAG_BITMASK_READ_ONLY;
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_NOT_SUPPORTED, call_import_of(ctx, maker, LEAT_ERR));
  check_untouched(ctx, maker);
  leati_stream_destroy(ctx, maker->stream);
  g_free(maker);
}

/* Both structs, under names that end differently. */
#define BOTH(stem, text, function, bits)                                                                \
  {.name = stem, .summary = text, .flags = bits, .run = function, .data = VERSIONED}, {                 \
    .name = stem "_unversioned", .summary = text " (struct before 1.0)", .flags = bits, .run = function \
  }

static const leat_case cases[] = {
    BOTH("dlpack.export.fields_are_filled", "An exported tensor describes its view, with strides and a deleter.",
         export_fields, 0),
    BOTH("dlpack.export.strided_view_keeps_its_strides", "A strided view with an offset is exported as it is.",
         export_strided, 0),
    BOTH("dlpack.export.bad_views_are_refused", "Views outside one live block of the device are refused.", export_bad,
         0),
    BOTH("dlpack.export.block_lives_until_free_and_deleter",
         "free() and the deleter release the block in either order.", export_lifetime, 0),
    BOTH("dlpack.export.twice_holds_twice", "Two exported tensors of one block hold it each.", export_two, 0),
    BOTH("dlpack.export.second_free_is_invalid", "free() cannot release what an exported tensor holds.",
         export_free_twice, 0),
    BOTH("dlpack.export.ready_event_orders_the_consumer", "The event given to export covers the work before it.",
         export_ready, 0),
    BOTH("dlpack.export.without_event_synchronizes", "Without an event the work before is done when export returns.",
         export_synchronizes, 0),
    BOTH("dlpack.deleter.from_any_thread", "Eight threads call eight deleters at once.", deleter_threads, 0),
    BOTH("dlpack.deleter.with_work_in_flight", "A block whose deleter is called is not reused while it is read.",
         deleter_in_flight, 0),
    BOTH("dlpack.import.round_trip", "A tensor that was exported can be imported; the view holds the block.",
         round_trip, 0),
    BOTH("dlpack.import.foreign_producer_is_released_once", "The deleter of another producer is called exactly once.",
         import_foreign, LEAT_CASE_ALONE),
    BOTH("dlpack.import.deleter_may_be_null", "A tensor without a deleter can be imported.", import_no_deleter, 0),
    BOTH("dlpack.import.waits_for_the_ready_event", "The importing stream waits for the event.", import_ready, 0),
    BOTH("dlpack.import.refused_tensor_stays_the_callers",
         "Other devices, foreign memory and broken shapes are refused, and nothing is taken over.", import_refused, 0),
    {.name = "dlpack.import.other_major_version_is_not_supported",
     .summary = "Another layout is refused and stays the caller's; a later minor version is fine.",
     .flags = LEAT_CASE_ALONE,
     .run = import_version},
    {.name = "dlpack.import.read_only_is_not_supported",
     .summary = "A read-only tensor is refused and stays the caller's.",
     .run = import_read_only},
};

void leati_cases_dlpack(leat_case_list *list) {
  leati_case_list_add(list, cases, G_N_ELEMENTS(cases));
}
