/* SPDX-License-Identifier: BSD-3-Clause */
/* leat-example-imported FD ALLOCATED COUNT UUID: halves the COUNT floats at the beginning of memory that another API
 * has on the device with that UUID (32 hexadecimal digits), where they are. FD is an opaque descriptor of the memory,
 * inherited from the parent process, and ALLOCATED how many bytes were allocated. cuda_tensor.py is such a parent. */
#include <leat/host.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static leat_error err = {.struct_size = sizeof(err)};

static void check(int32_t status) {
  if (status != LEAT_OK) {
    fprintf(stderr, "%s: %s\n", leat_host_status_name(status), err.message);
    exit(1);
  }
}

/* The device with a UUID, and its number in tensors: memory can be imported by that one only. */
static leat_device *open_device(const leat_backend_api *leat, const char *uuid, DLDevice *out_place) {
  uint32_t count;
  check(leat->device->count(&count, &err));
  for (uint32_t i = 0; i < count; ++i) {
    leat_device_info info = {.struct_size = sizeof(info)};
    char text[33];
    check(leat->device->info(i, &info, &err));
    for (size_t b = 0; b < sizeof(info.uuid); ++b) {
      snprintf(text + 2 * b, 3, "%02x", info.uuid[b]);
    }
    if (strcmp(text, uuid) == 0) {
      leat_device *device;
      check(leat->device->open(i, &device, &err));
      *out_place = (DLDevice){kDLVulkan, (int32_t)i};
      return device;
    }
  }
  fprintf(stderr, "Leat has no device with the UUID %s; leat-info lists what it has\n", uuid);
  exit(1);
}

int main(int argc, char **argv) {
  if (argc != 5) {
    fprintf(stderr, "usage: leat-example-imported FD ALLOCATED COUNT UUID\n");
    return 2;
  }
  const leat_backend_api *leat;
  check(leat_host_load(NULL, &leat, &err));
  if (leat->external == NULL) {
    fprintf(stderr, "the backend imports no memory\n");
    return 1;
  }
  int64_t shape[1] = {atoll(argv[3])}, none[1] = {1};
  DLDevice place;
  leat_device *const device = open_device(leat, argv[4], &place);
  const leat_external_memory memory = {.struct_size = sizeof(memory),
                                       .fd = atoi(argv[1]),
                                       .handle_type = LEAT_EXTERNAL_OPAQUE_FD,
                                       .allocation_size = strtoull(argv[2], NULL, 10),
                                       .size = (uint64_t)shape[0] * sizeof(float),
                                       .memory_type = LEAT_EXTERNAL_ANY_MEMORY_TYPE};
  uint64_t values, half;
  leat_stream *stream;
  leat_op *multiply;
  check(leat->external->import_memory(device, &memory, &values, &err)); /* the descriptor is Leat's from here on */
  check(leat->stream->create(device, 0, &stream, &err));
  check(leat->memory->alloc(device, sizeof(float), stream, &half, &err));
  const leat_value_info infos[2] = {
      {.struct_size = sizeof(infos[0]), .ndim = 1, .dtype = {kDLFloat, 32, 1}, .shape = shape},
      {.struct_size = sizeof(infos[0]), .ndim = 1, .dtype = {kDLFloat, 32, 1}, .shape = none}};
  const leat_op_desc desc = {.struct_size = sizeof(desc),
                             .since_version = 14,
                             .name = "Mul",
                             .input_count = 2,
                             .output_count = 1,
                             .inputs = (const leat_value_info *[]){&infos[0], &infos[1]}};
  check(leat->op->create(device, &desc, &multiply, &err));
  float factor = 0.5f;
  const DLDataType float32 = {kDLFloat, 32, 1};
  const DLTensor host = {&factor, {kDLCPU, 0}, 1, float32, none, NULL, 0};
  const DLTensor by = {(void *)(uintptr_t)half, place, 1, float32, none, NULL, 0};
  const DLTensor tensor = {(void *)(uintptr_t)values, place, 1, float32, shape, NULL, 0};
  check(leat->memory->copy(stream, &host, &by, &err));
  check(leat->op->invoke(multiply, stream, 2, (const DLTensor *[]){&tensor, &by}, 1, (const DLTensor *[]){&tensor},
                         &err));
  check(leat->stream->synchronize(stream, &err)); /* from here on the parent sees the results */
  check(leat->memory->free(device, half, &err));
  check(leat->memory->free(device, values, &err));
  return leat->device->close(device, &err); /* frees the stream and the operator too */
}
