/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Whether this process is a child of fork(): other threads, the device and whoever held a lock stayed with the parent.
 */
#ifndef LEAT_COMMON_FORK_H_
#define LEAT_COMMON_FORK_H_

#include <stdatomic.h>
#include <stdbool.h>

/** Set in the child, and never cleared; for leati_forked(). Relaxed: the child starts with one thread, which sees it.
 */
extern atomic_bool leati_fork_flag;

/** Notices every fork() from now on. Made for being called often.
 * @threads any
 * @return 0, or an errno: it cannot be noticed */
int leati_fork_watch(void);

/** Whether this process was made by fork() after leati_fork_watch().
 * @threads any */
static inline bool leati_forked(void) {
  return __builtin_expect(atomic_load_explicit(&leati_fork_flag, memory_order_relaxed), 0);
}

#endif /* LEAT_COMMON_FORK_H_ */
