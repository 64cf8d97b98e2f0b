/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the rooms are put together: the exported function, the table of tables, and the opening and closing of devices.
 */
#include <leat/backend.h>
#include <stdbool.h>
#include <string.h>

#include "core/config.h"
#include "core/gate.h"
#include "core/status.h"
#include "device/chunk.h"
#include "device/device.h"
#include "device/device_report.h"
#include "device/devices.h"
#include "device/pipeline.h"
#include "graph/graph_table.h"
#include "leat_build_id.h"
#include "memory/memory.h"
#include "ops/core/op_table.h"
#include "streams/dlpack_exchange.h"
#include "streams/event.h"
#include "streams/external_table.h"
#include "streams/free_streams.h"
#include "streams/memory_table.h"
#include "streams/profiler_table.h"
#include "streams/stream_pool.h"
#include "streams/stream_table.h"

/* Guards the list of physical devices, and opening and closing. */
static leati_mutex backend_lock = LEATI_MUTEX_INITIALIZER(LEATI_RANK_BACKEND);
/* Open devices by index. Never freed, so that a stale handle is found out rather than followed into freed memory. */
static leat_device devices[LEATI_DEVICES_MAX];

static int32_t device_count(uint32_t *out_count, leat_error *err) {
  LEATI_ENTER(err);
  if (out_count == NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "out_count is NULL");
  }
  *out_count = 0;
  leati_mutex_lock(&backend_lock);
  const int32_t status = leati_devices_find(err);
  if (status == LEAT_OK) {
    *out_count = leati_devices_usable();
    if (*out_count == 0) {
      leati_remark(err, "%s", leati_devices_reason());
    }
  }
  leati_mutex_unlock(&backend_lock);
  return status;
}

/* The usable device number `index`. The lock is held. */
static int32_t find_device(uint32_t index, const leati_physical **out, leat_error *err) LEATI_HOLDS(backend_lock) {
  LEATI_TRY(leati_devices_find(err));
  const uint32_t usable = leati_devices_usable();
  for (uint32_t i = 0; i < leati_devices_count(); ++i) {
    *out = leati_devices_get(i);
    if ((*out)->usable && (*out)->info.index == index) {
      return LEAT_OK;
    }
  }
  if (usable == 0) {
    return leati_fail(err, LEAT_ERROR_UNAVAILABLE, "there is no device %u: %s", index, leati_devices_reason());
  }
  return leati_fail(err, LEAT_ERROR_UNAVAILABLE, "there is no device %u; allowed: 0 to %u", index, usable - 1);
}

static int32_t device_info(uint32_t index, leat_device_info *out, leat_error *err) {
  LEATI_ENTER(err);
  const leati_physical *physical;
  leati_mutex_lock(&backend_lock);
  int32_t status = find_device(index, &physical, err);
  if (status == LEAT_OK) {
    status = leati_export(out, &physical->info, sizeof(physical->info), LEAT_SIZE_THROUGH(leat_device_info, pci_bus_id),
                          "leat_device_info", err);
  }
  leati_mutex_unlock(&backend_lock);
  return status;
}

static int32_t device_report(uint32_t *inout_count, leat_property *out, leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_check_list(inout_count, out, sizeof(*out), "leat_property", err));
  leati_mutex_lock(&backend_lock);
  const int32_t status = leati_devices_find(err);
  if (status == LEAT_OK) {
    leati_device_report_write(inout_count, out);
  }
  leati_mutex_unlock(&backend_lock);
  return status;
}

/* Takes down an idle device that has no streams. */
static void dismantle_device(leat_device *device) {
  device->kind = LEATI_KIND_DEAD;
  leati_pipelines_destroy(device);
  leati_chunks_destroy(device);
  leati_memory_destroy(device);
  leati_device_destroy(device);
}

/* Makes a device with all but its streams and operators. */
static int32_t assemble_device(const leati_physical *physical, leat_device *device, leat_error *err) {
  LEATI_TRY(leati_device_create(physical, device, err));
  int32_t status = leati_memory_create(device, err);
  if (status == LEAT_OK) {
    status = leati_chunks_create(device, err);
  }
  if (status == LEAT_OK) {
    status = leati_pipelines_create(device, err);
  }
  if (status != LEAT_OK) {
    dismantle_device(device);
    return status;
  }
  leati_gate_register(LEATI_GATE_OPENED);
  device->kind = LEATI_KIND_DEVICE;
  return LEAT_OK;
}

static int32_t open_device(const leati_physical *physical, leat_device *device, leat_error *err) {
  static uint64_t sessions; /* guarded by the lock, which is held */
  const leati_config *config;
  LEATI_TRY(leati_config_get(&config, err));
  LEATI_TRY(assemble_device(physical, device, err));
  device->session = ++sessions;
  int32_t status = leati_streams_create(device, err);
  if (status == LEAT_OK) {
    status = leati_stream_pool_create(device, config->pool_round_robin != 0, config->pool_timeout_ms, err);
  }
  if (status == LEAT_OK) {
    status = leati_ops_create(device, err);
  }
  if (status == LEAT_OK) {
    status = leati_graphs_create(device, err);
  }
  if (status == LEAT_OK && config->profile[0] != '\0') {
    leati_profiler_attach(device, config->profile);
  }
  if (status != LEAT_OK) {
    leati_ops_destroy(device);
    leati_stream_pool_destroy(device);
    leati_streams_destroy(device);
    dismantle_device(device);
  }
  return status;
}

static int32_t device_open(uint32_t index, leat_device **out, leat_error *err) {
  LEATI_ENTER(err);
  if (out == NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "out is NULL");
  }
  *out = NULL;
  const leati_physical *physical;
  leati_mutex_lock(&backend_lock);
  int32_t status = find_device(index, &physical, err);
  if (status == LEAT_OK && devices[index].kind != LEATI_KIND_DEVICE) {
    status = open_device(physical, &devices[index], err);
  }
  if (status == LEAT_OK) {
    ++devices[index].references;
    *out = &devices[index];
  }
  leati_mutex_unlock(&backend_lock);
  return status;
}

static int32_t device_close(leat_device *device, leat_error *err) {
  LEATI_ENTER_TO_RELEASE(err);
  if (device == NULL) {
    return LEAT_OK;
  }
  leati_mutex_lock(&backend_lock);
  const int32_t status = leati_device_check(device, err);
  const bool last = status == LEAT_OK && --device->references == 0;
  if (last) {
    /* Nobody else may use the device any more, so waiting under the lock, for threads that have ended and for the
     * device, keeps nobody but other openers, who must wait for it. */
    leati_dlpack_close(device);
    leati_stream_pool_destroy(device);
    (void)device->vk.DeviceWaitIdle(device->vk.handle);
    leati_profiler_detach(device);
    leati_graphs_destroy(device);
    leati_ops_destroy(device);
    leati_streams_destroy(device);
    dismantle_device(device);
  }
  leati_mutex_unlock(&backend_lock);
  return status;
}

static int32_t device_synchronize(leat_device *device, leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_device_check(device, err));
  LEATI_TRY(leati_streams_synchronize(device, err));
  return leati_memory_guard_check(device, err);
}

static const leat_device_api device_table = {
    .struct_size = sizeof(leat_device_api),
    .count = device_count,
    .info = device_info,
    .report = device_report,
    .open = device_open,
    .close = device_close,
    .synchronize = device_synchronize,
};

static int32_t backend_shutdown(leat_error *err) {
  LEATI_ENTER_TO_RELEASE(err);
  int32_t status = LEAT_OK;
  leati_mutex_lock(&backend_lock);
  for (uint32_t i = 0; i < LEATI_DEVICES_MAX && status == LEAT_OK; ++i) {
    if (devices[i].kind == LEATI_KIND_DEVICE) {
      status = leati_fail(err, LEAT_ERROR_BUSY, "device %u is still open (%u times)", i, devices[i].references);
    }
  }
  if (status == LEAT_OK) {
    leati_devices_forget();
  }
  leati_mutex_unlock(&backend_lock);
  return status;
}

static int32_t backend_configure(const char *name, const char *value, leat_error *err) {
  LEATI_ENTER(err);
  if (name == NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "name is NULL");
  }
  /* What is wrong by itself is said first, whenever it comes. */
  LEATI_TRY(leati_config_check(name, value, err));
  leati_mutex_lock(&backend_lock);
  const int32_t status =
      leati_devices_known() ? leati_fail(err, LEAT_ERROR_BUSY,
                                         "%s cannot be set any more: devices were looked for already; configure before "
                                         "the first use, or after shutdown()",
                                         name)
                            : leati_config_set(name, value, err);
  leati_mutex_unlock(&backend_lock);
  return status;
}

#define BACKEND_TABLE(version_, graph_)                                                                               \
  {                                                                                                                   \
    .struct_size = sizeof(leat_backend_api), .abi_version = (version_), .header_version = LEAT_ABI_CURRENT,           \
    .name = "vulkan", .version = LEAT_VERSION, .build_id = LEAT_BUILD_ID,                                             \
    .capabilities = LEAT_CAPABILITY_EVENT_TIMING | LEAT_CAPABILITY_HOST_MEMORY, .device = &device_table,              \
    .memory = &leati_memory_table, .stream = &leati_stream_table, .event = &leati_event_table, .op = &leati_op_table, \
    .graph = (graph_), .pool = &leati_stream_pool_table, .profiler = &leati_profiler_table,                           \
    .external = &leati_external_table, .shutdown = backend_shutdown, .configure = backend_configure                   \
  }

/* A host takes no table for good that goes on behind what it knows. */
static const leat_backend_api backend_table = BACKEND_TABLE(LEAT_ABI_1_1, &leati_graph_table);
static const leat_backend_api backend_table_1_0 = BACKEND_TABLE(LEAT_ABI_1_0, &leati_graph_table_1_0);

int32_t leat_backend_query(const leat_host_info *host, const leat_backend_api **out, leat_error *err) {
  LEATI_ENTER(err);
  if (out == NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "out is NULL");
  }
  *out = NULL;
  leati_gate_register(LEATI_GATE_QUERIED);
  leati_config_read_environment();
  leat_host_info known;
  LEATI_TRY(
      leati_import(&known, sizeof(known), LEAT_SIZE_THROUGH(leat_host_info, reserved), host, "leat_host_info", err));
  for (unsigned i = 0; i < sizeof(known.reserved) / sizeof(known.reserved[0]); ++i) {
    if (known.reserved[i] != 0) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "leat_host_info.reserved[%u] is not zero", i);
    }
  }
  if (known.abi_min > known.abi_max || known.abi_min > LEAT_ABI_1_1 || known.abi_max < LEAT_ABI_1_0) {
    return leati_fail(err, LEAT_ERROR_VERSION, "the host speaks ABI %u.%u to %u.%u; this backend speaks 1.0 to 1.1",
                      LEAT_ABI_MAJOR(known.abi_min), LEAT_ABI_MINOR(known.abi_min), LEAT_ABI_MAJOR(known.abi_max),
                      LEAT_ABI_MINOR(known.abi_max));
  }
  *out = known.abi_max < LEAT_ABI_1_1 ? &backend_table_1_0 : &backend_table;
  return LEAT_OK;
}
