/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The constants by which kernels are cut, as values that a process may have others of: to tune them again takes no
 * rebuild. constants.h has what they are by themselves, and what each is for.
 */
#ifndef LEAT_PLUGIN_POLICY_TUNING_H_
#define LEAT_PLUGIN_POLICY_TUNING_H_

#include "policy/constants.h"

/** X(constant, field, least, most): a value from `least` to `most` is right with the rules and the kernels, however
 * slow it may be. The field is the constant's name in lower case without LEATI_. Of those with a bound of their own:
 *
 * - what k is split into is made of whole steps of LEATI_GEMM_K_STEP, so less than one would be the same, and keys go
 *   by 32;
 * - who joins what was split has as many turns as there are pieces; lavapipe ends loops after 65535;
 * - kernels/attention_few.comp has teams of 4 to 32 threads, up to 16 pieces in each, in workgroups of 64 to 512; of
 *   what is no power of two the next lower one is taken;
 * - kernels/gemv.comp has up to 8 rows, and up to 16 threads of 8 columns each;
 * - kernels/rows.glsl has up to 256 threads to a row; fewer go through it in turns (a reduction has no more of them
 * than LEATI_REDUCE_TURNS_MAX, a norm or softmax that needs more is refused);
 * - norm.comp and softmax.comp hold up to 4 fours of a thread, copy.comp moves up to 4 items of one;
 * - dynamic_quantize.comp has up to 1024 threads, of what is no power of two the next lower one. */
#define LEATI_TUNABLES(X)                                                      \
  X(LEATI_PROCESSORS_ASSUMED, processors_assumed, 1, 1024)                     \
  X(LEATI_GEMM_FILL_128_QUARTERS, gemm_fill_128_quarters, 0, 64)               \
  X(LEATI_GEMM_FILL_64_QUARTERS, gemm_fill_64_quarters, 0, 64)                 \
  X(LEATI_GEMM_FILL_16_QUARTERS, gemm_fill_16_quarters, 0, 64)                 \
  X(LEATI_GEMM_K_16, gemm_k_16, 0, 65536)                                      \
  X(LEATI_GEMM_SLICES_MIN, gemm_slices_min, 0, 1048576)                        \
  X(LEATI_GEMM_SLICES_FILL_QUARTERS, gemm_slices_fill_quarters, 0, 64)         \
  X(LEATI_GEMM_SPLIT_FILL, gemm_split_fill, 0, 16)                             \
  X(LEATI_GEMM_SPLIT_MIN, gemm_split_min, 64, 1048576)                         \
  X(LEATI_GEMM_FEW_QUARTERS, gemm_few_quarters, 0, 64)                         \
  X(LEATI_GEMM_SPLIT_MIN_FEW, gemm_split_min_few, 64, 1048576)                 \
  X(LEATI_MATRIX_FILL_128_QUARTERS, matrix_fill_128_quarters, 0, 64)           \
  X(LEATI_MATRIX_FILL_64_QUARTERS, matrix_fill_64_quarters, 0, 64)             \
  X(LEATI_MATRIX_FILL_16_QUARTERS, matrix_fill_16_quarters, 0, 64)             \
  X(LEATI_MATRIX_SPLIT_FILL, matrix_split_fill, 0, 16)                         \
  X(LEATI_MATRIX_SPLIT_MIN, matrix_split_min, 64, 1048576)                     \
  X(LEATI_MATRIX_SPLIT_MIN_128, matrix_split_min_128, 64, 1048576)             \
  X(LEATI_MATRIX_SPLIT_MIN_16, matrix_split_min_16, 64, 1048576)               \
  X(LEATI_MATRIX_GATHER_SPLIT_FILL, matrix_gather_split_fill, 0, 16)           \
  X(LEATI_MATRIX_GATHER_SPLIT_MIN, matrix_gather_split_min, 64, 1048576)       \
  X(LEATI_CONV_LAST_MIN, conv_last_min, 0, 2147483647)                         \
  X(LEATI_CONV_LAST_EACH, conv_last_each, 1, 2147483647)                       \
  X(LEATI_ATTENTION_MATRIX_KEYS, attention_matrix_keys, 1, 2147483647)         \
  X(LEATI_ATTENTION_FILL_QUARTERS, attention_fill_quarters, 0, 64)             \
  X(LEATI_ATTENTION_SPLIT_FILL_QUARTERS, attention_split_fill_quarters, 0, 32) \
  X(LEATI_ATTENTION_SPLIT_MIN, attention_split_min, 32, 1048576)               \
  X(LEATI_ATTENTION_FEW_QUERIES, attention_few_queries, 0, 64)                 \
  X(LEATI_ATTENTION_FEW_LANES, attention_few_lanes, 4, 32)                     \
  X(LEATI_ATTENTION_FEW_FLIGHT, attention_few_flight, 1, 16)                   \
  X(LEATI_ATTENTION_FEW_THREADS, attention_few_threads, 64, 512)               \
  X(LEATI_ATTENTION_FEW_THREADS_MIN, attention_few_threads_min, 64, 512)       \
  X(LEATI_ATTENTION_FEW_FILL_QUARTERS, attention_few_fill_quarters, 0, 64)     \
  X(LEATI_GEMV_FILL_QUARTERS, gemv_fill_quarters, 0, 64)                       \
  X(LEATI_GEMV_SPLIT_MIN, gemv_split_min, 64, 1048576)                         \
  X(LEATI_NBITS_FILL, nbits_fill, 0, 16)                                       \
  X(LEATI_GEMV_ROWS, gemv_rows, 0, 8)                                          \
  X(LEATI_MATRIX_GEMV_ROWS, matrix_gemv_rows, 0, 8)                            \
  X(LEATI_GEMV_COLUMNS_MIN, gemv_columns_min, 8, 128)                          \
  X(LEATI_BYTES_COLUMNS_MIN, bytes_columns_min, 4, 128)                        \
  X(LEATI_GEMV_QUADS_COLUMNS, gemv_quads_columns, 0, 2147483647)               \
  X(LEATI_REDUCE_FILL, reduce_fill, 0, 16)                                     \
  X(LEATI_REDUCE_SPLIT_FILL, reduce_split_fill, 0, 16)                         \
  X(LEATI_REDUCE_CHUNK_MIN, reduce_chunk_min, 1, 1048576)                      \
  X(LEATI_ROW_1_MAX, row_1_max, 0, 16384)                                      \
  X(LEATI_ROW_8_MAX, row_8_max, 0, 16384)                                      \
  X(LEATI_ROW_32_MAX, row_32_max, 0, 16384)                                    \
  X(LEATI_ROW_32_MANY_MAX, row_32_many_max, 0, 16384)                          \
  X(LEATI_ROWS_MANY, rows_many, 0, 2147483647)                                 \
  X(LEATI_ACROSS_1_MAX, across_1_max, 0, 16384)                                \
  X(LEATI_ACROSS_1_ROWS, across_1_rows, 0, 2147483647)                         \
  X(LEATI_ACROSS_8_BELOW, across_8_below, 0, 2147483647)                       \
  X(LEATI_ACROSS_8_ROWS, across_8_rows, 0, 2147483647)                         \
  X(LEATI_ROW_TOGETHER, row_together, 1, 256)                                  \
  X(LEATI_ROW_FOURS_MAX, row_fours_max, 1, 4)                                  \
  X(LEATI_ROW_EARLY_MAX, row_early_max, 0, 2147483647)                         \
  X(LEATI_DYNAMIC_THREADS, dynamic_threads, 128, 1024)                         \
  X(LEATI_DYNAMIC_WHOLE_MAX, dynamic_whole_max, 0, 16777216)                   \
  X(LEATI_DYNAMIC_FILL, dynamic_fill, 1, 16)                                   \
  X(LEATI_RECURRENT_WHOLE_MAX, recurrent_whole_max, 0, 2147483647)             \
  X(LEATI_RECURRENT_WHOLE_STEPS, recurrent_whole_steps, 1, 2147483647)         \
  X(LEATI_RECURRENT_THREADS, recurrent_threads, 128, 1024)                     \
  X(LEATI_RECURRENT_FILL_QUARTERS, recurrent_fill_quarters, 0, 64)             \
  X(LEATI_COPY_EACH, copy_each, 1, 4)                                          \
  X(LEATI_COPY_ITEMS_MANY, copy_items_many, 0, 2147483647)                     \
  X(LEATI_TRANSPOSE_MIN, transpose_min, 1, 2147483647)                         \
  X(LEATI_TRANSPOSE_TILES_MANY, transpose_tiles_many, 0, 2147483647)

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
