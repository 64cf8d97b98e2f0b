/* SPDX-License-Identifier: BSD-3-Clause */
#include "shape_cache.h"

#include <stdlib.h>
#include <string.h>

#include "common/hash.h"

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
typedef struct shape_case {
  leati_lru_entry entry;
  const leat_shape *shapes;
  const known_input *inputs;
} shape_case;

/* The threads that look, at any node: they are done in no time. */
static leati_lru_readers readers;

/* A number of this thread. */
static uint32_t thread_number(void) {
  static _Thread_local char own;
  return (uint32_t)leati_hash_word(0, (uintptr_t)&own);
}

static bool same_dims(const int64_t *a, const int64_t *b, int32_t count) {
  int32_t i = 0;
  while (i < count && a[i] == b[i]) {
    i++;
  }
  return i == count;
}

static bool same_value(const known_input *known, const void *data) {
  return known->value_size == 0 || (data != NULL && memcmp(data, known->value, known->value_size) == 0);
}

static bool fits(const known_input *known, const DLTensor *input) {
  if (input == NULL || !known->present) {
    return input == NULL && !known->present;
  }
  return input->ndim == known->ndim && memcmp(&input->dtype, &known->dtype, sizeof(known->dtype)) == 0 &&
         same_dims(input->shape, known->dims, known->ndim) && same_value(known, input->data);
}

/* Bytes of the value of an input on the host; more than LEATI_SHAPE_VALUES_MAX stand for themselves and for more. */
static size_t value_size(const DLTensor *input) {
  if (input == NULL || input->device.device_type != kDLCPU) {
    return 0;
  }
  size_t size = (input->dtype.bits * input->dtype.lanes + 7u) / 8u;
  for (int32_t d = 0; d < input->ndim; ++d) {
    if (__builtin_mul_overflow(size, (size_t)input->shape[d], &size)) {
      return SIZE_MAX;
    }
  }
  return size;
}

/* Bytes of all values on the host; LEATI_SHAPE_VALUES_MAX + 1: too many. */
static size_t values_size(uint32_t input_count, const DLTensor *const *inputs) {
  size_t all = 0;
  for (uint32_t i = 0; i < input_count; ++i) {
    const size_t size = value_size(inputs[i]);
    if (size > LEATI_SHAPE_VALUES_MAX - all) {
      return LEATI_SHAPE_VALUES_MAX + 1;
    }
    all += size;
  }
  return all;
}

/* The hash of all that shapes follow from. */
static uint64_t hash_of(uint32_t input_count, const DLTensor *const *inputs) {
  uint64_t hash = 0;
  for (uint32_t i = 0; i < input_count; ++i) {
    const DLTensor *input = inputs[i];
    hash = leati_hash_word(hash, input != NULL ? 1 + (uint64_t)input->ndim : 0);
    for (int32_t d = 0; input != NULL && d < input->ndim; ++d) {
      hash = leati_hash_word(hash, (uint64_t)input->shape[d]);
    }
    const size_t size = value_size(input);
    if (size != 0 && input->data != NULL) {
      hash = leati_hash_bytes(hash, input->data, size);
    }
  }
  return hash;
}

/* For a thread that is counted in, or adds. */
static leati_lru_entry *find(const leati_shape_cache *cache, uint64_t hash, uint32_t input_count,
                             const DLTensor *const *inputs) {
  leati_lru_entry *at = leati_lru_first(&cache->table, hash);
  bool found = false;
  while (at != NULL && !found) {
    const known_input *known = ((const shape_case *)at)->inputs;
    uint32_t i = 0;
    while (at->hash == hash && i < input_count && fits(&known[i], inputs[i])) {
      i++;
    }
    found = at->hash == hash && i == input_count;
    at = found ? at : leati_lru_next(at);
  }
  return at;
}

static void free_case(void *owner, leati_lru_entry *entry) {
  (void)owner;
  free(entry);
}

void leati_shape_cache_begin(leati_shape_cache *cache) {
  *cache = (leati_shape_cache){0};
  leati_lru_begin(&cache->table, cache->buckets, LEATI_SHAPE_BUCKETS, LEATI_SHAPE_CASES_BYTES, free_case, NULL);
}

bool leati_shape_cache_find(const leati_shape_cache *cache, uint32_t input_count, const DLTensor *const *inputs,
                            uint32_t output_count, leat_shape *shapes) {
  if (values_size(input_count, inputs) > LEATI_SHAPE_VALUES_MAX) {
    return false;
  }
  const uint64_t hash = hash_of(input_count, inputs);
  leati_lru_counter *counter = leati_lru_enter(&readers, thread_number());
  leati_lru_entry *found = find(cache, hash, input_count, inputs);
  if (found != NULL) {
    leati_lru_use(&cache->table, found);
    memcpy(shapes, ((const shape_case *)found)->shapes, output_count * sizeof(*shapes));
  }
  leati_lru_leave(counter);
  return found;
}

static shape_case *make_case(uint32_t input_count, const DLTensor *const *inputs, uint32_t output_count,
                             const leat_shape *shapes, size_t values) {
  const size_t inputs_size = input_count * sizeof(known_input), shapes_size = output_count * sizeof(leat_shape);
  const size_t size = sizeof(shape_case) + inputs_size + shapes_size + values;
  shape_case *made = calloc(1, size);
  if (made == NULL) {
    return NULL;
  }
  known_input *known = (known_input *)(void *)(made + 1);
  leat_shape *kept = (leat_shape *)(void *)(known + input_count);
  unsigned char *value = (unsigned char *)(kept + output_count);
  made->shapes = kept;
  made->inputs = known;
  made->entry.hash = hash_of(input_count, inputs);
  made->entry.bytes = size;
  memcpy(kept, shapes, shapes_size);
  for (uint32_t i = 0; i < input_count; ++i) {
    const DLTensor *input = inputs[i];
    if (input == NULL) {
      continue;
    }
    known[i] = (known_input){
        .present = true, .ndim = input->ndim, .dtype = input->dtype, .value_size = value_size(input), .value = value};
    for (int32_t d = 0; d < input->ndim; ++d) {
      known[i].dims[d] = input->shape[d];
    }
    if (known[i].value_size != 0) {
      memcpy(value, input->data, known[i].value_size);
      value += known[i].value_size;
    }
  }
  return made;
}

void leati_shape_cache_add(leati_shape_cache *cache, uint32_t input_count, const DLTensor *const *inputs,
                           uint32_t output_count, const leat_shape *shapes) {
  const size_t values = values_size(input_count, inputs);
  if (values > LEATI_SHAPE_VALUES_MAX || atomic_exchange_explicit(&cache->adding, true, memory_order_acquire)) {
    return;
  }
  leati_lru_entry *unused = leati_lru_collect(&cache->table, &readers);
  /* Another thread may have added the same. */
  if (find(cache, hash_of(input_count, inputs), input_count, inputs) == NULL) {
    shape_case *made = make_case(input_count, inputs, output_count, shapes, values);
    if (made != NULL && !leati_lru_add(&cache->table, &made->entry)) {
      free(made);
    }
  }
  atomic_store_explicit(&cache->adding, false, memory_order_release);
  leati_lru_free_all(&cache->table, unused);
}

void leati_shape_cache_clear(leati_shape_cache *cache) {
  leati_lru_clear(&cache->table);
}
