/* SPDX-License-Identifier: BSD-3-Clause */
/* What kernels divide by: the quotient that kernels/divider.glsl computes is that of C, at both ends of its range. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first. */
#include <cmocka.h>

#include "ops/core/divider.h"

#define MOST UINT32_C(0x7fffffff) /* of what is divided */

/* divide() of kernels/divider.glsl. */
static uint32_t divide(uint32_t n, leati_divider d) {
  const uint32_t high = (uint32_t)((uint64_t)n * d.inverse >> 32);
  return (high + n) >> d.shift;
}

/* Numbers about multiples of d, where a quotient that is off by the least is another one: from the first on, in the
 * middle, and up to the last. */
static void check(uint32_t d) {
  const leati_divider divider = leati_divider_of(d);
  const uint32_t last = MOST / d;
  const uint32_t multiples[] = {0, 1, 2, last / 3, last / 2, last - (last > 0), last};
  for (uint32_t i = 0; i < sizeof(multiples) / sizeof(multiples[0]); ++i) {
    const uint64_t multiple = (uint64_t)multiples[i] * d;
    for (int64_t off = -2; off <= 2; ++off) {
      const int64_t n = (int64_t)multiple + off;
      if (n >= 0 && n <= (int64_t)MOST) {
        assert_int_equal(divide((uint32_t)n, divider), (uint32_t)n / d);
      }
    }
  }
  assert_int_equal(divide(MOST, divider), MOST / d);
}

static void quotients_are_those_of_c(void **state) {
  (void)state;
  for (uint32_t d = 1; d <= 70000; ++d) {
    check(d);
  }
  for (uint32_t bit = 16; bit <= 31; ++bit) {
    const uint32_t power = UINT32_C(1) << bit;
    check(power - 1);
    check(power);
    if (bit < 31) {
      check(power + 1);
    }
  }
  for (uint32_t d = MOST; d > MOST - 1000; --d) {
    check(d);
  }
  /* Sizes of which nothing is there may be larger than what is divided. */
  check(MOST + 2);
  check(UINT32_C(3000000000));
  check(UINT32_MAX);
}

static void nothing_divides_as_one(void **state) {
  (void)state;
  const leati_divider divider = leati_divider_of(0);
  assert_int_equal(divide(0, divider), 0);
  assert_int_equal(divide(MOST, divider), MOST);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(quotients_are_those_of_c),
                                     cmocka_unit_test(nothing_divides_as_one)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
