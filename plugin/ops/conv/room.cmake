# SPDX-License-Identifier: BSD-3-Clause
# Convolutions, pools, and what goes with them.
leat_room(FAMILIES col2im conv conv_integer squeeze_excite pool
  SOURCES conv_shape conv_transpose_gemm window)

set(types F32 F16 BF16)
set(constants CONSTANTS MODE_A SPLIT TRANSPOSED VOLUME ACTIVATION RESIDUAL)
leat_kernel(conv_128 conv.comp TYPES ${types} ${constants} DEFINES BM=128 BN=128 BK=16 TM=8 TN=8 SLICES=1)
leat_kernel(conv_64 conv.comp TYPES ${types} ${constants} DEFINES BM=64 BN=64 BK=16 TM=4 TN=4 SLICES=1)
leat_kernel(conv_32 conv.comp TYPES ${types} ${constants} DEFINES BM=32 BN=32 BK=16 TM=4 TN=4 SLICES=2)
foreach(tile IN ITEMS "128;8;1" "64;4;1" "32;4;2")
  list(GET tile 0 extent)
  list(GET tile 1 part)
  list(GET tile 2 slices)
  leat_kernel(conv_nhwc_${extent} conv_nhwc.comp TYPES ${types} CONSTANTS MODE SPLIT VOLUME ACTIVATION RESIDUAL
    DEFINES BM=${extent} BN=${extent} BK=16 TM=${part} TN=${part} SLICES=${slices})
endforeach()
leat_kernel(conv_depthwise conv_depthwise.comp TYPES ${types} CONSTANTS SLIDING KERNEL_Y KERNEL_X STRIDE_X ACTIVATION
  RESIDUAL)
leat_kernel(conv_depthwise_nhwc conv_depthwise_nhwc.comp TYPES ${types} CONSTANTS QUADS ACTIVATION RESIDUAL)
set(constants CONSTANTS WIDE LAST_OUT TRANSPOSED VOLUME ACTIVATION RESIDUAL SUBGROUP_SIZE MATRIX_M MATRIX_N MATRIX_K
  THREADS)
foreach(tile IN ITEMS "128;32;64;64" "64;64;32;16" "32;64;16;16")
  list(GET tile 0 extent)
  list(GET tile 1 step)
  list(GET tile 2 part_rows)
  list(GET tile 3 part_columns)
  set(multiplied F16 BF16)
  if(extent EQUAL 128) # leati_gemm_parts_pay()
    list(APPEND multiplied F32)
  endif()
  set(part BM=${extent} BN=${extent} WM=${part_rows} WN=${part_columns})
  leat_kernel(conv_matrix_${extent} conv_matrix.comp MATRICES TYPES ${multiplied} ${constants}
    DEFINES ${part} MATRIX_STEP=${step})
  if(extent EQUAL 32)
    set(step 128)
    list(APPEND part K_PARTS=2)
  endif()
  leat_kernel(conv_last_${extent} conv_matrix.comp MATRICES TYPES ${multiplied} ${constants}
    DEFINES CHANNELS_LAST ${part} MATRIX_STEP=${step})
endforeach()
leat_kernel(col2im col2im.comp TYPES F32 F16 BF16)
leat_kernel(unfold unfold.comp)
leat_kernel(unfold_last unfold_last.comp CONSTANTS SIXTEENS)
leat_kernel(squeeze_excite squeeze_excite.comp TYPES F32 F16 BF16 CONSTANTS QUADS ACTIVATION GATE_ACTIVATION)

set(constants CONSTANTS AVERAGE LAST COUNT_PADDING)
leat_kernel(pool pool.comp TYPES F32 F16 BF16 I8 U8 ${constants})
leat_kernel(lp_pool pool.comp TYPES F32 F16 BF16 ${constants} DEFINES NORM)
