/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Images whose channels are next to each other in memory: [image][pixel][channel] where a compact tensor has
 * [image][channel][pixel]. The shape is the same, the strides are others.
 */
#ifndef LEAT_PLUGIN_OPS_CHANNELS_LAST_H_
#define LEAT_PLUGIN_OPS_CHANNELS_LAST_H_

#include "ops/op.h"

/** Whether a view has channels and pixels, more than one of each: else both orders are the same. */
bool leati_has_channels(const leati_view *view);
/** Whether the channels of a view lie next to each other, without gaps, and not as in a compact one. */
bool leati_is_channels_last(const leati_view *view);
/** Sets the strides of a view of three dimensions or more so. */
void leati_make_channels_last(leati_view *view);
/** The view of the same elements whose dimensions are in the order in which they lie then: compact, if they do. */
leati_view leati_channels_last_order(const leati_view *view);
/** Gives the same elements where they lie so and eight of them may be moved at once: `view` itself or a copy.
 * @errors NOT_SUPPORTED: it reaches over 2^31 elements or more */
int32_t leati_plan_channels_last(leati_planner *planner, const leati_view *view, leati_view *out, leat_error *err);

#endif /* LEAT_PLUGIN_OPS_CHANNELS_LAST_H_ */
