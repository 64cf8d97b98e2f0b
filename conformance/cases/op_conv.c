/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of convolutions and pools. */
#include <math.h>

#include "cases/op_engine.h"
#include "cases/sources.h"

#define ALL_VIEWS (VIEWS | VIEW_REVERSED | VIEW_OFFSET)
/* Attributes are given with their parentheses, to pass through macro arguments. */
#define ATTRIBUTES(...) \
  { __VA_ARGS__ }
#define CONV(named, attributes_given, ...)                                                                 \
  {                                                                                                        \
    .name = "Conv", .label = named, .opset = 11, .attributes = attributes_given, .inputs = { __VA_ARGS__ } \
  }
#define MAX_POOL(named, attributes_given, ...)                                                                \
  {                                                                                                           \
    .name = "MaxPool", .label = named, .opset = 12, .attributes = attributes_given, .inputs = { __VA_ARGS__ } \
  }
#define AVERAGE_POOL(named, attributes_given, ...)                                                                \
  {                                                                                                               \
    .name = "AveragePool", .label = named, .opset = 19, .attributes = attributes_given, .inputs = { __VA_ARGS__ } \
  }

static const leati_op_spec specs[] = {
    {.name = "Conv",
     .label = "float32",
     .opset = 11,
     .variants = ALL_VIEWS,
     .threads = THREADS_ALL,
     .attributes = {A_INTS("kernel_shape", 3, 3), A_INTS("pads", 1, 1, 1, 1)},
     .inputs = {F32(2, 5, 9, 7), F32(6, 5, 3, 3), F32(6)}},
    {.name = "Conv", .label = "version22", .opset = 22, .inputs = {F32(1, 3, 6, 6), F32(4, 3, 3, 3)}},
    CONV("absent_bias", ATTRIBUTES(A_INTS("strides", 2, 2)), F32(1, 3, 9, 9), F32(4, 3, 3, 3), ABSENT),
    CONV("pointwise", ATTRIBUTES(A_INTS("kernel_shape", 1, 1)), F32(2, 33, 5, 7), F32(17, 33, 1, 1), F32(17)),
    CONV("stride", ATTRIBUTES(A_INTS("strides", 2, 3), A_INTS("pads", 1, 1, 1, 1)), F32(1, 3, 11, 13), F32(5, 3, 3, 3)),
    CONV("dilation", ATTRIBUTES(A_INTS("dilations", 2, 3)), F32(1, 3, 11, 13), F32(5, 3, 3, 3), F32(5)),
    CONV("uneven_pads", ATTRIBUTES(A_INTS("pads", 0, 1, 2, 3)), F32(1, 3, 6, 6), F32(4, 3, 3, 3), F32(4)),
    CONV("padding_only_windows", ATTRIBUTES(A_INTS("pads", 4, 4, 4, 4)), F32(1, 2, 3, 3), F32(3, 2, 3, 3), F32(3)),
    CONV("large_kernel", ATTRIBUTES(A_INTS("pads", 3, 3, 3, 3), A_INTS("strides", 2, 2)), F32(1, 3, 17, 17),
         F32(8, 3, 7, 7), F32(8)),
    CONV("patches", ATTRIBUTES(A_INTS("strides", 4, 4)), F32(1, 3, 16, 16), F32(33, 3, 4, 4), F32(33)),
    CONV("tile_edges", ATTRIBUTES(A_INTS("pads", 1, 1, 1, 1)), F32(1, 17, 9, 9), F32(65, 17, 3, 3), F32(65)),
    {.name = "Conv",
     .label = "groups",
     .opset = 11,
     .variants = VIEW_TRANSPOSED,
     .threads = THREADS_8,
     .attributes = {A_INT("group", 3), A_INTS("pads", 1, 1, 1, 1)},
     .inputs = {F32(2, 6, 7, 7), F32(9, 2, 3, 3), F32(9)}},
    {.name = "Conv",
     .label = "depthwise",
     .opset = 11,
     .variants = VIEW_TRANSPOSED | VIEW_DYNAMIC,
     .threads = THREADS_8,
     .attributes = {A_INT("group", 7), A_INTS("pads", 1, 1, 1, 1), A_INTS("strides", 2, 2)},
     .inputs = {F32(2, 7, 9, 9), F32(7, 1, 3, 3), F32(7)}},
    CONV("depthwise_multiplier", ATTRIBUTES(A_INT("group", 4), A_INTS("pads", 2, 2, 2, 2)), F32(1, 4, 7, 7),
         F32(8, 1, 5, 5), F32(8)),
    {.name = "Conv",
     .label = "1d",
     .opset = 11,
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
    {.name = "Conv",
     .label = "3d",
     .opset = 11,
     .optional = true,
     .inputs = {F32(1, 3, 5, 5, 5), F32(4, 3, 3, 3, 3), F32(4)}},

    {.name = "MaxPool",
     .label = "float32",
     .opset = 12,
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
    MAX_POOL("no_images", ATTRIBUTES(A_INTS("kernel_shape", 2, 2)), F32(0, 3, 4, 4)),
    {.name = "MaxPool",
     .label = "indices",
     .opset = 12,
     .outputs = 2,
     .optional = true,
     .attributes = {A_INTS("kernel_shape", 3, 3), A_INTS("strides", 2, 2), A_INTS("pads", 1, 1, 1, 1)},
     .inputs = {F32(2, 3, 7, 9)}},
    {.name = "MaxPool",
     .label = "uint8",
     .opset = 12,
     .optional = true,
     .attributes = {A_INTS("kernel_shape", 2, 2)},
     .inputs = {U8_RANGE(0, 255, 1, 3, 7, 7)}},

    {.name = "AveragePool",
     .label = "float32",
     .opset = 19,
     .variants = VIEW_SLICED,
     .threads = THREADS_8,
     .attributes = {A_INTS("kernel_shape", 3, 3), A_INTS("strides", 2, 2), A_INTS("pads", 1, 1, 1, 1)},
     .inputs = {F32(2, 5, 9, 11)}},
    {.name = "AveragePool",
     .label = "version11",
     .opset = 11,
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
    AVERAGE_POOL("1d", ATTRIBUTES(A_INTS("kernel_shape", 3), A_INTS("strides", 2), A_INTS("pads", 1, 0)),
                 F32(2, 3, 17)),
    AVERAGE_POOL("same_upper",
                 ATTRIBUTES(A_INTS("kernel_shape", 3, 3), A_INTS("strides", 2, 2), A_STRING("auto_pad", "SAME_UPPER")),
                 F32(1, 3, 8, 9)),

    {.name = "GlobalAveragePool",
     .label = "float32",
     .opset = 1,
     .variants = VIEW_BROADCAST,
     .threads = THREADS_8,
     .inputs = {F32(2, 5, 7, 9)}},
    {.name = "GlobalAveragePool", .label = "1d", .opset = 22, .inputs = {F32(2, 5, 33)}},
    {.name = "GlobalAveragePool", .label = "3d", .opset = 22, .inputs = {F32(2, 3, 4, 5, 3)}},
    {.name = "GlobalAveragePool", .label = "one_element", .opset = 1, .inputs = {F32(2, 5, 1, 1)}},
    {.name = "GlobalAveragePool", .label = "no_images", .opset = 1, .inputs = {F32(0, 5, 3, 3)}},
};

void leati_cases_op_conv(leat_case_list *list) {
  leati_op_cases_add(list, specs, G_N_ELEMENTS(specs));
}
