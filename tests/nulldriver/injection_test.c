/* SPDX-License-Identifier: BSD-3-Clause */
/* Every call of the driver and every allocation of host memory fails once: no leak, no broken rule, and the plugin
 * works as ever afterwards. */
#include "unit_fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "nulldriver/blocks.h"
#include "nulldriver/test_host.h"
#include "policy/allocation.h"

/* ---- Host memory ----------------------------------------------------------------------------------------------------
 */

/* The plugin's host memory, by the linker: these stand in front of plugin/core/sync.c. */
static struct {
  _Atomic uint32_t calls;      /* since it was last set to 0 */
  uint32_t fail_from, fail_to; /* calls that find no memory, counted from 1; set while no other thread runs */
  _Atomic int64_t live;
} heap;

static bool heap_fails(void) {
  const uint32_t call = atomic_fetch_add_explicit(&heap.calls, 1, memory_order_relaxed) + 1;
  return call >= heap.fail_from && call < heap.fail_to;
}

static void *heap_count(void *memory) {
  (void)atomic_fetch_add_explicit(&heap.live, memory != NULL ? 1 : 0, memory_order_relaxed);
  return memory;
}

#define HEAP_WRAP(type, name, parameters) \
  type __real_##name parameters;          \
  type __wrap_##name parameters;          \
  type __wrap_##name parameters
HEAP_WRAP(void *, leati_calloc, (size_t count_, size_t size)) {
  return heap_fails() ? NULL : heap_count(__real_leati_calloc(count_, size));
}
HEAP_WRAP(void *, leati_calloc_line, (size_t size)) {
  return heap_fails() ? NULL : heap_count(__real_leati_calloc_line(size));
}
HEAP_WRAP(void *, leati_realloc, (void *memory, size_t size)) {
  if (heap_fails()) {
    return NULL;
  }
  void *const grown = __real_leati_realloc(memory, size);
  return memory == NULL ? heap_count(grown) : grown;
}
HEAP_WRAP(void, leati_free, (void *memory)) {
  (void)atomic_fetch_sub_explicit(&heap.live, memory != NULL ? 1 : 0, memory_order_relaxed);
  __real_leati_free(memory);
}

static void a_timed_record_without_memory_changes_nothing(void **state) {
  (void)state;
  open_device();
  leat_stream *const stream = make_stream(), *const other = make_stream();
  leat_event *event;
  assert_ok(h.api->event->create(h.device, LEAT_EVENT_TIMING, &event, &err));
  heap.calls = 0;
  heap.fail_from = 1;
  heap.fail_to = UINT32_MAX;
  assert_int_equal(h.api->event->record(event, stream, NULL), LEAT_ERROR_OUT_OF_MEMORY);
  heap.fail_to = 0;
  assert_ok(h.api->stream->error(stream, &err));
  assert_ok(h.api->event->query(event, &err));
  assert_ok(h.api->event->wait(event, -1, &err));
  assert_ok(h.api->stream->wait_event(other, event, &err));
  assert_ok(h.api->event->record(event, stream, &err));
  assert_ok(h.api->event->wait(event, -1, &err));
  assert_ok(h.api->event->destroy(event, &err));
  assert_ok(h.api->stream->destroy(stream, &err));
  assert_ok(h.api->stream->destroy(other, &err));
  close_device();
}

/* ---- Every call fails once ------------------------------------------------------------------------------------------
 */

/* A descriptor of so many bytes, as this driver shares them. */
static int make_fd(size_t size) {
  const int fd = memfd_create("shared", MFD_CLOEXEC);
  assert_true(fd >= 0 && ftruncate(fd, (off_t)size) == 0);
  return fd;
}

/* Copies in memory of another API, between a signal and a wait for it. A descriptor that was not taken is closed here:
 * one that was taken all the same would be closed twice. */
static void use_external(leat_stream *stream) {
  int64_t floats = 256;
  uint64_t address = 0;
  leat_semaphore *semaphore = NULL;
  const leat_external_memory memory = {.struct_size = sizeof(memory),
                                       .fd = make_fd(4096),
                                       .handle_type = LEAT_EXTERNAL_OPAQUE_FD,
                                       .size = 4096,
                                       .memory_type = LEAT_EXTERNAL_ANY_MEMORY_TYPE};
  const int fd = make_fd(2 * sizeof(uint64_t));
  if (h.api->external->import_memory(h.device, &memory, &address, NULL) != LEAT_OK) {
    assert_int_equal(close(memory.fd), 0);
  }
  if (h.api->external->import_semaphore(h.device, LEAT_EXTERNAL_OPAQUE_FD, fd, &semaphore, NULL) != LEAT_OK) {
    assert_int_equal(close(fd), 0);
  }
  if (address != 0 && semaphore != NULL && h.api->external->signal(stream, semaphore, 1, NULL) == LEAT_OK) {
    const DLTensor from = device_tensor(address, &floats), to = device_tensor(address + 2048, &floats);
    (void)h.api->external->wait(stream, semaphore, 1, NULL);
    (void)h.api->memory->copy(stream, &from, &to, NULL);
  }
  (void)h.api->memory->free(h.device, address, NULL);
  (void)h.api->external->destroy_semaphore(semaphore, NULL);
  (void)h.api->stream->synchronize(stream, NULL);
  (void)h.api->stream->clear_error(stream, NULL);
}

/* A GPU with memory of its own, where a download of LARGE floats goes in two pieces, each larger than a usual chunk,
 * and from a block that is too large to be mapped. */
enum { PIECE = LEATI_MAPPED_BLOCK_MAX / 2 + LEATI_CHUNK_GRANULE, LARGE = 2 * PIECE / (int)sizeof(float) };
_Static_assert(PIECE > LEATI_CHUNK_COPY_SIZE, "a piece takes a chunk of its own");

/* Pieces and segments are small here, by the linker, because each of thousands of lives takes and fills them anew: the
 * thread sanitizer would spend most of its time on their bytes, and what is called does not depend on these. */
uint64_t __wrap_leati_download_piece(const leati_traits *traits, uint64_t size);
uint64_t __wrap_leati_download_piece(const leati_traits *traits, uint64_t size) {
  return traits->discrete && size == 2 * PIECE ? PIECE : size;
}
uint32_t __real_leati_segment_blocks(uint64_t block_size);
uint32_t __wrap_leati_segment_blocks(uint64_t block_size);
uint32_t __wrap_leati_segment_blocks(uint64_t block_size) {
  enum { BYTES_MAX = 1 << 18 };
  const uint32_t usual = __real_leati_segment_blocks(block_size);
  return usual * block_size <= BYTES_MAX ? usual : block_size < BYTES_MAX ? (uint32_t)(BYTES_MAX / block_size) : 1;
}

/* A large download to memory of the host, or to such that the device writes to; the first of the calls that failed. */
static int32_t use_large(leat_stream *stream, bool direct) {
  static float out[LARGE];
  int64_t floats = LARGE;
  uint64_t address = 0;
  void *memory = NULL;
  int32_t status = h.api->memory->alloc(h.device, sizeof(out), stream, &address, NULL);
  if (status == LEAT_OK && direct) {
    status = h.api->memory->alloc_host(h.device, sizeof(out), &memory, NULL);
  }
  if (status == LEAT_OK) {
    const DLTensor from = device_tensor(address, &floats), to = host_tensor(direct ? memory : out, &floats);
    status = h.api->memory->copy(stream, &from, &to, NULL);
    const int32_t synchronized = h.api->stream->synchronize(stream, NULL);
    status = status == LEAT_OK ? synchronized : status;
    (void)h.api->stream->clear_error(stream, NULL);
  }
  (void)h.api->memory->free_host(h.device, memory, NULL);
  (void)h.api->memory->free(h.device, address, NULL);
  return status;
}

/* A little of everything, going on after whatever fails. */
static void little_of_everything(void) {
  static blocks t;
  leat_stream *stream = NULL;
  leat_event *event = NULL, *timed = NULL;
  leat_pool_info pool = {.struct_size = sizeof(pool)};
  leat_stream *pooled;
  uint64_t ticket;
  double ns;
  if (host_open(&h, NULL) == LEAT_OK && h.api->stream->create(h.device, 0, &stream, NULL) == LEAT_OK) {
    t.a = t.b = 0;
    (void)h.api->event->create(h.device, 0, &event, NULL);
    (void)h.api->event->create(h.device, LEAT_EVENT_TIMING, &timed, NULL);
    if (h.api->event->record(timed, stream, NULL) != LEAT_OK) {
      (void)h.api->event->wait(timed, -1, NULL);
      (void)h.api->stream->wait_event(stream, timed, NULL);
      (void)h.api->stream->clear_error(stream, NULL);
    }
    if (h.api->memory->alloc(h.device, sizeof(t.in), stream, &t.a, NULL) == LEAT_OK &&
        h.api->memory->alloc(h.device, sizeof(t.in), stream, &t.b, NULL) == LEAT_OK) {
      int32_t status = upload(&t, stream, 3);
      status = status == LEAT_OK ? rectify(&t, stream) : status;
      status = status == LEAT_OK ? download(&t, stream) : status;
      status = status == LEAT_OK ? h.api->event->record(event, stream, NULL) : status;
      status = status == LEAT_OK ? h.api->event->wait(event, -1, NULL) : status;
      if (status == LEAT_OK) {
        assert_arrived(&t, 3);
      }
      (void)h.api->event->record(timed, stream, NULL);
      (void)h.api->event->wait(timed, -1, NULL);
      (void)h.api->event->elapsed(timed, timed, &ns, NULL);
      int32_t fd = -1;
      if (h.api->event->export_sync_fd(event, &fd, NULL) == LEAT_OK && fd >= 0) {
        assert_int_equal(close(fd), 0);
      }
    }
    (void)h.api->memory->free(h.device, t.a, NULL);
    (void)h.api->memory->free(h.device, t.b, NULL);
    (void)h.api->event->destroy(event, NULL);
    (void)h.api->event->destroy(timed, NULL);
    use_external(stream);
    (void)use_large(stream, false);
    (void)use_large(stream, true);
    (void)h.api->stream->destroy(stream, NULL);
    if (h.api->pool->acquire(h.device, 0, &pooled, &ticket, NULL) == LEAT_OK) {
      assert_ok(h.api->pool->release(h.device, ticket, &err));
    }
    assert_ok(h.api->pool->info(h.device, &pool, &err));
    assert_int_equal(pool.held_count, 0);
  }
  if (h.device != NULL) {
    assert_ok(host_close(&h, &err));
  } else {
    assert_ok(h.api->shutdown(&err));
  }
}

static void every_call_of_the_driver_may_fail(void **state) {
  (void)state;
  /* A wait polls as often as time allows; what the first of these calls meet, the later ones do too. */
  enum { CALLS_MAX = 40 };
  static const VkResult results[] = {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_ERROR_DEVICE_LOST};
  bool can_fail = true;
  uint32_t failures = 0;
  for (uint32_t i = 0; nulldriver_function(i, &can_fail) != NULL && can_fail; ++i) {
    for (uint32_t n = 1, fired = 1; fired != 0 && n <= CALLS_MAX; ++n) {
      fired = 0;
      for (size_t j = 0; j < sizeof(results) / sizeof(results[0]); ++j) {
        const char *const name = nulldriver_function(i, &can_fail);
        nulldriver_reset();
        nulldriver_set_mode(NULLDRIVER_LAZY, 0);
        if (j != 0) {
          host_be_discrete();
        }
        assert_true(nulldriver_fail(name, n, results[j]));
        little_of_everything();
        fired += nulldriver_calls(name) >= n ? 1 : 0;
        if (host_report_violations() + host_report_leaks() != 0 || nulldriver_memory_used() != 0) {
          fail_msg("after call %u of %s gave %d", n, name, (int)results[j]);
        }
      }
      failures += fired;
    }
  }
  print_message("%u failures came out well\n", failures);
  assert_true(failures > 100);
}

/* ---- Every allocation of host memory fails --------------------------------------------------------------------------
 */

enum { POOR_STREAMS = 6, POOR_BLOCKS = 24, POOR_KERNELS = 80, POOR_DOWNLOADS = 20 };

/* Whether a call of the scenario below was told that there is no memory. */
static bool told;

/* A call of the scenario: it may lack memory and nothing else. */
static bool poor(int32_t status, const char *what) {
  if (status != LEAT_OK && status != LEAT_ERROR_OUT_OF_MEMORY) {
    fail_msg("%s gave %d", what, (int)status);
  }
  told = told || status != LEAT_OK;
  return status == LEAT_OK;
}
#define POOR(call) poor((call), #call)

/* A thread of its own: its stream of the pool, and a ticket. */
static void *use_pool(void *status) {
  leat_stream *stream;
  uint64_t ticket;
  int32_t *const worst = status;
  *worst = h.api->pool->current(h.device, &stream, NULL);
  if (h.api->pool->acquire(h.device, 0, &stream, &ticket, NULL) == LEAT_OK) {
    *worst = h.api->pool->release(h.device, ticket, NULL) != LEAT_OK ? LEAT_ERROR_INTERNAL : *worst;
  } else {
    *worst = LEAT_ERROR_OUT_OF_MEMORY;
  }
  return NULL;
}

/* A graph with a constant and a temporary, from the host to the host, for two shapes. */
static void use_graph(leat_stream *stream) {
  static float in[COUNT], out[COUNT], weights[4] = {1, 2, 3, 4};
  static const int64_t open[] = {-1, 4}, list[] = {-1};
  static int64_t one[] = {1}, four[] = {4};
  const DLTensor weight = host_tensor(weights, four);
  const DLTensor sizes = {
      .data = (void *)list, .device = {kDLCPU, 0}, .ndim = 1, .dtype = {kDLInt, 64, 1}, .shape = one};
  const DLDataType type = weight.dtype;
  const leat_value_info infos[] = {
      {.struct_size = sizeof(infos[0]), .ndim = 2, .dtype = type, .shape = open},
      {.struct_size = sizeof(infos[0]), .ndim = 1, .dtype = type, .shape = four, .value = &weight},
      {.struct_size = sizeof(infos[0]), .ndim = 1, .dtype = sizes.dtype, .shape = one, .value = &sizes},
      {.struct_size = sizeof(infos[0]), .ndim = -1}};
  const leat_value_info *const values[] = {&infos[0], &infos[1], &infos[2], &infos[3], &infos[3], &infos[3], &infos[3]};
  static const uint32_t sum_in[] = {0, 1}, sum[] = {3}, flat_in[] = {3, 2}, flat[] = {4}, shape[] = {5}, last[] = {6};
  const leat_graph_node nodes[] = {
#define NODE(op_, version, count, in_, out_) \
  {.struct_size = sizeof(nodes[0]),          \
   .since_version = (version),               \
   .name = "n",                              \
   .op = (op_),                              \
   .input_count = (count),                   \
   .output_count = 1,                        \
   .inputs = (in_),                          \
   .outputs = (out_)}
      NODE("Add", 14, 2, sum_in, sum), NODE("Reshape", 14, 2, flat_in, flat), NODE("Shape", 15, 1, flat, shape),
      NODE("Neg", 13, 1, flat, last)
#undef NODE
  };
  const leat_graph_node *const list_of_nodes[] = {&nodes[0], &nodes[1], &nodes[2], &nodes[3]};
  static const uint32_t inputs[] = {0}, outputs[] = {5, 6};
  const leat_graph_desc desc = {.struct_size = sizeof(desc),
                                .value_count = 7,
                                .node_count = 4,
                                .input_count = 1,
                                .output_count = 2,
                                .values = values,
                                .nodes = list_of_nodes,
                                .inputs = inputs,
                                .outputs = outputs};
  leat_graph *graph = NULL;
  if (!POOR(h.api->graph->build(h.device, &desc, &graph, NULL))) {
    return;
  }
  for (int64_t rows = 1; rows <= 2; ++rows) {
    int64_t both[] = {rows, 4}, all[] = {4 * rows}, answer[1] = {0};
    DLTensor x = host_tensor(in, both), y = host_tensor(out, all);
    x.ndim = 2;
    const DLTensor z = {.data = answer, .device = {kDLCPU, 0}, .ndim = 1, .dtype = sizes.dtype, .shape = one};
    const DLTensor *const given[] = {&x}, *const made[] = {&z, &y};
    leat_shape shapes[2] = {{.struct_size = sizeof(shapes[0])}, {.struct_size = sizeof(shapes[0])}};
    leat_shape *const list_of_shapes[] = {&shapes[0], &shapes[1]};
    (void)POOR(h.api->graph->infer(graph, 1, given, 2, list_of_shapes, NULL));
    if (POOR(h.api->graph->launch(graph, stream, 1, given, 2, made, NULL)) &&
        POOR(h.api->stream->synchronize(stream, NULL))) {
      assert_int_equal(answer[0], 4 * rows);
    }
  }
  assert_ok(h.api->graph->destroy(graph, &err));
}

/* All that takes host memory, on an open device, going on after whatever fails. */
static void use_everything(void) {
  static blocks t;
  static float more[POOR_DOWNLOADS][COUNT];
  leat_stream *streams[POOR_STREAMS] = {NULL};
  leat_event *event = NULL, *timed = NULL;
  DLManagedTensorVersioned *exported;
  uint64_t addresses[POOR_BLOCKS] = {0};
  pthread_t thread;
  int32_t pool_status = LEAT_OK;
  bool good = true;
  for (int i = 0; i < POOR_STREAMS; ++i) {
    if (!POOR(h.api->stream->create(h.device, 0, &streams[i], NULL))) {
      streams[i] = NULL;
    }
  }
  assert_int_equal(pthread_create(&thread, NULL, use_pool, &pool_status), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
  (void)poor(pool_status, "the pool");
  (void)POOR(h.api->event->create(h.device, 0, &event, NULL));
  (void)POOR(h.api->event->create(h.device, LEAT_EVENT_TIMING, &timed, NULL));
  /* Blocks of many sizes, so that the tables of memory grow. */
  for (int i = 0; i < POOR_BLOCKS; ++i) {
    if (!POOR(h.api->memory->alloc(h.device, UINT64_C(256) << i % 12, streams[0], &addresses[i], NULL))) {
      addresses[i] = 0;
    }
  }
  t.a = t.b = 0;
  leat_stream *const stream = streams[0];
  if (stream != NULL && POOR(h.api->memory->alloc(h.device, sizeof(t.in), stream, &t.a, NULL)) &&
      POOR(h.api->memory->alloc(h.device, sizeof(t.in), stream, &t.b, NULL))) {
    const DLTensor tensor = device_tensor(t.b, &count);
    good = POOR(upload(&t, stream, 3)) && good;
    for (int i = 0; i < POOR_KERNELS; ++i) {
      good = POOR(rectify(&t, stream)) && good;
    }
    for (int i = 0; i < POOR_DOWNLOADS; ++i) {
      const DLTensor to = host_tensor(more[i], &count);
      memset(more[i], 0xff, sizeof(more[i]));
      good = POOR(h.api->memory->copy(stream, &tensor, &to, NULL)) && good;
    }
    if (POOR(h.api->memory->export_dlpack(stream, &tensor, NULL, &exported, NULL))) {
      exported->deleter(exported);
    }
    const bool profiled = POOR(h.api->profiler->start(h.device, 0, 0, NULL));
    use_graph(stream);
    (void)POOR(use_large(stream, false));
    (void)POOR(use_large(stream, true));
    const bool event_good = event != NULL && POOR(h.api->event->record(event, stream, NULL));
    /* More stamps on a block than it has room for. */
    for (int i = 1; i < POOR_STREAMS; ++i) {
      if (streams[i] != NULL && event_good) {
        (void)POOR(h.api->stream->wait_event(streams[i], event, NULL));
        (void)POOR(rectify(&t, streams[i]));
        (void)POOR(h.api->memory->record_stream(h.device, t.b, streams[i], NULL));
      }
    }
    if (timed != NULL && POOR(h.api->event->record(timed, stream, NULL))) {
      (void)POOR(h.api->event->wait(timed, -1, NULL));
    }
    good = POOR(h.api->stream->synchronize(stream, NULL)) && good;
    if (profiled) {
      uint32_t none = 0;
      assert_ok(h.api->profiler->read(h.device, &none, NULL, &err));
      assert_ok(h.api->profiler->stop(h.device, &err));
    }
    for (int i = 0; good && i < POOR_DOWNLOADS; ++i) {
      assert_int_equal(host_compare(more[i], COUNT, (host_content){.seed = 3, .rectified = true}), -1);
    }
  }
  for (int i = 0; i < POOR_STREAMS; ++i) {
    if (streams[i] != NULL) {
      (void)POOR(h.api->stream->synchronize(streams[i], NULL));
      (void)POOR(h.api->stream->clear_error(streams[i], NULL));
      assert_ok(h.api->stream->destroy(streams[i], &err));
    }
  }
  for (int i = 0; i < POOR_BLOCKS; ++i) {
    assert_ok(h.api->memory->free(h.device, addresses[i], &err));
  }
  give_blocks(&t);
  assert_ok(h.api->event->destroy(event, &err));
  assert_ok(h.api->event->destroy(timed, &err));
  assert_ok(h.api->memory->trim(h.device, NULL, &err));
}

/* From opening to closing. Allocations [from, to) fail; once they have, the device works as ever. Returns how many
 * allocations there were. */
static uint32_t live_poorly(uint32_t from, uint32_t to) {
  told = false;
  heap.calls = 0;
  heap.fail_from = from;
  heap.fail_to = to;
  const int32_t opened = host_open(&h, NULL);
  if (poor(opened, "opening")) {
    use_everything();
  }
  const uint32_t calls = atomic_load(&heap.calls);
  heap.fail_from = heap.fail_to = UINT32_MAX;
  if (opened == LEAT_OK) {
    leat_device_info info = {.struct_size = sizeof(info)};
    run_through(2);
    leat_pool_info pool = {.struct_size = sizeof(pool)};
    assert_ok(h.api->pool->info(h.device, &pool, &err));
    assert_int_equal(pool.held_count, 0);
    /* Nothing was taken for missing because there was no memory to ask for it. */
    assert_ok(h.api->device->info(0, &info, &err));
    assert_true(info.pci_bus_id[0] != '\0');
  }
  if (h.device != NULL) {
    assert_ok(host_close(&h, &err));
  } else {
    assert_ok(h.api->shutdown(&err));
  }
  return calls;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  uint32_t calls = 0, silent = 0;
  int64_t live = 0;
  for (int i = 0; i < 3; ++i) {
    nulldriver_reset();
    nulldriver_set_mode(NULLDRIVER_LAZY, 0);
    host_be_discrete();
    calls = live_poorly(UINT32_MAX, UINT32_MAX);
    assert_false(told);
    assert_true(i == 0 || atomic_load(&heap.live) == live);
    live = atomic_load(&heap.live);
  }
  for (uint32_t from = 1; from <= calls; ++from) {
    for (int all = 0; all < 2; ++all) {
      nulldriver_reset();
      nulldriver_set_mode(NULLDRIVER_LAZY, 0);
      host_be_discrete();
      (void)live_poorly(from, all ? UINT32_MAX : from + 1);
      silent += told ? 0 : 1;
      if (host_report_violations() + host_report_leaks() != 0 || nulldriver_memory_used() != 0 ||
          atomic_load(&heap.live) != live) {
        fail_msg("after allocation %u%s failed, %lld more than before are alive", from,
                 all ? " and all later ones" : "", (long long)(atomic_load(&heap.live) - live));
      }
    }
  }
  print_message("%u places; %u failures needed no error\n", calls, silent);
  assert_true(calls > 50);
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, host_before, host_after)
      CASE(a_timed_record_without_memory_changes_nothing),
      CASE(every_call_of_the_driver_may_fail),
      CASE(every_allocation_may_fail),
#undef CASE
  };
  return cmocka_run_group_tests_name("nulldriver.injection", tests, NULL, NULL);
}
