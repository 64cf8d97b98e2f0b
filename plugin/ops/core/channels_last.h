/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Images in NHWC layout: [image][pixel][channel] where a compact tensor has
 * [image][channel][pixel]. The shape is the same, the strides are others. Between the channels of one pixel and those
 * of the next there may be as many elements of other tensors everywhere: of what such images are put side by side with.
 */
#ifndef LEAT_PLUGIN_OPS_CORE_CHANNELS_LAST_H_
#define LEAT_PLUGIN_OPS_CORE_CHANNELS_LAST_H_

#include "ops/core/op.h"

/** Whether a view has channels and pixels, more than one of each: else both orders are the same. */
bool leati_has_channels(const leati_view *view);
/** Whether a view is in NHWC layout, and not as in a compact one. */
bool leati_is_channels_last(const leati_view *view);
/** Elements from one pixel of such a view, or of one where both orders are the same, to the next. */
int64_t leati_pixel_pitch(const leati_view *view);
/** Whether the channels of a view lie so, kernels can count to all of them, and eight may be moved at once from each
 * eighth on, if a pixel has so many: the view begins where that is so, and all pixels do if there are gaps. */
bool leati_holds_channels(const leati_view *view);
/** Sets the strides of a view of three dimensions or more so, without gaps. */
void leati_make_channels_last(leati_view *view);
/** The view of the same elements whose dimensions are in the order in which they lie then: compact, if they do without
 * gaps. */
leati_view leati_channels_last_order(const leati_view *view);
/** Gives the same elements where they lie so and eight of them may be moved at once: `view` itself or a copy.
 * @errors NOT_SUPPORTED: it reaches over 2^31 elements or more */
int32_t leati_plan_channels_last(leati_planner *planner, const leati_view *view, leati_view *out, leat_error *err);

#endif /* LEAT_PLUGIN_OPS_CORE_CHANNELS_LAST_H_ */
