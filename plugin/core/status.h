/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Failing: one way to fill in a caller's leat_error, and one way to read a caller's struct.
 */
#ifndef LEAT_PLUGIN_CORE_STATUS_H_
#define LEAT_PLUGIN_CORE_STATUS_H_

#include <leat/backend.h>
#include <stdbool.h>
#include <stddef.h>
#include <vulkan/vulkan_core.h>

#include "core/gate.h"

/** Fills `err` (which may be NULL) and returns `code`, so that a failing function ends with `return leati_fail(...)`.
 */
int32_t leati_fail(leat_error *err, int32_t code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/** As leati_fail() for a Vulkan call that failed: `what` names the call and its purpose; the code follows from the
 * result. */
int32_t leati_fail_vk(leat_error *err, VkResult result, const char *what);

/** Writes a success with a remark: what device.count() says when there is no device. */
void leati_remark(leat_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Takes back what a call that failed said, for a caller that goes on in another way: a call of the host's that
 * succeeds leaves no error. */
void leati_forget(leat_error *err);

/** Copies an error that was kept into the caller's struct and returns its code. */
int32_t leati_fail_again(leat_error *err, const leat_error *kept);

/** Reads a struct of the caller's into `to`, of `known` bytes, by the rule of growth: shorter than `least` is refused,
 * a shorter one than ours is filled up with zeros, a longer one must be zero where we do not know it. `name` names the
 * struct in the message. */
int32_t leati_import(void *to, size_t known, size_t least, const void *from, const char *name, leat_error *err);

/** Writes a struct of ours into a caller's struct of possibly another size; `struct_size` stays the caller's. */
int32_t leati_export(void *to, const void *from, size_t known, size_t least, const char *name, leat_error *err);

/** Checks a list that the caller gives to be filled: `*inout_count` elements of `size` bytes, each of which says so.
 * Elements of another size lie elsewhere than ours would, so none is taken. `name` names their struct. */
int32_t leati_check_list(const uint32_t *inout_count, const void *out, size_t size, const char *name, leat_error *err);

/** First line of every function of the tables: passes the gate (core/gate.h), in and, on every way, out again. */
#define LEATI_ENTER(err) LEATI_ENTER_(false, err)
/** The same in functions that destroy, free, close or release: while the process exits they succeed without doing
 * anything, because nothing can be freed any more and a destructor should not have to care. */
#define LEATI_ENTER_TO_RELEASE(err) LEATI_ENTER_(true, err)
#define LEATI_ENTER_(releases, err)                              \
  leati_pass pass_ __attribute__((cleanup(leati_gate_leave)));   \
  do {                                                           \
    const int32_t entered_ = leati_enter(&pass_, releases, err); \
    if (entered_ != LEAT_OK) {                                   \
      return entered_ == LEATI_SKIP ? LEAT_OK : entered_;        \
    }                                                            \
  } while (0)
/** No status of the ABI: there is nothing to do, and that is a success. */
#define LEATI_SKIP (-1)
/** Passes the gate, for functions that return no status; leati_gate_leave() must follow on every way.
 * @return LEAT_OK: go on; LEATI_SKIP, if `releases`: do nothing; else the error */
int32_t leati_enter(leati_pass *pass, bool releases, leat_error *err);

/** Returns from the calling function with the status of `call` unless it is LEAT_OK. */
#define LEATI_TRY(call)            \
  do {                             \
    const int32_t tried_ = (call); \
    if (tried_ != LEAT_OK) {       \
      return tried_;               \
    }                              \
  } while (0)

#endif /* LEAT_PLUGIN_CORE_STATUS_H_ */
