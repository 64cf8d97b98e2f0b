/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of DequantizeLinear. */
#include "cases/op_engine.h"
#include "cases/sources.h"

#define SCALES(t, ...) RANGE_OF(t, 0.01, 0.1, __VA_ARGS__)

/* A type of x, with all that it holds; of int32 more than float32 holds. */
#define OF_TYPE(named, t, low, high, scale)                                             \
  VIEWED("DequantizeLinear", named, 21, VIEW_OFFSET, 0, ATTRIBUTES(A_INT("axis", -2)),  \
         RANGE_OF(t, low, high, 5, 7, 9), SCALES(scale, 7), RANGE_OF(t, low, high, 7)), \
      CASE("DequantizeLinear", named "_blocks", 28, ATTRIBUTES(A_INT("block_size", 4)), \
           RANGE_OF(t, low, high, 5, 7, 9), SCALES(scale, 5, 2, 9), RANGE_OF(t, low, high, 5, 2, 9))

static const leati_op_spec specs[] = {
    VIEWED("DequantizeLinear", "one_scale", 10, ALL_VIEWS, THREADS_8 | THREADS_16, NO_ATTRIBUTES,
           U8_RANGE(0, 255, 3, 5, 67), F32_SCALAR, U8_RANGE(0, 255, 1)),
    OF_TYPE("int8", LEATI_REF_INT8, -128, 127, LEATI_REF_FLOAT32),
    OF_TYPE("uint8", LEATI_REF_UINT8, 0, 255, LEATI_REF_FLOAT16),
    OF_TYPE("int16", LEATI_REF_INT16, -32768, 32767, LEATI_REF_BFLOAT16),
    OF_TYPE("uint16", LEATI_REF_UINT16, 0, 65535, LEATI_REF_FLOAT32),
    OF_TYPE("int32", LEATI_REF_INT32, -2000000000, 2000000000, LEATI_REF_FLOAT32),
    VIEWED("DequantizeLinear", "by_axis", 13, VIEWS, 0, NO_ATTRIBUTES, RANGE_OF(LEATI_REF_INT8, -128, 127, 2, 33, 35),
           F32(33)),
    PLAIN("DequantizeLinear", "scalar", 13, INTS_OF(LEATI_REF_INT8, NO_DIMS, -77), F32(1)),
    CASE("DequantizeLinear", "last_axis_in_blocks", 21, ATTRIBUTES(A_INT("axis", -1), A_INT("block_size", 32)),
         RANGE_OF(LEATI_REF_INT8, -128, 127, 33, 70), F32(33, 3)),
    CASE("DequantizeLinear", "one_block", 21, ATTRIBUTES(A_INT("axis", 0), A_INT("block_size", 100)),
         RANGE_OF(LEATI_REF_INT8, -128, 127, 7, 5), F32(1, 5)),
    PLAIN("DequantizeLinear", "special", 13, RANGE_OF(LEATI_REF_INT8, 1, 127, 3, 16), F32_SPECIAL(1, 16)),
    PLAIN("DequantizeLinear", "empty", 13, RANGE_OF(LEATI_REF_INT8, -128, 127, 3, 0), F32(0)),
};

void leati_cases_op_dequantize(leat_case_list *list) {
  leati_op_cases_add(list, specs, G_N_ELEMENTS(specs));
}
