/* SPDX-License-Identifier: BSD-3-Clause */
#include "importer.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "ep_gate.h"
#include "run.h"
#include "sync_stream.h"

typedef struct importer {
  OrtExternalResourceImporterImpl base;
  leati_shared_device *device;
  const OrtEpDevice *ep_device;
} importer;

/* Imported memory: a block of the backend's. */
typedef struct memory_handle {
  OrtExternalMemoryHandle base;
  leati_shared_device *device;
  uint64_t address;
} memory_handle;

typedef struct semaphore_handle {
  OrtExternalSemaphoreHandle base;
  leati_shared_device *device;
  leat_semaphore *semaphore;
} semaphore_handle;

/* What the device can import; nothing, if it cannot even be opened. */
static leat_external_info info_of(const importer *self) {
  const leati_runtime *runtime = self->device->runtime;
  leat_external_info info = {.struct_size = sizeof(info)};
  leat_error error = {.struct_size = sizeof(error)};
  leat_device *opened = NULL;
  int32_t code = leati_shared_device_open(self->device, &opened, &error);
  if (code == LEAT_OK) {
    code = runtime->leat->external->info(opened, &info, &error);
  }
  if (code != LEAT_OK) {
    leati_ort_log(runtime, NULL, ORT_LOGGING_LEVEL_INFO, LEATI_PROVIDER_NAME ": nothing can be imported: %s",
                  error.message);
    info.memory_handles = info.semaphore_handles = 0;
  }
  return info;
}

/* A copy of a descriptor for the backend, which takes over what it imports; -1: it is none. ONNX Runtime does not say
 * whose the descriptor is: to leave one open that nobody closes costs less than to close what is somebody else's. */
static int copy_of(const void *native_handle) {
  return fcntl((int)(intptr_t)native_handle, F_DUPFD_CLOEXEC, 0);
}

static OrtStatus *no_descriptor(const leati_runtime *runtime, const void *native_handle) {
  return leati_status(runtime, ORT_INVALID_ARGUMENT, LEATI_PROVIDER_NAME ": %" PRIdPTR " is no descriptor",
                      (intptr_t)native_handle);
}

/* ---- Memory -------------------------------------------------------------------------------------------------------
 */

static bool ORT_API_CALL importer_can_import_memory(const OrtExternalResourceImporterImpl *self,
                                                    OrtExternalMemoryHandleType type) {
  bool can = false;
  if (type == ORT_EXTERNAL_MEMORY_HANDLE_TYPE_VK_MEMORY_OPAQUE_FD && leati_ep_gate_enter() == LEATI_GATE_OPEN) {
    can = (info_of((const importer *)self).memory_handles & LEAT_EXTERNAL_OPAQUE_FD) != 0;
    leati_ep_gate_leave();
  }
  return can;
}

static void release_memory(OrtExternalMemoryHandle *base) {
  memory_handle *handle = (memory_handle *)base;
  if (handle == NULL || leati_ep_gate_enter() != LEATI_GATE_OPEN) {
    return;
  }
  const leati_runtime *runtime = handle->device->runtime;
  leat_device *opened = atomic_load_explicit(&handle->device->opened, memory_order_acquire);
  leat_error error = {.struct_size = sizeof(error)};
  if (runtime->leat->memory->free(opened, handle->address, &error) != LEAT_OK) {
    leati_ort_log(runtime, NULL, ORT_LOGGING_LEVEL_ERROR, LEATI_PROVIDER_NAME ": cannot give imported memory back: %s",
                  error.message);
  }
  free(handle);
  leati_ep_gate_leave();
}

static void ORT_API_CALL memory_handle_release(OrtExternalMemoryHandle *handle) {
  release_memory(handle);
}

static OrtStatus *import_memory(importer *self, const OrtExternalMemoryDescriptor *desc,
                                OrtExternalMemoryHandle **out) {
  const leati_runtime *runtime = self->device->runtime;
  if (desc->handle_type != ORT_EXTERNAL_MEMORY_HANDLE_TYPE_VK_MEMORY_OPAQUE_FD) {
    return leati_status(runtime, ORT_NOT_IMPLEMENTED,
                        LEATI_PROVIDER_NAME
                        ": memory of handle type %d cannot be imported; supported: "
                        "VK_MEMORY_OPAQUE_FD",
                        (int)desc->handle_type);
  }
  if (desc->offset_bytes >= desc->size_bytes) {
    return leati_status(runtime, ORT_INVALID_ARGUMENT,
                        LEATI_PROVIDER_NAME ": offset_bytes %zu is not inside of the %zu bytes of the memory",
                        desc->offset_bytes, desc->size_bytes);
  }
  leat_error error = {.struct_size = sizeof(error)};
  leat_device *opened = NULL;
  int32_t code = leati_shared_device_open(self->device, &opened, &error);
  if (code != LEAT_OK) {
    return leati_status_from(runtime, code, &error, LEATI_PROVIDER_NAME ": importing memory");
  }
  memory_handle *made = calloc(1, sizeof(*made));
  if (made == NULL) {
    return leati_status(runtime, ORT_FAIL, LEATI_PROVIDER_NAME ": out of memory for an imported memory");
  }
  const leat_external_memory memory = {.struct_size = sizeof(memory),
                                       .fd = copy_of(desc->native_handle),
                                       .handle_type = LEAT_EXTERNAL_OPAQUE_FD,
                                       .size = desc->size_bytes,
                                       .memory_type = LEAT_EXTERNAL_ANY_MEMORY_TYPE};
  if (memory.fd < 0) {
    free(made);
    return no_descriptor(runtime, desc->native_handle);
  }
  code = runtime->leat->external->import_memory(opened, &memory, &made->address, &error);
  if (code != LEAT_OK) {
    (void)close(memory.fd);
    free(made);
    return leati_status_from(runtime, code, &error, LEATI_PROVIDER_NAME ": importing memory");
  }
  made->base = (OrtExternalMemoryHandle){
      .version = runtime->version, .ep_device = self->ep_device, .descriptor = *desc, .Release = memory_handle_release};
  made->device = self->device;
  *out = &made->base;
  return NULL;
}

static OrtStatus *ORT_API_CALL importer_import_memory(OrtExternalResourceImporterImpl *base,
                                                      const OrtExternalMemoryDescriptor *desc,
                                                      OrtExternalMemoryHandle **out) {
  importer *self = (importer *)base;
  *out = NULL;
  OrtStatus *status = leati_ep_gate_enter_or_fail(self->device->runtime, "ImportMemory");
  if (status == NULL) {
    status = import_memory(self, desc, out);
    leati_ep_gate_leave();
  }
  return status;
}

static void ORT_API_CALL importer_release_memory(OrtExternalResourceImporterImpl *self,
                                                 OrtExternalMemoryHandle *handle) {
  (void)self;
  release_memory(handle);
}

static OrtStatus *ORT_API_CALL importer_create_tensor(OrtExternalResourceImporterImpl *base,
                                                      const OrtExternalMemoryHandle *memory,
                                                      const OrtExternalTensorDescriptor *desc, OrtValue **out) {
  const importer *self = (const importer *)base;
  const memory_handle *handle = (const memory_handle *)memory;
  const leati_runtime *runtime = self->device->runtime;
  *out = NULL;
  OrtStatus *status = leati_ep_gate_enter_or_fail(runtime, "CreateTensorFromMemory");
  if (status != NULL) {
    return status;
  }
  /* What lies behind the offsets; ONNX Runtime refuses a tensor that is larger. */
  const size_t size = handle->base.descriptor.size_bytes - handle->base.descriptor.offset_bytes;
  if (desc->offset_bytes > size) {
    status = leati_status(runtime, ORT_INVALID_ARGUMENT,
                          LEATI_PROVIDER_NAME ": offset_bytes %zu is beyond the %zu bytes of the imported memory",
                          desc->offset_bytes, size);
  } else {
    const uint64_t address = handle->address + handle->base.descriptor.offset_bytes + desc->offset_bytes;
    status = runtime->ort->CreateTensorWithDataAsOrtValue(self->device->memory_info, (void *)(uintptr_t)address,
                                                          size - desc->offset_bytes, desc->shape, desc->rank,
                                                          desc->element_type, out);
  }
  leati_ep_gate_leave();
  return status;
}

/* ---- Semaphores ---------------------------------------------------------------------------------------------------
 */

static bool ORT_API_CALL importer_can_import_semaphore(const OrtExternalResourceImporterImpl *self,
                                                       OrtExternalSemaphoreType type) {
  bool can = false;
  if (type == ORT_EXTERNAL_SEMAPHORE_VK_TIMELINE_SEMAPHORE_OPAQUE_FD && leati_ep_gate_enter() == LEATI_GATE_OPEN) {
    can = (info_of((const importer *)self).semaphore_handles & LEAT_EXTERNAL_OPAQUE_FD) != 0;
    leati_ep_gate_leave();
  }
  return can;
}

static void release_semaphore(OrtExternalSemaphoreHandle *base) {
  semaphore_handle *handle = (semaphore_handle *)base;
  if (handle != NULL && leati_ep_gate_enter() == LEATI_GATE_OPEN) {
    handle->device->runtime->leat->external->destroy_semaphore(handle->semaphore, NULL);
    free(handle);
    leati_ep_gate_leave();
  }
}

static void ORT_API_CALL semaphore_handle_release(OrtExternalSemaphoreHandle *handle) {
  release_semaphore(handle);
}

static OrtStatus *import_semaphore(importer *self, const OrtExternalSemaphoreDescriptor *desc,
                                   OrtExternalSemaphoreHandle **out) {
  const leati_runtime *runtime = self->device->runtime;
  if (desc->type != ORT_EXTERNAL_SEMAPHORE_VK_TIMELINE_SEMAPHORE_OPAQUE_FD) {
    return leati_status(runtime, ORT_NOT_IMPLEMENTED,
                        LEATI_PROVIDER_NAME
                        ": semaphores of type %d cannot be imported; supported: "
                        "VK_TIMELINE_SEMAPHORE_OPAQUE_FD",
                        (int)desc->type);
  }
  leat_error error = {.struct_size = sizeof(error)};
  leat_device *opened = NULL;
  int32_t code = leati_shared_device_open(self->device, &opened, &error);
  if (code != LEAT_OK) {
    return leati_status_from(runtime, code, &error, LEATI_PROVIDER_NAME ": importing a semaphore");
  }
  semaphore_handle *made = calloc(1, sizeof(*made));
  if (made == NULL) {
    return leati_status(runtime, ORT_FAIL, LEATI_PROVIDER_NAME ": out of memory for an imported semaphore");
  }
  const int fd = copy_of(desc->native_handle);
  if (fd < 0) {
    free(made);
    return no_descriptor(runtime, desc->native_handle);
  }
  code = runtime->leat->external->import_semaphore(opened, LEAT_EXTERNAL_OPAQUE_FD, fd, &made->semaphore, &error);
  if (code != LEAT_OK) {
    (void)close(fd);
    free(made);
    return leati_status_from(runtime, code, &error, LEATI_PROVIDER_NAME ": importing a semaphore");
  }
  made->base = (OrtExternalSemaphoreHandle){.version = runtime->version,
                                            .ep_device = self->ep_device,
                                            .descriptor = *desc,
                                            .Release = semaphore_handle_release};
  made->device = self->device;
  *out = &made->base;
  return NULL;
}

static OrtStatus *ORT_API_CALL importer_import_semaphore(OrtExternalResourceImporterImpl *base,
                                                         const OrtExternalSemaphoreDescriptor *desc,
                                                         OrtExternalSemaphoreHandle **out) {
  importer *self = (importer *)base;
  *out = NULL;
  OrtStatus *status = leati_ep_gate_enter_or_fail(self->device->runtime, "ImportSemaphore");
  if (status == NULL) {
    status = import_semaphore(self, desc, out);
    leati_ep_gate_leave();
  }
  return status;
}

static void ORT_API_CALL importer_release_semaphore(OrtExternalResourceImporterImpl *self,
                                                    OrtExternalSemaphoreHandle *handle) {
  (void)self;
  release_semaphore(handle);
}

/* Puts a wait for a value, or a signal of it, into a stream. */
static OrtStatus *put(importer *self, OrtExternalSemaphoreHandle *base, OrtSyncStream *stream, uint64_t value,
                      bool signal) {
  const semaphore_handle *handle = (const semaphore_handle *)base;
  const leati_runtime *runtime = self->device->runtime;
  const char *const call = signal ? "SignalSemaphore" : "WaitSemaphore";
  OrtStatus *status = leati_ep_gate_enter_or_fail(runtime, call);
  if (status != NULL) {
    return status;
  }
  const leati_sync_stream *ours = leati_sync_stream_of(runtime, stream);
  if (ours == NULL || ours->device != self->device) {
    status = leati_status(runtime, ORT_INVALID_ARGUMENT, LEATI_PROVIDER_NAME ": %s: the stream is none of device %u",
                          call, self->device->info.index);
  } else {
    const leat_external_api *external = runtime->leat->external;
    leat_error error = {.struct_size = sizeof(error)};
    bool in_run = false;
    status = leati_run_note(self->device, ours->handle, false, &in_run);
    if (status == NULL) {
      status = leati_status_from(
          runtime, (signal ? external->signal : external->wait)(ours->handle, handle->semaphore, value, &error), &error,
          LEATI_PROVIDER_NAME ": %s", call);
    }
  }
  leati_ep_gate_leave();
  return status;
}

static OrtStatus *ORT_API_CALL importer_wait_semaphore(OrtExternalResourceImporterImpl *self,
                                                       OrtExternalSemaphoreHandle *handle, OrtSyncStream *stream,
                                                       uint64_t value) {
  return put((importer *)self, handle, stream, value, false);
}

static OrtStatus *ORT_API_CALL importer_signal_semaphore(OrtExternalResourceImporterImpl *self,
                                                         OrtExternalSemaphoreHandle *handle, OrtSyncStream *stream,
                                                         uint64_t value) {
  return put((importer *)self, handle, stream, value, true);
}

/* ---- Making and releasing -----------------------------------------------------------------------------------------
 */

static void ORT_API_CALL importer_release(OrtExternalResourceImporterImpl *self) {
  if (self != NULL && leati_ep_gate_enter() == LEATI_GATE_OPEN) {
    free((importer *)self);
    leati_ep_gate_leave();
  }
}

OrtStatus *leati_importer_create(leati_shared_device *device, const OrtEpDevice *ep_device,
                                 OrtExternalResourceImporterImpl **out) {
  importer *made = calloc(1, sizeof(*made));
  if (made == NULL) {
    return leati_status(device->runtime, ORT_FAIL, LEATI_PROVIDER_NAME ": out of memory for an importer");
  }
  made->base = (OrtExternalResourceImporterImpl){
      .ort_version_supported = device->runtime->version,
      .CanImportMemory = importer_can_import_memory,
      .ImportMemory = importer_import_memory,
      .ReleaseMemory = importer_release_memory,
      .CreateTensorFromMemory = importer_create_tensor,
      .CanImportSemaphore = importer_can_import_semaphore,
      .ImportSemaphore = importer_import_semaphore,
      .ReleaseSemaphore = importer_release_semaphore,
      .WaitSemaphore = importer_wait_semaphore,
      .SignalSemaphore = importer_signal_semaphore,
      .Release = importer_release,
  };
  made->device = device;
  made->ep_device = ep_device;
  *out = &made->base;
  return NULL;
}
