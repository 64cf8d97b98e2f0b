/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * A library for LD_PRELOAD that makes one call of the C library fail, where a library of Leat's makes it:
 *
 *     HOST_FAULT=alloc@HASH=null   the first allocation from the place with this hash
 *     HOST_FAULT=write:2=ENOSPC    the plugin's second call of write()
 *     HOST_FAULT=write:2=short     the second call of write() or read() takes half of the bytes
 *     HOST_FAULT=write:2=kept      as ENOSPC, and from then on unlink() removes nothing and says that it did (a canary)
 *
 * A place is where the functions of Leat's libraries that are called just now are: the same allocation by way of other
 * callers is another place. `wild` in place of `null` gives memory that nobody may touch, and `leak`
 * allocates a block beside it that nobody frees; those are what the canaries are for.
 *
 * faults_teardown() notes what Leat's libraries have allocated, by the functions above, and nobody has freed.
 *
 * When the process ends, it writes to the file that HOST_COUNTS names a line `FUNCTION NUMBER` for each function, a
 * line `alloc@HASH NUMBER LIBRARY+OFFSET` for each place, a line `left@HASH NUMBER LIBRARY+OFFSET` for each of which
 * faults_teardown() found blocks, and `came 1` if the fault came.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <leat/backend.h>
#include <link.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* The C library's own, by names that need no look-up: looking one up allocates. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *memory);

#define FILE_FUNCTIONS(X) X(open) X(read) X(write) X(close) X(rename) X(mkdir) X(mkostemp) X(fstat) X(opendir)

typedef enum function {
#define NUMBER(name) FN_##name,
  FILE_FUNCTIONS(NUMBER) FN_COUNT
#undef NUMBER
} function;

static const char *const names[FN_COUNT] = {
#define NAME(name) #name,
    FILE_FUNCTIONS(NAME)
#undef NAME
};

static const struct {
  const char *name;
  int number;
} errors[] = {{"ENOSPC", ENOSPC}, {"EACCES", EACCES}, {"EIO", EIO},       {"EDQUOT", EDQUOT},
              {"EROFS", EROFS},   {"EMFILE", EMFILE}, {"EAGAIN", EAGAIN}, {"EINTR", EINTR}};
#define ERROR_COUNT (sizeof(errors) / sizeof(errors[0]))

/* What HOST_FAULT says, set before main(). */
static function faulty = FN_COUNT;
static unsigned long faulty_number;
static int faulty_error;
static bool faulty_short, faulty_kept;
static uint64_t faulty_place;
static bool faulty_wild, faulty_leak;

static atomic_ulong counts[FN_COUNT];
static atomic_bool came;

/* Places, by their hashes; the number of calls of each, and where the innermost one but Leat's allocator is. */
#define PLACES 16384u
static struct {
  _Atomic uint64_t hash;
  atomic_ulong count;
  unsigned long left; /* blocks that faults_teardown() found */
  char caller[96];
} places[PLACES];
#define NO_PLACE PLACES

/* Blocks that Leat's libraries have allocated, each in a slot of the set that its address belongs to. */
#define SETS 16384u
#define SLOTS 16u
static struct {
  _Atomic(void *) block;
  unsigned place;
} blocks[SETS][SLOTS];
static atomic_bool overflowed;

/* A thread that is in here already: what it allocates is not Leat's. */
static _Thread_local bool inside;

/* The name of the library of ours that has an address, or NULL; `*out_base`: where it begins. */
static const char *library_of(void *address, uintptr_t *out_base) {
  struct dl_find_object found;
  if (_dl_find_object(address, &found) != 0) {
    return NULL;
  }
  const char *const path = found.dlfo_link_map->l_name;
  const char *const slash = strrchr(path, '/');
  *out_base = found.dlfo_link_map->l_addr;
  return slash != NULL && strncmp(slash, "/libleat_", 9) == 0 && strncmp(slash, "/libleat_faults", 15) != 0 ? slash + 1
                                                                                                            : NULL;
}

static bool is_ours(void *caller) {
  uintptr_t base;
  return !inside && library_of(caller, &base) != NULL;
}

/* The plugin: the provider reads no file but the plugin itself. */
static bool is_plugin(void *caller) {
  uintptr_t base;
  const char *const library = inside ? NULL : library_of(caller, &base);
  return library != NULL && strcmp(library, "libleat_vulkan.so") == 0;
}

/* ---- Allocations ---- */

#define FRAMES 24

/* The place of a call, which is counted; `*out_hash`: its hash. */
static unsigned place_of_this(uint64_t *out_hash) {
  void *frames[FRAMES];
  const int depth = backtrace(frames, FRAMES);
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  char caller[sizeof(places[0].caller)] = "";
  unsigned ours = 0;
  for (int i = 0; i < depth; ++i) {
    uintptr_t base;
    const char *const library = library_of(frames[i], &base);
    if (library == NULL) {
      continue;
    }
    const uintptr_t offset = (uintptr_t)frames[i] - base;
    hash = (hash ^ offset ^ (uint64_t)library[8] << 56) * UINT64_C(0x100000001b3);
    if (++ours <= 2) {
      (void)snprintf(caller, sizeof(caller), "%s+%#zx", library, (size_t)offset - 1);
    }
  }
  for (uint64_t at = hash, tries = 0; tries < PLACES; ++at, ++tries) {
    uint64_t there = atomic_load(&places[at % PLACES].hash);
    if (there == 0 && atomic_compare_exchange_strong(&places[at % PLACES].hash, &there, hash)) {
      memcpy(places[at % PLACES].caller, caller, sizeof(caller));
      there = hash;
    }
    if (there == hash) {
      atomic_fetch_add(&places[at % PLACES].count, 1);
      *out_hash = hash;
      return (unsigned)(at % PLACES);
    }
  }
  (void)fputs("tests/faults/host.c: there are more places than PLACES\n", stderr);
  abort();
}

static unsigned set_of(const void *block) {
  return (unsigned)((uintptr_t)block >> 4 ^ (uintptr_t)block >> 18) % SETS;
}

/* Notes a block of a place, and returns it. */
static void *note(void *block, unsigned place) {
  bool noted = block == NULL || place == NO_PLACE;
  for (unsigned i = 0; !noted && i < SLOTS; ++i) {
    void *none = NULL;
    noted = atomic_compare_exchange_strong(&blocks[set_of(block)][i].block, &none, block);
    if (noted) {
      blocks[set_of(block)][i].place = place;
    }
  }
  if (!noted) {
    atomic_store(&overflowed, true);
  }
  return block;
}

/* Forgets a block that is freed: its place, or NO_PLACE, where it is not Leat's. */
static unsigned forget(void *block) {
  for (unsigned i = 0; block != NULL && i < SLOTS; ++i) {
    if (atomic_load_explicit(&blocks[set_of(block)][i].block, memory_order_relaxed) == block) {
      const unsigned place = blocks[set_of(block)][i].place;
      atomic_store(&blocks[set_of(block)][i].block, NULL);
      return place;
    }
  }
  return NO_PLACE;
}

/* Whether an allocation is the one that fails; `*out`: what it returns then. `*out_place`: where it is, or NO_PLACE. */
static bool fails_here(void *caller, void **out, unsigned *out_place) {
  *out_place = NO_PLACE;
  if (!is_ours(caller)) {
    return false;
  }
  inside = true;
  uint64_t hash;
  *out_place = place_of_this(&hash);
  const bool faulty_here = hash == faulty_place && !atomic_exchange(&came, true);
  const bool fails = faulty_here && !faulty_leak;
  if (fails) {
    *out = faulty_wild ? mmap(NULL, (size_t)1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : NULL;
    errno = ENOMEM;
  } else if (faulty_here) {
    /* A block beside the one that is asked for: it is Leat's, and nobody frees it. */
    (void)note(__libc_malloc(1), *out_place);
  }
  inside = false;
  return fails;
}

#define CALLER __builtin_return_address(0)

EXPORT void *malloc(size_t size) {
  void *given;
  unsigned place;
  return fails_here(CALLER, &given, &place) ? given : note(__libc_malloc(size), place);
}

EXPORT void *calloc(size_t count, size_t size) {
  void *given;
  unsigned place;
  return fails_here(CALLER, &given, &place) ? given : note(__libc_calloc(count, size), place);
}

EXPORT void *realloc(void *memory, size_t size) {
  void *given;
  unsigned place;
  if (fails_here(CALLER, &given, &place)) {
    return given;
  }
  const unsigned before = forget(memory);
  given = __libc_realloc(memory, size);
  if (given == NULL && size != 0) {
    (void)note(memory, before);
  }
  return note(given, place != NO_PLACE ? place : before);
}

EXPORT void *aligned_alloc(size_t alignment, size_t size) {
  void *given;
  unsigned place;
  return fails_here(CALLER, &given, &place) ? given : note(__libc_memalign(alignment, size), place);
}

EXPORT char *strdup(const char *text) {
  void *given;
  unsigned place;
  const size_t size = strlen(text) + 1;
  given = fails_here(CALLER, &given, &place) ? given : note(__libc_malloc(size), place);
  return given != NULL ? memcpy(given, text, size) : NULL;
}

EXPORT int asprintf(char **out, const char *format, ...) {
  void *given;
  unsigned place;
  if (fails_here(CALLER, &given, &place)) {
    *out = NULL;
    return -1;
  }
  va_list arguments;
  va_start(arguments, format);
  const int length = vasprintf(out, format, arguments);
  va_end(arguments);
  if (length >= 0) {
    (void)note(*out, place);
  }
  return length;
}

EXPORT void free(void *memory) {
  (void)forget(memory);
  __libc_free(memory);
}

/** Lets the plugin forget what it holds while no device is open, and notes which blocks Leat's libraries still have.
 * No other thread may be in them.
 * @param plugin the path that it was loaded from
 * @return the status of its shutdown(), or -1 where it is not loaded */
EXPORT int faults_teardown(const char *plugin);

EXPORT int faults_teardown(const char *plugin) {
  void *const library = dlopen(plugin, RTLD_NOW | RTLD_NOLOAD);
  void *const symbol = library != NULL ? dlsym(library, LEAT_BACKEND_QUERY_SYMBOL) : NULL;
  leat_backend_query_fn query;
  if (symbol == NULL) {
    return -1;
  }
  memcpy(&query, &symbol, sizeof(query));
  const leat_host_info host = {.struct_size = sizeof(host),
                               .abi_min = LEAT_ABI_CURRENT,
                               .abi_max = LEAT_ABI_CURRENT,
                               .header_version = LEAT_ABI_CURRENT,
                               .name = "tests/faults"};
  const leat_backend_api *backend;
  int status = query(&host, &backend, NULL);
  status = status == LEAT_OK ? backend->shutdown(NULL) : status;
  for (unsigned i = 0; i < SETS * SLOTS; ++i) {
    if (atomic_load(&blocks[i / SLOTS][i % SLOTS].block) != NULL) {
      ++places[blocks[i / SLOTS][i % SLOTS].place].left;
    }
  }
  return status;
}

/* ---- Files ---- */

/* Whether a call is the one that fails; errno is set then. `inout_size`: bytes asked for, or NULL. */
static bool fails(function which, void *caller, size_t *inout_size) {
  if (!is_plugin(caller) || atomic_fetch_add(&counts[which], 1) + 1 != faulty_number || which != faulty) {
    return false;
  }
  atomic_store(&came, true);
  if (faulty_short) {
    *inout_size = (*inout_size + 1) / 2;
    return false;
  }
  errno = faulty_error;
  return true;
}

/* `next`: the C library's function of a name. */
#define NEXT(name)                               \
  static _Atomic(__typeof__(&(name))) kept;      \
  __typeof__(&(name)) next = atomic_load(&kept); \
  if (next == NULL) {                            \
    void *const found = dlsym(RTLD_NEXT, #name); \
    memcpy(&next, &found, sizeof(next));         \
    atomic_store(&kept, next);                   \
  }

EXPORT int open(const char *path, int flags, ...) {
  NEXT(open)
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return fails(FN_open, CALLER, NULL) ? -1 : next(path, flags, mode);
}

EXPORT ssize_t read(int fd, void *to, size_t size) {
  NEXT(read)
  return fails(FN_read, CALLER, &size) ? -1 : next(fd, to, size);
}

EXPORT ssize_t write(int fd, const void *from, size_t size) {
  NEXT(write)
  return fails(FN_write, CALLER, &size) ? -1 : next(fd, from, size);
}

/* Closes the file all the same, as Linux does. */
EXPORT int close(int fd) {
  NEXT(close)
  const bool fault = fails(FN_close, CALLER, NULL);
  const int closed = next(fd);
  if (fault) {
    errno = faulty_error;
  }
  return fault ? -1 : closed;
}

EXPORT int rename(const char *from, const char *to) {
  NEXT(rename)
  return fails(FN_rename, CALLER, NULL) ? -1 : next(from, to);
}

EXPORT int mkdir(const char *path, mode_t mode) {
  NEXT(mkdir)
  return fails(FN_mkdir, CALLER, NULL) ? -1 : next(path, mode);
}

EXPORT int mkostemp(char *path, int flags) {
  NEXT(mkostemp)
  return fails(FN_mkostemp, CALLER, NULL) ? -1 : next(path, flags);
}

EXPORT int fstat(int fd, struct stat *out) {
  NEXT(fstat)
  return fails(FN_fstat, CALLER, NULL) ? -1 : next(fd, out);
}

EXPORT DIR *opendir(const char *path) {
  NEXT(opendir)
  return fails(FN_opendir, CALLER, NULL) ? NULL : next(path);
}

EXPORT int unlink(const char *path) {
  NEXT(unlink)
  return faulty_kept && atomic_load(&came) && is_plugin(CALLER) ? 0 : next(path);
}

/* ---- Begin and end ---- */

static void understand(const char *text) {
  char name[32], result[16], rest;
  if (sscanf(text, "alloc@%lx=%15[a-z]%c", &faulty_place, result, &rest) == 2 &&
      (strcmp(result, "null") == 0 || strcmp(result, "wild") == 0 || strcmp(result, "leak") == 0)) {
    faulty_wild = strcmp(result, "wild") == 0;
    faulty_leak = strcmp(result, "leak") == 0;
    return;
  }
  if (sscanf(text, "%31[a-z_]:%lu=%15[A-Za-z]%c", name, &faulty_number, result, &rest) == 3) {
    for (unsigned i = 0; i < FN_COUNT; ++i) {
      faulty = strcmp(names[i], name) == 0 ? (function)i : faulty;
    }
    for (size_t i = 0; i < ERROR_COUNT; ++i) {
      faulty_error = strcmp(errors[i].name, result) == 0 ? errors[i].number : faulty_error;
    }
    faulty_short = strcmp(result, "short") == 0;
    faulty_kept = strcmp(result, "kept") == 0;
    faulty_error = faulty_kept ? ENOSPC : faulty_error;
  }
  if (faulty == FN_COUNT || (faulty_short ? faulty != FN_read && faulty != FN_write : faulty_error == 0)) {
    (void)fprintf(stderr, "HOST_FAULT: '%s' is nothing that tests/faults/host.c knows\n", text);
    abort();
  }
}

__attribute__((constructor)) static void begin(void) {
  const char *const text = getenv("HOST_FAULT");
  void *frame[1];
  /* Its first call allocates. */
  (void)backtrace(frame, 1);
  if (text != NULL) {
    understand(text);
  }
}

__attribute__((destructor)) static void end(void) {
  const char *const path = getenv("HOST_COUNTS");
  inside = true;
  FILE *const file = path != NULL ? fopen(path, "w") : NULL;
  if (file == NULL) {
    return;
  }
  for (unsigned i = 0; i < FN_COUNT; ++i) {
    (void)fprintf(file, "%s %lu\n", names[i], atomic_load(&counts[i]));
  }
  for (unsigned i = 0; i < PLACES; ++i) {
    if (atomic_load(&places[i].hash) != 0) {
      const unsigned long hash = atomic_load(&places[i].hash);
      (void)fprintf(file, "alloc@%lx %lu %s\n", hash, atomic_load(&places[i].count), places[i].caller);
      if (places[i].left != 0) {
        (void)fprintf(file, "left@%lx %lu %s\n", hash, places[i].left, places[i].caller);
      }
    }
  }
  (void)fprintf(file, "came %d\noverflowed %d\n", atomic_load(&came), atomic_load(&overflowed));
  (void)fclose(file);
}
