/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What a tool prints arrives, or somebody is told.
 */
#ifndef LEAT_TOOLS_OUTPUT_H_
#define LEAT_TOOLS_OUTPUT_H_

/** Guards stdout until the process ends: if something could not be written there, --help and --version included, a line
 * on stderr says why, and the exit status tells. First in main(), once.
 * @param program [borrowed: for ever] for that line
 * @param status the exit status then */
void leati_output_guard(const char *program, int status);

/** Hands on what was printed to stdout so far. If that fails, the guard says why when the process ends. By one thread
 * at a time. */
void leati_output_flush(void);

#endif /* LEAT_TOOLS_OUTPUT_H_ */
