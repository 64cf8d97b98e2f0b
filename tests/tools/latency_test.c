/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Percentiles of run times, exact and sampled, and the table that shows them.
 */
#include "latency.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka.h needs the headers above before it. */
#include <cmocka.h>

#include "table.h"

static const double kPercents[] = {50.0, 99.0, 100.0};

static void nearest_rank_over_all_recorders(void **state) {
  (void)state;
  leati_latency *recorders[2] = {leati_latency_new(50), leati_latency_new(50)};
  for (int64_t i = 1; i <= 100; ++i) {
    leati_latency_add(recorders[i % 2], i * 1000000000);
  }
  double found[3];
  leati_latency_percentiles(recorders, 2, kPercents, 3, found);
  assert_true(found[0] == 50.0);
  assert_true(found[1] == 99.0);
  assert_true(found[2] == 100.0);
  leati_latency_free(recorders[0]);
  leati_latency_free(recorders[1]);
}

static void nothing_and_one(void **state) {
  (void)state;
  leati_latency *recorder = leati_latency_new(1);
  double found[3] = {1.0, 1.0, 1.0};
  leati_latency_percentiles(&recorder, 1, kPercents, 3, found);
  assert_true(found[0] == 0.0 && found[2] == 0.0);
  leati_latency_add(recorder, 2000000000);
  leati_latency_percentiles(&recorder, 1, kPercents, 3, found);
  assert_true(found[0] == 2.0 && found[1] == 2.0 && found[2] == 2.0);
  leati_latency_free(recorder);
}

/* Ten times as many as are kept, evenly from 0 to 1 s. The kept ones are a uniform sample of n = 32,768: the share of
 * them below a value has a standard deviation of at most 0.5 / sqrt(n) = 0.0028, so 0.02 is seven of those. */
static void a_sample_is_fair(void **state) {
  (void)state;
  const int64_t count = 10 * LEATI_LATENCY_KEPT;
  leati_latency *recorder = leati_latency_new(count);
  for (int64_t i = 0; i < count; ++i) {
    leati_latency_add(recorder, i * 1000000000 / count);
  }
  double found[3];
  leati_latency_percentiles(&recorder, 1, kPercents, 3, found);
  assert_true(found[0] > 0.48 && found[0] < 0.52);
  assert_true(found[1] > 0.97 && found[1] <= 1.0);
  leati_latency_free(recorder);
}

/* A recorder that keeps a tenth of what it saw still counts for all of it. */
static void samples_weigh_what_they_stand_for(void **state) {
  (void)state;
  leati_latency *recorders[2] = {leati_latency_new(10 * LEATI_LATENCY_KEPT), leati_latency_new(2 * LEATI_LATENCY_KEPT)};
  for (int64_t i = 0; i < 10 * LEATI_LATENCY_KEPT; ++i) {
    leati_latency_add(recorders[0], 1000000000);
  }
  for (int64_t i = 0; i < 2 * LEATI_LATENCY_KEPT; ++i) {
    leati_latency_add(recorders[1], 2000000000);
  }
  /* 10 of 12 parts, 83 percent, take one second. */
  const double percents[] = {80.0, 86.0};
  double found[2];
  leati_latency_percentiles(recorders, 2, percents, 2, found);
  assert_true(found[0] == 1.0);
  assert_true(found[1] == 2.0);
  leati_latency_free(recorders[0]);
  leati_latency_free(recorders[1]);
}

static void columns_line_up(void **state) {
  (void)state;
  const char *const heading[] = {"model", "runs", NULL};
  leati_table *table = leati_table_new(heading);
  char *first[] = {g_strdup("caf\xc3\xa9-net"), g_strdup("5")};
  char *second[] = {g_strdup("b"), g_strdup("123456")};
  leati_table_add(table, first);
  leati_table_add(table, second);
  char *text = leati_table_text(table);
  assert_string_equal(text, "model       runs\ncaf\xc3\xa9-net       5\nb         123456\n");
  g_free(text);
  leati_table_free(table);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nearest_rank_over_all_recorders),
      cmocka_unit_test(nothing_and_one),
      cmocka_unit_test(a_sample_is_fair),
      cmocka_unit_test(samples_weigh_what_they_stand_for),
      cmocka_unit_test(columns_line_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
