/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans: what a planner writes, and which calls are run by a plan that was made for an earlier one. */
#include <stdbool.h>
#include <string.h>

#include "device/device.h"
#include "leat_kernels.h"
#include "ops/core/op_state.h"
#include "ops/core/plan_cache.h"
#include "ops/core/planner.h"
#include "policy/constants.h"
#include "record/plan.h"
#include "unit_fixture.h"

/* ---- What is counted ----------------------------------------------------------------------------------------------
 */

static uint32_t plannings, allocations, imports;

void __real_leati_planner_begin(leati_planner *planner, leat_device *device, uint32_t inputs, uint32_t outputs);
void __wrap_leati_planner_begin(leati_planner *planner, leat_device *device, uint32_t inputs, uint32_t outputs);
void __wrap_leati_planner_begin(leati_planner *planner, leat_device *device, uint32_t inputs, uint32_t outputs) {
  ++plannings;
  __real_leati_planner_begin(planner, device, inputs, outputs);
}

int32_t __real_leati_view_of_shape(DLDataType dtype, int32_t ndim, const int64_t *shape, const char *what,
                                   leati_view *out, leat_error *err);
int32_t __wrap_leati_view_of_shape(DLDataType dtype, int32_t ndim, const int64_t *shape, const char *what,
                                   leati_view *out, leat_error *err);
int32_t __wrap_leati_view_of_shape(DLDataType dtype, int32_t ndim, const int64_t *shape, const char *what,
                                   leati_view *out, leat_error *err) {
  ++imports;
  return __real_leati_view_of_shape(dtype, ndim, shape, what, out, err);
}

void *__real_leati_calloc(size_t count, size_t size);
void *__wrap_leati_calloc(size_t count, size_t size);
void *__wrap_leati_calloc(size_t count, size_t size) {
  ++allocations;
  return __real_leati_calloc(count, size);
}

void *__real_leati_realloc(void *memory, size_t size);
void *__wrap_leati_realloc(void *memory, size_t size);
void *__wrap_leati_realloc(void *memory, size_t size) {
  ++allocations;
  return __real_leati_realloc(memory, size);
}

/* ---- A place to work in -------------------------------------------------------------------------------------------
 */

enum { FLOATS = 64, BLOCKS = 3 };

typedef struct place {
  fixture *f;
  leat_stream *stream;
  float *blocks[BLOCKS]; /* device addresses, of FLOATS elements each */
} place;

static void open_place(void **state, place *out) {
  out->f = fixture_of(state);
  assert_ok(out->f->api->stream->create(out->f->device, 0, &out->stream, &err));
  for (int b = 0; b < BLOCKS; ++b) {
    uint64_t address;
    assert_ok(out->f->api->memory->alloc(out->f->device, FLOATS * sizeof(float), NULL, &address, &err));
    out->blocks[b] = (float *)(uintptr_t)address;
  }
}

static void close_place(const place *p) {
  for (int b = 0; b < BLOCKS; ++b) {
    assert_ok(p->f->api->memory->free(p->f->device, (uint64_t)(uintptr_t)p->blocks[b], &err));
  }
  assert_ok(p->f->api->stream->destroy(p->stream, &err));
}

/* A tensor of float32 in a block, from an element on. */
static DLTensor at(const place *p, int block, uint32_t first, int32_t ndim, const int64_t *shape,
                   const int64_t *strides) {
  return (DLTensor){.data = p->blocks[block],
                    .device = {kDLVulkan, (int)p->f->device->index},
                    .ndim = ndim,
                    .dtype = {kDLFloat, 32, 1},
                    .shape = (int64_t *)shape,
                    .strides = (int64_t *)strides,
                    .byte_offset = first * sizeof(float)};
}

static const int64_t all[] = {FLOATS};

static void copy(const place *p, int block, float *values, bool up) {
  const DLTensor device = at(p, block, 0, 1, all, NULL);
  const DLTensor host = {
      .data = values, .ndim = 1, .dtype = device.dtype, .shape = (int64_t *)all, .device = {kDLCPU, 0}};
  assert_ok(p->f->api->memory->copy(p->stream, up ? &host : &device, up ? &device : &host, &err));
  assert_ok(p->f->api->stream->synchronize(p->stream, &err));
}

/* Fills a block with values that no other element of any block has. */
static void fill(const place *p, int block, float *out) {
  for (int i = 0; i < FLOATS; ++i) {
    out[i] = (float)(1000 * (block + 1) + i);
  }
  copy(p, block, out, true);
}

/* Inputs of a call at most. */
enum { INPUTS_MAX = 32 };

static leat_op *make(const place *p, const char *name, uint32_t since_version, uint32_t inputs) {
  static const leat_value_info data = {.struct_size = sizeof(data), .ndim = -1, .dtype = {kDLFloat, 32, 1}};
  static const leat_value_info sizes = {.struct_size = sizeof(sizes), .ndim = -1, .dtype = {kDLInt, 64, 1}};
  const bool sliced = strcmp(name, "Slice") == 0;
  const leat_value_info *infos[INPUTS_MAX];
  for (uint32_t i = 0; i < inputs; ++i) {
    infos[i] = sliced && i != 0 ? &sizes : &data;
  }
  const leat_op_desc desc = {.struct_size = sizeof(desc),
                             .name = name,
                             .since_version = since_version,
                             .input_count = inputs,
                             .inputs = infos,
                             .output_count = 1};
  leat_op *op;
  assert_ok(p->f->api->op->create(p->f->device, &desc, &op, &err));
  return op;
}

/* A place whose first two blocks are filled, and an Add. */
static leat_op *open_add(void **state, place *out) {
  float values[FLOATS];
  open_place(state, out);
  fill(out, 0, values);
  fill(out, 1, values);
  return make(out, "Add", 14, 2);
}

/* ---- What fits ----------------------------------------------------------------------------------------------------
 */

static void what_is_repeated_is_not_planned_again(void **state) {
  place p;
  leat_op *const op = open_add(state, &p);
  leat_shape shape = {.struct_size = sizeof(shape)};
  leat_shape *const shapes[] = {&shape};
  uint32_t before[3] = {0};
  for (int round = 0; round < 20; ++round) {
    const DLTensor a = at(&p, 0, 0, 1, all, NULL), b = at(&p, 1, 0, 1, all, NULL), c = at(&p, 2, 0, 1, all, NULL);
    const DLTensor *const in[] = {&a, &b}, *const out[] = {&c};
    assert_ok(p.f->api->op->infer(op, 2, in, 1, shapes, &err));
    assert_int_equal(shape.ndim, 1);
    assert_int_equal(shape.dims[0], FLOATS);
    assert_ok(p.f->api->op->invoke(op, p.stream, 2, in, 1, out, &err));
    if (round == 9) {
      /* The stream has what it needs for ten commands and for ten more. */
      assert_ok(p.f->api->stream->synchronize(p.stream, &err));
      for (int i = 0; i < 10; ++i) {
        assert_ok(p.f->api->op->invoke(op, p.stream, 2, in, 1, out, &err));
      }
      assert_ok(p.f->api->stream->synchronize(p.stream, &err));
      before[0] = plannings;
      before[1] = allocations;
      before[2] = imports;
    }
  }
  assert_int_equal(plannings, before[0]);
  assert_int_equal(allocations, before[1]);
  assert_int_equal(imports, before[2]);
  assert_ok(p.f->api->op->destroy(op, &err));
  close_place(&p);
}

/* A call has its plan kept if there is room for where its arguments are: 32 of them, however many are inputs. */
static void calls_of_many_arguments_are_planned_once(void **state) {
  static const struct {
    uint32_t inputs;
    bool kept;
  } cases[] = {{17, true}, {LEATI_CACHED_ARGUMENTS_MAX - 1, true}, {LEATI_CACHED_ARGUMENTS_MAX, false}};
  float values[FLOATS], sums[FLOATS];
  place p;
  open_place(state, &p);
  fill(&p, 0, values);
  const DLTensor a = at(&p, 0, 0, 1, all, NULL), c = at(&p, 2, 0, 1, all, NULL);
  const DLTensor *in[INPUTS_MAX], *const out[] = {&c};
  for (uint32_t i = 0; i < INPUTS_MAX; ++i) {
    in[i] = &a;
  }
  for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); ++k) {
    const uint32_t count = cases[k].inputs, before = plannings;
    leat_op *const op = make(&p, "Sum", 13, count);
    for (uint32_t round = 0; round < 3; ++round) {
      assert_ok(p.f->api->op->invoke(op, p.stream, count, in, 1, out, &err));
    }
    assert_int_equal(plannings, before + (cases[k].kept ? 1 : 3));
    copy(&p, 2, sums, false);
    for (int i = 0; i < FLOATS; ++i) {
      assert_true(sums[i] == (float)count * values[i]);
    }
    assert_ok(p.f->api->op->destroy(op, &err));
  }
  close_place(&p);
}

/* A call of Add: where its tensors begin, and how their elements lie. */
typedef struct variant {
  int32_t ndim;
  int64_t shape[2];
  uint32_t first[BLOCKS];
  bool strided[2];
  int64_t strides[2][2];
  int64_t other[2]; /* shape of the second operand */
  bool in_place;    /* the sum replaces the first operand */
} variant;

#define PLAIN .first = {0, 0, 0}
static const variant variants[] = {
    {1, {16}, PLAIN, .other = {16}},
    {1, {16}, .first = {4, 0, 0}, .other = {16}},
    {1, {16}, .first = {1, 0, 0}, .other = {16}},
    {1, {16}, .first = {0, 3, 0}, .other = {16}},
    {1, {16}, .first = {0, 0, 2}, .other = {16}},
    {1, {15}, PLAIN, .other = {15}},
    {1, {16}, PLAIN, .other = {1}},
    {1, {16}, PLAIN, .other = {16}, .in_place = true},
    {2, {4, 4}, PLAIN, .other = {4, 4}},
    {2, {2, 8}, PLAIN, .other = {1, 8}},
    {2, {2, 8}, PLAIN, .other = {2, 1}},
    {2, {4, 4}, PLAIN, .strided = {true}, .strides = {{1, 4}}, .other = {4, 4}},
    {2, {4, 4}, PLAIN, .strided = {true}, .strides = {{8, 2}}, .other = {4, 4}},
    {2, {4, 4}, .first = {63, 0, 0}, .strided = {true}, .strides = {{-4, -1}}, .other = {4, 4}},
    {2, {4, 4}, PLAIN, .strided = {true, true}, .strides = {{0, 1}, {1, 0}}, .other = {4, 4}},
    {1, {0}, PLAIN, .other = {0}},
};
enum { VARIANTS = sizeof(variants) / sizeof(variants[0]) };

/* Where element (row, column) of an operand lies. */
static int64_t place_of(const variant *v, int k, int64_t row, int64_t column) {
  const int64_t *const shape = k == 0 ? v->shape : v->other;
  const int64_t columns = shape[v->ndim - 1];
  if (v->strided[k]) {
    return (int64_t)v->first[k] + row * v->strides[k][0] + column * v->strides[k][1];
  }
  row = v->ndim == 2 && shape[0] == 1 ? 0 : row;
  column = columns == 1 ? 0 : column;
  return (int64_t)v->first[k] + row * columns + column;
}

static void run_variant(const place *p, const leat_op *op, const variant *v) {
  float values[BLOCKS][FLOATS], result[FLOATS];
  for (int b = 0; b < BLOCKS; ++b) {
    fill(p, b, values[b]);
  }
  const int target = v->in_place ? 0 : 2;
  const DLTensor a = at(p, 0, v->first[0], v->ndim, v->shape, v->strided[0] ? v->strides[0] : NULL);
  const DLTensor b = at(p, 1, v->first[1], v->ndim, v->other, v->strided[1] ? v->strides[1] : NULL);
  const DLTensor c = at(p, target, v->in_place ? v->first[0] : v->first[2], v->ndim, v->shape, NULL);
  const DLTensor *const in[] = {&a, &b}, *const out[] = {&c};
  assert_ok(p->f->api->op->invoke(op, p->stream, 2, in, 1, out, &err));
  copy(p, target, result, false);
  const int64_t rows = v->ndim == 2 ? v->shape[0] : 1, columns = v->shape[v->ndim - 1];
  const uint32_t first = v->in_place ? v->first[0] : v->first[2];
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t i = 0; i < columns; ++i) {
      values[target][first + r * columns + i] =
          (float)(1000 + place_of(v, 0, r, i)) + (float)(2000 + place_of(v, 1, r, i));
    }
  }
  assert_memory_equal(result, values[target], sizeof(result));
}

/* Shapes in turn are planned once each; and of many no more plans stay than there is room for. */
static void shapes_in_turn_are_planned_once(void **state) {
  enum { SHAPES = 24 };
  place p;
  leat_op *const op = open_add(state, &p);
  const uint32_t before = plannings;
  for (int round = 0; round < 3; ++round) {
    for (int64_t size = 1; size <= SHAPES; ++size) {
      const DLTensor a = at(&p, 0, 0, 1, &size, NULL), b = at(&p, 1, 0, 1, &size, NULL),
                     c = at(&p, 2, 0, 1, &size, NULL);
      const DLTensor *const in[] = {&a, &b}, *const out[] = {&c};
      assert_ok(p.f->api->op->invoke(op, p.stream, 2, in, 1, out, &err));
    }
    assert_int_equal(plannings, before + SHAPES);
  }
  for (int64_t size = 1; size <= 32; ++size) {
    for (uint32_t first = 0; first < 16; ++first) {
      const DLTensor a = at(&p, 0, first % 4, 1, &size, NULL), b = at(&p, 1, first / 4, 1, &size, NULL),
                     c = at(&p, 2, 0, 1, &size, NULL);
      const DLTensor *const in[] = {&a, &b}, *const out[] = {&c};
      assert_ok(p.f->api->op->invoke(op, p.stream, 2, in, 1, out, &err));
      assert_true(op->plans.table.bytes <= LEATI_PLANS_BYTES);
    }
  }
  assert_true(op->plans.table.count < 32 * 16);
  assert_ok(p.f->api->stream->synchronize(p.stream, &err));
  assert_ok(p.f->api->op->destroy(op, &err));
  close_place(&p);
}

/* Different calls of one operator, in different orders. */
static void calls_that_differ_have_plans_of_their_own(void **state) {
  place p;
  open_place(state, &p);
  leat_op *const op = make(&p, "Add", 14, 2);
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < VARIANTS; ++i) {
      run_variant(&p, op, &variants[(i * 7 + round * 5) % VARIANTS]);
    }
  }
  assert_ok(p.f->api->op->destroy(op, &err));
  close_place(&p);
}

/* An operator that may work in place keeps one plan for that, as for any other call. */
static void work_in_place_is_planned_once(void **state) {
  place p;
  leat_op *const op = open_add(state, &p);
  const DLTensor a = at(&p, 0, 0, 1, all, NULL), b = at(&p, 1, 0, 1, all, NULL);
  const DLTensor *const in[] = {&a, &b};
  for (int target = 0; target < 2; ++target) {
    const DLTensor *const out[] = {target == 0 ? &a : &b};
    const uint32_t before = plannings;
    for (int i = 0; i < 5; ++i) {
      assert_ok(p.f->api->op->invoke(op, p.stream, 2, in, 1, out, &err));
    }
    assert_int_equal(plannings, before + 1 - (uint32_t)target);
  }
  assert_ok(p.f->api->stream->synchronize(p.stream, &err));
  assert_ok(p.f->api->op->destroy(op, &err));
  close_place(&p);
}

/* Strides of a tensor without elements, and of one on the device whose shape alone is asked for, may point anywhere. */
static void strides_that_mean_nothing_are_not_read(void **state) {
  place p;
  leat_op *const op = open_add(state, &p);
  static const int64_t none[] = {0}, shape[] = {8}, every_second[] = {2};
  int64_t *const nowhere = (int64_t *)(uintptr_t)8;
  leat_shape inferred = {.struct_size = sizeof(inferred)};
  leat_shape *const shapes[] = {&inferred};
  for (int round = 0; round < 3; ++round) {
    DLTensor a = at(&p, 0, 0, 1, none, NULL);
    const DLTensor c = at(&p, 2, 0, 1, none, NULL);
    a.strides = nowhere;
    const DLTensor *const in[] = {&a, &a}, *const out[] = {&c};
    assert_ok(p.f->api->op->invoke(op, p.stream, 2, in, 1, out, &err));
    DLTensor x = at(&p, 0, 0, 1, shape, every_second);
    const DLTensor z = at(&p, 2, 0, 1, shape, NULL);
    const DLTensor *const strided[] = {&x, &x}, *const sum[] = {&z};
    assert_ok(p.f->api->op->invoke(op, p.stream, 2, strided, 1, sum, &err));
    x.strides = nowhere;
    assert_ok(p.f->api->op->infer(op, 2, strided, 1, shapes, &err));
    assert_int_equal(inferred.dims[0], 8);
  }
  assert_ok(p.f->api->op->destroy(op, &err));
  close_place(&p);
}

static void values_on_the_host_are_part_of_what_a_plan_is_for(void **state) {
  place p;
  float values[FLOATS], result[FLOATS];
  open_place(state, &p);
  fill(&p, 0, values);
  leat_op *const op = make(&p, "Slice", 13, 3);
  static const int64_t one[] = {1}, taken[] = {8};
  for (int round = 0; round < 3; ++round) {
    for (int64_t start = 0; start < 12; ++start) {
      int64_t end = start + 8, begin = start;
      const DLTensor x = at(&p, 0, 0, 1, all, NULL), y = at(&p, 2, 0, 1, taken, NULL);
      const DLTensor starts = {
          .data = &begin, .ndim = 1, .dtype = {kDLInt, 64, 1}, .shape = (int64_t *)one, .device = {kDLCPU, 0}};
      DLTensor ends = starts;
      ends.data = &end;
      const DLTensor *const in[] = {&x, &starts, &ends}, *const out[] = {&y};
      assert_ok(p.f->api->op->invoke(op, p.stream, 3, in, 1, out, &err));
      copy(&p, 2, result, false);
      assert_memory_equal(result, values + start, 8 * sizeof(float));
    }
  }
  assert_ok(p.f->api->op->destroy(op, &err));
  close_place(&p);
}

/* An operator that gives the same bytes copies them unless they are there already. */
static void a_plan_for_one_memory_is_not_taken_for_two(void **state) {
  place p;
  float values[FLOATS], result[FLOATS], other[FLOATS];
  open_place(state, &p);
  leat_op *const op = make(&p, "Identity", 16, 1);
  for (int round = 0; round < 6; ++round) {
    const int target = round % 2 == 0 ? 0 : 2;
    const DLTensor x = at(&p, 0, 0, 1, all, NULL), y = at(&p, target, 0, 1, all, NULL);
    const DLTensor *const in[] = {&x}, *const out[] = {&y};
    fill(&p, 2, other);
    fill(&p, 0, values);
    assert_ok(p.f->api->op->invoke(op, p.stream, 1, in, 1, out, &err));
    copy(&p, target, result, false);
    assert_memory_equal(result, values, sizeof(result));
  }
  assert_ok(p.f->api->op->destroy(op, &err));
  close_place(&p);
}

/* A plan that is there does not let pass what would have been refused without. */
static void what_is_wrong_is_refused_though_a_plan_is_kept(void **state) {
  place p;
  float values[FLOATS];
  open_place(state, &p);
  fill(&p, 0, values);
  fill(&p, 1, values);
  const leat_op_api *const api = p.f->api->op;
  leat_op *const op = make(&p, "Add", 14, 2);
  static const int64_t half[] = {32};
  const DLTensor a = at(&p, 0, 0, 1, half, NULL), b = at(&p, 1, 0, 1, half, NULL), c = at(&p, 2, 0, 1, half, NULL);
  const DLTensor *in[] = {&a, &b}, *out[] = {&c};
  assert_ok(api->invoke(op, p.stream, 2, in, 1, out, &err));
  const DLTensor beyond = at(&p, 1, 36, 1, half, NULL), meets = at(&p, 0, 4, 1, half, NULL);
  DLTensor elsewhere = b, host = b, typed = b, odd = b, nowhere = b, far = b, before = b, longer = c;
  elsewhere.device.device_id = 99;
  host.device = (DLDevice){kDLCPU, 0};
  host.data = values;
  typed.dtype.code = kDLInt;
  odd.byte_offset = 2;
  nowhere.data = values;
  far.byte_offset = UINT64_C(1) << 40;
  before.byte_offset = UINT64_MAX - 15;
  longer.shape = (int64_t *)all;
  const DLTensor *const wrong_inputs[] = {&beyond, &elsewhere, &host, &typed, &odd, &nowhere, &far, &before, NULL};
  for (size_t i = 0; i < sizeof(wrong_inputs) / sizeof(wrong_inputs[0]); ++i) {
    in[1] = wrong_inputs[i];
    assert_int_not_equal(api->invoke(op, p.stream, 2, in, 1, out, NULL), LEAT_OK);
  }
  in[1] = &b;
  const DLTensor *const wrong_outputs[] = {&meets, &longer, &host, NULL};
  for (size_t i = 0; i < sizeof(wrong_outputs) / sizeof(wrong_outputs[0]); ++i) {
    out[0] = wrong_outputs[i];
    assert_int_equal(api->invoke(op, p.stream, 2, in, 1, out, NULL), LEAT_ERROR_INVALID_ARGUMENT);
  }
  out[0] = &c;
  assert_ok(api->invoke(op, p.stream, 2, in, 1, out, &err));
  assert_ok(p.f->api->stream->synchronize(p.stream, &err));
  assert_ok(api->destroy(op, &err));
  close_place(&p);
}

/* ---- What a planner writes ----------------------------------------------------------------------------------------
 */

static leati_view device_view(uint64_t address, int64_t count) {
  leati_view view = {.present = true, .type = LEAT_TYPE_FLOAT32, .item_size = 4, .ndim = 1, .shape = {count}};
  leati_view_make_compact(&view);
  view.address = view.begin = address;
  view.end = address + (uint64_t)count * 4;
  return view;
}

static void a_plan_knows_its_accesses_and_the_lives_of_temporaries(void **state) {
  fixture *const f = fixture_of(state);
  leati_planner planner;
  struct {
    uint64_t unused, dst, src;
  } args = {.unused = 7, .dst = 8, .src = 9};
  leati_planner_begin(&planner, f->device, 1, 1);
  leati_view x = device_view(0x1000c, 8), y = device_view(0x20010, 8);
  leati_planner_place(&x, 0);
  leati_planner_place(&y, 1);
  assert_int_equal(x.address % LEATI_PLAN_ALIGNMENT, 0xc);
  assert_int_equal(y.address % LEATI_PLAN_ALIGNMENT, 0);
  leati_view temporaries[2] = {{.type = LEAT_TYPE_FLOAT32, .ndim = 1, .shape = {8}},
                               {.type = LEAT_TYPE_FLOAT32, .ndim = 1, .shape = {8}}};
  assert_ok(leati_plan_temporary(&planner, &temporaries[0], &err));
  assert_ok(leati_plan_temporary(&planner, &temporaries[1], &err));
  leati_view behind = x;
  behind.address += 8;
  /* x to the first, the first to the second, the second to y. */
  const leati_view *const chain[] = {&behind, &temporaries[0], &temporaries[1], &y};
  for (int i = 0; i < 3; ++i) {
    const leati_dispatch_desc dispatch = {.pipeline = {.kernel = LEATI_KERNEL_DOWNLOAD_32},
                                          .args = &args,
                                          .args_size = sizeof(args),
                                          .groups = {1, 1, 1},
                                          LEATI_READS({chain[i], &args.src}, {NULL, &args.unused}),
                                          LEATI_WRITES({chain[i + 1], &args.dst})};
    assert_ok(leati_plan_dispatch(&planner, &dispatch, &err));
  }
  const leati_plan plan = leati_planner_plan(&planner);
  assert_int_equal(plan.step_count, 3);
  assert_int_equal(plan.binding_count, 4);
  assert_int_equal(plan.temporary_count, 2);
  const leati_plan_step *const first = &plan.steps[0];
  assert_int_equal(first->read_count, 1);
  assert_int_equal(first->write_count, 1);
  const leati_plan_access *const read = &plan.accesses[first->first_access], *const written = read + 1;
  assert_int_equal(read->binding, 0);
  assert_int_equal(read->field, 16);
  assert_int_equal(read->offset, 8);
  assert_int_equal(read->begin, 0);
  assert_int_equal(read->end, 32);
  assert_int_equal(written->binding, 2);
  assert_int_equal(written->field, 8);
  /* Addresses are not in it. */
  static const unsigned char zeros[sizeof(args)];
  assert_memory_equal(plan.args + first->args, zeros, sizeof(args));
  assert_int_equal(plan.temporaries[0].first_step, 0);
  assert_int_equal(plan.temporaries[0].last_step, 1);
  assert_int_equal(plan.temporaries[1].first_step, 1);
  assert_int_equal(plan.temporaries[1].last_step, 2);
  assert_int_equal(plan.temporaries[1].size, 32);
  leati_planner_end(&planner);
}

/* What is too large for a kernel is copied, and no more of a tensor than the part that is meant. */
static void a_copy_of_a_part_copies_no_more(void **state) {
  fixture *const f = fixture_of(state);
  const int64_t whole = INT64_C(1) << 33, part = (INT64_C(1) << 31) + 1;
  leati_view x = {.present = true, .type = LEAT_TYPE_UINT8, .item_size = 1, .ndim = 1, .shape = {whole}};
  leati_view_make_compact(&x);
  x.address = x.begin = 0x10000;
  x.end = x.begin + (uint64_t)whole;
  leati_view y = x;
  y.shape[0] = part;
  y.count = (uint64_t)part;
  y.end = y.begin + (uint64_t)part;
  leati_planner planner;
  leati_planner_begin(&planner, f->device, 1, 1);
  leati_planner_place(&x, 0);
  leati_planner_place(&y, 1);
  leati_view from = x;
  from.address += 3;
  from.shape[0] = part;
  from.count = (uint64_t)part;
  from.compact = false;
  assert_ok(leati_plan_strided_copy(&planner, &from, &y, &err));
  const leati_plan plan = leati_planner_plan(&planner);
  assert_int_equal(plan.step_count, 1);
  assert_true(plan.steps[0].copies);
  assert_int_equal(plan.accesses[0].begin, 3);
  assert_int_equal(plan.accesses[0].end, 3 + part);
  assert_int_equal(plan.accesses[1].begin, 0);
  assert_int_equal(plan.accesses[1].end, part);
  leati_planner_end(&planner);
}

/* ---- Workgroups ---------------------------------------------------------------------------------------------------
 */

/* Each of `total` workgroups has a number, by leat_linear_group() of kernels/leat.glsl, and no limit is exceeded: that
 * of Vulkan for y and z is 65535 at least. */
static void check_groups(uint32_t most, uint64_t total) {
  const leati_physical physical = {.max_groups = {most}};
  const leat_device device = {.physical = &physical};
  uint32_t groups[3];
  leati_groups_linear(&device, total, 1, groups);
  assert_true(groups[0] <= most && groups[1] <= 65535);
  assert_int_equal(groups[2], total != 0);
  if (total == 0) {
    assert_int_equal((uint64_t)groups[0] * groups[1], 0);
    return;
  }
  const uint64_t rows_before = (uint64_t)(groups[1] - 1) * LEATI_GROUPS_ROW;
  assert_true(groups[1] == 1 || groups[0] == LEATI_GROUPS_ROW);
  assert_true(rows_before < total && rows_before + groups[0] >= total);
}

static void each_workgroup_has_a_number(void **state) {
  (void)state;
  const uint64_t totals[] = {
      0, 1, 65534, 65535, 65536, 65537, 98304, 98305, UINT64_C(2147450879), UINT64_C(2147450880)};
  for (uint32_t i = 0; i < sizeof(totals) / sizeof(totals[0]); ++i) {
    check_groups(65535, totals[i]);
    check_groups(INT32_MAX, totals[i]);
  }
  uint32_t groups[3];
  const leati_physical physical = {.max_groups = {65535}};
  const leat_device device = {.physical = &physical};
  leati_groups_linear(&device, 1025, 1024, groups);
  assert_int_equal(groups[0], 2);
  /* Of what no device has room for there are more rows than any allows, and not fewer. */
  leati_groups_linear(&device, UINT64_C(1) << 56, 256, groups);
  assert_int_equal(groups[1], UINT32_MAX);
  leati_groups_linear(&device, UINT64_MAX, 256, groups);
  assert_int_equal(groups[1], UINT32_MAX);
}

static void more_workgroups_than_the_device_allows_are_refused(void **state) {
  fixture *const f = fixture_of(state);
  const uint32_t *const most = f->device->physical->max_groups;
  leati_planner planner;
  leat_error refusal = {.struct_size = sizeof(refusal)};
  struct {
    uint64_t unused, dst, src;
  } args = {0};
  leati_planner_begin(&planner, f->device, 1, 1);
  leati_view x = device_view(0x10000, 8), y = device_view(0x20000, 8);
  leati_planner_place(&x, 0);
  leati_planner_place(&y, 1);
  for (int d = 0; d < 3; ++d) {
    leati_dispatch_desc dispatch = {.pipeline = {.kernel = LEATI_KERNEL_DOWNLOAD_32},
                                    .args = &args,
                                    .args_size = sizeof(args),
                                    .groups = {most[0], most[1], most[2]},
                                    LEATI_READS({&x, &args.src}, {NULL, &args.unused}),
                                    LEATI_WRITES({&y, &args.dst})};
    assert_ok(leati_plan_dispatch(&planner, &dispatch, &err));
    if (most[d] < UINT32_MAX) {
      ++dispatch.groups[d];
      assert_int_equal(leati_plan_dispatch(&planner, &dispatch, &refusal), LEAT_ERROR_NOT_SUPPORTED);
      assert_non_null(strstr(refusal.message, "download_32 needs"));
    }
  }
  assert_int_equal(leati_planner_plan(&planner).step_count, 3);
  leati_planner_end(&planner);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_repeated_is_not_planned_again),
      cmocka_unit_test(shapes_in_turn_are_planned_once),
      cmocka_unit_test(calls_of_many_arguments_are_planned_once),
      cmocka_unit_test(calls_that_differ_have_plans_of_their_own),
      cmocka_unit_test(work_in_place_is_planned_once),
      cmocka_unit_test(strides_that_mean_nothing_are_not_read),
      cmocka_unit_test(a_copy_of_a_part_copies_no_more),
      cmocka_unit_test(values_on_the_host_are_part_of_what_a_plan_is_for),
      cmocka_unit_test(a_plan_for_one_memory_is_not_taken_for_two),
      cmocka_unit_test(what_is_wrong_is_refused_though_a_plan_is_kept),
      cmocka_unit_test(a_plan_knows_its_accesses_and_the_lives_of_temporaries),
      cmocka_unit_test(each_workgroup_has_a_number),
      cmocka_unit_test(more_workgroups_than_the_device_allows_are_refused),
  };
  return cmocka_run_group_tests_name("plan", tests, fixture_open, fixture_close);
}
