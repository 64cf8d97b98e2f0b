/* SPDX-License-Identifier: BSD-3-Clause */
/* Scenes that go wrong on purpose: whoever runs scenes must notice. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "scene.h"

static void crash(void) {
  (void)raise(SIGSEGV);
}

static int crash_at_exit(void) {
  (void)atexit(crash);
  exit(0);
}

static void hang(void) {
  for (;;) {
    (void)pause();
  }
}

static int hang_at_exit(void) {
  (void)atexit(hang);
  exit(0);
}

static int compute_wrong(void) {
  scene_work work = {.values = {{1}, {1}, {3}}};
  scene_check(&work);
  return 0;
}

const scene scene_canaries[] = {
    {"canary-crash", crash_at_exit}, {"canary-hang", hang_at_exit}, {"canary-wrong", compute_wrong}, {NULL, NULL}};
