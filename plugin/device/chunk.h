/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Chunks: mapped buffers through which bytes and argument records pass between host and device (staging buffers). They
 * are handed out whole and come back when the submission that used them has run.
 */
#ifndef LEAT_PLUGIN_DEVICE_CHUNK_H_
#define LEAT_PLUGIN_DEVICE_CHUNK_H_

#include <leat/backend.h>

#include "device/slab.h"
#include "device/vulkan.h"

/** What a chunk is for. */
typedef enum leati_chunk_kind {
  LEATI_CHUNK_ARGUMENTS, /**< argument records, and counters of kernels: a uniform buffer with its descriptor set */
  LEATI_CHUNK_UPLOAD,    /**< host to device: copied from, or read by kernels */
  LEATI_CHUNK_DOWNLOAD,  /**< device to host: copied to, or written by kernels */
  LEATI_CHUNK_KINDS,
} leati_chunk_kind;

/** A mapped, coherent buffer. Belongs to one stream or submission at a time, whose lock guards `used` and `next`. */
typedef struct leati_chunk {
  struct leati_chunk *next;
  leati_chunk_kind kind;
  uint32_t user; /**< number of the stream that took it last */
  VkBuffer buffer;
  leati_slab *slab; /**< the memory that it lies in */
  unsigned char *mapped;
  unsigned char *draft; /**< ARGUMENTS only: plain memory, for what goes to `mapped` when the list is handed over */
  uint64_t size, used;
  uint64_t number;                  /**< on a free list: smaller than those that were given to it later */
  uint64_t address;                 /**< what the device knows it by */
  VkDescriptorPool descriptor_pool; /**< ARGUMENTS only */
  VkDescriptorSet set;              /**< ARGUMENTS only: binding 0 is LEATI_ARGS_MAX bytes from the dynamic offset on */
} leati_chunk;

int32_t leati_chunks_create(leat_device *device, leat_error *err);
void leati_chunks_destroy(leat_device *device);

/** Takes an empty chunk of at least `size` bytes, a free one or one that is made; others take leati_staging_take().
 * @errors OUT_OF_MEMORY */
int32_t leati_chunks_take(leat_device *device, uint32_t user, leati_chunk_kind kind, uint64_t size, leati_chunk **out,
                          leat_error *err);
/** Bytes of the chunk that is made for `size` bytes. */
uint64_t leati_chunks_size(leati_chunk_kind kind, uint64_t size);
/** Releases a list of chunks linked by `next`; nothing may use them any more. */
void leati_chunks_give(leat_device *device, leati_chunk *chunks);
/** Takes the chunk that a device has in reserve for copies to and from the host that find no memory for another one;
 * waits while another thread has it. NULL: there was no memory for one. Then release it, when nothing uses it any more.
 * Hold no lock, and it not already. */
leati_chunk *leati_chunks_take_reserve(leat_device *device);
void leati_chunks_give_reserve(leat_device *device);
/** Destroys the free chunks of slabs that nobody uses, for a device that is short of memory; returns their bytes. */
uint64_t leati_chunks_trim(leat_device *device);
/** Bytes taken from the driver. */
uint64_t leati_chunks_bytes(leat_device *device);

#endif /* LEAT_PLUGIN_DEVICE_CHUNK_H_ */
