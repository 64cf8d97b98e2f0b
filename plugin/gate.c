/* SPDX-License-Identifier: BSD-3-Clause */
#include "gate.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "sync.h"

/* What exit() waits for at most, and how often it looks. */
#define WAIT_NS UINT64_C(2000000000)
#define POLL_NS 200000L

/* What the exit handler must know of one thread. Never freed: one whose thread has ended is used again by the next new
 * thread. On a cache line of its own, because every call writes it. */
typedef struct leati_inside {
  _Alignas(LEATI_CACHE_LINE) struct leati_inside *next; /* immutable once the record is in the list */
  unsigned depth;                                       /* passes that the thread holds; its own */
  /* Whether `depth` is not 0. A thread stores it and then loads leati_gate_state; the exit handler stores
   * leati_gate_state and then loads this. All four are sequentially consistent, so that one of the two sees the other.
   */
  atomic_bool busy;
  /* The thread has stopped. The release store pairs with the acquire load of the exit handler: what the thread did
   * before is done. */
  atomic_bool stopped;
  /* A thread has the record. Taken by compare-and-exchange (acquire), given back by a release store. */
  atomic_bool taken;
} leati_inside;
LEATI_OWN_LINE(leati_inside);

_Alignas(LEATI_CACHE_LINE) _Atomic int leati_gate_state = LEATI_GATE_OPEN;
static pthread_t ending_thread; /* written before the gate closes, read after */

/* All records. Grows only, at its head. Sequentially consistent, so that the exit handler sees the record of whoever
 * did not see the gate closed. */
static _Atomic(leati_inside *) records;
static pthread_once_t prepared = PTHREAD_ONCE_INIT;
static pthread_key_t inside_key;        /* its destructor gives a thread's record back; written under `prepared` */
static bool inside_key_made;            /* written under `prepared` */
static _Thread_local leati_inside *own; /* this thread's record, or NULL */

/* Moments that have come. Pairs with nothing: it only keeps the number of registrations small. */
static atomic_bool registered[LEATI_GATE_MOMENTS];

static void give_back(void *record) {
  leati_inside *const mine = record;
  own = NULL;
  atomic_store_explicit(&mine->taken, false, memory_order_release);
}

static void note_fork(void) {
  atomic_store_explicit(&leati_gate_state, LEATI_GATE_FORKED, memory_order_relaxed);
}

static void prepare(void) {
  (void)pthread_atfork(NULL, NULL, note_fork);
  /* Without the key, threads get no record and exit() does not wait for them: not worth failing for. */
  inside_key_made = pthread_key_create(&inside_key, give_back) == 0;
}

/* A record for this thread; NULL if there is no memory. Not inlined: it is needed once in a thread. */
__attribute__((noinline)) static leati_inside *take(void) {
  (void)pthread_once(&prepared, prepare);
  if (!inside_key_made) {
    return NULL;
  }
  leati_inside *record = atomic_load_explicit(&records, memory_order_acquire);
  for (; record != NULL; record = record->next) {
    bool expected = false;
    if (atomic_compare_exchange_strong_explicit(&record->taken, &expected, true, memory_order_acquire,
                                                memory_order_relaxed)) {
      break;
    }
  }
  if (record == NULL) {
    record = leati_calloc_line(sizeof(*record));
    if (record == NULL) {
      return NULL;
    }
    atomic_store_explicit(&record->taken, true, memory_order_relaxed);
    record->next = atomic_load_explicit(&records, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&records, &record->next, record, memory_order_seq_cst,
                                                  memory_order_relaxed)) {
    }
  }
  if (pthread_setspecific(inside_key, record) != 0) {
    give_back(record);
    return NULL;
  }
  own = record;
  return record;
}

void leati_gate_stop(void) {
  /* Acquire: `ending_thread` was written before. */
  if (atomic_load_explicit(&leati_gate_state, memory_order_acquire) != LEATI_GATE_CLOSED ||
      pthread_equal(ending_thread, pthread_self())) {
    return;
  }
  if (own != NULL) {
    atomic_store_explicit(&own->stopped, true, memory_order_release);
  }
  for (;;) {
    (void)pause();
  }
}

static void come_out(leati_pass *pass) {
  leati_inside *const inside = pass->inside;
  if (inside != NULL && --inside->depth == 0) {
    atomic_store_explicit(&inside->busy, false, memory_order_release);
  }
  (void)pthread_setcancelstate(pass->cancel_state, NULL);
  pass->entered = 0;
}

leati_gate leati_gate_enter(leati_pass *pass) {
  *pass = (leati_pass){.inside = own};
  if (atomic_load_explicit(&leati_gate_state, memory_order_relaxed) == LEATI_GATE_FORKED) {
    return LEATI_GATE_FORKED;
  }
  (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &pass->cancel_state);
  pass->entered = 1;
  if (pass->inside == NULL) {
    pass->inside = take();
  }
  if (pass->inside != NULL && pass->inside->depth++ == 0) {
    atomic_store_explicit(&pass->inside->busy, true, memory_order_seq_cst);
  }
  if (__builtin_expect(atomic_load_explicit(&leati_gate_state, memory_order_seq_cst) == LEATI_GATE_OPEN, 1)) {
    return LEATI_GATE_OPEN;
  }
  leati_gate_stop();
  come_out(pass);
  return LEATI_GATE_CLOSED;
}

void leati_gate_leave(leati_pass *pass) {
  if (pass->entered) {
    leati_gate_check();
    come_out(pass);
  }
}

/* Whether a thread other than this one is inside and has not stopped. */
static bool somebody_moves(void) {
  for (leati_inside *record = atomic_load_explicit(&records, memory_order_seq_cst); record != NULL;
       record = record->next) {
    if (record != own && atomic_load_explicit(&record->busy, memory_order_seq_cst) &&
        !atomic_load_explicit(&record->stopped, memory_order_acquire)) {
      return true;
    }
  }
  return false;
}

static void close_at_exit(int status, void *unused) {
  (void)unused;
  const int state = atomic_load_explicit(&leati_gate_state, memory_order_relaxed);
  if (state == LEATI_GATE_FORKED && atomic_load_explicit(&registered[LEATI_GATE_LOADED], memory_order_relaxed)) {
    (void)fflush(NULL);
    _exit(status);
  }
  if (state != LEATI_GATE_OPEN) {
    return;
  }
  ending_thread = pthread_self();
  atomic_store_explicit(&leati_gate_state, LEATI_GATE_CLOSED, memory_order_seq_cst);
  const struct timespec nap = {.tv_nsec = POLL_NS};
  for (const uint64_t start = leati_now_ns(); somebody_moves() && leati_now_ns() - start < WAIT_NS;) {
    (void)nanosleep(&nap, NULL);
  }
}

void leati_gate_register(leati_gate_moment moment) {
  if (!atomic_load_explicit(&registered[moment], memory_order_relaxed) &&
      !atomic_exchange_explicit(&registered[moment], true, memory_order_relaxed)) {
    (void)on_exit(close_at_exit, NULL);
  }
}
