/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Compiling pipelines for plans and recordings: ahead of requests, up to a number, or inside of a request, which is
 * counted, logged and noted in a profile.
 */
#ifndef LEAT_PLUGIN_RECORD_COMPILATION_H_
#define LEAT_PLUGIN_RECORD_COMPILATION_H_

#include <leat/backend.h>
#include <stdbool.h>

#include "device/pipeline.h"

/** What a thread compiles from leati_compilation_begin() to leati_compilation_end(): on that thread's stack. */
typedef struct leati_compilation {
  bool ahead;     /**< no request waits for it */
  uint32_t max;   /**< pipelines at most */
  uint32_t count; /**< pipelines that the thread has compiled */
  struct leati_compilation *outer;
} leati_compilation;

/** Has the pipelines that this thread compiles from now on counted in `compilation`, of which `ahead` and `max` are
 * set. Of two that lie in each other the inner one counts. */
void leati_compilation_begin(leati_compilation *compilation);
/** Ends it; the one around it counts again. */
void leati_compilation_end(const leati_compilation *compilation);

/** leati_pipeline_compile() for this thread's compilation, or for a request if there is none.
 * @errors as that has; EXHAUSTED: as many as the compilation may have were compiled */
int32_t leati_compile(leat_device *device, const leati_pipeline_key *key, leat_error *err);

#endif /* LEAT_PLUGIN_RECORD_COMPILATION_H_ */
