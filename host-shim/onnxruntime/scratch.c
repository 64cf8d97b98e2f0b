/* SPDX-License-Identifier: BSD-3-Clause */
#include "scratch.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>

/* Bytes of an ordinary piece: several nodes' worth, so that most nodes cost one allocation. */
#define PIECE_SIZE 4096u

struct leati_scratch_piece {
  leati_scratch_piece *next;
  size_t size; /* bytes of `bytes` */
  size_t used; /* bytes of `bytes` that are given out */
  alignas(max_align_t) unsigned char bytes[];
};

void *leati_scratch_alloc(leati_scratch *scratch, size_t count, size_t size) {
  const size_t alignment = alignof(max_align_t);
  if (size != 0 && count > (SIZE_MAX / 2 - sizeof(leati_scratch_piece)) / size) {
    return NULL;
  }
  size_t bytes = (count * size + alignment - 1) / alignment * alignment;
  leati_scratch_piece *piece = scratch->pieces;
  if (piece == NULL || piece->size - piece->used < bytes) {
    size_t room = bytes > PIECE_SIZE ? bytes : PIECE_SIZE;
    piece = calloc(1, sizeof(*piece) + room);
    if (piece == NULL) {
      return NULL;
    }
    piece->size = room;
    piece->next = scratch->pieces;
    scratch->pieces = piece;
  }
  void *memory = piece->bytes + piece->used;
  piece->used += bytes;
  return memory;
}

void leati_scratch_clear(leati_scratch *scratch) {
  while (scratch->pieces != NULL) {
    leati_scratch_piece *piece = scratch->pieces;
    scratch->pieces = piece->next;
    free(piece);
  }
}
