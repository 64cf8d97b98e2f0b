/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Scenes as processes: each is one, started by its name, and some start others. What they do inside is not known here.
 *
 * A scene ends with status 0, with 77 where there is nothing to try it on, and with anything else, a signal or no end
 * at all if something is wrong.
 */
#ifndef LEAT_TESTS_LIFE_PROCESS_H_
#define LEAT_TESTS_LIFE_PROCESS_H_

#include <stddef.h>
#include <sys/types.h>

#define SCENE_SKIP 77
/** Threads of each process that scene_neighbours() starts. */
#define SCENE_NEIGHBOUR_THREADS 4

/** A scene: main() returns what it returns. */
typedef struct scene {
  const char *name;
  int (*run)(void);
} scene;

/** What main() does: runs the scene that the one argument names, or prints all names. Each of the `count` lists ends
 * with an empty name. */
int scene_main(int argc, char **argv, const scene *const *lists, size_t count);

/** Ends the process with a message and status 1. */
_Noreturn void scene_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** Sleeps. */
void scene_nap(unsigned milliseconds);

/** Runs this program again as another scene, with `in` and `out` as its stdin and stdout (-1: those of this process).
 */
pid_t scene_spawn(const char *name, int in, int out);
/** Fails unless the process ends with status 0. */
void scene_reap(pid_t process, const char *what);

/** Runs a scene in four processes at once, kills one of them with SIGKILL when all are at work, and fails unless the
 * others end well, or at once if one of them ends before. The scene calls scene_be_neighbour() once its threads are at
 * work, and ends some work later. */
void scene_neighbours(const char *name);
/** Says that this process is at work, and waits until its neighbour was killed. */
void scene_be_neighbour(void);

#endif /* LEAT_TESTS_LIFE_PROCESS_H_ */
