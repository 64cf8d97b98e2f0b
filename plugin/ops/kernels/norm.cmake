# SPDX-License-Identifier: BSD-3-Clause
leat_kernel(softmax softmax.comp TYPES F32 CONSTANTS ROWS_SPEC HELD LOGARITHM)
leat_kernel(norm norm.comp TYPES F32 CONSTANTS ROWS_SPEC HELD RMS SKIP)
leat_kernel(batch_norm batch_norm.comp TYPES F32 CONSTANTS QUADS)
