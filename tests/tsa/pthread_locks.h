/* SPDX-License-Identifier: BSD-3-Clause */
/* What the C library's functions do with mutexes, for clang's thread-safety analysis: put in front of every file there.
 * Its type cannot be told to be a lock, so clang would warn of the attributes (-Wno-thread-safety-attributes). */
#include <pthread.h>

#include "common/guarded.h"

int pthread_mutex_lock(pthread_mutex_t *mutex) LEATI_TAKES(*mutex);
int pthread_mutex_unlock(pthread_mutex_t *mutex) LEATI_GIVES(*mutex);
int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) LEATI_HOLDS(*mutex);
int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until)
    LEATI_HOLDS(*mutex);
