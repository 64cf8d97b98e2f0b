# SPDX-License-Identifier: BSD-3-Clause
leat_kernel(grid_sample grid_sample.comp TYPES F32 F16 BF16 CONSTANTS DIMENSIONS MODE PADDING GRID)
