/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Pipeline caches: which pipelines were compiled with them, and their data.
 */
#ifndef LEAT_TESTS_NULLDRIVER_PIPELINE_CACHES_H_
#define LEAT_TESTS_NULLDRIVER_PIPELINE_CACHES_H_

#include <stddef.h>

#include "nulldriver/objects.h"

/** A hash of bytes, begun with `hash`. */
uint64_t nd_hash(uint64_t hash, const void *bytes, size_t size);
/** A pipeline is compiled with a cache: it knows it from then on, or did already, which is counted. Lock held. */
void nd_pipeline_cache_note(nd_pipeline_cache *cache, uint64_t pipeline);
/** Counts anew. Lock held. */
void nd_pipelines_reset(void);

#endif /* LEAT_TESTS_NULLDRIVER_PIPELINE_CACHES_H_ */
