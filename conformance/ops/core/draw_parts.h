/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Parts of drawn calls that operators of several families have.
 */
#ifndef LEAT_CONFORMANCE_OPS_CORE_DRAW_PARTS_H_
#define LEAT_CONFORMANCE_OPS_CORE_DRAW_PARTS_H_

#include "ops/core/draw.h"

/** Sets floats to numbers of which the larger ones fit into no small integer, and some into none. */
void leati_draw_scale(leati_draw *d, leati_draw_tensor *tensor);

/** Elements of all that the type of bytes holds. */
void leati_draw_bytes(leati_draw *d, leati_draw_tensor *tensor);

/** A scale, and perhaps a zero point of a type. */
void leati_draw_scale_of_bytes(leati_draw *d, uint64_t type);

/** Gives the input, of bytes, all that they hold, and adds its scale and zero point and those of the result. */
void leati_draw_make_bytes(leati_draw *d);

/** An activation as attribute `name`, with some of its parameters in a list. */
void leati_draw_named_activation(leati_draw *d, const char *name, const char *list);

/** That of fused operators, and a residual's place. */
void leati_draw_activation(leati_draw *d);

/** Of products of bytes with a bias of `count` floats what comes behind it. */
void leati_draw_quantized_result(leati_draw *d, int64_t count, bool bias);

/** Two operands of bytes, one scale of the first and some of the second, and perhaps their zero points. */
void leati_draw_quantized_operands(leati_draw *d, const int32_t ranks[2], const int64_t *const dims[2],
                                   const int64_t *scales);

#endif /* LEAT_CONFORMANCE_OPS_CORE_DRAW_PARTS_H_ */
