/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/graph_table.h"

#include <stdio.h>

#include "core/status.h"
#include "core/sync.h"
#include "device/device.h"
#include "graph/build.h"
#include "graph/graph.h"
#include "graph/launch.h"
#include "graph/prepare.h"
#include "graph/shared_constants.h"
#include "streams/stream.h"

/* The graphs of a device. The lock guards the list alone; launching a graph takes no lock here. */
struct leati_graphs {
  leati_mutex lock;
  leat_graph *first;
};

int32_t leati_graphs_create(leat_device *device, leat_error *err) {
  LEATI_TRY(leati_shared_constants_create(device, err));
  struct leati_graphs *const graphs = leati_calloc(1, sizeof(*graphs));
  if (graphs == NULL) {
    leati_shared_constants_destroy(device);
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for the list of graphs");
  }
  leati_mutex_init(&graphs->lock, LEATI_RANK_OBJECTS);
  device->graphs = graphs;
  return LEAT_OK;
}

void leati_graphs_destroy(leat_device *device) {
  struct leati_graphs *const graphs = device->graphs;
  if (graphs == NULL) {
    return;
  }
  for (leat_graph *graph = graphs->first; graph != NULL;) {
    leat_graph *const next = graph->next;
    graph->kind = LEATI_KIND_DEAD;
    leati_graph_free(graph);
    graph = next;
  }
  leati_mutex_destroy(&graphs->lock);
  leati_free(graphs);
  device->graphs = NULL;
  leati_shared_constants_destroy(device);
}

/* ---- Building and destroying ------------------------------------------------------------------------------------ */

static int32_t graph_build(leat_device *device, const leat_graph_desc *desc, leat_graph **out, leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_device_check(device, err));
  if (out == NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "graph.build: out is NULL");
  }
  *out = NULL;
  leat_graph *graph;
  LEATI_TRY(leati_graph_build(device, desc, &graph, err));
  struct leati_graphs *const graphs = device->graphs;
  leati_mutex_lock(&graphs->lock);
  graph->next = graphs->first;
  if (graphs->first != NULL) {
    graphs->first->previous = graph;
  }
  graphs->first = graph;
  leati_mutex_unlock(&graphs->lock);
  *out = graph;
  return LEAT_OK;
}

static int32_t graph_destroy(leat_graph *graph, leat_error *err) {
  LEATI_ENTER_TO_RELEASE(err);
  if (graph == NULL) {
    return LEAT_OK;
  }
  LEATI_TRY(leati_graph_check(graph, err));
  struct leati_graphs *const graphs = graph->device->graphs;
  leati_mutex_lock(&graphs->lock);
  if (graph->previous != NULL) {
    graph->previous->next = graph->next;
  } else {
    graphs->first = graph->next;
  }
  if (graph->next != NULL) {
    graph->next->previous = graph->previous;
  }
  leati_mutex_unlock(&graphs->lock);
  graph->kind = LEATI_KIND_DEAD;
  leati_graph_free(graph);
  return LEAT_OK;
}

/* ---- Running ---------------------------------------------------------------------------------------------------- */

/* Checks the graph of a call, and how many tensors it has. */
static int32_t check_call(const leat_graph *graph, uint32_t input_count, const void *inputs, uint32_t output_count,
                          const void *outputs, leat_error *err) {
  LEATI_TRY(leati_graph_check(graph, err));
  if (input_count != graph->input_count || output_count != graph->output_count) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%u inputs and %u outputs; the graph has %u and %u",
                      input_count, output_count, graph->input_count, graph->output_count);
  }
  if ((input_count != 0 && inputs == NULL) || (output_count != 0 && outputs == NULL)) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "the array of %s is NULL",
                      input_count != 0 && inputs == NULL ? "inputs" : "outputs");
  }
  return LEAT_OK;
}

static int32_t graph_infer(const leat_graph *graph, uint32_t input_count, const DLTensor *const *inputs,
                           uint32_t output_count, leat_shape *const *out, leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(check_call(graph, input_count, inputs, output_count, out, err));
  return leati_graph_infer(graph, inputs, out, err);
}

static int32_t graph_launch(const leat_graph *graph, leat_stream *stream, uint32_t input_count,
                            const DLTensor *const *inputs, uint32_t output_count, const DLTensor *const *outputs,
                            leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(check_call(graph, input_count, inputs, output_count, outputs, err));
  LEATI_TRY(leati_stream_check(stream, graph->device, err));
  return leati_graph_launch(graph, stream, inputs, outputs, err);
}

static int32_t graph_prepare(const leat_graph *graph, uint32_t input_count, const DLTensor *const *inputs,
                             uint32_t *inout_count, leat_error *err) {
  LEATI_ENTER(err);
  if (inout_count == NULL) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "graph.prepare: inout_count is NULL");
  }
  const uint32_t max = *inout_count;
  *inout_count = 0;
  LEATI_TRY(leati_graph_check(graph, err));
  LEATI_TRY(check_call(graph, input_count, inputs, graph->output_count, graph, err));
  return leati_graph_prepare(graph, inputs, max, inout_count, err);
}

/* ---- Telling ---------------------------------------------------------------------------------------------------- */

/* Figures of the plan that was made last, and how many there are. */
static leati_graph_figures figures_of(const leat_graph *graph, uint32_t *out_plan_count) {
  leati_graph_plan_cache *const plans = leati_graph_plans_of(graph);
  leati_mutex_lock(&plans->cache.lock);
  const leati_graph_figures figures = plans->figures;
  *out_plan_count = plans->cache.table.count;
  leati_mutex_unlock(&plans->cache.lock);
  return figures;
}

static int32_t graph_info(const leat_graph *graph, leat_graph_info *out, leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_graph_check(graph, err));
  uint32_t plan_count;
  const leati_graph_figures figures = figures_of(graph, &plan_count);
  leat_graph_info info = {.struct_size = sizeof(info),
                          .node_count = graph->node_count,
                          .dispatch_count = figures.dispatch_count,
                          .copy_count = figures.copy_count,
                          .level_count = figures.level_count,
                          .constant_bytes = graph->constant_bytes + figures.own_bytes,
                          .arena_bytes = figures.arena_bytes,
                          .naive_bytes = figures.naive_bytes,
                          .plan_count = plan_count,
                          .compile_count = atomic_load_explicit(&graph->plans.compiled, memory_order_relaxed)};
  for (uint32_t i = 0; i < LEATI_LRU_COUNTERS; ++i) {
    info.launch_count += atomic_load_explicit(&graph->plans.cache.readers.counters[i].uses, memory_order_relaxed);
  }
  return leati_export(out, &info, sizeof(info), LEAT_SIZE_THROUGH(leat_graph_info, launch_count), "leat_graph_info",
                      err);
}

static int32_t graph_fusions(const leat_graph *graph, uint32_t *inout_count, leat_graph_fusion *out, leat_error *err) {
  LEATI_ENTER(err);
  LEATI_TRY(leati_graph_check(graph, err));
  LEATI_TRY(leati_check_list(inout_count, out, sizeof(*out), "leat_graph_fusion", err));
  uint32_t plan_count;
  const leati_graph_figures figures = figures_of(graph, &plan_count);
  for (uint32_t i = 0; i < LEATI_FUSION_COUNT && i < *inout_count; ++i) {
    leat_graph_fusion fusion = {.struct_size = sizeof(fusion), .count = figures.fusion_counts[i]};
    (void)snprintf(fusion.name, sizeof(fusion.name), "%s", leati_fusion_names[i]);
    out[i] = fusion;
  }
  *inout_count = LEATI_FUSION_COUNT;
  return LEAT_OK;
}

#define SLOTS_1_0                                                                                                   \
  .build = graph_build, .destroy = graph_destroy, .infer = graph_infer, .launch = graph_launch, .info = graph_info, \
  .fusions = graph_fusions

const leat_graph_api leati_graph_table = {.struct_size = sizeof(leat_graph_api), SLOTS_1_0, .prepare = graph_prepare};
const leat_graph_api leati_graph_table_1_0 = {.struct_size = LEAT_SIZE_THROUGH(leat_graph_api, fusions), SLOTS_1_0};
