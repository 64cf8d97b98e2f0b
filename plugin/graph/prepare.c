/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/prepare.h"

#include "core/status.h"
#include "core/sync.h"
#include "graph/graph_plan_find.h"
#include "graph/inference.h"
#include "graph/launch.h"
#include "record/compilation.h"

/* Imports the inputs, each where it will be. */
static int32_t import_inputs(const leat_graph *graph, const DLTensor *const *inputs, leati_view *views,
                             leat_error *err) {
  LEATI_TRY(leati_graph_import_inputs(graph, inputs, true, views, err));
  LEATI_TRY(leati_graph_check_inputs(graph, graph->input_count, views, err));
  for (uint32_t i = 0; i < graph->input_count; ++i) {
    const DLDevice at = inputs[i]->device;
    const bool on_device = at.device_type == kDLVulkan && at.device_id == (int32_t)graph->device->index;
    if (!on_device && at.device_type != kDLCPU) {
      return leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT,
                        "input %u of the graph is on DLPack device (%d, %d); expected the host, kDLCPU (1), or the "
                        "graph's device, kDLVulkan (7) with number %u",
                        i, (int)at.device_type, at.device_id, graph->device->index);
    }
    views[i].host = !on_device;
  }
  return LEAT_OK;
}

/* Makes the views of outputs on the device, whose shapes follow from the inputs. */
static int32_t infer_outputs(const leat_graph *graph, leati_view *views, leat_shape *shapes, leat_error *err) {
  leati_inference inference;
  int32_t status = leati_inference_of(graph, views, &inference, err);
  if (status == LEAT_OK) {
    leati_inference_outputs(&inference, shapes);
    leati_inference_keep(&inference); /* for the plan that is made next */
  } else {
    leati_inference_end(&inference);
  }
  for (uint32_t o = 0; o < graph->output_count && status == LEAT_OK; ++o) {
    status = leati_view_of_shape(shapes[o].dtype, shapes[o].ndim, shapes[o].dims, "an output of the graph",
                                 &views[graph->input_count + o], err);
  }
  return status;
}

/* Whether there is a plan for such tensors. Its pipelines were compiled with it. */
static bool has_plan(const leat_graph *graph, const leati_view *views) {
  const uint64_t hash = leati_graph_plan_hash(graph, views);
  const leati_graph_plan_use use = leati_graph_plan_take(graph, leati_thread_id(), hash, views);
  leati_lru_leave(use.counter);
  return use.plan != NULL;
}

/* Makes the plan for tensors that were imported, and so its pipelines. It is not kept: probes are of shapes that hardly
 * any launch has. */
static int32_t make_plan(const leat_graph *graph, const leati_view *views, leat_error *err) {
  leati_graph_plan *plan = NULL;
  LEATI_TRY(leati_graph_plan_make(graph, views, &plan, err));
  leati_graph_plan_free(graph->device, plan);
  return LEAT_OK;
}

/* Compiles for tensors that were imported. */
static int32_t prepare(const leat_graph *graph, const leati_view *views, uint32_t max, uint32_t *out_count,
                       leat_error *err) {
  leati_compilation compilation = {.ahead = true, .max = max};
  leati_compilation_begin(&compilation);
  int32_t status = has_plan(graph, views) ? LEAT_OK : make_plan(graph, views, err);
  leati_compilation_end(&compilation);
  *out_count = compilation.count;
  if (status == LEAT_ERROR_EXHAUSTED && compilation.count == max) {
    leati_forget(err);
    status = LEAT_OK;
  }
  return status;
}

int32_t leati_graph_prepare(const leat_graph *graph, const DLTensor *const *inputs, uint32_t max, uint32_t *out_count,
                            leat_error *err) {
  leati_view *const views = leati_calloc((size_t)graph->input_count + graph->output_count + 1, sizeof(*views));
  leat_shape *const shapes = leati_calloc((size_t)graph->output_count + 1, sizeof(*shapes));
  int32_t status = views != NULL && shapes != NULL
                       ? import_inputs(graph, inputs, views, err)
                       : leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for the tensors of a graph");
  if (status == LEAT_OK) {
    status = infer_outputs(graph, views, shapes, err);
  }
  if (status == LEAT_OK) {
    status = prepare(graph, views, max, out_count, err);
  }
  leati_free(views);
  leati_free(shapes);
  return status;
}
