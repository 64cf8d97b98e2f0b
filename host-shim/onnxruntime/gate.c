/* SPDX-License-Identifier: BSD-3-Clause */
#include "gate.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* What exit() waits for at most. */
#define WAIT_NS INT64_C(2000000000)
/* A thread's last steps out of a Run lead through ONNX Runtime, after its last call into the provider. They take
 * microseconds; this is what they get, in a process that has made any call at all. */
#define GRACE_NS INT64_C(10000000)
/* How often exit() looks. */
#define POLL_NS 200000L

/* One thread. Records are never freed: one whose thread has ended is used again by the next new thread. On a cache line
 * of its own, because every call writes it. */
typedef struct gate_record {
  _Alignas(64) struct gate_record *next; /* immutable once the record is in the list */
  /* Calls that the thread is in, and Runs. A thread raises it and then loads `closed`; the exit handler stores `closed`
   * and then loads this. All four are sequentially consistent, so that one of the two sees the other. */
  atomic_uint busy;
  /* The thread has stopped. The release store pairs with the acquire load of the exit handler: what the thread did
   * before is done. */
  atomic_bool parked;
  /* A thread has the record. Taken by compare-and-exchange (acquire), given back by a release store. */
  atomic_bool taken;
} gate_record;

/* All records. Grows only, at its head. Sequentially consistent, so that the exit handler sees the record of whoever
 * did not see the gate closed. */
static _Atomic(gate_record *) records;
/* Set once, by the exit handler, before it looks at the records; read by everyone at the gate. Sequentially consistent,
 * see `busy`; `ending_thread` is seen with it. */
static atomic_bool closed;
static pthread_t ending_thread; /* written before `closed` */
/* Set in a child of fork(), before it has any second thread. */
static atomic_bool forked;

static pthread_once_t prepared = PTHREAD_ONCE_INIT;
static pthread_key_t record_key;       /* its destructor gives a thread's record back; written under `prepared` */
static bool record_key_made;           /* written under `prepared` */
static _Thread_local gate_record *own; /* this thread's record, or NULL */

static void record_give_back(void *record) {
  gate_record *mine = record;
  own = NULL;
  atomic_store_explicit(&mine->busy, 0, memory_order_relaxed);
  atomic_store_explicit(&mine->taken, false, memory_order_release);
}

static void note_fork(void) {
  atomic_store_explicit(&forked, true, memory_order_relaxed);
}

static void prepare(void) {
  /* Without the key, threads get no record and are not waited for; without the fork handler, the backend notices by
   * itself. Neither is worth failing for. */
  record_key_made = pthread_key_create(&record_key, record_give_back) == 0;
  pthread_atfork(NULL, NULL, note_fork);
}

static gate_record *record_take(void) {
  pthread_once(&prepared, prepare);
  if (!record_key_made) {
    return NULL;
  }
  gate_record *record = atomic_load_explicit(&records, memory_order_acquire);
  for (; record; record = record->next) {
    bool expected = false;
    if (atomic_compare_exchange_strong_explicit(&record->taken, &expected, true, memory_order_acquire,
                                                memory_order_relaxed)) {
      break;
    }
  }
  if (!record) {
    record = aligned_alloc(_Alignof(gate_record), sizeof(*record));
    if (!record) {
      return NULL;
    }
    atomic_init(&record->busy, 0);
    atomic_init(&record->parked, false);
    atomic_init(&record->taken, true);
    record->next = atomic_load_explicit(&records, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&records, &record->next, record, memory_order_seq_cst,
                                                  memory_order_relaxed)) {
    }
  }
  if (pthread_setspecific(record_key, record)) {
    record_give_back(record);
    return NULL;
  }
  own = record;
  return record;
}

static int64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Whether a thread other than this one is inside, or in a Run, and has not stopped. */
static bool somebody_moves(void) {
  for (gate_record *record = atomic_load_explicit(&records, memory_order_seq_cst); record; record = record->next) {
    if (record != own && atomic_load_explicit(&record->busy, memory_order_seq_cst) != 0 &&
        !atomic_load_explicit(&record->parked, memory_order_acquire)) {
      return true;
    }
  }
  return false;
}

static void close_at_exit(void) {
  if (atomic_load_explicit(&forked, memory_order_relaxed) || atomic_load_explicit(&closed, memory_order_relaxed)) {
    return;
  }
  ending_thread = pthread_self();
  atomic_store_explicit(&closed, true, memory_order_seq_cst);
  if (!atomic_load_explicit(&records, memory_order_seq_cst)) {
    return;
  }
  const struct timespec pause_time = {.tv_nsec = POLL_NS};
  int64_t start = now_ns();
  int64_t still_since = start;
  for (int64_t now = start; now - start < WAIT_NS && now - still_since < GRACE_NS; now = now_ns()) {
    nanosleep(&pause_time, NULL);
    if (somebody_moves()) {
      still_since = now_ns();
    }
  }
}

void leati_gate_register(void) {
  pthread_once(&prepared, prepare);
  atexit(close_at_exit);
}

/* Stops this thread if the process is exiting and another thread ends it. */
static leati_gate pass(void) {
  if (__builtin_expect(atomic_load_explicit(&forked, memory_order_relaxed), 0)) {
    return LEATI_GATE_FORKED;
  }
  if (__builtin_expect(atomic_load_explicit(&closed, memory_order_seq_cst), 0)) {
    if (pthread_equal(ending_thread, pthread_self())) {
      return LEATI_GATE_CLOSED;
    }
    if (own) {
      atomic_store_explicit(&own->parked, true, memory_order_release);
    }
    for (;;) {
      pause();
    }
  }
  return LEATI_GATE_OPEN;
}

/* One call less for this thread. */
static void count_down(void) {
  if (own) {
    unsigned busy = atomic_load_explicit(&own->busy, memory_order_relaxed);
    if (busy != 0) {
      atomic_store_explicit(&own->busy, busy - 1, memory_order_release);
    }
  }
}

leati_gate leati_gate_enter(void) {
  if (__builtin_expect(atomic_load_explicit(&forked, memory_order_relaxed), 0)) {
    return LEATI_GATE_FORKED;
  }
  gate_record *record = own ? own : record_take();
  if (record) {
    unsigned busy = atomic_load_explicit(&record->busy, memory_order_relaxed);
    atomic_store_explicit(&record->busy, busy + 1, memory_order_seq_cst);
  }
  leati_gate state = pass();
  if (state != LEATI_GATE_OPEN) {
    count_down();
  }
  return state;
}

void leati_gate_leave(void) {
  pass();
  count_down();
}

OrtStatus *leati_gate_enter_or_fail(const leati_runtime *runtime, const char *call) {
  switch (leati_gate_enter()) {
    case LEATI_GATE_OPEN:
      return NULL;
    case LEATI_GATE_CLOSED:
      return leati_status(runtime, ORT_FAIL, LEATI_PROVIDER_NAME ": %s: the process is exiting", call);
    default:
      break;
  }
  /* The backend knows best how to say it; that call touches no lock of ours. */
  uint32_t count = 0;
  leat_error error = {.struct_size = sizeof(error)};
  OrtStatus *status = leati_status_from(runtime, runtime->leat->device->count(&count, &error), &error,
                                        LEATI_PROVIDER_NAME ": %s", call);
  return status ? status
                : leati_status(runtime, ORT_FAIL,
                               LEATI_PROVIDER_NAME
                               ": %s: this process is a child of fork(), in which the provider "
                               "cannot work; start it anew instead, as spawn does",
                               call);
}
