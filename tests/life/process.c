/* SPDX-License-Identifier: BSD-3-Clause */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NEIGHBOURS 4

extern char **environ;

int scene_main(int argc, char **argv, const scene *const *lists, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    for (const scene *at = lists[i]; at->name != NULL; ++at) {
      if (argc == 2 && strcmp(argv[1], at->name) == 0) {
        return at->run();
      }
      if (argc == 1) {
        (void)printf("%s\n", at->name);
      }
    }
  }
  if (argc != 1) {
    (void)fprintf(stderr, "usage: %s [NAME]; without a name it lists them\n", argv[0]);
  }
  return argc == 1 ? 0 : 2;
}

_Noreturn void scene_fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  (void)vfprintf(stderr, format, arguments);
  va_end(arguments);
  (void)fputc('\n', stderr);
  _exit(1);
}

void scene_nap(unsigned milliseconds) {
  const struct timespec nap = {.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000L};
  (void)nanosleep(&nap, NULL);
}

pid_t scene_spawn(const char *name, int in, int out) {
  char *const arguments[] = {(char *)(uintptr_t) "leat-scene", (char *)(uintptr_t)name, NULL};
  posix_spawn_file_actions_t actions;
  pid_t process = 0;
  bool made = posix_spawn_file_actions_init(&actions) == 0;
  made = made && (in < 0 || posix_spawn_file_actions_adddup2(&actions, in, 0) == 0);
  made = made && (out < 0 || posix_spawn_file_actions_adddup2(&actions, out, 1) == 0);
  if (!made || posix_spawn(&process, "/proc/self/exe", &actions, NULL, arguments, environ) != 0) {
    scene_fail("scene %s could not be started", name);
  }
  (void)posix_spawn_file_actions_destroy(&actions);
  return process;
}

/* How a process ended, and by which number. */
static const char *ending(int status) {
  return WIFSIGNALED(status) ? "signal" : "status";
}

static int ending_number(int status) {
  return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

void scene_reap(pid_t process, const char *what) {
  int status = 0;
  if (waitpid(process, &status, 0) != process) {
    scene_fail("%s: waitpid: %s", what, strerror(errno));
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    scene_fail("%s ended with %s %d", what, ending(status), ending_number(status));
  }
}

/* ---- Neighbours ---------------------------------------------------------------------------------------------------
 */

void scene_be_neighbour(void) {
  char byte = 'x';
  if (write(STDOUT_FILENO, &byte, 1) != 1) {
    scene_fail("write: %s", strerror(errno));
  }
  while (read(STDIN_FILENO, &byte, 1) > 0) {
  }
}

/* A pipe whose ends no child inherits but as its stdin or stdout. */
static void make_pipe(int ends[2]) {
  if (pipe2(ends, O_CLOEXEC) != 0) {
    scene_fail("pipe2: %s", strerror(errno));
  }
}

/* Waits until a neighbour is at work, of which its end of a pipe tells: the pipe of no other, whose end would stay open
 * while that one is at work. */
static void await_neighbour(pid_t process, unsigned number, int told) {
  char byte;
  int status;
  if (read(told, &byte, 1) == 1) {
    return;
  }
  if (waitpid(process, &status, 0) != process) {
    scene_fail("neighbour %u: waitpid: %s", number, strerror(errno));
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == SCENE_SKIP) {
    _exit(SCENE_SKIP);
  }
  scene_fail("neighbour %u of %u ended with %s %d before it was at work", number, NEIGHBOURS, ending(status),
             ending_number(status));
}

void scene_neighbours(const char *name) {
  pid_t processes[NEIGHBOURS];
  int hold[2], told[NEIGHBOURS];
  make_pipe(hold);
  for (unsigned i = 0; i < NEIGHBOURS; ++i) {
    int tell[2];
    make_pipe(tell);
    processes[i] = scene_spawn(name, hold[0], tell[1]);
    (void)close(tell[1]);
    told[i] = tell[0];
  }
  (void)close(hold[0]);
  for (unsigned i = 0; i < NEIGHBOURS; ++i) {
    await_neighbour(processes[i], i, told[i]);
  }
  (void)kill(processes[1], SIGKILL);
  int status;
  if (waitpid(processes[1], &status, 0) != processes[1] || !WIFSIGNALED(status)) {
    scene_fail("the neighbour ended with %#x before it was killed", (unsigned)status);
  }
  (void)close(hold[1]);
  for (unsigned i = 0; i < NEIGHBOURS; ++i) {
    if (i != 1) {
      scene_reap(processes[i], "a neighbour of a process that was killed");
    }
    (void)close(told[i]);
  }
}
