/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Whether the tensors of a call that are written share memory with others. Of few tensors each is compared with each;
 * this is for those of calls with many.
 */
#ifndef LEAT_PLUGIN_MEMORY_OVERLAP_H_
#define LEAT_PLUGIN_MEMORY_OVERLAP_H_

#include "memory/tensor.h"

/** Tensors that are written from which on it is worth while. */
#define LEATI_OVERLAPS_MANY 16

/** Whether tensor `written` may share memory with tensor `other`, by their numbers in the list. */
typedef bool leati_may_share(const void *context, uint32_t written, uint32_t other);

/** Whether none of `count` tensors, of which those from number `first_written` on are written, shares memory with
 * another in a way that `may` does not allow, if one of both is written. Takes about as long as sorting them. False too
 * where there is no host memory to find out. */
bool leati_views_are_apart(const leati_view *views, uint32_t count, uint32_t first_written, leati_may_share *may,
                           const void *context);

#endif /* LEAT_PLUGIN_MEMORY_OVERLAP_H_ */
