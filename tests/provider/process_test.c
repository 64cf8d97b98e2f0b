/* SPDX-License-Identifier: BSD-3-Clause */
#include "process_test.h"

#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "layer.h"

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

/* ---- The children -------------------------------------------------------------------------------------------------
 */

/* The fixture with the provider registered. */
static void open_registered(ort_fixture *fixture) {
  ort_fixture_open(fixture);
  ort_fixture_check(fixture, ort_fixture_register(fixture), "registering the provider");
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
  } children[] = {{"register", child_register}, {"open", child_open}};
  for (size_t i = 0; i < sizeof(children) / sizeof(children[0]); ++i) {
    if (strcmp(children[i].name, name) == 0) {
      return children[i].run();
    }
  }
  fprintf(stderr, "there is no child '%s'\n", name);
  return 2;
}

/* ---- The tests ----------------------------------------------------------------------------------------------------
 */

void test_leaving_everything_open_is_legal(void **state) {
  (void)state;
  char output[4096];
  int status = run_child("open", NULL, output, sizeof(output));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    fprintf(stderr, "it ended with status %#x: %s\n", (unsigned)status, output);
  }
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
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
