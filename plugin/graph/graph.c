/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/graph.h"

#include <string.h>

#include "core/status.h"

int32_t leati_graph_check(const leat_graph *graph, leat_error *err) {
  return leati_kind_of(graph) == LEATI_KIND_GRAPH
             ? LEAT_OK
             : leati_fail(err, LEAT_ERROR_INVALID_ARGUMENT, "not a graph: %s",
                          graph == NULL ? "NULL" : "the handle is destroyed or of another kind");
}

bool leati_value_is_known(const leati_value *value) {
  bool known = value->ndim >= 0;
  for (int32_t d = 0; known && d < value->ndim; ++d) {
    known = value->shape[d] != -1;
  }
  return known;
}

uint64_t leati_value_size(const leati_value *value) {
  uint64_t size = leati_type_size(value->type);
  for (int32_t d = 0; d < value->ndim; ++d) {
    size *= (uint64_t)value->shape[d];
  }
  return size;
}

int32_t leati_view_of_value(const leati_value *value, const char *what, leati_view *out, leat_error *err) {
  return leati_view_of_shape(leati_dtype_of(value->type), value->ndim, value->shape, what, out, err);
}

int32_t leati_graph_fail(const leat_graph *graph, uint32_t node, const char *op, const leat_error *found,
                         leat_error *err) {
  const char *const name = graph->nodes[node].name != NULL ? graph->nodes[node].name : "";
  const char *const quote = name[0] != '\0' ? "'" : "";
  /* Most of what operators say names them. */
  const bool named = strstr(found->message, op) != NULL;
  return leati_fail(err, found->code, "node %u%s%s%s%s: %s%s%s", node, name[0] != '\0' ? " " : "", quote, name, quote,
                    named ? "" : op, named ? "" : ": ", found->message);
}
