/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Calls of the ABI, drawn: of streams, events, memory, the pool and an operator. Each caller knows what must be in its
 * own blocks, whatever the streams, which all callers share, do in between; what is not so, and a call that fails, ends
 * the process with a message.
 */
#ifndef LEAT_TESTS_NULLDRIVER_RANDOM_CALLS_H_
#define LEAT_TESTS_NULLDRIVER_RANDOM_CALLS_H_

#include <stddef.h>
#include <stdint.h>

#include "nulldriver/test_host.h"

/** One who makes calls; used by one thread at a time. */
typedef struct caller caller;

/** Opens the device with the streams, events and constants that all callers share, once in a process at a time.
 * @param one_large_in one block in so many is so large that downloads of it go in pieces; 0: none is
 * @param out [out] the host, until calls_close()
 * @param why [out] what went wrong
 * @return that of the first call that failed: nothing is open then */
int32_t calls_open(uint64_t one_large_in, host **out, leat_error *why);
/** Closes it. No caller is left. */
void calls_close(void);

/** Makes a caller whose draws follow from the seed; release it with caller_free(). */
caller *caller_new(uint64_t seed);
/** Has what is drawn next follow from bytes, which are borrowed, until they are used up. */
void caller_draws_from(caller *w, const uint8_t *bytes, size_t count);
/** Bytes of caller_draws_from() that nothing was drawn from. */
size_t caller_bytes_left(const caller *w);
/** Calls of the ABI so far. */
uint64_t caller_calls(const caller *w);

/** Does one thing, of some calls. */
void caller_act(caller *w);
/** Makes so many runs of upload, operator, copy and download on a stream of its own, in new blocks each time. */
void caller_run(caller *w, uint64_t runs);

/** Gives back what the caller has, in any state of use. */
void caller_free(caller *w);

#endif /* LEAT_TESTS_NULLDRIVER_RANDOM_CALLS_H_ */
