// SPDX-License-Identifier: BSD-3-Clause
// Where in its input an element of a Resize lies.
#ifndef LEAT_RESIZE_PLACE_GLSL_
#define LEAT_RESIZE_PLACE_GLSL_

// Upper half of a float's digits.
float upper(float a) {
  return uintBitsToFloat(floatBitsToUint(a) & 0xfffff000u);
}

// A quotient rounded as IEEE 754 says, so that coordinates are those of any CPU: the hardware's may be off by two
// units, and fma() may round twice. What is left of a after q * b is found exactly, from halves, and divided once more.
// `rest` is what rounding lost.
float divide(float a, float b, out float rest) {
  precise float q = a / b;
  precise float left = 0;
  [[unroll]] for (int i = 0; i < 2; ++i) {
    precise const float q0 = upper(q), q1 = q - q0;
    precise const float b0 = upper(b), b1 = b - b0;
    left = ((a - q0 * b0) - q0 * b1 - q1 * b0) - q1 * b1;
    if (i == 0) {
      q = q + left / b;
    }
  }
  rest = left / b;
  return q;
}

// a + b; `rest` is what rounding lost.
float add(float a, float b, out float rest) {
  precise const float sum = a + b;
  precise const float b_seen = sum - a;
  rest = (a - (sum - b_seen)) + (b - b_seen);
  return sum;
}

// The input coordinate of an output index: offset + (index + shift) * span * factor / divisor - less. With
// `keep_digits` it is rounded once, as if it had been found in double precision.
float place_of(uint index, float shift, float span, float factor, float divisor, float offset, float less,
               bool keep_digits) {
  float lost, lost_too, lost_again;
  const float scaled = divide((float(index) + shift) * span * factor, divisor, lost);
  const float moved = add(offset, scaled, lost_too);
  const float at = add(moved, -less, lost_again);
  return keep_digits ? at + (lost + lost_too + lost_again) : at;
}

#endif
