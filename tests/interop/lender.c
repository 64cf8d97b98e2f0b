/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * lender PLUGIN EXAMPLE: examples/imported.c halves floats of a second VkDevice in this process, from a process of its
 * own, and refuses what it cannot do. Exit 77: there is no device, or it shares no memory.
 */
#include <inttypes.h>
#include <leat/host.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exporter.h"

#define COUNT 5003
#define BYTES (COUNT * sizeof(float))

static leat_error err = {.struct_size = sizeof(err)};

/* The device that the example is to find, the last one, so that where there are several it is not the first that they
 * find anyway. False: there is none. */
static bool describe(const char *plugin, leat_device_info *out) {
  const leat_backend_api *api;
  uint32_t count = 0;
  if (leat_host_load(plugin, &api, &err) != LEAT_OK || api->device->count(&count, &err) != LEAT_OK || count == 0 ||
      api->device->info(count - 1, out, &err) != LEAT_OK) {
    printf("no device: %s\n", err.message);
    return false;
  }
  return true;
}

/* Runs the example, and gives its exit status. */
static int run(const char *plugin, const char *example, int fd, uint64_t allocated, const char *uuid) {
  char fd_text[16], size_text[32], count_text[16];
  (void)snprintf(fd_text, sizeof(fd_text), "%d", fd);
  (void)snprintf(size_text, sizeof(size_text), "%" PRIu64, allocated);
  (void)snprintf(count_text, sizeof(count_text), "%d", COUNT);
  REQUIRE(fflush(NULL) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    (void)setenv("LEAT_PLUGIN_PATH", plugin, 1);
    (void)execl(example, example, fd_text, size_text, count_text, uuid, (char *)NULL);
    _exit(127);
  }
  int status;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

int main(int argc, char **argv) {
  leat_device_info about = {.struct_size = sizeof(about)};
  REQUIRE(argc == 3);
  exporter *const e = describe(argv[1], &about) ? exporter_create(about.uuid, about.driver_uuid) : NULL;
  if (e == NULL) {
    return 77;
  }
  char uuid[33];
  for (size_t i = 0; i < sizeof(about.uuid); ++i) {
    (void)snprintf(uuid + 2 * i, 3, "%02x", about.uuid[i]);
  }
  const shared_memory m = exporter_allocate(e, BYTES, false);
  const staging_memory staging = exporter_stage(e, BYTES);
  float *const values = staging.mapped;
  for (uint32_t i = 0; i < COUNT; ++i) {
    values[i] = (float)i;
  }
  exporter_copy(e, staging.buffer, 0, m.buffer, 0, BYTES, VK_NULL_HANDLE, 0, 0);
  exporter_finish(e);
  const int fd = exporter_memory_fd(e, &m);
  REQUIRE(run(argv[1], argv[2], fd, m.allocation_size, "00112233445566778899aabbccddeeff") == 1);
  REQUIRE(run(argv[1], argv[2], fd, m.allocation_size, uuid) == 0);
  REQUIRE(close(fd) == 0);
  exporter_copy(e, m.buffer, 0, staging.buffer, 0, BYTES, VK_NULL_HANDLE, 0, 0);
  exporter_finish(e);
  for (uint32_t i = 0; i < COUNT; ++i) {
    REQUIRE(values[i] == (float)i / 2);
  }
  exporter_unstage(e, &staging);
  exporter_free(e, &m);
  exporter_destroy(e);
  printf("%d floats were halved by another process\n", COUNT);
  return 0;
}
