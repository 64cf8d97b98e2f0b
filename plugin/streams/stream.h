/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Streams: ordered lists of commands. Operators write them through a recorder (streams/recorder.h).
 */
#ifndef LEAT_PLUGIN_STREAMS_STREAM_H_
#define LEAT_PLUGIN_STREAMS_STREAM_H_

#include <leat/backend.h>

struct leati_block;
struct leati_timeline;

/** Device of a live stream. */
leat_device *leati_stream_device(const leat_stream *stream);
/** Fails unless `stream` is a live stream, and of `device` unless that is NULL. */
int32_t leati_stream_check(const leat_stream *stream, const leat_device *device, leat_error *err);
/** As leati_memory_alloc() for what follows in the stream. Under its lock: another thread may give the stream another
 * timeline, and another stream this one. */
int32_t leati_stream_alloc(leat_stream *stream, uint64_t size, uint64_t *out_address, leat_error *err);
/** Stamps a block as used by everything that is in the stream now. */
void leati_stream_stamp(leat_stream *stream, struct leati_block *block);
/** leat_stream_api::synchronize. Also when the stream has failed, nothing of it is in flight afterwards and no download
 * under way, unless the device is lost. */
int32_t leati_stream_synchronize(leat_stream *stream, leat_error *err);
/** Waits for what was submitted before the failure of a timeline, which is the stream's or was, and which the caller
 * keeps or watches: it still runs, and its downloads arrive. A thread that has waited and is told of the failure may
 * free their destinations at once, so they arrive before that.
 * @errors TIMEOUT: it was not done by `deadline_ns` of leati_now_ns(); why it could not be waited for */
int32_t leati_stream_drain(leat_stream *stream, struct leati_timeline *failed, uint64_t deadline_ns, leat_error *err);

#endif /* LEAT_PLUGIN_STREAMS_STREAM_H_ */
