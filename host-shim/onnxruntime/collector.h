/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * What a device did, told apart by profile. The backend has one profiler for each device, and any number of sessions
 * and Runs may have a profile at once: it runs while there is one, and each gets the records of what its own threads
 * gave the device to do.
 */
#ifndef LEAT_ONNXRUNTIME_COLLECTOR_H_
#define LEAT_ONNXRUNTIME_COLLECTOR_H_

#include <leat/backend.h>
#include <pthread.h>

#include "common/guarded.h"
#include "spans.h"

/** Records, and events of ONNX Runtime, that are kept for all profiles of a device together. */
#define LEATI_PROFILE_MOST (UINT32_C(1) << 18)

/** A profile. All zero is one that does not run; its fields are the collector's. */
typedef struct leati_profile {
  bool running;
  uint64_t lost; /* what the collector had lost when it began */
} leati_profile;

/** The profiles of one device. */
typedef struct leati_collector {
  pthread_mutex_t lock; /* guards all below, and what runs of the profiles. The backend is called under it */
  leati_spans spans;
  uint64_t lost_spans;
  unsigned profiles;            /* that run; the backend's profiler does while there are any */
  leat_profile_record *records; /* of other profiles than those that have taken theirs; owned */
  size_t count, capacity;
} leati_collector;

/** Makes a collector without profiles.
 * @threads owner
 * @param collector [out] the collector; release with leati_collector_clear() if it was made
 * @return whether there was memory for its lock */
bool leati_collector_init(leati_collector *collector);

/** Frees a collector whose profiles have ended.
 * @threads owner
 * @param collector [inout] the collector */
void leati_collector_clear(leati_collector *collector);

/** Starts a profile.
 * @threads any
 * @param collector [inout] the device's
 * @param api [in] the backend's profiler table
 * @param device [in] the device
 * @param profile [inout] the profile; leati_collector_end() must follow on LEAT_OK
 * @param err [out] what went wrong
 * @return LEAT_OK; LEAT_ERROR_BUSY: it runs, or somebody else has the backend's profiler; or the code of another
 * failure */
int32_t leati_collector_begin(leati_collector *collector, const leat_profiler_api *api, leat_device *device,
                              leati_profile *profile, leat_error *err);

/** Notes that this thread is in an event of ONNX Runtime from now on. Does nothing if the profile does not run.
 * @threads any
 * @param collector [inout] the device's
 * @param profile [in] whose event it is
 * @param id ONNX Runtime's of the event */
void leati_collector_enter(leati_collector *collector, const leati_profile *profile, uint64_t id);

/** Notes that this thread has left an event of ONNX Runtime.
 * @threads any
 * @param collector [inout] the device's
 * @param profile [in] whose event it is
 * @param id ONNX Runtime's of the event
 * @param name [owned] the event's; NULL: nothing of the event itself is on this device */
void leati_collector_leave(leati_collector *collector, const leati_profile *profile, uint64_t id, char *name);

/** Is given a step of a launch, which it may change, and the event around it. */
typedef void (*leati_collector_visit)(void *context, leat_profile_record *record, const leati_span *span);

/** Ends a profile and hands out the steps of its launches, launch by launch. The device has done what is to be among
 * them. Does nothing if the profile does not run.
 * @threads any
 * @param collector [inout] the device's
 * @param api [in] the backend's profiler table
 * @param device [in] the device
 * @param profile [inout] the profile
 * @param visit takes a step, with the collector's lock held; NULL: nobody does
 * @param context [in] for `visit`
 * @return how many records and events of the device were lost for want of room while the profile ran */
uint64_t leati_collector_end(leati_collector *collector, const leat_profiler_api *api, leat_device *device,
                             leati_profile *profile, leati_collector_visit visit, void *context);

#endif /* LEAT_ONNXRUNTIME_COLLECTOR_H_ */
