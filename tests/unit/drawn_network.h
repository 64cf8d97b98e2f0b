/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Networks drawn at random, whose results do not depend on how they are computed.
 *
 * Each value is a multiple of 2^-fraction and not above 2^bound in magnitude, with so few bits in all that its type
 * holds it, and each sum is one of so few that float32 does: so no order of sums, and no rounding left out, changes a
 * bit.
 */
#ifndef LEAT_TESTS_UNIT_DRAWN_NETWORK_H_
#define LEAT_TESTS_UNIT_DRAWN_NETWORK_H_

#include "unit_network.h"

enum { IMAGES = 24, DIMS = 4 };

/* What is known of a value. */
typedef struct drawn {
  uint32_t value;
  int64_t shape[DIMS];
  int ndim;
  int bound, fraction;
  bool used;
} drawn;

typedef struct drawing {
  network *network;
  uint64_t random;
  const uint8_t *choices; /* what is drawn next follows from these, as long as some are left */
  size_t choice_count;
  drawn list[IMAGES];
  int count;
  bool brain; /* values are of bfloat16, and not of float16 */
  leat_attribute attributes[NODES][2];
  int64_t numbers[NODES][2][4];
  const leat_attribute *lists[NODES][2];
} drawing;

/** Draws a network of float16 or, if `brain`, of bfloat16.
 * @param d [out] holds nothing before, and must stay where it is; free() its network
 * @param seed what all follows from that is not chosen
 * @param choices [in] what is chosen, byte by byte; read in this call alone
 * @param choice_count bytes of them */
void draw_network(drawing *d, uint64_t seed, bool brain, const uint8_t *choices, size_t choice_count);

#endif /* LEAT_TESTS_UNIT_DRAWN_NETWORK_H_ */
