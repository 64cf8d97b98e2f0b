/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes that sessions compile for: names of dimensions and sums of them, probes, and the option warm_shapes. */
#include "probe_shapes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
/* cmocka wants the four above first. */
#include <cmocka.h>

static leati_dimensions named(const char *const *names, size_t count) {
  leati_dimensions dimensions = {0};
  for (size_t i = 0; i < count; ++i) {
    leati_dimensions_add(&dimensions, names[i]);
  }
  return dimensions;
}
#define NAMED(...) \
  named((const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static void names_are_there_once(void **state) {
  (void)state;
  leati_dimensions d = NAMED("batch", "length", "batch", "past + length", "2", "past", "past + length + 1");
  char text[64];
  leati_dimensions_list(&d, text, sizeof(text));
  assert_string_equal(text, "batch, length, past + length, past");
  d.sizes[0] = 5;
  d.sizes[1] = 7;
  d.sizes[2] = 100;
  d.sizes[3] = 11;
  assert_int_equal(leati_dimensions_size(&d, "length"), 7);
  assert_int_equal(leati_dimensions_size(&d, "past + length"), 100);
  assert_int_equal(leati_dimensions_size(&d, "past + length + 1"), 19);
  assert_int_equal(leati_dimensions_size(&d, "past+1"), 12);
  assert_int_equal(leati_dimensions_size(&d, "3"), 3);
  assert_int_equal(leati_dimensions_size(&d, "past + "), -1);
  assert_int_equal(leati_dimensions_size(&d, "lengt"), -1);
  assert_int_equal(leati_dimensions_size(&d, "length "), 7);
  assert_int_equal(leati_dimensions_size(&d, ""), -1);
  d.sizes[3] = -1;
  assert_int_equal(leati_dimensions_size(&d, "past + 1"), -1);
  leati_dimensions_list(&d, text, 8);
  assert_string_equal(text, "batch, ");
}

static void names_without_room_have_no_size(void **state) {
  (void)state;
  char names[LEATI_DIMENSIONS_MAX + 2][8];
  leati_dimensions d = {0};
  for (int i = 0; i < LEATI_DIMENSIONS_MAX + 2; ++i) {
    snprintf(names[i], sizeof(names[i]), "n%d", i);
    leati_dimensions_add(&d, names[i]);
  }
  assert_int_equal(d.count, LEATI_DIMENSIONS_MAX);
  leati_probe_set(&d, 0);
  assert_int_equal(leati_dimensions_size(&d, names[LEATI_DIMENSIONS_MAX]), -1);
  for (int i = 0; i < LEATI_DIMENSIONS_MAX; ++i) {
    for (int k = 0; k < i; ++k) {
      assert_true(d.sizes[i] > 1 && d.sizes[i] != d.sizes[k]);
    }
  }
}

static void probes_are_ones_and_primes(void **state) {
  (void)state;
  leati_dimensions none = {0};
  assert_int_equal(leati_probe_count(&none), 1);
  leati_probe_set(&none, 0);
  leati_dimensions d = NAMED("a", "b");
  const size_t count = leati_probe_count(&d);
  uint32_t patterns = 0;
  assert_int_equal(count, 9 * 3 + 1);
  for (size_t i = 0; i < count; ++i) {
    leati_probe_set(&d, i);
    patterns |= 1u << ((d.sizes[0] == 1) | (d.sizes[1] == 1) << 1);
    assert_true(d.sizes[0] >= 1 && d.sizes[1] >= 1);
    assert_true(d.sizes[0] != d.sizes[1] || d.sizes[0] == 1);
  }
  assert_int_equal(patterns, 15);
  leati_probe_set(&d, 0);
  assert_int_equal(d.sizes[0], 37);
  assert_int_equal(d.sizes[1], 41);
  leati_probe_set(&d, 1);
  assert_int_equal(d.sizes[0], 1);
  assert_int_equal(d.sizes[1], 41);
  leati_probe_set(&d, 3);
  assert_int_equal(d.sizes[0], 1);
  assert_int_equal(d.sizes[1], 1);
  leati_probe_set(&d, 4);
  assert_int_equal(d.sizes[0], 127);
  assert_int_equal(d.sizes[1], 131);
}

/* No two probes are the same, and all of one name are tried with one size for the others. */
static void no_probe_comes_twice(void **state) {
  (void)state;
  leati_dimensions d = NAMED("a", "b", "c", "d"), other = d;
  const size_t count = leati_probe_count(&d);
  for (size_t i = 0; i < count; ++i) {
    leati_probe_set(&d, i);
    assert_true(d.sizes[3] > 1);
    for (size_t k = 0; k < i; ++k) {
      leati_probe_set(&other, k);
      assert_true(memcmp(d.sizes, other.sizes, 4 * sizeof(d.sizes[0])) != 0);
    }
  }
}

static void sums_follow(void **state) {
  (void)state;
  leati_dimensions d = NAMED("batch", "length", "total", "past");
  d.sum = 2;
  d.sum_of[0] = 3;
  d.sum_of[1] = 1;
  const size_t count = leati_probe_count(&d);
  bool steps = false;
  assert_int_equal(count, 9 * 7 + 1);
  for (size_t i = 0; i < count; ++i) {
    leati_probe_set(&d, i);
    assert_int_equal(d.sizes[2], d.sizes[1] + d.sizes[3]);
    steps = steps || (d.sizes[0] == 1 && d.sizes[1] == 1 && d.sizes[3] > 1);
  }
  assert_true(steps);
  d.sum_of[1] = -1;
  leati_probe_set(&d, 0);
  assert_int_equal(d.sizes[2], d.sizes[3]);
}

static void values_have_a_form(void **state) {
  (void)state;
  static const char *const good[] = {"probe", "none", "a=1", "a=0,b=2147483647", " a b = 1 ;c=2", "a.b[0]=7;a.b[0]=8"};
  static const char *const bad[] = {"",      "Probe",        "a",     "a=",    "=1",    "a=1,",         "a=1;",
                                    ";a=1",  "a=-1",         "a=1.0", "a=1=2", "a=0x1", "a=2147483648", "a= ;b=1",
                                    "a=1 2", "a=99999999999"};
  for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); ++i) {
    assert_true(leati_warm_shapes_valid(good[i]));
  }
  for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); ++i) {
    if (leati_warm_shapes_valid(bad[i])) {
      fail_msg("'%s' is taken", bad[i]);
    }
  }
  char many[4 * (LEATI_WARM_SETS_MAX + 1) + 1] = "";
  for (int i = 0; i < LEATI_WARM_SETS_MAX; ++i) {
    strcat(many, i ? ";a=1" : "a=1");
  }
  assert_true(leati_warm_shapes_valid(many));
  strcat(many, ";a=1");
  assert_false(leati_warm_shapes_valid(many));
}

static void sets_are_read_one_by_one(void **state) {
  (void)state;
  leati_dimensions d = NAMED("batch", "length", "length + 1");
  char why[128] = "";
  const char *rest = leati_warm_shapes_next("batch=1,length=128; length = 0 , batch = 8", &d, why, sizeof(why));
  assert_string_equal(rest, " length = 0 , batch = 8");
  assert_int_equal(d.sizes[0], 1);
  assert_int_equal(d.sizes[1], 128);
  assert_int_equal(leati_dimensions_size(&d, "length + 1"), 129);
  rest = leati_warm_shapes_next(rest, &d, why, sizeof(why));
  assert_string_equal(rest, "");
  assert_int_equal(d.sizes[0], 8);
  assert_int_equal(d.sizes[1], 0);
  assert_null(leati_warm_shapes_next("batch=1,width=2", &d, why, sizeof(why)));
  assert_string_equal(why, "the model has no dimension 'width'; it has batch, length");
  assert_null(leati_warm_shapes_next("batch=1,length=2,batch=1", &d, why, sizeof(why)));
  assert_string_equal(why, "dimension 'batch' is there twice");
  assert_null(leati_warm_shapes_next("length=2;batch=1,length=1", &d, why, sizeof(why)));
  assert_string_equal(why, "the set 'length=2' leaves out dimension 'batch'; the model has batch, length");
  leati_dimensions none = {0};
  assert_null(leati_warm_shapes_next("batch=1", &none, why, sizeof(why)));
  assert_string_equal(why, "the model has no dimension 'batch'; it has none that is open");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_are_there_once),
      cmocka_unit_test(names_without_room_have_no_size),
      cmocka_unit_test(probes_are_ones_and_primes),
      cmocka_unit_test(no_probe_comes_twice),
      cmocka_unit_test(sums_follow),
      cmocka_unit_test(values_have_a_form),
      cmocka_unit_test(sets_are_read_one_by_one),
  };
  return cmocka_run_group_tests_name("provider.probe_shapes", tests, NULL, NULL);
}
