/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/config.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fusions.h"
#include "core/status.h"

/* Room for a value of any setting; the longest says all of LEAT_TUNING. */
#define VALUE_MAX 2048
/* Bytes of a value that a message shows. */
#define QUOTE_MAX 200u
/* Digits of a ratio: their value without the point fits 64 bits. */
#define RATIO_DIGITS_MAX 17
/* Digits of a number of LEAT_TUNING, and bytes of what is no name there that a message shows. */
#define TUNABLE_DIGITS_MAX 10
#define TUNABLE_QUOTE_MAX 60u
#define TUNING_FORM "NAME=NUMBER with commas between them"

typedef struct variable variable;
struct variable {
  const char *name;
  const char *plain;    /* the same without prefix, which the prefixed one beats; or NULL */
  const char *standard; /* what counts when nobody says anything */
  const char *allowed;  /* for the message */
  /* Puts a value into its field; false: it cannot be understood. */
  bool (*parse)(const variable *self, const char *text, void *field);
  /* What is allowed in the place of what is wrong with a text; NULL: `allowed` says it. */
  void (*explain)(const char *text, char *out, size_t size);
  size_t field;         /* offset in leati_config */
  double least, most;   /* of a number; `most` also of the length of a text */
  const char *shown;    /* what describe() says of the default, where its value says little; or NULL */
  bool empty;           /* an empty value is a value; else it counts as unset */
  const char *words[6]; /* of a word, by value */
};

static bool parse_text(const variable *self, const char *text, void *field) {
  const size_t length = strlen(text);
  if ((double)length > self->most) {
    return false;
  }
  memcpy(field, text, length + 1);
  return true;
}

/* A path that names the same folder wherever the process happens to stand, or nothing. */
static bool parse_folder(const variable *self, const char *text, void *field) {
  if ((text[0] != '/' && text[0] != '\0') || !parse_text(self, text, field)) {
    return false;
  }
  char *const path = field;
  for (size_t length = strlen(path); length > 1 && path[length - 1] == '/'; --length) {
    path[length - 1] = '\0';
  }
  return true;
}

/* Digits, and a minus before them; strtoll() would also pass over blanks and a plus. */
static bool parse_whole(const variable *self, const char *text, void *field) {
  const char *const digits = text + (text[0] == '-');
  if (digits[0] == '\0' || digits[strspn(digits, "0123456789")] != '\0') {
    return false;
  }
  errno = 0;
  const long long value = strtoll(text, NULL, 10);
  if (errno != 0 || (double)value < self->least || (double)value > self->most) {
    return false;
  }
  *(int64_t *)field = value;
  return true;
}

/* Digits with or without a point. Not strtod(), which looks for the point of the host's locale, and takes blanks,
 * signs, hexadecimal numbers, nan and inf. The result is strtod()'s: up to 2^53 the number without its point is exact,
 * as the power of ten is, so that the division rounds once; a longer one is off by a last bit at most. */
static bool parse_ratio(const variable *self, const char *text, void *field) {
  uint64_t number = 0;
  double power = 1;
  unsigned digits = 0;
  bool fraction = false;
  for (const char *c = text; *c != '\0'; ++c) {
    if (*c == '.' && !fraction) {
      fraction = true;
    } else if (*c >= '0' && *c <= '9' && digits < RATIO_DIGITS_MAX) {
      number = number * 10 + (uint64_t)(*c - '0');
      power = fraction ? power * 10 : power;
      ++digits;
    } else {
      return false;
    }
  }
  const double value = (double)number / power;
  if (digits == 0 || value <= self->least || value > self->most) {
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

/* How much of a text is shown where there are `room` bytes: whole characters of UTF-8. */
static int shown_length(const char *text, size_t room) {
  size_t length = strlen(text);
  if (length > room) {
    for (length = room; length > 0 && ((unsigned char)text[length] & 0xc0u) == 0x80u;) {
      --length;
    }
  }
  return (int)length;
}

const char *const leati_fusion_names[LEATI_FUSION_COUNT] = {
#define FUSION_NAME(number, name) [LEATI_FUSION_##number] = #name,
    LEATI_FUSIONS(FUSION_NAME)
#undef FUSION_NAME
};

/* Names with commas between them, or "all". */
static bool parse_fusions(const variable *self, const char *text, void *field) {
  (void)self;
  uint64_t bits = 0;
  if (strcmp(text, "all") == 0) {
    bits = (UINT64_C(1) << LEATI_FUSION_COUNT) - 1;
  } else if (text[0] != '\0') {
    const char *name = text;
    do {
      const size_t length = strcspn(name, ",");
      unsigned i = 0;
      while (i < LEATI_FUSION_COUNT &&
             (strlen(leati_fusion_names[i]) != length || memcmp(name, leati_fusion_names[i], length) != 0)) {
        ++i;
      }
      if (i == LEATI_FUSION_COUNT) {
        return false;
      }
      bits |= UINT64_C(1) << i;
      name += length;
    } while (*name++ == ',');
  }
  *(uint64_t *)field = bits;
  return true;
}

/* Takes NAME=NUMBER, of so many characters. If it is none, *out_which is the tunable whose number is wrong, or
 * LEATI_TUNABLE_COUNT: there is none of that name. */
static bool take_tunable(const char *item, size_t length, leati_tuning *to, uint32_t *out_which) {
  const size_t name = strcspn(item, "=,"), digits = name < length ? length - name - 1 : 0;
  uint32_t i = 0;
  while (i < LEATI_TUNABLE_COUNT &&
         (strlen(leati_tunables[i].name) != name || memcmp(item, leati_tunables[i].name, name) != 0)) {
    ++i;
  }
  *out_which = i;
  if (i == LEATI_TUNABLE_COUNT || digits == 0 || digits > TUNABLE_DIGITS_MAX ||
      strspn(item + name + 1, "0123456789") != digits) {
    return false;
  }
  const unsigned long long value = strtoull(item + name + 1, NULL, 10);
  *leati_tuning_field(to, i) = (uint32_t)value;
  return value >= leati_tunables[i].least && value <= leati_tunables[i].most;
}

/* Takes all that a text says, with commas between; the rest is as it is by itself. Gives the first that is wrong. */
static const char *take_tuning(const char *text, leati_tuning *to, uint32_t *out_which) {
  *to = (leati_tuning)LEATI_TUNING_STANDARD;
  const char *item = text;
  while (text[0] != '\0') {
    const size_t length = strcspn(item, ",");
    if (!take_tunable(item, length, to, out_which)) {
      return item;
    }
    if (item[length] == '\0') {
      break;
    }
    item += length + 1;
  }
  return NULL;
}

static bool parse_tuning(const variable *self, const char *text, void *field) {
  (void)self;
  uint32_t which;
  return take_tuning(text, field, &which) == NULL;
}

static void explain_tuning(const char *text, char *out, size_t size) {
  leati_tuning ignored;
  uint32_t which;
  const char *const item = take_tuning(text, &ignored, &which);
  if (which < LEATI_TUNABLE_COUNT) {
    const leati_tunable *const it = &leati_tunables[which];
    (void)snprintf(out, size, "%s=NUMBER, a whole number from %u to %u", it->name, it->least, it->most);
  } else {
    const size_t length = strcspn(item, "=,");
    (void)snprintf(out, size, TUNING_FORM "; \"%.*s\" is no name, leat-info --json lists them",
                   shown_length(item, length < TUNABLE_QUOTE_MAX ? length : TUNABLE_QUOTE_MAX), item);
  }
}

#define FIELD(name) offsetof(leati_config, name)

#define FUSION_LIST(number, name) " " #name

/* The default of LEAT_CACHE_DIR: empty where the environment names no folder for it. Written under `once`, with the
 * environment. */
static char standard_cache_dir[LEATI_PATH_MAX + 1];

static const variable variables[] = {
    {.name = "LEAT_VULKAN_DEVICE",
     .standard = "",
     .shown = "best",
     .allowed = "indices, UUIDs or parts of names, with commas between them, 127 characters in all",
     .parse = parse_text,
     .field = FIELD(vulkan_device),
     .most = sizeof(((leati_config *)0)->vulkan_device) - 1},
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
     .allowed = "a decimal number above 0 and up to 1, such as 0.8, of at most 17 digits",
     .parse = parse_ratio,
     .field = FIELD(high_watermark_ratio),
     .most = 1},
    {.name = "LEAT_LOW_WATERMARK_RATIO",
     .standard = "0.8",
     .shown = "0.8 of the high one",
     .allowed = "a decimal number above 0 and up to 1, such as 0.8, of at most 17 digits",
     .parse = parse_ratio,
     .field = FIELD(low_watermark_ratio),
     .most = 1},
    {.name = "LEAT_MEMORY_GUARD",
     .standard = "0",
     .allowed = "0, 1 or pages",
     .parse = parse_word,
     .field = FIELD(memory_guard),
     .words = {[LEATI_GUARD_OFF] = "0", [LEATI_GUARD_ZONES] = "1", [LEATI_GUARD_PAGES] = "pages"}},
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
    {.name = "LEAT_FUSIONS_OFF",
     .standard = "",
     .shown = "none",
     .allowed = "all, or names with commas between them:" LEATI_FUSIONS(FUSION_LIST),
     .parse = parse_fusions,
     .field = FIELD(fusions_off)},
    {.name = "LEAT_GRAPH_PLANS_MIB",
     .standard = "64",
     .allowed = "a whole number from 1 to 65536",
     .parse = parse_whole,
     .field = FIELD(graph_plans_mib),
     .least = 1,
     .most = 65536},
    {.name = "LEAT_MATRICES",
     .standard = "1",
     .allowed = "0, 1 or khr",
     .parse = parse_word,
     .field = FIELD(matrices),
     .words = {[LEATI_MATRICES_OFF] = "0", [LEATI_MATRICES_ON] = "1", [LEATI_MATRICES_KHR] = "khr"}},
    {.name = "LEAT_FLOAT32_MATMUL",
     .standard = "ieee",
     .allowed = "ieee or fast",
     .parse = parse_word,
     .field = FIELD(float32_matmul),
     .words = {[LEATI_FLOAT32_IEEE] = "ieee", [LEATI_FLOAT32_FAST] = "fast"}},
    {.name = "LEAT_TUNING",
     .standard = "",
     .shown = "none",
     .allowed = TUNING_FORM ", 2046 characters in all",
     .parse = parse_tuning,
     .explain = explain_tuning,
     .field = FIELD(tuning)},
    {.name = "LEAT_LOG",
     .standard = "warn",
     .allowed = "none, error, warn, info, debug",
     .parse = parse_word,
     .field = FIELD(log),
     .words = {"none", "error", "warn", "info", "debug"}},
    {.name = "LEAT_CACHE_DIR",
     .standard = standard_cache_dir,
     .allowed = "an absolute path of at most 200 characters, or nothing to keep no pipelines on disk",
     .parse = parse_folder,
     .field = FIELD(cache_dir),
     .most = LEATI_PATH_MAX,
     .empty = true},
    {.name = "LEAT_PROFILE",
     .standard = "",
     .shown = "unset",
     .allowed = "a path of at most 1000 characters",
     .parse = parse_text,
     .field = FIELD(profile),
     .most = 1000},
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
/* Guarded by the backend's lock, but for reading `config` while devices are known. */
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

/* Where the user keeps what can be made again. */
static void find_standard_cache_dir(void) {
  static const char *const places[][2] = {{"XDG_CACHE_HOME", "/leat"}, {"HOME", "/.cache/leat"}};
  for (size_t i = 0; i < 2 && standard_cache_dir[0] == '\0'; ++i) {
    const char *const home = secure_getenv(places[i][0]);
    if (home != NULL && home[0] == '/' &&
        snprintf(standard_cache_dir, sizeof(standard_cache_dir), "%s%s", home, places[i][1]) > LEATI_PATH_MAX) {
      standard_cache_dir[0] = '\0';
    }
  }
}

static void read_environment(void) {
  find_standard_cache_dir();
  for (unsigned i = 0; i < VARIABLE_COUNT; ++i) {
    const char *const names[] = {variables[i].plain, variables[i].name};
    for (int j = 0; j < 2; ++j) {
      const char *const text = names[j] != NULL ? secure_getenv(names[j]) : NULL;
      if (text != NULL && (text[0] != '\0' || variables[i].empty)) {
        take(&environment[i], names[j], text, "environment");
      }
    }
  }
}

void leati_config_read_environment(void) {
  (void)pthread_once(&once, read_environment);
}

/* What counts for a variable: a value of the host's, else of the environment's; NULL: the default. What is beaten is
 * not looked at. */
static const value *effective(unsigned i) {
  return configured[i].origin != NULL ? &configured[i] : environment[i].origin != NULL ? &environment[i] : NULL;
}

static int32_t parse_value(const variable *v, const value *given, leati_config *to, leat_error *err) {
  const size_t length = strlen(given->text);
  /* One that fills its room may have been longer. */
  const bool fits = length < VALUE_MAX - 1;
  if (fits && v->parse(v, given->text, (char *)to + v->field)) {
    return LEAT_OK;
  }
  char allowed[200];
  if (fits && v->explain != NULL) {
    v->explain(given->text, allowed, sizeof(allowed));
  }
  return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s is \"%.*s%s\"; allowed: %s", given->name,
                    shown_length(given->text, QUOTE_MAX), given->text, length > QUOTE_MAX ? "..." : "",
                    fits && v->explain != NULL ? allowed : v->allowed);
}

/* Parses a default, which its own limits may exclude: it stands for "not set". */
static void parse_standard(const variable *v, leati_config *to) {
  variable unlimited = *v;
  unlimited.least = -1;
  (void)unlimited.parse(&unlimited, v->standard, (char *)to + v->field);
}

/* What counts for the variable of a field. */
static const value *effective_field(size_t field) {
  unsigned i = 0;
  while (variables[i].field != field) {
    ++i;
  }
  return effective(i);
}

/* What no variable can see by itself. */
static int32_t check_together(const leati_config *c, leat_error *err) {
  if (c->low_watermark_ratio > c->high_watermark_ratio) {
    /* Neither is a default: that of the low one follows the high one, and that of the high one is the most there is. */
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "LEAT_LOW_WATERMARK_RATIO is %s; allowed: at most LEAT_HIGH_WATERMARK_RATIO, which is %s",
                      effective_field(FIELD(low_watermark_ratio))->text,
                      effective_field(FIELD(high_watermark_ratio))->text);
  }
  if (c->force_graph_path != 0 && c->force_direct_path != 0) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "LEAT_FORCE_GRAPH_PATH and LEAT_FORCE_DIRECT_PATH are both 1; allowed: one of them at most");
  }
  return LEAT_OK;
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
  if (effective_field(FIELD(low_watermark_ratio)) == NULL) {
    /* The default is a part of the high one: whoever lowers that need not lower both. */
    fresh.low_watermark_ratio *= fresh.high_watermark_ratio;
  }
  LEATI_TRY(check_together(&fresh, err));
  /* While devices are known nothing changes, and what does not change is not written: others read it without the lock.
   */
  if (memcmp(&config, &fresh, sizeof(fresh)) != 0) {
    config = fresh;
  }
  atomic_store_explicit(&log_level, config.log, memory_order_relaxed);
  return LEAT_OK;
}

int32_t leati_config_get(const leati_config **out, leat_error *err) {
  leati_config_read_environment();
  *out = &config;
  return parse_all(err);
}

/* The host's value for a variable as it would be kept, checked by itself. */
static int32_t import_value(const char *name, const char *text, unsigned *out_index, value *out, leat_error *err) {
  for (unsigned i = 0; i < VARIABLE_COUNT; ++i) {
    if (strcmp(name, variables[i].name) == 0) {
      *out_index = i;
      out->origin = NULL;
      if (text == NULL || (text[0] == '\0' && !variables[i].empty)) {
        return LEAT_OK;
      }
      leati_config ignored;
      take(out, variables[i].name, text, "host");
      return parse_value(&variables[i], out, &ignored, err);
    }
  }
  return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "there is no setting \"%.*s\"; leat-info lists those that there are",
                    shown_length(name, QUOTE_MAX), name);
}

int32_t leati_config_check(const char *name, const char *text, leat_error *err) {
  unsigned i;
  value ignored;
  return import_value(name, text, &i, &ignored, err);
}

int32_t leati_config_set(const char *name, const char *text, leat_error *err) {
  unsigned i;
  value given;
  LEATI_TRY(import_value(name, text, &i, &given, err));
  configured[i] = given;
  return LEAT_OK;
}

bool leati_config_describe(unsigned i, char *name, size_t name_size, char *out, size_t out_size) {
  if (i >= VARIABLE_COUNT) {
    return false;
  }
  const variable *const v = &variables[i];
  const value *const given = effective(i);
  (void)snprintf(name, name_size, "config.%s", v->name);
  char origin[80] = "default";
  if (given != NULL) {
    const bool plain = strcmp(given->name, v->name) != 0;
    (void)snprintf(origin, sizeof(origin), "%s%s%s", given->origin, plain ? ", " : "", plain ? given->name : "");
  }
  /* A long value makes room for its origin. */
  const char *const text = given != NULL ? given->text : v->shown != NULL ? v->shown : v->standard;
  const size_t spent = strlen(origin) + strlen(" ()") + 1, room = out_size > spent ? out_size - spent : 0;
  const bool fits = strlen(text) <= room;
  (void)snprintf(out, out_size, "%.*s%s (%s)", shown_length(text, fits ? room : room - strlen("...")), text,
                 fits ? "" : "...", origin);
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
