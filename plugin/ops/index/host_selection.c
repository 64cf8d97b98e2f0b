/* SPDX-License-Identifier: BSD-3-Clause */
#include "ops/index/host_selection.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/status.h"
#include "ops/core/host_kernel.h"
#include "ops/core/movement.h"

/* Bytes of a result at most: plans have a copy of it, with places of 32 bits. */
#define BYTES_MAX (UINT64_C(1) << 30)

#define INPUTS_MAX 5

static void selection_free(void *selection) {
  for (uint32_t o = 0; o < LEATI_ANSWER_MAX; ++o) {
    free(((leati_selection *)selection)->data[o]);
  }
  free(selection);
}

/* Makes a view on the host compact, and its elements ones that can be read as they are: a copy, which `*owned` is then.
 */
static int32_t make_compact(leati_view *view, void **owned, leat_error *err) {
  if (!view->present || (view->compact && (uintptr_t)view->data % view->item_size == 0)) {
    return LEAT_OK;
  }
  unsigned char *const bytes = malloc(view->count * view->item_size);
  if (bytes == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "no memory on the host for a copy of %" PRIu64 " elements",
                      view->count);
  }
  leati_host_walk walk;
  leati_host_walk_begin(&walk, view, 1);
  memcpy(walk.strides[0], view->strides, (size_t)view->ndim * sizeof(view->strides[0]));
  for (uint64_t i = 0; i < view->count; ++i) {
    memcpy(bytes + i * view->item_size, (const unsigned char *)view->data + walk.at[0] * (int64_t)view->item_size,
           view->item_size);
    leati_host_walk_next(&walk);
  }
  *owned = view->data = bytes;
  leati_view_make_compact(view);
  return LEAT_OK;
}

static int32_t select_compact(const leat_op *op, const leati_call *call, leati_select select, leati_selection *out,
                              leat_error *err) {
  leati_view inputs[INPUTS_MAX];
  void *owned[INPUTS_MAX] = {NULL};
  leati_call compact = *call;
  int32_t status = LEAT_OK;
  compact.inputs = inputs;
  for (uint32_t i = 0; i < call->input_count && status == LEAT_OK; ++i) {
    inputs[i] = call->inputs[i];
    status = make_compact(&inputs[i], &owned[i], err);
  }
  if (status == LEAT_OK) {
    status = select(op, &compact, out, err);
  }
  for (uint32_t i = 0; i < INPUTS_MAX; ++i) {
    free(owned[i]);
  }
  return status;
}

/* Bytes of a result; more than BYTES_MAX where they are. */
static uint64_t size_of(const leat_shape *shape) {
  uint64_t size = leati_product(shape->dims, 0, shape->ndim) == 0 ? 0 : leati_type_size(leati_type_of(shape->dtype));
  for (int32_t d = 0; d < shape->ndim && size <= BYTES_MAX; ++d) {
    size = (uint64_t)shape->dims[d] > BYTES_MAX ? BYTES_MAX + 1 : size * (uint64_t)shape->dims[d];
  }
  return size;
}

int32_t leati_selection_infer(const leat_op *op, const leati_call *call, leati_select select, leat_shape *out,
                              leat_error *err) {
  const char *const name = leati_op_def_of(op)->info.name;
  leati_selection *const selection = calloc(1, sizeof(*selection));
  if (selection == NULL) {
    return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "%s: no memory on the host", name);
  }
  selection->op = name;
  *call->inferred = (leati_inferred){.what = selection, .release = selection_free};
  LEATI_TRY(select_compact(op, call, select, selection, err));
  for (uint32_t o = 0; o < call->output_count; ++o) {
    out[o] = selection->shapes[o];
  }
  return LEAT_OK;
}

int32_t leati_selection_plan(const leat_op *op, leati_planner *planner, const leati_call *call, leat_error *err) {
  (void)op;
  const leati_selection *const selection = call->inferred->what;
  for (uint32_t o = 0; o < call->output_count; ++o) {
    const leati_view *const output = leati_output(call, o);
    const uint64_t size = size_of(&selection->shapes[o]);
    if (output != NULL && size > 0) {
      LEATI_TRY(leati_plan_answer_host(planner, output, selection->data[o], (uint32_t)size, err));
    }
  }
  return LEAT_OK;
}

int32_t leati_selection_place(leati_selection *selection, uint32_t o, int32_t ndim, const int64_t *dims, uint64_t type,
                              void **out, leat_error *err) {
  leat_shape *const shape = &selection->shapes[o];
  shape->ndim = ndim;
  memcpy(shape->dims, dims, (size_t)ndim * sizeof(dims[0]));
  shape->dtype = leati_dtype_of(type);
  const uint64_t size = size_of(shape);
  *out = NULL;
  if (size > BYTES_MAX) {
    return leati_fail(err, LEAT_ERROR_NOT_SUPPORTED,
                      "%s: a result of %" PRIu64 " bytes is not supported; at most %" PRIu64 " are", selection->op,
                      size, BYTES_MAX);
  }
  if (size > 0) {
    *out = selection->data[o] = calloc(1, size);
    if (*out == NULL) {
      return leati_fail(err, LEAT_ERROR_OUT_OF_MEMORY, "%s: no memory on the host for a result of %" PRIu64 " bytes",
                        selection->op, size);
    }
  }
  return LEAT_OK;
}

void leati_sort_indices(int64_t *indices, int64_t *scratch, int64_t count,
                        bool (*less)(const void *data, int64_t a, int64_t b), const void *data) {
  int64_t *from = indices, *to = scratch;
  for (int64_t run = 1; run < count; run *= 2) {
    for (int64_t begin = 0; begin < count; begin += 2 * run) {
      const int64_t middle = begin + run < count ? begin + run : count;
      const int64_t end = begin + 2 * run < count ? begin + 2 * run : count;
      int64_t a = begin, b = middle;
      for (int64_t i = begin; i < end; ++i) {
        const bool second = a == middle || (b < end && less(data, from[b], from[a]));
        to[i] = second ? from[b++] : from[a++];
      }
    }
    int64_t *const swap = from;
    from = to;
    to = swap;
  }
  if (from != indices) {
    memcpy(indices, from, (size_t)count * sizeof(indices[0]));
  }
}

uint64_t leati_order_of(uint64_t type, const void *element) {
  static const uint64_t floats = LEATI_TYPES_REAL | LEAT_TYPE_FLOAT64;
  static const uint64_t with_sign = floats | LEAT_TYPE_INT8 | LEAT_TYPE_INT16 | LEAT_TYPE_INT32 | LEAT_TYPE_INT64;
  const uint32_t size = leati_type_size(type);
  uint64_t bits = 0;
  memcpy(&bits, element, size); /* of little-endian numbers the lowest bytes, as on all devices */
  const uint64_t sign = UINT64_C(1) << (8 * size - 1);
  if ((type & with_sign) == 0) {
    return bits;
  }
  if ((type & floats) == 0) {
    return bits ^ sign;
  }
  const uint64_t infinity = type == LEAT_TYPE_FLOAT64   ? UINT64_C(0x7ff0000000000000)
                            : type == LEAT_TYPE_FLOAT32 ? 0x7f800000
                            : type == LEAT_TYPE_FLOAT16 ? 0x7c00
                                                        : 0x7f80;
  const uint64_t magnitude = bits & (sign - 1);
  if (magnitude > infinity) {
    return UINT64_MAX;
  }
  return (bits & sign) == 0 ? sign + magnitude : sign - magnitude;
}
