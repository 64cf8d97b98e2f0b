/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/fusion.h"

#include <math.h>
#include <string.h>

#include "core/status.h"
#include "core/sync.h"
#include "graph/make_op.h"
#include "ops/core/dims.h"
#include "ops/core/movement.h"
#include "ops/core/op_state.h"

#define NONE UINT32_MAX

/* An operator that a rule made, and the arguments of its node. */
struct leati_fused_op {
  struct leati_fused_op *next;
  leat_op *op;
  leati_kept_attributes attributes;
  bool kept;            /* a node has it when all rules are done */
  uint32_t arguments[]; /* inputs, then outputs */
};

/* ---- Begin and end ---------------------------------------------------------------------------------------------- */

int32_t leati_fusion_begin(const leat_graph *graph, const leati_inference *inference, leati_node *nodes, bool *live,
                           leati_guards *guards, leati_fusion *f, leat_error *err) {
  *f = (leati_fusion){
      .graph = graph, .inference = inference, .guards = guards, .nodes = nodes, .live = live, .doubtful_begin = NONE};
  memcpy(f->nodes, graph->nodes, (size_t)graph->node_count * sizeof(*f->nodes));
  f->makers = leati_calloc((size_t)graph->value_count + 1, sizeof(*f->makers));
  f->uses = leati_calloc((size_t)graph->value_count + 1, sizeof(*f->uses));
  if (f->makers == NULL || f->uses == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory to rewrite %u nodes", graph->node_count);
  }
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

static void free_made(struct leati_fused_op *made) {
  leati_op_free(made->op);
  leati_free((void *)made->attributes.list);
  leati_free(made);
}

void leati_fused_ops_free(struct leati_fused_op *ops) {
  while (ops != NULL) {
    struct leati_fused_op *const next = ops->next;
    free_made(ops);
    ops = next;
  }
}

uint64_t leati_fused_ops_bytes(const struct leati_fused_op *ops) {
  uint64_t bytes = 0;
  for (; ops != NULL; ops = ops->next) {
    bytes += sizeof(*ops) + sizeof(*ops->op) + ops->op->def->state_size;
  }
  return bytes;
}

/* Notes which operators nodes that run have: one that a rule wrote takes its arguments from one. All others become the
 * graph's again. */
static void find_kept(const leati_fusion *f) {
  for (uint32_t n = 0; n < f->graph->node_count; ++n) {
    leati_node *const node = &f->nodes[n];
    if (!f->live[n]) {
      *node = f->graph->nodes[n];
    } else if (node->op != f->graph->nodes[n].op) {
      const size_t before = offsetof(struct leati_fused_op, arguments);
      ((struct leati_fused_op *)(void *)((char *)node->inputs - before))->kept = true;
    }
  }
}

struct leati_fused_op *leati_fusion_end(leati_fusion *fusion) {
  struct leati_fused_op *kept = NULL;
  find_kept(fusion);
  while (fusion->made != NULL) {
    struct leati_fused_op *const made = fusion->made;
    fusion->made = made->next;
    if (made->kept) {
      made->next = kept;
      kept = made;
    } else {
      free_made(made);
    }
  }
  leati_free(fusion->makers);
  leati_free(fusion->uses);
  return kept;
}

/* ---- Looking ---------------------------------------------------------------------------------------------------- */

bool leati_fusion_is(const leati_node *node, leati_known_op op) {
  return node != NULL && node->known == op;
}

bool leati_fusion_quantizes(const leati_node *node) {
  return leati_fusion_is(node, LEATI_IS_QUANTIZE_LINEAR) || leati_fusion_is(node, LEATI_IS_ORT_QUANTIZE_LINEAR);
}

bool leati_fusion_dequantizes(const leati_node *node) {
  return leati_fusion_is(node, LEATI_IS_DEQUANTIZE_LINEAR) || leati_fusion_is(node, LEATI_IS_ORT_DEQUANTIZE_LINEAR);
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

static const leati_view *view_of(const leati_fusion *f, uint32_t v) {
  return &f->inference->values[v].view;
}

uint64_t leati_fusion_type(const leati_fusion *f, uint32_t v) {
  return view_of(f, v)->type;
}

int32_t leati_fusion_rank(const leati_fusion *f, uint32_t v) {
  return view_of(f, v)->ndim;
}

static bool ask_same_shape(const leat_device *device, uint32_t count, const leati_known_value *const *values,
                           uint64_t with) {
  const leati_view *const a = &values[0]->view, *const b = &values[1]->view;
  (void)device, (void)count, (void)with;
  return leati_same_numbers(a->shape, b->shape, a->ndim);
}

bool leati_fusion_same_shape(const leati_fusion *f, uint32_t v, uint32_t w) {
  const uint32_t values[] = {v, w};
  return v == w ||
         (leati_fusion_rank(f, v) == leati_fusion_rank(f, w) && leati_fusion_ask(f, ask_same_shape, 2, values, 0));
}

/* `with`: the dimension of the first, and behind 4 bits that of the other. */
static bool ask_same_size(const leat_device *device, uint32_t count, const leati_known_value *const *values,
                          uint64_t with) {
  (void)device, (void)count;
  return values[0]->view.shape[with & 15] == values[1]->view.shape[with >> 4];
}

bool leati_fusion_same_size(const leati_fusion *f, uint32_t v, int32_t d, uint32_t w, int32_t e) {
  const uint32_t values[] = {v, w};
  return (v == w && d == e) || leati_fusion_ask(f, ask_same_size, 2, values, (uint64_t)d | (uint64_t)e << 4);
}

bool leati_fusion_is_one(const leati_fusion *f, uint32_t v, int32_t d) {
  return view_of(f, v)->shape[d] == 1;
}

bool leati_fusion_is_single(const leati_fusion *f, uint32_t v) {
  return view_of(f, v)->count == 1;
}

bool leati_fusion_is_empty(const leati_fusion *f, uint32_t v) {
  return view_of(f, v)->count == 0;
}

int64_t leati_fusion_size(const leati_fusion *f, uint32_t v, int32_t d) {
  leati_guards_dimension(f->guards, f->inference, v, d);
  return view_of(f, v)->shape[d];
}

bool leati_fusion_ask(const leati_fusion *f, leati_question *question, uint32_t count, const uint32_t *values,
                      uint64_t with) {
  return leati_guards_ask(f->guards, f->inference, question, count, values, with);
}

/* The one element of a value that is known on the host, of one of these types, which is relied on; NULL: it is none. */
static const leati_known_value *single_of(const leati_fusion *f, uint32_t v, uint64_t types) {
  const leati_known_value *const value = v != LEAT_GRAPH_NO_VALUE ? &f->inference->values[v] : NULL;
  if (value == NULL || value->bytes == NULL || value->view.count != 1 || (value->view.type & types) == 0) {
    return NULL;
  }
  /* Constants never change. */
  if (f->graph->values[v].kind != LEATI_VALUE_CONSTANT) {
    leati_guards_elements(f->guards, f->inference, v);
  }
  return value;
}

bool leati_fusion_scalar(const leati_fusion *f, uint32_t v, float *out) {
  const leati_known_value *const value = single_of(f, v, LEATI_TYPES_REAL);
  if (value != NULL) {
    *out = leati_real_of(value->view.type, value->bytes);
  }
  return value != NULL;
}

bool leati_fusion_whole(const leati_fusion *f, uint32_t v, int64_t *out) {
  const leati_known_value *const value =
      single_of(f, v, LEAT_TYPE_INT64 | LEAT_TYPE_INT32 | LEAT_TYPE_INT8 | LEAT_TYPE_UINT8);
  if (value == NULL) {
    return false;
  }
  const leati_view view = {.type = value->view.type, .item_size = value->view.item_size, .data = (void *)value->bytes};
  *out = view.type == LEAT_TYPE_INT8    ? *(const int8_t *)view.data
         : view.type == LEAT_TYPE_UINT8 ? *(const uint8_t *)view.data
                                        : leati_host_int(&view, 0);
  return true;
}

bool leati_fusion_is_scalar(const leati_fusion *f, uint32_t v, double expected) {
  float found;
  if (!leati_fusion_scalar(f, v, &found)) {
    return false;
  }
  /* Exporters print such numbers with six digits and more; of 16 bits half of the last one of `found` is lost. Its own
   * exponent says how much that is: below a power of two numbers lie closer than above, and the next one is another. */
  const uint64_t type = leati_fusion_type(f, v);
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
  const int32_t rank = leati_fusion_rank(f, x);
  return leati_fusion_rank(f, v) == 1 && rank >= 1 && leati_fusion_same_size(f, v, 0, x, rank - 1);
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

int32_t leati_fusion_check(const leati_inference *inference, const leati_node *node, leat_error *err) {
  leati_arguments a;
  bool known;
  int32_t status = leati_inference_infer_node(inference, node, &a, &known, err);
  for (uint32_t o = 0; status == LEAT_OK && o < node->output_count; ++o) {
    const uint32_t v = node->outputs[o];
    const leati_view *const view = v != LEAT_GRAPH_NO_VALUE ? &inference->values[v].view : NULL;
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
  LEATI_TRY(leati_graph_make_op(f->graph, f->inference, true, with, &made->op, err));
  LEATI_TRY(
      leati_attributes_keep(&made->op->def->info, with->attribute_count, with->attributes, &made->attributes, err));
  *out = (leati_node){.op = made->op,
                      .known = leati_known_op_of(made->op),
                      .input_count = with->input_count,
                      .output_count = with->output_count,
                      .inputs = made->arguments,
                      .outputs = made->arguments + with->input_count,
                      .attributes = made->attributes};
  return leati_fusion_check(f->inference, out, err);
}

/* An operator may refuse its inputs for whatever their sizes are: all of them count then. */
static void rely_on_refusal(const leati_fusion *f, const leati_fusion_node *with) {
  for (uint32_t i = 0; i < with->input_count; ++i) {
    const uint32_t v = with->inputs[i];
    const bool counts = v != LEAT_GRAPH_NO_VALUE && f->graph->values[v].kind != LEATI_VALUE_CONSTANT;
    for (int32_t d = 0; counts && d < leati_fusion_rank(f, v); ++d) {
      leati_guards_dimension(f->guards, f->inference, v, d);
    }
  }
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
                                     .op = leati_known_op_name(with->op),
                                     .domain = leati_known_op_domain(with->op),
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
  if (!*out_made) {
    rely_on_refusal(f, with);
  }
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
