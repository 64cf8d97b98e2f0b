/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of the operators that pick elements at computed places. */
#include <math.h>
#include <string.h>

#include "cases/sources.h"
#include "fixture.h"
#include "ops/core/refusal.h"

/* Rows of a type that ABI 1.0 does not demand; what picks elements looks at nothing but their size. */
#define OF_TYPE(op, named, version, views, ...)                                                        \
  {                                                                                                    \
    .name = op, .label = named, .since_version = version, .variants = views, .inputs = { __VA_ARGS__ } \
  }
#define GATHER_OF(named, t, most, views) OF_TYPE("Gather", named, 13, views, RANGE_OF(t, 0, most, 7, 3), LIST(1, -1, 0))
#define GATHER_ELEMENTS_OF(named, t, most, views) \
  OF_TYPE("GatherElements", named, 13, views, RANGE_OF(t, 0, most, 7, 3), I64_RANGE(-7, 6, 5, 3))
#define SCATTER_ELEMENTS_OF(named, t, most, views) \
  OF_TYPE("ScatterElements", named, 18, views, RANGE_OF(t, 0, most, 7), LIST(1, -1, 3), RANGE_OF(t, 0, most, 3))
#define SCATTER_OF(named, t, most, views) \
  OF_TYPE("Scatter", named, 9, views, RANGE_OF(t, 0, most, 7), LIST(1, -1, 3), RANGE_OF(t, 0, most, 3))
#define GATHER_ND_OF(named, t, most, views) \
  OF_TYPE("GatherND", named, 13, views, RANGE_OF(t, 0, most, 7, 3), I64_RANGE(-3, 2, 5, 2))
#define SCATTER_ND_OF(named, t, most, views)                                                          \
  OF_TYPE("ScatterND", named, 18, views, RANGE_OF(t, 0, most, 7, 3), I64_IS(DIMS(2, 2), 1, 2, -1, 0), \
          RANGE_OF(t, 0, most, 2))

/* Updates of which many meet in an element. */
#define SCATTERED(named, by, t, low, high)                                                                 \
  CASE("ScatterElements", named, 18, ATTRIBUTES(A_STRING("reduction", by), A_INT("axis", 1)),              \
       RANGE_OF(t, low, high, 3, 7, 2), I64_RANGE(-7, 6, 3, 19, 2), RANGE_OF(t, low, high, 3, 19, 2)),     \
      CASE("ScatterND", named, 18, ATTRIBUTES(A_STRING("reduction", by)), RANGE_OF(t, low, high, 3, 4, 5), \
           I64_RANGE(-3, 2, 11, 2), RANGE_OF(t, low, high, 11, 5))

#define TENSOR_SCATTER_OF(named, t, most, views) \
  OF_TYPE("TensorScatter", named, 24, views, RANGE_OF(t, 0, most, 2, 7, 3), RANGE_OF(t, 0, most, 2, 2, 3), LIST(1, 5))
#define REVERSE_SEQUENCE_OF(named, t, most, views) \
  OF_TYPE("ReverseSequence", named, 10, views, RANGE_OF(t, 0, most, 7, 3), LIST(7, 0, 4))
#define NONZERO_OF(named, t, most, views) OF_TYPE("NonZero", named, 13, 0, RANGE_OF(t, 0, 1, 7, 3))

#define ONE_HOT_OF(named, t, most, views) \
  OF_TYPE("OneHot", named, 11, views, I64_RANGE(-9, 9, 3, 5), I64_IS(NO_DIMS, 7), RANGE_OF(t, 0, most, 2))
#define OWN_GATHER_ND(named, t, most, views)                                                              \
  {                                                                                                       \
    .name = "GatherND", .label = "of_com_microsoft_" named, .since_version = 1, .domain = LEAT_MICROSOFT, \
    .variants = views, .inputs = {                                                                        \
      RANGE_OF(t, 0, most, 7, 3),                                                                         \
      I32_RANGE(-3, 2, 5, 2)                                                                              \
    }                                                                                                     \
  }

/* Bytes, indices, scales and perhaps zero points, in blocks of 16. */
#define QUANTIZED(named, bits_, axis_, views, used_threads, ...)                                                     \
  {                                                                                                                  \
    .name = "GatherBlockQuantized", .label = named, .since_version = 1, .domain = LEAT_MICROSOFT, .variants = views, \
    .threads = used_threads,                                                                                         \
    .attributes = {A_INT("bits", bits_), A_INT("quantize_axis", axis_), A_INT("block_size", 16)}, .inputs = {        \
      __VA_ARGS__                                                                                                    \
    }                                                                                                                \
  }

static const leati_op_spec specs[] = {
    QUANTIZED("float32", 4, 1, ALL_VIEWS, THREADS_16, U8_RANGE(0, 255, 11, 20), I64_RANGE(-11, 10, 2, 3),
              F32_RANGE(0.01, 0.1, 11, 3), U8_RANGE(0, 255, 11, 2)),
    QUANTIZED("float16", 4, -1, VIEW_SLICED, 0, U8_RANGE(0, 255, 11, 20), I32_RANGE(-11, 10, 2, 3),
              RANGE_OF(LEATI_REF_FLOAT16, 0.01, 0.1, 11, 3)),
    QUANTIZED("bfloat16", 8, 1, 0, 0, U8_RANGE(0, 255, 11, 40), I32_RANGE(-11, 10, 5),
              RANGE_OF(LEATI_REF_BFLOAT16, 0.01, 0.1, 11, 3), U8_RANGE(0, 255, 11, 3)),
    QUANTIZED("of_2_bits", 2, 2, VIEW_OFFSET, 0, U8_RANGE(0, 255, 7, 3, 9), I64_RANGE(-7, 6, 5),
              F32_RANGE(0.01, 0.1, 7, 3, 3), U8_RANGE(0, 255, 7, 3, 1)),
    QUANTIZED("blocks_of_lines", 4, 1, 0, 0, U8_RANGE(0, 255, 3, 20, 3), I64_RANGE(-3, 2, 4),
              F32_RANGE(0.01, 0.1, 3, 2, 6), U8_RANGE(0, 255, 3, 2, 3)),
    QUANTIZED("one_index", 8, 1, VIEW_DYNAMIC, 0, U8_RANGE(0, 255, 3, 16), I64_IS(NO_DIMS, -2),
              F32_RANGE(0.01, 0.1, 3, 1)),
    QUANTIZED("beyond", 4, 1, 0, 0, U8_RANGE(0, 255, 3, 16), I64_IS(DIMS(5), 3, -4, INT64_MAX, INT64_MIN, 2),
              F32_RANGE(0.01, 0.1, 3, 2)),
    QUANTIZED("no_lines", 4, 1, 0, 0, U8_RANGE(0, 255, 3, 0), I64_IS(DIMS(1), 1), F32_RANGE(0.01, 0.1, 3, 0)),
    {.name = "Gather",
     .label = "float32",
     .since_version = 13,
     .variants = ALL_VIEWS,
     .threads = THREADS_ALL,
     .inputs = {F32(33, 17), I64_RANGE(-33, 32, 5, 3)}},
    OWN_GATHER_ND("float32", LEATI_REF_FLOAT32, 1000, VIEWS),
    OWN_GATHER_ND("int64", LEATI_REF_INT64, 1000, 0),
    OWN_GATHER_ND("int32", LEATI_REF_INT32, 1000, 0),
    OWN_GATHER_ND("uint8", LEATI_REF_UINT8, 255, 0),
    OWN_GATHER_ND("bool", LEATI_REF_BOOL, 1, 0),
    OTHER_TYPES(OWN_GATHER_ND),
    {.name = "GatherND",
     .label = "of_com_microsoft_by_int64",
     .since_version = 1,
     .domain = LEAT_MICROSOFT,
     .inputs = {F32(7, 3, 4), I64_RANGE(-3, 2, 5, 2)}},
    CASE("Gather", "axis_one", 13, ATTRIBUTES(A_INT("axis", 1)), F32(5, 9, 7), I64_RANGE(-9, 8, 4)),
    CASE("Gather", "last_axis", 13, ATTRIBUTES(A_INT("axis", -1)), F32(5, 9), I64_RANGE(-9, 8, 2, 2)),
    CASE("Gather", "scalar_index", 13, ATTRIBUTES(A_INT("axis", 1)), F32(5, 9, 7), I64_IS(NO_DIMS, -2)),
    CASE("Gather", "vector", 13, NO_ATTRIBUTES, F32(9), I64_IS(NO_DIMS, 8)),
    CASE("Gather", "int32_indices", 13, NO_ATTRIBUTES, F32(33, 7), I32_RANGE(-33, 32, 11)),
    CASE("Gather", "int64", 13, NO_ATTRIBUTES, I64_RANGE(-99, 99, 7), LIST(1)),
    CASE("Gather", "int32", 13, NO_ATTRIBUTES, I32_RANGE(-99, 99, 7, 3), LIST(1, 6)),
    CASE("Gather", "bool", 13, NO_ATTRIBUTES, BOOLS(7, 3), LIST(1, 6, 0)),
    CASE("Gather", "uint8", 13, NO_ATTRIBUTES, U8_RANGE(0, 255, 7, 3), LIST(1, 6, 0)),
    OTHER_TYPES(GATHER_OF),
    CASE("Gather", "denormal", 13, NO_ATTRIBUTES, F32_DENORMAL(7, 3), LIST(1, 6, 0)),
    CASE("Gather", "no_indices", 13, NO_ATTRIBUTES, F32(7, 3), EMPTY_LIST),
    CASE("Gather", "empty_rows", 13, NO_ATTRIBUTES, F32(7, 0), LIST(1, 2)),
    CASE("Gather", "rank8", 13, ATTRIBUTES(A_INT("axis", 2)), F32(2, 1, 5, 2, 1, 3, 2), I64_RANGE(-5, 4, 3, 2)),
    {.name = "Gather",
     .label = "out_of_range",
     .since_version = 13,
     .threads = THREADS_8,
     .inputs = {F32(7, 5), LIST(3, 7, -8, 9223372036854775807, -9223372036854775807, 4294967296, 6, -7, 100000)}},
    CASE("Gather", "out_of_range_int32", 13, NO_ATTRIBUTES, F32(7, 5),
         I32_IS(DIMS(6), 3, 7, -8, 2147483647, -2147483647, 6)),
    CASE("Gather", "out_of_range_of_nothing", 13, NO_ATTRIBUTES, F32(0, 5), LIST(0, 1, -1)),

    {.name = "GatherElements",
     .label = "float32",
     .since_version = 13,
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .attributes = {A_INT("axis", 1)},
     .inputs = {F32(5, 9, 7), I64_RANGE(-9, 8, 5, 4, 7)}},
    CASE("GatherElements", "smaller_indices", 13, ATTRIBUTES(A_INT("axis", -1)), F32(5, 9, 7),
         I64_RANGE(-7, 6, 3, 5, 11)),
    CASE("GatherElements", "first_axis", 11, NO_ATTRIBUTES, F32(9, 7), I64_RANGE(-9, 8, 33, 7)),
    CASE("GatherElements", "vector", 13, NO_ATTRIBUTES, F32(9), I64_RANGE(-9, 8, 17)),
    CASE("GatherElements", "int32_indices", 13, NO_ATTRIBUTES, F32(9, 7), I32_RANGE(-9, 8, 5, 7)),
    CASE("GatherElements", "rank8", 13, ATTRIBUTES(A_INT("axis", 2)), F32(2, 1, 5, 2, 1, 3, 2, 1),
         I64_RANGE(-5, 4, 2, 1, 3, 2, 1, 3, 2, 1)),
    CASE("GatherElements", "special", 13, NO_ATTRIBUTES, F32_SPECIAL(1, 4, 16), I64_RANGE(-4, 3, 4, 16)),
    CASE("GatherElements", "denormal", 13, NO_ATTRIBUTES, F32_DENORMAL(7, 3), I64_RANGE(-7, 6, 5, 3)),
    CASE("GatherElements", "int64", 13, NO_ATTRIBUTES, I64_RANGE(-99, 99, 7, 3), I64_RANGE(-7, 6, 5, 3)),
    CASE("GatherElements", "int32", 13, NO_ATTRIBUTES, I32_RANGE(-99, 99, 7, 3), I64_RANGE(-7, 6, 5, 3)),
    CASE("GatherElements", "bool", 13, NO_ATTRIBUTES, BOOLS(7, 3), I64_RANGE(-7, 6, 5, 3)),
    CASE("GatherElements", "uint8", 13, NO_ATTRIBUTES, U8_RANGE(0, 255, 7, 3), I64_RANGE(-7, 6, 5, 3)),
    OTHER_TYPES(GATHER_ELEMENTS_OF),
    CASE("GatherElements", "no_indices", 13, NO_ATTRIBUTES, F32(7, 3), I64_RANGE(0, 0, 0, 3)),
    CASE("GatherElements", "out_of_range", 13, NO_ATTRIBUTES, F32(7),
         LIST(3, 7, -8, 9223372036854775807, -9223372036854775807, 4294967296, 6, -7)),
    CASE("GatherElements", "out_of_range_int32", 13, NO_ATTRIBUTES, F32(7),
         I32_IS(DIMS(6), 3, 7, -8, 2147483647, -2147483647, 6)),
    CASE("GatherElements", "out_of_range_of_nothing", 13, NO_ATTRIBUTES, F32(0, 3), I64_RANGE(-1, 1, 2, 3)),

    /* No element is named twice: which update stays is open. */
    {.name = "ScatterElements",
     .label = "float32",
     .since_version = 18,
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .attributes = {A_INT("axis", 1)},
     .inputs = {F32(2, 9, 3), I64_IS(DIMS(2, 3, 3), 0, 8, -1, 4, 3, 5, -2, -8, 0, -9, 1, 2, 3, 4, 5, 6, 7, 8),
                F32(2, 3, 3)}},
    CASE("ScatterElements", "smaller_indices", 13, ATTRIBUTES(A_INT("axis", -1)), F32(5, 9, 7),
         I64_IS(DIMS(2, 2, 3), 6, 0, 1, -1, -2, -3, 2, 4, 3, -7, 5, 1), F32(2, 2, 3)),
    CASE("ScatterElements", "first_axis", 11, NO_ATTRIBUTES, F32(9, 3), I64_IS(DIMS(2, 3), 8, 0, -1, 1, -8, 4),
         F32(2, 3)),
    CASE("ScatterElements", "no_reduction", 18, ATTRIBUTES(A_STRING("reduction", "none")), F32(9), LIST(-1, 2, 0),
         F32(3)),
    CASE("ScatterElements", "int32_indices", 18, NO_ATTRIBUTES, F32(9), I32_IS(DIMS(3), -1, 2, 0), F32(3)),
    CASE("ScatterElements", "rank8", 18, ATTRIBUTES(A_INT("axis", 2)), F32(2, 1, 5, 2, 1, 3, 2, 1),
         I64_IS(DIMS(1, 1, 2, 2, 1, 1, 2, 1), 0, 1, 2, 3, 4, -5, -2, -1), F32(1, 1, 2, 2, 1, 1, 2, 1)),
    CASE("ScatterElements", "special", 18, NO_ATTRIBUTES, F32(17),
         LIST(1, 3, 5, 7, 9, 11, 13, 15, 0, 2, 4, 6, 8, 10, 12, 14), F32_SPECIAL(1, 16)),
    CASE("ScatterElements", "denormal", 18, NO_ATTRIBUTES, F32_DENORMAL(7), LIST(1, 6), F32_DENORMAL(2)),
    CASE("ScatterElements", "int64", 18, NO_ATTRIBUTES, I64_RANGE(-99, 99, 7), LIST(1, -1), I64_RANGE(100, 199, 2)),
    CASE("ScatterElements", "int32", 18, NO_ATTRIBUTES, I32_RANGE(-99, 99, 7), LIST(1, -1), I32_RANGE(100, 199, 2)),
    CASE("ScatterElements", "bool", 18, NO_ATTRIBUTES, BOOLS(7), LIST(1, -1, 3, 2, 5), BOOLS(5)),
    CASE("ScatterElements", "uint8", 18, NO_ATTRIBUTES, U8_RANGE(0, 99, 7), LIST(1, -1, 3, 2, 5),
         U8_RANGE(100, 255, 5)),
    OTHER_TYPES(SCATTER_ELEMENTS_OF),
    CASE("ScatterElements", "no_indices", 18, NO_ATTRIBUTES, F32(7, 3), I64_RANGE(0, 0, 0, 3), F32(0, 3)),
    CASE("ScatterElements", "empty", 18, NO_ATTRIBUTES, F32(0, 3), I64_RANGE(0, 0, 0, 3), F32(0, 3)),
    CASE("ScatterElements", "out_of_range", 18, NO_ATTRIBUTES, F32(7),
         LIST(3, 7, -8, 9223372036854775807, -9223372036854775807, 4294967296, 6, -7), F32(8)),
    CASE("ScatterElements", "out_of_range_int32", 18, NO_ATTRIBUTES, F32(7),
         I32_IS(DIMS(6), 3, 7, -8, 2147483647, -2147483647, 6), F32(6)),

    {.name = "GatherND",
     .label = "float32",
     .since_version = 13,
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .inputs = {F32(5, 9, 7), I64_RANGE(-5, 4, 4, 3, 2)}},
    CASE("GatherND", "elements", 13, NO_ATTRIBUTES, F32(5, 7), I64_RANGE(-5, 4, 17, 2)),
    CASE("GatherND", "one_tuple", 11, NO_ATTRIBUTES, F32(5, 7, 3), LIST(-2, 6)),
    {.name = "GatherND",
     .label = "batch",
     .since_version = 13,
     .variants = VIEW_TRANSPOSED,
     .attributes = {A_INT("batch_dims", 1)},
     .inputs = {F32(3, 5, 7), I64_RANGE(-5, 4, 3, 4, 1)}},
    CASE("GatherND", "two_batches", 12, ATTRIBUTES(A_INT("batch_dims", 2)), F32(2, 3, 5, 7, 2),
         I64_RANGE(-5, 4, 2, 3, 4, 2)),
    CASE("GatherND", "batch_of_elements", 13, ATTRIBUTES(A_INT("batch_dims", 1)), F32(3, 5), I64_RANGE(-5, 4, 3, 1)),
    CASE("GatherND", "rank8", 13, NO_ATTRIBUTES, F32(2, 3, 2, 2, 3, 2, 2, 2), I64_RANGE(-2, 1, 5, 8)),
    CASE("GatherND", "special", 13, NO_ATTRIBUTES, F32_SPECIAL(1, 16, 16), I64_RANGE(-16, 15, 5, 1)),
    CASE("GatherND", "denormal", 13, NO_ATTRIBUTES, F32_DENORMAL(7, 3), I64_RANGE(-3, 2, 5, 2)),
    CASE("GatherND", "int64", 13, NO_ATTRIBUTES, I64_RANGE(-99, 99, 7, 3), I64_RANGE(-7, 6, 5, 1)),
    CASE("GatherND", "int32", 13, NO_ATTRIBUTES, I32_RANGE(-99, 99, 7, 3), I64_RANGE(-3, 2, 5, 2)),
    CASE("GatherND", "bool", 13, NO_ATTRIBUTES, BOOLS(7, 3), I64_RANGE(-7, 6, 5, 1)),
    CASE("GatherND", "uint8", 13, NO_ATTRIBUTES, U8_RANGE(0, 255, 7, 3), I64_RANGE(-3, 2, 5, 2)),
    OTHER_TYPES(GATHER_ND_OF),
    CASE("GatherND", "no_indices", 13, NO_ATTRIBUTES, F32(7, 3), I64_RANGE(0, 0, 0, 2)),
    CASE("GatherND", "empty_slices", 13, NO_ATTRIBUTES, F32(7, 0), I64_RANGE(-7, 6, 5, 1)),
    CASE("GatherND", "out_of_range", 13, NO_ATTRIBUTES, F32(7, 5),
         I64_IS(DIMS(6, 2), 3, 4, 7, 0, 0, 5, -8, 1, 4294967296, 0, -7, -5)),
    CASE("GatherND", "out_of_range_of_nothing", 13, NO_ATTRIBUTES, F32(0, 5), I64_RANGE(-1, 1, 3, 1)),

    {.name = "ScatterND",
     .label = "float32",
     .since_version = 18,
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .inputs = {F32(5, 9, 7), I64_IS(DIMS(2, 2, 2), 0, 0, -1, 8, 3, -2, 2, 5), F32(2, 2, 7)}},
    CASE("ScatterND", "elements", 13, NO_ATTRIBUTES, F32(5, 7), I64_IS(DIMS(3, 2), 4, 6, -5, 1, 2, -7), F32(3)),
    CASE("ScatterND", "one_tuple", 11, NO_ATTRIBUTES, F32(5, 7, 3), LIST(-2, 6), F32(3)),
    CASE("ScatterND", "rows", 16, NO_ATTRIBUTES, F32(9, 33), I64_IS(DIMS(3, 1), 8, 0, -4), F32(3, 33)),
    CASE("ScatterND", "no_reduction", 18, ATTRIBUTES(A_STRING("reduction", "none")), F32(9), I64_IS(DIMS(2, 1), -1, 2),
         F32(2)),
    CASE("ScatterND", "rank8", 18, NO_ATTRIBUTES, F32(2, 3, 2, 2, 3, 2, 2, 2),
         I64_IS(DIMS(2, 7), 0, 1, 1, 0, 2, 1, 0, 1, -1, 0, 1, -3, 0, 1), F32(2, 2)),
    CASE("ScatterND", "special", 18, NO_ATTRIBUTES, F32(3, 16), I64_IS(DIMS(1, 1), 1), F32_SPECIAL(1, 1, 16)),
    CASE("ScatterND", "denormal", 18, NO_ATTRIBUTES, F32_DENORMAL(7, 3), I64_IS(DIMS(2, 1), 1, 6), F32_DENORMAL(2, 3)),
    CASE("ScatterND", "int64", 18, NO_ATTRIBUTES, I64_RANGE(-99, 99, 7, 3), I64_IS(DIMS(2, 1), 1, -1),
         I64_RANGE(100, 199, 2, 3)),
    CASE("ScatterND", "int32", 18, NO_ATTRIBUTES, I32_RANGE(-99, 99, 7, 3), I64_IS(DIMS(2, 2), 1, 2, -1, 0),
         I32_RANGE(100, 199, 2)),
    CASE("ScatterND", "bool", 18, NO_ATTRIBUTES, BOOLS(7, 3), I64_IS(DIMS(2, 1), 1, -1), BOOLS(2, 3)),
    CASE("ScatterND", "uint8", 18, NO_ATTRIBUTES, U8_RANGE(0, 99, 7, 3), I64_IS(DIMS(2, 2), 1, 2, -1, 0),
         U8_RANGE(100, 255, 2)),
    OTHER_TYPES(SCATTER_ND_OF),
    CASE("ScatterND", "no_indices", 18, NO_ATTRIBUTES, F32(7, 3), I64_RANGE(0, 0, 0, 2), F32(0)),
    CASE("ScatterND", "empty", 18, NO_ATTRIBUTES, F32(0, 3), I64_RANGE(0, 0, 0, 1), F32(0, 3)),
    CASE("ScatterND", "out_of_range", 18, NO_ATTRIBUTES, F32(7, 5),
         I64_IS(DIMS(6, 2), 3, 4, 7, 0, 0, 5, -8, 1, 4294967296, 0, -7, -5), F32(6)),

    SCATTERED("add", "add", LEATI_REF_FLOAT32, -2, 2),
    SCATTERED("mul", "mul", LEATI_REF_FLOAT32, -2, 2),
    SCATTERED("min", "min", LEATI_REF_FLOAT32, -2, 2),
    SCATTERED("max", "max", LEATI_REF_FLOAT32, -2, 2),
    SCATTERED("add_float16", "add", LEATI_REF_FLOAT16, -2, 2),
    SCATTERED("mul_bfloat16", "mul", LEATI_REF_BFLOAT16, -2, 2),
    SCATTERED("add_int32", "add", LEATI_REF_INT32, -2000000000, 2000000000),
    SCATTERED("mul_int64", "mul", LEATI_REF_INT64, -2000000000, 2000000000),
    SCATTERED("add_int8", "add", LEATI_REF_INT8, -128, 127),
    SCATTERED("min_int8", "min", LEATI_REF_INT8, -128, 127),
    SCATTERED("mul_int16", "mul", LEATI_REF_INT16, -999, 999),
    SCATTERED("max_uint8", "max", LEATI_REF_UINT8, 0, 255),
    SCATTERED("add_uint16", "add", LEATI_REF_UINT16, 0, 65535),
    SCATTERED("max_uint32", "max", LEATI_REF_UINT32, 0, 4000000000),
    SCATTERED("add_uint64", "add", LEATI_REF_UINT64, 0, 4000000000),
    VIEWED("ScatterElements", "reduced", 18, VIEWS & ~VIEW_BROADCAST, THREADS_8 | THREADS_16,
           ATTRIBUTES(A_STRING("reduction", "add")), F32(9, 5), I64_RANGE(-9, 8, 31, 5), F32(31, 5)),
    VIEWED("ScatterND", "reduced", 18, VIEWS & ~VIEW_BROADCAST, THREADS_8 | THREADS_16,
           ATTRIBUTES(A_STRING("reduction", "add")), F32(3, 5, 4), I64_RANGE(-3, 2, 6, 7, 2), F32(6, 7, 4)),
    CASE("ScatterElements", "add_16", 16, ATTRIBUTES(A_STRING("reduction", "add")), F32(9), LIST(-1, 2, 2, 8), F32(4)),
    CASE("ScatterND", "mul_16", 16, ATTRIBUTES(A_STRING("reduction", "mul")), F32(9), I64_IS(DIMS(4, 1), -1, 2, 2, 8),
         F32(4)),
    CASE("ScatterElements", "add_int32_indices", 18, ATTRIBUTES(A_STRING("reduction", "add")), F32(9),
         I32_RANGE(-9, 8, 70), F32(70)),
    /* More updates of a line than a kernel takes at once. */
    CASE("ScatterElements", "add_70000", 18, ATTRIBUTES(A_STRING("reduction", "add")), F32(3), I64_RANGE(-3, 2, 70000),
         F32(70000)),
    CASE("ScatterND", "add_30000", 18, ATTRIBUTES(A_STRING("reduction", "add")), F32(3, 2), I64_RANGE(-2, 1, 30000, 2),
         F32(30000)),
    CASE("ScatterElements", "max_no_number", 18, ATTRIBUTES(A_STRING("reduction", "max")), F32_SPECIAL(1, 16),
         I64_RANGE(0, 15, 64), F32_SPECIAL(4, 64)),
    CASE("ScatterND", "min_no_number", 18, ATTRIBUTES(A_STRING("reduction", "min")), F32_SPECIAL(1, 16),
         I64_RANGE(0, 15, 64, 1), F32_SPECIAL(4, 64)),
    CASE("ScatterElements", "add_rank8", 18, ATTRIBUTES(A_STRING("reduction", "add"), A_INT("axis", 2)),
         F32(2, 1, 5, 2, 1, 3, 2, 1), I64_RANGE(-5, 4, 2, 1, 9, 2, 1, 2, 2, 1), F32(2, 1, 9, 2, 1, 2, 2, 1)),
    CASE("ScatterND", "add_rank8", 18, ATTRIBUTES(A_STRING("reduction", "add")), F32(2, 3, 2, 2, 3, 2, 2, 2),
         I64_RANGE(-2, 1, 9, 8), F32(9)),
    CASE("ScatterElements", "add_nothing", 18, ATTRIBUTES(A_STRING("reduction", "add")), F32(7, 3),
         I64_RANGE(0, 0, 0, 3), F32(0, 3)),
    CASE("ScatterND", "add_nothing", 18, ATTRIBUTES(A_STRING("reduction", "add")), F32(7, 3), I64_RANGE(0, 0, 0, 2),
         F32(0)),
    CASE("ScatterElements", "out_of_range_add", 18, ATTRIBUTES(A_STRING("reduction", "add")), F32(7),
         LIST(7, -8, 3, 3, 4294967296, -4294967296, 9223372036854775807), F32(7)),
    CASE("ScatterND", "out_of_range_mul", 18, ATTRIBUTES(A_STRING("reduction", "mul")), F32(7, 5),
         I64_IS(DIMS(4, 2), 7, 0, 1, -6, 1, 4, 1, 4), F32(4)),
    {.name = "TensorScatter",
     .label = "float32",
     .since_version = 24,
     .variants = ALL_VIEWS | VIEW_IN_PLACE,
     .threads = THREADS_8 | THREADS_16,
     .inputs = {F32(2, 3, 9, 7), F32(2, 3, 2, 7), LIST(4, 7)}},
    {.name = "TensorScatter",
     .label = "circular",
     .since_version = 24,
     .variants = VIEW_IN_PLACE,
     .attributes = {A_STRING("mode", "circular"), A_INT("axis", 1)},
     .inputs = {F32(3, 5, 4), F32(3, 4, 4), LIST(3, 0, 13)}},
    {.name = "TensorScatter",
     .label = "all_rows_circular",
     .since_version = 24,
     .variants = VIEW_IN_PLACE,
     .attributes = {A_STRING("mode", "circular")},
     .inputs = {F32(2, 5, 4), F32(2, 5, 4), LIST(2, 4)}},
    {.name = "TensorScatter",
     .label = "first_rows",
     .since_version = 24,
     .variants = VIEW_IN_PLACE,
     .attributes = {A_STRING("mode", "linear")},
     .inputs = {F32(2, 2, 5, 4), F32(2, 2, 3, 4)}},
    CASE("TensorScatter", "last_dimension", 24, ATTRIBUTES(A_INT("axis", -1)), F32(2, 3, 9), F32(2, 3, 2), LIST(7, 0)),
    CASE("TensorScatter", "rank8", 24, ATTRIBUTES(A_INT("axis", 3)), F32(2, 2, 1, 5, 2, 1, 2, 3),
         F32(2, 2, 1, 2, 2, 1, 2, 3), LIST(3, 1)),
    CASE("TensorScatter", "special", 24, NO_ATTRIBUTES, F32(1, 3, 16), F32_SPECIAL(1, 1, 1, 16), LIST(1)),
    CASE("TensorScatter", "int64", 24, NO_ATTRIBUTES, I64_RANGE(-99, 99, 2, 7, 3), I64_RANGE(100, 199, 2, 2, 3),
         LIST(1, 5)),
    CASE("TensorScatter", "int32", 24, NO_ATTRIBUTES, I32_RANGE(-99, 99, 2, 7, 3), I32_RANGE(100, 199, 2, 2, 3),
         LIST(1, 5)),
    CASE("TensorScatter", "bool", 24, NO_ATTRIBUTES, BOOLS(2, 7, 3), BOOLS(2, 2, 3), LIST(1, 5)),
    CASE("TensorScatter", "uint8", 24, NO_ATTRIBUTES, U8_RANGE(0, 99, 2, 7, 3), U8_RANGE(100, 255, 2, 2, 3),
         LIST(1, 5)),
    OTHER_TYPES(TENSOR_SCATTER_OF),
    CASE("TensorScatter", "no_update", 24, NO_ATTRIBUTES, F32(2, 5, 4), F32(2, 0, 4), LIST(1, 2)),
    CASE("TensorScatter", "empty", 24, NO_ATTRIBUTES, F32(2, 5, 0), F32(2, 3, 0), LIST(1, 2)),
    CASE("TensorScatter", "out_of_range", 24, NO_ATTRIBUTES, F32(6, 5, 4), F32(6, 3, 4),
         LIST(4, 5, -1, 9223372036854775807, -9223372036854775807, 4294967296)),
    CASE("TensorScatter", "out_of_range_circular", 24, ATTRIBUTES(A_STRING("mode", "circular")), F32(3, 5, 4),
         F32(3, 3, 4), LIST(-1, -9223372036854775807, 4294967299)),

    {.name = "ReverseSequence",
     .label = "float32",
     .since_version = 10,
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .inputs = {F32(9, 4, 5), LIST(9, 1, 0, 6)}},
    CASE("ReverseSequence", "by_column", 10, ATTRIBUTES(A_INT("batch_axis", 0), A_INT("time_axis", 1)), F32(4, 9, 4),
         LIST(9, 1, 0, 6)),
    CASE("ReverseSequence", "version28", 28, NO_ATTRIBUTES, F32(9, 4, 5), LIST(9, 1, 0, 6)),
    CASE("ReverseSequence", "int64", 10, NO_ATTRIBUTES, I64_RANGE(-99, 99, 7, 3), LIST(7, 2, 4)),
    CASE("ReverseSequence", "int32", 10, NO_ATTRIBUTES, I32_RANGE(-99, 99, 7, 3), LIST(7, 2, 4)),
    CASE("ReverseSequence", "bool", 10, NO_ATTRIBUTES, BOOLS(7, 3), LIST(7, 2, 4)),
    CASE("ReverseSequence", "uint8", 10, NO_ATTRIBUTES, U8_RANGE(0, 255, 7, 3), LIST(7, 2, 4)),
    OTHER_TYPES(REVERSE_SEQUENCE_OF),
    CASE("ReverseSequence", "rank8", 10, NO_ATTRIBUTES, F32(3, 2, 1, 2, 2, 1, 2, 3), LIST(3, 2)),
    CASE("ReverseSequence", "empty", 10, NO_ATTRIBUTES, F32(3, 2, 0), LIST(3, 2)),
    CASE("ReverseSequence", "out_of_range", 10, NO_ATTRIBUTES, F32(5, 4),
         LIST(6, -1, 9223372036854775807, -9223372036854775807)),

    VIEWED("NonZero", "float32", 13, VIEW_DYNAMIC, THREADS_8, NO_ATTRIBUTES,
           F32_IS(DIMS(2, 4), 0.0f, -0.0f, 1e-45f, -3.0f, INFINITY, NAN, 0.0f, 1.0f)),
    CASE("NonZero", "version9", 9, NO_ATTRIBUTES, F32_IS(DIMS(3), 0.0f, 2.0f, 3.0f)),
    CASE("NonZero", "int64", 13, NO_ATTRIBUTES, I64_RANGE(-1, 1, 3, 2, 5)),
    CASE("NonZero", "int32", 13, NO_ATTRIBUTES, I32_RANGE(-1, 1, 1, 9)),
    CASE("NonZero", "bool", 13, NO_ATTRIBUTES, BOOLS(7, 3)),
    CASE("NonZero", "uint8", 13, NO_ATTRIBUTES, U8_RANGE(0, 1, 7, 3)),
    OTHER_TYPES(NONZERO_OF),
    CASE("NonZero", "nothing", 13, NO_ATTRIBUTES, I64_RANGE(0, 0, 3, 4)),
    CASE("NonZero", "scalar", 13, NO_ATTRIBUTES, F32_IS(NO_DIMS, 2)),
    CASE("NonZero", "empty", 13, NO_ATTRIBUTES, F32(3, 0)),
    CASE("NonZero", "rank8", 13, NO_ATTRIBUTES, BOOLS(3, 2, 1, 2, 2, 1, 2, 3)),

    VIEWED("Scatter", "float32", 9, ALL_VIEWS & ~VIEW_BROADCAST, THREADS_8, ATTRIBUTES(A_INT("axis", 1)), F32(2, 7),
           I64_IS(DIMS(2, 3), 1, -1, 3, 0, 6, -5), F32(2, 3)),
    CASE("Scatter", "int32_indices", 9, NO_ATTRIBUTES, F32(7), I32_IS(DIMS(3), 1, -1, 3), F32(3)),
    CASE("Scatter", "int64", 9, NO_ATTRIBUTES, I64_RANGE(-99, 99, 7), LIST(1, -1, 3), I64_RANGE(-99, 99, 3)),
    CASE("Scatter", "int32", 9, NO_ATTRIBUTES, I32_RANGE(-99, 99, 7), LIST(1, -1, 3), I32_RANGE(-99, 99, 3)),
    CASE("Scatter", "bool", 9, NO_ATTRIBUTES, BOOLS(7), LIST(1, -1, 3), BOOLS(3)),
    CASE("Scatter", "uint8", 9, NO_ATTRIBUTES, U8_RANGE(0, 255, 7), LIST(1, -1, 3), U8_RANGE(0, 255, 3)),
    OTHER_TYPES(SCATTER_OF),

    {.name = "OneHot",
     .label = "float32",
     .since_version = 11,
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .attributes = {A_INT("axis", 1)},
     .inputs = {I64_RANGE(-9, 9, 5, 4, 3), I64_IS(NO_DIMS, 7), F32(2)}},
    CASE("OneHot", "version28", 28, NO_ATTRIBUTES, I64_RANGE(-9, 9, 5, 3), LIST(7), F32(2)),
    CASE("OneHot", "version9", 9, NO_ATTRIBUTES, I64_RANGE(-9, 9, 5, 3), LIST(7), F32(2)),
    CASE("OneHot", "first_axis", 11, ATTRIBUTES(A_INT("axis", 0)), I32_RANGE(-9, 9, 5, 3), I32_IS(NO_DIMS, 7), F32(2)),
    CASE("OneHot", "front_by_negative_axis", 11, ATTRIBUTES(A_INT("axis", -3)), I32_RANGE(-9, 9, 5, 3), LIST(7),
         F32(2)),
    CASE("OneHot", "float32_indices", 11, NO_ATTRIBUTES,
         F32_IS(DIMS(3, 4), 0.0f, -0.0f, 2.0f, 2.5f, -7.0f, -8.0f, 6.0f, 7.0f, NAN, INFINITY, -1e30f, -0.5f),
         F32_IS(NO_DIMS, 7.0f), F32(2)),
    CASE("OneHot", "scalar_index", 11, NO_ATTRIBUTES, I64_IS(NO_DIMS, -2), F32_IS(DIMS(1), 5.9f), F32(2)),
    CASE("OneHot", "one_place", 11, NO_ATTRIBUTES, I64_RANGE(-2, 2, 17), LIST(1), F32(2)),
    CASE("OneHot", "out_of_range", 11, NO_ATTRIBUTES,
         LIST(7, -8, 9223372036854775807, -9223372036854775807, 4294967296, 6, -7), LIST(7), F32(2)),
    CASE("OneHot", "out_of_range_int32", 11, NO_ATTRIBUTES, I32_IS(DIMS(6), 7, -8, 2147483647, -2147483647, 6, -7),
         LIST(7), F32(2)),
    CASE("OneHot", "int64", 11, NO_ATTRIBUTES, I64_RANGE(-9, 9, 3, 5), LIST(7), I64_RANGE(-99, 99, 2)),
    CASE("OneHot", "int32", 11, NO_ATTRIBUTES, I64_RANGE(-9, 9, 3, 5), LIST(7), I32_RANGE(-99, 99, 2)),
    CASE("OneHot", "bool", 11, NO_ATTRIBUTES, I64_RANGE(-9, 9, 3, 5), LIST(7), BOOLS(2)),
    CASE("OneHot", "uint8", 11, NO_ATTRIBUTES, I64_RANGE(-9, 9, 3, 5), LIST(7), U8_RANGE(0, 255, 2)),
    OTHER_TYPES(ONE_HOT_OF),
    CASE("OneHot", "special", 11, NO_ATTRIBUTES, I64_RANGE(0, 4, 7), LIST(5), F32_IS(DIMS(2), NAN, -INFINITY)),
    CASE("OneHot", "rank8", 11, ATTRIBUTES(A_INT("axis", 3)), I64_RANGE(-3, 3, 2, 1, 3, 2, 1, 2, 3), LIST(4), F32(2)),
    CASE("OneHot", "empty", 11, NO_ATTRIBUTES, I64_RANGE(0, 4, 3, 0), LIST(5), F32(2)),

    {.name = "CumSum",
     .label = "float32",
     .since_version = 14,
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .inputs = {F32(5, 33, 7), I64_IS(NO_DIMS, 1)}},
    CASE("CumSum", "float16", 14, ATTRIBUTES(A_INT("exclusive", 1)), MIXED(LEATI_REF_FLOAT16, -300, 300, 5, 17),
         I64_IS(NO_DIMS, 0)),
    CASE("CumSum", "bfloat16", 14, ATTRIBUTES(A_INT("exclusive", 1)), MIXED(LEATI_REF_BFLOAT16, -300, 300, 5, 17),
         I64_IS(NO_DIMS, 0)),
    CASE("CumSum", "long_float16", 14, NO_ATTRIBUTES, RANGE_OF(LEATI_REF_FLOAT16, 0.25, 1, 2, 33000),
         I64_IS(NO_DIMS, 1)),
    CASE("CumSum", "first_axis", 11, NO_ATTRIBUTES, F32(33, 5), I64_IS(NO_DIMS, 0)),
    CASE("CumSum", "last_axis", 14, NO_ATTRIBUTES, F32(5, 129), I64_IS(NO_DIMS, -1)),
    CASE("CumSum", "int32_axis", 14, NO_ATTRIBUTES, F32(3, 5, 7), I32_IS(NO_DIMS, -2)),
    CASE("CumSum", "axis_in_a_list", 14, NO_ATTRIBUTES, F32(3, 5), LIST(1)),
    CASE("CumSum", "exclusive", 14, ATTRIBUTES(A_INT("exclusive", 1)), F32(3, 17), I64_IS(NO_DIMS, 1)),
    CASE("CumSum", "reverse", 14, ATTRIBUTES(A_INT("reverse", 1)), F32(3, 17), I64_IS(NO_DIMS, 1)),
    CASE("CumSum", "exclusive_reverse", 14, ATTRIBUTES(A_INT("exclusive", 1), A_INT("reverse", 1)), F32(5, 9, 3),
         I64_IS(NO_DIMS, 1)),
    CASE("CumSum", "one_element", 14, ATTRIBUTES(A_INT("exclusive", 1)), F32(5, 1), I64_IS(NO_DIMS, 1)),
    CASE("CumSum", "vector", 14, NO_ATTRIBUTES, F32(2053), I64_IS(NO_DIMS, 0)),
    CASE("CumSum", "special", 14, NO_ATTRIBUTES, F32_SPECIAL(1, 3, 16), I64_IS(NO_DIMS, 0)),
    CASE("CumSum", "infinite", 14, NO_ATTRIBUTES, F32_IS(DIMS(2, 5), 1, INFINITY, 2, -INFINITY, 3, 4, NAN, 5, 6, 7),
         I64_IS(NO_DIMS, 1)),
    CASE("CumSum", "denormal", 14, NO_ATTRIBUTES, F32_DENORMAL(3, 17), I64_IS(NO_DIMS, 1)),
    CASE("CumSum", "rank8", 14, NO_ATTRIBUTES, F32(2, 1, 2, 5, 1, 2, 1, 3), I64_IS(NO_DIMS, 3)),
    CASE("CumSum", "empty", 14, NO_ATTRIBUTES, F32(5, 0), I64_IS(NO_DIMS, 1)),
    CASE("CumSum", "int64", 14, NO_ATTRIBUTES, I64_RANGE(-99, 99, 5, 17), I64_IS(NO_DIMS, 1)),
    CASE("CumSum", "int64_wraps", 14, NO_ATTRIBUTES,
         I64_IS(DIMS(4), 9223372036854775807, 9223372036854775807, 4294967296, -9223372036854775807),
         I64_IS(NO_DIMS, 0)),
    CASE("CumSum", "int32", 14, ATTRIBUTES(A_INT("reverse", 1)), I32_RANGE(-99, 99, 5, 17), I64_IS(NO_DIMS, 1)),
    CASE("CumSum", "int32_wraps", 14, NO_ATTRIBUTES, I32_IS(DIMS(4), 2147483647, 2147483647, 5, -2147483647),
         I64_IS(NO_DIMS, 0)),
    CASE("CumSum", "float64", 14, ATTRIBUTES(A_INT("exclusive", 1)), RANGE_OF(LEATI_REF_FLOAT64, -300, 300, 5, 17),
         I64_IS(NO_DIMS, 0)),
    CASE("CumSum", "uint32", 14, ATTRIBUTES(A_INT("reverse", 1)), RANGE_OF(LEATI_REF_UINT32, 0, 4000000000, 5, 17),
         I64_IS(NO_DIMS, 1)),
    CASE("CumSum", "uint64", 11, NO_ATTRIBUTES, INTS_OF(LEATI_REF_UINT64, DIMS(4), -1, -1, 4294967296, 7), LIST(0)),

    /* Factors near 1, so that products neither overflow nor vanish. */
    {.name = "CumProd",
     .label = "float32",
     .since_version = 26,
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .inputs = {F32_RANGE(-1.5, 1.5, 5, 33, 7), I64_IS(NO_DIMS, 1)}},
    CASE("CumProd", "float16", 26, ATTRIBUTES(A_INT("exclusive", 1)), RANGE_OF(LEATI_REF_FLOAT16, -2, 2, 5, 17),
         I64_IS(NO_DIMS, 0)),
    CASE("CumProd", "bfloat16", 26, NO_ATTRIBUTES, RANGE_OF(LEATI_REF_BFLOAT16, -2, 2, 5, 17), I64_IS(NO_DIMS, 0)),
    CASE("CumProd", "float64", 26, ATTRIBUTES(A_INT("reverse", 1)), RANGE_OF(LEATI_REF_FLOAT64, -2, 2, 5, 17),
         I32_IS(NO_DIMS, -1)),
    CASE("CumProd", "exclusive_reverse", 26, ATTRIBUTES(A_INT("exclusive", 1), A_INT("reverse", 1)),
         F32_RANGE(0.5, 1.5, 5, 9, 3), I64_IS(NO_DIMS, 1)),
    CASE("CumProd", "one_element", 26, ATTRIBUTES(A_INT("exclusive", 1)), F32(5, 1), I64_IS(NO_DIMS, 1)),
    CASE("CumProd", "no_number", 26, NO_ATTRIBUTES,
         F32_IS(DIMS(3, 5), 1, INFINITY, 2, -INFINITY, 3, 4, NAN, 5, 6, 7, 0, 1, INFINITY, 2, 3), I64_IS(NO_DIMS, 1)),
    CASE("CumProd", "denormal", 26, NO_ATTRIBUTES, F32_DENORMAL(3, 17), I64_IS(NO_DIMS, 1)),
    CASE("CumProd", "rank8", 26, NO_ATTRIBUTES, F32(2, 1, 2, 5, 1, 2, 1, 3), I64_IS(NO_DIMS, 3)),
    CASE("CumProd", "empty", 26, NO_ATTRIBUTES, F32(5, 0), I64_IS(NO_DIMS, 1)),
    CASE("CumProd", "int64", 26, NO_ATTRIBUTES, I64_RANGE(-99, 99, 5, 17), I64_IS(NO_DIMS, 1)),
    CASE("CumProd", "int32", 26, ATTRIBUTES(A_INT("reverse", 1)), I32_RANGE(-99, 99, 5, 17), I64_IS(NO_DIMS, 1)),
    CASE("CumProd", "uint32", 26, NO_ATTRIBUTES, RANGE_OF(LEATI_REF_UINT32, 0, 4000000000, 5, 17), LIST(0)),
    CASE("CumProd", "uint64", 26, ATTRIBUTES(A_INT("exclusive", 1)), RANGE_OF(LEATI_REF_UINT64, 0, 4000000000, 5, 17),
         LIST(0)),
};

/* A row so long that a kernel may not get through it at once (software devices cut loops short). */
static void running_long(leat_case_context *ctx, const void *data) {
  enum { COUNT = 70000 };
  const int64_t dims[1] = {COUNT};
  const leat_value_info line = {.struct_size = sizeof(line), .ndim = 1, .dtype = LEAT_F32, .shape = dims};
  const leat_value_info scalar = {.struct_size = sizeof(scalar), .dtype = LEAT_I64};
  const leat_value_info *infos[2] = {&line, &scalar};
  const bool product = strcmp(data, "CumProd") == 0;
  const leat_op_desc desc = {.struct_size = sizeof(desc),
                             .since_version = product ? 26 : 14,
                             .name = data,
                             .input_count = 2,
                             .output_count = 1,
                             .inputs = infos};
  leat_device *device = leati_fixture_device(ctx);
  leat_op *op = NULL;
  leati_case_require_op(ctx, &desc);
  LEAT_CHECK_OK(ctx, ctx->op->create(device, &desc, &op, LEAT_ERR));
  leat_stream *stream = leati_stream_new(ctx);
  float *values = g_new(float, COUNT);
  int64_t zero = 0;
  leat_case_tensor views[3];
  for (int i = 0; i < COUNT; ++i) {
    values[i] = !product ? 1 : i % 2 == 0 ? 2 : 0.5f;
  }
  const uint64_t in = leati_case_alloc(ctx, COUNT * sizeof(float), stream);
  const uint64_t out = leati_case_alloc(ctx, COUNT * sizeof(float), stream);
  leati_upload(ctx, stream, in, values, COUNT * sizeof(float));
  leati_case_tensor_device(ctx, &views[0], in, LEAT_F32, 1, dims);
  leati_case_tensor_host(&views[1], &zero, LEAT_I64, 0, NULL);
  leati_case_tensor_device(ctx, &views[2], out, LEAT_F32, 1, dims);
  const leat_case_tensor *inputs[2] = {&views[0], &views[1]};
  leati_op_invoke(ctx, op, stream, 2, inputs, &views[2]);
  leati_download(ctx, stream, out, values, COUNT * sizeof(float));
  leati_synchronize(ctx, stream);
  for (int i = 0; i < COUNT; ++i) {
    const float expected = !product ? (float)(i + 1) : i % 2 == 0 ? 2 : 1;
    LEAT_CHECK_MESSAGE(ctx, values[i] == expected, "element %d is %g, not %g", i, (double)values[i], (double)expected);
  }
  g_free(values);
  leati_case_free(ctx, in);
  leati_case_free(ctx, out);
  leati_stream_destroy(ctx, stream);
  leati_op_destroy(ctx, op);
}

static const leat_case long_lines[] = {
    {.name = "op.CumSum.line_of_70000",
     .summary = "Running sums are right over a row that is longer than some devices let a loop run.",
     .run = running_long,
     .data = "CumSum"},
    {.name = "op.CumProd.line_of_70000",
     .summary = "Running products are right over a row that is longer than some devices let a loop run.",
     .run = running_long,
     .data = "CumProd"},
};

/* ---- What is refused --------------------------------------------------------------------------------------------- */

static const leati_op_spec sound_quantized =
    QUANTIZED("sound", 4, 1, 0, 0, U8_RANGE(0, 255, 11, 24), I64_RANGE(-11, 10, 2, 3), F32_RANGE(0.01, 0.1, 11, 3),
              U8_RANGE(0, 255, 11, 2));
static const leati_refusal wrong_quantized[] = {{A_INT("bits", 3)},
                                                {A_INT("bits", 16)},
                                                {A_INT("bits", -4)},
                                                {A_INT("bits", 0)},
                                                {A_INT("block_size", 0)},
                                                {A_INT("block_size", 8)},
                                                {A_INT("block_size", 24)},
                                                {A_INT("block_size", -16)},
                                                {A_INT("block_size", INT64_MIN)},
                                                {A_INT("block_size", INT64_C(1) << 62)},
                                                {A_INT("quantize_axis", 0)},
                                                {A_INT("quantize_axis", 2)},
                                                {A_INT("quantize_axis", INT64_MIN)},
                                                {A_INT("gather_axis", 1)},
                                                {A_INT("gather_axis", -3)}};
/* Indices may have any shape. */
static const leati_refusals refusals_of_quantized = {.sound = &sound_quantized,
                                                     .wrong = wrong_quantized,
                                                     .wrong_count = G_N_ELEMENTS(wrong_quantized),
                                                     .any_size = {0, 1u << 0 | 1u << 1 | 1u << 2}};

static const leati_op_spec sound_scatter =
    CASE("ScatterElements", "sound", 18, ATTRIBUTES(A_STRING("reduction", "add"), A_INT("axis", 1)), F32(3, 7),
         I64_RANGE(-7, 6, 3, 19), F32(3, 19));
static const leati_refusal wrong_scatter[] = {
    {A_STRING("reduction", "mean")}, {A_STRING("reduction", "")}, {A_INT("axis", 2)}, {A_INT("axis", INT64_MIN)}};
static const leati_refusals refusals_of_scatter = {.sound = &sound_scatter,
                                                   .wrong = wrong_scatter,
                                                   .wrong_count = G_N_ELEMENTS(wrong_scatter),
                                                   .any_size = {1u << 0 | 1u << 1}};

static const leati_op_spec sound_reverse =
    CASE("ReverseSequence", "sound", 10, ATTRIBUTES(A_INT("batch_axis", 1), A_INT("time_axis", 0)), F32(7, 3, 5),
         LIST(3, 2, 4));
static const leati_refusal wrong_reverse[] = {{A_INT("batch_axis", 0)},         {A_INT("time_axis", 1)},
                                              {A_INT("batch_axis", INT64_MAX)}, {A_INT("time_axis", INT64_MAX)},
                                              {A_INT("batch_axis", INT64_MIN)}, {A_INT("time_axis", -1)}};
static const leati_refusals refusals_of_reverse = {.sound = &sound_reverse,
                                                   .wrong = wrong_reverse,
                                                   .wrong_count = G_N_ELEMENTS(wrong_reverse),
                                                   .any_size = {1u << 0 | 1u << 2 | 1u << 3}};

static const leat_case hostile[] = {{REFUSALS("GatherBlockQuantized", "refused", &refusals_of_quantized)},
                                    {REFUSALS("ReverseSequence", "refused", &refusals_of_reverse)},
                                    {REFUSALS("ScatterElements", "refused", &refusals_of_scatter)}};

void leati_rows_index(leat_case_list *list) {
  leati_op_cases_add(list, specs, G_N_ELEMENTS(specs));
  leati_case_list_add(list, long_lines, G_N_ELEMENTS(long_lines));
  leati_case_list_add(list, hostile, G_N_ELEMENTS(hostile));
}
