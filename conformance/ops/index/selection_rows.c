/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of the operators whose results have shapes that follow from values. */
#include <math.h>

#include "cases/sources.h"
#include "ops/core/refusal.h"

#define COMPRESS_OF(named, t, most, views) \
  CASE("Compress", named, 11, ATTRIBUTES(A_INT("axis", 0)), RANGE_OF(t, 0, most, 7, 3), BOOLS(7))
#define UNIQUE(named, outputs_given, attributes_given, ...)                                                    \
  {                                                                                                            \
    .name = "Unique", .label = named, .since_version = 11, .outputs = outputs_given, .variants = VIEW_DYNAMIC, \
    .attributes = attributes_given, .inputs = {                                                                \
      __VA_ARGS__                                                                                              \
    }                                                                                                          \
  }
/* Few numbers, so that most are there more than once. */
#define UNIQUE_OF(named, t, most, views) UNIQUE(named, 4, NO_ATTRIBUTES, RANGE_OF(t, 0, (most) < 5 ? (most) : 5, 7, 3))
#define SUPPRESSION(named, attributes_given, ...)                                                     \
  {                                                                                                   \
    .name = "NonMaxSuppression", .label = named, .since_version = 11, .attributes = attributes_given, \
    .variants = VIEW_DYNAMIC, .inputs = {                                                             \
      __VA_ARGS__                                                                                     \
    }                                                                                                 \
  }
#define ONE(x) F32_IS(NO_DIMS, x)
/* No edge of a triangle is so close to one of a bin that rounding decides. */
#define MEL(named, used_threads, attributes_given, mels, length, rate, lower, upper)                \
  {                                                                                                 \
    .name = "MelWeightMatrix", .label = named, .since_version = 17, .attributes = attributes_given, \
    .variants = VIEW_DYNAMIC, .threads = used_threads, .inputs = {                                  \
      I64_IS(NO_DIMS, mels),                                                                        \
      I64_IS(NO_DIMS, length),                                                                      \
      I64_IS(NO_DIMS, rate),                                                                        \
      ONE(lower),                                                                                   \
      ONE(upper)                                                                                    \
    }                                                                                               \
  }

static const leati_op_spec specs[] = {
    CASE("Compress", "float32", 11, ATTRIBUTES(A_INT("axis", 1)), F32(3, 5, 2), BOOLS_ARE(DIMS(5), 0, 1, 0, 0, 1)),
    CASE("Compress", "version9", 9, ATTRIBUTES(A_INT("axis", 1)), F32(3, 5, 2), BOOLS_ARE(DIMS(5), 0, 1, 0, 0, 1)),
    CASE("Compress", "version28", 28, ATTRIBUTES(A_INT("axis", -1)), F32(3, 5, 2), BOOLS_ARE(DIMS(2), 0, 1)),
    CASE("Compress", "flat", 11, NO_ATTRIBUTES, F32(3, 5, 2), BOOLS(30)),
    CASE("Compress", "many_conditions", 11, ATTRIBUTES(A_INT("axis", 1)), F32(3, 5, 2), BOOLS(9)),
    CASE("Compress", "few_conditions", 11, NO_ATTRIBUTES, F32(3, 5, 2), BOOLS(7)),
    CASE("Compress", "matrix_of_conditions", 11, ATTRIBUTES(A_INT("axis", 0)), F32(3, 5),
         BOOLS_ARE(DIMS(2, 2), 1, 0, 1, 1)),
    CASE("Compress", "one_condition", 11, ATTRIBUTES(A_INT("axis", -1)), F32(3, 5), BOOLS_ARE(NO_DIMS, 1)),
    CASE("Compress", "scalar", 11, NO_ATTRIBUTES, F32_SCALAR, BOOLS_ARE(NO_DIMS, 1)),
    CASE("Compress", "nothing", 11, ATTRIBUTES(A_INT("axis", 0)), F32(3, 5), BOOLS_ARE(DIMS(3), 0, 0, 0)),
    CASE("Compress", "no_conditions", 11, ATTRIBUTES(A_INT("axis", 0)), F32(3, 5), BOOLS(0)),
    CASE("Compress", "empty", 11, ATTRIBUTES(A_INT("axis", 0)), F32(3, 0), BOOLS_ARE(DIMS(3), 1, 0, 1)),
    CASE("Compress", "rank8", 11, ATTRIBUTES(A_INT("axis", 3)), F32(2, 1, 2, 3, 1, 2, 1, 2),
         BOOLS_ARE(DIMS(3), 1, 0, 1)),
    CASE("Compress", "int64", 11, NO_ATTRIBUTES, I64_RANGE(-99, 99, 7, 3), BOOLS(21)),
    CASE("Compress", "int32", 11, NO_ATTRIBUTES, I32_RANGE(-99, 99, 7, 3), BOOLS(21)),
    CASE("Compress", "bool", 11, NO_ATTRIBUTES, BOOLS(7, 3), BOOLS(21)),
    CASE("Compress", "uint8", 11, NO_ATTRIBUTES, U8_RANGE(0, 255, 7, 3), BOOLS(21)),
    OTHER_TYPES(COMPRESS_OF),

    UNIQUE("float32", 4, NO_ATTRIBUTES, F32_IS(DIMS(3, 4), 2, 1, 1, -3, 2, 4, INFINITY, -INFINITY, 2, 1e-45f, -1, -3)),
    /* Zeros of both signs are one value, and so is NaN. */
    UNIQUE("special", 4, NO_ATTRIBUTES, F32_IS(DIMS(8), NAN, 0, -0.0f, 1, NAN, -INFINITY, 0, INFINITY)),
    UNIQUE("unsorted", 4, ATTRIBUTES(A_INT("sorted", 0)), F32_IS(DIMS(6), 2, 1, 1, 3, 4, 3)),
    UNIQUE("unsorted_many", 4, ATTRIBUTES(A_INT("sorted", 0)), I64_RANGE(-40, 40, 211)),
    UNIQUE("values_alone", 1, NO_ATTRIBUTES, F32_IS(DIMS(6), 2, 1, 1, 3, 4, 3)),
    {.name = "Unique",
     .label = "counts_alone",
     .since_version = 11,
     .outputs = 4,
     .unwanted = 6,
     .inputs = {F32_IS(DIMS(6), 2, 1, 1, 3, 4, 3)}},
    UNIQUE("rows", 4, ATTRIBUTES(A_INT("axis", 0)), I32_RANGE(0, 1, 13, 2)),
    UNIQUE("columns", 4, ATTRIBUTES(A_INT("axis", -1)), I32_RANGE(0, 1, 2, 13)),
    UNIQUE("slices", 4, ATTRIBUTES(A_INT("axis", 1), A_INT("sorted", 0)), I32_RANGE(0, 1, 2, 23, 2)),
    UNIQUE("rank8", 4, ATTRIBUTES(A_INT("axis", 3)), I64_RANGE(0, 1, 2, 1, 2, 9, 1, 1, 1, 1)),
    UNIQUE("one", 4, NO_ATTRIBUTES, F32(1)),
    UNIQUE("scalar", 4, NO_ATTRIBUTES, F32_SCALAR),
    UNIQUE("empty", 4, NO_ATTRIBUTES, F32(0)),
    UNIQUE("empty_slices", 4, ATTRIBUTES(A_INT("axis", 0)), F32(3, 0)),
    UNIQUE("empty_slices_unsorted", 4, ATTRIBUTES(A_INT("axis", 1), A_INT("sorted", 0)), F32(0, 3, 2)),
    UNIQUE("empty_axis", 4, ATTRIBUTES(A_INT("axis", 0)), F32(0, 3)),
    UNIQUE("int64", 4, NO_ATTRIBUTES, I64_RANGE(-9, 9, 50)),
    UNIQUE("int64_ends", 4, NO_ATTRIBUTES, I64_IS(DIMS(5), INT64_MIN, INT64_MAX, -1, 0, INT64_MIN)),
    UNIQUE("int32", 4, NO_ATTRIBUTES, I32_RANGE(-9, 9, 50)),
    UNIQUE("bool", 4, NO_ATTRIBUTES, BOOLS(9)),
    UNIQUE("uint8", 4, NO_ATTRIBUTES, U8_RANGE(200, 255, 50)),
    {.name = "Unique", .label = "version28", .since_version = 28, .outputs = 4, .inputs = {I32_RANGE(0, 3, 2, 9)}},
    OTHER_TYPES(UNIQUE_OF),

    {.name = "NonMaxSuppression",
     .label = "float32",
     .since_version = 11,
     .threads = THREADS_8,
     .inputs = {F32_RANGE(0, 3, 2, 40, 4), F32_RANGE(0, 1, 2, 3, 40), LIST(9), ONE(0.4f), ONE(0.2f)}},
    {.name = "NonMaxSuppression",
     .label = "version10",
     .since_version = 10,
     .inputs = {F32_RANGE(0, 3, 1, 20, 4), F32_RANGE(0, 1, 1, 3, 20), LIST(9), ONE(0.4f)}},
    SUPPRESSION("centred", ATTRIBUTES(A_INT("center_point_box", 1)), F32_RANGE(0.5, 3, 2, 40, 4),
                F32_RANGE(0, 1, 2, 3, 40), LIST(100), ONE(0.3f), ABSENT),
    SUPPRESSION("negative_sizes", ATTRIBUTES(A_INT("center_point_box", 1)), F32_RANGE(-1, 2, 2, 40, 4),
                F32_RANGE(0, 1, 2, 3, 40), LIST(100), ONE(0.3f), ABSENT),
    SUPPRESSION("many", NO_ATTRIBUTES, F32_RANGE(0, 3, 1, 700, 4), F32_RANGE(-1, 1, 1, 1, 700), LIST(1000), ONE(0.9f),
                ONE(-0.5f)),
    SUPPRESSION("no_overlap_allowed", NO_ATTRIBUTES, F32_RANGE(0, 3, 1, 40, 4), F32_RANGE(0, 1, 1, 2, 40), LIST(100)),
    SUPPRESSION("equal_scores", NO_ATTRIBUTES, F32_RANGE(0, 3, 1, 40, 4), F32_RANGE(1, 1, 1, 2, 40), LIST(100),
                ONE(0.5f)),
    SUPPRESSION("equal_boxes", NO_ATTRIBUTES, F32_RANGE(1, 1, 1, 9, 4), F32_RANGE(0, 1, 1, 2, 9), LIST(100), ONE(0.5f)),
    /* Half of what they cover together, and a bit more. */
    SUPPRESSION("at_the_threshold", NO_ATTRIBUTES, F32_IS(DIMS(1, 3, 4), 0, 0, 1, 2, 0, 0, 1, 1, 0, 0, 1, 1.25f),
                F32_IS(DIMS(1, 1, 3), 3, 2, 1), LIST(9), ONE(0.5f)),
    SUPPRESSION("not_numbers", NO_ATTRIBUTES,
                F32_IS(DIMS(1, 4, 4), 0, 0, 1, 1, NAN, 0, 1, 1, 0, 0, INFINITY, 1, 5, 5, 5, 5),
                F32_IS(DIMS(1, 1, 4), 1, 2, 3, NAN), LIST(9), ONE(0.5f)),
    SUPPRESSION("none_of_each", NO_ATTRIBUTES, F32(1, 4, 4), F32(1, 2, 4), LIST(0), ONE(0.5f)),
    SUPPRESSION("fewer_than_none", NO_ATTRIBUTES, F32(1, 4, 4), F32(1, 2, 4), LIST(INT64_MIN), ONE(0.5f)),
    SUPPRESSION("all_of_each", NO_ATTRIBUTES, F32(1, 4, 4), F32(1, 2, 4), LIST(INT64_MAX), ONE(1)),
    SUPPRESSION("none_said", NO_ATTRIBUTES, F32(1, 4, 4), F32(1, 2, 4)),
    SUPPRESSION("no_boxes", NO_ATTRIBUTES, F32(2, 0, 4), F32(2, 3, 0), LIST(9)),
    SUPPRESSION("no_batches", NO_ATTRIBUTES, F32(0, INT64_C(1) << 42, 4), F32(0, 1, INT64_C(1) << 42), LIST(9)),
    MEL("float32", THREADS_8, NO_ATTRIBUTES, 80, 400, 16000, 0, 8000),
    MEL("float64", 0, ATTRIBUTES(A_INT("output_datatype", 11)), 8, 16, 8192, 0, 4096),
    MEL("more_than_bins", 0, ATTRIBUTES(A_INT("output_datatype", 1)), 40, 16, 8192, 0, 4096),
    MEL("part", 0, NO_ATTRIBUTES, 23, 513, 22050, 300.5f, 7000.25f),
    MEL("one_frequency", 0, NO_ATTRIBUTES, 3, 64, 8000, 1000.5f, 1000.5f),
    MEL("none", 0, NO_ATTRIBUTES, 0, 64, 8000, 0, 4000),
    MEL("no_length", 0, NO_ATTRIBUTES, 4, 0, 8000, 0, 4000),
    CASE("MelWeightMatrix", "int32", 17, NO_ATTRIBUTES, I32_IS(DIMS(1), 8), I32_IS(DIMS(1), 100), I32_IS(DIMS(1), 8000),
         ONE(20), ONE(3999)),
    SUPPRESSION("no_classes", NO_ATTRIBUTES, F32(2, 4, 4), F32(2, 0, 4), LIST(9)),
};

static const leati_op_spec sound_suppression =
    SUPPRESSION("sound", NO_ATTRIBUTES, F32_IS(DIMS(1, 2, 4), 0, 0, 1, 1, 0, 0, 1, 1), F32_IS(DIMS(1, 1, 2), 1, 2),
                LIST(9), ONE(0.5f));
static const leati_refusal wrong_suppression[] = {{A_INT("center_point_box", 2)},
                                                  {A_INT("center_point_box", -1)},
                                                  {A_INT("center_point_box", INT64_MAX)},
                                                  {A_FLOAT("center_point_box", 1)}};
static const leati_refusals refusals_of_suppression = {
    .sound = &sound_suppression, .wrong = wrong_suppression, .wrong_count = G_N_ELEMENTS(wrong_suppression)};

static const leati_op_spec sound_compress =
    CASE("Compress", "sound", 11, ATTRIBUTES(A_INT("axis", 1)), F32_IS(DIMS(1, 2), 1, 2), BOOLS_ARE(DIMS(2), 0, 1));
static const leati_refusal wrong_compress[] = {
    {A_INT("axis", 2)}, {A_INT("axis", -3)}, {A_INT("axis", INT64_MIN)}, {A_FLOAT("axis", 1)}};
static const leati_refusals refusals_of_compress = {
    .sound = &sound_compress, .wrong = wrong_compress, .wrong_count = G_N_ELEMENTS(wrong_compress)};

static const leati_op_spec sound_unique = UNIQUE("sound", 1, NO_ATTRIBUTES, F32_IS(DIMS(1, 2), 1, 2));
static const leati_refusal wrong_unique[] = {
    {A_INT("axis", 2)}, {A_INT("axis", -3)}, {A_INT("axis", INT64_MIN)}, {A_FLOAT("sorted", 1)}};
static const leati_refusals refusals_of_unique = {
    .sound = &sound_unique, .wrong = wrong_unique, .wrong_count = G_N_ELEMENTS(wrong_unique)};

static const leati_op_spec sound_mel = MEL("sound", 0, NO_ATTRIBUTES, 8, 16, 8192, 0, 4096);
static const leati_refusal wrong_mel[] = {{A_INT("output_datatype", 0)},
                                          {A_INT("output_datatype", 7)},
                                          {A_INT("output_datatype", -1)},
                                          {A_INT("output_datatype", INT64_MIN)},
                                          {A_INT("output_datatype", INT64_C(1) << 32 | 1)},
                                          {A_FLOAT("output_datatype", 1)}};
/* Numbers that make no matrix are refused when they are known. */
static const leati_op_spec wrong_numbers[] = {MEL("", 0, NO_ATTRIBUTES, -1, 16, 8192, 0, 4096),
                                              MEL("", 0, NO_ATTRIBUTES, INT64_MAX, 16, 8192, 0, 4096),
                                              MEL("", 0, NO_ATTRIBUTES, 8, INT64_MIN, 8192, 0, 4096),
                                              MEL("", 0, NO_ATTRIBUTES, 8, INT64_MAX, 8192, 0, 4096),
                                              MEL("", 0, NO_ATTRIBUTES, 8, 16, 0, 0, 4096),
                                              MEL("", 0, NO_ATTRIBUTES, 8, 16, 8192, -1, 4096),
                                              MEL("", 0, NO_ATTRIBUTES, 8, 16, 8192, 4000, 3000),
                                              MEL("", 0, NO_ATTRIBUTES, 8, 16, 8192, 0, 4097),
                                              MEL("", 0, NO_ATTRIBUTES, 8, 16, 8192, 0, INFINITY),
                                              MEL("", 0, NO_ATTRIBUTES, 8, 16, 8192, NAN, 4096),
                                              MEL("", 0, NO_ATTRIBUTES, INT32_MAX, INT32_MAX, 8192, 0, 4096)};
static const leati_refusals refusals_of_mel = {.sound = &sound_mel,
                                               .wrong = wrong_mel,
                                               .wrong_count = G_N_ELEMENTS(wrong_mel),
                                               .others = wrong_numbers,
                                               .other_count = G_N_ELEMENTS(wrong_numbers)};

static const leat_case hostile[] = {{REFUSALS("MelWeightMatrix", "refused", &refusals_of_mel)},
                                    {REFUSALS("NonMaxSuppression", "refused", &refusals_of_suppression)},
                                    {REFUSALS("Compress", "refused", &refusals_of_compress)},
                                    {REFUSALS("Unique", "refused", &refusals_of_unique)}};

void leati_rows_selection(leat_case_list *list) {
  leati_op_cases_add(list, specs, G_N_ELEMENTS(specs));
  leati_case_list_add(list, hostile, G_N_ELEMENTS(hostile));
}
