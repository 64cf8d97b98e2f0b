/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Starts the program of a test once more, as a process of its own.
 */
#ifndef LEAT_TESTS_UNIT_AGAIN_H_
#define LEAT_TESTS_UNIT_AGAIN_H_

#include <spawn.h>
#include <stdlib.h>
#include <unistd.h>

/** Words that start_again() takes at most. */
#define AGAIN_WORDS 8

/** Starts this program with other arguments, which end with NULL. LEAT_TEST_EMULATOR names what a program for another
 * processor is run by: the system cannot start it by itself.
 * @return 0, or an errno */
static inline int start_again(char *const arguments[], pid_t *out) {
  char *const emulator = getenv("LEAT_TEST_EMULATOR");
  if (emulator == NULL) {
    return posix_spawn(out, "/proc/self/exe", NULL, NULL, arguments, environ);
  }
  /* An emulator shows a program its own path here; as a path, this one would be the emulator's. */
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
  path[length < 0 ? 0 : length] = '\0';
  char *words[AGAIN_WORDS + 2] = {emulator, path};
  for (int i = 1; i < AGAIN_WORDS && arguments[i] != NULL; ++i) {
    words[i + 1] = arguments[i];
  }
  return posix_spawnp(out, emulator, NULL, NULL, words, environ);
}

#endif /* LEAT_TESTS_UNIT_AGAIN_H_ */
