/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * importer_test: memory and timeline semaphores of a second VkDevice as inputs and outputs of a session, through ONNX
 * Runtime's importer of external resources. Exit 77: there is no device, or it shares no memory. With INTEROP_COPIES
 * set no result is looked at, for a driver that runs no kernels.
 */
#include <fcntl.h>
#include <onnxruntime_c_api.h>
#include <string.h>
#include <unistd.h>

#include "exporter.h"
#include "provider/ort_fixture.h"

#define COUNT 4096
#define BYTES (COUNT * sizeof(float))
/* Where the output lies in its memory. */
#define OFFSET 1024
#define ROUNDS 20

static ort_fixture fixture;
static const OrtInteropApi *interop;
static OrtExternalResourceImporter *importer;

#define ORT_OK(call) ort_fixture_check(&fixture, (call), #call)

/* A refusal says why. */
static void refused(OrtStatus *status, const char *why) {
  REQUIRE(status != NULL);
  REQUIRE(strstr(fixture.ort->GetErrorMessage(status), why) != NULL);
  fixture.ort->ReleaseStatus(status);
}

static void read_uuid(const char *key, uint8_t out[16]) {
  const char *at = fixture.ort->GetKeyValue(fixture.ort->EpDevice_EpMetadata(fixture.device), key);
  REQUIRE(at != NULL);
  for (int i = 0; i < 16; ++i) {
    unsigned byte;
    at += *at == '-';
    REQUIRE(sscanf(at, "%2x", &byte) == 1);
    out[i] = (uint8_t)byte;
    at += 2;
  }
}

static bool computes(void) {
  return getenv("INTEROP_COPIES") == NULL;
}

static void *native(int fd) {
  return (void *)(intptr_t)fd;
}

/* ---- What there is ------------------------------------------------------------------------------------------------
 */

static OrtExternalMemoryHandle *import_memory(exporter *e, const shared_memory *m) {
  const int fd = exporter_memory_fd(e, m);
  const OrtExternalMemoryDescriptor desc = {.version = ORT_API_VERSION,
                                            .handle_type = ORT_EXTERNAL_MEMORY_HANDLE_TYPE_VK_MEMORY_OPAQUE_FD,
                                            .native_handle = native(fd),
                                            .size_bytes = m->size};
  OrtExternalMemoryHandle *handle = NULL;
  ORT_OK(interop->ImportMemory(importer, &desc, &handle));
  /* It is the caller's as before. */
  REQUIRE(close(fd) == 0);
  return handle;
}

static OrtValue *tensor_at(const OrtExternalMemoryHandle *memory, size_t offset) {
  static const int64_t shape[1] = {COUNT};
  const OrtExternalTensorDescriptor desc = {.version = ORT_API_VERSION,
                                            .element_type = ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT,
                                            .shape = shape,
                                            .rank = 1,
                                            .offset_bytes = offset};
  OrtValue *value = NULL;
  ORT_OK(interop->CreateTensorFromMemory(importer, memory, &desc, &value));
  return value;
}

/* A session of y = -x, on Leat alone. */
static OrtSession *make_session(void) {
  static const int64_t shape[1] = {COUNT};
  const ort_session_request request = {.leat = true, .alone = true};
  ort_model model;
  OrtSession *session = NULL;
  ort_model_begin(&model, &fixture);
  ort_model_input(&model, "x", ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, shape, 1);
  ort_model_output(&model, "y", ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, shape, 1);
  ort_model_node(&model, "Neg", "negate", "x", "y", NULL, 0);
  ORT_OK(ort_model_session(&model, &request, &session));
  return session;
}

/* Input and output of a session in memory of the second device. */
typedef struct scene {
  exporter *e;
  shared_memory in, out;
  staging_memory staging_in, staging_out;
  OrtExternalMemoryHandle *in_handle, *out_handle;
  OrtValue *x, *y;
  OrtSession *session;
  OrtIoBinding *binding;
} scene;

static scene set_up(exporter *e) {
  scene s = {.e = e,
             .in = exporter_allocate(e, BYTES, false),
             .out = exporter_allocate(e, OFFSET + BYTES, false),
             .staging_in = exporter_stage(e, BYTES),
             .staging_out = exporter_stage(e, BYTES),
             .session = make_session()};
  s.in_handle = import_memory(e, &s.in);
  s.out_handle = import_memory(e, &s.out);
  s.x = tensor_at(s.in_handle, 0);
  s.y = tensor_at(s.out_handle, OFFSET);
  ORT_OK(fixture.ort->CreateIoBinding(s.session, &s.binding));
  ORT_OK(fixture.ort->BindInput(s.binding, "x", s.x));
  ORT_OK(fixture.ort->BindOutput(s.binding, "y", s.y));
  return s;
}

static void take_down(scene *s) {
  fixture.ort->ReleaseIoBinding(s->binding);
  fixture.ort->ReleaseValue(s->x);
  fixture.ort->ReleaseValue(s->y);
  interop->ReleaseExternalMemoryHandle(s->in_handle);
  interop->ReleaseExternalMemoryHandle(s->out_handle);
  fixture.ort->ReleaseSession(s->session);
  exporter_unstage(s->e, &s->staging_in);
  exporter_unstage(s->e, &s->staging_out);
  exporter_free(s->e, &s->in);
  exporter_free(s->e, &s->out);
}

static void write_input(const scene *s, int round) {
  float *const values = s->staging_in.mapped;
  for (int i = 0; i < COUNT; ++i) {
    values[i] = (float)(round * COUNT + i);
  }
}

static void check_output(const scene *s, int round) {
  const float *const values = s->staging_out.mapped;
  for (int i = 0; i < COUNT && computes(); ++i) {
    REQUIRE(values[i] == -(float)(round * COUNT + i));
  }
}

/* ---- Tests --------------------------------------------------------------------------------------------------------
 */

static void test_memory(exporter *e) {
  scene s = set_up(e);
  for (int round = 0; round < ROUNDS; ++round) {
    write_input(&s, round);
    exporter_copy(e, s.staging_in.buffer, 0, s.in.buffer, 0, BYTES, VK_NULL_HANDLE, 0, 0);
    exporter_finish(e);
    ORT_OK(fixture.ort->RunWithBinding(s.session, NULL, s.binding));
    exporter_copy(e, s.out.buffer, OFFSET, s.staging_out.buffer, 0, BYTES, VK_NULL_HANDLE, 0, 0);
    exporter_finish(e);
    check_output(&s, round);
  }
  take_down(&s);
}

/* The host waits for nothing but what it reads: ONNX Runtime puts the Run into the stream and returns. */
static void test_semaphores(exporter *e) {
  scene s = set_up(e);
  const VkSemaphore semaphore = exporter_semaphore(e);
  const int fd = exporter_semaphore_fd(e, semaphore);
  const OrtExternalSemaphoreDescriptor desc = {.version = ORT_API_VERSION,
                                               .type = ORT_EXTERNAL_SEMAPHORE_VK_TIMELINE_SEMAPHORE_OPAQUE_FD,
                                               .native_handle = native(fd)};
  OrtExternalSemaphoreHandle *handle = NULL;
  OrtSyncStream *stream = NULL;
  OrtRunOptions *options = NULL;
  ORT_OK(interop->ImportSemaphore(importer, &desc, &handle));
  REQUIRE(close(fd) == 0);
  ORT_OK(fixture.ort->CreateSyncStreamForEpDevice(fixture.device, NULL, &stream));
  ORT_OK(fixture.ort->CreateRunOptions(&options));
  ORT_OK(fixture.ort->AddRunConfigEntry(options, "disable_synchronize_execution_providers", "1"));
  fixture.ort->RunOptionsSetSyncStream(options, stream);
  for (int round = 0; round < ROUNDS; ++round) {
    const uint64_t base = 3 * (uint64_t)round;
    write_input(&s, round);
    exporter_copy(e, s.staging_in.buffer, 0, s.in.buffer, 0, BYTES, semaphore, base, base + 1);
    ORT_OK(interop->WaitSemaphore(importer, handle, stream, base + 1));
    ORT_OK(fixture.ort->RunWithBinding(s.session, options, s.binding));
    ORT_OK(interop->SignalSemaphore(importer, handle, stream, base + 2));
    exporter_copy(e, s.out.buffer, OFFSET, s.staging_out.buffer, 0, BYTES, semaphore, base + 2, base + 3);
    REQUIRE(exporter_wait(e, semaphore, base + 3));
    check_output(&s, round);
  }
  refused(interop->SignalSemaphore(importer, handle, stream, 1), "already");
  fixture.ort->ReleaseRunOptions(options);
  fixture.ort->ReleaseSyncStream(stream);
  interop->ReleaseExternalSemaphoreHandle(handle);
  exporter_semaphore_destroy(e, semaphore);
  take_down(&s);
}

static void test_refusals(exporter *e) {
  static const int64_t shape[1] = {COUNT};
  const shared_memory m = exporter_allocate(e, BYTES, false);
  const int fd = exporter_memory_fd(e, &m);
  const OrtExternalMemoryDescriptor good = {.version = ORT_API_VERSION,
                                            .handle_type = ORT_EXTERNAL_MEMORY_HANDLE_TYPE_VK_MEMORY_OPAQUE_FD,
                                            .native_handle = native(fd),
                                            .size_bytes = BYTES};
  OrtExternalMemoryDescriptor bad = good;
  OrtExternalMemoryHandle *memory = NULL;
  bool can = true;
  ORT_OK(interop->CanImportMemory(importer, ORT_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_RESOURCE, &can));
  REQUIRE(!can);
  bad.handle_type = ORT_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_RESOURCE;
  refused(interop->ImportMemory(importer, &bad, &memory), "VK_MEMORY_OPAQUE_FD");
  bad = good;
  bad.offset_bytes = BYTES;
  refused(interop->ImportMemory(importer, &bad, &memory), "offset_bytes");
  bad = good;
  bad.native_handle = native(-1);
  refused(interop->ImportMemory(importer, &bad, &memory), "descriptor");
  if (exporter_checks_descriptors(e)) {
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    bad.native_handle = native(nothing);
    refused(interop->ImportMemory(importer, &bad, &memory), "descriptor");
    (void)close(nothing);
  }

  bad = good;
  bad.offset_bytes = BYTES / 2;
  ORT_OK(interop->ImportMemory(importer, &bad, &memory));
  OrtValue *value = NULL;
  OrtExternalTensorDescriptor tensor = {
      .version = ORT_API_VERSION, .element_type = ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, .shape = shape, .rank = 1};
  /* Only half of the memory is behind the offset. */
  OrtStatus *const too_large = interop->CreateTensorFromMemory(importer, memory, &tensor, &value);
  REQUIRE(too_large != NULL);
  fixture.ort->ReleaseStatus(too_large);
  tensor.offset_bytes = BYTES;
  refused(interop->CreateTensorFromMemory(importer, memory, &tensor, &value), "offset_bytes");
  interop->ReleaseExternalMemoryHandle(memory);
  REQUIRE(close(fd) == 0);
  exporter_free(e, &m);
}

/* `can`: the device imports semaphores. `checked`: its driver may be shown what is none. */
static void test_semaphore_refusals(bool can, bool checked) {
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  OrtExternalSemaphoreDescriptor desc = {
      .version = ORT_API_VERSION, .type = ORT_EXTERNAL_SEMAPHORE_D3D12_FENCE, .native_handle = native(nothing)};
  OrtExternalSemaphoreHandle *handle = NULL;
  refused(interop->ImportSemaphore(importer, &desc, &handle), "VK_TIMELINE_SEMAPHORE_OPAQUE_FD");
  desc.type = ORT_EXTERNAL_SEMAPHORE_VK_TIMELINE_SEMAPHORE_OPAQUE_FD;
  if (!can || checked) {
    refused(interop->ImportSemaphore(importer, &desc, &handle), can ? "descriptor" : "the driver imports no");
  }
  (void)close(nothing);
}

int main(void) {
  uint8_t device_uuid[16], driver_uuid[16];
  bool memory = false, semaphores = false;
  ort_fixture_open(&fixture);
  ort_fixture_check(&fixture, ort_fixture_register(&fixture), "registering the provider");
  if (fixture.device == NULL) {
    printf("skipped: Leat finds no device\n");
    return ORT_FIXTURE_SKIPPED;
  }
  interop = fixture.ort->GetInteropApi();
  ORT_OK(interop->CreateExternalResourceImporterForDevice(fixture.device, &importer));
  REQUIRE(importer != NULL);
  ORT_OK(interop->CanImportMemory(importer, ORT_EXTERNAL_MEMORY_HANDLE_TYPE_VK_MEMORY_OPAQUE_FD, &memory));
  ORT_OK(interop->CanImportSemaphore(importer, ORT_EXTERNAL_SEMAPHORE_VK_TIMELINE_SEMAPHORE_OPAQUE_FD, &semaphores));
  read_uuid("leat_device_uuid", device_uuid);
  read_uuid("leat_driver_uuid", driver_uuid);
  exporter *const e = memory ? exporter_create(device_uuid, driver_uuid) : NULL;
  test_semaphore_refusals(semaphores, e != NULL && exporter_checks_descriptors(e));
  if (e != NULL) {
    test_memory(e);
    test_refusals(e);
    if (semaphores) {
      test_semaphores(e);
    }
    exporter_destroy(e);
  }
  printf("memory: %s, semaphores: %s\n", memory ? "right" : "left out", semaphores ? "right" : "left out");
  interop->ReleaseExternalResourceImporter(importer);
  ort_fixture_close(&fixture);
  return e != NULL ? 0 : ORT_FIXTURE_SKIPPED;
}
