/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of a timeline: which of them are reached, which are lost, and what comes behind those. */
#include "timeline/timeline.c"

#include "outside.h"

/* A timeline on which lists up to some value were handed over, and some of them have run. */
static leati_timeline any_timeline(void) {
  leati_timeline timeline = {.promised = ANY(uint64_t), .completed = ANY(uint64_t)};
  ASSUME(timeline.completed <= timeline.promised && timeline.promised < UINT64_MAX - 1);
  return timeline;
}

/* Of two failures, in any order, the first value that is lost counts, and the first cause; what is promised up to then
 * is waited for and no more.
 * MISTAKE plugin/timeline/timeline.c: `if (to < atomic_load_explicit` becomes `if (to > atomic_load_explicit`
 * MISTAKE plugin/timeline/timeline.c: `value >= atomic_load_explicit(&timeline->failed_from` becomes
 * `value > atomic_load_explicit(&timeline->failed_from`
 * MISTAKE plugin/timeline/timeline.c: `? atomic_load_explicit(&timeline->failed_from, memory_order_acquire) - 1 :
 * promised` becomes `? atomic_load_explicit(&timeline->failed_from, memory_order_acquire) : promised` */
void prove_lost_values_fail(void) {
  leati_timeline timeline = any_timeline();
  const uint64_t lost[2] = {ANY(uint64_t), ANY(uint64_t)}, value = ANY(uint64_t);
  ASSUME(lost[0] > timeline.completed && lost[1] > timeline.completed);
  const leat_error causes[2] = {{.code = LEAT_ERROR_INTERNAL}, {.code = LEAT_ERROR_DEVICE_LOST}};
  leati_timeline_fail(&timeline, lost[0], &causes[0]);
  leati_timeline_fail(&timeline, lost[1], &causes[1]);
  const uint64_t first = lost[0] < lost[1] ? lost[0] : lost[1];
  PROVE(leati_timeline_fails(&timeline, value) == (value >= first));
  PROVE(!leati_timeline_flawed(&timeline, value) || value == UINT64_MAX);
  PROVE(timeline.failure.code == LEAT_ERROR_INTERNAL);
  const uint64_t last = leati_timeline_last(&timeline);
  PROVE(last <= timeline.promised && last < first && (last == timeline.promised || last + 1 == first));
  PROVE(leati_timeline_failure(&timeline, value, NULL) == LEAT_OK || value >= first);
}

/* A timeline that failed and that no stream has counts on: nothing fails on it, and all that was promised, and the
 * value of the list that was open then, has passed.
 * MISTAKE plugin/timeline/timeline.c: `const uint64_t lost = atomic_load_explicit(&timeline->promised,
 * memory_order_relaxed) + 1;` becomes `const uint64_t lost = atomic_load_explicit(&timeline->promised,
 * memory_order_relaxed);`
 * MISTAKE plugin/timeline/timeline.c: `atomic_store_explicit(&timeline->completed, lost, memory_order_release);`
 * becomes
 * `` */
void prove_a_spare_timeline_counts_on(void) {
  leati_timeline timeline = any_timeline();
  const uint64_t stamped = ANY(uint64_t);
  ASSUME(stamped <= timeline.promised + 1);
  const leat_error cause = {.code = LEAT_ERROR_INTERNAL};
  leati_timeline_fail(&timeline, timeline.completed + 1, &cause);
  leati_timeline_end(&timeline);
  count_on(&timeline);
  PROVE(!leati_timeline_fails(&timeline, stamped));
  PROVE(leati_timeline_passed(&timeline, stamped));
  PROVE(leati_timeline_last(&timeline) == timeline.completed);
}
