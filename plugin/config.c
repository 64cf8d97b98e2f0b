/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "status.h"

/* Written once under `once`, constant afterwards. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static leati_config config = {.lanes = 0, .wait_spin_us = -1, .log = LEATI_LOG_WARN};
static int32_t status = LEAT_OK;
static leat_error failure = {.struct_size = sizeof(leat_error)};

static const char *const log_names[] = {"none", "error", "warn", "info", "debug"};

static int32_t parse_device(const char *text) {
  if (strlen(text) >= sizeof(config.vulkan_device)) {
    return leati_fail(
        &failure, LEAT_ERROR_INVALID_ARGUMENT,
        "LEAT_VULKAN_DEVICE is %zu characters long; allowed: an index, a UUID or part of a device's name, up to "
        "%zu characters",
        strlen(text), sizeof(config.vulkan_device) - 1);
  }
  memcpy(config.vulkan_device, text, strlen(text) + 1);
  return LEAT_OK;
}

static int32_t parse_number(const char *name, const char *text, int64_t least, int64_t most, int64_t *out) {
  char *end;
  errno = 0;
  const long long value = strtoll(text, &end, 10);
  if (end == text || *end != '\0' || errno != 0 || value < least || value > most) {
    return leati_fail(&failure, LEAT_ERROR_INVALID_ARGUMENT, "%s is \"%s\"; allowed: a whole number from %lld to %lld",
                      name, text, (long long)least, (long long)most);
  }
  *out = value;
  return LEAT_OK;
}

static int32_t parse_lanes(const char *text) {
  return parse_number("LEAT_LANES", text, 1, 8, &config.lanes);
}

static int32_t parse_spin(const char *text) {
  return parse_number("LEAT_WAIT_SPIN_US", text, 0, 1000000, &config.wait_spin_us);
}

static int32_t parse_log(const char *text) {
  for (unsigned i = 0; i < sizeof(log_names) / sizeof(log_names[0]); ++i) {
    if (strcmp(text, log_names[i]) == 0) {
      config.log = (leati_log_level)i;
      return LEAT_OK;
    }
  }
  return leati_fail(&failure, LEAT_ERROR_INVALID_ARGUMENT,
                    "LEAT_LOG is \"%s\"; allowed: none, error, warn, info, debug", text);
}

static void show_device(char *out, size_t size) {
  (void)snprintf(out, size, "%s", config.vulkan_device[0] != '\0' ? config.vulkan_device : "best");
}

static void show_lanes(char *out, size_t size) {
  if (config.lanes == 0) {
    (void)snprintf(out, size, "all of the compute family, at most 8");
  } else {
    (void)snprintf(out, size, "%lld", (long long)config.lanes);
  }
}

static void show_spin(char *out, size_t size) {
  if (config.wait_spin_us < 0) {
    (void)snprintf(out, size, "by device");
  } else {
    (void)snprintf(out, size, "%lld", (long long)config.wait_spin_us);
  }
}

static void show_log(char *out, size_t size) {
  (void)snprintf(out, size, "%s", log_names[config.log]);
}

static const struct {
  const char *name;
  int32_t (*parse)(const char *text);
  void (*show)(char *out, size_t size);
} variables[] = {
    {"LEAT_VULKAN_DEVICE", parse_device, show_device},
    {"LEAT_LANES", parse_lanes, show_lanes},
    {"LEAT_WAIT_SPIN_US", parse_spin, show_spin},
    {"LEAT_LOG", parse_log, show_log},
};
#define VARIABLE_COUNT (sizeof(variables) / sizeof(variables[0]))

/* Which variables were set, for describe(). */
static bool set[VARIABLE_COUNT];

static void read_environment(void) {
  for (unsigned i = 0; i < VARIABLE_COUNT && status == LEAT_OK; ++i) {
    const char *const text = getenv(variables[i].name);
    if (text != NULL && text[0] != '\0') {
      set[i] = true;
      status = variables[i].parse(text);
    }
  }
}

int32_t leati_config_get(const leati_config **out, leat_error *err) {
  (void)pthread_once(&once, read_environment);
  *out = &config;
  return status == LEAT_OK ? LEAT_OK : leati_fail_again(err, &failure);
}

bool leati_config_describe(unsigned i, char *name, size_t name_size, char *value, size_t value_size) {
  (void)pthread_once(&once, read_environment);
  if (i >= VARIABLE_COUNT) {
    return false;
  }
  char shown[160];
  variables[i].show(shown, sizeof(shown));
  (void)snprintf(name, name_size, "config.%s", variables[i].name);
  (void)snprintf(value, value_size, "%s (%s)", shown, set[i] ? "environment" : "default");
  return true;
}

void leati_log(leati_log_level level, const char *format, ...) {
  (void)pthread_once(&once, read_environment);
  if (level > config.log) {
    return;
  }
  char line[1200];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(line, sizeof(line), format, arguments);
  va_end(arguments);
  (void)fprintf(stderr, "leat: %s: %s\n", log_names[level], line);
}
