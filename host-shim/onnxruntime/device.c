/* SPDX-License-Identifier: BSD-3-Clause */
#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "gate.h"
#include "stream.h"

OrtStatus *leati_device_init(leati_device *device, const leati_runtime *runtime, uint32_t index) {
  *device = (leati_device){.runtime = runtime, .info = {.struct_size = sizeof(device->info)}};
  leat_error error = {.struct_size = sizeof(error)};
  OrtStatus *status = leati_status_from(runtime, runtime->leat->device->info(index, &device->info, &error), &error,
                                        LEATI_PROVIDER_NAME ": device %u", index);
  if (!status) {
    status = runtime->ort->CreateMemoryInfo_V2("Leat", OrtMemoryInfoDeviceType_GPU, LEATI_VENDOR_ID,
                                               (int32_t)device->info.index, OrtDeviceMemoryType_DEFAULT,
                                               LEATI_ALIGNMENT, OrtDeviceAllocator, &device->memory_info);
  }
  if (!status && pthread_mutex_init(&device->lock, NULL)) {
    runtime->ort->ReleaseMemoryInfo(device->memory_info);
    status = leati_status(runtime, ORT_FAIL, LEATI_PROVIDER_NAME ": out of memory for a lock");
  }
  return status;
}

void leati_device_clear(leati_device *device) {
  const leati_runtime *runtime = device->runtime;
  leati_stream_free_idle(device);
  leat_device *opened = atomic_load_explicit(&device->opened, memory_order_acquire);
  if (opened) {
    leat_error error = {.struct_size = sizeof(error)};
    if (runtime->leat->device->close(opened, &error) != LEAT_OK) {
      leati_log(runtime, NULL, ORT_LOGGING_LEVEL_WARNING, LEATI_PROVIDER_NAME ": closing %s: %s", device->info.name,
                error.message);
    }
  }
  if (device->created) {
    runtime->ep->ReleaseHardwareDevice(device->created);
  }
  runtime->ort->ReleaseMemoryInfo(device->memory_info);
  pthread_mutex_destroy(&device->lock);
}

int32_t leati_device_open(leati_device *device, leat_device **out, leat_error *err) {
  leat_device *opened = atomic_load_explicit(&device->opened, memory_order_acquire);
  int32_t code = LEAT_OK;
  if (!opened) {
    pthread_mutex_lock(&device->lock);
    opened = atomic_load_explicit(&device->opened, memory_order_relaxed);
    if (!opened) {
      code = device->runtime->leat->device->open(device->info.index, &opened, err);
      if (code == LEAT_OK) {
        atomic_store_explicit(&device->opened, opened, memory_order_release);
        leati_gate_register();
      }
    }
    pthread_mutex_unlock(&device->lock);
  }
  *out = opened;
  return code;
}

void leati_device_uuid_text(const uint8_t uuid[16], char out[37]) {
  char *end = out;
  for (unsigned i = 0; i < 16; i++) {
    end += sprintf(end, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", uuid[i]);
  }
}

bool leati_device_matches(const leati_device *device, const char *text) {
  char number[16];
  char uuid[37];
  snprintf(number, sizeof(number), "%u", device->info.index);
  leati_device_uuid_text(device->info.uuid, uuid);
  if (strcmp(text, number) == 0 || strcasecmp(text, uuid) == 0) {
    return true;
  }
  /* A number is never a part of a name: "1" would be found in most of them. */
  return text[strspn(text, "0123456789")] != '\0' && strcasestr(device->info.name, text) != NULL;
}

/* Whether two PCI addresses are the same; ONNX Runtime and drivers agree on "dddd:bb:dd.f" but not on its case. */
static bool same_address(const leati_device *device, const OrtHardwareDevice *hardware) {
  const OrtApi *ort = device->runtime->ort;
  const char *address = ort->GetKeyValue(ort->HardwareDevice_Metadata(hardware), "pci_bus_id");
  return address && device->info.pci_bus_id[0] && strcasecmp(address, device->info.pci_bus_id) == 0;
}

/* Whether two devices are of the same model, where nothing says that they are two of them. */
static bool same_model(const leati_device *device, const OrtHardwareDevice *hardware) {
  const OrtApi *ort = device->runtime->ort;
  const char *address = ort->GetKeyValue(ort->HardwareDevice_Metadata(hardware), "pci_bus_id");
  return !(address && device->info.pci_bus_id[0]) && !(device->info.flags & LEAT_DEVICE_SOFTWARE) &&
         ort->HardwareDevice_Type(hardware) == OrtHardwareDeviceType_GPU &&
         ort->HardwareDevice_VendorId(hardware) == device->info.vendor_id &&
         ort->HardwareDevice_DeviceId(hardware) == device->info.device_id;
}

/* Finds the card among ONNX Runtime's, and takes it out so that no second device gets it. */
static const OrtHardwareDevice *take_hardware(const leati_device *device, const OrtHardwareDevice **hardware,
                                              size_t count) {
  bool (*const ways[])(const leati_device *, const OrtHardwareDevice *) = {same_address, same_model};
  for (size_t way = 0; way < sizeof(ways) / sizeof(ways[0]); way++) {
    for (size_t i = 0; i < count; i++) {
      if (hardware[i] && ways[way](device, hardware[i])) {
        const OrtHardwareDevice *found = hardware[i];
        hardware[i] = NULL;
        return found;
      }
    }
  }
  return NULL;
}

static void add_facts(const leati_device *device, OrtKeyValuePairs *pairs) {
  const OrtApi *ort = device->runtime->ort;
  const leat_device_info *info = &device->info;
  char text[64];
  snprintf(text, sizeof(text), "%u", info->index);
  ort->AddKeyValuePair(pairs, LEATI_DEVICE_INDEX_KEY, text);
  ort->AddKeyValuePair(pairs, "leat_device_name", info->name);
  ort->AddKeyValuePair(pairs, "leat_driver", info->driver);
  char uuid[37];
  leati_device_uuid_text(info->uuid, uuid);
  ort->AddKeyValuePair(pairs, "leat_device_uuid", uuid);
  snprintf(text, sizeof(text), "%llu", (unsigned long long)info->memory_size);
  ort->AddKeyValuePair(pairs, "leat_memory_size", text);
  ort->AddKeyValuePair(pairs, "leat_software", info->flags & LEAT_DEVICE_SOFTWARE ? "1" : "0");
  if (info->pci_bus_id[0]) {
    ort->AddKeyValuePair(pairs, "pci_bus_id", info->pci_bus_id);
  }
}

OrtStatus *leati_device_describe(leati_device *device, OrtEpFactory *factory, const OrtHardwareDevice **hardware,
                                 size_t hardware_count, OrtEpDevice **out) {
  const leati_runtime *runtime = device->runtime;
  const OrtHardwareDevice *found = take_hardware(device, hardware, hardware_count);
  OrtKeyValuePairs *facts = NULL;
  runtime->ort->CreateKeyValuePairs(&facts);
  if (!facts) {
    return leati_status(runtime, ORT_FAIL, LEATI_PROVIDER_NAME ": out of memory");
  }
  add_facts(device, facts);
  OrtStatus *status = NULL;
  if (!found && !device->created) {
    /* What ONNX Runtime did not find is a software driver, or a card that /sys does not show. */
    status = runtime->ep->CreateHardwareDevice(OrtHardwareDeviceType_GPU, device->info.vendor_id,
                                               device->info.device_id, "Leat", facts, &device->created);
  }
  OrtEpDevice *made = NULL;
  if (!status) {
    status = runtime->ep->CreateEpDevice(factory, found ? found : device->created, facts, NULL, &made);
  }
  if (!status) {
    status = runtime->ep->EpDevice_AddAllocatorInfo(made, device->memory_info);
  }
  runtime->ort->ReleaseKeyValuePairs(facts);
  if (status) {
    if (made) {
      runtime->ep->ReleaseEpDevice(made);
    }
    return leati_status_prefix(runtime, status, LEATI_PROVIDER_NAME ": device %u (%s)", device->info.index,
                               device->info.name);
  }
  *out = made;
  return NULL;
}
