/* SPDX-License-Identifier: BSD-3-Clause */
#include "progress.h"

#include <time.h>

/* Less of a deadline than this is what a thread uses that wakes now and then to look at what does not come. */
#define STANDSTILL 0.01
/* What part of a deadline the time between two looks counts for at most. */
#define LOOK_MOST 0.1

static double seconds_of(const struct timespec *time) {
  return (double)time->tv_sec + (double)time->tv_nsec / 1e9;
}

/* Processor seconds of all threads of a process, ended ones included; `otherwise` if it is gone. */
static double processor_s(pid_t process, double otherwise) {
  clockid_t clock;
  struct timespec used;
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &used) != 0) {
    return otherwise;
  }
  return seconds_of(&used);
}

static int64_t now_ns(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void leati_progress_begin(pid_t process, double deadline_s, leati_progress *out) {
  const double used_s = processor_s(process, 0.0);
  *out = (leati_progress){
      .process = process, .deadline_s = deadline_s, .first_s = used_s, .moved_s = used_s, .looked_ns = now_ns()};
}

leati_progress_state leati_progress_look(leati_progress *progress) {
  const double used_s = processor_s(progress->process, progress->first_s + progress->used_s);
  const int64_t now = now_ns();
  const double since_s = (double)(now - progress->looked_ns) / 1e9, most_s = progress->deadline_s * LOOK_MOST;
  progress->used_s = used_s - progress->first_s;
  progress->looked_ns = now;
  if (progress->used_s >= progress->deadline_s * LEATI_PROGRESS_BUDGET) {
    return LEATI_PROGRESS_SPENT;
  }
  if (used_s - progress->moved_s >= progress->deadline_s * STANDSTILL) {
    progress->moved_s = used_s;
    progress->still_s = 0;
  } else {
    progress->still_s += since_s < most_s ? since_s : most_s;
  }
  return progress->still_s >= progress->deadline_s ? LEATI_PROGRESS_HANGS : LEATI_PROGRESS_MOVES;
}
