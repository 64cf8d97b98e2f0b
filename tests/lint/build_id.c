/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * build_id PLUGIN: prints the build id that a backend gives.
 */
#include <leat/host.h>
#include <stdio.h>

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: build_id PLUGIN\n");
    return 2;
  }
  leat_error err = {.struct_size = sizeof(err)};
  const leat_backend_api *api;
  if (leat_host_load(argv[1], &api, &err)) {
    fprintf(stderr, "build_id: %s\n", err.message);
    return 1;
  }
  puts(api->build_id);
  return 0;
}
