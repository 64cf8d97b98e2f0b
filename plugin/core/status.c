/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of a leat_error before its message: a caller's struct that is shorter has no room for anything. */
#define ERROR_HEAD offsetof(leat_error, message)

/* No struct of any version comes near this size: the memory behind a wild one is not looked at. */
#define STRUCT_MAX 65536u

static void write_error(leat_error *err, int32_t code, int32_t native_code, const char *format, va_list arguments) {
  if (err == NULL || err->struct_size <= ERROR_HEAD) {
    return;
  }
  const size_t room = (err->struct_size < sizeof(*err) ? err->struct_size : sizeof(*err)) - ERROR_HEAD;
  err->code = code;
  err->native_code = native_code;
  err->reserved = 0;
  (void)vsnprintf(err->message, room, format, arguments);
}

int32_t leati_fail(leat_error *err, int32_t code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write_error(err, code, 0, format, arguments);
  va_end(arguments);
  return code;
}

void leati_remark(leat_error *err, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write_error(err, LEAT_OK, 0, format, arguments);
  va_end(arguments);
}

void leati_forget(leat_error *err) {
  leati_remark(err, "%s", "");
}

static void write_native(leat_error *err, int32_t code, int32_t native_code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write_error(err, code, native_code, format, arguments);
  va_end(arguments);
}

/* Name of a result, such as "VK_ERROR_DEVICE_LOST". */
static const char *result_name(VkResult result) {
  switch (result) {
#define NAME(name) \
  case name:       \
    return #name
    NAME(VK_SUCCESS);
    NAME(VK_NOT_READY);
    NAME(VK_TIMEOUT);
    NAME(VK_INCOMPLETE);
    NAME(VK_ERROR_OUT_OF_HOST_MEMORY);
    NAME(VK_ERROR_OUT_OF_DEVICE_MEMORY);
    NAME(VK_ERROR_INITIALIZATION_FAILED);
    NAME(VK_ERROR_DEVICE_LOST);
    NAME(VK_ERROR_MEMORY_MAP_FAILED);
    NAME(VK_ERROR_LAYER_NOT_PRESENT);
    NAME(VK_ERROR_EXTENSION_NOT_PRESENT);
    NAME(VK_ERROR_FEATURE_NOT_PRESENT);
    NAME(VK_ERROR_INCOMPATIBLE_DRIVER);
    NAME(VK_ERROR_TOO_MANY_OBJECTS);
    NAME(VK_ERROR_OUT_OF_POOL_MEMORY);
    NAME(VK_ERROR_FRAGMENTATION);
    NAME(VK_ERROR_INVALID_EXTERNAL_HANDLE);
    NAME(VK_ERROR_UNKNOWN);
#undef NAME
    default:
      return "a VkResult unknown to Leat";
  }
}

int32_t leati_fail_vk(leat_error *err, VkResult result, const char *what) {
  int32_t code = LEAT_ERROR_INTERNAL;
  if (result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_OUT_OF_DEVICE_MEMORY ||
      result == VK_ERROR_OUT_OF_POOL_MEMORY || result == VK_ERROR_FRAGMENTATION ||
      result == VK_ERROR_TOO_MANY_OBJECTS || result == VK_ERROR_MEMORY_MAP_FAILED) {
    code = LEAT_ERROR_OUT_OF_MEMORY;
  } else if (result == VK_ERROR_DEVICE_LOST) {
    code = LEAT_ERROR_DEVICE_LOST;
  }
  write_native(err, code, (int32_t)result, "%s failed: %s", what, result_name(result));
  return code;
}

int32_t leati_fail_again(leat_error *err, const leat_error *kept) {
  write_native(err, kept->code, kept->native_code, "%s", kept->message);
  return kept->code;
}

int32_t leati_import(void *to, size_t known, size_t least, const void *from, const char *name, leat_error *err) {
  if (from == NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s is NULL", name);
  }
  uint32_t size;
  memcpy(&size, from, sizeof(size));
  if (size < least) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s.struct_size is %u; at least %zu is needed", name, size,
                      least);
  }
  if (size > STRUCT_MAX) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "%s.struct_size is %u; a size that no version has: set it to sizeof(%s)", name, size, name);
  }
  for (size_t i = known; i < size; ++i) {
    if (((const unsigned char *)from)[i] != 0) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                        "%s has a non-zero field beyond the %zu bytes that this backend knows", name, known);
    }
  }
  memset(to, 0, known);
  memcpy(to, from, size < known ? size : known);
  return LEAT_OK;
}

int32_t leati_export(void *to, const void *from, size_t known, size_t least, const char *name, leat_error *err) {
  if (to == NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s is NULL", name);
  }
  uint32_t size;
  memcpy(&size, to, sizeof(size));
  if (size < least) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s.struct_size is %u; at least %zu is needed", name, size,
                      least);
  }
  memcpy(to, from, size < known ? size : known);
  memcpy(to, &size, sizeof(size));
  return LEAT_OK;
}

int32_t leati_check_list(const uint32_t *inout_count, const void *out, size_t size, const char *name, leat_error *err) {
  if (inout_count == NULL || (*inout_count != 0 && out == NULL)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      inout_count == NULL ? "inout_count is NULL" : "out is NULL with a capacity");
  }
  for (uint32_t i = 0; i < *inout_count; ++i) {
    uint32_t said;
    memcpy(&said, (const unsigned char *)out + i * size, sizeof(said));
    if (said != size) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "element %u of out has %s.struct_size %u; expected %zu", i,
                        name, said, size);
    }
  }
  return LEAT_OK;
}

int32_t leati_enter(leati_pass *pass, bool releases, leat_error *err) {
  switch (leati_gate_enter(pass)) {
    case LEATI_GATE_OPEN:
      return LEAT_OK;
    case LEATI_GATE_CLOSED:
      return releases ? LEATI_SKIP
                      : leati_fail(err, LEAT_ERROR_UNAVAILABLE,
                                   "the process is exiting; only what destroys, frees, closes or releases may still "
                                   "be called, and does nothing");
    default:
      return leati_fail(
          err, LEAT_ERROR_FORKED,
          "this process was made by fork() after Leat was in use; a device cannot be used across fork(): start "
          "workers with exec or spawn, or fork before the first call");
  }
}
