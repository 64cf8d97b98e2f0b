/* SPDX-License-Identifier: BSD-3-Clause */
/* The element types of the ABI as the plugin knows them (plugin/memory/tensor.c): all by name, and tensors of those
 * alone whose elements kernels and copies know to read. What is not held is refused by name wherever it is given. */
#include "unit_fixture.h"

#include <math.h>
#include <string.h>

#include "memory/tensor.h"

/* Types of ONNX that are not all held, by the names that messages have for them. */
static const struct {
  uint64_t type;
  DLDataType dtype;
  const char *name;
} small[] = {
    {LEAT_TYPE_FLOAT8E4M3FN, {LEAT_DL_FLOAT8_E4M3FN, 8, 1}, "float8e4m3fn"},
    {LEAT_TYPE_FLOAT8E4M3FNUZ, {LEAT_DL_FLOAT8_E4M3FNUZ, 8, 1}, "float8e4m3fnuz"},
    {LEAT_TYPE_FLOAT8E5M2, {LEAT_DL_FLOAT8_E5M2, 8, 1}, "float8e5m2"},
    {LEAT_TYPE_FLOAT8E5M2FNUZ, {LEAT_DL_FLOAT8_E5M2FNUZ, 8, 1}, "float8e5m2fnuz"},
    {LEAT_TYPE_FLOAT8E8M0, {LEAT_DL_FLOAT8_E8M0FNU, 8, 1}, "float8e8m0"},
    {LEAT_TYPE_FLOAT4E2M1, {LEAT_DL_FLOAT4_E2M1FN, 4, 1}, "float4e2m1"},
    {LEAT_TYPE_INT4, {kDLInt, 4, 1}, "int4"},
    {LEAT_TYPE_UINT4, {kDLUInt, 4, 1}, "uint4"},
    {LEAT_TYPE_INT2, {kDLInt, 2, 1}, "int2"},
    {LEAT_TYPE_UINT2, {kDLUInt, 2, 1}, "uint2"},
};

/* The next one that the plugin holds no tensors of; false: there is none. */
static bool next_not_held(size_t *i) {
  while (*i < sizeof(small) / sizeof(small[0]) && (small[*i].type & LEATI_TYPES_HELD) != 0) {
    ++*i;
  }
  return *i < sizeof(small) / sizeof(small[0]);
}

/* The call says NOT_SUPPORTED and the name. */
static void assert_refused(int32_t status, const leat_error *err, const char *name) {
  if (status != LEAT_ERROR_NOT_SUPPORTED || strstr(err->message, name) == NULL) {
    fail_msg("%s: status %d: %s", name, (int)status, err->message);
  }
}

static void test_every_type_is_known(void **state) {
  (void)state;
  for (uint64_t type = LEAT_TYPE_FLOAT32; type <= LEAT_TYPE_UINT2; type <<= 1) {
    const DLDataType dtype = leati_dtype_of(type);
    assert_int_equal(leati_type_of(dtype), type);
    assert_string_not_equal(leati_type_name(type), "an unknown type");
    const bool held = (type & LEATI_TYPES_HELD) != 0;
    assert_int_equal(leati_type_size(type), held ? dtype.bits / 8 : 0);
    assert_false(held && dtype.bits % 8 != 0);
  }
  for (size_t i = 0; i < sizeof(small) / sizeof(small[0]); ++i) {
    assert_int_equal(leati_type_of(small[i].dtype), small[i].type);
    assert_string_equal(leati_type_name(small[i].type), small[i].name);
  }
  assert_int_equal(leati_type_of((DLDataType){kDLInt, 3, 1}), 0);
  assert_int_equal(leati_type_of((DLDataType){LEAT_DL_FLOAT4_E2M1FN, 8, 1}), 0);
}

static void test_views_are_refused_by_name(void **state) {
  (void)state;
  uint8_t bytes[4] = {0};
  int64_t shape[1] = {3};
  for (size_t i = 0; next_not_held(&i); ++i) {
    leat_error err = {.struct_size = sizeof(err)};
    leati_view view;
    const DLTensor tensor = {.data = bytes, .device = {kDLCPU, 0}, .ndim = 1, .dtype = small[i].dtype, .shape = shape};
    assert_refused(leati_view_import_host(&tensor, "the view", &view, &err), &err, small[i].name);
    assert_refused(leati_view_import_shape(&tensor, "the view", &view, &err), &err, small[i].name);
  }
}

static void test_copies_are_refused_by_name(void **state) {
  fixture *const f = fixture_of(state);
  leat_stream *stream = NULL;
  uint64_t address = 0;
  uint8_t bytes[8] = {0};
  int64_t shape[1] = {3};
  assert_ok(f->api->stream->create(f->device, 0, &stream, &err));
  assert_ok(f->api->memory->alloc(f->device, sizeof(bytes), stream, &address, &err));
  for (size_t i = 0; next_not_held(&i); ++i) {
    leat_error err = {.struct_size = sizeof(err)};
    DLManagedTensorVersioned *managed = NULL;
    const DLTensor host = {.data = bytes, .device = {kDLCPU, 0}, .ndim = 1, .dtype = small[i].dtype, .shape = shape};
    DLTensor device = host;
    device.device.device_type = kDLVulkan;
    device.data = (void *)(uintptr_t)address;
    assert_refused(f->api->memory->copy(stream, &host, &device, &err), &err, small[i].name);
    assert_refused(f->api->memory->copy(stream, &device, &host, &err), &err, small[i].name);
    assert_refused(f->api->memory->export_dlpack(stream, &device, NULL, &managed, &err), &err, small[i].name);
  }
  assert_ok(f->api->memory->free(f->device, address, &err));
  assert_ok(f->api->stream->destroy(stream, &err));
}

/* An Identity of one input, with one attribute, as supports() answers it. */
static int32_t ask(const fixture *f, DLDataType dtype, const leat_attribute *attribute, leat_error *err) {
  static const int64_t shape[1] = {3};
  const leat_value_info info = {.struct_size = sizeof(info), .ndim = 1, .dtype = dtype, .shape = shape};
  const leat_value_info *const inputs[1] = {&info};
  const leat_op_desc desc = {.struct_size = sizeof(desc),
                             .since_version = 13,
                             .name = "Identity",
                             .attribute_count = attribute != NULL ? 1 : 0,
                             .input_count = 1,
                             .output_count = 1,
                             .attributes = &attribute,
                             .inputs = inputs};
  return f->api->op->supports(f->device, &desc, err);
}

static void test_operators_refuse_by_name(void **state) {
  const fixture *const f = fixture_of(state);
  const DLDataType float32 = {kDLFloat, 32, 1};
  leat_error err = {.struct_size = sizeof(err)};
  for (size_t i = 0; next_not_held(&i); ++i) {
    assert_refused(ask(f, small[i].dtype, NULL, &err), &err, small[i].name);
  }
  /* A body says what an operator does: it is not taken for an attribute without meaning. */
  leat_attribute attribute = {
      .struct_size = sizeof(attribute), .type = LEAT_ATTRIBUTE_GRAPH, .name = "then_branch", .graph = NULL};
  assert_refused(ask(f, float32, &attribute, &err), &err, "then_branch");
  attribute.type = LEAT_ATTRIBUTE_STRINGS;
  attribute.name = "activations";
  assert_int_equal(ask(f, float32, &attribute, &err), LEAT_OK);
}

/* An attribute of another type is told by the names of both. */
static void test_attribute_types_are_named(void **state) {
  const fixture *const f = fixture_of(state);
  static const int64_t shape[2] = {2, 3};
  static const char *const words[1] = {"0"};
  static const uint64_t lengths[1] = {1};
  const leat_value_info info = {.struct_size = sizeof(info), .ndim = 2, .dtype = {kDLFloat, 32, 1}, .shape = shape};
  const leat_value_info *const inputs[1] = {&info};
  const leat_attribute perm = {.struct_size = sizeof(perm),
                               .type = LEAT_ATTRIBUTE_STRINGS,
                               .name = "perm",
                               .count = 1,
                               .strings = words,
                               .lengths = lengths};
  const leat_attribute *const attributes[1] = {&perm};
  const leat_op_desc desc = {.struct_size = sizeof(desc),
                             .since_version = 13,
                             .name = "Transpose",
                             .attribute_count = 1,
                             .input_count = 1,
                             .output_count = 1,
                             .attributes = attributes,
                             .inputs = inputs};
  leat_error err = {.struct_size = sizeof(err)};
  assert_int_equal(f->api->op->supports(f->device, &desc, &err), LEAT_ERROR_INVALID_ARGUMENT);
  assert_non_null(strstr(err.message, "'perm' has type 7 (STRINGS); expected INTS"));
}

/* Shapes at the limits: 2^56 elements, where a size of 0 counts as 1, and LEAT_MAX_RANK dimensions. */
static void test_shapes_have_limits(void **state) {
  (void)state;
  const int64_t large = INT64_C(1) << 28;
  const struct {
    int64_t shape[LEAT_MAX_RANK + 1];
    int32_t ndim;
    const char *refused; /* a word of the message; NULL: it is allowed */
  } rows[] = {
      {{large, large}, 2, NULL},
      {{large, 0, large}, 3, NULL},
      {{large, 2 * large}, 2, "more elements"},
      {{large, 0, 2 * large}, 3, "more elements"},
      /* 2^66, of which 64 bits leave 0, and 2^64 + 2^33. */
      {{32 * large, 32 * large}, 2, "more elements"},
      {{(INT64_C(1) << 31) + 1, INT64_C(1) << 33}, 2, "more elements"},
      {{INT64_MAX}, 1, "more elements"},
      {{2, -1}, 2, "size -1 in dimension 1"},
      {{1}, LEAT_MAX_RANK + 1, "rank"},
      {{1}, -1, "rank"},
  };
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    leat_error err = {.struct_size = sizeof(err)};
    leati_view view;
    const int32_t status =
        leati_view_of_shape(leati_dtype_of(LEAT_TYPE_FLOAT32), rows[i].ndim, rows[i].shape, "the view", &view, &err);
    if (rows[i].refused == NULL) {
      assert_int_equal(status, LEAT_OK);
      assert_true(view.present);
      assert_int_equal(view.ndim, rows[i].ndim);
      assert_memory_equal(view.shape, rows[i].shape, sizeof(view.shape[0]) * (size_t)rows[i].ndim);
    } else if (status != LEAT_ERROR_INVALID_ARGUMENT || strstr(err.message, rows[i].refused) == NULL) {
      fail_msg("row %zu: status %d: %s", i, (int)status, err.message);
    }
  }
  leat_error err = {.struct_size = sizeof(err)};
  leati_view view;
  assert_int_equal(leati_view_of_shape(leati_dtype_of(LEAT_TYPE_FLOAT32), 1, NULL, "the view", &view, &err),
                   LEAT_ERROR_INVALID_ARGUMENT);
  assert_non_null(strstr(err.message, "NULL shape"));
}

/* Bits of numbers as IEEE 754 and bfloat16, the upper half of a float32, have them: normal, below normal, the largest,
 * signed zero, infinite and none. */
static void test_numbers_are_read(void **state) {
  (void)state;
  static const struct {
    uint64_t type;
    uint16_t bits;
    float value;
  } rows[] = {
      {LEAT_TYPE_FLOAT16, 0x3c01, 0x1.004p0f}, {LEAT_TYPE_FLOAT16, 0xc500, -5.0f},
      {LEAT_TYPE_FLOAT16, 0x0001, 0x1p-24f},   {LEAT_TYPE_FLOAT16, 0x83ff, -0x1.ff8p-15f},
      {LEAT_TYPE_FLOAT16, 0x0400, 0x1p-14f},   {LEAT_TYPE_FLOAT16, 0x7bff, 65504.0f},
      {LEAT_TYPE_FLOAT16, 0xfc00, -INFINITY},  {LEAT_TYPE_FLOAT16, 0x8000, -0.0f},
      {LEAT_TYPE_BFLOAT16, 0x3f81, 0x1.02p0f}, {LEAT_TYPE_BFLOAT16, 0xc0a0, -5.0f},
      {LEAT_TYPE_BFLOAT16, 0x0001, 0x1p-133f}, {LEAT_TYPE_BFLOAT16, 0x7f7f, 0x1.fep127f},
      {LEAT_TYPE_BFLOAT16, 0xff80, -INFINITY}, {LEAT_TYPE_BFLOAT16, 0x8000, -0.0f},
  };
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    const float value = leati_real_of(rows[i].type, &rows[i].bits);
    assert_memory_equal(&value, &rows[i].value, sizeof(value));
  }
  const float single = -0x1.234568p-20f, read = leati_real_of(LEAT_TYPE_FLOAT32, &single);
  assert_memory_equal(&read, &single, sizeof(read));
  assert_true(isnan(leati_real_of(LEAT_TYPE_FLOAT16, &(uint16_t){0x7c01})));
  assert_true(isnan(leati_real_of(LEAT_TYPE_BFLOAT16, &(uint16_t){0x7f81})));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_type_is_known),        cmocka_unit_test(test_views_are_refused_by_name),
      cmocka_unit_test(test_copies_are_refused_by_name), cmocka_unit_test(test_operators_refuse_by_name),
      cmocka_unit_test(test_attribute_types_are_named),  cmocka_unit_test(test_numbers_are_read),
      cmocka_unit_test(test_shapes_have_limits),
  };
  return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
