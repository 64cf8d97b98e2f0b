/* SPDX-License-Identifier: BSD-3-Clause */
#include "shape_cache.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* What a case knows of an input. */
typedef struct known_input {
  bool present;
  int32_t ndim;
  DLDataType dtype; /* has no padding */
  int64_t dims[LEAT_MAX_RANK];
  size_t value_size;          /* bytes of an input on the host, else 0 */
  const unsigned char *value; /* they */
} known_input;

/* In one piece of memory: inputs, shapes and values lie behind it. */
struct leati_shape_case {
  const leat_shape *shapes;
  const known_input *inputs;
};
typedef struct leati_shape_case shape_case;

static bool same_dims(const int64_t *a, const int64_t *b, int32_t count) {
  int32_t i = 0;
  while (i < count && a[i] == b[i]) {
    i++;
  }
  return i == count;
}

static bool same_value(const known_input *known, const void *data) {
  return known->value_size == 0 || (data && memcmp(data, known->value, known->value_size) == 0);
}

static bool fits(const known_input *known, const DLTensor *input) {
  if (!input || !known->present) {
    return !input && !known->present;
  }
  return input->ndim == known->ndim && memcmp(&input->dtype, &known->dtype, sizeof(known->dtype)) == 0 &&
         same_dims(input->shape, known->dims, known->ndim) && same_value(known, input->data);
}

const leat_shape *leati_shape_cache_find(const leati_shape_cache *cache, uint32_t input_count,
                                         const DLTensor *const *inputs) {
  for (uint32_t k = 0; k < LEATI_SHAPE_CASES_MAX; k++) {
    const shape_case *kept = atomic_load_explicit(&cache->at[k], memory_order_acquire);
    if (!kept) {
      return NULL;
    }
    uint32_t i = 0;
    while (i < input_count && fits(&kept->inputs[i], inputs[i])) {
      i++;
    }
    if (i == input_count) {
      return kept->shapes;
    }
  }
  return NULL;
}

/* Bytes of the value of an input on the host; more than LEATI_SHAPE_VALUES_MAX stand for themselves and for more. */
static size_t value_size(const DLTensor *input) {
  if (!input || input->device.device_type != kDLCPU) {
    return 0;
  }
  size_t size = (input->dtype.bits * input->dtype.lanes + 7u) / 8u;
  for (int32_t d = 0; d < input->ndim; d++) {
    if (__builtin_mul_overflow(size, (size_t)input->shape[d], &size)) {
      return SIZE_MAX;
    }
  }
  return size;
}

/* Bytes of all values on the host; LEATI_SHAPE_VALUES_MAX + 1: too many. */
static size_t values_size(uint32_t input_count, const DLTensor *const *inputs) {
  size_t all = 0;
  for (uint32_t i = 0; i < input_count; i++) {
    const size_t size = value_size(inputs[i]);
    if (size > LEATI_SHAPE_VALUES_MAX - all) {
      return LEATI_SHAPE_VALUES_MAX + 1;
    }
    all += size;
  }
  return all;
}

static shape_case *make_case(uint32_t input_count, const DLTensor *const *inputs, uint32_t output_count,
                             const leat_shape *shapes, size_t values) {
  const size_t inputs_size = input_count * sizeof(known_input), shapes_size = output_count * sizeof(leat_shape);
  shape_case *made = calloc(1, sizeof(*made) + inputs_size + shapes_size + values);
  if (!made) {
    return NULL;
  }
  known_input *known = (known_input *)(void *)(made + 1);
  leat_shape *kept = (leat_shape *)(void *)(known + input_count);
  unsigned char *value = (unsigned char *)(kept + output_count);
  *made = (shape_case){.shapes = kept, .inputs = known};
  memcpy(kept, shapes, shapes_size);
  for (uint32_t i = 0; i < input_count; i++) {
    const DLTensor *input = inputs[i];
    if (!input) {
      continue;
    }
    known[i] = (known_input){
        .present = true, .ndim = input->ndim, .dtype = input->dtype, .value_size = value_size(input), .value = value};
    for (int32_t d = 0; d < input->ndim; d++) {
      known[i].dims[d] = input->shape[d];
    }
    if (known[i].value_size != 0) {
      memcpy(value, input->data, known[i].value_size);
      value += known[i].value_size;
    }
  }
  return made;
}

void leati_shape_cache_keep(leati_shape_cache *cache, uint32_t input_count, const DLTensor *const *inputs,
                            uint32_t output_count, const leat_shape *shapes) {
  uint32_t place = 0;
  while (place < LEATI_SHAPE_CASES_MAX && atomic_load_explicit(&cache->at[place], memory_order_relaxed)) {
    place++;
  }
  const size_t values = values_size(input_count, inputs);
  if (place == LEATI_SHAPE_CASES_MAX || values > LEATI_SHAPE_VALUES_MAX) {
    return;
  }
  shape_case *made = make_case(input_count, inputs, output_count, shapes, values);
  /* Of two threads that made the same case both may keep it, if there is room: then the first is found. */
  for (; made && place < LEATI_SHAPE_CASES_MAX; place++) {
    shape_case *expected = NULL;
    if (atomic_compare_exchange_strong_explicit(&cache->at[place], &expected, made, memory_order_release,
                                                memory_order_relaxed)) {
      return;
    }
  }
  free(made);
}

void leati_shape_cache_clear(leati_shape_cache *cache) {
  for (uint32_t k = 0; k < LEATI_SHAPE_CASES_MAX; k++) {
    free(atomic_load_explicit(&cache->at[k], memory_order_relaxed));
    atomic_store_explicit(&cache->at[k], NULL, memory_order_relaxed);
  }
}
