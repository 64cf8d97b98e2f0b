/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/graph_plan_key.h"

#include <string.h>

#include "common/hash.h"
#include "core/status.h"
#include "core/sync.h"
#include "ops/core/dims.h"
#include "ops/core/movement.h"
#include "ops/core/op_state.h"
#include "streams/recorder.h"

/* Bits of the hash of a plan that its input shapes alone decide. */
#define SHAPE_BITS UINT64_C(0xffff)
_Static_assert(LEATI_GRAPH_PLAN_BUCKETS - 1 <= SHAPE_BITS, "shapes alone choose a bucket");

static uint8_t residue_of(const leati_view *view) {
  return view->host || view->count == 0 ? 0 : (uint8_t)(view->address & (LEATI_PLAN_ALIGNMENT - 1));
}

/* Whether the outputs on the host that are small enough to be staged begin where they can be. One answer for all: a
 * plan for each mixture would be too many. */
static bool are_aligned(const leat_graph *graph, const leati_view *views) {
  bool are = true;
  for (uint32_t o = 0; o < graph->output_count; ++o) {
    const leati_view *const view = &views[graph->input_count + o];
    are = are && (!view->host || view->count * view->item_size > graph->device->staged_output_max ||
                  (uintptr_t)view->data % LEATI_STAGED_ALIGNMENT == 0);
  }
  return are;
}

/* Notes what a plan is for. */
static int32_t know_tensor(const leat_graph *graph, const leati_view *view, uint32_t i, leati_known_tensor *out,
                           leat_error *err) {
  *out = (leati_known_tensor){.present = view->present,
                              .host = view->host,
                              .compact = view->compact,
                              .residue = residue_of(view),
                              .ndim = view->ndim,
                              .type = view->type,
                              .count = view->count};
  memcpy(out->shape, view->shape, (size_t)view->ndim * sizeof(view->shape[0]));
  memcpy(out->strides, view->strides, (size_t)view->ndim * sizeof(view->strides[0]));
  const uint64_t size = view->count * view->item_size;
  out->ranged = i < graph->input_count && graph->values[graph->inputs[i]].ranged && view->count == 1;
  out->least = INT64_MIN;
  out->most = INT64_MAX;
  if (!out->ranged && i < graph->input_count && graph->values[graph->inputs[i]].needed_on_host && size != 0) {
    out->bytes = leati_calloc(1, size);
    if (out->bytes == NULL) {
      return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for the elements of input %u", i);
    }
    memcpy(out->bytes, view->data, size);
  }
  return LEAT_OK;
}

static bool is_in_range(const leati_known_tensor *known, const leati_view *view) {
  const int64_t number = leati_host_int(view, 0);
  return number >= known->least && number <= known->most;
}

/* Whether a tensor has the type, shape and, if those decide anything, elements that a plan is for. */
static bool fits_shape(const leati_known_tensor *known, const leati_view *view) {
  return known->type == view->type && known->ndim == view->ndim &&
         leati_same_numbers(known->shape, view->shape, view->ndim) &&
         (known->bytes == NULL || memcmp(known->bytes, view->data, view->count * view->item_size) == 0) &&
         (!known->ranged || is_in_range(known, view));
}

/* What a plan knows of input `i` of a node, if that is an input of the graph of which only the range counts; else NULL.
 * What is folded is planned as a graph of the same nodes that has no inputs. */
static leati_known_tensor *ranged_input(const leat_graph *graph, const leati_node *node, uint32_t i,
                                        const leati_graph_plan_key *key) {
  const leati_value *const value = node->inputs[i] != LEAT_GRAPH_NO_VALUE ? &graph->values[node->inputs[i]] : NULL;
  const bool is_ranged = value != NULL && value->kind == LEATI_VALUE_INPUT && value->source < graph->input_count &&
                         key->tensors[value->source].ranged;
  return is_ranged ? &key->tensors[value->source] : NULL;
}

/* Narrows what is known of the inputs of a node to what it asks of them. */
static void narrow(const leat_graph *graph, const leati_node *node, const leati_call *call, leati_graph_plan_key *key) {
  for (uint32_t i = 0; i < node->input_count; ++i) {
    leati_known_tensor *const known = ranged_input(graph, node, i, key);
    int64_t least, most;
    if (known == NULL) {
      continue;
    }
    if (node->op->def->host_range == NULL || !node->op->def->host_range(node->op, call, i, &least, &most)) {
      least = most = leati_host_int(&call->inputs[i], 0);
    }
    known->least = least > known->least ? least : known->least;
    known->most = most < known->most ? most : known->most;
  }
}

static bool has_ranged_input(const leati_graph_plan_key *key, const leat_graph *graph, const leati_node *node) {
  bool has = false;
  for (uint32_t i = 0; i < node->input_count && !has; ++i) {
    has = ranged_input(graph, node, i, key) != NULL;
  }
  return has;
}

int32_t leati_graph_plan_key_narrow(leati_graph_plan_key *key, const leati_inference *inference,
                                    const leati_node *nodes, const bool *live, leat_error *err) {
  const leat_graph *const graph = inference->graph;
  int32_t status = LEAT_OK;
  bool any = false;
  for (uint32_t i = 0; i < graph->input_count; ++i) {
    any = any || key->tensors[i].ranged;
  }
  for (uint32_t n = 0; any && n < graph->node_count && status == LEAT_OK; ++n) {
    if (nodes[n].folded || (live != NULL && !live[n]) || !has_ranged_input(key, graph, &nodes[n])) {
      continue;
    }
    leati_arguments a;
    bool known;
    status = leati_inference_open_node(inference, &nodes[n], &a, &known, err);
    if (status == LEAT_OK) {
      narrow(graph, &nodes[n], &a.call, key);
    }
    leati_arguments_end(&a);
  }
  return status;
}

bool leati_graph_plan_key_fits_shapes(const leati_graph_plan_key *key, const leat_graph *graph,
                                      const leati_view *views) {
  bool fits = true;
  for (uint32_t i = 0; fits && i < graph->input_count; ++i) {
    fits = fits_shape(&key->tensors[i], &views[i]);
  }
  return fits;
}

bool leati_graph_plan_key_fits(const leati_graph_plan_key *key, const leat_graph *graph, const leati_view *views) {
  bool same = key->aligned == are_aligned(graph, views);
  for (uint32_t i = 0; same && i < graph->input_count + graph->output_count; ++i) {
    const leati_known_tensor *const known = &key->tensors[i];
    const leati_view *const view = &views[i];
    same = known->present == view->present &&
           (!known->present || (known->host == view->host && known->compact == view->compact &&
                                known->residue == residue_of(view) && fits_shape(known, view) &&
                                (view->compact || leati_same_numbers(known->strides, view->strides, view->ndim))));
  }
  return same;
}

uint64_t leati_graph_plan_hash_shapes(const leat_graph *graph, const leati_view *views) {
  uint64_t hash = 0;
  for (uint32_t i = 0; i < graph->input_count; ++i) {
    const leati_view *const view = &views[i];
    for (int32_t d = 0; d < view->ndim; ++d) {
      hash = leati_hash_word(hash, (uint64_t)view->shape[d]);
    }
    hash = leati_hash_word(hash, view->type ^ (uint64_t)view->ndim << 56);
    if (graph->values[graph->inputs[i]].needed_on_host && !graph->values[graph->inputs[i]].ranged) {
      hash = leati_hash_bytes(hash, view->data, view->count * view->item_size);
    }
  }
  return hash;
}

uint64_t leati_graph_plan_hash(const leat_graph *graph, const leati_view *views) {
  const uint64_t shapes = leati_graph_plan_hash_shapes(graph, views);
  uint64_t hash = leati_hash_word(shapes, are_aligned(graph, views));
  for (uint32_t i = 0; i < graph->input_count + graph->output_count; ++i) {
    const leati_view *const view = &views[i];
    hash = leati_hash_word(hash, !view->present ? 0
                                                : 1u | (uint32_t)view->host << 1 | (uint32_t)view->compact << 2 |
                                                      (uint32_t)residue_of(view) << 3);
    for (int32_t d = 0; d < view->ndim && !view->compact; ++d) {
      hash = leati_hash_word(hash, (uint64_t)view->strides[d]);
    }
  }
  return (hash & ~SHAPE_BITS) | (shapes & SHAPE_BITS);
}

int32_t leati_graph_plan_key_make(const leat_graph *graph, const leati_view *views, leati_graph_plan_key *out,
                                  leat_error *err) {
  const uint32_t count = graph->input_count + graph->output_count;
  out->tensors = leati_calloc((size_t)count + 1, sizeof(*out->tensors));
  if (out->tensors == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for the plan of a graph");
  }
  out->tensor_count = count;
  out->aligned = are_aligned(graph, views);
  for (uint32_t i = 0; i < count; ++i) {
    LEATI_TRY(know_tensor(graph, &views[i], i, &out->tensors[i], err));
  }
  return LEAT_OK;
}

void leati_graph_plan_key_end(leati_graph_plan_key *key) {
  for (uint32_t i = 0; i < key->tensor_count; ++i) {
    leati_free(key->tensors[i].bytes);
  }
  leati_free(key->tensors);
}
