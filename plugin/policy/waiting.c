/* SPDX-License-Identifier: BSD-3-Clause */
#include "policy/waiting.h"

leati_wait_course leati_wait_course_of(uint64_t usual_ns) {
  const bool sleeps = usual_ns > LEATI_SPIN_WHOLE_NS;
  const uint64_t nap = usual_ns / LEATI_NAPS_PER_WAIT;
  const uint64_t patience = sleeps ? usual_ns + usual_ns / 4 : 4 * usual_ns;
  return (leati_wait_course){.sleep_ns = sleeps ? usual_ns / 2 : 0,
                             .nap_ns = nap < LEATI_NAP_NS ? nap : LEATI_NAP_NS,
                             .spin_ns = patience > LEATI_WAKE_NS ? patience : LEATI_WAKE_NS};
}

uint64_t leati_wait_learn(uint64_t usual_ns, uint64_t took_ns, bool asleep) {
  return asleep ? (usual_ns + took_ns) / 2 : (3 * usual_ns + took_ns) / 4;
}

int64_t leati_wait_spin_standard(const leati_traits *traits) {
  return traits->software ? 0 : -1;
}
