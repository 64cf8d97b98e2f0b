/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of recurrent layers. */
#include <math.h>

#include "cases/sources.h"
#include "ops/core/refusal.h"

/* Weights of states, small enough that an error dies out with the steps. */
#define WEIGHTS(t, ...) RANGE_OF(t, -0.5, 0.5, __VA_ARGS__)
#define F32_WEIGHTS(...) WEIGHTS(LEATI_REF_FLOAT32, __VA_ARGS__)

/* All inputs of a layer but for those at the end, for so many directions. */
#define INPUTS(t, directions, gates, steps, batch, input, units)                             \
  RANGE_OF(t, -2, 2, steps, batch, input), WEIGHTS(t, directions, (gates) * (units), input), \
      WEIGHTS(t, directions, (gates) * (units), units), RANGE_OF(t, -1, 1, directions, 2 * (gates) * (units))
#define STATE(t, directions, batch, units) RANGE_OF(t, -1, 1, directions, batch, units)
#define LENGTHS(low, high, batch) I32_RANGE(low, high, batch)

/* What a row begins with; attributes and inputs follow. */
#define HEAD(op, named, version, wanted, left_out, views, used_threads)                                             \
  .name = op, .label = named, .since_version = version, .outputs = wanted, .unwanted = left_out, .variants = views, \
  .threads = used_threads
#define LAYER_OF(op, named, version, wanted, left_out, views, used_threads, attributes_given, ...)               \
  {                                                                                                              \
    HEAD(op, named, version, wanted, left_out, views, used_threads), .attributes = attributes_given, .inputs = { \
      __VA_ARGS__                                                                                                \
    }                                                                                                            \
  }
#define LSTM_OF(named, views, used_threads, attributes_given, ...)                                                \
  {                                                                                                               \
    HEAD("LSTM", named, 14, 3, 0, views, used_threads), .attributes = attributes_given, .inputs = { __VA_ARGS__ } \
  }
#define GRU_OF(named, views, used_threads, attributes_given, ...)                                                \
  {                                                                                                              \
    HEAD("GRU", named, 14, 2, 0, views, used_threads), .attributes = attributes_given, .inputs = { __VA_ARGS__ } \
  }
#define RNN_OF(named, views, used_threads, attributes_given, ...)                                                \
  {                                                                                                              \
    HEAD("RNN", named, 14, 2, 0, views, used_threads), .attributes = attributes_given, .inputs = { __VA_ARGS__ } \
  }

/* Layers with weights of int8 or uint8: x, weights and bias; a scale and a zero point for each direction or column, of
 * which bytes with a sign have none but in Leat. */
#define BYTES_OF(named, views, used_threads, attributes_given, ...)                             \
  {                                                                                             \
    .domain = LEAT_MICROSOFT, HEAD("DynamicQuantizeLSTM", named, 1, 3, 0, views, used_threads), \
    .attributes = attributes_given, .inputs = {                                                 \
      __VA_ARGS__                                                                               \
    }                                                                                           \
  }
#define BYTES(t, low, high, directions, steps, batch, input, units)                              \
  F32_RANGE(-2, 2, steps, batch, input), RANGE_OF(t, low, high, directions, input, 4 * (units)), \
      RANGE_OF(t, low, high, directions, units, 4 * (units)), F32_RANGE(-1, 1, directions, 8 * (units))
#define SIGNED_BYTES(...) BYTES(LEATI_REF_INT8, -128, 127, __VA_ARGS__)
#define UNSIGNED_BYTES(...) BYTES(LEATI_REF_UINT8, 0, 255, __VA_ARGS__)
#define SCALES_OF(t, low, high, ...) F32_RANGE(0.0005, 0.002, __VA_ARGS__), RANGE_OF(t, low, high, __VA_ARGS__)
#define SIGNED_SCALES(...) SCALES_OF(LEATI_REF_INT8, -9, 9, __VA_ARGS__)
#define UNSIGNED_SCALES(...) SCALES_OF(LEATI_REF_UINT8, 100, 150, __VA_ARGS__)
#define NO_STATES ABSENT, ABSENT, ABSENT, ABSENT

#define F LEATI_REF_FLOAT32
#define BOTH A_STRING("direction", "bidirectional")
#define BACK A_STRING("direction", "reverse")
#define SIZE(units) A_INT("hidden_size", units)
#define ONE(a) A_STRINGS("activations", 1, a, "", "", "", "", "")
#define TWO(a, b) A_STRINGS("activations", 2, a, b, "", "", "", "")

/* Layers of sizes around those at which a backend may share out the work otherwise: steps, rows, inputs and units. */
#define SIZES(ROW)                                                                                            \
  ROW(1, 1, 5, 8), ROW(3, 1, 5, 1), ROW(9, 2, 4, 63), ROW(5, 1, 8, 64), ROW(3, 2, 3, 128), ROW(3, 2, 3, 160), \
      ROW(1, 5, 3, 132), ROW(4, 40, 3, 20), ROW(3, 17, 3, 141)
#define SIZE_NAME(steps, batch, input, units) #steps "x" #batch "x" #input "x" #units
#define LSTM_SIZED(steps, batch, input, units)                                  \
  LSTM_OF(SIZE_NAME(steps, batch, input, units), 0, 0, ATTRIBUTES(SIZE(units)), \
          INPUTS(F, 1, 4, steps, batch, input, units), ABSENT, STATE(F, 1, batch, units), STATE(F, 1, batch, units))
#define GRU_SIZED(steps, batch, input, units)                                  \
  GRU_OF(SIZE_NAME(steps, batch, input, units), 0, 0, ATTRIBUTES(SIZE(units)), \
         INPUTS(F, 1, 3, steps, batch, input, units), ABSENT, STATE(F, 1, batch, units))
#define LINEAR_SIZED(steps, batch, input, units)                                                                \
  GRU_OF("linear_" SIZE_NAME(steps, batch, input, units), 0, 0,                                                 \
         ATTRIBUTES(SIZE(units), A_INT("linear_before_reset", 1)), INPUTS(F, 1, 3, steps, batch, input, units), \
         ABSENT, STATE(F, 1, batch, units))
#define BYTES_SIZED(steps, batch, input, units)                                                                       \
  BYTES_OF(SIZE_NAME(steps, batch, input, units), 0, 0, ATTRIBUTES(SIZE(units)),                                      \
           SIGNED_BYTES(1, steps, batch, input, units), ABSENT, STATE(F, 1, batch, units), STATE(F, 1, batch, units), \
           ABSENT, SIGNED_SCALES(1), SIGNED_SCALES(1))
#define RNN_SIZED(steps, batch, input, units)                                  \
  RNN_OF(SIZE_NAME(steps, batch, input, units), 0, 0, ATTRIBUTES(SIZE(units)), \
         INPUTS(F, 1, 1, steps, batch, input, units), ABSENT, STATE(F, 1, batch, units))

/* Types of 16 bits. */
#define LSTM_HALVES(type_label, t)                                                                                   \
  LSTM_OF(type_label, VIEW_SLICED | VIEW_OFFSET, THREADS_16, ATTRIBUTES(SIZE(8), BOTH), INPUTS(t, 2, 4, 4, 3, 5, 8), \
          LENGTHS(0, 4, 3), STATE(t, 2, 3, 8), STATE(t, 2, 3, 8), RANGE_OF(t, -1, 1, 2, 24)),                        \
      LAYER_OF("LSTM", "version_7_" type_label, 7, 3, 0, 0, 0, ATTRIBUTES(SIZE(8)), INPUTS(t, 1, 4, 4, 3, 5, 8))
#define GRU_HALVES(type_label, t)                                                                              \
  GRU_OF(type_label, VIEW_SLICED, 0, ATTRIBUTES(SIZE(7), BOTH), INPUTS(t, 2, 3, 4, 3, 5, 7), LENGTHS(0, 4, 3), \
         STATE(t, 2, 3, 7)),                                                                                   \
      GRU_OF("linear_" type_label, 0, 0, ATTRIBUTES(SIZE(8), A_INT("linear_before_reset", 1)),                 \
             INPUTS(t, 1, 3, 4, 3, 5, 8), ABSENT, STATE(t, 1, 3, 8)),                                          \
      LAYER_OF("GRU", "version_7_" type_label, 7, 2, 0, 0, 0, ATTRIBUTES(SIZE(8)), INPUTS(t, 1, 3, 4, 3, 5, 8))
#define RNN_HALVES(type_label, t)                                                                              \
  RNN_OF(type_label, VIEW_SLICED, 0, ATTRIBUTES(SIZE(9), BOTH), INPUTS(t, 2, 1, 4, 3, 5, 9), LENGTHS(0, 4, 3), \
         STATE(t, 2, 3, 9)),                                                                                   \
      LAYER_OF("RNN", "version_7_" type_label, 7, 2, 0, 0, 0, ATTRIBUTES(SIZE(8)), INPUTS(t, 1, 1, 4, 3, 5, 8))

#define ACTIVATED(named, function, ...)                                                                     \
  RNN_OF(named, 0, 0, ATTRIBUTES(SIZE(6), ONE(function), __VA_ARGS__), INPUTS(F, 1, 1, 4, 3, 5, 6), ABSENT, \
         STATE(F, 1, 3, 6))

static const leati_op_spec specs[] = {
    LSTM_OF("float32", ALL_VIEWS, THREADS_ALL, ATTRIBUTES(SIZE(8)), INPUTS(F, 1, 4, 5, 3, 6, 8), ABSENT,
            STATE(F, 1, 3, 8), STATE(F, 1, 3, 8)),
    LSTM_OF("all_inputs", ALL_VIEWS, THREADS_16, ATTRIBUTES(SIZE(7), BOTH), INPUTS(F, 2, 4, 5, 3, 6, 7),
            LENGTHS(0, 5, 3), STATE(F, 2, 3, 7), STATE(F, 2, 3, 7), F32_RANGE(-1, 1, 2, 21)),
    LSTM_OF("layout", VIEWS, THREADS_16,
            ATTRIBUTES(SIZE(7), BOTH, A_INT("layout", 1), A_FLOAT("clip", 0.7f), A_INT("input_forget", 1)),
            F32_RANGE(-2, 2, 3, 5, 6), F32_WEIGHTS(2, 28, 6), F32_WEIGHTS(2, 28, 7), F32_RANGE(-1, 1, 2, 56),
            LENGTHS(0, 5, 3), STATE(F, 3, 2, 7), STATE(F, 3, 2, 7), F32_RANGE(-1, 1, 2, 21)),
    LSTM_OF("reverse", 0, 0, ATTRIBUTES(SIZE(4), BACK), INPUTS(F, 1, 4, 6, 2, 3, 4), LENGTHS(0, 6, 2)),
    LSTM_OF("no_bias", VIEW_DYNAMIC, 0, NO_ATTRIBUTES, F32(4, 2, 3), F32_WEIGHTS(1, 20, 3), F32_WEIGHTS(1, 20, 5)),
    LSTM_OF("only_cells", 0, 0, NO_ATTRIBUTES, F32(4, 2, 3), F32_WEIGHTS(1, 20, 3), F32_WEIGHTS(1, 20, 5), ABSENT,
            ABSENT, ABSENT, STATE(F, 1, 2, 5)),
    LSTM_OF("only_peepholes", 0, 0, NO_ATTRIBUTES, F32(4, 2, 3), F32_WEIGHTS(1, 20, 3), F32_WEIGHTS(1, 20, 5), ABSENT,
            ABSENT, ABSENT, ABSENT, F32(1, 15)),
    LAYER_OF("LSTM", "last_states", 22, 3, 1, 0, 0, ATTRIBUTES(SIZE(5)), INPUTS(F, 1, 4, 4, 2, 3, 5)),
    LAYER_OF("LSTM", "last_cells", 22, 3, 3, 0, 0, ATTRIBUTES(SIZE(5)), INPUTS(F, 1, 4, 4, 2, 3, 5)),
    LAYER_OF("LSTM", "all_steps", 22, 1, 0, 0, 0, ATTRIBUTES(SIZE(5)), INPUTS(F, 1, 4, 4, 2, 3, 5)),
    LAYER_OF("LSTM", "version_7", 7, 3, 0, 0, 0, ATTRIBUTES(SIZE(5), BOTH), INPUTS(F, 2, 4, 4, 2, 3, 5)),
    LSTM_OF("activations", 0, 0,
            ATTRIBUTES(
                SIZE(5), BOTH,
                A_STRINGS("activations", 6, "HardSigmoid", "Softsign", "ScaledTanh", "Sigmoid", "LeakyRelu", "Affine"),
                A_FLOATS("activation_alpha", 0.3f, 1.5f, 0.2f, 0.7f), A_FLOATS("activation_beta", 0.4f, 0.6f)),
            INPUTS(F, 2, 4, 4, 2, 3, 5)),
    LSTM_OF("clip", 0, 0, ATTRIBUTES(SIZE(5), A_FLOAT("clip", 0.25f)), INPUTS(F, 1, 4, 4, 2, 3, 5)),
    LSTM_OF("lengths_out_of_range", 0, 0, ATTRIBUTES(SIZE(5), BOTH), INPUTS(F, 2, 4, 4, 5, 3, 5),
            I32_IS(DIMS(5), -2000000000, -1, 0, 5, 2000000000)),
    LSTM_OF("special", 0, 0, ATTRIBUTES(SIZE(5)), F32_IS(DIMS(3, 2, 2), 1, 2, NAN, 1, INFINITY, 1, 1, 1, 0.5f, 1, 1, 1),
            F32_WEIGHTS(1, 20, 2), F32_WEIGHTS(1, 20, 5)),
    LSTM_OF("no_steps", 0, 0, ATTRIBUTES(SIZE(5)), INPUTS(F, 1, 4, 0, 2, 3, 5), ABSENT, STATE(F, 1, 2, 5)),
    LSTM_OF("no_rows", 0, 0, ATTRIBUTES(SIZE(5)), INPUTS(F, 1, 4, 3, 0, 3, 5)),
    LSTM_OF("no_input", 0, 0, ATTRIBUTES(SIZE(5)), INPUTS(F, 1, 4, 3, 2, 0, 5)),
    LSTM_OF("300_steps", 0, 0, ATTRIBUTES(SIZE(3), BOTH), INPUTS(F, 2, 4, 300, 2, 2, 3)),
    LSTM_OF("both_large", 0, 0, ATTRIBUTES(SIZE(140), BOTH), INPUTS(F, 2, 4, 3, 3, 2, 140), LENGTHS(0, 3, 3),
            STATE(F, 2, 3, 140)),
    SIZES(LSTM_SIZED),
    LSTM_HALVES("float16", LEATI_REF_FLOAT16),
    LSTM_HALVES("bfloat16", LEATI_REF_BFLOAT16),

    BYTES_OF("int8", ALL_VIEWS, THREADS_16, ATTRIBUTES(SIZE(8)), SIGNED_BYTES(1, 5, 3, 6, 8), ABSENT, STATE(F, 1, 3, 8),
             STATE(F, 1, 3, 8), ABSENT, SIGNED_SCALES(1, 32), SIGNED_SCALES(1, 32)),
    BYTES_OF("uint8", ALL_VIEWS, THREADS_16, ATTRIBUTES(SIZE(7), BOTH), UNSIGNED_BYTES(2, 5, 3, 6, 7), LENGTHS(0, 5, 3),
             STATE(F, 2, 3, 7), STATE(F, 2, 3, 7), F32_RANGE(-1, 1, 2, 21), UNSIGNED_SCALES(2), UNSIGNED_SCALES(2)),
    BYTES_OF("columns", 0, 0, ATTRIBUTES(SIZE(7), BOTH), UNSIGNED_BYTES(2, 4, 3, 6, 7), NO_STATES,
             UNSIGNED_SCALES(2, 28), UNSIGNED_SCALES(2, 28)),
    BYTES_OF("columns_of_one", 0, 0, ATTRIBUTES(SIZE(8), BACK), SIGNED_BYTES(1, 4, 2, 6, 8), LENGTHS(1, 4, 2), ABSENT,
             ABSENT, ABSENT, SIGNED_SCALES(1, 32), SIGNED_SCALES(1)),
    BYTES_OF("clip", 0, 0, ATTRIBUTES(SIZE(5), A_FLOAT("clip", 0.25f), A_INT("input_forget", 1)),
             SIGNED_BYTES(1, 4, 2, 3, 5), NO_STATES, SIGNED_SCALES(1), SIGNED_SCALES(1)),
    BYTES_OF("activations", 0, 0,
             ATTRIBUTES(SIZE(5), A_STRINGS("activations", 3, "HardSigmoid", "Softsign", "Relu", "", "", "")),
             UNSIGNED_BYTES(1, 4, 2, 3, 5), NO_STATES, UNSIGNED_SCALES(1), UNSIGNED_SCALES(1)),
    BYTES_OF("zeros", 0, 0, NO_ATTRIBUTES, F32_RANGE(0, 0, 3, 2, 4), RANGE_OF(LEATI_REF_INT8, -128, 127, 1, 4, 20),
             RANGE_OF(LEATI_REF_INT8, -128, 127, 1, 5, 20), ABSENT, NO_STATES, SIGNED_SCALES(1), SIGNED_SCALES(1)),
    BYTES_OF("no_steps", 0, 0, ATTRIBUTES(SIZE(5)), SIGNED_BYTES(1, 0, 2, 3, 5), ABSENT, STATE(F, 1, 2, 5), ABSENT,
             ABSENT, SIGNED_SCALES(1), SIGNED_SCALES(1)),
    BYTES_OF("no_rows", 0, 0, ATTRIBUTES(SIZE(5)), SIGNED_BYTES(1, 3, 0, 3, 5), NO_STATES, SIGNED_SCALES(1),
             SIGNED_SCALES(1)),
    BYTES_OF("no_input", 0, 0, ATTRIBUTES(SIZE(5)), SIGNED_BYTES(1, 3, 2, 0, 5), NO_STATES, SIGNED_SCALES(1),
             SIGNED_SCALES(1)),
    SIZES(BYTES_SIZED),
    BYTES_OF("3x2x3x300", 0, 0, ATTRIBUTES(SIZE(300)), UNSIGNED_BYTES(1, 3, 2, 3, 300), NO_STATES, UNSIGNED_SCALES(1),
             UNSIGNED_SCALES(1, 1200)),

    GRU_OF("float32", ALL_VIEWS, THREADS_ALL, ATTRIBUTES(SIZE(8)), INPUTS(F, 1, 3, 5, 3, 6, 8), ABSENT,
           STATE(F, 1, 3, 8)),
    GRU_OF("all_inputs", VIEWS, THREADS_16, ATTRIBUTES(SIZE(7), BOTH, A_FLOAT("clip", 0.7f)),
           INPUTS(F, 2, 3, 5, 3, 6, 7), LENGTHS(0, 5, 3), STATE(F, 2, 3, 7)),
    GRU_OF("linear", VIEWS, THREADS_16, ATTRIBUTES(SIZE(7), BOTH, A_INT("linear_before_reset", 1)),
           INPUTS(F, 2, 3, 5, 3, 6, 7), LENGTHS(0, 5, 3), STATE(F, 2, 3, 7)),
    GRU_OF("layout", 0, 0, ATTRIBUTES(SIZE(7), A_INT("layout", 1), BACK), F32_RANGE(-2, 2, 3, 5, 6),
           F32_WEIGHTS(1, 21, 6), F32_WEIGHTS(1, 21, 7), F32_RANGE(-1, 1, 1, 42), LENGTHS(0, 5, 3), STATE(F, 3, 1, 7)),
    GRU_OF("no_bias", 0, 0, NO_ATTRIBUTES, F32(4, 2, 3), F32_WEIGHTS(1, 15, 3), F32_WEIGHTS(1, 15, 5)),
    GRU_OF("activations", 0, 0, ATTRIBUTES(SIZE(5), TWO("HardSigmoid", "Elu"), A_FLOATS("activation_alpha", 0.3f)),
           INPUTS(F, 1, 3, 4, 2, 3, 5)),
    LAYER_OF("GRU", "last_states", 22, 2, 1, 0, 0, ATTRIBUTES(SIZE(5)), INPUTS(F, 1, 3, 4, 2, 3, 5)),
    LAYER_OF("GRU", "version_7", 7, 2, 0, 0, 0, ATTRIBUTES(SIZE(5), BOTH), INPUTS(F, 2, 3, 4, 2, 3, 5)),
    GRU_OF("no_steps", 0, 0, ATTRIBUTES(SIZE(5)), INPUTS(F, 1, 3, 0, 2, 3, 5), ABSENT, STATE(F, 1, 2, 5)),
    GRU_OF("both_large", 0, 0, ATTRIBUTES(SIZE(162), BOTH), INPUTS(F, 2, 3, 3, 3, 2, 162), LENGTHS(0, 3, 3),
           STATE(F, 2, 3, 162)),
    SIZES(GRU_SIZED),
    SIZES(LINEAR_SIZED),
    GRU_HALVES("float16", LEATI_REF_FLOAT16),
    GRU_HALVES("bfloat16", LEATI_REF_BFLOAT16),

    RNN_OF("float32", ALL_VIEWS, THREADS_ALL, ATTRIBUTES(SIZE(8)), INPUTS(F, 1, 1, 5, 3, 6, 8), ABSENT,
           STATE(F, 1, 3, 8)),
    RNN_OF("all_inputs", VIEWS, THREADS_16, ATTRIBUTES(SIZE(7), BOTH, A_FLOAT("clip", 0.7f)),
           INPUTS(F, 2, 1, 5, 3, 6, 7), LENGTHS(0, 5, 3), STATE(F, 2, 3, 7)),
    RNN_OF("layout", 0, 0, ATTRIBUTES(SIZE(7), A_INT("layout", 1), BACK), F32_RANGE(-2, 2, 3, 5, 6),
           F32_WEIGHTS(1, 7, 6), F32_WEIGHTS(1, 7, 7), F32_RANGE(-1, 1, 1, 14), LENGTHS(0, 5, 3), STATE(F, 3, 1, 7)),
    LAYER_OF("RNN", "last_states", 22, 2, 1, 0, 0, ATTRIBUTES(SIZE(5)), INPUTS(F, 1, 1, 4, 2, 3, 5)),
    LAYER_OF("RNN", "version_7", 7, 2, 0, 0, 0, ATTRIBUTES(SIZE(5), BOTH), INPUTS(F, 2, 1, 4, 2, 3, 5)),
    RNN_OF("two_names", 0, 0, ATTRIBUTES(SIZE(6), TWO("Relu", "Tanh")), INPUTS(F, 1, 1, 4, 3, 5, 6)),
    ACTIVATED("relu", "Relu", A_FLOATS("activation_alpha", 2)),
    ACTIVATED("affine", "Affine", A_FLOATS("activation_alpha", 0.5f), A_FLOATS("activation_beta", 0.25f)),
    ACTIVATED("affine_alone", "Affine", A_INT("layout", 0)),
    ACTIVATED("leaky_relu", "LeakyRelu", A_INT("layout", 0)),
    ACTIVATED("thresholded_relu", "ThresholdedRelu", A_FLOATS("activation_alpha", 0.5f)),
    ACTIVATED("scaled_tanh", "ScaledTanh", A_FLOATS("activation_alpha", 1.5f), A_FLOATS("activation_beta", 0.5f)),
    ACTIVATED("sigmoid", "Sigmoid", A_INT("layout", 0)),
    ACTIVATED("hard_sigmoid", "HardSigmoid", A_FLOATS("activation_alpha", 0.4f)),
    ACTIVATED("elu", "Elu", A_INT("layout", 0)),
    ACTIVATED("softsign", "Softsign", A_INT("layout", 0)),
    ACTIVATED("softplus", "Softplus", A_INT("layout", 0)),
    SIZES(RNN_SIZED),
    RNN_HALVES("float16", LEATI_REF_FLOAT16),
    RNN_HALVES("bfloat16", LEATI_REF_BFLOAT16),
};

/* ---- What is refused --------------------------------------------------------------------------------------------- */

#define UNITS(n) A_INT("hidden_size", n)
/* Of both operators. */
#define OF_BOTH                                                                                                \
  {UNITS(-4)}, {UNITS(0)}, {UNITS(5)}, {UNITS(INT64_MAX)}, {A_FLOAT("clip", -1)}, {A_FLOAT("clip", 0)},        \
      {A_FLOAT("clip", NAN)}, {A_STRING("direction", "sideways")}, {A_STRING("direction", "bidirectional")},   \
      {A_STRINGS("activations", 3, "Sigmoid", "Tanh", "Cube", "", "", "")},                                    \
      {A_STRINGS("activations", 2, "Sigmoid", "Tanh", "", "", "", "")},                                        \
      {A_STRINGS("activations", 6, "Tanh", "Tanh", "Tanh", "Tanh", "Tanh", "Tanh")}, {NO_STRINGS(NULL, NULL)}, \
      {NO_STRINGS(nothing, lengths)}, {A_STRING("activations", "Tanh")}, {                                     \
    A_INT("activation_alpha", 1)                                                                               \
  }
#define NO_STRINGS(strings_given, lengths_given)                                                              \
  {                                                                                                           \
    .struct_size = sizeof(leat_attribute), .type = LEAT_ATTRIBUTE_STRINGS, .name = "activations", .count = 3, \
    .strings = strings_given, .lengths = lengths_given                                                        \
  }

static const char *const nothing[] = {NULL, NULL, NULL};
static const uint64_t lengths[] = {3, 3, 3};

static const leati_op_spec sound =
    LSTM_OF("sound", 0, 0, ATTRIBUTES(UNITS(4)), INPUTS(LEATI_REF_FLOAT32, 1, 4, 5, 2, 3, 4), I32_RANGE(1, 5, 2),
            F32(1, 2, 4), F32(1, 2, 4), F32(1, 12));
static const leati_op_spec sound_bytes =
    BYTES_OF("sound", 0, 0, ATTRIBUTES(UNITS(4)), UNSIGNED_BYTES(1, 5, 2, 3, 4), I32_RANGE(1, 5, 2), F32(1, 2, 4),
             F32(1, 2, 4), F32(1, 12), UNSIGNED_SCALES(1, 16), UNSIGNED_SCALES(1, 16));
static const leati_refusal wrong[] = {{A_INT("layout", 2)}, {A_INT("layout", -1)}, OF_BOTH};
static const leati_refusal wrong_bytes[] = {OF_BOTH};
static const leati_refusals refusals = {
    .sound = &sound, .wrong = wrong, .wrong_count = G_N_ELEMENTS(wrong), .any_size = {1u << 0}};
static const leati_refusals refusals_of_bytes = {
    .sound = &sound_bytes, .wrong = wrong_bytes, .wrong_count = G_N_ELEMENTS(wrong_bytes), .any_size = {1u << 0}};
static const leat_case hostile[] = {{REFUSALS("LSTM", "refused", &refusals)},
                                    {REFUSALS("DynamicQuantizeLSTM", "refused", &refusals_of_bytes)}};

void leati_rows_recurrent(leat_case_list *list) {
  leati_op_cases_add(list, specs, G_N_ELEMENTS(specs));
  leati_case_list_add(list, hostile, G_N_ELEMENTS(hostile));
}
