/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers that an operator should not meet, an index out of range and a zero divisor of integers: without guard a value
 * that is documented and no word; under guard an error that names the operator, on its stream alone, until cleared. */
#include <stdbool.h>
#include <string.h>

#include "device/device.h"
#include "unit_fixture.h"

#define F32 \
  { kDLFloat, 32, 1 }
#define I32 \
  { kDLInt, 32, 1 }
#define I64 \
  { kDLInt, 64, 1 }
#define U8 \
  { kDLUInt, 8, 1 }

enum { INPUTS_MAX = 3, VALUES_MAX = 8 };

/* A tensor of few values, which are given as whole numbers. */
typedef struct small {
  DLDataType dtype;
  int32_t ndim;
  int64_t shape[3];
  int64_t values[VALUES_MAX];
} small;

typedef struct scene {
  const char *name;
  uint32_t since_version;
  bool fmod;
  const char *said; /* NULL: nothing is wrong */
  uint32_t input_count;
  small inputs[INPUTS_MAX], output;
} scene;

#define DATA             \
  {                      \
    F32, 1, {5}, {       \
      10, 11, 12, 13, 14 \
    }                    \
  }
static const scene scenes[] = {
    {"Gather",
     13,
     false,
     "Gather: index 7 is out of range; its axis has size 5, so it must be in [-5, 5)",
     2,
     {DATA, {I64, 1, {2}, {1, 7}}},
     {F32, 1, {2}, {11, 0}}},
    {"Gather",
     13,
     false,
     "Gather: index -6 is out of range",
     2,
     {DATA, {I32, 1, {2}, {-6, 4}}},
     {F32, 1, {2}, {0, 14}}},
    {"Gather",
     13,
     false,
     "Gather: index 9223372036854775807 is out of range",
     2,
     {DATA, {I64, 1, {1}, {INT64_MAX}}},
     {F32, 1, {1}, {0}}},
    {"Gather", 13, false, NULL, 2, {DATA, {I64, 1, {3}, {-5, 4, 0}}}, {F32, 1, {3}, {10, 14, 10}}},
    {"GatherElements",
     13,
     false,
     "GatherElements: index 5 is out of range",
     2,
     {DATA, {I64, 1, {2}, {0, 5}}},
     {F32, 1, {2}, {10, 0}}},
    {"GatherElements", 13, false, NULL, 2, {DATA, {I32, 1, {2}, {-1, -5}}}, {F32, 1, {2}, {14, 10}}},
    {"GatherND",
     13,
     false,
     "GatherND: index 3 is out of range; its axis has size 3",
     2,
     {{F32, 2, {2, 3}, {1, 2, 3, 4, 5, 6}}, {I64, 2, {2, 2}, {1, 2, 1, 3}}},
     {F32, 1, {2}, {6, 0}}},
    {"GatherND",
     13,
     false,
     NULL,
     2,
     {{F32, 2, {2, 3}, {1, 2, 3, 4, 5, 6}}, {I64, 2, {2, 2}, {-2, -3, 1, 2}}},
     {F32, 1, {2}, {1, 6}}},
    {"ScatterElements",
     18,
     false,
     "ScatterElements: index -7 is out of range",
     3,
     {DATA, {I64, 1, {2}, {-7, 1}}, {F32, 1, {2}, {98, 99}}},
     {F32, 1, {5}, {10, 99, 12, 13, 14}}},
    {"ScatterElements",
     18,
     false,
     NULL,
     3,
     {DATA, {I64, 1, {2}, {-1, 0}}, {F32, 1, {2}, {98, 99}}},
     {F32, 1, {5}, {99, 11, 12, 13, 98}}},
    {"ScatterND",
     18,
     false,
     "ScatterND: index 5 is out of range",
     3,
     {DATA, {I64, 2, {2, 1}, {5, 2}}, {F32, 1, {2}, {98, 99}}},
     {F32, 1, {5}, {10, 11, 99, 13, 14}}},
    {"ScatterND",
     18,
     false,
     NULL,
     3,
     {DATA, {I64, 2, {2, 1}, {4, -5}}, {F32, 1, {2}, {98, 99}}},
     {F32, 1, {5}, {99, 11, 12, 13, 98}}},
    {"TensorScatter",
     24,
     false,
     "TensorScatter: write index 3 is out of range; it must be from 0 to 2, so that the update fits",
     3,
     {{F32, 3, {1, 4, 1}, {10, 11, 12, 13}}, {F32, 3, {1, 2, 1}, {98, 99}}, {I64, 1, {1}, {3}}},
     {F32, 3, {1, 4, 1}, {10, 11, 12, 98}}},
    {"TensorScatter",
     24,
     false,
     NULL,
     3,
     {{F32, 3, {1, 4, 1}, {10, 11, 12, 13}}, {F32, 3, {1, 2, 1}, {98, 99}}, {I64, 1, {1}, {2}}},
     {F32, 3, {1, 4, 1}, {10, 11, 98, 99}}},
    {"Div",
     14,
     false,
     "Div: an integer was divided by zero",
     2,
     {{I32, 1, {5}, {7, -7, 8, 9, 6}}, {I32, 1, {5}, {2, 2, 3, 4, 0}}},
     {I32, 1, {5}, {3, -3, 2, 2, 0}}},
    {"Div",
     14,
     false,
     "Div: an integer was divided by zero",
     2,
     {{U8, 1, {2}, {7, 8}}, {U8, 1, {1}, {0}}},
     {U8, 1, {2}, {0, 0}}},
    {"Div",
     14,
     false,
     NULL,
     2,
     {{I64, 1, {5}, {0, -7, 8, 9, 6}}, {I64, 1, {5}, {2, 2, 3, 4, -1}}},
     {I64, 1, {5}, {0, -3, 2, 2, -6}}},
    {"Mod",
     13,
     false,
     "Mod: an integer was divided by zero",
     2,
     {{I64, 1, {2}, {7, -7}}, {I64, 1, {2}, {3, 0}}},
     {I64, 1, {2}, {1, 0}}},
    {"Mod",
     13,
     true,
     "Mod: an integer was divided by zero",
     2,
     {{I32, 1, {2}, {7, -7}}, {I32, 1, {2}, {0, 3}}},
     {I32, 1, {2}, {0, -1}}},
    {"Mod", 13, false, NULL, 2, {{I32, 1, {2}, {7, -7}}, {I32, 1, {2}, {3, 3}}}, {I32, 1, {2}, {1, 2}}},
    /* Floats have an infinity for that. */
    {"Mul", 14, false, NULL, 2, {DATA, {F32, 1, {1}, {0}}}, {F32, 1, {5}, {0, 0, 0, 0, 0}}},
};
enum { SCENES = sizeof(scenes) / sizeof(scenes[0]) };

static leat_error said_by;

static size_t bytes_of(const small *t) {
  int64_t count = 1;
  for (int32_t d = 0; d < t->ndim; ++d) {
    count *= t->shape[d];
  }
  return (size_t)count * t->dtype.bits / 8;
}

/* Writes the values as the type has them. */
static void write_values(const small *t, unsigned char *out) {
  for (size_t i = 0; i < bytes_of(t) * 8 / t->dtype.bits; ++i) {
    const float real = (float)t->values[i];
    const void *const from = t->dtype.code == kDLFloat ? (const void *)&real : (const void *)&t->values[i];
    memcpy(out + i * (t->dtype.bits / 8), from, t->dtype.bits / 8);
  }
}

static DLTensor tensor_of(const small *t, void *data, DLDevice where) {
  return (DLTensor){.data = data, .device = where, .ndim = t->ndim, .dtype = t->dtype, .shape = (int64_t *)t->shape};
}

static leat_stream *open_stream(fixture *f) {
  leat_stream *stream;
  assert_ok(f->api->stream->create(f->device, 0, &stream, &err));
  return stream;
}

/* Puts an operator and the download of its result into a stream. Blocks are freed in the stream's order. */
static int32_t put(fixture *f, const scene *s, leat_stream *stream, unsigned char *result) {
  const DLDevice here = {kDLCPU, 0}, there = {kDLVulkan, (int)f->device->index};
  const small *const tensors[INPUTS_MAX + 1] = {&s->output, &s->inputs[0], &s->inputs[1], &s->inputs[2]};
  DLTensor device[INPUTS_MAX + 1];
  unsigned char bytes[INPUTS_MAX + 1][VALUES_MAX * 8];
  leat_value_info infos[INPUTS_MAX];
  const leat_value_info *described[INPUTS_MAX];
  const DLTensor *in[INPUTS_MAX], *out[1] = {&device[0]};
  const leat_attribute fmod = {.struct_size = sizeof(fmod), .type = LEAT_ATTRIBUTE_INT, .name = "fmod", .i = 1};
  for (uint32_t i = 0; i <= s->input_count; ++i) {
    uint64_t address = 0;
    assert_ok(f->api->memory->alloc(f->device, bytes_of(tensors[i]), stream, &address, &err));
    device[i] = tensor_of(tensors[i], (void *)(uintptr_t)address, there);
    if (i > 0) {
      write_values(tensors[i], bytes[i]);
      const DLTensor host = tensor_of(tensors[i], bytes[i], here);
      assert_ok(f->api->memory->copy(stream, &host, &device[i], &err));
      infos[i - 1] = (leat_value_info){.struct_size = sizeof(infos[0]),
                                       .ndim = tensors[i]->ndim,
                                       .dtype = tensors[i]->dtype,
                                       .shape = tensors[i]->shape};
      described[i - 1] = &infos[i - 1];
      in[i - 1] = &device[i];
    }
  }
  const leat_op_desc desc = {.struct_size = sizeof(desc),
                             .name = s->name,
                             .since_version = s->since_version,
                             .input_count = s->input_count,
                             .inputs = described,
                             .output_count = 1,
                             .attribute_count = s->fmod,
                             .attributes = (const leat_attribute *[]){&fmod}};
  leat_op *op;
  assert_ok(f->api->op->create(f->device, &desc, &op, &err));
  int32_t status = f->api->op->invoke(op, stream, s->input_count, in, 1, out, &said_by);
  if (status == LEAT_OK) {
    const DLTensor host = tensor_of(&s->output, result, here);
    status = f->api->memory->copy(stream, &device[0], &host, &said_by);
  }
  assert_ok(f->api->op->destroy(op, &err));
  for (uint32_t i = 0; i <= s->input_count; ++i) {
    assert_ok(f->api->memory->free(f->device, (uint64_t)(uintptr_t)device[i].data, &err));
  }
  return status;
}

static void assert_result(const scene *s, const unsigned char *result) {
  unsigned char expected[VALUES_MAX * 8];
  write_values(&s->output, expected);
  assert_memory_equal(result, expected, bytes_of(&s->output));
}

/* Runs a scene with which nothing is wrong. */
static void run_well(fixture *f, const scene *s, leat_stream *stream) {
  unsigned char result[VALUES_MAX * 8];
  memset(result, 0xee, sizeof(result));
  assert_int_equal(put(f, s, stream, result), LEAT_OK);
  assert_ok(f->api->stream->synchronize(stream, &err));
  assert_result(s, result);
}

static void assert_said(int32_t status, const scene *s) {
  assert_int_equal(status, LEAT_ERROR_INVALID_ARGUMENT);
  assert_ptr_equal(strstr(said_by.message, s->said), said_by.message);
  said_by = (leat_error){.struct_size = sizeof(said_by)};
}

static void without_guard_there_is_a_value_and_no_word(void **state) {
  fixture *const f = fixture_of(state);
  leat_stream *const stream = open_stream(f);
  for (size_t i = 0; i < SCENES; ++i) {
    run_well(f, &scenes[i], stream);
  }
  assert_ok(f->api->stream->destroy(stream, &err));
}

/* One scene on a guarded device: its stream fails at the wait, and other streams go on. */
static void find(fixture *f, const scene *s, leat_stream *stream, leat_stream *other) {
  unsigned char result[VALUES_MAX * 8], never[VALUES_MAX * 8];
  leat_event *before, *behind;
  assert_ok(f->api->event->create(f->device, 0, &before, &err));
  assert_ok(f->api->event->create(f->device, 0, &behind, &err));
  assert_ok(f->api->event->record(before, stream, &err));
  assert_int_equal(put(f, s, stream, result), LEAT_OK);
  assert_ok(f->api->event->record(behind, stream, &err));
  assert_said(f->api->stream->synchronize(stream, &said_by), s);
  assert_result(s, result);
  /* It stays, on the stream and on the event, but not on the one before. */
  assert_said(f->api->stream->error(stream, &said_by), s);
  assert_said(f->api->stream->query(stream, &said_by), s);
  assert_said(f->api->event->wait(behind, -1, &said_by), s);
  assert_said(f->api->event->query(behind, &said_by), s);
  assert_ok(f->api->event->wait(before, -1, &err));
  const DLTensor host = tensor_of(&s->output, never, (DLDevice){kDLCPU, 0});
  DLTensor device = host;
  uint64_t address;
  assert_ok(f->api->memory->alloc(f->device, sizeof(never), NULL, &address, &err));
  device.data = (void *)(uintptr_t)address;
  device.device = (DLDevice){kDLVulkan, (int)f->device->index};
  assert_said(f->api->memory->copy(stream, &device, &host, &said_by), s);
  assert_ok(f->api->memory->free(f->device, address, &err));
  run_well(f, &scenes[3], other);
  assert_said(f->api->device->synchronize(f->device, &said_by), s);
  assert_ok(f->api->stream->clear_error(stream, &err));
  assert_ok(f->api->device->synchronize(f->device, &err));
  assert_said(f->api->event->query(behind, &said_by), s);
  run_well(f, &scenes[3], stream);
  assert_ok(f->api->event->destroy(before, &err));
  assert_ok(f->api->event->destroy(behind, &err));
}

static void find_all(fixture *f) {
  leat_stream *const stream = open_stream(f), *const other = open_stream(f);
  said_by = (leat_error){.struct_size = sizeof(said_by)};
  for (size_t i = 0; i < SCENES; ++i) {
    if (scenes[i].said == NULL) {
      run_well(f, &scenes[i], stream);
    } else {
      find(f, &scenes[i], stream, other);
    }
  }
  assert_ok(f->api->stream->destroy(stream, &err));
  assert_ok(f->api->stream->destroy(other, &err));
}

static void under_guard_the_stream_fails_and_says_why(void **state) {
  fixture *const f = fixture_of(state);
  reopen(f, "LEAT_MEMORY_GUARD", "1");
  find_all(f);
  reopen(f, "LEAT_MEMORY_GUARD", NULL);
}

static void so_it_does_with_guard_pages(void **state) {
  fixture *const f = fixture_of(state);
  if (!f->device->physical->works_in_host_memory) {
    print_message("no guard pages on this device\n");
    skip();
  }
  reopen(f, "LEAT_MEMORY_GUARD", "pages");
  find_all(f);
  reopen(f, "LEAT_MEMORY_GUARD", NULL);
}

/* What a destroyed stream's work finds is for whoever synchronises the device, once, and not for the next owner of its
 * object. */
static void a_finding_without_a_stream_is_for_the_device(void **state) {
  fixture *const f = fixture_of(state);
  reopen(f, "LEAT_MEMORY_GUARD", "1");
  unsigned char result[VALUES_MAX * 8];
  leat_stream *const gone = open_stream(f);
  assert_int_equal(put(f, &scenes[0], gone, result), LEAT_OK);
  assert_ok(f->api->stream->destroy(gone, &err));
  leat_stream *const next = open_stream(f);
  assert_ptr_equal(next, gone);
  run_well(f, &scenes[3], next);
  assert_said(f->api->device->synchronize(f->device, &said_by), &scenes[0]);
  assert_ok(f->api->device->synchronize(f->device, &err));
  assert_ok(f->api->stream->error(next, &err));
  assert_ok(f->api->stream->destroy(next, &err));
  reopen(f, "LEAT_MEMORY_GUARD", NULL);
}

/* Whoever waits for the device alone is told too. */
static void waiting_for_the_device_tells_as_well(void **state) {
  fixture *const f = fixture_of(state);
  reopen(f, "LEAT_MEMORY_GUARD", "1");
  unsigned char result[VALUES_MAX * 8];
  leat_stream *const stream = open_stream(f);
  assert_int_equal(put(f, &scenes[0], stream, result), LEAT_OK);
  assert_said(f->api->device->synchronize(f->device, &said_by), &scenes[0]);
  assert_ok(f->api->stream->clear_error(stream, &err));
  assert_ok(f->api->device->synchronize(f->device, &err));
  assert_ok(f->api->stream->destroy(stream, &err));
  reopen(f, "LEAT_MEMORY_GUARD", NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_guard_there_is_a_value_and_no_word),
      cmocka_unit_test(under_guard_the_stream_fails_and_says_why),
      cmocka_unit_test(so_it_does_with_guard_pages),
      cmocka_unit_test(a_finding_without_a_stream_is_for_the_device),
      cmocka_unit_test(waiting_for_the_device_tells_as_well),
  };
  return cmocka_run_group_tests_name("finding", tests, fixture_open, fixture_close);
}
