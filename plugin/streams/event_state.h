/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What an event holds.
 */
#ifndef LEAT_PLUGIN_STREAMS_EVENT_STATE_H_
#define LEAT_PLUGIN_STREAMS_EVENT_STATE_H_

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

#endif /* LEAT_PLUGIN_STREAMS_EVENT_STATE_H_ */
