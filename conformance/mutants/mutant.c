/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Wrong plugins that show that the suite notices. The library wraps a right plugin, named by LEAT_MUTANT_BASE, and
 * forwards everything to it but for the one thing that LEAT_MUTANT names ("none": nothing is changed, the control).
 * CMakeLists.txt says which case must catch which mutant.
 */
#include <dlfcn.h>
#include <glib.h>
#include <leat/backend.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "plain_graph.h"

/* What is forwarded to, constant after load(). */
static leat_backend_query_fn base_query;
static const leat_backend_api *base;

/* What is handed out: copies, of which the mutant changes a slot. Constant after load(). */
static leat_device_api device_api;
static leat_memory_api memory_api;
static leat_stream_api stream_api;
static leat_event_api event_api;
static leat_op_api op_api;
static leat_pool_api pool_api;         /* handed out only where the right plugin has one, */
static leat_profiler_api profiler_api; /* and so are these */
static leat_external_api external_api;
static leat_graph_api graph_api; /* handed out by the mutants of graphs alone */
static leat_backend_api backend_api;

/* ---- Query ---- */

static gboolean tail_ignored;

static void ignore_tail(void) {
  tail_ignored = TRUE;
}

static void drop_slot(void) {
  op_api.infer = NULL;
}

static void claim_timing(void) {
  backend_api.capabilities |= LEAT_CAPABILITY_EVENT_TIMING;
}

static int32_t create_without_timing(leat_device *device, uint64_t flags, leat_event **out, leat_error *err) {
  return base->event->create(device, flags & ~LEAT_EVENT_TIMING, out, err);
}

static int32_t no_time_passes(leat_event *start, leat_event *end, double *out_ns, leat_error *err) {
  (void)start;
  (void)end;
  (void)err;
  *out_ns = 0.0;
  return LEAT_OK;
}

static void fake_timing(void) {
  claim_timing();
  event_api.create = create_without_timing;
  event_api.elapsed = no_time_passes;
}

/* Makes a success of one failure, as a plugin that never met it would have: it leaves no error behind. */
static int32_t forgive(int32_t status, int32_t failure, leat_error *err) {
  if (status != failure) {
    return status;
  }
  if (err != NULL) {
    err->code = LEAT_OK;
    err->message[0] = '\0';
  }
  return LEAT_OK;
}

/* ---- Devices ---- */

static int32_t synchronize_nothing(leat_device *device, leat_error *err) {
  (void)device;
  (void)err;
  return LEAT_OK;
}

static void device_synchronize_returns_at_once(void) {
  device_api.synchronize = synchronize_nothing;
}

static int32_t changing_info(uint32_t index, leat_device_info *out, leat_error *err) {
  static gint calls;
  int32_t status = base->device->info(index, out, err);
  if (status == LEAT_OK) {
    out->uuid[15] = (uint8_t)g_atomic_int_add(&calls, 1);
  }
  return status;
}

static void uuid_changes(void) {
  device_api.info = changing_info;
}

static int32_t shutdown_anyway(leat_error *err) {
  (void)err;
  return LEAT_OK;
}

static void shutdown_never_busy(void) {
  backend_api.shutdown = shutdown_anyway;
}

/* ---- Settings ---- */

static int32_t configure_too_late(const char *name, const char *value, leat_error *err) {
  int32_t status = base->configure(name, value, err);
  return forgive(status, LEAT_ERROR_BUSY, err);
}

static void configure_never_busy(void) {
  backend_api.configure = configure_too_late;
}

static int32_t configure_nothing(const char *name, const char *value, leat_error *err) {
  (void)value;
  return base->configure(name, NULL, err);
}

static void configure_ignored(void) {
  backend_api.configure = configure_nothing;
}

static int32_t configure_any(const char *name, const char *value, leat_error *err) {
  int32_t status = base->configure(name, value, err);
  return forgive(status, LEAT_ERROR_NOT_SUPPORTED, err);
}

static void configure_accepts_anything(void) {
  backend_api.configure = configure_any;
}

static int32_t shutdown_and_forget(leat_error *err) {
  int32_t status = base->shutdown(err);
  if (status == LEAT_OK) {
    base->configure("LEAT_LANES", NULL, NULL);
  }
  return status;
}

static void configure_forgotten(void) {
  backend_api.shutdown = shutdown_and_forget;
}

/* ---- Memory ---- */

static int32_t find_anything(leat_device *device, uint64_t address, uint64_t *out_base, uint64_t *out_size,
                             leat_error *err) {
  int32_t status = base->memory->find(device, address, out_base, out_size, err);
  if (status != LEAT_ERROR_INVALID_ARGUMENT || out_base == NULL || out_size == NULL) {
    return status;
  }
  *out_base = address;
  *out_size = 1;
  return LEAT_OK;
}

static void find_accepts_anything(void) {
  memory_api.find = find_anything;
}

enum { SHIFT = 16 };

static int32_t alloc_shifted(leat_device *device, uint64_t size, leat_stream *stream, uint64_t *out_address,
                             leat_error *err) {
  int32_t status = base->memory->alloc(device, size + SHIFT, stream, out_address, err);
  if (status == LEAT_OK) {
    *out_address += SHIFT;
  }
  return status;
}

static int32_t free_shifted(leat_device *device, uint64_t address, leat_error *err) {
  return base->memory->free(device, address == 0 ? 0 : address - SHIFT, err);
}

static void alloc_unaligned(void) {
  memory_api.alloc = alloc_shifted;
  memory_api.free = free_shifted;
}

static int32_t alloc_no_zero(leat_device *device, uint64_t size, leat_stream *stream, uint64_t *out_address,
                             leat_error *err) {
  if (size == 0 && err != NULL) {
    err->code = LEAT_ERROR_INVALID_ARGUMENT;
    strcpy(err->message, "no empty blocks");
  }
  return size == 0 ? LEAT_ERROR_INVALID_ARGUMENT : base->memory->alloc(device, size, stream, out_address, err);
}

static void empty_blocks_refused(void) {
  memory_api.alloc = alloc_no_zero;
}

/* One freed block, which the next alloc() of its size gets whatever still uses it. */
static GMutex stale_lock; /* guards the two below */
static uint64_t stale_address;
static uint64_t stale_size;

static int32_t alloc_stale(leat_device *device, uint64_t size, leat_stream *stream, uint64_t *out_address,
                           leat_error *err) {
  g_mutex_lock(&stale_lock);
  if (stale_address != 0 && stale_size == size) {
    *out_address = stale_address;
    stale_address = 0;
    g_mutex_unlock(&stale_lock);
    return LEAT_OK;
  }
  g_mutex_unlock(&stale_lock);
  return base->memory->alloc(device, size, stream, out_address, err);
}

static int32_t free_stale(leat_device *device, uint64_t address, leat_error *err) {
  uint64_t block = 0;
  uint64_t size = 0;
  uint64_t evicted;
  if (base->memory->find(device, address, &block, &size, NULL) != LEAT_OK) {
    return base->memory->free(device, address, err);
  }
  g_mutex_lock(&stale_lock);
  evicted = stale_address;
  stale_address = address;
  stale_size = size;
  g_mutex_unlock(&stale_lock);
  return base->memory->free(device, evicted, err);
}

static void reuse_ignores_streams(void) {
  memory_api.alloc = alloc_stale;
  memory_api.free = free_stale;
}

/* One piece of freed memory of the host, which the next alloc_host() gets whatever still writes to it. */
static GMutex stale_host_lock; /* guards the one below */
static void *stale_host;

static int32_t alloc_host_stale(leat_device *device, uint64_t size, void **out_pointer, leat_error *err) {
  g_mutex_lock(&stale_host_lock);
  void *again = stale_host;
  stale_host = NULL;
  g_mutex_unlock(&stale_host_lock);
  if (again != NULL) {
    *out_pointer = again;
    return LEAT_OK;
  }
  return base->memory->alloc_host(device, size, out_pointer, err);
}

static int32_t free_host_stale(leat_device *device, void *pointer, leat_error *err) {
  g_mutex_lock(&stale_host_lock);
  void *evicted = stale_host;
  stale_host = pointer;
  g_mutex_unlock(&stale_host_lock);
  return base->memory->free_host(device, evicted, err);
}

static void host_reuse_ignores_streams(void) {
  memory_api.alloc_host = alloc_host_stale;
  memory_api.free_host = free_host_stale;
}

static int32_t alloc_host_shifted(leat_device *device, uint64_t size, void **out_pointer, leat_error *err) {
  int32_t status = base->memory->alloc_host(device, size + SHIFT, out_pointer, err);
  if (status == LEAT_OK) {
    *out_pointer = (char *)*out_pointer + SHIFT;
  }
  return status;
}

static int32_t free_host_shifted(leat_device *device, void *pointer, leat_error *err) {
  return base->memory->free_host(device, pointer == NULL ? NULL : (char *)pointer - SHIFT, err);
}

static void alloc_host_unaligned(void) {
  memory_api.alloc_host = alloc_host_shifted;
  memory_api.free_host = free_host_shifted;
}

static int32_t free_host_anything(leat_device *device, void *pointer, leat_error *err) {
  (void)base->memory->free_host(device, pointer, err);
  return LEAT_OK;
}

static void free_host_accepts_anything(void) {
  memory_api.free_host = free_host_anything;
}

static int32_t stats_with_host(leat_device *device, leat_memory_stats *out, leat_error *err) {
  int32_t status = base->memory->stats(device, out, err);
  if (status == LEAT_OK) {
    out->allocated_bytes += out->host_allocated_bytes;
    out->host_allocated_bytes = 0;
  }
  return status;
}

static void host_counts_as_device(void) {
  memory_api.stats = stats_with_host;
}

static void claim_host_memory(void) {
  backend_api.capabilities |= LEAT_CAPABILITY_HOST_MEMORY;
  memory_api.free_host = NULL;
}

static int32_t copy_anything(leat_stream *stream, const DLTensor *src, const DLTensor *dst, leat_error *err) {
  int32_t status = base->memory->copy(stream, src, dst, err);
  return forgive(status, LEAT_ERROR_INVALID_ARGUMENT, err);
}

static void copy_error_swallowed(void) {
  memory_api.copy = copy_anything;
}

static int32_t copy_nowhere(leat_stream *stream, const DLTensor *src, const DLTensor *dst, leat_error *err) {
  if (dst != NULL && dst->device.device_type == kDLCPU) {
    return LEAT_OK;
  }
  return base->memory->copy(stream, src, dst, err);
}

static void download_never_delivered(void) {
  memory_api.copy = copy_nowhere;
}

static int32_t stats_of_any_size(leat_device *device, leat_memory_stats *out, leat_error *err) {
  leat_memory_stats full = {.struct_size = sizeof(full)};
  int32_t status = base->memory->stats(device, &full, err);
  if (status == LEAT_OK && out != NULL) {
    memcpy(out, &full, MIN(out->struct_size, sizeof(full)));
  }
  return status;
}

static void short_struct_accepted(void) {
  memory_api.stats = stats_of_any_size;
}

static int32_t free_without_message(leat_device *device, uint64_t address, leat_error *err) {
  int32_t status = base->memory->free(device, address, err);
  if (status != LEAT_OK && err != NULL) {
    err->message[0] = '\0';
  }
  return status;
}

static int32_t free_with_error(leat_device *device, uint64_t address, leat_error *err) {
  const int32_t status = base->memory->free(device, address, err);
  if (status == LEAT_OK && err != NULL) {
    err->code = LEAT_ERROR_NOT_READY;
  }
  return status;
}
static void success_with_error(void) {
  memory_api.free = free_with_error;
}

static void error_without_message(void) {
  memory_api.free = free_without_message;
}

static int32_t free_without_code(leat_device *device, uint64_t address, leat_error *err) {
  int32_t status = base->memory->free(device, address, err);
  if (status != LEAT_OK && err != NULL) {
    err->code = LEAT_OK;
  }
  return status;
}

static void error_without_code(void) {
  memory_api.free = free_without_code;
}

static int32_t free_most(leat_device *device, uint64_t address, leat_error *err) {
  static gint calls;
  return g_atomic_int_add(&calls, 1) % 40 == 39 ? LEAT_OK : base->memory->free(device, address, err);
}

static void free_sometimes_forgotten(void) {
  memory_api.free = free_most;
}

static int32_t import_and_delete_again(leat_stream *stream, DLManagedTensorVersioned *managed, leat_event *ready,
                                       leat_view *out, leat_error *err) {
  void (*deleter)(DLManagedTensorVersioned *) = managed != NULL ? managed->deleter : NULL;
  int32_t status = base->memory->import_dlpack(stream, managed, ready, out, err);
  if (status == LEAT_OK && deleter != NULL) {
    deleter(managed);
  }
  return status;
}

static void deleter_called_twice(void) {
  memory_api.import_dlpack = import_and_delete_again;
}

static int32_t export_unordered(leat_stream *stream, const DLTensor *view, leat_event *ready,
                                DLManagedTensorVersioned **out, leat_error *err) {
  /* Any event will do; it is never waited for. One device is open in the cases that this is for. */
  static leat_event *unused;
  leat_device *device = NULL;
  if (ready == NULL && unused == NULL) {
    int32_t status = base->device->open(0, &device, err);
    if (status == LEAT_OK) {
      status = base->event->create(device, 0, &unused, err);
    }
    if (status != LEAT_OK) {
      return status;
    }
  }
  return base->memory->export_dlpack(stream, view, ready != NULL ? ready : unused, out, err);
}

static void export_does_not_synchronize(void) {
  memory_api.export_dlpack = export_unordered;
}

/* ---- Streams ---- */

static int32_t stream_ready(leat_stream *stream, leat_error *err) {
  int32_t status = base->stream->query(stream, err);
  return forgive(status, LEAT_ERROR_NOT_READY, err);
}

static int32_t query_in_any_process(leat_stream *stream, leat_error *err) {
  int32_t status = base->stream->query(stream, err);
  return forgive(status, LEAT_ERROR_FORKED, err);
}

static void forked_child_may_query(void) {
  stream_api.query = query_in_any_process;
}

static void stream_query_says_ready(void) {
  stream_api.query = stream_ready;
}

static void stream_synchronize_only_flushes(void) {
  stream_api.synchronize = base->stream->flush;
}

static leat_stream *only_stream;

static int32_t create_once(leat_device *device, uint64_t flags, leat_stream **out, leat_error *err) {
  if (only_stream == NULL) {
    int32_t status = base->stream->create(device, flags, &only_stream, err);
    if (status != LEAT_OK) {
      return status;
    }
  }
  *out = only_stream;
  return LEAT_OK;
}

static int32_t destroy_never(leat_stream *stream, leat_error *err) {
  return base->stream->flush(stream, err);
}

static void streams_aliased(void) {
  stream_api.create = create_once;
  stream_api.destroy = destroy_never;
}

/* ---- Events ---- */

static int32_t wait_nothing(leat_event *event, int64_t timeout_ns, leat_error *err) {
  (void)timeout_ns;
  return base->event->query(event, NULL) == LEAT_ERROR_NOT_READY ? LEAT_OK : base->event->query(event, err);
}

static void event_wait_returns_at_once(void) {
  event_api.wait = wait_nothing;
}

static int32_t event_ready(leat_event *event, leat_error *err) {
  int32_t status = base->event->query(event, err);
  return forgive(status, LEAT_ERROR_NOT_READY, err);
}

static void event_query_says_ready(void) {
  event_api.query = event_ready;
}

static int32_t record_nothing(leat_event *event, leat_stream *stream, leat_error *err) {
  (void)event;
  return base->stream->flush(stream, err);
}

static void event_record_forgets(void) {
  event_api.record = record_nothing;
}

/* Events that were recorded once. */
static GMutex recorded_lock; /* guards the one below */
static GHashTable *recorded_events;

static int32_t record_first(leat_event *event, leat_stream *stream, leat_error *err) {
  gboolean first;
  g_mutex_lock(&recorded_lock);
  if (recorded_events == NULL) {
    recorded_events = g_hash_table_new(NULL, NULL);
  }
  first = g_hash_table_add(recorded_events, event);
  g_mutex_unlock(&recorded_lock);
  return first ? base->event->record(event, stream, err) : base->stream->flush(stream, err);
}

static int32_t destroy_recorded(leat_event *event, leat_error *err) {
  g_mutex_lock(&recorded_lock);
  if (recorded_events != NULL) {
    g_hash_table_remove(recorded_events, event);
  }
  g_mutex_unlock(&recorded_lock);
  return base->event->destroy(event, err);
}

static void event_record_again_ignored(void) {
  event_api.record = record_first;
  event_api.destroy = destroy_recorded;
}

/* Destroyed events are handed out again as they are, whatever they stand for. */
static GMutex used_lock; /* guards the one below */
static GQueue used_events = G_QUEUE_INIT;

static int32_t create_used(leat_device *device, uint64_t flags, leat_event **out, leat_error *err) {
  leat_event *used = NULL;
  if (flags == 0 && out != NULL) {
    g_mutex_lock(&used_lock);
    used = g_queue_pop_tail(&used_events);
    g_mutex_unlock(&used_lock);
  }
  if (used == NULL) {
    return base->event->create(device, flags, out, err);
  }
  *out = used;
  return LEAT_OK;
}

static int32_t keep_used(leat_event *event, leat_error *err) {
  if (event == NULL) {
    return base->event->destroy(event, err);
  }
  g_mutex_lock(&used_lock);
  g_queue_push_tail(&used_events, event);
  g_mutex_unlock(&used_lock);
  return LEAT_OK;
}

static void event_reused_as_it_was(void) {
  event_api.create = create_used;
  event_api.destroy = keep_used;
}

static leat_device *timed_device;

static int32_t create_and_note(leat_device *device, uint64_t flags, leat_event **out, leat_error *err) {
  timed_device = device;
  return base->event->create(device, flags, out, err);
}

static int32_t wait_for_all(leat_event *start, leat_event *end, double *out_ns, leat_error *err) {
  base->device->synchronize(timed_device, NULL);
  return base->event->elapsed(start, end, out_ns, err);
}

static void elapsed_waits(void) {
  event_api.create = create_and_note;
  event_api.elapsed = wait_for_all;
}

/* Readable from the begin. */
static int32_t export_at_once(leat_event *event, int32_t *out_fd, leat_error *err) {
  (void)event;
  (void)err;
  *out_fd = eventfd(1, EFD_CLOEXEC);
  return LEAT_OK;
}

static void sync_fd_too_early(void) {
  event_api.export_sync_fd = export_at_once;
}

/* Right, but for work that has finished. */
static int32_t export_always(leat_event *event, int32_t *out_fd, leat_error *err) {
  *out_fd = eventfd(1, EFD_CLOEXEC);
  return base->event->wait(event, -1, err);
}

static void sync_fd_always(void) {
  event_api.export_sync_fd = export_always;
}

/* Never readable. */
static int32_t export_for_ever(leat_event *event, int32_t *out_fd, leat_error *err) {
  (void)err;
  *out_fd = base->event->query(event, NULL) == LEAT_OK ? -1 : eventfd(0, EFD_CLOEXEC);
  return LEAT_OK;
}

static void sync_fd_never(void) {
  event_api.export_sync_fd = export_for_ever;
}

static int32_t create_timed(leat_device *device, uint64_t flags, leat_event **out, leat_error *err) {
  return base->event->create(device, flags | LEAT_EVENT_TIMING, out, err);
}

static void untimed_is_timed(void) {
  event_api.create = create_timed;
}

static int32_t wait_and_hang(leat_event *event, int64_t timeout_ns, leat_error *err) {
  int32_t status = base->event->wait(event, timeout_ns, err);
  for (;;) {
    g_usleep(1000000);
  }
  return status;
}

static void event_wait_hangs(void) {
  event_api.wait = wait_and_hang;
}

static int32_t destroy_and_crash(leat_event *event, leat_error *err) {
  base->event->destroy(event, err);
  raise(SIGSEGV);
  return LEAT_OK;
}

static void event_destroy_crashes(void) {
  event_api.destroy = destroy_and_crash;
}

/* ---- Operators ---- */

/* Vectors lose their last element. */
static int32_t invoke_less(const leat_op *op, leat_stream *stream, uint32_t input_count, const DLTensor *const *inputs,
                           uint32_t output_count, const DLTensor *const *outputs, leat_error *err) {
  DLTensor views[3];
  int64_t shape;
  const DLTensor *less_inputs[2] = {&views[0], &views[1]};
  const DLTensor *less_outputs[1] = {&views[2]};
  if (input_count != 2 || output_count != 1 || inputs[0]->ndim != 1 || inputs[1]->ndim != 1 || outputs[0]->ndim != 1 ||
      inputs[0]->shape[0] != inputs[1]->shape[0] || inputs[0]->shape[0] < 2) {
    return base->op->invoke(op, stream, input_count, inputs, output_count, outputs, err);
  }
  shape = inputs[0]->shape[0] - 1;
  views[0] = *inputs[0];
  views[1] = *inputs[1];
  views[2] = *outputs[0];
  for (int i = 0; i < 3; ++i) {
    views[i].shape = &shape;
  }
  return base->op->invoke(op, stream, 2, less_inputs, 1, less_outputs, err);
}

static void op_skips_last_element(void) {
  op_api.invoke = invoke_less;
}

static int32_t supports_anything(leat_device *device, const leat_op_desc *desc, leat_error *err) {
  int32_t status = base->op->supports(device, desc, err);
  return forgive(status, LEAT_ERROR_NOT_SUPPORTED, err);
}

static void op_supports_anything(void) {
  op_api.supports = supports_anything;
}

/* Programs get zeros for their constants. */
static int32_t create_without_constants(leat_device *device, const leat_op_desc *desc, leat_op **out, leat_error *err) {
  static const float zeros[64];
  leat_attribute copies[8];
  const leat_attribute *attributes[8];
  if (desc == NULL || desc->attributes == NULL || desc->attribute_count > G_N_ELEMENTS(copies)) {
    return base->op->create(device, desc, out, err);
  }
  for (uint32_t k = 0; k < desc->attribute_count; ++k) {
    attributes[k] = desc->attributes[k];
    if (attributes[k] != NULL && g_strcmp0(attributes[k]->name, "constants") == 0 &&
        attributes[k]->count <= G_N_ELEMENTS(zeros)) {
      copies[k] = *attributes[k];
      copies[k].floats = zeros;
      attributes[k] = &copies[k];
    }
  }
  leat_op_desc copy = *desc;
  copy.attributes = attributes;
  return base->op->create(device, &copy, out, err);
}

static void op_program_without_constants(void) {
  op_api.create = create_without_constants;
}

/* An attribute that operators do not get to see. */
static const char *unseen_attribute;

static int32_t create_without_attribute(leat_device *device, const leat_op_desc *desc, leat_op **out, leat_error *err) {
  const leat_attribute *attributes[8];
  if (desc == NULL || desc->attributes == NULL || desc->attribute_count > G_N_ELEMENTS(attributes)) {
    return base->op->create(device, desc, out, err);
  }
  leat_op_desc copy = *desc;
  copy.attributes = attributes;
  copy.attribute_count = 0;
  for (uint32_t k = 0; k < desc->attribute_count; ++k) {
    if (desc->attributes[k] == NULL || g_strcmp0(desc->attributes[k]->name, unseen_attribute) != 0) {
      attributes[copy.attribute_count++] = desc->attributes[k];
    }
  }
  return base->op->create(device, &copy, out, err);
}

static void op_seed_ignored(void) {
  unseen_attribute = "seed";
  op_api.create = create_without_attribute;
}

static void op_offset_ignored(void) {
  unseen_attribute = "offset";
  op_api.create = create_without_attribute;
}

/* Random numbers of an operator without a seed are the same each time. */
static int32_t create_with_seed(leat_device *device, const leat_op_desc *desc, leat_op **out, leat_error *err) {
  const leat_attribute *attributes[8];
  const gboolean ours = desc != NULL && g_strcmp0(desc->domain, "leat") == 0;
  const leat_attribute seed = {.struct_size = sizeof(seed),
                               .type = ours ? LEAT_ATTRIBUTE_INT : LEAT_ATTRIBUTE_FLOAT,
                               .name = "seed",
                               .i = ours ? 1 : 0,
                               .f = ours ? 0.0f : 1.0f};
  if (desc == NULL || desc->name == NULL || !g_str_has_prefix(desc->name, "Random") ||
      desc->attribute_count >= G_N_ELEMENTS(attributes)) {
    return base->op->create(device, desc, out, err);
  }
  leat_op_desc copy = *desc;
  for (uint32_t k = 0; k < desc->attribute_count; ++k) {
    attributes[k] = desc->attributes[k];
    if (attributes[k] == NULL || g_strcmp0(attributes[k]->name, "seed") == 0) {
      return base->op->create(device, desc, out, err);
    }
  }
  attributes[copy.attribute_count++] = &seed;
  copy.attributes = attributes;
  return base->op->create(device, &copy, out, err);
}

static void op_seed_made_up(void) {
  op_api.create = create_with_seed;
}

/* A right plugin that has other operators than the suite has cases for: of the list those alone whose names
 * LEAT_MUTANT_OPERATORS holds, between commas. */
static char **few_names;

static gboolean is_one_of_few(const char *name) {
  return g_strv_contains((const char *const *)few_names, name);
}

static int32_t count_few(uint32_t *out_count, leat_error *err) {
  uint32_t all = 0;
  int32_t status = base->op->count(out_count, err);
  if (status != LEAT_OK) {
    return status;
  }
  all = *out_count;
  *out_count = 0;
  for (uint32_t i = 0; i < all; ++i) {
    const leat_op_info *info = NULL;
    status = base->op->info(i, &info, err);
    if (status != LEAT_OK) {
      return status;
    }
    *out_count += is_one_of_few(info->name) ? 1 : 0;
  }
  return LEAT_OK;
}

/* Every entry says that graphs compute it on the host. */
static int32_t info_evaluated(uint32_t index, const leat_op_info **out, leat_error *err) {
  static leat_op_info entries[512];
  const int32_t status = base->op->info(index, out, err);
  if (status == LEAT_OK && index < G_N_ELEMENTS(entries)) {
    entries[index] = **out;
    entries[index].flags |= LEAT_OP_EVALUATED;
    *out = &entries[index];
  }
  return status;
}

static void evaluated_claimed(void) {
  op_api.info = info_evaluated;
}

static int32_t info_few(uint32_t index, const leat_op_info **out, leat_error *err) {
  for (uint32_t i = 0, left = index;; ++i) {
    int32_t status = base->op->info(i, out, err);
    if (status != LEAT_OK || (is_one_of_few((*out)->name) && left-- == 0)) {
      return status;
    }
  }
}

static int32_t refuse_others(const leat_op_desc *desc, leat_error *err) {
  if (desc == NULL || desc->name == NULL || is_one_of_few(desc->name)) {
    return LEAT_OK;
  }
  if (err != NULL) {
    err->code = LEAT_ERROR_NOT_SUPPORTED;
    g_snprintf(err->message, sizeof(err->message), "there is no %.100s here", desc->name);
  }
  return LEAT_ERROR_NOT_SUPPORTED;
}

static int32_t supports_few(leat_device *device, const leat_op_desc *desc, leat_error *err) {
  int32_t status = device == NULL ? LEAT_OK : refuse_others(desc, err);
  return status == LEAT_OK ? base->op->supports(device, desc, err) : status;
}

static int32_t create_few(leat_device *device, const leat_op_desc *desc, leat_op **out, leat_error *err) {
  int32_t status = device == NULL || out == NULL ? LEAT_OK : refuse_others(desc, err);
  return status == LEAT_OK ? base->op->create(device, desc, out, err) : status;
}

static void few_operators(void) {
  few_names = g_strsplit(g_getenv("LEAT_MUTANT_OPERATORS"), ",", -1);
  op_api.count = count_few;
  op_api.info = info_few;
  op_api.supports = supports_few;
  op_api.create = create_few;
}

/* What is not known is left out: graphs among attributes, values of inputs. */
typedef struct {
  leat_op_desc desc;
  leat_value_info infos[8];
  const leat_value_info *inputs[8];
} less_desc;

static const leat_op_desc *without_graphs(const leat_op_desc *desc, less_desc *out) {
  if (desc == NULL || desc->attribute_count != 1 || desc->attributes[0] == NULL ||
      desc->attributes[0]->type != LEAT_ATTRIBUTE_GRAPH) {
    return desc;
  }
  out->desc = *desc;
  out->desc.attribute_count = 0;
  return &out->desc;
}

static int32_t supports_graphless(leat_device *device, const leat_op_desc *desc, leat_error *err) {
  less_desc less;
  return base->op->supports(device, without_graphs(desc, &less), err);
}

static void body_ignored(void) {
  op_api.supports = supports_graphless;
}

static void later_table_claimed(void) {
  backend_api.struct_size += (uint32_t)sizeof(void *);
}

/* Inputs after `change`; a description that is odd in another way is left as it is. */
static const leat_op_desc *with_inputs(const leat_op_desc *desc, less_desc *out, void (*change)(leat_value_info *)) {
  if (desc == NULL || desc->inputs == NULL || desc->input_count > 8) {
    return desc;
  }
  out->desc = *desc;
  out->desc.inputs = out->inputs;
  for (uint32_t i = 0; i < desc->input_count; ++i) {
    out->inputs[i] = NULL;
    if (desc->inputs[i] != NULL) {
      out->infos[i] = *desc->inputs[i];
      out->inputs[i] = &out->infos[i];
      change(&out->infos[i]);
    }
  }
  return &out->desc;
}

static void drop_value(leat_value_info *info) {
  info->value = NULL;
}

static int32_t supports_valueless(leat_device *device, const leat_op_desc *desc, leat_error *err) {
  less_desc less;
  return base->op->supports(device, with_inputs(desc, &less, drop_value), err);
}

static void constants_unread(void) {
  op_api.supports = supports_valueless;
}

/* Elements below a byte, and floats of one, are taken for integers of a byte each. */
static DLDataType as_bytes(DLDataType dtype) {
  return dtype.bits <= 8 && dtype.lanes == 1 ? (DLDataType){kDLInt, 8, 1} : dtype;
}

static int32_t copy_as_bytes(leat_stream *stream, const DLTensor *src, const DLTensor *dst, leat_error *err) {
  DLTensor from = *src;
  DLTensor to = *dst;
  from.dtype = as_bytes(from.dtype);
  to.dtype = as_bytes(to.dtype);
  return base->memory->copy(stream, &from, &to, err);
}

static int32_t import_as_bytes(leat_stream *stream, DLManagedTensorVersioned *managed, leat_event *ready,
                               leat_view *out, leat_error *err) {
  managed->dl_tensor.dtype = as_bytes(managed->dl_tensor.dtype);
  return base->memory->import_dlpack(stream, managed, ready, out, err);
}

/* Any type of few bits is as good as float32. */
static void widen(leat_value_info *info) {
  if (info->dtype.bits <= 8) {
    info->dtype = (DLDataType){kDLFloat, 32, 1};
  }
}

static int32_t supports_any_width(leat_device *device, const leat_op_desc *desc, leat_error *err) {
  less_desc less;
  return base->op->supports(device, with_inputs(desc, &less, widen), err);
}

static void small_types_misread(void) {
  memory_api.copy = copy_as_bytes;
  memory_api.import_dlpack = import_as_bytes;
  op_api.supports = supports_any_width;
}

/* The descriptor without ranks and shapes of inputs, in memory for as many as an operator of the cases has. */
static const leat_op_desc *without_shapes(const leat_op_desc *desc, leat_op_desc *out, leat_value_info infos[8],
                                          const leat_value_info *pointers[8]) {
  if (desc->input_count > 8) {
    return desc;
  }
  for (uint32_t i = 0; i < desc->input_count; ++i) {
    pointers[i] = NULL;
    if (desc->inputs[i] != NULL) {
      infos[i] = *desc->inputs[i];
      infos[i].ndim = -1;
      pointers[i] = &infos[i];
    }
  }
  *out = *desc;
  out->inputs = pointers;
  return out;
}

static int32_t supports_shapeless(leat_device *device, const leat_op_desc *desc, leat_error *err) {
  leat_op_desc copy;
  leat_value_info infos[8];
  const leat_value_info *pointers[8];
  return base->op->supports(device, without_shapes(desc, &copy, infos, pointers), err);
}

static int32_t create_shapeless(leat_device *device, const leat_op_desc *desc, leat_op **out, leat_error *err) {
  leat_op_desc copy;
  leat_value_info infos[8];
  const leat_value_info *pointers[8];
  return base->op->create(device, without_shapes(desc, &copy, infos, pointers), out, err);
}

/* Shapes that do not fit are found out when it is too late to run the operator elsewhere. */
static void op_refused_late(void) {
  op_api.supports = supports_shapeless;
  op_api.create = create_shapeless;
}

/* What failed has put half of itself into the stream. */
static int32_t invoke_halves(const leat_op *op, leat_stream *stream, uint32_t input_count,
                             const DLTensor *const *inputs, uint32_t output_count, const DLTensor *const *outputs,
                             leat_error *err) {
  int32_t status = base->op->invoke(op, stream, input_count, inputs, output_count, outputs, err);
  if (status != LEAT_OK && input_count > 0 && output_count > 0) {
    base->memory->copy(stream, inputs[0], outputs[0], NULL);
  }
  return status;
}

static void op_failure_leaves_commands(void) {
  op_api.invoke = invoke_halves;
}

static int32_t invoke_most(const leat_op *op, leat_stream *stream, uint32_t input_count, const DLTensor *const *inputs,
                           uint32_t output_count, const DLTensor *const *outputs, leat_error *err) {
  static gint calls;
  if (g_atomic_int_add(&calls, 1) % 50 == 49) {
    return LEAT_OK;
  }
  return base->op->invoke(op, stream, input_count, inputs, output_count, outputs, err);
}

static void op_sometimes_forgotten(void) {
  op_api.invoke = invoke_most;
}

static gboolean lacks_output(uint32_t output_count, const DLTensor *const *outputs) {
  for (uint32_t i = 0; outputs != NULL && i < output_count; ++i) {
    if (outputs[i] == NULL) {
      return TRUE;
    }
  }
  return FALSE;
}

static int32_t invoke_without_outputs(const leat_op *op, leat_stream *stream, uint32_t input_count,
                                      const DLTensor *const *inputs, uint32_t output_count,
                                      const DLTensor *const *outputs, leat_error *err) {
  int32_t status = base->op->invoke(op, stream, input_count, inputs, output_count, outputs, err);
  return lacks_output(output_count, outputs) ? forgive(status, status, err) : status;
}

static void op_absent_output_accepted(void) {
  op_api.invoke = invoke_without_outputs;
}

/* Output 0 is written, whether it is there or not. */
static int32_t invoke_blindly(const leat_op *op, leat_stream *stream, uint32_t input_count,
                              const DLTensor *const *inputs, uint32_t output_count, const DLTensor *const *outputs,
                              leat_error *err) {
  if (output_count > 0 && outputs[0] == NULL) {
    raise(SIGSEGV);
  }
  return base->op->invoke(op, stream, input_count, inputs, output_count, outputs, err);
}

static void op_absent_output_crashes(void) {
  op_api.invoke = invoke_blindly;
}

/* Nothing is done where there is nothing to read, not even for outputs that have elements. */
static int32_t invoke_unless_empty(const leat_op *op, leat_stream *stream, uint32_t input_count,
                                   const DLTensor *const *inputs, uint32_t output_count, const DLTensor *const *outputs,
                                   leat_error *err) {
  /* Views that no tensor has are for the right plugin to refuse. */
  if (input_count > 0 && inputs[0] != NULL && outputs[0] != NULL && inputs[0]->shape != NULL &&
      inputs[0]->ndim <= LEAT_MAX_RANK) {
    for (int32_t d = 0; d < inputs[0]->ndim; ++d) {
      if (inputs[0]->shape[d] == 0) {
        return LEAT_OK;
      }
    }
  }
  return base->op->invoke(op, stream, input_count, inputs, output_count, outputs, err);
}

static void op_empty_lines_skipped(void) {
  op_api.invoke = invoke_unless_empty;
}

/* All inputs are taken for compact ones. */
static int32_t invoke_compact(const leat_op *op, leat_stream *stream, uint32_t input_count,
                              const DLTensor *const *inputs, uint32_t output_count, const DLTensor *const *outputs,
                              leat_error *err) {
  DLTensor views[16];
  const DLTensor *compact[G_N_ELEMENTS(views)];
  g_assert(input_count <= G_N_ELEMENTS(views));
  for (uint32_t i = 0; i < input_count; ++i) {
    compact[i] = inputs[i] != NULL ? &views[i] : NULL;
    if (inputs[i] != NULL) {
      views[i] = *inputs[i];
      views[i].strides = NULL;
    }
  }
  return base->op->invoke(op, stream, input_count, inputs != NULL ? compact : NULL, output_count, outputs, err);
}

static void op_ignores_strides(void) {
  op_api.invoke = invoke_compact;
}

/* ---- The pool ---- */

/* Tickets by the stream that they are for. */
static GMutex tickets_lock; /* guards the one below */
static GHashTable *tickets; /* leat_stream * -> owned uint64_t * */

static int32_t acquire_and_note(leat_device *device, int64_t timeout_ms, leat_stream **out, uint64_t *out_ticket,
                                leat_error *err) {
  int32_t status = base->pool->acquire(device, timeout_ms, out, out_ticket, err);
  if (status != LEAT_OK) {
    return status;
  }
  g_mutex_lock(&tickets_lock);
  if (tickets == NULL) {
    tickets = g_hash_table_new_full(NULL, NULL, NULL, g_free);
  }
  g_hash_table_insert(tickets, *out, g_memdup2(out_ticket, sizeof(*out_ticket)));
  g_mutex_unlock(&tickets_lock);
  return status;
}

static _Thread_local leat_stream *borrowed;

static int32_t bind_and_note(leat_device *device, leat_stream *stream, leat_stream **out_previous, leat_error *err) {
  int32_t status = base->pool->set_current(device, stream, out_previous, err);
  if (status == LEAT_OK) {
    borrowed = stream;
  }
  return status;
}

/* Who bound a stream counts as its holder and releases it. */
static int32_t release_borrowed(leat_device *device, leat_error *err) {
  const uint64_t *ticket;
  g_mutex_lock(&tickets_lock);
  ticket = borrowed != NULL && tickets != NULL ? g_hash_table_lookup(tickets, borrowed) : NULL;
  if (ticket != NULL) {
    base->pool->release(device, *ticket, NULL);
  }
  g_mutex_unlock(&tickets_lock);
  return base->pool->release_current(device, err);
}

static void pool_binding_transfers(void) {
  pool_api.acquire = acquire_and_note;
  pool_api.set_current = bind_and_note;
  pool_api.release_current = release_borrowed;
}

static int32_t acquire_again(leat_device *device, int64_t timeout_ms, leat_stream **out, uint64_t *out_ticket,
                             leat_error *err) {
  static GMutex lock; /* guards the rest */
  static guint calls;
  static leat_stream *last;
  static uint64_t last_ticket;
  int32_t status;
  g_mutex_lock(&lock);
  if (++calls % 20 == 0 && last != NULL) {
    *out = last;
    *out_ticket = last_ticket;
    g_mutex_unlock(&lock);
    return LEAT_OK;
  }
  g_mutex_unlock(&lock);
  status = base->pool->acquire(device, timeout_ms, out, out_ticket, err);
  if (status == LEAT_OK) {
    g_mutex_lock(&lock);
    last = *out;
    last_ticket = *out_ticket;
    g_mutex_unlock(&lock);
  }
  return status;
}

static void pool_stream_given_twice(void) {
  pool_api.acquire = acquire_again;
}

static int32_t release_again(leat_device *device, uint64_t ticket, leat_error *err) {
  int32_t status = base->pool->release(device, ticket, err);
  return forgive(status, LEAT_ERROR_INVALID_ARGUMENT, err);
}

static void pool_ticket_serves_twice(void) {
  pool_api.release = release_again;
}

/* Those who wait ask again and again: who came last asks alone, or all of them ask at once. */
static GMutex askers_lock; /* guards the one below */
static guint askers;
static gboolean last_asks_alone;

static int32_t acquire_by_asking(leat_device *device, int64_t timeout_ms, leat_stream **out, uint64_t *out_ticket,
                                 leat_error *err) {
  guint place;
  int32_t status = base->pool->acquire(device, 0, out, out_ticket, err);
  if (status != LEAT_ERROR_EXHAUSTED || timeout_ms == 0) {
    return status;
  }
  g_mutex_lock(&askers_lock);
  place = ++askers;
  g_mutex_unlock(&askers_lock);
  while (status == LEAT_ERROR_EXHAUSTED) {
    g_usleep(500);
    g_mutex_lock(&askers_lock);
    if (!last_asks_alone || place == askers) {
      status = base->pool->acquire(device, 0, out, out_ticket, err);
    }
    if (status != LEAT_ERROR_EXHAUSTED) {
      --askers;
    }
    g_mutex_unlock(&askers_lock);
  }
  return status;
}

static int32_t info_with_askers(leat_device *device, leat_pool_info *out, leat_error *err) {
  int32_t status = base->pool->info(device, out, err);
  g_mutex_lock(&askers_lock);
  if (status == LEAT_OK) {
    out->waiting_count += askers;
  }
  g_mutex_unlock(&askers_lock);
  return status;
}

static void pool_newcomers_overtake(void) {
  pool_api.acquire = acquire_by_asking;
  pool_api.info = info_with_askers;
}

static void pool_last_come_first_served(void) {
  pool_newcomers_overtake();
  last_asks_alone = TRUE;
}

static int32_t first_is_main(leat_device *device, leat_stream **out, leat_error *err) {
  static GThread *first;
  if (device != NULL && out != NULL && g_atomic_pointer_compare_and_exchange(&first, NULL, g_thread_self())) {
    return base->pool->stream(device, 0, out, err);
  }
  if (g_atomic_pointer_get(&first) == g_thread_self() && out != NULL) {
    return base->pool->stream(device, 0, out, err);
  }
  return base->pool->current(device, out, err);
}

static void pool_first_thread_is_main(void) {
  pool_api.current = first_is_main;
}

static _Thread_local leat_stream *kept;

static int32_t current_for_good(leat_device *device, leat_stream **out, leat_error *err) {
  uint64_t ticket;
  int32_t status = LEAT_OK;
  if (kept == NULL) {
    status = base->pool->acquire(device, 0, &kept, &ticket, err);
  }
  *out = kept;
  return status;
}

static void pool_ended_thread_keeps_its_stream(void) {
  pool_api.current = current_for_good;
}

/* A limit of milliseconds is taken for one that passes at once. */
static int32_t acquire_in_no_time(leat_device *device, int64_t timeout_ms, leat_stream **out, uint64_t *out_ticket,
                                  leat_error *err) {
  return base->pool->acquire(device, timeout_ms > 0 ? 0 : timeout_ms, out, out_ticket, err);
}

static void pool_limit_passes_at_once(void) {
  pool_api.acquire = acquire_in_no_time;
}

/* Of some turns nobody gets anything. */
static int32_t acquire_past_some(leat_device *device, int64_t timeout_ms, leat_stream **out, uint64_t *out_ticket,
                                 leat_error *err) {
  static gint calls;
  int32_t status = base->pool->acquire(device, timeout_ms, out, out_ticket, err);
  if (status == LEAT_OK && g_atomic_int_add(&calls, 1) == 20) {
    base->pool->release(device, *out_ticket, NULL);
    status = base->pool->acquire(device, timeout_ms, out, out_ticket, err);
  }
  return status;
}

static void pool_turn_is_skipped(void) {
  pool_api.acquire = acquire_past_some;
}

/* The bound stream counts as long as there is one at its address. */
static int32_t current_by_address(leat_device *device, leat_stream **out, leat_error *err) {
  leat_stream_info info = {.struct_size = sizeof(info)};
  int32_t status = base->pool->current(device, out, err);
  if (status == LEAT_OK || borrowed == NULL || base->stream->info(borrowed, &info, NULL) != LEAT_OK) {
    return status;
  }
  *out = borrowed;
  return LEAT_OK;
}

static void pool_bound_by_address(void) {
  pool_api.set_current = bind_and_note;
  pool_api.current = current_by_address;
}

/* What is shared is not held, so nothing is done to release it. */
static int32_t keep_shared(leat_device *device, uint64_t ticket, leat_error *err) {
  leat_pool_info info = {.struct_size = sizeof(info)};
  if (base->pool->info(device, &info, NULL) == LEAT_OK && (info.flags & LEAT_POOL_ROUND_ROBIN) != 0) {
    return LEAT_OK;
  }
  return base->pool->release(device, ticket, err);
}

static void pool_shared_is_left_open(void) {
  pool_api.release = keep_shared;
}

/* ---- The profiler ---- */

static int32_t never_stop(leat_device *device, leat_error *err) {
  leat_profiler_info info = {.struct_size = sizeof(info)};
  return base->profiler->info(device, &info, err);
}

static void profiler_never_stops(void) {
  profiler_api.stop = never_stop;
}

static int32_t info_without_loss(leat_device *device, leat_profiler_info *out, leat_error *err) {
  int32_t status = base->profiler->info(device, out, err);
  if (status == LEAT_OK) {
    out->lost_count = 0;
  }
  return status;
}

static void profiler_loss_untold(void) {
  profiler_api.info = info_without_loss;
}

/* Every step seems to have kept its lane busy for as long as its level took. */
static int32_t read_overlapping(leat_device *device, uint32_t *inout_count, leat_profile_record *out, leat_error *err) {
  int32_t status = base->profiler->read(device, inout_count, out, err);
  for (uint32_t i = 0; status == LEAT_OK && i < *inout_count; ++i) {
    out[i].busy_ns = out[i].kind == LEAT_PROFILE_LAUNCH ? out[i].busy_ns : out[i].end_ns - out[i].begin_ns;
  }
  return status;
}

static void profiler_busy_overlaps(void) {
  profiler_api.read = read_overlapping;
}

/* Names of one byte, which may be the first of a character. */
static int32_t read_nameless(leat_device *device, uint32_t *inout_count, leat_profile_record *out, leat_error *err) {
  int32_t status = base->profiler->read(device, inout_count, out, err);
  for (uint32_t i = 0; status == LEAT_OK && i < *inout_count; ++i) {
    out[i].name[1] = '\0';
  }
  return status;
}

static void profiler_names_cut(void) {
  profiler_api.read = read_nameless;
}

static int32_t read_in_any_process(leat_device *device, uint32_t *inout_count, leat_profile_record *out,
                                   leat_error *err) {
  int32_t status = base->profiler->read(device, inout_count, out, err);
  return forgive(status, LEAT_ERROR_FORKED, err);
}

static void profiler_forked_child_may_read(void) {
  profiler_api.read = read_in_any_process;
}

/* ---- External memory ---- */

static int32_t wait_for_nothing(leat_stream *stream, leat_semaphore *semaphore, uint64_t value, leat_error *err) {
  return semaphore == NULL ? LEAT_OK : base->external->wait(stream, semaphore, value, err);
}

static void external_null_semaphore_passes(void) {
  external_api.wait = wait_for_nothing;
}

static int32_t import_and_close(leat_device *device, const leat_external_memory *memory, uint64_t *out_address,
                                leat_error *err) {
  int32_t status = base->external->import_memory(device, memory, out_address, err);
  if (status != LEAT_OK && memory != NULL && memory->fd >= 0) {
    close(memory->fd);
  }
  return status;
}

static void external_refused_descriptor_closed(void) {
  external_api.import_memory = import_and_close;
}

static int32_t list_nothing(leat_device *device, leat_external_info *out, leat_error *err) {
  int32_t status = base->external->info(device, out, err);
  if (status == LEAT_OK) {
    out->memory_handles = out->semaphore_handles = 0;
  }
  return status;
}

static int32_t import_anything(leat_device *device, const leat_external_memory *memory, uint64_t *out_address,
                               leat_error *err) {
  if (device == NULL || memory == NULL || out_address == NULL || memory->handle_type != LEAT_EXTERNAL_OPAQUE_FD) {
    return base->external->import_memory(device, memory, out_address, err);
  }
  return LEAT_OK;
}

static void external_lists_nothing_and_takes_all(void) {
  external_api.info = list_nothing;
  external_api.import_memory = import_anything;
}

static int32_t import_in_any_process(leat_device *device, uint64_t handle_type, int32_t fd, leat_semaphore **out,
                                     leat_error *err) {
  int32_t status = base->external->import_semaphore(device, handle_type, fd, out, err);
  return status == LEAT_ERROR_FORKED ? LEAT_ERROR_NOT_SUPPORTED : status;
}

static void external_forked_child_may_import(void) {
  external_api.import_semaphore = import_in_any_process;
}

/* ---- Graphs ---- */

/* A right graph table out of the other tables; the mutants of the table are this one with something wrong. */
static const leat_graph_api *base_graph; /* constant after load() */

static void plain_graph(leati_plain_fault fault) {
  base_graph = leati_plain_graph(base, fault);
  graph_api = *base_graph;
  backend_api.graph = &graph_api;
}

#define PLAIN_GRAPH(name, fault) \
  static void name(void) {       \
    plain_graph(fault);          \
  }
PLAIN_GRAPH(graph_plain, LEATI_PLAIN_RIGHT)
PLAIN_GRAPH(graph_last_node_dropped, LEATI_PLAIN_LAST_NODE_DROPPED)
PLAIN_GRAPH(graph_unwanted_nodes_dropped, LEATI_PLAIN_UNWANTED_NODES_DROPPED)
PLAIN_GRAPH(graph_nodes_reversed, LEATI_PLAIN_NODES_REVERSED)
PLAIN_GRAPH(graph_temporaries_shared, LEATI_PLAIN_TEMPORARIES_SHARED)
PLAIN_GRAPH(graph_temporaries_kept, LEATI_PLAIN_TEMPORARIES_KEPT)
PLAIN_GRAPH(graph_download_too_early, LEATI_PLAIN_DOWNLOAD_TOO_EARLY)
PLAIN_GRAPH(graph_stream_ignored, LEATI_PLAIN_STREAM_IGNORED)
PLAIN_GRAPH(graph_constants_borrowed, LEATI_PLAIN_CONSTANTS_BORROWED)
PLAIN_GRAPH(graph_strides_ignored, LEATI_PLAIN_STRIDES_IGNORED)
PLAIN_GRAPH(graph_reserved_unchecked, LEATI_PLAIN_RESERVED_UNCHECKED)
PLAIN_GRAPH(graph_order_unchecked, LEATI_PLAIN_ORDER_UNCHECKED)
PLAIN_GRAPH(graph_constants_unchecked, LEATI_PLAIN_CONSTANTS_UNCHECKED)
PLAIN_GRAPH(graph_overlap_unchecked, LEATI_PLAIN_OVERLAP_UNCHECKED)
PLAIN_GRAPH(graph_refused_too_late, LEATI_PLAIN_REFUSED_TOO_LATE)
PLAIN_GRAPH(graph_shapes_of_first_launch, LEATI_PLAIN_SHAPES_OF_FIRST_LAUNCH)
PLAIN_GRAPH(graph_unwanted_outputs_refused, LEATI_PLAIN_UNWANTED_OUTPUTS_REFUSED)
PLAIN_GRAPH(graph_node_unnamed, LEATI_PLAIN_NODE_UNNAMED)
PLAIN_GRAPH(graph_transposes_dropped, LEATI_PLAIN_TRANSPOSES_DROPPED)
PLAIN_GRAPH(graph_parts_swapped, LEATI_PLAIN_PARTS_SWAPPED)

static void graph_slot_missing(void) {
  graph_plain();
  graph_api.fusions = NULL;
}

/* Each output has one row more. */
static int32_t infer_more(const leat_graph *graph, uint32_t input_count, const DLTensor *const *inputs,
                          uint32_t output_count, leat_shape *const *out, leat_error *err) {
  int32_t status = base_graph->infer(graph, input_count, inputs, output_count, out, err);
  for (uint32_t i = 0; status == LEAT_OK && i < output_count; ++i) {
    if (out[i] != NULL) {
      out[i]->dims[0] += 1;
    }
  }
  return status;
}

static void graph_infer_lies(void) {
  graph_plain();
  graph_api.infer = infer_more;
}

static int32_t info_without_launches(const leat_graph *graph, leat_graph_info *out, leat_error *err) {
  int32_t status = base_graph->info(graph, out, err);
  if (status == LEAT_OK) {
    out->launch_count = 0;
  }
  return status;
}

static void graph_launches_uncounted(void) {
  graph_plain();
  graph_api.info = info_without_launches;
}

/* Eight rewritings, whatever there is room for. */
static int32_t fusions_beyond(const leat_graph *graph, uint32_t *inout_count, leat_graph_fusion *out, leat_error *err) {
  enum { ALL = 8 };
  int32_t status = base_graph->fusions(graph, inout_count, out, err);
  if (status != LEAT_OK) {
    return status;
  }
  *inout_count = ALL;
  for (uint32_t i = 0; i < ALL && out != NULL; ++i) {
    out[i] = (leat_graph_fusion){.struct_size = sizeof(out[i])};
    g_snprintf(out[i].name, sizeof(out[i].name), "rewriting%u", i);
  }
  return LEAT_OK;
}

static void graph_fusions_overrun(void) {
  graph_plain();
  graph_api.fusions = fusions_beyond;
}

static int32_t launch_anything(const leat_graph *graph, leat_stream *stream, uint32_t input_count,
                               const DLTensor *const *inputs, uint32_t output_count, const DLTensor *const *outputs,
                               leat_error *err) {
  int32_t status = base_graph->launch(graph, stream, input_count, inputs, output_count, outputs, err);
  return forgive(status, LEAT_ERROR_INVALID_ARGUMENT, err);
}

static void graph_error_swallowed(void) {
  graph_plain();
  graph_api.launch = launch_anything;
}

static int32_t info_in_any_process(const leat_graph *graph, leat_graph_info *out, leat_error *err) {
  int32_t status = base_graph->info(graph, out, err);
  return forgive(status, LEAT_ERROR_FORKED, err);
}

static void graph_forked_child_may_ask(void) {
  graph_plain();
  graph_api.info = info_in_any_process;
}

/* A launch that memory is short for has put a part of itself into the stream. */
static int32_t launch_halves(const leat_graph *graph, leat_stream *stream, uint32_t input_count,
                             const DLTensor *const *inputs, uint32_t output_count, const DLTensor *const *outputs,
                             leat_error *err) {
  int32_t status = base_graph->launch(graph, stream, input_count, inputs, output_count, outputs, err);
  if (status == LEAT_ERROR_OUT_OF_MEMORY) {
    base->memory->copy(stream, inputs[0], outputs[0], NULL);
  }
  return status;
}

static void graph_shortage_leaves_commands(void) {
  graph_plain();
  graph_api.launch = launch_halves;
}

/* A stream that failed is put right by the next launch. */
static int32_t launch_cleared(const leat_graph *graph, leat_stream *stream, uint32_t input_count,
                              const DLTensor *const *inputs, uint32_t output_count, const DLTensor *const *outputs,
                              leat_error *err) {
  if (stream != NULL) {
    base->stream->clear_error(stream, NULL);
  }
  return base_graph->launch(graph, stream, input_count, inputs, output_count, outputs, err);
}

static void graph_clears_errors(void) {
  graph_plain();
  graph_api.launch = launch_cleared;
}

/* ---- Graphs of ABI 1.1 ---- */

static const leat_graph_api *newer_graph; /* of the base; constant after load() */

static void newer_none(void) {
  const leat_host_info host = {.struct_size = sizeof(host),
                               .abi_min = LEAT_ABI_1_1,
                               .abi_max = LEAT_ABI_1_1,
                               .header_version = LEAT_ABI_CURRENT,
                               .name = "leat mutant"};
  const leat_backend_api *newer = NULL;
  if (base_query(&host, &newer, NULL) != LEAT_OK) {
    g_error("the base does not speak ABI 1.1");
  }
  newer_graph = newer->graph;
  graph_api = *newer_graph;
  backend_api.graph = &graph_api;
  backend_api.abi_version = newer->abi_version;
}

static int32_t prepare_without_limit(const leat_graph *graph, uint32_t input_count, const DLTensor *const *inputs,
                                     uint32_t *inout_count, leat_error *err) {
  const uint32_t allowed = inout_count != NULL ? *inout_count : 0;
  const int32_t status = newer_graph->prepare(graph, input_count, inputs, inout_count, err);
  if (status == LEAT_OK) {
    *inout_count = allowed < UINT32_MAX ? allowed + 1 : *inout_count;
  }
  return status;
}

static void newer_prepares_without_limit(void) {
  newer_none();
  graph_api.prepare = prepare_without_limit;
}

/* What is refused is right, as if it could wait for the launch. */
static int32_t prepare_anything(const leat_graph *graph, uint32_t input_count, const DLTensor *const *inputs,
                                uint32_t *inout_count, leat_error *err) {
  (void)newer_graph->prepare(graph, input_count, inputs, inout_count, err);
  return LEAT_OK;
}

static void newer_prepares_anything(void) {
  newer_none();
  graph_api.prepare = prepare_anything;
}

/* ---- The choice ---- */

static void change_nothing(void) {
}

static const struct {
  const char *name;
  void (*change)(void);
} mutants[] = {{"none", change_nothing},
               {"host_tail_ignored", ignore_tail},
               {"required_slot_missing", drop_slot},
               {"timing_claimed", fake_timing},
               {"host_memory_claimed", claim_host_memory},
               {"host_reuse_ignores_streams", host_reuse_ignores_streams},
               {"alloc_host_unaligned", alloc_host_unaligned},
               {"free_host_accepts_anything", free_host_accepts_anything},
               {"host_counts_as_device", host_counts_as_device},
               {"device_synchronize_returns_at_once", device_synchronize_returns_at_once},
               {"uuid_changes", uuid_changes},
               {"shutdown_never_busy", shutdown_never_busy},
               {"configure_never_busy", configure_never_busy},
               {"configure_ignored", configure_ignored},
               {"configure_forgotten", configure_forgotten},
               {"configure_accepts_anything", configure_accepts_anything},
               {"find_accepts_anything", find_accepts_anything},
               {"alloc_unaligned", alloc_unaligned},
               {"empty_blocks_refused", empty_blocks_refused},
               {"reuse_ignores_streams", reuse_ignores_streams},
               {"copy_error_swallowed", copy_error_swallowed},
               {"download_never_delivered", download_never_delivered},
               {"short_struct_accepted", short_struct_accepted},
               {"error_without_message", error_without_message},
               {"success_with_error", success_with_error},
               {"error_without_code", error_without_code},
               {"deleter_called_twice", deleter_called_twice},
               {"export_does_not_synchronize", export_does_not_synchronize},
               {"forked_child_may_query", forked_child_may_query},
               {"stream_query_says_ready", stream_query_says_ready},
               {"stream_synchronize_only_flushes", stream_synchronize_only_flushes},
               {"streams_aliased", streams_aliased},
               {"event_wait_returns_at_once", event_wait_returns_at_once},
               {"event_query_says_ready", event_query_says_ready},
               {"event_record_forgets", event_record_forgets},
               {"event_wait_hangs", event_wait_hangs},
               {"event_destroy_crashes", event_destroy_crashes},
               {"op_skips_last_element", op_skips_last_element},
               {"op_program_without_constants", op_program_without_constants},
               {"op_seed_ignored", op_seed_ignored},
               {"op_offset_ignored", op_offset_ignored},
               {"op_seed_made_up", op_seed_made_up},
               {"op_supports_anything", op_supports_anything},
               {"op_refused_late", op_refused_late},
               {"few_operators", few_operators},
               {"evaluated_claimed", evaluated_claimed},
               {"body_ignored", body_ignored},
               {"later_table_claimed", later_table_claimed},
               {"constants_unread", constants_unread},
               {"small_types_misread", small_types_misread},
               {"free_sometimes_forgotten", free_sometimes_forgotten},
               {"event_record_again_ignored", event_record_again_ignored},
               {"event_reused_as_it_was", event_reused_as_it_was},
               {"elapsed_waits", elapsed_waits},
               {"sync_fd_too_early", sync_fd_too_early},
               {"sync_fd_always", sync_fd_always},
               {"sync_fd_never", sync_fd_never},
               {"untimed_is_timed", untimed_is_timed},
               {"op_failure_leaves_commands", op_failure_leaves_commands},
               {"op_sometimes_forgotten", op_sometimes_forgotten},
               {"op_absent_output_accepted", op_absent_output_accepted},
               {"op_absent_output_crashes", op_absent_output_crashes},
               {"op_empty_lines_skipped", op_empty_lines_skipped},
               {"op_ignores_strides", op_ignores_strides},
               {"pool_binding_transfers", pool_binding_transfers},
               {"pool_stream_given_twice", pool_stream_given_twice},
               {"pool_ticket_serves_twice", pool_ticket_serves_twice},
               {"pool_newcomers_overtake", pool_newcomers_overtake},
               {"pool_last_come_first_served", pool_last_come_first_served},
               {"pool_first_thread_is_main", pool_first_thread_is_main},
               {"pool_ended_thread_keeps_its_stream", pool_ended_thread_keeps_its_stream},
               {"pool_limit_passes_at_once", pool_limit_passes_at_once},
               {"pool_turn_is_skipped", pool_turn_is_skipped},
               {"pool_bound_by_address", pool_bound_by_address},
               {"pool_shared_is_left_open", pool_shared_is_left_open},
               {"profiler_never_stops", profiler_never_stops},
               {"profiler_loss_untold", profiler_loss_untold},
               {"profiler_busy_overlaps", profiler_busy_overlaps},
               {"profiler_names_cut", profiler_names_cut},
               {"profiler_forked_child_may_read", profiler_forked_child_may_read},
               {"external_null_semaphore_passes", external_null_semaphore_passes},
               {"external_refused_descriptor_closed", external_refused_descriptor_closed},
               {"external_lists_nothing_and_takes_all", external_lists_nothing_and_takes_all},
               {"external_forked_child_may_import", external_forked_child_may_import},
               {"graph_plain", graph_plain},
               {"graph_last_node_dropped", graph_last_node_dropped},
               {"graph_unwanted_nodes_dropped", graph_unwanted_nodes_dropped},
               {"graph_nodes_reversed", graph_nodes_reversed},
               {"graph_temporaries_shared", graph_temporaries_shared},
               {"graph_temporaries_kept", graph_temporaries_kept},
               {"graph_download_too_early", graph_download_too_early},
               {"graph_stream_ignored", graph_stream_ignored},
               {"graph_constants_borrowed", graph_constants_borrowed},
               {"graph_strides_ignored", graph_strides_ignored},
               {"graph_reserved_unchecked", graph_reserved_unchecked},
               {"graph_order_unchecked", graph_order_unchecked},
               {"graph_constants_unchecked", graph_constants_unchecked},
               {"graph_overlap_unchecked", graph_overlap_unchecked},
               {"graph_refused_too_late", graph_refused_too_late},
               {"graph_shapes_of_first_launch", graph_shapes_of_first_launch},
               {"graph_unwanted_outputs_refused", graph_unwanted_outputs_refused},
               {"graph_node_unnamed", graph_node_unnamed},
               {"graph_transposes_dropped", graph_transposes_dropped},
               {"graph_parts_swapped", graph_parts_swapped},
               {"graph_slot_missing", graph_slot_missing},
               {"graph_infer_lies", graph_infer_lies},
               {"graph_launches_uncounted", graph_launches_uncounted},
               {"graph_fusions_overrun", graph_fusions_overrun},
               {"graph_error_swallowed", graph_error_swallowed},
               {"graph_forked_child_may_ask", graph_forked_child_may_ask},
               {"graph_shortage_leaves_commands", graph_shortage_leaves_commands},
               {"graph_clears_errors", graph_clears_errors},
               {"newer_none", newer_none},
               {"newer_prepares_without_limit", newer_prepares_without_limit},
               {"newer_prepares_anything", newer_prepares_anything}};

/* Ends the process if the mutant cannot be made: a wrong set-up must not look like a mutant that was caught. */
static void load(void) {
  const leat_host_info host = {.struct_size = sizeof(host),
                               .abi_min = LEAT_ABI_1_0,
                               .abi_max = LEAT_ABI_1_0,
                               .header_version = LEAT_ABI_CURRENT,
                               .name = "leat mutant"};
  const char *path = g_getenv("LEAT_MUTANT_BASE");
  const char *name = g_getenv("LEAT_MUTANT");
  void *library = path != NULL ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
  if (library == NULL) {
    g_error("LEAT_MUTANT_BASE must be the path of a plugin: %s", path != NULL ? dlerror() : "unset");
  }
  /* POSIX allows the conversion that ISO C does not spell out. */
  *(void **)&base_query = dlsym(library, LEAT_BACKEND_QUERY_SYMBOL);
  if (base_query == NULL || base_query(&host, &base, NULL) != LEAT_OK) {
    g_error("%s is not a plugin", path);
  }
  device_api = *base->device;
  memory_api = *base->memory;
  stream_api = *base->stream;
  event_api = *base->event;
  op_api = *base->op;
  backend_api = *base;
  backend_api.device = &device_api;
  backend_api.memory = &memory_api;
  backend_api.stream = &stream_api;
  backend_api.event = &event_api;
  backend_api.op = &op_api;
  if (base->pool != NULL) {
    pool_api = *base->pool;
    backend_api.pool = &pool_api;
  }
  if (base->profiler != NULL) {
    profiler_api = *base->profiler;
    backend_api.profiler = &profiler_api;
  }
  if (base->external != NULL) {
    external_api = *base->external;
    backend_api.external = &external_api;
  }
  for (size_t i = 0; i < G_N_ELEMENTS(mutants); ++i) {
    if (g_strcmp0(mutants[i].name, name) != 0) {
      continue;
    }
    mutants[i].change();
    return;
  }
  g_error("LEAT_MUTANT names no mutant: %s", name != NULL ? name : "unset");
}

int32_t leat_backend_query(const leat_host_info *host, const leat_backend_api **out, leat_error *err) {
  static gsize loaded;
  leat_host_info cut;
  int32_t status;
  if (g_once_init_enter(&loaded)) {
    load();
    g_once_init_leave(&loaded, 1);
  }
  if (tail_ignored && host != NULL && host->struct_size > sizeof(cut)) {
    cut = *host;
    cut.struct_size = sizeof(cut);
    host = &cut;
  }
  status = base_query(host, out, err);
  if (status == LEAT_OK) {
    *out = &backend_api;
  }
  return status;
}
