/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Cases about leat_backend_api::configure(). Which settings there are is the plugin's affair: the cases take those that
 * its report lists, and values that may or may not suit them.
 */
#include <string.h>

#include "cases/sources.h"
#include "fixture.h"

#define SETTING_PREFIX "config."
#define UNKNOWN_SETTING "LEAT_CONFORMANCE_NO_SUCH_SETTING"

/* Reads the report; the plugin knows its devices then. Gives texts by setting. */
static GHashTable *settings_read(leat_case_context *ctx) {
  GHashTable *settings = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  uint32_t count = 0;
  LEAT_CHECK_OK(ctx, ctx->device->report(&count, NULL, LEAT_ERR));
  uint32_t capacity = count;
  leat_property *properties = g_new0(leat_property, MAX(capacity, 1));
  for (uint32_t i = 0; i < capacity; ++i) {
    properties[i].struct_size = sizeof(properties[i]);
  }
  LEAT_CHECK_OK(ctx, ctx->device->report(&count, properties, LEAT_ERR));
  for (uint32_t i = 0; i < MIN(count, capacity); ++i) {
    if (properties[i].device == -1 && g_str_has_prefix(properties[i].name, SETTING_PREFIX)) {
      g_hash_table_insert(settings, g_strdup(properties[i].name + strlen(SETTING_PREFIX)),
                          g_strdup(properties[i].value));
    }
  }
  g_free(properties);
  return settings;
}

/* The settings that the plugin has, after which it may be configured again; ends the case where there are none. */
static GHashTable *settings_or_skip(leat_case_context *ctx) {
  GHashTable *settings = settings_read(ctx);
  if (g_hash_table_size(settings) == 0) {
    leati_case_skip(ctx, "the report lists no \"" SETTING_PREFIX "\" property: there are no settings");
  }
  LEAT_CHECK_OK(ctx, ctx->api->shutdown(LEAT_ERR));
  return settings;
}

static void unknown(leat_case_context *ctx, const void *data) {
  (void)data;
  uint32_t count;
  leat_error err = {.struct_size = sizeof(err)};
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_NOT_SUPPORTED, ctx->api->configure(UNKNOWN_SETTING, "1", LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_NOT_SUPPORTED, ctx->api->configure(UNKNOWN_SETTING, NULL, LEAT_ERR));
  LEAT_CHECK(ctx, ctx->api->configure(UNKNOWN_SETTING, "1", &err) == LEAT_ERROR_NOT_SUPPORTED);
  LEAT_CHECK_MESSAGE(ctx, err.message[0] != '\0', "the refusal has no message");
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_NOT_SUPPORTED, ctx->api->configure("", "1", LEAT_ERR));
  /* Later it is too late as well, and either may be said. */
  LEAT_CHECK_OK(ctx, ctx->device->count(&count, LEAT_ERR));
  LEAT_CHECK_EITHER(ctx, LEAT_ERROR_NOT_SUPPORTED, LEAT_ERROR_BUSY,
                    ctx->api->configure(UNKNOWN_SETTING, "1", LEAT_ERR));
}

static void null_name(leat_case_context *ctx, const void *data) {
  (void)data;
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->api->configure(NULL, "1", LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, ctx->api->configure(NULL, NULL, LEAT_ERR));
}

static void busy(leat_case_context *ctx, const void *data) {
  (void)data;
  GHashTable *settings = settings_or_skip(ctx);
  GHashTableIter each;
  gpointer name;
  uint32_t count;
  for (int round = 0; round < 2; ++round) {
    LEAT_CHECK_OK(ctx, ctx->device->count(&count, LEAT_ERR));
    g_hash_table_iter_init(&each, settings);
    while (g_hash_table_iter_next(&each, &name, NULL)) {
      LEAT_CHECK_STATUS(ctx, LEAT_ERROR_BUSY, ctx->api->configure(name, NULL, LEAT_ERR));
    }
    LEAT_CHECK_OK(ctx, ctx->api->shutdown(LEAT_ERR));
    g_hash_table_iter_init(&each, settings);
    while (g_hash_table_iter_next(&each, &name, NULL)) {
      LEAT_CHECK_OK(ctx, ctx->api->configure(name, NULL, LEAT_ERR));
    }
  }
  g_hash_table_unref(settings);
}

static void odd_values(leat_case_context *ctx, const void *data) {
  (void)data;
  GHashTable *settings = settings_or_skip(ctx);
  GHashTableIter each;
  gpointer name;
  uint32_t count;
  char *endless = g_strnfill(70000, '1');
  const char *const values[] = {"",     "0",   "1",        "-1", "0.5",  "0,5", " 1",   "1 ", "0x1",
                                "nan",  "inf", "nonsense", "\n", "%s%n", "1e9", "\xff", "-",  "99999999999999999999",
                                endless};
  g_hash_table_iter_init(&each, settings);
  while (g_hash_table_iter_next(&each, &name, NULL)) {
    for (size_t i = 0; i < G_N_ELEMENTS(values); ++i) {
      LEAT_CHECK_EITHER(ctx, LEAT_OK, LEAT_ERROR_INVALID_ARGUMENT, ctx->api->configure(name, values[i], LEAT_ERR));
    }
    LEAT_CHECK_OK(ctx, ctx->api->configure(name, NULL, LEAT_ERR));
  }
  /* Nothing of it is left. */
  LEAT_CHECK_OK(ctx, ctx->device->count(&count, LEAT_ERR));
  g_free(endless);
  g_hash_table_unref(settings);
}

/* Sets one setting to one value, and follows it through shutdown() until it is taken back. Gives what the report says
 * of it in between, or NULL: the setting, or the plugin with the rest of its settings, does not take the value. */
static char *follow(leat_case_context *ctx, const char *name, const char *value, const char *original) {
  leat_error err = {.struct_size = sizeof(err)};
  uint32_t count;
  char *set = NULL;
  if (ctx->api->configure(name, value, &err) == LEAT_OK && ctx->device->count(&count, &err) == LEAT_OK) {
    GHashTable *once = settings_read(ctx);
    set = g_strdup(g_hash_table_lookup(once, name));
    LEAT_CHECK_MESSAGE(ctx, set != NULL, "%s is not in the report any more", name);
    LEAT_CHECK_OK(ctx, ctx->api->shutdown(LEAT_ERR));
    GHashTable *again = settings_read(ctx);
    LEAT_CHECK_MESSAGE(ctx, g_strcmp0(set, g_hash_table_lookup(again, name)) == 0,
                       "%s was \"%s\", and is another after shutdown()", name, set);
    g_hash_table_unref(again);
    g_hash_table_unref(once);
  }
  LEAT_CHECK_OK(ctx, ctx->api->shutdown(LEAT_ERR));
  LEAT_CHECK_OK(ctx, ctx->api->configure(name, NULL, LEAT_ERR));
  GHashTable *back = settings_read(ctx);
  LEAT_CHECK_MESSAGE(ctx, g_strcmp0(original, g_hash_table_lookup(back, name)) == 0,
                     "%s was \"%s\" at first, and NULL does not bring that back", name, original);
  g_hash_table_unref(back);
  LEAT_CHECK_OK(ctx, ctx->api->shutdown(LEAT_ERR));
  return set;
}

static void survives(leat_case_context *ctx, const void *data) {
  (void)data;
  GHashTable *settings = settings_or_skip(ctx);
  GHashTableIter each;
  gpointer name, original;
  g_hash_table_iter_init(&each, settings);
  while (g_hash_table_iter_next(&each, &name, &original)) {
    char *one = follow(ctx, name, "1", original);
    char *two = follow(ctx, name, "2", original);
    LEAT_CHECK_MESSAGE(ctx, one == NULL || two == NULL || strcmp(one, two) != 0,
                       "%s takes \"1\" and \"2\", and the report says \"%s\" both times", (const char *)name, one);
    g_free(one);
    g_free(two);
  }
  g_hash_table_unref(settings);
}

static void configure_thread(leat_case_context *ctx, uint32_t index, void *data) {
  GPtrArray *names = data;
  for (guint i = 0; i < 40 * names->len; ++i) {
    const char *name = names->pdata[(i + index) % names->len];
    LEAT_CHECK_EITHER(ctx, LEAT_OK, LEAT_ERROR_INVALID_ARGUMENT,
                      ctx->api->configure(name, (i + index) % 3 == 0 ? NULL : "1", LEAT_ERR));
  }
}

static void threads(leat_case_context *ctx, const void *data) {
  (void)data;
  GHashTable *settings = settings_or_skip(ctx);
  GPtrArray *names = g_ptr_array_new();
  GHashTableIter each;
  gpointer name, original;
  g_hash_table_iter_init(&each, settings);
  while (g_hash_table_iter_next(&each, &name, NULL)) {
    g_ptr_array_add(names, name);
  }
  leati_threads_run(ctx, 8, configure_thread, names);
  for (guint i = 0; i < names->len; ++i) {
    LEAT_CHECK_OK(ctx, ctx->api->configure(names->pdata[i], NULL, LEAT_ERR));
  }
  GHashTable *back = settings_read(ctx);
  g_hash_table_iter_init(&each, settings);
  while (g_hash_table_iter_next(&each, &name, &original)) {
    LEAT_CHECK_MESSAGE(ctx, g_strcmp0(original, g_hash_table_lookup(back, name)) == 0,
                       "%s was \"%s\" at first, and NULL does not bring that back", (const char *)name,
                       (const char *)original);
  }
  g_hash_table_unref(back);
  g_ptr_array_unref(names);
  g_hash_table_unref(settings);
}

/* Each in a process where no device was looked for. */
#define EARLY (LEAT_CASE_WITHOUT_DEVICE | LEAT_CASE_ALONE)

static const leat_case cases[] = {
    {.name = "backend.configure.unknown_setting_is_not_supported",
     .summary = "A setting that there is not is refused.",
     .flags = EARLY,
     .run = unknown},
    {.name = "backend.configure.null_name_is_invalid",
     .summary = "NULL for the name is invalid.",
     .flags = EARLY,
     .run = null_name},
    {.name = "backend.configure.is_busy_once_devices_were_counted",
     .summary = "Settings are fixed from the first count of devices until shutdown().",
     .flags = EARLY,
     .run = busy},
    {.name = "backend.configure.odd_values_are_taken_or_invalid",
     .summary = "Whatever a value holds, it is taken or refused as invalid, and NULL takes it back.",
     .flags = EARLY,
     .run = odd_values},
    {.name = "backend.configure.survives_shutdown_until_taken_back",
     .summary = "What was set is in the report, also after shutdown(); NULL brings back what was there before.",
     .flags = EARLY,
     .run = survives},
    {.name = "backend.configure.eight_threads_at_once",
     .summary = "Threads that configure at once each get their answer, and NULL brings back what was there before.",
     .flags = EARLY,
     .run = threads},
};

void leati_cases_configure(leat_case_list *list) {
  leati_case_list_add(list, cases, G_N_ELEMENTS(cases));
}
