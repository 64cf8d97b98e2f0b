/* SPDX-License-Identifier: BSD-3-Clause */
/* Recording, flushing by other threads, and threads that end (streams/stream.c): each command runs once and in order, or
 * is lost with an error that its owner can see; and the next owner of the stream is not told of what its owner before
 * lost.
 *
 * leati_stream_append() and what follows it: RECORD; leati_stream_flush(), also of another thread by
 * leati_stream_flush_if_live(): FLUSH; leave() and leati_stream_release_owner() with renew(): LEAVE, when the first
 * owner's thread ends; may_fail(), has_failed() and leati_stream_adopt_owner(): ADOPT; leati_commit_group_submit() with
 * leati_timeline_fail() and leati_timeline_discard(): SUBMIT, which the queue may refuse. What is done under the stream's
 * lock is one step; ADOPT looks without it first.
 *
 * MUTANT=1..5 are mistakes that the search must find. ENDS: each thread. */

#ifndef MUTANT
#define MUTANT 0
#endif
#ifndef FIRST
#define FIRST 2 /* commands of the first owner; the second has two */
#endif
#define COMMANDS (FIRST + 2)
#define TIMELINES 4

mtype = { NEW, OPEN, PUSHED, RAN, LOST, FORGOTTEN };

mtype state[COMMANDS];
byte list_of[COMMANDS], timeline_of[COMMANDS];
byte recorded;              /* commands */
byte lists;                 /* pushed */
byte submitted;             /* lists that the queue took or that are lost */
bool failed[TIMELINES];
bool second_lost[TIMELINES]; /* what failed it was a list of the second owner */
byte timeline;
bool left, all_done;
byte refusals = 1;

inline record() {
  state[recorded] = OPEN;
  recorded++
}

inline forget() {
  i = 0;
  do
  :: i == COMMANDS -> break
  :: else -> state[i] = (state[i] == OPEN -> FORGOTTEN : state[i]); i++
  od;
  i = 0
}

/* A list of all that is open; a timeline that has failed takes nothing. */
inline flush() {
  i = 0; any = false;
  do
  :: i == COMMANDS -> break
  :: else ->
     if
     :: state[i] == OPEN && !failed[timeline] ->
        any = true;
        state[i] = PUSHED; list_of[i] = lists + 1; timeline_of[i] = timeline
     :: else
     fi;
     i++
  od;
  lists = lists + any;
  i = 0; any = false
}

inline renew() {
  forget();
  timeline++;
  assert(timeline < TIMELINES)
}

proctype first_owner() {
  byte i, n;
  bool any;
  do
  :: n == FIRST -> break
  :: else ->
     n++;
     atomic { record() };
     if
     :: atomic { flush() }
     :: skip
     fi
  od;
  /* LEAVE */
#if MUTANT != 1 /* It leaves what is open to the next owner. */
  atomic {
    flush();
    if
    :: failed[timeline] -> forget()
    :: else
    fi
  };
#endif
  atomic {
    if
    :: failed[timeline] -> renew()
    :: else
    fi
  };
  left = true
}

/* Whether the queue may still refuse a list of the stream. */
#define MAY_FAIL (submitted < lists)

proctype second_owner() {
  byte i, n;
  bool any, stale;
  left;
  /* ADOPT */
#if MUTANT == 2 /* It looks for failures first, and then for what may fail. */
  stale = failed[timeline];
  stale = stale || MAY_FAIL;
#elif MUTANT == 3 /* It looks for failures alone. */
  stale = failed[timeline];
#else
  stale = MAY_FAIL;
  stale = stale || failed[timeline];
#endif
  if
  :: stale ->
     atomic {
       if
       :: MAY_FAIL || failed[timeline] -> renew()
       :: else
       fi;
       stale = false
     }
  :: else
  fi;
  do
  :: n == 2 -> break
  :: else ->
     n++;
     atomic {
       /* Its sticky error is of its own work. */
       assert(!failed[timeline] || second_lost[timeline]);
       if
       :: failed[timeline] -> renew() /* leati_stream_clear_error() */
       :: else
       fi;
       record()
     };
     atomic { flush() }
  od;
  all_done = true
}

/* A thread that flushes all streams. */
proctype flusher() {
  byte i, n;
  bool any;
  do
  :: n == 2 -> break
  :: else -> n++;
#if MUTANT == 4 /* It flushes without the lock: what is recorded meanwhile is in no list. */
     i = recorded;
     atomic { any = i != 0 && state[i - 1] == OPEN; lists = lists + any };
     do
     :: !any || i == 0 || state[i - 1] != OPEN -> break
     :: else -> i--; state[i] = PUSHED; list_of[i] = lists; timeline_of[i] = timeline
     od;
     any = false
#else
     atomic { flush() }
#endif
  od
}

/* SUBMIT, by whoever leads: one list after the other. */
proctype leader() {
  byte i, its;
  bool lost;
  do
  :: submitted < lists ->
     atomic {
       i = 0;
       do
       :: i == COMMANDS || list_of[i] == submitted + 1 -> break
       :: else -> i++
       od;
       assert(i < COMMANDS);
       its = timeline_of[i];
       lost = failed[its];
       if
       :: !lost && refusals != 0 ->
          refusals--;
          lost = true;
#if MUTANT == 5 /* It takes the list away, and then lets the timeline fail. */
          skip
#else
          second_lost[its] = i >= FIRST;
          failed[its] = true
#endif
       :: skip
       fi
     };
     atomic {
       i = 0;
       do
       :: i == COMMANDS -> break
       :: else ->
          if
          :: list_of[i] == submitted + 1 ->
             assert(state[i] == PUSHED);
             state[i] = (lost -> LOST : RAN);
             /* In order: what came before has run, or is lost. */
             assert(lost || i == 0 || state[i - 1] == RAN || state[i - 1] == LOST || state[i - 1] == FORGOTTEN)
          :: else
          fi;
          i++
       od;
       submitted++;
       i = 0
     };
#if MUTANT == 5
     atomic {
       if
       :: lost && !failed[its] -> second_lost[its] = submitted >= FIRST && left; failed[its] = true
       :: else
       fi
     };
#endif
     its = 0; lost = false
  :: all_done && submitted == lists -> break
  od;
  /* Nothing is left behind, and nothing was lost that no timeline tells of. */
  atomic {
    i = 0;
    do
    :: i == COMMANDS -> break
    :: else ->
       assert(state[i] != PUSHED && (state[i] != OPEN || failed[timeline]));
       assert(state[i] != LOST || failed[timeline_of[i]]);
       i++
    od;
    i = 0
  }
}

init {
  byte n;
  atomic {
    n = 0;
    do
    :: n == COMMANDS -> break
    :: else -> state[n] = NEW; n++
    od;
    run first_owner();
    run second_owner();
    run flusher();
    run leader()
  }
}
