/* SPDX-License-Identifier: BSD-3-Clause */
/* host-shim/onnxruntime/shape_cache.c alone: a case answers for inputs that are the same in all that shapes follow
 * from, and for no others. */
#include "onnxruntime/shape_cache.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define INPUTS 3
#define OUTPUTS 2
#define THREADS 8

static const DLDataType float32 = {kDLFloat, 32, 1};
static const DLDataType int64 = {kDLInt, 64, 1};

/* Inputs as of a Reshape: a matrix on the device, two values on the host, and one that is absent. */
typedef struct inputs {
  int64_t matrix_dims[2], value_dims[1], value[2];
  DLTensor matrix, host;
  const DLTensor *views[INPUTS];
} inputs;

static void inputs_make(inputs *out) {
  *out = (inputs){.matrix_dims = {4, 6}, .value_dims = {2}, .value = {8, 3}};
  out->matrix = (DLTensor){.data = (void *)(uintptr_t)0x1000,
                           .device = {kDLVulkan, 0},
                           .ndim = 2,
                           .dtype = float32,
                           .shape = out->matrix_dims};
  out->host =
      (DLTensor){.data = out->value, .device = {kDLCPU, 0}, .ndim = 1, .dtype = int64, .shape = out->value_dims};
  out->views[0] = &out->matrix;
  out->views[1] = &out->host;
}

static void keep(leati_shape_cache *cache, const inputs *in, int64_t mark) {
  const leat_shape shapes[OUTPUTS] = {
      {.struct_size = sizeof(leat_shape), .ndim = 2, .dtype = float32, .dims = {mark, 3}},
      {.struct_size = sizeof(leat_shape), .ndim = 0, .dtype = int64},
  };
  leati_shape_cache_add(cache, INPUTS, in->views, OUTPUTS, shapes);
}

/* The mark of the case that answers, or -1. */
static int64_t find(const leati_shape_cache *cache, const inputs *in) {
  leat_shape found[OUTPUTS];
  return leati_shape_cache_find(cache, INPUTS, in->views, OUTPUTS, found) ? found[0].dims[0] : -1;
}

static void test_same_inputs_are_answered(void **state) {
  (void)state;
  leati_shape_cache cache;
  leati_shape_cache_begin(&cache);
  inputs first, second;
  inputs_make(&first);
  inputs_make(&second);
  assert_int_equal(find(&cache, &first), -1);
  keep(&cache, &first, 8);
  /* Nothing is left that points to what the caller gave. */
  memset(&first, 0xff, sizeof(first));
  second.matrix.data = (void *)(uintptr_t)0x2000;
  leat_shape found[OUTPUTS];
  assert_true(leati_shape_cache_find(&cache, INPUTS, second.views, OUTPUTS, found));
  assert_int_equal(found[0].ndim, 2);
  assert_memory_equal(&found[0].dtype, &float32, sizeof(float32));
  assert_int_equal(found[0].dims[0], 8);
  assert_int_equal(found[0].dims[1], 3);
  assert_int_equal(found[1].ndim, 0);
  assert_memory_equal(&found[1].dtype, &int64, sizeof(int64));
  leati_shape_cache_clear(&cache);
  assert_int_equal(find(&cache, &second), -1);
}

static void test_any_difference_is_noticed(void **state) {
  (void)state;
  leati_shape_cache cache;
  leati_shape_cache_begin(&cache);
  inputs in;
  inputs_make(&in);
  keep(&cache, &in, 8);

  for (int d = 0; d < 2; ++d) {
    in.matrix_dims[d] ^= 1;
    assert_int_equal(find(&cache, &in), -1);
    in.matrix_dims[d] ^= 1;
    in.value[d] ^= 1;
    assert_int_equal(find(&cache, &in), -1);
    in.value[d] ^= 1;
  }
  in.matrix.ndim = 1;
  assert_int_equal(find(&cache, &in), -1);
  in.matrix.ndim = 2;
  const DLDataType others[] = {{kDLInt, 32, 1}, {kDLFloat, 16, 1}, {kDLFloat, 32, 2}};
  for (int i = 0; i < 3; ++i) {
    in.matrix.dtype = others[i];
    assert_int_equal(find(&cache, &in), -1);
  }
  in.matrix.dtype = float32;
  in.value_dims[0] = 1;
  assert_int_equal(find(&cache, &in), -1);
  in.value_dims[0] = 2;
  in.host.data = NULL;
  assert_int_equal(find(&cache, &in), -1);
  in.host.data = in.value;
  in.views[1] = NULL;
  assert_int_equal(find(&cache, &in), -1);
  in.views[1] = &in.host;
  in.views[2] = &in.host;
  assert_int_equal(find(&cache, &in), -1);
  in.views[2] = NULL;
  assert_int_equal(find(&cache, &in), 8);
  leati_shape_cache_clear(&cache);
}

/* One that is found again and again stays while others come and go. */
static void test_cases_are_bounded(void **state) {
  (void)state;
  leati_shape_cache cache;
  leati_shape_cache_begin(&cache);
  inputs in;
  inputs_make(&in);
  in.value[0] = -1;
  keep(&cache, &in, 77);
  for (int64_t i = 0; i < 4000; ++i) {
    in.value[0] = i;
    keep(&cache, &in, i);
    assert_int_equal(find(&cache, &in), i);
    in.value[0] = -1;
    assert_int_equal(find(&cache, &in), 77);
    assert_true(cache.table.bytes <= LEATI_SHAPE_CASES_BYTES);
  }
  assert_in_range(cache.table.count, 100, 1000);
  in.value[0] = 0;
  assert_int_equal(find(&cache, &in), -1);
  leati_shape_cache_clear(&cache);
}

static void test_values_are_bounded(void **state) {
  (void)state;
  const int64_t most = LEATI_SHAPE_VALUES_MAX / (int64_t)sizeof(int64_t);
  int64_t value[LEATI_SHAPE_VALUES_MAX / sizeof(int64_t) + 1];
  for (int64_t i = 0; i <= most; ++i) {
    value[i] = i;
  }
  const struct {
    int64_t first, second; /* elements of the two values */
    bool kept;
  } cases[] = {{most, 0, true}, {most + 1, 0, false}, {most - 1, 1, true}, {most, 1, false}, {INT64_MAX, 0, false}};
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    leati_shape_cache cache;
    leati_shape_cache_begin(&cache);
    inputs in;
    inputs_make(&in);
    int64_t second_dims[] = {cases[i].second};
    DLTensor second = in.host;
    in.host.data = value;
    second.data = &value[most];
    second.shape = second_dims;
    in.value_dims[0] = cases[i].first;
    in.views[2] = &second;
    keep(&cache, &in, 8);
    assert_int_equal(find(&cache, &in), cases[i].kept ? 8 : -1);
    leati_shape_cache_clear(&cache);
  }
}

/* Looks for cases of its own and for one that all have, and adds what it does not find; there is not room for all. */
static void *use(void *shared) {
  static _Atomic(int64_t) number;
  const int64_t own = atomic_fetch_add(&number, 1);
  uintptr_t wrong = 0;
  for (int64_t i = 0; i < 2000; ++i) {
    inputs in;
    inputs_make(&in);
    in.value[0] = i % 2 == 0 ? own + i * THREADS : -2;
    const int64_t found = find(shared, &in);
    wrong += found != -1 && found != in.value[0];
    if (found == -1) {
      keep(shared, &in, in.value[0]);
    }
  }
  return (void *)wrong;
}

static void test_threads(void **state) {
  (void)state;
  leati_shape_cache cache;
  leati_shape_cache_begin(&cache);
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    assert_int_equal(pthread_create(&threads[i], NULL, use, &cache), 0);
  }
  for (int i = 0; i < THREADS; ++i) {
    void *wrong = NULL;
    assert_int_equal(pthread_join(threads[i], &wrong), 0);
    assert_null(wrong);
  }
  leati_shape_cache_clear(&cache);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_same_inputs_are_answered),
      cmocka_unit_test(test_any_difference_is_noticed),
      cmocka_unit_test(test_cases_are_bounded),
      cmocka_unit_test(test_values_are_bounded),
      cmocka_unit_test(test_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
