/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that make calls of the ABI at random, on the null driver with a thread for each queue (or as NULLDRIVER_MODE
 * says), or on the machine's own driver (any_driver.c). Each thread knows what must be in its own blocks, whatever the
 * streams, which all threads share, do in between. With --runs, each thread does so many runs of upload, operator, copy
 * and download on a stream of its own instead. With --large, some blocks are so large that downloads of them go in
 * pieces.
 */
#include <glib.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "nulldriver/random_calls.h"

static gint thread_count = 8, call_count = 2000, run_count = 0, seed_option = 1, large_option = 0;

typedef struct worker {
  pthread_t thread;
  uint64_t seed;
  uint64_t calls;
} worker;

static void *act(void *argument) {
  worker *const w = argument;
  caller *const c = caller_new(w->seed);
  if (run_count != 0) {
    caller_run(c, (uint64_t)run_count);
  }
  while (run_count == 0 && caller_calls(c) < (uint64_t)call_count) {
    caller_act(c);
  }
  w->calls = caller_calls(c);
  caller_free(c);
  return NULL;
}

static void parse(int *argc, char ***argv) {
  const GOptionEntry entries[] = {
      {"threads", 't', 0, G_OPTION_ARG_INT, &thread_count, "threads (8)", "N"},
      {"calls", 'c', 0, G_OPTION_ARG_INT, &call_count, "calls of the ABI that each thread makes at random (2000)", "N"},
      {"runs", 'r', 0, G_OPTION_ARG_INT, &run_count, "runs that each thread does instead", "N"},
      {"large", 'l', 0, G_OPTION_ARG_INT, &large_option, "one block in so many is large (0: none)", "N"},
      {"seed", 's', 0, G_OPTION_ARG_INT, &seed_option, "what is drawn (1)", "N"},
      {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
  GError *error = NULL;
  GOptionContext *const context = g_option_context_new("- the plugin on the null driver, many threads at once");
  g_option_context_add_main_entries(context, entries, NULL);
  if (!g_option_context_parse(context, argc, argv, &error) || *argc != 1 || thread_count < 1 || call_count < 0 ||
      run_count < 0 || large_option < 0) {
    (void)fprintf(stderr, "%s\n", error != NULL ? error->message : "threads: 1 or more, all else: 0 or more");
    exit(2);
  }
  g_option_context_free(context);
}

int main(int argc, char **argv) {
  parse(&argc, &argv);
  if (getenv("NULLDRIVER_MODE") == NULL) {
    nulldriver_set_mode(NULLDRIVER_THREADED, 4);
  }
  leat_error why = {.struct_size = sizeof(why)};
  host *h;
  const int32_t opened = calls_open((uint64_t)large_option, &h, &why);
  if (opened == LEAT_ERROR_UNAVAILABLE) {
    (void)fprintf(stderr, "no usable device: %s\n", why.message);
    return 77;
  }
  host_need(opened, &why, "calls_open");
  worker *const workers = calloc((size_t)thread_count, sizeof(*workers));
  uint64_t calls = 0;
  for (int i = 0; workers != NULL && i < thread_count; ++i) {
    workers[i].seed = (uint64_t)seed_option << 32 | (uint64_t)i;
    if (pthread_create(&workers[i].thread, NULL, act, &workers[i]) != 0) {
      (void)fprintf(stderr, "thread %d could not be started\n", i);
      return 2;
    }
  }
  for (int i = 0; workers != NULL && i < thread_count; ++i) {
    (void)pthread_join(workers[i].thread, NULL);
    calls += workers[i].calls;
  }
  free(workers);
  calls_close();
  const uint32_t violations = host_report_violations(), leaks = host_report_leaks();
  (void)printf("%d threads, %llu calls, %llu submissions, %u violations, %u objects left\n", thread_count,
               (unsigned long long)calls, (unsigned long long)nulldriver_calls("vkQueueSubmit"), violations, leaks);
  return violations == 0 && leaks == 0 ? 0 : 1;
}
