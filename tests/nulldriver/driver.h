/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What the files of the null driver share: its lock, its settings, and how each call begins and ends.
 */
#ifndef LEAT_TESTS_NULLDRIVER_DRIVER_H_
#define LEAT_TESTS_NULLDRIVER_DRIVER_H_

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <vulkan/vulkan_core.h>

#include "nulldriver/control.h"
#include "nulldriver/functions.h"

/** Every function by number. */
typedef enum nd_function {
#define ND_MEMBER(name) ND_##name,
  NULLDRIVER_FUNCTIONS(ND_MEMBER)
#undef ND_MEMBER
      ND_FUNCTION_COUNT
} nd_function;

/** What is found in a function's place. */
typedef enum nd_blank { ND_ITSELF, ND_DOES_NOTHING, ND_MISSING } nd_blank;

/** What the driver is set to. Guarded by the driver's lock. */
typedef struct nd_settings {
  nulldriver_mode mode;
  uint64_t parameter;
  nulldriver_shape shape;
  nulldriver_answer stub;
  nd_blank blanks[ND_FUNCTION_COUNT];
  nulldriver_kernel kernel;
  void *kernel_user;
} nd_settings;

extern nd_settings nd_set;

/** The driver's one lock. Guards all state of the driver, and makes the thread sanitizer look away (races.h). */
void nd_lock(void);
void nd_unlock(void);
/** Wakes everybody in nd_sleep(). Lock held. */
void nd_wake(void);
/** Sleeps until nd_wake() or the time `deadline_ns` of nd_now_ns(); UINT64_MAX: no deadline. Lock held. False when the
 * time has passed. */
bool nd_sleep(uint64_t deadline_ns);
/** Monotonic time. */
uint64_t nd_now_ns(void);

/** Notes a violation: "FUNCTION: text". Lock held. */
void nd_violation(const char *function, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** A call of the host's, on its stack. */
typedef struct nd_call {
  nd_function function;
  const char *name;
  uint32_t guard_count;
  uint32_t guards[2];
} nd_call;

/** Begins a call: counts it, marks up to two handles (0: none) as used by this thread alone, takes the lock. Another
 * result than VK_SUCCESS is a fault that was asked for, and the call is over. */
VkResult nd_enter(nd_call *call, nd_function function, uint64_t guarded, uint64_t also_guarded);
/** Ends a call, with its result. */
VkResult nd_leave(nd_call *call, VkResult result);

/** The function behind a number, NULL if it is none. */
PFN_vkVoidFunction nd_find_function(const char *name);

#define ND_DECLARE(name) extern __typeof__(*(PFN_vk##name)NULL) nd_##name;
NULLDRIVER_FUNCTIONS(ND_DECLARE)
#undef ND_DECLARE

#endif /* LEAT_TESTS_NULLDRIVER_DRIVER_H_ */
