/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/core/divider.h"

leati_divider leati_divider_of(uint32_t d) {
  const uint32_t most = UINT32_C(1) << 31;
  d = d == 0 ? 1 : d > most ? most : d;
  /* 2^shift is the next power of two from d on. */
  const uint32_t shift = d > 1 ? 32 - (uint32_t)__builtin_clz(d - 1) : 0;
  return (leati_divider){.inverse = (uint32_t)(((UINT64_C(1) << 32) * ((UINT64_C(1) << shift) - d)) / d + 1),
                         .shift = shift};
}
