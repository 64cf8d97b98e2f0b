/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/inference.h"

#include <string.h>

#include "core/status.h"
#include "core/sync.h"
#include "ops/core/dims.h"
#include "ops/core/op_state.h"

/* Elements that are computed on the host at most: of a value from which shapes follow, of another, and of all others,
 * so that a graph of many takes little memory. */
#define DECIDING_MAX (1u << 20)
#define EVALUATED_MAX 4096
#define EVALUATED_ALL_MAX (1u << 20)

/* Bytes of a piece of memory for the elements of many nodes, most of which give a few numbers. */
#define SCRAP_BYTES 8192
/* Bytes of such pieces up to which an inference is kept: values that take more room with each shape come back to what
 * they need by beginning anew. */
#define KEPT_BYTES_MAX (1u << 20)
/* All that a graph keeps may count for this part of what its plans may, or be one alone. */
#define KEPT_PART 4

/* Elements that nodes gave on the host. */
struct leati_host_chunk {
  struct leati_host_chunk *next;
  uint64_t used, size; /* bytes */
  int64_t bytes[];     /* aligned for all that is read from there */
};

/* Constants are known, and nothing else. */
static int32_t know_constants(const leat_graph *graph, leati_known_value *values, leat_error *err) {
  for (uint32_t v = 0; v < graph->value_count; ++v) {
    const leati_value *const value = &graph->values[v];
    if (value->kind == LEATI_VALUE_CONSTANT) {
      LEATI_TRY(leati_view_of_value(value, "a constant", &values[v].view, err));
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
  out->changed = leati_calloc((size_t)graph->value_count + 1, sizeof(*out->changed));
  if (out->values == NULL || out->changed == NULL) {
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
  const int32_t status = leati_inference_begin(graph, &inference, err);
  if (status == LEAT_OK) {
    graph->known = inference.values;
    inference.values = NULL;
  }
  leati_inference_end(&inference);
  return status;
}

void leati_inference_end(leati_inference *inference) {
  while (inference->host_values != NULL) {
    struct leati_host_chunk *const chunk = inference->host_values;
    inference->host_values = chunk->next;
    leati_free(chunk);
  }
  leati_free(inference->values);
  leati_free(inference->changed);
}

/* ---- Elements on the host --------------------------------------------------------------------------------------- */

/* Bytes of a piece that elements take, with one more than there are. */
static uint64_t size_of_room(const leati_known_value *value) {
  return ((value->view.count + 1) * value->view.item_size + 7) / 8 * 8;
}

/* Room for the elements of a value. */
static int32_t take_room(leati_inference *inference, const leati_known_value *value, void **out_room, leat_error *err) {
  const uint64_t size = size_of_room(value);
  struct leati_host_chunk *chunk = inference->host_values;
  if (chunk == NULL || chunk->size - chunk->used < size) {
    const uint64_t all = size < SCRAP_BYTES ? SCRAP_BYTES : size;
    chunk = leati_calloc(1, sizeof(*chunk) + all);
    if (chunk == NULL) {
      return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for what a node gives on the host");
    }
    chunk->size = all;
    chunk->next = inference->host_values;
    inference->host_values = chunk;
    inference->host_value_bytes += all;
  }
  *out_room = (unsigned char *)chunk->bytes + chunk->used;
  chunk->used += size;
  return LEAT_OK;
}

/* Makes what stands in the room that was taken last the elements of value `v`. `before`: elements that it had with the
 * same shape, or NULL; they lie in such a room too, which is used again. */
static void fill_room(leati_inference *inference, uint32_t v, void *room, void *before) {
  leati_known_value *const value = &inference->values[v];
  const uint64_t size = value->view.count * value->view.item_size;
  value->bytes = room;
  if (before == NULL) {
    inference->changed[v] = LEATI_CHANGED | LEATI_CHANGED_SINCE_FIT;
    return;
  }
  if (memcmp(before, room, size) != 0) {
    memcpy(before, room, size);
    inference->changed[v] = LEATI_CHANGED | LEATI_CHANGED_SINCE_FIT;
  }
  value->bytes = before;
  inference->host_values->used -= size_of_room(value);
}

/* ---- Inputs and outputs ----------------------------------------------------------------------------------------- */

/* Whether a value is known with this type and shape. */
static bool is_shaped(const leati_known_value *value, DLDataType dtype, int32_t ndim, const int64_t *shape) {
  return value->known && leati_dtype_same(value->view.dtype, dtype) && value->view.ndim == ndim &&
         leati_same_numbers(value->view.shape, shape, ndim);
}

int32_t leati_inference_inputs(leati_inference *inference, const leati_view *views, leat_error *err) {
  for (uint32_t i = 0; i < inference->graph->input_count; ++i) {
    const uint32_t v = inference->graph->inputs[i];
    leati_known_value *const value = &inference->values[v];
    const bool same = is_shaped(value, views[i].dtype, views[i].ndim, views[i].shape);
    void *const before = same ? (void *)value->bytes : NULL;
    if (!same) {
      inference->changed[v] = LEATI_CHANGED | LEATI_CHANGED_SINCE_FIT;
    }
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
    if (inference->graph->values[v].needed_on_host) {
      void *room;
      LEATI_TRY(take_room(inference, value, &room, err));
      if (value->view.count != 0) {
        memcpy(room, views[i].data, value->view.count * value->view.item_size);
      }
      fill_room(inference, v, room, before);
    }
  }
  return LEAT_OK;
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
  LEATI_TRY(leati_inference_open_node(inference, node, a, out_known, err));
  return *out_known ? leati_arguments_infer(node->op, a, err) : LEAT_OK;
}

/* Asks a node for its output `o`, which it gives on the host. */
static int32_t ask_node(leati_inference *inference, const leati_node *node, leati_arguments *a, uint32_t o,
                        void *before, leat_error *err) {
  leati_known_value *const value = &inference->values[node->outputs[o]];
  void *room;
  LEATI_TRY(take_room(inference, value, &room, err));
  for (uint32_t i = 0; i < node->output_count; ++i) {
    memset(&a->outputs[i], 0, sizeof(a->outputs[i]));
  }
  value->bytes = room;
  view_on_host(value, &a->outputs[o]);
  leati_planner planner;
  leati_planner_begin(&planner, inference->graph->device, node->input_count, node->output_count);
  a->outputs[o].binding = node->input_count + o;
  const int32_t status = node->op->def->plan(node->op, &planner, &a->call, err);
  for (uint32_t i = 0; status == LEAT_OK && i < planner.answer_count; ++i) {
    memcpy(room, planner.args + planner.answers[i].data, planner.answers[i].size);
  }
  leati_planner_end(&planner);
  fill_room(inference, node->outputs[o], room, before);
  return status;
}

/* Whether the elements of output `o` of a node are computed on the host: where shapes follow from them, and else where
 * they are few and their operands known, because a constant is better than a dispatch. */
static bool should_evaluate(leati_inference *inference, const leati_node *node, uint32_t o) {
  const uint32_t v = node->outputs[o];
  const leati_view *const view = &inference->values[v].view;
  const bool needed_on_host = inference->graph->values[v].needed_on_host;
  bool should = leati_can_evaluate(node, view->type) && (needed_on_host || view->count <= EVALUATED_MAX);
  for (uint32_t i = 0; should && i < node->input_count; ++i) {
    should = node->inputs[i] == LEAT_GRAPH_NO_VALUE || inference->values[node->inputs[i]].bytes != NULL;
  }
  const bool fits = needed_on_host || inference->evaluated + view->count <= EVALUATED_ALL_MAX;
  inference->limited = inference->limited || (should && !fits);
  return should && fits;
}

/* Computes output `o` of a node. `before`: as for fill_room(). */
static int32_t evaluate_node(leati_inference *inference, const leati_node *node, leati_arguments *a, uint32_t o,
                             void *before, leat_error *err) {
  leati_known_value *const value = &inference->values[node->outputs[o]];
  if (value->view.count > DECIDING_MAX) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED, "%llu elements, from which shapes follow; supported: up to %u",
                      (unsigned long long)value->view.count, DECIDING_MAX);
  }
  inference->evaluated += inference->graph->values[node->outputs[o]].needed_on_host ? 0 : value->view.count;
  void *room;
  LEATI_TRY(take_room(inference, value, &room, err));
  for (uint32_t i = 0; i < node->input_count; ++i) {
    if (a->inputs[i].present && !a->inputs[i].compact) {
      leati_view_make_compact(&a->inputs[i]);
    }
  }
  for (uint32_t i = 0; i < node->output_count; ++i) {
    a->outputs[i].present = false;
  }
  value->bytes = room;
  view_on_host(value, &a->outputs[o]);
  node->op->def->evaluate(node->op, &a->call, o);
  fill_room(inference, node->outputs[o], room, before);
  return LEAT_OK;
}

/* Takes output `o` of a node over, without its elements. `*out_before`: those that it had with the same shape, or
 * NULL. */
static int32_t take_output(leati_inference *inference, const leati_node *node, const leati_arguments *a, uint32_t o,
                           void **out_before, leat_error *err) {
  const uint32_t v = node->outputs[o];
  leati_known_value *const value = &inference->values[v];
  const leat_shape *const shape = &a->shapes[o];
  const bool same = is_shaped(value, shape->dtype, shape->ndim, shape->dims);
  *out_before = same ? (void *)value->bytes : NULL;
  if (value->bytes != NULL && !leati_op_is_host(node->op->def->info.host_outputs, o) &&
      !inference->graph->values[v].needed_on_host) {
    inference->evaluated -= value->view.count;
  }
  value->bytes = NULL;
  if (same) {
    return LEAT_OK;
  }
  inference->changed[v] = LEATI_CHANGED | LEATI_CHANGED_SINCE_FIT;
  LEATI_TRY(leati_arguments_result(node->op, a, o, &value->view, err));
  value->known = true;
  return LEAT_OK;
}

/* Takes all of them over, with elements that are known on the host. */
static int32_t take_outputs(leati_inference *inference, const leati_node *node, leati_arguments *a, leat_error *err) {
  for (uint32_t o = 0; o < node->output_count; ++o) {
    void *before;
    if (node->outputs[o] == LEAT_GRAPH_NO_VALUE) {
      continue;
    }
    LEATI_TRY(take_output(inference, node, a, o, &before, err));
    if (leati_op_is_host(node->op->def->info.host_outputs, o)) {
      LEATI_TRY(ask_node(inference, node, a, o, before, err));
    } else if (should_evaluate(inference, node, o)) {
      LEATI_TRY(evaluate_node(inference, node, a, o, before, err));
    } else if (before != NULL) {
      /* They are not known any more. */
      inference->changed[node->outputs[o]] = LEATI_CHANGED | LEATI_CHANGED_SINCE_FIT;
    }
  }
  return LEAT_OK;
}

int32_t leati_inference_node(leati_inference *inference, const leati_node *node, bool *out_known, leat_error *err) {
  leati_arguments a;
  int32_t status = leati_inference_infer_node(inference, node, &a, out_known, err);
  if (status == LEAT_OK && *out_known) {
    status = take_outputs(inference, node, &a, err);
  }
  leati_arguments_end(&a);
  return status;
}

/* Whether a node gives what it gave: what it takes has not changed. */
static bool is_settled(const leati_inference *inference, const leati_node *node) {
  bool settled = true;
  for (uint32_t i = 0; i < node->input_count && settled; ++i) {
    settled = node->inputs[i] == LEAT_GRAPH_NO_VALUE || (inference->changed[node->inputs[i]] & LEATI_CHANGED) == 0;
  }
  for (uint32_t o = 0; o < node->output_count && settled; ++o) {
    settled = node->outputs[o] == LEAT_GRAPH_NO_VALUE || inference->values[node->outputs[o]].known;
  }
  return settled;
}

int32_t leati_inference_all(leati_inference *inference, leat_error *err) {
  const leat_graph *const graph = inference->graph;
  leat_error found = {.struct_size = sizeof(found)};
  for (uint32_t n = 0; n < graph->node_count; ++n) {
    bool known;
    if (!graph->nodes[n].folded && !is_settled(inference, &graph->nodes[n]) &&
        leati_inference_node(inference, &graph->nodes[n], &known, &found) != LEAT_OK) {
      return leati_graph_fail(graph, n, graph->nodes[n].op->def->info.name, &found, err);
    }
  }
  return LEAT_OK;
}

/* ---- From one launch to the next -------------------------------------------------------------------------------- */

/* The place where the calling thread keeps one. */
static leati_kept_inference *place_of_thread(const leat_graph *graph) {
  /* What is kept is no part of what the graph is. */
  return (leati_kept_inference *)&graph->kept[leati_thread_id() % LEATI_KEPT_INFERENCES];
}

/* What an inference counts for: as long as it is kept, always the same. */
static uint64_t count_bytes(const leati_inference *inference) {
  return sizeof(*inference) +
         inference->graph->value_count * (sizeof(*inference->values) + sizeof(*inference->changed)) +
         inference->host_value_bytes;
}

static _Atomic uint64_t *kept_bytes_of(const leat_graph *graph) {
  return (_Atomic uint64_t *)&graph->kept_bytes;
}

/* Counts an inference that is to be kept; false: there is no room for it. */
static bool take_bytes(const leati_inference *inference) {
  const leat_graph *const graph = inference->graph;
  const uint64_t bytes = count_bytes(inference), most = graph->device->graph_plan_bytes / KEPT_PART;
  uint64_t before = atomic_load_explicit(kept_bytes_of(graph), memory_order_relaxed);
  do {
    if (before != 0 && before + bytes > most) {
      return false;
    }
  } while (!atomic_compare_exchange_weak_explicit(kept_bytes_of(graph), &before, before + bytes, memory_order_relaxed,
                                                  memory_order_relaxed));
  return true;
}

/* Keeps an inference that was counted (NULL: none) at a place, and gives what was kept there, which counts no more;
 * NULL: nothing was. */
static leati_inference *exchange_kept(leati_kept_inference *place, leati_inference *kept) {
  leati_inference *const before = atomic_exchange_explicit(place, kept, memory_order_acq_rel);
  if (before != NULL) {
    (void)atomic_fetch_sub_explicit(kept_bytes_of(before->graph), count_bytes(before), memory_order_relaxed);
  }
  return before;
}

static void free_kept(leati_inference *kept) {
  if (kept != NULL) {
    leati_inference_end(kept);
    leati_free(kept);
  }
}

/* Infers all, beginning with what the inference holds. */
static int32_t run(leati_inference *inference, const leati_view *views, leat_error *err) {
  LEATI_TRY(leati_inference_inputs(inference, views, err));
  return leati_inference_all(inference, err);
}

int32_t leati_inference_of(const leat_graph *graph, const leati_view *views, leati_inference *out, leat_error *err) {
  leati_inference *const kept = exchange_kept(place_of_thread(graph), NULL);
  if (kept != NULL) {
    *out = *kept;
    leati_free(kept);
    LEATI_TRY(run(out, views, err));
    if (!out->limited) {
      return LEAT_OK;
    }
    /* What is evaluated then depends on the nodes before it. */
    leati_inference_end(out);
  }
  LEATI_TRY(leati_inference_begin(graph, out, err));
  return run(out, views, err);
}

void leati_inference_fit(leati_inference *inference, uint64_t number) {
  inference->fitted = number;
  for (uint32_t v = 0; v < inference->graph->value_count; ++v) {
    inference->changed[v] &= LEATI_CHANGED;
  }
}

bool leati_inference_same_since_fit(const leati_inference *inference, uint32_t count, const uint32_t *values) {
  bool same = true;
  for (uint32_t i = 0; i < count && same; ++i) {
    same = values[i] == LEAT_GRAPH_NO_VALUE || (inference->changed[values[i]] & LEATI_CHANGED_SINCE_FIT) == 0;
  }
  return same;
}

/* Makes the values of nodes what was inferred, wherever a plan has laid them. */
static void lay_apart(leati_inference *inference) {
  for (uint32_t v = 0; v < inference->graph->value_count; ++v) {
    leati_view *const view = &inference->values[v].view;
    if (inference->graph->values[v].kind == LEATI_VALUE_RESULT && inference->values[v].known) {
      view->data = NULL;
      view->block = NULL;
      view->address = view->begin = view->end = view->origin = 0;
      view->binding = 0;
      leati_view_make_compact(view);
    }
  }
}

void leati_inference_keep(leati_inference *inference) {
  leati_inference *const kept =
      inference->limited || inference->host_value_bytes > KEPT_BYTES_MAX ? NULL : leati_calloc(1, sizeof(*kept));
  if (kept == NULL || !take_bytes(inference)) {
    leati_free(kept);
    leati_inference_end(inference);
    return;
  }
  lay_apart(inference);
  for (uint32_t v = 0; v < inference->graph->value_count; ++v) {
    inference->changed[v] &= LEATI_CHANGED_SINCE_FIT;
  }
  *kept = *inference;
  free_kept(exchange_kept(place_of_thread(inference->graph), kept));
}

void leati_inference_forget(leat_graph *graph) {
  for (uint32_t i = 0; i < LEATI_KEPT_INFERENCES; ++i) {
    free_kept(exchange_kept(&graph->kept[i], NULL));
  }
  leati_free(graph->known);
}
