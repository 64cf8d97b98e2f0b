/* SPDX-License-Identifier: BSD-3-Clause */
#include "nulldriver/control.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "nulldriver/driver.h"
#include "nulldriver/objects.h"
#include "nulldriver/pipeline_caches.h"
#include "nulldriver/queue.h"
#include "nulldriver/races.h"

#define VIOLATIONS_KEPT 64
#define VIOLATION_SIZE 256

typedef enum hold_state { HOLD_NONE, HOLD_ARMED, HOLD_CAUGHT } hold_state;

/* A fault that was asked for. */
typedef struct fault {
  uint64_t n; /* calls to go; 0: none */
  VkResult result;
} fault;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* All guarded by `lock`. */
static uint64_t calls[ND_FUNCTION_COUNT];
static fault faults[ND_FUNCTION_COUNT];
static hold_state holding;
static nd_function held_function;
static bool strict;
static uint32_t violation_count;
static char violation_texts[VIOLATIONS_KEPT][VIOLATION_SIZE];

static const nulldriver_shape default_shape = {
    /* Kernels do nothing here, and on a discrete GPU the plugin leaves downloads to kernels. */
    .type = VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU,
    .queue_count = 8,
    .device_heap = UINT64_C(1) << 30,
    .host_heap = UINT64_C(1) << 30,
    .max_allocations = 4096,
    .vendor = 0x10000,
    .device = 1,
    .driver_version = 1,
    .cache_uuid = "pipelines of nd",
};

nd_settings nd_set;
/* What nd_set and `strict` were when the library was loaded; constant since. */
static nd_settings loaded;
static bool loaded_strict;

#define NAME(name) "vk" #name,
static const char *const names[ND_FUNCTION_COUNT] = {NULLDRIVER_FUNCTIONS(NAME)};
#undef NAME

#define COUNT_ONE(name) +1
/* The functions that can fail come first in the list. */
enum { RESULT_FUNCTIONS = 0 NULLDRIVER_RESULT_FUNCTIONS(COUNT_ONE) };

/* ---- The lock -----------------------------------------------------------------------------------------------------
 */

/* Takes the mode from a text such as "late:3". */
static bool read_mode(const char *text, nd_settings *out) {
  static const char *const modes[] = {
      [NULLDRIVER_EAGER] = "eager",       [NULLDRIVER_LAZY] = "lazy", [NULLDRIVER_LATE] = "late",
      [NULLDRIVER_SHUFFLED] = "shuffled", [NULLDRIVER_HELD] = "held", [NULLDRIVER_THREADED] = "threaded"};
  for (uint32_t i = 0; i < sizeof(modes) / sizeof(modes[0]); ++i) {
    const size_t length = strlen(modes[i]);
    if (strncmp(text, modes[i], length) == 0 && (text[length] == '\0' || text[length] == ':')) {
      out->mode = (nulldriver_mode)i;
      out->parameter = text[length] == ':' ? strtoull(text + length + 1, NULL, 10) : 0;
      return true;
    }
  }
  return false;
}

static void start(void) {
  pthread_condattr_t attributes;
  (void)pthread_condattr_init(&attributes);
  (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  (void)pthread_cond_init(&changed, &attributes);
  (void)pthread_condattr_destroy(&attributes);
  loaded.shape = default_shape;
  const char *const mode = getenv("NULLDRIVER_MODE");
  if (mode != NULL && !read_mode(mode, &loaded)) {
    (void)fprintf(stderr,
                  "null driver: NULLDRIVER_MODE is \"%s\"; allowed: eager, lazy, late, shuffled, held, threaded, each "
                  "with a colon and a number behind it or not\n",
                  mode);
    abort();
  }
  loaded_strict = getenv("NULLDRIVER_STRICT") != NULL;
  nd_set = loaded;
  strict = loaded_strict;
}

void nd_lock(void) {
  nd_races_unseen();
  (void)pthread_once(&once, start);
  (void)pthread_mutex_lock(&lock);
}

void nd_unlock(void) {
  (void)pthread_mutex_unlock(&lock);
  nd_races_seen();
}

void nd_wake(void) {
  (void)pthread_cond_broadcast(&changed);
}

bool nd_sleep(uint64_t deadline_ns) {
  if (deadline_ns == UINT64_MAX) {
    (void)pthread_cond_wait(&changed, &lock);
    return true;
  }
  const struct timespec deadline = {.tv_sec = (time_t)(deadline_ns / 1000000000u),
                                    .tv_nsec = (long)(deadline_ns % 1000000000u)};
  return pthread_cond_timedwait(&changed, &lock, &deadline) != ETIMEDOUT;
}

uint64_t nd_now_ns(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- Calls ---------------------------------------------------------------------------------------------------------
 */

void nd_violation(const char *function, const char *format, ...) {
  char text[VIOLATION_SIZE];
  va_list arguments;
  const int used = snprintf(text, sizeof(text), "%s: ", function);
  va_start(arguments, format);
  (void)vsnprintf(text + used, sizeof(text) - (size_t)used, format, arguments);
  va_end(arguments);
  if (violation_count < VIOLATIONS_KEPT) {
    memcpy(violation_texts[violation_count], text, sizeof(text));
  }
  ++violation_count;
  if (strict) {
    (void)fprintf(stderr, "null driver: %s\n", text);
    abort();
  }
}

/* Stays in the call while a test holds it. */
static void stay_if_held(nd_function function) {
  if (holding != HOLD_ARMED || held_function != function) {
    return;
  }
  holding = HOLD_CAUGHT;
  nd_wake();
  while (holding == HOLD_CAUGHT) {
    (void)nd_sleep(UINT64_MAX);
  }
}

VkResult nd_enter(nd_call *call, nd_function function, uint64_t guarded, uint64_t also_guarded) {
  const uint64_t wanted[2] = {guarded, also_guarded};
  call->function = function;
  call->name = names[function];
  call->guard_count = 0;
  for (int i = 0; i < 2; ++i) {
    if (wanted[i] != 0 && nd_guard_enter(call->name, wanted[i], &call->guards[call->guard_count])) {
      ++call->guard_count;
    }
  }
  nd_lock();
  ++calls[function];
  stay_if_held(function);
  fault *const asked = &faults[function];
  if (asked->n == 0 || --asked->n != 0) {
    return VK_SUCCESS;
  }
  if (asked->result == VK_ERROR_DEVICE_LOST) {
    nd_devices_lose();
  }
  return nd_leave(call, asked->result);
}

VkResult nd_leave(nd_call *call, VkResult result) {
  /* Before the lock goes: the slot of an object that was destroyed may be another's after that. */
  while (call->guard_count != 0) {
    nd_guard_leave(call->guards[--call->guard_count]);
  }
  nd_unlock();
  return result;
}

/* Number of a function, or ND_FUNCTION_COUNT. */
static nd_function function_of(const char *name) {
  uint32_t i = 0;
  while (i < ND_FUNCTION_COUNT && strcmp(names[i], name) != 0) {
    ++i;
  }
  return (nd_function)i;
}

/* Stands for a function that does nothing: the caller passes what that takes, and finds its result where that of any
 * function of whole numbers or addresses is, by the calling conventions of all machines that the tests run on. */
static uint64_t do_nothing(void) {
  return 0;
}

PFN_vkVoidFunction nd_find_function(const char *name) {
  const nd_function number = function_of(name);
  nd_lock();
  const nd_blank blank = number < ND_FUNCTION_COUNT ? nd_set.blanks[number] : ND_MISSING;
  nd_unlock();
  if (blank != ND_ITSELF) {
    return blank == ND_MISSING ? NULL : (PFN_vkVoidFunction)(void (*)(void))do_nothing;
  }
#define FIND(function)                          \
  if (strcmp(name, "vk" #function) == 0) {      \
    return (PFN_vkVoidFunction)(nd_##function); \
  }
  NULLDRIVER_FUNCTIONS(FIND)
#undef FIND
  return NULL;
}

/* ---- What tests ask ------------------------------------------------------------------------------------------------
 */

void nulldriver_reset(void) {
  nd_lock();
  nd_set = loaded;
  memset(calls, 0, sizeof(calls));
  memset(faults, 0, sizeof(faults));
  nd_pipelines_reset();
  holding = HOLD_NONE;
  strict = loaded_strict;
  violation_count = 0;
  memset(violation_texts, 0, sizeof(violation_texts));
  nd_wake();
  nd_unlock();
}

void nulldriver_set_mode(nulldriver_mode mode, uint64_t parameter) {
  nd_lock();
  nd_set.mode = mode;
  nd_set.parameter = parameter;
  nd_devices_mode_changed();
  nd_unlock();
}

nulldriver_shape nulldriver_get_shape(void) {
  nd_lock();
  const nulldriver_shape shape = nd_set.shape;
  nd_unlock();
  return shape;
}

void nulldriver_set_shape(const nulldriver_shape *shape) {
  nd_lock();
  nd_set.shape = *shape;
  if (nd_set.shape.queue_count > ND_QUEUES_MAX) {
    nd_set.shape.queue_count = ND_QUEUES_MAX;
  }
  nd_unlock();
}

void nulldriver_set_strict(bool now_strict) {
  nd_lock();
  strict = now_strict;
  nd_unlock();
}

void nulldriver_set_kernel(nulldriver_kernel kernel, void *user) {
  nd_lock();
  nd_set.kernel = kernel;
  nd_set.kernel_user = user;
  nd_unlock();
}

void nulldriver_add_stub(nulldriver_answer answer) {
  nd_lock();
  nd_set.stub = answer;
  nd_unlock();
}

void nulldriver_lose_device(void) {
  nd_lock();
  nd_devices_lose();
  nd_unlock();
}

bool nulldriver_fail(const char *function, uint64_t n, VkResult result) {
  const nd_function number = function_of(function);
  if ((uint32_t)number >= RESULT_FUNCTIONS) {
    return false;
  }
  nd_lock();
  faults[number] = (fault){.n = n, .result = result};
  nd_unlock();
  return true;
}

bool nulldriver_blank(const char *function, bool missing) {
  const nd_function number = function != NULL ? function_of(function) : ND_FUNCTION_COUNT;
  if (function != NULL && number == ND_FUNCTION_COUNT) {
    return false;
  }
  nd_lock();
  for (uint32_t i = 0; i < ND_FUNCTION_COUNT; ++i) {
    if (i == (uint32_t)number || (function == NULL && i != ND_GetInstanceProcAddr && i != ND_GetDeviceProcAddr)) {
      nd_set.blanks[i] = missing ? ND_MISSING : ND_DOES_NOTHING;
    }
  }
  nd_unlock();
  return true;
}

uint64_t nulldriver_calls(const char *function) {
  const nd_function number = function_of(function);
  nd_lock();
  const uint64_t count = number < ND_FUNCTION_COUNT ? calls[number] : 0;
  nd_unlock();
  return count;
}

const char *nulldriver_function(uint32_t i, bool *out_can_fail) {
  *out_can_fail = i < RESULT_FUNCTIONS;
  return i < ND_FUNCTION_COUNT ? names[i] : NULL;
}

bool nulldriver_hold(const char *function) {
  const nd_function number = function_of(function);
  if (number == ND_FUNCTION_COUNT) {
    return false;
  }
  nd_lock();
  held_function = number;
  holding = HOLD_ARMED;
  nd_unlock();
  return true;
}

void nulldriver_wait_held(void) {
  nd_lock();
  while (holding == HOLD_ARMED) {
    (void)nd_sleep(UINT64_MAX);
  }
  nd_unlock();
}

void nulldriver_release(void) {
  nd_lock();
  holding = HOLD_NONE;
  nd_wake();
  nd_unlock();
}

uint32_t nulldriver_violations(void) {
  nd_lock();
  const uint32_t count = violation_count;
  nd_unlock();
  return count;
}

const char *nulldriver_violation(uint32_t i) {
  return i < VIOLATIONS_KEPT ? violation_texts[i] : "";
}
