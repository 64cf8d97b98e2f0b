/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Memory and buffers.
 */
#ifndef LEAT_TESTS_NULLDRIVER_ALLOCATIONS_H_
#define LEAT_TESTS_NULLDRIVER_ALLOCATIONS_H_

#include "nulldriver/objects.h"

/** Bytes of a single allocation at most. */
#define ND_ALLOCATION_MAX (UINT64_C(1) << 32)

/** Bytes allocated from heap 0 or 1. Lock held. */
uint64_t nd_memory_heap_used(uint32_t heap);

#endif /* LEAT_TESTS_NULLDRIVER_ALLOCATIONS_H_ */
