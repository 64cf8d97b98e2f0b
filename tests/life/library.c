/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * A library with a destructor that calls what its user wants.
 */
#include <stddef.h>

extern __attribute__((visibility("default"))) void (*life_library_end)(void);
/** Called when the library goes; NULL: nothing. */
void (*life_library_end)(void) = NULL;

__attribute__((destructor)) static void end_library(void) {
  if (life_library_end != NULL) {
    life_library_end();
  }
}
