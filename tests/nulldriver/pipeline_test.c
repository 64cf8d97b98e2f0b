/* SPDX-License-Identifier: BSD-3-Clause */
/* Pipelines on the null driver: one VkPipelineCache behind all of a device's, with which a device can do without. */
#include "fixture.h"

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

int main(void) {
  const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, host_before, host_after)
      CASE(a_device_compiles_all_with_one_cache),
      CASE(a_device_without_a_cache_computes),
#undef CASE
  };
  return cmocka_run_group_tests_name("nulldriver.pipeline", tests, NULL, NULL);
}
