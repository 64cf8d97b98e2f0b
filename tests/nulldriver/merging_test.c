/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of several streams that meet in one command buffer and hold the same commands: what they dispatch is merged. */
#include "unit_fixture.h"

#include <string.h>

#include "device/device.h"
#include "nulldriver/blocks.h"
#include "nulldriver/test_host.h"
#include "submit/lane.h"

/* More than one dispatch serves. */
enum { STREAMS = LEATI_MERGE_MAX + 3, STEPS = 4 };

static struct {
  leat_stream *streams[STREAMS];
  blocks t[STREAMS];
  leat_stream *busy; /* keeps the queue full with what it does in `other` */
  blocks other;
  bool poor;                                   /* there is no memory when meet() submits */
  uint64_t dispatches, pipelines, submissions; /* counts of the last meet() */
} group;

static void open_group(void) {
  for (int i = 0; i < STREAMS; ++i) {
    group.streams[i] = make_stream();
    take_blocks(&group.t[i], NULL);
  }
  group.busy = make_stream();
  take_blocks(&group.other, NULL);
}

static void close_group(void) {
  for (int i = 0; i < STREAMS; ++i) {
    give_blocks(&group.t[i]);
    assert_ok(h.api->stream->destroy(group.streams[i], &err));
  }
  give_blocks(&group.other);
  assert_ok(h.api->stream->destroy(group.busy, &err));
}

static int32_t relu(leat_stream *stream, uint64_t from, uint64_t to) {
  const DLTensor in = device_tensor(from, &count), out = device_tensor(to, &count);
  const DLTensor *const ins[1] = {&in}, *const outs[1] = {&out};
  return h.api->op->invoke(h.relu, stream, 1, ins, 1, outs, NULL);
}

/* Steps of which each needs what the one before gave; the last one gives b. */
static void put_chain(blocks *t, leat_stream *stream, int steps, uint32_t seed) {
  assert_int_equal(upload(t, stream, seed), LEAT_OK);
  for (int i = 0; i < steps; ++i) {
    const bool to_b = (steps - i) % 2 != 0;
    assert_int_equal(relu(stream, i == 0 || to_b ? t->a : t->b, to_b ? t->b : t->a), LEAT_OK);
  }
  assert_int_equal(download(t, stream), LEAT_OK);
}

/* What a stream hands over. */
typedef void put_function(int i, uint32_t seed);

static void put_alike(int i, uint32_t seed) {
  put_chain(&group.t[i], group.streams[i], STEPS, seed);
  assert_ok(h.api->stream->flush(group.streams[i], &err));
}

/* Every third one is shorter. */
static void put_unlike(int i, uint32_t seed) {
  put_chain(&group.t[i], group.streams[i], i % 3 == 0 ? STEPS - 1 : STEPS, seed);
  assert_ok(h.api->stream->flush(group.streams[i], &err));
}

/* Two lists each, the second of which needs the first. */
static void put_two(int i, uint32_t seed) {
  const blocks *const t = &group.t[i];
  assert_int_equal(upload(&group.t[i], group.streams[i], seed), LEAT_OK);
  assert_int_equal(relu(group.streams[i], t->a, t->b), LEAT_OK);
  assert_int_equal(relu(group.streams[i], t->b, t->a), LEAT_OK);
  assert_ok(h.api->stream->flush(group.streams[i], &err));
  assert_int_equal(relu(group.streams[i], t->a, t->b), LEAT_OK);
  assert_int_equal(download(&group.t[i], group.streams[i]), LEAT_OK);
  assert_ok(h.api->stream->flush(group.streams[i], &err));
}

/* Takes all free chunks that merging would find: those that there are, and of one slab more. */
static leati_chunk *take_chunks(void) {
  leati_chunk *all = NULL, *chunk;
  const uint64_t made = nulldriver_calls("vkAllocateMemory");
  for (uint32_t left = LEATI_CHUNKS_PER_SLAB; left != 0;) {
    assert_ok(leati_chunks_take(h.device, 0, LEATI_CHUNK_ARGUMENTS, LEATI_MERGED_RECORDS_SIZE, &chunk, &err));
    chunk->next = all;
    all = chunk;
    left -= nulldriver_calls("vkAllocateMemory") != made;
  }
  return all;
}

/* Lets the lists of all streams meet in one batch: they are handed over while the queue is full and somebody attends
 * the lane. Then the results must be right. */
static void meet(put_function *put, uint32_t seed) {
  leati_lane *const lane = leati_lane_of(h.device->semaphores[0]);
  const uint64_t pipelines = nulldriver_calls("vkCreateComputePipelines");
  nulldriver_set_mode(NULLDRIVER_HELD, 0);
  for (int i = 0; i < LEATI_IN_FLIGHT_MAX; ++i) {
    assert_int_equal(rectify(&group.other, group.busy), LEAT_OK);
    assert_ok(h.api->stream->flush(group.busy, &err));
  }
  leati_lane_attend(lane);
  const uint64_t dispatches = nulldriver_calls("vkCmdDispatch"), submissions = nulldriver_calls("vkQueueSubmit");
  for (int i = 0; i < STREAMS; ++i) {
    put(i, seed + (uint32_t)i);
  }
  assert_int_equal(nulldriver_calls("vkQueueSubmit"), submissions);
  nulldriver_set_mode(NULLDRIVER_EAGER, 0);
  /* No chunk is left, and there is neither memory for some nor for one. */
  leati_chunk *const chunks = group.poor ? take_chunks() : NULL;
  assert_true(nulldriver_fail("vkCreateBuffer", group.poor ? 1 : 0, VK_ERROR_OUT_OF_DEVICE_MEMORY));
  assert_true(nulldriver_fail("vkMapMemory", group.poor ? 1 : 0, VK_ERROR_OUT_OF_DEVICE_MEMORY));
  leati_lane_leave(lane, true);
  assert_ok(h.api->device->synchronize(h.device, &err));
  leati_chunks_give(h.device, chunks);
  group.dispatches = nulldriver_calls("vkCmdDispatch") - dispatches;
  group.submissions = nulldriver_calls("vkQueueSubmit") - submissions;
  group.pipelines = nulldriver_calls("vkCreateComputePipelines") - pipelines;
  for (int i = 0; i < STREAMS; ++i) {
    assert_arrived(&group.t[i], seed + (uint32_t)i);
  }
}

/* Dispatches that so many lists take for one step. */
static uint64_t merged(uint64_t lists) {
  return (lists + LEATI_MERGE_MAX - 1) / LEATI_MERGE_MAX;
}

static void lists_that_are_alike_take_one_dispatch_a_step(void **state) {
  (void)state;
  open_configured("LEAT_LANES", "1");
  open_group();
  meet(put_alike, 1);
  assert_int_equal(group.submissions, 1);
  /* The pipeline for several records is not there before such lists have met; then it is made once. */
  assert_int_equal(group.dispatches, STREAMS * STEPS);
  meet(put_alike, 100);
  assert_int_equal(group.pipelines, 1);
  assert_int_equal(group.submissions, 1);
  assert_int_equal(group.dispatches, merged(STREAMS) * STEPS);
  meet(put_alike, 200);
  assert_int_equal(group.pipelines, 0);
  assert_int_equal(group.dispatches, merged(STREAMS) * STEPS);
  close_group();
  close_configured("LEAT_LANES");
}

static void each_kind_of_list_is_merged_by_itself(void **state) {
  (void)state;
  enum { SHORT = (STREAMS + 2) / 3 };
  open_configured("LEAT_LANES", "1");
  open_group();
  meet(put_alike, 1);
  meet(put_unlike, 100);
  assert_int_equal(group.submissions, 1);
  assert_int_equal(group.dispatches, merged(SHORT) * (STEPS - 1) + merged(STREAMS - SHORT) * STEPS);
  /* Of a stream that has two lists the second one meets those of others behind the first. */
  meet(put_two, 200);
  assert_int_equal(group.dispatches, merged(STREAMS) * 3);
  close_group();
  close_configured("LEAT_LANES");
}

static void what_a_profile_tells_of_is_not_merged(void **state) {
  (void)state;
  open_configured("LEAT_LANES", "1");
  open_group();
  meet(put_alike, 1);
  assert_ok(h.api->profiler->start(h.device, 0, 0, &err));
  meet(put_alike, 100);
  assert_int_equal(group.dispatches, STREAMS * STEPS);
  assert_ok(h.api->profiler->stop(h.device, &err));
  close_group();
  close_configured("LEAT_LANES");
}

static void nothing_is_merged_if_the_setting_says_so(void **state) {
  (void)state;
  open_configured("LEAT_LANES", "1");
  close_device();
  assert_ok(h.api->configure("LEAT_MERGE", "0", &err));
  open_device();
  open_group();
  for (uint32_t i = 0; i < 3; ++i) {
    meet(put_alike, 100 * i);
    assert_int_equal(group.dispatches, STREAMS * STEPS);
    assert_int_equal(group.pipelines, i == 0 ? 1 : 0);
  }
  close_group();
  close_device();
  assert_ok(h.api->configure("LEAT_MERGE", NULL, &err));
  assert_ok(h.api->configure("LEAT_LANES", NULL, &err));
}

/* It is a matter of speed alone, so nobody is told. */
static void without_memory_dispatches_go_one_by_one(void **state) {
  (void)state;
  open_configured("LEAT_LANES", "1");
  open_group();
  meet(put_alike, 1);
  meet(put_alike, 100);
  assert_int_equal(group.dispatches, merged(STREAMS) * STEPS);
  /* The next submission finds out that the command buffer has run. */
  uint64_t trimmed;
  assert_int_equal(rectify(&group.other, group.busy), LEAT_OK);
  assert_ok(h.api->stream->synchronize(group.busy, &err));
  assert_ok(h.api->memory->trim(h.device, &trimmed, &err));
  group.poor = true;
  meet(put_alike, 300);
  assert_int_equal(group.dispatches, STREAMS * STEPS);
  group.poor = false;
  meet(put_alike, 400);
  assert_int_equal(group.dispatches, merged(STREAMS) * STEPS);
  close_group();
  close_configured("LEAT_LANES");
}

static void a_pipeline_that_cannot_be_made_is_done_without(void **state) {
  (void)state;
  open_configured("LEAT_LANES", "1");
  open_group();
  meet(put_alike, 1);
  assert_true(nulldriver_fail("vkCreateComputePipelines", 1, VK_ERROR_OUT_OF_HOST_MEMORY));
  meet(put_alike, 100);
  assert_int_equal(group.pipelines, 1);
  meet(put_alike, 200);
  assert_int_equal(group.pipelines, 0);
  assert_int_equal(group.dispatches, STREAMS * STEPS);
  close_group();
  close_configured("LEAT_LANES");
}

int main(void) {
  /* Off unless somebody asks for it. */
  if (setenv("LEAT_MERGE", "1", 1) != 0) {
    return 1;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(lists_that_are_alike_take_one_dispatch_a_step, host_before, host_after),
      cmocka_unit_test_setup_teardown(each_kind_of_list_is_merged_by_itself, host_before, host_after),
      cmocka_unit_test_setup_teardown(what_a_profile_tells_of_is_not_merged, host_before, host_after),
      cmocka_unit_test_setup_teardown(nothing_is_merged_if_the_setting_says_so, host_before, host_after),
      cmocka_unit_test_setup_teardown(without_memory_dispatches_go_one_by_one, host_before, host_after),
      cmocka_unit_test_setup_teardown(a_pipeline_that_cannot_be_made_is_done_without, host_before, host_after),
  };
  return cmocka_run_group_tests_name("merging", tests, NULL, NULL);
}
