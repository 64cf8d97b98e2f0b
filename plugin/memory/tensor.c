/* SPDX-License-Identifier: BSD-3-Clause */
#include "memory/tensor.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/status.h"
#include "device/device.h"
#include "memory/memory.h"

/* Every element type of the ABI, in the order of the bits. */
static const struct {
  uint64_t type;
  DLDataType dtype;
  const char *name;
} types[] = {
    {LEAT_TYPE_FLOAT32, {kDLFloat, 32, 1}, "float32"},
    {LEAT_TYPE_FLOAT16, {kDLFloat, 16, 1}, "float16"},
    {LEAT_TYPE_BFLOAT16, {kDLBfloat, 16, 1}, "bfloat16"},
    {LEAT_TYPE_FLOAT64, {kDLFloat, 64, 1}, "float64"},
    {LEAT_TYPE_INT8, {kDLInt, 8, 1}, "int8"},
    {LEAT_TYPE_INT16, {kDLInt, 16, 1}, "int16"},
    {LEAT_TYPE_INT32, {kDLInt, 32, 1}, "int32"},
    {LEAT_TYPE_INT64, {kDLInt, 64, 1}, "int64"},
    {LEAT_TYPE_UINT8, {kDLUInt, 8, 1}, "uint8"},
    {LEAT_TYPE_UINT16, {kDLUInt, 16, 1}, "uint16"},
    {LEAT_TYPE_UINT32, {kDLUInt, 32, 1}, "uint32"},
    {LEAT_TYPE_UINT64, {kDLUInt, 64, 1}, "uint64"},
    {LEAT_TYPE_BOOL, {LEAT_DL_BOOL, 8, 1}, "bool"},
    {LEAT_TYPE_FLOAT8E4M3FN, {LEAT_DL_FLOAT8_E4M3FN, 8, 1}, "float8e4m3fn"},
    {LEAT_TYPE_FLOAT8E4M3FNUZ, {LEAT_DL_FLOAT8_E4M3FNUZ, 8, 1}, "float8e4m3fnuz"},
    {LEAT_TYPE_FLOAT8E5M2, {LEAT_DL_FLOAT8_E5M2, 8, 1}, "float8e5m2"},
    {LEAT_TYPE_FLOAT8E5M2FNUZ, {LEAT_DL_FLOAT8_E5M2FNUZ, 8, 1}, "float8e5m2fnuz"},
    {LEAT_TYPE_FLOAT8E8M0, {LEAT_DL_FLOAT8_E8M0FNU, 8, 1}, "float8e8m0"},
    {LEAT_TYPE_FLOAT4E2M1, {LEAT_DL_FLOAT4_E2M1FN, 4, 1}, "float4e2m1"},
    {LEAT_TYPE_INT4, {kDLInt, 4, 1}, "int4"},
    {LEAT_TYPE_UINT4, {kDLUInt, 4, 1}, "uint4"},
    {LEAT_TYPE_INT2, {kDLInt, 2, 1}, "int2"},
    {LEAT_TYPE_UINT2, {kDLUInt, 2, 1}, "uint2"},
};
#define TYPE_COUNT (sizeof(types) / sizeof(types[0]))

uint64_t leati_type_of(DLDataType dtype) {
  for (unsigned i = 0; i < TYPE_COUNT; ++i) {
    if (leati_dtype_same(types[i].dtype, dtype)) {
      return types[i].type;
    }
  }
  return 0;
}

/* Row of `types` for a type, or -1. */
static int row_of(uint64_t type) {
  const int row = type != 0 ? __builtin_ctzll(type) : 0;
  return row < (int)TYPE_COUNT && types[row].type == type ? row : -1;
}

DLDataType leati_dtype_of(uint64_t type) {
  const int row = row_of(type);
  return row < 0 ? (DLDataType){0} : types[row].dtype;
}

/* The value of a float16. */
static float half_of(uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const float magnitude = exponent == 31  ? (fraction != 0 ? NAN : INFINITY)
                          : exponent == 0 ? ldexpf((float)fraction, -24)
                                          : ldexpf((float)(1024 + fraction), exponent - 25);
  return copysignf(magnitude, bits >> 15 != 0 ? -1.0f : 1.0f);
}

float leati_real_of(uint64_t type, const void *bytes) {
  float value;
  uint16_t half;
  if (type == LEAT_TYPE_FLOAT32) {
    memcpy(&value, bytes, sizeof(value));
    return value;
  }
  memcpy(&half, bytes, sizeof(half));
  const uint32_t bits = (uint32_t)half << 16;
  memcpy(&value, &bits, sizeof(value));
  return type == LEAT_TYPE_BFLOAT16 ? value : half_of(half);
}

uint32_t leati_type_size(uint64_t type) {
  return (type & LEATI_TYPES_HELD) != 0 ? leati_dtype_of(type).bits / 8u : 0;
}

const char *leati_type_name(uint64_t type) {
  const int row = row_of(type);
  return row < 0 ? "an unknown type" : types[row].name;
}

void leati_view_make_compact(leati_view *view) {
  uint64_t count = 1;
  for (int32_t i = view->ndim; i-- > 0;) {
    view->strides[i] = (int64_t)count;
    count *= (uint64_t)view->shape[i];
  }
  view->count = count;
  view->compact = true;
}

/* Whether the strides are those of a compact tensor; strides of dimensions of size 1 do not matter. */
static bool is_compact(const leati_view *view) {
  int64_t expected = 1;
  for (int32_t i = view->ndim; i-- > 0;) {
    if (view->shape[i] != 1 && view->strides[i] != expected) {
      return false;
    }
    expected *= view->shape[i];
  }
  return true;
}

int32_t leati_view_of_shape(DLDataType dtype, int32_t ndim, const int64_t *shape, const char *what, leati_view *out,
                            leat_error *err) {
  memset(out, 0, offsetof(leati_view, shape));
  if (ndim < 0 || ndim > LEAT_MAX_RANK) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s has rank %d; allowed: 0 to %d", what, ndim, LEAT_MAX_RANK);
  }
  if (ndim > 0 && shape == NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s has rank %d and a NULL shape", what, ndim);
  }
  out->ndim = ndim;
  out->dtype = dtype;
  out->type = leati_type_of(dtype);
  if (out->type == 0) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s has an element type that Leat does not know (code %u, %u bits, %u lanes)", what, dtype.code,
                      dtype.bits, dtype.lanes);
  }
  out->item_size = leati_type_size(out->type);
  if (out->item_size == 0) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%s has elements of type %s, which this backend does not hold",
                      what, leati_type_name(out->type));
  }
  uint64_t bound = 1; /* the count if zero sizes were ones: keeps every partial product within range */
  for (int32_t i = 0; i < out->ndim; ++i) {
    const int64_t size = shape[i];
    if (size < 0) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s has size %" PRId64 " in dimension %d", what, size, i);
    }
    if (__builtin_mul_overflow(bound, size == 0 ? 1u : (uint64_t)size, &bound) || bound > (UINT64_C(1) << 56)) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s has more elements than any device can hold", what);
    }
    out->shape[i] = size;
  }
  leati_view_make_compact(out);
  out->present = true;
  return LEAT_OK;
}

int32_t leati_view_import_shape(const DLTensor *tensor, const char *what, leati_view *out, leat_error *err) {
  if (tensor == NULL) {
    memset(out, 0, offsetof(leati_view, shape));
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s is NULL", what);
  }
  return leati_view_of_shape(tensor->dtype, tensor->ndim, tensor->shape, what, out, err);
}

/* Takes the strides over. Without elements they mean nothing and may hold anything, so compact ones stand for them. */
static void read_strides(const DLTensor *tensor, leati_view *out) {
  if (tensor->strides == NULL || out->count == 0) {
    return;
  }
  for (int32_t i = 0; i < out->ndim; ++i) {
    out->strides[i] = tensor->strides[i];
  }
  out->compact = out->count < 2 || is_compact(out);
}

/* Byte offsets of the first and one past the last byte that the elements touch, relative to element [0, 0, ...]. */
static bool extent_of(const leati_view *view, int64_t *out_low, int64_t *out_high) {
  int64_t low = 0, high = 0;
  for (int32_t i = 0; i < view->ndim; ++i) {
    int64_t reach;
    if (__builtin_mul_overflow(view->shape[i] - 1, view->strides[i], &reach) ||
        __builtin_add_overflow(reach < 0 ? low : high, reach, reach < 0 ? &low : &high)) {
      return false;
    }
  }
  return !__builtin_mul_overflow(low, (int64_t)view->item_size, out_low) && !__builtin_add_overflow(high, 1, &high) &&
         !__builtin_mul_overflow(high, (int64_t)view->item_size, out_high);
}

void leati_view_measure(leati_view *view) {
  int64_t low = 0, high = 0;
  view->count = 1;
  for (int32_t i = 0; i < view->ndim; ++i) {
    view->count *= (uint64_t)view->shape[i];
  }
  view->compact = view->count < 2 || is_compact(view);
  if (view->count != 0) {
    (void)extent_of(view, &low, &high); /* nothing overflows: all of it lies within what was checked */
  }
  view->begin = view->address + (uint64_t)low;
  view->end = view->address + (uint64_t)high;
}

/* Finds where the elements lie in the host's or the device's address space. */
static int32_t lay_out(const DLTensor *tensor, const char *what, leati_view *out, leat_error *err) {
  int64_t low = 0, high = (int64_t)(out->count * out->item_size);
  const uint64_t data = (uint64_t)(uintptr_t)tensor->data;
  bool beyond = (!out->compact && !extent_of(out, &low, &high)) ||
                __builtin_add_overflow(data, tensor->byte_offset, &out->address);
  out->begin = out->address + (uint64_t)low;
  out->end = out->address + (uint64_t)high;
  beyond = beyond || out->begin > out->address || out->end < out->address;
  return beyond ? leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s has strides or an offset beyond any address", what)
                : LEAT_OK;
}

static int32_t find_block(leat_device *device, const DLTensor *tensor, const char *what, leati_view *out,
                          leat_error *err) {
  const uint64_t data = (uint64_t)(uintptr_t)tensor->data;
  LEATI_TRY(lay_out(tensor, what, out, err));
  leati_block *const block = leati_memory_find(device, data);
  if (block == NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: 0x%" PRIx64 " is not in a live block of the device", what,
                      data);
  }
  const uint64_t base = leati_block_address(block);
  const uint64_t end = base + leati_block_size(block);
  if (out->begin < base || out->end > end) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s touches bytes %" PRId64 " to %" PRId64 " of a block of %" PRIu64 " bytes", what,
                      (int64_t)(out->begin - base), (int64_t)(out->end - base), leati_block_size(block));
  }
  if ((out->address & ((out->item_size > 8 ? 8 : out->item_size) - 1)) != 0) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: 0x%" PRIx64 " is not aligned to its elements of %u bytes",
                      what, out->address, out->item_size);
  }
  out->block = block;
  return LEAT_OK;
}

/* The host's memory cannot be checked further than that its addresses do not wrap. */
static int32_t find_data(const DLTensor *tensor, const char *what, leati_view *out, leat_error *err) {
  out->host = true;
  if (tensor->data == NULL) {
    return out->count == 0 ? LEAT_OK
                           : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s has elements and NULL data", what);
  }
  LEATI_TRY(lay_out(tensor, what, out, err));
  out->data = (unsigned char *)tensor->data + tensor->byte_offset;
  return LEAT_OK;
}

int32_t leati_view_import_host(const DLTensor *tensor, const char *what, leati_view *out, leat_error *err) {
  LEATI_TRY(leati_view_import_shape(tensor, what, out, err));
  read_strides(tensor, out);
  if (tensor->device.device_type != kDLCPU) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s is on DLPack device (%d, %d); expected the host, kDLCPU (1)", what,
                      (int)tensor->device.device_type, tensor->device.device_id);
  }
  return find_data(tensor, what, out, err);
}

int32_t leati_view_import(leat_device *device, const DLTensor *tensor, const char *what, leati_view *out,
                          leat_error *err) {
  LEATI_TRY(leati_view_import_shape(tensor, what, out, err));
  read_strides(tensor, out);
  if (tensor->device.device_type == kDLCPU) {
    return find_data(tensor, what, out, err);
  }
  if (tensor->device.device_type != kDLVulkan || tensor->device.device_id != (int)device->index) {
    return leati_fail(
        err, LEAT_ERROR_INVALID_ARGUMENT,
        "%s is on DLPack device (%d, %d); expected kDLVulkan (7) device %u, or the host where that is allowed", what,
        (int)tensor->device.device_type, tensor->device.device_id, device->index);
  }
  return out->count == 0 ? LEAT_OK : find_block(device, tensor, what, out, err);
}
