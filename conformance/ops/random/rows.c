/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of operators that make random numbers. With a seed they are compared with the reference, number by number;
 * what has none is judged by its distribution. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cases/graph_net.h"
#include "cases/sources.h"
#include "fixture.h"
#include "ops/core/op_engine.h"
#include "ops/random/philox.h"

#define OURS(op, named, views, used_threads, attributes_given, ...)                                               \
  {                                                                                                               \
    .name = op, .label = named, .since_version = 1, .domain = "leat", .variants = views, .threads = used_threads, \
    .attributes = attributes_given, .inputs = {                                                                   \
      __VA_ARGS__                                                                                                 \
    }                                                                                                             \
  }
#define DTYPE(number) A_INT("dtype", number)
#define FLOAT16 DTYPE(10)
#define BFLOAT16 DTYPE(16)
#define SEEDED(n) A_FLOAT("seed", n)
#define KEYED(n) A_INT("seed", n)
#define STREAM(n) A_INT("offset", n)
#define SHAPE(...) A_INTS("shape", __VA_ARGS__)

/* Of an operator that is like its input, with one of each type that it may have. */
#define LIKE_ROW(label, t, most, views) PLAIN_LIKE(label, t, most)
#define PLAIN_LIKE(label, t, most)                                                                                \
  CASE("RandomNormalLike", label, 1, ATTRIBUTES(SEEDED(2), DTYPE(1)), RANGE_OF(t, 0, most > 9 ? 9 : most, 3, 5)), \
      CASE("RandomUniformLike", label, 1, ATTRIBUTES(SEEDED(2), DTYPE(1)), RANGE_OF(t, 0, most > 9 ? 9 : most, 3, 5))

#define BERNOULLI_OF(number, label)                                                                 \
  CASE("Bernoulli", "to_" label, 15, ATTRIBUTES(SEEDED(5), DTYPE(number)), F32_RANGE(0, 1, 7, 13)), \
      OURS("Bernoulli", "leat_to_" label, 0, 0, ATTRIBUTES(KEYED(5), DTYPE(number)), F32_RANGE(0, 1, 7, 13))

#define RATIO(t) \
  { .fill = LEATI_FILL_UNIFORM, .type = t, .low = 0.5, .high = 0.5, NO_DIMS }
#define DROPOUT(label, t, version, ...) \
  CASE("Dropout", label, version, NO_ATTRIBUTES, RANGE_OF(t, 0, 1000, 3, 1, 5), __VA_ARGS__)
/* In training. */
#define TRAINED(named, t, views, used_threads, ratio, ...)                                                            \
  {                                                                                                                   \
    .name = "Dropout", .label = named, .since_version = 13, .outputs = 2, .variants = views, .threads = used_threads, \
    .attributes = {KEYED(11)}, .inputs = {                                                                            \
      RANGE_OF(t, -4, 4, __VA_ARGS__),                                                                                \
      F32_IS(NO_DIMS, ratio),                                                                                         \
      BOOLS_ARE(NO_DIMS, 1)                                                                                           \
    }                                                                                                                 \
  }
/* Of domain "leat", of one parameter, by the type of it. */
#define OF_TYPE(op, low, high, label, t, views, used_threads, ...)                                \
  OURS(op, label, views, used_threads, ATTRIBUTES(KEYED(INT64_C(-81985529216486896)), STREAM(2)), \
       RANGE_OF(t, low, high, __VA_ARGS__))
#define OF_TYPES(op, low, high)                                                                      \
  OF_TYPE(op, low, high, "float32", LEATI_REF_FLOAT32, VIEWS, THREADS_16, 5, 4, 71),                 \
      OF_TYPE(op, low, high, "float16", LEATI_REF_FLOAT16, VIEW_OFFSET, 0, 3, 97),                   \
      OF_TYPE(op, low, high, "bfloat16", LEATI_REF_BFLOAT16, 0, 0, 3, 97),                           \
      OURS(op, "special", 0, 0, ATTRIBUTES(KEYED(4)), MIXED(LEATI_REF_FLOAT32, low, high, 7, 64)),   \
      OURS(op, "offset", VIEW_DYNAMIC, 0, ATTRIBUTES(KEYED(4), STREAM(-3)), F32_RANGE(low, high, 9), \
           I64_IS(NO_DIMS, 9)),                                                                      \
      OURS(op, "empty", 0, 0, ATTRIBUTES(KEYED(4)), F32(0, 3))

static const leati_op_spec specs[] = {
    VIEWED("RandomNormal", "float32", 1, 0, THREADS_ALL, ATTRIBUTES(SEEDED(3.5f), SHAPE(3, 5, 37), DTYPE(1)), NO_MORE),
    CASE("RandomNormal", "float16", 1, ATTRIBUTES(SEEDED(1), SHAPE(2, 301), FLOAT16, A_FLOAT("mean", 3)), NO_MORE),
    CASE("RandomNormal", "bfloat16", 22, ATTRIBUTES(SEEDED(1), SHAPE(2, 301), BFLOAT16, A_FLOAT("scale", -0.25f)),
         NO_MORE),
    CASE("RandomNormal", "scalar", 1,
         ATTRIBUTES(SEEDED(-1), {.struct_size = sizeof(leat_attribute), .type = LEAT_ATTRIBUTE_INTS, .name = "shape"}),
         NO_MORE),
    CASE("RandomNormal", "empty", 1, ATTRIBUTES(SEEDED(1), SHAPE(4, 0, 2)), NO_MORE),
    CASE("RandomNormal", "many", 22, ATTRIBUTES(SEEDED(9), SHAPE(70001)), NO_MORE),
    CASE("RandomNormal", "no_scale", 22, ATTRIBUTES(SEEDED(9), SHAPE(9), A_FLOAT("scale", 0), A_FLOAT("mean", 4)),
         NO_MORE),
    VIEWED("RandomUniform", "float32", 1, 0, THREADS_ALL, ATTRIBUTES(SEEDED(3.5f), SHAPE(3, 5, 37), DTYPE(1)), NO_MORE),
    CASE("RandomUniform", "float16", 1, ATTRIBUTES(SEEDED(1), SHAPE(603), FLOAT16, A_FLOAT("low", -3)), NO_MORE),
    CASE("RandomUniform", "bfloat16", 22, ATTRIBUTES(SEEDED(1), SHAPE(603), BFLOAT16, A_FLOAT("high", 8)), NO_MORE),
    CASE("RandomUniform", "backwards", 22, ATTRIBUTES(SEEDED(1), SHAPE(99), A_FLOAT("low", 2), A_FLOAT("high", -1)),
         NO_MORE),
    VIEWED("RandomNormalLike", "float32", 1, ALL_VIEWS, THREADS_16, ATTRIBUTES(SEEDED(4)), F32(5, 41)),
    CASE("RandomNormalLike", "float16_out", 22, ATTRIBUTES(SEEDED(4), FLOAT16), F32(5, 41)),
    CASE("RandomNormalLike", "bfloat16_out", 22, ATTRIBUTES(SEEDED(4), BFLOAT16), F32(5, 41)),
    VIEWED("RandomUniformLike", "float32", 1, ALL_VIEWS, THREADS_16, ATTRIBUTES(SEEDED(4)), F32(5, 41)),
    CASE("RandomUniformLike", "float16_out", 22, ATTRIBUTES(SEEDED(4), FLOAT16), F32(5, 41)),
    CASE("RandomUniformLike", "bfloat16_out", 22, ATTRIBUTES(SEEDED(4), BFLOAT16), F32(5, 41)),
    OTHER_TYPES(LIKE_ROW),
    PLAIN_LIKE("int64", LEATI_REF_INT64, 9),
    PLAIN_LIKE("int32", LEATI_REF_INT32, 9),
    PLAIN_LIKE("uint8", LEATI_REF_UINT8, 9),
    PLAIN_LIKE("bool", LEATI_REF_BOOL, 1),

    VIEWED("Bernoulli", "float32", 15, ALL_VIEWS, THREADS_ALL, ATTRIBUTES(SEEDED(5)), F32_RANGE(0, 1, 7, 13)),
    CASE("Bernoulli", "float16", 15, ATTRIBUTES(SEEDED(5)), RANGE_OF(LEATI_REF_FLOAT16, 0, 1, 7, 13)),
    CASE("Bernoulli", "bfloat16", 22, ATTRIBUTES(SEEDED(5)), RANGE_OF(LEATI_REF_BFLOAT16, 0, 1, 7, 13)),
    CASE("Bernoulli", "special", 15, ATTRIBUTES(SEEDED(5)), F32_SPECIAL(3, 48)),
    BERNOULLI_OF(10, "float16"),
    BERNOULLI_OF(16, "bfloat16"),
    BERNOULLI_OF(3, "int8"),
    BERNOULLI_OF(5, "int16"),
    BERNOULLI_OF(6, "int32"),
    BERNOULLI_OF(7, "int64"),
    BERNOULLI_OF(2, "uint8"),
    BERNOULLI_OF(4, "uint16"),
    BERNOULLI_OF(12, "uint32"),
    BERNOULLI_OF(13, "uint64"),
    BERNOULLI_OF(9, "bool"),

    OURS("RandomNormal", "leat", 0, THREADS_16,
         ATTRIBUTES(KEYED(INT64_C(0x123456789abcdef)), STREAM(7), SHAPE(1001), DTYPE(1)), NO_MORE),
    OURS("RandomNormal", "offset", VIEW_DYNAMIC, 0, ATTRIBUTES(KEYED(-5), STREAM(-1), SHAPE(33)), I64_IS(NO_DIMS, 9)),
    OURS("RandomNormal", "leat_float16", 0, 0, ATTRIBUTES(KEYED(1), SHAPE(33), FLOAT16), NO_MORE),
    OURS("RandomNormal", "leat_bfloat16", 0, 0, ATTRIBUTES(KEYED(1), SHAPE(33), BFLOAT16), NO_MORE),
    OURS("RandomUniform", "leat", 0, THREADS_16,
         ATTRIBUTES(KEYED(INT64_C(0x123456789abcdef)), STREAM(7), SHAPE(1001), DTYPE(1)), NO_MORE),
    OURS("RandomUniform", "offset", VIEW_DYNAMIC, 0, ATTRIBUTES(KEYED(-5), STREAM(-1), SHAPE(33)), I64_IS(DIMS(1), 9)),
    OURS("RandomUniform", "leat_float16", 0, 0, ATTRIBUTES(KEYED(1), SHAPE(33), FLOAT16), NO_MORE),
    OURS("RandomUniform", "leat_bfloat16", 0, 0, ATTRIBUTES(KEYED(1), SHAPE(33), BFLOAT16), NO_MORE),
    OURS("Bernoulli", "leat", VIEWS, THREADS_16, ATTRIBUTES(KEYED(3), STREAM(7)), F32_RANGE(0, 1, 7, 13)),
    OURS("Bernoulli", "offset", 0, 0, ATTRIBUTES(KEYED(3), STREAM(7), DTYPE(7)), F32_RANGE(0, 1, 7, 13),
         I64_IS(NO_DIMS, 9)),
    OURS("Bernoulli", "leat_float16", 0, 0, ATTRIBUTES(KEYED(5)), RANGE_OF(LEATI_REF_FLOAT16, 0, 1, 7, 13)),
    OURS("Bernoulli", "leat_bfloat16", 0, 0, ATTRIBUTES(KEYED(5)), RANGE_OF(LEATI_REF_BFLOAT16, 0, 1, 7, 13)),

    VIEWED("Multinomial", "float32", 7, ALL_VIEWS, THREADS_ALL, ATTRIBUTES(SEEDED(5), A_INT("sample_size", 300)),
           F32_RANGE(-3, 3, 5, 7)),
    CASE("Multinomial", "float16", 7, ATTRIBUTES(SEEDED(5), A_INT("sample_size", 50), DTYPE(7)),
         RANGE_OF(LEATI_REF_FLOAT16, -3, 3, 3, 70)),
    CASE("Multinomial", "bfloat16", 22, ATTRIBUTES(SEEDED(5), A_INT("sample_size", 50), DTYPE(6)),
         RANGE_OF(LEATI_REF_BFLOAT16, -3, 3, 3, 70)),
    CASE("Multinomial", "one_sample", 7, ATTRIBUTES(SEEDED(1)), F32_RANGE(-3, 3, 33, 1000)),
    CASE("Multinomial", "one_class", 7, ATTRIBUTES(SEEDED(1), A_INT("sample_size", 9)), F32(4, 1)),
    CASE("Multinomial", "many_samples", 7, ATTRIBUTES(SEEDED(1), A_INT("sample_size", 2500)), F32(2, 3000)),
    CASE("Multinomial", "impossible", 7, ATTRIBUTES(SEEDED(1), A_INT("sample_size", 40)),
         F32_IS(DIMS(5, 4), -INFINITY, 0, -INFINITY, 1, -INFINITY, -INFINITY, -INFINITY, -INFINITY, 0, 1, NAN, 2, 0,
                INFINITY, 7, INFINITY, -200, 0, 0, -200)),
    /* More rows than workgroups that a device must be able to start in one dimension. */
    CASE("Multinomial", "many_rows", 7, ATTRIBUTES(SEEDED(1)), F32_RANGE(-3, 3, 66000, 2)),
    CASE("Multinomial", "empty", 7, ATTRIBUTES(SEEDED(1)), F32(0, 4)),

    VIEWED("Dropout", "float32", 13, VIEW_DYNAMIC, THREADS_8, NO_ATTRIBUTES, F32(3, 5, 7)),
    CASE("Dropout", "ratio", 22, NO_ATTRIBUTES, F32(5, 7), F32_IS(NO_DIMS, 0.5f)),
    {.name = "Dropout",
     .label = "training_false",
     .since_version = 13,
     .variants = VIEW_DYNAMIC,
     .inputs = {F32(5, 7), F32_IS(NO_DIMS, 0.5f), BOOLS_ARE(NO_DIMS, 0)}},
    {.name = "Dropout", .label = "mask", .since_version = 13, .outputs = 2, .inputs = {F32(5, 7)}},
    {.name = "Dropout", .label = "mask_7", .since_version = 7, .outputs = 2, .inputs = {F32(5, 7)}},
    {.name = "Dropout", .label = "mask_10", .since_version = 10, .outputs = 2, .inputs = {F32(5, 7)}},
    DROPOUT("float16_7", LEATI_REF_FLOAT16, 7, NO_MORE),
    DROPOUT("bfloat16_7", LEATI_REF_BFLOAT16, 7, NO_MORE),
    DROPOUT("float64_7", LEATI_REF_FLOAT64, 7, NO_MORE),
    DROPOUT("float16_10", LEATI_REF_FLOAT16, 10, NO_MORE),
    DROPOUT("bfloat16_10", LEATI_REF_BFLOAT16, 10, NO_MORE),
    DROPOUT("float64_10", LEATI_REF_FLOAT64, 10, NO_MORE),
    DROPOUT("float16", LEATI_REF_FLOAT16, 13, RATIO(LEATI_REF_FLOAT16)),
    DROPOUT("bfloat16", LEATI_REF_BFLOAT16, 22, RATIO(LEATI_REF_BFLOAT16)),
    DROPOUT("float64", LEATI_REF_FLOAT64, 12, RATIO(LEATI_REF_FLOAT64)),

    TRAINED("training", LEATI_REF_FLOAT32, ALL_VIEWS | VIEW_IN_PLACE, THREADS_ALL, 0.25f, 3, 5, 71),
    TRAINED("training_float16", LEATI_REF_FLOAT16, VIEW_OFFSET | VIEW_DYNAMIC, 0, 0.75f, 3, 5, 71),
    TRAINED("training_bfloat16", LEATI_REF_BFLOAT16, VIEW_SLICED, 0, 0.5f, 1024),
    TRAINED("training_all_kept", LEATI_REF_FLOAT32, 0, 0, 0, 99),
    {.name = "Dropout",
     .label = "training_default",
     .since_version = 22,
     .attributes = {KEYED(-7)},
     .inputs = {F32(5, 7), ABSENT, BOOLS_ARE(NO_DIMS, 1)}},
    {.name = "Dropout",
     .label = "leat",
     .since_version = 1,
     .domain = "leat",
     .outputs = 2,
     .variants = VIEWS | VIEW_IN_PLACE,
     .threads = THREADS_16,
     .attributes = {KEYED(INT64_MIN), STREAM(5), A_FLOAT("ratio", 0.125f)},
     .inputs = {F32(5, 70), I64_IS(DIMS(1), 9)}},
    OURS("Dropout", "leat_float16", 0, 0, ATTRIBUTES(KEYED(5)), RANGE_OF(LEATI_REF_FLOAT16, -4, 4, 7, 13)),
    OURS("Dropout", "leat_bfloat16", 0, 0, ATTRIBUTES(KEYED(5)), RANGE_OF(LEATI_REF_BFLOAT16, -4, 4, 7, 13)),

    OF_TYPES("RandomExponential", 0.125, 4),
    OF_TYPES("RandomGeometric", 0.0625, 1),
    OF_TYPES("RandomGamma", 0.125, 12),
    OURS("RandomGamma", "large", 0, 0, ATTRIBUTES(KEYED(4)),
         F32_IS(DIMS(8), 1e3f, 1e5f, 1e7f, 1e10f, 1e17f, 1e20f, 1e37f, INFINITY)),
    OURS("RandomGamma", "small", 0, 0, ATTRIBUTES(KEYED(4)),
         F32_IS(DIMS(8), 1e-1f, 1e-2f, 1e-3f, 1e-6f, 1e-20f, 1e-37f, 0, -1)),
    OF_TYPES("RandomDirichlet", 0.125, 12),
    OURS("RandomDirichlet", "one", 0, 0, ATTRIBUTES(KEYED(4)), F32_RANGE(1, 2, 3, 1)),
    OURS("RandomDirichlet", "long", 0, 0, ATTRIBUTES(KEYED(4)), F32_RANGE(0.5, 2, 2, 1500)),
    OURS("RandomDirichlet", "small", 0, 0, ATTRIBUTES(KEYED(4)), F32_RANGE(1e-4, 1e-3, 9, 4)),
    OURS("RandomBeta", "float32", VIEWS, THREADS_16, ATTRIBUTES(KEYED(4)), F32_RANGE(0.125, 9, 5, 4, 71),
         F32_RANGE(0.125, 9, 5, 4, 71)),
    OURS("RandomBeta", "float16", VIEW_OFFSET, 0, ATTRIBUTES(KEYED(4)), RANGE_OF(LEATI_REF_FLOAT16, 0.125, 9, 5, 71),
         RANGE_OF(LEATI_REF_FLOAT16, 0.125, 9, 5, 71)),
    OURS("RandomBeta", "bfloat16", 0, 0, ATTRIBUTES(KEYED(4), STREAM(8)), RANGE_OF(LEATI_REF_BFLOAT16, 0.125, 9, 5, 71),
         RANGE_OF(LEATI_REF_BFLOAT16, 0.125, 9, 5, 71), I64_IS(NO_DIMS, -8)),
    OURS("RandomBeta", "extreme", 0, 0, ATTRIBUTES(KEYED(4)), F32_IS(DIMS(8), 1e-3f, 1e3f, 1e-3f, 0, 2, 0, -1, 1e-2f),
         F32_IS(DIMS(8), 1e3f, 1e-3f, 1e-3f, 2, 0, 0, 2, 1e-2f)),
    OURS("RandomPermutation", "int64", 0, THREADS_16, ATTRIBUTES(KEYED(4), A_INT("count", 1000), DTYPE(7)), NO_MORE),
    OURS("RandomPermutation", "int32", 0, 0, ATTRIBUTES(KEYED(4), A_INT("count", 4097), DTYPE(6)), NO_MORE),
    OURS("RandomPermutation", "offset", VIEW_DYNAMIC, 0, ATTRIBUTES(KEYED(4), STREAM(1), A_INT("count", 7)),
         I64_IS(NO_DIMS, 9)),
    OURS("RandomPermutation", "one", 0, 0, ATTRIBUTES(KEYED(4), A_INT("count", 1)), NO_MORE),
    OURS("RandomPermutation", "none", 0, 0, ATTRIBUTES(KEYED(4), A_INT("count", 0)), NO_MORE),
};

/* ---- The published vectors -------------------------------------------------------------------------------------- */

/* Counters, keys and words of Philox 4x32-10 from the file kat_vectors that its authors publish (Random123). */
static const struct {
  uint32_t counter[4], key[2], words[4];
} known[] = {
    {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
     {0xffffffff, 0xffffffff},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     {0xa4093822, 0x299f31d0},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

enum { SAMPLES = 1 << 16 };

/* An operator without inputs, of one dimension of SAMPLES float32 numbers, with so many further attributes. */
static leat_op *new_source(leat_case_context *ctx, const char *domain, const char *name, uint32_t attribute_count,
                           const leat_attribute *more) {
  static const int64_t dims[] = {SAMPLES};
  static const leat_attribute shape = {
      .struct_size = sizeof(shape), .type = LEAT_ATTRIBUTE_INTS, .name = "shape", .count = 1, .ints = dims};
  const leat_attribute *attributes[3] = {&shape};
  for (uint32_t i = 0; i < attribute_count; ++i) {
    attributes[i + 1] = &more[i];
  }
  const leat_op_desc desc = {.struct_size = sizeof(desc),
                             .since_version = 1,
                             .name = name,
                             .domain = domain,
                             .attribute_count = attribute_count + 1,
                             .attributes = attributes,
                             .output_count = 1};
  leat_op *op = NULL;
  leat_device *const device = leati_fixture_device(ctx);
  leati_case_require_op(ctx, &desc);
  LEAT_CHECK_OK(ctx, ctx->op->create(device, &desc, &op, LEAT_ERR));
  return op;
}

/* Puts SAMPLES numbers into `out`, and waits for them. */
static void draw_samples(leat_case_context *ctx, const leat_op *op, leat_stream *stream, float *out) {
  static const int64_t dims[] = {SAMPLES};
  const uint64_t block = leati_case_alloc(ctx, SAMPLES * sizeof(float), stream);
  leat_case_tensor view;
  leati_case_tensor_device(ctx, &view, block, LEAT_F32, 1, dims);
  leati_op_invoke(ctx, op, stream, 0, NULL, &view);
  leati_download(ctx, stream, block, out, SAMPLES * sizeof(float));
  leati_synchronize(ctx, stream);
  leati_case_free(ctx, block);
}

static void known_answers(leat_case_context *ctx, const void *data) {
  const leat_attribute seed = A_INT("seed", 0);
  float *const samples = g_new(float, SAMPLES);
  (void)data;
  leat_op *const op = new_source(ctx, "leat", "RandomUniform", 1, &seed);
  leat_stream *const stream = leati_stream_new(ctx);
  draw_samples(ctx, op, stream, samples);
  for (size_t v = 0; v < G_N_ELEMENTS(known); ++v) {
    uint32_t words[4];
    leati_ref_philox(known[v].counter, known[v].key, words);
    LEAT_CHECK(ctx, memcmp(words, known[v].words, sizeof(words)) == 0);
  }
  /* The first vector is the first four numbers of this seed. */
  for (int i = 0; i < 4; ++i) {
    const float want = (float)(known[0].words[i] >> 8) * 0x1p-24f;
    LEAT_CHECK_MESSAGE(ctx, samples[i] == want, "number %d of seed 0 is %.9g, not %.9g", i, (double)samples[i],
                       (double)want);
  }
  g_free(samples);
  leati_stream_destroy(ctx, stream);
  leati_op_destroy(ctx, op);
}

/* ---- Distributions ---------------------------------------------------------------------------------------------- */

static int compare_floats(const void *a, const void *b) {
  const float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

static double normal_below(double x) {
  return 0.5 * erfc(-x * M_SQRT1_2);
}
static double uniform_below(double x) {
  return x < 0 ? 0 : x > 1 ? 1 : x;
}

/* A source of numbers, and which part of them is below a number. */
typedef struct source {
  const char *name;
  double (*below)(double x);
  double mean, deviation, kurtosis; /* of the distribution; kurtosis is that of (x - mean) / deviation, not 3 less */
} source;

static const source normal_source = {"RandomNormal", normal_below, 0, 1, 3};
static const source uniform_source = {"RandomUniform", uniform_below, 0.5, 0.28867513459481287, 1.8};

/* By Kolmogorov and Smirnov: the largest distance of the share of numbers below x from the probability, d, has
 * P(d > t) <= 2 exp(-2 n t^2) (Dvoretzky, Kiefer, Wolfowitz, Massart). Mean and variance of n numbers have deviations
 * of s / sqrt(n) and s^2 sqrt((kurtosis - 1) / n), and are nearly normal. What is asked here fails for one in 10^12 of
 * sources that are right. Sorts the numbers. */
static void check_distribution(leat_case_context *ctx, const source *from, float *samples) {
  const double n = SAMPLES, most = sqrt(log(2e12) / (2 * n));
  double sum = 0, squares = 0, distance = 0;
  qsort(samples, SAMPLES, sizeof(*samples), compare_floats);
  for (int i = 0; i < SAMPLES; ++i) {
    const double below = from->below((double)samples[i]);
    distance = fmax(distance, fmax(fabs(below - i / n), fabs(below - (i + 1) / n)));
    sum += (double)samples[i];
  }
  const double mean = sum / n;
  for (int i = 0; i < SAMPLES; ++i) {
    squares += ((double)samples[i] - mean) * ((double)samples[i] - mean);
  }
  LEAT_CHECK_MESSAGE(ctx, distance <= most, "%s: the distribution is %g off, more than %g", from->name, distance, most);
  LEAT_CHECK_MESSAGE(ctx, fabs(mean - from->mean) <= 7.2 * from->deviation / sqrt(n), "%s: the mean is %g", from->name,
                     mean);
  const double variance = squares / n, right = from->deviation * from->deviation;
  LEAT_CHECK_MESSAGE(ctx, fabs(variance - right) <= 7.2 * right * sqrt((from->kurtosis - 1) / n),
                     "%s: the variance is %g", from->name, variance);
}

/* Neighbours, and a number and the one four further on, have a correlation of 0: its deviation is 1 / sqrt(n). */
static void check_independence(leat_case_context *ctx, const source *from, const float *samples) {
  static const int distances[] = {1, 2, 3, 4, 256, 1024};
  for (size_t k = 0; k < G_N_ELEMENTS(distances); ++k) {
    double sum = 0;
    for (int i = 0; i + distances[k] < SAMPLES; ++i) {
      sum += ((double)samples[i] - from->mean) * ((double)samples[i + distances[k]] - from->mean);
    }
    sum /= from->deviation * from->deviation * SAMPLES;
    LEAT_CHECK_MESSAGE(ctx, fabs(sum) <= 7.2 / sqrt(SAMPLES), "%s: numbers %d apart have a correlation of %g",
                       from->name, distances[k], sum);
  }
}

static void distribution_of_seed(leat_case_context *ctx, const void *data) {
  const source *const from = data;
  const leat_attribute keys[] = {A_INT("seed", 20261129), A_INT("offset", 3)};
  float *const samples = g_new(float, SAMPLES);
  leat_op *const op = new_source(ctx, "leat", from->name, 2, keys);
  leat_stream *const stream = leati_stream_new(ctx);
  draw_samples(ctx, op, stream, samples);
  check_independence(ctx, from, samples);
  check_distribution(ctx, from, samples);
  g_free(samples);
  leati_stream_destroy(ctx, stream);
  leati_op_destroy(ctx, op);
}

/* ---- Distributions by parameters -------------------------------------------------------------------------------- */

/* An operator whose inputs are parameters, each of one value, in rows of so many columns, of which the first counts. */
typedef struct drawn_by {
  source source;
  uint32_t parameter_count;
  float parameters[2];
  int64_t columns;
} drawn_by;

static double exponential_below(double x) {
  return x < 0 ? 0 : -expm1(-2 * x);
}
/* Gamma distributions of shapes that have a closed form, and a beta and a Dirichlet distribution. */
static double gamma_half_below(double x) {
  return x < 0 ? 0 : erf(sqrt(x));
}
static double gamma_one_below(double x) {
  return x < 0 ? 0 : -expm1(-x);
}
static double gamma_four_below(double x) {
  return x < 0 ? 0 : 1 - exp(-x) * (1 + x * (1 + x * (0.5 + x / 6)));
}
static double beta_below(double x) {
  return x < 0 ? 0 : x > 1 ? 1 : x * x * (3 - 2 * x);
}
static double beta_small_below(double x) {
  return x < 0 ? 0 : x > 1 ? 1 : sqrt(x);
}
static double dirichlet_below(double x) {
  return x < 0 ? 0 : x > 1 ? 1 : 1 - (1 - x) * (1 - x);
}

/* The kurtosis of a gamma distribution is 3 + 6 / shape, that of an exponential one 9; the others' follow from their
 * moments. */
static const drawn_by exponential_drawn = {{"RandomExponential", exponential_below, 0.5, 0.5, 9}, 1, {2, 0}, 1};
static const drawn_by gamma_half_drawn = {
    {"RandomGamma", gamma_half_below, 0.5, 0.7071067811865476, 15}, 1, {0.5f, 0}, 1};
static const drawn_by gamma_one_drawn = {{"RandomGamma", gamma_one_below, 1, 1, 9}, 1, {1, 0}, 1};
static const drawn_by gamma_four_drawn = {{"RandomGamma", gamma_four_below, 4, 2, 4.5}, 1, {4, 0}, 1};
static const drawn_by beta_drawn = {
    {"RandomBeta", beta_below, 0.5, 0.22360679774997896, 2.142857142857143}, 2, {2, 2}, 1};
static const drawn_by beta_small_drawn = {
    {"RandomBeta", beta_small_below, 0.3333333333333333, 0.29814239699997197, 2.142857142857143}, 2, {0.5f, 1}, 1};
static const drawn_by dirichlet_drawn = {
    {"RandomDirichlet", dirichlet_below, 0.3333333333333333, 0.23570226039551584, 2.4}, 1, {1, 0}, 3};

static void distribution_by(leat_case_context *ctx, const void *data) {
  const drawn_by *const test = data;
  const leat_attribute keys[] = {A_INT("seed", 20261129), A_INT("offset", 3)};
  const leat_attribute *const attributes[] = {&keys[0], &keys[1]};
  const int64_t dims[] = {SAMPLES, test->columns}, count = SAMPLES * test->columns;
  const leat_value_info info = {.struct_size = sizeof(info), .ndim = 2, .dtype = LEAT_F32, .shape = dims};
  const leat_value_info *const infos[] = {&info, &info};
  const leat_op_desc desc = {.struct_size = sizeof(desc),
                             .since_version = 1,
                             .name = test->source.name,
                             .domain = "leat",
                             .attribute_count = 2,
                             .attributes = attributes,
                             .input_count = test->parameter_count,
                             .output_count = 1,
                             .inputs = infos};
  leat_op *op = NULL;
  leat_device *const device = leati_fixture_device(ctx);
  leati_case_require_op(ctx, &desc);
  LEAT_CHECK_OK(ctx, ctx->op->create(device, &desc, &op, LEAT_ERR));
  leat_stream *const stream = leati_stream_new(ctx);
  float *const values = g_new(float, (gsize)count);
  leat_case_tensor views[3];
  uint64_t blocks[3];
  for (uint32_t k = 0; k < 3; ++k) {
    blocks[k] = leati_case_alloc(ctx, (uint64_t)count * sizeof(float), stream);
    leati_case_tensor_device(ctx, &views[k], blocks[k], LEAT_F32, 2, dims);
    for (int64_t i = 0; k < 2 && i < count; ++i) {
      values[i] = test->parameters[k];
    }
    if (k < 2) {
      leati_upload(ctx, stream, blocks[k], values, (uint64_t)count * sizeof(float));
    }
  }
  const leat_case_tensor *const inputs[] = {&views[0], &views[1]};
  leati_op_invoke(ctx, op, stream, test->parameter_count, inputs, &views[2]);
  leati_download(ctx, stream, blocks[2], values, (uint64_t)count * sizeof(float));
  leati_synchronize(ctx, stream);
  for (int64_t i = 0; i < SAMPLES; ++i) {
    values[i] = values[i * test->columns];
  }
  check_independence(ctx, &test->source, values);
  check_distribution(ctx, &test->source, values);
  for (int k = 0; k < 3; ++k) {
    leati_case_free(ctx, blocks[k]);
  }
  g_free(values);
  leati_stream_destroy(ctx, stream);
  leati_op_destroy(ctx, op);
}

/* All 24 permutations of four are equally likely: of 4,800, one from each stream, so many of each that the sum of
 * (found - 200)^2 / 200 is at most k + 2 sqrt(k t) + 2 t for k = 23 and t = 27.6, which it exceeds with a probability
 * below e^-t, one in 10^12 (Laurent and Massart). */
static void permutations(leat_case_context *ctx, const void *data) {
  enum { COUNT = 4, KINDS = 24, DRAWS = 200 * KINDS };
  static const int64_t dims[] = {COUNT};
  const leat_attribute keys[] = {A_INT("seed", 20261129), A_INT("count", COUNT)};
  const leat_attribute *const attributes[] = {&keys[0], &keys[1]};
  const leat_value_info info = {.struct_size = sizeof(info), .dtype = LEAT_I64};
  const leat_value_info *const infos[] = {&info};
  const leat_op_desc desc = {.struct_size = sizeof(desc),
                             .since_version = 1,
                             .name = "RandomPermutation",
                             .domain = "leat",
                             .attribute_count = 2,
                             .attributes = attributes,
                             .input_count = 1,
                             .output_count = 1,
                             .inputs = infos};
  leat_op *op = NULL;
  (void)data;
  leat_device *const device = leati_fixture_device(ctx);
  leati_case_require_op(ctx, &desc);
  LEAT_CHECK_OK(ctx, ctx->op->create(device, &desc, &op, LEAT_ERR));
  leat_stream *const stream = leati_stream_new(ctx);
  int64_t *const numbers = g_new(int64_t, DRAWS * COUNT);
  const uint64_t out = leati_case_alloc(ctx, DRAWS * sizeof(int64_t) * COUNT, stream);
  const uint64_t streams = leati_case_alloc(ctx, DRAWS * sizeof(int64_t), stream);
  for (int64_t i = 0; i < DRAWS; ++i) {
    numbers[i] = i;
  }
  leati_upload(ctx, stream, streams, numbers, DRAWS * sizeof(int64_t));
  for (uint64_t i = 0; i < DRAWS; ++i) {
    leat_case_tensor offset, view;
    leati_case_tensor_device(ctx, &offset, streams, LEAT_I64, 0, NULL);
    offset.tensor.byte_offset = i * sizeof(int64_t);
    leati_case_tensor_device(ctx, &view, out, LEAT_I64, 1, dims);
    view.tensor.byte_offset = i * sizeof(int64_t) * COUNT;
    const leat_case_tensor *const inputs[] = {&offset};
    leati_op_invoke(ctx, op, stream, 1, inputs, &view);
  }
  leati_download(ctx, stream, out, numbers, DRAWS * sizeof(int64_t) * COUNT);
  leati_synchronize(ctx, stream);
  int found[1 << (2 * COUNT)] = {0};
  double sum = 0;
  for (int i = 0; i < DRAWS; ++i) {
    int kind = 0;
    for (int k = 0; k < COUNT; ++k) {
      kind = kind << 2 | (int)(numbers[i * COUNT + k] & 3);
    }
    found[kind]++;
  }
  int kinds = 0;
  for (size_t k = 0; k < G_N_ELEMENTS(found); ++k) {
    kinds += found[k] != 0;
    sum += found[k] != 0 ? (found[k] - 200.0) * (found[k] - 200.0) / 200 : 0;
  }
  LEAT_CHECK_MESSAGE(ctx, kinds == KINDS, "%d permutations of four were seen, not 24", kinds);
  LEAT_CHECK_MESSAGE(ctx, sum <= 23 + 2 * sqrt(23 * 27.6) + 2 * 27.6, "permutations differ in number: %g", sum);
  g_free(numbers);
  leati_case_free(ctx, out);
  leati_case_free(ctx, streams);
  leati_stream_destroy(ctx, stream);
  leati_op_destroy(ctx, op);
}

/* ---- Without a seed --------------------------------------------------------------------------------------------- */

enum { THREADS = 16, LAUNCHES = 4 };

typedef struct unseeded {
  const source *from;
  leat_op *op;
  leat_graph *graph; /* NULL: the operator is invoked */
  /* What each launch gave first: two launches have the same 128 bits in one of 10^29 cases. */
  float first[THREADS * LAUNCHES][2][4];
} unseeded;

static void unseeded_thread(leat_case_context *ctx, uint32_t index, void *data) {
  unseeded *const test = data;
  static const int64_t dims[] = {SAMPLES};
  float *const samples = g_new(float, SAMPLES);
  leat_stream *const stream = leati_stream_new(ctx);
  for (int l = 0; l < LAUNCHES; ++l) {
    float(*const first)[4] = test->first[index * LAUNCHES + (uint32_t)l];
    if (test->graph == NULL) {
      draw_samples(ctx, test->op, stream, samples);
      memcpy(first[0], samples, sizeof(first[0]));
      memcpy(first[1], &samples[SAMPLES / 2], sizeof(first[1]));
      check_distribution(ctx, test->from, samples);
      continue;
    }
    leat_case_tensor views[2];
    const DLTensor *given[2];
    uint64_t blocks[2];
    for (int o = 0; o < 2; ++o) {
      blocks[o] = leati_case_alloc(ctx, SAMPLES * sizeof(float), stream);
      leati_case_tensor_device(ctx, &views[o], blocks[o], LEAT_F32, 1, dims);
      given[o] = &views[o].tensor;
    }
    LEAT_CHECK_OK(ctx, ctx->api->graph->launch(test->graph, stream, 0, NULL, 2, given, LEAT_ERR));
    for (int o = 0; o < 2; ++o) {
      leati_download(ctx, stream, blocks[o], samples, SAMPLES * sizeof(float));
      leati_synchronize(ctx, stream);
      memcpy(first[o], samples, sizeof(first[o]));
      check_distribution(ctx, test->from, samples);
      leati_case_free(ctx, blocks[o]);
    }
  }
  leati_stream_destroy(ctx, stream);
  g_free(samples);
}

/* Two nodes that are alike, without a seed. */
static leat_graph *new_graph(leat_case_context *ctx, const char *name) {
  static const int64_t dims[] = {SAMPLES};
  static const leat_attribute shape = {
      .struct_size = sizeof(shape), .type = LEAT_ATTRIBUTE_INTS, .name = "shape", .count = 1, .ints = dims};
  leati_builder *const builder = leati_builder_new();
  for (int n = 0; n < 2; ++n) {
    const uint32_t value = leati_builder_node(builder, name, 1, 0, NULL);
    leati_builder_attribute(builder, &shape);
    leati_builder_output(builder, value);
  }
  leat_graph *const graph = leati_graph_new(ctx, builder);
  g_free(builder);
  return graph;
}

static void without_seed(leat_case_context *ctx, const source *from, bool graph) {
  unseeded *const test = g_new0(unseeded, 1);
  test->from = from;
  (void)leati_fixture_device(ctx);
  if (graph) {
    leati_graph_require(ctx);
    test->graph = new_graph(ctx, from->name);
  } else {
    test->op = new_source(ctx, NULL, from->name, 0, NULL);
  }
  leati_threads_run(ctx, THREADS, unseeded_thread, test);
  const int count = THREADS * LAUNCHES * 2;
  float(*const first)[4] = test->first[0];
  for (int i = 0; i < count; ++i) {
    for (int k = 0; k < i; ++k) {
      LEAT_CHECK_MESSAGE(ctx, memcmp(first[i], first[k], sizeof(first[i])) != 0,
                         "%s: two of %d launches without a seed gave the same numbers", from->name, count);
    }
  }
  if (graph) {
    leati_graph_destroy(ctx, test->graph);
  } else {
    leati_op_destroy(ctx, test->op);
  }
  g_free(test);
}

static void without_seed_direct(leat_case_context *ctx, const void *data) {
  without_seed(ctx, data, false);
}
static void without_seed_graph(leat_case_context *ctx, const void *data) {
  without_seed(ctx, data, true);
}

/* ---- What is refused -------------------------------------------------------------------------------------------- */

static void refused(leat_case_context *ctx, const void *data) {
  static const int64_t negative[] = {4, -1}, nine[9] = {1}, huge[] = {INT64_MAX, INT64_MAX, 4},
                       large[] = {1 << 20, 4096};
  const struct {
    leat_attribute attributes[2];
    uint32_t count;
    int32_t status;
  } bad[] = {
      {{SHAPE(4)}, 0, LEAT_ERROR_INVALID_ARGUMENT},
      {{{.struct_size = sizeof(leat_attribute),
         .type = LEAT_ATTRIBUTE_INTS,
         .name = "shape",
         .count = 2,
         .ints = negative}},
       1,
       LEAT_ERROR_INVALID_ARGUMENT},
      {{{.struct_size = sizeof(leat_attribute),
         .type = LEAT_ATTRIBUTE_INTS,
         .name = "shape",
         .count = 9,
         .ints = nine}},
       1,
       LEAT_ERROR_NOT_SUPPORTED},
      {{{.struct_size = sizeof(leat_attribute),
         .type = LEAT_ATTRIBUTE_INTS,
         .name = "shape",
         .count = 3,
         .ints = huge}},
       1,
       LEAT_ERROR_INVALID_ARGUMENT},
      {{{.struct_size = sizeof(leat_attribute),
         .type = LEAT_ATTRIBUTE_INTS,
         .name = "shape",
         .count = 2,
         .ints = large}},
       1,
       LEAT_ERROR_NOT_SUPPORTED},
      {{SHAPE(4), DTYPE(7)}, 2, LEAT_ERROR_NOT_SUPPORTED},
      {{SHAPE(4), DTYPE(INT64_MIN)}, 2, LEAT_ERROR_NOT_SUPPORTED},
  };
  leat_device *const device = leati_fixture_device(ctx);
  const char *const name = data;
  leati_op_destroy(ctx, new_source(ctx, NULL, name, 0, NULL));
  for (size_t k = 0; k < G_N_ELEMENTS(bad); ++k) {
    const leat_attribute *const attributes[] = {&bad[k].attributes[0], &bad[k].attributes[1]};
    const leat_op_desc desc = {.struct_size = sizeof(desc),
                               .since_version = 1,
                               .name = name,
                               .attribute_count = bad[k].count,
                               .attributes = attributes,
                               .output_count = 1};
    leat_op *op = NULL;
    LEAT_CHECK_STATUS(ctx, bad[k].status, ctx->op->create(device, &desc, &op, LEAT_ERR));
  }
}

static const leat_case more[] = {
    {.name = "op.RandomUniform.known_answers",
     .summary = "Philox 4x32-10 gives the words that its authors publish.",
     .run = known_answers},
    {.name = "op.RandomNormal.distribution",
     .summary = "65,536 numbers of a seed are normally distributed and have nothing to do with each other.",
     .run = distribution_of_seed,
     .data = &normal_source},
    {.name = "op.RandomUniform.distribution",
     .summary = "65,536 numbers of a seed are evenly distributed, likewise.",
     .run = distribution_of_seed,
     .data = &uniform_source},
    {.name = "op.RandomExponential.distribution",
     .summary = "65,536 numbers of a seed are exponentially distributed.",
     .run = distribution_by,
     .data = &exponential_drawn},
    {.name = "op.RandomGamma.distribution",
     .summary = "65,536 numbers of a seed have the gamma distribution of shape 4.",
     .run = distribution_by,
     .data = &gamma_four_drawn},
    {.name = "op.RandomGamma.distribution_of_one",
     .summary = "Likewise of shape 1.",
     .run = distribution_by,
     .data = &gamma_one_drawn},
    {.name = "op.RandomGamma.distribution_of_half",
     .summary = "Likewise of shape 1 / 2.",
     .run = distribution_by,
     .data = &gamma_half_drawn},
    {.name = "op.RandomBeta.distribution",
     .summary = "65,536 numbers of a seed have the beta distribution of 2 and 2.",
     .run = distribution_by,
     .data = &beta_drawn},
    {.name = "op.RandomBeta.distribution_of_half",
     .summary = "Likewise of 1 / 2 and 1.",
     .run = distribution_by,
     .data = &beta_small_drawn},
    {.name = "op.RandomDirichlet.distribution",
     .summary = "Of 65,536 rows of three the first element has the distribution of 1 and 2.",
     .run = distribution_by,
     .data = &dirichlet_drawn},
    {.name = "op.RandomPermutation.distribution",
     .summary = "All permutations of four are equally likely.",
     .run = permutations},
    {.name = "op.RandomNormal.without_seed",
     .summary = "Without a seed launches from sixteen threads at once have numbers of their own, which are normal.",
     .run = without_seed_direct,
     .data = &normal_source},
    {.name = "op.RandomUniform.without_seed",
     .summary = "Without a seed launches from sixteen threads at once have numbers of their own, which are even.",
     .run = without_seed_direct,
     .data = &uniform_source},
    {.name = "op.RandomNormal.without_seed.graph",
     .summary = "Likewise each of two nodes in each launch of a graph.",
     .run = without_seed_graph,
     .data = &normal_source},
    {.name = "op.RandomUniform.without_seed.graph",
     .summary = "Likewise each of two nodes in each launch of a graph.",
     .run = without_seed_graph,
     .data = &uniform_source},
    {.name = "op.RandomNormal.refused",
     .summary = "Shapes that there cannot be and types that are not made are refused.",
     .run = refused,
     .data = "RandomNormal"},
    {.name = "op.RandomUniform.refused",
     .summary = "Shapes that there cannot be and types that are not made are refused.",
     .run = refused,
     .data = "RandomUniform"},
};

void leati_rows_random(leat_case_list *list) {
  leati_op_cases_add(list, specs, G_N_ELEMENTS(specs));
  leati_case_list_add(list, more, G_N_ELEMENTS(more));
}
