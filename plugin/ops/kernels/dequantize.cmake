# SPDX-License-Identifier: BSD-3-Clause
leat_kernel(dequantize dequantize.comp TYPES F32 F16 BF16 CONSTANTS TYPE_IN)
