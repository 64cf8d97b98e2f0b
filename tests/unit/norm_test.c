/* SPDX-License-Identifier: BSD-3-Clause */
/* Softmax and LayerNormalization give the same bits whether their elements lie at aligned addresses or not, and whether
 * the threads of a line exchange values in subgroups or through shared memory. */
#include <math.h>
#include <string.h>

#include "device/device.h"
#include "unit_fixture.h"

enum { LINES = 5, COUNT_MAX = 8200 };

/* Lengths of lines: whole fours, for which alignment counts. */
static const int64_t lengths[] = {4, 32, 36, 64, 384, 516, 1024, 2048, 4096, 8192, 8196};
enum { LENGTHS = sizeof(lengths) / sizeof(lengths[0]) };

/* Some of these: more threads than fours, a last turn that most threads have no four in, and lines that are read again.
 */
static const int64_t some_lengths[] = {36, 516, 8196};
enum { SOME_LENGTHS = sizeof(some_lengths) / sizeof(some_lengths[0]) };

/* Each length is kernels of its own for the driver to compile. LogSoftmax is Softmax but for the last step. */
typedef struct norm_case {
  const char *name;
  uint32_t since_version, input_count;
  const int64_t *lengths;
  int length_count;
} norm_case;
static const norm_case cases[] = {{"Softmax", 13, 1, lengths, LENGTHS},
                                  {"LogSoftmax", 13, 1, some_lengths, SOME_LENGTHS},
                                  {"LayerNormalization", 17, 3, lengths, LENGTHS}};
enum { CASES = sizeof(cases) / sizeof(cases[0]), INPUTS_MAX = 3 };

static float values[LINES * COUNT_MAX];

/* Runs an operator on lines of `count` of the values, its tensors `offset` bytes behind aligned addresses. */
static void run(fixture *f, const norm_case *which, int64_t count, uint64_t offset, leat_stream *stream, float *out) {
  int64_t shape[2] = {LINES, count};
  const DLDataType f32 = {kDLFloat, 32, 1};
  DLTensor device[INPUTS_MAX + 1], host[INPUTS_MAX + 1];
  leat_value_info infos[INPUTS_MAX];
  const leat_value_info *described[INPUTS_MAX];
  const DLTensor *in[INPUTS_MAX], *results[1] = {&device[0]};
  uint64_t blocks[INPUTS_MAX + 1];
  for (uint32_t i = 0; i <= which->input_count; ++i) {
    const int32_t rank = i > 1 ? 1 : 2; /* scale and bias are of one line */
    assert_ok(f->api->memory->alloc(f->device, sizeof(values) + 64, stream, &blocks[i], &err));
    device[i] = (DLTensor){.data = (void *)(uintptr_t)(blocks[i] + offset),
                           .device = {kDLVulkan, (int)f->device->index},
                           .ndim = rank,
                           .dtype = f32,
                           .shape = shape + 2 - rank};
    host[i] = device[i];
    host[i].data = i == 0 ? out : values + (i - 1) * 7;
    host[i].device = (DLDevice){kDLCPU, 0};
    if (i > 0) {
      infos[i - 1] =
          (leat_value_info){.struct_size = sizeof(infos[0]), .ndim = rank, .dtype = f32, .shape = device[i].shape};
      described[i - 1] = &infos[i - 1];
      in[i - 1] = &device[i];
      assert_ok(f->api->memory->copy(stream, &host[i], &device[i], &err));
    }
  }
  const leat_op_desc desc = {.struct_size = sizeof(desc),
                             .name = which->name,
                             .since_version = which->since_version,
                             .input_count = which->input_count,
                             .inputs = described,
                             .output_count = 1};
  leat_op *op;
  assert_ok(f->api->op->create(f->device, &desc, &op, &err));
  assert_ok(f->api->op->invoke(op, stream, which->input_count, in, 1, results, &err));
  assert_ok(f->api->memory->copy(stream, &device[0], &host[0], &err));
  assert_ok(f->api->stream->synchronize(stream, &err));
  assert_ok(f->api->op->destroy(op, &err));
  for (uint32_t i = 0; i <= which->input_count; ++i) {
    assert_ok(f->api->memory->free(f->device, blocks[i], &err));
  }
}

/* Compares all cases with what the device gives as it is, from aligned addresses. */
static void compare(fixture *f, const leati_physical *physical, uint64_t offset, const char *how) {
  static float expected[LINES * COUNT_MAX], found[LINES * COUNT_MAX];
  const leati_physical *const own = f->device->physical;
  leat_stream *stream;
  assert_ok(f->api->stream->create(f->device, 0, &stream, &err));
  for (int c = 0; c < CASES; ++c) {
    for (int i = 0; i < cases[c].length_count; ++i) {
      const int64_t length = cases[c].lengths[i];
      run(f, &cases[c], length, 0, stream, expected);
      f->device->physical = physical;
      run(f, &cases[c], length, offset, stream, found);
      f->device->physical = own;
      if (memcmp(expected, found, (size_t)(LINES * length) * sizeof(float)) != 0) {
        fail_msg("%s of lines of %d elements gives other bits %s", cases[c].name, (int)length, how);
      }
    }
  }
  assert_ok(f->api->stream->destroy(stream, &err));
}

static void alignment_changes_no_bit(void **state) {
  fixture *const f = fixture_of(state);
  compare(f, f->device->physical, 4, "from other addresses");
}

static void subgroups_change_no_bit(void **state) {
  fixture *const f = fixture_of(state);
  leati_physical plain = *f->device->physical;
  plain.shuffles = false;
  compare(f, &plain, 0, "without subgroups");
  plain.subgroup_size = 128;
  compare(f, &plain, 4, "without subgroups, in larger workgroups and from other addresses");
}

int main(void) {
  for (int i = 0; i < LINES * COUNT_MAX; ++i) {
    values[i] = 3.0f * sinf(0.7f * (float)i) + 1e-3f * (float)(i % 101);
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(alignment_changes_no_bit, fixture_open, fixture_close),
      cmocka_unit_test_setup_teardown(subgroups_change_no_bit, fixture_open, fixture_close),
  };
  return cmocka_run_group_tests_name("norm", tests, NULL, NULL);
}
