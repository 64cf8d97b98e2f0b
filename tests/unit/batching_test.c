/* SPDX-License-Identifier: BSD-3-Clause */
/* What a lane learns of its batches: how many to have in flight, and whom to wait for. Times are made up. */
#include "submit/batching.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first. */
#include <cmocka.h>

#define US UINT64_C(1000)

/* A lane, and where it stands. */
typedef struct lane {
  leati_batching batching;
  uint64_t now, sent, ended; /* time; batches */
  uint32_t lists;            /* handed over */
} lane;

static void begin(lane *l) {
  *l = (lane){.now = 1000000 * US};
  leati_batching_begin(&l->batching);
}

/* The leader submits a batch; writing takes `wrote` us. */
static void submit(lane *l, uint32_t lists, uint64_t wrote) {
  l->lists += lists;
  l->now += wrote * US;
  leati_batching_wrote(&l->batching, wrote * US);
  leati_batching_submitted(&l->batching, ++l->sent, lists, l->now);
}

/* The next batch ends so much later. */
static void end(lane *l, uint64_t us) {
  l->now += us * US;
  leati_batching_ended(&l->batching, ++l->ended, l->lists, l->now, true);
}

static void two_in_flight_where_nothing_is_known(void **state) {
  (void)state;
  lane l;
  begin(&l);
  assert_int_equal(leati_batching_in_flight(&l.batching), 2);
  assert_int_equal(leati_batching_gather_until(&l.batching, 0), 0);
}

static void one_in_flight_where_batches_take_longer_than_the_next_one_to_come(void **state) {
  (void)state;
  lane l;
  begin(&l);
  /* Two groups of four chains each: 15 us to write, some 85 us to run. */
  submit(&l, 4, 15);
  submit(&l, 4, 15);
  end(&l, 70);
  end(&l, 85);
  assert_int_equal(leati_batching_in_flight(&l.batching), 1);
  /* All in one, which takes twice as long to write: still worth it. */
  for (int i = 0; i < 3; ++i) {
    submit(&l, 8, 30);
    end(&l, 90);
    assert_int_equal(leati_batching_in_flight(&l.batching), 1);
  }
}

static void two_in_flight_where_writing_takes_as_long_as_running(void **state) {
  (void)state;
  lane l;
  begin(&l);
  for (int i = 0; i < 3; ++i) {
    submit(&l, 15, 50);
    submit(&l, 16, 50);
    end(&l, 60);
    end(&l, 100);
    assert_int_equal(leati_batching_in_flight(&l.batching), 2);
  }
  /* Short ones, on a device that is far away: most of it is the way. */
  begin(&l);
  for (int i = 0; i < 3; ++i) {
    submit(&l, 1, 2);
    end(&l, 45);
    assert_int_equal(leati_batching_in_flight(&l.batching), 2);
  }
}

static void a_batch_takes_from_the_end_of_the_one_before(void **state) {
  (void)state;
  lane l;
  begin(&l);
  /* Eight in a row of 45 us each, submitted at once: none of them is long. */
  for (int i = 0; i < 8; ++i) {
    submit(&l, 1, 2);
  }
  for (int i = 0; i < 8; ++i) {
    end(&l, 45);
    assert_int_equal(leati_batching_in_flight(&l.batching), 2);
  }
}

static void other_work_is_learnt_with_its_first_batch(void **state) {
  (void)state;
  lane l;
  begin(&l);
  submit(&l, 2, 5);
  end(&l, 1000);
  assert_int_equal(leati_batching_in_flight(&l.batching), 1);
  submit(&l, 2, 5);
  end(&l, 12);
  assert_int_equal(leati_batching_in_flight(&l.batching), 2);
}

static void one_in_flight_only_where_lists_meet(void **state) {
  (void)state;
  enum { BATCHES = 1000 };
  lane l;
  begin(&l);
  /* Two threads with other things to do: no other list comes in time. */
  unsigned one = 0;
  for (int i = 0; i < BATCHES; ++i) {
    submit(&l, 1, 5);
    end(&l, 100);
    one += leati_batching_in_flight(&l.batching) == 1 ? 1u : 0u;
  }
  assert_in_range(one, 1, BATCHES / 10);
  /* Then they run in step: found out in time, and kept, though now and then one is late. */
  unsigned in_a_row = 0;
  for (int i = 0; i < BATCHES && in_a_row < 100; ++i) {
    const bool together = leati_batching_in_flight(&l.batching) == 1;
    submit(&l, together && i % 10 != 0 ? 2 : 1, 5);
    end(&l, 100);
    in_a_row = together ? in_a_row + 1 : 0;
  }
  assert_int_equal(in_a_row, 100);
}

/* Batches in flight after one of two lists. */
static uint32_t after_one(uint32_t in_flight, uint64_t wrote, uint64_t took) {
  lane l;
  begin(&l);
  atomic_store_explicit(&l.batching.in_flight, in_flight, memory_order_relaxed);
  submit(&l, 2, wrote);
  end(&l, took);
  return leati_batching_in_flight(&l.batching);
}

static void what_the_queue_would_lose_counts(void **state) {
  (void)state;
  /* Twice what is written, which is the double of what it was with two in flight, and 20 us. */
  assert_int_equal(after_one(2, 30, 100), 2);
  assert_int_equal(after_one(2, 22, 100), 2);
  assert_int_equal(after_one(2, 19, 100), 1);
  assert_int_equal(after_one(1, 39, 100), 1);
  assert_int_equal(after_one(1, 41, 100), 2);
}

static void lists_need_not_meet_all_the_time(void **state) {
  (void)state;
  lane l;
  begin(&l);
  /* With two in flight they have no reason to. */
  for (int i = 0; i < 100; ++i) {
    submit(&l, 1, 2);
    end(&l, 45);
  }
  for (int i = 0; i < 100; ++i) {
    submit(&l, i % 15 == 14 ? 2 : 1, 2);
    end(&l, 100);
    assert_int_equal(leati_batching_in_flight(&l.batching), 1);
  }
  /* A thread alone, with long and short ones in turn: none is taken for a meeting. */
  unsigned one = 0;
  for (int i = 0; i < 1000; ++i) {
    submit(&l, 1, 2);
    end(&l, i % 2 == 0 ? 100 : 12);
    one += leati_batching_in_flight(&l.batching) == 1 ? 1u : 0u;
  }
  assert_in_range(one, 1, 100);
}

static void several_that_are_seen_at_once_are_told_apart(void **state) {
  (void)state;
  lane l;
  begin(&l);
  for (int i = 0; i < 8; ++i) {
    submit(&l, 2, 1);
  }
  l.ended += 7;
  end(&l, 80);
  assert_int_equal(leati_batching_in_flight(&l.batching), 2);
  /* The one that was sent first began first. */
  submit(&l, 2, 1);
  l.now += 90 * US;
  submit(&l, 2, 1);
  l.ended += 1;
  end(&l, 70);
  assert_int_equal(leati_batching_in_flight(&l.batching), 1);
}

static void an_end_that_nobody_watched_teaches_no_time(void **state) {
  (void)state;
  lane l;
  begin(&l);
  submit(&l, 3, 2);
  end(&l, 1000);
  assert_int_equal(leati_batching_in_flight(&l.batching), 1);
  const uint64_t long_ns = leati_batching_gather_until(&l.batching, l.lists) - l.now;
  submit(&l, 3, 2);
  l.now += 5000 * US;
  leati_batching_ended(&l.batching, ++l.ended, l.lists, l.now, false);
  assert_int_equal(leati_batching_in_flight(&l.batching), 1);
  assert_true(leati_batching_gather_until(&l.batching, l.lists) - l.now < long_ns);
  /* Nor does a batch without lists, which is there for a sync file. */
  submit(&l, 0, 2);
  end(&l, 12);
  assert_int_equal(leati_batching_in_flight(&l.batching), 1);
  assert_int_equal(leati_batching_gather_until(&l.batching, l.lists), 0);
}

static void what_lists_take_adds_up(void **state) {
  (void)state;
  lane l;
  begin(&l);
  /* Two batches are seen to end at once. Nothing is in flight after them for a while. */
  submit(&l, 3, 2);
  submit(&l, 2, 0);
  ++l.ended;
  end(&l, 100);
  l.now += 5000 * US;
  submit(&l, 4, 2);
  end(&l, 50);
  assert_int_equal(leati_batching_seen_lists(&l.batching), 9);
  assert_int_equal(leati_batching_busy_ns(&l.batching), 150 * US);
  /* Nobody knows what this one took. */
  submit(&l, 4, 2);
  leati_batching_ended(&l.batching, ++l.ended, l.lists, l.now + 5000 * US, false);
  assert_int_equal(leati_batching_seen_lists(&l.batching), 9);
  assert_int_equal(leati_batching_busy_ns(&l.batching), 150 * US);
}

/* More batches than are remembered: what they take is not put down to a few of them. */
static void many_batches_in_flight_make_no_long_lists(void **state) {
  (void)state;
  for (int most = 60; most < 150; ++most) {
    lane l;
    begin(&l);
    for (int i = 0; i < most; ++i) {
      submit(&l, 1, 0);
    }
    for (int i = 0; i < most; ++i) {
      end(&l, 5);
    }
    const uint32_t seen = leati_batching_seen_lists(&l.batching);
    const uint64_t busy = leati_batching_busy_ns(&l.batching);
    if (seen > (uint32_t)most || busy > 5 * US * seen) {
      print_message("%d batches: seen %u, busy %u us\n", most, seen, (unsigned)(busy / US));
    }
    assert_true(seen <= (uint32_t)most && busy <= 5 * US * seen);
  }
}

/* How long lists gather on a lane whose last batch, of three lists, took so long. */
static uint64_t gather_after(uint64_t us) {
  lane l;
  begin(&l);
  submit(&l, 3, 2);
  end(&l, us);
  const uint64_t until = leati_batching_gather_until(&l.batching, l.lists);
  assert_true(until > l.now);
  /* Until as many have come. */
  assert_int_equal(leati_batching_gather_until(&l.batching, l.lists + 2), until);
  assert_int_equal(leati_batching_gather_until(&l.batching, l.lists + 3), 0);
  assert_int_equal(leati_batching_gather_until(&l.batching, l.lists + 4), 0);
  return until - l.now;
}

static void lists_gather_in_proportion(void **state) {
  (void)state;
  const uint64_t little = gather_after(10);
  assert_true(little > 0 && little < 10 * US);
  assert_int_equal(gather_after(20), little);
  assert_int_equal(gather_after(800), 100 * US);
  /* Never for longer than somebody notices. */
  assert_int_equal(gather_after(100000), gather_after(1000000));
  assert_true(gather_after(100000) < 1000 * US);
}

static void lists_are_counted_through_their_overflow(void **state) {
  (void)state;
  lane l;
  begin(&l);
  l.lists = UINT32_MAX - 1;
  leati_batching_submitted(&l.batching, ++l.sent, UINT32_MAX - 1, l.now);
  submit(&l, 4, 2);
  l.ended = 1;
  end(&l, 10);
  assert_int_equal(l.lists, 2);
  assert_true(leati_batching_gather_until(&l.batching, l.lists + 3) != 0);
  assert_int_equal(leati_batching_gather_until(&l.batching, l.lists + 4), 0);
}

static void an_end_that_is_known_teaches_nothing(void **state) {
  (void)state;
  lane l;
  begin(&l);
  submit(&l, 1, 2);
  submit(&l, 1, 2);
  leati_batching_ended(&l.batching, 2, l.lists, l.now + 15 * US, true);
  assert_true(leati_batching_knows(&l.batching, 2));
  assert_false(leati_batching_knows(&l.batching, 3));
  /* Somebody slow says so again, and of the one before. */
  leati_batching_ended(&l.batching, 2, l.lists, l.now + 5000 * US, true);
  leati_batching_ended(&l.batching, 1, l.lists, l.now + 5000 * US, true);
  assert_int_equal(leati_batching_in_flight(&l.batching), 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_in_flight_where_nothing_is_known),
      cmocka_unit_test(one_in_flight_where_batches_take_longer_than_the_next_one_to_come),
      cmocka_unit_test(two_in_flight_where_writing_takes_as_long_as_running),
      cmocka_unit_test(a_batch_takes_from_the_end_of_the_one_before),
      cmocka_unit_test(other_work_is_learnt_with_its_first_batch),
      cmocka_unit_test(one_in_flight_only_where_lists_meet),
      cmocka_unit_test(what_the_queue_would_lose_counts),
      cmocka_unit_test(lists_need_not_meet_all_the_time),
      cmocka_unit_test(several_that_are_seen_at_once_are_told_apart),
      cmocka_unit_test(an_end_that_nobody_watched_teaches_no_time),
      cmocka_unit_test(what_lists_take_adds_up),
      cmocka_unit_test(many_batches_in_flight_make_no_long_lists),
      cmocka_unit_test(lists_gather_in_proportion),
      cmocka_unit_test(lists_are_counted_through_their_overflow),
      cmocka_unit_test(an_end_that_is_known_teaches_nothing),
  };
  return cmocka_run_group_tests_name("batching", tests, NULL, NULL);
}
