/* SPDX-License-Identifier: BSD-3-Clause */
/* Device memory that other threads use, that runs out, that work in flight holds, and that is on its way back to the
 * driver. */
#include "unit_fixture.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "core/sync.h"
#include "device/device.h"
#include "nulldriver/blocks.h"
#include "nulldriver/test_host.h"
#include "streams/recorder.h"
#include "streams/stream.h"

static void memory_that_runs_out_comes_back(void **state) {
  (void)state;
  enum { BLOCKS = 64 };
  nulldriver_shape shape = nulldriver_get_shape();
  shape.device_heap = UINT64_C(64) << 20;
  nulldriver_set_shape(&shape);
  open_device();
  uint64_t addresses[BLOCKS] = {0};
  int taken = 0;
  int32_t status = LEAT_OK;
  while (taken < BLOCKS && status == LEAT_OK) {
    status = h.api->memory->alloc(h.device, 8u << 20, NULL, &addresses[taken], NULL);
    taken += status == LEAT_OK ? 1 : 0;
  }
  assert_int_equal(status, LEAT_ERROR_OUT_OF_MEMORY);
  assert_true(taken > 0);
  for (int i = 0; i < taken; ++i) {
    assert_ok(h.api->memory->free(h.device, addresses[i], &err));
  }
  assert_ok(h.api->memory->alloc(h.device, 30u << 20, NULL, &addresses[0], &err));
  assert_ok(h.api->memory->free(h.device, addresses[0], &err));
  run_through(2);
  close_device();
}

/* The staging of an upload stays with the stream until somebody looks, and nobody looks at this one any more. */
static void memory_that_idle_streams_hold_is_found(void **state) {
  (void)state;
  static float bytes[4 << 20];
  int64_t many = 4 << 20;
  uint64_t address;
  nulldriver_shape shape = nulldriver_get_shape();
  shape.device_heap = UINT64_C(64) << 20;
  nulldriver_set_shape(&shape);
  open_device();
  leat_stream *const stream = make_stream();
  assert_ok(h.api->memory->alloc(h.device, sizeof(bytes), stream, &address, &err));
  const DLTensor from = host_tensor(bytes, &many), to = device_tensor(address, &many);
  assert_ok(h.api->memory->copy(stream, &from, &to, &err));
  assert_ok(h.api->stream->destroy(stream, &err));
  assert_ok(h.api->memory->free(h.device, address, &err));
  assert_ok(h.api->memory->alloc(h.device, 56u << 20, NULL, &address, &err));
  assert_ok(h.api->memory->free(h.device, address, &err));
  close_device();
}

/* ---- Memory that work in flight holds -------------------------------------------------------------------------------
 */

enum { MIB = 1 << 20 };

/* Opens a device of 64 MiB whose work completes only when somebody waits for it. */
static void open_small_device(void) {
  nulldriver_shape shape = nulldriver_get_shape();
  shape.device_heap = 64 * MIB;
  nulldriver_set_shape(&shape);
  open_device();
  nulldriver_set_mode(NULLDRIVER_LAZY, 0);
}

/* Copies COUNT floats from one block to another. */
static void copy_on_device(leat_stream *stream, uint64_t from, uint64_t to) {
  const DLTensor source = device_tensor(from, &count), target = device_tensor(to, &count);
  assert_ok(h.api->memory->copy(stream, &source, &target, &err));
}

/* Allocates and frees 40 MiB that a stream reads. */
static void leave_a_block(leat_stream *stream, uint64_t into) {
  uint64_t address;
  assert_ok(h.api->memory->alloc(h.device, 40 * MIB, stream, &address, &err));
  copy_on_device(stream, address, into);
  assert_ok(h.api->memory->free(h.device, address, &err));
}

static void an_allocation_waits_for_blocks_in_flight(void **state) {
  (void)state;
  static blocks t;
  uint64_t address;
  open_small_device();
  leat_stream *const stream = make_stream(), *const other = make_stream();
  take_blocks(&t, NULL);
  for (int i = 0; i < 8; ++i) {
    leave_a_block(stream, t.a);
    /* What reads it is in flight or in an open list, and what is allocated is one like it or of another class. */
    assert_ok(i % 2 != 0 ? h.api->stream->flush(stream, &err) : LEAT_OK);
    const uint64_t size = i % 4 < 2 ? 40 * MIB : 56 * MIB;
    assert_ok(h.api->memory->alloc(h.device, size, i < 4 ? other : NULL, &address, &err));
    assert_int_equal(nulldriver_pending(), 0);
    assert_ok(h.api->memory->free(h.device, address, &err));
    assert_ok(h.api->memory->trim(h.device, NULL, &err));
  }
  give_blocks(&t);
  assert_ok(h.api->stream->destroy(stream, &err));
  assert_ok(h.api->stream->destroy(other, &err));
  close_device();
}

/* How often somebody else takes what a waiting thread is about to get, and with what. */
static uint32_t rivals;
static leat_stream *rival;
static uint64_t rival_into;
static PFN_vkWaitSemaphores wait_semaphores;

static VkResult VKAPI_CALL wait_beside_a_rival(VkDevice device, const VkSemaphoreWaitInfo *info, uint64_t timeout) {
  const VkResult result = wait_semaphores(device, info, timeout);
  if (rivals != 0) {
    --rivals;
    leave_a_block(rival, rival_into);
    assert_ok(h.api->stream->flush(rival, &err));
  }
  return result;
}

/* Whoever waits for memory waits again when another thread was quicker, but not for ever. */
static void an_allocation_waits_again_where_another_was_quicker(void **state) {
  (void)state;
  static blocks t;
  static const uint32_t times[] = {1, 5, UINT32_MAX};
  uint64_t address;
  nulldriver_shape shape = nulldriver_get_shape();
  shape.device_heap = 64 * MIB;
  nulldriver_set_shape(&shape);
  open_configured("LEAT_WAIT_SPIN_US", "0");
  nulldriver_set_mode(NULLDRIVER_LAZY, 0);
  leat_stream *const stream = make_stream();
  rival = make_stream();
  take_blocks(&t, NULL);
  rival_into = t.a;
  wait_semaphores = h.device->vk.WaitSemaphores;
  h.device->vk.WaitSemaphores = wait_beside_a_rival;
  for (int i = 0; i < 3; ++i) {
    leave_a_block(stream, t.b);
    rivals = times[i];
    const int32_t status = h.api->memory->alloc(h.device, 40 * MIB, NULL, &address, NULL);
    assert_int_equal(status, times[i] == UINT32_MAX ? LEAT_ERROR_OUT_OF_MEMORY : LEAT_OK);
    assert_ok(status == LEAT_OK ? h.api->memory->free(h.device, address, &err) : LEAT_OK);
    rivals = 0;
    assert_ok(h.api->device->synchronize(h.device, &err));
  }
  h.device->vk.WaitSemaphores = wait_semaphores;
  give_blocks(&t);
  assert_ok(h.api->stream->destroy(stream, &err));
  assert_ok(h.api->stream->destroy(rival, &err));
  close_configured("LEAT_WAIT_SPIN_US");
}

/* An operation with a small and a large temporary; counts how often it is recorded. */
typedef struct large_operation {
  const leati_view *from;
  uint32_t *calls;
} large_operation;

static int32_t record_large(leati_recorder *recorder, const void *what, leat_error *err) {
  const large_operation *const it = what;
  ++*it->calls;
  return record_to_temporary(recorder, it->from, 40 * MIB, err);
}

static void temporaries_wait_for_blocks_in_flight(void **state) {
  (void)state;
  static blocks t;
  uint32_t calls = 0;
  uint64_t held;
  leati_view from;
  open_small_device();
  leat_stream *const stream = make_stream(), *const other = make_stream();
  take_blocks(&t, NULL);
  const DLTensor tensor = device_tensor(t.a, &count);
  assert_ok(leati_view_import(h.device, &tensor, "a", &from, &err));
  const large_operation operation = {.from = &from, .calls = &calls};
  leave_a_block(stream, t.b);
  assert_ok(leati_record(other, record_large, &operation, &err));
  assert_int_equal(calls, 2);
  assert_int_equal(nulldriver_pending(), 0);
  assert_ok(h.api->stream->synchronize(other, &err));
  /* It is tried some times more, since each try leaves a temporary to wait for, and then says what is wrong. */
  assert_ok(h.api->memory->trim(h.device, NULL, &err));
  assert_ok(h.api->memory->alloc(h.device, 40 * MIB, NULL, &held, &err));
  calls = 0;
  assert_int_equal(leati_record(other, record_large, &operation, NULL), LEAT_ERROR_OUT_OF_MEMORY);
  assert_in_range(calls, 2, 20);
  assert_ok(h.api->stream->error(other, &err));
  assert_ok(h.api->memory->free(h.device, held, &err));
  assert_ok(leati_record(other, record_large, &operation, &err));
  give_blocks(&t);
  assert_ok(h.api->stream->destroy(stream, &err));
  assert_ok(h.api->stream->destroy(other, &err));
  close_device();
}

static void copies_wait_for_staging_in_flight(void **state) {
  (void)state;
  static float large[2][4 * MIB];
  int64_t many = 4 * MIB;
  uint64_t addresses[2];
  open_small_device();
  leat_stream *const streams[2] = {make_stream(), make_stream()};
  for (uint32_t i = 0; i < 2; ++i) {
    /* The second finds 48 of 64 MiB taken, a third of that by the staging of the first. */
    assert_ok(h.api->memory->alloc(h.device, sizeof(large[0]), NULL, &addresses[i], &err));
  }
  for (uint32_t i = 0; i < 2; ++i) {
    host_fill(large[i], many, (host_content){.seed = i});
    const DLTensor from = host_tensor(large[i], &many), to = device_tensor(addresses[i], &many);
    assert_ok(h.api->memory->copy(streams[i], &from, &to, &err));
    memset(large[i], 0, sizeof(large[i]));
  }
  for (uint32_t i = 0; i < 2; ++i) {
    const DLTensor from = device_tensor(addresses[i], &many), to = host_tensor(large[i], &many);
    assert_ok(h.api->memory->copy(streams[i], &from, &to, &err));
    assert_ok(h.api->stream->synchronize(streams[i], &err));
    assert_int_equal(host_compare(large[i], many, (host_content){.seed = i}), -1);
    assert_ok(h.api->memory->free(h.device, addresses[i], &err));
    assert_ok(h.api->stream->destroy(streams[i], &err));
  }
  close_device();
}

/* Work in flight is not waited for where it holds nothing, or where nothing would do. */
static void memory_that_cannot_come_is_not_waited_for(void **state) {
  (void)state;
  static blocks t;
  uint64_t address;
  open_small_device();
  leat_stream *const stream = make_stream();
  take_blocks(&t, NULL);
  uint64_t held;
  assert_ok(h.api->memory->alloc(h.device, 40 * MIB, NULL, &held, &err));
  assert_int_equal(h.api->memory->alloc(h.device, 40 * MIB, stream, &address, NULL), LEAT_ERROR_OUT_OF_MEMORY);
  copy_on_device(stream, t.a, t.b);
  assert_ok(h.api->stream->flush(stream, &err));
  assert_int_equal(nulldriver_pending(), 1);
  assert_int_equal(h.api->memory->alloc(h.device, 40 * MIB, stream, &address, NULL), LEAT_ERROR_OUT_OF_MEMORY);
  assert_int_equal(nulldriver_pending(), 1);
  assert_ok(h.api->memory->free(h.device, held, &err));
  leave_a_block(stream, t.b);
  assert_ok(h.api->stream->flush(stream, &err));
  for (uint64_t size = UINT64_C(64) << 20; size < UINT64_MAX / 2; size *= 2) {
    assert_int_equal(h.api->memory->alloc(h.device, size, NULL, &address, NULL), LEAT_ERROR_OUT_OF_MEMORY);
  }
  assert_int_equal(nulldriver_pending(), 2);
  give_blocks(&t);
  assert_ok(h.api->stream->destroy(stream, &err));
  close_device();
}

/* Takes and leaves blocks of which not all threads can have one at once. NULL: each could be had, or there was no
 * memory. */
static void *share_memory(void *argument) {
  submitter *const s = argument;
  int32_t status = LEAT_OK;
  for (int i = 0; i < 200 && status == LEAT_OK; ++i) {
    uint64_t address;
    status =
        h.api->memory->alloc(h.device, (uint64_t)(10 + i % 7) * MIB, i % 3 == 0 ? NULL : s->stream, &address, NULL);
    if (status == LEAT_ERROR_OUT_OF_MEMORY) {
      ++s->failures;
      status = LEAT_OK;
      continue;
    }
    if (status == LEAT_OK) {
      const DLTensor source = device_tensor(address, &count), target = device_tensor(s->t.a, &count);
      status = h.api->memory->copy(s->stream, &source, &target, NULL);
      (void)h.api->memory->free(h.device, address, NULL);
    }
  }
  return status == LEAT_OK ? NULL : argument;
}

static void threads_share_little_memory(void **state) {
  (void)state;
  enum { THREADS = 6 };
  static submitter submitters[THREADS];
  void *failed;
  uint64_t address;
  open_small_device();
  nulldriver_set_mode(NULLDRIVER_THREADED, 5);
  for (int i = 0; i < THREADS; ++i) {
    /* Two threads have one stream. */
    submitters[i].stream = i % 2 == 0 ? make_stream() : submitters[i - 1].stream;
    submitters[i].failures = 0;
    take_blocks(&submitters[i].t, NULL);
  }
  for (int i = 0; i < THREADS; ++i) {
    assert_int_equal(pthread_create(&submitters[i].thread, NULL, share_memory, &submitters[i]), 0);
  }
  for (int i = 0; i < THREADS; ++i) {
    assert_int_equal(pthread_join(submitters[i].thread, &failed), 0);
    assert_null(failed);
    assert_true(submitters[i].failures < 200);
  }
  assert_ok(h.api->memory->alloc(h.device, 56 * MIB, NULL, &address, &err));
  assert_ok(h.api->memory->free(h.device, address, &err));
  for (int i = 0; i < THREADS; ++i) {
    give_blocks(&submitters[i].t);
    assert_ok(i % 2 == 0 ? h.api->stream->destroy(submitters[i].stream, &err) : LEAT_OK);
  }
  close_device();
}

static void *allocate_large(void *argument) {
  uint64_t *const address = argument;
  return h.api->memory->alloc(h.device, 40 * MIB, NULL, address, NULL) == LEAT_OK ? NULL : argument;
}

/* Work that never completes ends the wait when the device is lost. */
static void an_allocation_that_waits_ends_with_the_device(void **state) {
  (void)state;
  static blocks t;
  pthread_t thread;
  uint64_t address = 0;
  open_small_device();
  nulldriver_set_mode(NULLDRIVER_HELD, 0);
  leat_stream *const stream = make_stream();
  take_blocks(&t, NULL);
  leave_a_block(stream, t.a);
  const uint64_t waits = nulldriver_calls("vkWaitSemaphores");
  assert_int_equal(pthread_create(&thread, NULL, allocate_large, &address), 0);
  while (nulldriver_calls("vkWaitSemaphores") == waits) {
    leati_yield();
  }
  nulldriver_lose_device();
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_ok(h.api->memory->free(h.device, address, &err));
  give_blocks(&t);
  assert_ok(h.api->stream->destroy(stream, &err));
  close_device();
}

/* ---- Memory that others use -----------------------------------------------------------------------------------------
 */

/* Counts the locks of size classes that this thread takes. */
static _Thread_local uint32_t class_locks;
/* Counts the threads that have come to release memory, on any thread. */
static _Atomic uint32_t trims;
/* Where a thread stops that is about to take the lock of a size class, whether it has, and whether it may go on. */
static _Thread_local bool stops_at_memory;
static atomic_bool stopped_at_memory, go_on_at_memory;
void __real_leati_mutex_lock(leati_mutex *mutex);
void __wrap_leati_mutex_lock(leati_mutex *mutex);
void __wrap_leati_mutex_lock(leati_mutex *mutex) {
  class_locks += mutex->rank == LEATI_RANK_MEMORY ? 1 : 0;
  if (mutex->rank == LEATI_RANK_TRIM) {
    (void)atomic_fetch_add(&trims, 1);
  }
  if (mutex->rank == LEATI_RANK_MEMORY && stops_at_memory) {
    stops_at_memory = false;
    atomic_store(&stopped_at_memory, true);
    while (!atomic_load(&go_on_at_memory)) {
      (void)sched_yield();
    }
  }
  __real_leati_mutex_lock(mutex);
}

/* What a thread asks for, and what it gets. */
typedef struct allocation {
  leat_stream *stream;
  uint64_t address;
  int32_t status;
} allocation;

static void *allocate_slowly(void *argument) {
  allocation *const a = argument;
  stops_at_memory = true;
  a->status = h.api->memory->alloc(h.device, COUNT * sizeof(float), a->stream, &a->address, NULL);
  return NULL;
}

static void *give_and_take_anew(void *ticket) {
  leat_stream *stream;
  HOST_NEED(h.api->pool->release(h.device, *(uint64_t *)ticket, &err));
  HOST_NEED(h.api->pool->acquire(h.device, 0, &stream, (uint64_t *)ticket, &err));
  return NULL;
}

static atomic_bool other_made;

static void *flush_and_make(void *argument) {
  submitter *const s = argument;
  leat_stream *stream;
  HOST_NEED(h.api->pool->stream(h.device, 2, &stream, &err));
  HOST_NEED(rectify(&s->t, stream));
  HOST_NEED(h.api->stream->flush(stream, &err));
  HOST_NEED(h.api->stream->create(h.device, 0, &s->stream, &err));
  atomic_store(&other_made, true);
  return NULL;
}

/* While a thread allocates for a stream, that may get another timeline, and another stream this one. What that one
 * still uses is not in order with the first. */
static void nobody_gets_a_block_that_another_stream_uses(void **state) {
  (void)state;
  const struct timespec nap = {.tv_nsec = 50000000};
  static blocks t[2];
  static submitter other;
  allocation a;
  uint64_t ticket;
  pthread_t stuck, slow, next, maker;
  open_device();
  for (int i = 0; i < 2; ++i) {
    take_blocks(&t[i], NULL);
  }
  take_blocks(&other.t, NULL);
  start_stuck(&stuck, &t[0]);
  assert_ok(h.api->pool->acquire(h.device, 0, &a.stream, &ticket, &err));
  assert_int_equal(rectify(&t[1], a.stream), LEAT_OK);
  assert_ok(h.api->stream->flush(a.stream, &err));
  atomic_store(&stopped_at_memory, false);
  atomic_store(&go_on_at_memory, false);
  start_thread(&slow, allocate_slowly, &a);
  while (!atomic_load(&stopped_at_memory)) {
    (void)sched_yield();
  }
  /* Each step if it can be done meanwhile. */
  start_thread(&next, give_and_take_anew, &ticket);
  (void)nanosleep(&nap, NULL);
  nulldriver_release();
  join_thread(stuck);
  atomic_store(&other_made, false);
  start_thread(&maker, flush_and_make, &other);
  (void)nanosleep(&nap, NULL);
  const bool made = atomic_load(&other_made);
  if (made) {
    join_thread(maker);
    nulldriver_set_mode(NULLDRIVER_HELD, 0);
    assert_int_equal(rectify(&other.t, other.stream), LEAT_OK);
    assert_ok(h.api->stream->flush(other.stream, &err));
    give_blocks(&other.t);
  }
  atomic_store(&go_on_at_memory, true);
  join_thread(slow);
  join_thread(next);
  if (!made) {
    join_thread(maker);
    give_blocks(&other.t);
  }
  assert_int_equal(a.status, LEAT_OK);
  assert_false(made && (a.address == other.t.a || a.address == other.t.b));
  nulldriver_set_mode(NULLDRIVER_EAGER, 0);
  assert_ok(h.api->memory->free(h.device, a.address, &err));
  assert_ok(h.api->pool->release(h.device, ticket, &err));
  give_blocks(&t[0]);
  give_blocks(&t[1]);
  assert_ok(h.api->stream->destroy(other.stream, &err));
  close_device();
}

/* The same for memory that is said to be used by what is in the stream. */
static void memory_of_a_stream_is_in_use_though_its_owner_changes(void **state) {
  (void)state;
  static blocks t;
  uint64_t ticket, used, other;
  leat_stream *stream;
  open_device();
  take_blocks(&t, NULL);
  assert_ok(h.api->memory->alloc(h.device, sizeof(t.in), NULL, &used, &err));
  nulldriver_set_mode(NULLDRIVER_HELD, 0);
  assert_ok(h.api->pool->acquire(h.device, 0, &stream, &ticket, &err));
  assert_int_equal(rectify(&t, stream), LEAT_OK);
  assert_ok(h.api->stream->flush(stream, &err));
  fail_stream(stream, &t);
  assert_ok(h.api->pool->release(h.device, ticket, &err));
  assert_ok(h.api->memory->record_stream(h.device, used, stream, &err));
  assert_ok(h.api->memory->free(h.device, used, &err));
  assert_ok(h.api->memory->alloc(h.device, sizeof(t.in), NULL, &other, &err));
  assert_int_not_equal(other, used);
  nulldriver_set_mode(NULLDRIVER_EAGER, 0);
  assert_ok(h.api->device->synchronize(h.device, &err));
  assert_ok(h.api->memory->free(h.device, other, &err));
  give_blocks(&t);
  close_device();
}

/* ---- Memory on its way back to the driver ---------------------------------------------------------------------------
 */

static void *trim_all(void *argument) {
  *(int32_t *)argument = h.api->memory->trim(h.device, NULL, NULL);
  return NULL;
}

static void *allocate_most(void *argument) {
  allocation *const a = argument;
  a->status = h.api->memory->alloc(h.device, UINT64_C(70) << 20, NULL, &a->address, NULL);
  return NULL;
}

/* The driver takes its time over memory that it gets back. Meanwhile others have blocks of the same class; and who
 * needs what is on its way waits for it, and is not told that there is none. */
static void who_gives_memory_back_holds_nobody_up(void **state) {
  (void)state;
  nulldriver_shape shape = nulldriver_get_shape();
  shape.device_heap = UINT64_C(128) << 20;
  nulldriver_set_shape(&shape);
  pthread_t trimmer, other;
  allocation a = {.status = LEAT_OK};
  int32_t trimmed;
  uint64_t address;
  open_device();
  assert_ok(h.api->memory->alloc(h.device, UINT64_C(80) << 20, NULL, &address, &err));
  assert_ok(h.api->memory->free(h.device, address, &err));
  assert_true(nulldriver_hold("vkFreeMemory"));
  start_thread(&trimmer, trim_all, &trimmed);
  nulldriver_wait_held();
  assert_ok(h.api->memory->alloc(h.device, UINT64_C(34) << 20, NULL, &address, &err));
  const uint32_t before = atomic_load(&trims);
  start_thread(&other, allocate_most, &a);
  while (atomic_load(&trims) == before) {
    (void)sched_yield();
  }
  nulldriver_release();
  join_thread(trimmer);
  join_thread(other);
  assert_int_equal(trimmed, LEAT_OK);
  assert_int_equal(a.status, LEAT_OK);
  assert_ok(h.api->memory->free(h.device, a.address, &err));
  assert_ok(h.api->memory->free(h.device, address, &err));
  close_device();
}

/* A thread that looks through many blocks lets others at them now and then. */
static void who_looks_through_many_blocks_gives_the_lock_up(void **state) {
  (void)state;
  enum { BLOCKS = 20000, PER_HOLD = 1024 };
  static uint64_t held[BLOCKS];
  open_device();
  class_locks = 0;
  assert_ok(h.api->memory->trim(h.device, NULL, &err));
  const uint32_t of_none = class_locks;
  for (int i = 0; i < BLOCKS; ++i) {
    assert_ok(h.api->memory->alloc(h.device, 100, NULL, &held[i], &err));
  }
  class_locks = 0;
  assert_ok(h.api->memory->trim(h.device, NULL, &err));
  assert_true(class_locks >= of_none + BLOCKS / PER_HOLD);
  for (int i = 0; i < BLOCKS; ++i) {
    assert_ok(h.api->memory->free(h.device, held[i], &err));
  }
  close_device();
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, host_before, host_after)
      CASE(memory_that_runs_out_comes_back),
      CASE(memory_that_idle_streams_hold_is_found),
      CASE(an_allocation_waits_for_blocks_in_flight),
      CASE(an_allocation_waits_again_where_another_was_quicker),
      CASE(temporaries_wait_for_blocks_in_flight),
      CASE(copies_wait_for_staging_in_flight),
      CASE(memory_that_cannot_come_is_not_waited_for),
      CASE(threads_share_little_memory),
      CASE(an_allocation_that_waits_ends_with_the_device),
      CASE(nobody_gets_a_block_that_another_stream_uses),
      CASE(memory_of_a_stream_is_in_use_though_its_owner_changes),
      CASE(who_gives_memory_back_holds_nobody_up),
      CASE(who_looks_through_many_blocks_gives_the_lock_up),
#undef CASE
  };
  return cmocka_run_group_tests_name("nulldriver.device_memory", tests, NULL, NULL);
}
