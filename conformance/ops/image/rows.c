/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of the operators that sample images at computed places. */
#include <math.h>

#include "cases/sources.h"
#include "ops/core/refusal.h"

/* Samples by a mode, with what is outside an image and what -1 and 1 in the grid are. */
#define SAMPLE(named, version, views, mode, padding, aligned, ...)                                               \
  VIEWED("GridSample", named, version, views, 0,                                                                 \
         ATTRIBUTES(A_STRING("mode", mode), A_STRING("padding_mode", padding), A_INT("align_corners", aligned)), \
         __VA_ARGS__)
/* Each padding, with places inside and far outside. Sizes that are no powers of two have places be rounded. */
#define SAMPLED(mode, padding, views)                                                                   \
  SAMPLE(mode "_" padding, 20, views, mode, padding, 0, F32(2, 5, 5, 7), F32_RANGE(-2, 2, 2, 6, 5, 2)), \
      SAMPLE(mode "_" padding "_aligned", 22, 0, mode, padding, 1, F32(2, 3, 5, 7), F32_RANGE(-4, 4, 2, 6, 5, 2))
#define SAMPLED_3D(mode, padding, aligned, views)                                            \
  SAMPLE("volumes_" mode "_" padding, 20, views, mode, padding, aligned, F32(2, 5, 3, 4, 5), \
         F32_RANGE(-2, 2, 2, 2, 3, 4, 3))
/* Numbers that are found without rounding: middles and edges of four elements, of which a nearest one is the even one;
 * and what there is no place for. */
#define TIED(named, version, mode, padding, aligned)                                                                \
  SAMPLE(                                                                                                           \
      named, version, 0, mode, padding, aligned, F32(1, 2, 4, 4),                                                   \
      F32_IS(DIMS(1, 2, 9, 2), -1, 0, -0.5f, -1, 0, 0.5f, 0.5f, 1, 1, -0.5f, 1.5f, 0, -1.5f, -1.5f, -2, 2.5f, 3, 2, \
             -0.75f, 0.25f, -0.25f, 1, 0.25f, -1.25f, 0.75f, 0.75f, -3, -1, 0, -4, 5.5f, 0.5f, 1.25f, -0.25f, 1, 1))
#define NOWHERE(mode, padding, aligned)                                                                        \
  SAMPLE(                                                                                                      \
      mode "_" padding "_nowhere", 20, 0, mode, padding, aligned, F32(1, 2, 4, 4),                             \
      F32_IS(DIMS(1, 2, 7, 2), NAN, 0, 0, NAN, INFINITY, 0.5f, -0.5f, -INFINITY, 1e30f, -1e30f, 3e38f, -3e38f, \
             -1e-30f, 1e-40f, NAN, NAN, INFINITY, INFINITY, -1, -INFINITY, 1, NAN, 1e20f, 1, 0.25f, -1e19f, -0.0f, 0))

/* That of com.microsoft has the modes of version 16. */
#define SAMPLED_BY_MICROSOFT(named, t, u, mode)                                                      \
  {                                                                                                  \
    .name = "GridSample", .label = "microsoft_" named, .since_version = 1, .domain = LEAT_MICROSOFT, \
    .attributes = {A_STRING("mode", mode), A_STRING("padding_mode", "border")}, .inputs = {          \
      RANGE_OF(t, -2, 2, 2, 3, 5, 7),                                                                \
      RANGE_OF(u, -1, 1, 2, 6, 5, 2)                                                                 \
    }                                                                                                \
  }

static const leati_op_spec specs[] = {
    /* Nearest. Factors are powers of two or whole numbers where a rounded place must not decide. */
    {.name = "Resize",
     .label = "nearest",
     .since_version = 13,
     .variants = ALL_VIEWS,
     .threads = THREADS_8,
     .attributes = {A_STRING("mode", "nearest"), A_STRING("coordinate_transformation_mode", "asymmetric"),
                    A_STRING("nearest_mode", "floor")},
     .inputs = {F32(2, 3, 5, 7), ABSENT, F32_IS(DIMS(4), 1, 1, 2, 2)}},
    CASE("Resize", "nearest_half_pixel", 19, ATTRIBUTES(A_STRING("mode", "nearest")), F32(1, 2, 5, 7), ABSENT,
         F32_IS(DIMS(4), 1, 1, 2, 4)),
    CASE("Resize", "nearest_float16", 19, ATTRIBUTES(A_STRING("mode", "nearest")),
         RANGE_OF(LEATI_REF_FLOAT16, -2, 2, 1, 2, 5, 7), ABSENT, F32_IS(DIMS(4), 1, 1, 2, 4)),
    CASE("Resize", "nearest_bfloat16", 19, ATTRIBUTES(A_STRING("mode", "nearest")),
         RANGE_OF(LEATI_REF_BFLOAT16, -2, 2, 1, 2, 5, 7), ABSENT, F32_IS(DIMS(4), 1, 1, 2, 4)),
    CASE("Resize", "nearest_down", 18, ATTRIBUTES(A_STRING("mode", "nearest")), F32(1, 2, 8, 12), ABSENT,
         F32_IS(DIMS(4), 1, 1, 0.5f, 0.25f)),
    CASE("Resize", "nearest_sizes", 13,
         ATTRIBUTES(A_STRING("mode", "nearest"), A_STRING("coordinate_transformation_mode", "asymmetric"),
                    A_STRING("nearest_mode", "floor")),
         F32(1, 2, 4, 4), ABSENT, ABSENT, LIST(1, 2, 8, 16)),
    CASE("Resize", "nearest_ceil", 19,
         ATTRIBUTES(A_STRING("mode", "nearest"), A_STRING("coordinate_transformation_mode", "asymmetric"),
                    A_STRING("nearest_mode", "ceil")),
         F32(1, 2, 4, 4), ABSENT, F32_IS(DIMS(4), 1, 1, 2, 4)),
    CASE("Resize", "nearest_prefer_ceil", 19,
         ATTRIBUTES(A_STRING("mode", "nearest"), A_STRING("coordinate_transformation_mode", "asymmetric"),
                    A_STRING("nearest_mode", "round_prefer_ceil")),
         F32(1, 2, 4, 4), ABSENT, F32_IS(DIMS(4), 1, 1, 2, 4)),
    CASE("Resize", "nearest_align_corners", 13,
         ATTRIBUTES(A_STRING("mode", "nearest"), A_STRING("coordinate_transformation_mode", "align_corners")),
         F32(1, 2, 5, 5), ABSENT, ABSENT, LIST(1, 2, 9, 17)),
    CASE("Resize", "nearest_axes", 18, ATTRIBUTES(A_STRING("mode", "nearest"), A_INTS("axes", -1, 2)), F32(1, 2, 5, 7),
         ABSENT, F32_IS(DIMS(2), 4, 2)),
    CASE("Resize", "nearest_1d", 19, ATTRIBUTES(A_STRING("mode", "nearest")), F32(2, 3, 7), ABSENT,
         F32_IS(DIMS(3), 1, 1, 2)),
    {.name = "Resize",
     .label = "nearest_uint8",
     .since_version = 19,
     .attributes = {A_STRING("mode", "nearest")},
     .inputs = {U8_RANGE(0, 255, 1, 2, 5, 7), ABSENT, F32_IS(DIMS(4), 1, 1, 2, 2)}},
    {.name = "Resize",
     .label = "linear",
     .since_version = 13,
     .variants = VIEW_BROADCAST | VIEW_DYNAMIC,
     .threads = THREADS_8,
     .attributes = {A_STRING("mode", "linear")},
     .inputs = {F32(2, 3, 5, 7), ABSENT, F32_IS(DIMS(4), 1, 1, 2, 2)}},
    CASE("Resize", "linear_float16", 19, ATTRIBUTES(A_STRING("mode", "linear")),
         RANGE_OF(LEATI_REF_FLOAT16, -2, 2, 1, 2, 5, 7), ABSENT, ABSENT, LIST(1, 2, 11, 4)),
    CASE("Resize", "linear_bfloat16", 19, ATTRIBUTES(A_STRING("mode", "linear")),
         RANGE_OF(LEATI_REF_BFLOAT16, -2, 2, 1, 2, 5, 7), ABSENT, ABSENT, LIST(1, 2, 11, 4)),
    CASE("Resize", "linear_sizes", 19, ATTRIBUTES(A_STRING("mode", "linear")), F32(1, 2, 5, 7), ABSENT, ABSENT,
         LIST(1, 2, 11, 4)),
    CASE("Resize", "linear_empty_roi_scales", 13, ATTRIBUTES(A_STRING("mode", "linear")), F32(1, 2, 5, 7),
         {.fill = LEATI_FILL_UNIFORM, .type = LEATI_REF_FLOAT32, .rank = 1, .dims = {0}},
         {.fill = LEATI_FILL_UNIFORM, .type = LEATI_REF_FLOAT32, .rank = 1, .dims = {0}}, LIST(1, 2, 10, 14)),
    CASE("Resize", "linear_align_corners", 13,
         ATTRIBUTES(A_STRING("mode", "linear"), A_STRING("coordinate_transformation_mode", "align_corners")),
         F32(1, 2, 5, 7), ABSENT, F32_IS(DIMS(4), 1, 1, 2, 3)),
    CASE("Resize", "linear_asymmetric", 18,
         ATTRIBUTES(A_STRING("mode", "linear"), A_STRING("coordinate_transformation_mode", "asymmetric")),
         F32(1, 2, 5, 7), ABSENT, F32_IS(DIMS(4), 1, 1, 2, 3)),
    CASE("Resize", "linear_pytorch", 13,
         ATTRIBUTES(A_STRING("mode", "linear"), A_STRING("coordinate_transformation_mode", "pytorch_half_pixel")),
         F32(1, 2, 5, 7), ABSENT, ABSENT, LIST(1, 2, 1, 14)),
    CASE("Resize", "linear_down", 19, ATTRIBUTES(A_STRING("mode", "linear")), F32(1, 2, 9, 12), ABSENT,
         F32_IS(DIMS(4), 1, 1, 0.6f, 0.5f)),
    CASE("Resize", "linear_1d", 19, ATTRIBUTES(A_STRING("mode", "linear")), F32(2, 3, 7), ABSENT,
         F32_IS(DIMS(3), 1, 1, 3)),
    CASE("Resize", "linear_axes", 18, ATTRIBUTES(A_STRING("mode", "linear"), A_INTS("axes", 2, 3)), F32(1, 2, 5, 7),
         ABSENT, ABSENT, LIST(10, 3)),
    CASE("Resize", "linear_no_images", 13, ATTRIBUTES(A_STRING("mode", "linear")), F32(0, 2, 5, 7), ABSENT,
         F32_IS(DIMS(4), 1, 1, 2, 2)),
    {.name = "Resize",
     .label = "linear_half_pixel_symmetric",
     .since_version = 19,
     .attributes = {A_STRING("mode", "linear"), A_STRING("coordinate_transformation_mode", "half_pixel_symmetric")},
     .inputs = {F32(1, 2, 5, 7), ABSENT, F32_IS(DIMS(4), 1, 1, 1.9f, 2.3f)}},
    {.name = "Resize",
     .label = "linear_not_larger",
     .since_version = 18,
     .attributes = {A_STRING("mode", "linear"), A_STRING("keep_aspect_ratio_policy", "not_larger"),
                    A_INTS("axes", 2, 3)},
     .inputs = {F32(1, 2, 5, 10), ABSENT, ABSENT, LIST(8, 8)}},

    /* Filters: along the last dimensions, wider where antialias makes fewer elements. */
    {.name = "Resize",
     .label = "cubic",
     .since_version = 19,
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .attributes = {A_STRING("mode", "cubic")},
     .inputs = {F32(2, 3, 5, 7), ABSENT, F32_IS(DIMS(4), 1, 1, 2.5f, 0.7f)}},
    CASE("Resize", "cubic_float16", 19, ATTRIBUTES(A_STRING("mode", "cubic")),
         RANGE_OF(LEATI_REF_FLOAT16, -2, 2, 1, 2, 5, 7), ABSENT, ABSENT, LIST(1, 2, 11, 4)),
    CASE("Resize", "cubic_bfloat16", 13, ATTRIBUTES(A_STRING("mode", "cubic")),
         RANGE_OF(LEATI_REF_BFLOAT16, -2, 2, 1, 2, 5, 7), ABSENT, ABSENT, LIST(1, 2, 11, 4)),
    CASE("Resize", "cubic_align_corners", 11,
         ATTRIBUTES(A_STRING("mode", "cubic"), A_STRING("coordinate_transformation_mode", "align_corners")),
         F32(1, 2, 4, 6), ABSENT, F32_IS(DIMS(4), 1, 1, 2, 2)),
    CASE("Resize", "cubic_asymmetric", 18,
         ATTRIBUTES(A_STRING("mode", "cubic"), A_STRING("coordinate_transformation_mode", "asymmetric")),
         F32(1, 2, 4, 6), ABSENT, F32_IS(DIMS(4), 1, 1, 2, 3)),
    CASE("Resize", "cubic_exclude_outside", 18,
         ATTRIBUTES(A_STRING("mode", "cubic"), A_FLOAT("cubic_coeff_a", -0.5f), A_INT("exclude_outside", 1)),
         F32(1, 2, 4, 6), ABSENT, F32_IS(DIMS(4), 1, 1, 2, 0.6f)),
    CASE("Resize", "cubic_4_dimensions", 19, ATTRIBUTES(A_STRING("mode", "cubic")), F32(2, 3, 5, 7), ABSENT, ABSENT,
         LIST(3, 2, 9, 4)),
    CASE("Resize", "cubic_one_dimension", 18, ATTRIBUTES(A_STRING("mode", "cubic"), A_INTS("axes", 1)), F32(3, 7, 5),
         ABSENT, F32_IS(DIMS(1), 1.7f)),
    CASE("Resize", "cubic_one_element", 19, ATTRIBUTES(A_STRING("mode", "cubic")), F32(1, 1, 1, 1), ABSENT, ABSENT,
         LIST(1, 1, 3, 4)),
    CASE("Resize", "cubic_same_size", 19, ATTRIBUTES(A_STRING("mode", "cubic")),
         RANGE_OF(LEATI_REF_FLOAT16, -2, 2, 1, 2, 5, 7), ABSENT, ABSENT, LIST(1, 2, 5, 7)),
    CASE("Resize", "cubic_no_images", 13, ATTRIBUTES(A_STRING("mode", "cubic")), F32(0, 2, 5, 7), ABSENT,
         F32_IS(DIMS(4), 1, 1, 2, 2)),
    {.name = "Resize",
     .label = "antialias",
     .since_version = 18,
     .variants = ALL_VIEWS,
     .threads = THREADS_8,
     .attributes = {A_STRING("mode", "linear"), A_INT("antialias", 1)},
     .inputs = {F32(2, 3, 9, 17), ABSENT, F32_IS(DIMS(4), 1, 1, 0.6f, 0.23f)}},
    CASE("Resize", "antialias_sizes", 19, ATTRIBUTES(A_STRING("mode", "linear"), A_INT("antialias", 1)),
         F32(1, 2, 9, 17), ABSENT, ABSENT, LIST(1, 2, 4, 31)),
    CASE("Resize", "antialias_4_dimensions", 18, ATTRIBUTES(A_STRING("mode", "linear"), A_INT("antialias", 1)),
         F32(5, 4, 6, 7), ABSENT, ABSENT, LIST(2, 3, 4, 5)),
    CASE("Resize", "antialias_float16", 18, ATTRIBUTES(A_STRING("mode", "linear"), A_INT("antialias", 1)),
         RANGE_OF(LEATI_REF_FLOAT16, -2, 2, 1, 2, 9, 17), ABSENT, ABSENT, LIST(1, 2, 4, 3)),
    CASE("Resize", "antialias_cubic", 19, ATTRIBUTES(A_STRING("mode", "cubic"), A_INT("antialias", 1)),
         F32(1, 2, 16, 40), ABSENT, F32_IS(DIMS(4), 1, 1, 0.4f, 0.1f)),
    CASE("Resize", "antialias_cubic_exclude_outside", 18,
         ATTRIBUTES(A_STRING("mode", "cubic"), A_INT("antialias", 1), A_INT("exclude_outside", 1),
                    A_FLOAT("cubic_coeff_a", -0.5f)),
         F32(1, 2, 16, 40), ABSENT, ABSENT, LIST(1, 2, 7, 5)),
    CASE("Resize", "antialias_align_corners", 18,
         ATTRIBUTES(A_STRING("mode", "linear"), A_INT("antialias", 1),
                    A_STRING("coordinate_transformation_mode", "align_corners")),
         F32(1, 2, 9, 17), ABSENT, ABSENT, LIST(1, 2, 4, 1)),

    SAMPLED_BY_MICROSOFT("float32", LEATI_REF_FLOAT32, LEATI_REF_FLOAT32, "bilinear"),
    SAMPLED_BY_MICROSOFT("bicubic", LEATI_REF_FLOAT32, LEATI_REF_FLOAT32, "bicubic"),
    SAMPLED_BY_MICROSOFT("float16", LEATI_REF_FLOAT16, LEATI_REF_FLOAT16, "bilinear"),
    SAMPLED_BY_MICROSOFT("bfloat16", LEATI_REF_BFLOAT16, LEATI_REF_BFLOAT16, "bilinear"),
    {.name = "GridSample",
     .label = "float32",
     .since_version = 22,
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .inputs = {F32(2, 5, 5, 7), F32_RANGE(-1.3, 1.3, 2, 3, 4, 2)}},
    SAMPLED("linear", "zeros", 0),
    SAMPLED("linear", "border", VIEW_SLICED),
    SAMPLED("linear", "reflection", VIEW_TRANSPOSED),
    SAMPLED("nearest", "zeros", VIEW_TRANSPOSED | VIEW_SLICED),
    SAMPLED("nearest", "border", 0),
    SAMPLED("nearest", "reflection", VIEW_DYNAMIC),
    SAMPLED("cubic", "zeros", VIEW_DYNAMIC),
    SAMPLED("cubic", "border", VIEW_TRANSPOSED),
    SAMPLED("cubic", "reflection", VIEW_SLICED | VIEW_REVERSED),
    SAMPLED_3D("linear", "zeros", 0, ALL_VIEWS),
    SAMPLED_3D("linear", "border", 1, 0),
    SAMPLED_3D("linear", "reflection", 0, VIEW_SLICED),
    SAMPLED_3D("nearest", "zeros", 1, 0),
    SAMPLED_3D("nearest", "border", 0, VIEW_TRANSPOSED),
    SAMPLED_3D("nearest", "reflection", 1, 0),
    TIED("ties_zeros", 20, "nearest", "zeros", 0),
    TIED("ties_border", 22, "nearest", "border", 0),
    TIED("ties_reflection", 20, "nearest", "reflection", 0),
    TIED("ties_version_16", 16, "nearest", "zeros", 0),
    TIED("exact_linear", 16, "bilinear", "zeros", 0),
    TIED("exact_cubic", 16, "bicubic", "border", 0),
    TIED("exact_reflection", 20, "linear", "reflection", 0),
    NOWHERE("linear", "zeros", 0),
    NOWHERE("linear", "border", 1),
    NOWHERE("linear", "reflection", 0),
    NOWHERE("nearest", "zeros", 0),
    NOWHERE("nearest", "border", 0),
    NOWHERE("nearest", "reflection", 1),
    NOWHERE("cubic", "zeros", 1),
    NOWHERE("cubic", "border", 0),
    NOWHERE("cubic", "reflection", 0),
    SAMPLE("special_grid", 20, 0, "nearest", "border", 0, F32(1, 1, 4, 8), F32_SPECIAL(1, 1, 6, 7, 2)),
    SAMPLE("special_images", 20, 0, "nearest", "zeros", 1, F32_SPECIAL(1, 1, 2, 4, 4),
           F32_IS(DIMS(1, 1, 5, 2), -1, -1, 1, 1, -1, 1, 1, -1, 2, 0)),
    SAMPLE("one_element", 22, 0, "linear", "reflection", 0, F32(2, 3, 1, 1), F32_RANGE(-3, 3, 2, 3, 3, 2)),
    SAMPLE("one_element_aligned", 22, 0, "cubic", "reflection", 1, F32(2, 3, 1, 1), F32_RANGE(-3, 3, 2, 3, 3, 2)),
    SAMPLE("one_line", 22, VIEW_TRANSPOSED, "linear", "border", 1, F32(2, 3, 1, 9), F32_RANGE(-3, 3, 2, 3, 3, 2)),
    SAMPLE("far", 20, 0, "linear", "reflection", 0, F32(1, 2, 5, 7), F32_RANGE(-1000, 1000, 1, 6, 6, 2)),
    SAMPLE("many_channels", 20, VIEW_OFFSET, "linear", "zeros", 0, F32(2, 67, 3, 4), F32_RANGE(-1, 1, 2, 9, 31, 2)),
    SAMPLE("many_places", 20, 0, "nearest", "zeros", 0, F32(1, 1, 40, 33), F32_RANGE(-1, 1, 1, 70, 71, 2)),
    SAMPLE("float16", 20, VIEW_TRANSPOSED | VIEW_OFFSET, "linear", "border", 0,
           RANGE_OF(LEATI_REF_FLOAT16, -2, 2, 2, 5, 5, 7), RANGE_OF(LEATI_REF_FLOAT16, -1.5, 1.5, 2, 3, 4, 2)),
    SAMPLE("bfloat16", 22, VIEW_TRANSPOSED | VIEW_OFFSET, "linear", "border", 0,
           RANGE_OF(LEATI_REF_BFLOAT16, -2, 2, 2, 5, 5, 7), RANGE_OF(LEATI_REF_BFLOAT16, -1.5, 1.5, 2, 3, 4, 2)),
    SAMPLE("float16_cubic", 20, 0, "cubic", "zeros", 1, RANGE_OF(LEATI_REF_FLOAT16, -2, 2, 1, 3, 5, 7),
           RANGE_OF(LEATI_REF_FLOAT16, -1.5, 1.5, 1, 3, 4, 2)),
    SAMPLE("bfloat16_volumes", 22, 0, "nearest", "reflection", 0, RANGE_OF(LEATI_REF_BFLOAT16, -2, 2, 1, 3, 4, 2, 8),
           RANGE_OF(LEATI_REF_BFLOAT16, -1.5, 1.5, 1, 3, 4, 2, 3)),
    SAMPLE("float16_by_float32", 20, 0, "linear", "zeros", 0, RANGE_OF(LEATI_REF_FLOAT16, -2, 2, 1, 3, 5, 7),
           F32_RANGE(-1.5, 1.5, 1, 3, 4, 2)),
    SAMPLE("float32_by_float16", 20, VIEW_OFFSET, "linear", "zeros", 0, F32(1, 3, 5, 7),
           RANGE_OF(LEATI_REF_FLOAT16, -1.5, 1.5, 1, 3, 4, 2)),
    SAMPLE("float32_by_bfloat16", 22, 0, "cubic", "border", 0, F32(1, 3, 5, 7),
           RANGE_OF(LEATI_REF_BFLOAT16, -1.5, 1.5, 1, 3, 4, 2)),
    SAMPLE("no_images", 22, 0, "linear", "zeros", 0, F32(0, 2, 5, 7), F32(0, 3, 4, 2)),
    SAMPLE("no_channels", 22, 0, "linear", "zeros", 0, F32(2, 0, 5, 7), F32(2, 3, 4, 2)),
    SAMPLE("no_places", 22, 0, "linear", "zeros", 0, F32(2, 3, 5, 7), F32(2, 0, 4, 2)),

    {.name = "AffineGrid",
     .label = "float32",
     .since_version = 20,
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .inputs = {F32(3, 2, 3), LIST(3, 2, 5, 7)}},
    CASE("AffineGrid", "aligned", 20, ATTRIBUTES(A_INT("align_corners", 1)), F32(3, 2, 3), LIST(3, 2, 5, 7)),
    CASE("AffineGrid", "3d", 20, NO_ATTRIBUTES, F32(2, 3, 4), LIST(2, 1, 3, 4, 5)),
    CASE("AffineGrid", "3d_aligned", 20, ATTRIBUTES(A_INT("align_corners", 1)), F32(2, 3, 4), LIST(2, 1, 3, 4, 5)),
    CASE("AffineGrid", "float16", 20, NO_ATTRIBUTES, RANGE_OF(LEATI_REF_FLOAT16, -2, 2, 2, 2, 3), LIST(2, 1, 4, 5)),
    CASE("AffineGrid", "bfloat16", 20, ATTRIBUTES(A_INT("align_corners", 1)),
         RANGE_OF(LEATI_REF_BFLOAT16, -2, 2, 2, 2, 3), LIST(2, 1, 4, 5)),
    CASE("AffineGrid", "one_pixel", 20, NO_ATTRIBUTES, F32(2, 2, 3), LIST(2, 1, 1, 1)),
    CASE("AffineGrid", "one_pixel_aligned", 20, ATTRIBUTES(A_INT("align_corners", 1)), F32(2, 2, 3), LIST(2, 1, 1, 4)),
    CASE("AffineGrid", "no_images", 20, NO_ATTRIBUTES, F32(0, 2, 3), LIST(0, 1, 4, 5)),
    CASE("AffineGrid", "no_pixels", 20, NO_ATTRIBUTES, F32(2, 2, 3), LIST(2, 1, 0, 5)),

    /* Before version 11. */
    {.name = "Upsample",
     .label = "nearest",
     .since_version = 9,
     .variants = VIEWS,
     .threads = THREADS_8,
     .attributes = {A_STRING("mode", "nearest")},
     .inputs = {F32(2, 3, 5, 7), F32_IS(DIMS(4), 1, 1, 2, 3)}},
    CASE("Upsample", "linear", 9, ATTRIBUTES(A_STRING("mode", "linear")), F32(2, 3, 5, 7), F32_IS(DIMS(4), 1, 1, 2, 2)),
    CASE("Upsample", "float16", 9, NO_ATTRIBUTES, RANGE_OF(LEATI_REF_FLOAT16, -2, 2, 1, 2, 5, 7),
         F32_IS(DIMS(4), 1, 1, 2, 4)),
    CASE("Upsample", "bfloat16", 9, NO_ATTRIBUTES, RANGE_OF(LEATI_REF_BFLOAT16, -2, 2, 1, 2, 5, 7),
         F32_IS(DIMS(4), 1, 1, 2, 4)),
    CASE("Upsample", "nearest_7", 7, ATTRIBUTES(A_FLOATS("scales", 1, 1, 2, 2)), F32(2, 3, 5, 7)),
    CASE("Upsample", "linear_7", 7, ATTRIBUTES(A_STRING("mode", "linear"), A_FLOATS("scales", 1, 1, 2, 2)),
         F32(2, 3, 5, 7)),
    CASE("Upsample", "float16_7", 7, ATTRIBUTES(A_FLOATS("scales", 1, 1, 2, 2)),
         RANGE_OF(LEATI_REF_FLOAT16, -2, 2, 1, 2, 5, 7)),
    CASE("Upsample", "bfloat16_7", 7, ATTRIBUTES(A_FLOATS("scales", 1, 1, 2, 2)),
         RANGE_OF(LEATI_REF_BFLOAT16, -2, 2, 1, 2, 5, 7)),
    CASE("Resize", "more_10", 10, ATTRIBUTES(A_STRING("mode", "nearest")), F32(1, 2, 5, 7),
         F32_IS(DIMS(4), 1, 1, 2, 4)),
    CASE("Resize", "less_10", 10, ATTRIBUTES(A_STRING("mode", "nearest")), F32(1, 2, 8, 12),
         F32_IS(DIMS(4), 1, 1, 0.5f, 0.25f)),
    CASE("Resize", "linear_10", 10, ATTRIBUTES(A_STRING("mode", "linear")), F32(1, 2, 5, 8),
         F32_IS(DIMS(4), 1, 1, 2, 0.5f)),
    CASE("Resize", "float16_10", 10, NO_ATTRIBUTES, RANGE_OF(LEATI_REF_FLOAT16, -2, 2, 1, 2, 5, 7),
         F32_IS(DIMS(4), 1, 1, 2, 4)),
    CASE("Resize", "bfloat16_10", 10, NO_ATTRIBUTES, RANGE_OF(LEATI_REF_BFLOAT16, -2, 2, 1, 2, 5, 7),
         F32_IS(DIMS(4), 1, 1, 2, 4)),
};

static const leati_op_spec sound_resize = CASE("Resize", "sound", 19, ATTRIBUTES(A_STRING("mode", "cubic")),
                                               F32(1, 2, 5, 7), ABSENT, F32_IS(DIMS(4), 1, 1, 2, 2));
static const leati_refusal wrong_resize[] = {{A_STRING("mode", "lanczos")},
                                             {A_STRING("mode", "")},
                                             {A_STRING("mode", "nearest"), A_INT("antialias", 1)},
                                             {A_STRING("mode", "nearest"), A_INT("exclude_outside", 1)},
                                             {A_STRING("mode", "linear"), A_INT("exclude_outside", 1)},
                                             {A_STRING("coordinate_transformation_mode", "none")},
                                             {A_STRING("keep_aspect_ratio_policy", "yes")},
                                             {A_STRING("nearest_mode", "up")},
                                             {A_INTS("axes", 2)},
                                             {A_INTS("axes", 0, 1, 2, 2)},
                                             {A_INTS("axes", 0, 1, 2, 4)},
                                             {A_INTS("axes", 0, 1, 2, INT64_MIN)}};
/* Images may have any size. */
static const leati_refusals refusals_of_resize = {
    .sound = &sound_resize, .wrong = wrong_resize, .wrong_count = G_N_ELEMENTS(wrong_resize), .any_size = {0xf}};

static const leati_op_spec sound_affine =
    CASE("AffineGrid", "sound", 20, NO_ATTRIBUTES, F32(3, 2, 3), LIST(3, 2, 5, 7));
static const leati_refusals refusals_of_affine = {.sound = &sound_affine};

static const leat_case hostile[] = {{REFUSALS("Resize", "refused", &refusals_of_resize)},
                                    {REFUSALS("AffineGrid", "refused", &refusals_of_affine)}};

void leati_rows_image(leat_case_list *list) {
  leati_op_cases_add(list, specs, G_N_ELEMENTS(specs));
  leati_case_list_add(list, hostile, G_N_ELEMENTS(hostile));
}
