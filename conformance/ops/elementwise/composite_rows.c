/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of operators that stand for several elementwise ones. */
#include "cases/sources.h"
#include "ops/core/op_engine.h"

#define ROW(operator, of, named, attributes_given, ...)                                                             \
  {                                                                                                                 \
    .name = operator, .label = named, .since_version = 1, .domain = of, .attributes = attributes_given, .inputs = { \
      __VA_ARGS__                                                                                                   \
    }                                                                                                               \
  }
#define ALL(operator, of, more, attributes_given, ...)                                                      \
  {                                                                                                         \
    .name = operator, .label = "float32", .since_version = 1, .domain = of, .variants = ALL_VIEWS | (more), \
    .threads = THREADS_16, .attributes = attributes_given, .inputs = {                                      \
      __VA_ARGS__                                                                                           \
    }                                                                                                       \
  }
#define MS(operator, named, ...) ROW(operator, LEAT_MICROSOFT, named, NO_ATTRIBUTES, __VA_ARGS__)
#define SCALES(p, q) ATTRIBUTES(A_FLOAT("alpha", p), A_FLOAT("beta", q))
#define BIASES ATTRIBUTES(A_FLOAT("scale", 1.5f), A_FLOATS("bias", 0.25f, -1, 3))

#define HALVES(named, t)                                                                                     \
  MS("BiasGelu", named, MIXED(t, -4, 4, 7, 5, 12), RANGE_OF(t, -1, 1, 12)),                                  \
      MS("FastGelu", named, MIXED(t, -4, 4, 7, 5, 12), RANGE_OF(t, -1, 1, 12)),                              \
      MS("BiasAdd", named, RANGE_OF(t, -4, 4, 3, 5, 7), RANGE_OF(t, -4, 4, 7), RANGE_OF(t, -4, 4, 3, 5, 7)), \
      MS("BiasSplitGelu", named, RANGE_OF(t, -4, 4, 2, 5, 24), RANGE_OF(t, -1, 1, 24)),                      \
      MS("ComplexMul", named, RANGE_OF(t, -4, 4, 3, 5, 2), RANGE_OF(t, -4, 4, 3, 5, 2)),                     \
      MS("ComplexMulConj", named, RANGE_OF(t, -4, 4, 3, 5, 2), RANGE_OF(t, -4, 4, 3, 5, 2)),                 \
      ROW("Affine", NULL, named, SCALES(1.5f, 0.25f), MIXED(t, -4, 4, 5, 13)),                               \
      ROW("ParametricSoftplus", NULL, named, SCALES(1.5f, 0.25f), RANGE_OF(t, -4, 4, 5, 13)),                \
      ROW("ScaledTanh", NULL, named, SCALES(1.5f, 0.25f), RANGE_OF(t, -4, 4, 5, 13)),                        \
      ROW("ImageScaler", NULL, named, BIASES, RANGE_OF(t, -4, 4, 2, 3, 5, 7))

static const leati_op_spec specs[] = {
    ALL("BiasGelu", LEAT_MICROSOFT, VIEW_IN_PLACE, NO_ATTRIBUTES, F32_RANGE(-4, 4, 7, 5, 9), F32(9)),
    MS("BiasGelu", "special", F32_SPECIAL(1, 5, SPECIAL_COUNT), F32(SPECIAL_COUNT)),
    MS("BiasGelu", "vector", F32(8), F32(8)),
    MS("BiasGelu", "empty", F32(3, 0), F32(0)),
    ALL("FastGelu", LEAT_MICROSOFT, VIEW_IN_PLACE, NO_ATTRIBUTES, F32_RANGE(-4, 4, 7, 5, 9), F32(9)),
    MS("FastGelu", "no_bias", F32_RANGE(-4, 4, 5, 13)),
    MS("FastGelu", "special", F32_SPECIAL(1, SPECIAL_COUNT)),
    ALL("BiasAdd", LEAT_MICROSOFT, VIEW_IN_PLACE, NO_ATTRIBUTES, F32(3, 5, 8), F32(8), F32(3, 5, 8)),
    ALL("BiasSplitGelu", LEAT_MICROSOFT, 0, NO_ATTRIBUTES, F32(3, 5, 24), F32(24)),
    MS("BiasSplitGelu", "odd_halves", F32(3, 5, 14), F32(14)),
    ALL("ComplexMul", LEAT_MICROSOFT, 0, NO_ATTRIBUTES, F32(3, 5, 2), F32(3, 5, 2)),
    MS("ComplexMul", "broadcast", F32(3, 1, 4, 2), F32(5, 1, 2)),
    MS("ComplexMul", "single", F32(2), F32(2)),
    ALL("ComplexMulConj", LEAT_MICROSOFT, 0, NO_ATTRIBUTES, F32(3, 5, 2), F32(3, 5, 2)),
    MS("ComplexMulConj", "broadcast", F32(2), F32(5, 3, 2)),
    ALL("Affine", NULL, VIEW_IN_PLACE, SCALES(1.5f, 0.25f), F32(7, 5, 9)),
    ROW("Affine", NULL, "defaults", NO_ATTRIBUTES, F32_SPECIAL(1, SPECIAL_COUNT)),
    ALL("ParametricSoftplus", NULL, VIEW_IN_PLACE, SCALES(1.5f, 0.25f), F32_RANGE(-4, 4, 7, 5, 9)),
    ROW("ParametricSoftplus", NULL, "special", SCALES(-1, 2), F32_SPECIAL(1, SPECIAL_COUNT)),
    ALL("ScaledTanh", NULL, VIEW_IN_PLACE, SCALES(1.5f, 0.25f), F32_RANGE(-4, 4, 7, 5, 9)),
    ROW("ScaledTanh", NULL, "special", SCALES(-1, 2), F32_SPECIAL(1, SPECIAL_COUNT)),
    ALL("ImageScaler", NULL, 0, BIASES, F32(2, 3, 5, 7)),
    HALVES("float16", LEATI_REF_FLOAT16),
    HALVES("bfloat16", LEATI_REF_BFLOAT16),
};

void leati_rows_composite(leat_case_list *list) {
  leati_op_cases_add(list, specs, sizeof specs / sizeof specs[0]);
}
