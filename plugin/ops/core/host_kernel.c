/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/core/host_kernel.h"

#include "core/status.h"
#include "ops/core/dims.h"

void leati_host_walk_begin(leati_host_walk *walk, const leati_view *view, uint32_t operands) {
  walk->ndim = view->ndim;
  walk->operands = operands;
  walk->shape = view->shape;
  for (int32_t d = 0; d < view->ndim; ++d) {
    walk->position[d] = 0;
  }
  for (uint32_t k = 0; k < operands; ++k) {
    walk->at[k] = 0;
  }
}

void leati_host_walk_broadcast(leati_host_walk *walk, uint32_t operand, const leati_view *view) {
  leati_broadcast_strides(view, walk->ndim, walk->shape, walk->strides[operand]);
}

void leati_host_walk_next(leati_host_walk *walk) {
  for (int32_t d = walk->ndim; d-- > 0; walk->position[d] = 0) {
    const bool ends = ++walk->position[d] == walk->shape[d];
    for (uint32_t k = 0; k < walk->operands; ++k) {
      walk->at[k] += ends ? walk->strides[k][d] * (1 - walk->shape[d]) : walk->strides[k][d];
    }
    if (!ends) {
      return;
    }
  }
}

void leati_evaluate_same(const leat_op *op, const leati_call *call, uint32_t o) {
  (void)op;
  const leati_view *const out = &call->outputs[o];
  memcpy(out->data, call->inputs[0].data, out->count * out->item_size);
}

void leati_evaluate_view(const leat_op *op, const leati_call *call, uint32_t o) {
  const leati_view *const in = &call->inputs[0], *const out = &call->outputs[o];
  leati_view from;
  if (leati_op_def_of(op)->view(op, call, o, &from, NULL) != LEAT_OK) {
    return; /* infer() refused such a call */
  }
  leati_host_walk walk;
  leati_host_walk_begin(&walk, out, 1);
  memcpy(walk.strides[0], from.strides, sizeof(walk.strides[0]));
  walk.at[0] = (int64_t)(from.address - in->address) / (int64_t)in->item_size;
  for (uint64_t i = 0; i < out->count; ++i) {
    leati_host_move(in, (uint64_t)walk.at[0], out, i);
    leati_host_walk_next(&walk);
  }
}
