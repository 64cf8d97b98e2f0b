/* SPDX-License-Identifier: BSD-3-Clause */
/* The pool of streams (streams/stream_pool.c): one holder for each stream, no thread waits while a stream is free, those
 * that wait come first, and a device closes only when no ending thread is in it.
 *
 * take_slot(): TAKE; serve(): SERVE; give_slot(): GIVE; await_slot() and leave_queue(): AWAIT; take_left(): LEFT;
 * acquire(): ACQUIRE; release(): RELEASE; pool_set_current(): BIND; end_thread(), give_back_all(), pin(), unpin(): END;
 * leati_stream_pool_destroy(): DESTROY. Each thread acquires a stream, for ever, for a time or without waiting; binds
 * another one's stream or not, which holds nothing and so is no step here; releases by its ticket, or ends, which releases. A
 * second thread may release by the same ticket at once, so a ticket of before is tried, too.
 *
 * What a thread does under the pool's lock is one step, but for TAKE's compare-and-swap within it.
 *
 * MUTANT=1..5 are mistakes that the search must find. ENDS: each wait. */

#ifndef MUTANT
#define MUTANT 0
#endif
#ifndef THREADS
#define THREADS 2
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif

bool free = true;       /* the one worker stream; more of them only make waits rarer */
byte holder;            /* ticket, or 0 */
byte serials;
byte users;             /* threads that think that the stream is theirs */
byte waiting;
bool lock;
byte queue[THREADS + 1]; /* of those who wait, oldest first */
byte length;
bool served[THREADS + 1];
bool open = true, destroyed;
byte ending, leaving;
byte i;

inline touch() {
  assert(!destroyed)
}

/* One step of the thread that has the lock, as what it looks at changes only under it, but for `free`. */
inline serve() {
  do
  :: atomic { length != 0 && free -> free = false };
     atomic {
       served[queue[0]] = true;
       i = 1;
       do
       :: i >= length -> break
       :: else -> queue[i - 1] = queue[i]; i++
       od;
       length--; queue[length] = 0; i = 0
     };
     waiting--
  :: else -> break
  od
}

inline give() {
#if MUTANT == 1 /* It looks whether a thread waits, and then frees the stream. */
  some = waiting != 0;
  free = true;
#else
  free = true;
  some = waiting != 0;
#endif
  if
  :: some ->
     atomic { !lock -> lock = true };
     serve();
     lock = false
  :: else
  fi;
  some = false
}

inline release(with) {
  touch();
#if MUTANT == 2 /* It looks whether the ticket is the holder's, and then takes it away. */
  some = holder == with;
  if
  :: some -> holder = 0
  :: else
  fi;
#else
  atomic {
    some = holder == with;
    if
    :: some -> holder = 0
    :: else
    fi
  };
#endif
  if
  :: atomic { some -> some = false };
     assert(free == false);
     users--;
     give()
  :: else
  fi
}

proctype thread(byte me) {
  byte rounds, ticket;
  bool got, some, once, timed;
  do
  :: rounds == ROUNDS -> break
  :: else ->
     rounds++;
     /* ACQUIRE */
     once = waiting == 0;
     if
     :: once -> atomic { got = free; free = false }
     :: else
     fi;
     once = false;
     if
     :: got
     :: else ->
        if
        :: /* AWAIT, for ever or for a time */
           if
           :: timed = true
           :: timed = false
           fi;
           atomic { !lock -> lock = true };
           atomic { queue[length] = me; length++; served[me] = false };
#if MUTANT == 3 /* It is counted when it has looked what is free. */
           serve();
           waiting++;
#else
           waiting++;
           serve();
#endif
           if
           :: served[me]
           :: else ->
              lock = false;
              if
              :: served[me] /* It is signalled. */
              :: timed      /* The time is up. */
              fi;
              atomic { !lock -> lock = true };
              if
              :: served[me]
              :: else -> /* leave_queue() */
                 atomic {
                   i = 0;
                   do
                   :: queue[i] == me -> break
                   :: else -> i++
                   od;
                   do
                   :: i >= length - 1 -> break
                   :: else -> queue[i] = queue[i + 1]; i++
                   od;
                   length--; queue[length] = 0; i = 0
                 };
                 waiting--
              fi
           fi;
           atomic { got = served[me]; served[me] = false; timed = false };
           lock = false
        :: /* LEFT, without waiting */
           if
           :: free ->
              atomic { !lock -> lock = true };
              serve();
              if
              :: length == 0 -> atomic { got = free; free = false }
              :: else
              fi;
              lock = false
           :: else
           fi
        fi
     fi;
     if
     :: atomic { got -> got = false };
        atomic { serials++; ticket = serials };
        atomic { holder = ticket; users++; assert(users == 1) };
        if
        :: rounds == ROUNDS && ticket != 0 -> break /* It ends with the stream. */
        :: skip
        fi;
        release(ticket);
        ticket = 0
     :: else
     fi
  od;
  leaving++;
  /* END: a destructor that does not know whether the device is open. */
  atomic {
    some = open;
    if
    :: open -> ending++
    :: else
    fi
  };
  if
  :: atomic { some -> some = false };
#if MUTANT == 4 /* It tells that it is out before it is. */
     ending--;
#endif
     if
     :: ticket != 0 -> release(ticket)
     :: else
     fi;
     touch();
#if MUTANT != 4
     ending--
#endif
  :: else
  fi
}

/* Another thread that knows a ticket. */
proctype second() {
  byte ticket;
  bool some;
  ticket = holder;
  if
  :: ticket != 0 && leaving == 0 -> release(ticket)
  :: else
  fi;
  leaving++
}

/* DESTROY, when all that is left are ending threads. */
proctype closer() {
  leaving == THREADS + 1;
  open = false;
#if MUTANT != 5
  ending == 0;
#endif
  destroyed = true
}

init {
  byte n;
  atomic {
    n = 1;
    do
    :: n > THREADS -> break
    :: else -> run thread(n); n++
    od
    run second();
    run closer()
  }
}
