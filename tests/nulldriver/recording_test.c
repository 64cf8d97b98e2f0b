/* SPDX-License-Identifier: BSD-3-Clause */
/* What recording makes of calls: lists that go by themselves, barriers, argument records, command buffers that are
 * submitted again, the choice of a lane, and kernels that are compiled meanwhile. */
#include "unit_fixture.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>

#include "device/device.h"
#include "nulldriver/blocks.h"
#include "nulldriver/test_host.h"
#include "streams/stream_state.h"
#include "submit/lane.h"

/* The device works while the rest is recorded. */
static void a_long_list_goes_without_being_asked(void **state) {
  (void)state;
  static blocks t;
  open_device();
  leat_stream *const stream = make_stream();
  take_blocks(&t, stream);
  const uint64_t before = nulldriver_calls("vkQueueSubmit");
  for (int i = 0; i < 512; ++i) {
    assert_int_equal(rectify(&t, stream), LEAT_OK);
  }
  assert_true(nulldriver_calls("vkQueueSubmit") > before);
  give_blocks(&t);
  assert_ok(h.api->stream->destroy(stream, &err));
  close_device();
}

/* Runs and looks at the result; returns how many command buffers were written for it. */
static uint64_t written_for_run(blocks *t, leat_stream *stream, uint32_t seed) {
  const uint64_t before = nulldriver_calls("vkBeginCommandBuffer");
  assert_int_equal(put_run(t, stream, seed), LEAT_OK);
  assert_ok(h.api->stream->synchronize(stream, &err));
  assert_arrived(t, seed);
  return nulldriver_calls("vkBeginCommandBuffer") - before;
}

/* An operation of so many dispatches with records of so many bytes, as a launch of a graph is. */
typedef struct row {
  uint32_t dispatches, bytes;
} row;

static int32_t record_dispatches(leati_recorder *recorder, const void *what, leat_error *err) {
  static leati_plan_step steps[LEATI_HELD_COMMANDS_MAX + 1];
  static const unsigned char args[LEATI_ARGS_MAX] = {1};
  const row *const it = what;
  const leati_pipeline_key key = {.kernel = LEATI_KERNEL_DOWNLOAD_8};
  const leati_plan plan = {.step_count = it->dispatches, .steps = steps, .args = args, .op = "test"};
  leati_binding none;
  leati_pipeline *pipeline;
  assert_int_equal(leati_pipeline_compile(h.device, &key, &(bool){false}, err), LEAT_OK);
  assert_true(leati_pipeline_find(h.device, &key, &pipeline));
  for (uint32_t i = 0; i < plan.step_count; ++i) {
    steps[i] = (leati_plan_step){.pipeline = pipeline, .groups = {1, 1, 1}, .args_size = it->bytes};
  }
  return leati_record_plan(recorder, &plan, &none, err);
}

/* The same for a list of so many dispatches. */
static uint64_t written_for_row(leat_stream *stream, uint32_t dispatches) {
  const uint64_t before = nulldriver_calls("vkBeginCommandBuffer");
  const row it = {.dispatches = dispatches, .bytes = 16};
  assert_ok(leati_record(stream, record_dispatches, &it, &err));
  assert_ok(h.api->stream->synchronize(stream, &err));
  return nulldriver_calls("vkBeginCommandBuffer") - before;
}

/* Nor is a timestamp repeated, which goes to another place each time. */
static void what_comes_again_is_not_written_again(void **state) {
  (void)state;
  /* As many lists as a lane makes command buffers for. */
  enum { STREAMS = 8, ROUNDS = 20 };
  static blocks t[STREAMS];
  leat_stream *streams[STREAMS];
  uint64_t trimmed;
  uint32_t seed = 1;
  open_configured("LEAT_LANES", "1");
  for (int i = 0; i < STREAMS; ++i) {
    streams[i] = make_stream();
    take_blocks(&t[i], NULL);
    assert_true(written_for_run(&t[i], streams[i], seed++) > 0);
  }
  for (int i = 0; i < STREAMS * ROUNDS; ++i) {
    assert_int_equal(written_for_run(&t[i % STREAMS], streams[i % STREAMS], seed++), 0);
  }
  /* Where another one attends the lane too they are. */
  leati_lane *const lane = leati_lane_of(h.device->semaphores[0]);
  leati_lane_attend(lane);
  for (int i = 0; i < ROUNDS; ++i) {
    assert_true(written_for_run(&t[0], streams[0], seed++) > 0);
  }
  leati_lane_leave(lane, true);
  /* A segment and the staging that the command buffers name go, and its handles may come back as those of something
   * else. */
  uint64_t large;
  assert_ok(h.api->memory->alloc(h.device, UINT64_C(64) << 20, NULL, &large, &err));
  assert_ok(h.api->memory->free(h.device, large, &err));
  const uint32_t destroyed = atomic_load_explicit(&h.device->destroyed, memory_order_relaxed);
  const uint64_t gone = nulldriver_calls("vkDestroyBuffer");
  assert_ok(h.api->memory->trim(h.device, &trimmed, &err));
  assert_true(nulldriver_calls("vkDestroyBuffer") > gone);
  assert_int_equal(atomic_load_explicit(&h.device->destroyed, memory_order_relaxed) - destroyed,
                   nulldriver_calls("vkDestroyBuffer") - gone);
  for (int i = 0; i < STREAMS; ++i) {
    assert_true(written_for_run(&t[i], streams[i], seed++) > 0);
    assert_int_equal(written_for_run(&t[i], streams[i], seed++), 0);
  }
  /* Long lists are not kept. */
  /* A launch of a model is. */
  assert_int_equal(written_for_row(streams[0], 120) + written_for_row(streams[0], 120), 1);
  for (uint32_t longer = 0; longer < 2; ++longer) {
    const uint32_t dispatches = LEATI_HELD_COMMANDS_MAX + longer;
    assert_int_equal(written_for_row(streams[0], dispatches) + written_for_row(streams[0], dispatches), 1 + longer);
  }
  leat_event *events[2];
  const uint64_t written = nulldriver_calls("vkBeginCommandBuffer");
  for (int i = 0; i < 2; ++i) {
    assert_ok(h.api->event->create(h.device, LEAT_EVENT_TIMING, &events[i], &err));
  }
  for (int i = 0; i < ROUNDS; ++i) {
    double ns = -1.0;
    for (int j = 0; j < 2; ++j) {
      assert_int_equal(rectify(&t[0], streams[0]), LEAT_OK);
      assert_ok(h.api->event->record(events[j], streams[0], &err));
    }
    assert_ok(h.api->stream->synchronize(streams[0], &err));
    assert_ok(h.api->event->elapsed(events[0], events[1], &ns, &err));
    assert_true(ns >= 0.0);
  }
  assert_int_equal(nulldriver_calls("vkBeginCommandBuffer") - written, 2 * ROUNDS);
  for (int i = 0; i < 2; ++i) {
    assert_ok(h.api->event->destroy(events[i], &err));
  }
  for (int i = 0; i < STREAMS; ++i) {
    give_blocks(&t[i]);
    assert_ok(h.api->stream->destroy(streams[i], &err));
  }
  close_configured("LEAT_LANES");
}

static int32_t relu(leat_stream *stream, uint64_t from, uint64_t to) {
  const DLTensor in = device_tensor(from, &count), out = device_tensor(to, &count);
  const DLTensor *const ins[1] = {&in}, *const outs[1] = {&out};
  return h.api->op->invoke(h.relu, stream, 1, ins, 1, outs, NULL);
}

/* Whether the last command needs a barrier before it. */
static bool barrier_of_last(const leat_stream *stream) {
  return stream->open->commands[stream->open->command_count - 1].barrier;
}

/* Of several ranges each is found, whether it lies above the others or below them. */
static void each_range_since_the_last_barrier_is_found(void **state) {
  (void)state;
  enum { RANGES = 5, HAZARDS = 3, ROOM = 4096 }; /* read after write, write after write, write after read */
  static const unsigned orders[2][RANGES] = {{0, 1, 2, 3, 4}, {4, 3, 2, 1, 0}};
  const uint64_t apart = 2 * ROOM; /* ranges neither touch nor fill their hull */
  uint64_t block;
  open_device();
  leat_stream *const stream = make_stream();
  assert_ok(h.api->memory->alloc(h.device, (2 * RANGES + 1) * apart, stream, &block, &err));
  for (unsigned i = 0; i < 2 * RANGES * HAZARDS; ++i) {
    const unsigned *const order = orders[i % 2];
    const unsigned range = i / 2 % RANGES, hazard = i / 2 / RANGES;
    assert_ok(h.api->stream->synchronize(stream, &err));
    for (unsigned j = 0; j < RANGES; ++j) {
      assert_int_equal(relu(stream, block + 2 * order[j] * apart, block + (2 * order[j] + 1) * apart), LEAT_OK);
      assert_false(barrier_of_last(stream));
    }
    const uint64_t in = block + 2 * range * apart, out = in + apart, other = block + 2 * RANGES * apart;
    /* Between the ranges there is nothing. */
    assert_int_equal(relu(stream, out + ROOM, other), LEAT_OK);
    assert_false(barrier_of_last(stream));
    const uint64_t from = hazard == 0 ? out : other + ROOM, to = hazard == 0 ? other + ROOM : hazard == 1 ? out : in;
    assert_int_equal(relu(stream, from, to), LEAT_OK);
    assert_true(barrier_of_last(stream));
  }
  assert_ok(h.api->stream->synchronize(stream, &err));
  assert_ok(h.api->memory->free(h.device, block, &err));
  assert_ok(h.api->stream->destroy(stream, &err));
  close_device();
}

/* Of more ranges than can be remembered each is found too, wherever the first of them lies: ForeachMul reads two lists
 * and writes one. */
static void each_of_many_ranges_is_found(void **state) {
  (void)state;
  enum { PAIRS = 8, LISTS = 3, RANGES = LISTS * PAIRS, ROOM = 4096 };
  const leat_value_info vector = {
      .struct_size = sizeof(vector), .ndim = 1, .dtype = {.code = kDLFloat, .bits = 32, .lanes = 1}, .shape = &count};
  const leat_value_info *infos[2 * PAIRS];
  for (int i = 0; i < 2 * PAIRS; ++i) {
    infos[i] = &vector;
  }
  const leat_op_desc desc = {.struct_size = sizeof(desc),
                             .since_version = 1,
                             .name = "ForeachMul",
                             .domain = "leat",
                             .input_count = 2 * PAIRS,
                             .output_count = PAIRS,
                             .inputs = infos};
  const uint64_t size = RANGES * ROOM;
  uint64_t block;
  leat_op *op;
  open_device();
  leat_stream *const stream = make_stream();
  assert_ok(h.api->op->create(h.device, &desc, &op, &err));
  assert_ok(h.api->memory->alloc(h.device, size + 3 * ROOM, stream, &block, &err));
  for (unsigned i = 0; i < 2 * RANGES; ++i) {
    /* Upwards, and downwards. Reads come first, so that what is written has bounds of its own. */
    const unsigned range = i / 2;
    DLTensor tensors[RANGES];
    const DLTensor *lists[RANGES];
    for (unsigned j = 0; j < RANGES; ++j) {
      const unsigned place = i % 2 == 0 ? j : RANGES - 1 - j;
      tensors[j] = device_tensor(block + ROOM + place * ROOM, &count);
      lists[j] = &tensors[j];
    }
    assert_ok(h.api->stream->synchronize(stream, &err));
    assert_ok(h.api->op->invoke(op, stream, 2 * PAIRS, lists, PAIRS, lists + 2 * PAIRS, &err));
    assert_false(barrier_of_last(stream));
    /* Below and above all of them there is nothing. */
    assert_int_equal(relu(stream, block, block + size + ROOM), LEAT_OK);
    assert_false(barrier_of_last(stream));
    const uint64_t at = (uint64_t)(uintptr_t)tensors[range].data, apart = block + size + 2 * ROOM;
    assert_int_equal(range < 2 * PAIRS ? relu(stream, apart, at) : relu(stream, at, apart), LEAT_OK);
    assert_true(barrier_of_last(stream));
  }
  assert_ok(h.api->stream->synchronize(stream, &err));
  assert_ok(h.api->memory->free(h.device, block, &err));
  assert_ok(h.api->op->destroy(op, &err));
  assert_ok(h.api->stream->destroy(stream, &err));
  close_device();
}

/* Runs of bytes meet what lies on them, and not what lies between them. */
static void runs_are_told_apart(void **state) {
  (void)state;
  const leati_range runs = {.begin = 1000, .end = 1000 + 3 * 64 + 16, .runs = {.pitch = 64, .size = 16}};
  static const struct {
    int64_t begin;
    leati_runs runs;
    bool meets;
  } others[] = {
      {16, {64, 48}, false}, {16, {64, 49}, true},  {15, {64, 1}, true},  {40, {64, 8}, false}, {-48, {64, 48}, false},
      {-48, {64, 49}, true}, {-64, {64, 16}, true}, {64, {64, 16}, true}, {16, {32, 16}, true}, {16, {0, 0}, true},
  };
  leati_ranges ranges = {0};
  leati_ranges_add(&ranges, &runs);
  for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); ++i) {
    const leati_range other = {.begin = (uint64_t)(1000 + others[i].begin), .end = 1100, .runs = others[i].runs};
    assert_true(leati_ranges_meet(&ranges, &other) == others[i].meets);
    assert_true(leati_range_meets(&other, &runs) == others[i].meets);
    assert_false(leati_ranges_end_with(&ranges, &other));
  }
  assert_true(leati_ranges_end_with(&ranges, &runs));
}

/* More argument records than a chunk holds, in one list. */
static void records_of_several_chunks_arrive(void **state) {
  (void)state;
  const row it = {.dispatches = LEATI_COMMANDS_MAX - 1, .bytes = LEATI_ARGS_MAX};
  static blocks t;
  open_device();
  leat_stream *const stream = make_stream();
  take_blocks(&t, NULL);
  /* Nothing goes by itself while what the stream gave before has not ended. */
  nulldriver_set_mode(NULLDRIVER_HELD, 0);
  assert_int_equal(rectify(&t, stream), LEAT_OK);
  assert_ok(h.api->stream->flush(stream, &err));
  assert_ok(leati_record(stream, record_dispatches, &it, &err));
  const leati_submission *const list = stream->open;
  assert_ok(h.api->stream->flush(stream, &err));
  unsigned chunks = 0;
  for (const leati_chunk *chunk = list->chunks; chunk != NULL; chunk = chunk->next) {
    assert_int_equal(chunk->kind, LEATI_CHUNK_ARGUMENTS);
    assert_true(chunk->used != 0);
    assert_memory_equal(chunk->mapped, chunk->draft, chunk->used);
    ++chunks;
  }
  assert_true(chunks > 1);
  nulldriver_set_mode(NULLDRIVER_EAGER, 0);
  assert_ok(h.api->device->synchronize(h.device, &err));
  give_blocks(&t);
  assert_ok(h.api->stream->destroy(stream, &err));
  close_device();
}

/* Also when it has more to do than it remembers. */
static void a_lane_with_much_to_do_is_not_taken_for_an_empty_one(void **state) {
  (void)state;
  static blocks t;
  open_configured("LEAT_LANES", "2");
  leat_stream *const busy = make_stream(), *const next = make_stream();
  leat_stream_info where[2] = {{.struct_size = sizeof(where[0])}, {.struct_size = sizeof(where[0])}};
  take_blocks(&t, busy);
  nulldriver_set_mode(NULLDRIVER_HELD, 0);
  for (uint32_t i = 0; i < LEATI_BATCHES_REMEMBERED; ++i) {
    assert_int_equal(rectify(&t, busy), LEAT_OK);
    assert_ok(h.api->stream->flush(busy, &err));
  }
  assert_int_equal(nulldriver_pending(), LEATI_BATCHES_REMEMBERED);
  assert_int_equal(rectify(&t, next), LEAT_OK);
  assert_ok(h.api->stream->flush(next, &err));
  assert_ok(h.api->stream->info(busy, &where[0], &err));
  assert_ok(h.api->stream->info(next, &where[1], &err));
  assert_int_not_equal(where[0].lane, where[1].lane);
  nulldriver_set_mode(NULLDRIVER_EAGER, 0);
  assert_ok(h.api->device->synchronize(h.device, &err));
  give_blocks(&t);
  assert_ok(h.api->stream->destroy(next, &err));
  assert_ok(h.api->stream->destroy(busy, &err));
  close_configured("LEAT_LANES");
}

/* ---- Kernels that are compiled --------------------------------------------------------------------------------------
 */

/* An operator that no other test uses before, so that its kernel has to be compiled. */
static leat_op *make_negation(void) {
  const int64_t unknown[1] = {-1};
  const leat_value_info vector = {
      .struct_size = sizeof(vector), .ndim = 1, .dtype = {.code = kDLFloat, .bits = 32, .lanes = 1}, .shape = unknown};
  const leat_value_info *const inputs[1] = {&vector};
  const leat_op_desc desc = {.struct_size = sizeof(desc),
                             .since_version = 13,
                             .name = "Neg",
                             .input_count = 1,
                             .output_count = 1,
                             .inputs = inputs};
  leat_op *op;
  assert_ok(h.api->op->create(h.device, &desc, &op, &err));
  return op;
}

/* A call of an operator that takes a to b, on a thread of its own. */
typedef struct caller {
  pthread_t thread;
  const leat_op *op;
  leat_stream *stream;
  blocks t;
  int32_t status;
  sem_t done; /* of start_caller() */
} caller;

static void call_operator(caller *c) {
  const DLTensor from = device_tensor(c->t.a, &count), to = device_tensor(c->t.b, &count);
  const DLTensor *const in[1] = {&from}, *const out[1] = {&to};
  c->status = h.api->op->invoke(c->op, c->stream, 1, in, 1, out, NULL);
}

static void *call_and_tell(void *argument) {
  caller *const c = argument;
  call_operator(c);
  (void)sem_post(&c->done);
  return NULL;
}

static void start_caller(caller *c, const leat_op *op, leat_stream *stream) {
  c->op = op;
  c->stream = stream;
  assert_int_equal(sem_init(&c->done, 0, 0), 0);
  assert_int_equal(pthread_create(&c->thread, NULL, call_and_tell, c), 0);
}

static void a_cold_compile_stalls_no_warm_thread_of_its_stream(void **state) {
  (void)state;
  static caller cold, warm;
  struct timespec deadline;
  open_device();
  leat_stream *const stream = make_stream();
  leat_op *const negation = make_negation();
  take_blocks(&cold.t, NULL);
  take_blocks(&warm.t, NULL);
  assert_int_equal(upload(&warm.t, stream, 1), LEAT_OK);
  assert_int_equal(rectify(&warm.t, stream), LEAT_OK);
  assert_ok(h.api->stream->synchronize(stream, &err));
  assert_true(nulldriver_hold("vkCreateComputePipelines"));
  start_caller(&cold, negation, stream);
  nulldriver_wait_held();
  start_caller(&warm, h.relu, stream);
  (void)clock_gettime(CLOCK_REALTIME, &deadline);
  deadline.tv_sec += 20;
  const bool passed = sem_timedwait(&warm.done, &deadline) == 0;
  nulldriver_release();
  assert_int_equal(pthread_join(warm.thread, NULL), 0);
  assert_int_equal(pthread_join(cold.thread, NULL), 0);
  assert_true(passed);
  assert_int_equal(warm.status, LEAT_OK);
  assert_int_equal(cold.status, LEAT_OK);
  assert_int_equal(download(&warm.t, stream), LEAT_OK);
  assert_ok(h.api->stream->synchronize(stream, &err));
  assert_arrived(&warm.t, 1);
  give_blocks(&cold.t);
  give_blocks(&warm.t);
  (void)sem_destroy(&cold.done);
  (void)sem_destroy(&warm.done);
  assert_ok(h.api->op->destroy(negation, &err));
  assert_ok(h.api->stream->destroy(stream, &err));
  close_device();
}

static void a_failed_compile_is_told_and_takes_nothing_along(void **state) {
  (void)state;
  static caller c;
  open_device();
  leat_stream *const stream = make_stream();
  leat_op *const negation = make_negation();
  take_blocks(&c.t, NULL);
  assert_int_equal(upload(&c.t, stream, 7), LEAT_OK);
  assert_int_equal(rectify(&c.t, stream), LEAT_OK);
  assert_int_equal(download(&c.t, stream), LEAT_OK);
  const uint64_t compiled = nulldriver_calls("vkCreateComputePipelines");
  assert_true(nulldriver_fail("vkCreateComputePipelines", 1, VK_ERROR_OUT_OF_DEVICE_MEMORY));
  c.op = negation;
  c.stream = stream;
  call_operator(&c);
  assert_int_equal(c.status, LEAT_ERROR_OUT_OF_MEMORY);
  assert_int_equal(nulldriver_calls("vkCreateComputePipelines"), compiled + 1);
  assert_ok(h.api->stream->synchronize(stream, &err));
  assert_arrived(&c.t, 7);
  call_operator(&c);
  assert_int_equal(c.status, LEAT_OK);
  call_operator(&c);
  assert_int_equal(nulldriver_calls("vkCreateComputePipelines"), compiled + 2);
  give_blocks(&c.t);
  assert_ok(h.api->op->destroy(negation, &err));
  assert_ok(h.api->stream->destroy(stream, &err));
  close_device();
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, host_before, host_after)
      CASE(a_long_list_goes_without_being_asked),
      CASE(what_comes_again_is_not_written_again),
      CASE(each_range_since_the_last_barrier_is_found),
      CASE(each_of_many_ranges_is_found),
      CASE(runs_are_told_apart),
      CASE(records_of_several_chunks_arrive),
      CASE(a_lane_with_much_to_do_is_not_taken_for_an_empty_one),
      CASE(a_cold_compile_stalls_no_warm_thread_of_its_stream),
      CASE(a_failed_compile_is_told_and_takes_nothing_along),
#undef CASE
  };
  return cmocka_run_group_tests_name("nulldriver.recording", tests, NULL, NULL);
}
