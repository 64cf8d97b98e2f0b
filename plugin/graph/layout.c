/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/layout.h"

#include <string.h>

#include "core/status.h"
#include "core/sync.h"
#include "ops/core/channels_last.h"
#include "ops/core/op_state.h"

/* What is to be known while values are laid. */
typedef struct work {
  const leati_layout *layout;
  leati_known_value *values;
  leati_channels_last_use *uses; /* by node */
  bool *last;                    /* by value: may lie so */
  bool *gain;                    /* by value: somebody gains by it */
  bool *picked;                  /* by value: it lies in another one, from which a node that can lay both picks it */
  int32_t *balance;              /* by value: nodes that gain by it, less those that copy it */
  bool changed;                  /* `last` or `gain`, in this round */
} work;

static void set(work *w, bool *flag, bool value) {
  w->changed = w->changed || *flag != value;
  *flag = value;
}

/* Finds what lies in the input of a node as a part of it, and may lie there otherwise if that does. */
static void find_picked(const work *w) {
  const leati_alias *const at = w->layout->at;
  for (uint32_t n = 0; n < w->layout->graph->node_count; ++n) {
    const leati_node *const node = &w->layout->nodes[n];
    const uint32_t x = node->input_count != 0 ? node->inputs[0] : LEAT_GRAPH_NO_VALUE;
    const bool picks = w->layout->live[n] && node->op->def->channels_last != NULL && node->op->def->view != NULL;
    for (uint32_t o = 0; picks && x != LEAT_GRAPH_NO_VALUE && o < node->output_count; ++o) {
      const uint32_t y = node->outputs[o];
      if (y != LEAT_GRAPH_NO_VALUE) {
        w->picked[y] = at[x].root == x && at[y].root == x;
      }
    }
  }
}

/* Finds the results of which nobody has said how they lie: the graph does not give them, they lie in nothing else, and
 * nothing else lies in them, but for what nodes pick that can lay it. */
static void find_free(const work *w) {
  const leat_graph *const graph = w->layout->graph;
  const leati_alias *const at = w->layout->at;
  find_picked(w);
  for (uint32_t v = 0; v < graph->value_count; ++v) {
    w->last[v] = graph->values[v].kind == LEATI_VALUE_RESULT && w->values[v].known && w->values[v].bytes == NULL &&
                 (w->values[v].view.compact || w->picked[v]) && leati_has_channels(&w->values[v].view);
  }
  for (uint32_t v = 0; v < graph->value_count; ++v) {
    if (at[v].root != v && !w->picked[v]) {
      w->last[v] = w->last[at[v].root] = false;
    }
  }
  for (uint32_t o = 0; o < graph->output_count; ++o) {
    w->last[graph->outputs[o]] = false;
  }
}

/* Which inputs of a node are constants of which a copy in another order can be kept. */
static uint32_t constants_of(const work *w, const leati_node *node) {
  uint32_t bits = 0;
  for (uint32_t i = 0; i < node->input_count && i < 32; ++i) {
    const uint32_t v = node->inputs[i];
    if (v != LEAT_GRAPH_NO_VALUE && w->layout->graph->values[v].kind == LEATI_VALUE_CONSTANT &&
        w->layout->graph->values[v].constant != NULL && w->layout->at[v].root == v) {
      bits |= 1u << i;
    }
  }
  return bits;
}

/* Asks all nodes what they can do, as values lie now. */
static int32_t ask(const work *w, leat_error *err) {
  for (uint32_t n = 0; n < w->layout->graph->node_count; ++n) {
    const leati_node *const node = &w->layout->nodes[n];
    const leati_op_def *const def = node->op->def;
    const bool of_images = w->layout->images && def->channels_last != NULL;
    if (!w->layout->live[n] || (!of_images && def->transposes == NULL)) {
      continue;
    }
    leati_arguments a;
    bool known;
    const int32_t status = leati_inference_open_node(w->layout->inference, node, &a, &known, err);
    if (status == LEAT_OK) {
      for (uint32_t o = 0; o < node->output_count; ++o) {
        const uint32_t y = node->outputs[o];
        a.outputs[o] = y != LEAT_GRAPH_NO_VALUE ? w->values[y].view : (leati_view){0};
      }
      const uint32_t constants = constants_of(w, node);
      w->uses[n] = of_images ? def->channels_last(node->op, &a.call, constants)
                             : (leati_channels_last_use){.orders = def->transposes(node->op, &a.call, constants)};
    }
    leati_arguments_end(&a);
    LEATI_TRY(status);
  }
  return LEAT_OK;
}

/* Whether all that a node gives may lie so. */
static bool gives_last(const work *w, const leati_node *node) {
  bool all = true;
  for (uint32_t o = 0; o < node->output_count; ++o) {
    all = all && (node->outputs[o] == LEAT_GRAPH_NO_VALUE || w->last[node->outputs[o]]);
  }
  return all;
}

static void give_as_ever(work *w, const leati_node *node) {
  for (uint32_t o = 0; o < node->output_count; ++o) {
    if (node->outputs[o] != LEAT_GRAPH_NO_VALUE) {
      set(w, &w->last[node->outputs[o]], false);
    }
  }
}

/* Takes from what may lie so what a node does not read or write so. */
static void check_node(work *w, uint32_t n) {
  const leati_node *const node = &w->layout->nodes[n];
  const leati_channels_last_use use = w->uses[n];
  if (!use.writes) {
    give_as_ever(w, node);
  }
  for (uint32_t i = 0; i < node->input_count; ++i) {
    const uint32_t v = node->inputs[i];
    if (v == LEAT_GRAPH_NO_VALUE) {
      continue;
    }
    if (leati_has_input(use.matches_output | use.requires_output_layout, i) && !w->last[v]) {
      give_as_ever(w, node);
    }
    const bool equal = leati_has_input(use.requires_output_layout, i) && gives_last(w, node);
    if (!equal && !leati_has_input(use.reads | use.matches_output, i)) {
      set(w, &w->last[v], false);
    }
  }
}

/* Finds for whom it is good: those by which a node gains, and what lies as they do. */
static void look_for_gain(work *w, uint32_t n) {
  const leati_node *const node = &w->layout->nodes[n];
  for (uint32_t i = 0; i < node->input_count; ++i) {
    const uint32_t v = node->inputs[i];
    if (v == LEAT_GRAPH_NO_VALUE || !w->last[v]) {
      continue;
    }
    if (leati_has_input(w->uses[n].prefers, i)) {
      set(w, &w->gain[v], true);
    }
    for (uint32_t o = 0;
         leati_has_input(w->uses[n].matches_output | w->uses[n].requires_output_layout, i) && o < node->output_count;
         ++o) {
      const uint32_t y = node->outputs[o];
      if (y != LEAT_GRAPH_NO_VALUE && w->last[y] && (w->gain[v] || w->gain[y])) {
        set(w, &w->gain[v], true);
        set(w, &w->gain[y], true);
      }
    }
  }
}

/* Does something for all nodes that run, in both directions, until it changes nothing more. */
static void repeat(work *w, void (*what)(work *, uint32_t)) {
  const uint32_t count = w->layout->graph->node_count;
  do {
    w->changed = false;
    for (uint32_t turn = 0; turn < 2 * count; ++turn) {
      const uint32_t n = turn < count ? turn : 2 * count - 1 - turn;
      if (w->layout->live[n]) {
        what(w, n);
      }
    }
  } while (w->changed);
}

/* Counts for each value the nodes that gain by it and those that copy it. */
static void weigh_node(work *w, uint32_t n) {
  const leati_node *const node = &w->layout->nodes[n];
  for (uint32_t i = 0; i < node->input_count; ++i) {
    const uint32_t v = node->inputs[i];
    if (v != LEAT_GRAPH_NO_VALUE) {
      w->balance[v] += leati_has_input(w->uses[n].prefers, i);
      w->balance[v] -= leati_has_input(w->uses[n].matches_output, i) && !gives_last(w, node);
    }
  }
}

/* Finds what lies so in the end. What more nodes would copy than gain by is taken out, which may take others with it.
 */
static void choose(work *w) {
  const uint32_t count = w->layout->graph->value_count;
  do {
    memset(w->gain, 0, count * sizeof(*w->gain));
    memset(w->balance, 0, count * sizeof(*w->balance));
    repeat(w, check_node);
    repeat(w, look_for_gain);
    for (uint32_t v = 0; v < count; ++v) {
      w->last[v] = w->last[v] && w->gain[v];
    }
    for (uint32_t n = 0; n < w->layout->graph->node_count; ++n) {
      if (w->layout->live[n]) {
        weigh_node(w, n);
      }
    }
    w->changed = false;
    for (uint32_t v = 0; v < count; ++v) {
      set(w, &w->last[v], w->last[v] && w->balance[v] >= 0);
    }
  } while (w->changed);
}

leati_view leati_layout_order(const leati_view *constant) {
  if (constant->ndim != 2) {
    return leati_channels_last_order(constant);
  }
  leati_view order = *constant;
  for (int32_t d = 0; d < 2; ++d) {
    order.shape[d] = constant->shape[1 - d];
    order.strides[d] = constant->strides[1 - d];
  }
  leati_view_measure(&order);
  return order;
}

void leati_layout_apply(leati_view *constant) {
  if (constant->ndim != 2) {
    leati_make_channels_last(constant);
    return;
  }
  constant->strides[0] = 1;
  constant->strides[1] = constant->shape[0];
  leati_view_measure(constant);
}

static bool anybody_gains(const work *w) {
  bool prefers = false;
  for (uint32_t n = 0; n < w->layout->graph->node_count && !prefers; ++n) {
    prefers = w->uses[n].prefers != 0;
  }
  return prefers;
}

static int32_t lay(work *w, uint32_t *ordered, uint32_t *out_count, leat_error *err) {
  LEATI_TRY(ask(w, err));
  if (anybody_gains(w)) {
    find_free(w);
    choose(w);
  }
  for (uint32_t v = 0; v < w->layout->graph->value_count; ++v) {
    if (w->last[v]) {
      w->layout->at[v] = (leati_alias){.root = v};
      w->values[v].view.address = 0;
      leati_make_channels_last(&w->values[v].view);
      ++*out_count;
    }
  }
  if (*out_count != 0) {
    LEATI_TRY(ask(w, err));
  }
  for (uint32_t n = 0; n < w->layout->graph->node_count; ++n) {
    ordered[n] = w->uses[n].orders;
  }
  return LEAT_OK;
}

int32_t leati_layout_run(const leati_layout *layout, uint32_t *ordered, uint32_t *out_count, leat_error *err) {
  const size_t values = (size_t)layout->graph->value_count + 1, nodes = (size_t)layout->graph->node_count + 1;
  bool *const flags = leati_calloc(3 * values, sizeof(*flags));
  work w = {.layout = layout,
            .values = layout->inference->values,
            .uses = leati_calloc(nodes, sizeof(*w.uses)),
            .last = flags,
            .gain = flags != NULL ? flags + values : NULL,
            .picked = flags != NULL ? flags + 2 * values : NULL,
            .balance = leati_calloc(values, sizeof(*w.balance))};
  const int32_t status =
      flags != NULL && w.uses != NULL && w.balance != NULL
          ? lay(&w, ordered, out_count, err)
          : leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory to lay %u values", layout->graph->value_count);
  leati_free(flags);
  leati_free(w.uses);
  leati_free(w.balance);
  return status;
}
