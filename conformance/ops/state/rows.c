/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of layers that go on from a state of one size. */
#include <math.h>

#include "cases/sources.h"
#include "ops/core/refusal.h"

#define F LEATI_REF_FLOAT32
#define H LEATI_REF_FLOAT16
#define B LEATI_REF_BFLOAT16

/* What a row begins with; attributes and inputs follow, which no macro can hand on. */
#define HEAD(op, set, named, version, wanted, views, used_threads)                                           \
  .name = op, .label = named, .since_version = version, .domain = set, .outputs = wanted, .variants = views, \
  .threads = used_threads
#define ROW_OF(op, set, named, version, wanted, views, used_threads, attributes_given, ...)                 \
  {                                                                                                         \
    HEAD(op, set, named, version, wanted, views, used_threads), .attributes = attributes_given, .inputs = { \
      __VA_ARGS__                                                                                           \
    }                                                                                                       \
  }

/* ---- CausalConvWithState ---------------------------------------------------------------------------------------- */

#define CONV(named, views, used_threads, attributes_given, ...)                                                       \
  {                                                                                                                   \
    HEAD("CausalConvWithState", NULL, named, 27, 2, views, used_threads), .attributes = attributes_given, .inputs = { \
      __VA_ARGS__                                                                                                     \
    }                                                                                                                 \
  }
#define OWN_CONV(named, views, used_threads, attributes_given, ...)                                                \
  {                                                                                                                \
    HEAD("CausalConvWithState", LEAT_MICROSOFT, named, 1, 2, views, used_threads), .attributes = attributes_given, \
                                                                                   .inputs = {                     \
                                                                                     __VA_ARGS__                   \
                                                                                   }                               \
  }
#define SILU A_STRING("activation", "silu")
#define SWISH A_STRING("activation", "swish")
#define LAST A_INT("channels_last", 1)
#define BY(n) A_INT("dilation", n)
/* A convolution of `channels` by `taps`, with all inputs. */
#define CONV_INPUTS(t, batch, channels, positions, taps)                                                               \
  RANGE_OF(t, -2, 2, batch, channels, positions), RANGE_OF(t, -1, 1, channels, 1, taps), RANGE_OF(t, -1, 1, channels), \
      RANGE_OF(t, -2, 2, batch, channels, (taps)-1)
#define CONV_TYPE(type_label, t, of_all)                                              \
  CONV(type_label, of_all, THREADS_16, ATTRIBUTES(SILU), CONV_INPUTS(t, 2, 5, 7, 4)), \
      OWN_CONV("of_com_microsoft_" type_label, VIEWS, 0, ATTRIBUTES(SILU), CONV_INPUTS(t, 2, 5, 7, 4))

/* ---- LinearAttention -------------------------------------------------------------------------------------------- */

#define ATTEND(named, views, used_threads, attributes_given, ...)                                                 \
  {                                                                                                               \
    HEAD("LinearAttention", NULL, named, 27, 2, views, used_threads), .attributes = attributes_given, .inputs = { \
      __VA_ARGS__                                                                                                 \
    }                                                                                                             \
  }
#define OWN_ATTEND(named, views, used_threads, attributes_given, ...)                                          \
  {                                                                                                            \
    HEAD("LinearAttention", LEAT_MICROSOFT, named, 1, 2, views, used_threads), .attributes = attributes_given, \
                                                                               .inputs = {                     \
                                                                                 __VA_ARGS__                   \
                                                                               }                               \
  }
#define HEADS(of_query, of_value) A_INT("q_num_heads", of_query), A_INT("kv_num_heads", of_value)
#define RULE(name) A_STRING("update_rule", name)
/* Keys are so short that what a state gives for them dies out. */
#define QKV(t, batch, tokens, query_heads, key_heads, heads, key_size, value_size) \
  RANGE_OF(t, -1, 1, batch, tokens, (query_heads) * (key_size)),                   \
      RANGE_OF(t, -0.5, 0.5, batch, tokens, (key_heads) * (key_size)),             \
      RANGE_OF(t, -1, 1, batch, tokens, (heads) * (value_size))
#define STATE(t, batch, heads, key_size, value_size) RANGE_OF(t, -1, 1, batch, heads, key_size, value_size)
#define DECAY(t, batch, tokens, width) RANGE_OF(t, -2, 0, batch, tokens, width)
#define BETA(t, batch, tokens, width) RANGE_OF(t, 0, 1, batch, tokens, width)
/* One head of keys of a size around those at which a column is shared out otherwise. */
#define SIZED(size)                                                                                               \
  ATTEND("key_of_" #size, 0, 0, ATTRIBUTES(HEADS(1, 1)), QKV(F, 1, 2, 1, 1, 1, size, 3), STATE(F, 1, 1, size, 3), \
         DECAY(F, 1, 2, 1), BETA(F, 1, 2, 1))
#define ATTEND_TYPE(type_label, t, of_state)                                                                 \
  ATTEND(type_label, ALL_VIEWS, THREADS_16, ATTRIBUTES(HEADS(4, 2)), QKV(t, 2, 3, 4, 2, 2, 5, 4),            \
         STATE(of_state, 2, 2, 5, 4), DECAY(t, 2, 3, 2), BETA(t, 2, 3, 2)),                                  \
      OWN_ATTEND("of_com_microsoft_" type_label, 0, 0, ATTRIBUTES(HEADS(2, 4)), QKV(t, 2, 3, 2, 2, 4, 5, 4), \
                 STATE(of_state, 2, 4, 5, 4), DECAY(t, 2, 3, 4), BETA(t, 2, 3, 1))

/* ---- LinearAttentionGate ---------------------------------------------------------------------------------------- */

#define GATES(named, wanted, views, used_threads, ...)                                                            \
  {                                                                                                               \
    HEAD("LinearAttentionGate", LEAT_MICROSOFT, named, 1, wanted, views, used_threads), .inputs = { __VA_ARGS__ } \
  }
#define GATES_TYPE(type_label, t)                                                                      \
  GATES(type_label, 2, VIEWS | VIEW_OFFSET, THREADS_16, MIXED(t, -4, 4, 2, 9, 7), F32_RANGE(-2, 2, 7), \
        F32_RANGE(-3, 0, 7), MIXED(t, -4, 4, 2, 9, 7))

static const leati_op_spec specs[] = {
    CONV_TYPE("float32", F, ALL_VIEWS),
    CONV_TYPE("float16", H, VIEW_SLICED | VIEW_OFFSET),
    CONV_TYPE("bfloat16", B, VIEW_SLICED),
    CONV("one_position", 0, 0, ATTRIBUTES(SWISH), CONV_INPUTS(F, 3, 70, 1, 4)),
    CONV("many", 0, 0, ATTRIBUTES(SILU), CONV_INPUTS(F, 2, 33, 65, 3)),
    CONV("one_tap", 0, 0, ATTRIBUTES(A_STRING("activation", "none")), F32(2, 3, 5), F32(3, 1, 1), ABSENT, F32(2, 3, 0)),
    CONV("state_alone", 0, 0, ATTRIBUTES(SILU), F32(2, 3, 2), F32(3, 1, 5), ABSENT, F32(2, 3, 4)),
    CONV("no_state", 0, 0, ATTRIBUTES(SILU), F32(2, 3, 5), F32(3, 1, 4), F32(3)),
    CONV("no_positions", 0, 0, ATTRIBUTES(SILU), F32(2, 3, 0), F32(3, 1, 4), F32(3), F32(2, 3, 3)),
    CONV("no_channels", 0, 0, ATTRIBUTES(SILU), F32(2, 0, 5), F32(0, 1, 4)),
    CONV("special", 0, 0, ATTRIBUTES(SILU), F32_SPECIAL(1, 1, 1, 40), F32_RANGE(0.5, 1, 1, 1, 1)),
    ROW_OF("CausalConvWithState", NULL, "without_next_state", 27, 1, 0, 0, ATTRIBUTES(SILU),
           CONV_INPUTS(F, 2, 3, 5, 4)),
    OWN_CONV("dilated", VIEWS, 0, ATTRIBUTES(BY(3)), F32(2, 3, 7), F32(3, 1, 3), ABSENT, F32(2, 3, 6)),
    OWN_CONV("channels_last", ALL_VIEWS, THREADS_16, ATTRIBUTES(LAST), F32(2, 6, 5), F32(5, 1, 4), F32(5),
             F32(2, 3, 5)),
    OWN_CONV("channels_in_two", 0, 0, ATTRIBUTES(LAST), F32(2, 6, 3, 4), F32(12, 1, 3), ABSENT, F32(2, 2, 3, 4)),
    ROW_OF("CausalConvWithState", LEAT_MICROSOFT, "last_and_dilated", 1, 2, 0, 0, ATTRIBUTES(LAST, BY(2), SILU),
           F32(2, 3, 5), F32(5, 1, 4)),

    ATTEND_TYPE("float32", F, F),
    ATTEND_TYPE("float16", H, H),
    ATTEND_TYPE("bfloat16", B, B),
    ATTEND("state_of_float32", 0, 0, ATTRIBUTES(HEADS(2, 2)), QKV(H, 1, 3, 2, 2, 2, 6, 5), STATE(F, 1, 2, 6, 5),
           DECAY(H, 1, 3, 2), BETA(H, 1, 3, 2)),
    ATTEND("state_of_16_bits", 0, 0, ATTRIBUTES(HEADS(2, 2)), QKV(F, 1, 3, 2, 2, 2, 6, 5), STATE(B, 1, 2, 6, 5),
           DECAY(F, 1, 3, 2), BETA(F, 1, 3, 2)),
    ATTEND("linear", VIEW_DYNAMIC, 0, ATTRIBUTES(HEADS(2, 2), RULE("linear")), QKV(F, 2, 4, 2, 2, 2, 3, 4),
           STATE(F, 2, 2, 3, 4)),
    ATTEND("gated", 0, 0, ATTRIBUTES(HEADS(2, 2), RULE("gated"), A_FLOAT("scale", 0.25f)), QKV(F, 2, 4, 2, 2, 2, 3, 4),
           STATE(F, 2, 2, 3, 4), DECAY(F, 2, 4, 2)),
    ATTEND("gated_by_element", 0, 0, ATTRIBUTES(HEADS(2, 2), RULE("gated")), QKV(F, 2, 4, 2, 2, 2, 9, 4),
           STATE(F, 2, 2, 9, 4), DECAY(F, 2, 4, 18)),
    ATTEND("delta", 0, 0, ATTRIBUTES(HEADS(6, 2), RULE("delta")), QKV(F, 2, 4, 6, 2, 2, 3, 4), STATE(F, 2, 2, 3, 4),
           ABSENT, BETA(F, 2, 4, 1)),
    ATTEND("delta_by_element", 0, 0, ATTRIBUTES(HEADS(2, 2), A_INT("chunk_size", 16)), QKV(F, 2, 4, 2, 2, 2, 3, 4),
           ABSENT, DECAY(F, 2, 4, 6), BETA(F, 2, 4, 2)),
    ATTEND("one_head_of_keys", 0, 0, ATTRIBUTES(HEADS(3, 1)), QKV(F, 1, 3, 3, 1, 1, 4, 33), STATE(F, 1, 1, 4, 33),
           DECAY(F, 1, 3, 1), BETA(F, 1, 3, 1)),
    ATTEND("usual", 0, 0, ATTRIBUTES(HEADS(2, 2)), QKV(F, 1, 5, 2, 2, 2, 64, 64), STATE(F, 1, 2, 64, 64),
           DECAY(F, 1, 5, 2), BETA(F, 1, 5, 2)),
    ATTEND("no_tokens", 0, 0, ATTRIBUTES(HEADS(2, 2), RULE("linear")), F32(2, 0, 6), F32(2, 0, 6), F32(2, 0, 8),
           STATE(F, 2, 2, 3, 4)),
    ATTEND("no_batch", 0, 0, ATTRIBUTES(HEADS(2, 2), RULE("linear")), F32(0, 3, 6), F32(0, 3, 6), F32(0, 3, 8)),
    ATTEND("no_values", 0, 0, ATTRIBUTES(HEADS(2, 2), RULE("linear")), F32(2, 3, 6), F32(2, 3, 6), F32(2, 3, 0)),
    ROW_OF("LinearAttention", NULL, "without_next_state", 27, 1, 0, 0, ATTRIBUTES(HEADS(2, 2), RULE("linear")),
           QKV(F, 2, 4, 2, 2, 2, 3, 4)),
    OWN_ATTEND("states_of_a_key", 0, 0, ATTRIBUTES(HEADS(4, 4)), QKV(F, 1, 3, 4, 2, 4, 3, 5), ABSENT,
               DECAY(F, 1, 3, 12), BETA(F, 1, 3, 4)),
    SIZED(1),
    SIZED(8),
    SIZED(9),
    SIZED(63),
    SIZED(129),
    SIZED(513),
    SIZED(2048),

    GATES_TYPE("float32", F),
    GATES_TYPE("float16", H),
    GATES_TYPE("bfloat16", B),
    GATES("decay_alone", 1, VIEW_DYNAMIC, 0, F32(2, 3, 5), F32(5), F32(5)),
    GATES("of_b_unasked", 1, 0, 0, F32(2, 3, 5), F32(5), F32(5), F32(2, 3, 5)),
    GATES("nothing", 2, 0, 0, F32(2, 0, 5), F32(5), F32(5), F32(2, 0, 5)),
};

/* ---- What is refused --------------------------------------------------------------------------------------------- */

static const leati_op_spec sound_convolution = OWN_CONV("sound", 0, 0, NO_ATTRIBUTES, CONV_INPUTS(F, 2, 3, 5, 4));

static const leati_refusal wrong_convolutions[] = {{A_INT("dilation", 0)},
                                                   {A_INT("dilation", -1)},
                                                   {A_INT("dilation", INT64_MAX)},
                                                   {A_INT("dilation", INT32_MAX)},
                                                   {A_INT("channels_last", 2)},
                                                   {A_INT("channels_last", 1)},
                                                   {A_INT("ndim", 2)},
                                                   {A_INT("ndim", 0)},
                                                   {A_INT("state_window", 1)},
                                                   {A_INT("state_window", INT64_MIN)},
                                                   {A_INT("state_length", 4)},
                                                   {A_INT("state_channels_last", 0)},
                                                   {A_INT("state_update_capacity", 1)},
                                                   {A_INT("input_channels", 2)},
                                                   {A_INT("input_channel_offset", 1)},
                                                   {A_STRING("activation", "relu")},
                                                   {A_STRING("activation", "")},
                                                   {A_INT("activation", 1)}};

static const leati_refusals of_convolutions = {.sound = &sound_convolution,
                                               .wrong = wrong_convolutions,
                                               .wrong_count = G_N_ELEMENTS(wrong_convolutions),
                                               .any_size = {1u << 2}};

/* With decays, and without, of which no rule with a gate makes sense. */
static const leati_op_spec sound_attentions[] = {
    ATTEND("sound", 0, 0, ATTRIBUTES(HEADS(4, 2)), F32(2, 3, 20), F32(2, 3, 10), F32(2, 3, 8), F32(2, 2, 5, 4),
           F32(2, 3, 2), F32(2, 3, 2)),
    ATTEND("sound", 0, 0, ATTRIBUTES(HEADS(4, 2), RULE("delta")), F32(2, 3, 20), F32(2, 3, 10), F32(2, 3, 8),
           F32(2, 2, 5, 4), ABSENT, F32(2, 3, 2)),
    OWN_ATTEND("sound", 0, 0, ATTRIBUTES(HEADS(4, 2)), F32(2, 3, 20), F32(2, 3, 10), F32(2, 3, 8), F32(2, 2, 5, 4),
               F32(2, 3, 2), F32(2, 3, 2)),
};

static const leati_refusal wrong_attentions[] = {{HEADS(0, 2)},
                                                 {HEADS(4, 0)},
                                                 {HEADS(-4, -2)},
                                                 {HEADS(3, 2)},
                                                 {HEADS(2, 4)},
                                                 {HEADS(INT64_MAX, 2)},
                                                 {HEADS(INT64_MIN, INT64_MIN)},
                                                 {RULE("sideways")},
                                                 {A_INT("update_rule", 1)}};
static const leati_refusal without_decays[] = {{RULE("gated")}};
static const leati_refusal with_window[] = {{A_INT("state_window", 2)}};

static const leati_refusals of_attentions = {
    .sound = &sound_attentions[0], .wrong = wrong_attentions, .wrong_count = G_N_ELEMENTS(wrong_attentions)};
static const leati_refusals of_gates = {.sound = &sound_attentions[1], .wrong = without_decays, .wrong_count = 1};
static const leati_refusals of_windows = {.sound = &sound_attentions[2], .wrong = with_window, .wrong_count = 1};

static const leat_case hostile[] = {
    {REFUSALS("CausalConvWithState", "refused", &of_convolutions)},
    {REFUSALS("LinearAttention", "refused", &of_attentions)},
    {REFUSALS("LinearAttention", "refused_without_decay", &of_gates)},
    {REFUSALS("LinearAttention", "refused_window", &of_windows)},
};

void leati_rows_state(leat_case_list *list) {
  leati_op_cases_add(list, specs, G_N_ELEMENTS(specs));
  leati_case_list_add(list, hostile, G_N_ELEMENTS(hostile));
}
