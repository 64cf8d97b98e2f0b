# SPDX-License-Identifier: BSD-3-Clause
# Attention, its caches, and rotary embeddings.
leat_room(FAMILIES attention group_query multi_head projected q_attention relative_bias
  rotary sparse_attention
  SOURCES attention_args attention_few attention_plan attention_scores heads key_mask kv_cache kv_codes multi_head_plan
  window_cache)

set(attention_constants CONSTANTS QUADS DEPTH_CHUNK WIDTH_CHUNK SPLIT CAPPED ZEROED)
leat_kernel(attention_64 attention.comp TYPES F32 F16 BF16 ${attention_constants} DEFINES HEAD=64)
leat_kernel(attention_256 attention.comp TYPES F32 F16 BF16 ${attention_constants} DEFINES HEAD=256)
set(attention_constants CONSTANTS WIDE DEPTH WIDTH MASKED CAPPED SUBGROUP_SIZE MATRIX_M MATRIX_N MATRIX_K THREADS
  ZEROED)
leat_kernel(attention_matrix_64 attention_matrix.comp MATRICES TYPES F16 BF16 ${attention_constants} DEFINES HEAD=64)
leat_kernel(attention_matrix_128 attention_matrix.comp MATRICES TYPES F16 BF16 ${attention_constants} DEFINES HEAD=128)
leat_kernel(attention_matrix2_64 attention_matrix.comp MATRICES2 TYPES F16 BF16 ${attention_constants}
  DEFINES HEAD=64)
leat_kernel(attention_matrix2_128 attention_matrix.comp MATRICES2 TYPES F16 BF16 ${attention_constants}
  DEFINES HEAD=128)
leat_kernel(attention_scores attention_scores.comp TYPES F32 F16 BF16 CONSTANTS ZEROED)
leat_kernel(append append.comp TYPES F32 F16 BF16 CONSTANTS QUADS)
leat_kernel(block_mask block_mask.comp ITEMS 32)
leat_kernel(key_mask key_mask.comp TYPES F32 F16 BF16)
leat_kernel(kv_codes kv_codes.comp TYPES F32 F16 BF16)
leat_kernel(relative_bias relative_bias.comp ITEMS 16 32)
leat_kernel(window_keep window_keep.comp ITEMS 16 32 64 128)
leat_kernel(window_keys window_keys.comp ITEMS 32)
leat_kernel(rotary rotary.comp TYPES F32 F16 BF16)
leat_kernel(rotary_fused rotary_fused.comp TYPES F32 F16 BF16)
set(attention_constants CONSTANTS THREADS SUBGROUP_SIZE ROWS LANES CHUNKS FLIGHT SPLIT BEHIND ZEROED)
leat_kernel(attention_few attention_few.comp TYPES F32 F16 BF16 ${attention_constants} SHUFFLES)
