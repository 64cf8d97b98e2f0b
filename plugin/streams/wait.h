/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Waiting on the host for values of timelines. Call these with no lock held.
 */
#ifndef LEAT_PLUGIN_STREAMS_WAIT_H_
#define LEAT_PLUGIN_STREAMS_WAIT_H_

#include <leat/backend.h>

#include "timeline/timeline.h"

/** Waits for a value: spins, sleeps through half of what usually takes long, and blocks when it takes longer.
 * Deliveries up to it have been made on LEAT_OK. `timeout_ns` as in leat_event_api::wait.
 * @errors TIMEOUT, the timeline's failure, DEVICE_LOST */
int32_t leati_wait(leati_timeline *timeline, uint64_t value, int64_t timeout_ns, leat_error *err);

#endif /* LEAT_PLUGIN_STREAMS_WAIT_H_ */
