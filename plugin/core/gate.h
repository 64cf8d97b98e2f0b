/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The gate that every call from the host passes on its way in and out, for two moments at which a call must not go on:
 *
 * - **The process exits while threads are inside.** exit() destroys the driver's static objects under them. So an exit
 *   handler closes the gate: threads stop at it for good, on their way in, on their way out, and where they wait; the
 *   handler gives those that are still on their way two seconds at most. Nothing is freed. The thread that called
 *   exit() is not stopped: it gets LEATI_GATE_CLOSED.
 * - **The process is a child of fork().** Device, other threads and their locks stayed with the parent: calls get
 *   LEATI_GATE_FORKED, and exit() ends the child before the driver's exit handlers wait for threads that it lacks.
 *
 * A thread that is inside cannot be cancelled: it is when it comes out.
 *
 * What the gate cannot do: a driver that is just being loaded registers exit handlers of its own, and none of ours can
 * come behind the last of them. A process that exits while a thread is in the very first count() may still crash.
 */
#ifndef LEAT_PLUGIN_CORE_GATE_H_
#define LEAT_PLUGIN_CORE_GATE_H_

#include "common/inside.h"

/** One pass of the gate, on the stack of the call. */
typedef struct leati_pass {
  leati_inside *inside; /**< the thread's record, or NULL */
  int cancel_state;     /**< what to restore */
  bool entered;         /**< whether leati_gate_leave() has anything to do */
} leati_pass;

/** Goes in. May be nested. Hold no lock.
 * @return LEATI_GATE_OPEN, or what to do instead; does not return on a thread that exit() does not wait for. */
leati_gate leati_gate_enter(leati_pass *pass);

/** Goes out again; does nothing for a pass that did not get in. Made for __attribute__((cleanup)). Hold no lock. */
void leati_gate_leave(leati_pass *pass);

/** To be called again and again by whoever waits inside. Hold no lock. */
static inline void leati_gate_check(void) {
  if (__builtin_expect(atomic_load_explicit(&leati_inside_closed, memory_order_relaxed), 0)) {
    leati_inside_stop();
  }
}

/** A moment after which an exit handler must run before those that were registered until then. Each counts once. */
typedef enum leati_gate_moment {
  LEATI_GATE_QUERIED, /**< before any driver */
  LEATI_GATE_LOADED,  /**< drivers are loaded */
  LEATI_GATE_LISTED,  /**< drivers have named their devices */
  LEATI_GATE_OPENED,  /**< a device has been opened */
  LEATI_GATE_WORKED,  /**< the device has finished some work: drivers compile as late as that */
  LEATI_GATE_MOMENTS,
} leati_gate_moment;

/** Registers the exit handler anew, the first time that `moment` comes: handlers run last registered first. */
void leati_gate_register(leati_gate_moment moment);

/** Has a function called when the process exits, once the gate is closed and threads have stopped: it may wait for
 * none of them, and finds drivers whole if it was set before the last moment came. One at a time. Any thread. */
void leati_gate_at_exit(void (*last)(void));

#endif /* LEAT_PLUGIN_CORE_GATE_H_ */
