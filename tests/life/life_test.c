/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the scenes, each in a process of its own, again and again:
 *
 *   leat-life-test PROGRAM SCENE...
 *
 * $LEAT_LIFE_ROUNDS says how often (10). A scene that does not go on is killed, and has failed: nothing hangs. It is
 * told where its threads were then. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
/* cmocka wants setjmp, stdarg, stddef and stdint first. */
#include <cmocka.h>

#include "progress.h"

#define ROUNDS 10
#define SCENES_MAX 64
#define SKIP 77
/* Seconds without progress. Scenes take a fraction of a second; this is for sanitizers. */
#define DEADLINE_S 60.0
#define CANARY_DEADLINE_S 1.0

extern char **environ;

static const char *program, *program_without_gate;

/* How one run of a scene went. */
typedef struct outcome {
  bool in_time;
  int status; /* of wait() */
  char output[16384];
} outcome;

static int64_t now_ms(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Starts a scene in a process group of its own, so that nothing of it is left afterwards. */
static pid_t start(const char *path, const char *scene, int output) {
  char *const arguments[] = {(char *)(uintptr_t)path, (char *)(uintptr_t)scene, NULL};
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  pid_t process = 0;
  assert_int_equal(posix_spawn_file_actions_init(&actions), 0);
  assert_int_equal(posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO), 0);
  assert_int_equal(posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO), 0);
  assert_int_equal(posix_spawnattr_init(&attributes), 0);
  assert_int_equal(posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP), 0);
  assert_int_equal(posix_spawn(&process, path, &actions, &attributes, arguments, environ), 0);
  (void)posix_spawnattr_destroy(&attributes);
  (void)posix_spawn_file_actions_destroy(&actions);
  return process;
}

/* Writes what Linux tells of a thread: one line of a file of its folder. */
static void tell_file(FILE *output, const char *thread, const char *name) {
  char path[PATH_MAX];
  char line[256] = "-";
  (void)snprintf(path, sizeof(path), "%s/%s", thread, name);
  FILE *const file = fopen(path, "r");
  if (file != NULL) {
    (void)!fgets(line, sizeof(line), file);
    (void)fclose(file);
  }
  line[strcspn(line, "\n")] = '\0';
  (void)fprintf(output, " %s %s;", name, line);
}

/* Writes where the threads of a process that hangs are. */
static void tell_threads(FILE *output, pid_t process) {
  char folder[64];
  (void)snprintf(folder, sizeof(folder), "/proc/%d/task", (int)process);
  DIR *const threads = opendir(folder);
  (void)fseek(output, 0, SEEK_END);
  for (const struct dirent *at; threads != NULL && (at = readdir(threads)) != NULL;) {
    if (at->d_name[0] != '.') {
      char thread[sizeof(folder) + sizeof(at->d_name)];
      (void)snprintf(thread, sizeof(thread), "%s/%s", folder, at->d_name);
      (void)fprintf(output, "thread %s:", at->d_name);
      tell_file(output, thread, "comm");
      tell_file(output, thread, "wchan");
      tell_file(output, thread, "syscall");
      (void)fprintf(output, "\n");
    }
  }
  if (threads != NULL) {
    (void)closedir(threads);
  }
}

static void run_once(const char *path, const char *scene, double deadline_s, outcome *out) {
  memset(out, 0, sizeof(*out));
  FILE *const output = tmpfile();
  assert_non_null(output);
  (void)fcntl(fileno(output), F_SETFD, FD_CLOEXEC);
  const pid_t process = start(path, scene, fileno(output));
  const struct timespec nap = {.tv_nsec = 2000000};
  leati_progress progress;
  leati_progress_begin(process, deadline_s, &progress);
  pid_t ended = 0;
  while ((ended = waitpid(process, &out->status, WNOHANG)) == 0 &&
         leati_progress_look(&progress) == LEATI_PROGRESS_MOVES) {
    (void)nanosleep(&nap, NULL);
  }
  out->in_time = ended == process;
  if (!out->in_time) {
    tell_threads(output, process);
  }
  (void)kill(-process, SIGKILL);
  if (!out->in_time) {
    (void)waitpid(process, &out->status, 0);
  }
  rewind(output);
  (void)!fread(out->output, 1, sizeof(out->output) - 1, output);
  (void)fclose(output);
}

static bool is_right(const outcome *got) {
  return got->in_time && WIFEXITED(got->status) && WEXITSTATUS(got->status) == 0;
}

static unsigned rounds(void) {
  const char *const text = getenv("LEAT_LIFE_ROUNDS");
  const long wanted = text == NULL ? ROUNDS : strtol(text, NULL, 10);
  if (wanted < 1) {
    fail_msg("LEAT_LIFE_ROUNDS is \"%s\"; allowed: a number from 1", text);
  }
  return (unsigned)wanted;
}

/* All rounds, also behind one that failed, for the count says more than the first failure. */
static void run_scene(void **state) {
  const char *const scene = *state;
  const unsigned all = rounds();
  unsigned failed = 0;
  int64_t longest = 0;
  const int64_t begin = now_ms();
  for (unsigned i = 0; i < all; ++i) {
    outcome got;
    const int64_t start_ms = now_ms();
    run_once(program, scene, DEADLINE_S, &got);
    const int64_t taken = now_ms() - start_ms;
    longest = taken > longest ? taken : longest;
    if (got.in_time && WIFEXITED(got.status) && WEXITSTATUS(got.status) == SKIP) {
      print_message("%s", got.output);
      skip();
    }
    if (!is_right(&got)) {
      ++failed;
      print_error("%s, round %u: %s, status %#x:\n", scene, i, got.in_time ? "ended" : "killed because it hung",
                  (unsigned)got.status);
      /* print_error() cuts what is long, such as a line for each thread. */
      (void)fputs(got.output, stderr);
    }
  }
  print_message("%-32s %u of %u right, %lld ms each, %lld at most\n", scene, all - failed, all,
                (long long)((now_ms() - begin) / all), (long long)longest);
  assert_int_equal(failed, 0);
}

/* ---- Canaries -----------------------------------------------------------------------------------------------------
 */

static void crash_is_noticed(void **state) {
  (void)state;
  outcome got;
  run_once(program, "canary-crash", DEADLINE_S, &got);
  assert_true(got.in_time && WIFSIGNALED(got.status) && WTERMSIG(got.status) == SIGSEGV);
  assert_false(is_right(&got));
}

static void hang_is_noticed(void **state) {
  (void)state;
  outcome got;
  run_once(program, "canary-hang", CANARY_DEADLINE_S, &got);
  assert_false(got.in_time);
  assert_false(is_right(&got));
}

/* Longer than the deadline, but at work. */
static void slow_is_no_hang(void **state) {
  (void)state;
  outcome got;
  run_once(program, "canary-slow", CANARY_DEADLINE_S, &got);
  assert_true(is_right(&got));
}

/* A machine that keeps who watches from looking may keep the process from its work as well. */
static void a_pause_of_the_machine_is_no_hang(void **state) {
  (void)state;
  FILE *const output = tmpfile();
  assert_non_null(output);
  const pid_t process = start(program, "canary-hang", fileno(output));
  leati_progress progress;
  leati_progress_begin(process, CANARY_DEADLINE_S, &progress);
  const struct timespec pause = {.tv_sec = 1, .tv_nsec = 200000000}, nap = {.tv_nsec = 20000000};
  (void)nanosleep(&pause, NULL);
  assert_int_equal(leati_progress_look(&progress), LEATI_PROGRESS_MOVES);
  while (leati_progress_look(&progress) == LEATI_PROGRESS_MOVES) {
    (void)nanosleep(&nap, NULL);
  }
  assert_int_equal(leati_progress_look(&progress), LEATI_PROGRESS_HANGS);
  (void)kill(-process, SIGKILL);
  (void)waitpid(process, NULL, 0);
  (void)fclose(output);
}

static void endless_work_is_noticed(void **state) {
  (void)state;
  outcome got;
  run_once(program, "canary-endless", CANARY_DEADLINE_S, &got);
  assert_false(got.in_time);
}

static void wrong_value_is_noticed(void **state) {
  (void)state;
  outcome got;
  run_once(program, "canary-wrong", DEADLINE_S, &got);
  assert_false(is_right(&got));
  assert_non_null(strstr(got.output, "is 3, not 2"));
}

/* Others that are at work must not keep the one that waits for all. */
static void missing_neighbour_is_noticed(void **state) {
  (void)state;
  outcome got;
  run_once(program, "canary-neighbours", CANARY_DEADLINE_S, &got);
  assert_true(got.in_time);
  assert_false(is_right(&got));
  assert_non_null(strstr(got.output, "ended with status 3 before it was at work"));
}

/* The same scenes with a plugin whose gate is always open. */
static void expect_noticed_without_gate(const char *scene, const char *word) {
  outcome got;
  run_once(program_without_gate, scene, DEADLINE_S, &got);
  if (got.in_time && WIFEXITED(got.status) && WEXITSTATUS(got.status) == SKIP) {
    skip();
  }
  assert_false(is_right(&got));
  /* The address sanitizer may be there first, or a driver whose library has ended. */
  const bool crashed = got.in_time && WIFSIGNALED(got.status) && WTERMSIG(got.status) == SIGSEGV;
  if (strstr(got.output, word) == NULL && strstr(got.output, "AddressSanitizer") == NULL && !crashed) {
    fail_msg("%s without a gate: status %#x: %s", scene, (unsigned)got.status, got.output);
  }
}

static void open_gate_is_noticed(void **state) {
  (void)state;
  expect_noticed_without_gate("nobody-passes-the-gate", "still comes out of calls");
}

static void use_after_exit_is_noticed(void **state) {
  (void)state;
  expect_noticed_without_gate("handler-from-before", "while the process exits");
}

static void missing_fork_check_is_noticed(void **state) {
  (void)state;
  expect_noticed_without_gate("fork-from-a-thread", "not an error");
}

static void cut_call_is_noticed(void **state) {
  (void)state;
  expect_noticed_without_gate("cancel-inside", "was cancelled inside of a call");
}

static int run_canaries(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(crash_is_noticed),
      cmocka_unit_test(hang_is_noticed),
      cmocka_unit_test(slow_is_no_hang),
      cmocka_unit_test(a_pause_of_the_machine_is_no_hang),
      cmocka_unit_test(endless_work_is_noticed),
      cmocka_unit_test(wrong_value_is_noticed),
      cmocka_unit_test(missing_neighbour_is_noticed),
      cmocka_unit_test(open_gate_is_noticed),
      cmocka_unit_test(use_after_exit_is_noticed),
      cmocka_unit_test(missing_fork_check_is_noticed),
      cmocka_unit_test(cut_call_is_noticed),
  };
  return cmocka_run_group_tests_name("life.canary", tests, NULL, NULL);
}

int main(int argc, char **argv) {
  if (argc == 4 && strcmp(argv[1], "--canaries") == 0) {
    program = argv[2];
    program_without_gate = argv[3];
    return run_canaries();
  }
  if (argc < 3 || argc - 2 > SCENES_MAX) {
    (void)fprintf(stderr, "usage: leat-life-test PROGRAM SCENE... | --canaries PROGRAM PROGRAM-WITHOUT-GATE\n");
    return 2;
  }
  program = argv[1];
  struct CMUnitTest tests[SCENES_MAX];
  for (int i = 0; i < SCENES_MAX; ++i) {
    const char *const name = argv[2 + i < argc ? 2 + i : argc - 1];
    tests[i] = (struct CMUnitTest){.name = name, .test_func = run_scene, .initial_state = (void *)(uintptr_t)name};
  }
  return _cmocka_run_group_tests("life", tests, (size_t)argc - 2, NULL, NULL);
}
