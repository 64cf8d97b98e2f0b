/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of operators that stand for several elementwise ones. */
#include "cases/sources.h"
#include "ops/core/refusal.h"

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

#define RATIO(named, t) MS("BiasDropout", named, F32(3, 5), F32(5), ABSENT, RANGE_OF(t, 0.1, 0.9, 1))
#define HALVES(named, t)                                                                                           \
  MS("BiasGelu", named, MIXED(t, -4, 4, 7, 5, 12), RANGE_OF(t, -1, 1, 12)),                                        \
      MS("FastGelu", named, MIXED(t, -4, 4, 7, 5, 12), RANGE_OF(t, -1, 1, 12)),                                    \
      MS("BiasAdd", named, RANGE_OF(t, -4, 4, 3, 5, 7), RANGE_OF(t, -4, 4, 7), RANGE_OF(t, -4, 4, 3, 5, 7)),       \
      MS("BiasSplitGelu", named, RANGE_OF(t, -4, 4, 2, 5, 24), RANGE_OF(t, -1, 1, 24)),                            \
      MS("BiasDropout", named, RANGE_OF(t, -4, 4, 3, 5, 7), RANGE_OF(t, -4, 4, 7)),                                \
      MS("GatedAdd", named, RANGE_OF(t, -4, 4, 3, 5, 7), RANGE_OF(t, -4, 4, 3, 5, 7), RANGE_OF(t, 0, 1, 3, 5, 1)), \
      MS("ScaledSiLU", named, RANGE_OF(t, -4, 4, 5, 13)),                                                          \
      MS("ComplexMul", named, RANGE_OF(t, -4, 4, 3, 5, 2), RANGE_OF(t, -4, 4, 3, 5, 2)),                           \
      MS("ComplexMulConj", named, RANGE_OF(t, -4, 4, 3, 5, 2), RANGE_OF(t, -4, 4, 3, 5, 2)),                       \
      ROW("Affine", NULL, named, SCALES(1.5f, 0.25f), MIXED(t, -4, 4, 5, 13)),                                     \
      ROW("ParametricSoftplus", NULL, named, SCALES(1.5f, 0.25f), RANGE_OF(t, -4, 4, 5, 13)),                      \
      ROW("ScaledTanh", NULL, named, SCALES(1.5f, 0.25f), RANGE_OF(t, -4, 4, 5, 13)),                              \
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
    {.name = "BiasDropout",
     .label = "float32",
     .since_version = 1,
     .domain = LEAT_MICROSOFT,
     .outputs = 2,
     .variants = ALL_VIEWS,
     .threads = THREADS_16,
     .inputs = {F32(3, 5, 8), F32(8), F32(3, 5, 8)}},
    MS("BiasDropout", "bias_of_all", F32(3, 5), F32(3, 5), ABSENT, F32_IS(NO_DIMS, 0.5f)),
    {.name = "BiasDropout",
     .label = "inference",
     .since_version = 1,
     .domain = LEAT_MICROSOFT,
     .variants = VIEW_DYNAMIC,
     .inputs = {F32(3, 5), F32(5), F32(3, 5), F32_IS(DIMS(1), 0.5f), BOOLS_ARE(NO_DIMS, 0)}},
    RATIO("float64", LEATI_REF_FLOAT64),
    RATIO("float16_ratio", LEATI_REF_FLOAT16),
    RATIO("bfloat16_ratio", LEATI_REF_BFLOAT16),
    ALL("GatedAdd", LEAT_MICROSOFT, VIEW_IN_PLACE, NO_ATTRIBUTES, F32(3, 5, 8), F32(3, 5, 8), F32(3, 5, 1)),
    MS("GatedAdd", "vector", F32(9), F32(9), F32(1)),
    ALL("ScaledSiLU", LEAT_MICROSOFT, VIEW_IN_PLACE, ATTRIBUTES(A_FLOAT("alpha", 1.5f)), F32_RANGE(-4, 4, 7, 5, 9)),
    ROW("ScaledSiLU", LEAT_MICROSOFT, "defaults", NO_ATTRIBUTES, F32_SPECIAL(1, SPECIAL_COUNT)),
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

/* ---- What is refused --------------------------------------------------------------------------------------------- */

static const leati_op_spec sound_gated = MS("GatedAdd", "sound", F32(3, 5, 8), F32(3, 5, 8), F32(3, 5, 1));
static const leati_op_spec sound_dropout =
    MS("BiasDropout", "sound", F32(3, 5, 8), F32(8), F32(3, 5, 8), F32_IS(NO_DIMS, 0.5f), BOOLS_ARE(NO_DIMS, 0));
static const leati_op_spec sound_silu = MS("ScaledSiLU", "sound", F32(3));
static const leati_refusal wrong_dropout[] = {{A_FLOAT("seed", 1)}};
static const leati_refusal wrong_silu[] = {{A_INT("alpha", 1)}, {A_STRING("alpha", "1")}};
static const leati_refusals refusals_of_gated = {.sound = &sound_gated};
static const leati_refusals refusals_of_dropout = {.sound = &sound_dropout, .wrong = wrong_dropout, .wrong_count = 1};
/* Of one input any shape does. */
static const leati_refusals refusals_of_silu = {
    .sound = &sound_silu, .wrong = wrong_silu, .wrong_count = 2, .any_size = {1u << 0 | 1u << 1}};

static const leat_case hostile[] = {{REFUSALS("GatedAdd", "refused", &refusals_of_gated)},
                                    {REFUSALS("BiasDropout", "refused", &refusals_of_dropout)},
                                    {REFUSALS("ScaledSiLU", "refused", &refusals_of_silu)}};

void leati_rows_composite(leat_case_list *list) {
  leati_op_cases_add(list, specs, sizeof(specs) / sizeof(specs[0]));
  leati_case_list_add(list, hostile, sizeof(hostile) / sizeof(hostile[0]));
}
