/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Tensors of the batch queue: checking those of others, holding its own, and copying boxes between them. Nothing here
 * knows of threads.
 */
#ifndef LEAT_BATCH_BATCH_TENSOR_H_
#define LEAT_BATCH_BATCH_TENSOR_H_

#include <leat/backend.h>
#include <stdbool.h>
#include <stddef.h>

/** Tensors are put at multiples of this many bytes, which suits any vector instruction and any upload. */
#define LEATI_BATCH_ALIGNMENT 64u

/** Bytes of one element.
 * @return 0 for a type that does not fill whole bytes of a power of two up to 16 */
size_t leati_batch_element_size(DLDataType dtype);

/** Checks a tensor that came from outside, down to the addresses that its strides reach.
 * @param what how to call it in messages, such as "input"
 * @return LEAT_OK, or `failure` with the reason in @p err */
int32_t leati_batch_tensor_check(const DLTensor *tensor, const char *what, uint32_t index, int32_t failure,
                                 leat_error *err);

/** Multiplies the sizes of a compact tensor out.
 * @param limit bytes at most
 * @return false if they come to more than that */
bool leati_batch_tensor_bytes(DLDataType dtype, int32_t ndim, const int64_t *shape, size_t limit, size_t *out);

/** Some compact tensors in one piece of memory. */
typedef struct leati_batch_pack {
  uint32_t count;
  DLTensor *tensors; /**< shapes and data are in the same piece */
} leati_batch_pack;

/** Makes room for tensors with the given types and shapes, of which each has at most SIZE_MAX / 2 bytes.
 * @param like `count` tensors, of which `dtype`, `ndim` and `shape` are read
 * @return false if memory is out */
bool leati_batch_pack_init(leati_batch_pack *pack, uint32_t count, const DLTensor *const *like);

/** Frees the tensors; a pack of zeros is empty. */
void leati_batch_pack_clear(leati_batch_pack *pack);

/** Copies the box that begins at the origin of both tensors and has the sizes of the smaller one on each axis. Types
 * and ranks are the same.
 * @param to_row row of @p to at which the box is put
 * @param from_row row of @p from at which the box begins
 * @param rows rows of the box, which both tensors have from there on */
void leati_batch_copy(const DLTensor *to, int64_t to_row, const DLTensor *from, int64_t from_row, int64_t rows);

/** Sets all of a compact tensor to one element. */
void leati_batch_fill(const DLTensor *tensor, const unsigned char *element);

/** Writes a shape as "[2,3]", cut if it is too long.
 * @return text */
const char *leati_batch_shape_text(char *text, size_t size, int32_t ndim, const int64_t *shape);

#endif /* LEAT_BATCH_BATCH_TENSOR_H_ */
