/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/cache_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/config.h"
#include "core/sync.h"
#include "policy/constants.h"

/* The names of our files: PREFIX, the key's hash, SUFFIX; and of those that are being written: mkostemp()'s six
 * characters behind that. */
#define PREFIX "pipelines-"
#define DIGITS 16u
#define SUFFIX ".bin"
#define UNFINISHED ".XXXXXX"
#define NAME_LENGTH (sizeof(PREFIX) - 1 + DIGITS + sizeof(SUFFIX) - 1)
#define UNFINISHED_LENGTH (NAME_LENGTH + sizeof(UNFINISHED) - 1)

/* Bytes of a file at most. */
#define FILE_MAX ((size_t)256 << 20)
/* Seconds after which an unfinished file is one whose writer was killed. */
#define UNFINISHED_S 3600
/* Others may not even know what we compile. */
#define FOLDER_MODE 0700
#define WRITABLE_BY_OTHERS (S_IWGRP | S_IWOTH)

/* How a file begins. The key follows, and then the data. Numbers are in the processor's byte order: in another one the
 * format is another number. */
typedef struct header {
  char magic[8];
  uint32_t format;
  uint32_t key_size;  /* bytes */
  uint64_t data_size; /* bytes */
  uint64_t checksum;  /* of the members above, the key and the data */
} header;
_Static_assert(sizeof(header) == 32, "a file has no bytes that no checksum covers");

static const char magic[8] = {'l', 'e', 'a', 't', 'p', 'i', 'p', 'e'};
#define FORMAT 1u

/* FNV-1a with 64 bits, begun with FNV_BASIS. No change within one byte leaves it as it was, and any other one does so
 * by an accident in 2^64. */
#define FNV_BASIS UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(0x100000001b3)

static uint64_t hash_on(uint64_t hash, const void *bytes, size_t size) {
  const unsigned char *const at = bytes;
  for (size_t i = 0; i < size; ++i) {
    hash = (hash ^ at[i]) * FNV_PRIME;
  }
  return hash;
}

static uint64_t checksum_of(const header *head, const void *key, const void *data) {
  const uint64_t hash = hash_on(hash_on(FNV_BASIS, head, offsetof(header, checksum)), key, head->key_size);
  return hash_on(hash, data, head->data_size);
}

/* Paths of a file and of what becomes it. */
typedef struct paths {
  char name[LEATI_PATH_MAX + 1 + NAME_LENGTH + 1];
  char unfinished[LEATI_PATH_MAX + 1 + UNFINISHED_LENGTH + 1];
} paths;

static paths paths_of(const leati_cache_file *file) {
  paths p;
  (void)snprintf(p.name, sizeof(p.name), "%s/" PREFIX "%016" PRIx64 SUFFIX, file->folder,
                 hash_on(FNV_BASIS, file->key, file->key_size));
  (void)snprintf(p.unfinished, sizeof(p.unfinished), "%s" UNFINISHED, p.name);
  return p;
}

/* ---- Reading -------------------------------------------------------------------------------------------------------
 */

/* Why a file that was opened is not to be read, or NULL. */
static const char *refuse_kind(const struct stat *found, size_t least) {
  if (!S_ISREG(found->st_mode)) {
    return "it is no regular file";
  }
  if (found->st_uid != geteuid()) {
    return "it is another user's";
  }
  if ((found->st_mode & WRITABLE_BY_OTHERS) != 0) {
    return "others may write it";
  }
  if ((uint64_t)found->st_size <= least) {
    return "it is too short";
  }
  return (uint64_t)found->st_size > FILE_MAX ? "it is too long" : NULL;
}

/* Why the `size` bytes of a file, which are more than header and key, are not what was written for the key, or NULL. */
static const char *refuse_content(const leati_cache_file *file, const unsigned char *bytes, size_t size) {
  header head;
  memcpy(&head, bytes, sizeof(head));
  const unsigned char *const key = bytes + sizeof(head), *const data = key + file->key_size;
  if (memcmp(head.magic, magic, sizeof(head.magic)) != 0 || head.format != FORMAT) {
    return "it has another format";
  }
  if (head.key_size != file->key_size || memcmp(key, file->key, file->key_size) != 0) {
    return "it is another device's, driver's or build's";
  }
  if (head.data_size != size - sizeof(head) - file->key_size) {
    return "it has another length than it says";
  }
  return head.checksum != checksum_of(&head, key, data) ? "it is damaged" : NULL;
}

/* Reads `size` bytes; false: there are fewer, or errno says why not. */
static bool read_all(int fd, unsigned char *to, size_t size) {
  while (size > 0) {
    const ssize_t count = read(fd, to, size);
    if (count > 0) {
      to += count;
      size -= (size_t)count;
    } else if (count == 0 || errno != EINTR) {
      return false;
    }
  }
  return true;
}

/* Reads what has been opened, into `out`; why not, or NULL. */
static const char *read_opened(const leati_cache_file *file, int fd, leati_cache_content *out) {
  const size_t before = sizeof(header) + file->key_size;
  struct stat found;
  if (fstat(fd, &found) != 0) {
    return strerror(errno);
  }
  const char *refused = refuse_kind(&found, before);
  if (refused != NULL) {
    return refused;
  }
  const size_t size = (size_t)found.st_size;
  unsigned char *const bytes = leati_calloc(1, size);
  out->memory = bytes;
  if (bytes == NULL) {
    return "there is no host memory for it";
  }
  refused = read_all(fd, bytes, size) ? refuse_content(file, bytes, size) : "it cannot be read whole";
  if (refused == NULL) {
    out->data = bytes + before;
    out->size = size - before;
  }
  return refused;
}

leati_cache_content leati_cache_file_read(const leati_cache_file *file) {
  leati_cache_content content = {.size = 0};
  const paths p = paths_of(file);
  /* Without waiting for whoever might write to a pipe of that name. */
  const int fd = open(p.name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) {
    if (errno != ENOENT) {
      leati_log(LEATI_LOG_INFO, "%s is not used: %s", p.name, strerror(errno));
    }
    return content;
  }
  const char *const refused = read_opened(file, fd, &content);
  if (refused != NULL) {
    leati_log(LEATI_LOG_INFO, "%s is not used: %s", p.name, refused);
  } else {
    /* What was used last is kept. On a disk that cannot be written nothing is thrown away either. */
    (void)futimens(fd, NULL);
    leati_log(LEATI_LOG_DEBUG, "%s is read: %zu bytes", p.name, content.size);
  }
  (void)close(fd);
  return content;
}

/* ---- Writing -------------------------------------------------------------------------------------------------------
 */

static bool make_one_folder(const char *path) {
  return mkdir(path, FOLDER_MODE) == 0 || errno == EEXIST;
}

/* Makes a folder, and the one above it if that is missing; those above are not ours to make. */
static bool make_folder(const char *path) {
  char above[LEATI_PATH_MAX + 1];
  (void)snprintf(above, sizeof(above), "%.*s", (int)(strrchr(path, '/') - path), path);
  return make_one_folder(path) || (errno == ENOENT && make_one_folder(above) && make_one_folder(path));
}

/* Opens a new file of a name that nobody has; below 0: errno says why not. */
static int make_unfinished(const leati_cache_file *file, paths *p) {
  if (!make_folder(file->folder)) {
    return -1;
  }
  return mkostemp(p->unfinished, O_CLOEXEC);
}

static bool write_all(int fd, const void *bytes, size_t size) {
  const unsigned char *from = bytes;
  while (size > 0) {
    const ssize_t count = write(fd, from, size);
    if (count > 0) {
      from += count;
      size -= (size_t)count;
    } else if (count == 0 || errno != EINTR) {
      return false;
    }
  }
  return true;
}

/* Whether this process may write files of a size. Beyond that, writing ends the process by a signal. */
static bool is_allowed(size_t size) {
  struct rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && (limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur);
}

/* A file of ours in its folder. */
typedef struct entry {
  char name[NAME_LENGTH + 1];
  struct timespec used;
} entry;

static bool is_ours(const char *name) {
  const size_t length = strlen(name);
  return (length == NAME_LENGTH || length == UNFINISHED_LENGTH) && strncmp(name, PREFIX, sizeof(PREFIX) - 1) == 0 &&
         strspn(name + sizeof(PREFIX) - 1, "0123456789abcdef") == DIGITS &&
         strncmp(name + NAME_LENGTH - (sizeof(SUFFIX) - 1), SUFFIX, sizeof(SUFFIX) - 1) == 0 &&
         (length == NAME_LENGTH || name[NAME_LENGTH] == '.');
}

static bool is_earlier(const struct timespec *a, const struct timespec *b) {
  return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/* Deletes what writers left that were killed and, where there are more files than are kept, the one that was used the
 * longest time ago: every file that comes may take one away. */
static void tidy(const char *folder) {
  DIR *const all = opendir(folder);
  if (all == NULL) {
    return;
  }
  entry oldest = {.name = ""};
  uint32_t count = 0;
  for (const struct dirent *at = readdir(all); at != NULL; at = readdir(all)) {
    struct stat found;
    if (!is_ours(at->d_name) || fstatat(dirfd(all), at->d_name, &found, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(found.st_mode)) {
      continue;
    }
    if (strlen(at->d_name) == UNFINISHED_LENGTH) {
      if (found.st_mtim.tv_sec < time(NULL) - UNFINISHED_S) {
        (void)unlinkat(dirfd(all), at->d_name, 0);
      }
    } else if (++count == 1 || is_earlier(&found.st_mtim, &oldest.used)) {
      memcpy(oldest.name, at->d_name, sizeof(oldest.name));
      oldest.used = found.st_mtim;
    }
  }
  if (count > LEATI_CACHE_FILES_KEPT) {
    (void)unlinkat(dirfd(all), oldest.name, 0);
  }
  (void)closedir(all);
}

bool leati_cache_file_write(const leati_cache_file *file, const void *data, size_t size) {
  paths p = paths_of(file);
  header head = {.format = FORMAT, .key_size = (uint32_t)file->key_size, .data_size = size};
  memcpy(head.magic, magic, sizeof(magic));
  head.checksum = checksum_of(&head, file->key, data);
  const size_t whole = sizeof(head) + file->key_size + size;
  if (whole > FILE_MAX || !is_allowed(whole)) {
    leati_log(LEATI_LOG_INFO, "%s is not written: its %zu bytes are more than a file may have", p.name, whole);
    return false;
  }
  const int fd = make_unfinished(file, &p);
  bool written = fd >= 0 && write_all(fd, &head, sizeof(head)) && write_all(fd, file->key, file->key_size) &&
                 write_all(fd, data, size);
  int cause = errno;
  /* A quota may be found out about as late as that. */
  if (fd >= 0 && close(fd) != 0 && written) {
    written = false;
    cause = errno;
  }
  if (written && rename(p.unfinished, p.name) != 0) {
    written = false;
    cause = errno;
  }
  if (!written) {
    if (fd >= 0) {
      (void)unlink(p.unfinished);
    }
    leati_log(LEATI_LOG_INFO, "%s is not written: %s", p.name, strerror(cause));
    return false;
  }
  leati_log(LEATI_LOG_DEBUG, "%s is written: %zu bytes", p.name, size);
  tidy(file->folder);
  return true;
}
