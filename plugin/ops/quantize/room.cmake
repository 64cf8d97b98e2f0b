# SPDX-License-Identifier: BSD-3-Clause
# Quantization, and operators of quantized tensors.
leat_room(FAMILIES quantize qlinear SOURCES dynamic_quantize)

leat_kernel(dequantize dequantize.comp TYPES F32 F16 BF16 CONSTANTS TYPE_IN)
leat_kernel(quantize quantize.comp)
set(dynamic_constants CONSTANTS THREADS STAGE QUADS)
leat_kernel(dynamic_quantize dynamic_quantize.comp ${dynamic_constants})
leat_kernel(dynamic_quantize_shuffled dynamic_quantize.comp ${dynamic_constants} SHUFFLES)
