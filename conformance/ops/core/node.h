/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The CPU reference of an operator: what the ONNX specification says its outputs are.
 *
 * Every operator is computed in the plainest way, with doubles for floating-point types and 64-bit integers for the
 * others, and says by element how far an implementation in the tensor's type may be off (see bound.h).
 */
#ifndef LEAT_CONFORMANCE_OPS_CORE_NODE_H_
#define LEAT_CONFORMANCE_OPS_CORE_NODE_H_

#include "ops/core/ref_tensor.h"

#define LEATI_REF_MAX_OUTPUTS 8

/** An operator with its inputs, and room for its outputs. */
typedef struct leati_ref_node {
  const char *name;                                /**< operator */
  uint32_t since_version;                          /**< "since version" of the form in use */
  uint32_t attribute_count;                        /**< elements of `attributes` */
  const leat_attribute *const *attributes;         /**< borrowed */
  uint32_t input_count;                            /**< elements of `inputs` */
  const leati_ref_tensor *const *inputs;           /**< borrowed; NULL element: the optional input is absent */
  uint32_t output_count;                           /**< outputs that are wanted, at most LEATI_REF_MAX_OUTPUTS */
  leati_ref_tensor outputs[LEATI_REF_MAX_OUTPUTS]; /**< all zero before leati_ref_run(); then owned by the caller */
  char error[256];                                 /**< why leati_ref_run() failed */
} leati_ref_node;

/** Computes one operator: sets all wanted outputs, or fails. */
typedef bool (*leati_ref_fn)(leati_ref_node *node);

/** An operator that the reference has. */
typedef struct leati_ref_entry {
  const char *name;
  leati_ref_fn run;
} leati_ref_entry;

/** Lists of families whose operators those of others compute with. Each family has one, `leati_ref_<family>`, that ends
 * with an entry without a name. */
extern const leati_ref_entry leati_ref_elementwise[];
extern const leati_ref_entry leati_ref_pointwise[];
extern const leati_ref_entry leati_ref_conv[];
extern const leati_ref_entry leati_ref_norm[];
extern const leati_ref_entry leati_ref_movement[];

/** Computes the outputs of a node whose operator is in a list; otherwise as leati_ref_run().
 * @threads any
 * @param list [in] where the operator is
 * @param node [inout] `outputs` all zero; release with leati_ref_node_clear()
 * @return whether it could; otherwise `error` says why */
bool leati_ref_run_of(const leati_ref_entry *list, leati_ref_node *node);

/** Whether a list has an operator of the name. */
bool leati_ref_has(const leati_ref_entry *list, const char *name);

/** Frees the outputs.
 * @threads owner
 * @param node [inout] a node */
void leati_ref_node_clear(leati_ref_node *node);

/** Notes why the node cannot be computed, printf's way; gives false. */
__attribute__((format(printf, 2, 3))) bool leati_ref_fail(leati_ref_node *node, const char *format, ...);

/** The input, or NULL when it is absent. */
const leati_ref_tensor *leati_ref_input(const leati_ref_node *node, uint32_t at);

/** The attribute, or NULL when it is absent. */
const leat_attribute *leati_ref_attribute(const leati_ref_node *node, const char *name);

/** The value of an INT attribute, or `otherwise`. */
int64_t leati_ref_int(const leati_ref_node *node, const char *name, int64_t otherwise);

/** The value of a FLOAT attribute, or `otherwise`. */
float leati_ref_float(const leati_ref_node *node, const char *name, float otherwise);

/** Whether a STRING attribute, `otherwise` where absent, is `value`. */
bool leati_ref_string_is(const leati_ref_node *node, const char *name, const char *otherwise, const char *value);

/** One element of an INTS attribute, or `otherwise` when the attribute is absent. */
int64_t leati_ref_ints_at(const leati_ref_node *node, const char *name, int64_t at, int64_t otherwise);

/** Reads the axes of an operator that takes them as input `input` or as attribute "axes".
 * @threads any
 * @param node [inout] the node; gets the error
 * @param input number of the input
 * @param rank what negative axes count from
 * @param axes [out] axes from 0 to rank-1, in the order given, without doubles
 * @param count [out] number of axes, or -1 when none were given
 * @return false if an axis is out of range or doubled */
bool leati_ref_axes(leati_ref_node *node, uint32_t input, int32_t rank, int32_t axes[LEAT_MAX_RANK], int32_t *count);

/** Makes an axis count from the front; false when it is outside [-rank, rank-1]. */
bool leati_ref_axis(leati_ref_node *node, int64_t axis, int32_t rank, int32_t *out_axis);

#endif /* LEAT_CONFORMANCE_OPS_CORE_NODE_H_ */
