/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Rewriting nodes into fewer, once the shapes of a graph's inputs are known. A rule looks at one node and at those that
 * made its inputs, and may put another operator in its place that does all of it; nodes whose results nobody needs then
 * are left out. Rules (graph/fusion_rules.h) work on a copy of the nodes that belongs to one plan on its way. Belongs
 * to one thread.
 *
 * A rule changes no result beyond rounding, and is at least as exact as the nodes that it replaces.
 *
 * What rules wrote holds for other shapes too, where they would be told the same (graph/guards.h). So a rule looks at
 * shapes by the functions below alone: whether a size is 0 or 1 it may ask as it likes, and all else is noted.
 */
#ifndef LEAT_PLUGIN_GRAPH_FUSION_H_
#define LEAT_PLUGIN_GRAPH_FUSION_H_

#include "core/fusions.h"
#include "graph/guards.h"
#include "graph/inference.h"

struct leati_fused_op;

typedef struct leati_fusion {
  const leat_graph *graph;
  const leati_inference *inference; /**< of all values; not for rules */
  leati_guards *guards;             /**< what rules relied on */
  leati_node *nodes;                /**< as many as the graph has */
  bool *live;                       /**< by node: it is needed */
  uint32_t *makers; /**< by value: the node that makes it; UINT32_MAX: none, or it need not run for it */
  uint32_t *uses;   /**< by value: inputs of live nodes that take it, and outputs of the graph */
  uint32_t doubtful_begin, doubtful_end; /**< from which node to which there may be some that nobody needs any more */
  struct leati_fused_op *made;           /**< operators that rules made */
  uint32_t counts[LEATI_FUSION_COUNT];
} leati_fusion;

/** Begins with the nodes of a graph, in `nodes` and `live`, which the caller keeps: as many as the graph has, and
 * whether each is needed. leati_fusion_end() must follow, also when it fails.
 * @errors OUT_OF_MEMORY */
int32_t leati_fusion_begin(const leat_graph *graph, const leati_inference *inference, leati_node *nodes, bool *live,
                           leati_guards *guards, leati_fusion *out, leat_error *err);
/** Ends it; operators that rules made and that nodes have stay, and are given out. leati_fused_ops_free() them. */
struct leati_fused_op *leati_fusion_end(leati_fusion *fusion);
void leati_fused_ops_free(struct leati_fused_op *ops);
/** Bytes that they take, about. */
uint64_t leati_fused_ops_bytes(const struct leati_fused_op *ops);
/** Whether a node that rules wrote gives what its outputs are, for the shapes of an inference.
 * @errors INVALID_ARGUMENT or NOT_SUPPORTED if it does not; OUT_OF_MEMORY */
int32_t leati_fusion_check(const leati_inference *inference, const leati_node *node, leat_error *err);

/** A rule: tries to rewrite node `n`, the last of those that it is about, whose outputs stay. `*out_done` is false at
 * first.
 * @errors OUT_OF_MEMORY */
typedef int32_t leati_fusion_rule(leati_fusion *f, uint32_t n, bool *out_done, leat_error *err);
#define LEATI_FUSION_DECLARE(number, name) leati_fusion_rule leati_fuse_##name;
LEATI_FUSION_RULES(LEATI_FUSION_DECLARE)
#undef LEATI_FUSION_DECLARE

/* ---- What rules are made of ------------------------------------------------------------------------------------- */

/** Whether a node is this operator; NULL is none. */
bool leati_fusion_is(const leati_node *node, leati_known_op op);
/** Whether a node is QuantizeLinear, or DequantizeLinear: ONNX's, or the contributed one that means the same. */
bool leati_fusion_quantizes(const leati_node *node);
bool leati_fusion_dequantizes(const leati_node *node);
/** The node that runs to make value `v`, which may be LEAT_GRAPH_NO_VALUE; NULL: there is none. */
const leati_node *leati_fusion_maker(const leati_fusion *f, uint32_t v);
/** The same if the value is for one input alone, so that nobody else needs it. */
const leati_node *leati_fusion_private_maker(const leati_fusion *f, uint32_t v);
/** Input `i` of a node; LEAT_GRAPH_NO_VALUE: it has none. */
uint32_t leati_fusion_input(const leati_node *node, uint32_t i);
/** Type and rank of a value. */
uint64_t leati_fusion_type(const leati_fusion *f, uint32_t v);
int32_t leati_fusion_rank(const leati_fusion *f, uint32_t v);
/** Whether two values have one shape, which is relied on. */
bool leati_fusion_same_shape(const leati_fusion *f, uint32_t v, uint32_t w);
/** Whether dimension `d` of a value and dimension `e` of another one, which they have, are of one size, which is
 * relied on. */
bool leati_fusion_same_size(const leati_fusion *f, uint32_t v, int32_t d, uint32_t w, int32_t e);
/** Whether a dimension of a value is of size 1; whether a value has one element, or none. */
bool leati_fusion_is_one(const leati_fusion *f, uint32_t v, int32_t d);
bool leati_fusion_is_single(const leati_fusion *f, uint32_t v);
bool leati_fusion_is_empty(const leati_fusion *f, uint32_t v);
/** The size of a dimension, which is relied on. */
int64_t leati_fusion_size(const leati_fusion *f, uint32_t v, int32_t d);
/** The answer to a question about values, which is relied on.
 * @param count at most LEATI_QUESTION_VALUES_MAX */
bool leati_fusion_ask(const leati_fusion *f, leati_question *question, uint32_t count, const uint32_t *values,
                      uint64_t with);
/** Whether a value is of one element, of float32 or 16 bits, that is known on the host, and what that is. */
bool leati_fusion_scalar(const leati_fusion *f, uint32_t v, float *out);
/** Whether a value is one int64, int32, int8 or uint8 that is known on the host, and what that is. */
bool leati_fusion_whole(const leati_fusion *f, uint32_t v, int64_t *out);
/** Whether a scalar is one that is `expected`, as far as float32 can tell two roundings of the same number apart. */
bool leati_fusion_is_scalar(const leati_fusion *f, uint32_t v, double expected);

/** Whether a value, or none, is there before node `n` runs. */
bool leati_fusion_is_before(const leati_fusion *f, uint32_t v, uint32_t n);
/** Whether a value has one dimension, with an element for each of the last dimension of `x`. */
bool leati_fusion_is_row(const leati_fusion *f, uint32_t v, uint32_t x);

/** Attributes of an operator that a rule writes at most. */
#define LEATI_FUSION_ATTRIBUTES_MAX 16

/** Attributes that a rule writes. They point to what they are made of. */
leat_attribute leati_fusion_int(const char *name, int64_t value);
leat_attribute leati_fusion_float(const char *name, float value);
leat_attribute leati_fusion_string(const char *name, const char *value);
leat_attribute leati_fusion_ints(const char *name, const int64_t *values, uint32_t count);
leat_attribute leati_fusion_floats(const char *name, const float *values, uint32_t count);

/** An operator that a rule puts in the place of a node, and whose outputs are those of that node. */
typedef struct leati_fusion_node {
  leati_known_op op;
  uint32_t since_version;                /**< one that the row of `op` has (graph/known_ops.h) */
  uint32_t input_count, attribute_count; /**< at most LEATI_FUSION_ATTRIBUTES_MAX */
  const uint32_t *inputs;                /**< values; LEAT_GRAPH_NO_VALUE: absent */
  const leat_attribute *attributes;
  /** Where it takes the places of several nodes, all their outputs; 0: of that node alone. The others come later. */
  uint32_t output_count;
  const uint32_t *outputs;
} leati_fusion_node;

/** Makes an operator and puts it in the place of node `n`; its inputs are made by earlier nodes. Where the operator
 * refuses them, or infers something else than the outputs are, nothing happens and `*out_done` is false.
 * @errors OUT_OF_MEMORY */
int32_t leati_fusion_replace(leati_fusion *f, uint32_t n, const leati_fusion_node *with, bool *out_done,
                             leat_error *err);

/** The same for two nodes, `first` and a later one, `n`: both are replaced, or neither is. One may have outputs that
 * were the other's.
 * @errors OUT_OF_MEMORY */
int32_t leati_fusion_replace_two(leati_fusion *f, uint32_t first, const leati_fusion_node *with_first, uint32_t n,
                                 const leati_fusion_node *with, bool *out_done, leat_error *err);

#endif /* LEAT_PLUGIN_GRAPH_FUSION_H_ */
