/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Events: a value of a timeline.
 */
#ifndef LEAT_PLUGIN_STREAMS_EVENT_H_
#define LEAT_PLUGIN_STREAMS_EVENT_H_

#include <leat/backend.h>

#include "streams/event_state.h"

extern const leat_event_api leati_event_table;

/** Fails unless `event` is a live event of `device`. */
int32_t leati_event_check(const leat_event *event, const leat_device *device, leat_error *err);
/** leat_event_api::record. */
int32_t leati_event_record(leat_event *event, leat_stream *stream, leat_error *err);
/** leat_stream_api::wait_event, without the checks. */
int32_t leati_event_await(leat_event *event, leat_stream *stream, leat_error *err);

#endif /* LEAT_PLUGIN_STREAMS_EVENT_H_ */
