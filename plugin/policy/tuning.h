/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The constants by which kernels are cut, as values that a process may have others of: to tune them again takes no
 * rebuild. constants.h has what they are by themselves, and what each is for.
 */
#ifndef LEAT_PLUGIN_POLICY_TUNING_H_
#define LEAT_PLUGIN_POLICY_TUNING_H_

#include "policy/constants.h"

/** X(constant, field, least, most): a value from `least` to `most` is right with the rules and the kernels, however
 * slow it may be. The field is the constant's name in lower case without LEATI_. Here are those whose best value is
 * likely another on a GPU of another make, and those without which a test does not get where it wants on a small
 * device. Of those with a bound of their own:
 *
 * - what k is split into is made of whole steps of LEATI_GEMM_K_STEP, so less than one would be the same, and keys go
 *   by 32;
 * - who joins what was split has as many turns as there are pieces; lavapipe ends loops after 65535;
 * - kernels/attention_few.comp has up to 16 pieces in a thread, in workgroups of 64 to 512; of what is no power of two
 *   the next lower one is taken;
 * - kernels/gemv.comp has up to 8 rows. */
#define LEATI_TUNABLES(X)                                              \
  X(LEATI_PROCESSORS_ASSUMED, processors_assumed, 1, 1024)             \
  X(LEATI_GEMM_FILL_128_QUARTERS, gemm_fill_128_quarters, 0, 64)       \
  X(LEATI_GEMM_FILL_64_QUARTERS, gemm_fill_64_quarters, 0, 64)         \
  X(LEATI_GEMM_FILL_16_QUARTERS, gemm_fill_16_quarters, 0, 64)         \
  X(LEATI_GEMM_SPLIT_FILL, gemm_split_fill, 0, 16)                     \
  X(LEATI_GEMM_SPLIT_MIN, gemm_split_min, 64, 1048576)                 \
  X(LEATI_MATRIX_FILL_128_QUARTERS, matrix_fill_128_quarters, 0, 64)   \
  X(LEATI_MATRIX_FILL_64_QUARTERS, matrix_fill_64_quarters, 0, 64)     \
  X(LEATI_MATRIX_SPLIT_FILL, matrix_split_fill, 0, 16)                 \
  X(LEATI_MATRIX_SPLIT_MIN, matrix_split_min, 64, 1048576)             \
  X(LEATI_CONV_LAST_MIN, conv_last_min, 0, 2147483647)                 \
  X(LEATI_CONV_LAST_EACH, conv_last_each, 1, 2147483647)               \
  X(LEATI_ATTENTION_MATRIX_KEYS, attention_matrix_keys, 1, 2147483647) \
  X(LEATI_ATTENTION_SPLIT_MIN, attention_split_min, 32, 1048576)       \
  X(LEATI_ATTENTION_FEW_QUERIES, attention_few_queries, 0, 64)         \
  X(LEATI_ATTENTION_FEW_FLIGHT, attention_few_flight, 1, 16)           \
  X(LEATI_ATTENTION_FEW_THREADS, attention_few_threads, 64, 512)       \
  X(LEATI_GEMV_SPLIT_MIN, gemv_split_min, 64, 1048576)                 \
  X(LEATI_NBITS_FILL, nbits_fill, 0, 16)                               \
  X(LEATI_GEMV_ROWS, gemv_rows, 0, 8)                                  \
  X(LEATI_MATRIX_GEMV_ROWS, matrix_gemv_rows, 0, 8)                    \
  X(LEATI_REDUCE_FILL, reduce_fill, 0, 16)                             \
  X(LEATI_REDUCE_CHUNK_MIN, reduce_chunk_min, 1, 1048576)              \
  X(LEATI_RECURRENT_THREADS, recurrent_threads, 128, 1024)             \
  X(LEATI_COPY_ITEMS_MANY, copy_items_many, 0, 2147483647)

/** A value for each. */
typedef struct leati_tuning {
#define LEATI_TUNING_FIELD(constant, field, least, most) uint32_t field;
  LEATI_TUNABLES(LEATI_TUNING_FIELD)
#undef LEATI_TUNING_FIELD
} leati_tuning;

/** Those that constants.h has, as an initialiser. */
#define LEATI_TUNING_STANDARD_FIELD(constant, field, least, most) .field = (constant),
#define LEATI_TUNING_STANDARD \
  { LEATI_TUNABLES(LEATI_TUNING_STANDARD_FIELD) }

/** How many there are. */
enum {
#define LEATI_TUNABLE_COUNTED(constant, field, least, most) LEATI_TUNABLE_OF_##field,
  LEATI_TUNABLES(LEATI_TUNABLE_COUNTED)
#undef LEATI_TUNABLE_COUNTED
      LEATI_TUNABLE_COUNT
};

/** What one may be. */
typedef struct leati_tunable {
  const char *name; /**< of the field */
  uint32_t standard, least, most;
} leati_tunable;

extern const leati_tunable leati_tunables[LEATI_TUNABLE_COUNT];

/** The field of tunable `i`. */
uint32_t *leati_tuning_field(leati_tuning *tuning, uint32_t i);

#endif /* LEAT_PLUGIN_POLICY_TUNING_H_ */
