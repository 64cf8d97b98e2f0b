/* SPDX-License-Identifier: BSD-3-Clause */
#include "session_options.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/guarded.h"
#include "probe_shapes.h"

/* ONNX Runtime puts this before the keys it is given for a provider: the provider's name in lower case. */
#define KEY_PREFIX "ep.leatexecutionprovider."
/* The backend's report lists settings under this and their variable, as "VALUE (ORIGIN)". */
#define SETTING_PREFIX "config."

/* What an option does in this version. */
typedef enum effect {
  EFFECT_DEVICE,  /* names the device */
  EFFECT_TIMEOUT, /* how long a Run waits to be admitted */
  EFFECT_PATH,    /* whether fused subgraphs of nodes run as graphs */
  EFFECT_WARM,    /* what is compiled before the first Run */
  EFFECT_PROCESS, /* sets the backend's setting, for the whole process */
} effect;

typedef struct setting {
  const char *key;
  const char *variable; /* the backend's name of it; "": it has none */
  effect effect;
  bool empty; /* an empty value is a value; else it counts as unset, as with the variables */
} setting;

static const setting settings[] = {
    {"device", "LEAT_VULKAN_DEVICE", EFFECT_DEVICE, false},
    {"stream_pool_wait_timeout_ms", "LEAT_STREAM_POOL_WAIT_TIMEOUT_MS", EFFECT_TIMEOUT, false},
    {"force_graph_path", "LEAT_FORCE_GRAPH_PATH", EFFECT_PATH, false},
    {"force_direct_path", "LEAT_FORCE_DIRECT_PATH", EFFECT_PATH, false},
    {"warm_shapes", "", EFFECT_WARM, false},
    {"stream_policy", "LEAT_STREAM_POLICY", EFFECT_PROCESS, false},
    {"lanes", "LEAT_LANES", EFFECT_PROCESS, false},
    {"wait_spin_us", "LEAT_WAIT_SPIN_US", EFFECT_PROCESS, false},
    {"high_watermark_ratio", "LEAT_HIGH_WATERMARK_RATIO", EFFECT_PROCESS, false},
    {"low_watermark_ratio", "LEAT_LOW_WATERMARK_RATIO", EFFECT_PROCESS, false},
    {"memory_guard", "LEAT_MEMORY_GUARD", EFFECT_PROCESS, false},
    {"fusions_off", "LEAT_FUSIONS_OFF", EFFECT_PROCESS, false},
    {"graph_plans_mib", "LEAT_GRAPH_PLANS_MIB", EFFECT_PROCESS, false},
    {"matrices", "LEAT_MATRICES", EFFECT_PROCESS, false},
    {"float32_matmul", "LEAT_FLOAT32_MATMUL", EFFECT_PROCESS, false},
    {"tuning", "LEAT_TUNING", EFFECT_PROCESS, false},
    {"log", "LEAT_LOG", EFFECT_PROCESS, false},
    {"cache_dir", "LEAT_CACHE_DIR", EFFECT_PROCESS, true},
    {"profile", "LEAT_PROFILE", EFFECT_PROCESS, false},
};

#define SETTING_COUNT (sizeof(settings) / sizeof(settings[0]))

static bool is_timeout(const char *value) {
  const char *digits = value + (value[0] == '-');
  errno = 0;
  long long number = strtoll(value, NULL, 10);
  return digits[0] != '\0' && digits[strspn(digits, "0123456789")] == '\0' && errno == 0 && number >= -1 &&
         number <= INT32_MAX;
}

/* Whether an option's value has the form it must have; `*allowed` says which that is. Those of the whole process are
 * the backend's to judge. */
static bool has_form(effect wanted, const char *value, const char **allowed) {
  switch (wanted) {
    case EFFECT_DEVICE:
      *allowed = "a device's number, UUID, or a part of its name";
      return *value != '\0';
    case EFFECT_TIMEOUT:
      *allowed = "-1 (wait for ever), 0 (do not wait) or a number of milliseconds up to 2147483647";
      return is_timeout(value);
    case EFFECT_PATH:
      *allowed = "0 or 1";
      return strcmp(value, "0") == 0 || strcmp(value, "1") == 0;
    case EFFECT_WARM:
      *allowed =
          "'probe', 'none', or up to 64 sets of sizes from 0 to 2147483647 of all open dimensions of the model's "
          "inputs, such as 'batch=1,length=128;batch=8,length=128'";
      return *value == '\0' || leati_warm_shapes_valid(value);
    default:
      return true;
  }
}

/* ---- What is in effect for the process ----------------------------------------------------------------------------
 */

/* What the backend reports of a setting. */
typedef struct in_effect {
  char text[256];  /* "VALUE (ORIGIN)"; empty: it reports nothing of this one */
  char value[256]; /* "VALUE" */
  bool standard;   /* nobody has set it */
  bool by_host;    /* configure() has set it */
} in_effect;

/* Orders the sessions that set something for the process: from looking what is in effect to having it changed. */
static pthread_mutex_t process_lock = PTHREAD_MUTEX_INITIALIZER;

static void take_property(const leat_property *property, in_effect out[SETTING_COUNT]) {
  const size_t prefix = strlen(SETTING_PREFIX);
  if (property->device != -1 || strncmp(property->name, SETTING_PREFIX, prefix) != 0) {
    return;
  }
  for (size_t i = 0; i < SETTING_COUNT; ++i) {
    if (strcmp(property->name + prefix, settings[i].variable) != 0) {
      continue;
    }
    in_effect *to = &out[i];
    snprintf(to->text, sizeof(to->text), "%.*s", (int)sizeof(property->value), property->value);
    memcpy(to->value, to->text, sizeof(to->value));
    char *origin = strrchr(to->value, '(');
    if (origin != NULL && origin != to->value) {
      to->standard = strcmp(origin, "(default)") == 0;
      to->by_host = strcmp(origin, "(host)") == 0;
      origin[-1] = '\0';
    }
  }
}

static OrtStatus *read_in_effect(const leati_runtime *runtime, in_effect out[SETTING_COUNT]) {
  memset(out, 0, SETTING_COUNT * sizeof(*out));
  leat_error error = {.struct_size = sizeof(error)};
  uint32_t count = 0;
  int32_t code = runtime->leat->device->report(&count, NULL, &error);
  leat_property *properties = code == LEAT_OK ? calloc((size_t)count + 1, sizeof(*properties)) : NULL;
  if (code == LEAT_OK && properties == NULL) {
    return leati_status(runtime, ORT_FAIL, LEATI_PROVIDER_NAME ": out of memory for the settings");
  }
  uint32_t capacity = count;
  for (uint32_t i = 0; i < capacity; ++i) {
    properties[i].struct_size = sizeof(properties[i]);
  }
  if (code == LEAT_OK) {
    code = runtime->leat->device->report(&count, properties, &error);
  }
  for (uint32_t i = 0; code == LEAT_OK && i < (count < capacity ? count : capacity); ++i) {
    take_property(&properties[i], out);
  }
  free(properties);
  return leati_status_from(runtime, code, &error, LEATI_PROVIDER_NAME ": reading the settings");
}

/* Cuts off what a decimal number can do without, such as the zeros of "1.0" and "08". */
static void shorten_number(char *text) {
  const size_t sign = text[0] == '-';
  const size_t whole = strspn(text + sign, "0123456789");
  char *end = text + sign + whole;
  const bool fraction = *end == '.';
  end += fraction ? 1 + strspn(end + 1, "0123456789") : 0;
  if (*end != '\0' || (whole == 0 && !fraction)) {
    return;
  }
  while (fraction && (end[-1] == '0' || end[-1] == '.')) {
    const bool point = end[-1] == '.';
    *--end = '\0';
    if (point) {
      break;
    }
  }
  const size_t zeros = strspn(text + sign, "0");
  memmove(text + sign, text + sign + zeros, strlen(text + sign + zeros) + 1);
}

/* Whether two values mean the same. */
static bool same_value(const char *left, const char *right) {
  char texts[2][256];
  snprintf(texts[0], sizeof(texts[0]), "%s", left);
  snprintf(texts[1], sizeof(texts[1]), "%s", right);
  shorten_number(texts[0]);
  shorten_number(texts[1]);
  return strcmp(texts[0], texts[1]) == 0;
}

/* Whether a session asks for something else than what is in effect. A default may be shown in words, so that asking for
 * it, too, is asking for something else. */
static bool differs(const in_effect *now, const char *value) {
  return now->text[0] == '\0' || !same_value(now->value, value);
}

static OrtStatus *set_for_process(const leati_runtime *runtime, const setting *row, const in_effect *now,
                                  const char *value) {
  const leat_backend_api *leat = runtime->leat;
  leat_error error = {.struct_size = sizeof(error)};
  int32_t code = leat->configure(row->variable, value, &error);
  if (code == LEAT_ERROR_BUSY) {
    /* Registration has looked for devices. While none is open, the backend can start anew, and nobody notices. */
    code = leat->shutdown(&error);
    code = code == LEAT_OK ? leat->configure(row->variable, value, &error) : code;
  }
  if (code == LEAT_ERROR_BUSY) {
    return leati_status(runtime, ORT_INVALID_ARGUMENT,
                        LEATI_PROVIDER_NAME
                        ": option '%s' is '%s', but %s is in effect for the whole process, and stays while a device is "
                        "open: give the option to the first session and the same to all others, or set %s=%s in the "
                        "environment",
                        row->key, value, now->text[0] != '\0' ? now->text : "something else", row->variable, value);
  }
  return leati_status_from(runtime, code, &error, LEATI_PROVIDER_NAME ": option '%s'", row->key);
}

/* Brings into effect what a session asks for the process: all of it or, on failure, nothing. The lock is held. */
static OrtStatus *set_all_for_process(const leati_runtime *runtime, const in_effect now[SETTING_COUNT],
                                      const char *const given[SETTING_COUNT]) LEATI_HOLDS(process_lock) {
  bool set[SETTING_COUNT] = {false};
  bool any = false;
  OrtStatus *status = NULL;
  for (size_t i = 0; i < SETTING_COUNT && status == NULL; ++i) {
    if (settings[i].effect == EFFECT_PROCESS && given[i] != NULL && differs(&now[i], given[i])) {
      status = set_for_process(runtime, &settings[i], &now[i], given[i]);
      set[i] = status == NULL;
      any = any || set[i];
    }
  }
  if (any && status == NULL) {
    /* Values that are good each by itself may contradict each other. */
    leat_error error = {.struct_size = sizeof(error)};
    uint32_t count = 0;
    status = leati_status_from(runtime, runtime->leat->device->count(&count, &error), &error,
                               LEATI_PROVIDER_NAME ": the session's options");
  }
  for (size_t i = 0; i < SETTING_COUNT && status != NULL; ++i) {
    if (set[i]) {
      runtime->leat->configure(settings[i].variable, now[i].by_host ? now[i].value : NULL, NULL);
    }
  }
  return status;
}

/* ---- Options of a session -----------------------------------------------------------------------------------------
 */

static OrtStatus *unknown_key(const leati_runtime *runtime, const char *key) {
  char known[512] = "";
  size_t length = 0;
  for (size_t i = 0; i < SETTING_COUNT && length < sizeof(known); ++i) {
    int added = snprintf(known + length, sizeof(known) - length, "%s%s", i != 0 ? ", " : "", settings[i].key);
    length += added > 0 ? (size_t)added : 0;
  }
  return leati_status(runtime, ORT_INVALID_ARGUMENT, LEATI_PROVIDER_NAME ": there is no option '%s'; there are %s", key,
                      known);
}

/* Finds the setting of an option's key; NULL: there is none. */
static const setting *setting_of(const char *key) {
  for (size_t i = 0; i < SETTING_COUNT; ++i) {
    if (strcmp(settings[i].key, key) == 0) {
      return &settings[i];
    }
  }
  return NULL;
}

/* Takes one option over. */
static OrtStatus *read_option(leati_session_options *out, const leati_runtime *runtime, const char *key,
                              const char *value, const char *given[SETTING_COUNT]) {
  const setting *row = setting_of(key);
  if (row == NULL) {
    return unknown_key(runtime, key);
  }
  const char *allowed = NULL;
  if (!has_form(row->effect, value, &allowed)) {
    return leati_status(runtime, ORT_INVALID_ARGUMENT,
                        LEATI_PROVIDER_NAME ": option '%s' is '%.200s', which cannot be understood; it must be %s", key,
                        value, allowed);
  }
  given[row - settings] = *value != '\0' || row->empty ? value : NULL;
  char **kept = row->effect == EFFECT_DEVICE ? &out->device : row->effect == EFFECT_WARM ? &out->warm_shapes : NULL;
  if (kept != NULL && *value != 0) {
    free(*kept);
    *kept = strdup(value);
    if (*kept == NULL) {
      return leati_status(runtime, ORT_FAIL, LEATI_PROVIDER_NAME ": out of memory for the options");
    }
  }
  return NULL;
}

static bool is_one(const char *value) {
  return value != NULL && strcmp(value, "1") == 0;
}

/* What no option can see by itself. */
static OrtStatus *check_together(const leati_runtime *runtime, const char *const given[SETTING_COUNT]) {
  if (is_one(given[setting_of("force_graph_path") - settings]) &&
      is_one(given[setting_of("force_direct_path") - settings])) {
    return leati_status(
        runtime, ORT_INVALID_ARGUMENT,
        LEATI_PROVIDER_NAME
        ": options 'force_graph_path' and 'force_direct_path' are both '1'; one of them at most may be");
  }
  return NULL;
}

/* Whether one of the two paths is forced: by the session, or else for the process. */
static bool is_forced(const char *key, const in_effect now[SETTING_COUNT], const char *const given[SETTING_COUNT]) {
  const size_t i = (size_t)(setting_of(key) - settings);
  return is_one(given[i] != NULL ? given[i] : now[i].value);
}

/* Whether the session takes the graph path, which is the faster one: always, unless somebody forces the other one. */
static bool wants_graphs(const leati_runtime *runtime, const OrtLogger *logger, const in_effect now[SETTING_COUNT],
                         const char *const given[SETTING_COUNT]) {
  const bool asked = is_one(given[setting_of("force_graph_path") - settings]);
  if (!asked && is_forced("force_direct_path", now, given)) {
    return false;
  }
  /* Destroying no graph fails only where there are none: what stands in for the table says so. */
  const bool possible = runtime->leat->graph->destroy(NULL, NULL) == LEAT_OK;
  if (!possible && is_forced("force_graph_path", now, given)) {
    leati_ort_log(runtime, logger, ORT_LOGGING_LEVEL_WARNING,
                  LEATI_PROVIDER_NAME ": the graph path is forced, but this backend has none: nodes run one by one");
  }
  return possible;
}

/* Brings the options into effect, and says what was asked for in vain. */
static OrtStatus *apply_options(leati_session_options *out, const leati_runtime *runtime, const OrtLogger *logger,
                                const char *const given[SETTING_COUNT]) {
  in_effect now[SETTING_COUNT];
  pthread_mutex_lock(&process_lock);
  OrtStatus *status = read_in_effect(runtime, now);
  if (status == NULL) {
    status = set_all_for_process(runtime, now, given);
  }
  pthread_mutex_unlock(&process_lock);
  for (size_t i = 0; i < SETTING_COUNT && status == NULL; ++i) {
    if (settings[i].effect == EFFECT_TIMEOUT) {
      /* A server's Run rather waits; whoever wants something else has said so. */
      out->pool_timeout_ms = given[i] != NULL                             ? strtoll(given[i], NULL, 10)
                             : now[i].text[0] != '\0' && !now[i].standard ? LEAT_POOL_TIMEOUT_CONFIGURED
                                                                          : -1;
    }
  }
  out->graph_path = status == NULL && wants_graphs(runtime, logger, now, given);
  if (status == NULL && out->warm_shapes != NULL && !out->graph_path) {
    leati_ort_log(runtime, logger, ORT_LOGGING_LEVEL_WARNING,
                  LEATI_PROVIDER_NAME ": option 'warm_shapes' is '%.200s' in vain: nodes run one by one, not as graphs",
                  out->warm_shapes);
  }
  return status;
}

OrtStatus *leati_session_options_read(leati_session_options *out, const leati_runtime *runtime,
                                      const OrtSessionOptions *session, const OrtLogger *logger) {
  *out = (leati_session_options){0};
  OrtKeyValuePairs *entries = NULL;
  OrtStatus *status = runtime->ort->GetSessionOptionsConfigEntries(session, &entries);
  if (status != NULL) {
    return status;
  }
  const char *const *keys = NULL;
  const char *const *values = NULL;
  size_t count = 0;
  const char *given[SETTING_COUNT] = {NULL};
  runtime->ort->GetKeyValuePairs(entries, &keys, &values, &count);
  for (size_t i = 0; i < count && status == NULL; ++i) {
    if (strncmp(keys[i], KEY_PREFIX, strlen(KEY_PREFIX)) == 0) {
      status = read_option(out, runtime, keys[i] + strlen(KEY_PREFIX), values[i], given);
    } else if (strcmp(keys[i], "session.disable_cpu_ep_fallback") == 0) {
      out->fallback_bans = strcmp(values[i], "1") == 0;
    }
  }
  if (status == NULL) {
    status = check_together(runtime, given);
  }
  if (status == NULL) {
    status = apply_options(out, runtime, logger, given);
  }
  runtime->ort->ReleaseKeyValuePairs(entries);
  return status;
}

void leati_session_options_clear(leati_session_options *options) {
  free(options->device);
  free(options->warm_shapes);
  *options = (leati_session_options){0};
}
