/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * A graph as it was described: values, and the nodes that make them. Nothing of it changes once the graph is built, but
 * for its cached programs and plans (graph/program_cache.h, graph/graph_plan_cache.h).
 */
#ifndef LEAT_PLUGIN_GRAPH_GRAPH_H_
#define LEAT_PLUGIN_GRAPH_GRAPH_H_

#include <leat/backend.h>
#include <stdbool.h>

#include "core/lru_cache.h"
#include "device/device.h"
#include "graph/attributes.h"
#include "graph/graph_plan_cache.h"
#include "graph/known_ops.h"
#include "graph/shared_constants.h"
#include "ops/core/op.h"

/** Values of a graph at most, and arguments of a node: the numbers of bindings stay small. */
#define LEATI_GRAPH_VALUES_MAX (1u << 18)
#define LEATI_GRAPH_ARGUMENTS_MAX (1u << 14)

/** Buckets of the table of programs, which are few. */
#define LEATI_PROGRAM_BUCKETS 64

/** Where a value comes from. */
typedef enum leati_value_kind {
  LEATI_VALUE_UNUSED, /**< nowhere */
  LEATI_VALUE_INPUT,
  LEATI_VALUE_CONSTANT,
  LEATI_VALUE_RESULT, /**< of a node */
} leati_value_kind;

typedef struct leati_value {
  leati_value_kind kind;
  uint32_t source;              /**< which input of the graph, or which node */
  uint64_t type;                /**< LEAT_TYPE_*; 0: not known */
  int32_t ndim;                 /**< -1: not known */
  int64_t shape[LEAT_MAX_RANK]; /**< -1: not known */
  bool needed_on_host;          /**< shapes follow from its elements: they must be known on the host */
  bool ranged;       /**< it does, but all that nodes ask is where a number lies (leati_op_def::host_range) */
  bool on_device;    /**< a node takes it on the device */
  bool is_output;    /**< of the graph */
  const void *bytes; /**< elements of a constant: the caller's while the graph is built, `copy` then */
  void *copy;        /**< of the elements of a constant that decides or is small, or NULL */
  leati_shared_constant *constant; /**< those on the device; NULL: no node takes them there */
} leati_value;

typedef struct leati_node {
  leat_op *op;
  leati_known_op known; /**< which of those that rules look for it is */
  char *name;           /**< for messages; NULL: it has none */
  uint32_t input_count, output_count;
  const uint32_t *inputs, *outputs; /**< values */
  leati_kept_attributes attributes;
  bool folded;    /**< what it gives is constant: it never runs again */
  bool evaluates; /**< its inputs have types of which it is computed on the host (leati_op_def::evaluate) */
} leati_node;

/** Inferences of a graph that threads keep, at most. */
#define LEATI_KEPT_INFERENCES 8

struct leati_inference;
typedef _Atomic(struct leati_inference *) leati_kept_inference;

struct leat_graph {
  leati_kind kind;
  leat_device *device;
  leat_graph *previous, *next; /**< in the device's list; guarded by its lock */
  uint32_t value_count, node_count, input_count, output_count;
  leati_value *values;
  leati_node *nodes;
  uint32_t *inputs, *outputs; /**< values */
  uint32_t *caches;           /**< for each output the input whose memory it may be, or LEAT_GRAPH_NO_VALUE */
  uint32_t *arguments;        /**< of all nodes */
  uint64_t constant_bytes;    /**< on the device */
  leati_graph_plan_cache plans;
  leati_lru_cache programs; /**< of leati_program (graph/program_cache.h); not begun: the graph keeps none */
  leati_lru_bucket program_buckets[LEATI_PROGRAM_BUCKETS];
  struct leati_known_value *known;                  /**< what inferences begin with: constants; NULL: not kept yet */
  leati_kept_inference kept[LEATI_KEPT_INFERENCES]; /**< graph/inference.h */
  _Atomic uint64_t kept_bytes;                      /**< that they count for; relaxed, as it is but a bound */
};

/** The plans of a graph, which change while it does not. */
static inline leati_graph_plan_cache *leati_graph_plans_of(const leat_graph *graph) {
  return (leati_graph_plan_cache *)&graph->plans;
}

/** Fails unless `graph` is a live graph. */
int32_t leati_graph_check(const leat_graph *graph, leat_error *err);

/** Whether the shape of a value is known before any launch; and the bytes of its elements then. */
bool leati_value_is_known(const leati_value *value);
uint64_t leati_value_size(const leati_value *value);
/** Such a shape and the type as a view, of memory that need not exist yet. `what` names it in messages.
 * @errors those of leati_view_import_shape() */
int32_t leati_view_of_value(const leati_value *value, const char *what, leati_view *out, leat_error *err);

/** Whether an output of a node, of this type, is computed on the host if what it follows from is known there. */
static inline bool leati_can_evaluate(const leati_node *node, uint64_t type) {
  return node->evaluates && (type & leati_op_def_of(node->op)->evaluated_types) != 0;
}

/** Fails with what `found` says, and the node that it is about, with its operator. */
int32_t leati_graph_fail(const leat_graph *graph, uint32_t node, const char *op, const leat_error *found,
                         leat_error *err);

#endif /* LEAT_PLUGIN_GRAPH_GRAPH_H_ */
