/* SPDX-License-Identifier: BSD-3-Clause */
#include <glob.h>
#include <leat/host.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "crowd.h"
#include "layer.h"
#include "process_test.h"

#define FLOAT ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT
#define INT64 ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64
#define THREADS 8
#define RUNS 20
/* More threads than any machine of the tests has cores, and more than the stream pool has slots. */
#define MANY_THREADS CROWD_MAX
#define MANY_RUNS 4

static ort_fixture fixture;

/* ---- Helpers ------------------------------------------------------------------------------------------------------
 */

/* Checks that a status is a failure whose message has a word, and releases it. */
static void expect_failure(OrtStatus *status, const char *word) {
  assert_non_null(status);
  const char *message = fixture.ort->GetErrorMessage(status);
  if (strstr(message, word) == NULL) {
    fprintf(stderr, "the message lacks '%s': %s\n", word, message);
  }
  assert_non_null(strstr(message, word));
  fixture.ort->ReleaseStatus(status);
}

static const void *data_of(const OrtValue *value) {
  const void *data = NULL;
  ort_fixture_check(&fixture, fixture.ort->GetTensorData(value, &data), "data");
  return data;
}

static OrtSession *session_of(ort_model *model) {
  OrtSession *session = NULL;
  ort_fixture_check(&fixture, ort_model_session(model, &(ort_session_request){.leat = true}, &session), "session");
  return session;
}

/* ---- Runs ---------------------------------------------------------------------------------------------------------
 */

static void test_all_nodes_run_on_leat(void **state) {
  (void)state;
  OrtSession *session = layer_session(&fixture);
  /* Two or three: ONNX Runtime may make one Gemm of MatMul and Add. */
  size_t nodes = ort_fixture_nodes_on(&fixture, session, NULL);
  assert_in_range(nodes, 2, 3);
  assert_int_equal(ort_fixture_nodes_on(&fixture, session, ORT_FIXTURE_PROVIDER), nodes);
  for (int64_t rows = 1; rows < 70; rows += 17) {
    assert_int_equal(layer_run(&fixture, session, NULL, rows, (unsigned)rows), 0);
  }
  fixture.ort->ReleaseSession(session);
}

static void test_zero_rows(void **state) {
  (void)state;
  OrtSession *session = layer_session(&fixture);
  assert_int_equal(layer_run(&fixture, session, NULL, 0, 1), 0);
  assert_int_equal(layer_run(&fixture, session, NULL, 2, 1), 0);
  assert_int_equal(layer_run(&fixture, session, NULL, 0, 1), 0);
  fixture.ort->ReleaseSession(session);
}

static unsigned run_shared(unsigned index, void *session) {
  unsigned failures = 0;
  for (unsigned run = 0; run < RUNS; ++run) {
    failures += layer_run(&fixture, session, NULL, (int64_t)(1 + (index + run) % 5), index * RUNS + run) != 0;
  }
  return failures;
}

static void test_one_session_many_threads(void **state) {
  (void)state;
  OrtSession *session = layer_session(&fixture);
  assert_int_equal(crowd_run(THREADS, run_shared, session), 0);
  fixture.ort->ReleaseSession(session);
}

static unsigned run_shared_briefly(unsigned index, void *session) {
  unsigned failures = 0;
  for (unsigned run = 0; run < MANY_RUNS; ++run) {
    failures += layer_run(&fixture, session, NULL, 3, index * MANY_RUNS + run) != 0;
  }
  return failures;
}

static void test_forty_threads(void **state) {
  (void)state;
  OrtSession *session = layer_session(&fixture);
  assert_int_equal(crowd_run(MANY_THREADS, run_shared_briefly, session), 0);
  fixture.ort->ReleaseSession(session);
}

static unsigned run_own(unsigned index, void *sessions) {
  return run_shared(index, ((OrtSession **)sessions)[index]);
}

static void test_session_per_thread(void **state) {
  (void)state;
  OrtSession *sessions[THREADS];
  for (unsigned i = 0; i < THREADS; ++i) {
    sessions[i] = layer_session(&fixture);
  }
  assert_int_equal(crowd_run(THREADS, run_own, sessions), 0);
  for (unsigned i = 0; i < THREADS; ++i) {
    fixture.ort->ReleaseSession(sessions[i]);
  }
}

static unsigned make_run_destroy(unsigned index, void *shared) {
  unsigned failures = 0;
  for (unsigned round = 0; round < 4; ++round) {
    OrtSession *session = layer_session(&fixture);
    for (unsigned run = 0; run < 3; ++run) {
      failures += layer_run(&fixture, session, NULL, 1 + (int64_t)run, index + run) != 0;
      failures += layer_run(&fixture, shared, NULL, 2, index * 31 + run) != 0;
    }
    fixture.ort->ReleaseSession(session);
  }
  return failures;
}

static void test_sessions_come_and_go(void **state) {
  (void)state;
  OrtSession *shared = layer_session(&fixture);
  assert_int_equal(crowd_run(THREADS, make_run_destroy, shared), 0);
  fixture.ort->ReleaseSession(shared);
}

/* ---- Failures -----------------------------------------------------------------------------------------------------
 */

/* z = relu(reshape(relu(x), s)): fails when s does not fit x. */
static OrtSession *reshape_session(void) {
  const int64_t x_dims[] = {-1, 6};
  const int64_t s_dims[] = {2};
  const int64_t z_dims[] = {-1, -1};
  ort_model model;
  ort_model_begin(&model, &fixture);
  ort_model_input(&model, "x", FLOAT, x_dims, 2);
  ort_model_input(&model, "s", INT64, s_dims, 1);
  ort_model_output(&model, "z", FLOAT, z_dims, 2);
  ort_model_node(&model, "Relu", "before", "x", "a", NULL, 0);
  ort_model_node(&model, "Reshape", "the-reshape", "a s", "b", NULL, 0);
  ort_model_node(&model, "Relu", "after", "b", "z", NULL, 0);
  return session_of(&model);
}

/* Runs it with 4 rows reshaped to `first` rows; 0: right, or failed as it should. */
static unsigned run_reshape(OrtSession *session, int64_t first) {
  const int64_t x_dims[] = {4, 6};
  const int64_t s_dims[] = {2};
  const int64_t s[] = {first, 3};
  float x[24];
  for (int i = 0; i < 24; ++i) {
    x[i] = (float)(i - 5);
  }
  OrtValue *inputs[] = {ort_fixture_tensor(&fixture, FLOAT, x_dims, 2, x),
                        ort_fixture_tensor(&fixture, INT64, s_dims, 1, s)};
  OrtValue *z = NULL;
  OrtStatus *status = ort_fixture_run(&fixture, session, NULL, (const OrtValue *const *)inputs, &z);
  unsigned failures = 0;
  if (first != 8) {
    failures = status == NULL || strstr(fixture.ort->GetErrorMessage(status), "the-reshape") == NULL;
  } else if (status != NULL) {
    fprintf(stderr, "Run: %s\n", fixture.ort->GetErrorMessage(status));
    failures = 1;
  } else {
    const float *got = data_of(z);
    for (int i = 0; i < 24; ++i) {
      failures |= got[i] != (i < 5 ? 0.0f : (float)(i - 5));
    }
  }
  fixture.ort->ReleaseStatus(status);
  fixture.ort->ReleaseValue(inputs[0]);
  fixture.ort->ReleaseValue(inputs[1]);
  fixture.ort->ReleaseValue(z);
  return failures;
}

static void test_failure_in_the_middle(void **state) {
  (void)state;
  OrtSession *session = reshape_session();
  for (unsigned i = 0; i < 5; ++i) {
    assert_int_equal(run_reshape(session, 8), 0);
    assert_int_equal(run_reshape(session, 7), 0);
  }
  assert_int_equal(run_reshape(session, 8), 0);
  fixture.ort->ReleaseSession(session);
}

static unsigned run_reshapes(unsigned index, void *session) {
  unsigned failures = 0;
  for (unsigned run = 0; run < RUNS; ++run) {
    failures += run_reshape(session, (index + run) % 3 == 0 ? 7 : 8);
  }
  return failures;
}

static void test_failures_of_some_threads(void **state) {
  (void)state;
  OrtSession *session = reshape_session();
  assert_int_equal(crowd_run(THREADS, run_reshapes, session), 0);
  fixture.ort->ReleaseSession(session);
}

static void test_out_of_memory(void **state) {
  (void)state;
  const int64_t x_dims[] = {1, 1};
  const int64_t s_dims[] = {2};
  const int64_t y_dims[] = {-1, -1};
  const float one = 1;
  ort_model model;
  ort_model_begin(&model, &fixture);
  ort_model_input(&model, "x", FLOAT, x_dims, 2);
  ort_model_input(&model, "s", INT64, s_dims, 1);
  ort_model_output(&model, "y", FLOAT, y_dims, 2);
  ort_model_node(&model, "Expand", "the-expand", "x s", "a", NULL, 0);
  ort_model_node(&model, "Neg", "neg", "a", "y", NULL, 0);
  OrtSession *session = session_of(&model);
  for (unsigned round = 0; round < 4; ++round) {
    /* 64 TiB, then 4 KiB. */
    const int64_t s[] = {round % 2 ? 32 : INT64_C(1) << 24, round % 2 ? 32 : INT64_C(1) << 20};
    OrtValue *inputs[] = {ort_fixture_tensor(&fixture, FLOAT, x_dims, 2, &one),
                          ort_fixture_tensor(&fixture, INT64, s_dims, 1, s)};
    OrtValue *y = NULL;
    OrtStatus *status = ort_fixture_run(&fixture, session, NULL, (const OrtValue *const *)inputs, &y);
    if (round % 2) {
      ort_fixture_check(&fixture, status, "a small Run after one that had no memory");
      assert_true(((const float *)data_of(y))[1023] == -1.0f);
    } else {
      expect_failure(status, "the-expand");
    }
    fixture.ort->ReleaseValue(inputs[0]);
    fixture.ort->ReleaseValue(inputs[1]);
    fixture.ort->ReleaseValue(y);
  }
  fixture.ort->ReleaseSession(session);
}

/* ---- Host and device in one graph ---------------------------------------------------------------------------------
 */

/* Whether a node runs on Leat. */
static bool on_leat(const OrtSession *session, const char *node_name) {
  const OrtEpAssignedSubgraph *const *graphs = NULL;
  size_t graph_count = 0;
  ort_fixture_check(&fixture, fixture.ort->Session_GetEpGraphAssignmentInfo(session, &graphs, &graph_count), "nodes");
  for (size_t i = 0; i < graph_count; ++i) {
    const char *provider = NULL;
    const OrtEpAssignedNode *const *nodes = NULL;
    size_t count = 0;
    ort_fixture_check(&fixture, fixture.ort->EpAssignedSubgraph_GetEpName(graphs[i], &provider), "nodes");
    ort_fixture_check(&fixture, fixture.ort->EpAssignedSubgraph_GetNodes(graphs[i], &nodes, &count), "nodes");
    for (size_t j = 0; j < count; ++j) {
      const char *name = NULL;
      ort_fixture_check(&fixture, fixture.ort->EpAssignedNode_GetName(nodes[j], &name), "nodes");
      if (strcmp(name, node_name) == 0) {
        return strcmp(provider, ORT_FIXTURE_PROVIDER) == 0;
      }
    }
  }
  fail_msg("there is no node '%s'", node_name);
  return false;
}

static void test_shape_arithmetic_stays_on_the_host(void **state) {
  (void)state;
  const int64_t x_dims[] = {-1, -1, 4};
  const int64_t y_dims[] = {-1, -1};
  const int64_t one_dim[] = {1};
  const int64_t zero = 0;
  const int64_t minus_one = -1;
  ort_model model;
  ort_model_begin(&model, &fixture);
  ort_model_input(&model, "x", FLOAT, x_dims, 3);
  ort_model_output(&model, "y", FLOAT, y_dims, 2);
  ort_model_constant(&model, "zero", INT64, one_dim, 1, &zero);
  ort_model_constant(&model, "minus-one", INT64, one_dim, 1, &minus_one);
  ort_model_node(&model, "Relu", "relu", "x", "a", NULL, 0);
  ort_model_node(&model, "Shape", "shape", "a", "s", NULL, 0);
  ort_model_node(&model, "Gather", "gather", "s zero", "rows", "axis", 0);
  ort_model_node(&model, "Concat", "concat", "rows minus-one", "t", "axis", 0);
  ort_model_node(&model, "Reshape", "reshape", "a t", "b", NULL, 0);
  ort_model_node(&model, "Neg", "neg", "b", "y", NULL, 0);
  OrtSession *session = NULL;
  /* A fused subgraph takes what it can of it along. */
  const ort_session_request direct = {.leat = true, .option = "force_direct_path", .option_value = "1"};
  ort_fixture_check(&fixture, ort_model_session(&model, &direct, &session), "session");
  assert_true(on_leat(session, "relu"));
  assert_true(on_leat(session, "reshape"));
  assert_true(on_leat(session, "neg"));
  assert_false(on_leat(session, "gather"));
  assert_false(on_leat(session, "concat"));
  for (int64_t rows = 1; rows < 4; ++rows) {
    const int64_t dims[] = {rows, 3, 4};
    float x[3 * 3 * 4];
    for (int i = 0; i < rows * 12; ++i) {
      x[i] = (float)(i + 1);
    }
    OrtValue *input = ort_fixture_tensor(&fixture, FLOAT, dims, 3, x);
    OrtValue *y = NULL;
    ort_fixture_check(&fixture, ort_fixture_run(&fixture, session, NULL, (const OrtValue *const *)&input, &y), "Run");
    ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
    const int64_t *shape = NULL;
    size_t rank = 0;
    ort_fixture_check(&fixture, fixture.ort->GetTensorElementTypeAndShapeDataReference(y, &type, &shape, &rank), "y");
    assert_int_equal(rank, 2);
    assert_int_equal(shape[0], rows);
    assert_int_equal(shape[1], 12);
    for (int i = 0; i < rows * 12; ++i) {
      assert_true(((const float *)data_of(y))[i] == -x[i]);
    }
    fixture.ort->ReleaseValue(input);
    fixture.ort->ReleaseValue(y);
  }
  fixture.ort->ReleaseSession(session);
}

/* y = neg(another provider's(unique(relu(x)))): what Unique gives has a shape that depends on its data. */
static unsigned run_unique(OrtSession *session, unsigned seed) {
  const int64_t dims[] = {8};
  float x[8];
  float expected[9] = {0};
  int count = (seed & 255) != 255; /* a zero */
  for (int i = 0; i < 8; ++i) {
    x[i] = (seed >> i & 1) != 0 ? (float)(i + 1) : -1.0f;
    if (x[i] > 0) {
      expected[count++] = -x[i];
    }
  }
  OrtValue *input = ort_fixture_tensor(&fixture, FLOAT, dims, 1, x);
  OrtValue *y = NULL;
  unsigned failures = 1;
  OrtStatus *status = ort_fixture_run(&fixture, session, NULL, (const OrtValue *const *)&input, &y);
  if (status == NULL) {
    size_t size = 0;
    ort_fixture_check(&fixture, fixture.ort->GetTensorSizeInBytes(y, &size), "y");
    const float *got = data_of(y);
    failures = size != (size_t)count * sizeof(float);
    for (int i = 0; i < count && !failures; ++i) {
      failures = got[i] != expected[i];
    }
  } else {
    fprintf(stderr, "Run: %s\n", fixture.ort->GetErrorMessage(status));
  }
  fixture.ort->ReleaseStatus(status);
  fixture.ort->ReleaseValue(input);
  fixture.ort->ReleaseValue(y);
  return failures;
}

static unsigned run_uniques(unsigned index, void *session) {
  unsigned failures = 0;
  for (unsigned run = 0; run < RUNS; ++run) {
    failures += run_unique(session, index * 37 + run * 11);
  }
  return failures;
}

static void test_other_providers_nodes_in_between(void **state) {
  (void)state;
  const int64_t x_dims[] = {8};
  const int64_t y_dims[] = {-1};
  ort_model model;
  ort_model_begin(&model, &fixture);
  ort_model_input(&model, "x", FLOAT, x_dims, 1);
  ort_model_output(&model, "y", FLOAT, y_dims, 1);
  ort_model_node(&model, "Relu", "relu", "x", "a", NULL, 0);
  ort_model_node(&model, "Unique", "unique", "a", "c", NULL, 0);
  ort_model_foreign(&model, "foreign", "c", "b");
  ort_model_node(&model, "Neg", "neg", "b", "y", NULL, 0);
  OrtSession *session = session_of(&model);
  assert_true(on_leat(session, "relu"));
  assert_true(on_leat(session, "unique"));
  assert_false(on_leat(session, "foreign"));
  assert_true(on_leat(session, "neg"));
  for (unsigned seed = 0; seed < 256; seed += 51) {
    assert_int_equal(run_unique(session, seed), 0);
  }
  assert_int_equal(crowd_run(THREADS, run_uniques, session), 0);
  fixture.ort->ReleaseSession(session);
}

/* ---- Copies, memory and streams of the user -----------------------------------------------------------------------
 */

static OrtAllocator *device_allocator(void) {
  OrtAllocator *allocator = NULL;
  const OrtMemoryInfo *info = fixture.ort->EpDevice_MemoryInfo(fixture.device, OrtDeviceMemoryType_DEFAULT);
  ort_fixture_check(&fixture, fixture.ort->GetSharedAllocator(fixture.env, info, &allocator), "GetSharedAllocator");
  assert_non_null(allocator);
  return allocator;
}

/* Sends a tensor of int8 or uint8 to the device, on to another place there, and back. */
static unsigned copy_around(ONNXTensorElementDataType type, size_t element_size, int64_t count, unsigned seed,
                            OrtSyncStream *stream) {
  OrtValue *values[4]; /* host, device, device, host */
  unsigned char *bytes = malloc((size_t)count * element_size + 1);
  assert_non_null(bytes);
  for (size_t i = 0; i < (size_t)count * element_size; ++i) {
    bytes[i] = (unsigned char)(i * 7 + seed);
  }
  values[0] = ort_fixture_tensor(&fixture, type, &count, 1, bytes);
  values[3] = ort_fixture_tensor(&fixture, type, &count, 1, NULL);
  for (int i = 1; i < 3; ++i) {
    ort_fixture_check(&fixture, fixture.ort->CreateTensorAsOrtValue(device_allocator(), &count, 1, type, &values[i]),
                      "a tensor on the device");
  }
  for (int i = 0; i < 3; ++i) {
    ort_fixture_check(
        &fixture, fixture.ort->CopyTensors(fixture.env, (const OrtValue *const *)&values[i], &values[i + 1], stream, 1),
        "CopyTensors");
  }
  /* What is on the host is there, with a stream and without: the API has no call that waits for a stream. */
  unsigned failures = count != 0 && memcmp(data_of(values[3]), bytes, (size_t)count * element_size) != 0;
  for (int i = 0; i < 4; ++i) {
    fixture.ort->ReleaseValue(values[i]);
  }
  free(bytes);
  return failures;
}

static unsigned copy_all(unsigned index, void *stream) {
  unsigned failures = 0;
  for (unsigned run = 0; run < 4; ++run) {
    unsigned seed = index * 16 + run;
    failures += copy_around(FLOAT, 4, 1000 + (int64_t)seed, seed, stream);
    failures += copy_around(INT64, 8, 33, seed, stream);
    failures += copy_around(ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16, 2, 17, seed, stream);
    failures += copy_around(ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8, 1, 3, seed, stream);
    failures += copy_around(ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL, 1, 1, seed, stream);
    failures += copy_around(FLOAT, 4, 0, seed, stream);
  }
  return failures;
}

static void test_copies_without_a_stream(void **state) {
  (void)state;
  assert_int_equal(copy_all(0, NULL), 0);
  assert_int_equal(crowd_run(THREADS, copy_all, NULL), 0);
}

static void test_copies_on_a_stream(void **state) {
  (void)state;
  OrtSyncStream *stream = NULL;
  ort_fixture_check(&fixture, fixture.ort->CreateSyncStreamForEpDevice(fixture.device, NULL, &stream), "stream");
  assert_non_null(fixture.ort->SyncStream_GetHandle(stream));
  assert_int_equal(copy_all(0, stream), 0);
  fixture.ort->ReleaseSyncStream(stream);
}

static void test_runs_on_the_users_stream(void **state) {
  (void)state;
  OrtSession *session = layer_session(&fixture);
  OrtSyncStream *stream = NULL;
  OrtRunOptions *options = NULL;
  ort_fixture_check(&fixture, fixture.ort->CreateSyncStreamForEpDevice(fixture.device, NULL, &stream), "stream");
  ort_fixture_check(&fixture, fixture.ort->CreateRunOptions(&options), "options");
  fixture.ort->RunOptionsSetSyncStream(options, stream);
  for (unsigned i = 0; i < 5; ++i) {
    assert_int_equal(layer_run(&fixture, session, options, 3, i), 0);
  }
  fixture.ort->ReleaseRunOptions(options);
  fixture.ort->ReleaseSyncStream(stream);
  fixture.ort->ReleaseSession(session);
}

/* Rows of an input above what the host writes to the device itself. */
#define BRANCH_ROWS 300

/* Runs tests/tools/models/branch.onnx, on whole numbers: z = x w, y = z or -z. */
static void run_branch(OrtSession *session, const OrtRunOptions *options, unsigned seed) {
  const OrtApi *ort = fixture.ort;
  const int64_t dims[] = {BRANCH_ROWS, 64};
  static float x[BRANCH_ROWS][64];
  for (int row = 0; row < BRANCH_ROWS; ++row) {
    for (int k = 0; k < 64; ++k) {
      x[row][k] = (float)((row * 13 + k * 5 + (int)seed * 31) % 17 - 8);
    }
  }
  const bool condition = seed % 2 == 0;
  OrtValue *inputs[] = {ort_fixture_tensor(&fixture, FLOAT, dims, 2, x),
                        ort_fixture_tensor(&fixture, ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL, NULL, 0, &condition)};
  OrtValue *outputs[2] = {NULL};
  ort_fixture_check(&fixture, ort_fixture_run(&fixture, session, options, (const OrtValue *const *)inputs, outputs),
                    "Run");
  const float *y = data_of(outputs[0]), *z = data_of(outputs[1]);
  for (int row = 0; row < BRANCH_ROWS; ++row) {
    for (int column = 0; column < 16; ++column) {
      int sum = 0;
      for (int k = 0; k < 64; ++k) {
        sum += (int)x[row][k] * ((k * 7 + column * 3) % 5 - 2);
      }
      assert_true(z[row * 16 + column] == (float)sum);
      assert_true(y[row * 16 + column] == (float)(condition ? sum : -sum));
    }
  }
  for (int i = 0; i < 2; ++i) {
    ort->ReleaseValue(inputs[i]);
    ort->ReleaseValue(outputs[i]);
  }
}

/* Bodies are run on the stream of the Run's options, or on their own: what both read has arrived. */
static void test_bodies_on_the_users_stream(void **state) {
  (void)state;
  const OrtApi *ort = fixture.ort;
  OrtSession *session = NULL;
  OrtSyncStream *stream = NULL;
  OrtRunOptions *options = NULL;
  OrtSessionOptions *with_leat = NULL;
  ort_fixture_check(&fixture, ort->CreateSessionOptions(&with_leat), "options");
  ort_fixture_check(
      &fixture,
      ort->SessionOptionsAppendExecutionProvider_V2(with_leat, fixture.env, &fixture.device, 1, NULL, NULL, 0),
      "options");
  ort_fixture_check(&fixture, ort->CreateSession(fixture.env, LEAT_TEST_MODELS "/branch.onnx", with_leat, &session),
                    "session");
  ort_fixture_check(&fixture, ort->CreateSyncStreamForEpDevice(fixture.device, NULL, &stream), "stream");
  ort_fixture_check(&fixture, ort->CreateRunOptions(&options), "options");
  ort->RunOptionsSetSyncStream(options, stream);
  for (unsigned i = 0; i < 6; ++i) {
    run_branch(session, options, i);
    run_branch(session, NULL, i + 1);
  }
  ort->ReleaseRunOptions(options);
  ort->ReleaseSyncStream(stream);
  ort->ReleaseSession(session);
  ort->ReleaseSessionOptions(with_leat);
}

static OrtRunOptions *unsynchronized(void) {
  OrtRunOptions *options = NULL;
  ort_fixture_check(&fixture, fixture.ort->CreateRunOptions(&options), "options");
  ort_fixture_check(&fixture, fixture.ort->AddRunConfigEntry(options, "disable_synchronize_execution_providers", "1"),
                    "entry");
  return options;
}

/* The one output that a binding has got. */
static OrtValue *bound_output(OrtIoBinding *binding) {
  OrtAllocator *allocator = NULL;
  OrtValue **outputs = NULL;
  size_t count = 0;
  ort_fixture_check(&fixture, fixture.ort->GetAllocatorWithDefaultOptions(&allocator), "allocator");
  ort_fixture_check(&fixture, fixture.ort->GetBoundOutputValues(binding, allocator, &outputs, &count), "outputs");
  assert_int_equal(count, 1);
  OrtValue *output = outputs[0];
  allocator->Free(allocator, outputs);
  return output;
}

/* Runs y = -x with its output bound to a memory, unsynchronized, and synchronizes by hand what stays on the device. */
static void run_bound(OrtSession *session, OrtIoBinding *binding, const OrtRunOptions *options,
                      const OrtMemoryInfo *memory, bool on_device, unsigned seed) {
  const OrtApi *ort = fixture.ort;
  const int64_t dims[] = {2, 3};
  float x[6];
  for (unsigned i = 0; i < 6; ++i) {
    x[i] = (float)(seed * 10 + i);
  }
  OrtValue *input = ort_fixture_tensor(&fixture, FLOAT, dims, 2, x);
  ort_fixture_check(&fixture, ort->BindInput(binding, "x", input), "BindInput");
  ort_fixture_check(&fixture, ort->BindOutputToDevice(binding, "y", memory), "BindOutputToDevice");
  ort_fixture_check(&fixture, ort->SynchronizeBoundInputs(binding), "SynchronizeBoundInputs");
  ort_fixture_check(&fixture, ort->RunWithBinding(session, options, binding), "RunWithBinding");
  if (on_device) {
    ort_fixture_check(&fixture, ort->SynchronizeBoundOutputs(binding), "SynchronizeBoundOutputs");
  }
  OrtValue *y = bound_output(binding);
  if (on_device) {
    OrtValue *host = ort_fixture_tensor(&fixture, FLOAT, dims, 2, NULL);
    ort_fixture_check(&fixture, ort->CopyTensors(fixture.env, (const OrtValue *const *)&y, &host, NULL, 1),
                      "CopyTensors");
    ort->ReleaseValue(y);
    y = host;
  }
  for (unsigned i = 0; i < 6; ++i) {
    assert_true(((const float *)data_of(y))[i] == -x[i]);
  }
  ort->ReleaseValue(y);
  ort->ReleaseValue(input);
  ort->ClearBoundOutputs(binding);
}

static void test_bound_outputs_without_synchronization(void **state) {
  (void)state;
  const OrtApi *ort = fixture.ort;
  const int64_t dims[] = {2, 3};
  ort_model model;
  ort_model_begin(&model, &fixture);
  ort_model_input(&model, "x", FLOAT, dims, 2);
  ort_model_output(&model, "y", FLOAT, dims, 2);
  ort_model_node(&model, "Neg", "neg", "x", "y", NULL, 0);
  OrtSession *session = session_of(&model);
  OrtIoBinding *binding = NULL;
  OrtRunOptions *options = unsynchronized();
  OrtMemoryInfo *host = NULL;
  ort_fixture_check(&fixture, ort->CreateIoBinding(session, &binding), "binding");
  ort_fixture_check(&fixture, ort->CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &host), "host memory");
  const OrtMemoryInfo *device = ort->EpDevice_MemoryInfo(fixture.device, OrtDeviceMemoryType_DEFAULT);
  for (unsigned run = 0; run < 12; ++run) {
    run_bound(session, binding, options, run % 2 ? host : device, run % 2 == 0, run);
  }
  ort->ReleaseMemoryInfo(host);
  ort->ReleaseRunOptions(options);
  ort->ReleaseIoBinding(binding);
  ort->ReleaseSession(session);
}

typedef struct unsynchronized_runs {
  OrtSession *session;
  OrtRunOptions *options;
} unsynchronized_runs;

static unsigned run_unsynchronized(unsigned index, void *shared) {
  const unsynchronized_runs *runs = shared;
  unsigned failures = 0;
  for (unsigned run = 0; run < RUNS; ++run) {
    failures += layer_run(&fixture, runs->session, runs->options, 1 + (index + run) % 5, index * RUNS + run) != 0;
  }
  return failures;
}

/* Runs y = -x into memory of the caller's, which it uses for something else from then on. */
static void run_into(OrtSession *session, const OrtRunOptions *options, float *into, unsigned seed) {
  const OrtApi *ort = fixture.ort;
  const int64_t dims[] = {2, 3};
  float x[6];
  OrtMemoryInfo *host = NULL;
  OrtValue *y = NULL;
  for (unsigned i = 0; i < 6; ++i) {
    x[i] = (float)(seed * 10 + i);
  }
  OrtValue *input = ort_fixture_tensor(&fixture, FLOAT, dims, 2, x);
  ort_fixture_check(&fixture, ort->CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &host), "host memory");
  ort_fixture_check(&fixture, ort->CreateTensorWithDataAsOrtValue(host, into, sizeof(x), dims, 2, FLOAT, &y), "y");
  ort_fixture_check(&fixture,
                    ort->Run(session, options, (const char *const[]){"x"}, (const OrtValue *const *)&input, 1,
                             (const char *const[]){"y"}, 1, &y),
                    "Run");
  for (unsigned i = 0; i < 6; ++i) {
    assert_true(into[i] == -x[i]);
  }
  memset(into, 0x5a, sizeof(x));
  ort->ReleaseValue(y);
  ort->ReleaseMemoryInfo(host);
  ort->ReleaseValue(input);
}

/* A Run that ONNX Runtime does not synchronize has its outputs on the host nevertheless, and nothing writes them later.
 */
static void test_runs_without_synchronization(void **state) {
  (void)state;
  const int64_t dims[] = {2, 3};
  unsynchronized_runs runs = {.session = layer_session(&fixture), .options = unsynchronized()};
  assert_int_equal(run_unsynchronized(0, &runs), 0);
  assert_int_equal(crowd_run(THREADS, run_unsynchronized, &runs), 0);
  ort_model model;
  ort_model_begin(&model, &fixture);
  ort_model_input(&model, "x", FLOAT, dims, 2);
  ort_model_output(&model, "y", FLOAT, dims, 2);
  ort_model_node(&model, "Neg", "neg", "x", "y", NULL, 0);
  OrtSession *session = session_of(&model);
  float into[RUNS][6];
  for (unsigned run = 0; run < RUNS; ++run) {
    run_into(session, runs.options, into[run], run);
  }
  /* Waits for all of the device's work. */
  assert_int_equal(copy_all(0, NULL), 0);
  for (size_t i = 0; i < sizeof(into); ++i) {
    assert_int_equal(((const unsigned char *)into)[i], 0x5a);
  }
  fixture.ort->ReleaseSession(session);
  fixture.ort->ReleaseRunOptions(runs.options);
  fixture.ort->ReleaseSession(runs.session);
}

static void test_strings_cannot_be_copied(void **state) {
  (void)state;
  const int64_t dims[] = {1};
  const char *words[] = {"leat"};
  OrtAllocator *allocator = NULL;
  OrtValue *text = NULL;
  OrtValue *number = NULL;
  ort_fixture_check(&fixture, fixture.ort->GetAllocatorWithDefaultOptions(&allocator), "allocator");
  ort_fixture_check(
      &fixture, fixture.ort->CreateTensorAsOrtValue(allocator, dims, 1, ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING, &text),
      "text");
  ort_fixture_check(&fixture, fixture.ort->FillStringTensor(text, words, 1), "text");
  ort_fixture_check(&fixture, fixture.ort->CreateTensorAsOrtValue(device_allocator(), dims, 1, INT64, &number),
                    "number");
  OrtStatus *status = fixture.ort->CopyTensors(fixture.env, (const OrtValue *const *)&text, &number, NULL, 1);
  assert_non_null(status);
  fixture.ort->ReleaseStatus(status);
  fixture.ort->ReleaseValue(text);
  fixture.ort->ReleaseValue(number);
}

static long long figure(const OrtKeyValuePairs *stats, const char *key) {
  const char *value = fixture.ort->GetKeyValue(stats, key);
  assert_non_null(value);
  return atoll(value);
}

static OrtKeyValuePairs *figures(OrtAllocator *allocator) {
  OrtKeyValuePairs *stats = NULL;
  ort_fixture_check(&fixture, fixture.ort->AllocatorGetStats(allocator, &stats), "AllocatorGetStats");
  return stats;
}

/* Sums a figure of all size classes. */
static long long class_sum(const OrtKeyValuePairs *stats, const char *figure_name) {
  const char *const *keys = NULL;
  const char *const *values = NULL;
  size_t count = 0;
  long long sum = 0;
  fixture.ort->GetKeyValuePairs(stats, &keys, &values, &count);
  for (size_t i = 0; i < count; ++i) {
    const char *dot = strrchr(keys[i], '.');
    if (strncmp(keys[i], "leat.class.", 11) == 0 && strcmp(dot + 1, figure_name) == 0) {
      sum += atoll(values[i]);
    }
  }
  return sum;
}

static void test_allocator_gives_figures(void **state) {
  (void)state;
  OrtAllocator *allocator = device_allocator();
  const size_t size = 1u << 20;
  void *block = allocator->Alloc(allocator, size);
  assert_non_null(block);
  assert_int_equal((uintptr_t)block % 256, 0);
  OrtKeyValuePairs *stats = figures(allocator);
  long long in_use = figure(stats, "InUse");
  assert_true(in_use >= (long long)size);
  assert_true(figure(stats, "TotalAllocated") >= in_use);
  assert_true(figure(stats, "Limit") > figure(stats, "TotalAllocated"));
  assert_true(figure(stats, "MaxInUse") >= in_use);
  assert_true(figure(stats, "MaxAllocSize") >= (long long)size);
  assert_true(figure(stats, "NumAllocs") > 0);
  assert_true(figure(stats, "NumArenaExtensions") > 0);
  assert_true(figure(stats, "NumArenaShrinkages") >= 0);
  assert_int_equal(figure(stats, "NumReserves"), 0);
  assert_true(figure(stats, "leat.staging") >= 0);
  assert_true(figure(stats, "leat.reserved_peak") >= figure(stats, "TotalAllocated"));
  assert_true(figure(stats, "leat.cached") <= figure(stats, "TotalAllocated") - (long long)size);
  assert_int_equal(class_sum(stats, "live"), figure(stats, "leat.live_blocks"));
  assert_int_equal(class_sum(stats, "reserved"), figure(stats, "TotalAllocated"));
  assert_int_equal(class_sum(stats, "allocations"), figure(stats, "NumAllocs"));
  const long long cached = figure(stats, "leat.cached");
  const long long cached_blocks = class_sum(stats, "cached");
  fixture.ort->ReleaseKeyValuePairs(stats);
  allocator->Free(allocator, block);
  stats = figures(allocator);
  assert_true(figure(stats, "InUse") <= in_use - (long long)size);
  assert_true(figure(stats, "leat.cached") >= cached + (long long)size);
  assert_int_equal(class_sum(stats, "cached"), cached_blocks + 1);
  fixture.ort->ReleaseKeyValuePairs(stats);
  assert_null(allocator->Alloc(allocator, (size_t)1 << 50));
}

#if ORT_API_VERSION >= 25
static void test_shrink_gives_memory_back(void **state) {
  (void)state;
  OrtAllocator *allocator = device_allocator();
  const size_t sizes[] = {3000, (size_t)1 << 20, (size_t)100 << 20};
  void *blocks[3];
  long long total = 0;
  assert_true(allocator->version >= 25);
  assert_non_null(allocator->Shrink);
  ort_fixture_check(&fixture, allocator->Shrink(allocator), "Shrink");
  for (size_t i = 0; i < 3; ++i) {
    blocks[i] = allocator->Alloc(allocator, sizes[i]);
    assert_non_null(blocks[i]);
    total += (long long)sizes[i];
  }
  /* What is held stays. */
  ort_fixture_check(&fixture, allocator->Shrink(allocator), "Shrink");
  OrtKeyValuePairs *stats = figures(allocator);
  const long long held = figure(stats, "TotalAllocated");
  assert_true(held >= total);
  fixture.ort->ReleaseKeyValuePairs(stats);
  for (size_t i = 0; i < 3; ++i) {
    allocator->Free(allocator, blocks[i]);
  }
  stats = figures(allocator);
  assert_int_equal(figure(stats, "TotalAllocated"), held);
  fixture.ort->ReleaseKeyValuePairs(stats);
  ort_fixture_check(&fixture, allocator->Shrink(allocator), "Shrink");
  stats = figures(allocator);
  assert_true(figure(stats, "TotalAllocated") <= held - (long long)sizes[2]);
  fixture.ort->ReleaseKeyValuePairs(stats);
  /* Everything works on what is left. */
  OrtSession *session = layer_session(&fixture);
  assert_int_equal(layer_run(&fixture, session, NULL, 3, 1), 0);
  ort_fixture_check(&fixture, allocator->Shrink(allocator), "Shrink");
  assert_int_equal(layer_run(&fixture, session, NULL, 3, 2), 0);
  fixture.ort->ReleaseSession(session);
}

/* ONNX Runtime shrinks at the end of a Run that asks for it. */
static void test_run_option_shrinks(void **state) {
  (void)state;
  const OrtKeyValuePairs *facts = fixture.ort->EpDevice_EpMetadata(fixture.device);
  OrtAllocator *allocator = device_allocator();
  OrtSession *session = layer_session(&fixture);
  OrtRunOptions *options = NULL;
  char device[32];
  const size_t size = (size_t)100 << 20;
  snprintf(device, sizeof(device), "gpu:%s", fixture.ort->GetKeyValue(facts, "leat_device_index"));
  ort_fixture_check(&fixture, fixture.ort->CreateRunOptions(&options), "options");
  for (unsigned round = 0; round < 2; ++round) {
    allocator->Free(allocator, allocator->Alloc(allocator, size));
    OrtKeyValuePairs *stats = figures(allocator);
    const long long before = figure(stats, "TotalAllocated");
    fixture.ort->ReleaseKeyValuePairs(stats);
    assert_int_equal(layer_run(&fixture, session, options, 3, round), 0);
    stats = figures(allocator);
    if (round == 0) {
      assert_true(figure(stats, "TotalAllocated") >= before);
      ort_fixture_check(
          &fixture, fixture.ort->AddRunConfigEntry(options, "memory.enable_memory_arena_shrinkage", device), device);
    } else {
      assert_true(figure(stats, "TotalAllocated") <= before - (long long)size);
    }
    fixture.ort->ReleaseKeyValuePairs(stats);
  }
  assert_int_equal(layer_run(&fixture, session, NULL, 3, 7), 0);
  fixture.ort->ReleaseRunOptions(options);
  fixture.ort->ReleaseSession(session);
}

static bool has_number(const char *line, const char *key) {
  char text[64];
  snprintf(text, sizeof(text), "\"%s\" : \"", key);
  const char *const at = strstr(line, text);
  const size_t digits = at != NULL ? strspn(at + strlen(text), "0123456789") : 0;
  return digits != 0 && at[strlen(text) + digits] == '"';
}

/* Counts the steps on the device in the one file that a profile left; 0: one lacks a number. The file goes. */
static unsigned steps_in_profile(const char *prefix) {
  char pattern[128];
  glob_t found = {0};
  snprintf(pattern, sizeof(pattern), "%s*", prefix);
  assert_int_equal(glob(pattern, 0, NULL, &found), 0);
  assert_int_equal(found.gl_pathc, 1);
  FILE *file = fopen(found.gl_pathv[0], "r");
  assert_non_null(file);
  unsigned count = 0, whole = 0;
  char *line = NULL;
  size_t size = 0;
  while (getline(&line, &size, file) >= 0) {
    const bool is_step = strstr(line, "\"Kernel\"") != NULL;
    count += is_step;
    whole += is_step && has_number(line, "ort_correlation_id") && has_number(line, "launch") &&
             has_number(line, "step") && has_number(line, "duration_ns");
  }
  free(line);
  (void)fclose(file);
  (void)unlink(found.gl_pathv[0]);
  globfree(&found);
  return whole == count ? count : 0;
}

typedef struct run_profiles {
  OrtSession *session;
  const char *folder;
  unsigned steps[THREADS][RUNS];
} run_profiles;

static unsigned profile_runs(unsigned index, void *context) {
  run_profiles *const it = context;
  unsigned wrong = 0;
  for (unsigned i = 0; i < RUNS; ++i) {
    char prefix[64];
    OrtRunOptions *options = NULL;
    snprintf(prefix, sizeof(prefix), "%s/run_%u_%u_", it->folder, index, i);
    ort_fixture_check(&fixture, fixture.ort->CreateRunOptions(&options), "options");
    ort_fixture_check(&fixture, fixture.ort->RunOptionsEnableProfiling(options, prefix), "profiling");
    wrong += layer_run(&fixture, it->session, options, 3, index) != 0;
    fixture.ort->ReleaseRunOptions(options);
    it->steps[index][i] = steps_in_profile(prefix);
  }
  return wrong;
}

/* Each Run with a profile of its own, at the same time, has the steps of one Run in it. */
static void test_runs_are_profiled(void **state) {
  (void)state;
  char folder[] = "/tmp/leat-provider-XXXXXX";
  assert_non_null(mkdtemp(folder));
  run_profiles it = {.session = layer_session(&fixture), .folder = folder};
  assert_int_equal(layer_run(&fixture, it.session, NULL, 3, 1), 0);
  assert_int_equal(crowd_run(THREADS, profile_runs, &it), 0);
  assert_in_range(it.steps[0][0], 1, 8);
  for (unsigned i = 0; i < THREADS * RUNS; ++i) {
    assert_int_equal(it.steps[i / RUNS][i % RUNS], it.steps[0][0]);
  }
  fixture.ort->ReleaseSession(it.session);
  assert_int_equal(rmdir(folder), 0);
}
#endif

/* ---- Options ------------------------------------------------------------------------------------------------------
 */

static OrtStatus *try_options(const ort_session_request *request) {
  ort_model model;
  OrtSession *session = NULL;
  layer_build(&model, &fixture);
  OrtStatus *status = ort_model_session(&model, request, &session);
  if (status == NULL) {
    assert_int_equal(layer_run(&fixture, session, NULL, 2, 1), 0);
  }
  fixture.ort->ReleaseSession(session);
  return status;
}

static OrtStatus *try_option(const char *key, const char *value) {
  return try_options(&(ort_session_request){.leat = true, .option = key, .option_value = value});
}

static void test_options(void **state) {
  (void)state;
  expect_failure(try_option("device", "nonsense"), "nonsense");
  expect_failure(try_option("device", ""), "device");
  expect_failure(try_option("devise", "0"), "devise");
  expect_failure(try_option("devise", "0"), "force_graph_path");
  expect_failure(try_option("force_graph_path", "2"), "0 or 1");
  expect_failure(try_option("stream_pool_wait_timeout_ms", "-2"), "-2");
  expect_failure(try_option("lanes", "4"), "LEAT_LANES");
  const OrtKeyValuePairs *facts = fixture.ort->EpDevice_EpMetadata(fixture.device);
  const char *const keys[] = {"leat_device_index", "leat_device_name", "leat_device_uuid", "leat_driver_uuid"};
  for (size_t i = 0; i < 3; ++i) {
    const char *value = fixture.ort->GetKeyValue(facts, keys[i]);
    assert_non_null(value);
    ort_fixture_check(&fixture, try_option("device", value), value);
  }
  ort_fixture_check(&fixture, try_option("force_graph_path", "1"), "force_graph_path");
  ort_fixture_check(&fixture, try_option("force_direct_path", "1"), "force_direct_path");
  ort_session_request both = {.leat = true,
                              .option = "force_graph_path",
                              .option_value = "1",
                              .second = "force_direct_path",
                              .second_value = "1"};
  expect_failure(try_options(&both), "both");
  both.second_value = "0";
  ort_fixture_check(&fixture, try_options(&both), "one of two paths");
}

#if ORT_API_VERSION >= 25
/* ---- The operator list --------------------------------------------------------------------------------------------
 */

/* Whether the schema has that name for the type of an input or output: the type constraint, or the input's own name
 * where there is no parameter. */
static bool names_type(const OrtEpApi *ep, const OrtOpSchema *schema, const char *name) {
  size_t counts[2] = {0};
  ort_fixture_check(&fixture, ep->OpSchema_GetNumInputs(schema, &counts[0]), name);
  ort_fixture_check(&fixture, ep->OpSchema_GetNumOutputs(schema, &counts[1]), name);
  for (size_t i = 0; i < counts[0] + counts[1]; ++i) {
    bool input = i < counts[0];
    size_t index = input ? i : i - counts[0];
    const OrtOpSchemaTypeConstraint *constraint = NULL;
    const char *known = NULL;
    ort_fixture_check(&fixture,
                      input ? ep->OpSchema_GetInputTypeConstraint(schema, index, &constraint)
                            : ep->OpSchema_GetOutputTypeConstraint(schema, index, &constraint),
                      name);
    ort_fixture_check(&fixture,
                      constraint != NULL ? ep->OpSchemaTypeConstraint_GetTypeParamName(constraint, &known)
                      : input            ? ep->OpSchema_GetInputName(schema, index, &known)
                                         : ep->OpSchema_GetOutputName(schema, index, &known),
                      name);
    if (strcmp(known, name) == 0) {
      return true;
    }
  }
  return false;
}

/* Whether some version of an operator in the range of its entry has that name for a type. No schema at all is none of
 * the list's mistakes. */
static bool some_version_names_type(const OrtEpApi *ep, const leat_op_info *info, const char *name) {
  const int newest = 25;
  int last = info->since_version_max < (uint32_t)newest ? (int)info->since_version_max : newest;
  bool any = false;
  for (int version = (int)info->since_version_min; version <= last; ++version) {
    OrtOpSchema *schema = NULL;
    ort_fixture_check(&fixture, ep->GetOpSchema(info->name, version, info->domain, &schema), info->name);
    any = any || schema != NULL;
    bool found = schema != NULL && names_type(ep, schema, name);
    ep->ReleaseOpSchema(schema);
    if (found) {
      return true;
    }
  }
  return !any;
}

/* A name that no version has is a slip of the pen, and what it says is lost. "tensor(int64)" and the like are no names
 * but types that the specification fixes. */
static void test_operator_list_names_types_as_the_schemas_do(void **state) {
  (void)state;
  const leat_backend_api *leat = NULL;
  leat_error error = {.struct_size = sizeof(error)};
  assert_int_equal(leat_host_load(NULL, &leat, &error), LEAT_OK);
  uint32_t count = 0;
  assert_int_equal(leat->op->count(&count, &error), LEAT_OK);
  assert_true(count > 0);
  unsigned unknown = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const leat_op_info *info = NULL;
    assert_int_equal(leat->op->info(i, &info, &error), LEAT_OK);
    for (uint32_t j = 0; j < info->type_count; ++j) {
      const char *name = info->types[j]->name;
      if (strchr(name, '(') == NULL && !some_version_names_type(fixture.ort->GetEpApi(), info, name)) {
        fprintf(stderr, "%s, versions %u to %u: no schema has a type '%s'\n", info->name, info->since_version_min,
                info->since_version_max, name);
        unknown++;
      }
    }
  }
  assert_int_equal(unknown, 0);
}
#endif

/* ---- Registration -------------------------------------------------------------------------------------------------
 */

static void test_registration_can_be_repeated(void **state) {
  (void)state;
  for (unsigned i = 0; i < 2; ++i) {
    ort_fixture_check(&fixture, fixture.ort->UnregisterExecutionProviderLibrary(fixture.env, "leat"), "Unregister");
    ort_fixture_check(&fixture, ort_fixture_register(&fixture), "Register");
    assert_non_null(fixture.device);
    OrtSession *session = layer_session(&fixture);
    assert_int_equal(layer_run(&fixture, session, NULL, 2, i), 0);
    fixture.ort->ReleaseSession(session);
  }
}

int main(int count, char **arguments) {
  if (count == 3 && strcmp(arguments[1], "--child") == 0) {
    return process_child(arguments[2]);
  }
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_all_nodes_run_on_leat),
    cmocka_unit_test(test_zero_rows),
    cmocka_unit_test(test_one_session_many_threads),
    cmocka_unit_test(test_forty_threads),
    cmocka_unit_test(test_session_per_thread),
    cmocka_unit_test(test_sessions_come_and_go),
    cmocka_unit_test(test_failure_in_the_middle),
    cmocka_unit_test(test_failures_of_some_threads),
    cmocka_unit_test(test_out_of_memory),
    cmocka_unit_test(test_shape_arithmetic_stays_on_the_host),
    cmocka_unit_test(test_other_providers_nodes_in_between),
    cmocka_unit_test(test_copies_without_a_stream),
    cmocka_unit_test(test_copies_on_a_stream),
    cmocka_unit_test(test_runs_on_the_users_stream),
    cmocka_unit_test(test_bodies_on_the_users_stream),
    cmocka_unit_test(test_bound_outputs_without_synchronization),
    cmocka_unit_test(test_runs_without_synchronization),
    cmocka_unit_test(test_strings_cannot_be_copied),
    cmocka_unit_test(test_allocator_gives_figures),
#if ORT_API_VERSION >= 25
    cmocka_unit_test(test_shrink_gives_memory_back),
    cmocka_unit_test(test_run_option_shrinks),
    cmocka_unit_test(test_runs_are_profiled),
#endif
    cmocka_unit_test(test_options),
#if ORT_API_VERSION >= 25
    cmocka_unit_test(test_operator_list_names_types_as_the_schemas_do),
#endif
    cmocka_unit_test(test_registration_can_be_repeated),
    cmocka_unit_test(test_leaving_everything_open_is_legal),
    cmocka_unit_test(test_unknown_device_fails_registration),
    cmocka_unit_test(test_unparsable_variable_fails_registration),
    cmocka_unit_test(test_missing_backend_fails_registration),
  };
  if (count == 2) {
    cmocka_set_test_filter(arguments[1]);
  }
  ort_fixture_open(&fixture);
  ort_fixture_check(&fixture, ort_fixture_register(&fixture), "registering the provider");
  if (fixture.device == NULL) {
    fprintf(stderr, "Leat finds no device; LEAT_TEST_ORT_LOG=2 shows why\n");
    return ORT_FIXTURE_SKIPPED;
  }
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  ort_fixture_close(&fixture);
  return failed;
}
