/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Numbers that kernels divide by. Integer division is a routine of some forty instructions on a GPU, each of which
 * waits for the one before it; where the divisor is known when a dispatch is planned, a multiplication takes its place.
 */
#ifndef LEAT_PLUGIN_OPS_CORE_DIVIDER_H_
#define LEAT_PLUGIN_OPS_CORE_DIVIDER_H_

#include <stdint.h>

/** In argument records; Divider in kernels/divider.glsl, whose divide() takes one. */
typedef struct leati_divider {
  uint32_t inverse; /**< of the divisor, rounded up to 33 bits, of which the highest is implied */
  uint32_t shift;
} leati_divider;

/** Any divisor of numbers below 2^31: n / d = (n + (n * inverse >> 32)) >> shift (Granlund and Montgomery, Division by
 * Invariant Integers using Multiplication, 1994). By 0, which divides nothing, as by 1. */
leati_divider leati_divider_of(uint32_t d);

#endif /* LEAT_PLUGIN_OPS_CORE_DIVIDER_H_ */
