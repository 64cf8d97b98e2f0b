/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies past the caches: every byte arrives, whatever the alignments and sizes, and none beside them changes. */
#include "core/copy.h"

#include <stdint.h>
#include <string.h>

#include "unit_fixture.h"

/* Bytes around a copy, and the largest one: several lines of a cache, whole and not. */
enum { AROUND = 128, MOST = 1100 };

static unsigned char from[MOST + AROUND], to[MOST + 2 * AROUND], wanted[sizeof(to)];

static void every_alignment_and_size(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof(from); ++i) {
    from[i] = (unsigned char)(i * 167 + i / 251);
  }
  for (size_t in = 0; in < 65; in += 13) {
    for (size_t out = 0; out < 65; ++out) {
      for (size_t size = 0; size <= MOST; size += size < 200 ? 1 : 77) {
        memset(to, 0xa5, sizeof(to));
        memset(wanted, 0xa5, sizeof(wanted));
        memcpy(wanted + AROUND / 2 + out, from + in, size);
        leati_copy_past_caches(to + AROUND / 2 + out, from + in, size);
        assert_memory_equal(to, wanted, sizeof(to));
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_alignment_and_size),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
