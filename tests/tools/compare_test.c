/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Comparison of results, the tolerance, and the conversions between element types that both rest on.
 */
#include "compare.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the headers above before it. */
#include <cmocka.h>
#include <math.h>
#include <string.h>

/* Compares two rows of float32. */
static leati_comparison compare_rows(const float *got, const float *want, int64_t count, double tolerance) {
  leati_ndarray a;
  leati_ndarray b;
  leati_comparison out;
  assert_true(leati_ndarray_wrap(LEATI_FLOAT32, 1, &count, (void *)got, &a, NULL));
  assert_true(leati_ndarray_wrap(LEATI_FLOAT32, 1, &count, (void *)want, &b, NULL));
  leati_compare(&a, &b, tolerance, &out);
  assert_true(out.same == (out.what[0] == '\0'));
  return out;
}

static void error_is_relative_to_the_largest(void **state) {
  (void)state;
  const float want[3] = {100.0f, 0.0f, -50.0f};
  const float got[3] = {100.0f, 0.5f, -50.0f};
  leati_comparison found = compare_rows(got, want, 3, 0.006);
  assert_true(found.same);
  assert_true(fabs(found.error - 0.005) < 1e-9);
  found = compare_rows(got, want, 3, 0.004);
  assert_false(found.same);
  assert_non_null(strstr(found.what, "element 1 is 0.5 and should be 0"));
}

static void nan_and_infinity_must_be_in_the_same_places(void **state) {
  (void)state;
  const float want[4] = {NAN, INFINITY, -INFINITY, 1.0f};
  const float others[] = {0.0f, NAN, INFINITY, -INFINITY};
  assert_true(compare_rows(want, want, 4, 0.0).same);
  for (size_t place = 0; place < 4; ++place) {
    for (size_t i = 0; i < 4; ++i) {
      float got[4];
      memcpy(got, want, sizeof(got));
      got[place] = others[i];
      const int is_equal =
          memcmp(&got[place], &want[place], sizeof(float)) == 0 || (isnan(got[place]) && isnan(want[place]));
      const leati_comparison found = compare_rows(got, want, 4, 0.5);
      assert_int_equal(found.same, is_equal);
      assert_true(is_equal || isinf(found.error) || place == 3);
    }
  }
}

static void zero_has_the_scale_of_one_rounding(void **state) {
  (void)state;
  const float zero[2] = {0.0f, 0.0f};
  const float noise[2] = {1e-12f, 0.0f};
  const float wrong[2] = {1e-6f, 0.0f};
  assert_true(compare_rows(noise, zero, 2, 1e-3).same);
  assert_false(compare_rows(wrong, zero, 2, 1e-3).same);
  assert_true(compare_rows(zero, zero, 0, 0.0).same);
}

static void shape_and_type_count(void **state) {
  (void)state;
  float data[6] = {0};
  const int64_t flat[] = {6};
  const int64_t deep[] = {2, 3};
  leati_ndarray a;
  leati_ndarray b;
  leati_comparison found;
  assert_true(leati_ndarray_wrap(LEATI_FLOAT32, 1, flat, data, &a, NULL));
  assert_true(leati_ndarray_wrap(LEATI_FLOAT32, 2, deep, data, &b, NULL));
  leati_compare(&a, &b, 1.0, &found);
  assert_false(found.same);
  assert_non_null(strstr(found.what, "[6] and should be [2,3]"));
  assert_true(leati_ndarray_wrap(LEATI_INT32, 1, flat, data, &b, NULL));
  leati_compare(&a, &b, 1.0, &found);
  assert_false(found.same);
  assert_non_null(strstr(found.what, "float32 and should be int32"));
}

static void whole_numbers_are_exact(void **state) {
  (void)state;
  /* Neighbours beyond 2^53, which a comparison by way of double would take for equal. */
  int64_t want[2] = {1, INT64_C(9007199254740993)};
  int64_t got[2] = {1, INT64_C(9007199254740992)};
  const int64_t count = 2;
  leati_ndarray a;
  leati_ndarray b;
  leati_comparison found;
  assert_true(leati_ndarray_wrap(LEATI_INT64, 1, &count, got, &a, NULL));
  assert_true(leati_ndarray_wrap(LEATI_INT64, 1, &count, want, &b, NULL));
  leati_compare(&a, &b, 1.0, &found);
  assert_false(found.same);
  assert_true(isinf(found.error));
  got[1] = want[1];
  leati_compare(&a, &b, 0.0, &found);
  assert_true(found.same);
}

/* What right results do, another may: in its largest difference, in all of them together, and where the output varies
 * by more than that. */
static void spread_allows_what_right_results_do(void **state) {
  (void)state;
  const float wanted[4] = {1.0f, -1.0f, 1.0f, -1.0f}; /* whose standard deviation is 1 */
  const float single[1] = {3.0f};
  const struct {
    leati_distance off, spread;
    const float *want;
    int64_t count;
    gboolean right;
  } cases[] = {
      {{0.2, 0.02}, {0.1, 0.01}, wanted, 4, TRUE},   {{0.21, 0.02}, {0.1, 0.01}, wanted, 4, FALSE},
      {{0.2, 0.021}, {0.1, 0.01}, wanted, 4, FALSE}, {{1e-9, 1e-9}, {0.0, 0.0}, wanted, 4, FALSE},
      {{0.0, 0.0}, {0.0, 0.0}, wanted, 4, TRUE},     {{0.9, 0.9}, {2.0, 0.49}, wanted, 4, TRUE},
      {{0.9, 0.9}, {2.0, 0.5}, wanted, 4, FALSE},    {{2.0, 2.0}, {1.4, 1.4}, single, 1, TRUE},
      {{2.0, 2.0}, {1.6, 1.6}, single, 1, FALSE},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(cases); ++i) {
    leati_ndarray want;
    assert_true(leati_ndarray_wrap(LEATI_FLOAT32, 1, &cases[i].count, (void *)cases[i].want, &want, NULL));
    assert_int_equal(leati_distance_allowed(&cases[i].off, &cases[i].spread, &want), cases[i].right);
  }
}

static void distance_is_of_finite_elements(void **state) {
  (void)state;
  const int64_t count = 4;
  float a[4] = {1.0f, NAN, INFINITY, -1.0f};
  float b[4] = {1.0f, NAN, INFINITY, 2.0f};
  int8_t numbers[4] = {1, 2, 3, 127};
  int8_t others[4] = {1, 2, 3, -128};
  leati_ndarray x;
  leati_ndarray y;
  leati_distance out;
  assert_true(leati_ndarray_wrap(LEATI_FLOAT32, 1, &count, a, &x, NULL));
  assert_true(leati_ndarray_wrap(LEATI_FLOAT32, 1, &count, b, &y, NULL));
  assert_true(leati_distance_between(&x, &y, &out));
  assert_true(out.most == 3.0 && fabs(out.rms - sqrt(4.5)) < 1e-12);
  b[2] = -INFINITY;
  assert_false(leati_distance_between(&x, &y, &out));
  assert_true(leati_ndarray_wrap(LEATI_INT8, 1, &count, numbers, &x, NULL));
  assert_false(leati_distance_between(&x, &y, &out));
  assert_true(leati_ndarray_wrap(LEATI_INT8, 1, &count, others, &y, NULL));
  assert_true(leati_distance_between(&x, &y, &out));
  assert_true(out.most == 255.0 && out.rms == 127.5);
}

/* A step is to the next number, in each type, and never to another sign, to zero, or out of the finite ones. */
static void steps_are_to_neighbours(void **state) {
  (void)state;
  const leati_element elements[] = {LEATI_FLOAT32, LEATI_FLOAT64, LEATI_FLOAT16, LEATI_BFLOAT16};
  for (size_t e = 0; e < G_N_ELEMENTS(elements); ++e) {
    uint64_t data = 0;
    const double unit = 2.0 * leati_element_unit(elements[e]);
    const double cases[][3] = {
        /* before, steps, after */
        {1.0, 1, 1.0 + unit}, {1.0, -1, 1.0 - unit / 2}, {-1.0, 3, -1.0 - 3 * unit}, {-1.0, -2, unit - 1.0},
        {0.0, 5, 0.0},        {INFINITY, -1, INFINITY}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); ++i) {
      leati_element_write_float(elements[e], &data, 0, cases[i][0]);
      leati_element_step(elements[e], &data, 0, (int64_t)cases[i][1]);
      assert_true(leati_element_read(elements[e], &data, 0) == cases[i][2]);
    }
    /* The smallest number is one above zero. */
    memset(&data, 0, sizeof(data));
    memset(&data, 1, 1);
    const double smallest = leati_element_read(elements[e], &data, 0);
    leati_element_step(elements[e], &data, 0, -1);
    assert_true(smallest > 0.0 && leati_element_read(elements[e], &data, 0) == smallest);
    leati_element_step(elements[e], &data, 0, -2);
    assert_true(leati_element_read(elements[e], &data, 0) == smallest);
    leati_element_write_float(elements[e], &data, 0, NAN);
    leati_element_step(elements[e], &data, 0, 1);
    assert_true(isnan(leati_element_read(elements[e], &data, 0)));
  }
  uint16_t largest = 0x7bff;
  leati_element_step(LEATI_FLOAT16, &largest, 0, 1);
  assert_int_equal(largest, 0x7bff);
}

static void tolerance_follows_type_and_depth(void **state) {
  (void)state;
  const struct {
    leati_element element;
    size_t nodes;
    double value;
    int64_t ulps;
  } cases[] = {
      {LEATI_FLOAT32, 1, 0x1p-10, 32},  {LEATI_FLOAT32, 1024, 0x1p-10, 32}, {LEATI_FLOAT32, 4096, 0x1p-9, 64},
      {LEATI_FLOAT64, 10, 0x1p-39, 32}, {LEATI_FLOAT16, 1, 0x1p-7, 8},      {LEATI_FLOAT16, 256, 0x1p-6, 16},
      {LEATI_BFLOAT16, 64, 0x1p-4, 8},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(cases); ++i) {
    leati_tolerance out;
    leati_tolerance_choose(cases[i].element, cases[i].nodes, &out);
    assert_true(out.value == cases[i].value);
    assert_int_equal(out.ulps, cases[i].ulps);
    assert_non_null(strstr(out.reason, leati_element_name(cases[i].element)));
    g_free(out.reason);
  }
  assert_non_null(strstr(leati_tolerance_explain(), "2^-10"));
}

/* Every float16 is read and written back as itself; what lies between two goes to the nearer, halves to even. */
static void float16_rounds_to_nearest_even(void **state) {
  (void)state;
  double before = -1.0;
  for (unsigned bits = 0; bits < 0x7c00; ++bits) {
    const uint16_t half = (uint16_t)bits;
    uint16_t back = 0;
    const double value = leati_element_read(LEATI_FLOAT16, &half, 0);
    leati_element_write_float(LEATI_FLOAT16, &back, 0, value);
    assert_int_equal(back, half);
    if (bits > 0) {
      const double middle = (before + value) / 2.0;
      leati_element_write_float(LEATI_FLOAT16, &back, 0, middle);
      assert_int_equal(back, bits % 2 == 0 ? bits : bits - 1);
      leati_element_write_float(LEATI_FLOAT16, &back, 0, -nextafter(middle, 1e9));
      assert_int_equal(back, bits | 0x8000);
    }
    before = value;
  }
  uint16_t out = 0;
  leati_element_write_float(LEATI_FLOAT16, &out, 0, 65519.99);
  assert_int_equal(out, 0x7bff);
  leati_element_write_float(LEATI_FLOAT16, &out, 0, 65520.0);
  assert_int_equal(out, 0x7c00);
  leati_element_write_float(LEATI_FLOAT16, &out, 0, NAN);
  assert_true(isnan(leati_element_read(LEATI_FLOAT16, &out, 0)));
  leati_element_write_float(LEATI_FLOAT16, &out, 0, -INFINITY);
  assert_true(leati_element_read(LEATI_FLOAT16, &out, 0) == -INFINITY);
}

static void bfloat16_rounds_to_nearest_even(void **state) {
  (void)state;
  const struct {
    double value;
    double rounded;
  } cases[] = {
      {1.0, 1.0},           {1.0 + 0x1p-8, 1.0}, {1.0 + 3 * 0x1p-8, 1.0 + 0x1p-6}, {-1.0 - 0x1p-7, -1.0 - 0x1p-7},
      {INFINITY, INFINITY}, {3.4e38, INFINITY}};
  for (size_t i = 0; i < G_N_ELEMENTS(cases); ++i) {
    uint16_t bits = 0;
    leati_element_write_float(LEATI_BFLOAT16, &bits, 0, cases[i].value);
    assert_true(leati_element_read(LEATI_BFLOAT16, &bits, 0) == cases[i].rounded);
  }
  uint16_t bits = 0;
  leati_element_write_float(LEATI_BFLOAT16, &bits, 0, NAN);
  assert_true(isnan(leati_element_read(LEATI_BFLOAT16, &bits, 0)));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(error_is_relative_to_the_largest),
      cmocka_unit_test(nan_and_infinity_must_be_in_the_same_places),
      cmocka_unit_test(zero_has_the_scale_of_one_rounding),
      cmocka_unit_test(shape_and_type_count),
      cmocka_unit_test(whole_numbers_are_exact),
      cmocka_unit_test(spread_allows_what_right_results_do),
      cmocka_unit_test(distance_is_of_finite_elements),
      cmocka_unit_test(steps_are_to_neighbours),
      cmocka_unit_test(tolerance_follows_type_and_depth),
      cmocka_unit_test(float16_rounds_to_nearest_even),
      cmocka_unit_test(bfloat16_rounds_to_nearest_even),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
