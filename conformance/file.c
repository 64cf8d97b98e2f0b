/* SPDX-License-Identifier: BSD-3-Clause */
#include "file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

/* Bytes that a list of cases has at most. */
#define LIST_MOST (1 << 20)

/* Sets an error that tells of errno. */
static void fail(GError **error, const char *path, const char *what) {
  g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(errno), "%s %s: %s", path, what,
              errno == ENXIO ? "it is a pipe that nobody reads from" : g_strerror(errno));
}

char **leati_file_lines(const char *path, GError **error) {
  GStatBuf info;
  char *text;
  char **lines;
  if (g_stat(path, &info) != 0) {
    fail(error, path, "cannot be read");
    return NULL;
  }
  if (!S_ISREG(info.st_mode)) {
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "%s: is not a regular file", path);
    return NULL;
  }
  if (info.st_size > LIST_MOST) {
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "%s: has more than %d bytes, so it is no list of cases", path,
                LIST_MOST);
    return NULL;
  }
  if (!g_file_get_contents(path, &text, NULL, error)) {
    return NULL;
  }
  lines = g_strsplit(text, "\n", -1);
  g_free(text);
  return lines;
}

FILE *leati_file_open(const char *path, GError **error) {
  int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NONBLOCK);
  FILE *stream = NULL;
  /* Only opening must not wait: a report of some length goes through a pipe bit by bit. */
  if (fd < 0 || fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK) != 0 || (stream = fdopen(fd, "w")) == NULL) {
    fail(error, path, "cannot be written");
  }
  if (fd >= 0 && stream == NULL) {
    close(fd);
  }
  return stream;
}

gboolean leati_file_cut_off(const char *path) {
  ElfW(Ehdr) head;
  ElfW(Phdr) part;
  const unsigned char native = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
  gboolean cut = FALSE;
  /* Mapped, because each process of a run asks, and all but a page or two of many megabytes would be read in vain. */
  GMappedFile *file = g_mapped_file_new(path, FALSE, NULL);
  if (file == NULL) {
    return FALSE;
  }
  const char *bytes = g_mapped_file_get_contents(file);
  const gsize size = g_mapped_file_get_length(file);
  if (size < SELFMAG || memcmp(bytes, ELFMAG, SELFMAG) != 0) {
    g_mapped_file_unref(file);
    return FALSE;
  }
  if (size < sizeof(head)) {
    g_mapped_file_unref(file);
    return TRUE;
  }
  memcpy(&head, bytes, sizeof(head));
  if (head.e_ident[EI_CLASS] == native && head.e_phentsize == sizeof(part)) {
    cut = head.e_phoff > size || (size - head.e_phoff) / sizeof(part) < head.e_phnum;
    for (unsigned i = 0; !cut && i < head.e_phnum; ++i) {
      memcpy(&part, bytes + head.e_phoff + i * sizeof(part), sizeof(part));
      cut = part.p_type == PT_LOAD && (part.p_offset > size || part.p_filesz > size - part.p_offset);
    }
  }
  g_mapped_file_unref(file);
  return cut;
}
