/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * shim_test PLUGIN: today's loader with a backend that was built from a frozen header. Every slot is called through
 * today's tables and must arrive at the function of the same name; a slot newer than the backend must be a stub.
 */
#include <leat/host.h>
#include <stdio.h>
#include <string.h>

static leat_error err = {.struct_size = sizeof(err)};
static int wrong;
static int called;

static void expect(const char *slot, int32_t status) {
  ++called;
  if (status != LEAT_ERROR_NOT_SUPPORTED || strcmp(err.message, slot) != 0) {
    printf("%s arrived at \"%s\" (%s)\n", slot, err.message, leat_host_status_name(status));
    ++wrong;
  }
  err.message[0] = '\0';
}

/* The same of a slot that some frozen header lacks. */
static void expect_newer(const char *slot, int32_t status, const char *stub) {
  if (strstr(err.message, stub) != NULL) {
    snprintf(err.message, sizeof(err.message), "%s", slot);
  }
  expect(slot, status);
}

/* The last slot of each table in ABI 1.0 is called as well as the ones between, so that a shift anywhere shows. */
#define CALL(table, slot, ...) expect(#table "." #slot, api->table->slot(__VA_ARGS__, &err))

int main(int argc, char **argv) {
  const leat_backend_api *api;
  if (argc != 2) {
    fprintf(stderr, "usage: shim_test PLUGIN\n");
    return 2;
  }
  if (leat_host_load(argv[1], &api, &err)) {
    printf("%s\n", err.message);
    return 1;
  }
  if (api->abi_version != LEAT_ABI_1_0) {
    printf("negotiated %#x instead of 1.0\n", api->abi_version);
    return 1;
  }
  expect("backend.shutdown", api->shutdown(&err));
  expect("backend.configure", api->configure("LEAT_LOG", "warn", &err));
  CALL(device, count, NULL);
  CALL(device, info, 0, NULL);
  CALL(device, report, NULL, NULL);
  CALL(device, open, 0, NULL);
  CALL(device, close, NULL);
  CALL(device, synchronize, NULL);
  CALL(memory, alloc, NULL, 0, NULL, NULL);
  CALL(memory, free, NULL, 0);
  CALL(memory, record_stream, NULL, 0, NULL);
  CALL(memory, copy, NULL, NULL, NULL);
  CALL(memory, find, NULL, 0, NULL, NULL);
  CALL(memory, stats, NULL, NULL);
  CALL(memory, classes, NULL, NULL, NULL);
  CALL(memory, reset_peaks, NULL);
  CALL(memory, trim, NULL, NULL);
  CALL(memory, export_dlpack, NULL, NULL, NULL, NULL);
  CALL(memory, import_dlpack, NULL, NULL, NULL, NULL);
  CALL(memory, export_dlpack_unversioned, NULL, NULL, NULL, NULL);
  CALL(memory, import_dlpack_unversioned, NULL, NULL, NULL, NULL);
  CALL(memory, alloc_host, NULL, 0, NULL);
  CALL(memory, free_host, NULL, NULL);
  CALL(stream, create, NULL, 0, NULL);
  CALL(stream, destroy, NULL);
  CALL(stream, flush, NULL);
  CALL(stream, synchronize, NULL);
  CALL(stream, query, NULL);
  CALL(stream, wait_event, NULL, NULL);
  CALL(stream, error, NULL);
  CALL(stream, clear_error, NULL);
  CALL(stream, info, NULL, NULL);
  CALL(event, create, NULL, 0, NULL);
  CALL(event, destroy, NULL);
  CALL(event, record, NULL, NULL);
  CALL(event, query, NULL);
  CALL(event, wait, NULL, 0);
  CALL(event, elapsed, NULL, NULL, NULL);
  CALL(event, export_sync_fd, NULL, NULL);
  CALL(op, count, NULL);
  CALL(op, info, 0, NULL);
  CALL(op, supports, NULL, NULL);
  CALL(op, create, NULL, NULL, NULL);
  CALL(op, destroy, NULL);
  CALL(op, infer, NULL, 0, NULL, 0, NULL);
  CALL(op, invoke, NULL, NULL, 0, NULL, 0, NULL);
  CALL(pool, acquire, NULL, 0, NULL, NULL);
  CALL(pool, release, NULL, 0);
  CALL(pool, stream, NULL, 0, NULL);
  CALL(pool, current, NULL, NULL);
  CALL(pool, set_current, NULL, NULL, NULL);
  CALL(pool, release_current, NULL);
  CALL(pool, info, NULL, NULL);
  CALL(graph, build, NULL, NULL, NULL);
  CALL(graph, destroy, NULL);
  CALL(graph, infer, NULL, 0, NULL, 0, NULL);
  CALL(graph, launch, NULL, NULL, 0, NULL, 0, NULL);
  CALL(graph, info, NULL, NULL);
  CALL(graph, fusions, NULL, NULL, NULL);
  expect_newer("graph.prepare", api->graph->prepare(NULL, 0, NULL, NULL, &err), "leat_graph_api::prepare");
  CALL(profiler, start, NULL, 0, 0);
  CALL(profiler, stop, NULL);
  CALL(profiler, read, NULL, NULL, NULL);
  CALL(profiler, info, NULL, NULL);
  CALL(external, info, NULL, NULL);
  CALL(external, import_memory, NULL, NULL, NULL);
  CALL(external, import_semaphore, NULL, 0, -1, NULL);
  CALL(external, destroy_semaphore, NULL);
  CALL(external, wait, NULL, NULL, 0);
  CALL(external, signal, NULL, NULL, 0);
  printf("%d slots called, %d went wrong\n", called, wrong);
  return wrong ? 1 : 0;
}
