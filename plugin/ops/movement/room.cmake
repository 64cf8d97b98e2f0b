# SPDX-License-Identifier: BSD-3-Clause
# Operators that move elements, or look at shapes alone.
leat_room(FAMILIES strided_view unfold_tensor concat pad depth_space trilu eye_like reshape bias_dropout shape
  constant_of_shape cosine_window range as_strided roll
  SOURCES fill)

leat_kernel(segments segments.comp ITEMS 8 16 32 64 128)
leat_kernel(pad pad.comp ITEMS 8 16 32 64 CONSTANTS mode)
leat_kernel(trilu trilu.comp ITEMS 8 16 32 64)
leat_kernel(eye_like eye_like.comp ITEMS 8 16 32 64)

leat_kernel(fill fill.comp ITEMS 8 16 32 64)
leat_kernel(cosine_window cosine_window.comp TYPES F32 F16 BF16)
leat_kernel(range range.comp TYPES F32 F16 BF16 I32 I64)
