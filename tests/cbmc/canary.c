/* SPDX-License-Identifier: BSD-3-Clause */
/* A proof that says too little: one of its mistakes must be told to be missed. */
#include "policy/allocation.c"

#include "outside.h"

/* A chunk of staging has room; that it is no larger than it must be is not asked.
 * MISTAKE plugin/policy/allocation.c: `size > standard ? (size + LEATI_CHUNK_GRANULE - 1)` becomes
 * `size > standard ? (size)`
 * MISTAKE plugin/policy/allocation.c: `size > standard ? (size + LEATI_CHUNK_GRANULE - 1)` becomes
 * `size > standard ? (size + 2 * LEATI_CHUNK_GRANULE - 1)` */
void prove_a_chunk_has_room(void) {
  const uint64_t size = ANY(uint32_t);
  PROVE(leati_chunk_size_for(LEATI_CHUNK_COPY_SIZE, size) >= size);
}
