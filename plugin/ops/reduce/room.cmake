# SPDX-License-Identifier: BSD-3-Clause
# Sums, running sums and products, extremes and orders along axes.
leat_room(FAMILIES reduce cumsum topk)

set(constants CONSTANTS ROWS_SPEC BEFORE COMBINE AFTER)
leat_kernel(reduce reduce.comp TYPES F32 F16 BF16 I32 I64 ${constants} DEFINES RESULT=TYPE)
leat_kernel(reduce_shuffled reduce.comp TYPES F32 F16 BF16 I32 ${constants} DEFINES RESULT=TYPE SHUFFLES)
# Pieces of a reduction of floats of 16 bits are float32, and what they come down to is rounded.
leat_kernel(reduce_pieces reduce.comp TYPES F16 BF16 ${constants} DEFINES RESULT=F32)
leat_kernel(reduce_rest reduce.comp TYPES F16 BF16 ${constants} DEFINES SOURCE=F32 RESULT=TYPE)
# Results of another integer type, and the sums before them in 64 bits.
leat_kernel(reduce_widen reduce.comp TYPES I32 ACCUMULATOR I64 ${constants} DEFINES RESULT=I64)
leat_kernel(reduce_narrow reduce.comp TYPES I64 ${constants} DEFINES RESULT=I32)
leat_kernel(arg_reduce arg_reduce.comp TYPES F32 F16 BF16 I32 I64 CONSTANTS ROWS_SPEC SMALLEST LAST STAGE)

set(types F32 F64 I32 I64 U32 U64)
leat_kernel(cumsum cumsum.comp TYPES ${types})
leat_kernel(cumprod cumsum.comp TYPES ${types} DEFINES PRODUCT)

leat_kernel(topk topk.comp TYPES F32 F16 BF16 I8 I16 I32 I64 U8 U16 U32 U64)
leat_kernel(topk_merge topk_merge.comp TYPES F32 F16 BF16 I8 I16 I32 I64 U8 U16 U32 U64)
