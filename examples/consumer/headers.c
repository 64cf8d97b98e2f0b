/* SPDX-License-Identifier: BSD-3-Clause */
/* A host with a loader of its own, made with nothing but the headers. Usage: headers /path/to/libleat_vulkan.so */
#include <dlfcn.h>
#include <leat/backend.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: headers BACKEND\n");
    return 2;
  }
  void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  void *symbol = library ? dlsym(library, LEAT_BACKEND_QUERY_SYMBOL) : NULL;
  if (!symbol) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  leat_backend_query_fn query;
  memcpy(&query, &symbol, sizeof(query)); /* ISO C has no cast from an object pointer to a function pointer */
  const leat_host_info host = {.struct_size = sizeof(host),
                               .abi_min = LEAT_ABI_1_0,
                               .abi_max = LEAT_ABI_CURRENT,
                               .header_version = LEAT_ABI_CURRENT,
                               .name = "consumer"};
  const leat_backend_api *backend;
  leat_error err = {.struct_size = sizeof(err)};
  if (query(&host, &backend, &err) != LEAT_OK) {
    fprintf(stderr, "%s\n", err.message);
    return 1;
  }
  printf("%s speaks ABI %u.%u\n", backend->name, LEAT_ABI_MAJOR(backend->abi_version),
         LEAT_ABI_MINOR(backend->abi_version));
  return 0;
}
