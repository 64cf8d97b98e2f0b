/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Compares today's structs with those of a frozen version: nothing may have moved, changed its size or gone; a struct
 * may have grown.
 */
#include <leat/backend.h>
#include <stdio.h>

_Static_assert(sizeof(void *) == 8, "the frozen layouts are those of 64-bit machines");

typedef struct layout {
  const char *name;
  size_t offset, frozen_offset, size, frozen_size;
  int is_struct;
} layout;

#define STRUCT(s, size) {#s, 0, 0, sizeof(s), size, 1},
#define MEMBER(s, m, offset, size) {#s "::" #m, offsetof(s, m), offset, sizeof(((s *)0)->m), size, 0},

static const layout layouts[] = {
#include FROZEN_LAYOUT
};

int main(void) {
  int wrong = 0;
  const size_t count = sizeof(layouts) / sizeof(layouts[0]);
  for (size_t i = 0; i < count; ++i) {
    const layout *l = &layouts[i];
    if (l->offset != l->frozen_offset) {
      printf("%s is at offset %zu, was at %zu\n", l->name, l->offset, l->frozen_offset);
      ++wrong;
    }
    if (l->is_struct ? l->size < l->frozen_size : l->size != l->frozen_size) {
      printf("%s has %zu bytes, had %zu\n", l->name, l->size, l->frozen_size);
      ++wrong;
    }
  }
  printf("%zu structs and members compared, %d changed\n", count, wrong);
  return wrong ? 1 : 0;
}
