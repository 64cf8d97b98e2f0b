/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Submissions on their way, and who completes them when.
 */
#ifndef LEAT_TESTS_NULLDRIVER_QUEUE_H_
#define LEAT_TESTS_NULLDRIVER_QUEUE_H_

#include "nulldriver/objects.h"

/** A semaphore and its value. */
typedef struct nd_point {
  nd_semaphore *semaphore;
  uint64_t value;
} nd_point;

/** Makes the sync file that a semaphore became readable, if it did, because what signals it has ended or never will.
 * Lock held. */
void nd_semaphore_release(nd_semaphore *semaphore);

/** One VkSubmitInfo in flight. It uses all objects that it needs, so that they outlive it. */
struct nd_job {
  nd_job *next;
  uint64_t number; /**< counts submissions of all queues */
  uint64_t looks;  /**< mode LATE: looks that must still happen */
  uint32_t wait_count, signal_count, buffer_count;
  nd_point *waits, *signals;
  nd_command_buffer **buffers;
};

/** Makes a job with room for so much; NULL without memory. */
nd_job *nd_job_create(uint32_t waits, uint32_t signals, uint32_t buffers);
/** Puts a job at the end of a queue. Lock held. */
void nd_queue_push(nd_queue *queue, nd_job *job);
/** Something was submitted: completes what the mode wants completed then. Lock held, given away meanwhile. */
void nd_submitted(nd_device *device);
/** Lets go of everything that a job uses; it did not run or has run. Lock held. */
void nd_job_destroy(nd_job *job);

/** Somebody asks how far things are: completes what the mode wants completed at a look. Lock held, given away
 * meanwhile. */
void nd_look(nd_device *device);
/** What a wait waits for. Lock held. */
typedef bool (*nd_condition)(void *context);
/** Waits, completing work as the mode wants it, until the condition holds, the device is lost or the deadline (as for
 * nd_sleep()) has passed. Lock held, given away meanwhile.
 * @errors VK_TIMEOUT, VK_ERROR_DEVICE_LOST */
VkResult nd_wait(nd_device *device, nd_condition condition, void *context, uint64_t deadline_ns);
/** Whether all submissions of a device have completed; the context is the device. Lock held. */
bool nd_device_idle(void *device);
/** Drops what is in flight, without completing it, and ends the device's threads. Lock held, given away meanwhile. */
void nd_device_stop(nd_device *device);

/** VK_ERROR_DEVICE_LOST, of a device that is: the caller comes after all that it has ever done. Lock held. */
VkResult nd_device_lost(nd_device *device);
/** Loses every device. What a thread is executing comes to its end first. Lock held, given away meanwhile. */
void nd_devices_lose(void);
/** The mode has changed. Lock held, given away meanwhile. */
void nd_devices_mode_changed(void);
/** A device begins or ends. Lock held. */
void nd_devices_add(nd_device *device);
void nd_devices_remove(nd_device *device);

/** Runs the commands of a job, on the calling thread. Lock not held, the thread sanitizer looking away. */
void nd_job_execute(const nd_job *job);

#endif /* LEAT_TESTS_NULLDRIVER_QUEUE_H_ */
