/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What an operator is made of, and what operator families share.
 *
 * An operator is one leati_op_def: the constant that the ABI shows plus four functions. A family (one .c file) lists
 * its operators, each an entry LEATI_OP(), and exports them as one leati_op_family. docs/adding-an-operator.md walks
 * through a new operator.
 */
#ifndef LEAT_PLUGIN_OPS_OP_H_
#define LEAT_PLUGIN_OPS_OP_H_

#include <leat/backend.h>
#include <stdbool.h>
#include <stddef.h>

#include "memory/tensor.h"
#include "ops/planner.h"

/** Arguments of an operator that are handed over on the caller's stack; operators with more get them from the heap. */
#define LEATI_INLINE_ARGUMENTS 16

/** The arguments of one call. */
typedef struct leati_call {
  uint32_t input_count, output_count;
  const leati_view *inputs;  /**< absent ones have present == false; trailing absent ones may be missing altogether */
  const leati_view *outputs; /**< plan only; those below info.min_outputs are there, others have present == false
                                where they are not wanted */
} leati_call;

/** An operator as it stands in a model, after import: every field of every struct is there, and constants were checked.
 */
typedef struct leati_op_desc {
  uint32_t since_version;
  uint32_t input_count, output_count;
  uint32_t attribute_count;
  const leat_attribute *attributes; /**< checked: names and types are those of the def */
  const leat_value_info *inputs;    /**< absent ones have ndim -2 */
} leati_op_desc;

#define LEATI_ABSENT (-2) /**< leat_value_info::ndim of an absent input in a leati_op_desc */

typedef struct leati_op_def {
  leat_op_info info;
  /** For each input, which element of info.types it has; the last one stands for all that follow. NULL: all have 0. */
  const uint8_t *input_types;
  /** Likewise for each output. NULL: all have 0. An output takes the dtype of the first input with the same number;
   * with no such input, infer() sets it. */
  const uint8_t *output_types;
  size_t state_size; /**< bytes of leati_op_state(), zeroed before create */
  /** Sets of kernels that the operator runs, but for copies that make its inputs compact. It is refused if the device
   * cannot run the one for the type of an input. */
  const leati_kernel_set *kernels;
  uint32_t kernel_count;
  uint32_t param; /**< the family's own: which of its operators this is */
  bool any_size;  /**< tensors of 2^31 elements and more may be run; else they are refused as soon as they are known */
  int8_t least_rank; /**< of input 0 */
  int8_t most_rank;  /**< of input 0; 0: LEAT_MAX_RANK */
  /** Says whether types, ranks and attributes are supported beyond what info says. May be NULL: yes. Called before
   * create; after that create and supports call infer, if all shapes and all values of host inputs are known. So this
   * is for what can be refused when less is known. */
  int32_t (*supports)(const struct leati_op_def *def, leat_device *device, const leati_op_desc *desc, leat_error *err);
  /** Reads the attributes into the state. May be NULL. */
  int32_t (*create)(leat_op *op, const leati_op_desc *desc, leat_error *err);
  /** Computes output shapes: `ndim` and `dims` of each, and `dtype` where output_types does not say it. Reads `shape`
   * and `type` of inputs, and the data of host inputs. */
  int32_t (*infer)(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err);
  /** Plans the operator for these shapes and values of host inputs: a pure function of them, of `op` and of the device.
   * Counts, types, host or device were checked, that required inputs and outputs are there, that the outputs have the
   * shapes and types that infer() gives and are compact, and that no output overlaps an input (but for exact aliases
   * where info.flags allows them). */
  int32_t (*plan)(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err);
} leati_op_def;

/** The operators of one .c file. */
typedef struct leati_op_family {
  const leati_op_def *ops;
  uint32_t count;
} leati_op_family;

/** A family from its array of entries. */
#define LEATI_FAMILY(array) \
  { .ops = (array), .count = sizeof(array) / sizeof((array)[0]) }

extern const leati_op_family leati_unary_family;
extern const leati_op_family leati_binary_family;
extern const leati_op_family leati_ternary_family;
extern const leati_op_family leati_cast_family;
extern const leati_op_family leati_restride_family;
extern const leati_op_family leati_concat_family;
extern const leati_op_family leati_pad_family;
extern const leati_op_family leati_block_family;
extern const leati_op_family leati_trilu_family;
extern const leati_op_family leati_index_family;
extern const leati_op_family leati_shape_family;
extern const leati_op_family leati_reduce_family;
extern const leati_op_family leati_norm_family;
extern const leati_op_family leati_matmul_family;
extern const leati_op_family leati_conv_family;
extern const leati_op_family leati_pool_family;
extern const leati_op_family leati_resize_family;

/** The operator's definition, device, version and state. */
const leati_op_def *leati_op_def_of(const leat_op *op);
leat_device *leati_op_device(const leat_op *op);
uint32_t leati_op_since_version(const leat_op *op);
void *leati_op_state(leat_op *op);
const void *leati_op_state_const(const leat_op *op);

/* ---- Writing an entry ---------------------------------------------------------------------------------------------
 */

/** An entry of a family's array. `versions`: the first and the last "since version" that it is for; `inputs` and
 * `outputs`: how many at least and at most, each in parentheses. The rest are designated initialisers of a
 * leati_op_def, in the order of its fields:
 *
 *     LEATI_OP("Trilu", "", (14, 14), (1, 2), (1, 1), .info.host_inputs = 1u << 1,
 *              LEATI_TYPES(&leati_type_moved, &leati_type_int64), LEATI_ATTRIBUTES(&attribute_upper),
 *              LEATI_INPUT_TYPES(0, 1), .state_size = sizeof(trilu_state), .create = trilu_create, ...) */
#define LEATI_OP(name_, domain_, versions, inputs, outputs, ...)                                   \
  {                                                                                                \
    .info.struct_size = sizeof(leat_op_info), .info.name = (name_), .info.domain = (domain_),      \
    .info.since_version_min = LEATI_LEAST versions, .info.since_version_max = LEATI_MOST versions, \
    .info.min_inputs = LEATI_LEAST inputs, .info.max_inputs = LEATI_MOST inputs,                   \
    .info.min_outputs = LEATI_LEAST outputs, .info.max_outputs = LEATI_MOST outputs, __VA_ARGS__   \
  }
#define LEATI_LEAST(least, most) (least)
#define LEATI_MOST(least, most) (most)
/** `info.types` and `info.attributes` of an entry: LEATI_TYPES(&leati_type_float), LEATI_ATTRIBUTES(&attribute_axis).
 */
#define LEATI_TYPES(...)                                    \
  .info.types = (const leat_op_type *const[]){__VA_ARGS__}, \
  .info.type_count = sizeof((const leat_op_type *const[]){__VA_ARGS__}) / sizeof(leat_op_type *)
#define LEATI_ATTRIBUTES(...)                                         \
  .info.attributes = (const leat_op_attribute *const[]){__VA_ARGS__}, \
  .info.attribute_count = sizeof((const leat_op_attribute *const[]){__VA_ARGS__}) / sizeof(leat_op_attribute *)
/** `input_types` and `output_types`: LEATI_INPUT_TYPES(0, 1), with a number for each that there may be. */
#define LEATI_INPUT_TYPES(...)       \
  .input_types = (const uint8_t[]) { \
    __VA_ARGS__                      \
  }
#define LEATI_OUTPUT_TYPES(...)       \
  .output_types = (const uint8_t[]) { \
    __VA_ARGS__                       \
  }
/** `kernels`: LEATI_KERNELS(LEATI_KERNELS_GATHER). */
#define LEATI_KERNELS(...)                            \
  .kernels = (const leati_kernel_set[]){__VA_ARGS__}, \
  .kernel_count = sizeof((const leati_kernel_set[]){__VA_ARGS__}) / sizeof(leati_kernel_set)
/** A type constraint and an attribute as constants. */
#define LEATI_TYPE(variable, name_, types_) \
  const leat_op_type variable = {.struct_size = sizeof(leat_op_type), .name = (name_), .types = (types_)}
#define LEATI_ATTRIBUTE(variable, name_, type_) \
  const leat_op_attribute variable = {          \
      .struct_size = sizeof(leat_op_attribute), .type = LEAT_ATTRIBUTE_##type_, .name = (name_)}

/** All types: moving needs only the size of an element. */
#define LEATI_TYPES_MOVED                                                                                              \
  (LEAT_TYPE_FLOAT32 | LEAT_TYPE_FLOAT16 | LEAT_TYPE_BFLOAT16 | LEAT_TYPE_FLOAT64 | LEAT_TYPE_INT8 | LEAT_TYPE_INT16 | \
   LEAT_TYPE_INT32 | LEAT_TYPE_INT64 | LEAT_TYPE_UINT8 | LEAT_TYPE_UINT16 | LEAT_TYPE_UINT32 | LEAT_TYPE_UINT64 |      \
   LEAT_TYPE_BOOL)

/** Type constraints and attributes of several families. */
extern const leat_op_type leati_type_float; /**< "T": float32 */
extern const leat_op_type leati_type_moved; /**< "T": LEATI_TYPES_MOVED */
extern const leat_op_type leati_type_int64; /**< "tensor(int64)" */
extern const leat_op_type leati_type_index; /**< "Tind": int32, int64 */
extern const leat_op_attribute leati_attribute_alpha, leati_attribute_beta;
extern const leat_op_attribute leati_attribute_axis;
extern const leat_op_attribute leati_attribute_mode;

/* ---- Reading attributes -------------------------------------------------------------------------------------------
 */

/** The attribute called `name`, or NULL. */
const leat_attribute *leati_attr(const leati_op_desc *desc, const char *name);
int64_t leati_attr_int(const leati_op_desc *desc, const char *name, int64_t otherwise);
float leati_attr_float(const leati_op_desc *desc, const char *name, float otherwise);
/** Whether a STRING attribute is there and equals `text`. */
bool leati_attr_is(const leati_op_desc *desc, const char *name, const char *text);
/** Copies an INTS attribute into `out[capacity]`; `*out_count` is 0 when it is absent.
 * @errors NOT_SUPPORTED: it has more elements than `capacity` */
int32_t leati_attr_ints(const leati_op_desc *desc, const char *name, uint32_t capacity, int64_t *out,
                        uint32_t *out_count, leat_error *err);
/** Whether input `i` is not left out. */
static inline bool leati_is_given(const leati_op_desc *desc, uint32_t i) {
  return i < desc->input_count && desc->inputs[i].ndim != LEATI_ABSENT;
}
/** A TENSOR attribute as a view of the host's memory, compact; false: it is absent. */
bool leati_attr_tensor(const leati_op_desc *desc, const char *name, leati_view *out);
/** Input `i` as a view of the host's memory if it is a constant; false: it is absent or not known before the run. This
 * and the former are the only ways to a constant's elements: nothing else has looked at where they lie. */
bool leati_constant(const leati_op_desc *desc, uint32_t i, leati_view *out);
/** Elements of input `i`, a list, if that is known before the run, else -1. */
int64_t leati_list_length(const leati_op_desc *desc, uint32_t i);

/* ---- Shapes -------------------------------------------------------------------------------------------------------
 */

/** Input `i` if it was given, else NULL. */
static inline const leati_view *leati_input(const leati_call *call, uint32_t i) {
  return i < call->input_count && call->inputs[i].present ? &call->inputs[i] : NULL;
}
/** Output `i` if it is wanted, else NULL. */
static inline const leati_view *leati_output(const leati_call *call, uint32_t i) {
  return i < call->output_count && call->outputs[i].present ? &call->outputs[i] : NULL;
}
/** Turns an axis that may be negative into [0, rank). */
int32_t leati_axis(int64_t axis, int32_t rank, int32_t *out, leat_error *err);
/** The same for `count` axes, of which no two may be the same. `what` names them in messages. */
int32_t leati_axes(const int64_t *axes, uint32_t count, int32_t rank, const char *what, int32_t *out, leat_error *err);
/** Fails unless `rank` is one that a result of the operator `name` may have.
 * @errors NOT_SUPPORTED */
int32_t leati_check_rank(const char *name, int64_t rank, leat_error *err);
/** NumPy broadcasting of two shapes; `*inout` starts as one of them. */
int32_t leati_broadcast(int32_t *inout_ndim, int64_t *inout_dims, int32_t ndim, const int64_t *dims, leat_error *err);
/** Reads a host tensor of int64 or int32 with rank 0 or 1 into `out[capacity]`. `what` names it in messages. */
int32_t leati_read_ints(const leati_view *view, const char *what, uint32_t capacity, int64_t *out, uint32_t *out_count,
                        leat_error *err);
/** Strides of `view` when it is broadcast to `ndim` dimensions `dims`: 0 where it is repeated. */
void leati_broadcast_strides(const leati_view *view, int32_t ndim, const int64_t *dims, int64_t *out);
/** Drops dimensions of size 1 and joins dimensions that all `operands` walk through in one stride, so that kernels see
 * few of them. `strides[i]` are the strides of operand i. Rank 0 comes out as one dimension of size 1. Returns the new
 * rank. */
int32_t leati_collapse(int32_t ndim, int64_t *dims, uint32_t operands, int64_t (*strides)[LEAT_MAX_RANK]);
/** Rounds that every device gives the loops of one invocation, all together: lavapipe leaves loops after 65535, and
 * counts some that a kernel does not. */
#define LEATI_ROUNDS_MAX 64000u
/** Fails if an invocation of a kernel takes more rounds than the device gives it, which would be wrong without a word.
 * @errors NOT_SUPPORTED */
int32_t leati_check_rounds(const leat_device *device, uint64_t rounds, const char *what, leat_error *err);
/** Shape of output 0 for an operator whose output looks like input 0. */
int32_t leati_infer_same(const leat_op *op, const leati_call *call, leat_shape *out, leat_error *err);

/* ---- Planning helpers (movement.c) -------------------------------------------------------------------------------
 */

/** Plans the copy of any view into any view of the same shape and item size (any strides; bytes are copied as they
 * are). */
int32_t leati_plan_strided_copy(leati_planner *planner, const leati_view *src, const leati_view *dst, leat_error *err);
/** Gives a compact view of the same contents: `view` itself if it is compact, else a temporary that is filled by a
 * copy. */
int32_t leati_plan_compact(leati_planner *planner, const leati_view *view, leati_view *out, leat_error *err);

#endif /* LEAT_PLUGIN_OPS_OP_H_ */
