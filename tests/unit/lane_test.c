/* SPDX-License-Identifier: BSD-3-Clause */
/* Group commit: which lists wait for others, that they never stay behind, and what becomes of a group that the queue
 * refuses. */
#include "submit/lane.h"

#include <linux/futex.h>
#include <pthread.h>
#include <string.h>

#include "streams/stream_state.h"
#include "unit_fixture.h"

enum { STREAMS = 4, ELEMENTS = 256 };

/* Streams of one device, all on lane 0, each with a block. */
typedef struct bench {
  fixture *f;
  leati_lane *lane;
  leat_stream *streams[STREAMS];
  uint64_t blocks[STREAMS];
  int32_t out[STREAMS][ELEMENTS];
  int64_t shape[1];
} bench;

/* What the functions below stand in front of, and what they saw. One test at a time uses them. */
static leati_vk_device driver;
static unsigned submits, batches_seen;
static VkResult refusal;
/* What somebody does while a leader submits or looks whether it should, once; or NULL. */
static void (*meanwhile)(void);
/* Threads that attend the lane, as far as it knows. */
static unsigned attending;

/* What is waited for here comes at once or never. */
#define PATIENCE_NS UINT64_C(10000000000)

static void do_meanwhile(void) {
  void (*const act)(void) = meanwhile;
  meanwhile = NULL;
  if (act != NULL) {
    act();
  }
}

static VkResult count_submits(VkQueue queue, uint32_t count, const VkSubmitInfo *batches, VkFence fence) {
  ++submits;
  batches_seen = count;
  do_meanwhile();
  return refusal != VK_SUCCESS ? refusal : driver.QueueSubmit(queue, count, batches, fence);
}

static VkResult nothing_has_run(VkDevice device, VkSemaphore semaphore, uint64_t *out_value) {
  (void)device;
  (void)semaphore;
  do_meanwhile();
  *out_value = 0;
  return VK_SUCCESS;
}

/* What the driver tells of the lane's timeline semaphore, however much has run. */
static uint64_t told;

static VkResult tell(VkDevice device, VkSemaphore semaphore, uint64_t *out_value) {
  (void)device;
  (void)semaphore;
  do_meanwhile();
  *out_value = told;
  return VK_SUCCESS;
}

static void attend(leati_lane *lane) {
  ++attending;
  leati_lane_attend(lane);
}

static void leave(leati_lane *lane) {
  --attending;
  leati_lane_leave(lane, true);
}

static void open_bench(void **state, bench *t) {
  memset(t, 0, sizeof(*t));
  t->f = fixture_of(state);
  t->lane = leati_lane_of(t->f->device->semaphores[0]);
  t->shape[0] = ELEMENTS;
  refusal = VK_SUCCESS;
  meanwhile = NULL;
  if (t->f->device->vk.QueueSubmit == count_submits) {
    /* The test before ended half-way: without this, the next wait would never end. */
    t->f->device->vk = driver;
  }
  while (attending != 0) {
    leave(t->lane);
  }
  for (int i = 0; i < STREAMS; ++i) {
    assert_ok(t->f->api->stream->create(t->f->device, 0, &t->streams[i], &err));
    assert_ok(t->f->api->memory->alloc(t->f->device, sizeof(t->out[i]), NULL, &t->blocks[i], &err));
  }
  assert_ok(t->f->api->device->synchronize(t->f->device, &err));
  /* Whatever batches took here until now; the last end need not have been noted. */
  leati_lane_attend(t->lane);
  leati_lane_leave(t->lane, true);
  atomic_store_explicit(&t->lane->batching.in_flight, 2, memory_order_relaxed);
  driver = t->f->device->vk;
  submits = 0;
  t->f->device->vk.QueueSubmit = count_submits;
}

static void close_bench(bench *t) {
  t->f->device->vk = driver;
  /* Everything has run or was lost, so the lane has nothing to do. */
  const uint64_t submitted = atomic_load_explicit(&t->lane->semaphore.submitted, memory_order_relaxed);
  assert_int_equal(atomic_load_explicit(&t->lane->lists, memory_order_relaxed),
                   leati_batching_lists(&t->lane->batching, submitted));
  for (int i = 0; i < STREAMS; ++i) {
    assert_ok(t->f->api->memory->free(t->f->device, t->blocks[i], &err));
    assert_ok(t->f->api->stream->destroy(t->streams[i], &err));
  }
}

/* Puts an upload of `value` and a download into stream `i` and flushes it. */
static int32_t put(bench *t, int i, int32_t value) {
  int32_t in[ELEMENTS];
  for (int j = 0; j < ELEMENTS; ++j) {
    in[j] = value + j;
  }
  DLTensor host = {.data = in,
                   .device = {.device_type = kDLCPU},
                   .ndim = 1,
                   .dtype = {.code = kDLInt, .bits = 32, .lanes = 1},
                   .shape = t->shape};
  DLTensor block = host, out = host;
  block.data = (void *)(uintptr_t)t->blocks[i];
  block.device.device_type = kDLVulkan;
  out.data = t->out[i];
  assert_ok(t->f->api->memory->copy(t->streams[i], &host, &block, &err));
  assert_ok(t->f->api->memory->copy(t->streams[i], &block, &out, &err));
  return t->f->api->stream->flush(t->streams[i], NULL);
}

static void check(bench *t, int i, int32_t value) {
  assert_ok(t->f->api->stream->synchronize(t->streams[i], &err));
  assert_int_equal(t->out[i][0], value);
  assert_int_equal(t->out[i][ELEMENTS - 1], value + ELEMENTS - 1);
}

/* For those that follow. */
static bench *visited;

/* Nobody waits for this list. */
static void put_meanwhile(void) {
  assert_int_equal(put(visited, 1, 20), LEAT_OK);
}

static void put_behind(void) {
  assert_int_equal(put(visited, 3, 88), LEAT_OK);
}

static void leave_meanwhile(void) {
  leave(visited->lane);
}

static void without_spinners_each_list_goes_at_once(void **state) {
  bench t;
  open_bench(state, &t);
  t.f->device->vk.GetSemaphoreCounterValue = nothing_has_run;
  for (int i = 0; i < STREAMS; ++i) {
    assert_int_equal(put(&t, i, i * 10), LEAT_OK);
  }
  assert_int_equal(submits, STREAMS);
  t.f->device->vk.GetSemaphoreCounterValue = driver.GetSemaphoreCounterValue;
  for (int i = 0; i < STREAMS; ++i) {
    check(&t, i, i * 10);
  }
  close_bench(&t);
}

/* Looks once at the lane like a thread that spins. */
static void look(bench *t) {
  uint32_t passed = 0;
  leati_lane_watch(t->lane, &passed);
}

static void lists_gather_while_two_groups_are_in_flight(void **state) {
  bench t;
  open_bench(state, &t);
  t.f->device->vk.GetSemaphoreCounterValue = nothing_has_run;
  attend(t.lane);
  for (int i = 0; i < STREAMS; ++i) {
    assert_int_equal(put(&t, i, i * 100), LEAT_OK);
  }
  assert_int_equal(submits, 2);
  leati_lane_help(t.lane);
  look(&t);
  assert_int_equal(submits, 2);
  /* The one who spins sees a group end: the rest goes together. */
  t.f->device->vk.GetSemaphoreCounterValue = driver.GetSemaphoreCounterValue;
  const uint64_t begin = leati_now_ns();
  while (submits == 2 && leati_now_ns() - begin < PATIENCE_NS) {
    leati_lane_help(t.lane);
  }
  assert_int_equal(submits, 3);
  assert_int_equal(batches_seen, 1);
  leave(t.lane);
  for (int i = 0; i < STREAMS; ++i) {
    check(&t, i, i * 100);
  }
  assert_int_equal(submits, 3);
  close_bench(&t);
}

/* Where batches take long, as far as the lane knows. */
static void lists_gather_while_one_long_group_is_in_flight(void **state) {
  bench t;
  open_bench(state, &t);
  t.f->device->vk.GetSemaphoreCounterValue = nothing_has_run;
  atomic_store_explicit(&t.lane->batching.in_flight, 1, memory_order_relaxed);
  attend(t.lane);
  for (int i = 0; i < 3; ++i) {
    assert_int_equal(put(&t, i, i * 100), LEAT_OK);
    leati_lane_help(t.lane);
    look(&t);
    assert_int_equal(submits, 1);
  }
  /* What goes on with work in flight goes at once, and takes the others along. */
  assert_int_equal(put(&t, 0, 1), LEAT_OK);
  assert_int_equal(submits, 2);
  assert_int_equal(batches_seen, 1);
  /* It was the only one of its kind. */
  assert_int_equal(put(&t, 3, 300), LEAT_OK);
  assert_int_equal(submits, 2);
  leave(t.lane);
  assert_int_equal(submits, 3);
  t.f->device->vk.GetSemaphoreCounterValue = driver.GetSemaphoreCounterValue;
  for (int i = 0; i < STREAMS; ++i) {
    check(&t, i, i == 0 ? 1 : i * 100);
  }
  close_bench(&t);
}

/* Hands a list over without submitting it. */
static void hand_over(bench *t, int i, int32_t value) {
  assert_true(leati_role_try(&t->lane->leader));
  assert_int_equal(put(t, i, value), LEAT_OK);
  leati_role_leave(&t->lane->leader);
}

/* Two lists in one batch, which ends `ns` after the clock's zero, as far as the lane knows. */
static void run_together(bench *t, uint64_t ns) {
  const unsigned before = submits;
  hand_over(t, 0, 1);
  hand_over(t, 1, 2);
  leati_lane_help(t->lane);
  assert_int_equal(submits, before + 1);
  check(t, 0, 1);
  check(t, 1, 2);
  /* Who finds his list done need not have looked at the lane. */
  attend(t->lane);
  leave(t->lane);
  atomic_store_explicit(&t->lane->batching.ended_ns, ns, memory_order_relaxed);
}

static void those_who_ran_together_are_waited_for(void **state) {
  enum { THE_OTHER_COMES, IT_DOES_NOT_COME_IN_TIME, SOMEBODY_IS_IN_HASTE, IT_GOES_ON, THE_LAST_ONE_GOES, WAYS };
  bench t;
  open_bench(state, &t);
  for (int how = 0; how < WAYS; ++how) {
    /* Not over before this test is. */
    run_together(&t, leati_now_ns() + UINT64_C(1000000000000));
    const unsigned before = submits;
    attend(t.lane);
    hand_over(&t, 0, 10 + how);
    for (int i = 0; i < 100; ++i) {
      look(&t);
    }
    /* Another one comes and goes. */
    attend(t.lane);
    leave(t.lane);
    assert_int_equal(submits, before);
    if (how == THE_OTHER_COMES) {
      hand_over(&t, 1, 20);
      look(&t);
    } else if (how == IT_DOES_NOT_COME_IN_TIME) {
      atomic_store_explicit(&t.lane->batching.ended_ns, 0, memory_order_relaxed);
      look(&t);
    } else if (how == SOMEBODY_IS_IN_HASTE) {
      leati_lane_help(t.lane);
    } else if (how == IT_GOES_ON) {
      /* With what its stream has in flight. */
      atomic_store_explicit(&t.lane->continues, true, memory_order_relaxed);
      look(&t);
    } else {
      leave(t.lane);
    }
    assert_int_equal(submits, before + 1);
    check(&t, 0, 10 + how);
    check(&t, 1, how == THE_OTHER_COMES ? 20 : 2);
    if (how != THE_LAST_ONE_GOES) {
      leave(t.lane);
    }
  }
  close_bench(&t);
}

static uint64_t sent_at(const bench *t, uint64_t batch) {
  return atomic_load_explicit(&t->lane->batching.sent_ns[batch % LEATI_BATCHES_REMEMBERED], memory_order_relaxed);
}

static void the_batching_policy_hears_of_each_batch(void **state) {
  bench t;
  open_bench(state, &t);
  leati_batching *const batching = &t.lane->batching;
  atomic_store_explicit(&batching->wrote_ns, 0, memory_order_relaxed);
  const uint64_t begin = leati_now_ns();
  hand_over(&t, 0, 1);
  hand_over(&t, 1, 2);
  leati_lane_help(t.lane);
  const uint64_t end = leati_now_ns();
  const uint64_t batch = atomic_load_explicit(&t.lane->semaphore.submitted, memory_order_relaxed);
  assert_int_equal(leati_batching_lists(batching, batch) - leati_batching_lists(batching, batch - 1), 2);
  assert_in_range(sent_at(&t, batch), begin, end);
  assert_in_range(atomic_load_explicit(&batching->wrote_ns, memory_order_relaxed), 1, end - begin);
  /* Who watches tells it of the end. */
  assert_false(leati_batching_knows(batching, batch));
  while (!leati_semaphore_has(&t.lane->semaphore, batch)) {
    assert_ok(leati_semaphore_poll(t.f->device, &t.lane->semaphore, &err));
  }
  look(&t);
  assert_true(leati_batching_knows(batching, batch));
  check(&t, 0, 1);
  check(&t, 1, 2);
  /* And if nobody watched, who comes with the next list does, before it counts. */
  assert_int_equal(put(&t, 0, 3), LEAT_OK);
  while (!leati_semaphore_has(&t.lane->semaphore, batch + 1)) {
    assert_ok(leati_semaphore_poll(t.f->device, &t.lane->semaphore, &err));
  }
  assert_false(leati_batching_knows(batching, batch + 1));
  const uint32_t lists = atomic_load_explicit(&t.lane->lists, memory_order_relaxed);
  assert_int_equal(put(&t, 1, 4), LEAT_OK);
  assert_true(leati_batching_knows(batching, batch + 1));
  assert_int_equal(atomic_load_explicit(&batching->ended_lists, memory_order_relaxed), lists);
  check(&t, 0, 3);
  check(&t, 1, 4);
  close_bench(&t);
}

/* Looks that another thread needs before it submits what is queued. */
static void *count_looks(void *context) {
  bench *const t = context;
  const unsigned before = submits;
  uint32_t passed = 0;
  uintptr_t looks = 0;
  while (submits == before) {
    leati_lane_watch(t->lane, &passed);
    ++looks;
  }
  return (void *)looks; /* NOLINT(performance-no-int-to-ptr) */
}

static uintptr_t looks_of_another(bench *t) {
  pthread_t thread;
  void *looks;
  assert_int_equal(pthread_create(&thread, NULL, count_looks, t), 0);
  assert_int_equal(pthread_join(thread, &looks), 0);
  return (uintptr_t)looks;
}

static void who_led_last_goes_first_if_it_is_there(void **state) {
  bench t;
  open_bench(state, &t);
  assert_int_equal(put(&t, 0, 1), LEAT_OK);
  check(&t, 0, 1);
  /* This thread, which led last, attends: the other one leaves it some looks, and then leads. */
  attend(t.lane);
  attend(t.lane);
  look(&t);
  hand_over(&t, 0, 2);
  const unsigned first = submits;
  look(&t);
  assert_int_equal(submits, first + 1);
  check(&t, 0, 2);
  hand_over(&t, 0, 2);
  assert_true(looks_of_another(&t) > 1);
  check(&t, 0, 2);
  hand_over(&t, 0, 3);
  const unsigned before = submits;
  uint32_t passed = 0;
  leati_lane_watch(t.lane, &passed);
  assert_int_equal(submits, before);
  leati_lane_help(t.lane);
  assert_int_equal(submits, before + 1);
  check(&t, 0, 3);
  leave(t.lane);
  /* This one led last, but the other is the only one there. */
  hand_over(&t, 0, 4);
  assert_int_equal(looks_of_another(&t), 1);
  check(&t, 0, 4);
  leave(t.lane);
  close_bench(&t);
}

static void what_comes_while_a_list_is_submitted_needs_no_second_look(void **state) {
  bench t;
  open_bench(state, &t);
  /* The other attendant sleeps until its list has run. */
  attend(t.lane);
  attend(t.lane);
  hand_over(&t, 0, 10);
  visited = &t;
  meanwhile = put_meanwhile;
  const unsigned before = submits;
  const uint64_t begin = leati_now_ns();
  uint32_t passed = 0;
  while (submits == before && leati_now_ns() - begin < PATIENCE_NS) {
    leati_lane_watch(t.lane, &passed);
  }
  leave(t.lane);
  assert_int_equal(submits, before + 2);
  check(&t, 0, 10);
  check(&t, 1, 20);
  leave(t.lane);
  close_bench(&t);
}

static void who_asks_for_an_event_helps_the_lane_along(void **state) {
  bench t;
  leat_event *event;
  open_bench(state, &t);
  t.f->device->vk.GetSemaphoreCounterValue = nothing_has_run;
  attend(t.lane);
  for (int i = 0; i < STREAMS; ++i) {
    assert_int_equal(put(&t, i, i * 7), LEAT_OK);
  }
  assert_int_equal(submits, 2);
  assert_ok(t.f->api->event->create(t.f->device, 0, &event, &err));
  assert_ok(t.f->api->event->record(event, t.streams[STREAMS - 1], &err));
  t.f->device->vk.GetSemaphoreCounterValue = driver.GetSemaphoreCounterValue;
  /* Nobody else does: the attendant may sleep. */
  const uint64_t begin = leati_now_ns();
  while (t.f->api->event->query(event, NULL) == LEAT_ERROR_NOT_READY && leati_now_ns() - begin < PATIENCE_NS) {
  }
  assert_ok(t.f->api->event->query(event, &err));
  assert_int_equal(submits, 3);
  assert_ok(t.f->api->event->destroy(event, &err));
  leave(t.lane);
  for (int i = 0; i < STREAMS; ++i) {
    check(&t, i, i * 7);
  }
  close_bench(&t);
}

static void the_last_spinner_leaves_nothing_behind(void **state) {
  bench t;
  open_bench(state, &t);
  t.f->device->vk.GetSemaphoreCounterValue = nothing_has_run;
  attend(t.lane);
  attend(t.lane);
  for (int i = 0; i < STREAMS; ++i) {
    assert_int_equal(put(&t, i, i), LEAT_OK);
  }
  leave(t.lane);
  assert_int_equal(submits, 2);
  leave(t.lane);
  assert_int_equal(submits, 3);
  t.f->device->vk.GetSemaphoreCounterValue = driver.GetSemaphoreCounterValue;
  for (int i = 0; i < STREAMS; ++i) {
    check(&t, i, i);
  }
  close_bench(&t);
}

static void the_last_one_leaves_nothing_behind_while_somebody_looks(void **state) {
  bench t;
  open_bench(state, &t);
  t.f->device->vk.GetSemaphoreCounterValue = nothing_has_run;
  attend(t.lane);
  for (int i = 0; i < 3; ++i) {
    assert_int_equal(put(&t, i, i), LEAT_OK);
  }
  assert_int_equal(submits, 2);
  /* It sees an attendant, and then that the queue is full; in between the attendant goes, and does not get the role. */
  visited = &t;
  meanwhile = leave_meanwhile;
  leati_lane_help(t.lane);
  assert_null(meanwhile);
  assert_int_equal(submits, 3);
  t.f->device->vk.GetSemaphoreCounterValue = driver.GetSemaphoreCounterValue;
  for (int i = 0; i < 3; ++i) {
    check(&t, i, i);
  }
  close_bench(&t);
}

/* All that the lane was given has run, but the driver tells of what had run before `batches` of it. */
static void hide_the_last(bench *t, uint64_t batches) {
  const uint64_t submitted = atomic_load_explicit(&t->lane->semaphore.submitted, memory_order_relaxed);
  const VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                    .semaphoreCount = 1,
                                    .pSemaphores = &t->lane->semaphore.handle,
                                    .pValues = &submitted};
  assert_int_equal(driver.WaitSemaphores(driver.handle, &info, UINT64_MAX), VK_SUCCESS);
  told = submitted - batches;
  t->f->device->vk.GetSemaphoreCounterValue = tell;
}

static void show_all(bench *t) {
  t->f->device->vk.GetSemaphoreCounterValue = driver.GetSemaphoreCounterValue;
}

/* Two batches in flight, as far as anybody knows. */
static void fill_lane(bench *t) {
  t->f->device->vk.GetSemaphoreCounterValue = nothing_has_run;
  for (int i = 0; i < 2; ++i) {
    assert_int_equal(put(t, i, i + 1), LEAT_OK);
  }
  hide_the_last(t, 2);
}

/* A thread wakes because a batch has ended, and cannot lead. */
static void wake_meanwhile(void) {
  ++told;
  visited->f->device->vk.GetSemaphoreCounterValue = tell;
  leati_lane_help(visited->lane);
}

static void a_leader_that_is_told_of_room_looks_again(void **state) {
  bench t;
  open_bench(state, &t);
  fill_lane(&t);
  attend(t.lane);
  /* As far as the leader knows its look came before that. */
  t.f->device->vk.GetSemaphoreCounterValue = nothing_has_run;
  visited = &t;
  meanwhile = wake_meanwhile;
  assert_int_equal(put(&t, 2, 3), LEAT_OK);
  assert_null(meanwhile);
  assert_int_equal(submits, 3);
  leave(t.lane);
  show_all(&t);
  for (int i = 0; i < 3; ++i) {
    check(&t, i, i + 1);
  }
  close_bench(&t);
}

/* Who learns it at its last look, or when it leaves. */
static void who_learns_that_there_is_room_and_leaves_uses_it(void **state) {
  for (int looks_first = 0; looks_first < 2; ++looks_first) {
    bench t;
    open_bench(state, &t);
    fill_lane(&t);
    atomic_store_explicit(&t.lane->batching.in_flight, 1, memory_order_relaxed);
    attend(t.lane);
    attend(t.lane);
    assert_int_equal(put(&t, 2, 3), LEAT_OK);
    assert_int_equal(submits, 2);
    /* The first batch has ended, sooner than it was written, so there should be two again. The other attendant may
     * sleep. */
    atomic_store_explicit(&t.lane->batching.wrote_ns, UINT64_C(1000000000000), memory_order_relaxed);
    ++told;
    assert_ok(leati_semaphore_poll(t.f->device, &t.lane->semaphore, &err));
    if (looks_first != 0) {
      /* Lists ran in that batch, and are expected back. */
      look(&t);
    }
    leave(t.lane);
    assert_int_equal(atomic_load_explicit(&t.lane->batching.in_flight, memory_order_relaxed), 2);
    assert_int_equal(submits, 3);
    atomic_store_explicit(&t.lane->batching.wrote_ns, 0, memory_order_relaxed);
    leave(t.lane);
    show_all(&t);
    for (int i = 0; i < 3; ++i) {
      check(&t, i, i + 1);
    }
    close_bench(&t);
  }
}

/* Looks at the timeline semaphore so far, and the one at which another thread hands a list over and then a batch ends.
 */
static unsigned looks, place;
/* Waits in the driver for what had not come, while a list was queued for which there was room. */
static unsigned overlooked;

static VkResult tell_and_hand_over(VkDevice device, VkSemaphore semaphore, uint64_t *out_value) {
  if (++looks == place) {
    assert_int_equal(put(visited, 2, 3), LEAT_OK);
    ++told;
  }
  return tell(device, semaphore, out_value);
}

static VkResult wait_for_everything(VkDevice device, const VkSemaphoreWaitInfo *info, uint64_t timeout_ns) {
  if (*info->pValues <= told) {
    return VK_SUCCESS;
  }
  if (atomic_load_explicit(&visited->lane->queued, memory_order_relaxed) != NULL &&
      told >= leati_lane_room(visited->lane)) {
    ++overlooked;
  }
  show_all(visited);
  return driver.WaitSemaphores(device, info, timeout_ns);
}

/* The list comes and the batch ends at each of the places where the thread that is going to block looks at the timeline
 * semaphore.
 */
static void who_blocks_leaves_no_list_behind_for_which_there_is_room(void **state) {
  looks = place = 1;
  for (; looks >= place; ++place) {
    bench t;
    open_bench(state, &t);
    leat_device *const device = t.f->device;
    const int64_t spin_ns = device->spin_ns;
    fill_lane(&t);
    visited = &t;
    looks = overlooked = 0;
    device->spin_ns = 0;
    device->vk.GetSemaphoreCounterValue = tell_and_hand_over;
    device->vk.WaitSemaphores = wait_for_everything;
    check(&t, 1, 2);
    device->spin_ns = spin_ns;
    device->vk.WaitSemaphores = driver.WaitSemaphores;
    show_all(&t);
    assert_int_equal(overlooked, 0);
    if (looks >= place) {
      check(&t, 2, 3);
    }
    check(&t, 0, 1);
    close_bench(&t);
  }
  /* Those before it attends, while it spins and before it blocks. */
  assert_true(place > 3);
}

/* Each list that is submitted is followed by another one, until a thread has come that takes over: with a list of its
 * own, or because it spins and finds one. */
static pthread_t successor;
static bool has_successor, relieved;
static unsigned followers;
static _Thread_local bool is_successor;
static atomic_bool went_on; /* the thread that led for long */

static void *take_over(void *unused) {
  (void)unused;
  is_successor = true;
  assert_int_equal(put(visited, 0, 7), LEAT_OK);
  return NULL;
}

static void *watch_until_it_leads(void *unused) {
  uint32_t passed = 0;
  (void)unused;
  is_successor = true;
  while (!atomic_load(&went_on) || atomic_load_explicit(&visited->lane->queued, memory_order_relaxed) != NULL) {
    leati_lane_watch(visited->lane, &passed);
    (void)leati_semaphore_poll(visited->f->device, &visited->lane->semaphore, NULL);
  }
  return NULL;
}

static void *(*succeed)(void *);

/* The lane has room as long as nothing is in flight. */
static void let_all_run(bench *t) {
  hide_the_last(t, 0);
  assert_ok(leati_semaphore_poll(t->f->device, &t->lane->semaphore, &err));
  show_all(t);
}

/* Whether a thread sleeps behind the one that leads. */
static bool has_follower(const leati_lane *lane) {
  return (atomic_load_explicit(&lane->leader.holder, memory_order_relaxed) & FUTEX_WAITERS) != 0;
}

static VkResult submit_and_hand_over(VkQueue queue, uint32_t count, const VkSubmitInfo *batches, VkFence fence) {
  if (!is_successor && !has_successor) {
    leati_lane *const lane = visited->lane;
    has_successor = atomic_load_explicit(&lane->relief, memory_order_relaxed);
    let_all_run(visited);
    assert_int_equal(put(visited, 1 + (int)(++followers % (STREAMS - 1)), 7), LEAT_OK);
    if (has_successor) {
      /* It is not this thread, with its second list, that is to take over. */
      atomic_store_explicit(&lane->relief, true, memory_order_relaxed);
      const uint64_t begin = leati_now_ns();
      assert_int_equal(pthread_create(&successor, NULL, succeed, NULL), 0);
      while (!has_follower(lane) && leati_now_ns() - begin < PATIENCE_NS) {
        leati_yield();
      }
      relieved = has_follower(lane);
    }
  }
  return driver.QueueSubmit(queue, count, batches, fence);
}

static void who_leads_for_long_is_relieved(void **state) {
  static void *(*const ways[])(void *) = {take_over, watch_until_it_leads};
  for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); ++i) {
    bench t;
    open_bench(state, &t);
    visited = &t;
    succeed = ways[i];
    has_successor = false;
    atomic_store(&went_on, false);
    /* The one who spins, and another one that sleeps. */
    attend(t.lane);
    attend(t.lane);
    t.f->device->vk.QueueSubmit = submit_and_hand_over;
    assert_int_equal(put(&t, 0, 7), LEAT_OK);
    atomic_store(&went_on, true);
    assert_true(has_successor);
    assert_int_equal(pthread_join(successor, NULL), 0);
    assert_true(relieved);
    t.f->device->vk.QueueSubmit = count_submits;
    leave(t.lane);
    leave(t.lane);
    /* All that came while the other one waited went with it. */
    assert_null(atomic_load_explicit(&t.lane->queued, memory_order_relaxed));
    for (int j = 0; j < STREAMS; ++j) {
      check(&t, j, 7);
    }
    close_bench(&t);
  }
}

static void what_a_stream_waits_for_is_submitted_first(void **state) {
  bench t;
  leat_event *event;
  open_bench(state, &t);
  assert_ok(t.f->api->event->create(t.f->device, 0, &event, &err));
  t.f->device->vk.GetSemaphoreCounterValue = nothing_has_run;
  attend(t.lane);
  for (int i = 0; i < 3; ++i) {
    assert_int_equal(put(&t, i, i), LEAT_OK);
  }
  assert_ok(t.f->api->event->record(event, t.streams[2], &err));
  assert_int_equal(submits, 2);
  assert_ok(t.f->api->stream->wait_event(t.streams[3], event, &err));
  assert_int_equal(submits, 3);
  t.f->device->vk.GetSemaphoreCounterValue = driver.GetSemaphoreCounterValue;
  leave(t.lane);
  assert_int_equal(put(&t, 3, 33), LEAT_OK);
  check(&t, 3, 33);
  assert_int_equal(t.out[2][0], 2);
  assert_ok(t.f->api->event->destroy(event, &err));
  close_bench(&t);
}

static void a_refused_group_fails_all_its_streams_and_no_other(void **state) {
  bench t;
  open_bench(state, &t);
  t.f->device->vk.GetSemaphoreCounterValue = nothing_has_run;
  attend(t.lane);
  for (int i = 0; i < STREAMS; ++i) {
    assert_int_equal(put(&t, i, i + 1), LEAT_OK);
  }
  /* Streams 2 and 3 wait for others; one of them has a second list. */
  assert_int_equal(put(&t, 3, 77), LEAT_OK);
  /* And this one comes before stream 3 has failed, to a group of its own. */
  visited = &t;
  meanwhile = put_behind;
  refusal = VK_ERROR_OUT_OF_DEVICE_MEMORY;
  leave(t.lane);
  refusal = VK_SUCCESS;
  assert_null(atomic_load_explicit(&t.lane->queued, memory_order_relaxed));
  t.f->device->vk.GetSemaphoreCounterValue = driver.GetSemaphoreCounterValue;
  check(&t, 0, 1);
  check(&t, 1, 2);
  leat_error said = {.struct_size = sizeof(said)};
  for (int i = 2; i < 4; ++i) {
    assert_int_equal(t.f->api->stream->synchronize(t.streams[i], &said), LEAT_ERROR_OUT_OF_MEMORY);
    assert_non_null(strstr(said.message, "vkQueueSubmit"));
    assert_int_equal(t.out[i][0], 0);
    assert_ok(t.f->api->stream->clear_error(t.streams[i], &err));
    assert_int_equal(put(&t, i, 5), LEAT_OK);
    check(&t, i, 5);
  }
  close_bench(&t);
}

static void what_has_run_is_not_looked_for_in_what_came_later(void **state) {
  bench t;
  leati_point point = {.value = 0};
  open_bench(state, &t);
  assert_int_equal(put(&t, 0, 1), LEAT_OK);
  leati_timeline *const timeline = t.streams[0]->timeline;
  const uint64_t value = leati_timeline_last(timeline);
  check(&t, 0, 1);
  t.f->device->vk.GetSemaphoreCounterValue = nothing_has_run;
  assert_int_equal(put(&t, 0, 2), LEAT_OK);
  assert_true(leati_timeline_locate(timeline, value + 1, &point));
  assert_true(point.value != 0);
  assert_false(leati_timeline_locate(timeline, value, &point));
  t.f->device->vk.GetSemaphoreCounterValue = driver.GetSemaphoreCounterValue;
  check(&t, 0, 2);
  close_bench(&t);
}

static void a_refused_flush_says_so_at_once(void **state) {
  bench t;
  open_bench(state, &t);
  refusal = VK_ERROR_OUT_OF_HOST_MEMORY;
  assert_int_equal(put(&t, 0, 9), LEAT_ERROR_OUT_OF_MEMORY);
  refusal = VK_SUCCESS;
  assert_int_equal(t.f->api->stream->error(t.streams[0], NULL), LEAT_ERROR_OUT_OF_MEMORY);
  assert_int_equal(put(&t, 1, 9), LEAT_OK);
  check(&t, 1, 9);
  close_bench(&t);
}

int main(void) {
  /* All streams on one lane, whatever the device has. */
  (void)setenv("LEAT_LANES", "1", 1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_spinners_each_list_goes_at_once),
      cmocka_unit_test(lists_gather_while_two_groups_are_in_flight),
      cmocka_unit_test(lists_gather_while_one_long_group_is_in_flight),
      cmocka_unit_test(those_who_ran_together_are_waited_for),
      cmocka_unit_test(the_batching_policy_hears_of_each_batch),
      cmocka_unit_test(who_led_last_goes_first_if_it_is_there),
      cmocka_unit_test(what_comes_while_a_list_is_submitted_needs_no_second_look),
      cmocka_unit_test(who_asks_for_an_event_helps_the_lane_along),
      cmocka_unit_test(the_last_spinner_leaves_nothing_behind),
      cmocka_unit_test(the_last_one_leaves_nothing_behind_while_somebody_looks),
      cmocka_unit_test(a_leader_that_is_told_of_room_looks_again),
      cmocka_unit_test(who_learns_that_there_is_room_and_leaves_uses_it),
      cmocka_unit_test(who_blocks_leaves_no_list_behind_for_which_there_is_room),
      cmocka_unit_test(who_leads_for_long_is_relieved),
      cmocka_unit_test(what_a_stream_waits_for_is_submitted_first),
      cmocka_unit_test(what_has_run_is_not_looked_for_in_what_came_later),
      cmocka_unit_test(a_refused_group_fails_all_its_streams_and_no_other),
      cmocka_unit_test(a_refused_flush_says_so_at_once),
  };
  return cmocka_run_group_tests_name("lane", tests, fixture_open, fixture_close);
}
