/* SPDX-License-Identifier: BSD-3-Clause */
/* A plugin that writes all of a struct, however small the caller's is. */
#include <string.h>

#include "core/status.h"

int32_t __wrap_leati_export(void *to, const void *from, size_t known, size_t least, const char *name, leat_error *err);

int32_t __wrap_leati_export(void *to, const void *from, size_t known, size_t least, const char *name, leat_error *err) {
  (void)least;
  (void)name;
  (void)err;
  memcpy(to, from, known);
  return LEAT_OK;
}
