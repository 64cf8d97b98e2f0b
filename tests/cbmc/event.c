/* SPDX-License-Identifier: BSD-3-Clause */
/* The time between two events, by counters of a device that wrap around. */
#include "submit/timestamp.c"

#include "outside.h"

/* The difference of two readings of a counter of any number of bits is that of the times, however it wrapped around and
 * whichever event was first.
 * MISTAKE plugin/submit/timestamp.c: `((int64_t)difference >> (64 - bits))` becomes `(int64_t)(difference >> (64 -
 * bits))` MISTAKE plugin/submit/timestamp.c: `(end.steps - start.steps) << (64 - bits)` becomes `(end.steps -
 * start.steps)` */
void prove_time_goes_on_where_a_counter_wraps(void) {
  leati_physical physical = {.timestamp_bits = ANY(uint32_t), .timestamp_period = 1, .common_clock = true};
  const leat_device device = {.physical = &physical};
  const uint64_t begin = ANY(uint64_t);
  const int64_t between = ANY(int64_t);
  ASSUME(physical.timestamp_bits >= 32 && physical.timestamp_bits <= 64);
  ASSUME(between > -1000000 && between < 1000000);
  const uint64_t mask = UINT64_MAX >> (64 - physical.timestamp_bits);
  double ns;
  const int32_t status =
      leati_timestamp_elapsed(&device, (leati_reading){.steps = begin & mask},
                              (leati_reading){.steps = (begin + (uint64_t)between) & mask}, &ns, NULL);
  PROVE(status == LEAT_OK && ns == (double)between);
}
