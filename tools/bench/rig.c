/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/rig.h"

#include "fault.h"

static const DLDataType float32 = {kDLFloat, 32, 1};
static const DLDataType int32 = {kDLInt, 32, 1};
static const DLDataType int64 = {kDLInt, 64, 1};

gboolean leati_rig_ok(int32_t status, const leat_error *err, const char *what, GError **error) {
  if (status != LEAT_OK) {
    LEATI_FAULT_SET(error, "%s: %s: %s", what, leat_host_status_name(status), err->message);
  }
  return status == LEAT_OK;
}

static leat_value_info value_info(DLDataType type, int32_t ndim) {
  /* Only the rank is said, so that one operator serves tensors of any size. */
  static const int64_t unknown[] = {-1, -1};
  return (leat_value_info){.struct_size = sizeof(leat_value_info), .ndim = ndim, .dtype = type, .shape = unknown};
}

static gboolean make_op(leati_rig *rig, const char *name, uint32_t since_version, const leat_value_info *const *inputs,
                        uint32_t count, leat_op **out, GError **error) {
  leat_error err = LEATI_RIG_ERROR;
  const leat_op_desc desc = {.struct_size = sizeof(desc),
                             .since_version = since_version,
                             .name = name,
                             .input_count = count,
                             .output_count = 1,
                             .inputs = inputs};
  return leati_rig_ok(rig->api->op->create(rig->device, &desc, out, &err), &err, name, error);
}

static gboolean open_device(leati_rig *rig, guint index, GError **error) {
  leat_error err = LEATI_RIG_ERROR;
  uint32_t count = 0;
  if (!leati_rig_ok(rig->api->device->count(&count, &err), &err, "counting devices", error)) {
    return FALSE;
  }
  if (index >= count) {
    if (count == 0) {
      LEATI_FAULT_SET(error, "there is no usable device: %s", err.message);
    } else {
      LEATI_FAULT_SET(error, "there is no device %u; there are %u, from 0 (leat-info lists them)", index, count);
    }
    return FALSE;
  }
  rig->info = (leat_device_info){.struct_size = sizeof(rig->info)};
  if (!leati_rig_ok(rig->api->device->info(index, &rig->info, &err), &err, "describing the device", error) ||
      !leati_rig_ok(rig->api->device->open(index, &rig->device, &err), &err, "opening the device", error)) {
    return FALSE;
  }
  const leat_value_info vector = value_info(float32, 1), matrix = value_info(float32, 2), whole = value_info(int32, 2),
                        axis = value_info(int64, 0);
  return make_op(rig, "Relu", 14, (const leat_value_info *[]){&vector}, 1, &rig->relu, error) &&
         make_op(rig, "Gemm", 13, (const leat_value_info *[]){&matrix, &matrix, &vector}, 3, &rig->gemm, error) &&
         make_op(rig, "CumSum", 14, (const leat_value_info *[]){&whole, &axis}, 2, &rig->cumsum, error);
}

gboolean leati_rig_open(const char *plugin, guint index, leati_rig *out, GError **error) {
  *out = (leati_rig){.api = NULL};
  leat_error err = LEATI_RIG_ERROR;
  if (!leati_rig_ok(leat_host_load(plugin, &out->api, &err), &err, "loading the backend", error)) {
    return FALSE;
  }
  if (!open_device(out, index, error)) {
    leati_rig_close(out);
    return FALSE;
  }
  return TRUE;
}

gboolean leati_rig_reopen(leati_rig *rig, const char *setting, const char *value, GError **error) {
  leat_error err = LEATI_RIG_ERROR;
  const guint index = rig->info.index;
  leati_rig_close(rig);
  const gboolean set = leati_rig_ok(rig->api->configure(setting, value, &err), &err, setting, error);
  /* The first error is the one to tell. */
  return open_device(rig, index, set ? error : NULL) && set;
}

void leati_rig_close(leati_rig *rig) {
  if (rig->device != NULL) {
    const leat_op_api *op = rig->api->op;
    (void)op->destroy(rig->relu, NULL);
    (void)op->destroy(rig->gemm, NULL);
    (void)op->destroy(rig->cumsum, NULL);
    (void)rig->api->device->close(rig->device, NULL);
    rig->relu = rig->gemm = rig->cumsum = NULL;
    rig->device = NULL;
  }
  if (rig->api != NULL) {
    (void)rig->api->shutdown(NULL);
  }
}

guint leati_rig_pool_threads(const leati_rig *rig) {
  leat_pool_info info = {.struct_size = sizeof(info)};
  if (rig->api->pool == NULL || rig->api->pool->info(rig->device, &info, NULL) != LEAT_OK || info.stream_count < 2) {
    return 0;
  }
  return info.stream_count - 1;
}

gboolean leati_tensor_make(const leati_rig *rig, leat_stream *stream, DLDataType type, int64_t rows, int64_t columns,
                           leati_tensor *out, GError **error) {
  leat_error err = LEATI_RIG_ERROR;
  uint64_t address = 0;
  const uint64_t size = (uint64_t)rows * (uint64_t)MAX(columns, 1) * (type.bits / 8u);
  if (!leati_rig_ok(rig->api->memory->alloc(rig->device, size, stream, &address, &err), &err, "alloc", error)) {
    return FALSE;
  }
  out->shape[0] = rows;
  out->shape[1] = columns;
  out->view = (DLTensor){.data = (void *)(uintptr_t)address,
                         .device = {kDLVulkan, (int32_t)rig->info.index},
                         .ndim = columns > 0 ? 2 : 1,
                         .dtype = type,
                         .shape = out->shape};
  return TRUE;
}

void leati_tensor_free(const leati_rig *rig, leati_tensor *tensor) {
  (void)rig->api->memory->free(rig->device, (uint64_t)(uintptr_t)tensor->view.data, NULL);
  tensor->view.data = NULL;
}

DLTensor leati_tensor_host(leati_tensor *tensor, const void *data) {
  DLTensor host = tensor->view;
  /* DLPack knows no constant data; a source is only read. */
  host.data = (void *)(uintptr_t)data;
  host.device = (DLDevice){kDLCPU, 0};
  return host;
}

gboolean leati_tensor_put(const leati_rig *rig, leat_stream *stream, leati_tensor *tensor, const void *data,
                          GError **error) {
  leat_error err = LEATI_RIG_ERROR;
  const DLTensor host = leati_tensor_host(tensor, data);
  return leati_rig_ok(rig->api->memory->copy(stream, &host, &tensor->view, &err), &err, "upload", error);
}

gboolean leati_tensor_get(const leati_rig *rig, leat_stream *stream, leati_tensor *tensor, void *data, GError **error) {
  leat_error err = LEATI_RIG_ERROR;
  const DLTensor host = leati_tensor_host(tensor, data);
  return leati_rig_ok(rig->api->memory->copy(stream, &tensor->view, &host, &err), &err, "download", error) &&
         leati_rig_ok(rig->api->stream->synchronize(stream, &err), &err, "synchronize", error);
}
