/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The generator of random numbers that abi/leat/backend.h names: Philox 4x32-10.
 */
#ifndef LEAT_CONFORMANCE_OPS_RANDOM_PHILOX_H_
#define LEAT_CONFORMANCE_OPS_RANDOM_PHILOX_H_

#include <stdint.h>

/** The four words of a counter of four words and a key of two.
 * @threads any */
void leati_ref_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

#endif /* LEAT_CONFORMANCE_OPS_RANDOM_PHILOX_H_ */
