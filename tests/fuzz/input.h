/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What the fuzzer gives to a target: bytes, each of which decides something, so that changing one changes one thing.
 */
#ifndef LEAT_TESTS_FUZZ_INPUT_H_
#define LEAT_TESTS_FUZZ_INPUT_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/** What a target exports, called by libFuzzer once for each input. Gives 0, or -1 for an input that is worth nothing.
 */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);
/** What it may export, called once before. */
int LLVMFuzzerInitialize(int *argc, char ***argv);

/** Ends the process, which the fuzzer tells with the input, unless the condition holds; the rest is printf's. */
#define FUZZ_CHECK(condition, ...)        \
  do {                                    \
    if (!(condition)) {                   \
      (void)fprintf(stderr, "fuzz: ");    \
      (void)fprintf(stderr, __VA_ARGS__); \
      (void)fprintf(stderr, "\n");        \
      abort();                            \
    }                                     \
  } while (0)

/** Bytes that are left; behind the last there are zeros. */
typedef struct input {
  const uint8_t *bytes;
  size_t left;
} input;

static inline uint8_t input_byte(input *in) {
  if (in->left == 0) {
    return 0;
  }
  --in->left;
  return *in->bytes++;
}

/** A number below `below`, which is 256 at most, of one byte. */
static inline uint32_t input_below(input *in, uint32_t below) {
  return input_byte(in) % below;
}

/** Eight bytes, the lowest first. */
static inline uint64_t input_word(input *in) {
  uint64_t word = 0;
  for (int i = 0; i < 8; ++i) {
    word |= (uint64_t)input_byte(in) << 8 * i;
  }
  return word;
}

/** A number as a careless or hostile host gives it: mostly small, else near a power of two, else any. */
static inline int64_t input_number(input *in) {
  const uint8_t kind = input_byte(in);
  if (kind < 0xC0) {
    return (int64_t)kind - 16;
  }
  if (kind < 0xFE) {
    const uint64_t power = UINT64_C(1) << (kind & 63);
    return (int64_t)(power - 2 + input_below(in, 5));
  }
  return (int64_t)input_word(in);
}

#endif /* LEAT_TESTS_FUZZ_INPUT_H_ */
