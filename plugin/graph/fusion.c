/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/fusion.h"

#include <math.h>
#include <string.h>

#include "core/status.h"
#include "core/sync.h"
#include "graph/make_op.h"
#include "ops/dims.h"
#include "ops/op_state.h"

#define NONE UINT32_MAX

/* An operator that a rule made, and the arguments of its node. */
struct leati_fused_op {
  struct leati_fused_op *next;
  leat_op *op;
  leati_kept_attributes attributes;
  uint32_t arguments[]; /* inputs, then outputs */
};

/* ---- Begin and end ---------------------------------------------------------------------------------------------- */

int32_t leati_fusion_begin(const leat_graph *graph, const leati_inference *inference, const bool *live, leati_fusion *f,
                           leat_error *err) {
  *f = (leati_fusion){.graph = graph, .inference = inference, .doubtful_begin = NONE};
  f->nodes = leati_calloc((size_t)graph->node_count + 1, sizeof(*f->nodes));
  f->live = leati_calloc((size_t)graph->node_count + 1, sizeof(*f->live));
  f->makers = leati_calloc((size_t)graph->value_count + 1, sizeof(*f->makers));
  f->uses = leati_calloc((size_t)graph->value_count + 1, sizeof(*f->uses));
  if (f->nodes == NULL || f->live == NULL || f->makers == NULL || f->uses == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory to rewrite %u nodes", graph->node_count);
  }
  memcpy(f->nodes, graph->nodes, (size_t)graph->node_count * sizeof(*f->nodes));
  memcpy(f->live, live, (size_t)graph->node_count * sizeof(*live));
  for (uint32_t v = 0; v < graph->value_count; ++v) {
    const leati_value *const value = &graph->values[v];
    const bool made = value->kind == LEATI_VALUE_RESULT && live[value->source] && f->inference->values[v].bytes == NULL;
    f->makers[v] = made ? value->source : NONE;
    f->uses[v] = value->is_output;
  }
  for (uint32_t n = 0; n < graph->node_count; ++n) {
    for (uint32_t i = 0; f->live[n] && i < f->nodes[n].input_count; ++i) {
      if (f->nodes[n].inputs[i] != LEAT_GRAPH_NO_VALUE) {
        ++f->uses[f->nodes[n].inputs[i]];
      }
    }
  }
  return LEAT_OK;
}

void leati_fusion_end(leati_fusion *fusion) {
  while (fusion->made != NULL) {
    struct leati_fused_op *const made = fusion->made;
    fusion->made = made->next;
    leati_op_free(made->op);
    leati_free((void *)made->attributes.list);
    leati_free(made);
  }
  leati_free(fusion->nodes);
  leati_free(fusion->live);
  leati_free(fusion->makers);
  leati_free(fusion->uses);
}

/* ---- Looking ---------------------------------------------------------------------------------------------------- */

/* Rules ask this of every node, many times: most names differ in their first letter. */
bool leati_fusion_is(const leati_node *node, const char *domain, const char *name) {
  if (node == NULL) {
    return false;
  }
  const leat_op_info *const info = &node->op->def->info;
  return info->name[0] == name[0] && strcmp(info->name, name) == 0 && strcmp(info->domain, domain) == 0;
}

const leati_node *leati_fusion_maker(const leati_fusion *f, uint32_t v) {
  return v != LEAT_GRAPH_NO_VALUE && f->makers[v] != NONE ? &f->nodes[f->makers[v]] : NULL;
}

const leati_node *leati_fusion_private_maker(const leati_fusion *f, uint32_t v) {
  return v != LEAT_GRAPH_NO_VALUE && f->uses[v] == 1 ? leati_fusion_maker(f, v) : NULL;
}

uint32_t leati_fusion_input(const leati_node *node, uint32_t i) {
  return i < node->input_count ? node->inputs[i] : LEAT_GRAPH_NO_VALUE;
}

const leati_view *leati_fusion_view(const leati_fusion *f, uint32_t v) {
  return &f->inference->values[v].view;
}

bool leati_fusion_same_shape(const leati_fusion *f, uint32_t v, uint32_t w) {
  const leati_view *const a = leati_fusion_view(f, v), *const b = leati_fusion_view(f, w);
  return a->ndim == b->ndim && leati_same_numbers(a->shape, b->shape, a->ndim);
}

bool leati_fusion_scalar(const leati_fusion *f, uint32_t v, float *out) {
  const leati_known_value *const value = v != LEAT_GRAPH_NO_VALUE ? &f->inference->values[v] : NULL;
  if (value == NULL || value->bytes == NULL || value->view.count != 1 || (value->view.type & LEATI_TYPES_REAL) == 0) {
    return false;
  }
  *out = leati_real_of(value->view.type, value->bytes);
  return true;
}

bool leati_fusion_is_scalar(const leati_fusion *f, uint32_t v, double expected) {
  float found;
  if (!leati_fusion_scalar(f, v, &found)) {
    return false;
  }
  /* Exporters print such numbers with six digits and more; of 16 bits half of the last one of `found` is lost. Its own
   * exponent says how much that is: below a power of two numbers lie closer than above, and the next one is another. */
  const uint64_t type = leati_fusion_view(f, v)->type;
  const int digits = type == LEAT_TYPE_FLOAT16 ? 11 : 8;
  int exponent = 0; /* which frexpf() need not write for an infinity */
  (void)frexpf(found, &exponent);
  const double lost = type == LEAT_TYPE_FLOAT32 ? 0 : ldexp(0.5, exponent - digits);
  return fabs((double)found - expected) <= lost + 1e-6 * fabs(expected);
}

bool leati_fusion_is_before(const leati_fusion *f, uint32_t v, uint32_t n) {
  return v == LEAT_GRAPH_NO_VALUE || f->makers[v] == NONE || f->makers[v] < n;
}

bool leati_fusion_is_row(const leati_fusion *f, uint32_t v, uint32_t x) {
  const leati_view *const row = leati_fusion_view(f, v), *const of = leati_fusion_view(f, x);
  return row->ndim == 1 && of->ndim >= 1 && row->shape[0] == of->shape[of->ndim - 1];
}

/* ---- Attributes ------------------------------------------------------------------------------------------------- */

static leat_attribute attribute(const char *name, uint32_t type, uint64_t count) {
  return (leat_attribute){.struct_size = sizeof(leat_attribute), .type = type, .name = name, .count = count};
}

leat_attribute leati_fusion_int(const char *name, int64_t value) {
  leat_attribute it = attribute(name, LEAT_ATTRIBUTE_INT, 0);
  it.i = value;
  return it;
}

leat_attribute leati_fusion_float(const char *name, float value) {
  leat_attribute it = attribute(name, LEAT_ATTRIBUTE_FLOAT, 0);
  it.f = value;
  return it;
}

leat_attribute leati_fusion_string(const char *name, const char *value) {
  leat_attribute it = attribute(name, LEAT_ATTRIBUTE_STRING, strlen(value));
  it.string = value;
  return it;
}

leat_attribute leati_fusion_ints(const char *name, const int64_t *values, uint32_t count) {
  leat_attribute it = attribute(name, LEAT_ATTRIBUTE_INTS, count);
  it.ints = values;
  return it;
}

leat_attribute leati_fusion_floats(const char *name, const float *values, uint32_t count) {
  leat_attribute it = attribute(name, LEAT_ATTRIBUTE_FLOATS, count);
  it.floats = values;
  return it;
}

/* ---- Rewriting -------------------------------------------------------------------------------------------------- */

static void take_value(leati_fusion *f, uint32_t v) {
  if (v != LEAT_GRAPH_NO_VALUE) {
    ++f->uses[v];
  }
}

/* Whether some output of a node is used. */
static bool is_used(const leati_fusion *f, const leati_node *node) {
  bool used = false;
  for (uint32_t o = 0; o < node->output_count && !used; ++o) {
    used = node->outputs[o] != LEAT_GRAPH_NO_VALUE && f->uses[node->outputs[o]] != 0;
  }
  return used;
}

/* Ends the use of values by a node, and notes which nodes may be needed by nobody then. */
static void leave_values(leati_fusion *f, const uint32_t *values, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t v = values[i];
    if (v != LEAT_GRAPH_NO_VALUE && --f->uses[v] == 0 && f->graph->values[v].kind == LEATI_VALUE_RESULT) {
      const uint32_t maker = f->makers[v] != NONE ? f->makers[v] : f->graph->values[v].source;
      f->doubtful_begin = maker < f->doubtful_begin ? maker : f->doubtful_begin;
      f->doubtful_end = maker + 1 > f->doubtful_end ? maker + 1 : f->doubtful_end;
    }
  }
}

/* Ends the life of a node. */
static void drop_node(leati_fusion *f, uint32_t n) {
  f->live[n] = false;
  leave_values(f, f->nodes[n].inputs, f->nodes[n].input_count);
}

/* Ends the life of nodes that nobody needs: from the last to the first, so that each is looked at once. */
static void drop_unneeded(leati_fusion *f) {
  for (uint32_t n = f->doubtful_end; n-- > f->doubtful_begin;) {
    if (f->live[n] && !is_used(f, &f->nodes[n])) {
      drop_node(f, n);
    }
  }
  f->doubtful_begin = NONE;
  f->doubtful_end = 0;
}

/* Fails unless a node gives what its outputs are known to be. */
static int32_t check_outputs(const leati_fusion *f, const leati_node *node, leat_error *err) {
  leati_arguments a;
  bool known;
  int32_t status = leati_inference_open_node(f->inference, node, &a, &known, err);
  for (uint32_t o = 0; status == LEAT_OK && o < node->output_count; ++o) {
    const leati_view *const view =
        node->outputs[o] != LEAT_GRAPH_NO_VALUE ? leati_fusion_view(f, node->outputs[o]) : NULL;
    const bool same =
        view == NULL || (known && a.shapes[o].ndim == view->ndim && leati_type_of(a.shapes[o].dtype) == view->type &&
                         leati_same_numbers(a.shapes[o].dims, view->shape, view->ndim));
    status = same ? LEAT_OK : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "output %u differs", o);
  }
  leati_arguments_end(&a);
  return status;
}

/* Makes the operator and its node, in room that is there. */
static int32_t make_node(const leati_fusion *f, const leat_graph_node *with, struct leati_fused_op *made,
                         leati_node *out, leat_error *err) {
  memcpy(made->arguments, with->inputs, (size_t)with->input_count * sizeof(made->arguments[0]));
  memcpy(made->arguments + with->input_count, with->outputs, (size_t)with->output_count * sizeof(made->arguments[0]));
  LEATI_TRY(leati_graph_make_op(f->graph, f->inference, with, &made->op, err));
  LEATI_TRY(
      leati_attributes_keep(&made->op->def->info, with->attribute_count, with->attributes, &made->attributes, err));
  *out = (leati_node){.op = made->op,
                      .input_count = with->input_count,
                      .output_count = with->output_count,
                      .inputs = made->arguments,
                      .outputs = made->arguments + with->input_count,
                      .attributes = made->attributes};
  return check_outputs(f, out, err);
}

/* Makes the node that a rule puts in the place of node `n`; `*out_made` is false where the operator refuses it. */
static int32_t make_fused(leati_fusion *f, uint32_t n, const leati_fusion_node *with, leati_node *out, bool *out_made,
                          leat_error *err) {
  const leati_node *const before = &f->nodes[n];
  const bool several = with->output_count != 0;
  const leat_attribute *attributes[LEATI_FUSION_ATTRIBUTES_MAX];
  for (uint32_t i = 0; i < with->attribute_count; ++i) {
    attributes[i] = &with->attributes[i];
  }
  const leat_graph_node described = {.struct_size = sizeof(described),
                                     .since_version = with->since_version,
                                     .op = with->op,
                                     .domain = with->domain,
                                     .attribute_count = with->attribute_count,
                                     .attributes = attributes,
                                     .input_count = with->input_count,
                                     .inputs = with->inputs,
                                     .output_count = several ? with->output_count : before->output_count,
                                     .outputs = several ? with->outputs : before->outputs};
  const size_t count = (size_t)described.input_count + described.output_count;
  struct leati_fused_op *const made = leati_calloc(1, sizeof(*made) + count * sizeof(made->arguments[0]));
  if (made == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory to rewrite a node");
  }
  made->next = f->made;
  f->made = made;
  leat_error found = {.struct_size = sizeof(found)};
  const int32_t status = make_node(f, &described, made, out, &found);
  *out_made = status == LEAT_OK;
  out->name = before->name;
  return status == LEAT_OK || status == LEAT_ERROR_NOT_SUPPORTED || status == LEAT_ERROR_INVALID_ARGUMENT
             ? LEAT_OK
             : leati_fail(err, status, "%s", found.message);
}

static void take_values(leati_fusion *f, const leati_node *node) {
  for (uint32_t i = 0; i < node->input_count; ++i) {
    take_value(f, node->inputs[i]);
  }
}

/* Puts a node in the place of node `n`, and ends the lives of others that made what it makes. */
static void put_node(leati_fusion *f, uint32_t n, const leati_node *node) {
  const leati_node before = f->nodes[n];
  f->nodes[n] = *node;
  take_values(f, node);
  for (uint32_t o = 0; o < node->output_count; ++o) {
    if (node->outputs[o] == LEAT_GRAPH_NO_VALUE) {
      continue;
    }
    const uint32_t maker = f->makers[node->outputs[o]];
    if (maker != n && maker != NONE) {
      drop_node(f, maker);
    }
    f->makers[node->outputs[o]] = n;
  }
  leave_values(f, before.inputs, before.input_count);
  drop_unneeded(f);
}

int32_t leati_fusion_replace(leati_fusion *f, uint32_t n, const leati_fusion_node *with, bool *out_done,
                             leat_error *err) {
  leati_node node;
  *out_done = false;
  LEATI_TRY(make_fused(f, n, with, &node, out_done, err));
  if (*out_done) {
    put_node(f, n, &node);
  }
  return LEAT_OK;
}

int32_t leati_fusion_replace_two(leati_fusion *f, uint32_t first, const leati_fusion_node *with_first, uint32_t n,
                                 const leati_fusion_node *with, bool *out_done, leat_error *err) {
  leati_node node, earlier;
  *out_done = false;
  LEATI_TRY(make_fused(f, first, with_first, &earlier, out_done, err));
  if (*out_done) {
    LEATI_TRY(make_fused(f, n, with, &node, out_done, err));
  }
  if (!*out_done) {
    return LEAT_OK;
  }
  /* What the later one takes is needed before the earlier one is put, and what it gave is nobody's until then. */
  take_values(f, &node);
  drop_node(f, n);
  for (uint32_t o = 0; o < f->nodes[n].output_count; ++o) {
    if (f->nodes[n].outputs[o] != LEAT_GRAPH_NO_VALUE) {
      f->makers[f->nodes[n].outputs[o]] = NONE;
    }
  }
  put_node(f, first, &earlier);
  f->nodes[n] = node;
  f->live[n] = true;
  for (uint32_t o = 0; o < node.output_count; ++o) {
    if (node.outputs[o] != LEAT_GRAPH_NO_VALUE) {
      f->makers[node.outputs[o]] = n;
    }
  }
  return LEAT_OK;
}
