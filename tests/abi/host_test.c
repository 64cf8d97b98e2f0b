/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * host_test PLUGIN: a host built from a frozen header, without anything of today's, against today's backend. It takes a
 * tensor through every table: device, memory, stream, event, operator, graph, DLPack. Exit 77: there is no device.
 */
#include <dlfcn.h>
#include <leat/backend.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static leat_error err = {.struct_size = sizeof(err)};

#define REQUIRE(condition)                                                                     \
  do {                                                                                         \
    if (!(condition)) {                                                                        \
      printf("line %d: not true: %s (last message: %s)\n", __LINE__, #condition, err.message); \
      exit(1);                                                                                 \
    }                                                                                          \
  } while (0)
#define OK(call) REQUIRE((call) == LEAT_OK)

#define COUNT 1000

static const leat_backend_api *load(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == NULL) {
    printf("%s\n", dlerror());
    exit(1);
  }
  leat_backend_query_fn query;
  void *symbol = dlsym(library, LEAT_BACKEND_QUERY_SYMBOL);
  REQUIRE(symbol);
  memcpy(&query, &symbol, sizeof(query));
  leat_host_info host = {.struct_size = sizeof(host),
                         .abi_min = LEAT_ABI_CURRENT,
                         .abi_max = LEAT_ABI_CURRENT,
                         .header_version = LEAT_ABI_CURRENT,
                         .name = "frozen host"};
  const leat_backend_api *api = NULL;
  OK(query(&host, &api, &err));
  REQUIRE(api != NULL && api->abi_version == LEAT_ABI_CURRENT);
  REQUIRE(api->struct_size >= sizeof(*api));

  /* No version in common: an error with both ranges, and no table. */
  const leat_backend_api *none = api;
  host.abi_min = LEAT_ABI_VERSION(99, 1);
  host.abi_max = LEAT_ABI_VERSION(99, 2);
  REQUIRE(query(&host, &none, &err) == LEAT_ERROR_VERSION && none == NULL);
  REQUIRE(strstr(err.message, "99.1") != NULL && strstr(err.message, "1.0") != NULL);
  /* A host that speaks from 1.0 up to something newer than the backend gets what the backend has. */
  host.abi_min = LEAT_ABI_1_0;
  OK(query(&host, &none, &err));
  REQUIRE(none->abi_version >= LEAT_ABI_1_0 && none->abi_version < LEAT_ABI_VERSION(99, 0));
  return api;
}

static DLTensor tensor(void *data, DLDeviceType type, int32_t device, int64_t *shape) {
  const DLTensor made = {.data = data, .device = {type, device}, .ndim = 1, .dtype = {kDLFloat, 32, 1}, .shape = shape};
  return made;
}

/* The pool is optional; one that is there gives streams out and takes them back. */
static void use_pool(const leat_backend_api *api, leat_device *device) {
  leat_pool_info before = {.struct_size = sizeof(before)}, info = before;
  leat_stream *stream, *same, *previous;
  leat_stream_info about = {.struct_size = sizeof(about)};
  uint64_t ticket;
  if (api->pool == NULL) {
    return;
  }
  OK(api->pool->info(device, &before, &err));
  REQUIRE(before.struct_size == sizeof(before) && before.stream_count > 1);
  OK(api->pool->acquire(device, LEAT_POOL_TIMEOUT_CONFIGURED, &stream, &ticket, &err));
  OK(api->pool->info(device, &info, &err));
  REQUIRE(info.acquire_count == before.acquire_count + 1);
  OK(api->stream->info(stream, &about, &err));
  REQUIRE(about.pool_index > 0 && (about.flags & LEAT_STREAM_POOLED));
  OK(api->pool->stream(device, (uint32_t)about.pool_index, &same, &err));
  REQUIRE(same == stream);
  OK(api->pool->set_current(device, stream, &previous, &err));
  OK(api->pool->current(device, &same, &err));
  REQUIRE(same == stream && previous == NULL);
  OK(api->pool->release_current(device, &err));
  OK(api->pool->release(device, ticket, &err));
  OK(api->pool->info(device, &info, &err));
  REQUIRE(info.held_count == before.held_count);
}

/* The graph table is optional; one that is there runs Add of two vectors as the operator table does. */
static void use_graph(const leat_backend_api *api, leat_device *device, leat_stream *stream,
                      const leat_value_info *vector, const DLTensor *const in[2], const DLTensor *result) {
  const leat_value_info unknown = {.struct_size = sizeof(unknown), .ndim = -1};
  const leat_value_info *const values[] = {vector, vector, &unknown};
  const uint32_t numbers[] = {0, 1, 2};
  const leat_graph_node add = {.struct_size = sizeof(add),
                               .since_version = 14,
                               .name = "sum",
                               .op = "Add",
                               .input_count = 2,
                               .output_count = 1,
                               .inputs = numbers,
                               .outputs = &numbers[2]};
  const leat_graph_node *const nodes[] = {&add};
  const leat_graph_desc desc = {.struct_size = sizeof(desc),
                                .value_count = 3,
                                .node_count = 1,
                                .input_count = 2,
                                .output_count = 1,
                                .values = values,
                                .nodes = nodes,
                                .inputs = numbers,
                                .outputs = &numbers[2]};
  leat_shape shape = {.struct_size = sizeof(shape)};
  leat_shape *const shapes[] = {&shape};
  leat_graph_info info = {.struct_size = sizeof(info)};
  uint32_t fusions = 0;
  leat_graph *graph;
  if (api->graph == NULL) {
    return;
  }
  OK(api->graph->build(device, &desc, &graph, &err));
  OK(api->graph->infer(graph, 2, in, 1, shapes, &err));
  REQUIRE(shape.ndim == 1 && shape.dims[0] == COUNT && shape.dtype.code == kDLFloat && shape.dtype.bits == 32);
#ifdef LEAT_ABI_1_1
  uint32_t compiled = UINT32_MAX;
  REQUIRE(api->graph->struct_size >= LEAT_SIZE_THROUGH(leat_graph_api, prepare));
  OK(api->graph->prepare(graph, 2, in, &compiled, &err));
#endif
  OK(api->graph->launch(graph, stream, 2, in, 1, &result, &err));
  OK(api->graph->info(graph, &info, &err));
  REQUIRE(info.struct_size == sizeof(info) && info.node_count == 1 && info.launch_count == 1);
  OK(api->graph->fusions(graph, &fusions, NULL, &err));
  OK(api->graph->destroy(graph, &err));
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: host_test PLUGIN\n");
    return 2;
  }
  const leat_backend_api *api = load(argv[1]);
  uint32_t devices = 0, properties = 0, classes = 0;
  OK(api->configure("LEAT_LOG", "error", &err));
  REQUIRE(api->configure("LEAT_NO_SUCH", "1", &err) == LEAT_ERROR_NOT_SUPPORTED);
  OK(api->device->count(&devices, &err));
  if (!devices) {
    printf("no device: %s\n", err.message);
    return 77;
  }
  leat_device_info info = {.struct_size = sizeof(info)};
  OK(api->device->info(0, &info, &err));
  REQUIRE(info.struct_size == sizeof(info) && info.index == 0 && info.memory_size > 0 && info.name[0]);
  OK(api->device->report(&properties, NULL, &err));
  REQUIRE(properties > 0);
  REQUIRE(api->configure("LEAT_LOG", "warn", &err) == LEAT_ERROR_BUSY);

  leat_device *device;
  leat_stream *stream;
  leat_event *event;
  OK(api->device->open(0, &device, &err));
  OK(api->stream->create(device, 0, &stream, &err));
  OK(api->event->create(device, 0, &event, &err));
  leat_stream_info about = {.struct_size = sizeof(about)};
  OK(api->stream->info(stream, &about, &err));
  REQUIRE(about.pool_index == -1 && about.flags == 0);
  use_pool(api, device);

  static float values[3][COUNT];
  int64_t shape[1] = {COUNT};
  uint64_t address[3];
  DLTensor host[3], on_device[3];
  for (int i = 0; i < 3; ++i) {
    OK(api->memory->alloc(device, sizeof(values[i]), stream, &address[i], &err));
    REQUIRE(address[i] && address[i] % 256 == 0);
    host[i] = tensor(values[i], kDLCPU, 0, shape);
    on_device[i] = tensor((void *)(uintptr_t)address[i], kDLVulkan, (int32_t)info.index, shape);
  }
  for (int i = 0; i < COUNT; ++i) {
    values[0][i] = (float)i;
    values[1][i] = (float)(3 * i);
  }

  uint32_t operators = 0;
  const leat_op_info *entry;
  OK(api->op->count(&operators, &err));
  REQUIRE(operators > 0);
  OK(api->op->info(0, &entry, &err));
  REQUIRE(entry->struct_size >= sizeof(*entry) && entry->name != NULL && entry->domain != NULL);

  const leat_value_info input = {.struct_size = sizeof(input), .ndim = 1, .dtype = {kDLFloat, 32, 1}, .shape = shape};
  const leat_value_info *const inputs[] = {&input, &input};
  const leat_op_desc desc = {.struct_size = sizeof(desc),
                             .since_version = 14,
                             .name = "Add",
                             .domain = "",
                             .input_count = 2,
                             .output_count = 1,
                             .inputs = inputs};
  leat_op *add;
  OK(api->op->supports(device, &desc, &err));
  OK(api->op->create(device, &desc, &add, &err));
  const DLTensor *const in[] = {&on_device[0], &on_device[1]};
  const DLTensor *const out[] = {&on_device[2]};
  leat_shape result = {.struct_size = sizeof(result)};
  leat_shape *const results[] = {&result};
  OK(api->op->infer(add, 2, in, 1, results, &err));
  REQUIRE(result.ndim == 1 && result.dims[0] == COUNT && result.dtype.code == kDLFloat && result.dtype.bits == 32);

  OK(api->memory->copy(stream, &host[0], &on_device[0], &err));
  OK(api->memory->copy(stream, &host[1], &on_device[1], &err));
  OK(api->op->invoke(add, stream, 2, in, 1, out, &err));
  OK(api->memory->copy(stream, &on_device[2], &host[2], &err));
  OK(api->event->record(event, stream, &err));
  OK(api->event->wait(event, -1, &err));
  for (int i = 0; i < COUNT; ++i) {
    REQUIRE(values[2][i] == (float)(4 * i));
  }
  memset(values[2], 0, sizeof(values[2]));
  use_graph(api, device, stream, &input, in, &host[2]);
  OK(api->stream->synchronize(stream, &err));
  for (int i = 0; i < COUNT && api->graph != NULL; ++i) {
    REQUIRE(values[2][i] == (float)(4 * i));
  }

  /* Out to DLPack and back in: the same memory. */
  DLManagedTensorVersioned *managed;
  leat_view view = {.struct_size = sizeof(view)};
  OK(api->memory->export_dlpack(stream, &on_device[2], NULL, &managed, &err));
  REQUIRE(managed->version.major == 1 && managed->dl_tensor.strides != NULL);
  OK(api->memory->import_dlpack(stream, managed, NULL, &view, &err));
  REQUIRE(view.tensor.ndim == 1 && view.shape[0] == COUNT);
  REQUIRE((uint64_t)(uintptr_t)view.tensor.data + view.tensor.byte_offset == address[2]);

  leat_memory_stats stats = {.struct_size = sizeof(stats)};
  OK(api->memory->stats(device, &stats, &err));
  REQUIRE(stats.struct_size == sizeof(stats) && stats.allocation_count >= 3);
  OK(api->memory->classes(device, &classes, NULL, &err));
  REQUIRE(classes > 0);
  OK(api->memory->reset_peaks(device, &err));

  /* Memory of the host that the device writes to. */
  if ((api->capabilities & LEAT_CAPABILITY_HOST_MEMORY) != 0) {
    void *memory;
    OK(api->memory->alloc_host(device, sizeof(values[2]), &memory, &err));
    DLTensor direct = host[2];
    direct.data = memory;
    OK(api->memory->copy(stream, &on_device[2], &direct, &err));
    OK(api->stream->synchronize(stream, &err));
    REQUIRE(memcmp(memory, values[2], sizeof(values[2])) == 0);
    OK(api->memory->free_host(device, memory, &err));
  }

  /* A struct too short for any version is refused. */
  leat_device_info small = {.struct_size = 8};
  REQUIRE(api->device->info(0, &small, &err) == LEAT_ERROR_INVALID_ARGUMENT);

  for (int i = 0; i < 3; ++i) {
    OK(api->memory->free(device, address[i], &err));
  }
  /* The imported view holds its block, too. */
  OK(api->memory->free(device, address[2], &err));
  OK(api->op->destroy(add, &err));
  OK(api->event->destroy(event, &err));
  OK(api->stream->destroy(stream, &err));
  OK(api->device->close(device, &err));
  OK(api->shutdown(&err));
  OK(api->configure("LEAT_LOG", NULL, &err));
  printf("1000 sums right on %s\n", info.name);
  return 0;
}
