/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 * Rules about what stands around a matrix product or a convolution: it becomes the end of leat's FusedMatMul and
 * FusedConv, which round as the single operators do, one after the other.
 */
#ifndef LEAT_PLUGIN_GRAPH_FUSE_PRODUCT_H_
#define LEAT_PLUGIN_GRAPH_FUSE_PRODUCT_H_

#include "graph/fusion.h"

/** Reshape to a matrix, product, and the Reshape back: a product of tensors with more dimensions. */
leati_fusion_rule leati_fuse_flatten;
/** Product + row. */
leati_fusion_rule leati_fuse_bias;
/** Product times a constant, or divided by a power of two. */
leati_fusion_rule leati_fuse_scale;
/** Function of one number of a product or convolution. */
leati_fusion_rule leati_fuse_activation;
/** Product or convolution + tensor; also where that is the sum in a SkipSimplifiedLayerNormalization of few rows, of
 * which the norm is left for leati_fuse_factor. */
leati_fusion_rule leati_fuse_residual;
/** Convolution of one tap of an image times one number for each channel, as squeeze and excitation give it. Node `n`
 * is the convolution. */
leati_fusion_rule leati_fuse_gate;
/** Means of the channels of images and two convolutions of one tap of them: leat's SqueezeExcite. Node `n` is the
 * second convolution. */
leati_fusion_rule leati_fuse_squeeze;

#endif /* LEAT_PLUGIN_GRAPH_FUSE_PRODUCT_H_ */
