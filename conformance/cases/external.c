/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Cases about leat_external_api, as far as they need no other API: what is refused, and that a refusal leaves all as it
 * was. What imported memory and semaphores do takes somebody who exports them; for Vulkan that is tests/interop/.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases/sources.h"
#include "fixture.h"

/* A type of handle that no version knows. */
#define UNKNOWN_HANDLE (UINT64_C(1) << 63)
enum { ROUNDS = 200 };

static const leat_external_api *external_of(const leat_case_context *ctx) {
  if (ctx->api->external == NULL) {
    leati_case_skip(ctx, "the external table is NULL");
  }
  return ctx->api->external;
}

static leat_external_info info_of(leat_case_context *ctx) {
  leat_external_info info = {.struct_size = sizeof(info)};
  LEAT_CHECK_OK(ctx, external_of(ctx)->info(leati_fixture_device(ctx), &info, LEAT_ERR));
  return info;
}

/* Any descriptor, to see what becomes of it; close it. */
static int new_descriptor(leat_case_context *ctx) {
  const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
  LEAT_CHECK_MESSAGE(ctx, fd >= 0, "/dev/null cannot be opened: %s", g_strerror(errno));
  return fd;
}

static leat_external_memory memory_of(uint64_t handle_type, int fd) {
  const leat_external_memory memory = {.struct_size = sizeof(memory),
                                       .fd = fd,
                                       .handle_type = handle_type,
                                       .allocation_size = 65536,
                                       .size = 65536,
                                       .memory_type = LEAT_EXTERNAL_ANY_MEMORY_TYPE};
  return memory;
}

static void bad_arguments(leat_case_context *ctx, const void *data) {
  const leat_external_api *external = external_of(ctx);
  leat_device *device = leati_fixture_device(ctx);
  leat_stream *stream = leati_stream_new(ctx);
  leat_external_info info = {.struct_size = 8};
  leat_external_memory memory = memory_of(LEAT_EXTERNAL_OPAQUE_FD, -1);
  leat_semaphore *semaphore = NULL;
  uint64_t address = 0;
  (void)data;
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, external->info(NULL, &info, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, external->info(device, NULL, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, external->info(device, &info, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, external->import_memory(NULL, &memory, &address, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, external->import_memory(device, NULL, &address, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, external->import_memory(device, &memory, NULL, LEAT_ERR));
  /* What the device lacks may be said before that a descriptor is none. */
  LEAT_CHECK_EITHER(ctx, LEAT_ERROR_INVALID_ARGUMENT, LEAT_ERROR_NOT_SUPPORTED,
                    external->import_memory(device, &memory, &address, LEAT_ERR));
  LEAT_CHECK_EITHER(ctx, LEAT_ERROR_INVALID_ARGUMENT, LEAT_ERROR_NOT_SUPPORTED,
                    external->import_semaphore(device, LEAT_EXTERNAL_OPAQUE_FD, -1, &semaphore, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT,
                    external->import_semaphore(NULL, LEAT_EXTERNAL_OPAQUE_FD, -1, &semaphore, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT,
                    external->import_semaphore(device, LEAT_EXTERNAL_OPAQUE_FD, -1, NULL, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, external->wait(stream, NULL, 1, LEAT_ERR));
  LEAT_CHECK_STATUS(ctx, LEAT_ERROR_INVALID_ARGUMENT, external->signal(stream, NULL, 1, LEAT_ERR));
  LEAT_CHECK_OK(ctx, external->destroy_semaphore(NULL, LEAT_ERR));
  /* The stream has heard of none of this. */
  leati_synchronize(ctx, stream);
  leati_stream_destroy(ctx, stream);
}

static void unknown_handles(leat_case_context *ctx, const void *data) {
  const leat_external_api *external = external_of(ctx);
  leat_device *device = leati_fixture_device(ctx);
  (void)data;
  for (int i = 0; i < ROUNDS; ++i) {
    const int fd = new_descriptor(ctx);
    const leat_external_memory memory = memory_of(UNKNOWN_HANDLE, fd);
    leat_semaphore *semaphore = NULL;
    uint64_t address = 0;
    LEAT_CHECK_STATUS(ctx, LEAT_ERROR_NOT_SUPPORTED, external->import_memory(device, &memory, &address, LEAT_ERR));
    LEAT_CHECK_MESSAGE(ctx, fcntl(fd, F_GETFD) >= 0, "import_memory() failed, and has closed the descriptor");
    LEAT_CHECK_STATUS(ctx, LEAT_ERROR_NOT_SUPPORTED,
                      external->import_semaphore(device, UNKNOWN_HANDLE, fd, &semaphore, LEAT_ERR));
    LEAT_CHECK_MESSAGE(ctx, close(fd) == 0, "import_semaphore() failed, and has closed the descriptor");
  }
}

/* What info() does not list is refused as such. */
static void not_listed(leat_case_context *ctx, const void *data) {
  const leat_external_info info = info_of(ctx);
  leat_device *device = leati_fixture_device(ctx);
  const int fd = new_descriptor(ctx);
  leat_semaphore *semaphore = NULL;
  uint64_t address = 0;
  (void)data;
  LEAT_CHECK_U64(ctx, sizeof(info), info.struct_size);
  LEAT_CHECK_U64(ctx, 0, info.reserved);
  if ((info.memory_handles & LEAT_EXTERNAL_OPAQUE_FD) == 0) {
    const leat_external_memory memory = memory_of(LEAT_EXTERNAL_OPAQUE_FD, fd);
    LEAT_CHECK_STATUS(ctx, LEAT_ERROR_NOT_SUPPORTED,
                      ctx->api->external->import_memory(device, &memory, &address, LEAT_ERR));
  }
  if ((info.semaphore_handles & LEAT_EXTERNAL_OPAQUE_FD) == 0) {
    LEAT_CHECK_STATUS(ctx, LEAT_ERROR_NOT_SUPPORTED,
                      ctx->api->external->import_semaphore(device, LEAT_EXTERNAL_OPAQUE_FD, fd, &semaphore, LEAT_ERR));
  }
  LEAT_CHECK(ctx, close(fd) == 0);
}

static gboolean is_forked(int32_t status) {
  return status == LEAT_ERROR_FORKED;
}

/* In the child: returns the number of the first function that does not refuse, from 1 on, or 0. */
static int forked_calls(const leat_external_api *external, leat_device *device, leat_stream *stream, int fd) {
  const leat_external_memory memory = memory_of(LEAT_EXTERNAL_OPAQUE_FD, fd);
  leat_external_info info = {.struct_size = sizeof(info)};
  leat_semaphore *semaphore = NULL;
  uint64_t address = 0;
  return !is_forked(external->info(device, &info, NULL))                                                            ? 1
         : !is_forked(external->import_memory(device, &memory, &address, NULL))                                     ? 2
         : !is_forked(external->import_semaphore(device, LEAT_EXTERNAL_OPAQUE_FD, fd, &semaphore, NULL))            ? 3
         : !is_forked(external->wait(stream, NULL, 1, NULL)) || !is_forked(external->signal(stream, NULL, 1, NULL)) ? 4
                                                                                                                    : 0;
}

static void forked(leat_case_context *ctx, const void *data) {
  static const char *const calls[] = {"info()", "import_memory()", "import_semaphore()", "wait() or signal()"};
  const leat_external_api *external = external_of(ctx);
  leat_device *device = leati_fixture_device(ctx);
  leat_stream *stream = leati_stream_new(ctx);
  const int fd = new_descriptor(ctx);
  int status = 0;
  (void)data;
  const pid_t child = fork();
  LEAT_CHECK_MESSAGE(ctx, child >= 0, "fork() failed: %s", g_strerror(errno));
  if (child == 0) {
    /* A call that hangs in the child must not outlive the case. */
    alarm((unsigned)(20.0 * ctx->scale) + 1);
    _exit(forked_calls(external, device, stream, fd));
  }
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    continue;
  }
  LEAT_CHECK_MESSAGE(ctx, WIFEXITED(status), "the forked child was ended by signal %d (14: a call did not return)",
                     WTERMSIG(status));
  LEAT_CHECK_MESSAGE(ctx, WEXITSTATUS(status) == 0, "in the forked child %s did not give LEAT_ERROR_FORKED",
                     calls[(WEXITSTATUS(status) - 1) % 4]);
  LEAT_CHECK(ctx, close(fd) == 0);
  leati_stream_destroy(ctx, stream);
}

static const leat_case external_cases[] = {
    {.name = "external.arguments.bad_are_refused",
     .summary = "Bad arguments of imports, waits and signals are refused, and no stream hears of them.",
     .run = bad_arguments},
    {.name = "external.import.unknown_handle_stays_the_callers",
     .summary = "A handle of an unknown type is not supported, and its descriptor stays as it was.",
     .run = unknown_handles},
    {.name = "external.import.what_is_not_listed_is_refused",
     .summary = "What info() does not list cannot be imported.",
     .run = not_listed},
    {.name = "external.fork.child_is_refused",
     .summary = "Every call of the table in a forked child gives LEAT_ERROR_FORKED.",
     .run = forked},
};

void leati_cases_external(leat_case_list *list) {
  leati_case_list_add(list, external_cases, G_N_ELEMENTS(external_cases));
}
