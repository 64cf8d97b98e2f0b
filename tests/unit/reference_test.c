/* SPDX-License-Identifier: BSD-3-Clause */
/* The CPU reference of the conformance suite against numbers that the ONNX specification prints in its examples. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ops/core/accuracy.h"
#include "ops/core/ref_run.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define INT_ATTRIBUTE(n, v) \
  { .struct_size = sizeof(leat_attribute), .type = LEAT_ATTRIBUTE_INT, .name = n, .i = v }
#define STRING_ATTRIBUTE(n, v)                                                                               \
  {                                                                                                          \
    .struct_size = sizeof(leat_attribute), .type = LEAT_ATTRIBUTE_STRING, .name = n, .count = sizeof(v) - 1, \
    .string = v                                                                                              \
  }
#define INTS_ATTRIBUTE(n, ...)                                                     \
  {                                                                                \
    .struct_size = sizeof(leat_attribute), .type = LEAT_ATTRIBUTE_INTS, .name = n, \
    .count = COUNT(((int64_t[]){__VA_ARGS__})), .ints = (const int64_t[]) {        \
      __VA_ARGS__                                                                  \
    }                                                                              \
  }

static leati_ref_tensor floats(int32_t rank, const int64_t *dims, const double *values) {
  leati_ref_tensor tensor;
  leati_ref_tensor_init(&tensor, LEATI_REF_FLOAT32, rank, dims);
  memcpy(tensor.f, values, sizeof(values[0]) * (size_t)tensor.count);
  return tensor;
}

static leati_ref_tensor ints(int64_t count, const int64_t *values) {
  leati_ref_tensor tensor;
  leati_ref_tensor_init(&tensor, LEATI_REF_INT64, 1, &count);
  memcpy(tensor.i, values, sizeof(values[0]) * (size_t)count);
  return tensor;
}

/* Runs an operator with up to 4 inputs, which it frees; those without elements' memory are absent. */
static leati_ref_node run(const char *name, const leat_attribute *attribute, leati_ref_tensor *inputs, uint32_t count,
                          uint32_t outputs) {
  const leati_ref_tensor *pointers[4];
  for (uint32_t k = 0; k < count; ++k) {
    pointers[k] = inputs[k].f != NULL || inputs[k].i != NULL ? &inputs[k] : NULL;
  }
  leati_ref_node node = {.name = name,
                         .since_version = 18,
                         .attribute_count = attribute != NULL,
                         .attributes = &attribute,
                         .input_count = count,
                         .inputs = pointers,
                         .output_count = outputs};
  if (!leati_ref_run(&node)) {
    fail_msg("%s: %s", name, node.error);
  }
  for (uint32_t k = 0; k < count; ++k) {
    leati_ref_tensor_clear(&inputs[k]);
  }
  return node;
}

static void assert_shape(const leati_ref_tensor *tensor, int32_t rank, const int64_t *dims) {
  assert_int_equal(tensor->rank, rank);
  for (int32_t d = 0; d < rank; ++d) {
    assert_int_equal(tensor->dims[d], dims[d]);
  }
}

static void assert_floats(const leati_ref_tensor *tensor, int32_t rank, const int64_t *dims, const double *values) {
  assert_shape(tensor, rank, dims);
  for (int64_t k = 0; k < tensor->count; ++k) {
    if (!(fabs(tensor->f[k] - values[k]) <= 1e-6)) {
      fail_msg("element %d is %.9g, expected %.9g", (int)k, tensor->f[k], values[k]);
    }
  }
}

#define SHAPE(...)                                                 \
  (int32_t) COUNT(((int64_t[]){__VA_ARGS__})), (const int64_t[]) { \
    __VA_ARGS__                                                    \
  }
#define VALUES(...)  \
  (const double[]) { \
    __VA_ARGS__      \
  }
#define INTS(...) ints((int64_t)COUNT(((int64_t[]){__VA_ARGS__})), (const int64_t[]){__VA_ARGS__})

static void slice_as_in_the_specification(void **state) {
  (void)state;
  leati_ref_tensor first[] = {floats(SHAPE(2, 4), VALUES(1, 2, 3, 4, 5, 6, 7, 8)), INTS(1, 0), INTS(2, 3), INTS(0, 1)};
  leati_ref_node node = run("Slice", NULL, first, 4, 1);
  assert_floats(&node.outputs[0], SHAPE(1, 3), VALUES(5, 6, 7));
  leati_ref_node_clear(&node);
  leati_ref_tensor second[] = {floats(SHAPE(2, 4), VALUES(1, 2, 3, 4, 5, 6, 7, 8)), INTS(0, 1), INTS(-1, 1000)};
  node = run("Slice", NULL, second, 3, 1);
  assert_floats(&node.outputs[0], SHAPE(1, 3), VALUES(2, 3, 4));
  leati_ref_node_clear(&node);
}

static void pad_as_in_the_specification(void **state) {
  (void)state;
  static const struct {
    leat_attribute mode;
    double expected[12];
  } modes[] = {
      {STRING_ATTRIBUTE("mode", "constant"), {0, 0, 1.0, 1.2, 0, 0, 2.3, 3.4, 0, 0, 4.5, 5.7}},
      {STRING_ATTRIBUTE("mode", "edge"), {1.0, 1.0, 1.0, 1.2, 2.3, 2.3, 2.3, 3.4, 4.5, 4.5, 4.5, 5.7}},
      {STRING_ATTRIBUTE("mode", "reflect"), {1.0, 1.2, 1.0, 1.2, 2.3, 3.4, 2.3, 3.4, 4.5, 5.7, 4.5, 5.7}},
  };
  for (size_t k = 0; k < COUNT(modes); ++k) {
    leati_ref_tensor inputs[] = {floats(SHAPE(3, 2), VALUES(1.0, 1.2, 2.3, 3.4, 4.5, 5.7)), INTS(0, 2, 0, 0)};
    leati_ref_node node = run("Pad", &modes[k].mode, inputs, 2, 1);
    assert_floats(&node.outputs[0], SHAPE(3, 4), modes[k].expected);
    leati_ref_node_clear(&node);
  }
  leat_attribute wrap = STRING_ATTRIBUTE("mode", "wrap");
  leati_ref_tensor inputs[] = {floats(SHAPE(3, 2), VALUES(1.0, 1.2, 2.3, 3.4, 4.5, 5.7)), INTS(2, 1, 1, 1)};
  leati_ref_node node = run("Pad", &wrap, inputs, 2, 1);
  assert_floats(&node.outputs[0], SHAPE(6, 4),
                VALUES(3.4, 2.3, 3.4, 2.3, 5.7, 4.5, 5.7, 4.5, 1.2, 1.0, 1.2, 1.0, 3.4, 2.3, 3.4, 2.3, 5.7, 4.5, 5.7,
                       4.5, 1.2, 1.0, 1.2, 1.0));
  leati_ref_node_clear(&node);
}

static void gather_as_in_the_specification(void **state) {
  (void)state;
  leat_attribute axis = INT_ATTRIBUTE("axis", 1);
  leati_ref_tensor inputs[] = {floats(SHAPE(3, 3), VALUES(1.0, 1.2, 1.9, 2.3, 3.4, 3.9, 4.5, 5.7, 5.9)), INTS(0, 2)};
  leati_ref_node node = run("Gather", &axis, inputs, 2, 1);
  assert_floats(&node.outputs[0], SHAPE(3, 2), VALUES(1.0, 1.9, 2.3, 3.9, 4.5, 5.9));
  leati_ref_node_clear(&node);
}

static void gather_reads_zero_outside(void **state) {
  (void)state;
  leati_ref_tensor inputs[] = {floats(SHAPE(2), VALUES(5, 6)), INTS(2, -3, INT64_MAX, INT64_MIN, -1)};
  leati_ref_node node = run("Gather", NULL, inputs, 2, 1);
  assert_floats(&node.outputs[0], SHAPE(5), VALUES(0, 0, 0, 0, 6));
  leati_ref_node_clear(&node);
}

static void conv_as_in_the_specification(void **state) {
  (void)state;
  double x[25];
  double w[9];
  for (int k = 0; k < 25; ++k) {
    x[k] = k;
  }
  for (int k = 0; k < 9; ++k) {
    w[k] = 1;
  }
  leat_attribute pads = INTS_ATTRIBUTE("pads", 1, 1, 1, 1);
  leati_ref_tensor padded[] = {floats(SHAPE(1, 1, 5, 5), x), floats(SHAPE(1, 1, 3, 3), w)};
  leati_ref_node node = run("Conv", &pads, padded, 2, 1);
  assert_floats(&node.outputs[0], SHAPE(1, 1, 5, 5),
                VALUES(12, 21, 27, 33, 24, 33, 54, 63, 72, 51, 63, 99, 108, 117, 81, 93, 144, 153, 162, 111, 72, 111,
                       117, 123, 84));
  leati_ref_node_clear(&node);
  leati_ref_tensor plain[] = {floats(SHAPE(1, 1, 5, 5), x), floats(SHAPE(1, 1, 3, 3), w)};
  node = run("Conv", NULL, plain, 2, 1);
  assert_floats(&node.outputs[0], SHAPE(1, 1, 3, 3), VALUES(54, 63, 72, 99, 108, 117, 144, 153, 162));
  leati_ref_node_clear(&node);
}

static void softmax_as_in_the_specification(void **state) {
  (void)state;
  leati_ref_tensor inputs[] = {floats(SHAPE(1, 3), VALUES(-1, 0, 1))};
  leati_ref_node node = run("Softmax", NULL, inputs, 1, 1);
  assert_floats(&node.outputs[0], SHAPE(1, 3), VALUES(0.09003058, 0.24472848, 0.66524094));
  leati_ref_node_clear(&node);
}

static void resize_as_in_the_specification(void **state) {
  (void)state;
  leati_ref_tensor nearest[] = {
      floats(SHAPE(1, 1, 2, 2), VALUES(1, 2, 3, 4)), {0}, floats(SHAPE(4), VALUES(1, 1, 2, 3))};
  leati_ref_node node = run("Resize", NULL, nearest, 3, 1);
  assert_floats(&node.outputs[0], SHAPE(1, 1, 4, 6),
                VALUES(1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 3, 3, 3, 4, 4, 4));
  leati_ref_node_clear(&node);
  leat_attribute mode = STRING_ATTRIBUTE("mode", "linear");
  leati_ref_tensor linear[] = {
      floats(SHAPE(1, 1, 2, 2), VALUES(1, 2, 3, 4)), {0}, floats(SHAPE(4), VALUES(1, 1, 2, 2))};
  node = run("Resize", &mode, linear, 3, 1);
  assert_floats(&node.outputs[0], SHAPE(1, 1, 4, 4),
                VALUES(1, 1.25, 1.75, 2, 1.5, 1.75, 2.25, 2.5, 2.5, 2.75, 3.25, 3.5, 3, 3.25, 3.75, 4));
  leati_ref_node_clear(&node);
}

static void matmul_follows_numpy(void **state) {
  (void)state;
  leati_ref_tensor vectors[] = {floats(SHAPE(2), VALUES(1, 2)), floats(SHAPE(2, 2, 1), VALUES(3, 4, 5, 6))};
  leati_ref_node node = run("MatMul", NULL, vectors, 2, 1);
  assert_floats(&node.outputs[0], SHAPE(2, 1), VALUES(11, 17));
  leati_ref_node_clear(&node);
}

static void split_leaves_a_smaller_last_part(void **state) {
  (void)state;
  leat_attribute parts = INT_ATTRIBUTE("num_outputs", 4);
  leati_ref_tensor inputs[] = {floats(SHAPE(7), VALUES(1, 2, 3, 4, 5, 6, 7))};
  leati_ref_node node = run("Split", &parts, inputs, 1, 4);
  assert_floats(&node.outputs[0], SHAPE(2), VALUES(1, 2));
  assert_floats(&node.outputs[2], SHAPE(2), VALUES(5, 6));
  assert_floats(&node.outputs[3], SHAPE(1), VALUES(7));
  leati_ref_node_clear(&node);
}

static void reduction_of_nothing_is_the_neutral_number(void **state) {
  (void)state;
  static const struct {
    const char *name;
    double expected;
  } reductions[] = {{"ReduceSum", 0}, {"ReduceMax", -INFINITY}, {"ReduceMin", INFINITY}};
  for (size_t k = 0; k < COUNT(reductions); ++k) {
    leati_ref_tensor inputs[] = {floats(SHAPE(2, 0), VALUES(0)), INTS(1)};
    leati_ref_node node = run(reductions[k].name, NULL, inputs, 2, 1);
    assert_shape(&node.outputs[0], SHAPE(2, 1));
    assert_true(node.outputs[0].f[0] == reductions[k].expected);
    leati_ref_node_clear(&node);
  }
}

static void unknown_operator_is_refused(void **state) {
  (void)state;
  leati_ref_node node = {.name = "NoSuchOperator"};
  assert_false(leati_ref_run(&node));
  assert_non_null(strstr(node.error, "NoSuchOperator"));
}

/* The comparison must see what is wrong: a suite that cannot fail proves nothing. */
static void match_sees_differences(void **state) {
  (void)state;
  leati_ref_tensor expected = floats(SHAPE(4), VALUES(1, NAN, INFINITY, 3e38));
  expected.bound[0] = 0.25;
  expected.bound[3] = 1e38;
  char message[256];
  static const struct {
    float got[4];
    bool agrees;
  } cases[] = {
      {{1.25f, NAN, INFINITY, 3e38f}, true},      {{0.75f, NAN, INFINITY, INFINITY}, true},
      {{1.3f, NAN, INFINITY, 3e38f}, false},      {{NAN, NAN, INFINITY, 3e38f}, false},
      {{1, 0, INFINITY, 3e38f}, false},           {{1, NAN, -INFINITY, 3e38f}, false},
      {{1, NAN, 3.4e38f, 3e38f}, false},          {{1, NAN, INFINITY, -INFINITY}, false},
      {{-INFINITY, NAN, INFINITY, 3e38f}, false},
  };
  for (size_t k = 0; k < COUNT(cases); ++k) {
    assert_int_equal(leati_ref_tensor_match(&expected, cases[k].got, message, sizeof(message)), cases[k].agrees);
    assert_int_equal(message[0] == '\0', cases[k].agrees);
  }
  leati_ref_tensor_clear(&expected);

  leati_ref_tensor flags;
  leati_ref_tensor_init(&flags, LEATI_REF_BOOL, SHAPE(2));
  flags.i[1] = 1;
  assert_true(leati_ref_tensor_match(&flags, (const uint8_t[]){0, 1}, message, sizeof(message)));
  assert_false(leati_ref_tensor_match(&flags, (const uint8_t[]){0, 255}, message, sizeof(message)));
  assert_string_equal(message, "expected 1, got 255 at [1] (1 of 2 elements are wrong)");
  leati_ref_tensor_clear(&flags);
}

static void accuracy_is_of_what_came_nearest_to_its_bound(void **state) {
  (void)state;
  leati_ref_accuracy worst;
  /* One unit of two, three units of 24, and what says nothing: of the last the device may take 0. */
  leati_ref_tensor expected = floats(SHAPE(6), VALUES(1, -3, NAN, INFINITY, 8, 0x1p-140));
  expected.bound[0] = 0x1p-22;
  expected.bound[1] = 24 * 0x1p-22;
  expected.bound[4] = INFINITY;
  expected.bound[5] = 0x1p-126;
  const float got[6] = {1 + 0x1p-23f, -3 + 3 * 0x1p-22f, NAN, INFINITY, 100, 0};
  assert_false(leati_ref_accuracy_take(LEATI_REF_FLOAT32, &worst));
  leati_ref_accuracy_note(&expected, got);
  assert_true(leati_ref_accuracy_take(LEATI_REF_FLOAT32, &worst));
  assert_true(worst.error == 1 && worst.bound == 2);
  assert_false(leati_ref_accuracy_take(LEATI_REF_FLOAT32, &worst));
  leati_ref_tensor_clear(&expected);

  /* Rounding to 16 bits is half a unit, which is 2^-10 of 1, at most. */
  leati_ref_tensor_init(&expected, LEATI_REF_FLOAT16, SHAPE(1));
  expected.f[0] = 1 + 0x1p-12;
  leati_ref_accuracy_note(&expected, (const uint16_t[]){0x3c00});
  assert_true(leati_ref_accuracy_take(LEATI_REF_FLOAT16, &worst));
  assert_true(worst.error == 0.25 && worst.bound == 0.5);

  /* Beyond a power of two a rounded result may be off by half of a larger unit. What is exact has no bound. */
  expected.f[0] = 2 - 0x1p-14;
  expected.bound[0] = 0x1p-10 + 0x1p-13;
  leati_ref_accuracy_note(&expected, (const uint16_t[]){0x4001});
  assert_true(leati_ref_accuracy_take(LEATI_REF_FLOAT16, &worst));
  assert_true(worst.error <= worst.bound);
  expected.f[0] = 1;
  expected.bound[0] = 0;
  leati_ref_accuracy_note(&expected, (const uint16_t[]){0x3c00});
  assert_true(leati_ref_accuracy_take(LEATI_REF_FLOAT16, &worst));
  assert_true(worst.bound == 0);
  leati_ref_tensor_clear(&expected);

  /* Exact results, and then the wider of two bounds. */
  expected = floats(SHAPE(1), VALUES(5));
  leati_ref_accuracy_note(&expected, (const float[]){5});
  assert_true(leati_ref_accuracy_take(LEATI_REF_FLOAT32, &worst));
  assert_true(worst.error == 0 && worst.bound == 0);
  leati_ref_accuracy_note(&expected, (const float[]){5});
  for (int units = 3; units > 0; units -= 2) {
    expected.bound[0] = units * 0x1p-21;
    leati_ref_accuracy_note(&expected, (const float[]){5});
  }
  assert_true(leati_ref_accuracy_take(LEATI_REF_FLOAT32, &worst));
  assert_true(worst.error == 0 && worst.bound == 3);
  leati_ref_tensor_clear(&expected);
}

static void bounds_are_small_and_not_zero(void **state) {
  (void)state;
  double ones[128];
  for (size_t k = 0; k < COUNT(ones); ++k) {
    ones[k] = 1;
  }
  leati_ref_tensor inputs[] = {floats(SHAPE(1, 128), ones), floats(SHAPE(128, 1), ones)};
  leati_ref_node node = run("MatMul", NULL, inputs, 2, 1);
  assert_true(node.outputs[0].f[0] == 128);
  assert_true(node.outputs[0].bound[0] > 0 && node.outputs[0].bound[0] < 0.001);
  leati_ref_node_clear(&node);
}

static void remainder_as_in_the_specification(void **state) {
  (void)state;
  static const int64_t a[] = {-4, 7, 5, 4, -7, 8}, b[] = {2, -3, 8, -2, 3, 5};
  static const int64_t of_divisor[] = {0, -2, 5, 0, 2, 3}, of_dividend[] = {0, 1, 5, 0, -1, 3};
  for (int truncated = 0; truncated <= 1; ++truncated) {
    const leat_attribute fmod_attribute = INT_ATTRIBUTE("fmod", truncated);
    leati_ref_tensor inputs[] = {ints(COUNT(a), a), ints(COUNT(b), b)};
    leati_ref_node node = run("Mod", &fmod_attribute, inputs, 2, 1);
    assert_memory_equal(node.outputs[0].i, truncated ? of_dividend : of_divisor, sizeof(of_divisor));
    leati_ref_node_clear(&node);
  }
}

static void types_round_and_are_stored(void **state) {
  (void)state;
  static const struct {
    leati_ref_type type;
    double value, rounded;
    uint16_t bits;
  } cases[] = {
      {LEATI_REF_FLOAT16, 1.0 / 3, 0x1.554p-2, 0x3555},
      {LEATI_REF_FLOAT16, -2, -2, 0xC000},
      {LEATI_REF_FLOAT16, 65519, 65504, 0x7BFF},
      {LEATI_REF_FLOAT16, 65520, INFINITY, 0x7C00},
      {LEATI_REF_FLOAT16, 2049, 2048, 0x6800},
      {LEATI_REF_FLOAT16, 2051, 2052, 0x6802},
      {LEATI_REF_FLOAT16, 0x1.1p-24, 0x1p-24, 0x0001},
      {LEATI_REF_FLOAT16, -0x1p-25, -0.0, 0x8000},
      {LEATI_REF_FLOAT16, 0x1.ff8p-15, 0x1.ff8p-15, 1023},
      {LEATI_REF_BFLOAT16, 1.0 / 3, 0x1.56p-2, 0x3EAB},
      {LEATI_REF_BFLOAT16, 3.141, 3.140625, 0x4049},
      {LEATI_REF_BFLOAT16, 3.4e38, INFINITY, 0x7F80},
  };
  for (size_t k = 0; k < COUNT(cases); ++k) {
    leati_ref_tensor tensor;
    uint16_t bits;
    leati_ref_tensor_init(&tensor, cases[k].type, SHAPE(1));
    tensor.f[0] = leati_ref_type_round(cases[k].type, cases[k].value);
    assert_true(tensor.f[0] == cases[k].rounded);
    leati_ref_tensor_store(&tensor, &bits);
    assert_int_equal(bits, cases[k].bits);
    tensor.f[0] = 0;
    leati_ref_tensor_load(&tensor, &bits);
    assert_true(tensor.f[0] == cases[k].rounded);
    leati_ref_tensor_clear(&tensor);
  }
  assert_true(leati_ref_type_less(LEATI_REF_INT64, -1, 1));
  assert_true(leati_ref_type_less(LEATI_REF_UINT64, 1, -1));
  assert_int_equal(leati_ref_type_wrap(LEATI_REF_INT16, 40000), -25536);
  assert_int_equal(leati_ref_type_wrap(LEATI_REF_UINT32, -1), 4294967295);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(slice_as_in_the_specification),
      cmocka_unit_test(pad_as_in_the_specification),
      cmocka_unit_test(gather_as_in_the_specification),
      cmocka_unit_test(gather_reads_zero_outside),
      cmocka_unit_test(conv_as_in_the_specification),
      cmocka_unit_test(softmax_as_in_the_specification),
      cmocka_unit_test(resize_as_in_the_specification),
      cmocka_unit_test(matmul_follows_numpy),
      cmocka_unit_test(split_leaves_a_smaller_last_part),
      cmocka_unit_test(reduction_of_nothing_is_the_neutral_number),
      cmocka_unit_test(unknown_operator_is_refused),
      cmocka_unit_test(match_sees_differences),
      cmocka_unit_test(accuracy_is_of_what_came_nearest_to_its_bound),
      cmocka_unit_test(bounds_are_small_and_not_zero),
      cmocka_unit_test(remainder_as_in_the_specification),
      cmocka_unit_test(types_round_and_are_stored),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
