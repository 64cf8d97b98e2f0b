/* SPDX-License-Identifier: BSD-3-Clause */
#include "stall.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The content of a file of a thread in /proc without the newline at its end, or NULL. [owned] */
static char *read_of_thread(const char *thread, const char *name) {
  g_autofree char *path = g_build_filename(thread, name, NULL);
  char *text = NULL;
  if (!g_file_get_contents(path, &text, NULL, NULL)) {
    return NULL;
  }
  return g_strchomp(text);
}

static const char *state_name(char state) {
  switch (state) {
    case 'R':
      return "runs";
    case 'S':
      return "sleeps";
    case 'D':
      return "sleeps in the kernel and cannot be woken";
    case 'Z':
      return "has ended";
    default:
      return "is stopped";
  }
}

static void describe_thread(const char *thread, GString *out) {
  g_autofree char *stat = read_of_thread(thread, "stat");
  /* Behind the name, which may have brackets of its own, come the state and, as numbers 14 and 15 of the line, the
   * clock ticks in user and kernel mode: proc(5). */
  const char *end = stat != NULL ? strrchr(stat, ')') : NULL;
  char state = '\0';
  unsigned long user = 0;
  unsigned long kernel = 0;
  if (end == NULL ||
      sscanf(end + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &state, &user, &kernel) != 3) {
    return; /* it has ended by now */
  }
  g_autofree char *name = read_of_thread(thread, "comm");
  g_autofree char *wait = read_of_thread(thread, "wchan");
  g_string_append_printf(out, "thread %s %s, %.2f s of processor time", name != NULL ? name : "?", state_name(state),
                         (double)(user + kernel) / (double)sysconf(_SC_CLK_TCK));
  if (wait != NULL && wait[0] != '\0' && strcmp(wait, "0") != 0) {
    g_string_append_printf(out, ", in %s", wait);
  }
  g_string_append_c(out, '\n');
}

void leati_stall_describe(GPid pid, GString *out) {
  g_autofree char *folder = g_strdup_printf("/proc/%d/task", (int)pid);
  GDir *threads = g_dir_open(folder, 0, NULL);
  const char *name;
  while (threads != NULL && (name = g_dir_read_name(threads)) != NULL) {
    g_autofree char *thread = g_build_filename(folder, name, NULL);
    describe_thread(thread, out);
  }
  g_clear_pointer(&threads, g_dir_close);
}
