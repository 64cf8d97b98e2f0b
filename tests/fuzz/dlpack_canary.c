/* SPDX-License-Identifier: BSD-3-Clause */
/* A plugin that takes a tensor in and does not hold its block. */
#include "memory/memory.h"

void __wrap_leati_memory_hold(leati_block *block);

void __wrap_leati_memory_hold(leati_block *block) {
  (void)block;
}
