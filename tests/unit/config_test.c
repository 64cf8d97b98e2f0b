/* SPDX-License-Identifier: BSD-3-Clause */
/* The environment: what cannot be parsed is an error that names the variable, the value and what is allowed. */
#include "config.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"

/* The environment is read once in a process, so each case is a process: reports the status, and whether the message
 * holds all words. */
static int read_with(const char *name, const char *value, const char *word) {
  const pid_t child = fork();
  if (child == 0) {
    const leati_config *config;
    leat_error err = {.struct_size = sizeof(err)};
    (void)setenv(name, value, 1);
    const int32_t status = leati_config_get(&config, &err);
    const int named = status == LEAT_OK || (strstr(err.message, name) != NULL && strstr(err.message, value) != NULL &&
                                            strstr(err.message, word) != NULL);
    _exit(named ? status : 100);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  return WEXITSTATUS(status);
}

static void good_values_are_taken(void **state) {
  (void)state;
  assert_int_equal(read_with("LEAT_LANES", "4", ""), LEAT_OK);
  assert_int_equal(read_with("LEAT_WAIT_SPIN_US", "0", ""), LEAT_OK);
  assert_int_equal(read_with("LEAT_LOG", "debug", ""), LEAT_OK);
  assert_int_equal(read_with("LEAT_VULKAN_DEVICE", "llvmpipe", ""), LEAT_OK);
  assert_int_equal(read_with("LEAT_LANES", "", ""), LEAT_OK);
}

static void nonsense_is_named(void **state) {
  (void)state;
  assert_int_equal(read_with("LEAT_LANES", "9", "1 to 8"), LEAT_ERROR_INVALID_ARGUMENT);
  assert_int_equal(read_with("LEAT_LANES", "0", "1 to 8"), LEAT_ERROR_INVALID_ARGUMENT);
  assert_int_equal(read_with("LEAT_LANES", "many", "1 to 8"), LEAT_ERROR_INVALID_ARGUMENT);
  assert_int_equal(read_with("LEAT_LANES", "3x", "1 to 8"), LEAT_ERROR_INVALID_ARGUMENT);
  assert_int_equal(read_with("LEAT_WAIT_SPIN_US", "-1", "0 to 1000000"), LEAT_ERROR_INVALID_ARGUMENT);
  assert_int_equal(read_with("LEAT_WAIT_SPIN_US", "99999999999999999999", "0 to"), LEAT_ERROR_INVALID_ARGUMENT);
  assert_int_equal(read_with("LEAT_LOG", "loud", "warn"), LEAT_ERROR_INVALID_ARGUMENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(good_values_are_taken),
      cmocka_unit_test(nonsense_is_named),
  };
  return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
