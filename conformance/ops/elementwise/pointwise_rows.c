/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of Pointwise, programs of elementwise functions, and of QuantizedPointwise. */
#include <math.h>

#include "cases/sources.h"
#include "ops/core/op_engine.h"

#define POINTWISE(named) .name = "Pointwise", .label = named, .since_version = 1, .domain = "leat"
#define FUNCTIONS(names) A_STRING("functions", names)
#define OPERANDS(...) A_INTS("operands", __VA_ARGS__)
#define CONSTANTS(...) A_FLOATS("constants", __VA_ARGS__)
#define ROW(named, attributes_given, ...)                                       \
  {                                                                             \
    POINTWISE(named), .attributes = attributes_given, .inputs = { __VA_ARGS__ } \
  }
/* Operands of int8 or uint8, and what makes floats of them and bytes of floats. */
#define QUANTIZED(named) .name = "QuantizedPointwise", .label = named, .since_version = 1, .domain = "leat"
#define CODED(named, attributes_given, ...)                                     \
  {                                                                             \
    QUANTIZED(named), .attributes = attributes_given, .inputs = { __VA_ARGS__ } \
  }
#define SCALES(...) A_FLOATS("scales", __VA_ARGS__)
#define ZEROS(...) A_INTS("zero_points", __VA_ARGS__)
#define TO_U8(scale, zero) A_INT("result_type", 2), A_FLOAT("result_scale", scale), A_INT("result_zero_point", zero)
#define TO_S8(scale, zero) A_INT("result_type", 3), A_FLOAT("result_scale", scale), A_INT("result_zero_point", zero)
#define U8(...) U8_RANGE(0, 255, __VA_ARGS__)
#define S8(...) RANGE_OF(LEATI_REF_INT8, -128, 127, __VA_ARGS__)
/* The sum of two, as a residual is added: each with a scale of its own. */
#define RESIDUAL \
  ATTRIBUTES(FUNCTIONS("Add Relu"), OPERANDS(0, 1, 2), SCALES(0.02f, 0.035f), ZEROS(121, -7), TO_U8(0.03f, 3))

/* One function of one number, whose parameters are constants: of numbers that it is for, and of special ones. */
#define ONE(function, low, high)                                                            \
  ROW(function, ATTRIBUTES(FUNCTIONS(function), OPERANDS(0)), F32_RANGE(low, high, 5, 13)), \
      ROW(function "_special", ATTRIBUTES(FUNCTIONS(function), OPERANDS(0)), F32_SPECIAL(1, SPECIAL_COUNT))
#define ONE_WITH(function, p)                                                                             \
  ROW(function, ATTRIBUTES(FUNCTIONS(function), OPERANDS(0, -1), CONSTANTS(p)), F32_RANGE(-4, 4, 5, 13)), \
      ROW(function "_special", ATTRIBUTES(FUNCTIONS(function), OPERANDS(0, -1), CONSTANTS(p)),            \
          F32_SPECIAL(1, SPECIAL_COUNT))
#define ONE_WITH_BOTH(function, p, q)                                                                            \
  ROW(function, ATTRIBUTES(FUNCTIONS(function), OPERANDS(0, -1, -2), CONSTANTS(p, q)), F32_RANGE(-4, 4, 5, 13)), \
      ROW(function "_special", ATTRIBUTES(FUNCTIONS(function), OPERANDS(0, -1, -2), CONSTANTS(p, q)),            \
          F32_SPECIAL(1, SPECIAL_COUNT))
/* One function of two numbers. */
#define TWO(function, low, high)                                                              \
  ROW(function, ATTRIBUTES(FUNCTIONS(function), OPERANDS(0, 1)), F32_RANGE(low, high, 5, 13), \
      F32_RANGE(low, high, 13)),                                                              \
      ROW(function "_special", ATTRIBUTES(FUNCTIONS(function), OPERANDS(0, 1)),               \
          F32_SPECIAL(1, SPECIAL_COUNT, SPECIAL_COUNT), F32_SPECIAL(SPECIAL_COUNT, SPECIAL_COUNT, SPECIAL_COUNT))

/* x / sqrt 2, erf, + 1, times x, times 1 / 2. */
#define GELU \
  ATTRIBUTES(FUNCTIONS("Div Erf Add Mul Mul"), OPERANDS(0, -1, 1, 2, -2, 0, 3, 4, -3), CONSTANTS(1.41421354f, 1, 0.5f))
/* A sum of eight, each term added to the one before. */
#define SUM_OF_EIGHT \
  ATTRIBUTES(FUNCTIONS("Add Add Add Add Add Add Add"), OPERANDS(0, 1, 8, 2, 9, 3, 10, 4, 11, 5, 12, 6, 13, 7))

/* In 16 bits each step rounds: of functions that need the kernels of each kind, a chain with a row and a constant, and
 * results that the type does not hold. */
#define HALVES(named, t, most)                                                                                      \
  ROW(named, ATTRIBUTES(FUNCTIONS("Mul Add Sigmoid Mul"), OPERANDS(0, -1, 2, 1, 3, 2, 4), CONSTANTS(1.5f)),         \
      RANGE_OF(t, -4, 4, 5, 13), RANGE_OF(t, -4, 4, 13)),                                                           \
      ROW("strided_" named, ATTRIBUTES(FUNCTIONS("Sin Sub"), OPERANDS(0, 2, 1)), RANGE_OF(t, -4, 4, 3, 1, 7),       \
          RANGE_OF(t, -4, 4, 5, 7)),                                                                                \
      ROW("beyond_" named, ATTRIBUTES(FUNCTIONS("Mul Clip Neg"), OPERANDS(0, 0, 1, -1, -2, 2), CONSTANTS(0, most)), \
          RANGE_OF(t, 0, most, 68))

static const leati_op_spec specs[] = {
    HALVES("float16", LEATI_REF_FLOAT16, 1024),
    HALVES("bfloat16", LEATI_REF_BFLOAT16, 0x1p100f),
    ONE("Neg", -4, 4),
    ONE("Abs", -4, 4),
    ONE("Sign", -4, 4),
    ONE("Sqrt", 0.01, 9),
    ONE("Reciprocal", 0.1, 9),
    ONE("Relu", -4, 4),
    ONE_WITH("LeakyRelu", 0.25f),
    ONE_WITH_BOTH("HardSigmoid", 0.3f, 0.4f),
    ONE("HardSwish", -4, 4),
    ONE("Floor", -4, 4),
    ONE("Ceil", -4, 4),
    ONE("Round", -4, 4),
    ONE("Softsign", -4, 4),
    ONE_WITH("ThresholdedRelu", 0.5f),
    ONE_WITH_BOTH("Shrink", 1, 0.5f),
    ONE("Exp", -4, 4),
    ONE("Log", 0.01, 9),
    ONE("Erf", -4, 4),
    ONE("Tanh", -4, 4),
    ONE("Sigmoid", -4, 4),
    ONE("Gelu", -4, 4),
    ONE("FastGelu", -4, 4),
    ONE("Softplus", -4, 4),
    ONE_WITH("Elu", 1.5f),
    ONE_WITH_BOTH("Selu", 1.5f, 1.25f),
    ONE_WITH("Celu", 0.5f),
    ONE("Mish", -4, 4),
    ONE_WITH("Swish", 1.5f),
    ONE("Sin", -9, 9),
    ONE("Cos", -9, 9),
    ONE("Tan", -1.5, 1.5),
    ONE("Asin", -1, 1),
    ONE("Acos", -1, 1),
    ONE("Atan", -9, 9),
    ONE("Sinh", -4, 4),
    ONE("Cosh", -4, 4),
    ONE("Asinh", -4, 4),
    ONE("Acosh", 1, 9),
    ONE("Atanh", -0.99, 0.99),
    TWO("Add", -4, 4),
    TWO("Sub", -4, 4),
    TWO("Mul", -4, 4),
    TWO("Div", 0.1, 4),
    TWO("Pow", 0.1, 4),
    TWO("Min", -4, 4),
    TWO("Max", -4, 4),
    TWO("PRelu", -4, 4),
    TWO("Mod", 0.5, 4),
    TWO("Fmod", 0.5, 4),
    TWO("Equal", -4, 4),
    TWO("Less", -4, 4),
    TWO("Greater", -4, 4),
    TWO("LessOrEqual", -4, 4),
    TWO("GreaterOrEqual", -4, 4),
    ROW("Where", ATTRIBUTES(FUNCTIONS("Where"), OPERANDS(0, 1, 2)), F32_SPECIAL(1, SPECIAL_COUNT), F32(3, 1),
        F32(3, SPECIAL_COUNT)),
    ROW("Clip", ATTRIBUTES(FUNCTIONS("Clip"), OPERANDS(0, 1, 2)), F32_RANGE(-4, 4, 5, 13), F32_RANGE(-2, 0, 13),
        F32_RANGE(0, 2, 5, 1)),
    ROW("Clip_special", ATTRIBUTES(FUNCTIONS("Clip"), OPERANDS(0, -1, -2), CONSTANTS(-1, 6)),
        F32_SPECIAL(1, SPECIAL_COUNT)),
    ROW("Clip_nan", ATTRIBUTES(FUNCTIONS("Clip"), OPERANDS(0, -1, -2), CONSTANTS(-1, NAN)),
        F32_SPECIAL(1, SPECIAL_COUNT)),
    ROW("Celu_subnormal", ATTRIBUTES(FUNCTIONS("Celu"), OPERANDS(0, -1), CONSTANTS(1e-40f)),
        F32_SPECIAL(1, SPECIAL_COUNT)),

    /* Programs of several steps. */
    {POINTWISE("gelu"), .variants = ALL_VIEWS | VIEW_IN_PLACE, .threads = THREADS_ALL, .attributes = GELU,
     .inputs = {F32(5, 7, 12)}},
    ROW("gelu_special", GELU, F32_SPECIAL(1, SPECIAL_COUNT)),
    ROW("gelu_denormal", GELU, F32_DENORMAL(3, 5)),
    ROW("silu", ATTRIBUTES(FUNCTIONS("Sigmoid Mul"), OPERANDS(0, 0, 1)), F32(7, 33)),
    ROW("hard_swish",
        ATTRIBUTES(FUNCTIONS("Add Clip Mul Div"), OPERANDS(0, -1, 1, -2, -3, 0, 2, 3, -3), CONSTANTS(3, 0, 6)),
        F32_RANGE(-5, 5, 7, 33)),
    ROW("cube_gelu",
        ATTRIBUTES(FUNCTIONS("Pow Mul Add Mul Tanh Add Mul Mul"),
                   OPERANDS(0, -1, 1, -2, 0, 2, 3, -3, 4, 5, -4, 0, -5, 7, 6),
                   CONSTANTS(3, 0.044715f, 0.797884561f, 1, 0.5f)),
        F32_RANGE(-3, 3, 7, 36)),
    ROW("chosen", ATTRIBUTES(FUNCTIONS("Less Mul Neg Where"), OPERANDS(0, 1, 0, 1, 0, 2, 3, 4)), F32(7, 9), F32(9)),
    ROW("not_contracted", ATTRIBUTES(FUNCTIONS("Mul Sub"), OPERANDS(0, 1, 3, 2)), F32(65, 8), F32(65, 8), F32(65, 8)),
    {POINTWISE("sixteen_steps"), .variants = VIEW_OFFSET | VIEW_TRANSPOSED, .threads = THREADS_8 | THREADS_16,
     .attributes = ATTRIBUTES(
         FUNCTIONS("Mul Add Tanh Mul Add Relu Mul Add Sigmoid Mul Add Tanh Mul Add Abs Max"),
         OPERANDS(0, -1, 3, 1, 4, 5, -2, 6, 2, 7, 8, -3, 9, 0, 10, 11, -1, 12, 1, 13, 14, -2, 15, 2, 16, 0, 17),
         CONSTANTS(0.75f, -0.5f, 1.25f)),
     .inputs = {F32(6, 44), F32(44), F32(6, 1)}},
    ROW("step_unused", ATTRIBUTES(FUNCTIONS("Exp Neg"), OPERANDS(0, 0)), F32(3, 5)),
    ROW("input_unused", ATTRIBUTES(FUNCTIONS("Neg"), OPERANDS(0)), F32(5), F32(3, 1)),

    /* Broadcasting. */
    {POINTWISE("broadcast"), .variants = VIEWS | VIEW_REVERSED | VIEW_OFFSET, .threads = THREADS_8 | THREADS_16,
     .attributes = ATTRIBUTES(FUNCTIONS("Sub Mul Add"), OPERANDS(0, 1, 4, 2, 5, 3)),
     .inputs = {F32(5, 7, 9), F32(7, 1), F32(9), F32_SCALAR}},
    {POINTWISE("channels"), .variants = VIEW_OFFSET | VIEW_SLICED,
     .attributes = ATTRIBUTES(FUNCTIONS("Mul Add Relu"), OPERANDS(0, 1, 3, 2, 4)),
     .inputs = {F32(2, 7, 4, 5), F32(7, 1, 1), F32(7, 1, 1)}},
    ROW("both_ways", ATTRIBUTES(FUNCTIONS("Add Mul"), OPERANDS(0, 1, 2, 0)), F32(7, 1, 5), F32(3, 1)),
    ROW("row", ATTRIBUTES(FUNCTIONS("Add Relu"), OPERANDS(0, 1, 2)), F32(65, 36), F32(36)),
    ROW("column", ATTRIBUTES(FUNCTIONS("Add Relu"), OPERANDS(0, 1, 2)), F32(65, 36), F32(65, 1)),
    ROW("scalars", ATTRIBUTES(FUNCTIONS("Add Mul"), OPERANDS(0, 1, 2, -1), CONSTANTS(3)), F32_SCALAR, F32_SCALAR),
    {POINTWISE("eight_inputs"), .variants = VIEWS | VIEW_OFFSET, .attributes = SUM_OF_EIGHT,
     .inputs = {F32(3, 5, 8), F32(8), F32(5, 1), F32(3, 1, 1), F32_SCALAR, F32(3, 5, 8), F32(5, 8), F32(3, 1, 8)}},
    ROW("rank8", ATTRIBUTES(FUNCTIONS("Add Mul"), OPERANDS(0, 1, 2, 0)), F32(2, 1, 3, 1, 2, 1, 2, 3),
        F32(1, 2, 1, 3, 1, 2, 1, 1)),
    {POINTWISE("large"), .threads = THREADS_4,
     .attributes = ATTRIBUTES(FUNCTIONS("Mul Add"), OPERANDS(0, 1, 2, -1), CONSTANTS(0.5f)),
     .inputs = {F32(37, 113), F32(37, 113)}},
    ROW("empty", ATTRIBUTES(FUNCTIONS("Add Relu"), OPERANDS(0, 1, 2)), F32(3, 0, 2), F32(1, 2)),

    /* Bytes. */
    {QUANTIZED("residual"), .variants = ALL_VIEWS | VIEW_IN_PLACE, .threads = THREADS_8 | THREADS_16,
     .attributes = RESIDUAL, .inputs = {U8(5, 7, 12), S8(5, 7, 12)}},
    CODED("tail", RESIDUAL, U8(3, 17), S8(3, 17)),
    CODED("one", RESIDUAL, U8(1), S8(1)),
    {QUANTIZED("row"), .variants = VIEW_OFFSET | VIEW_SLICED, .attributes = RESIDUAL, .inputs = {U8(65, 36), S8(36)}},
    CODED("column", RESIDUAL, U8(65, 36), S8(65, 1)),
    CODED("both_ways", RESIDUAL, U8(7, 1, 5), S8(3, 1)),
    CODED("scalars", RESIDUAL, U8_RANGE(0, 255, 1), RANGE_OF(LEATI_REF_INT8, -128, 127, 1)),
    {QUANTIZED("large"), .threads = THREADS_4, .attributes = RESIDUAL, .inputs = {U8(37, 113), S8(37, 113)}},
    CODED("empty", RESIDUAL, U8(3, 0, 2), S8(1, 2)),
    {QUANTIZED("to_float"), .variants = VIEWS | VIEW_OFFSET,
     .attributes = ATTRIBUTES(FUNCTIONS("Sigmoid Mul"), OPERANDS(0, 0, 1), SCALES(0.04f), ZEROS(-3)),
     .inputs = {S8(9, 20)}},
    {QUANTIZED("from_float"), .variants = VIEWS | VIEW_OFFSET,
     .attributes = ATTRIBUTES(FUNCTIONS("HardSwish"), OPERANDS(0), TO_S8(0.025f, -100)),
     .inputs = {F32_RANGE(-4, 4, 9, 20)}},
    CODED("float", ATTRIBUTES(FUNCTIONS("Neg"), OPERANDS(0)), F32(9, 5)),
    CODED("special_to_uint8", ATTRIBUTES(FUNCTIONS("Neg"), OPERANDS(0), TO_U8(0.5f, 77)),
          F32_SPECIAL(1, SPECIAL_COUNT)),
    CODED("special_to_int8", ATTRIBUTES(FUNCTIONS("Neg"), OPERANDS(0), TO_S8(1e-30f, 0)),
          F32_SPECIAL(1, SPECIAL_COUNT)),
    CODED("halfway", ATTRIBUTES(FUNCTIONS("Abs"), OPERANDS(0), SCALES(0.25f), TO_S8(0.5f, 3)), S8(256)),
    CODED("saturated", ATTRIBUTES(FUNCTIONS("Mul"), OPERANDS(0, 0), SCALES(1), ZEROS(128), TO_S8(3, -128)), U8(256)),
    CODED("negative_scales", ATTRIBUTES(FUNCTIONS("Relu"), OPERANDS(0), SCALES(-0.1f), ZEROS(9), TO_U8(-0.07f, 200)),
          S8(5, 52)),
    CODED("clipped",
          ATTRIBUTES(FUNCTIONS("Clip LeakyRelu"), OPERANDS(0, -1, -2, 1, -3), CONSTANTS(-1, 6, 0.01f), SCALES(0.07f),
                     ZEROS(100), TO_U8(0.03f, 40)),
          U8(3, 44)),
    {QUANTIZED("gated"), .variants = VIEW_OFFSET | VIEW_TRANSPOSED, .threads = THREADS_8,
     .attributes = ATTRIBUTES(FUNCTIONS("Sigmoid Mul Add"), OPERANDS(1, 0, 3, 4, 2), SCALES(0.02f, 0.05f, 0),
                              ZEROS(128, 3, 0), TO_U8(0.02f, 128)),
     .inputs = {U8(2, 7, 4, 5), S8(2, 7, 1, 1), F32(4, 5)}},
    {QUANTIZED("eight_inputs"), .variants = VIEWS | VIEW_OFFSET,
     .attributes = ATTRIBUTES(
         FUNCTIONS("Add Add Add Add Add Add Add"), OPERANDS(0, 1, 8, 2, 9, 3, 10, 4, 11, 5, 12, 6, 13, 7),
         SCALES(0.02f, 0, 0.03f, 0.04f, 0, 0.05f, 0.06f, 0.07f), ZEROS(0, 0, -128, 127, 0, 255, 1, 2), TO_S8(0.3f, 20)),
     .inputs = {U8(3, 5, 8), F32(8), S8(5, 1), S8(3, 1, 1), F32_SCALAR, U8(3, 5, 8), U8(5, 8), S8(3, 1, 8)}},
    CODED("sixteen_steps",
          ATTRIBUTES(
              FUNCTIONS("Mul Add Tanh Mul Add Relu Mul Add Sigmoid Mul Add Tanh Mul Add Abs Max"),
              OPERANDS(0, -1, 3, 1, 4, 5, -2, 6, 2, 7, 8, -3, 9, 0, 10, 11, -1, 12, 1, 13, 14, -2, 15, 2, 16, 0, 17),
              CONSTANTS(0.75f, -0.5f, 1.25f), SCALES(0.01f, 0.02f, 0), ZEROS(128, 0, 0), TO_U8(0.02f, 7)),
          U8(6, 44), S8(44), F32(6, 1)),
    CODED("rank8",
          ATTRIBUTES(FUNCTIONS("Add Mul"), OPERANDS(0, 1, 2, 0), SCALES(0.02f, 0.03f), ZEROS(0, 100), TO_U8(0.5f, 0)),
          S8(2, 1, 3, 1, 2, 1, 2, 3), U8(1, 2, 1, 3, 1, 2, 1, 1)),
};

void leati_rows_pointwise(leat_case_list *list) {
  leati_op_cases_add(list, specs, G_N_ELEMENTS(specs));
}
