/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The profiler as the ABI shows it, and the trace that LEAT_PROFILE asks for: above streams and lanes, which have the
 * records of what is in flight.
 */
#ifndef LEAT_PLUGIN_STREAMS_PROFILER_TABLE_H_
#define LEAT_PLUGIN_STREAMS_PROFILER_TABLE_H_

#include <leat/backend.h>

extern const leat_profiler_api leati_profiler_table;

#endif /* LEAT_PLUGIN_STREAMS_PROFILER_TABLE_H_ */
