/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/aliasing.h"

#include <string.h>

#include "core/status.h"
#include "core/sync.h"
#include "ops/core/channels_last.h"
#include "ops/core/op_state.h"

/* What is to be known of values and nodes while they are placed. */
typedef struct alias_pass {
  const leati_aliasing *aliasing;
  leati_known_value *values;
  leati_alias *at;
  bool *given;  /* by value: the graph gives it on the device, compact and in memory of its own */
  bool *copied; /* by value: something takes it as a copy alone would be: compact, and aligned */
  bool *kept;   /* by value: has memory that the graph gives on the device, or was found as a part just now */
  bool changed; /* `copied`, in this round */
} alias_pass;

/* Whether a view looks like a copy. */
static bool like_copy(const leati_view *view) {
  return view->compact && view->address % LEATI_PLAN_ALIGNMENT == 0;
}

/* Makes a view what a copy of it would be. */
static void make_copy(leati_view *view) {
  view->address = 0;
  leati_view_make_compact(view);
  leati_view_measure(view);
}

/* Whether a value is all of its root, element by element. */
static bool is_whole(const alias_pass *w, uint32_t v) {
  const leati_view *const view = &w->values[v].view, *const root = &w->values[w->at[v].root].view;
  return view->compact && root->compact && w->at[v].offset == 0 && view->count == root->count;
}

/* Whether a node may leave output `o` in its input: it is made on the device, by this node. */
static bool may_be_view(const alias_pass *w, const leati_node *node, uint32_t o) {
  const uint32_t v = node->outputs[o];
  return node->op->def->view != NULL && node->inputs[0] != LEAT_GRAPH_NO_VALUE && v != LEAT_GRAPH_NO_VALUE &&
         w->values[v].bytes == NULL && w->values[v].view.count != 0;
}

/* Opens a node with its inputs as they lie, and outputs of which shape and type count. leati_arguments_end() must
 * follow. */
static int32_t open_node(const alias_pass *w, const leati_node *node, leati_arguments *a, leat_error *err) {
  bool known;
  LEATI_TRY(leati_inference_open_node(w->aliasing->inference, node, a, &known, err));
  for (uint32_t o = 0; o < node->output_count; ++o) {
    if (node->outputs[o] == LEAT_GRAPH_NO_VALUE) {
      memset(&a->outputs[o], 0, sizeof(a->outputs[o]));
    } else {
      a->outputs[o] = w->values[node->outputs[o]].view;
    }
  }
  return LEAT_OK;
}

/* ---- Where values lie -------------------------------------------------------------------------------------------- */

/* Gives a value memory of its own. */
static void lay_alone(const alias_pass *w, uint32_t v) {
  w->at[v] = (leati_alias){.root = v};
  make_copy(&w->values[v].view);
}

/* Whether a view reaches over more elements than most kernels count, which a copy that goes by larger pieces may do. */
static bool reaches_far(const leati_view *view) {
  return (view->end - view->begin) / view->item_size > INT32_MAX;
}

/* Lays output `o` of a node into its input, if it is a view of that and none needs it copied. */
static int32_t lay_output(const alias_pass *w, const leati_node *node, const leati_arguments *a, uint32_t o,
                          leat_error *err) {
  const uint32_t v = node->outputs[o];
  leati_view view;
  LEATI_TRY(node->op->def->view(node->op, &a->call, o, &view, err));
  lay_alone(w, v);
  if (!view.present) {
    return LEAT_OK;
  }
  const uint32_t root = w->at[node->inputs[0]].root;
  view.data = NULL;
  w->values[v].view = view;
  w->at[v] = (leati_alias){
      .root = root, .offset = (int64_t)(view.address - w->values[root].view.address), .produced_elsewhere = true};
  if (!is_whole(w, v) && (w->given[v] || (w->copied[v] && !like_copy(&view)) || reaches_far(&view))) {
    lay_alone(w, v);
  }
  return LEAT_OK;
}

/* Lays all values, those of later nodes into those of earlier ones. */
static int32_t lay_out(const alias_pass *w, leat_error *err) {
  for (uint32_t n = 0; n < w->aliasing->graph->node_count; ++n) {
    const leati_node *const node = &w->aliasing->nodes[n];
    if (!w->aliasing->live[n] || node->op->def->view == NULL) {
      continue;
    }
    leati_arguments a;
    int32_t status = open_node(w, node, &a, err);
    for (uint32_t o = 0; o < node->output_count && status == LEAT_OK; ++o) {
      if (may_be_view(w, node, o)) {
        status = lay_output(w, node, &a, o, err);
      }
    }
    leati_arguments_end(&a);
    LEATI_TRY(status);
  }
  return LEAT_OK;
}

/* ---- What must be copied ------------------------------------------------------------------------------------------
 */

/* Whether a node takes input `i` on the device from within another value, which is not always as good as a copy. */
static bool is_part(const alias_pass *w, const leati_node *node, uint32_t i) {
  const uint32_t v = node->inputs[i];
  return v != LEAT_GRAPH_NO_VALUE && !leati_op_is_host(node->op->def->info.host_inputs, i) && w->at[v].root != v &&
         !like_copy(&w->values[v].view) && !is_whole(w, v);
}

/* Asks for a value that is a view to be copied. */
static void ask_copy(alias_pass *w, uint32_t v) {
  w->changed = w->changed || !w->copied[v];
  w->copied[v] = true;
}

/* Whether a node reads input `i` where it lies. */
static bool reads(const leati_node *node, const leati_arguments *a, uint32_t i) {
  const leati_op_def *const def = node->op->def;
  return def->reads_view == NULL ? a->inputs[i].compact : def->reads_view(node->op, &a->call, i);
}

/* Asks for copies of those inputs of a node that it does not read where they lie. */
static void ask_inputs(alias_pass *w, const leati_node *node, leati_arguments *a) {
  for (uint32_t i = 0; i < node->input_count; ++i) {
    if (is_part(w, node, i)) {
      make_copy(&a->inputs[i]);
    }
  }
  for (uint32_t i = 0; i < node->input_count; ++i) {
    if (is_part(w, node, i)) {
      const leati_view copy = a->inputs[i];
      a->inputs[i] = w->values[node->inputs[i]].view;
      if (!reads(node, a, i)) {
        ask_copy(w, node->inputs[i]);
        a->inputs[i] = copy;
      }
    }
  }
}

/* A node whose outputs are views of its input has those copied that are asked for. If they are all of the input and
 * would lie in a copy of that as they should, it is copied: one copy is enough for all of them. */
static int32_t ask_viewed(alias_pass *w, const leati_node *node, leati_arguments *a, leat_error *err) {
  const leati_view lies = a->inputs[0];
  leati_view copy = lies, view;
  uint64_t count = 0;
  bool viewed = true;
  make_copy(&copy);
  for (uint32_t o = 0; o < node->output_count; ++o) {
    if (!may_be_view(w, node, o)) {
      continue;
    }
    a->inputs[0] = lies;
    LEATI_TRY(node->op->def->view(node->op, &a->call, o, &view, err));
    viewed = viewed && view.present;
    if (w->copied[node->outputs[o]] && !like_copy(&view)) {
      a->inputs[0] = copy;
      LEATI_TRY(node->op->def->view(node->op, &a->call, o, &view, err));
      count += view.present && like_copy(&view) ? view.count : 0;
    }
  }
  a->inputs[0] = lies;
  if (!viewed) {
    ask_inputs(w, node, a);
  } else if (is_part(w, node, 0) && count == copy.count) {
    ask_copy(w, node->inputs[0]);
  }
  return LEAT_OK;
}

/* Asks for all that is needed as a copy, from the last node to the first: what a node asks for decides what it asks
 * for itself. */
static int32_t ask(alias_pass *w, leat_error *err) {
  for (uint32_t n = w->aliasing->graph->node_count; n-- > 0;) {
    const leati_node *const node = &w->aliasing->nodes[n];
    bool parts = false;
    for (uint32_t i = 0; w->aliasing->live[n] && i < node->input_count; ++i) {
      parts = parts || is_part(w, node, i);
    }
    if (!parts) {
      continue;
    }
    leati_arguments a;
    int32_t status = open_node(w, node, &a, err);
    if (status == LEAT_OK) {
      if (node->op->def->view != NULL) {
        status = ask_viewed(w, node, &a, err);
      } else {
        ask_inputs(w, node, &a);
      }
    }
    leati_arguments_end(&a);
    LEATI_TRY(status);
  }
  return LEAT_OK;
}

/* ---- What is put side by side ------------------------------------------------------------------------------------
 *
 * A value that lies in itself is a root. Nodes are gone through from the last to the first, and each moves roots, with
 * all that lies in them: join_parts() its inputs into what its output lies in, or leave_together() its output into what
 * all its inputs lie in.
 *
 *   y = Concat(a, b)      z  aaaa|bb|cc     At z, y and c are moved into z; at y then, which lies in z at 0, a and b.
 *   z = Concat(y, c)      y  ^              Neither Concat writes anything.
 *                         a  ^
 *                         b       ^
 *                         c          ^
 *
 *   y = Concat(a, b)      z  aaaa|bb|cc     At z, a, b and c are moved into z. At y, a and b are no roots any more, but
 *   z = Concat(a, b, c)   a  ^              lie as y wants them: y is left there. So it is where each step puts
 *                         b       ^         something behind all that came before.
 *                         c          ^
 *                         y  ^
 *
 * What holds at each step:
 * - The way from a value by `root` ends at a root, and the offsets on it add up to where the value lies (find_root()).
 *   It never leads back, because a node's output is left in its inputs only if none of them was moved into it.
 * - Each element of a root is written by one node: the root's own or, where `there` says that it writes nothing, those
 *   of the parts that cover it. So a root is moved once, for one reader; and only if where it lies is nobody else's
 *   to say: it is a result, not known on the host, and not `kept`.
 * - Whoever reads a value that was moved reads it as fast and with the same bits: fits_part().
 */

/* Where an input can be made. */
typedef struct found_part {
  leati_alias at;
  leati_view view; /* of an input with elements */
} found_part;

/* Whether a value, if there is one, lies by itself in NHWC layout. */
static bool is_laid(const alias_pass *w, uint32_t v) {
  return v != LEAT_GRAPH_NO_VALUE && w->at[v].root == v && leati_is_channels_last(&w->values[v].view);
}

/* Whether a value can lie in a part of another one, as fast for those who write it there and read it. */
static bool fits_part(const alias_pass *w, uint32_t v, const leati_view *part) {
  return is_laid(w, v) ? leati_holds_channels(part)
                       : is_whole(w, v) && part->compact && part->address % LEATI_PLAN_ALIGNMENT == 0;
}

/* Whether the value that holds input `i` of a node can be made within what the node gives, which `out` says: nobody
 * else has a say in where it lies, and whoever writes it does so as fast there. */
static int32_t find_part(const alias_pass *w, const leati_node *node, const leati_arguments *a, uint32_t i,
                         bool *out_found, found_part *out, leat_error *err) {
  const uint32_t v = node->inputs[i], root = w->at[v].root;
  if (a->inputs[i].count == 0) {
    out->at = w->at[root];
    *out_found = true;
    return LEAT_OK;
  }
  LEATI_TRY(node->op->def->part(node->op, &a->call, i, &out->view, err));
  out->at = w->at[node->outputs[0]];
  out->at.offset += (int64_t)(out->view.address - a->outputs[0].address);
  out->view.address = w->values[out->at.root].view.address + (uint64_t)out->at.offset;
  out->at.produced_elsewhere = w->at[root].produced_elsewhere;
  *out_found = w->aliasing->graph->values[root].kind == LEATI_VALUE_RESULT && w->values[root].bytes == NULL &&
               w->at[root].root == root && !w->kept[root] && fits_part(w, v, &out->view);
  return LEAT_OK;
}

/* Has all inputs of a node made within what it gives, or none. `found`: room for so many. */
static int32_t join_parts(const alias_pass *w, const leati_node *node, const leati_arguments *a, found_part *found,
                          leat_error *err) {
  bool all = true;
  uint32_t count = 0;
  while (count < node->input_count && all) {
    LEATI_TRY(find_part(w, node, a, count, &all, &found[count], err));
    /* What is taken twice is not found again. */
    w->kept[w->at[node->inputs[count]].root] |= all;
    count += all;
  }
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t root = w->at[node->inputs[i]].root;
    w->kept[root] = false;
    if (all && is_laid(w, root)) {
      w->values[root].view = found[i].view;
    }
    if (all) {
      w->at[root] = found[i].at;
    }
  }
  w->at[node->outputs[0]].produced_elsewhere = all;
  return LEAT_OK;
}

/* Where a value lies, also if what it lies in lies in something else, and so on. */
static leati_alias find_root(const alias_pass *w, uint32_t v) {
  leati_alias at = w->at[v];
  while (w->at[at.root].root != at.root) {
    at.offset += w->at[at.root].offset;
    at.root = w->at[at.root].root;
  }
  return at;
}

/* Whether input `i` of a node lies where it would be a part of `whole`, at `at`. */
static int32_t lies_within(const alias_pass *w, const leati_node *node, const leati_call *call, uint32_t i,
                           const leati_alias *at, bool *out, leat_error *err) {
  const leati_view *const view = &w->values[node->inputs[i]].view;
  const leati_alias own = find_root(w, node->inputs[i]);
  leati_view part;
  LEATI_TRY(node->op->def->part(node->op, call, i, &part, err));
  *out = own.root == at->root && own.offset == at->offset + (int64_t)(part.address - call->outputs[0].address);
  for (int32_t d = 0; d < part.ndim; ++d) {
    *out = *out && (part.shape[d] == 1 || part.strides[d] == view->strides[d]);
  }
  return LEAT_OK;
}

/* Leaves what a node puts side by side where it is, if others have put it so: the first of what they put together, as
 * when each node puts something behind all that came before. */
static int32_t leave_together(const alias_pass *w, const leati_node *node, const leati_arguments *a, leat_error *err) {
  const uint32_t y = node->outputs[0];
  uint32_t first = 0;
  while (first < node->input_count && a->inputs[first].count == 0) {
    ++first;
  }
  if (first == node->input_count || w->values[y].bytes != NULL || w->at[y].root != y || w->kept[y]) {
    return LEAT_OK;
  }
  leati_alias at = find_root(w, node->inputs[first]);
  leati_view whole = a->outputs[0];
  memcpy(whole.strides, w->values[node->inputs[first]].view.strides, sizeof(whole.strides));
  whole.address = w->values[at.root].view.address + (uint64_t)at.offset;
  leati_view_measure(&whole);
  const leati_call call = {.input_count = node->input_count, .inputs = a->inputs, .output_count = 1, .outputs = &whole};
  bool together = fits_part(w, y, &whole);
  for (uint32_t i = first; i < node->input_count && together; ++i) {
    if (a->inputs[i].count != 0) {
      LEATI_TRY(lies_within(w, node, &call, i, &at, &together, err));
    }
  }
  if (together) {
    at.produced_elsewhere = true;
    w->at[y] = at;
    w->values[y].view = whole;
  }
  return LEAT_OK;
}

/* Leaves what a node picks from an image in NHWC layout there, unless it was put elsewhere: all
 * that take it read it so. */
static int32_t leave_picked(const alias_pass *w, const leati_node *node, leat_error *err) {
  bool any = false;
  for (uint32_t o = 0; o < node->output_count; ++o) {
    any = any || is_laid(w, node->outputs[o]);
  }
  if (!any) {
    return LEAT_OK;
  }
  leati_arguments a;
  int32_t status = open_node(w, node, &a, err);
  for (uint32_t o = 0; o < node->output_count && status == LEAT_OK; ++o) {
    const uint32_t v = node->outputs[o];
    leati_view view;
    if (!is_laid(w, v)) {
      continue;
    }
    status = node->op->def->view(node->op, &a.call, o, &view, err);
    if (status == LEAT_OK) {
      w->at[v] = w->at[node->inputs[0]];
      w->at[v].offset += (int64_t)(view.address - a.inputs[0].address);
      w->at[v].produced_elsewhere = true;
      w->values[v].view = view;
    }
  }
  leati_arguments_end(&a);
  return status;
}

/* Has what is put side by side made there, from the last node to the first, so that what lies in something that lies in
 * something else is found at once. */
static int32_t join(alias_pass *w, leat_error *err) {
  const leat_graph *const graph = w->aliasing->graph;
  for (uint32_t o = 0; o < graph->output_count; ++o) {
    const uint32_t root = w->at[graph->outputs[o]].root;
    if (w->given[graph->outputs[o]] && graph->values[root].kind == LEATI_VALUE_RESULT && !w->kept[root]) {
      w->kept[root] = true;
      w->values[root].view.address = w->aliasing->outputs[o].address % LEATI_PLAN_ALIGNMENT;
    }
  }
  for (uint32_t n = graph->node_count; n-- > 0;) {
    const leati_node *const node = &w->aliasing->nodes[n];
    if (!w->aliasing->live[n] || node->op->def->part == NULL || w->values[node->outputs[0]].view.count == 0) {
      continue;
    }
    leati_arguments a;
    int32_t status = open_node(w, node, &a, err);
    found_part *const found = leati_calloc((size_t)node->input_count + 1, sizeof(*found));
    if (status == LEAT_OK && found == NULL) {
      status = leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for the arguments of a node");
    }
    if (status == LEAT_OK) {
      status = join_parts(w, node, &a, found, err);
    }
    if (status == LEAT_OK && !w->at[node->outputs[0]].produced_elsewhere) {
      status = leave_together(w, node, &a, err);
    }
    leati_free(found);
    leati_arguments_end(&a);
    LEATI_TRY(status);
  }
  for (uint32_t v = 0; v < graph->value_count; ++v) {
    w->at[v] = find_root(w, v);
  }
  for (uint32_t n = 0; n < graph->node_count; ++n) {
    if (w->aliasing->live[n] && w->aliasing->nodes[n].op->def->view != NULL) {
      LEATI_TRY(leave_picked(w, &w->aliasing->nodes[n], err));
    }
  }
  return LEAT_OK;
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

static int32_t place(alias_pass *w, leat_error *err) {
  const leat_graph *const graph = w->aliasing->graph;
  for (uint32_t v = 0; v < graph->value_count; ++v) {
    w->at[v] = (leati_alias){.root = v};
  }
  /* What is copied lies otherwise then, which others may not read as it is: until nothing more is asked for. */
  do {
    w->changed = false;
    LEATI_TRY(lay_out(w, err));
    LEATI_TRY(ask(w, err));
  } while (w->changed);
  return LEAT_OK;
}

static int32_t run(const leati_aliasing *aliasing, int32_t (*what)(alias_pass *w, leat_error *err), leat_error *err) {
  const leat_graph *const graph = aliasing->graph;
  const size_t count = (size_t)graph->value_count + 1;
  bool *const flags = leati_calloc(3 * count, sizeof(*flags));
  if (flags == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory to place %u values", graph->value_count);
  }
  alias_pass w = {.aliasing = aliasing,
                  .values = aliasing->inference->values,
                  .at = aliasing->at,
                  .given = flags,
                  .copied = flags + count,
                  .kept = flags + 2 * count};
  for (uint32_t o = 0; o < graph->output_count; ++o) {
    const leati_view *const output = &aliasing->outputs[o];
    w.given[graph->outputs[o]] = output->present && !output->host;
    w.copied[graph->outputs[o]] = output->present;
  }
  const int32_t status = what(&w, err);
  leati_free(flags);
  return status;
}

int32_t leati_aliasing_run(const leati_aliasing *aliasing, leat_error *err) {
  return run(aliasing, place, err);
}

int32_t leati_aliasing_join(const leati_aliasing *aliasing, leat_error *err) {
  return run(aliasing, join, err);
}
