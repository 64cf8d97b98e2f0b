/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists the devices of the backend that libleat_host finds. ../add.c and ../graph.c compute something on one. */
#include <leat/host.h>
#include <stdio.h>

int main(void) {
  leat_error err = {.struct_size = sizeof(err)};
  const leat_backend_api *backend;
  uint32_t count = 0;
  if (leat_host_load(NULL, &backend, &err) != LEAT_OK || backend->device->count(&count, &err) != LEAT_OK) {
    fprintf(stderr, "%s\n", err.message);
    return 1;
  }
  for (uint32_t i = 0; i < count; ++i) {
    leat_device_info info = {.struct_size = sizeof(info)};
    if (backend->device->info(i, &info, &err) != LEAT_OK) {
      fprintf(stderr, "%s\n", err.message);
      return 1;
    }
    printf("device %u: %s\n", i, info.name);
  }
  return 0;
}
