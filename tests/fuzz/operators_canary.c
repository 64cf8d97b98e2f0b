/* SPDX-License-Identifier: BSD-3-Clause */
/* A plugin whose blocks are longer than what is theirs. */
#include "memory/block.h"

uint64_t __real_leati_block_size(const leati_block *block);
uint64_t __wrap_leati_block_size(const leati_block *block);

uint64_t __wrap_leati_block_size(const leati_block *block) {
  return __real_leati_block_size(block) + 1024;
}
