# SPDX-License-Identifier: BSD-3-Clause
# Softmax and normalizations.
leat_room(FAMILIES hardmax softmax layer_norm gated_rms_norm group_norm image_norm embed_norm batch_norm lrn
  SOURCES norm row_sharing)

set(softmax_constants CONSTANTS ROWS_SPEC GROUP HELD QUADS LOGARITHM)
leat_kernel(softmax softmax.comp TYPES F32 F16 BF16 ${softmax_constants})
leat_kernel(softmax_shuffled softmax.comp TYPES F32 F16 BF16 ${softmax_constants} SHUFFLES)
set(norm_constants CONSTANTS ROWS_SPEC GROUP HELD QUADS RMS SKIP SETS EARLY GATE)
leat_kernel(norm norm.comp TYPES F32 F16 BF16 ${norm_constants})
leat_kernel(norm_shuffled norm.comp TYPES F32 F16 BF16 ${norm_constants} SHUFFLES)
leat_kernel(embed_norm norm.comp TYPES F32 F16 BF16 ${norm_constants} DEFINES EMBED)
leat_kernel(embed_norm_shuffled norm.comp TYPES F32 F16 BF16 ${norm_constants} DEFINES EMBED SHUFFLES)
leat_kernel(image_norm norm.comp TYPES F32 F16 BF16 ${norm_constants} DEFINES IMAGE)
leat_kernel(image_norm_shuffled norm.comp TYPES F32 F16 BF16 ${norm_constants} DEFINES IMAGE SHUFFLES)
leat_kernel(embed_bytes embed_bytes.comp)
leat_kernel(batch_norm batch_norm.comp TYPES F32 F16 BF16 CONSTANTS QUADS LAST)
leat_kernel(lrn lrn.comp TYPES F32 F16 BF16)
leat_kernel(lp_norm lp_norm.comp TYPES F32 F16 BF16 CONSTANTS ROWS_SPEC GROUP HELD QUADS SQUARES)
leat_kernel(lp_norm_shuffled lp_norm.comp TYPES F32 F16 BF16 CONSTANTS ROWS_SPEC GROUP HELD QUADS SQUARES SHUFFLES)
leat_kernel(hardmax hardmax.comp TYPES F32 F16 BF16)
