/* SPDX-License-Identifier: BSD-3-Clause */
#include "batch_tensor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"

size_t leati_batch_element_size(DLDataType dtype) {
  const uint32_t bits = (uint32_t)dtype.bits * dtype.lanes;
  return bits == 8 || bits == 16 || bits == 32 || bits == 64 || bits == 128 ? bits / 8 : 0;
}

const char *leati_batch_shape_text(char *text, size_t size, int32_t ndim, const int64_t *shape) {
  size_t used = (size_t)snprintf(text, size, "[");
  for (int32_t i = 0; i < ndim && used < size; ++i) {
    used += (size_t)snprintf(text + used, size - used, "%s%lld", i > 0 ? "," : "", (long long)shape[i]);
  }
  if (used < size) {
    snprintf(text + used, size - used, "]");
  }
  return text;
}

bool leati_batch_tensor_bytes(DLDataType dtype, int32_t ndim, const int64_t *shape, size_t limit, size_t *out) {
  size_t bytes = leati_batch_element_size(dtype);
  bool fits = true;
  /* A size of 0 anywhere makes the product 0, however large the others are. */
  for (int32_t i = 0; i < ndim; ++i) {
    if (shape[i] == 0) {
      *out = 0;
      return true;
    }
    fits = fits && !__builtin_mul_overflow(bytes, (size_t)shape[i], &bytes) && bytes <= limit;
  }
  *out = bytes;
  return fits && bytes <= limit;
}

/* Whether every element lies within what an address can say, seen from the first. */
static bool strides_fit(const DLTensor *tensor, size_t item) {
  int64_t low = 0;
  int64_t high = (int64_t)item;
  for (int32_t i = 0; i < tensor->ndim; ++i) {
    int64_t reach = 0;
    if (__builtin_mul_overflow(tensor->shape[i] - 1, tensor->strides[i], &reach) ||
        __builtin_mul_overflow(reach, (int64_t)item, &reach) ||
        __builtin_add_overflow(reach < 0 ? low : high, reach, reach < 0 ? &low : &high)) {
      return false;
    }
  }
  uint64_t origin = 0;
  uint64_t end = 0;
  return !__builtin_add_overflow((uint64_t)(uintptr_t)tensor->data, tensor->byte_offset, &origin) &&
         origin <= UINTPTR_MAX && origin >= (uint64_t)0 - (uint64_t)low &&
         !__builtin_add_overflow(origin, (uint64_t)high, &end) && end <= UINTPTR_MAX;
}

int32_t leati_batch_tensor_check(const DLTensor *tensor, const char *what, uint32_t index, int32_t failure,
                                 leat_error *err) {
  if (tensor == NULL) {
    return leati_error_set(err, failure, 0, "%s %u is NULL", what, index);
  }
  if (tensor->device.device_type != kDLCPU) {
    return leati_error_set(err, failure, 0,
                           "%s %u is on device type %d; tensors in host memory (kDLCPU, %d) go into "
                           "batches",
                           what, index, (int)tensor->device.device_type, (int)kDLCPU);
  }
  const size_t item = leati_batch_element_size(tensor->dtype);
  if (item == 0) {
    return leati_error_set(err, failure, 0,
                           "%s %u has elements of %u bits and %u lanes; 1, 2, 4, 8 or 16 bytes in all "
                           "are right",
                           what, index, tensor->dtype.bits, tensor->dtype.lanes);
  }
  if (tensor->ndim < 1 || tensor->ndim > LEAT_MAX_RANK) {
    return leati_error_set(err, failure, 0,
                           "%s %u has %d dimensions; 1 to %d are right, the first of which is the rows", what, index,
                           (int)tensor->ndim, LEAT_MAX_RANK);
  }
  if (tensor->shape == NULL) {
    return leati_error_set(err, failure, 0, "%s %u has no shape (NULL)", what, index);
  }
  bool empty = false;
  for (int32_t i = 0; i < tensor->ndim; ++i) {
    if (tensor->shape[i] < 0) {
      return leati_error_set(err, failure, 0, "%s %u has size %lld on axis %d; 0 or more is right", what, index,
                             (long long)tensor->shape[i], (int)i);
    }
    empty = empty || tensor->shape[i] == 0;
  }
  if (empty) {
    return LEAT_OK;
  }
  if (tensor->data == NULL) {
    return leati_error_set(err, failure, 0, "%s %u has elements but no data (NULL)", what, index);
  }
  char text[200];
  size_t bytes = 0;
  if (!leati_batch_tensor_bytes(tensor->dtype, tensor->ndim, tensor->shape, SIZE_MAX / 4, &bytes)) {
    return leati_error_set(err, failure, 0, "%s %u has shape %s, which is more than memory can hold", what, index,
                           leati_batch_shape_text(text, sizeof(text), tensor->ndim, tensor->shape));
  }
  if (tensor->strides != NULL) {
    if (!strides_fit(tensor, item)) {
      return leati_error_set(err, failure, 0, "%s %u has strides %s, which lead out of memory", what, index,
                             leati_batch_shape_text(text, sizeof(text), tensor->ndim, tensor->strides));
    }
  } else if ((uint64_t)(uintptr_t)tensor->data > UINTPTR_MAX - bytes - tensor->byte_offset ||
             tensor->byte_offset > UINTPTR_MAX - bytes) {
    return leati_error_set(err, failure, 0, "%s %u has byte_offset %llu, which leads out of memory", what, index,
                           (unsigned long long)tensor->byte_offset);
  }
  return LEAT_OK;
}

/* ---- Packs ------------------------------------------------------------------------------------------------------- */

static size_t rounded(size_t bytes) {
  return (bytes + LEATI_BATCH_ALIGNMENT - 1) / LEATI_BATCH_ALIGNMENT * LEATI_BATCH_ALIGNMENT;
}

bool leati_batch_pack_init(leati_batch_pack *pack, uint32_t count, const DLTensor *const *like) {
  *pack = (leati_batch_pack){.count = count};
  size_t at = rounded(count * (sizeof(DLTensor) + LEAT_MAX_RANK * sizeof(int64_t)));
  size_t total = at;
  for (uint32_t i = 0; i < count; ++i) {
    size_t bytes = 0;
    if (!leati_batch_tensor_bytes(like[i]->dtype, like[i]->ndim, like[i]->shape, SIZE_MAX / 2, &bytes) ||
        __builtin_add_overflow(total, rounded(bytes), &total)) {
      return false;
    }
  }
  unsigned char *memory = aligned_alloc(LEATI_BATCH_ALIGNMENT, total);
  if (memory == NULL) {
    return false;
  }
  pack->tensors = (DLTensor *)(void *)memory;
  int64_t *shapes = (int64_t *)(void *)(memory + count * sizeof(DLTensor));
  for (uint32_t i = 0; i < count; ++i, shapes += LEAT_MAX_RANK) {
    size_t bytes = 0;
    memcpy(shapes, like[i]->shape, (size_t)like[i]->ndim * sizeof(*shapes));
    pack->tensors[i] = (DLTensor){
        .data = memory + at, .device = {kDLCPU, 0}, .ndim = like[i]->ndim, .dtype = like[i]->dtype, .shape = shapes};
    (void)leati_batch_tensor_bytes(like[i]->dtype, like[i]->ndim, shapes, SIZE_MAX / 2, &bytes);
    /* The last one may be empty; its address is then the end of the memory, at which nothing is read. */
    at += rounded(bytes);
  }
  return true;
}

void leati_batch_pack_clear(leati_batch_pack *pack) {
  free(pack->tensors);
  *pack = (leati_batch_pack){0};
}

/* ---- Copying ----------------------------------------------------------------------------------------------------- */

/* Strides in elements, of a tensor that may not say them. */
static void strides_of(const DLTensor *tensor, int64_t *out) {
  int64_t step = 1;
  for (int32_t i = tensor->ndim - 1; i >= 0; --i) {
    out[i] = tensor->strides != NULL ? tensor->strides[i] : step;
    step *= tensor->shape[i];
  }
}

void leati_batch_copy(const DLTensor *to, int64_t to_row, const DLTensor *from, int64_t from_row, int64_t rows) {
  const int32_t ndim = to->ndim;
  const size_t item = leati_batch_element_size(to->dtype);
  int64_t box[LEAT_MAX_RANK];
  int64_t to_strides[LEAT_MAX_RANK];
  int64_t from_strides[LEAT_MAX_RANK];
  for (int32_t i = 0; i < ndim; ++i) {
    box[i] = i == 0 ? rows : to->shape[i] < from->shape[i] ? to->shape[i] : from->shape[i];
    if (box[i] == 0) {
      return; /* before any stride is multiplied: those of an empty tensor mean nothing */
    }
  }
  strides_of(to, to_strides);
  strides_of(from, from_strides);
  /* The last axes that are without gaps on both sides are copied as one piece. */
  int32_t outer = ndim;
  int64_t piece = 1;
  while (outer > 0 && (box[outer - 1] == 1 || (to_strides[outer - 1] == piece && from_strides[outer - 1] == piece))) {
    piece *= box[--outer];
  }
  char *target = (char *)to->data + to->byte_offset + to_row * to_strides[0] * (int64_t)item;
  const char *source = (const char *)from->data + from->byte_offset + from_row * from_strides[0] * (int64_t)item;
  int64_t index[LEAT_MAX_RANK] = {0};
  for (;;) {
    int64_t to_at = 0;
    int64_t from_at = 0;
    for (int32_t i = 0; i < outer; ++i) {
      to_at += index[i] * to_strides[i];
      from_at += index[i] * from_strides[i];
    }
    memcpy(target + to_at * (int64_t)item, source + from_at * (int64_t)item, (size_t)piece * item);
    int32_t axis = outer - 1;
    while (axis >= 0 && ++index[axis] == box[axis]) {
      index[axis--] = 0;
    }
    if (axis < 0) {
      return;
    }
  }
}

void leati_batch_fill(const DLTensor *tensor, const unsigned char *element) {
  const size_t item = leati_batch_element_size(tensor->dtype);
  size_t bytes = 0;
  (void)leati_batch_tensor_bytes(tensor->dtype, tensor->ndim, tensor->shape, SIZE_MAX / 2, &bytes);
  char *data = tensor->data;
  if (bytes == 0) {
    return;
  }
  memcpy(data, element, item);
  for (size_t done = item; done < bytes;) {
    const size_t more = done < bytes - done ? done : bytes - done;
    memcpy(data + done, data, more);
    done += more;
  }
}
