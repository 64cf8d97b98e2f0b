/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/inside.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "common/fork.h"
#include "common/line.h"

/* What exit() waits for at most, and how often it looks. */
#define WAIT_NS UINT64_C(2000000000)
#define POLL_NS 200000L

/* Never freed: one whose thread has ended is used again by the next new thread. On a cache line of its own, because
 * every call writes it. */
struct leati_inside {
  _Alignas(LEATI_CACHE_LINE) leati_inside *next; /* immutable once the record is in the list */
  unsigned depth;                                /* how often the thread has gone in; its own */
  /* Whether `depth` is not 0. A thread stores it and then loads leati_inside_closed; the exit handler stores
   * leati_inside_closed and then loads this. All four are sequentially consistent, so that one of the two sees the
   * other. */
  atomic_bool busy;
  /* The thread has stopped. The release store pairs with the acquire load of the exit handler: what the thread did
   * before is done. */
  atomic_bool stopped;
  /* A thread has the record. Taken by compare-and-exchange (acquire), released by a release store. */
  atomic_bool taken;
};
LEATI_OWN_LINE(leati_inside);

_Alignas(LEATI_CACHE_LINE) atomic_bool leati_inside_closed;
static pthread_t ending_thread; /* written before the library is closed, read after */

/* All records. Grows only, at its head. Sequentially consistent, so that the exit handler sees the record of whoever
 * did not see the library closed. */
static _Atomic(leati_inside *) records;
static pthread_once_t prepared = PTHREAD_ONCE_INIT;
static pthread_key_t inside_key;        /* its destructor gives a thread's record back; written under `prepared` */
static bool inside_key_made;            /* written under `prepared` */
static _Thread_local leati_inside *own; /* this thread's record, or NULL */

static void give_back(void *record) {
  leati_inside *const mine = record;
  own = NULL;
  /* A thread may end between the start and the end of a Run. Release: to the exit handler it has come out. */
  mine->depth = 0;
  atomic_store_explicit(&mine->busy, false, memory_order_release);
  atomic_store_explicit(&mine->taken, false, memory_order_release);
}

static void prepare(void) {
  /* Without the key, threads get no record and exit() does not wait for them; without the other, a child is not told.
   * Neither is worth failing for. */
  (void)leati_fork_watch();
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

leati_inside *leati_inside_own(void) {
  return own;
}

void leati_inside_stop(void) {
  /* Acquire: `ending_thread` was written before. */
  if (!atomic_load_explicit(&leati_inside_closed, memory_order_acquire) ||
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

static void come_out(leati_inside *inside) {
  /* A thread that got its record in the middle of a Run goes out once more than that record counts. */
  if (inside != NULL && inside->depth != 0 && --inside->depth == 0) {
    atomic_store_explicit(&inside->busy, false, memory_order_release);
  }
}

leati_gate leati_inside_enter(leati_inside **out) {
  leati_inside *inside = own;
  *out = inside;
  if (leati_forked()) {
    return LEATI_GATE_FORKED;
  }
  if (inside == NULL) {
    *out = inside = take();
  }
  if (inside != NULL && inside->depth++ == 0) {
    atomic_store_explicit(&inside->busy, true, memory_order_seq_cst);
  }
  if (__builtin_expect(!atomic_load_explicit(&leati_inside_closed, memory_order_seq_cst), 1)) {
    return LEATI_GATE_OPEN;
  }
  leati_inside_stop();
  come_out(inside);
  return LEATI_GATE_CLOSED;
}

void leati_inside_leave(leati_inside *inside) {
  if (__builtin_expect(atomic_load_explicit(&leati_inside_closed, memory_order_relaxed), 0)) {
    leati_inside_stop();
  }
  come_out(inside);
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

static uint64_t now_ns(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void leati_inside_close(uint64_t still_ns) {
  if (leati_forked() || atomic_load_explicit(&leati_inside_closed, memory_order_relaxed)) {
    return;
  }
  ending_thread = pthread_self();
  atomic_store_explicit(&leati_inside_closed, true, memory_order_seq_cst);
  if (atomic_load_explicit(&records, memory_order_seq_cst) == NULL) {
    return;
  }
  const struct timespec nap = {.tv_nsec = POLL_NS};
  const uint64_t start = now_ns();
  uint64_t moved = start; /* when somebody was last seen on the way */
  for (uint64_t now = start; now - start < WAIT_NS; now = now_ns()) {
    if (somebody_moves()) {
      moved = now;
    } else if (now - moved >= still_ns) {
      return;
    }
    (void)nanosleep(&nap, NULL);
  }
}
