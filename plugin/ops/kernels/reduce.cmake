# SPDX-License-Identifier: BSD-3-Clause
leat_kernel(reduce_f32 reduce.comp T=float IN=F32 OUT=F32 OUT_T=float REAL)
leat_kernel(reduce_i32 reduce.comp T=int IN=I32 OUT=I32 OUT_T=int)
leat_kernel(reduce_i64 reduce.comp T=int64_t IN=I64 OUT=I64 OUT_T=int64_t WIDE)
leat_kernel(reduce_i32_i64 reduce.comp T=int64_t IN=I32 OUT=I64 OUT_T=int64_t WIDE)
leat_kernel(reduce_i64_i32 reduce.comp T=int64_t IN=I64 OUT=I32 OUT_T=int WIDE)
leat_kernel(arg_reduce_f32 arg_reduce.comp T=float BUFFER=F32 REAL)
leat_kernel(arg_reduce_i32 arg_reduce.comp T=int BUFFER=I32)
leat_kernel(arg_reduce_i64 arg_reduce.comp T=int64_t BUFFER=I64)
