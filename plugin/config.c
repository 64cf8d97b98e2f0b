/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "status.h"

/* Longest value of a setting. */
#define VALUE_MAX 128

typedef struct variable variable;
struct variable {
  const char *name;
  const char *plain;    /* the same without prefix, which the prefixed one beats; or NULL */
  const char *standard; /* what counts when nobody says anything */
  const char *allowed;  /* for the message */
  /* Puts a value into its field; false: it cannot be understood. */
  bool (*parse)(const variable *self, const char *text, void *field);
  size_t field;         /* offset in leati_config */
  double least, most;   /* of a number */
  const char *shown;    /* what describe() says of the default, where its value says little; or NULL */
  const char *words[6]; /* of a word, by value */
};

static bool parse_text(const variable *self, const char *text, void *field) {
  (void)self;
  memcpy(field, text, strlen(text) + 1);
  return true;
}

static bool parse_whole(const variable *self, const char *text, void *field) {
  char *end;
  errno = 0;
  const long long value = strtoll(text, &end, 10);
  if (end == text || *end != '\0' || errno != 0 || (double)value < self->least || (double)value > self->most) {
    return false;
  }
  *(int64_t *)field = value;
  return true;
}

static bool parse_ratio(const variable *self, const char *text, void *field) {
  char *end;
  const double value = strtod(text, &end);
  if (end == text || *end != '\0' || !isfinite(value) || value <= self->least || value > self->most) {
    return false;
  }
  *(double *)field = value;
  return true;
}

static bool parse_word(const variable *self, const char *text, void *field) {
  for (int64_t i = 0; self->words[i] != NULL; ++i) {
    if (strcmp(text, self->words[i]) == 0) {
      *(int64_t *)field = i;
      return true;
    }
  }
  return false;
}

#define FIELD(name) offsetof(leati_config, name)

static const variable variables[] = {
    {.name = "LEAT_VULKAN_DEVICE", .standard = "", .shown = "best", .parse = parse_text, .field = FIELD(vulkan_device)},
    {.name = "LEAT_LANES",
     .standard = "0",
     .shown = "from what is observed",
     .allowed = "a whole number from 1 to 8",
     .parse = parse_whole,
     .field = FIELD(lanes),
     .least = 1,
     .most = 8},
    {.name = "LEAT_WAIT_SPIN_US",
     .standard = "-1",
     .shown = "adapts",
     .allowed = "a whole number from 0 to 1000000",
     .parse = parse_whole,
     .field = FIELD(wait_spin_us),
     .most = 1000000},
    {.name = "LEAT_STREAM_POOL_WAIT_TIMEOUT_MS",
     .standard = "0",
     .allowed = "-1 (wait for ever), 0 (do not wait) or a number of milliseconds up to 2147483647",
     .parse = parse_whole,
     .field = FIELD(pool_timeout_ms),
     .least = -1,
     .most = INT32_MAX},
    {.name = "LEAT_STREAM_POLICY",
     .standard = "exclusive",
     .allowed = "exclusive or round-robin",
     .parse = parse_word,
     .field = FIELD(pool_round_robin),
     .words = {"exclusive", "round-robin"}},
    {.name = "LEAT_HIGH_WATERMARK_RATIO",
     .standard = "1.0",
     .allowed = "a number above 0 and up to 1",
     .parse = parse_ratio,
     .field = FIELD(high_watermark_ratio),
     .most = 1},
    {.name = "LEAT_LOW_WATERMARK_RATIO",
     .standard = "0.8",
     .shown = "0.8 of the high one",
     .allowed = "a number above 0 and up to 1",
     .parse = parse_ratio,
     .field = FIELD(low_watermark_ratio),
     .most = 1},
    {.name = "LEAT_MEMORY_GUARD",
     .standard = "0",
     .allowed = "0 or 1",
     .parse = parse_word,
     .field = FIELD(memory_guard),
     .words = {"0", "1"}},
    {.name = "LEAT_FORCE_GRAPH_PATH",
     .plain = "FORCE_GRAPH_PATH",
     .standard = "0",
     .allowed = "0 or 1",
     .parse = parse_word,
     .field = FIELD(force_graph_path),
     .words = {"0", "1"}},
    {.name = "LEAT_FORCE_DIRECT_PATH",
     .standard = "0",
     .allowed = "0 or 1",
     .parse = parse_word,
     .field = FIELD(force_direct_path),
     .words = {"0", "1"}},
    {.name = "LEAT_LOG",
     .standard = "warn",
     .allowed = "none, error, warn, info, debug",
     .parse = parse_word,
     .field = FIELD(log),
     .words = {"none", "error", "warn", "info", "debug"}},
};
#define VARIABLE_COUNT (sizeof(variables) / sizeof(variables[0]))

/* A value and where it came from. `origin` NULL: it is not set. */
typedef struct value {
  const char *origin;
  const char *name; /* the variable that holds it */
  char text[VALUE_MAX];
} value;

/* Written once under `once`, constant afterwards. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static value environment[VARIABLE_COUNT];
/* Guarded by the backend's lock. */
static value configured[VARIABLE_COUNT];
static leati_config config;
/* Copy of config.log for leati_log(), which any thread calls. Relaxed: nothing hangs on it. */
static _Atomic int64_t log_level = LEATI_LOG_WARN;

static void take(value *out, const char *name, const char *text, const char *origin) {
  out->origin = origin;
  out->name = name;
  /* One that is too long is kept as far as it goes, and refused for its length when it is parsed. */
  (void)snprintf(out->text, sizeof(out->text), "%s", text);
}

static void read_environment(void) {
  for (unsigned i = 0; i < VARIABLE_COUNT; ++i) {
    const char *const names[] = {variables[i].plain, variables[i].name};
    for (int j = 0; j < 2; ++j) {
      const char *const text = names[j] != NULL ? getenv(names[j]) : NULL;
      if (text != NULL && text[0] != '\0') {
        take(&environment[i], names[j], text, "environment");
      }
    }
  }
}

void leati_config_read_environment(void) {
  (void)pthread_once(&once, read_environment);
}

/* What counts for a variable: a value of the host's, else of the environment's; NULL: the default. */
static const value *effective(unsigned i) {
  return configured[i].origin != NULL ? &configured[i] : environment[i].origin != NULL ? &environment[i] : NULL;
}

static int32_t parse_value(const variable *v, const value *given, leati_config *to, leat_error *err) {
  if (strlen(given->text) == VALUE_MAX - 1) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s is longer than %d characters: \"%s...\"", given->name,
                      VALUE_MAX - 2, given->text);
  }
  if (!v->parse(v, given->text, (char *)to + v->field)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s is \"%s\"; allowed: %s", given->name, given->text,
                      v->allowed);
  }
  return LEAT_OK;
}

/* Parses a default, which its own limits may exclude: it stands for "not set". */
static void parse_standard(const variable *v, leati_config *to) {
  variable unlimited = *v;
  unlimited.least = -1;
  (void)unlimited.parse(&unlimited, v->standard, (char *)to + v->field);
}

/* Whether somebody has set the variable of a field. */
static bool is_given(size_t field) {
  for (unsigned i = 0; i < VARIABLE_COUNT; ++i) {
    if (variables[i].field == field) {
      return effective(i) != NULL;
    }
  }
  return false;
}

static int32_t parse_all(leat_error *err) {
  leati_config fresh;
  memset(&fresh, 0, sizeof(fresh));
  for (unsigned i = 0; i < VARIABLE_COUNT; ++i) {
    const value *const given = effective(i);
    if (given == NULL) {
      parse_standard(&variables[i], &fresh);
    } else {
      LEATI_TRY(parse_value(&variables[i], given, &fresh, err));
    }
  }
  if (!is_given(offsetof(leati_config, low_watermark_ratio))) {
    /* The default is a part of the high one: whoever lowers that need not lower both. */
    fresh.low_watermark_ratio *= fresh.high_watermark_ratio;
  }
  if (fresh.low_watermark_ratio > fresh.high_watermark_ratio) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "LEAT_LOW_WATERMARK_RATIO is %g; allowed: at most LEAT_HIGH_WATERMARK_RATIO, which is %g",
                      fresh.low_watermark_ratio, fresh.high_watermark_ratio);
  }
  config = fresh;
  atomic_store_explicit(&log_level, config.log, memory_order_relaxed);
  return LEAT_OK;
}

int32_t leati_config_get(const leati_config **out, leat_error *err) {
  leati_config_read_environment();
  *out = &config;
  return parse_all(err);
}

int32_t leati_config_set(const char *name, const char *text, leat_error *err) {
  for (unsigned i = 0; i < VARIABLE_COUNT; ++i) {
    if (strcmp(name, variables[i].name) != 0) {
      continue;
    }
    value given = {.origin = NULL};
    if (text != NULL && text[0] != '\0') {
      leati_config ignored;
      take(&given, variables[i].name, text, "host");
      LEATI_TRY(parse_value(&variables[i], &given, &ignored, err));
    }
    configured[i] = given;
    return LEAT_OK;
  }
  return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "there is no setting \"%s\"; leat-info lists those that there are",
                    name);
}

bool leati_config_describe(unsigned i, char *name, size_t name_size, char *out, size_t out_size) {
  if (i >= VARIABLE_COUNT) {
    return false;
  }
  const value *const given = effective(i);
  (void)snprintf(name, name_size, "config.%s", variables[i].name);
  if (given == NULL) {
    (void)snprintf(out, out_size, "%s (default)",
                   variables[i].shown != NULL ? variables[i].shown : variables[i].standard);
  } else if (strcmp(given->name, variables[i].name) != 0) {
    (void)snprintf(out, out_size, "%s (%s, %s)", given->text, given->origin, given->name);
  } else {
    (void)snprintf(out, out_size, "%s (%s)", given->text, given->origin);
  }
  return true;
}

void leati_log(leati_log_level level, const char *format, ...) {
  if ((int64_t)level > atomic_load_explicit(&log_level, memory_order_relaxed)) {
    return;
  }
  static const char *const names[] = {"none", "error", "warn", "info", "debug"};
  char line[1200];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(line, sizeof(line), format, arguments);
  va_end(arguments);
  (void)fprintf(stderr, "leat: %s: %s\n", names[level], line);
}
