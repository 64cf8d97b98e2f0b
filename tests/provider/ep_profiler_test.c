/* SPDX-License-Identifier: BSD-3-Clause */
/* host-shim/onnxruntime/ep_profiler.c with records that are written down: what ONNX Runtime is given of each step on
 * the device, how it is told of failures, and that these leave nothing behind and nobody inside of the gate. */
#include "onnxruntime/ep_profiler.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#if ORT_API_VERSION >= 25
#include <time.h>

#include "provider/stand_ins.h"

/* When the profiler is started, by CLOCK_MONOTONIC, and for how long ONNX Runtime's profile has been running then. */
#define START_NS INT64_C(5250000000)
#define OFFSET_NS INT64_C(3000000)
#define BEGIN_NS ((uint64_t)(START_NS - OFFSET_NS))
/* More than ONNX Runtime is given at once. */
#define RECORDS 130
#define NEVER SIZE_MAX

/* What is around the profiler, and what it has done to it. */
static struct {
  bool no_memory, no_device;
  int32_t begin_code;
  leat_profile_record records[RECORDS]; /* of the profile, */
  leati_span spans[RECORDS];            /* and the events around them */
  size_t count;
  uint64_t lost;               /* what the collector says that it has lost */
  size_t no_event, no_deliver; /* how many events can be made, and given to ONNX Runtime, until it fails */
  bool failed;                 /* one has: nothing is to come after it */
  int events;                  /* made and not released */
  size_t made, delivered;      /* all in all */
  unsigned deliveries;
  char event[512]; /* the last one that was made */
} world;

/* ---- What the profiler stands on ----------------------------------------------------------------------------------
 */

OrtStatus *leati_status_prefix(const leati_runtime *runtime, OrtStatus *status, const char *format, ...) {
  (void)runtime;
  (void)format;
  return status;
}

bool leati_status_drop(const leati_runtime *runtime, OrtStatus *status) {
  (void)runtime;
  return status == NULL;
}

int32_t leati_shared_device_open(leati_shared_device *device, leat_device **out, leat_error *err) {
  (void)err;
  if (world.no_device) {
    return LEAT_ERROR_DEVICE_LOST;
  }
  *out = (leat_device *)&world;
  atomic_store(&device->opened, *out);
  return LEAT_OK;
}

int32_t leati_collector_begin(leati_collector *collector, const leat_profiler_api *api, leat_device *device,
                              leati_profile *profile, leat_error *err) {
  (void)collector;
  (void)api;
  (void)err;
  assert_ptr_equal(device, &world);
  profile->running = world.begin_code == LEAT_OK;
  note("begin;");
  return world.begin_code;
}

void leati_collector_enter(leati_collector *collector, const leati_profile *profile, uint64_t id) {
  (void)collector;
  (void)profile;
  note("enter %d;", (int)id);
}

void leati_collector_leave(leati_collector *collector, const leati_profile *profile, uint64_t id, char *name) {
  (void)collector;
  (void)profile;
  note("leave %d as %s;", (int)id, name != NULL ? name : "nobody's");
  free(name);
}

uint64_t leati_collector_end(leati_collector *collector, const leat_profiler_api *api, leat_device *device,
                             leati_profile *profile, leati_collector_visit visit, void *context) {
  (void)collector;
  (void)api;
  assert_ptr_equal(device, &world);
  note(visit != NULL ? "end;" : "drop;");
  for (size_t i = 0; i < world.count && visit != NULL && profile->running; ++i) {
    visit(context, &world.records[i], &world.spans[i]);
  }
  profile->running = false;
  return world.lost;
}

static int32_t synchronize(leat_device *device, leat_error *err) {
  (void)err;
  assert_ptr_equal(device, &world);
  note("synchronize;");
  return LEAT_OK;
}

static OrtStatus *ORT_API_CALL create_event(OrtProfilingEventCategory category, int32_t process, int32_t thread,
                                            const char *name, int64_t begin_us, int64_t duration_us,
                                            const char *const *keys, const char *const *values, size_t count,
                                            OrtProfilingEvent **out) {
  assert_int_equal(category, OrtProfilingEventCategory_KERNEL);
  assert_false(world.failed);
  if (world.made == world.no_event) {
    world.failed = true;
    return FAILURE;
  }
  int used = snprintf(world.event, sizeof(world.event), "%s of %d.%d at %lld for %lld:", name, process, thread,
                      (long long)begin_us, (long long)duration_us);
  for (size_t i = 0; i < count; ++i) {
    used += snprintf(world.event + used, sizeof(world.event) - (size_t)used, " %s=%s", keys[i], values[i]);
  }
  ++world.made;
  ++world.events;
  *out = (OrtProfilingEvent *)&world.records[world.made];
  return NULL;
}

static void ORT_API_CALL release_event(OrtProfilingEvent *event) {
  assert_non_null(event);
  --world.events;
}

/* They come in the order in which they were made. */
static OrtStatus *ORT_API_CALL add_events(OrtProfilingEventsContainer *container,
                                          const OrtProfilingEvent *const *events, size_t count) {
  assert_ptr_equal(container, &world);
  assert_true(count > 0);
  assert_false(world.failed);
  if (world.deliveries == world.no_deliver) {
    world.failed = true;
    return FAILURE;
  }
  ++world.deliveries;
  for (size_t i = 0; i < count; ++i) {
    assert_ptr_equal(events[i], &world.records[++world.delivered]);
  }
  return NULL;
}

/* An event of ONNX Runtime's. */
typedef struct ort_event {
  OrtProfilingEventCategory category;
  const char *provider, *name;
  int fails; /* which of the three cannot be had, from 1; 0: none */
} ort_event;

static OrtStatus *ORT_API_CALL category_of(const OrtProfilingEvent *event, OrtProfilingEventCategory *out) {
  const ort_event *const it = (const ort_event *)event;
  *out = it->category;
  return it->fails == 1 ? FAILURE : NULL;
}

static OrtStatus *ORT_API_CALL argument_of(const OrtProfilingEvent *event, const char *key, const char **out) {
  const ort_event *const it = (const ort_event *)event;
  assert_string_equal(key, "provider");
  *out = it->provider;
  return it->fails == 2 ? FAILURE : NULL;
}

static OrtStatus *ORT_API_CALL name_of(const OrtProfilingEvent *event, const char **out) {
  const ort_event *const it = (const ort_event *)event;
  *out = it->name;
  return it->fails == 3 ? FAILURE : NULL;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *out);
int __wrap_clock_gettime(clockid_t clock, struct timespec *out) {
  assert_int_equal(clock, CLOCK_MONOTONIC);
  *out = (struct timespec){.tv_sec = START_NS / 1000000000, .tv_nsec = START_NS % 1000000000};
  return 0;
}

void *__wrap_calloc(size_t count, size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size) {
  return world.no_memory ? NULL : __real_calloc(count, size);
}

static const leat_device_api device_api = {.synchronize = synchronize};
static const leat_backend_api leat = {.device = &device_api};
static const OrtApi ort;
static const OrtEpApi ep = {.CreateProfilingEvent = create_event,
                            .ReleaseProfilingEvent = release_event,
                            .ProfilingEventsContainer_AddEvents = add_events,
                            .ProfilingEvent_GetCategory = category_of,
                            .ProfilingEvent_GetArgValue = argument_of,
                            .ProfilingEvent_GetName = name_of};
static const leati_runtime runtime = {.ort = &ort, .ep = &ep, .leat = &leat, .version = ORT_API_VERSION};
static leati_shared_device device = {.runtime = &runtime};

/* ---- Helpers ------------------------------------------------------------------------------------------------------
 */

static int forget_world(void **state) {
  (void)state;
  memset(&world, 0, sizeof(world));
  memset(&around, 0, sizeof(around));
  world.no_event = world.no_deliver = NEVER;
  atomic_store(&device.opened, NULL);
  return 0;
}

static OrtEpProfilerImpl *profiler(void) {
  OrtEpProfilerImpl *made = NULL;
  assert_null(leati_ep_profiler_create(&device, NULL, &made));
  assert_non_null(made);
  return made;
}

static OrtEpProfilerImpl *started(void) {
  OrtEpProfilerImpl *const made = profiler();
  assert_null(made->StartProfiling(made, OFFSET_NS));
  expect("begin;");
  return made;
}

static void release(OrtEpProfilerImpl *it) {
  around.asked[0] = '\0';
  it->Release(it);
  expect(atomic_load(&device.opened) != NULL ? "drop;" : "");
  assert_int_equal(world.events, 0);
}

static OrtStatus *end(OrtEpProfilerImpl *it) {
  return it->EndProfiling(it, (OrtProfilingEventsContainer *)&world);
}

/* Puts a step into the profile that ended so many nanoseconds after it began. */
static leat_profile_record *add(uint64_t end_ns, uint64_t busy_ns, const char *op) {
  leat_profile_record *const record = &world.records[world.count];
  *record = (leat_profile_record){
      .launch = 70 + world.count, .step = 3, .lane = 2, .end_ns = BEGIN_NS + end_ns, .busy_ns = busy_ns};
  (void)snprintf(record->op, sizeof(record->op), "%s", op);
  world.spans[world.count] = (leati_span){.id = 900 + world.count};
  ++world.count;
  return record;
}

/* Checks what ONNX Runtime is given for the one step of a profile. */
static void expect_event(const char *event) {
  OrtEpProfilerImpl *const it = started();
  world.made = world.delivered = world.deliveries = 0;
  assert_null(end(it));
  /* Only what the device has done has its times. */
  expect("synchronize;end;");
  assert_string_equal(world.event, event);
  assert_int_equal(world.delivered, 1);
  assert_int_equal(world.events, 0);
  release(it);
  world.count = 0;
}

/* ---- Steps --------------------------------------------------------------------------------------------------------
 */

static void a_step_is_an_event(void **state) {
  (void)state;
  char name[] = "the node";
  (void)add(41999, 2000, "MatMul");
  expect_event("MatMul of -1.2 at 39 for 2: ort_correlation_id=900 launch=70 step=3 duration_ns=2000");
  /* One that follows it begins where it ends. */
  leat_profile_record *record = add(42100, 101, "Tanh");
  (void)snprintf(record->name, sizeof(record->name), "own");
  world.spans[0].name = name;
  expect_event(
      "Tanh of -1.2 at 41 for 1: ort_correlation_id=900 launch=70 step=3 duration_ns=101 ort_event_name=the node "
      "node_name=own");
  record = add(1000, 1000, "Exp");
  (void)snprintf(record->name, sizeof(record->name), "own");
  expect_event("Exp of -1.2 at 0 for 1: ort_correlation_id=900 launch=70 step=3 duration_ns=1000 node_name=own");
}

/* ONNX Runtime puts texts into its JSON as they are. */
static void texts_are_no_json(void **state) {
  (void)state;
  leat_profile_record *record = add(1000, 1000, "[a\"b\\c\x1f]\x7f{\xc3\xbc");
  (void)snprintf(record->name, sizeof(record->name), "{\n");
  expect_event(
      "(a'b/c ] {\xc3\xbc of -1.2 at 0 for 1: ort_correlation_id=900 launch=70 step=3 duration_ns=1000 "
      "node_name=( ");
}

static void all_steps_are_given(void **state) {
  (void)state;
  static const size_t counts[] = {0, 1, 63, 64, 65, 128, RECORDS - 1};
  for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); ++i) {
    OrtEpProfilerImpl *const it = started();
    world.count = world.made = world.delivered = world.deliveries = 0;
    while (world.count < counts[i]) {
      (void)add(1000 * world.count, 1, "Relu");
    }
    assert_null(end(it));
    assert_int_equal(world.made, counts[i]);
    assert_int_equal(world.delivered, counts[i]);
    assert_int_equal(world.events, 0);
    /* Many at once. */
    assert_in_range(world.deliveries, 0, 3);
    release(it);
  }
}

static void failures_are_told_and_leave_nothing(void **state) {
  (void)state;
  for (size_t i = 0; i < 100; ++i) {
    (void)add(1000 * i, 1, "Relu");
  }
  for (world.no_event = 0; world.no_event < 100; world.no_event += 33) {
    OrtEpProfilerImpl *const it = started();
    world.made = world.delivered = world.deliveries = 0;
    world.failed = false;
    assert_ptr_equal(end(it), FAILURE);
    assert_int_equal(world.made, world.no_event);
    release(it);
  }
  world.no_event = NEVER;
  for (world.no_deliver = 0; world.no_deliver < 2; ++world.no_deliver) {
    OrtEpProfilerImpl *const it = started();
    world.made = world.delivered = world.deliveries = 0;
    world.failed = false;
    assert_ptr_equal(end(it), FAILURE);
    assert_int_equal(world.delivered, world.no_deliver == 0 ? 0 : 64);
    release(it);
  }
}

static void what_was_lost_is_said(void **state) {
  (void)state;
  OrtEpProfilerImpl *const it = started();
  assert_null(end(it));
  assert_int_equal(around.warnings, 0);
  world.lost = 1;
  assert_null(end(it));
  assert_int_equal(around.warnings, 1);
  release(it);
}

/* ---- Events -------------------------------------------------------------------------------------------------------
 */

static void an_event_has_its_name_if_it_is_ours(void **state) {
  (void)state;
  const struct {
    ort_event event;
    const char *asked;
  } cases[] = {
      {{OrtProfilingEventCategory_NODE, "LeatExecutionProvider", "a", 0}, "leave 7 as a;"},
      {{OrtProfilingEventCategory_NODE, NULL, "{\"a\"", 0}, "leave 7 as ('a';"},
      {{OrtProfilingEventCategory_NODE, "CPUExecutionProvider", "a", 0}, "leave 7 as nobody's;"},
      {{OrtProfilingEventCategory_SESSION, "CPUExecutionProvider", "a", 0}, "leave 7 as a;"},
      {{OrtProfilingEventCategory_NODE, NULL, NULL, 0}, "leave 7 as nobody's;"},
      {{OrtProfilingEventCategory_NODE, NULL, "a", 1}, "leave 7 as nobody's;"},
      {{OrtProfilingEventCategory_NODE, NULL, "a", 2}, "leave 7 as nobody's;"},
      {{OrtProfilingEventCategory_NODE, NULL, "a", 3}, "leave 7 as nobody's;"},
  };
  OrtEpProfilerImpl *const it = started();
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    assert_null(it->StartEvent(it, 7));
    expect("enter 7;");
    assert_null(it->StopEvent(it, 7, (const OrtProfilingEvent *)&cases[i].event));
    expect(cases[i].asked);
  }
  release(it);
}

/* ---- Starting and ending ------------------------------------------------------------------------------------------
 */

static void one_that_cannot_start_says_so(void **state) {
  (void)state;
  OrtEpProfilerImpl *made = NULL;
  world.no_memory = true;
  assert_ptr_equal(leati_ep_profiler_create(&device, NULL, &made), FAILURE);
  assert_null(made);
  world.no_memory = false;
  made = profiler();
  world.no_device = true;
  assert_ptr_equal(made->StartProfiling(made, OFFSET_NS), FAILURE);
  expect("");
  /* Where no device was opened there is nothing to end. */
  assert_null(end(made));
  expect("");
  release(made);
  made = profiler();
  world.no_device = false;
  world.begin_code = LEAT_ERROR_BUSY;
  assert_ptr_equal(made->StartProfiling(made, OFFSET_NS), FAILURE);
  expect("begin;");
  release(made);
}

static void behind_a_closed_gate_nothing_is_touched(void **state) {
  (void)state;
  const ort_event event = {OrtProfilingEventCategory_NODE, NULL, "a", 0};
  OrtEpProfilerImpl *const it = started();
  around.gate = LEATI_GATE_CLOSED;
  assert_ptr_equal(it->StartProfiling(it, OFFSET_NS), FAILURE);
  assert_null(it->StartEvent(it, 7));
  assert_null(it->StopEvent(it, 7, (const OrtProfilingEvent *)&event));
  assert_ptr_equal(end(it), FAILURE);
  it->Release(it);
  expect("");
  around.gate = LEATI_GATE_OPEN;
  release(it);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(a_step_is_an_event, forget_world),
      cmocka_unit_test_setup(texts_are_no_json, forget_world),
      cmocka_unit_test_setup(all_steps_are_given, forget_world),
      cmocka_unit_test_setup(failures_are_told_and_leave_nothing, forget_world),
      cmocka_unit_test_setup(what_was_lost_is_said, forget_world),
      cmocka_unit_test_setup(an_event_has_its_name_if_it_is_ours, forget_world),
      cmocka_unit_test_setup(one_that_cannot_start_says_so, forget_world),
      cmocka_unit_test_setup(behind_a_closed_gate_nothing_is_touched, forget_world),
  };
  return cmocka_run_group_tests_name("ep_profiler", tests, NULL, NULL);
}
#else
int main(void) {
  (void)printf("these headers of ONNX Runtime have no profilers\n");
  return 77;
}
#endif
