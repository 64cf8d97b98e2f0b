/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/inference.h"

#include <string.h>

#include "core/status.h"
#include "core/sync.h"
#include "graph/evaluate.h"
#include "ops/core/dims.h"
#include "ops/core/op_state.h"

/* Elements that are computed on the host at most: of a value from which shapes follow, of another, and of all others,
 * so that a graph of many takes little memory. */
#define DECIDING_MAX (1u << 20)
#define EVALUATED_MAX 4096
#define EVALUATED_ALL_MAX (1u << 20)

/* Bytes of a piece of memory for the elements of many nodes, most of which give a few numbers. */
#define SCRAP_BYTES 8192

/* Elements that nodes gave on the host. */
struct leati_scrap {
  struct leati_scrap *next;
  uint64_t used, size; /* bytes */
  int64_t bytes[];     /* aligned for all that is read from there */
};

/* Constants are known, and nothing else. */
static int32_t know_constants(const leat_graph *graph, leati_known_value *values, leat_error *err) {
  for (uint32_t v = 0; v < graph->value_count; ++v) {
    const leati_value *const value = &graph->values[v];
    if (value->kind == LEATI_VALUE_CONSTANT) {
      const DLTensor tensor = {
          .ndim = value->ndim, .dtype = leati_dtype_of(value->type), .shape = (int64_t *)value->shape};
      LEATI_TRY(leati_view_import_shape(&tensor, "a constant", &values[v].view, err));
      values[v].known = true;
      values[v].bytes = value->bytes;
    }
  }
  return LEAT_OK;
}

int32_t leati_inference_begin(const leat_graph *graph, leati_inference *out, leat_error *err) {
  const size_t size = ((size_t)graph->value_count + 1) * sizeof(*out->values);
  *out = (leati_inference){.graph = graph};
  out->values = graph->known != NULL ? leati_realloc(NULL, size) : leati_calloc(1, size);
  if (out->values == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for the %u values of a graph", graph->value_count);
  }
  if (graph->known != NULL) {
    memcpy(out->values, graph->known, size);
    return LEAT_OK;
  }
  return know_constants(graph, out->values, err);
}

int32_t leati_inference_prepare(leat_graph *graph, leat_error *err) {
  leati_inference inference;
  LEATI_TRY(leati_inference_begin(graph, &inference, err));
  graph->known = inference.values;
  return LEAT_OK;
}

void leati_inference_end(leati_inference *inference) {
  while (inference->scraps != NULL) {
    struct leati_scrap *const scrap = inference->scraps;
    inference->scraps = scrap->next;
    leati_free(scrap);
  }
  leati_free(inference->values);
}

void leati_inference_inputs(leati_inference *inference, const leati_view *views) {
  static const unsigned char nothing[1];
  for (uint32_t i = 0; i < inference->graph->input_count; ++i) {
    leati_known_value *const value = &inference->values[inference->graph->inputs[i]];
    value->known = true;
    value->view = views[i];
    value->view.host = false;
    value->view.data = NULL;
    if (views[i].host) {
      /* Its bytes will be brought to the device, and lie there at an address of their own. */
      value->view.address = 0;
      leati_view_measure(&value->view);
    }
    /* What decides no shape is not part of what a plan is for. */
    if (inference->graph->values[inference->graph->inputs[i]].decides) {
      value->bytes = views[i].count != 0 ? views[i].data : nothing;
    }
  }
}

void leati_inference_outputs(const leati_inference *inference, leat_shape *out) {
  for (uint32_t o = 0; o < inference->graph->output_count; ++o) {
    const leati_view *const view = &inference->values[inference->graph->outputs[o]].view;
    out[o] = (leat_shape){.struct_size = sizeof(out[o]), .ndim = view->ndim, .dtype = view->dtype};
    memcpy(out[o].dims, view->shape, (size_t)view->ndim * sizeof(view->shape[0]));
  }
}

/* Makes a view of the host's elements of a value. */
static void view_on_host(const leati_known_value *value, leati_view *out) {
  *out = value->view;
  leati_view_make_compact(out);
  out->host = true;
  out->data = (void *)value->bytes;
}

int32_t leati_inference_open_node(const leati_inference *inference, const leati_node *node, leati_arguments *a,
                                  bool *out_known, leat_error *err) {
  const leati_op_def *const def = node->op->def;
  *out_known = true;
  LEATI_TRY(leati_arguments_begin(node->op, a, node->input_count, node->output_count, err));
  for (uint32_t i = 0; i < node->input_count; ++i) {
    leati_view *const view = &a->inputs[i];
    if (node->inputs[i] == LEAT_GRAPH_NO_VALUE) {
      memset(view, 0, sizeof(*view));
      continue;
    }
    const leati_known_value *const value = &inference->values[node->inputs[i]];
    const bool host = leati_op_is_host(def->info.host_inputs, i);
    if (!value->known || (host && value->bytes == NULL)) {
      *out_known = false;
      return LEAT_OK;
    }
    if (host) {
      view_on_host(value, view);
    } else {
      *view = value->view;
      view->data = (void *)value->bytes;
    }
  }
  return LEAT_OK;
}

int32_t leati_inference_infer_node(const leati_inference *inference, const leati_node *node, leati_arguments *a,
                                   bool *out_known, leat_error *err) {
  uint64_t bound[LEATI_TYPE_CONSTRAINTS_MAX] = {0};
  LEATI_TRY(leati_inference_open_node(inference, node, a, out_known, err));
  for (uint32_t i = 0; i < node->input_count && *out_known; ++i) {
    if (a->inputs[i].present) {
      LEATI_TRY(leati_op_bind_type(node->op->def, i, a->inputs[i].type, bound, err));
    }
  }
  return *out_known ? leati_arguments_infer(node->op, a, bound, err) : LEAT_OK;
}

/* Room for the elements of a value, and for one more. */
static int32_t make_scrap(leati_inference *inference, leati_known_value *value, void **out_bytes, leat_error *err) {
  const uint64_t size = ((value->view.count + 1) * value->view.item_size + 7) / 8 * 8;
  struct leati_scrap *scrap = inference->scraps;
  if (scrap == NULL || scrap->size - scrap->used < size) {
    const uint64_t room = size < SCRAP_BYTES ? SCRAP_BYTES : size;
    scrap = leati_calloc(1, sizeof(*scrap) + room);
    if (scrap == NULL) {
      return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for what a node gives on the host");
    }
    scrap->size = room;
    scrap->next = inference->scraps;
    inference->scraps = scrap;
  }
  *out_bytes = (unsigned char *)scrap->bytes + scrap->used;
  value->bytes = *out_bytes;
  scrap->used += size;
  return LEAT_OK;
}

/* Asks a node for its output `o`, which it gives on the host. */
static int32_t ask_node(leati_inference *inference, const leati_node *node, leati_arguments *a, uint32_t o,
                        leat_error *err) {
  leati_known_value *const value = &inference->values[node->outputs[o]];
  void *bytes;
  LEATI_TRY(make_scrap(inference, value, &bytes, err));
  for (uint32_t i = 0; i < node->output_count; ++i) {
    memset(&a->outputs[i], 0, sizeof(a->outputs[i]));
  }
  view_on_host(value, &a->outputs[o]);
  leati_planner planner;
  leati_planner_begin(&planner, inference->graph->device, node->input_count, node->output_count);
  a->outputs[o].binding = node->input_count + o;
  const int32_t status = node->op->def->plan(node->op, &planner, &a->call, err);
  for (uint32_t i = 0; status == LEAT_OK && i < planner.answer_count; ++i) {
    memcpy(bytes, planner.args + planner.answers[i].data, planner.answers[i].size);
  }
  leati_planner_end(&planner);
  return status;
}

/* Whether the elements of output `o` of a node are computed on the host: where shapes follow from them, and else where
 * they are few and their operands known, because a constant is better than a dispatch. */
static bool should_evaluate(const leati_inference *inference, const leati_node *node, uint32_t o) {
  const uint32_t v = node->outputs[o];
  const leati_view *const view = &inference->values[v].view;
  bool should = v != LEAT_GRAPH_NO_VALUE && leati_can_evaluate(node, view->type) &&
                (inference->graph->values[v].decides ||
                 (view->count <= EVALUATED_MAX && inference->evaluated + view->count <= EVALUATED_ALL_MAX));
  for (uint32_t i = 0; should && i < node->input_count; ++i) {
    should = node->inputs[i] == LEAT_GRAPH_NO_VALUE || inference->values[node->inputs[i]].bytes != NULL;
  }
  return should;
}

static int32_t evaluate_node(leati_inference *inference, const leati_node *node, uint32_t o, leat_error *err) {
  leati_known_value *const value = &inference->values[node->outputs[o]];
  if (value->view.count > DECIDING_MAX) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%llu elements, from which shapes follow; supported: up to %u",
                      (unsigned long long)value->view.count, DECIDING_MAX);
  }
  leati_elements inline_inputs[LEATI_INLINE_ARGUMENTS], *inputs = inline_inputs;
  if (node->input_count > LEATI_INLINE_ARGUMENTS) {
    inputs = leati_calloc(node->input_count, sizeof(*inputs));
    if (inputs == NULL) {
      return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for %u inputs", node->input_count);
    }
  }
  for (uint32_t i = 0; i < node->input_count; ++i) {
    const leati_known_value *const input =
        node->inputs[i] != LEAT_GRAPH_NO_VALUE ? &inference->values[node->inputs[i]] : NULL;
    inputs[i] =
        (leati_elements){.view = input != NULL ? &input->view : NULL, .bytes = input != NULL ? input->bytes : NULL};
  }
  inference->evaluated += inference->graph->values[node->outputs[o]].decides ? 0 : value->view.count;
  void *bytes;
  const int32_t status = make_scrap(inference, value, &bytes, err);
  if (status == LEAT_OK) {
    leati_evaluate(node, o, inputs, &value->view, bytes);
  }
  if (inputs != inline_inputs) {
    leati_free(inputs);
  }
  return status;
}

int32_t leati_inference_node(leati_inference *inference, const leati_node *node, bool *out_known, leat_error *err) {
  leati_arguments a;
  int32_t status = leati_inference_infer_node(inference, node, &a, out_known, err);
  for (uint32_t o = 0; status == LEAT_OK && *out_known && o < node->output_count; ++o) {
    if (node->outputs[o] == LEAT_GRAPH_NO_VALUE) {
      continue;
    }
    leati_known_value *const value = &inference->values[node->outputs[o]];
    status = leati_arguments_result(node->op, &a, o, &value->view, err);
    value->known = status == LEAT_OK;
    if (value->known && leati_op_is_host(node->op->def->info.host_outputs, o)) {
      status = ask_node(inference, node, &a, o, err);
    }
  }
  leati_arguments_end(&a);
  for (uint32_t o = 0; status == LEAT_OK && *out_known && o < node->output_count; ++o) {
    if (should_evaluate(inference, node, o)) {
      status = evaluate_node(inference, node, o, err);
    }
  }
  return status;
}

int32_t leati_inference_all(leati_inference *inference, leat_error *err) {
  const leat_graph *const graph = inference->graph;
  leat_error found = {.struct_size = sizeof(found)};
  for (uint32_t n = 0; n < graph->node_count; ++n) {
    bool known;
    if (!graph->nodes[n].folded && leati_inference_node(inference, &graph->nodes[n], &known, &found) != LEAT_OK) {
      return leati_graph_fail(graph, n, graph->nodes[n].op->def->info.name, &found, err);
    }
  }
  return LEAT_OK;
}

/* ---- Going on with it later ------------------------------------------------------------------------------------- */

/* The place where the calling thread keeps one: what is inferred for a launch is launched by the same thread next. */
static leati_kept_inference *place_of_thread(const leat_graph *graph) {
  /* What is kept is no part of what the graph is. */
  return (leati_kept_inference *)&graph->kept[leati_thread_id() % LEATI_KEPT_INFERENCES];
}

static void free_kept(leati_inference *kept) {
  if (kept != NULL) {
    leati_inference_end(kept);
    leati_free(kept);
  }
}

/* Copies the elements of inputs that decide, which are the caller's, so that they can be compared later. */
static int32_t own_inputs(leati_inference *inference) {
  for (uint32_t i = 0; i < inference->graph->input_count; ++i) {
    leati_known_value *const value = &inference->values[inference->graph->inputs[i]];
    const void *const given = value->bytes;
    void *bytes;
    if (given != NULL) {
      LEATI_TRY(make_scrap(inference, value, &bytes, NULL));
      memcpy(bytes, given, value->view.count * value->view.item_size);
    }
  }
  return LEAT_OK;
}

void leati_inference_keep(leati_inference *inference) {
  leati_inference *kept = leati_calloc(1, sizeof(*kept));
  if (kept == NULL || own_inputs(inference) != LEAT_OK) {
    leati_inference_end(inference);
    leati_free(kept);
    return;
  }
  *kept = *inference;
  free_kept(atomic_exchange_explicit(place_of_thread(inference->graph), kept, memory_order_acq_rel));
}

/* Whether an inference is of inputs with these types, shapes, and elements where they decide. */
static bool is_of(const leati_inference *inference, const leati_view *views) {
  bool is = true;
  for (uint32_t i = 0; i < inference->graph->input_count && is; ++i) {
    const leati_known_value *const value = &inference->values[inference->graph->inputs[i]];
    is = value->view.type == views[i].type && value->view.ndim == views[i].ndim &&
         leati_same_numbers(value->view.shape, views[i].shape, views[i].ndim) &&
         (value->bytes == NULL || memcmp(value->bytes, views[i].data, views[i].count * views[i].item_size) == 0);
  }
  return is;
}

bool leati_inference_take(const leat_graph *graph, const leati_view *views, leati_inference *out) {
  leati_inference *const kept = atomic_exchange_explicit(place_of_thread(graph), NULL, memory_order_acq_rel);
  const bool is = kept != NULL && is_of(kept, views);
  if (is) {
    *out = *kept;
    leati_free(kept);
    leati_inference_inputs(out, views);
  } else {
    free_kept(kept);
  }
  return is;
}

void leati_inference_forget(leat_graph *graph) {
  for (uint32_t i = 0; i < LEATI_KEPT_INFERENCES; ++i) {
    free_kept(atomic_exchange_explicit(&graph->kept[i], NULL, memory_order_acq_rel));
  }
  leati_free(graph->known);
}
