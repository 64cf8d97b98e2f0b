/* SPDX-License-Identifier: BSD-3-Clause */
/* Pipelines on disk: what a second start finds, what is not read, when is written, and that no failure of it is one of
 * a call. The null driver notes a violation when it is given data that it did not give. */
#include "unit_fixture.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "again.h"
#include "core/cache_file.h"
#include "core/status.h"
#include "core/sync.h"
#include "device/pipeline.h"
#include "device/pipeline_cache.h"
#include "nulldriver/blocks.h"
#include "policy/constants.h"

/* ---- What stands in front of the plugin's functions and the system's -----------------------------------------------
 */

/* Visible, because sanitizers' libraries call some of the system's, too. */
#define WRAP(type, name, parameters)                                    \
  type __real_##name parameters;                                        \
  __attribute__((visibility("default"))) type __wrap_##name parameters; \
  type __wrap_##name parameters

/* Nanoseconds that pass from one look at the clock to the next. */
static _Atomic uint64_t step;
static _Atomic uint64_t now;
static bool real_clock; /* set while no other thread runs */
WRAP(uint64_t, leati_now_ns, (void)) {
  return real_clock ? __real_leati_now_ns() : atomic_fetch_add(&now, atomic_load(&step));
}

/* The most host memory that was asked for at once. */
static _Atomic size_t largest;
WRAP(void *, leati_calloc, (size_t count_, size_t size)) {
  if (count_ * size > atomic_load(&largest)) {
    atomic_store(&largest, count_ * size);
  }
  return __real_leati_calloc(count_, size);
}

/* A function of the system whose nth call from now fails, with an errno; 0 of `write`: it takes one byte. */
typedef struct fault {
  const char *function;
  int n, cause;
} fault;
static fault asked;
static int attempts; /* to make a file */
static int looks;    /* for a file of ours */
static int reads;

static bool fails(const char *function) {
  if (asked.function == NULL || strcmp(asked.function, function) != 0 || --asked.n != 0) {
    return false;
  }
  errno = asked.cause;
  return true;
}
WRAP(int, mkostemp, (char *path, int flags)) {
  ++attempts;
  return fails("mkostemp") ? -1 : __real_mkostemp(path, flags);
}
WRAP(int, open, (const char *path, int flags, ...)) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  looks += strstr(path, "/pipelines-") != NULL ? 1 : 0;
  return __real_open(path, flags, mode);
}
WRAP(ssize_t, read, (int fd, void *bytes, size_t size)) {
  ++reads;
  return __real_read(fd, bytes, size);
}
WRAP(ssize_t, write, (int fd, const void *bytes, size_t size)) {
  if (!fails("write")) {
    return __real_write(fd, bytes, size);
  }
  return asked.cause == 0 ? __real_write(fd, bytes, 1) : -1;
}
WRAP(int, close, (int fd)) {
  const int result = __real_close(fd);
  return fails("close") ? -1 : result;
}
WRAP(int, rename, (const char *from, const char *to)) {
  return fails("rename") ? -1 : __real_rename(from, to);
}
WRAP(int, mkdir, (const char *path, mode_t mode)) {
  return fails("mkdir") ? -1 : __real_mkdir(path, mode);
}

/* ---- The folder and its files --------------------------------------------------------------------------------------
 */

/* How a file begins (plugin/core/cache_file.c), said once more: what is written today is read tomorrow. */
typedef struct head {
  char magic[8];
  uint32_t format, key_size;
  uint64_t data_size, checksum;
} head;
enum { KEY_SIZE = 96, DATA_AT = sizeof(head) + KEY_SIZE, VULKAN_HEADER = 32, ENTRY = 16, FILE_MAX = 65536 };

static char root[64], folder[128];

typedef struct content {
  unsigned char bytes[FILE_MAX];
  size_t size;
} content;

static void path_in(char *out, size_t size, const char *name) {
  assert_true(snprintf(out, size, "%s/%s", folder, name) < (int)size);
}

/* Counts the files whose names begin with ours, and gives the path of the last one that is finished. */
static uint32_t files(char path[256], uint32_t *out_unfinished) {
  uint32_t count_ = 0, unfinished = 0;
  DIR *const all = opendir(folder);
  for (const struct dirent *at = all != NULL ? readdir(all) : NULL; at != NULL; at = readdir(all)) {
    const char *const end = strrchr(at->d_name, '.');
    if (strncmp(at->d_name, "pipelines-", 10) == 0 && end != NULL && strcmp(end, ".bin") == 0) {
      ++count_;
      path_in(path, 256, at->d_name);
    } else if (strncmp(at->d_name, "pipelines-", 10) == 0) {
      ++unfinished;
    }
  }
  if (all != NULL) {
    assert_int_equal(closedir(all), 0);
  }
  if (out_unfinished != NULL) {
    *out_unfinished = unfinished;
  }
  return count_;
}

/* The path of the only file there is, with none beside it that is unfinished. */
static const char *only_file(void) {
  static char path[256];
  uint32_t unfinished;
  assert_int_equal(files(path, &unfinished), 1);
  assert_int_equal(unfinished, 0);
  return path;
}

static void assert_no_files(void) {
  char path[256];
  uint32_t unfinished;
  assert_int_equal(files(path, &unfinished), 0);
  assert_int_equal(unfinished, 0);
}

static void load(const char *path, content *out) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  assert_true(fd >= 0);
  const ssize_t size = read(fd, out->bytes, sizeof(out->bytes));
  assert_true(size >= 0);
  out->size = (size_t)size;
  assert_int_equal(close(fd), 0);
}

static void store(const char *path, const content *from) {
  (void)unlink(path);
  const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, from->bytes, from->size), from->size);
  assert_int_equal(close(fd), 0);
}

/* Pipelines in a file. */
static uint32_t saved_in(const char *path) {
  static content c;
  load(path, &c);
  assert_true(c.size >= DATA_AT + VULKAN_HEADER);
  return (uint32_t)((c.size - DATA_AT - VULKAN_HEADER) / ENTRY);
}

/* Pipelines in the only file. */
static uint32_t saved(void) {
  return saved_in(only_file());
}

static uint64_t fnv(uint64_t hash, const unsigned char *bytes, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
  }
  return hash;
}

/* Gives a forged file the checksum of what it says it holds. */
static void seal(content *c) {
  head h_;
  memcpy(&h_, c->bytes, sizeof(h_));
  uint64_t hash = fnv(UINT64_C(0xcbf29ce484222325), c->bytes, offsetof(head, checksum));
  hash = fnv(hash, c->bytes + sizeof(h_), h_.key_size);
  h_.checksum = fnv(hash, c->bytes + sizeof(h_) + h_.key_size, h_.data_size);
  memcpy(c->bytes, &h_, sizeof(h_));
}

/* ---- Devices that compile ------------------------------------------------------------------------------------------
 */

static void compile(uint32_t first, uint32_t count_) {
  for (uint32_t i = first; i < first + count_; ++i) {
    const leati_pipeline_key key = {.kernel = LEATI_KERNEL_UNARY_F32, .constants.by_id = {i}};
    leati_pipeline *found;
    assert_ok(leati_pipeline_compile(h.device, &key, &(bool){false}, &err));
    assert_true(leati_pipeline_find(h.device, &key, &found));
  }
}

static void open_here(void) {
  open_configured("LEAT_CACHE_DIR", folder);
}

static void close_here(void) {
  close_configured("LEAT_CACHE_DIR");
}

/* A process's life: opens the device, compiles, and closes it. Returns how many pipelines were on disk. */
static uint32_t live(uint32_t first, uint32_t count_) {
  const uint32_t before = nulldriver_pipelines_known();
  open_here();
  compile(first, count_);
  close_here();
  return nulldriver_pipelines_known() - before;
}

static int folder_before(void **state) {
  (void)snprintf(root, sizeof(root), "/tmp/leat-cache-XXXXXX");
  if (mkdtemp(root) == NULL) {
    return -1;
  }
  (void)snprintf(folder, sizeof(folder), "%s/cache", root);
  asked = (fault){.function = NULL};
  attempts = looks = 0;
  /* Compiling takes no time, so nothing is saved before the device is closed, unless a test says so. */
  atomic_store(&step, 0);
  real_clock = false;
  return host_before(state);
}

static int folder_after(void **state) {
  char command[128];
  (void)snprintf(command, sizeof(command), "rm -rf %s", root);
  return system(command) == 0 ? host_after(state) : -1;
}

/* A process of its own that lives through the same, with eight threads; waited for by end_process(). */
static pid_t begin_process(uint32_t first, uint32_t count_, const char *how) {
  char numbers[2][16];
  (void)snprintf(numbers[0], sizeof(numbers[0]), "%u", first);
  (void)snprintf(numbers[1], sizeof(numbers[1]), "%u", count_);
  char *const arguments[] = {"pipeline_cache_test", folder, numbers[0], numbers[1], (char *)(uintptr_t)how, NULL};
  pid_t process;
  assert_int_equal(start_again(arguments, &process), 0);
  return process;
}

static void end_process(pid_t process) {
  int status;
  assert_int_equal(waitpid(process, &status, 0), process);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
}

enum { THREADS = 8 };

/* What one of the threads compiles: every THREADSth from `first` on. */
typedef struct share {
  uint32_t first, end;
} share;

/* Through the gate, as calls of the host go. */
static void *compile_share(void *argument) {
  const share *const s = argument;
  for (uint32_t i = s->first; i < s->end; i += THREADS) {
    const leati_pipeline_key key = {.kernel = LEATI_KERNEL_UNARY_F32, .constants.by_id = {i}};
    leati_pass pass;
    HOST_NEED(leati_enter(&pass, false, &err));
    HOST_NEED(leati_pipeline_compile(h.device, &key, &(bool){false}, &err));
    leati_gate_leave(&pass);
  }
  return NULL;
}

static void start_threads(pthread_t threads[THREADS], uint32_t first, uint32_t count_) {
  static share shares[THREADS];
  for (uint32_t i = 0; i < THREADS; ++i) {
    shares[i] = (share){.first = first + i, .end = first + count_};
    start_thread(&threads[i], compile_share, &shares[i]);
  }
}

static void compile_beside(uint32_t first, uint32_t count_) {
  pthread_t threads[THREADS];
  start_threads(threads, first, count_);
  for (uint32_t i = 0; i < THREADS; ++i) {
    join_thread(threads[i]);
  }
}

/* ---- What a second start finds -------------------------------------------------------------------------------------
 */

static void a_second_start_compiles_nothing(void **state) {
  (void)state;
  static content c, again;
  struct stat about;
  assert_int_equal(live(0, 5), 0);
  assert_int_equal(saved(), 5);
  assert_int_equal(stat(folder, &about), 0);
  assert_int_equal(about.st_mode & 07777, 0700);
  assert_int_equal(stat(only_file(), &about), 0);
  assert_int_equal(about.st_mode & 07777, 0600);
  const ino_t file = about.st_ino;
  assert_int_equal(live(0, 5), 5);
  /* What is on disk already is not written again. */
  assert_int_equal(stat(only_file(), &about), 0);
  assert_int_equal(about.st_ino, file);
  assert_int_equal(live(3, 4), 2);
  assert_int_equal(saved(), 7);
  load(only_file(), &c);
  head begin;
  leati_pipeline_cache_key key;
  memcpy(&begin, c.bytes, sizeof(begin));
  memcpy(&key, c.bytes + sizeof(begin), sizeof(key));
  const nulldriver_shape shape = nulldriver_get_shape();
  assert_memory_equal(begin.magic, "leatpipe", 8);
  assert_int_equal(begin.format, 1);
  assert_int_equal(begin.key_size, KEY_SIZE);
  assert_int_equal(begin.data_size, VULKAN_HEADER + 7 * ENTRY);
  assert_memory_equal(key.uuid, shape.cache_uuid, sizeof(key.uuid));
  assert_int_equal(key.vendor, shape.vendor);
  assert_int_equal(key.device, shape.device);
  assert_int_equal(key.driver_version, shape.driver_version);
  assert_string_equal(key.build, h.api->build_id);
  again = c;
  seal(&again);
  assert_memory_equal(again.bytes, c.bytes, c.size);
}

static void opening_alone_writes_nothing(void **state) {
  (void)state;
  assert_int_equal(live(0, 0), 0);
  assert_int_not_equal(access(folder, F_OK), 0);
}

static void the_folder_and_the_one_above_are_made(void **state) {
  (void)state;
  struct stat about;
  (void)snprintf(folder, sizeof(folder), "%s/a/b//", root);
  (void)live(0, 1);
  (void)snprintf(folder, sizeof(folder), "%s/a", root);
  assert_int_equal(stat(folder, &about), 0);
  assert_int_equal(about.st_mode & 07777, 0700);
  (void)snprintf(folder, sizeof(folder), "%s/a/b", root);
  assert_int_equal(live(0, 1), 1);
  (void)only_file();
  (void)snprintf(folder, sizeof(folder), "%s/c/d/e", root);
  assert_int_equal(live(0, 1), 0);
  assert_int_equal(live(0, 1), 0);
  (void)snprintf(folder, sizeof(folder), "%s/c", root);
  assert_int_not_equal(access(folder, F_OK), 0);
}

static void nothing_is_no_folder(void **state) {
  (void)state;
  open_configured("LEAT_CACHE_DIR", "");
  compile(0, 3);
  close_configured("LEAT_CACHE_DIR");
  assert_int_equal(nulldriver_calls("vkGetPipelineCacheData"), 0);
  assert_int_equal(nulldriver_calls("vkCreatePipelineCache"), 1);
  assert_int_equal(attempts + looks, 0);
}

static void another_device_or_driver_has_another_file(void **state) {
  (void)state;
  char path[256];
  const nulldriver_shape usual = nulldriver_get_shape();
  assert_int_equal(live(0, 2), 0);
  for (uint32_t i = 0; i < 4; ++i) {
    nulldriver_shape other = usual;
    other.vendor += i == 0;
    other.device += i == 1;
    other.driver_version += i == 2;
    other.cache_uuid[15] = i == 3 ? 1 : usual.cache_uuid[15];
    nulldriver_set_shape(&other);
    assert_int_equal(live(0, 2), 0);
    assert_int_equal(files(path, NULL), 2 + i);
    assert_int_equal(live(0, 2), 2);
    nulldriver_set_shape(&usual);
    assert_int_equal(live(0, 2), 2);
  }
}

/* ---- What is not read ----------------------------------------------------------------------------------------------
 */

/* Starts with a file in place of the good one: nothing of it is used, and it is replaced. */
static void expect_refusal(const char *path, const content *bad, const char *what, size_t number) {
  store(path, bad);
  const uint32_t known = live(0, 2);
  if (known != 0 || nulldriver_violations() != 0) {
    fail_msg("%s %zu: %u pipelines were used; %s", what, number, known, nulldriver_violation(0));
  }
  assert_int_equal(saved(), 2);
}

static void damage_is_noticed_wherever_it_is(void **state) {
  (void)state;
  static content good, bad;
  (void)live(0, 2);
  const char *const path = only_file();
  load(path, &good);
  for (size_t i = 0; i < good.size; ++i) {
    bad = good;
    bad.bytes[i] ^= (unsigned char)(1u << i % 8);
    expect_refusal(path, &bad, "byte", i);
    bad = good;
    bad.size = i;
    expect_refusal(path, &bad, "length", i);
  }
  bad = good;
  bad.bytes[bad.size++] = 0;
  expect_refusal(path, &bad, "length", bad.size);
  store(path, &good);
  assert_int_equal(live(0, 2), 2);
}

/* Puts a number into a file, which then has the checksum for it. */
static void forge(content *bad, const content *good, size_t at, uint32_t number) {
  *bad = *good;
  memcpy(bad->bytes + at, &number, sizeof(number));
  seal(bad);
}

static void what_is_for_others_is_not_read(void **state) {
  (void)state;
  static content good, bad;
  (void)live(0, 2);
  const char *const path = only_file();
  load(path, &good);
  forge(&bad, &good, offsetof(head, magic), 0x7461656d);
  expect_refusal(path, &bad, "magic", 0);
  forge(&bad, &good, offsetof(head, format), 2);
  expect_refusal(path, &bad, "format", 2);
  forge(&bad, &good, offsetof(head, key_size), KEY_SIZE - 4);
  expect_refusal(path, &bad, "size of the key", KEY_SIZE - 4);
  forge(&bad, &good, offsetof(head, data_size), VULKAN_HEADER + ENTRY);
  expect_refusal(path, &bad, "size of the data", VULKAN_HEADER + ENTRY);
  for (size_t i = 0; i < KEY_SIZE; ++i) {
    bad = good;
    ++bad.bytes[sizeof(head) + i];
    seal(&bad);
    expect_refusal(path, &bad, "byte of the key", i);
  }
  store(path, &good);
  assert_int_equal(live(0, 2), 2);
}

/* What the checksum is right for, but not for this device: the driver must not see it. */
static void vulkans_own_header_is_looked_at(void **state) {
  (void)state;
  static content good, bad;
  (void)live(0, 2);
  const char *const path = only_file();
  load(path, &good);
  static const uint32_t wrong[][2] = {
      {0, VULKAN_HEADER - 1}, {0, VULKAN_HEADER + 2 * ENTRY + 1}, {4, 2}, {8, 7}, {12, 7}, {16, 7}, {28, 7}};
  for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); ++i) {
    forge(&bad, &good, DATA_AT + wrong[i][0], wrong[i][1]);
    expect_refusal(path, &bad, "case", i);
  }
  for (uint32_t size = 1; size < VULKAN_HEADER; ++size) {
    bad = good;
    bad.size = DATA_AT + size;
    const uint64_t data_size = size;
    memcpy(bad.bytes + offsetof(head, data_size), &data_size, sizeof(data_size));
    seal(&bad);
    expect_refusal(path, &bad, "bytes of data", size);
  }
}

static void links_pipes_and_folders_are_not_read(void **state) {
  (void)state;
  struct stat about;
  char elsewhere[128];
  (void)live(0, 2);
  const char *const path = only_file();
  (void)snprintf(elsewhere, sizeof(elsewhere), "%s/elsewhere", root);
  assert_int_equal(rename(path, elsewhere), 0);
  assert_int_equal(symlink(elsewhere, path), 0);
  assert_int_equal(live(0, 2), 0);
  assert_int_equal(lstat(path, &about), 0);
  assert_true(S_ISREG(about.st_mode));
  /* What the link led to is as it was. */
  assert_int_equal(rename(elsewhere, path), 0);
  assert_int_equal(live(0, 2), 2);
  assert_int_equal(unlink(path), 0);
  assert_int_equal(mkfifo(path, 0600), 0);
  assert_int_equal(live(0, 2), 0);
  assert_int_equal(live(0, 2), 2);
  assert_int_equal(unlink(path), 0);
  assert_int_equal(mkdir(path, 0700), 0);
  reads = 0;
  assert_int_equal(live(0, 2), 0);
  assert_int_equal(reads, 0);
  (void)only_file();
}

static void files_that_others_may_write_are_not_read(void **state) {
  (void)state;
  (void)live(0, 2);
  const char *const path = only_file();
  static const mode_t modes[] = {0620, 0602};
  for (size_t i = 0; i < 2; ++i) {
    assert_int_equal(chmod(path, modes[i]), 0);
    assert_int_equal(live(0, 2), 0);
    assert_int_equal(live(0, 2), 2);
  }
  assert_int_equal(chmod(path, 0644), 0);
  assert_int_equal(live(0, 2), 2);
}

static void files_of_others_are_not_read(void **state) {
  (void)state;
  (void)live(0, 2);
  if (chown(only_file(), 12345, (gid_t)-1) != 0) {
    print_message("only root can give files away\n");
    skip();
  }
  assert_int_equal(live(0, 2), 0);
  assert_int_equal(live(0, 2), 2);
}

static void a_file_without_data_holds_nothing(void **state) {
  (void)state;
  const leati_cache_file file = {.folder = folder, .key = "key", .key_size = 4};
  for (size_t size = 0; size < 2; ++size) {
    assert_true(leati_cache_file_write(&file, "data", size));
    const leati_cache_content found = leati_cache_file_read(&file);
    assert_int_equal(found.size, size);
    assert_int_equal(found.data != NULL, size != 0);
    leati_free(found.memory);
  }
}

static void a_huge_file_is_not_read(void **state) {
  (void)state;
  (void)live(0, 2);
  assert_int_equal(truncate(only_file(), ((off_t)256 << 20) + 1), 0);
  atomic_store(&largest, 0);
  assert_int_equal(live(0, 2), 0);
  assert_true(atomic_load(&largest) < (size_t)256 << 20);
  assert_int_equal(live(0, 2), 2);
}

/* ---- Failures ------------------------------------------------------------------------------------------------------
 */

/* Whatever fails when a file is written, calls do not, what was there is there, and nothing lies beside it. */
static void a_failed_write_loses_the_write_alone(void **state) {
  (void)state;
  static const fault faults[] = {{"mkdir", 1, EROFS},  {"mkostemp", 1, EACCES}, {"write", 1, ENOSPC}, {"write", 2, EIO},
                                 {"write", 3, EDQUOT}, {"close", 2, EDQUOT},    {"rename", 1, EACCES}};
  (void)live(0, 2);
  for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); ++i) {
    open_here();
    compile(0, 4);
    asked = faults[i];
    close_here();
    if (asked.n != 0) {
      fail_msg("%s %d was not called", faults[i].function, faults[i].n);
    }
    asked = (fault){.function = NULL};
    assert_int_equal(saved(), 2);
  }
  assert_int_equal(live(0, 4), 2);
  assert_int_equal(saved(), 4);
}

static void writes_in_pieces_are_whole(void **state) {
  (void)state;
  static const fault pieces[] = {{"write", 1, 0}, {"write", 3, 0}, {"write", 2, EINTR}};
  for (uint32_t i = 0; i < 3; ++i) {
    open_here();
    compile(i, 1);
    asked = pieces[i];
    close_here();
    assert_int_equal(asked.n < 0, 1);
    asked = (fault){.function = NULL};
    assert_int_equal(saved(), i + 1);
    assert_int_equal(live(0, i + 1), i + 1);
  }
}

/* A process that may not write so much would be killed by a signal if it tried. */
static void a_limit_of_the_process_is_kept(void **state) {
  (void)state;
  struct rlimit before;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  const struct rlimit little = {.rlim_cur = 100, .rlim_max = before.rlim_max};
  open_here();
  compile(0, 2);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
  close_here();
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  assert_no_files();
}

static void after_a_failure_no_write_is_tried(void **state) {
  (void)state;
  atomic_store(&step, 1000);
  open_here();
  asked = (fault){.function = "mkostemp", .n = 1, .cause = EROFS};
  compile(0, 100);
  close_here();
  assert_int_equal(attempts, 1);
  assert_no_files();
  assert_int_equal(live(0, 1), 0);
  assert_int_equal(saved(), 1);
}

static void the_driver_may_fail(void **state) {
  (void)state;
  static const char *const functions[] = {"vkCreatePipelineCache", "vkGetPipelineCacheData", "vkMergePipelineCaches"};
  for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); ++i) {
    for (uint32_t n = 1; n <= 4; ++n) {
      (void)live(0, 2);
      assert_true(nulldriver_fail(functions[i], n, VK_ERROR_OUT_OF_HOST_MEMORY));
      open_here();
      assert_int_equal(nulldriver_live(NULLDRIVER_PIPELINE_CACHE), 1);
      compile(0, 4);
      close_here();
      assert_true(nulldriver_fail(functions[i], 0, VK_SUCCESS));
      assert_true(saved() == 2 || saved() == 4);
      assert_int_equal(unlink(only_file()), 0);
    }
  }
}

/* ---- When is written -----------------------------------------------------------------------------------------------
 */

static void saving_takes_a_part_of_compiling(void **state) {
  (void)state;
  /* A save takes as long as it takes to compile one pipeline. */
  atomic_store(&step, 1000);
  open_here();
  compile(0, 1);
  assert_int_equal(saved(), 1);
  compile(1, LEATI_COMPILE_PER_SAVE - 1);
  assert_int_equal(saved(), 1);
  compile(LEATI_COMPILE_PER_SAVE, 1);
  assert_int_equal(saved(), LEATI_COMPILE_PER_SAVE + 1);
  compile(LEATI_COMPILE_PER_SAVE + 1, 3);
  assert_int_equal(saved(), LEATI_COMPILE_PER_SAVE + 1);
  close_here();
  assert_int_equal(saved(), LEATI_COMPILE_PER_SAVE + 4);
}

static void known_pipelines_are_not_written_again(void **state) {
  (void)state;
  (void)live(0, 20);
  attempts = 0;
  atomic_store(&step, 1000);
  const uint64_t merges = nulldriver_calls("vkMergePipelineCaches");
  assert_int_equal(live(0, 20), 20);
  assert_int_equal(attempts, 0);
  assert_int_equal(nulldriver_calls("vkMergePipelineCaches"), merges);
}

static void one_thread_at_a_time_saves(void **state) {
  (void)state;
  atomic_store(&step, 1000);
  open_here();
  assert_true(nulldriver_hold("vkDestroyPipelineCache"));
  pthread_t saver;
  share one = {.first = 0, .end = 1};
  start_thread(&saver, compile_share, &one);
  nulldriver_wait_held();
  /* Others compile meanwhile, and do not wait to save. */
  const uint64_t begun = atomic_load(&now);
  compile(1, 50);
  assert_int_equal(nulldriver_calls("vkMergePipelineCaches"), 1);
  atomic_store(&now, begun);
  nulldriver_release();
  join_thread(saver);
  /* The saver, whose save took no longer than to compile one, sees what they left. */
  assert_int_equal(saved(), 51);
  close_here();
}

static void processes_add_to_each_others_pipelines(void **state) {
  (void)state;
  open_here();
  compile(0, 3);
  end_process(begin_process(2, 4, "close"));
  assert_int_equal(saved(), 4);
  close_here();
  assert_int_equal(saved(), 6);
  assert_int_equal(live(0, 6), 6);
  /* What another one has saved is not written again. */
  struct stat theirs, after;
  open_here();
  compile(6, 2);
  end_process(begin_process(6, 2, "close"));
  assert_int_equal(stat(only_file(), &theirs), 0);
  close_here();
  assert_int_equal(stat(only_file(), &after), 0);
  assert_int_equal(after.st_ino, theirs.st_ino);
  assert_int_equal(saved(), 8);
}

static void processes_and_threads_write_at_once(void **state) {
  (void)state;
  const pid_t first = begin_process(0, 100, "close"), second = begin_process(50, 100, "close");
  end_process(first);
  end_process(second);
  /* One may have read before and written after the other. */
  const uint32_t kept = saved();
  assert_true(kept >= 100 && kept <= 150);
  assert_int_equal(live(0, 150), kept);
  assert_int_equal(saved(), 150);
}

static void threads_save_what_they_compile(void **state) {
  (void)state;
  real_clock = true;
  open_here();
  compile_beside(0, 200);
  close_here();
  assert_int_equal(saved(), 200);
  assert_int_equal(live(0, 200), 200);
}

static void a_process_that_exits_leaves_what_it_saved(void **state) {
  (void)state;
  end_process(begin_process(0, 1, "exit"));
  assert_int_equal(saved(), 1);
}

static void a_process_that_exits_beside_saving_threads_leaves_a_whole_file(void **state) {
  (void)state;
  char path[256];
  for (uint32_t round = 0; round < 5; ++round) {
    end_process(begin_process(0, 1000, "beside"));
    assert_int_equal(files(path, NULL), 1);
    const uint32_t kept = saved_in(path);
    assert_true(kept > 0);
    assert_int_equal(live(0, 1000), kept);
    assert_int_equal(saved_in(path), 1000);
    assert_int_equal(unlink(path), 0);
  }
}

static void a_child_of_fork_writes_nothing(void **state) {
  (void)state;
  (void)live(0, 1);
  open_here();
  compile(0, 2);
  assert_int_equal(unlink(only_file()), 0);
  const pid_t child = fork();
  if (child == 0) {
    _exit(h.api->device->close(h.device, NULL) == LEAT_ERROR_FORKED && attempts == 1 ? 0 : 1);
  }
  end_process(child);
  assert_no_files();
  close_here();
}

/* ---- How many files are kept ---------------------------------------------------------------------------------------
 */

static void make_file(const char *name, time_t age_s) {
  char path[256];
  path_in(path, sizeof(path), name);
  const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const struct timespec then = {.tv_sec = time(NULL) - age_s};
  const struct timespec times[2] = {then, then};
  assert_true(fd >= 0);
  assert_int_equal(futimens(fd, times), 0);
  assert_int_equal(close(fd), 0);
}

static bool is_there(const char *name) {
  char path[256];
  path_in(path, sizeof(path), name);
  return access(path, F_OK) == 0;
}

static void the_files_that_were_used_last_are_kept(void **state) {
  (void)state;
  static const char *const others[] = {"pipelines-00000000000000000.bin",
                                       "pipelines-000000000000000.bin",
                                       "pipelines-000000000000000g.bin",
                                       "pipelines-0000000000000000.bim",
                                       "pipelines-0000000000000000.bin-123456",
                                       "pipelines-0000000000000000.bin.by-hand",
                                       "notes"};
  enum { OTHERS = sizeof(others) / sizeof(others[0]) };
  char name[64], path[256];
  assert_int_equal(mkdir(folder, 0700), 0);
  for (uint32_t i = 0; i < LEATI_CACHE_FILES_KEPT - 1; ++i) {
    (void)snprintf(name, sizeof(name), "pipelines-%016x.bin", 100 - i);
    make_file(name, 1000 + (time_t)i);
  }
  for (uint32_t i = 0; i < OTHERS; ++i) {
    make_file(others[i], 1000000);
  }
  /* One more has room, the next takes the place of the oldest. */
  make_file("pipelines-0000000000000000.bin.abcdef", 4000);
  make_file("pipelines-0000000000000000.bin.uvwxyz", 3000);
  (void)live(0, 1);
  assert_true(is_there(name));
  assert_false(is_there("pipelines-0000000000000000.bin.abcdef"));
  assert_true(is_there("pipelines-0000000000000000.bin.uvwxyz"));
  nulldriver_shape other = nulldriver_get_shape();
  ++other.device;
  nulldriver_set_shape(&other);
  (void)live(0, 1);
  assert_false(is_there(name));
  (void)snprintf(name, sizeof(name), "pipelines-%016x.bin", 100 - (LEATI_CACHE_FILES_KEPT - 3));
  assert_true(is_there(name));
  for (uint32_t i = 0; i < OTHERS; ++i) {
    assert_true(is_there(others[i]));
  }
  assert_true(files(path, NULL) >= LEATI_CACHE_FILES_KEPT);
}

static void reading_counts_as_use(void **state) {
  (void)state;
  struct stat about;
  (void)live(0, 1);
  const char *const path = only_file();
  const struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
  assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
  assert_int_equal(live(0, 0), 0);
  assert_int_equal(stat(path, &about), 0);
  assert_true(about.st_mtim.tv_sec > 1000);
}

/* FOLDER FIRST COUNT HOW: a process of its own. */
static int run_process(char **arguments) {
  (void)snprintf(folder, sizeof(folder), "%s", arguments[1]);
  real_clock = true;
  const uint32_t first = (uint32_t)atoi(arguments[2]), count_ = (uint32_t)atoi(arguments[3]);
  pthread_t threads[THREADS];
  char path[256];
  open_here();
  if (strcmp(arguments[4], "beside") == 0) {
    start_threads(threads, first, count_);
    for (uint32_t i = 0; i < THREADS; ++i) {
      (void)pthread_detach(threads[i]);
    }
    while (files(path, NULL) == 0) {
      leati_yield();
    }
  } else {
    compile_beside(first, count_);
  }
  if (strcmp(arguments[4], "close") == 0) {
    close_here();
  }
  return host_report_violations() == 0 ? 0 : 1;
}

int main(int argc, char **argv) {
  if (argc == 5) {
    return run_process(argv);
  }
  const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, folder_before, folder_after)
      CASE(a_second_start_compiles_nothing),
      CASE(opening_alone_writes_nothing),
      CASE(the_folder_and_the_one_above_are_made),
      CASE(nothing_is_no_folder),
      CASE(another_device_or_driver_has_another_file),
      CASE(damage_is_noticed_wherever_it_is),
      CASE(what_is_for_others_is_not_read),
      CASE(vulkans_own_header_is_looked_at),
      CASE(links_pipes_and_folders_are_not_read),
      CASE(files_that_others_may_write_are_not_read),
      CASE(files_of_others_are_not_read),
      CASE(a_file_without_data_holds_nothing),
      CASE(a_huge_file_is_not_read),
      CASE(a_failed_write_loses_the_write_alone),
      CASE(writes_in_pieces_are_whole),
      CASE(a_limit_of_the_process_is_kept),
      CASE(after_a_failure_no_write_is_tried),
      CASE(the_driver_may_fail),
      CASE(saving_takes_a_part_of_compiling),
      CASE(known_pipelines_are_not_written_again),
      CASE(one_thread_at_a_time_saves),
      CASE(processes_add_to_each_others_pipelines),
      CASE(processes_and_threads_write_at_once),
      CASE(threads_save_what_they_compile),
      CASE(a_process_that_exits_leaves_what_it_saved),
      CASE(a_process_that_exits_beside_saving_threads_leaves_a_whole_file),
      CASE(a_child_of_fork_writes_nothing),
      CASE(the_files_that_were_used_last_are_kept),
      CASE(reading_counts_as_use),
#undef CASE
  };
  return cmocka_run_group_tests_name("nulldriver.pipeline_cache", tests, NULL, NULL);
}
