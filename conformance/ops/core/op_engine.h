/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Operator cases out of data: a table says what is run, the engine runs it in every legal disguise and compares with
 * the CPU reference.
 *
 * A spec names an operator, its attributes and its inputs. For each spec there is the case `op.<Operator>.<label>`, and
 * one more for each bit of `variants` (inputs laid out differently, nothing else changed) and of `threads`; of the
 * first spec of an operator also `.graph`, a graph of one node where the plugin has the graph table. Each case asks
 * supports(), creates, infers and compares the shapes, invokes, and compares the elements with the bounds that the
 * reference gives. Gaps in inputs are filled with bytes that are NaN or -1; outputs stand between guard bytes and are
 * poisoned before. An input is on the host if the plugin's operator list says so, else on the device. A case is not
 * supported if the plugin's list lacks its operator, or supports() says so of this form.
 *
 * The macros for tables have short names, because a table is read as a whole and this header is for tables alone.
 */
#ifndef LEAT_CONFORMANCE_OPS_CORE_OP_ENGINE_H_
#define LEAT_CONFORMANCE_OPS_CORE_OP_ENGINE_H_

#include "case.h"
#include "ops/core/ref_tensor.h"

/** How an input gets its elements. */
typedef enum leati_op_fill {
  LEATI_FILL_END = 0,  /**< no more inputs */
  LEATI_FILL_ABSENT,   /**< the optional input is left out */
  LEATI_FILL_NORMAL,   /**< floats: normally distributed, mean 0 and deviation 1 */
  LEATI_FILL_UNIFORM,  /**< from `low` to `high`: floats, or integers including both */
  LEATI_FILL_SPECIAL,  /**< element k is special number k / `low` (NaN, infinities, zeros, huge and tiny ones), in turn
                        */
  LEATI_FILL_MIXED,    /**< floats from `low` to `high`, special numbers and numbers near the smallest, in turn */
  LEATI_FILL_DENORMAL, /**< floats: denormal numbers of both signs */
  LEATI_FILL_FLOATS,   /**< `floats` */
  LEATI_FILL_INTS      /**< `ints` */
} leati_op_fill;

/** An input of a spec. */
typedef struct leati_op_input {
  leati_op_fill fill;
  leati_ref_type type;
  int32_t rank;
  int64_t dims[LEAT_MAX_RANK];
  double low;
  double high;
  const float *floats; /**< as many as there are elements */
  const int64_t *ints; /**< as many as there are elements */
} leati_op_input;

#define LEATI_OP_MAX_INPUTS 18
#define LEATI_OP_MAX_ATTRIBUTES 8

#define VIEW_TRANSPOSED (1u << 0) /**< device inputs lie in memory with their dimensions in reverse order */
#define VIEW_SLICED (1u << 1)   /**< device inputs are every second element of a larger tensor, from a byte_offset on */
#define VIEW_REVERSED (1u << 2) /**< device inputs have negative strides */
#define VIEW_BROADCAST (1u << 3) /**< device inputs have stride 0 in their first dimension longer than 1 */
#define VIEW_OFFSET (1u << 4)    /**< device inputs are compact and begin at an address aligned to one element only */
#define VIEW_DYNAMIC (1u << 5)   /**< compact; shapes are unknown at creation, host inputs are known constants */
/** Output 0 is the memory of input 0, or outputs 1 and 2 of inputs 3 and 4, if the operator says that they may be. */
#define VIEW_IN_PLACE (1u << 6)
/** What most operators get. */
#define VIEWS (VIEW_TRANSPOSED | VIEW_SLICED | VIEW_BROADCAST | VIEW_DYNAMIC)
#define ALL_VIEWS (VIEWS | VIEW_REVERSED | VIEW_OFFSET)

#define THREADS_2 (1u << 1)
#define THREADS_4 (1u << 2)
#define THREADS_8 (1u << 3)
#define THREADS_16 (1u << 4)
#define THREADS_ALL (THREADS_2 | THREADS_4 | THREADS_8 | THREADS_16)

/** What is run. Constant; lives as long as the process. */
typedef struct leati_op_spec {
  const char *name;                                   /**< operator */
  const char *label;                                  /**< part of the case's name */
  uint32_t since_version;                             /**< "since version" */
  const char *domain;                                 /**< domain; NULL: ONNX's own */
  uint32_t outputs;                                   /**< outputs up to the last one wanted; 0 is 1 */
  uint32_t unwanted;                                  /**< bit k: output k is not wanted, though a later one is */
  uint32_t variants;                                  /**< VIEW_* */
  uint32_t threads;                                   /**< THREADS_* */
  leat_attribute attributes[LEATI_OP_MAX_ATTRIBUTES]; /**< up to the first without a name */
  leati_op_input inputs[LEATI_OP_MAX_INPUTS];         /**< up to the first that is LEATI_FILL_END */
} leati_op_spec;

/** Adds the cases of `count` specs. */
void leati_op_cases_add(leat_case_list *list, const leati_op_spec *specs, size_t count);

/** Prints each entry of a plugin's operator list that no chosen case is for, and each of its element types that no
 * chosen case of the entry has: one a line, `domain.Name 7 to 14` (without the domain of ONNX), with ` T int8` behind
 * it for the type constraint and the type. A constraint to one type has nothing to choose.
 * @threads owner
 * @param chosen [in] cases, `leat_case`; those of other areas count nothing
 * @param op [in] the plugin's table
 * @return false if the plugin does not give its list */
bool leati_op_untried(const GPtrArray *chosen, const leat_op_api *op);

/** Number of inputs of a spec, absent ones included. */
uint32_t leati_op_spec_inputs(const leati_op_spec *spec);

/** Makes an input.
 * @threads any
 * @param input [in] an input that is not absent
 * @param rand [inout] source of random elements
 * @param out [out] holds nothing before; release with leati_ref_tensor_clear() */
void leati_op_input_make(const leati_op_input *input, GRand *rand, leati_ref_tensor *out);

/* ---- Words of a table ------------------------------------------------------------------------------------------- */

#define COUNT_OF(type, ...) (sizeof((const type[]){__VA_ARGS__}) / sizeof(type))
/** A shape, as part of an input. */
#define DIMS(...) .rank = (int32_t)COUNT_OF(int64_t, __VA_ARGS__), .dims = {__VA_ARGS__}
/** The shape of a scalar. */
#define NO_DIMS .rank = 0

/** No input; ends the list of those of a macro that takes any number. */
#define NO_MORE \
  { .fill = LEATI_FILL_END }
#define ABSENT \
  { .fill = LEATI_FILL_ABSENT }
/** Normally distributed floats of a shape. */
#define F32(...) \
  { .fill = LEATI_FILL_NORMAL, .type = LEATI_REF_FLOAT32, DIMS(__VA_ARGS__) }
#define F32_SCALAR \
  { .fill = LEATI_FILL_NORMAL, .type = LEATI_REF_FLOAT32, NO_DIMS }
/** Evenly distributed numbers of a shape. */
#define RANGE_OF(t, from, to, ...) \
  { .fill = LEATI_FILL_UNIFORM, .type = t, .low = from, .high = to, DIMS(__VA_ARGS__) }
#define F32_RANGE(from, to, ...) RANGE_OF(LEATI_REF_FLOAT32, from, to, __VA_ARGS__)
#define I64_RANGE(from, to, ...) RANGE_OF(LEATI_REF_INT64, from, to, __VA_ARGS__)
#define I32_RANGE(from, to, ...) RANGE_OF(LEATI_REF_INT32, from, to, __VA_ARGS__)
#define U8_RANGE(from, to, ...) RANGE_OF(LEATI_REF_UINT8, from, to, __VA_ARGS__)
#define BOOLS(...) RANGE_OF(LEATI_REF_BOOL, 0, 1, __VA_ARGS__)
/** Rows of the element types that nothing but moving takes; ROW(label, type, largest number, views, ...) gets what
 * follows ROW too. Those of 16 bits have a size of their own. */
#define OTHER_TYPES_FOR(ROW, ...)                                                                                    \
  ROW("float16", LEATI_REF_FLOAT16, 1000, VIEW_SLICED | VIEW_OFFSET, __VA_ARGS__),                                   \
      ROW("bfloat16", LEATI_REF_BFLOAT16, 1000, 0, __VA_ARGS__),                                                     \
      ROW("float64", LEATI_REF_FLOAT64, 1000, 0, __VA_ARGS__), ROW("int16", LEATI_REF_INT16, 32767, 0, __VA_ARGS__), \
      ROW("int8", LEATI_REF_INT8, 127, 0, __VA_ARGS__), ROW("uint64", LEATI_REF_UINT64, 2000000000, 0, __VA_ARGS__), \
      ROW("uint32", LEATI_REF_UINT32, 2000000000, 0, __VA_ARGS__),                                                   \
      ROW("uint16", LEATI_REF_UINT16, 65535, 0, __VA_ARGS__)
/** The same; ROW(label, type, largest number, views). */
#define OTHER_TYPES(ROW) OTHER_TYPES_FOR(OTHER_TYPE, ROW)
#define OTHER_TYPE(named, t, most, views, ROW) ROW(named, t, most, views)
/** Special floats in turn, each `times` times in a row; there are SPECIAL_COUNT of them. */
#define F32_SPECIAL(times, ...) \
  { .fill = LEATI_FILL_SPECIAL, .type = LEATI_REF_FLOAT32, .low = times, DIMS(__VA_ARGS__) }
#define SPECIAL_COUNT 16
/** Floats of all kinds, so that one case tries what for float32 is several. */
#define MIXED(t, from, to, ...) \
  { .fill = LEATI_FILL_MIXED, .type = t, .low = from, .high = to, DIMS(__VA_ARGS__) }
#define F32_DENORMAL(...) \
  { .fill = LEATI_FILL_DENORMAL, .type = LEATI_REF_FLOAT32, DIMS(__VA_ARGS__) }
/** Given floats: the shape as DIMS() or NO_DIMS, then the elements. */
#define F32_IS(shape, ...)                                                                   \
  {                                                                                          \
    .fill = LEATI_FILL_FLOATS, .type = LEATI_REF_FLOAT32, shape, .floats = (const float[]) { \
      __VA_ARGS__                                                                            \
    }                                                                                        \
  }
/** Given integers of a type: the shape as DIMS() or NO_DIMS, then the elements. Each macro stands alone, because a
 * shape that went through a second one would arrive there as several arguments. */
#define I64_IS(shape, ...)                                                               \
  {                                                                                      \
    .fill = LEATI_FILL_INTS, .type = LEATI_REF_INT64, shape, .ints = (const int64_t[]) { \
      __VA_ARGS__                                                                        \
    }                                                                                    \
  }
#define I32_IS(shape, ...)                                                               \
  {                                                                                      \
    .fill = LEATI_FILL_INTS, .type = LEATI_REF_INT32, shape, .ints = (const int64_t[]) { \
      __VA_ARGS__                                                                        \
    }                                                                                    \
  }
#define BOOLS_ARE(shape, ...)                                                           \
  {                                                                                     \
    .fill = LEATI_FILL_INTS, .type = LEATI_REF_BOOL, shape, .ints = (const int64_t[]) { \
      __VA_ARGS__                                                                       \
    }                                                                                   \
  }
/** Given integers of any type; those of uint64 by two's complement. */
#define INTS_OF(t, shape, ...)                                             \
  {                                                                        \
    .fill = LEATI_FILL_INTS, .type = t, shape, .ints = (const int64_t[]) { \
      __VA_ARGS__                                                          \
    }                                                                      \
  }
/** Given int64 numbers in one dimension: shapes, axes and their like. */
#define LIST(...)                                                                                          \
  {                                                                                                        \
    .fill = LEATI_FILL_INTS, .type = LEATI_REF_INT64, .rank = 1, .dims = {COUNT_OF(int64_t, __VA_ARGS__)}, \
    .ints = (const int64_t[]) {                                                                            \
      __VA_ARGS__                                                                                          \
    }                                                                                                      \
  }
#define EMPTY_LIST                                                             \
  {                                                                            \
    .fill = LEATI_FILL_INTS, .type = LEATI_REF_INT64, .rank = 1, .dims = { 0 } \
  }

#define A_INT(n, v) \
  { .struct_size = sizeof(leat_attribute), .type = LEAT_ATTRIBUTE_INT, .name = n, .i = v }
#define A_FLOAT(n, v) \
  { .struct_size = sizeof(leat_attribute), .type = LEAT_ATTRIBUTE_FLOAT, .name = n, .f = v }
#define A_STRING(n, v)                                                                                       \
  {                                                                                                          \
    .struct_size = sizeof(leat_attribute), .type = LEAT_ATTRIBUTE_STRING, .name = n, .count = sizeof(v) - 1, \
    .string = v                                                                                              \
  }
#define A_INTS(n, ...)                                                             \
  {                                                                                \
    .struct_size = sizeof(leat_attribute), .type = LEAT_ATTRIBUTE_INTS, .name = n, \
    .count = COUNT_OF(int64_t, __VA_ARGS__), .ints = (const int64_t[]) {           \
      __VA_ARGS__                                                                  \
    }                                                                              \
  }
#define A_FLOATS(n, ...)                                                             \
  {                                                                                  \
    .struct_size = sizeof(leat_attribute), .type = LEAT_ATTRIBUTE_FLOATS, .name = n, \
    .count = COUNT_OF(float, __VA_ARGS__), .floats = (const float[]) {               \
      __VA_ARGS__                                                                    \
    }                                                                                \
  }
/** A list of strings: the first `used` of six. */
#define A_STRINGS(n, used, a, b, c, d, e, g)                                                         \
  {                                                                                                  \
    .struct_size = sizeof(leat_attribute), .type = LEAT_ATTRIBUTE_STRINGS, .name = n, .count = used, \
    .strings = (const char *const[]){a, b, c, d, e, g}, .lengths = (const uint64_t[]) {              \
      sizeof(a) - 1, sizeof(b) - 1, sizeof(c) - 1, sizeof(d) - 1, sizeof(e) - 1, sizeof(g) - 1       \
    }                                                                                                \
  }
#define A_TENSOR(n, t) \
  { .struct_size = sizeof(leat_attribute), .type = LEAT_ATTRIBUTE_TENSOR, .name = n, .tensor = t }

/** Attributes as one argument of a macro. */
#define ATTRIBUTES(...) \
  { __VA_ARGS__ }
#define NO_ATTRIBUTES \
  {                   \
    { 0 }             \
  }

/** A spec of an operator, by its label: with attributes and any number of inputs; without attributes; and with views
 * and threads. */
#define CASE(op, named, version, attributes_given, ...)                                                             \
  {                                                                                                                 \
    .name = op, .label = named, .since_version = version, .attributes = attributes_given, .inputs = { __VA_ARGS__ } \
  }
#define PLAIN(op, named, version, ...)                                              \
  {                                                                                 \
    .name = op, .label = named, .since_version = version, .inputs = { __VA_ARGS__ } \
  }
#define VIEWED(op, named, version, views, used_threads, attributes_given, ...)                        \
  {                                                                                                   \
    .name = op, .label = named, .since_version = version, .variants = views, .threads = used_threads, \
    .attributes = attributes_given, .inputs = {                                                       \
      __VA_ARGS__                                                                                     \
    }                                                                                                 \
  }

#endif /* LEAT_CONFORMANCE_OPS_CORE_OP_ENGINE_H_ */
