/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/error.h"

#include <stdio.h>
#include <string.h>

bool leati_error_usable(const leat_error *err) {
  return err == NULL || err->struct_size >= LEAT_SIZE_THROUGH(leat_error, message);
}

static void error_fill(leat_error *err, int32_t code, int32_t native_code) {
  err->code = code;
  err->native_code = native_code;
  err->reserved = 0;
  err->message[0] = '\0';
}

void leati_error_clear(leat_error *err) {
  if (err != NULL && leati_error_usable(err)) {
    error_fill(err, LEAT_OK, 0);
  }
}

/* Drops the bytes of a UTF-8 character that was cut off at the end of a string. */
static void utf8_trim(char *text) {
  size_t length = strlen(text);
  size_t tail = 0;
  while (tail < length && tail < 3 && ((unsigned char)text[length - 1 - tail] & 0xc0u) == 0x80u) {
    ++tail;
  }
  if (tail == length) {
    return;
  }
  unsigned char lead = (unsigned char)text[length - 1 - tail];
  size_t wanted = lead >= 0xf0u ? 3 : lead >= 0xe0u ? 2 : lead >= 0xc0u ? 1 : 0;
  if (wanted > tail) {
    text[length - 1 - tail] = '\0';
  }
}

int32_t leati_error_set(leat_error *err, int32_t code, int32_t native_code, const char *format, ...) {
  if (err == NULL || !leati_error_usable(err)) {
    return code;
  }
  error_fill(err, code, native_code);
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(err->message, sizeof(err->message), format, arguments);
  va_end(arguments);
  if (length >= (int)sizeof(err->message)) {
    utf8_trim(err->message);
  }
  return code;
}

const char *leati_error_name(int32_t code) {
  switch (code) {
    case LEAT_OK:
      return "LEAT_OK";
    case LEAT_ERROR_INVALID_ARGUMENT:
      return "LEAT_ERROR_INVALID_ARGUMENT";
    case LEAT_ERROR_NOT_SUPPORTED:
      return "LEAT_ERROR_NOT_SUPPORTED";
    case LEAT_ERROR_OUT_OF_MEMORY:
      return "LEAT_ERROR_OUT_OF_MEMORY";
    case LEAT_ERROR_DEVICE_LOST:
      return "LEAT_ERROR_DEVICE_LOST";
    case LEAT_ERROR_TIMEOUT:
      return "LEAT_ERROR_TIMEOUT";
    case LEAT_ERROR_NOT_READY:
      return "LEAT_ERROR_NOT_READY";
    case LEAT_ERROR_VERSION:
      return "LEAT_ERROR_VERSION";
    case LEAT_ERROR_UNAVAILABLE:
      return "LEAT_ERROR_UNAVAILABLE";
    case LEAT_ERROR_EXHAUSTED:
      return "LEAT_ERROR_EXHAUSTED";
    case LEAT_ERROR_FORKED:
      return "LEAT_ERROR_FORKED";
    case LEAT_ERROR_BUSY:
      return "LEAT_ERROR_BUSY";
    case LEAT_ERROR_INTERNAL:
      return "LEAT_ERROR_INTERNAL";
    case LEAT_ERROR_CORRUPTED:
      return "LEAT_ERROR_CORRUPTED";
    default:
      return "unknown status";
  }
}
