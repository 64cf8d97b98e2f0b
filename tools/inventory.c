/* SPDX-License-Identifier: BSD-3-Clause */
#include "inventory.h"

#include <dlfcn.h>
#include <string.h>

#define PLUGIN_VARIABLE "LEAT_PLUGIN_PATH"

static void property_free(gpointer data) {
  leati_property *property = data;
  g_free(property->group);
  g_free(property->key);
  g_free(property->value);
  g_free(property);
}

static void device_free(gpointer data) {
  leati_device_entry *device = data;
  g_free(device->name);
  g_free(device->reason);
  g_ptr_array_unref(device->properties);
  g_free(device);
}

static void setting_free(gpointer data) {
  leati_setting *setting = data;
  g_free(setting->name);
  g_free(setting->value);
  g_free(setting->origin);
  g_free(setting->reader);
  g_free(setting);
}

void leati_inventory_free(leati_inventory *inventory) {
  g_free(inventory->reason);
  g_free(inventory->plugin_file);
  g_free(inventory->chosen_reason);
  g_ptr_array_unref(inventory->devices);
  g_ptr_array_unref(inventory->properties);
  g_ptr_array_unref(inventory->settings);
  g_free(inventory);
}

const char *leati_verdict_name(leati_verdict verdict) {
  return verdict == LEATI_VERDICT_USABLE ? "usable" : verdict == LEATI_VERDICT_NONE ? "none" : "unknown";
}

static void conclude(leati_inventory *inventory, leati_verdict verdict, int32_t code, const char *reason) {
  inventory->verdict = verdict;
  inventory->code = code;
  g_free(inventory->reason);
  inventory->reason = reason != NULL && *reason ? g_utf8_make_valid(reason, -1) : NULL;
}

/* Text out of an array of fixed size, whatever is in it. */
static char *text_copy(const char *text, size_t size) {
  return g_utf8_make_valid(text, (gssize)strnlen(text, size));
}

static void setting_add(leati_inventory *inventory, const char *name, const char *value, const char *origin,
                        const char *reader) {
  leati_setting *setting = g_new0(leati_setting, 1);
  setting->name = g_strdup(name);
  setting->value = g_strdup(value);
  setting->origin = g_strdup(origin);
  setting->reader = g_strdup(reader);
  g_ptr_array_add(inventory->settings, setting);
}

/* Takes "VALUE (ORIGIN)" apart. */
static void setting_parse(leati_inventory *inventory, const char *name, const char *text) {
  const char *open = strrchr(text, '(');
  size_t length = strlen(text);
  if (open == NULL || open == text || text[length - 1] != ')') {
    setting_add(inventory, name, text, "unknown", "backend");
    return;
  }
  g_autofree char *value = g_strchomp(g_strndup(text, (gsize)(open - text)));
  g_autofree char *origin = g_strndup(open + 1, (gsize)(text + length - 1 - (open + 1)));
  setting_add(inventory, name, value, origin, "backend");
}

/* The entry for a report's device number: usable ones by index, the others in the order they come. */
static leati_device_entry *device_get(leati_inventory *inventory, GHashTable *by_number, int32_t number) {
  leati_device_entry *device = g_hash_table_lookup(by_number, GINT_TO_POINTER(number));
  if (device == NULL) {
    device = g_new0(leati_device_entry, 1);
    device->properties = g_ptr_array_new_with_free_func(property_free);
    g_ptr_array_add(inventory->devices, device);
    g_hash_table_insert(by_number, GINT_TO_POINTER(number), device);
  }
  return device;
}

static void property_add(leati_inventory *inventory, GHashTable *by_number, const leat_property *given) {
  g_autofree char *name = text_copy(given->name, sizeof(given->name));
  g_autofree char *value = text_copy(given->value, sizeof(given->value));
  leati_device_entry *device = given->device == -1 ? NULL : device_get(inventory, by_number, given->device);
  if (device == NULL && g_str_has_prefix(name, "config.")) {
    setting_parse(inventory, name + strlen("config."), value);
    return;
  }
  if (device == NULL && g_str_equal(name, "chosen.reason")) {
    g_free(inventory->chosen_reason);
    inventory->chosen_reason = g_strdup(value);
    return;
  }
  if (device != NULL && g_str_equal(name, "name")) {
    g_free(device->name);
    device->name = g_strdup(value);
  } else if (device != NULL && g_str_equal(name, "reason")) {
    g_free(device->reason);
    device->reason = g_strdup(value);
  }
  leati_property *property = g_new0(leati_property, 1);
  const char *dot = strchr(name, '.');
  property->group = dot != NULL ? g_strndup(name, (gsize)(dot - name)) : g_strdup("");
  property->key = g_strdup(dot != NULL ? dot + 1 : name);
  property->value = g_steal_pointer(&value);
  g_ptr_array_add(device != NULL ? device->properties : inventory->properties, property);
}

/* Reads report(), with room that grows until it is enough: the number of properties may change between two calls. */
static void report_read(leati_inventory *inventory, GHashTable *by_number) {
  for (uint32_t capacity = 256;; capacity *= 2) {
    g_autofree leat_property *given = g_new0(leat_property, capacity);
    for (uint32_t i = 0; i < capacity; ++i) {
      given[i].struct_size = sizeof(*given);
    }
    leat_error err = {.struct_size = sizeof(err)};
    uint32_t count = capacity;
    if (inventory->api->device->report(&count, given, &err)) {
      if (inventory->verdict == LEATI_VERDICT_USABLE) {
        conclude(inventory, LEATI_VERDICT_UNKNOWN, err.code, err.message);
      }
      return;
    }
    if (count > capacity && capacity < 1u << 16) {
      continue;
    }
    for (uint32_t i = 0; i < MIN(count, capacity); ++i) {
      property_add(inventory, by_number, &given[i]);
    }
    return;
  }
}

/* Opens the first device and closes it again: only that shows that it can be used. */
static void device_try(leati_inventory *inventory) {
  leat_error err = {.struct_size = sizeof(err)};
  leat_device *device = NULL;
  int32_t status = inventory->api->device->open(0, &device, &err);
  if (status == LEAT_OK) {
    status = inventory->api->device->close(device, &err);
  }
  if (status) {
    g_autofree char *reason = g_strdup_printf("device 0 cannot be opened: %s", err.message);
    conclude(inventory, LEATI_VERDICT_NONE, status, reason);
  }
}

static void devices_read(leati_inventory *inventory) {
  g_autoptr(GHashTable) by_number = g_hash_table_new(g_direct_hash, g_direct_equal);
  const leat_device_api *api = inventory->api->device;
  leat_error err = {.struct_size = sizeof(err)};
  uint32_t count = 0;
  int32_t status = api->count(&count, &err);
  if (status) {
    conclude(inventory, status == LEAT_ERROR_UNAVAILABLE ? LEATI_VERDICT_NONE : LEATI_VERDICT_UNKNOWN, status,
             err.message);
    count = 0;
  } else if (count == 0) {
    conclude(inventory, LEATI_VERDICT_NONE, LEAT_ERROR_UNAVAILABLE, err.message);
  } else {
    conclude(inventory, LEATI_VERDICT_USABLE, LEAT_OK, NULL);
  }
  for (uint32_t i = 0; i < count; ++i) {
    leat_device_info info = {.struct_size = sizeof(info)};
    if ((status = api->info(i, &info, &err)) != LEAT_OK) {
      conclude(inventory, LEATI_VERDICT_UNKNOWN, status, err.message);
      return;
    }
    leati_device_entry *device = device_get(inventory, by_number, (int32_t)i);
    device->info = info;
    device->usable = TRUE;
    device->name = text_copy(info.name, sizeof(info.name));
  }
  report_read(inventory, by_number);
  if (inventory->verdict == LEATI_VERDICT_USABLE) {
    device_try(inventory);
  }
}

/* The variable that says where the backend is, and where it was found. It is read before there is a backend that could
 * report it. */
static void loader_setting_add(leati_inventory *inventory, const char *plugin) {
  const char *variable = g_getenv(PLUGIN_VARIABLE);
  const char *value = inventory->plugin_file, *origin = "default";
  if (plugin != NULL) {
    value = plugin;
    origin = "option";
  } else if (variable != NULL && *variable) {
    value = variable;
    origin = "environment";
  } else if (value == NULL) {
    value = "beside the loader, else the install folder";
  }
  setting_add(inventory, PLUGIN_VARIABLE, value, origin, "loader");
}

leati_inventory *leati_inventory_new(const char *plugin) {
  leati_inventory *inventory = g_new0(leati_inventory, 1);
  inventory->devices = g_ptr_array_new_with_free_func(device_free);
  inventory->properties = g_ptr_array_new_with_free_func(property_free);
  inventory->settings = g_ptr_array_new_with_free_func(setting_free);

  leat_error err = {.struct_size = sizeof(err)};
  const int32_t status = leat_host_load(plugin, &inventory->api, &err);
  if (status) {
    loader_setting_add(inventory, plugin);
    conclude(inventory, LEATI_VERDICT_UNKNOWN, status, err.message);
  } else {
    Dl_info file;
    void *address;
    memcpy(&address, &inventory->api->device->count, sizeof(address));
    inventory->plugin_file = g_strdup(dladdr(address, &file) && file.dli_fname != NULL ? file.dli_fname : "unknown");
    loader_setting_add(inventory, plugin);
    if (inventory->api->op->count(&inventory->operator_count, NULL)) {
      inventory->operator_count = 0;
    }
    devices_read(inventory);
  }
  return inventory;
}
