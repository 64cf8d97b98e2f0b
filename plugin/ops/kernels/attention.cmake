# SPDX-License-Identifier: BSD-3-Clause
set(attention_constants CONSTANTS QUADS DEPTH_CHUNK WIDTH_CHUNK)
leat_kernel(attention_64 attention.comp TYPES F32 F16 BF16 ${attention_constants} DEFINES HEAD=64)
leat_kernel(attention_256 attention.comp TYPES F32 F16 BF16 ${attention_constants} DEFINES HEAD=256)
