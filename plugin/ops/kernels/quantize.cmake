# SPDX-License-Identifier: BSD-3-Clause
leat_kernel(dequantize dequantize.comp TYPES F32 F16 BF16 CONSTANTS TYPE_IN)
leat_kernel(quantize quantize.comp)
leat_kernel(dynamic_quantize dynamic_quantize.comp)
