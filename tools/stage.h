/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * A stage: one step of the main thread outside of the workers, such as making a session. It is shown while it lasts,
 * and one that outlasts --timeout ends the process, because a call into ONNX Runtime cannot be ended in any other way.
 */
#ifndef LEAT_TOOLS_STAGE_H_
#define LEAT_TOOLS_STAGE_H_

#include <stdint.h>

/** Says how long each stage may take. Before the first stage; the process's SIGALRM belongs to this file from then on.
 * @param seconds 0: as long as it likes */
void leati_stage_limit(int64_t seconds);

/** A stage begins, and the one before it is over. On a terminal it is shown.
 * @threads main
 * @param what in words that the name goes on, such as "session for"
 * @param name [borrowed: until return] of a model */
void leati_stage_begin(const char *what, const char *name);

/** The stage is over, and none follows at once. */
void leati_stage_end(void);

#endif /* LEAT_TOOLS_STAGE_H_ */
