/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of convolutions and pools. */
#include <math.h>

#include "cases/sources.h"
#include "ops/core/refusal.h"

#define CONV(named, attributes_given, ...)                                                                         \
  {                                                                                                                \
    .name = "Conv", .label = named, .since_version = 11, .attributes = attributes_given, .inputs = { __VA_ARGS__ } \
  }
#define HALF_CONV(named, attributes_given, ...)                                                                    \
  {                                                                                                                \
    .name = "Conv", .label = named, .since_version = 22, .attributes = attributes_given, .inputs = { __VA_ARGS__ } \
  }
#define TRANSPOSE(named, attributes_given, ...)                                                               \
  {                                                                                                           \
    .name = "ConvTranspose", .label = named, .since_version = 11, .attributes = attributes_given, .inputs = { \
      __VA_ARGS__                                                                                             \
    }                                                                                                         \
  }
#define MAX_POOL(named, attributes_given, ...)                                                                        \
  {                                                                                                                   \
    .name = "MaxPool", .label = named, .since_version = 12, .attributes = attributes_given, .inputs = { __VA_ARGS__ } \
  }
#define AVERAGE_POOL(named, attributes_given, ...)                                                          \
  {                                                                                                         \
    .name = "AveragePool", .label = named, .since_version = 19, .attributes = attributes_given, .inputs = { \
      __VA_ARGS__                                                                                           \
    }                                                                                                       \
  }

#define LP_POOL(named, attributes_given, ...)                                                                        \
  {                                                                                                                  \
    .name = "LpPool", .label = named, .since_version = 22, .attributes = attributes_given, .inputs = { __VA_ARGS__ } \
  }

/* The convolutions of a type of 16 bits, with each kernel: tiles of three sizes, weights one by one and in quads,
 * images of one to three dimensions, products of matrices, windows of one channel; and numbers of all kinds, whose sums
 * are subnormal or too large for the type with `huge`. */
#define HALVES(type_label, t, huge)                                                                                    \
  {.name = "Conv",                                                                                                     \
   .label = type_label,                                                                                                \
   .since_version = 22,                                                                                                \
   .variants = VIEW_SLICED | VIEW_OFFSET,                                                                              \
   .threads = THREADS_16,                                                                                              \
   .attributes = {A_INTS("pads", 1, 1, 1, 1)},                                                                         \
   .inputs = {RANGE_OF(t, -2, 2, 2, 5, 9, 7), RANGE_OF(t, -2, 2, 6, 5, 3, 3), RANGE_OF(t, -2, 2, 6)}},                 \
      HALF_CONV("inner_split_" type_label, ATTRIBUTES(A_INTS("pads", 1, 1, 1, 1)), RANGE_OF(t, -2, 2, 2, 160, 3, 4),   \
                RANGE_OF(t, -2, 2, 33, 160, 3, 3), RANGE_OF(t, -2, 2, 33)),                                            \
      HALF_CONV("tiles_of_64_" type_label, NO_ATTRIBUTES, RANGE_OF(t, -2, 2, 1, 1, 12801),                             \
                RANGE_OF(t, -2, 2, 33, 1, 2)),                                                                         \
      HALF_CONV("tiles_of_128_" type_label, NO_ATTRIBUTES, RANGE_OF(t, -2, 2, 1, 1, 12801),                            \
                RANGE_OF(t, -2, 2, 65, 1, 2)),                                                                         \
      {.name = "Conv",                                                                                                 \
       .label = "pointwise_" type_label,                                                                               \
       .since_version = 22,                                                                                            \
       .variants = VIEW_OFFSET,                                                                                        \
       .inputs = {RANGE_OF(t, -2, 2, 2, 36, 6, 6), RANGE_OF(t, -2, 2, 17, 36, 1, 1), RANGE_OF(t, -2, 2, 17)}},         \
      HALF_CONV("depthwise_" type_label,                                                                               \
                ATTRIBUTES(A_INT("group", 7), A_INTS("pads", 1, 1, 1, 1), A_INTS("strides", 2, 2)),                    \
                RANGE_OF(t, -2, 2, 2, 7, 9, 9), RANGE_OF(t, -2, 2, 7, 1, 3, 3), RANGE_OF(t, -2, 2, 7)),                \
      HALF_CONV("1d_depthwise_" type_label, ATTRIBUTES(A_INT("group", 5), A_INTS("pads", 2, 0)),                       \
                RANGE_OF(t, -2, 2, 1, 5, 17), RANGE_OF(t, -2, 2, 5, 1, 3), RANGE_OF(t, -2, 2, 5)),                     \
      HALF_CONV("1d_groups_" type_label,                                                                               \
                ATTRIBUTES(A_INTS("strides", 3), A_INTS("dilations", 2), A_INT("group", 2), A_INTS("pads", 3, 1)),     \
                RANGE_OF(t, -2, 2, 1, 6, 41), RANGE_OF(t, -2, 2, 4, 3, 5), RANGE_OF(t, -2, 2, 4)),                     \
      HALF_CONV("3d_" type_label, NO_ATTRIBUTES, RANGE_OF(t, -2, 2, 1, 3, 5, 5, 5), RANGE_OF(t, -2, 2, 4, 3, 3, 3, 3), \
                RANGE_OF(t, -2, 2, 4)),                                                                                \
      HALF_CONV("empty_image_" type_label, ATTRIBUTES(A_INTS("pads", 1, 1, 1, 1)), RANGE_OF(t, -2, 2, 2, 5, 0, 7),     \
                RANGE_OF(t, -2, 2, 6, 5, 2, 3), RANGE_OF(t, -2, 2, 6)),                                                \
      HALF_CONV("no_channels_" type_label, NO_ATTRIBUTES, RANGE_OF(t, -2, 2, 2, 0, 4, 7),                              \
                RANGE_OF(t, -2, 2, 6, 0, 3, 3), RANGE_OF(t, -2, 2, 6)),                                                \
      HALF_CONV("special_" type_label, ATTRIBUTES(A_INTS("pads", 0, 1, 0, 1)), MIXED(t, -300, 300, 1, 1, 4, 17),       \
                {.fill = LEATI_FILL_FLOATS,                                                                            \
                 .type = t,                                                                                            \
                 DIMS(4, 1, 1, 2),                                                                                     \
                 .floats = (const float[]){300, -250, 0x1p-10f, -0x1p-12f, 1, 1, huge, 0.5f}}),                        \
  {                                                                                                                    \
    .name = "ConvTranspose", .label = type_label, .since_version = 22, .variants = VIEW_OFFSET, .threads = THREADS_16, \
    .attributes = {A_INTS("strides", 2, 2), A_INTS("pads", 1, 1, 1, 1)}, .inputs = {                                   \
      RANGE_OF(t, -2, 2, 2, 5, 6, 7),                                                                                  \
      RANGE_OF(t, -2, 2, 5, 6, 3, 3),                                                                                  \
      RANGE_OF(t, -2, 2, 6)                                                                                            \
    }                                                                                                                  \
  }

/* Convolutions of a type of 16 bits whose groups have a multiple of eight channels, which a backend may fetch at once:
 * all kinds of views, windows and padding, as many taps as a word has bits and fewer, and infinities beside the
 * padding. */
#define EIGHTS(type_label, t)                                                                                         \
  {.name = "Conv",                                                                                                    \
   .label = "channels_" type_label,                                                                                   \
   .since_version = 22,                                                                                               \
   .variants = VIEW_TRANSPOSED | VIEW_SLICED | VIEW_OFFSET,                                                           \
   .threads = THREADS_16,                                                                                             \
   .attributes = {A_INTS("pads", 1, 1, 1, 1)},                                                                        \
   .inputs = {RANGE_OF(t, -2, 2, 2, 16, 9, 7), RANGE_OF(t, -2, 2, 33, 16, 3, 3), RANGE_OF(t, -2, 2, 33)}},            \
      HALF_CONV("channels_groups_" type_label,                                                                        \
                ATTRIBUTES(A_INT("group", 2), A_INTS("strides", 2, 1), A_INTS("dilations", 1, 2),                     \
                           A_INTS("pads", 0, 1, 2, 3)),                                                               \
                RANGE_OF(t, -2, 2, 2, 48, 11, 13), RANGE_OF(t, -2, 2, 12, 24, 3, 2), RANGE_OF(t, -2, 2, 12)),         \
      HALF_CONV("channels_3d_" type_label, ATTRIBUTES(A_INTS("pads", 1, 1, 1, 1, 1, 1)),                              \
                RANGE_OF(t, -2, 2, 1, 8, 4, 5, 6), RANGE_OF(t, -2, 2, 5, 8, 3, 3, 3)),                                \
      HALF_CONV("channels_31_taps_" type_label, ATTRIBUTES(A_INTS("pads", 15, 15)), RANGE_OF(t, -2, 2, 1, 8, 70),     \
                RANGE_OF(t, -2, 2, 4, 8, 31)),                                                                        \
      HALF_CONV("channels_32_taps_" type_label, ATTRIBUTES(A_INTS("pads", 15, 16)), RANGE_OF(t, -2, 2, 1, 8, 70),     \
                RANGE_OF(t, -2, 2, 4, 8, 32)),                                                                        \
      HALF_CONV("channels_special_" type_label, ATTRIBUTES(A_INTS("pads", 1, 1, 1, 1)),                               \
                MIXED(t, -300, 300, 1, 8, 2, 3), RANGE_OF(t, 0.5f, 2, 3, 8, 3, 3)),                                   \
      HALF_CONV("channels_tiles_of_64_" type_label, ATTRIBUTES(A_INTS("pads", 0, 1)), RANGE_OF(t, -2, 2, 1, 8, 6401), \
                RANGE_OF(t, -2, 2, 33, 8, 2))

/* Transposed convolutions of a type whose windows lie side by side, so that a backend may take each for a product:
 * all kinds of views, one to three dimensions, tiles of two sizes, many channels of few pixels, one pixel, padding
 * that output_padding takes back, and nothing to add up. */
#define SPREAD(named, attributes_given, ...)                                                                  \
  {                                                                                                           \
    .name = "ConvTranspose", .label = named, .since_version = 22, .attributes = attributes_given, .inputs = { \
      __VA_ARGS__                                                                                             \
    }                                                                                                         \
  }
#define SPREADS(type_label, t)                                                                                      \
  {.name = "ConvTranspose",                                                                                         \
   .label = "beside_" type_label,                                                                                   \
   .since_version = 22,                                                                                             \
   .variants = ALL_VIEWS,                                                                                           \
   .threads = THREADS_16,                                                                                           \
   .attributes = {A_INTS("strides", 2, 3)},                                                                         \
   .inputs = {RANGE_OF(t, -2, 2, 3, 9, 7, 5), RANGE_OF(t, -2, 2, 9, 6, 2, 3), RANGE_OF(t, -2, 2, 6)}},              \
      SPREAD("beside_1d_" type_label, ATTRIBUTES(A_INTS("strides", 4)), RANGE_OF(t, -2, 2, 2, 8, 33),               \
             RANGE_OF(t, -2, 2, 8, 12, 4), RANGE_OF(t, -2, 2, 12)),                                                 \
      SPREAD("beside_3d_" type_label, ATTRIBUTES(A_INTS("strides", 2, 1, 3)), RANGE_OF(t, -2, 2, 2, 5, 3, 4, 3),    \
             RANGE_OF(t, -2, 2, 5, 4, 2, 1, 3), RANGE_OF(t, -2, 2, 4)),                                             \
      SPREAD("beside_split_" type_label, ATTRIBUTES(A_INTS("strides", 2, 2)), RANGE_OF(t, -2, 2, 2, 520, 3, 4),     \
             RANGE_OF(t, -2, 2, 520, 8, 2, 2), RANGE_OF(t, -2, 2, 8)),                                              \
      SPREAD("beside_tiles_of_64_" type_label, ATTRIBUTES(A_INTS("strides", 3, 2)),                                 \
             RANGE_OF(t, -2, 2, 1, 8, 1, 12808), RANGE_OF(t, -2, 2, 8, 8, 3, 2)),                                   \
      SPREAD("beside_one_pixel_" type_label, ATTRIBUTES(A_INTS("strides", 1, 2)), RANGE_OF(t, -2, 2, 3, 20, 1, 1),  \
             RANGE_OF(t, -2, 2, 20, 8, 4, 3), RANGE_OF(t, -2, 2, 8)),                                               \
      SPREAD("beside_padding_" type_label,                                                                          \
             ATTRIBUTES(A_INTS("strides", 2, 2), A_INTS("pads", 0, 0, 1, 1), A_INTS("output_padding", 1, 1)),       \
             RANGE_OF(t, -2, 2, 1, 8, 5, 4), RANGE_OF(t, -2, 2, 8, 4, 2, 2)),                                       \
      SPREAD("beside_no_channels_" type_label, ATTRIBUTES(A_INTS("strides", 2, 2)), RANGE_OF(t, -2, 2, 2, 0, 4, 3), \
             RANGE_OF(t, -2, 2, 0, 4, 2, 2), RANGE_OF(t, -2, 2, 4))

/* The pools of a type of 16 bits. */
#define HALF_POOLS(type_label, t)                                                                                   \
  {.name = "MaxPool",                                                                                               \
   .label = type_label,                                                                                             \
   .since_version = 22,                                                                                             \
   .variants = VIEW_SLICED | VIEW_OFFSET,                                                                           \
   .threads = THREADS_16,                                                                                           \
   .attributes = {A_INTS("kernel_shape", 3, 3), A_INTS("strides", 2, 2), A_INTS("pads", 1, 1, 1, 1)},               \
   .inputs = {MIXED(t, -9, 9, 2, 5, 9, 11)}},                                                                       \
      {.name = "AveragePool",                                                                                       \
       .label = type_label,                                                                                         \
       .since_version = 22,                                                                                         \
       .attributes = {A_INTS("kernel_shape", 3, 3), A_INTS("strides", 2, 2), A_INTS("pads", 1, 1, 1, 1)},           \
       .inputs = {RANGE_OF(t, -2, 2, 2, 5, 9, 11)}},                                                                \
      {.name = "GlobalAveragePool",                                                                                 \
       .label = type_label,                                                                                         \
       .since_version = 22,                                                                                         \
       .variants = VIEW_OFFSET,                                                                                     \
       .inputs = {RANGE_OF(t, -2, 2, 2, 5, 7, 9)}},                                                                 \
  {                                                                                                                 \
    .name = "GlobalMaxPool", .label = type_label, .since_version = 22, .inputs = { RANGE_OF(t, -2, 2, 2, 5, 7, 9) } \
  }

#define S8(...) RANGE_OF(LEATI_REF_INT8, -128, 127, __VA_ARGS__)
#define U8(...) U8_RANGE(0, 255, __VA_ARGS__)

/* Convolutions of int8 or uint8: the attributes, then the inputs. */
#define INTEGER(named, attributes_given, ...)                                                               \
  {                                                                                                         \
    .name = "ConvInteger", .label = named, .since_version = 10, .attributes = attributes_given, .inputs = { \
      __VA_ARGS__                                                                                           \
    }                                                                                                       \
  }
#define QLINEAR(named, attributes_given, ...)                                                               \
  {                                                                                                         \
    .name = "QLinearConv", .label = named, .since_version = 10, .attributes = attributes_given, .inputs = { \
      __VA_ARGS__                                                                                           \
    }                                                                                                       \
  }
#define OWN_QLINEAR(named, views, used_threads, attributes_given, ...)                                       \
  {                                                                                                          \
    .name = "QLinearConv", .label = "of_com_microsoft_" named, .since_version = 1, .domain = LEAT_MICROSOFT, \
    .variants = views, .threads = used_threads, .attributes = attributes_given, .inputs = {                  \
      __VA_ARGS__                                                                                            \
    }                                                                                                        \
  }
#define LAST A_INT("channels_last", 1)
#define QUANTIZED(named, attributes_given, ...)                                                                    \
  {                                                                                                                \
    .name = "QuantizedConv", .label = named, .since_version = 1, .domain = "leat", .attributes = attributes_given, \
    .inputs = {                                                                                                    \
      __VA_ARGS__                                                                                                  \
    }                                                                                                              \
  }
#define SCALE(...) F32_RANGE(0.005, 0.05, __VA_ARGS__)

#define NHWC_MAX_POOL(named, views, attributes_given, ...)                                                  \
  {                                                                                                         \
    .name = "NhwcMaxPool", .label = named, .since_version = 1, .domain = LEAT_MICROSOFT, .variants = views, \
    .threads = THREADS_8, .attributes = attributes_given, .inputs = {                                       \
      __VA_ARGS__                                                                                           \
    }                                                                                                       \
  }

static const leati_op_spec specs[] = {
    {.name = "ConvInteger",
     .label = "uint8_int8",
     .since_version = 10,
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .attributes = {A_INTS("strides", 2, 2), A_INTS("pads", 1, 1, 1, 1)},
     .inputs = {U8(2, 5, 9, 7), S8(12, 5, 3, 3), U8(1), S8(12)}},
    INTEGER("int8_uint8", ATTRIBUTES(A_INTS("pads", 2, 0, 1, 3)), S8(2, 16, 6, 7), U8(33, 16, 2, 3), S8(1), U8(1)),
    INTEGER("no_zero_points", ATTRIBUTES(A_STRING("auto_pad", "SAME_LOWER")), U8(1, 4, 7, 7), S8(9, 4, 4, 3)),
    INTEGER("pointwise", NO_ATTRIBUTES, U8(2, 16, 4, 6), S8(10, 16, 1, 1), U8(1), S8(10)),
    INTEGER("groups", ATTRIBUTES(A_INT("group", 3), A_INTS("dilations", 2, 1)), U8(2, 6, 8, 5), U8(9, 2, 3, 2), U8(1),
            U8(9)),
    INTEGER("depthwise", ATTRIBUTES(A_INT("group", 5), A_INTS("pads", 1, 1, 1, 1)), U8(2, 5, 6, 7), S8(5, 1, 3, 3),
            U8(1), S8(5)),
    INTEGER("line", ATTRIBUTES(A_INTS("pads", 1, 1)), U8(2, 3, 11), S8(4, 3, 3), U8(1)),
    INTEGER("volume", ATTRIBUTES(A_INTS("strides", 1, 2, 1), A_INTS("pads", 1, 0, 1, 0, 1, 1)), U8(1, 3, 4, 5, 6),
            S8(4, 3, 2, 3, 2), U8(1)),
    INTEGER("no_images", NO_ATTRIBUTES, U8(0, 3, 4, 4), S8(2, 3, 3, 3)),

    {.name = "QLinearConv",
     .label = "uint8",
     .since_version = 10,
     .variants = VIEW_TRANSPOSED | VIEW_SLICED | VIEW_OFFSET | VIEW_DYNAMIC,
     .threads = THREADS_8,
     .attributes = {A_INTS("pads", 1, 1, 1, 1)},
     .inputs = {U8(2, 5, 9, 7), SCALE(1), U8(1), S8(12, 5, 3, 3), SCALE(12), S8(12), F32_RANGE(0.05, 0.2, 1), U8(1),
                I32_RANGE(-9999, 9999, 12)}},
    QLINEAR("int8", NO_ATTRIBUTES, S8(1, 8, 5, 6), SCALE(1), S8(1), U8(3, 8, 2, 2), SCALE(1), U8(1),
            F32_RANGE(0.05, 0.2, 1), S8(1)),
    QLINEAR("groups", ATTRIBUTES(A_INT("group", 2)), U8(2, 4, 5, 6), F32_IS(NO_DIMS, 0.02f), U8(1), S8(6, 2, 3, 3),
            SCALE(6), S8(1), F32_IS(NO_DIMS, 0.1f), U8(1), I32_RANGE(-9999, 9999, 6)),

    OWN_QLINEAR("uint8", 0, 0, ATTRIBUTES(A_INTS("pads", 1, 1, 1, 1)), U8(2, 5, 9, 7), SCALE(1), U8(1), S8(12, 5, 3, 3),
                SCALE(12), S8(12), F32_RANGE(0.05, 0.2, 1), U8(1), I32_RANGE(-9999, 9999, 12)),
    OWN_QLINEAR("channels_last", VIEW_TRANSPOSED | VIEW_SLICED | VIEW_OFFSET | VIEW_DYNAMIC, THREADS_8,
                ATTRIBUTES(LAST, A_INTS("pads", 1, 1, 1, 1)), U8(2, 9, 7, 5), SCALE(1), U8(1), S8(12, 5, 3, 3),
                SCALE(12), S8(12), F32_RANGE(0.05, 0.2, 1), U8(1), I32_RANGE(-9999, 9999, 12)),
    OWN_QLINEAR("channels_last_int8", 0, 0, ATTRIBUTES(LAST), S8(1, 5, 6, 16), SCALE(1), S8(1), U8(16, 16, 2, 2),
                SCALE(1), U8(1), F32_RANGE(0.05, 0.2, 1), S8(1)),
    OWN_QLINEAR("channels_last_groups", 0, 0, ATTRIBUTES(LAST, A_INT("group", 2)), U8(2, 5, 6, 4), SCALE(1), U8(1),
                S8(6, 2, 3, 3), SCALE(6), S8(1), F32_RANGE(0.05, 0.2, 1), U8(1), I32_RANGE(-9999, 9999, 6)),
    OWN_QLINEAR("channels_last_line", 0, 0, ATTRIBUTES(LAST), U8(2, 11, 3), SCALE(1), U8(1), S8(4, 3, 3), SCALE(1),
                S8(1), F32_RANGE(0.05, 0.2, 1), U8(1)),

    {.name = "QuantizedConv",
     .label = "uint8",
     .since_version = 1,
     .domain = "leat",
     .variants = VIEW_TRANSPOSED | VIEW_SLICED | VIEW_OFFSET | VIEW_DYNAMIC,
     .threads = THREADS_8,
     .attributes = {A_INTS("pads", 1, 1, 1, 1), A_STRING("activation", "Relu")},
     .inputs = {U8(2, 16, 9, 7), S8(12, 16, 3, 3), SCALE(1), SCALE(12), U8(1), S8(12), F32(12), F32_RANGE(0.5, 1, 1),
                U8(1)}},
    QUANTIZED("floats", ATTRIBUTES(A_INTS("strides", 2, 2)), S8(1, 8, 5, 6), U8(3, 8, 2, 2), SCALE(1), SCALE(1), S8(1),
              U8(1), F32(1, 3, 1, 1)),
    QUANTIZED("floats_relu", ATTRIBUTES(A_STRING("activation", "Relu")), U8(2, 16, 5, 6), S8(12, 16, 1, 1), SCALE(1),
              SCALE(12), U8(1)),
    QUANTIZED("no_zero_points", NO_ATTRIBUTES, S8(2, 8, 5, 6), S8(36, 8, 1, 1), SCALE(1), SCALE(36), ABSENT, ABSENT,
              F32(36), F32_RANGE(0.2, 0.5, 1)),
    QUANTIZED("groups", ATTRIBUTES(A_INT("group", 2)), U8(2, 4, 5, 6), S8(6, 2, 3, 3), F32_IS(NO_DIMS, 0.02f), SCALE(6),
              U8(1), S8(1), F32(6), F32_IS(NO_DIMS, 0.1f), S8(1)),
    QUANTIZED("saturated", NO_ATTRIBUTES, U8(1, 16, 5, 6), S8(12, 16, 1, 1), SCALE(1), SCALE(1), U8(1), S8(1), ABSENT,
              F32_RANGE(0.0001, 0.0002, 1), U8(1)),
    QUANTIZED("tiles", ATTRIBUTES(A_INTS("pads", 1, 1, 1, 1)), U8(1, 32, 40, 40), S8(72, 32, 3, 3), SCALE(1), SCALE(72),
              U8(1), S8(72), F32(72), F32_RANGE(0.5, 1, 1), U8(1)),

    HALVES("float16", LEATI_REF_FLOAT16, 60000),
    HALVES("bfloat16", LEATI_REF_BFLOAT16, 1e9f),
    EIGHTS("float16", LEATI_REF_FLOAT16),
    EIGHTS("bfloat16", LEATI_REF_BFLOAT16),
    HALF_CONV("channels_tiles_of_128_bfloat16", ATTRIBUTES(A_INTS("pads", 0, 1)),
              RANGE_OF(LEATI_REF_BFLOAT16, -2, 2, 1, 8, 12801), RANGE_OF(LEATI_REF_BFLOAT16, -2, 2, 65, 8, 2)),
    /* 400 millions of multiplications. */
    HALF_CONV("channels_many_float16", ATTRIBUTES(A_INTS("pads", 1, 1, 1, 1)),
              RANGE_OF(LEATI_REF_FLOAT16, -2, 2, 1, 64, 104, 104), RANGE_OF(LEATI_REF_FLOAT16, -2, 2, 64, 64, 3, 3)),
    HALF_POOLS("float16", LEATI_REF_FLOAT16),
    HALF_POOLS("bfloat16", LEATI_REF_BFLOAT16),
    {.name = "Conv",
     .label = "float32",
     .since_version = 11,
     .variants = ALL_VIEWS,
     .threads = THREADS_ALL,
     .attributes = {A_INTS("kernel_shape", 3, 3), A_INTS("pads", 1, 1, 1, 1)},
     .inputs = {F32(2, 5, 9, 7), F32(6, 5, 3, 3), F32(6)}},
    {.name = "Conv", .label = "version22", .since_version = 22, .inputs = {F32(1, 3, 6, 6), F32(4, 3, 3, 3)}},
    CONV("absent_bias", ATTRIBUTES(A_INTS("strides", 2, 2)), F32(1, 3, 9, 9), F32(4, 3, 3, 3), ABSENT),
    CONV("pointwise", ATTRIBUTES(A_INTS("kernel_shape", 1, 1)), F32(2, 33, 5, 7), F32(17, 33, 1, 1), F32(17)),
    CONV("stride", ATTRIBUTES(A_INTS("strides", 2, 3), A_INTS("pads", 1, 1, 1, 1)), F32(1, 3, 11, 13), F32(5, 3, 3, 3)),
    CONV("dilation", ATTRIBUTES(A_INTS("dilations", 2, 3)), F32(1, 3, 11, 13), F32(5, 3, 3, 3), F32(5)),
    CONV("uneven_pads", ATTRIBUTES(A_INTS("pads", 0, 1, 2, 3)), F32(1, 3, 6, 6), F32(4, 3, 3, 3), F32(4)),
    CONV("padding_only_windows", ATTRIBUTES(A_INTS("pads", 4, 4, 4, 4)), F32(1, 2, 3, 3), F32(3, 2, 3, 3), F32(3)),
    CONV("empty_image", ATTRIBUTES(A_INTS("pads", 1, 1, 1, 1)), F32(2, 5, 0, 7), F32(6, 5, 2, 3), F32(6)),
    CONV("no_channels", NO_ATTRIBUTES, F32(2, 0, 4, 7), F32(6, 0, 3, 3), F32(6)),
    CONV("no_channels_large_kernel", NO_ATTRIBUTES, F32(1, 0, 50000, 60000), F32(6, 0, 50000, 60000), F32(6)),
    CONV("no_channels_pointwise", NO_ATTRIBUTES, F32(2, 0, 4, 7), F32(6, 0, 1, 1), F32(6)),
    TRANSPOSE("no_channels", NO_ATTRIBUTES, F32(2, 0, 4, 7), F32(0, 6, 3, 3), F32(6)),
    CONV("large_kernel", ATTRIBUTES(A_INTS("pads", 3, 3, 3, 3), A_INTS("strides", 2, 2)), F32(1, 3, 17, 17),
         F32(8, 3, 7, 7), F32(8)),
    CONV("patches", ATTRIBUTES(A_INTS("strides", 4, 4)), F32(1, 3, 16, 16), F32(33, 3, 4, 4), F32(33)),
    CONV("tile_edges", ATTRIBUTES(A_INTS("pads", 1, 1, 1, 1)), F32(1, 17, 9, 9), F32(65, 17, 3, 3), F32(65)),
    {.name = "Conv",
     .label = "inner_split",
     .since_version = 11,
     .threads = THREADS_8 | THREADS_16,
     .attributes = {A_INTS("pads", 1, 1, 1, 1)},
     .inputs = {F32(2, 160, 3, 4), F32(33, 160, 3, 3), F32(33)}},
    {.name = "Conv",
     .label = "inner_split_groups",
     .since_version = 11,
     .attributes = {A_INT("group", 2)},
     .inputs = {F32(1, 256, 6, 6), F32(40, 128, 3, 3), F32(40)}},
    CONV("inner_split_many", ATTRIBUTES(A_INTS("pads", 1, 1, 1, 1)), F32(1, 64, 32, 32), F32(128, 64, 3, 3), F32(128)),
    TRANSPOSE("inner_split", ATTRIBUTES(A_INTS("strides", 2, 2)), F32(1, 160, 4, 5), F32(160, 9, 3, 3), F32(9)),
    TRANSPOSE("inner_split_many", ATTRIBUTES(A_INTS("strides", 2, 2)), F32(1, 576, 32, 32), F32(576, 32, 2, 2),
              F32(32)),
    {.name = "Conv",
     .label = "groups",
     .since_version = 11,
     .variants = VIEW_TRANSPOSED,
     .threads = THREADS_8,
     .attributes = {A_INT("group", 3), A_INTS("pads", 1, 1, 1, 1)},
     .inputs = {F32(2, 6, 7, 7), F32(9, 2, 3, 3), F32(9)}},
    {.name = "Conv",
     .label = "depthwise",
     .since_version = 11,
     .variants = VIEW_TRANSPOSED | VIEW_DYNAMIC,
     .threads = THREADS_8,
     .attributes = {A_INT("group", 7), A_INTS("pads", 1, 1, 1, 1), A_INTS("strides", 2, 2)},
     .inputs = {F32(2, 7, 9, 9), F32(7, 1, 3, 3), F32(7)}},
    CONV("depthwise_multiplier", ATTRIBUTES(A_INT("group", 4), A_INTS("pads", 2, 2, 2, 2)), F32(1, 4, 7, 7),
         F32(8, 1, 5, 5), F32(8)),
    CONV("depthwise_dilated",
         ATTRIBUTES(A_INT("group", 3), A_INTS("pads", 2, 2, 2, 2), A_INTS("dilations", 2, 2), A_INTS("strides", 1, 2)),
         F32(1, 3, 6, 9), F32(3, 1, 3, 3), F32(3)),
    CONV("depthwise_dilated_down",
         ATTRIBUTES(A_INT("group", 3), A_INTS("pads", 4, 1, 3, 2), A_INTS("dilations", 2, 1), A_INTS("strides", 3, 2)),
         F32(1, 3, 12, 10), F32(3, 1, 5, 3), F32(3)),
    CONV("depthwise_of_49_taps", ATTRIBUTES(A_INT("group", 3), A_INTS("pads", 3, 3, 3, 3)), F32(1, 3, 8, 9),
         F32(3, 1, 7, 7), F32(3)),
    CONV("depthwise_of_many_taps", ATTRIBUTES(A_INT("group", 3), A_INTS("pads", 1, 25, 1, 25)), F32(1, 3, 2, 61),
         F32(3, 1, 2, 51), F32(3)),
    CONV("depthwise_3d", ATTRIBUTES(A_INT("group", 3), A_INTS("pads", 1, 2, 1, 1, 2, 1)), F32(2, 3, 3, 5, 6),
         F32(3, 1, 3, 5, 3), F32(3)),
    CONV("depthwise_of_no_rows", ATTRIBUTES(A_INT("group", 3), A_INTS("pads", 2, 1, 2, 1)), F32(1, 3, 0, 6),
         F32(3, 1, 3, 3), F32(3)),
    CONV("depthwise_special", ATTRIBUTES(A_INT("group", 3), A_INTS("pads", 2, 2, 2, 2)), F32_SPECIAL(3, 1, 3, 4, 4),
         F32(3, 1, 5, 5)),
    {.name = "Conv",
     .label = "1d",
     .since_version = 11,
     .variants = VIEW_TRANSPOSED,
     .threads = THREADS_8,
     .attributes = {A_INTS("pads", 1, 1)},
     .inputs = {F32(2, 5, 33), F32(7, 5, 3), F32(7)}},
    CONV("1d_stride_dilation_groups",
         ATTRIBUTES(A_INTS("strides", 3), A_INTS("dilations", 2), A_INT("group", 2), A_INTS("pads", 3, 1)),
         F32(1, 6, 41), F32(4, 3, 5), F32(4)),
    CONV("1d_depthwise", ATTRIBUTES(A_INT("group", 5), A_INTS("pads", 2, 0)), F32(1, 5, 17), F32(5, 1, 3), F32(5)),
    CONV("same_upper", ATTRIBUTES(A_STRING("auto_pad", "SAME_UPPER"), A_INTS("strides", 2, 2)), F32(1, 3, 8, 7),
         F32(4, 3, 3, 3), F32(4)),
    CONV("same_lower", ATTRIBUTES(A_STRING("auto_pad", "SAME_LOWER"), A_INTS("strides", 2, 2)), F32(1, 3, 8, 7),
         F32(4, 3, 3, 3), F32(4)),
    CONV("valid", ATTRIBUTES(A_STRING("auto_pad", "VALID")), F32(1, 3, 8, 7), F32(4, 3, 3, 3), F32(4)),
    CONV("no_images", ATTRIBUTES(A_INTS("pads", 1, 1, 1, 1)), F32(0, 3, 8, 7), F32(4, 3, 3, 3), F32(4)),
    CONV("special", ATTRIBUTES(A_INTS("pads", 1, 1, 1, 1)), F32_SPECIAL(3, 1, 3, 4, 4), F32(4, 3, 3, 3)),
    {.name = "Conv", .label = "3d", .since_version = 11, .inputs = {F32(1, 3, 5, 5, 5), F32(4, 3, 3, 3, 3), F32(4)}},
    CONV("3d_depth_of_padding", ATTRIBUTES(A_INTS("strides", 2, 1, 1), A_INTS("pads", 1, 0, 0, 0, 0, 0)),
         F32(1, 3, 1, 5, 5), F32(4, 3, 1, 2, 2), F32(4)),

    {.name = "ConvTranspose",
     .label = "float32",
     .since_version = 11,
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .attributes = {A_INTS("strides", 2, 2), A_INTS("pads", 1, 1, 1, 1)},
     .inputs = {F32(2, 5, 6, 7), F32(5, 6, 3, 3), F32(6)}},
    {.name = "ConvTranspose", .label = "version22", .since_version = 22, .inputs = {F32(1, 3, 6, 6), F32(3, 4, 3, 3)}},
    TRANSPOSE("absent_bias", ATTRIBUTES(A_INTS("strides", 3, 2)), F32(1, 3, 5, 5), F32(3, 4, 3, 3), ABSENT),
    TRANSPOSE("pointwise", ATTRIBUTES(A_INTS("kernel_shape", 1, 1)), F32(2, 33, 5, 7), F32(33, 17, 1, 1), F32(17)),
    TRANSPOSE("larger_twice", ATTRIBUTES(A_INTS("strides", 2, 2)), F32(1, 9, 7, 5), F32(9, 6, 2, 2), F32(6)),
    TRANSPOSE("gaps", ATTRIBUTES(A_INTS("strides", 3, 4)), F32(1, 3, 4, 5), F32(3, 4, 2, 2), F32(4)),
    TRANSPOSE("dilation", ATTRIBUTES(A_INTS("dilations", 2, 3), A_INTS("strides", 2, 1)), F32(1, 3, 5, 7),
              F32(3, 5, 3, 3), F32(5)),
    TRANSPOSE("uneven_pads", ATTRIBUTES(A_INTS("pads", 0, 1, 2, 3)), F32(1, 3, 6, 6), F32(3, 4, 4, 4), F32(4)),
    TRANSPOSE("output_padding",
              ATTRIBUTES(A_INTS("strides", 3, 2), A_INTS("output_padding", 2, 1), A_INTS("pads", 1, 1, 1, 1)),
              F32(1, 3, 4, 5), F32(3, 4, 3, 3), F32(4)),
    TRANSPOSE("output_shape", ATTRIBUTES(A_INTS("strides", 3, 2), A_INTS("output_shape", 10, 8)), F32(1, 3, 3, 3),
              F32(3, 2, 4, 4), F32(2)),
    /* Zeros follow what the kernel reaches, fewer than a stride. */
    TRANSPOSE("output_shape_beyond_reach", ATTRIBUTES(A_INTS("strides", 3, 2), A_INTS("output_shape", 12, 9)),
              F32(1, 3, 3, 3), F32(3, 2, 4, 4), F32(2)),
    TRANSPOSE("output_shape_uneven_upper",
              ATTRIBUTES(A_INTS("strides", 2, 2), A_INTS("output_shape", 8, 6), A_STRING("auto_pad", "SAME_UPPER")),
              F32(1, 3, 4, 3), F32(3, 2, 3, 3), F32(2)),
    TRANSPOSE("same_upper", ATTRIBUTES(A_STRING("auto_pad", "SAME_UPPER"), A_INTS("strides", 2, 2)), F32(1, 3, 5, 4),
              F32(3, 4, 3, 3), F32(4)),
    TRANSPOSE("same_lower", ATTRIBUTES(A_STRING("auto_pad", "SAME_LOWER"), A_INTS("strides", 2, 2)), F32(1, 3, 5, 4),
              F32(3, 4, 3, 3), F32(4)),
    TRANSPOSE("valid", ATTRIBUTES(A_STRING("auto_pad", "VALID"), A_INTS("strides", 2, 2)), F32(1, 3, 5, 4),
              F32(3, 4, 3, 3), F32(4)),
    {.name = "ConvTranspose",
     .label = "groups",
     .since_version = 11,
     .variants = VIEW_TRANSPOSED,
     .attributes = {A_INT("group", 3), A_INTS("strides", 2, 2), A_INTS("pads", 1, 1, 1, 1)},
     .inputs = {F32(2, 6, 5, 5), F32(6, 3, 3, 3), F32(9)}},
    TRANSPOSE("depthwise", ATTRIBUTES(A_INT("group", 7), A_INTS("strides", 2, 2), A_INTS("pads", 1, 1, 1, 1)),
              F32(2, 7, 5, 5), F32(7, 1, 4, 4), F32(7)),
    TRANSPOSE("tile_edges", ATTRIBUTES(A_INTS("pads", 1, 1, 1, 1)), F32(1, 17, 9, 9), F32(17, 65, 3, 3), F32(65)),
    {.name = "ConvTranspose",
     .label = "1d",
     .since_version = 11,
     .variants = VIEW_TRANSPOSED,
     .attributes = {A_INTS("strides", 2), A_INTS("pads", 1, 0)},
     .inputs = {F32(2, 5, 17), F32(5, 7, 4), F32(7)}},
    TRANSPOSE("no_images", ATTRIBUTES(A_INTS("strides", 2, 2)), F32(0, 3, 5, 4), F32(3, 4, 3, 3), F32(4)),
    TRANSPOSE("special", ATTRIBUTES(A_INTS("strides", 2, 2)), F32_SPECIAL(3, 1, 3, 4, 4), F32(3, 4, 2, 2)),
    {.name = "ConvTranspose",
     .label = "3d",
     .since_version = 11,
     .attributes = {A_INTS("strides", 2, 1, 2)},
     .inputs = {F32(1, 3, 3, 4, 3), F32(3, 4, 3, 3, 2), F32(4)}},
    TRANSPOSE(
        "3d_depth_of_padding",
        ATTRIBUTES(A_INTS("strides", 2, 1, 1), A_INTS("output_padding", 1, 0, 0), A_INTS("pads", 1, 0, 0, 0, 0, 0)),
        F32(1, 3, 1, 4, 3), F32(3, 4, 1, 3, 2), F32(4)),
    SPREADS("float32", LEATI_REF_FLOAT32),
    SPREAD("beside_tiles_of_128_float32", ATTRIBUTES(A_INTS("strides", 3, 2)), F32(1, 1, 3, 4267), F32(1, 11, 3, 2),
           F32(11)),
    SPREADS("float16", LEATI_REF_FLOAT16),
    SPREADS("bfloat16", LEATI_REF_BFLOAT16),

    {.name = "MaxPool",
     .label = "float32",
     .since_version = 12,
     .variants = VIEW_SLICED | VIEW_DYNAMIC,
     .threads = THREADS_8,
     .attributes = {A_INTS("kernel_shape", 3, 3), A_INTS("strides", 2, 2), A_INTS("pads", 1, 1, 1, 1)},
     .inputs = {F32(2, 5, 9, 11)}},
    MAX_POOL("plain", ATTRIBUTES(A_INTS("kernel_shape", 2, 2)), F32(1, 3, 7, 7)),
    MAX_POOL("ceil", ATTRIBUTES(A_INTS("kernel_shape", 3, 3), A_INTS("strides", 2, 2), A_INT("ceil_mode", 1)),
             F32(1, 3, 8, 10)),
    MAX_POOL("ceil_padding",
             ATTRIBUTES(A_INTS("kernel_shape", 2, 2), A_INTS("strides", 3, 3), A_INTS("pads", 1, 1, 1, 1),
                        A_INT("ceil_mode", 1)),
             F32(1, 3, 7, 8)),
    MAX_POOL("dilation", ATTRIBUTES(A_INTS("kernel_shape", 2, 3), A_INTS("dilations", 3, 2)), F32(1, 3, 9, 10)),
    MAX_POOL("1d", ATTRIBUTES(A_INTS("kernel_shape", 3), A_INTS("strides", 2), A_INTS("pads", 1, 0)), F32(2, 3, 17)),
    MAX_POOL("same_upper",
             ATTRIBUTES(A_INTS("kernel_shape", 3, 3), A_INTS("strides", 2, 2), A_STRING("auto_pad", "SAME_UPPER")),
             F32(1, 3, 8, 9)),
    MAX_POOL("same_lower", ATTRIBUTES(A_INTS("kernel_shape", 2, 2), A_STRING("auto_pad", "SAME_LOWER")),
             F32(1, 3, 8, 9)),
    MAX_POOL("negative", ATTRIBUTES(A_INTS("kernel_shape", 3, 3), A_INTS("pads", 1, 1, 1, 1)),
             F32_RANGE(-9, -1, 1, 2, 5, 5)),
    MAX_POOL("infinite", ATTRIBUTES(A_INTS("kernel_shape", 1, 2), A_INTS("strides", 1, 2)),
             F32_IS(DIMS(1, 1, 1, 8), -INFINITY, -INFINITY, 1, INFINITY, -1e38f, -INFINITY, 0, -1)),
    MAX_POOL("nan", ATTRIBUTES(A_INTS("kernel_shape", 2, 3), A_INTS("strides", 1, 3)),
             F32_IS(DIMS(1, 1, 3, 12), NAN, 1, 2, 3, NAN, 4, 5, 6, NAN, 7, 8, 9, 1, NAN, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2,
                    3, 4, 5, NAN, NAN, NAN, 1, 2, 3, NAN, INFINITY, -INFINITY)),
    MAX_POOL("larger_than_image",
             ATTRIBUTES(A_INTS("kernel_shape", 7, 6), A_INTS("strides", 2, 3), A_INTS("pads", 1, 2, 1, 2)),
             F32(1, 3, 4, 3)),
    MAX_POOL("no_images", ATTRIBUTES(A_INTS("kernel_shape", 2, 2)), F32(0, 3, 4, 4)),
    {.name = "MaxPool",
     .label = "indices",
     .since_version = 12,
     .outputs = 2,
     .attributes = {A_INTS("kernel_shape", 3, 3), A_INTS("strides", 2, 2), A_INTS("pads", 1, 1, 1, 1)},
     .inputs = {F32(2, 3, 7, 9)}},
    {.name = "MaxPool",
     .label = "uint8",
     .since_version = 12,
     .variants = ALL_VIEWS,
     .attributes = {A_INTS("kernel_shape", 2, 2)},
     .inputs = {U8_RANGE(0, 255, 1, 3, 7, 7)}},
    MAX_POOL("int8", ATTRIBUTES(A_INTS("kernel_shape", 3, 3), A_INTS("strides", 2, 2), A_INTS("pads", 1, 1, 1, 1)),
             RANGE_OF(LEATI_REF_INT8, -128, 127, 2, 8, 9, 11)),
    MAX_POOL("negative_int8", ATTRIBUTES(A_INTS("kernel_shape", 3), A_INTS("pads", 2, 2)),
             RANGE_OF(LEATI_REF_INT8, -128, -128, 2, 3, 7)),

    {.name = "AveragePool",
     .label = "float32",
     .since_version = 19,
     .variants = VIEW_SLICED,
     .threads = THREADS_8,
     .attributes = {A_INTS("kernel_shape", 3, 3), A_INTS("strides", 2, 2), A_INTS("pads", 1, 1, 1, 1)},
     .inputs = {F32(2, 5, 9, 11)}},
    {.name = "AveragePool",
     .label = "version11",
     .since_version = 11,
     .attributes = {A_INTS("kernel_shape", 2, 2), A_INTS("strides", 2, 2)},
     .inputs = {F32(1, 3, 8, 8)}},
    AVERAGE_POOL("count_padding",
                 ATTRIBUTES(A_INTS("kernel_shape", 3, 3), A_INTS("pads", 1, 1, 1, 1), A_INT("count_include_pad", 1)),
                 F32(1, 3, 7, 8)),
    AVERAGE_POOL("ceil", ATTRIBUTES(A_INTS("kernel_shape", 3, 3), A_INTS("strides", 2, 2), A_INT("ceil_mode", 1)),
                 F32(1, 3, 8, 10)),
    AVERAGE_POOL("ceil_count_padding",
                 ATTRIBUTES(A_INTS("kernel_shape", 3, 3), A_INTS("strides", 2, 2), A_INTS("pads", 1, 1, 1, 1),
                            A_INT("ceil_mode", 1), A_INT("count_include_pad", 1)),
                 F32(1, 3, 8, 10)),
    AVERAGE_POOL("dilation", ATTRIBUTES(A_INTS("kernel_shape", 2, 2), A_INTS("dilations", 2, 3)), F32(1, 3, 9, 10)),
    AVERAGE_POOL("larger_than_image",
                 ATTRIBUTES(A_INTS("kernel_shape", 7, 6), A_INTS("strides", 2, 3), A_INTS("pads", 1, 2, 1, 2)),
                 F32(1, 3, 4, 3)),
    AVERAGE_POOL("larger_than_image_count_padding",
                 ATTRIBUTES(A_INTS("kernel_shape", 7, 9), A_INTS("strides", 2, 3), A_INTS("pads", 1, 2, 1, 2),
                            A_INT("count_include_pad", 1)),
                 F32(1, 3, 4, 3)),
    AVERAGE_POOL("larger_than_image_ceil_count_padding",
                 ATTRIBUTES(A_INTS("kernel_shape", 7, 9), A_INTS("strides", 2, 3), A_INTS("pads", 1, 2, 1, 2),
                            A_INT("ceil_mode", 1), A_INT("count_include_pad", 1)),
                 F32(1, 3, 4, 3)),
    AVERAGE_POOL("1d", ATTRIBUTES(A_INTS("kernel_shape", 3), A_INTS("strides", 2), A_INTS("pads", 1, 0)),
                 F32(2, 3, 17)),
    AVERAGE_POOL("same_upper",
                 ATTRIBUTES(A_INTS("kernel_shape", 3, 3), A_INTS("strides", 2, 2), A_STRING("auto_pad", "SAME_UPPER")),
                 F32(1, 3, 8, 9)),

    {.name = "LpPool",
     .label = "float32",
     .since_version = 22,
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .attributes = {A_INTS("kernel_shape", 3, 3), A_INTS("strides", 2, 2), A_INTS("pads", 1, 1, 1, 1)},
     .inputs = {F32(2, 5, 9, 11)}},
    LP_POOL("float16", ATTRIBUTES(A_INTS("kernel_shape", 3, 3)), RANGE_OF(LEATI_REF_FLOAT16, -2, 2, 2, 5, 9, 11)),
    LP_POOL("bfloat16", ATTRIBUTES(A_INTS("kernel_shape", 3, 3), A_INT("p", 1)),
            RANGE_OF(LEATI_REF_BFLOAT16, -2, 2, 2, 5, 9, 11)),
    LP_POOL("p1", ATTRIBUTES(A_INTS("kernel_shape", 2, 3), A_INT("p", 1)), F32(1, 3, 7, 8)),
    LP_POOL("p3", ATTRIBUTES(A_INTS("kernel_shape", 2, 3), A_INT("p", 3)), F32(1, 3, 7, 8)),
    LP_POOL("p11", ATTRIBUTES(A_INTS("kernel_shape", 2, 3), A_INT("p", 11)), F32_RANGE(-4, 4, 1, 3, 7, 8)),
    LP_POOL("no_number", ATTRIBUTES(A_INTS("kernel_shape", 2), A_INT("p", 3)),
            F32_IS(DIMS(1, 1, 8), 1, NAN, 2, 3, -INFINITY, 4, INFINITY, NAN)),
    LP_POOL("ceil", ATTRIBUTES(A_INTS("kernel_shape", 3, 3), A_INTS("strides", 2, 2), A_INT("ceil_mode", 1)),
            F32(1, 3, 8, 10)),
    LP_POOL("dilation", ATTRIBUTES(A_INTS("kernel_shape", 2, 2), A_INTS("dilations", 2, 3)), F32(1, 3, 9, 10)),
    LP_POOL("larger_than_image",
            ATTRIBUTES(A_INTS("kernel_shape", 7, 6), A_INTS("strides", 2, 3), A_INTS("pads", 1, 2, 1, 2)),
            F32(1, 3, 4, 3)),
    LP_POOL("3d", ATTRIBUTES(A_INTS("kernel_shape", 2, 2, 2)), F32(1, 2, 3, 4, 5)),
    LP_POOL("no_images", ATTRIBUTES(A_INTS("kernel_shape", 2, 2)), F32(0, 3, 4, 4)),
    CASE("LpPool", "same_lower", 11,
         ATTRIBUTES(A_INTS("kernel_shape", 3, 3), A_INTS("strides", 2, 2), A_STRING("auto_pad", "SAME_LOWER")),
         F32(1, 3, 8, 9)),
    CASE("LpPool", "version_2", 2, ATTRIBUTES(A_INTS("kernel_shape", 3), A_INTS("pads", 1, 1)), F32(2, 3, 17)),

    {.name = "Col2Im",
     .label = "float32",
     .since_version = 18,
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .inputs = {F32(2, 15, 18), LIST(5, 6), LIST(3, 1)}},
    CASE("Col2Im", "float16", 18, ATTRIBUTES(A_INTS("pads", 1, 0, 0, 1)), RANGE_OF(LEATI_REF_FLOAT16, -2, 2, 2, 8, 30),
         LIST(5, 6), LIST(2, 2)),
    CASE("Col2Im", "bfloat16", 18, NO_ATTRIBUTES, RANGE_OF(LEATI_REF_BFLOAT16, -2, 2, 2, 8, 20), LIST(5, 6),
         LIST(2, 2)),
    CASE("Col2Im", "strides", 18, ATTRIBUTES(A_INTS("strides", 2, 3)), F32(1, 18, 4), LIST(5, 7), LIST(3, 3)),
    CASE("Col2Im", "dilations", 18, ATTRIBUTES(A_INTS("dilations", 1, 5), A_INTS("pads", 0, 2, 0, 1)), F32(1, 8, 20),
         LIST(6, 6), LIST(2, 2)),
    CASE("Col2Im", "gaps", 18, ATTRIBUTES(A_INTS("strides", 3)), F32(2, 2, 3), LIST(9), LIST(1)),
    CASE("Col2Im", "1d", 18, NO_ATTRIBUTES, F32(2, 6, 5), LIST(7), LIST(3)),
    CASE("Col2Im", "3d", 18, ATTRIBUTES(A_INTS("pads", 1, 0, 1, 0, 1, 0), A_INTS("strides", 1, 2, 1)), F32(1, 16, 54),
         LIST(3, 5, 6), LIST(2, 2, 2)),
    CASE("Col2Im", "special", 18, NO_ATTRIBUTES, F32_SPECIAL(1, 1, 2, 16), LIST(17), LIST(2)),
    CASE("Col2Im", "no_images", 18, NO_ATTRIBUTES, F32(0, 6, 5), LIST(7), LIST(3)),
    CASE("Col2Im", "no_channels", 18, NO_ATTRIBUTES, F32(2, 0, 5), LIST(7), LIST(3)),

    {.name = "GlobalAveragePool",
     .label = "float32",
     .since_version = 1,
     .variants = VIEW_BROADCAST,
     .threads = THREADS_8,
     .inputs = {F32(2, 5, 7, 9)}},
    {.name = "GlobalAveragePool", .label = "1d", .since_version = 22, .inputs = {F32(2, 5, 33)}},
    {.name = "GlobalAveragePool", .label = "3d", .since_version = 22, .inputs = {F32(2, 3, 4, 5, 3)}},
    {.name = "GlobalAveragePool", .label = "one_element", .since_version = 1, .inputs = {F32(2, 5, 1, 1)}},
    {.name = "GlobalAveragePool", .label = "no_images", .since_version = 1, .inputs = {F32(0, 5, 3, 3)}},

    {.name = "GlobalMaxPool",
     .label = "float32",
     .since_version = 22,
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .inputs = {F32(2, 5, 7, 9)}},
    {.name = "GlobalMaxPool", .label = "version1", .since_version = 1, .inputs = {F32(2, 3, 5, 5)}},
    {.name = "GlobalMaxPool", .label = "1d", .since_version = 22, .inputs = {F32(2, 5, 33)}},
    {.name = "GlobalMaxPool", .label = "3d", .since_version = 22, .inputs = {F32(2, 3, 4, 5, 3)}},
    {.name = "GlobalMaxPool", .label = "long", .since_version = 22, .inputs = {F32(1, 2, 53, 41)}},
    {.name = "GlobalMaxPool", .label = "one_element", .since_version = 22, .inputs = {F32(2, 5, 1, 1)}},
    {.name = "GlobalMaxPool", .label = "negative", .since_version = 22, .inputs = {F32_RANGE(-9, -1, 1, 2, 5, 5)}},
    {.name = "GlobalMaxPool", .label = "denormal", .since_version = 22, .inputs = {F32_DENORMAL(1, 2, 5, 5)}},
    {.name = "GlobalMaxPool",
     .label = "special",
     .since_version = 22,
     .inputs = {F32_IS(DIMS(1, 4, 4), -INFINITY, -INFINITY, -INFINITY, -INFINITY, 1, NAN, INFINITY, 2, -INFINITY,
                       -1e38f, -INFINITY, -2e38f, 1, INFINITY, 3, -INFINITY)}},
    {.name = "GlobalMaxPool", .label = "no_images", .since_version = 22, .inputs = {F32(0, 5, 3, 3)}},

    /* Earlier versions lack attributes. */
    CASE("Conv", "version_1", 1, ATTRIBUTES(A_INTS("pads", 1, 1, 1, 1)), F32(1, 3, 6, 6), F32(4, 3, 3, 3), F32(4)),
    CASE("ConvTranspose", "version_1", 1, ATTRIBUTES(A_INTS("strides", 2, 2)), F32(1, 3, 5, 5), F32(3, 4, 3, 3),
         F32(4)),
    NHWC_MAX_POOL("uint8", ALL_VIEWS,
                  ATTRIBUTES(A_INTS("kernel_shape", 3, 3), A_INTS("strides", 2, 1), A_INTS("pads", 1, 1, 1, 1)),
                  U8_RANGE(0, 255, 2, 9, 11, 8)),
    NHWC_MAX_POOL("int8", VIEWS, ATTRIBUTES(A_INTS("kernel_shape", 2, 2), A_INTS("strides", 2, 2)),
                  RANGE_OF(LEATI_REF_INT8, -128, 127, 2, 9, 11, 5)),
    NHWC_MAX_POOL("line", 0, ATTRIBUTES(A_INTS("kernel_shape", 3), A_INT("ceil_mode", 1), A_INTS("strides", 2)),
                  U8_RANGE(0, 255, 2, 20, 4)),
    NHWC_MAX_POOL("volume", 0, ATTRIBUTES(A_INTS("kernel_shape", 2, 2, 2), A_INTS("dilations", 1, 2, 1)),
                  U8_RANGE(0, 255, 1, 4, 5, 6, 3)),
    NHWC_MAX_POOL("same", 0, ATTRIBUTES(A_INTS("kernel_shape", 3, 2), A_STRING("auto_pad", "SAME_UPPER")),
                  RANGE_OF(LEATI_REF_INT8, -128, 127, 1, 7, 6, 12)),
    NHWC_MAX_POOL("one_pixel", 0, ATTRIBUTES(A_INTS("kernel_shape", 4, 5)), U8_RANGE(0, 255, 2, 4, 5, 6)),
    NHWC_MAX_POOL("one_channel", 0, ATTRIBUTES(A_INTS("kernel_shape", 2, 2)), U8_RANGE(0, 255, 2, 4, 5, 1)),
    NHWC_MAX_POOL("empty", 0, ATTRIBUTES(A_INTS("kernel_shape", 2, 2)), U8_RANGE(0, 255, 0, 4, 5, 3)),
    CASE("MaxPool", "version_1", 1, ATTRIBUTES(A_INTS("kernel_shape", 3, 3), A_INTS("pads", 1, 1, 1, 1)),
         F32(2, 3, 7, 9)),
    CASE("MaxPool", "version_8", 8, ATTRIBUTES(A_INTS("kernel_shape", 2, 2), A_INTS("strides", 2, 2)), F32(2, 3, 7, 9)),
    CASE("AveragePool", "version_7", 7,
         ATTRIBUTES(A_INTS("kernel_shape", 3, 3), A_INTS("pads", 1, 1, 1, 1), A_INT("count_include_pad", 1)),
         F32(2, 3, 7, 9)),
};

static const leati_op_spec sound_pool = LP_POOL("sound", ATTRIBUTES(A_INTS("kernel_shape", 3, 3)), F32(1, 2, 8, 9));
static const leati_refusal wrong_pool[] = {{A_INT("p", 0)},
                                           {A_INT("p", -1)},
                                           {A_INT("p", INT64_MIN)},
                                           {A_INTS("kernel_shape", 3)},
                                           {A_INTS("kernel_shape", 3, 0)},
                                           {A_INTS("kernel_shape", 10, 3)},
                                           {A_INTS("strides", 0, 1)},
                                           {A_INTS("strides", 1, INT64_MAX)},
                                           {A_INTS("dilations", 1, -1)},
                                           {A_INTS("pads", 1, 1)},
                                           {A_INTS("pads", 0, 0, 0, INT64_MIN)},
                                           {A_STRING("auto_pad", "SAME")}};
/* Images may be larger, and the batch and the channels have any size. */
static const leati_refusals refusals_of_pool = {
    .sound = &sound_pool, .wrong = wrong_pool, .wrong_count = G_N_ELEMENTS(wrong_pool), .any_size = {0xf}};

static const leati_op_spec sound_col2im =
    CASE("Col2Im", "sound", 18, NO_ATTRIBUTES, F32(2, 15, 18), LIST(5, 6), LIST(3, 1));
static const leati_refusal wrong_col2im[] = {{A_INTS("strides", 0, 1)},           {A_INTS("strides", 1)},
                                             {A_INTS("strides", INT64_MAX, 1)},   {A_INTS("dilations", 3, 1)},
                                             {A_INTS("dilations", 1, INT64_MIN)}, {A_INTS("pads", 1, 1)},
                                             {A_INTS("pads", 1, 0, 0, 0)},        {A_INTS("pads", -1, 0, 0, 0)},
                                             {A_INTS("pads", INT64_MAX, 0, 0, 0)}};
static const leati_refusals refusals_of_col2im = {
    .sound = &sound_col2im, .wrong = wrong_col2im, .wrong_count = G_N_ELEMENTS(wrong_col2im), .any_size = {1u << 0}};

static const leati_op_spec sound_nhwc =
    NHWC_MAX_POOL("sound", 0, ATTRIBUTES(A_INTS("kernel_shape", 2, 3)), U8_RANGE(0, 255, 2, 5, 6, 3));
static const leati_refusal wrong_nhwc[] = {{A_INTS("kernel_shape", 2)},     {A_INTS("kernel_shape", 2, 0)},
                                           {A_INTS("kernel_shape", 2, 10)}, {A_INTS("strides", 1, INT64_MAX)},
                                           {A_INTS("dilations", 0, 1)},     {A_INTS("pads", 0, 0, 0, INT64_MIN)},
                                           {A_STRING("auto_pad", "SAME")}};
static const leati_refusals refusals_of_nhwc = {
    .sound = &sound_nhwc, .wrong = wrong_nhwc, .wrong_count = G_N_ELEMENTS(wrong_nhwc), .any_size = {0xf}};

/* The zero point of the result is of its type, which is none for floats. */
static const leati_op_spec sound_quantized = QUANTIZED("sound", NO_ATTRIBUTES, U8(1, 8, 5, 6), S8(3, 8, 2, 2), SCALE(1),
                                                       SCALE(1), U8(1), S8(1), ABSENT, SCALE(1), U8(1));
static const leati_op_spec wrong_zero[] = {QUANTIZED("float", NO_ATTRIBUTES, U8(1, 8, 5, 6), S8(3, 8, 2, 2), SCALE(1),
                                                     SCALE(1), U8(1), S8(1), ABSENT, SCALE(1), F32(1))};
static const leati_refusals refusals_of_quantized = {
    .sound = &sound_quantized,
    .others = wrong_zero,
    .other_count = G_N_ELEMENTS(wrong_zero),
    .any_size = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};

static const leat_case hostile[] = {{REFUSALS("QuantizedConv", "refused", &refusals_of_quantized)},
                                    {REFUSALS("LpPool", "refused", &refusals_of_pool)},
                                    {REFUSALS("NhwcMaxPool", "refused", &refusals_of_nhwc)},
                                    {REFUSALS("Col2Im", "refused", &refusals_of_col2im)}};

void leati_rows_conv(leat_case_list *list) {
  leati_op_cases_add(list, specs, G_N_ELEMENTS(specs));
  leati_case_list_add(list, hostile, G_N_ELEMENTS(hostile));
}
