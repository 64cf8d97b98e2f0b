/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The pool of 32 streams: number 0 for the main thread, the others for worker threads, one at a time or shared.
 *
 * Which streams are free is one word of bits, so taking one is a compare-and-swap of a plain value, and giving sets a
 * bit: there is no list whose head could come back (ABA). Only threads that must wait meet at a lock, where a stream
 * that is released goes to the thread that came first.
 */
#ifndef LEAT_PLUGIN_STREAMS_STREAM_POOL_H_
#define LEAT_PLUGIN_STREAMS_STREAM_POOL_H_

#include <leat/backend.h>
#include <stdbool.h>

#define LEATI_POOL_STREAMS 32u

extern const leat_pool_api leati_stream_pool_table;

/** Makes the pool of a device; its streams are made on first use. */
int32_t leati_stream_pool_create(leat_device *device, bool round_robin, int64_t timeout_ms, leat_error *err);
/** Frees it, once those threads are out that release their streams because they have ended; a thread that ends later
 * releases nothing. */
void leati_stream_pool_destroy(leat_device *device);

/** Whether the pool may give this stream to several threads. */
bool leati_stream_pool_shares(const leat_stream *stream);

#endif /* LEAT_PLUGIN_STREAMS_STREAM_POOL_H_ */
