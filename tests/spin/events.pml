/* SPDX-License-Identifier: BSD-3-Clause */
/* Events that are recorded again, timelines that fail, are replaced and used anew, and a device that is lost: a thread
 * that waits for an event is told that its work is done only if it is, and it is told of a loss.
 *
 * leati_event_record() with leati_stream_mark(): RECORD, whose list the queue takes, refuses (leati_timeline_fail(),
 * leati_timeline_discard()) or gets when the device is lost; event_wait() with hold(), leati_timeline_query() and
 * leati_timeline_unwatch(): WAIT; leati_stream_clear_error() with renew(), let_go() and count_on(): RENEW;
 * leati_stream_adopt_owner() of another stream that takes a spare timeline: ADOPT. There are two timelines and one
 * event. What is done under a timeline's lock, or reads one atomic, is one step.
 *
 * MUTANT=1..5 are mistakes that the search must find. ENDS: each wait. */

#ifndef MUTANT
#define MUTANT 0
#endif
#define TIMELINES 2
#define NONE 7
#define LISTS 8 /* values of a timeline, and some more */

/* Timelines. */
byte promised[TIMELINES], completed[TIMELINES], failed_from[TIMELINES];
bool failed[TIMELINES], left[TIMELINES], spare[TIMELINES];
byte keepers[TIMELINES];
/* What the model knows of each value of each timeline: 0 nothing, 1 in flight, 2 it has run, 3 lost. */
byte fate[TIMELINES * LISTS];
bool lost;

/* The event: what it stands for. Guarded by its lock. */
byte event_timeline = NONE, event_value;
byte waiter_timeline = NONE, waiter_value;
byte stream = 0; /* the stream's timeline */
bool recorded, done;

#define FATE(t, v) fate[(t) * LISTS + (v)]
#define FAILS(t, v) (failed[t] && (v) >= failed_from[t])
/* Whether an event, or who waits for one, stands for what was lost. */
#define TELLS(t) ((event_timeline == t && FAILS(t, event_value)) || (waiter_timeline == t && FAILS(t, waiter_value)))

inline count_on(t) {
  if
  :: failed[t] ->
     promised[t]++;
     completed[t] = promised[t];
     failed[t] = false
  :: else
  fi
}

/* Whoever stood for something on a timeline does not any more. */
inline unwatched(t) {
  if
  :: t != NONE && left[t] && !TELLS(t) -> left[t] = false; count_on(t); spare[t] = true
  :: else
  fi
}

/* The stream's thread: records the event, clears errors, records it again. */
proctype recorder() {
  byte n, t, v, old;
  do
  :: n == 2 -> break
  :: else ->
     n++;
     /* RECORD: leati_stream_mark() keeps the timeline until the event watches it. */
     atomic {
       t = stream;
       if
       :: failed[t] || lost ->
          v = promised[t] + 1;
          failed_from[t] = (failed[t] && failed_from[t] <= v -> failed_from[t] : v)
       :: else -> promised[t]++; v = promised[t]; FATE(t, v) = 1
       fi;
#if MUTANT != 1 /* The timeline may be let go of before the event watches it. */
       keepers[t]++
#endif
     };
     atomic {
       old = event_timeline;
       event_timeline = t; event_value = v;
       recorded = true;
       unwatched(old);
       old = 0
     };
#if MUTANT != 1
     keepers[t]--;
#endif
     t = 0; v = 0
  od;
  done = true
}

/* Another thread clears the stream's error: RENEW, once. */
proctype clearer() {
  byte t, i;
  bool tells, goes;
end_clearer: /* There may be no error. */
  failed[stream];
  atomic {
    t = stream;
    i = 0;
    do
    :: i == TIMELINES || spare[i] -> break
    :: else -> i++
    od;
    if
    :: i < TIMELINES -> spare[i] = false; stream = i
    :: else -> t = NONE
    fi
  };
  if
  :: t == NONE
  :: else ->
     /* leati_timeline_settle() of the stream, now and at each later call, until the old timeline has gone. */
     do
     :: atomic {
#if MUTANT == 2 /* A timeline goes though an event tells of what was lost on it. */
          tells = false;
#else
          tells = TELLS(t);
#endif
          goes = completed[t] >= (failed_from[t] - 1) && keepers[t] == 0;
          if
          :: goes && !tells -> count_on(t); spare[t] = true
          :: goes && tells -> left[t] = true
          :: else
          fi
        };
        if
        :: goes -> break
        :: else ->
end_settling: /* A device that is lost reaches nothing any more. */
           (completed[t] >= failed_from[t] - 1 && keepers[t] == 0)
        fi
     od
  fi
}

/* Another stream, which takes the spare timeline, hands a list over, and waits until it has run. */
proctype other() {
  byte t, v;
  if
  :: atomic { spare[0] -> spare[0] = false; t = 0 }
  :: atomic { done -> t = NONE }
  fi;
  if
  :: t == NONE || lost
  :: else ->
     atomic {
       if
       :: failed[t] -> assert(lost) /* Its owner before must leave it no error. */
       :: else -> promised[t]++; v = promised[t]; FATE(t, v) = 1
       fi
     }
  fi
}

proctype waiter() {
  byte t, v;
  recorded;
  /* hold() */
  atomic {
    if
    :: completed[event_timeline] < event_value ->
       t = event_timeline; v = event_value;
#if MUTANT != 3 /* It does not watch, and the event may be recorded anew. */
       waiter_timeline = t; waiter_value = v
#endif
    :: else -> t = NONE; assert(FATE(event_timeline, event_value) == 2)
    fi
  };
  if
  :: t == NONE
  :: else ->
     /* leati_timeline_query(), until it answers: what is reached, what is lost. */
     do
     :: completed[t] >= v ->
        atomic {
          if
          :: FAILS(t, v)
          :: else -> assert(FATE(t, v) == 2)
          fi
        };
        break
     :: atomic { completed[t] < v && FAILS(t, v) -> assert(FATE(t, v) != 2) }; break
     :: atomic { completed[t] < v && lost -> skip }; break
     od;
     atomic {
       waiter_timeline = NONE; waiter_value = 0;
       unwatched(t)
     }
  fi
}

/* Leader, queue and device: of each timeline in order, what was handed over runs, or is refused. */
proctype device() {
  byte t, v;
  bool refuses = true, dies = true;
end_device:
  do
  :: atomic {
       FATE(0, completed[0] + 1) == 1 && !lost && !FAILS(0, completed[0] + 1) ->
       t = 0; v = completed[0] + 1
     };
     goto act
  :: atomic {
       FATE(1, completed[1] + 1) == 1 && !lost && !FAILS(1, completed[1] + 1) ->
       t = 1; v = completed[1] + 1
     };
act: if
     :: /* It runs. */
#if MUTANT == 4 /* That it has run is said before it has. */
        completed[t] = v;
        FATE(t, v) = 2
#else
        atomic { FATE(t, v) = 2; completed[t] = v }
#endif
     :: atomic { refuses -> refuses = false };
        atomic {
          FATE(t, v) = 3;
#if MUTANT == 5 /* What came behind the refused list is thought to be reached. */
          failed_from[t] = (failed[t] && failed_from[t] <= v -> failed_from[t] : v + 1);
#else
          failed_from[t] = (failed[t] && failed_from[t] <= v -> failed_from[t] : v);
#endif
          failed[t] = true
        }
     :: atomic { dies -> dies = false; lost = true }
     fi;
     t = 0; v = 0
  od
}

init {
  atomic {
    spare[1] = true;
    run recorder();
    run clearer();
    run other();
    run waiter();
    run device()
  }
}
