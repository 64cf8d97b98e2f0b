/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of mixtures of experts. */
#include "cases/sources.h"
#include "ops/core/refusal.h"

#define F LEATI_REF_FLOAT32

/* What a row begins with; attributes and inputs follow, which no macro can hand on. */
#define HEAD(op, named, views, used_threads) \
  .name = op, .label = named, .since_version = 1, .domain = LEAT_MICROSOFT, .variants = views, .threads = used_threads
#define MOE(named, views, used_threads, attributes_given, ...)                                         \
  {                                                                                                    \
    HEAD("MoE", named, views, used_threads), .attributes = attributes_given, .inputs = { __VA_ARGS__ } \
  }
#define QMOE(named, views, used_threads, attributes_given, ...)                                         \
  {                                                                                                     \
    HEAD("QMoE", named, views, used_threads), .attributes = attributes_given, .inputs = { __VA_ARGS__ } \
  }
#define TAKE(n) A_INT("k", n)
#define BY(name) A_STRING("activation_type", name)
#define NORMALIZED A_INT("normalize_routing_weights", 1)
#define SWIGLU(fusion) BY("swiglu"), A_INT("swiglu_fusion", fusion)
#define BITS(n) A_INT("expert_weight_bits", n)
#define BLOCK(n) A_INT("block_size", n)

/* All inputs, of products with `rows` and `inner` rows and elements between them. */
#define FLOATS(t, tokens, experts, hidden, rows, inner)                                                               \
  RANGE_OF(t, -1, 1, tokens, hidden), RANGE_OF(t, -3, 3, tokens, experts), RANGE_OF(t, -1, 1, experts, rows, hidden), \
      RANGE_OF(t, -1, 1, experts, rows), RANGE_OF(t, -1, 1, experts, hidden, inner),                                  \
      RANGE_OF(t, -1, 1, experts, hidden)
/* The same by codes: `first` and `second` are bytes of a row. */
#define CODES(...) U8_RANGE(0, 255, __VA_ARGS__)
#define SCALES(t, ...) RANGE_OF(t, 0.01, 0.1, __VA_ARGS__)

#define MOE_TYPE(type_label, t, views)                                                                                 \
  MOE(type_label, views, THREADS_16, ATTRIBUTES(TAKE(2), BY("silu")), FLOATS(t, 3, 5, 8, 12, 12)),                     \
      MOE("swiglu_" type_label, 0, 0,                                                                                  \
          ATTRIBUTES(TAKE(2), SWIGLU(1), NORMALIZED, A_FLOAT("activation_alpha", 1.5f), A_FLOAT("activation_beta", 1), \
                     A_FLOAT("swiglu_limit", 0.75f)),                                                                  \
          FLOATS(t, 3, 5, 8, 12, 6))
#define QMOE_TYPE(type_label, t, views)                                                                        \
  QMOE(type_label, views, THREADS_16, ATTRIBUTES(TAKE(2), BY("silu"), NORMALIZED), RANGE_OF(t, -1, 1, 3, 8),   \
       RANGE_OF(t, -3, 3, 3, 5), CODES(5, 12, 4), SCALES(t, 5, 12), RANGE_OF(t, -1, 1, 5, 12), CODES(5, 8, 6), \
       SCALES(t, 5, 8), RANGE_OF(t, -1, 1, 5, 8))

static const leati_op_spec specs[] = {
    MOE_TYPE("float32", F, ALL_VIEWS),
    MOE_TYPE("float16", LEATI_REF_FLOAT16, VIEW_SLICED | VIEW_OFFSET),
    MOE_TYPE("bfloat16", LEATI_REF_BFLOAT16, VIEW_SLICED),
    MOE("relu", 0, 0, NO_ATTRIBUTES, FLOATS(F, 4, 3, 6, 5, 5)),
    MOE("gelu", 0, 0, ATTRIBUTES(BY("gelu")), FLOATS(F, 4, 3, 6, 5, 5)),
    MOE("identity", 0, 0, ATTRIBUTES(BY("identity"), TAKE(3)), FLOATS(F, 4, 3, 6, 5, 5)),
    MOE("gates_first", 0, 0, ATTRIBUTES(SWIGLU(2), TAKE(2)), FLOATS(F, 4, 3, 6, 10, 5)),
    MOE("many_tokens", 0, 0, ATTRIBUTES(SWIGLU(1), TAKE(2), NORMALIZED), FLOATS(F, 33, 4, 8, 8, 4)),
    MOE("many_tokens_odd", 0, 0, ATTRIBUTES(BY("silu"), TAKE(1)), FLOATS(F, 23, 3, 7, 9, 9)),
    MOE("long_rows", 0, 0, ATTRIBUTES(BY("silu")), FLOATS(F, 2, 2, 260, 70, 70)),
    MOE("equal_scores", 0, 0, ATTRIBUTES(TAKE(2)), F32(3, 6), F32_RANGE(1, 1, 3, 4), F32(4, 5, 6), F32(4, 5),
        F32(4, 6, 5), F32(4, 6)),
    MOE("many_experts", 0, 0, ATTRIBUTES(TAKE(8), NORMALIZED), FLOATS(F, 2, 130, 4, 4, 4)),
    MOE("no_bias", VIEW_DYNAMIC, 0, ATTRIBUTES(TAKE(2)), F32(2, 2, 6), F32(4, 3), F32(3, 5, 6), ABSENT, F32(3, 6, 5)),
    MOE("no_tokens", 0, 0, NO_ATTRIBUTES, FLOATS(F, 0, 3, 6, 5, 5)),
    QMOE_TYPE("float32", F, ALL_VIEWS),
    QMOE_TYPE("float16", LEATI_REF_FLOAT16, VIEW_SLICED | VIEW_OFFSET),
    QMOE_TYPE("bfloat16", LEATI_REF_BFLOAT16, VIEW_SLICED),
    QMOE("of_8_bits", 0, 0, ATTRIBUTES(TAKE(2), BITS(8)), F32(3, 8), F32(3, 4), CODES(4, 6, 8), SCALES(F, 4, 6), ABSENT,
         CODES(4, 8, 6), SCALES(F, 4, 8)),
    QMOE("blocks", 0, 0, ATTRIBUTES(TAKE(2), BLOCK(16), SWIGLU(1)), F32(3, 32), F32(3, 4), CODES(4, 64, 16),
         SCALES(F, 4, 64, 2), F32(4, 64), CODES(4, 32, 16), SCALES(F, 4, 32, 2), F32(4, 32)),
    QMOE("zeros_of_blocks", 0, 0, ATTRIBUTES(TAKE(2), BLOCK(16)), F32(3, 48), F32(3, 2), CODES(2, 16, 24),
         SCALES(F, 2, 16, 3), ABSENT, CODES(2, 48, 8), SCALES(F, 2, 48, 1), ABSENT, ABSENT, ABSENT, ABSENT,
         CODES(2, 16, 2), CODES(2, 48, 1)),
    QMOE("zeros_of_8_bits", 0, 0, ATTRIBUTES(TAKE(1), BITS(8), BLOCK(16)), F32(9, 16), F32(9, 2), CODES(2, 16, 16),
         SCALES(F, 2, 16, 1), ABSENT, CODES(2, 16, 16), SCALES(F, 2, 16, 1), ABSENT, ABSENT, ABSENT, ABSENT,
         CODES(2, 16, 1), CODES(2, 16, 1)),
    QMOE("zeros_of_rows", 0, 0, ATTRIBUTES(TAKE(2)), F32(3, 6), F32(3, 2), CODES(2, 10, 3), SCALES(F, 2, 10), ABSENT,
         CODES(2, 6, 5), SCALES(F, 2, 6), ABSENT, ABSENT, ABSENT, ABSENT, CODES(2, 5), CODES(2, 3)),
    QMOE("weights_given", 0, 0, ATTRIBUTES(TAKE(2), NORMALIZED), F32(3, 6), F32(3, 4), CODES(4, 10, 3),
         SCALES(F, 4, 10), ABSENT, CODES(4, 6, 5), SCALES(F, 4, 6), ABSENT, ABSENT, ABSENT, ABSENT, ABSENT, ABSENT,
         ABSENT, F32_RANGE(0.1, 1, 3, 4)),
    QMOE("many_tokens", 0, 0, ATTRIBUTES(TAKE(2), SWIGLU(2), NORMALIZED), F32(2, 11, 8), F32(22, 3), CODES(3, 12, 4),
         SCALES(F, 3, 12), F32(3, 12), CODES(3, 8, 3), SCALES(F, 3, 8), F32(3, 8)),
};

/* ---- What is refused --------------------------------------------------------------------------------------------- */

static const leati_op_spec sound =
    QMOE("sound", 0, 0, ATTRIBUTES(BLOCK(16), TAKE(2)), F32(3, 32), F32(3, 4), CODES(4, 32, 16), SCALES(F, 4, 32, 2),
         F32(4, 32), CODES(4, 32, 16), SCALES(F, 4, 32, 2), F32(4, 32), ABSENT, ABSENT, ABSENT, CODES(4, 32, 1),
         CODES(4, 32, 1), ABSENT, F32(3, 4));

static const leati_refusal wrong[] = {{TAKE(0)},
                                      {TAKE(-1)},
                                      {TAKE(5)},
                                      {TAKE(INT64_MAX)},
                                      {BITS(2)},
                                      {BITS(0)},
                                      {BITS(8)},
                                      {BLOCK(0)},
                                      {BLOCK(8)},
                                      {BLOCK(24)},
                                      {BLOCK(-16)},
                                      {BLOCK(INT64_MAX)},
                                      {BY("swiglu")},
                                      {BY("geglu")},
                                      {BY("")},
                                      {A_INT("activation_type", 1)},
                                      {A_STRING("quant_type", "fp4")},
                                      {A_INT("use_sparse_mixer", 1)},
                                      {A_INT("weights_prepacked", 1)},
                                      {A_INT("weights_prepacked", 2)},
                                      {A_INT("swiglu_limit_after_activation", 1)},
                                      {A_INT("fc1_expert_weight_bits", 8)},
                                      {A_INT("fc2_expert_weight_bits", 8)},
                                      {A_INT("fc3_expert_weight_bits", 8)}};

static const leati_refusals refusals = {.sound = &sound, .wrong = wrong, .wrong_count = G_N_ELEMENTS(wrong)};

static const leat_case hostile[] = {{REFUSALS("QMoE", "refused", &refusals)}};

void leati_rows_experts(leat_case_list *list) {
  leati_op_cases_add(list, specs, G_N_ELEMENTS(specs));
  leati_case_list_add(list, hostile, G_N_ELEMENTS(hostile));
}
