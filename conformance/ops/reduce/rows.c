/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of the operators that reduce along axes. */
#include <math.h>

#include "cases/sources.h"
#include "ops/core/op_engine.h"

/* What every reduction is tried on: `listed` is the version that takes the axes as an input, `attributed` the one that
 * takes them as an attribute. */
#define BASE(op, listed, views, used_threads)                                                               \
  {.name = op,                                                                                              \
   .label = "last_axis",                                                                                    \
   .since_version = listed,                                                                                 \
   .variants = views,                                                                                       \
   .threads = used_threads,                                                                                 \
   .inputs = {F32(5, 3, 65), LIST(-1)}},                                                                    \
      {.name = op,                                                                                          \
       .label = "middle_axis",                                                                              \
       .since_version = listed,                                                                             \
       .variants = VIEW_SLICED,                                                                             \
       .attributes = {A_INT("keepdims", 0)},                                                                \
       .inputs = {F32(5, 33, 7), LIST(1)}},                                                                 \
      {.name = op, .label = "two_axes", .since_version = listed, .inputs = {F32(5, 6, 7, 8), LIST(-3, 3)}}, \
      {.name = op,                                                                                          \
       .label = "all",                                                                                      \
       .since_version = listed,                                                                             \
       .attributes = {A_INT("keepdims", 0)},                                                                \
       .inputs = {F32(3, 5, 7)}},                                                                           \
  {                                                                                                         \
    .name = op, .label = "special", .since_version = listed, .inputs = {                                    \
      F32_SPECIAL(SPECIAL_COUNT, SPECIAL_COUNT, SPECIAL_COUNT),                                             \
      LIST(1)                                                                                               \
    }                                                                                                       \
  }

#define ATTRIBUTED(op, version)                                              \
  {                                                                          \
    .name = op, .label = "axes_attribute", .since_version = version,         \
    .attributes = {A_INTS("axes", -1, 0), A_INT("keepdims", 0)}, .inputs = { \
      F32(5, 6, 7)                                                           \
    }                                                                        \
  }

/* What is tried of the reductions that ABI 1.0 does not demand: the same, and what belongs to the formula. The elements
 * are from a range in which no result is close to 0, where a logarithm would have nothing to be close to. */
#define FURTHER(op, from, to)                                                                                \
  {.name = op,                                                                                               \
   .label = "last_axis",                                                                                     \
   .since_version = 18,                                                                                      \
   .variants = VIEW_SLICED | VIEW_TRANSPOSED | VIEW_OFFSET | VIEW_DYNAMIC,                                   \
   .threads = THREADS_8 | THREADS_16,                                                                        \
   .inputs = {F32_RANGE(from, to, 5, 3, 65), LIST(-1)}},                                                     \
      {.name = op,                                                                                           \
       .label = "middle_axis",                                                                               \
       .since_version = 18,                                                                                  \
       .attributes = {A_INT("keepdims", 0)},                                                                 \
       .inputs = {F32_RANGE(from, to, 5, 33, 7), LIST(1)}},                                                  \
      {.name = op,                                                                                           \
       .label = "two_axes",                                                                                  \
       .since_version = 18,                                                                                  \
       .inputs = {F32_RANGE(from, to, 5, 6, 7, 8), LIST(-3, 3)}},                                            \
      {.name = op, .label = "all", .since_version = 18, .inputs = {F32_RANGE(from, to, 3, 5, 7)}},           \
      {.name = op, .label = "long", .since_version = 18, .inputs = {F32_RANGE(from, to, 3, 4099), LIST(1)}}, \
      {.name = op, .label = "of_nothing", .since_version = 18, .inputs = {F32(3, 0, 2), LIST(1)}},           \
      {.name = op,                                                                                           \
       .label = "noop",                                                                                      \
       .since_version = 18,                                                                                  \
       .attributes = {A_INT("noop_with_empty_axes", 1)},                                                     \
       .inputs = {F32_SPECIAL(1, SPECIAL_COUNT), EMPTY_LIST}},                                               \
      {.name = op,                                                                                           \
       .label = "special",                                                                                   \
       .since_version = 18,                                                                                  \
       .inputs = {F32_SPECIAL(SPECIAL_COUNT, SPECIAL_COUNT, SPECIAL_COUNT), LIST(1)}},                       \
  {                                                                                                          \
    .name = op, .label = "axes_attribute", .since_version = 13,                                              \
    .attributes = {A_INTS("axes", -1, 0), A_INT("keepdims", 0)}, .inputs = {                                 \
      F32_RANGE(from, to, 5, 6, 7)                                                                           \
    }                                                                                                        \
  }

/* Integers along an axis that an attribute gives, with those of which a sum does not fit. */
#define INTEGERS_ATTRIBUTED(op, version)                                                                      \
  {.name = op,                                                                                                \
   .label = "int64_axes_attribute",                                                                           \
   .since_version = version,                                                                                  \
   .attributes = {A_INTS("axes", 1)},                                                                         \
   .inputs = {I64_IS(DIMS(3, 3), INT64_MAX, 1, 2, INT64_MIN, -1, -7, 5, -3, 4294967296)}},                    \
  {                                                                                                           \
    .name = op, .label = "int32_axes_attribute", .since_version = version, .attributes = {A_INTS("axes", 1)}, \
    .inputs = {                                                                                               \
      I32_IS(DIMS(3, 3), INT32_MAX, 1, 2, INT32_MIN, -1, -7, 5, -3, 65536)                                    \
    }                                                                                                         \
  }

/* The reductions of a type of 16 bits, by each of their versions; those whose pieces several workgroups reduce; and
 * numbers of all kinds, whose sums may be too large for the type. */
#define ATTRIBUTED_HALF(op, type_label, version, ...)                                                               \
  {                                                                                                                 \
    .name = op, .label = "axes_attribute_" type_label, .since_version = version, .attributes = {A_INTS("axes", 1)}, \
    .inputs = {                                                                                                     \
      __VA_ARGS__                                                                                                   \
    }                                                                                                               \
  }
#define REDUCED(op, type_label, ...)                                                         \
  ATTRIBUTED_HALF(op, type_label, 13, __VA_ARGS__), {                                        \
    .name = op, .label = type_label, .since_version = 18, .inputs = { __VA_ARGS__, LIST(1) } \
  }
#define LONG(op, type_label, t, from, to)                                     \
  {                                                                           \
    .name = op, .label = "long_" type_label, .since_version = 18, .inputs = { \
      RANGE_OF(t, from, to, 2, 20011),                                        \
      LIST(1)                                                                 \
    }                                                                         \
  }
#define ARG(op, type_label, t)                                                                                  \
  {.name = op, .label = type_label, .since_version = 13, .inputs = {MIXED(t, -2, 2, 16, 9)}}, {                 \
    .name = op, .label = "long_" type_label, .since_version = 13, .attributes = {A_INT("axis", 1)}, .inputs = { \
      RANGE_OF(t, -2, 2, 2, 20011)                                                                              \
    }                                                                                                           \
  }
#define HALVES(type_label, t)                                                                                         \
  {.name = "ReduceSum",                                                                                               \
   .label = "last_axis_" type_label,                                                                                  \
   .since_version = 13,                                                                                               \
   .variants = VIEW_SLICED | VIEW_OFFSET,                                                                             \
   .threads = THREADS_16,                                                                                             \
   .inputs = {RANGE_OF(t, -2, 2, 5, 3, 65), LIST(-1)}},                                                               \
      {.name = "ReduceSum",                                                                                           \
       .label = type_label,                                                                                           \
       .since_version = 13,                                                                                           \
       .inputs = {MIXED(t, -30000, 30000, 9, 16), LIST(1)}},                                                          \
      REDUCED("ReduceMean", type_label, MIXED(t, -30000, 30000, 9, 16)),                                              \
      REDUCED("ReduceMax", type_label, MIXED(t, -2, 2, 9, 16)),                                                       \
      REDUCED("ReduceMin", type_label, MIXED(t, -2, 2, 9, 16)),                                                       \
      REDUCED("ReduceProd", type_label, RANGE_OF(t, 0.9, 1.1, 9, 16)),                                                \
      REDUCED("ReduceL1", type_label, RANGE_OF(t, -2, 2, 9, 16)),                                                     \
      REDUCED("ReduceL2", type_label, RANGE_OF(t, -2, 2, 9, 16)),                                                     \
      REDUCED("ReduceSumSquare", type_label, RANGE_OF(t, -2, 2, 9, 16)),                                              \
      REDUCED("ReduceLogSum", type_label, RANGE_OF(t, 0.5, 3, 9, 16)),                                                \
      REDUCED("ReduceLogSumExp", type_label, RANGE_OF(t, -30, 30, 9, 16)), LONG("ReduceMean", type_label, t, 10, 40), \
      LONG("ReduceLogSumExp", type_label, t, -2, 2), ARG("ArgMax", type_label, t), ARG("ArgMin", type_label, t)

/* The best along an axis, and where they are. */
#define TOP_K(named, version, views, along, largest_first, ...)                                \
  {                                                                                            \
    .name = "TopK", .label = named, .since_version = version, .outputs = 2, .variants = views, \
    .attributes = {A_INT("axis", along), A_INT("largest", largest_first)}, .inputs = {         \
      __VA_ARGS__                                                                              \
    }                                                                                          \
  }
/* A type: short rows, and some longer than a workgroup may sort, with equal elements. */
#define TOP_K_OF(named, t, least, most)                                                             \
  TOP_K(named, 24, VIEW_TRANSPOSED | VIEW_OFFSET, -1, 1, RANGE_OF(t, least, most, 5, 33), LIST(9)), \
      TOP_K(named "_smallest", 24, 0, 0, 0, RANGE_OF(t, least, most, 70, 3), LIST(70)),             \
      TOP_K(named "_long", 24, 0, -1, 1, RANGE_OF(t, least, most, 2, 4500), LIST(1500))
static const leati_op_spec specs[] = {
    HALVES("float16", LEATI_REF_FLOAT16),
    HALVES("bfloat16", LEATI_REF_BFLOAT16),
    BASE("ReduceSum", 13, ALL_VIEWS, THREADS_ALL),
    {.name = "ReduceSum",
     .label = "long",
     .since_version = 13,
     .threads = THREADS_4,
     .inputs = {F32(3, 4099), LIST(1)}},
    {.name = "ReduceSum", .label = "long_first_axis", .since_version = 13, .inputs = {F32(1027, 5), LIST(0)}},
    {.name = "ReduceSum", .label = "one_element", .since_version = 13, .inputs = {F32(3, 1), LIST(1)}},
    {.name = "ReduceSum", .label = "rank0", .since_version = 13, .inputs = {F32_SCALAR}},
    {.name = "ReduceSum",
     .label = "rank8",
     .since_version = 13,
     .variants = VIEW_TRANSPOSED,
     .inputs = {F32(2, 3, 1, 2, 2, 3, 1, 2), LIST(1, -2, 4, -1)}},
    {.name = "ReduceSum", .label = "of_nothing", .since_version = 13, .inputs = {F32(3, 0, 2), LIST(1)}},
    {.name = "ReduceSum", .label = "empty_result", .since_version = 13, .inputs = {F32(3, 0, 2), LIST(2)}},
    {.name = "ReduceSum", .label = "empty_axes", .since_version = 13, .inputs = {F32(3, 5), EMPTY_LIST}},
    {.name = "ReduceSum",
     .label = "noop",
     .since_version = 13,
     .attributes = {A_INT("noop_with_empty_axes", 1)},
     .inputs = {F32(3, 5), EMPTY_LIST}},
    {.name = "ReduceSum",
     .label = "noop_absent_axes",
     .since_version = 13,
     .attributes = {A_INT("noop_with_empty_axes", 1)},
     .inputs = {F32(3, 5)}},
    {.name = "ReduceSum",
     .label = "int64",
     .since_version = 13,

     .inputs = {I64_RANGE(-99, 99, 5, 33), LIST(1)}},
    {.name = "ReduceSum", .label = "int32", .since_version = 13, .inputs = {I32_RANGE(-99, 99, 5, 33), LIST(0)}},
    {.name = "ReduceSum",
     .label = "axes_attribute",
     .since_version = 11,
     .attributes = {A_INTS("axes", -1, 0), A_INT("keepdims", 0)},
     .inputs = {F32(5, 6, 7)}},
    INTEGERS_ATTRIBUTED("ReduceSum", 11),
    ATTRIBUTED_HALF("ReduceSum", "float16", 11, MIXED(LEATI_REF_FLOAT16, -30000, 30000, 9, 16)),
    BASE("ReduceMean", 18, VIEW_DYNAMIC, THREADS_8),
    ATTRIBUTED("ReduceMean", 13),
    INTEGERS_ATTRIBUTED("ReduceMean", 11),
    {.name = "ReduceMean", .label = "spatial", .since_version = 18, .inputs = {F32(2, 5, 7, 9), LIST(2, 3)}},
    {.name = "ReduceMean", .label = "long", .since_version = 18, .inputs = {F32(2, 2051), LIST(-1)}},
    {.name = "ReduceMean", .label = "int64", .since_version = 18, .inputs = {I64_RANGE(-99, 99, 5, 33), LIST(1)}},
    {.name = "ReduceMean", .label = "int32", .since_version = 18, .inputs = {I32_RANGE(-99, 99, 5, 33), LIST(0)}},
    {.name = "ReduceMean",
     .label = "int64_large",
     .since_version = 18,
     .inputs = {I64_IS(DIMS(6, 3), INT64_MAX, INT64_MAX, INT64_MAX, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MAX, 1,
                       INT64_MAX, INT64_MIN, -1, INT64_MIN, INT64_MAX, INT64_MIN, 1, -7, 3, 2),
                LIST(1)}},
    {.name = "ReduceMean",
     .label = "int32_large",
     .since_version = 18,
     .inputs = {I32_IS(DIMS(6, 3), INT32_MAX, INT32_MAX, INT32_MAX, INT32_MIN, INT32_MIN, INT32_MIN, INT32_MAX, 1,
                       INT32_MAX, INT32_MIN, -1, INT32_MIN, INT32_MAX, INT32_MIN, 1, -7, 3, 2),
                LIST(1)}},
    {.name = "ReduceMean",
     .label = "int64_long",
     .since_version = 18,
     .inputs = {I64_RANGE(-99, 9, 2, 20011), LIST(1)}},
    {.name = "ReduceMean",
     .label = "int32_long",
     .since_version = 18,
     .inputs = {I32_RANGE(-9, 99, 2, 20011), LIST(1)}},
    {.name = "ReduceMean",
     .label = "int32_one_by_one",
     .since_version = 18,
     .attributes = {A_INT("noop_with_empty_axes", 1)},
     .inputs = {I32_RANGE(-99, 99, 5, 3), EMPTY_LIST}},
    {.name = "ReduceMax",
     .label = "nan",
     .since_version = 18,
     .variants = VIEW_SLICED | VIEW_TRANSPOSED,
     .inputs = {F32_IS(DIMS(4, 3), 1, NAN, 3, NAN, 1, 3, 1, 3, NAN, -INFINITY, -INFINITY, NAN), LIST(1)}},
    {.name = "ReduceMax",
     .label = "nan_among_many",
     .since_version = 18,
     .inputs = {F32_SPECIAL(9, 3, 20011), LIST(1)}},
    {.name = "ReduceMin",
     .label = "nan",
     .since_version = 18,
     .variants = VIEW_SLICED | VIEW_TRANSPOSED,
     .inputs = {F32_IS(DIMS(4, 3), 1, NAN, 3, NAN, 1, 3, 1, 3, NAN, INFINITY, INFINITY, NAN), LIST(1)}},
    BASE("ReduceMax", 18, VIEW_DYNAMIC, THREADS_8),
    ATTRIBUTED("ReduceMax", 13),
    INTEGERS_ATTRIBUTED("ReduceMax", 12),
    {.name = "ReduceMax", .label = "of_nothing", .since_version = 18, .inputs = {F32(3, 0, 2), LIST(1)}},
    {.name = "ReduceMax", .label = "int64", .since_version = 18, .inputs = {I64_RANGE(-99, 99, 5, 33), LIST(1)}},
    {.name = "ReduceMax", .label = "int32", .since_version = 20, .inputs = {I32_RANGE(-99, 99, 5, 33), LIST(1)}},
    {.name = "ReduceMax", .label = "uint8", .since_version = 20, .inputs = {U8_RANGE(0, 255, 5, 33), LIST(1)}},
    {.name = "ReduceMax", .label = "bool", .since_version = 20, .inputs = {BOOLS(9, 3), LIST(1)}},
    BASE("ReduceMin", 18, VIEW_DYNAMIC, THREADS_8),
    ATTRIBUTED("ReduceMin", 13),
    INTEGERS_ATTRIBUTED("ReduceMin", 12),
    {.name = "ReduceMin", .label = "of_nothing", .since_version = 18, .inputs = {F32(3, 0, 2), LIST(1)}},
    {.name = "ReduceMin", .label = "int64", .since_version = 18, .inputs = {I64_RANGE(-99, 99, 5, 33), LIST(1)}},
    {.name = "ReduceMin", .label = "int32", .since_version = 20, .inputs = {I32_RANGE(-99, 99, 5, 33), LIST(1)}},
    FURTHER("ReduceProd", 0.98, 1.02),
    INTEGERS_ATTRIBUTED("ReduceProd", 11),
    {.name = "ReduceProd", .label = "int64", .since_version = 18, .inputs = {I64_RANGE(-9, 9, 5, 33), LIST(1)}},
    {.name = "ReduceProd", .label = "int32", .since_version = 18, .inputs = {I32_RANGE(-9, 9, 33, 5), LIST(0)}},
    FURTHER("ReduceL1", -3, 3),
    FURTHER("ReduceL2", -3, 3),
    FURTHER("ReduceSumSquare", -3, 3),
    FURTHER("ReduceLogSum", 0.5, 3),
    FURTHER("ReduceLogSumExp", -3, 3),
    {.name = "ReduceLogSumExp",
     .label = "far_apart",
     .since_version = 18,
     .inputs = {F32_IS(DIMS(4, 3), 1000, 999, -1000, -1000, -1001, -2000, 0, 90, -90, -INFINITY, 5, -INFINITY),
                LIST(1)}},

    {.name = "ArgMax",
     .label = "last_axis",
     .since_version = 13,
     .variants = ALL_VIEWS,
     .threads = THREADS_8,
     .attributes = {A_INT("axis", -1)},
     .inputs = {F32(5, 3, 65)}},
    {.name = "ArgMax", .label = "first_axis", .since_version = 13, .inputs = {F32(33, 7)}},
    {.name = "ArgMax",
     .label = "middle_axis",
     .since_version = 13,

     .attributes = {A_INT("axis", 1), A_INT("keepdims", 0)},
     .inputs = {F32(5, 33, 7)}},
    {.name = "ArgMax",
     .label = "ties_first",
     .since_version = 13,
     .attributes = {A_INT("axis", 1)},
     .inputs = {F32_IS(DIMS(3, 4), 1, 2, 2, 0, 3, 3, 3, 3, -1, -2, -1, -2)}},
    {.name = "ArgMax",
     .label = "ties_last",
     .since_version = 13,
     .attributes = {A_INT("axis", 1), A_INT("select_last_index", 1)},
     .inputs = {F32_IS(DIMS(3, 4), 1, 2, 2, 0, 3, 3, 3, 3, -1, -2, -1, -2)}},
    {.name = "ArgMax",
     .label = "ties_long",
     .since_version = 13,
     .attributes = {A_INT("axis", -1)},
     .inputs = {I32_RANGE(0, 2, 4, 1031)}},
    {.name = "ArgMax",
     .label = "infinite",
     .since_version = 13,
     .attributes = {A_INT("axis", 1)},
     .inputs = {F32_IS(DIMS(2, 3), -INFINITY, -INFINITY, -INFINITY, 1, INFINITY, 2)}},
    {.name = "ArgMax",
     .label = "nan_first",
     .since_version = 13,
     .variants = VIEW_TRANSPOSED,
     .attributes = {A_INT("axis", 1)},
     .inputs = {F32_IS(DIMS(5, 4), 1, NAN, 3, NAN, NAN, 1, 3, 2, 1, 3, 2, NAN, NAN, NAN, NAN, NAN, INFINITY, NAN, 1,
                       INFINITY)}},
    {.name = "ArgMax",
     .label = "nan_last",
     .since_version = 13,
     .variants = VIEW_TRANSPOSED,
     .attributes = {A_INT("axis", 1), A_INT("select_last_index", 1)},
     .inputs = {F32_IS(DIMS(5, 4), 1, NAN, 3, NAN, NAN, 1, 3, 2, 1, 3, 2, NAN, NAN, NAN, NAN, NAN, INFINITY, NAN, 1,
                       INFINITY)}},
    {.name = "ArgMax",
     .label = "nan_among_many",
     .since_version = 13,
     .attributes = {A_INT("axis", 1), A_INT("select_last_index", 1)},
     .inputs = {F32_SPECIAL(1, 2, 20011)}},
    {.name = "ArgMax",
     .label = "int64",
     .since_version = 13,
     .attributes = {A_INT("axis", 1)},
     .inputs = {I64_RANGE(-9, 9, 5, 33)}},
    {.name = "ArgMax",
     .label = "empty_result",
     .since_version = 13,
     .attributes = {A_INT("axis", 1)},
     .inputs = {F32(0, 3)}},
    {.name = "ArgMax",
     .label = "empty_result_along_nothing",
     .since_version = 13,
     .attributes = {A_INT("axis", 1)},
     .inputs = {F32(5, 0, 0)}},
    {.name = "ArgMin", .label = "empty_result_along_nothing", .since_version = 13, .inputs = {F32(0, 0)}},
    {.name = "ArgMax",
     .label = "vector",
     .since_version = 13,
     .attributes = {A_INT("keepdims", 0)},
     .inputs = {F32(129)}},
    {.name = "ArgMax",
     .label = "int32",
     .since_version = 11,
     .attributes = {A_INT("axis", 1)},
     .inputs = {I32_RANGE(-9, 9, 5, 33)}},
    {.name = "ArgMin",
     .label = "last_axis",
     .since_version = 13,
     .variants = VIEW_SLICED | VIEW_TRANSPOSED | VIEW_OFFSET | VIEW_DYNAMIC,
     .threads = THREADS_8 | THREADS_16,
     .attributes = {A_INT("axis", -1)},
     .inputs = {F32(5, 3, 65)}},
    {.name = "ArgMin",
     .label = "middle_axis",
     .since_version = 11,
     .attributes = {A_INT("axis", 1), A_INT("keepdims", 0)},
     .inputs = {F32(5, 33, 7)}},
    {.name = "ArgMin",
     .label = "ties_first",
     .since_version = 13,
     .attributes = {A_INT("axis", 1)},
     .inputs = {F32_IS(DIMS(3, 4), 1, -2, -2, 0, 3, 3, 3, 3, -1, -2, -1, -2)}},
    {.name = "ArgMin",
     .label = "ties_last",
     .since_version = 13,
     .attributes = {A_INT("axis", 1), A_INT("select_last_index", 1)},
     .inputs = {F32_IS(DIMS(3, 4), 1, -2, -2, 0, 3, 3, 3, 3, -1, -2, -1, -2)}},
    {.name = "ArgMin",
     .label = "nan_among_many",
     .since_version = 13,
     .attributes = {A_INT("axis", 1), A_INT("select_last_index", 1)},
     .inputs = {F32_SPECIAL(1, 2, 20011)}},
    {.name = "ArgMin",
     .label = "int64",
     .since_version = 13,
     .attributes = {A_INT("axis", 1)},
     .inputs = {I64_RANGE(-9, 9, 5, 33)}},
    {.name = "ArgMin",
     .label = "int32",
     .since_version = 13,
     .attributes = {A_INT("axis", 1)},
     .inputs = {I32_RANGE(-9, 9, 5, 33)}},
    {.name = "TopK",
     .label = "float32",
     .since_version = 11,
     .outputs = 2,
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .inputs = {F32(5, 33), LIST(7)}},
    TOP_K("first_axis", 24, VIEWS, 0, 1, F32(33, 5), LIST(7)),
    TOP_K("middle_axis", 11, VIEWS, -2, 0, F32(2, 3, 19, 4), LIST(5)),
    TOP_K("vector", 11, 0, 0, 1, F32(100), LIST(3)),
    TOP_K("rank8", 11, 0, 3, 1, F32(2, 1, 2, 9, 1, 2, 1, 3), LIST(4)),
    TOP_K("one", 11, 0, -1, 1, F32(3, 1), LIST(1)),
    TOP_K("whole_rows", 11, VIEW_TRANSPOSED, -1, 1, F32(4, 64), LIST(64)),
    TOP_K("rows_of_257", 11, 0, -1, 0, F32(3, 257), LIST(257)),
    TOP_K("rows_of_512", 11, 0, -1, 1, F32(3, 512), LIST(100)),
    TOP_K("rows_of_1000", 11, 0, -1, 0, F32(3, 1000), LIST(999)),
    TOP_K("rows_of_2048", 11, VIEW_SLICED, -1, 1, F32(2, 2048), LIST(2048)),
    TOP_K("many_rows", 11, 0, -1, 1, F32(1500, 5), LIST(2)),
    TOP_K("many_columns", 11, 0, 0, 1, F32(6, 1500), LIST(2)),
    TOP_K("rows_of_2049", 11, VIEW_OFFSET, -1, 1, F32(2, 2049), LIST(1)),
    TOP_K("rows_of_4096", 24, 0, -1, 0, F32(2, 4096), LIST(2049)),
    TOP_K("rows_of_10000", 11, VIEW_TRANSPOSED | VIEW_DYNAMIC, -1, 1, F32(2, 10000), LIST(300)),
    TOP_K("long_columns", 11, VIEW_TRANSPOSED, 0, 1, F32(6200, 3), LIST(50)),
    TOP_K("whole_long_rows", 11, 0, -1, 0, F32(2, 6145), LIST(6145)),
    TOP_K("line_of_70000", 11, 0, 0, 1, F32(70000), LIST(20)),
    TOP_K("ties", 11, 0, -1, 1, F32_IS(DIMS(2, 6), 1, -0.0f, 1, 0, 2, 0, 0, -0.0f, 0, -0.0f, -1, -1), LIST(5)),
    TOP_K("ties_smallest", 11, 0, -1, 0, F32_IS(DIMS(2, 6), 1, -0.0f, 1, 0, 2, 0, 0, -0.0f, 0, -0.0f, -1, -1), LIST(5)),
    TOP_K("long_ties", 24, 0, -1, 0, I32_RANGE(0, 3, 2, 7000), LIST(2500)),
    TOP_K("special", 11, 0, -1, 1, F32_SPECIAL(1, 3, 37), LIST(30)),
    TOP_K("special_smallest", 11, 0, -1, 0, F32_SPECIAL(1, 3, 37), LIST(37)),
    TOP_K("long_special", 11, 0, -1, 1, F32_SPECIAL(3, 1, 4200), LIST(4000)),
    /* NaNs are equal, whatever their signs. */
    TOP_K("nans", 11, 0, -1, 1, F32_IS(DIMS(2, 5), -NAN, INFINITY, NAN, -INFINITY, -NAN, 1, NAN, -NAN, 2, NAN),
          LIST(4)),
    TOP_K("nans_smallest", 11, 0, -1, 0, F32_IS(DIMS(2, 5), -NAN, INFINITY, NAN, -INFINITY, -NAN, 1, NAN, -NAN, 2, NAN),
          LIST(5)),
    TOP_K("denormal", 11, 0, -1, 1, F32_DENORMAL(3, 40), LIST(40)),
    TOP_K("int64_extremes", 11, 0, -1, 1,
          I64_IS(DIMS(8), 0, 9223372036854775807, -1, -9223372036854775807, 4294967296, 4294967295, -4294967296, 1),
          LIST(8)),
    TOP_K("uint64_extremes", 11, 0, -1, 0,
          INTS_OF(LEATI_REF_UINT64, DIMS(8), 0, 9223372036854775807, -1, -9223372036854775807, 4294967296, 4294967295,
                  -2, 1),
          LIST(8)),
    TOP_K("none_wanted", 11, 0, -1, 1, F32(3, 7), LIST(0)),
    TOP_K("none_of_nothing", 11, 0, -1, 1, F32(3, 0), LIST(0)),
    TOP_K("no_rows", 11, 0, -1, 1, F32(0, 7), LIST(3)),
    /* The best one is the same sorted or not. */
    {.name = "TopK",
     .label = "unsorted",
     .since_version = 11,
     .outputs = 2,
     .attributes = {A_INT("sorted", 0)},
     .inputs = {F32(5, 33), LIST(1)}},
    {.name = "TopK", .label = "version_10", .since_version = 10, .outputs = 2, .inputs = {F32(5, 33), LIST(4)}},
    TOP_K_OF("float16", LEATI_REF_FLOAT16, -9, 9),
    TOP_K_OF("bfloat16", LEATI_REF_BFLOAT16, -9, 9),
    TOP_K_OF("int8", LEATI_REF_INT8, -128, 127),
    TOP_K_OF("int16", LEATI_REF_INT16, -32768, 32767),
    TOP_K_OF("int32", LEATI_REF_INT32, -2000000000, 2000000000),
    TOP_K_OF("int64", LEATI_REF_INT64, -2000000000, 2000000000),
    TOP_K_OF("uint8", LEATI_REF_UINT8, 0, 255),
    TOP_K_OF("uint16", LEATI_REF_UINT16, 0, 65535),
    TOP_K_OF("uint32", LEATI_REF_UINT32, 0, 2000000000),
    TOP_K_OF("uint64", LEATI_REF_UINT64, 0, 2000000000),

    /* The first versions take axes as attribute, and no negative ones; the last ones differ in what they say of
     * nothing.
     */
    CASE("ReduceSum", "version_1", 1, ATTRIBUTES(A_INTS("axes", 0, 2)), F32_RANGE(-2, 2, 5, 7, 9)),
    CASE("ReduceMean", "version_1", 1, ATTRIBUTES(A_INTS("axes", 0, 2)), F32_RANGE(-2, 2, 5, 7, 9)),
    CASE("ReduceMax", "version_1", 1, ATTRIBUTES(A_INTS("axes", 0, 2)), F32_RANGE(-2, 2, 5, 7, 9)),
    CASE("ReduceMin", "version_1", 1, ATTRIBUTES(A_INTS("axes", 0, 2)), F32_RANGE(-2, 2, 5, 7, 9)),
    CASE("ReduceProd", "version_1", 1, ATTRIBUTES(A_INTS("axes", 0, 2)), F32_RANGE(0.9, 1.1, 5, 7, 9)),
    CASE("ReduceL1", "version_1", 1, ATTRIBUTES(A_INTS("axes", 0, 2)), F32_RANGE(-2, 2, 5, 7, 9)),
    CASE("ReduceL2", "version_1", 1, ATTRIBUTES(A_INTS("axes", 0, 2)), F32_RANGE(-2, 2, 5, 7, 9)),
    CASE("ReduceSumSquare", "version_1", 1, ATTRIBUTES(A_INTS("axes", 0, 2)), F32_RANGE(-2, 2, 5, 7, 9)),
    CASE("ReduceLogSum", "version_1", 1, ATTRIBUTES(A_INTS("axes", 0, 2)), F32_RANGE(0.5, 3, 5, 7, 9)),
    CASE("ReduceLogSumExp", "version_1", 1, ATTRIBUTES(A_INTS("axes", 0, 2)), F32_RANGE(-2, 2, 5, 7, 9)),
    CASE("ReduceLogSum", "version_28", 28, NO_ATTRIBUTES, F32_RANGE(0.5, 3, 5, 7), LIST(1)),
    CASE("ReduceLogSumExp", "version_28", 28, NO_ATTRIBUTES, F32_RANGE(-2, 2, 5, 7), LIST(1)),
    CASE("ArgMax", "version_1", 1, ATTRIBUTES(A_INT("axis", 1)), F32(5, 33)),
    CASE("ArgMin", "version_1", 1, ATTRIBUTES(A_INT("axis", 1), A_INT("keepdims", 0)), F32(5, 33)),

    {.name = "TopK",
     .label = "float32_1",
     .since_version = 1,
     .outputs = 2,
     .variants = ALL_VIEWS,
     .threads = THREADS_8,
     .attributes = {A_INT("axis", 1), A_INT("k", 4)},
     .inputs = {RANGE_OF(LEATI_REF_FLOAT32, -9, 9, 5, 33)}},
    {.name = "TopK",
     .label = "float16_1",
     .since_version = 1,
     .outputs = 2,
     .variants = 0,
     .threads = 0,
     .attributes = {A_INT("axis", 1), A_INT("k", 4)},
     .inputs = {RANGE_OF(LEATI_REF_FLOAT16, -9, 9, 5, 33)}},
    {.name = "TopK",
     .label = "bfloat16_1",
     .since_version = 1,
     .outputs = 2,
     .variants = 0,
     .threads = 0,
     .attributes = {A_INT("axis", 1), A_INT("k", 4)},
     .inputs = {RANGE_OF(LEATI_REF_BFLOAT16, -9, 9, 5, 33)}},
};

void leati_rows_reduce(leat_case_list *list) {
  leati_op_cases_add(list, specs, G_N_ELEMENTS(specs));
}
