/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fault.h"
#include "option_value.h"

#define PATIENCE_US ((gint64)10 * G_USEC_PER_SEC)
#define TEXT_MAX 255

struct leati_clock {
  char *command;
  pid_t pid; /* and process group; 0: it has ended */
  int fd;    /* its standard output, which never blocks */
  int status;
  gboolean late; /* it was killed */
  gint64 until;  /* monotonic microseconds */
  char text[TEXT_MAX + 1];
  gsize length;
};

/* In a group of its own, so that what the command starts can be ended with it. */
static void in_child(gpointer data) {
  (void)data;
  (void)setpgid(0, 0);
}

leati_clock *leati_clock_start(const char *command, GError **error) {
  g_auto(GStrv) words = NULL;
  GPid pid;
  int fd;
  if (!g_shell_parse_argv(command, NULL, &words, error) ||
      !g_spawn_async_with_pipes(NULL, words, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD, in_child, NULL,
                                &pid, NULL, &fd, NULL, error)) {
    g_prefix_error(error, "--clock-command: '%s': ", command);
    return NULL;
  }
  leati_clock *clock = g_new0(leati_clock, 1);
  clock->command = g_strdup(command);
  clock->pid = pid;
  clock->fd = fd;
  clock->until = g_get_monotonic_time() + PATIENCE_US;
  (void)fcntl(fd, F_SETFL, O_NONBLOCK);
  return clock;
}

/* Takes what the command has printed. What does not fit is read and dropped, so that it does not block. */
static void drain(leati_clock *clock) {
  char more[TEXT_MAX];
  ssize_t got;
  while ((got = read(clock->fd, more, sizeof(more))) > 0) {
    const gsize room = MIN((gsize)got, TEXT_MAX - clock->length);
    memcpy(&clock->text[clock->length], more, room);
    clock->length += room;
    if (g_get_monotonic_time() > clock->until) {
      return;
    }
  }
}

gboolean leati_clock_ready(leati_clock *clock) {
  if (clock->pid == 0) {
    return TRUE;
  }
  drain(clock);
  const gboolean late = g_get_monotonic_time() > clock->until;
  if (late) {
    clock->late = TRUE;
    (void)kill(-clock->pid, SIGKILL);
  }
  if (waitpid(clock->pid, &clock->status, late ? 0 : WNOHANG) == 0) {
    return FALSE;
  }
  clock->pid = 0;
  /* What it printed last. */
  drain(clock);
  return TRUE;
}

gboolean leati_clock_finish(leati_clock *clock, double *mhz, GError **error) {
  while (!leati_clock_ready(clock)) {
    g_usleep(1000);
  }
  char *line = g_strstrip(clock->text);
  line[strcspn(line, "\n")] = '\0';
  g_strchomp(line);
  gboolean well = FALSE;
  if (clock->late) {
    LEATI_FAULT_SET(error, "--clock-command: '%s' did not end within %d seconds", clock->command,
                    (int)(PATIENCE_US / G_USEC_PER_SEC));
  } else if (!g_spawn_check_wait_status(clock->status, error)) {
    g_prefix_error(error, "--clock-command: '%s': ", clock->command);
  } else if (!leati_parse_number(line, 0, mhz, NULL)) {
    LEATI_FAULT_SET(error, "--clock-command: the first line of what '%s' printed is no number of MHz: '%s'",
                    clock->command, line);
  } else {
    well = TRUE;
  }
  (void)close(clock->fd);
  g_free(clock->command);
  g_free(clock);
  return well;
}
