# SPDX-License-Identifier: BSD-3-Clause
# Samples between the pixels of images.
leat_room(FAMILIES affine_grid resize grid_sample)

leat_kernel(affine_grid affine_grid.comp TYPES F32 F16 BF16)

leat_kernel(resize resize.comp TYPES F32 F16 BF16 CONSTANTS LINEAR_AXES NEAREST EXTRAPOLATE)
leat_kernel(resize_taps resize_taps.comp TYPES F32 CONSTANTS CUBIC EXCLUDE_OUTSIDE NORMALISE)

leat_kernel(grid_sample grid_sample.comp TYPES F32 F16 BF16 CONSTANTS DIMENSIONS MODE PADDING GRID)
