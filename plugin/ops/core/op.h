/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What an operator is made of. What families share beside it: attribute.h, dims.h, planner.h, movement.h, attention.h,
 * elementwise.h, function.h, walk.h, reduce.h, gemm.h, integer_product.h, conv.h, window.h.
 *
 * An operator is one leati_op_def: the constant that the ABI shows plus its functions. A family (one .c file) lists
 * its operators, each an entry LEATI_OP(), and exports them as one leati_op_family. docs/adding-an-operator.md walks
 * through a new operator.
 */
#ifndef LEAT_PLUGIN_OPS_CORE_OP_H_
#define LEAT_PLUGIN_OPS_CORE_OP_H_

#include <leat/backend.h>
#include <stdbool.h>
#include <stddef.h>

#include "memory/tensor.h"
#include "ops/core/planner.h"

/** Arguments of an operator that are handed over on the caller's stack; operators with more get them from the heap. */
#define LEATI_INLINE_ARGUMENTS 16

/** What infer() computed that plan() of the same call goes on with, so that it is done once: for operators that give
 * outputs on the host, whose plan() follows their infer() with the same call. Others may be planned without. */
typedef struct leati_inferred {
  void *what; /**< NULL: nothing */
  void (*release)(void *what);
} leati_inferred;

/** The arguments of one call. */
typedef struct leati_call {
  uint32_t input_count, output_count;
  const leati_view *inputs;  /**< absent ones have present == false; trailing absent ones may be missing altogether */
  const leati_view *outputs; /**< plan only; those below info.min_outputs are there, others have present == false
                                where they are not wanted */
  leati_inferred *inferred;  /**< released with the call, and before its shapes are inferred again */
} leati_call;

/** Type constraints of one operator at most. */
#define LEATI_TYPE_CONSTRAINTS_MAX 9

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

/** How a node deals with images in NHWC layout (ops/core/channels_last.h). Bit `i` is
 * for input `i`. */
typedef struct leati_channels_last_use {
  bool writes;             /**< plan() writes outputs so, if their views lie so */
  uint32_t reads;          /**< those that plan() reads as fast where they lie so, */
  uint32_t prefers;        /**< and faster; */
  uint32_t matches_output; /**< those that it reads as fast where all outputs lie so too, and copies otherwise, */
  uint32_t requires_output_layout; /**< those that it reads fast only if they lie as all outputs do; */
  uint32_t orders; /**< constants that it would copy so for each call, or reads faster so, as all else lies now */
} leati_channels_last_use;

/** Whether input `i` is in such a set. */
static inline bool leati_has_input(uint32_t inputs, uint32_t i) {
  return i < 32 && (inputs >> i & 1u) != 0;
}

typedef struct leati_op_def {
  leat_op_info info;
  /** Inputs that have to be there though an optional one stands before them: bit `i` for input `i`, none of them below
   * info.min_inputs, which a host knows. An operator is not created without one, and a call has what its operator was
   * created with, so that no other function asks whether it is there. */
  uint32_t required_inputs;
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
  bool updates;   /**< output 0 is input 0 but for what is written into it, and no step reads that input behind one that
                     writes: a graph that is given one memory for both goes on with it */
  bool draws;     /**< without a seed two calls with the same inputs differ: graphs do not compute it in advance */
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
   * shapes and types that infer() gives and are compact (or, where channels_last() says so, are in NHWC layout, as
   * leati_holds_channels() says where there are gaps), and that no output overlaps an input (but for exact aliases
   * where info.flags allows them). An output that view() gives may be absent: a graph has it where it lies. */
  int32_t (*plan)(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err);
  /** For an operator that a graph computes on the host where all that it takes is known there, if all of it is of
   * evaluated_types: output `o`, as plan() would have it on the device, but for floats, each of which is rounded once.
   * infer() went well. Views are compact, their elements, on whichever side, are at leati_view::data, and of the
   * outputs only `o` is there. Set by LEATI_EVALUATED(). NULL: it is computed on the device alone. */
  void (*evaluate)(const leat_op *op, const leati_call *call, uint32_t o);
  uint64_t evaluated_types;            /**< LEATI_EVALUATED_WHOLE or LEATI_EVALUATED_ALL */
  const struct leati_adapter *adapter; /**< of an entry of an earlier version (ops/core/adapter.h); NULL: of no other */
  /** From where to where the whole number that host input `i` is may change, if there is one, without a change of what
   * infer() and plan() make of this call, which went well: a call that counts is then like an earlier one. NULL, or
   * false: with any other number the call is another. */
  bool (*host_range)(const leat_op *op, const leati_call *call, uint32_t i, int64_t *out_least, int64_t *out_most);
  /** For an operator that only picks elements of input 0: output `o` as a view of that input, whose strides may be zero
   * or negative; `out->present` is false if it is none. Of outputs only type and shape are there. A graph lays such an
   * output into its input where those that take it read it so. NULL: no output is a view. */
  int32_t (*view)(const leat_op *op, const leati_call *call, uint32_t o, leati_view *out, leat_error *err);
  /** For an operator that only puts its inputs side by side: the part of output 0 that input `i` becomes, as a view of
   * it. A graph has inputs made there. NULL: it does more. */
  int32_t (*part)(const leat_op *op, const leati_call *call, uint32_t i, leati_view *out, leat_error *err);
  /** Whether the kernels read input `i` of a call, a part of another tensor, where it lies: as fast as a copy of it,
   * and with the same bits. Inputs behind it are compact. NULL: only a compact one. */
  bool (*reads_view)(const leat_op *op, const leati_call *call, uint32_t i);
  /** Whether NHWC layout is allowed in what it takes and gives; of the views of a call, strides, shapes and
   * types are there, and a bit of `constants` for each input of which a graph can keep a copy. Of a device without
   * matrix hardware it is not asked. NULL: no. */
  leati_channels_last_use (*channels_last)(const leat_op *op, const leati_call *call, uint32_t constants);
  /** For an operator without that: which inputs with a bit of `constants` it reads faster, and with the same bits, in
   * another order: matrices if their columns lie one after the other, others in NHWC layout. Outputs as above. NULL:
   * none. */
  uint32_t (*transposes)(const leat_op *op, const leati_call *call, uint32_t constants);
} leati_op_def;

/** The operators of one .c file. */
typedef struct leati_op_family {
  const leati_op_def *ops;
  uint32_t count;
} leati_op_family;

/** A family from its array of entries. */
#define LEATI_FAMILY(array) \
  { .ops = (array), .count = sizeof(array) / sizeof((array)[0]) }

/** The operator's definition, device, version and state. */
const leati_op_def *leati_op_def_of(const leat_op *op);
leat_device *leati_op_device(const leat_op *op);
uint32_t leati_op_since_version(const leat_op *op);
void *leati_op_state(leat_op *op);
const void *leati_op_state_const(const leat_op *op);

/** Input `i` if it was given, else NULL. */
static inline const leati_view *leati_input(const leati_call *call, uint32_t i) {
  return i < call->input_count && call->inputs[i].present ? &call->inputs[i] : NULL;
}
/** Output `i` if it is wanted, else NULL. */
static inline const leati_view *leati_output(const leati_call *call, uint32_t i) {
  return i < call->output_count && call->outputs[i].present ? &call->outputs[i] : NULL;
}

/* ---- The object, and what its entry says of its arguments -------------------------------------------------------- */

/** Frees an operator and the plans that it keeps; NULL: nothing. */
void leati_op_free(leat_op *op);
/** Fails unless `op` is a live operator. */
int32_t leati_op_check(const leat_op *op, leat_error *err);

/** Whether input `i` has to be there: those below the least count, all of them where any number is taken, and those of
 * leati_op_def::required_inputs. */
static inline bool leati_op_requires(const leati_op_def *def, uint32_t i) {
  return i < def->info.min_inputs || def->info.max_inputs == LEAT_VARIADIC || leati_has_input(def->required_inputs, i);
}

/** Whether argument `i` is on the host, by leat_op_info::host_inputs or ::host_outputs. */
static inline bool leati_op_is_host(uint64_t mask, uint32_t i) {
  return i < 64 && (mask >> i & 1u) != 0;
}

/** Fails unless input 0 may have so many dimensions.
 * @errors NOT_SUPPORTED */
int32_t leati_op_check_rank(const leati_op_def *def, int32_t rank, leat_error *err);
/** Which type constraint input `i` has, */
uint32_t leati_op_input_type(const leati_op_def *def, uint32_t i);
/** and output `o`. */
uint32_t leati_op_output_type(const leati_op_def *def, uint32_t o);

/** Says that an operator has not so many inputs or outputs.
 * @errors INVALID_ARGUMENT */
int32_t leati_op_fail_counts(const leat_op_info *info, uint32_t input_count, uint32_t output_count, leat_error *err);
/** Fails if it has not. */
static inline int32_t leati_op_check_counts(const leat_op_info *info, uint32_t input_count, uint32_t output_count,
                                            leat_error *err) {
  return input_count >= info->min_inputs && input_count <= info->max_inputs && output_count >= info->min_outputs &&
                 output_count <= info->max_outputs
             ? LEAT_OK
             : leati_op_fail_counts(info, input_count, output_count, err);
}

/** Writes "2", "2 to 4" or "2 and more"; `most` is `open` where there is no end. */
void leati_range_text(uint32_t least, uint32_t most, uint32_t open, char out[32]);

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
/** `info.flags` of an operator that a graph computes on the host, and how it does: LEATI_EVALUATED(LEAT_OP_IN_PLACE,
 * LEATI_EVALUATED_ALL, where_evaluate). The flags that say so to hosts follow from the types. */
#define LEATI_EVALUATED(flags_, types_, function)                                                                   \
  .info.flags =                                                                                                     \
      (flags_) | LEAT_OP_EVALUATED | (((types_)&LEAT_TYPE_FLOAT32) != 0 ? LEAT_OP_EVALUATED_FLOAT32 : UINT64_C(0)), \
  .evaluate = (function), .evaluated_types = (types_)
/** Types that shape arithmetic is made of, and with those of it that works on sizes and scales in float32. */
#define LEATI_EVALUATED_WHOLE (LEAT_TYPE_INT64 | LEAT_TYPE_INT32 | LEAT_TYPE_BOOL)
#define LEATI_EVALUATED_ALL (LEATI_EVALUATED_WHOLE | LEAT_TYPE_FLOAT32)
/** `info.types` and `info.attributes` of an entry: LEATI_TYPES(&leati_type_real), LEATI_ATTRIBUTES(&attribute_axis).
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

/** The floats that kernels compute with: as float32, each result rounded to its type once, when it is stored. */
#define LEATI_TYPES_REAL (LEAT_TYPE_FLOAT32 | LEAT_TYPE_FLOAT16 | LEAT_TYPE_BFLOAT16)
/** Those of 16 bits. */
#define LEATI_TYPES_HALF (LEAT_TYPE_FLOAT16 | LEAT_TYPE_BFLOAT16)
/** Elements of quantised tensors. */
#define LEATI_TYPES_BYTE (LEAT_TYPE_INT8 | LEAT_TYPE_UINT8)

/** Type constraints and attributes of several families. */
extern const leat_op_type leati_type_real;  /**< "T": LEATI_TYPES_REAL */
extern const leat_op_type leati_type_moved; /**< "T": LEATI_TYPES_HELD, of which moving needs only the size */
extern const leat_op_type leati_type_int64; /**< "tensor(int64)" */
extern const leat_op_type leati_type_index; /**< "Tind": int32, int64 */
extern const leat_op_attribute leati_attribute_alpha, leati_attribute_beta;
extern const leat_op_attribute leati_attribute_axis;
extern const leat_op_attribute leati_attribute_mode;

/* ---- Planning helpers (movement.c) -------------------------------------------------------------------------------
 */

/** Plans the copy of any view into any view of the same shape and item size (any strides; bytes are copied as they
 * are). */
int32_t leati_plan_strided_copy(leati_planner *planner, const leati_view *src, const leati_view *dst, leat_error *err);
/** Gives a compact view of the same contents: `view` itself if it is compact, else a temporary that is filled by a
 * copy. */
int32_t leati_plan_compact(leati_planner *planner, const leati_view *view, leati_view *out, leat_error *err);
/** leati_op_def::plan of an operator whose outputs are all views: a copy of each. */
int32_t leati_plan_views(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err);

/** Whether neighbours in the last dimension are neighbours in memory, or one element, so that reading the view in order
 * is fast; a small tensor always counts (LEATI_SCATTERED_MAX). */
bool leati_view_has_rows(const leati_view *view);
/** leati_op_def::reads_view of operators that read inputs in order, by strides of any sign; */
bool leati_reads_rows(const leat_op *op, const leati_call *call, uint32_t i);
/** that copy input 0 by leati_plan_strided_copy() or read it at random, and take the others compact; */
bool leati_reads_first_view(const leat_op *op, const leati_call *call, uint32_t i);
/** that copy all inputs so. */
bool leati_reads_any_view(const leat_op *op, const leati_call *call, uint32_t i);

#endif /* LEAT_PLUGIN_OPS_CORE_OP_H_ */
