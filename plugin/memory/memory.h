/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Device memory: a caching allocator with stream-ordered reuse, and the table that finds the block behind an address.
 *
 * A *segment* is one VkDeviceMemory with one VkBuffer, cut into *blocks* of one size class. A block carries *stamps*:
 * the (timeline, value) pairs of its last uses. A freed block can be handed out at once to the stream of its only
 * stamp, and to anybody once all stamps have passed.
 *
 * What is taken from the driver, staging included, stays below the high watermark. Under LEAT_MEMORY_GUARD blocks have
 * red zones (memory/guard.h), and a freed one waits in a quarantine before it is reused.
 */
#ifndef LEAT_PLUGIN_MEMORY_MEMORY_H_
#define LEAT_PLUGIN_MEMORY_MEMORY_H_

#include <leat/backend.h>
#include <stdbool.h>

#include "memory/block.h"

int32_t leati_memory_create(leat_device *device, leat_error *err);
/** Frees everything. Logs what is still held, and what guarding finds. */
void leati_memory_destroy(leat_device *device);

/** Takes a block; `timeline` is that of the stream that will use it first, or NULL. Release with leati_memory_free().
 * @errors OUT_OF_MEMORY: also when what is missing is only waiting for its last use */
int32_t leati_memory_alloc(leat_device *device, uint64_t size, leati_timeline *timeline, uint64_t *out_address,
                           leat_error *err);
/** Takes a block for what one recording needs meanwhile, on a stream whose lock is held and that has `timeline`. It is
 * no caller's: no address in it is found, and the figures have it as cached. Release with
 * leati_memory_give_temporary().
 * @errors OUT_OF_MEMORY: as above */
int32_t leati_memory_take_temporary(leat_device *device, uint64_t size, leati_timeline *timeline, leati_block **out,
                                    leat_error *err);
/** Gives such a block back, in stream order, with the same lock held; `timeline` is the stream's. What guarding finds
 * is told by the next leati_memory_guard_check(). */
void leati_memory_give_temporary(leat_device *device, leati_timeline *timeline, leati_block *block);
/** Takes a block of memory of the host that the device works in: mapped, coherent, and cached where there is such.
 * Release with leati_memory_free_host().
 * @errors OUT_OF_MEMORY, INTERNAL */
int32_t leati_memory_alloc_host(leat_device *device, uint64_t size, void **out_pointer, leat_error *err);
/** Whether a block of so many bytes could be had if nobody held any other. */
bool leati_memory_possible(leat_device *device, uint64_t size);
/** Raises each of these uses, of different timelines, to the last one that a free block waits for there. */
void leati_memory_last_uses(leat_device *device, leati_stamp *uses, uint32_t count);
/** Gives a block back by its address.
 * @errors INVALID_ARGUMENT: no live block begins there; CORRUPTED: it is free now, but something wrote outside of it
 *   (without `err` the next leati_memory_guard_check() says so) */
int32_t leati_memory_free(leat_device *device, uint64_t address, leat_error *err);
/** Gives a block of memory of the host back by its pointer.
 * @errors INVALID_ARGUMENT, CORRUPTED: as above */
int32_t leati_memory_free_host(leat_device *device, void *pointer, leat_error *err);
/** Makes a block of memory that another API made, described as checked. Release with leati_memory_free().
 * @errors INVALID_ARGUMENT, OUT_OF_MEMORY, INTERNAL */
int32_t leati_memory_import(leat_device *device, const leat_external_memory *memory, uint64_t *out_address,
                            leat_error *err);
/** Adds a hold of the caller's: the block needs one leati_memory_free() more. */
void leati_memory_hold(leati_block *block);
/** Shares the block with an exported tensor: it lives until leati_memory_release() too, whatever is freed. */
void leati_memory_retain(leati_block *block);
/** Ends what leati_memory_retain() began. The last of all who hold a block frees it. */
void leati_memory_release(leat_device *device, leati_block *block);

/** The live block of the device that holds `address`, or NULL. Takes no lock. */
leati_block *leati_memory_find(leat_device *device, uint64_t address);
/** The live block of memory of the host that holds what a pointer of the host points at, or NULL. Takes no lock. */
leati_block *leati_memory_find_host(leat_device *device, const void *pointer);

/** Gives cached memory back because `wanted` bytes could not be had, of which `least` would do: down to the low
 * watermark and until there is room for them if the high one is in the way, else all of it. Hold none of the
 * allocator's locks and not that of staging. */
void leati_memory_reclaim(leat_device *device, uint64_t wanted, uint64_t least);

/** Whether LEAT_MEMORY_GUARD is on: the host must then see what the device wrote. */
bool leati_memory_guarded(const leat_device *device);
/** Looks for writes outside of blocks and into freed ones, as far as their last use has passed. Tells also what was
 * found since the last call and nobody was told.
 * @errors the first finding: CORRUPTED, or what leati_finding_keep() was given */
int32_t leati_memory_guard_check(leat_device *device, leat_error *err);

void leati_memory_stats_read(leat_device *device, leat_memory_stats *out);
/** leat_memory_api::classes, of a list that leati_check_list() took. */
void leati_memory_classes_read(leat_device *device, uint32_t *inout_count, leat_memory_class *out);
void leati_memory_reset_peaks(leat_device *device);
/** Gives segments without live or pending blocks, and staging that no work needs, back to the driver; returns their
 * bytes. */
uint64_t leati_memory_trim(leat_device *device);

#endif /* LEAT_PLUGIN_MEMORY_MEMORY_H_ */
