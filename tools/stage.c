/* SPDX-License-Identifier: BSD-3-Clause */
#include "stage.h"

#include <glib.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* Wipes a terminal's line. */
#define WIPE "\r\033[K"

/* Seconds a stage may take, and what is said of one that takes longer. Both are changed while no alarm is set, and so
 * never under the handler's eyes. */
static unsigned limit;
static char farewell[512];

/* On any thread, wherever it is: nothing but these two calls is safe here. */
static void give_up(int signal) {
  (void)signal;
  (void)!write(STDERR_FILENO, farewell, strlen(farewell));
  _exit(1);
}

void leati_stage_limit(int64_t seconds) {
  limit = (unsigned)seconds;
  const struct sigaction action = {.sa_handler = give_up};
  sigset_t alarms;
  sigaction(SIGALRM, &action, NULL);
  /* Whoever started us may have left it blocked. */
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
}

void leati_stage_begin(const char *what, const char *name) {
  const gboolean shown = isatty(STDERR_FILENO) == 1;
  alarm(0);
  g_snprintf(farewell, sizeof(farewell), "%sleat-run: not done within %u s (--timeout): %.128s %.256s\n",
             shown ? WIPE : "", limit, what, name);
  if (shown) {
    g_printerr(WIPE "%s %s ...", what, name);
  }
  alarm(limit);
}

void leati_stage_end(void) {
  alarm(0);
  if (isatty(STDERR_FILENO) == 1) {
    g_printerr(WIPE);
  }
}
