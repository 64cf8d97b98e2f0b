/* SPDX-License-Identifier: BSD-3-Clause */
#include "graph/make_op.h"

#include "core/status.h"
#include "core/sync.h"
#include "ops/core/op_table.h"

/* What an operator is told of a value. */
typedef struct told {
  leat_value_info info;
  DLTensor tensor;
} told;

static void tell(const leati_value *value, const leati_known_value *known, bool any_shape, told *out) {
  static const int64_t any[LEAT_MAX_RANK] = {-1, -1, -1, -1, -1, -1, -1, -1};
  const bool hides = any_shape && value->kind != LEATI_VALUE_CONSTANT;
  out->info = (leat_value_info){.struct_size = sizeof(out->info),
                                .ndim = known->known ? known->view.ndim : value->ndim,
                                .dtype = leati_dtype_of(value->type),
                                .shape = hides          ? any
                                         : known->known ? known->view.shape
                                                        : value->shape};
  if (known->bytes != NULL && !hides) {
    out->tensor = (DLTensor){.data = (void *)known->bytes,
                             .device = {kDLCPU, 0},
                             .ndim = known->view.ndim,
                             .dtype = known->view.dtype,
                             .shape = (int64_t *)known->view.shape};
    out->info.value = &out->tensor;
  }
}

int32_t leati_graph_make_op(const leat_graph *graph, const leati_inference *inference, bool any_shape,
                            const leat_graph_node *from, leat_op **out, leat_error *err) {
  const size_t each = sizeof(told) + sizeof(leat_value_info *);
  told *const all = leati_calloc((size_t)from->input_count + 1, each);
  if (all == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no host memory for %u inputs", from->input_count);
  }
  const leat_value_info **const infos = (const leat_value_info **)(void *)(all + from->input_count + 1);
  int32_t status = LEAT_OK;
  for (uint32_t i = 0; i < from->input_count && status == LEAT_OK; ++i) {
    const uint32_t v = from->inputs[i];
    if (v == LEAT_GRAPH_NO_VALUE) {
      continue;
    }
    if (graph->values[v].type == 0) {
      status = leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                          "input %u is value %u, whose element type follows from shapes that are not known; "
                          "leat_graph_desc::values must say it",
                          i, v);
    }
    tell(&graph->values[v], &inference->values[v], any_shape, &all[i]);
    infos[i] = &all[i].info;
  }
  const leat_op_desc desc = {.struct_size = sizeof(desc),
                             .since_version = from->since_version,
                             .name = from->op,
                             .domain = from->domain,
                             .attribute_count = from->attribute_count,
                             .attributes = from->attributes,
                             .input_count = from->input_count,
                             .inputs = infos,
                             .output_count = from->output_count};
  if (status == LEAT_OK) {
    status = leati_op_make(graph->device, &desc, out, err);
  }
  leati_free(all);
  return status;
}
