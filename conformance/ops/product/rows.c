/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of the products of matrices. */
#include "cases/sources.h"
#include "ops/core/refusal.h"

#define PRODUCT(named, a, b)                                                  \
  {                                                                           \
    .name = "MatMul", .label = named, .since_version = 13, .inputs = { a, b } \
  }

#define FUSED(named, attributes_given, a, b)                                              \
  {                                                                                       \
    .name = "FusedMatMul", .label = named, .since_version = 1, .domain = "com.microsoft", \
    .attributes = attributes_given, .inputs = {                                           \
      a,                                                                                  \
      b                                                                                   \
    }                                                                                     \
  }

/* The products of a type of 16 bits: by tiles with edges, read by quads where they are compact, and of more than half
 * of a tile of 128; by so many tiles of 32 that there are none of 16 on a device of up to 1,024 processors; by as few
 * of 32 as 128 processors; by so few of 16 that k is split; of one row, with its sum shared out; of small m and many
 * columns, read by eights; with bias and activation. */
#define HALVES(type_label, t)                                                                              \
  {.name = "MatMul",                                                                                       \
   .label = type_label,                                                                                    \
   .since_version = 13,                                                                                    \
   .variants = VIEW_TRANSPOSED | VIEW_OFFSET,                                                              \
   .threads = THREADS_16,                                                                                  \
   .inputs = {RANGE_OF(t, -2, 2, 2, 33, 20), RANGE_OF(t, -2, 2, 2, 20, 36)}},                              \
      {.name = "MatMul",                                                                                   \
       .label = "tiles_" type_label,                                                                       \
       .since_version = 13,                                                                                \
       .variants = VIEW_TRANSPOSED | VIEW_OFFSET,                                                          \
       .inputs = {RANGE_OF(t, -2, 2, 65, 136), RANGE_OF(t, -2, 2, 136, 72)}},                              \
      {.name = "MatMul",                                                                                   \
       .label = "tiles_of_32_" type_label,                                                                 \
       .since_version = 13,                                                                                \
       .variants = VIEW_TRANSPOSED | VIEW_OFFSET,                                                          \
       .inputs = {RANGE_OF(t, -2, 2, 31, 40), RANGE_OF(t, -2, 2, 40, 16400)}},                             \
      PRODUCT("few_tiles_of_32_" type_label, RANGE_OF(t, -2, 2, 40, 300), RANGE_OF(t, -2, 2, 300, 1700)),  \
      {.name = "MatMul",                                                                                   \
       .label = "inner_split_" type_label,                                                                 \
       .since_version = 13,                                                                                \
       .variants = VIEW_TRANSPOSED | VIEW_OFFSET,                                                          \
       .threads = THREADS_8,                                                                               \
       .inputs = {RANGE_OF(t, -2, 2, 20, 2100), RANGE_OF(t, -2, 2, 2100, 24)}},                            \
      PRODUCT("one_row_" type_label, RANGE_OF(t, -2, 2, 1, 4100), RANGE_OF(t, -2, 2, 4100, 37)),           \
      PRODUCT("wide_rows_" type_label, RANGE_OF(t, -2, 2, 2, 1031), RANGE_OF(t, -2, 2, 1031, 1032)),       \
      PRODUCT("wider_row_" type_label, RANGE_OF(t, -2, 2, 1, 36), RANGE_OF(t, -2, 2, 36, 3080)),           \
      FUSED(type_label, ATTRIBUTES(A_INT("transB", 1), A_FLOAT("alpha", 0.5f)), RANGE_OF(t, -2, 2, 3, 68), \
            RANGE_OF(t, -2, 2, 132, 68)),                                                                  \
      {.name = "Gemm",                                                                                     \
       .label = type_label,                                                                                \
       .since_version = 13,                                                                                \
       .variants = VIEW_TRANSPOSED | VIEW_OFFSET,                                                          \
       .attributes = {A_INT("transB", 1), A_FLOAT("beta", -2.0f)},                                         \
       .inputs = {RANGE_OF(t, -2, 2, 35, 1028), RANGE_OF(t, -2, 2, 18, 1028), RANGE_OF(t, -2, 2, 18)}},    \
  {                                                                                                        \
    .name = "FusedGemm", .label = type_label, .since_version = 1, .domain = "com.microsoft",               \
    .attributes = {A_STRING("activation", "Sigmoid")}, .inputs = {                                         \
      RANGE_OF(t, -2, 2, 9, 7),                                                                            \
      RANGE_OF(t, -2, 2, 7, 19),                                                                           \
      RANGE_OF(t, -2, 2, 19)                                                                               \
    }                                                                                                      \
  }

/* Sums that the type does not hold, under a Clip without an upper bound. */
#define CLIPPED(type_label, t, most)                                                            \
  {                                                                                             \
    .name = "FusedGemm", .label = type_label, .since_version = 1, .domain = "com.microsoft",    \
    .attributes = {A_STRING("activation", "Clip"), A_FLOAT("activation_alpha", 1)}, .inputs = { \
      RANGE_OF(t, 0, most, 9, 7),                                                               \
      RANGE_OF(t, 0, most, 7, 19)                                                               \
    }                                                                                           \
  }

#define NBITS(named, views, k, n, bits, block, ...)                                                            \
  {                                                                                                            \
    .name = "MatMulNBits", .label = named, .since_version = 1, .domain = LEAT_MICROSOFT, .variants = views,    \
    .attributes = {A_INT("K", k), A_INT("N", n), A_INT("bits", bits), A_INT("block_size", block)}, .inputs = { \
      __VA_ARGS__                                                                                              \
    }                                                                                                          \
  }
/* Weights of few bits of a type: in blocks with packed zero points, of few rows and of tiles, the last block not full;
 * and in the smallest blocks, of which a sum that is shared out has many, with zero points of the type itself. */
#define NBITS_OF(type_label, t, views, k, blocks)                                                                  \
  NBITS("few_rows_" type_label, views, 70, 37, 4, 32, RANGE_OF(t, -2, 2, 2, 3, 70), U8_RANGE(0, 255, 37, 3, 16),   \
        RANGE_OF(t, 0.01, 0.1, 37, 3), U8_RANGE(0, 255, 37, 2), ABSENT, RANGE_OF(t, -2, 2, 37)),                   \
      NBITS("tiles_" type_label, views, 70, 37, 4, 32, RANGE_OF(t, -2, 2, 11, 3, 70), U8_RANGE(0, 255, 37, 3, 16), \
            RANGE_OF(t, 0.01, 0.1, 37, 3), U8_RANGE(0, 255, 37, 2), ABSENT, RANGE_OF(t, -2, 2, 37)),               \
      NBITS("one_row_" type_label, 0, k, 37, 4, 16, RANGE_OF(t, -2, 2, k), U8_RANGE(0, 255, 37, blocks, 8),        \
            RANGE_OF(t, 0.01, 0.1, 37 * blocks), RANGE_OF(t, 6, 9, 37, blocks))
/* The rest, of a type that is multiplied as others are not: of 8 bits, and tiles of the smallest blocks. Shapes with
 * one dimension are what older models have. */
#define NBITS_MORE(type_label, t)                                                                                 \
  NBITS("bytes_" type_label, 0, 72, 36, 8, 16, RANGE_OF(t, -2, 2, 6, 72), U8_RANGE(0, 255, 36, 5, 16),            \
        RANGE_OF(t, 0.001, 0.01, 36, 5), U8_RANGE(0, 255, 36, 5)),                                                \
      NBITS("bytes_tiles_" type_label, 0, 72, 36, 8, 16, RANGE_OF(t, -2, 2, 33, 72), U8_RANGE(0, 255, 36, 5, 16), \
            RANGE_OF(t, 0.001, 0.01, 180), U8_RANGE(0, 255, 180)),                                                \
      NBITS("small_blocks_" type_label, 0, 24, 5, 4, 16, RANGE_OF(t, -2, 2, 17, 24), U8_RANGE(0, 255, 5, 2, 8),   \
            RANGE_OF(t, 0.01, 0.1, 10), RANGE_OF(t, 6, 9, 10), ABSENT, RANGE_OF(t, -2, 2, 5))

/* Weights of 2 bits, of few rows and of tiles. */
#define NBITS_TWO(type_label, t)                                                                                       \
  NBITS("two_bits_" type_label, VIEW_OFFSET, 300, 37, 2, 32, RANGE_OF(t, -2, 2, 2, 300), U8_RANGE(0, 255, 37, 10, 8),  \
        RANGE_OF(t, 0.01, 0.1, 37, 10), U8_RANGE(0, 255, 37, 3), ABSENT, RANGE_OF(t, -2, 2, 37)),                      \
      NBITS("two_bits_tiles_" type_label, 0, 300, 37, 2, 32, RANGE_OF(t, -2, 2, 33, 300), U8_RANGE(0, 255, 37, 10, 8), \
            RANGE_OF(t, 0.01, 0.1, 37, 10), U8_RANGE(0, 255, 37, 3)),                                                  \
      NBITS("two_bits_long_row_" type_label, 0, 5000, 9, 2, 128, RANGE_OF(t, -2, 2, 5000),                             \
            U8_RANGE(0, 255, 9, 40, 32), RANGE_OF(t, 0.01, 0.1, 9, 40))

#define BNB4(named, views, k, n, kind, turned, block, ...)                                                 \
  {                                                                                                        \
    .name = "MatMulBnb4", .label = named, .since_version = 1, .domain = LEAT_MICROSOFT, .variants = views, \
    .attributes = {A_INT("K", k), A_INT("N", n), A_INT("quant_type", kind), A_INT("transB", turned),       \
                   A_INT("block_size", block)},                                                            \
    .inputs = {                                                                                            \
      __VA_ARGS__                                                                                          \
    }                                                                                                      \
  }
/* Of few rows and of tiles, with blocks that end where columns do; with others; and turned. */
#define BNB4_OF(type_label, t, views)                                                                    \
  BNB4(type_label, views, 96, 37, 1, 1, 32, RANGE_OF(t, -2, 2, 2, 3, 96), U8_RANGE(0, 255, 1776),        \
       RANGE_OF(t, 0.01, 0.1, 111)),                                                                     \
      BNB4("tiles_" type_label, 0, 96, 37, 0, 1, 16, RANGE_OF(t, -2, 2, 33, 96), U8_RANGE(0, 255, 1776), \
           RANGE_OF(t, 0.01, 0.1, 222)),                                                                 \
      BNB4("odd_" type_label, 0, 33, 5, 1, 1, 64, RANGE_OF(t, -2, 2, 9, 33), U8_RANGE(0, 255, 83),       \
           RANGE_OF(t, 0.01, 0.1, 3)),                                                                   \
      BNB4("turned_" type_label, 0, 32, 6, 0, 0, 32, RANGE_OF(t, -2, 2, 9, 6), U8_RANGE(0, 255, 96),     \
           RANGE_OF(t, 0.01, 0.1, 6))

#define INTEGER(named, views, ...)                                                                             \
  {                                                                                                            \
    .name = "MatMulInteger", .label = named, .since_version = 10, .variants = views, .inputs = { __VA_ARGS__ } \
  }
#define S8(...) RANGE_OF(LEATI_REF_INT8, -128, 127, __VA_ARGS__)
#define U8(...) U8_RANGE(0, 255, __VA_ARGS__)

#define TO_FLOAT(named, views, ...)                                                                                  \
  {                                                                                                                  \
    .name = "MatMulIntegerToFloat", .label = named, .since_version = 1, .domain = LEAT_MICROSOFT, .variants = views, \
    .inputs = {                                                                                                      \
      __VA_ARGS__                                                                                                    \
    }                                                                                                                \
  }
#define DYNAMIC(named, views, ...)                                                                                    \
  {                                                                                                                   \
    .name = "DynamicQuantizeMatMul", .label = named, .since_version = 1, .domain = LEAT_MICROSOFT, .variants = views, \
    .inputs = {                                                                                                       \
      __VA_ARGS__                                                                                                     \
    }                                                                                                                 \
  }
#define QLINEAR(named, views, ...)                                                                             \
  {                                                                                                            \
    .name = "QLinearMatMul", .label = named, .since_version = 21, .variants = views, .inputs = { __VA_ARGS__ } \
  }
#define QGEMM(named, views, turned, ...)                                                              \
  {                                                                                                   \
    .name = "QGemm", .label = named, .since_version = 1, .domain = LEAT_MICROSOFT, .variants = views, \
    .attributes = {A_INT("transB", turned)}, .inputs = {                                              \
      __VA_ARGS__                                                                                     \
    }                                                                                                 \
  }
#define BIAS(...) I32_RANGE(-20000, 20000, __VA_ARGS__)
#define QUANTIZED(named, views, ...)                                                                                \
  {                                                                                                                 \
    .name = "QuantizedMatMul", .label = named, .since_version = 1, .domain = "leat", .variants = views, .inputs = { \
      __VA_ARGS__                                                                                                   \
    }                                                                                                               \
  }
/* Scales of a type, and one that is about as large as results of so many terms have it be. */
#define SCALE(t, ...) RANGE_OF(t, 0.005, 0.05, __VA_ARGS__)
#define OF_RESULT(t, terms) RANGE_OF(t, 0.01 * terms, 0.05 * terms, 1)

static const leati_op_spec specs[] = {
    /* By tiles with edges, read one by one and by fours and sixteens; of few rows; with the zero points that there are.
     */
    {.name = "MatMulInteger",
     .label = "uint8_int8",
     .since_version = 10,
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .inputs = {U8(35, 67), S8(67, 33), U8(1), S8(33)}},
    INTEGER("int8_uint8", VIEW_TRANSPOSED | VIEW_OFFSET, S8(33, 64), U8(64, 36), S8(33), U8(1)),
    INTEGER("no_zero_points", 0, U8(33, 48), U8(48, 36)),
    INTEGER("int8", 0, S8(33, 48), S8(48, 5)),
    INTEGER("one_row", VIEW_TRANSPOSED | VIEW_OFFSET, U8(1, 80), S8(80, 36), U8(1), S8(1)),
    INTEGER("five_rows", VIEW_TRANSPOSED, S8(5, 67), U8(67, 33), S8(5), U8(33)),
    INTEGER("three_rows", 0, U8(3, 1040), S8(1040, 68), U8(1)),
    INTEGER("inner_split", 0, U8(33, 1541), S8(1541, 36), U8(1), S8(36)),
    INTEGER("inner_split_row", 0, U8(1, 5000), U8(5000, 17), U8(1), U8(17)),
    INTEGER("batched", VIEW_TRANSPOSED | VIEW_SLICED, U8(2, 3, 9, 20), S8(2, 3, 20, 12), U8(2, 3, 9, 1),
            S8(2, 3, 1, 12)),
    INTEGER("batch_joined", 0, U8(2, 3, 9, 16), S8(16, 12), U8(2, 3, 9, 1), S8(12)),
    INTEGER("batch_broadcast", 0, S8(5, 1, 9, 11), U8(3, 11, 13), ABSENT, U8(3, 1, 13)),
    INTEGER("rows_of_batches", 0, U8(3, 1, 20), S8(3, 20, 12), U8(3, 1, 1), S8(12)),
    INTEGER("vector_matrix", 0, U8(33), S8(33, 7), U8(1), S8(7)),
    INTEGER("matrix_vector", 0, U8(7, 33), S8(33), U8(7), S8(1)),
    INTEGER("vector_vector", 0, U8(33), U8(33)),
    /* By larger tiles; rows and columns of sixteens, eights and fours, which lie along k and across it. */
    INTEGER("sixteens", VIEW_TRANSPOSED, U8(48, 160), S8(160, 80), U8(48), S8(1)),
    INTEGER("tiles_of_64", VIEW_TRANSPOSED, U8(520, 136), S8(136, 532), U8(1), S8(532)),
    INTEGER("tiles_of_128", 0, U8(1090, 68), S8(68, 1504), U8(1090), S8(1)),
    /* Sums that wrap would need more terms than this; the largest that 300 give. */
    INTEGER("largest", 0, U8_RANGE(255, 255, 9, 300), RANGE_OF(LEATI_REF_INT8, -128, -128, 300, 8), ABSENT,
            RANGE_OF(LEATI_REF_INT8, 127, 127, 8)),
    INTEGER("inner_empty", 0, U8(9, 0), S8(0, 5), U8(1), S8(1)),
    INTEGER("no_rows", 0, U8(0, 4), S8(4, 5)),

    DYNAMIC("int8", ALL_VIEWS, F32(5, 67), S8(67, 33), SCALE(LEATI_REF_FLOAT32, 33), S8(33), F32(33)),
    DYNAMIC("uint8", VIEWS, F32_RANGE(1, 3, 2, 9, 64), U8(64, 36), SCALE(LEATI_REF_FLOAT32, 1), U8(1)),
    DYNAMIC("no_zero_point", 0, F32(3, 20), S8(20, 12), F32_IS(NO_DIMS, 0.02f), ABSENT, F32(12)),
    DYNAMIC("vector", 0, F32(20), S8(20, 12), F32_IS(NO_DIMS, 0.02f)),
    DYNAMIC("zeros", 0, F32_RANGE(0, 0, 3, 20), U8(20, 12), F32_IS(NO_DIMS, 0.02f), U8(1)),
    DYNAMIC("no_k", 0, F32(3, 0), U8(0, 12), F32_IS(NO_DIMS, 0.02f), U8(1), F32(12)),
    DYNAMIC("no_rows", 0, F32(0, 20), U8(20, 12), F32_IS(NO_DIMS, 0.02f)),
    {.name = "MatMulIntegerToFloat",
     .label = "uint8_int8",
     .since_version = 1,
     .domain = LEAT_MICROSOFT,
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .inputs = {U8(35, 67), S8(67, 33), SCALE(LEATI_REF_FLOAT32, 1), SCALE(LEATI_REF_FLOAT32, 33), U8(1), S8(33),
                F32(33)}},
    TO_FLOAT("tiles", VIEW_TRANSPOSED | VIEW_OFFSET, U8(40, 64), S8(64, 36), SCALE(LEATI_REF_FLOAT32, 1),
             SCALE(LEATI_REF_FLOAT32, 36), U8(1), S8(1), F32(36)),
    TO_FLOAT("one_scale", 0, U8(3, 11, 48), U8(48, 36), SCALE(LEATI_REF_FLOAT32, 1), SCALE(LEATI_REF_FLOAT32, 1),
             U8(1)),
    TO_FLOAT("one_row", 0, U8(1, 1040), S8(1040, 68), SCALE(LEATI_REF_FLOAT32, 1), SCALE(LEATI_REF_FLOAT32, 68), ABSENT,
             ABSENT, F32(68)),
    TO_FLOAT("inner_split", 0, S8(33, 1544), S8(1544, 36), SCALE(LEATI_REF_FLOAT32, 1), SCALE(LEATI_REF_FLOAT32, 36),
             S8(1), S8(36), F32(36)),
    TO_FLOAT("inner_empty", 0, U8(9, 0), S8(0, 5), SCALE(LEATI_REF_FLOAT32, 1), SCALE(LEATI_REF_FLOAT32, 1), U8(1),
             S8(1), F32(5)),

    {.name = "QLinearMatMul",
     .label = "uint8",
     .since_version = 10,
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .inputs = {U8(35, 67), SCALE(LEATI_REF_FLOAT32, 1), U8(1), S8(67, 33), SCALE(LEATI_REF_FLOAT32, 33), S8(33),
                OF_RESULT(LEATI_REF_FLOAT32, 6), U8(1)}},
    QLINEAR("int8_float16", 0, S8(3, 64), SCALE(LEATI_REF_FLOAT16, 3), S8(3), U8(64, 36), SCALE(LEATI_REF_FLOAT16, 1),
            U8(1), OF_RESULT(LEATI_REF_FLOAT16, 6), S8(1)),
    QLINEAR("batched_bfloat16", VIEW_TRANSPOSED, S8(2, 3, 9, 20), SCALE(LEATI_REF_BFLOAT16, 2, 3, 9, 1), S8(2, 3, 9, 1),
            S8(2, 3, 20, 12), SCALE(LEATI_REF_BFLOAT16, 2, 3, 1, 12), S8(1), OF_RESULT(LEATI_REF_BFLOAT16, 3), U8(1)),
    QLINEAR("one_zero_point", 0, U8(9, 16), SCALE(LEATI_REF_FLOAT32, 9), U8(1), U8(16, 8), SCALE(LEATI_REF_FLOAT32, 8),
            U8(1), OF_RESULT(LEATI_REF_FLOAT32, 3), S8(1)),
    QLINEAR("matrix_vector", 0, U8(9, 33), SCALE(LEATI_REF_FLOAT32, 9), U8(9), S8(33), SCALE(LEATI_REF_FLOAT32, 1),
            S8(1), OF_RESULT(LEATI_REF_FLOAT32, 4), U8(1)),
    QLINEAR("vector_batched", 0, U8(7), SCALE(LEATI_REF_FLOAT32, 1), U8(1), S8(3, 7, 5),
            SCALE(LEATI_REF_FLOAT32, 3, 1, 5), S8(3, 1, 5), OF_RESULT(LEATI_REF_FLOAT32, 2), U8(1)),
    QLINEAR("scales_of_rows", VIEW_TRANSPOSED, U8(70, 64), SCALE(LEATI_REF_FLOAT32, 70), U8(70), S8(64, 72),
            SCALE(LEATI_REF_FLOAT32, 1), S8(1), OF_RESULT(LEATI_REF_FLOAT32, 6), U8(1)),
    QLINEAR("scales_of_columns", 0, S8(33, 48), SCALE(LEATI_REF_FLOAT32, 1), S8(1), U8(48, 36),
            SCALE(LEATI_REF_FLOAT32, 36), U8(36), OF_RESULT(LEATI_REF_FLOAT32, 6), S8(1)),
    QLINEAR("inner_split_tiles", 0, U8(33, 1541), SCALE(LEATI_REF_FLOAT32, 33), U8(33), S8(1541, 36),
            SCALE(LEATI_REF_FLOAT32, 36), S8(36), OF_RESULT(LEATI_REF_FLOAT32, 40), U8(1)),
    QLINEAR("inner_split", 0, U8(2, 2500), SCALE(LEATI_REF_FLOAT32, 1), U8(1), S8(2500, 36),
            SCALE(LEATI_REF_FLOAT32, 36), S8(36), OF_RESULT(LEATI_REF_FLOAT32, 50), U8(1)),

    {.name = "QGemm",
     .label = "uint8",
     .since_version = 1,
     .domain = LEAT_MICROSOFT,
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .attributes = {A_INT("transB", 1)},
     .inputs = {U8(35, 67), SCALE(LEATI_REF_FLOAT32, 1), U8(1), S8(33, 67), SCALE(LEATI_REF_FLOAT32, 33), S8(33),
                BIAS(33), OF_RESULT(LEATI_REF_FLOAT32, 6), U8(1)}},
    QGEMM("int8", VIEW_TRANSPOSED, 0, S8(33, 48), SCALE(LEATI_REF_FLOAT32, 1), S8(1), U8(48, 36),
          SCALE(LEATI_REF_FLOAT32, 1), U8(1), BIAS(36), OF_RESULT(LEATI_REF_FLOAT32, 6), S8(1)),
    QGEMM("one_row", 0, 1, U8(1, 1040), SCALE(LEATI_REF_FLOAT32, 1), U8(1), S8(68, 1040), SCALE(LEATI_REF_FLOAT32, 68),
          ABSENT, BIAS(68), OF_RESULT(LEATI_REF_FLOAT32, 40), U8(1)),
    QGEMM("no_bias", 0, 1, S8(9, 64), SCALE(LEATI_REF_FLOAT32, 1), S8(1), S8(36, 64), SCALE(LEATI_REF_FLOAT32, 36),
          S8(1), ABSENT, OF_RESULT(LEATI_REF_FLOAT32, 6), S8(1)),
    QGEMM("inner_split", 0, 1, U8(33, 1541), SCALE(LEATI_REF_FLOAT32, 1), U8(1), S8(36, 1541),
          SCALE(LEATI_REF_FLOAT32, 36), S8(36), BIAS(36), OF_RESULT(LEATI_REF_FLOAT32, 40), U8(1)),
    QGEMM("inner_empty", 0, 0, U8(9, 0), SCALE(LEATI_REF_FLOAT32, 1), U8(1), S8(0, 5), SCALE(LEATI_REF_FLOAT32, 1),
          S8(1), BIAS(5), OF_RESULT(LEATI_REF_FLOAT32, 6), U8(1)),
    QGEMM("no_rows", 0, 0, U8(0, 4), SCALE(LEATI_REF_FLOAT32, 1), U8(1), S8(4, 5), SCALE(LEATI_REF_FLOAT32, 1), S8(1),
          BIAS(5), OF_RESULT(LEATI_REF_FLOAT32, 6), U8(1)),

    {.name = "QuantizedMatMul",
     .label = "uint8",
     .since_version = 1,
     .domain = "leat",
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .inputs = {U8(35, 67), S8(67, 33), SCALE(LEATI_REF_FLOAT32, 1), SCALE(LEATI_REF_FLOAT32, 33), U8(1), S8(33),
                F32(33), OF_RESULT(LEATI_REF_FLOAT32, 6), U8(1)}},
    {.name = "QuantizedMatMul",
     .label = "transposed_relu",
     .since_version = 1,
     .domain = "leat",
     .variants = VIEW_TRANSPOSED | VIEW_OFFSET,
     .attributes = {A_INT("transB", 1), A_STRING("activation", "Relu")},
     .inputs = {S8(40, 64), S8(36, 64), SCALE(LEATI_REF_FLOAT32, 1), SCALE(LEATI_REF_FLOAT32, 36), S8(1), ABSENT,
                F32(36), OF_RESULT(LEATI_REF_FLOAT32, 6), S8(1)}},
    QUANTIZED("floats", 0, U8(3, 11, 48), S8(48, 36), SCALE(LEATI_REF_FLOAT32, 1), SCALE(LEATI_REF_FLOAT32, 36), U8(1),
              ABSENT, F32(36)),
    QUANTIZED("no_zero_points", 0, U8(33, 48), U8(48, 36), SCALE(LEATI_REF_FLOAT32, 1), SCALE(LEATI_REF_FLOAT32, 1),
              ABSENT, ABSENT, ABSENT, OF_RESULT(LEATI_REF_FLOAT32, 6)),
    QUANTIZED("one_row", 0, U8(1, 1040), S8(1040, 68), SCALE(LEATI_REF_FLOAT32, 1), SCALE(LEATI_REF_FLOAT32, 68), U8(1),
              ABSENT, F32(68), OF_RESULT(LEATI_REF_FLOAT32, 30), S8(1)),
    QUANTIZED("batched", 0, U8(2, 9, 20), U8(2, 20, 12), SCALE(LEATI_REF_FLOAT32, 1), SCALE(LEATI_REF_FLOAT32, 1),
              U8(1), U8(1), ABSENT, OF_RESULT(LEATI_REF_FLOAT32, 4), U8(1)),
    QUANTIZED("inner_split", 0, U8(33, 1541), S8(1541, 36), SCALE(LEATI_REF_FLOAT32, 1), SCALE(LEATI_REF_FLOAT32, 36),
              U8(1), S8(36), F32(36), OF_RESULT(LEATI_REF_FLOAT32, 40), U8(1)),

    /* With columns of whole sixteens of bytes, and of eights. */
    NBITS_OF("float32", LEATI_REF_FLOAT32, ALL_VIEWS, 1304, 82),
    NBITS_OF("float16", LEATI_REF_FLOAT16, VIEW_TRANSPOSED | VIEW_OFFSET, 1290, 81),
    NBITS_OF("bfloat16", LEATI_REF_BFLOAT16, 0, 1304, 82),
    NBITS_MORE("float32", LEATI_REF_FLOAT32),
    NBITS_TWO("float32", LEATI_REF_FLOAT32),
    NBITS_TWO("float16", LEATI_REF_FLOAT16),
    BNB4_OF("float32", LEATI_REF_FLOAT32, ALL_VIEWS),
    BNB4_OF("float16", LEATI_REF_FLOAT16, VIEW_SLICED | VIEW_OFFSET),
    BNB4_OF("bfloat16", LEATI_REF_BFLOAT16, 0),
    BNB4("one_row", VIEW_OFFSET, 1280, 9, 1, 1, 64, F32(1280), U8_RANGE(0, 255, 5760), F32_RANGE(0.01, 0.1, 180)),
    BNB4("no_rows", 0, 32, 3, 0, 1, 16, F32(2, 0, 32), U8_RANGE(0, 255, 48), F32_RANGE(0.01, 0.1, 6)),
    {.name = "MatMulBnb4",
     .label = "threads",
     .since_version = 1,
     .domain = LEAT_MICROSOFT,
     .threads = THREADS_16,
     .attributes = {A_INT("K", 640), A_INT("N", 37), A_INT("block_size", 128), A_INT("quant_type", 1)},
     .inputs = {F32(1, 640), U8_RANGE(0, 255, 11840), F32_RANGE(0.01, 0.1, 185)}},
    NBITS_MORE("float16", LEATI_REF_FLOAT16),
    /* Each k with the scale of some block, also of one before the first and of one behind the last. */
    NBITS("indexed_float32", VIEW_TRANSPOSED | VIEW_REVERSED, 70, 37, 4, 32, F32(2, 70), U8_RANGE(0, 255, 37, 3, 16),
          F32_RANGE(0.01, 0.1, 37, 3), U8_RANGE(0, 255, 37, 2), I32_RANGE(-1, 3, 70)),
    NBITS("indexed_tiles_float32", 0, 72, 36, 8, 16, F32(33, 72), U8_RANGE(0, 255, 36, 5, 16),
          F32_RANGE(0.001, 0.01, 36, 5), U8_RANGE(0, 255, 180), I32_RANGE(-1, 5, 80)),
    NBITS("indexed_tiles_float16", 0, 70, 37, 4, 32, RANGE_OF(LEATI_REF_FLOAT16, -2, 2, 33, 70),
          U8_RANGE(0, 255, 37, 3, 16), RANGE_OF(LEATI_REF_FLOAT16, 0.01, 0.1, 37, 3),
          RANGE_OF(LEATI_REF_FLOAT16, 6, 9, 37, 3), I32_RANGE(-1, 3, 96), RANGE_OF(LEATI_REF_FLOAT16, -2, 2, 37)),
    {.name = "MatMulNBits",
     .label = "threads",
     .since_version = 1,
     .domain = LEAT_MICROSOFT,
     .threads = THREADS_8 | THREADS_16,
     .attributes = {A_INT("K", 1304), A_INT("N", 37), A_INT("block_size", 128)},
     .inputs = {F32(1, 1, 1, 1304), U8_RANGE(0, 255, 37, 11, 64), F32_RANGE(0.01, 0.1, 407)}},
    NBITS("two_rows", 0, 1304, 130, 4, 256, F32(2, 1304), U8_RANGE(0, 255, 130, 6, 128), F32_RANGE(0.01, 0.1, 130, 6)),
    NBITS("long_row", 0, 2080, 9, 4, 32, F32(1, 2080), U8_RANGE(0, 255, 9, 65, 16), F32_RANGE(0.01, 0.1, 9, 65)),
    NBITS("one_block", 0, 7, 1, 8, 256, F32(3, 7), U8_RANGE(0, 255, 1, 1, 256), F32_RANGE(0.01, 0.1, 1, 1)),
    NBITS("no_rows", 0, 7, 3, 4, 16, F32(2, 0, 7), U8_RANGE(0, 255, 3, 1, 8), F32_RANGE(0.01, 0.1, 3, 1)),
    HALVES("float16", LEATI_REF_FLOAT16),
    HALVES("bfloat16", LEATI_REF_BFLOAT16),
    CLIPPED("float16_clip", LEATI_REF_FLOAT16, 300),
    CLIPPED("bfloat16_clip", LEATI_REF_BFLOAT16, 1e20),
    {.name = "MatMul",
     .label = "float32",
     .since_version = 13,
     .variants = ALL_VIEWS,
     .threads = THREADS_ALL,
     .inputs = {F32(17, 19), F32(19, 23)}},
    PRODUCT("tile_edges", F32(65, 67), F32(67, 33)),
    {.name = "MatMul",
     .label = "tile_exact",
     .since_version = 13,
     .threads = THREADS_4,
     .inputs = {F32(128, 128), F32(128, 128)}},
    PRODUCT("tile_less_one", F32(63, 31), F32(31, 127)),
    PRODUCT("few_tiles_of_32", F32(40, 300), F32(300, 1700)),
    PRODUCT("one_row", F32(1, 67), F32(67, 129)),
    PRODUCT("one_column", F32(129, 67), F32(67, 1)),
    PRODUCT("one_element", F32(1, 1), F32(1, 1)),
    PRODUCT("inner_one", F32(33, 1), F32(1, 35)),
    PRODUCT("inner_split_many", F32(128, 576), F32(576, 1024)),
    PRODUCT("inner_long", F32(3, 2053), F32(2053, 5)),
    /* So few results of so long sums that a backend may share out a sum over workgroups. */
    {.name = "MatMul",
     .label = "inner_split",
     .since_version = 13,
     .variants = VIEW_OFFSET,
     .threads = THREADS_8 | THREADS_16,
     .inputs = {F32(33, 1541), F32(1541, 70)}},
    {.name = "MatMul",
     .label = "inner_split_batched",
     .since_version = 13,
     .threads = THREADS_8,
     .inputs = {F32(2, 40, 1024), F32(2, 1024, 36)}},
    {.name = "MatMul",
     .label = "inner_split_one_row",
     .since_version = 13,
     .variants = VIEW_TRANSPOSED,
     .threads = THREADS_8,
     .inputs = {F32(1, 4099), F32(4099, 37)}},
    {.name = "MatMul", .label = "inner_split_wide_row", .since_version = 13, .inputs = {F32(3, 2048), F32(2048, 1028)}},
    {.name = "Gemm",
     .label = "inner_split",
     .since_version = 13,
     .threads = THREADS_8,
     .attributes = {A_INT("transB", 1), A_FLOAT("alpha", 0.5f), A_FLOAT("beta", -2.0f)},
     .inputs = {F32(65, 1536), F32(68, 1536), F32(68)}},
    PRODUCT("vector_matrix", F32(33), F32(33, 7)),
    PRODUCT("matrix_vector", F32(7, 33), F32(33)),
    PRODUCT("vector_vector", F32(33), F32(33)),
    PRODUCT("batched_vector", F32(3, 7, 33), F32(33)),
    PRODUCT("vector_batched", F32(7), F32(3, 7, 5)),
    {.name = "MatMul",
     .label = "batched",
     .since_version = 13,
     .variants = ALL_VIEWS,
     .threads = THREADS_8,
     .inputs = {F32(2, 3, 9, 11), F32(2, 3, 11, 13)}},
    {.name = "MatMul",
     .label = "batch_broadcast",
     .since_version = 13,
     .variants = VIEW_BROADCAST,
     .threads = THREADS_8,
     .inputs = {F32(5, 1, 9, 11), F32(3, 11, 13)}},
    /* More batches than there are workgroups of one row at least, 65535. */
    PRODUCT("many_batches", F32(70001, 5, 3), F32(70001, 3, 6)),
    PRODUCT("batch_left", F32(4, 9, 11), F32(11, 13)),
    PRODUCT("batch_right", F32(9, 11), F32(4, 11, 13)),
    PRODUCT("rank8", F32(1, 2, 1, 2, 1, 2, 3, 5), F32(2, 1, 2, 1, 2, 1, 5, 4)),
    PRODUCT("inner_empty", F32(3, 0), F32(0, 5)),
    PRODUCT("no_rows", F32(0, 4), F32(4, 5)),
    PRODUCT("no_batches", F32(0, 3, 4), F32(4, 5)),
    PRODUCT("special", F32_SPECIAL(1, 16, 3), F32(3, 5)),
    PRODUCT("special_tiles", F32_SPECIAL(1, 16, 3), F32(3, 20)),
    {.name = "MatMul",
     .label = "int32",
     .since_version = 13,
     .inputs = {I32_RANGE(-99, 99, 5, 33), I32_RANGE(-99, 99, 33, 7)}},
    {.name = "MatMul",
     .label = "int64",
     .since_version = 13,
     .inputs = {I64_RANGE(-99, 99, 5, 33), I64_RANGE(-99, 99, 33, 7)}},

    {.name = "FusedMatMul",
     .label = "float32",
     .since_version = 1,
     .domain = "com.microsoft",
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .attributes = {A_FLOAT("alpha", 0.125f), A_INT("transB", 1)},
     .inputs = {F32(2, 3, 9, 11), F32(2, 3, 13, 11)}},
    {.name = "FusedMatMul",
     .label = "plain",
     .since_version = 1,
     .domain = "com.microsoft",
     .inputs = {F32(17, 19), F32(19, 23)}},
    FUSED("trans_a", ATTRIBUTES(A_INT("transA", 1)), F32(19, 17), F32(19, 23)),
    FUSED("trans_both", ATTRIBUTES(A_INT("transA", 1), A_INT("transB", 1), A_FLOAT("alpha", -2.5f)), F32(33, 65),
          F32(17, 33)),
    FUSED("trans_a_batch_broadcast", ATTRIBUTES(A_INT("transA", 1)), F32(5, 1, 11, 9), F32(3, 11, 13)),
    FUSED("tile_edges", ATTRIBUTES(A_INT("transB", 1), A_FLOAT("alpha", 0.5f)), F32(65, 67), F32(33, 67)),
    FUSED("one_row", ATTRIBUTES(A_INT("transB", 1), A_FLOAT("alpha", 0.5f)), F32(1, 67), F32(129, 67)),
    FUSED("inner_long", ATTRIBUTES(A_FLOAT("alpha", 0.5f)), F32(3, 2053), F32(2053, 5)),
    FUSED("batched_vector", ATTRIBUTES(A_FLOAT("alpha", 2.0f)), F32(3, 7, 33), F32(33)),
    FUSED("alpha_zero", ATTRIBUTES(A_FLOAT("alpha", 0.0f)), F32(5, 7), F32(7, 9)),
    FUSED("special", ATTRIBUTES(A_INT("transA", 1), A_FLOAT("alpha", 2.0f)), F32_SPECIAL(1, 3, 16), F32(3, 5)),
    FUSED("inner_empty", ATTRIBUTES(A_FLOAT("alpha", 2.0f)), F32(3, 0), F32(0, 5)),
    FUSED("no_rows", ATTRIBUTES(A_INT("transA", 1)), F32(4, 0), F32(4, 5)),

    {.name = "Gemm",
     .label = "float32",
     .since_version = 13,
     .variants = ALL_VIEWS,
     .threads = THREADS_8,
     .inputs = {F32(17, 19), F32(19, 23), F32(23)}},
    {.name = "Gemm", .label = "no_bias", .since_version = 13, .inputs = {F32(17, 19), F32(19, 23)}},
    {.name = "Gemm", .label = "absent_bias", .since_version = 13, .inputs = {F32(17, 19), F32(19, 23), ABSENT}},
    {.name = "Gemm",
     .label = "trans_a",
     .since_version = 13,
     .variants = VIEW_TRANSPOSED,
     .attributes = {A_INT("transA", 1)},
     .inputs = {F32(19, 17), F32(19, 23), F32(17, 23)}},
    {.name = "Gemm",
     .label = "trans_b",
     .since_version = 13,
     .variants = VIEW_TRANSPOSED,
     .threads = THREADS_8,
     .attributes = {A_INT("transB", 1)},
     .inputs = {F32(17, 67), F32(35, 67), F32(35)}},
    {.name = "Gemm",
     .label = "trans_both_alpha_beta",
     .since_version = 13,
     .attributes = {A_INT("transA", 1), A_INT("transB", 1), A_FLOAT("alpha", 0.5f), A_FLOAT("beta", -2.0f)},
     .inputs = {F32(33, 65), F32(17, 33), F32(65, 1)}},
    {.name = "Gemm", .label = "scalar_bias", .since_version = 13, .inputs = {F32(5, 7), F32(7, 9), F32_SCALAR}},
    {.name = "Gemm", .label = "one_element_bias", .since_version = 13, .inputs = {F32(5, 7), F32(7, 9), F32(1)}},
    {.name = "Gemm", .label = "row_bias", .since_version = 13, .inputs = {F32(5, 7), F32(7, 9), F32(1, 9)}},
    {.name = "Gemm",
     .label = "beta_zero",
     .since_version = 13,
     .attributes = {A_FLOAT("beta", 0.0f)},
     .inputs = {F32(5, 7), F32(7, 9), F32(9)}},
    {.name = "Gemm",
     .label = "linear_256_128",
     .since_version = 13,
     .threads = THREADS_ALL,
     .attributes = {A_INT("transB", 1)},
     .inputs = {F32(4, 256), F32(128, 256), F32(128)}},
    {.name = "Gemm", .label = "inner_empty", .since_version = 13, .inputs = {F32(3, 0), F32(0, 5), F32(5)}},
    {.name = "Gemm", .label = "no_rows", .since_version = 13, .inputs = {F32(0, 4), F32(4, 5), F32(5)}},

    CASE("MatMul", "version_1", 1, NO_ATTRIBUTES, F32(2, 5, 7), F32(7, 3)),
    CASE("Gemm", "version_7", 7, ATTRIBUTES(A_INT("transB", 1)), F32(5, 7), F32(3, 7), F32(3)),
    CASE("Gemm", "version_9", 9, NO_ATTRIBUTES, F32(5, 7), F32(7, 3), F32(5, 1)),
};

/* ---- What is refused --------------------------------------------------------------------------------------------- */

static const leati_op_spec sound_bnb4 =
    BNB4("sound", 0, 96, 37, 1, 1, 32, F32(2, 3, 96), U8_RANGE(0, 255, 1776), F32_RANGE(0.01, 0.1, 111));
static const leati_refusal wrong_bnb4[] = {{A_INT("K", 0)},
                                           {A_INT("K", -96)},
                                           {A_INT("K", 97)},
                                           {A_INT("K", INT32_MAX), A_INT("N", INT32_MAX)},
                                           {A_INT("N", INT64_MAX)},
                                           {A_INT("N", 36)},
                                           {A_INT("N", INT64_MIN)},
                                           {A_INT("block_size", 0)},
                                           {A_INT("block_size", 8)},
                                           {A_INT("block_size", 24)},
                                           {A_INT("block_size", INT64_MIN)},
                                           {A_INT("quant_type", 2)},
                                           {A_INT("quant_type", -1)},
                                           {A_INT("transB", 0)},
                                           {A_FLOAT("quant_type", 1)}};
static const leati_refusals refusals_of_bnb4 = {.sound = &sound_bnb4,
                                                .wrong = wrong_bnb4,
                                                .wrong_count = sizeof(wrong_bnb4) / sizeof(wrong_bnb4[0]),
                                                .any_size = {1u << 0 | 1u << 1}};

/* The zero point of the result is of its type, which is none for floats. */
#define RESULT(named, zero)                                                                                         \
  QUANTIZED(named, 0, U8(3, 16), S8(16, 4), SCALE(LEATI_REF_FLOAT32, 1), SCALE(LEATI_REF_FLOAT32, 1), U8(1), S8(1), \
            ABSENT, SCALE(LEATI_REF_FLOAT32, 1), zero)
static const leati_op_spec sound_quantized = RESULT("sound", U8(1));
static const leati_op_spec wrong_zero[] = {RESULT("float", F32(1))};
static const leati_refusals refusals_of_quantized = {
    .sound = &sound_quantized,
    .others = wrong_zero,
    .other_count = G_N_ELEMENTS(wrong_zero),
    .any_size = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};

static const leat_case hostile[] = {{REFUSALS("MatMulBnb4", "refused", &refusals_of_bnb4)},
                                    {REFUSALS("QuantizedMatMul", "refused", &refusals_of_quantized)}};

void leati_rows_product(leat_case_list *list) {
  leati_op_cases_add(list, specs, G_N_ELEMENTS(specs));
  leati_case_list_add(list, hostile, sizeof(hostile) / sizeof(hostile[0]));
}
