# SPDX-License-Identifier: BSD-3-Clause
leat_kernel(topk topk.comp TYPES F32 F16 BF16 I8 I16 I32 I64 U8 U16 U32 U64)
leat_kernel(topk_merge topk_merge.comp TYPES F32 F16 BF16 I8 I16 I32 I64 U8 U16 U32 U64)
