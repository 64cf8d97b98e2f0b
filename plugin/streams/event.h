/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Events: a value of a timeline.
 */
#ifndef LEAT_PLUGIN_STREAMS_EVENT_H_
#define LEAT_PLUGIN_STREAMS_EVENT_H_

#include <leat/backend.h>

#include "device/device.h"
#include "record/hazards.h"
#include "submit/timestamp.h"
#include "timeline/timeline.h"

struct leat_event {
  leati_kind kind;
  leat_device *device;
  bool timed;                 /* created with LEAT_EVENT_TIMING */
  leati_mutex lock;           /* guards `watch`, `stream` and `timestamp` */
  leati_watch watch;          /* of no timeline: never recorded */
  leat_stream *stream;        /* whose timeline that is or was: the object, whoever has it now */
  leati_timestamp *timestamp; /* of a timed event: when that was; NULL: never recorded */
  leati_known known;          /* what is recorded comes after */
  leat_event *next_free;      /* guarded by the lock of the free streams */
};

extern const leat_event_api leati_event_table;

/** Fails unless `event` is a live event of `device`. */
int32_t leati_event_check(const leat_event *event, const leat_device *device, leat_error *err);
/** leat_event_api::record. */
int32_t leati_event_record(leat_event *event, leat_stream *stream, leat_error *err);
/** leat_stream_api::wait_event, without the checks. */
int32_t leati_event_await(leat_event *event, leat_stream *stream, leat_error *err);

#endif /* LEAT_PLUGIN_STREAMS_EVENT_H_ */
