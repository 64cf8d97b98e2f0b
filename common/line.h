/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Cache lines: what many threads touch at once is kept on lines of its own, and asserted to be.
 */
#ifndef LEAT_COMMON_LINE_H_
#define LEAT_COMMON_LINE_H_

#include <stddef.h>

/** Size that keeps two hot things off one cache line, also where lines are fetched in pairs. */
#define LEATI_CACHE_LINE 128
/** Asserts that one of these shares no cache line with the next in an array, or with what happens to lie beside it. */
#define LEATI_OWN_LINE(type) \
  _Static_assert(_Alignof(type) % LEATI_CACHE_LINE == 0, #type " must begin and end with a cache line")
/** Asserts the same of two members, `first` before `second`. */
#define LEATI_APART(type, first, second)                                                       \
  LEATI_OWN_LINE(type);                                                                        \
  _Static_assert((offsetof(type, first) + sizeof(((type *)0)->first) - 1) / LEATI_CACHE_LINE < \
                     offsetof(type, second) / LEATI_CACHE_LINE,                                \
                 #first " and " #second " of " #type " share a cache line")

/** Host memory, zeroed, on a cache line of its own: for structs with members aligned to LEATI_CACHE_LINE.
 * @threads any
 * @param size bytes
 * @return memory for free(); NULL when there is none */
void *leati_calloc_line(size_t size);

#endif /* LEAT_COMMON_LINE_H_ */
