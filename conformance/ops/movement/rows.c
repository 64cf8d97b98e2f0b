/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of the operators that put elements elsewhere, and of those that make tensors out of numbers. */
#include "cases/sources.h"
#include "ops/core/refusal.h"

/* Rows of the element types that ABI 1.0 does not demand, for operators without attributes: the type's bytes are all
 * that counts. NO_MORE stands for the inputs behind the first. */
#define MOVED(op, type_label, t, most, version, views, ...)                                   \
  {                                                                                           \
    .name = op, .label = type_label, .since_version = version, .variants = views, .inputs = { \
      RANGE_OF(t, 0, most, 3, 1, 5),                                                          \
      __VA_ARGS__                                                                             \
    }                                                                                         \
  }
#define MOVED_OTHER(named, t, most, own, op, version, views, ...) MOVED(op, named, t, most, version, views, __VA_ARGS__)
#define MOVED_TYPES(op, version, views, ...)                                    \
  MOVED(op, "int32", LEATI_REF_INT32, 2000000000, version, views, __VA_ARGS__), \
      OTHER_TYPES_FOR(MOVED_OTHER, op, version, views, __VA_ARGS__)
#define FILLED(type_label, value)                                                                                 \
  {                                                                                                               \
    .name = "ConstantOfShape", .label = type_label, .since_version = 9, .attributes = {A_TENSOR("value", value)}, \
    .inputs = {                                                                                                   \
      LIST(3, 5, 7)                                                                                               \
    }                                                                                                             \
  }

/* Rows of a type that ABI 1.0 does not demand; what moves elements looks at nothing but their size. */
#define OF_TYPE(op, named, version, wanted, views, attributes_given, ...)                       \
  {                                                                                             \
    .name = op, .label = named, .since_version = version, .outputs = wanted, .variants = views, \
    .attributes = attributes_given, .inputs = {                                                 \
      __VA_ARGS__                                                                               \
    }                                                                                           \
  }
#define CONCAT_OF(named, t, most, views)                                                           \
  OF_TYPE("Concat", named, 13, 1, views, ATTRIBUTES(A_INT("axis", 1)), RANGE_OF(t, 0, most, 3, 5), \
          RANGE_OF(t, 0, most, 3, 2))
#define SPLIT_OF(named, t, most, views) \
  OF_TYPE("Split", named, 13, 2, views, ATTRIBUTES(A_INT("axis", 1)), RANGE_OF(t, 0, most, 3, 7), LIST(5, 2))
#define SLICE_OF(named, t, most, views)                                                                                \
  OF_TYPE("Slice", named, 13, 1, views, NO_ATTRIBUTES, RANGE_OF(t, 0, most, 5, 9), LIST(1, 7), LIST(4, 0), LIST(0, 1), \
          LIST(1, -2))
#define PAD_OF(named, t, most, views)                                                              \
  OF_TYPE("Pad", named, 13, 1, views, NO_ATTRIBUTES, RANGE_OF(t, 0, most, 5, 3), LIST(1, 0, 0, 2), \
          {.fill = LEATI_FILL_UNIFORM, .type = t, .low = most, .high = most, NO_DIMS})
/* Operators of domain "leat". */
#define OF_LEAT(op, named, views, used_threads, given, ...)                                                       \
  {                                                                                                               \
    .name = op, .label = named, .since_version = 1, .domain = "leat", .variants = views, .threads = used_threads, \
    .attributes = given, .inputs = {                                                                              \
      __VA_ARGS__                                                                                                 \
    }                                                                                                             \
  }
#define PLACES(from, shape, strides) ATTRIBUTES(A_INT("offset", from), shape, strides)
#define ROLL(shifts, axes) ATTRIBUTES(shifts, axes)
#define TYPES_OF_LEAT(ROW)                                                                                         \
  OTHER_TYPES(ROW), ROW("int32", LEATI_REF_INT32, 2000000000, 0), ROW("uint8", LEATI_REF_UINT8, 255, VIEW_OFFSET), \
      ROW("int64", LEATI_REF_INT64, 2000000000, 0), ROW("bool", LEATI_REF_BOOL, 1, 0)
#define AS_STRIDED_OF(named, t, most, views)                                                       \
  OF_LEAT("AsStrided", named, views, 0, PLACES(3, A_INTS("shape", 3, 4), A_INTS("strides", 2, 5)), \
          RANGE_OF(t, 0, most, 3, 9))
#define AS_STRIDED_SCATTER_OF(named, t, most, views)                                                      \
  OF_LEAT("AsStridedScatter", named, views, 0, PLACES(3, A_INTS("shape", 3, 4), A_INTS("strides", 1, 6)), \
          RANGE_OF(t, 0, most, 3, 9), RANGE_OF(t, 0, most, 3, 4))
#define ROLL_OF(named, t, most, views) \
  OF_LEAT("Roll", named, views, 0, ROLL(A_INTS("shifts", 2), A_INTS("axes", 1)), RANGE_OF(t, 0, most, 3, 9))
#define EXPAND_OF(named, t, most, views) \
  OF_TYPE("Expand", named, 13, 1, views, NO_ATTRIBUTES, RANGE_OF(t, 0, most, 5, 1, 7), LIST(3, 1, 4, 7))
#define TILE_OF(named, t, most, views) \
  OF_TYPE("Tile", named, 13, 1, views, NO_ATTRIBUTES, RANGE_OF(t, 0, most, 3, 5), LIST(2, 3))
#define TRANSPOSE_OF(named, t, most, views) \
  OF_TYPE("Transpose", named, 13, 1, views, ATTRIBUTES(A_INTS("perm", 2, 0, 1)), RANGE_OF(t, 0, most, 3, 5, 7))
/* Matrices with edges around the tiles in which a backend may transpose, items of each size, from aligned addresses and
 * from others. */
#define TRANSPOSE_EDGE(named, t, most, rows, columns)                                                                  \
  OF_TYPE("Transpose", "tiles_" #rows "x" #columns "_" named, 13, 1, VIEW_OFFSET, ATTRIBUTES(A_INTS("perm", 0, 2, 1)), \
          RANGE_OF(t, 0, most, 2, rows, columns))
#define EDGES_OF(EDGE, named, t, most)                                                          \
  EDGE(named, t, most, 15, 17), EDGE(named, t, most, 16, 16), EDGE(named, t, most, 31, 33),     \
      EDGE(named, t, most, 32, 32), EDGE(named, t, most, 36, 31), EDGE(named, t, most, 63, 64), \
      EDGE(named, t, most, 68, 60)
#define EDGES(EDGE)                                                                                 \
  EDGES_OF(EDGE, "uint8", LEATI_REF_UINT8, 255), EDGES_OF(EDGE, "uint16", LEATI_REF_UINT16, 65535), \
      EDGES_OF(EDGE, "int32", LEATI_REF_INT32, 2000000000), EDGES_OF(EDGE, "int64", LEATI_REF_INT64, 2000000000)
#define DEPTH_TO_SPACE_OF(named, t, most, views) \
  OF_TYPE("DepthToSpace", named, 13, 1, views, ATTRIBUTES(A_INT("blocksize", 2)), RANGE_OF(t, 0, most, 1, 4, 3, 5))
#define SPACE_TO_DEPTH_OF(named, t, most, views) \
  OF_TYPE("SpaceToDepth", named, 13, 1, views, ATTRIBUTES(A_INT("blocksize", 2)), RANGE_OF(t, 0, most, 1, 3, 4, 6))
#define TRILU_OF(named, t, most, views) \
  OF_TYPE("Trilu", named, 14, 1, views, NO_ATTRIBUTES, RANGE_OF(t, 0, most, 5, 7), I64_IS(NO_DIMS, 1))

/* The same under other names: Trilu of com.microsoft, and DynamicSlice, which is Slice without steps. */
#define TRILU_MICROSOFT(named, t, most, views)                                                                     \
  {                                                                                                                \
    .name = "Trilu", .label = "microsoft_" named, .since_version = 1, .domain = LEAT_MICROSOFT, .variants = views, \
    .inputs = {                                                                                                    \
      RANGE_OF(t, 0, most, 5, 7),                                                                                  \
      I64_IS(NO_DIMS, 1)                                                                                           \
    }                                                                                                              \
  }
#define DYNAMIC_SLICE(named, t, most, views)                                                   \
  {                                                                                            \
    .name = "DynamicSlice", .label = named, .since_version = 1, .variants = views, .inputs = { \
      RANGE_OF(t, 0, most, 5, 9),                                                              \
      LIST(1, 2),                                                                              \
      LIST(4, -1),                                                                             \
      LIST(0, 1)                                                                               \
    }                                                                                          \
  }
#define FURTHER_TYPES(ROW)                                                                                      \
  OTHER_TYPES(ROW), ROW("int64", LEATI_REF_INT64, 2000000000, 0), ROW("int32", LEATI_REF_INT32, 2000000000, 0), \
      ROW("uint8", LEATI_REF_UINT8, 255, 0), ROW("bool", LEATI_REF_BOOL, 1, 0)

#define EYE_LIKE_OF(named, t, most, views) \
  OF_TYPE("EyeLike", named, 22, 1, views, NO_ATTRIBUTES, RANGE_OF(t, 0, most, 5, 7))

/* Constants of ConstantOfShape. */
#define CONSTANT(type_code, type_bits, value) \
  (&(const DLTensor){.data = value, .device = {kDLCPU, 0}, .ndim = 1, .dtype = {type_code, type_bits, 1}, .shape = one})
static int64_t one[] = {1};
static float float_value[] = {2.5f};
static int64_t int64_value[] = {-9223372036854775807};
static int32_t int32_value[] = {-77};
static uint8_t bool_value[] = {1};
static uint16_t float16_value[] = {0xC248}; /* -3.140625 */
static uint16_t bfloat16_value[] = {0xC049};
static double float64_value[] = {-0.1};
static int16_t int16_value[] = {-12345};
static int8_t int8_value[] = {-77};
static uint64_t uint64_value[] = {UINT64_C(0xF123456789ABCDEF)};
static uint32_t uint32_value[] = {0xF1234567};
static uint16_t uint16_value[] = {0xF123};
static uint8_t uint8_value[] = {0xF1};

/* From a number that float16 has as a subnormal one. */
#define SCALAR_OF(t, value) \
  { .fill = LEATI_FILL_UNIFORM, .type = t, .low = value, .high = value, NO_DIMS }
#define HALF_RANGE(named, t) \
  CASE("Range", named, 27, NO_ATTRIBUTES, SCALAR_OF(t, -1e-6), SCALAR_OF(t, 40), SCALAR_OF(t, 0.3))

/* Rows of earlier versions, in which lists were attributes: of each type. */
#define EARLIER_TYPE(op, named, t, most, version, outputs_, ...)                                            \
  {                                                                                                         \
    .name = op, .label = named, .since_version = version, .outputs = outputs_, .attributes = {__VA_ARGS__}, \
    .inputs = {                                                                                             \
      RANGE_OF(t, 0, most, 4, 1, 6)                                                                         \
    }                                                                                                       \
  }
#define EARLIER_OTHER(named, t, most, own, op, version, outputs_, ...) \
  EARLIER_TYPE(op, named "_" #version, t, most, version, outputs_, __VA_ARGS__)
#define EARLIER(op, version, outputs_, ...)                                                             \
  EARLIER_TYPE(op, "float32_" #version, LEATI_REF_FLOAT32, 1000, version, outputs_, __VA_ARGS__),       \
      EARLIER_TYPE(op, "int64_" #version, LEATI_REF_INT64, 2000000000, version, outputs_, __VA_ARGS__), \
      EARLIER_TYPE(op, "int32_" #version, LEATI_REF_INT32, 2000000000, version, outputs_, __VA_ARGS__), \
      EARLIER_TYPE(op, "uint8_" #version, LEATI_REF_UINT8, 255, version, outputs_, __VA_ARGS__),        \
      EARLIER_TYPE(op, "bool_" #version, LEATI_REF_BOOL, 1, version, outputs_, __VA_ARGS__),            \
      OTHER_TYPES_FOR(EARLIER_OTHER, op, version, outputs_, __VA_ARGS__)

#define OWN(op, named, views, attributes_given, ...)                                                                 \
  {                                                                                                                  \
    .name = op, .label = "of_com_microsoft_" named, .since_version = 1, .domain = LEAT_MICROSOFT, .variants = views, \
    .attributes = attributes_given, .inputs = {                                                                      \
      __VA_ARGS__                                                                                                    \
    }                                                                                                                \
  }
#define WINDOWS(dim_, size_, step_) ATTRIBUTES(A_INT("dim", dim_), A_INT("size", size_), A_INT("step", step_))
#define UNFOLD_OF(named, t, most, views)                                                                     \
  {                                                                                                          \
    .name = "UnfoldTensor", .label = named, .since_version = 1, .domain = LEAT_MICROSOFT, .variants = views, \
    .attributes = {A_INT("size", 3)}, .inputs = {                                                            \
      RANGE_OF(t, 0, most, 3, 7)                                                                             \
    }                                                                                                        \
  }

/* Each window, of each type. */
#define COSINE_WINDOWS(op)                                                                                 \
  VIEWED(op, "float32", 17, VIEW_DYNAMIC, THREADS_8 | THREADS_16, ATTRIBUTES(A_INT("output_datatype", 1)), \
         I64_IS(NO_DIMS, 400)),                                                                            \
      CASE(op, "symmetric", 17, ATTRIBUTES(A_INT("periodic", 0)), I64_IS(NO_DIMS, 401)),                   \
      CASE(op, "float16", 17, ATTRIBUTES(A_INT("output_datatype", 10)), I32_IS(NO_DIMS, 33)),              \
      CASE(op, "bfloat16", 17, ATTRIBUTES(A_INT("output_datatype", 16), A_INT("periodic", 0)), LIST(34)),  \
      CASE(op, "one_element", 17, NO_ATTRIBUTES, I64_IS(NO_DIMS, 1)),                                      \
      CASE(op, "two_symmetric", 17, ATTRIBUTES(A_INT("periodic", 0)), I64_IS(NO_DIMS, 2)),                 \
      CASE(op, "empty", 17, ATTRIBUTES(A_INT("periodic", 0)), I64_IS(NO_DIMS, 0))

static const leati_op_spec specs[] = {
    OWN("Pad", "float32", VIEWS, NO_ATTRIBUTES, F32(3, 5, 7), LIST(1, 0, 2, 0, 3, 1), F32_IS(NO_DIMS, 2.5f)),
    OWN("Pad", "float16", 0, NO_ATTRIBUTES, RANGE_OF(LEATI_REF_FLOAT16, -9, 9, 5, 3), LIST(1, 0, 0, 2)),
    OWN("Pad", "float64", 0, NO_ATTRIBUTES, RANGE_OF(LEATI_REF_FLOAT64, -9, 9, 5, 3), LIST(1, 0, 0, 2)),
    OWN("Pad", "edge", 0, ATTRIBUTES(A_STRING("mode", "edge")), F32(3, 5), LIST(1, 2, 3, 0)),
    OWN("Range", "int64", VIEW_DYNAMIC, NO_ATTRIBUTES, I64_IS(NO_DIMS, 3), I64_IS(NO_DIMS, 100), I64_IS(NO_DIMS, 7)),
    OWN("Range", "by_one", 0, NO_ATTRIBUTES, I64_IS(NO_DIMS, -3), I64_IS(DIMS(1), 10)),
    OWN("Range", "int32", 0, NO_ATTRIBUTES, I32_IS(NO_DIMS, 0), I32_IS(NO_DIMS, 33)),
    OWN("Range", "float32", 0, NO_ATTRIBUTES, F32_IS(NO_DIMS, 0.5f), F32_IS(NO_DIMS, 9.0f)),
    UNFOLD_OF("float32", LEATI_REF_FLOAT32, 1000, ALL_VIEWS),
    UNFOLD_OF("int64", LEATI_REF_INT64, 1000, 0),
    UNFOLD_OF("int32", LEATI_REF_INT32, 1000, 0),
    UNFOLD_OF("uint8", LEATI_REF_UINT8, 255, 0),
    UNFOLD_OF("bool", LEATI_REF_BOOL, 1, 0),
    OTHER_TYPES(UNFOLD_OF),
    OWN("UnfoldTensor", "windows", VIEWS, WINDOWS(1, 4, 2), F32(3, 9, 5)),
    OWN("UnfoldTensor", "one_window", 0, WINDOWS(-2, 9, INT64_MAX), F32(3, 9, 5)),
    OWN("UnfoldTensor", "apart", 0, WINDOWS(0, 1, 4), F32(9)),
    OWN("UnfoldTensor", "empty", 0, WINDOWS(1, 2, 1), F32(0, 4)),
    VIEWED("Identity", "float32", 13, ALL_VIEWS, THREADS_8, NO_ATTRIBUTES, F32(3, 5, 7)),
    CASE("Identity", "denormal", 14, NO_ATTRIBUTES, F32_DENORMAL(5, 33)),
    CASE("Identity", "special", 16, NO_ATTRIBUTES, F32_SPECIAL(1, 16)),
    CASE("Identity", "int64", 19, NO_ATTRIBUTES, I64_RANGE(-99, 99, 5, 7)),
    VIEWED("Identity", "bool", 21, VIEW_SLICED, 0, NO_ATTRIBUTES, BOOLS(5, 7)),
    VIEWED("Identity", "uint8", 13, VIEW_SLICED | VIEW_OFFSET, 0, NO_ATTRIBUTES, U8_RANGE(0, 255, 5, 7)),
    CASE("Identity", "rank0", 13, NO_ATTRIBUTES, F32_SCALAR),
    CASE("Identity", "empty", 13, NO_ATTRIBUTES, F32(3, 0)),
    MOVED_TYPES("Identity", 25, VIEW_SLICED | VIEW_OFFSET, NO_MORE),

    /* BitCast to each type, and from each. */
    VIEWED("BitCast", "float32_to_int32", 26, ALL_VIEWS, THREADS_8, ATTRIBUTES(A_INT("to", 6)), F32(3, 5, 7)),
    CASE("BitCast", "special_to_uint32", 26, ATTRIBUTES(A_INT("to", 12)), F32_SPECIAL(1, SPECIAL_COUNT)),
    CASE("BitCast", "int32_to_float32", 26, ATTRIBUTES(A_INT("to", 1)), I32_RANGE(-2000000000, 2000000000, 5, 33)),
    CASE("BitCast", "uint32_to_float32", 26, ATTRIBUTES(A_INT("to", 1)), RANGE_OF(LEATI_REF_UINT32, 0, 9, 5, 33)),
    CASE("BitCast", "int64_to_float64", 26, ATTRIBUTES(A_INT("to", 11)), I64_RANGE(-99, 99, 5, 7)),
    CASE("BitCast", "float64_to_uint64", 26, ATTRIBUTES(A_INT("to", 13)), RANGE_OF(LEATI_REF_FLOAT64, -2, 2, 5, 7)),
    CASE("BitCast", "uint64_to_int64", 26, ATTRIBUTES(A_INT("to", 7)), RANGE_OF(LEATI_REF_UINT64, 0, 99, 5, 7)),
    VIEWED("BitCast", "float16_to_bfloat16", 26, VIEW_SLICED | VIEW_OFFSET, 0, ATTRIBUTES(A_INT("to", 16)),
           RANGE_OF(LEATI_REF_FLOAT16, -9, 9, 5, 7)),
    CASE("BitCast", "bfloat16_to_int16", 26, ATTRIBUTES(A_INT("to", 5)), RANGE_OF(LEATI_REF_BFLOAT16, -9, 9, 5, 7)),
    CASE("BitCast", "int16_to_uint16", 26, ATTRIBUTES(A_INT("to", 4)), RANGE_OF(LEATI_REF_INT16, -99, 99, 5, 7)),
    CASE("BitCast", "uint16_to_float16", 26, ATTRIBUTES(A_INT("to", 10)), RANGE_OF(LEATI_REF_UINT16, 0, 65535, 5, 33)),
    CASE("BitCast", "int8_to_uint8", 26, ATTRIBUTES(A_INT("to", 2)), RANGE_OF(LEATI_REF_INT8, -128, 127, 5, 7)),
    VIEWED("BitCast", "uint8_to_int8", 26, VIEW_SLICED | VIEW_OFFSET, 0, ATTRIBUTES(A_INT("to", 3)),
           U8_RANGE(0, 255, 5, 7)),
    CASE("BitCast", "bool_to_uint8", 26, ATTRIBUTES(A_INT("to", 2)), BOOLS(5, 7)),
    CASE("BitCast", "uint8_to_bool", 26, ATTRIBUTES(A_INT("to", 9)), U8_RANGE(0, 1, 5, 7)),
    CASE("BitCast", "rank0", 26, ATTRIBUTES(A_INT("to", 6)), F32_SCALAR),
    CASE("BitCast", "empty", 26, ATTRIBUTES(A_INT("to", 6)), F32(3, 0)),

    /* Views of domain "leat": overlapping ones are read, not written. */
    OF_LEAT("AsStrided", "float32", ALL_VIEWS, THREADS_8 | THREADS_16,
            PLACES(3, A_INTS("shape", 3, 4), A_INTS("strides", 1, 5)), F32(3, 9)),
    OF_LEAT("AsStrided", "windows", 0, 0, PLACES(0, A_INTS("shape", 7, 3), A_INTS("strides", 1, 1)), F32(9)),
    OF_LEAT("AsStrided", "repeated", 0, 0, PLACES(4, A_INTS("shape", 2, 5, 3), A_INTS("strides", 0, 0, 7)), F32(5, 7)),
    OF_LEAT("AsStrided", "backwards", 0, 0, PLACES(34, A_INTS("shape", 5, 7), A_INTS("strides", -7, -1)), F32(5, 7)),
    OF_LEAT("AsStrided", "one_element", 0, 0, ATTRIBUTES(A_INT("offset", 8)), F32(9)),
    OF_LEAT("AsStrided", "empty", 0, 0, PLACES(99, A_INTS("shape", 0, 7), A_INTS("strides", 1, 1)), F32(5, 7)),
    TYPES_OF_LEAT(AS_STRIDED_OF),
    OF_LEAT("AsStridedScatter", "float32", ALL_VIEWS, THREADS_8 | THREADS_16,
            PLACES(2, A_INTS("shape", 4, 3), A_INTS("strides", 2, 9)), F32(3, 9), F32(4, 3)),
    OF_LEAT("AsStridedScatter", "backwards", 0, 0, PLACES(34, A_INTS("shape", 5, 3), A_INTS("strides", -7, -2)),
            F32(5, 7), F32(5, 3)),
    OF_LEAT("AsStridedScatter", "all", 0, 0, PLACES(0, A_INTS("shape", 7, 5), A_INTS("strides", 1, 7)), F32(5, 7),
            F32(7, 5)),
    OF_LEAT("AsStridedScatter", "one_of_size_1", 0, 0, PLACES(2, A_INTS("shape", 3, 1), A_INTS("strides", 1, 0)),
            F32(9), F32(3, 1)),
    OF_LEAT("AsStridedScatter", "nothing", 0, 0, PLACES(0, A_INTS("shape", 0, 5), A_INTS("strides", 0, 0)), F32(9),
            F32(0, 5)),
    TYPES_OF_LEAT(AS_STRIDED_SCATTER_OF),
    OF_LEAT("Roll", "float32", ALL_VIEWS, THREADS_8 | THREADS_16, ROLL(A_INTS("shifts", 2, -1), A_INTS("axes", 1, -1)),
            F32(3, 5, 7)),
    OF_LEAT("Roll", "flat", VIEWS, 0, ATTRIBUTES(A_INTS("shifts", 4)), F32(5, 7)),
    OF_LEAT("Roll", "many_times", 0, 0, ROLL(A_INTS("shifts", INT64_MAX, INT64_MIN), A_INTS("axes", 0, 1)), F32(5, 7)),
    OF_LEAT("Roll", "not_at_all", 0, 0, ROLL(A_INTS("shifts", 5, 0), A_INTS("axes", 0, 1)), F32(5, 7)),
    OF_LEAT("Roll", "scalar", 0, 0, ATTRIBUTES(A_INTS("shifts", 3)), F32_SCALAR),
    OF_LEAT("Roll", "empty", 0, 0, ROLL(A_INTS("shifts", 3), A_INTS("axes", 1)), F32(5, 0)),
    OF_LEAT("Roll", "rank8", 0, 0,
            ROLL(A_INTS("shifts", 1, 1, 1, 1, 1, 1, 1, 1), A_INTS("axes", 0, 1, 2, 3, 4, 5, 6, 7)),
            F32(2, 3, 1, 2, 3, 2, 1, 2)),
    TYPES_OF_LEAT(ROLL_OF),

    /* Transpose. */
    VIEWED("Transpose", "float32", 13, ALL_VIEWS, THREADS_ALL, ATTRIBUTES(A_INTS("perm", 0, 2, 1, 3)), F32(2, 5, 7, 9)),
    CASE("Transpose", "reverse", 13, NO_ATTRIBUTES, F32(3, 5, 7)),
    CASE("Transpose", "matrix_tile_edges", 21, ATTRIBUTES(A_INTS("perm", 1, 0)), F32(65, 67)),
    EDGES(TRANSPOSE_EDGE),
    CASE("Transpose", "many_tiles", 13, ATTRIBUTES(A_INTS("perm", 1, 0)), F32(1540, 1412)),
    CASE("Transpose", "rank6_tiles", 13, ATTRIBUTES(A_INTS("perm", 5, 0, 3, 1, 4, 2)), F32(2, 3, 36, 2, 3, 20)),
    CASE("Transpose", "none", 13, ATTRIBUTES(A_INTS("perm", 0, 1, 2)), F32(3, 5, 7)),
    CASE("Transpose", "channels_last", 23, ATTRIBUTES(A_INTS("perm", 0, 2, 3, 1)), F32(2, 5, 7, 9)),
    CASE("Transpose", "last_two_batched", 13, ATTRIBUTES(A_INTS("perm", 0, 1, 3, 2)), F32(2, 3, 33, 17)),
    VIEWED("Transpose", "rank8", 13, VIEW_REVERSED, 0, ATTRIBUTES(A_INTS("perm", 7, 2, 0, 5, 1, 6, 4, 3)),
           F32(2, 3, 1, 2, 3, 2, 1, 2)),
    CASE("Transpose", "rank1", 13, NO_ATTRIBUTES, F32(7)),
    CASE("Transpose", "rank0", 13, NO_ATTRIBUTES, F32_SCALAR),
    CASE("Transpose", "empty", 13, NO_ATTRIBUTES, F32(3, 0, 2)),
    CASE("Transpose", "denormal", 13, NO_ATTRIBUTES, F32_DENORMAL(5, 7)),
    CASE("Transpose", "int64", 13, NO_ATTRIBUTES, I64_RANGE(-99, 99, 5, 7)),
    VIEWED("Transpose", "bool", 13, VIEW_SLICED, 0, NO_ATTRIBUTES, BOOLS(5, 7)),
    VIEWED("Transpose", "uint8", 13, VIEW_SLICED, 0, NO_ATTRIBUTES, U8_RANGE(0, 255, 5, 7)),
    CASE("Transpose", "int32", 13, NO_ATTRIBUTES, I32_RANGE(-99, 99, 5, 7)),
    OTHER_TYPES(TRANSPOSE_OF),

    /* The same elements in another shape. */
    VIEWED("Reshape", "float32", 14, ALL_VIEWS, THREADS_8, NO_ATTRIBUTES, F32(3, 5, 8), LIST(6, 20)),
    CASE("Reshape", "minus_one", 13, NO_ATTRIBUTES, F32(3, 5, 8), LIST(2, -1, 4)),
    CASE("Reshape", "copied_dim", 14, NO_ATTRIBUTES, F32(3, 5, 8), LIST(0, 0, 2, -1)),
    CASE("Reshape", "to_scalar", 19, NO_ATTRIBUTES, F32(1, 1), EMPTY_LIST),
    CASE("Reshape", "from_scalar", 21, NO_ATTRIBUTES, F32_SCALAR, LIST(1, 1, 1)),
    CASE("Reshape", "to_rank8", 25, NO_ATTRIBUTES, F32(24), LIST(1, 2, 1, 3, 1, 4, 1, 1)),
    CASE("Reshape", "allow_zero", 14, ATTRIBUTES(A_INT("allowzero", 1)), F32(0, 3), LIST(3, 0)),
    CASE("Reshape", "empty", 14, NO_ATTRIBUTES, F32(0, 3), LIST(3, -1)),
    CASE("Reshape", "int64", 14, NO_ATTRIBUTES, I64_RANGE(-99, 99, 5, 8), LIST(-1)),
    CASE("Reshape", "bool", 14, NO_ATTRIBUTES, BOOLS(5, 8), LIST(-1)),
    MOVED_TYPES("Reshape", 25, 0, LIST(5, -1)),
    MOVED("Reshape", "uint8", LEATI_REF_UINT8, 255, 25, 0, LIST(5, -1)),
    VIEWED("Flatten", "float32", 13, VIEW_DYNAMIC, THREADS_8, NO_ATTRIBUTES, F32(3, 5, 7)),
    CASE("Flatten", "axis_zero", 13, ATTRIBUTES(A_INT("axis", 0)), F32(3, 5, 7)),
    CASE("Flatten", "axis_rank", 21, ATTRIBUTES(A_INT("axis", 3)), F32(3, 5, 7)),
    CASE("Flatten", "axis_negative", 25, ATTRIBUTES(A_INT("axis", -1)), F32(3, 5, 7)),
    CASE("Flatten", "empty", 13, NO_ATTRIBUTES, F32(3, 0, 7)),
    MOVED_TYPES("Flatten", 25, 0, NO_MORE),
    MOVED("Flatten", "int64", LEATI_REF_INT64, 2000000000, 13, 0, NO_MORE),
    MOVED("Flatten", "uint8", LEATI_REF_UINT8, 255, 13, 0, NO_MORE),
    MOVED("Flatten", "bool", LEATI_REF_BOOL, 1, 13, 0, NO_MORE),
    VIEWED("Squeeze", "float32", 13, VIEW_DYNAMIC, THREADS_8, NO_ATTRIBUTES, F32(1, 5, 1, 7, 1), LIST(0, -1)),
    CASE("Squeeze", "all", 21, NO_ATTRIBUTES, F32(1, 5, 1, 7, 1)),
    CASE("Squeeze", "to_scalar", 13, NO_ATTRIBUTES, F32(1, 1), LIST(0, 1)),
    CASE("Squeeze", "nothing", 25, NO_ATTRIBUTES, F32(3, 5)),
    CASE("Squeeze", "int64", 13, NO_ATTRIBUTES, I64_RANGE(-99, 99, 1, 7), LIST(0)),
    MOVED_TYPES("Squeeze", 25, 0, LIST(1)),
    MOVED("Squeeze", "uint8", LEATI_REF_UINT8, 255, 13, 0, LIST(-2)),
    MOVED("Squeeze", "bool", LEATI_REF_BOOL, 1, 13, 0, LIST(-2)),
    VIEWED("Unsqueeze", "float32", 13, VIEW_DYNAMIC, THREADS_8, NO_ATTRIBUTES, F32(3, 5, 7), LIST(1, -1)),
    CASE("Unsqueeze", "unsorted", 21, NO_ATTRIBUTES, F32(3, 5), LIST(3, 0)),
    CASE("Unsqueeze", "scalar", 13, NO_ATTRIBUTES, F32_SCALAR, LIST(0)),
    CASE("Unsqueeze", "to_rank8", 25, NO_ATTRIBUTES, F32(3, 5), LIST(0, 1, 2, -1, 4, 5)),
    CASE("Unsqueeze", "int64", 13, NO_ATTRIBUTES, I64_IS(NO_DIMS, 5), LIST(0)),
    MOVED_TYPES("Unsqueeze", 25, 0, LIST(1)),
    MOVED("Unsqueeze", "uint8", LEATI_REF_UINT8, 255, 13, 0, LIST(-2)),
    MOVED("Unsqueeze", "bool", LEATI_REF_BOOL, 1, 13, 0, LIST(-2)),

    /* Concat and Split. */
    VIEWED("Concat", "float32", 13, ALL_VIEWS, THREADS_8, ATTRIBUTES(A_INT("axis", 1)), F32(3, 5, 7), F32(3, 2, 7),
           F32(3, 1, 7)),
    CASE("Concat", "last_axis", 13, ATTRIBUTES(A_INT("axis", -1)), F32(9, 3), F32(9, 33)),
    CASE("Concat", "first_axis", 13, ATTRIBUTES(A_INT("axis", 0)), F32(3, 9), F32(1, 9)),
    CASE("Concat", "one", 13, ATTRIBUTES(A_INT("axis", 0)), F32(3, 9)),
    CASE("Concat", "eight", 13, ATTRIBUTES(A_INT("axis", 0)), F32(1, 5), F32(2, 5), F32(3, 5), F32(1, 5), F32(2, 5),
         F32(3, 5), F32(1, 5), F32(2, 5)),
    CASE("Concat", "with_empty", 13, ATTRIBUTES(A_INT("axis", 0)), F32(3, 5), F32(0, 5), F32(2, 5)),
    CASE("Concat", "all_empty", 13, ATTRIBUTES(A_INT("axis", 1)), F32(0, 5), F32(0, 2)),
    CASE("Concat", "denormal", 13, ATTRIBUTES(A_INT("axis", 0)), F32_DENORMAL(3, 5), F32_SPECIAL(1, 4, 5)),
    CASE("Concat", "int64", 13, ATTRIBUTES(A_INT("axis", 0)), I64_RANGE(-99, 99, 3), I64_RANGE(-99, 99, 2)),
    CASE("Concat", "bool", 13, ATTRIBUTES(A_INT("axis", 1)), BOOLS(3, 5), BOOLS(3, 2)),
    CASE("Concat", "uint8", 13, ATTRIBUTES(A_INT("axis", 1)), U8_RANGE(0, 255, 3, 5), U8_RANGE(0, 255, 3, 2)),
    CONCAT_OF("int32", LEATI_REF_INT32, 2000000000, 0),
    OTHER_TYPES(CONCAT_OF),
    {.name = "Split",
     .label = "float32",
     .since_version = 13,
     .outputs = 3,
     .variants = ALL_VIEWS,
     .threads = THREADS_8,
     .attributes = {A_INT("axis", 1)},
     .inputs = {F32(3, 9, 7), LIST(2, 4, 3)}},
    {.name = "Split",
     .label = "equal",
     .since_version = 13,
     .outputs = 3,
     .attributes = {A_INT("axis", -1)},
     .inputs = {F32(5, 9)}},
    {.name = "Split",
     .label = "num_outputs",
     .since_version = 18,
     .outputs = 4,
     .attributes = {A_INT("axis", 0), A_INT("num_outputs", 4)},
     .inputs = {F32(11, 3)}},
    {.name = "Split", .label = "with_empty", .since_version = 18, .outputs = 3, .inputs = {F32(5, 3), LIST(2, 0, 3)}},
    {.name = "Split", .label = "one", .since_version = 18, .outputs = 1, .inputs = {F32(5, 3), LIST(5)}},
    {.name = "Split", .label = "int64", .since_version = 13, .outputs = 2, .inputs = {I64_RANGE(-99, 99, 6, 3)}},
    SPLIT_OF("int32", LEATI_REF_INT32, 2000000000, 0),
    SPLIT_OF("uint8", LEATI_REF_UINT8, 255, VIEW_SLICED | VIEW_OFFSET),
    SPLIT_OF("bool", LEATI_REF_BOOL, 1, 0),
    OTHER_TYPES(SPLIT_OF),

    /* Slice. */
    VIEWED("Slice", "float32", 13, ALL_VIEWS, THREADS_8, NO_ATTRIBUTES, F32(7, 9, 11), LIST(1, 2), LIST(6, 9),
           LIST(0, 2), LIST(2, 3)),
    CASE("Slice", "no_axes", 13, NO_ATTRIBUTES, F32(7, 9), LIST(1, 2), LIST(6, 9)),
    CASE("Slice", "absent_axes", 13, NO_ATTRIBUTES, F32(7, 9), LIST(1, 2), LIST(6, 9), ABSENT, LIST(1, 2)),
    CASE("Slice", "negative", 13, NO_ATTRIBUTES, F32(7, 9), LIST(-5, -3), LIST(-1, 9223372036854775807), LIST(-2, -1)),
    CASE("Slice", "backwards", 13, NO_ATTRIBUTES, F32(7, 9), LIST(-1, 7), LIST(-9223372036854775807, 1), LIST(0, 1),
         LIST(-1, -3)),
    CASE("Slice", "backwards_from_before", 13, NO_ATTRIBUTES, F32(7, 9), LIST(-100, -10), LIST(-100, -100), LIST(0, 1),
         LIST(-1, -2)),
    CASE("Slice", "backwards_to_before", 13, NO_ATTRIBUTES, F32(7, 9), LIST(-100), LIST(-7), LIST(0), LIST(-1)),
    CASE("Slice", "backwards_to_the_end", 13, NO_ATTRIBUTES, F32(7, 9), LIST(3), LIST(9223372036854775807), LIST(0),
         LIST(-1)),
    CASE("Slice", "backwards_of_nothing", 13, NO_ATTRIBUTES, F32(7, 0), LIST(-1), LIST(-100), LIST(1), LIST(-1)),
    CASE("Slice", "out_of_bounds", 13, NO_ATTRIBUTES, F32(7, 9), LIST(-100, 5), LIST(100, 1000), LIST(0, 1)),
    CASE("Slice", "to_nothing", 13, NO_ATTRIBUTES, F32(7, 9), LIST(5), LIST(5), LIST(0)),
    CASE("Slice", "end_before_start", 13, NO_ATTRIBUTES, F32(7, 9), LIST(5), LIST(2), LIST(0)),
    CASE("Slice", "of_nothing", 13, NO_ATTRIBUTES, F32(7, 0), LIST(1), LIST(3), LIST(0)),
    CASE("Slice", "int32_bounds", 13, NO_ATTRIBUTES, F32(7, 9), I32_IS(DIMS(1), 2), I32_IS(DIMS(1), 2147483647),
         I32_IS(DIMS(1), 1), I32_IS(DIMS(1), 2)),
    CASE("Slice", "rank8", 13, NO_ATTRIBUTES, F32(2, 3, 2, 3, 2, 1, 2, 3), LIST(1, -1, 0), LIST(2, -4, 3),
         LIST(0, 3, -1), LIST(1, -2, 2)),
    CASE("Slice", "int64", 13, NO_ATTRIBUTES, I64_RANGE(-99, 99, 9), LIST(0), LIST(-1)),
    CASE("Slice", "bool", 13, NO_ATTRIBUTES, BOOLS(5, 9), LIST(3), LIST(100), LIST(1)),
    SLICE_OF("int32", LEATI_REF_INT32, 2000000000, 0),
    SLICE_OF("uint8", LEATI_REF_UINT8, 255, VIEW_SLICED | VIEW_OFFSET),
    OTHER_TYPES(SLICE_OF),
    CASE("Slice", "denormal", 13, NO_ATTRIBUTES, F32_DENORMAL(9), LIST(1), LIST(8)),

    /* Pad. */
    VIEWED("Pad", "float32", 13, VIEW_BROADCAST | VIEW_DYNAMIC, THREADS_8, NO_ATTRIBUTES, F32(3, 5, 7),
           LIST(0, 1, 2, 3, 0, 1)),
    CASE("Pad", "value", 18, NO_ATTRIBUTES, F32(5, 7), LIST(1, 2, 3, 4), F32_IS(NO_DIMS, -2.5f)),
    CASE("Pad", "axes", 18, NO_ATTRIBUTES, F32(3, 5, 7), LIST(1, 2, 3, 4), F32_IS(NO_DIMS, 1.0f), LIST(-1, 0)),
    CASE("Pad", "absent_value_axes", 19, NO_ATTRIBUTES, F32(3, 5, 7), LIST(1, 2), ABSENT, LIST(1)),
    CASE("Pad", "crop", 21, NO_ATTRIBUTES, F32(5, 7), LIST(-1, 2, 2, -3)),
    CASE("Pad", "reflect", 13, ATTRIBUTES(A_STRING("mode", "reflect")), F32(3, 5, 7), LIST(0, 2, 3, 0, 4, 1)),
    CASE("Pad", "edge", 25, ATTRIBUTES(A_STRING("mode", "edge")), F32(3, 5, 7), LIST(1, 2, 3, 0, 6, 1)),
    {.name = "Pad",
     .label = "wrap",
     .since_version = 19,
     .attributes = {A_STRING("mode", "wrap")},
     .inputs = {F32(5, 7), LIST(2, 3, 1, 4)}},
    {.name = "Pad",
     .label = "wrap_crop",
     .since_version = 19,
     .variants = VIEW_SLICED | VIEW_REVERSED,
     .attributes = {A_STRING("mode", "wrap")},
     .inputs = {F32(6, 9), LIST(-1, 7, 2, -2)}},
    CASE("Pad", "edge_crop", 25, ATTRIBUTES(A_STRING("mode", "edge")), F32(6, 9), LIST(-4, 3, 3, -5)),
    CASE("Pad", "reflect_crop", 18, ATTRIBUTES(A_STRING("mode", "reflect")), F32(6, 9), LIST(-2, 3, 3, -5)),
    CASE("Pad", "crop_all", 21, NO_ATTRIBUTES, F32(5, 3), LIST(-6, 0, 3, 0), F32_IS(NO_DIMS, 4.0f)),
    CASE("Pad", "nothing", 13, NO_ATTRIBUTES, F32(5, 7), LIST(0, 0, 0, 0)),
    CASE("Pad", "empty", 13, NO_ATTRIBUTES, F32(0, 3), LIST(2, 0, 0, 1), F32_IS(NO_DIMS, 4.0f)),
    CASE("Pad", "int64", 13, NO_ATTRIBUTES, I64_RANGE(-99, 99, 5, 3), LIST(1, 0, 0, 2), I64_IS(NO_DIMS, -4294967299)),
    CASE("Pad", "bool", 13, NO_ATTRIBUTES, BOOLS(5, 3), LIST(1, 0, 0, 2), BOOLS_ARE(NO_DIMS, 1)),
    CASE("Pad", "int32_axes", 18, NO_ATTRIBUTES, F32(3, 5, 7), LIST(1, 2, 3, 4), F32_IS(NO_DIMS, 1.0f),
         I32_IS(DIMS(2), -1, 0)),
    PAD_OF("int32", LEATI_REF_INT32, 2000000000, 0),
    PAD_OF("uint8", LEATI_REF_UINT8, 255, VIEW_OFFSET),
    OTHER_TYPES(PAD_OF),

    /* Expand and Tile. */
    VIEWED("Expand", "float32", 13, VIEW_BROADCAST | VIEW_DYNAMIC, THREADS_8, NO_ATTRIBUTES, F32(5, 1, 7),
           LIST(3, 1, 4, 7)),
    CASE("Expand", "smaller_shape", 13, NO_ATTRIBUTES, F32(5, 3, 7), LIST(1)),
    CASE("Expand", "scalar", 13, NO_ATTRIBUTES, F32_SCALAR, LIST(3, 5)),
    CASE("Expand", "to_scalar", 13, NO_ATTRIBUTES, F32_SCALAR, EMPTY_LIST),
    CASE("Expand", "to_nothing", 13, NO_ATTRIBUTES, F32(3, 1), LIST(3, 0)),
    CASE("Expand", "rank8", 13, NO_ATTRIBUTES, F32(2, 1, 3), LIST(2, 1, 2, 1, 3, 2, 2, 3)),
    CASE("Expand", "int64", 13, NO_ATTRIBUTES, I64_RANGE(-99, 99, 5, 1), LIST(5, 3)),
    CASE("Expand", "bool", 13, NO_ATTRIBUTES, BOOLS(5, 1), LIST(5, 3)),
    EXPAND_OF("int32", LEATI_REF_INT32, 2000000000, 0),
    EXPAND_OF("uint8", LEATI_REF_UINT8, 255, VIEW_SLICED | VIEW_OFFSET),
    OTHER_TYPES(EXPAND_OF),
    VIEWED("Tile", "float32", 13, VIEW_DYNAMIC, THREADS_8, NO_ATTRIBUTES, F32(3, 5, 2), LIST(2, 1, 3)),
    CASE("Tile", "nothing", 13, NO_ATTRIBUTES, F32(3, 5), LIST(2, 0)),
    CASE("Tile", "once", 13, NO_ATTRIBUTES, F32(3, 5), LIST(1, 1)),
    CASE("Tile", "int64", 13, NO_ATTRIBUTES, I64_RANGE(-99, 99, 3), LIST(4)),
    CASE("Tile", "bool", 13, NO_ATTRIBUTES, BOOLS(3, 2), LIST(1, 4)),
    TILE_OF("int32", LEATI_REF_INT32, 2000000000, 0),
    TILE_OF("uint8", LEATI_REF_UINT8, 255, VIEW_SLICED | VIEW_OFFSET),
    OTHER_TYPES(TILE_OF),

    /* Blocks of pixels and channels. */
    VIEWED("DepthToSpace", "float32", 13, ALL_VIEWS, THREADS_8 | THREADS_16, ATTRIBUTES(A_INT("blocksize", 2)),
           F32(2, 12, 3, 5)),
    VIEWED("DepthToSpace", "channels_first", 13, VIEW_TRANSPOSED, 0,
           ATTRIBUTES(A_INT("blocksize", 3), A_STRING("mode", "CRD")), F32(2, 18, 5, 3)),
    CASE("DepthToSpace", "blocks_first", 11, ATTRIBUTES(A_INT("blocksize", 3), A_STRING("mode", "DCR")),
         F32(1, 9, 7, 2)),
    CASE("DepthToSpace", "block_of_one", 1, ATTRIBUTES(A_INT("blocksize", 1)), F32(2, 3, 5, 7)),
    CASE("DepthToSpace", "special", 13, ATTRIBUTES(A_INT("blocksize", 2)), F32_SPECIAL(1, 1, 4, 4, 4)),
    CASE("DepthToSpace", "denormal", 13, ATTRIBUTES(A_INT("blocksize", 2)), F32_DENORMAL(1, 4, 3, 3)),
    CASE("DepthToSpace", "empty", 13, ATTRIBUTES(A_INT("blocksize", 2)), F32(2, 4, 0, 3)),
    CASE("DepthToSpace", "int64", 13, ATTRIBUTES(A_INT("blocksize", 2)), I64_RANGE(-99, 99, 1, 4, 3, 3)),
    CASE("DepthToSpace", "int32", 13, ATTRIBUTES(A_INT("blocksize", 2)), I32_RANGE(-99, 99, 1, 4, 3, 3)),
    CASE("DepthToSpace", "bool", 13, ATTRIBUTES(A_INT("blocksize", 2)), BOOLS(1, 4, 3, 3)),
    VIEWED("DepthToSpace", "uint8", 13, VIEW_OFFSET, 0, ATTRIBUTES(A_INT("blocksize", 2)),
           U8_RANGE(0, 255, 1, 4, 3, 5)),
    OTHER_TYPES(DEPTH_TO_SPACE_OF),
    VIEWED("SpaceToDepth", "float32", 13, ALL_VIEWS, THREADS_8 | THREADS_16, ATTRIBUTES(A_INT("blocksize", 2)),
           F32(2, 3, 6, 10)),
    CASE("SpaceToDepth", "channels_first", 28, ATTRIBUTES(A_INT("blocksize", 3), A_STRING("mode", "CRD")),
         F32(2, 2, 6, 9)),
    CASE("SpaceToDepth", "uneven_image", 1, ATTRIBUTES(A_INT("blocksize", 3)), F32(1, 3, 3, 12)),
    CASE("SpaceToDepth", "block_of_one", 13, ATTRIBUTES(A_INT("blocksize", 1)), F32(2, 3, 5, 7)),
    CASE("SpaceToDepth", "special", 13, ATTRIBUTES(A_INT("blocksize", 2)), F32_SPECIAL(1, 1, 1, 8, 8)),
    CASE("SpaceToDepth", "empty", 13, ATTRIBUTES(A_INT("blocksize", 2)), F32(0, 3, 4, 4)),
    CASE("SpaceToDepth", "int64", 13, ATTRIBUTES(A_INT("blocksize", 2)), I64_RANGE(-99, 99, 1, 2, 4, 6)),
    CASE("SpaceToDepth", "int32", 13, ATTRIBUTES(A_INT("blocksize", 2)), I32_RANGE(-99, 99, 1, 2, 4, 6)),
    CASE("SpaceToDepth", "bool", 13, ATTRIBUTES(A_INT("blocksize", 2)), BOOLS(1, 2, 4, 6)),
    VIEWED("SpaceToDepth", "uint8", 13, VIEW_OFFSET, 0, ATTRIBUTES(A_INT("blocksize", 2)),
           U8_RANGE(0, 255, 1, 2, 4, 6)),
    OTHER_TYPES(SPACE_TO_DEPTH_OF),

    /* Triangles. */
    TRILU_MICROSOFT("float32", LEATI_REF_FLOAT32, 9, VIEW_SLICED),
    FURTHER_TYPES(TRILU_MICROSOFT),
    DYNAMIC_SLICE("float32", LEATI_REF_FLOAT32, 9, ALL_VIEWS),
    FURTHER_TYPES(DYNAMIC_SLICE),
    CASE("DynamicSlice", "no_axes", 1, NO_ATTRIBUTES, F32(7, 9), I32_IS(DIMS(2), 1, -5),
         I32_IS(DIMS(2), 6, 2147483647)),
    VIEWED("Trilu", "float32", 14, ALL_VIEWS, THREADS_8 | THREADS_16, NO_ATTRIBUTES, F32(3, 7, 9)),
    VIEWED("Trilu", "lower", 14, VIEW_DYNAMIC, 0, ATTRIBUTES(A_INT("upper", 0)), F32(2, 9, 7), I64_IS(NO_DIMS, -2)),
    CASE("Trilu", "upper_above", 14, NO_ATTRIBUTES, F32(7, 9), I64_IS(NO_DIMS, 3)),
    CASE("Trilu", "upper_below", 14, ATTRIBUTES(A_INT("upper", 1)), F32(9, 7), I64_IS(NO_DIMS, -4)),
    CASE("Trilu", "lower_above", 14, ATTRIBUTES(A_INT("upper", 0)), F32(7, 9), LIST(2)),
    CASE("Trilu", "absent_diagonal", 14, ATTRIBUTES(A_INT("upper", 0)), F32(5, 5), ABSENT),
    CASE("Trilu", "nothing_left", 14, NO_ATTRIBUTES, F32(5, 7), I64_IS(NO_DIMS, 7)),
    CASE("Trilu", "far_above", 14, NO_ATTRIBUTES, F32(5, 7), I64_IS(NO_DIMS, 4294967296)),
    CASE("Trilu", "far_below", 14, NO_ATTRIBUTES, F32(5, 7), I64_IS(NO_DIMS, -9223372036854775807)),
    CASE("Trilu", "farthest_lower", 14, ATTRIBUTES(A_INT("upper", 0)), F32(5, 7), I64_IS(NO_DIMS, 9223372036854775807)),
    CASE("Trilu", "special", 14, NO_ATTRIBUTES, F32_SPECIAL(1, 8, 8)),
    CASE("Trilu", "denormal", 14, NO_ATTRIBUTES, F32_DENORMAL(5, 7)),
    CASE("Trilu", "rank8", 14, NO_ATTRIBUTES, F32(2, 1, 2, 1, 2, 1, 3, 4)),
    CASE("Trilu", "empty", 14, NO_ATTRIBUTES, F32(3, 0, 5)),
    CASE("Trilu", "int64", 14, NO_ATTRIBUTES, I64_RANGE(-99, 99, 5, 7)),
    CASE("Trilu", "int32", 14, NO_ATTRIBUTES, I32_RANGE(-99, 99, 5, 7)),
    CASE("Trilu", "bool", 14, NO_ATTRIBUTES, BOOLS(5, 7)),
    VIEWED("Trilu", "uint8", 14, VIEW_OFFSET, 0, NO_ATTRIBUTES, U8_RANGE(0, 255, 5, 7)),
    OTHER_TYPES(TRILU_OF),

    /* Shapes and numbers. */
    VIEWED("Shape", "float32", 13, VIEW_SLICED, THREADS_8, NO_ATTRIBUTES, F32(3, 5, 7)),
    CASE("Shape", "start_end", 15, ATTRIBUTES(A_INT("start", -2), A_INT("end", 3)), F32(2, 3, 5, 7)),
    CASE("Shape", "clamped", 19, ATTRIBUTES(A_INT("start", -9), A_INT("end", 9)), F32(2, 3)),
    CASE("Shape", "nothing", 21, ATTRIBUTES(A_INT("start", 2), A_INT("end", 1)), F32(2, 3)),
    CASE("Shape", "scalar", 23, NO_ATTRIBUTES, F32_SCALAR),
    CASE("Shape", "empty", 25, NO_ATTRIBUTES, F32(0, 3)),
    CASE("Shape", "int64", 13, NO_ATTRIBUTES, I64_RANGE(0, 1, 2, 3)),
    MOVED_TYPES("Shape", 25, 0, NO_MORE),
    MOVED("Shape", "uint8", LEATI_REF_UINT8, 255, 13, 0, NO_MORE),
    MOVED("Shape", "bool", LEATI_REF_BOOL, 1, 13, 0, NO_MORE),
    {.name = "Size",
     .label = "float32",
     .since_version = 13,
     .variants = ALL_VIEWS,
     .threads = THREADS_8 | THREADS_16,
     .inputs = {F32(3, 5, 7)}},
    {.name = "Size", .label = "scalar", .since_version = 1, .inputs = {F32_SCALAR}},
    {.name = "Size", .label = "empty", .since_version = 25, .inputs = {F32(3, 0, 7)}},
    MOVED_TYPES("Size", 25, 0, NO_MORE),
    MOVED("Size", "int64", LEATI_REF_INT64, 2000000000, 13, 0, NO_MORE),
    MOVED("Size", "uint8", LEATI_REF_UINT8, 255, 13, 0, NO_MORE),
    MOVED("Size", "bool", LEATI_REF_BOOL, 1, 13, 0, NO_MORE),
    VIEWED("EyeLike", "float32", 22, ALL_VIEWS, THREADS_8, NO_ATTRIBUTES, F32(5, 7)),
    CASE("EyeLike", "version9", 9, ATTRIBUTES(A_INT("k", 1)), F32(5, 5)),
    CASE("EyeLike", "below", 22, ATTRIBUTES(A_INT("k", -2)), F32(9, 3)),
    CASE("EyeLike", "beyond", 22, ATTRIBUTES(A_INT("k", 7)), F32(5, 7)),
    CASE("EyeLike", "far_beyond", 22, ATTRIBUTES(A_INT("k", -9223372036854775807)), F32(5, 7)),
    CASE("EyeLike", "of_another_type", 22, ATTRIBUTES(A_INT("dtype", 7), A_INT("k", 1)), F32(40, 70)),
    CASE("EyeLike", "int64", 22, NO_ATTRIBUTES, I64_RANGE(-99, 99, 5, 7)),
    CASE("EyeLike", "int32", 22, NO_ATTRIBUTES, I32_RANGE(-99, 99, 5, 7)),
    CASE("EyeLike", "bool", 22, NO_ATTRIBUTES, BOOLS(5, 7)),
    CASE("EyeLike", "uint8", 22, NO_ATTRIBUTES, U8_RANGE(0, 255, 5, 7)),
    OTHER_TYPES(EYE_LIKE_OF),
    CASE("EyeLike", "empty", 22, NO_ATTRIBUTES, F32(0, 5)),

    VIEWED("ConstantOfShape", "default", 9, VIEW_DYNAMIC, THREADS_8, NO_ATTRIBUTES, LIST(3, 5, 7)),
    CASE("ConstantOfShape", "float32", 20, ATTRIBUTES(A_TENSOR("value", CONSTANT(kDLFloat, 32, float_value))),
         LIST(3, 5)),
    CASE("ConstantOfShape", "int64", 21, ATTRIBUTES(A_TENSOR("value", CONSTANT(kDLInt, 64, int64_value))), LIST(35)),
    CASE("ConstantOfShape", "int32", 9, ATTRIBUTES(A_TENSOR("value", CONSTANT(kDLInt, 32, int32_value))), LIST(3, 5)),
    CASE("ConstantOfShape", "bool", 25, ATTRIBUTES(A_TENSOR("value", CONSTANT(LEAT_DL_BOOL, 8, bool_value))),
         LIST(3, 5)),
    CASE("ConstantOfShape", "scalar", 9, NO_ATTRIBUTES, EMPTY_LIST),
    CASE("ConstantOfShape", "empty", 9, NO_ATTRIBUTES, LIST(3, 0)),
    FILLED("float16", CONSTANT(kDLFloat, 16, float16_value)),
    FILLED("bfloat16", CONSTANT(kDLBfloat, 16, bfloat16_value)),
    FILLED("float64", CONSTANT(kDLFloat, 64, float64_value)),
    FILLED("int16", CONSTANT(kDLInt, 16, int16_value)),
    FILLED("int8", CONSTANT(kDLInt, 8, int8_value)),
    FILLED("uint64", CONSTANT(kDLUInt, 64, uint64_value)),
    FILLED("uint32", CONSTANT(kDLUInt, 32, uint32_value)),
    FILLED("uint16", CONSTANT(kDLUInt, 16, uint16_value)),
    FILLED("uint8", CONSTANT(kDLUInt, 8, uint8_value)),
    VIEWED("Range", "int64", 11, VIEW_DYNAMIC, THREADS_8, NO_ATTRIBUTES, I64_IS(NO_DIMS, 3), I64_IS(NO_DIMS, 100),
           I64_IS(NO_DIMS, 7)),
    CASE("Range", "int64_down", 11, NO_ATTRIBUTES, I64_IS(NO_DIMS, 10), I64_IS(NO_DIMS, -5), I64_IS(NO_DIMS, -3)),
    CASE("Range", "nothing", 11, NO_ATTRIBUTES, I64_IS(NO_DIMS, 10), I64_IS(NO_DIMS, 10), I64_IS(NO_DIMS, 1)),
    CASE("Range", "wrong_way", 11, NO_ATTRIBUTES, I64_IS(NO_DIMS, 0), I64_IS(NO_DIMS, 10), I64_IS(NO_DIMS, -1)),
    CASE("Range", "int32", 11, NO_ATTRIBUTES, I32_IS(NO_DIMS, 0), I32_IS(NO_DIMS, 33), I32_IS(NO_DIMS, 2)),
    CASE("Range", "float32", 11, NO_ATTRIBUTES, F32_IS(NO_DIMS, 0.5f), F32_IS(NO_DIMS, 9.0f), F32_IS(NO_DIMS, 0.25f)),
    HALF_RANGE("float16", LEATI_REF_FLOAT16),
    HALF_RANGE("bfloat16", LEATI_REF_BFLOAT16),

    COSINE_WINDOWS("HannWindow"),
    COSINE_WINDOWS("HammingWindow"),
    COSINE_WINDOWS("BlackmanWindow"),

    /* Earlier versions, in which lists were attributes. */
    EARLIER("Reshape", 1, 1, A_INTS("shape", 2, -1)),
    EARLIER("Squeeze", 1, 1, A_INTS("axes", 1)),
    EARLIER("Unsqueeze", 1, 1, A_INTS("axes", 0, 2)),
    EARLIER("Slice", 1, 1, A_INTS("starts", 1, -4), A_INTS("ends", 1000, -1), A_INTS("axes", 0, 2)),
    EARLIER("Split", 2, 2, A_INT("axis", 2), A_INTS("split", 2, 4)),
    VIEWED("Reshape", "copied_dim_1", 1, ALL_VIEWS, THREADS_8, ATTRIBUTES(A_INTS("shape", 0, 0, 2, -1)), F32(3, 5, 8)),
    VIEWED("Squeeze", "negative_11", 11, VIEWS, 0, ATTRIBUTES(A_INTS("axes", 0, -1)), F32(1, 5, 1, 7, 1)),
    CASE("Squeeze", "all_11", 11, NO_ATTRIBUTES, F32(1, 5, 1, 7, 1)),
    {.name = "Reshape",
     .label = "to_scalar_1",
     .since_version = 1,
     .attributes = {{.struct_size = sizeof(leat_attribute), .type = LEAT_ATTRIBUTE_INTS, .name = "shape"}},
     .inputs = {F32(1, 1)}},
    VIEWED("Unsqueeze", "negative_11", 11, VIEWS, 0, ATTRIBUTES(A_INTS("axes", 1, -1)), F32(3, 5, 7)),
    VIEWED("Slice", "no_axes_1", 1, ALL_VIEWS, THREADS_8, ATTRIBUTES(A_INTS("starts", 1, 2), A_INTS("ends", 6, 9)),
           F32(7, 9, 11)),
    {.name = "Split",
     .label = "views_2",
     .since_version = 2,
     .outputs = 3,
     .variants = ALL_VIEWS,
     .threads = THREADS_8,
     .attributes = {A_INT("axis", 1), A_INTS("split", 2, 4, 3)},
     .inputs = {F32(3, 9, 7)}},
    {.name = "Split",
     .label = "equal_11",
     .since_version = 11,
     .outputs = 3,
     .attributes = {A_INT("axis", -1)},
     .inputs = {F32(5, 9)}},
    VIEWED("Pad", "float32_2", 2, VIEWS, THREADS_8, ATTRIBUTES(A_INTS("pads", 1, 0, 0, 2), A_FLOAT("value", 2.5f)),
           F32(5, 3)),
    CASE("Pad", "float64_2", 2, ATTRIBUTES(A_INTS("pads", 1, 0, 0, 2), A_FLOAT("value", 2.5f)),
         RANGE_OF(LEATI_REF_FLOAT64, 0, 9, 5, 3)),
    CASE("Pad", "no_value_2", 2, ATTRIBUTES(A_INTS("pads", 1, -1, 0, 2)), F32(5, 3)),
    CASE("Pad", "reflect_2", 2, ATTRIBUTES(A_STRING("mode", "reflect"), A_INTS("pads", 2, 1, 1, 2)), F32(5, 3)),
};

/* ---- What is refused --------------------------------------------------------------------------------------------- */

static const leati_op_spec sound_unfold = OWN("UnfoldTensor", "sound", 0, WINDOWS(1, 4, 2), F32(3, 9, 5));
static const leati_refusal wrong_unfold[] = {
    {A_INT("size", 0)},         {A_INT("size", -1)},        {A_INT("size", 10)}, {A_INT("step", 0)},
    {A_INT("step", INT64_MIN)}, {A_INT("size", INT64_MAX)}, {A_INT("dim", 3)},   {A_INT("dim", -4)},
    {A_INT("dim", INT64_MIN)},  {A_FLOAT("size", 4)}};
static const leati_refusals refusals_of_unfold = {.sound = &sound_unfold,
                                                  .wrong = wrong_unfold,
                                                  .wrong_count = sizeof(wrong_unfold) / sizeof(wrong_unfold[0]),
                                                  .any_size = {0xf}};

/* Places that are outside, that overlap, and lists of different lengths. */
static const leati_op_spec sound_scatter = OF_LEAT(
    "AsStridedScatter", "sound", 0, 0, PLACES(3, A_INTS("shape", 3, 4), A_INTS("strides", 1, 6)), F32(27), F32(3, 4));
static const leati_refusal wrong_scatter[] = {{A_INT("offset", 8)},
                                              {A_INT("offset", -1)},
                                              {A_INT("offset", INT64_MAX)},
                                              {A_INTS("shape", 3, 5)},
                                              {A_INTS("shape", 3, -4)},
                                              {A_INTS("shape", 12)},
                                              {A_INTS("shape", INT64_MAX, INT64_MAX)},
                                              {A_INTS("strides", 1, 2)},
                                              {A_INTS("strides", 1, -2)},
                                              {A_INTS("strides", 0, 6)},
                                              {A_INTS("strides", 4, 4)},
                                              {A_INTS("strides", 1, INT64_MIN)},
                                              {A_INTS("strides", INT64_MAX, 6)},
                                              {A_INTS("strides", 1)}};
/* X may be larger, or of more dimensions. */
static const leati_refusals refusals_of_scatter = {
    .sound = &sound_scatter, .wrong = wrong_scatter, .wrong_count = G_N_ELEMENTS(wrong_scatter), .any_size = {3u}};
static const leati_op_spec sound_strided =
    OF_LEAT("AsStrided", "sound", 0, 0, PLACES(3, A_INTS("shape", 3, 4), A_INTS("strides", 1, 1)), F32(27));
static const leati_refusal wrong_strided[] = {{A_INT("offset", 22)},
                                              {A_INTS("strides", -2, 1)},
                                              {A_INTS("strides", 1, 8)},
                                              {A_INTS("strides", INT64_MIN, 1)},
                                              {A_INTS("shape", INT64_MAX, 4)}};
static const leati_refusals refusals_of_strided = {
    .sound = &sound_strided, .wrong = wrong_strided, .wrong_count = G_N_ELEMENTS(wrong_strided), .any_size = {3u}};
static const leati_op_spec sound_roll =
    OF_LEAT("Roll", "sound", 0, 0, ROLL(A_INTS("shifts", 2, 1), A_INTS("axes", 1, 0)), F32(3, 9));
static const leati_refusal wrong_roll[] = {{A_INTS("axes", 1, 2)},
                                           {A_INTS("axes", 1, -1)},
                                           {A_INTS("axes", 1, INT64_MIN)},
                                           {A_INTS("axes", 1)},
                                           {A_INTS("shifts", 1)}};
static const leati_refusals refusals_of_roll = {
    .sound = &sound_roll, .wrong = wrong_roll, .wrong_count = G_N_ELEMENTS(wrong_roll), .any_size = {7u}};

static const leati_op_spec sound_hann = CASE("HannWindow", "sound", 17, NO_ATTRIBUTES, I64_IS(NO_DIMS, 400));
static const leati_refusal wrong_hann[] = {{A_INT("output_datatype", 0)},
                                           {A_INT("output_datatype", 8)},
                                           {A_INT("output_datatype", -1)},
                                           {A_INT("output_datatype", INT64_MIN)},
                                           {A_INT("output_datatype", INT64_C(1) << 32 | 1)}};
static const leati_refusals refusals_of_hann = {
    .sound = &sound_hann, .wrong = wrong_hann, .wrong_count = G_N_ELEMENTS(wrong_hann)};

static const leati_op_spec sound_concat =
    CASE("Concat", "sound", 13, ATTRIBUTES(A_INT("axis", 1)), F32(3, 4), F32(3, 5));
static const leati_refusal wrong_concat[] = {{A_INT("axis", 0)},
                                             {A_INT("axis", 2)},
                                             {A_INT("axis", -3)},
                                             {A_INT("axis", INT64_MAX)},
                                             {A_INT("axis", INT64_MIN)}};
static const leati_refusals refusals_of_concat = {.sound = &sound_concat,
                                                  .wrong = wrong_concat,
                                                  .wrong_count = G_N_ELEMENTS(wrong_concat),
                                                  .any_size = {1u << 1, 1u << 1}};

static const leat_case hostile[] = {{REFUSALS("Concat", "refused", &refusals_of_concat)},
                                    {REFUSALS("UnfoldTensor", "refused", &refusals_of_unfold)},
                                    {REFUSALS("HannWindow", "refused", &refusals_of_hann)},
                                    {REFUSALS("AsStrided", "refused", &refusals_of_strided)},
                                    {REFUSALS("AsStridedScatter", "refused", &refusals_of_scatter)},
                                    {REFUSALS("Roll", "refused", &refusals_of_roll)}};

void leati_rows_movement(leat_case_list *list) {
  leati_op_cases_add(list, specs, G_N_ELEMENTS(specs));
  leati_case_list_add(list, hostile, sizeof(hostile) / sizeof(hostile[0]));
}
