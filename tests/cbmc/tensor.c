/* SPDX-License-Identifier: BSD-3-Clause */
/* Shapes and strides as a caller gives them: sizes that overflow, strides that reach anywhere. */
#include "memory/tensor.c"

#include "outside.h"

/* The only block of the device. */
static uint64_t block_begin, block_size;

struct leati_block *leati_memory_find(leat_device *device, uint64_t address) {
  (void)device;
  return address - block_begin < block_size ? (struct leati_block *)&block_begin : NULL;
}

uint64_t leati_block_address(const struct leati_block *block) {
  (void)block;
  return block_begin;
}

uint64_t leati_block_size(const struct leati_block *block) {
  (void)block;
  return block_size;
}

/* Any tensor of rank up to 2, the sizes and strides of which are any numbers; some have no strides. */
static DLTensor any_tensor(int64_t *shape, int64_t *strides) {
  DLTensor tensor;
  ASSUME(tensor.ndim <= 2);
  tensor.shape = shape;
  tensor.strides = ANY(bool) ? strides : NULL;
  return tensor;
}

/* A shape that is taken has as many elements as a count of 64 bits can say in bytes, and an element has a size.
 * UNWIND 3 LOOPS leati_type_of.0:24
 * MISTAKE plugin/memory/tensor.c: `bound > (UINT64_C(1) << 56)` becomes `bound == 0` */
void prove_shapes_do_not_overflow(void) {
  int64_t shape[2], strides[2];
  const DLTensor tensor = any_tensor(shape, strides);
  leati_view view;
  shape[1] &= 255; /* products are quickly looked through then, and overflow all the same */
  if (leati_view_import_shape(&tensor, "", &view, NULL) == LEAT_OK) {
    PROVE(view.item_size >= 1 && view.item_size <= 8);
    PROVE(view.count <= UINT64_C(1) << 56);
    PROVE(view.ndim < 1 || shape[0] >= 0);
  }
}

/* Of a row of five elements on the device that is taken, with any address, offset and stride of 32 bits, each element
 * lies in the live block that its data pointer is in.
 * UNWIND 3 LOOPS leati_type_of.0:24
 * MISTAKE plugin/memory/tensor.c: `view->shape[i] - 1, view->strides[i], &reach` becomes
 * `view->shape[i] - 2, view->strides[i], &reach`
 * MISTAKE plugin/memory/tensor.c: `out->begin < base || out->end > end` becomes `out->end > end` */
void prove_elements_lie_in_the_block(void) {
  leat_device device;
  int64_t shape[2] = {1, 5}, strides[2] = {0, ANY(int32_t)};
  const DLTensor tensor = {.data = (void *)(uintptr_t)ANY(uint64_t),
                           .device = {kDLVulkan, ANY(int32_t)},
                           .ndim = 2,
                           .dtype = {kDLInt, 64, 1},
                           .shape = shape,
                           .strides = strides,
                           .byte_offset = ANY(uint64_t)};
  block_begin = ANY(uint64_t);
  block_size = ANY(uint64_t);
  ASSUME(block_begin <= UINT64_MAX - block_size);
  leati_view view;
  if (leati_view_import(&device, &tensor, "", &view, NULL) == LEAT_OK) {
    const uint64_t at = view.address + (ANY(bool) ? 4 * 8 * (uint64_t)strides[1] : 0);
    PROVE(at - block_begin < block_size && block_size - (at - block_begin) >= 8);
  }
}

/* What strides of any size reach is told in bytes as it is, or said to be beyond any number.
 * UNWIND 5
 * MISTAKE plugin/memory/tensor.c: `__builtin_mul_overflow(low, (int64_t)view->item_size, out_low)` becomes
 * `(*out_low = (int64_t)((uint64_t)low * view->item_size), false)`
 * MISTAKE plugin/memory/tensor.c: `reach < 0 ? &low : &high` becomes `&high` */
void prove_extents_do_not_overflow(void) {
  const leati_view view = {.ndim = 4,
                           .item_size = 8,
                           .shape = {3, 2, 1, 5},
                           .strides = {ANY(int64_t), ANY(int64_t), ANY(int64_t), ANY(int64_t)}};
  int64_t low, high;
  if (extent_of(&view, &low, &high)) {
    __int128 first = 0, last = 8;
    for (int32_t d = 0; d < 4; ++d) {
      const __int128 reach = (__int128)view.strides[d] * (view.shape[d] - 1) * 8;
      first += reach < 0 ? reach : 0;
      last += reach > 0 ? reach : 0;
    }
    PROVE(low == first && high == last);
  }
}
