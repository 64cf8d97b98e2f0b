/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The trace that LEAT_PROFILE asks for: records of all devices, as events in the JSON that Chrome's and Perfetto's
 * viewers read. One file for the process, whole JSON after each flush.
 *
 * Events are gathered in memory and written in large pieces, each of which ends the JSON; the next begins over that
 * end. Written by write calls of the kernel alone: what a child of fork() inherits it never writes.
 */
#ifndef LEAT_PLUGIN_RECORD_TRACE_H_
#define LEAT_PLUGIN_RECORD_TRACE_H_

#include <leat/backend.h>
#include <stdbool.h>

/** Makes the file, or goes on with it if it is the same. What is in a file of before stays until there is a record, so
 * that a program which only asks for devices leaves it. False: it cannot be written, or has failed before; the log
 * tells it once. */
bool leati_trace_open(const char *path);
/** Names a device and its lanes. */
void leati_trace_device(uint32_t index, const char *name, uint32_t lane_count);
/** Adds a record of a device. Any lock of lower rank may be held. */
void leati_trace_put(uint32_t device, const leat_profile_record *record);
/** Writes what was gathered. */
void leati_trace_flush(void);

#endif /* LEAT_PLUGIN_RECORD_TRACE_H_ */
