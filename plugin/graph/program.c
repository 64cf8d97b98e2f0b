/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/program.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "core/status.h"
#include "graph/fusion_rules.h"

/* The number that the latest program got. */
static _Atomic uint64_t latest;

/* ---- Making ----------------------------------------------------------------------------------------------------- */

/* Lets rules rewrite the nodes, for which there is room. */
static int32_t rewrite(leati_program *program, const leati_inference *inference, leat_error *err) {
  const leat_graph *const graph = inference->graph;
  leati_fusion fusion;
  int32_t status = leati_fusion_begin(graph, inference, program->nodes, program->live, &program->guards, &fusion, err);
  if (status == LEAT_OK) {
    status = leati_fusion_apply(&fusion, graph->device->fusions_off, err);
  }
  memcpy(program->counts, fusion.counts, sizeof(program->counts));
  program->made = leati_fusion_end(&fusion);
  if (status == LEAT_OK && program->guards.full) {
    status = leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for what the rewriting of a graph relies on");
  }
  return status;
}

void leati_program_free(leati_program *program) {
  if (program == NULL) {
    return;
  }
  leati_fused_ops_free(program->made);
  leati_guards_end(&program->guards);
  leati_free(program->pattern.marks);
  leati_free(program->nodes);
  leati_free(program->live);
  leati_free(program);
}

int32_t leati_program_make(const leati_inference *inference, const bool *live, const leati_shape_pattern *pattern,
                           leati_program **out, leat_error *err) {
  const uint32_t count = inference->graph->node_count;
  leati_program *const program = leati_calloc(1, sizeof(*program));
  if (program == NULL) {
    leati_free(pattern->marks);
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for the program of a graph");
  }
  program->number = atomic_fetch_add_explicit(&latest, 1, memory_order_relaxed) + 1;
  program->pattern = *pattern;
  program->nodes = leati_calloc((size_t)count + 1, sizeof(*program->nodes));
  program->live = leati_calloc((size_t)count + 1, sizeof(*program->live));
  int32_t status = LEAT_ERROR_OUT_OF_MEMORY;
  if (program->nodes == NULL || program->live == NULL) {
    (void)leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory to rewrite %u nodes", count);
  } else {
    memcpy(program->live, live, count * sizeof(*live));
    status = rewrite(program, inference, err);
  }
  if (status != LEAT_OK) {
    leati_program_free(program);
    return status;
  }
  program->entry.hash = pattern->hash;
  program->entry.bytes = sizeof(*program) + count * (sizeof(*program->nodes) + sizeof(*live)) +
                         pattern->count * sizeof(*pattern->marks) + leati_guards_bytes(&program->guards) +
                         leati_fused_ops_bytes(program->made);
  *out = program;
  return LEAT_OK;
}

/* ---- Finding ---------------------------------------------------------------------------------------------------- */

/* Whether a node takes and gives what it did when the inference was found to fit. */
static bool is_same(const leati_inference *inference, const leati_node *node) {
  return leati_inference_same_since_fit(inference, node->input_count, node->inputs) &&
         leati_inference_same_since_fit(inference, node->output_count, node->outputs);
}

/* Whether the nodes that rules wrote give what they are to give, for the shapes of an inference. `again`: they did. */
static bool gives_all(const leati_program *program, const leati_inference *inference, bool again) {
  const leat_graph *const graph = inference->graph;
  bool gives = true;
  for (uint32_t n = 0; n < graph->node_count && gives; ++n) {
    const leati_node *const node = &program->nodes[n];
    gives = !program->live[n] || node->op == graph->nodes[n].op || (again && is_same(inference, node)) ||
            leati_fusion_check(inference, node, NULL) == LEAT_OK;
  }
  return gives;
}

bool leati_program_fits(const leati_program *program, const leati_inference *inference,
                        const leati_shape_pattern *pattern) {
  const bool again = inference->fitted == program->number;
  return program->pattern.hash == pattern->hash && program->pattern.count == pattern->count &&
         memcmp(program->pattern.marks, pattern->marks, pattern->count * sizeof(*pattern->marks)) == 0 &&
         leati_guards_hold(&program->guards, inference, again, NULL) && gives_all(program, inference, again);
}

void leati_program_difference(const leati_program *program, const leati_inference *inference,
                              const leati_shape_pattern *pattern, char *out) {
  if (!leati_shape_pattern_differs(inference->graph, &program->pattern, pattern, out) &&
      leati_guards_hold(&program->guards, inference, false, out)) {
    (void)snprintf(out, LEAT_ERROR_MESSAGE_SIZE, "an operator that a rule made refuses these shapes");
  }
}
