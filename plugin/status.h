/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Failing: one way to fill in a caller's leat_error, and one way to read a caller's struct.
 */
#ifndef LEAT_PLUGIN_STATUS_H_
#define LEAT_PLUGIN_STATUS_H_

#include <leat/backend.h>
#include <stddef.h>

#include "vulkan.h"

/** Fills `err` (which may be NULL) and returns `code`, so that a failing function ends with `return leati_fail(...)`.
 */
int32_t leati_fail(leat_error *err, int32_t code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/** As leati_fail() for a Vulkan call that failed: `what` names the call and its purpose; the code follows from the
 * result. */
int32_t leati_fail_vk(leat_error *err, VkResult result, const char *what);

/** Writes a success with a remark: what device.count() says when there is no device. */
void leati_remark(leat_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Copies an error that was kept into the caller's struct and returns its code. */
int32_t leati_fail_again(leat_error *err, const leat_error *kept);

/** Reads a struct of the caller's into `to`, of `known` bytes, by the rule of growth: shorter than `least` is refused,
 * a shorter one than ours is filled up with zeros, a longer one must be zero where we do not know it. `name` names the
 * struct in the message. */
int32_t leati_import(void *to, size_t known, size_t least, const void *from, const char *name, leat_error *err);

/** Writes a struct of ours into a caller's struct of possibly another size; `struct_size` stays the caller's. */
int32_t leati_export(void *to, const void *from, size_t known, size_t least, const char *name, leat_error *err);

/** First line of every function of the tables: nothing works in a child of fork(). */
#define LEATI_ENTER(err)                       \
  do {                                         \
    const int32_t entered_ = leati_enter(err); \
    if (entered_ != LEAT_OK) {                 \
      return entered_;                         \
    }                                          \
  } while (0)
int32_t leati_enter(leat_error *err);

/** Lets a child of fork() end by exit(): the exit handlers of drivers wait there for threads that the child does not
 * have, so it ends before they run, with its streams written out. Call once a driver is loaded: handlers run in reverse
 * order. */
void leati_guard_exit(void);

/** Returns from the calling function with the status of `call` unless it is LEAT_OK. */
#define LEATI_TRY(call)            \
  do {                             \
    const int32_t tried_ = (call); \
    if (tried_ != LEAT_OK) {       \
      return tried_;               \
    }                              \
  } while (0)

#endif /* LEAT_PLUGIN_STATUS_H_ */
