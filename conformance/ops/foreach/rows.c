/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of operators on lists of tensors. */
#include <math.h>
#include <string.h>

#include "cases/sources.h"
#include "fixture.h"
#include "ops/core/op_engine.h"
#include "ops/core/refusal.h"

#define H LEATI_REF_FLOAT16
#define B LEATI_REF_BFLOAT16

/* Rows in domain `leat` with so many outputs; attributes and inputs follow. */
#define OURS(op, named, wanted, views, used_threads)                                                      \
  .name = op, .label = named, .since_version = 1, .domain = "leat", .outputs = wanted, .variants = views, \
  .threads = used_threads
#define LIST_VIEWS (ALL_VIEWS | VIEW_IN_PLACE)
#define RATE(x) F32_IS(NO_DIMS, x)
#define STEPS(n) I64_IS(NO_DIMS, n)
/* Averages of squares are not negative. */
#define SQUARES(t, ...) RANGE_OF(t, 0, 4, __VA_ARGS__)
#define NUMBERS(t, ...) RANGE_OF(t, -2, 2, __VA_ARGS__)

/* Two lists of three tensors: one of several workgroups, one of few elements, one without any. */
#define THREE(t) NUMBERS(t, 3, 41, 67), NUMBERS(t, 5), NUMBERS(t, 3, 0)
#define TWO_LISTS(op, given)                                                                          \
  {OURS(op, "float32", 2, LIST_VIEWS, THREADS_8 | THREADS_16), .attributes = given,                   \
   .inputs = {F32(7, 5, 9), F32(11), F32(7, 5, 9), F32(11)}},                                         \
      {OURS(op, "chunks", 3, VIEW_OFFSET, 0), .attributes = given, .inputs = {THREE(0), THREE(0)}},   \
      {OURS(op, "float16", 3, VIEW_OFFSET, 0), .attributes = given, .inputs = {THREE(H), THREE(H)}},  \
      {OURS(op, "bfloat16", 3, VIEW_OFFSET, 0), .attributes = given, .inputs = {THREE(B), THREE(B)}}, \
      {OURS(op, "special", 1, 0, 0), .attributes = given,                                             \
       .inputs = {F32_SPECIAL(1, SPECIAL_COUNT, SPECIAL_COUNT),                                       \
                  F32_SPECIAL(SPECIAL_COUNT, SPECIAL_COUNT, SPECIAL_COUNT)}},                         \
  {                                                                                                   \
    OURS(op, "defaults", 1, 0, 0), .inputs = { F32(33), F32(33) }                                     \
  }

#define ADAM(op, named, t, views, used_threads, steps, given)                 \
  {                                                                           \
    OURS(op, named, 6, views, used_threads), .attributes = given, .inputs = { \
      RATE(0.125f),                                                           \
      STEPS(steps),                                                           \
      NUMBERS(t, 5, 7),                                                       \
      NUMBERS(t, 4100),                                                       \
      NUMBERS(t, 5, 7),                                                       \
      NUMBERS(t, 4100),                                                       \
      NUMBERS(t, 5, 7),                                                       \
      NUMBERS(t, 4100),                                                       \
      SQUARES(t, 5, 7),                                                       \
      SQUARES(t, 4100)                                                        \
    }                                                                         \
  }
#define ADAMS(op)                                                                                                   \
  ADAM(op, "float32", 0, LIST_VIEWS, THREADS_8 | THREADS_16, 3, ATTRIBUTES(A_FLOAT("weight_decay", 0.25f))),        \
      ADAM(op, "float16", H, VIEW_OFFSET, 0, 2, ATTRIBUTES(A_FLOAT("epsilon", 0.5f))),                              \
      ADAM(op, "bfloat16", B, VIEW_OFFSET, 0, 2, NO_ATTRIBUTES), ADAM(op, "first_step", 0, 0, 0, 1, NO_ATTRIBUTES), \
      ADAM(op, "many_steps", 0, 0, 0, 1000000, NO_ATTRIBUTES),                                                      \
      ADAM(op, "no_averages", 0, 0, 0, 1,                                                                           \
           ATTRIBUTES(A_FLOAT("beta1", 0), A_FLOAT("beta2", 0), A_FLOAT("weight_decay", 0))),                       \
      ADAM(op, "slow", 0, 0, 0, 1, ATTRIBUTES(A_FLOAT("beta1", 0.99999f), A_FLOAT("beta2", 0.999999f)))
#define SGD(named, t, views, used_threads, given)                                       \
  {                                                                                     \
    OURS("ForeachSGD", named, 4, views, used_threads), .attributes = given, .inputs = { \
      RATE(0.125f),                                                                     \
      NUMBERS(t, 5, 7),                                                                 \
      NUMBERS(t, 4100),                                                                 \
      NUMBERS(t, 5, 7),                                                                 \
      NUMBERS(t, 4100),                                                                 \
      NUMBERS(t, 5, 7),                                                                 \
      NUMBERS(t, 4100)                                                                  \
    }                                                                                   \
  }

static const leati_op_spec specs[] = {
    TWO_LISTS("ForeachAdd", ATTRIBUTES(A_FLOAT("alpha", -0.75f))),
    TWO_LISTS("ForeachMul", NO_ATTRIBUTES),
    TWO_LISTS("ForeachLerp", ATTRIBUTES(A_FLOAT("weight", 0.75f))),
    {OURS("ForeachLerp", "near", 1, 0, 0), .attributes = {A_FLOAT("weight", 0.125f)}, .inputs = {F32(33), F32(33)}},
    {OURS("ForeachAddcmul", "float32", 1, LIST_VIEWS, THREADS_8 | THREADS_16), .attributes = {A_FLOAT("value", -3)},
     .inputs = {F32(7, 5, 9), F32(7, 5, 9), F32(7, 5, 9)}},
    {OURS("ForeachAddcmul", "float16", 2, VIEW_OFFSET, 0),
     .inputs = {NUMBERS(H, 41, 67), NUMBERS(H, 3), NUMBERS(H, 41, 67), NUMBERS(H, 3), NUMBERS(H, 41, 67),
                NUMBERS(H, 3)}},
    {OURS("ForeachAddcmul", "bfloat16", 1, VIEW_OFFSET, 0),
     .inputs = {NUMBERS(B, 41, 67), NUMBERS(B, 41, 67), NUMBERS(B, 41, 67)}},
    {OURS("ForeachNorm", "float32", 1, ALL_VIEWS, THREADS_8 | THREADS_16), .inputs = {F32(7, 5, 9), F32(11)}},
    {OURS("ForeachNorm", "chunks", 1, VIEW_OFFSET, 0), .inputs = {THREE(0), F32_SCALAR, F32(9000)}},
    {OURS("ForeachNorm", "float16", 1, VIEW_OFFSET, 0), .inputs = {RANGE_OF(H, -60000, 60000, 41, 67), NUMBERS(H, 3)}},
    {OURS("ForeachNorm", "bfloat16", 1, VIEW_OFFSET, 0), .inputs = {NUMBERS(B, 41, 67), NUMBERS(B, 3)}},
    {OURS("ForeachNorm", "zeros", 1, 0, 0), .inputs = {F32_IS(DIMS(3), 0, -0.0f, 0), F32(0)}},
    {OURS("ForeachNorm", "infinite", 1, 0, 0),
     .inputs = {F32_IS(DIMS(3), 1, -INFINITY, 0), F32_IS(DIMS(2), NAN, INFINITY)}},
    {OURS("ForeachClipByNorm", "float32", 3, LIST_VIEWS, THREADS_8 | THREADS_16), .inputs = {F32(7, 5, 9), F32(11)}},
    {OURS("ForeachClipByNorm", "chunks", 4, VIEW_OFFSET, 0),
     .attributes = {A_FLOAT("max_norm", 7), A_FLOAT("epsilon", 0.5f)}, .inputs = {THREE(0)}},
    {OURS("ForeachClipByNorm", "float16", 4, VIEW_OFFSET, 0), .inputs = {THREE(H)}},
    {OURS("ForeachClipByNorm", "bfloat16", 4, VIEW_OFFSET, 0), .inputs = {THREE(B)}},
    {OURS("ForeachClipByNorm", "short_enough", 3, 0, 0), .attributes = {A_FLOAT("max_norm", 1000)},
     .inputs = {F32(7, 5, 9), F32(11)}},
    {OURS("ForeachClipByNorm", "not_a_number", 3, 0, 0), .inputs = {F32_IS(DIMS(2), NAN, 1), F32(11)}},
    {OURS("ForeachClipByNorm", "empty", 3, 0, 0), .inputs = {F32(0, 3), F32(0)}},
    SGD("float32", 0, LIST_VIEWS, THREADS_8 | THREADS_16, NO_ATTRIBUTES),
    SGD("decay", 0, 0, 0,
        ATTRIBUTES(A_FLOAT("weight_decay", 0.25f), A_FLOAT("momentum", 0.5f), A_FLOAT("dampening", 0.125f))),
    SGD("nesterov", 0, 0, 0, ATTRIBUTES(A_INT("nesterov", 1), A_FLOAT("weight_decay", 0.25f))),
    SGD("float16", H, VIEW_OFFSET, 0, ATTRIBUTES(A_INT("nesterov", 1))),
    SGD("bfloat16", B, VIEW_OFFSET, 0, NO_ATTRIBUTES),
    ADAMS("ForeachAdam"),
    ADAMS("ForeachAdamW"),
};

/* ---- Long lists -------------------------------------------------------------------------------------------------- */

/* As many tensors as a list may have, of sizes from nothing to several workgroups, side by side in one block. */
enum { TENSORS = 512, LISTS = 4, SCALARS = 2, INPUTS = SCALARS + LISTS * TENSORS, OUTPUTS = 3 * TENSORS };

typedef struct step {
  leat_stream *stream;
  uint64_t block;           /* all lists, and what the call gives, and before them both scalars */
  int64_t sizes[TENSORS];   /* elements */
  uint64_t places[TENSORS]; /* bytes from the begin of a list */
  uint64_t list;            /* bytes of a list */
  leat_case_tensor inputs[INPUTS], outputs[OUTPUTS];
  leat_value_info infos[INPUTS];
  float *given, *taken; /* elements of all lists */
} step;

static uint64_t at_list(const step *s, uint32_t list, uint32_t tensor) {
  return s->block + 256 + list * s->list + s->places[tensor];
}

static void begin_step(leat_case_context *ctx, step *s) {
  GRand *const rand = g_rand_new_with_seed(54);
  s->stream = leati_stream_new(ctx);
  for (uint32_t t = 0; t < TENSORS; ++t) {
    s->sizes[t] = t % 50 == 7 ? 9001 : g_rand_int_range(rand, 0, 40);
    s->places[t] = s->list;
    /* Some lie where no four elements are loaded at once. */
    s->list += ((uint64_t)s->sizes[t] * 4 + 15) / 16 * 16 + (t % 9 == 3 ? 4 : 0);
  }
  s->list = (s->list + 255) / 256 * 256;
  s->block = leati_case_alloc(ctx, 256 + (LISTS + 3) * s->list, s->stream);
  s->given = g_malloc0(LISTS * s->list);
  s->taken = g_malloc0(3 * s->list);
  for (uint64_t e = 0; e < LISTS * s->list / 4; ++e) {
    /* The last list, of averages of squares, is not negative. */
    s->given[e] = (float)g_rand_double_range(rand, e < (LISTS - 1) * s->list / 4 ? -2 : 0, 2);
  }
  const struct {
    int64_t steps;
    float rate;
  } scalars = {3, 0.125f};
  leati_case_tensor_device(ctx, &s->inputs[0], s->block + 8, LEAT_F32, 0, NULL);
  leati_case_tensor_device(ctx, &s->inputs[1], s->block, LEAT_I64, 0, NULL);
  leati_upload(ctx, s->stream, s->block, &scalars, sizeof(scalars));
  leati_upload(ctx, s->stream, s->block + 256, s->given, LISTS * s->list);
  for (uint32_t k = 0; k < LISTS * TENSORS; ++k) {
    leati_case_tensor_device(ctx, &s->inputs[SCALARS + k], at_list(s, k / TENSORS, k % TENSORS), LEAT_F32, 1,
                             &s->sizes[k % TENSORS]);
  }
  for (uint32_t k = 0; k < INPUTS; ++k) {
    const DLTensor *const tensor = &s->inputs[k].tensor;
    s->infos[k] = (leat_value_info){
        .struct_size = sizeof(s->infos[k]), .ndim = tensor->ndim, .dtype = tensor->dtype, .shape = tensor->shape};
  }
  g_rand_free(rand);
}

static void end_step(leat_case_context *ctx, step *s) {
  leati_case_free(ctx, s->block);
  leati_stream_destroy(ctx, s->stream);
  g_free(s->given);
  g_free(s->taken);
  g_free(s);
}

/* Runs Adam on `count` tensors from number `first` on. Results go to lists behind those that are taken or, in place, to
 * the last three of these. */
static void run_adam(leat_case_context *ctx, step *s, uint32_t first, uint32_t count, bool in_place) {
  const DLTensor *given[INPUTS], *wanted[OUTPUTS];
  const leat_value_info *infos[INPUTS];
  const uint32_t inputs = SCALARS + LISTS * count, outputs = 3 * count;
  for (uint32_t k = 0; k < inputs; ++k) {
    const uint32_t list = (k - SCALARS) / count;
    const uint32_t at = k < SCALARS ? k : SCALARS + list * TENSORS + first + (k - SCALARS) % count;
    given[k] = &s->inputs[at].tensor;
    infos[k] = &s->infos[at];
  }
  for (uint32_t k = 0; k < outputs; ++k) {
    const uint32_t tensor = first + k % count;
    leati_case_tensor_device(ctx, &s->outputs[k], at_list(s, k / count + (in_place ? 1 : LISTS), tensor), LEAT_F32, 1,
                             &s->sizes[tensor]);
    wanted[k] = &s->outputs[k].tensor;
  }
  const leat_op_desc desc = {.struct_size = sizeof(desc),
                             .since_version = 1,
                             .name = "ForeachAdam",
                             .domain = "leat",
                             .input_count = inputs,
                             .output_count = outputs,
                             .inputs = infos};
  leat_op *op = NULL;
  leati_case_require_op(ctx, &desc);
  LEAT_CHECK_OK(ctx, ctx->op->create(leati_fixture_device(ctx), &desc, &op, LEAT_ERR));
  LEAT_CHECK_OK(ctx, ctx->op->invoke(op, s->stream, inputs, given, outputs, wanted, LEAT_ERR));
  leati_op_destroy(ctx, op);
}

static void compare(leat_case_context *ctx, step *s, uint32_t list, const float *expected, const char *what) {
  leati_download(ctx, s->stream, at_list(s, list, 0), s->taken, 3 * s->list);
  leati_synchronize(ctx, s->stream);
  for (uint32_t k = 0; k < OUTPUTS; ++k) {
    const uint64_t at = (k / TENSORS * s->list + s->places[k % TENSORS]) / 4;
    const size_t size = (size_t)s->sizes[k % TENSORS] * 4;
    LEAT_CHECK_MESSAGE(ctx, memcmp(&s->taken[at], &expected[at], size) == 0,
                       "%s: list %u, tensor %u of %d elements is not what it gives alone", what, k / TENSORS,
                       k % TENSORS, (int)s->sizes[k % TENSORS]);
  }
}

static void long_list(leat_case_context *ctx, const void *data) {
  (void)data;
  step *const s = g_malloc0(sizeof(*s));
  begin_step(ctx, s);
  for (uint32_t t = 0; t < TENSORS; ++t) {
    run_adam(ctx, s, t, 1, false);
  }
  float *const expected = g_malloc(3 * s->list);
  leati_download(ctx, s->stream, at_list(s, LISTS, 0), expected, 3 * s->list);
  leati_synchronize(ctx, s->stream);
  run_adam(ctx, s, 0, TENSORS, false);
  compare(ctx, s, LISTS, expected, "one call");
  run_adam(ctx, s, 0, TENSORS, true);
  compare(ctx, s, 1, expected, "one call in place");
  g_free(expected);
  end_step(ctx, s);
}

static const leat_case lists[] = {
    {.name = "op.ForeachAdam.of_512_tensors",
     .summary = "Lists of 512 tensors of many sizes give the bits of calls of one tensor each, in place too.",
     .run = long_list},
};

/* ---- What is refused --------------------------------------------------------------------------------------------- */

static const leati_op_spec sound_adam = ADAM("ForeachAdam", "sound", 0, 0, 0, 1, NO_ATTRIBUTES);
static const leati_refusal wrong_adam[] = {{A_FLOAT("beta1", 1)},   {A_FLOAT("beta1", -0.5f)}, {A_FLOAT("beta2", 1)},
                                           {A_FLOAT("beta2", NAN)}, {A_FLOAT("beta2", 2)},     {A_INT("beta1", 0)}};
/* Scalars may have any rank. */
static const leati_refusals refusals_of_adam = {
    .sound = &sound_adam, .wrong = wrong_adam, .wrong_count = G_N_ELEMENTS(wrong_adam), .any_size = {1u, 1u}};

static const leat_case hostile[] = {{REFUSALS("ForeachAdam", "refused", &refusals_of_adam)}};

void leati_rows_foreach(leat_case_list *list) {
  leati_op_cases_add(list, specs, G_N_ELEMENTS(specs));
  leati_case_list_add(list, lists, G_N_ELEMENTS(lists));
  leati_case_list_add(list, hostile, G_N_ELEMENTS(hostile));
}
