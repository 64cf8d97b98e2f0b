/* SPDX-License-Identifier: BSD-3-Clause */
/* For the test of check.py alone: two threads that add to a number, of whose mistakes the second is none.
 *
 * MUTANT=1..2 are mistakes that the search must find, and it misses one of them. ENDS. */

#ifndef MUTANT
#define MUTANT 0
#endif

byte sum, done;

proctype add() {
  byte seen;
#if MUTANT == 1 /* It reads and writes in two steps. */
  seen = sum;
  sum = seen + 1;
#elif MUTANT == 2 /* It adds nothing, and then what it should. */
  sum = sum + 0;
  sum++;
#else
  sum++;
#endif
  done++;
  if
  :: done == 2 -> assert(sum == 2)
  :: else
  fi
}

init {
  atomic {
    run add();
    run add()
  }
}
