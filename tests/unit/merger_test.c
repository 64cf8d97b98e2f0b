/* SPDX-License-Identifier: BSD-3-Clause */
/* Dispatches of several streams that are merged, of a kernel whose workgroups count each other: a product whose sums
 * are split gives the bits that it gives alone, and leaves its counters as it found them. */
#include "submit/merger.h"

#include <string.h>

#include "streams/stream_state.h"
#include "submit/lane.h"
#include "submit/lane_state.h"
#include "unit_fixture.h"
#include "unit_network.h"

enum { STREAMS = 7, ROWS = 16, DEPTH = 1024, COLUMNS = 16, ROUNDS = 5 };

static leati_vk_device driver;
static uint32_t dispatches;

static void count_dispatches(VkCommandBuffer commands, uint32_t x, uint32_t y, uint32_t z) {
  ++dispatches;
  driver.CmdDispatch(commands, x, y, z);
}

static int64_t shape_a[] = {ROWS, DEPTH}, shape_b[] = {DEPTH, COLUMNS}, shape_c[] = {ROWS, COLUMNS};

static DLTensor tensor_of(uint64_t address, int64_t *shape) {
  return (DLTensor){.data = (void *)(uintptr_t)address,
                    .device = {.device_type = kDLVulkan},
                    .ndim = 2,
                    .dtype = {.code = kDLFloat, .bits = 32, .lanes = 1},
                    .shape = shape};
}

/* A tensor on the device with numbers that differ from seed to seed. */
static DLTensor make_tensor(const place *p, int64_t *shape, uint32_t seed) {
  static float numbers[ROWS * DEPTH];
  const size_t count = (size_t)(shape[0] * shape[1]);
  uint64_t address;
  assert_true(count <= sizeof(numbers) / sizeof(*numbers));
  for (size_t i = 0; i < count; ++i) {
    numbers[i] = (float)((seed + (uint32_t)i) * 2654435761u >> 8) / 16777216.0f - 0.5f;
  }
  assert_ok(p->f->api->memory->alloc(p->f->device, count * sizeof(float), NULL, &address, &err));
  DLTensor made = tensor_of(address, shape), host = made;
  host.data = numbers;
  host.device.device_type = kDLCPU;
  copy(p, &host, &made);
  assert_ok(p->f->api->stream->synchronize(p->stream, &err));
  return made;
}

static void read_tensor(const place *p, const DLTensor *from, float *out) {
  DLTensor host = *from;
  host.data = out;
  host.device.device_type = kDLCPU;
  copy(p, from, &host);
  assert_ok(p->f->api->stream->synchronize(p->stream, &err));
}

static leat_op *make_product(const place *p) {
  const int64_t unknown[2] = {-1, -1};
  const leat_value_info value = {
      .struct_size = sizeof(value), .ndim = 2, .dtype = {.code = kDLFloat, .bits = 32, .lanes = 1}, .shape = unknown};
  const leat_value_info *const inputs[2] = {&value, &value};
  const leat_op_desc desc = {.struct_size = sizeof(desc),
                             .since_version = 13,
                             .name = "MatMul",
                             .input_count = 2,
                             .output_count = 1,
                             .inputs = inputs};
  leat_op *op;
  assert_ok(p->f->api->op->create(p->f->device, &desc, &op, &err));
  return op;
}

static void products_that_count_give_the_same_bits(void **state) {
  static float alone[STREAMS][ROWS * COLUMNS], together[ROWS * COLUMNS];
  reopen(fixture_of(state), "LEAT_LANES", "1");
  fixture *const f = *state;
  leati_lane *const lane = leati_lane_of(f->device->semaphores[0]);
  place places[STREAMS];
  DLTensor a[STREAMS], c[STREAMS];
  for (uint32_t i = 0; i < STREAMS; ++i) {
    places[i] = open_place(state);
    a[i] = make_tensor(&places[i], shape_a, 1000 * i);
    c[i] = make_tensor(&places[i], shape_c, 0);
  }
  DLTensor b = make_tensor(&places[0], shape_b, 7);
  leat_op *const product = make_product(&places[0]);
  for (uint32_t round = 0; round <= ROUNDS; ++round) {
    assert_true(round == 0 || leati_role_try(&lane->leader));
    for (uint32_t i = 0; i < STREAMS; ++i) {
      const DLTensor *const in[2] = {&a[i], &b}, *const out[1] = {&c[i]};
      assert_ok(f->api->op->invoke(product, places[i].stream, 2, in, 1, out, &err));
      /* The kernel has counters, which the host writes over later. */
      assert_true((places[i].stream->open->to_host & VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT) != 0);
      assert_ok(f->api->stream->flush(places[i].stream, &err));
      if (round == 0) {
        read_tensor(&places[i], &c[i], alone[i]);
      }
    }
    driver = f->device->vk;
    dispatches = 0;
    f->device->vk.CmdDispatch = count_dispatches;
    if (round != 0) {
      leati_role_leave(&lane->leader);
      leati_lane_help(lane);
    }
    assert_ok(f->api->device->synchronize(f->device, &err));
    f->device->vk = driver;
    for (uint32_t i = 0; i < STREAMS && round != 0; ++i) {
      read_tensor(&places[i], &c[i], together);
      assert_memory_equal(together, alone[i], sizeof(together));
    }
    /* In the first of these rounds the lists meet, and in the second the pipeline for several records is made. */
    assert_int_equal(dispatches, round == 0 ? 0 : round == 1 ? STREAMS : 1);
  }
  assert_ok(f->api->op->destroy(product, &err));
  release(&places[0], &b);
  for (uint32_t i = 0; i < STREAMS; ++i) {
    release(&places[i], &a[i]);
    release(&places[i], &c[i]);
    close_place(&places[i]);
  }
  reopen(f, "LEAT_LANES", NULL);
}

int main(void) {
  /* Off unless somebody asks for it. */
  if (setenv("LEAT_MERGE", "1", 1) != 0) {
    return 1;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(products_that_count_give_the_same_bits, fixture_open, fixture_close),
  };
  return cmocka_run_group_tests_name("merger", tests, NULL, NULL);
}
