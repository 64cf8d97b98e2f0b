# SPDX-License-Identifier: BSD-3-Clause
leat_kernel(copy copy.comp ITEMS 8 16 32 64 128 CONSTANTS RANK EACH)
leat_kernel(transpose transpose.comp ITEMS 8 16 32 64 CONSTANTS SIDE QUADS_IN QUADS_OUT RANK)
leat_kernel(segments segments.comp ITEMS 8 16 32 64 128)
leat_kernel(download download.comp ITEMS 8 16 32 64 128)
leat_kernel(pad pad.comp ITEMS 8 16 32 64 CONSTANTS mode)
leat_kernel(trilu trilu.comp ITEMS 8 16 32 64)
