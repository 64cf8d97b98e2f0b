/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * The streams of a device: where they come from, where they go, and all of them at once.
 *
 * Stream objects live as long as the device. One that was destroyed is handed to the next caller with its timeline and
 * its lane, whatever is still in flight there: values go on rising and the queue keeps the order.
 */
#ifndef LEAT_PLUGIN_STREAMS_FREE_STREAMS_H_
#define LEAT_PLUGIN_STREAMS_FREE_STREAMS_H_

#include <leat/backend.h>
#include <stdbool.h>

int32_t leati_streams_create(leat_device *device, leat_error *err);
/** Frees all streams, events and timelines. The device must be idle. */
void leati_streams_destroy(leat_device *device);
/** Flushes all streams. A failure is for those to hear who use that stream. */
void leati_streams_flush(leat_device *device);
/** leat_device_api::synchronize. */
int32_t leati_streams_synchronize(leat_device *device, leat_error *err);

/** Waits for work in flight, and in open lists, that holds memory which may come free: freed blocks and staging. Of
 * each timeline what is in by now is waited for, and no more. True: try again, and wait again if that fails, for
 * another thread may have been quicker; so it is also if there was nothing to wait for, once: it may just have ended.
 * `*inout_tries` is the caller's own, 0 at first. Hold no lock. */
bool leati_streams_await_memory(leat_device *device, uint32_t *inout_tries);

/** Takes a stream without a sticky error. */
int32_t leati_streams_take(leat_device *device, leat_stream **out, leat_error *err);
/** Releases a stream that has been flushed; what could not be submitted is taken back. */
void leati_streams_release(leat_stream *stream);

/** Takes an event that stands for nothing; `timed`: with timing. */
int32_t leati_events_take(leat_device *device, bool timed, leat_event **out, leat_error *err);
void leati_events_release(leat_event *event);

#endif /* LEAT_PLUGIN_STREAMS_FREE_STREAMS_H_ */
