/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The plan of a graph: what a launch does for inputs and outputs of given types, shapes, strides and places, whatever
 * their addresses are.
 */
#ifndef LEAT_PLUGIN_GRAPH_GRAPH_PLAN_H_
#define LEAT_PLUGIN_GRAPH_GRAPH_PLAN_H_

#include "graph/graph.h"
#include "graph/graph_plan_key.h"
#include "memory/tensor.h"
#include "record/plan.h"

/** leati_graph_transfer::tensor of bytes of the plan itself. */
#define LEATI_GRAPH_PLAN_BYTES UINT32_MAX

/** Bytes between the device and the host's memory of an input or output, or what a plan knows: a value that follows
 * from shapes. Such values are staged with each launch, because a new shape is not to wait until they are on the
 * device. */
typedef struct leati_graph_transfer {
  uint32_t tensor;  /**< which input, or output; or LEATI_GRAPH_PLAN_BYTES, */
  uint32_t data;    /**< from here in leati_plan::args */
  uint32_t binding; /**< of the plan */
  int64_t offset;   /**< from the address of that */
  uint64_t size;
  bool staged; /**< kernels read or write them where they are staged: nothing is copied */
} leati_graph_transfer;

typedef struct leati_graph_plan {
  leati_lru_entry entry; /**< of the graph's cache */
  leati_plan plan; /**< bindings: inputs, outputs, constants, the arena; its arrays are leati_free()d one by one */
  leati_graph_figures figures;
  leati_graph_plan_key key;    /**< what it is for */
  leat_shape *shapes;          /**< of the outputs */
  leati_binding *constants;    /**< those that the plan binds */
  leati_shared_constant **own; /**< those of them that have the elements of one of the graph's in another order */
  leati_graph_transfer *uploads, *downloads;
  uint32_t constant_count, own_count, upload_count, download_count;
} leati_graph_plan;

/** Makes a plan for tensors that were checked: `views` of inputs and outputs. Compiles what nobody has compiled yet.
 * Hold no lock. Release with leati_graph_plan_free().
 * @errors what operators return; OUT_OF_MEMORY */
int32_t leati_graph_plan_make(const leat_graph *graph, const leati_view *views, leati_graph_plan **out,
                              leat_error *err);
/** NULL: nothing. */
void leati_graph_plan_free(leat_device *device, leati_graph_plan *plan);

#endif /* LEAT_PLUGIN_GRAPH_GRAPH_PLAN_H_ */
