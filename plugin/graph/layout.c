/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/layout.h"

#include <string.h>

#include "core/status.h"
#include "core/sync.h"
#include "ops/channels_last.h"
#include "ops/op_state.h"

/* What is to be known while values are laid. */
typedef struct work {
  const leati_layout *layout;
  leati_known_value *values;
  leati_channels_last_use *uses; /* by node */
  bool *last;                    /* by value: may lie so */
  bool *gain;                    /* by value: somebody gains by it */
  bool changed;                  /* in this round */
} work;

static bool is_bit(uint32_t bits, uint32_t i) {
  return i < 32 && (bits >> i & 1u) != 0;
}

static void set(work *w, bool *flag, bool value) {
  w->changed = w->changed || *flag != value;
  *flag = value;
}

/* Takes from what may lie so what the graph gives, what lies in something else, and in what something else lies. */
static void deny_shared(const work *w) {
  const leat_graph *const graph = w->layout->graph;
  const leati_whereabouts *const at = w->layout->at;
  for (uint32_t v = 0; v < graph->value_count; ++v) {
    if (at[v].root != v) {
      w->last[v] = w->last[at[v].root] = false;
    }
  }
  for (uint32_t o = 0; o < graph->output_count; ++o) {
    w->last[graph->outputs[o]] = false;
  }
}

/* Finds the results of which nobody has said how they lie. */
static void find_free(const work *w) {
  const leat_graph *const graph = w->layout->graph;
  for (uint32_t v = 0; v < graph->value_count; ++v) {
    w->last[v] = graph->values[v].kind == LEATI_VALUE_RESULT && w->values[v].known && w->values[v].bytes == NULL &&
                 w->values[v].view.compact && leati_has_channels(&w->values[v].view);
  }
  deny_shared(w);
}

/* Asks all nodes what they can do, as values lie now. */
static int32_t ask(const work *w, leat_error *err) {
  for (uint32_t n = 0; n < w->layout->graph->node_count; ++n) {
    const leati_node *const node = &w->layout->nodes[n];
    if (!w->layout->live[n] || node->op->def->channels_last == NULL) {
      continue;
    }
    leati_arguments a;
    bool known;
    const int32_t status = leati_inference_open_node(w->layout->inference, node, &a, &known, err);
    if (status == LEAT_OK) {
      a.outputs[0] = w->values[node->outputs[0]].view;
      w->uses[n] = node->op->def->channels_last(node->op, &a.call);
    }
    leati_arguments_end(&a);
    LEATI_TRY(status);
  }
  return LEAT_OK;
}

/* Takes from what may lie so what a node does not read or write so. */
static void check_node(work *w, uint32_t n) {
  const leati_node *const node = &w->layout->nodes[n];
  const leati_channels_last_use use = w->uses[n];
  for (uint32_t o = 0; o < node->output_count; ++o) {
    if (node->outputs[o] != LEAT_GRAPH_NO_VALUE && !(o == 0 && use.writes)) {
      set(w, &w->last[node->outputs[o]], false);
    }
  }
  for (uint32_t i = 0; i < node->input_count; ++i) {
    const uint32_t v = node->inputs[i];
    if (v == LEAT_GRAPH_NO_VALUE) {
      continue;
    }
    if (is_bit(use.follows | use.equals, i) && !w->last[v]) {
      set(w, &w->last[node->outputs[0]], false);
    }
    if (!is_bit(use.reads | use.follows | (w->last[node->outputs[0]] ? use.equals : 0), i)) {
      set(w, &w->last[v], false);
    }
  }
}

/* Finds for whom it is good: those by which a node gains, and what lies as they do. */
static void look_for_gain(work *w, uint32_t n) {
  const leati_node *const node = &w->layout->nodes[n];
  const uint32_t y = node->outputs[0];
  for (uint32_t i = 0; i < node->input_count; ++i) {
    const uint32_t v = node->inputs[i];
    if (v == LEAT_GRAPH_NO_VALUE || !w->last[v]) {
      continue;
    }
    const bool follows = is_bit(w->uses[n].follows | w->uses[n].equals, i) && w->last[y];
    if (is_bit(w->uses[n].gains, i) || (follows && w->gain[y])) {
      set(w, &w->gain[v], true);
    }
    if (follows && w->gain[v]) {
      set(w, &w->gain[y], true);
    }
  }
}

/* Does something for all nodes that run, until it changes nothing more. */
static void repeat(work *w, void (*what)(work *, uint32_t)) {
  do {
    w->changed = false;
    for (uint32_t n = 0; n < w->layout->graph->node_count; ++n) {
      if (w->layout->live[n]) {
        what(w, n);
      }
    }
  } while (w->changed);
}

/* Lays constants so that all who take them gain by it. */
static void lay_constants(work *w) {
  const leat_graph *const graph = w->layout->graph;
  for (uint32_t v = 0; v < graph->value_count; ++v) {
    w->last[v] = graph->values[v].kind == LEATI_VALUE_CONSTANT && graph->values[v].constant != NULL &&
                 leati_has_channels(&w->values[v].view);
    w->gain[v] = false;
  }
  deny_shared(w);
  for (uint32_t n = 0; n < graph->node_count; ++n) {
    const leati_node *const node = &w->layout->nodes[n];
    for (uint32_t i = 0; w->layout->live[n] && i < node->input_count; ++i) {
      if (node->inputs[i] != LEAT_GRAPH_NO_VALUE) {
        const bool gains = is_bit(w->uses[n].gains, i);
        w->last[node->inputs[i]] &= gains;
        w->gain[node->inputs[i]] |= gains;
      }
    }
  }
}

/* Gives values that are to lie so their strides, and counts them. */
static uint32_t lay_out(const work *w) {
  uint32_t count = 0;
  for (uint32_t v = 0; v < w->layout->graph->value_count; ++v) {
    if (w->last[v] && w->gain[v]) {
      leati_make_channels_last(&w->values[v].view);
      ++count;
    }
  }
  return count;
}

int32_t leati_layout_run(const leati_layout *layout, uint32_t *out_count, leat_error *err) {
  const size_t values = (size_t)layout->graph->value_count + 1, nodes = (size_t)layout->graph->node_count + 1;
  bool *const flags = leati_calloc(2 * values, sizeof(*flags));
  work w = {.layout = layout,
            .values = layout->inference->values,
            .uses = leati_calloc(nodes, sizeof(*w.uses)),
            .last = flags,
            .gain = flags != NULL ? flags + values : NULL};
  int32_t status = LEAT_OK;
  if (flags == NULL || w.uses == NULL) {
    status = leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory to lay %u values", layout->graph->value_count);
  } else {
    find_free(&w);
    status = ask(&w, err);
  }
  if (status == LEAT_OK) {
    repeat(&w, check_node);
    repeat(&w, look_for_gain);
    *out_count = lay_out(&w);
    status = ask(&w, err);
  }
  if (status == LEAT_OK) {
    lay_constants(&w);
    *out_count += lay_out(&w);
  }
  leati_free(flags);
  leati_free(w.uses);
  return status;
}
