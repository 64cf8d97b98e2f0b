// SPDX-License-Identifier: BSD-3-Clause
// Division by a number that the host knows (ops/core/divider.h): a multiplication, where a division by any number is a
// routine of some forty instructions.
#ifndef LEAT_DIVIDER_GLSL_
#define LEAT_DIVIDER_GLSL_

struct Divider {
  uint inverse, shift;
};

// n / d for n < 2^31.
uint divide(uint n, Divider d) {
  uint high, low;
  umulExtended(n, d.inverse, high, low);
  return (high + n) >> d.shift;
}

#endif
