# SPDX-License-Identifier: BSD-3-Clause
# Mixtures of experts: layers of which each token takes a few of many.
leat_room(FAMILIES moe)

leat_kernel(moe_route moe_route.comp TYPES F32 F16 BF16 CONSTANTS ROWS_SPEC NORMALIZED)
leat_kernel(moe_sort moe_sort.comp CONSTANTS EXPERTS)
leat_kernel(moe moe.comp TYPES F32 F16 BF16 CONSTANTS ROWS_SPEC SECOND TOGETHER BITS QUADS ACTIVATION FUSION)
leat_kernel(moe_combine moe_combine.comp TYPES F32 F16 BF16)
