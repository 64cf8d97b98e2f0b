/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/divider.h"

leati_divider leati_divider_of(uint32_t d) {
  const uint32_t most = UINT32_C(1) << 31;
  d = d == 0 ? 1 : d > most ? most : d;
  uint32_t shift = 0;
  while ((UINT32_C(1) << shift) < d) {
    ++shift;
  }
  return (leati_divider){.inverse = (uint32_t)(((UINT64_C(1) << 32) * ((UINT64_C(1) << shift) - d)) / d + 1),
                         .shift = shift};
}
