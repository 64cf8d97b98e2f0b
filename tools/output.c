/* SPDX-License-Identifier: BSD-3-Clause */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Set before the process has another thread. */
static const char *guarded_program;
static int failed_status;

/* Why the first flush that failed did, or 0. Kept, because whatever is called until the process ends sets errno too. */
static int reason;

void leati_output_flush(void) {
  if (fflush(stdout) != 0 && reason == 0) {
    reason = errno;
  }
}

static void check(void) {
  /* Of GLib, which prints --help, flushes and ends the process. */
  const int last = errno;
  leati_output_flush();
  if (reason != 0 || ferror(stdout)) {
    fprintf(stderr, "%s: writing to stdout: %s\n", guarded_program, strerror(reason != 0 ? reason : last));
    _exit(failed_status);
  }
}

void leati_output_guard(const char *program, int status) {
  guarded_program = program;
  failed_status = status;
  /* A standard stream may be closed. The next file opened would take its number, and a report would go to the middle of
   * that; writing to a stream that can only be read fails, and is told. */
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (fcntl(stream, F_GETFD) < 0) {
      (void)!open("/dev/null", O_RDONLY);
    }
  }
  /* Handlers run last registered first, so this one is behind those of all libraries. */
  atexit(check);
}
