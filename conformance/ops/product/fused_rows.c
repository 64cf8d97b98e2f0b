/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of products and convolutions with a bias, an activation and a residual. */
#include "cases/sources.h"
#include "ops/core/op_engine.h"

#define FUSED(operator_name, of, named) .name = operator_name, .label = named, .since_version = 1, .domain = of
#define PRODUCT(named, attributes_given, ...)                                                              \
  {                                                                                                        \
    FUSED("FusedMatMul", "leat", "leat_" named), .attributes = attributes_given, .inputs = { __VA_ARGS__ } \
  }
#define CONV(named, attributes_given, ...)                                                               \
  {                                                                                                      \
    FUSED("FusedConv", "leat", "leat_" named), .attributes = attributes_given, .inputs = { __VA_ARGS__ } \
  }
#define GEMM(named, attributes_given, ...)                                                                \
  {                                                                                                       \
    FUSED("FusedGemm", "com.microsoft", named), .attributes = attributes_given, .inputs = { __VA_ARGS__ } \
  }
#define ORT_CONV(named, attributes_given, ...)                                                            \
  {                                                                                                       \
    FUSED("FusedConv", "com.microsoft", named), .attributes = attributes_given, .inputs = { __VA_ARGS__ } \
  }
#define SQUEEZE(named, attributes_given, ...)                                                        \
  {                                                                                                  \
    FUSED("SqueezeExcite", "leat", named), .attributes = attributes_given, .inputs = { __VA_ARGS__ } \
  }
#define HALF_SQUEEZE(named, t)                                                                        \
  SQUEEZE(named, ATTRIBUTES(NAMED("Relu"), GATED("HardSigmoid")), RANGE_OF(t, -2, 2, 2, 36, 5, 5),    \
          RANGE_OF(t, -2, 2, 12, 36, 1, 1), RANGE_OF(t, -2, 2, 36, 12, 1, 1), RANGE_OF(t, -2, 2, 12), \
          RANGE_OF(t, -2, 2, 36))
#define HALF_CONV(named, t)                                                                              \
  ORT_CONV(named, ATTRIBUTES(A_INTS("pads", 1, 1, 1, 1), NAMED("Relu")), RANGE_OF(t, -2, 2, 2, 4, 8, 8), \
           RANGE_OF(t, -2, 2, 6, 4, 3, 3), RANGE_OF(t, -2, 2, 6), RANGE_OF(t, -2, 2, 2, 6, 8, 8))
/* What graphs make of a product and of a convolution. */
#define HALVES(named, t)                                                                                           \
  PRODUCT(named, ATTRIBUTES(A_FLOAT("alpha", 0.5f), A_INT("transB", 1), NAMED("Relu")), RANGE_OF(t, -2, 2, 9, 68), \
          RANGE_OF(t, -2, 2, 20, 68), RANGE_OF(t, -2, 2, 20), RANGE_OF(t, -2, 2, 9, 20)),                          \
      CONV(named, ATTRIBUTES(A_INTS("pads", 1, 1, 1, 1), NAMED("Relu"), A_INT("residual_first", 0)),               \
           RANGE_OF(t, -2, 2, 2, 8, 8, 8), RANGE_OF(t, -2, 2, 6, 8, 3, 3), RANGE_OF(t, -2, 2, 6),                  \
           RANGE_OF(t, -2, 2, 2, 6, 8, 8))

/* Rows that are normalised on their way into a product. */
#define EPSILON A_FLOAT("epsilon", 0.125f)
#define F16(...) RANGE_OF(LEATI_REF_FLOAT16, -2, 2, __VA_ARGS__)
#define HALF_NORMS(named, t)                                                                                           \
  PRODUCT("norm_" named, ATTRIBUTES(NAMED("Relu"), EPSILON), RANGE_OF(t, -2, 2, 1, 72), RANGE_OF(t, -2, 2, 72, 1032),  \
          ABSENT, RANGE_OF(t, -2, 2, 1, 1032), RANGE_OF(t, -2, 2, 72)),                                                \
      PRODUCT("norm_rows_" named, ATTRIBUTES(EPSILON), RANGE_OF(t, -2, 2, 8, 69), RANGE_OF(t, -2, 2, 69, 1032),        \
              ABSENT, ABSENT, RANGE_OF(t, -2, 2, 69)),                                                                 \
      PRODUCT("norm_tiles_" named, ATTRIBUTES(EPSILON), RANGE_OF(t, -2, 2, 33, 72), RANGE_OF(t, -2, 2, 72, 40),        \
              ABSENT, ABSENT, RANGE_OF(t, -2, 2, 72)),                                                                 \
      PRODUCT("factor_" named, ATTRIBUTES(NAMED("")), RANGE_OF(t, -2, 2, 1, 72), RANGE_OF(t, -2, 2, 72, 1032), ABSENT, \
              ABSENT, RANGE_OF(t, -2, 2, 1, 72))

/* An activation behind products of small m and of one, and behind convolutions of one tap and of one channel each. */
#define ACTIVATION(named, ...)                                                                         \
  PRODUCT("activation_" named, ATTRIBUTES(__VA_ARGS__), F32(3, 9), F32(9, 23), F32(23)),               \
      PRODUCT("activation_row_" named, ATTRIBUTES(__VA_ARGS__), F32(1, 9), F32(9, 68), F32(68)),       \
      CONV("activation_" named, ATTRIBUTES(__VA_ARGS__), F32(1, 9, 4, 6), F32(3, 9, 1, 1), F32(3)),    \
      CONV("activation_depthwise_" named, ATTRIBUTES(__VA_ARGS__, A_INT("group", 5)), F32(1, 5, 6, 7), \
           F32(5, 1, 3, 3), F32(5))
/* The same behind what a backend may compute by tiles, for functions of each kind: a driver without a GPU compiles a
 * kernel for tiles for half a second, and once for each function. */
#define TILED_ACTIVATION(named, ...)                                                            \
  PRODUCT("activation_tiles_" named, ATTRIBUTES(__VA_ARGS__), F32(17, 9), F32(9, 23), F32(23)), \
      CONV("activation_tiles_" named, ATTRIBUTES(__VA_ARGS__), F32(1, 3, 6, 6), F32(4, 3, 3, 3), F32(4))
#define NAMED(activation) A_STRING("activation", activation)
#define GATED(activation) A_STRING("gate_activation", activation)

/* Convolutions of images with their channels last. */
#define NHWC(operator, named, views, attributes_given, ...)                                                \
  {                                                                                                        \
    FUSED(operator, LEAT_MICROSOFT, named), .variants = views, .attributes = attributes_given, .inputs = { \
      __VA_ARGS__                                                                                          \
    }                                                                                                      \
  }
#define PADDED A_INTS("pads", 1, 1, 1, 1)
#define NHWC_ROWS(named, t, views)                                                                                    \
  NHWC("NhwcConv", named, views, ATTRIBUTES(PADDED), RANGE_OF(t, -1, 1, 2, 6, 5, 8), RANGE_OF(t, -1, 1, 12, 3, 3, 8), \
       RANGE_OF(t, -1, 1, 12)),                                                                                       \
      NHWC("NhwcFusedConv", named, views, ATTRIBUTES(PADDED, NAMED("Relu")), RANGE_OF(t, -1, 1, 2, 6, 5, 8),          \
           RANGE_OF(t, -1, 1, 12, 8, 3, 3), RANGE_OF(t, -1, 1, 12), RANGE_OF(t, -1, 1, 2, 6, 5, 12)),                 \
      NHWC("NhwcFusedConv", "depthwise_" named, views,                                                                \
           ATTRIBUTES(PADDED, A_INT("group", 8), A_INTS("strides", 1, 2), NAMED("Relu")),                             \
           RANGE_OF(t, -1, 1, 2, 6, 5, 8), RANGE_OF(t, -1, 1, 8, 1, 3, 3), RANGE_OF(t, -1, 1, 8),                     \
           RANGE_OF(t, -1, 1, 2, 6, 3, 8))

/* Products that ONNX Runtime has under names of their own. */
#define NAMED_PRODUCTS(named, t)                                                                                \
  {FUSED("TransposeMatMul", LEAT_MICROSOFT, named), .attributes = {A_INT("transA", 1), A_FLOAT("alpha", 0.5f)}, \
   .inputs = {RANGE_OF(t, -1, 1, 2, 9, 5), RANGE_OF(t, -1, 1, 9, 8)}},                                          \
      {FUSED("GemmFastGelu", LEAT_MICROSOFT, named),                                                            \
       .inputs = {RANGE_OF(t, -1, 1, 2, 5, 9), RANGE_OF(t, -1, 1, 9, 8), RANGE_OF(t, -1, 1, 8)}},               \
  {                                                                                                             \
    FUSED("GemmFastGelu", LEAT_MICROSOFT, "no_bias_" named), .inputs = {                                        \
      RANGE_OF(t, -1, 1, 5, 9),                                                                                 \
      RANGE_OF(t, -1, 1, 9, 8)                                                                                  \
    }                                                                                                           \
  }

static const leati_op_spec specs[] = {
    NHWC_ROWS("float32", LEATI_REF_FLOAT32, VIEWS),
    NHWC_ROWS("float16", LEATI_REF_FLOAT16, 0),
    NHWC_ROWS("bfloat16", LEATI_REF_BFLOAT16, 0),
    NHWC("NhwcConv", "pointwise", 0, NO_ATTRIBUTES, F32(2, 6, 5, 8), F32(12, 1, 1, 8)),
    NHWC("NhwcConv", "groups", 0, ATTRIBUTES(A_INT("group", 2), A_INTS("strides", 2, 1)), F32(2, 7, 5, 6),
         F32(4, 3, 2, 3), F32(4)),
    NHWC("NhwcConv", "depthwise", 0, ATTRIBUTES(PADDED, A_INT("group", 6)), F32(1, 7, 5, 6), F32(6, 3, 3, 1)),
    NHWC("NhwcConv", "depthwise_of_more", 0, ATTRIBUTES(PADDED, A_INT("group", 4), A_INTS("dilations", 2, 1)),
         F32(2, 7, 5, 4), F32(8, 3, 3, 1), F32(8)),
    NHWC("NhwcConv", "depthwise_volume", 0, ATTRIBUTES(A_INT("group", 4), A_INTS("pads", 1, 0, 1, 0, 1, 1)),
         F32(2, 4, 5, 6, 4), F32(4, 2, 3, 2, 1), F32(4)),
    NHWC("NhwcConv", "depthwise_one_pixel", 0, ATTRIBUTES(A_INT("group", 12)), F32(2, 4, 5, 12), F32(12, 4, 5, 1)),
    NHWC("NhwcConv", "depthwise_many", 0, ATTRIBUTES(PADDED, A_INT("group", 36)), F32(1, 65, 37, 36), F32(36, 3, 3, 1),
         F32(36)),
    NHWC("NhwcConv", "line", 0, NO_ATTRIBUTES, F32(2, 9, 4), F32(5, 3, 4), F32(5)),
    NHWC("NhwcConv", "volume", 0, ATTRIBUTES(A_INTS("dilations", 1, 1, 2), A_INTS("pads", 1, 0, 1, 0, 1, 1)),
         F32(2, 4, 5, 6, 4), F32(8, 2, 3, 2, 4), F32(8)),
    NHWC("NhwcConv", "many_pixels", 0, ATTRIBUTES(PADDED), F32(1, 65, 67, 4), F32(132, 3, 3, 4), F32(132)),
    NHWC("NhwcConv", "many_channels", 0, ATTRIBUTES(PADDED, A_INTS("strides", 2, 2)), F32(2, 4, 5, 300),
         F32(3, 3, 3, 300)),
    NHWC("NhwcConv", "many_taps", 0, NO_ATTRIBUTES, F32(1, 9, 8, 4), F32(5, 7, 7, 4)),
    NHWC("NhwcConv", "taps_63", 0, ATTRIBUTES(A_INTS("pads", 4, 3, 4, 3), A_INT("group", 2)), F32(2, 9, 8, 6),
         F32(4, 9, 7, 3), F32(4)),
    NHWC("NhwcConv", "taps_64", 0, ATTRIBUTES(PADDED), F32(1, 9, 8, 4), F32(5, 8, 8, 4)),
    NHWC("NhwcFusedConv", "many_taps", 0, ATTRIBUTES(A_INTS("pads", 3, 3, 3, 3), NAMED("Relu")), F32(1, 9, 8, 3),
         F32(8, 3, 7, 7), F32(8), F32(1, 9, 8, 8)),
    NHWC("NhwcFusedConv", "groups", 0, ATTRIBUTES(PADDED, A_INT("group", 2), NAMED("Relu")), F32(2, 3, 5, 8),
         F32(8, 4, 3, 3), F32(8), F32(2, 3, 5, 8)),
    NHWC("NhwcFusedConv", "single_channel", 0, ATTRIBUTES(PADDED), F32(2, 3, 5, 8), F32(1, 8, 3, 3), ABSENT,
         F32(2, 3, 5, 1)),
    NAMED_PRODUCTS("float32", LEATI_REF_FLOAT32),
    NAMED_PRODUCTS("float16", LEATI_REF_FLOAT16),
    NAMED_PRODUCTS("bfloat16", LEATI_REF_BFLOAT16),
    ACTIVATION("relu", NAMED("Relu")),
    ACTIVATION("clip", NAMED("Clip"), A_FLOATS("activation_params", 0, 6)),
    ACTIVATION("leaky_relu", NAMED("LeakyRelu"), A_FLOATS("activation_params", 0.25f)),
    ACTIVATION("leaky_relu_default", NAMED("LeakyRelu")),
    ACTIVATION("thresholded_relu", NAMED("ThresholdedRelu"), A_FLOATS("activation_params", 0.5f)),
    ACTIVATION("hard_sigmoid", NAMED("HardSigmoid"), A_FLOATS("activation_params", 0.3f, 0.4f)),
    ACTIVATION("hard_sigmoid_default", NAMED("HardSigmoid")),
    ACTIVATION("hard_swish", NAMED("HardSwish")),
    ACTIVATION("softsign", NAMED("Softsign")),
    ACTIVATION("shrink", NAMED("Shrink"), A_FLOATS("activation_params", 1, 0.5f)),
    ACTIVATION("sigmoid", NAMED("Sigmoid")),
    ACTIVATION("tanh", NAMED("Tanh")),
    ACTIVATION("swish", NAMED("Swish")),
    ACTIVATION("swish_alpha", NAMED("Swish"), A_FLOATS("activation_params", 0.5f)),
    ACTIVATION("quick_gelu", NAMED("QuickGelu")),
    ACTIVATION("gelu", NAMED("Gelu")),
    ACTIVATION("fast_gelu", NAMED("FastGelu")),
    ACTIVATION("mish", NAMED("Mish")),
    ACTIVATION("softplus", NAMED("Softplus")),
    ACTIVATION("elu", NAMED("Elu"), A_FLOATS("activation_params", 1.5f)),
    ACTIVATION("selu", NAMED("Selu")),
    ACTIVATION("celu", NAMED("Celu"), A_FLOATS("activation_params", 0.5f)),
    TILED_ACTIVATION("relu", NAMED("Relu")),
    TILED_ACTIVATION("clip", NAMED("Clip"), A_FLOATS("activation_params", 0, 6)),
    TILED_ACTIVATION("shrink", NAMED("Shrink"), A_FLOATS("activation_params", 1, 0.5f)),
    TILED_ACTIVATION("gelu", NAMED("Gelu")),

    HALVES("float16", LEATI_REF_FLOAT16),
    HALVES("bfloat16", LEATI_REF_BFLOAT16),

    {.name = "FusedMatMul",
     .label = "leat_float32",
     .since_version = 1,
     .domain = "leat",
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .attributes = {A_FLOAT("alpha", 0.125f), A_INT("transB", 1), NAMED("Relu")},
     .inputs = {F32(2, 3, 9, 11), F32(2, 3, 13, 11), F32(13), F32(2, 3, 9, 13)}},
    /* So few results of so long sums that a backend may share out a sum over workgroups: an activation of a part would
     * be wrong. */
    {.name = "FusedMatMul",
     .label = "leat_inner_split",
     .since_version = 1,
     .domain = "leat",
     .variants = VIEW_OFFSET | VIEW_TRANSPOSED,
     .threads = THREADS_8 | THREADS_16,
     .attributes = {NAMED("Gelu"), A_INT("residual_first", 0)},
     .inputs = {F32(33, 1541), F32(1541, 36), F32(36), F32(33, 36)}},
    {.name = "FusedMatMul",
     .label = "leat_inner_split_one_row",
     .since_version = 1,
     .domain = "leat",
     .threads = THREADS_8,
     .attributes = {NAMED("Swish"), A_INT("residual_first", 0)},
     .inputs = {F32(1, 4099), F32(4099, 37), F32(37), F32(1, 37)}},
    PRODUCT("plain", ATTRIBUTES(NAMED("")), F32(17, 19), F32(19, 23)),
    PRODUCT("bias", ATTRIBUTES(A_INT("transA", 1)), F32(19, 17), F32(19, 23), F32(23)),
    PRODUCT("residual", ATTRIBUTES(A_INT("transB", 1)), F32(17, 19), F32(23, 19), ABSENT, F32(17, 23)),
    PRODUCT("residual_last", ATTRIBUTES(NAMED("Tanh"), A_INT("residual_first", 0)), F32(17, 19), F32(19, 24), F32(24),
            F32(17, 24)),
    PRODUCT("residual_leading", ATTRIBUTES(NAMED("Sigmoid")), F32(3, 17, 9), F32(9, 24), F32(24), F32(17, 24)),
    PRODUCT("residual_of_rows", ATTRIBUTES(A_INT("residual_first", 0)), F32(3, 17, 9), F32(9, 24), F32(24), F32(17, 1)),
    PRODUCT("residual_scalar", ATTRIBUTES(A_INT("residual_first", 0)), F32(3, 17, 9), F32(9, 24), ABSENT, F32_SCALAR),
    /* The result, and a residual, in another shape than the product's. */
    {.name = "FusedMatMul",
     .label = "leat_reshaped",
     .since_version = 1,
     .domain = "leat",
     .variants = ALL_VIEWS,
     .threads = THREADS_8,
     .attributes = {NAMED("Gelu"), A_INT("residual_first", 0), A_INTS("shape", 3, 1, 5, 24)},
     .inputs = {F32(15, 9), F32(9, 24), F32(24), F32(3, 1, 5, 24)}},
    PRODUCT("reshaped_stack", ATTRIBUTES(A_INTS("shape", 6, 17, 12)), F32(2, 3, 17, 9), F32(9, 12), ABSENT,
            F32(6, 17, 12)),
    PRODUCT("reshaped_otherwise", ATTRIBUTES(NAMED("Relu"), A_INTS("shape", 4, 7, 6)), F32(14, 9), F32(9, 12), F32(12)),
    PRODUCT("reshaped_batches", ATTRIBUTES(A_INTS("shape", 30, 12)), F32(2, 3, 5, 9), F32(2, 3, 9, 12), F32(12),
            F32(30, 12)),
    PRODUCT("stacked_rows", ATTRIBUTES(NAMED("Gelu")), F32(3, 17, 9), F32(9, 24), F32(24), F32(3, 17, 24)),
    PRODUCT("stacked_single_rows", ATTRIBUTES(NAMED("Relu")), F32(13, 1, 9), F32(9, 24), F32(24), F32(13, 1, 24)),
    PRODUCT("batch_broadcast", ATTRIBUTES(NAMED("Relu")), F32(5, 1, 9, 11), F32(3, 11, 12), F32(12), F32(5, 1, 9, 12)),
    PRODUCT("rank8", ATTRIBUTES(NAMED("Relu")), F32(1, 2, 1, 2, 1, 2, 3, 5), F32(2, 1, 2, 1, 2, 1, 5, 4), F32(4),
            F32(2, 1, 1, 2, 2, 3, 4)),
    PRODUCT("tile_exact", ATTRIBUTES(NAMED("Gelu")), F32(128, 64), F32(64, 128), F32(128), F32(128, 128)),
    PRODUCT("tile_edges", ATTRIBUTES(NAMED("HardSwish"), A_INT("residual_first", 0)), F32(65, 67), F32(67, 129),
            F32(129), F32(65, 129)),
    PRODUCT("one_column", ATTRIBUTES(NAMED("Relu")), F32(129, 67), F32(67, 1), F32(1), F32(129, 1)),
    PRODUCT("few_columns", ATTRIBUTES(NAMED("Relu"), A_INT("residual_first", 0)), F32(2, 33, 67), F32(2, 67, 5), F32(5),
            F32(33, 5)),
    PRODUCT("wide_row", ATTRIBUTES(NAMED("Relu")), F32(3, 20), F32(20, 1028), F32(1028), F32(3, 1028)),
    PRODUCT("vector_matrix", ATTRIBUTES(NAMED("Relu")), F32(33), F32(33, 7), F32(7), F32(7)),
    PRODUCT("matrix_vector", ATTRIBUTES(NAMED("Relu")), F32(7, 33), F32(33), F32(1), F32(7)),
    PRODUCT("vector_vector", ATTRIBUTES(NAMED("Relu")), F32(33), F32(33), F32(1), F32_SCALAR),
    /* A first operand that is multiplied by a factor, or normalised first: of few rows, which a kernel may do as it
     * reads them, and of others. */
    {.name = "FusedMatMul",
     .label = "leat_norm",
     .since_version = 1,
     .domain = "leat",
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .attributes = {A_FLOAT("alpha", 0.5f), NAMED("Gelu"), A_FLOAT("epsilon", 0.25f)},
     .inputs = {F16(3, 68), F16(68, 36), F16(36), F16(3, 36), F16(68)}},
    {.name = "FusedMatMul",
     .label = "leat_factor",
     .since_version = 1,
     .domain = "leat",
     .variants = ALL_VIEWS,
     .threads = THREADS_8,
     .attributes = {A_INT("transB", 1)},
     .inputs = {F32(2, 3, 64), F32(20, 64), ABSENT, ABSENT, F32(2, 3, 64)}},
    {.name = "FusedMatMul",
     .label = "leat_norm_inner_split_one_row",
     .since_version = 1,
     .domain = "leat",
     .threads = THREADS_8 | THREADS_16,
     .attributes = {NAMED("Swish"), EPSILON},
     .inputs = {F16(1, 4100), F16(4100, 40), F16(40), ABSENT, F16(4100)}},
    PRODUCT("norm_inner_split_odd", ATTRIBUTES(EPSILON), F16(2, 4099), F16(4099, 37), ABSENT, ABSENT, F16(4099)),
    PRODUCT("norm_wide_row", ATTRIBUTES(EPSILON), F16(1, 20), F16(20, 1028), ABSENT, ABSENT, F16(20)),
    PRODUCT("norm_wide_rows", ATTRIBUTES(NAMED("Relu"), EPSILON), F16(2, 3, 68), F16(68, 1028), F16(1028),
            F16(2, 3, 1028), F16(68)),
    PRODUCT("norm_wide_rows_odd", ATTRIBUTES(EPSILON), F32(3, 67), F32(67, 1028), ABSENT, ABSENT, F32(67)),
    PRODUCT("norm_transposed", ATTRIBUTES(A_INT("transB", 1), EPSILON), F16(8, 132), F16(23, 132), ABSENT, ABSENT,
            F16(132)),
    PRODUCT("norm_tiles", ATTRIBUTES(EPSILON), F32(3, 11, 67), F32(67, 36), F32(36), ABSENT, F32(67)),
    PRODUCT("norm_few_columns", ATTRIBUTES(EPSILON), F16(65, 20), F16(20, 3), ABSENT, ABSENT, F16(20)),
    PRODUCT("norm_vector", ATTRIBUTES(EPSILON), F16(33), F16(33, 7), ABSENT, ABSENT, F16(33)),
    PRODUCT("norm_of_zeros", ATTRIBUTES(EPSILON), RANGE_OF(LEATI_REF_FLOAT16, 0, 0, 2, 12), F16(12, 16), F16(16),
            ABSENT, F16(12)),
    PRODUCT("norm_inner_empty", ATTRIBUTES(A_FLOAT("epsilon", 0)), F16(3, 0), F16(0, 5), F16(5), ABSENT, F16(0)),
    PRODUCT("norm_no_rows", ATTRIBUTES(EPSILON), F16(0, 4), F16(4, 5), ABSENT, ABSENT, F16(4)),
    PRODUCT("factor_wide_rows", ATTRIBUTES(NAMED("Relu")), F32(5, 20), F32(20, 1028), ABSENT, ABSENT, F32(5, 20)),
    /* What is added has fewer rows than the product, or is added to each of its stacks. */
    PRODUCT("norm_residual_of_a_stack", ATTRIBUTES(EPSILON), F16(2, 3, 68), F16(68, 36), ABSENT, F16(3, 36), F16(68)),
    PRODUCT("factor_residual_of_a_row", ATTRIBUTES(NAMED("Relu")), F32(2, 3, 64), F32(64, 20), ABSENT, F32(2, 1, 20),
            F32(2, 3, 64)),
    {.name = "FusedMatMul",
     .label = "leat_factor_and_residual",
     .since_version = 1,
     .domain = "leat",
     .variants = ALL_VIEWS,
     .attributes = {A_INT("residual_first", 0)},
     .inputs = {F32(2, 3, 64), F32(64, 20), ABSENT, F32(2, 3, 20), F32(64)}},
    PRODUCT("factor_of_a_row", ATTRIBUTES(NAMED("")), F32(5, 20), F32(20, 36), ABSENT, ABSENT, F32(20)),
    PRODUCT("factor_tiles", ATTRIBUTES(NAMED("")), F32(2, 17, 20), F32(20, 36), ABSENT, ABSENT, F32(2, 17, 20)),
    PRODUCT("factor_reshaped", ATTRIBUTES(A_INTS("shape", 2, 18, 4)), F32(4, 20), F32(20, 36), ABSENT, ABSENT,
            F32(4, 20)),
    HALF_NORMS("float16", LEATI_REF_FLOAT16),
    HALF_NORMS("bfloat16", LEATI_REF_BFLOAT16),
    PRODUCT("inner_empty", ATTRIBUTES(NAMED("Sigmoid")), F32(3, 0), F32(0, 5), F32(5), F32(3, 5)),
    PRODUCT("no_rows", ATTRIBUTES(NAMED("Relu")), F32(0, 4), F32(4, 5), F32(5), F32(0, 5)),
    PRODUCT("special", ATTRIBUTES(NAMED("Relu")), F32_SPECIAL(1, 16, 3), F32(3, 5), F32(5)),
    PRODUCT("special_residual", ATTRIBUTES(NAMED("Relu")), F32(16, 3), F32(3, 5), F32(5), F32_SPECIAL(5, 16, 5)),
    PRODUCT("few_tiles_of_32", ATTRIBUTES(NAMED("Gelu"), A_INT("residual_first", 0)), F32(40, 300), F32(300, 1700),
            F32(1700), F32(40, 1700)),

    {.name = "FusedGemm",
     .label = "float32",
     .since_version = 1,
     .domain = "com.microsoft",
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .attributes = {A_INT("transB", 1), NAMED("Relu")},
     .inputs = {F32(17, 19), F32(23, 19), F32(23)}},
    GEMM("plain", ATTRIBUTES(A_FLOAT("alpha", 0.5f)), F32(17, 19), F32(19, 23)),
    GEMM("trans_both_alpha_beta",
         ATTRIBUTES(A_INT("transA", 1), A_INT("transB", 1), A_FLOAT("alpha", 0.5f), A_FLOAT("beta", -2.0f),
                    NAMED("Tanh")),
         F32(33, 65), F32(17, 33), F32(65, 1)),
    GEMM("leaky_relu", ATTRIBUTES(NAMED("LeakyRelu"), A_FLOAT("activation_alpha", 0.25f)), F32(5, 7), F32(7, 9),
         F32(9)),
    GEMM("hard_sigmoid",
         ATTRIBUTES(NAMED("HardSigmoid"), A_FLOAT("activation_alpha", 0.3f), A_FLOAT("activation_beta", 0.4f)),
         F32(17, 7), F32(7, 19), F32(19)),
    GEMM("selu", ATTRIBUTES(NAMED("Selu"), A_FLOAT("activation_alpha", 1.5f), A_FLOAT("activation_gamma", 1.25f)),
         F32(17, 7), F32(7, 19), F32_SCALAR),
    GEMM("one_row", ATTRIBUTES(NAMED("Sigmoid")), F32(1, 67), F32(67, 129), F32(129)),
    GEMM("inner_split", ATTRIBUTES(A_INT("transB", 1), NAMED("Elu")), F32(65, 1536), F32(68, 1536), F32(68)),
    GEMM("no_rows", ATTRIBUTES(NAMED("Relu")), F32(0, 4), F32(4, 5), F32(5)),

    {.name = "FusedConv",
     .label = "float32",
     .since_version = 1,
     .domain = "com.microsoft",
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .attributes = {A_INTS("kernel_shape", 3, 3), A_INTS("pads", 1, 1, 1, 1), NAMED("Relu")},
     .inputs = {F32(2, 5, 9, 7), F32(6, 5, 3, 3), F32(6), F32(2, 6, 9, 7)}},
    HALF_CONV("float16", LEATI_REF_FLOAT16),
    HALF_CONV("bfloat16", LEATI_REF_BFLOAT16),
    ORT_CONV("plain", ATTRIBUTES(A_INTS("strides", 2, 2)), F32(1, 3, 9, 9), F32(4, 3, 3, 3)),
    ORT_CONV("clip", ATTRIBUTES(NAMED("Clip"), A_FLOATS("activation_params", -1, 1)), F32(1, 3, 9, 9), F32(4, 3, 3, 3),
             F32(4)),
    ORT_CONV("absent_bias", ATTRIBUTES(NAMED("Relu")), F32(1, 3, 10, 10), F32(4, 3, 3, 3), ABSENT, F32(1, 4, 8, 8)),
    ORT_CONV("pointwise", ATTRIBUTES(NAMED("Relu")), F32(2, 33, 5, 7), F32(17, 33, 1, 1), F32(17), F32(2, 17, 5, 7)),
    ORT_CONV("no_images", ATTRIBUTES(NAMED("Relu")), F32(0, 3, 8, 7), F32(4, 3, 1, 1), F32(4), F32(0, 4, 8, 7)),
    ORT_CONV("special", ATTRIBUTES(NAMED("Relu"), A_INTS("pads", 1, 1, 1, 1)), F32_SPECIAL(3, 1, 3, 4, 4),
             F32(4, 3, 3, 3)),

    {.name = "FusedConv",
     .label = "leat_float32",
     .since_version = 1,
     .domain = "leat",
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .attributes = {A_INTS("pads", 1, 1, 1, 1), NAMED("Swish"), A_INT("residual_first", 0)},
     .inputs = {F32(2, 5, 9, 7), F32(6, 5, 3, 3), F32(6), F32(2, 6, 9, 7)}},
    {.name = "FusedConv",
     .label = "leat_inner_split",
     .since_version = 1,
     .domain = "leat",
     .threads = THREADS_8 | THREADS_16,
     .attributes = {A_INTS("pads", 1, 1, 1, 1), NAMED("HardSwish"), A_INT("residual_first", 0)},
     .inputs = {F32(2, 160, 3, 4), F32(33, 160, 3, 3), F32(33), F32(2, 33, 3, 4)}},
    CONV("quads", ATTRIBUTES(A_INTS("pads", 1, 1, 1, 1), NAMED("Relu"), A_INT("residual_first", 0)), F32(2, 4, 8, 8),
         F32(6, 4, 3, 3), F32(6), F32(2, 6, 8, 8)),
    CONV("residual_alone", ATTRIBUTES(A_INTS("pads", 1, 1, 1, 1)), F32(1, 17, 9, 9), F32(65, 17, 3, 3), ABSENT,
         F32(1, 65, 9, 9)),
    CONV("pointwise", ATTRIBUTES(NAMED("Swish"), A_INT("residual_first", 0)), F32(1, 33, 6, 6), F32(17, 33, 1, 1),
         F32(17), F32(1, 17, 6, 6)),
    CONV("pointwise_few_pixels", ATTRIBUTES(NAMED("Relu")), F32(1, 33, 2, 3), F32(17, 33, 1, 1), F32(17),
         F32(1, 17, 2, 3)),
    CONV("pointwise_groups", ATTRIBUTES(A_INT("group", 3), NAMED("Relu")), F32(2, 12, 16, 16), F32(24, 4, 1, 1),
         F32(24), F32(2, 24, 16, 16)),
    CONV("groups", ATTRIBUTES(A_INT("group", 3), A_INTS("pads", 1, 1, 1, 1), NAMED("Relu")), F32(2, 6, 7, 7),
         F32(9, 2, 3, 3), F32(9), F32(2, 9, 7, 7)),
    CONV("depthwise", ATTRIBUTES(A_INT("group", 7), A_INTS("pads", 1, 1, 1, 1), NAMED("HardSwish")), F32(2, 7, 9, 9),
         F32(7, 1, 3, 3), F32(7), F32(2, 7, 9, 9)),
    CONV("depthwise_stride",
         ATTRIBUTES(A_INT("group", 4), A_INTS("strides", 2, 2), NAMED("Relu"), A_INT("residual_first", 0)),
         F32(1, 4, 9, 9), F32(8, 1, 3, 3), F32(8), F32(1, 8, 4, 4)),
    {.name = "FusedConv",
     .label = "leat_gate",
     .since_version = 1,
     .domain = "leat",
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .attributes = {NAMED("Swish"), A_INT("residual_first", 0)},
     .inputs = {F32(2, 5, 6, 6), F32(17, 5, 1, 1), F32(17), F32(2, 17, 6, 6), F32(2, 5, 1, 1)}},
    {.name = "FusedConv",
     .label = "leat_gate_inner_split",
     .since_version = 1,
     .domain = "leat",
     .threads = THREADS_8,
     .inputs = {F32(1, 1100, 3, 5), F32(33, 1100, 1, 1), ABSENT, ABSENT, F32(1, 1100, 1, 1)}},
    CONV("gate_few_channels", ATTRIBUTES(NAMED("Relu")), F32(2, 9, 5, 7), F32(3, 9, 1, 1), F32(3), ABSENT,
         F32(2, 9, 1, 1)),
    CONV("gate_one_pixel", ATTRIBUTES(NAMED("Relu")), F32(2, 12, 1, 1), F32(20, 12, 1, 1), F32(20), ABSENT,
         F32(2, 12, 1, 1)),
    CONV("gate_tiles", ATTRIBUTES(NAMED("Relu")), F32(1, 70, 12, 12), F32(130, 70, 1, 1), F32(130), ABSENT,
         F32(1, 70, 1, 1)),
    CONV("gate_1d", ATTRIBUTES(NAMED("")), F32(2, 5, 33), F32(9, 5, 1), ABSENT, ABSENT, F32(2, 5, 1)),
    CONV("gate_no_images", ATTRIBUTES(NAMED("Relu")), F32(0, 3, 8, 7), F32(4, 3, 1, 1), F32(4), ABSENT,
         F32(0, 3, 1, 1)),
    CONV("1d", ATTRIBUTES(A_INTS("pads", 1, 1), NAMED("Gelu")), F32(2, 5, 33), F32(7, 5, 3), F32(7), F32(2, 7, 33)),
    CONV("3d", ATTRIBUTES(NAMED("Relu")), F32(1, 3, 5, 5, 5), F32(4, 3, 3, 3, 3), F32(4), F32(1, 4, 3, 3, 3)),
    CONV("same_upper", ATTRIBUTES(A_STRING("auto_pad", "SAME_UPPER"), NAMED("Relu")), F32(1, 3, 8, 7), F32(4, 3, 3, 3),
         F32(4), F32(1, 4, 8, 7)),

    {.name = "SqueezeExcite",
     .label = "float32",
     .since_version = 1,
     .domain = "leat",
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .attributes = {NAMED("Relu"), GATED("HardSigmoid")},
     .inputs = {F32(2, 36, 5, 5), F32(12, 36, 1, 1), F32(36, 12, 1, 1), F32(12), F32(36)}},
    /* More channels than a workgroup may have, and a number that no vector divides. */
    {.name = "SqueezeExcite",
     .label = "uneven",
     .since_version = 1,
     .domain = "leat",
     .threads = THREADS_8 | THREADS_16,
     .attributes = {NAMED("Relu"), GATED("HardSigmoid"), A_FLOATS("gate_activation_params", 0.3f, 0.4f)},
     .inputs = {F32(3, 323, 3, 3), F32(291, 323), F32(323, 291), F32(291), F32(323)}},
    HALF_SQUEEZE("float16", LEATI_REF_FLOAT16),
    HALF_SQUEEZE("bfloat16", LEATI_REF_BFLOAT16),
    SQUEEZE("no_biases", ATTRIBUTES(NAMED("Relu"), GATED("HardSigmoid")), F32(2, 36, 5, 5), F32(12, 36), F32(36, 12)),
    SQUEEZE("swish_sigmoid", ATTRIBUTES(NAMED("Swish"), A_FLOATS("activation_params", 0.5f), GATED("Sigmoid")),
            F32(1, 8, 6, 7), F32(3, 8, 1, 1), F32(8, 3, 1, 1), ABSENT, F32(8)),
    SQUEEZE("no_activations", ATTRIBUTES(NAMED("")), F32(1, 7, 11), F32(5, 7, 1), F32(7, 5, 1), F32(5), F32(7)),
    SQUEEZE("large_images", ATTRIBUTES(NAMED("Relu"), GATED("HardSigmoid")), F32(2, 6, 91, 89), F32(4, 6, 1, 1),
            F32(6, 4, 1, 1), F32(4), F32(6)),
    SQUEEZE("many_squeezed", ATTRIBUTES(NAMED("Relu"), GATED("HardSigmoid")), F32(1, 4, 3, 4, 5), F32(1024, 4),
            F32(4, 1024), F32(1024), F32(4)),
    SQUEEZE("many_images", ATTRIBUTES(NAMED("Relu"), GATED("HardSigmoid")), F32(128, 5), F32(3, 5), F32(5, 3), F32(3),
            F32(5)),
    SQUEEZE("no_images", ATTRIBUTES(NAMED("Relu"), GATED("HardSigmoid")), F32(0, 4, 3, 3), F32(2, 4), F32(4, 2), F32(2),
            F32(4)),
    SQUEEZE("special", ATTRIBUTES(NAMED("Relu"), GATED("HardSigmoid")), F32_SPECIAL(4, 1, 36, 4, 4), F32(12, 36),
            F32(36, 12), F32(12), F32(36)),
};

void leati_rows_fused(leat_case_list *list) {
  leati_op_cases_add(list, specs, G_N_ELEMENTS(specs));
}
