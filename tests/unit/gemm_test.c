/* SPDX-License-Identifier: BSD-3-Clause */
/* Which kernel a product has, on made-up devices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first. */
#include <cmocka.h>
#include <leat/backend.h>
#include <string.h>

#include "device/device.h"
#include "ops/product/gemm.h"

static const leati_physical physical = {.subgroup_size = 32};
static const leat_device plain = {
    .physical = &physical,
    .traits = {.discrete = true, .cores = 16, .processors = 128, .threads = 1024, .tuning = LEATI_TUNING_STANDARD}};

/* That of a product of compact matrices that begin at a multiple of 16 bytes. */
static leati_pipeline_key pipeline_of(const leat_device *device, uint64_t type, int64_t m, int64_t n, int64_t k,
                                      bool gated) {
  const uint32_t size = type == LEAT_TYPE_FLOAT32 ? 4 : 2;
  const leati_view a = {.type = type, .item_size = size, .count = (uint64_t)(m * k), .ndim = 2, .shape = {m, k}};
  const leati_view b = {.type = type, .item_size = size, .count = (uint64_t)(k * n), .ndim = 2, .shape = {k, n}};
  const leati_view c = {.type = type, .item_size = size, .count = (uint64_t)(m * n), .ndim = 2, .shape = {m, n}};
  const leati_view gate = {.type = type, .item_size = size, .count = (uint64_t)k, .ndim = 1, .shape = {k}};
  const leati_gemm gemm = {.a = &a,
                           .b = &b,
                           .c = &c,
                           .gate = gated ? &gate : NULL,
                           .m = m,
                           .n = n,
                           .k = k,
                           .a_row = k,
                           .a_k = 1,
                           .b_k = n,
                           .b_column = 1,
                           .bias_period = 1,
                           .alpha = 1};
  leati_gemm_config laid;
  leati_gemm_select(device, &gemm, &laid);
  const bool few = laid.pipeline.kernel == leati_kernel_find(LEATI_KERNELS_GEMV, type);
  assert_int_equal(laid.skinny, few);
  assert_int_equal(laid.transposed, few && n < m);
  return laid.pipeline;
}

static leati_kernel kernel_of(const leat_device *device, uint64_t type, int64_t m, int64_t n, int64_t k, bool gated) {
  return pipeline_of(device, type, m, n, k, gated).kernel;
}

static bool goes_to_few(const leat_device *device, uint64_t type, int64_t m, int64_t n, int64_t k) {
  return kernel_of(device, type, m, n, k, false) == leati_kernel_find(LEATI_KERNELS_GEMV, type);
}

/* Whether it is of matrix hardware. */
static bool goes_to_matrices(const leat_device *device, uint64_t type, int64_t m, int64_t n, int64_t k, bool gated) {
  return strcmp(leati_kernel_codes[kernel_of(device, type, m, n, k, gated)].source, "gemm_matrix.comp") == 0;
}

static bool has_kernels_of(uint64_t type) {
  return leati_kernel_find(LEATI_KERNELS_GEMM_MATRIX_128, type) != LEATI_KERNEL_NONE;
}

static void few_rows_go_to_their_kernel_where_there_are_no_matrices(void **state) {
  static const uint64_t types[] = {LEAT_TYPE_FLOAT32, LEAT_TYPE_FLOAT16, LEAT_TYPE_BFLOAT16};
  (void)state;
  for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); ++i) {
    assert_true(goes_to_few(&plain, types[i], LEATI_GEMV_ROWS, 1024, 1024));
    assert_true(goes_to_few(&plain, types[i], 1024, LEATI_GEMV_ROWS, 1024));
    assert_false(goes_to_few(&plain, types[i], LEATI_GEMV_ROWS + 1, 1024, 1024));
    assert_false(goes_to_matrices(&plain, types[i], 1024, 1024, 1024, false));
  }
}

/* Of a type that the device multiplies matrices of. `other`: one that it does not. */
static void check_matrices(const leat_device *device, uint64_t type, uint64_t other) {
  const int64_t few = LEATI_MATRIX_GEMV_ROWS;
  assert_true(goes_to_few(device, type, few, 1024, 1024));
  assert_true(goes_to_few(device, type, 1024, few, 1024));
  assert_true(goes_to_matrices(device, type, few + 1, 1024, 1024, false));
  assert_true(goes_to_matrices(device, type, 1024, few + 1, 1024, false));
  /* The larger operand, of which elements are read by fours: b where rows are few, a where columns are. */
  assert_true(goes_to_few(device, type, few + 1, 1023, 1024));
  assert_true(goes_to_matrices(device, type, few + 1, 1024, 1023, false));
  assert_true(goes_to_few(device, type, 1024, few + 1, 1023));
  assert_true(goes_to_matrices(device, type, 1023, few + 1, 1024, false));
  assert_true(goes_to_matrices(device, type, LEATI_GEMV_ROWS + 1, 1023, 1023, false));
  assert_false(goes_to_matrices(device, type, few + 1, 1024, 1024, true));
  assert_true(goes_to_few(device, other, LEATI_GEMV_ROWS, 1024, 1024));
  assert_false(goes_to_matrices(device, other, 1024, 1024, 1024, false));
  assert_true(goes_to_few(device, LEAT_TYPE_FLOAT32, LEATI_GEMV_ROWS, 1024, 1024));
}

static void some_rows_go_to_matrices_where_these_are_read_by_fours(void **state) {
  leat_device halves = plain, bfloats = plain;
  (void)state;
  halves.matrix = bfloats.matrix_bfloat16 = (leati_matrix_shape){.m = 16, .n = 16, .k = 16};
  if (!has_kernels_of(LEAT_TYPE_FLOAT16) && !has_kernels_of(LEAT_TYPE_BFLOAT16)) {
    skip(); /* there is no glslc for them */
  }
  if (has_kernels_of(LEAT_TYPE_FLOAT16)) {
    check_matrices(&halves, LEAT_TYPE_FLOAT16, LEAT_TYPE_BFLOAT16);
  }
  if (has_kernels_of(LEAT_TYPE_BFLOAT16)) {
    check_matrices(&bfloats, LEAT_TYPE_BFLOAT16, LEAT_TYPE_FLOAT16);
  }
}

/* The constant WIDE of a product. */
static uint32_t width_of(const leat_device *device, uint64_t type, int64_t m, int64_t n, int64_t k) {
  return pipeline_of(device, type, m, n, k, false).constants.gemm_matrix.wide;
}

/* Eights are read where an operand has some, and not where there are none if half of a tile has none. */
static void eights_are_read_where_there_are_some(void **state) {
  leat_device device = plain;
  (void)state;
  device.matrix = (leati_matrix_shape){.m = 16, .n = 16, .k = 16};
  if (!has_kernels_of(LEAT_TYPE_FLOAT16)) {
    skip(); /* there is no glslc for them */
  }
  /* Of a tile of 16, */
  assert_int_equal(width_of(&device, LEAT_TYPE_FLOAT16, 9, 24, 64), 1 | 2);
  assert_int_equal(width_of(&device, LEAT_TYPE_FLOAT16, 8, 24, 64), 1 | 2 | 4);
  assert_int_equal(width_of(&device, LEAT_TYPE_FLOAT16, 17, 8, 64), 1 | 2 | 8);
  assert_int_equal(width_of(&device, LEAT_TYPE_FLOAT16, 16, 24, 60), 2);
  assert_int_equal(width_of(&device, LEAT_TYPE_FLOAT16, 8, 20, 64), 1 | 4);
  assert_int_equal(width_of(&device, LEAT_TYPE_FLOAT16, 16, 24, 0), 0);
  /* and of 32. */
  const int64_t many = 16 * (int64_t)device.traits.processors * LEATI_MATRIX_FILL_16_QUARTERS / 4 + 16;
  assert_int_equal(width_of(&device, LEAT_TYPE_FLOAT16, 17, many, 64), 1 | 2);
  assert_int_equal(width_of(&device, LEAT_TYPE_FLOAT16, 16, many, 64), 1 | 2 | 4);
}

static void workgroups_have_a_subgroup_for_each_part_of_a_tile(void **state) {
  (void)state;
  for (int shares_k = 0; shares_k < 2; ++shares_k) {
    assert_int_equal(leati_matrix_subgroups(LEATI_TILE_128, shares_k), 128 / 64 * (128 / 64));
    assert_int_equal(leati_matrix_subgroups(LEATI_TILE_64, shares_k), 64 / 32 * (64 / 16));
    assert_int_equal(leati_matrix_subgroups(LEATI_TILE_32, shares_k),
                     32 / 16 * (32 / 16) * (1 + shares_k)); /* K_PARTS */
    assert_int_equal(leati_matrix_subgroups(LEATI_TILE_16, shares_k), 16 / 16 * (16 / 16) * 4);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(few_rows_go_to_their_kernel_where_there_are_no_matrices),
      cmocka_unit_test(some_rows_go_to_matrices_where_these_are_read_by_fours),
      cmocka_unit_test(eights_are_read_where_there_are_some),
      cmocka_unit_test(workgroups_have_a_subgroup_for_each_part_of_a_tile),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
