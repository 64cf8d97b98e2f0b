/* SPDX-License-Identifier: BSD-3-Clause */
/* Structs of a caller's that is older or newer than the backend: what their size lets be read and written. */
#include "core/status.c"

/* The errors are the real ones. */
#define REAL_ERRORS
#include "outside.h"

/* A struct of the ABI, which grew once. */
typedef struct grown {
  uint32_t struct_size;
  uint32_t old;
  uint64_t added;
} grown;
#define OLD_SIZE offsetof(grown, added)
/* The largest that a caller has here. */
#define ROOM 20

/* A struct that is read is read no further than its caller says, is zero where the caller's has nothing, and is refused
 * if something stands where we know nothing.
 * UNWIND 6
 * MISTAKE plugin/core/status.c: `for (size_t i = known; i < size; ++i)` becomes `for (size_t i = known; i <= size;
 * ++i)` MISTAKE plugin/core/status.c: `memset(to, 0, known);` becomes `` MISTAKE plugin/core/status.c: `memcpy(to,
 * from, size < known ? size : known); return LEAT_OK; } int32_t leati_export` becomes `memcpy(to, from, known); return
 * LEAT_OK; } int32_t leati_export` */
void prove_import_reads_what_is_there(void) {
  const uint32_t size = ANY(uint32_t);
  ASSUME(size >= sizeof(size) && size <= ROOM);
  unsigned char *const from = malloc(size);
  ASSUME(from != NULL);
  memcpy(from, &size, sizeof(size));
  grown to;
  const int32_t status = leati_import(&to, sizeof(to), OLD_SIZE, from, "", NULL);
  if (status != LEAT_OK) {
    PROVE(size < OLD_SIZE || size > sizeof(to));
    return;
  }
  PROVE(size >= OLD_SIZE && to.struct_size == size);
  PROVE(size >= sizeof(to) || ((const unsigned char *)&to)[sizeof(to) - 1] == 0);
  PROVE(size <= sizeof(to) || from[size - 1] == 0);
}

/* A struct that is written keeps the size that its caller gave it, and is written no further.
 * UNWIND 6
 * MISTAKE plugin/core/status.c: `memcpy(to, &size, sizeof(size));` becomes ``
 * MISTAKE plugin/core/status.c: `memcpy(to, from, size < known ? size : known); memcpy(to, &size` becomes
 * `memcpy(to, from, known); memcpy(to, &size` */
void prove_export_writes_what_has_room(void) {
  const uint32_t size = ANY(uint32_t);
  ASSUME(size >= sizeof(size) && size <= ROOM);
  unsigned char *const to = malloc(size);
  ASSUME(to != NULL);
  memcpy(to, &size, sizeof(size));
  const grown from = {.struct_size = sizeof(from), .old = ANY(uint32_t), .added = ANY(uint64_t)};
  const unsigned char last = to[size - 1];
  if (leati_export(to, &from, sizeof(from), OLD_SIZE, "", NULL) == LEAT_OK) {
    uint32_t kept;
    memcpy(&kept, to, sizeof(kept));
    PROVE(kept == size);
    PROVE(size <= sizeof(from) || to[size - 1] == last);
  } else {
    PROVE(size < OLD_SIZE && to[size - 1] == last);
  }
}
