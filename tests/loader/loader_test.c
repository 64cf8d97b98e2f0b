/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * leat_host_load() against backends that break the contract, and files that are none.
 */
#include <dlfcn.h>
#include <elf.h>
#include <leat/host.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
/* cmocka.h needs the headers above before it. */
#include <cmocka.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>

static char *plugin_path(const char *name) {
  return g_strdup_printf("%s/%s.so", PLUGIN_DIR, name);
}

/* Loads `path` and checks the status, and that the message holds each of the texts. */
static void expect_failure(const char *path, int32_t status, const char *const *texts) {
  leat_error err = {.struct_size = sizeof(err), .reserved = 5};
  memset(err.message, 'z', sizeof(err.message));
  const leat_backend_api *api = (const leat_backend_api *)&err;
  int32_t got = leat_host_load(path, &api, &err);
  assert_non_null(memchr(err.message, '\0', sizeof(err.message)));
  print_message("  %s: %s\n", leat_host_status_name(got), err.message);
  assert_int_equal(got, status);
  assert_int_equal(err.code, status);
  assert_int_equal(err.reserved, 0);
  assert_null(api);
  for (; *texts != NULL; ++texts) {
    if (strstr(err.message, *texts) == NULL) {
      fail_msg("\"%s\" is missing in \"%s\"", *texts, err.message);
    }
  }
  /* The same without a place for the message. */
  assert_int_equal(leat_host_load(path, &api, NULL), status);
}

#define EXPECT_FAILURE(path, status, ...) expect_failure(path, status, (const char *const[]){__VA_ARGS__, NULL})

static const leat_backend_api *expect_success(const char *path) {
  leat_error err = {.struct_size = sizeof(err)};
  const leat_backend_api *api = NULL;
  int32_t status = leat_host_load(path, &api, &err);
  if (status) {
    fail_msg("%s: %s: %s", path != NULL ? path : "default", leat_host_status_name(status), err.message);
  }
  assert_int_equal(err.code, LEAT_OK);
  assert_string_equal(err.message, "");
  assert_non_null(api);
  return api;
}

/* ---- Backends that break the contract ---------------------------------------------------------------------------- */

typedef struct fault {
  const char *name;
  int32_t status;
  const char *texts[4];
} fault;

static const fault faults[] = {
    {"no_symbol", LEAT_ERROR_UNAVAILABLE, {"no Leat backend", "leat_backend_query"}},
    {"data_symbol", LEAT_ERROR_UNAVAILABLE, {"data, not a function"}},
    {"unresolved", LEAT_ERROR_UNAVAILABLE, {"leat_test_no_such_function"}},
    {"wrong_major", LEAT_ERROR_VERSION, {"1.0 to 1.1", "gave 2.0"}},
    {"too_new", LEAT_ERROR_VERSION, {"this host speaks 1.0 to 1.1", "this backend speaks 3.1 to 3.2"}},
    {"null_table", LEAT_ERROR_INTERNAL, {"leat_stream_api", "NULL"}},
    {"wild_table", LEAT_ERROR_INTERNAL, {"leat_stream_api", "0x10"}},
    {"odd_table", LEAT_ERROR_INTERNAL, {"leat_stream_api", "no such table"}},
    {"cut_table", LEAT_ERROR_INTERNAL, {"leat_op_api", "ends before"}},
    {"null_slot", LEAT_ERROR_INTERNAL, {"leat_memory_api::free", "NULL"}},
    {"null_shutdown", LEAT_ERROR_INTERNAL, {"leat_backend_api::shutdown", "NULL"}},
    {"null_configure", LEAT_ERROR_INTERNAL, {"leat_backend_api::configure", "NULL"}},
    {"short_pool", LEAT_ERROR_INTERNAL, {"leat_pool_api", "struct_size 56", "64 bytes"}},
    {"wild_pool", LEAT_ERROR_INTERNAL, {"leat_pool_api", "0x10"}},
    {"short_graph", LEAT_ERROR_INTERNAL, {"leat_graph_api", "struct_size 48", "56 bytes"}},
    {"wild_graph", LEAT_ERROR_INTERNAL, {"leat_graph_api", "0x10"}},
    {"short_profiler", LEAT_ERROR_INTERNAL, {"leat_profiler_api", "struct_size 32", "40 bytes"}},
    {"wild_profiler", LEAT_ERROR_INTERNAL, {"leat_profiler_api", "0x10"}},
    {"short_external", LEAT_ERROR_INTERNAL, {"leat_external_api", "struct_size 48", "56 bytes"}},
    {"wild_external", LEAT_ERROR_INTERNAL, {"leat_external_api", "0x10"}},
    {"short_table", LEAT_ERROR_INTERNAL, {"leat_device_api", "struct_size 48", "56 bytes"}},
    {"short_backend", LEAT_ERROR_INTERNAL, {"leat_backend_api", "struct_size 8"}},
    {"huge_size", LEAT_ERROR_INTERNAL, {"leat_op_api", "4294967280"}},
    {"tail_used", LEAT_ERROR_INTERNAL, {"leat_device_api", "not zero"}},
    {"reserved", LEAT_ERROR_INTERNAL, {"leat_event_api::reserved", "7"}},
    {"backend_reserved", LEAT_ERROR_INTERNAL, {"leat_backend_api::reserved", "7"}},
    {"null_name", LEAT_ERROR_INTERNAL, {"leat_backend_api::name", "NULL"}},
    {"wild_name", LEAT_ERROR_INTERNAL, {"leat_backend_api::build_id", "no string"}},
    {"timing_without_elapsed", LEAT_ERROR_INTERNAL, {"LEAT_CAPABILITY_EVENT_TIMING", "elapsed"}},
    {"host_memory_without_slot", LEAT_ERROR_INTERNAL, {"LEAT_CAPABILITY_HOST_MEMORY", "free_host"}},
    {"fails", LEAT_ERROR_UNAVAILABLE, {"LEAT_ERROR_UNAVAILABLE", "the moon is in the way"}},
    {"unterminated", LEAT_ERROR_UNAVAILABLE, {"xxxx"}},
    {"unknown_code", -77, {"-77", "no reason"}},
    {"null_out", LEAT_ERROR_INTERNAL, {"gave no table"}},
};

static void test_faulty_backends_are_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < G_N_ELEMENTS(faults); ++i) {
    g_autofree char *path = plugin_path(faults[i].name);
    assert_true(g_file_test(path, G_FILE_TEST_EXISTS));
    expect_failure(path, faults[i].status, faults[i].texts);
  }
}

static void test_native_code_is_passed_on(void **state) {
  (void)state;
  g_autofree char *path = plugin_path("fails");
  leat_error err = {.struct_size = sizeof(err)};
  const leat_backend_api *api;
  assert_int_equal(leat_host_load(path, &api, &err), LEAT_ERROR_UNAVAILABLE);
  assert_int_equal(err.native_code, -4);
}

static void test_missing_optional_slots_are_stubs(void **state) {
  (void)state;
  g_autofree char *path = plugin_path("no_elapsed");
  const leat_backend_api *api = expect_success(path);
  leat_error err = {.struct_size = sizeof(err)};
  double ns = 3;
  assert_non_null(api->event->elapsed);
  assert_int_equal(api->event->elapsed(NULL, NULL, &ns, &err), LEAT_ERROR_NOT_SUPPORTED);
  assert_int_equal(err.code, LEAT_ERROR_NOT_SUPPORTED);
  assert_non_null(strstr(err.message, "leat_event_api::elapsed"));
  assert_int_equal(api->event->elapsed(NULL, NULL, &ns, NULL), LEAT_ERROR_NOT_SUPPORTED);
  /* Its neighbours are still the backend's own. */
  assert_int_equal(api->event->wait(NULL, 0, &err), LEAT_ERROR_NOT_SUPPORTED);
  assert_string_equal(err.message, "event.wait");
  int32_t fd;
  assert_int_equal(api->event->export_sync_fd(NULL, &fd, &err), LEAT_ERROR_NOT_SUPPORTED);
  assert_string_equal(err.message, "event.export_sync_fd");
  void *memory;
  assert_int_equal(api->memory->alloc_host(NULL, 1, &memory, &err), LEAT_ERROR_NOT_SUPPORTED);
  assert_string_equal(err.message, "memory.alloc_host");
  g_autofree char *bare = plugin_path("no_host_memory");
  const leat_backend_api *without = expect_success(bare);
  assert_int_equal(without->memory->alloc_host(NULL, 1, &memory, &err), LEAT_ERROR_NOT_SUPPORTED);
  assert_non_null(strstr(err.message, "leat_memory_api::alloc_host"));
  assert_int_equal(without->memory->free_host(NULL, NULL, &err), LEAT_ERROR_NOT_SUPPORTED);
  assert_non_null(strstr(err.message, "leat_memory_api::free_host"));
  g_autofree char *other = plugin_path("no_sync_fd");
  api = expect_success(other);
  assert_int_equal(api->event->export_sync_fd(NULL, &fd, &err), LEAT_ERROR_NOT_SUPPORTED);
  assert_non_null(strstr(err.message, "leat_event_api::export_sync_fd"));
}

/* Calls slot number `which` of the pool. */
static int32_t pool_call(const leat_backend_api *api, size_t which, leat_error *err) {
  const leat_pool_api *pool = api->pool;
  switch (which) {
    case 0:
      return pool->acquire(NULL, 0, NULL, NULL, err);
    case 1:
      return pool->release(NULL, 0, err);
    case 2:
      return pool->stream(NULL, 0, NULL, err);
    case 3:
      return pool->current(NULL, NULL, err);
    case 4:
      return pool->set_current(NULL, NULL, NULL, err);
    case 5:
      return pool->release_current(NULL, err);
    default:
      return pool->info(NULL, NULL, err);
  }
}

/* Calls slot number `which` of the graph table. */
static int32_t graph_call(const leat_backend_api *api, size_t which, leat_error *err) {
  const leat_graph_api *graph = api->graph;
  switch (which) {
    case 0:
      return graph->build(NULL, NULL, NULL, err);
    case 1:
      return graph->destroy(NULL, err);
    case 2:
      return graph->infer(NULL, 0, NULL, 0, NULL, err);
    case 3:
      return graph->launch(NULL, NULL, 0, NULL, 0, NULL, err);
    case 4:
      return graph->info(NULL, NULL, err);
    case 5:
      return graph->fusions(NULL, NULL, NULL, err);
    default:
      return graph->prepare(NULL, 0, NULL, NULL, err);
  }
}

/* Calls slot number `which` of the profiler table. */
static int32_t profiler_call(const leat_backend_api *api, size_t which, leat_error *err) {
  const leat_profiler_api *profiler = api->profiler;
  switch (which) {
    case 0:
      return profiler->start(NULL, 0, 0, err);
    case 1:
      return profiler->stop(NULL, err);
    case 2:
      return profiler->read(NULL, NULL, NULL, err);
    default:
      return profiler->info(NULL, NULL, err);
  }
}

/* Calls slot number `which` of the table of external memory. */
static int32_t external_call(const leat_backend_api *api, size_t which, leat_error *err) {
  const leat_external_api *external = api->external;
  switch (which) {
    case 0:
      return external->info(NULL, NULL, err);
    case 1:
      return external->import_memory(NULL, NULL, NULL, err);
    case 2:
      return external->import_semaphore(NULL, 0, -1, NULL, err);
    case 3:
      return external->destroy_semaphore(NULL, err);
    case 4:
      return external->wait(NULL, NULL, 0, err);
    default:
      return external->signal(NULL, NULL, 0, err);
  }
}

/* A table that may be left out. */
typedef struct optional_table {
  const char *name;
  const char *without;      /* a backend that has none */
  const char *without_slot; /* one that lacks the slot `lacking` */
  const char *lacking;
  const char *said; /* what the stubs say of it */
  size_t slot_count;
  const char *const *slots;
  int32_t (*call)(const leat_backend_api *api, size_t which, leat_error *err);
} optional_table;

static const char *const pool_slots[] = {"acquire",     "release",         "stream", "current",
                                         "set_current", "release_current", "info"};
static const char *const graph_slots[] = {"build", "destroy", "infer", "launch", "info", "fusions", "prepare"};
static const char *const profiler_slots[] = {"start", "stop", "read", "info"};
static const char *const external_slots[] = {"info", "import_memory", "import_semaphore", "destroy_semaphore",
                                             "wait", "signal"};
static const optional_table optional_tables[] = {
    {"pool", "no_pool", "null_pool_slot", "set_current", "no pool", G_N_ELEMENTS(pool_slots), pool_slots, pool_call},
    {"graph", "no_graph", "null_graph_slot", "fusions", "no graphs", G_N_ELEMENTS(graph_slots), graph_slots,
     graph_call},
    {"profiler", "no_profiler", "null_profiler_slot", "read", "no profiler", G_N_ELEMENTS(profiler_slots),
     profiler_slots, profiler_call},
    {"external", "no_external", "null_external_slot", "wait", "no external memory", G_N_ELEMENTS(external_slots),
     external_slots, external_call}};

static void expect_stubs(const optional_table *table) {
  g_autofree char *path = plugin_path(table->without);
  const leat_backend_api *api = expect_success(path);
  leat_error err = {.struct_size = sizeof(err)};
  assert_int_equal(api->pool->struct_size, sizeof(leat_pool_api));
  assert_int_equal(api->pool->reserved, 0);
  assert_int_equal(api->graph->struct_size, sizeof(leat_graph_api));
  assert_int_equal(api->graph->reserved, 0);
  assert_int_equal(api->profiler->struct_size, sizeof(leat_profiler_api));
  assert_int_equal(api->profiler->reserved, 0);
  assert_int_equal(api->external->struct_size, sizeof(leat_external_api));
  assert_int_equal(api->external->reserved, 0);
  for (size_t i = 0; i < table->slot_count; ++i) {
    g_autofree char *name = g_strdup_printf("leat_%s_api::%s)", table->name, table->slots[i]);
    assert_int_equal(table->call(api, i, &err), LEAT_ERROR_NOT_SUPPORTED);
    assert_int_equal(err.code, LEAT_ERROR_NOT_SUPPORTED);
    assert_non_null(strstr(err.message, name));
    assert_non_null(strstr(err.message, table->said));
    assert_int_equal(table->call(api, i, NULL), LEAT_ERROR_NOT_SUPPORTED);
  }
  /* The tables around it are still the backend's own. */
  assert_int_equal(api->op->infer(NULL, 0, NULL, 0, NULL, &err), LEAT_ERROR_NOT_SUPPORTED);
  assert_string_equal(err.message, "op.infer");
  assert_int_equal(api->configure("LEAT_LOG", "warn", &err), LEAT_ERROR_NOT_SUPPORTED);
  assert_string_equal(err.message, "backend.configure");
}

static void test_missing_tables_are_stubs(void **state) {
  (void)state;
  for (size_t i = 0; i < G_N_ELEMENTS(optional_tables); ++i) {
    expect_stubs(&optional_tables[i]);
  }
}

/* All slots of an optional table may be missing, so one may. */
static void test_missing_slot_of_an_optional_table_is_a_stub(void **state) {
  (void)state;
  for (size_t i = 0; i < G_N_ELEMENTS(optional_tables); ++i) {
    const optional_table *table = &optional_tables[i];
    g_autofree char *path = plugin_path(table->without_slot);
    const leat_backend_api *api = expect_success(path);
    leat_error err = {.struct_size = sizeof(err)};
    for (size_t slot = 0; slot < table->slot_count; ++slot) {
      const gboolean missing = g_str_equal(table->slots[slot], table->lacking);
      g_autofree char *name = g_strdup_printf(missing ? "leat_%s_api::%s)" : "%s.%s", table->name, table->slots[slot]);
      assert_int_equal(table->call(api, slot, &err), LEAT_ERROR_NOT_SUPPORTED);
      assert_non_null(strstr(err.message, name));
    }
  }
}

static void test_longer_table_with_zero_tail_is_fine(void **state) {
  (void)state;
  g_autofree char *path = plugin_path("tail_zero");
  const leat_backend_api *api = expect_success(path);
  assert_int_equal(api->device->struct_size, sizeof(leat_device_api));
}

static void test_table_is_complete(void **state) {
  (void)state;
  g_autofree char *path = plugin_path("none");
  const leat_backend_api *api = expect_success(path);
  assert_int_equal(api->struct_size, sizeof(*api));
  assert_int_equal(api->abi_version, LEAT_ABI_1_0);
  assert_int_equal(api->header_version, LEAT_ABI_CURRENT);
  assert_string_equal(api->name, "fake");
  assert_string_equal(api->version, "1.0.0");
  assert_string_equal(api->build_id, "fake");
  leat_error err = {.struct_size = sizeof(err)};
  assert_int_equal(api->shutdown(&err), LEAT_ERROR_NOT_SUPPORTED);
  assert_string_equal(err.message, "backend.shutdown");
  assert_int_equal(api->configure(NULL, NULL, &err), LEAT_ERROR_NOT_SUPPORTED);
  assert_string_equal(err.message, "backend.configure");
  assert_int_equal(api->pool->info(NULL, NULL, &err), LEAT_ERROR_NOT_SUPPORTED);
  assert_string_equal(err.message, "pool.info");
  assert_int_equal(api->graph->build(NULL, NULL, NULL, &err), LEAT_ERROR_NOT_SUPPORTED);
  assert_string_equal(err.message, "graph.build");
  assert_int_equal(api->profiler->stop(NULL, &err), LEAT_ERROR_NOT_SUPPORTED);
  assert_string_equal(err.message, "profiler.stop");
  assert_int_equal(api->external->wait(NULL, NULL, 0, &err), LEAT_ERROR_NOT_SUPPORTED);
  assert_string_equal(err.message, "external.wait");
  assert_int_equal(api->op->invoke(NULL, NULL, 0, NULL, 0, NULL, &err), LEAT_ERROR_NOT_SUPPORTED);
  assert_string_equal(err.message, "op.invoke");
}

/* ---- Files that are no backends ---------------------------------------------------------------------------------- */

typedef struct folder {
  char *path;
} folder;

static int folder_make(void **state) {
  folder *made = g_new0(folder, 1);
  made->path = g_dir_make_tmp("leat-loader-XXXXXX", NULL);
  *state = made;
  return made->path != NULL ? 0 : -1;
}

static int folder_remove(void **state) {
  folder *made = *state;
  GDir *entries = g_dir_open(made->path, 0, NULL);
  for (const char *name; (name = g_dir_read_name(entries));) {
    g_autofree char *path = g_build_filename(made->path, name, NULL);
    (void)g_remove(path);
  }
  g_dir_close(entries);
  int status = g_rmdir(made->path);
  g_free(made->path);
  g_free(made);
  return status;
}

/* Writes a file into the folder and gives its path. */
static char *file_write(const folder *in, const char *name, const char *contents, gssize length) {
  char *path = g_build_filename(in->path, name, NULL);
  assert_true(g_file_set_contents(path, contents, length, NULL));
  return path;
}

/* Copies a library, so that it is another file to the loader. */
static char *file_copy(const folder *in, const char *name, const char *from) {
  g_autofree char *contents = NULL;
  gsize length;
  assert_true(g_file_get_contents(from, &contents, &length, NULL));
  return file_write(in, name, contents, (gssize)length);
}

static void test_missing_file(void **state) {
  (void)state;
  EXPECT_FAILURE("/nonexistent/libleat_vulkan.so", LEAT_ERROR_UNAVAILABLE, "/nonexistent/libleat_vulkan.so",
                 "No such file", "libleat_vulkan.so");
  EXPECT_FAILURE("", LEAT_ERROR_UNAVAILABLE, "empty");
  /* A bare name is a file of this folder, never one of the system's libraries. */
  EXPECT_FAILURE("libm.so.6", LEAT_ERROR_UNAVAILABLE, "No such file");
}

static void test_files_of_other_kinds(void **state) {
  const folder *in = *state;
  EXPECT_FAILURE(in->path, LEAT_ERROR_UNAVAILABLE, "is a folder", "libleat_vulkan.so");
  g_autofree char *text = file_write(in, "text.so", "INPUT(libleat.so)\n", -1);
  EXPECT_FAILURE(text, LEAT_ERROR_UNAVAILABLE, text, "not a shared library");
  g_autofree char *empty = file_write(in, "empty.so", "", 0);
  EXPECT_FAILURE(empty, LEAT_ERROR_UNAVAILABLE, "an empty file");
  g_autofree char *fifo = g_build_filename(in->path, "fifo.so", NULL);
  assert_int_equal(mkfifo(fifo, 0600), 0);
  EXPECT_FAILURE(fifo, LEAT_ERROR_UNAVAILABLE, "not a regular file");
  g_autofree char *dangling = g_build_filename(in->path, "dangling.so", NULL);
  assert_int_equal(symlink("nothing-there", dangling), 0);
  EXPECT_FAILURE(dangling, LEAT_ERROR_UNAVAILABLE, "No such file");
}

static void test_truncated_library(void **state) {
  const folder *in = *state;
  g_autofree char *whole = plugin_path("none");
  g_autofree char *contents = NULL;
  gsize length;
  assert_true(g_file_get_contents(whole, &contents, &length, NULL));
  const gsize lengths[] = {4, 40, 64, 500, 3000, 8000, 12000};
  for (size_t i = 0; i < G_N_ELEMENTS(lengths); ++i) {
    assert_true(lengths[i] < length);
    g_autofree char *name = g_strdup_printf("cut-%zu.so", lengths[i]);
    g_autofree char *path = file_write(in, name, contents, (gssize)lengths[i]);
    EXPECT_FAILURE(path, LEAT_ERROR_UNAVAILABLE, path, "is cut off");
  }
}

/* Whole, but for processors with other addresses: it is not called cut off, the dynamic loader says what it is. */
static void test_library_of_another_class(void **state) {
  const folder *in = *state;
  g_autofree char *whole = plugin_path("none");
  g_autofree char *contents = NULL;
  gsize length;
  assert_true(g_file_get_contents(whole, &contents, &length, NULL));
  contents[EI_CLASS] = sizeof(void *) == 8 ? ELFCLASS32 : ELFCLASS64;
  g_autofree char *path = file_write(in, "other-class.so", contents, (gssize)length);
  EXPECT_FAILURE(path, LEAT_ERROR_UNAVAILABLE, path, "wrong ELF class");
}

static void test_other_library(void **state) {
  (void)state;
  /* The C library's mathematics, wherever this system has it. */
  Dl_info info;
  void *library = dlopen("libm.so.6", RTLD_NOW);
  assert_non_null(library);
  assert_true(dladdr(dlsym(library, "cbrt"), &info));
  EXPECT_FAILURE(info.dli_fname, LEAT_ERROR_UNAVAILABLE, "no Leat backend", "leat_backend_query");
}

/* ---- Which file is loaded ---------------------------------------------------------------------------------------- */

static void test_same_file_gives_the_same_table(void **state) {
  const folder *in = *state;
  g_autofree char *path = plugin_path("none");
  const leat_backend_api *api = expect_success(path);
  assert_ptr_equal(expect_success(path), api);
  g_autofree char *symbolic = g_build_filename(in->path, "symbolic.so", NULL);
  assert_int_equal(symlink(path, symbolic), 0);
  assert_ptr_equal(expect_success(symbolic), api);
  g_autofree char *copied = file_copy(in, "copied.so", path);
  assert_ptr_not_equal(expect_success(copied), api);
}

static gpointer load_from_thread(gpointer path) {
  const leat_backend_api *api = NULL;
  leat_error err = {.struct_size = sizeof(err)};
  return leat_host_load(path, &api, &err) == LEAT_OK ? (gpointer)(uintptr_t)api : NULL;
}

static void test_threads_get_the_same_table(void **state) {
  const folder *in = *state;
  g_autofree char *from = plugin_path("none");
  for (int round = 0; round < 8; ++round) {
    g_autofree char *name = g_strdup_printf("round-%d.so", round);
    g_autofree char *path = file_copy(in, name, from);
    GThread *threads[16];
    for (size_t i = 0; i < G_N_ELEMENTS(threads); ++i) {
      threads[i] = g_thread_new("load", load_from_thread, path);
    }
    gpointer first = g_thread_join(threads[0]);
    assert_non_null(first);
    for (size_t i = 1; i < G_N_ELEMENTS(threads); ++i) {
      assert_ptr_equal(g_thread_join(threads[i]), first);
    }
    assert_ptr_equal(expect_success(path), first);
  }
}

static void test_library_stays_mapped(void **state) {
  (void)state;
  g_autofree char *path = plugin_path("none");
  const leat_backend_api *api = expect_success(path);
  void *handle = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  assert_non_null(handle);
  /* More closes than there can have been opens. */
  for (int i = 0; i < 64 && handle != NULL; ++i) {
    assert_int_equal(dlclose(handle), 0);
    handle = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    assert_non_null(handle);
    assert_int_equal(dlclose(handle), 0);
  }
  leat_error err = {.struct_size = sizeof(err)};
  assert_int_equal(api->device->open(0, NULL, &err), LEAT_ERROR_NOT_SUPPORTED);
  assert_string_equal(err.message, "device.open");
}

static void test_child_of_fork_can_load(void **state) {
  const folder *in = *state;
  g_autofree char *from = plugin_path("none");
  (void)expect_success(from);
  g_autofree char *copied = file_copy(in, "child.so", from);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    const leat_backend_api *api;
    _exit(leat_host_load(from, &api, NULL) || leat_host_load(copied, &api, NULL) ? 1 : 0);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_variable_names_a_file_or_a_folder(void **state) {
  const folder *in = *state;
  g_autofree char *path = plugin_path("none");
  g_setenv("LEAT_PLUGIN_PATH", path, TRUE);
  assert_ptr_equal(expect_success(NULL), expect_success(path));

  g_setenv("LEAT_PLUGIN_PATH", in->path, TRUE);
  EXPECT_FAILURE(NULL, LEAT_ERROR_UNAVAILABLE, "LEAT_PLUGIN_PATH=", in->path, "libleat_vulkan.so");
  g_autofree char *copied = file_copy(in, "libleat_vulkan.so", path);
  assert_ptr_equal(expect_success(NULL), expect_success(copied));

  g_setenv("LEAT_PLUGIN_PATH", "/nonexistent/x.so", TRUE);
  EXPECT_FAILURE(NULL, LEAT_ERROR_UNAVAILABLE, "LEAT_PLUGIN_PATH=/nonexistent/x.so", "set it to");
  g_autofree char *text = file_write(in, "text", "hello\n", -1);
  g_setenv("LEAT_PLUGIN_PATH", text, TRUE);
  EXPECT_FAILURE(NULL, LEAT_ERROR_UNAVAILABLE, text, "not a shared library");
  g_autofree char *endless = g_strnfill(5000, 'a');
  g_setenv("LEAT_PLUGIN_PATH", endless, TRUE);
  EXPECT_FAILURE(NULL, LEAT_ERROR_UNAVAILABLE, "LEAT_PLUGIN_PATH", "too long");

  /* An argument wins over the variable. */
  assert_string_equal(expect_success(path)->name, "fake");
  g_unsetenv("LEAT_PLUGIN_PATH");
}

static void test_default_is_beside_the_loader(void **state) {
  const folder *in = *state;
  g_unsetenv("LEAT_PLUGIN_PATH");
  g_autofree char *host = file_copy(in, "libleat_host.so", HOST_LIBRARY);
  void *library = dlopen(host, RTLD_NOW | RTLD_LOCAL);
  assert_non_null(library);
  int32_t (*load)(const char *path, const leat_backend_api **out, leat_error *err);
  void *symbol = dlsym(library, "leat_host_load");
  assert_non_null(symbol);
  memcpy(&load, &symbol, sizeof(load));
  leat_error err = {.struct_size = sizeof(err)};
  const leat_backend_api *api;
  int32_t status = load(NULL, &api, &err);
  /* The folder that it would be installed to may well hold a backend; if it holds none, both are named. */
  if (status) {
    assert_int_equal(status, LEAT_ERROR_UNAVAILABLE);
    assert_non_null(strstr(err.message, in->path));
    assert_non_null(strstr(err.message, "LEAT_PLUGIN_PATH"));
  }
  /* Installed, a backend is in a folder below; one beside the loader comes before it. */
  g_autofree char *from = plugin_path("none");
  g_autofree char *below = g_build_filename(in->path, "leat", NULL);
  assert_int_equal(g_mkdir(below, 0700), 0);
  g_autofree char *installed = file_copy(in, "leat/libleat_vulkan.so", from);
  const leat_backend_api *first;
  assert_int_equal(load(NULL, &first, &err), LEAT_OK);
  assert_string_equal(first->name, "fake");
  assert_int_equal(load(installed, &api, &err), LEAT_OK);
  assert_ptr_equal(api, first);
  g_autofree char *copied = file_copy(in, "libleat_vulkan.so", from);
  assert_int_equal(load(NULL, &api, &err), LEAT_OK);
  assert_ptr_not_equal(api, first);
  /* The loader itself stays, too. */
  assert_int_equal(dlclose(library), 0);
  assert_non_null(dlopen(host, RTLD_NOW | RTLD_NOLOAD));
  assert_int_equal(load(copied, &first, &err), LEAT_OK);
  assert_ptr_equal(first, api);
  assert_int_equal(g_remove(installed), 0);
}

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

static void test_bad_arguments(void **state) {
  (void)state;
  g_autofree char *path = plugin_path("none");
  leat_error err = {.struct_size = sizeof(err)};
  assert_int_equal(leat_host_load(path, NULL, &err), LEAT_ERROR_INVALID_ARGUMENT);
  assert_non_null(strstr(err.message, "out"));
  /* An error struct of another size than any version has is not written to. */
  const leat_backend_api *api;
  leat_error small = {.struct_size = 16, .code = 99, .message = "untouched"};
  assert_int_equal(leat_host_load("/nonexistent", &api, &small), LEAT_ERROR_INVALID_ARGUMENT);
  assert_int_equal(small.code, 99);
  assert_string_equal(small.message, "untouched");
}

static void test_long_message_is_cut_between_characters(void **state) {
  (void)state;
  /* Messages begin with the path: some length of it puts the cut inside of a character. */
  for (size_t lead = 0; lead < 4; ++lead) {
    GString *path = g_string_new("/");
    for (size_t i = 0; i < lead; ++i) {
      g_string_append_c(path, 'a');
    }
    while (path->len < 1200) {
      g_string_append(path, "\xf0\x9f\x8c\x8a/");
    }
    leat_error err = {.struct_size = sizeof(err)};
    const leat_backend_api *api;
    assert_int_equal(leat_host_load(path->str, &api, &err), LEAT_ERROR_UNAVAILABLE);
    assert_true(strlen(err.message) > sizeof(err.message) - 6);
    assert_true(g_utf8_validate(err.message, -1, NULL));
    g_string_free(path, TRUE);
  }
}

static void test_status_names(void **state) {
  (void)state;
  assert_string_equal(leat_host_status_name(LEAT_OK), "LEAT_OK");
  for (int32_t code = LEAT_ERROR_INVALID_ARGUMENT; code <= LEAT_ERROR_CORRUPTED; ++code) {
    assert_memory_equal(leat_host_status_name(code), "LEAT_ERROR_", 11);
    for (int32_t other = LEAT_OK; other < code; ++other) {
      assert_string_not_equal(leat_host_status_name(code), leat_host_status_name(other));
    }
  }
  assert_string_equal(leat_host_status_name(LEAT_ERROR_TIMEOUT), "LEAT_ERROR_TIMEOUT");
  assert_string_equal(leat_host_status_name(-1), "unknown status");
  assert_string_equal(leat_host_status_name(LEAT_ERROR_CORRUPTED + 1), "unknown status");
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_make, folder_remove)

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_faulty_backends_are_refused),
      cmocka_unit_test(test_native_code_is_passed_on),
      cmocka_unit_test(test_missing_optional_slots_are_stubs),
      cmocka_unit_test(test_missing_tables_are_stubs),
      cmocka_unit_test(test_missing_slot_of_an_optional_table_is_a_stub),
      cmocka_unit_test(test_longer_table_with_zero_tail_is_fine),
      cmocka_unit_test(test_table_is_complete),
      cmocka_unit_test(test_missing_file),
      WITH_FOLDER(test_files_of_other_kinds),
      WITH_FOLDER(test_truncated_library),
      WITH_FOLDER(test_library_of_another_class),
      cmocka_unit_test(test_other_library),
      WITH_FOLDER(test_same_file_gives_the_same_table),
      WITH_FOLDER(test_threads_get_the_same_table),
      cmocka_unit_test(test_library_stays_mapped),
      WITH_FOLDER(test_child_of_fork_can_load),
      WITH_FOLDER(test_variable_names_a_file_or_a_folder),
      WITH_FOLDER(test_default_is_beside_the_loader),
      cmocka_unit_test(test_bad_arguments),
      cmocka_unit_test(test_long_message_is_cut_between_characters),
      cmocka_unit_test(test_status_names),
  };
  return cmocka_run_group_tests_name("loader", tests, NULL, NULL);
}
