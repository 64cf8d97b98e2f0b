# SPDX-License-Identifier: BSD-3-Clause
set(types F32 F16 BF16)
set(constants CONSTANTS MODE_A TRANSPOSED VOLUME ACTIVATION RESIDUAL)
leat_kernel(conv_128 conv.comp TYPES ${types} ${constants} DEFINES BM=128 BN=128 BK=16 TM=8 TN=8 SLICES=1)
leat_kernel(conv_64 conv.comp TYPES ${types} ${constants} DEFINES BM=64 BN=64 BK=16 TM=4 TN=4 SLICES=1)
leat_kernel(conv_32 conv.comp TYPES ${types} ${constants} DEFINES BM=32 BN=32 BK=16 TM=4 TN=4 SLICES=2)
leat_kernel(conv_depthwise conv_depthwise.comp TYPES ${types} CONSTANTS SLIDING ACTIVATION RESIDUAL)
