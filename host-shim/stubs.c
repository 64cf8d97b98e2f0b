/* SPDX-License-Identifier: BSD-3-Clause */
#include "stubs.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/error.h"

typedef void (*leati_function)(void);

/* ---- What stands in for slots that a backend may leave out ------------------------------------------------------- */

static int32_t stub_memory_alloc_host(leat_device *device, uint64_t size, void **out_pointer, leat_error *err) {
  (void)device;
  (void)size;
  (void)out_pointer;
  return leati_error_set(err, LEAT_ERROR_NOT_SUPPORTED, 0, "this backend does not have leat_memory_api::alloc_host");
}

static int32_t stub_memory_free_host(leat_device *device, void *pointer, leat_error *err) {
  (void)device;
  (void)pointer;
  return leati_error_set(err, LEAT_ERROR_NOT_SUPPORTED, 0, "this backend does not have leat_memory_api::free_host");
}

static const leat_memory_api memory_stubs = {.alloc_host = stub_memory_alloc_host, .free_host = stub_memory_free_host};

static int32_t stub_event_elapsed(leat_event *start, leat_event *end, double *out_ns, leat_error *err) {
  (void)start;
  (void)end;
  (void)out_ns;
  return leati_error_set(err, LEAT_ERROR_NOT_SUPPORTED, 0, "this backend does not have leat_event_api::elapsed");
}

static int32_t stub_event_export_sync_fd(leat_event *event, int32_t *out_fd, leat_error *err) {
  (void)event;
  (void)out_fd;
  return leati_error_set(err, LEAT_ERROR_NOT_SUPPORTED, 0, "this backend does not have leat_event_api::export_sync_fd");
}

static const leat_event_api event_stubs = {.elapsed = stub_event_elapsed, .export_sync_fd = stub_event_export_sync_fd};

/* The parameters stay unused: whatever they are, there is nothing that could use them. `what` says of what. */
#define TABLE_STUB(table, what, slot, ...)                                                   \
  static int32_t stub_##table##_##slot(__VA_ARGS__, leat_error *err) {                       \
    return leati_error_set(err, LEAT_ERROR_NOT_SUPPORTED, 0,                                 \
                           "this backend has no " what " (leat_" #table "_api::" #slot ")"); \
  }
#define POOL_STUB(slot, ...) TABLE_STUB(pool, "pool of streams", slot, __VA_ARGS__)
#define GRAPH_STUB(slot, ...) TABLE_STUB(graph, "graphs", slot, __VA_ARGS__)
#define PROFILER_STUB(slot, ...) TABLE_STUB(profiler, "profiler", slot, __VA_ARGS__)
#define EXTERNAL_STUB(slot, ...) TABLE_STUB(external, "external memory", slot, __VA_ARGS__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
POOL_STUB(acquire, leat_device *device, int64_t timeout_ms, leat_stream **out, uint64_t *out_ticket)
POOL_STUB(release, leat_device *device, uint64_t ticket)
POOL_STUB(stream, leat_device *device, uint32_t index, leat_stream **out)
POOL_STUB(current, leat_device *device, leat_stream **out)
POOL_STUB(set_current, leat_device *device, leat_stream *stream, leat_stream **out_previous)
POOL_STUB(release_current, leat_device *device)
POOL_STUB(info, leat_device *device, leat_pool_info *out)
GRAPH_STUB(build, leat_device *device, const leat_graph_desc *desc, leat_graph **out)
GRAPH_STUB(destroy, leat_graph *graph)
GRAPH_STUB(infer, const leat_graph *graph, uint32_t input_count, const DLTensor *const *inputs, uint32_t output_count,
           leat_shape *const *out)
GRAPH_STUB(launch, const leat_graph *graph, leat_stream *stream, uint32_t input_count, const DLTensor *const *inputs,
           uint32_t output_count, const DLTensor *const *outputs)
GRAPH_STUB(info, const leat_graph *graph, leat_graph_info *out)
GRAPH_STUB(fusions, const leat_graph *graph, uint32_t *inout_count, leat_graph_fusion *out)
GRAPH_STUB(prepare, const leat_graph *graph, uint32_t input_count, const DLTensor *const *inputs, uint32_t *inout_count)
PROFILER_STUB(start, leat_device *device, uint32_t capacity, uint64_t flags)
PROFILER_STUB(stop, leat_device *device)
PROFILER_STUB(read, leat_device *device, uint32_t *inout_count, leat_profile_record *out)
PROFILER_STUB(info, leat_device *device, leat_profiler_info *out)
EXTERNAL_STUB(info, leat_device *device, leat_external_info *out)
EXTERNAL_STUB(import_memory, leat_device *device, const leat_external_memory *memory, uint64_t *out_address)
EXTERNAL_STUB(import_semaphore, leat_device *device, uint64_t handle_type, int32_t fd, leat_semaphore **out)
EXTERNAL_STUB(destroy_semaphore, leat_semaphore *semaphore)
EXTERNAL_STUB(wait, leat_stream *stream, leat_semaphore *semaphore, uint64_t value)
EXTERNAL_STUB(signal, leat_stream *stream, leat_semaphore *semaphore, uint64_t value)
#pragma GCC diagnostic pop

static const leat_pool_api pool_stubs = {
    .struct_size = sizeof(leat_pool_api),
    .acquire = stub_pool_acquire,
    .release = stub_pool_release,
    .stream = stub_pool_stream,
    .current = stub_pool_current,
    .set_current = stub_pool_set_current,
    .release_current = stub_pool_release_current,
    .info = stub_pool_info,
};

static const leat_graph_api graph_stubs = {
    .struct_size = sizeof(leat_graph_api),
    .build = stub_graph_build,
    .destroy = stub_graph_destroy,
    .infer = stub_graph_infer,
    .launch = stub_graph_launch,
    .info = stub_graph_info,
    .fusions = stub_graph_fusions,
    .prepare = stub_graph_prepare,
};

static const leat_profiler_api profiler_stubs = {
    .struct_size = sizeof(leat_profiler_api),
    .start = stub_profiler_start,
    .stop = stub_profiler_stop,
    .read = stub_profiler_read,
    .info = stub_profiler_info,
};

static const leat_external_api external_stubs = {
    .struct_size = sizeof(leat_external_api),
    .info = stub_external_info,
    .import_memory = stub_external_import_memory,
    .import_semaphore = stub_external_import_semaphore,
    .destroy_semaphore = stub_external_destroy_semaphore,
    .wait = stub_external_wait,
    .signal = stub_external_signal,
};

/* ---- The tables and their slots ---------------------------------------------------------------------------------- */

typedef struct table_slot {
  const char *name;
  size_t offset; /* in its table */
} table_slot;

/* One of the tables that leat_backend_api points at. Each begins with struct_size and reserved; the rest is slots. */
typedef struct table_kind {
  const char *name;
  const table_slot *slots;
  const void *stubs; /* a table that holds a function for each slot that may be left out; NULL: none may */
  bool optional;     /* the table itself may be left out, and `stubs` is whole */
  size_t slot_count;
  size_t size;           /* full size, as this header has it */
  size_t size_1_0;       /* size in ABI 1.0, which every backend has at least */
  size_t backend_offset; /* of the pointer to it, in leat_backend_api */
  size_t copy_offset;    /* of the copy, in leati_tables */
} table_kind;

#define SLOT(table, slot) \
  { #slot, offsetof(leat_##table##_api, slot) }

static const table_slot device_slots[] = {SLOT(device, count), SLOT(device, info),  SLOT(device, report),
                                          SLOT(device, open),  SLOT(device, close), SLOT(device, synchronize)};
static const table_slot memory_slots[] = {SLOT(memory, alloc),
                                          SLOT(memory, free),
                                          SLOT(memory, record_stream),
                                          SLOT(memory, copy),
                                          SLOT(memory, find),
                                          SLOT(memory, stats),
                                          SLOT(memory, classes),
                                          SLOT(memory, reset_peaks),
                                          SLOT(memory, trim),
                                          SLOT(memory, export_dlpack),
                                          SLOT(memory, import_dlpack),
                                          SLOT(memory, export_dlpack_unversioned),
                                          SLOT(memory, import_dlpack_unversioned),
                                          SLOT(memory, alloc_host),
                                          SLOT(memory, free_host)};
static const table_slot stream_slots[] = {
    SLOT(stream, create),      SLOT(stream, destroy),     SLOT(stream, flush),
    SLOT(stream, synchronize), SLOT(stream, query),       SLOT(stream, wait_event),
    SLOT(stream, error),       SLOT(stream, clear_error), SLOT(stream, info)};
static const table_slot event_slots[] = {SLOT(event, create),        SLOT(event, destroy), SLOT(event, record),
                                         SLOT(event, query),         SLOT(event, wait),    SLOT(event, elapsed),
                                         SLOT(event, export_sync_fd)};
static const table_slot op_slots[] = {SLOT(op, count),   SLOT(op, info),  SLOT(op, supports), SLOT(op, create),
                                      SLOT(op, destroy), SLOT(op, infer), SLOT(op, invoke)};

static const table_slot pool_slots[] = {SLOT(pool, acquire), SLOT(pool, release),     SLOT(pool, stream),
                                        SLOT(pool, current), SLOT(pool, set_current), SLOT(pool, release_current),
                                        SLOT(pool, info)};
static const table_slot graph_slots[] = {SLOT(graph, build),  SLOT(graph, destroy), SLOT(graph, infer),
                                         SLOT(graph, launch), SLOT(graph, info),    SLOT(graph, fusions),
                                         SLOT(graph, prepare)};
static const table_slot profiler_slots[] = {SLOT(profiler, start), SLOT(profiler, stop), SLOT(profiler, read),
                                            SLOT(profiler, info)};
static const table_slot external_slots[] = {SLOT(external, info),
                                            SLOT(external, import_memory),
                                            SLOT(external, import_semaphore),
                                            SLOT(external, destroy_semaphore),
                                            SLOT(external, wait),
                                            SLOT(external, signal)};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Fails to compile when a table has a slot that is not in its list above. */
#define ASSERT_ALL_LISTED(table)                                                                  \
  _Static_assert(offsetof(leat_##table##_api, reserved) == 4, "reserved follows struct_size");    \
  _Static_assert(COUNT(table##_slots) * sizeof(leati_function) + 8 == sizeof(leat_##table##_api), \
                 "leat_" #table "_api has a slot that stubs.c does not list")
ASSERT_ALL_LISTED(device);
ASSERT_ALL_LISTED(memory);
ASSERT_ALL_LISTED(stream);
ASSERT_ALL_LISTED(event);
ASSERT_ALL_LISTED(op);
ASSERT_ALL_LISTED(pool);
ASSERT_ALL_LISTED(graph);
ASSERT_ALL_LISTED(profiler);
ASSERT_ALL_LISTED(external);

#define KIND(table, last_1_0, stubs, optional)                                                               \
  {                                                                                                          \
    "leat_" #table "_api", table##_slots, stubs, optional, COUNT(table##_slots), sizeof(leat_##table##_api), \
        LEAT_SIZE_THROUGH(leat_##table##_api, last_1_0), offsetof(leat_backend_api, table),                  \
        offsetof(leati_tables, table)                                                                        \
  }

static const table_kind kinds[] = {KIND(device, synchronize, NULL, false),
                                   KIND(memory, free_host, &memory_stubs, false),
                                   KIND(stream, info, NULL, false),
                                   KIND(event, export_sync_fd, &event_stubs, false),
                                   KIND(op, invoke, NULL, false),
                                   KIND(pool, info, &pool_stubs, true),
                                   KIND(graph, fusions, &graph_stubs, true),
                                   KIND(profiler, info, &profiler_stubs, true),
                                   KIND(external, signal, &external_stubs, true)};

#define BACKEND_SIZE_1_0 LEAT_SIZE_THROUGH(leat_backend_api, configure)

/* ---- Reading what may not be there ------------------------------------------------------------------------------- */

/* No table of any version comes near this; a struct_size above it is a wild number and is not followed. */
#define PLAUSIBLE_SIZE ((size_t)1 << 16)

/* Copies memory of this process, as many bytes of `size` as are there, and returns their number. The kernel does it, so
 * that an address that is not there is an answer instead of a signal: the author of a backend who left a pointer or a
 * struct_size unset reads which table it is, where the host would die before it could say so. No call that only asks
 * (mincore, dladdr) tells whether memory may be read. Where the kernel is not allowed to (a sandbox that blocks the
 * call), the memory is trusted. */
static size_t probe(void *out, const void *from, size_t size) {
  struct iovec local = {.iov_base = out, .iov_len = size};
  struct iovec remote = {.iov_base = (void *)(uintptr_t)from, .iov_len = size};
  ssize_t read = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
  if (read >= 0) {
    return (size_t)read;
  }
  if (errno == EFAULT) {
    return 0;
  }
  memcpy(out, from, size);
  return size;
}

static bool aligned(const void *pointer) {
  return (uintptr_t)pointer % _Alignof(leat_backend_api) == 0;
}

/* Reads a struct of the backend into `out`, as much as this header knows of it, with zeros for what the backend's
 * lacks. */
static int32_t struct_read(void *out, size_t known, size_t least, const void *given, const char *name, const char *path,
                           leat_error *err) {
  uint32_t size = 0;
  if (!aligned(given) || probe(&size, given, sizeof(size)) != sizeof(size)) {
    return leati_error_set(err, LEAT_ERROR_INTERNAL, 0, "%s: its %s is at %p, where no such table can be", path, name,
                           given);
  }
  if (size < least) {
    return leati_error_set(err, LEAT_ERROR_INTERNAL, 0,
                           "%s: its %s has struct_size %u, but ABI 1.0 has %zu bytes there", path, name, size, least);
  }
  if (size > PLAUSIBLE_SIZE) {
    return leati_error_set(err, LEAT_ERROR_INTERNAL, 0,
                           "%s: its %s has struct_size %u, which no version of the ABI comes near (this one: %zu)",
                           path, name, size, known);
  }
  memset(out, 0, known);
  size_t wanted = size < known ? size : known;
  size_t got = probe(out, given, wanted);
  const unsigned char *tail = (const unsigned char *)given + known;
  for (size_t left = size - wanted; got == wanted && left > 0;) {
    unsigned char chunk[256];
    size_t length = left < sizeof(chunk) ? left : sizeof(chunk);
    if (probe(chunk, tail, length) != length) {
      got = 0;
      break;
    }
    for (size_t i = 0; i < length; ++i) {
      if (chunk[i] != 0) {
        return leati_error_set(err, LEAT_ERROR_INTERNAL, 0,
                               "%s: its %s is %u bytes long, and what lies beyond the %zu bytes of the ABI version it "
                               "agreed to is not zero",
                               path, name, size, known);
      }
    }
    tail += length;
    left -= length;
  }
  if (got != wanted) {
    return leati_error_set(err, LEAT_ERROR_INTERNAL, 0, "%s: its %s at %p ends before its struct_size of %u bytes",
                           path, name, given, size);
  }
  return LEAT_OK;
}

/* Checks a string of the backend: there, and terminated within a length that makes sense for a name. */
static int32_t string_check(const char *text, const char *name, const char *path, leat_error *err) {
  char start[1024];
  if (text == NULL) {
    return leati_error_set(err, LEAT_ERROR_INTERNAL, 0, "%s: its leat_backend_api::%s is NULL", path, name);
  }
  if (memchr(start, '\0', probe(start, text, sizeof(start))) == NULL) {
    return leati_error_set(err, LEAT_ERROR_INTERNAL, 0, "%s: its leat_backend_api::%s is no string", path, name);
  }
  return LEAT_OK;
}

static leati_function slot_get(const void *table, size_t offset) {
  leati_function function;
  memcpy(&function, (const char *)table + offset, sizeof(function));
  return function;
}

static int32_t table_complete(leati_tables *tables, const table_kind *kind, const char *path, leat_error *err) {
  const void *given;
  memcpy(&given, (const char *)&tables->backend + kind->backend_offset, sizeof(given));
  if (given == NULL && kind->optional) {
    given = kind->stubs;
  }
  if (given == NULL) {
    return leati_error_set(err, LEAT_ERROR_INTERNAL, 0, "%s: its table %s, which is required, is NULL", path,
                           kind->name);
  }
  char *copy = (char *)tables + kind->copy_offset;
  int32_t status = struct_read(copy, kind->size, kind->size_1_0, given, kind->name, path, err);
  if (status != 0) {
    return status;
  }
  uint32_t head[2];
  memcpy(head, copy, sizeof(head));
  if (head[1] != 0) {
    return leati_error_set(err, LEAT_ERROR_INTERNAL, 0, "%s: its %s::reserved is %u instead of 0", path, kind->name,
                           head[1]);
  }
  for (size_t i = 0; i < kind->slot_count; ++i) {
    const table_slot *slot = &kind->slots[i];
    if (head[0] < slot->offset + sizeof(leati_function)) {
      /* A table that ends inside of a slot would leave half a pointer. */
      memset(copy + slot->offset, 0, sizeof(leati_function));
    }
    if (slot_get(copy, slot->offset) != NULL) {
      continue;
    }
    leati_function stub = kind->stubs != NULL ? slot_get(kind->stubs, slot->offset) : NULL;
    if (stub == NULL) {
      return leati_error_set(err, LEAT_ERROR_INTERNAL, 0, "%s: its slot %s::%s, which is required, is NULL", path,
                             kind->name, slot->name);
    }
    memcpy(copy + slot->offset, &stub, sizeof(stub));
  }
  head[0] = (uint32_t)kind->size;
  memcpy(copy, head, sizeof(head));
  memcpy((char *)&tables->backend + kind->backend_offset, &(const void *){copy}, sizeof(void *));
  return LEAT_OK;
}

int32_t leati_tables_complete(leati_tables *tables, const leat_backend_api *given, uint32_t abi_min, uint32_t abi_max,
                              const char *path, leat_error *err) {
  if (given == NULL) {
    return leati_error_set(err, LEAT_ERROR_INTERNAL, 0,
                           "%s: leat_backend_query() returned LEAT_OK, but gave no table (NULL)", path);
  }
  leat_backend_api *backend = &tables->backend;
  int32_t status = struct_read(backend, sizeof(*backend), BACKEND_SIZE_1_0, given, "leat_backend_api", path, err);
  if (status != 0) {
    return status;
  }
  if (backend->abi_version < abi_min || backend->abi_version > abi_max) {
    return leati_error_set(
        err, LEAT_ERROR_VERSION, 0, "%s: it was asked for an ABI version from %u.%u to %u.%u and gave %u.%u", path,
        LEAT_ABI_MAJOR(abi_min), LEAT_ABI_MINOR(abi_min), LEAT_ABI_MAJOR(abi_max), LEAT_ABI_MINOR(abi_max),
        LEAT_ABI_MAJOR(backend->abi_version), LEAT_ABI_MINOR(backend->abi_version));
  }
  if (backend->reserved != 0) {
    return leati_error_set(err, LEAT_ERROR_INTERNAL, 0, "%s: its leat_backend_api::reserved is %u instead of 0", path,
                           backend->reserved);
  }
  if ((status = string_check(backend->name, "name", path, err)) != LEAT_OK ||
      (status = string_check(backend->version, "version", path, err)) != LEAT_OK ||
      (status = string_check(backend->build_id, "build_id", path, err)) != LEAT_OK) {
    return status;
  }
  if (backend->shutdown == NULL) {
    return leati_error_set(err, LEAT_ERROR_INTERNAL, 0,
                           "%s: its slot leat_backend_api::shutdown, which is required, is NULL", path);
  }
  if (backend->configure == NULL) {
    return leati_error_set(err, LEAT_ERROR_INTERNAL, 0,
                           "%s: its slot leat_backend_api::configure, which is required, is NULL", path);
  }
  const leat_event_api *given_events = backend->event;
  const leat_memory_api *given_memory = backend->memory;
  for (size_t i = 0; i < COUNT(kinds); ++i) {
    if ((status = table_complete(tables, &kinds[i], path, err)) != LEAT_OK) {
      return status;
    }
  }
  if ((backend->capabilities & LEAT_CAPABILITY_EVENT_TIMING) && given_events->elapsed == NULL) {
    return leati_error_set(err, LEAT_ERROR_INTERNAL, 0,
                           "%s: it claims LEAT_CAPABILITY_EVENT_TIMING, but its slot leat_event_api::elapsed is NULL",
                           path);
  }
  if ((backend->capabilities & LEAT_CAPABILITY_HOST_MEMORY) &&
      (given_memory->alloc_host == NULL || given_memory->free_host == NULL)) {
    return leati_error_set(err, LEAT_ERROR_INTERNAL, 0,
                           "%s: it claims LEAT_CAPABILITY_HOST_MEMORY, but its slot leat_memory_api::%s is NULL", path,
                           given_memory->alloc_host != NULL ? "free_host" : "alloc_host");
  }
  backend->struct_size = sizeof(*backend);
  return LEAT_OK;
}
