/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * leat-info: which devices there are, what they can do, which one is used and why, and which settings are in effect.
 */
#include <glib.h>
#include <json-glib/json-glib.h>
#include <leat_build_id.h>
#include <stdio.h>
#include <string.h>

#include "inventory.h"
#include "operators.h"
#include "output.h"
#include "tuning_value.h"
#include "words.h"

#define KEY_WIDTH 18 /* columns of the part before the value */

/* ---- Text -------------------------------------------------------------------------------------------------------- */

static const struct {
  const char *group;
  const char *title;
} titles[] = {{"memory", "Memory"},
              {"queue", "Queues"},
              {"features", "Features"},
              {"vulkan", "Vulkan"},
              {"tuning", "Tuning, where it is not as it is by itself"}};

static const char *group_title(const char *group) {
  for (size_t i = 0; i < G_N_ELEMENTS(titles); ++i) {
    if (g_str_equal(titles[i].group, group)) {
      return titles[i].title;
    }
  }
  return group;
}

/* Appends "  key   value", with the value broken between words where it does not fit. */
static void line_add(GString *out, guint indent, const char *key, const char *value) {
  const guint start = indent + KEY_WIDTH;
  g_string_append_printf(out, "%*s%-*s", (int)indent, "", KEY_WIDTH - 1, key);
  const glong column = (glong)indent + MAX(KEY_WIDTH - 1, g_utf8_strlen(key, -1));
  leati_words_append(out, column, start, value);
}

/* A number of bytes as people read it; other text as it is. */
static char *bytes_readable(const char *value) {
  char *end;
  const guint64 bytes = g_ascii_strtoull(value, &end, 10);
  if (end == value || !g_ascii_isdigit(value[0]) || bytes < 1024) {
    return g_strdup(value);
  }
  const char *rest = g_str_has_prefix(end, " bytes") ? end + strlen(" bytes") : end;
  if (*rest && *rest != ',') {
    return g_strdup(value);
  }
  g_autofree char *spaced = g_format_size_full(bytes, G_FORMAT_SIZE_IEC_UNITS);
  /* GLib puts a no-break space before the unit, which a plain terminal cannot show. */
  g_auto(GStrv) parts = g_strsplit(spaced, "\xc2\xa0", -1);
  g_autofree char *size = g_strjoinv(" ", parts);
  return g_strdup_printf("%s%s", size, rest);
}

static gboolean one_of(const char *text, const char *const *list) {
  return g_strv_contains(list, text);
}

/* Whether nobody wants to read of it: the many constants by which kernels are cut, unless one was set. */
static gboolean is_usual(const leati_property *property) {
  leati_tuning_value tuning;
  return g_str_equal(property->group, "tuning") && leati_tuning_value_read(property->value, &tuning) &&
         tuning.value == tuning.standard;
}

/* Appends properties, those of a group together under its title, in the order in which groups first appear. */
static void properties_add(GString *out, guint indent, const GPtrArray *properties, const char *const *skip) {
  g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
  for (guint i = 0; i < properties->len; ++i) {
    const char *group = ((leati_property *)properties->pdata[i])->group;
    if (is_usual(properties->pdata[i]) || !g_hash_table_add(seen, (gpointer)group)) {
      continue;
    }
    const gboolean titled = *group != '\0';
    if (titled) {
      g_string_append_printf(out, "%*s%s\n", (int)indent, "", group_title(group));
    }
    for (guint j = i; j < properties->len; ++j) {
      const leati_property *property = properties->pdata[j];
      if (!g_str_equal(property->group, group) || is_usual(property) || (!titled && one_of(property->key, skip))) {
        continue;
      }
      g_autofree char *value =
          g_str_equal(group, "memory") ? bytes_readable(property->value) : g_strdup(property->value);
      /* "queue.family.3" is "family 3" under its title. */
      g_autofree char *key = g_strdelimit(g_strdup(property->key), ".", ' ');
      line_add(out, indent + (titled ? 2 : 0), key, *value ? value : "none");
    }
  }
}

static void device_add(GString *out, const leati_inventory *inventory, const leati_device_entry *device) {
  static const char *const skip[] = {"name", "reason", "usable", NULL};
  const char *name = device->name != NULL ? device->name : "unnamed";
  if (device->usable) {
    g_string_append_printf(out, "\nDevice %u: %s\n", device->info.index, name);
    if (device->info.index == 0) {
      line_add(out, 2, "chosen", inventory->chosen_reason != NULL ? inventory->chosen_reason : "the first one");
    }
  } else {
    g_string_append_printf(out, "\nUnusable device: %s\n", name);
    line_add(out, 2, "reason", device->reason != NULL ? device->reason : "not given");
  }
  properties_add(out, 2, device->properties, skip);
}

static char *text_report(const leati_inventory *inventory) {
  static const char *const skip[] = {"chosen", "reason", NULL};
  GString *out = g_string_new(NULL);
  g_string_append_printf(out, "leat-info %s, build %s\n\n", LEAT_VERSION, LEAT_BUILD_ID);
  const leat_backend_api *api = inventory->api;
  if (api != NULL) {
    g_autofree char *about =
        g_strdup_printf("%s %s, build %s, ABI %u.%u, %u operator entries", api->name, api->version, api->build_id,
                        LEAT_ABI_MAJOR(api->abi_version), LEAT_ABI_MINOR(api->abi_version), inventory->operator_count);
    line_add(out, 0, "Backend", about);
    line_add(out, 0, "Library", inventory->plugin_file);
  }
  properties_add(out, 0, inventory->properties, skip);
  for (guint i = 0; i < inventory->devices->len; ++i) {
    device_add(out, inventory, inventory->devices->pdata[i]);
  }
  g_string_append(out, api != NULL || inventory->devices->len ? "\nSettings\n" : "Settings\n");
  for (guint i = 0; i < inventory->settings->len; ++i) {
    const leati_setting *setting = inventory->settings->pdata[i];
    g_string_append_printf(out, "  %-34s %s (%s; read by the %s)\n", setting->name,
                           *setting->value ? setting->value : "none", setting->origin, setting->reader);
  }
  g_string_append_c(out, '\n');
  return g_string_free(out, FALSE);
}

/* The verdict in one line, without its end. */
static char *verdict_text(const leati_inventory *inventory) {
  const char *reason = inventory->reason != NULL ? inventory->reason : "no reason given";
  if (inventory->verdict == LEATI_VERDICT_USABLE) {
    const leati_device_entry *device = inventory->devices->pdata[0];
    return g_strdup_printf("usable: device 0, %s", device->name);
  }
  return g_strdup_printf(inventory->verdict == LEATI_VERDICT_NONE ? "no usable device: %s" : "cannot tell: %s", reason);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void member_string(JsonBuilder *json, const char *name, const char *value) {
  json_builder_set_member_name(json, name);
  if (value != NULL) {
    json_builder_add_string_value(json, value);
  } else {
    json_builder_add_null_value(json);
  }
}

static void member_number(JsonBuilder *json, const char *name, uint64_t value) {
  json_builder_set_member_name(json, name);
  json_builder_add_int_value(json, (gint64)MIN(value, (uint64_t)G_MAXINT64));
}

static void member_flag(JsonBuilder *json, const char *name, gboolean value) {
  json_builder_set_member_name(json, name);
  json_builder_add_boolean_value(json, value);
}

static void json_properties(JsonBuilder *json, const GPtrArray *properties) {
  json_builder_set_member_name(json, "properties");
  json_builder_begin_object(json);
  for (guint i = 0; i < properties->len; ++i) {
    const leati_property *property = properties->pdata[i];
    g_autofree char *name = g_strdup_printf("%s%s%s", property->group, *property->group ? "." : "", property->key);
    member_string(json, name, property->value);
  }
  json_builder_end_object(json);
}

static void json_device(JsonBuilder *json, const leati_device_entry *device) {
  const leat_device_info *info = &device->info;
  json_builder_begin_object(json);
  member_string(json, "name", device->name);
  member_flag(json, "usable", device->usable);
  if (device->usable) {
    g_autofree char *driver = g_strndup(info->driver, sizeof(info->driver));
    g_autofree char *bus = g_strndup(info->pci_bus_id, sizeof(info->pci_bus_id));
    GString *uuid = g_string_new(NULL);
    for (size_t i = 0; i < sizeof(info->uuid); ++i) {
      g_string_append_printf(uuid, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", info->uuid[i]);
    }
    member_number(json, "index", info->index);
    member_flag(json, "chosen", info->index == 0);
    member_string(json, "driver", driver);
    member_string(json, "uuid", uuid->str);
    member_string(json, "pci_bus_id", *bus ? bus : NULL);
    member_number(json, "vendor_id", info->vendor_id);
    member_number(json, "device_id", info->device_id);
    member_flag(json, "software", (info->flags & LEAT_DEVICE_SOFTWARE) != 0);
    member_flag(json, "unified_memory", (info->flags & LEAT_DEVICE_UNIFIED_MEMORY) != 0);
    member_number(json, "memory_size", info->memory_size);
    member_number(json, "max_allocation_size", info->max_allocation_size);
    g_string_free(uuid, TRUE);
  } else {
    member_string(json, "reason", device->reason);
  }
  json_properties(json, device->properties);
  json_builder_end_object(json);
}

/* Members that say which backend it is. */
static void json_identity(JsonBuilder *json, const leat_backend_api *api) {
  g_autofree char *abi = g_strdup_printf("%u.%u", LEAT_ABI_MAJOR(api->abi_version), LEAT_ABI_MINOR(api->abi_version));
  g_autofree char *header =
      g_strdup_printf("%u.%u", LEAT_ABI_MAJOR(api->header_version), LEAT_ABI_MINOR(api->header_version));
  member_string(json, "name", api->name);
  member_string(json, "version", api->version);
  member_string(json, "build_id", api->build_id);
  member_string(json, "abi_version", abi);
  member_string(json, "header_version", header);
}

static void json_backend(JsonBuilder *json, const leati_inventory *inventory) {
  json_builder_set_member_name(json, "backend");
  const leat_backend_api *api = inventory->api;
  if (api == NULL) {
    json_builder_add_null_value(json);
    return;
  }
  json_builder_begin_object(json);
  member_string(json, "file", inventory->plugin_file);
  json_identity(json, api);
  member_flag(json, "event_timing", (api->capabilities & LEAT_CAPABILITY_EVENT_TIMING) != 0);
  member_flag(json, "host_memory", (api->capabilities & LEAT_CAPABILITY_HOST_MEMORY) != 0);
  member_number(json, "operator_count", inventory->operator_count);
  json_builder_end_object(json);
}

/* The root of what was built, as text. */
static char *json_text(JsonBuilder *json) {
  g_autoptr(JsonNode) root = json_builder_get_root(json);
  return json_to_string(root, TRUE);
}

static char *json_report(const leati_inventory *inventory, const GPtrArray *unread) {
  g_autoptr(JsonBuilder) json = json_builder_new();
  json_builder_begin_object(json);
  member_string(json, "version", LEAT_VERSION);
  member_string(json, "build_id", LEAT_BUILD_ID);
  member_string(json, "verdict", leati_verdict_name(inventory->verdict));
  member_string(json, "status", leat_host_status_name(inventory->code));
  member_string(json, "reason", inventory->reason);
  json_backend(json, inventory);
  json_builder_set_member_name(json, "system");
  json_builder_begin_object(json);
  member_string(json, "chosen_reason", inventory->chosen_reason);
  json_properties(json, inventory->properties);
  json_builder_end_object(json);
  json_builder_set_member_name(json, "devices");
  json_builder_begin_array(json);
  for (guint i = 0; i < inventory->devices->len; ++i) {
    json_device(json, inventory->devices->pdata[i]);
  }
  json_builder_end_array(json);
  json_builder_set_member_name(json, "settings");
  json_builder_begin_object(json);
  for (guint i = 0; i < inventory->settings->len; ++i) {
    const leati_setting *setting = inventory->settings->pdata[i];
    json_builder_set_member_name(json, setting->name);
    json_builder_begin_object(json);
    member_string(json, "value", setting->value);
    member_string(json, "origin", setting->origin);
    member_string(json, "reader", setting->reader);
    json_builder_end_object(json);
  }
  json_builder_end_object(json);
  json_builder_set_member_name(json, "unread_variables");
  json_builder_begin_array(json);
  for (guint i = 0; i < unread->len; ++i) {
    json_builder_add_string_value(json, unread->pdata[i]);
  }
  json_builder_end_array(json);
  json_builder_end_object(json);
  return json_text(json);
}

/* ---- Variables that nobody reads --------------------------------------------------------------------------------- */

static gboolean is_setting(const leati_inventory *inventory, const char *name) {
  for (guint i = 0; i < inventory->settings->len; ++i) {
    if (g_str_equal(((leati_setting *)inventory->settings->pdata[i])->name, name)) {
      return TRUE;
    }
  }
  return FALSE;
}

/* Names of LEAT_ variables that are set and that nobody reads: typing mistakes. None where the backend has not said
 * what it reads. */
static GPtrArray *unread_new(const leati_inventory *inventory, char **environment) {
  /* What ./dev and the tests read. */
  static const char *const others[] = {"LEAT_CI_BASE",
                                       "LEAT_DEPS_DIR",
                                       "LEAT_LIFE_ROUNDS",
                                       "LEAT_TESTS_ALLOW_MISMATCH",
                                       "LEAT_TEST_BATCH_ROUNDS",
                                       "LEAT_TEST_ORT_LIBRARY",
                                       "LEAT_TEST_ORT_LOG",
                                       "LEAT_TEST_ORT_PROVIDER",
                                       NULL};
  GPtrArray *unread = g_ptr_array_new_with_free_func(g_free);
  gboolean told = FALSE;
  for (guint i = 0; i < inventory->settings->len; ++i) {
    told = told || g_str_equal(((leati_setting *)inventory->settings->pdata[i])->reader, "backend");
  }
  for (char **entry = environment; told && *entry != NULL; ++entry) {
    g_autofree char *name = g_strndup(*entry, strcspn(*entry, "="));
    if (g_str_has_prefix(name, "LEAT_") && !is_setting(inventory, name) && !one_of(name, others)) {
      g_ptr_array_add(unread, g_utf8_make_valid(name, -1));
    }
  }
  return unread;
}

/* ---- Program ----------------------------------------------------------------------------------------------------- */

typedef struct options {
  gboolean check, json, operators, version;
  char *plugin;
} options;

/* Reads the command line; FALSE after a message about what is wrong with it. */
static gboolean options_parse(options *out, int *argc, char ***argv) {
  const GOptionEntry entries[] = {
      {"check", 0, 0, G_OPTION_ARG_NONE, &out->check, "Print one line only", NULL},
      {"json", 0, 0, G_OPTION_ARG_NONE, &out->json, "Print JSON", NULL},
      {"operators", 0, 0, G_OPTION_ARG_NONE, &out->operators,
       "List the backend's operators instead, which takes no device", NULL},
      {"plugin", 0, 0, G_OPTION_ARG_FILENAME, &out->plugin, "Ask this backend instead of the installed one", "PATH"},
      {"version", 0, 0, G_OPTION_ARG_NONE, &out->version, "Print version and build, and leave", NULL},
      {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
  g_autoptr(GOptionContext) context = g_option_context_new(NULL);
  g_option_context_set_summary(
      context,
      "Shows the devices that Leat can use, their queues, memory and features, why others are not usable, and "
      "the settings in effect.");
  g_option_context_set_description(
      context,
      "Of an operator --operators prints the versions of ONNX's definition that it is for (the specification's \"since "
      "version\", not a model's operator set), its element types by the specification's type constraints, and which "
      "inputs and outputs lie on the host: such an input has to be a constant, or computed there. With --json also "
      "how many inputs and outputs there are (null: as many as one likes), and the attributes that are read.\n\n"
      "Exit status: 0 a device is usable, or operators are listed, 1 none is, 2 it cannot be told (a bad option or "
      "setting, a backend that does not load, a report that cannot be written).\n");
  g_option_context_add_main_entries(context, entries, NULL);
  g_autoptr(GError) error = NULL;
  if (!g_option_context_parse(context, argc, argv, &error)) {
    g_printerr("leat-info: %s; see leat-info --help\n", error->message);
    return FALSE;
  }
  if (*argc > 1) {
    g_printerr("leat-info: unexpected argument \"%s\"; it takes options only, see leat-info --help\n", (*argv)[1]);
    return FALSE;
  }
  if (out->check && out->json) {
    g_printerr("leat-info: --check and --json do not go together: the JSON report has the verdict, too\n");
    return FALSE;
  }
  if (out->check && out->operators) {
    g_printerr("leat-info: --check and --operators do not go together: the list has no verdict\n");
    return FALSE;
  }
  return TRUE;
}

/* What --operators prints; the exit status. */
static int operators_print(const options *given) {
  const leat_backend_api *api;
  leat_error err = {.struct_size = sizeof(err)};
  if (leat_host_load(given->plugin, &api, &err)) {
    g_printerr("leat-info: cannot tell: %s\n", err.message);
    return LEATI_VERDICT_UNKNOWN;
  }
  g_autoptr(GPtrArray) operators = leati_operators_new(api, &err);
  if (operators == NULL) {
    g_printerr("leat-info: the operator list cannot be read: %s\n", err.message);
  } else if (given->json) {
    g_autoptr(JsonBuilder) json = json_builder_new();
    json_builder_begin_object(json);
    json_builder_set_member_name(json, "backend");
    json_builder_begin_object(json);
    json_identity(json, api);
    json_builder_end_object(json);
    leati_operators_json(operators, json);
    json_builder_end_object(json);
    g_autofree char *report = json_text(json);
    g_print("%s\n", report);
  } else {
    g_autofree char *report = leati_operators_text(operators);
    g_print("%s", report);
  }
  (void)api->shutdown(NULL);
  return operators != NULL ? 0 : LEATI_VERDICT_UNKNOWN;
}

int main(int argc, char **argv) {
  options given = {.plugin = NULL};
  leati_output_guard("leat-info", LEATI_VERDICT_UNKNOWN);
  if (!options_parse(&given, &argc, &argv)) {
    g_free(given.plugin);
    return LEATI_VERDICT_UNKNOWN;
  }
  if (given.version) {
    g_print("leat-info %s, build %s, ABI %u.%u\n", LEAT_VERSION, LEAT_BUILD_ID, LEAT_ABI_MAJOR(LEAT_ABI_CURRENT),
            LEAT_ABI_MINOR(LEAT_ABI_CURRENT));
    g_free(given.plugin);
    return 0;
  }
  if (given.operators) {
    const int status = operators_print(&given);
    g_free(given.plugin);
    return status;
  }
  leati_inventory *inventory = leati_inventory_new(given.plugin);
  g_free(given.plugin);
  g_autofree char *verdict = verdict_text(inventory);
  g_auto(GStrv) environment = g_get_environ();
  g_autoptr(GPtrArray) unread = unread_new(inventory, environment);
  if (given.json) {
    g_autofree char *report = json_report(inventory, unread);
    g_print("%s\n", report);
  } else if (given.check) {
    g_print("%s\n", verdict);
  } else {
    g_autofree char *report = text_report(inventory);
    g_print("%s", report);
    if (inventory->verdict == LEATI_VERDICT_USABLE) {
      g_print("%s\n", verdict);
    }
  }
  if (!given.check && inventory->verdict != LEATI_VERDICT_USABLE) {
    g_printerr("leat-info: %s\n", verdict);
  }
  for (guint i = 0; i < unread->len; ++i) {
    g_printerr("leat-info: warning: nothing reads %s; leat-info lists all settings that there are\n",
               (const char *)unread->pdata[i]);
  }
  const leati_verdict result = inventory->verdict;
  if (inventory->api != NULL) {
    (void)inventory->api->shutdown(NULL);
  }
  leati_inventory_free(inventory);
  return (int)result;
}
