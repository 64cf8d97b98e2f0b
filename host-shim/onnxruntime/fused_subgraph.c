/* SPDX-License-Identifier: BSD-3-Clause */
#include "fused_subgraph.h"

#include <stdio.h>
#include <stdlib.h>

#include "compute_target.h"
#include "graph_description.h"

/* Rewritings that a message lists at most. */
#define FUSIONS_MAX 32

typedef struct subgraph {
  OrtNodeComputeInfo base;
  leati_compute_target target;
} subgraph;

/* There is nothing to keep for a session beside the fused subgraph itself, which belongs to one. */
static OrtStatus *ORT_API_CALL subgraph_create_state(OrtNodeComputeInfo *self, OrtNodeComputeContext *context,
                                                     void **state) {
  (void)context;
  *state = self;
  return NULL;
}

static OrtStatus *ORT_API_CALL subgraph_compute(OrtNodeComputeInfo *self, void *state, OrtKernelContext *context) {
  (void)state;
  return leati_compute_target_run(&((subgraph *)self)->target, context);
}

static void ORT_API_CALL subgraph_release_state(OrtNodeComputeInfo *self, void *state) {
  (void)self;
  (void)state;
}

/* "fused subgraph of 3 nodes, from MatMul 'a' to Relu 'c'" */
static char *make_label(const leat_graph_desc *graph) {
  const leat_graph_node *first = graph->nodes[0];
  const leat_graph_node *last = graph->nodes[graph->node_count - 1];
  char *label = NULL;
  const int length = asprintf(&label, "fused subgraph of %u nodes, from %s node '%s' to %s node '%s'",
                              graph->node_count, first->op, first->name, last->op, last->name);
  return length < 0 ? NULL : label;
}

static void log_nodes(const leati_compute_target *target, const OrtLogger *logger, const leat_graph_desc *graph) {
  for (uint32_t i = 0; i < graph->node_count; ++i) {
    leati_ort_log(target->runtime, logger, ORT_LOGGING_LEVEL_VERBOSE, LEATI_PROVIDER_NAME ": %s node '%s' is in the %s",
                  graph->nodes[i]->op, graph->nodes[i]->name, target->label);
  }
}

/* "; rewritten: bias 12, activation 6", or nothing. */
static void describe_fusions(const leati_compute_target *target, char *text, size_t size) {
  const leat_graph_api *const api = target->runtime->leat->graph;
  leat_graph_fusion list[FUSIONS_MAX];
  uint32_t count = FUSIONS_MAX;
  size_t used = 0;
  text[0] = '\0';
  for (uint32_t i = 0; i < FUSIONS_MAX; ++i) {
    list[i] = (leat_graph_fusion){.struct_size = sizeof(list[i])};
  }
  if (api->fusions(target->graph, &count, list, NULL) != LEAT_OK) {
    return;
  }
  for (uint32_t i = 0; i < count && i < FUSIONS_MAX && used < size; ++i) {
    if (list[i].count != 0) {
      used += (size_t)snprintf(text + used, size - used, "%s %s %u", used != 0 ? "," : "; rewritten:", list[i].name,
                               list[i].count);
    }
  }
}

/* Says what a launch takes, once the shapes of some launch are known. */
static void log_graph(const leati_compute_target *target, const OrtLogger *logger) {
  const leati_runtime *runtime = target->runtime;
  leat_graph_info info = {.struct_size = sizeof(info)};
  char fusions[512];
  if (target->graph == NULL || !leati_ort_log_wanted(runtime, logger, ORT_LOGGING_LEVEL_INFO) ||
      runtime->leat->graph->info(target->graph, &info, NULL) != LEAT_OK || info.plan_count == 0) {
    return;
  }
  describe_fusions(target, fusions, sizeof(fusions));
  leati_ort_log(runtime, logger, ORT_LOGGING_LEVEL_INFO,
                LEATI_PROVIDER_NAME
                ": %s: %llu launches, of %u dispatches in %u levels and %u copies; %llu bytes of constants, %llu of "
                "arena; %llu pipelines compiled by launches%s",
                target->label, (unsigned long long)info.launch_count, info.dispatch_count, info.level_count,
                info.copy_count, (unsigned long long)info.constant_bytes, (unsigned long long)info.arena_bytes,
                (unsigned long long)info.compile_count, fusions);
}

/* Builds the graph, of which the description says everything. */
static OrtStatus *build(leati_compute_target *target, const leat_graph_desc *graph) {
  const leati_runtime *runtime = target->runtime;
  target->input_count = graph->input_count;
  target->output_count = graph->output_count;
  target->label = make_label(graph);
  target->wanted = calloc(graph->output_count + 1u, sizeof(*target->wanted));
  if (target->label == NULL || target->wanted == NULL) {
    return leati_status(runtime, ORT_FAIL, "out of memory for a fused subgraph");
  }
  for (uint32_t i = 0; i < graph->output_count; ++i) {
    target->wanted[i] = true;
  }
  leat_device *device = NULL;
  leat_error error = {.struct_size = sizeof(error)};
  int32_t code = leati_shared_device_open(target->device, &device, &error);
  if (code == LEAT_OK) {
    code = runtime->leat->graph->build(device, graph, &target->graph, &error);
  }
  return leati_status_from(runtime, code, &error, "building its graph");
}

OrtStatus *leati_fused_subgraph_create(leati_shared_device *device, const leati_kernel_registry *registry,
                                       const leati_model_inputs *inputs, const OrtGraph *graph, const OrtNode *fused,
                                       const OrtLogger *logger, OrtNodeComputeInfo **out) {
  const leati_runtime *runtime = device->runtime;
  subgraph *self = calloc(1, sizeof(*self));
  if (self == NULL) {
    return leati_status(runtime, ORT_FAIL, LEATI_PROVIDER_NAME ": out of memory for a fused subgraph");
  }
  self->base = (OrtNodeComputeInfo){.ort_version_supported = runtime->version,
                                    .CreateState = subgraph_create_state,
                                    .Compute = subgraph_compute,
                                    .ReleaseState = subgraph_release_state};
  self->target = (leati_compute_target){.runtime = runtime, .device = device};
  leati_shape_cache_begin(&self->target.shapes);
  leati_graph_description description = {0};
  OrtStatus *status = leati_graph_description_read(&description, registry, inputs, graph, fused);
  if (status == NULL) {
    status = build(&self->target, &description.graph);
  }
  if (status == NULL) {
    log_nodes(&self->target, logger, &description.graph);
  }
  leati_graph_description_clear(&description, runtime);
  if (status != NULL) {
    status = leati_status_prefix(runtime, status, LEATI_PROVIDER_NAME ": %s",
                                 self->target.label != NULL ? self->target.label : "a fused subgraph of nodes");
    leati_fused_subgraph_destroy(&self->base);
    return status;
  }
  log_graph(&self->target, logger);
  *out = &self->base;
  return NULL;
}

/* Puts a graph among those that are kept, which takes it over. */
static bool keep(leati_trials *trials, leat_graph *graph) {
  leat_graph **graphs = realloc(trials->graphs, (trials->count + 1) * sizeof(leat_graph *));
  if (graphs == NULL) {
    return false;
  }
  graphs[trials->count++] = graph;
  trials->graphs = graphs;
  return true;
}

void leati_trials_clear(leati_trials *trials, const leati_runtime *runtime) {
  for (size_t i = 0; i < trials->count; ++i) {
    runtime->leat->graph->destroy(trials->graphs[i], NULL);
  }
  free(trials->graphs);
  *trials = (leati_trials){0};
}

OrtStatus *leati_fused_subgraph_try(leati_shared_device *device, const leati_kernel_registry *registry,
                                    const leati_model_inputs *inputs, const OrtNode *const *nodes, size_t count,
                                    leati_trials *trials, bool *out_possible, leat_error *why) {
  const leati_runtime *runtime = device->runtime;
  leat_device *opened = NULL;
  leat_graph *graph = NULL;
  leati_graph_description description = {0};
  *out_possible = false;
  OrtStatus *status = leati_graph_description_of_nodes(&description, registry, inputs, nodes, count);
  if (status == NULL) {
    int32_t code = leati_shared_device_open(device, &opened, why);
    if (code == LEAT_OK) {
      code = runtime->leat->graph->build(opened, &description.graph, &graph, why);
    }
    *out_possible = code == LEAT_OK;
    if (code != LEAT_ERROR_NOT_SUPPORTED && code != LEAT_ERROR_INVALID_ARGUMENT && code != LEAT_ERROR_OUT_OF_MEMORY) {
      status = leati_status_from(runtime, code, why, LEATI_PROVIDER_NAME ": trying a graph of %zu nodes", count);
    }
  }
  leati_graph_description_clear(&description, runtime);
  if (graph != NULL && !keep(trials, graph)) {
    runtime->leat->graph->destroy(graph, NULL);
  }
  return status;
}

const leat_graph *leati_fused_subgraph_graph(const OrtNodeComputeInfo *info, const char **out_label) {
  const leati_compute_target *const target = &((const subgraph *)info)->target;
  *out_label = target->label;
  return target->graph;
}

void leati_fused_subgraph_destroy(OrtNodeComputeInfo *info) {
  if (info != NULL) {
    log_graph(&((subgraph *)info)->target, NULL);
    leati_compute_target_clear(&((subgraph *)info)->target);
    free(info);
  }
}
