/* SPDX-License-Identifier: BSD-3-Clause */
/* A provider that counts who goes in through its gate and comes out. The linker puts these in front of the two
 * functions that the gate stands on. A thread that does not come out is one that exit() waits for, up to two seconds,
 * for as long as it lives; so a program that has joined its threads fails at its end if one did not.
 *
 * With LEAT_TEST_STAYS_INSIDE=1 the first call stays in, which must be reported. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/inside.h"

leati_gate __real_leati_inside_enter(leati_inside **out);
void __real_leati_inside_leave(leati_inside *inside);
leati_gate __wrap_leati_inside_enter(leati_inside **out);
void __wrap_leati_inside_leave(leati_inside *inside);

static atomic_long went_in, came_out;

leati_gate __wrap_leati_inside_enter(leati_inside **out) {
  const leati_gate gate = __real_leati_inside_enter(out);
  if (gate == LEATI_GATE_OPEN) {
    atomic_fetch_add(&went_in, 1);
  }
  return gate;
}

void __wrap_leati_inside_leave(leati_inside *inside) {
  static atomic_bool stayed;
  if (getenv("LEAT_TEST_STAYS_INSIDE") != NULL && !atomic_exchange(&stayed, true)) {
    return;
  }
  __real_leati_inside_leave(inside);
  atomic_fetch_add(&came_out, 1);
}

__attribute__((destructor)) static void compare(void) {
  const long in = atomic_load(&went_in), out = atomic_load(&came_out);
  if (in == 0 || in != out) {
    (void)fprintf(stderr, "%ld of %ld calls that went into the provider did not come out\n", in - out, in);
    _exit(1);
  }
}
