/* SPDX-License-Identifier: BSD-3-Clause */
#include "process_test.h"

#include <pthread.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "layer.h"

/* How often a process exits with Runs in flight: without the gate, this crashes more often than not. */
#define EXIT_REPEATS 3
#define EXIT_THREADS 6
/* More than the pool of streams admits, so that some wait for their turn. */
#define EXIT_THREADS_WAITING 40

extern char **environ;

#if defined(__SANITIZE_ADDRESS__)
/* A process that ends without closing its device leaves what the driver allocated for it. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
  return "leak:libvulkan_lvp.so\nleak:libvulkan.so\n";
}
#endif

/* ---- Starting -----------------------------------------------------------------------------------------------------
 */

/* Runs this program again with "--child NAME" and maybe one more variable ("NAME=VALUE"); gives its wait() status and
 * the beginning of what it writes to stdout and stderr. */
static int run_child(const char *name, const char *variable, char *output, size_t output_size) {
  char *arguments[] = {"leat-provider-test", "--child", (char *)(uintptr_t)name, NULL};
  size_t count = 0;
  while (environ[count]) {
    count++;
  }
  char **variables = calloc(count + 2, sizeof(*variables));
  assert_non_null(variables);
  memcpy(variables + 1, environ, count * sizeof(*variables));
  variables[0] = (char *)(uintptr_t)variable;
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  posix_spawn_file_actions_t actions;
  assert_int_equal(posix_spawn_file_actions_init(&actions), 0);
  assert_int_equal(posix_spawn_file_actions_adddup2(&actions, ends[1], 1), 0);
  assert_int_equal(posix_spawn_file_actions_adddup2(&actions, ends[1], 2), 0);
  assert_int_equal(posix_spawn_file_actions_addclose(&actions, ends[0]), 0);
  pid_t child = 0;
  assert_int_equal(
      posix_spawn(&child, "/proc/self/exe", &actions, NULL, arguments, variable ? variables : variables + 1), 0);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  size_t length = 0;
  for (ssize_t got = 1; got > 0;) {
    char rest[256];
    bool room = length + 1 < output_size;
    got = read(ends[0], room ? output + length : rest, room ? output_size - length - 1 : sizeof(rest));
    length += room && got > 0 ? (size_t)got : 0;
  }
  output[length] = '\0';
  close(ends[0]);
  free(variables);
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  return status;
}

/* Checks that a child exits with 0, and shows what it wrote if not. */
static void expect_success(const char *name, const char *variable) {
  char output[4096];
  int status = run_child(name, variable, output, sizeof(output));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    fprintf(stderr, "%s ended with status %#x: %s\n", name, (unsigned)status, output);
  }
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
}

/* ---- The children -------------------------------------------------------------------------------------------------
 */

typedef struct runner {
  const ort_fixture *fixture;
  OrtSession *session;
  atomic_uint *started;
  unsigned seed;
} runner;

static void *run_for_ever(void *argument) {
  runner *self = argument;
  for (unsigned run = 0;; run++) {
    if (layer_run(self->fixture, self->session, NULL, 3, self->seed + run) != 0) {
      fprintf(stderr, "a Run went wrong before the exit\n");
      _exit(3);
    }
    if (run == 0) {
      atomic_fetch_add(self->started, 1);
    }
  }
  return NULL;
}

/* The fixture with the provider registered. */
static void open_registered(ort_fixture *fixture) {
  ort_fixture_open(fixture);
  ort_fixture_check(fixture, ort_fixture_register(fixture), "registering the provider");
}

static int exit_with_threads(unsigned count) {
  static ort_fixture fixture;
  static runner runners[EXIT_THREADS_WAITING];
  static atomic_uint started;
  open_registered(&fixture);
  OrtSession *session = layer_session(&fixture);
  for (unsigned i = 0; i < count; i++) {
    pthread_t thread;
    runners[i] = (runner){&fixture, session, &started, i * 1000};
    if (pthread_create(&thread, NULL, run_for_ever, &runners[i])) {
      return 3;
    }
  }
  while (atomic_load(&started) != count) {
    usleep(1000);
  }
  exit(0);
}

static int child_exit(void) {
  return exit_with_threads(EXIT_THREADS);
}

static int child_exit_waiting(void) {
  return exit_with_threads(EXIT_THREADS_WAITING);
}

static int grandchild_fork(const ort_fixture *fixture, OrtSession *session) {
  const int64_t dims[] = {2, LAYER_INPUTS};
  OrtValue *x = ort_fixture_tensor(fixture, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, dims, 2, NULL);
  OrtValue *y = NULL;
  OrtStatus *status = ort_fixture_run(fixture, session, NULL, (const OrtValue *const *)&x, &y);
  if (!status) {
    fprintf(stderr, "a Run succeeded in a child of fork()\n");
    return 1;
  }
  const char *message = fixture->ort->GetErrorMessage(status);
  if (!strstr(message, "fork")) {
    fprintf(stderr, "the message does not say fork: %s\n", message);
    return 1;
  }
  if (fixture->ort->GetErrorCode(status) == ORT_EP_FAIL) {
    fprintf(stderr, "with this code Python goes on to make a session for the CPU, which hangs in a child of fork()\n");
    return 1;
  }
  return 0;
}

static int child_fork(void) {
  ort_fixture fixture;
  open_registered(&fixture);
  OrtSession *session = layer_session(&fixture);
  if (layer_run(&fixture, session, NULL, 2, 1) != 0) {
    return 3;
  }
  pid_t child = fork();
  if (child == 0) {
    /* Not exit(): ONNX Runtime's own static objects wait there for a thread that stayed with the parent. */
    _exit(grandchild_fork(&fixture, session));
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    fprintf(stderr, "the child ended with status %#x\n", (unsigned)status);
    return 1;
  }
  /* The parent goes on unharmed. */
  int result = layer_run(&fixture, session, NULL, 2, 2);
  fixture.ort->ReleaseSession(session);
  ort_fixture_close(&fixture);
  return result;
}

/* Prints why the provider cannot be registered. */
static int child_register(void) {
  ort_fixture fixture;
  ort_fixture_open(&fixture);
  OrtStatus *status = ort_fixture_register(&fixture);
  if (!status) {
    printf("it could be registered\n");
    return 0;
  }
  printf("%s\n", fixture.ort->GetErrorMessage(status));
  fixture.ort->ReleaseStatus(status);
  fixture.ort->ReleaseEnv(fixture.env);
  return 1;
}

static int child_open(void) {
  /* Static and volatile, so that a leak check sees them held, as by a program that never releases them. */
  static ort_fixture fixture;
  static OrtSession *volatile session;
  open_registered(&fixture);
  session = layer_session(&fixture);
  return layer_run(&fixture, session, NULL, 2, 1);
}

int process_child(const char *name) {
  static const struct {
    const char *name;
    int (*run)(void);
  } children[] = {{"exit", child_exit},
                  {"exit_waiting", child_exit_waiting},
                  {"fork", child_fork},
                  {"register", child_register},
                  {"open", child_open}};
  for (size_t i = 0; i < sizeof(children) / sizeof(children[0]); i++) {
    if (strcmp(children[i].name, name) == 0) {
      return children[i].run();
    }
  }
  fprintf(stderr, "there is no child '%s'\n", name);
  return 2;
}

/* ---- The tests ----------------------------------------------------------------------------------------------------
 */

void test_exit_with_runs_in_flight(void **state) {
  (void)state;
  /* The leak check would stop threads in the middle of what they do, and its tracer does not survive some of that. */
  static const char no_leak_check[] = "ASAN_OPTIONS=detect_leaks=0";
  for (unsigned i = 0; i < EXIT_REPEATS; i++) {
    expect_success("exit", no_leak_check);
    expect_success("exit_waiting", no_leak_check);
  }
}

void test_fork_fails_in_the_child_alone(void **state) {
  (void)state;
  expect_success("fork", NULL);
}

void test_leaving_everything_open_is_legal(void **state) {
  (void)state;
  expect_success("open", NULL);
}

/* Checks that registration fails with a message that has both words. */
static void expect_refusal(const char *variable, const char *word, const char *other) {
  char output[4096];
  int status = run_child("register", variable, output, sizeof(output));
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 1);
  if (!strstr(output, word) || !strstr(output, other)) {
    fprintf(stderr, "the message lacks '%s' or '%s': %s\n", word, other, output);
  }
  assert_non_null(strstr(output, word));
  assert_non_null(strstr(output, other));
}

void test_unknown_device_fails_registration(void **state) {
  (void)state;
  expect_refusal("LEAT_VULKAN_DEVICE=nonsense", "LEAT_VULKAN_DEVICE", "nonsense");
}

void test_unparsable_variable_fails_registration(void **state) {
  (void)state;
  expect_refusal("LEAT_FORCE_GRAPH_PATH=perhaps", "LEAT_FORCE_GRAPH_PATH is \"perhaps\"", "0 or 1");
  expect_refusal("FORCE_GRAPH_PATH=2", " FORCE_GRAPH_PATH is \"2\"", "0 or 1");
  expect_refusal("LEAT_STREAM_POOL_WAIT_TIMEOUT_MS=soon", "LEAT_STREAM_POOL_WAIT_TIMEOUT_MS is \"soon\"",
                 "milliseconds");
  expect_refusal("LEAT_STREAM_POLICY=both", "LEAT_STREAM_POLICY is \"both\"", "round-robin");
  expect_refusal("LEAT_LANES=99", "LEAT_LANES is \"99\"", "1 to 8");
  expect_refusal("LEAT_LOW_WATERMARK_RATIO=half", "LEAT_LOW_WATERMARK_RATIO is \"half\"", "0.8");
}

void test_missing_backend_fails_registration(void **state) {
  (void)state;
  expect_refusal("LEAT_PLUGIN_PATH=/nowhere/libleat_vulkan.so", "LEAT_PLUGIN_PATH", "/nowhere/libleat_vulkan.so");
}
