# SPDX-License-Identifier: BSD-3-Clause
leat_kernel(fill fill.comp ITEMS 8 16 32 64)
leat_kernel(range range.comp TYPES F32 F16 BF16 I32 I64)
