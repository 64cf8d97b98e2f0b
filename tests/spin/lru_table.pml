/* SPDX-License-Identifier: BSD-3-Clause */
/* The table that threads look into without a lock (common/lru_table.c), in which plans, programs and shapes are kept.
 *
 * leati_lru_enter(), _first(), _next(), _leave(): LOOK. leati_lru_add(): ADD; take_out(), which it calls: TAKE_OUT.
 * leati_lru_collect(): COLLECT. The owner's lock makes the last three one after the other, and is left out: one process
 * does them in any order. Every access is sequentially consistent, as those of the C code that count are.
 *
 * An entry that went out keeps its `next`, for those who stand there. One that was given back is poisoned: nobody may
 * look at it. Entry 1 never goes out: each thread that walks the bucket to its end must meet it.
 *
 * MUTANT=1..5 are mistakes that the search must find. */

#ifndef MUTANT
#define MUTANT 0
#endif
#ifndef READERS
#define READERS 2
#endif
#ifndef CHANGES
#define CHANGES 6 /* steps of the owner */
#endif
#define COUNTERS 2
#define LAST 4 /* entry, beside 0, which stands for NULL, and 1 */
#define EVERY_COUNTER 3

mtype = { FREE, IN, OUT };

byte head = 1;
byte next[LAST + 1];
byte unseen[LAST + 1];
mtype state[LAST + 1];
byte inside[COUNTERS];
byte finished;

inline look_at(e) {
  assert(state[e] != FREE)
}

/* LOOK, by one thread, which counts itself in at one of the counters. */
proctype look(byte me) {
  byte at;
  bool met;
  byte counter = me % COUNTERS;
#if MUTANT != 1
  inside[counter]++;
#endif
  at = head;
#if MUTANT == 1 /* It counts itself in when it has looked. */
  inside[counter]++;
#endif
  do
  :: at == 0 -> break
  :: else ->
     look_at(at);
     if
     :: at == 1 -> met = true
     :: else
     fi;
#if MUTANT == 2 /* It is done before it has used what it found. */
     if
     :: at != 1 -> inside[counter]--; look_at(at); inside[counter]++
     :: else
     fi;
#endif
     at = next[at]
  od;
  assert(met);
  inside[counter]--;
  finished++
}

/* Looks at one counter after the other, and gives back what was seen at zero on each of them. */
inline collect() {
  i = 0; busy = 0;
  do
  :: i == COUNTERS -> break
  :: else -> busy = busy | ((inside[i] != 0) << i); i++
  od;
  skip; /* nothing jumps into what is one step */
  d_step {
    e = 2;
    do
    :: e > LAST -> break
    :: else ->
       if
       :: state[e] == OUT ->
#if MUTANT == 5 /* One counter at zero does for all. */
          unseen[e] = (busy == EVERY_COUNTER -> unseen[e] : 0);
#else
          unseen[e] = unseen[e] & busy;
#endif
          if
          :: unseen[e] == 0 -> state[e] = FREE; next[e] = 0
          :: else
          fi
       :: else
       fi;
       e++
    od;
    e = 0; before = 0; i = 0; busy = 0
  }
}

/* The owner: adds, takes out and collects in any order, then collects when nobody looks any more. */
proctype owner() {
  byte e, before, i, busy, changes;
  do
  :: changes == CHANGES -> break
  :: changes < CHANGES ->
     changes++;
     if
     :: /* ADD */
        e = 2;
        do
        :: e > LAST || state[e] == FREE -> break
        :: else -> e++
        od;
        if
        :: e <= LAST ->
           d_step { state[e] = IN; next[e] = head };
           head = e
        :: else
        fi
     :: /* TAKE_OUT */
        if
        :: state[2] == IN -> e = 2
        :: state[3] == IN -> e = 3
        :: state[4] == IN -> e = 4
        :: else -> e = 0
        fi;
        if
        :: e != 0 ->
#if MUTANT == 3 /* Who was inside is looked at while it can still be found. */
           i = 0; busy = 0;
           do
           :: i == COUNTERS -> break
           :: else -> busy = busy | ((inside[i] != 0) << i); i++
           od;
           unseen[e] = busy;
#endif
           d_step {
             before = 0;
             i = head;
             do
             :: i == e -> break
             :: else -> before = i; i = next[i]
             od;
             i = 0
           };
           if
           :: before == 0 -> head = next[e]
           :: else -> next[before] = next[e]
           fi;
#if MUTANT == 4 /* It forgets what came behind it. */
           next[e] = 0;
#endif
#if MUTANT == 3
           state[e] = OUT
#else
           d_step { state[e] = OUT; unseen[e] = EVERY_COUNTER }
#endif
        :: else
        fi
     :: /* COLLECT */
        collect()
     fi
  od;
  /* When nobody looks any more, nothing that went out is held. */
  finished == READERS;
  collect();
  assert(state[2] != OUT && state[3] != OUT && state[4] != OUT)
}

init {
  byte i;
  d_step {
    state[0] = FREE;
    state[1] = IN;
    i = 2;
    do
    :: i > LAST -> break
    :: else -> state[i] = FREE; i++
    od;
    i = 0
  };
  atomic {
    run owner();
    do
    :: i == READERS -> break
    :: else -> run look(i); i++
    od
  }
}
