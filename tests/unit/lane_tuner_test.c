/* SPDX-License-Identifier: BSD-3-Clause */
/* The number of lanes: learnt from rates that were measured on an H100 (design, section 4). */
#include "policy/lane_tuner.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first. */
#include <cmocka.h>

/* Thousands of runs per second of 12 dependent dispatches from 8 threads on 1, 2, 4 and 8 lanes. */
typedef struct load {
  const char *name;
  double rates[4];
  uint32_t best;
} load;

static const load loads[] = {
    {"kernels of 1 us", {29, 34, 18, 9}, 2},
    {"kernels of 7 us", {8.9, 14.6, 22.8, 26.2}, 8},
    {"kernels of 80 us", {1.17, 2.3, 4.6, 7.3}, 8},
    {"one dispatch, combined or a queue each", {212, 110, 60, 23}, 1},
};

static double rate_of(const load *l, uint32_t lanes) {
  return l->rates[lanes == 1 ? 0 : lanes == 2 ? 1 : lanes == 4 ? 2 : 3];
}

/* A disturbance of up to 3 %, different in each interval. */
static double noise(unsigned interval) {
  return 1.0 + 0.03 * ((double)(interval * 7919u % 201u) / 100.0 - 1.0);
}

/* An interval of so many lists a second that keep all lanes busy. */
static uint32_t step(leati_lane_tuner *tuner, double lists, uint32_t streams) {
  const uint32_t busy = tuner->lanes < streams ? tuner->lanes : streams;
  const leati_throughput pace = {.commands = 12 * lists, .list_s = busy / lists, .streams = streams};
  return leati_lane_tuner_step(tuner, &pace);
}

/* Runs intervals of a load; returns how many of the last half were spent on its best number of lanes. */
static unsigned intervals_at_best(leati_lane_tuner *tuner, const load *l, unsigned intervals) {
  unsigned at_best = 0;
  for (unsigned i = 0; i < intervals; ++i) {
    const uint32_t lanes = step(tuner, 1000 * rate_of(l, tuner->lanes) * noise(i), 8);
    assert_true(lanes == 1 || lanes == 2 || lanes == 4 || lanes == 8);
    at_best += i >= intervals / 2 && lanes == l->best ? 1u : 0u;
  }
  return at_best;
}

static void each_load_finds_its_number(void **state) {
  (void)state;
  for (unsigned i = 0; i < sizeof(loads) / sizeof(loads[0]); ++i) {
    leati_lane_tuner tuner;
    leati_lane_tuner_begin(&tuner, 8);
    /* What the trials cost: less than a tenth of the intervals once settled. */
    if (intervals_at_best(&tuner, &loads[i], 400) < 180) {
      fail_msg("%s: settled on %u lanes, best are %u", loads[i].name, tuner.settled, loads[i].best);
    }
  }
}

static void another_load_is_learnt_anew(void **state) {
  (void)state;
  leati_lane_tuner tuner;
  leati_lane_tuner_begin(&tuner, 8);
  for (unsigned i = 0; i < 24; ++i) {
    const load *const l = &loads[(i * 3 + i / 4) % 4];
    if (intervals_at_best(&tuner, l, 400) < 160) {
      fail_msg("%s, load number %u: settled on %u lanes, best are %u", l->name, i, tuner.settled, l->best);
    }
  }
}

static void long_lists_get_all_lanes_at_once(void **state) {
  (void)state;
  leati_lane_tuner tuner;
  leati_lane_tuner_begin(&tuner, 8);
  assert_int_equal(step(&tuner, 1000, 8), 8);
  /* Short ones take them back. */
  const load *const tiny = &loads[3];
  assert_true(intervals_at_best(&tuner, tiny, 400) >= 160);
  assert_int_equal(step(&tuner, 1000, 8), 8);
}

static void one_lane_is_found_behind_a_hollow(void **state) {
  (void)state;
  /* Relu from 4 threads: where lists meet they go together, which neither 4 nor 2 lanes hint at. */
  const load hollow = {"hollow", {155, 50, 48, 50}, 1};
  leati_lane_tuner tuner;
  leati_lane_tuner_begin(&tuner, 8);
  /* Threads that have only begun look like long lists. */
  assert_int_equal(step(&tuner, 1000, 8), 8);
  if (intervals_at_best(&tuner, &hollow, 400) < 180) {
    fail_msg("settled on %u lanes, best is one", tuner.settled);
  }
}

static void all_lanes_are_found_behind_a_hollow(void **state) {
  (void)state;
  /* 12 kernels of 7 us from 8 threads, side by side: two lanes keep apart what meets on one. */
  const load hollow = {"hollow", {34, 31, 33, 44}, 8};
  leati_lane_tuner tuner;
  leati_lane_tuner_begin(&tuner, 8);
  if (intervals_at_best(&tuner, &hollow, 400) < 180) {
    fail_msg("settled on %u lanes, best are all", tuner.settled);
  }
}

static void short_lists_stay_on_few_lanes(void **state) {
  (void)state;
  /* More lanes look well at times, and are ten times slower at others. */
  const double rates[] = {520, 560, 700, 700};
  leati_lane_tuner tuner;
  leati_lane_tuner_begin(&tuner, 8);
  for (unsigned i = 0; i < 200; ++i) {
    const uint32_t lanes = step(&tuner, 1000 * rates[tuner.lanes - 1] * noise(i), 31);
    assert_true(lanes <= 2);
  }
  /* Long ones after them get more. */
  assert_true(intervals_at_best(&tuner, &loads[2], 400) >= 160);
}

static void commands_count_and_not_lists(void **state) {
  (void)state;
  leati_lane_tuner tuner;
  leati_lane_tuner_begin(&tuner, 8);
  /* On two lanes each run is cut into twice as many lists, and fewer runs are done. */
  for (unsigned i = 0; i < 400; ++i) {
    const leati_throughput pace = {.list_s = tuner.lanes / (tuner.lanes == 1 ? 20e3 : 34e3),
                                   .commands = (tuner.lanes == 1 ? 120e3 : 100e3) * noise(i),
                                   .streams = 8};
    (void)leati_lane_tuner_step(&tuner, &pace);
  }
  assert_int_equal(tuner.settled, 1);
}

/* More threads than processors: who has the role of the leader is without one for some milliseconds at times. */
static void threads_without_a_processor_make_no_long_lists(void **state) {
  (void)state;
  leati_lane_tuner tuner;
  leati_lane_tuner_begin(&tuner, 8);
  for (unsigned i = 0; i < 200; ++i) {
    const bool held_up = i % 7 < 3;
    const leati_throughput pace = {.commands = held_up ? 6e3 : 700e3, .list_s = 5e-6, .streams = 31};
    assert_true(leati_lane_tuner_step(&tuner, &pace) <= 2);
  }
  /* Nobody sees what lists take where all sleep. They are not taken for short ones. */
  leati_lane_tuner_begin(&tuner, 8);
  for (unsigned i = 0; i < 400; ++i) {
    const leati_throughput pace = {.commands = 700e3 * tuner.lanes * noise(i), .streams = 31};
    (void)leati_lane_tuner_step(&tuner, &pace);
  }
  assert_int_equal(tuner.settled, 8);
}

/* Twice as many threads, and about the same rate: what was best for few is asked again at once. */
static void other_streams_are_learnt_anew(void **state) {
  (void)state;
  const load few = {"few", {330, 270, 60, 30}, 1}, many = {"many", {400, 600, 60, 30}, 2};
  leati_lane_tuner tuner;
  leati_lane_tuner_begin(&tuner, 8);
  for (unsigned i = 0; i < 400; ++i) {
    (void)step(&tuner, 1000 * rate_of(&few, tuner.lanes) * noise(i), 8);
  }
  assert_int_equal(tuner.settled, 1);
  for (unsigned i = 0; i < 6; ++i) {
    (void)step(&tuner, 1000 * rate_of(&many, tuner.lanes) * noise(i), 31);
  }
  assert_int_equal(tuner.settled, 2);
}

/* What short lists were held to does not hold for other ones that nobody watches. */
static void unseen_lists_after_short_ones_get_all_lanes(void **state) {
  (void)state;
  leati_lane_tuner tuner;
  leati_lane_tuner_begin(&tuner, 8);
  for (unsigned i = 0; i < 100; ++i) {
    const leati_throughput pace = {.commands = 700e3 * noise(i), .list_s = 5e-6, .streams = 31};
    assert_true(leati_lane_tuner_step(&tuner, &pace) <= 2);
  }
  for (unsigned i = 0; i < 400; ++i) {
    const leati_throughput pace = {.commands = 1e3 * tuner.lanes * noise(i), .streams = 31};
    (void)leati_lane_tuner_step(&tuner, &pace);
  }
  assert_int_equal(tuner.settled, 8);
}

/* Lists of 3 ms of eight or sixteen streams want all lanes. */
static void long_lists_keep_their_lanes_though_streams_come_and_go(void **state) {
  (void)state;
  leati_lane_tuner tuner;
  leati_lane_tuner_begin(&tuner, 8);
  unsigned on_all = 0;
  for (unsigned i = 0; i < 400; ++i) {
    on_all += step(&tuner, tuner.lanes / 3e-3 * noise(i), i / 4 % 2 == 0 ? 8 : 16) == 8 ? 1u : 0u;
  }
  assert_in_range(on_all, 360, 400);
}

static void a_single_stream_teaches_nothing(void **state) {
  (void)state;
  leati_lane_tuner tuner;
  leati_lane_tuner_begin(&tuner, 8);
  for (unsigned i = 0; i < 100; ++i) {
    assert_int_equal(step(&tuner, i % 2 ? 10.0 : 1000.0, 1), 1);
  }
}

static void no_more_lanes_than_the_device_or_the_streams_have(void **state) {
  (void)state;
  const double more_is_better[] = {1, 2, 3, 4, 5, 6, 7, 8};
  leati_lane_tuner tuner;
  leati_lane_tuner_begin(&tuner, 3);
  uint32_t most = 0;
  for (unsigned i = 0; i < 200; ++i) {
    const uint32_t lanes = step(&tuner, 1e4 * more_is_better[tuner.lanes - 1], 8);
    most = lanes > most ? lanes : most;
  }
  assert_int_equal(most, 3);
  assert_int_equal(tuner.settled, 3);
  leati_lane_tuner_begin(&tuner, 8);
  for (unsigned i = 0; i < 200; ++i) {
    assert_true(step(&tuner, 1e4 * more_is_better[tuner.lanes - 1], 3) <= 4);
  }
  leati_lane_tuner_begin(&tuner, 1);
  for (unsigned i = 0; i < 10; ++i) {
    assert_int_equal(step(&tuner, i, 8), 1);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_load_finds_its_number),
      cmocka_unit_test(another_load_is_learnt_anew),
      cmocka_unit_test(long_lists_get_all_lanes_at_once),
      cmocka_unit_test(one_lane_is_found_behind_a_hollow),
      cmocka_unit_test(all_lanes_are_found_behind_a_hollow),
      cmocka_unit_test(short_lists_stay_on_few_lanes),
      cmocka_unit_test(commands_count_and_not_lists),
      cmocka_unit_test(threads_without_a_processor_make_no_long_lists),
      cmocka_unit_test(other_streams_are_learnt_anew),
      cmocka_unit_test(unseen_lists_after_short_ones_get_all_lanes),
      cmocka_unit_test(long_lists_keep_their_lanes_though_streams_come_and_go),
      cmocka_unit_test(a_single_stream_teaches_nothing),
      cmocka_unit_test(no_more_lanes_than_the_device_or_the_streams_have),
  };
  return cmocka_run_group_tests_name("lane_tuner", tests, NULL, NULL);
}
