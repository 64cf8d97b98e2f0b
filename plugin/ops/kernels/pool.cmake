# SPDX-License-Identifier: BSD-3-Clause
leat_kernel(pool pool.comp TYPES F32 F16 BF16 I8 U8 CONSTANTS AVERAGE LAST COUNT_PADDING)
