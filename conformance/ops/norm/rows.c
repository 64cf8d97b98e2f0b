/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of normalisations. */
#include <math.h>

#include "cases/sources.h"
#include "ops/core/op_engine.h"

/* Operators that ONNX's specification does not have. ONNX Runtime keeps one of them in the domain of ONNX. */
#define OWN(set, op, named, wanted, left_out, attributes_given, ...)                                        \
  {                                                                                                         \
    .name = op, .label = named, .since_version = 1, .domain = set, .outputs = wanted, .unwanted = left_out, \
    .attributes = attributes_given, .inputs = {                                                             \
      __VA_ARGS__                                                                                           \
    }                                                                                                       \
  }
/* The usual epsilon of the operators with a skip input, in whose default of 1e-12 the variance of equal elements shows.
 */
#define EPSILON A_FLOAT("epsilon", 1e-5f)
#define MEAN_AND_DEVIATION (1u << 1 | 1u << 2)

/* Lines of lengths around which a backend may change how it shares them out, from aligned addresses and from others. */
#define LENGTHS(ROW)                                                                                                  \
  ROW(1), ROW(3), ROW(4), ROW(5), ROW(8), ROW(31), ROW(32), ROW(33), ROW(36), ROW(127), ROW(128), ROW(129), ROW(384), \
      ROW(512), ROW(516), ROW(1024), ROW(1025), ROW(1028), ROW(2048), ROW(4096), ROW(4097), ROW(4100), ROW(8192),     \
      ROW(8193), ROW(8196)
#define LINE_OF(op, set, version, length, attributes_given, ...)                                               \
  {                                                                                                            \
    .name = op, .label = "line_of_" #length, .since_version = version, .domain = set, .variants = VIEW_OFFSET, \
    .attributes = attributes_given, .inputs = {                                                                \
      F32(3, length),                                                                                          \
      __VA_ARGS__                                                                                              \
    }                                                                                                          \
  }
#define SOFTMAX_OF(length) LINE_OF("Softmax", NULL, 13, length, NO_ATTRIBUTES, NO_MORE)
#define LOG_SOFTMAX_OF(length) LINE_OF("LogSoftmax", NULL, 13, length, NO_ATTRIBUTES, NO_MORE)
#define LAYER_NORM_OF(length) \
  LINE_OF("LayerNormalization", NULL, 17, length, ATTRIBUTES(EPSILON), F32(length), F32(length))
#define RMS_NORM_OF(length) LINE_OF("RMSNormalization", NULL, 23, length, ATTRIBUTES(EPSILON), F32(length))
#define SKIP_NORM_OF(length)                                                                                     \
  LINE_OF("SkipLayerNormalization", LEAT_MICROSOFT, 1, length, ATTRIBUTES(EPSILON), F32(3, length), F32(length), \
          F32(length), F32(length))

/* A type of 16 bits: lines of whole quads and others, from aligned addresses and others, and all outputs. */
#define HALVES(type_label, t)                                                                                          \
  {.name = "Softmax",                                                                                                  \
   .label = type_label,                                                                                                \
   .since_version = 13,                                                                                                \
   .variants = VIEW_SLICED | VIEW_OFFSET,                                                                              \
   .threads = THREADS_16,                                                                                              \
   .inputs = {RANGE_OF(t, -8, 8, 5, 3, 36)}},                                                                          \
      CASE("Softmax", "long_" type_label, 13, NO_ATTRIBUTES, RANGE_OF(t, -8, 8, 2, 8193)),                             \
      CASE("LogSoftmax", type_label, 13, ATTRIBUTES(A_INT("axis", 1)), RANGE_OF(t, -8, 8, 5, 7, 3)),                   \
      {.name = "LayerNormalization",                                                                                   \
       .label = type_label,                                                                                            \
       .since_version = 17,                                                                                            \
       .outputs = 3,                                                                                                   \
       .variants = VIEW_SLICED | VIEW_OFFSET,                                                                          \
       .attributes = {EPSILON},                                                                                        \
       .inputs = {RANGE_OF(t, -2, 2, 5, 36), RANGE_OF(t, -2, 2, 36), RANGE_OF(t, -2, 2, 36)}},                         \
      CASE("RMSNormalization", type_label, 23, ATTRIBUTES(EPSILON), RANGE_OF(t, -2, 2, 5, 33),                         \
           RANGE_OF(t, -2, 2, 33)),                                                                                    \
      OWN(NULL, "SimplifiedLayerNormalization", type_label, 2, 0, ATTRIBUTES(EPSILON), RANGE_OF(t, -2, 2, 5, 33),      \
          RANGE_OF(t, -2, 2, 33)),                                                                                     \
      OWN(LEAT_MICROSOFT, "SkipLayerNormalization", type_label, 4, MEAN_AND_DEVIATION, ATTRIBUTES(EPSILON),            \
          RANGE_OF(t, -2, 2, 2, 3, 36), RANGE_OF(t, -2, 2, 2, 3, 36), RANGE_OF(t, -2, 2, 36), RANGE_OF(t, -2, 2, 36),  \
          RANGE_OF(t, -2, 2, 36)),                                                                                     \
      OWN(LEAT_MICROSOFT, "SkipSimplifiedLayerNormalization", type_label, 4, MEAN_AND_DEVIATION, ATTRIBUTES(EPSILON),  \
          RANGE_OF(t, -2, 2, 2, 3, 33), RANGE_OF(t, -2, 2, 2, 3, 33), RANGE_OF(t, -2, 2, 33)),                         \
      CASE("InstanceNormalization", type_label, 22, NO_ATTRIBUTES, RANGE_OF(t, -2, 2, 2, 3, 5, 7),                     \
           RANGE_OF(t, -2, 2, 3), RANGE_OF(t, -2, 2, 3)),                                                              \
      CASE("GroupNormalization", type_label, 21, ATTRIBUTES(A_INT("num_groups", 2)), RANGE_OF(t, -2, 2, 2, 6, 4, 4),   \
           RANGE_OF(t, -2, 2, 6), RANGE_OF(t, -2, 2, 6)),                                                              \
      CASE("BatchNormalization", type_label, 15, NO_ATTRIBUTES, RANGE_OF(t, -2, 2, 2, 3, 5, 7), RANGE_OF(t, -2, 2, 3), \
           RANGE_OF(t, -2, 2, 3), RANGE_OF(t, -2, 2, 3), RANGE_OF(t, 0.5, 2, 3))

#define GATED(named, views, used_threads, attributes_given, ...)                                             \
  {                                                                                                          \
    .name = "GatedRMSNorm", .label = named, .since_version = 1, .domain = LEAT_MICROSOFT, .variants = views, \
    .threads = used_threads, .attributes = attributes_given, .inputs = {                                     \
      __VA_ARGS__                                                                                            \
    }                                                                                                        \
  }
#define GATED_TYPE(type_label, t, views)                                                                    \
  GATED(type_label, views, THREADS_16, NO_ATTRIBUTES, RANGE_OF(t, -2, 2, 3, 2, 36), RANGE_OF(t, -2, 2, 12), \
        RANGE_OF(t, -6, 6, 3, 2, 36))
#define P(n) A_INT("p", n)
#define AXIS(n) A_INT("axis", n)
#define LP_NORM_OF(length) LINE_OF("LpNormalization", NULL, 22, length, NO_ATTRIBUTES, NO_MORE)
#define LP_TYPE(type_label, t, views)                                                                     \
  VIEWED("LpNormalization", type_label, 22, views, THREADS_16, NO_ATTRIBUTES, RANGE_OF(t, -2, 2, 5, 36)), \
      CASE("LpNormalization", "sums_" type_label, 22, ATTRIBUTES(P(1), AXIS(0)), RANGE_OF(t, -2, 2, 5, 7))

static const leati_op_spec specs[] = {
    GATED_TYPE("float32", LEATI_REF_FLOAT32, ALL_VIEWS),
    GATED_TYPE("float16", LEATI_REF_FLOAT16, VIEW_SLICED | VIEW_OFFSET),
    GATED_TYPE("bfloat16", LEATI_REF_BFLOAT16, VIEW_SLICED),
    GATED("sigmoid", 0, 0, ATTRIBUTES(A_STRING("activation", "sigmoid"), A_FLOAT("epsilon", 0.5f)), F32(7, 33), F32(33),
          F32(7, 33)),
    GATED("swish", 0, 0, ATTRIBUTES(A_STRING("activation", "swish")), F32(33), F32(11), F32(33)),
    GATED("long", 0, 0, NO_ATTRIBUTES, F32(2, 4100), F32(4100), F32(2, 4100)),
    GATED("gates_of_all_kinds", 0, 0, NO_ATTRIBUTES, F32(5, 8), F32(8), F32_RANGE(-120, 120, 5, 8)),
    GATED("nothing", 0, 0, NO_ATTRIBUTES, F32(0, 8), F32(4), F32(0, 8)),
    LP_TYPE("float32", LEATI_REF_FLOAT32, ALL_VIEWS | VIEW_IN_PLACE),
    LP_TYPE("float16", LEATI_REF_FLOAT16, VIEW_SLICED | VIEW_OFFSET),
    LP_TYPE("bfloat16", LEATI_REF_BFLOAT16, VIEW_SLICED),
    LENGTHS(LP_NORM_OF),
    CASE("LpNormalization", "middle_axis", 1, ATTRIBUTES(AXIS(1)), F32(3, 33, 7)),
    CASE("LpNormalization", "first_axis_long", 22, ATTRIBUTES(P(1), AXIS(-2)), F32(8193, 3)),
    CASE("LpNormalization", "zeros", 22, NO_ATTRIBUTES, F32_IS(DIMS(3, 2), 0, -0.0f, 3, 4, 0, -2)),
    CASE("LpNormalization", "special", 22, NO_ATTRIBUTES, F32_SPECIAL(1, 16, 2)),
    CASE("LpNormalization", "special_sums", 22, ATTRIBUTES(P(1)), F32_SPECIAL(1, 16, 2)),
    PLAIN("LpNormalization", "nothing", 22, F32(3, 0)),
    HALVES("float16", LEATI_REF_FLOAT16),
    HALVES("bfloat16", LEATI_REF_BFLOAT16),
    LENGTHS(SOFTMAX_OF),
    LENGTHS(LOG_SOFTMAX_OF),
    LENGTHS(LAYER_NORM_OF),
    LENGTHS(RMS_NORM_OF),
    LENGTHS(SKIP_NORM_OF),
    CASE("Softmax", "many_lines", 13, NO_ATTRIBUTES, F32(1031, 64)),
    CASE("LayerNormalization", "many_lines", 17, NO_ATTRIBUTES, F32(1031, 36), F32(36), F32(36)),
    CASE("InstanceNormalization", "whole_fours", 22, NO_ATTRIBUTES, F32(2, 3, 8, 12), F32(3), F32(3)),
    CASE("GroupNormalization", "whole_fours", 21, ATTRIBUTES(A_INT("num_groups", 2)), F32(2, 6, 4, 4), F32(6), F32(6)),
    {.name = "Softmax",
     .label = "float32",
     .since_version = 13,
     .variants = ALL_VIEWS,
     .threads = THREADS_ALL,
     .inputs = {F32(3, 5, 65)}},
    {.name = "Softmax",
     .label = "middle_axis",
     .since_version = 13,
     .variants = VIEW_TRANSPOSED,
     .attributes = {A_INT("axis", 1)},
     .inputs = {F32(3, 33, 7)}},
    {.name = "Softmax",
     .label = "first_axis",
     .since_version = 13,
     .attributes = {A_INT("axis", -2)},
     .inputs = {F32(9, 33)}},
    {.name = "Softmax", .label = "long", .since_version = 13, .inputs = {F32(3, 4099)}},
    {.name = "Softmax", .label = "one_element", .since_version = 13, .inputs = {F32(5, 1)}},
    {.name = "Softmax", .label = "vector", .since_version = 13, .inputs = {F32(17)}},
    {.name = "Softmax", .label = "wide_range", .since_version = 13, .inputs = {F32_RANGE(-300, 300, 5, 33)}},
    {.name = "Softmax",
     .label = "masked",
     .since_version = 13,
     .inputs = {F32_IS(DIMS(3, 4), -INFINITY, 1, 2, -INFINITY, 0, -INFINITY, -INFINITY, -INFINITY, 1e30f, 1, -1e30f,
                       2)}},
    {.name = "Softmax",
     .label = "special",
     .since_version = 13,
     .inputs = {F32_IS(DIMS(3, 4), -INFINITY, -INFINITY, -INFINITY, -INFINITY, 0, NAN, 1, 2, INFINITY, 1, 2, 3)}},
    {.name = "Softmax", .label = "empty", .since_version = 13, .inputs = {F32(0, 5)}},
    {.name = "Softmax", .label = "of_nothing", .since_version = 13, .inputs = {F32(5, 0)}},
    {.name = "Softmax",
     .label = "rank8",
     .since_version = 13,
     .attributes = {A_INT("axis", 3)},
     .inputs = {F32(2, 1, 2, 5, 1, 2, 1, 3)}},

    VIEWED("Hardmax", "float32", 13, ALL_VIEWS, THREADS_8 | THREADS_16, ATTRIBUTES(A_INT("axis", 1)), F32(5, 9, 7)),
    CASE("Hardmax", "float16", 13, NO_ATTRIBUTES, RANGE_OF(LEATI_REF_FLOAT16, -8, 8, 5, 17)),
    CASE("Hardmax", "bfloat16", 13, NO_ATTRIBUTES, RANGE_OF(LEATI_REF_BFLOAT16, -8, 8, 5, 17)),
    CASE("Hardmax", "long", 13, NO_ATTRIBUTES, F32(3, 4099)),
    CASE("Hardmax", "equal", 13, NO_ATTRIBUTES, F32_RANGE(1, 1, 3, 200)),
    CASE("Hardmax", "zeros_of_both_signs", 13, NO_ATTRIBUTES, F32_IS(DIMS(2, 3), -1, -0.0f, 0, 0, -0.0f, -3)),
    CASE("Hardmax", "special", 13, NO_ATTRIBUTES,
         F32_IS(DIMS(4, 4), NAN, 1, 3, 2, NAN, NAN, NAN, NAN, -INFINITY, -INFINITY, -INFINITY, -INFINITY, 5, INFINITY,
                NAN, INFINITY)),
    CASE("Hardmax", "rows_of_11", 11, NO_ATTRIBUTES, F32(3, 5, 13)),
    CASE("Hardmax", "rows_of_1", 1, ATTRIBUTES(A_INT("axis", 2)), F32(2, 3, 5, 7)),
    CASE("Hardmax", "empty", 13, NO_ATTRIBUTES, F32(0, 5)),
    CASE("Hardmax", "of_nothing", 13, NO_ATTRIBUTES, F32(5, 0)),
    CASE("Hardmax", "rank8", 13, ATTRIBUTES(A_INT("axis", 3)), F32(2, 1, 2, 5, 1, 2, 1, 3)),

    {.name = "LogSoftmax",
     .label = "float32",
     .since_version = 13,
     .variants = ALL_VIEWS | VIEW_IN_PLACE,
     .threads = THREADS_8 | THREADS_16,
     .inputs = {F32(3, 5, 65)}},
    {.name = "LogSoftmax",
     .label = "middle_axis",
     .since_version = 13,
     .variants = VIEW_TRANSPOSED | VIEW_IN_PLACE,
     .attributes = {A_INT("axis", 1)},
     .inputs = {F32(3, 33, 7)}},
    CASE("LogSoftmax", "first_axis", 13, ATTRIBUTES(A_INT("axis", -2)), F32(9, 33)),
    CASE("LogSoftmax", "long", 13, NO_ATTRIBUTES, F32(3, 4099)),
    CASE("LogSoftmax", "one_element", 13, NO_ATTRIBUTES, F32(5, 1)),
    CASE("LogSoftmax", "vector", 13, NO_ATTRIBUTES, F32(17)),
    CASE("LogSoftmax", "wide_range", 13, NO_ATTRIBUTES, F32_RANGE(-300, 300, 5, 33)),
    CASE("LogSoftmax", "masked", 13, NO_ATTRIBUTES,
         F32_IS(DIMS(3, 4), -INFINITY, 1, 2, -INFINITY, 0, -INFINITY, -INFINITY, -INFINITY, 1e30f, 1, -1e30f, 2)),
    CASE("LogSoftmax", "special", 13, NO_ATTRIBUTES,
         F32_IS(DIMS(3, 4), -INFINITY, -INFINITY, -INFINITY, -INFINITY, 0, NAN, 1, 2, INFINITY, 1, 2, 3)),
    CASE("LogSoftmax", "empty", 13, NO_ATTRIBUTES, F32(0, 5)),
    CASE("LogSoftmax", "of_nothing", 13, NO_ATTRIBUTES, F32(5, 0)),
    CASE("LogSoftmax", "rank8", 13, ATTRIBUTES(A_INT("axis", 3)), F32(2, 1, 2, 5, 1, 2, 1, 3)),

    {.name = "LayerNormalization",
     .label = "float32",
     .since_version = 17,
     .variants = ALL_VIEWS,
     .threads = THREADS_ALL,
     .inputs = {F32(3, 5, 65), F32(65), F32(65)}},
    {.name = "LayerNormalization", .label = "no_bias", .since_version = 17, .inputs = {F32(4, 33), F32(33)}},
    {.name = "LayerNormalization",
     .label = "two_axes",
     .since_version = 17,
     .attributes = {A_INT("axis", -2), A_FLOAT("epsilon", 1e-3f)},
     .inputs = {F32(3, 5, 17), F32(5, 17), F32(5, 17)}},
    {.name = "LayerNormalization",
     .label = "axis_zero",
     .since_version = 17,
     .attributes = {A_INT("axis", 0)},
     .inputs = {F32(5, 17), F32(5, 17), F32(5, 17)}},
    {.name = "LayerNormalization",
     .label = "parameters_of_higher_rank",
     .since_version = 17,
     .variants = VIEW_SLICED | VIEW_DYNAMIC,
     .inputs = {F32(3, 5, 17), F32(1, 1, 17), F32(1, 17)}},
    {.name = "LayerNormalization",
     .label = "parameters_of_the_input",
     .since_version = 17,
     .variants = VIEW_SLICED | VIEW_BROADCAST,
     .threads = THREADS_8,
     .inputs = {F32(3, 5, 17), F32(3, 5, 17), F32(3, 5, 17)}},
    {.name = "LayerNormalization",
     .label = "parameters_that_broadcast",
     .since_version = 17,
     .inputs = {F32(3, 5, 17), F32(3, 1, 1), F32(5, 1)}},
    {.name = "LayerNormalization",
     .label = "parameters_that_broadcast_two_axes",
     .since_version = 17,
     .attributes = {A_INT("axis", 2)},
     .inputs = {F32(2, 3, 5, 17), F32(3, 1, 17), F32(2, 1, 5, 1)}},
    {.name = "LayerNormalization", .label = "scalar_scale", .since_version = 17, .inputs = {F32(4, 33), F32_SCALAR}},
    {.name = "LayerNormalization",
     .label = "long",
     .since_version = 17,
     .inputs = {F32(3, 2051), F32(2051), F32(2051)}},
    {.name = "LayerNormalization",
     .label = "offset_mean",
     .since_version = 17,
     .inputs = {F32_RANGE(3, 5, 5, 129), F32(129), F32(129)}},
    {.name = "LayerNormalization",
     .label = "constant_rows",
     .since_version = 17,
     .inputs = {F32_IS(DIMS(2, 4), 3, 3, 3, 3, 0, 0, 0, 0), F32(4), F32(4)}},
    {.name = "LayerNormalization",
     .label = "special",
     .since_version = 17,
     .inputs = {F32_IS(DIMS(3, 4), 1, NAN, 2, 3, 1, INFINITY, 2, 3, 1, 2, 3, 4), F32(4), F32(4)}},
    {.name = "LayerNormalization", .label = "empty", .since_version = 17, .inputs = {F32(0, 7), F32(7), F32(7)}},
    {.name = "LayerNormalization",
     .label = "of_nothing",
     .since_version = 17,
     .outputs = 3,
     .inputs = {F32(3, 0), F32(0), F32(0)}},
    {.name = "LayerNormalization",
     .label = "statistics",
     .since_version = 17,
     .outputs = 3,
     .inputs = {F32(3, 5, 33), F32(33), F32(33)}},

    {.name = "RMSNormalization",
     .label = "float32",
     .since_version = 23,
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .inputs = {F32(3, 5, 65), F32(65)}},
    CASE("RMSNormalization", "two_axes", 23, ATTRIBUTES(A_INT("axis", -2), A_FLOAT("epsilon", 1e-3f)), F32(3, 5, 17),
         F32(5, 17)),
    CASE("RMSNormalization", "axis_zero", 23, ATTRIBUTES(A_INT("axis", 0)), F32(5, 17), F32(5, 17)),
    CASE("RMSNormalization", "scale_that_broadcasts", 23, NO_ATTRIBUTES, F32(3, 5, 17), F32(3, 1, 1)),
    CASE("RMSNormalization", "scale_of_the_input", 23, NO_ATTRIBUTES, F32(3, 5, 17), F32(3, 5, 17)),
    CASE("RMSNormalization", "scalar_scale", 23, NO_ATTRIBUTES, F32(4, 33), F32_SCALAR),
    CASE("RMSNormalization", "long", 23, NO_ATTRIBUTES, F32(3, 2051), F32(2051)),
    CASE("RMSNormalization", "offset_mean", 23, NO_ATTRIBUTES, F32_RANGE(3, 5, 5, 129), F32(129)),
    CASE("RMSNormalization", "zero_rows", 23, NO_ATTRIBUTES, F32_IS(DIMS(2, 4), 0, 0, 0, 0, 3, 3, 3, 3), F32(4)),
    CASE("RMSNormalization", "special", 23, NO_ATTRIBUTES, F32_IS(DIMS(2, 4), 1, NAN, 2, 3, 1, 2, 3, 4), F32(4)),
    CASE("RMSNormalization", "vector", 23, NO_ATTRIBUTES, F32(33), F32(33)),
    CASE("RMSNormalization", "empty", 23, NO_ATTRIBUTES, F32(0, 7), F32(7)),
    CASE("RMSNormalization", "of_nothing", 23, NO_ATTRIBUTES, F32(3, 0), F32(0)),

    {.name = "SimplifiedLayerNormalization",
     .label = "float32",
     .since_version = 1,
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .inputs = {F32(3, 5, 65), F32(65)}},
    OWN("", "SimplifiedLayerNormalization", "statistics", 2, 0, NO_ATTRIBUTES, F32(3, 5, 33), F32(33)),
    OWN("", "SimplifiedLayerNormalization", "two_axes", 2, 0, ATTRIBUTES(A_INT("axis", -2), A_FLOAT("epsilon", 1e-3f)),
        F32(3, 5, 17), F32(5, 17)),
    OWN("", "SimplifiedLayerNormalization", "long", 1, 0, NO_ATTRIBUTES, F32(3, 2051), F32(2051)),
    OWN("", "SimplifiedLayerNormalization", "empty", 1, 0, NO_ATTRIBUTES, F32(0, 7), F32(7)),

    {.name = "SkipLayerNormalization",
     .label = "float32",
     .since_version = 1,
     .domain = LEAT_MICROSOFT,
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .attributes = {EPSILON},
     .inputs = {F32(3, 5, 65), F32(3, 5, 65), F32(65), F32(65), F32(65)}},
    OWN(LEAT_MICROSOFT, "SkipLayerNormalization", "no_bias", 1, 0, ATTRIBUTES(EPSILON), F32(3, 5, 17), F32(3, 5, 17),
        F32(17)),
    OWN(LEAT_MICROSOFT, "SkipLayerNormalization", "absent_beta", 1, 0, ATTRIBUTES(EPSILON), F32(3, 5, 17),
        F32(3, 5, 17), F32(17), ABSENT, F32(17)),
    OWN(LEAT_MICROSOFT, "SkipLayerNormalization", "default_epsilon", 1, 0, NO_ATTRIBUTES, F32(3, 5, 17), F32(3, 5, 17),
        F32(17), F32(17)),
    OWN(LEAT_MICROSOFT, "SkipLayerNormalization", "skip_of_one_image", 1, 0, ATTRIBUTES(EPSILON), F32(3, 5, 17),
        F32(1, 5, 17), F32(17), F32(17)),
    OWN(LEAT_MICROSOFT, "SkipLayerNormalization", "skip_of_lines", 1, 0, ATTRIBUTES(EPSILON), F32(3, 5, 17), F32(5, 17),
        F32(17), F32(17)),
    OWN(LEAT_MICROSOFT, "SkipLayerNormalization", "matrix", 1, 0, ATTRIBUTES(EPSILON), F32(5, 33), F32(5, 33), F32(33),
        F32(33), F32(33)),
    OWN(LEAT_MICROSOFT, "SkipLayerNormalization", "long", 1, 0, ATTRIBUTES(EPSILON), F32(1, 3, 2051), F32(1, 3, 2051),
        F32(2051), F32(2051)),
    OWN(LEAT_MICROSOFT, "SkipLayerNormalization", "sum", 4, MEAN_AND_DEVIATION, ATTRIBUTES(EPSILON), F32(3, 5, 33),
        F32(3, 5, 33), F32(33), F32(33), F32(33)),
    OWN(LEAT_MICROSOFT, "SkipLayerNormalization", "statistics", 4, 0, ATTRIBUTES(EPSILON), F32(3, 5, 33), F32(5, 33),
        F32(33), F32(33)),
    OWN(LEAT_MICROSOFT, "SkipLayerNormalization", "special", 4, MEAN_AND_DEVIATION, ATTRIBUTES(EPSILON),
        F32_IS(DIMS(2, 4), 1, NAN, 2, 3, 1, 2, 3, 4), F32(2, 4), F32(4)),
    OWN(LEAT_MICROSOFT, "SkipLayerNormalization", "empty", 4, MEAN_AND_DEVIATION, ATTRIBUTES(EPSILON), F32(0, 5, 7),
        F32(0, 5, 7), F32(7)),

    {.name = "SkipSimplifiedLayerNormalization",
     .label = "float32",
     .since_version = 1,
     .domain = LEAT_MICROSOFT,
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .attributes = {EPSILON},
     .inputs = {F32(3, 5, 65), F32(3, 5, 65), F32(65), F32(65)}},
    OWN(LEAT_MICROSOFT, "SkipSimplifiedLayerNormalization", "no_bias", 1, 0, ATTRIBUTES(EPSILON), F32(3, 5, 17),
        F32(3, 5, 17), F32(17)),
    OWN(LEAT_MICROSOFT, "SkipSimplifiedLayerNormalization", "default_epsilon", 1, 0, NO_ATTRIBUTES, F32(3, 5, 17),
        F32(3, 5, 17), F32(17)),
    OWN(LEAT_MICROSOFT, "SkipSimplifiedLayerNormalization", "skip_of_one_image", 1, 0, ATTRIBUTES(EPSILON),
        F32(3, 5, 17), F32(1, 5, 17), F32(17)),
    OWN(LEAT_MICROSOFT, "SkipSimplifiedLayerNormalization", "skip_of_lines", 1, 0, ATTRIBUTES(EPSILON), F32(3, 5, 17),
        F32(5, 17), F32(17)),
    OWN(LEAT_MICROSOFT, "SkipSimplifiedLayerNormalization", "matrix", 1, 0, ATTRIBUTES(EPSILON), F32(5, 33), F32(5, 33),
        F32(33), F32(33)),
    OWN(LEAT_MICROSOFT, "SkipSimplifiedLayerNormalization", "long", 1, 0, ATTRIBUTES(EPSILON), F32(1, 3, 2051),
        F32(1, 3, 2051), F32(2051)),
    OWN(LEAT_MICROSOFT, "SkipSimplifiedLayerNormalization", "sum", 4, MEAN_AND_DEVIATION, ATTRIBUTES(EPSILON),
        F32(3, 5, 33), F32(3, 5, 33), F32(33), F32(33)),
    OWN(LEAT_MICROSOFT, "SkipSimplifiedLayerNormalization", "special", 4, MEAN_AND_DEVIATION, ATTRIBUTES(EPSILON),
        F32_IS(DIMS(2, 4), 1, NAN, 2, 3, 1, 2, 3, 4), F32(2, 4), F32(4)),
    OWN(LEAT_MICROSOFT, "SkipSimplifiedLayerNormalization", "empty", 4, MEAN_AND_DEVIATION, ATTRIBUTES(EPSILON),
        F32(0, 5, 7), F32(0, 5, 7), F32(7)),

    {.name = "InstanceNormalization",
     .label = "float32",
     .since_version = 22,
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .inputs = {F32(2, 5, 7, 9), F32(5), F32(5)}},
    CASE("InstanceNormalization", "version6", 6, ATTRIBUTES(A_FLOAT("epsilon", 1e-3f)), F32(2, 3, 5, 5), F32(3),
         F32(3)),
    CASE("InstanceNormalization", "1d", 22, NO_ATTRIBUTES, F32(2, 5, 33), F32(5), F32(5)),
    CASE("InstanceNormalization", "3d", 22, NO_ATTRIBUTES, F32(2, 3, 4, 5, 3), F32(3), F32(3)),
    CASE("InstanceNormalization", "long", 22, NO_ATTRIBUTES, F32(1, 2, 53, 41), F32(2), F32(2)),
    CASE("InstanceNormalization", "one_pixel", 22, NO_ATTRIBUTES, F32(2, 5, 1, 1), F32(5), F32(5)),
    CASE("InstanceNormalization", "offset_mean", 22, NO_ATTRIBUTES, F32_RANGE(3, 5, 2, 3, 9, 9), F32(3), F32(3)),
    CASE("InstanceNormalization", "special", 22, NO_ATTRIBUTES,
         F32_IS(DIMS(1, 3, 4), 1, NAN, 2, 3, 1, INFINITY, 2, 3, 1, 2, 3, 4), F32(3), F32(3)),
    CASE("InstanceNormalization", "no_images", 22, NO_ATTRIBUTES, F32(0, 3, 5, 5), F32(3), F32(3)),
    CASE("InstanceNormalization", "no_pixels", 22, NO_ATTRIBUTES, F32(2, 3, 0, 5), F32(3), F32(3)),

    {.name = "GroupNormalization",
     .label = "float32",
     .since_version = 21,
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .attributes = {A_INT("num_groups", 2)},
     .inputs = {F32(2, 6, 7, 9), F32(6), F32(6)}},
    CASE("GroupNormalization", "version18", 18, ATTRIBUTES(A_INT("num_groups", 3), A_FLOAT("epsilon", 1e-3f)),
         F32(2, 6, 5, 5), F32(3), F32(3)),
    CASE("GroupNormalization", "one_group", 21, ATTRIBUTES(A_INT("num_groups", 1)), F32(2, 5, 7), F32(5), F32(5)),
    CASE("GroupNormalization", "as_many_groups", 21, ATTRIBUTES(A_INT("num_groups", 5)), F32(2, 5, 7, 3), F32(5),
         F32(5)),
    CASE("GroupNormalization", "3d", 21, ATTRIBUTES(A_INT("num_groups", 2)), F32(2, 4, 3, 5, 3), F32(4), F32(4)),
    CASE("GroupNormalization", "long", 21, ATTRIBUTES(A_INT("num_groups", 2)), F32(1, 4, 33, 35), F32(4), F32(4)),
    CASE("GroupNormalization", "offset_mean", 21, ATTRIBUTES(A_INT("num_groups", 2)), F32_RANGE(3, 5, 2, 4, 9, 9),
         F32(4), F32(4)),
    CASE("GroupNormalization", "special", 21, ATTRIBUTES(A_INT("num_groups", 2)),
         F32_IS(DIMS(1, 4, 2), 1, NAN, 2, 3, 1, 2, 3, 4), F32(4), F32(4)),
    CASE("GroupNormalization", "no_images", 21, ATTRIBUTES(A_INT("num_groups", 2)), F32(0, 4, 5, 5), F32(4), F32(4)),
    CASE("GroupNormalization", "no_pixels", 21, ATTRIBUTES(A_INT("num_groups", 2)), F32(2, 4, 0, 5), F32(4), F32(4)),

    {.name = "BatchNormalization",
     .label = "float32",
     .since_version = 15,
     .variants = VIEW_BROADCAST | VIEW_REVERSED,
     .threads = THREADS_8,
     .inputs = {F32(2, 7, 5, 9), F32(7), F32(7), F32(7), F32_RANGE(0.1, 3, 7)}},
    {.name = "BatchNormalization",
     .label = "version9",
     .since_version = 9,
     .attributes = {A_FLOAT("epsilon", 1e-3f)},
     .inputs = {F32(2, 7, 5, 9), F32(7), F32(7), F32(7), F32_RANGE(0.1, 3, 7)}},
    {.name = "BatchNormalization",
     .label = "version14",
     .since_version = 14,
     .inputs = {F32(2, 7, 11), F32(7), F32(7), F32(7), F32_RANGE(0.1, 3, 7)}},
    {.name = "BatchNormalization",
     .label = "rank2",
     .since_version = 15,
     .inputs = {F32(5, 7), F32(7), F32(7), F32(7), F32_RANGE(0.1, 3, 7)}},
    {.name = "BatchNormalization",
     .label = "special",
     .since_version = 15,
     .inputs = {F32_SPECIAL(1, 2, 4, 8), F32(4), F32(4), F32(4), F32_RANGE(0.1, 3, 4)}},
    {.name = "BatchNormalization",
     .label = "empty",
     .since_version = 15,
     .inputs = {F32(0, 7, 3), F32(7), F32(7), F32(7), F32_RANGE(0.1, 3, 7)}},

    {.name = "LRN",
     .label = "float32",
     .since_version = 13,
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .attributes = {A_INT("size", 5)},
     .inputs = {F32(2, 7, 5, 9)}},
    CASE("LRN", "version1", 1, ATTRIBUTES(A_INT("size", 3)), F32(2, 7, 5, 9)),
    CASE("LRN", "even", 13, ATTRIBUTES(A_INT("size", 4), A_FLOAT("alpha", 0.5f)), F32(2, 7, 5)),
    CASE("LRN", "own_channel", 13, ATTRIBUTES(A_INT("size", 1), A_FLOAT("beta", 0.5f)), F32(5, 7)),
    CASE("LRN", "all_channels", 13,
         ATTRIBUTES(A_INT("size", 1000001), A_FLOAT("alpha", 3e5f), A_FLOAT("bias", 2), A_FLOAT("beta", 1.5f)),
         F32(2, 9, 4)),
    CASE("LRN", "float16", 13, ATTRIBUTES(A_INT("size", 5), A_FLOAT("alpha", 1)),
         RANGE_OF(LEATI_REF_FLOAT16, -8, 8, 2, 7, 5)),
    CASE("LRN", "bfloat16", 13, ATTRIBUTES(A_INT("size", 5), A_FLOAT("alpha", 1)),
         RANGE_OF(LEATI_REF_BFLOAT16, -8, 8, 2, 7, 5)),
    CASE("LRN", "empty", 13, ATTRIBUTES(A_INT("size", 5)), F32(0, 7, 3)),
    CASE("LRN", "rank8", 13, ATTRIBUTES(A_INT("size", 3)), F32(2, 5, 1, 2, 1, 2, 1, 3)),
    /* Earlier versions: all dimensions from the axis on are one, from the second on by default. */
    VIEWED("Softmax", "rows_of_11", 11, ALL_VIEWS, THREADS_8, NO_ATTRIBUTES, F32(3, 5, 13)),
    CASE("Softmax", "whole_of_11", 11, ATTRIBUTES(A_INT("axis", 0)), F32(3, 5, 7)),
    CASE("Softmax", "last_axis_of_11", 11, ATTRIBUTES(A_INT("axis", -1)), F32(3, 5, 7)),
    CASE("Softmax", "rows_of_1", 1, ATTRIBUTES(A_INT("axis", 2)), F32(2, 3, 5, 7)),
    CASE("Softmax", "empty_of_11", 11, NO_ATTRIBUTES, F32(3, 0, 7)),
    CASE("LogSoftmax", "rows_of_11", 11, NO_ATTRIBUTES, F32(3, 5, 13)),
    CASE("LogSoftmax", "rows_of_1", 1, ATTRIBUTES(A_INT("axis", 2)), F32(2, 3, 5, 7)),
    CASE("LayerNormalization", "version_1", 1, ATTRIBUTES(A_INT("axis", -1)), F32(4, 33), F32(33), F32(33)),
    CASE("BatchNormalization", "version_7", 7, ATTRIBUTES(A_INT("spatial", 1)), F32(2, 3, 5, 7), F32(3), F32(3), F32(3),
         F32_RANGE(0.5, 2, 3)),
};

void leati_rows_norm(leat_case_list *list) {
  leati_op_cases_add(list, specs, G_N_ELEMENTS(specs));
}
