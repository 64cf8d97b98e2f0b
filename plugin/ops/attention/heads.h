/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Operands of attention as heads, whatever the order of their dimensions.
 */
#ifndef LEAT_PLUGIN_OPS_ATTENTION_HEADS_H_
#define LEAT_PLUGIN_OPS_ATTENTION_HEADS_H_

#include "memory/tensor.h"

/** Elements of a head at most. */
#define LEATI_HEAD_MOST 256

/** What the letters of a layout stand for, one for each dimension: b batch, h head, s position, d element of the head;
 * x: the heads side by side, each with its elements. Without b or h there is one batch, or one head. */
#define LEATI_HEADS_LETTERS "bhsd"
#define LEATI_HEADS_APART "bhsd"
#define LEATI_HEADS_TOGETHER "bsx"

/** Sizes and strides, in elements, of batch, head, position and element of the head. */
typedef struct leati_heads {
  int64_t shape[4], strides[4];
} leati_heads;

/** A tensor, and how its heads lie in it. */
typedef struct leati_operand {
  leati_view view;
  leati_heads heads;
} leati_operand;

/** Reads a tensor of this layout as heads; `count` of them if they lie side by side. `name` and `what` name the
 * operator and the tensor in messages.
 * @errors INVALID_ARGUMENT; NOT_SUPPORTED: larger heads than LEATI_HEAD_MOST */
int32_t leati_heads_read(const char *name, const leati_view *view, const char *what, const char *layout, int64_t count,
                         leati_heads *out, leat_error *err);

/** Fails if heads side by side, so many elements of them by so many heads, are larger than LEATI_HEAD_MOST: for what is
 * known before there are tensors. Negative `size`: it is not.
 * @errors NOT_SUPPORTED */
int32_t leati_heads_check_size(const char *name, int64_t size, int64_t count, leat_error *err);

/** Strides for an argument record, in elements; that of a dimension of one element is 0, for it may be anything. */
void leati_heads_strides(const leati_heads *heads, int32_t out[4]);

/** Whether rows can be moved so many elements at a time; `strides` are of leati_heads_strides(). */
bool leati_heads_in_groups(const leati_operand *operand, const int32_t strides[4], uint32_t count);

#endif /* LEAT_PLUGIN_OPS_ATTENTION_HEADS_H_ */
