/* SPDX-License-Identifier: BSD-3-Clause */
#include <leat/host.h>
#include <stdio.h>
#include <stdlib.h>
static leat_error err = {.struct_size = sizeof(err)};

static void check(int32_t status) {
  if (status != LEAT_OK) {
    fprintf(stderr, "%s: %s\n", leat_host_status_name(status), err.message);
    exit(1);
  }
}

int main(void) {
  float values[3][4] = {{1, 2, 3, 4}, {10, 20, 30, 40}}; /* the third takes the sum */
  int64_t shape[1] = {4};
  DLTensor host[3], device[3];
  const leat_backend_api *leat;
  leat_device *gpu;
  leat_stream *stream;
  leat_op *add;
  check(leat_host_load(NULL, &leat, &err));
  check(leat->device->open(0, &gpu, &err)); /* the best device comes first */
  check(leat->stream->create(gpu, 0, &stream, &err));
  for (int i = 0; i < 3; ++i) {
    uint64_t address;
    check(leat->memory->alloc(gpu, sizeof(values[i]), stream, &address, &err));
    host[i] = (DLTensor){values[i], {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, shape, NULL, 0};
    device[i] = (DLTensor){(void *)(uintptr_t)address, {kDLVulkan, 0}, 1, {kDLFloat, 32, 1}, shape, NULL, 0};
    check(leat->memory->copy(stream, &host[i], &device[i], &err));
  }
  const leat_value_info vector = {.struct_size = sizeof(vector), .ndim = 1, .dtype = {kDLFloat, 32, 1}, .shape = shape};
  leat_op_desc desc = {
      .struct_size = sizeof(desc), .since_version = 14, .name = "Add", .input_count = 2, .output_count = 1};
  desc.inputs = (const leat_value_info *[]){&vector, &vector};
  check(leat->op->create(gpu, &desc, &add, &err));
  const DLTensor *in[] = {&device[0], &device[1]}, *out[] = {&device[2]};
  check(leat->op->invoke(add, stream, 2, in, 1, out, &err));
  check(leat->memory->copy(stream, &device[2], &host[2], &err));
  check(leat->stream->synchronize(stream, &err)); /* one submission for all of the above */
  printf("%g %g %g %g\n", values[2][0], values[2][1], values[2][2], values[2][3]);
  for (int i = 0; i < 3; ++i) {
    check(leat->memory->free(gpu, (uint64_t)(uintptr_t)device[i].data, &err));
  }
  return leat->device->close(gpu, &err); /* frees the stream and the operator too */
}
