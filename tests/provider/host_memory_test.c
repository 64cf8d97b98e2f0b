/* SPDX-License-Identifier: BSD-3-Clause */
/* HOST_ACCESSIBLE memory: outputs of Runs go there without a copy by the host, whatever bound them, and what is there
 * can be used as any tensor on the host, also when its session or the library is gone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "crowd.h"
#include "layer.h"

#define FLOAT ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT
#define THREADS 8
#define RUNS 10
/* Floats of a tensor: as many as a kernel downloads, and more. */
static const int64_t sizes[] = {6, 3000, 200000};
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

static ort_fixture fixture;

static const OrtMemoryInfo *host_info(void) {
  const OrtMemoryInfo *info = fixture.ort->EpDevice_MemoryInfo(fixture.device, OrtDeviceMemoryType_HOST_ACCESSIBLE);
  assert_non_null(info);
  return info;
}

static OrtAllocator *shared_allocator(OrtDeviceMemoryType type) {
  OrtAllocator *allocator = NULL;
  const OrtMemoryInfo *info = fixture.ort->EpDevice_MemoryInfo(fixture.device, type);
  ort_fixture_check(&fixture, fixture.ort->GetSharedAllocator(fixture.env, info, &allocator), "GetSharedAllocator");
  assert_non_null(allocator);
  return allocator;
}

/* Bytes of the host's memory that are held. */
static long long in_use(void) {
  OrtKeyValuePairs *stats = NULL;
  ort_fixture_check(&fixture,
                    fixture.ort->AllocatorGetStats(shared_allocator(OrtDeviceMemoryType_HOST_ACCESSIBLE), &stats),
                    "AllocatorGetStats");
  const char *value = fixture.ort->GetKeyValue(stats, "InUse");
  assert_non_null(value);
  const long long bytes = atoll(value);
  fixture.ort->ReleaseKeyValuePairs(stats);
  return bytes;
}

static float *floats_of(OrtValue *value) {
  void *data = NULL;
  ort_fixture_check(&fixture, fixture.ort->GetTensorMutableData(value, &data), "data");
  return data;
}

static OrtDeviceMemoryType type_of(const OrtValue *value) {
  const OrtMemoryInfo *info = NULL;
  ort_fixture_check(&fixture, fixture.ort->GetTensorMemoryInfo(value, &info), "memory info");
  return fixture.ort->MemoryInfoGetDeviceMemType(info);
}

/* A tensor of floats in a memory of Leat's. */
static OrtValue *tensor_in(OrtDeviceMemoryType type, int64_t count) {
  OrtValue *value = NULL;
  ort_fixture_check(&fixture, fixture.ort->CreateTensorAsOrtValue(shared_allocator(type), &count, 1, FLOAT, &value),
                    "a tensor");
  return value;
}

static void fill(float *floats, int64_t count, unsigned seed) {
  for (int64_t i = 0; i < count; ++i) {
    floats[i] = (float)((i * 7 + seed * 13) % 1009) - 500.0f;
  }
}

/* Whether floats are those of fill(), with their sign changed. */
static bool is_negated(const float *floats, int64_t count, unsigned seed) {
  int64_t i = 0;
  while (i < count && floats[i] == 500.0f - (float)((i * 7 + seed * 13) % 1009)) {
    i++;
  }
  return i == count;
}

/* y = -x, of any size. */
static OrtSession *negation(void) {
  const int64_t any[] = {-1};
  OrtSession *session = NULL;
  ort_model model;
  ort_model_begin(&model, &fixture);
  ort_model_input(&model, "x", FLOAT, any, 1);
  ort_model_output(&model, "y", FLOAT, any, 1);
  ort_model_node(&model, "Neg", "neg", "x", "y", NULL, 0);
  ort_fixture_check(&fixture, ort_model_session(&model, &(ort_session_request){.leat = true}, &session), "session");
  return session;
}

static OrtRunOptions *unsynchronized(void) {
  OrtRunOptions *options = NULL;
  ort_fixture_check(&fixture, fixture.ort->CreateRunOptions(&options), "options");
  ort_fixture_check(&fixture, fixture.ort->AddRunConfigEntry(options, "disable_synchronize_execution_providers", "1"),
                    "entry");
  return options;
}

static void run_to(OrtSession *session, const OrtRunOptions *options, const OrtValue *x, OrtValue **y) {
  ort_fixture_check(
      &fixture, fixture.ort->Run(session, options, (const char *const[]){"x"}, &x, 1, (const char *const[]){"y"}, 1, y),
      "Run");
}

static void test_it_is_memory_of_the_host(void **state) {
  (void)state;
  OrtAllocator *allocator = shared_allocator(OrtDeviceMemoryType_HOST_ACCESSIBLE);
  assert_int_equal(fixture.ort->MemoryInfoGetDeviceMemType(allocator->Info(allocator)),
                   OrtDeviceMemoryType_HOST_ACCESSIBLE);
  const long long before = in_use();
  char *block = allocator->Alloc(allocator, 100000);
  assert_non_null(block);
  assert_int_equal((uintptr_t)block % 64, 0);
  memset(block, 7, 100000);
  assert_int_equal(in_use() - before, 100000);
  allocator->Free(allocator, block);
  assert_int_equal(in_use(), before);
  assert_null(allocator->Alloc(allocator, (size_t)1 << 50));
}

/* Outputs that the caller made, synchronized or not. */
static unsigned run_into(unsigned index, void *context) {
  OrtSession *session = context;
  OrtRunOptions *options[2] = {NULL, unsynchronized()};
  unsigned failures = 0;
  for (unsigned run = 0; run < RUNS; ++run) {
    const int64_t count = sizes[(run + index) % SIZES];
    const unsigned seed = index * RUNS + run;
    OrtValue *x = ort_fixture_tensor(&fixture, FLOAT, &count, 1, NULL);
    OrtValue *y = tensor_in(OrtDeviceMemoryType_HOST_ACCESSIBLE, count);
    fill(floats_of(x), count, seed);
    memset(floats_of(y), 0xff, (size_t)count * sizeof(float));
    run_to(session, options[run % 2], x, &y);
    failures += !is_negated(floats_of(y), count, seed);
    fixture.ort->ReleaseValue(x);
    fixture.ort->ReleaseValue(y);
  }
  fixture.ort->ReleaseRunOptions(options[1]);
  return failures;
}

static void test_outputs_of_the_callers(void **state) {
  (void)state;
  OrtSession *session = negation();
  assert_int_equal(run_into(0, session), 0);
  assert_int_equal(crowd_run(THREADS, run_into, session), 0);
  fixture.ort->ReleaseSession(session);
  assert_int_equal(in_use(), 0);
}

/* Outputs that ONNX Runtime makes where a binding says; those of a plain Run it makes elsewhere. */
static void test_outputs_of_onnx_runtimes(void **state) {
  (void)state;
  const OrtApi *ort = fixture.ort;
  OrtSession *session = negation();
  OrtAllocator *plain = NULL;
  OrtIoBinding *binding = NULL;
  ort_fixture_check(&fixture, ort->GetAllocatorWithDefaultOptions(&plain), "allocator");
  ort_fixture_check(&fixture, ort->CreateIoBinding(session, &binding), "binding");
  for (unsigned run = 0; run < RUNS; ++run) {
    const int64_t count = sizes[run % SIZES];
    OrtValue **outputs = NULL, *x = ort_fixture_tensor(&fixture, FLOAT, &count, 1, NULL), *y = NULL;
    size_t made = 0;
    fill(floats_of(x), count, run);
    ort_fixture_check(&fixture, ort->BindInput(binding, "x", x), "BindInput");
    ort_fixture_check(&fixture, ort->BindOutputToDevice(binding, "y", host_info()), "BindOutputToDevice");
    ort_fixture_check(&fixture, ort->RunWithBinding(session, NULL, binding), "RunWithBinding");
    ort_fixture_check(&fixture, ort->GetBoundOutputValues(binding, plain, &outputs, &made), "outputs");
    assert_int_equal(made, 1);
    assert_int_equal(type_of(outputs[0]), OrtDeviceMemoryType_HOST_ACCESSIBLE);
    assert_true(is_negated(floats_of(outputs[0]), count, run));
    assert_true(in_use() >= count * (long long)sizeof(float));
    ort->ReleaseValue(outputs[0]);
    plain->Free(plain, outputs);
    ort->ClearBoundOutputs(binding);
    run_to(session, NULL, x, &y);
    assert_int_equal(type_of(y), OrtDeviceMemoryType_DEFAULT);
    assert_true(is_negated(floats_of(y), count, run));
    assert_int_equal(in_use(), 0);
    ort->ReleaseValue(y);
    ort->ReleaseValue(x);
  }
  ort->ReleaseIoBinding(binding);
  ort->ReleaseSession(session);
}

/* Inputs for nodes of Leat's and of the CPU provider's, read before the Run is over: they may change then. */
static void test_inputs(void **state) {
  (void)state;
  const int64_t any[] = {-1}, found[] = {1, -1};
  OrtSession *session = NULL;
  ort_model model;
  ort_model_begin(&model, &fixture);
  ort_model_input(&model, "x", FLOAT, any, 1);
  ort_model_output(&model, "y", FLOAT, any, 1);
  ort_model_output(&model, "where", ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, found, 2);
  ort_model_node(&model, "Neg", "neg", "x", "y", NULL, 0);
  ort_model_node(&model, "NonZero", "nonzero", "x", "where", NULL, 0);
  ort_fixture_check(&fixture, ort_model_session(&model, &(ort_session_request){.leat = true}, &session), "session");
  for (unsigned run = 0; run < RUNS; ++run) {
    const int64_t count = sizes[run % SIZES];
    OrtValue *x = tensor_in(OrtDeviceMemoryType_HOST_ACCESSIBLE, count), *y[2] = {NULL};
    size_t bytes = 0;
    fill(floats_of(x), count, run);
    int64_t zeros = 0;
    for (int64_t i = 0; i < count; ++i) {
      zeros += floats_of(x)[i] == 0.0f;
    }
    ort_fixture_check(&fixture, ort_fixture_run(&fixture, session, NULL, (const OrtValue *const *)&x, y), "Run");
    memset(floats_of(x), 0xff, (size_t)count * sizeof(float));
    assert_true(is_negated(floats_of(y[0]), count, run));
    ort_fixture_check(&fixture, fixture.ort->GetTensorSizeInBytes(y[1], &bytes), "size");
    assert_int_equal(bytes, (size_t)(count - zeros) * sizeof(int64_t));
    fixture.ort->ReleaseValue(x);
    fixture.ort->ReleaseValue(y[0]);
    fixture.ort->ReleaseValue(y[1]);
  }
  fixture.ort->ReleaseSession(session);
}

/* From each kind of memory to each, with a stream of Leat's and without one. */
static void test_copies(void **state) {
  (void)state;
  OrtSyncStream *stream = NULL;
  ort_fixture_check(&fixture, fixture.ort->CreateSyncStreamForEpDevice(fixture.device, NULL, &stream), "stream");
  for (unsigned run = 0; run < 2 * SIZES; ++run) {
    const int64_t count = sizes[run / 2];
    OrtSyncStream *on = run % 2 != 0 ? stream : NULL;
    /* Memory of the host, Leat's of the host twice, of the device, of the host, and the host's own. */
    OrtValue *values[] = {
        ort_fixture_tensor(&fixture, FLOAT, &count, 1, NULL),  tensor_in(OrtDeviceMemoryType_HOST_ACCESSIBLE, count),
        tensor_in(OrtDeviceMemoryType_HOST_ACCESSIBLE, count), tensor_in(OrtDeviceMemoryType_DEFAULT, count),
        tensor_in(OrtDeviceMemoryType_HOST_ACCESSIBLE, count), ort_fixture_tensor(&fixture, FLOAT, &count, 1, NULL)};
    fill(floats_of(values[0]), count, run);
    for (int i = 0; i < 5; ++i) {
      ort_fixture_check(
          &fixture, fixture.ort->CopyTensors(fixture.env, (const OrtValue *const *)&values[i], &values[i + 1], on, 1),
          "CopyTensors");
    }
    assert_memory_equal(floats_of(values[5]), floats_of(values[0]), (size_t)count * sizeof(float));
    for (int i = 0; i < 6; ++i) {
      fixture.ort->ReleaseValue(values[i]);
    }
  }
  fixture.ort->ReleaseSyncStream(stream);
}

/* An output may be read, and freed, when its session is gone, and when the library is registered no more. */
static void test_what_is_kept_lives_on(void **state) {
  (void)state;
  const int64_t count = sizes[1];
  for (unsigned i = 0; i < 3; ++i) {
    OrtSession *session = negation();
    OrtValue *x = ort_fixture_tensor(&fixture, FLOAT, &count, 1, NULL);
    OrtValue *y = tensor_in(OrtDeviceMemoryType_HOST_ACCESSIBLE, count);
    OrtValue *device = tensor_in(OrtDeviceMemoryType_DEFAULT, count);
    fill(floats_of(x), count, i);
    run_to(session, NULL, x, &y);
    fixture.ort->ReleaseSession(session);
    assert_true(is_negated(floats_of(y), count, i));
    ort_fixture_check(&fixture, fixture.ort->UnregisterExecutionProviderLibrary(fixture.env, "leat"), "Unregister");
    assert_true(is_negated(floats_of(y), count, i));
    floats_of(y)[0] = 1.0f;
    if (i == 1) {
      ort_fixture_check(&fixture, ort_fixture_register(&fixture), "Register");
    }
    fixture.ort->ReleaseValue(device);
    fixture.ort->ReleaseValue(y);
    fixture.ort->ReleaseValue(x);
    if (i != 1) {
      ort_fixture_check(&fixture, ort_fixture_register(&fixture), "Register");
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_it_is_memory_of_the_host),
      cmocka_unit_test(test_outputs_of_the_callers),
      cmocka_unit_test(test_outputs_of_onnx_runtimes),
      cmocka_unit_test(test_inputs),
      cmocka_unit_test(test_copies),
      cmocka_unit_test(test_what_is_kept_lives_on),
  };
  ort_fixture_open(&fixture);
  ort_fixture_check(&fixture, ort_fixture_register(&fixture), "registering the provider");
  if (!fixture.device) {
    fprintf(stderr, "Leat finds no device; LEAT_TEST_ORT_LOG=2 shows why\n");
    return ORT_FIXTURE_SKIPPED;
  }
  const int failed = cmocka_run_group_tests_name("provider.host_memory", tests, NULL, NULL);
  ort_fixture_close(&fixture);
  return failed;
}
