/* SPDX-License-Identifier: BSD-3-Clause */
/* The gate at exit (common/inside.c): a thread tells first that it is inside and looks then whether the gate is closed;
 * the exit handler closes it first and looks then for threads that are inside. So when the handler goes on, nobody
 * touches what exit() destroys.
 *
 * leati_inside_enter(): ENTER, with take(): TAKE; leati_inside_leave() and come_out(): LEAVE; leati_inside_stop(): STOP,
 * which a thread also reaches where it waits (leati_gate_check()); give_back(), when a thread ends: GIVE_BACK;
 * leati_inside_close() and somebody_moves(): CLOSE, without its two seconds: there is always somebody who ends the wait.
 * Each thread goes in again and again and may call itself from within; then it ends, and another takes its record. The
 * thread that ends the process may be inside itself. `stopped` stays, as such a thread never goes on.
 *
 * Accesses are sequentially consistent here, as the four of the C code are that count: mistakes 1 and 2 are what a
 * processor may make of others. Stores of `busy` when a thread comes out are releases there, and nothing after them
 * touches what exit() destroys.
 *
 * MUTANT=1..5 are mistakes that the search must find. ENDS: the handler too. */

#ifndef MUTANT
#define MUTANT 0
#endif
#ifndef THREADS
#define THREADS 2
#endif
#ifndef CALLS
#ifdef RUNS
#define CALLS 1
#else
#define CALLS 2 /* of a thread */
#endif
#endif
#define RECORDS THREADS
#define NONE 15

bool closed, over;   /* over: the handler has gone on, and exit() destroys things */
bool busy[RECORDS], stopped[RECORDS], taken[RECORDS];
byte listed;         /* records in the list: it grows only */

inline touch() {
  assert(!over)
}

/* A thread that stops for good; the label lets it end there. */
inline stop() {
  if
  :: closed ->
#if MUTANT != 5 /* It does not tell that it has stopped. */
     stopped[own] = true;
#endif
     goto stopped_for_good
  :: else
  fi
}

proctype work() {
  byte own = NONE, i, calls, depth;
  do
  :: calls == CALLS -> break
  :: calls < CALLS ->
     calls++;
     /* ENTER */
     if
     :: own == NONE ->
        /* TAKE: one of the list that nobody has, or a new one. */
        i = 0;
        do
        :: i == listed -> break
        :: i < listed ->
           if
           :: atomic { !taken[i] -> taken[i] = true; own = i }; break
           :: else -> i++
           fi
        od;
        if
        :: own == NONE -> atomic { own = listed; taken[own] = true; listed++ }
        :: else
        fi
     :: else
     fi;
#if MUTANT == 1 /* It looks whether the gate is closed before it tells that it is inside. */
     stop();
     depth = 1;
     busy[own] = true;
#else
     depth = 1;
     busy[own] = true;
     stop();
#endif
     touch();
     if
     :: /* From within. */
        depth++;
        stop();
        touch();
        stop();
        depth--;
#if MUTANT == 3 /* The inner call comes out for both. */
        busy[own] = false
#endif
     :: stop() /* It waits, and looks. */
     :: skip
     fi;
     touch();
     /* LEAVE */
     stop();
     depth--;
     busy[own] = false;
     if
     :: /* GIVE_BACK: it ends here, and another begins. */
        busy[own] = false;
        taken[own] = false;
        own = NONE
     :: skip
     fi
  od;
stopped_for_good: skip
}

/* CLOSE, by a thread that has record 0 or none. */
proctype handler() {
  byte i;
  bool moves;
#if MUTANT == 2 /* It looks for threads before it closes. */
  do
  :: moves = false; i = 0;
     do
     :: i == listed -> break
     :: i < listed -> moves = moves || (busy[i] && !stopped[i]); i++
     od;
     if
     :: !moves -> break
     :: else
     fi
  od;
  closed = true;
#else
  closed = true;
  do
  :: moves = false; i = 0;
     do
     :: i == listed -> break
     :: i < listed ->
#if MUTANT == 4 /* It leaves out the record that came first. */
        moves = moves || (busy[i] && !stopped[i] && i != 0);
#else
        moves = moves || (busy[i] && !stopped[i]);
#endif
        i++
     od;
     if
     :: !moves -> break
     :: else
     fi
  od;
#endif
  over = true
}

init {
  byte i;
  atomic {
    run handler();
    do
    :: i == THREADS -> break
    :: else -> run work(); i++
    od
  }
}
