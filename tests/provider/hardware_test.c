/* SPDX-License-Identifier: BSD-3-Clause */
/* host-shim/onnxruntime/hardware.c with an ONNX Runtime that has cards which this machine may lack: which of them is a
 * device of Leat's, and what is said of it. */
#include "onnxruntime/hardware.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define MOST 3

/* A card of ONNX Runtime's. */
typedef struct card {
  OrtHardwareDeviceType type;
  uint32_t vendor, model;
  const char *address; /* NULL: not known */
} card;

static OrtStatus *const failure = (OrtStatus *)0x1;

/* What ONNX Runtime was asked for. */
static struct {
  const void *made_on; /* the card of the last OrtEpDevice */
  unsigned created;    /* cards of our own */
  unsigned allocators; /* told of the last OrtEpDevice */
  int pairs, devices;  /* handed out and not given back */
  bool no_pairs, no_allocators;
  char facts[1024]; /* "key=value;" of each */
} told;
static card own_card;

OrtStatus *leati_status(const leati_runtime *runtime, OrtErrorCode code, const char *format, ...) {
  (void)runtime;
  (void)code;
  (void)format;
  return failure;
}

OrtStatus *leati_status_prefix(const leati_runtime *runtime, OrtStatus *status, const char *format, ...) {
  (void)runtime;
  (void)format;
  return status;
}

void leati_shared_device_uuid_text(const uint8_t uuid[16], char out[37]) {
  (void)snprintf(out, 37, "uuid %u", uuid[0]);
}

static const OrtKeyValuePairs *ORT_API_CALL metadata(const OrtHardwareDevice *device) {
  return (const OrtKeyValuePairs *)device;
}

static const char *ORT_API_CALL get_value(const OrtKeyValuePairs *pairs, const char *key) {
  return strcmp(key, "pci_bus_id") == 0 ? ((const card *)pairs)->address : NULL;
}

static OrtHardwareDeviceType ORT_API_CALL type_of(const OrtHardwareDevice *device) {
  return ((const card *)device)->type;
}

static uint32_t ORT_API_CALL vendor_of(const OrtHardwareDevice *device) {
  return ((const card *)device)->vendor;
}

static uint32_t ORT_API_CALL model_of(const OrtHardwareDevice *device) {
  return ((const card *)device)->model;
}

static void ORT_API_CALL create_pairs(OrtKeyValuePairs **out) {
  told.facts[0] = '\0';
  *out = told.no_pairs ? NULL : (OrtKeyValuePairs *)&told;
  told.pairs += *out != NULL;
}

static void ORT_API_CALL add_pair(OrtKeyValuePairs *pairs, const char *key, const char *value) {
  (void)pairs;
  const size_t used = strlen(told.facts);
  (void)snprintf(told.facts + used, sizeof(told.facts) - used, "%s=%s;", key, value);
}

static void ORT_API_CALL release_pairs(OrtKeyValuePairs *pairs) {
  told.pairs -= pairs != NULL;
}

static OrtStatus *ORT_API_CALL create_hardware(OrtHardwareDeviceType type, uint32_t vendor, uint32_t model,
                                               const char *vendor_name, const OrtKeyValuePairs *pairs,
                                               OrtHardwareDevice **out) {
  (void)vendor_name;
  (void)pairs;
  own_card = (card){.type = type, .vendor = vendor, .model = model};
  *out = (OrtHardwareDevice *)&own_card;
  ++told.created;
  return NULL;
}

static OrtStatus *ORT_API_CALL create_device(OrtEpFactory *factory, const OrtHardwareDevice *hardware,
                                             const OrtKeyValuePairs *pairs, const OrtKeyValuePairs *options,
                                             OrtEpDevice **out) {
  (void)factory;
  (void)pairs;
  (void)options;
  told.made_on = hardware;
  told.allocators = 0;
  *out = (OrtEpDevice *)&told;
  ++told.devices;
  return NULL;
}

static OrtStatus *ORT_API_CALL add_allocator(OrtEpDevice *device, const OrtMemoryInfo *info) {
  (void)device;
  (void)info;
  ++told.allocators;
  return told.no_allocators ? failure : NULL;
}

static void ORT_API_CALL release_device(OrtEpDevice *device) {
  told.devices -= device != NULL;
}

static const OrtApi ort = {.HardwareDevice_Metadata = metadata,
                           .GetKeyValue = get_value,
                           .HardwareDevice_Type = type_of,
                           .HardwareDevice_VendorId = vendor_of,
                           .HardwareDevice_DeviceId = model_of,
                           .CreateKeyValuePairs = create_pairs,
                           .AddKeyValuePair = add_pair,
                           .ReleaseKeyValuePairs = release_pairs};
static const OrtEpApi ep = {.CreateHardwareDevice = create_hardware,
                            .CreateEpDevice = create_device,
                            .EpDevice_AddAllocatorInfo = add_allocator,
                            .ReleaseEpDevice = release_device};
static const leati_runtime runtime = {.ort = &ort, .ep = &ep};

/* A device of Leat's, of vendor 16 and model 32. */
static leati_shared_device device_at(const char *address) {
  leati_shared_device device = {.runtime = &runtime,
                                .info = {.index = 7, .vendor_id = 16, .device_id = 32, .memory_size = 1u << 20}};
  (void)snprintf(device.info.pci_bus_id, sizeof(device.info.pci_bus_id), "%s", address);
  (void)snprintf(device.info.name, sizeof(device.info.name), "a card");
  return device;
}

/* Describes a device where there are these cards.
 * @return the number of the one that was taken, MOST: one of our own */
static size_t describe(leati_shared_device *device, const OrtHardwareDevice *left[MOST]) {
  OrtEpDevice *made = NULL;
  const OrtHardwareDevice *before[MOST];
  memcpy(before, left, sizeof(before));
  const unsigned created = told.created;
  assert_null(leati_hardware_describe(device, NULL, left, MOST, &made));
  assert_non_null(made);
  assert_int_equal(told.pairs, 0);
  size_t found = 0;
  while (found < MOST && (before[found] == NULL || told.made_on != before[found])) {
    ++found;
  }
  assert_true(found < MOST ? told.created == created : told.made_on == &own_card);
  /* It is taken out, and no other. */
  for (size_t i = 0; i < MOST; ++i) {
    assert_ptr_equal(left[i], i == found ? NULL : before[i]);
  }
  return found;
}

#define CARDS(of) \
  { (const OrtHardwareDevice *)&(of)[0], (const OrtHardwareDevice *)&(of)[1], (const OrtHardwareDevice *)&(of)[2] }

static void an_address_decides(void **state) {
  (void)state;
  static const card cards[MOST] = {{OrtHardwareDeviceType_GPU, 16, 32, "0000:0a:00.0"},
                                   {OrtHardwareDeviceType_GPU, 16, 32, "0000:0B:00.0"},
                                   {OrtHardwareDeviceType_CPU, 16, 32, NULL}};
  const OrtHardwareDevice *left[MOST] = CARDS(cards);
  leati_shared_device second = device_at("0000:0b:00.0"), first = device_at("0000:0a:00.0"),
                      third = device_at("0000:0c:00.0");
  assert_int_equal(describe(&second, left), 1);
  assert_int_equal(describe(&first, left), 0);
  assert_int_equal(describe(&third, left), MOST);
  assert_ptr_equal(third.created, &own_card);
  assert_int_equal(own_card.vendor, 16);
  assert_int_equal(own_card.model, 32);
  /* Asked once more, it has that one. */
  const unsigned created = told.created;
  assert_int_equal(describe(&third, left), MOST);
  assert_int_equal(told.created, created);
}

/* Without an address on one side the model does, once for each card. */
static void a_model_stands_for_an_address(void **state) {
  (void)state;
  static const card cards[MOST] = {{OrtHardwareDeviceType_CPU, 16, 32, NULL},
                                   {OrtHardwareDeviceType_GPU, 16, 33, NULL},
                                   {OrtHardwareDeviceType_GPU, 16, 32, NULL}};
  const OrtHardwareDevice *left[MOST] = CARDS(cards);
  leati_shared_device a = device_at("0000:0a:00.0"), b = device_at(""), software = device_at("");
  software.info.flags = LEAT_DEVICE_SOFTWARE;
  assert_int_equal(describe(&software, left), MOST);
  assert_int_equal(describe(&a, left), 2);
  assert_int_equal(describe(&b, left), MOST);
  static const card others[MOST] = {{OrtHardwareDeviceType_GPU, 17, 32, NULL},
                                    {OrtHardwareDeviceType_GPU, 16, 32, "0000:0a:00.0"},
                                    {OrtHardwareDeviceType_NPU, 16, 32, NULL}};
  const OrtHardwareDevice *known[MOST] = CARDS(others);
  leati_shared_device elsewhere = device_at("0000:0b:00.0"), nowhere = device_at("");
  assert_int_equal(describe(&elsewhere, known), MOST);
  assert_int_equal(describe(&nowhere, known), 1);
}

static void facts_are_told(void **state) {
  (void)state;
  static const card cards[MOST] = {{0}};
  const OrtHardwareDevice *left[MOST] = CARDS(cards);
  leati_shared_device device = device_at("0000:0a:00.0");
  device.info.uuid[0] = 3;
  device.info.driver_uuid[0] = 4;
  device.memory_info = (OrtMemoryInfo *)&told;
  (void)describe(&device, left);
  assert_int_equal(told.allocators, 1);
  assert_string_equal(told.facts,
                      "leat_device_index=7;leat_device_name=a card;leat_driver=;leat_device_uuid=uuid 3;"
                      "leat_driver_uuid=uuid 4;leat_memory_size=1048576;leat_software=0;pci_bus_id=0000:0a:00.0;");
  leati_shared_device software = device_at("");
  software.info.flags = LEAT_DEVICE_SOFTWARE;
  software.host_info = (OrtMemoryInfo *)&told;
  (void)describe(&software, left);
  assert_int_equal(told.allocators, 2);
  assert_non_null(strstr(told.facts, "leat_software=1;"));
  assert_null(strstr(told.facts, "pci_bus_id"));
}

static void failures_leave_nothing(void **state) {
  (void)state;
  const OrtHardwareDevice *left[MOST] = {NULL};
  leati_shared_device device = device_at("");
  OrtEpDevice *made = NULL;
  told.no_pairs = true;
  assert_ptr_equal(leati_hardware_describe(&device, NULL, left, MOST, &made), failure);
  told.no_pairs = false;
  told.no_allocators = true;
  const int devices = told.devices;
  assert_ptr_equal(leati_hardware_describe(&device, NULL, left, MOST, &made), failure);
  told.no_allocators = false;
  assert_null(made);
  assert_int_equal(told.devices, devices);
  assert_int_equal(told.pairs, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_address_decides),
      cmocka_unit_test(a_model_stands_for_an_address),
      cmocka_unit_test(facts_are_told),
      cmocka_unit_test(failures_leave_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
