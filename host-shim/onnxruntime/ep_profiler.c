/* SPDX-License-Identifier: BSD-3-Clause */
#include "ep_profiler.h"

#if ORT_API_VERSION >= 25
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ep_gate.h"

/* Events that ONNX Runtime is given at once. */
#define BATCH 64u

typedef struct profiler {
  OrtEpProfilerImpl base;
  leati_shared_device *device;
  const OrtLogger *logger;
  leati_profile profile;
  int64_t begin_ns; /* of ONNX Runtime's profile, on CLOCK_MONOTONIC */
} profiler;

/* Events on their way to ONNX Runtime. */
typedef struct delivery {
  const profiler *self;
  OrtProfilingEventsContainer *container;
  size_t count;
  OrtProfilingEvent *events[BATCH];
  OrtStatus *status; /* the first failure */
} delivery;

/* Makes a text fit for ONNX Runtime, which puts texts into its JSON as they are, and takes one that begins with a
 * bracket for JSON of its own. */
static void make_plain(char *text) {
  if (*text == '{' || *text == '[') {
    *text = '(';
  }
  for (; *text != '\0'; ++text) {
    const unsigned char c = (unsigned char)*text;
    *text = c == '"' ? '\'' : c == '\\' ? '/' : c < 0x20u || c == 0x7fu ? ' ' : *text;
  }
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

/* Gives ONNX Runtime what has gathered. */
static void deliver(delivery *it) {
  const OrtEpApi *api = it->self->device->runtime->ep;
  if (it->count != 0 && it->status == NULL) {
    it->status =
        api->ProfilingEventsContainer_AddEvents(it->container, (const OrtProfilingEvent *const *)it->events, it->count);
  }
  while (it->count != 0) {
    api->ReleaseProfilingEvent(it->events[--it->count]);
  }
}

/* Makes an event of a step: for as long as it kept its lane busy, because events of one row must not overlap. */
static void add_step(void *context, leat_profile_record *record, const leati_span *span) {
  delivery *it = context;
  if (it->status != NULL) {
    return;
  }
  const char *keys[6] = {"ort_correlation_id", "launch", "step", "duration_ns"};
  const char *values[6];
  char numbers[4][24];
  const uint64_t wanted[4] = {span->id, record->launch, record->step, record->busy_ns};
  size_t count = 0;
  for (; count < 4; ++count) {
    snprintf(numbers[count], sizeof(numbers[count]), "%" PRIu64, wanted[count]);
    values[count] = numbers[count];
  }
  if (span->name != NULL) {
    keys[count] = "ort_event_name";
    values[count++] = span->name;
  }
  if (record->name[0] != '\0') {
    make_plain(record->name);
    keys[count] = "node_name";
    values[count++] = record->name;
  }
  make_plain(record->op);
  /* Both ends are rounded alike, so that what follows the other does not begin before it ends. */
  const int64_t end_us = ((int64_t)record->end_ns - it->self->begin_ns) / 1000;
  const int64_t begin_us = ((int64_t)(record->end_ns - record->busy_ns) - it->self->begin_ns) / 1000;
  /* The process and thread are the device and its lane: -1 is no process's number. */
  it->status = it->self->device->runtime->ep->CreateProfilingEvent(
      OrtProfilingEventCategory_KERNEL, -1, (int32_t)record->lane, record->op, begin_us, end_us - begin_us, keys,
      values, count, &it->events[it->count]);
  if (it->status == NULL && ++it->count == BATCH) {
    deliver(it);
  }
}

/* ---- What ONNX Runtime calls -------------------------------------------------------------------------------------
 */

static leat_device *opened_of(const profiler *self) {
  return atomic_load_explicit(&self->device->opened, memory_order_acquire);
}

static OrtStatus *ORT_API_CALL profiler_start(OrtEpProfilerImpl *base, int64_t offset_ns) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  profiler *self = (profiler *)base;
  const leati_runtime *runtime = self->device->runtime;
  OrtStatus *status = leati_ep_gate_enter_or_fail(runtime, "StartProfiling");
  if (status != NULL) {
    return status;
  }
  leat_device *opened = NULL;
  leat_error error = {.struct_size = sizeof(error)};
  int32_t code = leati_shared_device_open(self->device, &opened, &error);
  if (code == LEAT_OK) {
    code = leati_collector_begin(&self->device->collector, runtime->leat->profiler, opened, &self->profile, &error);
  }
  if (code == LEAT_OK) {
    self->begin_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec - offset_ns;
  }
  leati_ep_gate_leave();
  return leati_status_from(runtime, code, &error, LEATI_PROVIDER_NAME ": profiling %s", self->device->info.name);
}

static OrtStatus *ORT_API_CALL profiler_start_event(OrtEpProfilerImpl *base, uint64_t id) {
  profiler *self = (profiler *)base;
  if (leati_ep_gate_enter() == LEATI_GATE_OPEN) {
    leati_collector_enter(&self->device->collector, &self->profile, id);
    leati_ep_gate_leave();
  }
  return NULL;
}

/* A copy of an event's name, fit for JSON; NULL: it is another provider's node, or there is no memory. */
static char *name_of(const leati_runtime *runtime, const OrtProfilingEvent *event) {
  OrtProfilingEventCategory category = OrtProfilingEventCategory_SESSION;
  const char *provider = NULL;
  const char *name = NULL;
  if (!leati_status_drop(runtime, runtime->ep->ProfilingEvent_GetCategory(event, &category)) ||
      !leati_status_drop(runtime, runtime->ep->ProfilingEvent_GetArgValue(event, "provider", &provider)) ||
      !leati_status_drop(runtime, runtime->ep->ProfilingEvent_GetName(event, &name)) || name == NULL ||
      (category == OrtProfilingEventCategory_NODE && provider != NULL && strcmp(provider, LEATI_PROVIDER_NAME) != 0)) {
    return NULL;
  }
  char *copy = strdup(name);
  if (copy != NULL) {
    make_plain(copy);
  }
  return copy;
}

static OrtStatus *ORT_API_CALL profiler_stop_event(OrtEpProfilerImpl *base, uint64_t id,
                                                   const OrtProfilingEvent *event) {
  profiler *self = (profiler *)base;
  if (leati_ep_gate_enter() == LEATI_GATE_OPEN) {
    leati_collector_leave(&self->device->collector, &self->profile, id, name_of(self->device->runtime, event));
    leati_ep_gate_leave();
  }
  return NULL;
}

static OrtStatus *ORT_API_CALL profiler_end(OrtEpProfilerImpl *base, OrtProfilingEventsContainer *container) {
  profiler *self = (profiler *)base;
  const leati_runtime *runtime = self->device->runtime;
  OrtStatus *status = leati_ep_gate_enter_or_fail(runtime, "EndProfiling");
  if (status != NULL) {
    return status;
  }
  leat_device *opened = opened_of(self);
  if (opened != NULL) {
    /* Work of Runs that nobody waited for has its times then. Its failure is theirs. */
    runtime->leat->device->synchronize(opened, NULL);
    delivery it = {.self = self, .container = container};
    const uint64_t lost =
        leati_collector_end(&self->device->collector, runtime->leat->profiler, opened, &self->profile, add_step, &it);
    deliver(&it);
    status = it.status;
    if (lost != 0) {
      leati_ort_log(runtime, self->logger, ORT_LOGGING_LEVEL_WARNING,
                    LEATI_PROVIDER_NAME
                    ": the profile lacks times: %" PRIu64
                    " records of %s found no room beside the %u that are kept; end profiles sooner, or run less"
                    " beside them",
                    lost, self->device->info.name, LEATI_PROFILE_MOST);
    }
  }
  leati_ep_gate_leave();
  return leati_status_prefix(runtime, status, LEATI_PROVIDER_NAME ": profiling %s", self->device->info.name);
}

static void ORT_API_CALL profiler_release(OrtEpProfilerImpl *base) {
  profiler *self = (profiler *)base;
  if (leati_ep_gate_enter() != LEATI_GATE_OPEN) {
    return;
  }
  leat_device *opened = opened_of(self);
  if (opened != NULL) {
    (void)leati_collector_end(&self->device->collector, self->device->runtime->leat->profiler, opened, &self->profile,
                              NULL, NULL);
  }
  free(self);
  leati_ep_gate_leave();
}

OrtStatus *leati_ep_profiler_create(leati_shared_device *device, const OrtLogger *logger, OrtEpProfilerImpl **out) {
  profiler *self = calloc(1, sizeof(*self));
  if (self == NULL) {
    return leati_status(device->runtime, ORT_FAIL, LEATI_PROVIDER_NAME ": out of memory for a profiler");
  }
  self->base = (OrtEpProfilerImpl){
      .ort_version_supported = device->runtime->version,
      .Release = profiler_release,
      .StartProfiling = profiler_start,
      .StartEvent = profiler_start_event,
      .StopEvent = profiler_stop_event,
      .EndProfiling = profiler_end,
  };
  self->device = device;
  self->logger = logger;
  *out = &self->base;
  return NULL;
}
#endif
