/* SPDX-License-Identifier: BSD-3-Clause */
/* Scenes that go wrong on purpose: whoever runs scenes must notice. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
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

/* Uses processor time, of which clock() gives microseconds. */
static int work_for(clock_t used) {
  while (clock() < used) {
  }
  return 0;
}

static int work_slowly(void) {
  return work_for(CLOCKS_PER_SEC * 3 / 2);
}

static int work_without_end(void) {
  return work_for(CLOCKS_PER_SEC * 1000);
}

/* The first to take a name that the neighbours have in common comes up; the others end before. */
static int be_the_only_neighbour(void) {
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  (void)snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "leat-canary-%d", (int)getppid());
  const int taken = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (taken < 0 || bind(taken, (const struct sockaddr *)&name, sizeof(name)) != 0) {
    _exit(3);
  }
  scene_be_neighbour();
  return 0;
}

static int lack_neighbours(void) {
  scene_neighbours("canary-only-neighbour");
  return 0;
}

const scene scene_canaries[] = {{"canary-crash", crash_at_exit},
                                {"canary-endless", work_without_end},
                                {"canary-hang", hang_at_exit},
                                {"canary-neighbours", lack_neighbours},
                                {"canary-only-neighbour", be_the_only_neighbour},
                                {"canary-slow", work_slowly},
                                {"canary-wrong", compute_wrong},
                                {NULL, NULL}};
