/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/fold.h"

#include <string.h>

#include "core/status.h"
#include "core/sync.h"
#include "graph/fuse_integer.h"
#include "graph/graph_plan.h"
#include "graph/inference.h"
#include "graph/launch.h"
#include "ops/core/op_state.h"
#include "streams/free_streams.h"
#include "streams/stream.h"

/* What is folded may take so many bytes more than the constants it is made of. */
#define GROWTH_MAX (UINT64_C(64) << 10)

/* What is folded, and which results others take. */
typedef struct folding {
  leat_graph *graph;
  bool *folds;         /* by node */
  bool *wanted;        /* by value: made by a node that is folded, and taken by one that is not or given by the graph */
  uint32_t *outputs;   /* the wanted values */
  leati_value *values; /* all, of the graph that is run to make them: its outputs are the wanted ones */
  leati_view *views;   /* theirs, on the host */
  uint32_t count;
} folding;

/* Whether all that a node takes is constant, and what it gives is always the same and known to be no larger than is
 * worth keeping. */
static bool folds(const folding *f, const leati_node *node) {
  const leat_graph *const graph = f->graph;
  const bool uses_bytes = (graph->device->fusions_off >> LEATI_FUSION_INTEGER & 1u) == 0;
  uint64_t taken = GROWTH_MAX, given = 0;
  if (node->op->def->draws) {
    return false;
  }
  for (uint32_t i = 0; i < node->input_count; ++i) {
    if (node->inputs[i] == LEAT_GRAPH_NO_VALUE) {
      continue;
    }
    const leati_value *const value = &graph->values[node->inputs[i]];
    if (value->kind != LEATI_VALUE_CONSTANT && !(value->kind == LEATI_VALUE_RESULT && f->folds[value->source])) {
      return false;
    }
    taken += leati_value_size(value);
  }
  for (uint32_t o = 0; o < node->output_count; ++o) {
    if (node->outputs[o] == LEAT_GRAPH_NO_VALUE) {
      continue;
    }
    const leati_value *const value = &graph->values[node->outputs[o]];
    if (value->needed_on_host || (uses_bytes && leati_integer_takes(graph, node->outputs[o])) ||
        !leati_value_is_known(value) || leati_op_is_host(node->op->def->info.host_outputs, o)) {
      return false;
    }
    given += leati_value_size(value);
  }
  return given <= taken;
}

/* Finds what is wanted of what is folded, and where constants are needed when that is done. */
static void find_wanted(folding *f) {
  leat_graph *const graph = f->graph;
  for (uint32_t n = 0; n < graph->node_count; ++n) {
    const leati_node *const node = &graph->nodes[n];
    for (uint32_t i = 0; i < node->input_count && !f->folds[n]; ++i) {
      const uint32_t v = node->inputs[i];
      f->wanted[v == LEAT_GRAPH_NO_VALUE ? graph->value_count : v] = true;
    }
  }
  for (uint32_t v = 0; v < graph->value_count; ++v) {
    const leati_value *const value = &graph->values[v];
    const bool folded = value->kind == LEATI_VALUE_RESULT && f->folds[value->source];
    f->wanted[v] = folded && (f->wanted[v] || value->is_output);
    if (f->wanted[v]) {
      f->outputs[f->count++] = v;
    }
  }
}

/* Makes room on the host for what is wanted. */
static int32_t make_views(folding *f, leat_error *err) {
  f->views = leati_calloc(f->count, sizeof(*f->views));
  if (f->views == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for %u constants", f->count);
  }
  for (uint32_t i = 0; i < f->count; ++i) {
    leati_value *const value = &f->graph->values[f->outputs[i]];
    LEATI_TRY(leati_view_of_value(value, "a constant", &f->views[i], err));
    value->copy = leati_calloc(1, leati_value_size(value) + 1);
    if (value->copy == NULL) {
      return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for a constant of %llu bytes",
                        (unsigned long long)leati_value_size(value));
    }
    f->views[i].host = true;
    f->views[i].data = value->copy;
  }
  return LEAT_OK;
}

/* Runs what is folded: as the graph of the same nodes that takes nothing and gives what is wanted. */
static int32_t run(folding *f, leat_error *err) {
  f->values = leati_calloc(f->graph->value_count, sizeof(*f->values));
  if (f->values == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for %u values", f->graph->value_count);
  }
  memcpy(f->values, f->graph->values, f->graph->value_count * sizeof(*f->values));
  for (uint32_t v = 0; v < f->graph->value_count; ++v) {
    f->values[v].is_output = f->wanted[v];
  }
  leat_graph part = {.device = f->graph->device,
                     .value_count = f->graph->value_count,
                     .node_count = f->graph->node_count,
                     .output_count = f->count,
                     .values = f->values,
                     .nodes = f->graph->nodes,
                     .outputs = f->outputs};
  leati_graph_plan *plan;
  leat_stream *stream;
  const int32_t made = leati_graph_plan_make(&part, f->views, &plan, err);
  leati_inference_forget(&part);
  LEATI_TRY(made);
  int32_t status = leati_streams_take(part.device, &stream, err);
  if (status == LEAT_OK) {
    status = leati_graph_record(&part, stream, plan, f->views, err);
    if (status == LEAT_OK) {
      status = leati_stream_synchronize(stream, err);
    }
    leati_streams_release(stream);
  }
  leati_graph_plan_free(part.device, plan);
  return status;
}

/* Turns what was made into constants, and lets go what only what is folded took. */
static void finish(folding *f) {
  leat_graph *const graph = f->graph;
  for (uint32_t i = 0; i < f->count; ++i) {
    leati_value *const value = &graph->values[f->outputs[i]];
    value->kind = LEATI_VALUE_CONSTANT;
    value->bytes = value->copy;
    /* What the graph gives is copied from there. */
    value->on_device = value->on_device || value->is_output;
  }
  for (uint32_t n = 0; n < graph->node_count; ++n) {
    graph->nodes[n].folded = f->folds[n];
  }
  for (uint32_t v = 0; v < graph->value_count; ++v) {
    graph->values[v].on_device = graph->values[v].on_device && graph->values[v].is_output;
  }
  for (uint32_t n = 0; n < graph->node_count; ++n) {
    const leati_node *const node = &graph->nodes[n];
    for (uint32_t i = 0; i < node->input_count && !node->folded; ++i) {
      if (node->inputs[i] != LEAT_GRAPH_NO_VALUE && !leati_op_is_host(node->op->def->info.host_inputs, i)) {
        graph->values[node->inputs[i]].on_device = true;
      }
    }
  }
  for (uint32_t v = 0; v < graph->value_count; ++v) {
    leati_value *const value = &graph->values[v];
    if (value->constant != NULL && !value->on_device) {
      leati_shared_constant_release(graph->device, value->constant);
      value->constant = NULL;
    }
  }
}

int32_t leati_graph_fold(leat_graph *graph, leat_error *err) {
  folding f = {.graph = graph};
  bool any = false;
  f.folds = leati_calloc((size_t)graph->node_count + 1, sizeof(*f.folds));
  f.wanted = leati_calloc((size_t)graph->value_count + 1, sizeof(*f.wanted));
  f.outputs = leati_calloc((size_t)graph->value_count + 1, sizeof(*f.outputs));
  int32_t status =
      f.folds != NULL && f.wanted != NULL && f.outputs != NULL
          ? LEAT_OK
          : leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory to fold %u nodes", graph->node_count);
  for (uint32_t n = 0; n < graph->node_count && status == LEAT_OK; ++n) {
    f.folds[n] = folds(&f, &graph->nodes[n]);
    any = any || f.folds[n];
  }
  if (status == LEAT_OK && any) {
    find_wanted(&f);
    status = f.count != 0 ? make_views(&f, err) : LEAT_OK;
    if (status == LEAT_OK && f.count != 0) {
      status = run(&f, err);
    }
    if (status == LEAT_OK) {
      finish(&f);
    }
  }
  leati_free(f.folds);
  leati_free(f.wanted);
  leati_free(f.outputs);
  leati_free(f.views);
  leati_free(f.values);
  return status;
}
