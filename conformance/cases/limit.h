/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * A limit of device memory that a case can reach, by LEAT_HIGH_WATERMARK_RATIO. Ends the case as not supported where a
 * backend has no such setting. For cases that are LEAT_CASE_ALONE, before they open the device.
 */
#ifndef LEAT_CONFORMANCE_CASES_LIMIT_H_
#define LEAT_CONFORMANCE_CASES_LIMIT_H_

#include "fixture.h"

/** The figures of a device at its highest limit, while so many blocks of a size are held. */
leat_memory_stats leati_limit_none(leat_case_context *ctx, uint32_t count, uint64_t size);

/** Lowers the limit to so many bytes, so that running out of memory does not take the machine's, and opens the device.
 * `unlimited`: from leati_limit_none(). */
void leati_limit_memory(leat_case_context *ctx, uint64_t bytes, leat_memory_stats unlimited);

#endif /* LEAT_CONFORMANCE_CASES_LIMIT_H_ */
