/* SPDX-License-Identifier: BSD-3-Clause */
/* The batch queue (batch/): every request ends, whoever cancels, changes the rules or shuts the queue down, and its
 * threads end.
 *
 * leat_batch_submit(), wait_for_room(), leati_batch_queue_admit(), leati_batch_queue_admit_blocked(): SUBMIT;
 * leat_batch_wait() and leat_batch_cancel(): WAIT, CANCEL; work(), leati_batch_form_ready(), leati_batch_form_take(),
 * finish_batch(): WORK; rest(): REST; close_queue(), leati_batch_queue_fail(), leati_batch_crew_join(): SHUTDOWN. All
 * requests are of one kind and of one row. The queue's lock makes each stretch between two waits one step; a condition
 * wakes any one of those that wait. A deadline may come at any time (`max_delay_ns`),
 * and some worker must be there to see it.
 *
 * MUTANT=1..5 are mistakes that the search must find. */

#ifndef MUTANT
#define MUTANT 0
#endif
#ifndef CALLERS
#define CALLERS 3
#endif
#define WORKERS 2
#define CAPACITY 2
#define MAX_ROWS 2

mtype = { NEW, BLOCKED, WAITING, RUNNING, DONE, FAILED };

mtype state[CALLERS + 1];
byte moved;            /* callers whose condition was signalled, a bit each */
byte waiting;          /* requests that are admitted */
byte running;          /* batches */
byte blocked;          /* a bit for each request; the order in which they came decides nothing here */
bool closed, due;      /* due: the oldest request's deadline has come */
bool timing;           /* a worker watches the clock */
byte asleep;           /* workers that wait for `work`, a bit each */
byte batch[WORKERS];   /* requests in hand, a bit each */
byte left;             /* workers that have gone */

/* Wakes any one worker that waits. */
inline signal_work() {
  if
  :: asleep & 1 -> asleep = asleep & 2
  :: asleep & 2 -> asleep = asleep & 1
  :: asleep == 0
  fi
}

inline admit(request) {
  state[request] = WAITING;
  waiting++;
#if MUTANT == 1 /* Only a batch that is full wakes a worker: nobody watches the clock. */
  if
  :: waiting >= MAX_ROWS -> signal_work()
#else
  if
  :: waiting == 1 || waiting >= CAPACITY || waiting >= MAX_ROWS -> signal_work()
#endif
  :: else
  fi
}

inline admit_blocked() {
  do
  :: waiting < CAPACITY && blocked != 0 ->
     n = 1;
     do
     :: blocked & (1 << n) -> break
     :: else -> n++
     od;
     blocked = blocked & ~(1 << n);
     admit(n);
     moved = moved | (1 << n)
  :: else -> break
  od;
  n = 0
}

proctype caller(byte me) {
  byte n;
  /* SUBMIT */
  atomic {
    if
    :: closed -> goto end
    :: !closed && waiting < CAPACITY -> assert(blocked == 0); admit(me)
    :: else -> state[me] = BLOCKED; blocked = blocked | (1 << me)
    fi
  };
  if
  :: atomic { moved & (1 << me) -> moved = moved & ~(1 << me) } /* It waits for room. */
  :: state[me] != BLOCKED
  fi;
  if
  :: me != 1
  :: atomic { /* CANCEL */
       me == 1;
       if
       :: state[me] == WAITING ->
          waiting--; state[me] = FAILED;
          if
          :: waiting == 0 -> due = false
          :: else
          fi;
#if MUTANT != 2 /* Who was blocked stays so, though there is room. */
          admit_blocked()
#endif
       :: else
       fi
     }
  :: skip
  fi;
  /* WAIT: done or failed, by a broadcast of the request's own condition. */
  (state[me] == DONE || state[me] == FAILED);
end:
  skip
}

proctype worker(byte me) {
  byte n, taken;
  bool clock;
  do
  :: atomic {
       if
       :: closed && waiting == 0 -> break
       :: waiting != 0 && running < WORKERS && (closed || waiting >= CAPACITY || waiting >= MAX_ROWS || due) ->
          /* leati_batch_form_take() */
          n = 1; taken = 0;
          do
          :: n > CALLERS || taken == MAX_ROWS -> break
          :: else ->
             if
             :: state[n] == WAITING ->
                state[n] = RUNNING; batch[me] = batch[me] | (1 << n); taken++; waiting--
             :: else
             fi;
             n++
          od;
          n = 0; taken = 0; due = false;
          running++;
#if MUTANT != 3 /* Who was blocked stays so. */
          admit_blocked();
#endif
          if
          :: waiting != 0 -> signal_work()
          :: else
          fi
       :: else -> /* REST */
          assert(closed || blocked == 0 || waiting >= CAPACITY);
          asleep = asleep | (1 << me);
          clock = waiting != 0 && running < WORKERS && !timing;
          timing = timing || clock
       fi
     };
     if
     :: batch[me] != 0 ->
        atomic {
          /* While it ran, somebody looked after what is left. */
          assert(closed || waiting == 0 || timing || asleep == 0);
          running--;
          n = 1;
          do
          :: n > CALLERS -> break
          :: else ->
             if
             :: batch[me] & (1 << n) -> state[n] = DONE
             :: else
             fi;
             n++
          od;
          n = 0;
          batch[me] = 0
        }
     :: else ->
end_resting:
        atomic {
          if
          :: !(asleep & (1 << me))
          :: clock && waiting != 0 -> asleep = asleep & ~(1 << me); due = true /* The deadline has come. */
          fi;
          timing = timing && !clock;
#if MUTANT == 4 /* It goes on being said that a worker watches the clock. */
          timing = timing || clock;
#endif
          clock = false
        }
     fi
  od;
  atomic {
    left++;
#if MUTANT != 5
    signal_work()
#endif
  }
}

/* SHUTDOWN, at any time. */
proctype closer() {
  byte n;
  bool drain;
  atomic {
    if
    :: drain = true
    :: drain = false
    fi;
    closed = true;
    n = 1;
    do
    :: n > CALLERS -> break
    :: else ->
       if
       :: state[n] == BLOCKED || (state[n] == WAITING && !drain) ->
          waiting = (state[n] == WAITING -> waiting - 1 : waiting);
          state[n] = FAILED
       :: else
       fi;
       n++
    od;
    blocked = 0;
#if MUTANT == 5 /* One worker is told, and tells nobody. */
    signal_work()
#else
    asleep = 0
#endif
  };
  left == WORKERS
}

init {
  byte i;
  atomic {
    i = 1;
    do
    :: i > CALLERS -> break
    :: else -> state[i] = NEW; run caller(i); i++
    od;
    run worker(0);
    run worker(1);
    /* Also a queue that is never shut down ends each request. */
    if
    :: run closer()
    :: skip
    fi
  }
}
