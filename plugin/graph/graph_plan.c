/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/graph_plan.h"

#include <inttypes.h>
#include <string.h>

#include "core/array.h"
#include "core/status.h"
#include "core/sync.h"
#include "graph/aliasing.h"
#include "graph/inference.h"
#include "graph/layout.h"
#include "graph/program_cache.h"
#include "graph/schedule.h"
#include "memory/memory.h"
#include "ops/core/channels_last.h"
#include "ops/core/dims.h"
#include "ops/core/op_state.h"
#include "streams/recorder.h"

#define NONE UINT32_MAX

_Static_assert(LEATI_STAGED_ALIGNMENT % LEATI_PLAN_ALIGNMENT == 0, "what is staged is aligned as plans promise");

/* A plan on its way. */
typedef struct planning {
  const leat_graph *graph;
  const leati_view *views; /* of inputs, then of outputs */
  leati_inference inference;
  bool inferred; /* all of it */
  leati_program_use use;
  const leati_node *nodes; /* those of the graph, and then those of its program */
  leati_schedule schedule;
  leati_graph_plan *plan;
  bool *needed;            /* by value: on the device */
  bool *live;              /* by node: it makes something that is needed */
  leati_place *places;     /* by value; storage NONE: it has none yet */
  leati_aliasing aliasing; /* which of them lie in others */
  uint32_t *targets;       /* by value: the output of the graph that it is written to, or NONE */
  bool lays, laid;         /* images and constants may lie as leati_layout_run() says; something does */
  uint32_t *ordered;       /* by node: which inputs are constants that are given to it in the other order */
  leati_place *orders;     /* by value: the place of such a copy; storage NONE: there is none yet */
  uint32_t constant_capacity, own_capacity, upload_capacity, download_capacity, answer_capacity;
  leati_shared_constant_request *requests; /* as many as leati_graph_plan::own */
  uint32_t request_capacity;
  leati_plan_answer *answers;
  uint32_t answer_count;
  uint32_t *own_bindings; /* which of leati_graph_plan::constants those are */
  uint32_t own_binding_capacity;
} planning;

/* ---- Begin ------------------------------------------------------------------------------------------------------ */

static void end(planning *p) {
  leati_program_leave(&p->use);
  (p->inferred ? leati_inference_keep : leati_inference_end)(&p->inference);
  leati_schedule_end(&p->schedule);
  leati_free(p->needed);
  leati_free(p->live);
  leati_free(p->places);
  leati_free(p->aliasing.at);
  leati_free(p->targets);
  leati_free(p->ordered);
  leati_free(p->orders);
  leati_free(p->requests);
  leati_free(p->own_bindings);
}

static int32_t begin(planning *p, leat_error *err) {
  const uint32_t values = p->graph->value_count, nodes = p->graph->node_count;
  p->needed = leati_calloc((size_t)values + 1, sizeof(*p->needed));
  p->live = leati_calloc((size_t)nodes + 1, sizeof(*p->live));
  p->places = leati_calloc((size_t)values + 1, sizeof(*p->places));
  p->aliasing.at = leati_calloc((size_t)values + 1, sizeof(*p->aliasing.at));
  p->targets = leati_calloc((size_t)values + 1, sizeof(*p->targets));
  p->ordered = leati_calloc((size_t)nodes + 1, sizeof(*p->ordered));
  p->orders = leati_calloc((size_t)values + 1, sizeof(*p->orders));
  if (p->needed == NULL || p->live == NULL || p->places == NULL || p->aliasing.at == NULL || p->targets == NULL ||
      p->ordered == NULL || p->orders == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory to plan a graph of %u values", values);
  }
  for (uint32_t v = 0; v < values; ++v) {
    p->places[v].storage = p->orders[v].storage = p->targets[v] = NONE;
  }
  return LEAT_OK;
}

static int32_t fail_output(uint32_t o, const char *what, int64_t found, int64_t expected, leat_error *err) {
  return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                    "output %u of the graph has %s %" PRId64 "; the graph gives %" PRId64, o, what, found, expected);
}

/* Compares the outputs with what was inferred. */
static int32_t check_outputs(const planning *p, leat_error *err) {
  for (uint32_t o = 0; o < p->graph->output_count; ++o) {
    const leati_view *const given = &p->views[p->graph->input_count + o];
    const leati_view *const made = &p->inference.values[p->graph->outputs[o]].view;
    if (!given->present) {
      continue;
    }
    if (given->type != made->type) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "output %u of the graph has type %s; the graph gives %s", o,
                        leati_type_name(given->type), leati_type_name(made->type));
    }
    if (given->ndim != made->ndim) {
      return fail_output(o, "rank", given->ndim, made->ndim, err);
    }
    for (int32_t d = 0; d < made->ndim; ++d) {
      if (given->shape[d] != made->shape[d]) {
        return fail_output(o, "a dimension of size", given->shape[d], made->shape[d], err);
      }
    }
  }
  return LEAT_OK;
}

/* ---- What is needed, and where it lies --------------------------------------------------------------------------- */

static const leati_view *output_view(const planning *p, uint32_t o) {
  return &p->views[p->graph->input_count + o];
}

/* Whether the elements of a result are known on the host: no node has to run for them. */
static bool is_answered(const planning *p, uint32_t v) {
  return p->graph->values[v].kind == LEATI_VALUE_RESULT && p->inference.values[v].bytes != NULL;
}

/* Finds the values that are needed on the device for the outputs that are wanted, and the nodes that make them. */
static void find_needed(planning *p) {
  const leat_graph *const graph = p->graph;
  for (uint32_t o = 0; o < graph->output_count; ++o) {
    const leati_view *const view = output_view(p, o);
    if (view->present && !(view->host && is_answered(p, graph->outputs[o]))) {
      p->needed[graph->outputs[o]] = true;
    }
  }
  for (uint32_t n = graph->node_count; n-- > 0;) {
    const leati_node *const node = &p->nodes[n];
    for (uint32_t o = 0; o < node->output_count; ++o) {
      const uint32_t v = node->outputs[o];
      p->live[n] = p->live[n] || (!node->folded && v != LEAT_GRAPH_NO_VALUE && p->needed[v] && !is_answered(p, v));
    }
    for (uint32_t i = 0; i < node->input_count && p->live[n]; ++i) {
      if (node->inputs[i] != LEAT_GRAPH_NO_VALUE && !leati_op_is_host(node->op->def->info.host_inputs, i)) {
        p->needed[node->inputs[i]] = true;
      }
    }
  }
}

/* Finds which values lie in those that they are picked from. */
static int32_t place_picked(planning *p, leat_error *err) {
  p->aliasing.graph = p->graph;
  p->aliasing.nodes = p->nodes;
  p->aliasing.live = p->live;
  p->aliasing.outputs = p->views + p->graph->input_count;
  p->aliasing.inference = &p->inference;
  return leati_aliasing_run(&p->aliasing, err);
}

/* Puts images into NHWC layout, by which only kernels for matrix hardware gain, and orders constants, where that is
 * good. */
static int32_t lay_channels(planning *p, leat_error *err) {
  const leat_device *const device = p->graph->device;
  const leati_layout layout = {.graph = p->graph,
                               .nodes = p->nodes,
                               .live = p->live,
                               .at = p->aliasing.at,
                               .inference = &p->inference,
                               .images = device->physical->matrix.m != 0 || device->physical->matrix_bfloat16.m != 0};
  uint32_t *const count = &p->plan->figures.fusion_counts[LEATI_FUSION_CHANNELS_LAST];
  if (!p->lays || (device->fusions_off >> LEATI_FUSION_CHANNELS_LAST & 1u) != 0) {
    return LEAT_OK;
  }
  LEATI_TRY(leati_layout_run(&layout, p->ordered, count, err));
  p->laid = *count != 0;
  for (uint32_t n = 0; n < p->graph->node_count; ++n) {
    p->laid = p->laid || p->ordered[n] != 0;
  }
  return LEAT_OK;
}

/* Finds which values lie in those that they become a part of, and which are written straight to an output on the
 * device. */
static int32_t find_targets(planning *p, leat_error *err) {
  const leat_graph *const graph = p->graph;
  LEATI_TRY(leati_aliasing_join(&p->aliasing, err));
  for (uint32_t o = 0; o < graph->output_count; ++o) {
    const uint32_t root = p->aliasing.at[graph->outputs[o]].root;
    if (output_view(p, o)->present && !output_view(p, o)->host && graph->values[root].kind == LEATI_VALUE_RESULT &&
        !is_answered(p, root) && p->targets[root] == NONE) {
      p->targets[root] = o;
    }
  }
  return LEAT_OK;
}

/* The next binding of a constant. */
static int32_t bind_constant(planning *p, const leati_shared_constant *constant, uint32_t *out_storage,
                             leat_error *err) {
  leati_graph_plan *const plan = p->plan;
  LEATI_TRY(leati_array_room(&plan->constants, plan->constant_count, &p->constant_capacity, sizeof(*plan->constants),
                             16, "the constants of a graph", err));
  LEATI_TRY(leati_schedule_storage(&p->schedule, p->graph->input_count + p->graph->output_count + plan->constant_count,
                                   0, out_storage, err));
  leati_binding *const binding = &plan->constants[plan->constant_count++];
  *binding = (leati_binding){0};
  if (constant != NULL) {
    binding->address = constant->address;
    binding->block = constant->block;
  }
  return LEAT_OK;
}

/* Binds a constant of the plan's own. */
static int32_t bind_own(planning *p, const leati_shared_constant_request *request, uint32_t *out_storage,
                        leat_error *err) {
  const uint32_t count = p->plan->own_count;
  LEATI_TRY(leati_array_room(&p->requests, count, &p->request_capacity, sizeof(*p->requests), 4,
                             "the constants of a graph", err));
  LEATI_TRY(leati_array_room(&p->plan->own, count, &p->own_capacity, sizeof(leati_shared_constant *), 4,
                             "the constants of a graph", err));
  LEATI_TRY(leati_array_room(&p->own_bindings, count, &p->own_binding_capacity, sizeof(*p->own_bindings), 4,
                             "the constants of a graph", err));
  p->requests[count] = *request;
  p->own_bindings[count] = p->plan->constant_count;
  p->plan->own[count] = NULL;
  ++p->plan->own_count;
  return bind_constant(p, NULL, out_storage, err);
}

/* Has a part of the arena filled by each launch; the transfer's binding stands for it. */
static int32_t upload_to(planning *p, leati_graph_transfer transfer, uint32_t *out_storage, leat_error *err) {
  leati_graph_plan *const plan = p->plan;
  LEATI_TRY(leati_schedule_storage(&p->schedule, LEATI_IN_ARENA, transfer.size, out_storage, err));
  p->schedule.storages[*out_storage].filled = true;
  LEATI_TRY(leati_array_room(&plan->uploads, plan->upload_count, &p->upload_capacity, sizeof(*plan->uploads), 4,
                             "the uploads of a graph", err));
  transfer.binding = *out_storage;
  plan->uploads[plan->upload_count++] = transfer;
  return LEAT_OK;
}

/* The same with elements that are known on the host. */
static int32_t upload_known(planning *p, const leati_known_value *value, uint32_t *out_storage, leat_error *err) {
  leati_graph_transfer transfer = {.tensor = LEATI_GRAPH_PLAN_BYTES, .size = value->view.count * value->view.item_size};
  LEATI_TRY(leati_schedule_bytes(&p->schedule, value->bytes, (uint32_t)transfer.size, &transfer.data, err));
  return upload_to(p, transfer, out_storage, err);
}

/* Finds a place for a value that has memory of its own and that no node writes in this plan, or one is about to. */
static int32_t place_root(planning *p, uint32_t v, leat_error *err) {
  const leati_value *const value = &p->graph->values[v];
  const leati_known_value *const known = &p->inference.values[v];
  leati_place *const place = &p->places[v];
  const uint64_t size = known->view.count * known->view.item_size;
  if (place->storage != NONE) {
    return LEAT_OK;
  }
  if (size == 0) {
    return leati_schedule_storage(&p->schedule, LEATI_IN_ARENA, 0, &place->storage, err);
  }
  if (value->kind == LEATI_VALUE_CONSTANT) {
    return bind_constant(p, value->constant, &place->storage, err);
  }
  if (is_answered(p, v)) {
    return upload_known(p, known, &place->storage, err);
  }
  const uint32_t o = p->targets[v];
  const bool input = value->kind == LEATI_VALUE_INPUT;
  if (input && p->views[value->source].host) {
    return upload_to(p, (leati_graph_transfer){.tensor = value->source, .size = size}, &place->storage, err);
  }
  if (!input && o == NONE) {
    return leati_schedule_storage(&p->schedule, LEATI_IN_ARENA, size, &place->storage, err);
  }
  const uint32_t binding = input ? value->source : p->graph->input_count + o;
  LEATI_TRY(leati_schedule_storage(&p->schedule, binding, size, &place->storage, err));
  p->schedule.storages[place->storage].residue = (uint8_t)(p->views[binding].address & (LEATI_PLAN_ALIGNMENT - 1));
  return LEAT_OK;
}

static int32_t place_value(planning *p, uint32_t v, leat_error *err) {
  const leati_alias *const at = &p->aliasing.at[v];
  LEATI_TRY(place_root(p, at->root, err));
  p->places[v] =
      (leati_place){.storage = p->places[at->root].storage, .offset = p->places[at->root].offset + at->offset};
  return LEAT_OK;
}

/* ---- Nodes ------------------------------------------------------------------------------------------------------ */

/* Gives a view of a node the address that stands for those to come, as binding `binding` of the node. */
static void point(const planning *p, const leati_place *place, leati_view *view, uint32_t binding) {
  /* What has strides knows what it touches; all else is compact. */
  const uint64_t low = view->compact ? 0 : view->begin - view->address;
  const uint64_t high = view->compact ? view->count * view->item_size : view->end - view->address;
  view->address = (uint64_t)p->schedule.storages[place->storage].residue + (uint64_t)place->offset;
  view->begin = view->address + low;
  view->end = view->address + high;
  leati_planner_place(view, binding);
}

static int32_t place_view(planning *p, uint32_t v, leati_view *view, uint32_t binding, leat_error *err) {
  LEATI_TRY(place_value(p, v, err));
  point(p, &p->places[v], view, binding);
  return LEAT_OK;
}

/* The same for a constant that is given in another order than it was loaded in. */
static int32_t place_ordered(planning *p, uint32_t v, leati_view *view, uint32_t binding, leat_error *err) {
  leati_place *const place = &p->orders[v];
  if (place->storage == NONE) {
    const leati_shared_constant_request request = {.source = p->graph->values[v].constant,
                                                   .order = leati_layout_order(view),
                                                   .size = view->count * view->item_size};
    LEATI_TRY(bind_own(p, &request, &place->storage, err));
  }
  leati_layout_apply(view);
  point(p, place, view, binding);
  return LEAT_OK;
}

/* Whether a node writes its output `o`: it is wanted, and not there without that. */
static bool is_written(const planning *p, const leati_node *node, uint32_t o) {
  const uint32_t v = node->outputs[o];
  return v != LEAT_GRAPH_NO_VALUE && !p->aliasing.at[v].produced_elsewhere &&
         (o < node->op->def->info.min_outputs || p->needed[v]);
}

/* Makes the views of a node's outputs. */
static int32_t place_outputs(planning *p, const leati_node *node, leati_arguments *a, leat_error *err) {
  for (uint32_t o = 0; o < node->output_count; ++o) {
    const uint32_t v = node->outputs[o];
    leati_view *const view = &a->outputs[o];
    if (!is_written(p, node, o)) {
      memset(view, 0, sizeof(*view));
      continue;
    }
    *view = p->inference.values[v].view;
    LEATI_TRY(place_view(p, v, view, node->input_count + o, err));
  }
  return LEAT_OK;
}

/* Plans a node whose arguments are there, and joins its plan. `places`: room for all its arguments. */
static int32_t join_node(planning *p, const leati_node *node, leati_arguments *a, leati_place *places,
                         leat_error *err) {
  for (uint32_t i = 0; i < node->input_count; ++i) {
    if (a->inputs[i].present && !a->inputs[i].host) {
      const uint32_t v = node->inputs[i];
      const bool ordered = leati_has_input(p->ordered[node - p->nodes], i);
      LEATI_TRY((ordered ? place_ordered : place_view)(p, v, &a->inputs[i], i, err));
      places[i] = ordered ? p->orders[v] : p->places[v];
    }
  }
  LEATI_TRY(place_outputs(p, node, a, err));
  for (uint32_t o = 0; o < node->output_count; ++o) {
    if (a->outputs[o].present) {
      places[node->input_count + o] = p->places[node->outputs[o]];
    }
  }
  leati_planner planner;
  leati_planner_begin(&planner, p->graph->device, node->input_count, node->output_count);
  int32_t status = node->op->def->plan(node->op, &planner, &a->call, err);
  if (status == LEAT_OK) {
    const leati_plan plan = leati_planner_plan(&planner);
    status = leati_schedule_append(&p->schedule, &plan, (uint32_t)(node - p->nodes), places, err);
  }
  leati_planner_end(&planner);
  return status;
}

static int32_t plan_node(planning *p, const leati_node *node, leat_error *err) {
  leati_arguments a;
  bool known, writes = false;
  for (uint32_t o = 0; o < node->output_count; ++o) {
    writes = writes || is_written(p, node, o);
  }
  if (!writes) {
    return LEAT_OK;
  }
  int32_t status = leati_inference_open_node(&p->inference, node, &a, &known, err);
  leati_place *const places = leati_calloc((size_t)node->input_count + node->output_count, sizeof(*places));
  if (status == LEAT_OK && places == NULL) {
    status = leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for the arguments of a node");
  }
  if (status == LEAT_OK) {
    status = join_node(p, node, &a, places, err);
  }
  leati_free(places);
  leati_arguments_end(&a);
  return status;
}

static int32_t plan_nodes(planning *p, leat_error *err) {
  leat_error found = {.struct_size = sizeof(found)};
  for (uint32_t n = 0; n < p->graph->node_count; ++n) {
    if (p->live[n] && plan_node(p, &p->nodes[n], &found) != LEAT_OK) {
      return leati_graph_fail(p->graph, n, p->nodes[n].op->def->info.name, &found, err);
    }
  }
  return LEAT_OK;
}

/* ---- Outputs ---------------------------------------------------------------------------------------------------- */

/* Has the elements of a value that are known written to an output on the host. */
static int32_t answer(planning *p, uint32_t o, const leati_known_value *value, leat_error *err) {
  leati_plan_answer it = {.binding = p->graph->input_count + o,
                          .size = (uint32_t)(value->view.count * value->view.item_size)};
  if (it.size == 0) {
    return LEAT_OK;
  }
  LEATI_TRY(leati_array_room(&p->answers, p->answer_count, &p->answer_capacity, sizeof(*p->answers), 4,
                             "what a graph gives on the host", err));
  LEATI_TRY(leati_schedule_bytes(&p->schedule, value->bytes, it.size, &it.data, err));
  p->answers[p->answer_count++] = it;
  return LEAT_OK;
}

/* Brings a value to output `o` of the graph, unless it was written there. */
static int32_t give(planning *p, uint32_t o, leat_error *err) {
  const uint32_t v = p->graph->outputs[o], binding = p->graph->input_count + o;
  const leati_known_value *const value = &p->inference.values[v];
  const leati_view *const view = output_view(p, o);
  const uint64_t size = view->count * view->item_size;
  if (view->host && is_answered(p, v)) {
    return answer(p, o, value, err);
  }
  if (size == 0) {
    return LEAT_OK;
  }
  LEATI_TRY(place_value(p, v, err));
  const leati_place from = p->places[v];
  if (view->host) {
    LEATI_TRY(leati_array_room(&p->plan->downloads, p->plan->download_count, &p->download_capacity,
                               sizeof(*p->plan->downloads), 4, "the downloads of a graph", err));
    p->plan->downloads[p->plan->download_count++] =
        (leati_graph_transfer){.tensor = o, .binding = from.storage, .offset = from.offset, .size = size};
    p->schedule.storages[from.storage].emptied = true;
    return LEAT_OK;
  }
  if (p->schedule.storages[from.storage].binding == binding) {
    return LEAT_OK;
  }
  leati_place to = {0};
  LEATI_TRY(leati_schedule_storage(&p->schedule, binding, size, &to.storage, err));
  return leati_schedule_copy(&p->schedule, p->graph->node_count, from, to, size, err);
}

/* Whether a transfer is of all of its storage, which is a part of the arena, and no other transfer is. */
static bool is_whole(const planning *p, const leati_graph_transfer *transfer, const leati_graph_transfer *all,
                     uint32_t count) {
  const leati_storage *const storage = &p->schedule.storages[transfer->binding];
  uint32_t of_it = 0;
  for (uint32_t i = 0; i < count; ++i) {
    of_it += all[i].binding == transfer->binding;
  }
  return storage->binding == LEATI_IN_ARENA && of_it == 1 && transfer->offset == 0 && transfer->size == storage->size;
}

/* A binding for what is staged: an input's own; what the plan knows gets one. */
static int32_t bind_staged(planning *p, const leati_graph_transfer *transfer, leat_error *err) {
  uint32_t binding = transfer->tensor;
  if (binding == LEATI_GRAPH_PLAN_BYTES) {
    uint32_t added;
    LEATI_TRY(bind_constant(p, NULL, &added, err));
    binding = p->schedule.storages[added].binding;
  }
  p->schedule.storages[transfer->binding].binding = binding;
  return LEAT_OK;
}

/* Has kernels read inputs and write outputs where they are staged, if no step reads or writes them but kernels: a copy
 * is a command that the device waits for. Under guard they stay in blocks, whose ends are watched; and outputs whose
 * place promises no alignment do, because the device may write to the place itself. */
static int32_t leave_staged(planning *p, leat_error *err) {
  leati_graph_plan *const plan = p->plan;
  const leat_device *const device = p->graph->device;
  if (leati_memory_guarded(device)) {
    return LEAT_OK;
  }
  for (uint32_t i = 0; i < plan->upload_count; ++i) {
    leati_graph_transfer *const it = &plan->uploads[i];
    it->staged = it->size <= device->staged_input_max && leati_schedule_is_input(&p->schedule, it->binding) &&
                 is_whole(p, it, plan->uploads, plan->upload_count);
    if (it->staged) {
      LEATI_TRY(bind_staged(p, it, err));
    }
  }
  for (uint32_t i = 0; i < plan->download_count; ++i) {
    leati_graph_transfer *const it = &plan->downloads[i];
    const uint32_t binding = p->graph->input_count + it->tensor;
    it->staged = plan->key.aligned && it->size <= device->staged_output_max &&
                 leati_schedule_is_output(&p->schedule, it->binding) &&
                 is_whole(p, it, plan->downloads, plan->download_count);
    if (it->staged) {
      p->schedule.storages[it->binding].binding = binding;
    }
  }
  return LEAT_OK;
}

/* Turns the storages that transfers name into bindings. */
static void bind_transfers(const planning *p, leati_graph_transfer *transfers, uint32_t count, uint32_t arena) {
  for (uint32_t i = 0; i < count; ++i) {
    const leati_storage *const storage = &p->schedule.storages[transfers[i].binding];
    const bool within = storage->binding == LEATI_IN_ARENA;
    transfers[i].binding = within ? arena : storage->binding;
    transfers[i].offset += within ? (int64_t)storage->offset : 0;
  }
}

/* ---- All of it -------------------------------------------------------------------------------------------------- */

/* Loads the constants that are the plan's own. */
static int32_t take_own(planning *p, leat_error *err) {
  LEATI_TRY(leati_shared_constants_take(p->graph->device, p->requests, p->plan->own_count, err));
  for (uint32_t i = 0; i < p->plan->own_count; ++i) {
    leati_binding *const binding = &p->plan->constants[p->own_bindings[i]];
    p->plan->own[i] = p->requests[i].out;
    binding->address = p->requests[i].out->address;
    binding->block = p->requests[i].out->block;
    p->plan->figures.own_bytes += p->requests[i].size;
  }
  return LEAT_OK;
}

/* Notes what the steps are of: the nodes as they are after rewriting, by their names, which live as long as the graph;
 * and behind them those of no node, which copy a result to another place. */
static int32_t name_steps(planning *p, leat_error *err) {
  const uint32_t count = p->graph->node_count;
  leati_plan_node *const nodes = leati_calloc((size_t)count + 1, sizeof(*nodes));
  if (nodes == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for the names of %u nodes", count);
  }
  for (uint32_t n = 0; n < count; ++n) {
    const char *const name = p->graph->nodes[n].name;
    nodes[n] = (leati_plan_node){.op = p->nodes[n].op->def->info.name, .name = name != NULL ? name : "", .number = n};
  }
  nodes[count] = (leati_plan_node){.op = "copy", .name = "", .number = LEAT_PROFILE_NO_NODE};
  p->plan->plan.op = "graph";
  p->plan->plan.nodes = nodes;
  return LEAT_OK;
}

/* What a plan counts for. Constants of the graph in another order are not counted: all plans that want this order share
 * one. */
static uint64_t count_bytes(const planning *p) {
  const leati_graph_plan *const plan = p->plan;
  return sizeof(*plan) + plan->key.tensor_count * sizeof(*plan->key.tensors) +
         p->graph->output_count * sizeof(*plan->shapes) + plan->constant_count * sizeof(*plan->constants) +
         (plan->upload_count + plan->download_count) * sizeof(*plan->uploads) +
         (p->graph->node_count + 1) * sizeof(*plan->plan.nodes) + p->schedule.step_count * sizeof(*plan->plan.steps) +
         p->schedule.access_count * sizeof(*plan->plan.accesses) + p->schedule.args_size;
}

static int32_t make(planning *p, leat_error *err) {
  const leat_graph *const graph = p->graph;
  LEATI_TRY(begin(p, err));
  LEATI_TRY(leati_inference_of(graph, p->views, &p->inference, err));
  p->inferred = true;
  leati_inference_outputs(&p->inference, p->plan->shapes);
  LEATI_TRY(check_outputs(p, err));
  p->plan->entry.hash = leati_graph_plan_hash(graph, p->views);
  LEATI_TRY(leati_graph_plan_key_make(graph, p->views, &p->plan->key, err));
  LEATI_TRY(leati_graph_plan_key_narrow(&p->plan->key, &p->inference, graph->nodes, NULL, err));
  p->nodes = graph->nodes;
  find_needed(p);
  LEATI_TRY(leati_program_take(&p->inference, &p->views[graph->input_count], p->live, &p->use, err));
  p->nodes = p->use.program->nodes;
  memcpy(p->live, p->use.program->live, (size_t)graph->node_count * sizeof(*p->live));
  memcpy(p->plan->figures.fusion_counts, p->use.program->counts, sizeof(p->plan->figures.fusion_counts));
  LEATI_TRY(leati_graph_plan_key_narrow(&p->plan->key, &p->inference, p->nodes, p->live, err));
  LEATI_TRY(place_picked(p, err));
  LEATI_TRY(lay_channels(p, err));
  LEATI_TRY(find_targets(p, err));
  LEATI_TRY(plan_nodes(p, err));
  for (uint32_t o = 0; o < graph->output_count; ++o) {
    if (output_view(p, o)->present) {
      LEATI_TRY(give(p, o, err));
    }
  }
  LEATI_TRY(take_own(p, err));
  LEATI_TRY(leave_staged(p, err));
  const uint32_t arena = graph->input_count + graph->output_count + p->plan->constant_count;
  p->plan->entry.bytes = count_bytes(p);
  leati_joined joined;
  LEATI_TRY(leati_schedule_finish(&p->schedule, arena, &joined, err));
  bind_transfers(p, p->plan->uploads, p->plan->upload_count, arena);
  bind_transfers(p, p->plan->downloads, p->plan->download_count, arena);
  p->plan->plan = joined.plan;
  p->plan->plan.answers = p->answers;
  p->plan->plan.answer_count = p->answer_count;
  p->answers = NULL;
  p->plan->figures.dispatch_count = joined.dispatch_count;
  p->plan->figures.copy_count = joined.copy_count;
  p->plan->figures.level_count = joined.level_count;
  p->plan->figures.arena_bytes = joined.arena_bytes;
  p->plan->figures.naive_bytes = joined.naive_bytes;
  return name_steps(p, err);
}

/* Makes a plan. `*inout_lays`: planning::lays, and then ::laid. */
static int32_t make_plan(const leat_graph *graph, const leati_view *views, bool *inout_lays, leati_graph_plan **out,
                         leat_error *err) {
  planning p = {.graph = graph, .views = views, .lays = *inout_lays};
  p.plan = leati_calloc(1, sizeof(*p.plan));
  if (p.plan == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for the plan of a graph");
  }
  p.plan->shapes = leati_calloc((size_t)graph->output_count + 1, sizeof(*p.plan->shapes));
  int32_t status = LEAT_ERROR_OUT_OF_MEMORY;
  if (p.plan->shapes == NULL) {
    (void)leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for the plan of a graph");
  } else {
    status = make(&p, err);
    *inout_lays = p.laid;
    end(&p);
  }
  leati_free(p.answers);
  if (status != LEAT_OK) {
    leati_graph_plan_free(graph->device, p.plan);
    return status;
  }
  *out = p.plan;
  return LEAT_OK;
}

/* Without memory for another copy of constants, all lies as if there were no need of it. */
int32_t leati_graph_plan_make(const leat_graph *graph, const leati_view *views, leati_graph_plan **out,
                              leat_error *err) {
  bool lays = true;
  int32_t status = make_plan(graph, views, &lays, out, err);
  if (status == LEAT_ERROR_OUT_OF_MEMORY && lays) {
    leati_forget(err);
    status = make_plan(graph, views, &(bool){false}, out, err);
  }
  return status;
}

void leati_graph_plan_free(leat_device *device, leati_graph_plan *plan) {
  if (plan == NULL) {
    return;
  }
  for (uint32_t i = 0; i < plan->own_count; ++i) {
    leati_shared_constant_release(device, plan->own[i]);
  }
  leati_graph_plan_key_end(&plan->key);
  leati_free((void *)plan->plan.steps);
  leati_free((void *)plan->plan.accesses);
  leati_free((void *)plan->plan.answers);
  leati_free((void *)plan->plan.args);
  leati_free((void *)plan->plan.nodes);
  leati_free(plan->shapes);
  leati_free(plan->constants);
  leati_free(plan->own);
  leati_free(plan->uploads);
  leati_free(plan->downloads);
  leati_free(plan);
}
