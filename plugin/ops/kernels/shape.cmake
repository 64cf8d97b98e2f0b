# SPDX-License-Identifier: BSD-3-Clause
foreach(bits IN ITEMS 8 16 32 64)
  leat_kernel(fill_${bits} fill.comp BITS=${bits})
endforeach()
leat_kernel(range_f32 range.comp REAL R=F32)
leat_kernel(range_i32 range.comp R=I32)
leat_kernel(range_i64 range.comp R=I64)
