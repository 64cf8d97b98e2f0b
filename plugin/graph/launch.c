/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/launch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/config.h"
#include "core/status.h"
#include "core/sync.h"
#include "graph/graph_plan_find.h"
#include "graph/inference.h"
#include "memory/overlap.h"
#include "ops/core/arguments.h"
#include "record/compilation.h"
#include "streams/recorder.h"
#include "streams/staged_copy.h"
#include "streams/stream.h"
#include "streams/stream_state.h"

/* Tensors and bindings of a launch on the stack; more come from the heap. */
#define INLINE_VIEWS 16
#define INLINE_BINDINGS 128

/* ---- Tensors ---------------------------------------------------------------------------------------------------- */

/* Fails with what is wrong with an input or output. */
static int32_t fail_tensor(const char *kind, uint32_t i, const char *what, leat_error *err) {
  return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "%s %u of the graph %s", kind, i, what);
}

/* Imports a tensor. A name for messages is only put together when there is something to say. */
static int32_t import_tensor(const leat_graph *graph, const DLTensor *tensor, const char *kind, uint32_t i,
                             leati_view *out, leat_error *err) {
  if (leati_view_import(graph->device, tensor, kind, out, NULL) == LEAT_OK) {
    return LEAT_OK;
  }
  char what[48];
  (void)snprintf(what, sizeof(what), "%s %u of the graph", kind, i);
  return leati_view_import(graph->device, tensor, what, out, err);
}

/* Compares an input with what was said of it when the graph was built. */
static int32_t check_input(const leat_graph *graph, uint32_t i, const leati_view *view, leat_error *err) {
  const leati_value *const value = &graph->values[graph->inputs[i]];
  if (view->type != value->type) {
    return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "input %u of the graph has type %s; it was built for %s", i,
                      leati_type_name(view->type), leati_type_name(value->type));
  }
  bool agrees = value->ndim == -1 || value->ndim == view->ndim;
  for (int32_t d = 0; agrees && d < value->ndim; ++d) {
    agrees = value->shape[d] == -1 || value->shape[d] == view->shape[d];
  }
  return agrees ? LEAT_OK : fail_tensor("input", i, "has another shape than the graph was built for", err);
}

int32_t leati_graph_check_inputs(const leat_graph *graph, uint32_t count, const leati_view *views, leat_error *err) {
  for (uint32_t i = 0; i < count; ++i) {
    LEATI_TRY(check_input(graph, i, &views[i], err));
  }
  return LEAT_OK;
}

static int32_t import_input(const leat_graph *graph, const DLTensor *tensor, uint32_t i, bool shapes_only,
                            leati_view *view, leat_error *err) {
  const bool needed_on_host = graph->values[graph->inputs[i]].needed_on_host;
  if (shapes_only && !needed_on_host) {
    char what[48];
    (void)snprintf(what, sizeof(what), "input %u of the graph", i);
    LEATI_TRY(leati_view_import_shape(tensor, what, view, err));
  } else {
    LEATI_TRY(import_tensor(graph, tensor, "input", i, view, err));
  }
  if (needed_on_host && !view->host) {
    return fail_tensor("input", i, "decides shapes: it must be on the host", err);
  }
  return !view->host || view->compact
             ? LEAT_OK
             : fail_tensor("input", i, "is on the host and has strides; it must be compact", err);
}

int32_t leati_graph_import_inputs(const leat_graph *graph, const DLTensor *const *inputs, bool shapes_only,
                                  leati_view *views, leat_error *err) {
  for (uint32_t i = 0; i < graph->input_count; ++i) {
    if (import_input(graph, inputs[i], i, shapes_only, &views[i], NULL) != LEAT_OK) {
      /* What is wrong with the first input comes first. */
      LEATI_TRY(leati_graph_check_inputs(graph, i, views, err));
      return import_input(graph, inputs[i], i, shapes_only, &views[i], err);
    }
  }
  return LEAT_OK;
}

static bool overlap(const leati_view *a, const leati_view *b) {
  return a->host == b->host && a->begin < b->end && b->begin < a->end;
}

/* Whether output `o` is the cache that the graph was given as input `i`, and goes on with. */
static bool is_cache(const leat_graph *graph, uint32_t o, uint32_t i, const leati_view *input,
                     const leati_view *output) {
  return graph->caches[o] == i && !input->host && input->compact && input->type == output->type &&
         input->address == output->address && input->begin == output->begin && input->end == output->end;
}

/* Compares where an output lies with the inputs and the outputs before it. */
static int32_t check_overlaps(const leat_graph *graph, uint32_t o, const leati_view *views, leat_error *err) {
  const uint32_t at = graph->input_count + o;
  const leati_view *const view = &views[at];
  for (uint32_t i = 0; i < at && view->count != 0; ++i) {
    if (views[i].count != 0 && overlap(&views[i], view) && !is_cache(graph, o, i, &views[i], view)) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "output %u of the graph overlaps %s %u", o,
                        i < graph->input_count ? "input" : "output",
                        i < graph->input_count ? i : i - graph->input_count);
    }
  }
  return LEAT_OK;
}

/* A launch whose tensors are asked about by their numbers, inputs first. */
typedef struct numbered_launch {
  const leat_graph *graph;
  const leati_view *views;
} numbered_launch;

static bool may_share(const void *context, uint32_t written, uint32_t other) {
  const numbered_launch *const it = context;
  return is_cache(it->graph, written - it->graph->input_count, other, &it->views[other], &it->views[written]);
}

static int32_t import_outputs(const leat_graph *graph, const DLTensor *const *outputs, leati_view *views,
                              leat_error *err) {
  const uint32_t inputs = graph->input_count;
  const bool many = graph->output_count > LEATI_OVERLAPS_MANY;
  for (uint32_t o = 0; o < graph->output_count; ++o) {
    const uint32_t at = graph->input_count + o;
    leati_view *const view = &views[at];
    if (outputs[o] == NULL) {
      memset(view, 0, sizeof(*view));
      continue;
    }
    LEATI_TRY(import_tensor(graph, outputs[o], "output", o, view, err));
    if (!view->compact) {
      return fail_tensor("output", o, "has strides; it must be compact", err);
    }
    LEATI_TRY(many ? LEAT_OK : check_overlaps(graph, o, views, err));
  }
  const numbered_launch numbered = {.graph = graph, .views = views};
  if (!many || leati_views_are_apart(views, inputs + graph->output_count, inputs, may_share, &numbered)) {
    return LEAT_OK;
  }
  for (uint32_t o = 0; o < graph->output_count; ++o) {
    LEATI_TRY(check_overlaps(graph, o, views, err));
  }
  return LEAT_OK;
}

/* Imports what a launch is for. Whether shapes are those that the graph was built for is found with the plan. */
static int32_t import_all(const leat_graph *graph, const DLTensor *const *inputs, const DLTensor *const *outputs,
                          leati_view *views, leat_error *err) {
  LEATI_TRY(leati_graph_import_inputs(graph, inputs, false, views, err));
  if (import_outputs(graph, outputs, views, NULL) != LEAT_OK) {
    LEATI_TRY(leati_graph_check_inputs(graph, graph->input_count, views, err));
    return import_outputs(graph, outputs, views, err);
  }
  return LEAT_OK;
}

/* ---- Inferring -------------------------------------------------------------------------------------------------- */

/* Infers what no plan is cached for. */
static int32_t infer_anew(const leat_graph *graph, const leati_view *views, leat_shape *const *out, leat_error *err) {
  LEATI_TRY(leati_graph_check_inputs(graph, graph->input_count, views, err));
  leat_shape *const shapes = leati_calloc((size_t)graph->output_count + 1, sizeof(*shapes));
  if (shapes == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for %u shapes", graph->output_count);
  }
  leati_inference inference;
  int32_t status = leati_inference_of(graph, views, &inference, err);
  if (status == LEAT_OK) {
    leati_inference_outputs(&inference, shapes);
    leati_inference_keep(&inference); /* for the launch that comes next */
    status = leati_arguments_export_shapes(shapes, graph->output_count, out, err);
  } else {
    leati_inference_end(&inference);
  }
  leati_free(shapes);
  return status;
}

int32_t leati_graph_infer(const leat_graph *graph, const DLTensor *const *inputs, leat_shape *const *out,
                          leat_error *err) {
  leati_view inline_views[INLINE_VIEWS], *views = inline_views;
  if (graph->input_count > INLINE_VIEWS) {
    views = leati_calloc(graph->input_count, sizeof(*views));
    if (views == NULL) {
      return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for %u tensors", graph->input_count);
    }
  }
  int32_t status = leati_graph_import_inputs(graph, inputs, true, views, err);
  if (status == LEAT_OK) {
    leati_lru_counter *const counter = leati_lru_enter(&leati_graph_plans_of(graph)->cache.readers, leati_thread_id());
    const leat_shape *const found = leati_graph_plan_find_shapes(graph, views);
    status = found != NULL ? leati_arguments_export_shapes(found, graph->output_count, out, err) : LEAT_OK;
    leati_lru_leave(counter);
    if (found == NULL) {
      status = infer_anew(graph, views, out, err);
    }
  }
  if (views != inline_views) {
    leati_free(views);
  }
  return status;
}

/* ---- Recording -------------------------------------------------------------------------------------------------- */

/* A plan with what it is recorded for. */
typedef struct launch {
  const leat_graph *graph;
  const leati_graph_plan *plan;
  const leati_view *views;
  leati_binding *bindings;
} launch;

/* Compact bytes. */
static leati_view view_of_bytes(uint64_t size) {
  leati_view view = {.present = true, .compact = true, .ndim = 1, .type = LEAT_TYPE_UINT8, .item_size = 1};
  view.count = size;
  view.shape[0] = (int64_t)size;
  view.strides[0] = 1;
  return view;
}

/* The bytes of a transfer on the device. */
static leati_view device_side(const launch *it, const leati_graph_transfer *transfer) {
  const leati_binding *const binding = &it->bindings[transfer->binding];
  leati_view view = view_of_bytes(transfer->size);
  view.block = binding->block;
  view.address = view.begin = binding->address + (uint64_t)transfer->offset;
  view.end = view.begin + transfer->size;
  return view;
}

/* The host's memory that an upload is from. */
static leati_view upload_source(const launch *it, const leati_graph_transfer *upload) {
  if (upload->tensor != LEATI_GRAPH_PLAN_BYTES) {
    return it->views[upload->tensor];
  }
  leati_view view = view_of_bytes(upload->size);
  view.host = true;
  view.data = (void *)(it->plan->plan.args + upload->data);
  return view;
}

/* That which a download is for. */
static const leati_view *download_target(const launch *it, const leati_graph_transfer *download) {
  return &it->views[it->graph->input_count + download->tensor];
}

/* Binds what kernels read and write where it is staged. */
static int32_t bind_staged(leati_recorder *recorder, const launch *it, leat_error *err) {
  const leati_graph_plan *const plan = it->plan;
  for (uint32_t i = 0; i < plan->upload_count; ++i) {
    if (plan->uploads[i].staged) {
      const leati_view from = upload_source(it, &plan->uploads[i]);
      LEATI_TRY(leati_record_staged_input(recorder, &from, &it->bindings[plan->uploads[i].binding], err));
    }
  }
  for (uint32_t i = 0; i < plan->download_count; ++i) {
    if (plan->downloads[i].staged) {
      LEATI_TRY(leati_record_staged_output(recorder, download_target(it, &plan->downloads[i]),
                                           &it->bindings[plan->downloads[i].binding], err));
    }
  }
  return LEAT_OK;
}

static int32_t record_launch(leati_recorder *recorder, const void *what, leat_error *err) {
  const launch *const it = what;
  const leati_graph_plan *const plan = it->plan;
  const uint32_t arena = plan->plan.binding_count - 1;
  if (plan->figures.arena_bytes != 0) {
    LEATI_TRY(leati_record_temporary(recorder, plan->figures.arena_bytes, &it->bindings[arena], err));
  }
  LEATI_TRY(bind_staged(recorder, it, err));
  for (uint32_t i = 0; i < plan->upload_count; ++i) {
    if (!plan->uploads[i].staged) {
      const leati_view from = upload_source(it, &plan->uploads[i]), to = device_side(it, &plan->uploads[i]);
      LEATI_TRY(leati_record_copy(recorder, &from, &to, err));
    }
  }
  LEATI_TRY(leati_record_plan(recorder, &plan->plan, it->bindings, err));
  for (uint32_t i = 0; i < plan->download_count; ++i) {
    if (!plan->downloads[i].staged) {
      const leati_view from = device_side(it, &plan->downloads[i]);
      LEATI_TRY(leati_record_copy(recorder, &from, download_target(it, &plan->downloads[i]), err));
    }
  }
  return LEAT_OK;
}

int32_t leati_graph_record(const leat_graph *graph, leat_stream *stream, const leati_graph_plan *plan,
                           const leati_view *views, leat_error *err) {
  const uint32_t tensors = graph->input_count + graph->output_count, count = plan->plan.binding_count;
  leati_binding inline_bindings[INLINE_BINDINGS], *bindings = inline_bindings;
  if (count > INLINE_BINDINGS) {
    bindings = leati_calloc(count, sizeof(*bindings));
    if (bindings == NULL) {
      return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for %u tensors", count);
    }
  }
  for (uint32_t i = 0; i < tensors; ++i) {
    bindings[i] = (leati_binding){
        .address = views[i].address, .block = views[i].block, .data = views[i].host ? views[i].data : NULL};
  }
  if (plan->constant_count != 0) {
    memcpy(bindings + tensors, plan->constants, plan->constant_count * sizeof(*bindings));
  }
  const launch it = {.graph = graph, .plan = plan, .views = views, .bindings = bindings};
  const int32_t status = leati_record(stream, record_launch, &it, err);
  if (bindings != inline_bindings) {
    leati_free(bindings);
  }
  return status;
}

/* ---- Launching -------------------------------------------------------------------------------------------------- */

/* Records a plan and counts the launch. */
static int32_t record(const leat_graph *graph, leat_stream *stream, const leati_graph_plan *plan,
                      const leati_view *views, leati_lru_counter *counter, leat_error *err) {
  LEATI_TRY(leati_graph_record(graph, stream, plan, views, err));
  (void)atomic_fetch_add_explicit(&counter->uses, 1, memory_order_relaxed);
  return LEAT_OK;
}

/* Records the cached plan for such tensors; `*out_found` is false if there is none. */
static int32_t launch_cached(const leat_graph *graph, leat_stream *stream, uint64_t hash, const leati_view *views,
                             bool *out_found, leat_error *err) {
  const leati_graph_plan_use use = leati_graph_plan_take(graph, stream->number, hash, views);
  *out_found = use.plan != NULL;
  const int32_t status = use.plan != NULL ? record(graph, stream, use.plan, views, use.counter, err) : LEAT_OK;
  leati_lru_leave(use.counter);
  return status;
}

/* Says for which inputs a launch had to compile pipelines. */
static void log_compiled(const leat_graph *graph, const leati_view *views, uint32_t count) {
  char shapes[256] = "";
  size_t used = 0;
  for (uint32_t i = 0; i < graph->input_count && used < sizeof(shapes); ++i) {
    used += (size_t)snprintf(shapes + used, sizeof(shapes) - used, "%s%s[", i != 0 ? ", " : "",
                             leati_type_name(views[i].type));
    for (int32_t d = 0; d < views[i].ndim && used < sizeof(shapes); ++d) {
      used +=
          (size_t)snprintf(shapes + used, sizeof(shapes) - used, "%s%" PRId64, d != 0 ? "," : "", views[i].shape[d]);
    }
    used += used < sizeof(shapes) ? (size_t)snprintf(shapes + used, sizeof(shapes) - used, "]") : 0;
  }
  leati_log(LEATI_LOG_INFO, "a launch of a graph of %u nodes has compiled %u pipelines, for inputs %s%s",
            graph->node_count, count, shapes, used < sizeof(shapes) ? "" : "...");
}

/* Makes a plan and records it; it stays in the cache if there is room. Those who wait for the plan, which `claim` is of
 * if there is one, find it before it is recorded. */
static int32_t launch_new(const leat_graph *graph, leat_stream *stream, const leati_view *views,
                          leati_graph_claim *claim, leat_error *err) {
  leati_graph_plan_cache *const plans = leati_graph_plans_of(graph);
  leati_graph_plan *plan = NULL;
  leati_compilation compilation = {.max = UINT32_MAX};
  leati_compilation_begin(&compilation);
  int32_t status = leati_graph_plan_make(graph, views, &plan, err);
  leati_compilation_end(&compilation);
  if (compilation.count != 0) {
    (void)atomic_fetch_add_explicit(&plans->compiled, compilation.count, memory_order_relaxed);
    log_compiled(graph, views, compilation.count);
  }
  if (status == LEAT_OK) {
    leati_graph_plan_cache_note(plans, &plan->figures);
  }
  leati_lru_cache_collect(&plans->cache);
  leati_lru_counter *const counter = leati_lru_enter(&plans->cache.readers, stream->number);
  const bool added = status == LEAT_OK && leati_lru_cache_add(&plans->cache, &plan->entry);
  if (claim != NULL) {
    leati_graph_plan_cache_release(plans, claim);
  }
  if (status == LEAT_OK) {
    status = record(graph, stream, plan, views, counter, err);
  }
  leati_lru_leave(counter);
  if (!added) {
    leati_graph_plan_free(graph->device, plan);
  }
  return status;
}

/* Launches what no plan was found for: another thread may be making it, or have made it since. */
static int32_t launch_anew(const leat_graph *graph, leat_stream *stream, uint64_t hash, const leati_view *views,
                           leat_error *err) {
  LEATI_TRY(leati_graph_check_inputs(graph, graph->input_count, views, err));
  LEATI_TRY(leati_stream_error_if_live(stream, err));
  leati_graph_plan_cache *const plans = leati_graph_plans_of(graph);
  leati_graph_claim claim = {.hash = hash};
  const bool claimed = leati_graph_plan_cache_claim(plans, &claim);
  bool found;
  const int32_t status = launch_cached(graph, stream, hash, views, &found, err);
  if (!found) {
    return launch_new(graph, stream, views, claimed ? &claim : NULL, err);
  }
  if (claimed) {
    leati_graph_plan_cache_release(plans, &claim);
  }
  return status;
}

int32_t leati_graph_launch(const leat_graph *graph, leat_stream *stream, const DLTensor *const *inputs,
                           const DLTensor *const *outputs, leat_error *err) {
  const uint32_t count = graph->input_count + graph->output_count;
  leati_view inline_views[INLINE_VIEWS], *views = inline_views;
  if (count > INLINE_VIEWS) {
    views = leati_calloc(count, sizeof(*views));
    if (views == NULL) {
      return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for %u tensors", count);
    }
  }
  int32_t status = import_all(graph, inputs, outputs, views, err);
  if (status == LEAT_OK) {
    const uint64_t hash = leati_graph_plan_hash(graph, views);
    bool found;
    status = launch_cached(graph, stream, hash, views, &found, err);
    if (!found) {
      status = launch_anew(graph, stream, hash, views, err);
    }
  }
  if (views != inline_views) {
    leati_free(views);
  }
  return status;
}
