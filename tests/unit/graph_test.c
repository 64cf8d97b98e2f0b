/* SPDX-License-Identifier: BSD-3-Clause */
/* Graphs: what a description is refused for, that a graph gives the same bits as its nodes one by one, and what its
 * plans are like: levels, the arena, and what is kept. */
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "device/device.h"
#include "graph/arena.h"
#include "graph/graph.h"
#include "graph/graph_plan.h"
#include "ops/core/op_state.h"
#include "ops/core/registry.h"
#include "submit/lane.h"
#include "submit/lane_state.h"
#include "unit_network.h"

/* ---- Nodes that move elements -------------------------------------------------------------------------------------
 */

static const leat_attribute axis_1 = {.struct_size = sizeof(axis_1),
                                      .type = LEAT_ATTRIBUTE_INT,
                                      .name = "axis",
                                      .i = 1},
                            axis_0 = {.struct_size = sizeof(axis_0), .type = LEAT_ATTRIBUTE_INT, .name = "axis"};
static const leat_attribute *const along_1[] = {&axis_1}, *const along_0[] = {&axis_0};
static const int64_t swap_rows[] = {1, 0, 2}, deep_first[] = {2, 0, 1};
static const leat_attribute rows_first = {.struct_size = sizeof(rows_first),
                                          .type = LEAT_ATTRIBUTE_INTS,
                                          .name = "perm",
                                          .count = 3,
                                          .ints = swap_rows},
                            last_first = {.struct_size = sizeof(last_first),
                                          .type = LEAT_ATTRIBUTE_INTS,
                                          .name = "perm",
                                          .count = 3,
                                          .ints = deep_first};
static const leat_attribute *const swapped[] = {&rows_first}, *const turned_3[] = {&last_first};

/* The last node gets one of these lists; gives its first output. */
static uint32_t with(network *n, const leat_attribute *const *list, uint32_t v) {
  set_attributes(n, list, 1);
  return v;
}

static uint32_t add_index(network *n, int64_t index) {
  const uint32_t v = add_list(n, 1, &index);
  n->infos[v].ndim = n->tensors[v].ndim = 0;
  return v;
}

static uint32_t slice(network *n, uint32_t x, int64_t begin, int64_t end, int64_t axis, int64_t step) {
  return NODE(n, "Slice", 13, x, add_list(n, 1, &begin), add_list(n, 1, &end), add_list(n, 1, &axis),
              add_list(n, 1, &step));
}

/* ---- The same bits ------------------------------------------------------------------------------------------------
 */

static const int64_t square[] = {8, 8}, flat[] = {64};

static uint32_t next_random(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return *seed >> 8;
}

/* A network of operators on squares, each of which takes what came before. */
static network *make_random(uint32_t seed, bool known) {
  network *const n = make_network();
  static const int64_t open[] = {-1, -1};
  uint32_t squares[NODES], count = 0;
  for (int i = 0; i < 2; ++i) {
    squares[count++] = add_input(n, 2, square);
    if (!known) {
      n->infos[squares[count - 1]].shape = open;
    }
  }
  squares[count++] = add_constant(n, 2, square);
  const uint32_t to_flat = add_list(n, 1, flat), to_square = add_list(n, 2, square);
  const uint32_t zero = add_list(n, 1, (const int64_t[]){0}), eight = add_list(n, 1, (const int64_t[]){8});
  const uint32_t both = add_list(n, SHAPE(0, 1)), last = add_list(n, SHAPE(-1, -1)),
                 before = add_list(n, SHAPE(-9, -9));
  const uint32_t cube = add_list(n, SHAPE(2, 4, 8)), row = add_index(n, 1 + next_random(&seed) % 7);
  const uint32_t nodes = 4 + next_random(&seed) % 20;
  while (n->desc.node_count < nodes) {
    const uint32_t a = squares[next_random(&seed) % count], b = squares[next_random(&seed) % count];
    uint32_t v;
    switch (next_random(&seed) % 15) {
      case 0:
        v = NODE(n, "Add", 14, a, b);
        break;
      case 1:
        v = NODE(n, "Mul", 14, a, b);
        break;
      case 2:
        v = NODE(n, "MatMul", 13, a, b);
        break;
      case 3:
        v = NODE(n, "Softmax", 13, a);
        break;
      case 4:
        v = NODE(n, "Tanh", 13, a);
        break;
      case 5:
        v = NODE(n, "Reshape", 14, NODE(n, "Reshape", 14, a, to_flat), to_square);
        break;
      case 6:
        v = NODE(n, "Transpose", 13, a);
        break;
      case 7:
        v = NODE(n, "Reshape", 14, NODE(n, "Neg", 13, a), NODE(n, "Shape", 15, b));
        break;
      case 8:
        v = NODE(n, "Identity", 16, a);
        break;
      case 9:
        v = NODE(n, "Slice", 13, a, last, before, both, last);
        break;
      case 10:
        v = with(n, swapped, NODE(n, "Transpose", 13, NODE(n, "Reshape", 14, a, cube)));
        v = NODE(n, "Reshape", 14, v, to_square);
        break;
      case 11:
        v = NODE(n, "Expand", 13,
                 with(n, next_random(&seed) % 2 == 0 ? along_0 : along_1, NODE(n, "Gather", 13, a, row)), to_square);
        break;
      case 12: {
        const uint32_t left = with(n, along_1, NODE(n, "Split", 13, a)), right = add_part(n);
        v = with(n, along_1, NODE(n, "Concat", 13, right, left));
        break;
      }
      case 13: {
        const uint32_t upper = with(n, along_0, NODE(n, "Split", 13, a)), lower = add_part(n);
        v = with(n, along_0, NODE(n, "Concat", 13, NODE(n, "Tanh", 13, lower), NODE(n, "Neg", 13, upper)));
        break;
      }
      default:
        v = NODE(n, "Slice", 13, NODE(n, "MatMul", 13, a, b), zero, eight);
        v = NODE(n, "Sub", 14, v, a);
        break;
    }
    squares[count++] = v;
  }
  for (uint32_t v = n->desc.value_count; v-- > 0 && n->desc.output_count < 3;) {
    const bool made = n->infos[v].ndim == -1 && n->infos[v].dtype.bits == 0;
    if (made && (n->desc.output_count == 0 || next_random(&seed) % 3 == 0)) {
      add_output(n, v);
    }
  }
  return n;
}

static void a_graph_gives_the_bits_of_its_nodes(void **state) {
  const place p = open_place(state);
  static results direct, graphed;
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    network *const n = make_random(seed, seed % 2 == 0);
    leat_graph *const graph = build(&p, n);
    run_nodes(&p, n, &direct);
    for (uint32_t host = 0; host < 1u << (n->desc.input_count + n->desc.output_count); host += 1 + host / 3) {
      for (int again = 0; again < 2; ++again) {
        run_graph(&p, graph, n, host, &graphed);
        compare(n, &direct, &graphed);
      }
    }
    const leat_graph_info info = info_of(&p, graph);
    assert_int_equal(info.node_count, n->desc.node_count);
    assert_true(info.arena_bytes <= info.naive_bytes);
    assert_true(info.level_count <= info.dispatch_count + info.copy_count);
    assert_ok(p.f->api->graph->destroy(graph, &err));
    free(n);
  }
  close_place(&p);
}

/* ---- Plans --------------------------------------------------------------------------------------------------------
 */

/* Two chains side by side that meet at their ends, of operators that nothing makes one of. */
static network *make_chains(uint32_t length) {
  network *const n = make_network();
  uint32_t a = add_input(n, 2, square), b = a;
  for (uint32_t i = 0; i < length; ++i) {
    a = NODE(n, "Softmax", 13, a);
    b = NODE(n, "LogSoftmax", 13, b);
  }
  add_output(n, NODE(n, "Add", 14, a, b));
  return n;
}

static void chains_run_side_by_side(void **state) {
  const place p = open_place(state);
  network *const n = make_chains(6);
  leat_graph *const graph = build(&p, n);
  const leat_graph_info info = info_of(&p, graph);
  assert_int_equal(info.node_count, 13);
  assert_int_equal(info.plan_count, 1);
  assert_int_equal(info.dispatch_count, 13);
  assert_int_equal(info.level_count, 7);
  assert_int_equal(info.naive_bytes, 12 * 256);
  assert_int_equal(info.arena_bytes, 4 * 256);
  assert_ok(p.f->api->graph->destroy(graph, &err));
  free(n);
  close_place(&p);
}

/* What nobody takes is not run, views move nothing, and what is given is written where it is wanted. */
static void what_is_not_needed_is_not_run(void **state) {
  const place p = open_place(state);
  network *const n = make_network();
  const uint32_t x = add_input(n, 2, square), to_flat = add_list(n, 1, flat);
  const uint32_t kept = NODE(n, "Tanh", 13, x);
  (void)NODE(n, "Neg", 13, NODE(n, "Exp", 13, x));
  (void)NODE(n, "Shape", 15, NODE(n, "Sqrt", 13, kept));
  const uint32_t view = NODE(n, "Reshape", 14, kept, to_flat);
  add_output(n, NODE(n, "Identity", 16, view));
  leat_graph *const graph = build(&p, n);
  const leat_graph_info info = info_of(&p, graph);
  assert_int_equal(info.dispatch_count, 1);
  assert_int_equal(info.copy_count, 0);
  assert_int_equal(info.level_count, 1);
  assert_int_equal(info.arena_bytes, 0);
  static results direct, graphed;
  run_nodes(&p, n, &direct);
  run_graph(&p, graph, n, 0, &graphed);
  compare(n, &direct, &graphed);
  assert_ok(p.f->api->graph->destroy(graph, &err));
  free(n);
  close_place(&p);
}

/* Two parts share bytes only if no level needs both. */
static void parts_of_the_arena_do_not_meet(void **state) {
  (void)state;
  enum { COUNT = 200 };
  uint32_t seed = 7;
  for (int round = 0; round < 50; ++round) {
    leati_lifetime lives[COUNT];
    uint64_t size, naive, sum = 0;
    for (int i = 0; i < COUNT; ++i) {
      const uint32_t first = next_random(&seed) % 60;
      lives[i] = (leati_lifetime){.size = 1 + next_random(&seed) % 5000,
                                  .first = first,
                                  .last = first + next_random(&seed) % (round % 2 == 0 ? 4 : 30)};
      sum += (lives[i].size + 255) / 256 * 256;
    }
    assert_ok(leati_arena_place(lives, COUNT, &size, &naive, &err));
    assert_int_equal(naive, sum);
    assert_true(size < naive);
    for (int i = 0; i < COUNT; ++i) {
      assert_int_equal(lives[i].offset % 256, 0);
      assert_true(lives[i].offset + lives[i].size <= size);
      for (int j = 0; j < i; ++j) {
        const bool together = lives[i].first <= lives[j].last && lives[j].first <= lives[i].last;
        const bool meet =
            lives[i].offset < lives[j].offset + lives[j].size && lives[j].offset < lives[i].offset + lives[i].size;
        assert_false(together && meet);
      }
    }
  }
}

/* Sizes whose sum would wrap leave no arena that is too small. */
static void an_arena_beyond_any_device_is_refused(void **state) {
  (void)state;
  leati_lifetime lives[64];
  uint64_t size, naive;
  for (int i = 0; i < 64; ++i) {
    lives[i] = (leati_lifetime){.size = UINT64_C(1) << 58, .last = 1};
  }
  assert_int_equal(leati_arena_place(lives, 64, &size, &naive, NULL), LEAT_ERROR_OUT_OF_MEMORY);
  lives[0].size = UINT64_MAX - 100;
  assert_int_equal(leati_arena_place(lives, 2, &size, &naive, NULL), LEAT_ERROR_OUT_OF_MEMORY);
}

/* Steps lie in the order of levels, and a recorder puts a barrier before a step that conflicts with one since the last
 * barrier: that makes a barrier between two levels, and no other. */
static void check_levels(const leati_graph_plan *plan) {
  const leati_plan *const it = &plan->plan;
  uint32_t since = 0, levels = it->step_count != 0;
  for (uint32_t s = 0; s < it->step_count; ++s) {
    bool conflict = false;
    for (uint32_t before = since; before < s && !conflict; ++before) {
      const leati_plan_step *const a = &it->steps[before], *const b = &it->steps[s];
      for (uint32_t i = 0; i < a->read_count + a->write_count; ++i) {
        for (uint32_t j = 0; j < b->read_count + b->write_count; ++j) {
          const leati_plan_access *const x = &it->accesses[a->first_access + i], *const y =
                                                                                     &it->accesses[b->first_access + j];
          const bool writes = i >= a->read_count || j >= b->read_count;
          conflict = conflict || (writes && x->binding == y->binding && x->begin < y->end && y->begin < x->end);
        }
      }
    }
    if (conflict) {
      since = s;
      ++levels;
    }
  }
  assert_int_equal(levels, plan->figures.level_count);
}

/* The only plan of a graph. */
static const leati_graph_plan *plan_of(const leat_graph *graph) {
  const leati_lru_entry *found = NULL;
  for (uint64_t bucket = 0; bucket < LEATI_GRAPH_PLAN_BUCKETS && found == NULL; ++bucket) {
    found = leati_lru_first(&graph->plans.cache.table, bucket);
  }
  return (const leati_graph_plan *)found;
}

static void barriers_are_as_many_as_levels(void **state) {
  const place p = open_place(state);
  for (uint32_t seed = 100; seed < 160; ++seed) {
    network *const n = make_random(seed, true);
    leat_graph *const graph = build(&p, n);
    const leati_graph_plan *const plan = plan_of(graph);
    assert_non_null(plan);
    check_levels(plan);
    assert_ok(p.f->api->graph->destroy(graph, &err));
    free(n);
  }
  close_place(&p);
}

/* ---- Views --------------------------------------------------------------------------------------------------------
 */

static void transpose_into_product(network *n) {
  const uint32_t x = add_input(n, SHAPE(10, 12)), y = add_input(n, SHAPE(12, 10));
  add_output(n, NODE(n, "MatMul", 13, NODE(n, "Transpose", 13, x), NODE(n, "Transpose", 13, y)));
}

static void split_into_products(network *n) {
  const uint32_t x = add_input(n, SHAPE(12, 30)), y = add_input(n, SHAPE(10, 12));
  const uint32_t first = with(n, along_1, NODE(n, "Split", 13, NODE(n, "Neg", 13, x)));
  const uint32_t parts[] = {first, add_part(n), add_part(n)};
  for (int i = 0; i < 3; ++i) {
    add_output(n, NODE(n, "MatMul", 13, parts[i], y));
  }
}

static void slice_into_sum(network *n) {
  const uint32_t x = add_input(n, SHAPE(8, 8)), y = add_input(n, SHAPE(4, 4));
  add_output(n, NODE(n, "Add", 14, slice(n, slice(n, x, 2, 6, 0, 1), 4, 8, 1, 1), y));
}

static void slice_by_steps(network *n) {
  const uint32_t x = add_input(n, SHAPE(9, 8)), y = add_input(n, SHAPE(4, 3));
  add_output(n, NODE(n, "Sub", 14, slice(n, slice(n, x, -1, 0, 0, -2), 1, 99, 1, 3), y));
}

static void backwards_into_product(network *n) {
  const uint32_t x = add_input(n, SHAPE(12, 10)), y = add_input(n, SHAPE(10, 12));
  add_output(n, NODE(n, "MatMul", 13, slice(n, x, -1, -99, 0, -1), y));
}

/* Backwards twice is forwards. */
static void twice_backwards(network *n) {
  const uint32_t x = add_input(n, SHAPE(12, 10)), y = add_input(n, SHAPE(10, 12));
  add_output(n, NODE(n, "MatMul", 13, slice(n, slice(n, x, -1, -99, 0, -1), -1, -99, 0, -1), y));
}

static void expand_into_product(network *n) {
  const uint32_t x = add_input(n, SHAPE(3, 1, 4)), y = add_input(n, SHAPE(3, 5, 4));
  const uint32_t sizes = add_list(n, SHAPE(3, 5, 4));
  add_output(n, NODE(n, "Mul", 14, NODE(n, "Expand", 13, x, sizes), y));
}

static void class_token(network *n) {
  const uint32_t x = add_input(n, SHAPE(12, 4, 9)), w = add_constant(n, SHAPE(9, 12)), b = add_constant(n, SHAPE(12));
  const uint32_t token = with(n, along_1, NODE(n, "Gather", 13, NODE(n, "Tanh", 13, x), add_index(n, 0)));
  add_output(n, NODE(n, "Gemm", 13, token, w, b));
}

static void last_token(network *n) {
  const uint32_t x = add_input(n, SHAPE(12, 4, 9)), w = add_constant(n, SHAPE(9, 12));
  const uint32_t token = with(n, along_1, NODE(n, "Gather", 13, x, add_list(n, SHAPE(-1))));
  add_output(n, NODE(n, "MatMul", 13, token, w));
}

/* An index out of range is the kernel's to tell of; it reads 0. */
static void no_token(network *n) {
  const uint32_t x = add_input(n, SHAPE(12, 4, 9)), y = add_input(n, SHAPE(12, 9));
  add_output(n, NODE(n, "Add", 14, with(n, along_1, NODE(n, "Gather", 13, x, add_index(n, 4))), y));
}

/* Indices that are known and step evenly, along the axis or in place: in a row, backwards from the end, or the same
 * one; in two dimensions; and as tuples. */
static void tokens_in_a_row(network *n) {
  const uint32_t x = add_input(n, SHAPE(4, 4, 9)), y = add_input(n, SHAPE(4, 3, 9)),
                 z = add_input(n, SHAPE(4, 2, 2, 9));
  const uint32_t rows = with(n, along_1, NODE(n, "Gather", 13, x, add_list(n, SHAPE(1, 2, 3))));
  const uint32_t back = with(n, along_1, NODE(n, "Gather", 13, x, add_list(n, SHAPE(-1, -2, 1))));
  const uint32_t same = with(n, along_1, NODE(n, "Gather", 13, x, add_list(n, SHAPE(2, 2, 2))));
  const uint32_t pairs = NODE(n, "Reshape", 14, add_list(n, SHAPE(0, 2, 1, 3)), add_list(n, SHAPE(2, 2)));
  add_output(n, NODE(n, "Add", 14, NODE(n, "Mul", 14, rows, y), NODE(n, "Mul", 14, back, same)));
  add_output(n, NODE(n, "Sub", 14, with(n, along_1, NODE(n, "Gather", 13, x, pairs)), z));
}

static void tuples_in_a_row(network *n) {
  const uint32_t x = add_input(n, SHAPE(3, 4, 9)), y = add_input(n, SHAPE(3, 9));
  const uint32_t tuples = NODE(n, "Reshape", 14, add_list(n, SHAPE(2, 0, 1, 1, 0, 2)), add_list(n, SHAPE(3, 2)));
  add_output(n, NODE(n, "Mul", 14, NODE(n, "GatherND", 13, x, tuples), y));
}

/* Steps that differ; of which one leads out of range; and tuples of which one dimension does so. */
static void tokens_here_and_there(network *n) {
  const uint32_t x = add_input(n, SHAPE(3, 4, 9)), y = add_input(n, SHAPE(3, 3, 9)), z = add_input(n, SHAPE(2, 9));
  add_output(n, NODE(n, "Add", 14, with(n, along_1, NODE(n, "Gather", 13, x, add_list(n, SHAPE(0, 1, 3)))), y));
  add_output(n, NODE(n, "Add", 14, with(n, along_1, NODE(n, "Gather", 13, x, add_list(n, SHAPE(2, 3, 4)))), y));
  const uint32_t tuples = NODE(n, "Reshape", 14, add_list(n, SHAPE(0, 3, 0, 4)), add_list(n, SHAPE(2, 2)));
  add_output(n, NODE(n, "Add", 14, NODE(n, "GatherND", 13, x, tuples), z));
}

/* Heads as exporters split them off: queries, keys and values of one product. */
static void attention(network *n) {
  const uint32_t x = add_input(n, SHAPE(12, 27)), three = add_list(n, SHAPE(12, 3, 9));
  const uint32_t heads =
      with(n, swapped, NODE(n, "Transpose", 13, NODE(n, "Reshape", 14, NODE(n, "Neg", 13, x), three)));
  const uint32_t q = with(n, along_0, NODE(n, "Gather", 13, heads, add_index(n, 0)));
  const uint32_t k = with(n, along_0, NODE(n, "Gather", 13, heads, add_index(n, 1)));
  const uint32_t v = with(n, along_0, NODE(n, "Gather", 13, heads, add_index(n, 2)));
  const uint32_t scores = NODE(n, "Softmax", 13, NODE(n, "MatMul", 13, q, NODE(n, "Transpose", 13, k)));
  add_output(n, NODE(n, "MatMul", 13, scores, v));
}

/* [S, H, D] as [H, S, D] into a product of H matrices, and back. */
static void heads_into_products(network *n) {
  const uint32_t x = add_input(n, SHAPE(10, 3, 9)), y = add_input(n, SHAPE(3, 9, 12));
  const uint32_t product = NODE(n, "MatMul", 13, with(n, swapped, NODE(n, "Transpose", 13, x)), y);
  const uint32_t back = with(n, swapped, NODE(n, "Transpose", 13, product));
  add_output(n, NODE(n, "Reshape", 14, back, add_list(n, SHAPE(10, 36))));
}

static void compact_is_copied_once(network *n) {
  const uint32_t x = add_input(n, SHAPE(12, 10)), turned = NODE(n, "Transpose", 13, x);
  add_output(n, NODE(n, "Softmax", 13, turned));
  add_output(n, with(n, along_0, NODE(n, "Softmax", 13, NODE(n, "Unsqueeze", 13, turned, add_list(n, SHAPE(0))))));
}

static void outputs_are_copied(network *n) {
  const uint32_t x = add_input(n, SHAPE(12, 10)), turned = NODE(n, "Transpose", 13, x);
  add_output(n, turned);
  add_output(n, NODE(n, "Unsqueeze", 13, turned, add_list(n, SHAPE(1))));
  add_output(n, NODE(n, "Neg", 13, turned));
}

/* Parts that are outputs come from one dispatch. */
static void split_into_outputs(network *n) {
  const uint32_t x = add_input(n, SHAPE(12, 6)), first = with(n, along_0, NODE(n, "Split", 13, NODE(n, "Neg", 13, x)));
  const uint32_t second = add_part(n), third = add_part(n);
  add_output(n, first);
  add_output(n, NODE(n, "Softmax", 13, second));
  add_output(n, third);
}

static void output_is_viewed(network *n) {
  const uint32_t x = add_input(n, SHAPE(8, 8)), y = NODE(n, "Neg", 13, x), turned = NODE(n, "Transpose", 13, y);
  add_output(n, y);
  add_output(n, NODE(n, "Add", 14, turned, turned));
  add_output(n, NODE(n, "Mul", 14, y, turned));
}

static void no_strides_reshape_it(network *n) {
  const uint32_t x = add_input(n, SHAPE(6, 4)), turned = NODE(n, "Transpose", 13, x);
  add_output(n, NODE(n, "Tanh", 13, NODE(n, "Reshape", 14, turned, add_list(n, SHAPE(24)))));
  add_output(n, NODE(n, "Tanh", 13, NODE(n, "Reshape", 14, turned, add_list(n, SHAPE(2, 12)))));
}

static void strides_reshape_it(network *n) {
  const uint32_t x = add_input(n, SHAPE(6, 4, 5)), turned = with(n, turned_3, NODE(n, "Transpose", 13, x));
  const uint32_t y = add_input(n, SHAPE(5, 24));
  const uint32_t cut = NODE(n, "Reshape", 14, turned, add_list(n, SHAPE(5, 3, 2, 4)));
  add_output(n, NODE(n, "Sub", 14, NODE(n, "Reshape", 14, cut, add_list(n, SHAPE(5, 24))), y));
}

static void nothing_and_one(network *n) {
  const uint32_t x = add_input(n, SHAPE(1, 6, 1)), y = add_input(n, SHAPE(1, 6));
  const uint32_t turned = with(n, turned_3, NODE(n, "Transpose", 13, x)), front = add_list(n, SHAPE(0));
  add_output(n, NODE(n, "Add", 14, NODE(n, "Squeeze", 13, slice(n, turned, 0, -99, 0, -1), front), y));
  add_output(n, NODE(n, "ReduceSum", 13, slice(n, turned, 3, 3, 2, 1), add_list(n, SHAPE(2))));
}

/* What is added up in another order is copied: columns of few rows, and sums along what is no row in memory. */
static void other_orders_are_copied(network *n) {
  const uint32_t x = add_input(n, SHAPE(8, 8)), y = add_input(n, SHAPE(8, 8));
  add_output(n, NODE(n, "MatMul", 13, x, NODE(n, "Transpose", 13, y)));
  add_output(n, NODE(n, "ReduceSum", 13, NODE(n, "Transpose", 13, y), add_list(n, SHAPE(1))));
}

static void rows_are_reduced_in_place(network *n) {
  const uint32_t x = add_input(n, SHAPE(8, 8)), y = slice(n, slice(n, x, 1, 7, 0, 1), 3, 7, 1, 1);
  add_output(n, NODE(n, "ReduceMean", 18, y, add_list(n, SHAPE(1))));
  add_output(n, NODE(n, "ReduceMax", 18, y, add_list(n, SHAPE(0))));
}

static void masks(network *n) {
  const uint32_t x = add_input(n, SHAPE(1, 1, 9, 9)), y = add_input(n, SHAPE(2, 4, 5)), z = add_input(n, SHAPE(4, 5));
  const uint32_t cut = slice(n, slice(n, x, 3, 7, 2, 1), 0, 5, 3, 1);
  add_output(n, NODE(n, "Add", 14, y, NODE(n, "Squeeze", 13, cut, add_list(n, SHAPE(0, 1)))));
  add_output(n, NODE(n, "Where", 16, NODE(n, "Less", 13, cut, z), z, cut));
}

static void padded_and_tiled(network *n) {
  const uint32_t x = add_input(n, SHAPE(4, 6)), turned = NODE(n, "Transpose", 13, x);
  const uint32_t back = slice(n, turned, -1, -99, 0, -1);
  add_output(n, NODE(n, "Pad", 13, back, add_list(n, SHAPE(1, 0, 2, 1))));
  add_output(n, NODE(n, "Tile", 13, turned, add_list(n, SHAPE(2, 2))));
}

/* What is put side by side is made there. */
static void parts_into_one(network *n) {
  const uint32_t x = add_input(n, SHAPE(3, 8)), y = add_input(n, SHAPE(2, 8)), a = NODE(n, "Neg", 13, x);
  const uint32_t b = NODE(n, "Reshape", 14, NODE(n, "Tanh", 13, NODE(n, "Reshape", 14, y, add_list(n, SHAPE(16)))),
                          add_list(n, SHAPE(2, 8)));
  const uint32_t inner = with(n, along_0, NODE(n, "Concat", 13, a, b));
  const uint32_t c = NODE(n, "Add", 14, y, b), d = with(n, along_0, NODE(n, "Concat", 13, c, inner));
  add_output(n, NODE(n, "Softmax", 13, d));
  add_output(n, NODE(n, "Mul", 14, NODE(n, "Transpose", 13, a), NODE(n, "Transpose", 13, x)));
}

/* Into what the graph gives too, and of dimensions of size 1 in front of the axis. */
static void parts_into_output(network *n) {
  const uint32_t x = add_input(n, SHAPE(1, 2, 8)), y = add_input(n, SHAPE(1, 3, 8));
  const uint32_t a = NODE(n, "Neg", 13, x), b = NODE(n, "Tanh", 13, y);
  add_output(n, with(n, along_1, NODE(n, "Concat", 13, a, b)));
  add_output(n, NODE(n, "Add", 14, a, a));
}

/* Backwards through what two nodes made: both must be done. */
static void backwards_through_parts(network *n) {
  const uint32_t x = add_input(n, SHAPE(4, 8)), a = NODE(n, "Neg", 13, x);
  const uint32_t b = NODE(n, "Softmax", 13, NODE(n, "LogSoftmax", 13, NODE(n, "Softmax", 13, x)));
  const uint32_t whole = with(n, along_0, NODE(n, "Concat", 13, b, a));
  add_output(n, NODE(n, "Add", 14, slice(n, whole, 5, 1, 0, -1), x));
}

/* What is put side by side again, with others before or behind it, is there; in another order it is copied. */
static void parts_of_parts(network *n) {
  const uint32_t x = add_input(n, SHAPE(2, 8)), a = NODE(n, "Softmax", 13, x), b = NODE(n, "LogSoftmax", 13, a);
  const uint32_t none = slice(n, x, 2, 2, 0, 1);
  const uint32_t turned = with(n, along_0, NODE(n, "Concat", 13, b, a));
  const uint32_t c = NODE(n, "Softmax", 13, with(n, along_0, NODE(n, "Concat", 13, none, a, b)));
  const uint32_t d = NODE(n, "Softmax", 13, with(n, along_0, NODE(n, "Concat", 13, b, c)));
  const uint32_t all = with(n, along_0, NODE(n, "Concat", 13, a, b, c, d));
  add_output(n, with(n, along_0, NODE(n, "Concat", 13, a, b, c)));
  add_output(n, NODE(n, "Softmax", 13, all));
  add_output(n, NODE(n, "Softmax", 13, turned));
}

static void parts_that_are_not_made_there(network *n) {
  const uint32_t x = add_input(n, SHAPE(2, 8)), y = add_input(n, SHAPE(1, 3)), a = NODE(n, "Neg", 13, x);
  /* An input of the graph; what is there twice; columns; an offset that vector paths would not like; an output. */
  add_output(n, with(n, along_0, NODE(n, "Concat", 13, a, x)));
  add_output(n, with(n, along_0, NODE(n, "Concat", 13, a, a)));
  add_output(n, with(n, along_1, NODE(n, "Concat", 13, a, NODE(n, "Tanh", 13, x))));
  add_output(n, with(n, along_1, NODE(n, "Concat", 13, NODE(n, "Neg", 13, y), NODE(n, "Tanh", 13, y))));
  const uint32_t b = NODE(n, "Exp", 13, x);
  add_output(n, b);
  add_output(n, with(n, along_0, NODE(n, "Concat", 13, b, NODE(n, "Sqrt", 13, b))));
}

/* Parts that are views of something else are copied to their places from there, with all others at once. */
static void views_side_by_side(network *n) {
  const uint32_t x = add_input(n, SHAPE(8, 4)), y = add_input(n, SHAPE(1, 8));
  const uint32_t turned = NODE(n, "Transpose", 13, x), none = slice(n, turned, 2, 2, 0, 1);
  const uint32_t parts = with(n, along_0, NODE(n, "Concat", 13, turned, NODE(n, "Neg", 13, y), none));
  add_output(n, NODE(n, "Softmax", 13, parts));
}

/* Columns of a matrix, and one element over and over; backwards, and of three strides, parts take dispatches of their
 * own. */
static void views_of_all_kinds_side_by_side(network *n) {
  const uint32_t x = add_input(n, SHAPE(8, 9)), y = add_input(n, SHAPE(2, 3, 4)), z = add_input(n, SHAPE(3, 1));
  const uint32_t wide = NODE(n, "Expand", 13, z, add_list(n, SHAPE(3, 5)));
  const uint32_t columns = slice(n, slice(n, NODE(n, "Transpose", 13, x), 1, 8, 0, 3), 0, 8, 1, 2);
  const uint32_t back = slice(n, slice(n, x, 0, 3, 0, 1), -1, -4, 1, -1);
  const uint32_t parts = with(n, along_1, NODE(n, "Concat", 13, columns, z, wide, back));
  add_output(n, NODE(n, "Softmax", 13, parts));
  const uint32_t turned = NODE(n, "Transpose", 13, slice(n, y, 0, 4, 2, 2));
  add_output(n, NODE(n, "Softmax", 13, with(n, along_0, NODE(n, "Concat", 13, turned, turned))));
}

/* What lies in something that lies in something else that lies in a third, whose numbers are not in that order. */
static void parts_by_any_numbers(network *n) {
  const uint32_t x = add_input(n, SHAPE(4, 8)), y = add_input(n, SHAPE(4, 8));
  const uint32_t inner = with(n, along_0, NODE(n, "Concat", 13, NODE(n, "Neg", 13, x), NODE(n, "Tanh", 13, y)));
  const uint32_t upper = with(n, along_0, NODE(n, "Split", 13, inner)), lower = add_part(n);
  const uint32_t all = with(n, along_0, NODE(n, "Concat", 13, NODE(n, "Softmax", 13, y), inner));
  const uint32_t again = with(n, along_0, NODE(n, "Concat", 13, upper, lower));
  (void)with(n, along_0, NODE(n, "Split", 13, again));
  const uint32_t last = add_part(n);
  add_output(n, NODE(n, "Softmax", 13, last));
  add_output(n, NODE(n, "Softmax", 13, all));
  for (uint32_t k = 0; k < n->desc.node_count; ++k) {
    for (uint32_t i = 0; i < 2 * ARGUMENTS; ++i) {
      uint32_t *const v = &n->arguments[k][i / ARGUMENTS][i % ARGUMENTS];
      *v = *v == again ? last : *v == last ? again : *v;
    }
  }
}

/* The weights of the states, a constant, are kept as the kernel reads them. */
static void one_step(network *n) {
  static const leat_attribute units = {
      .struct_size = sizeof(units), .type = LEAT_ATTRIBUTE_INT, .name = "hidden_size", .i = 8};
  static const leat_attribute *const of_units[] = {&units};
  const uint32_t x = add_input(n, SHAPE(1, 2, 9)), w = add_constant(n, SHAPE(1, 32, 9));
  add_output(n, with(n, of_units, NODE(n, "LSTM", 14, x, w, add_constant(n, SHAPE(1, 32, 8)))));
}

/* What each takes of the device, however its inputs and outputs lie. */
static const struct {
  const char *name;
  void (*make)(network *n);
  uint32_t dispatches, copies;
} scenes[] = {
    {"transpose_into_product", transpose_into_product, 1, 0},
    {"split_into_products", split_into_products, 4, 0},
    {"slice_into_sum", slice_into_sum, 1, 0},
    {"slice_by_steps", slice_by_steps, 1, 0},
    {"backwards_into_product", backwards_into_product, 2, 0},
    {"twice_backwards", twice_backwards, 1, 0},
    {"expand_into_product", expand_into_product, 1, 0},
    {"class_token", class_token, 2, 0},
    {"last_token", last_token, 1, 0},
    {"no_token", no_token, 2, 0},
    {"tokens_in_a_row", tokens_in_a_row, 2, 0},
    {"tuples_in_a_row", tuples_in_a_row, 1, 0},
    {"tokens_here_and_there", tokens_here_and_there, 6, 0},
    {"attention", attention, 4, 0},
    {"heads_into_products", heads_into_products, 2, 0},
    {"compact_is_copied_once", compact_is_copied_once, 3, 0},
    {"outputs_are_copied", outputs_are_copied, 2, 1},
    {"split_into_outputs", split_into_outputs, 3, 0},
    {"output_is_viewed", output_is_viewed, 3, 0},
    {"no_strides_reshape_it", no_strides_reshape_it, 3, 0},
    {"strides_reshape_it", strides_reshape_it, 1, 0},
    {"nothing_and_one", nothing_and_one, 2, 0},
    {"other_orders_are_copied", other_orders_are_copied, 4, 0},
    {"rows_are_reduced_in_place", rows_are_reduced_in_place, 2, 0},
    {"masks", masks, 3, 0},
    {"padded_and_tiled", padded_and_tiled, 2, 0},
    {"parts_into_one", parts_into_one, 5, 0},
    {"parts_into_output", parts_into_output, 3, 0},
    {"backwards_through_parts", backwards_through_parts, 5, 0},
    {"parts_of_parts", parts_of_parts, 8, 0},
    {"parts_that_are_not_made_there", parts_that_are_not_made_there, 11, 0},
    {"parts_by_any_numbers", parts_by_any_numbers, 5, 0},
    {"views_side_by_side", views_side_by_side, 3, 0},
    {"views_of_all_kinds_side_by_side", views_of_all_kinds_side_by_side, 6, 0},
    {"one_step", one_step, 2, 0},
};

/* What an operator only picks from its input is read where it lies, by those that can; others are given a copy. */
static void views_are_read_where_they_lie(void **state) {
  const place p = open_place(state);
  static results direct, graphed;
  for (size_t s = 0; s < sizeof(scenes) / sizeof(scenes[0]); ++s) {
    network *const n = make_network();
    scenes[s].make(n);
    leat_graph *const graph = build(&p, n);
    const leat_graph_info info = info_of(&p, graph);
    if (info.dispatch_count != scenes[s].dispatches || info.copy_count != scenes[s].copies) {
      fail_msg("%s: %u dispatches and %u copies instead of %u and %u", scenes[s].name, info.dispatch_count,
               info.copy_count, scenes[s].dispatches, scenes[s].copies);
    }
    check_levels(plan_of(graph));
    run_nodes(&p, n, &direct);
    for (uint32_t host = 0; host < 1u << (n->desc.input_count + n->desc.output_count); ++host) {
      run_graph(&p, graph, n, host, &graphed);
      compare(n, &direct, &graphed);
    }
    assert_ok(p.f->api->graph->destroy(graph, &err));
    free(n);
  }
  close_place(&p);
}

/* New keys and values go behind earlier ones in the dispatch that uses them, where its kernel reads whole pieces of 16
 * bytes and threads exchange what they have; else in one before it. */
static void few_queries_take_one_dispatch(void **state) {
  const place p = open_place(state);
  static results direct, graphed;
  for (int64_t size = 6; size <= 8; size += 2) {
    network *const n = make_network();
    const uint32_t q = add_input(n, SHAPE(1, 4, 1, size)), k = add_input(n, SHAPE(1, 2, 1, size)),
                   v = add_input(n, SHAPE(1, 2, 1, size)), mask = add_input(n, SHAPE(1, 6)),
                   past_k = add_input(n, SHAPE(1, 2, 5, size)), past_v = add_input(n, SHAPE(1, 2, 5, size));
    add_output(n, NODE(n, "Attention", 23, q, k, v, mask, past_k, past_v));
    add_output(n, add_part(n));
    add_output(n, add_part(n));
    leat_graph *const graph = build(&p, n);
    assert_int_equal(info_of(&p, graph).dispatch_count, size == 8 && p.f->device->physical->shuffles ? 1 : 2);
    run_nodes(&p, n, &direct);
    run_graph(&p, graph, n, 0, &graphed);
    compare(n, &direct, &graphed);
    assert_ok(p.f->api->graph->destroy(graph, &err));
    free(n);
  }
  close_place(&p);
}

/* A plan for tensors on the device, of which that with this number, inputs first, has such an address. */
static leati_graph_plan *plan_at(const leat_graph *graph, uint32_t which, uint64_t address) {
  const uint32_t count = graph->input_count + graph->output_count;
  leati_view views[8];
  leati_graph_plan *plan;
  assert_true(count <= 8);
  for (uint32_t i = 0; i < count; ++i) {
    const leati_value *const value =
        &graph->values[i < graph->input_count ? graph->inputs[i] : graph->outputs[i - graph->input_count]];
    const DLTensor tensor = {
        .ndim = value->ndim, .dtype = leati_dtype_of(value->type), .shape = (int64_t *)value->shape};
    assert_ok(leati_view_import_shape(&tensor, "a tensor", &views[i], &err));
    views[i].address = i == which ? address : 0;
    leati_view_measure(&views[i]);
  }
  assert_ok(leati_graph_plan_make(graph, views, &plan, &err));
  return plan;
}

static const leati_pipeline *pipeline_at(const leat_graph *graph, uint64_t address) {
  leati_graph_plan *const plan = plan_at(graph, 0, address);
  assert_int_equal(plan->plan.step_count, 1);
  const leati_pipeline *const pipeline = plan->plan.steps[0].pipeline;
  leati_graph_plan_free(graph->device, plan);
  return pipeline;
}

/* Which kernel runs follows from where a part begins, not the tensor that it is a part of. */
static void parts_promise_their_own_alignment(void **state) {
  const place p = open_place(state);
  network *const plain = make_network();
  const uint32_t a = add_input(plain, SHAPE(12)), b = add_input(plain, SHAPE(12));
  add_output(plain, NODE(plain, "Add", 14, a, b));
  leat_graph *const alone = build(&p, plain);
  assert_ptr_not_equal(pipeline_at(alone, 0), pipeline_at(alone, 4));
  for (uint32_t first = 0; first < 5; ++first) {
    network *const n = make_network();
    const uint32_t x = add_input(n, SHAPE(16)), y = add_input(n, SHAPE(12));
    add_output(n, NODE(n, "Add", 14, slice(n, x, first, first + 12, 0, 1), y));
    leat_graph *const graph = build(&p, n);
    for (uint64_t address = 0; address < 16; address += 4) {
      assert_ptr_equal(pipeline_at(graph, address), pipeline_at(alone, (address + 4 * first) % 16));
    }
    assert_ok(p.f->api->graph->destroy(graph, &err));
    free(n);
  }
  assert_ok(p.f->api->graph->destroy(alone, &err));
  free(plain);
  close_place(&p);
}

/* Parts are made where vector paths fit, or beside. */
static void parts_are_made_where_they_are_aligned(void **state) {
  const place p = open_place(state);
  network *const n = make_network();
  parts_into_output(n);
  leat_graph *const graph = build(&p, n);
  for (uint64_t address = 0; address < 32; address += 4) {
    leati_graph_plan *const plan = plan_at(graph, 2, address);
    assert_int_equal(plan->plan.step_count, address % 16 == 0 ? 3 : 4);
    leati_graph_plan_free(graph->device, plan);
  }
  assert_ok(p.f->api->graph->destroy(graph, &err));
  free(n);
  close_place(&p);
}

/* A part that reaches over more elements than kernels count is copied, by pieces of more than one element. */
static void parts_that_reach_far_are_copied(void **state) {
  const place p = open_place(state);
  network *const n = make_network();
  const uint32_t x = add_input(n, SHAPE(4, INT64_C(1) << 30));
  const uint32_t part = slice(n, x, 0, 64, 1, 1);
  add_output(n, NODE(n, "Neg", 13, part));
  add_output(n, NODE(n, "Softmax", 13, NODE(n, "Transpose", 13, part)));
  leat_graph *const graph = build(&p, n);
  assert_int_equal(info_of(&p, graph).dispatch_count, 4);
  assert_ok(p.f->api->graph->destroy(graph, &err));
  free(n);
  close_place(&p);
}

/* What a step reads of a view are the bytes from its lowest element to its highest, wherever the first one lies. */
static void parts_touch_what_lies_between(void **state) {
  const place p = open_place(state);
  network *const n = make_network();
  const uint32_t x = add_input(n, 2, square), y = add_input(n, SHAPE(2, 4));
  add_output(n, NODE(n, "Sub", 14, slice(n, slice(n, x, 6, 3, 0, -2), 1, 5, 1, 1), y));
  leat_graph *const graph = build(&p, n);
  leati_graph_plan *const plan = plan_at(graph, 0, 0);
  const leati_plan *const it = &plan->plan;
  assert_int_equal(it->step_count, 1);
  for (uint32_t i = 0; i < it->access_count; ++i) {
    if (it->accesses[i].binding == 0) {
      assert_int_equal(it->accesses[i].offset, (6 * 8 + 1) * 4);
      assert_int_equal(it->accesses[i].begin, (4 * 8 + 1) * 4);
      assert_int_equal(it->accesses[i].end, (6 * 8 + 5) * 4);
    }
  }
  leati_graph_plan_free(graph->device, plan);
  assert_ok(p.f->api->graph->destroy(graph, &err));
  free(n);
  close_place(&p);
}

/* Windows that overlap reach over as many bytes as all of them together. */
static void runs_are_of_all_that_overlaps(void **state) {
  const place p = open_place(state);
  network *const n = make_network();
  const uint32_t x = add_input(n, SHAPE(4, 3, 2));
  add_output(n, NODE(n, "Neg", 13, x));
  leat_graph *const graph = build(&p, n);
  int64_t strides[] = {8, 1, 1}, dims[] = {4, 3, 2};
  const DLTensor windows = {.ndim = 3, .dtype = float_type, .shape = dims, .strides = strides};
  leati_view views[2];
  assert_ok(leati_view_import_shape(&windows, "windows", &views[0], &err));
  views[1] = views[0];
  leati_view_make_compact(&views[1]);
  memcpy(views[0].strides, strides, sizeof(strides));
  for (uint32_t i = 0; i < 2; ++i) {
    leati_view_measure(&views[i]);
  }
  leati_graph_plan *plan;
  assert_ok(leati_graph_plan_make(graph, views, &plan, &err));
  const leati_plan *const it = &plan->plan;
  assert_int_equal(it->step_count, 1);
  for (uint32_t i = 0; i < it->access_count; ++i) {
    if (it->accesses[i].binding == 0) {
      assert_int_equal(it->accesses[i].end - it->accesses[i].begin, (3 * 8 + 4) * 4);
      assert_int_equal(it->accesses[i].runs.pitch, 8 * 4);
      assert_int_equal(it->accesses[i].runs.size, 4 * 4);
    }
  }
  leati_graph_plan_free(graph->device, plan);
  assert_ok(p.f->api->graph->destroy(graph, &err));
  free(n);
  close_place(&p);
}

/* ---- Constants ----------------------------------------------------------------------------------------------------
 */

static leat_memory_stats stats_of(const place *p) {
  leat_memory_stats stats = {.struct_size = sizeof(stats)};
  assert_ok(p->f->api->memory->stats(p->f->device, &stats, &err));
  return stats;
}

static void constants_are_shared_by_content(void **state) {
  const place p = open_place(state);
  network *const n = make_network();
  const uint32_t x = add_input(n, 2, square), w = add_constant(n, 2, square);
  add_output(n, NODE(n, "MatMul", 13, x, w));
  const uint64_t before = stats_of(&p).live_block_count;
  leat_graph *graphs[4];
  for (int i = 0; i < 3; ++i) {
    graphs[i] = build(&p, n);
    assert_int_equal(stats_of(&p).live_block_count, before + 1);
    assert_int_equal(info_of(&p, graphs[i]).constant_bytes, 256);
  }
  n->floats[w][63] += 1;
  graphs[3] = build(&p, n);
  assert_int_equal(stats_of(&p).live_block_count, before + 2);
  static results direct, graphed;
  run_nodes(&p, n, &direct);
  run_graph(&p, graphs[3], n, 0, &graphed);
  compare(n, &direct, &graphed);
  for (int i = 3; i >= 0; --i) {
    assert_ok(p.f->api->graph->destroy(graphs[i], &err));
  }
  assert_int_equal(stats_of(&p).live_block_count, before);
  free(n);
  close_place(&p);
}

/* What follows from constants alone is computed once, and the constants that it was made of go. */
static void nodes_on_constants_run_once(void **state) {
  const place p = open_place(state);
  network *const n = make_network();
  const uint32_t x = add_input(n, 2, square), w = add_constant(n, 2, square);
  const uint32_t turned = NODE(n, "Transpose", 13, NODE(n, "Neg", 13, w));
  add_output(n, NODE(n, "MatMul", 13, x, turned));
  add_output(n, NODE(n, "Tanh", 13, turned));
  static results direct, graphed;
  run_nodes(&p, n, &direct);
  const uint64_t before = stats_of(&p).live_block_count;
  leat_graph *const graph = build(&p, n), *const again = build(&p, n);
  const leat_graph_info info = info_of(&p, graph);
  assert_int_equal(info.dispatch_count, 1);
  assert_int_equal(info.copy_count, 1);
  assert_int_equal(info.level_count, 1);
  assert_int_equal(info.constant_bytes, 2 * 256);
  if (computes()) {
    assert_int_equal(stats_of(&p).live_block_count, before + 2);
  }
  for (uint32_t host = 0; host < 8; ++host) {
    run_graph(&p, host % 2 == 0 ? graph : again, n, host, &graphed);
    compare(n, &direct, &graphed);
  }
  assert_ok(p.f->api->graph->destroy(graph, &err));
  assert_ok(p.f->api->graph->destroy(again, &err));
  assert_int_equal(stats_of(&p).live_block_count, before);
  free(n);
  /* What would be much larger than its constants is made at each launch. */
  network *const m = make_network();
  const uint32_t row = add_constant(m, 1, flat), y = add_input(m, 1, flat);
  static int64_t shape[] = {1024, 64};
  const uint32_t sizes = add_list(m, 2, shape), first = NODE(m, "ReduceMax", 18, NODE(m, "Expand", 13, row, sizes));
  add_output(m, NODE(m, "Add", 14, y, first));
  leat_graph *const lean = build(&p, m);
  assert_int_equal(info_of(&p, lean).constant_bytes, 256);
  assert_true(info_of(&p, lean).dispatch_count >= 3);
  assert_ok(p.f->api->graph->destroy(lean, &err));
  free(m);
  close_place(&p);
}

/* Of what follows from constants alone, rules leave each result that others take: here two ends of chains, one of them
 * taken by the graph and one by another chain of constants too. */
static void rules_keep_results_of_constants(void **state) {
  const place p = open_place(state);
  network *const n = make_network();
  const uint32_t x = add_input(n, 2, square), v = add_constant(n, 2, square), w = add_constant(n, 2, square);
  const uint32_t one = NODE(n, "Neg", 13, NODE(n, "Tanh", 13, v)), inner = NODE(n, "Sigmoid", 13, w);
  const uint32_t other = NODE(n, "Neg", 13, NODE(n, "Exp", 13, inner));
  add_output(n, one);
  add_output(n, NODE(n, "Add", 14, NODE(n, "MatMul", 13, x, other), inner));
  add_output(n, NODE(n, "Mul", 14, x, one));
  static results direct, graphed;
  run_nodes(&p, n, &direct);
  leat_graph *const graph = build(&p, n);
  run_graph(&p, graph, n, 0, &graphed);
  compare(n, &direct, &graphed);
  assert_ok(p.f->api->graph->destroy(graph, &err));
  free(n);
  close_place(&p);
}

/* ---- Launches -----------------------------------------------------------------------------------------------------
 */

/* A graph may go while launches of it are in flight. */
static void a_graph_goes_while_it_runs(void **state) {
  const place p = open_place(state);
  network *const n = make_random(9, true);
  static results direct, graphed[4];
  launched l[4];
  run_nodes(&p, n, &direct);
  leat_graph *const graph = build(&p, n);
  for (int i = 0; i < 4; ++i) {
    launch(&p, graph, n, 0, &graphed[i], &l[i]);
  }
  assert_ok(p.f->api->graph->destroy(graph, &err));
  for (int i = 0; i < 4; ++i) {
    finish(&p, 0, &graphed[i], &l[i]);
    compare(n, &direct, &graphed[i]);
  }
  free(n);
  close_place(&p);
}

static leati_vk_device driver;
static uint32_t dispatches;

static void count_dispatches(VkCommandBuffer commands, uint32_t x, uint32_t y, uint32_t z) {
  ++dispatches;
  driver.CmdDispatch(commands, x, y, z);
}

enum { MET = 5 };

/* Launches a graph once in each of several streams, so that all lists are in one command buffer: they gather while this
 * thread keeps the leader's role to itself. Gives the dispatches that they took. */
static uint32_t launch_together(const place places[MET], const leat_graph *graph, const network *n,
                                const results *expected) {
  static results found[MET];
  leat_device *const device = places[0].f->device;
  leati_lane *const lane = leati_lane_of(device->semaphores[0]);
  launched l[MET];
  assert_true(leati_role_try(&lane->leader));
  for (int i = 0; i < MET; ++i) {
    launch(&places[i], graph, n, 0, &found[i], &l[i]);
    assert_ok(places[i].f->api->stream->flush(places[i].stream, &err));
  }
  driver = device->vk;
  dispatches = 0;
  device->vk.CmdDispatch = count_dispatches;
  leati_role_leave(&lane->leader);
  leati_lane_help(lane);
  assert_ok(places[0].f->api->device->synchronize(device, &err));
  device->vk = driver;
  for (int i = 0; i < MET; ++i) {
    finish(&places[i], 0, &found[i], &l[i]);
    compare(n, expected, &found[i]);
  }
  return dispatches;
}

static void launches_that_meet_give_the_same_bits(void **state) {
  static results direct;
  reopen(fixture_of(state), "LEAT_LANES", "1");
  place places[MET];
  for (int i = 0; i < MET; ++i) {
    places[i] = open_place(state);
  }
  for (uint32_t seed = 200; seed < 215; ++seed) {
    network *const n = make_random(seed, true);
    leat_graph *const graph = build(&places[0], n);
    run_nodes(&places[0], n, &direct);
    assert_int_equal(launch_together(places, graph, n, &direct), MET * info_of(&places[0], graph).dispatch_count);
    assert_ok(places[0].f->api->graph->destroy(graph, &err));
    free(n);
  }
  for (int i = 0; i < MET; ++i) {
    close_place(&places[i]);
  }
  reopen(fixture_of(state), "LEAT_LANES", NULL);
}

enum { THREADS = 8, LAUNCHES = 40 };

typedef struct worker {
  fixture *f;
  const leat_graph *graph;
  const network *n;
  const results *expected;
  bool failed;
} worker;

static void *work(void *argument) {
  worker *const w = argument;
  place p = {.f = w->f};
  results *const found = malloc(sizeof(*found));
  assert_ok(p.f->api->stream->create(p.f->device, 0, &p.stream, &err));
  for (uint32_t i = 0; i < LAUNCHES; ++i) {
    run_graph(&p, w->graph, w->n, i % 8, found);
    for (uint32_t o = 0; o < w->n->desc.output_count; ++o) {
      w->failed =
          w->failed || (computes() && memcmp(found->floats[o], w->expected->floats[o], sizeof(found->floats[o])) != 0);
    }
  }
  close_place(&p);
  free(found);
  return NULL;
}

/* Frees the network. */
static void launch_from_threads(const place *p, network *n) {
  static results direct;
  run_nodes(p, n, &direct);
  leat_graph *const graph = build(p, n);
  worker workers[THREADS];
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    workers[i] = (worker){.f = p->f, .graph = graph, .n = n, .expected = &direct};
    assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
  }
  for (int i = 0; i < THREADS; ++i) {
    assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_false(workers[i].failed);
  }
  assert_int_equal(info_of(p, graph).launch_count, THREADS * LAUNCHES);
  assert_ok(p->f->api->graph->destroy(graph, &err));
  free(n);
}

static void threads_launch_one_graph_at_once(void **state) {
  const place p = open_place(state);
  launch_from_threads(&p, make_random(12, false));
  for (size_t s = 0; s < sizeof(scenes) / sizeof(scenes[0]); s += 5) {
    network *const n = make_network();
    scenes[s].make(n);
    launch_from_threads(&p, n);
  }
  close_place(&p);
}

typedef struct builder {
  fixture *f;
  const network *n;
  pthread_barrier_t *start;
  leat_graph *graph;
} builder;

static void *build_at_once(void *argument) {
  builder *const b = argument;
  (void)pthread_barrier_wait(b->start);
  if (b->f->api->graph->build(b->f->device, &b->n->desc, &b->graph, NULL) != LEAT_OK) {
    b->graph = NULL;
  }
  return NULL;
}

/* Threads that build the same graph at once bring its constants to the device once. */
static void threads_build_the_same_graph_at_once(void **state) {
  const place p = open_place(state);
  network *const n = make_network();
  const uint32_t x = add_input(n, 2, square), w = add_constant(n, 2, square), v = add_constant(n, 2, square);
  add_output(n, NODE(n, "Add", 14, NODE(n, "MatMul", 13, x, w), v));
  const uint64_t before = stats_of(&p).live_block_count;
  for (int round = 0; round < 30; ++round) {
    builder builders[THREADS];
    pthread_t threads[THREADS];
    pthread_barrier_t start;
    assert_int_equal(pthread_barrier_init(&start, NULL, THREADS), 0);
    for (int i = 0; i < THREADS; ++i) {
      builders[i] = (builder){.f = p.f, .n = n, .start = &start};
      assert_int_equal(pthread_create(&threads[i], NULL, build_at_once, &builders[i]), 0);
    }
    for (int i = 0; i < THREADS; ++i) {
      assert_int_equal(pthread_join(threads[i], NULL), 0);
      assert_non_null(builders[i].graph);
    }
    assert_int_equal(pthread_barrier_destroy(&start), 0);
    assert_int_equal(stats_of(&p).live_block_count, before + 2);
    for (int i = 0; i < THREADS; ++i) {
      assert_ok(p.f->api->graph->destroy(builders[i].graph, &err));
    }
    assert_int_equal(stats_of(&p).live_block_count, before);
  }
  free(n);
  close_place(&p);
}

/* A graph for rows of any number, with a Shape and a constant. */
static network *make_rows(void) {
  network *const n = make_network();
  static const int64_t rows[] = {1, 8}, open[] = {-1, 8};
  const uint32_t x = add_input(n, 2, rows);
  n->infos[x].shape = open;
  const uint32_t w = add_constant(n, 2, square), to_flat = add_list(n, 1, (const int64_t[]){-1});
  const uint32_t product = NODE(n, "MatMul", 13, x, w), flattened = NODE(n, "Reshape", 14, product, to_flat);
  add_output(n, NODE(n, "Reshape", 14, NODE(n, "Tanh", 13, flattened), NODE(n, "Shape", 15, x)));
  add_output(n, NODE(n, "Shape", 15, product));
  return n;
}

/* Has a graph's plans take no more than so many of them do. */
static void bound_plans(const place *p, leat_graph *graph, network *n, uint64_t plans) {
  static results found;
  n->shapes[n->desc.inputs[0]][0] = 1;
  run_graph(p, graph, n, 0, &found);
  graph->plans.cache.table.bytes_max = plans * graph->plans.cache.table.bytes;
  graph->programs.table.bytes_max = 2 * graph->programs.table.bytes;
}

/* More shapes than there is room for plans: memory is bounded, and each launch is right. */
static void shapes_without_end_are_launched(void **state) {
  const place p = open_place(state);
  network *const n = make_rows();
  const uint32_t x = n->desc.inputs[0];
  leat_graph *const graph = build(&p, n);
  static results direct, graphed;
  assert_int_equal(info_of(&p, graph).plan_count, 0);
  bound_plans(&p, graph, n, 8);
  uint64_t blocks = 0;
  for (int round = 0; round < 4; ++round) {
    for (int64_t rows = 0; rows <= 24; ++rows) {
      n->shapes[x][0] = rows;
      run_nodes(&p, n, &direct);
      run_graph(&p, graph, n, (uint32_t)rows % 8, &graphed);
      compare(n, &direct, &graphed);
      run_graph(&p, graph, n, 0, &graphed);
      compare(n, &direct, &graphed);
    }
    assert_true(graph->plans.cache.table.bytes <= graph->plans.cache.table.bytes_max);
    assert_in_range(info_of(&p, graph).plan_count, 4, 16);
    assert_true(blocks == 0 || stats_of(&p).live_block_count <= blocks + 16);
    blocks = blocks == 0 ? stats_of(&p).live_block_count : blocks;
  }
  assert_ok(p.f->api->graph->destroy(graph, &err));
  free(n);
  close_place(&p);
}

static void *work_with_shapes(void *argument) {
  worker *const w = argument;
  place p = {.f = w->f};
  network *const n = make_rows();
  results *const found = malloc(sizeof(*found)), *const expected = malloc(sizeof(*expected));
  assert_ok(p.f->api->stream->create(p.f->device, 0, &p.stream, &err));
  const uint32_t x = n->desc.inputs[0];
  n->shapes[x][0] = 1;
  /* Rows are computed one by one, so the first of more is the only one of one. */
  run_graph(&p, w->graph, n, 7, expected);
  uint32_t seed = (uint32_t)(uintptr_t)w->expected;
  for (uint32_t i = 0; i < LAUNCHES; ++i) {
    n->shapes[x][0] = 1 + next_random(&seed) % 30;
    run_graph(&p, w->graph, n, i % 8, found);
    int64_t shape[2];
    memcpy(shape, found->floats[1], sizeof(shape));
    w->failed = w->failed || shape[0] != n->shapes[x][0] || shape[1] != 8 ||
                (computes() && memcmp(found->floats[0], expected->floats[0], 8 * sizeof(float)) != 0);
  }
  close_place(&p);
  free(found);
  free(expected);
  free(n);
  return NULL;
}

/* Plans and programs go out for others while other threads use them, and the memory that they take stays what it is. */
static void threads_replace_each_others_plans(void **state) {
  enum { MANY = 16 };
  const place p = open_place(state);
  network *const n = make_rows();
  leat_graph *const graph = build(&p, n);
  bound_plans(&p, graph, n, 8);
  worker workers[MANY];
  pthread_t threads[MANY];
  for (int i = 0; i < MANY; ++i) {
    workers[i] = (worker){.f = p.f, .graph = graph, .n = n, .expected = (const results *)(uintptr_t)(i + 1)};
    assert_int_equal(pthread_create(&threads[i], NULL, work_with_shapes, &workers[i]), 0);
  }
  for (int i = 0; i < MANY; ++i) {
    assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_false(workers[i].failed);
  }
  const leati_lru_table *const table = &graph->plans.cache.table;
  assert_true(table->bytes <= table->bytes_max);
  /* What went out last waits for the next that comes. */
  assert_true(table->bytes_out <= table->bytes_max / 2);
  assert_in_range(graph->programs.table.count, 1, 3);
  assert_ok(p.f->api->graph->destroy(graph, &err));
  free(n);
  close_place(&p);
}

/* Tensors that lie anywhere and in any order of elements, each from its own offset. */
static void tensors_lie_where_they_like(void **state) {
  const place p = open_place(state);
  network *const n = make_network();
  const uint32_t x = add_input(n, 2, square), y = add_input(n, 2, square), to_flat = add_list(n, 1, flat);
  add_output(n, NODE(n, "Add", 14, NODE(n, "Reshape", 14, x, to_flat), NODE(n, "Reshape", 14, y, to_flat)));
  add_output(n, NODE(n, "Mul", 14, x, y));
  leat_graph *const graph = build(&p, n);
  DLTensor in[2], out[2];
  for (int i = 0; i < 2; ++i) {
    in[i] = on_device(&p, &n->tensors[n->inputs[i]]);
    out[i] = on_device(&p, &n->tensors[n->inputs[i]]);
  }
  out[0].ndim = 1;
  out[0].shape = (int64_t *)flat;
  static int64_t turned[] = {1, 8};
  static float memory[2][ELEMENTS], found[2][64];
  for (int i = 0; i < 2; ++i) {
    static int64_t whole[] = {ELEMENTS};
    const uint32_t v = n->inputs[i];
    memcpy(memory[i], n->floats[v], sizeof(memory[i]));
    const DLTensor from = {.data = memory[i], .device = {kDLCPU, 0}, .ndim = 1, .dtype = float_type, .shape = whole};
    DLTensor to = in[i];
    to.ndim = 1;
    to.shape = whole;
    copy(&p, &from, &to);
  }
  for (uint32_t variant = 0; variant < 64; ++variant) {
    const uint32_t offsets[] = {variant % 4, variant / 4 % 4 * 2, variant / 16};
    const bool strided = variant % 3 == 0;
    in[0].byte_offset = offsets[0] * sizeof(float);
    in[1].byte_offset = offsets[1] * sizeof(float);
    out[0].byte_offset = offsets[2] * sizeof(float);
    in[1].strides = strided ? turned : NULL;
    const DLTensor *const inputs[] = {&in[0], &in[1]}, *const outputs[] = {&out[0], &out[1]};
    assert_ok(p.f->api->graph->launch(graph, p.stream, 2, inputs, 2, outputs, &err));
    for (int o = 0; o < 2; ++o) {
      DLTensor to = {.data = found[o], .device = {kDLCPU, 0}, .ndim = 1, .dtype = float_type, .shape = (int64_t *)flat};
      DLTensor from = out[o];
      from.ndim = 1;
      from.shape = (int64_t *)flat;
      copy(&p, &from, &to);
    }
    assert_ok(p.f->api->stream->synchronize(p.stream, &err));
    for (uint32_t i = 0; i < 64 && computes(); ++i) {
      const float a = memory[0][offsets[0] + i], b = memory[1][offsets[1] + (strided ? i % 8 * 8 + i / 8 : i)];
      assert_true(found[0][i] == a + b);
      assert_true(found[1][i] == a * b);
    }
  }
  for (int i = 0; i < 2; ++i) {
    release(&p, &in[i]);
    release(&p, &out[i]);
  }
  /* What is aligned otherwise has a plan of its own: kernels differ by that. So has what has strides. */
  bool seen[64] = {false};
  uint32_t expected = 0;
  for (uint32_t variant = 0; variant < 64; ++variant) {
    const uint32_t kind = (variant & ~8u) | (variant % 3 == 0 ? 8u : 0u);
    expected += !seen[kind];
    seen[kind] = true;
  }
  assert_int_equal(info_of(&p, graph).plan_count, expected);
  assert_ok(p.f->api->graph->destroy(graph, &err));
  free(n);
  close_place(&p);
}

/* A plan that went out stays while a thread may be using it. */
static void a_plan_in_use_is_not_freed(void **state) {
  const place p = open_place(state);
  network *const n = make_rows();
  leat_graph *const graph = build(&p, n);
  static results found;
  bound_plans(&p, graph, n, 8);
  const leati_lru_table *const table = &graph->plans.cache.table;
  leati_lru_counter *counter = NULL;
  uint64_t held = 0;
  for (int64_t rows = 1; rows <= 40; ++rows) {
    if (rows == 20) {
      /* Whoever looks now may hold the plans of before. */
      assert_non_null(table->out);
      counter = leati_lru_enter(&graph->plans.cache.readers, 5);
      held = table->bytes_out;
    }
    n->shapes[n->inputs[0]][0] = rows;
    run_graph(&p, graph, n, 0, &found);
    assert_true(table->bytes <= table->bytes_max);
  }
  assert_true(table->bytes_out > held / 2);
  assert_true(table->bytes_out <= table->bytes_max / 2);
  const leati_lru_entry *const out = table->out;
  leati_lru_leave(counter);
  n->shapes[n->inputs[0]][0] = 41;
  run_graph(&p, graph, n, 0, &found);
  assert_ptr_not_equal(table->out, out);
  assert_ok(p.f->api->graph->destroy(graph, &err));
  free(n);
  close_place(&p);
}

typedef struct starter {
  worker w;
  pthread_barrier_t *start;
} starter;

static void *launch_two_shapes(void *argument) {
  starter *const s = argument;
  place p = {.f = s->w.f};
  network *const n = make_rows();
  results *const found = malloc(sizeof(*found));
  assert_ok(p.f->api->stream->create(p.f->device, 0, &p.stream, &err));
  (void)pthread_barrier_wait(s->start);
  for (int64_t rows = 2; rows < 4; ++rows) {
    n->shapes[n->desc.inputs[0]][0] = rows;
    run_graph(&p, s->w.graph, n, 0, found);
  }
  close_place(&p);
  free(found);
  free(n);
  return NULL;
}

/* Threads that come together for two shapes make two plans. */
static void threads_that_come_together_make_one_plan(void **state) {
  enum { MANY = 16, ROUNDS = 10 };
  const place p = open_place(state);
  network *const n = make_rows();
  for (int round = 0; round < ROUNDS; ++round) {
    leat_graph *const graph = build(&p, n);
    pthread_barrier_t start;
    starter starters[MANY];
    pthread_t threads[MANY];
    assert_int_equal(pthread_barrier_init(&start, NULL, MANY), 0);
    for (int i = 0; i < MANY; ++i) {
      starters[i] = (starter){.w = {.f = p.f, .graph = graph}, .start = &start};
      assert_int_equal(pthread_create(&threads[i], NULL, launch_two_shapes, &starters[i]), 0);
    }
    for (int i = 0; i < MANY; ++i) {
      assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_int_equal(pthread_barrier_destroy(&start), 0);
    assert_int_equal(info_of(&p, graph).plan_count, 2);
    assert_int_equal(info_of(&p, graph).launch_count, 2 * MANY);
    assert_ok(p.f->api->graph->destroy(graph, &err));
  }
  free(n);
  close_place(&p);
}

typedef struct inferrer {
  starter s;
  int64_t rows;
} inferrer;

/* Launches with a shape of the thread's own, for which it makes the plan. */
static void *launch_own_shape(void *argument) {
  inferrer *const it = argument;
  place p = {.f = it->s.w.f};
  network *const n = make_rows();
  results *const found = malloc(sizeof(*found));
  assert_ok(p.f->api->stream->create(p.f->device, 0, &p.stream, &err));
  (void)pthread_barrier_wait(it->s.start);
  n->shapes[n->desc.inputs[0]][0] = it->rows;
  run_graph(&p, it->s.w.graph, n, 0, found);
  /* So that no two threads have the same number. */
  (void)pthread_barrier_wait(it->s.start);
  close_place(&p);
  free(found);
  free(n);
  return NULL;
}

/* Inferences that a graph keeps when many threads have launched it; some of these may share a place. */
static int count_kept(const place *p, const leat_graph *graph) {
  enum { MANY = 16 };
  pthread_barrier_t start;
  inferrer inferrers[MANY];
  pthread_t threads[MANY];
  assert_int_equal(pthread_barrier_init(&start, NULL, MANY), 0);
  for (int i = 0; i < MANY; ++i) {
    inferrers[i] = (inferrer){.s = {.w = {.f = p->f, .graph = graph}, .start = &start}, .rows = 2 + i};
    assert_int_equal(pthread_create(&threads[i], NULL, launch_own_shape, &inferrers[i]), 0);
  }
  for (int i = 0; i < MANY; ++i) {
    assert_int_equal(pthread_join(threads[i], NULL), 0);
  }
  assert_int_equal(pthread_barrier_destroy(&start), 0);
  int kept = 0;
  for (int i = 0; i < LEATI_KEPT_INFERENCES; ++i) {
    kept += atomic_load(&graph->kept[i]) != NULL;
  }
  return kept;
}

/* What threads keep of inferences counts; where there is no room for all, one is kept. */
static void kept_inferences_are_bounded(void **state) {
  const place p = open_place(state);
  network *const n = make_rows();
  const uint64_t plan_bytes = p.f->device->graph_plan_bytes;
  leat_graph *graph = build(&p, n);
  assert_true(count_kept(&p, graph) > 1);
  const uint64_t all = atomic_load(&graph->kept_bytes);
  assert_in_range(all, 1, plan_bytes);
  assert_ok(p.f->api->graph->destroy(graph, &err));
  graph = build(&p, n);
  p.f->device->graph_plan_bytes = 1;
  assert_int_equal(count_kept(&p, graph), 1);
  assert_in_range(atomic_load(&graph->kept_bytes), 1, all - 1);
  p.f->device->graph_plan_bytes = plan_bytes;
  assert_ok(p.f->api->graph->destroy(graph, &err));
  free(n);
  close_place(&p);
}

/* A step of the hash of shared_constants.c. */
static uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * UINT64_C(0xff51afd7ed558ccd);
  return hash ^ hash >> 32;
}

/* Other bytes of the same hash are not taken for the same. */
static void constants_of_one_hash_are_told_apart(void **state) {
  const place p = open_place(state);
  network *const n = make_network();
  static const int64_t four[] = {4};
  const uint32_t x = add_input(n, 1, four), w = add_constant(n, 1, four);
  add_output(n, NODE(n, "Add", 14, x, w));
  leat_graph *const first = build(&p, n);
  const uint64_t before = stats_of(&p).live_block_count;
  const uint64_t start = 16 * UINT64_C(0x9e3779b97f4a7c15);
  uint64_t words[2], others[2];
  memcpy(words, n->floats[w], sizeof(words));
  others[0] = words[0] ^ 1;
  others[1] = words[1] ^ mix(start, words[0]) ^ mix(start, others[0]);
  assert_int_equal(mix(mix(start, words[0]), words[1]), mix(mix(start, others[0]), others[1]));
  memcpy(n->floats[w], others, sizeof(others));
  leat_graph *const second = build(&p, n), *const third = build(&p, n);
  assert_int_equal(stats_of(&p).live_block_count, before + 1);
  assert_ok(p.f->api->graph->destroy(first, &err));
  assert_ok(p.f->api->graph->destroy(second, &err));
  assert_ok(p.f->api->graph->destroy(third, &err));
  free(n);
  close_place(&p);
}

/* What is left when the device is closed goes with it. */
static void graphs_that_are_left_go_with_the_device(void **state) {
  const place p = open_place(state);
  network *const n = make_random(21, true), *const m = make_rows();
  static results found;
  leat_graph *const graph = build(&p, n);
  run_graph(&p, graph, n, 0, &found);
  (void)build(&p, m);
  run_graph(&p, build(&p, m), m, 0, &found);
  close_place(&p);
  reopen(p.f, "LEAT_LANES", NULL);
  free(n);
  free(m);
}

/* ---- Shape arithmetic ---------------------------------------------------------------------------------------------
 */

static uint32_t add_ints(network *n, int32_t ndim, const int64_t *shape, const int64_t *values) {
  const uint32_t v = add_value(n, int_type, ndim, shape);
  memcpy(n->ints[v], values, bytes_of(&n->tensors[v]));
  n->inputs[n->desc.input_count++] = v;
  return v;
}

static uint32_t add_reals(network *n, int32_t ndim, const int64_t *shape, const float *values) {
  const uint32_t v = add_input(n, ndim, shape);
  memcpy(n->floats[v], values, bytes_of(&n->tensors[v]));
  return v;
}

/* Builds a network, computes each node by hand from what the ones before gave on the device, and compares. */
static void check_evaluation(const place *p, network *n) {
  enum { EACH = 8 }; /* outputs of a run */
  static results direct[VALUES / EACH + 1];
  static int64_t given[VALUES][ELEMENTS / 2], found[ELEMENTS / 2];
  leati_view views[VALUES];
  uint32_t made[VALUES], count = 0;
  for (uint32_t k = 0; k < n->desc.node_count; ++k) {
    for (uint32_t o = 0; o < n->nodes[k].output_count; ++o) {
      made[count++] = n->nodes[k].outputs[o];
    }
  }
  for (uint32_t first = 0; first < count; first += EACH) {
    n->desc.output_count = 0;
    for (uint32_t i = first; i < count && i < first + EACH; ++i) {
      add_output(n, made[i]);
    }
    run_nodes(p, n, &direct[first / EACH]);
  }
  for (uint32_t v = 0; v < n->desc.value_count; ++v) {
    if (n->tensors[v].data != NULL) {
      assert_ok(leati_view_import_host(&n->tensors[v], "a tensor", &views[v], &err));
      memcpy(given[v], n->tensors[v].data, bytes_of(&n->tensors[v]));
    }
  }
  leat_graph *const graph = build(p, n);
  for (uint32_t i = 0; i < count; ++i) {
    const leati_value *const value = &graph->values[made[i]];
    const leati_node *const node = &graph->nodes[value->source];
    leat_shape *const shape = &direct[i / EACH].shapes[i % EACH];
    DLTensor tensor = {.ndim = shape->ndim, .dtype = shape->dtype, .shape = shape->dims};
    assert_ok(leati_view_import_shape(&tensor, "a result", &views[made[i]], &err));
    memcpy(given[made[i]], direct[i / EACH].floats[i % EACH], sizeof(direct[0].floats[0]));
    leati_view inputs[ARGUMENTS] = {{0}}, outputs[ARGUMENTS] = {{0}};
    for (uint32_t k = 0; k < node->input_count; ++k) {
      if (node->inputs[k] != LEAT_GRAPH_NO_VALUE) {
        inputs[k] = views[node->inputs[k]];
        inputs[k].present = true;
        inputs[k].data = given[node->inputs[k]];
      }
    }
    uint32_t o = 0;
    while (node->outputs[o] != made[i]) {
      ++o;
    }
    memset(found, 0, sizeof(found));
    outputs[o] = views[made[i]];
    outputs[o].present = true;
    outputs[o].data = found;
    assert_true(node->evaluates);
    leati_op_def_of(node->op)->evaluate(
        node->op,
        &(leati_call){
            .input_count = node->input_count, .output_count = node->output_count, .inputs = inputs, .outputs = outputs},
        o);
    if (computes() && memcmp(found, given[made[i]], bytes_of(&tensor)) != 0) {
      fail_msg("node %u: output %u of %s", value->source, o, n->nodes[value->source].op);
    }
  }
  assert_ok(p->f->api->graph->destroy(graph, &err));
  free(n);
}

static void shape_arithmetic_is_what_operators_compute(void **state) {
  const place p = open_place(state);
  static const int64_t matrix[] = {2, 4}, row[] = {4}, column[] = {2, 1}, one[] = {1}, cube[] = {2, 1, 4};
  static const int64_t narrow_matrix[] = {2, 2};
  static const int64_t numbers[] = {7, -7, 0, INT64_MIN, 5, -1, INT64_MAX, 3}, others[] = {2, -3, 0, -1};
  static const int64_t places[] = {-1, 0, 7, 1};
  static const leat_attribute first = {.struct_size = sizeof(first),
                                       .type = LEAT_ATTRIBUTE_INT,
                                       .name = "axis",
                                       .i = 0},
                              last = {.struct_size = sizeof(last), .type = LEAT_ATTRIBUTE_INT, .name = "axis", .i = -1},
                              small = {.struct_size = sizeof(small), .type = LEAT_ATTRIBUTE_INT, .name = "to", .i = 6},
                              keep = {.struct_size = sizeof(keep), .type = LEAT_ATTRIBUTE_INT, .name = "keepdims"},
                              fmod = {.struct_size = sizeof(fmod), .type = LEAT_ATTRIBUTE_INT, .name = "fmod", .i = 1};
  static const leat_attribute parts = ATTRIBUTE(INT, .name = "num_outputs", .i = 3);
  static const leat_attribute *const three_parts[] = {&last, &parts};
  const leat_attribute *list[4];
  network *n = make_network();
  uint32_t a = add_ints(n, 2, matrix, numbers), b = add_ints(n, 1, row, others);
  const uint32_t c = add_ints(n, 2, column, others);
  static const char *const pairs[] = {"Add", "Sub",   "Mul",  "Div",     "Mod",         "Min",
                                      "Max", "Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"};
  for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); ++i) {
    (void)NODE(n, pairs[i], 13, a, b);
    (void)NODE(n, pairs[i], 13, c, b);
  }
  check_evaluation(&p, n);
  n = make_network();
  a = add_ints(n, 2, matrix, numbers);
  b = add_ints(n, 1, row, places);
  const uint32_t less = NODE(n, "Less", 13, a, b), equal = NODE(n, "Equal", 13, a, b);
  (void)NODE(n, "Where", 16, NODE(n, "Or", 7, NODE(n, "Not", 1, less), NODE(n, "And", 7, less, equal)), a, b);
  (void)NODE(n, "Neg", 13, NODE(n, "Abs", 13, a));
  const uint32_t narrow = NODE(n, "Cast", 13, a);
  set_attribute(n, &small, &list[0]);
  (void)NODE(n, "Mul", 14, narrow, narrow);
  (void)NODE(n, "Gather", 13, a, b);
  set_attribute(n, &last, &list[1]);
  (void)NODE(n, "Gather", 13, a, b);
  (void)NODE(n, "Concat", 13, a, a, a);
  set_attribute(n, &last, &list[2]);
  (void)NODE(n, "Concat", 13, a, a);
  set_attribute(n, &first, &list[3]);
  check_evaluation(&p, n);
  n = make_network();
  a = add_ints(n, 2, matrix, numbers);
  b = add_ints(n, 1, one, places);
  const uint32_t starts = add_list(n, 2, (const int64_t[]){-1, 9}), ends = add_list(n, 2, (const int64_t[]){-9, 0});
  const uint32_t axes = add_list(n, 2, (const int64_t[]){0, -1}), steps = add_list(n, 2, (const int64_t[]){-1, -2});
  const uint32_t zero = add_list(n, 1, (const int64_t[]){0}), three = add_list(n, 1, (const int64_t[]){3});
  (void)NODE(n, "Slice", 13, a, starts, ends, axes, steps);
  (void)NODE(n, "Slice", 13, a, zero, three);
  (void)NODE(n, "Slice", 13, a, zero, three, add_list(n, 1, (const int64_t[]){1}));
  (void)NODE(n, "Expand", 13, b, add_list(n, 3, cube));
  (void)NODE(n, "Reshape", 14, a, add_list(n, 3, cube));
  const uint32_t second = add_list(n, 1, (const int64_t[]){1});
  (void)NODE(n, "Squeeze", 13, NODE(n, "Unsqueeze", 13, a, second), second);
  (void)NODE(n, "Identity", 16, a);
  (void)NODE(n, "Flatten", 13, a);
  (void)NODE(n, "ReduceProd", 13, a);
  set_attribute(n, &keep, &list[0]);
  check_evaluation(&p, n);
  n = make_network();
  a = add_ints(n, 2, matrix, numbers);
  /* Fewer than the data has along the second dimension; one is out of range. */
  b = add_ints(n, 2, narrow_matrix, places);
  (void)NODE(n, "GatherElements", 13, a, b);
  set_attribute(n, &last, &list[0]);
  (void)NODE(n, "GatherElements", 13, a, b);
  set_attribute(n, &first, &list[1]);
  check_evaluation(&p, n);
  n = make_network();
  a = add_ints(n, 2, matrix, numbers);
  b = add_ints(n, 1, row, others);
  (void)NODE(n, "Max", 13, a, b, add_ints(n, 2, column, places));
  (void)NODE(n, "Min", 13, b, a, b, b);
  (void)NODE(n, "Min", 13, a);
  (void)NODE(n, "Mod", 13, a, b);
  set_attribute(n, &fmod, &list[0]);
  (void)NODE(n, "Split", 18, a);
  set_attributes(n, three_parts, 2);
  (void)add_part(n);
  (void)add_part(n); /* none of four columns */
  (void)NODE(n, "Split", 13, a);
  set_attribute(n, &last, &list[1]);
  (void)add_part(n);
  (void)NODE(n, "Split", 13, a, add_list(n, 2, (const int64_t[]){1, 3}));
  set_attribute(n, &last, &list[2]);
  (void)add_part(n);
  (void)NODE(n, "Split", 18, a, add_list(n, 2, (const int64_t[]){0, 2}));
  (void)add_part(n);
  check_evaluation(&p, n);
  close_place(&p);
}

/* In all modes: more than there is, on one side alone, and with some taken away; by all dimensions, and by some. */
static void pads_on_the_host_are_those_of_the_device(void **state) {
  const place p = open_place(state);
  static const int64_t matrix[] = {2, 4}, numbers[] = {7, -7, 0, INT64_MIN, 5, -1, INT64_MAX, 3};
  static const float reals[] = {7.5f, -7.5f, 0, -INFINITY, 2147483648.0f, -0.4f, 1e19f, 3};
  static const char *const names[] = {"constant", "reflect", "edge", "wrap"};
  for (size_t m = 0; m < sizeof(names) / sizeof(names[0]); ++m) {
    const leat_attribute mode = ATTRIBUTE(STRING, .name = "mode", .string = names[m], .count = strlen(names[m]));
    const leat_attribute *const list[] = {&mode};
    network *const n = make_network();
    const uint32_t a = add_ints(n, 2, matrix, numbers), b = add_reals(n, 2, matrix, reals);
    const uint32_t value = add_list(n, 1, (const int64_t[]){9}), axes = add_list(n, 1, (const int64_t[]){-1});
    (void)with(n, list, NODE(n, "Pad", 13, a, add_list(n, 4, (const int64_t[]){3, 9, 0, 6}), value));
    (void)with(n, list, NODE(n, "Pad", 13, a, add_list(n, 4, (const int64_t[]){-1, 2, 4, -3})));
    (void)with(n, list, NODE(n, "Pad", 13, b, add_list(n, 4, (const int64_t[]){1, -2, 1, 5})));
    (void)with(n, list, NODE(n, "Pad", 18, a, add_list(n, 2, (const int64_t[]){5, -1}), value, axes));
    check_evaluation(&p, n);
  }
  close_place(&p);
}

/* Hosts are told of each operator that a graph computes on the host, and of no other. */
static void entries_say_what_is_evaluated(void **state) {
  (void)state;
  uint32_t found = 0;
  for (uint32_t i = 0; i < leati_registry_count(); ++i) {
    const leati_op_def *const def = leati_registry_get(i);
    const uint64_t flags = def->info.flags & (LEAT_OP_EVALUATED | LEAT_OP_EVALUATED_FLOAT32);
    const uint64_t real = (def->evaluated_types & LEAT_TYPE_FLOAT32) != 0 ? LEAT_OP_EVALUATED_FLOAT32 : 0;
    const bool gives_host = def->info.host_inputs != 0 && def->info.host_outputs != 0;
    if (flags != (def->evaluate != NULL ? LEAT_OP_EVALUATED | real : 0) && !gives_host) {
      fail_msg("%s: LEATI_EVALUATED() does not set its flags", def->info.name);
    }
    found += def->evaluate != NULL;
  }
  assert_true(found > 40);
}

static void shape_arithmetic_in_float32_is_what_operators_compute(void **state) {
  const place p = open_place(state);
  static const int64_t matrix[] = {2, 4}, row[] = {4}, column[] = {2, 1};
  static const float numbers[] = {7.5f, -7.5f, 0, -INFINITY, 2147483648.0f, -0.4f, 1e19f, 3},
                     others[] = {2, -3.5f, -0.25f, NAN};
  static const int64_t places[] = {-1, 0, 3, 1}, whole[] = {7, INT64_MIN, INT64_MAX, 16777217};
  static const leat_attribute wide = {.struct_size = sizeof(wide), .type = LEAT_ATTRIBUTE_INT, .name = "to", .i = 7},
                              small = {.struct_size = sizeof(small), .type = LEAT_ATTRIBUTE_INT, .name = "to", .i = 6},
                              truth = {.struct_size = sizeof(truth), .type = LEAT_ATTRIBUTE_INT, .name = "to", .i = 9},
                              real = {.struct_size = sizeof(real), .type = LEAT_ATTRIBUTE_INT, .name = "to", .i = 1},
                              last = {.struct_size = sizeof(last), .type = LEAT_ATTRIBUTE_INT, .name = "axis", .i = -1};
  static const leat_attribute *const to_int64[] = {&wide}, *const to_int32[] = {&small}, *const to_bool[] = {&truth},
                                     *const to_float[] = {&real};
  static const char *const pairs[] = {"Add",  "Sub",     "Mul",         "Div",           "Equal",
                                      "Less", "Greater", "LessOrEqual", "GreaterOrEqual"};
  network *n = make_network();
  uint32_t a = add_reals(n, 2, matrix, numbers);
  const uint32_t b = add_reals(n, 1, row, others), c = add_reals(n, 2, column, others);
  for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); ++i) {
    const uint32_t version = i < 4 ? 14 : i < 7 ? 13 : 16;
    (void)NODE(n, pairs[i], version, a, b);
    (void)NODE(n, pairs[i], version, c, b);
  }
  check_evaluation(&p, n);
  n = make_network();
  a = add_reals(n, 2, matrix, numbers);
  (void)with(n, to_int64, NODE(n, "Cast", 13, a));
  (void)with(n, to_int32, NODE(n, "Cast", 13, a));
  (void)with(n, to_bool, NODE(n, "Cast", 13, a));
  (void)with(n, to_float, NODE(n, "Cast", 13, a));
  const uint32_t d = add_reals(n, 1, row, others), e = add_ints(n, 1, row, whole);
  (void)with(n, to_int64, NODE(n, "Cast", 13, d));
  (void)with(n, to_int32, NODE(n, "Cast", 13, d));
  (void)with(n, to_bool, NODE(n, "Cast", 13, d));
  (void)with(n, to_float, NODE(n, "Cast", 13, e));
  (void)NODE(n, "Floor", 13, a);
  (void)NODE(n, "Ceil", 13, a);
  (void)NODE(n, "Abs", 13, a);
  (void)NODE(n, "Neg", 13, a);
  (void)NODE(n, "Max", 13, d, d);
  (void)NODE(n, "Min", 13, a, NODE(n, "Mul", 14, a, d));
  check_evaluation(&p, n);
  n = make_network();
  a = add_reals(n, 2, matrix, numbers);
  const uint32_t f = add_reals(n, 1, row, others), at = add_ints(n, 1, row, places);
  (void)NODE(n, "Gather", 13, f, at);
  (void)with(n, along_1, NODE(n, "Concat", 13, a, a));
  (void)NODE(n, "Transpose", 13, a);
  (void)NODE(n, "Slice", 13, f, add_list(n, 1, (const int64_t[]){1}), add_list(n, 1, (const int64_t[]){3}));
  (void)NODE(n, "Expand", 13, f, add_list(n, 2, matrix));
  (void)NODE(n, "Tile", 13, f, add_list(n, 1, (const int64_t[]){2}));
  (void)NODE(n, "Where", 16, NODE(n, "Less", 13, a, f), a, f);
  check_evaluation(&p, n);
  close_place(&p);
}

/* A size that a quotient is rounded up to, as exporters write it. */
static void shapes_follow_from_float32(void **state) {
  const place p = open_place(state);
  static const int64_t seven[] = {7};
  static const leat_attribute whole = {.struct_size = sizeof(whole), .type = LEAT_ATTRIBUTE_INT, .name = "to", .i = 7},
                              real = {.struct_size = sizeof(real), .type = LEAT_ATTRIBUTE_INT, .name = "to", .i = 1};
  static const leat_attribute *const to_int64[] = {&whole}, *const to_float[] = {&real};
  network *const n = make_network();
  const uint32_t x = add_input(n, 1, seven), four = add_list(n, 1, (const int64_t[]){4});
  const uint32_t size = NODE(n, "Shape", 15, x);
  const uint32_t sized = with(n, to_float, NODE(n, "Cast", 13, size));
  const uint32_t quotient = NODE(n, "Div", 14, sized, with(n, to_float, NODE(n, "Cast", 13, four)));
  const uint32_t count = with(n, to_int64, NODE(n, "Cast", 13, NODE(n, "Ceil", 13, quotient)));
  const uint32_t more = NODE(n, "Sub", 14, NODE(n, "Mul", 14, count, four), size);
  const uint32_t pads = NODE(n, "Concat", 13, add_list(n, 1, (const int64_t[]){0}), more);
  (void)with(n, along_0, pads);
  add_output(n, NODE(n, "Pad", 13, NODE(n, "Neg", 13, x), pads));
  static results found;
  leat_graph *const graph = build(&p, n);
  run_graph(&p, graph, n, 0, &found);
  assert_int_equal(found.shapes[0].dims[0], 8);
  assert_ok(p.f->api->graph->destroy(graph, &err));
  free(n);
  close_place(&p);
}

/* What follows from a shape and is read on the device goes there with the launch, by kernels and by a copy to an
 * output: no shape has constants of its own, which it would wait for. */
static void what_follows_from_a_shape_is_staged(void **state) {
  const place p = open_place(state);
  static const int64_t open[] = {-1, 2}, rows[] = {1, 2};
  static const leat_attribute real = {.struct_size = sizeof(real), .type = LEAT_ATTRIBUTE_INT, .name = "to", .i = 1};
  static const leat_attribute *const to_float[] = {&real};
  network *const n = make_network();
  const uint32_t x = add_input(n, 2, rows);
  n->infos[x].shape = open;
  const uint32_t sizes = with(n, to_float, NODE(n, "Cast", 13, NODE(n, "Shape", 15, x)));
  add_output(n, NODE(n, "Add", 14, NODE(n, "Tanh", 13, x), sizes));
  add_output(n, sizes);
  leat_graph *const graph = build(&p, n);
  static results direct, graphed;
  uint64_t blocks = 0;
  for (int64_t count = 1; count <= 12; ++count) {
    n->shapes[x][0] = count;
    run_nodes(&p, n, &direct);
    for (uint32_t host = 0; host < 8; ++host) {
      run_graph(&p, graph, n, host, &graphed);
      compare(n, &direct, &graphed);
    }
    blocks = count == 1 ? stats_of(&p).live_block_count : blocks;
    assert_int_equal(stats_of(&p).live_block_count, blocks);
  }
  assert_int_equal(info_of(&p, graph).constant_bytes, 0);
  assert_ok(p.f->api->graph->destroy(graph, &err));
  free(n);
  close_place(&p);
}

/* Makes a number of int32 of an input of one element. */
static void make_number(network *n, uint32_t v) {
  n->infos[v].dtype = n->tensors[v].dtype = (DLDataType){kDLInt, 32, 1};
}

static void set_number(network *n, uint32_t v, int32_t number) {
  memcpy(n->tensors[v].data, &number, sizeof(number));
}

/* A step of a decoder with room for 16 positions: query, new key and value, earlier ones, and how many there are by
 * seqlens_k and by total_sequence_length, the last two of its inputs. */
static network *make_decoder(void) {
  static const leat_attribute heads = ATTRIBUTE(INT, .name = "num_heads", .i = 2),
                              shared = ATTRIBUTE(INT, .name = "kv_num_heads", .i = 1);
  static const leat_attribute *const attributes[] = {&heads, &shared};
  network *const n = make_network();
  const uint32_t query = add_input(n, SHAPE(1, 1, 8)), key = add_input(n, SHAPE(1, 1, 4)),
                 value = add_input(n, SHAPE(1, 1, 4)), past_key = add_input(n, SHAPE(1, 1, 16, 4)),
                 past_value = add_input(n, SHAPE(1, 1, 16, 4)), lengths = add_input(n, SHAPE(1)),
                 total = add_input(n, SHAPE(1));
  make_number(n, lengths);
  make_number(n, total);
  add_output(n, NODE(n, "GroupQueryAttention", 1, query, key, value, past_key, past_value, lengths, total));
  n->nodes[0].domain = "com.microsoft";
  set_attributes(n, attributes, 2);
  add_output(n, add_part(n));
  add_output(n, add_part(n));
  return n;
}

/* total_sequence_length counts up, and one plan serves all steps but the first, which has nothing before it; each step
 * gives what a graph gives that was launched with this number alone. */
static void what_counts_makes_no_plan(void **state) {
  const place p = open_place(state);
  network *const n = make_decoder();
  const uint32_t lengths = n->desc.inputs[5], total = n->desc.inputs[6];
  leat_graph *const graph = build(&p, n);
  static results counted, alone;
  for (int32_t number = 1; number <= 16; ++number) {
    set_number(n, lengths, number - 1);
    set_number(n, total, number);
    run_graph(&p, graph, n, 1u << 6, &counted);
    leat_graph *const other = build(&p, n);
    run_graph(&p, other, n, 1u << 6, &alone);
    compare(n, &alone, &counted);
    assert_ok(p.f->api->graph->destroy(other, &err));
  }
  assert_int_equal(info_of(&p, graph).plan_count, 2);
  /* More than there is room for has larger results. */
  set_number(n, total, 17);
  set_number(n, lengths, 16);
  run_graph(&p, graph, n, 1u << 6, &counted);
  assert_int_equal(counted.shapes[1].dims[2], 17);
  assert_int_equal(info_of(&p, graph).plan_count, 3);
  assert_ok(p.f->api->graph->destroy(graph, &err));
  free(n);
  close_place(&p);
}

/* Earlier keys or values of two heads, and one more position, which the graph gives; and both heads twice. */
static uint32_t grown_and_repeated(network *n) {
  static const leat_attribute positions = ATTRIBUTE(INT, .name = "axis", .i = 2);
  static const leat_attribute *const along_positions[] = {&positions};
  static const int64_t times[] = {1, 1, 2, 1, 1}, joined[] = {1, 4, -1, 4}, behind_heads = 2;
  const uint32_t grown = NODE(n, "Concat", 13, add_input(n, SHAPE(1, 2, 24, 4)), add_input(n, SHAPE(1, 2, 1, 4)));
  set_attributes(n, along_positions, 1);
  add_output(n, grown);
  const uint32_t apart = NODE(n, "Unsqueeze", 13, grown, add_list(n, 1, &behind_heads));
  return NODE(n, "Reshape", 14, NODE(n, "Expand", 13, apart, add_list(n, 5, times)), add_list(n, 4, joined));
}

/* Keys and values that grow, as exporters write a decoder, are written once, straight to what the graph gives, and read
 * there: neither they nor what is repeated for heads that share them is in the arena. */
static void caches_that_grow_are_written_once(void **state) {
  const place p = open_place(state);
  static const int64_t order[] = {0, 1, 3, 2};
  static const leat_attribute perm = ATTRIBUTE(INTS, .name = "perm", .ints = order, .count = 4),
                              last = ATTRIBUTE(INT, .name = "axis", .i = -1);
  static const leat_attribute *const turned[] = {&perm}, *const along_keys[] = {&last};
  network *const n = make_network();
  const uint32_t query = add_input(n, SHAPE(1, 4, 1, 4)), keys = grown_and_repeated(n), values = grown_and_repeated(n);
  const uint32_t scores = NODE(n, "MatMul", 13, query, with(n, turned, NODE(n, "Transpose", 13, keys)));
  const uint32_t weights = with(n, along_keys, NODE(n, "Softmax", 13, scores));
  add_output(n, NODE(n, "MatMul", 13, weights, values));
  leat_graph *const graph = build(&p, n);
  static results made;
  run_graph(&p, graph, n, 0, &made);
  const leat_graph_info info = info_of(&p, graph);
  assert_int_equal(info.dispatch_count, 3);
  assert_int_equal(info.copy_count, 0);
  assert_true(info.arena_bytes < (UINT64_C(2) * 25 * 4) * sizeof(float));
  assert_ok(p.f->api->graph->destroy(graph, &err));
  free(n);
  close_place(&p);
}

/* A cache of full length that TensorScatter writes is one dispatch, of which what is new is all where the graph is
 * given one memory for both (the kernel finds that out), and nothing else is copied. */
static void caches_of_full_length_take_one_dispatch(void **state) {
  const place p = open_place(state);
  network *const n = make_network();
  add_output(n, NODE(n, "TensorScatter", 24, add_input(n, SHAPE(1, 2, 16, 4)), add_input(n, SHAPE(1, 2, 1, 4))));
  leat_graph *const graph = build(&p, n);
  static results direct, graphed;
  run_nodes(&p, n, &direct);
  run_graph(&p, graph, n, 0, &graphed);
  compare(n, &direct, &graphed);
  const leat_graph_info info = info_of(&p, graph);
  assert_int_equal(info.dispatch_count, 1);
  assert_int_equal(info.copy_count, 0);
  assert_int_equal(info.arena_bytes, 0);
  assert_ok(p.f->api->graph->destroy(graph, &err));
  free(n);
  close_place(&p);
}

/* Such a cache may be the memory that the graph is given for its output: only all of it, and only as the input that it
 * is. */
static void a_cache_goes_on_in_its_memory(void **state) {
  const place p = open_place(state);
  network *const n = make_network();
  static results direct, graphed;
  static int64_t dims[] = {1, 2, 16, 4};
  enum { FLOATS = 2 * 16 * 4 };
  const uint32_t cache = add_input(n, 4, dims), added = add_input(n, SHAPE(1, 2, 1, 4));
  add_output(n, NODE(n, "TensorScatter", 24, cache, added));
  leat_graph *const graph = build(&p, n);
  run_nodes(&p, n, &direct);
  /* Room for the cache, and for one that begins an element behind it. */
  int64_t room = FLOATS + 64;
  const DLTensor all = {.ndim = 1, .dtype = float_type, .shape = &room, .device = {kDLCPU, 0}};
  DLTensor block = on_device(&p, &all), news = on_device(&p, &n->tensors[added]);
  DLTensor in_place = n->tensors[cache], behind = n->tensors[cache];
  in_place.device = behind.device = block.device;
  in_place.data = block.data;
  behind.data = block.data;
  behind.byte_offset = block.byte_offset + 64 * sizeof(float);
  in_place.byte_offset = block.byte_offset;
  copy(&p, &n->tensors[cache], &in_place);
  copy(&p, &n->tensors[added], &news);
  const DLTensor *const in[] = {&in_place, &news}, *const out[] = {&in_place}, *const other[] = {&behind};
  leat_error said = {.struct_size = sizeof(said)};
  assert_int_equal(p.f->api->graph->launch(graph, p.stream, 2, in, 1, other, &said), LEAT_ERROR_INVALID_ARGUMENT);
  assert_non_null(strstr(said.message, "output 0 of the graph overlaps input 0"));
  assert_ok(p.f->api->graph->launch(graph, p.stream, 2, in, 1, out, &err));
  graphed.shapes[0] = direct.shapes[0];
  DLTensor to = n->tensors[cache];
  to.data = graphed.floats[0];
  copy(&p, &in_place, &to);
  assert_ok(p.f->api->stream->synchronize(p.stream, &err));
  compare(n, &direct, &graphed);
  release(&p, &block);
  release(&p, &news);
  assert_ok(p.f->api->graph->destroy(graph, &err));
  free(n);
  close_place(&p);
}

static void what_moves_and_reduces_is_what_operators_compute(void **state) {
  const place p = open_place(state);
  static const int64_t cube[] = {2, 2, 2}, matrix[] = {2, 4}, none[] = {0, 2}, middle = 1;
  static const int64_t numbers[] = {7, -7, 0, INT64_MIN, 5, -1, INT64_MAX, INT64_C(1) << 31};
  static const leat_attribute
      axes = {.struct_size = sizeof(axes), .type = LEAT_ATTRIBUTE_INTS, .name = "axes", .count = 1, .ints = &middle},
      keep = {.struct_size = sizeof(keep), .type = LEAT_ATTRIBUTE_INT, .name = "keepdims"},
      noop = {.struct_size = sizeof(noop), .type = LEAT_ATTRIBUTE_INT, .name = "noop_with_empty_axes", .i = 1},
      small = {.struct_size = sizeof(small), .type = LEAT_ATTRIBUTE_INT, .name = "to", .i = 6};
  static const leat_attribute *const dropped[] = {&keep}, *const listed[] = {&axes, &keep}, *const nothing[] = {&noop},
                                     *const narrow[] = {&small};
  static const struct {
    const char *name;
    uint32_t with_list, with_input; /* versions: the axes are an attribute, or an input */
  } reductions[] = {{"ReduceSum", 11, 13}, {"ReduceProd", 13, 18}, {"ReduceMax", 13, 18}, {"ReduceMin", 13, 18}};
  network *n = make_network();
  uint32_t a = add_ints(n, 3, cube, numbers);
  const uint32_t b = add_ints(n, 2, matrix, numbers), without = add_ints(n, 2, none, numbers);
  (void)NODE(n, "Transpose", 13, a);
  (void)with(n, swapped, NODE(n, "Transpose", 13, a));
  (void)with(n, turned_3, NODE(n, "Transpose", 13, a));
  (void)NODE(n, "Transpose", 13, b);
  (void)NODE(n, "Transpose", 13, without);
  (void)NODE(n, "Transpose", 13, add_ints(n, 0, NULL, numbers));
  (void)NODE(n, "Tile", 13, b, add_list(n, 2, (const int64_t[]){2, 1}));
  (void)NODE(n, "Tile", 13, b, add_list(n, 2, (const int64_t[]){1, 2}));
  (void)NODE(n, "Tile", 13, b, add_list(n, 2, (const int64_t[]){0, 3}));
  check_evaluation(&p, n);
  for (size_t i = 0; i < sizeof(reductions) / sizeof(reductions[0]); ++i) {
    const char *const name = reductions[i].name;
    const uint32_t by_list = reductions[i].with_list, by_input = reductions[i].with_input;
    n = make_network();
    a = add_ints(n, 3, cube, numbers);
    const uint32_t narrowed = with(n, narrow, NODE(n, "Cast", 13, a));
    (void)NODE(n, name, by_list, a);
    (void)with(n, dropped, NODE(n, name, by_list, a));
    (void)NODE(n, name, by_list, a);
    set_attributes(n, listed, 2);
    (void)NODE(n, name, by_input, a, add_list(n, 2, (const int64_t[]){-1, 0}));
    (void)with(n, dropped, NODE(n, name, by_input, a, add_list(n, 1, (const int64_t[]){-2})));
    (void)with(n, nothing, NODE(n, name, by_input, a));
    (void)NODE(n, name, by_input, narrowed, add_list(n, 1, (const int64_t[]){1}));
    check_evaluation(&p, n);
    n = make_network();
    a = add_ints(n, 2, none, numbers);
    const uint32_t empty = with(n, narrow, NODE(n, "Cast", 13, a));
    (void)NODE(n, name, by_input, a, add_list(n, 1, (const int64_t[]){0}));
    (void)NODE(n, name, by_input, empty, add_list(n, 1, (const int64_t[]){0}));
    (void)NODE(n, name, by_input, a, add_list(n, 1, (const int64_t[]){1}));
    check_evaluation(&p, n);
  }
  close_place(&p);
}

/* Of numbers for which every device gives the same: roots and quotients may differ in the last place. */
static void scales_are_computed_on_the_host(void **state) {
  const place p = open_place(state);
  static const int64_t row[] = {4}, square_of_two[] = {2, 2}, sizes[] = {4, 64, 1, 1024};
  static const leat_attribute real = {.struct_size = sizeof(real), .type = LEAT_ATTRIBUTE_INT, .name = "to", .i = 1};
  const leat_attribute *list[1];
  network *const n = make_network();
  const uint32_t x = NODE(n, "Cast", 13, add_ints(n, 1, row, sizes));
  set_attribute(n, &real, &list[0]);
  const uint32_t root = NODE(n, "Sqrt", 13, x), one = NODE(n, "Div", 14, x, x);
  const uint32_t inverse = NODE(n, "Div", 14, one, root), fraction = NODE(n, "Sub", 14, inverse, x);
  (void)NODE(n, "Floor", 13, fraction);
  (void)NODE(n, "Ceil", 13, fraction);
  const uint32_t matrix = NODE(n, "Reshape", 14, inverse, add_list(n, 2, square_of_two));
  (void)NODE(n, "Reciprocal", 13, matrix);
  (void)NODE(n, "Mul", 14, NODE(n, "Sub", 14, x, root), NODE(n, "Add", 14, x, NODE(n, "Neg", 13, root)));
  check_evaluation(&p, n);
  close_place(&p);
}

/* Running sums are the device's, though all that they take is known on the host. */
static void what_the_host_does_not_compute_runs_on_the_device(void **state) {
  const place p = open_place(state);
  network *const n = make_network();
  const uint32_t six = add_list(n, 6, (const int64_t[]){1, 2, 3, 4, 5, 6});
  const uint32_t matrix = NODE(n, "Reshape", 14, six, add_list(n, 2, (const int64_t[]){2, 3}));
  add_output(n, NODE(n, "CumSum", 14, matrix, add_index(n, 1)));
  leat_graph *const graph = build(&p, n);
  static results found;
  run_graph(&p, graph, n, 0, &found);
  static const int64_t sums[] = {1, 3, 6, 4, 9, 15};
  assert_int_equal(found.shapes[0].dims[0], 2);
  assert_true(!computes() || memcmp(found.floats[0], sums, sizeof(sums)) == 0);
  assert_ok(p.f->api->graph->destroy(graph, &err));
  free(n);
  close_place(&p);
}

/* A head split as exporters write it: sizes are taken from a shape, computed with, put together and reshaped to. */
static void shapes_are_computed_on_the_host(void **state) {
  const place p = open_place(state);
  network *const n = make_network();
  static const int64_t open[] = {-1, 8}, none[] = {0};
  static int64_t given[] = {6, 8};
  const uint32_t x = add_input(n, 2, given);
  n->infos[x].shape = open;
  const uint32_t index = add_list(n, 1, none), two = add_list(n, 1, (const int64_t[]){2});
  const uint32_t rest = add_list(n, 1, (const int64_t[]){-1});
  const uint32_t rows = NODE(n, "Gather", 13, NODE(n, "Shape", 15, NODE(n, "Tanh", 13, x)), index);
  const uint32_t half = NODE(n, "Div", 14, rows, two), shape = NODE(n, "Concat", 13, half, two, rest);
  static const leat_attribute axis = {.struct_size = sizeof(axis), .type = LEAT_ATTRIBUTE_INT, .name = "axis"};
  const leat_attribute *list;
  set_attribute(n, &axis, &list);
  add_output(n, NODE(n, "Reshape", 14, NODE(n, "Neg", 13, x), shape));
  add_output(n, half);
  leat_graph *const graph = build(&p, n);
  for (int64_t count = 2; count <= 12; count += 2) {
    static results found;
    n->shapes[x][0] = count;
    for (uint32_t host = 0; host < 8; ++host) {
      run_graph(&p, graph, n, host, &found);
      assert_int_equal(found.shapes[0].ndim, 3);
      assert_int_equal(found.shapes[0].dims[0], count / 2);
      assert_int_equal(found.shapes[0].dims[2], 8);
      int64_t answer;
      memcpy(&answer, found.floats[1], sizeof(answer));
      assert_int_equal(answer, count / 2);
      for (int64_t i = 0; i < count * 8 && computes(); ++i) {
        assert_true(found.floats[0][i] == -n->floats[x][i]);
      }
      /* Only Neg runs. */
      assert_int_equal(info_of(&p, graph).dispatch_count, 1);
    }
  }
  assert_ok(p.f->api->graph->destroy(graph, &err));
  free(n);
  close_place(&p);
}

/* Elements on the host from which no shape follows may be others at each launch. */
static void elements_that_decide_nothing_are_not_remembered(void **state) {
  const place p = open_place(state);
  network *const n = make_network();
  static const int64_t four[] = {4}, zeros[4];
  const uint32_t x = add_ints(n, 1, four, zeros);
  add_output(n, NODE(n, "Neg", 13, x));
  leat_graph *const graph = build(&p, n);
  for (int64_t i = 0; i < 4; ++i) {
    static results found;
    const int64_t expected[] = {-i, -2 * i, 5, 6};
    memcpy(n->ints[x], (const int64_t[]){i, 2 * i, -5, -6}, sizeof(expected));
    run_graph(&p, graph, n, 3, &found);
    assert_true(!computes() || memcmp(found.floats[0], expected, sizeof(expected)) == 0);
  }
  assert_int_equal(info_of(&p, graph).plan_count, 2);
  assert_ok(p.f->api->graph->destroy(graph, &err));
  free(n);
  close_place(&p);
}

/* ---- What is refused ----------------------------------------------------------------------------------------------
 */

/* A network to spoil: Add(x, w) and Reshape of that, which is the output. */
typedef struct spoiled {
  network *n;
  uint32_t x, w, sum, shape, y;
} spoiled;

static spoiled make_spoiled(void) {
  spoiled s = {.n = make_network()};
  s.x = add_input(s.n, 2, square);
  s.w = add_constant(s.n, 2, square);
  s.shape = add_list(s.n, 1, flat);
  s.sum = NODE(s.n, "Add", 14, s.x, s.w);
  s.y = NODE(s.n, "Reshape", 14, s.sum, s.shape);
  add_output(s.n, s.y);
  s.n->nodes[1].name = "the second";
  return s;
}

/* Builds what must be refused, with a message that holds these words. */
static void refuse(const place *p, spoiled *s, int32_t code, const char *words) {
  leat_error err = {.struct_size = sizeof(err)};
  leat_graph *graph = (leat_graph *)s;
  const int32_t status = p->f->api->graph->build(p->f->device, &s->n->desc, &graph, &err);
  if (status != code || strstr(err.message, words) == NULL) {
    fail_msg("status %d instead of %d, '%s' instead of '%s'", (int)status, (int)code, err.message, words);
  }
  assert_null(graph);
  free(s->n);
  *s = make_spoiled();
}

static void lists_that_are_wrong_are_refused(void **state) {
  const place p = open_place(state);
  spoiled s = make_spoiled();
  leat_graph_desc *d = &s.n->desc;
#define REFUSE(words)                                     \
  do {                                                    \
    refuse(&p, &s, LEAT_ERROR_INVALID_ARGUMENT, (words)); \
    d = &s.n->desc;                                       \
  } while (0)
  d->struct_size = 8;
  REFUSE("leat_graph_desc.struct_size is 8");
  d->capture_count = 1;
  REFUSE("capture_count is 1");
  d->values = NULL;
  REFUSE("leat_graph_desc::values is NULL");
  d->nodes = NULL;
  REFUSE("leat_graph_desc::nodes is NULL");
  d->inputs = NULL;
  REFUSE("leat_graph_desc::inputs is NULL");
  d->outputs = NULL;
  REFUSE("leat_graph_desc::outputs is NULL");
  d->node_count = UINT32_MAX;
  REFUSE("leat_graph_desc::nodes has 4294967295 elements");
  d->input_count = UINT32_MAX;
  REFUSE("leat_graph_desc::inputs has 4294967295 elements");
  d->output_count = UINT32_MAX;
  REFUSE("leat_graph_desc::outputs has 4294967295 elements");
  d->value_count = UINT32_MAX;
  refuse(&p, &s, LEAT_ERROR_NOT_SUPPORTED, "4294967295 values");
  s.n->inputs[0] = 99;
  REFUSE("inputs[0] is value 99; the graph has 5 values");
  s.n->inputs[0] = s.w;
  REFUSE("is already a constant");
  s.n->inputs[1] = s.x;
  s.n->desc.input_count = 2;
  REFUSE("is already an input of the graph");
  s.n->infos[s.x].dtype = (DLDataType){0};
  REFUSE("has no element type");
  s.n->outputs[0] = LEAT_GRAPH_NO_VALUE;
  REFUSE("outputs[0] is value 4294967295");
  s.n->outputs[0] = s.x;
  REFUSE("is an input of the graph; an output is made by a node");
  s.n->outputs[0] = s.w;
  REFUSE("is a constant; an output is made by a node");
  s.n->outputs[1] = s.y;
  s.n->desc.output_count = 2;
  REFUSE("is an earlier output too");
  free(s.n);
  close_place(&p);
}

static void values_that_are_wrong_are_refused(void **state) {
  const place p = open_place(state);
  spoiled s = make_spoiled();
  leat_graph_desc *d = &s.n->desc;
  static const int64_t negative[] = {-2, 8}, other[] = {8, 9};
  s.n->info_list[s.x] = NULL;
  REFUSE("leat_graph_desc::values[0] is NULL");
  s.n->infos[s.x].struct_size = 4;
  REFUSE("leat_graph_desc::values[0].struct_size is 4");
  s.n->infos[s.x].reserved = 1;
  REFUSE("leat_value_info::reserved of value 0");
  s.n->infos[s.x].shape = NULL;
  REFUSE("value 0 has rank 2 and no shape");
  s.n->infos[s.x].ndim = -2;
  REFUSE("value 0 has rank -2");
  s.n->infos[s.x].shape = negative;
  REFUSE("value 0 has size -2 in dimension 0");
  s.n->infos[s.x].ndim = 9;
  refuse(&p, &s, LEAT_ERROR_NOT_SUPPORTED, "value 0 has rank 9");
  s.n->infos[s.x].dtype.bits = 3;
  refuse(&p, &s, LEAT_ERROR_NOT_SUPPORTED, "value 0 has an element type");
  s.n->tensors[s.w].data = NULL;
  REFUSE("the constant of value 1 has elements and NULL data");
  s.n->tensors[s.w].device.device_type = kDLVulkan;
  REFUSE("the constant of value 1 is on DLPack device");
  s.n->infos[s.w].shape = other;
  REFUSE("the constant of value 1 has another type or shape");
  static int64_t strides[] = {1, 8};
  s.n->tensors[s.w].strides = strides;
  REFUSE("the constant of value 1 has strides");
  s.n->infos[s.y].dtype = int_type;
  REFUSE("output 0 has type float32; leat_graph_desc::values says int64");
  (void)d;
  free(s.n);
  close_place(&p);
}

static void nodes_that_are_wrong_are_refused(void **state) {
  const place p = open_place(state);
  spoiled s = make_spoiled();
  leat_graph_desc *d = &s.n->desc;
  s.n->node_list[1] = NULL;
  REFUSE("leat_graph_desc::nodes[1] is NULL");
  s.n->nodes[1].struct_size = 8;
  REFUSE("leat_graph_desc::nodes[1].struct_size is 8");
  s.n->nodes[1].reserved = 1;
  REFUSE("nodes[1]: reserved is not zero");
  s.n->nodes[1].op = NULL;
  REFUSE("nodes[1]: op is NULL");
  s.n->nodes[1].inputs = NULL;
  REFUSE("nodes[1]: inputs is NULL");
  s.n->nodes[1].outputs = NULL;
  REFUSE("nodes[1]: outputs is NULL");
  s.n->nodes[1].attribute_count = 1;
  REFUSE("nodes[1]: attributes is NULL");
  s.n->nodes[1].input_count = UINT32_MAX;
  refuse(&p, &s, LEAT_ERROR_NOT_SUPPORTED, "4294967295 inputs");
  s.n->arguments[1][0][0] = 99;
  REFUSE("node 1 (Reshape the second): input 0 is value 99, which the graph does not have");
  s.n->arguments[0][0][0] = s.y;
  REFUSE("node 0 (Add): input 0 is value 4, which is no input");
  s.n->arguments[0][0][0] = s.sum;
  REFUSE("node 0 (Add): input 0 is value 3, which is no input");
  s.n->arguments[1][1][0] = s.sum;
  REFUSE("node 1 (Reshape the second): output 0 is value 3, which something else gives already");
  s.n->arguments[1][1][0] = s.x;
  REFUSE("which something else gives already");
  s.n->arguments[1][1][0] = 99;
  REFUSE("output 0 is value 99");
  s.n->arguments[0][1][0] = LEAT_GRAPH_NO_VALUE;
  REFUSE("node 1 (Reshape the second): input 0 is value 3");
  s.n->nodes[1].op = "Reshapen";
  refuse(&p, &s, LEAT_ERROR_NOT_SUPPORTED, "node 1 'the second': operator 'Reshapen'");
  s.n->nodes[1].output_count = 0;
  REFUSE("outputs[0], value 4, is nothing");
  s.n->nodes[0].input_count = 1;
  REFUSE("node 0: Add: 1 inputs");
  s.n->arguments[0][0][1] = LEAT_GRAPH_NO_VALUE;
  REFUSE("node 0: Add: input 1 is absent");
  s.n->ints[s.shape][0] = 63;
  REFUSE("node 1 'the second': Reshape: 64 elements do not fit");
  (void)d;
  free(s.n);
  close_place(&p);
}

/* What must be known on the host and is only made on the device cannot be had. */
static void shapes_from_the_device_are_refused(void **state) {
  const place p = open_place(state);
  spoiled s = make_spoiled();
  const uint32_t list = add_value(s.n, int_type, 1, (const int64_t[]){1});
  s.n->inputs[s.n->desc.input_count++] = list;
  add_output(s.n, NODE(s.n, "Reshape", 14, s.sum, NODE(s.n, "CumSum", 14, list, add_index(s.n, 0))));
  refuse(&p, &s, LEAT_ERROR_NOT_SUPPORTED, "node 2: CumSum: shapes follow from what it makes");
  free(s.n);
  close_place(&p);
}

/* What computes shapes on the host is not handed attributes or axes that lead out of its operands. */
static void shape_arithmetic_that_is_wrong_is_refused(void **state) {
  const place p = open_place(state);
  static const int64_t two[] = {2};
  static const int64_t below[] = {-1, 0}, above[] = {0, 2}, twice[] = {1, 1}, pair[] = {1, 2};
  static const struct {
    const int64_t *order;
    uint32_t count;
    const char *words;
  } orders[] = {{below, 2, "'perm' holds -1"},
                {above, 2, "'perm' holds 2"},
                {twice, 2, "'perm' names a dimension twice"},
                {below + 1, 1, "'perm' has 1 elements for an input of rank 2"}};
  static const int64_t axes[] = {2, -3, INT64_MIN, INT64_MAX};
  spoiled s = make_spoiled();
  for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); ++i) {
    const leat_attribute perm = ATTRIBUTE(INTS, .name = "perm", .ints = orders[i].order, .count = orders[i].count);
    const leat_attribute *const list[] = {&perm};
    const uint32_t pairs = NODE(s.n, "Reshape", 14, add_ints(s.n, 1, two, square), add_list(s.n, 2, pair));
    const uint32_t turned = with(s.n, list, NODE(s.n, "Transpose", 13, pairs));
    add_output(s.n, NODE(s.n, "Reshape", 14, s.sum, turned));
    refuse(&p, &s, LEAT_ERROR_INVALID_ARGUMENT, orders[i].words);
  }
  for (size_t i = 0; i < sizeof(axes) / sizeof(axes[0]); ++i) {
    const uint32_t most = NODE(s.n, "ReduceMax", 18, add_ints(s.n, 1, two, square), add_list(s.n, 1, &axes[i]));
    add_output(s.n, NODE(s.n, "Reshape", 14, s.sum, most));
    refuse(&p, &s, LEAT_ERROR_INVALID_ARGUMENT, "ReduceMax");
  }
  free(s.n);
  close_place(&p);
}

static void launches_that_are_wrong_are_refused(void **state) {
  const place p = open_place(state);
  const leat_graph_api *const api = p.f->api->graph;
  network *const n = make_network();
  const uint32_t x = add_input(n, 2, square);
  const uint32_t list = add_value(n, int_type, 1, (const int64_t[]){2});
  n->inputs[n->desc.input_count++] = list;
  memcpy(n->ints[list], square, sizeof(square));
  add_output(n, NODE(n, "Reshape", 14, NODE(n, "Neg", 13, x), list));
  leat_graph *const graph = build(&p, n);
  static int64_t wide[] = {9, 8}, strides[] = {1, 8};
  DLTensor in = on_device(&p, &n->tensors[x]), out = on_device(&p, &n->tensors[x]),
           list_there = on_device(&p, &n->tensors[list]);
  const DLTensor *inputs[] = {&in, &n->tensors[list]}, *outputs[] = {&out};
  DLTensor bad;
#define LAUNCH(count, words)                                                                                        \
  do {                                                                                                              \
    leat_error err = {.struct_size = sizeof(err)};                                                                  \
    assert_int_equal(api->launch(graph, p.stream, 2, inputs, (count), outputs, &err), LEAT_ERROR_INVALID_ARGUMENT); \
    if (strstr(err.message, (words)) == NULL) {                                                                     \
      fail_msg("'%s' instead of '%s'", err.message, (words));                                                       \
    }                                                                                                               \
    inputs[0] = &in;                                                                                                \
    inputs[1] = &n->tensors[list];                                                                                  \
    outputs[0] = &out;                                                                                              \
  } while (0)
  /* First without a cached plan, then with one. */
  for (int round = 0; round < 2; ++round) {
    LAUNCH(2, "2 inputs and 2 outputs; the graph has 2 and 1");
    inputs[0] = NULL;
    LAUNCH(1, "input 0 of the graph is NULL");
    inputs[1] = &list_there;
    LAUNCH(1, "input 1 of the graph decides shapes: it must be on the host");
    bad = n->tensors[x];
    bad.strides = strides;
    inputs[0] = &bad;
    LAUNCH(1, "input 0 of the graph is on the host and has strides");
    bad = in;
    bad.shape = wide;
    inputs[0] = &bad;
    LAUNCH(1, "input 0 of the graph has another shape");
    bad.shape = n->shapes[x];
    bad.byte_offset = ELEMENTS * sizeof(float) - 64;
    inputs[0] = &bad;
    LAUNCH(1, "input 0 of the graph touches bytes");
    bad = in;
    bad.dtype.code = kDLInt;
    inputs[0] = &bad;
    LAUNCH(1, "input 0 of the graph has type int32");
    bad = out;
    bad.strides = strides;
    outputs[0] = &bad;
    LAUNCH(1, "output 0 of the graph has strides");
    bad = out;
    bad.shape = wide;
    outputs[0] = &bad;
    LAUNCH(1, "output 0 of the graph has a dimension of size 9; the graph gives 8");
    bad.shape = n->shapes[x];
    bad.ndim = 1;
    outputs[0] = &bad;
    LAUNCH(1, "output 0 of the graph has rank 1; the graph gives 2");
    bad = in;
    bad.byte_offset = 64;
    outputs[0] = &bad;
    LAUNCH(1, "output 0 of the graph overlaps input 0");
    assert_ok(api->launch(graph, p.stream, 2, inputs, 1, outputs, &err));
    /* An output that is not wanted. */
    outputs[0] = NULL;
    assert_ok(api->launch(graph, p.stream, 2, inputs, 1, outputs, &err));
    outputs[0] = &out;
  }
  assert_int_not_equal(api->launch(graph, NULL, 2, inputs, 1, outputs, NULL), LEAT_OK);
  assert_int_not_equal(api->launch(NULL, p.stream, 2, inputs, 1, outputs, NULL), LEAT_OK);
  assert_int_not_equal(api->launch((const leat_graph *)p.stream, p.stream, 2, inputs, 1, outputs, NULL), LEAT_OK);
  assert_int_not_equal(api->launch(graph, p.stream, 2, NULL, 1, outputs, NULL), LEAT_OK);
  assert_int_not_equal(api->launch(graph, p.stream, 2, inputs, 1, NULL, NULL), LEAT_OK);
  assert_int_not_equal(api->infer(graph, 2, inputs, 1, NULL, NULL), LEAT_OK);
  assert_int_not_equal(api->info(graph, NULL, NULL), LEAT_OK);
  assert_int_not_equal(api->build(p.f->device, NULL, NULL, NULL), LEAT_OK);
  uint32_t count = 0;
  assert_ok(api->fusions(graph, &count, NULL, &err));
  assert_ok(p.f->api->stream->synchronize(p.stream, &err));
  release(&p, &in);
  release(&p, &out);
  release(&p, &list_there);
  assert_ok(api->destroy(NULL, &err));
  assert_ok(api->destroy(graph, &err));
  free(n);
  close_place(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_graph_gives_the_bits_of_its_nodes),
      cmocka_unit_test(chains_run_side_by_side),
      cmocka_unit_test(what_is_not_needed_is_not_run),
      cmocka_unit_test(parts_of_the_arena_do_not_meet),
      cmocka_unit_test(barriers_are_as_many_as_levels),
      cmocka_unit_test(views_are_read_where_they_lie),
      cmocka_unit_test(few_queries_take_one_dispatch),
      cmocka_unit_test(parts_promise_their_own_alignment),
      cmocka_unit_test(parts_are_made_where_they_are_aligned),
      cmocka_unit_test(parts_that_reach_far_are_copied),
      cmocka_unit_test(parts_touch_what_lies_between),
      cmocka_unit_test(runs_are_of_all_that_overlaps),
      cmocka_unit_test(constants_are_shared_by_content),
      cmocka_unit_test(a_graph_goes_while_it_runs),
      cmocka_unit_test(launches_that_meet_give_the_same_bits),
      cmocka_unit_test(threads_launch_one_graph_at_once),
      cmocka_unit_test(shapes_without_end_are_launched),
      cmocka_unit_test(threads_replace_each_others_plans),
      cmocka_unit_test(tensors_lie_where_they_like),
      cmocka_unit_test(a_plan_in_use_is_not_freed),
      cmocka_unit_test(kept_inferences_are_bounded),
      cmocka_unit_test(threads_that_come_together_make_one_plan),
      cmocka_unit_test(constants_of_one_hash_are_told_apart),
      cmocka_unit_test(shape_arithmetic_is_what_operators_compute),
      cmocka_unit_test(shape_arithmetic_in_float32_is_what_operators_compute),
      cmocka_unit_test(pads_on_the_host_are_those_of_the_device),
      cmocka_unit_test(entries_say_what_is_evaluated),
      cmocka_unit_test(shapes_follow_from_float32),
      cmocka_unit_test(what_follows_from_a_shape_is_staged),
      cmocka_unit_test(what_counts_makes_no_plan),
      cmocka_unit_test(caches_that_grow_are_written_once),
      cmocka_unit_test(caches_of_full_length_take_one_dispatch),
      cmocka_unit_test(a_cache_goes_on_in_its_memory),
      cmocka_unit_test(what_moves_and_reduces_is_what_operators_compute),
      cmocka_unit_test(what_the_host_does_not_compute_runs_on_the_device),
      cmocka_unit_test(shapes_are_computed_on_the_host),
      cmocka_unit_test(scales_are_computed_on_the_host),
      cmocka_unit_test(elements_that_decide_nothing_are_not_remembered),
      cmocka_unit_test(nodes_on_constants_run_once),
      cmocka_unit_test(rules_keep_results_of_constants),
      cmocka_unit_test(an_arena_beyond_any_device_is_refused),
      cmocka_unit_test(graphs_that_are_left_go_with_the_device),
      cmocka_unit_test(threads_build_the_same_graph_at_once),
      cmocka_unit_test(lists_that_are_wrong_are_refused),
      cmocka_unit_test(values_that_are_wrong_are_refused),
      cmocka_unit_test(nodes_that_are_wrong_are_refused),
      cmocka_unit_test(shapes_from_the_device_are_refused),
      cmocka_unit_test(shape_arithmetic_that_is_wrong_is_refused),
      cmocka_unit_test(launches_that_are_wrong_are_refused),
  };
  return cmocka_run_group_tests_name("graph", tests, fixture_open, fixture_close);
}
