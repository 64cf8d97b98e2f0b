/* SPDX-License-Identifier: BSD-3-Clause */
#include "plugin.h"

#include <dlfcn.h>
#include <string.h>

#include "file.h"

/* A slot that ABI 1.0 requires. Function pointers of different types cannot share an array, hence the offset: the slot
 * is read as raw bytes, and only to see whether it is NULL. */
typedef struct {
  const char *name;
  size_t offset;
} required_slot;

#define SLOT(type, slot) \
  { #slot, offsetof(type, slot) }

static const required_slot device_slots[] = {
    SLOT(leat_device_api, count), SLOT(leat_device_api, info),  SLOT(leat_device_api, report),
    SLOT(leat_device_api, open),  SLOT(leat_device_api, close), SLOT(leat_device_api, synchronize),
};
/* alloc_host() and free_host() are optional. */
static const required_slot memory_slots[] = {
    SLOT(leat_memory_api, alloc),
    SLOT(leat_memory_api, free),
    SLOT(leat_memory_api, record_stream),
    SLOT(leat_memory_api, copy),
    SLOT(leat_memory_api, find),
    SLOT(leat_memory_api, stats),
    SLOT(leat_memory_api, classes),
    SLOT(leat_memory_api, reset_peaks),
    SLOT(leat_memory_api, trim),
    SLOT(leat_memory_api, export_dlpack),
    SLOT(leat_memory_api, import_dlpack),
    SLOT(leat_memory_api, export_dlpack_unversioned),
    SLOT(leat_memory_api, import_dlpack_unversioned),
};
static const required_slot stream_slots[] = {
    SLOT(leat_stream_api, create), SLOT(leat_stream_api, destroy),     SLOT(leat_stream_api, flush),
    SLOT(leat_stream_api, query),  SLOT(leat_stream_api, synchronize), SLOT(leat_stream_api, wait_event),
    SLOT(leat_stream_api, error),  SLOT(leat_stream_api, clear_error), SLOT(leat_stream_api, info),
};
/* elapsed() and export_sync_fd() are optional. */
static const required_slot event_slots[] = {
    SLOT(leat_event_api, create), SLOT(leat_event_api, destroy), SLOT(leat_event_api, record),
    SLOT(leat_event_api, query),  SLOT(leat_event_api, wait),
};
static const required_slot op_slots[] = {
    SLOT(leat_op_api, count),  SLOT(leat_op_api, info),    SLOT(leat_op_api, supports), SLOT(leat_op_api, create),
    SLOT(leat_op_api, invoke), SLOT(leat_op_api, destroy), SLOT(leat_op_api, infer),
};

static const required_slot pool_slots[] = {
    SLOT(leat_pool_api, acquire), SLOT(leat_pool_api, release),     SLOT(leat_pool_api, stream),
    SLOT(leat_pool_api, current), SLOT(leat_pool_api, set_current), SLOT(leat_pool_api, release_current),
    SLOT(leat_pool_api, info),
};
static const required_slot graph_slots[] = {
    SLOT(leat_graph_api, build),  SLOT(leat_graph_api, destroy), SLOT(leat_graph_api, infer),
    SLOT(leat_graph_api, launch), SLOT(leat_graph_api, info),    SLOT(leat_graph_api, fusions),
};

static const required_slot profiler_slots[] = {
    SLOT(leat_profiler_api, start),
    SLOT(leat_profiler_api, stop),
    SLOT(leat_profiler_api, read),
    SLOT(leat_profiler_api, info),
};
static const required_slot external_slots[] = {
    SLOT(leat_external_api, info),
    SLOT(leat_external_api, import_memory),
    SLOT(leat_external_api, import_semaphore),
    SLOT(leat_external_api, destroy_semaphore),
    SLOT(leat_external_api, wait),
    SLOT(leat_external_api, signal),
};

static char *table_defect(const char *name, const void *table, size_t size, const required_slot *slots, size_t count) {
  uint32_t struct_size;
  if (table == NULL) {
    return g_strdup_printf("the table \"%s\" is NULL, it is required", name);
  }
  memcpy(&struct_size, table, sizeof(struct_size));
  if (struct_size < size) {
    return g_strdup_printf("the table \"%s\" has struct_size %u, ABI 1.0 has %zu", name, struct_size, size);
  }
  for (size_t i = 0; i < count; ++i) {
    void (*slot)(void);
    memcpy(&slot, (const char *)table + slots[i].offset, sizeof(slot));
    if (slot == NULL) {
      return g_strdup_printf("the slot %s.%s is NULL, it is required", name, slots[i].name);
    }
  }
  return NULL;
}

char *leati_plugin_defect(const leat_backend_api *api) {
  char *defect;
  if (api == NULL) {
    return g_strdup("leat_backend_query returned LEAT_OK and a NULL table");
  }
  if (api->struct_size < LEAT_SIZE_THROUGH(leat_backend_api, configure)) {
    return g_strdup_printf("the table of tables has struct_size %u, ABI 1.0 has %zu", api->struct_size,
                           LEAT_SIZE_THROUGH(leat_backend_api, configure));
  }
  if (api->name == NULL || api->version == NULL || api->build_id == NULL) {
    return g_strdup("name, version or build_id is NULL, all three are required");
  }
  if (api->shutdown == NULL) {
    return g_strdup("the slot shutdown is NULL, it is required");
  }
  if (api->configure == NULL) {
    return g_strdup("the slot configure is NULL, it is required");
  }
  defect = table_defect("device", api->device, LEAT_SIZE_THROUGH(leat_device_api, synchronize), device_slots,
                        G_N_ELEMENTS(device_slots));
  if (defect == NULL) {
    defect = table_defect("memory", api->memory, LEAT_SIZE_THROUGH(leat_memory_api, free_host), memory_slots,
                          G_N_ELEMENTS(memory_slots));
  }
  if (defect == NULL) {
    defect = table_defect("stream", api->stream, LEAT_SIZE_THROUGH(leat_stream_api, info), stream_slots,
                          G_N_ELEMENTS(stream_slots));
  }
  if (defect == NULL) {
    defect = table_defect("event", api->event, LEAT_SIZE_THROUGH(leat_event_api, export_sync_fd), event_slots,
                          G_N_ELEMENTS(event_slots));
  }
  if (defect == NULL) {
    defect = table_defect("op", api->op, LEAT_SIZE_THROUGH(leat_op_api, invoke), op_slots, G_N_ELEMENTS(op_slots));
  }
  if (defect == NULL && api->pool != NULL) {
    defect =
        table_defect("pool", api->pool, LEAT_SIZE_THROUGH(leat_pool_api, info), pool_slots, G_N_ELEMENTS(pool_slots));
  }
  if (defect == NULL && api->graph != NULL) {
    defect = table_defect("graph", api->graph, LEAT_SIZE_THROUGH(leat_graph_api, fusions), graph_slots,
                          G_N_ELEMENTS(graph_slots));
  }
  if (defect == NULL && api->profiler != NULL) {
    defect = table_defect("profiler", api->profiler, LEAT_SIZE_THROUGH(leat_profiler_api, info), profiler_slots,
                          G_N_ELEMENTS(profiler_slots));
  }
  if (defect == NULL && api->external != NULL) {
    defect = table_defect("external", api->external, LEAT_SIZE_THROUGH(leat_external_api, signal), external_slots,
                          G_N_ELEMENTS(external_slots));
  }
  return defect;
}

gboolean leati_plugin_load(const char *path, leat_plugin *out, char **out_message) {
  leat_host_info host = {.struct_size = sizeof(host),
                         .abi_min = LEAT_ABI_1_0,
                         .abi_max = LEAT_ABI_CURRENT,
                         .header_version = LEAT_ABI_CURRENT,
                         .name = "leat-conformance"};
  leat_error err = {.struct_size = sizeof(err)};
  char *full = NULL;
  void *library;
  int32_t status;

  memset(out, 0, sizeof(*out));
  if (!g_file_test(path, G_FILE_TEST_EXISTS)) {
    *out_message = g_strdup_printf("%s: no such file; give the path of a Leat plugin", path);
    return FALSE;
  }
  if (g_file_test(path, G_FILE_TEST_IS_DIR)) {
    *out_message = g_strdup_printf("%s: is a folder; give the path of a Leat plugin", path);
    return FALSE;
  }
  if (!g_file_test(path, G_FILE_TEST_IS_REGULAR)) {
    *out_message = g_strdup_printf("%s: is not a regular file; give the path of a Leat plugin", path);
    return FALSE;
  }
  if (leati_file_cut_off(path)) {
    *out_message =
        g_strdup_printf("%s: is cut off: its headers tell of more than there is; copy or build it again", path);
    return FALSE;
  }
  /* A name without a slash would send dlopen() through its search path instead of to this file. */
  full = g_canonicalize_filename(path, NULL);
  library = dlopen(full, RTLD_NOW | RTLD_LOCAL);
  g_free(full);
  if (library == NULL) {
    *out_message = g_strdup_printf("%s: not a library that can be loaded: %s", path, dlerror());
    return FALSE;
  }
  /* POSIX allows the conversion that ISO C does not spell out. */
  *(void **)&out->query = dlsym(library, LEAT_BACKEND_QUERY_SYMBOL);
  if (out->query == NULL) {
    *out_message = g_strdup_printf("%s: not a Leat plugin: it exports no %s", path, LEAT_BACKEND_QUERY_SYMBOL);
    return FALSE;
  }
  status = out->query(&host, &out->api, &err);
  if (status != LEAT_OK) {
    out->api = NULL;
    err.message[sizeof(err.message) - 1] = '\0';
    out->defect = g_strdup_printf("leat_backend_query refused a host that speaks ABI 1.0 and newer: status %d: %s",
                                  status, err.message);
  } else {
    out->defect = leati_plugin_defect(out->api);
  }
  return TRUE;
}
