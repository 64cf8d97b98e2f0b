# SPDX-License-Identifier: BSD-3-Clause
# Products of matrices.
leat_room(FAMILIES matmul gemm_op matmul_nbits matmul_bnb4 matmul_integer einsum
  SOURCES a_prologue equation gemm integer_product matrix_product)

set(types F32 F16 BF16)
set(constants CONSTANTS MODE_A MODE_B ACTIVATION RESIDUAL SPREAD GATED BITS ZEROS INDEXED SPLIT)
# With NBITS, those of weights of few bits.
foreach(weights IN ITEMS "" NBITS)
  set(name gemm)
  if(weights)
    set(name gemm_nbits)
  endif()
  leat_kernel(${name}_128 gemm.comp TYPES ${types} ${constants}
    DEFINES BM=128 BN=128 BK=16 TM=8 TN=8 SLICES=1 ${weights})
  leat_kernel(${name}_64 gemm.comp TYPES ${types} ${constants} DEFINES BM=64 BN=64 BK=16 TM=4 TN=4 SLICES=1 ${weights})
  leat_kernel(${name}_32 gemm.comp TYPES ${types} ${constants} DEFINES BM=32 BN=32 BK=16 TM=4 TN=4 SLICES=2 ${weights})
endforeach()
# Where all of k is one workgroup's, more slices go along it in fewer steps, each of which waits for memory.
leat_kernel(gemm_32_slices gemm.comp TYPES ${types} ${constants} DEFINES BM=32 BN=32 BK=16 TM=4 TN=4 SLICES=4)
# Products of few tiles: what is added up of an element is shared out to more threads.
leat_kernel(gemm_16 gemm.comp TYPES ${types} ${constants} DEFINES BM=16 BN=16 BK=16 TM=4 TN=4 SLICES=8)
leat_kernel(gemv gemv.comp TYPES ${types} CONSTANTS ROWS ALONG_K LANES THREADS ACTIVATION RESIDUAL
  FOURS_A FACTOR)
leat_kernel(gemv_nbits gemv_nbits.comp TYPES ${types} CONSTANTS ROWS LANES WIDE BLOCKS BITS ZEROS INDEXED)
leat_kernel(dequantize_float4 dequantize_float4.comp TYPES F32 F16 BF16 CONSTANTS NORMAL)
set(constants CONSTANTS MODE_A MODE_B ACTIVATION RESIDUAL SPREAD WIDE SUBGROUP_SIZE MATRIX_M MATRIX_N MATRIX_K
  THREADS BITS ZEROS INDEXED)
foreach(tile IN ITEMS "128;32;64;64" "64;64;32;16" "32;128;16;16")
  list(GET tile 0 extent)
  list(GET tile 1 step)
  list(GET tile 2 part_rows)
  list(GET tile 3 part_columns)
  foreach(how IN ITEMS INTEGER DOTS)
    string(TOLOWER ${how} name)
    leat_kernel(gemm_${name}_matrix_${extent} gemm_integer_matrix.comp MATRICES TYPES I8
      CONSTANTS MODE_A MODE_B RUN_A RUN_B SUBGROUP_SIZE MATRIX_M MATRIX_N MATRIX_K THREADS
      DEFINES BM=${extent} BN=${extent} MATRIX_STEP=${step} WM=${part_rows} WN=${part_columns} ${how})
  endforeach()
  set(multiplied F16 BF16)
  if(extent EQUAL 128) # leati_gemm_parts_pay()
    list(APPEND multiplied F32)
  endif()
  set(cut BM=${extent} BN=${extent} MATRIX_STEP=${step} WM=${part_rows} WN=${part_columns})
  if(extent EQUAL 32)
    list(APPEND cut K_PARTS=2)
  endif()
  leat_kernel(gemm_matrix_${extent} gemm_matrix.comp MATRICES TYPES ${multiplied} ${constants} DEFINES ${cut})
  leat_kernel(gemm_nbits_matrix_${extent} gemm_matrix.comp MATRICES TYPES F16 BF16 ${constants} DEFINES ${cut} NBITS)
endforeach()
# Products of few tiles: what is added up of an element is shared out to the subgroups.
leat_kernel(gemm_matrix_16 gemm_matrix.comp MATRICES TYPES F16 BF16 ${constants}
  DEFINES BM=16 BN=16 MATRIX_STEP=256 WM=16 WN=16 K_PARTS=4)
# Of bytes: one by one, and with DOTS four at once.
foreach(how IN ITEMS INTEGER DOTS)
  string(TOLOWER ${how} name)
  foreach(tile IN ITEMS "128;8;1" "64;4;1" "32;4;2")
    list(GET tile 0 extent)
    list(GET tile 1 own)
    list(GET tile 2 slices)
    leat_kernel(gemm_${name}_${extent} gemm_integer.comp CONSTANTS MODE_A MODE_B SPLIT
      DEFINES BM=${extent} BN=${extent} BK=16 TM=${own} TN=${own} SLICES=${slices} ${how})
  endforeach()
  leat_kernel(gemv_${name} gemv_integer.comp CONSTANTS ROWS ALONG_K LANES DEFINES ${how})
endforeach()
