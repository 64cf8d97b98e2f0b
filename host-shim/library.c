/* SPDX-License-Identifier: BSD-3-Clause */
#include "library.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "common/error.h"

/* Says whether a library of this machine's kind has been cut off. The dynamic loader does not check: it maps what the
 * file claims to hold, and dies of SIGBUS where the file has ended. A file of another kind is left for it to refuse.
 * Nothing that the provider may link reads ELF headers (libelf comes under the LGPL), so these lines do. */
static bool is_cut_off(int file, off_t size) {
  ElfW(Ehdr) head;
  if (pread(file, &head, sizeof(head), 0) != (ssize_t)sizeof(head)) {
    return true;
  }
  const unsigned char native = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
  if (head.e_ident[EI_CLASS] != native || head.e_phentsize != sizeof(ElfW(Phdr))) {
    return false;
  }
  for (unsigned i = 0; i < head.e_phnum; ++i) {
    ElfW(Phdr) part;
    const uint64_t offset = (uint64_t)head.e_phoff + i * sizeof(part);
    if (offset > (uint64_t)size || pread(file, &part, sizeof(part), (off_t)offset) != (ssize_t)sizeof(part)) {
      return true;
    }
    const uint64_t whole = (uint64_t)size;
    if (part.p_type == PT_LOAD && (part.p_offset > whole || part.p_filesz > whole - part.p_offset)) {
      return true;
    }
  }
  return false;
}

int32_t leati_library_check(const char *path, const char *name, struct stat *out_info, leat_error *err) {
  if (stat(path, out_info)) {
    return leati_error_set(err, LEAT_ERROR_UNAVAILABLE, errno, "%s: %s; give the path of %s", path, strerror(errno),
                           name);
  }
  if (S_ISDIR(out_info->st_mode)) {
    return leati_error_set(err, LEAT_ERROR_UNAVAILABLE, EISDIR,
                           "%s: is a folder; give the path of the library in it, such as %s/%s", path, path, name);
  }
  if (!S_ISREG(out_info->st_mode)) {
    return leati_error_set(err, LEAT_ERROR_UNAVAILABLE, 0, "%s: is not a regular file, so it is no shared library",
                           path);
  }
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return leati_error_set(err, LEAT_ERROR_UNAVAILABLE, errno, "%s: %s", path, strerror(errno));
  }
  unsigned char magic[SELFMAG] = {0};
  const bool is_elf = pread(file, magic, SELFMAG, 0) == SELFMAG && memcmp(magic, ELFMAG, SELFMAG) == 0;
  const bool truncated = is_elf && is_cut_off(file, out_info->st_size);
  close(file);
  if (!is_elf) {
    return leati_error_set(err, LEAT_ERROR_UNAVAILABLE, 0, "%s: is not a shared library (it is %s)", path,
                           out_info->st_size == 0 ? "an empty file" : "no ELF file");
  }
  if (truncated) {
    return leati_error_set(
        err, LEAT_ERROR_UNAVAILABLE, 0,
        "%s: is cut off: its headers tell of more than the %lld bytes there are; copy or build it again", path,
        (long long)out_info->st_size);
  }
  return LEAT_OK;
}
