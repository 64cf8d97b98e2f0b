/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What a process is at that does not end in time, as Linux tells it of each thread.
 */
#ifndef LEAT_CONFORMANCE_STALL_H_
#define LEAT_CONFORMANCE_STALL_H_

#include <glib.h>

/** Adds a line for each thread of a child process that has not been waited for: its name, whether it runs or sleeps,
 * the processor time that it has used, and what it waits for in the kernel, where the kernel tells. Busy threads
 * compute or compile; sleeping ones with no time used wait for each other, or for the device. */
void leati_stall_describe(GPid pid, GString *out);

#endif /* LEAT_CONFORMANCE_STALL_H_ */
