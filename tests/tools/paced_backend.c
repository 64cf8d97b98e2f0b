/* SPDX-License-Identifier: BSD-3-Clause */
/* A backend that wraps another one (PACED_BASE) and takes the time, and is as wrong, as its LEAT_TUNING says, so that a
 * test knows what leat-bench --tune has to find. An operator runs once, for its result to be right; all further times
 * it does nothing, and the process's monotonic clock goes on by some milliseconds: that clock is this library's, which
 * LD_PRELOAD names too, so what is measured does not depend on what else the machine does. With a value of LEAT_TUNING
 * that contains the text of
 *
 *   PACED_FAST     operators take few of them; with all others many. It may be two texts with a blank between them,
 *                  each of which counts;
 *   PACED_REFUSED  there is no ReduceSum;
 *   PACED_WRONG    it is ReduceMax.
 *
 * PACED_NOISE=1: each time the device is opened, operators take another time, whatever the value. */
#include <dlfcn.h>
#include <leat/backend.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define FAST_NS 2000000L
#define MORE_NS 10000000L
/* What a look at the clock takes, so that who waits for a moment meets it. */
#define LOOK_NS 100L

/* The tables are constant after the query; the rest is of the tool's one thread. */
static const leat_backend_api *base;
static leat_device_api device_api;
static leat_op_api op_api;
static leat_backend_api backend_api;
static char tuning[4096];
static long delay_ns;
static unsigned openings;
static bool fresh; /* the operator has not run */
/* The clock, in nanoseconds after its first second; any thread. */
static _Atomic(long long) now_ns = 1000000000LL;

/* In place of the C library's. */
LEAT_EXPORT int clock_gettime(clockid_t clock, struct timespec *out) {
  if (clock != CLOCK_MONOTONIC) {
    return (int)syscall(SYS_clock_gettime, clock, out);
  }
  const long long now = atomic_fetch_add_explicit(&now_ns, LOOK_NS, memory_order_relaxed);
  *out = (struct timespec){.tv_sec = (time_t)(now / 1000000000LL), .tv_nsec = (long)(now % 1000000000LL)};
  return 0;
}

/* Whether the value contains the text of a variable. */
static bool says(const char *variable) {
  const char *const text = getenv(variable);
  return text != NULL && strstr(tuning, text) != NULL;
}

/* How many of the texts of a variable, up to two, the value does not contain. */
static long missing(const char *variable) {
  char texts[2][200] = {"", ""};
  const char *const text = getenv(variable);
  if (text != NULL) {
    (void)sscanf(text, "%199s %199s", texts[0], texts[1]);
  }
  return (strstr(tuning, texts[0]) == NULL ? 1 : 0) + (strstr(tuning, texts[1]) == NULL ? 1 : 0);
}

static int32_t configure(const char *name, const char *value, leat_error *err) {
  if (strcmp(name, "LEAT_TUNING") == 0) {
    (void)snprintf(tuning, sizeof(tuning), "%s", value != NULL ? value : "");
  }
  return base->configure(name, value, err);
}

static int32_t open_device(uint32_t index, leat_device **out, leat_error *err) {
  ++openings;
  delay_ns = FAST_NS + missing("PACED_FAST") * MORE_NS;
  if (getenv("PACED_NOISE") != NULL) {
    delay_ns = FAST_NS + (long)(openings * 7919u % 11u) * 1000000L;
  }
  return base->device->open(index, out, err);
}

static int32_t create(leat_device *device, const leat_op_desc *desc, leat_op **out, leat_error *err) {
  if (says("PACED_REFUSED") && strcmp(desc->name, "ReduceSum") == 0) {
    err->code = LEAT_ERROR_NOT_SUPPORTED;
    (void)snprintf(err->message, sizeof(err->message), "not with this value");
    return LEAT_ERROR_NOT_SUPPORTED;
  }
  leat_op_desc other = *desc;
  if (says("PACED_WRONG") && strcmp(desc->name, "ReduceSum") == 0) {
    other.name = "ReduceMax";
  }
  fresh = true;
  return base->op->create(device, &other, out, err);
}

static int32_t invoke(const leat_op *op, leat_stream *stream, uint32_t input_count, const DLTensor *const *inputs,
                      uint32_t output_count, const DLTensor *const *outputs, leat_error *err) {
  if (fresh) {
    fresh = false;
    return base->op->invoke(op, stream, input_count, inputs, output_count, outputs, err);
  }
  (void)atomic_fetch_add_explicit(&now_ns, delay_ns, memory_order_relaxed);
  return LEAT_OK;
}

int32_t leat_backend_query(const leat_host_info *host, const leat_backend_api **out, leat_error *err) {
  const char *const path = getenv("PACED_BASE");
  void *const library = path != NULL ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
  leat_backend_query_fn query = NULL;
  if (library != NULL) {
    /* POSIX allows the conversion that ISO C does not spell out. */
    *(void **)&query = dlsym(library, LEAT_BACKEND_QUERY_SYMBOL);
  }
  if (query == NULL) {
    (void)fprintf(stderr, "PACED_BASE must be the path of a plugin\n");
    abort();
  }
  const int32_t status = query(host, &base, err);
  if (status == LEAT_OK) {
    device_api = *base->device;
    device_api.open = open_device;
    op_api = *base->op;
    op_api.create = create;
    op_api.invoke = invoke;
    backend_api = *base;
    backend_api.device = &device_api;
    backend_api.op = &op_api;
    backend_api.configure = configure;
    *out = &backend_api;
  }
  return status;
}
