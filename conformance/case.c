/* SPDX-License-Identifier: BSD-3-Clause */
#include "case.h"

#include <string.h>
#include <unistd.h>

#include "tell.h"

/* The first thread that ends the case wins; any other that fails meanwhile stops here for ever, since the process is
 * about to end. Guards nothing else. Never unlocked. */
static GMutex outcome_lock;

void leati_case_fail(const leat_case_context *ctx, const char *file, int line, const char *format, ...) {
  va_list args;
  char *text;
  char *message;
  const char *base = strrchr(file, '/');
  g_mutex_lock(&outcome_lock);
  va_start(args, format);
  text = g_strdup_vprintf(format, args);
  va_end(args);
  message = g_strdup_printf("%s:%d: %s", base != NULL ? base + 1 : file, line, text);
  leati_tell("fail", ctx->name, message, NULL);
  /* Not exit(): other threads are still inside the plugin, and only the case's outcome matters now. */
  _exit(LEAT_CHILD_FAILED);
}

void leati_case_skip(const leat_case_context *ctx, const char *format, ...) {
  va_list args;
  g_mutex_lock(&outcome_lock);
  va_start(args, format);
  leati_tell("skip", ctx->name, g_strdup_vprintf(format, args), NULL);
  va_end(args);
  _exit(LEAT_CHILD_SKIPPED);
}

void leati_case_lack(const leat_case_context *ctx, const char *name, const char *format, ...) {
  va_list args;
  g_mutex_lock(&outcome_lock);
  va_start(args, format);
  leati_tell("lack", ctx->name, name, g_strdup_vprintf(format, args), NULL);
  va_end(args);
  _exit(LEAT_CHILD_SKIPPED);
}

/* What a fresh error holds, to see whether a failing call filled it in. */
#define CODE_UNTOUCHED INT32_MIN

static _Thread_local leat_error thread_error;
/* Whether the call now being checked was given thread_error. */
static _Thread_local gboolean thread_error_used;

leat_error *leati_case_error(void) {
  memset(&thread_error, 0, sizeof(thread_error));
  thread_error.struct_size = sizeof(thread_error);
  thread_error.code = CODE_UNTOUCHED;
  thread_error_used = TRUE;
  return &thread_error;
}

const char *leati_case_status_name(int32_t code) {
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
      return "a status unknown to ABI 1.0";
  }
}

/* A failing call that was given an error struct must have filled it in, and one that succeeds leaves no error in it. */
static void check_error(const leat_case_context *ctx, const char *file, int line, const char *text, int32_t actual) {
  gboolean used = thread_error_used;
  thread_error_used = FALSE;
  if (!used) {
    return;
  }
  if (actual == LEAT_OK) {
    if (thread_error.code != CODE_UNTOUCHED && thread_error.code != LEAT_OK) {
      leati_case_fail(ctx, file, line, "%s returned LEAT_OK but left %s in err->code: %.900s", text,
                      leati_case_status_name(thread_error.code), thread_error.message);
    }
    return;
  }
  if (memchr(thread_error.message, '\0', sizeof(thread_error.message)) == NULL) {
    leati_case_fail(ctx, file, line, "%s returned %s with a message that is not terminated", text,
                    leati_case_status_name(actual));
  }
  if (thread_error.code != actual) {
    leati_case_fail(ctx, file, line, "%s returned %s (%d) but err->code is %d", text, leati_case_status_name(actual),
                    actual, thread_error.code);
  }
  if (thread_error.message[0] == '\0') {
    leati_case_fail(ctx, file, line, "%s returned %s without a message", text, leati_case_status_name(actual));
  }
}

void leati_case_check_status(const leat_case_context *ctx, const char *file, int line, const char *text,
                             int32_t expected, int32_t second, int32_t actual) {
  if (actual != expected && actual != second) {
    const char *message = thread_error_used && thread_error.code == actual ? thread_error.message : "no message";
    if (expected == second) {
      leati_case_fail(ctx, file, line, "%s returned %s (%d: %.900s), expected %s", text, leati_case_status_name(actual),
                      actual, actual == LEAT_OK ? "success" : message, leati_case_status_name(expected));
    }
    leati_case_fail(ctx, file, line, "%s returned %s (%d: %.900s), expected %s or %s", text,
                    leati_case_status_name(actual), actual, actual == LEAT_OK ? "success" : message,
                    leati_case_status_name(expected), leati_case_status_name(second));
  }
  check_error(ctx, file, line, text, actual);
}

void leati_case_check_failure(const leat_case_context *ctx, const char *file, int line, const char *text,
                              int32_t actual) {
  if (actual == LEAT_OK) {
    leati_case_fail(ctx, file, line, "%s returned LEAT_OK, expected a failure", text);
  }
  check_error(ctx, file, line, text, actual);
}

void leati_case_check_u64(const leat_case_context *ctx, const char *file, int line, const char *text, uint64_t expected,
                          uint64_t actual) {
  if (expected == actual) {
    return;
  }
  leati_case_fail(ctx, file, line,
                  "%s is %" G_GUINT64_FORMAT " (0x%" G_GINT64_MODIFIER "x), expected %" G_GUINT64_FORMAT
                  " (0x%" G_GINT64_MODIFIER "x)",
                  text, actual, actual, expected, expected);
}

void leati_case_check_bytes(const leat_case_context *ctx, const char *file, int line, const char *text,
                            const void *expected, const void *actual, size_t size) {
  const uint8_t *want = expected;
  const uint8_t *have = actual;
  size_t wrong = 0;
  size_t first = 0;
  if (size == 0 || memcmp(want, have, size) == 0) {
    return;
  }
  for (size_t i = 0; i < size; ++i) {
    if (want[i] == have[i]) {
      continue;
    }
    if (wrong == 0) {
      first = i;
    }
    ++wrong;
  }
  leati_case_fail(ctx, file, line, "%s: %zu of %zu bytes are wrong, the first at %zu: 0x%02x, expected 0x%02x", text,
                  wrong, size, first, have[first], want[first]);
}
