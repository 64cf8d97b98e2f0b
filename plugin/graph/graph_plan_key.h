/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What a plan of a graph is for.
 */
#ifndef LEAT_PLUGIN_GRAPH_GRAPH_PLAN_KEY_H_
#define LEAT_PLUGIN_GRAPH_GRAPH_PLAN_KEY_H_

#include "graph/graph.h"
#include "graph/inference.h"

/** What a plan knows of an input or output. */
typedef struct leati_known_tensor {
  bool present, host, compact;
  uint8_t residue; /**< of an address on the device, modulo LEATI_PLAN_ALIGNMENT */
  int32_t ndim;
  uint64_t type, count;
  int64_t shape[LEAT_MAX_RANK], strides[LEAT_MAX_RANK];
  void *bytes;         /**< of an input that decides shapes: its elements; */
  bool ranged;         /**< or the plan is for any number */
  int64_t least, most; /**< from here to here */
} leati_known_tensor;

/** Does not change once the plan is made. */
typedef struct leati_graph_plan_key {
  bool aligned; /**< outputs on the host that are small enough to be staged begin where they can be */
  uint32_t tensor_count;
  leati_known_tensor *tensors; /**< inputs, then outputs */
} leati_graph_plan_key;

/** Notes what a plan is for: such inputs and outputs. `out` is all zero; leati_graph_plan_key_end() must follow, also
 * when it fails.
 * @errors OUT_OF_MEMORY */
int32_t leati_graph_plan_key_make(const leat_graph *graph, const leati_view *views, leati_graph_plan_key *out,
                                  leat_error *err);
void leati_graph_plan_key_end(leati_graph_plan_key *key);

/** Narrows the numbers that a plan is for to those of which nodes make the same: both those of the graph, `live` NULL,
 * from which shapes follow, and those that are planned.
 * @errors OUT_OF_MEMORY */
int32_t leati_graph_plan_key_narrow(leati_graph_plan_key *key, const leati_inference *inference,
                                    const leati_node *nodes, const bool *live, leat_error *err);

/** Whether a plan is for such inputs and outputs. */
bool leati_graph_plan_key_fits(const leati_graph_plan_key *key, const leat_graph *graph, const leati_view *views);
/** Whether the shapes of its outputs follow from such inputs: `views` without places. */
bool leati_graph_plan_key_fits_shapes(const leati_graph_plan_key *key, const leat_graph *graph,
                                      const leati_view *views);

/** Hashes of both. The low bits of the former, of which there are enough to choose a bucket, are those of the latter.
 */
uint64_t leati_graph_plan_hash(const leat_graph *graph, const leati_view *views);
uint64_t leati_graph_plan_hash_shapes(const leat_graph *graph, const leati_view *views);

#endif /* LEAT_PLUGIN_GRAPH_GRAPH_PLAN_KEY_H_ */
