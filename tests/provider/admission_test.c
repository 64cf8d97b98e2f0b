/* SPDX-License-Identifier: BSD-3-Clause */
/* admission_test SETTING: which Runs are admitted when the pool of streams runs short. The tests hold places of the
 * pool themselves, beside ONNX Runtime, so that nothing depends on who is fast. SETTING is what holds for the process:
 * "waiting" (the provider's default), "refusing" (the variable is 0), "shared" (round-robin), "options" (nothing yet:
 * the first session decides). */
#include <errno.h>
#include <leat/host.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "crowd.h"
#include "layer.h"

#define FLOAT ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT
#define MANY 40
#define RUNS 4
/* Worker streams of the pool: what the backend's documentation says, and test_pool_is_as_large_as_thought() checks. */
#define PLACES 31
#define TIMEOUT_OPTION "stream_pool_wait_timeout_ms"

static ort_fixture fixture;
/* The backend that the provider has loaded, too, and its device. */
static const leat_backend_api *leat;
static leat_device *device;

/* ---- Helpers ------------------------------------------------------------------------------------------------------
 */

#define assert_ok(call)                            \
  do {                                             \
    leat_error err = {.struct_size = sizeof(err)}; \
    if ((call) != LEAT_OK) {                       \
      fail_msg("%s: %s", #call, err.message);      \
    }                                              \
  } while (0)

static leat_pool_info pool_info(void) {
  leat_pool_info info = {.struct_size = sizeof(info)};
  assert_ok(leat->pool->info(device, &info, &err));
  return info;
}

/* Takes places of the pool, and releases them. */
static void hold(uint64_t *tickets, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    leat_stream *stream;
    assert_ok(leat->pool->acquire(device, 0, &stream, &tickets[i], &err));
  }
}

static void let_go(const uint64_t *tickets, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    assert_ok(leat->pool->release(device, tickets[i], &err));
  }
}

/* Returns when so many threads wait for a place. */
static void await_waiting(unsigned count) {
  while (pool_info().waiting_count != count) {
    sched_yield();
  }
}

static OrtStatus *try_session(const char *option, const char *value, OrtSession **out) {
  ort_model model;
  *out = NULL;
  layer_build(&model, &fixture);
  return ort_model_session(
      &model, &(ort_session_request){.leat = true, .alone = true, .option = option, .option_value = value}, out);
}

static OrtSession *session_with(const char *option, const char *value) {
  OrtSession *session;
  ort_fixture_check(&fixture, try_session(option, value, &session), "session");
  return session;
}

/* What became of a Run. */
typedef enum outcome { RIGHT, REFUSED, OTHERWISE } outcome;

static outcome run(OrtSession *session, unsigned seed) {
  bool wrong = false;
  OrtStatus *status = layer_try(&fixture, session, NULL, 2, seed, &wrong);
  outcome result = wrong ? OTHERWISE : RIGHT;
  if (status != NULL) {
    const char *message = fixture.ort->GetErrorMessage(status);
    result = strstr(message, "not admitted") != NULL && strstr(message, TIMEOUT_OPTION) != NULL &&
                     strstr(message, "LEAT_STREAM_POOL_WAIT_TIMEOUT_MS") != NULL &&
                     /* With this code Python would take the session to the CPU for good. */
                     fixture.ort->GetErrorCode(status) != ORT_EP_FAIL
                 ? REFUSED
                 : OTHERWISE;
    if (result == OTHERWISE) {
      fprintf(stderr, "Run: %s\n", message);
    }
    fixture.ort->ReleaseStatus(status);
  }
  return result;
}

/* A Run on a thread of its own. */
typedef struct lone_run {
  pthread_t thread;
  OrtSession *session;
  outcome result;
} lone_run;

static void *lone_run_body(void *argument) {
  lone_run *self = argument;
  self->result = run(self->session, 5);
  return NULL;
}

static void lone_run_start(lone_run *self, OrtSession *session) {
  self->session = session;
  assert_int_equal(pthread_create(&self->thread, NULL, lone_run_body, self), 0);
}

static outcome lone_run_join(lone_run *self) {
  assert_int_equal(pthread_join(self->thread, NULL), 0);
  return self->result;
}

/* Many threads that run. */
typedef struct many_runs {
  OrtSession *session;
  atomic_uint right, refused;
} many_runs;

static unsigned many_runs_body(unsigned index, void *context) {
  many_runs *self = context;
  unsigned failures = 0;
  for (unsigned i = 0; i < RUNS; ++i) {
    switch (run(self->session, index * RUNS + i)) {
      case RIGHT:
        atomic_fetch_add(&self->right, 1);
        break;
      case REFUSED:
        atomic_fetch_add(&self->refused, 1);
        break;
      default:
        failures++;
        break;
    }
  }
  return failures;
}

/* Nothing but right answers and refusals comes of it, and no place is lost. */
static void run_many(many_runs *self, OrtSession *session, unsigned threads) {
  const unsigned held = pool_info().held_count;
  self->session = session;
  atomic_init(&self->right, 0);
  atomic_init(&self->refused, 0);
  assert_int_equal(crowd_run(threads, many_runs_body, self), 0);
  assert_int_equal(self->right + self->refused, threads * RUNS);
  assert_int_equal(pool_info().held_count, held);
  assert_int_equal(pool_info().waiting_count, 0);
}

/* ---- Waiting, for whom the options do not say otherwise -------------------------------------------------------------
 */

static void test_pool_is_as_large_as_thought(void **state) {
  (void)state;
  assert_int_equal(pool_info().stream_count, PLACES + 1);
  assert_int_equal(pool_info().held_count, 0);
}

static void test_forty_threads_wait_their_turn(void **state) {
  (void)state;
  OrtSession *session = session_with(NULL, NULL);
  uint64_t tickets[PLACES];
  many_runs runs;
  run_many(&runs, session, MANY);
  assert_int_equal(runs.refused, 0);
  /* With one place for all, too. */
  hold(tickets, PLACES - 1);
  run_many(&runs, session, MANY);
  assert_int_equal(runs.refused, 0);
  let_go(tickets, PLACES - 1);
  fixture.ort->ReleaseSession(session);
}

static void test_run_waits_until_a_place_is_free(void **state) {
  (void)state;
  const char *const settings[][2] = {{NULL, NULL}, {TIMEOUT_OPTION, "-1"}, {TIMEOUT_OPTION, "2000000000"}};
  uint64_t tickets[PLACES];
  for (size_t i = 0; i < 3; ++i) {
    OrtSession *session = session_with(settings[i][0], settings[i][1]);
    lone_run waiting;
    hold(tickets, PLACES);
    lone_run_start(&waiting, session);
    await_waiting(1);
    let_go(tickets, PLACES);
    assert_int_equal(lone_run_join(&waiting), RIGHT);
    assert_int_equal(pool_info().held_count, 0);
    fixture.ort->ReleaseSession(session);
  }
}

static void test_run_holds_one_place(void **state) {
  (void)state;
  OrtSession *session = session_with(NULL, NULL);
  const leat_pool_info before = pool_info();
  assert_int_equal(run(session, 1), RIGHT);
  assert_int_equal(pool_info().acquire_count, before.acquire_count + 1);
  assert_int_equal(pool_info().exhausted_count, before.exhausted_count);
  fixture.ort->ReleaseSession(session);
}

/* ---- Refusing ------------------------------------------------------------------------------------------------------
 */

static void check_refusals(const char *option, const char *value) {
  OrtSession *session = session_with(option, value);
  uint64_t tickets[PLACES];
  many_runs runs;
  /* Enough for all. */
  run_many(&runs, session, PLACES);
  assert_int_equal(runs.refused, 0);
  /* None. */
  hold(tickets, PLACES);
  const uint64_t exhausted = pool_info().exhausted_count;
  assert_int_equal(run(session, 1), REFUSED);
  assert_int_equal(pool_info().exhausted_count, exhausted + 1);
  run_many(&runs, session, MANY);
  assert_int_equal(runs.right, 0);
  /* Some: those who get one are right. */
  let_go(tickets, 3);
  run_many(&runs, session, MANY);
  assert_true(runs.right > 0);
  let_go(tickets + 3, PLACES - 3);
  run_many(&runs, session, PLACES);
  assert_int_equal(runs.refused, 0);
  assert_int_equal(pool_info().held_count, 0);
  fixture.ort->ReleaseSession(session);
}

static void test_zero_refuses_at_once(void **state) {
  (void)state;
  check_refusals(TIMEOUT_OPTION, "0");
}

static void test_some_milliseconds_refuse_later(void **state) {
  (void)state;
  check_refusals(TIMEOUT_OPTION, "3");
}

static void test_each_session_has_its_own_patience(void **state) {
  (void)state;
  OrtSession *patient = session_with(TIMEOUT_OPTION, "-1");
  OrtSession *hasty = session_with(TIMEOUT_OPTION, "0");
  uint64_t tickets[PLACES];
  lone_run waiting[3];
  hold(tickets, PLACES);
  for (unsigned i = 0; i < 3; ++i) {
    lone_run_start(&waiting[i], patient);
    await_waiting(i + 1);
    assert_int_equal(run(hasty, i), REFUSED);
  }
  let_go(tickets, PLACES);
  for (unsigned i = 0; i < 3; ++i) {
    assert_int_equal(lone_run_join(&waiting[i]), RIGHT);
  }
  assert_int_equal(run(hasty, 1), RIGHT);
  fixture.ort->ReleaseSession(patient);
  fixture.ort->ReleaseSession(hasty);
}

static void test_variable_holds_where_no_option_is(void **state) {
  (void)state;
  check_refusals(NULL, NULL);
  /* The option beats it. */
  OrtSession *patient = session_with(TIMEOUT_OPTION, "-1");
  uint64_t tickets[PLACES];
  lone_run waiting;
  hold(tickets, PLACES);
  lone_run_start(&waiting, patient);
  await_waiting(1);
  let_go(tickets, PLACES);
  assert_int_equal(lone_run_join(&waiting), RIGHT);
  fixture.ort->ReleaseSession(patient);
}

/* ---- Runs inside of Runs -------------------------------------------------------------------------------------------
 */

/* An operator on the CPU, "test:Nested", that runs a session in the middle of another one's Run, and gives its input
 * on.
 */
static struct {
  OrtSession *inner;
  bool fails;
  atomic_uint inner_right, inner_refused;
} nested;

static const char *ORT_API_CALL nested_name(const OrtCustomOp *op) {
  (void)op;
  return "Nested";
}

static const char *ORT_API_CALL nested_provider(const OrtCustomOp *op) {
  (void)op;
  return NULL;
}

static ONNXTensorElementDataType ORT_API_CALL nested_type(const OrtCustomOp *op, size_t index) {
  (void)op;
  (void)index;
  return FLOAT;
}

static size_t ORT_API_CALL nested_count(const OrtCustomOp *op) {
  (void)op;
  return 1;
}

static OrtCustomOpInputOutputCharacteristic ORT_API_CALL nested_characteristic(const OrtCustomOp *op, size_t index) {
  (void)op;
  (void)index;
  return INPUT_OUTPUT_REQUIRED;
}

static OrtMemType ORT_API_CALL nested_memory(const OrtCustomOp *op, size_t index) {
  (void)op;
  (void)index;
  return OrtMemTypeDefault;
}

static int ORT_API_CALL nested_one(const OrtCustomOp *op) {
  (void)op;
  return 1;
}

static OrtStatusPtr ORT_API_CALL nested_create(const OrtCustomOp *op, const OrtApi *api, const OrtKernelInfo *info,
                                               void **out) {
  (void)op;
  (void)api;
  (void)info;
  *out = &nested;
  return NULL;
}

static void ORT_API_CALL nested_destroy(void *kernel) {
  (void)kernel;
}

static OrtStatusPtr ORT_API_CALL nested_compute(void *kernel, OrtKernelContext *context) {
  (void)kernel;
  const OrtApi *ort = fixture.ort;
  const OrtValue *in = NULL;
  OrtValue *out = NULL;
  OrtTensorTypeAndShapeInfo *shape = NULL;
  int64_t dims[2];
  const void *from = NULL;
  void *to = NULL;
  const outcome result = run(nested.inner, 9);
  atomic_fetch_add(result == RIGHT ? &nested.inner_right : &nested.inner_refused, 1);
  if (nested.fails || result == OTHERWISE) {
    return ort->CreateStatus(ORT_FAIL, "the operator in the middle fails");
  }
  ort_fixture_check(&fixture, ort->KernelContext_GetInput(context, 0, &in), "input");
  ort_fixture_check(&fixture, ort->GetTensorTypeAndShape(in, &shape), "input");
  ort_fixture_check(&fixture, ort->GetDimensions(shape, dims, 2), "input");
  ort->ReleaseTensorTypeAndShapeInfo(shape);
  ort_fixture_check(&fixture, ort->GetTensorData(in, &from), "input");
  ort_fixture_check(&fixture, ort->KernelContext_GetOutput(context, 0, dims, 2, &out), "output");
  ort_fixture_check(&fixture, ort->GetTensorMutableData(out, &to), "output");
  memcpy(to, from, (size_t)(dims[0] * dims[1]) * sizeof(float));
  return NULL;
}

static const OrtCustomOp nested_operator = {
    .version = ORT_API_VERSION,
    .GetName = nested_name,
    .GetExecutionProviderType = nested_provider,
    .GetInputType = nested_type,
    .GetInputTypeCount = nested_count,
    .GetOutputType = nested_type,
    .GetOutputTypeCount = nested_count,
    .KernelDestroy = nested_destroy,
    .GetInputCharacteristic = nested_characteristic,
    .GetOutputCharacteristic = nested_characteristic,
    .GetInputMemoryType = nested_memory,
    .GetVariadicInputMinArity = nested_one,
    .GetVariadicInputHomogeneity = nested_one,
    .GetVariadicOutputMinArity = nested_one,
    .GetVariadicOutputHomogeneity = nested_one,
    .CreateKernelV2 = nested_create,
    .KernelComputeV2 = nested_compute,
    .GetStartVersion = nested_one,
    .GetEndVersion = nested_one,
};

/* A message of Protocol Buffers that is being written: ONNX Runtime's model editor knows no operators but ONNX's, so
 * the model is given as a file would hold it. */
typedef struct onnx_message {
  uint8_t bytes[512];
  size_t length;
} onnx_message;

static void put_number(onnx_message *m, uint64_t number) {
  for (; number > 127; number >>= 7) {
    m->bytes[m->length++] = (uint8_t)(number | 128);
  }
  m->bytes[m->length++] = (uint8_t)number;
}

static void put_int(onnx_message *m, unsigned field, uint64_t value) {
  put_number(m, field << 3);
  put_number(m, value);
}

static void put_bytes(onnx_message *m, unsigned field, const void *bytes, size_t length) {
  assert_true(m->length + length + 8 < sizeof(m->bytes));
  put_number(m, field << 3 | 2);
  put_number(m, length);
  memcpy(m->bytes + m->length, bytes, length);
  m->length += length;
}

static void put_text(onnx_message *m, unsigned field, const char *text) {
  put_bytes(m, field, text, strlen(text));
}

static void put_message(onnx_message *m, unsigned field, const onnx_message *inner) {
  put_bytes(m, field, inner->bytes, inner->length);
}

/* NodeProto, in a GraphProto. */
static void put_node(onnx_message *graph, const char *domain, const char *type, const char *input, const char *output) {
  onnx_message node = {.length = 0};
  put_text(&node, 1, input);
  put_text(&node, 2, output);
  put_text(&node, 3, type);
  put_text(&node, 4, type);
  put_text(&node, 7, domain);
  put_message(graph, 1, &node);
}

/* ValueInfoProto of float[2, 3], in a GraphProto. */
static void put_value(onnx_message *graph, unsigned field, const char *name) {
  onnx_message dims = {.length = 0}, tensor = {.length = 0}, type = {.length = 0}, value = {.length = 0};
  for (uint64_t size = 2; size <= 3; ++size) {
    onnx_message dim = {.length = 0};
    put_int(&dim, 1, size);
    put_message(&dims, 1, &dim);
  }
  put_int(&tensor, 1, FLOAT);
  put_message(&tensor, 2, &dims);
  put_message(&type, 1, &tensor);
  put_text(&value, 1, name);
  put_message(&value, 2, &type);
  put_message(graph, field, &value);
}

/* y = -nested(relu(x)). */
static void put_model(onnx_message *model) {
  onnx_message graph = {.length = 0}, onnx = {.length = 0}, test = {.length = 0};
  put_node(&graph, "", "Relu", "x", "a");
  put_node(&graph, "test", "Nested", "a", "b");
  put_node(&graph, "", "Neg", "b", "y");
  put_text(&graph, 2, "graph");
  put_value(&graph, 11, "x");
  put_value(&graph, 12, "y");
  put_text(&onnx, 1, "");
  put_int(&onnx, 2, 17);
  put_text(&test, 1, "test");
  put_int(&test, 2, 1);
  put_int(model, 1, 8);
  put_message(model, 7, &graph);
  put_message(model, 8, &onnx);
  put_message(model, 8, &test);
}

/* A session of it, of which the ends run on Leat. */
static OrtSession *nesting_session(OrtCustomOpDomain *operators) {
  const OrtApi *ort = fixture.ort;
  const char *const key = TIMEOUT_OPTION, *const value = "0";
  onnx_message model = {.length = 0};
  OrtSessionOptions *options = NULL;
  OrtSession *session = NULL;
  put_model(&model);
  ort_fixture_check(&fixture, ort->CreateSessionOptions(&options), "options");
  ort_fixture_check(&fixture, ort->SetIntraOpNumThreads(options, 1), "options");
  ort_fixture_check(&fixture, ort->AddSessionConfigEntry(options, "session.record_ep_graph_assignment_info", "1"),
                    "options");
  ort_fixture_check(&fixture, ort->AddCustomOpDomain(options, operators), "operators");
  ort_fixture_check(
      &fixture,
      ort->SessionOptionsAppendExecutionProvider_V2(options, fixture.env, &fixture.device, 1, &key, &value, 1),
      "options");
  ort_fixture_check(&fixture, ort->CreateSessionFromArray(fixture.env, model.bytes, model.length, options, &session),
                    "session");
  ort->ReleaseSessionOptions(options);
  assert_int_equal(ort_fixture_nodes_on(&fixture, session, ORT_FIXTURE_PROVIDER), 2);
  return session;
}

/* Runs the outer session; true: the result is right. */
static bool run_nesting(OrtSession *session) {
  const int64_t dims[] = {2, 3};
  const float x[] = {-1, 2, -3, 4, -5, 6};
  OrtValue *input = ort_fixture_tensor(&fixture, FLOAT, dims, 2, x);
  OrtValue *y = NULL;
  OrtStatus *status = ort_fixture_run(&fixture, session, NULL, (const OrtValue *const *)&input, &y);
  bool right = status == NULL;
  for (int i = 0; i < 6 && right; ++i) {
    const void *data = NULL;
    ort_fixture_check(&fixture, fixture.ort->GetTensorData(y, &data), "y");
    right = ((const float *)data)[i] == (x[i] > 0 ? -x[i] : 0.0f);
  }
  if (status != NULL) {
    assert_non_null(strstr(fixture.ort->GetErrorMessage(status), "in the middle fails"));
    fixture.ort->ReleaseStatus(status);
  }
  fixture.ort->ReleaseValue(input);
  fixture.ort->ReleaseValue(y);
  return right;
}

static void test_run_inside_of_a_run_shares_its_place(void **state) {
  (void)state;
  OrtCustomOpDomain *operators = NULL;
  uint64_t tickets[PLACES];
  ort_fixture_check(&fixture, fixture.ort->CreateCustomOpDomain("test", &operators), "domain");
  ort_fixture_check(&fixture, fixture.ort->CustomOpDomain_Add(operators, &nested_operator), "operator");
  OrtSession *outer = nesting_session(operators);
  nested.inner = session_with(TIMEOUT_OPTION, "0");
  /* One place is left, which the outer Run takes, and nobody waits. */
  hold(tickets, PLACES - 1);
  for (unsigned i = 0; i < 5; ++i) {
    assert_true(run_nesting(outer));
  }
  assert_int_equal(nested.inner_right, 5);
  assert_int_equal(nested.inner_refused, 0);
  /* A Run that fails half-way gives its place back as well. */
  nested.fails = true;
  for (unsigned i = 0; i < 5; ++i) {
    assert_false(run_nesting(outer));
  }
  nested.fails = false;
  assert_true(run_nesting(outer));
  assert_int_equal(nested.inner_right, 11);
  assert_int_equal(pool_info().held_count, PLACES - 1);
  let_go(tickets, PLACES - 1);
  fixture.ort->ReleaseSession(outer);
  fixture.ort->ReleaseSession(nested.inner);
  fixture.ort->ReleaseCustomOpDomain(operators);
}

/* ---- Sharing -------------------------------------------------------------------------------------------------------
 */

static void test_sharing_admits_everybody(void **state) {
  (void)state;
  uint64_t tickets[2 * PLACES];
  many_runs runs;
  assert_true((pool_info().flags & LEAT_POOL_ROUND_ROBIN) != 0);
  const char *const settings[][2] = {
      {NULL, NULL}, {TIMEOUT_OPTION, "0"}, {TIMEOUT_OPTION, "3"}, {TIMEOUT_OPTION, "-1"}};
  for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); ++i) {
    OrtSession *session = session_with(settings[i][0], settings[i][1]);
    hold(tickets, 2 * PLACES);
    run_many(&runs, session, MANY);
    assert_int_equal(runs.refused, 0);
    let_go(tickets, 2 * PLACES);
    fixture.ort->ReleaseSession(session);
  }
}

/* ---- Options of the process ----------------------------------------------------------------------------------------
 */

/* Checks that a session is refused with a message that has all the words. */
static void expect_refusal(const char *option, const char *value, const char *const *words) {
  OrtSession *session;
  OrtStatus *status = try_session(option, value, &session);
  assert_non_null(status);
  const char *message = fixture.ort->GetErrorMessage(status);
  for (; *words != NULL; ++words) {
    if (strstr(message, *words) == NULL) {
      fail_msg("%s=%s: the message lacks '%s': %s", option, value, *words, message);
    }
  }
  fixture.ort->ReleaseStatus(status);
}
#define EXPECT_REFUSAL(option, value, ...) expect_refusal(option, value, (const char *const[]){__VA_ARGS__, NULL})

/* What the backend reports of a setting. */
static void expect_setting(const char *variable, const char *expected) {
  static leat_property properties[1024];
  uint32_t count = 1024;
  bool found = false;
  for (uint32_t i = 0; i < count; ++i) {
    properties[i].struct_size = sizeof(properties[i]);
  }
  assert_ok(leat->device->report(&count, properties, &err));
  assert_true(count <= 1024);
  for (uint32_t i = 0; i < count; ++i) {
    if (strncmp(properties[i].name, "config.", 7) == 0 && strcmp(properties[i].name + 7, variable) == 0) {
      assert_string_equal(properties[i].value, expected);
      found = true;
    }
  }
  assert_true(found);
}

static void check_layer(const char *option, const char *value) {
  OrtSession *session = session_with(option, value);
  assert_int_equal(run(session, 3), RIGHT);
  fixture.ort->ReleaseSession(session);
}

/* Nothing that is wrong in itself comes into effect, whether or not a device is open. */
static void check_bad_values(void) {
  EXPECT_REFUSAL("lanes", "99", "'lanes'", "99", "1 to 8");
  EXPECT_REFUSAL("lanes", "many", "'lanes'", "many", "1 to 8");
  EXPECT_REFUSAL("wait_spin_us", "-3", "'wait_spin_us'", "-3", "0 to 1000000");
  EXPECT_REFUSAL("high_watermark_ratio", "0,9", "'high_watermark_ratio'", "0,9", "0.8");
  EXPECT_REFUSAL("log", "loud", "'log'", "loud", "debug");
  EXPECT_REFUSAL("stream_policy", "both", "'stream_policy'", "both", "round-robin");
  EXPECT_REFUSAL("memory_guard", "yes", "'memory_guard'", "yes", "0, 1 or pages");
  EXPECT_REFUSAL("cache_dir", "cache", "'cache_dir'", "cache", "an absolute path");
}

static void test_first_session_decides_for_the_process(void **state) {
  (void)state;
  check_bad_values();
  /* Good alone, but not with the other one's variable (see main()); nothing is left of it. */
  EXPECT_REFUSAL("high_watermark_ratio", "0.5", "LEAT_LOW_WATERMARK_RATIO", "LEAT_HIGH_WATERMARK_RATIO", "0.5");
  expect_setting("LEAT_HIGH_WATERMARK_RATIO", "1.0 (default)");
  OrtSession *first = session_with("stream_policy", "round-robin");
  expect_setting("LEAT_STREAM_POLICY", "round-robin (host)");
  assert_int_equal(run(first, 1), RIGHT);
  /* The device is open now. */
  check_bad_values();
  EXPECT_REFUSAL("stream_policy", "exclusive", "'stream_policy'", "'exclusive'", "round-robin (host)",
                 "LEAT_STREAM_POLICY=exclusive");
  EXPECT_REFUSAL("lanes", "1", "'lanes'", "'1'", "(default)", "LEAT_LANES=1");
  /* Nothing is a folder to ask for, too. */
  EXPECT_REFUSAL("cache_dir", "", "'cache_dir'", "''", "/dev/null/leat (environment)");
  check_layer("cache_dir", "/dev/null/leat");
  /* The same is no contradiction, however it is written. */
  check_layer("stream_policy", "round-robin");
  check_layer("high_watermark_ratio", "1");
  check_layer("high_watermark_ratio", "01.00");
  check_layer("low_watermark_ratio", ".750");
  check_layer("memory_guard", "0");
  check_layer("log", "warn");
  check_layer("lanes", "");
  expect_setting("LEAT_STREAM_POLICY", "round-robin (host)");
  fixture.ort->ReleaseSession(first);
}

static void test_sharing_by_option(void **state) {
  (void)state;
  assert_ok(leat->device->open(0, &device, &err));
  test_sharing_admits_everybody(state);
  assert_ok(leat->device->close(device, &err));
}

static void test_after_the_last_device_another_may_decide(void **state) {
  (void)state;
  ort_fixture_check(&fixture, fixture.ort->UnregisterExecutionProviderLibrary(fixture.env, "leat"), "Unregister");
  ort_fixture_check(&fixture, ort_fixture_register(&fixture), "Register");
  check_layer("stream_policy", "exclusive");
  expect_setting("LEAT_STREAM_POLICY", "exclusive (host)");
  EXPECT_REFUSAL("stream_policy", "round-robin", "exclusive (host)");
}

static void test_an_option_beats_its_variable(void **state) {
  (void)state;
  ort_fixture_check(&fixture, fixture.ort->UnregisterExecutionProviderLibrary(fixture.env, "leat"), "Unregister");
  ort_fixture_check(&fixture, ort_fixture_register(&fixture), "Register");
  expect_setting("LEAT_LOW_WATERMARK_RATIO", "0.75 (environment)");
  check_layer("low_watermark_ratio", "0.5");
  expect_setting("LEAT_LOW_WATERMARK_RATIO", "0.5 (host)");
}

static void test_an_empty_option_beats_its_variable(void **state) {
  (void)state;
  ort_fixture_check(&fixture, fixture.ort->UnregisterExecutionProviderLibrary(fixture.env, "leat"), "Unregister");
  ort_fixture_check(&fixture, ort_fixture_register(&fixture), "Register");
  expect_setting("LEAT_CACHE_DIR", "/dev/null/leat (environment)");
  check_layer("cache_dir", "");
  expect_setting("LEAT_CACHE_DIR", " (host)");
}

/* ---- Program -------------------------------------------------------------------------------------------------------
 */

static int run_options(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_first_session_decides_for_the_process),
      cmocka_unit_test(test_sharing_by_option),
      cmocka_unit_test(test_after_the_last_device_another_may_decide),
      cmocka_unit_test(test_an_option_beats_its_variable),
      cmocka_unit_test(test_an_empty_option_beats_its_variable),
  };
  return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}

static int run_waiting(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pool_is_as_large_as_thought),
      cmocka_unit_test(test_forty_threads_wait_their_turn),
      cmocka_unit_test(test_run_waits_until_a_place_is_free),
      cmocka_unit_test(test_run_holds_one_place),
      cmocka_unit_test(test_zero_refuses_at_once),
      cmocka_unit_test(test_some_milliseconds_refuse_later),
      cmocka_unit_test(test_each_session_has_its_own_patience),
      cmocka_unit_test(test_run_inside_of_a_run_shares_its_place),
      cmocka_unit_test(test_forty_threads_wait_their_turn),
  };
  return cmocka_run_group_tests_name("waiting", tests, NULL, NULL);
}

static int run_refusing(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_variable_holds_where_no_option_is)};
  return cmocka_run_group_tests_name("refusing", tests, NULL, NULL);
}

static int run_shared(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_sharing_admits_everybody)};
  return cmocka_run_group_tests_name("shared", tests, NULL, NULL);
}

int main(int count, char **arguments) {
  static const struct {
    const char *name, *variable, *value;
    bool opened; /* the device is, before any session is made */
    int (*run)(void);
  } settings[] = {{"waiting", "LEAT_STREAM_POOL_WAIT_TIMEOUT_MS", "", true, run_waiting},
                  {"refusing", "LEAT_STREAM_POOL_WAIT_TIMEOUT_MS", "0", true, run_refusing},
                  {"shared", "LEAT_STREAM_POLICY", "round-robin", true, run_shared},
                  {"options", "LEAT_STREAM_POLICY", "", false, run_options}};
  for (size_t i = 0; count == 2 && i < sizeof(settings) / sizeof(settings[0]); ++i) {
    if (strcmp(arguments[1], settings[i].name) != 0) {
      continue;
    }
    setenv(settings[i].variable, settings[i].value, 1);
    setenv("LEAT_LOW_WATERMARK_RATIO", "0.75", 1);
    setenv("LEAT_CACHE_DIR", "/dev/null/leat", 1);
    ort_fixture_open(&fixture);
    ort_fixture_check(&fixture, ort_fixture_register(&fixture), "registering the provider");
    leat_error error = {.struct_size = sizeof(error)};
    if (fixture.device == NULL) {
      fprintf(stderr, "Leat finds no device\n");
      return ORT_FIXTURE_SKIPPED;
    }
    if (leat_host_load(NULL, &leat, &error) != LEAT_OK ||
        (settings[i].opened && leat->device->open(0, &device, &error) != LEAT_OK)) {
      fprintf(stderr, "%s\n", error.message);
      return 2;
    }
    const int failed = settings[i].run();
    if (settings[i].opened) {
      leat->device->close(device, NULL);
    }
    ort_fixture_close(&fixture);
    return failed;
  }
  fprintf(stderr, "usage: admission_test waiting|refusing|shared|options\n");
  return 2;
}
