/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings: where they come from, what is allowed, and when they are fixed. What cannot be parsed is an error that
 * names the variable, the value and what is allowed. */
#include "core/config.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/device.h"
#include "unit_fixture.h"

/* ---- Children ------------------------------------------------------------------------------------------------------
 */

/* The environment is read once in a process, so each case is a process. It ends with what `body` returns. */
static int in_child(int (*body)(const void *context), const void *context) {
  (void)fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    _exit(body(context));
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  return WEXITSTATUS(status);
}

/* Ends a child's body with 1, and says where, if a condition does not hold. */
#define EXPECT(condition)                                                    \
  do {                                                                       \
    if (!(condition)) {                                                      \
      (void)fprintf(stderr, "line %d: %s is false\n", __LINE__, #condition); \
      return 1;                                                              \
    }                                                                        \
  } while (0)

static const leat_backend_api *query(void) {
  const leat_host_info host = {.struct_size = sizeof(host), .abi_min = LEAT_ABI_1_0, .abi_max = LEAT_ABI_CURRENT};
  const leat_backend_api *api = NULL;
  return leat_backend_query(&host, &api, NULL) == LEAT_OK ? api : NULL;
}

/* ---- Values --------------------------------------------------------------------------------------------------------
 */

typedef struct setting {
  const char *name, *value;
  const char *allowed; /* part of the message; NULL: the value is good */
} setting;

static int take_from_environment(const void *context) {
  const setting *const s = context;
  const leati_config *config;
  leat_error err = {.struct_size = sizeof(err)};
  EXPECT(setenv(s->name, s->value, 1) == 0);
  const int32_t status = leati_config_get(&config, &err);
  if (s->allowed == NULL) {
    EXPECT(status == LEAT_OK);
  } else {
    EXPECT(status == LEAT_ERROR_INVALID_ARGUMENT);
    EXPECT(strstr(err.message, s->name) != NULL);
    EXPECT(strstr(err.message, s->value) != NULL);
    EXPECT(strstr(err.message, s->allowed) != NULL);
  }
  return 0;
}

static int take_from_host(const void *context) {
  const setting *const s = context;
  leat_error err = {.struct_size = sizeof(err)};
  const int32_t status = leati_config_set(s->name, s->value, &err);
  if (s->allowed == NULL) {
    EXPECT(status == LEAT_OK);
  } else {
    EXPECT(status == LEAT_ERROR_INVALID_ARGUMENT);
    EXPECT(strstr(err.message, s->name) != NULL);
    EXPECT(strstr(err.message, s->value) != NULL);
    EXPECT(strstr(err.message, s->allowed) != NULL);
  }
  return 0;
}

/* From the environment and from the host alike. */
static void check_values(const setting *settings, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (in_child(take_from_environment, &settings[i]) != 0 || in_child(take_from_host, &settings[i]) != 0) {
      fail_msg("%s=\"%s\" should be %s", settings[i].name, settings[i].value,
               settings[i].allowed != NULL ? "refused" : "taken");
    }
  }
}

#define CHECK_VALUES(...)                                \
  do {                                                   \
    const setting list_[] = {__VA_ARGS__};               \
    check_values(list_, sizeof(list_) / sizeof(*list_)); \
  } while (0)

static void good_values_are_taken(void **state) {
  (void)state;
  CHECK_VALUES({"LEAT_LANES", "1", NULL}, {"LEAT_LANES", "8", NULL}, {"LEAT_LANES", "08", NULL},
               {"LEAT_WAIT_SPIN_US", "0", NULL}, {"LEAT_WAIT_SPIN_US", "1000000", NULL},
               {"LEAT_STREAM_POOL_WAIT_TIMEOUT_MS", "-1", NULL}, {"LEAT_STREAM_POOL_WAIT_TIMEOUT_MS", "0", NULL},
               {"LEAT_STREAM_POOL_WAIT_TIMEOUT_MS", "2147483647", NULL}, {"LEAT_STREAM_POLICY", "exclusive", NULL},
               {"LEAT_STREAM_POLICY", "round-robin", NULL}, {"LEAT_HIGH_WATERMARK_RATIO", "1", NULL},
               {"LEAT_LOW_WATERMARK_RATIO", ".5", NULL}, {"LEAT_LOW_WATERMARK_RATIO", "0.3333333333333333", NULL},
               {"LEAT_MEMORY_GUARD", "1", NULL}, {"LEAT_MEMORY_GUARD", "pages", NULL},
               {"LEAT_FORCE_GRAPH_PATH", "0", NULL}, {"LEAT_FORCE_DIRECT_PATH", "1", NULL},
               {"LEAT_GRAPH_PLANS_MIB", "1", NULL}, {"LEAT_GRAPH_PLANS_MIB", "65536", NULL},
               {"LEAT_MATRICES", "0", NULL}, {"LEAT_MATRICES", "khr", NULL}, {"LEAT_FLOAT32_MATMUL", "ieee", NULL},
               {"LEAT_FLOAT32_MATMUL", "fast", NULL}, {"LEAT_LOG", "none", NULL}, {"LEAT_LOG", "debug", NULL},
               {"LEAT_VULKAN_DEVICE", "llvmpipe, 0", NULL}, {"LEAT_FUSIONS_OFF", "all", NULL},
               {"LEAT_FUSIONS_OFF", "bias", NULL}, {"LEAT_FUSIONS_OFF", "residual,bias,bias", NULL},
               {"LEAT_PROFILE", "/tmp/a b.json", NULL}, {"LEAT_TUNING", "gemv_rows=4", NULL},
               {"LEAT_TUNING", "gemm_split_min=0128,gemv_rows=1,gemv_rows=0", NULL},
               {"LEAT_CACHE_DIR", "/tmp/a b", NULL}, {"LEAT_CACHE_DIR", "/", NULL}, {"LEAT_CACHE_DIR", "", NULL});
}

static void nothing_counts_as_unset(void **state) {
  (void)state;
  CHECK_VALUES({"LEAT_LANES", "", NULL}, {"LEAT_WAIT_SPIN_US", "", NULL},
               {"LEAT_STREAM_POOL_WAIT_TIMEOUT_MS", "", NULL}, {"LEAT_STREAM_POLICY", "", NULL},
               {"LEAT_HIGH_WATERMARK_RATIO", "", NULL}, {"LEAT_LOW_WATERMARK_RATIO", "", NULL},
               {"LEAT_MEMORY_GUARD", "", NULL}, {"LEAT_FORCE_GRAPH_PATH", "", NULL}, {"LEAT_LOG", "", NULL},
               {"LEAT_VULKAN_DEVICE", "", NULL}, {"LEAT_PROFILE", "", NULL}, {"LEAT_TUNING", "", NULL});
}

static void nonsense_is_named(void **state) {
  (void)state;
  static const char *const numbers[] = {"many", "3x",  "3 ",  " 3",  "\t3",
                                        "\n",   "+3",  "--3", "-",   "0x3",
                                        "3.",   "3e0", "nan", "inf", "99999999999999999999"};
  static const char *const ratios[] = {"half", "0.8x", "0.8 ", " 0.8", "+0.8",  "-0.8",     "0,8",  "0x1p-1", "8e-1",
                                       "nan",  "inf",  "1..0", ".",    "0.8.0", "infinity", "1.01", "0",      "0.0"};
  static const char *const words[] = {"2", "yes", "true", "01", " 1", "1 ", "-0", "pages "};
  for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); ++i) {
    CHECK_VALUES({"LEAT_LANES", numbers[i], "1 to 8"}, {"LEAT_GRAPH_PLANS_MIB", numbers[i] + (i == 2), "1 to 65536"},
                 {"LEAT_WAIT_SPIN_US", numbers[i] + (i == 2), "0 to 1000000"},
                 {"LEAT_STREAM_POOL_WAIT_TIMEOUT_MS", numbers[i], "-1 (wait for ever), 0 (do not wait) or"});
  }
  for (size_t i = 0; i < sizeof(ratios) / sizeof(*ratios); ++i) {
    CHECK_VALUES({"LEAT_HIGH_WATERMARK_RATIO", ratios[i], "above 0 and up to 1"},
                 {"LEAT_LOW_WATERMARK_RATIO", ratios[i], "above 0 and up to 1"});
  }
  for (size_t i = 0; i < sizeof(words) / sizeof(*words); ++i) {
    CHECK_VALUES({"LEAT_MEMORY_GUARD", words[i], "0, 1 or pages"}, {"LEAT_FORCE_GRAPH_PATH", words[i], "0 or 1"},
                 {"LEAT_FORCE_DIRECT_PATH", words[i], "0 or 1"}, {"LEAT_MATRICES", words[i], "0, 1 or khr"},
                 {"LEAT_FLOAT32_MATMUL", words[i], "ieee or fast"}, {"LEAT_LOG", words[i], "warn"},
                 {"LEAT_STREAM_POLICY", words[i], "round-robin"});
  }
  static const char *const names[] = {"none", "bias,", ",bias", "bias, scale", "bia", "biass", "all,bias", "Bias", ","};
  for (size_t i = 0; i < sizeof(names) / sizeof(*names); ++i) {
    CHECK_VALUES({"LEAT_FUSIONS_OFF", names[i], "all, or names with commas between them: integer attention"});
  }
  CHECK_VALUES({"LEAT_LANES", "9", "1 to 8"}, {"LEAT_LANES", "0", "1 to 8"}, {"LEAT_LANES", "-1", "1 to 8"},
               {"LEAT_GRAPH_PLANS_MIB", "0", "1 to 65536"}, {"LEAT_GRAPH_PLANS_MIB", "65537", "1 to 65536"},
               {"LEAT_WAIT_SPIN_US", "-1", "0 to"}, {"LEAT_WAIT_SPIN_US", "1000001", "0 to"},
               {"LEAT_STREAM_POOL_WAIT_TIMEOUT_MS", "-2", "-1 (wait"},
               {"LEAT_STREAM_POOL_WAIT_TIMEOUT_MS", "2147483648", "2147483647"},
               {"LEAT_LOG", "loud", "none, error, warn, info, debug"}, {"LEAT_LOG", "WARN", "warn"},
               {"LEAT_STREAM_POLICY", "round robin", "exclusive or round-robin"},
               {"LEAT_LOW_WATERMARK_RATIO", "0.333333333333333333", "17 digits"},
               {"LEAT_CACHE_DIR", "cache", "an absolute path"}, {"LEAT_CACHE_DIR", "~/cache", "an absolute path"},
               {"LEAT_CACHE_DIR", " /tmp", "an absolute path"});
}

static void nonsense_in_a_tuning_is_named(void **state) {
  (void)state;
  static const char *const numbers[] = {"gemv_rows=9",
                                        "gemv_rows=-1",
                                        "gemv_rows",
                                        "gemv_rows=",
                                        "gemv_rows=x",
                                        "gemv_rows= 1",
                                        "gemv_rows=1 ",
                                        "gemv_rows=0x1",
                                        "gemv_rows=1=1",
                                        "gemv_rows=+1",
                                        "gemv_rows=4294967297",
                                        "gemv_rows=00000000001",
                                        "gemm_split_min=128,gemv_rows=9,gemv_rows=1"};
  for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); ++i) {
    CHECK_VALUES({"LEAT_TUNING", numbers[i], "allowed: gemv_rows=NUMBER, a whole number from 0 to 8"});
  }
  CHECK_VALUES(
      {"LEAT_TUNING", "gemv_rows=1,gemv_row=1", "with commas between them; \"gemv_row\" is no name, leat-info"},
      {"LEAT_TUNING", "gemv_rowss=1", "\"gemv_rowss\" is no name"},
      {"LEAT_TUNING", "Gemv_rows=1", "\"Gemv_rows\" is no name"}, {"LEAT_TUNING", "all", "\"all\" is no name"},
      {"LEAT_TUNING", "=1", "\"\" is no name"}, {"LEAT_TUNING", "gemv_rows=1,", "\"\" is no name"},
      {"LEAT_TUNING", ",gemv_rows=1", "\"\" is no name"}, {"LEAT_TUNING", ",", "\"\" is no name"},
      {"LEAT_TUNING", " gemv_rows=1", "\" gemv_rows\" is no name"});
}

/* Each constant by itself, and all of them at once, at the ends of their ranges. */
static int tunings(const void *context) {
  (void)context;
  const leati_config *config;
  leat_error err = {.struct_size = sizeof(err)};
  const leati_tuning standard = LEATI_TUNING_STANDARD;
  char all[4000] = "", text[200], range[100];
  for (uint32_t i = 0; i < LEATI_TUNABLE_COUNT; ++i) {
    const leati_tunable *const it = &leati_tunables[i];
    const unsigned long long ends[] = {it->least, it->most, it->most + 1ull,
                                       it->least > 0 ? it->least - 1 : UINT32_MAX};
    for (int end = 0; end < 4; ++end) {
      (void)snprintf(text, sizeof(text), "%s=%llu", it->name, ends[end]);
      (void)snprintf(range, sizeof(range), "%s=NUMBER, a whole number from %u to %u", it->name, it->least, it->most);
      const int32_t status = leati_config_set("LEAT_TUNING", text, &err);
      EXPECT(status == (end < 2 ? LEAT_OK : LEAT_ERROR_INVALID_ARGUMENT));
      EXPECT(end < 2 || strstr(err.message, range) != NULL);
      leati_tuning wanted = standard;
      *leati_tuning_field(&wanted, i) = end == 0 ? it->least : it->most;
      EXPECT(leati_config_get(&config, &err) == LEAT_OK);
      EXPECT(memcmp(&config->tuning, &wanted, sizeof(wanted)) == 0);
    }
    (void)snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s=%u", i > 0 ? "," : "", it->name, it->most);
  }
  EXPECT(leati_config_set("LEAT_TUNING", all, &err) == LEAT_OK);
  EXPECT(leati_config_get(&config, &err) == LEAT_OK);
  for (uint32_t i = 0; i < LEATI_TUNABLE_COUNT; ++i) {
    leati_tuning taken = config->tuning;
    EXPECT(*leati_tuning_field(&taken, i) == leati_tunables[i].most);
  }
  /* The last of one name counts, and nothing makes all as it is by itself. */
  EXPECT(leati_config_set("LEAT_TUNING", "gemv_rows=1,gemv_rows=2", &err) == LEAT_OK);
  EXPECT(leati_config_get(&config, &err) == LEAT_OK && config->tuning.gemv_rows == 2);
  EXPECT(leati_config_set("LEAT_TUNING", "", &err) == LEAT_OK);
  EXPECT(leati_config_get(&config, &err) == LEAT_OK);
  EXPECT(memcmp(&config->tuning, &standard, sizeof(standard)) == 0);
  return 0;
}

static void tunings_are_taken_one_by_one_and_all_at_once(void **state) {
  (void)state;
  assert_int_equal(in_child(tunings, NULL), 0);
}

/* What a variable without prefix holds is named by its own name. */
static void nonsense_without_prefix_is_named(void **state) {
  (void)state;
  const setting good = {"FORCE_GRAPH_PATH", "0", NULL}, bad = {"FORCE_GRAPH_PATH", "2", "0 or 1"};
  assert_int_equal(in_child(take_from_environment, &good), 0);
  assert_int_equal(in_child(take_from_environment, &bad), 0);
}

static int long_values(const void *context) {
  (void)context;
  char text[4000];
  leat_error err = {.struct_size = sizeof(err)};
  const struct {
    const char *name;
    size_t most;
  } limits[] = {{"LEAT_VULKAN_DEVICE", 127}, {"LEAT_PROFILE", 1000}, {"LEAT_CACHE_DIR", 200}};
  for (size_t i = 0; i < 3; ++i) {
    memset(text, 'x', sizeof(text));
    text[0] = i == 2 ? '/' : 'x';
    text[limits[i].most] = '\0';
    EXPECT(leati_config_set(limits[i].name, text, &err) == LEAT_OK);
    text[limits[i].most] = 'x';
    text[limits[i].most + 1] = '\0';
    EXPECT(leati_config_set(limits[i].name, text, &err) == LEAT_ERROR_INVALID_ARGUMENT);
    EXPECT(strstr(err.message, limits[i].name) != NULL && strstr(err.message, i == 0 ? "xxx\"" : "xxx...\"") != NULL);
    EXPECT(strstr(err.message, " characters") != NULL);
  }
  /* Cut to the room that there is this would be a number. */
  memset(text, '0', sizeof(text));
  text[sizeof(text) - 2] = '9';
  text[sizeof(text) - 1] = '\0';
  EXPECT(leati_config_set("LEAT_WAIT_SPIN_US", text, &err) == LEAT_ERROR_INVALID_ARGUMENT);
  /* A message holds whole characters only, also of what is no name. */
  memset(text, 'x', 2);
  for (size_t at = 2; at < 2000; at += 3) {
    memcpy(text + at, "\xe2\x82\xac", 3);
  }
  text[2000] = '\0';
  EXPECT(leati_config_set("LEAT_LANES", text, &err) == LEAT_ERROR_INVALID_ARGUMENT);
  EXPECT(strstr(err.message, "\xe2\x82\xac...\"; allowed") != NULL);
  EXPECT(leati_config_set("LEAT_TUNING", text, &err) == LEAT_ERROR_INVALID_ARGUMENT);
  EXPECT(strstr(err.message, "\xe2\x82\xac\" is no name") != NULL);
  memset(text, 'x', sizeof(text));
  text[sizeof(text) - 1] = '\0';
  EXPECT(leati_config_set("LEAT_TUNING", text, &err) == LEAT_ERROR_INVALID_ARGUMENT);
  EXPECT(strstr(err.message, "2046 characters in all") != NULL);
  return 0;
}

static void long_values_are_refused_whole(void **state) {
  (void)state;
  assert_int_equal(in_child(long_values, NULL), 0);
}

static int ratios_with_a_comma(const void *context) {
  (void)context;
  const leati_config *config;
  char folder[] = "/tmp/leat-config-XXXXXX", command[200];
  if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL) {
    /* Few machines have it ready; the package locales holds what it is made of. */
    EXPECT(mkdtemp(folder) != NULL && setenv("LOCPATH", folder, 1) == 0);
    (void)snprintf(command, sizeof(command), "localedef --no-archive -i de_DE -f UTF-8 %s/de_DE.UTF-8 2>&1", folder);
    const bool made = system(command) == 0 && setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
    (void)snprintf(command, sizeof(command), "rm -r %s", folder);
    EXPECT(system(command) == 0);
    if (!made) {
      return 77;
    }
  }
  EXPECT(localeconv()->decimal_point[0] == ',');
  EXPECT(leati_config_set("LEAT_LOW_WATERMARK_RATIO", "0.6", NULL) == LEAT_OK);
  EXPECT(leati_config_set("LEAT_HIGH_WATERMARK_RATIO", "0,7", NULL) == LEAT_ERROR_INVALID_ARGUMENT);
  EXPECT(leati_config_set("LEAT_HIGH_WATERMARK_RATIO", "0.7", NULL) == LEAT_OK);
  EXPECT(leati_config_get(&config, NULL) == LEAT_OK);
  EXPECT(config->low_watermark_ratio == 0.6 && config->high_watermark_ratio == 0.7);
  return 0;
}

static void the_hosts_locale_does_not_matter(void **state) {
  (void)state;
  const int status = in_child(ratios_with_a_comma, NULL);
  if (status == 77) {
    print_message("the locale de_DE can neither be found nor be made\n");
    skip();
  }
  assert_int_equal(status, 0);
}

/* strtod() of the C locale is the judge. */
static int ratios_as_strtod(const void *context) {
  (void)context;
  const leati_config *config;
  for (unsigned i = 1; i < 20000; ++i) {
    char text[32];
    (void)snprintf(text, sizeof(text), i % 2 != 0 ? "0.%04u" : ".%015u", i % 2 != 0 ? (i % 9999) + 1 : i * 49999u);
    EXPECT(leati_config_set("LEAT_LOW_WATERMARK_RATIO", text, NULL) == LEAT_OK);
    if (i % 97 == 0) {
      EXPECT(leati_config_get(&config, NULL) == LEAT_OK);
      EXPECT(config->low_watermark_ratio == strtod(text, NULL));
    }
  }
  return 0;
}

static void ratios_are_read_exactly(void **state) {
  (void)state;
  assert_int_equal(in_child(ratios_as_strtod, NULL), 0);
}

/* Values that are good alone. */
static int values_that_contradict(const void *context) {
  (void)context;
  const leati_config *config;
  leat_error err = {.struct_size = sizeof(err)};
  EXPECT(leati_config_set("LEAT_HIGH_WATERMARK_RATIO", "0.50", &err) == LEAT_OK);
  /* The default of the low one follows. */
  EXPECT(leati_config_get(&config, &err) == LEAT_OK && config->low_watermark_ratio == 0.8 * 0.5);
  EXPECT(leati_config_set("LEAT_LOW_WATERMARK_RATIO", "0.8", &err) == LEAT_OK);
  EXPECT(leati_config_get(&config, &err) == LEAT_ERROR_INVALID_ARGUMENT);
  EXPECT(strstr(err.message, "LEAT_LOW_WATERMARK_RATIO is 0.8") != NULL && strstr(err.message, "which is 0.50"));
  EXPECT(leati_config_set("LEAT_LOW_WATERMARK_RATIO", "0.5", &err) == LEAT_OK);
  EXPECT(leati_config_get(&config, &err) == LEAT_OK);
  EXPECT(leati_config_set("LEAT_FORCE_GRAPH_PATH", "1", &err) == LEAT_OK);
  EXPECT(leati_config_set("LEAT_FORCE_DIRECT_PATH", "1", &err) == LEAT_OK);
  EXPECT(leati_config_get(&config, &err) == LEAT_ERROR_INVALID_ARGUMENT);
  EXPECT(strstr(err.message, "LEAT_FORCE_GRAPH_PATH") != NULL && strstr(err.message, "LEAT_FORCE_DIRECT_PATH") != NULL);
  EXPECT(leati_config_set("LEAT_FORCE_GRAPH_PATH", NULL, &err) == LEAT_OK);
  EXPECT(leati_config_get(&config, &err) == LEAT_OK);
  EXPECT(config->force_direct_path == 1 && config->force_graph_path == 0);
  return 0;
}

static void contradictions_are_named(void **state) {
  (void)state;
  assert_int_equal(in_child(values_that_contradict, NULL), 0);
}

/* ---- Precedence and origin ----------------------------------------------------------------------------------------
 */

/* Bytes that the report has for a value. */
enum { SHOWN = sizeof(((leat_property *)NULL)->value) };

/* What the report says of a setting. */
static const char *described(const char *variable) {
  static char value[SHOWN];
  char name[64];
  for (unsigned i = 0; leati_config_describe(i, name, sizeof(name), value, sizeof(value)); ++i) {
    if (strcmp(name + strlen("config."), variable) == 0) {
      return value;
    }
  }
  return "none such";
}

static int defaults(const void *context) {
  (void)context;
  const leati_config *config;
  EXPECT(leati_config_get(&config, NULL) == LEAT_OK);
  EXPECT(config->vulkan_device[0] == '\0' && config->profile[0] == '\0');
  EXPECT(config->lanes == 0 && config->wait_spin_us == -1);
  EXPECT(config->pool_timeout_ms == 0 && config->pool_round_robin == 0);
  EXPECT(config->high_watermark_ratio == 1.0 && config->low_watermark_ratio == 0.8);
  EXPECT(config->memory_guard == 0 && config->force_graph_path == 0 && config->force_direct_path == 0);
  EXPECT(config->graph_plans_mib == 64 && config->tuning.gemm_split_min == LEATI_GEMM_SPLIT_MIN);
  EXPECT(config->log == LEATI_LOG_WARN);
  EXPECT(strcmp(described("LEAT_STREAM_POOL_WAIT_TIMEOUT_MS"), "0 (default)") == 0);
  EXPECT(strcmp(described("LEAT_VULKAN_DEVICE"), "best (default)") == 0);
  EXPECT(strcmp(described("LEAT_PROFILE"), "unset (default)") == 0);
  return 0;
}

static int precedence(const void *context) {
  (void)context;
  const leati_config *config;
  EXPECT(setenv("FORCE_GRAPH_PATH", "1", 1) == 0 && setenv("LEAT_LOG", "none", 1) == 0);
  EXPECT(leati_config_get(&config, NULL) == LEAT_OK);
  EXPECT(config->force_graph_path == 1);
  EXPECT(strcmp(described("LEAT_FORCE_GRAPH_PATH"), "1 (environment, FORCE_GRAPH_PATH)") == 0);
  EXPECT(leati_config_set("LEAT_FORCE_GRAPH_PATH", "0", NULL) == LEAT_OK);
  EXPECT(leati_config_get(&config, NULL) == LEAT_OK);
  EXPECT(config->force_graph_path == 0);
  EXPECT(strcmp(described("LEAT_FORCE_GRAPH_PATH"), "0 (host)") == 0);
  /* Nothing, like NULL, takes it back. */
  EXPECT(leati_config_set("LEAT_FORCE_GRAPH_PATH", "", NULL) == LEAT_OK);
  EXPECT(leati_config_get(&config, NULL) == LEAT_OK);
  EXPECT(config->force_graph_path == 1);
  /* A name without prefix is the environment's only. */
  EXPECT(leati_config_set("FORCE_GRAPH_PATH", "0", NULL) == LEAT_ERROR_NOT_SUPPORTED);
  return 0;
}

static int prefixed_first(const void *context) {
  (void)context;
  const leati_config *config;
  /* The one that is beaten may be nonsense. */
  EXPECT(setenv("FORCE_GRAPH_PATH", "perhaps", 1) == 0 && setenv("LEAT_FORCE_GRAPH_PATH", "0", 1) == 0);
  EXPECT(leati_config_get(&config, NULL) == LEAT_OK);
  EXPECT(strcmp(described("LEAT_FORCE_GRAPH_PATH"), "0 (environment)") == 0);
  return 0;
}

static int empty_prefixed(const void *context) {
  (void)context;
  const leati_config *config;
  EXPECT(setenv("FORCE_GRAPH_PATH", "1", 1) == 0 && setenv("LEAT_FORCE_GRAPH_PATH", "", 1) == 0);
  EXPECT(leati_config_get(&config, NULL) == LEAT_OK);
  EXPECT(config->force_graph_path == 1);
  return 0;
}

static int host_beats_nonsense(const void *context) {
  (void)context;
  const leati_config *config;
  EXPECT(setenv("LEAT_LANES", "many", 1) == 0);
  EXPECT(leati_config_set("LEAT_LANES", "2", NULL) == LEAT_OK);
  EXPECT(leati_config_get(&config, NULL) == LEAT_OK);
  EXPECT(config->lanes == 2);
  EXPECT(leati_config_set("LEAT_LANES", NULL, NULL) == LEAT_OK);
  EXPECT(leati_config_get(&config, NULL) == LEAT_ERROR_INVALID_ARGUMENT);
  return 0;
}

static int long_value_keeps_its_origin(const void *context) {
  (void)context;
  char text[1001];
  memset(text, 'y', sizeof(text) - 1);
  text[sizeof(text) - 1] = '\0';
  EXPECT(leati_config_set("LEAT_PROFILE", text, NULL) == LEAT_OK);
  const char *const given = described("LEAT_PROFILE");
  EXPECT(strlen(given) == SHOWN - 1 && strcmp(given + SHOWN - 1 - strlen("y... (host)"), "y... (host)") == 0);
  return 0;
}

static void the_right_one_wins(void **state) {
  (void)state;
  assert_int_equal(in_child(defaults, NULL), 0);
  assert_int_equal(in_child(precedence, NULL), 0);
  assert_int_equal(in_child(prefixed_first, NULL), 0);
  assert_int_equal(in_child(empty_prefixed, NULL), 0);
  assert_int_equal(in_child(host_beats_nonsense, NULL), 0);
  assert_int_equal(in_child(long_value_keeps_its_origin, NULL), 0);
}

/* What the environment says of the user's folders, and what follows: the folder for pipelines, and what is shown. */
typedef struct homes {
  const char *xdg, *home, *expected;
} homes;

static int standard_folder(const void *context) {
  const homes *const given = context;
  const leati_config *config;
  char shown[300];
  EXPECT(given->xdg == NULL ? unsetenv("XDG_CACHE_HOME") == 0 : setenv("XDG_CACHE_HOME", given->xdg, 1) == 0);
  EXPECT(given->home == NULL ? unsetenv("HOME") == 0 : setenv("HOME", given->home, 1) == 0);
  EXPECT(leati_config_get(&config, NULL) == LEAT_OK);
  EXPECT(strcmp(config->cache_dir, given->expected) == 0);
  (void)snprintf(shown, sizeof(shown), "%s (default)", given->expected);
  EXPECT(strcmp(described("LEAT_CACHE_DIR"), shown) == 0);
  /* Nothing is a value of this one, and NULL takes it back. */
  EXPECT(leati_config_set("LEAT_CACHE_DIR", "", NULL) == LEAT_OK);
  EXPECT(leati_config_get(&config, NULL) == LEAT_OK && config->cache_dir[0] == '\0');
  EXPECT(strcmp(described("LEAT_CACHE_DIR"), " (host)") == 0);
  EXPECT(leati_config_set("LEAT_CACHE_DIR", "/over/there//", NULL) == LEAT_OK);
  EXPECT(leati_config_get(&config, NULL) == LEAT_OK && strcmp(config->cache_dir, "/over/there") == 0);
  EXPECT(leati_config_set("LEAT_CACHE_DIR", NULL, NULL) == LEAT_OK);
  EXPECT(leati_config_get(&config, NULL) == LEAT_OK && strcmp(config->cache_dir, given->expected) == 0);
  return 0;
}

static int no_folder(const void *context) {
  (void)context;
  const leati_config *config;
  EXPECT(setenv("LEAT_CACHE_DIR", "", 1) == 0 && setenv("HOME", "/home/me", 1) == 0);
  EXPECT(leati_config_get(&config, NULL) == LEAT_OK && config->cache_dir[0] == '\0');
  EXPECT(strcmp(described("LEAT_CACHE_DIR"), " (environment)") == 0);
  return 0;
}

static void pipelines_are_kept_in_the_users_folder(void **state) {
  (void)state;
  /* With what comes behind it one has 200 characters, and the other one more. */
  char longest[190], longer[190];
  char expected[220];
  memset(longest, 'x', sizeof(longest));
  memset(longer, 'x', sizeof(longer));
  longest[0] = longer[0] = '/';
  longest[200 - strlen("/.cache/leat")] = longer[201 - strlen("/.cache/leat")] = '\0';
  (void)snprintf(expected, sizeof(expected), "%s/.cache/leat", longest);
  const homes cases[] = {{NULL, "/home/me", "/home/me/.cache/leat"},
                         {"", "/home/me", "/home/me/.cache/leat"},
                         {"/caches", "/home/me", "/caches/leat"},
                         {"/caches", NULL, "/caches/leat"},
                         {"caches", "/home/me", "/home/me/.cache/leat"},
                         {"caches", "home/me", ""},
                         {NULL, NULL, ""},
                         {"", "", ""},
                         {NULL, longest, expected},
                         {NULL, longer, ""}};
  for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); ++i) {
    if (in_child(standard_folder, &cases[i]) != 0) {
      fail_msg("case %zu", i);
    }
  }
  assert_int_equal(in_child(no_folder, NULL), 0);
}

/* ---- When ---------------------------------------------------------------------------------------------------------
 */

/* The children below are forked from a process that has not queried, so that the backend works in them. */

static int environment_changes_later(const void *context) {
  (void)context;
  uint32_t count;
  leat_error err = {.struct_size = sizeof(err)};
  EXPECT(setenv("LEAT_LOG", "error", 1) == 0);
  const leat_backend_api *const api = query();
  EXPECT(api != NULL);
  EXPECT(setenv("LEAT_LOG", "loud", 1) == 0 && setenv("LEAT_LANES", "many", 1) == 0);
  EXPECT(query() == api);
  EXPECT(api->device->count(&count, &err) == LEAT_OK);
  EXPECT(strcmp(described("LEAT_LOG"), "error (environment)") == 0);
  EXPECT(strncmp(described("LEAT_LANES") + strlen(described("LEAT_LANES")) - 9, "(default)", 9) == 0);
  EXPECT(api->shutdown(&err) == LEAT_OK);
  EXPECT(api->device->count(&count, &err) == LEAT_OK);
  EXPECT(strcmp(described("LEAT_LOG"), "error (environment)") == 0);
  return 0;
}

static void the_environment_is_read_at_the_query(void **state) {
  (void)state;
  assert_int_equal(in_child(environment_changes_later, NULL), 0);
}

static int configure_at_all_times(const void *context) {
  (void)context;
  uint32_t count;
  leat_error err = {.struct_size = sizeof(err)};
  const leat_backend_api *const api = query();
  EXPECT(api != NULL);
  EXPECT(api->configure(NULL, "1", &err) == LEAT_ERROR_INVALID_ARGUMENT);
  EXPECT(strstr(err.message, "name") != NULL);
  EXPECT(api->configure("LEAT_NO_SUCH", "1", &err) == LEAT_ERROR_NOT_SUPPORTED);
  EXPECT(strstr(err.message, "LEAT_NO_SUCH") != NULL);
  EXPECT(api->configure("LEAT_PLUGIN_PATH", "/tmp", &err) == LEAT_ERROR_NOT_SUPPORTED);
  EXPECT(api->configure("LEAT_LOG", "error", &err) == LEAT_OK);
  EXPECT(api->configure("LEAT_LOG", "loud", &err) == LEAT_ERROR_INVALID_ARGUMENT);
  /* What is refused leaves what was there. */
  EXPECT(strcmp(described("LEAT_LOG"), "error (host)") == 0);
  EXPECT(api->device->count(&count, &err) == LEAT_OK);
  /* Fixed now; what could never be said is still called that. */
  EXPECT(api->configure("LEAT_LOG", "info", &err) == LEAT_ERROR_BUSY);
  EXPECT(strstr(err.message, "LEAT_LOG") != NULL && strstr(err.message, "shutdown()") != NULL);
  EXPECT(api->configure("LEAT_LOG", NULL, &err) == LEAT_ERROR_BUSY);
  EXPECT(api->configure("LEAT_LOG", "loud", &err) == LEAT_ERROR_INVALID_ARGUMENT);
  EXPECT(api->configure("LEAT_NO_SUCH", "1", &err) == LEAT_ERROR_NOT_SUPPORTED);
  EXPECT(strcmp(described("LEAT_LOG"), "error (host)") == 0);
  EXPECT(api->shutdown(&err) == LEAT_OK);
  EXPECT(strcmp(described("LEAT_LOG"), "error (host)") == 0);
  EXPECT(api->configure("LEAT_LOG", NULL, &err) == LEAT_OK);
  EXPECT(strcmp(described("LEAT_LOG"), "warn (default)") == 0);
  EXPECT(api->device->count(&count, &err) == LEAT_OK);
  EXPECT(api->shutdown(NULL) == LEAT_OK);
  return 0;
}

static void configure_counts_until_devices_are_known(void **state) {
  (void)state;
  assert_int_equal(in_child(configure_at_all_times, NULL), 0);
}

static int configure_with_an_open_device(const void *context) {
  (void)context;
  uint32_t count;
  leat_device *device;
  leat_error err = {.struct_size = sizeof(err)};
  const leat_backend_api *const api = query();
  EXPECT(api != NULL && api->configure("LEAT_LANES", "1", &err) == LEAT_OK);
  EXPECT(api->device->count(&count, &err) == LEAT_OK);
  if (count == 0) {
    return 77;
  }
  EXPECT(api->device->open(0, &device, &err) == LEAT_OK);
  EXPECT(api->configure("LEAT_LANES", "2", &err) == LEAT_ERROR_BUSY);
  EXPECT(api->shutdown(&err) == LEAT_ERROR_BUSY);
  EXPECT(api->configure("LEAT_LANES", "2", &err) == LEAT_ERROR_BUSY);
  EXPECT(api->device->close(device, &err) == LEAT_OK);
  EXPECT(api->configure("LEAT_LANES", "2", &err) == LEAT_ERROR_BUSY);
  EXPECT(api->shutdown(&err) == LEAT_OK);
  EXPECT(api->configure("LEAT_LANES", "2", &err) == LEAT_OK);
  EXPECT(api->configure("LEAT_TUNING", "gemv_rows=3,processors_assumed=7", &err) == LEAT_OK);
  EXPECT(api->device->open(0, &device, &err) == LEAT_OK);
  EXPECT(strcmp(described("LEAT_LANES"), "2 (host)") == 0);
  EXPECT(device->traits.tuning.gemv_rows == 3 && device->traits.tuning.gemm_split_min == LEATI_GEMM_SPLIT_MIN);
  EXPECT(device->physical->processors != 0 || device->traits.processors == 7);
  EXPECT(api->device->close(device, &err) == LEAT_OK);
  return 0;
}

static void an_open_device_keeps_its_settings(void **state) {
  (void)state;
  const int status = in_child(configure_with_an_open_device, NULL);
  if (status == 77) {
    print_message("no usable Vulkan device\n");
    skip();
  }
  assert_int_equal(status, 0);
}

/* ---- Warnings ------------------------------------------------------------------------------------------------------
 */

/* Counts how often `word` is written to stderr while settings are taken three times. */
static int warnings(const char *name, const char *value, const char *level, const char *word) {
  char path[] = "/tmp/leat-config-XXXXXX", text[4096];
  const leati_config *config;
  const int file = mkstemp(path), before = dup(2);
  if (file < 0 || before < 0 || unlink(path) != 0 || setenv(name, value, 1) != 0 || setenv("LEAT_LOG", level, 1) != 0 ||
      dup2(file, 2) != 2) {
    return 100;
  }
  for (int i = 0; i < 3; ++i) {
    (void)leati_config_get(&config, NULL);
  }
  (void)fflush(stderr);
  (void)dup2(before, 2);
  const ssize_t length = pread(file, text, sizeof(text) - 1, 0);
  text[length > 0 ? length : 0] = '\0';
  int found = 0;
  for (const char *at = text; (at = strstr(at, word)) != NULL; ++at) {
    ++found;
  }
  return found;
}

static int not_warned(const void *context) {
  const setting *const s = context;
  EXPECT(warnings(s->name, s->value, s->allowed, "no effect") == 0);
  return 0;
}

static void settings_that_count_are_not_warned_of(void **state) {
  (void)state;
  /* The third word is the level. */
  const setting quiet[] = {{"LEAT_FORCE_GRAPH_PATH", "1", "debug"},
                           {"LEAT_FORCE_DIRECT_PATH", "1", "debug"},
                           {"LEAT_PROFILE", "/nowhere/trace.json", "debug"},
                           {"LEAT_MATRICES", "0", "debug"},
                           {"LEAT_FLOAT32_MATMUL", "fast", "debug"},
                           {"LEAT_TUNING", "gemv_rows=1", "debug"},
                           {"LEAT_LANES", "1", "debug"}};
  for (size_t i = 0; i < sizeof(quiet) / sizeof(*quiet); ++i) {
    assert_int_equal(in_child(not_warned, &quiet[i]), 0);
  }
}

int main(void) {
  /* What the machine has set is none of the tests' business, except which device is used. */
  static const char *const variables[] = {"LEAT_LANES",
                                          "LEAT_WAIT_SPIN_US",
                                          "LEAT_STREAM_POOL_WAIT_TIMEOUT_MS",
                                          "LEAT_STREAM_POLICY",
                                          "LEAT_HIGH_WATERMARK_RATIO",
                                          "LEAT_LOW_WATERMARK_RATIO",
                                          "LEAT_MEMORY_GUARD",
                                          "LEAT_FORCE_GRAPH_PATH",
                                          "FORCE_GRAPH_PATH",
                                          "LEAT_FORCE_DIRECT_PATH",
                                          "LEAT_GRAPH_PLANS_MIB",
                                          "LEAT_MATRICES",
                                          "LEAT_FLOAT32_MATMUL",
                                          "LEAT_TUNING",
                                          "LEAT_LOG",
                                          "LEAT_CACHE_DIR",
                                          "LEAT_PROFILE"};
  for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); ++i) {
    (void)unsetenv(variables[i]);
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(good_values_are_taken),
      cmocka_unit_test(nothing_counts_as_unset),
      cmocka_unit_test(nonsense_is_named),
      cmocka_unit_test(nonsense_in_a_tuning_is_named),
      cmocka_unit_test(tunings_are_taken_one_by_one_and_all_at_once),
      cmocka_unit_test(nonsense_without_prefix_is_named),
      cmocka_unit_test(long_values_are_refused_whole),
      cmocka_unit_test(the_hosts_locale_does_not_matter),
      cmocka_unit_test(ratios_are_read_exactly),
      cmocka_unit_test(contradictions_are_named),
      cmocka_unit_test(the_right_one_wins),
      cmocka_unit_test(pipelines_are_kept_in_the_users_folder),
      cmocka_unit_test(the_environment_is_read_at_the_query),
      cmocka_unit_test(configure_counts_until_devices_are_known),
      cmocka_unit_test(an_open_device_keeps_its_settings),
      cmocka_unit_test(settings_that_count_are_not_warned_of),
  };
  return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
