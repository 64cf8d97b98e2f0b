# SPDX-License-Identifier: BSD-3-Clause
# Operators that pick elements by tensors of indices.
leat_room(FAMILIES compress index gather_quantized mel_weight_matrix non_max_suppression nonzero one_hot
  reverse_sequence tensor_scatter unique SOURCES host_selection)

set(constants CONSTANTS index_is_32 reports_bad_index)
leat_kernel(gather gather.comp ITEMS 8 16 32 64 128 ${constants})
leat_kernel(gather_quantized gather_quantized.comp TYPES F32 F16 BF16 ${constants})
leat_kernel(gather_nd index_nd.comp ITEMS 8 16 32 64 128 ${constants})
leat_kernel(scatter_nd index_nd.comp ITEMS 8 16 32 64 128 ${constants} DEFINES SCATTER)
leat_kernel(gather_elements index_elements.comp ITEMS 8 16 32 64 ${constants})
leat_kernel(scatter_elements index_elements.comp ITEMS 8 16 32 64 ${constants} DEFINES SCATTER)
leat_kernel(scatter_reduce scatter_reduce.comp TYPES F32 I8 I16 I32 I64 U8 U16 U32 U64 ${constants} operation)
leat_kernel(tensor_scatter tensor_scatter.comp ITEMS 8 16 32 64 128 CONSTANTS place_is_told)
leat_kernel(reverse_sequence reverse_sequence.comp ITEMS 8 16 32 64 128)
leat_kernel(one_hot one_hot.comp ITEMS 8 16 32 64 ${constants} index_is_real)
