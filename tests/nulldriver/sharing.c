/* SPDX-License-Identifier: BSD-3-Clause */
#include "nulldriver/sharing.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void *map(int fd, size_t size) {
  void *const bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return bytes == MAP_FAILED ? NULL : bytes;
}

void *nd_shared_create(size_t size, int *out_fd) {
  *out_fd = memfd_create("nulldriver", MFD_CLOEXEC);
  void *const bytes = *out_fd < 0 || ftruncate(*out_fd, (off_t)size) != 0 ? NULL : map(*out_fd, size);
  if (bytes == NULL && *out_fd >= 0) {
    (void)close(*out_fd);
    *out_fd = -1;
  }
  return bytes;
}

void *nd_shared_open(int fd, size_t size) {
  struct stat is;
  return fstat(fd, &is) == 0 && S_ISREG(is.st_mode) && (size_t)is.st_size == size ? map(fd, size) : NULL;
}

void nd_shared_close(void *bytes, size_t size) {
  (void)munmap(bytes, size);
}
