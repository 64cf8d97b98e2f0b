/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear. */
#include "cases/sources.h"
#include "ops/core/op_engine.h"

#define SCALES(t, ...) RANGE_OF(t, 0.01, 0.1, __VA_ARGS__)

/* A type of x, with all that it holds; of int32 more than float32 holds. */
#define OF_TYPE(named, t, low, high, scale)                                             \
  VIEWED("DequantizeLinear", named, 21, VIEW_OFFSET, 0, ATTRIBUTES(A_INT("axis", -2)),  \
         RANGE_OF(t, low, high, 5, 7, 9), SCALES(scale, 7), RANGE_OF(t, low, high, 7)), \
      CASE("DequantizeLinear", named "_blocks", 28, ATTRIBUTES(A_INT("block_size", 4)), \
           RANGE_OF(t, low, high, 5, 7, 9), SCALES(scale, 5, 2, 9), RANGE_OF(t, low, high, 5, 2, 9))

/* The numbers of ONNX's TensorProto.DataType. */
enum { ONNX_FLOAT32 = 1, ONNX_INT8 = 3, ONNX_UINT16 = 4, ONNX_FLOAT16 = 10, ONNX_BFLOAT16 = 16 };

/* A type of the result: by an axis, of x of a type; and in blocks, by a scale of another type and in a precision. */
#define TO_TYPE(named, t, low, high, x, scale, precision)                                                            \
  VIEWED("QuantizeLinear", named, 21, VIEW_OFFSET, 0, ATTRIBUTES(A_INT("axis", -2)), RANGE_OF(x, -9, 9, 5, 7, 9),    \
         SCALES(x, 7), RANGE_OF(t, low, high, 7)),                                                                   \
      CASE("QuantizeLinear", named "_blocks", 28, ATTRIBUTES(A_INT("block_size", 4), A_INT("precision", precision)), \
           RANGE_OF(x, -9, 9, 5, 7, 9), SCALES(scale, 5, 2, 9), RANGE_OF(t, low, high, 5, 2, 9))

/* The forms of com.microsoft. */
#define CONTRIBUTED(op, named, attributes_given, ...)                                                         \
  {                                                                                                           \
    .name = op, .label = named, .since_version = 1, .domain = LEAT_MICROSOFT, .attributes = attributes_given, \
    .inputs = {                                                                                               \
      __VA_ARGS__                                                                                             \
    }                                                                                                         \
  }
#define FROM_TYPE(named, t, low, high, x)                                              \
  CONTRIBUTED("DequantizeLinear", "contributed_" named, ATTRIBUTES(A_INT("axis", -2)), \
              RANGE_OF(t, low, high, 5, 7, 9), SCALES(x, 7), RANGE_OF(t, low, high, 7))
#define INTO_TYPE(named, t, low, high, x)                                                                         \
  CONTRIBUTED("QuantizeLinear", "contributed_" named, ATTRIBUTES(A_INT("axis", -2)), RANGE_OF(x, -9, 9, 5, 7, 9), \
              SCALES(x, 7), RANGE_OF(t, low, high, 7))
#define CONTRIBUTED_TYPES(ROW)                                                                                         \
  ROW("int8", LEATI_REF_INT8, -128, 127, LEATI_REF_FLOAT32), ROW("uint8", LEATI_REF_UINT8, 0, 255, LEATI_REF_FLOAT16), \
      ROW("int16", LEATI_REF_INT16, -32768, 32767, LEATI_REF_BFLOAT16),                                                \
      ROW("uint16", LEATI_REF_UINT16, 0, 65535, LEATI_REF_FLOAT32)

/* Tenths of odd numbers, from 1 to 31: by 0.2 halves, but for what the digits of float32 leave of them. */
#define ODD_TENTHS 0.1f, 0.3f, 0.5f, 0.7f, 0.9f, 1.1f, 1.3f, 1.5f, 1.7f, 1.9f, 2.1f, 2.3f, 2.5f, 2.7f, 2.9f, 3.1f

#define DYNAMIC(named, views, used_threads, ...)                                                           \
  {                                                                                                        \
    .name = "DynamicQuantizeLinear", .label = named, .since_version = 11, .outputs = 3, .variants = views, \
    .threads = used_threads, .inputs = {                                                                   \
      __VA_ARGS__                                                                                          \
    }                                                                                                      \
  }

static const leati_op_spec specs[] = {
    VIEWED("DequantizeLinear", "one_scale", 10, ALL_VIEWS, THREADS_8 | THREADS_16, NO_ATTRIBUTES,
           U8_RANGE(0, 255, 3, 5, 67), F32_SCALAR, U8_RANGE(0, 255, 1)),
    OF_TYPE("int8", LEATI_REF_INT8, -128, 127, LEATI_REF_FLOAT32),
    OF_TYPE("uint8", LEATI_REF_UINT8, 0, 255, LEATI_REF_FLOAT16),
    OF_TYPE("int16", LEATI_REF_INT16, -32768, 32767, LEATI_REF_BFLOAT16),
    OF_TYPE("uint16", LEATI_REF_UINT16, 0, 65535, LEATI_REF_FLOAT32),
    OF_TYPE("int32", LEATI_REF_INT32, -2000000000, 2000000000, LEATI_REF_FLOAT32),
    CONTRIBUTED_TYPES(FROM_TYPE),
    CONTRIBUTED("DequantizeLinear", "contributed_int32", NO_ATTRIBUTES,
                RANGE_OF(LEATI_REF_INT32, -2000000000, 2000000000, 5, 7), SCALES(LEATI_REF_FLOAT32, 1)),
    VIEWED("DequantizeLinear", "by_axis", 13, VIEWS, 0, NO_ATTRIBUTES, RANGE_OF(LEATI_REF_INT8, -128, 127, 2, 33, 35),
           F32(33)),
    PLAIN("DequantizeLinear", "scalar", 13, INTS_OF(LEATI_REF_INT8, NO_DIMS, -77), F32(1)),
    CASE("DequantizeLinear", "last_axis_in_blocks", 21, ATTRIBUTES(A_INT("axis", -1), A_INT("block_size", 32)),
         RANGE_OF(LEATI_REF_INT8, -128, 127, 33, 70), F32(33, 3)),
    CASE("DequantizeLinear", "one_block", 21, ATTRIBUTES(A_INT("axis", 0), A_INT("block_size", 100)),
         RANGE_OF(LEATI_REF_INT8, -128, 127, 7, 5), F32(1, 5)),
    PLAIN("DequantizeLinear", "special", 13, RANGE_OF(LEATI_REF_INT8, 1, 127, 3, 16), F32_SPECIAL(1, 16)),
    PLAIN("DequantizeLinear", "empty", 13, RANGE_OF(LEATI_REF_INT8, -128, 127, 3, 0), F32(0)),
    CASE("DequantizeLinear", "to_float32", 23, ATTRIBUTES(A_INT("output_dtype", ONNX_FLOAT32)),
         RANGE_OF(LEATI_REF_INT8, -128, 127, 3, 5), SCALES(LEATI_REF_FLOAT16, 1)),
    CASE("DequantizeLinear", "to_float16", 23, ATTRIBUTES(A_INT("output_dtype", ONNX_FLOAT16)),
         RANGE_OF(LEATI_REF_UINT8, 0, 255, 3, 5), SCALES(LEATI_REF_FLOAT32, 1)),
    CASE("DequantizeLinear", "to_bfloat16", 25, ATTRIBUTES(A_INT("output_dtype", ONNX_BFLOAT16)),
         RANGE_OF(LEATI_REF_INT8, -128, 127, 3, 5), SCALES(LEATI_REF_FLOAT16, 5)),

    VIEWED("QuantizeLinear", "one_scale", 10, ALL_VIEWS, THREADS_8 | THREADS_16, NO_ATTRIBUTES,
           F32_RANGE(-9, 9, 3, 5, 67), F32_IS(NO_DIMS, 0.05f), U8_RANGE(0, 255, 1)),
    CONTRIBUTED_TYPES(INTO_TYPE),
    TO_TYPE("int8", LEATI_REF_INT8, -128, 127, LEATI_REF_FLOAT32, LEATI_REF_FLOAT16, ONNX_FLOAT32),
    TO_TYPE("uint8", LEATI_REF_UINT8, 0, 255, LEATI_REF_FLOAT16, LEATI_REF_FLOAT32, ONNX_FLOAT16),
    TO_TYPE("int16", LEATI_REF_INT16, -32768, 32767, LEATI_REF_BFLOAT16, LEATI_REF_BFLOAT16, ONNX_FLOAT32),
    TO_TYPE("uint16", LEATI_REF_UINT16, 0, 65535, LEATI_REF_FLOAT32, LEATI_REF_FLOAT32, ONNX_BFLOAT16),
    CASE("QuantizeLinear", "fours", 21, ATTRIBUTES(A_INT("output_dtype", ONNX_UINT16)), F32_RANGE(0, 70000, 4, 260),
         F32_IS(NO_DIMS, 1)),
    PLAIN("QuantizeLinear", "fours_float16", 19, RANGE_OF(LEATI_REF_FLOAT16, -9, 9, 3, 8), SCALES(LEATI_REF_FLOAT16, 1),
          RANGE_OF(LEATI_REF_INT8, -128, 127, 1)),
    CASE("QuantizeLinear", "fours_bfloat16", 24, ATTRIBUTES(A_INT("output_dtype", ONNX_INT8)),
         RANGE_OF(LEATI_REF_BFLOAT16, -9, 9, 3, 8), SCALES(LEATI_REF_BFLOAT16, 1)),
    PLAIN("QuantizeLinear", "by_axis", 13, F32_RANGE(-9, 9, 2, 33, 35), SCALES(LEATI_REF_FLOAT32, 33)),
    PLAIN("QuantizeLinear", "scalar", 13, F32_IS(NO_DIMS, 7), F32_IS(NO_DIMS, 2)),
    /* To the even one of two numbers, before an odd zero point is added. */
    PLAIN("QuantizeLinear", "halves", 13,
          F32_IS(DIMS(2, 8), -3.5f, -2.5f, -1.5f, -0.5f, 0.5f, 1.5f, 2.5f, 3.5f, 253.5f, 254.5f, 255.5f, -0.0f,
                 0.49999997f, -0.50000006f, 1.4999999f, 2.5000002f),
          F32_IS(NO_DIMS, 1), INTS_OF(LEATI_REF_UINT8, NO_DIMS, 3)),
    PLAIN("QuantizeLinear", "nearly_halves", 13, F32_IS(DIMS(16), ODD_TENTHS), F32_IS(NO_DIMS, 0.2f)),
    PLAIN("QuantizeLinear", "nearly_halves_by_axis", 13, F32_IS(DIMS(1, 16), ODD_TENTHS),
          F32_IS(DIMS(16), 0.2f, 0.6f, -0.2f, 0.2f, 1.8f, 2.2f, 2.6f, 0.6f, 0.04f, 0.02f, 0.6f, 4.6f, 0.2f, 1.8f, -5.8f,
                 0.2f)),
    PLAIN("QuantizeLinear", "special", 13, F32_SPECIAL(1, 3, 16), F32_IS(NO_DIMS, 0.5f),
          INTS_OF(LEATI_REF_INT8, NO_DIMS, 5)),
    PLAIN("QuantizeLinear", "special_scales", 13, F32_SPECIAL(16, 16, 16), F32_SPECIAL(1, 16)),
    /* Scales and quotients at the ends of what float32 holds. */
    PLAIN("QuantizeLinear", "far", 13,
          F32_IS(DIMS(1, 8), 3e38f, 3e38f, 1e-30f, 1.2e-38f, 2.4e-37f, -3e38f, 6e37f, 1e-38f),
          F32_IS(DIMS(8), 2e36f, 1e38f, 3e38f, 1.2e-38f, 1.5e-38f, 7e37f, 1.3e38f, 1.0f)),
    PLAIN("QuantizeLinear", "empty", 13, F32(3, 0), F32(0)),

    DYNAMIC("float32", ALL_VIEWS, THREADS_8 | THREADS_16, F32(3, 5, 67)),
    DYNAMIC("long", VIEW_OFFSET | VIEW_SLICED, THREADS_8, F32(7, 4001)),
    DYNAMIC("fours", VIEW_OFFSET, THREADS_8, F32(8, 512)),
    DYNAMIC("longer", 0, 0, F32(33, 4001)),
    DYNAMIC("longer_fours", VIEW_OFFSET, THREADS_8, F32(33, 4004)),
    DYNAMIC("above_0", 0, 0, F32_RANGE(1, 3, 33, 35)),
    DYNAMIC("below_0", 0, 0, F32_RANGE(-3, -1, 33, 35)),
    DYNAMIC("zeros", 0, 0, F32_RANGE(0, 0, 9)),
    DYNAMIC("one", 0, 0, F32_IS(NO_DIMS, -7)),
    /* A scale of 0.2, and a zero point that is a half but for what the digits of float32 leave of it. */
    DYNAMIC("nearly_halves", 0, 0, F32_IS(DIMS(18), ODD_TENTHS, -0.5f, 50.5f)),
    DYNAMIC("empty", 0, 0, F32(3, 0)),
};

void leati_rows_quantize(leat_case_list *list) {
  leati_op_cases_add(list, specs, G_N_ELEMENTS(specs));
}
