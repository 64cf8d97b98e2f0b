/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The profiler as the ABI shows it, and the trace that LEAT_PROFILE asks for: above streams and lanes, which have the
 * records of what is in flight.
 */
#ifndef LEAT_PLUGIN_STREAMS_PROFILER_TABLE_H_
#define LEAT_PLUGIN_STREAMS_PROFILER_TABLE_H_

#include <leat/backend.h>

extern const leat_profiler_api leati_profiler_table;

/** Has all that a device does, which was just opened, written to the trace at `path`. What is in the way is told by the
 * log, and the device works without. The backend's lock is held, here and below. */
void leati_profiler_attach(leat_device *device, const char *path);
/** Writes the rest of an idle device that is about to be closed, if it is traced. */
void leati_profiler_detach(leat_device *device);

#endif /* LEAT_PLUGIN_STREAMS_PROFILER_TABLE_H_ */
