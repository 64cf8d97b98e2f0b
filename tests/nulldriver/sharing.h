/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What devices share by descriptors: bytes of a file without a name.
 */
#ifndef LEAT_TESTS_NULLDRIVER_SHARING_H_
#define LEAT_TESTS_NULLDRIVER_SHARING_H_

#include <stddef.h>

/** Bytes, zeroed, that can be shared by `*out_fd`, which the caller closes; NULL: there are none. */
void *nd_shared_create(size_t size, int *out_fd);
/** The bytes of a descriptor, which stays the caller's; NULL: it is of other things, or of another size. */
void *nd_shared_open(int fd, size_t size);
void nd_shared_close(void *bytes, size_t size);

#endif /* LEAT_TESTS_NULLDRIVER_SHARING_H_ */
