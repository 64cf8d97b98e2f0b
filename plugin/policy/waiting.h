/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * How a thread waits: how long it spins, when it sleeps, and who asks the driver. Pure functions; nanoseconds.
 */
#ifndef LEAT_PLUGIN_POLICY_WAITING_H_
#define LEAT_PLUGIN_POLICY_WAITING_H_

#include "policy/constants.h"
#include "policy/traits.h"

/** Nanoseconds from one look of a sleeping thread after its lane to the next, at most. */
#define LEATI_NAP_NS UINT64_C(1000000)
/** Looks of a sleeping thread in the time that its wait usually takes. */
#define LEATI_NAPS_PER_WAIT 8
/** Rounds of looks, some 25 us in all, before a thread counts as spinning, unless its lane is crowded. */
#define LEATI_ROUNDS_UNCOUNTED 6

/** How a wait goes on; times count from its begin. */
typedef struct leati_wait_course {
  uint64_t sleep_ns; /**< sleep until then; 0: not at all */
  uint64_t nap_ns;   /**< without a look at the lane for so long at most */
  uint64_t spin_ns;  /**< spin until then, and block in the driver after it */
} leati_wait_course;

/** The course of a wait that usually takes so long. */
leati_wait_course leati_wait_course_of(uint64_t usual_ns);
/** What a wait will usually take after one of `took_ns`. `asleep`: the thread slept when it was over, so it may have
 * taken less. */
uint64_t leati_wait_learn(uint64_t usual_ns, uint64_t took_ns, bool asleep);
/** How long a wait spins that nothing was said of: -1: as it has learnt. A software device needs the cores that would
 * spin. */
int64_t leati_wait_spin_standard(const leati_traits *traits);

/** Whether a thread that spins begins to count as spinning in round `round` (the first is 1) of its looks, on a lane
 * that `attendants` attend. */
static inline bool leati_wait_counts(const leati_traits *traits, uint32_t round, uint32_t attendants) {
  return round == LEATI_ROUNDS_UNCOUNTED || attendants > traits->cores / 2;
}
/** Whether one of so many spinning threads should let others run after a round. */
static inline bool leati_wait_yields(const leati_traits *traits, uint32_t spinning) {
  return spinning > traits->cores;
}
/** Whether a thread asks the driver at look `look` of a round. Those who attend a lane take turns: asked by many at
 * once the driver is slow, also for the one who submits. */
static inline bool leati_wait_asks(uint32_t look, uint32_t attendants) {
  return attendants < 2 || look % attendants == 0;
}

#endif /* LEAT_PLUGIN_POLICY_WAITING_H_ */
