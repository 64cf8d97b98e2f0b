/* SPDX-License-Identifier: BSD-3-Clause */
/* Tensors that come in by DLPack: whose they are when it failed, and when it did not. */
#include "core/status.c"
#include "streams/dlpack_exchange.c"

#define REAL_ERRORS
#include "outside.h"

static leat_device device;
static uint32_t held, deleted;

static int32_t may_fail(void) {
  return ANY(bool) ? LEAT_OK : LEAT_ERROR_INVALID_ARGUMENT;
}

leati_gate leati_gate_enter(leati_pass *pass) {
  (void)pass;
  return LEATI_GATE_OPEN;
}

void leati_gate_leave(leati_pass *pass) {
  (void)pass;
}

int32_t leati_stream_check(const leat_stream *stream, const leat_device *of, leat_error *err) {
  (void)stream;
  (void)of;
  (void)err;
  return may_fail();
}

leat_device *leati_stream_device(const leat_stream *stream) {
  (void)stream;
  return &device;
}

int32_t leati_event_check(const leat_event *event, const leat_device *of, leat_error *err) {
  (void)event;
  (void)of;
  (void)err;
  return may_fail();
}

int32_t leati_event_await(leat_event *event, leat_stream *stream, leat_error *err) {
  (void)event;
  (void)stream;
  (void)err;
  return may_fail();
}

int32_t leati_view_import(leat_device *on, const DLTensor *tensor, const char *what, leati_view *out, leat_error *err) {
  (void)on;
  (void)tensor;
  (void)what;
  (void)err;
  out->block = ANY(bool) ? (struct leati_block *)&held : NULL;
  return may_fail();
}

int32_t leati_extent_find(leat_device *on, uint64_t address, leati_extent *out, leat_error *err) {
  (void)on;
  (void)address;
  (void)err;
  out->block = (struct leati_block *)&held;
  return may_fail();
}

void leati_memory_hold(leati_block *block) {
  PROVE(block == (struct leati_block *)&held);
  ++held;
}

static void delete_it(DLManagedTensorVersioned *managed) {
  (void)managed;
  /* What the deleter may free is held by then. */
  PROVE(held == 1);
  ++deleted;
}

/* A tensor that was taken is held once, its deleter was called once, and the caller's struct says its shape; one that
 * was not is neither held nor deleted. None is taken of another device, of another major version, or read-only, nor
 * into a struct that is too short for it.
 * UNWIND 3
 * MISTAKE plugin/streams/dlpack_exchange.c: `tensor->device.device_type != kDLVulkan || tensor->device.device_id !=
 * (int)device->index` becomes `tensor->device.device_type != kDLVulkan`
 * MISTAKE plugin/streams/dlpack_exchange.c: `managed->flags & DLPACK_FLAG_BITMASK_READ_ONLY` becomes `managed->flags &
 * DLPACK_FLAG_BITMASK_IS_COPIED`
 * MISTAKE plugin/streams/dlpack_exchange.c: `LEATI_TRY(leati_event_await(ready, stream, err)); }
 * leati_memory_hold(block);` becomes `leati_memory_hold(block); LEATI_TRY(leati_event_await(ready, stream, err)); }` */
void prove_a_tensor_is_taken_or_left(void) {
  leat_view view;
  DLManagedTensorVersioned managed;
  managed.deleter = delete_it;
  device.index = ANY(uint32_t) & 7;
  ASSUME(view.struct_size <= sizeof(view));
  leat_event *const ready = ANY(bool) ? (leat_event *)&deleted : NULL;
  if (leati_dlpack_import(NULL, &managed, ready, &view, NULL) == LEAT_OK) {
    PROVE(held == 1 && deleted == 1);
    PROVE(managed.version.major == DLPACK_MAJOR_VERSION && (managed.flags & DLPACK_FLAG_BITMASK_READ_ONLY) == 0);
    PROVE(managed.dl_tensor.device.device_type == kDLVulkan);
    PROVE(managed.dl_tensor.device.device_id == (int)device.index);
    PROVE(view.struct_size == sizeof(view) && view.tensor.shape == view.shape && view.tensor.strides == view.strides);
  } else {
    PROVE(held == 0 && deleted == 0);
  }
}
