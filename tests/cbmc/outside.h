/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What sources under proof call that is not proved with them: errors, locks, host memory. A harness includes it behind
 * its sources, or before them what of it must stand there. It defines REAL_ERRORS if the errors are proved with them,
 * and OWN_MEMORY if it gives memory of a type, which CBMC looks through more quickly than bytes. Host memory runs out
 * at any moment; a lock is held by nobody else, and taken twice or given back twice is an error.
 */
#ifndef LEAT_TESTS_CBMC_OUTSIDE_H_
#define LEAT_TESTS_CBMC_OUTSIDE_H_

#include <leat/backend.h>
#include <stdlib.h>

#include "core/sync.h"

/** Anything of a type: what is not initialised has any value. */
#define ANY(type) \
  ({              \
    type any_;    \
    any_;         \
  })
/** What must hold, whatever the values are. */
#define PROVE(condition) __CPROVER_assert(condition, #condition)
/** Goes on only where it holds. */
#define ASSUME(condition) __CPROVER_assume(condition)

#ifndef REAL_ERRORS
int32_t leati_fail(leat_error *err, int32_t code, const char *format, ...) {
  PROVE(code != LEAT_OK && format != NULL);
  if (err != NULL) {
    err->code = code;
  }
  return code;
}

int32_t leati_fail_again(leat_error *err, const leat_error *kept) {
  return leati_fail(err, kept->code, "");
}
#endif

void leati_mutex_init(leati_mutex *mutex, leati_rank rank) {
  *mutex = (leati_mutex){.rank = rank};
}

void leati_mutex_lock(leati_mutex *mutex) {
  PROVE(mutex->native.__data.__lock == 0);
  mutex->native.__data.__lock = 1;
}

void leati_mutex_unlock(leati_mutex *mutex) {
  PROVE(mutex->native.__data.__lock == 1);
  mutex->native.__data.__lock = 0;
}

bool leati_mutex_try(leati_mutex *mutex) {
  if (ANY(bool)) {
    leati_mutex_lock(mutex);
    return true;
  }
  return false;
}

#ifndef OWN_MEMORY
void *leati_calloc(size_t count, size_t size) {
  return calloc(count, size);
}

void *leati_calloc_line(size_t size) {
  return calloc(1, size);
}

void *leati_realloc(void *memory, size_t size) {
  return realloc(memory, size);
}

void leati_free(void *memory) {
  free(memory);
}
#endif

#endif /* LEAT_TESTS_CBMC_OUTSIDE_H_ */
