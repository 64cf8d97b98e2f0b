/* SPDX-License-Identifier: BSD-3-Clause */
/* host-shim/onnxruntime/factory.c with as many devices as a test wants: which of them ONNX Runtime is told of, which
 * one a session, an allocator or a stream gets, and that a failure leaves nothing behind and nobody inside of the gate.
 */
#include "onnxruntime/factory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "onnxruntime/allocator.h"
#include "onnxruntime/ep.h"
#include "onnxruntime/hardware.h"
#include "onnxruntime/importer.h"
#include "onnxruntime/sync_stream.h"
#include "onnxruntime/transfer.h"
#include "provider/stand_ins.h"

/* The backend's number of the first device: a place in the factory is no number. */
#define FIRST 3u
/* What a factory has at most. */
#define MOST 8u
#define NONE UINT32_MAX

/* What is around the factory, and what it has made of it. */
static struct {
  uint32_t count;              /* devices of the backend, */
  int32_t count_code;          /* and what it says when it is asked for them */
  uint32_t unfit, undescribed; /* the device that cannot be made, and the one that ONNX Runtime cannot be told of */
  bool no_runtime, no_registry;
  const char *wanted; /* option 'device' of the next session, or NULL */
  bool no_options, no_ep, no_allocator;
  int devices, registries, told, eps, options; /* made and not given back */
  unsigned registered;                         /* exit handlers */
  const OrtHardwareDevice *const *cards;       /* the list that devices take their cards from */
  const leati_shared_device *given;            /* the device that was last handed on */
  bool host;                                   /* what the last allocator gives memory of */
  leati_allocator_owner owner;                 /* whom it tells that it is gone */
} world;

/* Memory as ONNX Runtime describes it. */
typedef struct memory {
  uint32_t vendor;
  int index;
  OrtDeviceMemoryType type;
} memory;

/* ---- What the factory stands on -----------------------------------------------------------------------------------
 */

void leati_ep_gate_register(void) {
  ++world.registered;
}

static int32_t count_devices(uint32_t *out, leat_error *error) {
  (void)error;
  *out = world.count;
  return world.count_code;
}

static const char *ORT_API_CALL get_value(const OrtKeyValuePairs *pairs, const char *key) {
  return strcmp(key, LEATI_DEVICE_INDEX_KEY) == 0 ? (const char *)pairs : NULL;
}

static const OrtKeyValuePairs *ORT_API_CALL metadata_of(const OrtEpDevice *device) {
  return (const OrtKeyValuePairs *)device;
}

static OrtStatus *ORT_API_CALL index_of(const OrtMemoryInfo *info, int *out) {
  *out = ((const memory *)info)->index;
  return NULL;
}

static uint32_t ORT_API_CALL vendor_of(const OrtMemoryInfo *info) {
  return ((const memory *)info)->vendor;
}

static const OrtMemoryDevice *ORT_API_CALL device_of(const OrtMemoryInfo *info) {
  return (const OrtMemoryDevice *)info;
}

static OrtDeviceMemoryType ORT_API_CALL type_of_device(const OrtMemoryDevice *device) {
  return ((const memory *)device)->type;
}

static uint32_t ORT_API_CALL vendor_of_device(const OrtMemoryDevice *device) {
  return ((const memory *)device)->vendor;
}

static uint32_t ORT_API_CALL index_of_device(const OrtMemoryDevice *device) {
  return (uint32_t)((const memory *)device)->index;
}

static void ORT_API_CALL release_device(OrtEpDevice *device) {
  assert_non_null(device);
  --world.told;
}

OrtStatus *leati_runtime_init(leati_runtime *out, const OrtApiBase *base, const OrtLogger *logger) {
  static const leat_device_api device = {.count = count_devices};
  static const leat_backend_api leat = {.device = &device};
  static const OrtApi ort = {.GetKeyValue = get_value,
                             .EpDevice_EpMetadata = metadata_of,
                             .MemoryInfoGetId = index_of,
                             .MemoryInfoGetVendorId = vendor_of};
  static const OrtEpApi ep = {.MemoryInfo_GetMemoryDevice = device_of,
                              .MemoryDevice_GetMemoryType = type_of_device,
                              .MemoryDevice_GetVendorId = vendor_of_device,
                              .MemoryDevice_GetDeviceId = index_of_device,
                              .ReleaseEpDevice = release_device};
  (void)base;
  *out = (leati_runtime){.ort = &ort, .ep = &ep, .leat = &leat, .logger = logger, .version = ORT_API_VERSION};
  return world.no_runtime ? FAILURE : NULL;
}

bool leati_kernel_registry_init(leati_kernel_registry *registry, const leati_runtime *runtime) {
  registry->runtime = runtime;
  world.registries += !world.no_registry;
  return !world.no_registry;
}

void leati_kernel_registry_clear(leati_kernel_registry *registry) {
  (void)registry;
  --world.registries;
}

/* Every other one has memory of the host, too. */
OrtStatus *leati_shared_device_init(leati_shared_device *device, const leati_runtime *runtime, uint32_t index) {
  if (index == world.unfit) {
    return FAILURE;
  }
  *device = (leati_shared_device){.runtime = runtime, .info = {.index = FIRST + index}};
  device->host_info = index % 2 == 0 ? (OrtMemoryInfo *)&world : NULL;
  (void)snprintf(device->info.name, sizeof(device->info.name), "card %u", index);
  ++world.devices;
  return NULL;
}

void leati_shared_device_clear(leati_shared_device *device) {
  (void)device;
  --world.devices;
}

bool leati_shared_device_matches(const leati_shared_device *device, const char *text) {
  return strcmp(device->info.name, text) == 0;
}

void leati_shared_device_uuid_text(const uint8_t uuid[16], char out[37]) {
  (void)uuid;
  (void)snprintf(out, 37, "a uuid");
}

OrtStatus *leati_hardware_describe(leati_shared_device *device, OrtEpFactory *factory,
                                   const OrtHardwareDevice **hardware, size_t hardware_count, OrtEpDevice **out) {
  assert_non_null(factory);
  assert_int_equal(hardware_count, 1);
  /* All take from one list, which is not ONNX Runtime's own. */
  assert_true(world.cards == NULL || world.cards == hardware);
  world.cards = hardware;
  hardware[0] = NULL;
  if (device->info.index == FIRST + world.undescribed) {
    return FAILURE;
  }
  ++world.told;
  *out = (OrtEpDevice *)device;
  return NULL;
}

OrtStatus *leati_session_options_read(leati_session_options *out, const leati_runtime *runtime,
                                      const OrtSessionOptions *session, const OrtLogger *logger) {
  (void)runtime;
  (void)session;
  (void)logger;
  out->device = world.wanted != NULL ? strdup(world.wanted) : NULL;
  ++world.options;
  return world.no_options ? FAILURE : NULL;
}

void leati_session_options_clear(leati_session_options *options) {
  free(options->device);
  --world.options;
}

OrtStatus *leati_ep_create(leati_shared_device *device, leati_kernel_registry *registry, leati_session_options *options,
                           const OrtLogger *logger, OrtEp **out) {
  (void)options;
  (void)logger;
  assert_ptr_equal(registry->runtime, device->runtime);
  world.given = device;
  if (world.no_ep) {
    return FAILURE;
  }
  ++world.eps;
  *out = (OrtEp *)&world;
  return NULL;
}

void leati_ep_destroy(OrtEp *ep) {
  assert_ptr_equal(ep, &world);
  --world.eps;
}

OrtStatus *leati_allocator_create(leati_shared_device *device, bool host, leati_allocator_owner owner,
                                  OrtAllocator **out) {
  world.given = device;
  world.host = host;
  world.owner = owner;
  *out = world.no_allocator ? NULL : (OrtAllocator *)&world;
  return world.no_allocator ? FAILURE : NULL;
}

void leati_allocator_destroy(OrtAllocator *allocator) {
  assert_ptr_equal(allocator, &world);
  world.owner.gone(world.owner.owner);
}

OrtStatus *leati_transfer_create(leati_shared_device *devices, uint32_t device_count, const leati_runtime *runtime,
                                 OrtDataTransferImpl **out) {
  (void)runtime;
  world.given = devices;
  assert_int_equal(device_count, world.devices);
  *out = (OrtDataTransferImpl *)&world;
  return NULL;
}

OrtStatus *leati_sync_stream_create(leati_shared_device *device, OrtSyncStreamImpl **out) {
  world.given = device;
  *out = (OrtSyncStreamImpl *)&world;
  return NULL;
}

OrtStatus *leati_importer_create(leati_shared_device *device, const OrtEpDevice *ep_device,
                                 OrtExternalResourceImporterImpl **out) {
  (void)ep_device;
  world.given = device;
  *out = (OrtExternalResourceImporterImpl *)&world;
  return NULL;
}

/* ---- Helpers ------------------------------------------------------------------------------------------------------
 */

static OrtStatus *try_factory(OrtEpFactory **out) {
  size_t count = 7;
  *out = NULL;
  OrtStatus *status = CreateEpFactories("leat", NULL, NULL, out, 1, &count);
  assert_int_equal(count, *out != NULL);
  assert_int_equal(around.inside, 0);
  return status;
}

static int forget_world(void **state) {
  (void)state;
  memset(&world, 0, sizeof(world));
  memset(&around, 0, sizeof(around));
  world.unfit = world.undescribed = NONE;
  return 0;
}

static OrtEpFactory *factory_of(uint32_t devices) {
  OrtEpFactory *made = NULL;
  world.count = devices;
  assert_null(try_factory(&made));
  assert_non_null(made);
  assert_int_equal(world.devices, devices < MOST ? devices : MOST);
  return made;
}

static void expect_nothing_left(void) {
  assert_int_equal(world.devices, 0);
  assert_int_equal(world.registries, 0);
  assert_int_equal(around.inside, 0);
}

static void release(OrtEpFactory *factory) {
  assert_null(ReleaseEpFactory(factory));
  expect_nothing_left();
}

/* ---- Devices ------------------------------------------------------------------------------------------------------
 */

/* Asks for devices where ONNX Runtime has one card and room for so many. */
static OrtStatus *ask_for_devices(OrtEpFactory *factory, size_t room, OrtEpDevice *out[MOST], size_t *out_count) {
  const OrtHardwareDevice *card = (const OrtHardwareDevice *)&world;
  world.cards = NULL;
  *out_count = 7;
  OrtStatus *status = factory->GetSupportedDevices(factory, &card, 1, out, room, out_count);
  assert_int_equal(around.inside, 0);
  assert_non_null(card);
  return status;
}

static void each_device_is_told_of(void **state) {
  (void)state;
  OrtEpFactory *const factory = factory_of(3);
  OrtEpDevice *out[MOST] = {NULL};
  size_t count = 0;
  assert_null(ask_for_devices(factory, MOST, out, &count));
  assert_int_equal(count, 3);
  assert_int_equal(world.told, 3);
  for (uint32_t i = 0; i < 3; ++i) {
    assert_int_equal(((const leati_shared_device *)out[i])->info.index, FIRST + i);
  }
  /* No more than there is room for. */
  world.told = 0;
  assert_null(ask_for_devices(factory, 2, out, &count));
  assert_int_equal(count, 2);
  assert_int_equal(world.told, 2);
  release(factory);
}

static void one_that_cannot_be_told_of_takes_the_others_back(void **state) {
  (void)state;
  OrtEpFactory *const factory = factory_of(3);
  OrtEpDevice *out[MOST] = {NULL};
  size_t count = 0;
  for (uint32_t i = 0; i < 3; ++i) {
    world.undescribed = i;
    assert_ptr_equal(ask_for_devices(factory, MOST, out, &count), FAILURE);
    assert_int_equal(count, 0);
    assert_int_equal(world.told, 0);
  }
  release(factory);
}

static void there_may_be_no_device_or_many(void **state) {
  (void)state;
  OrtEpFactory *factory = factory_of(0);
  OrtEpDevice *out[MOST] = {NULL};
  size_t count = 0;
  assert_int_equal(around.warnings, 1);
  assert_null(ask_for_devices(factory, MOST, out, &count));
  assert_int_equal(count, 0);
  release(factory);
  factory = factory_of(MOST + 1);
  assert_int_equal(around.warnings, 1);
  assert_null(ask_for_devices(factory, MOST, out, &count));
  assert_int_equal(count, MOST);
  release(factory);
}

static void a_factory_that_fails_leaves_nothing(void **state) {
  (void)state;
  OrtEpFactory *factory = NULL;
  world.count = 3;
  for (world.unfit = 0; world.unfit < 3; ++world.unfit) {
    assert_ptr_equal(try_factory(&factory), FAILURE);
    expect_nothing_left();
  }
  world.count_code = LEAT_ERROR_OUT_OF_MEMORY;
  assert_ptr_equal(try_factory(&factory), FAILURE);
  expect_nothing_left();
  world.no_registry = true;
  assert_ptr_equal(try_factory(&factory), FAILURE);
  expect_nothing_left();
  world.no_runtime = true;
  assert_ptr_equal(try_factory(&factory), FAILURE);
  assert_null(factory);
  /* Whatever it was, drivers may have been loaded by then. */
  assert_int_equal(world.registered, 6);
}

/* ---- Sessions -----------------------------------------------------------------------------------------------------
 */

/* Makes a session of devices that are given by number, up to NULL. */
static OrtStatus *try_session(OrtEpFactory *factory, const char *const numbers[], OrtEp **out) {
  size_t count = 0;
  while (numbers[count] != NULL) {
    ++count;
  }
  world.given = NULL;
  *out = (OrtEp *)0x1;
  OrtStatus *status =
      factory->CreateEp(factory, NULL, (const OrtKeyValuePairs *const *)numbers, count, NULL, NULL, out);
  assert_int_equal(around.inside, 0);
  assert_int_equal(world.options, 0);
  assert_ptr_equal(*out, status == NULL ? (OrtEp *)&world : NULL);
  return status;
}

/* Checks which device a session gets, and what is written to the log. */
static void expect_session(OrtEpFactory *factory, const char *const numbers[], uint32_t number, unsigned warnings) {
  OrtEp *ep = NULL;
  const unsigned before = around.warnings;
  assert_null(try_session(factory, numbers, &ep));
  assert_int_equal(world.given->info.index, number);
  assert_int_equal(around.warnings - before, warnings);
  assert_int_equal(world.eps, 1);
  factory->ReleaseEp(factory, ep);
  assert_int_equal(world.eps, 0);
  assert_int_equal(around.inside, 0);
}

static void expect_no_session(OrtEpFactory *factory, const char *const numbers[], const char *word) {
  OrtEp *ep = NULL;
  assert_ptr_equal(try_session(factory, numbers, &ep), FAILURE);
  assert_non_null(strstr(around.message, word));
  assert_null(world.given);
}

static void a_session_gets_the_device_that_is_meant(void **state) {
  (void)state;
  static const char *const second[] = {"4", NULL}, *const two[] = {"5", "3", NULL}, *const strange[] = {"9", "4", NULL},
                           *const none[] = {NULL}, *const other[] = {"9", NULL};
  OrtEpFactory *const factory = factory_of(3);
  expect_session(factory, second, 4, 0);
  expect_session(factory, two, 5, 1);
  expect_session(factory, strange, 4, 1);
  expect_no_session(factory, none, "given no device");
  expect_no_session(factory, other, "given no device");
  world.wanted = "card 0";
  expect_session(factory, two, 3, 1);
  expect_no_session(factory, second, "option 'device' is 'card 0', but the session was given device 4 (card 1");
  world.wanted = "card 1";
  expect_no_session(factory, two, "given device 5");
  release(factory);
}

static void a_session_that_fails_leaves_nothing(void **state) {
  (void)state;
  static const char *const second[] = {"4", NULL};
  OrtEpFactory *const factory = factory_of(2);
  OrtEp *ep = NULL;
  world.no_ep = true;
  assert_ptr_equal(try_session(factory, second, &ep), FAILURE);
  assert_int_equal(world.given->info.index, 4);
  world.no_options = true;
  assert_ptr_equal(try_session(factory, second, &ep), FAILURE);
  assert_null(world.given);
  factory->ReleaseEp(factory, NULL);
  assert_int_equal(around.inside, 0);
  release(factory);
}

/* ---- Memory, copies and streams -----------------------------------------------------------------------------------
 */

/* Asks for an allocator; gives the device's number, or NONE. */
static uint32_t allocator_of(OrtEpFactory *factory, memory of, OrtAllocator **out) {
  world.given = NULL;
  OrtStatus *const status = factory->CreateAllocator(factory, (const OrtMemoryInfo *)&of, NULL, out);
  assert_int_equal(around.inside, 0);
  assert_ptr_equal(*out, status == NULL ? (OrtAllocator *)&world : NULL);
  return status == NULL ? world.given->info.index : NONE;
}

/* Asks for one that is released again. */
static uint32_t try_allocator(OrtEpFactory *factory, memory of) {
  OrtAllocator *made = NULL;
  const uint32_t index = allocator_of(factory, of, &made);
  factory->ReleaseAllocator(factory, made);
  assert_int_equal(around.inside, 0);
  return index;
}

static void an_allocator_is_of_one_device(void **state) {
  (void)state;
  const OrtDeviceMemoryType device = OrtDeviceMemoryType_DEFAULT, host = OrtDeviceMemoryType_HOST_ACCESSIBLE;
  OrtEpFactory *const factory = factory_of(2);
  assert_int_equal(try_allocator(factory, (memory){LEATI_VENDOR_ID, 3, device}), 3);
  assert_false(world.host);
  assert_int_equal(try_allocator(factory, (memory){LEATI_VENDOR_ID, 4, device}), 4);
  assert_int_equal(try_allocator(factory, (memory){LEATI_VENDOR_ID, 3, host}), 3);
  assert_true(world.host);
  /* It has no such memory; it is no device; it is somebody else's. */
  assert_int_equal(try_allocator(factory, (memory){LEATI_VENDOR_ID, 4, host}), NONE);
  assert_int_equal(try_allocator(factory, (memory){LEATI_VENDOR_ID, 5, device}), NONE);
  assert_int_equal(try_allocator(factory, (memory){LEATI_VENDOR_ID, -1, device}), NONE);
  assert_int_equal(try_allocator(factory, (memory){LEATI_VENDOR_ID + 1, 3, device}), NONE);
  world.no_allocator = true;
  assert_int_equal(try_allocator(factory, (memory){LEATI_VENDOR_ID, 3, device}), NONE);
  /* None of them holds it. */
  release(factory);
}

/* What an allocator gave away may be freed by it when the library is registered no more. */
static void an_allocator_holds_its_factory(void **state) {
  (void)state;
  OrtEpFactory *const factory = factory_of(2);
  OrtAllocator *made = NULL;
  assert_int_equal(allocator_of(factory, (memory){LEATI_VENDOR_ID, 3, OrtDeviceMemoryType_DEFAULT}, &made), 3);
  assert_null(ReleaseEpFactory(factory));
  assert_int_equal(world.devices, 2);
  leati_allocator_destroy(made);
  expect_nothing_left();
}

static void streams_copies_and_importers_are_of_a_device(void **state) {
  (void)state;
  OrtEpFactory *const factory = factory_of(2);
  const memory ours = {LEATI_VENDOR_ID, 4, OrtDeviceMemoryType_DEFAULT},
               strange = {LEATI_VENDOR_ID + 1, 4, OrtDeviceMemoryType_DEFAULT},
               unknown = {LEATI_VENDOR_ID, 5, OrtDeviceMemoryType_DEFAULT};
  OrtSyncStreamImpl *stream = NULL;
  assert_null(factory->CreateSyncStreamForDevice(factory, (const OrtMemoryDevice *)&ours, NULL, &stream));
  assert_ptr_equal(stream, &world);
  assert_int_equal(world.given->info.index, 4);
  assert_ptr_equal(factory->CreateSyncStreamForDevice(factory, (const OrtMemoryDevice *)&strange, NULL, &stream),
                   FAILURE);
  assert_null(stream);
  assert_ptr_equal(factory->CreateSyncStreamForDevice(factory, (const OrtMemoryDevice *)&unknown, NULL, &stream),
                   FAILURE);
  OrtExternalResourceImporterImpl *importer = NULL;
  world.given = NULL;
  assert_null(
      factory->CreateExternalResourceImporterForDevice(factory, (const OrtEpDevice *)(const void *)"4", &importer));
  assert_ptr_equal(importer, &world);
  assert_int_equal(world.given->info.index, 4);
  assert_ptr_equal(
      factory->CreateExternalResourceImporterForDevice(factory, (const OrtEpDevice *)(const void *)"9", &importer),
      FAILURE);
  assert_null(importer);
  OrtDataTransferImpl *transfer = NULL;
  assert_null(factory->CreateDataTransfer(factory, &transfer));
  assert_ptr_equal(transfer, &world);
  assert_int_equal(world.given->info.index, FIRST);
  release(factory);
}

/* ---- The gate -----------------------------------------------------------------------------------------------------
 */

static void behind_a_closed_gate_nothing_is_made_or_released(void **state) {
  (void)state;
  static const char *const first[] = {"3", NULL};
  const memory ours = {LEATI_VENDOR_ID, 3, OrtDeviceMemoryType_DEFAULT};
  OrtEpFactory *const factory = factory_of(2);
  OrtEpFactory *second = NULL;
  OrtEpDevice *out[MOST] = {NULL};
  size_t count = 0;
  OrtEp *ep = NULL, *late = NULL;
  OrtAllocator *allocator = NULL, *late_allocator = NULL;
  OrtSyncStreamImpl *stream = NULL;
  OrtExternalResourceImporterImpl *importer = NULL;
  OrtDataTransferImpl *transfer = NULL;
  assert_null(try_session(factory, first, &ep));
  assert_int_equal(allocator_of(factory, ours, &allocator), 3);
  around.gate = LEATI_GATE_CLOSED;
  assert_ptr_equal(ask_for_devices(factory, MOST, out, &count), FAILURE);
  assert_int_equal(count, 0);
  assert_ptr_equal(try_session(factory, first, &late), FAILURE);
  assert_int_equal(allocator_of(factory, ours, &late_allocator), NONE);
  assert_ptr_equal(factory->CreateSyncStreamForDevice(factory, (const OrtMemoryDevice *)&ours, NULL, &stream), FAILURE);
  assert_ptr_equal(
      factory->CreateExternalResourceImporterForDevice(factory, (const OrtEpDevice *)(const void *)"3", &importer),
      FAILURE);
  assert_ptr_equal(factory->CreateDataTransfer(factory, &transfer), FAILURE);
  assert_null(try_factory(&second));
  assert_null(second);
  factory->ReleaseEp(factory, ep);
  factory->ReleaseAllocator(factory, allocator);
  assert_null(ReleaseEpFactory(factory));
  assert_int_equal(around.inside, 0);
  assert_int_equal(world.eps, 1);
  assert_int_equal(world.devices, 2);
  around.gate = LEATI_GATE_OPEN;
  factory->ReleaseEp(factory, ep);
  factory->ReleaseAllocator(factory, allocator);
  assert_int_equal(world.eps, 0);
  release(factory);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(each_device_is_told_of, forget_world),
      cmocka_unit_test_setup(one_that_cannot_be_told_of_takes_the_others_back, forget_world),
      cmocka_unit_test_setup(there_may_be_no_device_or_many, forget_world),
      cmocka_unit_test_setup(a_factory_that_fails_leaves_nothing, forget_world),
      cmocka_unit_test_setup(a_session_gets_the_device_that_is_meant, forget_world),
      cmocka_unit_test_setup(a_session_that_fails_leaves_nothing, forget_world),
      cmocka_unit_test_setup(an_allocator_is_of_one_device, forget_world),
      cmocka_unit_test_setup(an_allocator_holds_its_factory, forget_world),
      cmocka_unit_test_setup(streams_copies_and_importers_are_of_a_device, forget_world),
      cmocka_unit_test_setup(behind_a_closed_gate_nothing_is_made_or_released, forget_world),
  };
  return cmocka_run_group_tests_name("factory", tests, NULL, NULL);
}
