/* SPDX-License-Identifier: BSD-3-Clause */
#include "policy/tuning.h"

const leati_tunable leati_tunables[LEATI_TUNABLE_COUNT] = {
#define TUNABLE(constant, field, least, most) {#field, constant, least, most},
    LEATI_TUNABLES(TUNABLE)
#undef TUNABLE
};

uint32_t *leati_tuning_field(leati_tuning *tuning, uint32_t i) {
#define ADDRESS(constant, field, least, most) &tuning->field,
  uint32_t *const fields[LEATI_TUNABLE_COUNT] = {LEATI_TUNABLES(ADDRESS)};
#undef ADDRESS
  return fields[i];
}

/* Each stands for itself before anybody tunes it. */
#define IN_RANGE(constant, field, least, most) \
  _Static_assert((constant) >= (least) && (constant) <= (most), #constant " is not in its range of tuning.h");
LEATI_TUNABLES(IN_RANGE)
