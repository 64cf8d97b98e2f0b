/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Tells a process that hangs from one that is slow, whatever else the machine does. A process hangs when for as long as
 * its deadline it has used next to no processor time; a device that is a processor, as lavapipe, moves with it. One
 * that does use some is only slow, and is ended by a bound of its processor time alone.
 */
#ifndef LEAT_CONFORMANCE_PROGRESS_H_
#define LEAT_CONFORMANCE_PROGRESS_H_

#include <stdint.h>
#include <sys/types.h>

/** What a look at a process finds. */
typedef enum leati_progress_state {
  LEATI_PROGRESS_MOVES, /**< it works, or the deadline has not passed */
  LEATI_PROGRESS_HANGS, /**< it has used less than a hundredth of the deadline since it last moved, a deadline ago; of
                           the time between two looks no more than a tenth of the deadline counts */
  LEATI_PROGRESS_SPENT  /**< it has used LEATI_PROGRESS_BUDGET times the deadline */
} leati_progress_state;

/** Processor seconds that a process may use for each second of its deadline: what several busy threads need under a
 * sanitizer, where the deadline is what one needs without. */
#define LEATI_PROGRESS_BUDGET 5.0

/** How a process goes on. The caller's memory; read its fields, write none. */
typedef struct leati_progress {
  pid_t process;
  double deadline_s;
  double first_s;    /**< its processor time at the beginning, in seconds */
  double moved_s;    /**< the same when it last moved */
  double used_s;     /**< the same at the last look, from the beginning on */
  double still_s;    /**< what counts of the time since then */
  int64_t looked_ns; /**< CLOCK_MONOTONIC at the last look */
} leati_progress;

/** Begins to watch a child process that has not been waited for.
 * @threads one at a time for each `out`
 * @param deadline_s seconds, more than 0
 * @param out [out] written whole */
void leati_progress_begin(pid_t process, double deadline_s, leati_progress *out);

/** Looks at it again: at least ten times within the deadline, or it takes longer to find that it hangs, since who does
 * not get to look was kept from it by a machine that may have kept the process from its work too. A process that has
 * ended meanwhile moves no more; wait for it before you look.
 * @threads one at a time for each `progress` */
leati_progress_state leati_progress_look(leati_progress *progress);

#endif /* LEAT_CONFORMANCE_PROGRESS_H_ */
