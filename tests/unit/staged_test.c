/* SPDX-License-Identifier: BSD-3-Clause */
/* Inputs and outputs of a graph on the host: where kernels work on them where they are staged, which no copy is
 * recorded for, and where they do not; that what was given and what comes back are right either way. */
#include <stdio.h>
#include <string.h>

#include "device/device.h"
#include "record/command.h"
#include "streams/stream_state.h"
#include "unit_network.h"

static const int64_t row[] = {64};
enum { ROW = 64 };

/* What a stream has recorded since it was opened. */
typedef struct recorded {
  uint32_t dispatches, copies, deliveries;
} recorded;

static recorded recorded_in(leat_stream *stream) {
  recorded found = {0};
  leati_mutex_lock(&stream->lock);
  for (uint32_t i = 0; stream->open != NULL && i < stream->open->command_count; ++i) {
    found.dispatches += stream->open->commands[i].kind == LEATI_COMMAND_DISPATCH;
    found.copies += stream->open->commands[i].kind == LEATI_COMMAND_COPY;
  }
  found.deliveries = stream->open != NULL ? stream->open->delivery_count : 0;
  leati_mutex_unlock(&stream->lock);
  return found;
}

static DLTensor row_at(float *data) {
  return (DLTensor){.data = data, .device = {kDLCPU, 0}, .ndim = 1, .dtype = float_type, .shape = (int64_t *)row};
}

/* The running sums of x + y. */
static network *make_sums(void) {
  network *const n = make_network();
  const uint32_t x = add_input(n, 1, row), y = add_input(n, 1, row);
  const uint32_t sum = NODE(n, "Add", 14, x, y);
  add_output(n, NODE(n, "CumSum", 14, sum, add_list(n, 1, (const int64_t[]){0})));
  return n;
}

static void no_copy_is_recorded_for_what_only_kernels_touch(void **state) {
  const place p = open_place(state);
  network *const n = make_sums();
  leat_graph *const graph = build(&p, n);
  static results direct, staged;
  run_nodes(&p, n, &direct);
  launched l;
  launch(&p, graph, n, 7, &staged, &l);
  const recorded found = recorded_in(p.stream);
  assert_int_equal(found.dispatches, info_of(&p, graph).dispatch_count);
  assert_int_equal(found.copies, 0);
  assert_int_equal(found.deliveries, 1);
  finish(&p, 7, &staged, &l);
  compare(n, &direct, &staged);
  assert_ok(p.f->api->graph->destroy(graph, &err));
  free(n);
  close_place(&p);
}

/* Launches one graph into a place on the host, and tells what it took. The sums of x and y, whose elements are whole
 * numbers, must be there afterwards. */
static recorded launch_to(const place *p, const leat_graph *graph, float *out) {
  static float in[2][ROW];
  const DLTensor x = row_at(in[0]), y = row_at(in[1]), to = row_at(out);
  const DLTensor *const inputs[] = {&x, &y}, *const outputs[] = {&to};
  float sum = 0;
  for (int i = 0; i < ROW; ++i) {
    in[0][i] = (float)i;
    in[1][i] = 1;
    out[i] = -1;
  }
  assert_ok(p->f->api->graph->launch(graph, p->stream, 2, inputs, 1, outputs, &err));
  const recorded found = recorded_in(p->stream);
  /* They were read when the call returned. */
  memset(in, 0xff, sizeof(in));
  assert_ok(p->f->api->stream->synchronize(p->stream, &err));
  for (int i = 0; i < ROW && computes(); ++i) {
    sum += (float)i + 1;
    assert_true(out[i] == sum);
  }
  return found;
}

static void outputs_lie_where_they_like(void **state) {
  const place p = open_place(state);
  network *const n = make_sums();
  leat_graph *const graph = build(&p, n);
  _Alignas(16) static float plain[ROW + 4];
  void *memory = NULL;
  const recorded at_16 = launch_to(&p, graph, plain);
  const uint32_t dispatches = info_of(&p, graph).dispatch_count, plans = info_of(&p, graph).plan_count;
  assert_int_equal(at_16.dispatches, dispatches);
  assert_int_equal(at_16.deliveries, 1);
  /* At no multiple of 16 bytes: it is copied there. */
  const recorded at_4 = launch_to(&p, graph, plain + 1);
  assert_int_equal(at_4.dispatches + at_4.copies, dispatches + 1);
  assert_int_equal(at_4.deliveries, 1);
  /* The device writes there itself: nothing is left to do, whoever waits. */
  assert_ok(p.f->api->memory->alloc_host(p.f->device, (ROW + 4) * sizeof(float), &memory, &err));
  float *const theirs = memory;
  const recorded host_at_16 = launch_to(&p, graph, theirs);
  assert_int_equal(host_at_16.dispatches + host_at_16.copies, dispatches);
  assert_int_equal(host_at_16.deliveries, 0);
  const recorded host_at_4 = launch_to(&p, graph, theirs + 1);
  assert_int_equal(host_at_4.dispatches + host_at_4.copies, dispatches + 1);
  assert_int_equal(host_at_4.deliveries, 0);
  assert_ok(p.f->api->memory->free_host(p.f->device, memory, &err));
  /* One plan more, whatever memory it is. */
  assert_int_equal(info_of(&p, graph).plan_count, plans + 1);
  assert_ok(p.f->api->graph->destroy(graph, &err));
  free(n);
  close_place(&p);
}

/* Where the places of several outputs differ, there are still two plans and not one for each mixture. */
static void mixtures_of_places_have_one_plan(void **state) {
  enum { OUTPUTS = 4 };
  const place p = open_place(state);
  network *const n = make_network();
  const uint32_t x = add_input(n, 1, row);
  _Alignas(16) static float in[ROW], out[OUTPUTS][ROW + 4];
  const DLTensor from = row_at(in);
  const DLTensor *const inputs[] = {&from};
  DLTensor to[OUTPUTS];
  const DLTensor *outputs[OUTPUTS];
  for (int o = 0; o < OUTPUTS; ++o) {
    add_output(n, NODE(n, o % 2 == 0 ? "Neg" : "Abs", 13, x));
  }
  for (int i = 0; i < ROW; ++i) {
    in[i] = (float)(i + 1);
  }
  leat_graph *const graph = build(&p, n);
  const uint32_t plans = info_of(&p, graph).plan_count;
  for (uint32_t mixture = 0; mixture < 1u << OUTPUTS; ++mixture) {
    for (uint32_t o = 0; o < OUTPUTS; ++o) {
      to[o] = row_at(out[o] + (mixture >> o & 1));
      outputs[o] = &to[o];
    }
    memset(out, 0, sizeof(out));
    assert_ok(p.f->api->graph->launch(graph, p.stream, 1, inputs, OUTPUTS, outputs, &err));
    assert_ok(p.f->api->stream->synchronize(p.stream, &err));
    for (uint32_t o = 0; o < OUTPUTS && computes(); ++o) {
      const float *const row_of = to[o].data;
      assert_true(row_of[0] == (o % 2 == 0 ? -1.0f : 1.0f));
      assert_true(row_of[ROW - 1] == (o % 2 == 0 ? -(float)ROW : (float)ROW));
    }
  }
  assert_int_equal(info_of(&p, graph).plan_count, plans + 2);
  assert_ok(p.f->api->graph->destroy(graph, &err));
  free(n);
  close_place(&p);
}

/* The list is the same each time but for its records and bytes, and may be held by a command buffer. */
static void each_launch_reads_what_it_was_given(void **state) {
  const place p = open_place(state);
  network *const n = make_sums();
  leat_graph *const graph = build(&p, n);
  static results direct, staged;
  for (int round = 0; round < 6; ++round) {
    for (int i = 0; i < ROW; ++i) {
      n->floats[n->inputs[0]][i] = (float)(i * round);
    }
    run_nodes(&p, n, &direct);
    run_graph(&p, graph, n, 7, &staged);
    compare(n, &direct, &staged);
  }
  assert_ok(p.f->api->graph->destroy(graph, &err));
  free(n);
  close_place(&p);
}

/* Launches in one list that read one place, which changes between the calls, and that write another one place. */
static void launches_in_one_list_keep_their_order(void **state) {
  enum { LAUNCHES = 5 };
  const place p = open_place(state);
  network *const n = make_sums();
  leat_graph *const graph = build(&p, n);
  _Alignas(16) static float in[2][ROW], out[LAUNCHES][ROW], last[ROW];
  const DLTensor x = row_at(in[0]), y = row_at(in[1]), over = row_at(last);
  const DLTensor *const inputs[] = {&x, &y};
  memset(in, 0, sizeof(in));
  for (int k = 0; k < LAUNCHES; ++k) {
    const DLTensor to = row_at(out[k]);
    in[0][0] = (float)(k + 1);
    assert_ok(p.f->api->graph->launch(graph, p.stream, 2, inputs, 1, (const DLTensor *const[]){&to}, &err));
    assert_ok(p.f->api->graph->launch(graph, p.stream, 2, inputs, 1, (const DLTensor *const[]){&over}, &err));
  }
  assert_int_equal(recorded_in(p.stream).copies, 0);
  assert_ok(p.f->api->stream->synchronize(p.stream, &err));
  for (int k = 0; k < LAUNCHES && computes(); ++k) {
    assert_true(out[k][ROW - 1] == (float)(k + 1));
    assert_true(last[k] == (float)LAUNCHES);
  }
  assert_ok(p.f->api->graph->destroy(graph, &err));
  free(n);
  close_place(&p);
}

/* Launches a graph with everything on the host, compares it with its nodes, and tells how many commands it took that
 * are no dispatches of its own. Frees the network. */
static uint32_t copies_of(const place *p, network *n) {
  static results direct, staged;
  const uint32_t host = (1u << (n->desc.input_count + n->desc.output_count)) - 1;
  leat_graph *const graph = build(p, n);
  launched l;
  run_nodes(p, n, &direct);
  launch(p, graph, n, host, &staged, &l);
  const recorded found = recorded_in(p->stream);
  finish(p, host, &staged, &l);
  compare(n, &direct, &staged);
  const uint32_t own = info_of(p, graph).dispatch_count;
  assert_ok(p->f->api->graph->destroy(graph, &err));
  free(n);
  return found.dispatches + found.copies - own;
}

static void what_others_touch_is_copied(void **state) {
  const place p = open_place(state);
  /* An input that is an output: in and out. */
  network *n = make_network();
  uint32_t x = add_input(n, 1, row);
  add_output(n, NODE(n, "Identity", 16, x));
  add_output(n, NODE(n, "Neg", 13, x));
  assert_int_equal(copies_of(&p, n), 2);
  /* One value that is two outputs. */
  n = make_network();
  x = NODE(n, "Neg", 13, add_input(n, 1, row));
  add_output(n, x);
  add_output(n, NODE(n, "Identity", 16, x));
  assert_int_equal(copies_of(&p, n), 2);
  /* An output that a node reads. */
  n = make_network();
  x = NODE(n, "CumSum", 14, add_input(n, 1, row), add_list(n, 1, (const int64_t[]){0}));
  add_output(n, x);
  add_output(n, NODE(n, "CumSum", 14, x, add_list(n, 1, (const int64_t[]){0})));
  assert_int_equal(copies_of(&p, n), 1);
  close_place(&p);
}

/* It is written there, and comes to the host from there. */
static void what_is_needed_on_the_device_is_copied(void **state) {
  const place p = open_place(state);
  network *const n = make_network();
  const uint32_t x = NODE(n, "Neg", 13, add_input(n, 1, row));
  add_output(n, x);
  add_output(n, NODE(n, "Identity", 16, x));
  leat_graph *const graph = build(&p, n);
  static results direct, staged;
  run_nodes(&p, n, &direct);
  for (uint32_t host = 3; host <= 5; host += 2) {
    launched l;
    launch(&p, graph, n, host, &staged, &l);
    const recorded found = recorded_in(p.stream);
    assert_int_equal(found.dispatches + found.copies, info_of(&p, graph).dispatch_count + 1);
    finish(&p, host, &staged, &l);
    compare(n, &direct, &staged);
  }
  assert_ok(p.f->api->graph->destroy(graph, &err));
  free(n);
  close_place(&p);
}

/* Chunks have no red zones. */
static void under_guard_everything_is_copied(void **state) {
  fixture *const f = fixture_of(state);
  reopen(f, "LEAT_MEMORY_GUARD", "1");
  const place p = open_place(state);
  network *const n = make_sums();
  leat_graph *const graph = build(&p, n);
  _Alignas(16) static float out[ROW];
  const recorded found = launch_to(&p, graph, out);
  assert_int_equal(found.dispatches + found.copies, info_of(&p, graph).dispatch_count + 3);
  assert_ok(f->api->graph->destroy(graph, &err));
  free(n);
  close_place(&p);
  reopen(f, "LEAT_MEMORY_GUARD", NULL);
}

/* Of two inputs for which there is no room the first is staged before that is known. */
static void what_cannot_be_staged_leaves_nothing(void **state) {
  enum { COUNT = 12 << 20, BYTES = COUNT * 4 };
  static const int64_t many[] = {COUNT};
  fixture *const f = fixture_of(state);
  char ratio[32];
  (void)snprintf(ratio, sizeof(ratio), "%.9f", 2.7 * BYTES / (double)f->device->physical->info.memory_size);
  reopen(f, "LEAT_HIGH_WATERMARK_RATIO", ratio);
  if (f->device->staged_input_max < BYTES) {
    reopen(f, "LEAT_HIGH_WATERMARK_RATIO", NULL);
    print_message("this device stages inputs of %llu bytes at most\n", (unsigned long long)f->device->staged_input_max);
    skip();
  }
  const place p = open_place(state);
  network *const n = make_network();
  const uint32_t x = add_input(n, 1, row), y = add_input(n, 1, row);
  n->shapes[x][0] = n->shapes[y][0] = COUNT;
  add_output(n, NODE(n, "Add", 14, x, y));
  leat_graph *const graph = build(&p, n);
  float *const data = calloc(3, BYTES);
  assert_non_null(data);
  DLTensor tensors[3];
  for (int i = 0; i < 3; ++i) {
    tensors[i] = row_at(data + i * COUNT);
    tensors[i].shape = (int64_t *)many;
  }
  const DLTensor *const inputs[] = {&tensors[0], &tensors[1]}, *const outputs[] = {&tensors[2]};
  assert_int_equal(f->api->graph->launch(graph, p.stream, 2, inputs, 1, outputs, NULL), LEAT_ERROR_OUT_OF_MEMORY);
  assert_ok(f->api->memory->trim(f->device, NULL, &err));
  leat_memory_stats stats = {.struct_size = sizeof(stats)};
  assert_ok(f->api->memory->stats(f->device, &stats, &err));
  assert_true(stats.staging_bytes < BYTES);
  assert_ok(f->api->graph->destroy(graph, &err));
  free(data);
  free(n);
  close_place(&p);
  reopen(f, "LEAT_HIGH_WATERMARK_RATIO", NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_copy_is_recorded_for_what_only_kernels_touch),
      cmocka_unit_test(outputs_lie_where_they_like),
      cmocka_unit_test(mixtures_of_places_have_one_plan),
      cmocka_unit_test(each_launch_reads_what_it_was_given),
      cmocka_unit_test(launches_in_one_list_keep_their_order),
      cmocka_unit_test(what_others_touch_is_copied),
      cmocka_unit_test(what_is_needed_on_the_device_is_copied),
      cmocka_unit_test(under_guard_everything_is_copied),
      cmocka_unit_test(what_cannot_be_staged_leaves_nothing),
  };
  return cmocka_run_group_tests_name("staged", tests, fixture_open, fixture_close);
}
