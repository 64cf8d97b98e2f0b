/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * A backend without a device. Every slot returns LEAT_ERROR_NOT_SUPPORTED and names itself as "table.slot", so that a
 * host can tell whether it called what it meant. With one FAULT_* defined it breaks the contract in that one way.
 */
#include <leat/backend.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The functions of a backend without a device look at none of their arguments. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#if defined(FAULT_UNRESOLVED)
/* Nobody defines this, so that loading with RTLD_NOW has to fail. */
void leat_test_no_such_function(void);
#endif

static int32_t refuse(leat_error *err, const char *slot) {
  if (err != NULL && err->struct_size >= sizeof(*err)) {
    err->code = LEAT_ERROR_NOT_SUPPORTED;
    err->native_code = 0;
    err->reserved = 0;
    (void)snprintf(err->message, sizeof(err->message), "%s", slot);
  }
  return LEAT_ERROR_NOT_SUPPORTED;
}

/* One function of the slot's type. */
#define SLOT(table, slot, ...)                                  \
  static int32_t table##_##slot(__VA_ARGS__, leat_error *err) { \
    return refuse(err, #table "." #slot);                       \
  }

static int32_t backend_shutdown(leat_error *err) {
  return refuse(err, "backend.shutdown");
}

static int32_t backend_configure(const char *name, const char *value, leat_error *err) {
  return refuse(err, "backend.configure");
}

SLOT(device, count, uint32_t *out_count)
SLOT(device, info, uint32_t index, leat_device_info *out)
SLOT(device, report, uint32_t *inout_count, leat_property *out)
SLOT(device, open, uint32_t index, leat_device **out)
SLOT(device, close, leat_device *device)
SLOT(device, synchronize, leat_device *device)

SLOT(memory, alloc, leat_device *device, uint64_t size, leat_stream *stream, uint64_t *out_address)
SLOT(memory, free, leat_device *device, uint64_t address)
SLOT(memory, record_stream, leat_device *device, uint64_t address, leat_stream *stream)
SLOT(memory, copy, leat_stream *stream, const DLTensor *src, const DLTensor *dst)
SLOT(memory, find, leat_device *device, uint64_t address, uint64_t *out_base, uint64_t *out_size)
SLOT(memory, stats, leat_device *device, leat_memory_stats *out)
SLOT(memory, classes, leat_device *device, uint32_t *inout_count, leat_memory_class *out)
SLOT(memory, reset_peaks, leat_device *device)
SLOT(memory, trim, leat_device *device, uint64_t *out_released)
SLOT(memory, export_dlpack, leat_stream *stream, const DLTensor *view, leat_event *ready,
     DLManagedTensorVersioned **out)
SLOT(memory, import_dlpack, leat_stream *stream, DLManagedTensorVersioned *managed, leat_event *ready, leat_view *out)
SLOT(memory, export_dlpack_unversioned, leat_stream *stream, const DLTensor *view, leat_event *ready,
     DLManagedTensor **out)
SLOT(memory, alloc_host, leat_device *device, uint64_t size, void **out_pointer)
SLOT(memory, free_host, leat_device *device, void *pointer)
SLOT(memory, import_dlpack_unversioned, leat_stream *stream, DLManagedTensor *managed, leat_event *ready,
     leat_view *out)

SLOT(stream, create, leat_device *device, uint64_t flags, leat_stream **out)
SLOT(stream, destroy, leat_stream *stream)
SLOT(stream, flush, leat_stream *stream)
SLOT(stream, synchronize, leat_stream *stream)
SLOT(stream, query, leat_stream *stream)
SLOT(stream, wait_event, leat_stream *stream, leat_event *event)
SLOT(stream, error, leat_stream *stream)
SLOT(stream, clear_error, leat_stream *stream)

SLOT(stream, info, leat_stream *stream, leat_stream_info *out)

SLOT(event, create, leat_device *device, uint64_t flags, leat_event **out)
SLOT(event, destroy, leat_event *event)
SLOT(event, record, leat_event *event, leat_stream *stream)
SLOT(event, query, leat_event *event)
SLOT(event, wait, leat_event *event, int64_t timeout_ns)
SLOT(event, elapsed, leat_event *start, leat_event *end, double *out_ns)
SLOT(event, export_sync_fd, leat_event *event, int32_t *out_fd)

SLOT(op, count, uint32_t *out_count)
SLOT(op, info, uint32_t index, const leat_op_info **out)
SLOT(op, supports, leat_device *device, const leat_op_desc *desc)
SLOT(op, create, leat_device *device, const leat_op_desc *desc, leat_op **out)
SLOT(op, destroy, leat_op *op)
SLOT(op, infer, const leat_op *op, uint32_t input_count, const DLTensor *const *inputs, uint32_t output_count,
     leat_shape *const *out)
SLOT(op, invoke, const leat_op *op, leat_stream *stream, uint32_t input_count, const DLTensor *const *inputs,
     uint32_t output_count, const DLTensor *const *outputs)

SLOT(pool, acquire, leat_device *device, int64_t timeout_ms, leat_stream **out, uint64_t *out_ticket)
SLOT(pool, release, leat_device *device, uint64_t ticket)
SLOT(pool, stream, leat_device *device, uint32_t index, leat_stream **out)
SLOT(pool, current, leat_device *device, leat_stream **out)
SLOT(pool, set_current, leat_device *device, leat_stream *stream, leat_stream **out_previous)
SLOT(pool, release_current, leat_device *device)
SLOT(pool, info, leat_device *device, leat_pool_info *out)

SLOT(graph, build, leat_device *device, const leat_graph_desc *desc, leat_graph **out)
SLOT(graph, destroy, leat_graph *graph)
SLOT(graph, infer, const leat_graph *graph, uint32_t input_count, const DLTensor *const *inputs, uint32_t output_count,
     leat_shape *const *out)
SLOT(graph, launch, const leat_graph *graph, leat_stream *stream, uint32_t input_count, const DLTensor *const *inputs,
     uint32_t output_count, const DLTensor *const *outputs)
SLOT(graph, info, const leat_graph *graph, leat_graph_info *out)
SLOT(graph, fusions, const leat_graph *graph, uint32_t *inout_count, leat_graph_fusion *out)
#ifdef LEAT_ABI_1_1
SLOT(graph, prepare, const leat_graph *graph, uint32_t input_count, const DLTensor *const *inputs,
     uint32_t *inout_count)
#endif

SLOT(profiler, start, leat_device *device, uint32_t capacity, uint64_t flags)
SLOT(profiler, stop, leat_device *device)
SLOT(profiler, read, leat_device *device, uint32_t *inout_count, leat_profile_record *out)
SLOT(profiler, info, leat_device *device, leat_profiler_info *out)

SLOT(external, info, leat_device *device, leat_external_info *out)
SLOT(external, import_memory, leat_device *device, const leat_external_memory *memory, uint64_t *out_address)
SLOT(external, import_semaphore, leat_device *device, uint64_t handle_type, int32_t fd, leat_semaphore **out)
SLOT(external, destroy_semaphore, leat_semaphore *semaphore)
SLOT(external, wait, leat_stream *stream, leat_semaphore *semaphore, uint64_t value)
SLOT(external, signal, leat_stream *stream, leat_semaphore *semaphore, uint64_t value)

/* The device table can be longer than the host knows, with something or nothing in the part beyond. */
typedef struct long_device_api {
  leat_device_api known;
  uint64_t tail[40];
} long_device_api;

static long_device_api device = {.known = {.struct_size = sizeof(leat_device_api),
                                           .count = device_count,
                                           .info = device_info,
                                           .report = device_report,
                                           .open = device_open,
                                           .close = device_close,
                                           .synchronize = device_synchronize}};
static leat_memory_api memory = {.struct_size = sizeof(memory),
                                 .alloc = memory_alloc,
                                 .free = memory_free,
                                 .record_stream = memory_record_stream,
                                 .copy = memory_copy,
                                 .find = memory_find,
                                 .stats = memory_stats,
                                 .classes = memory_classes,
                                 .reset_peaks = memory_reset_peaks,
                                 .trim = memory_trim,
                                 .export_dlpack = memory_export_dlpack,
                                 .import_dlpack = memory_import_dlpack,
                                 .export_dlpack_unversioned = memory_export_dlpack_unversioned,
                                 .import_dlpack_unversioned = memory_import_dlpack_unversioned,
                                 .alloc_host = memory_alloc_host,
                                 .free_host = memory_free_host};
static leat_stream_api stream = {.struct_size = sizeof(stream),
                                 .create = stream_create,
                                 .destroy = stream_destroy,
                                 .flush = stream_flush,
                                 .synchronize = stream_synchronize,
                                 .query = stream_query,
                                 .wait_event = stream_wait_event,
                                 .error = stream_error,
                                 .clear_error = stream_clear_error,
                                 .info = stream_info};
static leat_event_api event = {.struct_size = sizeof(event),
                               .create = event_create,
                               .destroy = event_destroy,
                               .record = event_record,
                               .query = event_query,
                               .wait = event_wait,
                               .elapsed = event_elapsed,
                               .export_sync_fd = event_export_sync_fd};
static leat_op_api op = {.struct_size = sizeof(op),
                         .count = op_count,
                         .info = op_info,
                         .supports = op_supports,
                         .create = op_create,
                         .destroy = op_destroy,
                         .infer = op_infer,
                         .invoke = op_invoke};
static leat_pool_api pool = {.struct_size = sizeof(pool),
                             .acquire = pool_acquire,
                             .release = pool_release,
                             .stream = pool_stream,
                             .current = pool_current,
                             .set_current = pool_set_current,
                             .release_current = pool_release_current,
                             .info = pool_info};
static leat_profiler_api profiler = {.struct_size = sizeof(profiler),
                                     .start = profiler_start,
                                     .stop = profiler_stop,
                                     .read = profiler_read,
                                     .info = profiler_info};
static leat_external_api external = {.struct_size = sizeof(external),
                                     .info = external_info,
                                     .import_memory = external_import_memory,
                                     .import_semaphore = external_import_semaphore,
                                     .destroy_semaphore = external_destroy_semaphore,
                                     .wait = external_wait,
                                     .signal = external_signal};

static leat_graph_api graph = {.struct_size = sizeof(graph),
                               .build = graph_build,
                               .destroy = graph_destroy,
                               .infer = graph_infer,
                               .launch = graph_launch,
                               .info = graph_info,
#ifdef LEAT_ABI_1_1
                               .prepare = graph_prepare,
#endif
                               .fusions = graph_fusions};
static leat_backend_api api = {.struct_size = sizeof(api),
                               .abi_version = LEAT_ABI_1_0,
                               .header_version = LEAT_ABI_CURRENT,
                               .name = "fake",
                               .version = "1.0.0",
                               .build_id = "fake",
                               .device = &device.known,
                               .memory = &memory,
                               .stream = &stream,
                               .event = &event,
                               .op = &op,
                               .pool = &pool,
                               .graph = &graph,
                               .profiler = &profiler,
                               .external = &external,
                               .shutdown = backend_shutdown,
                               .configure = backend_configure};

#if defined(FAULT_CUT_TABLE)
/* Gives a table whose first 8 bytes are the last ones of a page, with nothing after them. */
static const leat_op_api *cut_table(void) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED || munmap(pages + page, page)) {
    return NULL;
  }
  memcpy(pages + page - 8, &op, 8);
  return (const leat_op_api *)(const void *)(pages + page - 8);
}
#endif

/* Applies the fault, if any. */
static void break_tables(void) {
#if defined(FAULT_WRONG_MAJOR)
  api.abi_version = LEAT_ABI_VERSION(2, 0);
#elif defined(FAULT_NULL_TABLE)
  api.stream = NULL;
#elif defined(FAULT_WILD_TABLE)
  api.stream = (const leat_stream_api *)(uintptr_t)0x10;
#elif defined(FAULT_ODD_TABLE)
  api.stream = (const leat_stream_api *)((uintptr_t)&stream + 1);
#elif defined(FAULT_CUT_TABLE)
  api.op = cut_table();
#elif defined(FAULT_NULL_SLOT)
  memory.free = NULL;
#elif defined(FAULT_NULL_SHUTDOWN)
  api.shutdown = NULL;
#elif defined(FAULT_NULL_CONFIGURE)
  api.configure = NULL;
#elif defined(FAULT_NO_POOL)
  api.pool = NULL;
#elif defined(FAULT_NULL_POOL_SLOT)
  pool.set_current = NULL;
#elif defined(FAULT_SHORT_POOL)
  pool.struct_size -= (uint32_t)sizeof(void *);
#elif defined(FAULT_WILD_POOL)
  api.pool = (const leat_pool_api *)(uintptr_t)0x10;
#elif defined(FAULT_NO_GRAPH)
  api.graph = NULL;
#elif defined(FAULT_NULL_GRAPH_SLOT)
  graph.fusions = NULL;
#elif defined(FAULT_SHORT_GRAPH)
  graph.struct_size = (uint32_t)offsetof(leat_graph_api, fusions);
#elif defined(FAULT_WILD_GRAPH)
  api.graph = (const leat_graph_api *)(uintptr_t)0x10;
#elif defined(FAULT_NO_PROFILER)
  api.profiler = NULL;
#elif defined(FAULT_NULL_PROFILER_SLOT)
  profiler.read = NULL;
#elif defined(FAULT_SHORT_PROFILER)
  profiler.struct_size -= (uint32_t)sizeof(void *);
#elif defined(FAULT_WILD_PROFILER)
  api.profiler = (const leat_profiler_api *)(uintptr_t)0x10;
#elif defined(FAULT_NO_EXTERNAL)
  api.external = NULL;
#elif defined(FAULT_NULL_EXTERNAL_SLOT)
  external.wait = NULL;
#elif defined(FAULT_SHORT_EXTERNAL)
  external.struct_size -= (uint32_t)sizeof(void *);
#elif defined(FAULT_WILD_EXTERNAL)
  api.external = (const leat_external_api *)(uintptr_t)0x10;
#elif defined(FAULT_SHORT_TABLE)
  device.known.struct_size -= (uint32_t)sizeof(void *);
#elif defined(FAULT_SHORT_BACKEND)
  api.struct_size = 8;
#elif defined(FAULT_HUGE_SIZE)
  op.struct_size = 0xfffffff0u;
#elif defined(FAULT_TAIL_USED)
  device.known.struct_size = sizeof(device);
  device.tail[39] = 1;
#elif defined(FAULT_TAIL_ZERO)
  device.known.struct_size = sizeof(device);
#elif defined(FAULT_RESERVED)
  event.reserved = 7;
#elif defined(FAULT_BACKEND_RESERVED)
  api.reserved = 7;
#elif defined(FAULT_NULL_NAME)
  api.name = NULL;
#elif defined(FAULT_WILD_NAME)
  api.build_id = (const char *)(uintptr_t)0x10;
#elif defined(FAULT_NO_ELAPSED)
  event.elapsed = NULL;
#elif defined(FAULT_NO_SYNC_FD)
  event.export_sync_fd = NULL;
#elif defined(FAULT_TIMING_WITHOUT_ELAPSED)
  event.elapsed = NULL;
  api.capabilities = LEAT_CAPABILITY_EVENT_TIMING;
#elif defined(FAULT_NO_HOST_MEMORY)
  memory.alloc_host = NULL;
  memory.free_host = NULL;
#elif defined(FAULT_HOST_MEMORY_WITHOUT_SLOT)
  memory.free_host = NULL;
  api.capabilities = LEAT_CAPABILITY_HOST_MEMORY;
#elif defined(FAULT_UNRESOLVED)
  leat_test_no_such_function();
#endif
}

#if defined(FAULT_DATA_SYMBOL)
LEAT_EXPORT extern const int leat_backend_data;
const int leat_backend_data __asm__("leat_backend_query") = 1;
#endif
#if defined(FAULT_NO_SYMBOL) || defined(FAULT_DATA_SYMBOL)
#define leat_backend_query leat_backend_other
#endif

LEAT_EXPORT int32_t leat_backend_query(const leat_host_info *host, const leat_backend_api **out, leat_error *err);
int32_t leat_backend_query(const leat_host_info *host, const leat_backend_api **out, leat_error *err) {
  *out = NULL;
#if defined(FAULT_TOO_NEW)
  const uint32_t least = LEAT_ABI_VERSION(3, 1), most = LEAT_ABI_VERSION(3, 2);
#else
  const uint32_t least = LEAT_ABI_1_0, most = LEAT_ABI_1_0;
#endif
  if (host->struct_size < sizeof(*host) || host->abi_min > most || host->abi_max < least) {
    (void)snprintf(err->message, sizeof(err->message), "this backend speaks %u.%u to %u.%u, the host %u.%u to %u.%u",
                   LEAT_ABI_MAJOR(least), LEAT_ABI_MINOR(least), LEAT_ABI_MAJOR(most), LEAT_ABI_MINOR(most),
                   LEAT_ABI_MAJOR(host->abi_min), LEAT_ABI_MINOR(host->abi_min), LEAT_ABI_MAJOR(host->abi_max),
                   LEAT_ABI_MINOR(host->abi_max));
    return LEAT_ERROR_VERSION;
  }
  break_tables();
  *out = &api;
  int32_t status = LEAT_OK;
#if defined(FAULT_FAILS)
  (void)snprintf(err->message, sizeof(err->message), "the moon is in the way");
  err->native_code = -4;
  status = LEAT_ERROR_UNAVAILABLE;
#elif defined(FAULT_UNTERMINATED)
  memset(err->message, 'x', sizeof(err->message));
  status = LEAT_ERROR_UNAVAILABLE;
#elif defined(FAULT_UNKNOWN_CODE)
  status = -77;
#elif defined(FAULT_NULL_OUT)
  *out = NULL;
#endif
  return status;
}
