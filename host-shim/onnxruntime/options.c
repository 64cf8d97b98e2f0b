/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ONNX Runtime puts this before the keys it is given for a provider: the provider's name in lower case. */
#define KEY_PREFIX "ep.leatexecutionprovider."

/* The forms that values have. */
typedef enum value_form {
  FORM_TEXT,    /* anything but nothing */
  FORM_SWITCH,  /* 0 or 1 */
  FORM_TIMEOUT, /* -1, 0, or milliseconds */
  FORM_POLICY,  /* exclusive or round-robin */
} value_form;

/* What a setting does in this version. */
typedef enum effect {
  EFFECT_DEVICE,  /* names the device */
  EFFECT_NONE,    /* asks for what is done anyway */
  EFFECT_MISSING, /* asks, unless it is the default, for what there is not yet */
  EFFECT_PROCESS, /* can only be set by its variable, for the whole process */
} effect;

typedef struct setting {
  const char *key;
  const char *variable; /* the variable of the same meaning */
  const char *plain;    /* that variable without prefix, or NULL */
  value_form form;
  effect effect;
  bool own; /* the provider checks the variable; the others are the backend's */
  const char *standard;
} setting;

static const setting settings[] = {
    {"device", "LEAT_VULKAN_DEVICE", NULL, FORM_TEXT, EFFECT_DEVICE, false, NULL},
    {"force_graph_path", "LEAT_FORCE_GRAPH_PATH", "FORCE_GRAPH_PATH", FORM_SWITCH, EFFECT_MISSING, true, "0"},
    {"force_direct_path", "LEAT_FORCE_DIRECT_PATH", NULL, FORM_SWITCH, EFFECT_NONE, true, "0"},
    {"stream_pool_wait_timeout_ms", "LEAT_STREAM_POOL_WAIT_TIMEOUT_MS", NULL, FORM_TIMEOUT, EFFECT_MISSING, true, "-1"},
    {"stream_policy", "LEAT_STREAM_POLICY", NULL, FORM_POLICY, EFFECT_MISSING, true, "exclusive"},
    {"lanes", "LEAT_LANES", NULL, FORM_TEXT, EFFECT_PROCESS, false, NULL},
    {"wait_spin_us", "LEAT_WAIT_SPIN_US", NULL, FORM_TEXT, EFFECT_PROCESS, false, NULL},
    {"high_watermark_ratio", "LEAT_HIGH_WATERMARK_RATIO", NULL, FORM_TEXT, EFFECT_PROCESS, false, NULL},
    {"low_watermark_ratio", "LEAT_LOW_WATERMARK_RATIO", NULL, FORM_TEXT, EFFECT_PROCESS, false, NULL},
    {"log", "LEAT_LOG", NULL, FORM_TEXT, EFFECT_PROCESS, false, NULL},
    {"profile", "LEAT_PROFILE", NULL, FORM_TEXT, EFFECT_PROCESS, false, NULL},
};

#define SETTING_COUNT (sizeof(settings) / sizeof(settings[0]))

static bool is_timeout(const char *value) {
  char *end = NULL;
  errno = 0;
  long long number = strtoll(value, &end, 10);
  return value[strspn(value, "-0123456789")] == '\0' && *value && *end == '\0' && errno == 0 && number >= -1 &&
         number <= INT32_MAX;
}

/* Whether a value has the form it must have; `*allowed` says which that is. */
static bool has_form(value_form form, const char *value, const char **allowed) {
  switch (form) {
    case FORM_SWITCH:
      *allowed = "0 or 1";
      return strcmp(value, "0") == 0 || strcmp(value, "1") == 0;
    case FORM_TIMEOUT:
      *allowed = "-1 (wait for ever), 0 (do not wait) or a number of milliseconds up to 2147483647";
      return is_timeout(value);
    case FORM_POLICY:
      *allowed = "exclusive or round-robin";
      return strcmp(value, "exclusive") == 0 || strcmp(value, "round-robin") == 0;
    default:
      *allowed = "a device's number, UUID, or a part of its name";
      return *value != '\0';
  }
}

/* The variable that counts and its value, or NULL: none is set. */
static const char *from_environment(const setting *row, const char **out_variable) {
  *out_variable = row->variable;
  const char *value = getenv(row->variable);
  if (!(value && *value) && row->plain) {
    *out_variable = row->plain;
    value = getenv(row->plain);
  }
  return value && *value ? value : NULL;
}

OrtStatus *leati_options_check_environment(const leati_runtime *runtime) {
  for (size_t i = 0; i < SETTING_COUNT; i++) {
    const char *variables[] = {settings[i].variable, settings[i].plain};
    for (size_t j = 0; j < 2 && settings[i].own; j++) {
      const char *value = variables[j] ? getenv(variables[j]) : NULL;
      const char *allowed = NULL;
      if (value && *value && !has_form(settings[i].form, value, &allowed)) {
        return leati_status(runtime, ORT_INVALID_ARGUMENT, "%s=%s cannot be understood; it must be %s", variables[j],
                            value, allowed);
      }
    }
  }
  return NULL;
}

static OrtStatus *unknown_key(const leati_runtime *runtime, const char *key) {
  char known[512] = "";
  size_t length = 0;
  for (size_t i = 0; i < SETTING_COUNT && length < sizeof(known); i++) {
    int added = snprintf(known + length, sizeof(known) - length, "%s%s", i ? ", " : "", settings[i].key);
    length += added > 0 ? (size_t)added : 0;
  }
  return leati_status(runtime, ORT_INVALID_ARGUMENT, LEATI_PROVIDER_NAME ": there is no option '%s'; there are %s", key,
                      known);
}

/* Finds the setting of an option's key; NULL: there is none. */
static const setting *setting_of(const char *key) {
  for (size_t i = 0; i < SETTING_COUNT; i++) {
    if (strcmp(settings[i].key, key) == 0) {
      return &settings[i];
    }
  }
  return NULL;
}

/* Takes one option over. */
static OrtStatus *read_option(leati_options *out, const leati_runtime *runtime, const char *key, const char *value,
                              const char *given[SETTING_COUNT]) {
  const setting *row = setting_of(key);
  if (!row) {
    return unknown_key(runtime, key);
  }
  if (row->effect == EFFECT_PROCESS) {
    return leati_status(runtime, ORT_INVALID_ARGUMENT,
                        LEATI_PROVIDER_NAME
                        ": option '%s' is the same for the whole process; set %s=%s in the "
                        "environment before the provider is registered",
                        key, row->variable, value);
  }
  const char *allowed = NULL;
  if (!has_form(row->form, value, &allowed)) {
    return leati_status(runtime, ORT_INVALID_ARGUMENT,
                        LEATI_PROVIDER_NAME ": option '%s' is '%s', which cannot be understood; it must be %s", key,
                        value, allowed);
  }
  given[row - settings] = value;
  if (row->effect == EFFECT_DEVICE) {
    free(out->device);
    out->device = strdup(value);
    if (!out->device) {
      return leati_status(runtime, ORT_EP_FAIL, LEATI_PROVIDER_NAME ": out of memory for the options");
    }
  }
  return NULL;
}

/* Says what was asked for and is not there. */
static void warn_missing(const leati_runtime *runtime, const OrtLogger *logger, const char *given[SETTING_COUNT]) {
  for (size_t i = 0; i < SETTING_COUNT; i++) {
    if (settings[i].effect != EFFECT_MISSING) {
      continue;
    }
    const char *variable = settings[i].variable;
    const char *value = given[i] ? given[i] : from_environment(&settings[i], &variable);
    if (value && strcmp(value, settings[i].standard) != 0) {
      leati_log(runtime, logger, ORT_LOGGING_LEVEL_WARNING,
                LEATI_PROVIDER_NAME ": %s %s=%s has no effect in this version, which works as with %s",
                given[i] ? "option" : "environment variable", given[i] ? settings[i].key : variable, value,
                settings[i].standard);
    }
  }
}

OrtStatus *leati_options_read(leati_options *out, const leati_runtime *runtime, const OrtSessionOptions *session,
                              const OrtLogger *logger) {
  *out = (leati_options){0};
  OrtKeyValuePairs *entries = NULL;
  OrtStatus *status = runtime->ort->GetSessionOptionsConfigEntries(session, &entries);
  if (status) {
    return status;
  }
  const char *const *keys = NULL;
  const char *const *values = NULL;
  size_t count = 0;
  const char *given[SETTING_COUNT] = {NULL};
  runtime->ort->GetKeyValuePairs(entries, &keys, &values, &count);
  for (size_t i = 0; i < count && !status; i++) {
    if (strncmp(keys[i], KEY_PREFIX, strlen(KEY_PREFIX)) == 0) {
      status = read_option(out, runtime, keys[i] + strlen(KEY_PREFIX), values[i], given);
    } else if (strcmp(keys[i], "session.disable_cpu_ep_fallback") == 0) {
      out->fallback_bans = strcmp(values[i], "1") == 0;
    }
  }
  if (!status) {
    warn_missing(runtime, logger, given);
  }
  runtime->ort->ReleaseKeyValuePairs(entries);
  return status;
}

void leati_options_clear(leati_options *options) {
  free(options->device);
  *options = (leati_options){0};
}
