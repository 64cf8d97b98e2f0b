/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What families share that compute an operator on the host (leati_op_def::evaluate). Views of a call are compact there,
 * and their elements are at leati_view::data.
 */
#ifndef LEAT_PLUGIN_OPS_CORE_HOST_KERNEL_H_
#define LEAT_PLUGIN_OPS_CORE_HOST_KERNEL_H_

#include <string.h>

#include "ops/core/op.h"

/** Element `i` of int64, int32 or bool as a number; a bool is 0 or 1. */
static inline int64_t leati_host_get(const leati_view *from, uint64_t i) {
  if (from->type == LEAT_TYPE_INT64) {
    return ((const int64_t *)from->data)[i];
  }
  return from->type == LEAT_TYPE_INT32 ? ((const int32_t *)from->data)[i] : ((const unsigned char *)from->data)[i] != 0;
}

/** Makes a number element `i`, of one of these types or of float32. What does not fit into int32 wraps, as on the
 * device. */
static inline void leati_host_put(const leati_view *to, uint64_t i, int64_t value) {
  if (to->type == LEAT_TYPE_INT64) {
    ((int64_t *)to->data)[i] = value;
  } else if (to->type == LEAT_TYPE_INT32) {
    ((uint32_t *)to->data)[i] = (uint32_t)value;
  } else if (to->type == LEAT_TYPE_FLOAT32) {
    ((float *)to->data)[i] = (float)value;
  } else {
    ((unsigned char *)to->data)[i] = value != 0;
  }
}

/** Element `i` of any type. */
static inline void *leati_host_at(const leati_view *view, uint64_t i) {
  return (unsigned char *)view->data + i * view->item_size;
}

/** Copies element `i` of a tensor to where the elements of another one of its type are, as element `at`. */
static inline void leati_host_move(const leati_view *from, uint64_t i, const leati_view *to, uint64_t at) {
  memcpy(leati_host_at(to, at), leati_host_at(from, i), from->item_size);
}

/** The same of an element that an index says; one that is out of range reads 0. */
static inline void leati_host_move_indexed(const leati_view *from, bool within, uint64_t i, const leati_view *to,
                                           uint64_t at) {
  if (within) {
    leati_host_move(from, i, to, at);
  } else {
    memset(leati_host_at(to, at), 0, from->item_size);
  }
}

#define LEATI_HOST_OPERANDS 3

/** A way through the elements of a tensor in row-major order, and where the operands stand for each. */
typedef struct leati_host_walk {
  int32_t ndim;
  uint32_t operands;
  const int64_t *shape;
  int64_t position[LEAT_MAX_RANK];
  int64_t at[LEATI_HOST_OPERANDS]; /**< the element of each operand, by its number */
  int64_t strides[LEATI_HOST_OPERANDS][LEAT_MAX_RANK];
} leati_host_walk;

/** Begins at the first element of `view`, whose shape must stay. Strides of the operands are the caller's to set. */
void leati_host_walk_begin(leati_host_walk *walk, const leati_view *view, uint32_t operands);
/** Sets the strides of an operand that broadcasts to the tensor. */
void leati_host_walk_broadcast(leati_host_walk *walk, uint32_t operand, const leati_view *view);
/** Goes on to the next element. */
void leati_host_walk_next(leati_host_walk *walk);

/** leati_op_def::evaluate of operators whose result has the elements of input 0 in their order, */
void leati_evaluate_same(const leat_op *op, const leati_call *call, uint32_t o);
/** and whose results leati_op_def::view() always gives. */
void leati_evaluate_view(const leat_op *op, const leati_call *call, uint32_t o);

#endif /* LEAT_PLUGIN_OPS_CORE_HOST_KERNEL_H_ */
