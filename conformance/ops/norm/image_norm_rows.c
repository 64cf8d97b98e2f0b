/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of norms that ONNX Runtime's tools write: GroupNorm, SkipGroupNorm, EmbedLayerNormalization with floats and
 * bytes, and BiasSoftmax. */
#include "cases/sources.h"
#include "ops/core/refusal.h"

#define ROW(operator, named, wanted, attributes_given, ...)                                            \
  {                                                                                                    \
    .name = operator, .label = named, .since_version = 1, .domain = LEAT_MICROSOFT, .outputs = wanted, \
    .attributes = attributes_given, .inputs = {                                                        \
      __VA_ARGS__                                                                                      \
    }                                                                                                  \
  }
#define ALL(operator, wanted, attributes_given, ...)                                                       \
  {                                                                                                        \
    .name = operator, .label = "float32", .since_version = 1, .domain = LEAT_MICROSOFT, .outputs = wanted, \
    .variants = ALL_VIEWS, .threads = THREADS_16, .attributes = attributes_given, .inputs = {              \
      __VA_ARGS__                                                                                          \
    }                                                                                                      \
  }
#define EPSILON A_FLOAT("epsilon", 1e-5f)
#define GROUPS(n, activated) A_INT("groups", n), A_INT("activation", activated), EPSILON
#define NCHW A_INT("channels_last", 0)
#define LINES_OF(t, n) RANGE_OF(t, 0.5, 2, n), RANGE_OF(t, -1, 1, n)
/* Tables of words, positions and segments, and what scales; n columns. */
#define TABLES_OF(t, n) RANGE_OF(t, -2, 2, 11, n), RANGE_OF(t, -2, 2, 9, n), RANGE_OF(t, -2, 2, 2, n), LINES_OF(t, n)
#define TABLES(n) TABLES_OF(LEATI_REF_FLOAT32, n)
#define IDS I32_RANGE(0, 10, 3, 7)
#define SEGMENTS I32_RANGE(0, 1, 3, 7)
#define MASK I32_RANGE(0, 1, 3, 7)
/* The tables of bytes that stand for numbers up to 2, and what goes with them. */
#define Q_TABLES(t, low, high, n)                                                            \
  RANGE_OF(t, low, high, 11, n), RANGE_OF(t, low, high, 9, n), RANGE_OF(t, low, high, 2, n), \
      RANGE_OF(t, low, high, n), RANGE_OF(t, low, high, n)
#define Q_SCALE(x) F32_IS(DIMS(1), x)
#define Q_SCALES Q_SCALE(0.016f), Q_SCALE(0.012f), Q_SCALE(0.009f), Q_SCALE(0.011f), Q_SCALE(-0.02f)
#define Q_ZEROS(t, low, high)                                                                                 \
  RANGE_OF(t, low, high, 1), RANGE_OF(t, low, high, 1), RANGE_OF(t, low, high, 1), RANGE_OF(t, low, high, 1), \
      RANGE_OF(t, low, high, 1)
#define SOFT A_INT("axis", 3), A_INT("is_inner_broadcast", 1)

#define HALVES(named, t)                                                                                            \
  ROW("GroupNorm", named, 1, ATTRIBUTES(GROUPS(2, 1)), RANGE_OF(t, -2, 2, 2, 5, 3, 8),                              \
      LINES_OF(LEATI_REF_FLOAT32, 8)),                                                                              \
      ROW("GroupNorm", "both_" named, 1, ATTRIBUTES(GROUPS(2, 0)), RANGE_OF(t, -2, 2, 2, 5, 3, 8), LINES_OF(t, 8)), \
      ROW("SkipGroupNorm", named, 2, ATTRIBUTES(GROUPS(4, 1)), RANGE_OF(t, -2, 2, 2, 5, 3, 8), LINES_OF(t, 8),      \
          RANGE_OF(t, -2, 2, 2, 5, 3, 8), RANGE_OF(t, -1, 1, 8)),                                                   \
      ROW("EmbedLayerNormalization", named, 3, ATTRIBUTES(EPSILON), IDS, SEGMENTS, TABLES_OF(t, 36), MASK),         \
      ROW("BiasSoftmax", named, 1, ATTRIBUTES(SOFT), RANGE_OF(t, -4, 4, 2, 3, 4, 9), RANGE_OF(t, -4, 4, 2, 1, 1, 9))

static const leati_op_spec specs[] = {
    ALL("GroupNorm", 1, ATTRIBUTES(GROUPS(2, 1)), F32(2, 5, 3, 8), LINES_OF(LEATI_REF_FLOAT32, 8)),
    ROW("GroupNorm", "no_activation", 1, ATTRIBUTES(GROUPS(4, 0)), F32(2, 4, 4, 8), F32(8), F32(8)),
    ROW("GroupNorm", "nchw", 1, ATTRIBUTES(GROUPS(3, 0), NCHW), F32(2, 6, 5, 3), F32(6), F32(6)),
    ROW("GroupNorm", "nchw_silu", 1, ATTRIBUTES(GROUPS(3, 1), NCHW), F32(2, 6, 5, 3), F32(6), F32(6)),
    ROW("GroupNorm", "half_parameters", 1, ATTRIBUTES(GROUPS(2, 1)), F32(1, 4, 4, 6), LINES_OF(LEATI_REF_FLOAT16, 6)),
    ROW("GroupNorm", "one_pixel", 1, ATTRIBUTES(GROUPS(1, 1)), F32(3, 1, 1, 6), F32(6), F32(6)),
    ROW("GroupNorm", "empty", 1, ATTRIBUTES(GROUPS(2, 1)), F32(0, 4, 4, 6), F32(6), F32(6)),
    ALL("SkipGroupNorm", 2, ATTRIBUTES(GROUPS(2, 1)), F32(2, 5, 3, 8), F32(8), F32(8), F32(2, 5, 3, 8), F32(8)),
    ROW("SkipGroupNorm", "no_bias", 1, ATTRIBUTES(GROUPS(2, 0)), F32(2, 5, 3, 8), F32(8), F32(8), F32(2, 5, 3, 8)),
    ROW("SkipGroupNorm", "skip_of_channels", 2, ATTRIBUTES(GROUPS(2, 1)), F32(2, 5, 3, 8), F32(8), F32(8), F32(2, 8)),
    ROW("SkipGroupNorm", "skip_of_pixels", 1, ATTRIBUTES(GROUPS(2, 1)), F32(2, 5, 3, 8), F32(8), F32(8),
        F32(2, 1, 1, 8), F32(8)),
    ROW("SkipGroupNorm", "nchw", 2, ATTRIBUTES(GROUPS(3, 1), NCHW), F32(2, 6, 5, 3), F32(6), F32(6), F32(2, 6, 1, 1),
        F32(6)),
    ALL("EmbedLayerNormalization", 3, ATTRIBUTES(EPSILON), IDS, SEGMENTS, TABLES(65), MASK, I32_RANGE(0, 8, 3, 7)),
    ROW("EmbedLayerNormalization", "no_segments", 1, ATTRIBUTES(EPSILON), IDS, ABSENT, F32(11, 33), F32(9, 33), ABSENT,
        F32(33), F32(33)),
    ROW("EmbedLayerNormalization", "no_mask", 2, ATTRIBUTES(EPSILON), IDS, SEGMENTS, TABLES(16)),
    ROW("EmbedLayerNormalization", "positions", 1, ATTRIBUTES(EPSILON), IDS, SEGMENTS, TABLES(128), ABSENT,
        I32_RANGE(0, 8, 1, 7)),
    ROW("EmbedLayerNormalization", "beyond", 2, ATTRIBUTES(EPSILON), I32_RANGE(-20, 20, 3, 7), I32_RANGE(-3, 3, 3, 7),
        TABLES(36), I32_RANGE(-1, 2, 3, 7), I32_RANGE(-20, 20, 3, 7)),
    ROW("EmbedLayerNormalization", "long", 3, ATTRIBUTES(EPSILON), I32_RANGE(0, 10, 1, 3), I32_RANGE(0, 1, 1, 3),
        TABLES(4099), I32_RANGE(0, 1, 1, 3)),
    ALL("QEmbedLayerNormalization", 2, ATTRIBUTES(EPSILON), IDS, SEGMENTS, Q_TABLES(LEATI_REF_UINT8, 0, 255, 65), MASK,
        Q_SCALES, Q_ZEROS(LEATI_REF_UINT8, 100, 160)),
    ROW("QEmbedLayerNormalization", "int8", 2, ATTRIBUTES(EPSILON), IDS, SEGMENTS,
        Q_TABLES(LEATI_REF_INT8, -128, 127, 300), MASK, Q_SCALES, Q_ZEROS(LEATI_REF_INT8, -30, 30)),
    ROW("QEmbedLayerNormalization", "no_segments", 2, ATTRIBUTES(EPSILON), IDS, ABSENT, U8_RANGE(0, 255, 11, 33),
        U8_RANGE(0, 255, 9, 33), ABSENT, U8_RANGE(0, 255, 33), U8_RANGE(0, 255, 33), ABSENT, Q_SCALE(0.016f),
        Q_SCALE(0.012f), ABSENT, Q_SCALE(0.011f), Q_SCALE(0.02f), U8_RANGE(100, 160, 1), U8_RANGE(100, 160, 1), ABSENT,
        U8_RANGE(100, 160, 1), U8_RANGE(100, 160, 1)),
    ROW("QEmbedLayerNormalization", "beyond", 2, ATTRIBUTES(EPSILON), I32_RANGE(-20, 20, 3, 7), I32_RANGE(-3, 3, 3, 7),
        Q_TABLES(LEATI_REF_INT8, -128, 127, 36), I32_RANGE(-1, 2, 3, 7), Q_SCALES, Q_ZEROS(LEATI_REF_INT8, -30, 30)),
    ROW("QEmbedLayerNormalization", "no_batches", 2, ATTRIBUTES(EPSILON), I32_RANGE(0, 1, 0, 7), I32_RANGE(0, 1, 0, 7),
        Q_TABLES(LEATI_REF_UINT8, 0, 255, 8), ABSENT, Q_SCALES, Q_ZEROS(LEATI_REF_UINT8, 100, 160)),
    ALL("BiasSoftmax", 1, ATTRIBUTES(SOFT), F32(2, 3, 4, 9), F32(2, 1, 1, 9)),
    ROW("BiasSoftmax", "outer", 1, ATTRIBUTES(A_INT("axis", -1), A_INT("is_inner_broadcast", 0)), F32(2, 3, 4, 8),
        F32(4, 8)),
    ROW("BiasSoftmax", "flattened", 1, ATTRIBUTES(A_INT("is_inner_broadcast", 0)), F32(2, 3, 4), F32(2, 3, 4)),
    HALVES("float16", LEATI_REF_FLOAT16),
    HALVES("bfloat16", LEATI_REF_BFLOAT16),
};

/* ---- What is refused --------------------------------------------------------------------------------------------- */

static const leati_op_spec sound_bytes =
    ROW("QEmbedLayerNormalization", "sound", 2, ATTRIBUTES(EPSILON), IDS, SEGMENTS,
        Q_TABLES(LEATI_REF_UINT8, 0, 255, 8), MASK, Q_SCALES, Q_ZEROS(LEATI_REF_UINT8, 100, 160));
static const leati_refusal wrong_bytes[] = {{A_INT("epsilon", 1)}};
static const leati_refusals refusals_of_bytes = {.sound = &sound_bytes,
                                                 .wrong = wrong_bytes,
                                                 .wrong_count = sizeof(wrong_bytes) / sizeof(wrong_bytes[0]),
                                                 .any_size = {0, 0, 1u << 0, 1u << 0, 1u << 0}};

static const leat_case hostile[] = {{REFUSALS("QEmbedLayerNormalization", "refused", &refusals_of_bytes)}};

void leati_rows_image_norm(leat_case_list *list) {
  leati_op_cases_add(list, specs, sizeof(specs) / sizeof(specs[0]));
  leati_case_list_add(list, hostile, sizeof(hostile) / sizeof(hostile[0]));
}
