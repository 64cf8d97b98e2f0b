/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Command buffers of a lane, and how lists of commands are written into them.
 *
 * A list is plain data until the leader of its lane submits it. Lists that go together are written into one command
 * buffer in lockstep: the first commands of all, up to where each would need a barrier; one barrier; the next commands
 * of all; and so on. Barriers are queue-wide, so lists one behind the other would wait for each other's; and a command
 * buffer costs a GPU more than a dispatch does.
 *
 * A list that goes by itself may be in a command buffer already: a thread that runs the same operators again hands over
 * the same commands, because all that differs is in the argument records. Then nothing is written.
 */
#ifndef LEAT_PLUGIN_SUBMIT_COMMAND_BUFFER_H_
#define LEAT_PLUGIN_SUBMIT_COMMAND_BUFFER_H_

#include <leat/backend.h>

#include "device/device.h"
#include "policy/constants.h"
#include "record/command.h"
#include "record/profile.h"
#include "timeline/timeline.h"

/** A command buffer with a pool of its own. Belongs to the leader of a lane. */
typedef struct leati_command_buffer {
  struct leati_command_buffer *next;
  VkCommandPool pool;
  VkCommandBuffer commands;
  uint64_t value; /**< of the lane's timeline semaphore, with which it has run */
  /* The list that is on it, if that may be submitted again. */
  leati_command *cached;
  uint32_t cached_count, cached_capacity; /**< commands; a count of 0: there is none */
  bool cached_after;
  VkPipelineStageFlags cached_to_host;
  uint32_t cached_destroyed;    /**< leat_device::destroyed when it was written */
  leati_profile_batch *profile; /**< of what is on it; NULL: there was none yet */
} leati_command_buffer;

/** @errors OUT_OF_MEMORY, DEVICE_LOST */
int32_t leati_command_buffer_create(leat_device *device, leati_command_buffer **out, leat_error *err);
/** Frees a list of command buffers of which nothing is in flight. */
void leati_command_buffers_destroy(leat_device *device, leati_command_buffer *command_buffers);

/** Whether a command buffer holds just this list, and nothing that it names is gone. */
bool leati_command_buffer_holds(const leat_device *device, const leati_command_buffer *command_buffer,
                                const leati_submission *list);

/** Writes lists, oldest first, at most LEATI_COMMAND_BUFFER_LISTS_MAX, into a command buffer of which nothing is in
 * flight. Lists of one stream run in their order, and so does everything that the queue was given before if one of the
 * lists asks for it; what the lists of different streams do is not ordered. With `hold` the command buffer holds a list
 * that goes by itself, if that is worth it.
 * @errors OUT_OF_MEMORY, DEVICE_LOST */
int32_t leati_command_buffer_write(leat_device *device, leati_command_buffer *command_buffer,
                                   leati_submission *const *lists, uint32_t count, bool hold, leat_error *err);

#endif /* LEAT_PLUGIN_SUBMIT_COMMAND_BUFFER_H_ */
