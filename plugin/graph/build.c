/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/build.h"

#include <string.h>

#include "core/status.h"
#include "core/sync.h"
#include "graph/attributes.h"
#include "graph/fold.h"
#include "graph/graph_import.h"
#include "graph/graph_plan.h"
#include "graph/inference.h"
#include "graph/make_op.h"
#include "graph/program.h"
#include "ops/core/op_state.h"
#include "ops/core/op_table.h"
#include "ops/core/plan_cache.h"
#include "record/compilation.h"

/* Constants whose elements are kept on the host, of numbers and of what is taken for indices, sizes and masks. */
#define SMALL_CONSTANT_BYTES 64
#define SMALL_INDICES_BYTES (32u << 10)
/* Programs may take this part of what plans may: they are as large as some tens of these, and few. */
#define PROGRAMS_PART 4

/* ---- Types ------------------------------------------------------------------------------------------------------ */

/* Type of output `o` of a node whose shapes are not known: that of an input with the same type constraint, or the only
 * one that the constraint has, or what the operator says of tensors of one element each. 0: none of that helps. */
static int32_t type_of_output(const leat_graph *graph, const leati_node *node, uint32_t o, uint64_t *out,
                              leat_error *err) {
  const leati_op_def *const def = node->op->def;
  static const uint64_t zeros[LEAT_MAX_RANK];
  leati_arguments a;
  LEATI_TRY(leati_arguments_begin(node->op, &a, node->input_count, node->output_count, err));
  for (uint32_t i = 0; i < node->input_count; ++i) {
    leati_view *const view = &a.inputs[i];
    memset(view, 0, sizeof(*view));
    if (node->inputs[i] != LEAT_GRAPH_NO_VALUE) {
      const int64_t one[LEAT_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
      const leati_value *const value = &graph->values[node->inputs[i]];
      const bool host = leati_op_is_host(def->info.host_inputs, i);
      const int32_t least = i == 0 ? def->least_rank : 0;
      const int32_t rank = value->ndim >= 0 ? value->ndim : host ? 1 : least;
      (void)leati_view_of_shape(leati_dtype_of(value->type), rank, one, "", view, NULL);
      view->host = host;
      view->data = (void *)zeros;
    }
  }
  const uint64_t only = def->info.types[leati_op_output_type(def, o)]->types;
  *out = node->op->types[leati_op_output_type(def, o)];
  if (*out == 0 && (only & (only - 1)) == 0) {
    *out = only;
  }
  if (*out == 0 && leati_arguments_infer(node->op, &a, NULL) == LEAT_OK) {
    *out = leati_type_of(a.shapes[o].dtype);
  }
  leati_arguments_end(&a);
  return LEAT_OK;
}

/* ---- Nodes ------------------------------------------------------------------------------------------------------ */

/* Notes where a node takes its inputs. */
static void note_uses(leat_graph *graph, const leati_node *node) {
  for (uint32_t i = 0; i < node->input_count; ++i) {
    if (node->inputs[i] != LEAT_GRAPH_NO_VALUE) {
      leati_value *const value = &graph->values[node->inputs[i]];
      const bool host = leati_op_is_host(node->op->def->info.host_inputs, i);
      value->needed_on_host = value->needed_on_host || host;
      value->on_device = value->on_device || !host;
    }
  }
}

/* Whether the inputs of a node have types of which it is computed on the host. */
static bool evaluates(const leat_graph *graph, const leati_node *node) {
  const leati_op_def *const def = node->op->def;
  bool can = def->evaluate != NULL;
  for (uint32_t i = 0; i < node->input_count && can; ++i) {
    const uint32_t v = node->inputs[i];
    can = v == LEAT_GRAPH_NO_VALUE || (graph->values[v].type & def->evaluated_types) != 0;
  }
  return can;
}

/* Finds all values that must be known on the host: what decides shapes is given there by its node, or computed from
 * what decides too. */
static int32_t find_deciding(leat_graph *graph, leat_error *err) {
  for (uint32_t n = graph->node_count; n-- > 0;) {
    const leati_node *const node = &graph->nodes[n];
    const leat_op_info *const info = &node->op->def->info;
    for (uint32_t o = 0; o < node->output_count; ++o) {
      const uint32_t v = node->outputs[o];
      if (v == LEAT_GRAPH_NO_VALUE || !graph->values[v].needed_on_host || leati_op_is_host(info->host_outputs, o)) {
        continue;
      }
      if (!leati_can_evaluate(node, graph->values[v].type)) {
        const leat_error found = {.code = LEAT_ERROR_NOT_SUPPORTED,
                                  .message =
                                      "shapes follow from what it makes, which "
                                      "must be known on the host; it is "
                                      "computed on the device alone"};
        return leati_graph_fail(graph, n, info->name, &found, err);
      }
      for (uint32_t i = 0; i < node->input_count; ++i) {
        if (node->inputs[i] != LEAT_GRAPH_NO_VALUE) {
          graph->values[node->inputs[i]].needed_on_host = true;
        }
      }
    }
  }
  return LEAT_OK;
}

/* Finds the inputs of the graph of which nodes only ask in which range they lie. */
static void find_ranged(leat_graph *graph) {
  for (uint32_t i = 0; i < graph->input_count; ++i) {
    leati_value *const value = &graph->values[graph->inputs[i]];
    value->ranged =
        value->needed_on_host && !value->is_output && (value->type & (LEAT_TYPE_INT32 | LEAT_TYPE_INT64)) != 0;
  }
  for (uint32_t n = 0; n < graph->node_count; ++n) {
    const leati_node *const node = &graph->nodes[n];
    for (uint32_t i = 0; i < node->input_count; ++i) {
      if (node->inputs[i] != LEAT_GRAPH_NO_VALUE && node->op->def->host_range == NULL) {
        graph->values[node->inputs[i]].ranged = false;
      }
    }
  }
}

/* Takes over what is inferred of the outputs of a node, or at least their types. */
static int32_t note_outputs(leat_graph *graph, const leati_node *node, const leati_inference *inference,
                            leat_error *err) {
  const leat_op_info *const info = &node->op->def->info;
  for (uint32_t o = 0; o < node->output_count; ++o) {
    const uint32_t v = node->outputs[o];
    if (v == LEAT_GRAPH_NO_VALUE) {
      if (o < info->min_outputs) {
        return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: output %u is absent and not optional", info->name, o);
      }
      continue;
    }
    leati_value *const value = &graph->values[v];
    const leati_known_value *const known = &inference->values[v];
    uint64_t type = known->view.type;
    if (!known->known) {
      LEATI_TRY(type_of_output(graph, node, o, &type, err));
    }
    if (type != 0 && value->type != 0 && value->type != type) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s: output %u has type %s; leat_graph_desc::values says %s",
                        info->name, o, leati_type_name(type), leati_type_name(value->type));
    }
    value->type = type != 0 ? type : value->type;
    if (known->known) {
      value->ndim = known->view.ndim;
      memcpy(value->shape, known->view.shape, sizeof(value->shape));
    }
  }
  return LEAT_OK;
}

static int32_t add_node(leat_graph *graph, uint32_t n, const leat_graph_node *from, leati_inference *inference,
                        leat_error *err) {
  leati_node *const node = &graph->nodes[n];
  bool known;
  LEATI_TRY(leati_graph_make_op(graph, inference, false, from, &node->op, err));
  node->known = leati_known_op_of(node->op);
  LEATI_TRY(
      leati_attributes_keep(&node->op->def->info, from->attribute_count, from->attributes, &node->attributes, err));
  node->evaluates = evaluates(graph, node);
  note_uses(graph, node);
  LEATI_TRY(leati_inference_node(inference, node, &known, err));
  return note_outputs(graph, node, inference, err);
}

/* Makes the operators, each with what is known of its inputs by then. */
static int32_t add_nodes(leat_graph *graph, const leat_graph_node *nodes, leat_error *err) {
  leati_inference inference;
  int32_t status = leati_inference_begin(graph, &inference, err);
  for (uint32_t i = 0; status == LEAT_OK && i < graph->input_count; ++i) {
    const leati_value *const value = &graph->values[graph->inputs[i]];
    leati_known_value *const known = &inference.values[graph->inputs[i]];
    known->known = leati_value_is_known(value);
    if (known->known) {
      status = leati_view_of_value(value, "an input of a graph", &known->view, err);
    }
  }
  leat_error found = {.struct_size = sizeof(found)};
  for (uint32_t n = 0; status == LEAT_OK && n < graph->node_count; ++n) {
    if (add_node(graph, n, &nodes[n], &inference, &found) != LEAT_OK) {
      status = leati_graph_fail(graph, n, nodes[n].op, &found, err);
    }
  }
  leati_inference_end(&inference);
  if (status == LEAT_OK) {
    status = find_deciding(graph, err);
  }
  if (status == LEAT_OK) {
    find_ranged(graph);
  }
  return status;
}

/* ---- Constants -------------------------------------------------------------------------------------------------- */

/* A constant whose elements are to be brought to the device, or copied. */
static bool is_new(const leati_value *value) {
  return value->kind == LEATI_VALUE_CONSTANT && value->bytes != NULL && value->constant == NULL &&
         leati_value_size(value) != 0;
}

/* One whose elements are copied too: rules of fusion look at them, and views follow from indices. */
static bool is_small(const leati_value *value) {
  const bool indices = (value->type & LEATI_EVALUATED_WHOLE) != 0;
  return leati_value_size(value) <= (indices ? SMALL_INDICES_BYTES : SMALL_CONSTANT_BYTES);
}

/* Copies the elements of constants that decide or are small, and brings those that nodes take on the device there. */
static int32_t keep_constants(leat_graph *graph, leat_error *err) {
  leati_shared_constant_request *const requests = leati_calloc((size_t)graph->value_count + 1, sizeof(*requests));
  if (requests == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for the constants of a graph");
  }
  int32_t status = LEAT_OK;
  uint32_t count = 0;
  for (uint32_t v = 0; v < graph->value_count && status == LEAT_OK; ++v) {
    leati_value *const value = &graph->values[v];
    const uint64_t size = leati_value_size(value);
    if (is_new(value) && value->on_device) {
      requests[count++] = (leati_shared_constant_request){.bytes = value->bytes, .size = size};
    }
    if (is_new(value) && (value->needed_on_host || is_small(value)) && value->copy == NULL) {
      value->copy = leati_calloc(1, size);
      if (value->copy == NULL) {
        status = leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for a constant of %llu bytes",
                            (unsigned long long)size);
        break;
      }
      memcpy(value->copy, value->bytes, size);
    }
  }
  if (status == LEAT_OK) {
    status = leati_shared_constants_take(graph->device, requests, count, err);
  }
  count = 0;
  for (uint32_t v = 0; v < graph->value_count && status == LEAT_OK; ++v) {
    leati_value *const value = &graph->values[v];
    if (!is_new(value)) {
      continue;
    }
    if (value->on_device) {
      value->constant = requests[count++].out;
    }
    if (!value->needed_on_host && !is_small(value)) {
      leati_free(value->copy);
      value->copy = NULL;
    }
    value->bytes = value->copy;
  }
  leati_free(requests);
  return status;
}

/* Keeps the constants of the description, and then those that are made of them. */
static int32_t keep_and_fold(leat_graph *graph, leat_error *err) {
  LEATI_TRY(keep_constants(graph, err));
  LEATI_TRY(leati_graph_fold(graph, err));
  LEATI_TRY(keep_constants(graph, err));
  for (uint32_t v = 0; v < graph->value_count; ++v) {
    graph->constant_bytes += graph->values[v].constant != NULL ? leati_value_size(&graph->values[v]) : 0;
  }
  return LEAT_OK;
}

/* How often nodes take a value. */
static uint32_t count_readers(const leat_graph *graph, uint32_t v) {
  uint32_t count = 0;
  for (uint32_t n = 0; n < graph->node_count; ++n) {
    for (uint32_t i = 0; i < graph->nodes[n].input_count; ++i) {
      count += graph->nodes[n].inputs[i] == v;
    }
  }
  return count;
}

/* The input of the graph that a node goes on with as its output `o`, where it may (LEAT_OP_CACHES,
 * LEAT_OP_LAST_IN_PLACE, leati_op_def::updates) and nothing else takes that input: all steps that read it come before
 * it is written. */
static uint32_t cache_of(const leat_graph *graph, const leati_node *node, uint32_t o) {
  const leat_op_info *const info = &node->op->def->info;
  uint32_t v = node->op->def->updates && o == 0 ? node->inputs[0] : LEAT_GRAPH_NO_VALUE;
  const bool may_go_on = (info->flags & (LEAT_OP_CACHES | LEAT_OP_LAST_IN_PLACE)) != 0;
  for (uint32_t i = 0; i < node->input_count && may_go_on; ++i) {
    v = leati_alias_of(info, i, node->input_count, node->output_count) == o ? node->inputs[i] : v;
  }
  const bool may =
      v != LEAT_GRAPH_NO_VALUE && graph->values[v].kind == LEATI_VALUE_INPUT && !graph->values[v].is_output;
  return may && count_readers(graph, v) == 1 ? graph->values[v].source : LEAT_GRAPH_NO_VALUE;
}

static int32_t find_caches(leat_graph *graph, leat_error *err) {
  graph->caches = leati_calloc((size_t)graph->output_count + 1, sizeof(*graph->caches));
  if (graph->caches == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for a graph");
  }
  for (uint32_t k = 0; k < graph->output_count; ++k) {
    const uint32_t v = graph->outputs[k];
    const leati_node *const node =
        graph->values[v].kind == LEATI_VALUE_RESULT ? &graph->nodes[graph->values[v].source] : NULL;
    graph->caches[k] = LEAT_GRAPH_NO_VALUE;
    for (uint32_t o = 0; node != NULL && o < node->output_count; ++o) {
      graph->caches[k] = node->outputs[o] == v ? cache_of(graph, node, o) : graph->caches[k];
    }
  }
  return LEAT_OK;
}

/* ---- The graph --------------------------------------------------------------------------------------------------- */

/* Makes a plan for inputs and outputs on the device, if all shapes are known before any launch: its pipelines
 * are compiled then, and what no plan can be made for is refused. */
static int32_t plan_ahead(leat_graph *graph, leat_error *err) {
  for (uint32_t v = 0; v < graph->value_count; ++v) {
    const leati_value *const value = &graph->values[v];
    if ((value->kind == LEATI_VALUE_INPUT && value->needed_on_host) ||
        (value->kind == LEATI_VALUE_INPUT && !leati_value_is_known(value)) ||
        (value->is_output && !leati_value_is_known(value))) {
      return LEAT_OK;
    }
  }
  const uint32_t count = graph->input_count + graph->output_count;
  leati_view *const views = leati_calloc((size_t)count + 1, sizeof(*views));
  int32_t status =
      views != NULL ? LEAT_OK : leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for %u tensors", count);
  for (uint32_t i = 0; i < count && status == LEAT_OK; ++i) {
    const uint32_t v = i < graph->input_count ? graph->inputs[i] : graph->outputs[i - graph->input_count];
    const leati_value *const value = &graph->values[v];
    status = leati_view_of_value(value, "an input or output of a graph", &views[i], err);
  }
  leati_graph_plan *plan = NULL;
  if (status == LEAT_OK) {
    status = leati_graph_plan_make(graph, views, &plan, err);
  }
  if (status == LEAT_OK) {
    leati_graph_plan_cache_note(&graph->plans, &plan->figures);
    /* The first plan of all finds room. */
    (void)leati_lru_cache_add(&graph->plans.cache, &plan->entry);
  }
  leati_free(views);
  return status;
}

static void free_plan(void *device, leati_lru_entry *entry) {
  leati_graph_plan_free(device, (leati_graph_plan *)entry);
}

static void free_program(void *owner, leati_lru_entry *entry) {
  (void)owner;
  leati_program_free((leati_program *)entry);
}

void leati_graph_free(leat_graph *graph) {
  if (graph == NULL) {
    return;
  }
  leati_graph_plan_cache_end(&graph->plans);
  leati_lru_cache_end(&graph->programs);
  leati_inference_forget(graph);
  for (uint32_t n = 0; graph->nodes != NULL && n < graph->node_count; ++n) {
    leati_op_free(graph->nodes[n].op);
    leati_free(graph->nodes[n].name);
    leati_free((void *)graph->nodes[n].attributes.list);
  }
  for (uint32_t v = 0; graph->values != NULL && v < graph->value_count; ++v) {
    leati_shared_constant_release(graph->device, graph->values[v].constant);
    leati_free(graph->values[v].copy);
  }
  leati_free(graph->values);
  leati_free(graph->nodes);
  leati_free(graph->inputs);
  leati_free(graph->outputs);
  leati_free(graph->caches);
  leati_free(graph->arguments);
  leati_free(graph);
}

int32_t leati_graph_build(leat_device *device, const leat_graph_desc *desc, leat_graph **out, leat_error *err) {
  leat_graph_node *nodes = NULL;
  leat_graph *const graph = leati_calloc_line(sizeof(*graph));
  if (graph == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for a graph");
  }
  graph->device = device;
  graph->kind = LEATI_KIND_GRAPH;
  leati_graph_plan_cache_begin(&graph->plans, device->graph_plan_bytes, free_plan, device);
  leati_lru_cache_begin(&graph->programs, graph->program_buckets, LEATI_PROGRAM_BUCKETS,
                        device->graph_plan_bytes / PROGRAMS_PART, free_program, NULL);
  leati_compilation compilation = {.ahead = true, .max = UINT32_MAX};
  leati_compilation_begin(&compilation);
  int32_t status = leati_graph_import(desc, graph, &nodes, err);
  if (status == LEAT_OK) {
    status = add_nodes(graph, nodes, err);
  }
  leati_free(nodes);
  if (status == LEAT_OK) {
    status = find_caches(graph, err);
  }
  if (status == LEAT_OK) {
    status = keep_and_fold(graph, err);
  }
  if (status == LEAT_OK) {
    status = leati_inference_prepare(graph, err);
  }
  if (status == LEAT_OK) {
    status = plan_ahead(graph, err);
  }
  leati_compilation_end(&compilation);
  if (status != LEAT_OK) {
    leati_graph_free(graph);
    return status;
  }
  *out = graph;
  return LEAT_OK;
}
