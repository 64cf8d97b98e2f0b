/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of com.microsoft's operators of int8 or uint8 that stand for floats. */
#include <math.h>

#include "cases/sources.h"
#include "ops/core/op_engine.h"

#define U8(...) U8_RANGE(0, 255, __VA_ARGS__)
#define S8(...) RANGE_OF(LEATI_REF_INT8, -128, 127, __VA_ARGS__)
#define LAST A_INT("channels_last", 1)
/* A scale, and zero points. */
#define SCALE(x) F32_IS(NO_DIMS, x)
#define SCALES(x) F32_IS(DIMS(1), x)
#define U8_ZERO(x) INTS_OF(LEATI_REF_UINT8, NO_DIMS, x)
#define S8_ZERO(x) INTS_OF(LEATI_REF_INT8, NO_DIMS, x)
#define U8_ZEROS(x) INTS_OF(LEATI_REF_UINT8, DIMS(1), x)

#define ROW(op, named, ...)                                                                             \
  {                                                                                                     \
    .name = op, .label = named, .since_version = 1, .domain = LEAT_MICROSOFT, .inputs = { __VA_ARGS__ } \
  }
#define VIEWS_ROW(op, named, views, used_threads, ...)                                           \
  {                                                                                              \
    .name = op, .label = named, .since_version = 1, .domain = LEAT_MICROSOFT, .variants = views, \
    .threads = used_threads, .inputs = {                                                         \
      __VA_ARGS__                                                                                \
    }                                                                                            \
  }
#define WITH(op, named, attributes_given, ...)                                                                \
  {                                                                                                           \
    .name = op, .label = named, .since_version = 1, .domain = LEAT_MICROSOFT, .attributes = attributes_given, \
    .inputs = {                                                                                               \
      __VA_ARGS__                                                                                             \
    }                                                                                                         \
  }

/* Of two operands. `result`: a scale that about half of all results are within. */
#define TWO(op, result)                                                                                                \
  VIEWS_ROW(op, "uint8", ALL_VIEWS | VIEW_IN_PLACE, THREADS_8 | THREADS_16, U8(5, 7, 12), SCALE(0.02f), U8_ZERO(121),  \
            U8(5, 7, 12), SCALE(0.035f), U8_ZERO(130), SCALE(result), U8_ZERO(119)),                                   \
      VIEWS_ROW(op, "int8", ALL_VIEWS | VIEW_IN_PLACE, 0, S8(5, 7, 12), SCALE(0.02f), S8_ZERO(-7), S8(5, 7, 12),       \
                SCALE(0.035f), S8_ZERO(3), SCALE(result), S8_ZERO(11)),                                                \
      VIEWS_ROW(op, "broadcast", VIEWS | VIEW_REVERSED | VIEW_OFFSET, 0, U8(5, 7, 9), SCALES(0.02f), U8_ZEROS(100),    \
                U8(7, 1), SCALES(0.03f), U8_ZEROS(9), SCALES(result), U8_ZEROS(128)),                                  \
      ROW(op, "both_ways", S8(7, 1, 5), SCALE(0.02f), S8_ZERO(5), S8(3, 1), SCALE(0.03f), S8_ZERO(-5), SCALE(result),  \
          S8_ZERO(1)),                                                                                                 \
      VIEWS_ROW(op, "channels", VIEW_OFFSET | VIEW_SLICED, 0, U8(2, 8, 4, 5), SCALE(0.02f), U8_ZERO(128), U8(8, 1, 1), \
                SCALE(0.03f), U8_ZERO(0), SCALE(result), U8_ZERO(128)),                                                \
      VIEWS_ROW(op, "row", VIEW_OFFSET, 0, S8(65, 36), SCALE(0.02f), S8_ZERO(0), S8(36), SCALE(0.03f), S8_ZERO(9),     \
                SCALE(result), S8_ZERO(-9)),                                                                           \
      ROW(op, "column", U8(65, 36), SCALE(0.02f), U8_ZERO(0), U8(65, 1), SCALE(0.03f), U8_ZERO(128), SCALE(result),    \
          U8_ZERO(99)),                                                                                                \
      ROW(op, "tail", U8(3, 17), SCALE(0.02f), U8_ZERO(120), U8(3, 17), SCALE(0.03f), U8_ZERO(99), SCALE(result),      \
          U8_ZERO(100)),                                                                                               \
      ROW(op, "scalars", INTS_OF(LEATI_REF_INT8, NO_DIMS, -77), SCALE(0.02f), S8_ZERO(1),                              \
          INTS_OF(LEATI_REF_INT8, NO_DIMS, 100), SCALE(0.03f), S8_ZERO(2), SCALE(result), S8_ZERO(3)),                 \
      ROW(op, "rank8", S8(2, 1, 3, 1, 2, 1, 2, 3), SCALE(0.02f), S8_ZERO(0), S8(1, 2, 1, 3, 1, 2, 1, 1), SCALE(0.03f), \
          S8_ZERO(0), SCALE(result), S8_ZERO(0)),                                                                      \
      VIEWS_ROW(op, "large", 0, THREADS_4, U8(37, 113), SCALE(0.02f), U8_ZERO(120), U8(37, 113), SCALE(0.03f),         \
                U8_ZERO(99), SCALE(result), U8_ZERO(100)),                                                             \
      ROW(op, "no_zero_points", U8(9, 20), SCALE(0.02f), ABSENT, U8(9, 20), SCALE(0.03f), ABSENT, SCALE(result)),      \
      ROW(op, "one_zero_point", S8(9, 20), SCALE(0.02f), ABSENT, S8(9, 20), SCALE(0.03f), S8_ZERO(-128),               \
          SCALE(result), ABSENT),                                                                                      \
      ROW(op, "lowest_zero_points", S8(9, 20), SCALE(0.02f), S8_ZERO(-128), S8(9, 20), SCALE(0.03f), S8_ZERO(-128),    \
          SCALE(result), S8_ZERO(-128)),                                                                               \
      ROW(op, "highest_zero_points", U8(9, 20), SCALE(0.02f), U8_ZERO(255), U8(9, 20), SCALE(0.03f), U8_ZERO(255),     \
          SCALE(result), U8_ZERO(255)),                                                                                \
      ROW(op, "saturated", S8(9, 20), SCALE(3), S8_ZERO(0), S8(9, 20), SCALE(5), S8_ZERO(0), SCALE(0.01f),             \
          S8_ZERO(17)),                                                                                                \
      ROW(op, "negative_scales", U8(9, 20), SCALE(-0.02f), U8_ZERO(120), U8(9, 20), SCALE(0.03f), U8_ZERO(99),         \
          SCALE(-result), U8_ZERO(100)),                                                                               \
      ROW(op, "tiny_scale", U8(9, 20), SCALE(0.02f), U8_ZERO(120), U8(9, 20), SCALE(0.03f), U8_ZERO(99),               \
          SCALE(1e-35f), U8_ZERO(7)),                                                                                  \
      ROW(op, "infinite_scale", U8(9, 20), SCALE(0.02f), U8_ZERO(120), U8(9, 20), SCALE(0.03f), U8_ZERO(99),           \
          SCALE(INFINITY), U8_ZERO(7)),                                                                                \
      ROW(op, "nan_scale", U8(9, 20), SCALE(NAN), U8_ZERO(120), U8(9, 20), SCALE(0.03f), U8_ZERO(99), SCALE(1),        \
          U8_ZERO(7)),                                                                                                 \
      ROW(op, "empty", U8(3, 0, 2), SCALE(0.02f), U8_ZERO(1), U8(1, 2), SCALE(0.03f), U8_ZERO(2), SCALE(result),       \
          U8_ZERO(3))

/* Of one operand, which has all that a byte holds. Attributes are a macro without arguments. */
#define ALPHA() ATTRIBUTES(A_FLOAT("alpha", 0.25f))
#define NONE() NO_ATTRIBUTES
#define ONE(op, attributes_given, result)                                                                       \
  {                                                                                                             \
      .name = op,                                                                                               \
      .label = "uint8",                                                                                         \
      .since_version = 1,                                                                                       \
      .domain = LEAT_MICROSOFT,                                                                                 \
      .variants = ALL_VIEWS | VIEW_IN_PLACE,                                                                    \
      .threads = THREADS_8,                                                                                     \
      .attributes = attributes_given(),                                                                         \
      .inputs = {U8(5, 7, 12), SCALE(0.04f), U8_ZERO(121), SCALE(result), U8_ZERO(3)},                          \
  },                                                                                                            \
      WITH(op, "int8", attributes_given(), S8(9, 60), SCALE(0.04f), S8_ZERO(-3), SCALE(result), S8_ZERO(-120)), \
      WITH(op, "tail", attributes_given(), S8(3, 17), SCALES(0.04f), ABSENT, SCALES(result)),                   \
      WITH(op, "ends", attributes_given(), U8(256), SCALE(0.1f), U8_ZERO(255), SCALE(result), U8_ZERO(255)),    \
      WITH(op, "scalar", attributes_given(), INTS_OF(LEATI_REF_INT8, NO_DIMS, -77), SCALE(0.02f), S8_ZERO(1),   \
           SCALE(result), S8_ZERO(3)),                                                                          \
      WITH(op, "empty", attributes_given(), U8(3, 0), SCALE(0.02f), U8_ZERO(1), SCALE(result), U8_ZERO(3))

#define CONCAT(named, axis, ...) WITH("QLinearConcat", named, ATTRIBUTES(A_INT("axis", axis)), __VA_ARGS__)

#define SOFTMAX(named, axis, ...) \
  WITH("QLinearSoftmax", named, ATTRIBUTES(A_INT("axis", axis), A_INT("opset", 13)), __VA_ARGS__)

/* All bytes in turn. */
#define BYTES(x) x, x + 1, x + 2, x + 3, x + 4, x + 5, x + 6, x + 7

static const leati_op_spec specs[] = {
    TWO("QLinearAdd", 0.03f),
    /* Halves, to the even one of two, before an odd zero point is added. */
    ROW("QLinearAdd", "halfway", INTS_OF(LEATI_REF_INT8, DIMS(16), BYTES(-8), BYTES(0)), SCALE(0.25f), S8_ZERO(0),
        INTS_OF(LEATI_REF_INT8, DIMS(16), BYTES(-7), BYTES(0)), SCALE(0.25f), S8_ZERO(0), SCALE(0.5f), S8_ZERO(3)),
    TWO("QLinearMul", 0.08f),
    ROW("QLinearMul", "halfway", INTS_OF(LEATI_REF_UINT8, DIMS(2, 8), BYTES(0), BYTES(120)), SCALE(0.5f), U8_ZERO(4),
        INTS_OF(LEATI_REF_UINT8, NO_DIMS, 5), SCALE(2), U8_ZERO(4), SCALE(2), U8_ZERO(7)),
    ONE("QLinearLeakyRelu", ALPHA, 0.03f),
    WITH("QLinearLeakyRelu", "default_alpha", NO_ATTRIBUTES, S8(9, 20), SCALE(2), S8_ZERO(100), SCALE(0.02f),
         S8_ZERO(50)),
    ONE("QLinearSigmoid", NONE, 0.00392156886f),
    {.name = "QLinearConcat",
     .label = "uint8",
     .since_version = 1,
     .domain = LEAT_MICROSOFT,
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .attributes = ATTRIBUTES(A_INT("axis", 1)),
     .inputs = {SCALE(0.03f), U8_ZERO(121), U8(2, 4, 5), SCALE(0.02f), U8_ZERO(130), U8(2, 7, 5), SCALE(0.04f),
                U8_ZERO(9), U8(2, 1, 5), SCALE(0.03f), U8_ZERO(121)}},
    CONCAT("int8", -1, SCALES(0.03f), INTS_OF(LEATI_REF_INT8, DIMS(1), -128), S8(3, 17), SCALE(0.05f), S8_ZERO(127),
           S8(3, 8), SCALES(0.01f), ABSENT),
    CONCAT("first_axis", 0, SCALE(0.03f), U8_ZERO(0), U8(4, 12), SCALE(0.02f), U8_ZERO(0), U8(8, 12), SCALE(0.04f),
           U8_ZERO(255)),
    CONCAT("of_one", 0, SCALE(0.03f), U8_ZERO(5), U8(33), SCALE(0.02f), U8_ZERO(99)),
    /* A byte comes back as it was where scale and zero point are the same. */
    CONCAT("same_scale", 0, SCALE(0.3f), U8_ZERO(77), U8(256), SCALE(0.3f), U8_ZERO(77)),
    CONCAT("halfway", 0, SCALE(0.5f), S8_ZERO(3), S8(256), SCALE(0.25f), S8_ZERO(0)),
    CONCAT("one_empty", 1, SCALE(0.03f), U8_ZERO(5), U8(3, 0), SCALE(0.02f), U8_ZERO(99), U8(3, 4), SCALE(0.05f),
           U8_ZERO(3)),
    CONCAT("empty", 1, SCALE(0.03f), U8_ZERO(5), U8(0, 2), SCALE(0.02f), U8_ZERO(99), U8(0, 4), SCALE(0.05f),
           U8_ZERO(3)),

    VIEWS_ROW("QLinearWhere", "uint8", ALL_VIEWS, THREADS_8, BOOLS(3, 5, 7), U8(3, 5, 7), SCALE(0.02f), U8_ZERO(121),
              U8(3, 5, 7), SCALE(0.035f), U8_ZERO(130), SCALE(0.03f), U8_ZERO(119)),
    VIEWS_ROW("QLinearWhere", "int8", VIEWS, 0, BOOLS(5, 1), S8(3, 1, 7), SCALES(0.02f), S8_ZERO(-7), S8(7),
              SCALES(0.02f), S8_ZERO(-7), SCALES(0.02f), S8_ZERO(-7)),
    ROW("QLinearWhere", "scalars", BOOLS(4, 6), INTS_OF(LEATI_REF_UINT8, NO_DIMS, 200), SCALE(0.02f), ABSENT,
        INTS_OF(LEATI_REF_UINT8, NO_DIMS, 7), SCALE(0.3f), U8_ZERO(9), SCALE(0.01f), U8_ZERO(0)),
    ROW("QLinearWhere", "empty", BOOLS(0, 6), U8(6), SCALE(0.02f), U8_ZERO(1), U8(6), SCALE(0.3f), U8_ZERO(9),
        SCALE(0.01f), U8_ZERO(0)),

    {.name = "QLinearAveragePool",
     .label = "uint8",
     .since_version = 1,
     .domain = LEAT_MICROSOFT,
     .variants = ALL_VIEWS,
     .threads = THREADS_8,
     .attributes = ATTRIBUTES(A_INTS("kernel_shape", 3, 3), A_INTS("strides", 2, 2), A_INTS("pads", 1, 1, 1, 1)),
     .inputs = {U8(2, 3, 9, 11), SCALE(0.04f), U8_ZERO(121), SCALE(0.03f), U8_ZERO(100)}},
    WITH("QLinearAveragePool", "int8",
         ATTRIBUTES(A_INTS("kernel_shape", 2, 3), A_INT("count_include_pad", 1), A_INTS("pads", 0, 1, 1, 1)),
         S8(1, 8, 7, 6), SCALES(0.04f), ABSENT, SCALES(0.02f)),
    WITH("QLinearAveragePool", "one_dimension",
         ATTRIBUTES(A_INTS("kernel_shape", 4), A_INT("ceil_mode", 1), A_INTS("strides", 3)), U8(2, 3, 21), SCALE(0.04f),
         U8_ZERO(128), SCALE(0.04f), U8_ZERO(128)),
    WITH("QLinearAveragePool", "volume",
         ATTRIBUTES(A_INTS("kernel_shape", 2, 2, 2), A_STRING("auto_pad", "SAME_UPPER")), S8(1, 2, 4, 5, 6),
         SCALE(0.04f), S8_ZERO(-128), SCALE(0.03f), S8_ZERO(-128)),
    WITH("QLinearAveragePool", "empty", ATTRIBUTES(A_INTS("kernel_shape", 2, 2)), U8(0, 3, 4, 5), SCALE(0.04f),
         U8_ZERO(1), SCALE(0.03f), U8_ZERO(1)),
    {.name = "QLinearAveragePool",
     .label = "channels_last",
     .since_version = 1,
     .domain = LEAT_MICROSOFT,
     .variants = ALL_VIEWS,
     .threads = THREADS_8,
     .attributes = ATTRIBUTES(LAST, A_INTS("kernel_shape", 3, 3), A_INTS("strides", 2, 2), A_INTS("pads", 1, 1, 1, 1)),
     .inputs = {U8(2, 9, 11, 8), SCALE(0.04f), U8_ZERO(121), SCALE(0.03f), U8_ZERO(100)}},
    WITH("QLinearAveragePool", "channels_last_int8",
         ATTRIBUTES(LAST, A_INTS("kernel_shape", 2, 3), A_INT("count_include_pad", 1), A_INTS("pads", 0, 1, 1, 1)),
         S8(1, 7, 6, 5), SCALES(0.04f), ABSENT, SCALES(0.02f)),
    WITH("QLinearAveragePool", "channels_last_line", ATTRIBUTES(LAST, A_INTS("kernel_shape", 3)), U8(2, 21, 3),
         SCALE(0.04f), U8_ZERO(128), SCALE(0.04f), U8_ZERO(128)),
    WITH("QLinearAveragePool", "channels_last_one_pixel", ATTRIBUTES(LAST, A_INTS("kernel_shape", 4, 5)),
         U8(2, 4, 5, 6), SCALE(0.04f), U8_ZERO(128), SCALE(0.04f), U8_ZERO(128)),
    WITH("QLinearAveragePool", "channels_last_empty", ATTRIBUTES(LAST, A_INTS("kernel_shape", 2, 2)), U8(1, 4, 5, 0),
         SCALE(0.04f), U8_ZERO(1), SCALE(0.03f), U8_ZERO(1)),
    {.name = "QLinearGlobalAveragePool",
     .label = "channels_last",
     .since_version = 1,
     .domain = LEAT_MICROSOFT,
     .variants = ALL_VIEWS,
     .threads = THREADS_8,
     .attributes = ATTRIBUTES(LAST),
     .inputs = {U8(2, 7, 9, 5), SCALE(0.04f), U8_ZERO(121), SCALE(0.01f), U8_ZERO(100)}},
    WITH("QLinearGlobalAveragePool", "channels_last_line", ATTRIBUTES(LAST), S8(2, 14, 8), SCALES(0.04f), S8_ZERO(-128),
         SCALES(0.02f), S8_ZERO(-128)),
    WITH("QLinearGlobalAveragePool", "channels_first", ATTRIBUTES(A_INT("channels_last", 0)), U8(2, 3, 4, 5),
         SCALE(0.04f), ABSENT, SCALE(0.04f), ABSENT),
    VIEWS_ROW("QLinearGlobalAveragePool", "uint8", ALL_VIEWS, THREADS_8, U8(2, 5, 7, 9), SCALE(0.04f), U8_ZERO(121),
              SCALE(0.01f), U8_ZERO(100)),
    ROW("QLinearGlobalAveragePool", "int8", S8(1, 8, 14), SCALES(0.04f), S8_ZERO(-128), SCALES(0.02f), S8_ZERO(-128)),
    ROW("QLinearGlobalAveragePool", "volume", U8(2, 3, 4, 5, 6), SCALE(0.04f), ABSENT, SCALE(0.04f), ABSENT),
    ROW("QLinearGlobalAveragePool", "large", U8(1, 3, 112, 113), SCALE(0.04f), U8_ZERO(100), SCALE(0.002f), U8_ZERO(0)),
    ROW("QLinearGlobalAveragePool", "empty", U8(0, 3, 4, 5), SCALE(0.04f), U8_ZERO(1), SCALE(0.03f), U8_ZERO(1)),
    {.name = "QLinearSoftmax",
     .label = "uint8",
     .since_version = 1,
     .domain = LEAT_MICROSOFT,
     .variants = ALL_VIEWS,
     .threads = THREADS_8,
     .attributes = ATTRIBUTES(A_INT("opset", 13)),
     .inputs = {U8(3, 5, 36), SCALE(0.04f), U8_ZERO(121), SCALE(0.00390625f), U8_ZERO(0)}},
    SOFTMAX("int8", 1, S8(3, 17, 4), SCALES(0.05f), S8_ZERO(3), SCALES(0.00390625f), S8_ZERO(-128)),
    SOFTMAX("first_axis", -2, U8(9, 5), SCALE(0.1f), ABSENT, SCALE(0.01f), U8_ZERO(7)),
    SOFTMAX("long", -1, S8(2, 1500), SCALE(0.05f), S8_ZERO(0), SCALE(0.0001f), S8_ZERO(-128)),
    SOFTMAX("empty", 0, U8(0, 3), SCALE(0.1f), ABSENT, SCALE(0.01f), U8_ZERO(7)),
};

void leati_rows_qlinear(leat_case_list *list) {
  leati_op_cases_add(list, specs, G_N_ELEMENTS(specs));
}
