/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Parts of drawn calls that operators of several families have.
 */
#ifndef LEAT_CONFORMANCE_OPS_CORE_DRAW_PARTS_H_
#define LEAT_CONFORMANCE_OPS_CORE_DRAW_PARTS_H_

#include "ops/core/draw.h"

/** Sets the elements of a float type to numbers of which the larger ones fit into no small integer, and some into none;
 * those of other types stay. */
void leati_draw_scale(leati_draw *d, leati_draw_tensor *tensor);

/** Sets the elements to any that int8, or uint8, holds. */
void leati_draw_bytes(leati_draw *d, leati_draw_tensor *tensor);

/** Adds scale and zero point of a quantised tensor: a float32, and perhaps (it is absent else) a number of @p type,
 * int8 or uint8; each is a scalar or has one element. */
void leati_draw_scale_of_bytes(leati_draw *d, uint64_t type);

/** Makes input 0, of int8 or uint8, a quantised one of any elements: adds its scale and zero point, and those of the
 * result. */
void leati_draw_make_bytes(leati_draw *d);

/** Draws the function of a fused operator as the attribute @p name, with none, some or all of its parameters as the
 * attribute @p list. */
void leati_draw_named_activation(leati_draw *d, const char *name, const char *list);

/** The same as `activation` and `activation_params`, perhaps with `activation_alpha` and its like, and
 * `residual_first`. */
void leati_draw_activation(leati_draw *d);

/** Adds what follows the operands of a quantised product: a bias of @p count float32, absent without @p bias, and
 * perhaps scale and zero point of the result. Its `activation` is Relu at times. */
void leati_draw_quantized_result(leati_draw *d, int64_t count, bool bias);

/** Adds two operands of int8 or uint8, a scalar scale for the first and @p scales [1] of them for the second, and
 * perhaps zero points of the same shapes. */
void leati_draw_quantized_operands(leati_draw *d, const int32_t ranks[2], const int64_t *const dims[2],
                                   const int64_t *scales);

#endif /* LEAT_CONFORMANCE_OPS_CORE_DRAW_PARTS_H_ */
