/* SPDX-License-Identifier: BSD-3-Clause */
#include "hardware.h"

#include <stdio.h>
#include <strings.h>

/* Whether two PCI addresses are the same; ONNX Runtime and drivers agree on "dddd:bb:dd.f" but not on its case. */
static bool same_address(const leati_shared_device *device, const OrtHardwareDevice *hardware) {
  const OrtApi *ort = device->runtime->ort;
  const char *address = ort->GetKeyValue(ort->HardwareDevice_Metadata(hardware), "pci_bus_id");
  return address != NULL && device->info.pci_bus_id[0] != '\0' && strcasecmp(address, device->info.pci_bus_id) == 0;
}

/* Whether two devices are of the same model, where nothing says that they are two of them. */
static bool same_model(const leati_shared_device *device, const OrtHardwareDevice *hardware) {
  const OrtApi *ort = device->runtime->ort;
  const char *address = ort->GetKeyValue(ort->HardwareDevice_Metadata(hardware), "pci_bus_id");
  return !(address != NULL && device->info.pci_bus_id[0] != '\0') && !(device->info.flags & LEAT_DEVICE_SOFTWARE) &&
         ort->HardwareDevice_Type(hardware) == OrtHardwareDeviceType_GPU &&
         ort->HardwareDevice_VendorId(hardware) == device->info.vendor_id &&
         ort->HardwareDevice_DeviceId(hardware) == device->info.device_id;
}

/* Finds the card among ONNX Runtime's, and takes it out so that no second device gets it. */
static const OrtHardwareDevice *take_hardware(const leati_shared_device *device, const OrtHardwareDevice **hardware,
                                              size_t count) {
  bool (*const ways[])(const leati_shared_device *, const OrtHardwareDevice *) = {same_address, same_model};
  for (size_t way = 0; way < sizeof(ways) / sizeof(ways[0]); ++way) {
    for (size_t i = 0; i < count; ++i) {
      if (hardware[i] != NULL && ways[way](device, hardware[i])) {
        const OrtHardwareDevice *found = hardware[i];
        hardware[i] = NULL;
        return found;
      }
    }
  }
  return NULL;
}

static void add_facts(const leati_shared_device *device, OrtKeyValuePairs *pairs) {
  const OrtApi *ort = device->runtime->ort;
  const leat_device_info *info = &device->info;
  char text[64];
  snprintf(text, sizeof(text), "%u", info->index);
  ort->AddKeyValuePair(pairs, LEATI_DEVICE_INDEX_KEY, text);
  ort->AddKeyValuePair(pairs, "leat_device_name", info->name);
  ort->AddKeyValuePair(pairs, "leat_driver", info->driver);
  char uuid[37];
  leati_shared_device_uuid_text(info->uuid, uuid);
  ort->AddKeyValuePair(pairs, "leat_device_uuid", uuid);
  leati_shared_device_uuid_text(info->driver_uuid, uuid);
  ort->AddKeyValuePair(pairs, "leat_driver_uuid", uuid);
  snprintf(text, sizeof(text), "%llu", (unsigned long long)info->memory_size);
  ort->AddKeyValuePair(pairs, "leat_memory_size", text);
  ort->AddKeyValuePair(pairs, "leat_software", info->flags & LEAT_DEVICE_SOFTWARE ? "1" : "0");
  if (info->pci_bus_id[0] != '\0') {
    ort->AddKeyValuePair(pairs, "pci_bus_id", info->pci_bus_id);
  }
}

OrtStatus *leati_hardware_describe(leati_shared_device *device, OrtEpFactory *factory,
                                   const OrtHardwareDevice **hardware, size_t hardware_count, OrtEpDevice **out) {
  const leati_runtime *runtime = device->runtime;
  const OrtHardwareDevice *found = take_hardware(device, hardware, hardware_count);
  OrtKeyValuePairs *facts = NULL;
  runtime->ort->CreateKeyValuePairs(&facts);
  if (facts == NULL) {
    return leati_status(runtime, ORT_FAIL, LEATI_PROVIDER_NAME ": out of memory");
  }
  add_facts(device, facts);
  OrtStatus *status = NULL;
  if (found == NULL && device->created == NULL) {
    /* What ONNX Runtime did not find is a software driver, or a card that /sys does not show. */
    status = runtime->ep->CreateHardwareDevice(OrtHardwareDeviceType_GPU, device->info.vendor_id,
                                               device->info.device_id, "Leat", facts, &device->created);
  }
  OrtEpDevice *made = NULL;
  if (status == NULL) {
    status = runtime->ep->CreateEpDevice(factory, found != NULL ? found : device->created, facts, NULL, &made);
  }
  if (status == NULL) {
    status = runtime->ep->EpDevice_AddAllocatorInfo(made, device->memory_info);
  }
  if (status == NULL && device->host_info != NULL) {
    status = runtime->ep->EpDevice_AddAllocatorInfo(made, device->host_info);
  }
  runtime->ort->ReleaseKeyValuePairs(facts);
  if (status != NULL) {
    if (made != NULL) {
      runtime->ep->ReleaseEpDevice(made);
    }
    return leati_status_prefix(runtime, status, LEATI_PROVIDER_NAME ": device %u (%s)", device->info.index,
                               device->info.name);
  }
  *out = made;
  return NULL;
}
