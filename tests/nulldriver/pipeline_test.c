/* SPDX-License-Identifier: BSD-3-Clause */
/* Pipelines on the null driver: one VkPipelineCache behind all of a device's, without which it can do, operators whose
 * kernels it cannot run, programs, which have a pipeline each, threads that want the same one; and how many processors
 * the device is taken to have. */
#include "unit_fixture.h"

#include <string.h>
#include <time.h>

#include "device/device.h"
#include "device/kernel.h"
#include "device/pipeline.h"
#include "nulldriver/blocks.h"

/* Dispatches that the device has reached, and those whose pipeline was created with a cache. */
typedef struct tally {
  uint32_t all, cached;
} tally;

static void compute_and_count(const nulldriver_dispatch *dispatch, void *user) {
  tally *const t = user;
  ++t->all;
  t->cached += dispatch->cached ? 1 : 0;
  host_compute(dispatch, NULL);
}

/* Opens a device, has Relu and a copy computed on it, and closes it. */
static tally run_once(uint32_t expected_caches) {
  static blocks t;
  tally seen = {0};
  open_device();
  assert_int_equal(nulldriver_live(NULLDRIVER_PIPELINE_CACHE), expected_caches);
  nulldriver_set_kernel(compute_and_count, &seen);
  leat_stream *const stream = make_stream();
  take_blocks(&t, stream);
  assert_int_equal(put_run(&t, stream, 5), LEAT_OK);
  assert_ok(h.api->stream->synchronize(stream, &err));
  assert_arrived(&t, 5);
  give_blocks(&t);
  assert_ok(h.api->stream->destroy(stream, &err));
  close_device();
  assert_true(seen.all > 0);
  assert_int_equal(nulldriver_live(NULLDRIVER_PIPELINE_CACHE), 0);
  return seen;
}

static void a_device_compiles_all_with_one_cache(void **state) {
  (void)state;
  for (uint64_t i = 1; i <= 2; ++i) {
    const tally seen = run_once(1);
    assert_int_equal(seen.cached, seen.all);
    assert_int_equal(nulldriver_calls("vkCreatePipelineCache"), i);
  }
}

static void a_device_without_a_cache_computes(void **state) {
  (void)state;
  assert_true(nulldriver_fail("vkCreatePipelineCache", 1, VK_ERROR_OUT_OF_HOST_MEMORY));
  assert_int_equal(run_once(0).cached, 0);
}

/* The description of an operator of one input, a vector, and one output. */
static int32_t ask_for(const char *name, uint32_t since_version, DLDataType dtype, leat_error *said) {
  const int64_t unknown[1] = {-1};
  const leat_value_info vector = {.struct_size = sizeof(vector), .ndim = 1, .dtype = dtype, .shape = unknown};
  const leat_value_info *const inputs[1] = {&vector};
  const leat_op_desc desc = {.struct_size = sizeof(desc),
                             .since_version = since_version,
                             .name = name,
                             .input_count = 1,
                             .output_count = 1,
                             .inputs = inputs};
  leat_op *op = NULL;
  const int32_t status = h.api->op->supports(h.device, &desc, said);
  assert_int_equal(h.api->op->create(h.device, &desc, &op, NULL), status);
  if (op != NULL) {
    assert_ok(h.api->op->destroy(op, &err));
  }
  return status;
}

static void an_operator_is_refused_where_its_kernel_cannot_run(void **state) {
  (void)state;
  const DLDataType int16 = {.code = kDLInt, .bits = 16, .lanes = 1}, int32 = {.code = kDLInt, .bits = 32, .lanes = 1};
  leat_error said = {.struct_size = sizeof(said)};
  open_device();
  /* No device that is usable lacks this one. What is known of devices is found anew for the next test. */
  leati_physical *const physical = (leati_physical *)(uintptr_t)h.device->physical;
  physical->kernel_features &= ~(1u << LEATI_FEATURE_NUMBER_storageBuffer16BitAccess);
  assert_int_equal(ask_for("Neg", 13, int16, &said), LEAT_ERROR_NOT_SUPPORTED);
  assert_non_null(strstr(said.message, "Neg: kernel unary_i16 needs storageBuffer16BitAccess"));
  assert_int_equal(ask_for("Transpose", 13, int16, &said), LEAT_ERROR_NOT_SUPPORTED);
  assert_non_null(strstr(said.message, "Transpose: kernel copy_16 needs storageBuffer16BitAccess"));
  assert_ok(ask_for("Neg", 13, int32, &err));
  physical->kernel_features |= 1u << LEATI_FEATURE_NUMBER_storageBuffer16BitAccess;
  assert_ok(ask_for("Neg", 13, int16, &err));
  assert_int_equal(nulldriver_calls("vkCreateComputePipelines"), 0);
  close_device();
}

/* Runs a program of two steps on a vector, and gives how many pipelines the driver has compiled by then. */
static uint64_t run_program(leat_stream *stream, const char *functions, float constant, int64_t size) {
  const int64_t operands[] = {0, -1, 1, -1};
  const leat_attribute attributes[] = {
      {.struct_size = sizeof(leat_attribute),
       .type = LEAT_ATTRIBUTE_STRING,
       .name = "functions",
       .string = functions,
       .count = strlen(functions)},
      {.struct_size = sizeof(leat_attribute),
       .type = LEAT_ATTRIBUTE_INTS,
       .name = "operands",
       .ints = operands,
       .count = 4},
      {.struct_size = sizeof(leat_attribute),
       .type = LEAT_ATTRIBUTE_FLOATS,
       .name = "constants",
       .floats = &constant,
       .count = 1},
  };
  const leat_attribute *const given[] = {&attributes[0], &attributes[1], &attributes[2]};
  const DLDataType f32 = {.code = kDLFloat, .bits = 32, .lanes = 1};
  const leat_value_info vector = {.struct_size = sizeof(vector), .ndim = 1, .dtype = f32, .shape = &size};
  const leat_value_info *const inputs[1] = {&vector};
  const leat_op_desc desc = {.struct_size = sizeof(desc),
                             .since_version = 1,
                             .name = "Pointwise",
                             .domain = "leat",
                             .attribute_count = 3,
                             .attributes = given,
                             .input_count = 1,
                             .output_count = 1,
                             .inputs = inputs};
  uint64_t blocks_of[2];
  DLTensor tensors[2];
  for (int i = 0; i < 2; ++i) {
    assert_ok(h.api->memory->alloc(h.device, (uint64_t)size * 4, stream, &blocks_of[i], &err));
    tensors[i] = (DLTensor){.data = (void *)(uintptr_t)blocks_of[i],
                            .device = {kDLVulkan, (int)h.device->index},
                            .ndim = 1,
                            .dtype = f32,
                            .shape = &size};
  }
  const DLTensor *const in[1] = {&tensors[0]}, *const out[1] = {&tensors[1]};
  leat_op *op;
  assert_ok(h.api->op->create(h.device, &desc, &op, &err));
  assert_ok(h.api->op->invoke(op, stream, 1, in, 1, out, &err));
  assert_ok(h.api->stream->synchronize(stream, &err));
  assert_ok(h.api->op->destroy(op, &err));
  for (int i = 0; i < 2; ++i) {
    assert_ok(h.api->memory->free(h.device, blocks_of[i], &err));
  }
  return nulldriver_calls("vkCreateComputePipelines");
}

static void a_program_is_compiled_once(void **state) {
  (void)state;
  open_device();
  leat_stream *const stream = make_stream();
  assert_int_equal(run_program(stream, "Mul Add", 2.0f, 12), 1);
  assert_int_equal(run_program(stream, "Mul Add", 3.0f, 5000), 1);
  assert_int_equal(run_program(stream, "Add Mul", 2.0f, 12), 2);
  assert_int_equal(run_program(stream, "Mul Add", 2.0f, 1), 2);
  assert_ok(h.api->stream->destroy(stream, &err));
  close_device();
}

/* A thread that compiles a pipeline, and what it was told. */
typedef struct compiler {
  leati_pipeline_key key;
  int32_t status;
} compiler;

static void *compile_it(void *argument) {
  compiler *const c = argument;
  c->status = leati_pipeline_compile(h.device, &c->key, &(bool){false}, NULL);
  return NULL;
}

/* Starts threads that want one pipeline, of which the first is held in the driver. */
static void start_compilers(compiler *compilers, pthread_t *threads, int wanting) {
  const struct timespec nap = {.tv_nsec = 20000000};
  assert_true(nulldriver_hold("vkCreateComputePipelines"));
  for (int i = 0; i < wanting; ++i) {
    compilers[i] = (compiler){.key = {.kernel = LEATI_KERNEL_UNARY_F32}};
    start_thread(&threads[i], compile_it, &compilers[i]);
    if (i == 0) {
      nulldriver_wait_held();
    }
  }
  /* Those that would compile too do so meanwhile. */
  (void)nanosleep(&nap, NULL);
}

static void threads_compile_what_they_all_want_once(void **state) {
  (void)state;
  enum { WANTING = 4 };
  compiler compilers[WANTING], other = {.key = {.kernel = LEATI_KERNEL_BINARY_F32}};
  pthread_t threads[WANTING];
  leati_pipeline *found[2];
  open_device();
  start_compilers(compilers, threads, WANTING);
  /* Who wants another one does not wait. */
  (void)compile_it(&other);
  assert_int_equal(nulldriver_calls("vkCreateComputePipelines"), 2);
  nulldriver_release();
  for (int i = 0; i < WANTING; ++i) {
    join_thread(threads[i]);
    assert_int_equal(compilers[i].status, LEAT_OK);
  }
  assert_int_equal(nulldriver_calls("vkCreateComputePipelines"), 2);
  assert_true(leati_pipeline_find(h.device, &compilers[0].key, &found[0]));
  assert_true(leati_pipeline_find(h.device, &other.key, &found[1]));
  close_device();
}

static void who_waited_for_what_failed_may_compile_it(void **state) {
  (void)state;
  compiler compilers[2];
  pthread_t threads[2];
  leati_pipeline *found;
  open_device();
  assert_true(nulldriver_fail("vkCreateComputePipelines", 1, VK_ERROR_OUT_OF_HOST_MEMORY));
  start_compilers(compilers, threads, 2);
  nulldriver_release();
  join_thread(threads[0]);
  join_thread(threads[1]);
  assert_int_equal(compilers[0].status, LEAT_ERROR_OUT_OF_MEMORY);
  assert_int_equal(compilers[1].status, LEAT_OK);
  assert_false(leati_pipeline_find(h.device, &compilers[1].key, &found));
  (void)compile_it(&compilers[1]);
  assert_int_equal(compilers[1].status, LEAT_OK);
  assert_true(leati_pipeline_find(h.device, &compilers[1].key, &found));
  close_device();
}

/* What a device of a shape is taken to have, and what its report says of that. */
static uint32_t processors_of(nulldriver_shape shape, const char *reported) {
  leat_property lines[256];
  uint32_t line_count = 256, found = 0;
  for (uint32_t i = 0; i < line_count; ++i) {
    lines[i] = (leat_property){.struct_size = sizeof(lines[i])};
  }
  nulldriver_set_shape(&shape);
  open_device();
  assert_ok(h.api->device->report(&line_count, lines, &err));
  for (uint32_t i = 0; i < line_count; ++i) {
    if (strcmp(lines[i].name, "processors") == 0) {
      assert_string_equal(lines[i].value, reported);
      ++found;
    }
  }
  assert_int_equal(found, 1);
  const uint32_t processors = h.device->traits.processors;
  close_device();
  return processors;
}

static void a_device_has_as_many_processors_as_an_extension_says(void **state) {
  (void)state;
  nulldriver_shape shape = nulldriver_get_shape();
  assert_int_equal(processors_of(shape, "128 are assumed: no extension tells"), 128);
  shape.shader_cores = 10;
  assert_int_equal(processors_of(shape, "10"), 10);
  shape.compute_units = 304;
  assert_int_equal(processors_of(shape, "304"), 304);
  shape.multiprocessors = 132;
  assert_int_equal(processors_of(shape, "132"), 132);
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, host_before, host_after)
      CASE(a_device_compiles_all_with_one_cache),
      CASE(a_device_without_a_cache_computes),
      CASE(an_operator_is_refused_where_its_kernel_cannot_run),
      CASE(a_program_is_compiled_once),
      CASE(threads_compile_what_they_all_want_once),
      CASE(who_waited_for_what_failed_may_compile_it),
      CASE(a_device_has_as_many_processors_as_an_extension_says),
#undef CASE
  };
  return cmocka_run_group_tests_name("nulldriver.pipeline", tests, NULL, NULL);
}
