/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/copy.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#include <stdint.h>

/* Bytes of a cache line, and how far ahead of what is copied reads are asked for: some hundred nanoseconds. They are
 * asked for into all caches: a processor has more reads under way into its second level than past it into the first. */
enum { LINE = 64, AHEAD = 2048 };

void leati_copy_past_caches(void *to, const void *from, size_t size) {
  unsigned char *out = to;
  const unsigned char *in = from;
  const size_t before = -(uintptr_t)out % LINE, lead = before < size ? before : size;
  memcpy(out, in, lead);
  size_t left = size - lead;
  for (out += lead, in += lead; left >= LINE; left -= LINE, out += LINE, in += LINE) {
    __m128i parts[LINE / sizeof(__m128i)];
    /* Past the end it asks for nothing. */
    _mm_prefetch((const char *)((uintptr_t)in + AHEAD), _MM_HINT_T0);
    memcpy(parts, in, LINE);
    for (size_t i = 0; i < LINE / sizeof(__m128i); ++i) {
      _mm_stream_si128((__m128i *)(void *)out + i, parts[i]);
    }
  }
  _mm_sfence(); /* such stores are in no order with others */
  memcpy(out, in, left);
}
#else
void leati_copy_past_caches(void *to, const void *from, size_t size) {
  memcpy(to, from, size);
}
#endif
