/* SPDX-License-Identifier: BSD-3-Clause */
/* Order on the null driver: of streams that change lane with work in flight, of chains that hop over streams by events,
 * of lists that gather behind a leader who is stuck in the driver, and of the whole device's end while others run; each
 * also with the device lost in the middle. What is out of order shows in the contents. Also, which lanes are used. */
#include "unit_fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "device/device.h"
#include "nulldriver/test_host.h"
#include "streams/stream_state.h"
#include "submit/lane.h"

enum { COUNT = 256, STEPS = 8, CHAINS = 12, STREAMS = 16, QUEUES = 8 };

static host h;
static int64_t count = COUNT;

/* Opens a device of so many queues; `lanes` is LEAT_LANES or NULL. */
static void open_device(uint32_t queues, const char *lanes) {
  const leat_host_info info = {.struct_size = sizeof(info), .abi_min = LEAT_ABI_1_0, .abi_max = LEAT_ABI_CURRENT};
  nulldriver_shape shape = nulldriver_get_shape();
  shape.queue_count = queues;
  nulldriver_set_shape(&shape);
  assert_ok(leat_backend_query(&info, &h.api, &err));
  assert_ok(h.api->configure("LEAT_LANES", lanes, &err));
  assert_ok(host_open(&h, &err));
}

static void close_device(void) {
  assert_ok(host_close(&h, &err));
}

/* ---- Chains --------------------------------------------------------------------------------------------------------
 */

/* Steps that each need the one before: an upload, a Relu, copies to and fro, a download. The two blocks hold what the
 * round before left in them, so a step that comes too early or too late takes the wrong floats along. */
typedef struct chain {
  leat_stream *stream; /* its own */
  leat_event *event;
  uint64_t blocks[2];
  uint32_t seed; /* of this round */
  float in[COUNT], out[COUNT];
} chain;

static chain chains[CHAINS];

static void open_chains(void) {
  for (int i = 0; i < CHAINS; ++i) {
    chain *const c = &chains[i];
    c->seed = (uint32_t)i << 16;
    assert_ok(h.api->stream->create(h.device, 0, &c->stream, &err));
    assert_ok(h.api->event->create(h.device, 0, &c->event, &err));
    for (int j = 0; j < 2; ++j) {
      assert_ok(h.api->memory->alloc(h.device, sizeof(c->in), NULL, &c->blocks[j], &err));
    }
  }
}

static void close_chains(void) {
  for (int i = 0; i < CHAINS; ++i) {
    for (int j = 0; j < 2; ++j) {
      assert_ok(h.api->memory->free(h.device, chains[i].blocks[j], &err));
    }
    assert_ok(h.api->event->destroy(chains[i].event, &err));
    assert_ok(h.api->stream->destroy(chains[i].stream, &err));
  }
}

/* Puts a step into a stream. */
static int32_t put_step(chain *c, int step, leat_stream *stream) {
  const DLTensor in = host_tensor(c->in, &count), out = host_tensor(c->out, &count);
  const DLTensor blocks[2] = {device_tensor(c->blocks[0], &count), device_tensor(c->blocks[1], &count)};
  switch (step) {
    case 0:
      ++c->seed;
      host_fill(c->in, COUNT, (host_content){.seed = c->seed});
      memset(c->out, 0xff, sizeof(c->out));
      return h.api->memory->copy(stream, &in, &blocks[0], NULL);
    case 1: {
      const DLTensor *const from[1] = {&blocks[0]}, *const to[1] = {&blocks[1]};
      return h.api->op->invoke(h.relu, stream, 1, from, 1, to, NULL);
    }
    case STEPS - 1:
      return h.api->memory->copy(stream, &blocks[step % 2 == 0 ? 1 : 0], &out, NULL);
    default:
      return h.api->memory->copy(stream, &blocks[step % 2 == 0 ? 1 : 0], &blocks[step % 2], NULL);
  }
}

/* Whether the round's download is right. */
static bool is_right(const chain *c) {
  return host_compare(c->out, COUNT, (host_content){.seed = c->seed, .rectified = true}) == -1;
}

/* A round on the chain's own stream, every step in a list of its own. Stops at the first failure. */
static int32_t run_round(chain *c) {
  int32_t status = LEAT_OK;
  for (int step = 0; step < STEPS && status == LEAT_OK; ++step) {
    status = put_step(c, step, c->stream);
    status = status == LEAT_OK ? h.api->stream->flush(c->stream, NULL) : status;
  }
  return status == LEAT_OK ? h.api->stream->synchronize(c->stream, NULL) : status;
}

/* A thread that does rounds until it has done them all, or one fails or is wrong. */
typedef struct worker {
  pthread_t thread;
  chain *chain;
  int rounds;
  int32_t (*round)(chain *c);
  int32_t status;
  bool wrong;
} worker;

static worker workers[CHAINS];
static atomic_int running; /* workers that have not ended; relaxed, their results come by pthread_join() */

static void *work(void *argument) {
  worker *const w = argument;
  for (int i = 0; i < w->rounds && w->status == LEAT_OK && !w->wrong; ++i) {
    w->status = w->round(w->chain);
    w->wrong = w->status == LEAT_OK && !is_right(w->chain);
  }
  (void)atomic_fetch_sub_explicit(&running, 1, memory_order_relaxed);
  return NULL;
}

/* One for each chain from `first` on. */
static void start_workers(int first, int rounds, int32_t (*round)(chain *c)) {
  atomic_store_explicit(&running, CHAINS - first, memory_order_relaxed);
  for (int i = first; i < CHAINS; ++i) {
    workers[i] = (worker){.chain = &chains[i], .rounds = rounds, .round = round};
    assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
  }
}

/* All of them end with this status, and without wrong contents. */
static void join_workers(int first, int32_t expected) {
  for (int i = first; i < CHAINS; ++i) {
    assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
  }
  for (int i = first; i < CHAINS; ++i) {
    assert_false(workers[i].wrong);
    assert_int_equal(workers[i].status, expected);
  }
}

/* ---- Streams that change lane --------------------------------------------------------------------------------------
 */

static uint32_t lane_of(leat_stream *stream) {
  leat_stream_info info = {.struct_size = sizeof(info)};
  assert_ok(h.api->stream->info(stream, &info, &err));
  return info.lane;
}

/* The chains take turns, one step at a time, on their own streams. Counts the lists that went to another lane while
 * the stream's last one had not run. */
static uint32_t take_turns(int rounds) {
  uint32_t moves = 0;
  for (int round = 0; round < rounds; ++round) {
    for (int step = 0; step < STEPS; ++step) {
      for (int i = 0; i < CHAINS; ++i) {
        leat_stream *const stream = chains[i].stream;
        const uint32_t lane = lane_of(stream);
        const bool busy = h.api->stream->query(stream, NULL) == LEAT_ERROR_NOT_READY;
        assert_int_equal(put_step(&chains[i], step, stream), LEAT_OK);
        /* Some streams have more to do than others. */
        assert_ok((i + step) % 3 != 0 || step == STEPS - 1 ? h.api->stream->flush(stream, &err) : LEAT_OK);
        moves += busy && lane_of(stream) != lane ? 1 : 0;
      }
    }
    for (int i = 0; i < CHAINS; ++i) {
      assert_ok(h.api->stream->synchronize(chains[i].stream, &err));
      assert_true(is_right(&chains[i]));
    }
  }
  return moves;
}

static void streams_that_change_lane_keep_their_order(void **state) {
  (void)state;
  uint32_t moves = 0;
  for (int fixed = 0; fixed < 2; ++fixed) {
    open_device(QUEUES, fixed != 0 ? "8" : NULL);
    open_chains();
    for (uint64_t seed = 1; seed <= 6; ++seed) {
      nulldriver_set_mode(seed % 2 == 0 ? NULLDRIVER_LATE : NULLDRIVER_SHUFFLED, seed);
      const uint32_t found = take_turns(10);
      moves += fixed != 0 ? found : 0;
    }
    nulldriver_set_mode(NULLDRIVER_THREADED, 3);
    start_workers(0, 30, run_round);
    join_workers(0, LEAT_OK);
    close_chains();
    close_device();
  }
  assert_true(moves > 0);
}

static void a_device_may_be_lost_while_streams_change_lane(void **state) {
  (void)state;
  for (uint64_t n = 1; n < 400; n += 133) {
    open_device(QUEUES, n % 2 == 0 ? "8" : NULL);
    open_chains();
    nulldriver_set_mode(NULLDRIVER_THREADED, 3);
    assert_true(nulldriver_fail("vkQueueSubmit", n, VK_ERROR_DEVICE_LOST));
    start_workers(0, 100000, run_round);
    join_workers(0, LEAT_ERROR_DEVICE_LOST);
    close_chains();
    close_device();
  }
}

/* ---- Chains that hop -----------------------------------------------------------------------------------------------
 */

static leat_stream *streams[STREAMS];

static void open_streams(void) {
  for (int i = 0; i < STREAMS; ++i) {
    assert_ok(h.api->stream->create(h.device, 0, &streams[i], &err));
  }
}

static void close_streams(void) {
  for (int i = 0; i < STREAMS; ++i) {
    assert_ok(h.api->stream->destroy(streams[i], &err));
  }
}

/* One step on the next stream, behind the chain's event. */
static int32_t hop(chain *c, int step) {
  leat_stream *const stream = streams[(c->seed * 5 + (uint32_t)step * 7) % STREAMS];
  int32_t status = h.api->stream->wait_event(stream, c->event, NULL);
  status = status == LEAT_OK ? put_step(c, step, stream) : status;
  return status == LEAT_OK ? h.api->event->record(c->event, stream, NULL) : status;
}

static int32_t run_hopping_round(chain *c) {
  int32_t status = LEAT_OK;
  for (int step = 0; step < STEPS && status == LEAT_OK; ++step) {
    status = hop(c, step);
  }
  return status == LEAT_OK ? h.api->event->wait(c->event, -1, NULL) : status;
}

static void hop_in_turns(int rounds) {
  for (int round = 0; round < rounds; ++round) {
    for (int step = 0; step < STEPS; ++step) {
      for (int i = 0; i < CHAINS; ++i) {
        assert_int_equal(hop(&chains[i], step), LEAT_OK);
      }
    }
    for (int i = 0; i < CHAINS; ++i) {
      assert_ok(h.api->event->wait(chains[i].event, -1, &err));
      assert_true(is_right(&chains[i]));
    }
  }
}

static void chains_that_hop_over_streams_keep_their_order(void **state) {
  (void)state;
  for (int fixed = 0; fixed < 2; ++fixed) {
    open_device(QUEUES, fixed != 0 ? "8" : NULL);
    open_chains();
    open_streams();
    for (uint64_t seed = 1; seed <= 8; ++seed) {
      nulldriver_set_mode(seed % 2 == 0 ? NULLDRIVER_LATE : NULLDRIVER_SHUFFLED, seed);
      hop_in_turns(5);
    }
    nulldriver_set_mode(NULLDRIVER_THREADED, 3);
    start_workers(0, 20, run_hopping_round);
    join_workers(0, LEAT_OK);
    close_streams();
    close_chains();
    close_device();
  }
}

static void a_device_may_be_lost_while_chains_hop(void **state) {
  (void)state;
  for (uint64_t n = 1; n < 400; n += 133) {
    open_device(QUEUES, n % 2 == 0 ? "8" : NULL);
    open_chains();
    open_streams();
    nulldriver_set_mode(NULLDRIVER_THREADED, 3);
    assert_true(nulldriver_fail("vkQueueSubmit", n, VK_ERROR_DEVICE_LOST));
    start_workers(0, 100000, run_hopping_round);
    join_workers(0, LEAT_ERROR_DEVICE_LOST);
    close_streams();
    close_chains();
    close_device();
  }
}

/* ---- A leader that is stuck in the driver --------------------------------------------------------------------------
 */

/* Hands the round's lists over without waiting for them. */
static int32_t hand_over(chain *c) {
  int32_t status = LEAT_OK;
  for (int step = 0; step < STEPS && status == LEAT_OK; ++step) {
    status = put_step(c, step, c->stream);
  }
  return status == LEAT_OK ? h.api->stream->flush(c->stream, NULL) : status;
}

static void *lead(void *argument) {
  worker *const w = argument;
  w->status = hand_over(w->chain);
  return NULL;
}

/* Chain 0's thread is caught in vkQueueSubmit; the others hand their lists over meanwhile, and none of them waits. */
static void hand_over_behind_a_held_leader(void) {
  workers[0] = (worker){.chain = &chains[0]};
  assert_true(nulldriver_hold("vkQueueSubmit"));
  assert_int_equal(pthread_create(&workers[0].thread, NULL, lead, &workers[0]), 0);
  nulldriver_wait_held();
  for (int i = 1; i < CHAINS; ++i) {
    workers[i] = (worker){.chain = &chains[i]};
    assert_int_equal(pthread_create(&workers[i].thread, NULL, lead, &workers[i]), 0);
  }
  for (int i = 1; i < CHAINS; ++i) {
    assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    assert_int_equal(workers[i].status, LEAT_OK);
  }
}

static void what_gathers_behind_a_leader_goes_in_one_group(void **state) {
  (void)state;
  static const nulldriver_mode modes[] = {NULLDRIVER_EAGER, NULLDRIVER_LAZY, NULLDRIVER_THREADED};
  open_device(1, NULL);
  open_chains();
  for (int round = 0; round < 9; ++round) {
    nulldriver_set_mode(modes[round % 3], 1);
    const uint64_t submits = nulldriver_calls("vkQueueSubmit");
    hand_over_behind_a_held_leader();
    assert_int_equal(nulldriver_calls("vkQueueSubmit"), submits + 1);
    nulldriver_release();
    assert_int_equal(pthread_join(workers[0].thread, NULL), 0);
    assert_int_equal(workers[0].status, LEAT_OK);
    assert_int_equal(nulldriver_calls("vkQueueSubmit"), submits + 2);
    for (int i = 0; i < CHAINS; ++i) {
      assert_ok(h.api->stream->synchronize(chains[i].stream, &err));
      assert_true(is_right(&chains[i]));
    }
  }
  close_chains();
  close_device();
}

/* The leader's own call is refused, or the group that it takes along. */
static void what_gathers_behind_a_leader_fails_with_the_device(void **state) {
  (void)state;
  for (uint64_t n = 1; n <= 2; ++n) {
    open_device(1, NULL);
    open_chains();
    nulldriver_set_mode(NULLDRIVER_LAZY, 0);
    assert_true(nulldriver_fail("vkQueueSubmit", n, VK_ERROR_DEVICE_LOST));
    hand_over_behind_a_held_leader();
    nulldriver_release();
    assert_int_equal(pthread_join(workers[0].thread, NULL), 0);
    for (int i = 0; i < CHAINS; ++i) {
      assert_int_equal(h.api->stream->synchronize(chains[i].stream, NULL), LEAT_ERROR_DEVICE_LOST);
    }
    close_chains();
    close_device();
  }
}

/* A refusal that leaves the device alive is the sticky error of the streams in that group alone. */
static void a_refused_group_fails_its_own_streams(void **state) {
  (void)state;
  open_device(1, NULL);
  open_chains();
  assert_true(nulldriver_fail("vkQueueSubmit", 2, VK_ERROR_OUT_OF_HOST_MEMORY));
  hand_over_behind_a_held_leader();
  nulldriver_release();
  assert_int_equal(pthread_join(workers[0].thread, NULL), 0);
  assert_int_equal(workers[0].status, LEAT_OK);
  for (int i = 0; i < CHAINS; ++i) {
    assert_int_equal(h.api->stream->synchronize(chains[i].stream, NULL), i == 0 ? LEAT_OK : LEAT_ERROR_OUT_OF_MEMORY);
    assert_ok(h.api->stream->clear_error(chains[i].stream, &err));
    assert_int_equal(run_round(&chains[i]), LEAT_OK);
    assert_true(is_right(&chains[i]));
  }
  close_chains();
  close_device();
}

/* A list that waits for another queue goes to its own in a batch of its own. Without memory for the command buffer of
 * that one, the batch before it still goes. */
static void a_group_goes_in_parts_where_memory_is_short(void **state) {
  (void)state;
  chain *const elsewhere = &chains[0], *const in_two = &chains[1];
  open_device(2, "2");
  open_chains();
  leati_lane *const lane = leati_lane_of(h.device->semaphores[0]);
  /* It takes no more command buffers than it needs. */
  lane->command_buffer_count = UINT32_MAX;
  nulldriver_set_mode(NULLDRIVER_LAZY, 0);
  assert_int_equal(hand_over(in_two), LEAT_OK);
  assert_int_equal(hand_over(elsewhere), LEAT_OK);
  assert_ok(h.api->device->synchronize(h.device, &err));
  /* With the role of the leader taken, lists of the first lane gather. */
  assert_true(leati_role_try(&lane->leader));
  assert_int_equal(hand_over(elsewhere), LEAT_OK);
  assert_ok(h.api->event->record(elsewhere->event, elsewhere->stream, &err));
  for (int step = 0; step < STEPS; ++step) {
    if (step == STEPS / 2) {
      assert_ok(h.api->stream->flush(in_two->stream, &err));
      assert_ok(h.api->stream->wait_event(in_two->stream, elsewhere->event, &err));
    }
    assert_int_equal(put_step(in_two, step, in_two->stream), LEAT_OK);
  }
  assert_ok(h.api->stream->flush(in_two->stream, &err));
  assert_true(lane_of(in_two->stream) == 0 && lane_of(elsewhere->stream) == 1);
  leati_role_leave(&lane->leader);
  assert_true(nulldriver_fail("vkCreateCommandPool", 1, VK_ERROR_OUT_OF_HOST_MEMORY));
  const uint64_t submits = nulldriver_calls("vkQueueSubmit");
  leati_lane_help(lane);
  assert_int_equal(nulldriver_calls("vkQueueSubmit"), submits + 2);
  assert_ok(h.api->stream->synchronize(in_two->stream, &err));
  assert_ok(h.api->stream->synchronize(elsewhere->stream, &err));
  assert_true(is_right(in_two) && is_right(elsewhere));
  close_chains();
  close_device();
}

/* ---- The whole device ----------------------------------------------------------------------------------------------
 */

/* While the other chains run, chain 0's lists are there when the device has been synchronised. Returns what ended it:
 * LEAT_OK when no worker is left. */
static int32_t synchronise_beside_workers(void) {
  int32_t status = LEAT_OK;
  do {
    status = hand_over(&chains[0]);
    status = status == LEAT_OK ? h.api->device->synchronize(h.device, NULL) : status;
    assert_true(status != LEAT_OK || is_right(&chains[0]));
  } while (status == LEAT_OK && atomic_load_explicit(&running, memory_order_relaxed) != 0);
  return status;
}

static void the_device_is_synchronised_while_others_run(void **state) {
  (void)state;
  for (int fixed = 0; fixed < 2; ++fixed) {
    open_device(QUEUES, fixed != 0 ? "8" : NULL);
    open_chains();
    open_streams();
    nulldriver_set_mode(NULLDRIVER_THREADED, 2);
    start_workers(1, 15, fixed != 0 ? run_round : run_hopping_round);
    assert_int_equal(synchronise_beside_workers(), LEAT_OK);
    join_workers(1, LEAT_OK);
    close_streams();
    close_chains();
    close_device();
  }
}

static void a_device_may_be_lost_while_it_is_synchronised(void **state) {
  (void)state;
  for (uint64_t n = 30; n < 300; n += 90) {
    open_device(QUEUES, n % 60 == 0 ? "8" : NULL);
    open_chains();
    open_streams();
    nulldriver_set_mode(NULLDRIVER_THREADED, 2);
    assert_true(nulldriver_fail("vkQueueSubmit", n, VK_ERROR_DEVICE_LOST));
    start_workers(1, 100000, n % 60 == 0 ? run_round : run_hopping_round);
    assert_int_equal(synchronise_beside_workers(), LEAT_ERROR_DEVICE_LOST);
    join_workers(1, LEAT_ERROR_DEVICE_LOST);
    close_streams();
    close_chains();
    close_device();
  }
}

/* ---- How many lanes ------------------------------------------------------------------------------------------------
 */

static atomic_uint lanes_seen; /* bits of the lanes that lists went to; relaxed */

/* Takes so long that lists gain by lanes of their own (LEATI_LIST_LONG_S). */
static void compute_slowly(const nulldriver_dispatch *dispatch, void *user) {
  const struct timespec nap = {.tv_nsec = 400000};
  (void)nanosleep(&nap, NULL);
  host_compute(dispatch, user);
}

/* A round in one list. */
static int32_t run_in_one_list(chain *c) {
  leat_stream_info info = {.struct_size = sizeof(info)};
  int32_t status = hand_over(c);
  status = status == LEAT_OK ? h.api->stream->synchronize(c->stream, NULL) : status;
  status = status == LEAT_OK ? h.api->stream->info(c->stream, &info, NULL) : status;
  (void)atomic_fetch_or_explicit(&lanes_seen, 1u << info.lane, memory_order_relaxed);
  return status;
}

/* Long lists of the chains from `first` on, each on its own stream; then the device is left open. */
static void run_long_lists(int first) {
  atomic_store_explicit(&lanes_seen, 0, memory_order_relaxed);
  open_device(QUEUES, NULL);
  open_chains();
  nulldriver_set_kernel(compute_slowly, NULL);
  nulldriver_set_mode(NULLDRIVER_THREADED, 0);
  start_workers(first, 150, run_in_one_list);
  join_workers(first, LEAT_OK);
}

static void long_lists_of_several_streams_get_several_lanes(void **state) {
  (void)state;
  run_long_lists(CHAINS - 8);
  close_chains();
  close_device();
  const uint32_t lanes = atomic_load_explicit(&lanes_seen, memory_order_relaxed);
  assert_true((lanes & (lanes - 1)) != 0);
}

/* More lanes than streams cannot be told from as many. When a second stream comes, it finds one lane. */
static void one_stream_alone_gets_one_lane(void **state) {
  (void)state;
  chain *const alone = &chains[CHAINS - 1], *const second = &chains[0];
  run_long_lists(CHAINS - 1);
  nulldriver_set_mode(NULLDRIVER_HELD, 0);
  assert_int_equal(hand_over(alone), LEAT_OK);
  assert_int_equal(hand_over(second), LEAT_OK);
  const uint32_t lanes[2] = {lane_of(alone->stream), lane_of(second->stream)};
  nulldriver_set_mode(NULLDRIVER_EAGER, 0);
  assert_ok(h.api->device->synchronize(h.device, &err));
  assert_true(is_right(alone) && is_right(second));
  close_chains();
  close_device();
  assert_int_equal(atomic_load_explicit(&lanes_seen, memory_order_relaxed), 1);
  assert_true(lanes[0] == 0 && lanes[1] == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, host_before, host_after)
      CASE(streams_that_change_lane_keep_their_order),       CASE(a_device_may_be_lost_while_streams_change_lane),
      CASE(chains_that_hop_over_streams_keep_their_order),   CASE(a_device_may_be_lost_while_chains_hop),
      CASE(what_gathers_behind_a_leader_goes_in_one_group),  CASE(what_gathers_behind_a_leader_fails_with_the_device),
      CASE(a_refused_group_fails_its_own_streams),           CASE(a_group_goes_in_parts_where_memory_is_short),
      CASE(the_device_is_synchronised_while_others_run),     CASE(a_device_may_be_lost_while_it_is_synchronised),
      CASE(long_lists_of_several_streams_get_several_lanes), CASE(one_stream_alone_gets_one_lane),
#undef CASE
  };
  return cmocka_run_group_tests_name("nulldriver.order", tests, NULL, NULL);
}
