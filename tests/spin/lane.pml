/* SPDX-License-Identifier: BSD-3-Clause */
/* A lane's leader and those who follow it (submit/lane.c, streams/wait.c): no list is left behind.
 *
 * leati_lane_add(): ADD; leati_lane_help(): HELP, with lead_or_tell(), lead() and serve(); is_full() and
 * leati_lane_room(): ROOM; submit_queued(): SUBMIT; leati_wait() with leati_lane_attend() and leati_lane_leave(): WAIT;
 * leati_lane_watch(): WATCH; block_once(): BLOCK. Each thread hands one list over and helps; then it goes, or, if it is
 * one of WAITERS, waits for its list: it blocks, and with LEARN it may watch once before. A wait in the driver has no
 * time-out here, so it does not rest on one that a list left to gather is submitted. One batch or two may be in flight,
 * as was learnt; with LEARN that changes, as leati_batching_ended() may learn anything, and a list may come after what
 * is in flight (`continues`). That a leader is relieved is left out.
 *
 * At the end of all threads nothing is queued, and before that they never all sleep while a list could go.
 *
 * MUTANT=1..5 are mistakes that the search must find. ENDS: each wait. */

#ifndef MUTANT
#define MUTANT 0
#endif
#ifndef THREADS
#if MUTANT == 1 || MUTANT == 4 || MUTANT == 5
#define THREADS 3 /* Two threads show all but these. */
#else
#define THREADS 2
#endif
#endif
#ifndef WAITERS
#if THREADS == 3
#define WAITERS 1 /* threads that may wait for their lists */
#else
#define WAITERS 2
#endif
#endif

byte role;         /* 0, or the thread's number */
bool missed, continues;
byte attendants;
byte queued;       /* a bit for each list */
byte learnt, ended;
byte submitted, done; /* of the timeline semaphore: each look asks the driver */
byte bound[THREADS + 1];
byte sleeps[THREADS + 1]; /* what each thread waits for in the driver */
byte finished;

inline try_lead() {
  atomic {
    if
    :: role == 0 -> role = me; leads = true
    :: else
    fi
  };
  if
  :: atomic { leads -> missed = false }
  :: else
  fi
}

/* `before`: the first value with which there is room for another batch. */
inline read_room(before) {
  before = (continues -> 2 : learnt);
  before = (submitted < before -> 0 : submitted - before + 1)
}

inline submit() {
#ifdef LEARN
  continues = false;
#endif
  atomic { taken = queued; queued = 0 };
  atomic {
    if
    :: taken != 0 -> submitted++
    :: else
    fi
  };
  atomic {
    i = 1;
    do
    :: i > THREADS -> break
    :: else ->
       if
       :: taken & (1 << i) -> bound[i] = submitted
       :: else
       fi;
       i++
    od;
    i = 0; taken = 0
  }
}

/* A turn: `goes_on` says whether there may be more to do. */
inline serve() {
  atomic {
    leaves = attendants != 0;
    if
    :: leaves -> read_room(r)
    :: else -> r = 0
    fi
  };
  if
  :: leaves ->
     atomic {
       leaves = done < r;
       r = 0
     }
  :: else
  fi;
  if
  :: !leaves -> submit()
  :: else
  fi;
  atomic {
    role = 0;
    goes_on = !leaves; leaves = false
  };
#if MUTANT != 2 /* It does not look whether a list was left to it. */
  if
  :: goes_on
  :: else -> goes_on = attendants == 0;
     if
     :: goes_on
     :: else -> goes_on = missed
     fi
  fi
#endif
}

inline help() {
  do
  :: queued == 0 -> break
  :: else ->
     try_lead();
#if MUTANT != 1 /* It does not tell the thread that leads. */
     if
     :: leads
     :: atomic { !leads -> missed = true };
        try_lead()
     fi;
#endif
     if
     :: !leads -> break
     :: atomic { leads -> leads = false };
        serve();
        if
        :: !goes_on -> break
        :: atomic { goes_on -> goes_on = false }
        fi
     fi
  od;
  atomic { leads = false; goes_on = false }
}

/* What a thread learns that has watched, when a batch has ended. */
inline note_end() {
#ifdef LEARN
  atomic {
    if
    :: done > ended ->
       ended = done;
       if
       :: wider = learnt == 1; learnt = 2
       :: learnt = 1
       fi
    :: else
    fi
  };
  if
  :: atomic { wider -> wider = false }; help()
  :: else
  fi
#else
  skip
#endif
}

inline look() {
  atomic {
    point = (point == 0 -> bound[me] : point);
    over = point != 0 && done >= point
  }
}

proctype thread(byte me) {
  byte i, r, taken, point, value, room;
  bool leads, goes_on, leaves, wider, has_room, over;
  /* ADD */
#ifdef LEARN
  if
  :: continues = true
  :: skip
  fi;
#endif
  atomic { queued = queued | (1 << me); bound[me] = 0 };
  help();
  /* WAIT, unless it goes. */
  if
  :: goto end
  :: atomic { me > THREADS - WAITERS -> attendants++ }
  fi;
#ifdef LEARN
  if
  :: /* WATCH */
     note_end();
     if
     :: queued != 0 ->
        atomic { read_room(room); has_room = done >= room; room = 0 };
        if
        :: atomic { has_room -> has_room = false };
           if
           :: try_lead();
              if
              :: atomic { leads -> leads = false };
                 submit();
                 role = 0;
                 if
                 :: missed -> help()
                 :: else
                 fi
              :: else
              fi
           :: skip /* It waits for more lists, or leaves this to another. */
           fi
        :: else
        fi
     :: else
     fi
  :: skip
  fi;
#endif
  look();
  do
  :: over -> break
  :: else ->
     /* BLOCK */
#if MUTANT == 4 /* It looks after the lane, and then reads the room. */
     value = point;
     help();
     atomic { read_room(room); has_room = done >= room };
#else
     atomic { value = point; read_room(room); has_room = done >= room };
     help();
#endif
     look();
     if
     :: over || point != value || (value == 0 && has_room)
     :: else ->
#if MUTANT == 5 /* It waits for its own list, whether there is room before or not. */
        sleeps[me] = (value != 0 -> value : room);
#else
        sleeps[me] = (has_room || (value != 0 && value < room) -> value : room);
#endif
        atomic { done >= sleeps[me] -> sleeps[me] = 0 };
        look()
     fi;
     atomic { value = 0; room = 0; has_room = false }
  od;
  atomic { over = false; point = 0 };
  note_end();
  atomic { attendants--; over = attendants == 0 };
#if MUTANT != 3 /* The last one does not help. */
  if
  :: over -> help()
  :: else
  fi;
#endif
end:
  finished++
}

/* That there is room for what is queued, and every thread sleeps for longer or has gone. */
inline check_sleep() {
  i = 1; asleep = 0;
  do
  :: i > THREADS -> break
  :: else -> asleep = asleep + (sleeps[i] > done -> 1 : 0); i++
  od;
  read_room(room);
  assert(!(queued != 0 && done >= room && asleep != 0 && asleep + finished == THREADS));
  i = 0; room = 0; asleep = 0
}

proctype device() {
  byte i, room, asleep;
  do
  :: atomic { done < submitted -> check_sleep(); done++ }
  :: finished == THREADS && done == submitted -> break
  od;
  assert(queued == 0 && role == 0)
}

init {
  byte i;
  atomic {
#if MUTANT != 1 && MUTANT != 4 && MUTANT != 5
    if
    :: learnt = 1
    :: learnt = 2
    fi;
#else
    learnt = 2;
#endif
    run device();
    i = 1;
    do
    :: i > THREADS -> break
    :: else -> run thread(i); i++
    od
  }
}
