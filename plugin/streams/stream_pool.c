/* SPDX-License-Identifier: BSD-3-Clause */
#include "streams/stream_pool.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "core/gate.h"
#include "core/status.h"
#include "device/device.h"
#include "policy/constants.h"
#include "streams/free_streams.h"
#include "streams/stream.h"
#include "streams/stream_state.h"

/* Bits of all worker streams; bit 0, the main thread's, is never free. */
#define WORKERS UINT32_C(0xfffffffe)
#define WORKER_COUNT (LEATI_POOL_STREAMS - 1)
/* A ticket holds the number of the stream in its low byte and a serial number above. Where streams are shared, it is
 * this instead with the session of the device, and the same for all who share: nobody holds anything. */
#define SHARED_TICKET (UINT64_C(1) << 63)
/* Of the last ticket. One count for all devices and all times that they are opened: a ticket of another device, or from
 * before the device was closed, is none here. Relaxed: nothing hangs on its order. */
static _Atomic uint64_t serials;

/* A thread that waits for a stream. On its stack; guarded by the pool's lock. */
typedef struct waiter {
  struct waiter *next;
  leati_condition served;
  uint32_t index; /* the stream it was given, 0 for none yet */
} waiter;

struct leati_stream_pool {
  bool round_robin;
  int64_t timeout_ms;
  /* By number; made on first use and then constant. Published with release, read with acquire. */
  _Atomic(leat_stream *) streams[LEATI_POOL_STREAMS];
  /* Tickets of those who hold the streams, 0 for none. The thread that changes one to 0 releases the stream. */
  _Atomic uint64_t holders[LEATI_POOL_STREAMS];
  /* Bits of the free streams. Sequentially consistent, like `waiting`: a thread that frees a stream and then sees
   * nobody waiting is seen by whoever then begins to wait. */
  _Alignas(LEATI_CACHE_LINE) _Atomic uint32_t free;
  _Alignas(LEATI_CACHE_LINE) _Atomic uint32_t waiting;
  /* The next stream of round-robin, and figures; relaxed. */
  _Alignas(LEATI_CACHE_LINE) _Atomic uint64_t turn, served, exhausted;
  leati_mutex lock; /* guards the queue of waiters */
  waiter *first, *last;
  /* Threads that have ended and are releasing their streams just now, and what the closing of the device waits for
   * until there are none. Guarded by open_lock. */
  uint32_t ending;
  leati_condition ended;
};
LEATI_APART(struct leati_stream_pool, holders, free);
LEATI_APART(struct leati_stream_pool, free, waiting);
LEATI_APART(struct leati_stream_pool, waiting, turn);

/* ---- Slots --------------------------------------------------------------------------------------------------------
 */

/* Takes the lowest free worker stream; 0: there is none. */
static uint32_t take_slot(struct leati_stream_pool *pool) {
  uint32_t free = atomic_load_explicit(&pool->free, memory_order_seq_cst);
  while (free != 0) {
    const uint32_t index = (uint32_t)__builtin_ctz(free);
    if (atomic_compare_exchange_weak_explicit(&pool->free, &free, free & ~(UINT32_C(1) << index), memory_order_seq_cst,
                                              memory_order_seq_cst)) {
      return index;
    }
  }
  return 0;
}

/* Hands free streams to those who wait, in order. `lock` held. */
static void serve(struct leati_stream_pool *pool) LEATI_HOLDS(pool->lock) {
  while (pool->first != NULL) {
    const uint32_t index = take_slot(pool);
    if (index == 0) {
      return;
    }
    waiter *const served = pool->first;
    pool->first = served->next;
    if (pool->first == NULL) {
      pool->last = NULL;
    }
    served->index = index;
    (void)atomic_fetch_sub_explicit(&pool->waiting, 1, memory_order_seq_cst);
    leati_condition_signal(&served->served);
  }
}

static void give_slot(struct leati_stream_pool *pool, uint32_t index) {
  (void)atomic_fetch_or_explicit(&pool->free, UINT32_C(1) << index, memory_order_seq_cst);
  if (atomic_load_explicit(&pool->waiting, memory_order_seq_cst) != 0) {
    leati_mutex_lock(&pool->lock);
    serve(pool);
    leati_mutex_unlock(&pool->lock);
  }
}

/* Takes a waiter that was not served off the queue. `lock` held. */
static void leave_queue(struct leati_stream_pool *pool, const waiter *leaving) LEATI_HOLDS(pool->lock) {
  waiter *before = NULL;
  for (waiter *at = pool->first; at != leaving; at = at->next) {
    before = at;
  }
  if (before != NULL) {
    before->next = leaving->next;
  } else {
    pool->first = leaving->next;
  }
  if (pool->last == leaving) {
    pool->last = before;
  }
  (void)atomic_fetch_sub_explicit(&pool->waiting, 1, memory_order_seq_cst);
}

/* Waits for a stream; 0: none came in time. */
static uint32_t await_slot(struct leati_stream_pool *pool, int64_t timeout_ms) {
  const uint64_t end = timeout_ms < 0 ? UINT64_MAX : leati_now_ns() + (uint64_t)timeout_ms * 1000000u;
  waiter self = {.index = 0};
  leati_condition_init(&self.served);
  leati_mutex_lock(&pool->lock);
  if (pool->last != NULL) {
    pool->last->next = &self;
  } else {
    pool->first = &self;
  }
  pool->last = &self;
  (void)atomic_fetch_add_explicit(&pool->waiting, 1, memory_order_seq_cst);
  serve(pool);
  uint64_t now = leati_now_ns();
  while (self.index == 0 && now < end) {
    leati_condition_wait(&self.served, &pool->lock, end - now < LEATI_GATE_LOOK_NS ? end : now + LEATI_GATE_LOOK_NS);
    leati_mutex_unlock(&pool->lock);
    leati_gate_check();
    leati_mutex_lock(&pool->lock);
    now = leati_now_ns();
  }
  if (self.index == 0) {
    leave_queue(pool, &self);
  }
  leati_mutex_unlock(&pool->lock);
  leati_condition_destroy(&self.served);
  return self.index;
}

/* Takes a stream that those who wait leave, and may be about to be handed theirs; 0: there is none. */
static uint32_t take_left(struct leati_stream_pool *pool) {
  leati_mutex_lock(&pool->lock);
  serve(pool);
  const uint32_t index = pool->first == NULL ? take_slot(pool) : 0;
  leati_mutex_unlock(&pool->lock);
  return index;
}

/* ---- Streams ------------------------------------------------------------------------------------------------------
 */

/* The stream of a number. */
static int32_t stream_at(leat_device *device, uint32_t index, leat_stream **out, leat_error *err) {
  struct leati_stream_pool *const pool = device->pool;
  leat_stream *stream = atomic_load_explicit(&pool->streams[index], memory_order_acquire);
  if (stream == NULL) {
    leat_stream *made;
    LEATI_TRY(leati_streams_take(device, &made, err));
    made->pool_index = (int32_t)index;
    if (atomic_compare_exchange_strong_explicit(&pool->streams[index], &stream, made, memory_order_acq_rel,
                                                memory_order_acquire)) {
      stream = made;
    } else {
      made->pool_index = -1;
      leati_streams_release(made);
    }
  }
  *out = stream;
  return LEAT_OK;
}

static uint64_t shared_ticket(const leat_device *device, uint32_t index) {
  return SHARED_TICKET | device->session << 8 | index;
}

/* Takes a worker stream, its ticket and all. */
static int32_t acquire(leat_device *device, int64_t timeout_ms, leat_stream **out, uint64_t *out_ticket,
                       leat_error *err) {
  struct leati_stream_pool *const pool = device->pool;
  if (pool->round_robin) {
    const uint64_t turn = atomic_fetch_add_explicit(&pool->turn, 1, memory_order_relaxed);
    const uint32_t shared = 1 + (uint32_t)(turn % WORKER_COUNT);
    *out_ticket = shared_ticket(device, shared);
    LEATI_TRY(stream_at(device, shared, out, err));
    (void)atomic_fetch_add_explicit(&pool->served, 1, memory_order_relaxed);
    return LEAT_OK;
  }
  /* A thread that comes later does not overtake those that wait. */
  uint32_t index = atomic_load_explicit(&pool->waiting, memory_order_seq_cst) == 0 ? take_slot(pool) : 0;
  if (index == 0 && timeout_ms != 0) {
    index = await_slot(pool, timeout_ms);
  } else if (index == 0 && atomic_load_explicit(&pool->free, memory_order_seq_cst) != 0) {
    index = take_left(pool);
  }
  if (index == 0) {
    (void)atomic_fetch_add_explicit(&pool->exhausted, 1, memory_order_relaxed);
    return leati_fail(
        err, LEAT_ERROR_EXHAUSTED,
        "all %u worker streams of the pool are taken, and none came free within %lld ms; let fewer threads "
        "in at once, wait longer (LEAT_STREAM_POOL_WAIT_TIMEOUT_MS, -1 for ever), or share streams "
        "(LEAT_STREAM_POLICY=round-robin)",
        WORKER_COUNT, (long long)timeout_ms);
  }
  int32_t status = stream_at(device, index, out, err);
  if (status == LEAT_OK) {
    status = leati_stream_adopt_owner(*out, err);
  }
  if (status != LEAT_OK) {
    give_slot(pool, index);
    return status;
  }
  *out_ticket = (atomic_fetch_add_explicit(&serials, 1, memory_order_relaxed) + 1) << 8 | index;
  atomic_store_explicit(&pool->holders[index], *out_ticket, memory_order_release);
  (void)atomic_fetch_add_explicit(&pool->served, 1, memory_order_relaxed);
  return LEAT_OK;
}

static int32_t release(leat_device *device, uint64_t ticket, leat_error *err) {
  struct leati_stream_pool *const pool = device->pool;
  const uint32_t index = (uint32_t)(ticket & 0xff);
  uint64_t expected = ticket;
  if (index == 0 || index >= LEATI_POOL_STREAMS) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "0x%llx is no ticket of this pool", (unsigned long long)ticket);
  }
  leat_stream *const stream = atomic_load_explicit(&pool->streams[index], memory_order_acquire);
  if (pool->round_robin && ticket == shared_ticket(device, index) && stream != NULL) {
    /* Others go on with it: what this one left open goes its way, and a failure stays theirs to see. */
    (void)leati_stream_flush_if_live(stream, NULL);
    return LEAT_OK;
  }
  if (!atomic_compare_exchange_strong_explicit(&pool->holders[index], &expected, 0, memory_order_acq_rel,
                                               memory_order_relaxed)) {
    return leati_fail(
        err, LEAT_ERROR_INVALID_ARGUMENT,
        "ticket 0x%llx is not in use: stream %u was released with it already, or it is of another device, or from "
        "before this one was closed",
        (unsigned long long)ticket, index);
  }
  leati_stream_release_owner(stream);
  give_slot(pool, index);
  return LEAT_OK;
}

/* ---- Threads ------------------------------------------------------------------------------------------------------
 */

/* What a thread has of one device. */
typedef struct binding {
  uint64_t session;     /* leat_device::session it belongs to; of another one it is nothing */
  leat_stream *own;     /* NULL: none yet */
  uint64_t ticket;      /* of `own`; 0: the main thread's stream */
  leat_stream *bound;   /* by set_current(), or NULL */
  uint64_t bound_ended; /* leat_stream::ended of `bound` at that time */
} binding;

/* What a thread has of all devices. Only its thread uses it. */
typedef struct bindings {
  bool main_thread;
  binding by_device[LEATI_DEVICES_MAX];
} bindings;

/* Devices to whose pools threads may release streams. A thread that ends cannot know otherwise whether the device is
 * still open. */
static leati_mutex open_lock = LEATI_MUTEX_INITIALIZER(LEATI_RANK_THREADS); /* guards open_devices, `ending` of pools */
static leat_device *open_devices[LEATI_DEVICES_MAX] LEATI_GUARDED_BY(open_lock);

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool key_made; /* constant after key_once */

/* Releases what a thread holds of a device. */
static void give_back(leat_device *device, binding *b) {
  if (b->own != NULL && b->ticket != 0) {
    (void)release(device, b->ticket, NULL);
  } else if (b->own != NULL) {
    (void)leati_stream_flush_if_live(b->own, NULL);
  }
  *b = (binding){.session = 0};
}

/* Keeps a device from closing until unpin(); NULL if it is not open any more. Releasing a stream submits, and the
 * driver may take its time over that: no lock is held meanwhile. */
static leat_device *pin(uint32_t index, uint64_t session) {
  leati_mutex_lock(&open_lock);
  leat_device *device = open_devices[index];
  if (device != NULL && device->session == session) {
    ++device->pool->ending;
  } else {
    device = NULL;
  }
  leati_mutex_unlock(&open_lock);
  return device;
}

static void unpin(leat_device *device) {
  leati_mutex_lock(&open_lock);
  if (--device->pool->ending == 0) {
    leati_condition_signal(&device->pool->ended);
  }
  leati_mutex_unlock(&open_lock);
}

static int32_t give_back_all(bindings *thread) {
  LEATI_ENTER(NULL);
  for (uint32_t i = 0; i < LEATI_DEVICES_MAX; ++i) {
    binding *const b = &thread->by_device[i];
    leat_device *const device = b->own != NULL ? pin(i, b->session) : NULL;
    if (device != NULL) {
      give_back(device, b);
      unpin(device);
    }
  }
  return LEAT_OK;
}

/* The thread has ended, by return, pthread_exit() or cancellation. */
static void end_thread(void *record) {
  (void)give_back_all(record);
  leati_free(record);
}

static void make_key(void) {
  key_made = pthread_key_create(&key, end_thread) == 0;
}

/* The calling thread's binding to a device. */
static int32_t binding_of(leat_device *device, bindings **out_thread, binding **out, leat_error *err) {
  (void)pthread_once(&key_once, make_key);
  bindings *thread = key_made ? pthread_getspecific(key) : NULL;
  if (thread == NULL) {
    thread = key_made ? leati_calloc(1, sizeof(*thread)) : NULL;
    if (thread == NULL || pthread_setspecific(key, thread) != 0) {
      leati_free(thread);
      return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no thread-local storage for the current stream");
    }
    thread->main_thread = syscall(SYS_gettid) == getpid();
  }
  binding *const b = &thread->by_device[device->index];
  if (b->session != device->session) {
    *b = (binding){.session = device->session};
  }
  *out_thread = thread;
  *out = b;
  return LEAT_OK;
}

static uint64_t ended_of(const leat_stream *stream) {
  return atomic_load_explicit(&stream->ended, memory_order_relaxed);
}

/* ---- The table ----------------------------------------------------------------------------------------------------
 */

/* The milliseconds that a caller asks for. */
static int32_t timeout_of(const leat_device *device, int64_t asked, int64_t *out, leat_error *err) {
  *out = asked == LEAT_POOL_TIMEOUT_CONFIGURED ? device->pool->timeout_ms : asked;
  if (*out < -1 || *out > INT32_MAX) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                      "timeout_ms is %lld; allowed: -1 (for ever), 0 (not at all), milliseconds up to %d, or "
                      "LEAT_POOL_TIMEOUT_CONFIGURED",
                      (long long)asked, INT32_MAX);
  }
  return LEAT_OK;
}

static int32_t pool_acquire(leat_device *device, int64_t timeout_ms, leat_stream **out, uint64_t *out_ticket,
                            leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_device_check(device, err));
  if (out == NULL || out_ticket == NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, out == NULL ? "out is NULL" : "out_ticket is NULL");
  }
  int64_t timeout;
  LEATI_TRY(timeout_of(device, timeout_ms, &timeout, err));
  return acquire(device, timeout, out, out_ticket, err);
}

static int32_t pool_release(leat_device *device, uint64_t ticket, leat_error *err) {
  LEATI_ENTER_TO_RELEASE(err);
  LEATI_TRY(leati_device_check(device, err));
  return release(device, ticket, err);
}

static int32_t pool_stream(leat_device *device, uint32_t index, leat_stream **out, leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_device_check(device, err));
  if (out == NULL || index >= LEATI_POOL_STREAMS) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "out is NULL, or index is %u; allowed: 0 to %u", index,
                      LEATI_POOL_STREAMS - 1);
  }
  return stream_at(device, index, out, err);
}

static int32_t pool_current(leat_device *device, leat_stream **out, leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_device_check(device, err));
  if (out == NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "out is NULL");
  }
  bindings *thread;
  binding *b;
  LEATI_TRY(binding_of(device, &thread, &b, err));
  if (b->bound != NULL) {
    /* Its kind would not do: the object may be another's stream by now. */
    if (ended_of(b->bound) != b->bound_ended) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                        "the stream that set_current() bound to this thread has been destroyed; bind another one, or "
                        "NULL for the thread's own");
    }
    *out = b->bound;
    return LEAT_OK;
  }
  if (b->own == NULL && thread->main_thread) {
    LEATI_TRY(stream_at(device, 0, &b->own, err));
  } else if (b->own == NULL) {
    leat_stream *own;
    LEATI_TRY(acquire(device, device->pool->timeout_ms, &own, &b->ticket, err));
    b->own = own;
  }
  *out = b->own;
  return LEAT_OK;
}

static int32_t pool_set_current(leat_device *device, leat_stream *stream, leat_stream **out_previous, leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_device_check(device, err));
  if (stream != NULL) {
    LEATI_TRY(leati_stream_check(stream, device, err));
  }
  bindings *thread;
  binding *b;
  LEATI_TRY(binding_of(device, &thread, &b, err));
  if (out_previous != NULL) {
    /* One that was destroyed may be another's stream by now, and whoever is told of it binds it again. */
    *out_previous = b->bound != NULL && ended_of(b->bound) == b->bound_ended ? b->bound : NULL;
  }
  b->bound = stream;
  b->bound_ended = stream != NULL ? ended_of(stream) : 0;
  return LEAT_OK;
}

static int32_t pool_release_current(leat_device *device, leat_error *err) {
  LEATI_ENTER_TO_RELEASE(err);
  LEATI_TRY(leati_device_check(device, err));
  bindings *thread;
  binding *b;
  LEATI_TRY(binding_of(device, &thread, &b, err));
  give_back(device, b);
  return LEAT_OK;
}

static int32_t pool_info(leat_device *device, leat_pool_info *out, leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_device_check(device, err));
  struct leati_stream_pool *const pool = device->pool;
  const uint32_t free = atomic_load_explicit(&pool->free, memory_order_relaxed);
  const leat_pool_info info = {.struct_size = sizeof(info),
                               .stream_count = LEATI_POOL_STREAMS,
                               .flags = pool->round_robin ? LEAT_POOL_ROUND_ROBIN : 0,
                               .timeout_ms = pool->timeout_ms,
                               .held_count = pool->round_robin ? 0 : (uint32_t)__builtin_popcount(WORKERS & ~free),
                               .waiting_count = atomic_load_explicit(&pool->waiting, memory_order_relaxed),
                               .acquire_count = atomic_load_explicit(&pool->served, memory_order_relaxed),
                               .exhausted_count = atomic_load_explicit(&pool->exhausted, memory_order_relaxed)};
  return leati_export(out, &info, sizeof(info), sizeof(info), "leat_pool_info", err);
}

const leat_pool_api leati_stream_pool_table = {
    .struct_size = sizeof(leat_pool_api),
    .acquire = pool_acquire,
    .release = pool_release,
    .stream = pool_stream,
    .current = pool_current,
    .set_current = pool_set_current,
    .release_current = pool_release_current,
    .info = pool_info,
};

/* ---- The pool of a device -----------------------------------------------------------------------------------------
 */

bool leati_stream_pool_shares(const leat_stream *stream) {
  return stream->pool_index > 0 && stream->device->pool->round_robin;
}

int32_t leati_stream_pool_create(leat_device *device, bool round_robin, int64_t timeout_ms, leat_error *err) {
  struct leati_stream_pool *const pool = leati_calloc_line(sizeof(*pool));
  if (pool == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for the pool of streams");
  }
  pool->round_robin = round_robin;
  pool->timeout_ms = timeout_ms;
  atomic_store_explicit(&pool->free, round_robin ? 0 : WORKERS, memory_order_relaxed);
  leati_mutex_init(&pool->lock, LEATI_RANK_POOL);
  leati_condition_init(&pool->ended);
  device->pool = pool;
  leati_mutex_lock(&open_lock);
  open_devices[device->index] = device;
  leati_mutex_unlock(&open_lock);
  return LEAT_OK;
}

void leati_stream_pool_destroy(leat_device *device) {
  if (device->pool == NULL) {
    return;
  }
  leati_mutex_lock(&open_lock);
  open_devices[device->index] = NULL;
  while (device->pool->ending != 0) {
    leati_condition_wait(&device->pool->ended, &open_lock, UINT64_MAX);
  }
  leati_mutex_unlock(&open_lock);
  leati_condition_destroy(&device->pool->ended);
  leati_mutex_destroy(&device->pool->lock);
  leati_free(device->pool);
  device->pool = NULL;
}
