/* SPDX-License-Identifier: BSD-3-Clause */
#include "child.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"
#include "ops/core/accuracy.h"
#include "ops/core/bound.h"
#include "plugin.h"

/* Where the outcome goes; set once before any case runs. */
static int result_fd = -1;

/* The first thread that ends the case wins; any other that fails meanwhile stops here for ever, since the process is
 * about to end. Guards nothing else. Never unlocked. */
static GMutex outcome_lock;

static void write_all(int fd, const char *text, size_t size) {
  while (size > 0) {
    ssize_t written = write(fd, text, size);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return; /* The runner is gone, and with it everyone who would read this. */
    text += written;
    size -= (size_t)written;
  }
}

/* Says how a case ended, or why none can run, to a person: the words of a line for the runner. */
static void tell_person(const char *kind, char *const *words) {
  static const char *const kinds[][2] = {
      {"pass", "Pass"}, {"fail", "Fail"}, {"skip", "NotSupported"}, {"lack", "NotSupported"}};
  const guint count = g_strv_length((char **)words);
  for (size_t i = 0; i < G_N_ELEMENTS(kinds); ++i) {
    if (g_str_equal(kind, kinds[i][0])) {
      g_printerr("%s %s%s%s\n", kinds[i][1], words[0], count > 1 ? ": " : "", count > 1 ? words[count - 1] : "");
      return;
    }
  }
  if (g_str_equal(kind, "error") || g_str_equal(kind, "defect"))
    g_printerr("leat-conformance: %s\n", words[0]);
}

/* Tells one line; the arguments are words, ended by NULL. */
static void tell(const char *kind, ...) {
  GPtrArray *words = g_ptr_array_new_with_free_func(g_free);
  GString *line = g_string_new(kind);
  va_list args;
  const char *word;
  va_start(args, kind);
  while ((word = va_arg(args, const char *)) != NULL) {
    char *valid = g_utf8_make_valid(word, -1);
    /* Bytes above 0x7f are kept: the text is UTF-8 and stays readable. */
    char *escaped = g_strescape(valid, NULL);
    g_string_append_printf(line, "\t%s", escaped);
    g_free(escaped);
    g_ptr_array_add(words, valid);
  }
  va_end(args);
  g_string_append_c(line, '\n');
  g_ptr_array_add(words, NULL);
  if (result_fd >= 0) {
    write_all(result_fd, line->str, line->len);
  } else {
    tell_person(kind, (char *const *)words->pdata);
  }
  g_ptr_array_unref(words);
  g_string_free(line, TRUE);
}

char **leati_child_parse(const char *line) {
  char **words = g_strsplit(line, "\t", -1);
  for (char **word = words; *word != NULL; ++word) {
    char *plain = g_strcompress(*word);
    g_free(*word);
    *word = plain;
  }
  return words;
}

/* ---- Outcomes and checks ---- */

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
  tell("fail", ctx->name, message, NULL);
  /* Not exit(): other threads are still inside the plugin, and only the case's outcome matters now. */
  _exit(LEAT_CHILD_FAILED);
}

void leati_case_skip(const leat_case_context *ctx, const char *format, ...) {
  va_list args;
  g_mutex_lock(&outcome_lock);
  va_start(args, format);
  tell("skip", ctx->name, g_strdup_vprintf(format, args), NULL);
  va_end(args);
  _exit(LEAT_CHILD_SKIPPED);
}

void leati_case_lack(const leat_case_context *ctx, const char *name, const char *format, ...) {
  va_list args;
  g_mutex_lock(&outcome_lock);
  va_start(args, format);
  tell("lack", ctx->name, name, g_strdup_vprintf(format, args), NULL);
  va_end(args);
  _exit(LEAT_CHILD_SKIPPED);
}

/* What a fresh error holds, to see whether a failing call filled it in. */
#define CODE_UNTOUCHED INT32_MIN

static _Thread_local leat_error thread_error;
/* Whether the call now being checked was given thread_error. */
static _Thread_local gboolean thread_error_used;

leat_error *leati_case_error(void) {
  memset(&thread_error, 0, sizeof thread_error);
  thread_error.struct_size = sizeof thread_error;
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
  if (!used)
    return;
  if (actual == LEAT_OK) {
    if (thread_error.code != CODE_UNTOUCHED && thread_error.code != LEAT_OK) {
      leati_case_fail(ctx, file, line, "%s returned LEAT_OK but left %s in err->code: %.900s", text,
                      leati_case_status_name(thread_error.code), thread_error.message);
    }
    return;
  }
  if (memchr(thread_error.message, '\0', sizeof thread_error.message) == NULL) {
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
  if (actual == LEAT_OK)
    leati_case_fail(ctx, file, line, "%s returned LEAT_OK, expected a failure", text);
  check_error(ctx, file, line, text, actual);
}

void leati_case_check_u64(const leat_case_context *ctx, const char *file, int line, const char *text, uint64_t expected,
                          uint64_t actual) {
  if (expected == actual)
    return;
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
  if (size == 0 || memcmp(want, have, size) == 0)
    return;
  for (size_t i = 0; i < size; ++i) {
    if (want[i] == have[i])
      continue;
    if (wrong == 0)
      first = i;
    ++wrong;
  }
  leati_case_fail(ctx, file, line, "%s: %zu of %zu bytes are wrong, the first at %zu: 0x%02x, expected 0x%02x", text,
                  wrong, size, first, have[first], want[first]);
}

void leati_case_require_op(leat_case_context *ctx, const leat_op_desc *desc) {
  leat_error err = {.struct_size = sizeof err};
  int32_t status = ctx->op->supports(leati_fixture_device(ctx), desc, &err);
  err.message[sizeof err.message - 1] = '\0';
  if (status == LEAT_ERROR_NOT_SUPPORTED)
    leati_case_lack(ctx, desc->name, "%s", err.message);
  if (status != LEAT_OK) {
    LEAT_FAIL(ctx, "op.supports(%s) returned %s: %s", desc->name, leati_case_status_name(status), err.message);
  }
}

/* ---- Running ---- */

/* Loads the plugin and fills in a context, or tells why not and returns an exit status. */
static int load(const leat_child_options *options, leat_plugin *plugin, leat_case_context *ctx) {
  char *message = NULL;
  result_fd = options->result_fd;
  memset(ctx, 0, sizeof *ctx);
  if (!leati_plugin_load(options->plugin_path, plugin, &message)) {
    tell("error", message, NULL);
    g_free(message);
    return LEAT_CHILD_BAD_PLUGIN;
  }
  ctx->name = "none";
  ctx->plugin_path = options->plugin_path;
  ctx->query = plugin->query;
  ctx->device_index = options->device_index;
  ctx->run_seed = options->seed;
  ctx->first_call = options->first_call;
  ctx->calls = options->calls;
  ctx->all_operators = options->all_operators;
  leati_ref_fast_float32 = options->fast_float32;
  ctx->scale = options->scale;
  if (plugin->defect == NULL) {
    ctx->api = plugin->api;
    ctx->device = plugin->api->device;
    ctx->memory = plugin->api->memory;
    ctx->stream = plugin->api->stream;
    ctx->event = plugin->api->event;
    ctx->op = plugin->api->op;
  }
  return 0;
}

int leati_child_probe(const leat_child_options *options) {
  leat_plugin plugin;
  leat_case_context ctx;
  leat_error err = {.struct_size = sizeof err};
  leat_device_info info = {.struct_size = sizeof info};
  uint32_t count = 0;
  char abi[32];
  char header[32];
  char capabilities[32];
  char index[32];
  char flags[32];
  char uuid[40];
  int status = load(options, &plugin, &ctx);
  if (status != 0)
    return status;
  if (plugin.defect != NULL) {
    tell("defect", plugin.defect, NULL);
    return 0;
  }
  g_snprintf(abi, sizeof abi, "%u.%u", LEAT_ABI_MAJOR(plugin.api->abi_version),
             LEAT_ABI_MINOR(plugin.api->abi_version));
  g_snprintf(header, sizeof header, "%u.%u", LEAT_ABI_MAJOR(plugin.api->header_version),
             LEAT_ABI_MINOR(plugin.api->header_version));
  g_snprintf(capabilities, sizeof capabilities, "%" G_GUINT64_FORMAT, plugin.api->capabilities);
  tell("plugin", plugin.api->name, plugin.api->version, plugin.api->build_id, abi, header, capabilities, NULL);
  status = ctx.device->count(&count, &err);
  if (status != LEAT_OK) {
    /* The arguments are right, so what is invalid is a setting. Taken for no device, it would be hidden by a run that
     * skips all. */
    const gboolean setting = status == LEAT_ERROR_INVALID_ARGUMENT;
    char *text;
    err.message[sizeof err.message - 1] = '\0';
    text = g_strdup_printf("counting the devices failed: %s", err.message);
    tell(setting ? "error" : "no-device", text, NULL);
    g_free(text);
    return setting ? LEAT_CHILD_BAD_PLUGIN : 0;
  }
  if (count == 0) {
    err.message[sizeof err.message - 1] = '\0';
    tell("no-device", err.message[0] != '\0' ? err.message : "the plugin found no usable device and gave no reason",
         NULL);
    return 0;
  }
  if (options->device_index >= count) {
    char *text = g_strdup_printf("--device %u: there %s %u usable device%s, numbered from 0", options->device_index,
                                 count == 1 ? "is" : "are", count, count == 1 ? "" : "s");
    tell("error", text, NULL);
    g_free(text);
    return LEAT_CHILD_BAD_PLUGIN;
  }
  if (ctx.device->info(options->device_index, &info, &err) != LEAT_OK) {
    err.message[sizeof err.message - 1] = '\0';
    /* A failure here is for the device cases to report. */
    g_snprintf(info.name, sizeof info.name, "unknown (device.info failed: %.200s)", err.message);
  }
  info.name[sizeof info.name - 1] = '\0';
  info.driver[sizeof info.driver - 1] = '\0';
  g_snprintf(index, sizeof index, "%u", options->device_index);
  g_snprintf(flags, sizeof flags, "%" G_GUINT64_FORMAT, info.flags);
  for (int i = 0; i < 16; ++i)
    g_snprintf(uuid + 2 * i, 3, "%02x", info.uuid[i]);
  tell("device", index, info.name, info.driver, uuid, flags, NULL);
  return 0;
}

/* Tells how near to their bounds the results of a case came. */
static void tell_accuracy(const char *name) {
  for (int type = 0; type < LEATI_REF_TYPE_COUNT; ++type) {
    leati_ref_accuracy worst;
    if (leati_ref_accuracy_take((leati_ref_type)type, &worst)) {
      char error[G_ASCII_DTOSTR_BUF_SIZE], bound[G_ASCII_DTOSTR_BUF_SIZE];
      tell("accuracy", name, leati_ref_type_name((leati_ref_type)type),
           g_ascii_dtostr(error, sizeof error, worst.error), g_ascii_dtostr(bound, sizeof bound, worst.bound), NULL);
    }
  }
}

int leati_child_run(const leat_child_options *options, const leat_case *const *cases, size_t count) {
  leat_plugin plugin;
  leat_case_context ctx;
  leat_device *kept = NULL;
  int status = load(options, &plugin, &ctx);
  if (status != 0)
    return status;
  for (size_t i = 0; i < count; ++i) {
    const leat_case *one = cases[i];
    ctx.name = one->name;
    ctx.seed = g_str_hash(one->name) ^ (options->seed * 2654435761u);
    tell("begin", one->name, NULL);
    if (result_fd < 0)
      g_printerr("%s: %s\n", one->name, one->summary);
    if (plugin.defect != NULL && (one->flags & LEAT_CASE_WITHOUT_TABLES) == 0) {
      LEAT_FAIL(&ctx, "the plugin's tables cannot be used: %s", plugin.defect);
    }
    if ((one->needs_capability & (plugin.defect == NULL ? plugin.api->capabilities : 0)) != one->needs_capability) {
      leati_case_skip(&ctx, "capability bit 0x%" G_GINT64_MODIFIER "x is clear", one->needs_capability);
    }
    leati_fixture_begin(&ctx);
    if (count > 1 && kept == NULL && (one->flags & (LEAT_CASE_WITHOUT_DEVICE | LEAT_CASE_ALONE)) == 0) {
      /* Keeps the device open between the cases of this process, since the first open is the expensive one. */
      LEAT_CHECK_OK(&ctx, ctx.device->open(ctx.device_index, &kept, LEAT_ERR));
    }
    one->run(&ctx, one->data);
    leati_fixture_end(&ctx);
    tell_accuracy(one->name);
    tell("pass", one->name, NULL);
  }
  if (kept != NULL)
    LEAT_CHECK_OK(&ctx, ctx.device->close(kept, LEAT_ERR));
  if (result_fd >= 0)
    tell("done", NULL);
  return 0;
}
