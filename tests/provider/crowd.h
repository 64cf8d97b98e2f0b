/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Many threads that begin at once.
 */
#ifndef LEAT_TESTS_PROVIDER_CROWD_H_
#define LEAT_TESTS_PROVIDER_CROWD_H_

/** Threads of a crowd at most. */
#define CROWD_MAX 40

/** Runs `body` in so many threads at once, each with its number, and waits for them. Ends the test if a thread cannot
 * be made.
 * @return the sum of what they return */
unsigned crowd_run(unsigned count, unsigned (*body)(unsigned index, void *context), void *context);

#endif /* LEAT_TESTS_PROVIDER_CROWD_H_ */
