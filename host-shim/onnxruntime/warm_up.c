/* SPDX-License-Identifier: BSD-3-Clause */
#include "warm_up.h"

#include <string.h>

#include "fused_subgraph.h"
#include "probe_shapes.h"

/* Names of dimensions up to which a sum is looked for: there are 90 then. */
#define SUM_NAMES_MAX 6

/* A value that the model, or a fused subgraph, takes or gives. */
typedef struct border_value {
  leati_declared_value declared;
  bool known; /* for the sizes that are being tried */
  leat_shape shape;
} border_value;

typedef struct border {
  const leat_graph *graph;
  const char *label;
  const OrtValueInfo **infos; /* of inputs, then of outputs */
  uint32_t *values;           /* the same by number */
  size_t input_count, output_count;
  bool done; /* for the sizes that are being tried */
} border;

typedef struct warming {
  leati_shared_device *device;
  const leati_runtime *runtime;
  const OrtLogger *logger;
  leati_scratch scratch;
  leati_dimensions dimensions;
  border *subgraphs;
  size_t subgraph_count;
  border_value *values; /* those of the model come first */
  size_t value_count, model_count;
  DLTensor *inputs; /* room for those of any fused subgraph */
  const DLTensor **views;
  leat_shape **shapes; /* and for outputs */
  uint32_t left;       /* pipelines that may still be compiled */
  uint32_t compiled;   /* those that were */
} warming;

static OrtStatus *no_memory(const warming *self) {
  return leati_status(self->runtime, ORT_FAIL, LEATI_PROVIDER_NAME ": out of memory for the warm-up of a session");
}

/* ---- What the model and its fused subgraphs take and give
 * -----------------------------------------------------------------
 */

static OrtStatus *read_border(warming *self, OrtNodeComputeInfo *subgraph, const OrtNode *fused, border *out) {
  const OrtApi *ort = self->runtime->ort;
  out->graph = leati_fused_subgraph_graph(subgraph, &out->label);
  OrtStatus *status = ort->Node_GetNumInputs(fused, &out->input_count);
  if (status == NULL) {
    status = ort->Node_GetNumOutputs(fused, &out->output_count);
  }
  if (status != NULL) {
    return status;
  }
  const size_t count = out->input_count + out->output_count;
  out->infos = leati_scratch_alloc(&self->scratch, count, sizeof(*out->infos));
  out->values = leati_scratch_alloc(&self->scratch, count, sizeof(*out->values));
  if (out->infos == NULL || out->values == NULL) {
    return no_memory(self);
  }
  status = out->input_count != 0 ? ort->Node_GetInputs(fused, out->infos, out->input_count) : NULL;
  if (status == NULL && out->output_count != 0) {
    status = ort->Node_GetOutputs(fused, out->infos + out->input_count, out->output_count);
  }
  return status;
}

/* Finds the number of a value, or gives it the next one. */
static OrtStatus *number_value(warming *self, const OrtValueInfo *info, uint32_t *out) {
  const char *name = NULL;
  OrtStatus *status = self->runtime->ort->GetValueInfoName(info, &name);
  *out = 0;
  while (status == NULL && *out < self->value_count && strcmp(self->values[*out].declared.name, name) != 0) {
    ++*out;
  }
  if (status == NULL && *out == self->value_count) {
    status = leati_declared_value_read(self->runtime, &self->scratch, info, &self->values[*out].declared);
    self->value_count += status == NULL;
  }
  return status;
}

/* Names that are sums of others come last, when those are there. */
static void add_dimensions(warming *self) {
  for (int sums = 0; sums < 2; ++sums) {
    for (size_t v = 0; v < self->model_count; ++v) {
      const leati_declared_value *value = &self->values[v].declared;
      for (int32_t axis = 0; axis < value->ndim; ++axis) {
        if (value->dims[axis] < 0 && (strchr(value->symbols[axis], '+') != NULL) == (sums == 1)) {
          leati_dimensions_add(&self->dimensions, value->symbols[axis]);
        }
      }
    }
  }
}

static OrtStatus *read_all(warming *self, const leati_model_inputs *inputs, OrtNodeComputeInfo *const *subgraphs,
                           const OrtNode *const *fused) {
  size_t most = inputs->count, widest = 0;
  OrtStatus *status = NULL;
  self->subgraphs = leati_scratch_alloc(&self->scratch, self->subgraph_count, sizeof(*self->subgraphs));
  for (size_t i = 0; self->subgraphs != NULL && i < self->subgraph_count && status == NULL; ++i) {
    status = read_border(self, subgraphs[i], fused[i], &self->subgraphs[i]);
    const size_t count = self->subgraphs[i].input_count + self->subgraphs[i].output_count;
    most += count;
    widest = count > widest ? count : widest;
  }
  self->values = leati_scratch_alloc(&self->scratch, most, sizeof(*self->values));
  self->inputs = leati_scratch_alloc(&self->scratch, widest, sizeof(*self->inputs));
  self->views = leati_scratch_alloc(&self->scratch, widest, sizeof(*self->views));
  self->shapes = leati_scratch_alloc(&self->scratch, widest, sizeof(*self->shapes));
  if (status == NULL && (self->subgraphs == NULL || self->values == NULL || self->inputs == NULL ||
                         self->views == NULL || self->shapes == NULL)) {
    status = no_memory(self);
  }
  for (size_t v = 0; v < inputs->count && status == NULL; ++v) {
    self->values[self->value_count++].declared = inputs->values[v];
  }
  self->model_count = self->value_count;
  for (size_t i = 0; i < self->subgraph_count && status == NULL; ++i) {
    const border *subgraph = &self->subgraphs[i];
    for (size_t k = 0; k < subgraph->input_count + subgraph->output_count && status == NULL; ++k) {
      status = number_value(self, subgraph->infos[k], &subgraph->values[k]);
    }
  }
  if (status == NULL) {
    add_dimensions(self);
  }
  return status;
}

/* ---- One set of sizes ---------------------------------------------------------------------------------------------
 */

/* Gives a value the shape that is declared, with the sizes that are being tried, if all are known. */
static void declare(const warming *self, border_value *value) {
  const leati_declared_value *declared = &value->declared;
  value->shape = (leat_shape){.struct_size = sizeof(value->shape), .ndim = declared->ndim, .dtype = declared->dtype};
  value->known = declared->ndim >= 0;
  for (int32_t axis = 0; axis < declared->ndim; ++axis) {
    const int64_t size = declared->dims[axis] >= 0 ? declared->dims[axis]
                                                   : leati_dimensions_size(&self->dimensions, declared->symbols[axis]);
    value->shape.dims[axis] = size;
    value->known = value->known && size >= 0;
  }
}

/* Whether the shapes of all inputs of a fused subgraph are known. `declares`: those that are declared count. */
static bool is_ready(const warming *self, const border *subgraph, bool declares) {
  bool ready = true;
  for (size_t i = 0; i < subgraph->input_count; ++i) {
    border_value *value = &self->values[subgraph->values[i]];
    if (!value->known && declares) {
      declare(self, value);
    }
    ready = ready && value->known;
  }
  return ready;
}

/* Infers what a fused subgraph gives, and prepares it. False: it refuses such inputs. */
static bool try_subgraph(warming *self, border *subgraph, bool prepares) {
  const leat_graph_api *api = self->runtime->leat->graph;
  leat_error error = {.struct_size = sizeof(error)};
  for (size_t i = 0; i < subgraph->input_count; ++i) {
    leat_shape *shape = &self->values[subgraph->values[i]].shape;
    self->inputs[i] = (DLTensor){.device = {kDLVulkan, (int32_t)self->device->info.index},
                                 .ndim = shape->ndim,
                                 .dtype = shape->dtype,
                                 .shape = shape->dims};
    self->views[i] = &self->inputs[i];
  }
  for (size_t o = 0; o < subgraph->output_count; ++o) {
    self->shapes[o] = &self->values[subgraph->values[subgraph->input_count + o]].shape;
    *self->shapes[o] = (leat_shape){.struct_size = sizeof(leat_shape)};
  }
  int32_t code = api->infer(subgraph->graph, (uint32_t)subgraph->input_count, self->views,
                            (uint32_t)subgraph->output_count, self->shapes, &error);
  for (size_t o = 0; o < subgraph->output_count && code == LEAT_OK; ++o) {
    self->values[subgraph->values[subgraph->input_count + o]].known = true;
  }
  if (code == LEAT_OK && prepares) {
    uint32_t count = self->left;
    code = api->prepare(subgraph->graph, (uint32_t)subgraph->input_count, self->views, &count, &error);
    self->left -= count;
    self->compiled += count;
  }
  if (code != LEAT_OK && prepares) {
    leati_ort_log(self->runtime, self->logger, ORT_LOGGING_LEVEL_VERBOSE,
                  LEATI_PROVIDER_NAME ": %s is not prepared for some sizes of dimensions: %s", subgraph->label,
                  error.message);
  }
  return code == LEAT_OK;
}

/* Goes through the fused subgraphs, each once it is known what it takes. Returns how many refuse that. */
static size_t try_sizes(warming *self, bool prepares) {
  size_t refused = 0;
  for (size_t v = 0; v < self->value_count; ++v) {
    self->values[v].known = false;
    if (v < self->model_count) {
      declare(self, &self->values[v]);
    }
  }
  for (size_t i = 0; i < self->subgraph_count; ++i) {
    self->subgraphs[i].done = false;
  }
  /* What nodes outside of fused subgraphs give has the shape that is declared, if nothing tells more. */
  for (bool declares = false, more = true; more || !declares;) {
    declares = !more;
    more = false;
    for (size_t i = 0; i < self->subgraph_count; ++i) {
      border *subgraph = &self->subgraphs[i];
      if (!subgraph->done && is_ready(self, subgraph, declares)) {
        subgraph->done = more = true;
        refused += !try_subgraph(self, subgraph, prepares);
      }
    }
  }
  return refused;
}

/* Whether the fused subgraphs agree if dimension `sum` is the sum of two others, or the same as one (`b` is -1). */
static bool agrees(warming *self, int sum, int a, int b) {
  leati_dimensions *dimensions = &self->dimensions;
  dimensions->sum = sum;
  dimensions->sum_of[0] = a;
  dimensions->sum_of[1] = b;
  leati_probe_set(dimensions, 0);
  return try_sizes(self, false) == 0;
}

/* Looks for a dimension that follows from others (the length with what a cache has, of a decoder): with sizes that have
 * nothing to do with each other some fused subgraph refuses its inputs. */
static void find_sum(warming *self) {
  const int count = (int)self->dimensions.count;
  leati_probe_set(&self->dimensions, 0);
  if (try_sizes(self, false) == 0 || count > SUM_NAMES_MAX) {
    return;
  }
  for (int sum = count - 1; sum >= 0; --sum) {
    for (int a = 0; a < count; ++a) {
      for (int b = -1; b < a; ++b) {
        if (a != sum && b != sum && agrees(self, sum, a, b)) {
          return;
        }
      }
    }
  }
  self->dimensions.sum = -1;
}

/* ---- All of it ----------------------------------------------------------------------------------------------------
 */

static OrtStatus *try_listed(warming *self, const char *option) {
  char why[512];
  for (const char *at = option; *at != '\0';) {
    at = leati_warm_shapes_next(at, &self->dimensions, why, sizeof(why));
    if (at == NULL) {
      return leati_status(self->runtime, ORT_INVALID_ARGUMENT,
                          LEATI_PROVIDER_NAME ": option 'warm_shapes' is '%.200s', but %s", option, why);
    }
    const size_t refused = try_sizes(self, true);
    if (refused != 0) {
      leati_ort_log(self->runtime, self->logger, ORT_LOGGING_LEVEL_WARNING,
                    LEATI_PROVIDER_NAME
                    ": option 'warm_shapes' is '%.200s': %zu of %zu fused subgraphs refuse a set of it, or what "
                    "follows from that",
                    option, refused, self->subgraph_count);
    }
  }
  return NULL;
}

static void try_probes(warming *self) {
  find_sum(self);
  const size_t count = leati_probe_count(&self->dimensions);
  for (size_t i = 0; i < count && self->left != 0; ++i) {
    leati_probe_set(&self->dimensions, i);
    (void)try_sizes(self, true);
  }
}

OrtStatus *leati_warm_up(leati_shared_device *device, const leati_model_inputs *inputs, const char *option,
                         const OrtLogger *logger, OrtNodeComputeInfo *const *subgraphs, const OrtNode *const *fused,
                         size_t count) {
  const bool none = option != NULL ? strcmp(option, "none") == 0 : (device->info.flags & LEAT_DEVICE_SOFTWARE) != 0;
  if (none || inputs->count == 0 || count == 0) {
    return NULL;
  }
  warming self = {.device = device,
                  .runtime = device->runtime,
                  .logger = logger,
                  .subgraph_count = count,
                  .left = LEATI_WARM_PIPELINES_MAX};
  OrtStatus *status = read_all(&self, inputs, subgraphs, fused);
  if (status == NULL && option != NULL && strcmp(option, "probe") != 0) {
    status = try_listed(&self, option);
  } else if (status == NULL) {
    try_probes(&self);
  }
  if (status == NULL) {
    leati_ort_log(self.runtime, logger, ORT_LOGGING_LEVEL_INFO,
                  LEATI_PROVIDER_NAME ": %u pipelines were compiled before the first Run%s", self.compiled,
                  self.left == 0 ? ", as many as a session may: Runs compile what is missing" : "");
  }
  leati_scratch_clear(&self.scratch);
  return status;
}
