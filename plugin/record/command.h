/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Commands: what lists are made of, as plain data.
 */
#ifndef LEAT_PLUGIN_RECORD_COMMAND_H_
#define LEAT_PLUGIN_RECORD_COMMAND_H_

#include <stdbool.h>
#include <stdint.h>

#include "device/pipeline.h"
#include "device/vulkan.h"
#include "memory/block.h"

struct leati_timestamp;

typedef enum leati_command_kind {
  LEATI_COMMAND_DISPATCH,
  LEATI_COMMAND_COPY,
  LEATI_COMMAND_TIMESTAMP, /**< a timestamp, when everything before it has run */
} leati_command_kind;

/** What a command that is of no operator moves, for a profile. */
typedef enum leati_transfer {
  LEATI_TRANSFER_COPY, /**< on the device, or nothing */
  LEATI_TRANSFER_UPLOAD,
  LEATI_TRANSFER_DOWNLOAD,
} leati_transfer;

/** A command, before it is recorded into a command buffer. */
typedef struct leati_command {
  uint8_t kind;     /**< a leati_command_kind */
  bool barrier;     /**< everything before it in its list must be visible to it */
  uint8_t transfer; /**< a leati_transfer */
  uint32_t work_us; /**< estimate of what it takes the device (policy/submitting.h) */
  union {
    struct {
      leati_pipeline *pipeline;
      VkDescriptorSet set;
      uint32_t offset; /**< of the argument record in the set's buffer */
      uint32_t groups[3];
    } dispatch;
    struct {
      VkBuffer from, to;
      VkBufferCopy region;
      leati_block *stamped; /**< of a piece: what it reads, to be stamped when it is handed over */
    } copy;
    struct leati_timestamp *timestamp;
  };
} leati_command;

#endif /* LEAT_PLUGIN_RECORD_COMMAND_H_ */
