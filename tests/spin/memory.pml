/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that is freed while the device uses it: deferred free, record_stream(), and blocks that a stream keeps
 * (memory/block.c, kept.c, size_class.c). A block is handed out to a stream only when all that other streams put in for
 * those who had it before has run; its own stream's order does the rest.
 *
 * leati_block_stamp() and stamp_other(): STAMP; leati_block_reusable(): REUSABLE; leati_block_keep_stamps(): KEEP;
 * drop_hold() and give(): FREE; leati_kept_put_freed(), leati_kept_take(): PUT, TAKE_KEPT; leati_class_take(),
 * leati_class_give(): TAKE, GIVE, in a class that has BLOCKS blocks; leati_kept_release() and leati_class_detach_idle():
 * TRIM, which gives an idle block to the driver and takes it back. Each of two streams has a thread, and hands out only
 * what it may; a block is used by its own stream, and by the other one when that is told (record_stream()). The device
 * runs each stream's lists in order. What is done under a lock, the stream's, the block's or the class's, is one step.
 *
 * MUTANT=1..6 are mistakes that the search must find. */

#ifndef MUTANT
#define MUTANT 0
#endif
#ifndef ROUNDS
#define ROUNDS 2 /* of the first thread; the other has one less */
#endif
#ifndef BLOCKS
#define BLOCKS 1
#endif
#define STREAMS 2
#define NOBODY 3

mtype = { FREE, KEPT, HELD, TAKEN };

mtype state[BLOCKS];
byte owner[BLOCKS] = NOBODY, owner_value[BLOCKS];
byte stamp[BLOCKS];        /* of the stream that is not the owner; 0: none */
byte kept[STREAMS] = NOBODY;
byte promised[STREAMS], done[STREAMS];
/* What the model knows: the last list of each stream that uses the block. */
byte used[BLOCKS * STREAMS];
byte finished;

#define OTHER(s) (1 - (s))
#define PASSED(s, value) (done[s] >= (value))
#define OWNER_PASSED(b) (owner[b] == NOBODY -> true : PASSED(owner[b], owner_value[b]))
#define OTHER_PASSED(b) (stamp[b] == 0 -> true : PASSED(OTHER(owner[b]), stamp[b]))

/* That no other stream's list uses the block any more. */
inline check(b, s) {
  assert(s == 0 || done[0] >= used[b * STREAMS]);
  assert(s == 1 || done[1] >= used[b * STREAMS + 1])
}

inline put_stamp(b, s, value) {
  if
  :: owner[b] == s -> owner_value[b] = value
  :: owner[b] == NOBODY -> owner[b] = s; owner_value[b] = value
  :: else ->
#if MUTANT == 1 /* The owner's value stands for both. */
     owner_value[b] = value
#else
     stamp[b] = (stamp[b] > value -> stamp[b] : value)
#endif
  fi;
  used[b * STREAMS + s] = value
}

proctype thread(byte s) {
  byte b = NOBODY, rounds, i;
  bool ok;
  do
  :: rounds == ROUNDS - s -> break
  :: else ->
     rounds++;
     /* TAKE_KEPT: one exchange, under the stream's lock. */
     atomic {
       b = kept[s];
       if
       :: b != NOBODY -> kept[s] = NOBODY; state[b] = HELD; check(b, s)
       :: else
       fi
     };
     if
     :: b != NOBODY
     :: else ->
        /* TAKE */
        atomic {
          i = 0;
          do
          :: i == BLOCKS -> break
          :: else ->
             /* REUSABLE, for the stream. */
#if MUTANT == 2 /* It does not ask for what others were recorded with. */
             ok = state[i] == FREE && (owner[i] == s || OWNER_PASSED(i));
#else
             ok = state[i] == FREE && (owner[i] == s || OWNER_PASSED(i)) &&
                  (OTHER(owner[i]) == s || OTHER_PASSED(i));
#endif
             if
             :: ok ->
                b = i;
                state[b] = HELD;
                check(b, s);
                /* KEEP */
#if MUTANT == 3 /* What the stream itself did before is forgotten. */
                owner_value[b] = 0;
#else
                owner_value[b] = (owner[b] == s -> owner_value[b] : (stamp[b] != 0 -> stamp[b] : 0));
#endif
                stamp[b] = 0;
                owner[b] = (owner_value[b] != 0 -> s : NOBODY);
                break
             :: else -> i++
             fi
          od;
          i = 0; ok = false
        }
     fi;
     if
     :: b == NOBODY
     :: else ->
        /* STAMP: a use by a list that is handed over now, before or after the other stream's. */
        if
        :: atomic { promised[s]++; put_stamp(b, s, promised[s]) }
        :: skip
        fi;
        /* record_stream(): the other stream's open list uses it. */
        if
        :: atomic { promised[OTHER(s)]++; put_stamp(b, OTHER(s), promised[OTHER(s)]) };
           if
           :: atomic { promised[s]++; put_stamp(b, s, promised[s]) }
           :: skip
           fi
        :: skip
        fi;
        /* FREE: the last hold goes. */
        state[b] = TAKEN;
#if MUTANT == 4 /* A stream keeps what the other one uses too. */
        ok = owner[b] != NOBODY;
#else
        ok = owner[b] != NOBODY && stamp[b] == 0;
#endif
        atomic {
          if
#if MUTANT == 5 /* It is kept by the stream that freed it. */
          :: ok && kept[s] == NOBODY -> state[b] = KEPT; kept[s] = b
#else
          :: ok && kept[owner[b]] == NOBODY -> state[b] = KEPT; kept[owner[b]] = b
#endif
          :: else -> state[b] = FREE
          fi;
          b = NOBODY; ok = false
        }
     fi
  od;
  finished++
}

proctype device(byte s) {
  do
  :: done[s] < promised[s] -> done[s]++
  :: finished == STREAMS && done[s] == promised[s] -> break
  od
}

proctype trim() {
  byte s, b;
  bool ok;
  s = 0;
  do
  :: s == STREAMS -> break
  :: else ->
     atomic {
       b = kept[s];
       if
       :: b != NOBODY -> kept[s] = NOBODY; state[b] = FREE
       :: else
       fi
     };
     s++
  od;
  b = 0;
  do
  :: b == BLOCKS -> break
  :: else ->
     atomic {
       ok = state[b] == FREE && OWNER_PASSED(b) && OTHER_PASSED(b);
#if MUTANT == 6 /* What is free is idle. */
       ok = state[b] == FREE;
#endif
       if
       :: ok -> check(b, NOBODY); owner[b] = NOBODY; owner_value[b] = 0; stamp[b] = 0
       :: else
       fi
     };
     b++
  od
}

init {
  byte n;
  atomic {
    n = 0;
    do
    :: n == BLOCKS -> break
    :: else -> state[n] = FREE; n++
    od;
    run device(0);
    run device(1);
    run thread(0);
    run thread(1);
    run trim()
  }
}
