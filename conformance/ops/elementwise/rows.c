/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of the operators that work element by element. */
#include <math.h>

#include "cases/sources.h"
#include "ops/core/op_engine.h"

/* Floats in a range that suits the operator, and special numbers. */
#define UNARY(op, version, views, from, to)                                                                  \
  {.name = op,                                                                                               \
   .label = "float32",                                                                                       \
   .since_version = version,                                                                                 \
   .variants = views,                                                                                        \
   .threads = THREADS_8,                                                                                     \
   .inputs = {F32_RANGE(from, to, 7, 5, 9)}},                                                                \
  {                                                                                                          \
    .name = op, .label = "special", .since_version = version, .inputs = { F32_SPECIAL(1, 1, SPECIAL_COUNT) } \
  }

/* Shapes at the edges, for operators that all share what handles shapes. */
#define UNARY_SHAPES(op, version)                                                             \
  {.name = op, .label = "rank0", .since_version = version, .inputs = {F32_SCALAR}},           \
      {.name = op, .label = "empty", .since_version = version, .inputs = {F32(3, 0, 2)}},     \
      {.name = op, .label = "large", .since_version = version, .inputs = {F32(3, 41, 67)}}, { \
    .name = op, .label = "rank8", .since_version = version,                                   \
    .variants = VIEW_TRANSPOSED | VIEW_REVERSED | VIEW_BROADCAST, .inputs = {                 \
      F32(2, 1, 3, 2, 1, 2, 3, 2)                                                             \
    }                                                                                         \
  }

#define BINARY(op, version, views, a, b)                                                                           \
  {                                                                                                                \
    .name = op, .label = "float32", .since_version = version, .variants = views, .threads = THREADS_8, .inputs = { \
      a,                                                                                                           \
      b                                                                                                            \
    }                                                                                                              \
  }

/* Every special number with every other one. */
#define PAIRS(op, version)                                                \
  {                                                                       \
    .name = op, .label = "special", .since_version = version, .inputs = { \
      F32_SPECIAL(1, SPECIAL_COUNT, SPECIAL_COUNT),                       \
      F32_SPECIAL(SPECIAL_COUNT, SPECIAL_COUNT, SPECIAL_COUNT)            \
    }                                                                     \
  }

#define TYPED(op, version, type_label, a, b)                                      \
  {                                                                               \
    .name = op, .label = type_label, .since_version = version, .inputs = { a, b } \
  }

/* The rows below are of what ABI 1.0 does not demand. */
#define WITH(op, type_label, version, attribute, ...)                                                               \
  {                                                                                                                 \
    .name = op, .label = type_label, .since_version = version, .attributes = {attribute}, .inputs = { __VA_ARGS__ } \
  }

/* A function of one float. */
#define FUNCTION(op, version, from, to)       \
  {.name = op,                                \
   .label = "float32",                        \
   .since_version = version,                  \
   .variants = VIEW_SLICED | VIEW_OFFSET,     \
   .threads = THREADS_8 | THREADS_16,         \
   .inputs = {F32_RANGE(from, to, 7, 5, 9)}}, \
      PLAIN(op, "special", version, F32_SPECIAL(1, SPECIAL_COUNT))

/* Two operands in the types of 16 bits, the second one broadcast. */
#define HALF_PAIRS(op, version, from, to)                                          \
  PLAIN(op, "float16", version, MIXED(LEATI_REF_FLOAT16, from, to, 7, 5, 3),       \
        MIXED(LEATI_REF_FLOAT16, from, to, 5, 1)),                                 \
      PLAIN(op, "bfloat16", version, MIXED(LEATI_REF_BFLOAT16, from, to, 7, 5, 3), \
            MIXED(LEATI_REF_BFLOAT16, from, to, 5, 1))
#define HALF_VIEWED_PAIR(op, type_label, version, a, b)                                                               \
  {                                                                                                                   \
    .name = op, .label = type_label, .since_version = version, .variants = VIEW_SLICED | VIEW_OFFSET | VIEW_IN_PLACE, \
    .threads = THREADS_16, .inputs = {                                                                                \
      a,                                                                                                              \
      b                                                                                                               \
    }                                                                                                                 \
  }
/* A function of one float in the types of 16 bits: sixteen special numbers and more of others. */
#define HALVES(op, version, from, to)                                         \
  PLAIN(op, "float16", version, MIXED(LEATI_REF_FLOAT16, from, to, 7, 5, 3)), \
      PLAIN(op, "bfloat16", version, MIXED(LEATI_REF_BFLOAT16, from, to, 7, 5, 3))
#define HALVES_VIEWED(op, version, from, to)                                        \
  HALF_VIEWED(op, "float16", version, MIXED(LEATI_REF_FLOAT16, from, to, 7, 5, 3)), \
      HALF_VIEWED(op, "bfloat16", version, MIXED(LEATI_REF_BFLOAT16, from, to, 7, 5, 3))
#define HALF_VIEWED(op, type_label, version, input)                                                   \
  {                                                                                                   \
    .name = op, .label = type_label, .since_version = version, .variants = VIEW_SLICED | VIEW_OFFSET, \
    .threads = THREADS_16, .inputs = {                                                                \
      input                                                                                           \
    }                                                                                                 \
  }

/* Integers of each type, with the lowest, the highest and those around the sign bit among them. */
#define SOME_INT16(...) RANGE_OF(LEATI_REF_INT16, -32768, 32767, __VA_ARGS__)
#define SOME_INT8(...) RANGE_OF(LEATI_REF_INT8, -128, 127, __VA_ARGS__)
#define SOME_UINT64 INTS_OF(LEATI_REF_UINT64, DIMS(7, 1), -1, INT64_MIN, INT64_MAX, 0, 7, 4294967296, -4294967297)
#define SOME_UINT32 INTS_OF(LEATI_REF_UINT32, DIMS(6, 1), 4294967295, 2147483648, 2147483647, 0, 7, 65536)
#define SOME_UINT16(...) RANGE_OF(LEATI_REF_UINT16, 0, 65535, __VA_ARGS__)
#define INTEGERS(op, version)                                                                     \
  PLAIN(op, "int16", version, SOME_INT16(5, 7)), PLAIN(op, "int16_ends", version, I16_ENDS),      \
      PLAIN(op, "int8", version, SOME_INT8(9, 33)), PLAIN(op, "uint64", version, SOME_UINT64),    \
      PLAIN(op, "uint32", version, SOME_UINT32), PLAIN(op, "uint16", version, SOME_UINT16(5, 7)), \
      PLAIN(op, "uint8", version, U8_RANGE(0, 255, 9, 33))
#define I16_ENDS INTS_OF(LEATI_REF_INT16, DIMS(8), -32768, -32767, -1, 0, 1, 255, 256, 32767)

/* The same for two operands; no divisor is 0. */
#define INTEGER_PAIRS(op, version)                                                                                     \
  PLAIN(op, "int16", version, SOME_INT16(16, 8),                                                                       \
        INTS_OF(LEATI_REF_INT16, DIMS(8), -32768, -300, -1, 1, 2, 7, 1000, 32767)),                                    \
      PLAIN(op, "int8", version, SOME_INT8(16, 8), INTS_OF(LEATI_REF_INT8, DIMS(8), -128, -7, -1, 1, 2, 5, 100, 127)), \
      PLAIN(op, "uint64", version, SOME_UINT64,                                                                        \
            INTS_OF(LEATI_REF_UINT64, DIMS(8), -1, -2, 3, INT64_MIN, INT64_MAX, 5, 4294967295, 7)),                    \
      PLAIN(op, "uint32", version, SOME_UINT32,                                                                        \
            INTS_OF(LEATI_REF_UINT32, DIMS(7), 4294967295, 4294967294, 3, 2147483648, 2147483647, 5, 7)),              \
      PLAIN(op, "uint16", version, SOME_UINT16(16, 6),                                                                 \
            INTS_OF(LEATI_REF_UINT16, DIMS(6), 65535, 32768, 32767, 3, 1, 7)),                                         \
      PLAIN(op, "uint8", version, U8_RANGE(0, 255, 16, 6), INTS_OF(LEATI_REF_UINT8, DIMS(6), 255, 128, 127, 3, 1, 7))

/* Operators on bits of two operands. */
#define BITS(op)                                                    \
  {.name = op,                                                      \
   .label = "int64",                                                \
   .since_version = 18,                                             \
   .variants = VIEWS | VIEW_IN_PLACE,                               \
   .threads = THREADS_16,                                           \
   .inputs = {I64_RANGE(-99, 99, 5, 7), I64_RANGE(-99, 99, 5, 7)}}, \
      PLAIN(op, "int32", 18, I32_RANGE(-99, 99, 5, 7), I32_RANGE(-99, 99, 7)), INTEGER_PAIRS(op, 18)
/* Operators of domain leat. */
#define OURS(op, type_label, given, ...)                                                                    \
  {                                                                                                         \
    .name = op, .label = type_label, .since_version = 1, .domain = "leat", .attributes = given, .inputs = { \
      __VA_ARGS__                                                                                           \
    }                                                                                                       \
  }
#define SHIFTS(version, type_label, ...)                                        \
  {.name = "BitShift",                                                          \
   .label = "left_" type_label,                                                 \
   .since_version = version,                                                    \
   .attributes = {A_STRING("direction", "LEFT")},                               \
   .inputs = {__VA_ARGS__}},                                                    \
  {                                                                             \
    .name = "BitShift", .label = "right_" type_label, .since_version = version, \
    .attributes = {A_STRING("direction", "RIGHT")}, .inputs = {                 \
      __VA_ARGS__                                                               \
    }                                                                           \
  }

/* Limits of Clip for an integer type, with an input of which some are beyond each. */
#define LIMITS(type_label, t, input, low, high) \
  PLAIN("Clip", type_label, 13, input, INTS_OF(t, NO_DIMS, low), INTS_OF(t, NO_DIMS, high))

/* Clip in a type of 16 bits whose bounds are not both there, with infinities in its input. */
#define BOUND(t, from, to) \
  { .fill = LEATI_FILL_UNIFORM, .type = t, NO_DIMS, .low = from, .high = to }
#define CLIP_OPEN(type_label, t)                                                               \
  PLAIN("Clip", type_label "_no_limits", 13, MIXED(t, -10, 10, 7, 5, 3)),                      \
      PLAIN("Clip", type_label "_min_only", 13, MIXED(t, -10, 10, 7, 5, 3), BOUND(t, -3, -1)), \
      PLAIN("Clip", type_label "_max_only", 13, MIXED(t, -10, 10, 7, 5, 3), ABSENT, BOUND(t, 1, 3))

/* Elements of two other tensors of a type, which is only moved. */
#define WHERE_OF(named, t, most, views)                                                                      \
  {                                                                                                          \
    .name = "Where", .label = named, .since_version = 16, .variants = VIEW_SLICED | VIEW_OFFSET, .inputs = { \
      BOOLS(5, 7),                                                                                           \
      RANGE_OF(t, 0, 100, 5, 7),                                                                             \
      RANGE_OF(t, 0, 100, 7)                                                                                 \
    }                                                                                                        \
  }

/* Cast to a type from float32, and from it to float32. */
#define CAST_BOTH(type_label, number, input)                                                                       \
  WITH("Cast", "beyond_" type_label, 13, A_INT("to", number), BEYOND),                                             \
      WITH("Cast", "float32_to_" type_label, 13, A_INT("to", number), F32_RANGE(0, 100, 5, 7)), {                  \
    .name = "Cast", .label = type_label "_to_float32", .since_version = 13, .variants = VIEW_SLICED | VIEW_OFFSET, \
    .attributes = {A_INT("to", 1)}, .inputs = {                                                                    \
      input                                                                                                        \
    }                                                                                                              \
  }
/* CastLike from a type to float32 and back. */
#define CAST_LIKE(type_label, t)                                                                  \
  PLAIN("CastLike", "float32_to_" type_label, 19, F32_RANGE(0, 100, 5, 7), RANGE_OF(t, 0, 1, 1)), \
      PLAIN("CastLike", type_label "_to_float32", 19, RANGE_OF(t, 0, 1, 5, 7), F32(2, 2))

/* Numbers of all kinds through a function with a parameter. */
#define ALPHA(op, version, alpha_label, alpha)                                                                    \
  {                                                                                                               \
    .name = op, .label = "alpha_" alpha_label, .since_version = version, .attributes = {A_FLOAT("alpha", alpha)}, \
    .inputs = {                                                                                                   \
      F32_IS(DIMS(16), ALPHA_INPUTS)                                                                              \
    }                                                                                                             \
  }
#define ALPHA_INPUTS                                                                                                  \
  -INFINITY, -1e30f, -100.0f, -20.0f, -1.0f, -0.5f, -0.01f, -1e-6f, -0.0f, 0.0f, 1e-6f, 1.0f, 20.0f, 1e30f, INFINITY, \
      NAN

/* Floats that no integer type holds, and some that only the larger ones do. */
#define BEYOND                                                                                                      \
  F32_IS(DIMS(20), NAN, -NAN, INFINITY, -INFINITY, 3e9f, -3e9f, 300.0f, -300.0f, 1e19f, -1e19f, 2.9f, -2.9f, -0.9f, \
         2147483648.0f, -2147483648.0f, 4294967296.0f, 70000.0f, -70000.0f, 9223372036854775808.0f,                 \
         -9223372036854775808.0f)

/* Sums of a type of 16 bits: of two operands, and of more, of which some sums are too large for float16. */
#define HALF_SUMS(op, type_label, t)                                                                               \
  {.name = op,                                                                                                     \
   .label = type_label,                                                                                            \
   .since_version = 13,                                                                                            \
   .variants = VIEW_SLICED | VIEW_OFFSET,                                                                          \
   .threads = THREADS_16,                                                                                          \
   .inputs = {RANGE_OF(t, 30000, 40000, 5, 7, 9), RANGE_OF(t, 30000, 40000, 7, 1), RANGE_OF(t, -40000, -30000, 9), \
              RANGE_OF(t, -40000, -30000, 5, 1, 1)}},                                                              \
      PLAIN(op, "two_" type_label, 13, MIXED(t, -2, 2, 7, 5, 3), RANGE_OF(t, -2, 2, 5, 3)),                        \
      PLAIN(op, "one_" type_label, 13, RANGE_OF(t, -2, 2, 5, 7)),                                                  \
      PLAIN(op, "empty_" type_label, 13, RANGE_OF(t, -2, 2, 0, 7), RANGE_OF(t, -2, 2, 7), RANGE_OF(t, -2, 2, 1))

static const leati_op_spec specs[] = {
    /* One input. */
    UNARY("Neg", 13, ALL_VIEWS | VIEW_IN_PLACE, -10, 10),
    UNARY_SHAPES("Neg", 13),
    {.name = "Neg", .label = "int64", .since_version = 13, .inputs = {I64_RANGE(-99, 99, 5, 7)}},
    {.name = "Neg", .label = "int32", .since_version = 13, .inputs = {I32_RANGE(-99, 99, 5, 7)}},
    PLAIN("Neg", "int16", 13, I16_ENDS),
    PLAIN("Neg", "int8", 13, SOME_INT8(9, 33)),
    UNARY("Abs", 13, 0, -10, 10),
    {.name = "Abs", .label = "int64", .since_version = 13, .inputs = {I64_RANGE(-99, 99, 5, 7)}},
    {.name = "Abs", .label = "int32", .since_version = 13, .inputs = {I32_RANGE(-99, 99, 5, 7)}},
    INTEGERS("Abs", 13),
    FUNCTION("Sign", 13, -10, 10),
    PLAIN("Sign", "int64", 13, I64_IS(DIMS(6), INT64_MIN, -1, 0, 1, 4294967296, INT64_MAX)),
    PLAIN("Sign", "int32", 13, I32_RANGE(-2, 2, 5, 7)),
    INTEGERS("Sign", 9),
    UNARY("Sqrt", 13, 0, 0, 100),
    UNARY("Reciprocal", 13, 0, 0.1, 10),
    UNARY("Exp", 13, 0, -20, 20),
    {.name = "Exp",
     .label = "range_end",
     .since_version = 13,
     .inputs = {F32_IS(DIMS(8), -200.0f, -104.0f, -89.0f, -87.0f, 87.0f, 88.5f, 89.0f, 200.0f)}},
    UNARY("Log", 13, 0, 0.001, 1000),
    UNARY("Erf", 13, 0, -4, 4),
    UNARY("Tanh", 13, 0, -6, 6),
    {.name = "Tanh",
     .label = "range_end",
     .since_version = 13,
     .inputs = {F32_IS(DIMS(8), -500.0f, -100.0f, -89.0f, -44.5f, 44.5f, 89.0f, 100.0f, 500.0f)}},
    UNARY("Sigmoid", 13, VIEWS, -10, 10),
    UNARY_SHAPES("Sigmoid", 13),
    {.name = "Sigmoid",
     .label = "range_end",
     .since_version = 13,
     .threads = THREADS_ALL,
     .inputs = {F32_IS(DIMS(8), -500.0f, -100.0f, -89.0f, -87.0f, 87.0f, 89.0f, 100.0f, 500.0f)}},
    UNARY("Relu", 14, VIEW_IN_PLACE, -10, 10),
    {.name = "Relu", .label = "version13", .since_version = 13, .inputs = {F32(4, 33)}},
    {.name = "Relu", .label = "int32", .since_version = 14, .inputs = {I32_RANGE(-99, 99, 5, 7)}},
    PLAIN("Relu", "int64", 14, I64_IS(DIMS(6), INT64_MIN, -1, 0, 1, 4294967296, INT64_MAX)),
    PLAIN("Relu", "int16", 14, I16_ENDS),
    PLAIN("Relu", "int8", 14, SOME_INT8(9, 33)),
    UNARY("LeakyRelu", 16, 0, -10, 10),
    {.name = "LeakyRelu",
     .label = "alpha",
     .since_version = 6,
     .attributes = {A_FLOAT("alpha", 0.2f)},
     .inputs = {F32(5, 33)}},
    UNARY("HardSigmoid", 22, 0, -4, 4),
    {.name = "HardSigmoid",
     .label = "alpha_beta",
     .since_version = 6,
     .attributes = {A_FLOAT("alpha", 0.3f), A_FLOAT("beta", 0.4f)},
     .inputs = {F32(5, 33)}},
    {.name = "HardSigmoid",
     .label = "not_a_number",
     .since_version = 6,
     .attributes = {A_FLOAT("alpha", INFINITY)},
     .inputs = {F32_SPECIAL(1, SPECIAL_COUNT)}},
    {.name = "HardSigmoid",
     .label = "flat",
     .since_version = 6,
     .attributes = {A_FLOAT("alpha", 0.0f)},
     .inputs = {F32_SPECIAL(1, SPECIAL_COUNT)}},
    ALPHA("Elu", 6, "default", 1.0f),
    ALPHA("Elu", 22, "none", 0.0f),
    ALPHA("Elu", 6, "negative", -2.0f),
    ALPHA("Elu", 6, "large", 1e38f),
    ALPHA("Elu", 6, "infinite", INFINITY),
    ALPHA("Elu", 6, "nan", NAN),
    ALPHA("Celu", 12, "default", 1.0f),
    ALPHA("Celu", 12, "none", 0.0f),
    ALPHA("Celu", 12, "negative", -2.0f),
    ALPHA("Celu", 12, "small", 1e-30f),
    ALPHA("Celu", 12, "subnormal", 1e-42f),
    ALPHA("Celu", 12, "large", 1e38f),
    ALPHA("Celu", 12, "infinite", INFINITY),
    ALPHA("Celu", 12, "nan", NAN),
    FUNCTION("Selu", 22, -10, 10),
    {.name = "Selu",
     .label = "alpha_gamma",
     .since_version = 6,
     .attributes = {A_FLOAT("alpha", -2.0f), A_FLOAT("gamma", 0.5f)},
     .inputs = {F32(5, 33)}},
    FUNCTION("ThresholdedRelu", 22, -3, 3),
    WITH("ThresholdedRelu", "alpha", 10, A_FLOAT("alpha", -0.5f), F32_SPECIAL(1, SPECIAL_COUNT)),
    FUNCTION("Shrink", 9, -2, 2),
    {.name = "Shrink",
     .label = "lambd_bias",
     .since_version = 9,
     .attributes = {A_FLOAT("lambd", 1.5f), A_FLOAT("bias", 0.25f)},
     .inputs = {F32_SPECIAL(1, SPECIAL_COUNT)}},
    FUNCTION("Softplus", 22, -20, 20),
    PLAIN("Softplus", "range_end", 1, F32_IS(DIMS(8), -500.0f, -100.0f, -89.0f, -87.0f, 87.0f, 89.0f, 100.0f, 500.0f)),
#define UNARY_FUNCTION(name, version, low, high, value) FUNCTION(#name, version, low, high),
#include "ops/elementwise/functions.inc"
#undef UNARY_FUNCTION
    FUNCTION("Swish", 24, -10, 10),
    WITH("Swish", "alpha", 24, A_FLOAT("alpha", -2.5f), F32_SPECIAL(1, SPECIAL_COUNT)),
    {.name = "QuickGelu",
     .label = "float32",
     .since_version = 1,
     .domain = "com.microsoft",
     .variants = VIEW_SLICED | VIEW_OFFSET,
     .threads = THREADS_8 | THREADS_16,
     .inputs = {F32_RANGE(-10, 10, 7, 5, 9)}},
    {.name = "QuickGelu",
     .label = "alpha",
     .since_version = 1,
     .domain = "com.microsoft",
     .attributes = {A_FLOAT("alpha", 0.5f)},
     .inputs = {F32_SPECIAL(1, SPECIAL_COUNT)}},
    UNARY("HardSwish", 14, 0, -5, 5),
    UNARY("Gelu", 20, 0, -5, 5),
    {.name = "Gelu",
     .label = "tanh",
     .since_version = 20,
     .attributes = {A_STRING("approximate", "tanh")},
     .inputs = {F32_RANGE(-5, 5, 5, 33)}},
    {.name = "Gelu",
     .label = "microsoft",
     .since_version = 1,
     .domain = "com.microsoft",
     .variants = VIEW_SLICED | VIEW_OFFSET,
     .threads = THREADS_8 | THREADS_16,
     .inputs = {F32_RANGE(-5, 5, 7, 5, 9)}},
    {.name = "Gelu",
     .label = "microsoft_special",
     .since_version = 1,
     .domain = "com.microsoft",
     .inputs = {F32_SPECIAL(1, SPECIAL_COUNT)}},
    UNARY("Sin", 7, 0, -3.14, 3.14),
    {.name = "Sin", .label = "wide", .since_version = 22, .inputs = {F32_RANGE(-500, 500, 129)}},
    UNARY("Cos", 7, 0, -3.14, 3.14),
    {.name = "Cos", .label = "wide", .since_version = 22, .inputs = {F32_RANGE(-500, 500, 129)}},
    FUNCTION("Sinh", 22, -10, 10),
    PLAIN("Sinh", "range_end", 9, F32_IS(DIMS(8), -100.0f, -88.0f, -1e-6f, -0.49f, 0.49f, 0.51f, 88.0f, 100.0f)),
    FUNCTION("Cosh", 22, -10, 10),
    PLAIN("Cosh", "range_end", 9, F32_IS(DIMS(6), -100.0f, -88.0f, -1e-6f, 1e-6f, 88.0f, 100.0f)),
    FUNCTION("Asinh", 22, -100, 100),
    PLAIN("Asinh", "range_end", 9, F32_IS(DIMS(6), -3e38f, -1.1e9f, -0.9e9f, 0.9e9f, 1.1e9f, 3e38f)),
    FUNCTION("Acosh", 22, 1, 100),
    PLAIN("Acosh", "range_end", 9, F32_IS(DIMS(6), 0.999f, 1.0f, 1.0000001f, 0.9e9f, 1.1e9f, 3e38f)),
    FUNCTION("Atanh", 22, -0.99, 0.99),
    PLAIN("Atanh", "range_end", 9, F32_IS(DIMS(6), -0.9999999f, -1e-6f, 1e-6f, 0.9999999f, 1.0000001f, -1.0000001f)),
    UNARY("Floor", 13, 0, -10, 10),
    UNARY("Ceil", 13, 0, -10, 10),
    UNARY("Round", 11, 0, -10, 10),
    {.name = "Round",
     .label = "halves",
     .since_version = 22,
     .inputs = {F32_IS(DIMS(12), -3.5f, -2.5f, -1.5f, -0.5f, 0.5f, 1.5f, 2.5f, 3.5f, 0.49999997f, 8388609.0f, 1e10f,
                       -8388609.0f)}},
    {.name = "IsNaN",
     .label = "float32",
     .since_version = 20,
     .variants = VIEW_SLICED | VIEW_OFFSET | VIEW_TRANSPOSED,
     .threads = THREADS_8 | THREADS_16,
     .inputs = {F32_SPECIAL(1, 5, 7, 3)}},
    PLAIN("IsNaN", "version9", 9, F32_SPECIAL(1, 67)),
    {.name = "IsInf",
     .label = "float32",
     .since_version = 20,
     .variants = VIEW_SLICED | VIEW_OFFSET | VIEW_TRANSPOSED,
     .threads = THREADS_8 | THREADS_16,
     .inputs = {F32_SPECIAL(1, 5, 7, 3)}},
    WITH("IsInf", "positive", 10, A_INT("detect_negative", 0), F32_SPECIAL(1, 67)),
    WITH("IsInf", "negative", 10, A_INT("detect_positive", 0), F32_SPECIAL(1, 67)),
    /* The same in 16 bits. */
    HALVES_VIEWED("Neg", 13, -10, 10),
    HALVES("Abs", 13, -10, 10),
    HALVES("Sign", 13, -10, 10),
    HALVES("Sqrt", 13, 0, 100),
    HALVES("Reciprocal", 13, 0.1, 10),
    HALVES("Exp", 13, -20, 20),
    HALVES("Log", 13, 0.001, 1000),
    HALVES("Erf", 13, -4, 4),
    HALVES("Tanh", 13, -6, 6),
    HALVES_VIEWED("Sigmoid", 13, -10, 10),
    HALVES("Relu", 14, -10, 10),
    HALVES("LeakyRelu", 16, -10, 10),
    HALVES("HardSigmoid", 22, -4, 4),
    HALVES("Elu", 22, -10, 10),
    HALVES("Celu", 28, -10, 10),
    HALVES("Selu", 22, -10, 10),
    HALVES("ThresholdedRelu", 22, -3, 3),
    HALVES("Shrink", 9, -2, 2),
    HALVES("Softplus", 22, -20, 20),
#define UNARY_FUNCTION(name, version, low, high, value) HALVES(#name, version, low, high),
#include "ops/elementwise/functions.inc"
#undef UNARY_FUNCTION
    HALVES("Swish", 24, -10, 10),
    HALVES("HardSwish", 22, -5, 5),
    HALVES("Gelu", 20, -5, 5),
    HALVES_VIEWED("Sin", 22, -3.14, 3.14),
    HALVES("Cos", 22, -3.14, 3.14),
    HALVES("Sinh", 22, -10, 10),
    HALVES("Cosh", 22, -10, 10),
    HALVES("Asinh", 22, -100, 100),
    HALVES("Acosh", 22, 1, 100),
    HALVES("Atanh", 22, -0.99, 0.99),
    HALVES("Floor", 13, -10, 10),
    HALVES("Ceil", 13, -10, 10),
    HALVES("Round", 22, -10, 10),
    HALVES("IsNaN", 20, -10, 10),
    HALVES("IsInf", 20, -10, 10),
    HALF_VIEWED_PAIR("Add", "float16", 14, MIXED(LEATI_REF_FLOAT16, -10, 10, 7, 5, 3),
                     MIXED(LEATI_REF_FLOAT16, -10, 10, 5, 1)),
    HALF_VIEWED_PAIR("Add", "bfloat16", 14, MIXED(LEATI_REF_BFLOAT16, -10, 10, 7, 5, 3),
                     MIXED(LEATI_REF_BFLOAT16, -10, 10, 5, 1)),
    HALF_PAIRS("Sub", 14, -10, 10),
    HALF_PAIRS("Mul", 14, -10, 10),
    HALF_PAIRS("Div", 14, 0.1, 10),
    HALF_PAIRS("PRelu", 16, -10, 10),
    HALF_PAIRS("Min", 13, -10, 10),
    HALF_PAIRS("Max", 13, -10, 10),
    HALF_PAIRS("Equal", 13, -10, 10),
    HALF_PAIRS("Less", 13, -10, 10),
    HALF_PAIRS("Greater", 13, -10, 10),
    HALF_PAIRS("LessOrEqual", 16, -10, 10),
    HALF_PAIRS("GreaterOrEqual", 16, -10, 10),
    WITH("Mod", "float16", 13, A_INT("fmod", 1), RANGE_OF(LEATI_REF_FLOAT16, -10, 10, 5, 7, 9),
         RANGE_OF(LEATI_REF_FLOAT16, 0.5, 3, 7, 1)),
    PLAIN("Mod", "bfloat16", 28, RANGE_OF(LEATI_REF_BFLOAT16, -10, 10, 5, 7, 9),
          RANGE_OF(LEATI_REF_BFLOAT16, 0.5, 3, 7, 1)),
    PLAIN("Pow", "float16", 15, RANGE_OF(LEATI_REF_FLOAT16, 0.1, 10, 5, 7, 9),
          RANGE_OF(LEATI_REF_FLOAT16, -4, 4, 7, 1)),
    PLAIN("Pow", "bfloat16", 15, RANGE_OF(LEATI_REF_BFLOAT16, 0.1, 10, 5, 7, 9),
          RANGE_OF(LEATI_REF_BFLOAT16, -4, 4, 7, 1)),
    PLAIN("Clip", "float16", 13, MIXED(LEATI_REF_FLOAT16, -10, 10, 7, 5, 3), BOUND(LEATI_REF_FLOAT16, -3, -1),
          BOUND(LEATI_REF_FLOAT16, 1, 3)),
    PLAIN("Clip", "bfloat16", 13, MIXED(LEATI_REF_BFLOAT16, -10, 10, 7, 5, 3), BOUND(LEATI_REF_BFLOAT16, -3, -1)),
    CLIP_OPEN("float16", LEATI_REF_FLOAT16),
    CLIP_OPEN("bfloat16", LEATI_REF_BFLOAT16),
    {.name = "Gelu",
     .label = "microsoft_float16",
     .since_version = 1,
     .domain = "com.microsoft",
     .inputs = {MIXED(LEATI_REF_FLOAT16, -5, 5, 7, 5, 3)}},
    {.name = "Gelu",
     .label = "microsoft_bfloat16",
     .since_version = 1,
     .domain = "com.microsoft",
     .inputs = {MIXED(LEATI_REF_BFLOAT16, -5, 5, 7, 5, 3)}},
    {.name = "QuickGelu",
     .label = "float16",
     .since_version = 1,
     .domain = "com.microsoft",
     .inputs = {MIXED(LEATI_REF_FLOAT16, -5, 5, 7, 5, 3)}},
    {.name = "QuickGelu",
     .label = "bfloat16",
     .since_version = 1,
     .domain = "com.microsoft",
     .inputs = {MIXED(LEATI_REF_BFLOAT16, -5, 5, 7, 5, 3)}},
    {.name = "Not",
     .label = "bool",
     .since_version = 1,
     .variants = VIEW_SLICED | VIEW_OFFSET,
     .threads = THREADS_8,
     .inputs = {BOOLS(5, 3, 7)}},
    {.name = "Not", .label = "one", .since_version = 1, .inputs = {BOOLS(1)}},
    {.name = "Not", .label = "empty", .since_version = 1, .inputs = {BOOLS(0)}},

    /* Cast. */
    {.name = "Cast",
     .label = "float32_to_int64",
     .since_version = 13,
     .variants = ALL_VIEWS,
     .threads = THREADS_8,
     .attributes = {A_INT("to", 7)},
     .inputs = {F32_RANGE(-1000, 1000, 5, 7, 3)}},
    {.name = "Cast",
     .label = "int64_to_float32",
     .since_version = 19,
     .variants = VIEW_OFFSET,
     .attributes = {A_INT("to", 1)},
     .inputs = {I64_RANGE(-100000000, 100000000, 5, 7, 3)}},
    {.name = "Cast",
     .label = "float32_to_int32",
     .since_version = 13,
     .attributes = {A_INT("to", 6)},
     .inputs = {F32_IS(DIMS(9), -1.9f, -1.0f, -0.9f, 0.0f, 0.9f, 1.5f, 2147483520.0f, -2147483648.0f, 7e5f)}},
    {.name = "Cast",
     .label = "int32_to_float32",
     .since_version = 13,
     .attributes = {A_INT("to", 1)},
     .inputs = {I32_RANGE(-2000000000, 2000000000, 5, 7)}},
    {.name = "Cast",
     .label = "float32_to_bool",
     .since_version = 13,
     .attributes = {A_INT("to", 9)},
     .inputs = {F32_SPECIAL(1, 16)}},
    {.name = "Cast",
     .label = "bool_to_float32",
     .since_version = 13,
     .variants = VIEW_OFFSET,
     .attributes = {A_INT("to", 1)},
     .inputs = {BOOLS(5, 7)}},
    {.name = "Cast",
     .label = "int64_to_bool",
     .since_version = 13,
     .attributes = {A_INT("to", 9)},
     .inputs = {I64_IS(DIMS(6), 0, 1, 2, -1, 256, 4294967296)}},
    {.name = "Cast",
     .label = "bool_to_int64",
     .since_version = 25,
     .attributes = {A_INT("to", 7)},
     .inputs = {BOOLS(3, 1, 7)}},
    {.name = "Cast",
     .label = "int64_to_int32",
     .since_version = 13,
     .attributes = {A_INT("to", 6)},
     .inputs = {I64_IS(DIMS(2, 3), -5, 2147483647, -2147483648, 7, 4294967297, -4294967297)}},
    {.name = "Cast",
     .label = "int32_to_int64",
     .since_version = 21,
     .attributes = {A_INT("to", 7)},
     .inputs = {I32_RANGE(-2000000000, 2000000000, 11)}},
    {.name = "Cast",
     .label = "uint8_to_float32",
     .since_version = 13,
     .attributes = {A_INT("to", 1)},
     .inputs = {U8_RANGE(0, 255, 3, 65)}},
    {.name = "Cast",
     .label = "float32_to_uint8",
     .since_version = 13,
     .attributes = {A_INT("to", 2)},
     .inputs = {F32_RANGE(0, 255, 3, 65)}},
    {.name = "Cast", .label = "beyond_int64", .since_version = 13, .attributes = {A_INT("to", 7)}, .inputs = {BEYOND}},
    {.name = "Cast", .label = "beyond_int32", .since_version = 13, .attributes = {A_INT("to", 6)}, .inputs = {BEYOND}},
    {.name = "Cast", .label = "beyond_uint8", .since_version = 13, .attributes = {A_INT("to", 2)}, .inputs = {BEYOND}},
    {.name = "Cast", .label = "beyond_bool", .since_version = 13, .attributes = {A_INT("to", 9)}, .inputs = {BEYOND}},
    {.name = "Cast",
     .label = "same_type",
     .since_version = 13,
     .attributes = {A_INT("to", 1)},
     .inputs = {F32_DENORMAL(4, 5)}},
    {.name = "Cast", .label = "rank0", .since_version = 23, .attributes = {A_INT("to", 7)}, .inputs = {F32_SCALAR}},
    {.name = "Cast", .label = "empty", .since_version = 24, .attributes = {A_INT("to", 7)}, .inputs = {F32(2, 0)}},
    CAST_BOTH("float16", 10, RANGE_OF(LEATI_REF_FLOAT16, -100, 100, 5, 7)),
    CAST_BOTH("bfloat16", 16, RANGE_OF(LEATI_REF_BFLOAT16, -100, 100, 5, 7)),
    CAST_BOTH("int16", 5, SOME_INT16(5, 7)),
    CAST_BOTH("int8", 3, SOME_INT8(5, 7)),
    CAST_BOTH("uint64", 13, SOME_UINT64),
    CAST_BOTH("uint32", 12, SOME_UINT32),
    CAST_BOTH("uint16", 4, SOME_UINT16(5, 7)),
    /* Halves between two numbers, subnormal ones, and those around the largest. */
    WITH("Cast", "rounded_to_float16", 13, A_INT("to", 10),
         F32_IS(DIMS(14), 2049.0f, 2051.0f, -2049.5f, 65504.0f, 65519.0f, 65520.0f, -65520.0f, 6e-8f, 2.9e-8f, 3e-8f,
                6.1e-5f, 6.0975e-5f, 1e-30f, 0.1f)),
    WITH("Cast", "rounded_to_bfloat16", 13, A_INT("to", 16),
         F32_IS(DIMS(8), 257.0f, 259.0f, -257.5f, 3.38e38f, 3.3961e38f, 3.3962e38f, 0.1f, 1.01f)),
    WITH("Cast", "special_to_float16", 13, A_INT("to", 10), F32_SPECIAL(1, SPECIAL_COUNT)),
    WITH("Cast", "special_to_bfloat16", 13, A_INT("to", 16), F32_SPECIAL(1, SPECIAL_COUNT)),
    WITH("Cast", "special_of_float16", 13, A_INT("to", 1),
         {.fill = LEATI_FILL_SPECIAL, .type = LEATI_REF_FLOAT16, .low = 1, DIMS(SPECIAL_COUNT)}),
    WITH("Cast", "special_of_bfloat16", 13, A_INT("to", 1),
         {.fill = LEATI_FILL_SPECIAL, .type = LEATI_REF_BFLOAT16, .low = 1, DIMS(SPECIAL_COUNT)}),
    WITH("Cast", "float16_to_bfloat16", 13, A_INT("to", 16), RANGE_OF(LEATI_REF_FLOAT16, -9, 9, 5, 7)),
    WITH("Cast", "uint64_to_float16", 13, A_INT("to", 10), SOME_UINT64),
    WITH("Cast", "int64_to_uint8", 13, A_INT("to", 2), I64_RANGE(-999, 999, 5, 7)),
    WITH("Cast", "int64_to_uint64", 13, A_INT("to", 13), I64_IS(DIMS(4), INT64_MIN, -1, 0, INT64_MAX)),
    WITH("Cast", "uint64_to_int32", 13, A_INT("to", 6), SOME_UINT64),
    WITH("Cast", "uint32_to_int64", 13, A_INT("to", 7), SOME_UINT32),
    WITH("Cast", "int16_to_uint32", 13, A_INT("to", 12), SOME_INT16(5, 7)),
    WITH("Cast", "int8_to_uint16", 13, A_INT("to", 4), SOME_INT8(5, 7)),
    WITH("Cast", "bool_to_float16", 13, A_INT("to", 10), BOOLS(5, 7)),
    {.name = "CastLike",
     .label = "float32_to_int64",
     .since_version = 25,
     .variants = VIEW_SLICED | VIEW_OFFSET,
     .threads = THREADS_8 | THREADS_16,
     .inputs = {F32_RANGE(-1000, 1000, 5, 7, 3), I64_RANGE(0, 1, 2, 2)}},
    CAST_LIKE("float16", LEATI_REF_FLOAT16),
    CAST_LIKE("bfloat16", LEATI_REF_BFLOAT16),
    CAST_LIKE("int32", LEATI_REF_INT32),
    CAST_LIKE("int16", LEATI_REF_INT16),
    CAST_LIKE("int8", LEATI_REF_INT8),
    CAST_LIKE("uint64", LEATI_REF_UINT64),
    CAST_LIKE("uint32", LEATI_REF_UINT32),
    CAST_LIKE("uint16", LEATI_REF_UINT16),
    CAST_LIKE("uint8", LEATI_REF_UINT8),
    CAST_LIKE("bool", LEATI_REF_BOOL),
    PLAIN("CastLike", "same_type", 15, F32_DENORMAL(4, 5), F32_SCALAR),
    PLAIN("CastLike", "empty", 15, F32(2, 0), I64_RANGE(0, 1, 0)),

    /* Clip. */
    {.name = "Clip",
     .label = "float32",
     .since_version = 13,
     .variants = VIEW_DYNAMIC | VIEW_IN_PLACE,
     .threads = THREADS_8,
     .inputs = {F32(7, 5, 9), F32_IS(NO_DIMS, -0.5f), F32_IS(NO_DIMS, 0.75f)}},
    {.name = "Clip", .label = "min_only", .since_version = 13, .inputs = {F32(7, 9), F32_IS(NO_DIMS, 0.0f)}},
    {.name = "Clip", .label = "max_only", .since_version = 13, .inputs = {F32(7, 9), ABSENT, F32_IS(NO_DIMS, 0.25f)}},
    {.name = "Clip", .label = "no_limits", .since_version = 13, .inputs = {F32(7, 9)}},
    {.name = "Clip",
     .label = "min_above_max",
     .since_version = 13,
     .inputs = {F32(7, 9), F32_IS(NO_DIMS, 1.0f), F32_IS(NO_DIMS, -1.0f)}},
    {.name = "Clip",
     .label = "special",
     .since_version = 13,
     .inputs = {F32_SPECIAL(1, 16), F32_IS(NO_DIMS, -1.0f), F32_IS(NO_DIMS, 6.0f)}},
    {.name = "Clip",
     .label = "special_min_only",
     .since_version = 13,
     .inputs = {F32_SPECIAL(1, 16), F32_IS(NO_DIMS, -INFINITY)}},
    {.name = "Clip",
     .label = "special_max_only",
     .since_version = 13,
     .inputs = {F32_SPECIAL(1, 16), ABSENT, F32_IS(NO_DIMS, INFINITY)}},
    {.name = "Clip", .label = "special_no_limits", .since_version = 13, .inputs = {F32_SPECIAL(1, 16)}},
    {.name = "Clip",
     .label = "special_infinite",
     .since_version = 13,
     .inputs = {F32_SPECIAL(1, 16), F32_IS(NO_DIMS, -INFINITY), F32_IS(NO_DIMS, INFINITY)}},
    {.name = "Clip",
     .label = "special_reversed",
     .since_version = 13,
     .inputs = {F32_SPECIAL(1, 16), F32_IS(NO_DIMS, INFINITY), F32_IS(NO_DIMS, -INFINITY)}},
    {.name = "Clip", .label = "min_nan", .since_version = 13, .inputs = {F32_SPECIAL(1, 16), F32_IS(NO_DIMS, NAN)}},
    {.name = "Clip",
     .label = "max_nan",
     .since_version = 13,
     .inputs = {F32_SPECIAL(1, 16), F32_IS(NO_DIMS, 1.0f), F32_IS(NO_DIMS, NAN)}},
    {.name = "Clip",
     .label = "int64_min_above_max",
     .since_version = 13,
     .inputs = {I64_RANGE(-99, 99, 5, 7), I64_IS(NO_DIMS, 20), I64_IS(NO_DIMS, -10)}},
    {.name = "Clip",
     .label = "int64",
     .since_version = 13,
     .inputs = {I64_RANGE(-99, 99, 5, 7), I64_IS(NO_DIMS, -10), I64_IS(NO_DIMS, 20)}},
    {.name = "Clip",
     .label = "int32",
     .since_version = 13,
     .inputs = {I32_RANGE(-99, 99, 5, 7), I32_IS(NO_DIMS, -10), I32_IS(NO_DIMS, 20)}},
    LIMITS("int16", LEATI_REF_INT16, SOME_INT16(5, 7), -1000, 32766),
    LIMITS("int8", LEATI_REF_INT8, SOME_INT8(9, 33), -100, 50),
    LIMITS("uint64", LEATI_REF_UINT64, SOME_UINT64, 5, -3),
    LIMITS("uint32", LEATI_REF_UINT32, SOME_UINT32, 5, 4294967290),
    LIMITS("uint16", LEATI_REF_UINT16, SOME_UINT16(5, 7), 5, 40000),
    LIMITS("uint8", LEATI_REF_UINT8, U8_RANGE(0, 255, 9, 33), 5, 200),

    /* Two inputs. Add is the one that tries every way of broadcasting; the others share it. */
    BINARY("Add", 14, ALL_VIEWS | VIEW_IN_PLACE, F32(5, 7, 9), F32(5, 7, 9)),
    PAIRS("Add", 14),
    {.name = "Add", .label = "version13", .since_version = 13, .inputs = {F32(4, 33), F32(4, 33)}},
    {.name = "Add",
     .label = "both_broadcast",
     .since_version = 14,
     .variants = ALL_VIEWS,
     .threads = THREADS_ALL,
     .inputs = {F32(7, 1, 5), F32(3, 1)}},
    {.name = "Add",
     .label = "with_scalar",
     .since_version = 14,
     .variants = VIEW_OFFSET,
     .inputs = {F32(5, 67), F32_SCALAR}},
    {.name = "Add", .label = "scalar_with", .since_version = 14, .inputs = {F32_SCALAR, F32(5, 67)}},
    {.name = "Add", .label = "two_scalars", .since_version = 14, .inputs = {F32_SCALAR, F32_SCALAR}},
    {.name = "Add", .label = "row", .since_version = 14, .inputs = {F32(65, 33), F32(33)}},
    {.name = "Add", .label = "column", .since_version = 14, .inputs = {F32(65, 33), F32(65, 1)}},
    {.name = "Add", .label = "channel", .since_version = 14, .inputs = {F32(2, 7, 5, 5), F32(7, 1, 1)}},
    {.name = "Add", .label = "empty", .since_version = 14, .inputs = {F32(3, 0, 2), F32(1, 2)}},
    {.name = "Add",
     .label = "large",
     .since_version = 14,
     .threads = THREADS_4,
     .inputs = {F32(37, 113), F32(37, 113)}},
    {.name = "Add",
     .label = "rank8",
     .since_version = 14,
     .variants = VIEW_TRANSPOSED | VIEW_REVERSED | VIEW_BROADCAST,
     .inputs = {F32(2, 1, 3, 1, 2, 1, 2, 3), F32(1, 2, 1, 3, 1, 2, 1, 1)}},
    TYPED("Add", 14, "int64", I64_RANGE(-99, 99, 5, 7), I64_RANGE(-99, 99, 7)),
    TYPED("Add", 14, "int32", I32_RANGE(-99, 99, 5, 7), I32_RANGE(-99, 99, 7)),
    {.name = "Add",
     .label = "int64_wide",
     .since_version = 14,
     .inputs = {I64_IS(DIMS(4), 4294967295, -4294967296, 9223372036854775807, -1),
                LIST(1, -1, 1, -9223372036854775807)}},
    INTEGER_PAIRS("Add", 14),
    BINARY("Sub", 14, 0, F32(5, 7, 9), F32(7, 1)),
    PAIRS("Sub", 14),
    TYPED("Sub", 13, "int64", I64_RANGE(-99, 99, 5, 7), I64_RANGE(-99, 99, 7)),
    TYPED("Sub", 14, "int32", I32_RANGE(-99, 99, 5, 7), I32_RANGE(-99, 99, 7)),
    INTEGER_PAIRS("Sub", 14),
    BINARY("Mul", 14, VIEW_IN_PLACE, F32(5, 7, 9), F32(7, 1)),
    PAIRS("Mul", 14),
    TYPED("Mul", 13, "int64", I64_RANGE(-99, 99, 5, 7), I64_RANGE(-99, 99, 7)),
    TYPED("Mul", 14, "int32", I32_RANGE(-99, 99, 5, 7), I32_RANGE(-99, 99, 7)),
    {.name = "Mul",
     .label = "int64_wide",
     .since_version = 14,
     .inputs = {I64_IS(DIMS(4), 4294967295, -4294967296, 3000000000, -1), LIST(4294967295, 3, 3, -7)}},
    INTEGER_PAIRS("Mul", 14),
    BINARY("Div", 14, 0, F32(5, 7, 9), F32_RANGE(0.1, 10, 7, 1)),
    PAIRS("Div", 14),
    TYPED("Div", 13, "int64", I64_RANGE(-99, 99, 5, 7), I64_RANGE(1, 9, 7)),
    TYPED("Div", 14, "int32", I32_RANGE(-99, 99, 5, 7), I32_RANGE(-9, -1, 7)),
    {.name = "Div",
     .label = "int64_wide",
     .since_version = 14,
     .inputs = {I64_IS(DIMS(4), 9223372036854775807, -9223372036854775807, -7, 7), LIST(4294967297, 3, 2, -2)}},
    INTEGER_PAIRS("Div", 14),
    {.name = "Mod",
     .label = "float32",
     .since_version = 13,
     .variants = VIEW_SLICED | VIEW_OFFSET,
     .threads = THREADS_8 | THREADS_16,
     .attributes = {A_INT("fmod", 1)},
     .inputs = {F32_RANGE(-10, 10, 5, 7, 9), F32_RANGE(0.5, 3, 7, 1)}},
    WITH("Mod", "special", 13, A_INT("fmod", 1), F32_SPECIAL(1, SPECIAL_COUNT, SPECIAL_COUNT),
         F32_SPECIAL(SPECIAL_COUNT, SPECIAL_COUNT, SPECIAL_COUNT)),
    PLAIN("Mod", "float32_floor", 28, F32_RANGE(-10, 10, 5, 7, 9), F32_IS(DIMS(9), -3, -0.7f, 0.5f, 1, 2, 3, 4, -5, 7)),
    PLAIN("Mod", "special_floor", 28, F32_SPECIAL(1, SPECIAL_COUNT, SPECIAL_COUNT),
          F32_SPECIAL(SPECIAL_COUNT, SPECIAL_COUNT, SPECIAL_COUNT)),
    PLAIN("Mod", "int64", 13, I64_RANGE(-99, 99, 5, 7), I64_IS(DIMS(7), -7, -3, -1, 1, 2, 5, 4294967297)),
    WITH("Mod", "int64_fmod", 10, A_INT("fmod", 1), I64_RANGE(-99, 99, 5, 7), I64_IS(DIMS(7), -7, -3, -1, 1, 2, 5, 9)),
    PLAIN("Mod", "int32", 13, I32_RANGE(-99, 99, 5, 7), I32_IS(DIMS(7), -7, -3, -1, 1, 2, 5, 2147483647)),
    WITH("Mod", "int32_fmod", 13, A_INT("fmod", 1), I32_RANGE(-99, 99, 5, 7), I32_IS(DIMS(7), -7, -3, -1, 1, 2, 5, 9)),
    INTEGER_PAIRS("Mod", 13),
    {.name = "PRelu",
     .label = "float32",
     .since_version = 16,
     .variants = VIEW_SLICED | VIEW_OFFSET,
     .threads = THREADS_8 | THREADS_16,
     .inputs = {F32(5, 7, 9), F32(7, 1)}},
    PLAIN("PRelu", "special", 16, F32_SPECIAL(1, SPECIAL_COUNT, SPECIAL_COUNT),
          F32_SPECIAL(SPECIAL_COUNT, SPECIAL_COUNT, SPECIAL_COUNT)),
    PLAIN("PRelu", "scalar_slope", 7, F32(5, 33), F32_SCALAR),
    /* The result is larger than the input, as other operators of two operands have it. */
    PLAIN("PRelu", "slope_of_more_dimensions", 16, F32(3, 5), F32(2, 1, 5)),
    PLAIN("PRelu", "larger_slope", 16, F32(3, 1), F32(1, 5)),
    PLAIN("PRelu", "scalar_by_vector", 16, F32_SCALAR, F32(5)),
    PLAIN("PRelu", "int64", 16, I64_RANGE(-99, 99, 5, 7), I64_RANGE(-9, 9, 7)),
    PLAIN("PRelu", "int32", 16, I32_RANGE(-99, 99, 5, 7), I32_RANGE(-9, 9, 7)),
    BINARY("Pow", 15, 0, F32_RANGE(0.01, 10, 5, 7, 9), F32_RANGE(-4, 4, 7, 1)),
    PAIRS("Pow", 15),
    {.name = "Pow",
     .label = "negative_base",
     .since_version = 13,
     .inputs = {F32_RANGE(-4, 4, 6, 7), F32_IS(DIMS(7), 2.0f, 3.0f, -1.0f, 0.0f, 1.0f, -2.0f, 5.0f)}},
    {.name = "Pow", .label = "square", .since_version = 15, .inputs = {F32(6, 33), F32_IS(NO_DIMS, 2.0f)}},
    {.name = "Pow", .label = "root", .since_version = 15, .inputs = {F32_RANGE(0, 9, 6, 33), F32_IS(NO_DIMS, 0.5f)}},
    {.name = "Pow",
     .label = "int64_exponent",
     .since_version = 15,
     .inputs = {F32_RANGE(-3, 3, 6, 7), I64_RANGE(-3, 4, 7)}},
    {.name = "Pow", .label = "int64", .since_version = 15, .inputs = {I64_RANGE(-9, 9, 6, 7), I64_RANGE(0, 9, 7)}},

    {.name = "Pow",
     .label = "int64_fractional",
     .since_version = 15,
     .inputs = {I64_IS(DIMS(12, 1), 36, 2, 3, -8, 9, 10, 100, 7, 0, 1, 4294967296, 4611686018427387904),
                F32_IS(DIMS(8), 2.5f, 0.5f, 1.5f, 0.25f, -0.5f, 3.75f, 0.000001f, 0.1f)}},
    {.name = "Pow",
     .label = "int32_fractional",
     .since_version = 15,
     .inputs = {I32_IS(DIMS(11, 1), 36, 2, 3, -8, 9, 10, 100, 7, 1, 1073741824, 2147483647),
                F32_IS(DIMS(9), 2.5f, 0.5f, 1.5f, 8.5f, -0.5f, 0.999999f, NAN, INFINITY, -INFINITY)}},
    PLAIN("Pow", "int16_exponent", 15, F32_RANGE(0.5, 2, 6, 7), RANGE_OF(LEATI_REF_INT16, -5, 5, 7)),
    PLAIN("Pow", "int8_exponent", 15, F32_RANGE(0.5, 2, 6, 7), RANGE_OF(LEATI_REF_INT8, -5, 5, 7)),
    PLAIN("Pow", "uint64_exponent", 15, F32_RANGE(0.5, 2, 6, 7), RANGE_OF(LEATI_REF_UINT64, 0, 9, 7)),
    PLAIN("Pow", "uint32_exponent", 15, F32_RANGE(0.5, 2, 6, 7), RANGE_OF(LEATI_REF_UINT32, 0, 9, 7)),
    PLAIN("Pow", "uint16_exponent", 15, F32_RANGE(0.5, 2, 6, 7), RANGE_OF(LEATI_REF_UINT16, 0, 9, 7)),
    PLAIN("Pow", "uint8_exponent", 15, F32_RANGE(0.5, 2, 6, 7), U8_RANGE(0, 9, 7)),

    /* Bits. */
    BITS("BitwiseAnd"),
    BITS("BitwiseOr"),
    BITS("BitwiseXor"),
    {.name = "BitwiseNot",
     .label = "int64",
     .since_version = 18,
     .variants = VIEWS | VIEW_IN_PLACE,
     .threads = THREADS_16,
     .inputs = {I64_RANGE(-99, 99, 5, 7)}},
    PLAIN("BitwiseNot", "int32", 18, I32_RANGE(-99, 99, 5, 7)),
    INTEGERS("BitwiseNot", 18),
    {.name = "BitCount",
     .label = "int64",
     .since_version = 1,
     .domain = "leat",
     .variants = VIEWS | VIEW_IN_PLACE,
     .threads = THREADS_16,
     .inputs = {I64_IS(DIMS(8), -1, INT64_MIN, INT64_MAX, 0, 7, 4294967296, -4294967297, 1)}},
    OURS("BitCount", "int32", NO_ATTRIBUTES, I32_RANGE(-2000000000, 2000000000, 5, 33)),
    OURS("BitCount", "int16", NO_ATTRIBUTES, I16_ENDS),
    OURS("BitCount", "int8", NO_ATTRIBUTES, SOME_INT8(9, 33)),
    OURS("BitCount", "uint64", NO_ATTRIBUTES, SOME_UINT64),
    OURS("BitCount", "uint32", NO_ATTRIBUTES, SOME_UINT32),
    OURS("BitCount", "uint16", NO_ATTRIBUTES, SOME_UINT16(5, 7)),
    OURS("BitCount", "uint8", NO_ATTRIBUTES, U8_RANGE(0, 255, 9, 33)),
    SHIFTS(11, "uint64", SOME_UINT64, INTS_OF(LEATI_REF_UINT64, DIMS(8), 0, 1, 31, 32, 63, 64, -1, 4294967297)),
    SHIFTS(11, "uint32", SOME_UINT32, INTS_OF(LEATI_REF_UINT32, DIMS(7), 0, 1, 15, 31, 32, 33, 4294967295)),
    SHIFTS(11, "uint16", SOME_UINT16(9, 1), INTS_OF(LEATI_REF_UINT16, DIMS(6), 0, 1, 15, 16, 32, 65535)),
    SHIFTS(11, "uint8", U8_RANGE(0, 255, 33, 1), INTS_OF(LEATI_REF_UINT8, DIMS(7), 0, 1, 7, 8, 31, 32, 255)),
    {.name = "BitShift",
     .label = "views",
     .since_version = 11,
     .variants = VIEWS | VIEW_IN_PLACE,
     .threads = THREADS_16,
     .attributes = {A_STRING("direction", "LEFT")},
     .inputs = {U8_RANGE(0, 255, 5, 7), U8_RANGE(0, 9, 5, 7)}},
    SHIFTS(28, "int64", I64_IS(DIMS(6, 1), -1, 1, 5000000000, -5000000000, INT64_MIN, INT64_MAX),
           I64_IS(DIMS(7), 0, 1, 33, 63, 64, -1, INT64_MIN)),
    SHIFTS(28, "int32", I32_IS(DIMS(5, 1), -1, 1, 77, INT32_MIN, INT32_MAX),
           I32_IS(DIMS(6), 0, 1, 31, 32, -1, INT32_MIN)),
    SHIFTS(28, "int16", SOME_INT16(9, 1), INTS_OF(LEATI_REF_INT16, DIMS(6), 0, 1, 15, 16, 32, -1)),
    SHIFTS(28, "int8", SOME_INT8(33, 1), INTS_OF(LEATI_REF_INT8, DIMS(6), 0, 1, 7, 8, 127, -128)),
    SHIFTS(28, "signed_set_uint64", SOME_UINT64, INTS_OF(LEATI_REF_UINT64, DIMS(3), 0, 63, -1)),
    SHIFTS(28, "signed_set_uint32", SOME_UINT32, INTS_OF(LEATI_REF_UINT32, DIMS(3), 0, 31, 32)),
    SHIFTS(28, "signed_set_uint16", SOME_UINT16(9, 1), INTS_OF(LEATI_REF_UINT16, DIMS(2), 3, 16)),
    SHIFTS(28, "signed_set_uint8", U8_RANGE(0, 255, 33, 1), INTS_OF(LEATI_REF_UINT8, DIMS(2), 3, 8)),

    /* Any number of inputs. */
    {.name = "Max",
     .label = "float32",
     .since_version = 13,
     .threads = THREADS_8,
     .inputs = {F32(5, 7, 9), F32(7, 1), F32(9)}},
    PAIRS("Max", 13),
    {.name = "Max", .label = "one", .since_version = 13, .inputs = {F32(5, 7)}},
    {.name = "Max",
     .label = "five",
     .since_version = 13,
     .inputs = {F32(5, 7), F32(7), F32_SCALAR, F32(5, 1), F32(1, 7)}},
    TYPED("Max", 13, "int64", I64_RANGE(-99, 99, 5, 7), I64_RANGE(-99, 99, 7)),
    TYPED("Max", 13, "int32", I32_RANGE(-99, 99, 5, 7), I32_RANGE(-99, 99, 7)),
    {.name = "Min",
     .label = "float32",
     .since_version = 13,
     .threads = THREADS_8,
     .inputs = {F32(5, 7, 9), F32(7, 1), F32(9)}},
    PAIRS("Min", 13),
    {.name = "Min", .label = "one", .since_version = 13, .inputs = {F32(5, 7)}},
    TYPED("Min", 13, "int64", I64_RANGE(-99, 99, 5, 7), I64_RANGE(-99, 99, 7)),
    TYPED("Min", 13, "int32", I32_RANGE(-99, 99, 5, 7), I32_RANGE(-99, 99, 7)),
    INTEGER_PAIRS("Max", 13),
    INTEGER_PAIRS("Min", 13),
    HALF_SUMS("Sum", "float16", LEATI_REF_FLOAT16),
    HALF_SUMS("Sum", "bfloat16", LEATI_REF_BFLOAT16),
    HALF_SUMS("Mean", "float16", LEATI_REF_FLOAT16),
    HALF_SUMS("Mean", "bfloat16", LEATI_REF_BFLOAT16),
    {.name = "Sum",
     .label = "float32",
     .since_version = 13,
     .variants = VIEW_SLICED | VIEW_OFFSET,
     .threads = THREADS_8 | THREADS_16,
     .inputs = {F32(5, 7, 9), F32(7, 1), F32(9)}},
    PLAIN("Sum", "special", 8, F32_SPECIAL(1, SPECIAL_COUNT, SPECIAL_COUNT),
          F32_SPECIAL(SPECIAL_COUNT, SPECIAL_COUNT, SPECIAL_COUNT)),
    PLAIN("Sum", "one", 13, F32(5, 7)),
    PLAIN("Sum", "five", 13, F32(5, 7), F32(7), F32_SCALAR, F32(5, 1), F32(1, 7)),
    {.name = "Mean",
     .label = "float32",
     .since_version = 13,
     .variants = VIEW_SLICED | VIEW_OFFSET,
     .threads = THREADS_8 | THREADS_16,
     .inputs = {F32(5, 7, 9), F32(7, 1), F32(9)}},
    PLAIN("Mean", "special", 8, F32_SPECIAL(1, SPECIAL_COUNT, SPECIAL_COUNT),
          F32_SPECIAL(SPECIAL_COUNT, SPECIAL_COUNT, SPECIAL_COUNT)),
    PLAIN("Mean", "one", 13, F32(5, 7)),
    PLAIN("Mean", "five", 13, F32(5, 7), F32(7), F32_SCALAR, F32(5, 1), F32(1, 7)),

    /* Comparisons. */
    BINARY("Equal", 13, 0, F32_SPECIAL(1, 5, 16), F32_SPECIAL(2, 5, 16)),
    PAIRS("Equal", 19),
    TYPED("Equal", 13, "int64", I64_RANGE(0, 3, 5, 7), I64_RANGE(0, 3, 7)),
    TYPED("Equal", 13, "int32", I32_RANGE(0, 3, 5, 7), I32_RANGE(0, 3, 7)),
    TYPED("Equal", 13, "bool", BOOLS(5, 7), BOOLS(7)),
    {.name = "Equal",
     .label = "int64_wide",
     .since_version = 13,
     .inputs = {I64_IS(DIMS(3), 4294967296, 1, -1), LIST(0, 4294967297, 4294967295)}},
    BINARY("Less", 13, 0, F32(5, 7, 9), F32(7, 1)),
    PAIRS("Less", 13),
    TYPED("Less", 13, "int64", I64_RANGE(0, 3, 5, 7), I64_RANGE(0, 3, 7)),
    {.name = "Less",
     .label = "int64_wide",
     .since_version = 13,
     .inputs = {I64_IS(DIMS(4), 4294967296, -1, -4294967296, 5), LIST(1, 4294967295, 1, 4294967296)}},
    BINARY("Greater", 13, 0, F32(5, 7, 9), F32(7, 1)),
    PAIRS("Greater", 13),
    TYPED("Greater", 13, "int32", I32_RANGE(-3, 3, 5, 7), I32_RANGE(-3, 3, 7)),
    BINARY("LessOrEqual", 16, 0, F32(5, 7, 9), F32(7, 1)),
    PAIRS("LessOrEqual", 12),
    TYPED("LessOrEqual", 16, "int64", I64_RANGE(-3, 3, 5, 7), I64_RANGE(-3, 3, 7)),
    BINARY("GreaterOrEqual", 16, 0, F32(5, 7, 9), F32(7, 1)),
    PAIRS("GreaterOrEqual", 12),
    TYPED("GreaterOrEqual", 16, "int64", I64_RANGE(-3, 3, 5, 7), I64_RANGE(-3, 3, 7)),
    PLAIN("Less", "int32", 13, I32_RANGE(0, 3, 5, 7), I32_RANGE(0, 3, 7)),
    PLAIN("Greater", "int64", 13, I64_RANGE(-3, 3, 5, 7), I64_RANGE(-3, 3, 7)),
    PLAIN("LessOrEqual", "int32", 16, I32_RANGE(-3, 3, 5, 7), I32_RANGE(-3, 3, 7)),
    PLAIN("GreaterOrEqual", "int32", 16, I32_RANGE(-3, 3, 5, 7), I32_RANGE(-3, 3, 7)),
    INTEGER_PAIRS("Equal", 13),
    INTEGER_PAIRS("Less", 13),
    INTEGER_PAIRS("Greater", 13),
    INTEGER_PAIRS("LessOrEqual", 16),
    INTEGER_PAIRS("GreaterOrEqual", 16),

    /* Logic. */
    {.name = "And",
     .label = "bool",
     .since_version = 7,
     .variants = VIEW_BROADCAST,
     .threads = THREADS_8,
     .inputs = {BOOLS(5, 7, 3), BOOLS(7, 1)}},
    {.name = "And", .label = "empty", .since_version = 7, .inputs = {BOOLS(0, 3), BOOLS(3)}},
    {.name = "Or",
     .label = "bool",
     .since_version = 7,
     .variants = VIEW_OFFSET,
     .threads = THREADS_8,
     .inputs = {BOOLS(5, 7, 3), BOOLS(7, 1)}},
    {.name = "Xor",
     .label = "bool",
     .since_version = 7,
     .variants = VIEW_SLICED | VIEW_OFFSET,
     .threads = THREADS_8 | THREADS_16,
     .inputs = {BOOLS(5, 7, 3), BOOLS(7, 1)}},
    PLAIN("Xor", "empty", 7, BOOLS(0, 3), BOOLS(3)),
    {.name = "Where",
     .label = "float32",
     .since_version = 16,
     .variants = ALL_VIEWS,
     .threads = THREADS_8,
     .inputs = {BOOLS(5, 7, 9), F32(5, 7, 9), F32(5, 7, 9)}},
    {.name = "Where",
     .label = "broadcast_all",
     .since_version = 9,
     .variants = VIEW_BROADCAST,
     .inputs = {BOOLS(7, 1), F32(5, 1, 9), F32_SCALAR}},
    {.name = "Where",
     .label = "special",
     .since_version = 16,
     .inputs = {BOOLS(4, 16), F32_SPECIAL(1, 16), F32_DENORMAL(4, 16)}},
    {.name = "Where",
     .label = "int64",
     .since_version = 16,
     .inputs = {BOOLS(5, 7), I64_RANGE(-99, 99, 5, 7), I64_RANGE(-99, 99, 7)}},
    {.name = "Where",
     .label = "int32",
     .since_version = 16,
     .inputs = {BOOLS(5, 7), I32_RANGE(-99, 99, 5, 7), I32_RANGE(-99, 99, 7)}},
    {.name = "Where", .label = "bool", .since_version = 16, .inputs = {BOOLS(5, 7), BOOLS(5, 7), BOOLS(7)}},
    {.name = "Where",
     .label = "uint8",
     .since_version = 16,
     .inputs = {BOOLS(5, 7), U8_RANGE(0, 255, 5, 7), U8_RANGE(0, 255, 7)}},
    OTHER_TYPES(WHERE_OF),
    {.name = "Where", .label = "empty", .since_version = 16, .inputs = {BOOLS(3, 1), F32(3, 0), F32_SCALAR}},
    CASE("Max", "version_6", 6, NO_ATTRIBUTES, F32(5, 7), F32(5, 7), F32(5, 7)),
    CASE("Min", "version_6", 6, NO_ATTRIBUTES, F32(5, 7), F32(5, 7), F32(5, 7)),
    CASE("Sum", "version_6", 6, NO_ATTRIBUTES, F32(5, 7), F32(5, 7), F32(5, 7)),
    CASE("Mean", "version_6", 6, NO_ATTRIBUTES, F32(5, 7), F32(5, 7), F32(5, 7)),
    VIEWED("Clip", "float32_6", 6, ALL_VIEWS | VIEW_IN_PLACE, THREADS_8,
           ATTRIBUTES(A_FLOAT("min", -0.5f), A_FLOAT("max", 0.75f)), F32(5, 7)),
    CASE("Clip", "no_limits_6", 6, NO_ATTRIBUTES, F32_SPECIAL(2, SPECIAL_COUNT, 2)),
    CASE("Clip", "min_only_6", 6, ATTRIBUTES(A_FLOAT("min", 0)), F32_SPECIAL(2, SPECIAL_COUNT, 2)),
    CASE("Clip", "float16_6", 6, ATTRIBUTES(A_FLOAT("max", 6)), MIXED(LEATI_REF_FLOAT16, -10, 10, 7, 5)),
    CASE("Clip", "bfloat16_6", 6, ATTRIBUTES(A_FLOAT("max", 6)), MIXED(LEATI_REF_BFLOAT16, -10, 10, 7, 5)),
    CASE("ThresholdedRelu", "version_1", 1, ATTRIBUTES(A_FLOAT("alpha", 0.5f)), F32(5, 7)),
};

void leati_rows_elementwise(leat_case_list *list) {
  leati_op_cases_add(list, specs, G_N_ELEMENTS(specs));
}
