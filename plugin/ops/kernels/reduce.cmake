# SPDX-License-Identifier: BSD-3-Clause
leat_kernel(reduce_f32 reduce.comp T=float BUFFER=F32 REAL)
leat_kernel(reduce_i32 reduce.comp T=int BUFFER=I32)
leat_kernel(reduce_i64 reduce.comp T=int64_t BUFFER=I64 WIDE)
leat_kernel(arg_reduce_f32 arg_reduce.comp T=float BUFFER=F32 REAL)
leat_kernel(arg_reduce_i32 arg_reduce.comp T=int BUFFER=I32)
leat_kernel(arg_reduce_i64 arg_reduce.comp T=int64_t BUFFER=I64)
