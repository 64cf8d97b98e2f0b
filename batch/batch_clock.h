/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The time that a batch queue goes by, in monotonic nanoseconds, and waiting until some moment.
 */
#ifndef LEAT_BATCH_BATCH_CLOCK_H_
#define LEAT_BATCH_BATCH_CLOCK_H_

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/guarded.h"

/** A moment that never comes. */
#define LEATI_BATCH_FOREVER INT64_MAX

/** The present moment. */
int64_t leati_batch_clock_now(void);

/** The moment that is a duration after another; a duration below zero is endless. */
int64_t leati_batch_clock_add(int64_t from, int64_t duration);

/** Makes a condition for leati_batch_clock_wait().
 * @param condition [out] release with pthread_cond_destroy() if true is returned
 * @return false if memory is out */
bool leati_batch_clock_condition(pthread_cond_t *condition);

/** Waits until somebody signals, or a moment comes. A thread that is cancelled meanwhile goes on with the lock held, as
 * no function of the batch queue is a cancellation point.
 * @param lock held by this thread */
void leati_batch_clock_wait(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t until) LEATI_HOLDS(*lock);

#endif /* LEAT_BATCH_BATCH_CLOCK_H_ */
