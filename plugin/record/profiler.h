/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The profiler of a device: who asks for records, and where they are kept until they are read.
 *
 * leat_device::profiling says who: a bit for the trace (record/trace.h), and above it the number of the run that
 * start() began, 0 while there is none. Whatever is recorded carries the word as it was when its list was opened, so
 * that what comes late is not taken for the next run's.
 */
#ifndef LEAT_PLUGIN_RECORD_PROFILER_H_
#define LEAT_PLUGIN_RECORD_PROFILER_H_

#include <leat/backend.h>
#include <stdbool.h>

#include "device/device.h"

/** @errors OUT_OF_MEMORY */
int32_t leati_profiler_create(leat_device *device, leat_error *err);
/** Frees it, with what was not read. */
void leati_profiler_destroy(leat_device *device);

/** Whether the device has a clock that can be read. */
bool leati_profiler_possible(const leat_device *device);
/** leat_profiler_api::start without the flush. */
int32_t leati_profiler_start(leat_device *device, uint32_t capacity, leat_error *err);
/** leat_profiler_api::stop without the flush. False: it was not running. */
bool leati_profiler_stop(leat_device *device);
/** Takes the oldest record out. False: there is none. */
bool leati_profiler_take(leat_device *device, leat_profile_record *out);
/** leat_profiler_api::info. */
leat_profiler_info leati_profiler_get(leat_device *device);

/** Has all that is recorded from now on written to the trace, or nothing more. */
void leati_profiler_trace(leat_device *device, bool on);

/** The number of the next call that is recorded. */
uint64_t leati_profiler_launch(void);
/** Gives a record to those who asked for it: `modes` is leat_device::profiling as it was. Any lock of lower rank may be
 * held. */
void leati_profiler_put(leat_device *device, uint32_t modes, const leat_profile_record *record);
/** Counts records as lost. Likewise. */
void leati_profiler_lose(leat_device *device, uint32_t modes, uint32_t count);

#endif /* LEAT_PLUGIN_RECORD_PROFILER_H_ */
