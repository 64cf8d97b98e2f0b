/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The threads that are inside of a library, and how they are stopped when the process exits: what the gates of plugin
 * and provider stand on. Each library has its own, as it has its own copy of this code.
 *
 * exit() destroys static objects of drivers and runtimes under the threads that use them. So an exit handler closes the
 * library: threads stop for good on their way in and out, and where they wait; the handler waits for those that are
 * still on their way. Nothing is freed. The thread that ends the process is not stopped. A child of fork() is told so.
 */
#ifndef LEAT_COMMON_INSIDE_H_
#define LEAT_COMMON_INSIDE_H_

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/** What a thread finds at the gate. */
typedef enum leati_gate {
  LEATI_GATE_OPEN,   /**< go in */
  LEATI_GATE_CLOSED, /**< this thread is ending the process: touch nothing */
  LEATI_GATE_FORKED, /**< this process is a child of fork(): touch nothing */
} leati_gate;

/** What is known of one thread. */
typedef struct leati_inside leati_inside;

/** Whether the exit handler has closed the library. Stored by it (sequentially consistent, see inside.c); a
 * thread that only has to stop sooner or later loads it relaxed. */
extern atomic_bool leati_inside_closed;

/** Goes in. May be nested. Does not return on a thread that the exit handler does not wait for.
 * @threads any; no lock may be held that the thread that calls exit() could want
 * @param out [out] this thread's record for leati_inside_leave(); NULL: there is no memory, and exit() will not wait
 * for the thread
 * @return LEATI_GATE_OPEN, or what to do instead: then leati_inside_leave() must not follow */
leati_gate leati_inside_enter(leati_inside **out);

/** Goes out again, or stops for good.
 * @threads any; no lock may be held that the thread that calls exit() could want
 * @param inside [inout] this thread's record, or NULL */
void leati_inside_leave(leati_inside *inside);

/** This thread's record; NULL: it has none yet.
 * @threads any */
leati_inside *leati_inside_own(void);

/** Stops this thread for good if the library is closed, unless it is the one that ends the process.
 * @threads any; as leati_inside_enter() */
void leati_inside_stop(void);

/** For an exit handler: closes the library, the first time, and waits two seconds at most until no thread has been on
 * its way for `still_ns`. Does nothing in a child of fork().
 * @threads the one that ends the process
 * @param still_ns nanoseconds; 0: until no thread is inside that has not stopped */
void leati_inside_close(uint64_t still_ns);

#endif /* LEAT_COMMON_INSIDE_H_ */
