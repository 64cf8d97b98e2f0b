/* SPDX-License-Identifier: BSD-3-Clause */
#include "factory.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "allocator.h"
#include "ep.h"
#include "ep_gate.h"
#include "hardware.h"
#include "importer.h"
#include "kernel_registry.h"
#include "leat_build_id.h"
#include "session_options.h"
#include "shared_device.h"
#include "sync_stream.h"
#include "transfer.h"

/* ONNX Runtime takes no more from one factory. */
#define DEVICE_MAX 8u

typedef struct factory {
  OrtEpFactory base;
  /* The registration's, and one of each allocator that is there or has blocks out: these may be read and freed when the
   * library is registered no more. Who ends the last hold frees the factory (acquire-release). */
  _Atomic(unsigned) holds;
  leati_runtime runtime;
  leati_kernel_registry registry;
  uint32_t device_count;
  leati_shared_device devices[DEVICE_MAX];
} factory;

static const char *ORT_API_CALL factory_get_name(const OrtEpFactory *self) {
  (void)self;
  return LEATI_PROVIDER_NAME;
}

static const char *ORT_API_CALL factory_get_vendor(const OrtEpFactory *self) {
  (void)self;
  return "Leat";
}

static uint32_t ORT_API_CALL factory_get_vendor_id(const OrtEpFactory *self) {
  (void)self;
  return LEATI_VENDOR_ID;
}

static const char *ORT_API_CALL factory_get_version(const OrtEpFactory *self) {
  (void)self;
  /* Semantic versioning: what follows the plus says what exactly was built. */
  return LEAT_VERSION "+" LEAT_BUILD_ID;
}

static void factory_free(factory *self) {
  for (uint32_t i = 0; i < self->device_count; ++i) {
    leati_shared_device_clear(&self->devices[i]);
  }
  leati_kernel_registry_clear(&self->registry);
  free(self);
}

static void end_hold(void *hold) {
  factory *self = hold;
  if (atomic_fetch_sub_explicit(&self->holds, 1, memory_order_acq_rel) == 1) {
    factory_free(self);
  }
}

/* ---- Devices ------------------------------------------------------------------------------------------------------
 */

static OrtStatus *describe_devices(factory *self, const OrtHardwareDevice *const *devices, size_t device_count,
                                   OrtEpDevice **out, size_t max, size_t *out_count) {
  const OrtHardwareDevice **left = calloc(device_count + 1, sizeof(*left));
  if (left == NULL) {
    return leati_status(&self->runtime, ORT_FAIL, LEATI_PROVIDER_NAME ": out of memory for the devices");
  }
  memcpy(left, devices, device_count * sizeof(*left));
  OrtStatus *status = NULL;
  for (uint32_t i = 0; i < self->device_count && *out_count < max && status == NULL; ++i) {
    status = leati_hardware_describe(&self->devices[i], &self->base, left, device_count, &out[*out_count]);
    *out_count += status == NULL;
  }
  if (status != NULL) {
    while (*out_count != 0) {
      self->runtime.ep->ReleaseEpDevice(out[--*out_count]);
    }
  }
  free(left);
  return status;
}

static OrtStatus *ORT_API_CALL factory_get_supported_devices(OrtEpFactory *base,
                                                             const OrtHardwareDevice *const *devices,
                                                             size_t device_count, OrtEpDevice **out, size_t max,
                                                             size_t *out_count) {
  factory *self = (factory *)base;
  *out_count = 0;
  OrtStatus *status = leati_ep_gate_enter_or_fail(&self->runtime, "GetSupportedDevices");
  if (status == NULL) {
    status = describe_devices(self, devices, device_count, out, max, out_count);
    leati_ep_gate_leave();
  }
  return status;
}

static leati_shared_device *device_by_index(factory *self, uint32_t index) {
  for (uint32_t i = 0; i < self->device_count; ++i) {
    if (self->devices[i].info.index == index) {
      return &self->devices[i];
    }
  }
  return NULL;
}

/* ---- Sessions -----------------------------------------------------------------------------------------------------
 */

/* The device behind one that a session was given. */
static leati_shared_device *device_of(factory *self, const OrtKeyValuePairs *metadata) {
  const char *index = metadata != NULL ? self->runtime.ort->GetKeyValue(metadata, LEATI_DEVICE_INDEX_KEY) : NULL;
  return index != NULL ? device_by_index(self, (uint32_t)strtoul(index, NULL, 10)) : NULL;
}

/* The one among the session's devices that it runs on: the first, or the one its option names. */
static OrtStatus *choose_device(factory *self, const OrtKeyValuePairs *const *metadata, size_t count,
                                const char *wanted, const OrtLogger *logger, leati_shared_device **out) {
  leati_shared_device *first = NULL;
  *out = NULL;
  for (size_t i = 0; i < count && *out == NULL; ++i) {
    leati_shared_device *device = device_of(self, metadata[i]);
    first = first != NULL ? first : device;
    if (device != NULL && (wanted == NULL || leati_shared_device_matches(device, wanted))) {
      *out = device;
    }
  }
  if (first == NULL) {
    return leati_status(&self->runtime, ORT_INVALID_ARGUMENT,
                        LEATI_PROVIDER_NAME
                        ": the session was given no device of Leat; give it one of those that "
                        "GetEpDevices lists under this name");
  }
  if (*out == NULL) {
    char uuid[37];
    leati_shared_device_uuid_text(first->info.uuid, uuid);
    return leati_status(&self->runtime, ORT_INVALID_ARGUMENT,
                        LEATI_PROVIDER_NAME
                        ": option 'device' is '%s', but the session was given device %u (%s, %s); give it the device "
                        "that is meant, or leave the option out",
                        wanted, first->info.index, first->info.name, uuid);
  }
  if (count > 1) {
    leati_ort_log(&self->runtime, logger, ORT_LOGGING_LEVEL_WARNING,
                  LEATI_PROVIDER_NAME ": the session was given %zu devices and runs on one of them, device %u (%s)",
                  count, (*out)->info.index, (*out)->info.name);
  }
  return NULL;
}

static OrtStatus *ORT_API_CALL factory_create_ep(OrtEpFactory *base, const OrtHardwareDevice *const *devices,
                                                 const OrtKeyValuePairs *const *metadata, size_t count,
                                                 const OrtSessionOptions *session, const OrtLogger *logger,
                                                 OrtEp **out) {
  (void)devices;
  factory *self = (factory *)base;
  *out = NULL;
  OrtStatus *status = leati_ep_gate_enter_or_fail(&self->runtime, "CreateEp");
  if (status != NULL) {
    return status;
  }
  leati_session_options options = {0};
  leati_shared_device *device = NULL;
  status = leati_session_options_read(&options, &self->runtime, session, logger);
  if (status == NULL) {
    status = choose_device(self, metadata, count, options.device, logger, &device);
  }
  if (status == NULL) {
    status = leati_ep_create(device, &self->registry, &options, logger, out);
  }
  leati_session_options_clear(&options);
  leati_ep_gate_leave();
  return status;
}

static void ORT_API_CALL factory_release_ep(OrtEpFactory *base, OrtEp *ep) {
  (void)base;
  if (ep != NULL && leati_ep_gate_enter() == LEATI_GATE_OPEN) {
    leati_ep_destroy(ep);
    leati_ep_gate_leave();
  }
}

/* ---- Memory, copies and streams -----------------------------------------------------------------------------------
 */

static OrtStatus *unknown_memory(const factory *self) {
  return leati_status(&self->runtime, ORT_INVALID_ARGUMENT, LEATI_PROVIDER_NAME ": this is no memory of Leat");
}

static OrtStatus *ORT_API_CALL factory_create_allocator(OrtEpFactory *base, const OrtMemoryInfo *info,
                                                        const OrtKeyValuePairs *options, OrtAllocator **out) {
  (void)options;
  factory *self = (factory *)base;
  *out = NULL;
  OrtStatus *status = leati_ep_gate_enter_or_fail(&self->runtime, "CreateAllocator");
  if (status != NULL) {
    return status;
  }
  int index = -1;
  leati_shared_device *device = NULL;
  status = self->runtime.ort->MemoryInfoGetId(info, &index);
  if (status == NULL) {
    device = self->runtime.ort->MemoryInfoGetVendorId(info) == LEATI_VENDOR_ID && index >= 0
                 ? device_by_index(self, (uint32_t)index)
                 : NULL;
    const OrtMemoryDevice *memory = self->runtime.ep->MemoryInfo_GetMemoryDevice(info);
    const bool host = self->runtime.ep->MemoryDevice_GetMemoryType(memory) == OrtDeviceMemoryType_HOST_ACCESSIBLE;
    const leati_allocator_owner owner = {.gone = end_hold, .owner = self};
    status = device != NULL && (!host || device->host_info != NULL) ? leati_allocator_create(device, host, owner, out)
                                                                    : unknown_memory(self);
  }
  if (status == NULL) {
    atomic_fetch_add_explicit(&self->holds, 1, memory_order_relaxed);
  }
  leati_ep_gate_leave();
  return status;
}

static void ORT_API_CALL factory_release_allocator(OrtEpFactory *base, OrtAllocator *allocator) {
  (void)base;
  if (allocator != NULL && leati_ep_gate_enter() == LEATI_GATE_OPEN) {
    leati_allocator_destroy(allocator);
    leati_ep_gate_leave();
  }
}

static OrtStatus *ORT_API_CALL factory_create_data_transfer(OrtEpFactory *base, OrtDataTransferImpl **out) {
  factory *self = (factory *)base;
  *out = NULL;
  OrtStatus *status = leati_ep_gate_enter_or_fail(&self->runtime, "CreateDataTransfer");
  if (status == NULL) {
    status = leati_transfer_create(self->devices, self->device_count, &self->runtime, out);
    leati_ep_gate_leave();
  }
  return status;
}

static bool ORT_API_CALL factory_is_stream_aware(const OrtEpFactory *self) {
  (void)self;
  return true;
}

static OrtStatus *ORT_API_CALL factory_create_sync_stream(OrtEpFactory *base, const OrtMemoryDevice *memory,
                                                          const OrtKeyValuePairs *options, OrtSyncStreamImpl **out) {
  (void)options;
  factory *self = (factory *)base;
  *out = NULL;
  OrtStatus *status = leati_ep_gate_enter_or_fail(&self->runtime, "CreateSyncStreamForDevice");
  if (status != NULL) {
    return status;
  }
  leati_shared_device *device = self->runtime.ep->MemoryDevice_GetVendorId(memory) == LEATI_VENDOR_ID
                                    ? device_by_index(self, self->runtime.ep->MemoryDevice_GetDeviceId(memory))
                                    : NULL;
  status = device != NULL ? leati_sync_stream_create(device, out) : unknown_memory(self);
  leati_ep_gate_leave();
  return status;
}

/* There is always one: what it can import says itself. */
static OrtStatus *ORT_API_CALL factory_create_importer(OrtEpFactory *base, const OrtEpDevice *ep_device,
                                                       OrtExternalResourceImporterImpl **out) {
  factory *self = (factory *)base;
  *out = NULL;
  OrtStatus *status = leati_ep_gate_enter_or_fail(&self->runtime, "CreateExternalResourceImporterForDevice");
  if (status != NULL) {
    return status;
  }
  leati_shared_device *device = device_of(self, self->runtime.ort->EpDevice_EpMetadata(ep_device));
  status = device != NULL ? leati_importer_create(device, ep_device, out) : unknown_memory(self);
  leati_ep_gate_leave();
  return status;
}

/* ---- Making and releasing -----------------------------------------------------------------------------------------
 */

static void fill_slots(factory *self) {
  self->base = (OrtEpFactory){
      .ort_version_supported = self->runtime.version,
      .GetName = factory_get_name,
      .GetVendor = factory_get_vendor,
      .GetSupportedDevices = factory_get_supported_devices,
      .CreateEp = factory_create_ep,
      .ReleaseEp = factory_release_ep,
      .GetVendorId = factory_get_vendor_id,
      .GetVersion = factory_get_version,
      .CreateAllocator = factory_create_allocator,
      .ReleaseAllocator = factory_release_allocator,
      .CreateDataTransfer = factory_create_data_transfer,
      .IsStreamAware = factory_is_stream_aware,
      .CreateSyncStreamForDevice = factory_create_sync_stream,
      .CreateExternalResourceImporterForDevice = factory_create_importer,
  };
}

/* Finds the devices. That there is none is no failure, and worth a warning. */
static OrtStatus *find_devices(factory *self) {
  const leati_runtime *runtime = &self->runtime;
  leat_error error = {.struct_size = sizeof(error)};
  uint32_t count = 0;
  int32_t code = runtime->leat->device->count(&count, &error);
  if (code != LEAT_OK) {
    return leati_status_from(runtime, code, &error, LEATI_PROVIDER_NAME ": finding devices");
  }
  if (count == 0) {
    leati_ort_log(runtime, NULL, ORT_LOGGING_LEVEL_WARNING, LEATI_PROVIDER_NAME ": there is no device: %s",
                  error.message);
  }
  OrtStatus *status = NULL;
  for (uint32_t i = 0; i < count && i < DEVICE_MAX && status == NULL; ++i) {
    status = leati_shared_device_init(&self->devices[i], runtime, i);
    self->device_count += status == NULL;
  }
  return status;
}

static OrtStatus *factory_create(const OrtApiBase *base, const OrtLogger *logger, OrtEpFactory **out) {
  leati_runtime runtime;
  OrtStatus *status = leati_runtime_init(&runtime, base, logger);
  if (status != NULL || runtime.ort == NULL) {
    return status;
  }
  factory *self = calloc(1, sizeof(*self));
  if (self == NULL) {
    return leati_status(&runtime, ORT_FAIL, LEATI_PROVIDER_NAME ": out of memory");
  }
  self->runtime = runtime;
  atomic_init(&self->holds, 1);
  fill_slots(self);
  if (!leati_kernel_registry_init(&self->registry, &self->runtime)) {
    free(self);
    return leati_status(&runtime, ORT_FAIL, LEATI_PROVIDER_NAME ": out of memory for a lock");
  }
  status = find_devices(self);
  if (status != NULL) {
    factory_free(self);
    return status;
  }
  *out = &self->base;
  return NULL;
}

OrtStatus *CreateEpFactories(const char *registered_name, const OrtApiBase *base, const OrtLogger *logger,
                             OrtEpFactory **factories, size_t max_factories, size_t *out_count) {
  (void)registered_name;
  *out_count = 0;
  if (max_factories == 0 || leati_ep_gate_enter() != LEATI_GATE_OPEN) {
    return NULL;
  }
  OrtEpFactory *made = NULL;
  OrtStatus *status = factory_create(base, logger, &made);
  /* Drivers have been loaded by now, and have registered their own exit handlers, which ours has to run before. */
  leati_ep_gate_register();
  leati_ep_gate_leave();
  if (made != NULL) {
    factories[0] = made;
    *out_count = 1;
  }
  return status;
}

OrtStatus *ReleaseEpFactory(OrtEpFactory *factory_base) {
  if (factory_base != NULL && leati_ep_gate_enter() == LEATI_GATE_OPEN) {
    end_hold(factory_base);
    leati_ep_gate_leave();
  }
  return NULL;
}
