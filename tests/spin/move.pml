/* SPDX-License-Identifier: BSD-3-Clause */
/* A stream that changes lane (streams/stream.c, submit/placement.c): its lists run one after the other, whichever queue
 * each went to and whatever a queue refuses.
 *
 * place(): PLACE; hand_over(), leati_lane_add(): PUSH; leati_commit_group_submit(), which binds a list to a point or lets
 * the timeline fail: SUBMIT; leati_stream_adopt_owner() and
 * leati_stream_clear_error() with renew(), return_to_lane() and leati_timeline_add_waits(): RENEW. Of a stream with LISTS
 * lists each may go to either lane. A lane's queue runs batches one after the other only behind a barrier (`after`), and
 * a batch that waits for another lane's value begins when that is reached. Recording and pushing are under the stream's
 * and the timeline's lock, so one step; submitting is the leader's of the lane.
 *
 * MUTANT=1..5 are mistakes that the search must find. */

#ifndef MUTANT
#define MUTANT 0
#endif
#define LISTS 4
#define NONE 0

mtype = { OPEN, PUSHED, BOUND, RAN, LOST };

/* By list, 1 to LISTS. */
mtype state[LISTS + 1];
byte lane_of[LISTS + 1];
bool after[LISTS + 1];        /* a barrier before it */
byte waits_for[LISTS + 1];    /* the list whose point on the other lane it waits for */
byte epoch[LISTS + 1];        /* its timeline */
byte now;                     /* the stream's timeline; a fresh one after each failure */
byte failed_from[4];          /* of a timeline, the first list that is never reached; 0: it has not failed */
byte lane = 1;                /* the stream's */
byte carried;                 /* a wait that the next list takes over from one that may be lost */
byte next = 1;                /* list to be recorded */
byte refusals = 2, owners = 1;

/* Whether something before a list in its timeline is missing. */
#define IS_DOOMED(n) (failed_from[epoch[n]] != 0 && n >= failed_from[epoch[n]])

/* The newest list that may be in flight. */
inline find_last() {
  last = next - 1;
  do
  :: last != 0 && (state[last] == RAN || state[last] == LOST || IS_DOOMED(last)) -> last--
  :: else -> break
  od
}

/* Whether lists of timelines before this one are in flight. */
#define IS_OLD(n) (epoch[n] != now && (state[n] == PUSHED || state[n] == BOUND) && !IS_DOOMED(n))
#define IS_REPLACED (IS_OLD(1) || IS_OLD(2) || IS_OLD(3))

proctype stream() {
  byte last, n;
  bool replaced;
  do
  :: next > LISTS -> break
  :: atomic {
       next <= LISTS && (failed_from[now] != 0 || (owners != 0 && next != 1 && state[next - 1] == PUSHED && !IS_REPLACED)) ->
       owners = (failed_from[now] != 0 -> owners : 0);
       /* RENEW, after a failure or for another owner: what was pushed and not lost still runs. */
       now++;
       find_last();
       if
       :: last != 0 ->
#if MUTANT != 1 /* It stays on the lane that the lost list was to go to. */
          lane = lane_of[last];
#endif
          /* Of those that may be lost yet, the waits. */
          n = 1;
          do
          :: n == next -> break
          :: else ->
             if
             :: state[n] == PUSHED && waits_for[n] != NONE -> carried = waits_for[n]
             :: else
             fi;
             n++
          od;
          n = 0
       :: else
       fi;
       last = 0
     }
  :: atomic {
       next <= LISTS && failed_from[now] == 0 ->
       /* PLACE */
       find_last();
       epoch[next] = now;
#if MUTANT != 2 /* What the lost list waited for is forgotten. */
       waits_for[next] = (carried != NONE && state[carried] != RAN && lane_of[carried] != lane -> carried : NONE);
       after[next] = carried != NONE && lane_of[carried] == lane;
#endif
       carried = NONE;
       if
       :: last == 0 ->
          if
          :: lane = 1
          :: lane = 2
          fi;
          after[next] = false; waits_for[next] = NONE
       :: last != 0 ->
          after[next] = true;
          replaced = IS_REPLACED;
          if
          :: /* The other lane is better. */
             if
#if MUTANT == 3 /* It moves though the queue has not taken what went before. */
             :: !replaced && state[last] != LOST ->
#else
             :: !replaced && state[last] == BOUND ->
#endif
                lane = 3 - lane;
                waits_for[next] = last;
#if MUTANT == 4 /* It waits for nothing. */
                waits_for[next] = NONE;
#endif
                after[next] = false
             :: else
             fi
          :: skip
          fi;
#if MUTANT == 5 /* Behind its own list on the same lane it needs no barrier. */
          after[next] = false;
#endif
          replaced = false
       fi;
       /* PUSH */
       lane_of[next] = lane;
       state[next] = PUSHED;
       next++;
       last = 0
     }
  od
}

#define IS_QUEUED(n, lane) (state[n] == PUSHED && lane_of[n] == lane)

/* SUBMIT: the leader of a lane takes what is queued there, oldest first, and knows what has failed by then. */
inline submit(n) {
  if
  :: IS_DOOMED(n) -> state[n] = LOST
  :: else ->
     if
     :: state[n] = BOUND
     :: refusals != 0 ->
        refusals--;
        state[n] = LOST;
        failed_from[epoch[n]] = n
     fi
  fi
}

proctype leader(byte mine) {
end_leader:
  do
  :: atomic { IS_QUEUED(1, mine) -> submit(1) }
  :: atomic { !IS_QUEUED(1, mine) && IS_QUEUED(2, mine) -> submit(2) }
  :: atomic { !IS_QUEUED(1, mine) && !IS_QUEUED(2, mine) && IS_QUEUED(3, mine) -> submit(3) }
  :: atomic { !IS_QUEUED(1, mine) && !IS_QUEUED(2, mine) && !IS_QUEUED(3, mine) && IS_QUEUED(4, mine) -> submit(4) }
  od
}

/* The device runs a list when its barrier and its wait let it: without a barrier it may overtake others of the lane. */
#define IS_BEFORE(k, n) (k < n && state[k] == BOUND && lane_of[k] == lane_of[n])
#define MAY_RUN(n) (state[n] == BOUND && (waits_for[n] == NONE || state[waits_for[n]] == RAN) && \
                    !(after[n] && (IS_BEFORE(1, n) || IS_BEFORE(2, n) || IS_BEFORE(3, n))))

/* Every list before it has run, or never will. */
#define IS_LEFT(n) (state[n] == PUSHED || state[n] == BOUND)

inline run_list(n) {
  k = 1;
  do
  :: k == n -> break
  :: else -> assert(state[k] == RAN || state[k] == LOST || IS_DOOMED(k)); k++
  od;
  state[n] = RAN;
  k = 0
}

proctype device() {
  byte k;
  do
  :: atomic { MAY_RUN(1) -> run_list(1) }
  :: atomic { MAY_RUN(2) -> run_list(2) }
  :: atomic { MAY_RUN(3) -> run_list(3) }
  :: atomic { MAY_RUN(4) -> run_list(4) }
  :: next > LISTS && !(IS_LEFT(1) || IS_LEFT(2) || IS_LEFT(3) || IS_LEFT(4)) -> break
  od
}

init {
  byte n;
  atomic {
    n = 1;
    do
    :: n > LISTS -> break
    :: else -> state[n] = OPEN; n++
    od;
    run stream();
    run leader(1);
    run leader(2);
    run device()
  }
}
