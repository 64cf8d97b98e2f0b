/* SPDX-License-Identifier: BSD-3-Clause */
#include "user_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fault.h"

/* Reads the bytes that a file is known to have, fewer if it was cut off meanwhile; < 0 with errno set on failure. */
static ssize_t read_all(int file, char *bytes, size_t size) {
  size_t done = 0;
  while (done < size) {
    const ssize_t got = read(file, bytes + done, size - done);
    if (got < 0 && errno != EINTR) {
      return -1;
    }
    if (got == 0) {
      break;
    }
    done += got > 0 ? (size_t)got : 0;
  }
  return (ssize_t)done;
}

gboolean leati_user_file_read(const char *path, uint64_t most, char **out_bytes, size_t *out_size, GError **error) {
  struct stat info;
  /* Opening a pipe would wait for one who writes. */
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  char *bytes = NULL;
  ssize_t got = -1;
  if (file < 0 || fstat(file, &info) != 0) {
    LEATI_FAULT_SET(error, "%s: %s", path, errno == ENOENT ? "no such file" : g_strerror(errno));
  } else if (!S_ISREG(info.st_mode)) {
    LEATI_FAULT_SET(error, "%s: not a file", path);
  } else if ((uint64_t)info.st_size > most) {
    LEATI_FAULT_SET(error, "%s: has %" G_GINT64_FORMAT " bytes, more than the %" G_GUINT64_FORMAT " that can be taken",
                    path, (gint64)info.st_size, most);
  } else if ((bytes = g_try_malloc((size_t)info.st_size + 1)) == NULL) {
    LEATI_FAULT_SET(error, "%s: no memory for %" G_GINT64_FORMAT " bytes", path, (gint64)info.st_size);
  } else if ((got = read_all(file, bytes, (size_t)info.st_size)) < 0) {
    LEATI_FAULT_SET(error, "%s: cannot be read: %s", path, g_strerror(errno));
  }
  if (file >= 0) {
    close(file);
  }
  if (got < 0) {
    g_free(bytes);
    return FALSE;
  }
  *out_bytes = bytes;
  *out_size = (size_t)got;
  return TRUE;
}

FILE *leati_user_file_create(const char *path, GError **error) {
  const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0666);
  FILE *stream = NULL;
  /* Only opening must not wait: a report of some length goes through a pipe bit by bit. */
  if (file < 0 || fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK) != 0 ||
      (stream = fdopen(file, "wb")) == NULL) {
    LEATI_FAULT_SET(error, "%s cannot be written: %s", path,
                    errno == ENXIO ? "it is a pipe that nobody reads from" : g_strerror(errno));
  }
  if (file >= 0 && stream == NULL) {
    close(file);
  }
  return stream;
}
