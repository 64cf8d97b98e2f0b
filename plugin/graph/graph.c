/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/graph.h"

#include "core/status.h"

int32_t leati_graph_check(const leat_graph *graph, leat_error *err) {
  return leati_kind_of(graph) == LEATI_KIND_GRAPH
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "not a graph: %s",
                          graph == NULL ? "NULL" : "the handle is destroyed or of another kind");
}

int32_t leati_graph_fail(const leat_graph *graph, uint32_t node, const leat_error *found, leat_error *err) {
  const char *const name = graph->nodes[node].name;
  return leati_fail(err, found->code, "node %u%s%s%s: %s", node, name != NULL ? " '" : "", name != NULL ? name : "",
                    name != NULL ? "'" : "", found->message);
}
