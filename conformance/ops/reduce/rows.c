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
};

void leati_rows_reduce(leat_case_list *list) {
  leati_op_cases_add(list, specs, G_N_ELEMENTS(specs));
}
