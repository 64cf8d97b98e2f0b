/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Streams as the ABI shows them: what it checks before a stream is used, above streams, events, free streams and pool.
 */
#ifndef LEAT_PLUGIN_STREAMS_STREAM_TABLE_H_
#define LEAT_PLUGIN_STREAMS_STREAM_TABLE_H_

#include <leat/backend.h>

extern const leat_stream_api leati_stream_table;

#endif /* LEAT_PLUGIN_STREAMS_STREAM_TABLE_H_ */
