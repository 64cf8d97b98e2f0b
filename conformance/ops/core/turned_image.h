/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Images in NHWC, for operators that the reference has in NCHW.
 */
#ifndef LEAT_CONFORMANCE_OPS_CORE_TURNED_IMAGE_H_
#define LEAT_CONFORMANCE_OPS_CORE_TURNED_IMAGE_H_

#include "ops/core/node.h"

/** Gives the image with its channels in dimension 1, which it has last; or `back`. Bounds are turned as elements are.
 * @threads owner
 * @param x [in] of three dimensions or more
 * @param back whether to NHWC
 * @param out [out] holds nothing before; release with leati_ref_tensor_clear() */
void leati_ref_turn_image(const leati_ref_tensor *x, bool back, leati_ref_tensor *out);

/** Computes a node whose input 0 and output 0 are images in NHWC by what computes it in NCHW.
 * @threads any
 * @param node [inout] as for leati_ref_run(), of one output
 * @param run of the operator in NCHW
 * @return whether it could; otherwise `error` says why */
bool leati_ref_run_turned(leati_ref_node *node, leati_ref_fn run);

#endif /* LEAT_CONFORMANCE_OPS_CORE_TURNED_IMAGE_H_ */
