/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of a graph that several threads want at once (graph/graph_plan_cache.c, graph/launch.c): one thread makes a plan
 * and the others wait for it, once; nobody waits for one that failed, and none is freed while a launch uses it.
 *
 * leati_graph_plan_cache_claim(): CLAIM; leati_graph_plan_cache_release(): RELEASE; leati_lru_enter(), the look and
 * leati_lru_leave(): FIND, of which lru_table.pml has the steps; launch_new() with leati_lru_cache_add(): MAKE, which may
 * fail or find no room. Another thread takes plans out and frees them (COLLECT). What is done under the cache's lock is
 * one step; a condition wakes all that wait.
 *
 * MUTANT=1..4 are mistakes that the search must find. ENDS: each launch. */

#ifndef MUTANT
#define MUTANT 0
#endif
#ifndef THREADS
#define THREADS 3
#endif

bool cached, out;     /* the plan is in the table; it went out and is not freed */
byte inside;          /* launches that are counted in */
byte claims;          /* a bit for each thread that makes the plan and said so */
byte asleep;          /* threads that wait for `made`, a bit each */
byte makers, waits[THREADS];
bool failures = true; /* one of the plans that are made fails */

inline find() {
  inside++;
  found = cached;
  if
  :: found ->
     assert(cached || out); /* It is recorded, and used. */
     found = true
  :: else
  fi;
  inside--
}

proctype launch(byte me) {
  bool found, claimed, fails;
  find();
  if
  :: found
  :: else ->
     /* CLAIM */
     atomic {
       claimed = claims == 0;
       if
       :: claimed -> claims = claims | (1 << me)
       :: else -> asleep = asleep | (1 << me)
       fi
     };
     do
     :: claimed -> break
     :: else ->
        !(asleep & (1 << me));
        atomic {
          waits[me]++;
          if
#if MUTANT == 1 /* Who has waited and finds nothing waits for the next. */
          :: claims != 0 || !cached -> asleep = asleep | (1 << me)
#else
          :: claims != 0 -> asleep = asleep | (1 << me)
#endif
          :: else -> break
          fi
        }
     od;
     find();
     if
     :: found
     :: else ->
        /* MAKE */
        makers = makers + claimed;
        assert(makers <= 1 || !claimed);
        if
        :: atomic { failures -> failures = false }; fails = true
        :: skip
        fi;
        if
        :: fails
        :: else ->
           inside++;
           cached = true;
           assert(cached || out);
           inside--
        fi;
        makers = makers - claimed
     fi;
     if
     :: claimed ->
#if MUTANT == 2 /* A plan that failed leaves its claim. */
        atomic {
          if
          :: !fails -> claims = claims & ~(1 << me); asleep = 0
          :: else
          fi
        }
#elif MUTANT == 3 /* It tells those who wait before it takes the claim away. */
        asleep = 0;
        claims = claims & ~(1 << me)
#else
        atomic { claims = claims & ~(1 << me); asleep = 0 }
#endif
     :: else
     fi
  fi
}

/* COLLECT, as often as plans come. */
proctype collect() {
  byte n;
  do
  :: n == 2 -> break
  :: atomic { cached && !out -> cached = false; out = true };
#if MUTANT != 4 /* It does not wait for those that are inside. */
     inside == 0;
#endif
     out = false;
     n++
  :: break
  od
}

init {
  byte i;
  atomic {
    run collect();
    do
    :: i == THREADS -> break
    :: else -> run launch(i); i++
    od
  }
}
