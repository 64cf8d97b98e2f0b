/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * interop_test PLUGIN: memory and timeline semaphores of a second VkDevice, in work of a backend. It needs the plugin
 * and the Vulkan loader alone, so it is run on a device by carrying it there. Says which scenes it has run; what one
 * device cannot do is left out and said. Exit 77: there is no device, or it shares no memory. With INTEROP_COPIES set
 * copies take the operator's place, for a driver that runs no kernels.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <leat/backend.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "exporter.h"

#define COUNT 4096 /* floats of a tensor */
#define BYTES (COUNT * sizeof(float))
#define ROUNDS 40
#define THREADS 4

static const leat_backend_api *api;
static leat_device *device;
static leat_device_info about = {.struct_size = sizeof(about)};
static leat_op *negate; /* NULL: the backend has no such operator, and copies instead */

static _Thread_local leat_error err = {.struct_size = sizeof(err)};

#define OK(call)                                                                                \
  do {                                                                                          \
    if ((call) != LEAT_OK) {                                                                    \
      fprintf(stderr, "%s:%d: %s: %d: %s\n", __FILE__, __LINE__, #call, err.code, err.message); \
      exit(1);                                                                                  \
    }                                                                                           \
  } while (0)
/* A refusal has its code and says why. */
#define REFUSED(code_, call) REQUIRE((call) == (code_) && err.code == (code_) && err.message[0] != '\0')

static bool is_open(int fd) {
  return fcntl(fd, F_GETFD) >= 0 || errno != EBADF;
}

/* ---- The backend --------------------------------------------------------------------------------------------------
 */

static void load(const char *path) {
  const leat_host_info host = {.struct_size = sizeof(host),
                               .abi_min = LEAT_ABI_CURRENT,
                               .abi_max = LEAT_ABI_CURRENT,
                               .header_version = LEAT_ABI_CURRENT,
                               .name = "interop_test"};
  void *const library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  leat_backend_query_fn query = NULL;
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  *(void **)&query = dlsym(library, LEAT_BACKEND_QUERY_SYMBOL);
  REQUIRE(query != NULL);
  OK(query(&host, &api, &err));
}

/* Neg of a tensor of COUNT floats; without kernels (on a driver without a device) there is none. */
static void make_operator(void) {
  const int64_t shape[1] = {COUNT};
  const leat_value_info input = {.struct_size = sizeof(input), .ndim = 1, .dtype = {kDLFloat, 32, 1}, .shape = shape};
  const leat_value_info *const inputs[1] = {&input};
  const leat_op_desc desc = {.struct_size = sizeof(desc),
                             .since_version = 13,
                             .name = "Neg",
                             .input_count = 1,
                             .output_count = 1,
                             .inputs = inputs};
  if (getenv("INTEROP_COPIES") == NULL) {
    OK(api->op->create(device, &desc, &negate, &err));
  }
}

static DLTensor tensor_at(void *data, DLDeviceType type, int64_t *shape) {
  *shape = COUNT;
  const DLTensor tensor = {.data = data, .device = {type, 0}, .ndim = 1, .dtype = {kDLFloat, 32, 1}, .shape = shape};
  return tensor;
}

static void *at(uint64_t address) {
  return (void *)(uintptr_t)address;
}

/* Puts the operator, or the copy, into a stream. */
static void put(leat_stream *stream, uint64_t from, uint64_t to) {
  int64_t shapes[2];
  const DLTensor input = tensor_at(at(from), kDLVulkan, &shapes[0]);
  const DLTensor output = tensor_at(at(to), kDLVulkan, &shapes[1]);
  const DLTensor *const inputs[1] = {&input}, *const outputs[1] = {&output};
  if (negate != NULL) {
    OK(api->op->invoke(negate, stream, 1, inputs, 1, outputs, &err));
  } else {
    OK(api->memory->copy(stream, &input, &output, &err));
  }
}

static float expected(float input) {
  return negate != NULL ? -input : input;
}

/* What element `i` of the input of a round is. */
static float value_of(uint32_t seed, uint32_t i) {
  return (float)(seed * 1000 + i);
}

static void fill(void *to, uint32_t seed) {
  float *const values = to;
  for (uint32_t i = 0; i < COUNT; ++i) {
    values[i] = value_of(seed, i);
  }
}

static bool is_right(const void *from, uint32_t seed) {
  const float *const values = from;
  bool right = true;
  for (uint32_t i = 0; i < COUNT; ++i) {
    right = right && values[i] == expected(value_of(seed, i));
  }
  return right;
}

/* ---- Memory -------------------------------------------------------------------------------------------------------
 */

static leat_external_memory describe(exporter *e, const shared_memory *m) {
  const leat_external_memory memory = {.struct_size = sizeof(memory),
                                       .fd = exporter_memory_fd(e, m),
                                       .handle_type = LEAT_EXTERNAL_OPAQUE_FD,
                                       .allocation_size = m->allocation_size,
                                       .size = m->size,
                                       .dedicated_usage = m->dedicated_usage,
                                       .memory_type = m->memory_type};
  return memory;
}

/* Imports it, with all that is known of it or with its size alone. */
static uint64_t import(exporter *e, const shared_memory *m, bool known) {
  leat_external_memory memory = describe(e, m);
  uint64_t address = 0;
  if (!known) {
    memory.memory_type = LEAT_EXTERNAL_ANY_MEMORY_TYPE;
    memory.allocation_size = 0;
  }
  OK(api->external->import_memory(device, &memory, &address, &err));
  REQUIRE(address != 0);
  return address;
}

/* An operator reads what the second device wrote, and the second device what the operator wrote. */
static void run_on(exporter *e, const shared_memory *m, uint64_t address, uint32_t seed) {
  const staging_memory staging = exporter_stage(e, BYTES);
  leat_stream *stream;
  uint64_t base, size;
  OK(api->memory->find(device, address + BYTES, &base, &size, &err));
  REQUIRE(base == address && size == m->size);
  fill(staging.mapped, seed);
  exporter_copy(e, staging.buffer, 0, m->buffer, 0, BYTES, VK_NULL_HANDLE, 0, 0);
  exporter_finish(e);
  OK(api->stream->create(device, 0, &stream, &err));
  put(stream, address, address + BYTES);
  OK(api->stream->synchronize(stream, &err));
  exporter_copy(e, m->buffer, BYTES, staging.buffer, 0, BYTES, VK_NULL_HANDLE, 0, 0);
  exporter_finish(e);
  REQUIRE(is_right(staging.mapped, seed));
  OK(api->stream->destroy(stream, &err));
  exporter_unstage(e, &staging);
}

static void test_memory(exporter *e) {
  const shared_memory m = exporter_allocate(e, 2 * BYTES, false);
  const uint64_t address = import(e, &m, true);
  run_on(e, &m, address, 1);
  OK(api->memory->free(device, address, &err));
  REFUSED(LEAT_ERROR_INVALID_ARGUMENT, api->memory->free(device, address, &err));
  /* Again, by a caller who knows no more than its size; and twice at once: two addresses of the same bytes. */
  const uint64_t first = import(e, &m, false), second = import(e, &m, true);
  REQUIRE(first != second);
  run_on(e, &m, first, 2);
  run_on(e, &m, second, 3);
  OK(api->memory->free(device, first, &err));
  OK(api->memory->free(device, second, &err));
  exporter_free(e, &m);
}

static void test_dedicated_memory(exporter *e) {
  const shared_memory m = exporter_allocate(e, 2 * BYTES, true);
  const uint64_t address = import(e, &m, true);
  run_on(e, &m, address, 4);
  OK(api->memory->free(device, address, &err));
  exporter_free(e, &m);
}

/* Figures and limits of the allocator are of what it has itself; the driver gets the memory back when its work is done.
 */
static void test_release(exporter *e) {
  const shared_memory m = exporter_allocate(e, 2 * BYTES, false);
  const staging_memory staging = exporter_stage(e, 2 * BYTES);
  leat_memory_stats before = {.struct_size = sizeof(before)}, after = before;
  leat_stream *stream;
  OK(api->stream->create(device, 0, &stream, &err));
  OK(api->memory->stats(device, &before, &err));
  const uint64_t address = import(e, &m, true);
  OK(api->memory->stats(device, &after, &err));
  REQUIRE(after.reserved_bytes == before.reserved_bytes && after.allocated_bytes == before.allocated_bytes &&
          after.live_block_count == before.live_block_count);
  fill(staging.mapped, 5);
  exporter_copy(e, staging.buffer, 0, m.buffer, 0, BYTES, VK_NULL_HANDLE, 0, 0);
  exporter_finish(e);
  /* Work that was put in before it still has it. */
  put(stream, address, address + BYTES);
  OK(api->memory->free(device, address, &err));
  OK(api->stream->synchronize(stream, &err));
  OK(api->memory->trim(device, NULL, &err));
  uint64_t base, size;
  REFUSED(LEAT_ERROR_INVALID_ARGUMENT, api->memory->find(device, address, &base, &size, &err));
  exporter_copy(e, m.buffer, BYTES, staging.buffer, BYTES, BYTES, VK_NULL_HANDLE, 0, 0);
  exporter_finish(e);
  REQUIRE(is_right((const char *)staging.mapped + BYTES, 5));
  OK(api->memory->stats(device, &after, &err));
  REQUIRE(after.allocated_bytes == before.allocated_bytes && after.live_block_count == before.live_block_count);
  OK(api->stream->destroy(stream, &err));
  exporter_unstage(e, &staging);
  exporter_free(e, &m);
}

/* The bytes live as long as one side wants them. */
static void test_exporter_goes_first(void) {
  exporter *const e = exporter_create(about.uuid, about.driver_uuid);
  const shared_memory m = exporter_allocate(e, 2 * BYTES, false);
  const staging_memory staging = exporter_stage(e, BYTES);
  const uint64_t address = import(e, &m, true);
  float read[COUNT];
  int64_t shapes[2];
  const DLTensor from = tensor_at(at(address), kDLVulkan, &shapes[0]), to = tensor_at(read, kDLCPU, &shapes[1]);
  fill(staging.mapped, 6);
  exporter_copy(e, staging.buffer, 0, m.buffer, 0, BYTES, VK_NULL_HANDLE, 0, 0);
  exporter_finish(e);
  exporter_unstage(e, &staging);
  exporter_free(e, &m);
  exporter_destroy(e);
  leat_stream *stream;
  OK(api->stream->create(device, 0, &stream, &err));
  put(stream, address, address + BYTES);
  const DLTensor result = tensor_at(at(address + BYTES), kDLVulkan, &shapes[0]);
  OK(api->memory->copy(stream, &from, &to, &err));
  OK(api->stream->synchronize(stream, &err));
  REQUIRE(read[COUNT - 1] == value_of(6, COUNT - 1));
  OK(api->memory->copy(stream, &result, &to, &err));
  OK(api->stream->synchronize(stream, &err));
  REQUIRE(is_right(read, 6));
  OK(api->stream->destroy(stream, &err));
  OK(api->memory->free(device, address, &err));
}

static void refuse(const leat_external_memory *good, int32_t code, uint64_t size, uint64_t allocation_size,
                   uint32_t usage, uint32_t memory_type, uint64_t handle_type, int32_t fd) {
  const leat_external_memory bad = {.struct_size = sizeof(bad),
                                    .fd = fd,
                                    .handle_type = handle_type,
                                    .allocation_size = allocation_size,
                                    .size = size,
                                    .dedicated_usage = usage,
                                    .memory_type = memory_type};
  uint64_t address = 1;
  REFUSED(code, api->external->import_memory(device, &bad, &address, &err));
  REQUIRE(is_open(good->fd));
}

static void test_refusals(exporter *e) {
  const shared_memory m = exporter_allocate(e, 2 * BYTES, false);
  const leat_external_memory g = describe(e, &m);
  const uint64_t opaque = LEAT_EXTERNAL_OPAQUE_FD, size = g.size, whole = g.allocation_size;
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int32_t invalid = LEAT_ERROR_INVALID_ARGUMENT;
  uint64_t address;
  refuse(&g, invalid, 0, whole, 0, m.memory_type, opaque, g.fd);
  refuse(&g, invalid, whole + 1, whole, 0, m.memory_type, opaque, g.fd);
  refuse(&g, invalid, size, whole, VK_BUFFER_USAGE_TRANSFER_DST_BIT, m.memory_type, opaque, g.fd);
  refuse(&g, invalid, size, whole, 0, 32, opaque, g.fd);
  refuse(&g, invalid, size, whole, 0, m.memory_type, opaque, -1);
  refuse(&g, LEAT_ERROR_NOT_SUPPORTED, size, whole, 0, m.memory_type, 0, g.fd);
  refuse(&g, LEAT_ERROR_NOT_SUPPORTED, size, whole, 0, m.memory_type, opaque << 40, g.fd);
  if (exporter_checks_descriptors(e)) {
    /* Which code a driver has for what is no memory is its own affair. */
    leat_external_memory no_memory = g;
    no_memory.fd = nothing;
    REQUIRE(api->external->import_memory(device, &no_memory, &address, &err) != LEAT_OK && err.message[0] != '\0');
  }
  REFUSED(invalid, api->external->import_memory(device, &g, NULL, &err));
  REFUSED(invalid, api->external->import_memory(device, NULL, &address, &err));
  REFUSED(invalid, api->external->import_memory(NULL, &g, &address, &err));
  REQUIRE(is_open(g.fd) && is_open(nothing));
  /* The good one after all these; its descriptor is the backend's then. */
  OK(api->external->import_memory(device, &g, &address, &err));
  REQUIRE(!is_open(g.fd));
  OK(api->memory->free(device, address, &err));
  (void)close(nothing);
  exporter_free(e, &m);
}

/* ---- Semaphores ---------------------------------------------------------------------------------------------------
 */

static leat_semaphore *import_semaphore(exporter *e, VkSemaphore semaphore) {
  const int fd = exporter_semaphore_fd(e, semaphore);
  leat_semaphore *imported;
  OK(api->external->import_semaphore(device, LEAT_EXTERNAL_OPAQUE_FD, fd, &imported, &err));
  return imported;
}

/* Rounds without a wait of the host: the second device writes, an operator runs, the second device reads. */
static void ping_pong(exporter *e, uint32_t seed) {
  const shared_memory m = exporter_allocate(e, 2 * BYTES, false);
  const staging_memory in = exporter_stage(e, ROUNDS * BYTES), out = exporter_stage(e, ROUNDS * BYTES);
  const VkSemaphore semaphore = exporter_semaphore(e);
  leat_semaphore *const imported = import_semaphore(e, semaphore);
  const uint64_t address = import(e, &m, true);
  leat_stream *stream;
  OK(api->stream->create(device, 0, &stream, &err));
  for (uint32_t i = 0; i < ROUNDS; ++i) {
    const uint64_t base = 3 * (uint64_t)i;
    fill((char *)in.mapped + i * BYTES, seed + i);
    exporter_copy(e, in.buffer, i * BYTES, m.buffer, 0, BYTES, semaphore, base, base + 1);
    OK(api->external->wait(stream, imported, base + 1, &err));
    put(stream, address, address + BYTES);
    OK(api->external->signal(stream, imported, base + 2, &err));
    exporter_copy(e, m.buffer, BYTES, out.buffer, i * BYTES, BYTES, semaphore, base + 2, base + 3);
  }
  REQUIRE(exporter_wait(e, semaphore, 3 * ROUNDS));
  for (uint32_t i = 0; i < ROUNDS; ++i) {
    REQUIRE(is_right((const char *)out.mapped + i * BYTES, seed + i));
  }
  OK(api->stream->synchronize(stream, &err));
  OK(api->external->destroy_semaphore(imported, &err));
  OK(api->stream->destroy(stream, &err));
  OK(api->memory->free(device, address, &err));
  exporter_semaphore_destroy(e, semaphore);
  exporter_unstage(e, &in);
  exporter_unstage(e, &out);
  exporter_free(e, &m);
}

/* A thread with a device of its own: what waits in one queue must not hold up what another thread's work needs. */
typedef struct player {
  exporter *e;
  uint32_t seed;
  pthread_t thread;
} player;

static void *ping_pong_alone(void *argument) {
  const player *const own = argument;
  ping_pong(own->e, own->seed);
  return NULL;
}

static void test_threads(void) {
  player players[THREADS];
  for (uint32_t i = 0; i < THREADS; ++i) {
    players[i] = (player){.e = exporter_create(about.uuid, about.driver_uuid), .seed = 100 * (1 + i)};
  }
  for (uint32_t i = 0; i < THREADS; ++i) {
    REQUIRE(pthread_create(&players[i].thread, NULL, ping_pong_alone, &players[i]) == 0);
  }
  for (uint32_t i = 0; i < THREADS; ++i) {
    REQUIRE(pthread_join(players[i].thread, NULL) == 0);
    exporter_destroy(players[i].e);
  }
}

/* Whether the second device finds the right output within ten seconds. */
static bool arrives(exporter *e, const shared_memory *m, const staging_memory *staging, uint32_t seed) {
  bool right = false;
  for (int i = 0; i < 1000 && !right; ++i) {
    (void)usleep(10000);
    exporter_copy(e, m->buffer, BYTES, staging->buffer, BYTES, BYTES, VK_NULL_HANDLE, 0, 0);
    exporter_finish(e);
    right = is_right((const char *)staging->mapped + BYTES, seed);
  }
  return right;
}

/* A wait comes before its value does, and holds up what comes behind it alone; a signal covers what came before it. */
static void test_order(exporter *e) {
  const shared_memory m = exporter_allocate(e, 2 * BYTES, false);
  const staging_memory staging = exporter_stage(e, 2 * BYTES);
  const VkSemaphore semaphore = exporter_semaphore(e), other = exporter_semaphore(e);
  leat_semaphore *const imported = import_semaphore(e, semaphore), *const second = import_semaphore(e, other);
  const uint64_t address = import(e, &m, true);
  leat_stream *stream;
  leat_event *after;
  OK(api->stream->create(device, 0, &stream, &err));
  OK(api->event->create(device, 0, &after, &err));
  fill(staging.mapped, 8);
  exporter_copy(e, staging.buffer, 0, m.buffer, 0, BYTES, VK_NULL_HANDLE, 0, 0);
  exporter_finish(e);
  exporter_signal(e, other, 7);
  put(stream, address, address + BYTES);
  /* Of two semaphores, one of which has its value; and the highest value counts. */
  OK(api->external->wait(stream, second, 7, &err));
  OK(api->external->wait(stream, imported, 4, &err));
  OK(api->external->wait(stream, imported, 5, &err));
  OK(api->external->wait(stream, imported, 3, &err));
  put(stream, address, address + BYTES);
  OK(api->external->signal(stream, second, 8, &err));
  OK(api->event->record(after, stream, &err));
  REQUIRE(arrives(e, &m, &staging, 8));
  REFUSED(LEAT_ERROR_TIMEOUT, api->event->wait(after, 20000000, &err));
  REQUIRE(exporter_value(e, other) == 7);
  exporter_signal(e, semaphore, 4);
  REFUSED(LEAT_ERROR_TIMEOUT, api->event->wait(after, 20000000, &err));
  fill(staging.mapped, 7);
  exporter_copy(e, staging.buffer, 0, m.buffer, 0, BYTES, semaphore, 0, 5);
  exporter_copy(e, m.buffer, BYTES, staging.buffer, BYTES, BYTES, other, 8, 9);
  REQUIRE(exporter_wait(e, other, 9));
  REQUIRE(is_right((const char *)staging.mapped + BYTES, 7));
  /* A value that is there already cannot be raised to. */
  REFUSED(LEAT_ERROR_INVALID_ARGUMENT, api->external->signal(stream, second, 9, &err));
  /* A semaphore that is destroyed still does what it was asked for. */
  OK(api->external->signal(stream, second, 10, &err));
  OK(api->external->destroy_semaphore(second, &err));
  OK(api->external->destroy_semaphore(imported, &err));
  REQUIRE(exporter_wait(e, other, 10));
  OK(api->stream->synchronize(stream, &err));
  OK(api->event->destroy(after, &err));
  OK(api->stream->destroy(stream, &err));
  OK(api->memory->free(device, address, &err));
  exporter_semaphore_destroy(e, semaphore);
  exporter_semaphore_destroy(e, other);
  exporter_unstage(e, &staging);
  exporter_free(e, &m);
}

/* `shared`: the device shares semaphores. `checked`: its driver may be shown what is none. */
static void test_semaphore_refusals(bool shared, bool checked) {
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  leat_semaphore *semaphore = NULL;
  leat_stream *stream;
  OK(api->stream->create(device, 0, &stream, &err));
  if (!shared || checked) {
    const int32_t status = api->external->import_semaphore(device, LEAT_EXTERNAL_OPAQUE_FD, nothing, &semaphore, &err);
    REQUIRE((shared ? status != LEAT_OK : status == LEAT_ERROR_NOT_SUPPORTED) && err.message[0] != '\0');
  }
  REFUSED(LEAT_ERROR_NOT_SUPPORTED, api->external->import_semaphore(device, 0, nothing, &semaphore, &err));
  REFUSED(LEAT_ERROR_INVALID_ARGUMENT,
          api->external->import_semaphore(device, LEAT_EXTERNAL_OPAQUE_FD, nothing, NULL, &err));
  REFUSED(LEAT_ERROR_INVALID_ARGUMENT, api->external->wait(stream, NULL, 1, &err));
  REFUSED(LEAT_ERROR_INVALID_ARGUMENT, api->external->signal(stream, NULL, 1, &err));
  OK(api->external->destroy_semaphore(NULL, &err));
  REQUIRE(is_open(nothing));
  (void)close(nothing);
  OK(api->stream->destroy(stream, &err));
}

int main(int argc, char **argv) {
  REQUIRE(argc == 2);
  load(argv[1]);
  uint32_t count = 0;
  OK(api->device->count(&count, &err));
  if (count == 0) {
    printf("skipped: %s\n", err.message);
    return 77;
  }
  REQUIRE(api->external != NULL);
  OK(api->device->info(0, &about, &err));
  OK(api->device->open(0, &device, &err));
  leat_external_info info = {.struct_size = sizeof(info)};
  OK(api->external->info(device, &info, &err));
  printf("%s, %s\n", about.name, about.driver);
  exporter *const e = info.memory_handles == 0 ? NULL : exporter_create(about.uuid, about.driver_uuid);
  test_semaphore_refusals(info.semaphore_handles != 0, e != NULL && exporter_checks_descriptors(e));
  if (e == NULL) {
    printf("skipped: the device shares no memory by opaque descriptors\n");
    return 77;
  }
  make_operator();
  test_memory(e);
  test_dedicated_memory(e);
  test_release(e);
  if (negate != NULL) {
    /* It reads the bytes on the host, which takes a kernel. */
    test_exporter_goes_first();
  }
  test_refusals(e);
  printf("memory: right\n");
  if (info.semaphore_handles != 0 && exporter_shares_semaphores(e)) {
    test_order(e);
    ping_pong(e, 10);
    test_threads();
    printf("semaphores: right, %u rounds without a wait of the host, then from %u threads\n", ROUNDS, THREADS);
  } else {
    printf("semaphores: left out, the device shares none\n");
  }
  exporter_destroy(e);
  OK(api->op->destroy(negate, &err));
  OK(api->device->close(device, &err));
  OK(api->shutdown(&err));
  return 0;
}
