# SPDX-License-Identifier: BSD-3-Clause
set(types F32 F16 BF16)
set(constants CONSTANTS MODE_A MODE_B ACTIVATION RESIDUAL SEVERAL GATED)
leat_kernel(gemm_128 gemm.comp TYPES ${types} ${constants} DEFINES BM=128 BN=128 BK=16 TM=8 TN=8 SLICES=1)
leat_kernel(gemm_64 gemm.comp TYPES ${types} ${constants} DEFINES BM=64 BN=64 BK=16 TM=4 TN=4 SLICES=1)
leat_kernel(gemm_32 gemm.comp TYPES ${types} ${constants} DEFINES BM=32 BN=32 BK=16 TM=4 TN=4 SLICES=2)
leat_kernel(gemv gemv.comp TYPES ${types} CONSTANTS ROWS ALONG_K ACTIVATION RESIDUAL SEVERAL)
