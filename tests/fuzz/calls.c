/* SPDX-License-Identifier: BSD-3-Clause */
/* Sequences of calls of streams, events, memory, the pool, the profiler and what is shared with other APIs on the null
 * driver, each of which knows what must be in its blocks (nulldriver/random_calls.h). Between them stand calls that
 * break the contract: each is refused, with a code and a message, and changes nothing that the others see. When all is
 * given back, nothing is left.
 *
 * The first byte says when the device finishes what it is given and whether memory is guarded, the second and third
 * what the device is like, and what becomes of a trace. */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/input.h"
#include "nulldriver/random_calls.h"

/* Actions of a sequence at most: a mutation that makes one longer costs time and shows nothing new. */
enum { ACTIONS = 200 };

static const leat_backend_api *api;
static host *h;

/* A call that must be refused. */
#define REFUSED(call)                                                                                                  \
  do {                                                                                                                 \
    leat_error err = {.struct_size = sizeof(err)};                                                                     \
    const int32_t status = (call);                                                                                     \
    FUZZ_CHECK(status != LEAT_OK && err.code == status && err.message[0] != '\0', "%s gives %d, code %d: '%s'", #call, \
               (int)status, (int)err.code, err.message);                                                               \
  } while (0)

/* What is no device, stream, event, operator: NULL, or what never was one. */
static void misuse_objects(input *in) {
  leat_stream *stream = NULL;
  leat_event *event = NULL;
  leat_op *op = NULL;
  uint64_t word = 0;
  int32_t fd = -1;
  double ns = 0;
  switch (input_below(in, 16)) {
    case 0:
      REFUSED(api->stream->create(NULL, 0, &stream, &err));
      break;
    case 1:
      REFUSED(api->stream->create(h->device, 1 + input_word(in) / 2, &stream, &err));
      break;
    case 2:
      REFUSED(api->stream->create(h->device, 0, NULL, &err));
      break;
    case 3:
      REFUSED(api->event->create(h->device, input_word(in) | 2, &event, &err));
      break;
    case 4:
      REFUSED(api->event->record(NULL, NULL, &err));
      break;
    case 5:
      REFUSED(api->event->wait(NULL, input_number(in), &err));
      break;
    case 6:
      REFUSED(api->event->elapsed(NULL, NULL, &ns, &err));
      break;
    case 7:
      REFUSED(api->event->export_sync_fd(NULL, &fd, &err));
      break;
    case 8:
      REFUSED(api->stream->synchronize(NULL, &err));
      break;
    case 9:
      REFUSED(api->stream->wait_event(NULL, NULL, &err));
      break;
    case 10:
      REFUSED(api->op->create(h->device, NULL, &op, &err));
      break;
    case 11:
      REFUSED(api->pool->acquire(NULL, 0, &stream, &word, &err));
      break;
    case 12:
      REFUSED(api->pool->release(h->device, input_word(in), &err));
      break;
    case 13:
      REFUSED(api->pool->stream(h->device, 1000 + input_byte(in), &stream, &err));
      break;
    case 14:
      REFUSED(api->device->open(1 + input_byte(in), (leat_device *[1]){NULL}, &err));
      break;
    default:
      REFUSED(api->shutdown(&err));
  }
}

/* Addresses and tensors that there are not. The null driver's addresses begin far above what a byte adds to. */
static void misuse_memory(input *in) {
  float number = 0;
  int64_t one = 1, other = input_number(in);
  uint64_t base, size;
  void *pointer = NULL;
  const uint64_t address = 1 + (uint64_t)input_byte(in);
  const DLTensor on_host = host_tensor(&number, &one), nowhere = device_tensor(address, &one);
  DLTensor wrong = host_tensor(&number, &other);
  leat_stream *stream = NULL;
  leat_error ignored = {.struct_size = sizeof(ignored)};
  FUZZ_CHECK(api->pool->stream(h->device, 0, &stream, &ignored) == LEAT_OK, "stream 0: %s", ignored.message);
  switch (input_below(in, 12)) {
    case 0:
      REFUSED(api->memory->free(h->device, address, &err));
      break;
    case 1:
      REFUSED(api->memory->find(h->device, address, &base, &size, &err));
      break;
    case 2:
      REFUSED(api->memory->record_stream(h->device, address, stream, &err));
      break;
    case 3:
      REFUSED(api->memory->copy(stream, &on_host, &nowhere, &err));
      break;
    case 4:
      REFUSED(api->memory->copy(stream, &nowhere, &on_host, &err));
      break;
    case 5:
      if (other != 1) {
        REFUSED(api->memory->copy(stream, &wrong, &on_host, &err));
      }
      break;
    case 6:
      REFUSED(api->memory->copy(stream, NULL, &on_host, &err));
      break;
    case 7:
      REFUSED(api->memory->copy(NULL, &on_host, &on_host, &err));
      break;
    case 8:
      REFUSED(api->memory->alloc(h->device, UINT64_MAX - input_byte(in), stream, &base, &err));
      break;
    case 9:
      REFUSED(api->memory->alloc_host(h->device, UINT64_MAX - input_byte(in), &pointer, &err));
      break;
    case 10:
      REFUSED(api->memory->free_host(h->device, &number, &err));
      break;
    default:
      REFUSED(api->memory->alloc(h->device, 1, stream, NULL, &err));
  }
}

/* Relu of what it was not made for. */
static void misuse_relu(input *in) {
  float number = 0;
  int64_t dims[8] = {input_number(in), input_number(in), 1, 1, 1, 1, 1, 1};
  DLTensor tensor = host_tensor(&number, dims);
  const DLTensor *tensors[2] = {&tensor, input_below(in, 2) == 0 ? NULL : &tensor};
  leat_stream *stream = NULL;
  leat_error ignored = {.struct_size = sizeof(ignored)};
  FUZZ_CHECK(api->pool->stream(h->device, 0, &stream, &ignored) == LEAT_OK, "stream 0: %s", ignored.message);
  tensor.ndim = (int32_t)input_number(in);
  tensor.shape = tensor.ndim <= 8 ? dims : NULL;
  tensor.device.device_type = input_below(in, 2) == 0 ? kDLCPU : kDLVulkan;
  tensor.data = tensor.device.device_type == kDLCPU ? tensor.data : (void *)(uintptr_t)input_byte(in);
  tensor.dtype.bits = input_byte(in);
  tensor.dtype.code = input_byte(in);
  REFUSED(api->op->invoke(h->relu, stream, input_below(in, 3), tensors, input_below(in, 3), tensors, &err));
}

/* A descriptor of no memory and no semaphore, which may be none at all; it is not open, or to be closed. */
static int wrong_descriptor(input *in) {
  /* Above those that a process has. */
  const int none = 1 << 20;
  switch (input_below(in, 5)) {
    case 0:
      return -1 - input_byte(in);
    case 1:
      return none + input_byte(in);
    case 2:
      return open("/dev/null", O_RDWR | O_CLOEXEC);
    case 3:
      return open("/", O_PATH | O_CLOEXEC);
    default: {
      /* Too short for any. */
      const int fd = memfd_create("short", MFD_CLOEXEC);
      FUZZ_CHECK(fd >= 0 && ftruncate(fd, input_below(in, 16)) == 0, "no file in memory");
      return fd;
    }
  }
}

/* Memory and semaphores of other APIs that are none. What a descriptor is of stays the caller's. */
static void misuse_external(input *in) {
  const leat_external_api *const external = api->external;
  const uint32_t what = input_below(in, 8);
  const int fd = wrong_descriptor(in);
  const bool open = fcntl(fd, F_GETFD) >= 0;
  const uint64_t handle_type = input_below(in, 4) == 0 ? input_word(in) : LEAT_EXTERNAL_OPAQUE_FD;
  leat_external_memory memory = {
      .struct_size = input_below(in, 16) == 1 ? input_below(in, sizeof(memory)) : sizeof(memory),
      .fd = fd,
      .handle_type = handle_type,
      .allocation_size = (uint64_t)input_number(in),
      .size = (uint64_t)input_number(in)};
  memory.dedicated_usage = input_below(in, 2) == 0 ? 0 : (uint32_t)input_number(in);
  memory.memory_type = input_below(in, 2) == 0 ? LEAT_EXTERNAL_ANY_MEMORY_TYPE : (uint32_t)input_number(in);
  leat_stream *stream = NULL;
  leat_semaphore *semaphore = NULL;
  uint64_t address = 0;
  leat_error ignored = {.struct_size = sizeof(ignored)};
  FUZZ_CHECK(api->pool->stream(h->device, 0, &stream, &ignored) == LEAT_OK, "stream 0: %s", ignored.message);
  switch (what) {
    case 0:
      REFUSED(external->import_semaphore(h->device, handle_type, fd, &semaphore, &err));
      break;
    case 1:
      REFUSED(external->import_semaphore(h->device, handle_type, fd, NULL, &err));
      break;
    case 2:
      REFUSED(external->wait(stream, NULL, input_word(in), &err));
      break;
    case 3:
      REFUSED(external->signal(stream, NULL, input_word(in), &err));
      break;
    case 4:
      REFUSED(external->import_memory(h->device, &memory, NULL, &err));
      break;
    default:
      REFUSED(external->import_memory(h->device, &memory, &address, &err));
  }
  FUZZ_CHECK((fcntl(fd, F_GETFD) >= 0) == open, "a call that was refused has closed the descriptor");
  if (open) {
    (void)close(fd);
  }
}

/* A profile that nobody can make, or nowhere to put it. */
static void misuse_profiler(input *in) {
  leat_profile_record record = {.struct_size = sizeof(record)};
  leat_profiler_info info = {.struct_size = input_below(in, 8)};
  uint32_t count = 1 + (uint32_t)input_byte(in);
  switch (input_below(in, 6)) {
    case 0:
      REFUSED(api->profiler->start(h->device, 0, 1 + input_word(in) / 2, &err));
      break;
    case 1:
      REFUSED(api->profiler->start(h->device, UINT32_MAX - count, 0, &err));
      break;
    case 2:
      REFUSED(api->profiler->start(NULL, 0, 0, &err));
      break;
    case 3:
      REFUSED(api->profiler->read(h->device, &count, NULL, &err));
      break;
    case 4:
      REFUSED(api->profiler->read(h->device, NULL, &record, &err));
      break;
    default:
      REFUSED(api->profiler->info(h->device, &info, &err));
  }
}

/* What the device is like, whether memory is guarded, and what becomes of a trace: there may be no place for it. */
static void begin(input *in) {
  static const nulldriver_mode modes[] = {NULLDRIVER_EAGER, NULLDRIVER_LAZY, NULLDRIVER_LATE, NULLDRIVER_SHUFFLED};
  static const char *const traces[] = {"", "", "/dev/null", "/dev/full", "/", "/dev/null/trace"};
  nulldriver_reset();
  const uint8_t mode = input_byte(in), looks = input_byte(in), more = input_byte(in);
  nulldriver_shape shape = nulldriver_get_shape();
  shape.type = (looks & 1) != 0 ? VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU : VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU;
  shape.queue_count = looks >> 1 & 7;
  shape.no_sync_fd = (looks & 16) != 0;
  shape.no_mapped_device_local = (looks & 32) != 0;
  shape.no_host_query_reset = (looks & 64) != 0;
  shape.no_budget = (looks & 128) != 0;
  shape.no_sharing = (more & 7) == 1;
  shape.no_calibrated_timestamps = (more & 8) != 0;
  nulldriver_set_shape(&shape);
  nulldriver_set_mode(modes[mode & 3], mode >> 2 & 31);
  HOST_NEED(api->configure("LEAT_MEMORY_GUARD", (mode & 128) != 0 ? "1" : "0", &err));
  HOST_NEED(api->configure("LEAT_PROFILE", traces[(more >> 4) % (sizeof(traces) / sizeof(traces[0]))], &err));
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc;
  (void)argv;
  const leat_host_info info = {.struct_size = sizeof(info), .abi_min = LEAT_ABI_1_0, .abi_max = LEAT_ABI_CURRENT};
  HOST_NEED(leat_backend_query(&info, &api, &err));
  /* Of each trace that cannot be written it says so. */
  HOST_NEED(api->configure("LEAT_LOG", "none", &err));
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  input in = {.bytes = bytes, .left = count};
  leat_error why = {.struct_size = sizeof(why)};
  begin(&in);
  host_need(calls_open(0, &h, &why), &why, "calls_open");
  caller *const c = caller_new(count);
  for (int i = 0; i < ACTIONS && in.left != 0; ++i) {
    switch (input_below(&in, 20)) {
      case 0:
        misuse_objects(&in);
        break;
      case 1:
        misuse_memory(&in);
        break;
      case 2:
        misuse_relu(&in);
        break;
      case 3:
        misuse_external(&in);
        break;
      case 4:
        misuse_profiler(&in);
        break;
      default:
        caller_draws_from(c, in.bytes, in.left);
        caller_act(c);
        in.bytes += in.left - caller_bytes_left(c);
        in.left = caller_bytes_left(c);
    }
  }
  caller_draws_from(c, NULL, 0);
  caller_free(c);
  calls_close();
  FUZZ_CHECK(host_report_violations() == 0, "a rule of Vulkan was broken");
  FUZZ_CHECK(host_report_leaks() == 0 && nulldriver_memory_used() == 0, "something is left");
  return 0;
}
